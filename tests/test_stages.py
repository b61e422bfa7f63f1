"""Stages: which one a board is in, and what is learned, read and kept with several."""

import itertools
import random

import numpy as np
import pytest
import reference
from learners import games_on
from reference import Learner, PlainNetwork, number, tiles

from lib2048 import Network, from_tiles, slide
from lib2048.game.board import symmetries
from lib2048.learn.rules import horizon
from lib2048.networks.stages import ONE_STAGE, TOP, next_stage, stages
from lib2048.play.evaluation import record_game

FOREVER = np.iinfo(np.int64).max
SMALL = "cells:0123,4567"
PAIRED = "cells:0124,0125,45"
NEVER = {"stages": 2, "top": 32768}  # no game of a beginner comes that far
U0 = np.uint64(0)


def board_with(*large, seed=0):
    """Return a board with these tiles in any cells, and nothing else."""
    cells = [*large, *[0] * (16 - len(large))]
    random.Random(seed).shuffle(cells)
    return from_tiles([cells[i : i + 4] for i in range(0, 16, 4)])


def staged(name=SMALL, marks=2, top=32, promotion=None, **more):
    return Network(name, stages=marks, top=top, promotion=promotion, **more)


def learning(network, seed=5, **how):
    """Return games that learn on a network."""
    return games_on(network, seed=seed, **how)


