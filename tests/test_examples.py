"""Learning from examples: the plain rule, example by example."""

import numpy as np
import pytest

from lib2048 import Network, board_table
from lib2048.course import collect, fit


@pytest.fixture(scope="module")
def games():
    return collect("random", 5, seed=1)


def test_fit_is_the_plain_rule(games):
    fast, slow = Network("cells:0145,012"), Network("cells:0145,012")
    fit(fast, games.afterstates, games.returns, 0.2)
    for board, label in zip(games.afterstates, games.returns):
        error = np.float32(label) - np.float32(slow.value(board))
        slow.add(board, error * np.float32(0.2 / slow.lookups_per_board))
    assert np.allclose(fast.weights, slow.weights, rtol=1e-4, atol=1e-3)
    assert np.count_nonzero(fast.weights)


def test_fit_goes_by_the_network_s_own_functions():
    table = board_table("2x2")
    board = np.array([0x21], np.uint64)
    fit(table, board, [100], 1.0)
    assert table.value(board[0]) == pytest.approx(100)


def test_refusals(games):
    small = Network("cells:01")
    with pytest.raises(ValueError, match="one finite number for each of the 2 boards"):
        fit(small, games.afterstates[:2], [1])
    with pytest.raises(ValueError, match="one finite number"):
        fit(small, games.afterstates[:2], [1, np.nan])
    with pytest.raises(ValueError, match="a network of afterstates in one stage"):
        fit(Network("cells:01", "q"), games.afterstates[:2], [1, 2])
