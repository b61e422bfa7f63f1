"""Players that know endgames: what a search asks its tables, and what a leaf is then worth."""

import json

import numba
import numpy as np
import pytest

import lib2048
from lib2048 import ACTIONS, Network, afterstates, endgame, save, symmetries
from lib2048.cli import main
from lib2048.endgame import Endgames
from lib2048.endgame.known import FILLED, success_after
from lib2048.machine.printed import percent
from lib2048.play.players import SearchPlayer, network_player
from lib2048.search.expectimax import SHARE
from lib2048.search.tree import SearchTree
from lib2048.show.widgets.mind import mind_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endgames")
    for name, target in (("42", 64), ("411", 32), ("free5", 16)):
        endgame.solve(name, target, folder / f"{name}-{target}.npz", progress=False)
    return folder


@pytest.fixture(scope="module")
def known(folder):
    return Endgames(folder)


@pytest.fixture(scope="module")
def network():
    network = Network("4-22", stages=2)
    luck = np.random.default_rng(1)
    network.weights[:] = luck.random(network.weights.size, np.float32) * 1000
    return network


@numba.njit
def asked(rows, boards):
    found, tables = np.zeros(len(boards)), np.zeros(len(boards), np.int64)
    for i in range(len(boards)):
        found[i], tables[i] = success_after(rows, boards[i])
    return found, tables


def boards_of(table, count, luck):
    """Draw boards in a table's formation, with any large tiles, full or empty, in any image."""
    formation = table.formation
    for _ in range(count):
        exponents = np.zeros(16, np.int64)
        cells = luck.permutation(16)[: formation.small] if formation.free else [*formation.cells]
        walls = [cell for cell in range(16) if cell not in cells]
        exponents[walls] = luck.permutation(np.arange(formation.exponent, 16))[: len(walls)]
        tiles = luck.integers(1, formation.exponent, len(cells))
        exponents[cells] = tiles * (luck.random(len(tiles)) < luck.random())
        board = np.uint64(sum(int(e) << 4 * cell for cell, e in enumerate(exponents)))
        yield symmetries(board)[luck.integers(8)]


def sum_below(board, target):
    tiles = [1 << (int(board) >> 4 * cell & 15) for cell in range(16)]
    return sum(tile for tile in tiles if 1 < tile < target)


def is_asked(table, board):
    return table.formation.free or sum_below(board, table.formation.target) >= FILLED


def test_a_search_hears_what_a_table_says(known):
    luck = np.random.default_rng(2)
    assert [str(table.formation) for table in known.tables] == ["42-64", "411-32", "free5-16"]
    heard = 0
    for number, table in enumerate(known.tables):
        for board in boards_of(table, 300, luck):
            chances, exponent = table.chances(board), table.formation.exponent
            asks = is_asked(table, board)
            told = {ACTIONS.index(a): p for a, p in chances.items()}
            here = known.known(board) or (None, None)
            assert here == (table, told) if asks else here[0] is not table
            for action, after, _ in afterstates(board):
                large = sum(int(after) >> 4 * cell & 15 >= exponent for cell in range(16))
                chance = chances.get(ACTIONS[action])
                if chance is None or large > table.formation.large:  # left, or won: others may know
                    continue
                images = np.array(symmetries(after), np.uint64)
                found, which = asked(known.rows, images)
                assert ((which == number) == asks).all() and (found == chance).all() >= asks
                heard += asks
    assert heard > 400


def test_no_table_knows_an_open_board(known):
    boards = np.array([0, 0x1122, 0xF0E0D0C0B0A09080, 0xFFFFFFFFFF000000], np.uint64)
    assert (asked(known.rows, boards)[0] == -1).all()
    assert (asked(Endgames([]).rows, boards)[0] == -1).all()
    assert known.known(np.uint64(0x1122)) is None


def expected(network, known, board):
    """What the player thinks of each action at 1-ply, in plain words of Python."""
    worths = {}
    for action, after, reward in afterstates(board):
        worth = float(network.value(after))
        found, which = asked(known.rows, np.array([after], np.uint64))
        if (chance := found[0]) >= 0:
            target = known.tables[which[0]].formation.target
            cells = [int(after) >> 4 * cell & 15 for cell in range(16)]
            large = [e if 1 << e >= target else 0 for e in cells]
            won = []
            for cell in range(16):
                if not large[cell]:
                    after_it = [*large]
                    after_it[cell] = target.bit_length() - 1
                    bits = sum(e << 4 * place for place, e in enumerate(after_it))
                    won.append(float(network.value(np.uint64(bits))))
            paid = [(e - 1) << e for e in cells if 0 < 1 << e < target and e]
            points = (target.bit_length() - 2) * target - sum(paid)
            by_table = chance * max(won) + max(points, 0) * (1 + chance) / 2
            worth += float(SHARE) * (by_table - worth)
        worths[action] = reward + worth
    return worths


