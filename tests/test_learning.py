"""The one loop against a plain-Python learner, bit for bit, and the identities it must keep."""

import numpy as np
import pytest
from learners import games_on
from reference import Learner, PlainNetwork, images, number, outcomes, tiles

from lib2048 import from_tiles, initial, slide, spawn, stream, train
from lib2048.learn.games import Games, choose_action, functions_of
from lib2048.learn.records import COUNTERS
from lib2048.learn.rules import horizon
from lib2048.networks.network import FORMS, Network
from lib2048.play.evaluation import record_game
from lib2048.play.players import NetworkPlayer

FOREVER = np.iinfo(np.int64).max
ORDERS = ("forward", "backward")
SMALL = "cells:0123,4567"
PAIRED = "cells:0124,0125,456,3"  # a pair of tables, other lengths, a single cell
CASES = pytest.mark.parametrize("form", FORMS), pytest.mark.parametrize("order", ORDERS)


def every_learner(test):
    for mark in CASES:
        test = mark(test)
    return test


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


# ---------------------------------------------------------------- against plain Python


def compare_with_plain(
    name,
    form,
    order,
    actions,
    alpha=0.5,
    lanes=2,
    learn=True,
    rule="td",
    decay=0.0,
    delay=True,
    optimistic=0.0,
    error="fresh",
):
    """Train twice, by the library and in plain Python; every weight and game must be the same."""
    network, seed = Network(name, form, optimistic), 5
    settings = {"rule": rule, "decay": decay, "delay": delay, "error": error}
    games = learning(network, order, alpha, seed=seed, lanes=lanes, learn=learn, **settings)
    results, _ = games.play(FOREVER, actions, 10**4)
    rate = alpha / network.lookups_per_board
    plain = Learner(
        network.tuples,
        form,
        order == "backward",
        rate,
        seed,
        lanes,
        learn,
        rule == "tc",
        decay,
        horizon(decay),
        delay,
        optimistic,
        remembered=error == "remembered",
    )
    plain.play(actions)
    assert plain.actions == games.actions == actions
    assert len(results) > 0
    assert [tuple(row) for row in results] == plain.results
    assert [int(board) for board in games.lanes["board"]] == [number(l.board) for l in plain.lanes]
    assert_same_tables(network, plain.network)
    if rule == "tc":
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


@every_learner
@pytest.mark.parametrize("name", [SMALL, PAIRED])
def test_learning_is_the_plain_learners_bit_for_bit(name, form, order):
    compare_with_plain(name, form, order, 700)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
@pytest.mark.parametrize("decay", [0.0, 0.5, 0.95])
def test_lambda_is_the_plain_learners_bit_for_bit(form, rule, delay, decay):
    settings = {"rule": rule, "decay": decay, "delay": delay}
    compare_with_plain("cells:0123,456", form, "forward", 700, **settings)


@pytest.mark.parametrize("form", FORMS)
def test_coherence_backward_is_the_plain_learners(form):
    compare_with_plain("cells:012,345", form, "backward", 700, alpha=1.0, rule="tc")


@every_learner
@pytest.mark.parametrize("rule", ["td", "tc"])
def test_an_error_that_remembers_its_value_is_the_plain_learners(form, order, rule):
    compare_with_plain(PAIRED, form, order, 700, 0.1, rule=rule, error="remembered")  # 0.5 diverges


@pytest.mark.parametrize("delay", [True, False], ids=["delayed", "online"])
def test_a_remembered_value_serves_lambda_too(delay):
    settings = {"rule": "tc", "decay": 0.5, "delay": delay, "error": "remembered"}
    compare_with_plain("cells:0123,456", "afterstate", "forward", 700, **settings)


@every_learner
def test_an_optimistic_start_is_the_plain_learners(form, order):
    compare_with_plain("cells:012,345", form, order, 700, optimistic=5000.0)


@every_learner
def test_one_lane_learns_game_after_game(form, order):
    compare_with_plain("cells:012,345", form, order, 700, lanes=1)


def test_three_lanes_take_turns():
    compare_with_plain("cells:012,345", "afterstate", "forward", 900, lanes=3)


