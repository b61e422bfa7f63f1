"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import handins
import numpy as np
import pytest

from lib2048 import afterstates
from lib2048.course import labs
from lib2048.course.labs import checks


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def with_tile(board, cell, exponent):
    return board | np.uint64(exponent << 4 * cell)


def best(state, value):
    most = 0
    for number, (_action, after, reward) in enumerate(afterstates(state)):
        worth = reward + value(after)
        if number == 0 or worth > most:
            most = worth
    return most


def expected(afterstate, worth):
    total, cells = 0.0, 0
    for cell in range(16):
        if (int(afterstate) >> 4 * cell) % 16 == 0:
            cells += 1
            total += 0.9 * worth(with_tile(afterstate, cell, 1))
            total += 0.1 * worth(with_tile(afterstate, cell, 2))
    return total / cells


def ahead(afterstate, plies, value):
    if plies > 0:
        return expected(afterstate, lambda s: best(s, lambda a: ahead(a, plies - 1, value)))
    return value(afterstate)


def choose(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + ahead(after, plies - 1, value)
        if most is None or worth >= most:  # the last of equals
            action, most = a, worth
    return action


def deeper(afterstate, value):
    def answer(state):
        options = afterstates(state)
        return max(r + expected(a, value) for _, a, r in options) if options else 0.0

    return expected(afterstate, answer)


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


RIGHT = [best, expected, ahead, choose, deeper, tabled]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_a_right_answer_passes(function):
    result = labs.check(f"hw08.{function.__name__}", function)
    assert result.passed and not result.stood_in


def test_each_part_of_the_repair_sees_its_own_slip():
    handins.said("hw08", "deeper", deeper_to_death, "dead_end", "dead ends")
    handins.said("hw08", "deeper", deeper_of_afterstates, "afterstates", "states")
    assert labs.check("hw08.deeper", deeper_to_death, part="states").passed
    assert labs.check("hw08.deeper", deeper_of_afterstates, part="dead ends").passed
