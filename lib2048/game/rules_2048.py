"""The rules of 2048, once to be fast: a table for each row's slide, a tile by a few instructions.

`spec` has the same rules once to be read.  What a rules module has to hold says `game`.
"""

import functools

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT, WHOLE, canonical, empty_mask, place, transpose
from lib2048.game.rng import chance, draw
from lib2048.game.rows import slid_rows
from lib2048.machine.kernels import kernel, part

NAME, OPTIONS = "2048", ("four",)
MOST_OUTCOMES = np.uint64(32)  # 2 tiles in 16 cells
SHOWN, SEEN_BITS, SEEN, MOST_WORD = (), np.uint64(0), np.uint64(0), 0  # see `tile_65536`

# ---------------------------------------------------------------- slide tables


def _slide_rows_left(cells, apart):
    """Slide many rows at once to the left: uint8[n, 4] exponents → (uint8[n, 4], reward[n]).

    apart: whether two of the largest stay apart, or merge into one of them and pay for the next.
    """
    cells, reward = _packed(cells), np.zeros(len(cells), np.uint64)
    for i in range(3):
        merge = (cells[:, i] == cells[:, i + 1]) & (cells[:, i] > 0)
        merge &= (cells[:, i] < LARGEST_EXPONENT) | (not apart)
        made = cells[merge, i] + 1
        cells[merge, i], cells[merge, i + 1] = np.minimum(made, LARGEST_EXPONENT), 0
        reward[merge] += np.uint64(1) << made.astype(np.uint64)
        cells = _packed(cells)
    return cells, reward


def _packed(cells):
    """Move the empty cells of each row to its right end, the others keeping their order."""
    order = np.argsort(cells == 0, axis=1, kind="stable")
    return np.take_along_axis(cells, order, axis=1)


def _slide_table(apart):
    """Return uint64[65536]: a row's slide left (bits 0–15), right (16–31) and reward (from 32)."""
    way = functools.partial(_slide_rows_left, apart=apart)
    left, right, reward, _ = slid_rows(way)  # both ways earn the same
    return left | right << np.uint64(16) | reward << np.uint64(32)


SLIDES = _slide_table(True)  # two 32768s stay apart, see `Game.apart`
MERGING = _slide_table(False)  # the same where they merge: on any board without a 65536


# ---------------------------------------------------------------- sliding


@kernel
def slide_rows(board, apart=False):
    """Slide every row both ways at once.

    board: uint64; apart: see `Game`.  Returns (slid left, slid right, reward), uint64 each; both
    ways earn the same.
    """
    left, right, reward = np.uint64(0), np.uint64(0), np.uint64(0)
    slides = SLIDES if apart else MERGING
    for shift in (np.uint64(0), np.uint64(16), np.uint64(32), np.uint64(48)):
        entry = slides[(board >> shift) & np.uint64(0xFFFF)]
        left |= (entry & np.uint64(0xFFFF)) << shift
        right |= ((entry >> np.uint64(16)) & np.uint64(0xFFFF)) << shift
        reward += entry >> np.uint64(32)
    return left, right, reward


@kernel
def slide_one(board, action, game=WHOLE):
    """Slide a board by one action.

    board: uint64; action: uint64 0..3 (Up, Right, Down, Left).  Returns (afterstate, reward),
    uint64 each; an illegal action returns the board itself and 0.
    """
    upright = (action & np.uint64(1)) == np.uint64(0)
    rows = transpose(board) if upright else board
    half = np.uint64(0 if action == np.uint64(0) or action == np.uint64(3) else 16)
    slid, reward = np.uint64(0), np.uint64(0)
    slides = SLIDES if game.apart else MERGING
    for shift in (np.uint64(0), np.uint64(16), np.uint64(32), np.uint64(48)):
        entry = slides[(rows >> shift) & np.uint64(0xFFFF)]
        slid |= ((entry >> half) & np.uint64(0xFFFF)) << shift
        reward += entry >> np.uint64(32)
    slid = transpose(slid) if upright else slid
    back = game.right if action == np.uint64(1) else np.uint64(0)
    return slid >> (game.down if action == np.uint64(2) else back), reward


@kernel
def slide(board, game=WHOLE):
    """Slide a board by all four actions.

    board: uint64.  Returns (up, right, down, left, and the reward of each), uint64 each; an illegal
    action returns the board itself and 0.
    """
    left, right, across = slide_rows(board, game.apart)
    up, down, along = slide_rows(transpose(board), game.apart)
    right, down = right >> game.right, transpose(down) >> game.down
    return transpose(up), right, down, left, along, across, along, across


# ---------------------------------------------------------------- spawning


@kernel
def spawn_with(board, bits, game=WHOLE):
    """Spawn a 2 or, with the game's chance, a 4 in an empty cell, by 64 random bits.  → uint64."""
    return place(board, bits, np.uint64(1) + np.uint64(chance(bits, game.fours)), game)


@part
def spawn_tile(board, luck, game=WHOLE):
    """Spawn a tile, see `spawn_with`; return (board, luck)."""
    luck, bits = draw(luck)
    return spawn_with(board, bits, game), luck


@part
def begin(luck, game=WHOLE):
    """Begin a game: two spawned tiles; return (board, word 0, luck), uint64 each."""
    board, luck = spawn_tile(np.uint64(0), luck, game)
    board, luck = spawn_tile(board, luck, game)
    return board, np.uint64(0), luck


def starts(game):
    """Return {(board, word): chance} of all that a game can begin with, as ints and floats."""
    found = {(0, 0): 1.0}
    for _ in range(2):
        found, before = {}, found
        for (board, _), way in before.items():
            for share, state in game.outcomes(board):
                found[int(state), 0] = found.get((int(state), 0), 0.0) + way * share
    return found


@part
def spawn(afterstate, word, action, moved, luck, game=WHOLE):
    """Spawn a tile, see `spawn_tile`; return (board, word, reward 0, luck), uint64 each."""
    board, luck = spawn_tile(afterstate, luck, game)
    return board, word, np.uint64(0), luck


@kernel
def outcomes(afterstate, word, action, moved, game, boards, words, weights, at):
    """List what luck can put in: in each empty cell a 2 and a 4; return (count, empty cells).

    Writes uint64 boards[at …] and float64 weights[at …], the chance of each tile, which is not 0;
    words stay 0.
    """
    empty, cells, last = empty_mask(afterstate) & game.cells, 0, at
    while empty:
        cell = empty & (~empty + np.uint64(1))
        empty ^= cell
        cells += 1
        if game.four < 1:
            boards[last], weights[last] = afterstate | cell, 1 - game.four
            last += np.uint64(1)
        if game.four > 0:
            boards[last], weights[last] = afterstate | (cell << np.uint64(1)), game.four
            last += np.uint64(1)
    return last - at, cells


@part
def image(afterstate, word, action, moved, game):
    """Return an afterstate that plays like this one, the same for all images, and its key."""
    board, zero = canonical(afterstate, game), np.uint64(0)
    return board, zero, zero, zero, board


@part
def points(board):
    """Return what the tiles of a board are worth: nothing, only merges pay."""
    return np.uint64(0)


def tile(exponent):
    """Return the tile of an exponent: 0 for an empty cell, else 2, 4, 8 …"""
    return 1 << int(exponent) if exponent else 0
