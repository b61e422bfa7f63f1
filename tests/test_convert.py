"""Weights of other programs: each number arrives where it belongs, and comes back bit for bit.

The files here are put together from the layouts that the two programs document by their own
code, without anything of `foreign`.
"""

import json
import pickle
import struct
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lib2048
from lib2048 import Network, Run, Settings, convert
from lib2048.cli import main
from lib2048.game.board import symmetries, to_exponents
from lib2048.machine.arrays import read_arrays, write_arrays
from lib2048.networks import files, foreign

TUPLES = "0123", "4567"
TINY = "0", "21"
ODD = -0.0, 1e-45, -1.5, 3.4e38, 0.1  # a lost sign, a subnormal number, the largest


def numbers(size, seed, share=0.3):
    """Return float32[size]: some 0, some -0.0 and other numbers that are easily lost."""
    random = np.random.default_rng(seed)
    values = random.normal(0, 100, size) * (random.random(size) < share)
    values[random.integers(0, size, 5)] = ODD
    return values.astype(np.float32)


def tables(names=TUPLES, columns=1):
    """Return {name: list of V, or of V, E and A}."""
    return {
        name: [numbers(16 ** len(name), 3 * number + column) for column in range(columns)]
        for number, name in enumerate(names)
    }


def demo_bytes(content):
    parts = [struct.pack("<Q", len(content))]
    for name, (values,) in content.items():
        text = f"{len(name)}-tuple pattern {name}".encode()
        parts += [struct.pack("<i", len(text)), text, struct.pack("<Q", len(values))]
        parts += [values.astype("<f4").tobytes()]
    return b"".join(parts)


def plus_bytes(content, width=None):
    parts = [struct.pack("<BI", 0, len(content))]
    for name, columns in content.items():
        digits = len(name) if width is None else width
        parts += [struct.pack("<BIHH", 4, int(name, 16), digits, 0)]
        parts += [struct.pack("<HQ", 4, len(columns[0])), columns[0].astype("<f4").tobytes()]
        if len(columns) == 3:
            parts += [struct.pack("<HQ", 4, 2 * len(columns[0]))]
            parts += [column.astype("<f4").tobytes() for column in columns[1:]]
        parts += [struct.pack("<H", 0)]
    return b"".join(parts)


KINDS = {
    "demo": (".bin", lambda names=TUPLES: demo_bytes(tables(names))),
    "plus": (".w", lambda names=TUPLES: plus_bytes(tables(names))),
    "plus, TC": (".w", lambda names=TUPLES: plus_bytes(tables(names, 3))),
}
every_kind = pytest.mark.parametrize(("suffix", "made"), KINDS.values(), ids=KINDS)


def written(folder, suffix, content, name="source"):
    path = Path(folder) / f"{name}{suffix}"
    path.write_bytes(content)
    return path


def there_and_back(folder, source):
    """Convert a file to .npz and back; return the bytes."""
    convert(source, folder / "ours.npz")
    convert(folder / "ours.npz", folder / f"back{source.suffix}")
    return (folder / f"back{source.suffix}").read_bytes()


# ---------------------------------------------------------------- there and back


@every_kind
def test_a_file_comes_back_byte_for_byte(tmp_path, suffix, made):
    assert there_and_back(tmp_path, written(tmp_path, suffix, made())) == made()


def test_more_than_one_piece_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "PIECE", 1 << 10)
    content = plus_bytes(tables(("0123", "456", "9"), 3))
    assert there_and_back(tmp_path, written(tmp_path, ".w", content)) == content


