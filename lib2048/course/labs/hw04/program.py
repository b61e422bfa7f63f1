"""The plain training loop of lab hw04: one game at a time, by five functions of a student's.

It is the loop of the C++ lab: play a game with `select_best_move`, keep its path, then let
`update_episode` learn from it.  The same functions run as plain Python, in the checks, and
compiled, in training.  With the right functions it learns what `order="backward", lanes=1` of the
library's own loop learns, bit for bit (a test holds this); that one is two to three times faster.
The game is that of the class: its board, its odds and the unit of its values are constants here.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba.extending import overload, register_jitable

from lib2048.course.labs.messages import say
from lib2048.course.labs.seeds import class_game, rules_of
from lib2048.game import board as boards
from lib2048.game import rules_2048 as rules
from lib2048.game.bits import largest_exponent
from lib2048.game.board import symmetries, to_exponents
from lib2048.game.rng import seed_bits, stream_kernel
from lib2048.machine.memory import reserve
from lib2048.machine.native import borrowed, prefetch
from lib2048.networks.layout import plain_layout
from lib2048.networks.lookups import IMAGES, image_boards, look_kernel
from lib2048.networks.names import game_of, parse_network

PLAYED = class_game()
SLID = PLAYED._replace(apart=True)  # the lab's game ends at 32768, as the C++ lab's does
FOUR, CELLS = float(PLAYED.four), 4 * PLAYED.rows  # the chance of a 4; cells 0 … CELLS - 1
UNIT = rules_of("hw04").more["unit"]  # the points that a value of 1 stands for
GAME, SCORE, ACTIONS, LARGEST = range(4)  # columns of the results, as in records.RESULT_COLUMNS


NO_ACTION = (
    "select_best_move found no action, and some are legal. If that comes after some games, the "
    "values are no numbers any more: the steps are too large"
)


class Tables(NamedTuple):
    """A network as the lab has it.

    Attributes:
        weights: float32[m, 16^n], a row for each of the m tuples of n cells.
        isomorphic: for each tuple its 8 images by turning and mirroring, each a tuple of n cells
            (0..15, row by row).
    """

    weights: np.ndarray
    isomorphic: tuple


class Step(NamedTuple):
    """One turn of a game: state → action → afterstate (reward) → spawn → next state.

    The boards are uint64; action 0..3; reward in points.
    """

    state: np.uint64
    action: int
    reward: float
    afterstate: np.uint64
    next_state: np.uint64


def at(board, cell):
    """Return the exponent in a cell: 0 for empty, 1 for a 2, 11 for a 2048.  cell: 0..15."""
    return (int(board) >> (4 * int(cell))) & 15


@overload(at)
def _compiled_at(board, cell):
    return lambda board, cell: np.int64((np.uint64(board) >> np.uint64(4 * cell)) & np.uint64(15))


def slide(board, action):
    """Slide a board of the class's game; return (afterstate, reward), see `lib2048.slide`."""
    return boards.slide(board, action, SLID)


def _compiled_slide(game):
    """Return what makes `slide` something that compiled functions can call, too."""

    def compiled(board, action):
        def slid(board, action):
            after, reward = rules.slide_one(np.uint64(board), np.uint64(action), game)
            return after, np.int64(reward)

        return slid

    return compiled


overload(slide)(_compiled_slide(SLID))
overload(boards.slide)(_compiled_slide(boards.WHOLE))


def new_tables(network):
    """Return the `Tables` of a network by its name, all weights 0.

    Raises:
        ValueError: for tuples of different lengths or another game than the class's.
    """
    tuples = parse_network(network)
    if game_of(network) != PLAYED:
        raise ValueError(say("hw04.other_game", network=network, game=PLAYED.name))
    if len({len(cells) for cells in tuples}) != 1:
        raise ValueError(f"network {network}: this lab takes tuples of one length")
    size = 16 ** len(tuples[0])
    weights = reserve(f"network {network}", len(tuples) * size).reshape(len(tuples), size)
    return Tables(weights, isomorphic(tuples))


def tables_of(network):
    """Return the `Tables` of a `Network` of the library's, with a copy of its weights."""
    tables = new_tables(network.name)
    for k, row in enumerate(tables.weights):
        row[:] = network.table(k)
    return tables


def isomorphic(tuples):
    """Return for each tuple its 8 images: a tuple of tuples of cells.

    Reading cells `isomorphic(tuples)[k][i]` on a board is reading `tuples[k]` on the i-th of its
    `symmetries`; on a board that is not square each of the four images is there twice.
    """
    numbers = np.uint64(0xFEDCBA9876543210)  # each cell holds its own number
    images = [to_exponents(image).tolist() for image in symmetries(numbers, PLAYED)]
    return tuple(tuple(tuple(image[c] for c in cells) for image in images) for cells in tuples)


# ---------------------------------------------------------------- the loop


