"""Arrays on disk: a plain .npz, written and read piece by piece, and checked before it is believed.

What is written is a dict of arrays and of `Member`s, arrays that are made only while they are
written.  What is read is an `Archive`: it says of each array what it is before anything is
inflated, and hands it out whole or piece by piece.  A `Form` says what an array must be;
`check_arrays` is the one place that compares the two.

A file ends with its seal: a hash over the name, the type, the shape and the bytes of every array
before it.
"""

import contextlib
import hashlib
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lib2048.machine.files import open_file, write_atomic
from lib2048.machine.memory import check_memory

FORMAT, SEAL = 2, "sha256"
FORMAT_NAME = "format"
PIECE = 1 << 20  # numbers in memory at a time
SMALL = 1 << 20  # bytes that nobody asks the free memory for
LONGEST_TEXT = 1 << 20  # characters
HEADER = re.compile(  # of what numpy writes, the part that we write
    rb"\{'descr': '([<>|][biufcU][0-9]{1,9})', 'fortran_order': False, "
    rb"'shape': \(([0-9, ]{0,400})\), \} *\n"
)
MAGIC = b"\x93NUMPY\x01\x00"
ALIGNED = 64  # bytes: what begins at a multiple of these can be mapped
# The head of a zip's entry: its length, that of its field for large sizes, and a field that pads.
_ENTRY, _ZIP64, _EXTRA, _PADDING = 30, 20, struct.Struct("<HH"), 0xD935


