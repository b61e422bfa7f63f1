"""hw02, bitboards and numba: the game of hw01 on one 64-bit integer, compiled.

Cell p (row-major, 0..15) sits at bits 4p and holds an exponent.  The table that slides need is
uint64[2, 65536]: of each row its slide to the left, and what that pays.  Odds and largest tile are
those of the class.
"""

import random as luck
from collections import Counter
from functools import partial
from random import random as draw

import numpy as np
from numba.extending import register_jitable

from lib2048.course.labs import hw01
from lib2048.course.labs.exercise import Exercise, changed, watched, wrong_if
from lib2048.course.labs.seeds import rules_of
from lib2048.game import board as boards_module
from lib2048.game import spec
from lib2048.game.rules_2048 import SLIDES

U = np.uint64
FOUR, LARGEST = hw01.FOUR, rules_of("hw02").more["largest"]
LAST = U(LARGEST.bit_length() - 1)  # its exponent
GAMES = 400  # that are played compiled
MOST_SPAWNS = 2000  # of one game
RANDOM_PLAY = {  # moves and score of a game by the chance of a 4: mean and standard deviation
    0.05: ((126, 40), (1147, 558)), 0.1: ((118, 38), (1095, 535)), 0.15: ((111, 36), (1045, 518)),
    0.2: ((106, 34), (1014, 509)), 0.25: ((101, 32), (981, 492)), 0.3: ((96, 31), (951, 484)),
}[FOUR]  # fmt: skip

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
        if exponent > U(0) and exponent < LAST and exponent == last:
            new += U(1) << U(4 * (filled - 1))
            reward, last = reward + (2 << int(exponent)), U(0)
        elif exponent > U(0):
            new, filled, last = new | exponent << U(4 * filled), filled + 1, exponent
    return new, reward


def _table():
    table = np.stack([SLIDES & U(0xFFFF), SLIDES >> U(32)])
    cells = np.arange(1 << 16)[:, None] >> np.arange(0, 16, 4) & 15
    for row in np.flatnonzero((cells == LAST).sum(1) > 1):  # the library's own end at 32768
        table[:, row] = slide_row(U(row))
    return table


TABLE = _table()


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


def some_boards(random, count=10):
    """Return packed boards: known ones, nearly empty ones, those of games, and large tiles."""
    few = [[[0] * 4, [0, 2, 0, 0], [0] * 4, [0, 0, 0, 4]], [[2, 4, 8, 16], *[[0] * 4] * 3]]
    tiles = [*few, *hw01.some_boards(random, count, 4, LARGEST)]
    return [boards_module.from_tiles(board) for board in tiles]


def any_boards(random):
    """Return boards, and two of all exponents whatever tiles a class has."""
    mixed = random.permutation(16), range(16)
    return [*some_boards(random), *(_packed_row([1 << int(e) for e in cells]) for cells in mixed)]


def cells_of_boards(random):
    """Return cases of a board and a cell; each cell of the last board."""
    boards = any_boards(random)
    pairs = [(board, int(cell)) for board in boards for cell in random.permutation(16)[:2]]
    return [*pairs, *((boards[-1], cell) for cell in range(16))]


def new_cells(random):
    """Return cases of a board, a cell and its new exponent."""
    cases = [(*case, int(random.integers(0, 16))) for case in cells_of_boards(random)]
    full = any_boards(random)[-1]
    return [*cases, (U(0), 15, 15), (full, 3, 0), (full, 12, 3), (U(0), 5, 0), (U(0), 6, 9)]


def rows(merging, random):
    """Return rows of 16 bits, those with merges or those without."""
    tiles = [
        row for draw in (hw01.plain_rows, hw01.merging_rows) for (row,) in draw(random, LARGEST)
    ]
    chosen = [row for row in tiles if len(row) == 4 and (_of_tiles(row)[1] > 0) == merging]
    return [(_packed_row(row),) for row in chosen]


def _packed_row(row):
    return U(sum(tile.bit_length() - 1 << 4 * cell for cell, tile in enumerate(row) if tile))


def boards_alone(random):
    """Return cases of one board."""
    return [(board,) for board in any_boards(random)]


def along(*actions):
    """Return a function that draws boards for some of the actions."""
    return lambda random: [(b, a, TABLE) for b in some_boards(random) for a in actions]


# ---------------------------------------------------------------- chance


