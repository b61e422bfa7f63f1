"""A job that is no training: done in one go, what it found in one file."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lib2048.learn.tables import PROCESS_MIB
from lib2048.machine.arrays import Archive
from lib2048.machine.files import read_json, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks import neural
from lib2048.networks.storage import geometry_of
from lib2048.train.folder import CONFIG, DONE, WEIGHTS

PROCESS_BYTES, NEURAL_BYTES = PROCESS_MIB << 20, 2 << 30  # as measured where they train


@dataclass(frozen=True)
class Task:
    """A job whose folder holds done.json: what was asked, by which sources, and rows of a table.

    A kind of it has `read`, `about` (the columns that tell its rows from those of others), `needs`
    and `rows`, which does the work.  A process that is stopped begins again, unless the kind keeps
    what it has.
    """

    name: str

    turn = 0
    threads = 1

    @property
    def label(self):
        """The name of its folder."""
        return self.name

    def told(self):
        """Return the job as a dict that JSON can hold."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def of(cls, told):
        """Return the job that `told` wrote down."""
        return cls(**{name: _frozen(value) for name, value in told.items()})

    def found(self, folder):
        """Return what done.json holds, None where the job is not done; folder: of the sweep.

        Raises ValueError where that folder holds something else.
        """
        path = Path(folder, self.label)
        if (path / CONFIG).exists():
            raise ValueError(f"{path}: holds a run, not {type(self).__name__.lower()}")
        if not (path / DONE).exists():
            return None
        done = read_json(path / DONE)
        if not isinstance(done, dict) or done.get("job") != self.told():
            raise ValueError(f"{path}: holds something of that name with other settings")
        return done

    def state(self, folder):
        """Return 'missing' or 'finished'.  Raises ValueError where it could not be done."""
        return "missing" if self.found(folder) is None else "finished"

    def go(self, folder):
        """Do it; return the seconds it took, in a dict.  folder: that of the sweep."""
        begin = time.perf_counter()
        rows = self.rows(folder)
        done = {"seconds": time.perf_counter() - begin}
        told = {"job": self.told(), "sources": SOURCE_HASH} | done | {"rows": rows}
        write_text(Path(folder, self.label, DONE), json.dumps(told, indent=2) + "\n")
        return done


def _frozen(value):
    """Return what JSON made of a tuple as that tuple."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


# ---------------------------------------------------------------- networks that others have trained


def weights_of(network, folder):
    """Return the path of a network: a file of weights, or a run LIST/NAME-seedN beside this list.

    folder: of the sweep, RUNS/LIST.
    """
    if Path(network).suffix in (".npz", neural.SUFFIX):
        return Path(network)
    run = Path(folder).absolute().parent / network
    exported = run / f"weights{neural.SUFFIX}"
    return exported if exported.exists() else run / WEIGHTS


def check_there(network, folder):
    """Raise ValueError, in one line, where a network is not there yet."""
    path = weights_of(network, folder)
    if not path.exists():
        raise ValueError(
            f"network {network}: {path} is not there: sweep the list that makes it, or name another"
        )


def network_bytes(network, folder):
    """Return the memory that a network takes, 0 where it is not there."""
    path = weights_of(network, folder)
    if path.suffix == neural.SUFFIX:
        return NEURAL_BYTES
    if not path.exists():
        return 0
    with Archive(path) as arrays:
        return geometry_of(arrays).nbytes
