"""hw02, bitboards and numba: the game of hw01 on one 64-bit integer, compiled.

Cell p (row-major, 0..15) sits at bits 4p and holds an exponent.  The table that slides need is
uint64[2, 65536]: of each row its slide to the left, and what that pays.
"""

import random as luck
from functools import partial
from random import random as draw

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs import hw01
from lib2048.course.labs.exercise import Exercise, watched, wrong_if
from lib2048.game import board as boards_module
from lib2048.game import spec
from lib2048.game.rules_2048 import SLIDES

U = np.uint64
FOUR = hw01.FOUR
GAMES = 400
MOST_SPAWNS = 2000  # of one game
RANDOM_PLAY = {  # moves and score of a game by the chance of a 4: mean and standard deviation
    0.05: ((126, 40), (1147, 558)), 0.1: ((118, 38), (1095, 535)), 0.15: ((111, 36), (1045, 518)),
    0.2: ((106, 34), (1014, 509)), 0.25: ((101, 32), (981, 492)), 0.3: ((96, 31), (951, 484)),
}[FOUR]  # fmt: skip
TABLE = np.stack([SLIDES & U(0xFFFF), SLIDES >> U(32)])


# ---------------------------------------------------------------- the library's versions


@register_jitable
def get_cell(board, cell):
    """Return the exponent in a cell, 0..15."""
    return board >> U(4 * cell) & U(15)


@register_jitable
def set_cell(board, cell, exponent):
    """Return the board with another exponent in a cell."""
    shift = U(4 * cell)
    return board & ~(U(15) << shift) | U(exponent) << shift


@register_jitable
def slide_row(row):
    """Slide a row of 16 bits to the left; return (the new row, the reward)."""
    new, filled, last, reward = U(0), 0, U(0), 0
    for cell in range(4):
        exponent = row >> U(4 * cell) & U(15)
        if exponent > U(0) and exponent < U(15) and exponent == last:
            new += U(1) << U(4 * (filled - 1))
            reward, last = reward + (2 << int(exponent)), U(0)
        elif exponent > U(0):
            new, filled, last = new | exponent << U(4 * filled), filled + 1, exponent
    return new, reward


@register_jitable
def transpose(board):
    """Make the rows columns."""
    keep, on, back = U(0xF0F00F0FF0F00F0F), U(0x0000F0F00000F0F0), U(0x0F0F00000F0F0000)
    board = board & keep | (board & on) << U(12) | (board & back) >> U(12)
    keep, on, back = U(0xFF00FF0000FF00FF), U(0x00000000FF00FF00), U(0x00FF00FF00000000)
    return board & keep | (board & on) << U(24) | (board & back) >> U(24)


@register_jitable
def mirror(board):
    """Reverse each row."""
    board = (board & U(0x0F0F0F0F0F0F0F0F)) << U(4) | board >> U(4) & U(0x0F0F0F0F0F0F0F0F)
    return (board & U(0x00FF00FF00FF00FF)) << U(8) | board >> U(8) & U(0x00FF00FF00FF00FF)


@register_jitable
def slide(board, action, table):
    """Slide a board; return (the afterstate, the reward)."""
    upright, far = action == 0 or action == 2, action == 1 or action == 2
    lines = transpose(board) if upright else board
    lines = mirror(lines) if far else lines
    after, reward = U(0), U(0)
    for shift in (U(0), U(16), U(32), U(48)):
        row = lines >> shift & U(0xFFFF)
        after |= table[0, row] << shift
        reward += table[1, row]
    after = mirror(after) if far else after
    return (transpose(after) if upright else after), reward


@register_jitable
def legal(board, table):
    """Return a number whose bit a is set where action a is legal."""
    mask = 0
    for action in range(4):
        if slide(board, action, table)[0] != board:
            mask |= 1 << action
    return mask


@register_jitable
def spawn(board):
    """Put a 2 or, with the chance of the class's game, a 4 into a random empty cell."""
    cell = int(16 * draw())
    while board >> U(4 * cell) & U(15):
        cell = int(16 * draw())
    return board | U(2 if draw() < FOUR else 1) << U(4 * cell)


@register_jitable
def play(games, table):
    """Play games of random legal actions; return (moves, score), the sums over all games."""
    moves, score = 0, 0
    for _ in range(games):
        board = spawn(spawn(U(0)))
        mask = legal(board, table)
        while mask:
            action = int(4 * draw())
            if mask >> action & 1:
                after, reward = slide(board, action, table)
                board, moves, score = spawn(after), moves + 1, score + int(reward)
                mask = legal(board, table)
    return moves, score


# ---------------------------------------------------------------- boards to try


