"""Small boards solved exactly, against an independent solver on the plain rules."""

import json
import math
import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from lib2048 import Network, evaluate, train
from lib2048.cli import main
from lib2048.exact import SmallGame, solve
from lib2048.game import frontier, mdp
from lib2048.game.frontier import SCORE_AND_MOVES, Choice
from lib2048.game.game import new_game

# ---------------------------------------------------------------- the plain solver


class Plain:
    """A small game by `mdp`: all its states, and what every way to play is worth in them."""

    def __init__(self, rows, columns):
        self.start = {state: chance for chance, state in mdp.starts(rows, columns)}
        self.states, self.afterstates, todo = set(self.start), set(), list(self.start)
        while todo:
            for after, _ in mdp.choices(todo.pop()).values():
                if after not in self.afterstates:
                    self.afterstates.add(after)
                    new = {state for _, state in mdp.next_states(after)} - self.states
                    self.states |= new
                    todo += new
        self.terminal = {state for state in self.states if not mdp.choices(state)}
        self.falling = sorted(self.states, key=lambda state: -sum(map(sum, state)))

    def evaluate(self, prefer, epsilon=0.0, pays=1, tile=None):
        """Return the plain twin of `Values`.

        prefer: (afterstate, reward, its value) → what the player maximises, ties shared.
        """
        V, M, A, N, weights = {}, {}, {}, {}, {}
        for state in self.falling:
            held, slid = self.holds(state, tile), mdp.choices(state)
            for after, _ in slid.values():
                if after not in A:
                    A[after], N[after] = self.expected(after, V, M, tile)
            V[state], M[state], weights[state] = float(held), 0.0, {}
            if slid and not held:
                worth = {a: prefer(x, r, A[x]) for a, (x, r) in slid.items()}
                weights[state] = share = shares(worth, epsilon)
                V[state] = sum(share[a] * (pays * r + A[x]) for a, (x, r) in slid.items())
                M[state] = sum(share[a] * (1 + N[x]) for a, (x, _) in slid.items())
        return V, M, A, *self.forward(weights)

    def expected(self, after, V, M, tile):
        if self.holds(after, tile):
            return 1.0, 0.0
        spawns = mdp.next_states(after)
        return tuple(sum(chance * table[state] for chance, state in spawns) for table in (V, M))

    def holds(self, board, tile):
        """Say whether a board holds a tile, or one that was made of it."""
        if tile is None:
            return False
        tiles = {t for row in board for t in row}
        return tile in tiles or max(tiles) > tile > 2

    def forward(self, weights):
        chances, visits = Counter(self.start), dict.fromkeys(self.afterstates, 0.0)
        largest = Counter()
        for state in reversed(self.falling):
            if not weights[state]:
                largest[max(map(max, state))] += chances[state]
            for action, weight in weights[state].items():
                after, _ = mdp.choices(state)[action]
                visits[after] += weight * chances[state]
                for p, new in mdp.next_states(after):
                    chances[new] += weight * chances[state] * p
        return visits, +largest

    def mean(self, table):
        return sum(chance * table[state] for state, chance in self.start.items())


def shares(worth, epsilon):
    best = max(worth.values())
    ties = [a for a, w in worth.items() if w >= best - 1e-12 * abs(best)]
    return {a: epsilon / len(worth) + (1 - epsilon) * (a in ties) / len(ties) for a in worth}


plain = cache(Plain)
game = cache(lambda rows, columns: SmallGame(rows, columns, progress=False))


def odd_values(boards):
    """Value afterstates oddly, but images alike: some sum over their exponents."""
    exponents = boards[:, None] >> np.arange(0, 64, 4, dtype=np.uint64) & np.uint64(15)
    return (exponents**2 * np.uint64(7919) % np.uint64(101)).sum(axis=1).astype(float)


def odd_value(state):
    exponents = [max(tile, 1).bit_length() - 1 for row in state for tile in row]
    return sum(e**2 * 7919 % 101 for e in exponents)


