"""hw06, temporal coherence: a weight's own rate, the update, waking up, an optimistic start."""

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs.exercise import Exercise, changed, wrong_if
from lib2048.networks.lookups import BOARDS_AT_ONCE, IMAGES

LOOKUPS = IMAGES // BOARDS_AT_ONCE  # of a tuple: one on each symmetric image of the board

# ---------------------------------------------------------------- the exercises' own versions


@register_jitable  # a student's update may call it, and is compiled
def tc_rate(E, A):
    """Return a weight's own rate, |E| / A; 1 for one without a history."""
    return abs(E) / A if A != 0 else 1.0


@register_jitable
def update(weights, memory, positions, error, rate):
    """Let the weights of a board learn an error by temporal coherence (Algorithm 2)."""
    for p in positions:
        E, A = memory[2 * p], memory[2 * p + 1]
        own = abs(E) / A if A != 0 else 1.0
        weights[p] += rate * own * error
        memory[2 * p] = E + error
        memory[2 * p + 1] = A + abs(error)


def until_awake(errors, rate):
    """Return how many more errors of +1 bring a weight with this history to a rate."""
    E, A, more = sum(errors), sum(abs(error) for error in errors), 0
    while tc_rate(E, A) < rate:
        E, A, more = E + 1, A + 1, more + 1
    return more


def optimistic_start(tables, points):
    """Return new tables whose weights make every board worth so many points."""
    each = points / (LOOKUPS * len(tables))
    return [[each] * len(table) for table in tables]


# ---------------------------------------------------------------- three friends' versions


_FRIENDS = {  # what each has changed
    "fresh rests": ("1.0", "0.0"),  # a weight without a history does not move
    "only signs": ("E + error", "E + np.sign(error)", "abs(error)", "abs(np.sign(error))"),
    "forgets": ("E + error", "0.9 * E + error", "A + abs(error)", "0.9 * A + abs(error)"),
}
FRIENDS = {
    name: changed(update, "rate * own * error", "rate * error * own", *edits)
    for name, edits in _FRIENDS.items()
}


# ---------------------------------------------------------------- cases


def histories(random):
    """Return (E, A) of weights that have met errors."""
    lives = [[1], [-1], [1, -1], [1, 1, -1], [-8, 2], [4, 4], [-1, -1, -1, 1]]
    lives += [random.integers(-9, 10, n).tolist() for n in random.integers(2, 6, 10)]
    return [(float(sum(life)), float(sum(map(abs, life)))) for life in lives if any(life)]


def _case(random, kind, positions, error, rate):
    """Return arguments of `update` for six weights.

    kind: of their memory; "fresh" for none, E is "positive" or of both signs, "mixed".
    """
    weights, memory = np.zeros(6, np.float32), np.zeros(12, np.float32)
    if kind != "fresh":
        weights[:] = random.integers(-20, 20, 6)
        sizes = random.integers(2, 9, 6)
        memory[1::2] = sizes
        memory[::2] = random.integers(0, sizes + 1, 6)
        memory[::2] *= random.choice([-1, 1], 6) if kind != "positive" else 1
    positions = np.array(positions, np.uint32)
    return weights, memory, positions, np.float32(error), np.float32(rate)


def updates(*kinds):
    """Return a function that draws updates of weights with some kinds of memory."""
    return lambda random: [
        _case(random, kind, random.permutation(6)[:n], error, rate)
        for kind in kinds
        for n in (1, 2, 4)
        for error, rate in ((8, 1), (-8, 0.5), (5, 0.125))
    ]


def shared_updates(random):
    """Return updates of boards that look one weight up twice."""
    return [
        _case(random, kind, positions, error, 0.5)
        for kind in ("fresh", "mixed")
        for positions in ([2, 2], [0, 3, 0], [5, 5, 1, 5])
        for error in (8, -6)
    ]


def lives(random):
    """Return (errors, rate)."""
    known = [[1, -1], [-1], [1, 1, -1, -1], [1], [-4, -4], [1, -1] * 10]
    drawn = [random.integers(-5, 6, n).tolist() for n in random.integers(2, 7, 8)]
    return [(life, rate) for life in known + drawn if any(life) for rate in (0.5, 0.75, 0.25)]


