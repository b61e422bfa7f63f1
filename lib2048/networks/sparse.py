"""The numbers of a network's tables in plain order, without those that are 0.

Files hold tables in plain order (see `Network.table`), memory in the order of `layout`: two
cells of a plain table that are neighbours may lie pages apart.  So a table is turned as a whole,
16^6 numbers at the most, in an order in which both sides stay within a few pages.
"""

import numpy as np

from lib2048.machine.arrays import PIECE, Flow, Member
from lib2048.machine.kernels import kernel
from lib2048.machine.terminal import bar
from lib2048.networks.layout import offsets, ones

CELLS_AT_ONCE = 6  # 64 MiB
SILENT = 2  # seconds after which a bar says what is going on
LOWS, HIGHS = slice(0, 4), slice(0, 16, 4)  # of a cell's exponents: by the low two bits, the high


def slabs(network, block):
    """Yield the parts of a block (a stage, or an action) of a network that are turned at once.

    They come in the order of files, each as (start, low, low_index, high, high_index): where its
    first number lies, and how far the low bits of all its cells lead from there, in memory and in
    plain order, uint32[…], and their high bits.  The sums of the two are all of its numbers.
    """
    if network.own_order:  # which is that of files
        first, end = block * network.block, (block + 1) * network.block
        none = np.zeros(1, np.uint32)
        for start in range(first, end, PIECE):
            every = np.arange(min(PIECE, end - start), dtype=np.uint32)
            yield start, every, every, none, none
        return
    for number, cells in enumerate(network.tuples):
        bits, start = network.region(number, block)
        at_once, rest = cells[:CELLS_AT_ONCE], cells[CELLS_AT_ONCE:]
        plain = [(cell, bit) for cell in at_once for bit in range(4)]
        ways = [offsets(order, at_once, of) for of in (LOWS, HIGHS) for order in (bits, plain)]
        for place in offsets(bits, rest).tolist():
            yield start + ones(bits) + place, *ways


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

    def members(self, blocks, finite=False):
        """Return (packed mask of the numbers that are not 0, those numbers), as `Member`s.

        finite: whoever reads the numbers meets FloatingPointError where one is nan or infinite.
        """
        numbers, size = self._numbers[self.column :: self.wide], self.network.block
        found = (np.count_nonzero(p) for n in blocks for p in _cut(self.network.part(numbers, n)))
        return sparse(lambda: self._pieces(blocks, finite), len(blocks) * size, sum(found))

    def _pieces(self, blocks, finite):
        """Yield the numbers of some blocks in plain order: float32, in room that is used again."""
        for slab, room in self._rooms(blocks, "writing"):
            _gather(self._bits, self.wide, self.column, *slab, room)
            for piece in _cut(room.view(np.float32)):
                if finite and not np.isfinite(piece).all():
                    raise FloatingPointError(
                        f"network {self.network.name}: among what it has learned is nan or infinity"
                    )
                yield piece

    def _rooms(self, blocks, doing):
        """Yield each slab of some blocks with room for its numbers, uint32; say so if it takes."""
        room, total = np.empty(0, np.uint32), len(blocks) * self.network.block
        how = {"desc": f"{doing} {self.network.name}", "unit": " weights", "unit_scale": True}
        with bar(True, total=total, delay=SILENT, **how) as shown:
            for slab in (slab for block in blocks for slab in slabs(self.network, block)):
                size = len(slab[1]) * len(slab[3])
                room = room if len(room) == size else np.empty(size, np.uint32)
                yield slab, room
                shown.update(size)

    def fill(self, mask, values, blocks):
        """Set the numbers, all 0 so far, to what `members` returned."""
        masks, flow = Flow(mask), Flow(values)
        for slab, room in self._rooms(blocks, "reading"):
            for part in _cut(room.view(np.float32)):
                here = np.unpackbits(masks.take(len(part) // 8)).view(bool)
                part[:] = 0
                part[here] = flow.take(np.count_nonzero(here))
            _scatter(self._bits, self.wide, self.column, *slab, room)


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
