"""hw04: what students typically write instead, which a check compares with their answers.

What is wrong with each stands in messages/hw04.toml, under the name that hw04 gives it.
"""

import numpy as np

from lib2048.course.labs.hw04 import program as tdl
from lib2048.course.labs.hw04.program import at, put
from lib2048.game.board import afterstates, slide

TUPLES = (0, 1, 2, 5), (4, 5, 6, 9), (0, 1, 2, 3)  # of the checks' small network
LOOKUPS = 8 * len(TUPLES)


def sum_of(images_of=lambda images: images, index=tdl.indexof):
    def estimate(network, board):
        return sum(
            float(network.weights[k, index(pattern, board)])
            for k, images in enumerate(network.isomorphic)
            for pattern in images_of(images)
        )

    return estimate


def updates(share, again=True, images_of=lambda images: images):
    def update(network, board, amount):
        for k, images in enumerate(network.isomorphic):
            for pattern in images_of(images):
                network.weights[k, tdl.indexof(pattern, board)] += share(amount, network)
        return tdl.estimate(network, board) if again else None

    return update


def set_weights(network, board, amount):
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            network.weights[k, tdl.indexof(pattern, board)] = amount / (8 * len(network.weights))
    return tdl.estimate(network, board)


def returns(value_of):
    """Return an update that answers value_of(old value, amount)."""

    def update(network, board, amount):
        value = tdl.estimate(network, board)
        tdl.update(network, board, amount)
        return value_of(value, amount)

    return update


def sums_while_updating(network, board, amount):
    value = 0.0
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            place = k, tdl.indexof(pattern, board)
            network.weights[place] += amount / (8 * len(network.weights))
            value += network.weights[place]
    return value


def first_weight(network, board, amount):
    network.weights[0, tdl.indexof(network.isomorphic[0][0], board)] += amount / LOOKUPS
    return tdl.estimate(network, board)


def first_tuple(network, board, amount):
    for image in network.isomorphic[0]:
        network.weights[0, tdl.indexof(image, board)] += amount / LOOKUPS
    return tdl.estimate(network, board)


def once_each(network, board, amount):
    for k, images in enumerate(network.isomorphic):
        for index in {tdl.indexof(pattern, board) for pattern in images}:
            network.weights[k, index] += amount / (8 * len(network.weights))
    return tdl.estimate(network, board)


def chooses(worth, best=max, none=-1):
    """Return a choice by worth(network, board, after, reward)."""

    def select_best_move(network, board):
        options = afterstates(board)
        if not options:
            return none
        return best(options, key=lambda option: worth(network, board, *option[1:]))[0]

    return select_best_move


def first_is_best(network, board):
    """Begin with the value 0: where all are worth less, the first action is never beaten."""
    best, best_value = 0, 0.0
    for action, after, reward in afterstates(board):
        if reward + tdl.estimate(network, after) > best_value:
            best, best_value = action, reward + tdl.estimate(network, after)
    return best


def none_below_0(network, board):
    best, best_value = -1, 0.0
    for action, after, reward in afterstates(board):
        if reward + tdl.estimate(network, after) > best_value:
            best, best_value = action, reward + tdl.estimate(network, after)
    return best


def legal(board):
    return [action for action, _, _ in afterstates(board)]


def place_in_list(network, board):
    best = tdl.select_best_move(network, board)
    return legal(board).index(best) if best >= 0 else -1


def gives_up(network, board):
    return tdl.select_best_move(network, board) if len(legal(board)) == 4 else -1


def merges_only(network, board):
    worth = {a: r + tdl.estimate(network, after) for a, after, r in afterstates(board) if r > 0}
    return max(worth, key=worth.get, default=-1)


def ignores_legality(network, board):
    values = [
        reward + tdl.estimate(network, after)
        for after, reward in (slide(board, action) for action in range(4))
    ]
    return int(np.argmax(values))