def test_a_leaf_is_worth_what_network_and_table_say(network, known):
    luck, changed = np.random.default_rng(3), 0
    knows, knows_not = (SearchPlayer(network, 1, endgames=e, halve=False) for e in (known, None))
    for table in known.tables:
        for board in boards_of(table, 150, luck):
            worths = expected(network, known, board)
            assert knows.values(board) == pytest.approx(worths, rel=1e-5)
            changed += knows.values(board) != knows_not.values(board)
    assert changed > 30


def test_a_tree_has_the_values_of_the_search(network, known):
    luck = np.random.default_rng(4)
    for board in boards_of(known.tables[0], 5, luck):
        for plies in (1, 2):
            tree = SearchTree(network, board, plies, endgames=known)
            worths = {option.action: option.worth for option in tree.options()}
            who = SearchPlayer(network, plies, endgames=known, halve=False)
            assert worths == who.values(board)


def test_what_success_is_worth_changes_with_the_weights(known):
    network = Network("4-22")
    network.weights[:] = np.random.default_rng(5).random(network.size, np.float32)
    who = SearchPlayer(network, 1, endgames=known)
    luck = np.random.default_rng(6)
    drawn = boards_of(known.tables[0], 500, luck)
    board = next(board for board in drawn if (found := known.known(board)) and found[1])
    who.values(board)
    network.weights[:] *= 20
    assert who.values(board) == SearchPlayer(network, 1, endgames=known).values(board)


def test_it_says_what_it_knows(network, known):
    board = next(b for b in boards_of(known.tables[0], 99, np.random.default_rng(5))
                 if is_asked(known.tables[0], b) and known.tables[0].chances(b))  # fmt: skip
    said = mind_of(SearchPlayer(network, 1, endgames=known)).advise(board)["known"]
    name, chance = max(known.tables[0].chances(board).items(), key=lambda each: each[1])
    assert said.startswith("table 42-64 knows: ") and f"{name} {percent(chance)}" in said
    assert mind_of(SearchPlayer(network, 1)).advise(board)["known"] == ""


def test_it_plays_the_same_games_by_any_threads(network, folder):
    who = lib2048.player(network, endgames=folder)
    assert who.name.endswith("3 endgames") and who.known(np.uint64(0)) is None
    one = lib2048.evaluate(who, 20)
    two = lib2048.evaluate(network_player(network, endgames=Endgames(folder)), 20, threads=2)
    assert (one.scores == two.scores).all()


@pytest.mark.parametrize(
    "why, make",
    [
        ("no tables of endgames", lambda network, path: network_player(network, endgames=path)),
        ("16 bits", lambda *_: Endgames([endgame.solve("31", 16, exact=True, progress=False)])),
        (
            "for a network of look-up tables",
            lambda network, path: lib2048.player("greedy", endgames=path),
        ),
        (
            "42-64 is an endgame of 2048, and network .* plays 2048:four=0.2",
            lambda network, path: network_player(
                Network("4-22@2048:four=0.2"), endgames=path.parent
            ),
        ),
    ],
)
def test_what_cannot_be_is_said_in_a_line(why, make, network, folder):
    (empty := folder / "none").mkdir(exist_ok=True)
    with pytest.raises(ValueError, match=why) as error:
        make(network, empty)
    assert "\n" not in str(error.value)


def test_the_command_plays_with_endgames(network, folder, tmp_path, capsys):
    save(network, tmp_path / "mine.npz")
    command = ["play", str(tmp_path / "mine.npz"), "--games", "5", "--json"]
    assert main([*command, "--endgames", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["endgames"] == ["42-64", "411-32", "free5-16"]
    assert main([*command, "--endgames", str(tmp_path)]) == 2
    assert "mine.npz" in capsys.readouterr().err
    assert main(["play", "greedy", "--endgames", str(folder)]) == 2
    assert "has no network" in capsys.readouterr().err
