"""The one loop against a plain-Python learner, bit for bit, and the identities it must keep."""

import numpy as np
import pytest
from learners import (
    FOREVER,
    ORDERS,
    bits,
    compare_with_plain,
    games_on,
    plain_twin,
    same_numbers,
    scattered,
    tables_of,
)
from reference import IMAGES, Learner, PlainNetwork, number, outcomes, tiles
from tiers import one_in

from lib2048 import from_tiles
from lib2048.learn.games import choose_action, functions_of
from lib2048.learn.rules import horizon
from lib2048.networks.network import FORMS, Network
from lib2048.play.evaluation import record_game
from lib2048.play.players import NetworkPlayer

SMALL = "cells:0123,4567"
PAIRED = "cells:0124,0125,456,3"  # a pair of tables, other lengths, a single cell
SHORT = "cells:012,345"


# ---------------------------------------------------------------- against plain Python

WAYS = [
    (SMALL, {}),
    (PAIRED, {}),
    (SHORT, {"lanes": 1}),
    (SHORT, {"rule": "tc", "rate": 1.0}),
    (PAIRED, {"error": "remembered", "rate": 0.1}),  # 0.5 diverges
    (PAIRED, {"error": "remembered", "rate": 0.1, "rule": "tc"}),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name, how", WAYS, ids=str)
def test_learning_is_the_plain_learners_bit_for_bit(name, how, form, order):
    compare_with_plain(Network(name, form), order=order, **how)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", ORDERS)
def test_an_optimistic_start_is_the_plain_learners(form, order):
    compare_with_plain(Network(SHORT, form, optimistic=5000.0), order=order)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
@pytest.mark.parametrize("decay", one_in(2, [0.5, 0.95]))
def test_lambda_is_the_plain_learners_bit_for_bit(form, rule, delay, decay):
    compare_with_plain(Network("cells:0123,456", form), rule=rule, decay=decay, delay=delay)


@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
def test_a_remembered_value_serves_lambda_too(delay):
    how = {"rule": "tc", "decay": 0.5, "delay": delay, "error": "remembered"}
    compare_with_plain(Network("cells:0123,456"), **how)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_a_game_from_its_end_is_the_plain_learners_for_every_lambda(form, decay):
    compare_with_plain(Network(PAIRED, form), order="backward", decay=decay, rate=0.1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("decay", [0.0, 0.5, 0.95])
def test_true_online_is_the_plain_learners_bit_for_bit(form, decay):
    how = {"traces": "dutch", "delay": False, "decay": decay, "lanes": 1}
    compare_with_plain(Network("cells:0123,456", form), **how)


def test_true_online_without_lambda_is_td_0():
    one, other = Network(PAIRED), Network(PAIRED)
    games_on(one).play(3000, 10**4)
    games_on(other, traces="dutch", delay=False).play(3000, 10**4)
    np.testing.assert_array_equal(bits(one.weights), bits(other.weights))


def test_true_online_is_the_forward_view_of_every_moment():
    """After each action the weights are those of the online λ-return algorithm, begun anew."""
    actions, decay, network = 40, 0.95, Network(PAIRED)  # λ^40 is above 0.1: nothing is forgotten
    games, plain = compare_with_plain_game(network, actions, decay)
    weights = np.zeros(network.size)
    rewards = [step[2] for step in plain.games[0].steps]
    x = [network.places(number(step[0])) for step in plain.games[0].steps]
    history = []
    for t in range(actions - 1):  # the interim λ-returns of the first t + 1 afterstates
        history.append(weights)
        weights = np.zeros(network.size)
        for k in range(t + 1):
            target, rest = 0.0, 1.0
            for n in range(k + 1, t + 2):
                guess = sum(rewards[k + 1 : n + 1]) + history[n - 1][x[n]].sum()
                share = rest if n == t + 1 else rest * (1 - decay)
                target, rest = target + share * guess, rest * decay
            np.add.at(weights, x[k], 0.5 / len(x[k]) * (target - weights[x[k]].sum()))
    np.testing.assert_allclose(network.weights, weights, atol=1e-3)


def compare_with_plain_game(network, actions, decay):
    """Learn the beginning of a single game by true online TD(λ); return what both know of it."""
    games = games_on(network, traces="dutch", delay=False, decay=decay, lanes=1, seed=5)
    games.play(actions, 10)
    plain = Learner(
        PlainNetwork(network.tuples), rate=0.5 / network.lookups_per_board, seed=5, lanes=1,
        decay=decay, horizon=horizon(decay), traces="dutch", delay=False,
    )  # fmt: skip
    plain.play(actions)
    same_numbers(network, network.weights, plain.network.weights)
    return games, plain


@pytest.mark.parametrize(
    "how", [{"lanes": 3, "actions": 900}, {"rate": 0.001}, {"rate": 1.0}], ids=str
)
def test_many_lanes_and_rates_at_both_ends_are_the_plain_learners(how):
    compare_with_plain(Network(SMALL), **how)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("games", [1, 2, 5])
def test_last_games_are_the_plain_learners(games, order):
    compare_with_plain(Network(SMALL), FOREVER, games, order=order)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lanes", [1, 2])
def test_playing_without_learning_is_the_plain_players(form, lanes):
    compare_with_plain(scattered(Network(SMALL, form)), lanes=lanes, learn=False)


def test_stopping_at_full_results_changes_nothing():
    networks = Network(SMALL), Network(SMALL)
    whole, games = map(games_on, networks)
    straight, parts = whole.play(3000, 10**4)[0], []
    while games.actions < 3000:
        parts.append(games.play(3000, 2)[0])
    assert max(map(len, parts)) == 2
    np.testing.assert_array_equal(np.concatenate(parts), straight)
    np.testing.assert_array_equal(bits(networks[0].weights), bits(networks[1].weights))


# ---------------------------------------------------------------- choosing


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spread", [100, 0], ids=["weights", "none"])
def test_choice_and_values_are_the_plain_players(form, spread):
    """Of equal values the first action is taken, and none on a lost board."""
    network = scattered(Network(PAIRED, form), spread=spread)
    plain, who = plain_twin(network), NetworkPlayer(network)
    steps = record_game("random", seed=2)
    for step in (*steps[::7], steps[-1]):
        worths = plain.worths(tiles(step.board))
        assert who.choose(step.board) == max(worths, key=worths.get, default=None)
        assert who.values(step.board) == pytest.approx(worths)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weight", [-1e30, -np.inf, np.nan])
def test_no_value_ends_a_game_that_has_a_legal_action(form, weight):
    network = Network(SMALL, form)
    network.weights[:] = weight
    board = from_tiles([[2, 0, 4, 0], [0] * 4, [0] * 4, [0] * 4])
    games = games_on(network, learn=False)
    action, _ = choose_action(network, functions_of(network), games.method, board)
    assert action in outcomes(tiles(board))
    games.play(50, 2)
    assert games.actions == 50 or games.lanes["length"].min() > 0


# ---------------------------------------------------------------- functions of your own


def plain_parts(network):
    """Return (index, value, update) for a network of 4-cell tuples, its tables in plain order."""
    where, cells = np.array(IMAGES, np.uint8), np.array(network.tuples, np.uint8)

    def index(board, positions):
        for which in range(len(cells)):
            for image in range(8):
                place = which * 65536
                for j in range(4):
                    shift = np.uint64(4 * where[image, cells[which, j]])
                    place += np.int64((board >> shift) & np.uint64(15)) << (4 * j)
                positions[8 * which + image] = place

    def value(weights, positions):
        parts = np.zeros(4, np.float32)
        for look_up in range(len(positions)):
            parts[look_up % 4] += weights[positions[look_up]]
        return (parts[0] + parts[1]) + (parts[2] + parts[3])

    def update(weights, positions, amount):
        for look_up in range(len(positions)):
            weights[positions[look_up]] += amount

    return index, value, update


@pytest.mark.parametrize(
    "form, order, mine",
    [
        ("afterstate", "forward", ("index",)),
        ("afterstate", "forward", ("value",)),
        ("afterstate", "backward", ("update",)),
        ("q", "backward", ("index", "value", "update")),
    ],
)
def test_own_functions_are_the_librarys_bit_for_bit(form, order, mine):
    library, own = Network(SMALL, form), Network(SMALL, form)
    parts = dict(zip(("index", "value", "update"), plain_parts(own)))
    own = own.with_functions(**{name: parts[name] for name in mine})
    ours, _ = games_on(library, order=order, rate=0.1).play(3000, 10**4)
    theirs, _ = games_on(own, order=order, rate=0.1).play(3000, 10**4)
    np.testing.assert_array_equal(ours, theirs)
    plain = np.concatenate([library.table(which, head) for head, which in tables_of(library)])
    expected = plain if "index" in mine else library.weights
    np.testing.assert_array_equal(bits(own.weights), bits(expected))
