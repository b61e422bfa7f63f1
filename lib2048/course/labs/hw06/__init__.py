"""hw06, temporal coherence: a weight's own rate, the update, waking up, an optimistic start."""

from functools import partial

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs.exercise import Exercise, Wrong, changed, of_other_classes, wrong_if
from lib2048.course.labs.outcomes import text_of
from lib2048.course.labs.seeds import rules_of
from lib2048.networks.lookups import BOARDS_AT_ONCE, IMAGES

LOOKUPS = IMAGES // BOARDS_AT_ONCE  # of a tuple: one on each symmetric image of the board
OWN = rules_of("hw06").own
CREDIT = rules_of("hw06").more["credit"]  # of each weight in this class, none in plain 2048
LIMIT = rules_of("hw06").more["limit"]  # of an error as E and A take it in; none in plain 2048
# For the compiled loop, which a whole number would make compute in double precision:
START, MOST = np.float32(CREDIT), np.float32(LIMIT)

# ---------------------------------------------------------------- the exercises' own versions


@register_jitable  # a student's update may call it, and is compiled
def tc_rate(E, A):
    """Return a weight's own rate, |E| / A with the class's credit; 1 for one without a history."""
    return (abs(E) + CREDIT) / (A + CREDIT) if A != 0 else 1.0


@register_jitable
def update(weights, memory, positions, error, rate):
    """Let the weights of a board learn an error by temporal coherence (Algorithm 2)."""
    taken = min(max(error, -MOST), MOST)
    for p in positions:
        E, A = memory[2 * p], memory[2 * p + 1]
        own = (abs(E) + START) / (A + START) if A != 0 else 1.0
        weights[p] += rate * own * error
        memory[2 * p] = E + taken
        memory[2 * p + 1] = A + abs(taken)


def until_awake(errors, rate):
    """Return how many more errors of +1 bring a weight with this history to a rate."""
    taken = [min(max(error, -LIMIT), LIMIT) for error in errors]
    E, A, more = sum(taken), sum(abs(error) for error in taken), 0
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
    "only signs": ("min(max(error, -MOST), MOST)", "np.sign(error)"),
    "forgets": ("E + taken", "0.9 * E + taken", "A + abs(taken)", "0.9 * A + abs(taken)"),
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

    kind: of their memory; "fresh" for none, E is "positive" or of both signs, "mixed", or "small",
    or every second weight has none, "half".
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
    if kind == "half":
        memory[2::4] = memory[3::4] = 0
    if kind == "small":
        memory[1::2], memory[::2] = 0.25, random.choice([-0.125, 0.125], 6)
    positions = np.array(positions, np.uint32)
    return weights, memory, positions, np.float32(error), np.float32(rate)


HISTORIES = "positive", "mixed", "small", "half"
LARGE = LIMIT if OWN else 400
STEPS = (
    *((8, 1), (-8, 0.5), (5, 0.125), (0, 1), (6, 0), (3 * LARGE, 0.5), (-2 * LARGE, 0.25)),
    *((0.375, 0.5), (-0.25, 1)),
)


