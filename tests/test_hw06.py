"""hw06: typical wrong answers of students, and the lab's rule beside the library's."""

import numpy as np
import pytest

from lib2048 import Network, train
from lib2048.course import labs
from lib2048.course.labs import hw06
from lib2048.course.labs.messages import say

# ---------------------------------------------------------------- answers of students


def not_in_bars(E, A):
    return 1 if A == 0 else E / A


def fresh_ones_rest(E, A):
    if A > 0:
        return abs(E) / A
    return 0


def always_below_one(E, A):
    return 1.0 if A == 0 else 1 - abs(E) / A


def divides_by_nothing(E, A):
    return abs(E) / A


def tc_rate(E, A):
    raise NotImplementedError


def with_its_helper(weights, memory, positions, error, rate):
    for p in positions:
        weights[p] += rate * tc_rate(memory[2 * p], memory[2 * p + 1]) * error
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)


def right_rate(E, A):
    if A == 0:
        return 1
    return abs(E) / A


def with_its_own_helper(weights, memory, positions, error, rate):
    for k in range(len(positions)):
        e, a = 2 * positions[k], 2 * positions[k] + 1
        weights[positions[k]] += rate * error * right_rate(memory[e], memory[a])
        memory[e] += error
        memory[a] += abs(error)


def memory_first(weights, memory, positions, error, rate):
    for p in positions:
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)
        weights[p] += rate * error * abs(memory[2 * p]) / memory[2 * p + 1]


def bars_forgotten(weights, memory, positions, error, rate):
    for p in positions:
        own = 1.0
        if memory[2 * p + 1] > 0:
            own = memory[2 * p] / memory[2 * p + 1]
        weights[p] += own * rate * error
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)


def one_sum(weights, memory, positions, error, rate):
    for p in positions:
        own = right_rate(memory[2 * p], memory[2 * p + 1])
        weights[p] += own * rate * error
        memory[2 * p] += error
        memory[2 * p + 1] = abs(memory[2 * p])


def shared_again(weights, memory, positions, error, rate):
    for p in positions:
        own = right_rate(memory[2 * p], memory[2 * p + 1])
        weights[p] += own * rate * error / len(positions)
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)


def fresh_weights_rest(weights, memory, positions, error, rate):
    for p in positions:
        if memory[2 * p + 1] > 0:
            weights[p] += rate * error * abs(memory[2 * p]) / memory[2 * p + 1]
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)


def returns_the_weights(weights, memory, positions, error, rate):
    with_its_own_helper(weights, memory, positions, error, rate)
    return weights


def does_not_compile(weights, memory, positions, error, rate):
    for p in positions:
        old = dict(E=memory[2 * p], A=memory[2 * p + 1])  # noqa: C408  numba knows no keywords here
        weights[p] += rate * error * right_rate(old["E"], old["A"])
        memory[2 * p] += error
        memory[2 * p + 1] += abs(error)


def only_the_sum_grows(errors, rate):
    E, A, count = sum(errors), sum(map(abs, errors)), 0
    while abs(E) / A < rate:
        E, count = E + 1, count + 1
    return count


def one_more_than_needed(errors, rate):
    E, A, count = sum(errors), sum(map(abs, errors)), 0
    while abs(E) / A <= rate:
        E, A, count = E + 1, A + 1, count + 1
    return count


def number_of_errors(errors, rate):
    E, A, count = sum(errors), len(errors), 0
    while abs(E) / A < rate:
        E, A, count = E + 1, A + 1, count + 1
    return count


def never_ends(errors, rate):
    E, A, count = sum(errors), sum(map(abs, errors)), 0
    while abs(E) / A < rate or True:
        count += 1
    return count


def all_in_every_weight(tables, points):
    return [[points for _ in table] for table in tables]


def among_the_tuples(tables, points):
    return [[weight + points / len(tables) for weight in table] for table in tables]


def among_the_weights(tables, points):
    count = sum(len(table) for table in tables)
    return [[points / count for _ in table] for table in tables]


def in_place(tables, points):
    for table in tables:
        for k in range(len(table)):
            table[k] = points / 8 / len(tables)


WRONG = {
    not_in_bars: "tc_rate.no_bars",
    fresh_ones_rest: "tc_rate.zero",
    always_below_one: "tc_rate.one_less",
    memory_first: "update.own_say",
    bars_forgotten: "update.no_bars",
    one_sum: "update.size_of_sum",
    shared_again: "update.shared_twice",
    fresh_weights_rest: "update.fresh_zero",
    returns_the_weights: "update.returns",
    only_the_sum_grows: "until_awake.only_E",
    one_more_than_needed: "until_awake.one_late",
    number_of_errors: "until_awake.counted",
    all_in_every_weight: "optimistic_start.all_of_it",
    among_the_tuples: "optimistic_start.no_images",
    among_the_weights: "optimistic_start.by_size",
    in_place: "optimistic_start.nothing",
}


@pytest.mark.parametrize("answer, key", WRONG.items(), ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_answer_gets_its_hint(answer, key):
    result = labs.check(f"hw06.{key.partition('.')[0]}", answer)
    assert (result.status, result.reason) == ("failed", say(f"hw06.{key}"))


def test_what_numba_cannot_compile_is_said():
    result = labs.check("hw06.update", does_not_compile)
    assert result.status == "failed" and "numba cannot compile" in result.reason


def test_errors_and_loops_are_told(monkeypatch):
    assert "ZeroDivisionError" in labs.check("hw06.tc_rate", divides_by_nothing).reason
    monkeypatch.setattr(labs.checks, "SECONDS", 3)
    assert "is there a loop" in labs.check("hw06.until_awake", never_ends).reason


def test_other_right_answers_pass_with_a_helper_of_their_own_or_the_librarys():
    assert labs.check("hw06.update", with_its_own_helper).stood_in == []
    result = labs.check("hw06.update", with_its_helper)
    assert result.passed and result.stood_in == ["tc_rate"]


def stub(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("name", ["tc_rate", "update", "until_awake", "optimistic_start"])
def test_stubs_are_not_attempted(name):
    assert labs.check(f"hw06.{name}", stub).status == "not attempted"


# ---------------------------------------------------------------- beside the library


def test_the_labs_update_is_the_librarys():
    mine = Network("cells:0123,4567").with_functions(update=hw06.update, rule="tc")
    theirs = Network("cells:0123,4567")
    for network in (mine, theirs):
        train(network, rule="tc", games=1, lanes=1, seed=3, progress=False)
    assert np.allclose(mine.weights, theirs.weights, atol=1e-4) and theirs.weights.max() > 1


def test_the_labs_start_is_the_librarys_optimism():
    network, points = Network("cells:012,456"), 1000
    for number, table in enumerate(hw06.optimistic_start([[0.0] * 16**3] * 2, points)):
        network.set_table(number, np.array(table, np.float32))
    assert np.isclose(network.value(0), Network("cells:012,456", optimistic=points).value(0))


@pytest.mark.parametrize(
    ("friend", "end"), [("fresh rests", -8 / 3), ("only signs", 2), ("forgets", 10 / 7)]
)
def test_a_friend_has_changed_one_line(friend, end):
    weights, memory = np.zeros(1, np.float32), np.zeros(2, np.float32)
    for error in (4, -2, -2):  # TC ends at 4 − 2 − 2/3
        hw06.FRIENDS[friend](weights, memory, np.zeros(1, np.uint32), np.float32(error), 1)
    assert np.isclose(weights[0], end)
    assert labs.check("hw06.update", hw06.FRIENDS[friend]).status == "failed"
