"""Monte-Carlo tree search: exact on small boards, its rewards, its priors, its luck."""

import numpy as np
import pytest

from lib2048 import SmallGame, mdp
from lib2048.deep.mcts import MCTS, MCTSPlayer, uniform
from lib2048.game.batch import options
from lib2048.game.board import from_tiles
from lib2048.game.game import new_game
from lib2048.play.evaluation import evaluate

TWO = new_game(2, 2)


@pytest.fixture(scope="module")
def small():
    """Return (states of 2x2 with a legal action uint64[n], exact worths of their actions)."""
    game = SmallGame(2, 2, progress=False, symmetric=False)
    best = game.optimal()
    afterstates = [mdp.frozen(game.tiles(board)) for board in game.boards]
    states = {game.pack(state) for after in afterstates for _, state in mdp.next_states(after)}
    states = np.array(sorted(states), np.uint64)
    after, rewards = options(states, TWO)
    legal = np.isfinite(rewards)
    worths = np.full(rewards.shape, -np.inf)
    worths[legal] = best.values(after[legal]) + rewards[legal]
    going = legal.any(axis=1)
    return states[going], worths[going], game


def lost(search, states, worths):
    """Return what the most visited actions are worth less than the best ones, exactly: float[n]."""
    visits, means = search.search(states)
    actions = np.lexsort((-means, -visits), axis=1)[:, 0]
    return worths.max(axis=1) - worths[np.arange(len(states)), actions], visits, means


@pytest.mark.ci
def test_on_2x2_it_finds_the_best_action_without_knowing_anything(small):
    states, worths, _ = small
    missed, visits, means = lost(MCTS(uniform, 1000, leaves=8, game=TWO), states, worths)
    assert len(states) > 400 and (missed < 1e-9).mean() > 0.98
    assert missed.max() < 0.15 * worths[missed.argmax()].max()
    assert (visits.sum(axis=1) == 1000).all()
    assert (visits[np.isneginf(worths)] == 0).all()
    few, *_ = lost(MCTS(uniform, 8, leaves=8, game=TWO), states, worths)
    assert few.sum() > 3 * missed.sum()


def test_with_exact_leaf_values_a_few_simulations_are_enough(small):
    states, worths, game = small
    exact = dict(zip(states.tolist(), worths.max(axis=1)))
    values = lambda boards: [exact.get(board, 0.0) for board in boards.tolist()]  # noqa: E731
    search = MCTS(uniform, 100, leaves=1, values=lambda b: np.array(values(b)), game=TWO)
    missed, *_ = lost(search, states, worths)
    assert (missed < 1e-9).mean() > 0.95
    keen = MCTS(uniform, 500, 1, explore=0.1, values=search.values_of, game=TWO)
    _, _, means = lost(keen, states, worths)  # who explores little has unspoiled means
    off = np.abs(means.max(axis=1) / worths.max(axis=1) - 1)
    assert np.median(off) < 0.05


def test_a_reward_now_beats_a_leaf_that_looks_better():
    """Up and Down merge two 512s for 1024 points; Left and Right earn nothing at once."""
    board = from_tiles([[512, 4, 0, 0], [512, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])

    def tiles_kept(boards):  # prefers boards that merged nothing
        counts = [sum((board >> 4 * c & 15) == 9 for c in range(16)) for board in boards.tolist()]
        return 500.0 * np.array(counts)

    search = MCTS(uniform, 4 * 50, leaves=1, values=tiles_kept, explore=0.2)
    _, means = search.search([board])
    assert (means[0, [0, 2]] >= 1024).all()
    assert MCTSPlayer(search).choose(board) in (0, 2)
    after, rewards = options([board])
    blind = tiles_kept(after[0])  # without the reward, another action looks best
    assert blind.argmax() not in (0, 2) and rewards[0, 0] == 1024


def test_a_sure_prior_is_followed_and_a_wrong_one_overcome(small):
    states, worths, _ = small
    gap = np.sort(worths, axis=1)
    clear = (np.isfinite(gap[:, -2])) & (gap[:, -1] - gap[:, -2] > 0.2 * gap[:, -1])
    clear &= gap[:, -1] > 20
    states, worths = states[clear][:40], worths[clear][:40]
    least = np.where(np.isfinite(worths), worths, np.inf).argmin(axis=1)
    worst = dict(zip(states.tolist(), least))

    def wrong(boards):
        rows = [0.9 * np.eye(4)[worst[b]] if b in worst else np.zeros(4) for b in boards.tolist()]
        return np.array(rows) + 0.025

    few, visits, _ = lost(MCTS(wrong, 6, leaves=6, game=TWO), states, worths)
    many, *_ = lost(MCTS(wrong, 2000, leaves=4, game=TWO), states, worths)
    assert len(states) >= 20 and (few > 0).mean() > 0.8
    assert np.isfinite(few).all() and (many < 1e-9).mean() > 0.9


def test_illegal_actions_are_never_taken_even_where_the_prior_wants_nothing_else():
    board = from_tiles([[2, 4, 8, 0], [16, 8, 4, 0], [2, 4, 8, 0], [16, 8, 4, 0]])  # only Right
    only_left = lambda boards: np.tile([0.0, 0.0, 0.0, 1.0], (len(boards), 1))  # noqa: E731
    player = MCTSPlayer(MCTS(only_left, 20))
    action, worths = player.decide(board)
    assert action == 1 and set(worths) == {1}
    over = from_tiles([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]])
    assert player.choose(over) is None and player.decide(over) == (None, {})


def test_rollouts_count_all_points_and_can_be_broken_off():
    states = np.array([from_tiles([[2, 2, 4, 4], [0] * 4, [0] * 4, [0] * 4])] * 200, np.uint64)
    randoms = np.arange(200, dtype=np.uint64)
    whole = MCTS(uniform, 1).rollouts(states, randoms)
    assert 700 < whole.mean() < 1500  # a random game makes about 1100
    assert (MCTS(uniform, 1, turns=0).rollouts(states, randoms) == 0).all()
    one = MCTS(uniform, 1, turns=1).rollouts(states, randoms)
    assert set(one.tolist()) == {0.0, 12.0}  # 4 + 8 by Left or Right, nothing by Down
    assert (states == states[0]).all()  # the caller's boards are left as they are


def test_search_plays_better_than_its_prior_and_its_luck_is_its_games_number():
    player = MCTSPlayer(MCTS(uniform, 24, leaves=8, turns=20))
    together = player.play_games(0, 4, 1)
    apart = np.concatenate([player.play_games(0, 1, 1), player.play_games(1, 3, 1)])
    np.testing.assert_array_equal(together, apart)
    assert together[:, 1].mean() > 3 * evaluate("random", 200).mean


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MCTS(uniform, 0), "simulations 0: use a whole number, 1 or more"),
        (lambda: MCTS(uniform, 1.5), "simulations 1.5: use a whole number, 1 or more"),
        (lambda: MCTS(uniform, leaves=0), "leaves 0: use a whole number, 1 or more"),
        (lambda: MCTS(uniform, explore=-1), "explore -1: use a number, 0 or more"),
        (lambda: MCTS(uniform, game="threes"), "MCTS looks ahead from boards alone"),
        (lambda: MCTS(uniform, turns=-1), "turns -1: use a whole number, 0 or more"),
        (lambda: MCTS(lambda boards: boards, 1).search([1]), "a prior returns four numbers"),
        (lambda: MCTS(uniform, 1, values=uniform).search([1]), "one number a board: 1 here"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call, said, refused):
    refused(call, said)
