"""Boards for people: from tiles and back, one step of a game at a time, every argument checked.

A game is a `Game` or its name, such as "2048@3x4".

A board is one 64-bit integer (see `bits`); 0 is an empty cell, 1 a 2, 11 a 2048.  The one tile that
needs more bits, a 65536, is a 15 whose cell the word of the state tells (see `tile_65536`).  Where
only a board is shown or given, that word may stand above its 64 bits: see `whole` and `parts`.
"""

from numbers import Integral

import numpy as np

from lib2048.game.batch import check_cells
from lib2048.game.bits import LARGEST_EXPONENT, WHOLE, empty_mask, one_board, symmetries
from lib2048.game.game import parse_game
from lib2048.game.rules_2048 import spawn_with
from lib2048.game.spec import ACTIONS, DOWN, LEFT, RIGHT, UP
from lib2048.game.tile_65536 import EXPONENT, TILE, carried
from lib2048.game.turn import next_state as _answer

__all__ = ["ACTIONS", "DOWN", "LEFT", "RIGHT", "UP", "WHOLE", "spawn_with", "symmetries"]


def from_tiles(rows, game=WHOLE):
    """Pack rows of tiles, 0 for an empty cell, into a board.

    Args:
        rows: nested sequence or array, of the game's own size: four rows of four in 2048.
        game: a `Game`, or its name: "2048@3x4".

    Returns:
        np.uint64; with a 65536 on it the integer of more bits that `whole` returns.

    Raises:
        ValueError: for another size, a tile that is none of this game's, and a second 65536.
    """
    game = parse_game(game)
    try:
        rows = [list(row) for row in rows]
    except TypeError:
        rows = []
    if [len(row) for row in rows] != [game.columns] * game.rows:
        raise ValueError(
            f"a board of {game.name} has {game.rows} rows of {game.columns} tiles; "
            'for one of another size say which game it is, such as game="2048@3x4"'
        )
    tiles = tiles_of(game)
    cells = ((4 * r + c, tile) for r, row in enumerate(rows) for c, tile in enumerate(row))
    exponents = {cell: _exponent(tile, tiles) for cell, tile in cells}
    large = [cell for cell, exponent in exponents.items() if exponent > LARGEST_EXPONENT]
    if len(large) > 1:
        raise ValueError(f"a board holds one {TILE} at most")
    packed = (min(e, LARGEST_EXPONENT) << 4 * cell for cell, e in exponents.items())
    return whole(np.uint64(sum(packed)), large[0] + 1 if large else 0, game)


def tiles_of(game):
    """Return what is written on the tiles of a game, by exponent: in 2048 up to the 65536."""
    top = EXPONENT if game.rules is WHOLE.rules else LARGEST_EXPONENT
    return [game.tile(exponent) for exponent in range(top + 1)]


def whole(board, word=0, game=WHOLE):
    """Return a state of 2048 as one integer, by which a 65536 is shown.

    Args:
        board, word: of the state, uint64.

    Returns:
        np.uint64, the board itself; where a 65536 stands an int, with the word above its 64 bits.
    """
    if not word or game.rules is not WHOLE.rules:
        return np.uint64(board)
    return int(word) << 64 | int(board)


def parts(board, word=0):
    """Return (board, word) of a state, np.uint64 each, whose word may stand above the board's bits.

    Raises:
        ValueError: for an integer that is no board.
    """
    if isinstance(board, np.uint64):
        return board, np.uint64(word)
    above = int(board) >> 64 if isinstance(board, Integral) else 0
    if not 0 <= above <= 16 or above and int(board) >> 4 * (above - 1) & 15 != LARGEST_EXPONENT:
        raise ValueError(f"{int(board):#x} is no board: 64 bits, and above them where a {TILE} is")
    return one_board(int(board) & (1 << 64) - 1 if above else board), np.uint64(above or word)


def word_after(board, word, action, game=WHOLE):
    """Return the word of a state once an action (0..3) has slid its board."""
    return np.uint64(carried(np.uint64(board), np.uint64(word), np.uint64(action), game))


def _exponent(tile, tiles):
    try:
        return tiles.index(tile)
    except (TypeError, ValueError):
        first, last = ", ".join(map(str, tiles[1:4])), tiles[-1]
        raise ValueError(
            f"{tile!r} is not a tile: use 0 for an empty cell, or {first} … {last}"
        ) from None