def some_boards(random, count=12):
    """Return packed boards: nearly empty ones, those of games, and a full one of large tiles."""
    few = [[[0] * 4, [0, 2, 0, 0], [0] * 4, [0, 0, 0, 4]], [[2, 4, 8, 16], *[[0] * 4] * 3]]
    full = [[2, 4, 8, 16], [32, 64, 128, 256], [512, 1024, 2048, 4096], [8192, 16384, 32768, 2]]
    large = [[0] * 4, [0] * 4, [0, 0, 0, 2], [16384, 0, 16384, 16384]]
    tiles = [*few, *hw01.some_boards(random, count - 4, rows=4), full, large]
    return [boards_module.from_tiles(board) for board in tiles]


def cells_of_boards(random):
    """Return cases of a board and a cell."""
    pairs = [
        (board, int(cell)) for board in some_boards(random) for cell in random.permutation(16)[:3]
    ]
    return [*pairs, (some_boards(random)[-1], 15)]


def new_cells(random):
    """Return cases of a board, a cell and its new exponent."""
    cases = [(*case, int(random.integers(0, 16))) for case in cells_of_boards(random)]
    return [*cases, (U(0), 15, 15)]


def rows(merging, random):
    """Return rows of 16 bits, those with merges or those without."""
    tiles = [row for (row,) in [*hw01.plain_rows(random), *hw01.merging_rows(random)]]
    chosen = [row for row in tiles if (spec.slide_row(row)[1] > 0) == merging]
    chosen += [[32768, 32768, 0, 0]] * (not merging) + [[0, 16384, 16384, 2]] * merging
    return [(_packed_row(row),) for row in chosen]


def _packed_row(row):
    return U(sum(tile.bit_length() - 1 << 4 * cell for cell, tile in enumerate(row) if tile))


def boards_alone(random):
    """Return cases of one board."""
    return [(board,) for board in some_boards(random)]


def along(*actions):
    """Return a function that draws boards for some of the actions."""
    return lambda random: [(b, a, TABLE) for b in some_boards(random) for a in actions]


def boards_and_table(random):
    """Return cases of a board and the table."""
    stuck = boards_module.from_tiles([[2, 4, 8, 16], [4, 8, 16, 2], [8, 16, 2, 4], [2, 4, 8, 2]])
    return [(board, TABLE) for board in [*some_boards(random), stuck]]


def not_full(random):
    """Return boards with one, two neighbouring and many empty cells."""
    two = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 0, 0], [4, 2, 4, 2]]
    one = [[32768, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]]
    return [(boards_module.from_tiles(tiles),) for tiles in (two, one, [[0] * 4] * 4)]


# ---------------------------------------------------------------- chance


def spawned(function, board):
    """Spawn many times; raise Wrong for what a spawn should not do.  Returns True."""
    luck.seed(1)

    def after():
        found = function(board)
        wrong_if(not isinstance(found, (int, np.integer)), "no_board", got=repr(found)[:60])
        return _exponents(found)

    times = hw01.SPAWNS if board else hw01.MANY
    hw01.check_spawns(_exponents(board), after, times, tiles=(1, 2))
    return True


def _exponents(board):
    return [[int(board) >> 4 * cell & 15 for cell in range(row, row + 4)] for row in (0, 4, 8, 12)]


def played(function, games, table):
    """Play games; raise Wrong where moves and score are not those of random play.

    As plain Python it plays one game, every spawn of which is looked at; compiled all of them.
    """
    luck.seed(1)
    if not hasattr(function, "py_func"):
        _check_game(function, table)
        return True
    for key, got, (mean, spread) in zip(("moves", "score"), function(games, table), RANDOM_PLAY):
        words = {"got": f"{got / games:,.0f}", "about": f"{mean:,}"}
        wrong_if(abs(got / games - mean) > 8 * spread / games**0.5, key, **words)
    return True


def _check_game(function, table):
    """Watch a game by its spawns; raise Wrong for what is against the rules."""
    with watched(function, "spawn", keep=MOST_SPAWNS) as calls:
        answer = function(1, table)
    is_pair = isinstance(answer, tuple) and len(answer) == 2
    wrong_if(not is_pair, "no_pair", got=repr(answer)[:60])
    spawns = [(int(before), int(after)) for _, (before,), after in calls]
    wrong_if(len(spawns) < 2 or spawns[0][0] != 0 or spawns[1][0] != spawns[0][1], "start")
    board, score = spawns[1][1], 0
    for before, after in spawns[2:]:
        legal = boards_module.afterstates(U(board))
        rewards = [reward for _, slid, reward in legal if int(slid) == before]
        wrong_if(not rewards, "not_legal")
        board, score = after, score + rewards[0]
    wrong_if(boards_module.afterstates(U(board)), "too_soon")
    for key, got, right in zip(("moves", "score"), answer, (len(spawns) - 2, score)):
        wrong_if(got != right, f"count_{key}", got=repr(got)[:40], right=right)


# ---------------------------------------------------------------- typical mistakes


def _as_tiles(slide_tiles):
    """Return a slide_row by a function on lists of tiles."""

    def version(row):
        new, reward = slide_tiles(boards_module.to_tiles(U(row))[0])
        return _packed_row(new), reward

    return version


