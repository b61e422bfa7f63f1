"""Folding: a network without its contained tuples gives every board the same value."""

import json

import numpy as np
import pytest
from reference import PlainNetwork, stage, tiles
from test_stages import board_with, scattered

from lib2048 import Network, load, parse_network, save, train
from lib2048.cli import main
from lib2048.networks import files as storage
from lib2048.networks.folding import _hosts, _name_of
from lib2048.networks.names import SHAPES
from lib2048.play.evaluation import record_game

SHORT_AND_LONG = "cells:0124,4567,45,3,c8"  # c8 lies in 0124 as its mirror image does
BOARDS = [step.board for game in range(3) for step in record_game("greedy", 4, game)[::9]]
LARGE = [
    board_with(*large, 8, 4, 2, 2, seed=seed)
    for seed in range(6)
    for large in ((16,), (32,), (32, 16), (64, 32))
]


def in_double(network, board):
    """Sum a board's weights in float64 by plain Python, out of the tables in plain order."""
    marks = int(network.stages.marks)
    plain, block = PlainNetwork(network.tuples), stage(tiles(board), marks, network.stages.top)
    total = network.optimistic
    for which, index in plain.keys(tiles(board)):
        own = network.table(which, block)[index]
        if own == 0 and block and network.promotes:
            own = network.table(which, block - 1)[index]
        total += float(own)
    return total


