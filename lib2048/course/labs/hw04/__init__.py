"""hw04, the TDL2048 lab: the five functions of an n-tuple network that learns by TD(0)."""

from functools import partial

import numpy as np

from lib2048.course.labs.exercise import Exercise, changed
from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.program import PLAYED, Step, Tables
from lib2048.course.labs.messages import say
from lib2048.course.labs.seeds import ODDS, variant
from lib2048.game import board as boards
from lib2048.game.board import from_tiles, initial, spawn
from lib2048.game.rng import stream
from lib2048.game.spec import ACTIONS
from lib2048.networks.names import parse_network, with_game

NETWORKS = {  # by the rows of the board
    4: ("4x6", "cells:012345,456789,012456,345678", "cells:012345,012456,456789,01259d"),
    3: ("cells:012345,012456,014589,12569a", "cells:012345,456789,014589,12569a",
        "cells:012456,456789,014589,12569a"),
}  # fmt: skip


def networks_of(game):
    """Return the names of the networks that a class of this game trains."""
    return tuple(with_game(name, game) for name in NETWORKS[game.rows])


NETWORK = with_game("cells:0125,4569,0123", PLAYED)  # small enough for a check
ALPHA = 0.25
afterstates = partial(boards.afterstates, game=PLAYED)
ILLEGAL = changed(program.select_best_move, "after != board", "True")


def network_of(student):
    """Return the name of the network that a student trains: each of three has its share.

    Args:
        student: number or name, see `seeds.variant`.
    """
    return variant(student).choose("tuples", networks_of(PLAYED), 1)[0]


# ---------------------------------------------------------------- cases


def a_network(random, spread=100.0):
    """Return small `Tables` with random weights."""
    tables = program.new_tables(NETWORK)
    tables.weights[:] = random.normal(0, spread, tables.weights.shape)
    return tables


def random_game(random, *seeds):
    """Return the `Step`s of a game by random actions.  seeds: of the spawns."""
    board, luck = initial(stream(*seeds), PLAYED)
    steps = []
    while options := afterstates(board):
        action, after, reward = options[random.integers(len(options))]
        following, luck = spawn(after, luck, PLAYED)
        steps.append(Step(board, action, float(reward), after, following))
        board = following
    return steps


def a_game(random, turns=10_000):
    """Return the last steps of a random game, at most so many."""
    return random_game(random, 2048, int(random.integers(1 << 31)))[-turns:]


def some_boards(random, count=12):
    """Return boards without a symmetry: no weight of theirs is looked up twice."""
    steps = a_game(random)
    chosen = [steps[i].afterstate for i in sorted(random.choice(len(steps), 4 * count))]
    return [board for board in chosen if not _is_symmetric(board)][:count]


def _is_symmetric(board):
    """Say whether two different images of a tuple meet the same weight."""
    images = program.isomorphic(parse_network(NETWORK))
    return any(len({program.indexof(i, board) for i in some}) < len({*some}) for some in images)


def index_cases(random):
    """Return (pattern, board) pairs, the cells in and out of order."""
    patterns = [(0, 1, 2, 3), (3, 2, 1, 0), (0, 1, 2, 4, 5, 6), (9, 10, 8, 5, 6, 4)]
    return [(pattern, board) for board in some_boards(random, 6) for pattern in patterns]


def value_cases(random):
    """Return (network, board) pairs."""
    network = a_network(random)
    return [(network, board) for board in some_boards(random)]


def update_cases(random):
    """Return (network, board, amount) triples, the last two of a board that is its own mirror."""
    amounts = [1.0, -32.0, 100.0, 0.5]
    cases = [(*case, amount) for case, amount in zip(value_cases(random), amounts)]
    mirrored = [(cases[0][0], _mirrored(random), amount) for amount in (20.0, -7.0)]
    return cases + mirrored


def _mirrored(random):
    """Return a board that is its own mirror image: its weights are looked up twice."""
    half, tiles = random.permutation(np.arange(1, 9)).reshape(4, 2), np.zeros((4, 4), int)
    tiles[: PLAYED.rows] = 2 ** np.hstack([half, half[:, ::-1]])[: PLAYED.rows]
    return np.uint64(from_tiles(tiles))


