"""hw04: right answers that numba can compile, in the styles of many people."""

import numpy as np
from numba import njit

from lib2048.course.labs import at, put, slide

WIDTH = 4
NEVER = -3.0e38
U = np.uint64

# ---- indexof


def indexof__horner(pattern, board):
    index = 0
    for k in range(len(pattern) - 1, -1, -1):
        index = index * 16 + at(board, pattern[k])
    return index


def indexof__sum(pattern, board):
    total = 0
    power = 1
    for cell in pattern:
        total += at(board, cell) * power
        power *= 16
    return total


def indexof__cpp(pattern, board):
    """size_t indexof(const std::vector<int>& patt, const board& b)."""
    index = 0
    for i in range(len(pattern)):
        index |= at(board, pattern[i]) << (i * WIDTH)
    return index


def indexof__powers(pattern, board):
    return sum([at(board, pattern[i]) * 16**i for i in range(len(pattern))])


@njit
def indexof__njit(pattern, board):
    index = np.uint64(0)
    for i in range(len(pattern)):
        index += np.uint64(at(board, pattern[i])) << np.uint64(4 * i)
    return np.int64(index)


# the helpers of what follows


def indexof(pattern, board):
    return indexof__cpp(pattern, board)


def estimate(network, board):
    return estimate__cpp(network, board)


def update(network, board, amount):
    return update__cpp(network, board, amount)


# ---- estimate


def one_tuple(network, k, board):
    value = 0.0
    for pattern in network.isomorphic[k]:
        value += network.weights[k][indexof(pattern, board)]
    return value


def estimate__cpp(network, board):
    """float estimate(const board& b) const, of all features."""
    value = 0.0
    for k in range(len(network.isomorphic)):
        value += one_tuple(network, k, board)
    return value


def estimate__enumerate(network, board):
    total = 0.0
    for k, images in enumerate(network.isomorphic):
        row = network.weights[k]
        for image in images:
            total = total + row[indexof(image, board)]
    return float(total)


def estimate__array(network, board):
    m = len(network.weights)
    found = np.zeros((m, 8))
    for k in range(m):
        for i in range(8):
            found[k, i] = network.weights[k, indexof(network.isomorphic[k][i], board)]
    return found.sum()


def estimate__zip(network, board):
    value = 0.0
    for table, images in zip(network.weights, network.isomorphic):
        value += sum([table[indexof(p, board)] for p in images])
    return value


# ---- update


def update__cpp(network, board, amount):
    """float update(const board& b, float u), u split over all features, then its isomorphisms."""
    u_split = amount / len(network.isomorphic)
    for k in range(len(network.isomorphic)):
        adjust = u_split / len(network.isomorphic[k])
        for pattern in network.isomorphic[k]:
            network.weights[k, indexof(pattern, board)] += adjust
    return estimate(network, board)


def update__count(network, board, amount):
    n = 0
    for images in network.isomorphic:
        n += len(images)
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            i = indexof(pattern, board)
            network.weights[k][i] = network.weights[k][i] + amount / n
    return estimate(network, board)


def update__places_first(network, board, amount):
    m = len(network.weights)
    places = np.zeros((m, 8), np.int64)
    for k in range(m):
        for i in range(8):
            places[k, i] = indexof(network.isomorphic[k][i], board)
    share = amount / places.size
    for k in range(m):
        for place in places[k]:
            network.weights[k, place] += share
    return estimate__array(network, board)


# ---- select_best_move


def select_best_move__cpp(network, board):
    """The C++ lab: a move for each opcode, the best of those that are valid."""
    best = -1
    best_total = NEVER
    for opcode in range(4):
        afterstate, reward = slide(board, opcode)
        if afterstate != board:  # assign() succeeded
            esti = reward + estimate(network, afterstate)
            if esti > best_total:
                best_total = esti
                best = opcode
    return best


def select_best_move__arrays(network, board):
    worth = np.full(4, -np.inf)
    for a in range(4):
        after, reward = slide(board, a)
        if after == board:
            continue
        worth[a] = reward + estimate(network, after)
    if np.isinf(worth).all():
        return -1
    return int(np.argmax(worth))


def select_best_move__lists(network, board):
    moves = [(a, slide(board, a)) for a in range(4)]
    legal = [(a, s, r) for a, (s, r) in moves if s != board]
    if len(legal) == 0:
        return -1
    best = legal[0][0]
    value = legal[0][2] + estimate(network, legal[0][1])
    for a, s, r in legal[1:]:
        v = r + estimate(network, s)
        if v > value:
            best, value = a, v
    return best


