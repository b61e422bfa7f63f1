"""hw07, stages: the stage of a board, reading through, promotion, where an episode begins."""

import random as luck
from collections import Counter
from functools import partial
from numbers import Integral

from lib2048.course.labs.exercise import Exercise, Wrong, of_other_classes, wrong_if
from lib2048.course.labs.hw01 import is_off
from lib2048.course.labs.seeds import rules_of

DRAWS, FEW = 3000, 30  # of a random choice, and where there is none
LARGEST = 32768
SHARE = rules_of("hw07").more["share"]  # of the weight below: a stage takes over so much of it
AWAKE = rules_of("hw07").more["awake"]  # where E and A of a weight begin
NEWEST = rules_of("hw07").more["newest"]  # states of a stage are begun from; 0 for all of them

# ---------------------------------------------------------------- the exercises' own versions


def stage(board, top, marks):
    """Return the stage of a board, a number of `marks` bits (section V-D1)."""
    tiles = [tile for row in board for tile in row]
    number, carried, tile = 0, 0, LARGEST
    while tile > top:  # counts as two of the next lower one
        carried, tile = 2 * (carried + tiles.count(tile)), tile // 2
    for _ in range(marks):
        here = carried + tiles.count(tile)
        number = 2 * number + (here > 0)
        carried, tile = max(here - 1, 0), tile // 2
    return number


def read(V, stage, pattern):
    """Return the weight of a pattern in a stage; that of the stage below where there is none."""
    here = V.get((stage, pattern), 0)
    if here == 0:
        return SHARE * V.get((stage - 1, pattern), 0)
    return here


def learn(V, E, A, stage, pattern, error, rate):
    """Let a weight learn by TC; the first time, it starts from the one below (section V-D)."""
    key = stage, pattern
    V[key] = read(V, stage, pattern)
    own = abs(E[key]) / A[key] if A.get(key, 0) else 1
    V[key] += rate * own * error
    E[key], A[key] = E.get(key, AWAKE) + error, A.get(key, AWAKE) + abs(error)


def entered(stages):
    """Return the turns in which an episode entered a higher stage."""
    return [n for n in range(1, len(stages)) if stages[n] > stages[n - 1]]


def next_start(stage, kept, rng):
    """Return (the stage, the state) where the next episode of the carousel begins."""
    if stage + 1 == len(kept) or not kept[stage + 1]:
        return 0, None
    return stage + 1, rng.choice(kept[stage + 1][-NEWEST:])


# ---------------------------------------------------------------- cases


def _board(random, tiles):
    """Return a board of 4×4 with these tiles and some small ones."""
    small = random.choice([0, 0, 2, 4, 8], 16 - len(tiles)).tolist()
    cells = [*tiles, *small]
    return [[cells[i] for i in row] for row in random.permutation(16).reshape(4, 4)]


def _boards(random, marked, known, drawn):
    """Return cases for several tops; known, drawn: from (top, marks) to tiles, or to many."""
    return [
        (_board(random, tiles), top, marks)
        for top, marks in marked
        for tiles in [*known(top, marks), *(drawn(top, marks) for _ in range(3))]
    ]


MARKED = ((32768, 4), (2048, 3), (1024, 2), (512, 1), (4096, 5))


def _marked(random, first, least=1, most=6):
    """Return some (top, marks) and one that is drawn, with a top of 512 or more."""
    return *first, (512 << int(random.integers(most)), int(random.integers(least, 5)))