def _moved(cell_of):
    """Return a function that moves each cell of a board to another place."""

    def version(board):
        new = U(0)
        for cell in range(16):
            new |= (U(board) >> U(4 * cell) & U(15)) << U(4 * cell_of(cell // 4, cell % 4))
        return new

    return version


# ---------------------------------------------------------------- the exercises

TABLES = {"table": "hidden"}
THERE = """    lines = transpose(board) if upright else board
    lines = mirror(lines) if far else lines
"""
BACK = """    after = mirror(after) if far else after
    return (transpose(after) if upright else after), reward
"""
LAST_STEPS = (  # of transpose and of mirror
    "return board & keep | (board & on) << U(24) | (board & back) >> U(24)",
    "return (board & U(0x00FF00FF00FF00FF)) << U(8) | board >> U(8) & U(0x00FF00FF00FF00FF)",
)
EXERCISES = [
    Exercise(
        "hw02", get_cell, cells_of_boards,
        mistakes={
            "from_the_top": ("4 * cell", "60 - 4 * cell"),
            "no_mask": (" & U(15)", ""),
            "one_bit": ("4 * cell", "cell"),
            "by_columns": ("4 * cell", "4 * (cell % 4 * 4 + cell // 4)"),
            "tile": lambda board, cell: (1 << int(get_cell(board, cell))) & ~1,
        },
        compiles=True,
    ),
    Exercise(
        "hw02", set_cell, new_cells,
        mistakes={
            "not_cleared": ("board & ~(U(15) << shift)", "board"),
            "from_the_top": ("4 * cell", "60 - 4 * cell"),
            "others_lost": ("board & ~(U(15) << shift) | ", ""),
            "only_cleared": (" | U(exponent) << shift", ""),
        },
        result="board", compiles=True,
    ),
    Exercise(
        "hw02", slide_row, parts={"no merge": partial(rows, False), "merges": partial(rows, True)},
        mistakes={
            "largest": (" and exponent < U(15)", ""),
            "to_the_right": ("U(4 * ", "U(12 - 4 * "),
            "merged_twice": _as_tiles(hw01.merged_twice),
            "from_the_right": _as_tiles(hw01.from_the_right),
            "gap": _as_tiles(hw01.gap),
            "no_reward": ("reward + (2 << int(exponent))", "0"),
            "exponents": ("(2 << int(exponent))", "int(exponent) + 1"),
            "old_tile": ("2 << int", "1 << int"),
        },
        show={"row": "packed row"}, result={"row": "packed row", "reward": "text"}, compiles=True,
    ),
    Exercise(
        "hw02", transpose, boards_alone,
        mistakes={
            "first_step": (LAST_STEPS[0], "return board"),
            "other_diagonal": _moved(lambda row, column: 4 * (3 - column) + 3 - row),
            "turned": _moved(lambda row, column: 4 * (3 - column) + row),
            "turned_right": _moved(lambda row, column: 4 * column + 3 - row),
        },
        result="board", compiles=True,
    ),
    Exercise(
        "hw02", mirror, boards_alone,
        mistakes={
            "no_mask": (">> U(8) & U(0x00FF00FF00FF00FF)", ">> U(8)"),
            "pairs": (LAST_STEPS[1], "return board"),
            "upside_down": _moved(lambda row, column: 4 * (3 - row) + column),
            "half_turn": _moved(lambda row, column: 15 - 4 * row - column),
        },
        result="board", compiles=True,
    ),
    Exercise(
        "hw02", slide, parts={"rows": along(3, 1), "columns": along(0, 2)},
        mistakes={
            "not_back": (BACK, "    return after, reward\n"),
            "no_mirror": ("mirror(lines) if far else ", "", "mirror(after) if far else ", ""),
            "first_reward": ("table[1, row]", "table[1, row] * U(shift == U(0))"),
            "opposite": lambda board, action, table: slide(board, (action + 2) % 4, table),
            "order_there": (THERE, """    lines = mirror(board) if far else board
    lines = transpose(lines) if upright else lines
"""),
            "order_back": (BACK, """    after = transpose(after) if upright else after
    return (mirror(after) if far else after), reward
"""),
            "no_transpose": ("transpose(board) if upright else ", "",
                             "transpose(after) if upright else ", ""),
        },
        show=TABLES, result={"afterstate": "board", "reward": "text"}, compiles=True,
    ),
    Exercise(
        "hw02", legal, boards_and_table,
        mistakes={
            "turned_bits": ("1 << action", "8 >> action"),
            "paying": ("[0] != board", "[1] > 0"),
            "all": lambda board, table: 15,
            "count": ("|= 1 << action", "+= 1"),
            "sum": ("|= 1 << action", "+= action"),
        },
        show=TABLES, compiles=True,
    ),
    Exercise(
        "hw02", spawn, not_full, outcome=spawned, compiles=True,
    ),
    Exercise(
        "hw02", play, lambda random: [(GAMES, TABLE)], outcome=played,
        show={"table": "hidden"}, compiles=True,
    ),
]  # fmt: skip
