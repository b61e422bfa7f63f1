"""hw04, the TDL2048 lab: the five functions of an n-tuple network that learns by TD(0)."""

import numpy as np

from lib2048.course.labs.hw04 import mistakes as wrong
from lib2048.course.labs.hw04 import program as tdl
from lib2048.course.labs.exercise import Exercise
from lib2048.course.labs.hw04.mistakes import LOOKUPS, TUPLES
from lib2048.course.labs.messages import say
from lib2048.course.labs.seeds import variant
from lib2048.course.labs.hw04.program import Step, Tables, at
from lib2048.game.board import afterstates, from_tiles, initial, spawn
from lib2048.game.rng import stream
from lib2048.game.spec import ACTIONS

NETWORK = "cells:0125,4569,0123"  # small enough for a check
NETWORKS = ("4x6", "cells:012345,456789,012456,345678", "cells:012345,012456,456789,01259d")
ALPHA = 0.25


def network_of(student):
    """Return the name of the network that a student trains: each of `NETWORKS` has its share.

    student: number or name, see `seeds.variant`.
    """
    return variant(student).choose("tuples", NETWORKS, 1)[0]


# ---------------------------------------------------------------- cases


def a_network(random, spread=100.0):
    """Return small `Tables` with random weights."""
    tables = tdl.new_tables(NETWORK)
    tables.weights[:] = random.normal(0, spread, tables.weights.shape)
    return tables


def a_game(random, turns=10_000):
    """Play a game by random actions; return its `Step`s, at most so many, the last ones."""
    board, luck = initial(stream(2048, int(random.integers(1 << 31))))
    steps = []
    while options := afterstates(board):
        action, after, reward = options[random.integers(len(options))]
        following, luck = spawn(after, luck)
        steps.append(Step(np.uint64(board), action, float(reward), after, np.uint64(following)))
        board = following
    return steps[-turns:]


def some_boards(random, count=12):
    """Return boards without a symmetry: no weight of theirs is looked up twice."""
    steps = a_game(random)
    chosen = [steps[i].afterstate for i in sorted(random.choice(len(steps), 4 * count))]
    return [board for board in chosen if not _is_symmetric(board)][:count]


def _is_symmetric(board):
    """Say whether two images of a tuple meet the same weight."""
    images = tdl.isomorphic(TUPLES)
    return any(len({tdl.indexof(image, board) for image in some}) < 8 for some in images)


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
    half = random.permutation(np.arange(1, 9)).reshape(4, 2)
    return np.uint64(from_tiles(2 ** np.hstack([half, half[:, ::-1]])))


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
    low = [(below, board) for board in found if tdl.select_best_move(below, board) != 0]
    return [*((network, board) for board in (*found, steps[-1].next_state)), *low[:2]]


def _tells(network, board):
    """Return {a way to go wrong: whether it chooses another action}; None for a near tie.

    Both for values of afterstates and of states: a near tie would be decided by rounding.
    """
    options, told = afterstates(board), {}
    legal, best = [action for action, _, _ in options], {}
    for name, value_of in (("", tdl.estimate), (" of states", tdl.expected_value)):
        values = [value_of(network, after) for _, after, _ in options]
        worths = sorted((r + v, a) for (a, _, r), v in zip(options, values))
        if len(worths) < 2 or worths[-1][0] - worths[-2][0] < 0.5:
            return None
        best[name] = worths[-1][1]
        told[f"no reward{name}"] = legal[int(np.argmax(values))] != best[name]
        told[f"place{name}"] = legal.index(best[name]) != best[name]
    told["other values"] = best[""] != best[" of states"]
    told["not the first"] = best[""] != 0
    told["illegal"] = wrong.ignores_legality(network, board) != best[""]
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


def effect(function, network, board, amount):
    """Return what `update` returned, and {(tuple, index): change} of the weights."""
    before = network.weights.copy()
    answer = function(network, board, amount)
    return {"returned": answer, "weights changed": _changes(before, network.weights)}


def change_alone(function, network, path, alpha):
    """Return the changes of the weights; what is returned, or made of the path, is free."""
    before = network.weights.copy()
    function(network, list(path), alpha)
    return {"returned": None, "weights changed": _changes(before, network.weights)}


def _changes(before, after):
    rows, places = np.nonzero(after != before)
    change = (after - before)[rows, places]
    return {(int(k), int(i)): float(x) for k, i, x in zip(rows, places, change)}


