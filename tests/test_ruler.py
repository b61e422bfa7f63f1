"""The ruler: a player's own play evaluated exactly, its rollouts, and where games are lost."""

from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

import lib2048
from lib2048 import NetworkPlayer, SearchPlayer, data, endgame, from_tiles, symmetries
from lib2048.endgame import Formation
from lib2048.endgame.table import look_up
from lib2048.game import spec
from lib2048.game.batch import exponents as exponents_of
from lib2048.game.bits import WHOLE
from lib2048.play.evaluation import boards_of
from lib2048.ruler import positions
from lib2048.ruler.following import CHOICES, LEAVING, WON, follow
from lib2048.ruler.losses import ANY, OTHER, formation_of, leading, where_lost
from lib2048.ruler.regret import measure, optimum, summed
from lib2048.ruler.rollouts import rollouts

pytestmark = pytest.mark.ci

TILES = [2**n for n in range(15, 5, -1)]


def laid(name, target):
    """Return the board of large tiles on a formation's walls."""
    formation, large = Formation(name, target), iter(TILES)
    board = [0 if c in formation.cells else next(large) for c in range(16)]
    return from_tiles([board[i : i + 4] for i in (0, 4, 8, 12)])


@pytest.fixture(scope="module")
def who():
    network = lib2048.Network("4-22")
    network.weights[:] = np.random.default_rng(1).normal(0, 1, network.weights.shape)
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


@pytest.mark.parametrize("name, target", [("411", 16), ("33", 16)])
def test_a_plain_evaluation_says_the_same(who, name, target):
    large = laid(name, target)
    found = follow(who, name, target, large, progress=False)
    tiles = tuple(map(tuple, lib2048.to_tiles(large)))
    plain, values = Plain(who, Formation(name, target), tiles), {}
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

    name, game = "table", WHOLE

    def __init__(self, table):
        self.look = table.look

    def choose(self, board):
        action = self.decide_all(np.array([board]), None)[0][0]
        return None if action == 4 else int(action)

    def decide_all(self, boards, words):
        worths = np.empty((len(boards), 4))
        for board, out in zip(boards, worths):
            if not look_up(self.look, board, out):
                out[:] = np.nan
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


# ---------------------------------------------------------------- rollouts


@pytest.fixture(scope="module")
def table():
    return endgame.solve("411", 32, progress=False, exact=True)


def beginnings():
    """Return boards in the formation, in the last of which the target comes at once."""
    rows = ([2, 4, 0, 0], 2, 8), ([16, 8, 0, 2], 8, 0), ([2, 2, 0, 0], 0, 0), ([16, 16, 0, 4], 8, 2)
    small = ([top, [a, 0, 0, 0], [b, 0, 0, 0], [0] * 4] for top, a, b in rows)
    return [laid("411", 32) | from_tiles(board) for board in small]


def test_the_rollouts_of_perfect_play_come_to_the_tables_values(table):
    boards = symmetries(beginnings()[0])[:2].tolist() + beginnings()[1:]
    found = rollouts(ByTable(table), boards, 32, 2000) / 2000
    expected = optimum([table], boards)
    assert expected[0] == expected[1] and expected[-1] == found[-1] == 1
    assert ((0.02 < expected) & (expected < 0.98))[:-1].all()
    assert abs(found - expected) == pytest.approx(0, abs=4 * 0.5 / 2000**0.5)


def test_each_way_to_ask_a_player_rolls_out_alike(who):
    class Slow:
        choose, game = who.choose, who.game

    alike = Slow(), SearchPlayer(who.network, 1), lib2048.ValuePlayer(who.network.values)
    boards = [from_tiles([[0] * 4, [2, 2, 64, 0], [0, 0, 128, n], [0] * 4]) for n in (2, 4, 8)]
    found = rollouts(who, boards, 64, 100)
    assert ((found > 0) & (found < 100)).all()
    for other in alike:
        assert (rollouts(other, boards, 64, 100) == found).all()


@pytest.mark.parametrize("name", ["network", "random"])
def test_neither_threads_nor_a_second_time_change_a_rollout(who, name, monkeypatch):
    monkeypatch.setattr("lib2048.ruler.rollouts.AT_ONCE", 100)
    boards = beginnings() * 2
    one = who if name == "network" else lib2048.player(name)
    found = rollouts(one, boards, 32, 100, threads=2)
    for _ in range(2):
        assert (found == rollouts(one, boards, 32, 100)).all()


def test_a_move_of_a_large_tile_is_no_success(who):
    board = from_tiles([[0, 64, 32, 0], [2, 4, 8, 16], [4, 8, 16, 2], [0, 0, 0, 0]])
    found = rollouts(who, [board], 1 << 14, 50)  # no tile of 16384 comes of that
    assert found[0] == 0


# ---------------------------------------------------------------- positions and regret


@pytest.fixture(scope="module")
def ruler(who):
    return positions.meet({"one": who, "two": who}, 61, ("444", "4431", "443"), 8, every=20)


def test_a_name_of_two_words_is_refused_before_a_game(who, refused):
    refused(lambda: positions.meet({"4-22, 3-ply": who}, 1), "in a ruler its name is one word")


