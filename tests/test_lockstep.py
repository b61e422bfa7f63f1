"""Games in step: the games of the other players, wherever a turn is interrupted."""

import numpy as np
import pytest

from lib2048 import player
from lib2048.game.board import is_over
from lib2048.game.game import new_game
from lib2048.learn.lockstep import Lockstep, play_in_step
from lib2048.learn.starts import STARTS

BESIDE_THE_CAROUSEL = [name for name in STARTS if name != "carousel"]


def greedy(games):
    return games.rewards.argmax(axis=1)


def played(games, actions, at_once=None):
    """Play on to so many actions, in turns that are interrupted every so often."""
    parts, step = [], at_once or actions
    while games.actions < actions:
        stop = min(actions, games.actions + step)
        while games.actions < stop:
            chosen = greedy(games) if games.between_turns else None
            parts.append(games.act(chosen, stop))
    return np.concatenate(parts)


def same(one, other):
    mine, theirs = one.state(), other.state()
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)


def test_games_in_step_are_those_that_a_greedy_player_plays_alone():
    ours = play_in_step(greedy, 5, 60, seed=9)
    alone = player("greedy").play_games(5, 60, 9)
    np.testing.assert_array_equal(ours[:, :4], alone[:, :4])


@pytest.mark.parametrize("starts", BESIDE_THE_CAROUSEL)
@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_an_interrupted_turn_is_a_turn(starts, at_once):
    whole, often = (Lockstep(7, 3, starts=starts) for _ in range(2))
    results = played(whole, 4000)
    np.testing.assert_array_equal(played(often, 4000, at_once), results)
    assert same(whole, often) and len(results) > 5


@pytest.mark.parametrize("starts", BESIDE_THE_CAROUSEL)
def test_games_go_on_from_their_state(starts):
    whole, first = (Lockstep(7, 3, starts=starts) for _ in range(2))
    played(whole, 5000)
    played(first, 2222)
    again = Lockstep(7, 99 if starts == "initial" else 3, starts=starts)
    again._limits = whole._limits
    again.restore(first.state())
    played(again, 5000)
    assert same(whole, again)


def test_rows_end_a_turn_too():
    games = Lockstep(9, 1)
    while True:
        ended = games.act(greedy(games) if games.between_turns else None, rows=1)
        assert len(ended) <= 1
        if len(ended):
            break
    assert games.places["final"].any() or not games.between_turns


def test_what_is_left_of_a_game_that_ended_is_its_last_afterstate_and_its_lost_board():
    games, found = Lockstep(20, 4), 0
    for _ in range(400):
        games.act(greedy(games))
        for place in games.places[games.places["final"] != 0]:
            lost, final = np.uint64(place["lost"]), np.uint64(place["final"])
            assert is_over(lost) and bin(int(lost ^ final)).count("1") <= 2
            found += 1
    assert found > 10


def test_without_a_game_no_action_is_possible():
    games = Lockstep(4, 1, first_game=0, last_game=2)
    assert games.live.tolist() == [True, True, False, False]
    assert np.isinf(games.rewards[2:]).all()
    worths = games.worths(lambda boards: np.ones(len(boards)))
    assert np.isinf(worths[2:]).all() and np.isfinite(worths[:2]).any(axis=1).all()


def test_smaller_boards_stay_in_their_corner():
    games, small = Lockstep(6, 1, game=new_game(2, 3)), int(new_game(2, 3).cells) * 15
    for _ in range(30):
        assert not any(int(board) & ~small for board in games.boards)
        games.act(greedy(games))
