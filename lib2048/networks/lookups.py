"""Look-ups: from boards to positions in the tables, and from there to values.

Every tuple is looked up on the 8 symmetric images of the board, with the same weights, so a
network of m tuples sums 8·m look-ups (Jaśkowski 2018, section IV-B2).  Four boards are looked up
together: one for each action.
"""

import functools
import hashlib

import numpy as np
from numba import types

from lib2048.game.bits import flip, is_square, transpose
from lib2048.machine.kernels import at_once, compiled, kernel, part
from lib2048.machine.native import population, prefetch
from lib2048.networks.layout import layout
from lib2048.networks.stages import stage_kernel

BOARDS_AT_ONCE = 4  # a kernel looks up four boards together: one for each action
IMAGES = 8 * BOARDS_AT_ONCE

# ---------------------------------------------------------------- images of a board
# Turning a board turns its actions with it: what is Left on a board is Right on its mirror image.
# So Q(s, a) looks image s of the board up in the tables of the turned action.

TURNED = np.array(  # TURNED[image, action]: the action on that image, in the order of `symmetries`
    [
        [0, 1, 2, 3], [0, 3, 2, 1], [2, 1, 0, 3], [2, 3, 0, 1],
        [3, 2, 1, 0], [1, 2, 3, 0], [3, 0, 1, 2], [1, 0, 3, 2],
    ],
    np.uint64,
)  # fmt: skip


# Within each row of 16 bits, the low two bits of its four cells are brought together in one byte,
# their high two bits in the other ("planes").  Then a tuple's low bits can be cut out together.


@part
def _exchange(board, by, mask):
    """Exchange the bits of a mask with those `by` places above them."""
    swap = (board ^ (board >> by)) & mask
    return board ^ swap ^ (swap << by)


PAIRS = np.uint64(2), np.uint64(0x0C0C0C0C0C0C0C0C)  # within each byte
NIBBLES = np.uint64(4), np.uint64(0x00F000F000F000F0)  # within each row


@kernel
def planes(board):
    """Sort each row's bits into a byte of low pairs and a byte of high pairs.  uint64 → uint64."""
    return _exchange(_exchange(board, PAIRS[0], PAIRS[1]), NIBBLES[0], NIBBLES[1])


@kernel
def unplanes(board):
    """Undo `planes`.  uint64 → uint64."""
    return _exchange(_exchange(board, NIBBLES[0], NIBBLES[1]), PAIRS[0], PAIRS[1])


@kernel
def mirror_planes(board):
    """Mirror a board in planes left to right.  uint64 → uint64."""
    pairs, nibbles = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    board = ((board >> np.uint64(2)) & pairs) | ((board & pairs) << np.uint64(2))
    return ((board >> np.uint64(4)) & nibbles) | ((board & nibbles) << np.uint64(4))


@kernel
def image_boards(boards, at, images, game):
    """Write the 8 symmetric images, in planes, of four boards.

    boards: uint64[…], read from `at` on; images: uint64[32], image s of board a at 4s + a; game:
    `Game`.  A board that is not square has four images, and each is written twice.
    """
    right, down, square = game.right >> np.uint64(1), game.down, is_square(game)
    for a in range(BOARDS_AT_ONCE):
        board = boards[at + np.uint64(a)]
        x = planes(board)
        t = planes(transpose(board) if square else board)
        images[a] = x
        images[4 + a] = mirror_planes(x) >> right
        images[8 + a] = flip(x) >> down
        images[12 + a] = flip(mirror_planes(x) >> right) >> down
        images[16 + a] = t
        images[20 + a] = mirror_planes(t) >> right
        images[24 + a] = flip(t) >> down
        images[28 + a] = flip(mirror_planes(t) >> right) >> down