def close(expected, got):
    """Compare what was computed in float32, in one order or another: up to 0.01 points."""
    if not isinstance(expected, dict):
        return _same_number(expected, got)
    same = _same_changes(expected["weights changed"], got["weights changed"])
    return same and _same_number(expected["returned"], got["returned"])


def _same_number(expected, got):
    if not all(isinstance(value, (int, float, np.number)) for value in (expected, got)):
        return expected is got
    return abs(expected - got) < 0.01


def _same_changes(expected, got):
    """Compare changes of weights; one of less than 0.001 may be lost in rounding."""
    places = expected.keys() | got.keys()
    return all(abs(expected.get(place, 0) - got.get(place, 0)) < 1e-3 for place in places)


# ---------------------------------------------------------------- how it is told


def given_update(case):
    """Return what a picture says of a case of `update`, beside the board."""
    network, board, amount = case
    return {"amount": f"{amount:g}", say("hw04.tell.before"): f"{tdl.estimate(network, board):.2f}"}


def tell_update(case, outcome):
    """Say what an update did: how many weights moved, by how much, and what it returned."""
    changes, returned = outcome["weights changed"].values(), outcome["returned"]
    sizes = [f"{size:+.4g}" for size in (min(changes, default=0), max(changes, default=0))]
    value = f"{returned:.2f}" if isinstance(returned, (int, float, np.number)) else repr(returned)
    words = {"count": len(changes), "size": " … ".join(dict.fromkeys(sizes)), "value": value[:40]}
    return say("hw04.tell.update", **words)


def given_choice(value_of, name):
    """Return given(case): the reward and the value of each legal action."""

    def given(case):
        network, board = case
        options = [
            (ACTIONS[action], reward, value_of(network, after))
            for action, after, reward in afterstates(board)
        ]
        words = (f"{action} {reward} + {value:.1f}" for action, reward, value in options)
        return {f"r + {name}": ", ".join(words)}

    return given


def given_path(boards, before="before"):
    """Return given(case): the rewards, and the values of the boards before learning."""

    def given(case):
        network, path, alpha = case
        rewards = ", ".join(f"{step.reward:.0f}" for step in path)
        values = _values(network, boards(path))
        return {"alpha": f"{alpha:g}", "rewards": rewards, say(f"hw04.tell.{before}"): values}

    return given


def tell_values(boards):
    """Return tell(case, outcome): the values of the boards after learning."""

    def tell(case, outcome):
        network, path, _ = case
        learned = Tables(network.weights.copy(), network.isomorphic)
        for place, change in outcome["weights changed"].items():
            learned.weights[place] += change
        return say("hw04.tell.values", values=_values(learned, boards(path)))

    return tell


def _values(network, boards):
    return ", ".join(f"{tdl.estimate(network, board):.1f}" for board in boards)


def _afterstates_of(path):
    return [step.afterstate for step in path]


def _states_of(path):
    return [*[step.state for step in path], path[-1].next_state]


# ---------------------------------------------------------------- the exercises

UP_TO = ("indexof", "estimate", "update", "select_best_move", "update_episode")
HIDDEN = {"network": "hidden", "path": "hidden"}

HAND_IN = ("report", "curve", "config")
# Several cells compile.  The first of the named ones trains 20 000 games, which the other two use
# again, and the last may train a second seed.
CELL_SECONDS = {"any": 60, "performance-half": 150, "performance-full": 150}

