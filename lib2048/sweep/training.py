"""The kind of job that a [[run]] of a list asks for: training, one run for each seed.

What it keeps of a finished run beside its own files: done.json holds the run's `config`, so that
what belongs to an earlier end of the run is not taken for this one's, and what its history alone
does not say; tests.csv, its last test games, has a row for each depth, with the columns of
evaluations.csv.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib2048.learn.rules import find
from lib2048.learn.settings import Settings, flags, of_seed
from lib2048.machine.files import read_csv, read_json, write_text
from lib2048.machine.memory import peak_mib
from lib2048.machine.schema import Number
from lib2048.networks.storage import info
from lib2048.play.evaluation import TEST_SEED, evaluate
from lib2048.play.players import network_player
from lib2048.sweep import tables
from lib2048.sweep.job import REAL, Job
from lib2048.sweep.shipping import keep_quarter
from lib2048.train.checkups import test_row
from lib2048.train.folder import CONFIG, DONE, QUARTER, TESTS, RunFolder
from lib2048.train.history import csv_text, evaluation_columns
from lib2048.train.run import Run

FACTS = {  # of done.json
    "games": Number(),
    "actions": Number(),
    "seconds": REAL,
    "mean_last": (None, REAL),
    "peak_mib": (None, Number()),
    "config": dict,
}
PATIENCE = 60  # seconds, for a process in its folder that was given up and has not ended yet


@dataclass(frozen=True)
class TrainingJob(Job):
    """One training run: a name and `Settings`.

    Attributes:
        name: what its seeds share.
        settings: `Settings`, with a budget.
        tests: the games without learning when it is over, ((plies, games), …).
        keep: whether its weights stay when these are played.
        quarters: so many weights are kept, in a small file, of each quarter of its actions; 0: none
            are.
    """

    settings: Settings
    tests: tuple = ()
    keep: bool = True
    quarters: int = 0

    @classmethod
    def read(cls, table):
        """Return the runs that a table asks for, one a seed.

        Args:
            table: {'name', 'seeds', 'tests', 'keep', 'quarters' or a long option of `lib2048
                train`: value}.

        Raises:
            ValueError: for what makes no run.
        """
        options = dict(table)
        name, seeds = options.pop("name"), options.pop("seeds", [1])
        tables.whole_numbers("seeds", seeds)
        tests, keep = tables.test_games(options.pop("tests", {})), options.pop("keep", True)
        tables.check_value("keep", keep, None)
        quarters = options.pop("quarters", 0)
        tables.check_value("quarters", quarters, int)
        if quarters < 0:
            raise ValueError(f"quarters = {quarters}: use 0 or more")
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
        jobs = [
            cls(name, Settings.asked(**of_seed(given, seed), seed=seed), tests, keep, quarters)
            for seed in seeds
        ]
        jobs[0]._check()
        return jobs

    def _check(self):
        """Raise ValueError, in one line, for keys that do not fit the settings."""
        settings = self.settings
        if self.quarters and not (settings.actions and vars(settings).get("rule") == "tc"):
            raise ValueError("quarters: are kept of a run by tc, which goes on for so many actions")

    @property
    def seed(self):
        """Its settings' seed."""
        return self.settings.seed

    @property
    def threads(self):
        """How many cores it uses."""
        return self.settings.threads

    @property
    def about(self):
        """What tells its rows from those of other runs, in the files that have such a column."""
        plain = {"order": "forward", "optimistic": 0.0}  # of neural networks, too
        told = {name: getattr(self.settings, name, value) for name, value in plain.items()}
        return {"run": self.name, "seed": self.seed} | told

    def needs(self, folder):
        """Return the most memory that its process takes, in bytes."""
        searches = (tables.search_bytes(plies, self.threads) for plies, _ in self.tests)
        return self.settings.needed_bytes() + max(searches, default=0)

    def state(self, folder):
        """Return 'missing', 'begun' or 'finished'.

        Args:
            folder: that of the sweep.

        Raises:
            ValueError: when the run's folder holds something else.
        """
        run = RunFolder(Path(folder, self.label), self.settings, {})
        tested = facts(run.path) is not None and not self._untested(run.path)
        state = run.state(kept=self.keep or not tested)
        if state == "begun":
            run.check(resume=True)  # what goes on needs the weights
        return "begun" if state == "finished" and self.tests and not tested else state

    def told(self):
        """Return the job as a dict that JSON can hold."""
        return vars(self) | {"settings": self.settings.plain()}

    @classmethod
    def of(cls, told):
        """Return the job that `told` wrote down."""
        return super().of(told | {"settings": Settings(**told["settings"])})

    def go(self, folder):
        """Train, or go on, up to the budget, and play the tests; raises what `Run.go` raises."""
        path = Path(folder, self.label)
        if self.state(folder) == "finished" and (done := facts(path)):
            return done  # the process that did it was killed before it could say so
        run = self._up_to_the_end(path)
        done = _keep_facts(path, run.go(progress=False))
        for plies, games in self._untested(path):  # each is in the file as soon as it is over
            player = network_player(run.tested, plies)
            result = evaluate(player, games, TEST_SEED, self.threads)
            others = [row for row in test_rows(path) if int(row["plies"]) != plies]
            rows = [*others, test_row(run.actions, plies, result)]
            rows.sort(key=lambda row: int(row["plies"]))
            write_text(path / TESTS, csv_text(evaluation_columns(result.game), rows))
        if run.folder and not self.keep:
            run.folder.remove_weights()
        return done

    def _up_to_the_end(self, path):
        """Return the run; where it keeps its quarters, when the last of them is kept."""
        while True:
            run = Run(self.settings, path, resume=True, wait=PATIENCE)
            if not self._is_unkept(path, run.actions):
                if not (actions := self._to_quarter(run.actions)):
                    return run
                run.go(actions=actions, progress=False)
            learned = self._learned(run.actions)
            del run  # what is kept is read from its checkpoint, and needs the memory
            keep_quarter(path, self.quarters, learned)

    def _learned(self, actions):
        """Return how many actions its weights have learned from after so many of its own."""
        return (self.settings.before or 0) + actions

    @property
    def _quarter(self):
        """How many actions a quarter has, the last one maybe fewer; 0 where none is kept."""
        return -(-(self.settings.actions or 0) // 4) if self.quarters else 0

    def _is_unkept(self, path, actions):
        """Say whether a quarter ends with so many actions and is not kept: it was killed there."""
        quarter, kept = self._quarter, path / QUARTER
        if not (quarter and actions) or (actions % quarter and self._to_quarter(actions)):
            return False
        return not kept.exists() or info(kept)["info"].get("actions") != self._learned(actions)

    def _to_quarter(self, actions):
        """Return how many actions are left of the quarter that some lead into, 0 for none."""
        if not (quarter := self._quarter):
            return 0
        return min(quarter - actions % quarter, max(0, self.settings.actions - actions))

    def _untested(self, path):
        """Return those of its tests that its folder does not hold."""
        there = {(int(row["plies"]), int(row["games"])) for row in test_rows(path)}
        return [test for test in self.tests if test not in there]


# ---------------------------------------------------------------- what is kept of a finished run


def facts(path):
    """Return what done.json tells of a run as it is now, or None; path: of its folder.

    A dict: games, actions, seconds, mean_last, peak_mib.
    """
    if not (path / DONE).exists():
        return None
    done = read_json(path / DONE, FACTS)
    return done if done.pop("config") == read_json(path / CONFIG) else None


def _keep_facts(path, history):
    """Write down what a run that is over has come to, unless that is done; return it."""
    if (found := facts(path)) is not None:
        return found
    found = {"games": history.count, "actions": history.actions, "seconds": history.took}
    mean = history.mean_last()  # nan where no game began with two tiles
    found |= {"mean_last": None if math.isnan(mean) else mean, "peak_mib": peak_mib()}
    told = found | {"config": read_json(path / CONFIG)}
    write_text(path / DONE, json.dumps(told, indent=2) + "\n")
    return found


def test_rows(path):
    """Return the test games of a run as it is now: dicts of text, by the columns of TESTS."""
    done = facts(path)
    if done is None or not (path / TESTS).exists():
        return []
    rows = read_csv(path / TESTS, {"actions": int, "plies": int, "games": int})
    return [row for row in rows if row["actions"] == str(done["actions"])]
