"""The trees of a Monte-Carlo search, as plain arrays: many trees, each with its own luck."""

from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.deep.moves import draw_one
from lib2048.game.batch import ILLEGAL, slide_into
from lib2048.game.rng import draw, mix, unit
from lib2048.game.turn import next_state
from lib2048.machine.kernels import kernel

DEEPEST = 256  # actions on one way down
NONE = -1
ZERO = np.uint64(0)  # the word of a state


class Trees(NamedTuple):
    """Many trees: of each its nodes, whose first is the root, and a table that finds a state."""

    boards: types.uint64[:, ::1]  # [trees, nodes]
    known: types.boolean[:, ::1]  # whether a node's prior is known, else it is a leaf
    after: types.uint64[:, :, ::1]  # [trees, nodes, 4] afterstates
    rewards: types.float32[:, :, ::1]  # −∞ where an action is illegal
    priors: types.float64[:, :, ::1]
    visits: types.int64[:, :, ::1]  # N, those that are under way included
    done: types.int64[:, :, ::1]  # of them, those whose points are in `points`
    points: types.float64[:, :, ::1]  # their sum
    counts: types.int64[::1]  # nodes of each tree
    table: types.int64[:, ::1]  # [trees, slots], open addressing; NONE for an empty slot
    randoms: types.uint64[::1]  # the random state of each tree
    totals: types.float64[:, ::1]  # [trees, 3]: simulations, their points, the points' squares


class Leaves(NamedTuple):
    """What one round of walks down the trees found; walk i of tree g is number g · together + i."""

    boards: np.ndarray  # uint64[n], states to be evaluated
    nodes: np.ndarray  # int64[n]
    randoms: np.ndarray  # uint64[n], of a rollout from each
    lengths: np.ndarray  # int64[n], actions on the way
    path: np.ndarray  # int64[n, DEEPEST, 2]: (node, action) of each


def new_trees(boards, states, priors, nodes, game):
    """Return `Trees` with nothing but their roots.

    boards, states: uint64[n], the roots and the random states; priors: float64[n, 4]; nodes: the
    most of each tree.
    """
    n, slots = len(boards), 1 << int(2 * nodes).bit_length()
    four = (n, nodes, 4)
    trees = Trees(
        boards=np.zeros((n, nodes), np.uint64),
        known=np.zeros((n, nodes), np.bool_),
        after=np.zeros(four, np.uint64),
        rewards=np.zeros(four, np.float32),
        priors=np.zeros(four),
        visits=np.zeros(four, np.int64),
        done=np.zeros(four, np.int64),
        points=np.zeros(four),
        counts=np.zeros(n, np.int64),
        table=np.full((n, slots), NONE),
        randoms=states.copy(),
        totals=np.zeros((n, 3)),
    )
    game.bind(_plant)(trees, boards, np.ascontiguousarray(priors), game)
    return trees


def select(trees, together, explore, game):
    """Walk down each tree so many times, each to a leaf; return `Leaves`."""
    n = len(trees.counts) * together
    leaves = Leaves(
        boards=np.zeros(n, np.uint64),
        nodes=np.zeros(n, np.int64),
        randoms=np.zeros(n, np.uint64),
        lengths=np.zeros(n, np.int64),
        path=np.zeros((n, DEEPEST, 2), np.int64),
    )
    game.bind(_select)(trees, leaves, together, explore, game)
    return leaves


def backup(trees, leaves, priors, worth, game):
    """Tell the trees what the leaves' priors, float64[n, 4], and points, float64[n], are."""
    game.bind(_backup)(
        trees, leaves, np.ascontiguousarray(priors), np.ascontiguousarray(worth), game
    )


def root_statistics(trees):
    """Return (visits int64[n, 4], mean points float64[n, 4], −∞ without a visit) of the roots."""
    visits, points = trees.done[:, 0], trees.points[:, 0]
    return visits, np.where(visits > 0, points / np.maximum(visits, 1), -np.inf)


# ---------------------------------------------------------------- kernels


@kernel
def _find(trees, g, board):
    """Return the node of a state, a new one where there is none yet."""
    mask = np.uint64(trees.table.shape[1] - 1)
    slot = mix(board) & mask
    while trees.table[g, slot] != NONE:
        node = trees.table[g, slot]
        if trees.boards[g, node] == board:
            return node
        slot = (slot + np.uint64(1)) & mask
    node = trees.counts[g]
    trees.counts[g] = node + 1
    trees.table[g, slot], trees.boards[g, node] = node, board
    return node