# A way to play: the values of the game, and those of its plain twin.
WAYS = {
    "optimal": (lambda g: g.optimal(), {"prefer": lambda x, r, v: r + v}),
    "random": (lambda g: g.follow("random"), {"prefer": lambda x, r, v: 0, "epsilon": 1}),
    "greedy": (lambda g: g.follow("greedy"), {"prefer": lambda x, r, v: r}),
    "mixed": (lambda g: g.follow("greedy", 0.3), {"prefer": lambda x, r, v: r, "epsilon": 0.3}),
    "odd": (lambda g: g.follow(odd_values), {"prefer": lambda x, r, v: r + odd_value(x)}),
}
for _tile in (2, 4, 8, 16, 32):
    WAYS[f"reach {_tile}"] = (
        lambda g, tile=_tile: g.reach(tile),
        {"prefer": lambda x, r, v: v, "pays": 0, "tile": _tile},
    )
LARGER = ("optimal", "mixed", "reach 32")  # the ways that 2x3 is played
every_way = pytest.mark.parametrize(
    "size, way", [((2, 2), way) for way in WAYS] + [((2, 3), way) for way in LARGER]
)


@cache
def solved(size, way):
    return WAYS[way][0](game(*size)), plain(*size).evaluate(**WAYS[way][1])


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


@cache
def packed(size):
    """Return the plain afterstates, sorted, as packed boards."""
    return np.array([game(*size).pack(after) for after in sorted(plain(*size).afterstates)])


def folded(size, table):
    """Sum a table of the plain afterstates over images: {canonical board: sum}."""
    found, names = Counter(), frontier.canonicals(packed(size), game(*size).game).tolist()
    for name, after in zip(names, sorted(table), strict=True):
        found[name] += table[after]
    return found


# ---------------------------------------------------------------- the same as the plain solver


@pytest.mark.parametrize("size", [(2, 2), (2, 3)])
def test_all_states_are_found(size):
    found, expected = game(*size), plain(*size)
    assert found.states == len(expected.states)
    assert found.afterstates == len(expected.afterstates)
    assert found.terminal == len(expected.terminal)


@every_way
def test_start_and_moves(size, way):
    values, (V, M, *_) = solved(size, way)
    assert close(values.start, plain(*size).mean(V))
    assert close(values.moves, plain(*size).mean(M))


@every_way
def test_single_states(size, way):
    values, (V, _, A, *_) = solved(size, way)
    pays = not way.startswith("reach")
    for state in random.Random(3).sample(sorted(plain(*size).states), 100):
        slid = mdp.choices(state)
        assert close(values.of(state), V[state])
        worth = {a: pays * reward + A[after] for a, (after, reward) in slid.items()}
        found = values.actions(state)
        assert list(found) == list(worth)
        assert all(close(found[a], worth[a]) for a in worth)
        best = max(worth.values(), default=0)
        first = next((a for a, w in worth.items() if w >= best - 1e-12 * best), None)
        assert values.choose(state) == first


@every_way
def test_afterstates_packed_and_as_tiles(size, way):
    values, (_, _, A, *_) = solved(size, way)
    boards = sorted(A)
    found = values.values(packed(size))
    assert found == pytest.approx(np.array([A[after] for after in boards]), rel=1e-9, abs=1e-9)
    for after in boards[::500]:
        assert values.afterstate(after) == values.afterstate(game(*size).pack(after))
        assert close(values.afterstate(after), A[after])


@every_way
def test_visits_and_largest(size, way):
    values, (*_, visits, largest) = solved(size, way)
    expected = folded(size, visits)
    assert set(values.boards.tolist()) == set(expected)
    assert len(values.boards) == len(expected)
    counts = np.array([expected[name] for name in values.boards.tolist()])
    assert values.visits() == pytest.approx(counts, rel=1e-9, abs=1e-9)
    assert close(values.visits().sum(), values.moves)
    assert set(values.largest()) == set(largest)
    assert all(close(share, largest[tile]) for tile, share in values.largest().items())


