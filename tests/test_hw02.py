"""hw02: what numba and plain numbers make of bits, and what the check says of it."""

import handins
import numpy as np
import pytest
from right_answers import hw02

from lib2048 import from_tiles
from lib2048.course import labs
from lib2048.course.labs.exercise import Wrong
from lib2048.course.labs.hw02 import TABLE, judge_games

U = np.uint64


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Compiling takes long on a busy machine."""
    monkeypatch.setattr(labs.checks, "SECONDS", 60)


WHOLE = "return board & ~(U(15) << shift) | U(exponent) << shift"
TWO_TYPES = """board = board & ~(U(15) << shift)
    if exponent > 0:
        board = board | exponent << 4 * cell
    return board"""
CELLS = [
    ("set_cell", "compiled_signed", "U(exponent) << shift", "exponent << 4 * cell"),
    ("set_cell", "compiled_float", WHOLE, TWO_TYPES),
    ("transpose", "compiled_signed", "U(", "("),
    ("spawn", "signed", "U(2 if draw() < FOUR else 1)", "(2 if draw() < FOUR else 1)"),
]


@pytest.mark.parametrize("name, key, old, new", CELLS)
def test_types_that_go_wrong_are_told(name, key, old, new):
    handins.said("hw02", name, (old, new), key)


def a_mask_of_plain_numbers(board, cell, exponent):
    return board & ~(15 << 4 * cell) | U(exponent) << U(4 * cell)


def test_a_negative_number_in_python_is_told():
    handins.said("hw02", "set_cell", a_mask_of_plain_numbers, "overflow")


@pytest.mark.parametrize("key, moves, score", [("moves", 60, 1095), ("score", 118, 2000)])
def test_many_compiled_games_have_the_means_of_random_play(key, moves, score):
    found = {"answer": (400 * moves, 400 * score), "games": 400, "spawns": None}
    with pytest.raises(Wrong, match=key):
        judge_games((1, TABLE, 0), found)


def test_compiled_copies_leave_the_functions_as_they_are():
    slide, transpose = hw02.slide__by_action, hw02.transpose__loops
    fast = labs.compiled(slide)
    board = from_tiles([[2, 2, 4, 0], [0] * 4, [4, 0, 0, 4], [0] * 4])
    for action in range(4):
        assert fast(U(board), action, TABLE) == slide(U(board), action, TABLE)
    assert not hasattr(slide, "py_func") and not hasattr(transpose, "py_func")
    assert hasattr(fast, "py_func")


def a_share_of_nothing(board, cell):
    return board >> U(int(cell * float("inf"))) & U(15)


def test_an_overflow_of_a_float_is_not_told_as_one_of_64_bits():
    handins.said("hw02", "get_cell", a_share_of_nothing, "raised_line")