def to_exponents(board):
    """Unpack a board into its 16 exponents, row by row: uint8[16]; 16 is a 65536, see `whole`."""
    board, word = parts(board)
    found = np.array([int(board) >> 4 * cell & 15 for cell in range(16)], np.uint8)
    if word:
        found[int(word) - 1] = EXPONENT
    return found


def to_tiles(board, game=WHOLE):
    """Unpack a board into the rows of its game, each a list of tiles, 0 for an empty cell.

    Raises:
        ValueError: for tiles outside of the game's board.
    """
    game = parse_game(game)
    check_cells(parts(board)[0], game)
    tiles = [game.tile(e) for e in to_exponents(board)]
    return [tiles[row : row + game.columns] for row in range(0, 4 * game.rows, 4)]


def to_text(board, game=WHOLE):
    """Write a board as lines of tiles, a dot for an empty cell."""
    rows = ("".join(f"{tile or '.':>6}" for tile in row) for row in to_tiles(board, game))
    return "\n".join(rows)


def slide(board, action, game=WHOLE, word=0):
    """Slide a board by one action (0..3: Up, Right, Down, Left).

    Args:
        word: of the state; a 65536 may as well be told as `whole` tells it.

    Returns:
        (afterstate np.uint64, reward int).  An illegal action returns the board itself and 0.

    Raises:
        ValueError: for another action, and for tiles outside of the game's board.
    """
    if action not in (0, 1, 2, 3):
        raise ValueError(f"action {action!r}: use 0 Up, 1 Right, 2 Down or 3 Left")
    (board, word), game = parts(board, word), parse_game(game)
    check_cells(board, game)
    game = game._replace(apart=True) if word else game
    afterstate, reward = game.rules.slide_one(board, np.uint64(action), game)
    return np.uint64(afterstate), int(reward)


def afterstates(board, game=WHOLE, word=0):
    """Return [(action, afterstate, reward)] of the legal actions, in the order of the actions."""
    board, word = parts(board, word)
    slid = ((action, *slide(board, action, game, word)) for action in range(4))
    return [(action, after, reward) for action, after, reward in slid if after != board]


def spawn(board, luck, game=WHOLE):
    """Spawn a 2 (90 %) or a 4 (10 %) in a random empty cell; return (board, next luck).

    Args:
        board, luck: uint64 (see `rng.stream`).

    Raises:
        ValueError: when no cell is empty, and for what `bits.one_board` refuses.
    """
    game = parse_game(game)
    if game.rules.SHOWN:
        raise ValueError(f"{game.name}: what comes depends on the action, so say next_state(…)")
    board = one_board(board)
    check_cells(board, game)
    if not empty_mask(board) & game.cells:
        raise ValueError("this board is full: there is no cell to spawn a tile in")
    zero = np.uint64(0)
    board, _, _, luck = game.rules.spawn(board, zero, zero, zero, np.uint64(luck), game)
    return np.uint64(board), np.uint64(luck)


def initial(luck, game=WHOLE):
    """Begin a game: an empty board with two spawned tiles; return (board, next luck)."""
    board, _, luck = begin(luck, game)
    return board, luck


def begin(luck, game=WHOLE):
    """Begin a game: return (board, word, next luck); see `Rules.begin`."""
    game = parse_game(game)
    board, word, luck = game.rules.begin(np.uint64(luck), game)
    return np.uint64(board), np.uint64(word), np.uint64(luck)


def next_state(board, word, action, luck, game=WHOLE):
    """Let luck answer an action: return (board, word, points, next luck).

    Args:
        board, word: of the state, uint64; its word is 0 in 2048 until there is a 65536.
        action: 0..3, a legal one.

    Raises:
        ValueError: for another action, and one that is not legal.
    """
    game = parse_game(game)
    board, word = parts(board, word)
    after, _ = slide(board, action, game, word)
    if after == board:
        raise ValueError(f"action {ACTIONS[action]} is not legal on this board")
    state = map(np.uint64, (board, word, action, after, luck))
    board, word, points, luck = game.bind(_answer)(*state, game)
    return np.uint64(board), np.uint64(word), int(points), np.uint64(luck)


def is_over(board, game=WHOLE, word=0):
    """Say whether no action is legal."""
    return not afterstates(board, game, word)


def count_empty(board):
    """Return the number of empty cells."""
    return int((to_exponents(board) == 0).sum())


def max_exponent(board):
    """Return the exponent of the largest tile, 0 for an empty board."""
    return int(to_exponents(board).max())


def tile_sum(board):
    """Return the sum of the tiles."""
    return sum(map(sum, to_tiles(board)))
