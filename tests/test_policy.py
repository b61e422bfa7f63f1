"""Policy networks: their probabilities, their players, and what they learn of recorded games."""

import numpy as np
import pytest
import torch

from lib2048 import Network, SmallGame, player
from lib2048.deep.moves import draw_actions, legal_actions, luck_of, record_games
from lib2048.deep.policy import distance_to_certainty, make_policy, new_policy_network
from lib2048.deep.warm import warm_start
from lib2048.game.batch import options
from lib2048.game.board import from_tiles
from lib2048.game.game import new_game
from lib2048.play.evaluation import evaluate

torch.set_num_threads(1)
TWO = new_game(2, 2)
ONLY_RIGHT = from_tiles([[2, 4, 8, 0], [16, 8, 4, 0], [2, 4, 8, 0], [16, 8, 4, 0]])


@pytest.fixture(scope="module")
def boards():
    """Return the states of some random games: uint64[n]."""
    return record_games("random", 3, seed=5).boards


# ---------------------------------------------------------------- probabilities


def test_illegal_actions_have_probability_0_and_the_others_sum_to_1(boards):
    found = new_policy_network(1).probabilities(boards)
    legal = legal_actions(boards)
    assert (~legal).any() and (found[~legal] == 0).all()
    assert (found[legal] > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_a_board_that_is_over_has_no_probabilities():
    over = from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    assert new_policy_network(1).probabilities([over]).tolist() == [[0, 0, 0, 0]]
    assert new_policy_network(1).player().choose(over) is None


def test_the_network_is_that_of_the_source():
    network = new_policy_network(3)
    shapes = [tuple(weights.shape) for weights in network.module.parameters()]
    assert shapes == [(200, 256), (100, 200), (4, 100)]
    same, other = make_policy(3), make_policy(4)
    assert torch.equal(network.module[0].weight, same[0].weight)
    assert not torch.equal(network.module[0].weight, other[0].weight)


def test_a_new_network_leaves_torchs_own_luck_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    make_policy(7)
    assert torch.equal(torch.rand(1), expected)


def test_actions_are_drawn_as_often_as_their_weights_say():
    weights = np.tile([0.0, 0.5, 0.2, 0.3], (20_000, 1))
    luck = luck_of(1, np.arange(20_000), np.zeros(20_000))
    shares = np.bincount(draw_actions(weights, luck), minlength=4) / 20_000
    assert shares[0] == 0
    np.testing.assert_allclose(shares[1:], [0.5, 0.2, 0.3], atol=0.015)


def test_luck_at_its_ends_draws_a_legal_action():
    weights = np.array([[0.0, 0.4, 0.6, 0.0]] * 2)
    assert draw_actions(weights, np.array([0.0, np.nextafter(1, 0)])).tolist() == [1, 2]


def test_distance_to_certainty_at_its_ends():
    sure, even, two = [0, 1, 0, 0], [0.25] * 4, [0.5, 0, 0.5, 0]
    assert distance_to_certainty(np.array([sure, even, two])).tolist() == [0, 1.5, 1]


# ---------------------------------------------------------------- players


def test_the_player_takes_the_most_likely_action_and_the_explorer_others(boards):
    network = new_policy_network(1)
    best = network.probabilities(boards[:40]).argmax(axis=1)
    assert [network.player().choose(board) for board in boards[:40]] == best.tolist()
    drawn = network.player(explore=True)
    chosen = [drawn.choose(boards[0]) for _ in range(40)]
    assert len(set(chosen)) > 1
    assert {drawn.choose(ONLY_RIGHT) for _ in range(10)} == {1}


@pytest.mark.parametrize("explore", [False, True])
def test_the_luck_of_a_game_is_its_number_and_the_seed(explore):
    player = new_policy_network(1).player(explore=explore)
    together = player.play_games(0, 6, 9)
    apart = np.concatenate([player.play_games(0, 2, 9), player.play_games(2, 4, 9)])
    np.testing.assert_array_equal(together, apart)
    assert (together != player.play_games(0, 6, 10)).any()
    assert evaluate(player, 5).scores.shape == (5,)


def test_recorded_moves_play_the_games_again():
    moves = record_games(new_policy_network(1).player(explore=True), 4, seed=3)
    after, rewards = options(moves.boards)
    paid = rewards[np.arange(len(moves.boards)), moves.actions]
    starts = np.concatenate([[0], moves.ends[:-1]])
    np.testing.assert_array_equal(np.add.reduceat(paid, starts), moves.results[:, 1])
    np.testing.assert_array_equal(np.diff(moves.ends, prepend=0), moves.results[:, 2])
    few = moves.first(3)
    assert few.ends.tolist() == [3, 6, 9, 12] and len(few.actions) == 12
    np.testing.assert_array_equal(few.boards[3:6], moves.boards[moves.ends[0] :][:3])


# ---------------------------------------------------------------- a warm start


@pytest.mark.parametrize("form", ["afterstate", "state", "q"])
@pytest.mark.parametrize("name", ["cells:0123", "cells:01@2x2"])
def test_a_network_of_any_form_plays_its_own_game(form, name):
    network = Network(name, form=form)
    network.weights[:] = np.random.default_rng(4).random(network.size, np.float32)
    found = record_games(network, 5, seed=3).results[:, 1]
    assert (found == evaluate(network, 5, seed=3).scores).all()


def test_games_that_are_over_as_they_begin_are_recorded_without_a_turn():
    moves = record_games("random", 30, seed=5, game="2048@1x2")
    alone = record_games("random", 1, seed=5, game="2048@1x2", first_game=0)
    lengths = moves.results[:, 2]
    assert 0 in lengths and lengths.sum() == len(moves.boards) == len(moves.actions)
    assert len(alone.boards) == lengths[0]


def test_a_warm_start_learns_what_a_player_did():
    best = SmallGame(2, 2, progress=False).optimal()
    choose = lambda games: games.worths(best.values).argmax(axis=1)  # noqa: E731
    moves = record_games(choose, 150, seed=3, game=TWO)
    network = new_policy_network(1, (32,), TWO)
    rows = warm_start(network, moves, epochs=8, batch=32, learning_rate=0.005)
    assert [row["epoch"] for row in rows] == list(range(9))
    assert rows[-1]["agreement"] > 0.8 > rows[0]["agreement"]
    assert rows[-1]["loss"] < rows[0]["loss"]


# ---------------------------------------------------------------- what is refused

REFUSED = [
    (lambda: record_games("nobody", 1), "unknown player 'nobody'"),
    (lambda: record_games(player("random", TWO), 3, game="2048@2x3"), "not 2048@2x3"),
    (lambda: record_games("random", 0), "games 0, threads 1: both must be whole numbers"),
    (lambda: warm_start(new_policy_network(), ([], [])), "use two or more"),
    (lambda: warm_start(new_policy_network(), ([1, 1], [1, 4])), "an action is 0 Up"),
    (lambda: warm_start(new_policy_network(), ([1, 1], [1, 0])), "not legal on its board"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_makes_no_sense_is_refused_in_one_line(call, said, refused):
    refused(call, said)
