"""Files that are whole or not there: written beside their place, then moved.

A killed run leaves the old file or the new one, never half of one.  Nothing is ever unpickled.
"""

import os
import shutil
import zipfile
import zlib
from pathlib import Path

import numpy as np

SPARE_BYTES = 64 << 20  # left free on the disk


def write_atomic(path, write, nbytes=0):
    """Write a file in one step: all of it or nothing.

    write: a function that takes an open binary file; nbytes: about how much it will write.
    Raises OSError, before anything is written, when the disk has not that much room.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if free < nbytes + SPARE_BYTES:
        raise OSError(f"{path}: {nbytes >> 20} MiB to write, {free >> 20} MiB free on this disk")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path, text):
    """Write a text file in one step."""
    write_atomic(path, lambda file: file.write(text.encode()), len(text))


def write_arrays(path, arrays, save=np.savez):
    """Write a dict of arrays as .npz in one step; save: np.savez, or np.savez_compressed."""
    size = sum(np.asarray(array).nbytes for array in arrays.values())
    write_atomic(path, lambda file: save(file, **arrays), size)


def read_arrays(path, names=None):
    """Read an .npz as a dict of arrays: all of them, or those of `names` that it has.

    Raises ValueError, in one line, for a file that is missing, truncated, foreign or pickled.
    """
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if names is None or name in names}
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (ValueError, OSError, EOFError, TypeError, KeyError, zipfile.BadZipFile, zlib.error):
        reason = "it is truncated, or not written by lib2048"
        raise ValueError(f"{path}: not a file of weights: {reason}") from None
