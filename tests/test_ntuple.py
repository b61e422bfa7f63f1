"""Networks: their names, where the weights lie, and what a board is worth."""

import functools
import itertools
import os
import subprocess
import sys

import numpy as np
import psutil
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from learners import plain_twin, scattered, tables_of

from lib2048 import Network, parse_network, symmetries
from lib2048.game.board import WHOLE
from lib2048.networks.layout import layout
from lib2048.networks.lookups import image_boards, look_kernel, look_source
from lib2048.networks.names import LONGEST_TUPLE, NAMED, SHAPES, placements
from lib2048.networks.network import FORMS

BOARDS = st.integers(0, 2**64 - 1)
SMALL = "cells:0124,0125,456,3"  # a pair of tables, other lengths, a single cell


# ---------------------------------------------------------------- names


def cells(text):
    return tuple(tuple(int(digit, 16) for digit in word) for word in text.split())


@pytest.mark.parametrize(
    "name, expected",
    [
        ("4x6", "012345 456789 012456 45689a"),
        ("8x6", "012456 456789 012345 234569 01259a 345678 134567 01489a"),
        ("cells:012345,456789", "012345 456789"),
        ("cells:f", "f"),
        ("cells:0aBf,3", "0abf 3"),
    ],
)
def test_named_tuples(name, expected):
    assert parse_network(name) == cells(expected)


@pytest.mark.parametrize(
    "name, lengths",
    [
        ("42-33", [6] * 5),
        ("42-33-4-22", [6] * 5 + [4] * 5),
        ("42-33-4-22-3", [6] * 5 + [4] * 5 + [3] * 2),
        ("421-43", [7] * 5),
    ],
)
def test_systematic_networks_have_the_papers_tuples(name, lengths):
    assert [len(tuple_) for tuple_ in parse_network(name)] == lengths


def test_the_largest_paper_network_has_its_number_of_weights():
    assert layout(parse_network("421-43"))[0] == 1_342_177_280


@pytest.mark.parametrize(
    "shape, places", {"42": 3, "33": 2, "4": 2, "22": 3, "3": 2, "43": 3, "421": 2}.items()
)
def test_shapes_stand_at_every_place_once(shape, places):
    found = placements(shape)
    assert len(found) == places
    assert {frozenset(images(tuple_)) for tuple_ in found} == every_place(shape)


def images(cells):
    """Return the 8 symmetric images of a set of cells."""
    marked = sum(1 << 4 * cell for cell in cells)
    return {int(image) for image in symmetries(marked)}


def every_place(shape):
    """Return all classes of symmetric places where a shape fits, by moving it over the board."""
    found = set()
    for down, right in itertools.product(range(4), range(4)):
        moved = [(row + down, column + right) for row, column in SHAPES[shape]]
        if all(row < 4 and column < 4 for row, column in moved):
            found.add(frozenset(images([4 * row + column for row, column in moved])))
            turned = [4 * (3 - row) + column for row, column in moved]
            found.add(frozenset(images(turned)))
    return found


