"""A board as one 64-bit integer: its cells, its symmetric images, a tile put into it.

Cell p (row-major, 0..15) sits at bits 4p..4p+3 and holds the exponent of its tile: 0 is empty,
in 2048 1 is a 2 and 11 a 2048.  Row r is the 16 bits from 16r on, its leftmost cell lowest.

A smaller board is kept in the upper left corner of the big one, the other cells empty for ever.
Up and Left are right as they are.  Right and Down pack the tiles against the far edge of the big
board: shifting all of them back by the missing columns or rows (`Game.right`, `Game.down`) puts
them where they belong.
"""

from numbers import Integral

import numpy as np

from lib2048.game.game import new_game
from lib2048.game.rng import below
from lib2048.machine.kernels import kernel, part

LARGEST_EXPONENT = 15  # that a cell holds; of the one tile above see `tile_65536`
WHOLE = new_game()  # 2048 on 4×4, with one 4 in ten
NUMBERED = np.uint64(0xFEDCBA9876543210)  # cell p holds the number p
ONES = np.uint64(0x1111111111111111)
BYTES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)

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
    nibbles = NIBBLES
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
def is_square(game):
    """Say whether a game has as many rows as columns."""
    return game.down == np.uint64(4) * game.right


@kernel
def turns(board, game):
    """Return a board, its mirror image, and both upside down: four uint64."""
    mirrored = mirror(board) >> game.right
    return board, mirrored, flip(board) >> game.down, flip(mirrored) >> game.down


@kernel
def symmetries_kernel(board, game=WHOLE):
    """Return the symmetric boards: uint64[8], the board itself first; see `symmetries`."""
    images = np.zeros(8, np.uint64)
    images[0], images[1], images[2], images[3] = turns(board, game)
    turned = transpose(board) if is_square(game) else board
    images[4], images[5], images[6], images[7] = turns(turned, game)
    return images


def one_board(board):
    """Return a board as np.uint64.

    Raises:
        ValueError: for a fraction, a number below 0, and one that `board.whole` has made of a board
            with a 65536.
    """
    if not isinstance(board, Integral):
        raise ValueError(f"boards are whole numbers of 64 bits, not {board!r}")
    if not 0 <= int(board) < 1 << 64:
        raise ValueError(
            f"{int(board):#x} is no board: an integer of 64 bits, from 0 on; of one with a 65536 "
            "give the two numbers that `board.parts` returns"
        )
    return np.uint64(board)


def symmetries(board, game=WHOLE):
    """Return the 8 boards that turning and mirroring make of one: uint64[8], itself first.

    A board that is not square has four images, and each is there twice.

    Raises:
        ValueError: for what `one_board` refuses.
    """
    return symmetries_kernel(one_board(board), game)


@kernel
def canonical(board, game):
    """Return the smallest of a board's symmetric images: equal for boards that play alike."""
    best = min(turns(board, game))
    return min(best, min(turns(transpose(board), game))) if is_square(game) else best


@kernel
def orbit_size(board, game):
    """Return how many different boards the symmetries make of one: 1, 2, 4 or 8."""
    same = np.int64(0)
    for image in symmetries_kernel(board, game):
        same += image == board
    return (8 if is_square(game) else 4) // (same if is_square(game) else same // 2)


# ---------------------------------------------------------------- cells


@kernel
def empty_mask(board):
    """Return a uint64 with a 1 in the lowest bit of each empty cell's four bits."""
    board |= board >> np.uint64(2)
    board |= board >> np.uint64(1)
    return ~board & ONES


@kernel
def place(board, cell_bits, exponent, game):
    """Put a tile into a random empty cell.

    board: uint64; cell_bits: uint64 random bits whose upper half chooses the cell; exponent:
    uint64; game: `Game`.  Returns uint64.  The board must have an empty cell.

    Multiplying the mask by 0x1111… counts, in each cell's four bits, the empty cells up to there;
    the chosen cell stands where that count first exceeds the chosen rank.  So the number of
    counts not above the rank *is* the cell: no loop, no branch, no table.
    """
    empty = empty_mask(board) & game.cells
    counts = empty * ONES
    if empty == ONES:
        cell = cell_bits >> np.uint64(60)  # 16 does not fit in four bits
    else:
        rank = below(cell_bits, counts >> np.uint64(60))
        ranks = (rank + np.uint64(0x80)) * BYTES
        even = ((ranks - (counts & NIBBLES)) & _HIGH) >> np.uint64(7)
        odd = ((ranks - ((counts >> np.uint64(4)) & NIBBLES)) & _HIGH) >> np.uint64(7)
        cell = ((even + odd) * BYTES) >> np.uint64(56)
    return board | (exponent << (cell << np.uint64(2)))


@part
def moved_lines(board, afterstate, action):
    """Return a bit for each line, a column of Up and Down or a row, that an action has moved."""
    change, lines = board ^ afterstate, np.uint64(0)
    if (action & np.uint64(1)) == np.uint64(0):
        change = transpose(change)
    for line in range(np.uint64(4)):
        row = (change >> (np.uint64(16) * line)) & np.uint64(0xFFFF)
        lines |= np.uint64(row != np.uint64(0)) << line
    return lines


@kernel
def largest_exponent(board):
    """Return the exponent of the largest tile.  uint64 → uint64."""
    largest = np.uint64(0)
    while board:
        largest = max(largest, board & np.uint64(15))
        board >>= np.uint64(4)
    return largest
