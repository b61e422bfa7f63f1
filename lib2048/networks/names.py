"""The names of networks: from '4x6' or '42-33' to tuples of cells.

A tuple is a list of cells.  A shape can be placed systematically: everywhere on the board, places
that are symmetric to each other counted once (Jaśkowski 2018, section IV-B2).  What stands behind
an @ is the game; a game has one spelling there, see `with_game`.
"""

import itertools

import numpy as np

from lib2048.game.bits import WHOLE, canonical
from lib2048.game.game import FAMILIES, agreed, parse_game
from lib2048.machine.terminal import meant
from lib2048.networks.neural import POLICY, VALUE_NETWORKS, check_name

LONGEST_TUPLE = 7
NAMED = {
    "4x6": "012345,456789,012456,45689a",
    "8x6": "012456,456789,012345,234569,01259a,345678,134567,01489a",
}
SHAPES = {
    "42": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)),
    "33": ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)),
    "43": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)),
    "421": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0)),
    "4": ((0, 0), (0, 1), (0, 2), (0, 3)),
    "22": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "3": ((0, 0), (0, 1), (0, 2)),
}
OFFERED = (*NAMED, "42-33", "42-33-4-22-3", *VALUE_NETWORKS, POLICY)  # of the names, some


def parse_network(name):
    """Turn a network's name into its tuples of cells.

    Another game or a smaller board is written behind an @: '42-33@3x4', 'cells:012456@2x3'; its
    cells keep their numbers on the 4×4 board.

    Args:
        name: '4x6', '8x6', which are for 4×4, shapes placed systematically such as '42-33-4-22-3',
            or 'cells:' and tuples of hexadecimal cells, 'cells:012345,456789'.

    Returns:
        tuple of tuples of ints 0..15.

    Raises:
        ValueError: for anything else.
    """
    check_name(name)
    first, game = name.partition("@")[0], game_of(name)
    if first in NAMED and game.cells != WHOLE.cells:
        how = "take shapes, such as 42-33@3x4, or name its cells"
        raise ValueError(f"network {name!r}: {first} is for 4x4: {how}")
    if first in NAMED or first.startswith("cells:"):
        words = NAMED.get(first, first.removeprefix("cells:"))
        tuples = tuple(map(_parse_tuple, words.split(",")))
        _check_cells(name, tuples, game)
        return tuples
    shapes = first.split("-")
    if all(shape in SHAPES for shape in shapes) and len(set(shapes)) == len(shapes):
        return tuple(itertools.chain.from_iterable(placements(shape, game) for shape in shapes))
    how = (
        f": use {', '.join(NAMED)}, shapes out of {' '.join(SHAPES)} such as 42-33, "
        "cells:012345,456789, or a neural one such as cnn22"
    )
    raise ValueError(f"unknown network {name!r}{meant(first, OFFERED) or how}")


def game_of(name):
    """Return the `Game` that a network's name asks for: what follows its @, or 2048.

    That is the name of a game, as `parse_game` reads it, or the size of a smaller board.
    """
    _, at, game = name.partition("@")
    named = game.replace("@", ":").partition(":")[0] in [rules.NAME for rules in FAMILIES]
    return parse_game(game if named else f"{WHOLE.name}@{game}") if at else WHOLE


def with_game(name, game=None):
    """Return the one name of a network: 2048 on 4×4 goes without saying, its other boards by size.

    game: a `Game` or its name, for a name that says none, by default 2048; where the name says one,
    it has to be the same.  Raises ValueError, in one line, where it is not.
    """
    check_name(name)
    first, at, _ = name.partition("@")
    own = game_of(name)
    if at or game is None:
        game = agreed(f"network {name}", own, game)
    game = parse_game(game)
    said = game.name.removeprefix(f"{WHOLE.name}@")
    return first if game == WHOLE else f"{first}@{said}"


def _check_cells(name, tuples, game):
    outside = set(itertools.chain(*tuples)) - set(game.places)
    if outside:
        size = f"a board of {game.rows}x{game.columns}"
        raise ValueError(f"network {name!r}: {size} has no cell {min(outside):x}")


def _parse_tuple(word):
    if not word or any(digit not in "0123456789abcdefABCDEF" for digit in word):
        raise ValueError(f"tuple {word!r}: write each cell as one hexadecimal digit, 0 to f")
    cells = tuple(int(digit, 16) for digit in word)
    if len(set(cells)) < len(cells):
        raise ValueError(f"tuple {word!r} names a cell twice")
    if len(cells) > LONGEST_TUPLE:
        raise ValueError(f"tuple {word!r} has {len(cells)} cells; {LONGEST_TUPLE} is the most here")
    return cells


def placements(shape, game=WHOLE):
    """Place a named shape everywhere on a game's board, symmetric places counted once.

    shape: a key of SHAPES.  Returns a list of tuples of cells; of each class of symmetric places
    the one met first, row by row, is kept (on 4×4, 42 has 3 places, 33 has 2, 22 has 3).  Raises
    ValueError, in one line, where it fits nowhere.
    """
    cells, places = SHAPES[shape], {}  # by what is equal for symmetric places
    upright = tuple((column, row) for row, column in cells)  # an image only of a square board
    for variant in (cells, upright):
        for down, right in itertools.product(range(game.rows), range(game.columns)):
            moved = [(row + down, column + right) for row, column in variant]
            if all(row < game.rows and column < game.columns for row, column in moved):
                place = tuple(4 * row + column for row, column in moved)
                board = np.uint64(sum(1 << 4 * cell for cell in place))
                places.setdefault(canonical(board, game), place)
    if not places:
        raise ValueError(
            f"shape {shape} has no room on a board of {game.rows}x{game.columns}: leave it out"
        )
    return list(places.values())


def word(cells):
    """Return a tuple's cells as hexadecimal digits."""
    return "".join(f"{cell:x}" for cell in cells)
