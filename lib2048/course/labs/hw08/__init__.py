"""hw08, expectimax: the max layer, the chance layer, depth, the choice, a table of what is known.

The cases use value functions with exact answers: a number for every board, by a rule of one line.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lib2048.course.labs.exercise import Exercise
from lib2048.game.board import (
    afterstates,
    count_empty,
    from_tiles,
    initial,
    spawn,
    symmetries,
    to_exponents,
)
from lib2048.game.rng import stream
from lib2048.game.spec import FOUR_CHANCE

LOWEST = -float(np.finfo(np.float32).max)  # what a dead end is worth in a typical program
ONE, FOUR = np.uint64(1), np.uint64(4)

# ---------------------------------------------------------------- the library's version


def best(state, value):
    """Return the largest reward + value(afterstate) of a state, 0 where no action is legal."""
    return max((reward + value(after) for _, after, reward in afterstates(state)), default=0)


def expected(afterstate, worth):
    """Return the mean of worth(state) over the spawns that may follow an afterstate."""
    return _over_spawns(afterstate, worth)


def ahead(afterstate, plies, value):
    """Return the value of an afterstate, searched with so many plies below it."""
    if plies == 0:
        return value(afterstate)
    return expected(
        afterstate, lambda state: best(state, lambda after: ahead(after, plies - 1, value))
    )


def choose(board, plies, value):
    """Return the action that a search of so many plies prefers, None where none is legal."""
    worth = _worths(board, plies, value)
    return max(worth, key=worth.get, default=None)


def deeper(afterstate, value):
    """Return the mean of max [r + E V(s)] after an afterstate; value: V of states."""
    return expected(afterstate, lambda state: best(state, lambda after: expected(after, value)))


def tabled(afterstate, plies, value, table):
    """Return what `ahead` returns; ask no question twice that the table, a dict, can answer."""
    key = int(afterstate), plies
    if key not in table:
        below = lambda after: tabled(after, plies - 1, value, table)  # noqa: E731
        table[key] = (
            expected(afterstate, lambda state: best(state, below)) if plies else value(afterstate)
        )
    return table[key]


def _worths(board, plies, value):
    return {a: reward + ahead(after, plies - 1, value) for a, after, reward in afterstates(board)}


def _over_spawns(board, worth, chances=(1 - FOUR_CHANCE, FOUR_CHANCE), exponents=(1, 2), share=1.0):
    """Add up chance · worth over all spawns, and divide by share · the number of cells."""
    empty = [cell for cell, exponent in enumerate(to_exponents(board)) if exponent == 0]
    total = sum(
        chance * worth(np.uint64(board) | np.uint64(exponent << 4 * cell))
        for cell in empty
        for exponent, chance in zip(exponents, chances)
    )
    return total / (share * len(empty))


# ---------------------------------------------------------------- what is tried


@dataclass(frozen=True)
class Values:
    """A value function with exact answers, and the words that a failing case shows of it."""

    words: str
    rule: Callable

    def __call__(self, board):
        """Return the value of a board."""
        return self.rule(int(board))

    def __repr__(self):
        return self.words


FIFTY = Values("50 for every board", lambda board: 50.0)
BELOW = Values("−50 for every board", lambda board: -50.0)  # as a network may say
ROOM = Values("10 for each empty cell", lambda board: 10.0 * count_empty(board))
CORNER = Values(
    "5 for each exponent in the upper row", lambda board: 5.0 * to_exponents(board)[:4].sum()
)
OWN = Values(
    "a number of its own for each board", lambda board: float(board * 0x9E3779B1 % 1009 % 97)
)
SOME_VALUES = FIFTY, ROOM, CORNER, OWN

NARROW = [  # full but for some cells, left-packed: several ways lead to the same board
    [[2, 4, 8, 16], [4, 8, 16, 32], [2, 4, 8, 16], [4, 0, 0, 0]],
    [[2, 4, 8, 16], [4, 8, 16, 32], [2, 4, 8, 0], [4, 2, 0, 0]],
]
MIRRORED = [[0, 2, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]  # its own mirror image
RISKY = [  # after one of the spawns, or both, no action is legal
    [[0, 32, 8, 2], [4, 16, 32, 8], [2, 4, 16, 4], [4, 32, 2, 8]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 32, 0]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 8], [4, 2, 4, 0]],
]
DEAD = [
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 32, 8, 2], [4, 16, 32, 8], [2, 4, 16, 4], [4, 32, 2, 8]],
]


def _turns(random, games=3):
    """Return the (state, afterstate) of all turns of games with random actions."""
    turns = []
    for game in range(games):
        board, luck = initial(stream(int(random.integers(1 << 31)), game))
        while options := afterstates(board):
            after = options[random.integers(len(options))][1]
            turns.append((board, after))
            board, luck = spawn(after, luck)
    return turns


def _drawn(random, which, count, least=1, most=16):
    """Draw states (which 0) or afterstates (1) with so many empty cells, least to most."""
    found = [turn[which] for turn in _turns(random)]
    found = [board for board in found if least <= count_empty(board) <= most]
    picks = random.choice(len(found), min(count, len(found)), replace=False)
    return [found[pick] for pick in picks]


def open_states(random):
    """Return cases of states in which some action is legal, with a value function each."""
    states = _drawn(random, 0, 16, least=0)
    cases = [(state, SOME_VALUES[i % 4]) for i, state in enumerate(states)]
    return cases + [(state, BELOW) for state in states[:4]]


def dead_states(random):
    """Return cases of states without a legal action."""
    return [(from_tiles(rows), value) for rows in DEAD for value in (FIFTY, OWN)]


def chances(random):
    """Return afterstates, each with what the states after it are worth."""
    boards = [from_tiles(rows) for rows in RISKY] + _drawn(random, 1, 15)
    return [(board, SOME_VALUES[i % 4]) for i, board in enumerate(boards)]


def depths(random):
    """Return afterstates with 0, 1 and 2 plies below them, few empty cells where it is deep."""
    boards = [from_tiles(rows) for rows in RISKY] + _drawn(random, 1, 6, most=6)
    cases = [(board, i % 2, SOME_VALUES[i % 4]) for i, board in enumerate(boards)]
    cases += [(board, 1, OWN) for board in boards[:6]]
    return cases + [(board, 2, OWN) for board in (*boards[:2], *_drawn(random, 1, 2, most=3))]


def choices(random):
    """Return states with a depth; no two boards are worth the same, so there are few ties."""
    boards = _drawn(random, 0, 20, most=5)
    return [(board, 1, OWN) for board in boards] + [(board, 2, OWN) for board in boards[:8]]


def only_dead_ends(random):
    """Return afterstates before which a game may end, with values that hide all else."""
    return [(from_tiles(rows), FIFTY) for rows in RISKY]


def what_v_knows(random):
    """Return afterstates after which no game ends, with values of states."""
    boards = [from_tiles(rows) for rows in NARROW] + _drawn(random, 1, 6, 3, 6)
    return [(board, OWN if i % 2 else CORNER) for i, board in enumerate(boards)]


def questions(random):
    """Return afterstates and the depths that are asked for in turn, with one table."""
    boards = [from_tiles(rows) for rows in NARROW] + _drawn(random, 1, 3, 2, 3)
    cases = [(board, (0, 1, 0), OWN) for board in boards]
    cases += [(board, (1, 2, 1), OWN) for board in boards]
    return [*cases, (from_tiles(MIRRORED), (1, 0), OWN)]


# ---------------------------------------------------------------- how it is judged


def chosen(choose, board, plies, value):
    """Return the action that was chosen; any of several equally good ones counts as the first."""
    action, worth = choose(board, plies, value), _worths(board, plies, value)
    first = max(worth, key=worth.get)
    equal = action in worth and np.isclose(worth[action], worth[first], 1e-6, 1e-6)
    return first if equal else action


def answered(tabled, afterstate, plies, value):
    """Ask for several depths with one table; return the answers, and how often one board was
    looked up."""
    table, looked_up = {}, Counter()

    def counting(board):
        looked_up[int(board)] += 1
        return value(board)

    answers = [tabled(afterstate, depth, counting, table) for depth in plies]
    return answers, max(looked_up.values(), default=0)


# ---------------------------------------------------------------- typical mistakes


def _best_of(worth, dead=0, over=max):
    """Return a `best` that takes worth(value, after, reward), and `dead` in a dead end."""

    def best(state, value):
        found = [worth(value, after, reward) for _, after, reward in afterstates(state)]
        return over(found) if found else dead

    return best


def _with_reward(value, after, reward):
    return reward + value(after)


def _stuck_too(state, value):
    legal = {action: (after, reward) for action, after, reward in afterstates(state)}
    tried = [legal.get(action, (state, 0)) for action in range(4)]
    return max(reward + value(after) for after, reward in tried)


def _mean(numbers):
    return sum(numbers) / len(numbers)


def _luckiest(afterstate, worth):
    """Take the best spawn instead of the mean."""
    found = []
    _over_spawns(afterstate, lambda state: found.append(worth(state)) or 0)
    return max(found)


def _one_cell_less(afterstate, worth):
    left = max(count_empty(afterstate) - 1, 1)
    return expected(afterstate, worth) * count_empty(afterstate) / left


def _without_last_max(afterstate, plies, value):
    if plies < 2:
        return expected(afterstate, value) if plies else value(afterstate)
    below = lambda after: _without_last_max(after, plies - 1, value)  # noqa: E731
    return expected(afterstate, lambda state: best(state, below))


def _without_chance(afterstate, plies, value):
    return (
        best(afterstate, lambda after: ahead(after, plies - 1, value))
        if plies
        else value(afterstate)
    )


def _choice(worth):
    """Return a `choose` by worth(board, after, reward, plies, value)."""

    def choose(board, plies, value):
        found = {a: worth(board, after, r, plies, value) for a, after, r in afterstates(board)}
        return max(found, key=found.get, default=None)

    return choose


def _place_in_list(board, plies, value):
    return list(_worths(board, plies, value)).index(choose(board, plies, value))


def _slipped(dead, of_leaf):
    """Return a `deeper` with its own value of a dead end and its own question about a leaf."""

    def deeper(afterstate, value):
        leaf = lambda after: of_leaf(after, value)  # noqa: E731
        return expected(afterstate, lambda state: _best_of(_with_reward, dead)(state, leaf))

    return deeper


def _feeds_afterstates(after, value):
    return value(after)


def _without_table(afterstate, plies, value, table):
    return ahead(afterstate, plies, value)


def _keyed(key, leaves=True, states=False):
    """Return a `tabled` with its own key, that keeps leaves, and states too, or does not."""

    def tabled(afterstate, plies, value, table):
        if plies == 0 and not leaves:
            return value(afterstate)
        name = key(afterstate, plies)
        if name not in table:
            table[name] = (
                expected(afterstate, below(plies, value, table)) if plies else value(afterstate)
            )
        return table[name]

    def below(plies, value, table):
        def of_state(state):
            name = key(state, plies - 1)
            if states and name in table:
                return table[name]
            found = best(state, lambda after: tabled(after, plies - 1, value, table))
            return table.setdefault(name, found) if states else found

        return of_state

    return tabled


def _board_alone(board, plies):
    return int(board)


def _board_and_plies(board, plies):
    return int(board), plies


def _image_and_plies(board, plies):
    return int(symmetries(board).min()), plies


# ---------------------------------------------------------------- the exercises

EXERCISES = [
    Exercise(
        "hw08.best", "best(state, value)", best,
        parts={"open": open_states, "dead ends": dead_states},
        mistakes={
            "no_reward": _best_of(lambda value, after, reward: value(after)),
            "reward_only": _best_of(lambda value, after, reward: reward),
            "starts_at_0": _best_of(_with_reward, over=lambda found: max([0.0, *found])),
            "dead_end": _best_of(_with_reward, -np.inf),
            "lowest": _best_of(_with_reward, LOWEST),
            "stuck": _stuck_too,
            "mean": _best_of(_with_reward, over=_mean),
            "of_state": lambda state, value: _best_of(
                lambda v, after, reward: reward + v(state)
            )(state, value),
        },
        show={"state": "board"},
    ),
    Exercise(
        "hw08.expected", "expected(afterstate, worth)", expected, chances,
        mistakes={
            "half": lambda a, worth: _over_spawns(a, worth, (0.5, 0.5)),
            "swapped": lambda a, worth: _over_spawns(a, worth, (0.1, 0.9)),
            "not_divided": lambda a, worth: expected(a, worth) * count_empty(a),
            "sixteen": lambda a, worth: expected(a, worth) * count_empty(a) / 16,
            "states": lambda a, worth: _over_spawns(a, worth, share=2.0),
            "one_less": _one_cell_less,
            "tiles": lambda a, worth: _over_spawns(a, worth, exponents=(2, 4)),
            "only_twos": lambda a, worth: _over_spawns(a, worth, (1.0, 0.0)),
            "luckiest": _luckiest,
        },
        show={"afterstate": "board"},
    ),
    Exercise(
        "hw08.ahead", "ahead(afterstate, plies, value)", ahead, depths, uses=("best", "expected"),
        mistakes={
            "no_last_max": _without_last_max,
            "no_chance": _without_chance,
            "too_deep": lambda a, plies, value: ahead(a, min(plies + 1, 2), value),
            "too_short": lambda a, plies, value: ahead(a, max(plies - 1, 0), value),
            "one_ply": lambda a, plies, value: ahead(a, min(plies, 1), value),
        },
        show={"afterstate": "board"},
    ),
    Exercise(
        "hw08.choose", "choose(board, plies, value)", choose, choices, outcome=chosen,
        uses=("best", "expected", "ahead"),
        mistakes={
            "no_reward": _choice(lambda b, after, r, plies, v: ahead(after, plies - 1, v)),
            "before": _choice(lambda b, after, r, plies, v: r + ahead(b, plies - 1, v)),
            "too_deep": _choice(lambda b, after, r, plies, v: r + ahead(after, plies, v)),
            "worst": _choice(lambda b, after, r, plies, v: -r - ahead(after, plies - 1, v)),
            "place": _place_in_list,
        },
        show={"board": "board"},
    ),
    Exercise(
        "hw08.deeper", "deeper(afterstate, value)", deeper,
        parts={"dead ends": only_dead_ends, "states": what_v_knows},
        uses=("best", "expected"),
        mistakes={
            "both": _slipped(LOWEST, _feeds_afterstates),
            "dead_end": _slipped(LOWEST, expected),
            "infinite": _slipped(-np.inf, expected),
            "afterstates": _slipped(0, _feeds_afterstates),
            "one_ply": lambda afterstate, value: expected(afterstate, value),
        },
        show={"afterstate": "board"},
    ),
    Exercise(
        "hw08.tabled", "tabled(afterstate, plies, value, table)", tabled, questions,
        outcome=answered, uses=("best", "expected"),
        mistakes={
            "no_table": _without_table,
            "no_depth": _keyed(_board_alone),
            "no_leaves": _keyed(_board_and_plies, leaves=False),
            "no_kind": _keyed(_board_and_plies, states=True),
            "mirror": _keyed(_image_and_plies),
        },
        show={"afterstate": "board"},
        result={"answers": "text", "most look-ups of one board": "text"},
    ),
]  # fmt: skip
