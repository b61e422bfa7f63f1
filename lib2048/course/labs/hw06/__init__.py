"""hw06, temporal coherence: a weight's own rate, the update, waking up, an optimistic start."""

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs.exercise import Exercise, Wrong, changed, wrong_if
from lib2048.course.labs.seeds import RULES, rules_of
from lib2048.networks.lookups import BOARDS_AT_ONCE, IMAGES

LOOKUPS = IMAGES // BOARDS_AT_ONCE  # of a tuple: one on each symmetric image of the board
CREDIT = rules_of("hw06").more["credit"]  # of each weight in this class, none in plain 2048
START = np.float32(CREDIT)  # for the compiled loop: a whole number would make it compute in double

# ---------------------------------------------------------------- the exercises' own versions


@register_jitable  # a student's update may call it, and is compiled
def tc_rate(E, A):
    """Return a weight's own rate, |E| / A with the class's credit; 1 for one without a history."""
    return (abs(E) + CREDIT) / (A + CREDIT) if A != 0 else 1.0


@register_jitable
def update(weights, memory, positions, error, rate):
    """Let the weights of a board learn an error by temporal coherence (Algorithm 2)."""
    for p in positions:
        E, A = memory[2 * p], memory[2 * p + 1]
        own = (abs(E) + START) / (A + START) if A != 0 else 1.0
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

KNOWN = [[1], [-1], [1, -1], [1, 1, -1], [-8, 2], [4, 4], [-1, -1, -1, 1], [0.25, 0.25, -0.375]]


def histories(random):
    """Return (E, A) of weights that have met errors."""
    lives = KNOWN + [random.integers(-9, 10, n).tolist() for n in random.integers(2, 6, 10)]
    lives += [[700, -40, 0], [-5, 5], [-300, 100]]
    return [(float(sum(life)), float(sum(map(abs, life)))) for life in lives if any(life)]


def _case(random, kind, positions, error, rate):
    """Return arguments of `update` for six weights.

    kind: of their memory; "fresh" for none, E is "positive" or of both signs, "mixed".
    """
    weights, memory = np.zeros(6, np.float32), np.zeros(12, np.float32)
    if kind != "fresh":
        weights[:] = random.integers(-20, 20, 6)
        sizes = random.integers(3, 9, 6)
        memory[1::2] = sizes
        memory[::2] = random.integers(1, sizes, 6)
        if kind == "mixed":
            memory[[0, 4]] *= -1  # the others stay above 0, but for one that is 0
            memory[6] = 0
    positions = np.array(positions, np.uint32)
    return weights, memory, positions, np.float32(error), np.float32(rate)


STEPS = ((8, 1), (-8, 0.5), (5, 0.125), (0, 1), (6, 0))  # (error, rate)


def updates(*kinds):
    """Return a function that draws updates of weights with some kinds of memory."""

    def draw(random):
        places = [[1], [0, 3, 2], *(random.permutation(6)[:n] for n in (1, 2, 4, 6))]
        return [_case(random, k, some, *step) for k in kinds for some in places for step in STEPS]

    return draw


def shared_updates(random):
    """Return updates of boards that look one weight up twice, or three times."""
    return [
        _case(random, kind, positions, error, 0.5)
        for kind in ("fresh", "mixed")
        for positions in ([2, 2], [0, 3, 0], [5, 5, 1, 5], random.permutation(6)[[0, 1, 0, 2, 1]])
        for error in (8, -6)
    ]


def lives(random):
    """Return (errors, rate): rates that a float holds exactly, so that a formula may be used."""
    known = [[1, -1], [-1], [1, 1, -1, -1], [1], [-4, -4], [0, 3, -3], [-5, 1, 1], [1, -1] * 10]
    drawn = [random.integers(-5, 6, n).tolist() for n in random.integers(2, 7, 8)]
    scaled = [[error * (1 + CREDIT) for error in life] for life in known + drawn if any(life)]
    scaled += [[60, -60], [9, -7, 0, -13]]
    return [(life, rate) for life in scaled for rate in (0.5, 0.75, 0.25, 0.0)]


def empty_tables(random):
    """Return (tables of zeros, points); the tables are not alike in size."""
    sizes = [[4], [4, 4], [4, 16], [16, 4, 4], [4, 4, 4, 4]]
    sizes += [random.integers(2, 20, n).tolist() for n in (3, 6)]
    drawn = int(random.integers(300, 3000))
    return [([[0.0] * n for n in some], points) for some in sizes for points in (320, drawn, -64)]


# ---------------------------------------------------------------- outcomes


def updated(update, weights, memory, positions, error, rate):
    """Return what an update made of its arguments, and what it returned."""
    returned = update(weights, memory, positions, error, rate)
    parts = {"weights": weights, "E": memory[::2], "A": memory[1::2], "positions": positions}
    made = {name: part.astype(float).round(4).tolist() for name, part in parts.items()}
    return made | {"returned": None if returned is None else type(returned).__name__}


