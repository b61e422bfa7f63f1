"""A table of all boards, and the three marks that exact values allow."""

import numpy as np
import pytest

from lib2048 import Network, SmallGame, board_table, to_tiles, train


@pytest.fixture(scope="module")
def small():
    return SmallGame(2, 2, progress=False)


@pytest.fixture(scope="module")
def learned():
    table = board_table("2x2")
    train(table, actions=20_000, seed=1, progress=False)
    return table


def test_optimal_values_have_no_error(small):
    best = small.optimal()
    assert list(small.marks(best).values()) == pytest.approx([0, 0, 1], abs=1e-9)
    assert best.distance(best) == 0


def test_distance_counts_a_board_as_often_as_a_game_comes_there(small):
    best = small.optimal()
    assert best.distance(lambda boards: best.values(boards) + 3) == pytest.approx(3)
    off = np.zeros(len(small.boards))
    off[np.argmax(best.visits())] = 1
    share = best.visits().max() / best.visits().sum()
    wrong = dict(zip(small.boards.tolist(), best.afterstate_values + off))
    assert best.distance(lambda boards: [wrong[b] for b in boards.tolist()]) == pytest.approx(
        share**0.5
    )


def test_marks_of_a_learner(small, learned):
    marks = small.marks(learned)
    assert list(marks) == ["own error", "best error", "share"]
    assert marks["share"] == small.follow(learned).start / small.optimal().start
    assert 0 < marks["own error"] < marks["best error"]


def test_a_board_and_its_images_share_one_number_and_no_other(small, learned):
    first = small.boards[np.argmax(learned.values(small.boards))]
    (a, b), (c, d) = [row[:2] for row in to_tiles(first)[:2]]
    images = [[[a, b], [c, d]], [[b, a], [d, c]], [[c, d], [a, b]], [[a, c], [b, d]]]
    values = learned.values(np.array([small.pack(image) for image in images]))
    assert len(set(values.tolist())) == 1 and values[0] > 0
    assert np.count_nonzero(learned.weights) == np.count_nonzero(learned.values(small.boards))


def test_every_board_starts_at_the_start():
    table, game = board_table("2048:four=0.2@2x3", 7.0), SmallGame(2, 3, progress=False, four=0.2)
    assert table.game == game.game and (table.values(game.boards) == 7).all()


@pytest.mark.parametrize("size", ["3x3", "5x5", "0x2"])
def test_too_large(size):
    with pytest.raises(ValueError, match="use"):
        board_table(size)


def test_a_table_learns_no_other_network(learned):
    assert isinstance(learned, Network) and learned.own is not None
