"""Formations: which cells of a board are free while its large tiles stand.

A formation is named by the free cells of each row, which are its leftmost: in `4411` two rows are
free and one cell in each of the other two, so six large tiles stand.  What they are does not
matter, as long as they differ and are larger than everything else: here each is a `WALL`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT

WALL = LARGEST_EXPONENT  # two of them never merge
FEWEST, MOST = 4, 12  # free cells


@dataclass(frozen=True)
class Formation:
    """A formation and its target.

    Args:
        name: free cells of each row from the top, such as "4411" or "442".
        target: the tile that wins, 8 … 16384.

    Raises:
        ValueError: in one line, for what makes no endgame.
    """

    name: str
    target: int

    def __post_init__(self):
        rows = [int(digit) for digit in self.name] if self.name.isdigit() else []
        if not 1 <= len(rows) <= 4 or max(rows) > 4:
            raise ValueError(
                f"formation {self.name!r}: give the free cells of each row, such as 4411 or 442"
            )
        if not FEWEST <= sum(rows) <= MOST:
            raise ValueError(
                f"formation {self.name}: {sum(rows)} free cells, it takes {FEWEST} to {MOST}"
            )
        exponent = int(self.target).bit_length() - 1
        if self.target != 1 << exponent or not 3 <= exponent < WALL:
            raise ValueError(f"target {self.target}: it takes a tile, 8, 16, 32 … 16384")

    def __str__(self):
        return f"{self.name}-{self.target}"

    @property
    def rows(self):
        """The number of free cells of each of the four rows."""
        return tuple(int(digit) for digit in self.name.ljust(4, "0"))

    @property
    def exponent(self):
        """The exponent of the target."""
        return self.target.bit_length() - 1

    @property
    def cells(self):
        """The free cells, by number 0 … 15."""
        return tuple(4 * row + column for row in range(4) for column in range(self.rows[row]))

    @property
    def large(self):
        """How many large tiles stand."""
        return 16 - len(self.cells)

    @cached_property
    def walls(self):
        """The board on which nothing but the walls stands, a uint64."""
        return np.uint64(sum(WALL << 4 * cell for cell in range(16) if cell not in self.cells))
