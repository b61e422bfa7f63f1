"""hw05: typical wrong answers of students, and the lab's rule beside the compiled loop."""

import math

import numpy as np
import pytest

from lib2048 import Network, afterstates, initial, spawn, stream, train
from lib2048.course import labs
from lib2048.course.labs import hw05
from lib2048.course.labs.messages import say
from lib2048.learn import rules

# ---------------------------------------------------------------- answers of students


def without_the_end(values, rewards):
    found = []
    for t in range(len(values) - 1):
        found.append(rewards[t + 1] + values[t + 1] - values[t])
    return found


def with_its_own_reward(values, rewards):
    values = list(values) + [0]
    return [rewards[t] + values[t + 1] - values[t] for t in range(len(rewards))]


def the_other_way_round(values, rewards):
    values, rewards = values + [0], rewards + [0]
    return [values[t] - values[t + 1] - rewards[t + 1] for t in range(len(values) - 1)]


def not_taught_the_end(values, rewards):
    found = without_the_end(values, rewards)
    found.append(0)
    return found


def as_an_array(values, rewards):
    values, rewards = np.append(values, 0), np.append(rewards, 0)
    return rewards[1:] + values[1:] - values[:-1]


def rounded_up(lam):
    return math.ceil(math.log(0.1) / math.log(lam)) if lam else 0


def shares_counted(lam):
    share, count = 1.0, 0
    while share > 0.1:
        share, count = share * lam, count + 1
    return count


def down_to_a_hundredth(lam):
    h = 0
    while lam ** (h + 1) > 0.01:
        h = h + 1
    return h


def logarithm_of_nothing(lam):
    return math.ceil(math.log(0.1, lam)) - 1


def horner_from_the_front(errors, lam):
    total = 0
    for error in errors:
        total = lam * total + error
    return total


def from_lambda_on(errors, lam):
    total, share = 0, lam
    for error in errors:
        total, share = total + share * error, share * lam
    return total


def as_in_the_lambda_return(errors, lam):
    return sum((1 - lam) * lam**k * errors[k] for k in range(len(errors)))


def horner(errors, lam):
    total = 0
    for error in reversed(errors):
        total = error + lam * total
    return total


def whole_rate(values, past, lam, alpha, h):
    share = alpha
    for afterstate, _ in list(reversed(past))[: h + 1]:
        values.add(afterstate, share * past[-1][1])
        share = share * lam


def h_instead_of_one_more(values, past, lam, alpha, h):
    for k in range(min(h, len(past))):
        share = alpha * lam**k / values.lookups_per_board
        values.add(past[-1 - k][0], share * past[-1][1])


def each_its_own(values, past, lam, alpha, h):
    for k in range(min(h + 1, len(past))):
        afterstate, error = past[-1 - k]
        values.add(afterstate, alpha / values.lookups_per_board * lam**k * error)


def forward(values, past, lam, alpha, h):
    recent = past[-h - 1 :]
    for k in range(len(recent)):
        values.add(recent[k][0], alpha / values.lookups_per_board * lam**k * past[-1][1])


def popping(values, past, lam, alpha, h):
    share, error = alpha / values.lookups_per_board, past[-1][1]
    while past and h >= 0:
        values.add(past.pop()[0], share * error)
        share, h = share * lam, h - 1


def no_end(values, waiting, lam, alpha, h, over):
    if len(waiting) <= h:
        return waiting
    total = horner([error for _, error in waiting], lam)
    values.add(waiting[0][0], alpha * total / values.lookups_per_board)
    return waiting[1:]


def last_one_forgotten(values, waiting, lam, alpha, h, over):
    while len(waiting) > h or (over and len(waiting) > 1):
        total = horner([error for _, error in waiting], lam)
        values.add(waiting[0][0], alpha * total / values.lookups_per_board)
        waiting = waiting[1:]
    return [] if over else waiting


def one_too_early(values, waiting, lam, alpha, h, over):
    while waiting and (over or len(waiting) >= max(1, h)):
        total = horner([error for _, error in waiting], lam)
        values.add(waiting[0][0], alpha * total / values.lookups_per_board)
        waiting = waiting[1:]
    return waiting


def td0_late(values, waiting, lam, alpha, h, over):
    waiting = list(waiting)
    while len(waiting) > h or (over and waiting):
        afterstate, error = waiting.pop(0)
        values.add(afterstate, alpha * error / values.lookups_per_board)
    return waiting


def in_place(values, waiting, lam, alpha, h, over):
    while len(waiting) > h or (over and waiting):
        total = horner([error for _, error in waiting], lam)
        values.add(waiting.pop(0)[0], alpha * total / values.lookups_per_board)
    return waiting


WRONG = {
    without_the_end: "errors.no_end",
    with_its_own_reward: "errors.own_reward",
    the_other_way_round: "errors.sign",
    not_taught_the_end: "errors.end_zero",
    rounded_up: "horizon.one_more",
    shares_counted: "horizon.one_more",
    down_to_a_hundredth: "horizon.hundredth",
    horner_from_the_front: "weighted_error.backwards",
    from_lambda_on: "weighted_error.one_late",
    as_in_the_lambda_return: "weighted_error.shares",
    whole_rate: "learn_online.not_split",
    h_instead_of_one_more: "learn_online.one_short",
    each_its_own: "learn_online.own_error",
    forward: "learn_online.oldest_most",
    popping: "learn_online.mutated",
    no_end: "learn_delayed.no_flush",
    last_one_forgotten: "learn_delayed.last_forgotten",
    one_too_early: "learn_delayed.too_early",
    td0_late: "learn_delayed.own_error",
    in_place: "learn_delayed.mutated",
}


@pytest.mark.parametrize("answer, key", WRONG.items(), ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_answer_gets_its_hint(answer, key):
    result = labs.check(f"hw05.{key.partition('.')[0]}", answer)
    assert (result.status, result.reason) == ("failed", say(f"hw05.{key}"))


def test_other_right_answers_pass():
    assert labs.check("hw05.errors", as_an_array).passed
    assert labs.check("hw05.weighted_error", horner).passed


def test_an_error_is_told_as_such():
    assert "raised" in labs.check("hw05.horizon", logarithm_of_nothing).reason  # λ = 0


def stub(*arguments):
    raise NotImplementedError


def learn_online(values, past, lam, alpha, h):
    raise NotImplementedError


def learn_delayed(values, waiting, lam, alpha, h, over):
    raise NotImplementedError


def test_stubs_are_not_attempted():
    for name in ("errors", "horizon", "weighted_error"):
        assert labs.check(f"hw05.{name}", stub).status == "not attempted"
    assert labs.check("hw05.4", learn_online).status == "not attempted"
    assert labs.check("hw05.5", learn_delayed).status == "not attempted"


# ---------------------------------------------------------------- beside the loop


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
    train(
        theirs,
        alpha=0.125,
        lam=0.5,
        delay=learn is delayed,
        games=1,
        lanes=1,
        seed=3,
        progress=False,
    )
    assert np.allclose(mine.weights, theirs.weights, atol=1e-4)
    assert theirs.weights.max() > 1
