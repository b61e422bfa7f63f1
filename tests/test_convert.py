"""Weights of other programs: each number arrives where it belongs, and comes back bit for bit.

The files here are put together from the layouts that the two programs document by their own
code, without anything of `foreign`.
"""

import json
import pickle
import struct
import tracemalloc

import numpy as np
import pytest
from learners import read_arrays

import lib2048
from lib2048 import Network, convert
from lib2048.cli import main
from lib2048.machine.arrays import write_arrays
from lib2048.networks import foreign, storage

TUPLES = "0123", "4567"
TINY = "0", "21"
ODD = -0.0, 1e-45, -1.5, 3.4e38, 0.1  # a lost sign, a subnormal number, the largest


def numbers(size, seed, share=0.3):
    """Return float32[size]: some 0, some -0.0 and other numbers that are easily lost."""
    random = np.random.default_rng(seed)
    values = random.normal(0, 100, size) * (random.random(size) < share)
    values[random.integers(0, size, 5)] = ODD
    return values.astype(np.float32)


def tables(names=TUPLES, columns=1, share=0.3):
    """Return {name: list of V, or of V, E and A}."""
    sizes = {name: 16 ** len(name) for name in names}
    return {n: [numbers(size, k, share) for k in range(columns)] for n, size in sizes.items()}


def demo_bytes(content):
    parts = [struct.pack("<Q", len(content))]
    for name, (values, *_) in content.items():
        text = f"{len(name)}-tuple pattern {name}".encode()
        parts += [struct.pack("<i", len(text)), text, struct.pack("<Q", len(values))]
        parts += [values.astype("<f4").tobytes()]
    return b"".join(parts)


def plus_bytes(content, width=None):
    parts = [struct.pack("<BI", 0, len(content))]
    for name, (values, *more) in content.items():
        digits = len(name) if width is None else width
        parts += [struct.pack("<BIHH", 4, int(name, 16), digits, 0)]
        parts += [struct.pack("<HQ", 4, len(values)), values.astype("<f4").tobytes()]
        if more:
            parts += [struct.pack("<HQ", 4, 2 * len(values))]
            parts += [column.astype("<f4").tobytes() for column in more]
        parts += [struct.pack("<H", 0)]
    return b"".join(parts)


KINDS = {
    "demo": (".bin", 1, demo_bytes),
    "plus": (".w", 1, plus_bytes),
    "TC": (".w", 3, plus_bytes),
}
every_kind = pytest.mark.parametrize(("suffix", "columns", "made"), KINDS.values(), ids=KINDS)


def written(folder, suffix, content, name="source"):
    path = folder / f"{name}{suffix}"
    path.write_bytes(content)
    return path


def there_and_back(folder, source):
    """Convert a file to .npz and back; return the bytes."""
    convert(source, folder / "ours.npz")
    convert(folder / "ours.npz", folder / f"back{source.suffix}")
    return (folder / f"back{source.suffix}").read_bytes()


@every_kind
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("names", [TUPLES, ("0",), ("fed", "3c", "9", "2104")], ids=str)
def test_a_file_comes_back_byte_for_byte(
    tmp_path, monkeypatch, suffix, columns, made, share, names
):
    monkeypatch.setattr(foreign, "PIECE", 1 << 10)
    content = tables(names, columns, share)
    source = written(tmp_path, suffix, made(content))
    assert there_and_back(tmp_path, source) == made(content)
    network = lib2048.load(tmp_path / "ours.npz")
    assert all(np.array_equal(network.table(k), v) for k, (v, *_) in enumerate(content.values()))


@pytest.mark.parametrize("width", [0, 8])
def test_names_of_older_files_come_back(tmp_path, width):
    content = plus_bytes(tables(), width)
    assert there_and_back(tmp_path, written(tmp_path, ".w", content)) == content
    assert lib2048.load(tmp_path / "ours.npz").name == "cells:0123,4567"


