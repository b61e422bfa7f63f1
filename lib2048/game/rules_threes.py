"""The rules of Threes!, once to be fast; `spec_threes` has them once to be read.

Exponents 1, 2 and 3 are the tiles 1, 2 and 3; from there on each is twice the one before it: 15 is
12288.  A state's word says, from its lowest bit on, in two bits what is *shown* (0, 1, 2: a 1, a 2,
a 3 comes next; 3: a bonus card), then in three bits each how many 1s, 2s and 3s are left in the
deck.  All are 0 when it is empty, and where nobody counts the cards (`SEEN`): each is as likely.
"""

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT, ONES, WHOLE, largest_exponent, place, transpose
from lib2048.game.rng import also_below, below, draw, mix
from lib2048.game.rows import slid_rows
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import population

NAME, OPTIONS = "threes", ()
MOST_OUTCOMES = np.uint64(144)  # 9 bonus cards in 4 places, and 4 cards shown next
SHOWN = ("1", "2", "3", "bonus")
SEEN_BITS, SEEN, MOST_WORD = np.uint64(2), np.uint64(3), (1 << 11) - 1

ZERO, ONE, THREE = np.uint64(0), np.uint64(1), np.uint64(3)
BONUS, FIRST_BONUS = np.uint64(3), np.uint64(4)  # as it is shown; exponent of the smallest, a 6
BONUS_GAP = np.uint64(3)  # exponents from the largest bonus card to the largest tile: an eighth
BONUS_IN = np.uint64(21)  # one card in so many
CARDS, CARD_BITS = np.uint64(3), np.uint64(3)  # kinds; bits of a count
FULL = np.uint64(4 | 4 << 3 | 4 << 6)
_SEVENS = np.uint64(0x7777777777777777)
_EIGHTS = np.uint64(0x8888888888888888)

# ---------------------------------------------------------------- slides


def _slide_rows_left(cells):
    """Slide many rows one step: uint8[n, 4] exponents → (uint8[n, 4], log3 of the reward[n])."""
    new, gain = cells.copy(), np.zeros(len(cells), np.uint8)
    still = np.ones(len(cells), bool)
    for i in range(3):
        one, other = cells[:, i], cells[:, i + 1]
        three = (one + other == 3) & (one > 0) & (other > 0)
        equal = (one == other) & (one >= 3) & (one < LARGEST_EXPONENT)
        here = still & ((one == 0) | three | equal)
        new[here, i] = np.where(three, 3, np.where(equal, one + 1, other))[here]
        new[here, i + 1 : 3], new[here, 3] = cells[here, i + 2 :], 0
        gain[here] = np.where(three, 1, np.where(equal, one - 2, 0))[here]
        still &= ~here
    return new, gain


def _slide_table():
    """Return uint64[65536]: a row slid left (bits 0–15) and right, then four bits for each pay."""
    left, right, left_pays, right_pays = slid_rows(_slide_rows_left)
    return left | right << np.uint64(16) | left_pays << np.uint64(32) | right_pays << np.uint64(36)


SLIDES = _slide_table()
POINTS = np.array([0, *(3**k for k in range(1, 16))], np.uint64)


@kernel
def _slide_rows(board, right):
    """Slide every row both ways at once; return (slid left, slid right, the reward of each).

    right: bits from the right edge of the board to that of the 4×4 board.
    """
    to_left, to_right, left_pays, right_pays = ZERO, ZERO, ZERO, ZERO
    moved = board << right
    for shift in (np.uint64(0), np.uint64(16), np.uint64(32), np.uint64(48)):
        entry = SLIDES[(board >> shift) & np.uint64(0xFFFF)]
        to_left |= (entry & np.uint64(0xFFFF)) << shift
        left_pays += POINTS[(entry >> np.uint64(32)) & np.uint64(15)]
        entry = SLIDES[(moved >> shift) & np.uint64(0xFFFF)]
        to_right |= ((entry >> np.uint64(16)) & np.uint64(0xFFFF)) << shift
        right_pays += POINTS[entry >> np.uint64(36)]
    return to_left, to_right >> right, left_pays, right_pays


@kernel
def slide(board, game=WHOLE):
    """Slide a board by all four actions; see `game.Rules`."""
    left, right, left_pays, right_pays = _slide_rows(board, game.right)
    up, down, up_pays, down_pays = _slide_rows(transpose(board), game.down >> np.uint64(2))
    return transpose(up), right, transpose(down), left, up_pays, right_pays, down_pays, left_pays


@kernel
def slide_one(board, action, game=WHOLE):
    """Slide a board by one action; see `game.Rules`."""
    slid = slide(board, game)
    return slid[action], slid[action + np.uint64(4)]


# ---------------------------------------------------------------- cards


@part
def _bonus_kinds(board):
    """Return how many kinds of bonus card may come; none below a 48."""
    large = (board | ((board & _SEVENS) + ONES)) & _EIGHTS  # a cell of 7 or more
    return largest_exponent(board) - BONUS_GAP - THREE if large else ZERO


@part
def _left(deck, card):
    """Return how many of a card (0, 1, 2) are left in a deck."""
    return (deck >> (CARD_BITS * card)) & np.uint64(7)


@part
def _size(deck):
    """Return how many cards are left in a deck."""
    return _left(deck, ZERO) + _left(deck, ONE) + _left(deck, np.uint64(2))


