"""Players: which action, among which, and what they are called by."""

from functools import partial

import numpy as np
import pytest
import reference

from lib2048 import (
    Network,
    NetworkPlayer,
    SearchPlayer,
    ValuePlayer,
    evaluate,
    from_tiles,
    player,
    record_game,
    review,
    stream,
)
from lib2048.game import spec
from lib2048.learn.records import RESULT_COLUMNS
from lib2048.play.players import first_legal_player, greedy_player, network_player, random_player

CHI_SQUARE = {1: 10.828, 2: 13.816, 3: 16.266}  # 99.9 % quantiles, by degrees of freedom
ONE = [[2, 0, 0, 0], [4, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]]  # Right alone is legal
TWO = [[2, 4, 0, 0], [0] * 4, [0] * 4, [0] * 4]
THREE = [[0, 2, 4, 0], [0] * 4, [0] * 4, [0] * 4]
FOUR = [[0] * 4, [0, 2, 0, 0], [0] * 4, [0] * 4]
LOST = [[2, 4, 2, 4], [4, 2, 4, 2]] * 2


@pytest.mark.parametrize("tiles", [ONE, TWO, THREE, FOUR])
def test_random_takes_each_legal_action_as_often(tiles):
    who, legal, draws = random_player(), spec.legal_actions(tiles), 4000
    counts = np.bincount([who.choose(from_tiles(tiles)) for _ in range(draws)], minlength=4)
    assert counts.sum() == counts[legal].sum() == draws
    if len(legal) > 1:
        expected = draws / len(legal)
        spread = ((counts[legal] - expected) ** 2 / expected).sum()
        assert spread < CHI_SQUARE[len(legal) - 1]

    assert who.choose(from_tiles(LOST)) is None


PLAIN = {
    "greedy": (greedy_player(), reference.greedy),
    "first legal": (first_legal_player(), reference.first_legal),
    "without weights": (NetworkPlayer(Network("cells:0")), reference.greedy),
}


@pytest.mark.parametrize("who, plain", PLAIN.values(), ids=PLAIN)
def test_actions_are_those_of_plain_python(who, plain):
    """The largest reward, and the first of equals; the first that is legal."""
    for step in (step for number in range(3) for step in record_game("random", 5, number)):
        legal = reference.outcomes(reference.tiles(step.board))
        assert who.choose(step.board) == (plain(legal) if legal else None)


@pytest.mark.parametrize("what", ["random", "greedy", "first-legal", "network"])
def test_games_are_those_of_their_numbers(what):
    who = player(Network("cells:0123,4567") if what == "network" else what)
    games = who.play_games(0, 12, seed=4)
    assert games.shape == (12, len(RESULT_COLUMNS)) and games.dtype == np.int64
    assert games[:, 0].tolist() == list(range(12))
    parts = [who.play_games(first, count, seed=4) for first, count in ((0, 5), (5, 1), (6, 6))]
    np.testing.assert_array_equal(np.concatenate(parts), games)
    assert who.play_games(0, 12, seed=5).tolist() != games.tolist()
    assert len(who.play_games(3, 0, seed=4)) == 0


def test_random_games_are_what_the_policy_plays():
    """The player's luck goes on in the game's own stream, before the spawn of that turn."""
    results = random_player().play_games(2, 1, seed=9)
    board, state = reference.initial(reference.stream(9, 2))
    score = actions = 0
    while legal := reference.outcomes(board):
        action, state = random_choice(legal, state)
        score, actions = score + legal[action][1], actions + 1
        board, state = reference.spawn(legal[action][0], state)
    assert results[0].tolist() == [2, score, actions, max(map(max, board)).bit_length() - 1, 0]


def random_choice(legal, state):
    """Two bits a try, four tries from one draw; then one of those that are legal."""
    state, bits = reference.draw(state)
    for _ in range(4):
        if bits & 3 in legal:
            return bits & 3, state
        bits >>= 2
    state, bits = reference.draw(state)
    return sorted(legal)[(bits >> 32) * len(legal) >> 32], state


def test_values_are_given_for_legal_actions_alone():
    who = NetworkPlayer(Network("cells:0"))
    assert who.values(from_tiles(TWO)) == {1: 0.0, 2: 0.0}
    assert who.values(from_tiles([[2, 2, 0, 0], [0] * 4, [0] * 4, [0] * 4])) == {1: 4, 2: 0, 3: 4}
    assert who.values(from_tiles(LOST)) == {}


def test_player_takes_names_networks_and_players():
    network = Network("cells:0")
    assert [player(name).name for name in ("random", "greedy")] == ["random", "greedy"]
    assert player(network).network is network
    mine = random_player()
    assert player(mine) is mine


@pytest.mark.parametrize("what", ["nobody", "", None, 3, object(), "Random"])
def test_other_players_are_refused(what, refused):
    refused(lambda: player(what), "unknown player")


def test_players_say_who_they_are():
    named = NetworkPlayer(Network("cells:0"), name="tiny")
    shown = [repr(who) for who in (random_player(), named)]
    assert shown == ["<player random>", "<player tiny>"]


def test_the_random_player_has_luck_of_its_own():
    boards = [from_tiles(FOUR)] * 40
    one, two, three = random_player(), random_player(), random_player()
    three._luck = stream(1, -1)
    first, second, other = ([who.choose(b) for b in boards] for who in (one, two, three))
    assert first == second != other


LIMITS = [{"depth": "x"}, {"depth": 2.5}, {"depth": True}, {"seconds": "x"}, {"seconds": np.nan},
          {}, {"depth": 2, "table_mib": "x"}, {"depth": 2, "table_mib": 1e300},
          {"depth": 2, "reduce": "x"}]  # fmt: skip


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_limits_that_make_no_sense_are_refused(refused, limits):
    refused(lambda: SearchPlayer(Network("cells:0123"), **limits))


WHO = [lambda network: NetworkPlayer(network), lambda network: SearchPlayer(network, 2),
       lambda network: ValuePlayer(network.values, 1, game=network.game).search]  # fmt: skip


@pytest.mark.parametrize("who", WHO)
def test_many_boards_are_states_or_refused(who, refused):
    ask = who(Network("cells:0123")).decide_all
    boards = [from_tiles(tiles) for tiles in (TWO, THREE)]
    refused(lambda: ask(boards, [0]), "2 boards and 1 words")
    refused(lambda: ask([0.5, 2.5]), "whole numbers of 64 bits, not 0.5")
    refused(lambda: ask([1 << 64]), "`board.parts`")
    assert len(ask(boards)) == len(ask(np.array(boards, np.int64), [0, 0]))


@pytest.mark.parametrize("name", ["cells:01", "cells:01@2x2"])
def test_boards_of_a_larger_game_are_refused(name, refused):
    network, board, game = Network(name), from_tiles(THREE), record_game("greedy", seed=1)
    asked = [network.value, *(who(network).decide for who in WHO), NetworkPlayer(network).choose]
    asked += [lambda _: review(game, network)]
    for ask in asked:
        if network.game.rows == 4:
            ask(board)
        else:
            refused(partial(ask, board), "has tiles outside of those of 2048@2x2")


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_network_that_diverged_still_takes_legal_actions(depth, weight):
    network = Network("cells:0123")
    network.weights[:] = weight
    who = network_player(network, depth)
    assert who.choose(from_tiles(ONE)) == 1 and who.choose(from_tiles(LOST)) is None
    assert evaluate(who, 2).scores.all()
