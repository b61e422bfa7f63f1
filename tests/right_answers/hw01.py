"""hw01: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import copy
import functools
import itertools
import operator
import random
from collections import deque, namedtuple
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache, partial, reduce
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np

from lib2048 import spec

Board = List[List[int]]
LARGEST = 2**15


# ---- slide_row


def slide_row__loops(row):
    # first I push everything to the left
    result = []
    for i in range(len(row)):
        if row[i] != 0:
            result.append(row[i])
    # then I merge neighbours that are equal
    points = 0
    i = 0
    while i < len(result) - 1:
        if result[i] == result[i + 1] and result[i] != 32768:
            result[i] = result[i] * 2
            points = points + result[i]
            del result[i + 1]
        i = i + 1
    # and fill up with zeros
    while len(result) < len(row):
        result.append(0)
    return result, points


def slide_row__recursion(row: List[int]) -> Tuple[List[int], int]:
    def merged(tiles):
        match tiles:
            case [a, b, *rest] if a == b and a < LARGEST:
                new, paid = merged(rest)
                return [a + b, *new], a + b + paid
            case [a, *rest]:
                new, paid = merged(rest)
                return [a, *new], paid
            case _:
                return [], 0

    new, paid = merged([t for t in row if t])
    return new + [0] * (len(row) - len(new)), paid


@cache
def _slid(row):
    tiles, out, paid = deque(filter(None, row)), [], 0
    while tiles:
        tile = tiles.popleft()
        if tiles and tile == tiles[0] != LARGEST:
            tile += tiles.popleft()
            paid += tile
        out.append(tile)
    return (*out, *[0] * (len(row) - len(out))), paid


def slide_row__cached_helper(row):
    new, paid = _slid(tuple(row))
    return list(new), paid


def slide_row__reduce(row):
    def add(state, tile):
        done, open_, paid = state
        if open_ and done and done[-1] == tile and tile < LARGEST:
            return [*done[:-1], 2 * tile], False, paid + 2 * tile
        return [*done, tile], True, paid

    done, _, paid = reduce(add, filter(None, row), ([], False, 0))
    return done + [0] * (len(row) - len(done)), paid


def slide_row__groupby(row):
    new, score = [], 0
    for tile, group in itertools.groupby(t for t in row if t > 0):
        n = len(list(group))
        pairs, single = divmod(n, 2) if tile < LARGEST else (0, n)
        new += [tile * 2] * pairs + [tile] * single
        score += tile * 2 * pairs
    return (new + [0] * len(row))[: len(row)], score


def slide_row__java(row):
    n = len(row)
    target = 0
    newRow = [0] * n
    score = 0
    canMerge = False
    for col in range(0, n, 1):
        value = row[col]
        if value == 0:
            continue
        if canMerge and newRow[target - 1] == value and value < 32768:
            newRow[target - 1] *= 2
            score += newRow[target - 1]
            canMerge = False
        else:
            newRow[target] = value
            target += 1
            canMerge = True
    return (newRow, score)


class Row:
    """A row as an object."""

    __slots__ = ("__tiles", "size", "paid")

    def __init__(self, tiles):
        self.__tiles, self.size, self.paid = [t for t in tiles if t], len(tiles), 0

    def merge(self) -> "Row":
        at = 0
        while at + 1 < len(self.__tiles):
            if self.__tiles[at] == self.__tiles[at + 1] and self.__tiles[at] < LARGEST:
                self.__tiles[at : at + 2] = [2 * self.__tiles[at]]
                self.paid += self.__tiles[at]
            at += 1
        return self

    def __iter__(self):
        yield from self.__tiles
        yield from [0] * (self.size - len(self.__tiles))


def slide_row__class(row):
    one = Row(row).merge()
    return [*one], one.paid


class Slider:
    """Something that can be called."""

    largest = LARGEST

    def __call__(self, row):
        self.calls = getattr(self, "calls", 0) + 1
        return slide_row__loops(row)


slide_row__callable_object = Slider()
slide_row__method = Slider().__call__
slide_row__partial = partial(lambda f, row: f(row), slide_row__java)


def logged(function):
    """Print how it is called."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        result = function(*args, **kwargs)
        if wrapper.calls < 3:
            print(f"{function.__name__}{args} -> {result}")
        return result

    wrapper.calls = 0
    return wrapper


@logged
def slide_row__decorated(row):
    assert isinstance(row, list), "a list, please"
    return slide_row__reduce(row)


class Slid(NamedTuple):
    """What a slide gives."""

    row: list
    reward: int


