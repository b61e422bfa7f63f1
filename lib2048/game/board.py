"""A board as one 64-bit integer: slides, spawns and symmetries in a few machine instructions.

Cell p (row-major, 0..15) sits at bits 4p..4p+3 and holds the exponent of its tile: 0 is empty,
1 is a 2, 11 is a 2048.  Row r is therefore the 16 bits from 16r on, its leftmost cell lowest.
"""

from typing import NamedTuple

import numpy as np

from lib2048.game.rng import below, chance, draw
from lib2048.game.spec import ACTIONS, DOWN, LEFT, RIGHT, UP
from lib2048.machine.kernels import kernel

__all__ = ["ACTIONS", "DOWN", "LEFT", "RIGHT", "UP"]

EMPTY = np.uint64(0)
LARGEST_EXPONENT = 15
FOUR_THRESHOLD = np.uint64(429496730)  # 0.1 · 2^32, rounded
_ONES = np.uint64(0x1111111111111111)
_BYTES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_LOW_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)


# ---------------------------------------------------------------- slide tables


def _slide_rows_left(cells):
    """Slide many rows at once to the left: uint8[n, 4] exponents → (uint8[n, 4], reward[n])."""
    cells, reward = _packed(cells), np.zeros(len(cells), np.uint64)
    for i in range(3):
        merge = (cells[:, i] == cells[:, i + 1]) & (cells[:, i] > 0)
        merge &= cells[:, i] < LARGEST_EXPONENT
        cells[merge, i] += 1
        cells[merge, i + 1] = 0
        reward[merge] += np.uint64(1) << cells[merge, i].astype(np.uint64)
        cells = _packed(cells)
    return cells, reward


def _packed(cells):
    """Move the empty cells of each row to its right end, the others keeping their order."""
    order = np.argsort(cells == 0, axis=1, kind="stable")
    return np.take_along_axis(cells, order, axis=1)


def _slide_table():
    """Return uint64[65536]: a row's slide left (bits 0–15), right (16–31) and reward (from 32)."""
    rows = np.arange(1 << 16, dtype=np.uint64)
    shifts = np.arange(0, 16, 4, dtype=np.uint64)
    cells = (rows[:, None] >> shifts & np.uint64(15)).astype(np.uint8)
    left, reward = _slide_rows_left(cells)
    right = _slide_rows_left(cells[:, ::-1])[0][:, ::-1]

    def number(cells):
        return (cells.astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)

    return number(left) | number(right) << np.uint64(16) | reward << np.uint64(32)


SLIDES = _slide_table()


# ---------------------------------------------------------------- smaller boards
# A smaller board is kept in the upper left corner of the big one, the other cells empty for ever.
# Up and Left are right as they are.  Right and Down pack the tiles against the far edge of the
# big board: shifting all of them back by the missing columns or rows puts them where they belong.


class Grid(NamedTuple):
    """A board's size, as the numbers that kernels need; see `grid`."""

    right: np.uint64  # bits to shift back after a slide to the right
    down: np.uint64  # bits to shift back after a slide down
    cells: np.uint64  # a 1 in the lowest bit of each of its cells' four bits


def grid(rows=4, columns=4):
    """Return the `Grid` of a board size.  Raises ValueError outside 1 … 4."""
    if not (1 <= rows <= 4 and 1 <= columns <= 4):
        raise ValueError(f"a board of {rows}x{columns}: use 1 to 4 rows and columns")
    cells = sum(1 << 4 * (4 * row + column) for row in range(rows) for column in range(columns))
    return Grid(np.uint64(4 * (4 - columns)), np.uint64(16 * (4 - rows)), np.uint64(cells))


WHOLE = grid()

# ---------------------------------------------------------------- symmetries


@kernel
def transpose(board):
    """Mirror the board at its main diagonal: rows become columns.  uint64 → uint64."""
    keep = board & np.uint64(0xF0F00F0FF0F00F0F)
    up = board & np.uint64(0x0000F0F00000F0F0)
    down = board & np.uint64(0x0F0F00000F0F0000)
    board = keep | (up << np.uint64(12)) | (down >> np.uint64(12))
    keep = board & np.uint64(0xFF00FF0000FF00FF)
    up = board & np.uint64(0x00000000FF00FF00)
    down = board & np.uint64(0x00FF00FF00000000)
    return keep | (up << np.uint64(24)) | (down >> np.uint64(24))


@kernel
def mirror(board):
    """Mirror the board left to right: each row is reversed.  uint64 → uint64."""
    nibbles = _LOW_NIBBLES
    board = ((board & nibbles) << np.uint64(4)) | ((board >> np.uint64(4)) & nibbles)
    octets = np.uint64(0x00FF00FF00FF00FF)
    return ((board & octets) << np.uint64(8)) | ((board >> np.uint64(8)) & octets)


@kernel
def flip(board):
    """Turn the board upside down: the order of its rows is reversed.  uint64 → uint64."""
    board = (board << np.uint64(32)) | (board >> np.uint64(32))
    rows = np.uint64(0x0000FFFF0000FFFF)
    return ((board & rows) << np.uint64(16)) | ((board >> np.uint64(16)) & rows)