def choice_cases(random):
    """Return (network, board) pairs, one of them lost; the weights are small beside rewards.

    Each way to go wrong that `_tells` names would choose otherwise on two of the boards.  In the
    last two all values are far below 0.
    """
    network, found, left = a_network(random, 3.0), [], {}
    steps = [step for _ in range(3) for step in a_game(random)]
    for i in random.permutation(len(steps))[:150]:
        if (told := _tells(network, steps[i].state)) is None:
            continue
        left = left or dict.fromkeys(told, 2)
        if len(found) < 4 or any(left[name] for name in told if told[name]):
            found.append(steps[i].state)
            left = {name: max(count - told[name], 0) for name, count in left.items()}
        if not any(left.values()):
            break
    below = Tables(network.weights - np.float32(512), network.isomorphic)
    low = [(below, board) for board in found if program.select_best_move(below, board) != 0]
    return [*((network, board) for board in (*found, steps[-1].next_state)), *low[:2]]


def _tells(network, board):
    """Return {a way to go wrong: whether it chooses another action}; None for a near tie.

    Both for values of afterstates and of states: a near tie would be decided by rounding.
    """
    options, told = afterstates(board), {}
    legal, best = [action for action, _, _ in options], {}
    for name, value_of in (("", program.estimate), (" of states", program.expected_value)):
        values = [value_of(network, after) for _, after, _ in options]
        worths = sorted((r + v, a) for (a, _, r), v in zip(options, values))
        if len(worths) < 2 or worths[-1][0] - worths[-2][0] < 0.5:
            return None
        best[name] = worths[-1][1]
        told[f"no reward{name}"] = legal[int(np.argmax(values))] != best[name]
        told[f"place{name}"] = legal.index(best[name]) != best[name]
    told["other values"] = best[""] != best[" of states"]
    told["not the first"] = best[""] != 0
    told["illegal"] = ILLEGAL(network, board) != best[""]
    return told


def path_cases(random):
    """Return (network, path, alpha) triples: the ends of games."""
    network = a_network(random)
    return [(network, a_game(random, turns), ALPHA) for turns in (2, 3, 8)]


def last_cases(random):
    """Return the last steps of games, alone; some of them paid a reward."""
    network = a_network(random)
    games = [a_game(random, 1) for _ in range(40)]
    paid = [path for path in games if path[0].reward > 0]
    return [(network, path, ALPHA) for path in (games[0], *paid[:2])]


# ---------------------------------------------------------------- what is compared


def effect(function, network, *arguments):
    """Return what a function returned, and {(tuple, index): change} of the weights."""
    before = network.weights.copy()
    answer = function(network, *arguments)
    rows, places = np.nonzero(network.weights != before)
    change = (network.weights - before)[rows, places]
    changes = {(int(k), int(i)): float(x) for k, i, x in zip(rows, places, change)}
    return {"returned": answer, "weights changed": changes}


def change_alone(function, network, path, alpha):
    """Return the changes of the weights; what is returned, or made of the path, is free."""
    return effect(function, network, list(path), alpha) | {"returned": None}


def close(expected, got):
    """Compare what was computed in float32, in one order or another: up to 0.01 points."""
    if not isinstance(expected, dict):
        return _same_number(expected, got)
    same = _same_changes(expected["weights changed"], got["weights changed"])
    return same and _same_number(expected["returned"], got["returned"])


def _same_number(expected, got):
    if not all(isinstance(value, (int, float, np.number)) for value in (expected, got)):
        return repr(expected) == repr(got)  # nothing at all, or the same error
    return abs(expected - got) < 0.01


def _same_changes(expected, got):
    """Compare changes of weights; one of less than 0.001 may be lost in rounding."""
    places = expected.keys() | got.keys()
    return all(abs(expected.get(place, 0) - got.get(place, 0)) < 1e-3 for place in places)


# ---------------------------------------------------------------- how it is told


def given_update(case):
    """Return what a picture says of a case of `update`, beside the board."""
    network, board, amount = case
    return {
        "amount": f"{amount:g}",
        say("hw04.tell.before"): f"{program.estimate(network, board):.2f}",
    }


def tell_update(case, outcome):
    """Say what an update did: how many weights moved, by how much, and what it returned."""
    changes, returned = outcome["weights changed"].values(), outcome["returned"]
    sizes = [f"{size:+.4g}" for size in (min(changes, default=0), max(changes, default=0))]
    value = f"{returned:.2f}" if isinstance(returned, (int, float, np.number)) else repr(returned)
    words = {"count": len(changes), "size": " … ".join(dict.fromkeys(sizes)), "value": value[:40]}
    return say("hw04.tell.update", **words)


