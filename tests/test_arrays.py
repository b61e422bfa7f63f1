"""Arrays on disk: what is written comes back, and everything is checked before it is believed."""

import io
import os
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from learners import read_arrays

from lib2048.machine.arrays import (
    FORMAT,
    SEAL,
    Archive,
    Form,
    Member,
    Part,
    check_arrays,
    check_seal,
    member,
    write_arrays,
)

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


@pytest.mark.parametrize("compress", [False, True])
def test_what_is_written_comes_back(tmp_path, compress):
    for name in ("a", "b"):
        write_arrays(tmp_path / name, SOME, compress)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    found = read_arrays(tmp_path / "a")
    assert list(found) == ["format", *SOME, SEAL]
    with np.load(tmp_path / "a") as file:  # numpy reads it as any other
        for name, array in SOME.items():
            for one in (found[name], file[name]):
                assert (one.dtype, one.shape) == (array.dtype, array.shape)
                np.testing.assert_array_equal(one, array)


def test_a_member_that_changes_while_it_is_written_leaves_no_file(tmp_path):
    short = Member(np.float32, (5,), lambda: iter([np.zeros(4, np.float32)]))
    assert "has changed" in refusal(lambda: write_arrays(tmp_path / "a.npz", {"x": short}))
    assert not list(tmp_path.iterdir())


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
        check_seal(archive)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 << 20


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


def test_what_is_missing_is_refused_unless_a_file_may_lack_it():
    line = refusal(lambda: check_arrays({}, {"x": Form("i")}, "here"))
    assert line.startswith("here: ") and "lacks x" in line
    check_arrays({}, {"x": Form("i", optional=True)}, "here")


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
        refusal(lambda: check_seal(archive))


def test_another_order_is_the_same_file(path):
    np.savez(path, **dict(reversed(read_arrays(path).items())))
    with Archive(path) as archive:
        check_seal(archive)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    assert "no such file" in refusal(lambda: read_arrays(tmp_path / "none.npz"))
    assert "is a directory" in refusal(lambda: read_arrays(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a fifo, where there are such")
def test_a_fifo_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "a.npz")
    assert "is no plain file" in refusal(lambda: read_arrays(tmp_path / "a.npz"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_that_may_not_be_read_is_refused(path):
    path.chmod(0)
    assert "cannot be read" in refusal(lambda: read_arrays(path))


def zip_of(*entries, how=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", how) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def headed(head, kind="'<f4'", shape="(3,)"):
    """Return an array with a head of its own; {}: one of numpy's with this type and shape."""
    said = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}"
    head = head.replace("{}", said).encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)


def encrypted(data):
    """Say that what a zip of one member holds is encrypted."""
    data = bytearray(data)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + place] |= 1
    return bytes(data)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


PLAIN = "x.npy", npy(np.array(1))
HEADS = {
    "objects": headed("{}", "'|O'"),
    "fields": headed("{}", "[('a', '<f4')]"),
    "columns first": headed("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }"),
    "code": headed("__import__('os').abort()"),
    "deep": headed("(" * 9000),
    "half a head": headed("{'descr'"),
    "no text": headed("\xff\xfe'''"),
    "a large shape": headed("{}", shape=f"({2**70},)"),
    "a shape beyond all memory": headed("{}", shape=f"({2**62},)"),
    "a negative shape": headed("{}", shape="(-1,)"),
    "many digits": headed("{}", shape=f"({'9' * 300},)"),
    "no array": b"hello",
}
HOSTILE = {name: zip_of(("x.npy", data)) for name, data in HEADS.items()} | {
    "encrypted": encrypted(zip_of(PLAIN)),
    "bzip2": zip_of(PLAIN, how=zipfile.ZIP_BZIP2),
    "lzma": zip_of(PLAIN, how=zipfile.ZIP_LZMA),
    "another suffix": zip_of(("x.txt", PLAIN[1])),
    "there twice": zip_of(PLAIN, PLAIN),
    "no zip": b"games,mean\n1000,3.5\n",
    "one array": PLAIN[1],
    "nothing": b"",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    assert "not a file of weights" in refusal(lambda: read_arrays(tmp_path / "a.npz"))


def test_nothing_is_ever_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    np.savez(tmp_path / "a.npz", x=np.array([Trap(), 0], object))
    np.array([Trap(), 0], object).dump(tmp_path / "b.npz")
    for name in ("a.npz", "b.npz"):
        refusal(lambda name=name: read_arrays(tmp_path / name))
    assert not (tmp_path / "sprung").exists()
