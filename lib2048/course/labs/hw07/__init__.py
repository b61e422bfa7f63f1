"""hw07, stages: the stage of a board, reading through, promotion, where an episode begins."""

import random as luck

from lib2048.course.labs.exercise import Exercise, Wrong

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
    if {k: v for k, v in V.items() if v or k in before} != before:
        raise Wrong("wrote")
    return answer


def learned(learn, V, E, A, *lesson):
    """Return (V, E, A) after a lesson, zeros left out."""
    learn(V, E, A, *lesson)
    return tuple({key: part[key] for key in sorted(part) if part[key] != 0} for part in (V, E, A))


def begun(next_start, stage, kept, seed):
    """Return (the stage, all states that the next episode may begin from)."""
    rng, before = luck.Random(seed), [list(states) for states in kept]
    answers = [next_start(stage, kept, rng) for _ in range(DRAWS)]
    if not all(isinstance(answer, (tuple, list)) and len(answer) == 2 for answer in answers):
        raise Wrong("no_pair", {"got": repr(answers[0])[:80]})
    if kept != before:
        raise Wrong("took_away")
    stages, states = zip(*answers)
    shares = {state: states.count(state) / DRAWS for state in states}
    fair = 1 / len(shares)
    if max(abs(share - fair) for share in shares.values()) > 6 * (fair / DRAWS) ** 0.5:
        raise Wrong("unfair")
    return stages[0], sorted(shares, key=str)


# ---------------------------------------------------------------- typical mistakes


def _by_presence(board, top, marks):
    tiles = {tile for row in board for tile in row}
    return sum((top >> k in tiles) << marks - 1 - k for k in range(marks))


def _stages(start=LARGEST, above=2, surplus=1, turned=False):
    """Return a `stage` with one thing changed; above, surplus: what such tiles count as."""

    def wrong(board, top, marks):
        tiles = [tile for row in board for tile in row]
        number, carried, tile = 0, 0, start or top
        while tile > top:
            carried, tile = above * (carried + tiles.count(tile)), tile // 2
        for k in range(marks):
            here = carried + tiles.count(tile)
            number += (here > 0) << (k if turned else marks - 1 - k)
            carried, tile = surplus * max(here - 1, 0), tile // 2
        return number

    return wrong


def _largest_only(board, top, marks):
    largest = max(max(row) for row in board)
    return sum((top >> k == min(largest, top)) << marks - 1 - k for k in range(marks))


def _steps(board, top, marks):
    largest = max(max(row) for row in board)
    return sum(largest >= top >> k for k in range(marks))


def _all_the_way(V, stage, pattern):
    while stage > 0 and V.get((stage, pattern), 0) == 0:
        stage -= 1
    return V.get((stage, pattern), 0)


def _lessons(read=read, promote_E=False, forget_E=False, below_too=False, first=False, plain=False):
    """Return a `learn` with one thing changed; first: E and A take the error in first."""

    def wrong(V, E, A, stage, pattern, error, rate):
        key, below = (stage, pattern), (stage - 1, pattern)
        fresh = V.get(key, 0) == 0
        V[key] = read(V, stage, pattern)
        if promote_E and fresh:
            E[key], A[key] = E.get(below, 0), A.get(below, 0)
        if forget_E and fresh:
            E[key], A[key] = 0, 0
        if first:
            E[key], A[key] = E.get(key, 0) + error, A.get(key, 0) + abs(error)
        own = abs(E[key]) / A[key] if A.get(key, 0) and not plain else 1
        V[key] += rate * own * error
        if below_too and stage > 0:
            V[below] = V.get(below, 0) + rate * own * error
        if not first:
            E[key], A[key] = E.get(key, 0) + error, A.get(key, 0) + abs(error)

    return wrong


def _own(V, stage, pattern):
    return V.get((stage, pattern), 0)


def _keeps_copying(V, stage, pattern):
    return V.get((stage - 1, pattern), 0) or V.get((stage, pattern), 0)


def _taught_below(V, E, A, stage, pattern, error, rate):
    if V.get((stage, pattern), 0) == 0 and stage > 0:
        stage -= 1
    _lessons(_own)(V, E, A, stage, pattern, error, rate)


