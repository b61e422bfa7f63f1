"""The game in the terminal: what it shows, and what its keys do."""

import sys

import pytest

from lib2048.cli import main
from lib2048.game import board as rules
from lib2048.show import terminal_game
from lib2048.show.terminal_game import KEYS, TerminalGame


class Helper:
    """Somebody who always says the first legal action."""

    name = "helper"

    def advise(self, board, word=0):
        legal = [action for action, _, _ in rules.afterstates(board)]
        values = [None] * 4
        for action in legal:
            values[action] = 100.0 - 10 * action
        return {"name": self.name, "action": legal[0], "values": values}


def text(game):
    return "\n".join("".join(part for part, _ in line) for line in game.lines())


def test_keys_play_take_back_and_ask():
    game = TerminalGame(1, Helper())
    assert KEYS in text(game) and "score 0" in text(game)
    first = game.game.here
    legal = [action for action, _, _ in rules.afterstates(first.board)]
    game.pressed(legal[0])
    assert len(game.game.turns) == 2 and "points" in game.said
    game.pressed("u")
    assert game.game.here == first
    game.pressed("H")
    assert "helper would choose" in game.said and "best" in text(game) and "−10" in text(game)
    game.pressed("p")
    game.step()
    assert game.plays and game.game.helped
    game.pressed("w")
    assert not game.plays
    game.pressed("n")
    assert game.game.number == 1 and not game.game.helped
    game.pressed("q")
    assert game.done


def test_a_game_goes_to_its_end():
    game = TerminalGame(3, Helper(), "2048@2x2")
    for _ in range(500):
        for action in range(4):
            game.pressed(action)
    assert game.over and "over" in game.said and not game.plays


def test_without_a_terminal_a_player_is_asked_for(capsys):
    assert main(["play"]) == 2
    assert capsys.readouterr().err.startswith("lib2048: who shall play? Say a player")


def test_without_a_command_it_greets(capsys):
    assert main([]) == 0
    said = capsys.readouterr().out
    assert "These are its commands" in said and "\n  train " in said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_it_is_played_in_a_real_terminal():
    from pseudo_terminal import pressed

    seen = pressed("play --seed 5", b"Q quits", "hadq")
    assert b"points in" in seen and b"score" in seen


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(
    "told", [("vt100", b"score", "q", 0), ("no-such-terminal", b"set TERM=", "", 2)], ids=str
)
def test_odd_terminals_play_or_say_why_not(told):
    from pseudo_terminal import pressed

    term, ready, keys, status = told
    assert b"Traceback" not in pressed("play --seed 5", ready, keys, term, status)


def test_threes_has_its_own_colours_and_shows_the_next_card():
    shown = TerminalGame(1, None, "threes")
    assert (
        "next " in shown.lines()[0][0][0] and "next" not in TerminalGame(1, None).lines()[0][0][0]
    )
    painted = {terminal_game._painted("x", tile, shown.rules) for tile in (1, 2, 3, 48)}
    assert len(painted) == 4
