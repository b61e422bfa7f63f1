"""The numbers of a network's tables in plain order, without those that are 0.

Files hold tables in plain order (see `Network.table`), memory in the order of `layout`: two
cells of a plain table that are neighbours may lie pages apart.  So a table is turned as a whole,
16^6 numbers at the most, in an order in which both sides stay within a few pages.
"""

from typing import NamedTuple

import numpy as np

from lib2048.machine.arrays import PIECE, Flow, Member
from lib2048.machine.kernels import kernel
from lib2048.networks.layout import offsets, ones

CELLS_AT_ONCE = 6  # 64 MiB
LOWS, HIGHS = slice(0, 4), slice(0, 16, 4)  # of a cell's exponents: by the low two bits, the high


class Half(NamedTuple):
    """Where the exponents of some cells lead, for all of them: in memory, and in plain order."""

    place: np.ndarray  # int64[…]
    index: np.ndarray


class Slab(NamedTuple):
    """A part of a block of tables that is turned at once.

    start: where its first number lies; size: of how many; low, high: `Half`, whose sums are the
    places from there on; None where the order in memory is the plain one.
    """

    start: int
    size: int
    low: Half | None = None
    high: Half | None = None


def slabs(network, block):
    """Yield the `Slab`s of a block (a stage, or an action) of a network, in the order of files."""
    if network.own_order:
        start, end = block * network.block, (block + 1) * network.block
        yield from (Slab(at, min(PIECE, end - at)) for at in range(start, end, PIECE))
        return
    for number, cells in enumerate(network.tuples):
        bits, start = network.region(number, block)
        at_once, rest = cells[:CELLS_AT_ONCE], cells[CELLS_AT_ONCE:]
        plain = [(cell, bit) for cell in at_once for bit in range(4)]
        low, high = (
            Half(offsets(bits, at_once, which), offsets(plain, at_once, which))
            for which in (LOWS, HIGHS)
        )
        for place in offsets(bits, rest):
            yield Slab(start + ones(bits) + int(place), 16 ** len(at_once), low, high)


@kernel
def _gather(numbers, wide, column, start, low, low_index, high, high_index, out):
    """Write the numbers of a slab in plain order."""
    for h in range(len(high)):
        at, to = (start + high[h]) * wide + column, high_index[h]
        for i in range(len(low)):
            out[to + low_index[i]] = numbers[at + low[i] * wide]


@kernel
def _scatter(numbers, wide, column, start, low, low_index, high, high_index, found):
    """Write what has a bit in a slab in plain order to where it lies; the rest is not touched."""
    for h in range(len(high)):
        at, to = (start + high[h]) * wide + column, high_index[h]
        for i in range(len(low)):
            bits = found[to + low_index[i]]
            if bits:
                numbers[at + low[i] * wide] = bits


class Column:
    """The numbers that are kept once for each weight: the weights, or one part of a memory.

    network: `Network`; numbers: float32[wide · network.size], in the order of its weights; wide:
    how many are kept for a weight; column: which of them.
    """

    def __init__(self, network, numbers, wide=1, column=0):
        self.network, self.wide, self.column = network, wide, column
        self._numbers, self._bits = numbers, numbers.view(np.uint32)

    def _pieces_in_memory(self, block):
        """Yield the numbers of a block in the order of memory: views."""
        here = slice(block * self.network.block, (block + 1) * self.network.block)
        yield from _cut(self._numbers.reshape(-1, self.wide)[here, self.column])

    def used(self, block):
        """Say whether some number of a block is not 0."""
        return any(piece.any() for piece in self._pieces_in_memory(block))

    def members(self, blocks, finite=False):
        """Return (packed mask of the numbers that are not 0, those numbers), as `Member`s.

        finite: whoever reads the numbers meets FloatingPointError where one is nan or infinite.
        """
        found = (np.count_nonzero(part) for n in blocks for part in self._pieces_in_memory(n))
        size = len(blocks) * self.network.block
        return sparse(lambda: self._pieces(blocks, finite), size, sum(found))

    def _pieces(self, blocks, finite):
        """Yield the numbers of some blocks in plain order: float32, in room that is used again."""
        for slab, room in self._rooms(blocks):
            if slab.low is None:
                room[:] = self._plain(slab)
            else:
                _gather(self._bits, self.wide, self.column, slab.start, *slab.low, *slab.high, room)
            for piece in _cut(room.view(np.float32)):
                if finite and not np.isfinite(piece).all():
                    raise FloatingPointError(
                        f"network {self.network.name}: among what it has learned is nan or infinity"
                    )
                yield piece

    def _rooms(self, blocks):
        """Yield each slab of some blocks with room for its numbers, uint32."""
        room = np.empty(0, np.uint32)
        for slab in (slab for block in blocks for slab in slabs(self.network, block)):
            room = room if len(room) == slab.size else np.empty(slab.size, np.uint32)
            yield slab, room

    def _plain(self, slab):
        """Return the numbers of a slab whose order is the plain one: a view."""
        return self._bits.reshape(-1, self.wide)[slab.start :, self.column][: slab.size]

    def fill(self, mask, values, blocks):
        """Set the numbers, all 0 so far, to what `members` returned."""
        masks, flow = Flow(mask), Flow(values)
        for slab, room in self._rooms(blocks):
            for part in _cut(room.view(np.float32)):
                here = np.unpackbits(masks.take(len(part) // 8)).view(bool)
                part[:] = 0
                part[here] = flow.take(np.count_nonzero(here))
            if slab.low is None:  # write what is not 0: a page that holds nothing is not touched
                there, here = self._plain(slab), np.flatnonzero(room)
                there[here] = room[here]
            else:
                _scatter(
                    self._bits, self.wide, self.column, slab.start, *slab.low, *slab.high, room
                )


def _cut(numbers):
    return (numbers[at : at + PIECE] for at in range(0, len(numbers), PIECE))


def sparse(pieces, size, nonzero, differs=lambda piece: piece != 0):
    """Return (packed mask of the numbers that are not 0, those numbers), as `Member`s.

    pieces: a function that returns an iterator over all `size` numbers, float32; nonzero: how
    many are not 0; differs: a function that says of which of them.
    """
    mask = Member(np.uint8, (size // 8,), lambda: (np.packbits(differs(p)) for p in pieces()))
    values = Member(np.float32, (nonzero,), lambda: (p[differs(p)] for p in pieces()))
    return mask, values
