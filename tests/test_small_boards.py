"""Smaller boards in the corner of the big one: the rules, networks, learning, exploration."""

import random

import numpy as np
import pytest
from learners import scattered

from lib2048 import (
    Network,
    NetworkPlayer,
    Run,
    SearchPlayer,
    Settings,
    SmallGame,
    ValuePlayer,
    evaluate,
    load,
    record_game,
    stream,
    train,
)
from lib2048.game import bits, board, rules_2048, spec
from lib2048.game.game import new_game, parse_game
from lib2048.learn.games import Games, method_of
from lib2048.learn.starts import STARTS
from lib2048.networks.lookups import TURNED
from lib2048.networks.names import with_game, word
from lib2048.play.evaluation import TEST_SEED
from lib2048.search.batched import BatchSearch
from lib2048.search.expectimax import Search
from lib2048.search.tree import SearchTree

SIZES = [(rows, columns) for rows in range(1, 5) for columns in range(1, 5)]


def packed(tiles):
    """Pack a small board into the upper left corner."""
    rows = [list(row) + [0] * (4 - len(row)) for row in tiles]
    return board.from_tiles(rows + [[0] * 4] * (4 - len(rows)))


def random_tiles(rows, columns, rng):
    return [[rng.choice([0, 0, 2, 4, 8, 16]) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("rows, columns", SIZES)
def test_slides_are_those_of_the_rules(rows, columns):
    rng, game = random.Random(rows * 4 + columns), new_game(rows, columns)
    for _ in range(200):
        tiles = random_tiles(rows, columns, rng)
        for action in range(4):
            after, reward = spec.slide(tiles, action)
            assert board.slide(packed(tiles), action, game) == (packed(after), reward)
        assert board.from_tiles(tiles, game) == packed(tiles)
        assert board.to_tiles(packed(tiles), game) == tiles
        found = rules_2048.slide(packed(tiles), game)[:4]
        assert list(found) == [packed(spec.slide(tiles, action)[0]) for action in range(4)]
        legal = [action for action, _, _ in board.afterstates(packed(tiles), game)]
        assert legal == spec.legal_actions(tiles)


def turned(tiles):
    return [list(row) for row in zip(*tiles)][::-1]


@pytest.mark.parametrize("rows, columns", SIZES)
def test_symmetric_boards_share_their_canonical_image(rows, columns):
    rng, game = random.Random(1), new_game(rows, columns)
    for _ in range(50):
        tiles = random_tiles(rows, columns, rng)
        images = [tiles, [row[::-1] for row in tiles]]
        for _ in range(3):
            images += [turned(images[-2]), turned(images[-1])]
        images = [image for image in images if (len(image), len(image[0])) == (rows, columns)]
        numbers = {int(packed(image)) for image in images}
        assert {int(x) for x in board.symmetries(packed(tiles), game)} == numbers
        assert {int(bits.canonical(np.uint64(x), game)) for x in numbers} == {min(numbers)}
        assert bits.orbit_size(packed(tiles), game) == len(numbers)


@pytest.mark.parametrize("rows, columns", [(1, 2), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)])
def test_spawns_fill_every_cell_of_the_grid_alike_and_no_other(rows, columns):
    game, state, counts, fours = new_game(rows, columns), stream(1, 2), {}, 0
    games = 4000
    for _ in range(games):
        spawned, state = board.spawn(np.uint64(0), state, game)
        cell = int(spawned).bit_length() - 1 >> 2
        counts[cell] = counts.get(cell, 0) + 1
        fours += int(spawned) >> 4 * cell == 2
    assert set(counts) == {4 * r + c for r in range(rows) for c in range(columns)}
    share = 1 / (rows * columns)
    spread = (games * share * (1 - share)) ** 0.5
    assert all(abs(count - games * share) < 5 * spread for count in counts.values())
    assert abs(fours - 0.1 * games) < 5 * (0.09 * games) ** 0.5


def test_a_full_grid_has_no_room():
    with pytest.raises(ValueError, match="full"):
        board.spawn(packed([[2, 4], [4, 2]]), stream(1, 1), new_game(2, 2))


@pytest.mark.parametrize("size", [(0, 2), (2, 5), (5, 5)])
def test_sizes_that_do_not_exist(size):
    with pytest.raises(ValueError, match="use 1 to 4"):
        new_game(*size)


# ---------------------------------------------------------------- networks


NETWORKS = [
    ("cells:0145@2x2", (2, 2)),
    ("cells:012456,15@2x3", (2, 3)),
    ("cells:012456,45689a@3x3", (3, 3)),
]


@pytest.mark.parametrize("name, size", NETWORKS)
def test_a_network_of_a_small_board_has_its_symmetries(name, size):
    network, rng = scattered(Network(name), spread=10), random.Random(3)
    for _ in range(20):
        tiles = random_tiles(*size, rng)
        value = network.value(packed(tiles))
        assert value == pytest.approx(sum(w for *_, w in network.lookups(packed(tiles))), abs=1e-3)
        images = board.symmetries(packed(tiles), network.game)
        np.testing.assert_allclose(network.values(images), value, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name, words", [
    ("4x6@3x4", "4x6 is for 4x4"), ("42@1x4", "no room"), ("cells:0123@3x3", "no cell 3"),
    ("cells:0145@2", "such as 2x3"), ("cells:0145@axb", "such as 2x3"), ("4@5x5", "1 to 4"),
    ("cells:0@1x1", "no room for the two tiles"),  # no action would ever spend a budget
])  # fmt: skip
def test_names_of_small_networks_that_make_no_sense(name, words, refused):
    refused(lambda: Network(name), words)


