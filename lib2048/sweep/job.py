"""Jobs: what the tables of a list ask for, each done in a folder of its own below the sweep's."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from lib2048.learn.tables import PROCESS_MIB
from lib2048.machine.arrays import Archive
from lib2048.machine.files import read_json, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.schema import Number
from lib2048.networks import neural
from lib2048.networks.storage import checked_geometry
from lib2048.train.folder import CONFIG, DONE, weights_in

REAL = Number(-(2**53), whole=False)
UNSAID = {"game", "endgames", "precision"}  # where they are None
PLAIN = (None, bool, str, REAL)  # what may stand in a row
PROCESS_BYTES, NEURAL_BYTES = PROCESS_MIB << 20, 2 << 30  # as measured where they train


@dataclass(frozen=True)
class Job:
    """One thing to be done; name: in its list; folder, in all that follows: that of the sweep.

    A kind of job has `read`; `about`, what tells its rows in data/curves from those of others;
    `needs(folder)`, the most memory that its process takes, in bytes; `state(folder)`, which is
    'missing', 'begun' or 'finished'; and `go(folder)`, which does it, or goes on with it, and
    returns what came of it, a dict that JSON can hold.  Raises ValueError where it asks for
    something that makes no sense, or its folder holds something else.
    """

    name: str

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> "list[Job]":
        """Return the jobs that a table of a list asks for; the list's defaults are in it."""
        raise NotImplementedError

    @property
    def seed(self):
        """What tells it from others of its name, None for nothing; those of a small one go first,
        so that a list soon says something."""

    @property
    def threads(self):
        """How many cores it uses."""
        return 1

    @property
    def label(self):
        """The name of its folder."""
        return self.name if self.seed is None else f"{self.name}-seed{self.seed}"

    def told(self):
        """Return the job as a dict that JSON can hold."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def of(cls, told):
        """Return the job that `told` wrote down."""
        return cls(**{name: _frozen(value) for name, value in told.items()})


def _frozen(value):
    """Return what JSON made of a tuple as that tuple."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Task(Job):
    """A job that is no training: its done.json says what was asked, by which sources, and rows.

    A kind of it has `rows(folder)`, which does the work and returns the rows of a table.  A process
    that is stopped begins again, unless the kind keeps what it has.
    """

    networks = ()  # that must be there, see `weights_of`
    ROW: ClassVar[dict] = {str: PLAIN}  # what a row of done.json must be

    def told(self):
        """Return the job as a dict that JSON can hold, without what needs no saying."""
        told = super().told()
        return {name: told[name] for name in told if name not in UNSAID or told[name] is not None}

    def found(self, folder):
        """Return what done.json holds, None where the job is not done."""
        path = Path(folder, self.label)
        if (path / CONFIG).exists():
            raise ValueError(f"{path}: holds a run, not {type(self).__name__.lower()}")
        if not (path / DONE).exists():
            return None
        form = {"job": object, "sources": str, "seconds": REAL, "rows": [self.ROW]}
        done = read_json(path / DONE, form)
        if done["job"] != self.told():
            raise ValueError(f"{path}: holds something of that name with other settings")
        return done

    def state(self, folder):
        """Return 'missing' or 'finished'; raises ValueError where a network is not there yet."""
        if self.found(folder) is not None:
            return "finished"
        for network in filter(None, self.networks):
            if not (path := weights_of(network, folder)).exists():
                what = "is not there: sweep the list that makes it, or name another"
                raise ValueError(f"network {network}: {path} {what}")
        return "missing"

    def go(self, folder):
        """Do it; return the seconds it took, in a dict."""
        begin = time.perf_counter()
        rows = self.rows(folder)
        done = {"seconds": time.perf_counter() - begin}
        told = {"job": self.told(), "sources": SOURCE_HASH} | done | {"rows": rows}
        write_text(Path(folder, self.label, DONE), json.dumps(told, indent=2) + "\n")
        return done


# ---------------------------------------------------------------- networks that others have trained


def weights_of(network, folder):
    """Return the path of a network: a file of weights, or a run LIST/NAME-seedN beside this list.

    A file may be one that such a run has left, LIST/NAME-seedN/quarter.npz.
    folder: of the sweep, RUNS/LIST.
    """
    run = Path(folder).absolute().parent / network
    if run.suffix in (".npz", neural.SUFFIX):
        return run if run.exists() else Path(network)
    return weights_in(run)


def network_bytes(network, folder):
    """Return the memory that a network takes, 0 where it is not there."""
    path = weights_of(network, folder)
    if path.suffix == neural.SUFFIX:
        return NEURAL_BYTES
    if not path.exists():
        return 0
    with Archive(path) as arrays:
        return checked_geometry(arrays, path).nbytes