@pytest.mark.parametrize("name", ["42-33-4-22-3", "421-43"])
def test_a_placement_keeps_the_shapes_order_of_cells(name):
    for tuple_ in parse_network(name):
        rows = [cell // 4 for cell in tuple_]
        columns = [cell % 4 for cell in tuple_]
        shape = next(s for s in SHAPES.values() if len(s) == len(tuple_) and fits(s, rows, columns))
        assert shape


def fits(shape, rows, columns):
    """Say whether cells are a shape, moved, and perhaps upside down."""
    across = {column - own for column, (_, own) in zip(columns, shape)}
    along = {row - own for row, (own, _) in zip(rows, shape)}
    upside_down = {row + own for row, (own, _) in zip(rows, shape)}
    return len(across) == 1 and 1 in (len(along), len(upside_down))


NO_NETWORKS = [
    "", "5x5", "4X6", "42-34", "42-", "-42", "42--33", "42,33", "42-42", "4x6-33", "33-42-33",
    "cells:", "cells:,", "cells:012,", "cells:01g", "cells:0 1", "cells:-1", "cells:16-2",
    "cells:00", "cells:0120", "cells:aA", "cells:01234567", "cells: 012", "CELLS:012", "012345",
    "4x6@2x2", "42@1x4", "22@1x3", "421@3x3", "4-22@", "4-22@²x3", "4@2048:four=2", "4-22@chess",
]  # fmt: skip


@pytest.mark.parametrize("name", NO_NETWORKS)
def test_other_names_are_refused_in_one_line(name, refused):
    for refuse in (parse_network, Network):
        refused(lambda refuse=refuse: refuse(name), "")


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="afterstate, state, q"):
        Network("4x6", "v")


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize(
    "name, form, weights",
    [
        ("4x6", "afterstate", 4 * 16**6),
        ("8x6", "state", 8 * 16**6),
        ("42-33", "afterstate", 5 * 16**6),
        (SMALL, "afterstate", 2 * 16**4 + 16**3 + 16),
        (SMALL, "q", 4 * (2 * 16**4 + 16**3 + 16)),
    ],
)
def test_size_and_memory(name, form, weights):
    network = Network(name, form)
    assert network.size == len(network.weights) == weights
    assert network.nbytes == network.weights.nbytes == 4 * weights
    assert network.weights.dtype == np.float32
    assert network.lookups_per_board == 8 * len(network.tuples)


def test_four_six_tuples_take_256_mib():
    network = Network("4x6")
    assert network.nbytes == 268_435_456
    assert repr(network) == "<network 4x6: 4 tuples, 67,108,864 weights, 256 MiB>"


def with_free_memory(monkeypatch, available):
    memory = psutil.virtual_memory()._replace(available=available)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    taken = []
    zeros = np.zeros
    monkeypatch.setattr(np, "zeros", lambda *what, **how: taken.append(what) or zeros(*what, **how))
    return taken


def test_a_network_that_does_not_fit_takes_nothing(monkeypatch):
    taken = with_free_memory(monkeypatch, 200 << 20)
    with pytest.raises(MemoryError, match="4x6 needs 256 MiB, and 200 MiB are free"):
        Network("4x6")
    assert not taken


def test_a_q_network_needs_four_times_as_much(monkeypatch):
    with_free_memory(monkeypatch, 300 << 20)
    assert Network("4x6").nbytes == 256 << 20
    with pytest.raises(MemoryError, match="needs 1,024 MiB"):
        Network("4x6", "q")


def test_more_weights_than_32_bits_can_number_are_refused(monkeypatch):
    taken = with_free_memory(monkeypatch, 1 << 50)
    with pytest.raises(MemoryError, match="4,294,967,295"):
        Network("421-43", "q")
    assert not taken


# ---------------------------------------------------------------- layout

BIJECTIVE = [
    "cells:0", "cells:0,1", "cells:012", "cells:012,345", "cells:012,013", "cells:012,013,023,123",
    "cells:0123,0124,4567,14,56", SMALL, "4-22-3", "cells:fedc,0145,0154", "cells:01,01",
]  # fmt: skip


@pytest.mark.parametrize("form", ["afterstate", "q"])
@pytest.mark.parametrize("name", BIJECTIVE)
def test_every_weight_has_one_place(name, form):
    network = Network(name, form)
    places = [network.positions(which, head) for head, which in tables_of(network)]
    assert np.array_equal(np.sort(np.concatenate(places)), np.arange(network.size))


def test_every_weight_of_four_six_tuples_has_one_place():
    network = Network("4x6")
    taken = np.zeros(network.size, bool)
    for which in range(4):
        taken[network.positions(which)] = True
    assert taken.all()


@pytest.mark.parametrize("form", FORMS)
def test_tables_there_and_back(form):
    network = Network(SMALL, form)
    random = np.random.default_rng(3)
    sizes = [16 ** len(cells) for cells in network.tuples]
    tables = {key: random.normal(size=sizes[key[1]]) for key in tables_of(network)}
    for (head, which), table in tables.items():
        network.set_table(which, table, head)
    for (head, which), table in tables.items():
        np.testing.assert_array_equal(network.table(which, head), table.astype(np.float32))


