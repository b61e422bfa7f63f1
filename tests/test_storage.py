"""Files of weights: what is written comes back, and anything else is refused in one line."""

import shutil
import sys
import tracemalloc

import hostile
import numpy as np
import pytest
from learners import bits, read_arrays, scattered

from lib2048.machine import files
from lib2048.machine.arrays import FORMAT, Member, write_arrays
from lib2048.networks import sparse, storage
from lib2048.networks.network import FORMS, Network

NAME = "cells:0124,0125,456"


@pytest.fixture
def saved(tmp_path):
    """Return (network, path) of a small network with a few weights."""
    network = scattered(Network(NAME), share=0.01)
    storage.save(network, tmp_path / "small.npz", games=7)
    return network, tmp_path / "small.npz"


def refusal(path, read=storage.load, **options):
    """Return the one line with which a file is refused."""
    with pytest.raises((ValueError, MemoryError)) as error:
        read(path, **options)
    line = str(error.value)
    assert "\n" not in line
    return line


# ---------------------------------------------------------------- there and back


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "share"), [(NAME, 0), (NAME, 0.01), ("3", 0.5), ("cells:0", 1)])
def test_a_saved_network_comes_back(tmp_path, form, name, share):
    network = scattered(Network(name, form), share=share)
    storage.save(network, tmp_path / "w.npz")
    again = storage.load(tmp_path / "w.npz", name=name)
    assert (again.name, again.form) == (name, form)
    np.testing.assert_array_equal(bits(again.weights), bits(network.weights))


def test_the_file_is_in_plain_order_and_says_what_it_holds(saved):
    network, path = saved
    arrays, found = read_arrays(path), storage.info(path)
    tables = np.concatenate([network.table(number) for number in range(3)])
    assert np.unpackbits(arrays["mask"]).tolist() == (tables != 0).tolist()
    np.testing.assert_array_equal(arrays["weights"], tables[tables != 0])
    assert found == {
        "network": NAME,
        "form": "afterstate",
        "stages": 1,
        "nonzero_weights": len(arrays["weights"]),
        "sha256": str(arrays["sha256"]),
        "checked": "all",
        "info": {"games": 7},
    }


def test_restore_overwrites_every_weight(saved):
    network, path = saved
    other = Network(NAME)
    other.weights[:] = 5
    storage.restore(other, read_arrays(path), path)
    np.testing.assert_array_equal(other.weights, network.weights)


def test_a_compact_file_is_rounded_to_eleven_bits(tmp_path):
    network, path = Network(NAME), tmp_path / "w.npz"
    random = np.random.default_rng(3)
    network.weights[:] = random.normal(0, 1, network.size) * 10 ** random.uniform(-3, 5.5)
    network.weights[::3] = 0
    network.weights[1], network.weights[2] = 300_000, -1e-9  # beyond float16 on both sides
    storage.save(network, path, compact=True)
    found = storage.load(path)
    assert ((found.weights != 0) == (network.weights != 0)).all()
    off = np.abs(found.weights - network.weights)
    assert (off <= np.abs(network.weights) * 2.0**-11 + 1e-5).all()


def test_a_run_says_which_weights_have_learned_most(tmp_path):
    network, path = Network(NAME), tmp_path / "w.npz"
    memory = np.zeros(2 * network.size, np.float32)
    network.weights[:10] = 1
    memory[1:21:2] = range(10, 0, -1)  # A
    memory[0:20:2] = 7  # E
    write_arrays(path, storage.network_arrays(network, memory))
    assert (storage.sizes_of_errors(network, path) == memory[1::2]).all()
    storage.save(network, path)
    said = refusal(path, lambda path: storage.sizes_of_errors(network, path))
    assert "no run by TC" in said
    write_arrays(path, storage.network_arrays(network, np.zeros(3 * network.size, np.float32)))
    said = refusal(path, lambda path: storage.sizes_of_errors(network, path))
    assert "no run by TC" in said, "the second number of Autostep is none of TC's"


# ---------------------------------------------------------------- stages


def staged(reached=(0, 2), **settings):
    """Return a network of four stages that games have reached two of."""
    network = Network("cells:0124,56", **{"stages": 2, "top": 32, **settings})
    for block in reached:
        few = np.random.default_rng(block).random(network.block) < 0.1
        network.weights[block * network.block :][: network.block] = (block + 1) * few
    return network


