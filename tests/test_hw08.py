"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import numpy as np
import pytest

from lib2048 import afterstates
from lib2048.course import labs
from lib2048.course.labs import checks
from lib2048.course.labs.messages import say


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def with_tile(board, cell, exponent):
    return board | np.uint64(exponent << 4 * cell)


# ---------------------------------------------------------------- best


def best(state, value):
    most = 0
    for number, (_action, after, reward) in enumerate(afterstates(state)):
        worth = reward + value(after)
        if number == 0 or worth > most:
            most = worth
    return most


# ---------------------------------------------------------------- expected


def expected(afterstate, worth):
    total, cells = 0.0, 0
    for cell in range(16):
        if (int(afterstate) >> 4 * cell) % 16 == 0:
            cells += 1
            total += 0.9 * worth(with_tile(afterstate, cell, 1))
            total += 0.1 * worth(with_tile(afterstate, cell, 2))
    return total / cells


# ---------------------------------------------------------------- ahead


def ahead(afterstate, plies, value):
    if plies > 0:
        return expected(afterstate, lambda s: best(s, lambda a: ahead(a, plies - 1, value)))
    return value(afterstate)


# ---------------------------------------------------------------- choose


def choose(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + ahead(after, plies - 1, value)
        if most is None or worth >= most:  # the last of equals
            action, most = a, worth
    return action


# ---------------------------------------------------------------- deeper


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


# ---------------------------------------------------------------- tabled


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


RIGHT = {
    "best": best, "expected": expected, "ahead": ahead, "choose": choose, "deeper": deeper,
    "tabled": tabled,
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_passes(name):
    result = labs.check(f"hw08.{name}", RIGHT[name])
    assert result.passed and not result.stood_in


def test_each_part_of_the_repair_sees_its_own_slip():
    for part, wrong in ("dead ends", deeper_to_death), ("states", deeper_of_afterstates):
        other = "states" if part == "dead ends" else "dead ends"
        key = {deeper_to_death: "dead_end", deeper_of_afterstates: "afterstates"}[wrong]
        assert labs.check("hw08.deeper", wrong, part=part).reason == say(f"hw08.deeper.{key}")
        assert labs.check("hw08.deeper", wrong, part=other).passed


def test_any_of_several_equally_good_actions_will_do():
    def last(board, plies, value):
        worths = {a: r + ahead(after, plies - 1, value) for a, after, r in afterstates(board)}
        return max(reversed(worths), key=worths.get)

    assert labs.check("hw08.choose", last).passed
