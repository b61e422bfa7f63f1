"""Many boards one action on, each by itself: for games in step, environments and neural networks.

`frontier` works on *sets* of boards; here board i stays number i.
"""

import numpy as np

from lib2048.game import rules_2048 as rules
from lib2048.game.bits import WHOLE, one_board, symmetries_kernel
from lib2048.game.tile_65536 import in_state
from lib2048.machine.kernels import kernel, part

ILLEGAL = np.float32(-np.inf)  # in place of the reward of an action that moves nothing
KINDS = 16  # of cells: empty, 2, 4, … 32768
CELLS = 16


@part
def slide_into(board, game, after, rewards):
    """Write a board's four afterstates (uint64[4]) and rewards (float32[4]); see `options`.

    game: as it is in this state, see `tile_65536.in_state`.
    """
    up, right, down, left, up_pays, right_pays, down_pays, left_pays = rules.slide(board, game)
    after[0], after[1], after[2], after[3] = up, right, down, left
    rewards[0] = np.float32(up_pays) if up != board else ILLEGAL
    rewards[1] = np.float32(right_pays) if right != board else ILLEGAL
    rewards[2] = np.float32(down_pays) if down != board else ILLEGAL
    rewards[3] = np.float32(left_pays) if left != board else ILLEGAL


@kernel
def _options(boards, words, game, after, rewards):
    for i in range(len(boards)):
        slide_into(boards[i], in_state(game, words[i]), after[i], rewards[i])


@kernel
def _one_hot(boards, out):
    for i in range(len(boards)):
        board = boards[i]
        for cell in range(CELLS):
            out[i, cell, board & np.uint64(15)] = 1
            board >>= np.uint64(4)


@kernel
def _exponents(boards, out):
    for i in range(len(boards)):
        board = boards[i]
        for cell in range(CELLS):
            out[i, cell] = board & np.uint64(15)
            board >>= np.uint64(4)


@kernel
def _images(boards, game, out):
    for i in range(len(boards)):
        out[i] = symmetries_kernel(boards[i], game)


def options(boards, game=WHOLE, words=None):
    """Return what the four actions make of many boards.

    Args:
        boards: uint64[n].
        words: of their states, uint64[n]; None: 0 each.

    Returns:
        (afterstates uint64[n, 4], rewards float32[n, 4]); the reward of an illegal action is
        ILLEGAL, −∞, so that the largest reward + value is always a legal one.
    """
    boards, words = as_states(boards, words, game)
    after = np.empty((len(boards), 4), np.uint64)
    rewards = np.empty((len(boards), 4), np.float32)
    game.bind(_options)(boards, words, game, after, rewards)
    return after, rewards


def worths(after, rewards, values_of, pays=1.0):
    """Return reward + value of every action: float32[n, 4], ILLEGAL where it is illegal.

    Args:
        after, rewards: as `options` returns them.
        values_of: a function from afterstates, uint64[m], to m numbers, asked once.
        pays: 1 where rewards count, 0 where the values speak of all.
    """
    legal, found = rewards != ILLEGAL, np.full(rewards.shape, ILLEGAL)
    found[legal] = pays * rewards[legal]
    found[legal] += np.asarray(values_of(after[legal]), np.float32)
    return found


def exponents(boards):
    """Unpack boards into the exponents of their tiles, row by row: uint8[n, 4, 4]."""
    boards = as_boards(boards)
    out = np.empty((len(boards), CELLS), np.uint8)
    _exponents(boards, out)
    return out.reshape(-1, 4, 4)


def one_hot(boards):
    """Encode boards as uint8[n, 4, 4, 16]: a 1 for what stands in a cell, 0 empty, 1 a 2, ….

    This is the 4×4×16 binary input of Guei et al. (2016) and Matsuzaki (2021, Fig. 4).
    """
    boards = as_boards(boards)
    out = np.zeros((len(boards), CELLS, KINDS), np.uint8)
    _one_hot(boards, out)
    return out.reshape(-1, 4, 4, KINDS)


def images(boards, game=WHOLE):
    """Return the eight symmetric boards of many: uint64[n, 8], each board itself first."""
    boards = as_boards(boards)
    out = np.empty((len(boards), 8), np.uint64)
    _images(boards, game, out)
    return out


def as_boards(boards):
    """Return boards as a contiguous uint64[n].

    Raises:
        ValueError: for what `bits.one_board` refuses.
    """
    given = boards if isinstance(boards, np.ndarray) else np.array(boards, object)
    if given.dtype.kind == "u" or given.dtype.kind == "i" and (given >= 0).all():
        return np.ascontiguousarray(given, np.uint64).reshape(-1)
    return np.array([one_board(one) for one in given.flat], np.uint64)


def check_cells(boards, game, what=""):
    """Look for tiles outside of a game's board.

    Args:
        boards: uint64, one or more.
        what: where they were found.

    Raises:
        ValueError: for such tiles.
    """
    if game.cells == WHOLE.cells:
        return
    boards = np.ravel(np.asarray(boards, np.uint64))
    if (outside := boards & ~(game.cells * np.uint64(15))).any():
        board, what = boards[outside > 0][0], what and f"{what}: "
        raise ValueError(f"{what}board {int(board):#x} has tiles outside of those of {game.name}")


def as_states(boards, words=None, game=WHOLE):
    """Return (boards, words) of a game's states, each as a contiguous uint64[n].

    words: None: 0 each.
    Raises ValueError for other numbers of words, for boards that are larger than the game's, and
    for what `as_boards` refuses.
    """
    boards = as_boards(boards)
    check_cells(boards, game)
    words = np.zeros(len(boards), np.uint64) if words is None else as_boards(words)
    if len(words) != len(boards):
        raise ValueError(f"{len(boards)} boards and {len(words)} words: give each board its own")
    return boards, words