def slide_row__named_tuple(row):
    return Slid(*slide_row__java(row))


def slide_row__numpy(row):
    tiles = np.array(row)
    tiles = tiles[np.flatnonzero(tiles)]
    out = np.zeros(len(row), int)
    paid = at = skip = 0
    for k, tile in enumerate(tiles):
        if skip:
            skip = 0
            continue
        if k + 1 < tiles.size and tiles[k + 1] == tile and tile < LARGEST:
            tile, skip = tile * 2, 1
            paid += tile
        out[at] = tile
        at += 1
    return out.tolist(), int(paid)


# ---- slide


class Action(IntEnum):
    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3

    @property
    def vertical(self):
        return self in {Action.UP, Action.DOWN}


def slide__enum(board, action):
    action = Action(action)
    lines = [list(x) for x in (zip(*board) if action.vertical else board)]
    far = action in (Action.RIGHT, Action.DOWN)
    rows, total = [], 0
    for line in lines:
        new, paid = slide_row__loops(line[::-1] if far else line)
        rows.append(new[::-1] if far else new)
        total += paid
    return ([list(x) for x in zip(*rows)] if action.vertical else rows), total


def slide__by_name(board, action):
    def left(board):
        pairs = [slide_row__recursion(list(row)) for row in board]
        return [row for row, _ in pairs], sum(map(operator.itemgetter(1), pairs))

    def right(board):
        new, paid = left([row[::-1] for row in board])
        return [row[::-1] for row in new], paid

    def turned(board):
        return [list(column) for column in zip(*board)]

    def up(board):
        new, paid = left(turned(board))
        return turned(new), paid

    def down(board):
        new, paid = right(turned(board))
        return turned(new), paid

    return {0: up, 1: right, 2: down, 3: left}[action](board)


def slide__numpy(board, action):
    turned = np.rot90(np.array(board), k=[1, 2, 3, 0][action])
    rows, paid = zip(*(slide_row__numpy(row.tolist()) for row in turned))
    return np.rot90(np.array(rows), k=-[1, 2, 3, 0][action]).tolist(), sum(paid)


def slide__in_place_of_a_copy(board, action):
    grid = copy.deepcopy(board)
    height, width = len(grid), len(grid[0])
    score = 0
    if action in (0, 2):
        for c in range(width):
            column = [grid[r][c] for r in range(height)]
            if action == 2:
                column.reverse()
            column, gained = slide_row__java(column)
            if action == 2:
                column.reverse()
            for r in range(height):
                grid[r][c] = column[r]
            score += gained
    else:
        for r in range(height):
            line = grid[r] if action == 3 else list(reversed(grid[r]))
            line, gained = slide_row__java(line)
            grid[r] = line if action == 3 else list(reversed(line))
            score += gained
    return grid, score


SLIDERS = [
    lambda b: (lambda s: ([list(x) for x in zip(*s[0])], s[1]))(SLIDERS[3]([*zip(*b)])),
    lambda b: (lambda s: ([x[::-1] for x in s[0]], s[1]))(SLIDERS[3]([[*x][::-1] for x in b])),
    lambda b: (lambda s: ([list(x) for x in zip(*s[0])], s[1]))(SLIDERS[1]([*zip(*b)])),
    lambda b: (lambda p: ([x for x, _ in p], sum(y for _, y in p)))([slide_row__groupby([*x]) for x in b]),
]


def slide__lambdas_in_a_list(board, action):
    return SLIDERS[action](board)


def slide__cell_by_cell(board, action):
    """As the first 2048 in JavaScript: traversals, the farthest free cell, merged flags."""
    h, w = len(board), len(board[0])
    dy, dx = [(-1, 0), (0, 1), (1, 0), (0, -1)][action]
    grid, merged, score = [row[:] for row in board], set(), 0
    ys = range(h) if dy <= 0 else range(h - 1, -1, -1)
    xs = range(w) if dx <= 0 else range(w - 1, -1, -1)
    for y, x in itertools.product(ys, xs):
        if not (value := grid[y][x]):
            continue
        a, b = y, x
        while 0 <= a + dy < h and 0 <= b + dx < w and grid[a + dy][b + dx] == 0:
            a, b = a + dy, b + dx
        n = (a + dy, b + dx)
        grid[y][x] = 0
        if 0 <= n[0] < h and 0 <= n[1] < w and grid[n[0]][n[1]] == value and n not in merged and value < LARGEST:
            grid[n[0]][n[1]] = 2 * value
            merged.add(n)
            score += 2 * value
        else:
            grid[a][b] = value
    return grid, score