def assert_same_values(network, folded, boards):
    """Equal up to float32's rounding of each weight's sum, and of the sum of the look-ups."""
    expected, found = network.values(boards), folded.values(boards)
    assert np.abs(expected).max() > 10
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)
    for board in boards[:: max(1, len(boards) // 6)]:
        plain = in_double(network, board)
        assert in_double(folded, board) == pytest.approx(plain, rel=1e-5, abs=1e-3)
        assert folded.value(board) == pytest.approx(plain, rel=1e-5, abs=1e-3)


def assert_folded(network, folded, boards):
    longest = max(map(len, network.tuples))
    assert folded.tuples == tuple(t for t in network.tuples if len(t) == longest)
    assert parse_network(folded.name) == folded.tuples
    assert folded.optimistic == network.optimistic and not folded.promotes
    assert folded.stages[:3] == (
        network.stages.marks,
        network.stages.lowest,
        folded.block if network.stages.marks else 0,
    )
    assert_same_values(network, folded, boards)


# ---------------------------------------------------------------- the same values


@pytest.mark.parametrize(
    "name, kept",
    [
        ("cells:0123,01", "cells:0123"),
        ("cells:01,0123", "cells:0123"),
        (SHORT_AND_LONG, "cells:0124,4567"),
        ("cells:0124,0125,12,26,6", "cells:0124,0125"),  # a pair of tables
        ("cells:0145,fe", "cells:0145"),  # turned by 180 degrees
        ("cells:0123,84,b", "cells:0123"),
        ("cells:01234,4567,0,12", None),
        ("cells:01245,0124,012,01,0", "cells:01245"),
        ("4-3", "4"),
        ("4-22-3", "4-22"),
    ],
)
def test_a_folded_network_gives_every_board_the_same_value(name, kept):
    network = scattered(Network(name))
    if kept is None:
        with pytest.raises(ValueError, match="is in no longer one"):
            network.folded()
        return
    folded = network.folded()
    assert folded.name == kept
    assert_folded(network, folded, BOARDS)


@pytest.mark.parametrize("cells", ["01", "32", "cd", "fe", "04", "37", "c8", "fb"])
def test_a_contained_tuple_is_found_on_any_image(cells):
    network = scattered(Network(f"cells:012,{cells}"))
    assert_folded(network, network.folded(), BOARDS[:40])


@pytest.mark.parametrize("promotion", [True, False])
def test_a_staged_network_is_folded_with_what_it_reads_from_below(promotion):
    network = Network(SHORT_AND_LONG, stages=3, top=64, promotion=promotion)
    scattered(network, share=0.5)
    network.weights[: network.block] *= 5
    boards = [*BOARDS, *LARGE]
    assert len({network.stage(board) for board in boards}) == 8
    assert_folded(network, network.folded(), boards)


def test_stages_that_nobody_reached_stay_empty():
    network = Network(SHORT_AND_LONG, stages=2, top=4096)
    scattered(network)
    network.weights[network.block :] = 0
    folded = network.folded()
    assert not folded.weights.reshape(4, -1)[2:].any()
    assert_folded(network, folded, BOARDS)
    boards = [board_with(2048, seed=1), board_with(4096, seed=2)]  # 1 reads stage 0, 2 reads 1
    assert folded.values(boards) == pytest.approx(network.values(boards), rel=1e-5)
    assert folded.value(boards[1]) == 0 != folded.value(boards[0])


def test_a_trained_network_is_folded():
    network = Network(SHORT_AND_LONG, optimistic=500, stages=2, top=128)
    history = train(network, rule="tc", lam=0.5, actions=20_000, starts="carousel", progress=False)
    assert (history.visits > 0).all()
    assert_folded(network, network.folded(), [*BOARDS, *LARGE])


def test_folding_a_smaller_board():
    network = scattered(Network("cells:012456,12,45,6@2x3"))
    folded = network.folded()
    assert folded.name == "cells:012456@2x3"
    boards = np.array([b & np.uint64(0xFFF0FFF) for b in BOARDS], np.uint64)
    np.testing.assert_allclose(folded.values(boards), network.values(boards), rtol=1e-5, atol=1e-3)


LARGEST = {"42-33-4": "42-33", "42-33-4-22": "42-33", "42-33-4-22-3": "42-33", "421-43-3": "421-43"}


@pytest.mark.parametrize("name, kept", LARGEST.items())
def test_every_contained_shape_has_a_place(name, kept):
    """Cell by cell, without the tables: some image of each short tuple lies in a long one."""
    long = [set(cells) for cells in parse_network(kept)]
    square = np.arange(16).reshape(4, 4)
    turns = [np.rot90(board, k) for k in range(4) for board in (square, square.T)]
    for shape in set(name.split("-")) - set(kept.split("-")):
        assert shape in SHAPES
        for cells in parse_network(shape):
            places = [{int(turn.flat[cell]) for cell in cells} for turn in turns]
            assert any(place <= whole for place in places for whole in long)


def test_the_papers_network_is_folded():
    """42-33-4-22-3 in one: 320 MiB each, so a thousandth of it is learned."""
    network = Network("42-33-4-22-3")
    random = np.random.default_rng(3)
    for number, cells in enumerate(network.tuples):
        if len(cells) < 6:
            network.set_table(number, random.normal(0, 50, 16 ** len(cells)))
    start = int(network.positions(0).min())
    network.weights[start : start + (1 << 22)] = 3
    boards = [*BOARDS, *LARGE]
    for board in boards:
        network.weights[network.places(board)] += random.normal(0, 20)
    folded = network.folded()
    assert folded.name == "42-33" and len(folded.tuples) == 5
    assert folded.lookups_per_board == 40 < network.lookups_per_board == 96
    expected, found = network.values(boards), folded.values(boards)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-2)
    for board in boards[:3]:
        assert found[boards.index(board)] == pytest.approx(
            sum(weight for *_, weight in network.lookups(board)), rel=1e-5, abs=1e-2
        )


@pytest.mark.parametrize("name", ["42-33-4", "42-33-4-22"])
def test_the_papers_other_networks_fold_in_the_same_way(name):
    """Which tuple goes where, and under which name; the tables, 320 MiB each, are left out."""
    network = Network("cells:0")
    network.name, network.tuples = name, parse_network(name)
    hosts = _hosts(network)
    assert _name_of(network, [n for n in range(len(network.tuples)) if n not in hosts]) == "42-33"
    for short, (host, cells) in hosts.items():
        assert set(cells) <= set(network.tuples[host]) and len(network.tuples[host]) == 6
        assert len(cells) == len(network.tuples[short])


# ---------------------------------------------------------------- refusals

NOT_FOLDED = {
    "cells:0123,4567": "no tuple is contained",
    "4-22": "no tuple is contained",
    "4x6": "no tuple is contained",
    "cells:0123,05": "tuple 05 is in no longer one",
    "cells:0123,01,48,56": "tuple 56 is in no longer one",
    "cells:01234,4567": "tuple 4567 is in no longer one",
}


@pytest.mark.parametrize("name, words", NOT_FOLDED.items())
def test_what_cannot_be_folded_is_refused_in_one_line(name, words):
    with pytest.raises(ValueError, match=words) as error:
        Network(name).folded()
    assert "\n" not in str(error.value) and name in str(error.value)


def test_folding_changes_nothing_in_the_network():
    network = scattered(Network(SHORT_AND_LONG, stages=2, top=32), share=0.5)
    before = network.weights.tobytes()
    network.folded()
    assert network.weights.tobytes() == before


# ---------------------------------------------------------------- the command


@pytest.fixture
def source(tmp_path):
    """Return (network, path) of a staged network that can be folded."""
    network = scattered(Network(SHORT_AND_LONG, stages=2, top=32), share=0.5)
    save(network, tmp_path / "large.npz", games=7)
    return network, tmp_path / "large.npz"


def test_the_command_writes_the_folded_network(source, tmp_path, capsys):
    network, path = source
    assert main(["fold", str(path), str(tmp_path / "small.npz"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "network": "cells:0124,4567",
        "folded_from": SHORT_AND_LONG,
        "weights": str(tmp_path / "small.npz"),
    }
    assert_folded(network, load(tmp_path / "small.npz"), [*BOARDS[:30], *LARGE])
    found = storage.info(tmp_path / "small.npz")
    assert found["info"] == {"games": 7, "folded_from": SHORT_AND_LONG}
    assert found["stages"] == 4
    assert main(["fold", str(path), str(tmp_path / "again.npz")]) == 0
    assert "folded: <network cells:0124,4567" in capsys.readouterr().out


def test_the_command_refuses_in_one_line(source, tmp_path, one_line_error):
    _, path = source
    save(Network("cells:0123,4567"), tmp_path / "flat.npz")
    save(Network("cells:0123,05"), tmp_path / "apart.npz")
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    new = tmp_path / "new.npz"
    assert "no tuple is contained" in one_line_error("fold", tmp_path / "flat.npz", new)
    assert "tuple 05" in one_line_error("fold", tmp_path / "apart.npz", new)
    assert "no such file" in one_line_error("fold", tmp_path / "nothing.npz", new)
    assert "saved as .npz" in one_line_error("fold", path, tmp_path / "new.bin")
    one_line_error("fold", path)
    (tmp_path / "text.npz").write_text("no weights")
    one_line_error("fold", tmp_path / "text.npz", new)
    (tmp_path / "text.npz").unlink()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files


def test_a_network_of_actions_is_not_folded():
    """Actions turn with the board, so a tuple that is contained when turned is another one."""
    with pytest.raises(ValueError, match="of boards, not of actions"):
        Network("cells:0123,04", "q").folded()