@pytest.mark.parametrize("promotion", [True, False])
@pytest.mark.parametrize("reached", [(), (0,), (0, 2), (3,), (0, 1, 2, 3)])
def test_of_a_staged_network_the_stages_that_were_reached_are_stored(tmp_path, promotion, reached):
    network, path = staged(reached, promotion=promotion, optimistic=7), tmp_path / "w.npz"
    storage.save(network, path)
    again, arrays = storage.load(path), read_arrays(path)
    np.testing.assert_array_equal(bits(again.weights), bits(network.weights))
    assert again.arguments() == network.arguments() and storage.info(path)["stages"] == 4
    assert arrays["blocks"].tolist() == list(reached)
    assert 8 * len(arrays["mask"]) == len(reached) * network.block


def test_the_memory_of_the_stages_that_were_reached_comes_back():
    network, memory = staged((0, 2)), np.zeros(2 * staged().size, np.float32)
    memory[::2], memory[1::2] = network.weights * 3, network.weights * 5
    arrays = storage.network_arrays(network, memory)
    again = np.zeros_like(memory)
    storage.check_memory_arrays(network, 2, arrays, "here")
    storage.take_up_memory(network, again, arrays)
    np.testing.assert_array_equal(again, memory)


OTHERS = [
    {"stages": 0, "top": 32768}, {"stages": 1}, {"stages": 3}, {"top": 64}, {"promotion": False},
    {"name": "cells:0124"}, {"form": "q", "stages": 0, "top": 32768},
]  # fmt: skip


@pytest.mark.parametrize("settings", OTHERS, ids=str)
def test_weights_of_another_network_are_not_restored(settings, refused):
    other = Network(**{"name": "cells:0124,56", "stages": 2, "top": 32} | settings)
    what = "network" if {"name", "form"} & set(settings) else "other stages"
    arrays = storage.network_arrays(staged())
    refused(lambda: storage.restore(other, arrays, "here"), f"here: holds weights of {what}")
    assert not other.weights.any()


# ---------------------------------------------------------------- files that are refused


def test_weights_of_another_network_are_refused(saved):
    line = refusal(saved[1], name="4x6")
    assert NAME in line and "4x6" in line


