"""A solved endgame as a table: the chance of success of every afterstate, on disk and looked up.

A chance is kept in 16 bits as the square root of the chance of failure, in steps of 1/65535: near
certain success, where the best players live, the steps are finest.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.endgame.formation import Formation
from lib2048.endgame.positions import (
    BLOCK,
    Marked,
    Positions,
    after,
    check_marked,
    has_won,
    is_legal,
    is_marked,
    number_after,
    positions_of,
    rank,
)
from lib2048.game.bits import flip, mirror, symmetries, transpose
from lib2048.game.board import parts
from lib2048.game.game import new_game
from lib2048.game.spec import ACTIONS
from lib2048.machine.arrays import Archive, Form, check_arrays, check_kind, text, write_arrays
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import population

KIND, VERSION = "endgame", 1
STEPS = 65535
HIGH, LOW, ONES = np.uint64(0x8888888888888888), np.uint64(0x7777777777777777), 0x1111111111111111
FORMS = {
    "kind": Form("U"),
    "version": Form("i u"),
    "formation": Form("U"),
    "target": Form("i u", (), 8, 16384),
    "chances": Form("f", (2,), 0, 1),
    "about": Form("f", (3,), 0),
    "marks": Form("uint64", (None,)),
    "counts": Form("uint32", (None,)),
    "values": Form("uint16", (None,)),
}


def kept(values, steps):
    """Return chances of success, float64, as a table keeps them.

    steps: `STEPS`, for uint16, or 1, for float64.
    """
    roots = steps * np.sqrt(np.maximum(1 - values, 0))
    return roots if steps == 1 else np.rint(roots).astype(np.uint16)


@part
def chance_of(kept, steps):
    """Return the chance of success that is kept so.  → float64"""
    root = kept / steps
    return 1 - root * root


class Look(NamedTuple):
    """What a look-up needs.

    Attributes:
        positions, marked: see `Positions`, `Marked`.
        values: as they are `kept`, by rank; and with how many steps.
        walls: uint64[8], where the walls stand on a board whose image i is in the formation; in a
            free one the first has as many bits as the walls.
        least: the exponent of the target.
    """

    positions: Positions
    marked: Marked
    values: types.uint16[::1]
    steps: float
    walls: types.uint64[::1]
    least: np.uint64


@part
def large_cells(board, least):
    """Return a uint64 with the bits of all cells whose exponent is at least so large; 0 where two
    of them are alike."""
    found, seen = np.uint64(0), np.uint64(0)
    for shift in range(np.uint64(0), np.uint64(64), np.uint64(4)):
        exponent = (board >> shift) & np.uint64(15)
        if exponent >= least:
            bit = np.uint64(1) << exponent
            if seen & bit:
                return np.uint64(0)
            seen |= bit
            found |= np.uint64(15) << shift
    return found


@part
def count_large(board, least):
    """Return how many cells hold an exponent of at least so much, 1 … 15."""
    least = np.int64(least)
    if least <= 8:
        high = (board & HIGH) | (((board & LOW) + np.uint64((8 - least) * ONES)) & HIGH)
    else:
        high = board & HIGH & ((board & LOW) + np.uint64((16 - least) * ONES))
    return np.int64(population(high))


@part
def image_of(board, image):
    """Return one of a board's `symmetries`, by its number."""
    if image & 4:
        board = transpose(board)
    if image & 1:
        board = mirror(board)
    return flip(board) if image & 2 else board


@part
def action_of(action, image):
    """Return the action that an action is on such an image."""
    if image & 4:
        action = 3 - action
    if image & 1 and action & 1:
        action = 4 - action
    return 2 - action if image & 2 and not action & 1 else action


@part
def image_in(look, large):
    """Return the number of a board's image that stands in the formation, −1 for none.

    large: its `large_cells`.
    """
    if look.positions.free:
        return 0 if population(large) == population(look.walls[0]) else -1
    if large:
        for image in range(8):
            if look.walls[image] == large:
                return image
    return -1


@kernel
def look_up(look, board, out):
    """Look a state's actions up; return whether it stands in the formation.

    Writes float64 out[4]: the chance of success after each action, nan for one that is not legal
    there, moves a large tile, or leads to an afterstate that the table does not know.
    """
    large = large_cells(board, look.least)
    image = image_in(look, large)
    if image < 0:
        return False
    board = image_of(board | large, image)
    turned = transpose(board)
    for action in range(4):
        found = after(look.positions, board, turned, action_of(action, image))
        out[action] = np.nan
        if is_legal(found):
            if has_won(found):
                out[action] = 1.0
            else:
                place = number_after(look.positions, found)
                if is_marked(look.marked, place):
                    out[action] = chance_of(look.values[rank(look.marked, place)], look.steps)
    return True