def right_update(case, made):
    """Return (weights, E, A) after an update."""
    wrong_if(made["returned"] is not None, "returns")
    wrong_if(made["positions"] != case[2].tolist(), "positions")
    return made["weights"], made["E"], made["A"]


def alike(expected, got):
    """Compare two outcomes of `right_update`, which were computed in single precision."""
    pairs = zip(expected, got, strict=True)
    return all(np.allclose(*pair, rtol=1e-5, atol=5e-4, equal_nan=True) for pair in pairs)


def filled(optimistic_start, tables, points):
    """Return the new tables, and what became of those that were given."""
    made = optimistic_start(tables, points)
    try:
        made = made if made is None else [[float(weight) for weight in table] for table in made]
    except TypeError:
        raise Wrong("no_tables", {"got": repr(made)[:80]}) from None
    return {"made": made, "given": [list(map(float, table)) for table in tables]}


def right_start(case, found):
    """Return the least and the most that a board can be worth by the new tables, and these."""
    made, tables = found["made"], case[0]
    wrong_if(made is None, "nothing")
    wrong_if(found["given"] != tables, "in_place")
    wrong_if([len(table) for table in made] != [len(table) for table in tables], "sizes")
    return *(LOOKUPS * sum(map(end, made)) for end in (min, max)), made


def worth_the_same(expected, got):
    """Compare two outcomes of `right_start`: tables may share the points as they like."""
    return np.allclose(expected[:2], got[:2], rtol=1e-5, atol=1e-4, equal_nan=True)


# ---------------------------------------------------------------- the exercises

CELL_SECONDS = {"any": 40}  # the update is compiled
EACH = "points / (LOOKUPS * len(tables))"
SIZES = "sum(abs(error) for error in errors)"
SHARE, RATE = "(abs(E) + CREDIT) / (A + CREDIT)", "tc_rate(E, A)"
GUARD, LAST = " if A != 0 else 1.0", "memory[2 * p + 1] = A + abs(error)"
NO_MEMORY = ("= E + error", "= E", "= A + abs(error)", "= A")
BEFORE = "memory[2 * p + 1]\n"  # where something can be done before the weight moves


def other_credits(truth, old, new):
    """Return {message: version} of the answers of other classes; new: with {} for the credit."""
    credits = {0, *RULES["hw06"]["credit"][1]} - {CREDIT}
    return {f"credit {n}": changed(truth, old, new.format(n)) for n in sorted(credits)}


def by_credit(plain, own):
    """Return the mistakes that there are in plain classes, or in those with a credit."""
    return own if CREDIT else plain


