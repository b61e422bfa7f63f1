"""What keeps one hand-in from costing others: their files, a journal, an end to its processes."""

import contextlib
import ctypes
import itertools
import json
import os
import sqlite3
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import psutil

from lib2048.course.labs.messages import say
from lib2048.machine.files import read_json, write_atomic, write_text

MARK = "LIB2048_HAND_IN"  # in the environment of all processes that run for a hand-in
MOST_BYTES = 300 << 20  # of files that are kept in memory; of the others only hashes
MANIFEST = "manifest-{}.json"
SUBREAPER = 36  # of Linux's prctl
END_SECONDS = 10  # for the end of processes that go on starting others


# ---------------------------------------------------------------- files


class Kept:
    """The files of a class as they shall be, {path: (whose, bytes or hash)}.

    folder: of the course; names are said from there.
    """

    def __init__(self, folder):
        self.folder, self.files, self.size = folder, {}, 0

    def keep(self, student, folder, files):
        """Keep the files of a folder, {path in it: bytes}; say whether all are kept in memory."""
        for name, data in files.items():
            old = self.files.get(path := folder / name)
            self.size -= len(old[1]) if old and isinstance(old[1], bytes) else 0
            small = self.size + len(data) <= MOST_BYTES
            self.size += len(data) * small
            self.files[path] = student, data if small else sha256(data).hexdigest()
        return all(isinstance(self.files[folder / name][1], bytes) for name in files)

    def restore(self):
        """Write again what is no longer as it was; return {student: notes}."""
        back, lost = {}, {}
        for path, (student, data) in self.files.items():
            if _hash(path) == (sha256(data).hexdigest() if isinstance(data, bytes) else data):
                continue
            found = back if isinstance(data, bytes) else lost
            try:
                if found is back:
                    self._write(path, data)
            except OSError:
                found = lost
            found.setdefault(student, []).append(str(path.relative_to(self.folder)))
        notes = {}
        for key, found in (("changed_files", back), ("lost_files", lost)):
            for student, names in found.items():
                line = say(f"grading.{key}", names=", ".join(names))
                notes.setdefault(student, []).append(line)
        return notes

    def _write(self, path, data):
        """Write a file anew; a link that leads elsewhere is not followed."""
        path.parent.mkdir(parents=True, exist_ok=True)
        inside = path.parent.relative_to(self.folder)
        if path.parent.resolve() != self.folder.resolve() / inside:
            raise OSError(f"{path.parent} is a link")
        path.unlink(missing_ok=True)
        path.write_bytes(data)


def write_manifest(folder, lab, hashes):
    """Keep who has handed in, {student: hash}; who was there before stays."""
    path = folder / MANIFEST.format(lab)
    write_text(path, json.dumps(read_manifest(folder, lab) | hashes, indent=1) + "\n")


def read_manifest(folder, lab):
    """Return {student: hash} of all who have handed in when a lab was graded, {} for nobody."""
    with contextlib.suppress(ValueError):
        return read_json(Path(folder) / MANIFEST.format(lab), {str: str})
    return {}


# ---------------------------------------------------------------- marks


