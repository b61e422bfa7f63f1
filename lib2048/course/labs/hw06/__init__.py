"""hw06, temporal coherence: a weight's own rate, the update, waking up, an optimistic start."""

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs.exercise import Exercise, Wrong
from lib2048.networks.lookups import BOARDS_AT_ONCE, IMAGES

MOST = 1000  # errors that a wrong version of `until_awake` may count
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


@register_jitable
def _learn(weights, memory, positions, error, step, fresh, kept):
    """Let the weights learn; E and A keep a share of what they were and take the error in.

    step: rate times error; fresh: the rate of a weight without a history.
    """
    for p in positions:
        E, A = memory[2 * p], memory[2 * p + 1]
        weights[p] += step * (abs(E) / A if A != 0 else fresh)
        memory[2 * p] = kept * E + error
        memory[2 * p + 1] = kept * A + abs(error)


def fresh_rests(weights, memory, positions, error, rate):
    """Learn by TC in which a weight without a history does not move."""
    _learn(weights, memory, positions, error, rate * error, 0.0, 1.0)


def only_signs(weights, memory, positions, error, rate):
    """Learn by TC whose E and A count every error as +1 or -1."""
    _learn(weights, memory, positions, np.sign(error), rate * error, 1.0, 1.0)


def forgets(weights, memory, positions, error, rate):
    """Learn by TC whose E and A lose a tenth of themselves before they take an error in."""
    _learn(weights, memory, positions, error, rate * error, 1.0, 0.9)


FRIENDS = {"fresh rests": fresh_rests, "only signs": only_signs, "forgets": forgets}


# ---------------------------------------------------------------- cases


def histories(random):
    """Return (E, A) of weights that have met errors."""
    lives = [[1], [-1], [1, -1], [1, 1, -1], [-8, 2], [4, 4], [-1, -1, -1, 1]]
    lives += [random.integers(-9, 10, n).tolist() for n in random.integers(2, 6, 10)]
    return [(float(sum(life)), float(sum(map(abs, life)))) for life in lives if any(life)]


def no_history(random):
    """Return (E, A) of a weight that has met no error."""
    return [(0.0, 0.0)]


def _case(random, kind, positions, error, rate):
    """Return arguments of `update` for six weights; kind: of their memory."""
    weights, memory = np.zeros(6, np.float32), np.zeros(12, np.float32)
    if kind != "fresh":
        weights[:] = random.integers(-20, 20, 6)
        sizes = random.integers(2, 9, 6)
        memory[1::2] = sizes
        memory[::2] = random.integers(0, sizes + 1, 6)
        memory[::2] *= random.choice([-1, 1], 6) if kind != "positive" else 1
    positions = np.array(positions, np.uint32)
    return weights, memory, positions, np.float32(error), np.float32(rate)


def fresh_updates(random):
    """Return updates of weights that have no history."""
    return [
        _case(random, "fresh", random.permutation(6)[:n], error, rate)
        for n in (1, 2, 4)
        for error, rate in ((8, 1), (-8, 0.5), (5, 0.125))
    ]


