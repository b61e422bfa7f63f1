"""hw08, expectimax: max layer, chance layer, depth, choice, a table, an endgame to its end.

The cases use value functions with exact answers: a number for every board, by a rule of one line.
In a class with rules of its own a dead end is worth other points than 0, and 4s are as likely as in
its game.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral

import numpy as np

from lib2048.course.labs import seeds
from lib2048.course.labs.exercise import Exercise, changed, wrong_if
from lib2048.course.labs.hw04 import OTHER_ODDS, random_game
from lib2048.course.labs.outcomes import equal, first_of_equals, text_of
from lib2048.course.labs.seeds import rules_of
from lib2048.endgame import Formation
from lib2048.game.board import (
    afterstates,
    count_empty,
    from_tiles,
    slide,  # noqa: F401  a mistake calls it
    symmetries,
    to_exponents,
)
from lib2048.game.spec import ACTIONS

RULES = rules_of("hw08")
FOUR, DEAD = float(RULES.game.four), RULES.more["dead"]
LOWEST = -float(np.finfo(np.float32).max)  # what a dead end is worth in a typical program

# ---------------------------------------------------------------- the library's version


def best(state, value):
    """Return the largest reward + value(afterstate) of a state; a dead end has a worth of its own.

    That is 0, or what the class's rules say.
    """
    return max((reward + value(after) for _, after, reward in afterstates(state)), default=DEAD)


def expected(afterstate, worth):
    """Return the mean of worth(state) over the spawns that may follow an afterstate."""
    empty = [cell for cell, exponent in enumerate(to_exponents(afterstate)) if exponent == 0]
    total = 0.0
    for cell in empty:
        for exponent, chance in ((1, 1 - FOUR), (2, FOUR)):
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


def success(state, goal):
    """Return the chance that best play makes a target, if no larger tile moves.

    goal: the target's exponent.  It is searched to the end: no value function is asked.
    """
    stand = _larger(state, goal)

    @cache
    def of_state(state):
        found = [after for _, after, _ in afterstates(state) if _larger(after, goal) == stand]
        return max(map(of_afterstate, found), default=0.0)

    @cache
    def of_afterstate(after):
        return 1.0 if goal in to_exponents(after) else expected(after, of_state)

    return of_state(state)


def _larger(board, goal):
    """Return the exponents of a board, with 0 for all that are not above the target's."""
    return [exponent * (exponent > goal) for exponent in to_exponents(board).tolist()]


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


def _own(board):
    """Return a number of its own for each board, 0 to 48 in halves."""
    return board * 0x9E3779B1 % 1009 % 97 / 2


def _paid(board):
    """Return what the merges paid that made a board's tiles, as if only 2s came."""
    exponents = np.maximum(to_exponents(board).astype(float), 1)
    return ((exponents - 1) * 2**exponents).sum()