class Book:
    """The gradebook while a class is graded: in the memory of this process, where no other writes.

    path: of its file, which is written anew after each hand-in; url: of what is in memory;
    dropped: names of triggers and views, which would go on changing marks, and are no longer there.
    Raises ValueError for a file that is no gradebook.
    """

    def __init__(self, path):
        name = f"file:{token_hex(8)}?mode=memory&cache=shared"
        self.path, self.url = path, f"sqlite:///{name}&uri=true"
        self._kept = sqlite3.connect(name, uri=True, check_same_thread=False)
        try:
            with contextlib.closing(sqlite3.connect(path)) as old:
                old.backup(self._kept)
            told = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"
            self.dropped = []
            for kind, thing in self._kept.execute(told).fetchall():
                self._kept.execute('DROP {} "{}"'.format(kind, thing.replace('"', '""')))
                self.dropped.append(thing)
            self._kept.commit()
        except sqlite3.Error as error:
            raise ValueError(f"{path}: {error}") from None
        self._hash = _hash(path)

    def write(self):
        """Write the file; return where a copy is, had somebody else written into it, or None."""
        other = None
        if _hash(self.path) != self._hash:
            names = ("gradebook-changed" + (f"-{n}" if n > 1 else "") for n in itertools.count(1))
            paths = (self.path.with_name(f"{name}.db") for name in names)
            other = next(path for path in paths if not path.exists())
            with contextlib.suppress(OSError):
                self.path.rename(other)
        for end in ("-journal", "-wal", "-shm"):  # sqlite would bring back what they hold
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)
        data = self._kept.serialize()
        write_atomic(self.path, lambda file: file.write(data))
        self._hash = sha256(data).hexdigest()
        return other


def _hash(path):
    """Return the hash of a file, None where none can be read."""
    with contextlib.suppress(OSError):
        if path.is_file() and not path.is_symlink():
            return sha256(path.read_bytes()).hexdigest()
    return None


# ---------------------------------------------------------------- a journal


class Journal:
    """A small file that says who is being graded, for the next grading where one is killed.

    before: whose hand-ins were run before, in the same grading.
    """

    def __init__(self, path):
        self.path, self.running, self.before, self.alone = path, [], [], False
        self._lock, self._open = threading.Lock(), True

    def read(self):
        """Return (who was being graded when a grading was ended, who alone or None, who before)."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            left = read_json(self.path)
            names = [str(name) for name in left["running"]]
            before = [str(name) for name in left.get("before", [])]
            return names, names[0] if left["alone"] and len(names) == 1 else None, before
        return [], None, []

    def begin(self, student):
        """Write down that somebody is being graded."""
        self._change(self.running.append, student)

    def end(self, student):
        """Write down that somebody is no longer being graded."""
        self._change(self.running.remove, student)
        self.before.append(student)

    def close(self):
        """Remove it: nobody is being graded any more."""
        with self._lock:
            self._open = False
            self.path.unlink(missing_ok=True)

    def _change(self, change, student):
        with self._lock, contextlib.suppress(OSError, ValueError):
            change(student)
            if self._open:
                said = {"running": self.running, "alone": self.alone, "before": self.before}
                write_text(self.path, json.dumps(said))


# ---------------------------------------------------------------- processes


def end_marked(mark):
    """End all processes whose environment says that they run for a hand-in, its own children too.

    mark: how what `MARK` says begins.
    """
    for _ in range(5):  # one may have started another meanwhile
        found = [one for one in psutil.process_iter() if _is_marked(one, mark)]
        for one in found:
            with contextlib.suppress(psutil.Error):
                one.kill()
        if not found:
            return


def adopt(yes=True):
    """Become the parent of what any process below leaves behind, or no longer; Linux alone can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(SUBREAPER, int(yes), 0, 0, 0)


def below():
    """Return the numbers of this process's children."""
    return {child.pid for child in psutil.Process().children()}


def end_below(spare):
    """End all processes below this one, again and again until none is left.

    spare: numbers of children that stay, with all that is below them.
    """
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until:
        found = []
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if child.pid not in spare:
                    found += [child, *child.children(recursive=True)]
        if not [one for one in found if _end(one)]:
            return


def _end(process):
    """End a process; return whether it had still been there."""
    with contextlib.suppress(psutil.Error):
        if process.status() != psutil.STATUS_ZOMBIE:
            process.kill()
            return True
        if hasattr(os, "WNOHANG"):
            with contextlib.suppress(OSError):
                os.waitpid(process.pid, os.WNOHANG)
    return False


def _is_marked(process, mark):
    with contextlib.suppress(psutil.Error, OSError, SystemError, KeyError):
        return process.pid != os.getpid() and process.environ()[MARK].startswith(mark)
    return False
