"""Checkpoints: written and taken up piece by piece, and edited ones refused."""

import shutil
import tracemalloc

import hostile
import numpy as np
import pytest
from learners import SMALL, contents, read_arrays

from lib2048 import Network, Run, Settings
from lib2048.networks import sparse

LARGE = "cells:01234,45678,2468a,3579b"  # 4 tables of 4 MiB, and as much again for E and for A
TABLES = (3 * 16) << 20


def learned(network, memory, share=0.9):
    """Write numbers into tables, as a long training does."""
    random = np.random.default_rng(1)
    for numbers in (network.weights, memory):
        here = random.random(len(numbers)) < share
        numbers[here] = random.normal(0, 1, np.count_nonzero(here))


@pytest.fixture
def run(tmp_path):
    """Return a run of large tables, full of numbers, with a folder."""
    run = Run(Settings(network=LARGE, rule="tc", actions=10**6), tmp_path)
    run.go(actions=100, progress=False)
    learned(run.network, run.learner._memory)
    return run


def peak_of(work):
    """Return the most memory that some work takes beside what is there, in bytes."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_writing_takes_a_table_and_no_more(run):
    run.save()  # what is compiled, imported or kept once
    assert peak_of(run.save) / 2**20 < 24


def test_taking_up_takes_the_tables_and_one_table_more(run):
    run.save()
    found = []
    peak = peak_of(lambda: found.append(Run(run.settings, run.folder.path, resume=True)))
    assert (peak - TABLES) / 2**20 < 24
    for name in ("weights", "_memory"):
        one, other = (
            getattr(r.network if name == "weights" else r.learner, name) for r in (run, found[0])
        )
        np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


def test_a_checkpoint_of_numbers_that_are_none_leaves_the_old_one(run):
    run.save()
    kept = contents(run.folder.path)
    run.learner._memory[12345] = np.nan
    with pytest.raises(FloatingPointError, match="nan or infinity"):
        run.save()
    assert contents(run.folder.path) == kept


NAMES = ["cells:0", "cells:01234", "cells:0123,4567,0124", "4-22-3", "cells:0145,124@2x3"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", [1, 3])
@pytest.mark.parametrize("at_once", [6, 3])  # cells: longer tuples are turned part by part
def test_tables_are_turned_as_their_positions_say(monkeypatch, name, wide, at_once):
    monkeypatch.setattr(sparse, "CELLS_AT_ONCE", at_once)
    network = Network(name)
    numbers = np.zeros(network.size * wide, np.float32)
    places = np.random.default_rng(2).choice(len(numbers), min(len(numbers), 10**5), replace=False)
    numbers[places] = np.arange(1, len(places) + 1)
    for column in range(wide):
        mask, values = sparse.Column(network, numbers, wide, column).members([0])
        kept = [numbers[column::wide][network.positions(k)] for k in range(len(network.tuples))]
        plain, again = np.concatenate(kept), np.zeros_like(numbers)
        np.testing.assert_array_equal(np.unpackbits(np.asarray(mask)), plain != 0)
        np.testing.assert_array_equal(values, plain[plain != 0])
        sparse.Column(network, again, wide, column).fill(mask, values, [0])
        np.testing.assert_array_equal(again[column::wide], numbers[column::wide])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run-carousel", "run-restart"])
def test_an_edited_checkpoint_neither_crashes_nor_says_two_lines(name):
    found = hostile.edited(name)
    assert {row["what"] for row in found} == {"refused", "digest"}, found
    assert len(found) > 200


EDITS = [
    ("lane_slot", 2**40), ("lane_slot", 7), ("lane_stage", 1), ("lane_number", -(2**40)),
    ("lane_length", 10**6), ("lane_start", 2**40), ("lane_watched", 0), ("turn", -1), ("turn", 2),
    ("actions", -5), ("stride", 7), ("past_action", 4), ("past_error", np.nan), ("entered", -1),
    ("seconds", -1), ("rate", np.nan), ("rate", 7), ("largest", 40), ("memory1", np.inf),
    ("counters", None), ("visits", None), ("lane_late", None),
]  # fmt: skip
COLUMNS = {"turn": ("counters", 0), "actions": ("counters", 2), "stride": ("counters", 4),
           "largest": ("history", (0, 2))}  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return (settings, folder) of a run with a checkpoint."""
    options = {"rule": "tc", "lam": 0.5, "stages": 2, "top": 32, "starts": "carousel"}
    settings = Settings(network=SMALL, actions=10**6, **options)
    folder = tmp_path_factory.mktemp("a")
    Run(settings, folder).go(actions=400, progress=False)
    return settings, folder


@pytest.mark.parametrize(("name", "number"), EDITS, ids=str)
def test_an_edit_that_is_sealed_anew_is_refused_in_one_line(kept, tmp_path, refused, name, number):
    settings, folder = kept
    shutil.copytree(folder, tmp_path / "run")
    arrays = read_arrays(folder / "checkpoint.npz")
    array, place = COLUMNS.get(name, (name, ...))
    if number is None:
        del arrays[array]
    else:
        arrays[array][place] = number
    hostile.write_sealed(tmp_path / "run" / "checkpoint.npz", **arrays)
    said = "checkpoint.npz" if number is not None else f"lacks {name}"
    refused(lambda: Run(settings, tmp_path / "run", resume=True), said)
