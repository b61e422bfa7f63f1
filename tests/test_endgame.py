"""Endgames: the solver against a plain one, its counts, its tables on disk, stopped builds."""

import json
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from tiers import one_in

import lib2048
from lib2048 import ACTIONS, endgame, from_tiles, slide, spawn, symmetries, to_tiles
from lib2048.cli import main
from lib2048.endgame import solving
from lib2048.endgame.positions import WALLED
from lib2048.endgame.table import STEPS, action_of
from lib2048.game import frontier, spec
from lib2048.game.bits import WHOLE
from lib2048.game.rng import stream
from lib2048.machine.arrays import Archive, write_arrays


class Plain:
    """The same endgame, solved as one would write it down: tiles, a memo, and no layers."""

    def __init__(self, formation, four=0.1):
        self.target, self.cells, large = formation.target, formation.cells, iter(range(15, 0, -1))
        self.spawned = [(tile, chance) for tile, chance in ((2, 1 - four), (4, four)) if chance]
        self.empty = tuple(0 if c in self.cells else 1 << next(large) for c in range(16))
        self.value, self.after = cache(self._value), cache(self._after)

    def moves(self, board):
        """Yield (action, afterstate) of the actions that move something, and no large tile."""
        for action in range(4):
            rows, _ = spec.slide([board[i : i + 4] for i in (0, 4, 8, 12)], action)
            after = tuple(tile for row in rows for tile in row)
            stand = all(after[c] == tile for c, tile in enumerate(self.empty) if tile)
            if after != board and stand:
                yield action, after

    def _value(self, board):
        return max((self._worth(after) for _, after in self.moves(board)), default=0.0)

    def _worth(self, board):
        return 1.0 if any(board[c] == self.target for c in self.cells) else self.after(board)

    def _after(self, board):
        free = [c for c in self.cells if not board[c]]
        return sum(
            chance * self.value((*board[:c], tile, *board[c + 1 :])) / len(free)
            for c in free
            for tile, chance in self.spawned
        )

    def start(self):
        found = 0.0
        for a, b in permutations(self.cells, 2):
            for (x, first), (y, second) in product(self.spawned, repeat=2):
                board = [*self.empty]
                board[a], board[b] = x, y
                found += first * second * self.value(tuple(board))
        return found / (len(self.cells) * (len(self.cells) - 1))


@pytest.mark.parametrize(
    "name, target, four",
    [("411", 32, 0.1), ("33", 32, 0.1), ("222", 16, 0.3), ("1113", 16, 0.1)]
    + [(name, 16, four) for name in ("22", "31") for four in (0, 1)],
)
def test_a_plain_solver_says_the_same(name, target, four):
    table = endgame.solve(name, target, progress=False, exact=True, four=four)
    plain, states = Plain(table.formation, four), set()
    value = plain._value
    plain.value = cache(lambda board: states.add(board) or value(board))
    assert table.start == pytest.approx(plain.start(), abs=1e-12)
    assert table.states == len(states)
    assert table.afterstates == plain.after.cache_info().currsize
    for board in states:
        expected = {ACTIONS[action]: plain._worth(after) for action, after in plain.moves(board)}
        found = table.chances(from_tiles([board[i : i + 4] for i in (0, 4, 8, 12)]))
        assert found == pytest.approx(expected, abs=1e-12)


class PlainFree:
    """An endgame whose large tiles may move, by the rules as they are written to be read: a memo,
    no layers, no symmetry.  Tiles of 32768 never merge."""

    def __init__(self, target):
        self.target, self.value, self.after = target, cache(self._value), cache(self._after)

    def moves(self, board):
        """Yield (action, afterstate)."""
        for action in range(4):
            rows, _ = spec.slide([board[i : i + 4] for i in (0, 4, 8, 12)], action)
            after = tuple(tile for row in rows for tile in row)
            if after != board:
                yield action, after

    def _value(self, board):
        return max((self.worth(after) for _, after in self.moves(board)), default=0.0)

    def worth(self, board):
        return 1.0 if self.target in board else self.after(board)

    def _after(self, board):
        free = [c for c in range(16) if not board[c]]
        return sum(
            chance * self.value((*board[:c], tile, *board[c + 1 :])) / len(free)
            for c in free
            for tile, chance in ((2, 0.9), (4, 0.1))
        )


