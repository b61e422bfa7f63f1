"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import handins
import pytest

from lib2048 import afterstates
from lib2048.course import labs
from lib2048.course.labs import checks
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


def deeper_of_afterstates(afterstate, value):
    return expected(afterstate, lambda state: best(state, value))


def deeper_to_death(afterstate, value):
    def answer(state):
        worths = [reward + expected(after, value) for _, after, reward in afterstates(state)]
        return max(worths, default=-3.4028234663852886e38)

    return expected(afterstate, answer)


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


def test_each_part_of_the_repair_sees_its_own_slip():
    handins.said("hw08", "deeper", deeper_to_death, "dead_end", "dead ends")
    handins.said("hw08", "deeper", deeper_of_afterstates, "afterstates", "states")
    assert labs.check("hw08.deeper", deeper_to_death, part="states").passed
    assert labs.check("hw08.deeper", deeper_of_afterstates, part="dead ends").passed