def given_choice(value_of, name, case):
    """Return the reward and the value of each legal action."""
    network, board = case
    words = (
        f"{ACTIONS[action]} {reward} + {value_of(network, after):.1f}"
        for action, after, reward in afterstates(board)
    )
    return {f"r + {name}": ", ".join(words)}


def given_path(boards, before, case):
    """Return the rewards, and the values of the boards before learning."""
    network, path, alpha = case
    rewards = ", ".join(f"{step.reward:.0f}" for step in path)
    values = _values(network, boards(path))
    return {"alpha": f"{alpha:g}", "rewards": rewards, say(f"hw04.tell.{before}"): values}


def tell_values(boards, case, outcome):
    """Say the values of the boards after learning."""
    network, path, _ = case
    learned = Tables(network.weights.copy(), network.isomorphic)
    for place, change in outcome["weights changed"].items():
        learned.weights[place] += change
    return say("hw04.tell.values", values=_values(learned, boards(path)))


def _values(network, boards):
    return ", ".join(f"{program.estimate(network, board):.1f}" for board in boards)


def _afterstates_of(path):
    return [step.afterstate for step in path]


def _states_of(path):
    return [*[step.state for step in path], path[-1].next_state]


def _plain_slide(truth):
    """Return the mistake of sliding on 4x4 what has fewer rows."""
    return {"board": changed(truth, slide=boards.slide)} if program.CELLS < 16 else {}


# ---------------------------------------------------------------- the exercises

HIDDEN = {"network": "hidden", "path": "hidden"}

HAND_IN = ("report", "curve", "config")
# Several cells compile.  The first of the named ones trains 20 000 games, which the other two use
# again, and the last may train a second seed.
CELL_SECONDS = {"any": 60, "performance-half": 150, "performance-full": 150}

# What the mistakes change: parts of the functions in `program`.
SHARE = "amount / (8 * len(network.weights))"
VALUE = "estimate(network, board)"
OLD_VALUE = "    share =", f"    value = {VALUE}\n    share ="
LEGAL = "[a for a in range(4) if slide(board, a)[0] != board]"
LEARNS = "target = path[t].reward + update("
BACKWARDS = "len(path) - 1, -1, -1"
NOT_LAST = "len(path) - 2, -1, -1"
NOT_FIRST = "len(path) - 1, 0, -1"
# By the rules of another class, or of plain 2048.
OTHER_BOARD = "CELLS", "12" if program.CELLS == 16 else "16"
OTHER_ODDS = [odds for odds in (*ODDS, "0.1") if float(odds) != program.FOUR]
OTHER_RULES = {"board": OTHER_BOARD}
OTHER_RULES |= {f"odds {four}": ("FOUR", four) for four in OTHER_ODDS}
OTHER_RULES |= {f"rules {four}": ("FOUR", four, *OTHER_BOARD) for four in OTHER_ODDS}
DEAD = "    update(network, dead, alpha * (0.0 - estimate(network, dead)))\n"
STEP = "alpha * error"

