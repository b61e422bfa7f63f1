"""Files that are whole or not there: written beside their place, then moved.

A killed run leaves the old file or the new one, never half of one.  Nothing is ever unpickled.
"""

import json
import os
import shutil
import stat
import time
from pathlib import Path

from lib2048.machine.process import on_sudden_end

SPARE_BYTES = 64 << 20  # left free on the disk
HELD_SECONDS = 2  # a virus scanner lets go of a file by then


class InUse(OSError):
    """Another program holds a file and lets nobody replace it: a table program on Windows."""


def write_atomic(path, write, nbytes=0):
    """Write a file in one step: all of it or nothing.

    write: a function that takes an open binary file; nbytes: about how much it will write.
    Raises OSError, before anything is written, when the disk has not that much room, and InUse,
    with the old file as it was, when another program holds that.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < nbytes + SPARE_BYTES:
        what = f"{nbytes >> 20} MiB to write, {free >> 20} MiB free on this disk"
        raise OSError(f"{path}: {what}, of which {SPARE_BYTES >> 20} MiB stay free")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
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
    """Write a text file in one step."""
    write_atomic(path, lambda file: file.write(text.encode()), len(text))


def open_file(path):
    """Open a file to read its bytes.

    Raises ValueError, in one line, where there is none, it is no file (a folder, a fifo that
    would never end) or may not be read.
    """
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            what = "a directory" if stat.S_ISDIR(mode) else "no plain file"
            raise ValueError(f"{path}: is {what}")
        return open(path, "rb")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None


def read_json(path):
    """Return what a file of JSON holds; raises ValueError, in one line, where it is none."""
    try:
        with open_file(path) as file:
            return json.loads(file.read())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(f"{path}: is no JSON") from None