def test_a_row_is_a_column_and_a_board_its_image():
    row, column = solve(1, 4, progress=False), solve(4, 1, progress=False)
    assert close(row.start, column.start) and close(row.moves, column.moves)
    assert row.of([[2, 0, 4, 0]]) == row.of([[0, 4, 0, 2]])
    assert column.of([[2], [0], [4], [0]]) == pytest.approx(row.of([[2, 0, 4, 0]]), abs=1e-12)
    assert close(solve(3, 2, progress=False).start, game(2, 3).optimal().start)


def test_keeping_every_image_changes_nothing():
    whole = SmallGame(2, 3, progress=False, symmetric=False)
    assert len(whole.boards) == whole.afterstates == game(2, 3).afterstates
    assert (whole.states, whole.terminal) == (game(2, 3).states, game(2, 3).terminal)
    assert close(whole.optimal().start, game(2, 3).optimal().start)
    assert close(whole.optimal().moves, game(2, 3).optimal().moves)


def test_a_policy_that_is_not_symmetric_needs_every_image():
    def upper_left(boards):
        return (boards & np.uint64(15)).astype(float)

    whole = SmallGame(2, 2, progress=False, symmetric=False).follow(upper_left)
    V, *_ = plain(2, 2).evaluate(lambda x, r, v: r + max(x[0][0], 1).bit_length() - 1)
    assert close(whole.start, plain(2, 2).mean(V))
    assert not close(game(2, 2).follow(upper_left).start, whole.start)


def test_two_by_four_stays_as_it_was():
    """Too large for the plain solver: its figures are kept, and its sums checked."""
    found = game(2, 4)
    assert (found.states, found.afterstates, found.terminal) == (19920382, 13625764, 3569870)
    values = found.optimal()
    assert values.start == pytest.approx(2641.873035692248, abs=1e-6)
    assert values.visits().sum() == pytest.approx(values.moves, abs=1e-6)
    assert sum(values.largest().values()) == pytest.approx(1, abs=1e-9)
    assert max(values.largest()) == 512


@pytest.fixture
def odds(monkeypatch):
    """Return a function that gives the plain game other odds."""
    remembered = mdp.next_states, mdp.starts

    def change(four):
        tiles = ((2, 1 - four), (4, four))
        monkeypatch.setattr(mdp, "TILES", tuple(tile for tile in tiles if tile[1]))
        for function in remembered:
            function.cache_clear()

    yield change
    monkeypatch.undo()
    for function in remembered:
        function.cache_clear()


@pytest.mark.parametrize("four", [0, 0.3, 1])
@pytest.mark.parametrize("size", [(1, 2), (3, 1), (1, 4), (2, 2)])
def test_other_odds(size, four, odds):
    odds(four)
    expected, found = Plain(*size), SmallGame(*size, progress=False, four=four)
    sets = expected.states, expected.afterstates, expected.terminal
    assert (found.states, found.afterstates, found.terminal) == tuple(map(len, sets))
    for way in ("optimal", "random"):
        ask, plainly = WAYS[way]
        values, (V, M, _, _, largest) = ask(found), expected.evaluate(**plainly)
        assert close(values.start, expected.mean(V)) and close(values.moves, expected.mean(M))
        assert close(values.visits().sum(), values.moves)
        assert all(close(share, largest[tile]) for tile, share in values.largest().items())
    games = evaluate("random", 1000, game=found.game)
    assert is_mean(games.scores, values.start)


# ---------------------------------------------------------------- policies


def test_values_and_networks_are_policies():
    optimal, values = game(2, 3).optimal(), game(2, 3).follow("random")
    again = game(2, 3).follow(optimal)
    assert close(again.start, optimal.start) and close(again.moves, optimal.moves)
    assert values.start < game(2, 3).follow(values).start < optimal.start
    network = Network("cells:0123,4567")
    network.weights[:] = np.random.default_rng(1).normal(0, 50, network.size)
    asked = game(2, 3).follow(lambda boards: network.values(boards))
    assert game(2, 3).follow(network).start == asked.start
    assert asked.start < optimal.start


