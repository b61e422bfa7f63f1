"""hw02: right answers that numba can compile, in the styles of many people."""

import random
from random import random as draw

import numba
import numpy as np
from numba import njit

U = np.uint64
MASK, FOUR, ONE = U(0xF), U(4), np.uint64(1)
ROW = 0xFFFF
LEFT_COLUMN = np.uint64(0x000F000F000F000F)


# ---- get_cell


def get_cell__shift(board, cell):
    return (board >> U(4 * cell)) & MASK


def get_cell__divide(board, cell):
    for _ in range(cell):
        board //= U(16)
    return board % U(16)


@njit
def get_cell__njit(board, cell):
    return (np.uint64(board) >> (np.uint64(cell) << np.uint64(2))) & np.uint64(0xF)


def get_cell__plain_numbers(board, cell):
    return (board >> 4 * cell) & 15


def get_cell__recursive(board, cell):
    if cell == 0:
        return board & U(15)
    return get_cell__recursive(board >> U(4), cell - 1)


def get_cell__row_and_column(board, cell):
    """Take the row first."""
    row, column = cell // 4, cell % 4
    line = (board >> U(16 * row)) & U(ROW)
    return (line >> U(4 * column)) & U(0b1111)


# ---- set_cell


def set_cell__mask(board, cell, exponent):
    mask = ~(MASK << U(4 * cell))
    return (board & mask) | (U(exponent) << U(4 * cell))


def set_cell__xor(board, cell, exponent):
    old = get_cell__shift(board, cell)
    return board ^ ((old ^ U(exponent)) << U(4 * cell))


def set_cell__add(board, cell, exponent):
    base = U(1) << U(4 * cell)
    return board - get_cell__divide(board, cell) * base + U(exponent) * base


# ---- slide_row


def slide_row__array(row):
    tiles = np.zeros(4, np.int64)
    n = 0
    for i in range(4):
        e = int((row >> U(4 * i)) & MASK)
        if e != 0:
            tiles[n] = e
            n += 1
    out = np.zeros(4, np.int64)
    k = 0
    m = 0
    reward = 0
    while k < n:
        if k + 1 < n and tiles[k] == tiles[k + 1] and tiles[k] < 15:
            out[m] = tiles[k] + 1
            reward += 1 << (tiles[k] + 1)
            k += 2
        else:
            out[m] = tiles[k]
            k += 1
        m += 1
    new = U(0)
    for i in range(4):
        new |= U(out[i]) << U(4 * i)
    return new, reward


def slide_row__list(row):
    tiles = [int(row >> U(shift) & MASK) for shift in (0, 4, 8, 12)]
    tiles = [t for t in tiles if t > 0]
    reward = 0
    for i in range(len(tiles) - 1):
        if i < len(tiles) - 1 and tiles[i] == tiles[i + 1] and tiles[i] != 15:
            tiles[i] += 1
            tiles.pop(i + 1)
            reward += 2 ** tiles[i]
    new = U(0)
    for i, t in enumerate(tiles):
        new += U(t) << U(4 * i)
    return new, reward


def slide_row__cpp(row):
    """The move_left of many programs in C++."""
    out, hold, top, score = U(0), U(0), 0, 0
    for i in range(4):
        tile = (row >> U(i * 4)) & U(15)
        if tile == U(0):
            continue
        if hold != U(0):
            if tile == hold and tile != U(15):
                tile += U(1)
                out |= tile << U(4 * top)
                score += 1 << int(tile)
                hold = U(0)
            else:
                out |= hold << U(4 * top)
                hold = tile
            top += 1
        else:
            hold = tile
    if hold != U(0):
        out |= hold << U(4 * top)
    return out, score


# ---- transpose, mirror


def transpose__loops(board):
    new = U(0)
    for r in range(4):
        for c in range(4):
            new |= ((board >> U(16 * r + 4 * c)) & MASK) << U(16 * c + 4 * r)
    return new


