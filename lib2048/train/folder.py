"""Run folders: what a run leaves on disk, and what it goes on from."""

import json
from pathlib import Path

from lib2048.learn.settings import Settings
from lib2048.machine.files import read_arrays, write_arrays, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.train.history import EVALUATIONS, HISTORY, STAGES

CONFIG, WEIGHTS, CHECKPOINT = "config.json", "weights.npz", "checkpoint.npz"


class RunFolder:
    """A folder that holds one run: config.json, history.csv, weights.npz, and a checkpoint.

    path: where; settings: `Settings`; functions: what the network's own functions are, see
    `own.Own.said`; {} for the library's.
    """

    def __init__(self, path, settings, functions):
        self.path, self.settings, self.functions = Path(path), settings, functions

    @property
    def config(self):
        """What config.json holds: all that decides the run's results."""
        own = {"functions": self.functions} if self.functions else {}
        return self.settings.config() | own | {"sources": SOURCE_HASH}

    @property
    def _is_free(self):
        """Whether it holds nothing but what a killed run left half written."""
        here = set(self.path.iterdir()) if self.path.exists() else set()
        return here <= self._leftovers()

    @property
    def is_of_others(self):
        """Whether it holds a run of the same settings by other functions."""
        return not self._is_free and self._old_config()[1] != self.functions

    def check(self, resume):
        """Raise ValueError when it holds another run, or a run and resume is False."""
        if self._is_free:
            return
        old, functions = self._old_config()
        if not resume:
            raise ValueError(f"{self.path}: holds a run already: go on with it by --resume")
        if functions != self.functions:
            raise ValueError(f"{self.path}: holds a run with {_named(functions)} instead of "
                             f"{_named(self.functions)}")  # fmt: skip
        if difference := old.difference(self.settings):
            raise ValueError(f"{self.path}: holds a run with {difference}")

    def state(self):
        """Return 'missing', 'begun' or 'finished'; a run with a smaller budget is only begun.

        Raises what `check` raises, and ValueError for a run that is finished by another budget or
        other test games.
        """
        self.check(resume=True)
        if self._is_free:
            return "missing"
        if (self.path / CHECKPOINT).exists() or not (self.path / WEIGHTS).exists():
            return "begun"
        return self._state_of_the_finished(self._old_config()[0])

    def _state_of_the_finished(self, old):
        (unit, number), (new_unit, new_number) = old.budget or ("games", 0), self.settings.budget
        if unit == new_unit and number < new_number:
            return "begun"
        tests = ("eval_every", "eval_games", "eval_depth") if self.settings.eval_every else ()
        for name in (unit, new_unit, *tests):
            asked, made = getattr(self.settings, name), getattr(old, name)
            if asked != made:
                raise ValueError(f"{self.path}: is finished with {name} {made} instead of {asked}")
        return "finished"

    def open(self, resume):
        """Claim the folder; return the checkpoint's arrays, or None to begin from the start.

        Raises what `check` raises, before anything is written.
        """
        self.check(resume)
        new = self._is_free
        self._sweep()
        if new:
            self._write_config()
            return None
        if (self.path / CHECKPOINT).exists():
            return read_arrays(self.path / CHECKPOINT)
        return read_arrays(self.path / WEIGHTS) if (self.path / WEIGHTS).exists() else None

    def _leftovers(self):
        """The files that a killed run of ours left half written."""
        names = (CONFIG, HISTORY, EVALUATIONS, STAGES, WEIGHTS, CHECKPOINT)
        return {part for name in names for part in self.path.glob(f".{name}.[0-9]*.part")}

    def _sweep(self):
        for part in self._leftovers():
            part.unlink()

    def _old_config(self):
        """Return the settings and the functions that config.json names."""
        try:
            config = json.loads((self.path / CONFIG).read_text())
            functions = config.pop("functions", {})
            config.pop("sources", None)
        except (OSError, ValueError, AttributeError, TypeError):
            raise ValueError(f"{self.path}: is not empty and holds no run of ours") from None
        try:
            return Settings.from_config(config), functions
        except ValueError as error:
            raise ValueError(f"{self.path}/{CONFIG}: {error}") from None

    def _write_config(self):
        write_text(self.path / CONFIG, json.dumps(self.config, indent=2) + "\n")

    def save_checkpoint(self, arrays, texts):
        """Write a checkpoint (dict of arrays) and the texts up to it, {file name: text}."""
        write_arrays(self.path / CHECKPOINT, arrays)
        self._write_texts(texts)

    def _write_texts(self, texts):
        for name, text in texts.items():
            write_text(self.path / name, text)

    def finish(self, arrays, texts):
        """Write the final weights and texts, and remove the checkpoint."""
        self._write_config()
        write_arrays(self.path / WEIGHTS, arrays)
        self._write_texts(texts)
        (self.path / CHECKPOINT).unlink(missing_ok=True)


def _named(functions):
    """Name functions in a message."""
    own = ", ".join(f"{part} {digest}" for part, digest in functions.items())
    return f"functions of your own ({own})" if own else "the library's functions"