@pytest.mark.parametrize(
    "policy, word",
    [
        ("best", "no policy"),
        (3, "no policy"),
        (Network("cells:01", "state"), "afterstates"),
        (lambda boards: boards[:-1].astype(float), "one finite number"),
        (lambda boards: 1.0, "each"),
        (lambda boards: boards * np.nan, "finite"),
    ],
)
def test_bad_policies(policy, word):
    with pytest.raises(ValueError, match=word):
        game(2, 2).follow(policy)


# ---------------------------------------------------------------- policies of a state, odds


def by_reward(state):
    """Take the largest reward; ties share."""
    options = mdp.choices(state)
    most = max(reward for _, reward in options.values())
    top = [action for action, (_, reward) in options.items() if reward == most]
    return dict.fromkeys(top, 1 / len(top))


def first_legal(state):
    """Take the first legal action: it treats images differently."""
    return min(mdp.choices(state))


@cache
def whole(rows, columns):
    """Return a game that keeps every image."""
    return SmallGame(rows, columns, progress=False, symmetric=False)


def test_a_function_of_a_state_is_a_policy():
    exact, told = whole(2, 2).follow("greedy"), whole(2, 2).follow_function(by_reward)
    assert close(told.start, exact.start) and close(told.moves, exact.moves)
    assert told.afterstate_values == pytest.approx(exact.afterstate_values)
    assert told.visits() == pytest.approx(exact.visits()) and told.largest() == exact.largest()
    first = whole(2, 2).follow_function(first_legal)
    assert close(first.start, mdp.worth(lambda state: {first_legal(state): 1}, 2, 2))
    assert whole(2, 2).follow(first).start > first.start, "one step up"


def test_what_a_play_takes():
    state = ((8, 8), (2, 32))
    random_play, optimal = game(2, 2).follow("random", 0.0), game(2, 2).optimal()
    assert random_play.chances(state) == pytest.approx({1: 0.5, 3: 0.5})
    assert optimal.chances(state) == {1: 1.0, 3: 0.0}
    assert whole(2, 2).follow_function(first_legal).chances(state) == {1: 1.0, 3: 0.0}
    assert optimal.chances(((2, 4), (4, 2))) == {}


@pytest.mark.parametrize("tile", [4, 8, 16, 32])
def test_odds_are_those_of_the_same_play(tile):
    for values in (
        game(2, 2).optimal(),
        game(2, 2).follow("greedy"),
        game(2, 2).follow("random"),
        whole(2, 2).follow_function(first_legal),
    ):
        odds = values.odds(tile)
        ends = sum(share for largest, share in values.largest().items() if largest >= tile)
        assert odds.start == pytest.approx(ends, abs=1e-12)
        for _, state in mdp.starts(2, 2)[:3]:
            assert odds.of(state) == pytest.approx(plain_odds(values, state, tile), abs=1e-12)


def plain_odds(values, state, tile):
    """Return how likely a play comes to a tile, by its own probabilities alone."""

    @cache
    def of(state):
        if max(max(row) for row in state) >= tile:
            return 1.0
        return sum(
            share * chance * of(after)
            for action, share in values.chances(state).items()
            if share
            for chance, after in mdp.next_states(mdp.choices(state)[action][0])
        )

    return of(state)


@pytest.mark.parametrize(
    "function, said",
    [
        (lambda state: 5, "says 5: it is to return a legal action"),
        (lambda state: None, "says None"),
        (lambda state: {min(mdp.choices(state)): 0.5}, "probability"),
        (lambda state: {4: 1.0}, "legal action"),
    ],
)
def test_what_a_function_may_say(function, said, refused):
    refused(lambda: whole(2, 2).follow_function(function), said)


def test_who_may_be_asked_about_every_state(refused):
    refused(lambda: game(2, 2).follow_function(first_legal), "symmetric=False")
    refused(lambda: game(2, 2).optimal().odds(3), "3")


