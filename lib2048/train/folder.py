"""Run folders: what a run leaves on disk, and what it goes on from."""

import contextlib
import json
from pathlib import Path

import psutil

from lib2048.learn.settings import Settings
from lib2048.machine.arrays import Archive, write_arrays
from lib2048.machine.files import InUse, named, open_file, read_json, remove, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.lock import Lock
from lib2048.machine.terminal import say
from lib2048.networks.neural import EXPORT
from lib2048.train.history import EVALUATIONS, HISTORY, STAGES

CONFIG, WEIGHTS, CHECKPOINT, LOCK = "config.json", "weights.npz", "checkpoint.npz", ".run.lock"
DONE, TESTS, QUARTER = "done.json", "tests.csv", "quarter.npz"  # what a sweep keeps beside
WRITTEN = (CONFIG, HISTORY, EVALUATIONS, STAGES, WEIGHTS, CHECKPOINT, DONE, TESTS, QUARTER,
           EXPORT)  # fmt: skip


class RunFolder:
    """A folder that holds one run: config.json, history.csv, weights.npz, and a checkpoint.

    path: where; settings: `Settings`; functions: what the network's own functions are, see
    `own.OwnFunctions.said`; {} for the library's.

    One process at a time writes there: whoever opens it, trains or saves holds a lock meanwhile,
    which a killed process leaves without harm.  Between two of these anybody else may go on with
    the run; then this one is refused, since it would write over what the other has learned.
    Reading needs no lock.
    """

    def __init__(self, path, settings, functions):
        self.path, self.settings, self.functions = named(path), settings, functions
        self._lock, self._inside, self._seen = Lock(self.path / LOCK), 0, {}

    @property
    def config(self):
        """What config.json holds: all that decides the run's results."""
        own = {"functions": self.functions} if self.functions else {}
        return self.settings.config() | own | {"sources": SOURCE_HASH}

    @property
    def _is_free(self):
        """Whether it holds nothing but what a killed run left half written."""
        here = set(self.path.iterdir()) if self.path.exists() else set()
        return here <= self._leftovers() | {self.path / LOCK}

    @property
    def is_of_others(self):
        """Whether it holds a run of the same settings by other functions."""
        return not self._is_free and read_config(self.path)[1] != self.functions

    @property
    def is_finished(self):
        """Whether it holds the weights of a run that is over."""
        return (self.path / WEIGHTS).exists() and not (self.path / CHECKPOINT).exists()

    @property
    def is_begun(self):
        """Whether there is something in it that a run can go on from."""
        return bool(self._runs())

    # ------------------------------------------------------------ opened

    def check(self, resume, kept=True):
        """Raise ValueError when it holds another run, or a run and resume is False.

        kept: whether its weights must be there.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path}: is no folder")
        if self._is_free:
            return
        old, functions = read_config(self.path)
        if not resume:
            raise ValueError(f"{self.path}: holds a run already: go on with it by --resume")
        if functions != self.functions:
            difference = f"{_named(functions)} instead of {_named(self.functions)}"
            raise ValueError(f"{self.path}: holds a run with {difference}")
        if difference := old.difference(self.settings):
            raise ValueError(f"{self.path}: holds a run with {difference}")
        if kept and (self.path / HISTORY).exists() and not self._runs():
            raise ValueError(
                f"{self.path}: holds a history, but neither {CHECKPOINT} nor "
                f"{WEIGHTS}: put one back, or begin in another folder"
            )

    def state(self, kept=True):
        """Return 'missing', 'begun' or 'finished'; a run with a smaller budget is only begun.

        kept: False where its weights may have been removed when it was over.  Raises what `check`
        raises, and ValueError for a run that is finished by another budget or other test games.
        """
        self.check(True, kept)
        if self._is_free:
            return "missing"
        if not self.is_finished and (kept or self._runs()):
            return "begun"
        old = read_config(self.path)[0]
        (unit, number), (new_unit, new_number) = old.budget or ("games", 0), self.settings.budget
        if unit == new_unit and number < new_number:
            return "begun"
        tests = [name for name in vars(self.settings) if name.startswith("eval_")]
        for name in (unit, new_unit, *(tests if self.settings.eval_every else ())):
            asked, made = getattr(self.settings, name), getattr(old, name)
            if asked != made:
                raise ValueError(f"{self.path}: is finished with {name} {made} instead of {asked}")
        return "finished"

    def remove_weights(self):
        """Remove the weights of a run that is over; its curves stay."""
        with self.held():
            for name in (WEIGHTS, EXPORT):
                remove(self.path / name)
            self._seen = self._runs()

    def open(self, resume, wait=0.0):
        """Claim the folder; return the checkpoint's `Archive`, or None to begin from the start.

        wait: seconds, while another process is at work there.  Raises what `check` raises, and
        ValueError where another process holds the folder, before anything is written.
        """
        self.check(resume)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock.acquire(wait)
        try:
            self.check(resume)
            new = self._is_free
            for part in self._leftovers():
                part.unlink()
            if new:
                self._write_texts(self._described({}))
            self._seen = self._runs()
            return next((Archive(self.path / name) for name in self._seen), None)
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def held(self):
        """Hold the folder while a run goes on; within it `save_checkpoint` takes it no more.

        Raises ValueError, in one line, where another process holds it, or has gone on with the
        run since this one looked at it last.
        """
        self._inside += 1
        try:
            if not self._lock.held:
                self._hold()
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._lock.release()

    def _hold(self):
        """Hold the folder, also where somebody has removed it meanwhile."""
        self._lock.release()
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock.acquire()
        if not self._is_free and self._runs() != self._seen:
            how = "take it up from there, by resume=True"
            raise ValueError(f"{self.path}: is no longer as this run has left it: {how}")

    def _runs(self):
        """Return what the run can go on from, the best first, and what tells it from others."""
        paths = {name: self.path / name for name in (CHECKPOINT, WEIGHTS)}
        about = {name: path.stat() for name, path in paths.items() if path.exists()}
        return {n: (x.st_ino, x.st_mtime_ns, x.st_size) for n, x in about.items()}

    def _leftovers(self):
        """The files that a killed run of ours left half written."""
        parts = {part for name in WRITTEN for part in self.path.glob(f".{name}.[0-9]*.part")}
        return {part for part in parts if not _lives(part.name.split(".")[-2])}

    # ------------------------------------------------------------ written

    def save_checkpoint(self, arrays, texts):
        """Write a checkpoint (dict of arrays and `Member`s) and the texts up to it."""
        with self.held():
            self._write(CHECKPOINT, arrays, texts)

    def finish(self, arrays, texts):
        """Write the final weights and texts, {file name: text}, and remove the checkpoint."""
        with self.held():
            self._write(WEIGHTS, arrays, texts)
            remove(self.path / CHECKPOINT)
            self._seen = self._runs()

    def complete(self, texts):
        """Write the texts of a run that is over, where they are not as they should be."""
        if read_config(self.path)[0].budget != self.settings.budget:
            texts = self._described(texts)
        stale = {name: text for name, text in texts.items() if not self._holds(name, text)}
        if stale:
            with self.held():
                self._write_texts(stale)

    def _holds(self, name, text):
        try:
            with open_file(self.path / name) as file:
                return file.read() == text.encode()
        except ValueError:
            return False

    def _write(self, name, arrays, texts):
        """Write a run's arrays, and then what is said of them: its budget, too, may be a new one.

        A run that is killed in between goes on from these arrays by the budget before.
        """
        if not (self.path / CONFIG).exists():  # somebody has removed the folder
            self._write_texts(self._described({}))
        write_arrays(self.path / name, arrays)
        self._write_texts(self._described(texts))

    def _described(self, texts):
        """Return texts with that of config.json."""
        return {CONFIG: json.dumps(self.config, indent=2) + "\n"} | texts

    def _write_texts(self, texts):
        """Write texts; the run's arrays hold all that is in them, so one that is held can wait."""
        for name, text in texts.items():
            try:
                write_text(self.path / name, text)
            except InUse as error:
                say(f"{error}; what is new is written with the next checkpoint, or by --resume")
        self._seen = self._runs()


def read_config(path):
    """Return the `Settings` of the run in a folder, and what its own functions are, a dict.

    Raises ValueError, in one line, where the folder holds no run, or one of another version.
    """
    path = Path(path)
    if not (path / CONFIG).exists():
        what = "is not empty and holds no run of ours" if path.exists() else "there is no run"
        raise ValueError(f"{path}: {what}")
    form = {"functions?": {str: str}, "sources?": str, str: object}
    config = read_json(path / CONFIG, form)
    functions = config.pop("functions", {})
    config.pop("sources", None)
    try:
        return Settings.from_config(config), functions
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path / CONFIG}: {error}") from None


def weights_in(path):
    """Return the path of the weights in a run's folder: where there are two, what others read."""
    exported = Path(path, EXPORT)
    return exported if exported.exists() else Path(path, WEIGHTS)


def _lives(pid):
    """Say whether a process lives, one of any name that a file may have."""
    return pid.isdecimal() and len(pid) < 10 and psutil.pid_exists(int(pid))


def _named(functions):
    """Name functions in a message."""
    own = ", ".join(f"{part} {digest}" for part, digest in functions.items())
    return f"functions of your own ({own})" if own else "the library's functions"
