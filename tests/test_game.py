"""A game as a value: its name, its odds, and other rules in the same kernels."""

import sys
import types

import numpy as np
import pytest

from lib2048 import Network, load, save
from lib2048.game import rules_2048
from lib2048.game.bits import WHOLE
from lib2048.game.board import afterstates, from_tiles, initial, spawn
from lib2048.game.game import FAMILIES, SEAM, new_game, parse_game, register
from lib2048.game.rng import stream
from lib2048.learn.games import Games, method_of
from lib2048.learn.settings import Settings
from lib2048.machine.kernels import bound, kernel
from lib2048.networks.storage import info
from lib2048.play.players import PolicyPlayer, greedy_policy, random_policy
from lib2048.search.expectimax import Search

NAMES = [
    "2048", "2048@3x4", "2048@1x2", "2048:four=0.2", "2048:four=0.2@3x4", "2048:four=0",
    "2048:four=0.123456789",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_written_as_it_is_read(name):
    game = parse_game(name)
    assert game.name == name and parse_game(game.name) == game


@pytest.mark.parametrize(
    "name",
    ["", "chess", "2048@", "2048@5x4", "2048@1x1", "2048:four=x", "2048:two=1", "2048:four=2"],
)
def test_another_name_is_one_line(name, refused):
    refused(lambda: parse_game(name))


GAMES = {"": "2048", "@2x3": "2048@2x3", "@2048:four=0.2": "2048:four=0.2",
         "@2048:four=0.2@2x3": "2048:four=0.2@2x3"}  # fmt: skip


@pytest.mark.parametrize(("said", "game"), GAMES.items())
def test_a_network_is_of_the_game_that_its_name_says(said, game):
    network = Network(f"cells:0145,014{said}")
    assert network.game == parse_game(game)
    assert network.folded().name == f"cells:0145{said}"


def test_any_network_may_be_of_a_game_on_the_whole_board():
    network = Network("4-22@2048:four=0.2", stages=1)
    assert network.tuples == Network("4-22").tuples


SPELLINGS = {
    "4-22": [
        "4-22@4x4",
        "4-22@2048",
        "4-22@2048@4x4",
        "4-22@2048:four=0.10",
        "4-22@2048:four=1e-1",
    ],
    "22-3@3x4": ["22-3@2048@3x4", "22-3@2048:four=0.1@3x4", "22-3@03x4"],
    "4-22@2048:four=0": ["4-22@2048:four=0.0@4x4", "4-22@2048:four=-0.0"],
    "22@2048:four=0.2@3x2": ["22@2048:four=.2@3x2", "22@2048:four=2e-1@3x2"],
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_game_has_one_spelling_in_a_network(name, tmp_path):
    for other in SPELLINGS[name]:
        assert Network(other).name == Settings(network=other).network == name
        save(Network(other), tmp_path / "a.npz")
        assert info(tmp_path / "a.npz")["network"] == load(tmp_path / "a.npz", other).name == name
        assert Settings.from_config({"network": other}) == Settings(network=name)


def test_the_numbers_of_2048():
    assert WHOLE == new_game() and WHOLE.fours == 429496730 and WHOLE.chances == {1: 0.9, 2: 0.1}
    assert (WHOLE.rows, WHOLE.columns) == (4, 4)
    assert [WHOLE.tile(e) for e in (0, 1, 11)] == [0, 2, 2048]


@pytest.mark.parametrize("four", [0.0, 0.1, 0.7, 1.0])
def test_spawned_tiles_come_as_often_as_the_outcomes_say(four):
    game, luck, fours = new_game(3, 4, four), stream(5, 5), 0
    after = np.uint64(0x21)
    outcomes = game.outcomes(after)
    assert len(outcomes) == (20 if 0 < four < 1 else 10)  # what cannot come is not listed
    assert abs(sum(chance for chance, _ in outcomes) - 1) < 1e-12
    possible = {int(state) for _, state in outcomes}
    for _ in range(4000):
        board, luck = spawn(after, luck, game)
        assert int(board) in possible
        fours += int(board ^ after).bit_length() % 4 == 2
    assert abs(fours / 4000 - four) < 5 * (0.25 / 4000) ** 0.5


@pytest.fixture(scope="module")
def doubled():
    """2048 under another name, and with rewards that are twice as large: a `Game`."""
    toy = types.ModuleType("doubled")
    vars(toy).update({k: x for k, x in vars(rules_2048).items() if not k.startswith("__")})
    toy.NAME = "doubled"

    @kernel
    def slide(board, game):
        up, right, down, left, p, q, r, s = rules_2048.slide(board, game)
        return up, right, down, left, p + p, q + q, r + r, s + s

    @kernel
    def slide_one(board, action, game):
        after, reward = rules_2048.slide_one(board, action, game)
        return after, reward + reward

    toy.slide, toy.slide_one = slide, slide_one
    sys.modules["doubled"] = toy
    register(toy)
    yield new_game(family=len(FAMILIES) - 1)
    FAMILIES.pop()
    del sys.modules["doubled"]


def test_2048_is_played_by_its_kernels_as_they_are():
    assert WHOLE.bind(greedy_policy) is greedy_policy
    assert bound(random_policy, SEAM, rules_2048) is random_policy


def test_policies_play_another_game_by_the_same_code(doubled):
    for policy in (random_policy, greedy_policy):
        ours = PolicyPlayer("2048", policy).play_games(0, 20, 1)
        theirs = PolicyPlayer("doubled", policy, game=doubled).play_games(0, 20, 1)
        ours[:, 1] *= 2
        assert (ours == theirs).all()


def test_the_loop_learns_another_game_by_the_same_code(doubled):
    found = []
    for game in ("2048", "doubled"):
        network = Network(f"cells:0123,4567@{game}")
        games = Games(network, method_of(network, Settings(network="cells:0123,4567")), 1)
        results, _ = games.play(10_000, 30, 30)
        found.append((results, network.weights.copy()))
    (ours, weights), (theirs, others) = found
    ours[:, 1] *= 2
    assert (ours == theirs).all() and (2 * weights == others).all() and weights.any()


def test_a_search_looks_ahead_in_another_game(doubled):
    network = Network("cells:0123,4567")
    board = from_tiles([[2, 2, 4, 8], [0, 4, 4, 16], [0, 0, 2, 2], [0, 0, 0, 2]])
    ours = Search(network, 3).decide(board)[1]
    vars(network)["game"] = doubled  # which a name says, once it is in FAMILIES
    assert Search(network, 3).decide(board)[1] == {a: 2 * value for a, value in ours.items()}


def test_people_slide_by_the_rules_of_the_game(doubled):
    board = initial(stream(1, 2))[0]
    assert afterstates(from_tiles([[2, 2, 0, 0], *[[0] * 4] * 3]), doubled)[0][2] == 8
    assert [a for a, *_ in afterstates(board, doubled)] == [a for a, *_ in afterstates(board)]
