"""The 65536, which the four bits of a cell cannot hold: where it stands, and what follows from it.

Two 32768s merge into a 65536.  On the board that is a 15, as a 32768 is, and the word of the state
says its cell: 1 + the cell's number, 0 while there is none.  While there is none, two 15s merge
into a 15 and pay 65536; from then on they stay apart (`in_state`).  So a slide is one look-up a row
as before, and networks, which know no more than 15s, see a 32768 there.

These are the rules of 2048 until a board has a 65536 and two 32768s: those do not merge, and of two
65536s that one action makes the second counts as a 32768.  A game comes there only beyond 1.8
million points.
"""

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT, ONES, largest_exponent
from lib2048.game.game import Game
from lib2048.machine.kernels import kernel, part

EXPONENT = LARGEST_EXPONENT + 1
TILE = 1 << EXPONENT
ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)
_FIFTEEN = np.uint64(LARGEST_EXPONENT)
_FAMILY = ZERO  # the number of 2048's rules, the only ones that know this tile


@part
def in_state(game, word):
    """Return a game as it slides in a state with this word."""
    apart = game.apart or word != ZERO
    return Game(game.right, game.down, game.cells, game.fours, game.four, game.family, apart)


@part
def carried(board, word, action, game):
    """Return the word after an action (uint64) has slid the board of a state with this word.

    That of another game than 2048 is left as it is.
    """
    pairs = board & (board >> ONE)
    fifteens = pairs & (pairs >> np.uint64(2)) & ONES
    if game.family == _FAMILY and (word or fifteens & (fifteens - ONE)):
        return _followed(board, word, action, game)
    return word


@kernel
def _followed(board, word, action, game):
    """Slide a board tile by tile and return where its 65536 is then, as its word says it."""
    found = ZERO
    upright, back = action & ONE == ZERO, action == ONE or action == np.uint64(2)
    length = FOUR - ((game.down >> FOUR) if upright else (game.right >> np.uint64(2)))
    for line in range(FOUR):
        filled, last = ZERO, ZERO  # cells that are full; the tile that may still merge, or 0
        for i in range(length):
            here = _number(line, i, upright, back, length)
            exponent = board >> (here << np.uint64(2)) & _FIFTEEN
            if exponent == ZERO:
                continue
            the_one = here + ONE == word
            merges = exponent == last and not the_one and (exponent < _FIFTEEN or word == ZERO)
            filled += ZERO if merges else ONE
            last = ZERO if merges or the_one else exponent
            if the_one or merges and exponent == _FIFTEEN:
                place = ONE + _number(line, filled - ONE, upright, back, length)
                found = place if found == ZERO else min(found, place)
    return found


@part
def _number(line, i, upright, back, length):
    """Return the number of a line's cell i, counted from the edge that tiles slide to."""
    at = length - ONE - i if back else i
    return FOUR * at + line if upright else FOUR * line + at


@part
def largest(board, word, game):
    """Return the exponent of the largest tile of a state, uint64: 16 where a 65536 stands."""
    if game.family == _FAMILY and word:
        return np.uint64(EXPONENT)
    return largest_exponent(board)
