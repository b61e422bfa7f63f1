"""What a run drives: the learner of its kind of network."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

Arrays = Mapping[str, Any]  # numpy's, or `machine.arrays.Member`s


class Learner(Protocol):
    """Plays games and learns from them until it is told to stop.

    How boards are valued and weights are changed is its own affair.  The run gives it the event
    `stop`; one whose `play` may take longer than a tenth of a second looks at it.

    network: what learns; tested: what test games are played by; batches: rows of `batch_columns`,
    of those that learn by batches; first_chunk: actions of the first chunk, before their speed is
    known; actions: how many so far; visits: how many led into each stage, int64[stages]; finite:
    whether what was worked out last are numbers; memory: what its rule keeps beside the weights, by
    name, see `Run.memory`.
    """

    network: Any
    tested: Any
    batches: Any
    batch_columns: Sequence[str]
    first_chunk: int
    stop: threading.Event
    actions: int
    visits: np.ndarray
    finite: bool
    memory: Mapping[str, Any]

    def prepare(self) -> None:
        """Compile, or load, what playing needs, before the clock starts."""

    def play(self, last_action: int, rows: int) -> np.ndarray:
        """Play and learn until `actions` is last_action, or so many rows of games are over.

        Returns their results, int64[k, 5]; see records.RESULT_COLUMNS.
        """

    def set_rate(self, rate: float) -> None:
        """Learn at this rate from now on."""

    def blame(self, error: Exception) -> tuple[str, bool] | None:
        """Return (what is wrong with the reader's own functions, whether the weights are whole).

        None where there are none.
        """

    def check_room(self) -> None:
        """Raise MemoryError when there is no room for a stage that may be reached."""

    def arrays(self) -> Arrays:
        """Return all that a resume needs."""

    def check(self, arrays: Arrays, path: Path) -> None:
        """Raise ValueError, in one line, where arrays are not what `arrays` returns."""

    def restore(self, arrays: Arrays, path: Path) -> None:
        """Take up what `arrays` returned, once all of it is checked; path: named in errors."""

    def export(self, folder: Path) -> None:
        """Write what others read beside the run's own file of weights."""
