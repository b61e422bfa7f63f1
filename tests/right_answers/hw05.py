"""hw05: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import itertools
import math
from collections import deque, namedtuple
from functools import lru_cache, reduce

import numpy as np

# ---- errors


def errors__index(values, rewards):
    n = len(values)
    result = []
    for t in range(n):
        if t == n - 1:
            result.append(-values[t])
        else:
            result.append(rewards[t + 1] + values[t + 1] - values[t])
    return result


def errors__numpy(values, rewards):
    v, r = np.array([*values, 0]), np.array([*rewards, 0])
    return r[1:] + np.diff(v)


def errors__pairwise(values, rewards):
    turns = zip(values + [0], rewards + [0])
    return [r + after - before for (before, _), (after, r) in itertools.pairwise(turns)]


def errors__recursion(values, rewards):
    if len(values) == 1:
        return [0 - values[0]]
    return [rewards[1] + values[1] - values[0]] + errors__recursion(values[1:], rewards[1:])


def errors__tuple(values, rewards):
    return tuple(r + w - v for v, w, r in zip(values, values[1:] + [0], rewards[1:] + [0]))


def errors__try(values, rewards):
    found = []
    for t, value in enumerate(values):
        try:
            target = rewards[t + 1] + values[t + 1]
        except IndexError:
            target = 0.0
        found += [np.float64(target - value)]
    return found


# ---- horizon


def horizon__while(lam):
    k, share = 0, 1.0
    while share * lam > 0.1:
        share *= lam
        k += 1
    return k


def horizon__logarithm(lam):
    if lam <= 0.1:
        return 0
    return math.ceil(math.log(0.1) / math.log(lam)) - 1


def horizon__count(lam):
    return next(k for k in itertools.count() if lam ** (k + 1) <= 0.1)


@lru_cache(maxsize=None)
def horizon__cached(lam):
    return max(k for k in range(500) if lam**k > 0.1)


def horizon__takewhile(lam):
    shares = itertools.accumulate(itertools.repeat(lam), lambda a, b: a * b)
    return sum(1 for _ in itertools.takewhile(lambda share: share > 0.1, shares))


def horizon__numpy(lam):
    return int(np.flatnonzero(lam ** np.arange(1000) > 0.1)[-1])


def horizon__more_parameters(lam, share=1):
    return -1 if share <= 0.1 else 1 + horizon__more_parameters(lam, share * lam)


# ---- weighted_error


def weighted_error__horner(errors, lam):
    total = 0
    for error in reversed(errors):
        total = total * lam + error
    return total


def weighted_error__reduce(errors, lam):
    return reduce(lambda total, error: error + lam * total, errors[::-1], 0)


def weighted_error__numpy(errors, lam):
    return np.dot(np.array(errors, float), np.power(float(lam), np.arange(len(errors))))


def weighted_error__trace(errors, lam):
    share, total = 1.0, 0.0
    for e in errors:
        total += share * e
        share *= lam
    return total


def weighted_error__recursion(errors, lam):
    first, *rest = errors
    return first + (lam * weighted_error__recursion(rest, lam) if rest else 0)


# ---- learn_online


def learn_online__index(values, past, lam, alpha, h):
    delta = past[-1][1]
    rate = alpha / values.lookups_per_board
    for k in range(h + 1):
        if k >= len(past):
            break
        board = past[-1 - k][0]
        values.add(board, rate * (lam**k) * delta)


def learn_online__trace(values, past, lam, alpha, h):
    _, newest = past[-1]
    step = alpha * newest / values.lookups_per_board
    for afterstate, _error in itertools.islice(reversed(past), h + 1):
        values.add(afterstate, step)
        step *= lam


Turn = namedtuple("Turn", "afterstate error")


def learn_online__namedtuple(values, past, lam, alpha, h):
    turns = deque(itertools.starmap(Turn, past), maxlen=h + 1)
    for age, turn in zip(range(len(turns))[::-1], turns):
        values.add(turn.afterstate, alpha / values.lookups_per_board * lam**age * turns[-1].error)


def learn_online__returns(values, past, lam, alpha, h):
    *_, (_, error) = past
    share = np.float64(alpha * error / values.lookups_per_board)
    for name, _ in reversed(past[-(h + 1) :]):
        values.add(name, share)
        share *= lam
    return values


# ---- learn_delayed


def learn_delayed__while(values, waiting, lam, alpha, h, over):
    rest = list(waiting)
    while rest and (over or len(rest) > h):
        errors = [e for _, e in rest]
        values.add(rest[0][0], alpha / values.lookups_per_board * weighted_error__horner(errors, lam))
        rest.pop(0)
    return rest


def learn_delayed__range(values, waiting, lam, alpha, h, over):
    due = len(waiting) if over else max(0, len(waiting) - h)
    for i in range(due):
        total = 0.0
        for k, (_, delta) in enumerate(waiting[i:]):
            total += lam**k * delta
        values.add(waiting[i][0], alpha * total / values.lookups_per_board)
    return waiting[due:]


def learn_delayed__recursion(values, waiting, lam, alpha, h, over):
    if not waiting or (len(waiting) <= h and not over):
        return waiting
    (board, _), *rest = waiting
    share = weighted_error__numpy([error for _, error in waiting], lam)
    values.add(board, alpha / values.lookups_per_board * share)
    return learn_delayed__recursion(values, rest, lam, alpha, h, over)


def learn_delayed__deque(values, waiting, lam, alpha, h, over):
    queue = deque(waiting)
    while queue and (over or len(queue) >= h + 1):
        total = sum(lam**k * error for k, (_, error) in enumerate(queue))
        values.add(queue.popleft()[0], alpha * total / values.lookups_per_board)
    return queue


def learn_delayed__lists_from_behind(values, waiting, lam, alpha, h, over):
    due = len(waiting) if over else max(0, len(waiting) - h)
    for i in reversed(range(due)):
        total = weighted_error__trace([error for _, error in waiting[i:]], lam)
        values.add(waiting[i][0], alpha / values.lookups_per_board * total)
    return [list(pair) for pair in waiting[due:]]


class Queue:
    """Those who wait, as an object."""

    def __init__(self, waiting):
        self.waiting = deque(waiting)

    def __bool__(self):
        return bool(self.waiting)

    def __len__(self):
        return len(self.waiting)

    @property
    def errors(self):
        return [error for _, error in self.waiting]

    def leave(self):
        return self.waiting.popleft()[0]


def learn_delayed__class(values, waiting, lam, alpha, h, over):
    queue = Queue(waiting)
    while len(queue) > h or over and queue:
        total = weighted_error__trace(queue.errors, lam)
        values.add(queue.leave(), total * alpha / values.lookups_per_board)
    return [(board, error) for board, error in queue.waiting]
