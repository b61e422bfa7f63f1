"""One process at a time: a lock that ends with its holder, however that ends."""

import errno
import json
import os
import socket
import time
from datetime import datetime
from pathlib import Path

LOOK_SECONDS = 0.1  # between two tries, while one waits
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # a file system that knows none


class Lock:
    """A file that the operating system locks for one holder, and unlocks when that is killed.

    path: of the file, whose folder must be there; while it is held the file says by whom.  On
    Linux and macOS it is flock, on Windows a locked byte (tested on Linux); where a file system has
    no locks, everybody gets it.
    """

    def __init__(self, path):
        self.path, self._file = Path(path), None

    @property
    def held(self):
        """Whether it is held here, and its file is still the one that others would lock."""
        return self._file is not None and _same(self._file, self.path)

    def acquire(self, wait=0.0):
        """Take it, or wait so many seconds for it.

        Raises ValueError, in one line that says who has it, where somebody else does.
        """
        end = time.monotonic() + wait
        while not self._taken():
            if time.monotonic() >= end:
                raise ValueError(f"{self.path.parent}: {_holder(self.path)}")
            time.sleep(LOOK_SECONDS)

    def _taken(self):
        """Try to take it; return whether that went well."""
        file = open(self.path, "a+b")
        if not (_lock(file) and _same(file, self.path)):  # another may have removed it just now
            file.close()
            return False
        self._file = file
        about = {"pid": os.getpid(), "host": socket.gethostname()}
        about["since"] = datetime.now().isoformat(" ", "seconds")
        file.truncate(0)
        file.write(json.dumps(about).encode())
        file.flush()
        return True

    def release(self):
        """Give it back, and remove its file."""
        file, self._file = self._file, None
        if file is None:
            return
        if os.name != "nt" and _same(file, self.path):
            self.path.unlink()
        file.close()
        if os.name == "nt":  # an open file cannot be removed there
            _remove(self.path)


def _same(file, path):
    """Say whether an open file is the one that a path leads to."""
    try:
        there = os.stat(path)
    except OSError:
        return False
    return os.path.samestat(os.fstat(file.fileno()), there)


def _remove(path):
    try:
        path.unlink()
    except OSError:  # somebody else has it open by now
        pass


def _holder(path):
    """Say who holds a lock, as far as its file tells."""
    try:
        about = json.loads(path.read_bytes())
        who = f"process {int(about['pid'])} on {about['host']}, since {about['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process"
    return f"is in use by {who}: wait until it ends, or stop it"


if os.name == "nt":
    import msvcrt

    FAR = 1 << 30  # the locked byte: what the file says of its holder can be read by all

    def _lock(file):
        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno in NO_LOCKS
        return True
