"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import functools
import itertools

import handins
import numpy as np
import pytest

from lib2048 import afterstates, from_tiles, to_exponents
from lib2048.course import labs
from lib2048.course.labs import checks, hw08


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def choose(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + hw08.ahead(after, plies - 1, value)
        if most is None or worth >= most:  # the last of equals
            action, most = a, worth
    return action


def tabled(afterstate, plies, value, table):
    if (plies, afterstate) in table:
        return table[plies, afterstate]
    if plies == 0:
        answer = value(afterstate)
    else:
        below = lambda after: tabled(after, plies - 1, value, table)  # noqa: E731
        answer = hw08.expected(afterstate, lambda state: hw08.best(state, below))
    table[plies, afterstate] = answer
    return answer


def best(state, value):
    most = None
    for _, after, reward in afterstates(state):
        if most is None or reward + value(after) > most:
            most = reward + value(after)
    return hw08.DEAD if most is None else most


def expected(afterstate, worth):
    cells = np.flatnonzero(to_exponents(afterstate) == 0)
    boards = [[afterstate | np.uint64(e << int(4 * cell)) for e in (1, 2)] for cell in cells]
    return np.mean([np.average([*map(worth, two)], weights=[0.9, 0.1]) for two in boards])


def ahead(afterstate, plies, value):
    if plies < 1:
        return value(afterstate)
    total, empty = 0, [cell for cell in range(16) if not int(afterstate) >> 4 * cell & 15]
    for cell, (exponent, chance) in itertools.product(empty, ((1, 0.9), (2, 0.1))):
        options = afterstates(afterstate | np.uint64(exponent << 4 * cell))
        worths = [reward + ahead(after, plies - 1, value) for _, after, reward in options]
        total += chance / len(empty) * (max(worths) if worths else 0)
    return total


def deeper(afterstate, value):
    return expected(afterstate, lambda s: best(s, functools.partial(expected, worth=value)))


RIGHT = [best, expected, ahead, choose, deeper, tabled]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_a_right_answer_passes(function):
    result = labs.check(f"hw08.{function.__name__}", function)
    assert result.passed, result


def test_any_of_several_equally_good_actions_will_do():
    square = from_tiles([[2, 0, 0, 2], [0] * 4, [0] * 4, [2, 0, 0, 2]])
    case = square, 1, lambda board: 0.0
    assert choose(*case) != hw08.choose(*case)
    told = {hw08.first_choice(case, function(*case)) for function in (choose, hw08.choose)}
    assert len(told) == 1


def test_each_value_function_is_asked_with_a_table_of_its_own():
    case = from_tiles(hw08.CORNERS), (0, 1), (hw08.FIFTY, hw08.FAR), {}
    answers, _ = hw08.kept(case, hw08.answered(hw08.tabled, *case))
    assert answers[0] == 50 and answers[2] == -20_000


def test_what_is_asked_of_a_table_is_said_in_words():
    case = from_tiles(hw08.CORNERS), (1, 2, 0), (hw08.FIFTY,), {}
    assert hw08.asked(case)["asked in turn"] == "for 1, 2 and 0 plies"


WRONG = [
    ("choose", "dead_end", "default=None", "default=0"),
    ("choose", "no_action", "    return max", "    max"),
    ("choose", "no_action", "return max(worth, key=worth.get", "return max(worth.values()"),
    ("choose", "before", "reward + ahead(after, plies - 1, value)", "reward"),
    ("best", "returned_none", "default=DEAD", "default=None"),
    ("best", "dead_value", "default=DEAD", "default=value(state)"),
    ("best", "dead", "default=DEAD", "default=-1"),
    ("best", "order", "_, after, reward", "after, reward, _"),
    ("ahead", "no_max", "best(state, lambda after: ahead(after, plies - 1, value))",
     "ahead(state, plies - 1, value)"),
    ("ahead", "discounted", "return expected(", "return 0.99 * expected("),
    ("deeper", "both", "return expected(afterstate, lambda state: best(state, lambda after: "
     "expected(after, value)))", "return expected(afterstate, lambda state: max([-3.4e38, "
     "*(r + value(after) for _, after, r in afterstates(state))]))"),
    ("tabled", "zero", "if key not in table:", "if not table.get(key):"),
    ("tabled", "no_return", "    return table[key]\n", ""),
    ("ahead", "one_ply", "plies - 1", "0"),
]  # fmt: skip


@pytest.mark.parametrize("name, key, old, new", WRONG)
def test_a_wrong_answer_gets_its_hint(name, key, old, new):
    handins.said("hw08", name, (old, new), key)