def test_from_one_program_to_the_other_and_back(tmp_path):
    source = written(tmp_path, ".bin", demo_bytes(tables()))
    convert(source, tmp_path / "there.w")
    assert (tmp_path / "there.w").read_bytes() == plus_bytes(tables())
    convert(tmp_path / "there.w", tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == source.read_bytes()


def test_memory_stays_below_twice_the_file(tmp_path):
    names = ["0123456789abcdef"[cell : cell + 5] for cell in range(8)]
    content = {name: [np.full(16**5, 1.5, np.float32)] for name in names}
    source = written(tmp_path, ".bin", demo_bytes(content))
    for a, b in ((source, tmp_path / "a.npz"), (tmp_path / "a.npz", tmp_path / "b.bin")):
        tracemalloc.start()
        convert(a, b)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * source.stat().st_size


def checkpoint(path, network, memory):
    arrays = storage.network_arrays(network, memory)
    write_arrays(path, arrays)
    return path


def test_a_checkpoint_by_tc_gives_e_and_a_as_shares(tmp_path):
    network = Network("cells:0123,456")
    network.weights[:], memory = numbers(network.size, 1), numbers(2 * network.size, 2)
    convert(checkpoint(tmp_path / "a.npz", network, memory), tmp_path / "tc.w")
    share = np.float32(1 / 16)  # of an error that one of 16 look-ups gets
    kept = network.weights, memory[0::2] * share, memory[1::2] * share
    content = {
        name: [column[network.positions(k)] + np.float32(0) for column in kept]  # no -0.0 in ours
        for k, name in enumerate(("0123", "456"))
    }
    assert (tmp_path / "tc.w").read_bytes() == plus_bytes(content)


def test_the_memory_of_autostep_is_no_e_and_a(tmp_path):
    network = Network("cells:01")
    memory = np.ones(3 * network.size, np.float32)
    source = checkpoint(tmp_path / "a.npz", network, memory)
    assert convert(source, tmp_path / "a.w")["kept"] == ["V"]
    assert (tmp_path / "a.w").read_bytes() == plus_bytes({"01": [np.zeros(256, np.float32)]})


def test_a_compact_file_gives_the_weights_that_it_loads(tmp_path):
    network = Network("cells:0123,4567")
    network.weights[::3] = np.random.default_rng(1).normal(0, 1e5, len(network.weights[::3]))
    lib2048.save(network, tmp_path / "a.npz", compact=True)
    convert(tmp_path / "a.npz", tmp_path / "a.bin")
    expected = lib2048.load(tmp_path / "a.npz").weights
    assert np.array_equal(lib2048.load(tmp_path / "a.bin").weights, expected)


def refusal(folder, source, destination):
    """Return the one line that names the file at fault; nothing may be written."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError) as error:
        convert(source, destination)
    assert sorted(folder.rglob("*")) == before
    line = str(error.value)
    assert "\n" not in line and line.startswith((str(source), str(destination)))
    return line


@every_kind
def test_truncated_anywhere_or_with_more_behind_it_it_is_refused(tmp_path, suffix, columns, made):
    whole = made(tables(TINY, columns))
    for length in range(0, len(whole), 3):
        source = written(tmp_path, suffix, whole[:length])
        refusal(tmp_path, source, tmp_path / "new" / "a.npz")
    with pytest.raises(ValueError, match="source"):
        lib2048.load(source)
    source = written(tmp_path, suffix, whole + b"more")
    assert "4 bytes too many" in refusal(tmp_path, source, tmp_path / "a.npz")


@pytest.mark.parametrize(("bad", "column"), [(np.nan, 0), (np.inf, 1), (-np.inf, 2)])
def test_nan_is_refused(tmp_path, bad, column):
    content = tables(TINY, 3)
    content["21"][column][77] = bad
    source = written(tmp_path, ".w", plus_bytes(content))
    line = refusal(tmp_path, source, tmp_path / "a.bin")
    assert f"{'VEA'[column]} of tuple 21 is nan" in line


def demo_table(name, size=16**4):
    text = name.encode()
    head = struct.pack("<Qi", 1, len(text)) + text + struct.pack("<Q", size)
    return head + bytes(4 * size)


def plus_table(name=b"\x01\0\0\0\x02\0\0\0", nbytes=4, size=256, form=4, end=b"\0\0"):
    head = struct.pack("<BIB", 0, 1, form) + name + struct.pack("<HQ", nbytes, size)
    return head + bytes(nbytes * size) + end


NONE = "not a file of weights"
WRONG = {
    "mono": (plus_table(b"mono0123"), "unknown table"),
    "cell twice": (plus_table(b"\x11\0\0\0\x02\0\0\0"), "twice"),
    "more cells than weights": (
        plus_table(b"\x45\x03\0\0\x02\0\0\0"),
        "more cells than 256 weights",
    ),
    "a table of a stage": (plus_table(b"\x01\0\0\x10\x08\0\0\0"), "unknown table"),
    "half numbers": (plus_table(nbytes=2), "2 bytes"),
    "double numbers": (plus_table(nbytes=8), "8 bytes"),
    "no tuple's size": (plus_table(size=257), "257 weights"),
    "no weights": (plus_table(size=0), "0 weights"),
    "form": (plus_table(form=3), "form 3"),
    "more fields": (plus_table(end=struct.pack("<HQBBH", 4, 0, 0, 0, 0)), "more than"),
    "no tables": (struct.pack("<BI", 0, 0), "no tables"),
    "another container": (b"\0\x01\x02\x03\x04\x05\x06\x07" * 9, "form"),
    "E and A of some": (plus_bytes(tables(("21",), 3) | tables(("0",))), "some have not"),
    "fewer cells": (demo_table("6-tuple pattern 0123"), "unknown table"),
    "no cell": (demo_table("4-tuple pattern 012g"), "unknown table"),
    "a cell twice": (demo_table("4-tuple pattern 0120"), "unknown table"),
    "large letters": (demo_table("4-tuple Pattern 012A"), "unknown table"),
    "no tuple": (demo_table("monotonicity 0123"), "unknown table"),
    "a line": (demo_table("\n"), "unknown table"),
    "too many cells": (demo_table("8-tuple pattern 01234567"), "unknown table"),
    "another size": (demo_table("3-tuple pattern 012", 256), "256 weights, not 4096"),
    "empty": (b"", NONE),
    "text": (b"these are no weights\n", NONE),
    "pickled": (pickle.dumps({"weights": [1.0]}), NONE),
    "zeros": (bytes(300), "no tables"),
    "ones": (b"\xff" * 300, NONE),
    "a neural network": (b'\x80\2\0\0\0\0\0\0{"__metadata__"' + bytes(700), f"{NONE} in tables"),
}


@pytest.mark.parametrize(("content", "why"), WRONG.values(), ids=WRONG)
def test_a_file_with_something_else_in_it_is_refused(tmp_path, content, why):
    assert why in refusal(tmp_path, written(tmp_path, "", content), tmp_path / "a.npz")


def test_the_content_decides_what_a_file_is(tmp_path):
    source = written(tmp_path, "", demo_bytes(tables()))
    assert convert(source, tmp_path / "a.npz")["from"] == "TDL2048-Demo .bin"
    wrong = written(tmp_path, ".w", demo_bytes(tables()))
    assert "begins like a TDL2048-Demo .bin" in refusal(tmp_path, wrong, tmp_path / "b.npz")
    assert "already" in refusal(tmp_path, source, tmp_path / "b.bin")
    for name in ("a", "a.npy", "a.W", ".bin"):
        assert "let its name end in" in refusal(tmp_path, source, tmp_path / name)
    assert "no such file" in refusal(tmp_path, tmp_path / "nothing.bin", tmp_path / "a.npz")
    assert "irectory" in refusal(tmp_path, tmp_path, tmp_path / "a.npz")


UNWRITABLE = {
    "4 stages": {"stages": 2},
    "values of states": {"form": "state"},
    "values of actions": {"form": "q"},
    "optimistic": {"optimistic": 1000.0},
    "plays 2048@2x2": {"name": "cells:0145@2x2"},
}


@pytest.mark.parametrize(("why", "how"), UNWRITABLE.items(), ids=UNWRITABLE)
def test_what_the_tables_cannot_say_is_refused(tmp_path, why, how):
    lib2048.save(Network(**{"name": "cells:0123"} | how), tmp_path / "a.npz")
    for suffix in (".bin", ".w"):
        assert why in refusal(tmp_path, tmp_path / "a.npz", tmp_path / f"new/a{suffix}")


def test_weights_by_an_index_of_ones_own_are_refused(tmp_path):
    arrays = storage.network_arrays(Network("cells:0123")) | {"own": np.array("1234")}
    write_arrays(tmp_path / "a.npz", arrays)
    assert "index of somebody" in refusal(tmp_path, tmp_path / "a.npz", tmp_path / "a.bin")


def test_a_tuple_that_is_there_twice_is_refused_by_plus(tmp_path):
    lib2048.save(Network("cells:01,01"), tmp_path / "a.npz")
    assert "twice" in refusal(tmp_path, tmp_path / "a.npz", tmp_path / "a.w")
    convert(tmp_path / "a.npz", tmp_path / "a.bin")
    assert "twice" in refusal(tmp_path, tmp_path / "a.bin", tmp_path / "a.w")


@pytest.mark.parametrize("spoilt", ["memory0", "memory1_mask", "weights"])
def test_damaged_tables_of_ours_are_refused(tmp_path, spoilt):
    convert(written(tmp_path, ".w", plus_bytes(tables(TINY, 3))), tmp_path / "a.npz")
    arrays = read_arrays(tmp_path / "a.npz")
    write_arrays(tmp_path / "b.npz", arrays | {spoilt: arrays[spoilt][:-1]})
    refusal(tmp_path, tmp_path / "b.npz", tmp_path / "a.w")


def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path, refused):
    source = written(tmp_path, ".bin", demo_bytes(tables()))
    found = foreign.read(source)
    source.write_bytes(source.read_bytes()[:-4])
    refused(lambda: list(found.pieces(1, 0)), "has become shorter")


def test_the_command_says_what_it_did_and_replaces_a_file(tmp_path, capsys):
    content = tables(columns=3)
    source = written(tmp_path, ".w", plus_bytes(content))
    new = written(tmp_path, ".bin", b"old", "a")
    assert main(["convert", str(source), str(new)]) == 0
    assert "left out  E, A" in capsys.readouterr().out
    assert main(["convert", str(source), str(new), "--json"]) == 0
    names = {"from": "TDL2048+ .w", "to": "TDL2048-Demo .bin", "network": "cells:0123,4567"}
    said = names | {"kept": ["V"], "left_out": ["E", "A"], "weights": str(new)}
    assert json.loads(capsys.readouterr().out) == said
    assert new.read_bytes() == demo_bytes(content)


@every_kind
def test_other_commands_take_the_file_itself(tmp_path, capsys, suffix, columns, made):
    source = written(tmp_path, suffix, made(tables(TINY, columns)))
    assert main(["info", str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["network"] == "cells:0,21" and found["info"]["from"].endswith(suffix)
    assert main(["play", str(source), "--games", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 3