def _moved(V, E, A, stage, pattern, error, rate):
    fresh = V.get((stage, pattern), 0) == 0
    learn(V, E, A, stage, pattern, error, rate)
    if fresh:
        V.pop((stage - 1, pattern), None)


def _entered(wanted):
    """Return an `entered` by another comparison of a stage with the one before it."""
    return lambda stages: [n for n in range(1, len(stages)) if wanted(stages[n], stages[n - 1])]


def _records(stages):
    return [n for n in range(1, len(stages)) if stages[n] > max(stages[:n])]


def _starts(step=1, skip=False, pick=None):
    """Return a `next_start` with one thing changed."""

    def wrong(stage, kept, rng):
        stage += step
        while skip and stage < len(kept) and not kept[stage]:
            stage += 1
        if stage >= len(kept) or not kept[stage]:
            return 0, None
        return stage, (pick or rng.choice)(kept[stage])

    return wrong


def _goes_round(stage, kept, rng):
    stage = (stage + 1) % len(kept)
    return (stage, rng.choice(kept[stage])) if kept[stage] else (stage, None)


# ---------------------------------------------------------------- the exercises

EXERCISES = [
    Exercise(
        "hw07.stage",
        "stage(board, top, marks)",
        stage,
        parts={
            "different tiles": different_tiles,
            "equal tiles": equal_tiles,
            "tiles above": high_tiles,
        },
        mistakes={
            "presence": _by_presence,
            "turned": _stages(turned=True),
            "largest_only": _largest_only,
            "steps": _steps,
            "surplus_twice": _stages(surplus=2),
            "no_surplus": _stages(surplus=0),
            "above_ignored": _stages(start=None),
            "above_once": _stages(above=1),
        },
        show={"board": "rows"},
    ),
    Exercise(
        "hw07.read",
        "read(V, stage, pattern)",
        read,
        some_reads,
        outcome=only_read,
        mistakes={
            "own_only": _own,
            "all_the_way": _all_the_way,
            "first_stage": lambda V, stage, pattern: (
                V.get((stage, pattern), 0) or V.get((0, pattern), 0)
            ),
            "zero_known": lambda V, stage, pattern: V.get(
                (stage, pattern), V.get((stage - 1, pattern), 0)
            ),
            "below_first": _keeps_copying,
            "sum": lambda V, stage, pattern: (
                V.get((stage, pattern), 0) + V.get((stage - 1, pattern), 0)
            ),
        },
    ),
    Exercise(
        "hw07.learn",
        "learn(V, E, A, stage, pattern, error, rate)",
        learn,
        uses=("read",),
        parts={"first": first_lessons, "later": later_lessons},
        outcome=learned,
        mistakes={
            "from_zero": _lessons(_own),
            "keeps_copying": _lessons(_keeps_copying),
            "promotes_E": _lessons(promote_E=True),
            "forgets_E": _lessons(forget_E=True),
            "below_too": _lessons(below_too=True),
            "taught_below": _taught_below,
            "moved": _moved,
            "all_the_way": _lessons(_all_the_way),
            "own_say": _lessons(first=True),
            "no_own_rate": _lessons(plain=True),
        },
        result={"V": "text", "E": "text", "A": "text"},
    ),
    Exercise(
        "hw07.entered",
        "entered(stages)",
        entered,
        some_episodes,
        mistakes={
            "changes": _entered(lambda now, before: now != before),
            "one_up": _entered(lambda now, before: now == before + 1),
            "records": _records,
            "before": lambda stages: [n - 1 for n in entered(stages)],
            "stages": lambda stages: [stages[n] for n in entered(stages)],
            "start": lambda stages: [0, *entered(stages)],
        },
    ),
    Exercise(
        "hw07.next_start",
        "next_start(stage, kept, rng)",
        next_start,
        some_pools,
        outcome=begun,
        mistakes={
            "skips": _starts(skip=True),
            "same_stage": _starts(step=0),
            "newest": _starts(pick=lambda states: states[-1]),
            "oldest": _starts(pick=lambda states: states[0]),
            "empty": _goes_round,
        },
        result={"stage": "text", "states": "text"},
        show={"rng": "hidden"},
    ),
]