EXERCISES = [
    Exercise(
        "hw04.indexof", "indexof(pattern, board)", tdl.indexof, index_cases, compiles=True,
        mistakes={
            "reversed": lambda pattern, board: tdl.indexof(pattern[::-1], board),
            "one_bit": lambda pattern, board: sum(
                at(board, cell) << i for i, cell in enumerate(pattern)),
            "plain_sum": lambda pattern, board: sum(at(board, cell) for cell in pattern),
            "tiles": lambda pattern, board: sum(
                (1 << at(board, c) if at(board, c) else 0) << 4 * i
                for i, c in enumerate(pattern)),
            "cells": lambda pattern, board: tdl.indexof(range(len(pattern)), board),
            "first_cell": lambda pattern, board: at(board, pattern[0]),
            "empty_is_1": lambda pattern, board: sum(
                (1 << at(board, c)) << 4 * i for i, c in enumerate(pattern)),
            "shift_by_cell": lambda pattern, board: sum(
                at(board, cell) << 4 * cell for cell in pattern),
        },
        show={"board": "board"},
    ),
    Exercise(
        "hw04.estimate", "estimate(network, board)", tdl.estimate, value_cases,
        uses=UP_TO[:1], compiles=True, same=close,
        mistakes={
            "no_symmetry": wrong.sum_of(lambda images: images[:1]),
            "four_images": wrong.sum_of(lambda images: images[:4]),
            "mean": lambda network, board: tdl.estimate(network, board) / LOOKUPS,
            "sum_of_indices": lambda network, board: float(sum(
                tdl.indexof(image, board) for images in network.isomorphic for image in images)),
            "first_tuple": lambda network, board: tdl.estimate(
                Tables(network.weights[:1], network.isomorphic[:1]), board),
        },
        show=HIDDEN | {"board": "board"},
    ),
    Exercise(
        "hw04.update", "update(network, board, amount)", tdl.update, update_cases,
        uses=UP_TO[:2], compiles=True, outcome=effect, same=close,
        mistakes={
            "not_split": wrong.updates(lambda amount, network: amount),
            "by_eight": wrong.updates(lambda amount, network: amount / 8),
            "by_tuples": wrong.updates(lambda amount, network: amount / len(network.weights)),
            "no_symmetry": wrong.updates(lambda amount, network: amount / len(network.weights),
                                    images_of=lambda images: images[:1]),
            "set": wrong.set_weights,
            "precedence": wrong.updates(lambda amount, network: amount / 8 * len(network.weights)),
            "by_32": wrong.updates(lambda amount, network: amount / 32),
            "once_each": wrong.once_each,
            "divided_again": wrong.updates(lambda amount, network: amount / LOOKUPS / len(TUPLES)),
            "divided_twice": wrong.updates(lambda amount, network: amount / LOOKUPS**2),
            "floor": wrong.updates(lambda amount, network: amount // LOOKUPS),
            "sign": wrong.updates(lambda amount, network: -amount / LOOKUPS),
            "first_weight": wrong.first_weight,
            "first_tuple": wrong.first_tuple,
            "no_return": wrong.updates(lambda amount, network: amount / LOOKUPS, again=False),
            "amount": wrong.returns(lambda value, amount: amount),
            "amount_twice": wrong.returns(lambda value, amount: value + 2 * amount),
            "old_value": wrong.returns(lambda value, amount: value),
            "adds_amount": wrong.returns(lambda value, amount: value + amount),
            "sums_too_early": wrong.sums_while_updating,
        },
        show=HIDDEN | {"amount": "hidden", "board": "board"}, given=given_update, tell=tell_update,
    ),
    Exercise(
        "hw04.select_best_move", "select_best_move(network, board)", tdl.select_best_move,
        choice_cases, uses=UP_TO[:2], compiles=True,
        mistakes={
            "no_reward": wrong.chooses(lambda network, s, after, r: tdl.estimate(network, after)),
            "reward_only": wrong.chooses(lambda network, s, after, r: r),
            "worst": wrong.chooses(
                lambda network, s, after, r: r + tdl.estimate(network, after), min),
            "starts_at_0": wrong.first_is_best,
            "none_below_0": wrong.none_below_0,
            "illegal": wrong.ignores_legality,
            "merges_only": wrong.merges_only,
            "place": wrong.place_in_list,
            "first_legal": lambda network, board: min(wrong.legal(board), default=-1),
            "last_legal": lambda network, board: max(wrong.legal(board), default=-1),
            "gives_up": wrong.gives_up,
            "none_is_0": wrong.chooses(
                lambda network, s, after, r: r + tdl.estimate(network, after), none=0),
        },
        show=HIDDEN | {"board": "board"}, given=given_choice(tdl.estimate, "V(s′)"),
    ),
    Exercise(
        "hw04.update_episode", "update_episode(network, path, alpha)", tdl.update_episode,
        uses=UP_TO[:3], compiles=True, outcome=change_alone, same=close,
        parts={"last afterstate": last_cases, "whole path": path_cases},
        mistakes={
            "last_not_taught": wrong.learns(wrong.next_reward, turns=wrong.all_but_last),
            "first_missing": wrong.learns(wrong.next_reward, turns=wrong.all_but_first),
            "last_alone": wrong.learns(wrong.next_reward, turns=wrong.last_alone),
            "own_reward": wrong.learns(wrong.own_reward),
            "no_reward": wrong.learns(lambda network, path, t, value: value),
            "next_state": wrong.learns(wrong.next_state),
            "old_value": wrong.learns(wrong.next_reward, fresh=False),
            "forward": wrong.learns(wrong.next_reward, turns=list),
            "of_states": wrong.learns(wrong.own_reward, lambda step: step.state),
            "no_alpha": wrong.learns(wrong.next_reward, amount=lambda error, alpha: error),
            "sign": wrong.learns(wrong.next_reward, amount=lambda error, alpha: -alpha * error),
            "clipped": wrong.learns(wrong.next_reward, amount=wrong.clipped),
            "fixed_alpha": wrong.learns(wrong.next_reward, amount=lambda error, alpha: 0.1 * error),
            "divided_again": wrong.learns(
                wrong.next_reward, amount=lambda error, alpha: alpha * error / LOOKUPS),
            "by_32": wrong.learns(
                wrong.next_reward, amount=lambda error, alpha: alpha * error / 32),
            "returns": wrong.learns(lambda network, path, t, value: sum(
                step.reward for step in path[t + 1 :])),
            "last_own_reward": wrong.learns(wrong.last_own_reward),
            "forward_carry": wrong.forward_carry,
            "saved": wrong.saved,
            "target_added": wrong.learns(lambda network, path, t, value: wrong.next_reward(
                network, path, t, value) + tdl.estimate(network, path[t].afterstate)),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=given_path(_afterstates_of),
        tell=tell_values(_afterstates_of),
    ),
    Exercise(
        "hw04.expected_value", "expected_value(network, afterstate)", tdl.expected_value,
        value_cases, uses=UP_TO[:2], compiles=True, same=close,
        mistakes={
            "even_chances": wrong.expects(0.5, 0.5),
            "only_twos": wrong.expects(1.0, 0.0),
            "exchanged": wrong.expects(0.1, 0.9),
            "not_divided": wrong.expects(divisor=lambda empty: 1),
            "first_cell": wrong.first_empty_cell,
            "by_16": wrong.expects(divisor=lambda empty: 16),
            "by_twice": wrong.expects(divisor=lambda empty: 2 * empty),
            "tiles_put": wrong.expects(exponents=(2, 4)),
            "afterstate_itself": lambda network, afterstate: tdl.estimate(network, afterstate),
        },
        show=HIDDEN | {"afterstate": "board"},
    ),
    Exercise(
        "hw04.select_best_move_by_states", "select_best_move_by_states(network, board)",
        tdl.select_best_move_by_states, choice_cases,
        uses=("indexof", "estimate", "expected_value"), compiles=True,
        mistakes={
            "no_reward": wrong.chooses(
                lambda network, s, after, r: tdl.expected_value(network, after)),
            "of_afterstate": wrong.chooses(
                lambda network, s, after, r: r + tdl.estimate(network, after)),
            "place": lambda network, board: (
                wrong.legal(board).index(best)
                if (best := tdl.select_best_move_by_states(network, board)) >= 0 else -1),
            "worst": wrong.chooses(
                lambda network, s, after, r: r + tdl.expected_value(network, after), min),
            "none_is_0": wrong.chooses(
                lambda network, s, after, r: r + tdl.expected_value(network, after), none=0),
        },
        show=HIDDEN | {"board": "board"},
        given=given_choice(tdl.expected_value, "E[V(s″)]"),
    ),
    Exercise(
        "hw04.update_episode_of_states", "update_episode_of_states(network, path, alpha)",
        tdl.update_episode_of_states,
        lambda random: [*last_cases(random), *path_cases(random)], uses=UP_TO[:3], compiles=True,
        outcome=change_alone, same=close,
        mistakes={
            "dead_not_taught": wrong.learns(wrong.own_reward, lambda step: step.state),
            "adds_zero": wrong.dead_adds_zero,
            "dead_in_target": wrong.dead_in_target,
            "of_afterstates": wrong.learns(wrong.next_reward),
            "no_reward": wrong.with_states(lambda network, path, t, value: value),
            "next_reward": wrong.with_states(wrong.next_reward),
            "as_in_part_1": wrong.learns(wrong.next_reward, lambda step: step.state),
            "last_missing": wrong.with_states(turns=wrong.all_but_last),
            "dead_whole": wrong.dead_whole,
            "fixed_alpha": wrong.with_states(amount=lambda error, alpha: 0.1 * error),
            "old_value": wrong.with_states(fresh=False),
            "forward": wrong.with_states(turns=list),
            "first_missing": wrong.with_states(turns=wrong.all_but_first),
            "sign": wrong.with_states(amount=lambda error, alpha: -alpha * error),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=given_path(_states_of, "before_dead"),
        tell=tell_values(_states_of),
    ),
]  # fmt: skip