def scattered(network, seed=1, share=1.0, spread=100):
    """Fill a share of a network's weights with random numbers and return it."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, spread, network.size).astype(np.float32)
    network.weights[:] = np.where(rng.random(network.size) < share, weights, 0)
    return network


def bits(weights):
    return weights.view(np.uint32)


def by_hand(network, board, block):
    """Return the tables' weights that make a board's value, of one stage alone."""
    plain = PlainNetwork(network.tuples)
    return [float(network.table(which, block)[i]) for which, i in plain.keys(tiles(board))]


# ---------------------------------------------------------------- the stage of a board

FOUR_BITS = {
    (): 0b0000,
    (2048, 2048, 1024, 8, 4): 0b0000,
    (4096,): 0b0001,
    (4096, 4096): 0b0001,  # the second one is carried below the smallest mark
    (8192,): 0b0010,
    (8192, 4096): 0b0011,
    (8192, 8192): 0b0011,
    (8192, 8192, 4096): 0b0011,
    (8192, 8192, 8192): 0b0011,
    (16384,): 0b0100,
    (16384, 4096): 0b0101,
    (16384, 16384): 0b0110,
    (16384, 16384, 16384): 0b0111,
    (16384, 16384, 8192): 0b0111,
    (16384, 8192, 8192): 0b0111,  # and one stage back when the two are merged
    (32768,): 0b1000,
    (32768, 8192): 0b1010,
    (32768, 32768): 0b1100,
    (32768, 16384, 8192, 4096): 0b1111,
    (32768,) * 16: 0b1111,
}


@pytest.mark.parametrize("large, stage", FOUR_BITS.items(), ids=str)
def test_the_stage_of_a_board_by_hand(large, stage):
    for seed in range(3):
        assert stages(4).of(board_with(*large, seed=seed)) == stage
        assert staged("cells:0", 4, TOP).stage(board_with(*large, seed=seed)) == stage


@pytest.mark.parametrize(
    "marks, top, large, stage",
    [
        (3, TOP, (4096,), 0b000),
        (3, TOP, (8192,), 0b001),
        (3, TOP, (32768, 8192), 0b101),
        (5, TOP, (2048,), 0b00001),
        (5, TOP, (32768, 4096, 2048), 0b10011),
        (1, 8, (8,), 1),
        (1, 8, (4, 4, 2), 0),
        (2, 16, (8, 8), 0b01),
        (2, 32, (64,), 0b11),  # made of two 32s
        (3, 32, (64,), 0b110),
        (3, 32, (128,), 0b111),  # four 32s: one stays, three are carried
        (3, 32, (64, 16), 0b111),
        (3, 32, (32, 8), 0b101),
        (4, 16384, (32768,), 0b1100),
        (4, 8192 * 2, (32768, 8192), 0b1110),
        (0, TOP, (32768, 16384), 0),
    ],
)
def test_other_marks_and_lower_tops(marks, top, large, stage):
    assert stages(marks, top).of(board_with(*large)) == stage


RANDOM = [
    tuple(random.Random(seed).choices(range(low, 16), k=16))
    for seed, low in enumerate([0, 3, 8, 11, 12, 13] * 20)
]
SPARSE = [
    tuple(e * (random.Random(seed).random() < 0.3) for e in exponents)
    for seed, exponents in enumerate(RANDOM)
]
ALLOWED = [(g, 1 << e) for g in range(1, 6) for e in range(g + 2, 16)]


@pytest.mark.parametrize("marks, top", ALLOWED)
def test_the_stage_is_that_of_the_plain_function(marks, top):
    found, counted = set(), stages(marks, top)
    for exponents in RANDOM + SPARSE:
        board = np.uint64(sum(e << 4 * i for i, e in enumerate(exponents)))
        found.add(counted.of(board))
        assert counted.of(board) == reference.stage(tiles(board), marks, top)
    assert len(found) > 1 and max(found) < counted.count == 2**marks


@pytest.mark.parametrize("marks, top", [(4, TOP), (5, 2048), (3, 32)])
def test_all_images_of_a_board_are_in_one_stage(marks, top):
    for exponents in SPARSE:
        board = np.uint64(sum(e << 4 * i for i, e in enumerate(exponents)))
        assert len({stages(marks, top).of(image) for image in symmetries(board)}) == 1


@pytest.mark.parametrize("marks, top", [(1, 8), (2, 32), (3, 128), (5, 2048), (4, 128)])
def test_the_next_stage_is_that_of_the_afterstate(marks, top):
    """Of every legal action along played games."""
    network = Network("cells:0", stages=marks, top=top)
    lowest, seen, moved = network.stages.lowest, set(), 0
    for game, player in itertools.product(range(6), ("greedy", "random")):
        for step in record_game(player, seed=3, number=game):
            stage = network.stage(step.board)
            for action in range(4):
                after, reward = slide(step.board, action)
                legal = after != step.board
                pays = np.float32(reward if legal else -np.inf)
                found = next_stage(np.uint64(stage), after, pays, np.uint64(marks), lowest)
                if legal:
                    assert found == network.stage(after)
                    moved += found != stage
                    seen.add(int(found))
    assert moved > 5 and len(seen) >= min(2**marks, 6)


def test_no_spawn_changes_the_stage():
    counted = stages(1, 8)
    for exponents in filter(lambda cells: 0 in cells, SPARSE):
        board = np.uint64(sum(e << 4 * i for i, e in enumerate(exponents)))
        cell = exponents.index(0)
        assert {counted.of(board | np.uint64(e << 4 * cell)) for e in (0, 1, 2)} == {
            counted.of(board)
        }


def test_names_say_which_tiles_there_are():
    four = stages(4)
    assert (four.count, four.top) == (16, 32768)
    assert four.name(0b0000) == "below 4096"
    assert four.name(0b0101) == "16384 + 4096"
    assert four.name(0b1111) == "32768 + 16384 + 8192 + 4096"
    assert four.tiles(0b1010) == [32768, 8192]
    low = stages(2, 32)
    assert [low.name(n) for n in range(4)] == ["below 16", "16", "32", "32 + 16"]
    assert stages(0) == ONE_STAGE and ONE_STAGE.count == 1
    for stage in range(16):
        assert four.of(board_with(*four.tiles(stage))) == stage


BAD = [
    {"stages": -1}, {"stages": 6}, {"stages": 1.5}, {"stages": "two"}, {"promotion": True},
    {"stages": 2, "top": 24}, {"stages": 2, "top": 65536}, {"stages": 2, "top": 8},
    {"stages": 5, "top": 64}, {"stages": 1, "top": 4}, {"stages": 1, "top": 0},
    {"stages": 1, "top": -32}, {"stages": 0, "top": 32},
    {"stages": 1, "form": "q"}, {"stages": 1, "form": "state"},
    {"stages": 1, "name": "cells:0145@3x3"},
]  # fmt: skip


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_stages_that_make_no_sense_are_refused(arguments):
    with pytest.raises(ValueError) as error:
        Network(**{"name": "cells:0145", **arguments})
    line = str(error.value)
    assert "\n" not in line
    word = next((w for w in ("top", "form", "name") if w in arguments), next(iter(arguments)))
    assert {"form": "afterstates", "name": "4x4"}.get(word, word) in line


def test_more_stages_than_positions_are_refused():
    with pytest.raises(MemoryError, match="4,294,967,295") as error:
        Network("421", stages=5)
    assert "\n" not in str(error.value)


def test_the_repr_says_how_many_stages():
    assert "in 4 stages" in repr(staged()) and "stages" not in repr(Network(SMALL))
    assert staged().size == 4 * Network(SMALL).size


# ---------------------------------------------------------------- one stage is no stages


@pytest.mark.parametrize("promotion", [True, False])
@pytest.mark.parametrize("settings", [{}, {"rule": "tc", "decay": 0.5}, {"order": "backward"}])
def test_stages_that_are_never_reached_change_no_bit(promotion, settings):
    plain, ours = Network(SMALL), Network(SMALL, promotion=promotion, **NEVER)
    one, other = learning(plain, **settings), learning(ours, **settings)
    expected, found = one.play(FOREVER, 5000, 10**4)[0], other.play(FOREVER, 5000, 10**4)[0]
    np.testing.assert_array_equal(expected, found)
    assert plain.weights.any() and not ours.weights[ours.block :].any()
    np.testing.assert_array_equal(bits(plain.weights), bits(ours.weights[: ours.block]))
    np.testing.assert_array_equal(bits(one.memory), bits(other.memory[: len(one.memory)]))
    assert other.starts.visits.tolist() == [5000, 0, 0, 0]


def test_without_promotion_equal_tables_are_one_stage():
    plain, ours = scattered(Network(SMALL)), staged(promotion=False)
    ours.weights[:] = np.tile(plain.weights, 4)
    games = [learning(net, learn=False).play(9, FOREVER, 20)[0] for net in (plain, ours)]
    np.testing.assert_array_equal(*games)


# ---------------------------------------------------------------- against plain Python


def compare_with_plain(
    marks,
    top,
    promotes=True,
    name=SMALL,
    actions=600,
    order="forward",
    lanes=2,
    rule="td",
    rate=0.5,
    decay=0.0,
    delay=True,
    starts="initial",
    optimistic=0.0,
    learn=True,
):
    """Train twice, by the library and in plain Python; every weight and game must be the same.

    Returns (network, games, plain learner).
    """
    network = staged(name, marks, top, promotes, optimistic=optimistic)
    games = games_on(
        network, rule, rate, 5, lanes, learn, decay, order=order, delay=delay, starts=starts
    )
    results, _ = games.play(FOREVER, actions, 10**4)
    plain = Learner(
        network.tuples,
        "afterstate",
        order == "backward",
        rate / network.lookups_per_board,
        5,
        lanes,
        learn,
        rule == "tc",
        decay,
        horizon(decay),
        delay,
        optimistic,
        marks,
        top,
        promotes,
        starts,
    )
    plain.play(actions)
    assert [tuple(row) for row in results] == plain.results and len(results) > 1
    assert [int(board) for board in games.lanes["board"]] == [number(l.board) for l in plain.lanes]
    assert games.starts.visits.tolist() == [plain.visits[n] for n in range(2**marks)]
    assert_same_tables(network, network.weights, plain.network.weights)
    if rule == "tc":
        assert_same_tables(network, games.memory[0::2], plain.network.sums)
        assert_same_tables(network, games.memory[1::2], plain.network.sizes)
    return network, games, plain


def assert_same_tables(network, numbers, plain):
    """The library's numbers, in the order of the weights, are those of a plain dict."""
    twin, tables = Network(network.name), {}
    for (block, which, index), value in plain.items():
        empty = np.zeros(16 ** len(network.tuples[which]), np.float32)
        tables.setdefault((block, which), empty)[index] = value
    for block in range(network.blocks):
        twin.weights[:] = numbers[block * network.block :][: network.block]
        for which in range(len(network.tuples)):
            expected = tables.get((block, which), np.zeros_like(twin.table(which)))
            np.testing.assert_array_equal(bits(twin.table(which)), bits(expected))