def loop_of(select_best_move, update_episode, tuples):
    """Return play(weights, alpha, seed, first, results, work, learn) → None, compiled.

    It plays len(results) games by number from `first` on, and learns from each when it is over.
    work: of `new_work`; the caller keeps it, since nobody counts here who owns it.
    select_best_move, update_episode: compiled; tuples: of the network; they become part of the
    code, so that the compiler can unfold them.  Raises ValueError for an illegal action.
    """
    shapes, ask_for = isomorphic(tuples), memory_hint(tuples)

    @numba.njit
    def play(weights, alpha, seed, first, results, work, learn):
        network = Tables(borrowed((weights,))[0], shapes)
        flat, work = borrowed((weights.reshape(-1),))[0], borrowed(work)
        path = [Step(np.uint64(0), 0, 0.0, np.uint64(0), np.uint64(0))]
        for row in range(len(results)):
            path.clear()
            results[row, GAME] = first + row
            board, _, random = rules.begin(stream_kernel(seed, np.uint64(first + row)), PLAYED)
            while True:
                ask_for(flat, board, work)
                action = select_best_move(network, board)
                if action < 0:
                    if not work[0].max():  # see memory_hint: the legal afterstates
                        break
                    raise ValueError(NO_ACTION)
                after, reward = slide(board, action)
                if after == board:
                    raise ValueError("select_best_move returned an action that is not legal")
                next_board, random = rules.spawn_tile(after, random, PLAYED)
                path.append(Step(board, action, float(reward), after, next_board))
                results[row, SCORE] += reward
                board = next_board
            results[row, ACTIONS] = len(path)
            results[row, LARGEST] = largest_exponent(board)
            if learn and len(path) > 0:
                update_episode(network, path, alpha)

    return play


def new_work(tuples):
    """Return what `memory_hint` works with: legal afterstates, their images, their look-ups."""
    return np.zeros(4, np.uint64), np.zeros(IMAGES, np.uint64), np.zeros(32 * tuples, np.uint32)


def memory_hint(tuples):
    """Return a function that asks the memory for the weights of a board's legal afterstates.

    It leaves the afterstates in the first array of `work`, 0 for an illegal action.

    The tables are far larger than the processor's cache.  Asked for all at once, before anybody
    waits for one of them, the weights arrive together: this makes the loop twice as fast.
    """
    look = look_kernel(tuples, plain_layout)

    @numba.njit
    def ask_for(weights, board, work):
        boards, images, positions = work
        boards[0], boards[1], boards[2], boards[3] = rules.slide(board, SLID)[:4]
        for action in range(4):
            boards[action] *= np.uint64(boards[action] != board)
        image_boards(boards, np.uint64(0), images, PLAYED)
        look(images, positions, np.uint64(0))
        for position in positions:
            prefetch(weights, np.uint64(position))

    return ask_for


# ---------------------------------------------------------------- the library's five functions
# Written as a student would; the checks compare with them.


@register_jitable
def indexof(pattern, board):
    """Return the index of a tuple's cells on a board: Σ exponent of cell i · 16^i."""
    index = 0
    for i in range(len(pattern)):
        index |= at(board, pattern[i]) << (4 * i)
    return index


@register_jitable
def estimate(network, board):
    """Return the value of a board: the sum over all tuples and their 8 images."""
    value = 0.0
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            value += network.weights[k, indexof(pattern, board)]
    return value


@register_jitable
def update(network, board, amount):
    """Add an amount to a board's value, shared equally among its weights; return the new value."""
    share = amount / (8 * len(network.weights))
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            network.weights[k, indexof(pattern, board)] += share
    return estimate(network, board)


@register_jitable
def select_best_move(network, board):
    """Return the legal action of the largest reward + V(afterstate); −1 when none is legal."""
    best, best_value = -1, -np.inf
    for action in range(4):
        after, reward = slide(board, action)
        if after != board:
            value = reward / UNIT + estimate(network, after)
            if value > best_value:
                best, best_value = action, value
    return best


@register_jitable
def update_episode(network, path, alpha):
    """Let each afterstate learn r + V of the next one, from the end; the last one learns 0."""
    target = 0.0
    for t in range(len(path) - 1, -1, -1):
        error = target - estimate(network, path[t].afterstate)
        target = path[t].reward / UNIT + update(network, path[t].afterstate, alpha * error)


# ---------------------------------------------------------------- with values of states


@register_jitable
def expected_value(network, afterstate):
    """Return the mean of V(state) over the spawns: a 2 or, more seldom, a 4 in each empty cell."""
    total, empty = 0.0, 0
    for cell in range(CELLS):
        if at(afterstate, cell) == 0:
            total += (1 - FOUR) * estimate(network, put(afterstate, cell, 1))
            total += FOUR * estimate(network, put(afterstate, cell, 2))
            empty += 1
    return total / empty


@register_jitable
def put(board, cell, exponent):
    """Return the board with a tile of this exponent in an empty cell."""
    return np.uint64(board) | (np.uint64(exponent) << np.uint64(4 * cell))


@register_jitable
def select_best_move_by_states(network, board):
    """Return the legal action of the largest reward + E[V(next state)]; −1 when none is legal."""
    best, best_value = -1, -np.inf
    for action in range(4):
        after, reward = slide(board, action)
        if after != board:
            value = reward / UNIT + expected_value(network, after)
            if value > best_value:
                best, best_value = action, value
    return best


@register_jitable
def update_episode_of_states(network, path, alpha):
    """Let each state learn r + V of the next one, from the end; the dead state learns 0."""
    dead = path[len(path) - 1].next_state
    update(network, dead, alpha * (0.0 - estimate(network, dead)))
    target = 0.0
    for t in range(len(path) - 1, -1, -1):
        error = path[t].reward / UNIT + target - estimate(network, path[t].state)
        target = update(network, path[t].state, alpha * error)


def play_games(loop, network, alpha, seed, first, count, learn=True):
    """Play games by number with a loop; return int64[count, 5], see records.RESULT_COLUMNS."""
    results = np.zeros((count, 5), np.int64)
    work = new_work(len(network.weights))
    try:
        loop(network.weights, alpha, seed_bits(seed), first, results, work, learn)
    except ValueError as error:
        raise ValueError(f"in game {results[:, GAME].max() + 1}: {error}") from None
    return results
