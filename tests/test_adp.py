"""Approximate dynamic programming: its features, its expectation, its fit, and its play."""

import itertools

import numpy as np
import pytest

from lib2048 import SmallGame
from lib2048.deep.adp import ADP, FEATURES, features
from lib2048.deep.moves import record_games
from lib2048.deep.policy import ProbabilityPlayer
from lib2048.game import mdp
from lib2048.game.board import afterstates, from_tiles, initial, slide, spawn, symmetries, tile_sum
from lib2048.game.game import new_game
from lib2048.game.rng import stream
from lib2048.play.evaluation import evaluate

TWO, SMALL = new_game(2, 2), new_game(2, 3)
TIDY = [[64, 32, 8, 2], [16, 8, 4, 0], [4, 2, 0, 0], [2, 0, 0, 0]]
BOARDS = {  # what each board has: corner, vertical, horizontal, diagonal
    "tidy": (TIDY, (1, 1, 1, 1)),
    "largest inside": ([[64, 32, 8, 2], [16, 128, 4, 0], [4, 2, 0, 0], [2, 0, 0, 0]], (0, 1, 1, 0)),
    "vertical broken": ([[64, 32, 8, 2], [16, 8, 4, 0], [0, 2, 0, 0], [2, 0, 0, 0]], (1, 0, 1, 1)),
    "horizontal broken": ([[64, 8, 32, 2], [16, 8, 4, 0], [4, 2, 0, 0], [2, 0, 0, 0]],
                          (1, 1, 0, 1)),
    "diagonal broken": ([[64, 32, 8, 2], [16, 4, 4, 0], [4, 2, 8, 0], [2, 0, 0, 0]], (1, 1, 1, 0)),
    "equal cells do not increase": ([[64, 64, 8, 8], [64, 8, 4, 0], [4, 2, 8, 0], [4, 0, 0, 0]],
                                    (1, 1, 1, 1)),
    "a tie of corners, one is enough": ([[8, 16, 2, 8], [2, 4, 4, 4], [4, 2, 2, 2], [0, 0, 2, 2]],
                                        (0, 1, 0, 1)),
    "all corners empty": ([[0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0]], (0, 1, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", BOARDS)
def test_features_of_boards_made_by_hand(name):
    tiles, expected = BOARDS[name]
    assert tuple(features([from_tiles(tiles)])[0]) == expected


def test_a_mirrored_board_has_the_same_features_and_a_turned_one_swaps_two():
    boards = [from_tiles(tiles) for tiles, _ in BOARDS.values()]
    for board in boards:
        own, images = features([board])[0], features(symmetries(board))
        assert (images[:4] == own).all()
        assert (images[4:] == own[[0, 2, 1, 3]]).all()


def plain_features(board, rows, columns):
    """Say in plain Python what features a board has."""
    places = itertools.product(range(rows), range(columns))
    cells = {(r, c): int(board) >> 4 * (4 * r + c) & 15 for r, c in places}
    corners = [(r, c) for r in (0, rows - 1) for c in (0, columns - 1)]
    top = max(cells[corner] for corner in corners)
    found = np.array([top == max(cells.values()), False, False, False])
    for r, c in (corner for corner in corners if cells[corner] == top):
        down, across = 1 if r == 0 else -1, 1 if c == 0 else -1
        both = [(r + k * down, c + k * across) for k in range(min(rows, columns))]
        lines = [
            [(r + k * down, c) for k in range(rows)],
            [(r, c + k * across) for k in range(columns)],
            both,
        ]
        for n, line in enumerate(lines, 1):
            tiles = [cells[cell] for cell in line]
            found[n] |= tiles == sorted(tiles, reverse=True)
    return found.astype(float)


def plain_expected(board, theta, size):
    worth, game = np.full(4, -np.inf), new_game(*size)
    for action, after, _ in afterstates(board, game):
        spawns = game.outcomes(after)
        worth[action] = sum(chance * theta @ plain_features(x, *size) for chance, x in spawns)
    return worth


@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (1, 4), (4, 4)])
def test_the_expectation_is_that_over_all_spawns(size):
    player = ADP(new_game(*size))
    player.theta = np.array([3.0, -1.0, 0.5, 2.0])
    random = ProbabilityPlayer(lambda _, legal: 1.0 * legal, explore=True, game=player.game)
    states = record_games(random, 30, seed=1).boards[::3]
    expected = np.array([plain_expected(board, player.theta, size) for board in states])
    np.testing.assert_allclose(player.expected(states), expected, atol=1e-12)
    assert np.isneginf(expected).any()
    best = [x.argmax() for x in np.round(expected, 9)]
    assert [player.choose(board) for board in states] == best


def test_its_play_on_1x4_is_worth_exactly_what_any_of_its_best_actions_is():
    """Games played by its kernels have the mean that plain Python works out."""
    game, player = SmallGame(1, 4, progress=False), ADP(new_game(1, 4))

    def shares(state):
        worths = plain_expected(game.pack(state), player.theta, (1, 4))
        best = np.flatnonzero(worths > worths.max() - 1e-9)
        return dict.fromkeys(best.tolist(), 1 / len(best))

    worth = mdp.worth(shares, 1, 4)
    scores = player.play_games(0, 4000, 5)[:, 1]
    assert abs(scores.mean() - worth) < 4 * scores.std() / np.sqrt(len(scores))
    assert 1.1 * game.follow("random").start < worth < game.optimal().start


def test_weights_of_1_play_much_better_than_random():
    tidy, random = evaluate(ADP(), 300), evaluate("random", 300)
    assert tidy.mean > 1.7 * random.mean


def test_the_gradient_is_that_of_the_mean_squared_error():
    rate, player = 1e-4, ADP(SMALL)
    moves = record_games(player, 8, seed=1, game=SMALL)
    phi = features(moves.boards, SMALL).astype(float)
    (row,) = player.learn(1, 8, rate)
    # The tiles' sum of a game is found from its last state: the last action's sum and the spawn.
    lengths = moves.results[:, 2]
    assert row["length"] == lengths.mean() and row["score"] == moves.results[:, 1].mean()
    returns = returns_of(moves)
    assert row["tile_sum"] == pytest.approx(np.mean([returns[end - 1] for end in moves.ends]))
    error = lambda theta: np.mean((phi @ theta - returns) ** 2)  # noqa: E731
    slope = [(error(np.ones(4) + d) - error(np.ones(4) - d)) / 2e-4 for d in 1e-4 * np.eye(4)]
    np.testing.assert_allclose(player.theta, 1 - rate * np.array(slope), rtol=1e-7)
    assert row["error"] == pytest.approx(np.sqrt(error(np.ones(4))))


def returns_of(moves):
    """Return the tiles on the last board of each move's game: its games played again."""
    sums, start = [], 0
    for game, end in enumerate(moves.ends):
        board, random = initial(stream(1, game), SMALL)
        for action in moves.actions[start:end]:
            board, random = spawn(slide(board, int(action), SMALL)[0], random, SMALL)
        sums += [tile_sum(board)] * (end - start)
        start = end
    return np.array(sums, float)


def test_least_squares_takes_the_batchs_minimum():
    player = ADP(SMALL)
    moves = record_games(player, 20, seed=1, game=SMALL)
    player.learn(1, 20, 1.0, "least squares")
    phi = features(moves.boards, SMALL).astype(float)
    residual = phi @ player.theta - returns_of(moves)
    np.testing.assert_allclose(phi.T @ residual, 0, atol=1e-6)
    assert np.abs(residual).max() > 1  # four features do not tell all states apart


def test_a_fit_over_batches_lowers_the_error():
    rows = ADP().learn(30, 10, 0.05, seed=2)
    assert [row["games"] for row in rows] == [10 * (k + 1) for k in range(30)]
    assert np.mean([row["error"] for row in rows[-5:]]) < 0.5 * rows[0]["error"]
    assert len(rows[-1]["theta"]) == len(FEATURES)
    assert rows == ADP().learn(30, 10, 0.05, seed=2)


def test_a_game_with_a_next_card_is_refused(refused):
    refused(lambda: ADP("threes"), "ADP looks ahead from boards alone")


@pytest.mark.parametrize(
    "options", [{"fit": "best"}, {"batches": 0}, {"games": 0}, {"rate": 0}, {"rate": 2}]
)
def test_what_makes_no_sense_is_refused_in_one_line(options, refused):
    refused(lambda: ADP().learn(**{"batches": 1} | options), str(next(iter(options.values()))))