def not_full(random):
    """Return boards with few, one and many empty cells, each with a seed, and how many spawns."""
    uneven = boards_module.from_tiles(hw01.known_boards(4, LARGEST)[-2])
    one = boards_module.from_tiles([[2, 4, 2, 4], [4, 2, 0, 2], [2, 4, 2, 4], [4, 2, 4, LARGEST]])
    drawn = next(
        board for board in some_boards(random)[::-1] if boards_module.count_empty(board) > 4
    )
    cases = (uneven, 3000), (one, 200), (drawn, 500), (U(0), hw01.MANY)
    return [(board, int(random.integers(1 << 31)), times) for board, times in cases]


def spawned(function, board, seed, times):
    """Spawn so often; return what came out how often, [[board, count], …]."""
    luck.seed(seed)
    found, with_four = Counter(), {int(board) | 2 << 4 * cell for cell in range(16)}
    for several in hw01.rounds(times, lambda: sum(found[after] for after in with_four)):
        for _ in range(several):
            after = function(board)
            found[int(after) if isinstance(after, (int, np.integer)) else repr(after)[:60]] += 1
    return [[after, count] for after, count in found.items()][:500]


def judge_spawns(case, found):
    """Raise Wrong for what spawns should not do; return None."""
    wrong_if(any(not isinstance(after, str) and after < 0 for after, _ in found), "signed")
    boards = [[a if isinstance(a, str) else _exponents(a), count] for a, count in found]
    hw01.check_spawns(_exponents(case[0]), boards, tiles=(1, 2))


def _exponents(board):
    return [[int(board) >> 4 * cell & 15 for cell in range(row, row + 4)] for row in (0, 4, 8, 12)]


def played(function, games, table, seed):
    """Play games and return {answer, games, spawns: [[before, after], …]}.

    As plain Python the games are watched by their spawns; compiled there are many of them, and
    spawns is None.
    """
    luck.seed(seed)
    if hasattr(function, "py_func"):
        return {"answer": function(GAMES, table), "games": GAMES, "spawns": None}
    with watched(function, "spawn", keep=MOST_SPAWNS * games) as calls:
        answer = function(games, table)
    spawns = [[int(before), int(after)] for _, (before,), after in calls]
    return {"answer": answer, "games": games, "spawns": spawns}


def judge_games(case, found):
    """Raise Wrong where moves and score are not those of games of random play; return None."""
    answer, games, spawns = found["answer"], found["games"], found["spawns"]
    is_pair = isinstance(answer, tuple) and len(answer) == 2
    wrong_if(not is_pair, "no_pair", got=repr(answer)[:60])
    if spawns is None:
        for key, got, (mean, spread) in zip(("moves", "score"), answer, RANDOM_PLAY):
            words = {"got": f"{got / games:,.0f}", "about": f"{mean:,}"}
            wrong_if(abs(got / games - mean) > 8 * spread / games**0.5, key, **words)
        return
    starts = [at for at, (before, _) in enumerate(spawns) if before == 0]
    wrong_if(not starts or starts[0], "start")
    logs = [spawns[at:end] for at, end in zip(starts, [*starts[1:], len(spawns)])]
    turns = [_turns(log) for log in logs]
    wrong_if(len(logs) != games, "games", got=len(logs), games=games)
    counts = [(len(game), sum(reward for *_, reward in game)) for game in turns]
    right = tuple(map(sum, zip(*counts)))
    wrong_if(answer == right[::-1], "swapped")
    wrong_if(answer == counts[-1] != right, "last_game")
    for key, got, one in zip(("moves", "score"), answer, right):
        wrong_if(got != one, f"count_{key}", got=repr(got)[:40], right=one, games=games)
    wrong_if(_is_uneven([turn for game in turns for turn in game]), "uneven")


def _turns(log):
    """Return the turns of a game by its spawns, [(legal actions, action, reward), …].

    The legal ones are [(action, afterstate, reward), …].  Raises Wrong for what is no game.
    """
    wrong_if(len(log) < 2 or log[1][0] != log[0][1], "start")
    board, turns = log[1][1], []
    for before, after in log[2:]:
        legal = boards_module.afterstates(U(board))
        found = [(legal, action, reward) for action, slid, reward in legal if slid == before]
        wrong_if(not found and before == board, "blocked")
        wrong_if(not found, "not_legal")
        board, turns = after, [*turns, found[0]]
    wrong_if(boards_module.afterstates(U(board)), "too_soon")
    return turns


