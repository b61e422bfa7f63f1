"""The game as a Markov decision process, in plain Python: what you can choose, what luck can do.

A board is a tuple of rows, a row a tuple of tiles, so that it can be a key of a dictionary.  The
rules are those of `spec`.  Every answer is remembered, which is meant for small boards.
"""

from functools import cache
from itertools import product

from lib2048.game import spec

TILES = ((2, 1 - spec.FOUR_CHANCE), (4, spec.FOUR_CHANCE))  # what can spawn, and how likely


def frozen(board):
    """Return a board as a tuple of tuples."""
    return tuple(map(tuple, board))


class Table(dict):
    """Values in a dictionary; a key that was never set is worth `start`, and stays unset."""

    def __init__(self, start=0.0):
        super().__init__()
        self.start = start

    def __missing__(self, key):
        return self.start


@cache
def choices(state):
    """Return {action: (afterstate, reward)} of the legal actions, 0..3; none when it is over."""
    state = frozen(state)
    slid = {action: spec.slide(state, action) for action in range(4)}
    after = {action: (frozen(board), reward) for action, (board, reward) in slid.items()}
    return {action: pair for action, pair in after.items() if pair[0] != state}


@cache
def next_states(afterstate):
    """Return [(chance, next state)] of all spawns: each empty cell as likely, a 4 in one of ten."""
    cells = spec.empty_cells(afterstate)
    return [
        (chance / len(cells), _with_tile(afterstate, cell, tile))
        for cell, (tile, chance) in product(cells, TILES)
    ]


def _with_tile(board, cell, tile):
    rows = [list(row) for row in board]
    rows[cell[0]][cell[1]] = tile
    return frozen(rows)


@cache
def starts(rows, columns):
    """Return [(chance, state)] of the random start, two spawns on an empty board."""
    empty = ((0,) * columns,) * rows
    found = {}
    for p, one in next_states(empty):
        for q, two in next_states(one):
            found[two] = found.get(two, 0) + p * q
    return [(chance, state) for state, chance in found.items()]


def spawn(afterstate, rng):
    """Return a next state, drawn by its chance.

    Args:
        rng: a `random.Random`.
    """
    return _draw(next_states(afterstate), rng)


def start(rows, columns, rng):
    """Return a state that a game begins with."""
    return _draw(starts(rows, columns), rng)


def _draw(outcomes, rng):
    """Return one of the outcomes (chance, state), each as likely as its chance says."""
    left = rng.random()
    for chance, state in outcomes:
        left -= chance
        if left < 0:
            return state
    return outcomes[-1][1]  # the chances add up to 1 but for rounding


def worth(chances, rows, columns):
    """Return what a policy is worth from the random start on: its expected score, exactly.

    Works out every board that the policy can come to, so keep to 2x2 or 2x3.

    Args:
        chances: a function from a state to {action: probability}.
    """

    @cache
    def of_state(state):
        options = choices(state)
        taken = chances(state).items() if options else ()
        return sum(p * (options[a][1] + of_afterstate(options[a][0])) for a, p in taken if p)

    @cache
    def of_afterstate(afterstate):
        return sum(chance * of_state(state) for chance, state in next_states(afterstate))

    return sum(chance * of_state(state) for chance, state in starts(rows, columns))
