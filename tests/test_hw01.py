"""hw01: what `spawn` returns is a board of whole numbers in lists; how `choose` may be called."""

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


ASKED = "choose(board, legal)"


def test_choose_may_be_asked_by_name_and_not_with_less():
    assert handins.check_changed("hw01.play", (ASKED, "choose(legal=legal, board=board)")).passed
    handins.said("hw01", "play", (ASKED, "choose(legal)"), "no_board")
    handins.said("hw01", "play", (ASKED, "choose(board)"), "legal")


@pytest.mark.ci
@pytest.mark.parametrize("share", ["10 / 11", "10 / 9"])
def test_fours_a_tenth_too_often_or_too_rarely_are_told(share):
    """They take 120 000 spawns, too many for a known wrong version, which every check draws."""
    handins.said("hw01", "spawn", ("< FOUR", f"< FOUR * {share}"), "fours")