def known_updates(random):
    """Return updates of weights with a history; E of both signs."""
    return [
        _case(random, kind, random.permutation(6)[:n], error, rate)
        for kind in ("positive", "mixed")
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
    if update(weights, memory, positions, error, rate) is not None:
        raise Wrong("returns")
    if not np.array_equal(before, positions):
        raise Wrong("positions")
    return tuple(np.round(part, 4).tolist() for part in (weights, memory[::2], memory[1::2]))


def filled(optimistic_start, tables, points):
    """Return the new tables, and what they make of a board."""
    made = optimistic_start(tables, points)
    if made is None:
        raise Wrong("nothing")
    made = [[float(weight) for weight in table] for table in made]
    if [len(table) for table in made] != [len(table) for table in tables]:
        raise Wrong("sizes")
    return made, LOOKUPS * sum(table[0] for table in made)


# ---------------------------------------------------------------- typical mistakes


def _updates(
    own=lambda E, A, e: abs(E) / A if A else 1.0,
    share=lambda n: 1,
    E_of=lambda E, e: E + e,
    A_of=lambda A, E, e: A + abs(e),
    sign=1,
    first=False,
):
    """Return an update with one thing changed; first: E and A take the error in first."""

    def wrong(weights, memory, positions, error, rate):
        for p in positions:
            E, A = memory[2 * p], memory[2 * p + 1]
            if first:
                E, A = E + error, A + abs(error)
            weights[p] += sign * rate * share(len(positions)) * own(E, A, error) * error
            memory[2 * p] = E if first else E_of(E, error)
            memory[2 * p + 1] = A if first else A_of(A, E, error)

    return wrong


def _remembers_steps(weights, memory, positions, error, rate):
    old = weights.copy()
    for p in positions:
        update(weights, memory.copy(), [p], error, rate)
        step = weights[p] - old[p]
        old[p] = weights[p]
        memory[2 * p] += step
        memory[2 * p + 1] += abs(step)


def _once(weights, memory, positions, error, rate):
    update(weights, memory, list(dict.fromkeys(positions.tolist())), error, rate)


def _until(E_of=sum, A_of=lambda errors: sum(map(abs, errors)), grows=1, early=False):
    """Return an `until_awake` with one thing changed; early: it goes on where the rate is met."""

    def wrong(errors, rate):
        E, A, more = E_of(errors), A_of(errors), 0
        while tc_rate(E, A) < rate or (early and tc_rate(E, A) == rate):
            E, A, more = E + 1, A + grows, more + 1
            if more > MOST:
                break
        return more

    return wrong


def _each(amount):
    def wrong(tables, points):
        return [[amount(tables, points)] * len(table) for table in tables]

    return wrong


def _by_size(tables, points):
    total = sum(map(len, tables))
    return [[points / total] * len(table) for table in tables]


# ---------------------------------------------------------------- the exercises

# The update is compiled.
CELL_SECONDS = {"any": 40}

EXERCISES = [
    Exercise(
        "hw06.tc_rate",
        "tc_rate(E, A)",
        tc_rate,
        parts={"a history": histories, "none": no_history},
        mistakes={
            "no_bars": lambda E, A: E / A if A else 1.0,
            "upside_down": lambda E, A: A / abs(E) if E else 1.0,
            "zero": lambda E, A: abs(E) / A if A else 0.0,
            "one_less": lambda E, A: 1 - abs(E) / A if A else 1.0,
        },
    ),
    Exercise(
        "hw06.update",
        "update(weights, memory, positions, error, rate)",
        update,
        uses=("tc_rate",),
        compiles=True,
        outcome=updated,
        parts={"fresh": fresh_updates, "with a history": known_updates, "twice": shared_updates},
        mistakes={
            "no_bars": _updates(lambda E, A, e: E / A if A else 1.0),
            "own_say": _updates(first=True),
            "size_of_sum": _updates(A_of=lambda A, E, e: abs(E + e)),
            "no_bars_in_A": _updates(A_of=lambda A, E, e: A + e),
            "bars_in_E": _updates(E_of=lambda E, e: E + abs(e)),
            "fresh_zero": _updates(lambda E, A, e: abs(E) / A if A else 0.0),
            "shared_twice": _updates(share=lambda n: 1 / n),
            "no_own_rate": _updates(lambda E, A, e: 1.0),
            "no_memory": _updates(E_of=lambda E, e: E, A_of=lambda A, E, e: A),
            "memory_of_steps": _remembers_steps,
            "sign": _updates(sign=-1),
            "once": _once,
        },
        result={"weights": "text", "E": "text", "A": "text"},
        show={"weights": "text", "memory": "text", "positions": "text"},
    ),
    Exercise(
        "hw06.until_awake",
        "until_awake(errors, rate)",
        until_awake,
        lives,
        uses=("tc_rate",),
        mistakes={
            "counted": _until(A_of=len),
            "no_bars_in_A": _until(A_of=sum),
            "bars_in_E": _until(E_of=lambda errors: sum(map(abs, errors))),
            "only_E": _until(grows=0),
            "one_late": _until(early=True),
        },
    ),
    Exercise(
        "hw06.optimistic_start",
        "optimistic_start(tables, points)",
        optimistic_start,
        empty_tables,
        outcome=filled,
        mistakes={
            "all_of_it": _each(lambda tables, points: points),
            "no_images": _each(lambda tables, points: points / len(tables)),
            "one_tuple": _each(lambda tables, points: points / LOOKUPS),
            "by_size": _by_size,
            "each_table": lambda tables, points: [[points / len(t)] * len(t) for t in tables],
        },
        result={"tables": "text", "a board is worth": "text"},
    ),
]