def plane_bit(cell, bit):
    """Return where bit 0..3 of a cell's exponent stands after `planes`."""
    row, column = divmod(cell, 4)
    return 16 * row + 8 * (bit // 2) + 2 * column + bit % 2


def _terms(bits):
    """Gather a position's bits into (shift right, mask, set of ones): few cuts instead of many."""
    masks, ones = {}, 0
    for place, source in enumerate(bits):
        if isinstance(source, int):
            ones |= source << place
        else:
            shift = plane_bit(*source) - place
            masks[shift] = masks.get(shift, 0) | 1 << place
    return sorted(masks.items()), ones


# ---------------------------------------------------------------- generated look-ups
# The cuts of a network are constants, so that the compiler can turn the loop into vector code:
# the same function with the constants in arrays is half as fast.

LOOK_SIGNATURE = types.void(types.uint64[::1], types.uint32[::1], types.uint64)


def look_source(tuples, layout=layout):
    """Return the text of the function that computes a network's positions.

    layout: where the weights lie, `layout` or `plain_layout`.

    The function look(images, positions, at) writes, for look-up l = 8·tuple + image of board a,
    position uint32 at positions[at + 4l + a].
    """
    head = "def look(images, positions, at):"
    lines = [head, f"    for j in range({IMAGES}):", "        b = images[j]"]
    for number, (bits, offset) in enumerate(layout(tuples)[1]):
        terms, ones = _terms(bits)
        cuts = [_cut(shift, mask) for shift, mask in terms]
        cuts += [f"np.uint64({ones + offset:#x})"] if ones + offset else []
        place = f"at + np.uint64({IMAGES * number} + j)"
        lines.append(f"        positions[{place}] = np.uint32({' | '.join(cuts)})")
    return "\n".join(lines) + "\n"


def _cut(shift, mask):
    arrow = ">>" if shift >= 0 else "<<"
    return f"((b {arrow} np.uint64({abs(shift)})) & np.uint64({mask:#x}))"


@functools.cache
def look_kernel(tuples, layout=layout):
    """Compile (or load from the cache) the positions of a network's look-ups.

    tuples: tuple of tuples of cells; layout: as in `look_source`.  Returns a compiled function of
    LOOK_SIGNATURE.
    """
    source = look_source(tuples, layout)
    name = f"look_{hashlib.sha256(source.encode()).hexdigest()[:12]}"
    names = {"np": np, "__name__": __name__}  # numba rebuilds cached functions in this module
    exec(compile(source, f"<{name}>", "exec"), names)
    look = names["look"]
    # Two cached functions of one name would share an address.
    look.__name__ = look.__qualname__ = name
    return at_once(LOOK_SIGNATURE, look)


# ---------------------------------------------------------------- value
# Look-up l of board a stands at positions[at + 4l + a] for the four boards that were looked up
# together, and at positions[at + l] for a board kept alone.  Sums are kept in four parts, look-up
# l in part l mod 4, joined as (0 + 1) + (2 + 3): the same order on every processor, so the same
# rounding.  The number n of look-ups is a multiple of 8.
#
# Between its sums a kernel asks the memory for other weights, those of the positions from `ahead`
# on: asked for all at once, they keep the processor waiting for longer.

VALUES_SIGNATURE = types.void(
    types.float32[::1],
    types.uint32[::1],
    types.uint64,
    types.uint64,
    types.float32[::1],
    types.uint64,
)
VALUE_SIGNATURE = types.float32(types.float32[::1], types.uint32[::1], types.uint64, types.uint64)


@compiled(VALUES_SIGNATURE)
def values_kernel(weights, positions, at, n, values, ahead):
    """Write the values of four boards into values[0..3].

    ahead: where the positions begin whose weights are asked for meanwhile; `at` asks for none.
    """
    asks, next_row = ahead != at, ahead - at
    for a in range(np.uint64(0), np.uint64(4)):
        p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for i in range(at + a, at + a + np.uint64(4) * n, np.uint64(16)):
            p += weights[positions[i]]
            q += weights[positions[i + np.uint64(4)]]
            r += weights[positions[i + np.uint64(8)]]
            s += weights[positions[i + np.uint64(12)]]
            if asks:
                j = i + next_row
                prefetch(weights, positions[j])
                prefetch(weights, positions[j + np.uint64(4)])
                prefetch(weights, positions[j + np.uint64(8)])
                prefetch(weights, positions[j + np.uint64(12)])
        values[a] = (p + q) + (r + s)


@compiled(VALUE_SIGNATURE)
def value_kernel(weights, positions, at, n):
    """Return the value of one board: the sum of its n weights."""
    p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(at, at + n, np.uint64(4)):
        p += weights[positions[i]]
        q += weights[positions[i + np.uint64(1)]]
        r += weights[positions[i + np.uint64(2)]]
        s += weights[positions[i + np.uint64(3)]]
    return (p + q) + (r + s)


# ---------------------------------------------------------------- stages
# A stage is an offset added to the positions.  With promotion a weight of a later stage that was
# never accessed is read from the stage below, without writing; training copies it on the first
# access.  "Never accessed" is judged by the weight being 0, as in the paper: a weight that was
# learned and is exactly 0 is read from below once more.

MARKS = np.uint64(64)  # look-ups that are marked together, a bit each


@part
def shift_to_stages(positions, at, count, size, first, second, third, fourth):
    """Move the positions of four boards that were looked up together into their stages."""
    p, q = np.uint32(first * size), np.uint32(second * size)
    r, s = np.uint32(third * size), np.uint32(fourth * size)
    for i in range(at, at + count, np.uint64(4)):
        positions[i] += p
        positions[i + np.uint64(1)] += q
        positions[i + np.uint64(2)] += r
        positions[i + np.uint64(3)] += s


@part
def stage_positions(boards, words, at, positions, first, count, stages):
    """Move the positions of four boards, boards[at …] with words[at …], into their stages."""
    two, three, four = at + np.uint64(1), at + np.uint64(2), at + np.uint64(3)
    p = stage_kernel(boards[at], words[at], stages.marks, stages.lowest)
    q = stage_kernel(boards[two], words[two], stages.marks, stages.lowest)
    r = stage_kernel(boards[three], words[three], stages.marks, stages.lowest)
    s = stage_kernel(boards[four], words[four], stages.marks, stages.lowest)
    shift_to_stages(positions, first, count, stages.size, p, q, r, s)


@part
def find_weights(weights, positions, at, count, stages):
    """Send each position to where a network in stages, to play by, has its weight."""
    if stages.line:
        read_packed(weights, positions, at, count, stages.line)
    elif stages.below:
        read_through(weights, positions, at, count, stages.below)


@part
def read_packed(weights, positions, at, count, line):
    """Send each position to where a packed network keeps it (see `packing`).

    line: bits of a place in its line.
    """
    within = (np.uint64(1) << line) - np.uint64(1)
    for i in range(at, at + count):
        place = np.uint64(positions[i])
        number = np.uint64(np.int32(weights[place >> line]))
        place = (number << line) | (place & within)
        positions[i] = np.uint32(place)
        prefetch(weights, place)


@part
def read_through(weights, positions, at, count, below):
    """Send each position whose weight was never accessed to the same weight one stage earlier.

    below: how far that is.  Those are few: they are marked first, 64 look-ups at a time, without a
    branch to mispredict.
    """
    for first in range(at, at + count, MARKS):
        unknown = np.uint64(0)
        for i in range(first, min(first + MARKS, at + count)):
            unknown |= np.uint64(weights[positions[i]] == np.float32(0)) << (i - first)
        while unknown:
            i = first + population(~unknown & (unknown - np.uint64(1)))  # zeros below the lowest
            place = np.uint64(positions[i])
            if place >= below:
                positions[i] = np.uint32(place - below)
                prefetch(weights, place - below)
            unknown &= unknown - np.uint64(1)


@part
def promote(weights, positions, at, n, stage, below):
    """Copy the weights of a board of some stage that were read from the stage before it."""
    first = stage * below
    for i in range(at, at + n):
        place = np.uint64(positions[i])
        if place < first:
            if weights[place + below] == np.float32(0):  # not learned since it was looked up
                weights[place + below] = weights[place]
            positions[i] = np.uint32(place + below)


# ---------------------------------------------------------------- reading alone


@kernel
def read_all(table, positions):
    """Read entries and add them up, in four independent sums: the floor of `lib2048 bench`."""
    p, q, r, s = table[0], table[0], table[0], table[0]
    for i in range(np.uint64(0), np.uint64(len(positions)), np.uint64(4)):
        p += table[positions[i]]
        q += table[positions[i + np.uint64(1)]]
        r += table[positions[i + np.uint64(2)]]
        s += table[positions[i + np.uint64(3)]]
    return (p + q) + (r + s)