class Member:
    """An array that is made, or read, piece by piece.

    dtype: of numpy; shape: a tuple; pieces: a function that returns an iterator over arrays that,
    one behind the other along the first axis, are the whole.  numpy takes it for that array.
    """

    def __init__(self, dtype, shape, pieces):
        self.dtype, self.pieces = np.dtype(dtype), pieces
        self.shape = tuple(int(length) for length in shape)

    @property
    def nbytes(self):
        """How many bytes the numbers take."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        whole, at = np.empty(self.shape, self.dtype), 0
        flat = whole.reshape(-1)
        for piece in self.pieces():
            flat[at : at + piece.size] = piece.reshape(-1)
            at += piece.size
        return whole if dtype is None else whole.astype(dtype, copy=False)


def member(arrays, name):
    """Return an array of a dict, or of an `Archive`, as a `Member`."""
    found = arrays.member(name) if hasattr(arrays, "member") else arrays[name]
    if isinstance(found, Member):
        return found
    whole = np.asarray(found)
    rows = np.atleast_1d(whole)
    step = _rows(rows.shape)

    def pieces():
        return (rows[at : at + step] for at in range(0, len(rows), step))

    return Member(whole.dtype, whole.shape, pieces)


def _rows(shape):
    """Return how many rows of the first axis make a piece."""
    return max(1, PIECE // max(1, math.prod(shape[1:])))


class Part(Mapping):
    """The arrays of a dict, or of an `Archive`, whose names begin alike; without that beginning."""

    def __init__(self, arrays, start):
        begun = (name for name in arrays if name.startswith(start))
        self._arrays, self._names = arrays, {name.removeprefix(start): name for name in begun}

    def __getitem__(self, name):
        return self._arrays[self._names[name]]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __contains__(self, name):
        return name in self._names

    def member(self, name):
        """Return an array as a `Member`."""
        return member(self._arrays, self._names[name])


class Flow:
    """A `Member` of one axis whose numbers are taken in turn, as many as one likes."""

    def __init__(self, member):
        self._pieces, self._left = member.pieces(), np.zeros(0, member.dtype)

    def take(self, count):
        """Return the next numbers: an array of so many, or of fewer at the end."""
        parts, missing = [self._left[:count]], count - len(self._left)
        self._left = self._left[count:]
        while missing > 0 and (piece := next(self._pieces, None)) is not None:
            parts.append(piece[:missing])
            self._left, missing = piece[missing:], missing - len(piece)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


# ---------------------------------------------------------------- what an array must be


class Form(NamedTuple):
    """What an array of a file must be, said before it is read.

    kinds: names of types, or letters of kinds of types, as numpy has them ('float32', 'i u');
    shape: the length of each axis, None for any; low, high: the range of its numbers, one each or
    one for each column; finite: whether nan and infinity are refused, for all or for each column;
    optional: whether a file may lack it.
    """

    kinds: str
    shape: tuple = ()
    low: object = None
    high: object = None
    finite: object = True
    optional: bool = False

    def check_head(self, found, what):
        """Raise ValueError where type or shape are others; found: `Member`; what: in errors."""
        kinds, fits = self.kinds.split(), len(found.shape) == len(self.shape)
        fits = fits and all(n in (None, m) for n, m in zip(self.shape, found.shape))
        if not fits or not {found.dtype.kind, found.dtype.name} & set(kinds):
            raise ValueError(
                f"{what} is {_said(found.dtype.name, found.shape)}, not "
                f"{_said(' or '.join(kinds), self.shape)}"
            )
        if found.dtype.kind == "U" and found.dtype.itemsize > 4 * LONGEST_TEXT:
            raise ValueError(f"{what} is a text of {found.dtype.itemsize // 4:,} characters")

    def check_numbers(self, found, what):
        """Raise ValueError where a number is out of range, or a text cannot be printed."""
        is_text, is_float = found.dtype.kind == "U", found.dtype.kind == "f"
        bounded = (self.low, self.high) != (None, None)
        if not (is_text or bounded or is_float and np.any(self.finite)):
            return
        for piece in found.pieces():
            if is_text and not _printable(piece):
                raise ValueError(f"{what} is a text with signs that cannot be printed")
            if is_float and (~np.isfinite(piece) & self.finite).any():
                raise ValueError(f"{what} holds nan or infinity")
            low = self.low is not None and (piece < self.low).any()
            if low or self.high is not None and (piece > self.high).any():
                raise ValueError(f"{what} holds a number that is out of range")


def _said(kind, shape):
    axes = ", ".join("any" if n is None else f"{n}" for n in shape)
    return f"{kind} of shape ({axes})"


def _printable(piece):
    try:
        return all(text.isprintable() for text in piece.reshape(-1).tolist())
    except ValueError:  # no Unicode
        return False


def check_arrays(arrays, forms, path):
    """Raise ValueError, in one line, where an array is missing or is not what it must be.

    arrays: a dict or an `Archive`; forms: {name: `Form`}; path: named in errors.  All types and
    shapes are looked at before the first number is.
    """
    here = {name: form for name, form in forms.items() if name in arrays or not form.optional}
    for name, form in here.items():
        if name not in arrays:
            raise ValueError(f"{path}: damaged, or another kind of file: it lacks {name}")
        form.check_head(member(arrays, name), f"{path}: {name}")
        _check_room(member(arrays, name), f"{path}: {name}")
    for name, form in here.items():
        form.check_numbers(member(arrays, name), f"{path}: {name}")


def _check_room(found, what):
    if found.nbytes > SMALL:
        check_memory(what, found.nbytes, "close other programs")


def text(arrays, name, default=""):
    """Return a text, or what stands for it where it is missing."""
    return str(np.asarray(arrays[name])) if name in arrays else default


# ---------------------------------------------------------------- writing


def write_arrays(path, arrays, compress=False):
    """Write arrays as a sealed .npz, in one step.

    arrays: {name: array or `Member`}, written in this order.  Raises OSError, before anything is
    written, when the disk is full.
    """
    members = {FORMAT_NAME: member({"": FORMAT}, "")}
    members |= {name: member(arrays, name) for name in arrays if name not in (FORMAT_NAME, SEAL)}
    how = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED

    def write(file):
        with zipfile.ZipFile(file, "w", how) as into:
            lines = [_write_member(into, name, found) for name, found in members.items()]
            _write_member(into, SEAL, member({"": _seal(lines)}, ""))

    write_atomic(path, write, sum(found.nbytes for found in members.values()))


def _write_member(into, name, found):
    """Write one array; return its line of the seal."""
    entry, digest, count = zipfile.ZipInfo(f"{name}.npy"), hashlib.sha256(), 0
    entry.compress_type = into.compression
    entry.extra = _padding(into.fp.tell() + len(entry.filename))
    with into.open(entry, "w", force_zip64=True) as file:
        head = {"descr": found.dtype.str, "fortran_order": False, "shape": found.shape}
        np.lib.format.write_array_header_1_0(file, head)
        for piece in found.pieces():
            data = np.asarray(piece, found.dtype).tobytes()
            digest.update(data)
            file.write(data)
            count += len(data)
    if count != found.nbytes:
        raise ValueError(f"{name}: has changed while it was written")
    return _line(name, found.dtype, found.shape, digest)


def _padding(at):
    """Return an extra field of a zip's entry after which an array stands where it can be mapped.

    at: where the entry begins, and the length of its name.
    """
    size = -(at + _ENTRY + _ZIP64 + _EXTRA.size) % ALIGNED
    return _EXTRA.pack(_PADDING, size) + bytes(size)


def _line(name, dtype, shape, digest):
    return f"{name} {dtype.str} {shape} {digest.hexdigest()}"


def _seal(lines):
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


# ---------------------------------------------------------------- reading


class Archive(Mapping, contextlib.AbstractContextManager):
    """The arrays of an .npz, read when they are asked for.

    archive[name] is a whole array, archive.member(name) a `Member`; lines: of the seal, of arrays
    that were read to their end.  Use it in a with.  Raises ValueError, in one line, for a file that
    is missing, truncated, foreign or pickled, and MemoryError for a whole array that does not fit,
    before it is read.
    """

    def __init__(self, path):
        self.path, self._heads, self.lines = path, {}, {}
        self._file = open_file(path)
        try:
            with self._guard():
                self._zip = zipfile.ZipFile(self._file)
                self._entries = _entries(self._zip)
        except BaseException:
            self._file.close()
            raise

    @contextlib.contextmanager
    def _guard(self):
        """Say in one line whatever a zip that is none of ours makes the readers raise."""
        try:
            yield
        except MemoryError:
            raise
        except Exception:
            raise ValueError(
                f"{self.path}: not a file of weights: it is truncated, damaged, or "
                "not written by lib2048"
            ) from None

    def __getitem__(self, name):
        found = self.member(name)
        _check_room(found, f"{self.path}: {name}")
        return np.asarray(found)

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)

    def __contains__(self, name):
        return name in self._entries

    def __exit__(self, *_):
        self._file.close()

    def member(self, name):
        """Return an array as a `Member`, with nothing read but its head; KeyError for no such."""
        entry = self._entries[name]
        if name not in self._heads:
            with self._guard(), self._zip.open(entry) as file:
                self._heads[name] = _head(file, entry.file_size)
        dtype, shape, _ = self._heads[name]
        return Member(dtype.newbyteorder("="), shape, lambda: self._pieces(name))

    def mapped(self, name):
        """Return an array as a map of the file: nothing is read before it is looked at, and what
        is written into it stays in memory.

        Raises ValueError, in one line, where it is compressed, or not written to be mapped.
        """
        entry, found = self._entries[name], self.member(name)
        with self._guard():
            self._file.seek(entry.header_offset)
            head = self._file.read(_ENTRY)
            at = entry.header_offset + _ENTRY + sum(struct.unpack_from("<HH", head, _ENTRY - 4))
            at += self._heads[name][2]
            if entry.compress_type != zipfile.ZIP_STORED or at % ALIGNED:
                raise ValueError("not to be mapped")
            return np.memmap(self.path, self._heads[name][0], "c", at, found.shape)

    def _pieces(self, name):
        """Yield an array piece by piece; at its end its line of the seal is known."""
        (dtype, shape, skip), digest = self._heads[name], hashlib.sha256()
        rows, *others = shape or (1,)
        step = _rows((rows, *others))
        with self._guard():
            file = self._zip.open(self._entries[name])
            file.read(skip)
        with file:
            for at in range(0, rows, step):
                piece = (min(step, rows - at), *others)
                with self._guard():
                    data = file.read(math.prod(piece) * dtype.itemsize)
                    numbers = np.ndarray(piece, dtype, data)  # raises where it is too short
                digest.update(data)
                yield numbers.astype(dtype.newbyteorder("="), copy=False)
            with self._guard():
                file.read(1)  # behind its end the sum of the zip is compared
        self.lines[name] = _line(name, dtype, shape, digest)


def _entries(archive):
    """Return {name: entry} of a zip; raise ValueError for one that we would never have written."""
    every, plain = archive.infolist(), (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    entries = {entry.filename.removesuffix(".npy"): entry for entry in every}
    encrypted = any(entry.flag_bits & 1 for entry in every)
    arrays = all(entry.filename.endswith(".npy") for entry in every)
    if encrypted or not arrays or len(entries) < len(every):
        raise ValueError("a member that is encrypted, no array, or there twice")
    if not all(entry.compress_type in plain for entry in every):
        raise ValueError("a member that is compressed in another way")
    return entries


def _head(file, nbytes):
    """Return (dtype, shape, bytes before its numbers) of an array of a file.

    nbytes: that it takes in all.  Raises ValueError for a strange one.
    """
    start = file.read(len(MAGIC) + 2)
    length = int.from_bytes(start[len(MAGIC) :], "little")
    found = HEADER.fullmatch(file.read(length))
    if not start.startswith(MAGIC) or found is None:
        raise ValueError("no array")
    dtype, axes = np.dtype(found[1].decode()), found[2].split(b",")
    shape = tuple(int(axis) for axis in axes if axis.strip())
    if len(start) + length + math.prod(shape) * dtype.itemsize != nbytes:
        raise ValueError("an array of another size")
    return dtype, shape, len(start) + length


def check_kind(arrays, kind, version, what):
    """Raise ValueError, in one line, where an `Archive` is not what its reader wants.

    kind, version: what its arrays of these names must be; what: what it would be then, in words.
    """
    if text(arrays, "kind") != kind:
        raise ValueError(f"{arrays.path}: no {what}")
    check_arrays(arrays, {"version": Form("i u")}, arrays.path)
    if (found := int(arrays["version"])) != version:
        raise ValueError(f"{arrays.path}: version {found}; this library reads version {version}")
    check_seal(arrays)


def check_seal(arrays):
    """Raise ValueError, in one line, where an `Archive` is not what its seal was made of.

    Arrays that were read to their end before are not read again; a dict has no seal.
    """
    if not isinstance(arrays, Archive):
        return
    check_arrays(arrays, {FORMAT_NAME: Form("i u"), SEAL: Form("U")}, arrays.path)
    if (number := int(arrays[FORMAT_NAME])) != FORMAT:
        raise ValueError(f"{arrays.path}: format {number}; this version reads format {FORMAT}")
    names = set(arrays) - {SEAL}
    for name in names - arrays.lines.keys():
        for _ in arrays.member(name).pieces():
            pass
    if str(arrays[SEAL]) != _seal(arrays.lines[name] for name in names):
        raise ValueError(f"{arrays.path}: damaged: it does not match its hash")
