"""Stages: which one a board is in, and what is learned, read and kept with several."""

import random

import numpy as np
import pytest
import reference
from learners import bits, compare_with_plain, games_on, plain_twin, scattered
from reference import PlainNetwork, tiles

from lib2048 import Network, from_tiles
from lib2048.networks.stages import ONE_STAGE, TOP, stages

SMALL = "cells:0123,4567"
PAIRED = "cells:0124,0125,45"
SHORT = "cells:012,345"


def board_with(*large, seed=0):
    """Return a board with these tiles in any cells, and nothing else."""
    cells = [*large, *[0] * (16 - len(large))]
    random.Random(seed).shuffle(cells)
    return from_tiles([cells[i : i + 4] for i in range(0, 16, 4)])


def staged(name=SMALL, marks=2, top=32, promotion=None, **more):
    return Network(name, stages=marks, top=top, promotion=promotion, **more)


# ---------------------------------------------------------------- the stage of a board

FOUR_BITS = {  # the stage, and the large tiles of boards in it
    0b0000: [(), (2048, 2048, 1024, 8, 4)],
    0b0001: [(4096,), (4096, 4096)],  # the second one is carried below the smallest mark
    0b0010: [(8192,)],
    0b0011: [(8192, 4096), (8192, 8192), (8192, 8192, 4096), (8192, 8192, 8192)],
    0b0100: [(16384,)],
    0b0101: [(16384, 4096)],
    0b0110: [(16384, 16384)],  # one stage back from the last of the next line, merged
    0b0111: [(16384, 16384, 16384), (16384, 16384, 8192), (16384, 8192, 8192)],
    0b1000: [(32768,)],
    0b1010: [(32768, 8192)],
    0b1100: [(32768, 32768)],
    0b1111: [(32768, 16384, 8192, 4096), (32768,) * 16],
}
BY_HAND = [(4, TOP, large, stage) for stage, boards in FOUR_BITS.items() for large in boards]
BY_HAND += [(3, TOP, (4096,), 0b000), (3, TOP, (8192,), 0b001), (3, TOP, (32768, 8192), 0b101)]
BY_HAND += [(5, TOP, (2048,), 0b00001), (5, TOP, (32768, 4096, 2048), 0b10011)]
BY_HAND += [(1, 8, (8,), 1), (1, 8, (4, 4, 2), 0), (2, 16, (8, 8), 0b01)]
BY_HAND += [(2, 32, (64,), 0b11), (3, 32, (64,), 0b110)]  # made of two 32s
BY_HAND += [(3, 32, (128,), 0b111)]  # four 32s: one stays, three are carried
BY_HAND += [(3, 32, (64, 16), 0b111), (3, 32, (32, 8), 0b101)]
BY_HAND += [(4, 16384, (32768,), 0b1100), (4, 16384, (32768, 8192), 0b1110)]
BY_HAND += [(0, TOP, (32768, 16384), 0)]


@pytest.mark.parametrize("marks, top, large, stage", BY_HAND, ids=str)
def test_the_stage_of_a_board_by_hand(marks, top, large, stage):
    for seed in range(3):
        board = board_with(*large, seed=seed)
        assert stages(marks, top).of(board) == staged("cells:0", marks, top).stage(board) == stage


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
]  # fmt: skip


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_stages_that_make_no_sense_are_refused(arguments, refused):
    word = next((w for w in ("top", "form") if w in arguments), next(iter(arguments)))
    said = {"form": "afterstates"}.get(word, word)
    refused(lambda: Network(**{"name": "cells:0145", **arguments}), said)


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
    plain, ours = Network(SMALL), staged(SMALL, 2, TOP, promotion)  # no beginner comes that far
    one, other = games_on(plain, **settings), games_on(ours, **settings)
    expected, found = one.play(5000, 10**4)[0], other.play(5000, 10**4)[0]
    np.testing.assert_array_equal(expected, found)
    assert plain.weights.any() and not ours.weights[ours.block :].any()
    np.testing.assert_array_equal(bits(plain.weights), bits(ours.weights[: ours.block]))
    np.testing.assert_array_equal(bits(one.memory), bits(other.memory[: len(one.memory)]))
    assert other.starts.visits.tolist() == [5000, 0, 0, 0]


# ---------------------------------------------------------------- against plain Python


@pytest.mark.parametrize("promotes", [True, False], ids=["promotion", "no promotion"])
@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("decay, delay", [(0.0, True), (0.5, True), (0.5, False)], ids=str)
def test_learning_is_the_plain_learners_bit_for_bit(promotes, rule, decay, delay):
    network = staged("cells:0123,456", promotion=promotes)
    settings = {"rule": rule, "decay": decay, "delay": delay, "rate": 0.1}
    _, plain = compare_with_plain(network, 900, **settings)
    assert min(plain.visits[n] for n in range(4)) > 10
    assert len(np.unique([network.table(0, block) for block in range(4)], axis=0)) == 4


@pytest.mark.parametrize("promotes", [True, False], ids=["promotion", "no promotion"])
@pytest.mark.parametrize("rule", ["td", "tc"])
def test_learning_backward_is_the_plain_learners(promotes, rule):
    compare_with_plain(staged(SHORT, promotion=promotes), order="backward", rule=rule)


@pytest.mark.parametrize(
    "network, settings",
    [
        ({"marks": 3}, {}),
        ({"marks": 3, "name": PAIRED}, {"rule": "tc", "decay": 0.5}),
        ({"marks": 1, "top": 8}, {"lanes": 1}),
        ({"marks": 1, "top": 16}, {"lanes": 3}),
        ({"top": 16}, {"rule": "tc", "rate": 1.0, "decay": 0.9}),
        ({"top": 64, "optimistic": 2000.0}, {}),
        ({"optimistic": 2000.0}, {"order": "backward"}),
        ({"marks": 4, "top": 64}, {"rate": 0.001}),
    ],
    ids=str,
)
def test_other_stages_and_settings_are_the_plain_learners(network, settings):
    compare_with_plain(staged(**{"name": SHORT} | network), **settings)


@pytest.mark.parametrize("promotion", [True, False])
def test_play_without_learning_is_the_plain_players_and_promotes_nothing(promotion):
    network = scattered(staged(SHORT, promotion=promotion), share=0.4)
    before = network.weights.tobytes()
    compare_with_plain(network, learn=False)
    assert network.weights.tobytes() == before


# ---------------------------------------------------------------- promotion


@pytest.mark.parametrize("promotion", [True, False])
def test_what_no_game_has_taken_is_read_from_one_stage_below(promotion):
    network = scattered(staged("cells:0123,45", promotion=promotion), share=0.5)
    plain, large = plain_twin(network), ((8,), (16,), (32,), (32, 16))
    boards = [board_with(*large[seed % 4], 4, 2, 2, seed=seed) for seed in range(32)]
    for board, value in zip(boards, network.values(boards), strict=True):
        assert network.value(board) == value == plain.value(tiles(board))
        read = [plain.weights[plain.source(key)] for key in plain.places(tiles(board))]
        assert [weight for *_, weight in network.lookups(board)] == read


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
