"""Packing: a network in stages, loaded to play, gives every board the very same value."""

import numpy as np
import pytest
from learners import read_arrays
from test_folding import BOARDS, LARGE, SHORT_AND_LONG
from test_stages import board_with, scattered, staged

from lib2048 import SearchPlayer, evaluate, load, save, train
from lib2048.machine.arrays import member, write_arrays
from lib2048.networks import packing
from lib2048.networks.layout import offsets, ones
from lib2048.networks.network import Geometry
from lib2048.networks.packing import Packed

ALL = np.array(BOARDS + LARGE, np.uint64)


def same_values(found, network):
    assert found.values(ALL).tobytes() == network.values(ALL).tobytes()


def packed(network, tmp_path):
    """Return what is loaded to play from a network's file."""
    save(network, tmp_path / "a.npz")
    return load(tmp_path / "a.npz", to_play=True)


def some(name, share, marks=2, top=32, promotion=True, seed=1):
    """Return a network in stages: some of its weights are learned, in some stages none."""
    network = scattered(staged(name, marks, top, promotion), seed, share)
    for stage in range(network.blocks):
        if stage % 3 == 2:
            network.weights[stage * network.block :][: network.block] = 0
    return network


@pytest.mark.parametrize("share", [0.0, 0.002, 0.1, 1.0])
@pytest.mark.parametrize(
    "name", ["cells:0123,4567", "cells:0124,0125,45", "cells:01245,3", "cells:0"]
)
def test_every_board_has_the_very_same_value(name, share, tmp_path):
    network = some(name, share, marks=3)
    found = packed(network, tmp_path)
    assert isinstance(found, Packed) and found.promotes
    assert len({network.stage(board) for board in ALL}) > 1
    same_values(found, network)
    for board in ALL[::50]:
        assert found.lookups(board) == network.lookups(board)
        assert found.weights[found.places(board)].tolist() == [w for *_, w in found.lookups(board)]


def test_a_table_holds_what_is_read(tmp_path):
    network = some("cells:012,45", 0.3)
    found = packed(network, tmp_path)
    for stage in range(network.blocks):
        for which in range(2):
            own = network.table(which, stage)
            below = network.table(which, stage - 1) if stage else 0
            assert (found.table(which, stage) == np.where(own == 0, below, own)).all()


def test_only_one_stage_below_is_read(tmp_path):
    """As in the full tables: what only the stage before the last one has learned is not found."""
    network = staged("cells:0123", 2, 32)
    network.weights[0 : network.block] = 7
    found, high = packed(network, tmp_path), board_with(32, 16)
    assert network.stage(high) == 3
    assert found.value(high) == network.value(high) == 0
    assert found.value(board_with(16)) == network.value(board_with(16)) == 7 * 8


@pytest.mark.parametrize("line", [4, 5, 7])
def test_longer_lines_hold_the_same(line, tmp_path, monkeypatch):
    """Very many weights are kept in longer lines, whose numbers fit float32."""
    monkeypatch.setattr(packing, "LINE_BITS", (line,))
    network = some("cells:01245,3,45", 0.1) if line == 4 else some("cells:0123,4567", 0.05)
    found = packed(network, tmp_path)
    assert found.stages.line == line
    same_values(found, network)


