"""The files of two C++ programs: TDL2048-Demo's .bin and the .w of TDL2048+.

Both hold whole tables of float32, little-endian, in the order of the tuples.  The weight of
exponents e0, e1 … in a tuple's cells, taken in the order of its name, has index e0 + 16·e1 + …,
which is the order of `Network.table`.  So tables pass through as they are, piece by piece.
"""

import os
import re
import struct
from typing import NamedTuple

import numpy as np

from lib2048.machine.files import open_file
from lib2048.networks.names import LONGEST_TUPLE, NAMED, parse_network, word

PIECE = 1 << 20  # weights in memory at a time
DEMO, PLUS = ".bin", ".w"
PROGRAMS = {DEMO: "TDL2048-Demo .bin", PLUS: "TDL2048+ .w"}
FLOAT = 4  # bytes; TDL2048+ can be built for numbers of 2 or 8 bytes
TABLE = 4  # the one form of a table of TDL2048+ that is known


class Tables(NamedTuple):
    """The tables of a file of one of the programs, still on disk.

    kind: '.bin' or '.w'; tuples: of cells; starts: for each tuple, at which byte its weights V
    begin, or V, E and A; widths: how many digits the names of a .w say they have, else None.
    """

    path: object
    kind: str
    tuples: tuple
    starts: list
    widths: list

    @property
    def columns(self):
        """How many numbers are kept for a weight: 1, or 3 with E and A of TC."""
        return len(self.starts[0])

    def pieces(self, number, column):
        """Yield a table, float32 and at most PIECE at a time; column: 0 for V, 1 for E, 2 for A."""
        size = 16 ** len(self.tuples[number])
        with open_file(self.path) as file:
            file.seek(self.starts[number][column])
            for start in range(0, size, PIECE):
                numbers = np.fromfile(file, "<f4", min(PIECE, size - start))
                if len(numbers) < min(PIECE, size - start):
                    raise ValueError(f"{self.path}: has become shorter while it was read")
                yield numbers


def name_of(tuples):
    """Return the name of a network of some tuples: 4x6, 8x6, or 'cells:…'."""
    text = ",".join(map(word, tuples))
    return next((name for name, cells in NAMED.items() if cells == text), f"cells:{text}")


# ---------------------------------------------------------------- reading


def kind(path):
    """Tell by its first bytes what a file may be: '.npz', '.bin', '.w', or None for neither.

    Raises ValueError, in one line, when it cannot be opened.
    """
    with open_file(path) as file:
        first = file.read(9)
    if first.startswith(b"PK"):
        return ".npz"
    if first.startswith(b"\0"):
        return PLUS
    if first[8:] == b"{":  # safetensors, a neural network's: no table's name is as long
        return None
    return DEMO if first and not any(first[2:8]) else None  # a number of tables below 2^16


def read(path):
    """Find the tables of a .bin or a .w.  Returns `Tables`.

    Raises ValueError, in one line, for a file that is foreign, truncated, too long, or of a kind
    that makes no network here, and for nan.
    """
    found = kind(path)
    with open_file(path) as file:
        reader = _Reader(file, path)
        if found == DEMO:
            tables = [_demo_table(reader) for _ in range(reader.take("Q"))]
        else:
            form, count = reader.take("BI")
            if form or not count:
                reader.refuse("not a file of weights: it holds no tables")
            tables = [_plus_table(reader) for _ in range(count)]
        if reader.left:
            raise ValueError(f"{path}: {reader.left} bytes too many behind its last table")
    tuples, starts, widths = zip(*tables, strict=True)
    if len(set(map(len, starts))) > 1:
        raise ValueError(f"{path}: some of its tables have E and A, and some have not")
    made = Tables(path, found, tuples, list(starts), list(widths) if found == PLUS else None)
    for number, cells in enumerate(tuples):
        for column in range(made.columns):
            if not all(np.isfinite(piece).all() for piece in made.pieces(number, column)):
                raise ValueError(
                    f"{path}: {'VEA'[column]} of tuple {word(cells)} is nan or infinite"
                )
    return made


class _Reader:
    """Read a file's numbers in turn, and say in one line when it ends before them."""

    def __init__(self, file, path):
        self.file, self.path = file, path
        self.size = os.fstat(file.fileno()).st_size

    @property
    def left(self):
        return self.size - self.file.tell()

    def skip(self, count):
        """Pass over so many bytes; returns where they begin."""
        start = self.file.tell()
        if count > self.left:
            self.refuse("not a file of weights: it is truncated, or something else")
        self.file.seek(count, os.SEEK_CUR)
        return start

    def take(self, form):
        """Read what a form of `struct` describes: a number, or several as a tuple."""
        start = self.skip(struct.calcsize("<" + form))
        self.file.seek(start)
        found = struct.unpack("<" + form, self.file.read(struct.calcsize("<" + form)))
        return found if len(found) > 1 else found[0]

    def refuse(self, why):
        raise ValueError(f"{self.path}: {why}")

    def cells(self, digits):
        """Return the cells that a table's name says."""
        try:
            return parse_network(f"cells:{digits}")[0]
        except ValueError as error:
            self.refuse(f"unknown table: {error}")