def test_a_table_is_a_copy():
    network = scattered(Network(SMALL))
    before = network.weights.copy()
    network.table(0)[:] = 7
    np.testing.assert_array_equal(network.weights, before)


@pytest.mark.parametrize("shape", [(), (10,), (16**4 + 1,), (16, 16, 16, 16)])
def test_a_table_of_another_size_is_refused(shape):
    with pytest.raises(ValueError, match="65536"):
        Network(SMALL).set_table(0, np.zeros(shape))


@pytest.mark.parametrize("name", ["4x6", SMALL])
def test_a_tables_index_counts_the_first_cell_lowest(name):
    network = Network(name)
    table = np.zeros(16 ** len(network.tuples[0]), np.float32)
    table[3 + 16 * 5] = 1.0  # exponent 3 in the first cell, 5 in the second, the others empty
    network.set_table(0, table)
    first, second = network.tuples[0][:2]
    board = 3 << 4 * first | 5 << 4 * second
    (found,) = [look_up for look_up in network.lookups(board) if look_up[3]]
    assert found == (0, network.tuples[0], 3 + 16 * 5, 1.0)


# ---------------------------------------------------------------- images and look-ups


@pytest.mark.parametrize("name", [SMALL, "cells:0", "4-22-3", "4x6", "421"])
def test_look_finds_the_plain_index_of_every_image(name):
    tuples = parse_network(name)
    plain, size = reference.PlainNetwork(tuples), 32 * len(tuples)
    boards = np.random.default_rng(4).integers(0, 2**64, 4, np.uint64)
    images, found = np.zeros(32, np.uint64), np.zeros(size + 9, np.uint32)
    image_boards(boards, np.uint64(0), images, WHOLE)
    look_kernel(tuples)(images, found, np.uint64(9))
    where = WhereWeightsLie(tuples)
    for a, board in enumerate(boards):
        expected = [where.position(*key) for key in plain.keys(reference.tiles(board))]
        assert found[9 + a :: 4].tolist() == expected
    assert not found[:9].any()


class WhereWeightsLie:
    """The documented layout, bit by bit, without the tables that `Network` would allocate."""

    def __init__(self, tuples):
        self.tuples, self.bits = tuples, layout(tuples)[1]

    def position(self, which, index):
        cells, (bits, offset) = self.tuples[which], self.bits[which]
        exponents = {cell: index >> 4 * j & 15 for j, cell in enumerate(cells)}
        ones = (
            source if isinstance(source, int) else exponents[source[0]] >> source[1] & 1
            for source in bits
        )
        return offset + sum(one << place for place, one in enumerate(ones))


LOOK_ONCE = """
import sys, numba, numpy as np
from numba import types
from lib2048.networks.network import LOOK_SIGNATURE, look_kernel, parse_network

@numba.njit(types.void(types.FunctionType(LOOK_SIGNATURE), *LOOK_SIGNATURE.args))
def handed_over(look, images, found, at):  # as a first-class function, as the loop gets it
    look(images, found, at)

for name in sys.argv[1:]:
    tuples = parse_network(name)
    found = np.zeros(32 * len(tuples), np.uint32)
    images = np.arange(32, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    handed_over(look_kernel(tuples), images, found, np.uint64(0))
    print(*found)
"""


def looked_up(cache, *names):
    """Look up by networks, one after the other, in a new process with a cache of its own."""
    command = [sys.executable, "-c", LOOK_ONCE, *names]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_networks_cached_by_different_processes_do_not_take_each_others_place(tmp_path):
    """Their compiled functions must not share a symbol: the later one would serve both."""
    names = "cells:012,345", "cells:04,15"
    alone = [looked_up(tmp_path, name)[0] for name in names]
    assert looked_up(tmp_path, *names, names[0]) == [*alone, alone[0]]


# ---------------------------------------------------------------- values


NAMES = [SMALL, "cells:0123,4567", "cells:f"]  # and lengths in any order:
NAMES += ["cells:01,0123", "cells:3,0124,0125,45", "cells:0123,01,2345,123", "4-3-22", "3-4-22"]


@functools.cache
def pair(name):
    """Return one network twice: ours, and the plain one."""
    network = scattered(Network(name), share=1 if name == SMALL else 0.2)
    return network, plain_twin(network)