CHANGES = {
    "a mask of floats": {"mask": np.zeros(8192)},
    "a short mask": {"mask": np.ones(3, np.uint8)},
    "weights that are nan": {"weights": np.full(3, np.nan, np.float32)},
    "a weight too few": {"weights": np.zeros(2, np.float32)},
    "endless stages": {"stages": np.array(np.inf)},
    "stages out of range": {"stages": np.array(7)},
    "no such top": {"top": np.array(33)},
    "an endless start": {"optimistic": np.array(np.inf)},
    "a start beyond float32": {"optimistic": np.array(1e300)},
    "promotion as a text": {"promotion": np.array("yes")},
    "promotion without stages": {"promotion": np.array(1)},
    "no block": {"blocks": np.zeros(0, np.uint8)},
    "no unit": {"unit": np.array(0, np.float32)},
    "an endless unit": {"unit": np.array(1e38, np.float32)},
    "another network": {"network": np.array("cells:01234")},
    "an unknown network": {"network": np.array("9x9")},
    "a network of two lines": {"network": np.array("cells:\n0123")},
    "a network with too many weights": {"network": np.array("43-421-42-33")},
    "an unknown form": {"form": np.array("v")},
    "info that is no JSON": {"info": np.array("{")},
    "info that is no object": {"info": np.array("[" * 5000)},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_file_that_is_sealed_but_does_not_hold_together_is_refused(tmp_path, changes):
    network, path = Network("cells:0123"), tmp_path / "a.npz"
    network.weights[[5, 100, 7000]] = 1, 2, 3
    write_arrays(path, storage.network_arrays(network))
    assert storage.load(path).weights.any()
    write_arrays(path, read_arrays(path) | changes)
    refusal(path, storage.info)
    if "info" not in changes:  # whoever plays does not read it
        refusal(path)


@pytest.mark.parametrize("blocks", [[0, 4], [0], [0, 1, 2]])
def test_stages_that_a_file_does_not_hold_are_refused(tmp_path, blocks):
    arrays = storage.network_arrays(staged((0, 2))) | {"blocks": np.array(blocks, np.uint8)}
    write_arrays(tmp_path / "w.npz", arrays)
    for to_play in (True, False):
        refusal(tmp_path / "w.npz", to_play=to_play)


@pytest.mark.parametrize("compact", [True, False])
def test_an_edit_or_another_format_breaks_the_seal(tmp_path, compact):
    network, path = Network("cells:0123"), tmp_path / "a.npz"
    network.weights[:9] = 1.5
    storage.save(network, path, compact=compact)
    arrays = read_arrays(path)
    others = np.full(9, 2, arrays["weights"].dtype)
    for edit, said in (({"weights": others}, "damaged"), ({"format": FORMAT - 1}, "format 1")):
        np.savez(path, **arrays | edit)
        for read in (storage.load, storage.info):
            assert said in refusal(path, read)


@pytest.mark.parametrize("read", [storage.load, storage.info])
@pytest.mark.parametrize(("name", "most"), [("mask", 8), ("unknown", 32)])
def test_nothing_is_inflated_that_does_not_fit_or_that_nobody_asks_for(tmp_path, read, name, most):
    path = tmp_path / "a.npz"  # 128 MiB of zeros, in a few bytes
    zeros = Member(np.uint8, (1 << 27,), lambda: (np.zeros(1 << 20, np.uint8) for _ in range(128)))
    write_arrays(path, storage.network_arrays(Network("cells:0123")) | {name: zeros}, True)
    tracemalloc.start()
    if name == "mask":
        assert "mask is uint8 of shape (134217728), not" in refusal(path, read)
    else:
        read(path)
    assert tracemalloc.get_traced_memory()[1] < most << 20
    tracemalloc.stop()


@pytest.mark.skipif(sys.platform == "win32", reason="its processes end in another way")
@pytest.mark.parametrize("number", [12, pytest.param(80, marks=pytest.mark.slow)])
def test_no_damaged_file_ends_in_a_traceback_or_plays_with_other_weights(number):
    found = hostile.fuzz(number)
    assert [row for row in found if not row["fine"]] == []
    assert {"refused", "digest"} <= {row["what"] for row in found}


# ---------------------------------------------------------------- writing


def test_a_file_is_seen_when_it_is_whole_and_a_failure_leaves_the_old_one(tmp_path):
    path = tmp_path / "file.txt"
    files.write_text(path, "old")

    def write(file, fails):
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        if fails:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        files.write_atomic(path, lambda file: write(file, True))
    assert path.read_text() == "old" and [*tmp_path.iterdir()] == [path]
    files.write_atomic(path, lambda file: write(file, False))
    assert path.read_text() == "new" and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("missing", [0, 1])
def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path, monkeypatch, missing):
    free = files.SPARE_BYTES + 100 - missing
    usage = shutil._ntuple_diskusage(total=10**12, used=10**12 - free, free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OSError, match=r"w\.npz: .*MiB free") as error:
        storage.save(Network("cells:0123"), tmp_path / "w.npz")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())
    if not missing:
        files.write_atomic(tmp_path / "f", lambda file: file.write(b"x"), nbytes=100)


@pytest.mark.parametrize("name", ["weights.bin", "weights", "weights.npz.gz"])
def test_another_suffix_is_refused(tmp_path, name, refused):
    refused(lambda: storage.save(Network("cells:0"), tmp_path / name), "saved as .npz")
    assert not list(tmp_path.iterdir())


def test_what_takes_long_says_what_it_is(tmp_path, monkeypatch, capsys):
    network = Network("cells:0123,4567")
    network.weights[:] = 1
    storage.save(network, tmp_path / "w.npz")
    storage.load(tmp_path / "w.npz")
    capsys.readouterr()  # of the first compilation
    storage.load(tmp_path / "w.npz")
    assert not capsys.readouterr().err  # it took no two seconds
    monkeypatch.setattr(sparse, "SILENT", 0)
    storage.save(network, tmp_path / "w.npz")
    storage.load(tmp_path / "w.npz")
    told = capsys.readouterr().err
    assert "writing cells:0123,4567" in told and "reading cells:0123,4567" in told
