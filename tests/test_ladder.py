"""The ladder of speeds: wrong boards are refused, right ones are timed and compared."""

import operator
import random

import pytest

import lib2048
from lib2048 import from_tiles, spec, to_tiles
from lib2048.course import BoardKind, Ladder
from lib2048.course.ladder import LISTS, wrong_slides, wrong_spawns

BITS = BoardKind(
    lib2048.slide, lambda b: b, operator.eq, from_tiles([[0] * 4] * 4), from_tiles, to_tiles
)


def play(slide, spawn, same, empty, games):
    """Make one slide a game; return as many moves."""
    for _ in range(games):
        assert same(slide(empty, 0)[0], empty)
    return games


def test_the_rules_and_the_library_slide_without_a_fault():
    assert wrong_slides(LISTS, 50) == wrong_slides(BITS, 50) == []
    assert wrong_spawns(LISTS, 2_000) == {}


def test_a_wrong_slide_is_found_and_shown():
    kind = LISTS._replace(slide=lambda board, action: spec.slide(board, action ^ 2 * (action & 1)))
    wrong = wrong_slides(kind, 50)
    assert wrong and all(action in (1, 3) for _, action in wrong)
    with pytest.raises(ValueError, match="slides are wrong, as (Left|Right) of"):
        Ladder(boards=50).climb("mirrored", kind, play)


def test_a_wrong_reward_is_found():
    kind = LISTS._replace(slide=lambda board, action: (spec.slide(board, action)[0], 0))
    assert wrong_slides(kind, 50)


def always_two(board):
    row, column = random.choice(spec.empty_cells(board))
    board = [list(tiles) for tiles in board]
    board[row][column] = 2
    return board


def test_spawns_without_fours_are_refused():
    kind = LISTS._replace(spawn=always_two)
    assert len(wrong_spawns(kind, 2_000)) >= 3
    with pytest.raises(ValueError, match="spawns too often or too rarely"):
        Ladder(boards=5, spawns=2_000).climb("only twos", kind, play)


def test_rungs_are_timed_said_and_judged(capsys):
    ladder = Ladder(seconds=0.001, trials=2, boards=5, spawns=500)
    assert ladder.misjudged() is None
    ladder.climb("lists", LISTS, play)
    ladder.predicted = {"lists": 1, "magic": 1000, "never run": 5, "no guess": None}
    ladder.time("magic", lambda games: play(*LISTS[:4], games))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("lists: ") and first.endswith(" moves/s")
    assert " moves/s = lists × " in second and second.endswith("(you said × 1000)")
    assert list(ladder.rates) == ["lists", "magic"] and min(ladder.rates.values()) > 0
    assert ladder.misjudged() == "magic"


def test_it_draws_what_it_timed():
    ladder = Ladder()
    ladder.rates = {"lists": 10.0, "bits": 2500.0}
    texts = [text.get_text() for text in ladder.draw().texts]
    assert any("× 250" in text for text in texts)
