"""hw02: what students typically write about bits, and what the check says of it."""

import random
from functools import partial
from types import FunctionType

import handins
import numpy as np
import pytest
from numba import njit

from lib2048 import from_tiles
from lib2048.course import labs
from lib2048.course.labs.exercise import Wrong
from lib2048.course.labs.hw02 import TABLE, judge_games, slide_row

U = np.uint64


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Compiling takes long on a busy machine."""
    monkeypatch.setattr(labs.checks, "SECONDS", 60)


said = partial(handins.said, "hw02")


def get_cell(board, cell):
    for _ in range(cell):
        board = board >> U(4)
    return board & U(0xF)


def without_types(board, cell):
    return (board >> 4 * cell) & 15


def set_cell(board, cell, exponent):
    old = board >> U(4 * cell) & U(15)
    return board ^ (old ^ U(exponent)) << U(4 * cell)


WHOLE = "return board & ~(U(15) << shift) | U(exponent) << shift"
TWO_TYPES = """board = board & ~(U(15) << shift)
    if exponent > 0:
        board = board | exponent << 4 * cell
    return board"""
CELLS = [
    ("set_cell", "compiled_signed", "U(exponent) << shift", "exponent << 4 * cell"),
    ("set_cell", "compiled_float", WHOLE, TWO_TYPES),
    ("transpose", "compiled_signed", "U(", "("),
]


@pytest.mark.parametrize("name, key, old, new", CELLS)
def test_types_that_go_wrong_are_told(name, key, old, new):
    said(name, (old, new), key)


def a_mask_of_plain_numbers(board, cell, exponent):
    return board & ~(15 << 4 * cell) | U(exponent) << U(4 * cell)


def test_a_negative_number_in_python_is_told():
    said("set_cell", a_mask_of_plain_numbers, "overflow")


def transpose(board):
    new = U(0)
    for r in range(4):
        for c in range(4):
            new = set_cell(new, 4 * r + c, get_cell(board, 4 * c + r))
    return new


def mirror(board):
    new = U(0)
    for cell in range(16):
        new |= get_cell(board, cell) << U(4 * (cell - cell % 4 + 3 - cell % 4))
    return new


def slide_left(board, table):
    after, reward = U(0), U(0)
    for row in range(4):
        line = board >> U(16 * row) & U(0xFFFF)
        after |= table[0, line] << U(16 * row)
        reward += table[1, line]
    return after, reward


def slide(board, action, table):
    if action == 3:
        return slide_left(board, table)
    if action == 0:
        after, reward = slide_left(transpose(board), table)
        return transpose(after), reward
    if action == 1:
        after, reward = slide_left(mirror(board), table)
        return mirror(after), reward
    after, reward = slide_left(mirror(transpose(board)), table)
    return transpose(mirror(after)), reward


def legal(board, table):
    return sum([(slide(board, a, table)[0] != board) * 2**a for a in range(4)])


def spawn(board):
    empty = [c for c in range(16) if get_cell(board, c) == U(0)]
    cell = empty[random.randint(0, len(empty) - 1)]
    return set_cell(board, cell, 2 if random.random() < 0.1 else 1)


def test_a_spawn_that_never_looks():
    never = handins.check_changed("hw02.spawn", ("board >> U(4 * cell) & U(15)", "0"))
    assert never.status == "failed"


def play(games, table):
    moves = score = 0
    for _ in range(games):
        board = spawn(spawn(U(0)))
        while legal(board, table) != 0:
            action = random.randint(0, 3)
            after, reward = slide(board, action, table)
            if after != board:
                board = spawn(after)
                moves += 1
                score += int(reward)
    return moves, score


@pytest.mark.parametrize("key, moves, score", [("moves", 60, 1095), ("score", 118, 2000)])
def test_many_compiled_games_have_the_means_of_random_play(key, moves, score):
    found = {"answer": (400 * moves, 400 * score), "games": 400, "spawns": None}
    with pytest.raises(Wrong, match=key):
        judge_games((1, TABLE, 0), found)


def slides_what_is_not_legal(games, table):
    board = spawn(spawn(U(0)))
    for _ in range(20):
        board = spawn(slide(board, 0, table)[0])
    return 20, 100


def test_a_game_against_the_rules():
    said("play", slides_what_is_not_legal, "blocked")


RIGHT = [get_cell, set_cell, transpose, mirror, slide, legal, spawn, play]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_an_answer_of_ones_own_passes(function):
    assert labs.check(f"hw02.{function.__name__}", function).passed


def test_a_mask_may_take_the_sign_away_and_a_part_be_right_alone():
    assert labs.check("hw02.get_cell", without_types).passed
    assert labs.check("hw02.slide_row", lambda row: (slide_row(row)[0], 0), "no merge").passed


def test_compiled_copies_leave_the_functions_as_they_are():
    fast = labs.compiled(slide)
    board = from_tiles([[2, 2, 4, 0], [0] * 4, [4, 0, 0, 4], [0] * 4])
    for action in range(4):
        assert fast(U(board), action, TABLE) == slide(U(board), action, TABLE)
    assert not hasattr(slide, "py_func") and not hasattr(transpose, "py_func")
    assert hasattr(fast, "py_func")


def by_cells(board):
    new = U(0)
    for cell in range(16):
        new = set_cell(new, 4 * (cell % 4) + cell // 4, get_cell(board, cell))
    return new


def test_helpers_that_were_compiled_already_are_tried_as_plain_python():
    room = globals() | {"get_cell": njit(get_cell), "set_cell": njit(set_cell)}
    result = labs.check("hw02.transpose", FunctionType(by_cells.__code__, room, "transpose"))
    assert result.passed, result