@pytest.mark.parametrize("promotes", [True, False], ids=["promotion", "no promotion"])
@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("decay, delay", [(0.0, True), (0.5, True), (0.5, False)], ids=str)
def test_learning_is_the_plain_learners_bit_for_bit(promotes, rule, decay, delay):
    settings = {"rule": rule, "decay": decay, "delay": delay, "rate": 0.1}
    network, _, plain = compare_with_plain(2, 32, promotes, "cells:0123,456", 900, **settings)
    assert min(plain.visits[n] for n in range(4)) > 10
    assert len(np.unique([network.table(0, block) for block in range(4)], axis=0)) == 4


@pytest.mark.parametrize("promotes", [True, False], ids=["promotion", "no promotion"])
@pytest.mark.parametrize("rule", ["td", "tc"])
def test_learning_backward_is_the_plain_learners(promotes, rule):
    compare_with_plain(2, 32, promotes, "cells:012,345", order="backward", rule=rule)


@pytest.mark.parametrize(
    "marks, top, settings",
    [
        (3, 32, {}),
        (3, 32, {"name": PAIRED, "rule": "tc", "decay": 0.5}),
        (1, 8, {"lanes": 1}),
        (1, 16, {"lanes": 3}),
        (2, 16, {"rule": "tc", "rate": 1.0, "decay": 0.9}),
        (2, 64, {"optimistic": 2000.0}),
        (2, 32, {"optimistic": 2000.0, "order": "backward"}),
        (4, 64, {"rate": 0.001}),
        (2, 32, {"learn": False}),
    ],
    ids=str,
)
def test_other_stages_and_settings_are_the_plain_learners(marks, top, settings):
    network, _, _ = compare_with_plain(marks, top, **{"name": "cells:012,345", **settings})
    assert network.weights.any() == settings.get("learn", True)


