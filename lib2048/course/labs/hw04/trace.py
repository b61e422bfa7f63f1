"""hw04's trace: the end of a game, turn by turn, by a student's functions and the library's."""

import copy

from lib2048.course.labs.answering import stand_in_for
from lib2048.course.labs.checks import ask_judge
from lib2048.course.labs.exercise import watched
from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.cases import NETWORK
from lib2048.course.labs.hw04.program import Tables
from lib2048.game.board import to_text
from lib2048.game.spec import ACTIONS
from lib2048.learn.settings import Settings
from lib2048.machine import child
from lib2048.machine.extras import package
from lib2048.networks.network import Network
from lib2048.play.evaluation import record_game
from lib2048.train.run import Run

SECONDS = 60  # the first time the library compiles
COLUMNS = ("t", "action", "reward", "V(s′)", "V(s′) library", "δ", "δ library")


def trace(select_best_move, update_episode, turns=6, alpha=0.1, seed=1):
    """Show the last turns of a game, a row each: what your functions say, beside the library's.

    Args:
        select_best_move, update_episode: of hw04, with all that they call.

    Returns:
        pandas frame: t, action (yours, and the library's where it is another), reward, the value of
        the afterstate before learning, and the TD error δ that your update_episode computes.

    Raises:
        ValueError: in words, when a function raises or does not end.
    """
    pandas = package("pandas")

    functions = {"select_best_move": select_best_move, "update_episode": update_episode}
    message = {"source": child.source_of(functions), "turns": turns, "alpha": alpha, "seed": seed}
    found = ask_judge("lib2048.course.labs.hw04.trace:traced", message, SECONDS)
    print(f"state t = {found['rows'][0][0]}:\n{to_text(found['first'])}")
    frame = pandas.DataFrame(found["rows"], columns=COLUMNS).set_index("t")
    return frame.astype({"δ": float, "δ library": float})


def traced(message):
    """Trace in the child; return {first: the first board, rows}."""
    tables, path, first = _a_game(message["turns"], message["seed"])
    loaded = child.load_all(message["source"])
    stand_in_for("hw04", loaded)
    functions = loaded.functions
    room = functions["select_best_move"].__globals__
    estimate, alpha = room.get("estimate", program.estimate), message["alpha"]
    mine = _says(functions, estimate, tables, path, alpha)
    ours = _says(vars(program), program.estimate, tables, path, alpha)
    rows = []
    for t, (step, (a, v, d), (b, w, e)) in enumerate(zip(path, mine, ours), first):
        action = ACTIONS[a] if a in range(4) else str(a)
        action += "" if a == b else f" (library: {ACTIONS[b]})"
        rows.append([t, action, step.reward, round(v, 1), round(w, 1), d, e])
    return {"first": int(path[0].state), "rows": rows}


def _a_game(turns, seed):
    """Return a little network that has learned for some games, and the end of a game by it."""
    network = Network(NETWORK)
    Run(Settings(network=NETWORK, seed=seed), network=network).go(games=300, progress=False)
    steps = record_game(network, seed)
    end = steps[-turns - 1 :]
    path = [
        program.Step(s.board, s.action, float(s.reward), s.afterstate, following.board)
        for s, following in zip(end, end[1:])
    ]
    return program.tables_of(network), path, len(steps) - 1 - turns


def _says(functions, estimate, tables, path, alpha):
    """Return (action, value before learning, δ) of each step by some functions."""
    actions = [int(functions["select_best_move"](tables, step.state)) for step in path]
    values = [float(estimate(tables, step.afterstate)) for step in path]
    errors = _errors(functions["update_episode"], tables, path, alpha)
    return zip(actions, values, errors)


def _errors(update_episode, tables, path, alpha):
    """Return the δ of each step: what `update` is asked to add, divided by α; None for nothing."""
    update_episode.__globals__.setdefault("update", program.update)
    with watched(update_episode, "update") as calls:
        update_episode(Tables(tables.weights.copy(), tables.isomorphic), copy.copy(path), alpha)
    asked = {int(board): float(amount) / alpha for _, (_, board, amount), _ in calls}
    found = [asked.get(int(step.afterstate), asked.get(int(step.state))) for step in path]
    return [None if error is None else round(error, 1) for error in found]