@pytest.mark.parametrize("alpha", [0.001, 1.0])
def test_rates_at_both_ends_are_the_plain_learners(alpha):
    compare_with_plain(SMALL, "afterstate", "forward", 700, alpha)


@pytest.mark.parametrize("games", [1, 2, 5])
def test_last_games_are_the_plain_learners(games):
    network = Network(SMALL)
    results, more = learning(network, seed=5).play(games, FOREVER, 10**4)
    plain = Learner(network.tuples, "afterstate", False, 0.5 / 16, 5)
    plain.play(FOREVER, games)
    assert not more
    assert [tuple(row) for row in results] == plain.results
    assert_same_tables(network, plain.network)


# ---------------------------------------------------------------- stopping and going on


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


@every_learner
@pytest.mark.parametrize("actions", [1, 2, 999])
def test_stops_exactly_at_its_number_of_actions(form, order, actions):
    games = learning(Network(SMALL, form), order, alpha=0.1)
    results, more = games.play(FOREVER, actions, 10**4)
    assert more
    assert games.actions == actions == results[:, 2].sum() + games.lanes["length"].sum()


@every_learner
@pytest.mark.parametrize("count", [1, 2, 7])
def test_plays_exactly_its_number_of_games(form, order, count):
    games = learning(Network(SMALL, form), order, alpha=0.1)
    results, more = games.play(count, FOREVER, 10**4)
    assert not more
    assert sorted(results[:, 0]) == list(range(count))
    assert games.actions == results[:, 2].sum()
    again, more = games.play(count, FOREVER, 10**4)
    assert len(again) == 0 and not more


@every_learner
def test_playing_without_learning_changes_no_weight(form, order):
    network = scattered(Network(SMALL, form))
    before = network.weights.copy()
    learning(network, order, learn=False).play(FOREVER, 2000, 10**4)
    np.testing.assert_array_equal(bits(network.weights), bits(before))


def test_lanes_do_not_change_play_without_learning():
    network = scattered(Network(SMALL))
    one, two = (
        learning(network, learn=False, lanes=lanes).play(9, FOREVER, 100)[0] for lanes in (1, 2)
    )
    assert one.tolist() == sorted(two.tolist())


# ---------------------------------------------------------------- one update

DISTINCT = [[2, 4, 8, 16], [256, 128, 64, 32], [512, 1024, 2048, 4096], [16384, 8192, 4, 2]]
LOST = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
ALIVE = [[4, 4, 8, 16], [0, 32, 0, 0], [0, 0, 0, 0], [0, 0, 0, 64]]


def one_turn(network, board, alpha):
    """Learn the entry DISTINCT from what follows on a board; return its value afterwards."""
    games = learning(network, alpha=alpha, lanes=1)
    for name, what in {"number": 0, "length": 1, "slot": 0, "random": 9}.items():
        games.lanes[name] = what
    for name, what in {"board": from_tiles(DISTINCT), "action": 2, "reward": 40}.items():
        games.work.past[name] = what
    games.lanes["board"] = from_tiles(board)
    games.play(1, 1, 1)
    return network.values([from_tiles(DISTINCT)], head=2 if network.form == "q" else 0)[0]


def expected_target(network, board):
    """What the entry should be worth, by plain Python."""
    plain, form = plain_twin(network), network.form
    worths = plain.worths(tiles(from_tiles(board)), form)
    if form == "afterstate":
        return max(worths.values(), default=0)
    if form == "q":
        return 40 + max(worths.values(), default=0)
    return 40 + (plain.value(tiles(from_tiles(board))) if worths else 0)


