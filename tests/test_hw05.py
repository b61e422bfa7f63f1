"""hw05: typical wrong answers of students, and the lab's rule beside the compiled loop."""

import math

import handins
import numpy as np
import pytest

from lib2048 import Network, afterstates, initial, spawn, stream, train
from lib2048.course.labs import hw05
from lib2048.course.labs.exercise import find
from lib2048.learn import rules

RIGHT = """
def errors(values, rewards):
    values, rewards = np.append(values, 0), np.append(rewards, 0)
    return rewards[1:] + values[1:] - values[:-1]

def errors(values, rewards):
    return tuple(r + w - v for v, w, r in zip(values, values[1:] + [0], rewards[1:] + [0]))

def errors(values, rewards):
    found = []
    for t, value in enumerate(values):
        try:
            target = rewards[t + 1] + values[t + 1]
        except IndexError:
            target = 0.0
        found += [np.float64(target - value)]
    return found

def errors(values, rewards):
    if len(values) == 1:
        return [-values[0]]
    return [rewards[1] + values[1] - values[0]] + errors(values[1:], rewards[1:])

def horizon(lam):
    return 0 if lam == 0 else max(0, math.ceil(math.log(0.1) / math.log(lam)) - 1)

def horizon(lam):
    return int(np.flatnonzero(lam ** np.arange(1000) > 0.1)[-1])

def horizon(lam, share=1):
    return -1 if share <= 0.1 else 1 + horizon(lam, share * lam)

def horizon(lam):
    return next(k for k in itertools.count() if not lam ** (k + 1) > 0.1)

def weighted_error(errors, lam):
    total = 0
    for error in reversed(errors):
        total = error + lam * total
    return total

def weighted_error(errors, lam):
    return np.dot(errors, np.power(float(lam), range(len(errors))))

def weighted_error(errors, lam):
    return errors[0] + lam * weighted_error(errors[1:], lam) if errors else 0

def weighted_error(errors, lam):
    return functools.reduce(lambda rest, error: error + lam * rest, errors[::-1], 0)

def learn_online(values, past, lam, alpha, h):
    *_, (_, error) = past
    share = alpha * error / values.lookups_per_board
    for name, _ in reversed(past[-(h + 1):]):
        values.add(name, share)
        share *= lam
    return values

def learn_online(values, past, lam, alpha, h):
    rate, n = alpha / values.lookups_per_board, len(past)
    for i in range(max(0, n - h - 1), n):
        values.add(past[i][0], np.float64(rate * lam ** (n - 1 - i) * past[-1][1]))

def learn_delayed(values, waiting, lam, alpha, h, over):
    queue = collections.deque(waiting)
    while queue and (over or len(queue) >= h + 1):
        total = sum(lam**k * error for k, (_, error) in enumerate(queue))
        values.add(queue.popleft()[0], alpha * total / values.lookups_per_board)
    return queue

def learn_delayed(values, waiting, lam, alpha, h, over):
    due = len(waiting) if over else max(0, len(waiting) - h)
    for i in reversed(range(due)):
        total = weighted_error([error for _, error in waiting[i:]], lam)
        values.add(waiting[i][0], alpha / values.lookups_per_board * total)
    return [list(pair) for pair in waiting[due:]]
"""
HEAD = "import collections, functools, itertools, math\nimport numpy as np\n"


@pytest.mark.parametrize("text", handins.answers(RIGHT))
def test_right_answers_pass_whatever_their_style(text):
    result = handins.check_answer("hw05", HEAD + text)
    assert result.passed and not set(result.stood_in) - {"weighted_error"}


def by_logarithm(lam):
    return max(0, math.ceil(math.log(0.1) / math.log(lam)) - 1)


STRANGE = [
    "3", "nan", "'AB'", "[[1], [2]]", "(1, [2, 3])",
    "[('A', 1, 2)]", "[None]", "{}", "np.array(3)", "1j",
    "np.array('x')", "(x for x in [1])", "True", "object()", "Same()", "[Same()] * 4", "10 ** 400",
]  # fmt: skip
SAME = """
from math import nan
class Same(float):
    __eq__ = __ge__ = lambda *_: True
    __hash__ = float.__hash__
    __repr__ = lambda self: 1 / 0
"""


@pytest.mark.parametrize("function", ["errors", "horizon", "weighted_error", "learn_delayed"])
def test_a_strange_answer_is_wrong_and_no_fault_of_the_check(function):
    for strange in ("None", *STRANGE):
        text = f"def {find(f'hw05.{function}').call}:\n    return {strange}\n"
        result = handins.check_answer("hw05", HEAD + SAME + text)
        assert result.status == "failed" and "fault of the check" not in result.reason, strange


def test_the_form_of_an_answer_is_named():
    for key, edits in {"nothing": ("return waiting", "return None"),
                       "no_pairs": ("return waiting", "return 3")}.items():  # fmt: skip
        handins.said("hw05", "learn_delayed", edits, key)
    handins.said("hw05", "horizon", ("return h", "return h / 1"), "float")
    handins.said("hw05", "errors", ("return ", ""), "returned_none")
    handins.said("hw05", "horizon", by_logarithm, "logarithm_of_zero")
    assert (
        "not subscriptable"
        in handins.check_changed(
            "hw05.learn_online", ("values.add(afterstate, ", "values[afterstate] += (")
        ).reason
    )


def test_an_answer_that_changes_its_lists_is_told_so():
    popped = "[past.pop() for _ in range(min(h + 1, len(past)))]"
    handins.said("hw05", "learn_online", ("past[::-1][: h + 1]", popped), "mutated")
    handins.said("hw05", "learn_delayed", ("waiting = waiting[1:]", "del waiting[0]"), "mutated")


def test_the_horizon_is_the_loops():
    for lam in (0, 0.05, 0.3, 0.5, 0.8, 0.9, 0.99):
        assert hw05.horizon(lam) == rules.horizon(lam)


def play(network, learn, seed):
    past, previous = [], None
    board, random = initial(stream(seed, 0))

    def value(afterstate):
        return np.float32(network.value(afterstate))

    while options := afterstates(board):
        _, after, reward = max(options, key=lambda o: np.float32(o[2] + value(o[1])))
        if previous is not None:
            error = np.float32(reward) + value(after) - value(previous)
            past = learn(network, [*past, (previous, error)], False)
        previous, (board, random) = after, spawn(after, random)
    learn(network, [*past, (previous, -value(previous))], True)


def online(network, past, over):
    hw05.learn_online(network, past, 0.5, 0.125, 3)
    return past


def delayed(network, past, over):
    return hw05.learn_delayed(network, past, 0.5, 0.125, 3, over)


@pytest.mark.parametrize("learn", [online, delayed])
def test_the_labs_versions_learn_what_the_loop_learns(learn):
    mine, theirs = Network("4-22"), Network("4-22")
    play(mine, learn, seed=3)
    how = {"alpha": 0.125, "lam": 0.5, "delay": learn is delayed}
    train(theirs, **how, games=1, lanes=1, seed=3, progress=False)
    assert np.allclose(mine.weights, theirs.weights, atol=1e-4)
    assert theirs.weights.max() > 1
