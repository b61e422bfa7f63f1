"""Budgets of lessons: how much fits into the time, and the one factor on all of them."""

import pytest
from learners import SMALL

from lib2048 import Network
from lib2048.course import actions_in, as_written, budget
from lib2048.machine import kernels


def test_actions_in_a_budget_grow_with_it_and_learn_nothing():
    network = Network(SMALL)
    few, many = actions_in(0.01, network), actions_in(100, network)
    assert 0 < few < many and not network.weights.any()
    assert many % 10 ** (len(str(many)) - 2) == 0  # two digits


@pytest.fixture
def plain(monkeypatch):
    """No variable is set that changes budgets; return the monkeypatch."""
    for name in ("LIB2048_QUICK", "LIB2048_BUDGET"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


BUDGETS = [
    ({}, 1000, 2.5, True),
    ({"LIB2048_QUICK": "1"}, 10, 0.1, False),
    ({"LIB2048_BUDGET": "2"}, 2000, 5.0, True),
    ({"LIB2048_BUDGET": "0.5"}, 500, 1.25, False),
]


@pytest.mark.parametrize("variables, games, seconds, written", BUDGETS)
def test_a_budget_is_the_lessons_the_tests_or_scaled(plain, variables, games, seconds, written):
    for name, value in variables.items():
        plain.setenv(name, value)
    assert (budget(1000, 10), budget(2.5, 0.1)) == (games, seconds) and as_written() == written
    assert type(budget(3, 1)) is int and budget(1, 1) >= 1


@pytest.mark.parametrize("factor", ["0", "-1", "fast", "nan", "inf", ""])
def test_a_factor_that_makes_no_sense_is_refused_in_one_line(plain, refused, factor):
    plain.setenv("LIB2048_BUDGET", factor)
    refused(lambda: budget(1000, 10), "LIB2048_BUDGET")


def test_too_few_actions_are_said_and_marked(plain, capsys):
    kernels.say.cache_clear()
    enough = actions_in(0.01, Network(SMALL), floor=10)
    assert enough.enough and not capsys.readouterr().err
    few = actions_in(0.01, Network(SMALL), floor=10**12)
    said = capsys.readouterr().err
    assert not few.enough and f"{few:,} actions" in said and "1,000,000,000,000" in said