# ---------------------------------------------------------------- promotion


def test_a_stage_above_nothing_learns_as_without_promotion():
    """Nothing is promoted out of a stage that learned nothing, and nothing learned is lost."""
    tables, board = [], from_tiles([[8, 0, 0, 0], [0] * 4, [0, 0, 2, 2], [0] * 4])
    for promotion in (True, False):
        network = staged("cells:012,345", 1, 8, promotion)
        games = learning(network, rate=1.0, lanes=1)
        games.lanes["number"], games.lanes["board"] = 0, board
        games.lanes["stage"], games.lanes["random"] = 1, 7
        games.play(1, 60, 10)
        assert not network.weights[: network.block].any()
        tables.append(network.weights[network.block :])
    assert tables[0].any()
    np.testing.assert_array_equal(bits(tables[0]), bits(tables[1]))


@pytest.fixture
def entering():
    """Return (network, games): a game that enters stage 1 by its next action, merging two 4s."""
    network = staged("cells:0123", 1, 8)
    network.weights[: network.block] = scattered(Network("cells:0123"), spread=1).weights
    games = learning(network, rate=1.0, lanes=1, rule="tc")
    board = from_tiles([[4, 4, 0, 0], [0] * 4, [0] * 4, [2, 0, 0, 0]])
    games.lanes["number"], games.lanes["board"], games.lanes["random"] = 0, board, 7
    return network, games