# ---- update_episode


def update_episode__cpp(network, path, alpha):
    """The C++ lab: from the terminal state to the beginning, `exact` carried along."""
    exact = 0.0
    i = len(path) - 1
    while i >= 0:
        move = path[i]
        error = exact - estimate(network, move.afterstate)
        exact = move.reward + update(network, move.afterstate, alpha * error)
        i -= 1


def update_episode__forward_index(network, path, alpha):
    n = len(path)
    for k in range(n):
        t = n - 1 - k
        s = path[t].afterstate
        if t == n - 1:
            target = 0.0
        else:
            target = path[t + 1].reward + estimate(network, path[t + 1].afterstate)
        update(network, s, alpha * (target - estimate(network, s)))


def update_episode__reversed(network, path, alpha):
    target = 0.0
    for step in path[::-1]:
        delta = target - estimate(network, step.afterstate)
        value = update(network, step.afterstate, alpha * delta)
        target = step.reward + value


def update_episode__negative(network, path, alpha):
    value, reward = 0.0, 0.0
    for t in range(1, len(path) + 1):
        step = path[-t]
        error = reward + value - estimate(network, step.afterstate)
        value, reward = update(network, step.afterstate, alpha * error), step.reward


# ---- expected_value


def expected_value__loops(network, afterstate):
    values = 0.0
    n = 0
    for cell in range(16):
        if at(afterstate, cell) == 0:
            n += 1
            two = estimate(network, put(afterstate, cell, 1))
            four = estimate(network, put(afterstate, cell, 2))
            values += 0.9 * two + 0.1 * four
    return values / n


def expected_value__mean(network, afterstate):
    empty = [cell for cell in range(16) if at(afterstate, cell) == 0]
    twos = np.array([estimate(network, put(afterstate, c, 1)) for c in empty])
    fours = np.array([estimate(network, put(afterstate, c, 2)) for c in empty])
    return 0.9 * twos.mean() + 0.1 * fours.mean()


def expected_value__chances(network, afterstate):
    total = 0.0
    weight = 0.0
    for cell in range(16):
        for exponent, chance in ((1, 0.9), (2, 0.1)):
            if at(afterstate, cell) > 0:
                break
            total += chance * estimate(network, put(afterstate, cell, exponent))
            weight += chance
    return total / weight


def expected_value(network, afterstate):
    return expected_value__chances(network, afterstate)


# ---- select_best_move_by_states


def select_best_move_by_states__loop(network, board):
    best, best_value = -1, -np.inf
    for action in range(4):
        after, reward = slide(board, action)
        if after == board:
            continue
        value = expected_value(network, after) + reward
        if best == -1 or value > best_value:
            best = action
            best_value = value
    return best


def select_best_move_by_states__array(network, board):
    q = np.full(4, NEVER)
    for a in range(4):
        s, r = slide(board, a)
        if s != board:
            q[a] = r + expected_value__mean(network, s)
    return -1 if q.max() == NEVER else q.argmax()


def select_best_move_by_states__own_helper(network, board):
    top = -1
    for action in range(4):
        if _legal(board, action):
            if top < 0 or _worth(network, board, action) > _worth(network, board, top):
                top = action
    return top


def _legal(board, action):
    return slide(board, action)[0] != board


def _worth(network, board, action):
    after, reward = slide(board, action)
    return reward + expected_value__loops(network, after)


# ---- update_episode_of_states


def update_episode_of_states__loop(network, path, alpha):
    last = path[-1].next_state
    update(network, last, -alpha * estimate(network, last))
    for t in range(len(path) - 1, -1, -1):
        step = path[t]
        target = step.reward
        if t == len(path) - 1:
            target += 0.0
        else:
            target += estimate(network, step.next_state)
        update(network, step.state, alpha * (target - estimate(network, step.state)))


def update_episode_of_states__carried(network, path, alpha):
    dead = path[len(path) - 1].next_state
    update(network, dead, alpha * (0 - estimate(network, dead)))
    value = 0.0
    for step in path[::-1]:
        error = step.reward + value - estimate(network, step.state)
        value = update(network, step.state, alpha * error)


def update_episode_of_states__boards(network, path, alpha):
    boards = [step.state for step in path] + [path[-1].next_state]
    rewards = [step.reward for step in path]
    update(network, boards[-1], alpha * -estimate(network, boards[-1]))
    t = len(rewards)
    value = 0.0
    while t:
        t -= 1
        value = update(network, boards[t], alpha * (rewards[t] + value - estimate(network, boards[t])))
