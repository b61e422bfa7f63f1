"""Files: what is written comes back, and anything else is refused in one line."""

import io
import pickle
import shutil
import tracemalloc

import numpy as np
import pytest

from lib2048.machine import files
from lib2048.machine.arrays import FORMAT, read_arrays, write_arrays
from lib2048.networks import files as storage
from lib2048.networks.network import FORMS, Network

NAME = "cells:0124,0125,456"


@pytest.fixture
def saved(tmp_path):
    """Return (network, path) of a small network with a few weights."""
    network = few_weights(Network(NAME))
    storage.save(network, tmp_path / "small.npz", games=7)
    return network, tmp_path / "small.npz"


def few_weights(network, share=0.01):
    random = np.random.default_rng(1)
    places = random.choice(network.size, max(1, int(share * network.size)), replace=False)
    network.weights[places] = random.normal(0, 100, len(places))
    return network


def refusal(path, **options):
    """Return the one line with which a file is refused."""
    with pytest.raises(ValueError) as error:
        storage.load(path, **options)
    line = str(error.value)
    assert "\n" not in line and str(path) in line
    return line


def rewritten(path, **changes):
    """Write the file again with some of its arrays changed."""
    arrays = read_arrays(path) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
def test_a_saved_network_comes_back(tmp_path, form, share):
    network = Network(NAME, form)
    if share:
        few_weights(network, share)
    storage.save(network, tmp_path / "w.npz")
    again = storage.load(tmp_path / "w.npz")
    assert (again.name, again.form) == (NAME, form)
    np.testing.assert_array_equal(again.weights.view(np.uint32), network.weights.view(np.uint32))


@pytest.mark.parametrize("name", ["cells:0", "cells:0123", "3", "cells:01,02,35,2"])
def test_networks_of_any_size_come_back(tmp_path, name):
    network = few_weights(Network(name), 0.5)
    storage.save(network, tmp_path / "w.npz")
    np.testing.assert_array_equal(storage.load(tmp_path / "w.npz").weights, network.weights)


def test_the_file_is_in_plain_order_and_holds_only_what_was_learned(saved):
    network, path = saved
    arrays = read_arrays(path)
    tables = np.concatenate([network.table(number) for number in range(3)])
    assert np.unpackbits(arrays["mask"]).tolist() == (tables != 0).tolist()
    np.testing.assert_array_equal(arrays["weights"], tables[tables != 0])


def test_load_takes_the_network_that_is_asked_for(saved):
    assert storage.load(saved[1], name=NAME).name == NAME


def test_info_says_what_the_file_holds(saved):
    network, path = saved
    found = storage.info(path)
    assert found.pop("sha256") == str(read_arrays(path)["sha256"])
    count = int(np.count_nonzero(network.weights))
    assert found == {
        "network": NAME,
        "form": "afterstate",
        "stages": 1,
        "nonzero_weights": count,
        "checked": "all",
        "info": {"games": 7},
    }


def test_restore_overwrites_every_weight(saved):
    network, path = saved
    other = Network(NAME)
    other.weights[:] = 5
    storage.restore(other, read_arrays(path), path)
    np.testing.assert_array_equal(other.weights, network.weights)


# ---------------------------------------------------------------- files that are refused


def test_a_missing_file_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "nothing.npz")


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 0.5, 0.9, -1])
def test_a_truncated_file_is_refused(saved, keep):
    path = saved[1]
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    refusal(path)


@pytest.mark.parametrize("where", [0.3, 0.5, 0.8])
def test_a_damaged_byte_is_refused(saved, where):
    path = saved[1]
    raw = bytearray(path.read_bytes())
    raw[int(where * len(raw))] ^= 0x10
    path.write_bytes(raw)
    refusal(path)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


