"""hw08, expectimax: the max layer, the chance layer, depth, the choice, a table of what is known.

The cases use value functions with exact answers: a number for every board, by a rule of one line.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from lib2048.course.labs.exercise import Exercise, changed
from lib2048.course.labs.hw04 import random_game
from lib2048.game.board import (
    afterstates,
    count_empty,
    from_tiles,
    slide,  # noqa: F401  a mistake calls it
    symmetries,  # noqa: F401  and so does this
    to_exponents,
)
from lib2048.game.spec import FOUR_CHANCE

LOWEST = -float(np.finfo(np.float32).max)  # what a dead end is worth in a typical program
ONE, FOUR = np.uint64(1), np.uint64(4)

# ---------------------------------------------------------------- the library's version


def best(state, value):
    """Return the largest reward + value(afterstate) of a state, 0 where no action is legal."""
    return max((reward + value(after) for _, after, reward in afterstates(state)), default=0)


def expected(afterstate, worth):
    """Return the mean of worth(state) over the spawns that may follow an afterstate."""
    empty = [cell for cell, exponent in enumerate(to_exponents(afterstate)) if exponent == 0]
    total = 0.0
    for cell in empty:
        for exponent, chance in ((1, 1 - FOUR_CHANCE), (2, FOUR_CHANCE)):
            state = np.uint64(afterstate) | np.uint64(exponent << 4 * cell)
            total += chance * worth(state)
    return total / len(empty)


def ahead(afterstate, plies, value):
    """Return the value of an afterstate, searched with so many plies below it."""
    if plies == 0:
        return value(afterstate)
    return expected(
        afterstate, lambda state: best(state, lambda after: ahead(after, plies - 1, value))
    )


def choose(board, plies, value):
    """Return the action that a search of so many plies prefers, None where none is legal."""
    worth = {a: reward + ahead(after, plies - 1, value) for a, after, reward in afterstates(board)}
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
    seeds = ((int(random.integers(1 << 31)), game) for game in range(games))
    return [(s.state, s.afterstate) for seed in seeds for s in random_game(random, *seed)]


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
    return first_of_equals(choose(board, plies, value), _worths(board, plies, value))


def first_of_equals(action, worth):
    """Return the first action that is worth as much as one of the best; another one as it is."""
    first = max(worth, key=worth.get, default=None)
    is_known = isinstance(action, Integral) and action in worth
    return first if is_known and np.isclose(worth[action], worth[first], 1e-6, 1e-6) else action


def answered(tabled, afterstate, plies, value):
    """Ask for several depths with one table; return the answers, and how often one board was
    looked up."""
    table, looked_up = {}, Counter()

    def counting(board):
        looked_up[int(board)] += 1
        return value(board)

    answers = [tabled(afterstate, depth, counting, table) for depth in plies]
    return answers, max(looked_up.values(), default=0)


# ---------------------------------------------------------------- the exercises

_worths = changed(choose, "max(worth, key=worth.get, default=None)", "worth")
_lowest = changed(best, "default=0", "default=LOWEST")
_infinite = changed(best, "default=0", "default=-np.inf")
SLID = "for after, reward in (slide(state, a) for a in range(4))"
KNOWN = "(int(state), plies - 1)"

EXERCISES = [
    Exercise(
        "hw08", best, parts={
            "open": open_states,
            "dead ends": lambda random: [(from_tiles(b), v) for b in DEAD for v in (FIFTY, OWN)],
        },
        mistakes={
            "no_reward": ("reward + value(after)", "value(after)"),
            "reward_only": ("reward + value(after)", "reward"),
            "starts_at_0": ("max((", "max(0.0, max((", "default=0)", "default=0))"),
            "dead_end": _infinite,
            "lowest": _lowest,
            "stuck": ("for _, after, reward in afterstates(state)", SLID),
            "mean": ("max((", "np.mean([", "), default=0", "] or [0]"),
            "of_state": ("value(after)", "value(state)"),
        },
    ),
    Exercise(
        "hw08", expected, chances,
        mistakes={
            "half": ("1 - FOUR_CHANCE", "0.5", "FOUR_CHANCE", "0.5"),
            "swapped": ("FOUR_CHANCE", "0.9"),
            "not_divided": (" / len(empty)", ""),
            "sixteen": ("/ len(empty)", "/ 16"),
            "states": ("/ len(empty)", "/ (2 * len(empty))"),
            "one_less": ("/ len(empty)", "/ max(len(empty) - 1, 1)"),
            "tiles": ("(2, FOUR", "(4, FOUR", "(1, 1 -", "(2, 1 -"),
            "only_twos": ("FOUR_CHANCE", "0.0"),
            "luckiest": ("0.0", "-np.inf", "total += chance * worth(state)",
                         "total = max(total, worth(state))", " / len(empty)", ""),
        },
    ),
    Exercise(
        "hw08", ahead, depths,
        mistakes={
            "no_last_max": ("    return expected(\n", "    if plies == 1:\n        return "
                            "expected(afterstate, value)\n    return expected(\n"),
            "no_chance": lambda a, plies, value: (
                best(a, lambda after: ahead(after, plies - 1, value)) if plies else value(a)),
            "too_deep": lambda a, plies, value: ahead(a, min(plies + 1, 2), value),
            "too_short": lambda a, plies, value: ahead(a, max(plies - 1, 0), value),
            "one_ply": lambda a, plies, value: ahead(a, min(plies, 1), value),
        },
    ),
    Exercise(
        "hw08", choose, choices, outcome=chosen,
        mistakes={
            "no_reward": ("reward + ahead", "ahead"),
            "before": ("ahead(after", "ahead(board"),
            "too_deep": ("plies - 1", "plies"),
            "worst": ("max(", "min("),
            "place": ("return max(worth, key=worth.get, default=None)",
                      "return list(worth).index(max(worth, key=worth.get))"),
        },
    ),
    Exercise(
        "hw08", deeper, parts={
            "dead ends": lambda random: [(from_tiles(rows), FIFTY) for rows in RISKY],
            "states": what_v_knows,
        },
        mistakes={
            "dead_end": ("best(", "_lowest("),
            "infinite": ("best(", "_infinite("),
            "afterstates": ("expected(after, value)", "value(after)"),
            "both": ("best(", "_lowest(", "expected(after, value)", "value(after)"),
            "one_ply": lambda afterstate, value: expected(afterstate, value),
        },
    ),
    Exercise(
        "hw08", tabled, questions, outcome=answered,
        mistakes={
            "no_table": lambda afterstate, plies, value, table: ahead(afterstate, plies, value),
            "no_depth": ("int(afterstate), plies", "int(afterstate)"),
            "no_leaves": ("    key =",
                          "    if plies == 0:\n        return value(afterstate)\n    key ="),
            "no_kind": ("best(state, below)", f"table[{KNOWN}] if {KNOWN} in table else "
                        f"table.setdefault({KNOWN}, best(state, below))"),
            "mirror": ("int(afterstate)", "int(symmetries(afterstate).min())"),
        },
        result={"answers": "text", "most look-ups of one board": "text"},
    ),
]  # fmt: skip