def _is_uneven(turns):
    """Say whether some action came far too often among those legal, or the best paid one did."""
    clear = [turn for turn in turns if len({slid for _, slid, _ in turn[0]}) == len(turn[0])]
    sets, hits, chances = {}, [], []
    for legal, action, _ in clear:
        some = tuple(action for action, *_ in legal)
        sets.setdefault(some, Counter())[action] += 1
        if 0 < len(best := _best_paid(legal)) < len(legal):
            hits.append(action in best)
            chances.append(len(best) / len(legal))
    counts = [[taken[action] for action in some] for some, taken in sets.items()]
    if hw01.are_off(counts, [[1 / len(row)] * len(row) for row in counts]):
        return True
    return bool(hits) and hw01.is_off(sum(hits), len(hits), sum(chances) / len(hits))


def _best_paid(legal):
    best = max(reward for *_, reward in legal)
    return [action for action, _, reward in legal if reward == best]


# ---------------------------------------------------------------- typical mistakes


_of_tiles = changed(spec.slide_row, LARGEST_TILE=LARGEST)


def _by_tiles(*edits):
    """Return a wrong slide_row of lists of tiles, with these edits, as one of bits."""
    slide_tiles = changed(_of_tiles, *edits)

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
PAYS = "reward + (2 << int(exponent))"
DRAWN = "int(16 * draw())"
SPAWNS = {  # what is said is the message of the first word
    "cells next": (f"        cell = {DRAWN}", "        cell = (cell + 1) % 16"),
    "cells low": (DRAWN, "int(16 * draw() ** 1.2)"),
    "never last": (DRAWN, "int(15 * draw())"),
    "tile exponent": ("U(2 if", "U(4 if", "else 1)", "else 2)"),
    "tile 3": ("U(2 if", "U(3 if"),
    "fours half": ("< FOUR", "< 0.5"),
    "fours twice": ("< FOUR", "< 2 * FOUR"),
    "fours never": ("< FOUR", "< 0"),
    "fours of_eleven": ("< FOUR", "< FOUR * 10 / 11"),
    "fours of_nine": ("< FOUR", "< FOUR * 10 / 9"),
    "signed": ("return board", "return (board", "U(4 * cell)\n", "U(4 * cell)).view(np.int64)\n"),
    "fours turned": ("< FOUR", "> FOUR"),
    "apart first": (DRAWN, "int(16 * (x := draw()))", "2 if draw()", "2 if x"),
    "apart last": (DRAWN, "int(16 * (x := draw()))", "2 if draw()", "2 if 1 - x"),
    "not_one": ("return board |", "board |= U(0) *", "<< U(4 * cell)", "\n    return board"),
    "no_board": ("    return board |", "    board |"),
    "anywhere": ("board >> U(4 * cell) & U(15)", "0"),
    "one_bit": ("<< U(4 * cell)", "<< U(cell)"),
}
ROOM = "any(not board >> U(4 * cell) & U(15) for cell in range(16))"
PLAYS = {
    "no_pair": ("return moves, score", "return moves"),
    "start one_tile": ("spawn(spawn(U(0)))", "spawn(U(0))"),
    "start numbers": ("    moves, score = 0, 0", "    return 118 * games, 1090 * games"),
    "games one": ("range(games)", "range(1)"),
    "games more": ("range(games)", "range(games + 1)"),
    "blocked": ("if mask >> action & 1", f"if mask >> action & 1 or {ROOM}"),
    "not_legal": ("spawn(after)", "spawn(mirror(after))"),
    "too_soon": ("while mask", "if mask"),
    "swapped": ("return moves, score", "return score, moves"),
    "last_game": ("        board = spawn(", "        moves, score = 0, 0\n        board = spawn("),
    "count_moves spawns": ("        board = spawn(", "        moves += 2\n        board = spawn("),
    "count_moves drawn": (
        ", moves + 1", ", moves", "action = int(4 * draw())",
        "action, moves = int(4 * draw()), moves + 1",
    ),
    "count_moves mean": ("return moves, score", "return moves / games, score / games"),
    "count_score last": ("score + int(reward)", "int(reward)"),
    "count_score half": ("score + int(reward)", "score + int(reward) // 2"),
    "uneven first": ("int(4 * draw())", "(mask & -mask).bit_length() - 1"),
    "uneven last": ("int(4 * draw())", "mask.bit_length() - 1"),
    "uneven next": (
        "action = int(4 * draw())", "action = int(4 * draw())\n"
        "            while not mask >> action & 1:\n                action = (action + 1) % 4",
    ),
    "uneven previous": (
        "action = int(4 * draw())", "action = int(4 * draw())\n"
        "            while not mask >> action & 1:\n                action = (action - 1) % 4",
    ),
    "uneven lowest": (
        "action = int(4 * draw())", "action = int(4 * draw())\n"
        "            if not mask >> action & 1:\n"
        "                action = (mask & -mask).bit_length() - 1",
    ),
    "uneven few_left": ("int(4 * draw())", "int(4 * draw() ** 2)"),
    "uneven greedy": (
        "int(4 * draw())",
        "max(range(4), key=lambda a: (mask >> a & 1) * (1 + slide(board, a, table)[1]))",
    ),
}  # fmt: skip
EXERCISES = [
    Exercise(
        "hw02", get_cell, cells_of_boards,
        mistakes={
            "from_the_top": ("4 * cell", "60 - 4 * cell"),
            "no_mask": (" & U(15)", ""),
            "one_bit": ("4 * cell", "cell"),
            "by_columns": ("4 * cell", "4 * (cell % 4 * 4 + cell // 4)"),
            "counts_from_one": ("4 * cell", "4 * max(cell - 1, 0)"),
            "mirrored_rows": ("4 * cell", "4 * (cell ^ 3)"),
            "remainder": ("& U(15)", "% U(15)"),
            "tile": lambda board, cell: (1 << int(get_cell(board, cell))) & ~1,
            "tile of_empty": ("return ", "return U(1) << "),
        },
        slips={
            "three_bits": ("U(15)", "U(7)"),
            "next_cell": ("4 * cell", "4 * (cell + 1) % 64"),
            "rows_from_below": ("4 * cell", "4 * (cell ^ 12)"),
            "at_most_11": lambda board, cell: min(get_cell(board, cell), U(11)),
            "one_more": ("& U(15)", "& U(15) ^ U(1)"),
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
            "one_bit": ("4 * cell", "cell"),
            "by_columns": ("4 * cell", "4 * (cell % 4 * 4 + cell // 4)"),
        },
        slips={
            "clears_the_first": ("(U(15) << shift)", "U(15)"),
            "three_bits": ("~(U(15)", "~(U(7)"),
            "only_if_empty": lambda board, cell, exponent: (
                board if get_cell(board, cell) else set_cell(board, cell, exponent)
            ),
            "never_zero": lambda board, cell, exponent: (
                set_cell(board, cell, exponent) if exponent else board
            ),
            "adds": ("board & ~(U(15) << shift) | U(exponent)", "board + U(exponent)"),
            "flips": ("board & ~(U(15) << shift) |", "board ^"),
            "tile": ("| U(exponent)", "| U((1 << exponent) & 15)"),
            "clears_the_rest": ("~(U(15) << shift)", "(U(15) << shift)"),
            "mirrored_rows": ("4 * cell", "4 * (cell ^ 3)"),
        },
        result="board", compiles=True,
        features=lambda case: {"yes the cell is empty": not get_cell(*case[:2])},
    ),
    Exercise(
        "hw02", slide_row, parts={"no merge": partial(rows, False), "merges": partial(rows, True)},
        mistakes={
            "largest": (" and exponent < LAST", ""),
            **{f"ends_early {end}": ("< LAST", f"< U({end})") for end in range(9, int(LAST))},
            "to_the_right": ("U(4 * ", "U(12 - 4 * "),
            "merged_twice": _by_tiles(*hw01.MERGED_TWICE),
            "from_the_right": _by_tiles(*hw01.FROM_THE_RIGHT),
            "gap": _by_tiles(*hw01.GAP),
            "hole": _by_tiles(*hw01.HOLE),
            "not_packed": ("exponent << U(4 * filled)", "exponent << U(4 * cell)"),
            "doubled": ("new += U(1) <<", "new += exponent <<"),
            "no_reward": (PAYS, "0"),
            "last_reward": (PAYS, "(2 << int(exponent))"),
            "exponents": ("(2 << int(exponent))", "int(exponent) + 1"),
            "old_tile": ("2 << int", "1 << int"),
        },
        slips={
            name: _by_tiles(*edits) for name, edits in hw01.ROW_SLIPS.items() if name != "only_twos"
        } | {
            "three_cells": ("range(4)", "range(3)"),
            "never_forgets": (f"{PAYS}, U(0)", f"{PAYS}, last"),
            "reward_of_four": ("2 << int", "4 << int"),
            "skips_a_cell": ("filled + 1", "filled + 2"),
            "merges_all": (" and exponent == last", " and last > U(0)"),
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
        slips={
            "nothing": lambda board: board,
            "mirror": lambda board: mirror(board),
            "upside_down": _moved(lambda row, column: 4 * (3 - row) + column),
            "half_turn": _moved(lambda row, column: 15 - 4 * row - column),
            "second_step": ("<< U(12)", "<< U(0)", ">> U(12)", ">> U(0)"),
            "no_way_back": (" | (board & back) >> U(24)", ""),
            "no_way_on": (" | (board & on) << U(24)", ""),
            "no_last_cell": lambda board: transpose(board) & U((1 << 60) - 1),
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
        slips={
            "nothing": lambda board: board,
            "transposed": lambda board: transpose(board),
            "turned": _moved(lambda row, column: 4 * (3 - column) + row),
            "pairs_alone": _moved(lambda row, column: 4 * row + (column + 2) % 4),
            "next_column": _moved(lambda row, column: 4 * row + (column + 1) % 4),
            "outer_only": _moved(lambda row, column: 4 * row + (3, 1, 2, 0)[column]),
            "mask_of_one_row": ("U(0x00FF00FF00FF00FF)", "U(0x00000000000000FF)"),
            "no_last_cell": lambda board: mirror(board) & U((1 << 60) - 1),
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
            "up_and_down": lambda board, action, table: slide(board, (2, 1, 0, 3)[action], table),
            "order": lambda board, action, table: slide(board, (3, 2, 1, 0)[action], table),
            "three_rows": (", U(48)", ""),
            "order_there": (THERE, """    lines = mirror(board) if far else board
    lines = transpose(lines) if upright else lines
"""),
            "order_back": (BACK, """    after = transpose(after) if upright else after
    return (mirror(after) if far else after), reward
"""),
            "no_transpose": ("transpose(board) if upright else ", "",
                             "transpose(after) if upright else ", ""),
            "one_reward": ("reward += table", "reward = table"),
            "no_mask": (" & U(0xFFFF)", ""),
            "up_is_left": ("action == 0 or action == 2,", "action == 2,"),
        },
        slips={
            "reward_by_or": ("reward += table", "reward |= table"),
            "largest_reward": ("reward += table[1, row]", "reward = max(reward, table[1, row])"),
            "not_the_first_row": ("(U(0), U(16),", "(U(16),"),
            "no_shift_back": ("table[0, row] << shift", "table[0, row]"),
            "down_is_up": (" or action == 2\n", "\n"),
            "right_is_left": (", action == 1 or action == 2", ", action == 2"),
            "rows_from_below": ("<< shift", "<< (U(48) - shift)"),
            "rewards_twice": ("reward += table[1, row]", "reward += U(2) * table[1, row]"),
            "slides_twice": ("table[0, row] <<", "table[0, table[0, row]] <<"),
            "short_reward": lambda board, action, table: (
                slide(board, action, table)[0], slide(board, action, table)[1] & U(2 * LARGEST - 1)
            ),
            "far_rewards_lost": ("reward += table[1, row]", "reward += table[1, row] * U(not far)"),
        },
        show=TABLES, result={"afterstate": "board", "reward": "text"}, compiles=True,
    ),
    Exercise(
        "hw02", legal, lambda random: [(board, TABLE) for board in some_boards(random)],
        mistakes={
            "turned_bits": ("1 << action", "8 >> action"),
            "paying": ("[0] != board", "[1] > 0"),
            "all": lambda board, table: 15,
            "count": ("|= 1 << action", "+= 1"),
            "sum": ("|= 1 << action", "+= action"),
            "by_or": ("|= 1 << action", "|= action"),
            "illegal": ("[0] != board", "[0] == board"),
            "last_one": ("mask |=", "mask ="),
        },
        slips={
            "no_left": ("range(4)", "range(3)"),
            "no_up": ("range(4)", "range(1, 4)"),
            "first_one": ("mask |= 1 << action", "mask = mask or 1 << action"),
            "bits_from_one": ("1 << action", "2 << action"),
            "any": lambda board, table: min(legal(board, table), 1),
            "room_only": lambda board, table: 15 * (boards_module.count_empty(board) > 0),
        },
        show=TABLES, compiles=True,
    ),
    Exercise(
        "hw02", spawn, not_full, slips=SPAWNS, outcome=spawned, verdict=judge_spawns, compiles=True,
    ),
    Exercise(
        "hw02", play,
        lambda random: [(games, TABLE, int(random.integers(1 << 31))) for games in (2, 24)],
        slips=PLAYS, outcome=played, verdict=judge_games,
        show={"table": "hidden"}, compiles=True,
    ),
]  # fmt: skip