# ---------------------------------------------------------------- a discount


@pytest.mark.parametrize("discount", [0.9, 0.3])
def test_a_discount_against_plain_python(discount):
    @cache
    def best(state):
        return max((r + V(after) for after, r in mdp.choices(state).values()), default=0)

    @cache
    def V(after):
        return discount * sum(chance * best(state) for chance, state in mdp.next_states(after))

    values = game(2, 2).optimal(discount)
    assert close(values.start, sum(chance * best(state) for chance, state in mdp.starts(2, 2)))
    for board in plain(2, 2).afterstates:
        assert close(values.afterstate(board), V(board))


def test_a_discount_of_1_changes_nothing_and_one_of_0_is_greed():
    small = game(2, 3)
    assert (small.optimal(1).afterstate_values == small.optimal().afterstate_values).all()
    greedy, blind = small.follow("greedy"), small.optimal(0)
    assert not blind.afterstate_values.any() and close(blind.moves, greedy.moves)
    assert close(small.follow(blind).start, greedy.start)
    assert small.follow(small.optimal(0.9)).start < small.optimal().start


def test_the_odds_of_discounted_play_are_not_discounted():
    values = game(2, 2).optimal(0.5)
    assert values.odds(16).start == pytest.approx(values.reached()[16], abs=1e-12)


@pytest.mark.parametrize("discount", [-0.1, 1.1, math.nan, "some"])
def test_bad_discount(discount):
    with pytest.raises(ValueError, match="discount .*use a number from 0 to 1"):
        game(2, 2).optimal(discount)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, math.nan, "some"])
def test_bad_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon .*use a number from 0 to 1"):
        game(2, 2).follow("greedy", epsilon)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "size, word",
    [
        ((3, 4), "5.7e13"),
        ((4, 4), "1.2e20"),
        ((5, 5), "6.1e35"),
        ((1, 5), "1.7e4"),
        ((1, 1), "two tiles"),
        ((0, 2), "0 by 2"),
        ((2, -1), "-1"),
        ((2.0, 2), "2.0"),
        (("2", 2), "'2'"),
    ],
)
def test_bad_sizes_are_one_line(size, word, refused):
    for said in (word, "use up to 3x3"):
        refused(lambda: SmallGame(*size, progress=False), said)


def test_too_little_memory(monkeypatch):
    class Memory:
        available = 1 << 28

    monkeypatch.setattr("psutil.virtual_memory", Memory)
    with pytest.raises(MemoryError, match="3x3 needs 2,098 MiB, and 256 MiB are free"):
        SmallGame(3, 3, progress=False)
    assert SmallGame(2, 2, progress=False).states == game(2, 2).states


@pytest.mark.parametrize(
    "state",
    [
        [[2, 0, 0], [0, 4, 0]],
        [[2, 3], [0, 4]],
        [[2, 0]],
        5,
        2.5,
        -1,
        1 << 70,
        0x1100,
        [[64, 64], [2, 2]],
        [[32, 16], [8, 32]],
        [[0, 0], [0, 0]],
        [[2, 0], [0, 0]],
    ],
)
def test_boards_that_are_no_states(state, refused):
    values = game(2, 2).optimal()
    for ask in (values.of, values.actions, values.choose):
        refused(lambda ask=ask: ask(state))


def test_a_state_need_not_be_an_afterstate():
    values = game(2, 2).optimal()
    assert values.of([[4, 2], [2, 4]]) == 0 and values.choose([[4, 2], [2, 4]]) is None
    with pytest.raises(ValueError, match="no afterstate of 2x2"):
        values.afterstate([[4, 2], [2, 4]])
    with pytest.raises(ValueError, match="no state of 2x2"):
        values.of([[4, 0], [0, 0]])
    assert values.afterstate([[4, 0], [0, 0]]) > 60


