"""Files that are whole or not there: written beside their place, then moved.

A killed run leaves the old file or the new one, never half of one.  Nothing is ever unpickled.
"""

import json
import os
import shutil
import stat
from pathlib import Path

from lib2048.machine.process import on_sudden_end

SPARE_BYTES = 64 << 20  # left free on the disk
MOST_BYTES = 64 << 20  # of a file that is read as a whole, where nobody says otherwise


def write_atomic(path, write, nbytes=0):
    """Write a file in one step: all of it or nothing.

    write: a function that takes an open binary file; nbytes: about how much it will write.
    Raises OSError, before anything is written, when the disk has not that much room.
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
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
        _parts.discard(part)


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


def read_bytes(path, most=MOST_BYTES):
    """Return what a plain file holds.

    most: bytes; of a larger file, one without end among them, no more is read.  Raises ValueError,
    in one line, for such a file and for all that `open_file` refuses.
    """
    with open_file(path) as file:
        try:
            found = file.read(most + 1)
        except OSError as error:
            raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    if len(found) > most:
        raise ValueError(f"{path}: is larger than {most / 2**20:g} MiB")
    return found


def read_text(path, most=MOST_BYTES):
    """Return the text of a plain file, its lines ended by \\n; see `read_bytes`."""
    try:
        text = read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is no text in UTF-8") from None
    return text.replace("\r\n", "\n")


def read_json(path, most=MOST_BYTES):
    """Return what a file of JSON holds; raises ValueError, in one line, where it is none."""
    data = read_bytes(path, most)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: is no JSON") from None