def _reached(formation):
    """Return the canonical states and afterstates of a free formation, by whole boards."""
    after, states, total = [], {2: [], 3: [], 4: []}, 2
    for cells in combinations(range(16), formation.large):
        for a, b in combinations([c for c in range(16) if c not in cells], 2):
            for x, y in product((1, 2), repeat=2):
                walls = sum(15 << 4 * c for c in cells)
                states[x + y].append(np.array([walls | x << 4 * a | y << 4 * b], np.uint64))
    found = []
    while total in states:
        here = frontier.distinct(frontier.canonicals(np.concatenate(states[total]), WHOLE))
        slid = frontier.afterstates_of(here, WALLED)
        won = [(slid >> np.uint64(4 * c) & np.uint64(15)) == formation.exponent for c in range(16)]
        slid = slid[~np.any(won, axis=0)]
        found, after = [*found, *here], [*after, *slid]
        for exponent in (1, 2) if len(slid) else ():
            spawned = frontier.spawned(slid, exponent, WHOLE)
            states.setdefault(total + exponent, []).append(spawned)
        total += 1
    return found, after


@pytest.fixture(scope="module")
def free():
    return endgame.solve("free4", 8, progress=False, exact=True)


def test_a_plain_solver_says_the_same_where_large_tiles_move(free, monkeypatch):
    monkeypatch.setattr(spec, "LARGEST_TILE", 32768)
    plain = PlainFree(8)
    states, afterstates = _reached(free.formation)
    assert (free.states, free.afterstates) == (len(states), len(afterstates))
    for board in states:
        tiles = tuple(tile for row in to_tiles(board) for tile in row)
        moves = plain.moves(tiles)
        expected = {ACTIONS[action]: plain.worth(after) for action, after in moves}
        assert free.chances(_told_apart(board)) == pytest.approx(expected, abs=1e-12)


def _told_apart(board):
    """Return a board whose tiles of 32768 are different large tiles instead."""
    walls = [c for c in range(16) if int(board) >> 4 * c & 15 == 15]
    return np.uint64(int(board) - sum(i << 4 * c for i, c in enumerate(walls)))


def test_the_images_of_a_board_whose_large_tiles_move_have_one_value():
    table, board = endgame.solve("free5", 16, progress=False), _told_apart(0xFFF11FFF02FF0FFF)
    expected = table.chances(board)
    assert len(set(expected.values())) > 1
    for image, turned_board in enumerate(symmetries(board)):
        turned = {
            ACTIONS[action_of(a, image)]: expected[name]
            for a, name in enumerate(ACTIONS)
            if name in expected
        }
        assert table.chances(turned_board) == turned


@pytest.fixture(scope="module")
def six():
    return endgame.solve("free6", 16, progress=False, exact=True)


@pytest.mark.parametrize("name", ["42", "33", "411"])
def test_tiles_that_may_move_lose_nothing(name, six):
    fixed = endgame.solve(name, 16, progress=False, exact=True)
    more = 0
    for board in _boards_of(fixed, 200):
        known, all_known = fixed.chances(board), six.chances(board)
        assert all(all_known[action] >= chance - 1e-12 for action, chance in known.items())
        more += six.success(board) > fixed.success(board) + 1e-6
    assert more


# Counted by a plain program in C++.
COUNTS = {
    ("4411", 32): (2_951_385, 1_189_210),
    ("4411", 64): (17_290_072, 8_153_639),
    ("442", 32): (2_190_598, 787_441),
    ("442", 64): (11_628_529, 4_922_904),
}


@pytest.mark.parametrize("name, target", one_in(2, COUNTS))
def test_so_many_positions_can_be_reached(name, target):
    table = endgame.solve(name, target, progress=False)
    assert (table.states, table.afterstates) == COUNTS[name, target]


@pytest.fixture(scope="module")
def table():
    return endgame.solve("411", 32, progress=False)


BOARD = from_tiles(
    [[2, 4, 0, 16], [2, 64, 128, 256], [0, 512, 1024, 2048], [4096, 8192, 16384, 32768]]
)


OTHER_ROWS = [[8, 64, 128, 256], [2, 512, 1024, 2048], [4096, 8192, 16384, 32768]]


def test_every_image_of_a_board_finds_its_formation(table):
    expected = table.chances(BOARD)
    assert len(expected) > 1
    for image, board in enumerate(symmetries(BOARD)):
        found = table.chances(board)
        turned = {
            ACTIONS[action_of(a, image)]: expected[name]
            for a, name in enumerate(ACTIONS)
            if name in expected
        }
        assert found == turned


