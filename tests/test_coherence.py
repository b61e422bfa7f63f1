"""What rules make of the errors of one weight, and a coin's signs beside the true ones."""

import numpy as np
import pytest

from lib2048 import Network, Run, Settings
from lib2048.course import by_visits, coherence, one_weight, table_one
from lib2048.course.labs import hw06

pytestmark = pytest.mark.ci

NETWORK, ACTIONS = "cells:0145,012", 20_000


@pytest.mark.parametrize("errors", [[1, 1, -1], [10, -1, -1], [-4, -4, 2], [5, -5, 3]])
def test_tc_on_one_weight_is_the_rule_of_the_lab(errors):
    weights, memory = np.zeros(1, np.float32), np.zeros(2, np.float32)
    rows = []
    for error in errors:
        hw06.update(weights, memory, [0], np.float32(error), np.float32(1))
        rows.append([weights[0], *memory, hw06.tc_rate(*memory)])
    told = one_weight(errors)
    assert np.allclose(told[["weight", "E", "A", "rate"]].to_numpy(), rows)
    assert np.allclose(told.moved.cumsum(), told.weight) and told.error.tolist() == errors


def test_td_moves_by_its_rate():
    assert np.allclose(one_weight([1, 1, -1], "td").weight, [0.1, 0.2, 0.1])
    assert np.allclose(one_weight([1, 1, -1], "td", rate=0.5).weight, [0.5, 1, 0.5])


def test_autosteps_step_follows_the_sign_of_error_times_trace():
    told = one_weight([1, 1, 1, -1, -1, -1, -1], "autostep", rate=0.1)
    before = told.shift(fill_value=0)
    agree = np.sign(told.error * before.h)
    change = np.log(told.step / before.step.replace(0, 1 / 8))
    assert agree[1] == 0 and np.array_equal(np.sign(change.round(6)), agree)
    assert (abs(change) < 0.1 + 1e-6).all()
    assert np.allclose(told.h, before.h * (1 - told.step) + told.step * told.error)


def test_targets_are_what_the_weight_should_be():
    told = one_weight([5, 5], targets=True)
    assert told.error.tolist() == [5, 0] and told.weight.tolist() == [5, 5]
    assert told.rate.tolist() == [1, 1]


def test_a_weight_without_a_history_has_rate_1():
    assert one_weight([0]).rate.tolist() == [1]


def test_a_rule_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="unknown rule 'sgd'"):
        one_weight([1], "sgd")


@pytest.fixture(scope="module")
def weights():
    return coherence(NETWORK, ACTIONS, progress=False)


def test_rates_are_those_of_tc(weights):
    run = Run(Settings(network=NETWORK, rule="tc"))
    run.go(actions=ACTIONS, progress=False)
    E, A = (run.memory[name].flat for name in "EA")
    assert np.array_equal(weights.rate, abs(E[A > 0]) / A[A > 0])


def test_visits_are_the_lookups_of_all_that_was_learned(weights):
    boards = weights.visits.sum() / Network(NETWORK).lookups_per_board
    assert 0.999 * ACTIONS < boards <= ACTIONS  # a weight that met errors of 0 only is left out


def test_a_coins_signs_cancel_as_independent_ones_do(weights):
    once = weights.visits == 1
    assert (weights.coin[once] == 1).all() and (weights.coin <= 1 + 1e-6).all()
    twice = weights[weights.visits == 2]  # equal signs make 1, and they come half of the time
    assert 0.4 < (twice.coin > 1 - 1e-6).mean() < 0.6


def test_a_coin_comes_twice_alike(weights):
    assert weights.equals(coherence(NETWORK, ACTIONS, progress=False))


def test_medians_go_by_doublings_of_the_visits(weights):
    middle = by_visits(weights, least=10)
    some = weights[weights.visits.between(4, 7)]
    assert middle.loc[2].tolist() == some.median().tolist()
    assert by_visits(weights, least=len(weights)).empty


def test_table_one_has_every_row_of_the_paper():
    table = table_one()
    assert len(table) == 13 and table.columns.name == "12 comparisons with tc_1.0"
    assert table.verdict.isna().tolist() == (table.index == "tc_1.0").tolist()
    assert table.paper_3ply["td_0.5"] == 196_138
    assert not table.drop(columns="verdict").isna().any(axis=None)


def test_table_one_takes_tc_from_three_seeds():
    row = table_one().loc["tc_1.0"]
    assert np.isclose(row.late_1ply, np.mean([135011.9, 133592.6, 143753.6]))
    assert np.isclose(row.late_3ply, np.mean([211206.3, 197384.0, 204944.6]))