FOREIGN = {
    "text": b"games,mean\n1000,3.5\n",
    "a pickle": pickle.dumps({"network": NAME}),
    "a pickle of an array": np.ones(3).dumps(),
    "one array": npy(np.ones(3)),
    "a pickled array": npy(np.array([{}, None], object), allow_pickle=True),
    "pickles inside": npz(network=np.array([{}, None], object)),
    "other arrays": npz(weights=np.ones(3), biases=np.ones(3)),
    "no arrays": npz(),
    "TDL2048-Demo": (4).to_bytes(8, "little") + b"\x16\0\0\0" + b"6-tuple pattern 012345",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "weights.npz"
    path.write_bytes(content)
    refusal(path)
    with pytest.raises(ValueError, match="not a file of weights"):
        storage.info(path)


def test_nothing_is_ever_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    (tmp_path / "weights.npz").write_bytes(npz(network=np.array([Trap(), 0], object)))
    refusal(tmp_path / "weights.npz")
    assert not (tmp_path / "sprung").exists()


def test_a_folder_is_refused(tmp_path):
    refusal(tmp_path)


def test_weights_of_another_network_are_refused(saved):
    line = refusal(saved[1], name="4x6")
    assert NAME in line and "4x6" in line


@pytest.mark.parametrize("name, form", [("cells:0124", "afterstate"), (NAME, "q")])
def test_weights_are_not_restored_into_another_network(saved, name, form):
    network, path = saved
    other = Network(name, form)
    with pytest.raises(ValueError, match="holds weights of"):
        storage.restore(other, read_arrays(path), path)
    assert not other.weights.any()


CHANGES = {
    "weights changed": {"weights": np.ones(3, np.float32)},
    "mask changed": {"mask": np.ones(3, np.uint8)},
    "other network": {"network": np.array("cells:0123")},
    "unknown network": {"network": np.array("9x9")},
    "other form": {"form": np.array("q")},
    "unknown form": {"form": np.array("v")},
    "newer format": {"format": np.array(FORMAT + 1)},
    "no hash": {"sha256": None},
    "no form": {"form": None},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_file_that_does_not_hold_together_is_refused(saved, changes):
    path = rewritten(saved[1], **changes)
    with pytest.raises(ValueError) as error:
        storage.load(path)
    assert "\n" not in str(error.value)


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
def test_a_staged_network_comes_back(tmp_path, promotion, reached):
    network = staged(reached, promotion=promotion, optimistic=7)
    storage.save(network, tmp_path / "w.npz")
    again = storage.load(tmp_path / "w.npz")
    np.testing.assert_array_equal(again.weights.view(np.uint32), network.weights.view(np.uint32))
    assert again.stages == network.stages and again.promotes == promotion
    assert (again.name, again.optimistic) == (network.name, 7)
    assert storage.info(tmp_path / "w.npz")["stages"] == 4


@pytest.mark.parametrize("reached", [(), (0,), (1, 3)])
def test_only_the_stages_that_were_reached_are_stored(tmp_path, reached):
    network = staged(reached)
    storage.save(network, tmp_path / "w.npz")
    arrays = read_arrays(tmp_path / "w.npz")
    assert arrays["blocks"].tolist() == list(reached)
    assert 8 * len(arrays["mask"]) == len(reached) * network.block
    assert len(arrays["weights"]) == np.count_nonzero(network.weights)


def test_the_memory_of_the_stages_that_were_reached_comes_back():
    network, memory = staged((0, 2)), np.zeros(2 * staged().size, np.float32)
    memory[::2] = network.weights * 3
    memory[1::2] = network.weights * 5
    arrays = storage.network_arrays(network) | storage.memory_arrays(network, memory)
    again = np.zeros_like(memory)
    storage.restore_memory(network, again, arrays, "here")
    np.testing.assert_array_equal(again, memory)


OTHER_STAGES = [
    {"stages": 0, "top": 32768},
    {"stages": 1},
    {"stages": 3},
    {"top": 64},
    {"promotion": False},
]


@pytest.mark.parametrize("settings", OTHER_STAGES, ids=str)
def test_weights_of_other_stages_are_refused(settings):
    arrays = storage.network_arrays(staged())
    other = Network("cells:0124,56", **{"stages": 2, "top": 32, **settings})
    with pytest.raises(ValueError, match="here: holds weights of other stages"):
        storage.restore(other, arrays, "here")
    assert not other.weights.any()


def test_weights_of_one_stage_are_refused_by_a_staged_network():
    arrays = storage.network_arrays(few_weights(Network("cells:0124,56")))
    with pytest.raises(ValueError, match="other stages"):
        storage.restore(staged(()), arrays, "here")


BAD_BLOCKS = {
    "a stage that is none": {"blocks": np.array([0, 4], np.uint8)},
    "a stage too few": {"blocks": np.array([0], np.uint8)},
    "a stage too many": {"blocks": np.array([0, 1, 2], np.uint8)},
    "fewer stages": {"stages": np.array(1)},
    "stages out of range": {"stages": np.array(7)},
    "no such top": {"top": np.array(33)},
}


@pytest.mark.parametrize("changes", BAD_BLOCKS.values(), ids=BAD_BLOCKS)
def test_a_staged_file_that_does_not_hold_together_is_refused(tmp_path, changes):
    storage.save(staged((0, 2)), tmp_path / "w.npz")
    refused = rewritten(tmp_path / "w.npz", **changes)
    with pytest.raises(ValueError) as error:
        storage.load(refused)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- writing


def failing(file):
    file.write(b"half")
    raise RuntimeError("killed")


def test_a_failed_write_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "file.txt"
    files.write_text(path, "old")
    with pytest.raises(RuntimeError):
        files.write_atomic(path, failing)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_a_write_is_seen_only_when_it_is_whole(tmp_path):
    path = tmp_path / "file.txt"
    files.write_text(path, "old")

    def write(file):
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"

    files.write_atomic(path, write)
    assert path.read_text() == "new"


def full_disk(monkeypatch, free):
    usage = shutil._ntuple_diskusage(total=10**12, used=10**12 - free, free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)


def test_a_full_disk_is_noticed_before_anything_is_written(tmp_path, monkeypatch):
    full_disk(monkeypatch, 1000)
    network = Network("cells:0123")
    with pytest.raises(OSError, match=r"w\.npz: .*MiB free") as error:
        storage.save(network, tmp_path / "w.npz")
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("spare, fits", [(99, False), (100, True)])
def test_the_room_that_is_asked_for_is_on_top_of_the_spare(tmp_path, monkeypatch, spare, fits):
    full_disk(monkeypatch, files.SPARE_BYTES + spare)
    written = []
    try:
        files.write_atomic(tmp_path / "f", lambda file: written.append(1), nbytes=100)
    except OSError:
        pass
    assert bool(written) == fits


@pytest.mark.parametrize("name", ["weights.bin", "weights", "weights.npz.gz"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="saved as .npz"):
        storage.save(Network("cells:0"), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_saving_takes_no_second_copy_of_the_network(tmp_path):
    network = few_weights(Network("cells:01234,45678,2468a,3579b"))
    tracemalloc.start()
    storage.save(network, tmp_path / "w.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * network.nbytes  # one table of four and what belongs to it


def test_loading_takes_no_second_copy_of_the_network(tmp_path):
    network = few_weights(Network("cells:01234,45678,2468a,3579b"))
    storage.save(network, tmp_path / "w.npz")
    tracemalloc.start()
    storage.load(tmp_path / "w.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.8 * network.nbytes


# ---------------------------------------------------------------- compact files


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


def test_a_compact_file_is_checked_like_any_other(tmp_path):
    network, path = Network(NAME), tmp_path / "w.npz"
    network.weights[:] = 1.5
    storage.save(network, path, compact=True)
    arrays = read_arrays(path)
    arrays["weights"][0] = 2
    np.savez_compressed(path, **arrays)
    with pytest.raises(ValueError, match="damaged"):
        storage.load(path)


def test_a_run_says_which_weights_have_learned_most(tmp_path):
    network, path = Network(NAME), tmp_path / "w.npz"
    memory = np.zeros(2 * network.size, np.float32)
    network.weights[:10] = 1
    memory[1:21:2] = range(10, 0, -1)  # A
    memory[0:20:2] = 7  # E
    arrays = storage.network_arrays(network) | storage.memory_arrays(network, memory)
    write_arrays(path, arrays)
    assert (storage.sizes_of_errors(network, path) == memory[1::2]).all()


def test_a_run_that_kept_no_such_sizes_is_refused(tmp_path, refused):
    network, path = Network(NAME), tmp_path / "w.npz"
    storage.save(network, path)
    refused(lambda: storage.sizes_of_errors(network, path), "no run by TC")
