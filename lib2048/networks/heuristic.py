"""A value function made by hand: what people who play 2048 look at, line by line.

Xiao, Vermaelen and Morávek (github.com/nneonneo/2048-ai) value a board by its eight lines: each
earns for empty cells and for neighbours that can merge, and pays for tiles that are out of order
and for the tiles themselves.  The value of a line is a number for each of 16^4 lines, so the sum
over all lines is an n-tuple network with the tuples of four cells in a row, filled by a formula
instead of by learning.
"""

import itertools
from typing import NamedTuple

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.networks.names import with_game
from lib2048.networks.network import Network


class Weights(NamedTuple):
    """The numbers of the formula; the defaults are those that Xiao et al. tuned with CMA-ES."""

    empty: float = 270.0  # for an empty cell
    merges: float = 700.0  # for a cell in a run of equal neighbours
    order: float = 47.0  # against tiles out of order
    order_power: float = 4.0
    total: float = 11.0  # against tiles as such: many small ones cost more than few large ones
    total_power: float = 3.5
    alive: float = 200000.0  # for each line of a game that goes on: a lost board is worth 0


def line_values(weights=Weights()):  # noqa: B008 (a tuple does not change)
    """Return the value of every line of four cells: float64[65536].

    Line number e0 + 16·e1 + 256·e2 + 4096·e3 holds the exponents e0 … e3.

    Args:
        weights: `Weights`.
    """
    lines = np.arange(1 << 16)[:, None] >> np.arange(0, 16, 4) & 15
    steps = np.diff(lines.astype(float) ** weights.order_power, axis=1)
    disorder = np.minimum(np.maximum(steps, 0).sum(1), np.maximum(-steps, 0).sum(1))
    return (
        weights.alive
        + weights.empty * (lines == 0).sum(1)
        + weights.merges * _in_runs(lines)
        - weights.order * disorder
        - weights.total * (lines.astype(float) ** weights.total_power).sum(1)
    )


def _in_runs(lines):
    """Count the tiles that have an equal neighbour, empty cells between them left out."""
    found = np.zeros(lines.shape, bool)
    for start, end in itertools.combinations(range(4), 2):
        gap = (lines[:, start + 1 : end] == 0).all(1)
        equal = (lines[:, start] == lines[:, end]) & (lines[:, start] > 0) & gap
        found[:, [start, end]] |= equal[:, None]
    return found.sum(1)


def heuristic_network(weights=Weights(), game=WHOLE):  # noqa: B008
    """Return the heuristic as a `Network`: its value of a board is the sum over the eight lines.

    It values afterstates; rewards do not count beside it (`SearchPlayer(…, pays=False)`).

    Args:
        weights: `Weights`, or seven numbers in that order.
        game: 2048 on the 4×4 board, with any odds.

    Raises:
        ValueError: for another game.
    """
    if game.rules is not WHOLE.rules or game.cells != WHOLE.cells:
        raise ValueError(f"heuristic: its lines are those of 2048 on 4x4, not of {game.name}")
    network, values = Network(with_game("4", game)), line_values(Weights(*weights))
    for number in range(2):  # the outer lines and the inner ones, each read in both directions
        network.set_table(number, values / 2)
    return network