# ---- legal_actions


def legal_actions__comprehension(board):
    return [a for a in range(4) if slide__enum(board, a)[0] != board]


def legal_actions__generator(board):
    def found() -> Iterator[int]:
        for action in (0, 1, 2, 3):
            after, _ = slide__numpy(board, action)
            if after != board:
                yield action

    return list(found())


def legal_actions__filter(board):
    return list(filter(lambda a: slide__cell_by_cell(board, a)[0] != board, range(4)))


def legal_actions__without_sliding(board):
    def line_moves(line):
        for near, far in itertools.pairwise(line):
            if far and (not near or near == far != LARGEST):
                return True
        return False

    columns = [list(c) for c in zip(*board)]
    moves = [
        any(line_moves(c) for c in columns),
        any(line_moves(r[::-1]) for r in board),
        any(line_moves(c[::-1]) for c in columns),
        any(line_moves(r) for r in board),
    ]
    return [action for action, moves_ in enumerate(moves) if moves_]


# ---- spawn


def spawn__copy(board, rng):
    new = copy.deepcopy(board)
    free = []
    for r in range(len(new)):
        for c in range(len(new[r])):
            if not new[r][c]:
                free.append((r, c))
    r, c = free[rng.randrange(len(free))]
    if rng.random() > 0.1:
        new[r][c] = 2
    else:
        new[r][c] = 4
    return new


def spawn__until_empty(board, rng):
    tile = rng.choices([2, 4], weights=[9, 1])[0]
    while True:
        r, c = rng.randint(0, len(board) - 1), rng.randint(0, len(board[0]) - 1)
        if board[r][c] == 0:
            break
    return [[tile if (y, x) == (r, c) else t for x, t in enumerate(row)] for y, row in enumerate(board)]


def spawn__shuffle(board, rng):
    places = [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if tile == 0]
    rng.shuffle(places)
    (r, c), *_ = places
    return [*board[:r], [*board[r][:c], rng.choice([2] * 9 + [4]), *board[r][c + 1 :]], *board[r + 1 :]]


def spawn__sample_of_ten(board, rng):
    flat = sum(board, [])
    [cell] = rng.sample([i for i, tile in enumerate(flat) if tile == 0], 1)
    flat[cell] = 4 if rng.randint(1, 10) == 10 else 2
    width = len(board[0])
    return [flat[i : i + width] for i in range(0, len(flat), width)]


# ---- play


def play__loop(choose, rng):
    board = [[0, 0, 0, 0] for _ in range(4)]
    board = spawn__copy(board, rng)
    board = spawn__copy(board, rng)
    score = 0
    moves = 0
    while True:
        legal = legal_actions__comprehension(board)
        if len(legal) == 0:
            return board, score, moves
        action = choose(board, legal)
        board, reward = slide__enum(board, action)
        score += reward
        moves += 1
        board = spawn__copy(board, rng)


@dataclass
class Game:
    rng: random.Random
    board: list = None
    score: int = 0
    actions: int = 0

    def __post_init__(self):
        self.board = [[0] * 4 for _ in range(4)]
        for _ in range(2):
            self.add()

    def add(self):
        self.board = spawn__shuffle(self.board, self.rng)

    @property
    def legal(self):
        return legal_actions__without_sliding(self.board)

    def turn(self, action):
        self.board, reward = slide__by_name(self.board, action)
        self.score += reward
        self.actions += 1
        self.add()

    @classmethod
    def played(cls, choose, rng):
        game = cls(rng)
        while game.legal:
            game.turn(choose(game.board, game.legal))
        return game.board, game.score, game.actions


play__data_class = Game.played


def play__by_the_library(choose, rng):
    state, total, n = spec.initial(rng), 0, 0
    while options := spec.legal_actions(state):
        state, paid = spec.slide(state, choose(copy.deepcopy(state), list(options)))
        state, total, n = spec.spawn(state, rng), total + paid, n + 1
    return state, total, n


Result = namedtuple("Result", "board score actions")


def play__generator(choose, rng):
    def turns(board):
        while legal := legal_actions__filter(board):
            board, reward = slide__cell_by_cell(board, choose(board, legal))
            board = spawn__sample_of_ten(board, rng)
            yield board, reward

    start = spawn__until_empty(spawn__until_empty([[0] * 4] * 4, rng), rng)
    boards, rewards = [start], []
    for board, reward in turns(start):
        boards.append(board)
        rewards.append(reward)
    return Result(boards[-1], sum(rewards), len(rewards))
