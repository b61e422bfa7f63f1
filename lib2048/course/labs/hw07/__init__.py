"""hw07, stages: the stage of a board, reading through, promotion, where an episode begins."""

import random as luck

from lib2048.course.labs.exercise import Exercise, wrong_if

DRAWS = 300  # of a random choice
LARGEST = 32768

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
        return V.get((stage - 1, pattern), 0)
    return here


def learn(V, E, A, stage, pattern, error, rate):
    """Let a weight learn by TC; the first time, it starts from the one below (section V-D)."""
    key = stage, pattern
    V[key] = read(V, stage, pattern)
    own = abs(E[key]) / A[key] if A.get(key, 0) else 1
    V[key] += rate * own * error
    E[key], A[key] = E.get(key, 0) + error, A.get(key, 0) + abs(error)


def entered(stages):
    """Return the turns in which an episode entered a higher stage."""
    return [n for n in range(1, len(stages)) if stages[n] > stages[n - 1]]


def next_start(stage, kept, rng):
    """Return (the stage, the state) where the next episode of the carousel begins."""
    if stage + 1 == len(kept) or not kept[stage + 1]:
        return 0, None
    return stage + 1, rng.choice(kept[stage + 1])


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
        for tiles in [*known(top), *(drawn(top, marks) for _ in range(6))]
    ]


MARKED = ((32768, 4), (2048, 3), (1024, 2), (512, 1))