def test_a_table_plays_and_knows_when_an_endgame_is_over(table):
    values = table.values(BOARD)
    assert {ACTIONS[action]: chance for action, chance in values.items()} == table.chances(BOARD)
    assert values[table.choose(BOARD)] == table.success(BOARD)
    won, dead = from_tiles([[2, 4, 32, 16], *OTHER_ROWS]), from_tiles([[2, 4, 2, 16], *OTHER_ROWS])
    assert table.has_won(won) and table.is_over(won)
    assert not table.has_won(dead) and table.is_over(dead) and table.choose(dead) is None
    assert not table.has_won(BOARD) and not table.is_over(BOARD)
    layers = dict(table.layers())
    assert sum(map(len, layers.values())) == table.afterstates
    after, _ = slide(BOARD, table.choose(BOARD))
    total = sum(tile for row in to_tiles(after) for tile in row if tile < 32)
    assert np.isclose(layers[total], table.success(BOARD)).any()


OTHERS = {
    "11 tiles of 32": BOARD | np.uint64(5 << 8),
    "9 tiles of 32": BOARD ^ np.uint64(15 << 60),
    "are alike": BOARD ^ np.uint64(1 << 60),
    "on other cells": BOARD ^ np.uint64(4 << 12 | 6 << 20) | np.uint64(6 << 12 | 4 << 20),
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_board_outside_says_why(table, why):
    with pytest.raises(ValueError, match=why):
        table.chances(OTHERS[why])


def test_a_table_is_kept_within_its_error(table, tmp_path):
    exact = endgame.solve("411", 32, progress=False, exact=True)
    table.save(tmp_path / "table.npz")
    loaded = endgame.load(tmp_path / "table.npz")
    assert loaded.start == table.start == exact.start
    for board in _boards_of(exact, 200):
        assert loaded.chances(board) == table.chances(board)
        assert loaded.chances(board) == pytest.approx(exact.chances(board), abs=1 / STEPS)


def _boards_of(table, count):
    """Return boards of games in the formation, by random actions."""
    rng, found, luck = np.random.default_rng(1), [], stream(1, 1)
    walls = _told_apart(table.formation.walls)
    while len(found) < count:
        board, luck = spawn(*spawn(walls, luck))
        while 0 < table.success(board) < 1:
            found.append(board)
            chances = {a: chance for a, chance in table.chances(board).items() if chance < 1}
            after, _ = slide(board, ACTIONS.index(rng.choice([*chances])))
            board, luck = spawn(after, luck)
    return found


def _written(path, **changed):
    """Write a sealed table with other arrays, None for none of that name."""
    with Archive(path) as arrays:
        whole = {name: arrays[name] for name in arrays} | changed
    write_arrays(path, {name: array for name, array in whole.items() if array is not None})


FORGED = {
    "version": [None, np.array([1, 1])],
    "marks": [None, np.zeros(1, np.uint64), np.zeros(4, np.float32)],
    "counts": [None, np.zeros(2, np.uint32)],
    "values": [None, np.zeros(3, np.uint16)],
}


@pytest.mark.parametrize("name, array", [(n, a) for n, arrays in FORGED.items() for a in arrays])
def test_a_forged_table_is_refused(table, tmp_path, name, array):
    table.save(path := tmp_path / "table.npz")
    endgame.load(path)
    _written(path, **{name: array})
    with pytest.raises(ValueError, match=r"table\.npz: "):
        endgame.load(path)


def test_counts_that_lie_are_refused(table, tmp_path):
    table.save(path := tmp_path / "table.npz")
    counts = table.look.marked.counts.copy()
    counts[1] += 1
    _written(path, counts=counts)
    with pytest.raises(ValueError, match="marks do not fit its values"):
        endgame.load(path)


@pytest.mark.parametrize("how", ["a byte changed", "cut off", "of weights", "another version"])
def test_a_damaged_table_is_refused(table, tmp_path, monkeypatch, how):
    path = tmp_path / "table.npz"
    if how == "another version":
        monkeypatch.setattr("lib2048.endgame.table.VERSION", 2)
        table.save(path)
        monkeypatch.undo()
    else:
        table.save(path)
    data = bytearray(path.read_bytes())
    if how == "a byte changed":
        data[len(data) // 2] ^= 1
    path.write_bytes(data[: len(data) // 2] if how == "cut off" else data)
    if how == "of weights":
        lib2048.save(lib2048.Network("4-22"), path)
    with pytest.raises(ValueError, match=r"table\.npz: "):
        endgame.load(path)


class Enough(KeyboardInterrupt):
    pass


@pytest.mark.parametrize("name, after", [("411", 3), ("411", 40), ("411", 60), ("free4", 20)])
def test_a_stopped_build_goes_on(tmp_path, monkeypatch, name, after):
    whole, path, calls = endgame.solve(name, 32, progress=False), tmp_path / "table.npz", []
    each = solving.Build._each

    def stop(self, *arguments):
        calls.append(1)
        if len(calls) == after:
            raise Enough
        each(self, *arguments)

    monkeypatch.setattr(solving.Build, "_each", stop)
    with pytest.raises(KeyboardInterrupt):
        endgame.solve(name, 32, path, progress=False)
    assert not path.exists()
    with pytest.raises(ValueError, match="another endgame or version: remove"):
        endgame.solve(name, 16, path, progress=False)
    found = endgame.solve(name, 32, path, progress=False)
    assert found.start == whole.start and (found.look.values == whole.look.values).all()
    assert [file.name for file in tmp_path.iterdir()] == ["table.npz"]


WRONG = {
    "give the free cells": ("45", 64),
    "3 free cells": ("3", 64),
    "formation free3: 3 free": ("free3", 64),
    "formation free16: 16 free": ("free16", 64),
    "or free8": ("free", 64),
    "free9-512 .* needs .* MiB": ("free9", 512),
    "16 free cells": ("4444", 64),
    "target 60": ("4411", 60),
    "target 0:": ("4411", 0),
    "target much:": ("4411", "much"),
    "target 32768": ("4411", 32768),
    "needs .* MiB": ("4444"[:3], 1024),
}


@pytest.mark.parametrize("why", WRONG)
def test_what_makes_no_endgame_is_refused_before_anything_is_built(why, tmp_path):
    with pytest.raises((ValueError, MemoryError), match=why):
        endgame.solve(*WRONG[why], tmp_path / "table.npz")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("how", [{"four": 1.5}, {"four": -1}, {"threads": -2}], ids=str)
def test_numbers_that_make_no_sense_are_refused_before_anything_is_built(how, tmp_path, refused):
    refused(lambda: endgame.solve("211", 8, tmp_path / "table.npz", **how))
    assert not any(tmp_path.iterdir())


# ---------------------------------------------------------------- the command


SAID = "2,4,0,16,2,64,128,256,0,512,1024,2048,4096,8192,16384,32768"


def test_the_command_builds_a_table_and_looks_boards_up(table, tmp_path, capsys):
    out = str(tmp_path / "table.npz")
    assert main(["endgame", "411", "--target", "32", "--out", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("seconds") > 0
    assert told == {
        "formation": "411", "target": 32, "states": table.states,
        "afterstates": table.afterstates, "start": table.start,
    }  # fmt: skip
    assert main(["endgame", out, "--board", SAID, "--json"]) == 0
    told, expected = json.loads(capsys.readouterr().out), table.chances(BOARD)
    assert told["actions"] == pytest.approx(expected, abs=1e-6)
    assert told["success"] == max(told["actions"].values())
    assert (told["formation"], told["target"]) == ("411", 32)


REFUSED = {
    "--target is missing": ["411"],
    "--board is missing": ["FILE"],
    "give 16 tiles": ["FILE", "--board", "2,4"],
    "is not a tile": ["FILE", "--board", "3" + SAID[1:]],
    "99999999999999999999": ["FILE", "--board", "9" * 20 + SAID[1:]],
    "tiles of 32 and more": ["FILE", "--board", "65536" + SAID[1:]],
    "target 0:": ["411", "--target", "0", "--out", "OUT.npz"],
    "are alike": ["FILE", "--board", SAID.replace("64", "8192")],
    "--target has no effect": ["FILE", "--board", SAID, "--target", "8"],
    "tables are saved as .npz": ["411", "--target", "32", "--out", "OUT.txt"],
    "and no formation, such as 4411": ["44x", "--target", "64"],
    "no such file": ["other.npz", "--board", SAID],
    "no table of an endgame": ["WEIGHTS", "--board", SAID],
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_wrong_word_of_the_command_is_one_line(why, table, tmp_path, capsys):
    files = {name: str(tmp_path / f"{name.lower()}.npz") for name in ("FILE", "WEIGHTS")}
    table.save(files["FILE"])
    lib2048.save(lib2048.Network("4-22"), files["WEIGHTS"])
    words = [files.get(word, word.replace("OUT", str(tmp_path / "out"))) for word in REFUSED[why]]
    before = sorted(tmp_path.iterdir())
    assert main(["endgame", *words]) == 2
    said = capsys.readouterr()
    assert why in said.err and said.err.count("\n") == 1 and not said.out
    assert sorted(tmp_path.iterdir()) == before