class Table:
    """The chance of success of every afterstate of an endgame that can be reached.

    Make one by `solve`, or read one by `load`.

    Attributes:
        formation: the `Formation`.
        four: the chance that a spawned tile is a 4.
        states, afterstates: how many can be reached from two tiles, and have not won.
        start: the chance of success from two random tiles on two random free cells; in a free
            formation, the mean over all places of the large tiles.
        seconds: what building it took.
    """

    def __init__(self, formation, chances, marked, values, about):
        self.formation, self.four = formation, chances[1]
        self.states, self.start = about["states"], about["start"]
        self.seconds, self.afterstates = about["seconds"], len(values)
        walls = _walls(formation)
        least = np.uint64(formation.exponent)
        steps = STEPS if values.dtype == np.uint16 else 1
        positions = positions_of(formation)
        self.look = Look(positions, marked, values, float(steps), walls, least)

    @property
    def game(self):
        """The `Game` that it is an endgame of."""
        return new_game(four=self.four)

    @property
    def name(self):
        """What a table is called among players, such as "the table 4411-64"."""
        return f"the table {self.formation}"

    def __repr__(self):
        return f"<{self.formation}: {self.afterstates:,} afterstates, {self.start:.4f}>"

    def chances(self, board):
        """Return the chance of success after each action that keeps the formation.

        Args:
            board: uint64, as the library has it, with its large tiles.

        Returns:
            dict from actions to floats; empty where the game is lost.

        Raises:
            ValueError: for a board that is not in the formation.
        """
        return {ACTIONS[action]: chance for action, chance in self.values(board).items()}

    def values(self, board, word=0):
        """Return the same by the numbers of actions, as players have it; see `chances`."""
        out = np.empty(4)
        if not look_up(self.look, parts(board)[0], out):
            raise ValueError(self._why_not(board))
        return {a: float(chance) for a, chance in enumerate(out) if not np.isnan(chance)}

    def choose(self, board, word=0):
        """Return the action (0..3) with the best chance, the first of equals; None where lost."""
        found = self.values(board)
        return max(found, key=found.get, default=None)

    def has_won(self, board):
        """Say whether the target stands beside the large tiles that must stand."""
        large = count_large(parts(board)[0], self.formation.exponent)
        return int(large) > self.formation.large

    def is_over(self, board):
        """Say whether the endgame is over: the target stands, or no action keeps the formation."""
        return self.has_won(board) or not self.values(board)

    def layers(self):
        """Yield (tile sum of the free cells, float64[n], the chances of its n afterstates)."""
        ends = self.look.marked.counts[self.look.positions.begins // BLOCK].astype(np.int64)
        for total, (begin, end) in enumerate(pairwise(ends)):
            roots = self.look.values[begin:end] / self.look.steps
            yield 2 * total, 1 - roots * roots

    def knows(self, board):
        """Say whether a board stands in the formation."""
        return look_up(self.look, parts(board)[0], np.empty(4))

    def success(self, board):
        """Return a board's chance of success under best play; see `chances`."""
        return max(self.chances(board).values(), default=0.0)

    def _why_not(self, board):
        large, target = self.formation.large, self.formation.target
        exponents = [int(board) >> 4 * cell & 15 for cell in range(16)]
        here = [e for e in exponents if e >= self.formation.exponent]
        if len(here) != large:
            why = f"{len(here)} tiles of {target} and more, and {large} must stand"
        elif len(set(here)) < len(here):
            why = "two of its large tiles are alike"
        else:
            why = f"its large tiles stand on other cells than those of {self.formation.name}"
        return f"this board is not in the formation: {why}"

    def save(self, path):
        """Write the table, in one step; see `load`."""
        about = [self.states, self.start, self.seconds]
        arrays = {
            "kind": np.array(KIND),
            "version": np.array(VERSION),
            "formation": np.array(self.formation.name),
            "target": np.array(self.formation.target),
            "chances": np.array([1 - self.four, self.four]),
            "about": np.array(about, np.float64),
            "values": self.look.values,
        }
        write_arrays(path, arrays | self.look.marked._asdict())


def load(path):
    """Read a table, once all of it is checked; its arrays are mapped, and not copied.

    Raises:
        ValueError: in one line, for a file that is damaged, none of these, or of another version.
    """
    with Archive(path) as arrays:
        check_kind(arrays, KIND, VERSION, "table of an endgame")
        check_arrays(arrays, FORMS, path)
        formation = Formation(text(arrays, "formation"), int(arrays["target"]))
        states, start, seconds = arrays["about"].tolist()
        about = {"states": int(states), "start": start, "seconds": seconds}
        marked = Marked(*(arrays.mapped(name) for name in Marked._fields))
        values = arrays.mapped("values")
        try:
            check_marked(positions_of(formation), marked, len(values))
        except ValueError as error:
            raise ValueError(f"{path}: damaged: {error}") from None
        return Table(formation, arrays["chances"].tolist(), marked, values, about)


def _walls(formation):
    """Return `Look.walls`."""
    found = np.zeros(8, np.uint64)
    if formation.free:
        found[0] = (1 << 4 * formation.large) - 1
        return found
    for board in symmetries(formation.walls):
        for image, turned in enumerate(symmetries(board)):
            if turned == formation.walls:
                found[image] = board
    return found