def _demo_table(reader):
    length = reader.take("i")
    if not 0 < length < 256:
        reader.refuse("not a file of weights: a table's name has no length")
    text = reader.take(f"{length}s").decode("latin-1")
    parts = re.fullmatch("([1-9])-tuple pattern ([0-9a-f]+)", text)
    if parts is None or int(parts[1]) != len(parts[2]):
        reader.refuse(f"unknown table {text!r}: '6-tuple pattern 012345' would be one")
    cells, size = reader.cells(parts[2]), reader.take("Q")
    if size != 16 ** len(cells):
        reader.refuse(f"table {text!r} has {size} weights, not {16 ** len(cells)}")
    return cells, [reader.skip(FLOAT * size)], None


def _plus_table(reader):
    form, name = reader.take("B8s")
    if form != TABLE:
        reader.refuse(f"not a file of weights, or a table of form {form}; form {TABLE} is known")
    size, start = _plus_numbers(reader, reader.take("H"))
    cells, width = _plus_cells(reader, name, size)
    starts, more = [start], reader.take("H")
    if more:
        both, start = _plus_numbers(reader, more)
        if both != 2 * size or reader.take("H"):
            reader.refuse(f"table {word(cells)} holds more than V, E and A")
        starts += [start, start + FLOAT * size]
    return cells, starts, width


def _plus_numbers(reader, nbytes):
    """Read how many numbers there are, and pass over them; returns (how many, where)."""
    size = reader.take("Q")
    if nbytes != FLOAT:
        reader.refuse(f"its weights have {nbytes} bytes each; only those of {FLOAT} are read")
    return size, reader.skip(FLOAT * size)


def _plus_cells(reader, name, size):
    """Return (cells, width) of a table: its name is a number, with so many hexadecimal digits.

    Older files say 0 or 8 digits for any tuple, so it is the table's size that tells.
    """
    sign, width, text = struct.unpack("<IHH", name)
    length = (size.bit_length() - 1) // 4
    if text:
        reader.refuse(f"unknown table {name.decode('latin-1').strip()!r}: it names no cells")
    if not 0 < length <= LONGEST_TUPLE or size != 16**length:
        reader.refuse(f"table {sign:x} has {size} weights, not 16^1 to 16^{LONGEST_TUPLE}")
    if sign >= size:
        reader.refuse(f"unknown table {sign:x}: it names more cells than {size} weights are for")
    return reader.cells(f"{sign:0{length}x}"), width


# ---------------------------------------------------------------- writing


def write(file, tables, to):
    """Write tables as a file of TDL2048-Demo or TDL2048+.

    file: open and binary; tables: `Tables`, or anything with its tuples, columns, widths and
    pieces; to: '.bin', which takes V alone, or '.w'.
    """
    {DEMO: _write_demo, PLUS: _write_plus}[to](file, tables)


def nbytes(tables, to):
    """Return how many bytes `write` writes, some hundred too many at most."""
    columns = tables.columns if to == PLUS else 1
    return sum(FLOAT * columns * 16 ** len(cells) + 64 for cells in tables.tuples)


def _write_demo(file, tables):
    file.write(struct.pack("<Q", len(tables.tuples)))
    for number, cells in enumerate(tables.tuples):
        name = f"{len(cells)}-tuple pattern {word(cells)}".encode()
        file.write(struct.pack("<i", len(name)) + name + struct.pack("<Q", 16 ** len(cells)))
        _write_columns(file, tables, number, [0])


def _write_plus(file, tables):
    file.write(struct.pack("<BI", 0, len(tables.tuples)))
    widths = tables.widths or list(map(len, tables.tuples))
    for number, (cells, width) in enumerate(zip(tables.tuples, widths, strict=True)):
        file.write(struct.pack("<BIHH", TABLE, int(word(cells), 16), width, 0))
        file.write(struct.pack("<HQ", FLOAT, 16 ** len(cells)))
        _write_columns(file, tables, number, [0])
        if tables.columns == 3:
            file.write(struct.pack("<HQ", FLOAT, 2 * 16 ** len(cells)))
            _write_columns(file, tables, number, [1, 2])
        file.write(struct.pack("<H", 0))


def _write_columns(file, tables, number, columns):
    for piece in (piece for column in columns for piece in tables.pieces(number, column)):
        file.write(piece.astype("<f4", copy=False))