def different_tiles(random):
    """Return boards with no two equal tiles among the marks, none above them."""

    def drawn(top, marks):
        return [top >> k for k in range(marks + 1) if random.random() < 0.5]

    return _boards(random, MARKED, lambda top: [[], [top], [top // 2]], drawn)


def equal_tiles(random):
    """Return boards with equal tiles among the marks, none above them."""

    def known(top):
        half = top // 2
        return [[top] * 2, [half] * 2, [half] * 3, [top] * 3, [top, half, half]]

    def drawn(top, marks):
        return [top >> int(k) for k in random.integers(0, marks, 4)]

    return _boards(random, MARKED[:3], known, drawn)


def high_tiles(random):
    """Return boards with tiles above the marks."""

    def known(top):
        return [[2 * top], [4 * top], [2 * top, top], [2 * top, top // 2]]

    def drawn(top, marks):
        return [2 * top, *(2 * top >> int(k) for k in random.integers(0, marks + 1, 2))]

    return _boards(random, MARKED[1:], known, drawn)


def some_reads(random):
    """Return (V, stage, pattern)."""
    known = [
        ({}, 0, "p"), ({(0, "p"): 12}, 0, "p"), ({(0, "p"): 12}, 1, "p"),
        ({(0, "p"): 12}, 2, "p"), ({(0, "p"): 12, (1, "p"): 0}, 1, "p"),
        ({(0, "p"): 12, (1, "p"): 5}, 1, "p"), ({(0, "q"): 12}, 1, "p"),
    ]  # fmt: skip
    return known + [(_weights(random), int(random.integers(4)), "p") for _ in range(12)]


def _weights(random):
    """Return some weights of patterns p and q in stages 0 to 3; a few are 0."""
    values = random.choice([-20, -5, 0, 7, 30, 44], 8).tolist()
    keys = [(stage, pattern) for stage in range(4) for pattern in "pq"]
    return {key: value for key, value in zip(keys, values) if random.random() < 0.6}


def _memory(random, V, without):
    """Return (E, A) of the weights that are not 0, but not of one."""
    E, A = {}, {}
    for key in V:
        if V[key] != 0 and key != without:
            A[key] = int(random.choice([4, 8, 10]))
            E[key] = int(random.integers(-A[key], A[key] + 1))
    return E, A


def first_lessons(random):
    """Return lessons of weights that were never accessed, over a stage that has learned."""
    cases = [({(0, "p"): 20}, {(0, "p"): 6}, {(0, "p"): 12}, 1, "p", 8, 0.5)]
    for number in range(14):
        V, stage = _weights(random), int(random.integers(1, 4)) if number else 0
        V.pop((stage, "p"), None)
        if number % 3 == 0:  # nothing just below, but two below
            V |= {(stage - 1, "p"): 0, (stage - 2, "p"): 16}
        else:
            V[stage - 1, "p"] = V.get((stage - 1, "p"), 0) or 16
        V = {key: value for key, value in V.items() if key[0] >= 0}
        E, A = _memory(random, V, (stage, "p"))
        cases.append((V, E, A, stage, "p", int(random.choice([-8, 3, 8])), 0.5))
    return cases


def later_lessons(random):
    """Return lessons of weights that have learned before."""
    cases = []
    for number in range(14):
        V, stage = _weights(random), int(random.integers(0, 4))
        V[stage, "p"] = int(random.choice([-9, 11, 25]))
        E, A = _memory(random, V, None)
        if number % 4 == 3:  # it has learned, and come back to 0
            V |= {(stage, "p"): 0, (stage - 1, "p"): 16} if stage else {(stage, "p"): 0}
        cases.append((V, E, A, stage, "p", int(random.choice([-8, 3, 8])), 0.5))
    return cases


def some_episodes(random):
    """Return (stages,) of the states of an episode, in turn."""
    known = [[0], [0, 0, 1, 1, 2], [0, 1, 0, 1], [2, 2, 3], [0, 2, 2], [7, 6, 6], [0, 1, 3, 2, 3]]
    drawn = [random.integers(0, 4, n).tolist() for n in random.integers(3, 10, 8)]
    return [(stages,) for stages in known + drawn]


def some_pools(random):
    """Return (stage, kept, rng)."""
    full = [[], ["a"], ["b", "c"], ["d", "e", "f"]]
    gap = [[], ["a", "b"], [], ["c"]]
    late = [[], [], ["a"], ["b", "c"]]
    pools = [[[], []], full, gap, late, [[], ["a", "b", "c"]]]
    return [(stage, kept, 7) for kept in pools for stage in range(len(kept))]


# ---------------------------------------------------------------- outcomes


def only_read(read, V, stage, pattern):
    """Return what was read; raise Wrong where something was written."""
    before = dict(V)
    answer = read(V, stage, pattern)
    wrong_if({k: v for k, v in V.items() if v or k in before} != before, "wrote")
    return answer


def learned(learn, V, E, A, *lesson):
    """Return (V, E, A) after a lesson, zeros left out."""
    learn(V, E, A, *lesson)
    return tuple({key: part[key] for key in sorted(part) if part[key] != 0} for part in (V, E, A))


def begun(next_start, stage, kept, seed):
    """Return (the stage, all states that the next episode may begin from)."""
    rng, before = luck.Random(seed), [list(states) for states in kept]
    answers = [next_start(stage, kept, rng) for _ in range(DRAWS)]
    pairs = [answer for answer in answers if isinstance(answer, (tuple, list)) and len(answer) == 2]
    wrong_if(pairs != answers, "no_pair", got=repr(answers[0])[:80])
    wrong_if(kept != before, "took_away")
    stages, states = zip(*answers)
    shares = {state: states.count(state) / DRAWS for state in states}
    fair = 1 / len(shares)
    furthest = max(abs(share - fair) for share in shares.values())
    wrong_if(furthest > 6 * (fair / DRAWS) ** 0.5, "unfair")
    return stages[0], sorted(shares, key=str)


# ---------------------------------------------------------------- the exercises

READ = "read(V, stage, pattern)"
REMEMBERS = "    E[key], A[key] = E.get(key, 0) + error, A.get(key, 0) + abs(error)\n"
FRESH = "    if V.get(key, 0) == 0:\n"
BELOW = "stage - 1, pattern"

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
        },
        show={"board": "rows"},
    ),
    Exercise(
        "hw07", read, some_reads, outcome=only_read,
        mistakes={
            "own_only": (BELOW, "stage, pattern"),
            "all_the_way": ("return V.get((stage - 1, pattern), 0)",
                            "return read(V, stage - 1, pattern) if stage > 0 else 0"),
            "first_stage": (BELOW, "0, pattern"),
            "zero_known": ("here == 0", "(stage, pattern) not in V"),
            "below_first": ("here = V.get((stage,", "here = V.get((stage - 1,",
                            "return V.get((stage - 1,", "return V.get((stage,"),
            "sum": ("    return here", f"    return here + V.get(({BELOW}), 0)"),
        },
    ),
    Exercise(
        "hw07", learn, parts={"first": first_lessons, "later": later_lessons}, outcome=learned,
        mistakes={
            "from_zero": (READ, "V.get(key, 0)"),
            "keeps_copying": (READ, f"V.get(({BELOW}), 0) or V.get(key, 0)"),
            "promotes_E": ("    V[key] = read", f"{FRESH}        E[key] = E.get(({BELOW}), 0)\n"
                           f"        A[key] = A.get(({BELOW}), 0)\n    V[key] = read"),
            "forgets_E": ("    V[key] = read",
                          f"{FRESH}        E[key] = A[key] = 0\n    V[key] = read"),
            "below_too": (REMEMBERS, f"{REMEMBERS}    if stage > 0:\n        V[{BELOW}] = "
                          f"V.get(({BELOW}), 0) + rate * own * error\n"),
            "taught_below": (READ, "V.get(key, 0)", "    V[key] =", f"{FRESH}        key = "
                             f"(max(stage - 1, 0), pattern)\n    V[key] ="),
            "moved": ("    own =", f"    if fresh:\n        V.pop(({BELOW}), None)\n    own =",
                      "    V[key] = read", "    fresh = V.get(key, 0) == 0\n    V[key] = read"),
            "all_the_way": (READ, "next((V[s, pattern] for s in range(stage, -1, -1) "
                            "if V.get((s, pattern), 0)), 0)"),
            "own_say": (REMEMBERS, "", "    own =", f"{REMEMBERS}    own ="),
            "no_own_rate": ("rate * own", "rate"),
        },
        result={"V": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw07", entered, some_episodes,
        mistakes={
            "changes": ("] > ", "] != "),
            "one_up": ("] > stages[n - 1]", "] == stages[n - 1] + 1"),
            "records": ("> stages[n - 1]", "> max(stages[:n])"),
            "before": ("[n for", "[n - 1 for"),
            "stages": ("[n for", "[stages[n] for"),
            "start": ("return ", "return [0] + "),
        },
    ),
    Exercise(
        "hw07", next_start, some_pools, outcome=begun,
        mistakes={
            "skips": ("    if", "    while stage + 1 < len(kept) and not kept[stage + 1]:\n"
                      "        stage += 1\n    if"),
            "same_stage": ("stage + 1", "stage"),
            "newest": ("rng.choice(kept[stage + 1])", "kept[stage + 1][-1]"),
            "oldest": ("rng.choice(kept[stage + 1])", "kept[stage + 1][0]"),
            "empty": ("return 0, None", "return (stage + 1) % len(kept), None"),
        },
        result={"stage": "text", "states": "text"}, show={"rng": "hidden"},
    ),
]  # fmt: skip
