"""hw08: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import itertools
import math
import operator
from dataclasses import dataclass
from functools import cache, partial, reduce, wraps
from typing import Callable, Optional

import numpy as np

import lib2048
from lib2048 import afterstates, to_exponents

# ---- best


def best__loop(state, value):
    options = afterstates(state)
    if len(options) == 0:
        return 0
    largest = -math.inf
    for action, after, reward in options:
        worth = reward + value(after)
        if worth > largest:
            largest = worth
    return largest


def best__list(state, value):
    totals = [r + value(s) for _, s, r in afterstates(state)]
    return max(totals) if totals else 0.0


def best__slide(state, value):
    found = []
    for action in range(4):
        after, reward = lib2048.slide(state, action)
        if after != state:
            found.append(float(reward) + value(after))
    return sorted(found)[-1] if found else 0


def best__reduce(state, value):
    return reduce(max, (r + value(a) for _, a, r in afterstates(state)), -math.inf) if lib2048.afterstates(state) else 0


def best__numpy(state, value):
    worths = np.array([reward + value(after) for _, after, reward in afterstates(state)])
    return worths.max(initial=-np.inf) if worths.size else 0


# ---- expected


def expected__loops(afterstate, worth):
    exponents = to_exponents(afterstate)
    total, n = 0.0, 0
    for cell in range(16):
        if exponents[cell] == 0:
            two = np.uint64(afterstate) | np.uint64(1) << np.uint64(4 * cell)
            four = np.uint64(afterstate) | np.uint64(2) << np.uint64(4 * cell)
            total += 0.9 * worth(two) + 0.1 * worth(four)
            n += 1
    return total / n


def expected__mean(afterstate, worth):
    board = int(afterstate)
    empty = [c for c in range(16) if board >> 4 * c & 15 == 0]
    return float(np.mean([0.9 * worth(np.uint64(board + (1 << 4 * c))) + 0.1 * worth(np.uint64(board + (2 << 4 * c))) for c in empty]))


def expected__product(afterstate, worth):
    def spawns():
        empty = np.flatnonzero(to_exponents(afterstate) == 0).tolist()
        for cell, (exponent, chance) in itertools.product(empty, [(1, 0.9), (2, 0.1)]):
            yield chance / len(empty), np.uint64(int(afterstate) | exponent << 4 * cell)

    return math.fsum(chance * worth(state) for chance, state in spawns())


def expected__tiles(afterstate, worth):
    tiles = lib2048.to_tiles(afterstate)
    total, count = 0, 0
    for r in range(4):
        for c in range(4):
            if tiles[r][c]:
                continue
            count += 1
            for tile, p in {2: 0.9, 4: 0.1}.items():
                new = [list(row) for row in tiles]
                new[r][c] = tile
                total += p * worth(lib2048.from_tiles(new))
    return total / count


# ---- ahead


def ahead__recursion(afterstate, plies, value):
    if plies == 0:
        return value(afterstate)

    def below(after):
        return ahead__recursion(after, plies - 1, value)

    return expected__loops(afterstate, lambda state: best__loop(state, below))


def ahead__iterated(afterstate, plies, value):
    search = value
    for _ in range(plies):
        search = partial(lambda below, a: expected__mean(a, lambda s: best__list(s, below)), search)
    return search(afterstate)


@dataclass(frozen=True)
class Search:
    value: Callable
    plies: int

    def __call__(self, afterstate) -> float:
        if not self.plies:
            return self.value(afterstate)
        return expected__product(afterstate, self.of_state)

    def of_state(self, state) -> float:
        return best__slide(state, Search(self.value, self.plies - 1))


def ahead__data_class(afterstate, plies, value):
    return Search(value, plies)(afterstate)


def ahead__mutual(afterstate, plies, value):
    return value(afterstate) if plies <= 0 else expected__tiles(afterstate, lambda s: _max_node(s, plies, value))


def _max_node(state, plies, value):
    return max([r + ahead__mutual(a, plies - 1, value) for _, a, r in afterstates(state)] + [0] * (not afterstates(state)))


def ahead__inline(afterstate, plies, value):
    if plies < 1:
        return value(afterstate)
    total, empty = 0, [cell for cell in range(16) if not int(afterstate) >> 4 * cell & 15]
    for cell, (exponent, chance) in itertools.product(empty, ((1, 0.9), (2, 0.1))):
        options = afterstates(afterstate | np.uint64(exponent << 4 * cell))
        worths = [reward + ahead__inline(after, plies - 1, value) for _, after, reward in options]
        total += chance / len(empty) * (max(worths) if worths else 0)
    return total


# ---- choose


def choose__loop(board, plies, value) -> Optional[int]:
    best_action, best_worth = None, -math.inf
    for action, after, reward in afterstates(board):
        worth = reward + ahead__recursion(after, plies - 1, value)
        if worth > best_worth:
            best_action, best_worth = action, worth
    return best_action


def choose__max(board, plies, value):
    options = afterstates(board)
    if not options:
        return None
    return max(options, key=lambda o: o[2] + ahead__iterated(o[1], plies - 1, value))[0]


def choose__sorted(board, plies, value):
    worths = sorted((-(r + ahead__data_class(s, plies - 1, value)), a) for a, s, r in afterstates(board))
    return worths[0][1] if worths else None


def choose__zip(board, plies, value):
    try:
        actions, after, rewards = zip(*afterstates(board))
    except ValueError:
        return None
    worth = np.add(rewards, [ahead__mutual(a, plies - 1, value) for a in after])
    return actions[int(worth.argmax())]


def choose__last_of_equals(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + ahead__iterated(after, plies - 1, value)
        if most is None or worth >= most:
            action, most = a, worth
    return action


# ---- deeper


def deeper__nested(afterstate, value):
    return expected__loops(afterstate, lambda s: best__loop(s, lambda a: expected__loops(a, value)))


def deeper__steps(afterstate, value):
    def worth_of_afterstate(after):
        return expected__mean(after, value)

    def worth_of_state(state):
        return best__list(state, worth_of_afterstate)

    return expected__mean(afterstate, worth_of_state)


def deeper__partial(afterstate, value):
    inner = partial(expected__product, worth=value)
    return expected__product(afterstate, partial(best__slide, value=inner))


# ---- tabled


def tabled__if(afterstate, plies, value, table):
    key = (int(afterstate), plies)
    if key in table:
        return table[key]
    if plies == 0:
        result = value(afterstate)
    else:
        result = expected__loops(
            afterstate,
            lambda state: best__loop(state, lambda a: tabled__if(a, plies - 1, value, table)),
        )
    table[key] = result
    return result


def tabled__try(afterstate, plies, value, table):
    try:
        return table[afterstate, plies]
    except KeyError:
        pass
    if plies:
        answer = 0.0
        empty = [c for c in range(16) if int(afterstate) >> 4 * c & 15 == 0]
        for c in empty:
            for e, p in ((1, 0.9), (2, 0.1)):
                state = np.uint64(int(afterstate) | e << 4 * c)
                answer += p * max((r + tabled__try(a, plies - 1, value, table) for _, a, r in afterstates(state)), default=0)
        answer /= len(empty)
    else:
        answer = value(afterstate)
    return table.setdefault((afterstate, plies), answer)


def remembered(function):
    """Look into the table first."""

    @wraps(function)
    def search(afterstate, plies, value, table):
        key = plies, int(afterstate)
        if key not in table:
            table[key] = function(afterstate, plies, value, table)
        return operator.getitem(table, key)

    return search


@remembered
def tabled__decorated(afterstate, plies, value, table):
    if plies == 0:
        return value(afterstate)
    below = partial(tabled__decorated, plies=plies - 1, value=value, table=table)
    return expected__mean(afterstate, lambda state: best__numpy(state, below))


# ---- success


def success__search_of_states(state, goal):
    if goal in lib2048.to_exponents(state):
        return 1
    chance, stand = 0, [(c, e) for c, e in enumerate(to_exponents(state)) if e > goal]
    for action in range(4):
        after, _ = lib2048.slide(state, action)
        exponents = to_exponents(after)
        if after == state or any(exponents[c] != e for c, e in stand):
            continue
        won = goal in exponents
        chance = max(chance, 1.0 if won else expected__loops(after, lambda s: success__search_of_states(s, goal)))
    return chance


@cache
def success__cached(state, goal):
    """Return True where it is certain at once."""
    mask = np.uint64(sum(15 << 4 * c for c, e in enumerate(to_exponents(state)) if e > goal))
    after = [a for _, a, _ in afterstates(state) if a & mask == state & mask]
    if any(np.any(to_exponents(a) == goal) for a in after):
        return True
    return max([expected__mean(a, lambda s: float(success__cached(s, goal))) for a in after], default=0.0)


def success__tiles(state, goal):
    target, known = 2**goal, {}

    def large(board):
        return [[tile if tile > target else 0 for tile in row] for row in lib2048.to_tiles(board)]

    def solve(state):
        if state not in known:
            known[state] = max(map(of, moves(state)), default=0)
        return known[state]

    def moves(state):
        return (a for _, a, _ in afterstates(state) if large(a) == large(state))

    def of(after):
        return 1.0 if any(target in row for row in lib2048.to_tiles(after)) else expected__product(after, solve)

    return solve(state)


def success__layers(state, goal):
    """Gather all states, and go through them by their tile sums, the largest first."""
    where = lambda board: [i if i > goal else None for i in to_exponents(board).tolist()]
    total = lambda board: sum(1 << int(e) for e in to_exponents(board) if e)

    def spawned(after):
        return [after | np.uint64(e << 4 * c) for c, x in enumerate(to_exponents(after)) if not x for e in (1, 2)]

    found, todo = {}, [state]
    while todo:
        now = todo.pop()
        if now not in found:
            found[now] = [a for _, a, _ in afterstates(now) if where(a) == where(state)]
            todo += [s for a in found[now] if goal not in to_exponents(a) for s in spawned(a)]
    worth = {}
    for now in sorted(found, key=total, reverse=True):
        worth[now] = max([1 if goal in to_exponents(a) else expected__tiles(a, worth.get) for a in found[now]] or [0])
    return worth[state]


class Endgame:
    def __init__(self, goal):
        self.goal, self.kept = goal, {}

    def wins(self, state):
        if (key := int(state)) not in self.kept:
            ahead = [np.uint64(a) for _, a, _ in afterstates(state) if self.stands(state, a)]
            self.kept[key] = max([0, *(self.mean(a) for a in ahead)])
        return self.kept[key]

    def stands(self, one, two):
        return all(a == b or (a <= self.goal and b <= self.goal) for a, b in zip(to_exponents(one), to_exponents(two)))

    def mean(self, after):
        free = [c for c, e in enumerate(to_exponents(after)) if e == 0]
        if list(to_exponents(after)).count(self.goal):
            return 1
        both = ((p / len(free), after | np.uint64(e << 4 * c)) for c in free for e, p in ((1, 0.9), (2, 0.1)))
        return sum(p * self.wins(s) for p, s in both)


def success__class(state, goal):
    return Endgame(goal).wins(state)


def success__best(state, goal):
    """What is forbidden is worth nothing, and True is a chance."""

    def value(after):
        if any(a != b for a, b in zip(to_exponents(after), to_exponents(state)) if max(a, b) > goal):
            return 0
        return goal in to_exponents(after) or expected__loops(after, lambda s: success__best(s, goal))

    return _most(state, value)


def _most(state, value):
    return max([value(a) for _, a, _ in afterstates(state)], default=0)
