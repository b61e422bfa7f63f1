"""hw01: what `spawn` returns is a board of whole numbers in lists."""

import handins
import pytest

ROWS = {
    "tuples": "[tuple(row) for row in board]",
    "a tuple": "tuple(board)",
    "floats": "[[float(tile) for tile in row] for row in board]",
    "texts": "[[str(tile) for tile in row] for row in board]",
}


@pytest.mark.parametrize("rows", ROWS)
def test_a_spawn_that_returns_something_else_is_told(rows):
    handins.said("hw01", "spawn", ("    return board", f"    return {ROWS[rows]}"), "no_board")


@pytest.mark.ci
@pytest.mark.parametrize("share", ["10 / 11", "10 / 9"])
def test_fours_a_tenth_too_often_or_too_rarely_are_told(share):
    """They take 120 000 spawns, too many for a known wrong version, which every check draws."""
    handins.said("hw01", "spawn", ("< FOUR", f"< FOUR * {share}"), "fours")