def empty_tables(random):
    """Return (tables of zeros, points); the tables are not alike in size."""
    sizes = [[4], [4, 4], [4, 16], [16, 4, 4], [4, 4, 4, 4]]
    return [([[0.0] * n for n in some], points) for some in sizes for points in (320, 1000, -64)]


# ---------------------------------------------------------------- outcomes


def updated(update, weights, memory, positions, error, rate):
    """Return (weights, E, A) after an update."""
    before = positions.copy()
    wrong_if(update(weights, memory, positions, error, rate) is not None, "returns")
    wrong_if(not np.array_equal(before, positions), "positions")
    return tuple(np.round(part, 4).tolist() for part in (weights, memory[::2], memory[1::2]))


def filled(optimistic_start, tables, points):
    """Return the new tables, and what they make of a board."""
    made = optimistic_start(tables, points)
    wrong_if(made is None, "nothing")
    made = [[float(weight) for weight in table] for table in made]
    wrong_if([len(table) for table in made] != [len(table) for table in tables], "sizes")
    return made, LOOKUPS * sum(table[0] for table in made)


# ---------------------------------------------------------------- the exercises

CELL_SECONDS = {"any": 40}  # the update is compiled
EACH = "points / (LOOKUPS * len(tables))"
SIZES = "sum(abs(error) for error in errors)"

EXERCISES = [
    Exercise(
        "hw06", tc_rate, parts={"a history": histories, "none": lambda random: [(0.0, 0.0)]},
        mistakes={
            "no_bars": ("abs(E)", "E"),
            "upside_down": ("abs(E) / A if A", "A / abs(E) if E"),
            "zero": ("1.0", "0.0"),
            "one_less": ("abs(E) / A", "1 - abs(E) / A"),
        },
    ),
    Exercise(
        "hw06", update,
        parts={"fresh": updates("fresh"), "with a history": updates("positive", "mixed"),
               "twice": shared_updates},
        mistakes={
            "no_bars": ("abs(E)", "E"),
            "own_say": ("= E + error", "= E", "= A + abs(error)", "= A", "memory[2 * p + 1]\n",
                        "memory[2 * p + 1]\n        E, A = E + error, A + abs(error)\n"),
            "size_of_sum": ("A + abs(error)", "abs(E + error)"),
            "no_bars_in_A": ("A + abs(error)", "A + error"),
            "bars_in_E": ("E + error", "E + abs(error)"),
            "fresh_zero": ("1.0", "0.0"),
            "shared_twice": ("rate * own", "rate / len(positions) * own"),
            "no_own_rate": ("rate * own", "rate"),
            "no_memory": ("= E + error", "= E", "= A + abs(error)", "= A"),
            "memory_of_steps": ("E + error", "E + rate * own * error",
                                "A + abs(error)", "A + abs(rate * own * error)"),
            "sign": ("rate * own", "-rate * own"),
            "once": ("in positions", "in dict.fromkeys(positions.tolist())"),
        },
        outcome=updated, compiles=True, result={"weights": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw06", until_awake, lives,
        mistakes={
            "counted": (SIZES, "len(errors)"),
            "no_bars_in_A": (SIZES, "sum(errors)"),
            "bars_in_E": ("= sum(errors)", f"= {SIZES}"),
            "only_E": ("A + 1", "A"),
            "one_late": ("< rate", "<= rate"),
        },
    ),
    Exercise(
        "hw06", optimistic_start, empty_tables,
        mistakes={
            "all_of_it": (EACH, "points"),
            "no_images": ("LOOKUPS * ", ""),
            "one_tuple": (" * len(tables)", ""),
            "by_size": ("LOOKUPS * len(tables)", "sum(map(len, tables))"),
            "each_table": ("[each]", "[points / len(table)]"),
        },
        outcome=filled, result={"tables": "text", "a board is worth": "text"},
    ),
]  # fmt: skip
