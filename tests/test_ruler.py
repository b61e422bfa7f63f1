"""The ruler: a player's own play evaluated exactly, its rollouts, and where games are lost."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

import lib2048
from lib2048 import NetworkPlayer, endgame, from_tiles
from lib2048.endgame.table import look_up
from lib2048.game import spec
from lib2048.ruler.following import CHOICES, LEAVING, WON, follow

TILES = [2**n for n in range(15, 5, -1)]


def laid(name, target):
    """Return the board of large tiles on a formation's walls."""
    formation, large = endgame.Formation(name, target), iter(TILES)
    board = [0 if c in formation.cells else next(large) for c in range(16)]
    return from_tiles([board[i : i + 4] for i in (0, 4, 8, 12)])


@pytest.fixture(scope="module")
def who():
    network = lib2048.Network("4-22")
    network.weights[:] = np.random.default_rng(1).normal(0, 20, network.weights.shape)
    return NetworkPlayer(network)


class Plain:
    """The same evaluation as one would write it down: the rules, a memo, and no layers."""

    def __init__(self, who, formation, large):
        self.who, self.formation, self.large = who, formation, large
        self.value = cache(self._value)

    def _value(self, board):
        """Return (chance of success, choices to come, those of them that would leave)."""
        wanted, worths = self.who.decide(from_tiles(board))
        if wanted is None:
            return 0.0, 0.0, 0.0
        kept = {a: after for a in worths if self.stands(after := spec.slide(board, a)[0])}
        leaves = float(wanted not in kept)
        if not kept:
            return 0.0, 1.0, leaves
        after = kept[wanted if wanted in kept else max(kept, key=lambda a: worths[a])]
        cells = self.formation.cells
        if any(after[c // 4][c % 4] == self.formation.target for c in cells):
            return 1.0, 1.0, leaves
        free, found = [c for c in cells if not after[c // 4][c % 4]], np.zeros(3)
        for c, (tile, chance) in product(free, [(2, 0.9), (4, 0.1)]):
            found += chance / len(free) * np.array(self.value(put(after, c, tile)))
        return tuple(found + [0.0, 1.0, leaves])

    def stands(self, board):
        return all(
            board[c // 4][c % 4] == self.large[c // 4][c % 4]
            for c in range(16)
            if c not in self.formation.cells
        )

    def start(self):
        found, pairs = np.zeros(3), [*permutations(self.formation.cells, 2)]
        for (a, b), (x, p), (y, q) in product(pairs, *[[(2, 0.9), (4, 0.1)]] * 2):
            board = put(put(self.large, a, x), b, y)
            found += p * q / len(pairs) * np.array(self.value(board))
        return found


def put(board, cell, tile):
    return tuple(
        tuple(tile if 4 * r + c == cell else board[r][c] for c in range(4)) for r in range(4)
    )


@pytest.mark.parametrize("name, target", [("411", 32), ("33", 16)])
def test_a_plain_evaluation_says_the_same(who, name, target):
    large = laid(name, target)
    found = follow(who, name, target, large, progress=False)
    tiles = tuple(map(tuple, lib2048.to_tiles(large)))
    plain, values = Plain(who, endgame.Formation(name, target), tiles), {}
    value = plain._value
    plain.value = cache(lambda board: values.setdefault(board, value(board)))
    success, choices, leaving = plain.start()
    assert found.start == pytest.approx(success, abs=1e-12)
    assert found.flow[:, WON].sum() == pytest.approx(success, abs=1e-12)
    assert found.flow[:, CHOICES].sum() == pytest.approx(choices, abs=1e-9)
    assert found.flow[:, LEAVING].sum() == pytest.approx(leaving, abs=1e-9)
    assert 0 < found.leaves < 1 and 0 < found.start
    for board, (chance, _, _) in values.items():
        assert found.success(from_tiles(board)) == pytest.approx(chance, abs=1e-12)


class ByTable:
    """The player that takes what a table says."""

    name = "table"

    def __init__(self, table):
        self.look = table.look

    def decide_all(self, boards, words):
        worths = np.empty((len(boards), 4))
        for board, out in zip(boards, worths):
            assert look_up(self.look, board, out)
        actions = np.argmax(np.nan_to_num(worths, nan=-1), axis=1)
        return np.where(np.isnan(worths).all(axis=1), 4, actions), worths


def test_no_policy_beats_the_optimum_and_the_tables_own_reaches_it(who):
    best, large = endgame.solve("411", 32, progress=False, exact=True), laid("411", 32)
    own = follow(who, "411", 32, large, progress=False)
    by_table = follow(ByTable(best), "411", 32, large, progress=False)
    assert by_table.start == pytest.approx(best.start, abs=1e-12) and by_table.leaves == 0
    optimal, found = (t.look.values for t in (best, own.table))  # √ of the chance of failure
    assert len(optimal) == len(found) and (found >= optimal).all()
    assert own.start < best.start - 0.01


@pytest.mark.parametrize("large", [0, 15, 0x1234])
def test_other_large_tiles_are_refused(who, large):
    board = laid("411", 32) ^ np.uint64(large)
    with pytest.raises(ValueError, match="large tiles: on each cell"):
        follow(who, "411", 32, board if large else np.uint64(0), progress=False)
    found = follow(who, "33", 16, laid("33", 16), progress=False)
    with pytest.raises(ValueError, match="other large tiles"):
        found.success(board)
