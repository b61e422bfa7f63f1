"""hw07: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import itertools
import operator
import random
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from functools import reduce

import numpy as np

# ---- stage


def stage__counter(board, top, marks):
    count = Counter(tile for row in board for tile in row)
    tile = 32768
    while tile > top:
        count[tile // 2] += 2 * count[tile]
        tile //= 2
    bits = ""
    for _ in range(marks):
        bits += "1" if count[tile] else "0"
        if count[tile] > 1:
            count[tile // 2] += count[tile] - 1
        tile //= 2
    return int(bits, 2)


def stage__recursion(board, top, marks):
    tiles = sorted(itertools.chain.from_iterable(board), reverse=True)

    def of(tiles, tile, left):
        if left == 0:
            return 0
        here = tiles.count(tile)
        rest = [t for t in tiles if t < tile] + [tile // 2] * max(here - 1, 0)
        return (here > 0) * 2 ** (left - 1) + of(rest, tile // 2, left - 1)

    def lowered(tiles):
        if max(tiles, default=0) <= top:
            return tiles
        biggest = max(tiles)
        return lowered([t for t in tiles if t != biggest] + [biggest // 2] * 2 * tiles.count(biggest))

    return of(lowered(tiles), top, marks)


def stage__one_tile_at_a_time(board, top, marks):
    left = [top >> k for k in range(marks)]
    number = 0
    tiles = [tile for row in board for tile in row if tile]
    tiles.sort()
    while tiles:
        tile = tiles.pop()
        if tile > top:
            tiles += [tile // 2, tile // 2]
        elif tile in left:
            number |= 1 << (marks - 1 - (top // tile).bit_length() + 1)
            left.remove(tile)
        elif tile >= top >> (marks - 1) and tile > 1:
            tiles.append(tile // 2)
        tiles.sort()
    return number


def stage__numpy(board, top, marks):
    exponents = np.log2(np.maximum(np.array(board), 1)).astype(int).ravel()
    counts = np.bincount(exponents, minlength=17)
    first = top.bit_length() - 1
    for e in range(16, first, -1):
        counts[e - 1] += 2 * counts[e]
        counts[e] = 0
    bits = []
    for e in range(first, first - marks, -1):
        bits.append(min(counts[e], 1))
        counts[e - 1] += max(counts[e] - 1, 0)
    return int(np.dot(bits, 2 ** np.arange(marks)[::-1]))


# ---- read


def read__if(V, stage, pattern):
    key = (stage, pattern)
    if key in V and V[key] != 0:
        return V[key]
    below = (stage - 1, pattern)
    if below in V:
        return V[below]
    return 0


def read__or(V, stage, pattern):
    return V.get((stage, pattern)) or V.get((stage - 1, pattern)) or 0


def read__next(V, stage, pattern):
    found = (V.get((s, pattern), 0) for s in (stage, stage - 1))
    return next(filter(None, found), 0)


def read__try(V, stage, pattern):
    for s in range(stage, stage - 2, -1):
        try:
            if V[s, pattern]:
                return V[s, pattern]
        except KeyError:
            pass
    return 0


# ---- learn


def learn__steps(V, E, A, stage, pattern, error, rate):
    key = (stage, pattern)
    # promotion, at the first access
    if V.get(key, 0) == 0:
        V[key] = V.get((stage - 1, pattern), 0)
    if A.get(key, 0) == 0:
        own = 1
    else:
        own = abs(E.get(key, 0)) / A[key]
    V[key] += rate * own * error
    E[key] = E.get(key, 0) + error
    A[key] = A.get(key, 0) + abs(error)


Cell = namedtuple("Cell", "v e a")


def learn__namedtuple(V, E, A, stage, pattern, error, rate):
    key = stage, pattern
    cell = Cell(read__or(V, stage, pattern), E.get(key, 0), A.get(key, 0))
    own = abs(cell.e / cell.a) if cell.a else 1
    cell = Cell(cell.v + own * rate * error, cell.e + error, cell.a + abs(error))
    V[key], E[key], A[key] = cell


def learn__setdefault(V, E, A, stage, pattern, error, rate):
    at = (stage, pattern)
    for table in (E, A):
        table.setdefault(at, 0)
    beta = abs(E[at]) / A[at] if A[at] > 0 else 1.0
    V.update({at: read__next(V, stage, pattern) + rate * beta * error})
    E[at] += error
    A[at] += max(error, -error)


@dataclass
class Weight:
    tables: tuple
    key: tuple

    @property
    def rate(self):
        _, E, A = self.tables
        return abs(E[self.key]) / A[self.key] if A.get(self.key) else 1

    def learn(self, error, rate):
        V, E, A = self.tables
        V[self.key] = read__if(V, *self.key) + self.rate * rate * error
        E[self.key] = E.get(self.key, 0) + error
        A[self.key] = A.get(self.key, 0) + abs(error)


def learn__data_class(V, E, A, stage, pattern, error, rate):
    Weight((V, E, A), (stage, pattern)).learn(error, rate)


# ---- entered


def entered__loop(stages):
    found = []
    previous = stages[0]
    for t in range(len(stages)):
        if stages[t] > previous:
            found.append(t)
        previous = stages[t]
    return found


def entered__pairwise(stages):
    return [t for t, (a, b) in enumerate(itertools.pairwise(stages), start=1) if a < b]


def entered__numpy(stages):
    return (np.flatnonzero(np.diff(stages) > 0) + 1).tolist()


def entered__operator(stages):
    higher = map(operator.lt, stages, stages[1:])
    return list(itertools.compress(range(1, len(stages)), higher))


def entered__generator(stages):
    def turns():
        for n, (now, then) in enumerate(zip(stages[1:], stages)):
            if now > then:
                yield n + 1

    return [*turns()]


# ---- next_start


def next_start__if(stage, kept, rng):
    if stage + 1 < len(kept):
        states = kept[stage + 1]
        if len(states) > 0:
            return stage + 1, states[rng.randrange(len(states))]
    return 0, None


def next_start__dict(stage, kept, rng):
    pools = defaultdict(list, enumerate(kept))
    pool = pools[stage + 1]
    return (stage + 1, rng.choice(pool)) if pool else (0, None)


def next_start__try(stage, kept, rng):
    try:
        return stage + 1, rng.choice(kept[stage + 1])
    except IndexError:  # no such stage, or nothing to choose from
        return 0, None


def next_start__sample(stage, kept, rng):
    following = (kept + [[]])[stage + 1]
    chosen = rng.sample(following, k=min(1, len(following)))
    return reduce(lambda start, state: (stage + 1, state), chosen, (0, None))
