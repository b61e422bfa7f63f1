"""The one loop against a plain-Python learner, bit for bit, and the identities it must keep."""

import numpy as np
import pytest
from learners import ORDERS, SMALL, games_on
from reference import Learner, PlainNetwork, images, number, outcomes, tiles

from lib2048 import from_tiles
from lib2048.learn.games import choose_action, functions_of
from lib2048.learn.records import COUNTERS
from lib2048.learn.rules import horizon
from lib2048.networks.network import FORMS, Network
from lib2048.play.evaluation import record_game
from lib2048.play.players import NetworkPlayer

FOREVER = np.iinfo(np.int64).max
PAIRED = "cells:0124,0125,456,3"  # a pair of tables, other lengths, a single cell


def every_learner(test):
    test = pytest.mark.parametrize("form", FORMS)(test)
    return pytest.mark.parametrize("order", ORDERS)(test)


def learning(network, order="forward", alpha=0.5, **how):
    """Return games that learn (or only play) on a network; alpha: the rate of any rule."""
    return games_on(network, rate=alpha, order=order, **how)


def trained(name, form, order, *stops, **settings):
    """Return (weights, games, results) of a learner that was stopped at some numbers of actions."""
    network = Network(name, form)
    games = learning(network, order, **settings)
    results = [games.play(FOREVER, stop, 10**4)[0] for stop in stops]
    return network.weights, games, np.concatenate(results)


def scattered(network, seed=1, spread=100):
    """Fill a network with random weights and return it."""
    random = np.random.default_rng(seed)
    network.weights[:] = random.normal(0, spread, network.size).astype(np.float32)
    return network


def bits(weights):
    return weights.view(np.uint32)


def assert_same_run(one, other):
    """Two runs as `trained` returns them agree in every bit that they keep."""
    np.testing.assert_array_equal(bits(one[0]), bits(other[0]))
    np.testing.assert_array_equal(one[2], other[2])
    for name, kept in lasting(one[1]).items():
        np.testing.assert_array_equal(kept, lasting(other[1])[name], name)


def lasting(games):
    """Return the state of games without the counter that each call of `play` sets anew."""
    state = games.state()
    state["counters"][COUNTERS.index("rows")] = 0
    return state


def compare_with_plain(name, form, order, alpha=0.5, optimistic=0.0, lanes=2, error="fresh", **how):
    """Train twice, by the library and in plain Python; every weight and game must be the same."""
    network, seed, actions = Network(name, form, optimistic), 5, 700
    games = learning(network, order, alpha, seed=seed, lanes=lanes, error=error, **how)
    results, _ = games.play(FOREVER, actions, 10**4)
    coherent = how.pop("rule", "td") == "tc"
    how |= {"coherent": coherent, "horizon": horizon(how.get("decay", 0.0))}
    how |= {"optimistic": optimistic, "remembered": error == "remembered"}
    rate = alpha / network.lookups_per_board
    plain = Learner(network.tuples, form, order == "backward", rate, seed, lanes, **how)
    plain.play(actions)
    assert plain.actions == games.actions == actions
    assert len(results) > 0
    assert [tuple(row) for row in results] == plain.results
    assert [int(board) for board in games.lanes["board"]] == [number(l.board) for l in plain.lanes]
    assert_same_tables(network, plain.network)
    if coherent:
        assert_same_memory(network, games.memory, plain.network)


def assert_same_memory(network, memory, plain):
    """TC's E and A of every weight are the plain learner's."""
    for column, numbers in enumerate((plain.sums, plain.sizes)):
        twin = Network(network.name, network.form)
        twin.weights[:] = memory[column::2]
        copy = PlainNetwork(network.tuples, network.form)
        copy.weights.update(numbers)
        assert_same_tables(twin, copy)


def assert_same_tables(network, plain):
    for head in range(network.heads):
        for which in range(len(network.tuples)):
            ours, theirs = network.table(which, head), plain.table(which, head)
            np.testing.assert_array_equal(bits(ours), bits(theirs))


