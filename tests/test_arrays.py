"""Arrays on disk: what is written comes back, and everything is checked before it is believed."""

import hashlib
import io
import os
import sys
import tracemalloc
import warnings
import zipfile

import hostile
import numpy as np
import pytest

from lib2048 import Network
from lib2048.machine import arrays as machine
from lib2048.machine.arrays import (
    FORMAT,
    SEAL,
    Archive,
    Flow,
    Form,
    Member,
    Part,
    check_arrays,
    member,
    read_arrays,
    write_arrays,
)
from lib2048.networks import files as storage

SOME = {
    "number": np.array(7), "text": np.array("naïve"), "empty": np.zeros((0, 3)),
    "flags": np.array([True, False]), "table": np.arange(12.0).reshape(3, 4),
    "half": np.array([1.5], np.float16),
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    write_arrays(tmp_path / "a.npz", SOME)
    return tmp_path / "a.npz"


def refusal(call, error=ValueError):
    """Return the one line with which a call is refused."""
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_written_comes_back(path):
    found = read_arrays(path)
    assert list(found) == ["format", *SOME, SEAL]
    for name, array in SOME.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_numpy_reads_it_as_any_other(path):
    with np.load(path) as file:
        assert {name: file[name].tolist() for name in SOME} == {
            name: array.tolist() for name, array in SOME.items()
        }


@pytest.mark.parametrize("compress", [False, True])
def test_the_same_arrays_make_the_same_bytes(tmp_path, compress):
    for name in ("a", "b"):
        write_arrays(tmp_path / name, SOME, compress)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def in_pieces(count, piece=1000):
    """Return a member of some numbers, made piece by piece."""
    numbers = np.arange(count, dtype=np.float32)
    cuts = range(0, count, piece)
    return numbers, Member(np.float32, (count,), lambda: (numbers[at : at + piece] for at in cuts))


def test_a_member_is_written_piece_by_piece(tmp_path):
    numbers, made = in_pieces(12_345)
    write_arrays(tmp_path / "a.npz", {"x": made})
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.npz")["x"], numbers)
    np.testing.assert_array_equal(np.asarray(made), numbers)


def test_a_member_that_changes_while_it_is_written_leaves_no_file(tmp_path):
    short = Member(np.float32, (5,), lambda: iter([np.zeros(4, np.float32)]))
    assert "has changed" in refusal(lambda: write_arrays(tmp_path / "a.npz", {"x": short}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_numbers_are_taken_in_turn(piece):
    numbers, made = in_pieces(2500, piece)
    flow, taken = Flow(made), []
    for count in (0, 1, 999, 1000, 0, 600):
        taken.append(flow.take(count))
    assert list(map(len, taken)) == [0, 1, 999, 1000, 0, 500]
    assert {part.dtype for part in taken} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(np.concatenate(taken), numbers)


def test_a_part_has_the_names_behind_its_beginning(path):
    part = Part({"a_x": 1, "a_y": 2, "b_x": 3}, "a_")
    assert dict(part) == {"x": 1, "y": 2} and "x" in part and "b_x" not in part and len(part) == 2
    with Archive(path) as archive:
        assert member(Part(archive, "ta"), "ble").shape == (3, 4)


def test_neither_writing_nor_reading_takes_a_second_copy(tmp_path):
    count = 1 << 24  # 64 MiB
    zeros = Member(np.float32, (count,), lambda: (np.zeros(1 << 20, np.float32) for _ in range(16)))
    tracemalloc.start()
    write_arrays(tmp_path / "a.npz", {"x": zeros}, compress=True)
    with Archive(tmp_path / "a.npz") as archive:
        check_arrays(archive, {"x": Form("float32", (count,), 0, 0)}, "here")
        archive.check_seal()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


# ---------------------------------------------------------------- forms

WRONG = [
    (np.zeros(3), Form("float64", (4,)), "x is float64 of shape (3), not float64 of shape (4)"),
    (np.zeros((3, 1)), Form("float64", (None,)), "shape (3, 1)"),
    (np.zeros(3), Form("float32", (3,)), "not float32"),
    (np.zeros(3), Form("i u", (None,)), "not i or u"),
    (np.array("text"), Form("i", ()), "not i"),
    (np.array([0, 5]), Form("i", (2,), 0, 4), "out of range"),
    (np.array([0, -1]), Form("i", (2,), 0), "out of range"),
    (np.array([1, 2**63], np.uint64), Form("u", (2,), 0, 2**62), "out of range"),
    (np.array([[0, 1], [0, 2]]), Form("i", (None, 2), 0, [9, 1]), "out of range"),
    (np.array([0, np.nan]), Form("f", (2,)), "nan or infinity"),
    (np.array([0, -np.inf]), Form("f", (2,), None, 3), "nan or infinity"),
    (np.array([[np.nan, 1]]), Form("f", (None, 2), finite=[True, False]), "nan or infinity"),
    (np.array("two\nlines"), Form("U"), "cannot be printed"),
    (np.array("x" * (1 << 20) + "y"), Form("U"), "a text of 1,048,577 characters"),
]


@pytest.mark.parametrize(("array", "form", "said"), WRONG)
def test_what_has_another_form_is_refused(array, form, said):
    line = refusal(lambda: check_arrays({"x": array}, {"x": form}, "here"))
    assert line.startswith("here: x ") and said in line


RIGHT = [
    (np.array([0, 4]), Form("i", (2,), 0, 4)),
    (np.array([[1, np.nan]]), Form("f", (None, 2), finite=[True, False])),
    (np.array([0, np.inf]), Form("float32 float64", (2,), 0, finite=False)),
    (np.array("a name"), Form("U")),
    (np.zeros((0, 3)), Form("f", (None, 3), 0, 1)),
]


@pytest.mark.parametrize(("array", "form"), RIGHT)
def test_what_has_its_form_passes(array, form):
    check_arrays({"x": array}, {"x": form}, "here")


def test_what_is_missing_is_refused_unless_older_files_lack_it():
    line = refusal(lambda: check_arrays({}, {"x": Form("i")}, "here"))
    assert line.startswith("here: ") and "lacks x" in line
    check_arrays({}, {"x": Form("i", old=True)}, "here")


def test_types_and_shapes_are_looked_at_before_any_number(tmp_path, monkeypatch):
    write_arrays(tmp_path / "a.npz", {"x": np.zeros(3), "y": np.zeros(4)})
    monkeypatch.setattr(Archive, "_pieces", lambda *_: pytest.fail("a number was read"))
    with Archive(tmp_path / "a.npz") as archive:
        forms = {"x": Form("f", (3,), 0), "y": Form("f", (3,))}
        refusal(lambda: check_arrays(archive, forms, "here"))


def test_what_does_not_fit_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    write_arrays(tmp_path / "a.npz", {"x": np.zeros(1 << 20)})
    monkeypatch.setattr("lib2048.machine.memory.available", lambda: 1 << 20)
    monkeypatch.setattr(Archive, "_pieces", lambda *_: pytest.fail("it was read"))
    with Archive(tmp_path / "a.npz") as archive:
        for call in (
            lambda: archive["x"],
            lambda: check_arrays(archive, {"x": Form("f", (None,))}, "here"),
        ):
            assert "needs 8 MiB" in refusal(call, MemoryError)


# ---------------------------------------------------------------- the seal


def test_the_seal_is_over_all_arrays(path):
    with Archive(path) as archive:
        assert set(archive.check_seal()) == {"format", *SOME}


EDITS = {
    "a number": lambda a: a | {"number": np.array(8)},
    "a text": lambda a: a | {"text": np.array("naive")},
    "a type": lambda a: a | {"number": np.array(7, np.uint64)},
    "a shape": lambda a: a | {"table": a["table"].reshape(4, 3)},
    "a name": lambda a: {("other" if n == "half" else n): x for n, x in a.items()},
    "one too few": lambda a: {n: x for n, x in a.items() if n != "flags"},
    "one too many": lambda a: a | {"more": np.array(1)},
    "an older format": lambda a: a | {"format": np.array(1)},
    "no format": lambda a: {n: x for n, x in a.items() if n != "format"},
    "no seal": lambda a: {n: x for n, x in a.items() if n != SEAL},
    "a newer format": lambda a: a | {"format": np.array(FORMAT + 1)},
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_breaks_the_seal(path, edit):
    np.savez(path, **edit(read_arrays(path)))
    with Archive(path) as archive:
        refusal(archive.check_seal)


def test_another_order_is_the_same_file(path):
    np.savez(path, **dict(reversed(read_arrays(path).items())))
    with Archive(path) as archive:
        archive.check_seal()


# ---------------------------------------------------------------- files of format 1


def test_files_of_format_1_are_read_by_their_own_hash(tmp_path):
    network, path = hostile.some_weights(Network(hostile.NAME)), tmp_path / "first.npz"
    path.write_bytes(hostile.first_format(network))
    np.testing.assert_array_equal(storage.load(path).weights, network.weights)
    said = storage.info(path)
    arrays = read_arrays(path)
    digest = hashlib.sha256(arrays["mask"].tobytes() + arrays["weights"].tobytes()).hexdigest()
    assert (said["sha256"], said["checked"]) == (digest, "mask, weights")
    arrays["weights"][3] += 1
    np.savez(path, **arrays)
    for call in (storage.load, storage.info):
        assert "damaged" in refusal(lambda call=call: call(path))


# ---------------------------------------------------------------- hostile files


@pytest.mark.parametrize("read", [storage.load, storage.info, read_arrays])
def test_what_is_no_file_is_refused_at_once(tmp_path, read):
    assert "no such file" in refusal(lambda: read(tmp_path / "none.npz"))
    assert "is a directory" in refusal(lambda: read(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a fifo, where there are such")
@pytest.mark.parametrize("suffix", [".npz", ".w"])
def test_a_fifo_does_not_block(tmp_path, suffix):
    os.mkfifo(tmp_path / f"a{suffix}")
    for read in (storage.load, storage.info):
        assert "is no plain file" in refusal(lambda read=read: read(tmp_path / f"a{suffix}"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_that_may_not_be_read_is_refused(path):
    path.chmod(0)
    assert "cannot be read" in refusal(lambda: storage.load(path))


def zip_of(how=zipfile.ZIP_STORED, times=1, **members):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", how) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in [*members.items()] * times:
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def headed(head):
    """Return an array with a head of its own."""
    head = head.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)


PLAIN = {name: hostile.npy(np.array(1)) for name in ("network", "form")}
HOSTILE = {
    "encrypted": hostile.encrypted(SOME, None),
    "bzip2": zip_of(zipfile.ZIP_BZIP2, **PLAIN),
    "lzma": zip_of(zipfile.ZIP_LZMA, **PLAIN),
    "no array": zip_of(network=b"hello"),
    "another suffix": zip_of(**PLAIN).replace(b"network.npy", b"network.txt"),
    "there twice": zip_of(times=2, **PLAIN),
    "objects": zip_of(network=headed("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }")),
    "code": zip_of(network=headed("__import__('os').abort()")),
    "deep": zip_of(network=headed("(" * 9000)),
    "a large shape": zip_of(
        network=headed(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({2**70},), }}")),
    "a negative shape": zip_of(
        network=headed("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }")),
    "many digits": zip_of(
        network=headed(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({'9' * 300},), }}")),
}  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_zip_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    for read in (storage.load, storage.info, read_arrays):
        assert "not a file of weights" in refusal(lambda read=read: read(path))


def bomb(path, **large):
    """Write a file of weights, sealed, with some large arrays of zeros that take few bytes."""
    arrays = storage.network_arrays(Network("cells:0123"))
    zeros = {
        name: Member(
            dtype,
            (count,),
            lambda dtype=dtype, count=count: (np.zeros(1 << 20, dtype) for _ in range(count >> 20)),
        )
        for name, (dtype, count) in large.items()
    }
    write_arrays(path, arrays | zeros, compress=True)
    return path


@pytest.mark.parametrize("read", [storage.load, storage.info])
def test_a_mask_that_would_be_large_is_refused_before_it_is_inflated(tmp_path, read):
    path = bomb(tmp_path / "a.npz", mask=(np.uint8, 1 << 29))
    tracemalloc.start()
    assert "mask is uint8 of shape (536870912), not" in refusal(lambda: read(path))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_arrays_that_nobody_asks_for_take_no_memory(tmp_path):
    path = bomb(tmp_path / "a.npz", unknown=(np.uint8, 1 << 29))
    tracemalloc.start()
    storage.load(path)
    storage.info(path)
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()


CHANGES = {
    "a mask of floats": {"mask": np.zeros(8192)},
    "a mask of wide numbers": {"mask": np.zeros(8192, np.int64)},
    "a mask that is a number": {"mask": np.array(0, np.uint8)},
    "a mask of text": {"mask": np.array("mask")},
    "a format for each": {"format": np.array([2, 2])},
    "stages for each": {"stages": np.array([0, 0])},
    "endless stages": {"stages": np.array(np.inf)},
    "a top for each": {"top": np.array([32768] * 2)},
    "an optimistic start for each": {"optimistic": np.array([1.0, 2.0])},
    "an endless start": {"optimistic": np.array(np.inf)},
    "a start beyond float32": {"optimistic": np.array(1e300)},
    "promotion as a text": {"promotion": np.array("yes")},
    "blocks in two axes": {"blocks": np.zeros((1, 1), np.uint8)},
    "wide blocks": {"blocks": np.zeros(1, np.int64)},
    "weights that are nan": {"weights": np.full(3, np.nan, np.float32)},
    "weights that are infinite": {"weights": np.array([1, np.inf, 2], np.float32)},
    "wide weights": {"weights": np.zeros(3)},
    "a weight too few": {"weights": np.zeros(2, np.float32)},
    "a unit that is nan": {"unit": np.array(np.nan, np.float32)},
    "a negative unit": {"unit": np.array(-1, np.float32)},
    "no unit": {"unit": np.array(0, np.float32)},
    "an endless unit": {"unit": np.array(1e38, np.float32)},
    "a network that is a number": {"network": np.array(3)},
    "a network of two lines": {"network": np.array("cells:\n0123")},
    "a network with too many weights": {"network": np.array("43-421-42-33")},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_sealed_file_of_another_form_is_refused(tmp_path, changes):
    network = Network("cells:0123")
    network.weights[[5, 100, 7000]] = 1, 2, 3
    path = tmp_path / "a.npz"
    write_arrays(path, storage.network_arrays(network))
    assert storage.load(path).weights.any()
    write_arrays(path, read_arrays(path) | changes)
    if "format" in changes:
        np.savez(path, **read_arrays(path) | changes)
    for read in (storage.load, storage.info):
        refusal(lambda read=read: read(path), (ValueError, MemoryError))


@pytest.mark.parametrize("text", ["[]", "null", "3", '"x"', "{", "[" * 5000])
def test_info_that_is_no_object_is_refused(tmp_path, text):
    path = tmp_path / "a.npz"
    arrays = storage.network_arrays(Network("cells:012,12"))
    write_arrays(path, arrays | {"info": np.array(text)})
    assert "info" in refusal(lambda: storage.info(path))


def test_fold_keeps_any_info(tmp_path, capsys):
    from lib2048.cli import main

    info = {"path": 1, "network": 2, "compact": 3, "folded_from": 4, "self": 5}
    storage.save_with(Network("cells:012,12"), tmp_path / "a.npz", info)
    assert main(["fold", str(tmp_path / "a.npz"), str(tmp_path / "b.npz")]) == 0
    found = storage.info(tmp_path / "b.npz")["info"]
    assert found == info | {"folded_from": "cells:012,12"}


def test_weights_that_are_no_numbers_are_not_taken(tmp_path):
    network = Network("cells:0123")
    network.weights[3] = np.inf
    storage.save(network, tmp_path / "a.npz")
    for read in (storage.load, storage.info):
        assert "nan or infinity" in refusal(lambda read=read: read(tmp_path / "a.npz"))


# ---------------------------------------------------------------- many of them


@pytest.mark.skipif(sys.platform == "win32", reason="its processes end in another way")
@pytest.mark.parametrize("first", [0, 40])
def test_no_damaged_file_ends_in_a_traceback_or_plays_with_other_weights(first):
    found = hostile.fuzz(40, first=first)
    assert [row for row in found if not row["fine"]] == []
    assert {"refused", "digest"} <= {row["what"] for row in found}


def test_a_seal_made_by_numpy_is_that_of_the_library(path):
    arrays = read_arrays(path)
    hostile.write_sealed(path, arrays)
    with Archive(path) as archive:
        assert archive.check_seal() and str(archive[SEAL]) == str(arrays[SEAL])
    assert machine.SEAL in arrays