EXERCISES = [
    Exercise(
        "hw06", tc_rate, parts={"a history": histories, "none": lambda random: [(0.0, 0.0)]},
        mistakes={
            "no_bars": ("abs(E)", "E"),
            "below_zero": ("abs(E)", "max(E, 0)"),
            "upside_down unguarded": (SHARE, "(A + CREDIT) / (abs(E) + CREDIT)"),
            "upside_down": (f"{SHARE} if A", "(A + CREDIT) / (abs(E) + CREDIT) if E"),
            "zero": ("1.0", "0.0"),
            "E_is_0": ("if A", "if E"),
            "one_less": (SHARE, f"1 - {SHARE}"),
            **by_credit(
                {"no_history": (GUARD, "")},
                {"half_credit below": ("A + CREDIT", "A"),
                 "half_credit": ("abs(E) + CREDIT", "abs(E)")},
            ),
            **other_credits(tc_rate, "CREDIT", "{}"),
        },
        slips={
            "squared": (SHARE, f"({SHARE}) ** 2"),
            "root": (SHARE, f"({SHARE}) ** 0.5"),
            "whole": (") / (", ") // ("),
            "rounded": (SHARE, f"round({SHARE}, 1)"),
            "half fresh": ("1.0", "0.5"),
            "small A": ("A != 0", "A > 1"),
            "large A": ("A != 0", "0 < A < 100"),
            "of both": ("(A + CREDIT)", "(A + CREDIT + abs(E))"),
            "whole numbers": ("abs(E)", "abs(int(E))"),
        },
    ),
    Exercise(
        "hw06", update,
        parts={"fresh": updates("fresh"), "with a history": updates("positive", "mixed"),
               "twice": shared_updates},
        mistakes={
            "no_bars": ("abs(E)", "E"),
            "own_say E": ("= E + error", "= E", BEFORE, f"{BEFORE}        E = E + error\n"),
            "own_say A": ("= A + abs(error)", "= A", BEFORE, f"{BEFORE}        A += abs(error)\n"),
            "own_say": (*NO_MEMORY, BEFORE,
                        f"{BEFORE}        E, A = E + error, A + abs(error)\n"),
            "size_of_sum": ("A + abs(error)", "abs(E + error)"),
            "no_bars_in_A": ("A + abs(error)", "A + error"),
            "bars_in_E": ("E + error", "E + abs(error)"),
            "fresh_zero": ("1.0", "0.0"),
            "E_is_0": ("if A", "if E"),
            "shared_twice": ("rate * own", "rate / len(positions) * own"),
            "no_own_rate": ("rate * own", "rate"),
            "no_memory": NO_MEMORY,
            "last_error": ("= E + error", "= error", "= A + abs(error)", "= abs(error)"),
            "memory_of_steps": ("E + error", "E + rate * own * error",
                                "A + abs(error)", "A + abs(rate * own * error)"),
            "memory_later": ("        memory[2 * p] = E + error\n", "    for p in positions:\n"
                             "        memory[2 * p] += error\n",
                             LAST, "memory[2 * p + 1] += abs(error)"),
            "replaced": ("weights[p] +=", "weights[p] ="),
            "sign": ("rate * own", "-rate * own"),
            "once": ("in positions", "in dict.fromkeys(positions.tolist())"),
            "first_only": (LAST, f"{LAST}\n        break"),
            "places": ("in positions", "in range(len(positions))"),
            **by_credit(
                {"no_history": (GUARD, "")},
                {"half_credit below": ("A + START", "A"),
                 "half_credit": ("abs(E) + START", "abs(E)")},
            ),
            **other_credits(update, "START", "np.float32({})"),
        },
        slips={
            **_FRIENDS,
            "positive only": ("abs(E)", "max(E, 0)"),
            "size of the step": ("own * error", "own * abs(error)"),
            "fresh by all": ("rate * own * error", "(rate * own if A != 0 else 1.0) * error"),
            "no rate": ("rate * own", "own"),
            "minus": ("E + error", "E - error"),
            "squares": ("A + abs(error)", "A + error**2"),
            "only E": ("= A + abs(error)", "= A"),
            "only A": ("= E + error", "= E"),
            "largest": ("A + abs(error)", "max(A, abs(error))"),
            "memory by number": ("for p in", "for k, p in enumerate(", "positions:", "positions):",
                                 "[2 * p", "[2 * k"),
            "halves": ("[2 * p]", "[p]", "[2 * p + 1]", "[len(weights) + p]"),
            "A first": ("[2 * p]", "[2 * p + 2 - 1]", "[2 * p + 1]", "[2 * p]"),
            "one more": ("for p in positions", "for p in [*positions, positions[0]]"),
            "squared": ("rate * own", "rate * own * own"),
        },
        outcome=updated, verdict=right_update, same=alike, compiles=True,
        result={"weights": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw06", until_awake, lives,
        mistakes={
            "counted": (SIZES, "len(errors)"),
            "no_bars_in_A": (SIZES, "sum(errors)"),
            "bars_in_E": ("= sum(errors)", f"= {SIZES}"),
            "size_of_E": ("= sum(errors)", "= abs(sum(errors))"),
            "no_bars": (RATE, "(E + CREDIT) / (A + CREDIT)"),
            "only_E": ("A + 1", "A"),
            "one_late": ("< rate", "<= rate"),
            "first_too": (", 0\n", ", 1\n"),
            "E_is_0": (RATE, f"({RATE} if E else 1.0)"),
            **other_credits(until_awake, RATE, "(abs(E) + {0}) / (A + {0})"),
        },
        slips={
            "fixed rate": ("< rate", "< 0.5"),
            "not long": ("< rate", "< rate and more < 20"),
            "one early": ("return more", "return max(more - 1, 0)"),
            "E of it": ("return more", "return E"),
            "A of it": ("return more", "return A"),
            "no history": ("sum(errors), ", "0, "),
            "last error": ("= sum(errors)", "= errors[-1]"),
            "positive ones": ("= sum(errors)", "= sum(e for e in errors if e > 0)"),
            "both at once": ("E + 1, A + 1", "E + 2, A + 2"),
            "unsigned": ("E + 1, A + 1", "abs(E) + 1, A + 1"),
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
            "one_weight": ("[each] * len(table)", "[each] + [0.0] * (len(table) - 1)"),
        },
        slips={
            "four images": ("LOOKUPS", "4"),
            "one table more": ("len(tables)", "(len(tables) + 1)"),
            "first size": ("len(tables)", "len(tables[0])"),
            "whole": (" / ", " // "),
            "rounded": (EACH, f"round({EACH})"),
            "never below 0": (EACH, f"abs({EACH})"),
            "first table": ("for table in tables", "if table is tables[0] else [0.0] * len(table) "
                            "for table in tables"),
            "last weight": ("[each] * len(table)", "[each] * (len(table) - 1) + [0.0]"),
            "by size of each": ("[each]", "[each * len(tables[0]) / len(table)]"),
            "nothing": (EACH, "0.0"),
            "products": ("LOOKUPS * len(tables)", "LOOKUPS ** len(tables)"),
        },
        outcome=filled, verdict=right_start, same=worth_the_same,
        result={"lowest value of a board": "text", "highest value": "text", "tables": "text"},
    ),
]  # fmt: skip