@kernel
def is_square(grid):
    """Say whether a grid has as many rows as columns."""
    return grid.down == np.uint64(4) * grid.right


@kernel
def turns(board, grid):
    """Return a board, its mirror image, and both upside down: four uint64."""
    mirrored = mirror(board) >> grid.right
    return board, mirrored, flip(board) >> grid.down, flip(mirrored) >> grid.down


@kernel
def symmetries_kernel(board, grid=WHOLE):
    """Return the symmetric boards: uint64[8], the board itself first; see `symmetries`."""
    images = np.zeros(8, np.uint64)
    images[0], images[1], images[2], images[3] = turns(board, grid)
    turned = transpose(board) if is_square(grid) else board
    images[4], images[5], images[6], images[7] = turns(turned, grid)
    return images


def symmetries(board, grid=WHOLE):
    """Return the 8 boards that turning and mirroring make of one: uint64[8], itself first.

    A board that is not square has four images, and each is there twice.
    """
    return symmetries_kernel(np.uint64(board), grid)


@kernel
def canonical(board, grid):
    """Return the smallest of a board's symmetric images: equal for boards that play alike."""
    best = min(turns(board, grid))
    return min(best, min(turns(transpose(board), grid))) if is_square(grid) else best


@kernel
def orbit_size(board, grid):
    """Return how many different boards the symmetries make of one: 1, 2, 4 or 8."""
    same = np.int64(0)
    for image in symmetries_kernel(board, grid):
        same += image == board
    return (8 if is_square(grid) else 4) // (same if is_square(grid) else same // 2)


# ---------------------------------------------------------------- sliding


@kernel
def slide_rows(board):
    """Slide every row both ways at once.

    board: uint64.  Returns (slid left, slid right, reward), uint64 each; both ways earn the same.
    """
    left, right, reward = np.uint64(0), np.uint64(0), np.uint64(0)
    for shift in (np.uint64(0), np.uint64(16), np.uint64(32), np.uint64(48)):
        entry = SLIDES[(board >> shift) & np.uint64(0xFFFF)]
        left |= (entry & np.uint64(0xFFFF)) << shift
        right |= ((entry >> np.uint64(16)) & np.uint64(0xFFFF)) << shift
        reward += entry >> np.uint64(32)
    return left, right, reward


@kernel
def slide_one(board, action):
    """Slide a board by one action.

    board: uint64; action: uint64 0..3 (Up, Right, Down, Left).  Returns (afterstate, reward),
    uint64 each; an illegal action returns the board itself and 0.
    """
    upright = (action & np.uint64(1)) == np.uint64(0)
    rows = transpose(board) if upright else board
    half = np.uint64(0 if action == np.uint64(0) or action == np.uint64(3) else 16)
    slid, reward = np.uint64(0), np.uint64(0)
    for shift in (np.uint64(0), np.uint64(16), np.uint64(32), np.uint64(48)):
        entry = SLIDES[(rows >> shift) & np.uint64(0xFFFF)]
        slid |= ((entry >> half) & np.uint64(0xFFFF)) << shift
        reward += entry >> np.uint64(32)
    return (transpose(slid) if upright else slid), reward


@kernel
def slide_all(board):
    """Slide a board by all four actions.

    board: uint64.  Returns (up, right, down, left, reward of up and down, reward of right and
    left), uint64 each.
    """
    left, right, across = slide_rows(board)
    up, down, along = slide_rows(transpose(board))
    return transpose(up), right, transpose(down), left, along, across


@kernel
def slide_all_in(board, grid):
    """Slide a board of a grid by all four actions; see `slide_all`."""
    up, right, down, left, along, across = slide_all(board)
    return up, right >> grid.right, down >> grid.down, left, along, across


# ---------------------------------------------------------------- spawning


@kernel
def empty_mask(board):
    """Return a uint64 with a 1 in the lowest bit of each empty cell's four bits."""
    board |= board >> np.uint64(2)
    board |= board >> np.uint64(1)
    return ~board & _ONES


@kernel
def place(board, cell_bits, exponent, grid):
    """Put a tile into a random empty cell.

    board: uint64; cell_bits: uint64 random bits whose upper half chooses the cell; exponent:
    uint64; grid: `Grid`.  Returns uint64.  The board must have an empty cell.

    Multiplying the mask by 0x1111… counts, in each cell's four bits, the empty cells up to there;
    the chosen cell stands where that count first exceeds the chosen rank.  So the number of
    counts not above the rank *is* the cell: no loop, no branch, no table.
    """
    empty = empty_mask(board) & grid.cells
    counts = empty * _ONES
    if empty == _ONES:
        cell = cell_bits >> np.uint64(60)  # 16 does not fit in four bits
    else:
        rank = below(cell_bits, counts >> np.uint64(60))
        ranks = (rank + np.uint64(0x80)) * _BYTES
        even = ((ranks - (counts & _LOW_NIBBLES)) & _HIGH) >> np.uint64(7)
        odd = ((ranks - ((counts >> np.uint64(4)) & _LOW_NIBBLES)) & _HIGH) >> np.uint64(7)
        cell = ((even + odd) * _BYTES) >> np.uint64(56)
    return board | (exponent << (cell << np.uint64(2)))


