"""Formations: which cells of a board are free while its large tiles stand.

A formation is named by the free cells of each row, which are its leftmost: in `4411` two rows are
free and one cell in each of the other two, so six large tiles stand.  What they are does not
matter, as long as they differ and are larger than everything else: here each is a `WALL`.

In a *free* formation the large tiles may move as in the whole game: `free8` has 8 cells for all
else, wherever they are.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT

WALL = LARGEST_EXPONENT  # two of them never merge
FEWEST, MOST = 4, 12  # free cells


def names_one(text):
    """Say whether a text is meant as a formation's name, such as 4411 or free8."""
    return re.fullmatch("[0-9]+|free[0-9]*", text) is not None


@dataclass(frozen=True)
class Formation:
    """A formation and its target.

    Args:
        name: free cells of each row from the top, such as "4411" or "442"; or "free8", where the
            other 8 cells hold large tiles that may move.
        target: the tile that wins, 8 … 16384.

    Raises:
        ValueError: in one line, for what makes no endgame.
    """

    name: str
    target: int

    def __post_init__(self):
        if not re.fullmatch("[0-4]{1,4}|free[0-9]{1,2}", str(self.name)):
            raise ValueError(
                f"formation {self.name!r}: give the free cells of each row, such as 4411 or 442, "
                "or free8"
            )
        if not FEWEST <= self.small <= MOST:
            raise ValueError(
                f"formation {self.name}: {self.small} free cells, it takes {FEWEST} to {MOST}"
            )
        if self.target not in [1 << exponent for exponent in range(3, WALL)]:
            raise ValueError(f"target {self.target}: it takes a tile, 8, 16, 32 … 16384")

    def __str__(self):
        return f"{self.name}-{self.target}"

    @property
    def free(self):
        """Whether the large tiles may move."""
        return self.name.startswith("free")

    @property
    def small(self):
        """How many cells are free of large tiles."""
        return int(self.name[4:]) if self.free else sum(self.rows)

    @property
    def rows(self):
        """The number of cells of each of the four rows where something may change."""
        return (4,) * 4 if self.free else tuple(int(digit) for digit in self.name.ljust(4, "0"))

    @property
    def exponent(self):
        """The exponent of the target."""
        return self.target.bit_length() - 1

    @property
    def cells(self):
        """The cells where something may change, by number 0 … 15."""
        return tuple(4 * row + column for row in range(4) for column in range(self.rows[row]))

    @property
    def large(self):
        """How many large tiles stand."""
        return 16 - self.small

    @property
    def size(self):
        """How many positions there are, reached or not."""
        places = comb(16, self.small) if self.free else 1
        return places * self.exponent**self.small

    @cached_property
    def walls(self):
        """The board on which nothing but the walls that never move stands, a uint64."""
        return np.uint64(sum(WALL << 4 * cell for cell in range(16) if cell not in self.cells))
