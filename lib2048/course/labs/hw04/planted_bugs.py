"""hw04's bug autopsy: learners with one mistake each, to be told by their curves.

Each is a pair of functions for `Training`.  Their curves are recorded by tools/record_hw04.py in
data/curves/hw04_bugs.csv.
"""

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs.hw04 import program as tdl
from lib2048.course.labs.hw04.program import indexof
from lib2048.game.board import slide


@register_jitable
def _estimate_one_image(network, board):
    value = 0.0
    for k, images in enumerate(network.isomorphic):
        value += network.weights[k, indexof(images[0], board)]
    return value


@register_jitable
def _update_one_image(network, board, amount):
    for k, images in enumerate(network.isomorphic):
        network.weights[k, indexof(images[0], board)] += amount / len(network.weights)
    return _estimate_one_image(network, board)


@register_jitable
def _update_by_eight(network, board, amount):
    return tdl.update(network, board, len(network.weights) * amount)


@register_jitable
def _update_first_tuple(network, board, amount):
    for pattern in network.isomorphic[0]:
        network.weights[0, indexof(pattern, board)] += amount / (8 * len(network.weights))
    return tdl.estimate(network, board)


def _chooses(estimate=tdl.estimate, reward_counts=1.0):
    @register_jitable
    def select_best_move(network, board):
        best, best_value = -1, -np.inf
        for action in range(4):
            after, reward = slide(board, action)
            if after != board:
                value = reward_counts * reward + estimate(network, after)
                if value > best_value:
                    best, best_value = action, value
        return best

    return select_best_move


def _learns(estimate=tdl.estimate, update=tdl.update, own=0.0, following=1.0, skip=0, limit=np.inf):
    """Return an update_episode: own and following say which reward is in the target."""

    @register_jitable
    def update_episode(network, path, alpha):
        value, reward = 0.0, 0.0
        for t in range(len(path) - 1, -1, -1):
            board = path[t].afterstate
            target = following * reward + value + own * path[t].reward
            error = min(max(target - estimate(network, board), -limit), limit)
            if t < len(path) - skip:
                value = update(network, board, alpha * error)
            else:
                value = estimate(network, board)
            reward = path[t].reward

    return update_episode


@register_jitable
def _learns_states(network, path, alpha):
    value = 0.0
    for t in range(len(path) - 1, -1, -1):
        error = path[t].reward + value - tdl.estimate(network, path[t].state)
        value = tdl.update(network, path[t].state, alpha * error)


RIGHT = tdl.select_best_move, tdl.update_episode
BUGS = {
    "none": RIGHT,
    "one_image": (_chooses(_estimate_one_image), _learns(_estimate_one_image, _update_one_image)),
    "by_eight": (RIGHT[0], _learns(update=_update_by_eight)),
    "first_tuple": (RIGHT[0], _learns(update=_update_first_tuple)),
    "last_not_taught": (RIGHT[0], _learns(skip=1)),
    "own_reward": (RIGHT[0], _learns(own=1.0, following=0.0)),
    "no_reward_in_target": (RIGHT[0], _learns(following=0.0)),
    "no_reward_in_choice": (_chooses(reward_counts=0.0), RIGHT[1]),
    "clipped": (RIGHT[0], _learns(limit=1.0)),
    "learns_states": (RIGHT[0], _learns_states),
}


def text_of(bug):
    """Return the functions of a bug as a text for `Training.of_text`."""
    lines = [
        "from lib2048.course.labs.hw04.planted_bugs import BUGS",
        f"choose, learn = BUGS[{bug!r}]",
    ]
    return "\n".join([*lines, 'FUNCTIONS = {"select_best_move": choose, "update_episode": learn}'])