def learns(target_of, boards=lambda step: step.afterstate, turns=reversed, amount=None, fresh=True):
    """Return an update of an episode: target_of(network, path, t, value of the entry after t).

    turns: of range(len(path)), those that learn, in their order; fresh: whether the value after t
    has learned already, where it is later in the path.
    """

    def update_episode(network, path, alpha):
        old = 0.0
        for t in turns(range(len(path))):
            following = boards(path[t + 1]) if t + 1 < len(path) else None
            value = 0.0 if following is None else tdl.estimate(network, following)
            target = target_of(network, path, t, value if fresh else old)
            old = tdl.estimate(network, boards(path[t]))
            error = target - old
            tdl.update(network, boards(path[t]), amount(error, alpha) if amount else alpha * error)

    return update_episode


def dead_first(learn):
    """Return an update of an episode that teaches the dead state 0, and then does as another."""

    def update_episode(network, path, alpha):
        dead = path[-1].next_state
        tdl.update(network, dead, -alpha * tdl.estimate(network, dead))
        learn(network, path, alpha)

    return update_episode


def next_reward(network, path, t, value):
    return (path[t + 1].reward if t + 1 < len(path) else 0.0) + value


def own_reward(network, path, t, value):
    return path[t].reward + value


def with_states(target_of=own_reward, **how):
    """Return an update of an episode of states: the dead one first, then as `learns`."""
    return dead_first(learns(target_of, lambda step: step.state, **how))


def next_state(network, path, t, value):
    if t + 1 == len(path):
        return 0.0
    return path[t + 1].reward + tdl.estimate(network, path[t + 1].state)


def last_own_reward(network, path, t, value):
    return path[t].reward if t + 1 == len(path) else next_reward(network, path, t, value)


def forward_carry(network, path, alpha):
    target = 0.0
    for step in path:
        error = target - tdl.estimate(network, step.afterstate)
        target = step.reward + tdl.update(network, step.afterstate, alpha * error)


def saved(network, path, alpha):
    values = [tdl.estimate(network, step.afterstate) for step in path]
    rewards = [step.reward for step in path]
    targets = [r + v for r, v in zip(rewards[1:], values[1:])] + [0.0]
    for step, target, value in zip(path, targets, values):
        tdl.update(network, step.afterstate, alpha * (target - value))


def all_but_last(turns):
    return turns[-2::-1]


def all_but_first(turns):
    return turns[:0:-1]


def last_alone(turns):
    return turns[-1:]


def clipped(error, alpha):
    return alpha * min(max(error, -1.0), 1.0)


def expects(two=0.9, four=0.1, exponents=(1, 2), divisor=lambda empty: empty):
    def expected_value(network, afterstate):
        empty = [cell for cell in range(16) if at(afterstate, cell) == 0]
        total = sum(
            two * tdl.estimate(network, put(afterstate, cell, exponents[0]))
            + four * tdl.estimate(network, put(afterstate, cell, exponents[1]))
            for cell in empty
        )
        return total / divisor(len(empty))

    return expected_value


def first_empty_cell(network, afterstate):
    cell = next(cell for cell in range(16) if at(afterstate, cell) == 0)
    two, four = (tdl.estimate(network, put(afterstate, cell, exponent)) for exponent in (1, 2))
    return 0.9 * two + 0.1 * four


def dead_adds_zero(network, path, alpha):
    """The slip of a report: an update by 0 teaches nothing, and the last error starts one late."""
    tdl.update(network, path[-1].state, 0.0)
    learns(own_reward, lambda step: step.state, all_but_last)(network, path, alpha)


def dead_whole(network, path, alpha):
    tdl.update(network, path[-1].next_state, -tdl.estimate(network, path[-1].next_state))
    learns(own_reward, lambda step: step.state)(network, path, alpha)


def dead_in_target(network, path, alpha):
    dead = path[-1].next_state
    target = tdl.update(network, dead, -alpha * tdl.estimate(network, dead))
    for step in path[::-1]:
        error = step.reward + target - tdl.estimate(network, step.state)
        target = tdl.update(network, step.state, alpha * error)