@given(
    st.lists(
        st.permutations("0123456789abcdef").flatmap(
            lambda cells: st.integers(1, 3).map(lambda n: "".join(cells[:n]))
        ),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([1, 3]),
)
def test_any_tuples_in_any_order_come_back(names, share, columns):
    content = {
        name: [numbers(16 ** len(name), column, share) for column in range(columns)]
        for name in names
    }
    with tempfile.TemporaryDirectory() as folder:
        source = written(folder, ".w", plus_bytes(content))
        assert there_and_back(Path(folder), source) == source.read_bytes()
        network = lib2048.load(Path(folder) / "ours.npz")
        for number, (values, *_) in enumerate(content.values()):
            assert np.array_equal(network.table(number), values)


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


def test_demo_has_no_place_for_e_and_a(tmp_path):
    content = tables(columns=3)
    source = written(tmp_path, ".w", plus_bytes(content))
    found = convert(source, tmp_path / "v.bin")
    assert (found["kept"], found["left_out"]) == (["V"], ["E", "A"])
    values = {name: columns[:1] for name, columns in content.items()}
    assert (tmp_path / "v.bin").read_bytes() == demo_bytes(values)


def test_known_networks_keep_their_names():
    assert foreign.name_of(lib2048.parse_network("4x6")) == "4x6"
    assert foreign.name_of(lib2048.parse_network("cells:10,ab")) == "cells:10,ab"


def test_memory_stays_below_twice_the_file(tmp_path):
    names = [f"{cell:x}{cell + 1:x}{cell + 2:x}{cell + 3:x}{cell + 4:x}" for cell in range(8)]
    content = {name: [np.full(16**5, 1.5, np.float32)] for name in names}
    source = written(tmp_path, ".bin", demo_bytes(content))
    for a, b in ((source, tmp_path / "a.npz"), (tmp_path / "a.npz", tmp_path / "b.bin")):
        tracemalloc.start()
        convert(a, b)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * source.stat().st_size


# ---------------------------------------------------------------- what the numbers mean


def plain_value(content, board):
    """Look a board up as the programs do, on its 8 symmetric images."""
    images = [to_exponents(image).ravel() for image in symmetries(board)]
    return sum(
        float(values[sum(int(image[int(cell, 16)]) << 4 * i for i, cell in enumerate(name))])
        for name, (values, *_) in content.items()
        for image in images
    )


@every_kind
@pytest.mark.parametrize("names", [TUPLES, ("3210", "51a")])
def test_a_network_values_boards_as_its_program_does(tmp_path, suffix, made, names):
    source = written(tmp_path, suffix, made(names))
    content = {
        name: [np.where(np.abs(values) > 1e30, 0, values) for values in columns]
        for name, columns in tables(names).items()
    }
    for path in (source, tmp_path / "ours.npz"):
        if path != source:
            convert(source, path)
        network = lib2048.load(path)
        network.weights[np.abs(network.weights) > 1e30] = 0  # they would hide all others
        for board in (0x0000000000001221, 0x0001023100451267, 0xFEDCBA9876543210):
            assert network.value(board) == pytest.approx(plain_value(content, board), abs=1e-2)


def test_our_weights_stand_where_the_programs_look(tmp_path):
    network = Network("cells:0123,456")
    network.set_table(0, np.arange(16**4))
    network.set_table(1, -np.arange(16**3))
    lib2048.save(network, tmp_path / "a.npz")
    content = {
        "0123": [np.arange(16**4, dtype=np.float32)],
        "456": [-np.arange(16**3, dtype=np.float32)],
    }
    content["456"][0][0] = 0  # a network holds no -0 that nobody wrote
    for suffix, made in ((".bin", demo_bytes), (".w", plus_bytes)):
        convert(tmp_path / "a.npz", tmp_path / f"b{suffix}")
        assert (tmp_path / f"b{suffix}").read_bytes() == made(content)


def test_a_checkpoint_by_tc_gives_e_and_a_as_shares(tmp_path):
    network = Network("cells:0123,456")
    network.weights[:], memory = numbers(network.size, 1), numbers(2 * network.size, 2)
    arrays = files.network_arrays(network) | files.memory_arrays(network, memory)
    write_arrays(tmp_path / "checkpoint.npz", arrays)
    convert(tmp_path / "checkpoint.npz", tmp_path / "tc.w")
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
    arrays = files.network_arrays(network) | files.memory_arrays(network, memory)
    write_arrays(tmp_path / "a.npz", arrays)
    assert convert(tmp_path / "a.npz", tmp_path / "a.w")["kept"] == ["V"]
    assert (tmp_path / "a.w").read_bytes() == plus_bytes({"01": [np.zeros(256, np.float32)]})


def test_a_compact_file_gives_the_weights_that_it_loads(tmp_path):
    network = Network("cells:0123,4567")
    network.weights[::3] = np.random.default_rng(1).normal(0, 1e5, len(network.weights[::3]))
    lib2048.save(network, tmp_path / "a.npz", compact=True)
    convert(tmp_path / "a.npz", tmp_path / "a.bin")
    expected = lib2048.load(tmp_path / "a.npz").weights
    assert np.array_equal(lib2048.load(tmp_path / "a.bin").weights, expected)


def test_training_goes_on_from_another_programs_weights(tmp_path):
    values = numbers(16**4, 1)
    values[np.abs(values) > 1e30] = 0
    source = written(tmp_path, ".bin", demo_bytes({"0123": [values]}))
    network = lib2048.load(source)
    run = Run(Settings(network="cells:0123", games=5), network=network)
    run.go()
    learned = run.network.table(0) != values
    assert 0 < learned.sum() < 16**4 / 10


# ---------------------------------------------------------------- refusals


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refusal(folder, source, destination):
    """Return the one line that names the file at fault; nothing may be written."""
    before = contents(folder)
    with pytest.raises(ValueError) as error:
        convert(source, destination)
    assert contents(folder) == before
    line = str(error.value)
    assert "\n" not in line and line.startswith((str(source), str(destination)))
    return line


@every_kind
def test_truncated_anywhere_it_is_refused(tmp_path, suffix, made):
    whole = made(TINY)
    for length in range(len(whole)):
        source = written(tmp_path, suffix, whole[:length])
        refusal(tmp_path, source, tmp_path / "new" / "a.npz")
        with pytest.raises(ValueError, match="source"):
            lib2048.load(source)


def test_a_truncated_npz_is_refused(tmp_path):
    lib2048.save(Network("cells:01"), tmp_path / "a.npz")
    whole = (tmp_path / "a.npz").read_bytes()
    for length in range(0, len(whole), 37):
        refusal(tmp_path, written(tmp_path, ".npz", whole[:length]), tmp_path / "a.bin")


@every_kind
@pytest.mark.parametrize("more", [b"\0", b"\0\0", b"more than was asked for"])
def test_trailing_bytes_are_refused(tmp_path, suffix, made, more):
    source = written(tmp_path, suffix, made(TINY) + more)
    assert f"{len(more)} bytes too many" in refusal(tmp_path, source, tmp_path / "a.npz")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_nan_is_refused(tmp_path, bad, column):
    content = tables(TINY, 3)
    content["21"][column][77] = bad
    source = written(tmp_path, ".w", plus_bytes(content))
    line = refusal(tmp_path, source, tmp_path / "a.bin")
    assert f"{'VEA'[column]} of tuple 21 is nan" in line


def test_nan_of_ours_is_refused(tmp_path):
    network = Network("cells:01")
    network.weights[7] = np.nan
    lib2048.save(network, tmp_path / "a.npz")
    assert "nan" in refusal(tmp_path, tmp_path / "a.npz", tmp_path / "a.w")


@pytest.mark.parametrize(
    "name",
    [
        "6-tuple pattern 0123",
        "4-tuple pattern 012g",
        "4-tuple pattern 0120",
        "4-tuple pattern 012A",
        "4-tuple Pattern 0123",
        "monotonicity 0123",
        "\n",
        "4-tuple",
        "8-tuple pattern 01234567",
    ],
)
def test_an_unknown_table_of_demo_is_refused(tmp_path, name):
    text = name.encode()
    head = struct.pack("<Qi", 1, len(text)) + text + struct.pack("<Q", 16**4)
    source = written(tmp_path, ".bin", head + bytes(4 * 16**4))
    assert "unknown table" in refusal(tmp_path, source, tmp_path / "a.npz")


def plus_table(name=b"\x01\0\0\0\x02\0\0\0", nbytes=4, size=256, form=4, end=b"\0\0"):
    return (
        struct.pack("<BIB", 0, 1, form)
        + name
        + struct.pack("<HQ", nbytes, size)
        + bytes(nbytes * size)
        + end
    )


PLUS_WRONG = {
    "mono": (plus_table(b"mono0123"), "unknown table"),
    "cell twice": (plus_table(b"\x11\0\0\0\x02\0\0\0"), "twice"),
    "a table of a stage": (plus_table(b"\x01\0\0\x10\x08\0\0\0"), "unknown table"),
    "half numbers": (plus_table(nbytes=2), "2 bytes"),
    "double numbers": (plus_table(nbytes=8), "8 bytes"),
    "no tuple's size": (plus_table(size=257), "257 weights"),
    "no weights": (plus_table(size=0), "0 weights"),
    "form": (plus_table(form=3), "form 3"),
    "more fields": (plus_table(end=struct.pack("<HQBBH", 4, 0, 0, 0, 0)), "more than"),
    "no tables": (struct.pack("<BI", 0, 0), "no tables"),
    "another container": (b"\0\x01\x02\x03\x04\x05\x06\x07" * 9, "form"),
}


def test_the_plain_table_would_be_taken(tmp_path):
    source = written(tmp_path, ".w", plus_table())
    assert convert(source, tmp_path / "a.npz")["network"] == "cells:01"


@pytest.mark.parametrize(("content", "why"), PLUS_WRONG.values(), ids=PLUS_WRONG)
def test_an_unknown_table_of_plus_is_refused(tmp_path, content, why):
    assert why in refusal(tmp_path, written(tmp_path, ".w", content), tmp_path / "a.npz")


def test_tables_with_and_without_e_and_a_are_refused(tmp_path):
    content = tables(TINY, 3)
    content["0"] = content["0"][:1]
    source = written(tmp_path, ".w", plus_bytes(content))
    assert "some have not" in refusal(tmp_path, source, tmp_path / "a.npz")


def test_a_table_of_another_size_is_refused(tmp_path):
    source = written(tmp_path, ".bin", demo_bytes({"012": [np.zeros(16**2, np.float32)]}))
    assert "256 weights, not 4096" in refusal(tmp_path, source, tmp_path / "a.npz")


FOREIGN = {
    "empty": b"",
    "text": b"these are no weights\n",
    "pickled": pickle.dumps({"weights": [1.0]}),
    "a zip": b"PK\x03\x04" + bytes(50),
    "zeros": bytes(300),
    "ones": b"\xff" * 300,
    "a short text": b"hi",
}


@pytest.mark.parametrize("suffix", [".bin", ".w", ".npz", ""])
@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused(tmp_path, suffix, content):
    source = written(tmp_path, suffix, content)
    refusal(tmp_path, source, tmp_path / ("a.bin" if suffix == ".npz" else "a.npz"))


def test_the_content_decides_what_a_file_is(tmp_path):
    source = written(tmp_path, "", demo_bytes(tables()))
    assert convert(source, tmp_path / "a.npz")["from"] == "TDL2048-Demo .bin"
    wrong = written(tmp_path, ".w", demo_bytes(tables()))
    assert "begins like a TDL2048-Demo .bin" in refusal(tmp_path, wrong, tmp_path / "b.npz")
    assert "already" in refusal(tmp_path, source, tmp_path / "b.bin")


@pytest.mark.parametrize("name", ["a", "a.txt", "a.npy", "a.W", ".bin"])
def test_another_suffix_is_refused(tmp_path, name):
    source = written(tmp_path, ".bin", demo_bytes(tables()))
    assert "let its name end in" in refusal(tmp_path, source, tmp_path / name)


def test_what_is_no_file_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path, tmp_path / "nothing.bin", tmp_path / "a.npz")
    assert "irectory" in refusal(tmp_path, tmp_path, tmp_path / "a.npz")


