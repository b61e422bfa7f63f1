"""The kind of job that a [[ship]] of a list asks for: a small file of a trained network.

Of a run by TC the weights that matter most (see `networks.pruning`) are kept, rounded to 11 bits
(or to whole steps of some points) and compressed; a neural network is rounded to float16.  The
whole network and what the small file holds play the same games; the file says what both score.

A run under way may keep such a file of each quarter, which tells how far it was; that is shipped as
it is, and again when there is a newer one.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lib2048.machine.files import read_json
from lib2048.networks.neural import SUFFIX
from lib2048.networks.pruning import prune, round_off
from lib2048.networks.storage import folded, info, load, save, sizes_of_errors
from lib2048.play.evaluation import TEST_SEED, evaluate
from lib2048.play.players import network_player
from lib2048.sweep import tables
from lib2048.sweep.job import (
    NEURAL_BYTES,
    PLAIN,
    PROCESS_BYTES,
    REAL,
    Task,
    network_bytes,
    weights_of,
)
from lib2048.train.folder import CHECKPOINT, CONFIG, DONE, QUARTER, WEIGHTS

KEYS = {"name": str, "network": str, "keep": int, "step": int, "learned": str,
        "whole": None, "tests": dict}  # fmt: skip

STEPS = tuple(1 << bit for bit in range(11))


@dataclass(frozen=True)
class Shipping(Task):
    """A small file of the network of a run: NAME.npz, or NAME.safetensors, in its folder.

    network: the run, LIST/NAME-seedN beside this list, or what it has kept of its last quarter,
    LIST/NAME-seedN/quarter.npz; keep: so many of its weights, by TC;
    step: weights are whole multiples of so many points, a power of two (11 bits keep these);
    learned: the run by TC that says which of them have learned most, if another went on from it;
    tests: what it plays, ((plies, games), …); whole: whether the whole network plays that, too.
    """

    network: str
    keep: int | None = None
    step: int | None = None
    learned: str | None = None
    whole: bool = True
    tests: tuple = ((1, 1000), (3, 100))
    ROW: ClassVar[dict] = {"this_file": {str: {str: PLAIN}}, "seconds_to_load": REAL, str: object}

    @classmethod
    def read(cls, table):
        """Return the one job of a table; raises ValueError, in one line, for what makes none."""
        told = tables.options(table, KEYS)
        run = Path(told.get("network", ""))
        if not run.name or (run.suffix in (".npz", SUFFIX) and run.name != QUARTER):
            raise ValueError('which run? write network = "LIST/NAME-seedN"')
        if told.get("keep", 1) < 1:
            raise ValueError(f"keep {told['keep']}: use 1 or more weights")
        if told.get("step", 1) not in STEPS:
            raise ValueError(f"step {told['step']}: use a power of two, 1 to {STEPS[-1]} points")
        if "tests" in told:
            told["tests"] = tables.test_games(told["tests"])
        return [cls(**told)]

    @property
    def about(self):
        """What tells its file from others."""
        return {"name": self.name}

    @property
    def networks(self):
        """The runs that must be there."""
        return self.network, self.learned

    def state(self, folder):
        """Return 'missing', also where the run has kept a newer quarter since, or 'finished'."""
        state, source = super().state(folder), weights_of(self.network, folder)
        made = Path(folder, self.label, DONE)
        if state == "finished" and source.name == QUARTER and source.exists():
            return "missing" if source.stat().st_mtime > made.stat().st_mtime else state
        return state

    def needs(self, folder):
        """Return the most memory that its process takes, in bytes."""
        if weights_of(self.network, folder).suffix == SUFFIX:
            return NEURAL_BYTES
        # The network and, one after the other: it folded, the sizes of its errors, the file's.
        return PROCESS_BYTES + 3 * network_bytes(self.network, folder)

    def file(self, folder):
        """Return the path of the small file."""
        return Path(folder, self.label, self.name + weights_of(self.network, folder).suffix)

    def rows(self, folder):
        """Prune, round, save; play; save with what was found, which is the one row."""
        path, file = weights_of(self.network, folder), self.file(folder)
        about = {"config": read_json(path.parent / CONFIG), "seed": TEST_SEED}
        if path.name == QUARTER or path.suffix == SUFFIX:  # they say how far the run had come
            about |= {name: x for name, x in info(path)["info"].items() if name != "seed"}
        network = load(path)  # which checks all of the file
        about |= {"whole_network": self._scores(folded(network))} if self.whole else {}
        learned = weights_of(self.learned or self.network, folder)
        if self.keep is not None and learned.suffix != SUFFIX:
            about["kept"] = prune(network, sizes_of_errors(network, learned), self.keep)
        if self.step:
            round_off(network, self.step)
            about["step"] = self.step
        save(network, file, compact=True)
        begin = time.perf_counter()
        loaded = load(file, to_play=True)
        about["seconds_to_load"] = round(time.perf_counter() - begin, 1)
        about["this_file"] = self._scores(loaded)
        save(network, file, compact=True, **about)
        return [json.loads(json.dumps(about))]

    def summary(self, folder):
        """Return a row of a table: how large the small file is, how fast read, what it scores."""
        about, *_ = self.found(folder)["rows"]
        row = self.about | {"kept": about.get("kept"), "step": self.step}
        row |= {"mib": round(self.file(folder).stat().st_size / 2**20, 2)}
        row |= {"seconds_to_load": about["seconds_to_load"]}
        tests = ((depth.replace("-", ""), test) for depth, test in about["this_file"].items())
        return row | {f"{name}_{depth}": x for depth, test in tests for name, x in test.items()}

    def _scores(self, network):
        """Return what a network scores, {"1-ply": {"games", "mean", "ci95"}, "3-ply": …}."""
        found = {}
        for plies, games in self.tests:
            result = evaluate(network_player(network, plies), games, TEST_SEED).as_dict()
            told = ((name, result[name]) for name in ("games", "mean", "ci95", "max"))
            found[f"{plies}-ply"] = {name: x if x is None else round(x, 1) for name, x in told}
        return found


def keep_quarter(path, keep, actions):
    """Write what matters most of a run under way, by TC, into its folder: a small file, QUARTER.

    It takes the place of the one before, and is read from the run's checkpoint, or its weights.
    path: of the run's folder; keep: so many weights; actions: that they have learned from so far.
    """
    whole = next(path / name for name in (CHECKPOINT, WEIGHTS) if (path / name).exists())
    network = load(whole)
    kept = prune(network, sizes_of_errors(network, whole), keep)
    about = {"config": read_json(path / CONFIG), "actions": actions, "kept": kept}
    save(network, path / QUARTER, compact=True, **about)
