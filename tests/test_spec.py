"""The plain rules, by examples that a reader can check by hand."""

import random

import pytest

from lib2048.game import spec

ROWS = [
    ([0, 0, 0, 0], [0, 0, 0, 0], 0),
    ([2, 4, 8, 16], [2, 4, 8, 16], 0),
    ([0, 0, 0, 2], [2, 0, 0, 0], 0),
    ([2, 0, 0, 2], [4, 0, 0, 0], 4),
    ([2, 2, 2, 0], [4, 2, 0, 0], 4),  # the two that meet first
    ([2, 2, 2, 2], [4, 4, 0, 0], 8),  # no tile merges twice
    ([4, 2, 2, 0], [4, 4, 0, 0], 4),  # a new tile does not merge at once
    ([2, 2, 4, 8], [4, 4, 8, 0], 4),
    ([2, 4, 2, 4], [2, 4, 2, 4], 0),
    ([16384, 16384, 2, 2], [32768, 4, 0, 0], 32772),
    ([32768, 0, 0, 32768], [65536, 0, 0, 0], 65536),
    ([65536, 65536, 0, 0], [65536, 65536, 0, 0], 0),  # the largest tile merges no more
]


@pytest.mark.parametrize("row, after, reward", ROWS)
def test_a_row_slides_to_the_left(row, after, reward):
    assert spec.slide_row(row) == (after, reward)


BOARD = [[2, 0, 0, 2], [0, 4, 0, 0], [0, 4, 8, 0], [2, 0, 8, 0]]
AFTER = {
    spec.UP: ([[4, 8, 16, 2], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], 28),
    spec.RIGHT: ([[0, 0, 0, 4], [0, 0, 0, 4], [0, 0, 4, 8], [0, 0, 2, 8]], 4),
    spec.DOWN: ([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [4, 8, 16, 2]], 28),
    spec.LEFT: ([[4, 0, 0, 0], [4, 0, 0, 0], [4, 8, 0, 0], [2, 8, 0, 0]], 4),
}


@pytest.mark.parametrize("action", range(4), ids=spec.ACTIONS)
def test_a_board_slides_by_each_action(action):
    before = [list(row) for row in BOARD]
    assert spec.slide(BOARD, action) == AFTER[action]
    assert before == BOARD


def test_actions_are_numbered_clockwise_from_up():
    assert spec.ACTIONS == ("Up", "Right", "Down", "Left")
    assert (spec.UP, spec.RIGHT, spec.DOWN, spec.LEFT) == (0, 1, 2, 3)


def test_legal_actions_change_the_board():
    corner = [[2, 4, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert spec.legal_actions(corner) == [spec.RIGHT, spec.DOWN]
    assert spec.legal_actions(BOARD) == [0, 1, 2, 3]


LOST = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]


def test_a_game_is_over_when_no_action_is_legal():
    assert spec.is_over(LOST)
    for change in ((0, 0, 4), (0, 0, 0), (3, 3, 4)):
        board = [list(row) for row in LOST]
        board[change[0]][change[1]] = change[2]
        assert not spec.is_over(board)


def test_a_full_board_of_largest_tiles_is_over():
    assert spec.is_over([[65536] * 4] * 4)
    assert not spec.is_over([[16384] * 4] * 4)


@pytest.mark.parametrize("rows, columns", [(2, 2), (2, 3), (3, 3), (4, 4), (2, 4)])
def test_boards_of_any_size_turn_right(rows, columns):
    board = [[0] * columns for _ in range(rows)]
    board[0][0] = 2
    assert spec.slide(board, spec.RIGHT)[0][0] == [0] * (columns - 1) + [2]
    assert [row[0] for row in spec.slide(board, spec.DOWN)[0]] == [0] * (rows - 1) + [2]


def test_spawn_adds_one_tile_and_leaves_the_rest():
    luck, seen = random.Random(1), set()
    for _ in range(400):
        board = spec.spawn(BOARD, luck)
        (change,) = [
            (r, c, board[r][c]) for r in range(4) for c in range(4) if board[r][c] != BOARD[r][c]
        ]
        assert BOARD[change[0]][change[1]] == 0 and change[2] in (2, 4)
        seen.add(change)
    assert {(r, c) for r, c, _ in seen} == set(spec.empty_cells(BOARD))
    assert {tile for _, _, tile in seen} == {2, 4}


@pytest.mark.parametrize("rows, columns", [(4, 4), (2, 3)])
def test_a_game_begins_with_two_tiles(rows, columns):
    board = spec.initial(random.Random(2), rows, columns)
    tiles = [tile for row in board for tile in row if tile]
    assert (len(board), len(board[0]), len(tiles)) == (rows, columns, 2)
    assert set(tiles) <= {2, 4}


def test_a_played_game_ends_where_nothing_is_legal():
    boards = []

    def choose(board, legal):
        boards.append((board, legal))
        return legal[-1]

    last, score, actions = spec.play(choose, random.Random(3))
    assert spec.is_over(last) and actions == len(boards)
    assert score == sum(spec.slide(board, legal[-1])[1] for board, legal in boards) > 0
