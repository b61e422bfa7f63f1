"""What hw04's functions do to a network, compared and told: what each board was taught."""

import numpy as np

from lib2048.course.labs.exercise import wrong_if
from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.cases import afterstates, look_ups, shares
from lib2048.course.labs.hw04.program import UNIT
from lib2048.course.labs.messages import say
from lib2048.course.labs.outcomes import first_of_equals, text_of
from lib2048.game.spec import ACTIONS

# ---------------------------------------------------------------- what is compared

MOST = 2000  # weights whose changes travel; a right answer changes some hundred
LEAST = 0.01  # points: what differs by less is the same, and told as 0


def effect(function, network, given, *more):
    """Return what a function returned, and where it changed the weights by how much."""
    before = network.weights.copy()
    answer = function(network, given, *more)
    after, before = network.weights.ravel(), before.ravel()
    changed = ~np.isclose(after, before, rtol=0, atol=0, equal_nan=True)
    places = np.flatnonzero(changed)[:MOST]
    changes = after[places].astype(float) - before[places]
    return {"returned": answer, "places": places, "changes": changes}


def learned(boards, network, effect):
    """Return what was added to the value of each board, and how other weights changed.

    What is added to a value is shared equally among its look-ups; `added` are the amounts that
    explain the changes best, and what they leave belongs to the other weights.
    """
    changes = dict(zip(effect["places"].tolist(), effect["changes"].tolist()))
    if not np.isfinite(effect["changes"]).all():
        return {"added": None, "other weights": changes}
    places, parts = shares(network.isomorphic, tuple(((1.0, board),) for board in boards))
    each = parts.T / (8 * len(network.weights))
    moved = np.array([changes.pop(place, 0.0) for place in places.tolist()])
    added = np.linalg.lstsq(each, moved)[0]
    changes |= dict(zip(places.tolist(), (moved - each @ added).tolist()))
    least = 1e-3 + 1e-6 * np.nanmax(np.abs(network.weights))  # less may be lost in rounding
    rest = {place: change for place, change in changes.items() if abs(change) > least}
    return {"added": added, "other weights": rest}


def update_learned(case, effect):
    """Return what an update did, and how much more it returned than the board is worth now.

    Of an update which changed nothing that is a text, what was returned; it is not said of amounts
    that are no numbers.
    """
    network, board, amount = case
    found, answer = learned([board], network, effect), effect["returned"]
    changes = dict(zip(effect["places"].tolist(), effect["changes"].tolist()))
    if found["added"] is None or not np.isfinite(amount):
        return found | {"returned": None}
    if not changes and amount:
        return found | {"returned": text_of(answer)}
    flat, places = network.weights.reshape(-1), look_ups(network.isomorphic, board)
    weights = [float(flat[place]) + changes.get(place, 0.0) for place in places]
    if _is_number(answer):
        answer = float(answer) - sum(weights)
        if abs(answer) < LEAST + 1e-5 * sum(map(abs, weights)):  # lost in rounding
            answer = 0.0
    return found | {"returned": (answer,) if isinstance(answer, str) else answer}


def path_learned(boards_of, case, effect):
    """Return what was added to the value of each board of a path.

    What is returned, or made of the path, is free: the C++ lab takes its steps out.
    """
    return learned(boards_of(case[1]), case[0], effect)


def close(expected, got):
    """Compare what was computed in float32, in one order or another: up to 0.01 points."""
    if isinstance(expected, dict):
        return expected.keys() == got.keys() and all(close(expected[k], got[k]) for k in expected)
    if isinstance(expected, tuple):
        return len(expected) == len(got) and all(map(close, expected, got))
    if expected is None or got is None:
        return expected is got
    if isinstance(expected, str) or isinstance(got, str):  # returned where no weight moved
        return type(expected) is type(got)
    return np.shape(expected) == np.shape(got) and bool(
        np.allclose(np.asarray(got, float), np.asarray(expected, float), 5e-5, LEAST, True)
    )


def _is_number(value):
    return isinstance(value, (int, float, np.number))


def an_action(value_of, case, answer):
    """Return the answer of a choice, the first of equals for any of them.

    Raises `Wrong` for a value in the place of an action.
    """
    network, board = case
    worth = {a: r / UNIT + value_of(network, after) for a, after, r in afterstates(board)}
    actions = worth or range(-1, 4)
    wrong_if(isinstance(answer, (float, np.floating)) and answer not in actions, "value")
    return first_of_equals(answer, worth)


# ---------------------------------------------------------------- how it is told


def given_update(case):
    """Return what a picture says of a case of `update`, beside the board."""
    network, board, amount = case
    return {
        "amount": f"{amount:g}",
        say("hw04.tell.before"): f"{program.estimate(network, board):z.2f}",
    }


def tell_learned(case, outcome):
    """Say what was added to the values, how many other weights moved, and what was returned."""
    added = ["nan"] if outcome["added"] is None else [*map(_signed, outcome["added"])]
    learned = say("hw04.tell.learned", added=", ".join(added), count=len(outcome["other weights"]))
    if "returned" not in outcome or outcome["added"] is None or not np.isfinite(case[2]):
        return learned
    more = outcome["returned"]
    if isinstance(more, str):
        return say("hw04.tell.nothing", returned=more)
    key = "beside" if _is_number(more) else "returned"
    return say(f"hw04.tell.{key}", learned=learned, more=_signed(more) if key == "beside" else more)


def _signed(number):
    """Write what was added: 0 where only rounding was."""
    return "0" if abs(number) < LEAST else f"{number:+.5g}"


def given_choice(value_of, name, case):
    """Return the reward and the value of each legal action."""
    network, board = case
    words = (
        f"{ACTIONS[action]} {reward / UNIT:g} + {value_of(network, after):z.1f}"
        for action, after, reward in afterstates(board)
    )
    return {say("hw04.tell.worth", value=name): ", ".join(words) or say("hw04.tell.dead")}


def of_choice(choose, case):
    """Return by what boards of a wrong choice may be told from others."""
    options, best = [action for action, _, _ in afterstates(case[1])], choose(*case)
    legal = {f"yes {name} is legal": k in options for k, name in enumerate(ACTIONS)}
    right = {f"yes {name} is the best action": k == best for k, name in enumerate(ACTIONS)}
    return legal | right | {"the number of legal actions": len(options)}


def given_path(boards, before, case):
    """Return the rewards, and the values of the boards before learning."""
    network, path, alpha = case
    rewards = ", ".join(f"{step.reward:.0f}" for step in path)
    values = ", ".join(f"{program.estimate(network, board):z.1f}" for board in boards(path))
    return {"alpha": f"{alpha:g}", "rewards": rewards, say(f"hw04.tell.{before}"): values}


def afterstates_of(path):
    """Return the boards that learn from a path in part 1."""
    return [step.afterstate for step in path]


def states_of(path):
    """Return the boards that learn in part 3, the dead one last."""
    return [*[step.state for step in path], path[-1].next_state]
