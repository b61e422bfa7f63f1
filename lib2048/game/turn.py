"""A turn: whether there is one, and the luck that ends it, told what an action moved."""

import numpy as np

from lib2048.game import rules_2048 as rules
from lib2048.game.bits import moved_lines
from lib2048.game.tile_65536 import carried
from lib2048.machine.kernels import kernel, part


@kernel
def is_stuck(board, game):
    """Say whether no action is legal in a state."""
    up, right, down, left, _, _, _, _ = rules.slide(board, game)
    return up == board and right == board and down == board and left == board


@part
def next_state(board, word, action, after, luck, game):
    """Let luck put something into the afterstate that an action made of a state.

    All are uint64, game a `Game`.  Returns (board, word, reward, luck), see `Rules.spawn`.
    """
    word = carried(board, word, action, game)
    return rules.spawn(after, word, action, moved_lines(board, after, action), luck, game)


@part
def next_states(board, word, action, after, game, boards, words, weights):
    """List all that luck can make of it in boards, words and weights; see `Rules.outcomes`.

    Returns (count, total): an outcome's chance is its weight / total.
    """
    moved = moved_lines(board, after, action)
    return rules.outcomes(after, word, action, moved, game, boards, words, weights, np.uint64(0))
