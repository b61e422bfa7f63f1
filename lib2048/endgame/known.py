"""The tables that a player knows, asked inside a search: how sure is success after an action?

On almost empty cells a table knows less than it seems: what it forbids, moving a large tile, is
often right there.  So a table is asked only where the tiles that are not large come to some sum.

A search asks about millions of boards, most of which stand in no formation.  So kernels get the
tables as plain numbers, a row for each: where its arrays lie in memory.  One compiled search thus
serves any number of tables, and what it asks first takes a few operations a table.
"""

from pathlib import Path

import numpy as np

from lib2048.endgame.positions import (
    Half,
    Marked,
    Positions,
    is_marked,
    number_after,
    rank,
    standing,
)
from lib2048.endgame.table import (
    STEPS,
    Look,
    chance_of,
    count_large,
    image_in,
    image_of,
    large_cells,
    load,
)
from lib2048.game.board import parts
from lib2048.game.spec import ACTIONS
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import array_at
from lib2048.machine.printed import percent

FILLED = 40  # tile sum of what is not large, from which on a table is asked, if it forbids moves
EACH = 4  # numbers for each array: its address and its lengths
# A row begins with the target's exponent, how many large tiles stand, whether they may move and
# what they weigh then, and from which tile sum it is asked; and where its arrays begin.
LEAST, LARGE, FREE, BASE, FROM, FIRST = range(6)
WIDTH = FIRST + 21 * EACH


class Endgames:
    """Tables of endgames that a player knows; where several fit, the largest target speaks.

    Args:
        tables: a list of `Table`, their chances in 16 bits; or a folder with files of them (.npz).

    Attributes:
        tables: in the order in which they are asked.
        rows: int64[tables, …], what kernels need.

    Raises:
        ValueError: in one line, for a folder without tables or a file that is none.
    """

    def __init__(self, tables):
        if isinstance(tables, (str, Path)):
            tables = _read(Path(tables))
        self.tables = sorted(tables, key=lambda t: (-t.formation.target, t.formation.name))
        rows = [_row(table) for table in self.tables] or np.zeros((0, WIDTH))
        self.rows = np.array(rows, np.int64)

    def __len__(self):
        return len(self.tables)

    def __repr__(self):
        return f"<endgames {', '.join(str(table.formation) for table in self.tables)}>"

    def told(self, board):
        """Say what is known of a state in words, "" for nothing; see `known`."""
        if not (found := self.known(board)):
            return ""
        table, chances = found
        said = sorted(((p, ACTIONS[action]) for action, p in chances.items()), reverse=True)
        chances = ", ".join(f"{name} {percent(chance)}" for chance, name in said)
        return f"table {table.formation} knows: {chances or 'lost, if no large tile moves'}"

    def known(self, board):
        """Return what is known of a state: (table, {action: chance of success}), or None.

        Args:
            board: uint64.
        """
        for table, row in zip(self.tables, self.rows):
            if table.knows(board) and _is_asked(row, parts(board)[0]):
                return table, table.values(board)
        return None


def _read(folder):
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise ValueError(
            f"{folder}: no tables of endgames; make one by "
            f"lib2048 endgame 442 --target 256 --out {folder / '442-256.npz'}"
        )
    return [load(path) for path in paths]


def known_to(network, endgames):
    """Return the `Endgames` that a network's search knows; none for None.

    Raises ValueError for a network that plays another game.
    """
    endgames = [] if endgames is None else endgames
    endgames = endgames if isinstance(endgames, Endgames) else Endgames(endgames)
    for table in endgames.tables:
        if network.game != table.game:
            said = f"{table.formation} is an endgame of {table.game.name}"
            raise ValueError(f"{said}, and network {network.name} plays {network.game.name}")
    return endgames


def _row(table):
    """Return a table as numbers; see `look_in`, which reads them."""
    look = table.look
    if look.values.dtype != np.uint16:
        raise ValueError(f"{table.formation}: a search takes tables of 16 bits, not exact ones")
    positions, marked = look.positions, look.marked
    row = [int(look.least), table.formation.large, int(positions.free), int(positions.base)]
    row.append(0 if positions.free else FILLED)
    parts = positions.begins, positions.offsets, positions.lines, positions.cells, positions.units
    for array in [*positions.one, *positions.two, *parts, *marked, look.values, look.walls]:
        row += [array.ctypes.data, *array.shape, *[1] * (EACH - 1 - array.ndim)]
    return row


# ---------------------------------------------------------------- in kernels


@part
def rows_at(address, count):
    """Return `Endgames.rows`, by their address; they belong to nobody."""
    return array_at(address, (count, WIDTH), np.int64)


@part
def _half(row, at):
    return Half(
        _vector(row, at, np.uint64),
        _vector(row, at + 1, np.int64),
        _vector(row, at + 2, np.int64),
        _vector(row, at + 3, np.int64),
        _vector(row, at + 4, np.int64),
        _vector(row, at + 5, np.int64),
    )


@part
def _vector(row, number, kind):
    at = FIRST + EACH * number
    return array_at(row[at], (row[at + 1],), kind)


@part
def look_in(row):
    """Return a table's `Look` out of its row; its arrays belong to nobody."""
    at = FIRST + EACH * 13
    offsets = array_at(row[at], (row[at + 1], row[at + 2]), np.int64)
    at += EACH
    lines = array_at(row[at], (row[at + 1], row[at + 2], row[at + 3]), np.uint64)
    positions = Positions(
        _half(row, 0),
        _half(row, 6),
        _vector(row, 12, np.int64),
        offsets,
        lines,
        _vector(row, 15, np.uint64),
        _vector(row, 16, np.uint64),
        row[FREE] != 0,
        row[BASE],
    )
    marked = Marked(_vector(row, 17, np.uint64), _vector(row, 18, np.uint32))
    values, walls = _vector(row, 19, np.uint16), _vector(row, 20, np.uint64)
    return Look(positions, marked, values, float(STEPS), walls, np.uint64(row[LEAST]))


@part
def success_after(rows, board):
    """Return (chance of success after an afterstate, which table says so); −1 where none does."""
    for t in range(len(rows)):
        row = rows[t]
        if count_large(board, row[LEAST]) == row[LARGE] and _is_asked(row, board):
            chance = _chance(look_in(row), board)
            if chance >= 0:
                return chance, t
    return -1.0, -1


@kernel
def _is_asked(row, board):
    total = 0
    for shift in range(np.uint64(0), np.uint64(64), np.uint64(4)):
        exponent = np.int64((board >> shift) & np.uint64(15))
        if 0 < exponent < row[LEAST]:
            total += 1 << exponent
    return total >= row[FROM]


@part
def least_of(rows, table):
    """Return the exponent of a table's target, a uint64."""
    return np.uint64(rows[table, LEAST])


@part
def _chance(look, board):
    large = large_cells(board, look.least)
    image = image_in(look, large)
    if image < 0:
        return -1.0
    place = number_after(look.positions, standing(look.positions, image_of(board | large, image)))
    if not is_marked(look.marked, place):
        return -1.0
    return chance_of(look.values[rank(look.marked, place)], look.steps)
