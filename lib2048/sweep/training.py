"""The kind of job that a [[run]] of a list asks for: training, one run for each seed."""

from pathlib import Path
from typing import Any, NamedTuple

from lib2048.learn.rules import find
from lib2048.learn.settings import Settings, flags, of_seed
from lib2048.sweep import tables, testing
from lib2048.train.folder import RunFolder
from lib2048.train.run import Run

PATIENCE = 60  # seconds, for a process in its folder that was given up and has not ended yet


class TrainingJob(NamedTuple):
    """One training run: a name and `Settings`.

    Attributes:
        name: what its seeds share.
        settings: `Settings`, with a budget.
        tests: the games without learning when it is over, ((plies, games), …).
        keep: whether its weights stay when these are played.
    """

    name: str
    settings: Settings
    tests: tuple = ()
    keep: bool = True

    @classmethod
    def read(cls, table, defaults):
        """Return the runs that a table of a list asks for, one a seed.

        Args:
            table, defaults: {'name', 'seeds', 'tests', 'keep' and long options of `lib2048 train`:
                value}.

        Raises:
            ValueError: for what makes no run.
        """
        options = defaults | table
        name, seeds = options.pop("name"), tables.check_seeds(options.pop("seeds", [1]))
        tests, keep = tables.test_games(options.pop("tests", {})), options.pop("keep", True)
        tables.check_value("keep", keep, None)
        given: dict[str, Any] = {}
        rule = str(options.get("rule", ""))
        known = flags(find(rule) if ".py:" in rule else None)
        for said, value in options.items():
            if said == "seed":
                raise ValueError("seed: write a list, such as seeds = [1, 2, 3]")
            tables.check_key(said, known)
            tables.check_value(said, value, known[said].kind)
            given |= known[said].given(value)
        if "network" not in given:
            raise ValueError('which network? write network = "4x6", or another')
        return [
            cls(name, Settings.asked(**of_seed(given, seed), seed=seed), tests, keep)
            for seed in seeds
        ]

    @property
    def label(self):
        """The name of its folder."""
        return f"{self.name}-seed{self.settings.seed}"

    @property
    def about(self):
        """What tells its rows from those of other runs, in the files that have such a column."""
        plain = {"order": "forward", "optimistic": 0.0}  # of neural networks, too
        told = {name: getattr(self.settings, name, value) for name, value in plain.items()}
        return {"run": self.name, "seed": self.settings.seed} | told

    @property
    def turn(self):
        """Its seed, since all runs with one seed go first, so that a list soon says something."""
        return self.settings.seed

    @property
    def threads(self):
        """How many cores it uses."""
        return self.settings.threads

    @property
    def nbytes(self):
        """The most memory that its process takes."""
        searches = (tables.search_bytes(plies, self.threads) for plies, _ in self.tests)
        return self.settings.needed_bytes() + max(searches, default=0)

    def needs(self, folder):
        """Return the most memory that its process takes; folder: that of the sweep."""
        return self.nbytes

    def state(self, folder):
        """Return 'missing', 'begun' or 'finished'.

        Args:
            folder: that of the sweep.

        Raises:
            ValueError: when the run's folder holds something else.
        """
        run = RunFolder(Path(folder, self.label), self.settings, {})
        tested = not testing.missing(run.path, self.tests) and testing.facts(run.path) is not None
        state = run.state(kept=self.keep or not tested)
        if state == "begun":
            run.check(resume=True)  # what goes on needs the weights
        return "begun" if state == "finished" and self.tests and not tested else state

    def told(self):
        """Return the job as a dict that JSON can hold."""
        settings = self.settings.plain()
        return {"name": self.name, "settings": settings, "tests": self.tests, "keep": self.keep}

    @classmethod
    def of(cls, told):
        """Return the job that `told` wrote down."""
        tests = tuple(map(tuple, told["tests"]))
        return cls(told["name"], Settings(**told["settings"]), tests, told["keep"])

    def go(self, folder):
        """Train, or go on, up to the budget, and play the tests; return what came of it.

        What is returned is a dict that JSON can hold.  Raises what `Run.go` raises, `Stopped`
        among it.
        """
        path = Path(folder, self.label)
        if self.state(folder) == "finished" and (done := testing.facts(path)):
            return done  # the process that did it was killed before it could say so
        run = Run(self.settings, path, resume=True, wait=PATIENCE)
        done = testing.keep_facts(path, run.go(progress=False))
        testing.play(path, run.tested, self.tests, run.actions, self.threads)
        if run.folder and not self.keep:
            run.folder.remove_weights()
        return done
