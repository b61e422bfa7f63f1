"""One process at a time: a lock that ends with its holder, however that ends."""

import contextlib
import errno
import json
import math
import os
import socket
import stat
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

LOOK_SECONDS = 0.1  # between two tries, while one waits
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # a file system that knows none


class Lock:
    """A file that the operating system locks for one holder, and unlocks when that is killed.

    path: of the file, whose folder must be there; while it is held, the file says by whom, behind
    its first byte, which is locked on Windows.  Where a file system has no locks, all get it.
    """

    def __init__(self, path):
        self.path, self._file = Path(path), None
        self._lock = FileLock(self.path, thread_local=False, poll_interval=LOOK_SECONDS)

    @property
    def held(self):
        """Whether it is held here, and its file is still the one that others would lock."""
        return self._file is not None and self._file == _file(self.path)

    def acquire(self, wait=0.0):
        """Take it, or wait so many seconds for it, `math.inf` for ever.

        Raises ValueError, in one line that says who has it, where somebody else does, or where
        something else than a lock of ours stands in its place.
        """
        if os.path.lexists(self.path) and not stat.S_ISREG(os.lstat(self.path).st_mode):
            raise ValueError(f"{self.path}: is no plain file, as a lock of ours is: remove it")
        try:
            self._lock.acquire(-1 if wait == math.inf else wait)
        except Timeout:
            raise ValueError(f"{self.path.parent}: {self._holder()}") from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        self._file = _file(self.path)
        about = {"pid": os.getpid(), "host": socket.gethostname()}
        about["since"] = datetime.now().isoformat(" ", "seconds")
        with open(self.path, "r+b") as file:
            file.seek(1)
            file.write(json.dumps(about).encode())
            file.truncate()

    def release(self):
        """Give it back, and remove its file."""
        if self.held and os.name != "nt":  # there `filelock` removes it, once it is closed
            self.path.unlink()
        self._file = None
        self._lock.release()

    def _holder(self):
        """Say who holds it, as far as is told."""
        try:
            with open(self.path, "rb") as file:
                file.seek(1)
                about = json.loads(file.read())
            who = f"process {int(about['pid'])} on {about['host']}, since {about['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            who = "another process"
        return f"is in use by {who}: wait until it ends, or stop it"


def _file(path):
    """Return which file a path leads to, None for none."""
    try:
        there = os.stat(path)
    except OSError:
        return None
    return there.st_dev, there.st_ino


@contextlib.contextmanager
def locked(path, wait=math.inf):
    """Hold the lock of a file meanwhile; yield the path.  Raises what `Lock.acquire` raises."""
    lock = Lock(path)
    lock.acquire(wait)
    try:
        yield path
    finally:
        lock.release()