def different_tiles(random):
    """Return boards with no two equal tiles among the marks, none above them."""

    def known(top, marks):
        return [[], [top], [top // 2], [top, top // 2], [top, top // 4]]

    def drawn(top, marks):
        return [top >> k for k in range(marks + 1) if random.random() < 0.5]

    return _boards(random, _marked(random, MARKED), known, drawn)


def equal_tiles(random):
    """Return boards with equal tiles among the marks, none above them."""

    def known(top, marks):
        half = top // 2
        pairs = [[top] * 2, [half] * 2, [half] * 3, [top] * 3, [top, half, half], [top] * 5]
        return [*pairs, [top, top, half], [half] * 4, [top >> marks] * 3]

    def drawn(top, marks):
        return [top >> int(k) for k in random.integers(0, marks, 4)]

    return _boards(random, _marked(random, MARKED[:3], least=2), known, drawn)


def high_tiles(random):
    """Return boards with tiles above the marks."""

    def known(top, marks):
        high = [[2 * top], [4 * top], [2 * top, top], [2 * top, top // 2], [LARGEST, LARGEST // 2]]
        return [*high, [2 * top] * 2, [LARGEST], [LARGEST // 2], [LARGEST // 4, top]]

    def drawn(top, marks):
        return [2 * top, *(2 * top >> int(k) for k in random.integers(0, marks + 1, 2))]

    return _boards(random, _marked(random, MARKED[1:4], most=4), known, drawn)


def some_reads(random):
    """Return (V, stage, pattern)."""
    known = [
        ({}, 0, "p"), ({(0, "p"): 12}, 0, "p"), ({(0, "p"): 12}, 1, "p"),
        ({(0, "p"): 12}, 2, "p"), ({(0, "p"): 12, (1, "p"): 0}, 1, "p"),
        ({(0, "p"): 12, (1, "p"): 5}, 1, "p"), ({(0, "q"): 12}, 1, "p"),
        ({(0, "p"): 12, (1, "p"): -5}, 1, "p"), ({(0, "q"): -5}, 1, "q"),
        ({(1, "q"): -3, (2, "q"): 0.25, (3, "q"): 9}, 2, "q"), ({(0, "p"): 7}, 3, "p"),
        ({(1, "q"): 6, (3, "q"): 8}, 2, "q"), ({(0, "q"): 6, (0, "p"): 3}, 0, "q"),
    ]  # fmt: skip
    drawn = [(_weights(random), int(random.integers(4)), str(random.choice([*"pq"])))
             for _ in range(12)]  # fmt: skip
    return known + drawn


def _weights(random):
    """Return some weights of patterns p and q in stages 0 to 3; a few are 0."""
    values = random.choice([-20, -5, 0, 7, 30, 44], 8).tolist()
    keys = [(stage, pattern) for stage in range(4) for pattern in "pq"]
    return {key: value for key, value in zip(keys, values) if random.random() < 0.6}


def _lesson(random, number, V, key, own=None):
    """Return arguments of `learn`; own: (E, A) of the weight that learns, None for none."""
    E, A = {}, {}
    for other in V:
        if V[other] != 0:
            A[other] = int(random.choice([4, 8, 10]))
            E[other] = int(random.integers(1, A[other])) * int(random.choice([-1, 1]))
    for part, value in zip((E, A), own or (None, None)):
        part.pop(key, None)
        if own:
            part[key] = value
    error, rate = [(8, 0.5), (-8, 0.5), (3, 1.0), (-5, 0.25), (0, 0.5), (6, 0.0)][number % 6]
    return V, E, A, *key, error, rate


def first_lessons(random):
    """Return lessons of weights that were never accessed, over a stage that has learned."""
    cases = [({(0, "p"): 20}, {(0, "p"): 6}, {(0, "p"): 12}, 1, "p", 8, 0.5)]
    for number in range(18):
        V, stage, pattern = _weights(random), 1 + number % 3, "qp"[number % 2]
        V.pop((stage, pattern), None)
        V[stage - 1, pattern] = V.get((stage - 1, pattern), 0) or (16, -12)[number % 4 == 1]
        if number in (1, 5, 8):  # nothing just below, but two below
            V |= {(stage - 1, pattern): 0, (stage - 2, pattern): 16}
            V = {key: value for key, value in V.items() if key[0] >= 0}
        cases.append(_lesson(random, number, V, (stage, pattern)))
    return [*cases, _lesson(random, 0, {(1, "q"): 9}, (0, "q"))]


def later_lessons(random):
    """Return lessons of weights that have learned before."""
    cases = []
    for number in range(18):
        V, stage, pattern = _weights(random), number % 4, "pq"[number % 3 == 1]
        size = int(random.integers(3, 12))
        own = int(random.integers(1, size)) * (-1 if number % 2 else 1)
        V[stage, pattern] = (-9, 11, 25)[number % 3]
        if number in (5, 6, 11, 13):  # it has learned, and come back to 0
            V |= {(stage, pattern): 0, (stage - 1, pattern): 16}
        elif stage and number % 3:
            V[stage - 1, pattern] = V.get((stage - 1, pattern), 0) or 14
        own = 0 if number in (3, 8, 13) else own
        cases.append(_lesson(random, number, V, (stage, pattern), (own, size)))
    return cases


def some_episodes(random):
    """Return (stages,) of the states of an episode, in turn."""
    known = [[0], [0, 0, 1, 1, 2], [0, 1, 0, 1], [2, 2, 3], [0, 2, 2], [7, 6, 6], [0, 1, 3, 2, 3]]
    drawn = [random.integers(0, 4, n).tolist() for n in random.integers(3, 10, 8)]
    return [(stages,) for stages in known + drawn]


def some_pools(random):
    """Return (stage, kept, the seed of rng)."""
    full = [[], ["a"], ["b", "c"], ["d", "e", "f"]]
    gap = [[], ["a", "b"], [], ["c"]]
    late = [[], [], ["a"], ["b", "c"]]
    numbers = [[], [0, 7], list(range(20, 46 + int(random.integers(2, 5))))]
    some = [f"n{k}" for k in random.permutation(40)]
    drawn = [[], some[: max(2, NEWEST - 1)], some[: NEWEST + 1], some[30:34]]
    pools = [[[], []], numbers, full, gap, late, [[], ["a", "b", "c"]], drawn]
    return [(stage, kept, int(random.integers(1 << 30))) for kept in pools
            for stage in range(len(kept))]  # fmt: skip


# ---------------------------------------------------------------- outcomes


def only_read(read, V, stage, pattern):
    """Return what was read, and V afterwards."""
    return {"answer": read(V, stage, pattern), "V": V}


def right_read(case, found):
    """Return what was read; raise Wrong where something was written."""
    wrong_if(found["V"] != case[0], "wrote")
    wrong_if(found["answer"] is None, "nothing")
    return found["answer"]


def learned(learn, V, E, A, *lesson):
    """Return (V, E, A) after a lesson."""
    learn(V, E, A, *lesson)
    return V, E, A


def right_lesson(case, found):
    """Return (V, E, A) after a lesson, zeros left out."""
    return tuple(
        {key: part[key] for key in sorted(part, key=str) if part[key] != 0} for part in found
    )


def begun(next_start, stage, kept, seed):
    """Return where many episodes begin; a few more by the same `rng`, and by another; and `kept`.

    All other luck, and what a function remembers, goes on meanwhile.
    """
    choices = sum(map(len, kept[stage + 1 : stage + 2]))
    many = DRAWS if choices > 1 else FEW

    def draws(seed, count):
        rng = luck.Random(seed)
        found = [next_start(stage, kept, rng) for _ in range(count)]
        several = (a if isinstance(a, (tuple, list)) else () for a in found)
        odd = [
            a for a, b in zip(found, several) if not (len(b) == 2 and isinstance(b[0], Integral))
        ]
        if odd:
            raise Wrong("no_pair", {"got": repr(odd[0])[:80]})
        return [list(answer) for answer in found]

    found = [draws(seed, many), draws(seed, FEW), draws(seed + 1, FEW)]
    return {"drawn": found, "kept": kept}


def right_begin(case, found):
    """Return (the stage, all states that the next episode may begin from)."""
    many, again, other = found["drawn"]
    wrong_if(found["kept"] != case[1], "took_away")
    wrong_if(again != many[:FEW], "own_luck")
    stages, states = zip(*many)
    names = [repr(state) for state in states]
    counts = Counter(names)
    fair = 1 / len(counts)
    wrong_if(any(is_off(n, len(many), fair) for n in counts.values()), "unfair")
    wrong_if(len(counts) > 1 and other == again, "own_luck")
    told = dict(zip(names, states))
    alone = all(stage == stages[0] for stage in stages)
    return stages[0] if alone else list(stages[:9]), [told[name] for name in sorted(told)]


# ---------------------------------------------------------------- what can be said of a case


def of_board(case):
    """Return what may tell a case of `stage` on which an answer is wrong."""
    board, top, marks = case
    tiles = [tile for row in board for tile in row if tile > top >> marks]
    return {
        "yes a tile is above `top`": any(tile > top for tile in tiles),
        "yes a tile that marks, or a larger one, stands several times": len({*tiles}) < len(tiles),
        "the number of tiles that matter": len(tiles),
    }


def of_weight(case):
    """Return what may tell a case of `read` or `learn`."""
    V, (stage, pattern) = case[0], case[-2:] if len(case) == 3 else case[3:5]
    here, below, deeper = (V.get((stage - k, pattern), 0) for k in range(3))
    found = {
        "yes the weight of this stage is 0, or not there": here == 0,
        "yes the weight of this stage is below 0": here < 0,
        "yes the weight one stage lower is 0, or not there": below == 0,
        "yes only the weight two stages lower is not 0": here == below == 0 != deeper,
    }
    if len(case) > 3:
        E, A = (part.get((stage, pattern), 0) for part in case[1:3])
        found |= {"yes E is below 0": E < 0, "yes E is 0 and A is not": E == 0 != A}
    return found


def of_pool(case):
    """Return what may tell a case of `next_start`."""
    stage, kept, _ = case
    count = sum(map(len, kept[stage + 1 : stage + 2]))
    return {
        "yes there is no next stage": stage + 1 == len(kept),
        "yes nothing is kept for the next stage": count == 0,
        "the number of states kept for the next stage": count,
    }


# ---------------------------------------------------------------- the exercises

HELD = "V.get((stage - 1, pattern), 0)"
READ = "read(V, stage, pattern)"
REMEMBERS = "    E[key], A[key] = E.get(key, AWAKE) + error, A.get(key, AWAKE) + abs(error)\n"
FRESH = "    if V.get(key, 0) == 0:\n"
BELOW = "stage - 1, pattern"
CHOICE = "kept[stage + 1][-NEWEST:]"
BEFORE = ("    V[key] = read", "    fresh = V.get(key, 0) == 0\n    V[key] = read")


others = partial(of_other_classes, "hw07")


EXERCISES = [
    Exercise(
        "hw07", stage,
        parts={"different tiles": different_tiles, "equal tiles": equal_tiles,
               "tiles above": high_tiles},
        mistakes={
            "presence": ("2 * (carried + tiles.count(tile))", "0", "max(here - 1, 0)", "0"),
            "turned": ("for _", "for k", "2 * number + (here > 0)", "number + ((here > 0) << k)"),
            "largest_only": ("    number,", "    tiles = [min(max(tiles), top)]\n    number,"),
            "steps": ("2 * number + (here > 0)", "number + (max(tiles) >= tile)"),
            "surplus_twice": ("max(here - 1, 0)", "2 * max(here - 1, 0)"),
            "no_surplus": ("max(here - 1, 0)", "0"),
            "above_ignored": ("0, 0, LARGEST", "0, 0, top"),
            "above_once": ("2 * (carried", "1 * (carried"),
            "ceiling 16384": ("LARGEST", "max(16384, top)"),
            "ceiling": ("LARGEST", "max(8192, top)"),
            "twice_top": ("LARGEST", "2 * top"),
            "debt": ("max(here - 1, 0)", "here - 1"),
            "carries_one": ("max(here - 1, 0)", "min(max(here - 1, 0), 1)"),
        },
        slips={
            "more marks": ("range(marks)", "range(marks + 1)"),
            "fewer marks": ("range(marks)", "range(marks - 1)"),
            "several": ("here > 0", "here > 1"),
            "four marks": lambda board, top, marks: stage(board, top, min(marks, 4)),
            "half of them": ("max(here - 1, 0)", "here // 2"),
            "all of them": ("max(here - 1, 0)", "here"),
            "first row": ("in board for", "in board[:1] for"),
            "not the last row": ("in board for", "in board[:-1] for"),
            "one or the other": ("carried + tiles.count(tile)\n", "carried or tiles.count(tile)\n"),
            "counts": ("(here > 0)", "here"),
            "sets": ("tiles = [tile for row in board for tile in row]",
                     "tiles = [*{tile for row in board for tile in row}]"),
            "top alone": ("tile = max(here - 1, 0), tile // 2", "tile = max(here - 1, 0), tile"),
            "carried above alone": ("max(here - 1, 0)", "max(carried - 1, 0)"),
            "top too": ("> top", ">= top"),
        },
        show={"board": "rows"}, features=of_board,
    ),
    Exercise(
        "hw07", read, some_reads, outcome=only_read, verdict=right_read, features=of_weight,
        mistakes={
            "own_only": (BELOW, "stage, pattern"),
            "all_the_way": (HELD, "(read(V, stage - 1, pattern) if stage > 0 else 0)"),
            "first_stage": (BELOW, "0, pattern"),
            "zero_known": ("here == 0", "(stage, pattern) not in V"),
            "below_first": ("here = V.get((stage,", "here = SHARE * V.get((stage - 1,",
                            "return SHARE * V.get((stage - 1,", "return V.get((stage,"),
            "sum": ("    return here", f"    return here + SHARE * {HELD}"),
            "negative": ("here == 0", "here <= 0"),
            "larger": ("    return here", f"    return max(here, SHARE * {HELD})"),
            "above": ("stage - 1", "stage + 1"),
            "two_below": ("stage - 1", "stage - 2"),
            **({} if SHARE == 1 else {"share_of_own": ("return here", "return SHARE * here")}),
            **others("share", read, "SHARE *", "{} *"),
        },
        slips={
            "nothing": ("return here", "here"),
            "returns nothing below": ("return SHARE", "SHARE"),
            "wrote": ("return SHARE", "here = V[stage, pattern] = SHARE",
                       "    return here", "    return here"),
            "wrote default": ("    here =", "    V.setdefault((stage, pattern), 0)\n    here ="),
            "small": ("here == 0", "abs(here) < 1"),
            "always p": (BELOW, 'stage - 1, "p"'),
            "size": ("return here", "return abs(here)"),
            "whole": ("return here", "return int(here)"),
            "0 where there is none": ("SHARE *", "0 *"),
            "not in stage 1": ("here == 0", "here == 0 and stage > 1"),
            "none below 0": (f"SHARE * {HELD}", f"max(SHARE * {HELD}, 0)"),
            "minus": ("return SHARE", "return -SHARE"),
            "mean": ("return here", f"return (here + SHARE * {HELD}) / 2"),
        },
    ),
    Exercise(
        "hw07", learn, parts={"first": first_lessons, "later": later_lessons}, outcome=learned,
        verdict=right_lesson, features=of_weight,
        mistakes={
            "from_zero": (READ, "V.get(key, 0)"),
            "keeps_copying": (READ, f"SHARE * {HELD} or V.get(key, 0)"),
            "keeps_adding": (READ, f"V.get(key, 0) + SHARE * {HELD}"),
            "negative": (READ, f"V[key] if V.get(key, 0) > 0 else SHARE * {HELD}"),
            "zero_known": (READ, f"V[key] if key in V else SHARE * {HELD}"),
            "copies_only": (*BEFORE, "    own =", "    if fresh:\n        return\n    own ="),
            "promotes_E": ("    V[key] = read", f"{FRESH}        E[key] = E.get(({BELOW}), 0)\n"
                           f"        A[key] = A.get(({BELOW}), 0)\n    V[key] = read"),
            "forgets_E": ("    V[key] = read",
                          f"{FRESH}        E[key] = A[key] = 0\n    V[key] = read"),
            "below_too": (REMEMBERS, f"{REMEMBERS}    if stage > 0:\n        V[{BELOW}] = "
                          f"V.get(({BELOW}), 0) + rate * own * error\n"),
            "taught_below": (READ, "V.get(key, 0)", "    V[key] =", f"{FRESH}        key = "
                             f"(max(stage - 1, 0), pattern)\n    V[key] ="),
            "moved": ("    own =", f"    if fresh:\n        V.pop(({BELOW}), None)\n    own =",
                      *BEFORE),
            "all_the_way": (READ, "next((V[s, pattern] * SHARE**(stage - s) for s in "
                            "range(stage, -1, -1) if V.get((s, pattern), 0)), 0)"),
            "own_say E": (REMEMBERS, "    A[key] = A.get(key, AWAKE) + abs(error)\n", "    own =",
                          "    E[key] = E.get(key, AWAKE) + error\n    own ="),
            "own_say A": (REMEMBERS, "    E[key] = E.get(key, AWAKE) + error\n", "    own =",
                          "    A[key] = A.get(key, AWAKE) + abs(error)\n    own =",
                          "abs(E[key])", "abs(E.get(key, AWAKE))"),
            "own_say": (REMEMBERS, "", "    own =", f"{REMEMBERS}    own ="),
            "no_own_rate": ("rate * own", "rate"),
            "no_rate": ("rate * own", "own"),
            "away": ("V[key] += rate", "V[key] -= rate"),
            "no_bars": ("abs(E[key])", "E[key]"),
            "E_is_0": ("if A.get", "if E.get"),
            "fresh_zero": ("else 1", "else 0"),
            "bars_in_E": ("AWAKE) + error", "AWAKE) + abs(error)"),
            "no_bars_in_A": ("abs(error)", "error"),
            "memory_of_steps": (", AWAKE) + error", ", AWAKE) + rate * own * error",
                                "abs(error)", "abs(rate * own * error)"),
            "no_memory": (REMEMBERS, ""),
            **others("awake", learn, "AWAKE", "{}"),
            **others("share", learn, READ,
                     "V.get(key, 0) or {} * V.get((stage - 1, pattern), 0)"),
        },
        slips={
            "replaced": ("] += rate", "] = rate"),
            "rate of the one below": ("    own =", f"    below = {BELOW}\n    own =",
                                      "abs(E[key]) / A[key] if A.get(key,",
                                      "abs(E[below]) / A[below] if A.get(below,"),
            "last error": ("E.get(key, AWAKE) + error, A.get(key, AWAKE) + abs(error)",
                           "error, abs(error)"),
            "no error": (" * error\n", "\n"),
            "squares": ("abs(error)", "error**2"),
            "upside down": ("abs(E[key]) / A[key] if A.get", "A[key] / abs(E[key]) if E.get"),
            "halved": ("own * error", "own * error / 2"),
            "below by the lesson": (REMEMBERS, f"{REMEMBERS}    if stage > 0:\n"
                                    f"        V[{BELOW}] = V[key]\n"),
            "memory below": ("    E[key], A[key] =", f"    key = ({BELOW})\n    E[key], A[key] ="),
        },
        result={"V": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw07", entered, some_episodes,
        mistakes={
            "changes": ("] > ", "] != "),
            "one_up": ("] > stages[n - 1]", "] == stages[n - 1] + 1"),
            "records": ("> stages[n - 1]", "> max(stages[:n])"),
            "records once": ("> stages[n - 1]", "> stages[n - 1] and stages[n] not in stages[:n]"),
            "records falls_too": ("> stages[n - 1]", "not in stages[:n]"),
            "around": ("range(1, ", "range("),
            "before": ("[n for", "[n - 1 for"),
            "stages": ("[n for", "[stages[n] for"),
            "start": ("return ", "return [0] + "),
            "not_last": ("len(stages))", "len(stages) - 1)"),
            "next": ("[n for", "[n + 1 for"),
        },
        slips={
            "falls": ("] > ", "] < "),
            "same": ("] > ", "] >= "),
            "not the first": ("range(1,", "range(2,"),
            "above 0": ("> stages[n - 1]", "> 0"),
            "above the start": ("stages[n - 1]", "stages[0]"),
            "only the first": ("> stages[n - 1]]", "> stages[n - 1]][:1]"),
            "by two": ("] > stages[n - 1]", "] > stages[n - 1] + 1"),
            "all others": ("] > stages[n - 1]", "] <= stages[n - 1]"),
            "highest": ("> stages[n - 1]", "> stages[n - 1] and stages[n] == max(stages)"),
            "not from 0": ("> stages[n - 1]", "> stages[n - 1] > 0"),
        },
    ),
    Exercise(
        "hw07", next_start, some_pools, outcome=begun, verdict=right_begin, features=of_pool,
        mistakes={
            "skips": ("    if", "    while stage + 1 < len(kept) and not kept[stage + 1]:\n"
                      "        stage += 1\n    if"),
            "same_stage": ("stage + 1", "stage"),
            "newest": (f"rng.choice({CHOICE})", "kept[stage + 1][-1]"),
            "oldest": (f"rng.choice({CHOICE})", "kept[stage + 1][0]"),
            "empty": ("return 0, None", "return (stage + 1) % len(kept), None"),
            "place": (CHOICE, "range(len(kept[stage + 1]))[-NEWEST:]"),
            "other_stage": (CHOICE, "sum(kept[1:], [])"),
            "stays": ("return 0, None", "return stage, None"),
            **({"first_ones": ("[-NEWEST:]", "[:NEWEST]")} if NEWEST else {}),
            **others("newest", next_start, "-NEWEST:", "-{}:", "newest_few"),
        },
        slips={
            "own_luck global": ("rng.choice", "luck.choice"),
            "own_luck in turn": ("    if", "    turns.append(0)\n    if", f"rng.choice({CHOICE})",
                        f"{CHOICE}[len(turns) % len({CHOICE})]", "rng):", "rng, turns=[]):"),
            "own_luck": ("rng.choice", "luck.Random().choice"),
            "always the same luck": ("rng.choice", "luck.Random(3).choice"),
            "took_away": (f"rng.choice({CHOICE})", "kept[stage + 1].pop()"),
            "not the last": (CHOICE, f"({CHOICE}[:-1] or kept[stage + 1])"),
            "not the first": (CHOICE, f"({CHOICE}[1:] or kept[stage + 1])"),
            "unfair last": (f"rng.choice({CHOICE})",
                            f"{CHOICE}[rng.randint(0, len({CHOICE})) - 1]"),
            "unfair": (f"rng.choice({CHOICE})", f"min(rng.choices({CHOICE}, k=2), key="
                                 "kept[stage + 1].index)"),
            "no_pair": ("return 0, None", "return None"),
            "after next": ("return stage + 1", "return stage + 2"),
            "old stage": ("return stage + 1", "return stage"),
            "never begins": ("stage + 1 ==", "stage + 2 >="),
            "from 0": ("return 0, None", "return 0, 0"),
            "no state": (f"rng.choice({CHOICE})", "None"),
        },
        result={"stage": "text", "states": "text"}, show={"rng": "hidden"},
    ),
]  # fmt: skip