def test_actions_have_values_where_the_images_of_a_board_turn_them_all(refused):
    refused(lambda: Network("22@2x3", "q"), "square")


def test_a_player_of_a_small_board_chooses_among_its_actions():
    network, rng = scattered(Network("cells:012456@2x3"), spread=10), random.Random(5)
    for _ in range(50):
        tiles = random_tiles(2, 3, rng)
        values, worth = NetworkPlayer(network).values(packed(tiles)), {}
        for action in spec.legal_actions(tiles):
            after, reward = spec.slide(tiles, action)
            worth[action] = reward + network.value(packed(after))
        assert values == pytest.approx(worth, abs=1e-3)
        assert NetworkPlayer(network).choose(packed(tiles)) == max(
            worth, key=worth.get, default=None
        )


# ---------------------------------------------------------------- every grid, every way


def some_network(game):
    """Return the name of a network of the shapes that a board has room for, or of its row."""
    fits = [s for s in ("4", "22", "3") if max(game.rows, game.columns) >= int(s[0])]
    fits = [s for s in fits if s != "22" or min(game.rows, game.columns) > 1]
    return with_game("-".join(fits[:2]) if len(game.places) > 2 else cells_of(game), game)


def cells_of(game):
    return f"cells:{word(game.places)}"


@pytest.mark.parametrize(("rows", "columns"), SIZES[1:-1])
def test_every_board_and_odds_are_trained_kept_searched_and_played(rows, columns, tmp_path):
    odds = ":four=0.2" if columns % 2 else ""
    game = parse_game(f"2048{odds}@{rows}x{columns}")
    how = {"network": some_network(game), "game": game, "rule": "tc", "actions": 2000}
    Run(Settings(**how), tmp_path / "once").go(progress=False)
    Run(Settings(**how | {"actions": 900}), tmp_path / "twice").go(progress=False)
    Run(Settings(**how), tmp_path / "twice", resume=True).go(progress=False)
    one, two = (load(tmp_path / name / "weights.npz") for name in ("once", "twice"))
    assert (one.weights == two.weights).all() and one.weights.any() and one.game == game
    assert evaluate("random", 10, game=game).moves > 0
    assert evaluate("greedy", 10, game=game).scores.tolist() == [
        sum(step.reward for step in record_game("greedy", TEST_SEED, n, game)) for n in range(10)
    ]
    follow_searches(one, record_game(SearchPlayer(one, 2), 1)[:-1][:3])
    deep = SearchPlayer(one, 2)
    moves = evaluate(deep, 5).moves
    assert deep.depths[: len(game.places)].sum() == moves == deep.depths[:, 2].sum()
    games = evaluate(NetworkPlayer(one), 10)
    asked = evaluate(ValuePlayer(one.values, game=game.name), 10)
    assert games.scores.tolist() == asked.scores.tolist()