@part
def _draw_card(board, deck, bits):
    """Draw the next card by 64 random bits: return the word, what is shown and the deck then."""
    if _bonus_kinds(board) and below(bits, BONUS_IN) == ZERO:
        return BONUS | deck << SEEN_BITS
    deck = deck if deck else FULL
    rank, card = also_below(bits, _size(deck)), ZERO
    while rank >= _left(deck, card):
        rank -= _left(deck, card)
        card += ONE
    return card | (deck - (ONE << CARD_BITS * card)) << SEEN_BITS


@part
def begin(luck, game=WHOLE):
    """Begin a game: cards from the deck in 9 of 16 cells; return (board, word, luck)."""
    board, word, cells = ZERO, ZERO, (game.cells * ONES) >> np.uint64(60)
    cells = cells if game.cells != ONES else np.uint64(16)
    for _ in range((cells * np.uint64(9)) >> np.uint64(4)):
        luck, bits = draw(luck)
        word = _draw_card(ZERO, word >> SEEN_BITS, bits)
        luck, bits = draw(luck)
        board = place(board, bits, (word & SEEN) + ONE, game)
    luck, bits = draw(luck)
    return board, _draw_card(ZERO, word >> SEEN_BITS, bits), luck


def starts(game):
    """Return {(board, word): chance} of all that a game can begin with, as ints and floats."""
    cells = [4 * cell for cell in range(16) if int(game.cells) >> 4 * cell & 1]
    found = {(0, int(FULL) << 2): 1.0}
    for left in range(len(cells) * 9 // 16, -1, -1):
        found, before = {}, found
        for (board, word), chance in before.items():
            for card, share, then in _drawn(word >> 2):
                free = [cell for cell in cells if not board >> cell & 15] if left else [None]
                for cell in free:
                    new = board if cell is None else board | card + 1 << cell
                    state = new, (card if not left else 0) | then << 2
                    found[state] = found.get(state, 0.0) + chance * share / len(free)
    return found


def _drawn(deck):
    """Return [(card, its chance, the deck without it)] of a deck; no bonus card is in it."""
    left = [deck >> 3 * card & 7 for card in range(3)]
    return [(c, n / sum(left), deck - (1 << 3 * c)) for c, n in enumerate(left) if n]


@part
def _entry(action, line, game):
    """Return the lowest bit of the cell where a card enters behind a line that an action moved."""
    if action & ONE:
        edge = np.uint64(12) - game.right if action == THREE else ZERO
        return np.uint64(16) * line + edge
    return np.uint64(4) * line + (np.uint64(48) - game.down if action == ZERO else ZERO)


@part
def spawn(afterstate, word, action, moved, luck, game=WHOLE):
    """Let the shown card enter, and draw the next; return (board, word, its points, luck)."""
    luck, bits = draw(luck)
    rank, line = below(bits, population(moved)), ZERO
    while line < THREE and (rank or not moved >> line & ONE):
        rank -= moved >> line & ONE
        line += ONE
    card = (word & SEEN) + ONE
    if card > BONUS:
        card = FIRST_BONUS + also_below(bits, _bonus_kinds(afterstate))
    board = afterstate | card << _entry(action, line, game)
    luck, bits = draw(luck)
    return board, _draw_card(board, word >> SEEN_BITS, bits), _points_of(card), luck


@kernel
def outcomes(afterstate, word, action, moved, game, boards, words, weights, at):
    """List what luck can do; see `game.Rules`: each line that moved, each card, each one next."""
    shown, deck, last = word & SEEN, word >> SEEN_BITS, at
    first, kinds = shown + ONE, ONE
    if shown == BONUS:
        first, kinds = FIRST_BONUS, _bonus_kinds(afterstate)
    full = deck if deck else FULL
    total = np.float64(_size(full))
    for line in range(np.uint64(4)):
        for kind in range(kinds if moved >> line & ONE else ZERO):
            board = afterstate | (first + kind) << _entry(action, line, game)
            rare = 1 / np.float64(BONUS_IN) if _bonus_kinds(board) else 0.0
            for now in range(CARDS + ONE):
                weight = (1 - rare) * np.float64(_left(full, now)) / total
                new = full - (ONE << CARD_BITS * now)
                if now == BONUS:
                    weight, new = rare, deck
                if weight > 0:
                    boards[last], words[last] = board, now | new << SEEN_BITS
                    weights[last] = weight / np.float64(kinds)
                    last += ONE
    return last - at, population(moved)


@part
def image(afterstate, word, action, moved, game):
    """Return the same four, and a key.  Symmetric boards are not brought together here.

    Keys of states that differ are different but for one chance in 2^64.
    """
    key = mix(mix(word | action << np.uint64(16) | moved << np.uint64(20)) ^ afterstate)
    return afterstate, word, action, moved, key


# ---------------------------------------------------------------- what tiles are


@part
def _points_of(exponent):
    return POINTS[exponent - np.uint64(2)] if exponent >= THREE else ZERO


@kernel
def points(board):
    """Return what the tiles of a board are worth."""
    total = ZERO
    while board:
        total += _points_of(board & np.uint64(15))
        board >>= np.uint64(4)
    return total


def tile(exponent):
    """Return the tile of an exponent: 0 for an empty cell, 1, 2, 3, then 6, 12 …"""
    return int(exponent) if exponent < 3 else 3 << int(exponent) - 3
