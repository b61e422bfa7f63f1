"""Files that are whole or not there: written beside their place, then moved.

A killed run leaves the old file or the new one, never half of one.  Nothing is ever unpickled.
"""

import csv
import io
import itertools
import json
import os
import shutil
import stat
import threading
import time
import tomllib
from pathlib import Path

from lib2048.machine import schema
from lib2048.machine.process import on_sudden_end

SPARE_BYTES = 64 << 20  # left free on the disk
MOST_BYTES = 64 << 20  # of a file that is read as a whole, where nobody says otherwise
PIECE = 1 << 16
HELD_SECONDS = 2  # a virus scanner lets go of a file by then


class InUse(OSError):
    """Another program holds a file and lets nobody replace it: a table program on Windows."""


def write_atomic(path, write, nbytes=0):
    """Write a file in one step: all of it or nothing.

    write: a function that takes an open binary file; nbytes: about how much it will write.
    Raises OSError, before anything is written, when the disk has not that much room; ValueError
    where something else than a plain file stands in its place; and InUse, with the old file as it
    was, when another program holds that.
    """
    path = plain_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < nbytes + SPARE_BYTES:
        what = f"{nbytes >> 20} MiB to write, {free >> 20} MiB free on this disk"
        raise OSError(f"{path}: {what}, of which {SPARE_BYTES >> 20} MiB stay free")
    part = path.with_name(f".{path.name}.{threading.get_ident()}.{os.getpid()}.part")
    _parts.add(part)
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        move(part, path)
    finally:
        part.unlink(missing_ok=True)
        _parts.discard(part)


def named(path):
    """Return a path; raises ValueError, in one line, for an empty one, which means where one is."""
    if not str(path).strip():
        raise ValueError(f"a path {str(path)!r}: give the name of a file or folder")
    return Path(path)


def plain_place(path):
    """Return the path of a file to be written, whether it is there or not.

    Raises ValueError, in one line, for no name, and for a folder, a device or a fifo.
    """
    path = named(path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: {_kind(path.stat().st_mode)}, where a file is to be written")
    return path


def move(old, new):
    """Let a file take the place of another in one step; raise InUse where a program holds that."""
    _patiently(lambda: os.replace(old, new), new)


def remove(path):
    """Remove a file, if it is there; raise InUse where another program holds it."""
    _patiently(lambda: Path(path).unlink(missing_ok=True), path)


def _patiently(act, path):
    end = time.monotonic() + HELD_SECONDS
    while True:
        try:
            return act()
        except PermissionError:
            if time.monotonic() > end:
                why = "is read-only, or another program holds it: close it there"
                raise InUse(f"{path}: {why}") from None
        time.sleep(HELD_SECONDS / 40)


_parts = set()  # files that are being written


@on_sudden_end
def _remove_parts():
    """Remove what is half written."""
    for part in list(_parts):
        part.unlink(missing_ok=True)


def write_text(path, text):
    r"""Write a text file in one step; half a letter, which UTF-8 has not, as \ud800."""
    write_atomic(path, lambda file: file.write(text.encode(errors="backslashreplace")), len(text))


def open_file(path):
    """Open a file to read its bytes.

    Raises ValueError, in one line, where there is none, it is no file (a folder, a fifo that
    would never end) or may not be read.
    """
    try:
        mode = os.stat(named(path)).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path}: {_kind(mode)}")
        return open(path, "rb")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None


def _kind(mode):
    return "is a directory" if stat.S_ISDIR(mode) else "is no plain file"


def read_bytes(path, most=MOST_BYTES):
    """Return what a plain file holds.

    most: bytes; of a larger file, one without end among them, no more is read.  Raises ValueError,
    in one line, for such a file and for all that `open_file` refuses.
    """
    with open_file(path) as file:
        try:
            pieces = iter(lambda: file.read(PIECE), b"")  # room for `most` is more than it takes
            found = b"".join(itertools.islice(pieces, most // PIECE + 1))
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    if len(found) > most:
        raise ValueError(f"{path}: is larger than {most / 2**20:.3g} MiB")
    return found


def read_text(path, most=MOST_BYTES):
    """Return the text of a plain file, its lines ended by \\n; see `read_bytes`."""
    try:
        text = read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is no text in UTF-8: save it as that") from None
    return text.replace("\r\n", "\n")


def read_json(path, form=object, most=MOST_BYTES):
    """Return what a file of JSON holds.

    form: what that must be, see `schema`.  Raises ValueError, in one line, where it is something
    else, or no JSON.
    """
    data = read_bytes(path, most)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: is no JSON") from None
    schema.check(found, form, f"{path}: damaged, or not of this version: it")
    return found


def read_toml(path, what="TOML", most=MOST_BYTES):
    """Return what a file of TOML holds, a dict.

    what: is said of a file that is none.  Raises ValueError, in one line, for such a file, too.
    """
    text = read_text(path, most)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        reason = str(error).splitlines()[0]
    except RecursionError:
        reason = "it is nested too deeply"
    raise ValueError(f"{path}: is no {what}: {reason}")


def read_csv(path, columns, most=MOST_BYTES):
    """Return the rows of a CSV file, dicts of its texts.

    columns: {name: a function that reads its texts}, all of which it must have.  Raises ValueError,
    in one line, for a file that is no such table.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(path, most)), strict=True))
    except csv.Error as error:
        raise ValueError(f"{path}: is no table: {error}") from None
    for number, row in enumerate(rows, 1):
        for name, read in columns.items():
            try:
                read(row[name])
            except (ValueError, TypeError, KeyError):
                what = f"{name} is {row.get(name)!r}"
                raise ValueError(f"{path}: damaged: in row {number}, {what}") from None
    return rows