def test_a_weight_is_promoted_when_it_is_first_taken(entering):
    network, games = entering
    before = network.weights.copy()
    games.play(1, 1, 1)
    after = games.work.past["board"][0, 0]
    assert network.stage(after) == 1
    places = network.places(after)
    assert (places >= network.block).all()
    lower, first = before[places - network.block], slice(network.block)
    np.testing.assert_array_equal(bits(network.weights[places]), bits(lower))
    assert np.count_nonzero(network.weights[network.block :]) == len(set(places))  # no others
    np.testing.assert_array_equal(bits(network.weights[first]), bits(before[first]))
    assert not games.memory.any()  # E and A begin at 0


def test_a_promoted_weight_goes_its_own_way(entering):
    network, games = entering
    games.play(1, 1, 1)
    after = games.work.past["board"][0, 0]
    places, value = network.places(after), network.value(after)
    lower = network.weights[places - network.block]
    network.weights[: network.block] += 100
    assert network.value(after) == value
    network.weights[: network.block] -= 100
    games.play(1, 2, 1)  # learns its first error
    assert (network.weights[places] != lower).any()
    assert games.memory[2 * places].all() and not games.memory[2 * (places - network.block)].any()


def test_what_no_game_has_taken_is_read_from_one_stage_below():
    network = staged("cells:0123,45", 2, 32)
    for block in range(4):
        for which in range(2):
            table = np.random.default_rng(block).normal(0, 10, len(network.table(which)))
            table[np.random.default_rng(9 + block).random(len(table)) < 0.5] = 0
            network.set_table(which, table, block)
    boards = [
        board_with(*large, 4, 2, 2, seed=seed)
        for large in ((8,), (16,), (32,), (32, 16))
        for seed in range(8)
    ]
    values, changed = network.values(boards), 0
    for board, value in zip(boards, values, strict=True):
        stage = network.stage(board)
        own = by_hand(network, board, stage)
        lower = by_hand(network, board, max(stage - 1, 0))
        read = [a or b for a, b in zip(own, lower, strict=True)]
        changed += own != read
        assert value == pytest.approx(sum(read), rel=1e-5, abs=1e-4)
        assert [weight for *_, weight in network.lookups(board)] == read
        assert network.value(board) == value
    assert changed > 10
    still = staged("cells:0123,45", 2, 32, promotion=False)
    still.weights[:] = network.weights
    expected = [sum(by_hand(network, board, network.stage(board))) for board in boards]
    assert still.values(boards) == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_a_weight_that_was_learned_and_is_zero_is_read_from_below_again():
    """As in the paper, where V = 0 stands for "never accessed"."""
    network = staged("cells:0", 1, 8)
    network.weights[: network.block] = 5
    board = board_with(8, 2, 4)
    network.add(board, 1.0)
    assert network.value(board) > 40
    network.weights[network.block :] = 0
    assert network.value(board) == 40


def test_add_begins_from_the_stage_below():
    network = staged("cells:0", 1, 8)
    network.weights[: network.block] = 5
    board = from_tiles([[8, 2, 4, 2]] + [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 16]])
    before = network.weights[: network.block].copy()
    network.add(board, 1.0)
    indices = [index for _, index in PlainNetwork(network.tuples).keys(tiles(board))]
    expected = [5 + indices.count(i) if i in indices else 0 for i in range(16)]
    assert network.table(0, 1).tolist() == expected
    np.testing.assert_array_equal(network.weights[: network.block], before)


def test_an_optimistic_start_is_not_taken_for_an_access():
    """V_init is a constant beside the tables: they stay 0, and reading goes on below."""
    network = staged("cells:0123", 1, 8, optimistic=1000)
    board = board_with(8, 2)
    assert network.value(board) == 1000 and not network.weights.any()
    network.weights[: network.block] = 1
    assert network.value(board) == 1008
    network.weights[network.block :] = -1
    assert network.value(board) == 992
