"""Folding: a network without its contained tuples gives every board the same value."""

import json

import numpy as np
import pytest
from test_stages import board_with, scattered

from lib2048 import Network, load, parse_network
from lib2048.cli import main
from lib2048.networks import storage
from lib2048.networks.folding import _hosts, _name_of
from lib2048.networks.network import Geometry
from lib2048.play.evaluation import record_game

SHORT_AND_LONG = "cells:0124,4567,45,3,c8"  # c8 lies in 0124 as its mirror image does
BOARDS = [step.board for game in range(3) for step in record_game("greedy", 4, game)[::9]]
LARGE = [
    board_with(*large, 8, 4, 2, 2, seed=seed)
    for seed in range(6)
    for large in ((16,), (32,), (32, 16), (64, 32))
]


def assert_same_values(network, folded, boards):
    """Equal up to float32's rounding of each weight's sum, and of the sum of the look-ups."""
    expected = network.values(boards)
    assert np.abs(expected).max() > 10
    np.testing.assert_allclose(folded.values(boards), expected, rtol=1e-5, atol=1e-3)
    for board, value in list(zip(boards, expected))[:: max(1, len(boards) // 6)]:
        assert folded.value(board) == pytest.approx(value, rel=1e-5, abs=1e-3)


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


@pytest.mark.parametrize(
    "name, kept",
    [
        ("cells:0123,01", "cells:0123"),
        ("cells:01,0123", "cells:0123"),
        (SHORT_AND_LONG, "cells:0124,4567"),
        ("cells:0124,0125,12,26,6", "cells:0124,0125"),  # a pair of tables
        ("cells:0145,fe", "cells:0145"),  # turned by 180 degrees
        ("cells:0123,84,b", "cells:0123"),
        ("cells:012,32,cd,37,fb", "cells:012"),  # every image
        ("cells:01245,0124,012,01,0", "cells:01245"),
        ("4-3", "4"),
        ("4-22-3", "4-22"),
    ],
)
def test_a_folded_network_gives_every_board_the_same_value(name, kept):
    network = scattered(Network(name))
    folded = network.folded()
    assert folded.name == kept
    assert_folded(network, folded, BOARDS)


@pytest.mark.parametrize("promotion", [True, False])
def test_a_staged_network_is_folded_with_what_it_reads_from_below(promotion):
    network = Network(SHORT_AND_LONG, stages=3, top=64, promotion=promotion)
    scattered(network, share=0.5)
    network.weights[: network.block] *= 5
    before = network.weights.tobytes()
    boards = [*BOARDS, *LARGE]
    assert len({network.stage(board) for board in boards}) == 8
    assert_folded(network, network.folded(), boards)
    assert network.weights.tobytes() == before


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


def test_folding_a_smaller_board():
    network = scattered(Network("cells:012456,12,45,6@2x3"))
    folded = network.folded()
    assert folded.name == "cells:012456@2x3"
    boards = np.array([b & np.uint64(0xFFF0FFF) for b in BOARDS], np.uint64)
    np.testing.assert_allclose(folded.values(boards), network.values(boards), rtol=1e-5, atol=1e-3)


PAPERS = {"42-33-4": "42-33", "42-33-4-22": "42-33", "42-33-4-22-3": "42-33", "421-43-3": "421-43"}


@pytest.mark.parametrize(("name", "kept"), PAPERS.items())
def test_the_papers_networks_are_folded(name, kept):
    """Which tuple goes where, and under which name; the tables, 320 MiB each, are left out."""
    network = Geometry(name)
    hosts = _hosts(network)
    assert _name_of(network, [n for n in range(len(network.tuples)) if n not in hosts]) == kept
    square = np.arange(16).reshape(4, 4)
    turns = [np.rot90(board, k) for k in range(4) for board in (square, square.T)]
    for short, (host, cells) in hosts.items():
        assert set(cells) <= set(network.tuples[host])
        images = [[int(turn.flat[cell]) for cell in network.tuples[short]] for turn in turns]
        assert cells in images


NOT_FOLDED = {
    "cells:0123,4567": "no tuple is contained",
    "4x6": "no tuple is contained",
    "cells:0123,01,48,56": "tuple 56 is in no longer one",
    "cells:01234,4567": "tuple 4567 is in no longer one",
}


@pytest.mark.parametrize("name, words", NOT_FOLDED.items())
def test_what_cannot_be_folded_is_refused_in_one_line(name, words, refused):
    refused(lambda: Network(name).folded(), f"network {name}: {words}")


INFO = {"path": 1, "network": 2, "compact": 3, "folded_from": 4, "self": 5}  # any names


def test_the_command_writes_the_folded_network(tmp_path, capsys):
    network = scattered(Network(SHORT_AND_LONG, stages=2, top=32), share=0.5)
    path, new = tmp_path / "large.npz", tmp_path / "small.npz"
    storage.save_with(network, path, INFO)
    assert main(["fold", str(path), str(new)]) == 0
    assert "folded      cells:0124,4567: 2 tuples of 4 cells" in capsys.readouterr().out
    assert main(["fold", str(path), str(new), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    names = {"network": "cells:0124,4567", "folded_from": SHORT_AND_LONG}
    assert said == names | {"weights": str(new)}
    assert_folded(network, load(new), [*BOARDS[:30], *LARGE])
    found = storage.info(new)
    assert found["info"] == INFO | {"folded_from": SHORT_AND_LONG} and found["stages"] == 4


def test_a_network_of_actions_is_not_folded():
    """Actions turn with the board, so a tuple that is contained when turned is another one."""
    with pytest.raises(ValueError, match="of boards, not of actions"):
        Network("cells:0123,04", "q").folded()
