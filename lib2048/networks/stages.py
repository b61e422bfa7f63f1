"""Stages: one set of tables for each part of the game.

Which part it is, the largest tiles say (Jaśkowski 2018, section V-D1).  With g = 4 a stage is a
number of four bits, one each for a 32768, a 16384, an 8192 and a 4096 on the board.  Equal tiles
are carried down, as in the paper's program (its text does not say so): of two 16384s one counts as
a 16384, the other as an 8192.  The largest tile that makes a mark can be lowered; a tile above it
counts as those that it was made of.

Where a game shows its players more than a board, such as the next card of Threes!, that divides the
tables in the same way: what is shown is the stage.
"""

from typing import NamedTuple

import numpy as np

from lib2048.game.bits import BYTES, LARGEST_EXPONENT, NIBBLES, ONES, empty_mask
from lib2048.game.board import parts
from lib2048.machine.kernels import kernel

MOST_MARKS = 5
TOP = 1 << LARGEST_EXPONENT  # the largest tile that marks a stage, unless another is asked for
SMALLEST_MARK = 8  # a spawned tile never changes the stage
ZERO, ONE = np.uint64(0), np.uint64(1)


class Stages(NamedTuple):
    """The stages of a network, as the numbers that kernels need; see `stages`."""

    marks: np.uint64  # g: how many tiles mark the stages, 0 for one stage
    lowest: np.uint64  # exponent of the smallest of them, 0 where the state's word says the stage
    size: np.uint64  # from a weight of one stage to the same weight of the next
    below: np.uint64  # with promotion, from a weight to the one it starts from; 0 without
    line: np.uint64 = np.uint64(0)  # of a packed network, bits of a place in its line; else 0

    @property
    def count(self):
        """The number of stages, 2^g."""
        return 1 << int(self.marks)

    @property
    def top(self):
        """The largest tile that marks a stage."""
        return 1 << int(self.lowest + self.marks) - 1 if self.by_tiles else TOP

    @property
    def by_tiles(self):
        """Whether there are stages, and tiles mark them."""
        return bool(self.lowest)

    @property
    def phases(self):
        """Into how many parts they divide a game, which begins in the first: 1 without marks."""
        return self.count if self.by_tiles else 1

    def phase(self, board):
        """Return which of these parts a board belongs to."""
        return self.of(board) if self.by_tiles else 0

    def of(self, board, word=0):
        """Return the stage of a state or afterstate, 0 … 2^g − 1."""
        return int(stage_kernel(*parts(board, word), self.marks, self.lowest))

    def tiles(self, stage):
        """Return the tiles that mark a stage, the largest first; none for stage 0."""
        return [
            self.top >> i for i in range(int(self.marks)) if stage >> int(self.marks) - 1 - i & 1
        ]

    def name(self, stage):
        """Return a stage's tiles as text: '16384 + 4096', 'below 4096' for stage 0."""
        smallest = 1 << int(self.lowest)
        return " + ".join(map(str, self.tiles(stage))) or f"below {smallest}"


ONE_STAGE = Stages(ZERO, ZERO, ZERO, ZERO, ZERO)


def stages(marks=0, top=TOP, size=0, promotion=None):
    """Return the `Stages` of a network.

    marks: g, 0 … 5; top: the largest tile that marks a stage, a power of two; the others are its
    half, its quarter and so on, down to 8 at the smallest.  size: weights of one stage.
    promotion: whether a weight that was never accessed is read from the stage below; by default
    where there are stages.  Raises ValueError, in one line, for anything else.
    """
    if not isinstance(marks, (int, np.integer)) or marks not in range(MOST_MARKS + 1):
        raise ValueError(
            f"stages {marks}: use 0 to {MOST_MARKS}, for 1 to {1 << MOST_MARKS} stages"
        )
    if not marks:
        return _one_stage(top, promotion)
    least = SMALLEST_MARK << marks - 1
    if top not in [1 << e for e in range(LARGEST_EXPONENT + 1)] or top < least:
        raise ValueError(f"top {top}: use a tile from {least} to {TOP} for {1 << marks} stages")
    below = size if promotion or promotion is None else 0
    lowest = int(top).bit_length() - marks
    return Stages(*map(np.uint64, (marks, lowest, size, below, 0)))


def shown_stages(bits):
    """Return the `Stages` of weights for all that so many bits of a word say, side by side."""
    return Stages(np.uint64(bits), ZERO, ONE, ZERO)


def _one_stage(top, promotion):
    if promotion:
        raise ValueError("promotion: there are no stages to promote weights between")
    if top != TOP:
        raise ValueError(f"top {top}: there are no stages that a tile could mark")
    return ONE_STAGE


@kernel
def _copies(board, exponent):
    """Count the cells that hold an exponent.  uint64, uint64 → uint64."""
    cells = empty_mask(board ^ (exponent * ONES))
    cells = (cells + (cells >> np.uint64(4))) & NIBBLES
    return (cells * BYTES) >> np.uint64(56)


@kernel
def stage_kernel(board, word, marks, lowest):
    """Return the stage of a board and its word, uint64; see `Stages` for the numbers."""
    if lowest == ZERO:
        return word & ((ONE << marks) - ONE)
    above, stage, tiles = lowest + marks, ZERO, ZERO
    exponent = np.uint64(LARGEST_EXPONENT)
    while exponent >= above and marks:
        tiles = (tiles + _copies(board, exponent)) << ONE
        exponent -= ONE
    for _ in range(marks):
        tiles += _copies(board, exponent)
        here = ONE if tiles else ZERO
        stage = (stage << ONE) | here
        tiles -= here
        exponent -= ONE
    return stage


@kernel
def next_stage(stage, after, reward, marks, lowest):
    """Return the stage of an afterstate, from that of its state and the reward in between.

    Only a merge that makes one of the marked tiles can change it, and pays that many points.
    """
    if reward < np.float32(ONE << lowest):
        return stage if reward >= np.float32(0) else ZERO  # illegal: any stage will do
    return stage_kernel(after, ZERO, marks, lowest)
