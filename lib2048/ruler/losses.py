"""Where games are lost: how many large tiles stand then, and in which formation.

The large tiles of a board are so many that are all different and larger than all others.
"""

from collections import Counter

import numpy as np

from lib2048.endgame.formation import MOST
from lib2048.game.batch import exponents
from lib2048.game.bits import largest_exponent, symmetries
from lib2048.game.board import parts
from lib2048.play.evaluation import TEST_SEED, boards_of

ANY, OTHER = "any", "other"  # in place of a formation
LARGE = range(16 - MOST - 1, 9)  # how many large tiles are asked for: 13 free cells … 8


def leading(boards):
    """Return how many tiles of boards are different from each other and larger than all others.

    Args:
        boards: uint64[n].

    Returns:
        (int64[n] how many; int64[n, 16] the cells, the largest tile first).
    """
    tiles = exponents(boards).reshape(-1, 16).astype(np.int64)
    cells = np.argsort(-tiles, axis=1, kind="stable")
    tiles = np.take_along_axis(tiles, cells, axis=1)
    falls = np.hstack([tiles[:, :-1] > tiles[:, 1:], tiles[:, -1:] > 0])
    return np.where(falls.all(axis=1), 16, falls.argmin(axis=1)), cells


def formation_of(cells):
    """Return the name of the formation in which large tiles stand, "other" if in none.

    cells: their numbers.
    """
    names = map(_name, symmetries(np.uint64(sum(15 << 4 * int(cell) for cell in cells))))
    return max(filter(None, names), default=OTHER)


def _name(walls):
    """Return the free cells of each row, "" where they are not its leftmost ones."""
    rows = [int(walls) >> 16 * row & 0xFFFF for row in range(4)]
    free = [4 - row.bit_count() // 4 for row in rows]
    fits = all(row == 0xFFFF & 0xFFFF << 4 * n for row, n in zip(rows, free))
    return "".join(map(str, free)).rstrip("0") if fits else ""


def where_lost(who, games, before=(0, 20, 50, 100), below=32768, seed=TEST_SEED):
    """Let a player play games, and count in which formations those that are lost stand.

    Args:
        who: a player.
        games: how many.
        before: how many actions before the end the boards are looked at.
        below: a game counts as lost that ends without this tile.
        seed: of the games.

    Returns:
        (how many games are lost, {(actions before, number of large tiles, formation): games}); the
        formation "any" stands for all in which at least so many large tiles stand.
    """
    found, lost, least = Counter(), 0, int(below).bit_length() - 1
    for number in range(games):
        boards = [parts(board)[0] for board in boards_of(who, seed, number)]
        if largest_exponent(boards[-1]) >= least:
            continue
        lost += 1
        looked = [boards[max(0, len(boards) - 1 - turns)] for turns in before]
        for turns, many, cells in zip(before, *leading(looked)):
            for large in LARGE:
                if many >= large:
                    found[turns, large, ANY] += 1
                    found[turns, large, formation_of(cells[:large])] += 1
    return lost, dict(found)