@kernel
def _expand(trees, g, node, prior, game):
    """Make a node of a leaf: from now on, walks go on from it."""
    trees.known[g, node] = True
    trees.priors[g, node] = prior
    slide_into(trees.boards[g, node], game, trees.after[g, node], trees.rewards[g, node])


@kernel
def _plant(trees, boards, priors, game):
    for g in range(len(boards)):
        _expand(trees, g, _find(trees, g, boards[g]), priors[g], game)


@kernel
def _deviation(totals):
    """Return the deviation of the points of all simulations so far, at least 1."""
    count = max(totals[0], 1.0)
    variance = totals[2] / count - (totals[1] / count) ** 2
    return np.sqrt(max(variance, 1.0))


@kernel
def _choose(trees, g, node, scale):
    """Return the action of the largest Q + bonus, NONE where none is legal."""
    visits, done, points = 0, 0, 0.0
    for action in range(4):
        visits += trees.visits[g, node, action]
        done += trees.done[g, node, action]
        points += trees.points[g, node, action]
    unknown, root = points / max(done, 1), scale * np.sqrt(max(visits, 1))
    best, most = NONE, -np.inf
    for action in range(4):
        if trees.rewards[g, node, action] == ILLEGAL:
            continue
        own = trees.done[g, node, action]
        worth = trees.points[g, node, action] / own if own else unknown
        worth += root * trees.priors[g, node, action] / (1 + trees.visits[g, node, action])
        if worth > most:
            best, most = action, worth
    return best


@kernel
def _select(trees, leaves, together, explore, game):
    for g in range(len(trees.counts)):
        scale = explore * _deviation(trees.totals[g])
        for i in range(g * together, (g + 1) * together):
            node, length = 0, 0
            while trees.known[g, node] and length < DEEPEST:
                action = _choose(trees, g, node, scale)
                if action == NONE:
                    break
                leaves.path[i, length, 0], leaves.path[i, length, 1] = node, action
                trees.visits[g, node, action] += 1
                length += 1
                after = trees.after[g, node, action]
                board, _, _, trees.randoms[g] = next_state(
                    trees.boards[g, node], ZERO, np.uint64(action), after, trees.randoms[g], game
                )
                node = _find(trees, g, board)
            leaves.nodes[i], leaves.lengths[i] = node, length
            leaves.boards[i] = trees.boards[g, node]
            trees.randoms[g], leaves.randoms[i] = draw(trees.randoms[g])


@kernel
def _backup(trees, leaves, priors, worth, game):
    together = len(worth) // max(len(trees.counts), 1)
    for i in range(len(worth)):
        g, node, points = i // together, leaves.nodes[i], worth[i]
        if not trees.known[g, node]:
            _expand(trees, g, node, priors[i], game)
        for step in range(leaves.lengths[i] - 1, -1, -1):
            above, action = leaves.path[i, step, 0], leaves.path[i, step, 1]
            points += trees.rewards[g, above, action]
            trees.done[g, above, action] += 1
            trees.points[g, above, action] += points
        trees.totals[g, 0] += 1
        trees.totals[g, 1] += points
        trees.totals[g, 2] += points * points


@kernel
def play_on(live, weights, after, rewards, boards, randoms, points, game):
    """Let games take one turn: an action drawn by weights, and a tile.

    live: int64[n], the places of the games in boards, randoms (uint64) and points (float64);
    weights, after, rewards: [n, 4], of their actions; the weights are written over.
    """
    for i in range(len(live)):
        place = live[i]
        randoms[place], bits = draw(randoms[place])
        for action in range(4):
            if rewards[i, action] == ILLEGAL:
                weights[i, action] = 0.0
        if weights[i].sum() <= 0:
            for action in range(4):
                weights[i, action] = rewards[i, action] != ILLEGAL
        action = draw_one(weights[i], unit(bits))
        points[place] += rewards[i, action]
        boards[place], _, _, randoms[place] = next_state(
            boards[place], ZERO, np.uint64(action), after[i, action], randoms[place], game
        )
