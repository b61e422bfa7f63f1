"""Shares of this machine's memory, for all runs of all sweeps that this user has on it.

A run takes its share before it takes any table, and waits for it: two runs that need 60 % each go
one after the other.  Dask counts memory for each worker, and its semaphores count leases, know
nothing of machines, and give back what a killed process held only after a timeout.  So a share is
a file here, locked by the process that works.  The system releases a lock in the moment in which
its process ends, however it ends, and not before its memory is free; a share can neither be lost
nor given away too early, whoever is killed: run, worker, scheduler or the one who asked.
"""

import contextlib
import itertools
import os
import re
import socket
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from lib2048.machine import memory
from lib2048.machine.lock import Lock, locked

LOOK_SECONDS = 0.1  # between two looks whether the memory is there
PATIENCE = 10  # seconds; what a run has left behind may take a moment to be free
_numbers = itertools.count()


# ---------------------------------------------------------------- shares


class Share(NamedTuple):
    """What a living process may take: its path says it."""

    nbytes: int
    pid: int

    @property
    def taken(self):
        """How much of it is taken so far, in bytes."""
        with contextlib.suppress(psutil.Error):
            return psutil.Process(self.pid).memory_info().rss
        return 0


def folder():
    """Return where the shares of this machine lie, a folder of this user's own.

    A job of SLURM has memory of its own, and counts by itself.  Raises OSError when the folder
    is somebody else's.
    """
    user = getattr(os, "getuid", lambda: "user")()
    place = "-".join(filter(None, [socket.gethostname(), os.environ.get("SLURM_JOB_ID")]))
    top = Path(tempfile.gettempdir(), f"lib2048-{user}")
    for folder in (top, top / place):
        folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and top.lstat().st_uid != user:
        raise OSError(f"{top}: belongs to somebody else: set TMPDIR to a folder of your own")
    return top / place


def living():
    """Return the shares that are held now on this machine."""
    place = folder()
    with locked(place / "ledger"):
        return _living(place)


def _living(place):
    """Return the shares of living processes, and remove the files of dead ones."""
    found = []
    for path in place.glob("share-*"):
        try:
            with locked(path, 0):  # and, behind it, the file is removed
                pass
        except ValueError:  # somebody has it
            found.append(Share(*map(int, re.findall("[0-9]+", path.name)[:2])))
    return found


def most():
    """Return how much this machine could give to one run if no other went on, in bytes."""
    return sum((share.taken for share in living()), start=memory.available())


def left(granted=None):
    """Return the memory that a run could take now, in bytes; granted: see `share`."""
    return _left(living(), granted)


def _left(others, granted):
    if granted is None:
        return memory.available() - sum(max(0, x.nbytes - x.taken) for x in others)
    return granted - sum(other.nbytes for other in others)


@contextlib.contextmanager
def share(nbytes, granted=None):
    """Wait until so many bytes of memory are left to this run, and keep them from all others.

    granted: bytes for all runs together; None for what is free: then each of the others counts
    with what it may still take.  Who waits longest is first, or a large run would wait for ever.
    Raises MemoryError, in one line, for more than there can be.
    """
    place = folder()
    lock = Lock(place / f"share-{nbytes}-{os.getpid()}-{next(_numbers)}")
    with locked(place / "turn"):
        begin = time.monotonic()
        while True:
            with locked(place / "ledger"):
                others = _living(place)
                free = _left(others, granted)
                if nbytes <= free:
                    lock.acquire()
                    break
            hopeless = granted is not None and nbytes > granted
            if hopeless or (not others and time.monotonic() - begin > PATIENCE):
                raise MemoryError(too_much(nbytes, free))
            time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        lock.release()


def too_much(nbytes, left):
    """Say that a run needs more than there is."""
    need, here = f"{nbytes / 2**20:,.0f} MiB", f"{max(left, 0) / 2**20:,.0f} MiB"
    return f"needs up to {need} of memory, and {here} are there for it"
