"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import pytest

from lib2048 import afterstates, from_tiles
from lib2048.course import labs
from lib2048.course.labs import checks, hw08
from lib2048.course.labs.hw08 import ahead, best, expected


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def choose(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + ahead(after, plies - 1, value)
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
        answer = expected(afterstate, lambda state: best(state, below))
    table[plies, afterstate] = answer
    return answer


RIGHT = [choose, tabled]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_a_right_answer_passes(function):
    assert labs.check(f"hw08.{function.__name__}", function).passed


def test_any_of_several_equally_good_actions_will_do():
    square = from_tiles([[2, 0, 0, 2], [0] * 4, [0] * 4, [2, 0, 0, 2]])
    case = square, 1, lambda board: 0.0
    assert choose(*case) != hw08.choose(*case)
    assert hw08.chosen(choose, *case) == hw08.chosen(hw08.choose, *case)
