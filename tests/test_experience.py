"""Games as arrays, what is truly to come after a board, and learning from such examples."""

import numpy as np
import pytest

from lib2048 import (
    Network,
    NetworkPlayer,
    ValuePlayer,
    board_table,
    evaluate,
    from_tiles,
    record_game,
    slide,
    spawn,
    stream,
)
from lib2048.course import collect, fit, rollouts
from lib2048.game.board import next_state
from lib2048.play.players import SearchPlayer, player
from lib2048.play.statistics import mean_ci95

STUCK = from_tiles([[2, 4, 8, 16], [16, 8, 4, 32], [2, 4, 8, 16], [16, 8, 32, 0]])


@pytest.fixture(scope="module")
def games():
    return collect("random", 200, seed=3)


def test_the_games_are_those_that_evaluate_plays(games):
    result = evaluate("random", 200, seed=3)
    assert (games.scores == result.scores).all()
    assert len(games.afterstates) == len(games.rewards) == result.moves
    assert repr(games) == f"<200 games, {result.moves:,} afterstates>"


def test_a_game_that_is_over_as_it_begins_scores_nothing():
    found = collect(board_table("1x2"), 20, seed=1)
    assert (found.scores == evaluate(board_table("1x2"), 20, seed=1).scores).all()
    assert (found.starts == found.ends).any()
    assert len(found.returns) == len(found.rewards)
    single = (collect(player("random", "2048@1x2"), 1, seed=seed) for seed in range(99))
    none = next(games for games in single if not len(games.rewards))
    assert none.scores.tolist() == [0] and none.returns.tolist() == none.turns.tolist() == []


@pytest.mark.parametrize("plies", [None, 1, 2])
def test_the_turns_are_those_of_a_recorded_game(trained, plies):
    who = {None: "greedy", 1: trained}.get(plies) or SearchPlayer(trained, plies)
    steps = record_game(who, seed=3, number=1)[:-1]
    games = collect(who, 2, seed=3)
    second = slice(games.starts[1], games.ends[1])
    assert games.afterstates[second].tolist() == [int(step.afterstate) for step in steps]
    assert games.rewards[second].tolist() == [step.reward for step in steps]
    assert games.turns[second].tolist() == list(range(len(steps)))


def test_returns_are_the_points_still_to_come(games):
    for start, end in zip(games.starts, games.ends):
        rewards, returns = games.rewards[start:end], games.returns[start:end]
        assert returns.tolist() == [rewards[i + 1 :].sum() for i in range(len(rewards))]


def test_rollouts_of_the_same_seed_are_the_same_and_of_a_dead_board_zero(games):
    boards = np.array([*games.afterstates[:3], STUCK], np.uint64)
    first, second = rollouts("random", boards, 50, seed=1), rollouts("random", boards, 50, seed=1)
    assert (first == second).all()
    assert (rollouts("random", boards, 50, seed=2) != first)[:3].all()
    assert first[3] == 0  # a 2 or a 4 in the last cell touches nothing equal


def test_rollouts_from_the_first_afterstates_agree_with_the_returns(games):
    first = games.afterstates[games.starts]
    mean, ci95 = mean_ci95(rollouts("random", first, 100) - games.returns[games.starts])
    assert abs(mean) < 2 * ci95


def test_rollouts_of_a_network_are_its_play_at_1_ply(trained):
    """The same luck, step by step, from boards on that a network has met."""
    who, seed = NetworkPlayer(trained), 5
    boards = np.array([step.afterstate for step in record_game(who)[:90:30]], np.uint64)
    found = rollouts(trained, boards, 1, seed)
    for number, after in enumerate(boards):
        board, luck = spawn(after, stream(seed, number))[:2]
        points, word = 0, 0
        while (action := who.choose(board, word)) is not None:
            points += slide(board, action)[1]
            board, word, _, luck = next_state(board, word, action, luck)
        assert points == found[number]


@pytest.mark.parametrize("function", [collect, lambda who, n: rollouts(who, [STUCK], n)])
def test_refusals(function):
    with pytest.raises(ValueError, match="games 0"):
        function("random", 0)
    with pytest.raises(ValueError, match="use 'random', .* a Network or a SearchPlayer"):
        function(ValuePlayer(np.zeros_like), 1)


def test_fit_is_the_plain_rule():
    games = collect("random", 5, seed=1)
    fast, slow = Network("cells:0145,012"), Network("cells:0145,012")
    fit(fast, games.afterstates, games.returns, 0.2)
    for board, label in zip(games.afterstates, games.returns):
        error = np.float32(label) - np.float32(slow.value(board))
        slow.add(board, error * np.float32(0.2 / slow.lookups_per_board))
    assert np.allclose(fast.weights, slow.weights, rtol=1e-4, atol=1e-3)
    assert np.count_nonzero(fast.weights)


def test_fit_takes_the_error_of_the_value_that_an_optimistic_network_has():
    small = Network("cells:01@2x2", optimistic=1000)
    for _ in range(100):
        fit(small, [0x12], [50], 0.5)
    assert small.value(0x12) == pytest.approx(50, abs=0.1)


def test_fit_goes_by_the_network_s_own_functions():
    table = board_table("2x2")
    board = np.array([0x21], np.uint64)
    fit(table, board, [100], 1.0)
    assert table.value(board[0]) == pytest.approx(100)


def test_what_is_no_example_is_refused(games):
    small = Network("cells:01")
    with pytest.raises(ValueError, match="one finite number for each of the 2 boards"):
        fit(small, games.afterstates[:2], [1])
    with pytest.raises(ValueError, match="one finite number"):
        fit(small, games.afterstates[:2], [1, np.nan])
    with pytest.raises(ValueError, match="a network of afterstates in one stage"):
        fit(Network("cells:01", "q"), games.afterstates[:2], [1, 2])
    with pytest.raises(ValueError, match="whole numbers of 64 bits, not 1.5"):
        fit(small, [1.5], [1])
    with pytest.raises(ValueError, match="outside of those of 2048@2x2"):
        fit(Network("cells:01@2x2"), [0x1111222233334444], [1])
    with pytest.raises(ValueError, match="outside of those of 2048@2x2"):
        rollouts(player("greedy", "2048@2x2"), [0x1111222233334444], 1)
