"""The kind of job that a [[run]] of a list asks for: training, one run for each seed."""

import difflib
import numbers
from pathlib import Path
from typing import NamedTuple

from lib2048.learn.settings import Settings, flags, is_number
from lib2048.train.folder import RunFolder
from lib2048.train.learners import needed_bytes
from lib2048.train.run import Run

PATIENCE = 60  # seconds, for a process in its folder that was given up and has not ended yet
VALUES = {  # what stands behind a key: a class, and what it is called
    None: (bool, "true or false"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    str: (str, "a text in quotes"),
}


class Training(NamedTuple):
    """One training run: a name, which its seeds share, and `Settings` with a budget.

    A job of another kind has what this one has: `read`, from its table in a list; `label`, the
    name of its folder; `turn`, since jobs of a smaller one go first; `threads` and `nbytes`, what
    it takes of a machine; `state`; `told` and `of`, to JSON and back; and `go`.
    """

    name: str
    settings: Settings

    @classmethod
    def read(cls, table, defaults):
        """Return the runs that a table of a list asks for, one a seed.

        table, defaults: {'name', 'seeds' and long options of `lib2048 train`: value}; raises
        ValueError, in one line, for what makes no run.
        """
        options = defaults | table
        name, seeds = options.pop("name"), _checked_seeds(options.pop("seeds", [1]))
        given = dict(filter(None, map(_setting, options.items())))
        if "network" not in given:
            raise ValueError('which network? write network = "4x6", or another')
        return [cls(name, Settings.asked(**_of_seed(given, seed), seed=seed)) for seed in seeds]

    @property
    def label(self):
        """The name of its folder."""
        return f"{self.name}-seed{self.settings.seed}"

    @property
    def turn(self):
        """Its seed: all runs with one seed go first, so that a list soon says something."""
        return self.settings.seed

    @property
    def threads(self):
        """How many cores it uses."""
        return self.settings.threads

    @property
    def nbytes(self):
        """The most memory that its process takes."""
        return needed_bytes(self.settings)

    def state(self, folder):
        """Return 'missing', 'begun' or 'finished'; folder: that of the sweep.

        Raises ValueError when the run's folder holds something else.
        """
        return RunFolder(Path(folder, self.label), self.settings, {}).state()

    def told(self):
        """Return the job as a dict that JSON can hold."""
        return {"name": self.name, "settings": vars(self.settings)}

    @classmethod
    def of(cls, told):
        """Return the job that `told` wrote down."""
        return cls(told["name"], Settings(**told["settings"]))

    def go(self, folder):
        """Train, or go on, up to the budget; return what came of it, as JSON can hold it.

        Raises what `Run.go` raises, `Stopped` among it.
        """
        run = Run(self.settings, Path(folder, self.label), resume=True, wait=PATIENCE)
        history = run.go(progress=False)
        done = {"games": history.count, "actions": history.actions, "seconds": history.took}
        return done | {"mean_last": history.mean_last() if history.count else None}


# ---------------------------------------------------------------- from a table to settings


def _checked_seeds(seeds):
    whole = isinstance(seeds, list) and all(is_number(seed, numbers.Integral) for seed in seeds)
    if not (whole and seeds):
        raise ValueError(f"seeds {seeds!r}: write a list of whole numbers, such as [1, 2, 3]")
    return seeds


def _of_seed(given, seed):
    """Return settings in which '{seed}' in the file of weights to begin with is this seed."""
    weights = given.get("weights")
    return given if weights is None else given | {"weights": weights.replace("{seed}", f"{seed}")}


def _setting(option):
    """Return (field of `Settings`, value) of an option, or None where it says nothing."""
    said, value = option
    flag = _flag(said)
    kind, what = VALUES[flag.kind]
    if not isinstance(value, kind) or (flag.kind and isinstance(value, bool)):
        raise ValueError(f"{said} = {value!r}: write {what}")
    if flag.kind is None:
        return (flag.name, flag.meant) if value else None
    return flag.name, value


def _flag(said):
    known = flags()
    if said == "seed":
        raise ValueError("seed: write a list, such as seeds = [1, 2, 3]")
    if said not in known:
        close = difflib.get_close_matches(str(said), known, 1)
        raise ValueError(f"unknown key {said!r}" + "".join(f": is it {word!r}?" for word in close))
    return known[said]
