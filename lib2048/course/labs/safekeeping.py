"""What keeps one hand-in from costing others: their files, a journal, an end to its processes."""

import contextlib
import json
import os
import threading
from hashlib import sha256
from pathlib import Path

import psutil

from lib2048.course.labs.messages import say
from lib2048.machine.files import read_json, write_text

MARK = "LIB2048_HAND_IN"  # in the environment of all processes that run for a hand-in
MOST_BYTES = 300 << 20  # of files that are kept in memory; of the others only hashes
MANIFEST = "manifest-{}.json"


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
            if _is(path, data):
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


def _is(path, data):
    """Say whether a file holds these bytes, or those of this hash."""
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_file():
            return False
        now = path.read_bytes()
        return now == data if isinstance(data, bytes) else sha256(now).hexdigest() == data
    return False


def write_manifest(folder, lab, hashes):
    """Keep who has handed in, {student: hash}; who was there before stays."""
    path = folder / MANIFEST.format(lab)
    write_text(path, json.dumps(read_manifest(folder, lab) | hashes, indent=1) + "\n")


def read_manifest(folder, lab):
    """Return {student: hash} of all who have handed in when a lab was graded, {} for nobody."""
    with contextlib.suppress(ValueError):
        return read_json(Path(folder) / MANIFEST.format(lab), {str: str})
    return {}


# ---------------------------------------------------------------- a journal


class Journal:
    """A small file that says who is being graded, for the next grading where one is killed."""

    def __init__(self, path):
        self.path, self.running, self.alone = path, [], False
        self._lock, self._open = threading.Lock(), True

    def read(self):
        """Return (who was being graded when a grading was ended, who of them was so alone)."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            left = read_json(self.path)
            names = [str(name) for name in left["running"]]
            return names, names[0] if left["alone"] and len(names) == 1 else None
        return [], None

    def begin(self, student):
        """Write down that somebody is being graded."""
        self._change(self.running.append, student)

    def end(self, student):
        """Write down that somebody is no longer being graded."""
        self._change(self.running.remove, student)

    def close(self):
        """Remove it: nobody is being graded any more."""
        with self._lock:
            self._open = False
            self.path.unlink(missing_ok=True)

    def _change(self, change, student):
        with self._lock, contextlib.suppress(OSError, ValueError):
            change(student)
            if self._open:
                write_text(self.path, json.dumps({"running": self.running, "alone": self.alone}))


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


def _is_marked(process, mark):
    with contextlib.suppress(psutil.Error, OSError, SystemError, KeyError):
        return process.pid != os.getpid() and process.environ()[MARK].startswith(mark)
    return False
