"""Where a weight lies in memory.

A table of 16^6 weights is far larger than the processor's cache, and training waits for memory
most of its time.  So the *order* of the weights matters.  Two things keep those that are used
together close together:

* tuples that differ in one cell only are stored as a pair: the two weights for the same five
  cells lie in the same 64 bytes, most of the time;
* the low two bits of every cell come before the high two bits of any, so that small tiles, which
  change all the time, stay within a few memory pages.

The order is an affair of this room alone: `Network.table` and files use the plain one.
"""

import numpy as np


def layout(tuples):
    """Decide where each weight lies.

    Returns (size, one list per tuple).  The list holds, for each bit of a weight's position from
    the lowest up, the (cell, bit) that it copies, or a constant 0 or 1.
    """
    size, bits = 0, [None] * len(tuples)
    groups = [(len(group) * 16 ** len(tuples[group[0]]), group) for group in _groups(tuples)]
    longest_first = sorted(groups, key=lambda group: -group[0])
    for count, group in longest_first:  # so that a region's offset has no bit within the region
        for number, which in enumerate(group):
            bits[which] = _position_bits(tuples, group, number), size
        size += count
    return size, bits


def side_by_side(tuples):
    """Return what `layout` does with four sets of weights, the four of a place side by side.

    A position is that of the first; 1, 2 or 3 further on are those of the other sets.
    """
    size, places = layout(tuples)
    return size, [([0, 0, *bits], 4 * offset) for bits, offset in places]


def plain_layout(tuples):
    """Return what `layout` does for tables in plain order, one behind the other, as in files."""
    ends = np.cumsum([0, *(16 ** len(cells) for cells in tuples)]).tolist()
    bits = [[(cell, bit) for cell in cells for bit in range(4)] for cells in tuples]
    return ends[-1], list(zip(bits, ends))


def _groups(tuples):
    """Pair the tuples that differ in one cell; the others stand alone."""
    left, groups = list(range(len(tuples))), []
    while left:
        first, *left = left
        mate = next((i for i in left if _differ_in_one(tuples[first], tuples[i])), None)
        groups.append([first] if mate is None else [first, mate])
        left = [number for number in left if number != mate]
    return groups


def _differ_in_one(a, b):
    return len(a) == len(b) > 1 and len(set(a) & set(b)) == len(a) - 1


def _position_bits(tuples, group, number):
    cells = tuples[group[number]]
    shared = [cell for cell in cells if len(group) == 1 or cell in tuples[group[1 - number]]]
    own = next((cell for cell in cells if cell not in shared), cells[-1])
    rest = sorted(set(cells) - {own})
    low, high = [(own, 0), (own, 1)], [(own, 2), (own, 3)]
    which = [number] if len(group) == 2 else []
    lows = [(cell, bit) for cell in rest for bit in (0, 1)]
    highs = [(cell, bit) for cell in rest for bit in (2, 3)]
    return low + which + high + lows + highs


def ones(bits):
    """Return what the constant bits add to a position."""
    return sum(1 << place for place, source in enumerate(bits) if source == 1)


def offsets(bits, cells, which=slice(None)):
    """Return what the exponents of some cells add to a position together: uint32[…].

    which: a slice of the 16 exponents of each cell; the first cell's run fastest.
    """
    places, exponents = np.zeros(1, np.uint32), np.arange(16, dtype=np.uint32)[which]
    for cell in reversed(cells):
        parts = [(exponents >> bit & 1) << bits.index((cell, bit)) for bit in range(4)]
        places = (places[:, None] + sum(parts)).ravel()
    return places