@pytest.mark.parametrize("cells", ["01", "012", "01236", "0123456"])
def test_places_are_those_of_the_plain_order(cells):
    network = Geometry(f"cells:{cells}")
    random, size = np.random.default_rng(1), 16 ** len(cells)
    plain = np.sort(random.choice(size, 50, replace=False))
    mask = np.zeros(size // 8, np.uint8)
    np.bitwise_or.at(mask, plain >> 3, (128 >> (plain & 7)).astype(np.uint8))
    bits, start = network.region(0)
    parts = [offsets(bits, [int(cell)])[plain >> 4 * j & 15] for j, cell in enumerate(cells)]
    found = packing._places(network, member({"": mask}, ""), [0], 50)
    assert found.tolist() == (start + ones(bits) + np.sum(parts, axis=0)).tolist()


def test_the_first_line_with_enough_numbers_is_taken(tmp_path, monkeypatch):
    network = some("cells:0123,4567", 1.0)
    lines = {}
    for most in (1 << 24, 20_000, 10_000):
        monkeypatch.setattr(packing, "MOST_LINES", most)
        lines[most] = int(packed(network, tmp_path).stages.line)
    assert lines == {1 << 24: 5, 20_000: 5, 10_000: 6}
    monkeypatch.setattr(packing, "MOST_LINES", 10)
    with pytest.raises(MemoryError, match="too many weights to be packed"):
        packed(network, tmp_path)


def test_memory_is_taken_for_what_there_is(tmp_path):
    network = some("cells:01234", 0.001)
    found = packed(network, tmp_path)
    lines = len(np.unique(np.flatnonzero(network.weights) >> 5))
    numbers = network.size >> 5
    assert 4 * (numbers + 32 * lines) < found.nbytes < 4 * (numbers + 32 * (lines * 1.2 + 2000))
    assert found.nbytes < network.nbytes / 3


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_it_plays_the_same_games(plies, tmp_path):
    network = some("cells:0124,0125,45", 0.3, marks=3, top=64)
    both = [SearchPlayer(who, plies) for who in (network, packed(network, tmp_path))]
    one, other = (evaluate(player, 3, seed=4).scores.tolist() for player in both)
    assert one == other
    for board in (board_with(64, 32, 8, 4, 2), board_with(32, 16, 8, 8, 2, 2)):
        assert both[0].decide(board) == both[1].decide(board)


def test_compact_files_and_initial_values(tmp_path):
    network = scattered(staged("cells:0124,0125", 2, 32, optimistic=500.0), share=0.2, spread=1e6)
    save(network, tmp_path / "a.npz", compact=True)
    whole, found = (load(tmp_path / "a.npz", to_play=play) for play in (False, True))
    same_values(found, whole)


def test_what_cannot_or_need_not_be_packed(tmp_path):
    """Without promotion and without stages there are the full tables; one stage is folded."""
    assert type(packed(some("cells:0123,12", 0.3, promotion=False), tmp_path)) is not Packed
    folds = packed(scattered(staged("cells:0123,12", 0, 32768)), tmp_path)
    assert folds.name == "cells:0123"
    lonely = "cells:01234,4567,0,12"  # 4567 is in no longer one
    assert packed(scattered(staged(lonely, 0, 32768)), tmp_path).name == lonely
    assert packed(some(SHORT_AND_LONG, 0.3), tmp_path).name == SHORT_AND_LONG


USES = {
    "learning": lambda net, path: train(net, games=1),
    "add": lambda net, path: net.add(board_with(2), 1.0),
    "a new table": lambda net, path: net.set_table(0, np.zeros(16**4)),
    "folding": lambda net, path: net.folded(),
    "functions": lambda net, path: net.with_functions(value=lambda weights, positions: 0.0),
    "a file": lambda net, path: save(net, path / "b.npz"),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_packed_network_only_plays(use, tmp_path):
    found = packed(some("cells:0123,12", 0.3), tmp_path)
    before = found.weights.tobytes()
    with pytest.raises(ValueError, match="it is packed for playing: load it without to_play"):
        use(found, tmp_path)
    assert found.weights.tobytes() == before and not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize("bits", [0x00, 0xFF])
def test_a_mask_that_does_not_fit_its_numbers_is_refused(bits, tmp_path, refused):
    path = tmp_path / "a.npz"
    save(some("cells:0123,4567", 0.1), path)
    arrays = read_arrays(path)
    arrays["mask"][-1000:] = bits
    write_arrays(path, arrays)
    said = "a.npz: its weights do not fit network cells:0123,4567"
    refused(lambda: load(path, to_play=True), said)