EXERCISES = [
    Exercise(
        "hw04", program.indexof, index_cases, compiles=True,
        mistakes={
            "reversed": ("pattern[i]", "pattern[-1 - i]"),
            "one_bit": ("|=", "+=", "(4 * i)", "i"),
            "plain_sum": ("|=", "+=", " << (4 * i)", ""),
            "tiles": ("|= at(board, pattern[i])", "+= (1 << at(board, pattern[i]) & ~1)"),
            "cells": ("pattern[i]", "i"),
            "first_cell": ("len(pattern)", "1"),
            "empty_is_1": ("|= at(board, pattern[i])", "+= (1 << at(board, pattern[i]))"),
            "shift_by_cell": ("|=", "+=", "4 * i", "4 * pattern[i]"),
        },
    ),
    Exercise(
        "hw04", program.estimate, value_cases, compiles=True, same=close,
        mistakes={
            "no_symmetry": ("in images:", "in images[:1]:"),
            "four_images": ("in images:", "in images[:4]:"),
            "mean": ("return value", "return value / (8 * len(network.weights))"),
            "sum_of_indices": ("network.weights[k, indexof(pattern, board)]",
                               "indexof(pattern, board)"),
            "first_tuple": ("(network.isomorphic)", "(network.isomorphic[:1])"),
        },
        show=HIDDEN,
    ),
    Exercise(
        "hw04", program.update, update_cases, compiles=True, outcome=effect, same=close,
        mistakes={
            "not_split": (SHARE, "amount"),
            "by_eight": (SHARE, "amount / 8"),
            "by_tuples": ("8 * ", ""),
            "no_symmetry": ("8 * ", "", "in images:", "in images[:1]:"),
            "set": ("+= share", "= share"),
            "precedence": ("(8 * len(network.weights))", "8 * len(network.weights)"),
            "by_32": (SHARE, "amount / 32"),
            "once_each": ("pattern in images:", "index in {indexof(p, board) for p in images}:",
                          "indexof(pattern, board)] +=", "index] +="),
            "divided_again": (SHARE, f"{SHARE} / len(network.weights)"),
            "divided_twice": ("(8 * len(network.weights))", "(8 * len(network.weights)) ** 2"),
            "floor": ("amount /", "amount //"),
            "sign": ("amount /", "-amount /"),
            "first_weight": ("(network.isomorphic)", "(network.isomorphic[:1])",
                             "in images:", "in images[:1]:"),
            "first_tuple": ("(network.isomorphic)", "(network.isomorphic[:1])"),
            "no_return": (f"    return {VALUE}\n", ""),
            "amount": (f"return {VALUE}", "return amount"),
            "amount_twice": (f"return {VALUE}", "return value + 2 * amount", *OLD_VALUE),
            "old_value": (f"return {VALUE}", "return value", *OLD_VALUE),
            "adds_amount": (f"return {VALUE}", "return value + amount", *OLD_VALUE),
            "sums_too_early": (
                "    share =", "    value = 0.0\n    share =", f"return {VALUE}", "return value",
                "+= share",
                "+= share\n            value += network.weights[k, indexof(pattern, board)]"),
        },
        show=HIDDEN | {"amount": "hidden"}, given=given_update, tell=tell_update,
    ),
    Exercise(
        "hw04", program.select_best_move, choice_cases, compiles=True,
        mistakes={
            "no_reward": ("reward + estimate", "estimate"),
            "reward_only": ("reward + estimate(network, after)", "reward"),
            "worst": ("-np.inf", "np.inf", "value >", "value <"),
            "starts_at_0": ("-1, -np.inf", "0, 0.0"),
            "none_below_0": ("-np.inf", "0.0"),
            "illegal": ILLEGAL,
            "merges_only": ("after != board", "after != board and reward > 0"),
            "place": ("return best", f"return {LEGAL}.index(best) if best >= 0 else -1"),
            "first_legal": ("value > best_value", "best < 0"),
            "last_legal": ("value > best_value", "True"),
            "gives_up": ("return best", f"return best if len({LEGAL}) == 4 else -1"),
            "none_is_0": ("-1, -np.inf", "0, -np.inf"),
            **_plain_slide(program.select_best_move),
        },
        show=HIDDEN, given=partial(given_choice, program.estimate, "V(s′)"),
    ),
    Exercise(
        "hw04", program.update_episode, compiles=True, outcome=change_alone, same=close,
        parts={"last afterstate": last_cases, "whole path": path_cases},
        mistakes={
            "last_not_taught": (
                BACKWARDS, NOT_LAST, "target = 0.0",
                "target = path[-1].reward + estimate(network, path[-1].afterstate)"),
            "first_missing": (BACKWARDS, NOT_FIRST),
            "last_alone": (BACKWARDS, "len(path) - 1, len(path) - 2, -1"),
            "own_reward": ("error = target", "error = path[t].reward + target",
                           LEARNS, "target = update("),
            "no_reward": (LEARNS, "target = update("),
            "next_state": (
                LEARNS, "update(", f"{STEP})",
                f"{STEP})\n        target = path[t].reward + estimate(network, path[t].state)"),
            "old_value": (LEARNS, "target = path[t].reward + target - error\n        update("),
            "forward": (
                BACKWARDS, "len(path)", LEARNS, "update(",
                "        error =", "        later = path[t + 1 : t + 2]\n        target = "
                "sum(s.reward + estimate(network, s.afterstate) for s in later)\n        error ="),
            "of_states": ("error = target", "error = path[t].reward + target",
                          LEARNS, "target = update(", ".afterstate", ".state"),
            "no_alpha": (STEP, "error"),
            "sign": (STEP, "-alpha * error"),
            "clipped": (STEP, "alpha * min(max(error, -1.0), 1.0)"),
            "fixed_alpha": (STEP, "0.1 * error"),
            "divided_again": (STEP, f"{STEP} / (8 * len(network.weights))"),
            "by_32": (STEP, f"{STEP} / 32"),
            "returns": (LEARNS, "target += path[t].reward\n        update("),
            "last_own_reward": ("target = 0.0", "target = path[-1].reward"),
            "forward_carry": (BACKWARDS, "len(path)"),
            "saved": (
                "    target = 0.0\n", "    target = 0.0\n"
                "    values = [estimate(network, step.afterstate) for step in path]\n",
                "target - estimate(network, path[t].afterstate)", "target - values[t]",
                LEARNS, "target = path[t].reward + values[t]\n        update("),
            "target_added": ("target - estimate(network, path[t].afterstate)", "target"),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=partial(given_path, _afterstates_of, "before"),
        tell=partial(tell_values, _afterstates_of),
    ),
    Exercise(
        "hw04", program.expected_value, value_cases, compiles=True, same=close,
        mistakes={
            "even_chances": ("FOUR", "0.5"),
            "only_twos": ("FOUR", "0.0"),
            "exchanged": ("FOUR", "(1 - FOUR)"),
            **OTHER_RULES,
            "not_divided": (" / empty", ""),
            "first_cell": ("empty += 1", "empty += 1\n            break"),
            "by_16": ("/ empty", "/ 16"),
            "by_twice": ("/ empty", "/ (2 * empty)"),
            "tiles_put": ("cell, 2)", "cell, 4)", "cell, 1)", "cell, 2)"),
            "afterstate_itself": ("total / empty", "estimate(network, afterstate)"),
        },
        show=HIDDEN,
    ),
    Exercise(
        "hw04", program.select_best_move_by_states, choice_cases, compiles=True,
        mistakes={
            "no_reward": ("reward + expected_value", "expected_value"),
            "of_afterstate": ("expected_value", "estimate"),
            "place": ("return best", f"return {LEGAL}.index(best) if best >= 0 else -1"),
            "worst": ("-np.inf", "np.inf", "value >", "value <"),
            "none_is_0": ("-1, -np.inf", "0, -np.inf"),
            **_plain_slide(program.select_best_move_by_states),
        },
        show=HIDDEN, given=partial(given_choice, program.expected_value, "E[V(s″)]"),
    ),
    Exercise(
        "hw04", program.update_episode_of_states,
        lambda random: [*last_cases(random), *path_cases(random)], compiles=True,
        outcome=change_alone, same=close,
        mistakes={
            "dead_not_taught": (DEAD, ""),
            "adds_zero": (DEAD, "", BACKWARDS, NOT_LAST,  # an update by 0 teaches nothing
                          "target = 0.0", "target = estimate(network, path[-1].state)"),
            "dead_in_target": ("    target = 0.0\n", "", "    update(", "    target = update("),
            "of_afterstates": program.update_episode,
            "no_reward": ("path[t].reward + ", ""),
            "next_reward": ("path[t].reward + ", "", "target = update(", LEARNS),
            "as_in_part_1": (DEAD, "", "path[t].reward + ", "", "target = update(", LEARNS),
            "last_missing": (BACKWARDS, NOT_LAST,
                             "target = 0.0", "target = estimate(network, path[-1].state)"),
            "dead_whole": ("alpha * (0.0", "(0.0"),
            "fixed_alpha": (STEP, "0.1 * error"),
            "old_value": ("target = update(", "target = path[t].reward + target - error\n"
                          "        update("),
            "forward": (BACKWARDS, "len(path)", "target = update(", "update(",
                        "        error =", "        later = path[t + 1 : t + 2]\n        target = "
                        "sum(estimate(network, s.state) for s in later)\n        error ="),
            "first_missing": (BACKWARDS, NOT_FIRST),
            "sign": (STEP, "-alpha * error"),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=partial(given_path, _states_of, "before_dead"),
        tell=partial(tell_values, _states_of),
    ),
]  # fmt: skip
