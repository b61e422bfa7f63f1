"""The names of networks: from '4x6' or '42-33' to tuples of cells.

A tuple is a list of cells.  A shape can be placed systematically: everywhere on the board, places
that are symmetric to each other counted once (Jaśkowski 2018, section IV-B2).
"""

import itertools

import numpy as np

from lib2048.game.bits import WHOLE, canonical
from lib2048.game.game import FAMILIES, parse_game

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


def parse_network(name):
    """Turn a network's name into its tuples of cells.

    Another game or a smaller board is written behind an @: 'cells:012456@2x3'; its cells keep their
    numbers on the 4×4 board.

    Args:
        name: '4x6', '8x6', shapes placed systematically such as '42-33-4-22-3', or 'cells:' and
            tuples of hexadecimal cells, 'cells:012345,456789'.

    Returns:
        tuple of tuples of ints 0..15.

    Raises:
        ValueError: for anything else.
    """
    name, _, game = name.partition("@")
    if game:
        return _parse_elsewhere(name, game)
    if name in NAMED or name.startswith("cells:"):
        words = NAMED.get(name, name.removeprefix("cells:"))
        return tuple(map(_parse_tuple, words.split(",")))
    shapes = name.split("-")
    if all(shape in SHAPES for shape in shapes) and len(set(shapes)) == len(shapes):
        return tuple(itertools.chain.from_iterable(map(placements, shapes)))
    raise ValueError(
        f"unknown network {name!r}: use {', '.join(NAMED)}, shapes out of {' '.join(SHAPES)} "
        "such as 42-33, or cells:012345,456789"
    )


def game_of(name):
    """Return the `Game` that a network's name asks for: what follows its @, or 2048.

    That is the name of a game, as `parse_game` reads it, or the size of a smaller board.
    """
    _, at, game = name.partition("@")
    named = game.startswith(tuple(rules.NAME for rules in FAMILIES))
    return parse_game(game if named else f"{WHOLE.name}@{game}") if at else WHOLE


def _parse_elsewhere(name, game):
    tuples, found = parse_network(name), game_of("@" + game)
    elsewhere = found.cells == WHOLE.cells and found != WHOLE  # or a network had two names
    if not elsewhere and not name.startswith("cells:"):
        raise ValueError(f"network {name!r} on a board of {game}: name its cells, cells:0145@2x2")
    outside = {cell for cell in itertools.chain(*tuples) if not int(found.cells) >> 4 * cell & 1}
    if outside:
        raise ValueError(f"network {name!r}: a board of {game} has no cell {min(outside):x}")
    return tuples


def _parse_tuple(word):
    if not word or any(digit not in "0123456789abcdefABCDEF" for digit in word):
        raise ValueError(f"tuple {word!r}: write each cell as one hexadecimal digit, 0 to f")
    cells = tuple(int(digit, 16) for digit in word)
    if len(set(cells)) < len(cells):
        raise ValueError(f"tuple {word!r} names a cell twice")
    if len(cells) > LONGEST_TUPLE:
        raise ValueError(f"tuple {word!r} has {len(cells)} cells; {LONGEST_TUPLE} is the most here")
    return cells


def placements(shape):
    """Place a named shape everywhere on the board, symmetric places counted once.

    shape: a key of SHAPES.  Returns a list of tuples of cells; of each class of symmetric places
    the one met first, row by row, is kept (42 has 3 places, 33 has 2, 22 has 3).
    """
    cells, places = SHAPES[shape], {}  # by what is equal for symmetric places
    turned_over = tuple((-row, column) for row, column in cells)  # its rows in the other order
    for variant in (cells, turned_over):
        for down, right in itertools.product(range(-3, 4), range(4)):
            moved = [(row + down, column + right) for row, column in variant]
            if all(0 <= row < 4 and 0 <= column < 4 for row, column in moved):
                place = tuple(4 * row + column for row, column in moved)
                board = np.uint64(sum(1 << 4 * cell for cell in place))
                places.setdefault(canonical(board, WHOLE), place)
    return list(places.values())


def word(cells):
    """Return a tuple's cells as hexadecimal digits."""
    return "".join(f"{cell:x}" for cell in cells)