def follow_searches(network, steps):
    """Compare the search, its tree and the search by any values of the boards of a game."""
    for plies in (1, 2, 3):
        for step in steps:
            action, worth, _ = Search(network, plies).decide(step.board)
            tree = SearchTree(network, step.board, plies)
            options = tree.options()
            assert {o.action: float(o.worth) for o in options} == worth
            assert [o.action for o in options if o.best] == [action]
            assert tree.work()["probes"] == tree.asked
            by_values = BatchSearch(network.values, plies, game=network.game).decide(step.board)
            assert by_values[1] == pytest.approx(worth, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("size", ["1x2", "1x3", "3x4"])
def test_games_begin_everywhere(size, starts, refused):
    game = parse_game(f"2048@{size}")
    how = {"network": some_network(game), "starts": starts, "stages": 2, "top": 16}
    if size == "1x2" and "jump" in starts:
        return refused(lambda: Settings(**how), "fill a board of two cells")
    run = Run(Settings(**how, actions=2000))
    run.go(progress=False)
    assert run.history.count > 5 and run.learner.visits[0] > 0
    return None


@pytest.mark.parametrize(("name", "form"), [("22-3@3x3", "q"), ("4-22@3x4", "state")])
def test_states_and_actions_have_values_on_other_boards(name, form):
    network = scattered(Network(name, form), spread=10)
    boards = [step.board for step in record_game("random", 1, 0, network.game)[:-1]]
    for head in range(network.heads):
        for board_, value in zip(boards, network.values(boards, head)):
            images = board.symmetries(board_, network.game)
            heads = TURNED[:, head] if form == "q" else [head] * 8
            others = [network.values([x], other)[0] for x, other in zip(images, heads)]
            assert others == pytest.approx([value] * 8, abs=1e-2)
    train(network, actions=2000, progress=False)


def test_a_player_of_another_game_is_refused(refused):
    network = Network("4-22@3x4")
    for who in (network, NetworkPlayer(network), ValuePlayer(network.values, game="2048@3x4")):
        refused(lambda who=who: evaluate(who, 2, game="2048"), "plays 2048@3x4, not 2048")
    refused(lambda: evaluate("heuristic", 2, game="2048@3x4"), "its lines are those of 2048 on 4x4")
    assert evaluate("heuristic", 2, game="2048:four=0.5").mean > 0
    refused(lambda: Settings.of(network, game="2048"), "plays 2048@3x4, not 2048")
    refused(lambda: train(network, actions=9, game="2048:four=0.2"), "not 2048:four=0.2")


# ---------------------------------------------------------------- learning and exploring


def with_table(network, update):
    """One weight a board: the look-up whose position is the smallest of its images'."""
    return network.with_functions(value=lambda w, p: w[p[:8].min()], update=update)


def test_epsilon_is_the_share_of_random_actions():
    """Play by fixed values with a quarter of random actions scores what that policy is worth."""
    network = scattered(Network("cells:0145@2x2"), spread=10)
    rule = method_of(network)._replace(epsilon=np.float32(0.25))
    games = Games(network, rule, seed=3)
    scores = games.play(10**9, 20_000, 20_000)[0][:, 1]
    game = SmallGame(2, 2, progress=False)
    exact = [game.follow(network, epsilon).start for epsilon in (0.0, 0.25)]
    assert abs(scores.mean() - exact[1]) < 5 * scores.std() / len(scores) ** 0.5
    assert abs(scores.mean() - exact[0]) > 5 * scores.std() / len(scores) ** 0.5


@pytest.mark.ci
def test_td_with_rate_one_over_n_finds_the_values_of_the_policy():
    """TD(0) under random play on 2x2, with rate 1/n at a board's n-th visit.

    The second tuple's table counts the visits.  Tolerance: 1.5 % of the value of the start, root
    mean square over the afterstates as often as they are visited.
    """
    network = Network("cells:0145,0154@2x2")

    def update(weights, positions, amount):
        visits = positions[8:].min()
        weights[visits] += 1
        weights[positions[:8].min()] += amount * 16 / weights[visits]

    network = with_table(network, update)
    train(network, alpha=1.0, actions=2_000_000, epsilon=1.0, progress=False)
    exact = SmallGame(2, 2, progress=False).follow("random")
    visits = exact.visits()
    learned = network.values(exact.boards)
    error = np.sqrt(np.average((learned - exact.afterstate_values) ** 2, weights=visits))
    assert error < 0.015 * exact.start
    assert abs(learned - exact.afterstate_values)[visits > 0.01].max() < 0.05 * exact.start


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_epsilon_out_of_range(epsilon):
    with pytest.raises(ValueError, match="epsilon"):
        train(Network("cells:0145@2x2"), actions=10, epsilon=epsilon)


def test_a_game_on_a_small_board_is_recorded():
    network = Network("cells:0145@2x2")
    steps = record_game(NetworkPlayer(network), 3)
    games = NetworkPlayer(network).play_games(0, 1, 3)
    assert sum(step.reward for step in steps) == games[0, 1]
    assert all(not int(step.board) & ~0xFF00FF for step in steps)


def test_what_a_game_reaches_is_what_it_ends_with_or_more():
    values = SmallGame(2, 2, progress=False).optimal()
    shares, reached = values.largest(), values.reached()
    assert reached[32] == pytest.approx(shares[32])
    assert reached[16] == pytest.approx(shares[16] + shares[32])
    assert max(reached.values()) <= 1