@pytest.mark.parametrize("tile", [0, 1, 3, -2, 2.5, "4", 131072])
def test_reach_wants_a_tile(tile):
    with pytest.raises(ValueError, match="tile"):
        game(2, 2).reach(tile)


def test_a_tile_that_does_not_fit_is_never_reached():
    assert game(2, 2).reach(32).start > 0.08
    for tile in (64, 32768, 65536):
        assert game(2, 2).reach(tile).start == 0


# ---------------------------------------------------------------- the frontier by itself


def test_a_missing_board_is_an_error():
    grid = new_game(2, 2)
    states = np.array([0x11], np.uint64)
    nothing, values = np.zeros(0, np.uint64), np.zeros((0, 2))
    with pytest.raises(KeyError, match="not in the set"):
        frontier.chosen(states, nothing, values, np.zeros(0), Choice(), SCORE_AND_MOVES, grid)
    with pytest.raises(KeyError, match="6 boards"):
        pair = (nothing, values)
        frontier.expected(np.array([2], np.uint64), pair, pair, grid)
    with pytest.raises(KeyError):
        index = frontier.index_of(nothing)
        options = frontier.options_of(states, index, np.zeros(0), Choice(), grid, False)
        frontier.carried_on(options, np.ones(1), 0)
    with pytest.raises(KeyError):
        frontier.add_spawned(states, np.ones(1), 1, nothing, np.zeros(0), grid)


# ---------------------------------------------------------------- the command


def test_solve_command(capsys):
    assert main(["solve", "2x3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    values = game(2, 3).optimal()
    assert list(found) == ["rows", "cols", "states", "afterstates", "terminal", "value", "moves"]
    assert (found["rows"], found["cols"], found["states"]) == (2, 3, game(2, 3).states)
    assert found["afterstates"] == game(2, 3).afterstates
    assert found["terminal"] == game(2, 3).terminal
    assert (found["value"], found["moves"]) == (values.start, values.moves)


def test_solve_command_in_words(capsys):
    assert main(["solve", "1x2"]) == 0
    assert "3.97 points" in capsys.readouterr().out


def test_solve_command_of_other_odds(capsys):
    found = []
    for said in (["2x3", "--game", "2048:four=0.2"], ["--game", "2048:four=0.2@2x3"]):
        assert main(["solve", *said, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1] and found[0]["rows"] == 2
    assert found[0]["value"] == solve(2, 3, progress=False, four=0.2).start
    assert found[0]["value"] != game(2, 3).optimal().start


@pytest.mark.parametrize("size", ["3by3", "0x2", "4x4", "5x5", "1x1", "x", "2x2x2", "-1x2", ""])
def test_solve_command_refuses(one_line_error, size):
    one_line_error("solve", size)


# ---------------------------------------------------------------- games that are played


@pytest.fixture(scope="module")
def watched():
    """Return a small game, a network that plays it, and the exact values of its play."""
    game, network = SmallGame(2, 3, progress=False), Network("cells:0145,012@2x3")
    train(network, actions=3000, progress=False)
    return game, network, game.follow(network.values)


def is_mean(values, truth):
    return abs(np.mean(values) - truth) < 4 * np.std(values) / len(values) ** 0.5 + 1e-9


def test_games_that_are_watched_are_worth_their_exact_value(watched):
    game, network, truth = watched
    games = game.watch(network, 1000)
    assert is_mean([sum(reward for reward, _ in turns) for turns in games], truth.start)
    assert is_mean([len(turns) for turns in games], truth.moves)
    assert game.watch(network, 5) == games[:5] != game.watch(network, 5, seed=2)


def test_futures_are_worth_what_their_afterstate_is(watched):
    game, network, truth = watched
    _, after = game.watch(network, 1)[0][0]
    points = [sum(reward for reward, _ in turns) for turns in game.futures(network, after, 1000)]
    assert is_mean(points, truth.afterstate(after))


def test_a_network_of_another_size_is_refused(watched):
    with pytest.raises(ValueError, match="is no network for 2x3"):
        watched[0].watch(Network("cells:0145@2x2"), 1)
