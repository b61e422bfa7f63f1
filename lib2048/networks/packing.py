"""Packing: a network in stages as it plays, without the memory that holds nothing.

Of the weights of later stages most are never accessed, and a file to ship keeps a few of those that
are.  Laid out in full they would be spread over all of the memory.  A packed network keeps only the
*lines* of neighbouring weights, 32 as a rule, that hold something, and for each line of the full
tables the number of the line where it is kept.  Promotion is done once and for all: a weight that
was never accessed holds what would be read from the stage below, so that every board has the very
value that it has in the full tables.

All of it is one array: the numbers of the lines first (float32 holds whole numbers up to 2^24
exactly), then a line of zeros, then the lines.
"""

import itertools

import numpy as np

from lib2048.machine.arrays import Flow
from lib2048.machine.kernels import kernel
from lib2048.machine.memory import check_memory, reserve
from lib2048.networks.layout import offsets, ones
from lib2048.networks.lookups import read_packed
from lib2048.networks.network import Geometry, Network

LINE_BITS = 5, 4, 6, 7, 8, 9  # the first is taken that divides a stage and has enough numbers
MOST_LINES = 1 << 24


class Packed(Network):
    """A network to play by: it has the values of another one, and cannot learn.

    network: `Geometry` of the other one, which promotes; mask, values: its weights, `Member`s as
    `Column.members` returns them; blocks: the stages that these are of.  Raises ValueError where
    there are more or fewer numbers than bits in the mask, and MemoryError, before it is taken,
    where the memory does not suffice.

    weights: float32[…], the numbers and the lines; see above.
    """

    def __init__(self, network, mask, values, blocks):
        Geometry.__init__(self, **network.arguments())
        places = _places(self, mask, blocks, len(values))
        line, used, kept = _lines(self, places)
        stage = self.block >> line
        vars(self)["stages"] = self.stages._replace(line=np.uint64(line))  # which is fixed
        first, what = _first_line(self, line), f"network {self.name}, packed,"
        size = first + np.count_nonzero(kept) << line
        check_memory(what, 4 * size)
        self._weights = reserve(what, size)
        _number(self.weights, used, kept, stage, first)
        done = 0
        for piece in values.pieces():
            _put(self.weights, places[done : done + len(piece)], piece, self.stages.line)
            done += len(piece)
        _promote(self.weights, used, kept, stage, self.stages.line)

    @property
    def nbytes(self):
        """The memory that the network takes, in bytes."""
        return self.weights.nbytes

    def needs_tables(self, what):
        """Raise ValueError: the tables are not there in full."""
        raise ValueError(
            f"network {self.name}: {what} needs its tables in full, and it is packed "
            "for playing: load it without to_play"
        )

    def _weight(self, place):
        return self.weights[place]

    def _kept(self, places):
        line = int(self.stages.line)
        numbers = self.weights[places >> np.uint32(line)].astype(np.uint32)
        return numbers << np.uint32(line) | places & np.uint32((1 << line) - 1)


# ---------------------------------------------------------------- which lines there are


def _lines(network, places):
    """Return (bits of a place in its line, used, kept): short lines, but not too many of them.

    used: bool[lines], whether one holds a weight of its own; kept: whether it is kept, and not
    that of the stage below instead.
    """
    for line in LINE_BITS:
        if network.block % (1 << line):
            continue
        used = np.zeros(network.size >> line, bool)
        _mark(used, places, line)
        kept = used.copy()
        step = network.block >> line
        kept[2 * step :] |= used[step:-step] & used[: -2 * step]
        many = np.count_nonzero(kept) + _first_line(network, line)
        if many < MOST_LINES:
            return line, used, kept
    raise MemoryError(f"network {network.name} has too many weights to be packed")


def _first_line(network, line):
    """Return the number of the first line that is kept: behind the numbers and a line of zeros."""
    return -(-(network.size >> line) >> line) + 1


@kernel
def _mark(used, places, line):
    for place in places:
        used[place >> line] = True


@kernel
def _number(numbers, used, kept, stage, first):
    """Write the number of each line: its own, that of the stage below, or that of the zeros."""
    following = first
    for at in range(len(used)):
        below = at - stage
        if kept[at]:
            numbers[at] = following
            following += 1
        elif below >= 0 and used[below]:
            numbers[at] = numbers[below]
        else:
            numbers[at] = first - 1


# ---------------------------------------------------------------- what they hold


def _places(network, mask, blocks, count):
    """Return where the weights of a mask would lie in the full tables, in its order: uint32[n]."""
    flow, places, done = Flow(mask), np.zeros(count, np.uint32), 0
    for block, number in itertools.product(blocks, range(len(network.tuples))):
        cells, (bits, start) = network.tuples[number], network.region(number, block)
        three = (offsets(bits, cells[at : at + 3]) for at in (0, 3, 6))
        part = flow.take(16 ** len(cells) // 8)
        done = _find(part, start + ones(bits), *three, places, done)
    if done != count or len(flow.take(1)):  # which reads to the end of the file's mask
        raise ValueError(f"its weights do not fit network {network.name}")
    return places


@kernel
def _find(mask, start, low, high, top, places, done):
    """Write the places of a mask's bits to places[done …], as long as there is room.

    low, high, top: where the exponents of three cells each lead.  Returns how many bits there were
    so far.
    """
    for at in range(len(mask)):
        byte = mask[at]
        if byte:
            for bit in range(8):
                if byte & (128 >> bit):
                    i = 8 * at + bit
                    if done < len(places):
                        places[done] = start + low[i & 0xFFF] + high[i >> 12 & 0xFFF] + top[i >> 24]
                    done += 1
    return done


@kernel
def _put(weights, places, values, line):
    """Write a piece of the weights to where they are kept."""
    together, end = np.uint64(256), np.uint64(len(places))
    for first in range(np.uint64(0), end, together):
        count = min(together, end - first)
        read_packed(weights, places, first, count, line)  # which asks for where they are kept
        for i in range(first, first + count):
            weights[places[i]] = values[i]


@kernel
def _promote(weights, used, kept, stage, line):
    """Fill what was never accessed with what the stage below holds, the last stage first."""
    for at in range(len(used) - 1, stage - 1, -1):
        below = at - stage
        if kept[at] and used[below]:
            to, source = np.int64(weights[at]) << line, np.int64(weights[below]) << line
            for i in range(1 << line):
                if weights[to + i] == 0:
                    weights[to + i] = weights[source + i]
