"""hw05: the lab's rule beside the compiled loop."""

import handins
import numpy as np
import pytest

from lib2048 import Network, afterstates, initial, spawn, stream, train
from lib2048.course.labs import hw05
from lib2048.learn import rules


def test_what_a_student_may_not_do_with_values_is_said():
    edits = ("values.add(afterstate, ", "values[afterstate] += (")
    assert "not subscriptable" in handins.check_changed("hw05.learn_online", edits).reason


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


@pytest.mark.parametrize("kept", ["dict.fromkeys(errors)", "(e for e in errors if e)"])
def test_equal_errors_and_zeros_count_each(kept):
    new = f"enumerate({kept})"
    assert (
        handins.check_changed("hw05.weighted_error", ("enumerate(errors)", new)).status == "failed"
    )
