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
        whole = np.empty(self.shape, self.dtype)
        at = 0
        for piece in self.pieces():
            if not self.shape:
                whole[()] = piece
            else:
                whole[at : at + len(piece)] = piece
                at += len(piece)
        return whole if dtype is None else whole.astype(dtype, copy=False)


def member(arrays, name):
    """Return an array of a dict, or of an `Archive`, as a `Member`."""
    found = arrays.member(name) if hasattr(arrays, "member") else arrays[name]
    if isinstance(found, Member):
        return found
    whole = np.asarray(found)
    return Member(whole.dtype, whole.shape, lambda: _slices(whole))


def _slices(whole):
    step = _rows(whole.shape)
    yield from (whole[at : at + step] for at in range(0, len(whole), step)) if step else [whole]


def _rows(shape):
    """Return how many rows of the first axis make a piece; 0 for an array without axes."""
    return max(1, PIECE // max(1, math.prod(shape[1:]))) if shape else 0


class Part(Mapping):
    """The arrays of a dict, or of an `Archive`, whose names begin alike; without that beginning."""

    def __init__(self, arrays, start):
        self._arrays, self._start = arrays, start

    def __getitem__(self, name):
        return self._arrays[self._start + name]

    def __iter__(self):
        begun = (name for name in self._arrays if name.startswith(self._start))
        return (name.removeprefix(self._start) for name in begun)

    def __len__(self):
        return sum(1 for _ in self)

    def __contains__(self, name):
        return self._start + name in self._arrays

    def member(self, name):
        """Return an array as a `Member`."""
        return member(self._arrays, self._start + name)


class Flow:
    """A `Member` of one axis whose numbers are taken in turn, as many as one likes."""

    def __init__(self, member):
        self._pieces, self._none = member.pieces(), np.zeros(0, member.dtype)
        self._left = self._none

    def take(self, count):
        """Return the next numbers: an array of so many, or of fewer at the end."""
        parts = []
        while count and len(part := self._next(count)):
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else np.concatenate([self._none, *parts])

    def _next(self, most):
        while not len(self._left):
            self._left = next(self._pieces, None)
            if self._left is None:
                self._left = self._none
                break
        part, self._left = self._left[:most], self._left[most:]
        return part


# ---------------------------------------------------------------- what an array must be


class Form(NamedTuple):
    """What an array of a file must be, said before it is read.

    kinds: names of types, or letters of kinds of types, as numpy has them ('float32', 'i u');
    shape: the length of each axis, None for any; low, high: the range of its numbers, one each or
    one for each column; finite: whether nan and infinity are refused, for all or for each column;
    old: whether files of older versions lack it.
    """

    kinds: str
    shape: tuple = ()
    low: object = None
    high: object = None
    finite: object = True
    old: bool = False

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
        for piece in found.pieces() if self._looks(found.dtype) else ():
            if piece.dtype.kind == "U":
                if not _printable(piece):
                    raise ValueError(f"{what} is a text with signs that cannot be printed")
            elif piece.dtype.kind == "f" and _any(~np.isfinite(piece), np.logical_and, self.finite):
                raise ValueError(f"{what} holds nan or infinity")
            elif _any(piece, np.less, self.low) or _any(piece, np.greater, self.high):
                raise ValueError(f"{what} holds a number that is out of range")

    def _looks(self, dtype):
        checks_floats = dtype.kind == "f" and np.any(self.finite)
        return checks_floats or dtype.kind == "U" or (self.low, self.high) != (None, None)


def _said(kind, shape):
    axes = ", ".join("any" if n is None else f"{n}" for n in shape)
    return f"{kind} of shape ({axes})"


def _printable(piece):
    try:
        return all(text.isprintable() for text in piece.reshape(-1).tolist())
    except ValueError:  # no Unicode
        return False


def _any(piece, compare, limit):
    return limit is not None and bool(compare(piece, limit).any())


def check_arrays(arrays, forms, path):
    """Raise ValueError, in one line, where an array is missing or is not what it must be.

    arrays: a dict or an `Archive`; forms: {name: `Form`}; path: named in errors.  All types and
    shapes are looked at before the first number is.
    """
    here = {name: form for name, form in forms.items() if name in arrays or not form.old}
    for name, form in here.items():
        if name not in arrays:
            raise ValueError(f"{path}: not a file of weights, or damaged: it lacks {name}")
        form.check_head(member(arrays, name), f"{path}: {name}")
        _check_room(member(arrays, name), f"{path}: {name}")
    for name, form in here.items():
        form.check_numbers(member(arrays, name), f"{path}: {name}")


def check_seal(arrays, before=()):
    """Raise ValueError where arrays of a file are not those of its seal; see `Archive`.

    Returns the names that it is over; none for arrays that are of no file.
    """
    return arrays.check_seal(before) if isinstance(arrays, Archive) else ()


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
    arrays = {FORMAT_NAME: np.array(FORMAT)} | {n: a for n, a in arrays.items() if n != SEAL}
    arrays[FORMAT_NAME] = np.array(FORMAT)
    members = {name: member(arrays, name) for name in arrays}
    size = sum(found.nbytes for found in members.values())
    write_atomic(path, lambda file: _write(file, members, compress), size)


def _write(file, members, compress):
    how = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", how) as into:
        lines = [_write_member(into, name, found) for name, found in members.items()]
        seal = {SEAL: np.array(_seal(lines))}
        _write_member(into, SEAL, member(seal, SEAL))


def _write_member(into, name, found):
    """Write one array; return its line of the seal."""
    entry, digest, count = zipfile.ZipInfo(f"{name}.npy"), hashlib.sha256(), 0
    entry.compress_type = into.compression
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
    return _line(name, found, digest)


def _line(name, found, digest):
    return f"{name} {found.dtype.str} {found.shape} {digest.hexdigest()}"


def _seal(lines):
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


# ---------------------------------------------------------------- reading


class Archive(Mapping):
    """The arrays of an .npz, read when they are asked for.

    archive[name] is a whole array, archive.member(name) a `Member`.  Close it, or use it in a
    with.  Raises ValueError, in one line, for a file that is missing, truncated, foreign or
    pickled, and MemoryError for a whole array that does not fit, before it is read.
    """

    def __init__(self, path):
        self.path, self._heads, self._lines = path, {}, {}
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the file: nothing more is read."""
        self._file.close()

    def member(self, name):
        """Return an array as a `Member`, with nothing read but its head; KeyError for no such."""
        entry = self._entries[name]
        if name not in self._heads:
            with self._guard(), self._zip.open(entry) as file:
                self._heads[name] = _head(file, entry.file_size)
        dtype, shape, _ = self._heads[name]
        return Member(dtype.newbyteorder("="), shape, lambda: self._pieces(name))

    def _pieces(self, name):
        """Yield an array piece by piece; at its end its line of the seal is known."""
        (dtype, shape, skip), digest = self._heads[name], hashlib.sha256()
        step, rows = _rows(shape) or 1, shape[0] if shape else 1
        with self._guard():
            file = self._zip.open(self._entries[name])
            file.read(skip)
        with file:
            for at in range(0, rows, step):
                piece = (min(step, rows - at), *shape[1:]) if shape else ()
                with self._guard():
                    data = file.read(math.prod(piece) * dtype.itemsize)
                    numbers = np.ndarray(piece, dtype, data)  # raises where it is too short
                digest.update(data)
                yield numbers.astype(dtype.newbyteorder("="), copy=False)
            with self._guard():
                file.read(1)  # behind its end the sum of the zip is compared
        self._lines[name] = _line(name, self._heads[name], digest)

    def check_seal(self, before=()):
        """Raise ValueError, in one line, where the file is not what its seal was made of.

        before: the arrays that the seal of format 1 was over.  Arrays that were read to their end
        before are not read again.  Returns the names of those that the seal is over; none for
        files of neural networks of format 1, which have no seal.
        """
        if not {FORMAT_NAME, SEAL} & set(self):
            return ()
        check_arrays(self, {FORMAT_NAME: Form("i u", (), 1), SEAL: Form("U")}, self.path)
        if (number := int(self[FORMAT_NAME])) > FORMAT:
            raise ValueError(f"{self.path}: format {number}; this version reads up to {FORMAT}")
        over = before if number == 1 else set(self) - {SEAL}
        if text(self, SEAL) != (self._first_seal(before) if number == 1 else self._seal(over)):
            raise ValueError(f"{self.path}: damaged: it does not match its hash")
        return tuple(over)

    def _seal(self, names):
        for name in names - self._lines.keys():
            for _ in self.member(name).pieces():
                pass
        return _seal(self._lines[name] for name in names)

    def _first_seal(self, names):
        digest = hashlib.sha256()
        for piece in (piece for name in names for piece in self.member(name).pieces()):
            digest.update(piece.tobytes())
        return digest.hexdigest()


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


class _Head(NamedTuple):
    dtype: np.dtype
    shape: tuple
    skip: int  # bytes


def _head(file, nbytes):
    """Read the head of an array that takes so many bytes with it; ValueError for a strange one."""
    start = file.read(len(MAGIC) + 2)
    length = int.from_bytes(start[len(MAGIC) :], "little")
    found = HEADER.fullmatch(file.read(length))
    if not start.startswith(MAGIC) or found is None:
        raise ValueError("no array")
    dtype, axes = np.dtype(found[1].decode()), found[2].split(b",")
    shape = tuple(int(axis) for axis in axes if axis.strip())
    if len(start) + length + math.prod(shape) * dtype.itemsize != nbytes:
        raise ValueError("an array of another size")
    return _Head(dtype, shape, len(start) + length)


def read_arrays(path):
    """Return all arrays of an .npz as a dict; raises what `Archive` does."""
    with Archive(path) as archive:
        return dict(archive)
