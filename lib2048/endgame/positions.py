"""All positions of a formation in one order, layer by layer, and the number of each.

A layer holds the positions of one tile sum.  The free cells are split into two halves, those of
rows 0 and 2 and those of rows 1 and 3.  A half with its tiles has a code, its cells as digits, and
a place among all halves of its sum.  So a position's number is found by adding three numbers from
tables, and no list of positions is kept:

    number = where the layer begins, and in it the first half's sum
           + place of the first half · how many second halves have the sum that is left
           + place of the second half

Tile sums are counted in 2s here: a 2 weighs 1, a 4 weighs 2.

Where the large tiles may move, a wall is one more thing that a cell can hold.  It weighs more than
all else together, so that halves of one weight have as many walls as each other, and only the
weights with the right number of walls are layers.  One position stands for all 8 images of it: the
`canonical` one.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.endgame.formation import WALL
from lib2048.game.bits import WHOLE, canonical
from lib2048.game.rows import SHIFTS
from lib2048.game.rules_2048 import SLIDES, slide_one
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import population

BLOCK = 256  # positions whose marks are counted together; a layer begins with a block
CODE_BITS = 27  # of a half
CODE, MOVED, BAD, WON = (np.uint64(bits) for bits in ((1 << CODE_BITS) - 1, 54, 57, 60))
SECOND, THREE = np.uint64(CODE_BITS), np.uint64(7)
LOW = (1 << 32) - 1
WALLED = WHOLE._replace(apart=True)  # no two walls merge
STAY = 4  # in `Positions.lines`, what stands now
_ONE, _LINE = np.uint64(1), np.uint64(0xFFFF)


class Half(NamedTuple):
    """One half of the free cells, with all that can stand there, by sum.

    Attributes:
        rows: uint64[n], the two rows: bits of the board, in order of their sum.
        codes: int64[n], the code of each.
        places: int64[n], by code: sum << 32 | place among those of its sum.
        first: int64[sums + 1], where each sum begins in `rows`.
        shifts: int64[cells], where each free cell stands in the board.
        units: int64[cells], what an exponent of 1 there adds to the code.
    """

    rows: types.uint64[::1]
    codes: types.int64[::1]
    places: types.int64[::1]
    first: types.int64[::1]
    shifts: types.int64[::1]
    units: types.int64[::1]


class Positions(NamedTuple):
    """The order of all positions of a formation.

    Attributes:
        one, two: the two `Half`s.
        begins: int64[layers + 1], the number that each layer begins with.
        offsets: int64[layers, sums of the first half], see above.
        lines: uint64[5, 4, 65536]: by action, line and the line's bits, what it slides to: the
            codes of both halves, and above them a 1 each if it moved, lets a wall move, or wins;
            after the actions, of the rows as they stand.
        cells: uint64[n], the bit at which each cell stands in the board where something may change.
        units: uint64[n], what an exponent of 1 there adds to the codes of both halves.
        free: whether walls may move; base: what the walls that may move weigh.
    """

    one: Half
    two: Half
    begins: types.int64[::1]
    offsets: types.int64[:, ::1]
    lines: types.uint64[:, :, ::1]
    cells: types.uint64[::1]
    units: types.uint64[::1]
    free: bool
    base: int


def positions_of(formation):
    """Return the `Positions` of a `Formation`.  Raises ValueError where a half is too large."""
    digits = formation.exponent + formation.free
    cells = [[c for c in formation.cells if c // 4 % 2 == half] for half in (0, 1)]
    if digits ** max(map(len, cells)) > CODE:
        raise ValueError(f"formation {formation.name} with target {formation.target} is too large")
    tiles = np.array([0, *(1 << np.arange(formation.exponent - 1))])  # in 2s
    most = formation.small * int(tiles[-1])
    wall, base = 16 * int(tiles[-1]) + 1, 0
    if formation.free:
        tiles, base = np.append(tiles, wall), formation.large * wall
    one, two = (_half(part, tiles) for part in cells)
    counts = [np.diff(half.first) for half in (one, two)]
    layers = most + 1
    offsets = np.zeros((layers, len(counts[0])), np.int64)
    begins = np.zeros(layers + 1, np.int64)
    for total in range(layers):
        left = base + total - np.arange(len(counts[0]))
        fits = (left >= 0) & (left < len(counts[1]))
        sizes = np.where(fits, counts[0] * counts[1][np.where(fits, left, 0)], 0)
        offsets[total] = begins[total] + np.cumsum(sizes) - sizes
        begins[total + 1] = -(-(begins[total] + sizes.sum()) // BLOCK) * BLOCK
    shifts = np.concatenate([one.shifts, two.shifts]).astype(np.uint64)
    units = np.concatenate([one.units, two.units << CODE_BITS]).astype(np.uint64)
    lines = _lines(formation, shifts, units)
    return Positions(one, two, begins, offsets, lines, shifts, units, formation.free, base)


def _half(cells, tiles):
    """Return the `Half` of some cells; tiles: int64[n], what each thing that stands there weighs,
    first nothing, then the tiles, last a wall that may move."""
    exponents = np.arange(len(tiles), dtype=np.uint64)
    if tiles[-1] > 2 * tiles[-2]:
        exponents[-1] = WALL
    weights, rows, units = np.zeros(1, np.int64), np.zeros(1, np.uint64), []
    for cell in cells:
        units.append(len(tiles) ** len(units))
        shifted = exponents << np.uint64(4 * cell)
        weights = (tiles[:, None] + weights).ravel()
        rows = (shifted[:, None] | rows).ravel()
    order = np.argsort(weights, kind="stable")
    first = np.searchsorted(weights[order], np.arange(weights.max() + 2))
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - first[weights[order]]
    return Half(
        rows[order],
        order,
        weights << 32 | places,
        first,
        np.array([4 * cell for cell in cells], np.int64),
        np.array(units, np.int64),
    )


def _lines(formation, shifts, units):
    """Return `Positions.lines`: Up, Right, Down, Left, stay; a column's bits are those of the
    transposed board's row."""
    bits = np.arange(1 << 16, dtype=np.uint64)
    toward = SLIDES & np.uint64(0xFFFF), SLIDES >> np.uint64(16) & np.uint64(0xFFFF)
    units = dict(zip((shifts // np.uint64(4)).tolist(), units))
    lines = np.zeros((5, 4, 1 << 16), np.uint64)
    for action in range(5):
        slid = bits if action == STAY else toward[action in (1, 2)]
        exponents = slid[:, None] >> SHIFTS & np.uint64(15)
        for line in range(4):
            rows = action % 2 or action == STAY
            along = [4 * line + i if rows else 4 * i + line for i in range(4)]
            found, bad, won = (np.zeros(1 << 16, np.uint64) for _ in range(3))
            for cell, exponent in zip(along, exponents.T):
                if cell in units:
                    wall = formation.free & (exponent == WALL)
                    found += np.where(wall, np.uint64(formation.exponent), exponent) * units[cell]
                    won |= exponent == formation.exponent
                    bad |= (exponent > formation.exponent) & ~wall
                else:
                    bad |= exponent != WALL
            found = np.where(won | bad, np.uint64(0), found)
            found |= (slid != bits).astype(np.uint64) << MOVED
            lines[action, line] = found | bad << BAD | won << WON
    return lines


# ---------------------------------------------------------------- numbers


@part
def number(positions, one, two):
    """Return the number of a position by the places of its halves, see `Half`."""
    weight, left = one >> 32, two >> 32
    count = positions.two.first[left + 1] - positions.two.first[left]
    total = weight + left - positions.base
    return positions.offsets[total, weight] + (one & LOW) * count + (two & LOW)


@part
def beginning(positions, total, i):
    """Return the first number of a layer's positions whose first half is the i-th or a later."""
    one = positions.one.places[positions.one.codes[i]]
    return number(positions, one, (positions.base + total - (one >> 32)) << 32)


def halves_in(positions, total):
    """Return the first and the last + 1 of the first halves that a layer's positions have."""
    one, two, total = positions.one.first, positions.two.first, positions.base + total
    low, high = max(0, total - (len(two) - 2)), min(total, len(one) - 2)
    return int(one[low]), int(one[high + 1])


# ---------------------------------------------------------------- marks, and what they count


class Marked(NamedTuple):
    """A set of positions.

    Attributes:
        marks: uint64, a bit for each number.
        counts: uint32, how many marks stand before each block of `BLOCK`.
    """

    marks: types.uint64[::1]
    counts: types.uint32[::1]


def none_marked(positions):
    """Return an empty set of positions."""
    blocks = int(positions.begins[-1]) // BLOCK + 1
    return Marked(np.zeros(blocks * BLOCK // 64, np.uint64), np.zeros(blocks + 1, np.uint32))


def span(positions, marked, total):
    """Return the ranks at which a layer's marked positions begin and end."""
    blocks = positions.begins[total : total + 2] // BLOCK
    return tuple(int(marked.counts[block]) for block in blocks)


@kernel
def count_marks(marked, first, last):
    """Fill the counts after the blocks first … last − 1; that of `first` is there."""
    for block in range(first, last):
        found = marked.counts[block]
        for word in range(4 * block, 4 * block + 4):
            found += population(marked.marks[word])
        marked.counts[block + 1] = found


def check_marked(positions, marked, count):
    """Raise ValueError for marks that are no set of so many of these positions."""
    counted, last = none_marked(positions), int(positions.begins[-1]) // BLOCK
    fits = all(a.shape == b.shape for a, b in zip(marked, counted))
    if fits:
        count_marks(Marked(marked.marks, counted.counts), 0, last)
        fits = np.array_equal(marked.counts[: last + 1], counted.counts[: last + 1])
    if not fits or counted.counts[last] != count:
        raise ValueError("its marks do not fit its values")


@part
def is_marked(marked, place):
    """Say whether the position of this number is marked."""
    return (marked.marks[place >> 6] >> np.uint64(place & 63)) & _ONE != 0


@part
def rank(marked, place):
    """Return how many marked positions stand before this number.  → int64"""
    word, found = place >> 6, np.uint64(marked.counts[place >> 8])
    for other in range(word & ~3, word):
        found += population(marked.marks[other])
    return np.int64(
        found + population(marked.marks[word] & ((_ONE << np.uint64(place & 63)) - _ONE))
    )


@part
def members(positions, marked, total, first, last, end):
    """List the marked positions of a layer whose first half is one of first … last − 1.

    end: the number that the others begin with.  Returns (rank of the first of them, uint32[n] the
    first halves, uint32[n] the second halves).
    """
    one, two, at = positions.one, positions.two, 0
    before = rank(marked, beginning(positions, total, first))
    found = rank(marked, end) - before
    ones, twos = np.empty(found, np.uint32), np.empty(found, np.uint32)
    for i in range(first, last):
        left = positions.base + total - (one.places[one.codes[i]] >> 32)
        place = begin = beginning(positions, total, i)
        stop = begin + two.first[left + 1] - two.first[left]
        while place < stop:
            shift = place & 63
            bits = min(64 - shift, stop - place)
            word = marked.marks[place >> 6] >> np.uint64(shift)
            if bits < 64:
                word &= (_ONE << np.uint64(bits)) - _ONE
            while word:
                low = population((word & (~word + _ONE)) - _ONE)
                ones[at], twos[at] = i, two.first[left] + place - begin + np.int64(low)
                at += 1
                word &= word - _ONE
            place += bits
    return before, ones, twos


# ---------------------------------------------------------------- sliding


@part
def slid(lines, board, turned, action):
    """Return what the lines say of an action, see `Positions.lines`.

    turned: the transposed board.
    """
    rows = board if action % 2 or action == STAY else turned
    found = lines[action, 0, rows & _LINE] + lines[action, 1, (rows >> np.uint64(16)) & _LINE]
    found += lines[action, 2, (rows >> np.uint64(32)) & _LINE]
    return found + lines[action, 3, rows >> np.uint64(48)]


@part
def after(positions, board, turned, action):
    """Return what an action makes of a position, as `slid` does, of the canonical afterstate where
    walls may move."""
    if not positions.free:
        return slid(positions.lines, board, turned, action)
    moved = slide_one(board, np.uint64(action), WALLED)[0]
    if moved == board:
        return np.uint64(0)
    return _canonical_code(positions, moved) | _ONE << MOVED


@part
def after_spawn(positions, board, code, cell, tile):
    """Return what a spawn makes of an afterstate, with its codes, as `after` does.

    cell: a place in `Positions.cells`; tile: 1, a 2, or 2, a 4.
    """
    if not positions.free:
        return code + np.uint64(tile) * positions.units[cell]
    return _canonical_code(positions, board | np.uint64(tile) << positions.cells[cell])


@part
def standing(positions, board):
    """Return what `slid` says of a position as it stands, canonical where walls may move."""
    return _canonical_code(positions, board) if positions.free else _code(positions, board)


@part
def _canonical_code(positions, board):
    return _code(positions, canonical(board, WHOLE))


@part
def _code(positions, board):
    return slid(positions.lines, board, board, STAY)


@part
def is_legal(found):
    """Say whether something moved, and no wall did."""
    return (found >> MOVED) & THREE != 0 and (found >> BAD) & THREE == 0


@part
def has_won(found):
    """Say whether the target stands."""
    return (found >> WON) & THREE != 0


@part
def number_after(positions, found):
    """Return the number of the afterstate."""
    one, two = positions.one.places, positions.two.places
    return number(positions, one[found & CODE], two[(found >> SECOND) & CODE])
