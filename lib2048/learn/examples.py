"""Learning from examples: boards whose value somebody knows, or thinks to know."""

import numpy as np
from numba import types

from lib2048.game.batch import as_states
from lib2048.game.game import Game
from lib2048.learn.games import functions_of
from lib2048.learn.rules import UPDATE_SIGNATURE
from lib2048.machine.kernels import compiled, numba_type
from lib2048.networks.lookups import (
    BOARDS_AT_ONCE,
    IMAGES,
    LOOK_SIGNATURE,
    VALUE_SIGNATURE,
    image_boards,
)

TOGETHER = 1 << 16  # examples whose look-ups are in memory at a time


def fit(network, afterstates, labels, alpha=0.1):
    """Go through examples once, in their order, and let the network learn each: least mean squares.

    Changes the network's weights, by its own functions where it has some.

    Args:
        afterstates: uint64[n].
        labels: n numbers, what each afterstate is said to be worth.
        alpha: the share of the error label − V that one example takes away, spread over the board's
            look-ups as TD(0) does (Jaśkowski 2018, Algorithm 1, with the label for a target).

    Raises:
        ValueError: for labels that are not as many finite numbers as boards, and for networks with
            stages or of another form.
    """
    boards, labels = _boards(network, afterstates), np.ascontiguousarray(labels, np.float32)
    if labels.shape != boards.shape or not np.isfinite(labels).all():
        raise ValueError(f"labels: use one finite number for each of the {len(boards)} boards")
    labels = labels - np.float32(network.optimistic)
    parts, rate = functions_of(network, "td"), np.float32(alpha / network.lookups_per_board)
    for at in range(0, len(boards), TOGETHER):
        here = slice(at, at + TOGETHER)
        found = places(network, boards[here])
        _learn()(parts.value, parts.update, network.weights, found, labels[here], rate)


def places(network, afterstates):
    """Return where the weights of many boards' look-ups lie: uint32[n, 8·m], in `weights`.

    Raises:
        ValueError: for networks with stages or of another form.
    """
    boards = _boards(network, afterstates)
    found = np.zeros((len(boards), network.lookups_per_board), np.uint32)
    _find()(network.look, boards, network.game, found)
    return found


def _boards(network, afterstates):
    if network.form != "afterstate" or network.stages.marks:
        raise ValueError(f"{network!r}: use a network of afterstates in one stage")
    return as_states(afterstates, game=network.game)[0]


@compiled(
    types.void(
        types.FunctionType(VALUE_SIGNATURE),
        types.FunctionType(UPDATE_SIGNATURE),
        types.float32[::1],
        types.uint32[:, ::1],
        types.float32[::1],
        types.float32,
    )
)
def _learn(value, update, weights, found, labels, rate):
    """Learn the examples one by one; found: their look-ups."""
    n, memory = np.uint64(found.shape[1]), np.zeros(0, np.float32)
    for i in range(len(found)):
        error = labels[i] - value(weights, found[i], np.uint64(0), n)
        update(weights, memory, found[i], np.uint64(0), n, error, rate)


@compiled(
    types.void(
        types.FunctionType(LOOK_SIGNATURE),
        types.uint64[::1],
        numba_type(Game),
        types.uint32[:, ::1],
    )
)
def _find(look, boards, game, found):
    """Write down the places of the look-ups of each board."""
    images, four = np.zeros(IMAGES, np.uint64), np.zeros(BOARDS_AT_ONCE, np.uint64)
    positions = np.zeros(BOARDS_AT_ONCE * found.shape[1], np.uint32)
    for i in range(len(boards)):
        four[0] = boards[i]
        image_boards(four, np.uint64(0), images, game)
        look(images, positions, np.uint64(0))
        found[i] = positions[::BOARDS_AT_ONCE]