UNWRITABLE = {
    "stages": ({"stages": 2}, "4 stages"),
    "states": ({"form": "state"}, "values of states"),
    "actions": ({"form": "q"}, "values of actions"),
    "optimistic": ({"optimistic": 1000.0}, "optimistic"),
    "small": ({"name": "cells:0145@2x2"}, "board of 2x2"),
}


@pytest.mark.parametrize("suffix", [".bin", ".w"])
@pytest.mark.parametrize(("how", "why"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_the_tables_cannot_say_is_refused(tmp_path, how, why, suffix):
    network = Network(**{"name": "cells:0123"} | how)
    lib2048.save(network, tmp_path / "a.npz")
    assert why in refusal(tmp_path, tmp_path / "a.npz", tmp_path / f"new/a{suffix}")


def test_weights_by_an_index_of_ones_own_are_refused(tmp_path):
    arrays = files.network_arrays(Network("cells:0123")) | {"own": np.array("1234")}
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
    np.savez(tmp_path / "b.npz", **arrays | {spoilt: arrays[spoilt][:-1]})
    refusal(tmp_path, tmp_path / "b.npz", tmp_path / "a.w")


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    source = written(tmp_path, ".bin", demo_bytes(tables()))
    old = written(tmp_path, ".w", b"old", "old")
    floats = foreign._floats

    def shorter(file, count, path):
        return floats(file, count, path) if file.tell() < 16**4 else floats(file, 10**9, path)

    monkeypatch.setattr(foreign, "check_finite", lambda tables: None)
    monkeypatch.setattr(foreign, "_floats", shorter)
    assert "shorter" in refusal(tmp_path, source, old)
    assert old.read_bytes() == b"old"


def test_an_existing_file_is_replaced(tmp_path):
    old = written(tmp_path, ".w", b"old", "old")
    convert(written(tmp_path, ".bin", demo_bytes(tables())), old)
    assert old.read_bytes() == plus_bytes(tables())


# ---------------------------------------------------------------- the command


def test_the_command_answers_in_json(tmp_path, capsys):
    source = written(tmp_path, ".bin", demo_bytes(tables()))
    assert main(["convert", str(source), str(tmp_path / "a.w"), "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "from": "TDL2048-Demo .bin",
        "to": "TDL2048+ .w",
        "network": "cells:0123,4567",
        "kept": ["V"],
        "left_out": [],
        "weights": str(tmp_path / "a.w"),
    }


def test_the_command_says_what_it_did(tmp_path, capsys):
    source = written(tmp_path, ".w", plus_bytes(tables(columns=3)))
    assert main(["convert", str(source), str(tmp_path / "a.bin")]) == 0
    assert "left out: E, A" in capsys.readouterr().out


def test_the_command_refuses_in_one_line(tmp_path, capsys):
    source = written(tmp_path, ".bin", demo_bytes(tables())[:-1])
    assert main(["convert", str(source), str(tmp_path / "a.npz"), "--json"]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and "truncated" in err
    assert set(contents(tmp_path)) == {source}


@every_kind
def test_other_commands_take_the_file_itself(tmp_path, capsys, suffix, made):
    source = written(tmp_path, suffix, made(TINY))
    assert main(["info", str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["network"] == "cells:0,21" and found["info"]["from"].endswith(suffix)
    assert main(["play", str(source), "--games", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 3