SHORT = "cells:012,345"
REMEMBERED = {"alpha": 0.1, "error": "remembered"}  # 0.5 diverges
WAYS = {
    "two tuples": (SMALL, {}),
    "paired tuples": (PAIRED, {}),
    "optimistic": (SHORT, {"optimistic": 5000.0}),
    "one lane": (SHORT, {"lanes": 1}),
    "three lanes": (SHORT, {"lanes": 3}),
    "the smallest rate": (SHORT, {"alpha": 0.001}),
    "the largest rate": (SHORT, {"alpha": 1.0}),
    "coherence": (SHORT, {"alpha": 1.0, "rule": "tc"}),
    "remembered": (PAIRED, REMEMBERED),
    "remembered, coherence": (PAIRED, REMEMBERED | {"rule": "tc"}),
}


@every_learner
@pytest.mark.parametrize("name, how", WAYS.values(), ids=WAYS)
def test_learning_is_the_plain_learners_bit_for_bit(name, how, form, order):
    compare_with_plain(name, form, order, **how)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
@pytest.mark.parametrize("decay", [0.0, 0.5, 0.95])
def test_lambda_is_the_plain_learners_bit_for_bit(form, rule, delay, decay):
    how = {"rule": rule, "decay": decay, "delay": delay}
    compare_with_plain("cells:0123,456", form, "forward", **how)


@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
def test_a_remembered_value_serves_lambda_too(delay):
    how = {"rule": "tc", "decay": 0.5, "delay": delay, "error": "remembered"}
    compare_with_plain("cells:0123,456", "afterstate", "forward", **how)


@pytest.mark.parametrize("games", [1, 2, 5])
def test_last_games_are_the_plain_learners(games):
    network = Network(SMALL)
    results, more = learning(network, seed=5).play(games, FOREVER, 10**4)
    plain = Learner(network.tuples, "afterstate", False, 0.5 / 16, 5)
    plain.play(FOREVER, games)
    assert not more
    assert [tuple(row) for row in results] == plain.results
    assert_same_tables(network, plain.network)


@every_learner
def test_chunks_change_nothing(form, order):
    straight = trained(SMALL, form, order, 3000, alpha=0.1)
    chunked = trained(SMALL, form, order, 1, 2, 3, 40, 41, 337, 338, 1501, 2999, 3000, alpha=0.1)
    assert_same_run(straight, chunked)


def test_stopping_at_full_results_changes_nothing():
    straight = trained(SMALL, "afterstate", "forward", 3000)
    network = Network(SMALL)
    games, parts = learning(network), []
    while games.actions < 3000:
        parts.append(games.play(FOREVER, 3000, 2)[0])
    assert max(map(len, parts)) == 2
    assert_same_run(straight, (network.weights, games, np.concatenate(parts)))


@every_learner
@pytest.mark.parametrize("stop", [0, 1, 2, 777, 1358])
def test_restored_state_goes_on_bit_for_bit(form, order, stop):
    straight = trained(SMALL, form, order, 3000, alpha=0.1)
    before = trained(SMALL, form, order, stop, alpha=0.1)
    network = Network(SMALL, form)
    network.weights[:] = before[0]
    games = learning(network, order, alpha=0.1)
    games.restore(before[1].state())
    results = np.concatenate([before[2], games.play(FOREVER, 3000, 10**4)[0]])
    assert_same_run(straight, (network.weights, games, results))


def test_state_is_a_copy():
    games = learning(Network(SMALL))
    games.play(FOREVER, 100, 100)
    state = games.state()
    kept = {name: array.copy() for name, array in state.items()}
    games.play(FOREVER, 200, 100)
    for name, array in kept.items():
        np.testing.assert_array_equal(state[name], array, name)


LOST = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]


def plain_twin(network):
    """Return the same weights as a PlainNetwork, copied through `table`."""
    plain = PlainNetwork(network.tuples, network.form)
    for head in range(network.heads):
        for which in range(len(network.tuples)):
            table = network.table(which, head)
            plain.weights.update({(head, which, i): table[i] for i in np.flatnonzero(table)})
    return plain


