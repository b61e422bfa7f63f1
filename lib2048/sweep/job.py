"""What a table of a list asks for: the protocol of a job."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol


class Job(Protocol):
    """One thing to be done, in a folder of its own below that of the sweep.

    Raises what is said of `TrainingJob`, where one asks for something that makes no sense.
    """

    @classmethod
    def read(cls, table: Mapping[str, Any], defaults: Mapping[str, Any]) -> "list[Job]":
        """Return the jobs that a table of a list asks for."""

    @property
    def name(self) -> str:
        """What it is called in its list."""

    @property
    def label(self) -> str:
        """The name of its folder."""

    @property
    def about(self) -> Mapping[str, Any]:
        """What tells its rows in the files of data/curves from others."""

    @property
    def turn(self) -> int:
        """Jobs of a smaller one go first."""

    @property
    def threads(self) -> int:
        """How many cores it uses."""

    def needs(self, folder: Path) -> int:
        """Return the most memory that its process takes, in bytes; folder: that of the sweep."""

    def state(self, folder: Path) -> str:
        """Return 'missing', 'begun' or 'finished'; ValueError where the folder holds another."""

    def told(self) -> dict[str, Any]:
        """Return the job as a dict that JSON can hold."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Job":
        """Return the job that `told` wrote down."""

    def go(self, folder: Path) -> dict[str, Any]:
        """Do it, or go on with it; return what came of it, a dict that JSON can hold."""
