"""Any small game solved exactly, by nothing but its rules: what a new game is tried by.

A state (board, word) is worth the best of its actions, an action its reward and the mean of what
luck can make of its afterstate, with the points that it brings.  What was worked out once is kept
in a table.  It knows nothing of 2048: no layers, and symmetric boards only where the rules bring
them together.  `exact` is faster, and tells more.
"""

import functools
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.bits import moved_lines
from lib2048.game.frontier import TIE
from lib2048.game.game import Game, parse_game
from lib2048.game.rng import GOLDEN, mix
from lib2048.machine.kernels import kernel
from lib2048.machine.memory import check_memory
from lib2048.machine.terminal import bar
from lib2048.machine.threads import aside

FIRST_TURNS = 256  # of a game, for which there is room at first
FIRST_SIZE, MOST_SIZE = 1 << 16, 1 << 27  # places of the table
AFTER = np.uint64(1 << 40)  # in a key: of an afterstate
ZERO, QUAD = np.uint64(0), np.uint64(4)


class Known(NamedTuple):
    """What is known: by boards and the rest of a key, values and numbers of actions to come."""

    boards: types.uint64[::1]  # uint64[2^k]
    keys: types.uint64[::1]  # uint64[2^k]: the rest of the key + 1; 0: nothing is kept here
    values: types.float64[:, ::1]  # float64[2^k, 2]
    used: types.int64[::1]  # int64[1]


class Work(NamedTuple):
    """Outcomes of each turn on the way down."""

    boards: types.uint64[::1]
    words: types.uint64[::1]
    weights: types.float64[::1]


class Solved(NamedTuple):
    """Optimal play of a game.

    value, moves: the expected score, dealt cards of Threes! included, and number of actions;
    states, afterstates, terminal: how many there are, states with what they remember, afterstates
    as the rules tell them apart: of those that play alike one, and the states after it.
    """

    game: Game
    value: float
    moves: float
    states: int
    afterstates: int
    terminal: int

    def as_dict(self):
        """Return the numbers as the command line's JSON holds them."""
        return {name: number for name, number in self._asdict().items() if name != "game"}

    def __repr__(self):
        count = f"{self.states:,} states, {self.afterstates:,} afterstates"
        return f"<{self.game.name}: {self.value:,.2f} points, {self.moves:,.1f} moves; {count}>"


def solve(game, progress=False):
    """Return optimal play of a small game: `Solved`.

    Who plays knows the whole state, what is left in a deck included.

    Args:
        game: a `Game` or its name, such as "threes@2x2".
        progress: whether to show a bar on stderr.

    Raises:
        ValueError: for a game with more states than fit.
        MemoryError: where the memory is too small.
    """
    game = parse_game(game)
    starts = game.rules.starts(game)
    table, totals = _new_table(FIRST_SIZE), np.zeros(2)
    work = _new_work(FIRST_TURNS * int(game.rules.MOST_OUTCOMES))
    work_out = game.bind(_work_out)
    with bar(progress, unit=" boards", unit_scale=True) as shown:
        for (board, word), chance in starts.items():
            state = np.uint64(board), np.uint64(word)
            while not aside(functools.partial(work_out, *state, game, table, work)):
                shown.update(int(table.used[0]) - shown.n)
                if _is_full(table):
                    table = _larger(table, game)
                else:  # the way down is longer
                    work = _new_work(2 * len(work.boards))
            at = _place(*state, table)
            totals += chance * (table.values[at] + [game.rules.points(state[0]), 0])
    known = table.keys > 0
    after = table.keys[known] > AFTER
    states = int(np.count_nonzero(~after))
    ended = int(np.count_nonzero(table.values[known][~after, 1] == 0))
    return Solved(game, *totals.tolist(), states, len(after) - states, ended)


def _new_table(size):
    zeros = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    return Known(*zeros, np.zeros((size, 2)), np.zeros(1, np.int64))


def _new_work(most):
    return Work(np.zeros(most, np.uint64), np.zeros(most, np.uint64), np.zeros(most))


def _larger(old, game):
    """Return a table of twice the size with what is known."""
    size = 2 * len(old.boards)
    if size > MOST_SIZE:
        most = f"{MOST_SIZE // 2:,}"
        raise ValueError(f"{game.name}: more than {most} states: take a smaller board")
    check_memory(f"solving {game.name}", 32 * size, "take a smaller board")
    new = _new_table(size)
    _copy(old, new)
    return new


@kernel
def _is_full(table):
    """Say whether a table is half full, and so slow."""
    return 2 * table.used[0] >= len(table.boards)


@kernel
def _place(board, key, table):
    """Return where a key is kept, or would be."""
    last = np.uint64(len(table.boards) - 1)
    at = mix(board ^ (key + GOLDEN)) & last
    while table.keys[at] and (table.boards[at] != board or table.keys[at] != key + np.uint64(1)):
        at = (at + np.uint64(1)) & last
    return at


@kernel
def _keep(board, key, value, moves, table):
    at = _place(board, key, table)
    table.boards[at], table.keys[at] = board, key + np.uint64(1)
    table.values[at, 0], table.values[at, 1] = value, moves
    table.used[0] += 1


@kernel
def _copy(old, new):
    for i in range(len(old.boards)):
        if old.keys[i]:
            value = old.values[i]
            _keep(old.boards[i], old.keys[i] - np.uint64(1), value[0], value[1], new)


@kernel
def _state(board, word, game, table, work, turn):
    """Work a state out; return False where table or work is too small for what follows."""
    if table.keys[_place(board, word, table)]:
        return True
    if _is_full(table) or (turn + np.uint64(1)) * rules.MOST_OUTCOMES > len(work.boards):
        return False
    slid, best, moves, ties = rules.slide(board, game), -1.0, 0.0, 0
    for action in range(QUAD):
        after = slid[action]
        if after == board:
            continue
        lines = moved_lines(board, after, action)
        after, seen, by, lines, _ = rules.image(after, word, action, lines, game)
        key = AFTER | seen | by << np.uint64(16) | lines << np.uint64(20)
        at = _place(after, key, table)
        if not table.keys[at]:
            first = turn * rules.MOST_OUTCOMES
            listed = work.boards, work.words, work.weights
            count, total = rules.outcomes(
                after, seen, by, lines, game, listed[0], listed[1], listed[2], first
            )
            value, length = 0.0, 0.0
            for i in range(first, first + count):
                if not _state(
                    work.boards[i], work.words[i], game, table, work, turn + np.uint64(1)
                ):
                    return False
                at = _place(work.boards[i], work.words[i], table)
                dealt = np.int64(rules.points(work.boards[i])) - np.int64(rules.points(after))
                value += work.weights[i] * (dealt + table.values[at, 0])
                length += work.weights[i] * table.values[at, 1]
            _keep(after, key, value / total, length / total, table)
            at = _place(after, key, table)
        value, length = slid[QUAD + action] + table.values[at, 0], 1 + table.values[at, 1]
        if value > best + TIE * abs(best):
            best, moves, ties = value, 0.0, 0
        if value >= best - TIE * abs(best):
            moves, ties = moves + length, ties + 1
    _keep(board, word, best if ties else 0.0, moves / ties if ties else 0.0, table)
    return True


@kernel
def _work_out(board, word, game, table, work):
    return _state(board, word, game, table, work, ZERO)