@pytest.mark.parametrize("form", FORMS)
def test_choice_and_values_are_the_plain_players(form):
    network = scattered(Network(PAIRED, form))
    plain, who = plain_twin(network), NetworkPlayer(network)
    for step in record_game("random", seed=2)[:-1:7]:
        worths = plain.worths(tiles(step.board), form)
        assert who.choose(step.board) == max(worths, key=worths.get)
        assert who.values(step.board) == pytest.approx(worths)


@pytest.mark.parametrize("form", FORMS)
def test_of_equal_values_the_first_action_is_taken(form):
    who = NetworkPlayer(Network(SMALL, form))
    assert who.choose(from_tiles([[0] * 4, [0, 2, 0, 0], [0] * 4, [0] * 4])) == 0
    assert who.choose(from_tiles([[2, 0, 4, 0], [0] * 4, [0] * 4, [0] * 4])) == 1


@pytest.mark.parametrize("form", FORMS)
def test_no_action_on_a_lost_board(form):
    assert NetworkPlayer(scattered(Network(SMALL, form))).choose(from_tiles(LOST)) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weight", [-1e30, -np.inf, np.nan])
def test_no_value_ends_a_game_that_has_a_legal_action(form, weight):
    network = Network(SMALL, form)
    network.weights[:] = weight
    board = from_tiles([[2, 0, 4, 0], [0] * 4, [0] * 4, [0] * 4])
    games = learning(network, learn=False)
    rule = games.rule
    action, _ = choose_action(network, functions_of(network), rule, board)
    assert action in outcomes(tiles(board))
    games.play(FOREVER, 50, 2)
    assert games.actions == 50 or games.lanes["length"].min() > 0


def where_images_look():
    """Return uint8[8, 16]: cell p of symmetric image i shows this cell of the board."""
    numbered = images(tuple(tuple(range(row, row + 4)) for row in range(0, 16, 4)))
    return np.array([sum(image, ()) for image in numbered], np.uint8)


def plain_parts(network):
    """Return (index, value, update) for a network of 4-cell tuples, its tables in plain order."""
    where = where_images_look()
    cells = np.array(network.tuples, np.uint8)

    def index(board, positions):
        for which in range(len(cells)):
            for image in range(8):
                place = which * 65536
                for j in range(4):
                    shift = np.uint64(4 * where[image, cells[which, j]])
                    place += np.int64((board >> shift) & np.uint64(15)) << (4 * j)
                positions[8 * which + image] = place

    def value(weights, positions):
        parts = np.zeros(4, np.float32)
        for look_up in range(len(positions)):
            parts[look_up % 4] += weights[positions[look_up]]
        return (parts[0] + parts[1]) + (parts[2] + parts[3])

    def update(weights, positions, amount):
        for look_up in range(len(positions)):
            weights[positions[look_up]] += amount

    return index, value, update


@pytest.mark.parametrize(
    "form, order, mine",
    [
        ("afterstate", "forward", ("index",)),
        ("afterstate", "forward", ("value",)),
        ("afterstate", "backward", ("update",)),
        ("q", "backward", ("index", "value", "update")),
    ],
)
def test_own_functions_are_the_librarys_bit_for_bit(form, order, mine):
    library, own = Network(SMALL, form), Network(SMALL, form)
    parts = dict(zip(("index", "value", "update"), plain_parts(own)))
    own = own.with_functions(**{name: parts[name] for name in mine})
    ours, _ = learning(library, order, alpha=0.1).play(FOREVER, 3000, 10**4)
    theirs, _ = learning(own, order, alpha=0.1).play(FOREVER, 3000, 10**4)
    np.testing.assert_array_equal(ours, theirs)
    expected = library.weights if "index" not in mine else in_plain_order(library)
    np.testing.assert_array_equal(bits(own.weights), bits(expected))


def in_plain_order(network):
    heads, tuples = range(network.heads), range(len(network.tuples))
    return np.concatenate([network.table(which, head) for head in heads for which in tuples])


def test_own_update_takes_part_in_learning():
    network = Network(SMALL)

    def lazy(weights, positions, amount):
        weights[positions[0]] += 0 * amount

    games = learning(network.with_functions(update=lazy))
    games.play(FOREVER, 500, 100)
    assert not network.weights.any()