@pytest.mark.parametrize("name", NAMES)
@given(board=BOARDS)
def test_value_is_the_plain_sum_bit_for_bit(name, board):
    network, plain = pair(name)
    value = plain.value(reference.tiles(board))
    assert np.float32(network.value(board)) == value == network.values([board])[0]


@given(BOARDS)
def test_value_is_the_same_on_every_symmetric_board(board):
    network, _ = pair(SMALL)
    values = network.values(symmetries(board))
    np.testing.assert_allclose(values, values[0], rtol=1e-4, atol=1e-2)


@given(BOARDS)
def test_lookups_are_what_the_value_sums_and_say_where_the_tuple_stands(board):
    network, plain = pair(SMALL)
    found = network.lookups(board)
    assert [(which, index) for which, _, index, _ in found] == plain.keys(reference.tiles(board))
    for which, cells, index, weight in found:
        assert index == sum((board >> 4 * cell & 15) << 4 * j for j, cell in enumerate(cells))
        assert weight == plain.weights[0, which, index]


@pytest.mark.parametrize("head", range(4))
def test_each_action_of_a_q_network_has_its_own_tables(head):
    network = scattered(Network(SMALL, "q"))
    plain = plain_twin(network)
    boards = np.random.default_rng(6).integers(0, 2**64, 5, np.uint64)
    values = [plain.value(reference.tiles(board), head) for board in boards]
    assert network.values(boards, head).tolist() == values
    sums = [sum(weight for *_, weight in network.lookups(board, head)) for board in boards]
    assert sums == pytest.approx(values, abs=1e-2)


@pytest.mark.parametrize("count", range(10))
def test_many_values_are_those_of_each_board(count):
    network, _ = pair(SMALL)
    boards = np.random.default_rng(7).integers(0, 2**64, count, np.uint64)
    assert network.values(boards).tolist() == [network.value(board) for board in boards]


def test_named_networks_give_every_cell_a_say():
    for name in NAMED:
        covered = {
            cell // 4 * 4 + cell % 4
            for tuple_ in parse_network(name)
            for image in images(tuple_)
            for cell in range(16)
            if image >> 4 * cell & 1
        }
        assert covered == set(range(16))
        assert max(map(len, parse_network(name))) <= LONGEST_TUPLE


@pytest.mark.parametrize("name", [SMALL, "4x6", "42-33-4-22-3"])
def test_generated_source_is_what_is_compiled(name):
    tuples = parse_network(name)
    names = {"np": np}
    exec(look_source(tuples), names)
    plain, compiled = np.zeros((2, 32 * len(tuples)), np.uint32)
    words = np.random.default_rng(8).integers(0, 2**64, 32, np.uint64)
    names["look"](words, plain, 0)
    look_kernel(tuples)(words, compiled, np.uint64(0))
    np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize(
    "made",
    [
        lambda size: np.zeros(10, np.float32),
        lambda size: np.zeros(size),
        lambda size: np.zeros(2 * size, np.float32)[::2],
        lambda size: np.frombuffer(bytes(4 * size), np.float32),
        lambda size: np.full(size, np.nan, np.float32),
        lambda size: [0.0] * size,
    ],
)
def test_weights_that_no_kernel_should_see_are_refused(made):
    network = Network("cells:0123")
    with pytest.raises(ValueError, match="network cells:0123: ") as error:
        network.weights = made(network.size)
    assert "\n" not in str(error.value)


def test_weights_and_geometry_stay_what_kernels_believe():
    network = Network("cells:0123")
    network.weights = fresh = np.ones(network.size, np.float32)
    assert network.weights is fresh and network.value(0) == 8
    with pytest.raises(ValueError, match="stages cannot be changed"):
        network.stages = Network("4x6", stages=2).stages
    fresh.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        network.value(0)


@pytest.mark.parametrize("form, head", [("q", 4), ("q", -1), ("q", 10**9), ("afterstate", 1)])
def test_a_head_that_is_not_there_is_told(form, head):
    with pytest.raises(ValueError, match=f"a head is a number below . here, not {head}"):
        Network("4-22", form=form).values([1], head=head)