def transpose__by_cells(board):
    result = board
    for cell in range(16):
        result = set_cell__mask(result, 4 * (cell % 4) + cell // 4, get_cell__shift(board, cell))
    return result


@njit
def get_cell(board, cell):
    return get_cell__njit(board, cell)


@njit
def set_cell(board, cell, exponent):
    return board & ~(U(15) << U(4 * cell)) | U(exponent) << U(4 * cell)


def transpose__compiled_helpers(board):
    new = U(0)
    for cell in range(16):
        new = set_cell(new, 4 * (cell % 4) + cell // 4, get_cell(board, cell))
    return new


def transpose__columns(board):
    new = U(0)
    for c in range(4):
        column = (board >> U(4 * c)) & LEFT_COLUMN
        packed = (column | column >> U(12) | column >> U(24) | column >> U(36)) & U(0xFFFF)
        new |= packed << U(16 * c)
    return new


def mirror__loops(board):
    new = U(0)
    for cell in range(16):
        new |= ((board >> U(4 * cell)) & MASK) << U(4 * (cell - cell % 4 + 3 - cell % 4))
    return new


def mirror__four_columns(board):
    a, b = board & LEFT_COLUMN, (board >> U(4)) & LEFT_COLUMN
    c, d = (board >> U(8)) & LEFT_COLUMN, (board >> U(12)) & LEFT_COLUMN
    return d | c << U(4) | b << U(8) | a << U(12)


def mirror__rows(board):
    new = U(0)
    for shift in range(0, 64, 16):
        row = (board >> U(shift)) & U(ROW)
        back = row >> U(12) | (row >> U(4)) & U(0xF0) | (row << U(4)) & U(0xF00) | (row << U(12)) & U(0xF000)
        new |= back << U(shift)
    return new


# ---- slide


def slide__by_action(board, action, table):
    if action == 3:
        return _left(board, table)
    elif action == 1:
        after, reward = _left(mirror__loops(board), table)
        return mirror__loops(after), reward
    elif action == 0:
        after, reward = _left(transpose__loops(board), table)
        return transpose__loops(after), reward
    else:
        after, reward = _left(mirror__loops(transpose__loops(board)), table)
        return transpose__loops(mirror__loops(after)), reward


def _left(board, table):
    after, reward = U(0), 0
    for k in range(4):
        row = int((board >> U(16 * k)) & U(0xFFFF))
        after |= table[0, row] << U(16 * k)
        reward += int(table[1, row])
    return after, reward


def slide__without_the_table(board, action, table):
    after, reward = U(0), 0
    for k in range(4):
        line = U(0)
        for i in range(4):
            cell = (i * 4 + k, k * 4 + 3 - i, (3 - i) * 4 + k, k * 4 + i)[action]
            line |= ((board >> U(4 * cell)) & MASK) << U(4 * i)
        line, paid = slide_row__cpp(line)
        reward += paid
        for i in range(4):
            cell = (i * 4 + k, k * 4 + 3 - i, (3 - i) * 4 + k, k * 4 + i)[action]
            after |= ((line >> U(4 * i)) & MASK) << U(4 * cell)
    return after, reward


def slide__early_returns(board, action, table):
    upright = action % 2 == 0
    if upright:
        board = transpose__columns(board)
    if action == 1 or action == 2:
        board = mirror__four_columns(board)
    reward = U(0)
    result = U(0)
    shift = 0
    while shift < 64:
        line = board >> U(shift) & U(65535)
        result += table[0][line] << U(shift)
        reward += table[1][line]
        shift += 16
    if action == 1 or action == 2:
        result = mirror__four_columns(result)
    if upright:
        return transpose__columns(result), reward
    return result, reward


# ---- legal


def legal__sum(board, table):
    return sum([(1 << a) * int(slide__by_action(board, a, table)[0] != board) for a in range(4)])


def legal__loop(board, table):
    bits = 0
    bit = 1
    for action in (0, 1, 2, 3):
        after, _ = slide__early_returns(board, action, table)
        if after != board:
            bits += bit
        bit *= 2
    return bits


@njit
def legal__njit(board, table):
    mask = 15
    for action in range(4):
        if _slide(board, action, table)[0] == board:
            mask ^= 1 << action
    return mask


_slide = njit(slide__by_action)


# ---- spawn


def spawn__count_then_find(board):
    empty = 0
    for cell in range(16):
        if get_cell__shift(board, cell) == U(0):
            empty += 1
    k = random.randrange(empty)
    for cell in range(16):
        if get_cell__shift(board, cell) == U(0):
            if k == 0:
                exponent = 1 if random.random() < 0.9 else 2
                return set_cell__mask(board, cell, exponent)
            k -= 1
    return board


def spawn__list(board):
    cells = [c for c in range(16) if (board >> U(4 * c)) & MASK == U(0)]
    cell = cells[int(random.random() * len(cells))]
    return board + (U(1 + (random.random() < 0.1)) << U(4 * cell))


def spawn__numpy_array(board):
    free = np.empty(16, np.int64)
    n = 0
    for c in range(16):
        free[n] = c
        n += (board >> U(4 * c)) & U(15) == U(0)
    tile = U(2) if random.randint(0, 9) == 0 else U(1)
    return board | tile << U(4 * free[random.randint(0, n - 1)])


# ---- play


def spawn(board):
    return spawn__list(board)


def slide(board, action, table):
    return slide__by_action(board, action, table)


def legal(board, table):
    return legal__loop(board, table)


def play__list_of_legal(games, table):
    moves = 0
    score = 0
    for game in range(games):
        board = spawn(spawn(U(0)))
        while True:
            mask = legal(board, table)
            if mask == 0:
                break
            actions = [a for a in range(4) if mask & (1 << a)]
            action = actions[random.randrange(len(actions))]
            board, reward = slide(board, action, table)
            score += int(reward)
            moves += 1
            board = spawn(board)
    return moves, score


def play__one_game_each(games, table):
    moves, score = 0, 0
    for _ in range(games):
        n, points = _one(table)
        moves += n
        score += points
    return moves, score


def _one(table):
    board, n, points = spawn(spawn(U(0))), 0, 0
    while legal(board, table) != 0:
        action = random.randrange(4)
        after, paid = slide(board, action, table)
        if after == board:
            continue
        board, n, points = spawn(after), n + 1, points + int(paid)
    return n, points


def play__counters_in_an_array(games, table):
    total = np.zeros(2, np.int64)
    left = games
    board = spawn(spawn(U(0)))
    while left > 0:
        mask = legal(board, table)
        if not mask:
            left -= 1
            if left:
                board = spawn(spawn(U(0)))
            continue
        k = int(draw() * 4)
        while not (mask >> k) & 1:
            k = int(draw() * 4)
        board, reward = slide(board, k, table)
        total[0] += 1
        total[1] += int(reward)
        board = spawn(board)
    return total[0], total[1]