NOTHING = Values("0 for every board", lambda board: 0.0)
FIFTY = Values("50 for every board", lambda board: 50.0)
BELOW = Values("−50 for every board", lambda board: -50.0)  # as a network may say
FAR = Values("−2 000 000 for every board", lambda board: -2e6)
SIGNS = Values("−1, 0 or 1 for each board", lambda board: 2 * _own(board) % 3 - 1)
ROOM = Values("10 for each empty cell", lambda board: 10.0 * count_empty(board))
CORNER = Values(
    "5 for each exponent in the upper row", lambda board: 5.0 * to_exponents(board)[:4].sum()
)
OWN = Values("a number of its own for each board", _own)
LEVEL = Values(  # as much less as a reward is more: with these two weighed otherwise, it decides
    "minus what the merges of its tiles paid, and a trifle of its own",
    lambda board: _own(board) / 1250 - _paid(board),
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
OVER = [  # no action is legal
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 32, 8, 2], [4, 16, 32, 8], [2, 4, 16, 4], [4, 32, 2, 8]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 16384, 32768]],
]
CORNERS = [[0, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 0]]
LARGE = [[0, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 16384, 32768]]  # its last cell is full
TIED = [[8, 2, 32, 16], [16, 4, 8, 2], [2, 32, 8, 4], [32, 4, 64, 16]]  # as in the notebook
SEVERAL = [[2, 2, 4, 4], [8, 8, 16, 16], [2, 4, 8, 16], [4, 8, 16, 8]]  # pays more one way
PAIRS = [  # by OWN to pay twice is another choice, and to count 0.9 of what follows is not
    [[0] * 4, [0, 8, 0, 0], [0, 0, 4, 8], [0, 0, 0, 8]],
    [[0] * 4, [0] * 4, [4, 8, 8, 0], [0, 0, 0, 8]],
]
STUCK = [[2, 4, 2, 0], [0] * 4, [0] * 4, [0] * 4]  # OWN says more of it than of what follows
WAYS = [  # by OWN the first action is best, and the last; a larger reward or value is not
    STUCK, SEVERAL,
    [[0, 0, 0, 0], [0, 4, 4, 0], [0] * 4, [0] * 4],
    [[0, 0, 4, 0], [2, 8, 8, 0], [0] * 4, [0] * 4],
    [[2, 4, 8, 0], [4, 8, 2, 0], [8, 2, 4, 0], [2, 4, 8, 0]],  # one action is legal
    [[128, 128, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]],  # a large reward
]  # fmt: skip
FULL = [  # by OWN each of 1, 2 and 3 plies prefers another action than one of the others
    [[4, 8, 16, 32], [64, 16, 8, 4], [2, 32, 128, 8], [2, 16, 4, 64]],
    [[32, 16, 2, 8], [8, 4, 8, 32], [64, 4, 2, 16], [128, 16, 64, 4]],
    [[8, 16, 4, 8], [32, 64, 16, 64], [2, 16, 32, 8], [4, 4, 128, 2]],
]
OPEN = [  # by OWN 2 plies prefer another action than 1, and more than 6 cells are empty
    [[2, 0, 0, 8], [8, 0, 2, 2], [0, 4, 0, 0], [8, 0, 0, 2]],
    [[2, 0, 0, 2], [0, 0, 4, 0], [8, 0, 8, 0], [0, 4, 4, 2]],
]
TWO_DEPTHS = [  # by OWN a memory that mixes up depths prefers another action at 3 plies
    [[4, 16, 4, 4], [8, 64, 8, 2], [2, 16, 16, 32], [2, 0, 2, 4]],
    [[8, 4, 16, 2], [4, 16, 2, 4], [2, 8, 32, 16], [4, 8, 4, 4]],
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


def _known(boards, *more):
    """Return a case for each of these boards, lists of rows: (board, *more)."""
    return [(from_tiles(rows), *more) for rows in boards]


def first_is_0(rows):
    """Return a state and values by which its first action is worth exactly 0, and others less."""
    state = from_tiles(rows)
    worth = [(int(after), -reward) for _, after, reward in afterstates(state)]
    known = {after: value - 5.0 * (n > 0) for n, (after, value) in enumerate(worth)}
    words = "such that the first action is worth 0, and others less"
    return state, Values(words, lambda board: known.get(board, -5.0))


def then_first_is_0():
    """Return an afterstate and values by which, whatever spawns, the first action is worth 0.

    No action pays there, and all others are worth less: by the values of the afterstates, and by
    those of the states after them.
    """
    afterstate, known = from_tiles(CORNERS), {}

    def note(state):
        for n, (_, after, _) in enumerate(afterstates(state)):
            worth = known[int(after)] = -5.0 * (n > 0)
            expected(after, lambda state: known.setdefault(int(state), worth))  # noqa: B023
        return 0.0

    expected(afterstate, note)
    words = "such that after any spawn the first action is worth 0, and others less"
    return afterstate, Values(words, lambda board: known.get(board, -5.0))


def open_states(random):
    """Return cases of states in which some action is legal, with a value function each."""
    cases = [case for value in (OWN, BELOW, FAR) for case in _known(WAYS, value)]
    cases += [first_is_0(rows) for rows in WAYS[1:3]]
    states = _drawn(random, 0, 16, least=0)
    return cases + [(state, SOME_VALUES[i % 4]) for i, state in enumerate(states)]


def chances(random):
    """Return afterstates, each with what the states after it are worth."""
    known = [*_known(RISKY, FIFTY), *_known([*RISKY, CORNERS, LARGE], OWN)]
    known += [*_known([MIRRORED, CORNERS], SIGNS), *_known([MIRRORED], BELOW)]
    boards = _drawn(random, 1, 15)
    return known + [(board, SOME_VALUES[i % 4]) for i, board in enumerate(boards)]


def depths(random):
    """Return afterstates with 0 to 3 plies below them, few empty cells where it is deep."""
    boards = _drawn(random, 1, 6, most=6)
    cases = [(board, i % 2, SOME_VALUES[i % 4]) for i, board in enumerate(boards)]
    cases += [(board, 1, OWN) for board in boards]
    cases += [(board, 2, OWN) for board in _drawn(random, 1, 2, most=2)]
    states = [from_tiles(rows) for rows in TWO_DEPTHS]
    cases += [(after, 2, OWN) for state in states for _, after, _ in afterstates(state)]
    for plies in range(4):
        cases += _known([*RISKY, LARGE], plies, OWN)
    afterstate, value = then_first_is_0()
    cases += [*_known(RISKY, 1, FIFTY), *_known(NARROW, 1, FAR), *_known([CORNERS], 2, BELOW)]
    return [*cases, (afterstate, 1, value), *_known([MIRRORED], 1, OWN)]


def choices(random):
    """Return states with a depth; no two boards are worth the same, so there are few ties."""
    cases = [*_known(OVER, 1, OWN), *_known(OVER[:1], 2, FIFTY)]
    cases += [*_known([STUCK, *PAIRS], 1, OWN), *_known([STUCK], 1, LEVEL)]
    for plies in (1, 2):
        cases += [case for value in (FIFTY, FAR) for case in _known([TIED], plies, value)]
        cases += _known([SEVERAL], plies, LEVEL)
        cases += _known(FULL, plies, OWN)
    boards, full = _drawn(random, 0, 20, most=5), _drawn(random, 0, 5, least=0, most=1)
    cases += [(state, 1, value) for state, value in map(first_is_0, WAYS[1:3])]
    cases += [*_known(TWO_DEPTHS, 3, OWN), *_known(OPEN, 2, OWN)]
    for value in (OWN, LEVEL):
        cases += _known(FULL, 3, value)
        cases += [(board, 1, value) for board in boards]
        cases += [(board, 2, value) for board in full]
    return cases


def what_v_knows(random):
    """Return afterstates after which no game ends, with values of states."""
    boards = [from_tiles(rows) for rows in NARROW] + _drawn(random, 1, 6, 3, 6)
    cases = [(board, OWN if i % 2 else CORNER) for i, board in enumerate(boards)]
    return cases + [*_known(NARROW[:1], FAR), *_known(NARROW, OWN), then_first_is_0()]


def questions(random):
    """Return afterstates, the depths that are asked for in turn, and of which values.

    Each of the value functions comes with a table of its own.
    """
    narrow, mirrored = [from_tiles(rows) for rows in NARROW], from_tiles(MIRRORED)
    boards = narrow + _drawn(random, 1, 3, 2, 3)
    cases = [(board, (0, 0), (OWN,)) for board in (mirrored, *narrow)]
    cases += _known(WAYS[:3], (0, 0), (NOTHING,))  # boards that no other case asks for
    cases += [(board, (0, 1, 0), (OWN, CORNER)) for board in (*boards, from_tiles(CORNERS))]
    cases += [(board, (1, 2, 1), (OWN,)) for board in boards]
    cases += [(board, (2, 1, 0), (OWN, ROOM)) for board in narrow]
    cases += [(mirrored, (1, 0), (OWN,)), *_known(RISKY, (1, 1), (OWN,))]
    afterstate, value = then_first_is_0()
    cases.append((afterstate, (1,), (value,)))
    return [(*case, {}) for case in cases]


BOTH = [[2, 4, 4, 2], [8192, 2, 32, 64], [1024, 512, 256, 128], [2048, 4096, 32768, 16384]]
NARROW_ENDS = [  # the target's exponent and a state: it takes long, or large tiles have to be held
    (4, [[2, 4, 8, 4], [4, 4, 32, 64], [1024, 512, 256, 128], [2048, 4096, 8192, 16384]]),
    (4, [[4, 2, 0, 32], [0, 8, 64, 128], [256, 512, 1024, 2048], [4096, 8192, 16384, 32768]]),
    (4, [[8, 8, 32, 64], [128, 256, 512, 1024], [2048, 4096, 8192, 0], [2, 4, 16384, 32768]]),
    (3, [[0, 16, 4, 4], [64, 128, 256, 512], [1024, 2048, 4096, 8192], [2, 32, 16384, 32768]]),
    (4, [[2, 4, 2, 4], [4, 2, 32, 64], [1024, 512, 256, 128], [2048, 4096, 8192, 16384]]),
    (3, BOTH),
    (4, BOTH),
]
SHAPES = {  # formations of few free cells, by the target's exponent
    3: ("4", "22", "31", "41", "32", "311"),
    4: ("41", "32", "42", "33", "321"),
}
MOST_STATES = 300  # that a search without memory meets, though it moves what it likes


def endgames(random):
    """Return states of endgames with the target's exponent: certain, lost, and most in between."""
    found = {"lost": [], "certain": [], "luck": []}
    while any(len(cases) < most for cases, most in zip(found.values(), (4, 4, 10))):
        state, goal = case = _endgame(random)
        if _count_states(state, goal, MOST_STATES) < MOST_STATES:
            chance = success(state, goal)
            found["lost" if chance == 0 else "certain" if chance == 1 else "luck"].append(case)
    known = [(from_tiles(rows), goal) for goal, rows in NARROW_ENDS]
    return [*known, *found["lost"][:4], *found["certain"][:4], *found["luck"][:10]]


def _endgame(random):
    """Draw a state of a formation, in any of its images; return it with the target's exponent."""
    goal = int(random.choice(list(SHAPES)))
    shape = Formation(str(random.choice(SHAPES[goal])), 1 << goal)
    large = iter(random.permutation(np.arange(goal + 1, 16)).tolist())
    cells = [int(random.integers(goal)) if c in shape.cells else next(large) for c in range(16)]
    board = np.uint64(sum(exponent << 4 * cell for cell, exponent in enumerate(cells)))
    return symmetries(board)[int(random.integers(8))], goal


def _count_states(state, goal, most):
    """Count the states that a search without memory meets, whatever it moves; `most` at most."""
    todo, count = [state], 0
    while todo and count < most:
        count += 1
        for _, after, _ in afterstates(todo.pop()):
            if goal not in to_exponents(after):
                expected(after, lambda state: todo.append(state) or 0)
    return count


# ---------------------------------------------------------------- how it is judged


def of_values(case):
    """Return by what the values of a case may be told from those of others."""
    value = case[-1]
    return {
        "yes all boards have the same value": value in (FIFTY, BELOW, FAR),
        "yes all values are below 0": value in (BELOW, FAR, LEVEL),
    }


def of_spawns(case):
    """Return by what the case of an afterstate may be told from others."""
    ends = expected(case[0], lambda state: not afterstates(state)) > 0
    return of_values(case) | {"yes a spawn may end the game": ends}


def of_actions(case):
    """Return by what the case of a state may be told from others."""
    legal = len(afterstates(case[0]))
    return of_values(case) | {
        "yes some actions are legal, and some are not": 0 < legal < 4,
        "yes the game is over": not legal,
    }


def of_questions(case):
    """Return by what the case of a table may be told from others."""
    afterstate, plies, values, _ = case
    tables = [{} for _ in values]
    for (value, table), depth in itertools.product(zip(values, tables), plies):
        tabled(afterstate, depth, value, table)
    return {
        "yes a value of 0 is among those to be kept": 0 in {v for t in tables for v in t.values()},
        "yes one question is asked twice": len({*plies}) < len(plies),
        "yes the same board is asked for with several depths": len({*plies}) > 1,
        "yes there are two value functions, with a table each": len(values) > 1,
        "the most plies that are asked for": max(plies),
    }


def of_endgames(case):
    """Return by what the case of an endgame may be told from others."""
    state, goal = case
    stand, legal = _larger(state, goal), [after for _, after, _ in afterstates(state)]
    taken = [after for after in legal if _larger(after, goal) == stand]
    return {
        "yes some action would move a large tile": len(taken) < len(legal),
        "yes there is an action that may be taken": bool(taken),
        "yes the target can be made at once": any(goal in to_exponents(a) for a in taken),
    }


def asked(case):
    """Say in words what is asked of one table, and of what values."""
    _, plies, values, _ = case
    each = "; then, with another table, ".join(map(repr, values))
    *first, last = map(str, plies)
    return {"asked in turn": f"for {', '.join(first)} and {last} plies", "values": each}


def first_choice(case, action):
    """Return which action was chosen; any of several equally good ones counts as the first."""
    worth, got = _worths(*case), text_of(action)[:40]
    wrong_if(not worth and action is not None, "dead_end", got=got)
    if not worth:
        return "None"
    wrong_if(not isinstance(action, Integral) or action not in range(4), "no_action", got=got)
    action = first_of_equals(action, worth)
    return f"{action}, {ACTIONS[action]}"


def answered(tabled, afterstate, plies, values, table):
    """Ask for several depths with one table, and another one for each of the value functions.

    Returns [(answers, how often each board was looked up, entries of the table)], one for each.
    """
    found = []
    for value in values:
        new, looked_up = dict(table), Counter()

        def counting(board, value=value, looked_up=looked_up):
            looked_up[int(board)] += 1
            return value(board)

        answers = [tabled(afterstate, depth, counting, new) for depth in plies]
        found.append((answers, looked_up, _entries(new)))
    return found


def _entries(held):
    """Return how many values a table holds, in tables or lists of its own or not."""
    if isinstance(held, dict):
        held = [*held.values()]
    if isinstance(held, (list, tuple, set, np.ndarray)):
        return sum(map(_entries, held))
    return int(held is not None and held == held)  # a gap is None or nan


def kept(case, found):
    """Return all answers, and how often one board was looked up with one table at most."""
    before, counts = None, []
    afterstate, depths, values, _ = case
    for value, (answers, looked_up, entries) in zip(values, found):
        most = max(looked_up.values(), default=0)
        wrong_if(None in answers, "no_return")
        wrong_if(most <= 1 and not entries or not most and answers == before, "own_cache")
        if most == 1 and max(depths) and entries == len(looked_up):
            right = equal([ahead(afterstate, depth, value) for depth in depths], answers)
            wrong_if(right, "only_leaves")
        before = answers
        counts.append(most)
    return [each for answers, *_ in found for each in answers], max(counts)


# ---------------------------------------------------------------- the exercises

_worths = changed(choose, "max(worth, key=worth.get, default=None)", "worth")

PAYS, LEGAL = "reward + value(after)", "for _, after, reward in afterstates(state)"
SLID = "for after, reward in (slide(state, a) for a in range(4))"
FALSY = "lambda top, new: new if not top or new > top else top"
OF_BEST = {  # mistakes in the max layer
    "no_reward": (PAYS, "value(after)"),
    "reward_only": (PAYS, "reward"),
    "reward_twice": (PAYS, f"reward + {PAYS}"),
    "discounted": ("value(after)", "0.99 * value(after)"),
    "discounted 0.9": ("value(after)", "0.9 * value(after)"),
    "starts_at_0": ("max((", "max(0.0, max((", "default=DEAD)", "default=DEAD))"),
    "dead_end": ("default=DEAD", "default=-np.inf"),
    "lowest": ("default=DEAD", "default=LOWEST"),
    "dead_value": ("default=DEAD", "default=value(state)"),
    "action": (f"{PAYS} for _, after", f"({PAYS}, action) for action, after",
               "default=DEAD)", "default=(0, DEAD))[1]"),
    "action first": (f"{PAYS} for _, after", f"({PAYS}, action) for action, after",
                     "default=DEAD)", "key=lambda two: two[0], default=(0, DEAD))[1]"),
    "action none": (f"{PAYS} for _, after", f"({PAYS}, action) for action, after",
                    "default=DEAD)", "key=lambda two: two[0], default=(0, None))[1]"),
    "order": ("_, after, reward", "_, reward, after"),
    "order first": ("_, after, reward", "after, _, reward"),
    "order last": ("_, after, reward", "reward, after, _"),
    "order turned": ("_, after, reward", "reward, _, after"),
    "order shifted": ("_, after, reward", "after, reward, _"),
    "apart": (f"max(({PAYS} {LEGAL}), default=DEAD)",
              f"(max((reward {LEGAL}), default=DEAD) + max((value(after) {LEGAL}), default=0))"),
    "stuck": (LEGAL, SLID),
    "illegal": (LEGAL, SLID, PAYS, f"{PAYS} if after != state else -1.0"),
    "illegal 0": (LEGAL, SLID, PAYS, f"{PAYS} if after != state else 0.0"),
    "mean": ("max((", "np.mean([", "), default=DEAD", "] or [DEAD]"),
    "of_state": ("value(after)", "value(state)"),
    "by_reward": (f"max(({PAYS}", "sum(max(((reward, value(after))",
                  "default=DEAD)", "default=(0, DEAD)))"),
    "by_value": (f"max(({PAYS}", "sum(max(((value(after), reward)",
                 "default=DEAD)", "default=(0, DEAD)))"),
    "by_reward first": (f"max(({PAYS}", "sum(max(((reward, value(after))",
                        "default=DEAD)", "key=lambda two: two[0], default=(0, DEAD)))"),
    "by_value first": (f"max(({PAYS}", "sum(max(((value(after), reward)",
                       "default=DEAD)", "key=lambda two: two[0], default=(0, DEAD)))"),
    **{f"starts_high {n}": ("max((", f"max({n}, max((", "default=DEAD)", f"default={n}))")
       for n in (-1, -100, -1000, -10_000, -100_000, -1_000_000)},
    "worst": ("max((", "min(("),
    "not_all": ("max((", "next((", "default=DEAD", "DEAD"),
    "not_all but_first": ("afterstates(state)", "afterstates(state)[1:]"),
    "not_all but_last": ("afterstates(state)", "afterstates(state)[:-1]"),
    "not_all three": ("afterstates(state)", "afterstates(state)[:3]"),
    "rounded": ("value(after)", "int(value(after))"),
}  # fmt: skip
# What else a dead end is often worth: in other classes, to who punishes it, to who wants no max.
POINTS = sorted({0, 1, -1, -10, -1000, -10_000, *seeds.RULES["hw08"]["dead"][1]} - {DEAD})
FEW = sorted({0, -1, -10, -1000} - {DEAD})
# What is taken for less than any number, in the lab (the first) and elsewhere.
HUGE = ("-3.4e38", "-1e6", "-999999", "-1e9", "-1e10", "-1e18", "-2.0**63", "-1e300",
        "-1.7976931348623157e308")  # fmt: skip
OF_DEAD = {f"lowest {n}": changed(best, "default=DEAD", f"default={n}") for n in HUGE} | {
    f"dead {n}": changed(best, "default=DEAD", f"default={n}") for n in POINTS
}
ADDED, NUMBER = "total += chance * worth(state)", " / len(empty)"
OF_EXPECTED = {  # and in the chance layer
    "half": ("1 - FOUR", "0.5", "FOUR", "0.5"),
    "swapped": ("(1, 1 -", "(2, 1 -", "(2, FOUR", "(1, FOUR"),
    "not_divided": (NUMBER, ""),
    "sixteen": (NUMBER, " / 16"),
    "states": (NUMBER, " / (2 * len(empty))"),
    "one_less": (NUMBER, " / max(len(empty) - 1, 1)"),
    "tiles": ("(2, FOUR", "(4, FOUR", "(1, 1 -", "(2, 1 -"),
    "only_twos": ("FOUR", "0.0"),
    "luckiest": ("0.0", "-np.inf", ADDED, "total = max(total, worth(state))", NUMBER, ""),
    "unluckiest": ("0.0", "np.inf", ADDED, "total = min(total, worth(state))", NUMBER, ""),
    "alive": ("total = 0.0", "total = seen = 0.0", ADDED, f"if afterstates(state):\n"
              f"                {ADDED}\n                seen += chance", NUMBER, " / (seen or 1)"),
    "dead_is_0": ("worth(state)\n", "(worth(state) if afterstates(state) else 0)\n"),
    "first_cell": ("in empty:", "in empty[:1]:", NUMBER, ""),
    "first_cell share": ("in empty:", "in empty[:1]:"),
    "no_tile": ("worth(state)", "worth(afterstate)"),
    "only_fours": ("1 - FOUR", "0.0", "FOUR", "1.0"),
    "weights": ("1 - FOUR", "1.0"),
    "left_out": ("in empty:", "in empty[1:]:"),
    "left_out last": ("in empty:", "in empty[:-1]:"),
    "left_out cell_15": ("if exponent == 0]", "if exponent == 0 and cell < 15]"),
    "full": ("if exponent == 0]", "]"),
    "cells": ("4 * cell", "4 * (15 - cell)"),
    "cells columns": ("4 * cell", "4 * (cell % 4 * 4 + cell // 4)"),
    "cells bits": ("4 * cell", "cell"),
    "rounded": (NUMBER, " // len(empty)"),
    "rounded worth": ("worth(state)", "int(worth(state))"),
}  # fmt: skip
LAYERS = {"best": (best, OF_BEST), "expected": (expected, OF_EXPECTED)}


def _inside(truth, **names):
    """Return {name: truth with a mistake in a layer that it builds on}; names: of the mistakes."""
    return {
        f"{layer} {name}": changed(truth, **{layer: changed(LAYERS[layer][0], *edits)})
        for layer, chosen in names.items()
        for name, edits in LAYERS[layer][1].items()
        if name in chosen
    }


def _without_depth(afterstate, plies, value):
    """Search with a memory in which the depth is missing."""
    known = {}

    def below(board, plies):
        if int(board) not in known:
            deeper = lambda state: best(state, lambda after: below(after, plies - 1))  # noqa: E731
            known[int(board)] = expected(board, deeper) if plies else value(board)
        return known[int(board)]

    return below(afterstate, plies)


LEAF = "expected(after, value)", "value(after)"
_falsy = changed(
    best,
    f"max(({PAYS} {LEGAL}), default=DEAD)",
    f"(lambda some: __import__('functools').reduce({FALSY}, some) if some else DEAD)"
    f"([{PAYS} {LEGAL}])",
)
_from_0 = changed(best, *OF_BEST["starts_at_0"])
_infinite = changed(best, *OF_BEST["dead_end"])
_lowest = changed(best, *OF_BEST["lowest"])
LARGEST = "return max(worth, key=worth.get, default=None)"
FROM_0 = (
    "most = max([0.0, *worth.values()])\n    return next((a for a in worth if worth[a] == most)"
)
LAYER = "best(state, lambda after: ahead(after, plies - 1, value))"
KEY = "int(afterstate), plies"
STATE_KEY = "(int(state), plies - 1)"
LOOKED = "    if key not in table:"

STANDS, WON = " if _larger(after, goal) == stand", "goal in to_exponents(after)"
LARGER = "_larger(after, goal)", "_larger(state, goal)"
FOUND, ALL = "[after for _, after, _", "map(of_afterstate, found)"
MOST = f"max({ALL}, default=0.0)"

EXERCISES = [
    Exercise(
        "hw08", best, features=of_actions, parts={
            "open": open_states,
            "dead ends": lambda random: [case for v in (FIFTY, OWN) for case in _known(OVER, v)],
        },
        # An action that changes nothing may have the same points: on dead ends alone, these are it.
        mistakes={
            "no_default": (", default=DEAD", ""), **OF_DEAD, "dead_value": OF_BEST["dead_value"],
            **OF_BEST,
        },
        slips={
            "returned_none": ("default=DEAD", "default=None"),
            "merges": ("reward + ", "(reward > 0) + "),
            "falsy": _falsy,
            "tile": ("reward + ", "reward / 2 + "),
            "wrong_type pair": (f"({PAYS} for _", f"(({PAYS}, _) for _",
                                "default=DEAD", "default=(DEAD, 0)"),
        },
    ),
    Exercise(
        "hw08", expected, chances, features=of_spawns,
        mistakes=OF_EXPECTED | {
            f"odds {odds}": changed(expected, "FOUR", odds) for odds in OTHER_ODDS
        },
        slips={
            "eights": ("(2, FOUR", "(3, FOUR"),
            "only_twos twice": ("(2, FOUR", "(1, FOUR"),
            "first_forgotten": ("in enumerate(", "in list(enumerate(", "if exponent == 0]",
                                     "if exponent == 0][1:]", "(afterstate))", "(afterstate)))"),
            "squared": (NUMBER, " / len(empty) ** 2"),
            "last": ("total += ", "total = "),
            "below_0": ("return total / len(empty)", "return max(total / len(empty), 0.0)"),
            "below_0 each": ("worth(state)\n", "max(worth(state), 0.0)\n"),
            "below_0 size": ("worth(state)\n", "abs(worth(state))\n"),
            "zeros": ("total = 0.0", "total = some = 0.0", ADDED, "worths = chance * worth(state)\n"
                      "            total, some = total + worths, some + chance * (worths != 0)",
                      NUMBER, " / (some or 1)"),
            "signed": ("np.uint64(afterstate) | np.uint64(exponent << 4 * cell)",
                       "np.uint64((int(afterstate) & (1 << 63) - 1) | (exponent << 4 * cell))"),
        },
    ),
    Exercise(
        "hw08", ahead, depths, features=of_spawns,
        mistakes={
            "no_last_max": ("    return expected(\n", "    if plies == 1:\n        return "
                            "expected(afterstate, value)\n    return expected(\n"),
            "no_chance": ("expected(", "(lambda board, worth: worth(board))("),
            "same_board": ("ahead(after,", "ahead(afterstate,"),
            "no_plies": lambda afterstate, plies, value: value(afterstate),
            "ends_at_1": ("plies == 0", "plies == 1"),
            "endless": ("plies - 1", "plies"),
            "endless deeper": ("    if plies == 0:\n        return value(afterstate)\n", ""),
            "too_deep": lambda a, plies, value: ahead(a, plies + 1, value),
            "too_short": lambda a, plies, value: ahead(a, max(plies - 1, 0), value),
            "one_ply": lambda a, plies, value: ahead(a, min(plies, 1), value),
            "two_plies": lambda a, plies, value: ahead(a, min(plies, 2), value),
            "discounted": ("ahead(after, plies", "0.99 * ahead(after, plies"),
            "discounted 0.9": ("ahead(after, plies", "0.9 * ahead(after, plies"),
            "discounted mean": ("return expected(", "return 0.99 * expected("),
            "discounted mean 0.9": ("return expected(", "return 0.9 * expected("),
            "no_max": (LAYER, "ahead(state, plies - 1, value)"),
            "exchanged": ("expected(\n        afterstate, lambda state: best(state, lambda after:",
                          "best(\n        afterstate, lambda after: expected(after, lambda after:"),
            "no_mean": ("expected(", "best("),
            "added above": ("return expected(", "return value(afterstate) + expected("),
            "added": ("lambda after: ", "lambda after: value(after) + "),
            "leaf_0": ("return value(afterstate)", "return 0.0"),
            "best falsy": changed(ahead, best=_falsy),
        } | _inside(
            ahead,
            best=("no_reward", "reward_twice", "starts_at_0", "dead_end", "lowest", "mean", "stuck",
                  "illegal", "by_reward", "worst"),
            expected=("half", "only_twos", "luckiest", "unluckiest", "alive", "first_cell share",
                      "not_divided", "left_out"),
        ),
        slips={
            "two_less": ("plies == 0", "plies <= 0", "plies - 1", "plies - 2"),
            "open_boards": ("if plies == 0", "if plies == 0 or count_empty(afterstate) > 6"),
            "one_ply always": ("plies - 1", "0"),
            "no_depth": _without_depth,
            "known": ("    if plies == 0:", "    known = ahead.__dict__.setdefault('known', {})\n"
                      "    if (key := int(afterstate)) not in known:\n        known[key] = "
                      "value(afterstate)\n    if plies == 0:\n        return known[key]\n"
                      "    if plies == 0:"),
        },
    ),
    Exercise(
        "hw08", choose, choices, features=of_values,
        mistakes={
            "no_reward": ("reward + ahead", "ahead"),
            "reward_twice": ("reward + ahead", "2 * reward + ahead"),
            "discounted": ("reward + ahead", "reward + 0.99 * ahead"),
            "discounted 0.9": ("reward + ahead", "reward + 0.9 * ahead"),
            "before": ("ahead(after", "ahead(board"),
            "before reward_only": (" + ahead(after, plies - 1, value)", ""),
            "too_deep": ("plies - 1", "plies"),
            "one_ply": ("plies - 1", "0"),
            "two_plies": ("plies - 1", "min(plies - 1, 1)"),
            "worst": ("max(", "min("),
            "first": (LARGEST, "return next(iter(worth), None)"),
            "first last": (LARGEST, "return max(worth, default=None)"),
            "numbers": (LARGEST, "return (max(worth, key=worth.get) + 2) % 4 if worth else None"),
            "numbers 3": (LARGEST, "return 3 - max(worth, key=worth.get) if worth else None"),
            "starts_at_0": (LARGEST, f"{FROM_0}, 0 if worth else None)"),
            "place": (LARGEST, "worths = list(worth.values())\n    "
                      "return worths.index(max(worths)) if worths else None"),
        },
        slips={
            "dead_end": ("default=None", "default=0"),
            "falsy": (LARGEST, "return __import__('functools').reduce(lambda a, b: b if not "
                      "worth[a] or worth[b] > worth[a] else a, worth) if worth else None"),
            "no_depth": changed(choose, ahead=_without_depth),
            "open_boards": ("    worth =", "    plies = 1 if count_empty(board) > 6 else plies\n"
                            "    worth ="),
            "dead_end minus_1": ("default=None", "default=-1"),
            "raises": (", default=None", ""),
            "no_action worth": (LARGEST, "return max(worth.values(), default=None)"),
            "no_action none": (LARGEST, f"{FROM_0}, None)"),
            "no_action": (LARGEST, f"{FROM_0}, -1 if worth else None)"),
            "no_action ties": (LARGEST, "most = max(worth.values(), default=0)\n    found = "
                               "[a for a in worth if worth[a] == most]\n    "
                               "return found[0] if len(found) == 1 else None"),
        },
        outcome=lambda choose, *case: choose(*case), verdict=first_choice,
        tell=lambda case, action: action,
    ),
    Exercise(
        "hw08", deeper, features=of_spawns, parts={
            "one": lambda random: _known(RISKY, FIFTY),  # dead ends; no name gives that away
            "other": what_v_knows,
        },
        mistakes={
            "dead_end": ("best(", "_lowest("),
            "infinite": ("best(", "_infinite("),
            "afterstates": LEAF,
            "both": ("best(", "_lowest(", *LEAF),
            "dead_value": ("best(state, lambda after: expected(after, value))",
                           "(best(state, lambda after: expected(after, value)) "
                           "if afterstates(state) else value(state))"),
            "one_ply": lambda afterstate, value: expected(afterstate, value),
            "no_chance": lambda afterstate, value: best(afterstate, lambda a: expected(a, value)),
            "of_states": ("expected(after, value)", "value(state)"),
        } | {f"dead_points {n}": changed(deeper, best=OF_DEAD[f"dead {n}"]) for n in FEW}
        | {f"dead_end {n}": changed(deeper, best=OF_DEAD[f"lowest {n}"]) for n in HUGE}
        | {f"both {n}": changed(deeper, *LEAF, best=OF_DEAD[f"lowest {n}"]) for n in HUGE}
        | {"afterstates from_0": changed(deeper, *LEAF, best=_from_0),
           "best falsy": changed(deeper, best=_falsy)}
        | _inside(
            deeper,
            best=("no_reward", "reward_only", "reward_twice", "discounted", "starts_at_0", "mean",
                  "illegal", "by_reward", "worst"),
            expected=("half", "not_divided", "alive", "luckiest", "first_cell share", "left_out"),
        ),
        slips={
            "one_ply no_max": ("best(state, lambda after: expected(after, value))", "value(state)"),
            "both inline": ("best(state, lambda after: expected(after, value))", "max([-3.4e38, "
                            "*(r + value(after) for _, after, r in afterstates(state))])"),
            "once_more": ("(after, value)", "(after, lambda state: best(state, value))"),
        },
    ),
    Exercise(
        "hw08", tabled, questions, outcome=answered, verdict=kept,
        mistakes={
            "no_table": lambda afterstate, plies, value, table: ahead(afterstate, plies, value),
            "no_table handed": (", value, table)  # noqa", ", value, {})  # noqa"),
            "no_table asked": (LOOKED, "    if True:"),
            "no_depth": (KEY, "int(afterstate)"),
            "no_leaves": ("    key =",
                          "    if plies == 0:\n        return value(afterstate)\n    key ="),
            "no_kind": ("best(state, below)", f"table[{STATE_KEY}] if {STATE_KEY} in table else "
                        f"table.setdefault({STATE_KEY}, best(state, below))"),
            "no_board": (KEY, "plies"),
            "deeper_will_do": (LOOKED, "    for k in range(plies, 4):\n        if (key[0], k) in "
                               "table:\n            return table[key[0], k]\n" + LOOKED),
            "zero": (LOOKED, "    if not table.get(key):"),
            "mirror": ("int(afterstate)", "int(symmetries(afterstate).min())"),
            "no_return": ("    return table[key]\n", ""),
            "no_return at_first": (LOOKED, "    if key in table:\n        return table[key]\n"
                                   "    if True:", "value(afterstate)\n        )\n    "
                                   "return table[key]\n", "value(afterstate)\n        )\n"),
            "own_cache": ("    key =", "    table = tabled.__dict__.setdefault('known', {})\n"
                          "    key ="),
            "own_cache as_well": ("    key =", "    table[afterstate], table = 0, "
                                  "tabled.__dict__.setdefault('known', {})\n    key ="),
            "best falsy": changed(tabled, best=_falsy),
        } | _inside(tabled, best=("reward_twice", "lowest"), expected=("alive", "only_twos")),
        slips={
            "float": ("int(afterstate)", "float(afterstate)"),
            "low_half": ("int(afterstate)", "int(afterstate) & 0xFFFFFFFF"),
            "high_half": ("int(afterstate)", "int(afterstate) >> 32"),
            "tiles": ("int(afterstate)", "tuple(sorted(to_exponents(afterstate).tolist()))"),
            "any_depth": (KEY, "int(afterstate), plies > 0"),
            "whole": ("value(afterstate)\n", "int(value(afterstate))\n"),
            "fives": (LOOKED, "    if len(table) > 5:\n        table.clear()\n" + LOOKED),
            "only_leaves": ("    key =", "    if plies:\n        return expected("
                            "afterstate, lambda state: best(state, lambda after: tabled(after, "
                            "plies - 1, value, table)))\n    key ="),
            "leaf": ("below = lambda after: tabled(after, plies - 1, value, table)",
                     "below = value"),
        },
        show={"plies": "hidden", "value": "hidden", "table": "hidden"},
        given=asked, features=of_questions,
        result={"answers": "text", "most look-ups of one board": "text"},
    ),
    Exercise(
        "hw08", success, endgames, features=of_endgames,
        mistakes={
            "moves": (STANDS, ""),
            "moves sorted": (STANDS, " if sorted(_larger(after, goal)) == sorted(stand)"),
            "moved_win": (STANDS, f"{STANDS} or goal in to_exponents(after)"),
            "filled": (STANDS, " if all(e for e, old in zip(to_exponents(after), stand) if old)"),
            "moves largest": (STANDS, " if _larger(after, max(stand) - 1) == "
                              "_larger(state, max(stand) - 1)"),
            "target_stands": (LARGER[0], "_larger(after, goal - 1)",
                              LARGER[1], "_larger(state, goal - 1)"),
            "tile": ("goal in", "1 << goal in"),
            "larger_wins": (WON, "max(to_exponents(after)) >= goal"),
            "points": (FOUND, "[(reward, after) for _, after, reward", MOST,
                       "max((r + of_afterstate(s) for r, s in found), default=DEAD)"),
            "by_points": (FOUND, "[(reward, after) for _, after, reward", MOST,
                          "of_afterstate(max(found)[1]) if found else 0.0"),
            "mean": (MOST, f"sum({ALL}) / max(len(found), 1)"),
            "worst": ("max(map", "min(map"),
            "one_turn": ("expected(after, of_state)", "0.0"),
            "one_turn one_spawn": ("expected(after, of_state)", "expected(after, lambda state: any("
                                   "goal in to_exponents(s) for _, s, _ in afterstates(state) "
                                   "if _larger(s, goal) == stand))"),
            "discounted": ("expected(after", "0.99 * expected(after"),
            "discounted 0.9": ("expected(after", "0.9 * expected(after"),
            "dead_won": ("default=0.0", "default=1.0"),
        } | {
            f"one_turn {n}": (MOST, "max((of_afterstate(s, left - 1) for s in found), default=0.0)",
                              "of_state(state):", f"of_state(state, left={n}):",
                              "(after):", "(after, left):", "expected(after, of_state)",
                              "expected(after, lambda s: of_state(s, left)) if left else 0.0")
            for n in (2, 4, 6)
        } | {f"dead {n}": ("default=0.0", f"default={n}") for n in sorted({-1, DEAD} - {0})}
        | _inside(success, expected=("half", "swapped", "not_divided", "sixteen", "only_twos",
                                     "luckiest", "unluckiest", "alive", "first_cell share",
                                     "left_out")),
        slips={
            "luck_first": ("return of_state(state)", "return of_afterstate(state)"),
            "stuck": (LEGAL.replace("reward", "_"), SLID.replace("reward", "_")),
            "added": (MOST, f"sum({ALL})"),
            "at_least_one": (MOST, f"1 - np.prod([1 - chance for chance in {ALL}])"),
            "first": (MOST, f"next({ALL}, 0.0)"),
            "failure": ("return of_state(state)", "return 1 - of_state(state)"),
            "per_cent": ("return of_state(state)", "return 100 * of_state(state)"),
            "rounded": ("return of_state(state)", "return round(of_state(state), 2)"),
            "smaller_stand": (LARGER[0], "_larger(after, 1)", LARGER[1], "_larger(state, 1)"),
            "fixed stand": (LARGER[0], "_larger(after, 4)", LARGER[1], "_larger(state, 4)"),
            "fixed win": (WON, "4 in to_exponents(after)"),
            "no_goal": ("    return of_state(state)", "    known = success.__dict__.setdefault("
                        "'known', {})\n    return known.setdefault(int(state), of_state(state))"),
        },
        outcome=lambda success, *case: success(*case),  # True, too, is a chance of 1
        show={"goal": "hidden"}, given=lambda case: {"target": f"{1 << case[1]}, goal = {case[1]}"},
    ),
]  # fmt: skip
