"""Playing and searching with several stages: read, and never written."""

import random

import numpy as np
import pytest
import reference
from learners import bits, scattered
from reference import number, tiles
from test_learning import plain_parts
from test_stages import board_with, staged

from lib2048 import SearchPlayer, evaluate, from_tiles, slide, train
from lib2048.play.players import NetworkPlayer
from lib2048.search.expectimax import Search

# ---------------------------------------------------------------- playing and searching

USES = {
    "what is read": lambda net: net.values(np.arange(1, 200, dtype=np.uint64) << np.uint64(20)),
    "one value": lambda net: net.value(board_with(32, 16, 8, 2)),
    "look-ups": lambda net: net.lookups(board_with(32, 16, 8, 2)),
    "a choice": lambda net: NetworkPlayer(net).decide(board_with(32, 16, 8, 2)),
    "games": lambda net: evaluate(net, 10, seed=2),
    "2-ply games": lambda net: evaluate(SearchPlayer(net, 2), 2, seed=2),
    "3-ply": lambda net: Search(net, 3).decide(board_with(32, 16, 8, 8, 4, 2, 2, 64, 128, 32)),
    "folding": lambda net: net.folded(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_nothing_but_training_writes_into_a_network(use):
    network = scattered(staged("cells:0123,12"), share=0.4)
    before = network.weights.tobytes()
    use(network)
    assert network.weights.tobytes() == before


def half_full(large, empty, seed):
    """Return a board of small tiles and some large ones, with so many empty cells."""
    rng = random.Random(seed)
    small = [rng.choice([2, 4, 8, 16]) for _ in range(16 - empty - len(large))]
    return board_with(*large, *small, seed=seed)


SEARCHED = [
    half_full(large, empty, seed)
    for seed, (large, empty) in enumerate(
        [((), 2), ((16,), 2), ((32, 64), 1), ((8, 8, 8), 3), ((32,), 2)]
    )
]


def worth(network, after, plies):
    """An afterstate's value with so many plies below it, by `Network.value` alone."""
    if plies == 0:
        return network.value(number(after))
    total, cells = 0.0, reference.spec.empty_cells(after)
    for cell in cells:
        for tile, chance in ((2, 0.9), (4, 0.1)):
            state = reference.with_tile(after, cell, tile)
            total += chance * max(worths(network, state, plies).values(), default=0.0)
    return total / len(cells)


def worths(network, state, plies):
    outcomes = reference.outcomes(state).items()
    return {a: reward + worth(network, after, plies - 1) for a, (after, reward) in outcomes}


@pytest.mark.parametrize("promotion", [True, False])
@pytest.mark.parametrize("plies", [1, 2])
@pytest.mark.parametrize("board", SEARCHED)
def test_search_is_the_plain_recursion_over_value(promotion, plies, board):
    network = scattered(staged("cells:0145,012", 3, 64, promotion), share=0.5)
    expected = worths(network, tiles(board), plies)
    assert Search(network, plies).decide(board)[1] == pytest.approx(expected, rel=1e-5, abs=1e-3)
    if plies == 1:
        assert NetworkPlayer(network).values(board) == pytest.approx(expected, rel=1e-5, abs=1e-3)


def test_search_looks_three_plies_ahead_and_over_a_boundary():
    network = scattered(staged("cells:0145,012", 3, 64), share=0.5)
    board = from_tiles([[32, 32, 16, 2], [4, 16, 8, 4], [8, 2, 16, 8], [2, 0, 4, 2]])
    expected = worths(network, tiles(board), 3)
    found = Search(network, 3).decide(board)
    assert found[1] == pytest.approx(expected, rel=1e-5, abs=1e-3)
    behind = [slide(board, action)[0] for action in expected]
    assert len({network.stage(after) for after in behind}) > 1


def test_functions_of_ones_own_see_the_stages():
    """The look-ups of one's own are moved to the board's stage, and read through."""
    tables, library = staged(), staged()
    _, value, update = plain_parts(tables)
    own = tables.with_functions(value=value, update=update)
    train(own, actions=3000, progress=False)
    train(library, actions=3000, progress=False)
    np.testing.assert_array_equal(bits(own.weights), bits(library.weights))
    assert all(own.table(0, block).any() for block in range(4))
    one, other = SearchPlayer(own, 2), SearchPlayer(tables, 2)
    assert one.values(SEARCHED[0]) == other.values(SEARCHED[0])
    np.testing.assert_array_equal(own.values(SEARCHED), tables.values(SEARCHED))