def test_positions_are_those_of_the_games(who, ruler, tmp_path):
    assert len(ruler) == 61 and np.bincount(ruler.player).tolist() == [30, 31]
    blocks = [*zip(ruler.player, ruler.game, ruler.action // 20)]
    assert len({*blocks}) == len(blocks)
    for board, which, game, action in zip(ruler.boards, ruler.formation, ruler.game, ruler.action):
        assert boards_of(who, ruler.seed, int(game))[action] == board
        walls = {c for c in range(16) if int(board) >> 4 * c & 15 >= 3}
        tiles = [int(board) >> 4 * c & 15 for c in walls]
        assert len({*tiles}) == len(tiles) and formation_of(walls) == ruler.formations[which]
    ruler.save(tmp_path / "ruler.npz")
    again = positions.load(tmp_path / "ruler.npz")
    for name, found in vars(ruler).items():
        assert np.array_equal(getattr(again, name), found)


def test_other_files_and_damaged_ones_are_refused(ruler, tmp_path):
    path = tmp_path / "ruler.npz"
    lib2048.save(lib2048.Network("4-22"), path)
    with pytest.raises(ValueError, match="no positions of a ruler"):
        positions.load(path)
    ruler.save(path)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"boards.npy") + 200] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"ruler\.npz: "):
        positions.load(path)


def test_regret_is_what_is_promised_less_what_is_made(who, ruler):
    tables = [endgame.solve(name, 8, progress=False) for name in ("444", "443")]
    numbers = ruler.sample(20)
    promised = optimum(tables, ruler.boards[numbers])
    known = ruler.formation[numbers] != 1
    assert (np.isnan(promised) != known).all() and known.any()
    rows = measure(who, ruler, numbers[known], promised[known], times=40)
    every = summed(rows).loc["all"]
    expected = promised[known] - rows["made"] / 40
    assert every["regret"] == pytest.approx(expected.mean())
    assert every["half"] == pytest.approx(1.96 * expected.std(ddof=1) / len(expected) ** 0.5)
    parts = summed(rows, "formation")
    assert (parts["positions"] * parts["regret"]).sum() == pytest.approx(expected.sum())


def test_the_positions_that_are_kept_are_what_they_say():
    ruler = positions.load(data("ruler.npz"))
    assert len(ruler) == 10_000 and ruler.target == 256
    exponents = exponents_of(ruler.boards).reshape(-1, 16)
    large = exponents >= 8
    assert (large.sum(axis=1) == 6).all()
    tiles = np.sort(exponents[large].reshape(-1, 6))
    assert (np.diff(tiles) > 0).all()
    for n in [*np.flatnonzero(ruler.formation == 0), *ruler.sample(200)]:
        assert formation_of(np.flatnonzero(large[n])) == ruler.formations[ruler.formation[n]]
    tiles = np.where(large, 0, 1 << exponents) * (exponents > 0)
    assert (ruler.free == tiles.sum(axis=1)).all()


@pytest.mark.slow
def test_the_positions_that_are_kept_are_met_in_their_games():
    ruler = positions.load(data("ruler.npz"))
    for number, name in enumerate(ruler.players):
        player = NetworkPlayer(lib2048.load(data(f"weights/{name}.npz"), to_play=True))
        found = positions.meet({name: player}, 20, ruler.formations, ruler.target)
        first = ruler.player == number
        for field in ("boards", "formation", "game", "action"):
            assert (getattr(ruler, field)[first][:20] == getattr(found, field)).all()


# ---------------------------------------------------------------- losses


def test_leading_tiles_are_different_and_larger_than_all_others():
    boards = [
        from_tiles([[2, 2, 4, 8], [0, 0, 16, 32], [0] * 4, [0] * 4]),
        from_tiles([[32, 2, 32, 8], [0, 0, 16, 4], [0] * 4, [0] * 4]),
        from_tiles([[0, 0, 0, 2], [0] * 4, [0] * 4, [0] * 4]),
        from_tiles([[1 << n for n in range(m, m + 4)] for m in (1, 5, 9, 12)]),
    ]
    many, cells = leading(boards)
    assert many.tolist() == [4, 0, 1, 3]
    assert cells[0, :4].tolist() == [7, 6, 3, 2]


@pytest.mark.parametrize("name", ["4411", "442", "443", "444", "33"])
def test_every_image_of_a_formation_has_its_name(name):
    for board in symmetries(Formation(name, 16).walls):
        assert formation_of([c for c in range(16) if int(board) >> 4 * c & 15]) == name
    assert formation_of([0, 5, 10]) == OTHER


def test_lost_games_are_counted_by_formation(who):
    lost, found = where_lost(who, 20, below=128)
    largest = [int(boards_of(who, 2048, n)[-1]) for n in range(20)]
    assert lost == sum(max(b >> 4 * c & 15 for c in range(16)) < 7 for b in largest) > 0
    for turns in (0, 100):
        by_large = [found.get((turns, large, ANY), 0) for large in range(3, 9)]
        assert by_large == sorted(by_large, reverse=True) and by_large[0] <= lost
        for large, count in zip(range(3, 9), by_large):
            parts = [n for (t, m, f), n in found.items() if (t, m) == (turns, large) and f != ANY]
            assert sum(parts) == count
