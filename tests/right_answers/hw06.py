"""hw06: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import itertools
import math
from functools import cache, partial

import numpy as np
from numba import njit

SYMMETRIES = 8
ONE = np.float32(1)

# ---- tc_rate


def tc_rate__if(E, A):
    if A == 0:
        return 1.0
    return abs(E) / A


def tc_rate__try(E, A):
    try:
        return math.fabs(E) / A
    except ZeroDivisionError:
        return 1


def tc_rate__numpy(E, A):
    return float(np.where(A == 0, 1.0, np.abs(E) / np.maximum(A, 1e-30)))


tc_rate__lambda = lambda E, A: 1 if not A else (E if E > 0 else -E) / A


@cache
def tc_rate__cached(E, A):
    return abs(E / A) if A else 1.0


# ---- update


def update__index(weights, memory, positions, error, rate):
    for i in range(len(positions)):
        p = positions[i]
        e = memory[2 * p]
        a = memory[2 * p + 1]
        if a == 0:
            alpha = 1.0
        else:
            alpha = abs(e) / a
        weights[p] = weights[p] + rate * alpha * error
        memory[2 * p] = e + error
        memory[2 * p + 1] = a + abs(error)


def _rate(E, A):
    return ONE if A == 0 else abs(E) / A


def update__helper(weights, memory, positions, error, rate):
    for p in positions:
        at_E = 2 * p
        at_A = at_E + 1
        weights[p] += error * rate * _rate(memory[at_E], memory[at_A])
        memory[at_E] += error
        memory[at_A] += abs(error)


@njit
def update__njit(weights, memory, positions, error, rate):
    size = error if error > 0 else -error
    for p in positions:
        own = np.abs(memory[2 * p]) / memory[2 * p + 1] if memory[2 * p + 1] > 0 else 1.0
        weights[p] += rate * own * error
        memory[2 * p] += error
        memory[2 * p + 1] += size


def update__two_columns(weights, memory, positions, error, rate):
    table = memory.reshape(-1, 2)
    for p in positions:
        E, A = table[p]
        weights[p] += rate * error * (abs(E) / A if A else 1.0)
        table[p, 0] = E + error
        table[p, 1] = A + abs(error)


# ---- until_awake


def until_awake__loop(errors, rate):
    E = 0
    A = 0
    for e in errors:
        E += e
        A += abs(e)
    n = 0
    while True:
        now = 1.0 if A == 0 else abs(E) / A
        if now >= rate:
            return n
        n += 1
        E += 1
        A += 1


def until_awake__count(errors, rate):
    E, A = sum(errors), sum(map(abs, errors))
    return next(n for n in itertools.count() if tc_rate__if(E + n, A + n) >= rate)


def until_awake__recursion(errors, rate):
    if tc_rate__try(sum(errors), sum(abs(e) for e in errors)) >= rate:
        return 0
    return 1 + until_awake__recursion([*errors, 1], rate)


def until_awake__append(errors, rate):
    life = list(errors)
    while tc_rate__numpy(np.sum(life), np.abs(life).sum()) < rate:
        life.append(1)
    return len(life) - len(errors)


# ---- optimistic_start


def optimistic_start__loops(tables, points):
    count = SYMMETRIES * len(tables)
    new = []
    for table in tables:
        row = []
        for _ in table:
            row.append(points / count)
        new.append(row)
    return new


def optimistic_start__numpy(tables, points):
    return [np.full(len(table), points / len(tables) / 8) for table in tables]


def optimistic_start__map(tables, points):
    def filled(each, table):
        return [each for _ in table]

    return list(map(partial(filled, points / (8 * len(tables))), tables))


class Start:
    def __init__(self, tables):
        self.sizes = [len(table) for table in tables]

    def worth(self, points):
        each = points / (SYMMETRIES * len(self.sizes))
        return [[each] * size for size in self.sizes]


def optimistic_start__class(tables, points):
    return Start(tables).worth(points)