@kernel
def spawn_with(board, bits, grid=WHOLE):
    """Spawn a 2 (90 %) or a 4 (10 %) in an empty cell, chosen by 64 random bits.  → uint64."""
    return place(board, bits, np.uint64(1) + np.uint64(chance(bits, FOUR_THRESHOLD)), grid)


@kernel
def spawn_kernel(board, state, grid=WHOLE):
    """Spawn a tile; return (board, next random state), uint64 each."""
    state, bits = draw(state)
    return spawn_with(board, bits, grid), state


@kernel
def initial_kernel(state, grid=WHOLE):
    """Begin a game: two spawned tiles; return (board, next random state), uint64 each."""
    board, state = spawn_kernel(np.uint64(0), state, grid)
    return spawn_kernel(board, state, grid)


# ---------------------------------------------------------------- for people


def from_tiles(rows):
    """Pack four rows of four tiles (0, 2, 4 … 32768) into a board.

    rows: nested sequence or array.  Returns np.uint64.  Raises ValueError for another size or a
    tile that is no power of two.
    """
    try:
        rows = [list(row) for row in rows]
    except TypeError:
        rows = []
    if [len(row) for row in rows] != [4, 4, 4, 4]:
        raise ValueError("a board has 4 rows of 4 tiles; smaller boards live in lib2048.spec")
    cells = [_exponent(tile) for row in rows for tile in row]
    return np.uint64(sum(exponent << 4 * cell for cell, exponent in enumerate(cells)))


def _exponent(tile):
    tile = _whole(tile)
    exponent = tile.bit_length() - 1 if tile else 0
    if tile < 0 or tile == 1 or exponent > LARGEST_EXPONENT or (tile and tile != 1 << exponent):
        raise ValueError(f"{tile} is not a tile: use 0 for an empty cell, or 2, 4, 8 … 32768")
    return exponent


def _whole(tile):
    try:
        if int(tile) == tile:
            return int(tile)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{tile!r} is not a tile: use 0 for an empty cell, or 2, 4, 8 … 32768")


def to_exponents(board):
    """Unpack a board into its 16 exponents, row by row: uint8[16]."""
    return np.array([int(board) >> 4 * cell & 15 for cell in range(16)], np.uint8)


def to_tiles(board):
    """Unpack a board into four lists of four tiles, 0 for an empty cell."""
    tiles = [1 << int(e) if e else 0 for e in to_exponents(board)]
    return [tiles[row : row + 4] for row in range(0, 16, 4)]


def to_text(board):
    """Write a board as four lines of tiles, a dot for an empty cell."""
    rows = ("".join(f"{tile or '.':>6}" for tile in row) for row in to_tiles(board))
    return "\n".join(rows)


def slide(board, action, grid=WHOLE):
    """Slide a board by one action (0..3: Up, Right, Down, Left).

    Returns (afterstate np.uint64, reward int).  An illegal action returns the board itself and 0.
    Raises ValueError for another action.
    """
    if action not in (0, 1, 2, 3):
        raise ValueError(f"action {action!r}: use 0 Up, 1 Right, 2 Down or 3 Left")
    afterstate, reward = slide_one(np.uint64(board), np.uint64(action))
    back = (0, grid.right, grid.down, 0)[action]  # see Grid
    return np.uint64(afterstate) >> np.uint64(back), int(reward)


def afterstates(board, grid=WHOLE):
    """Return [(action, afterstate, reward)] of the legal actions, in the order of the actions."""
    slid = ((action, *slide(board, action, grid)) for action in range(4))
    return [(action, after, reward) for action, after, reward in slid if after != np.uint64(board)]


def spawn(board, state, grid=WHOLE):
    """Spawn a 2 (90 %) or a 4 (10 %) in a random empty cell; return (board, next state).

    board, state: uint64 (see `rng.stream`).  Raises ValueError when no cell is empty.
    """
    if not empty_mask(np.uint64(board)) & grid.cells:
        raise ValueError("this board is full: there is no cell to spawn a tile in")
    board, state = spawn_kernel(np.uint64(board), np.uint64(state), grid)
    return np.uint64(board), np.uint64(state)


def initial(state, grid=WHOLE):
    """Begin a game: an empty board with two spawned tiles; return (board, next state)."""
    board, state = initial_kernel(np.uint64(state), grid)
    return np.uint64(board), np.uint64(state)


def count_empty(board):
    """Return the number of empty cells."""
    return int((to_exponents(board) == 0).sum())


def max_exponent(board):
    """Return the exponent of the largest tile, 0 for an empty board."""
    return int(to_exponents(board).max())


def tile_sum(board):
    """Return the sum of the tiles."""
    return sum(map(sum, to_tiles(board)))


def is_over(board, grid=WHOLE):
    """Say whether no action is legal."""
    return not afterstates(board, grid)