def plain_twin(network):
    """Return the same weights as a PlainNetwork, copied through `table`."""
    plain = PlainNetwork(network.tuples, network.form)
    for head in range(network.heads):
        for which in range(len(network.tuples)):
            table = network.table(which, head)
            plain.weights.update({(head, which, i): table[i] for i in np.flatnonzero(table)})
    return plain


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("board", [LOST, ALIVE], ids=["lost", "alive"])
def test_alpha_one_removes_the_whole_error(form, board):
    network = scattered(Network(SMALL, form), spread=10)
    keys = plain_twin(network).keys(tiles(from_tiles(DISTINCT)))
    assert len(set(keys)) == network.lookups_per_board
    target = expected_target(network, board)
    assert one_turn(network, board, alpha=1) == pytest.approx(target, abs=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_optimism_ends_with_the_game(form):
    """A lost board is worth 0, however hopeful the start."""
    network = scattered(Network(SMALL, form, optimistic=800), spread=10)
    left = 0 if form == "afterstate" else 40  # the reward belongs to the entry's own value
    assert one_turn(network, LOST, alpha=1) == pytest.approx(left, abs=1e-2)


def test_half_the_rate_removes_half_the_error():
    network = scattered(Network(SMALL), spread=10)
    before = network.value(from_tiles(DISTINCT))
    assert one_turn(network, LOST, alpha=0.5) == pytest.approx(before / 2, abs=1e-3)


def test_a_weight_that_two_images_share_is_moved_twice():
    network = Network("cells:0")
    board = from_tiles([[2, 0, 0, 2], [0] * 4, [0] * 4, [2, 0, 0, 4]])
    plain = PlainNetwork(network.tuples)
    keys = [index for _, index in plain.keys(tiles(board))]
    games = learning(network, alpha=1, lanes=1)
    games.lanes["number"], games.lanes["length"], games.lanes["slot"] = 0, 1, 0
    games.lanes["board"], games.work.past["board"] = from_tiles(LOST), board
    network.set_table(0, np.arange(16))
    error = -network.value(board)
    games.play(1, 1, 1)
    moved = network.table(0) - np.arange(16)
    assert moved == pytest.approx([keys.count(index) * error / 8 for index in range(16)])


# ---------------------------------------------------------------- choosing


@pytest.mark.parametrize("form", FORMS)
def test_choose_takes_the_loops_own_actions(form):
    network = scattered(Network(PAIRED, form))
    games = learning(network, seed=8, lanes=1, learn=False)
    steps = record_game(network, seed=8)
    assert len(steps) > 30
    for turn in range(len(steps) - 1):
        games.play(FOREVER, turn + 1, 10)
        assert games.lanes["board"][0] == steps[turn + 1].board, turn
        assert games.lanes["score"][0] == sum(s.reward for s in steps[: turn + 1])


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


# ---------------------------------------------------------------- functions of your own


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
    return np.concatenate(
        [
            network.table(which, head)
            for head in range(network.heads)
            for which in range(len(network.tuples))
        ]
    )


def test_own_functions_train_through_train():
    own, library = Network(SMALL), Network(SMALL)
    train(own.with_functions(*plain_parts(own)), actions=5000, progress=False)
    train(library, actions=5000, progress=False)
    np.testing.assert_array_equal(bits(own.weights), bits(in_plain_order(library)))


def test_own_update_takes_part_in_learning():
    network = Network(SMALL)

    def lazy(weights, positions, amount):
        weights[positions[0]] += 0 * amount

    games = learning(network.with_functions(update=lazy))
    games.play(FOREVER, 500, 100)
    assert not network.weights.any()


# ---------------------------------------------------------------- the same luck


def test_games_of_the_loop_spawn_by_seed_and_number():
    games = learning(Network(SMALL), seed=21, lanes=1, learn=False)
    games.play(FOREVER, 1, 10)
    board, random = initial(stream(21, 0))
    action = NetworkPlayer(Network(SMALL)).choose(board)
    board, random = spawn(slide(board, action)[0], random)
    assert (games.lanes["board"][0], games.lanes["random"][0]) == (board, random)


def test_first_game_is_where_play_begins():
    network = Network(SMALL)
    rule = learning(network, learn=False).rule
    late = Games(network, rule, 3, first_game=4).play(6, FOREVER, 9)[0]
    all_six = Games(network, rule, 3).play(6, FOREVER, 9)[0].tolist()
    assert sorted(late.tolist()) == [row for row in sorted(all_six) if row[0] >= 4]