def updates(*kinds):
    """Return a function that draws updates of weights with some kinds of memory, by `STEPS`."""

    def draw(random):
        places = [[1], [0, 3, 2], *(random.permutation(6)[:n] for n in (4, 6))]
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
    """Return (errors, rate): rates that a float holds exactly, so that a formula may be used.

    No answer is so large that a recursion would not reach it.
    """
    known = [[1, -1], [-1], [1, 1, -1, -1], [1], [-4, -4], [0, 3, -3], [-5, 1, 1], [1, -1] * 3]
    drawn = [random.integers(-4, 5, n).tolist() for n in random.integers(2, 6, 8)]
    scale = 1 + CREDIT // 4
    some = [[error * scale for error in life] for life in known + drawn if any(life)]
    some += [[1, -1] * 10, [25, -25], [9, -7, 0, -13], [1, -1] * 100]
    large = [([3 * LIMIT, -LIMIT * 6 // 10], rate) for rate in (0.5, 0.25)]
    large.append(([-3 * LIMIT, LIMIT * 9 // 10], 0.25))
    unlimited = [([340, -120], 0.5), ([-340, 120], 0.25)]
    return [(life, rate) for life in some for rate in (0.5, 0.75, 0.25, 0.0)] + (
        large if OWN else unlimited
    )


def empty_tables(random):
    """Return (tables of zeros, points); the tables are not alike in size."""
    sizes = [[4], [4, 4], [4, 16], [16, 4, 4], [4, 4, 4, 4]]
    sizes += [random.integers(2, 20, n).tolist() for n in (3, 6)]
    drawn = int(random.integers(300, 3000))
    return [([[0.0] * n for n in some], points) for some in sizes for points in (320, drawn, -64)]


# ---------------------------------------------------------------- outcomes


def updated(update, weights, memory, positions, error, rate):
    """Return what an update made of its arguments, and what it returned."""
    with np.errstate(all="ignore"):  # 0 / 0 is told by its NaN
        returned = update(weights, memory, positions, error, rate)
    parts = {"weights": weights, "E": memory[::2], "A": memory[1::2], "positions": positions}
    made = {name: part.astype(float).round(4).tolist() for name, part in parts.items()}
    return made | {"returned": None if returned is None else type(returned).__name__}


def right_update(case, made):
    """Return (weights, E, A) after an update; raise Wrong where others than its own changed."""
    weights, memory, positions = case[:3]
    wrong_if(made["returned"] is not None, "returns")
    wrong_if(made["positions"] != positions.tolist(), "positions")
    others = np.setdiff1d(np.arange(len(weights)), positions)
    for name, part in (("weights", weights), ("E", memory[::2]), ("A", memory[1::2])):
        wrong_if((np.array(made[name]) != part)[others].any(), "elsewhere")
    return made["weights"], made["E"], made["A"]


def alike(expected, got):
    """Compare two outcomes of `right_update`, which were computed in single precision."""
    pairs = (two for parts in zip(expected, got) for two in zip(*parts, strict=True))
    return all(abs(a - b) <= 5e-4 + 1e-5 * abs(a) or (a != a and b != b) for a, b in pairs)


def filled(optimistic_start, tables, points):
    """Return the new tables, and what became of those that were given."""
    made = optimistic_start(tables, points)
    if made is not None and not hasattr(made, "__len__"):  # a generator is no table
        raise Wrong("no_tables", {"got": text_of(made)[:80]})
    try:
        made = made if made is None else [[float(weight) for weight in table] for table in made]
    except TypeError:
        raise Wrong("no_tables", {"got": repr(made)[:80]}) from None
    return {"made": made, "given": [list(map(float, table)) for table in tables]}


def right_start(case, found):
    """Return what all boards are worth by the new tables, or the least and the most of it.

    So tables may share the points as they like.
    """
    made, tables = found["made"], case[0]
    wrong_if(made is None, "nothing")
    wrong_if(found["given"] != tables, "in_place")
    wrong_if([len(table) for table in made] != [len(table) for table in tables], "sizes")
    least, most = (LOOKUPS * sum(map(end, made)) for end in (min, max))
    return most if np.isclose(least, most) else [least, most]


# ---------------------------------------------------------------- what can be said of a case


def of_update(case):
    """Return what may tell a case of `update` on which an answer is wrong."""
    weights, memory, positions, error, rate = case
    E, A = (memory[k::2][positions] for k in (0, 1))
    return {
        "yes a weight stands several times in `positions`": len({*positions.tolist()}) < len(E),
        "yes a weight without a history learns": (A == 0).any(),
        "yes a weight with E below 0 learns": (E < 0).any(),
        "yes a weight with E = 0 and A above 0 learns": ((E == 0) & (A > 0)).any(),
        "the number of `positions`": len(positions),
    }


def of_life(case):
    """Return what may tell a case of `until_awake`."""
    return {"the sum of `errors`": sum(case[0]), "the sum of their sizes": sum(map(abs, case[0]))}


def of_tables(case):
    """Return what may tell a case of `optimistic_start`."""
    return {
        "the number of tables": len(case[0]),
        "yes the tables differ in size": len({*map(len, case[0])}) > 1,
    }


# ---------------------------------------------------------------- the exercises

CELL_SECONDS = {"any": 40}  # the update is compiled
EACH = "points / (LOOKUPS * len(tables))"
SIZES = "sum(abs(error) for error in taken)"
SHARE, RATE = "(abs(E) + CREDIT) / (A + CREDIT)", "tc_rate(E, A)"
NEW, FILLED = (
    "return [[each] * len(table) for table in tables]",
    "for table in tables:\n        table[:] = [each] * len(table)",
)
GUARD, LAST = " if A != 0 else 1.0", "memory[2 * p + 1] = A + abs(taken)"
KNOWN_RATE = "(abs(E) + START) / (A + START)"
OWN_RATE = f"{KNOWN_RATE} if A != 0 else 1.0"
NO_MEMORY = ("= E + taken", "= E", "= A + abs(taken)", "= A")
LIMITED = "min(max(error, -{0}), {0})"
BEFORE = "memory[2 * p + 1]\n"  # where something can be done before the weight moves


others = partial(of_other_classes, "hw06")


def by_class(plain, own):
    """Return the mistakes that there are in plain classes, or in those with rules of their own."""
    return own if OWN else plain


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
            **by_class(
                {"no_history": (GUARD, "")},
                {"half_credit below": ("A + CREDIT", "A"),
                 "half_credit": ("abs(E) + CREDIT", "abs(E)")},
            ),
            **others("credit", tc_rate, "CREDIT", "{}"),
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
        parts={"fresh": updates("fresh"), "with a history": updates(*HISTORIES),
               "twice": shared_updates},
        mistakes={
            "no_bars": ("abs(E)", "E"),
            "own_say E": ("= E + taken", "= E", BEFORE, f"{BEFORE}        E = E + taken\n"),
            "own_say A": ("= A + abs(taken)", "= A", BEFORE, f"{BEFORE}        A += abs(taken)\n"),
            "own_say": (*NO_MEMORY, BEFORE,
                        f"{BEFORE}        E, A = E + taken, A + abs(taken)\n"),
            "size_of_sum": ("A + abs(taken)", "abs(E + taken)"),
            "no_bars_in_A": ("A + abs(taken)", "A + taken"),
            "bars_in_E": ("E + taken", "E + abs(taken)"),
            "fresh_zero": ("1.0", "0.0"),
            "E_is_0": ("if A", "if E"),
            "shared_twice": ("rate * own", "rate / len(positions) * own"),
            "no_own_rate": ("rate * own", "rate"),
            "no_memory": NO_MEMORY,
            "last_error": ("= E + taken", "= taken", "= A + abs(taken)", "= abs(taken)"),
            "memory_of_steps": ("E + taken", "E + rate * own * error",
                                "A + abs(taken)", "A + abs(rate * own * error)"),
            "memory_later": ("        memory[2 * p] = E + taken\n", "    for p in positions:\n"
                             "        memory[2 * p] += taken\n",
                             LAST, "memory[2 * p + 1] += abs(taken)"),
            "minus": ("E + taken", "E - taken"),
            "exchanged": ("memory[2 * p], memory[2 * p + 1]", "memory[2 * p + 1], memory[2 * p]"),
            "exchanged both": ("[2 * p]", "[2 * p + 2 - 1]", "[2 * p + 1]", "[2 * p]"),
            "last_missing": ("in positions", "in positions[:-1]"),
            "no_E": ("= E + taken", "= E"),
            "no_A": ("= A + abs(taken)", "= A"),
            "replaced": ("weights[p] +=", "weights[p] ="),
            "sign": ("rate * own", "-rate * own"),
            "once": ("in positions", "in dict.fromkeys(positions.tolist())"),
            "first_only": (LAST, f"{LAST}\n        break"),
            **by_class(
                {"no_history": (GUARD, "")},
                {"half_credit below": ("A + START", "A"),
                 "half_credit": ("abs(E) + START", "abs(E)"),
                 "limited_step": ("own * error", "own * taken"),
                 "limit_above": (LIMITED.format("MOST"), "min(error, MOST)")},
            ),
            **others("credit", update, "START", "np.float32({})"),
            **others("limit", update, "MOST", "np.float32({})"),
        },
        slips={
            **_FRIENDS,
            "elsewhere places": ("in positions", "in range(len(positions))"),
            "positive only": ("abs(E)", "max(E, 0)"),
            "size of the step": ("own * error", "own * abs(error)"),
            "fresh by all": ("rate * own * error", "(rate * own if A != 0 else 1.0) * error"),
            "no rate": ("rate * own", "own"),
            "squares": ("A + abs(taken)", "A + taken**2"),
            "largest": ("A + abs(taken)", "max(A, abs(taken))"),
            "elsewhere by number": ("for p in", "for k, p in enumerate(", "positions:",
                                    "positions):", "[2 * p", "[2 * k"),
            "returns": (LAST, f"{LAST}\n    return weights"),
            "elsewhere halves": ("[2 * p]", "[p]", "[2 * p + 1]", "[len(weights) + p]"),
            "one more": ("for p in positions", "for p in [*positions, positions[0]]"),
            "squared": ("rate * own", "rate * own * own"),
            "whole sums": ("= E + taken", "= int(E + taken)", "= A + abs(taken)",
                           "= int(A + abs(taken))"),
            "large errors": ("    for p", "    if abs(error) < 1:\n        return\n    for p"),
            "at least 1": ("(A + START)", "(max(A, 1) + START)"),
            "fresh below 1": ("if A != 0", "if A >= 1"),
            "left over": ("    for p in", "    own = 1.0\n    for p in",
                          f"own = {OWN_RATE}", f"own = {KNOWN_RATE} if A != 0 else own"),
            "at first": ("    for p in", "    first = memory[2 * positions[0] + 1]\n    for p in",
                         "if A != 0", "if first != 0 and A != 0"),
            "at once": ("    for p in", "    met = True\n    for p in",
                        f"own = {OWN_RATE}", f"met = met and A != 0\n        own = {KNOWN_RATE} "
                        "if met else 1.0"),
        },
        outcome=updated, verdict=right_update, same=alike, compiles=True, features=of_update,
        result={"weights": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw06", until_awake, lives,
        mistakes={
            "counted": (SIZES, "len(taken)"),
            "no_bars_in_A": (SIZES, "sum(taken)"),
            "bars_in_E": ("= sum(taken)", f"= {SIZES}"),
            "size_of_E": ("= sum(taken)", "= abs(sum(taken))"),
            "no_bars": (RATE, "(E + CREDIT) / (A + CREDIT)"),
            "only_E": ("A + 1", "A"),
            "one_late": ("< rate", "<= rate"),
            "one_early": ("return more", "return max(more - 1, 0)"),
            "first_too": (", 0\n", ", 1\n"),
            "E_is_0": (RATE, f"({RATE} if E else 1.0)"),
            **by_class({}, {"limit_above": (LIMITED.format("LIMIT"), "min(error, LIMIT)")}),
            **others("credit", until_awake, RATE, "(abs(E) + {0}) / (A + {0})"),
            **others("limit", until_awake, "LIMIT", "{}"),
        },
        slips={
            "fixed rate": ("< rate", "< 0.5"),
            "not long": ("< rate", "< rate and more < 20"),
            "not very long": ("< rate", "< rate and more < 500"),
            "E of it": ("return more", "return E"),
            "A of it": ("return more", "return A"),
            "no history": ("sum(taken), ", "0, "),
            "last error": ("= sum(taken)", "= taken[-1]"),
            "positive ones": ("= sum(taken)", "= sum(e for e in taken if e > 0)"),
            "both at once": ("E + 1, A + 1", "E + 2, A + 2"),
            "size_of_E unsigned": ("E + 1, A + 1", "abs(E) + 1, A + 1"),
        },
        features=of_life,
    ),
    Exercise(
        "hw06", optimistic_start, empty_tables,
        mistakes={
            "all_of_it": (EACH, "points"),
            "no_images": ("LOOKUPS * ", ""),
            "one_tuple": (" * len(tables)", ""),
            "by_size": ("LOOKUPS * len(tables)", "sum(map(len, tables))"),
            "each_table": ("[each]", "[points / len(table)]"),
            "each_table too": ("[each]", "[points / (LOOKUPS * len(table))]"),
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
            "one_weight less": ("[each] * len(table)", "[each] * (len(table) - 1) + [0.0]"),
            "by size of each": ("[each]", "[each * len(tables[0]) / len(table)]"),
            "zero": (EACH, "0.0"),
            "products": ("LOOKUPS * len(tables)", "LOOKUPS ** len(tables)"),
            "nothing": (NEW, FILLED),
            "in_place": (NEW, f"{FILLED}\n    return tables"),
            "no_tables": (NEW, "return each"),
            "no_tables yet": (NEW, f"return ({NEW.removeprefix('return [')[:-1]})"),
            "sizes": (NEW, "return [[each]] * len(tables)"),
        },
        outcome=filled, verdict=right_start, features=of_tables,
    ),
]  # fmt: skip
