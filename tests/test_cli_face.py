"""The command line as a face: tables, facts, help, hints, boards, and what the Tab key offers."""

import io
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from learners import SMALL

from lib2048 import Network, SearchPlayer, cli
from lib2048.cli import main
from lib2048.course import papers
from lib2048.game.board import from_tiles, max_exponent
from lib2048.learn.settings import flags
from lib2048.machine import completion, printed
from lib2048.machine.terminal import meant
from lib2048.networks import storage
from lib2048.play.evaluation import boards_of
from lib2048.play.players import network_player, player
from lib2048.show import console
from lib2048.show.terminal_game import drawn


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self):
        return True


def show_colours(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


# ---------------------------------------------------------------- tables and facts

ROWS = [("td_0.1", 12345, "a rate that is small, and a text that is long"), ("tc", None, "short")]
HEADS = ("run", ">mean score", "what it is")


def test_a_table_fits_and_loses_nothing(monkeypatch):
    for columns in (30, 40, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = printed.table(HEADS, ROWS).splitlines()
        assert max(map(len, lines)) <= columns
        assert "".join(lines).count("12\u202f345") == 1
        words = " ".join(lines).split()
        assert set(ROWS[0][2].split()) <= set(words) and "short" in words
    assert len(lines) == 3  # at 80 there is room


def test_a_file_gets_whole_lines_and_no_colours(monkeypatch):
    show_colours(monkeypatch)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert "\x1b[1mrun" in printed.table(HEADS, ROWS)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert printed.width() > 1000
    text = printed.table(HEADS, [("x" * 300, 1, "y" * 300)])
    assert text.count("\n") == 1 and "\x1b" not in text


def test_a_column_without_anything_is_left_out():
    assert "what" not in printed.table(HEADS, [("a", 1, None), ("b", 2, "")])


@pytest.mark.parametrize("name, value", [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_are_left_out_where_nobody_wants_them(monkeypatch, name, value):
    show_colours(monkeypatch)
    board = from_tiles([[2, 4, 8, 16], *[[0] * 4] * 3])
    assert "\x1b[48;5;" in drawn(board)
    monkeypatch.setenv(name, value)
    assert drawn(board).split()[:4] == ["2", "4", "8", "16"] and "\x1b" not in drawn(board)


def test_every_paper_fits_into_eighty_letters(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    every = papers.rows()
    texts = [console.figure(rows) for _, rows in every.groupby("figure")]
    texts.append(console.figures(papers.index()))
    assert max(len(line) for text in texts for line in text.splitlines()) <= 80


# ---------------------------------------------------------------- info


def test_info_says_what_a_file_is(tmp_path, capsys):
    out = tmp_path / "run"
    words = f"train --network {SMALL} --rule tc --lambda 0.5 --games 1200 --out {out}".split()
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "points in the last 1\u202f000 games" in said and "1\u202f200 games" in said
    assert main(["info", str(out / "weights.npz")]) == 0
    said = capsys.readouterr().out
    for words in ("TC(0.5), β 1", "1\u202f200 games", "that are not 0", "points in training", "{"):
        assert (words in said) == (words != "{")
    assert main(["info", str(out)]) == 0  # the folder of a run has its weights
    assert "TC(0.5), β 1" in capsys.readouterr().out


ODD = [{"config": 5}, {"config": {"rule": ["x"], "lambda": "y"}}, {"this_file": [1]},
       {"whole_network": {"1-ply": {"mean": "a"}}}, {"a\x1b[2J": "\x1b]0;b\x07"}]  # fmt: skip


@pytest.mark.parametrize("info", ODD)
def test_what_stands_in_a_file_may_be_anything(tmp_path, capsys, info):
    storage.save_with(Network(SMALL), tmp_path / "a.npz", info)
    assert main(["info", str(tmp_path / "a.npz")]) == 0
    said = capsys.readouterr().out
    assert SMALL in said and "\x1b" not in said and "\x07" not in said


# ---------------------------------------------------------------- help, and what was meant


def test_the_help_of_train_has_every_option_in_one_group(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert [text.count(f"\n{title}:") for title in cli.GROUPS] == [1] * len(cli.GROUPS)
    for option in flags():
        assert len(re.findall(rf"^  --{option}\b(?!-)", text, re.M)) == 1, option
    assert max(map(len, text.splitlines()[2:])) <= 80


MEANT = [
    ("paly", "play"), ("play randm", "random"), ("play random --gmaes 3", "--games"),
    ("train --netwrk=4x6 --games 3", "--network"), ("train --uot x", "--out"),
    ("train --network 42_33 --games 3 --out x", "42-33"),
    ("train --network cnn22sx --games 3 --out x", "cnn22s"),
    ("train --network 4x6 --rule autostp --games 3 --out x", "autostep"),
    ("play random --game threse", "threes"), ("labs chek hw01 a.py", "check"),
    ("labs check hw1 a.py", "hw01"), ("completion bsh", "bash"), ("figure --drw x", "--draw"),
]  # fmt: skip


@pytest.mark.parametrize("line, word", MEANT)
def test_what_is_misspelt_is_understood(one_line_error, line, word):
    assert f"is it '{word}'?" in one_line_error(*line.split())


def test_a_file_of_weights_is_looked_for_beside(one_line_error, tmp_path):
    storage.save(Network(SMALL), tmp_path / "mine.npz")
    assert "is it 'mine.npz'?" in one_line_error("info", tmp_path / "mien.npz")


def test_what_is_far_from_all_is_no_hint():
    assert meant("xyz", ["play", "train"]) == ""


def test_labs_alone_lists_its_commands(capsys):
    assert main(["labs"]) == 0
    assert "lib2048 labs check " in capsys.readouterr().out


# ---------------------------------------------------------------- boards


def who(name):
    if "-ply" not in name:
        return player(name)
    network = Network(SMALL)
    network.weights[:] = np.random.default_rng(1).normal(0, 50, network.size)
    depth = int(name[0])
    return network_player(network) if depth == 1 else SearchPlayer(network, depth)


@pytest.mark.parametrize("name", ["random", "greedy", "first-legal", "heuristic", "1-ply", "2-ply"])
def test_a_game_of_a_match_is_played_again(name):
    played = who(name).play_games(0, 3, 7)
    for number in (0, 2):
        boards = boards_of(who(name), 7, number)
        row = played[number]
        assert len(boards) - 1 == row[2] and max_exponent(boards[-1]) == row[3]


@pytest.mark.parametrize("show", ["best", "last"])
def test_play_draws_the_board_on_which_a_game_ended(capsys, show):
    assert main(["play", "random", "--games", "5", "--seed", "3", "--show", show]) == 0
    head, board, facts, _ = capsys.readouterr().out.split("\n\n")
    scores = player("random").play_games(0, 5, 3)[:, 1]
    number = int(scores.argmax()) if show == "best" else 4
    assert f"number {number}: {printed.thousands(scores[number])} points" in head
    found = [[int(x) if x != "·" else 0 for x in line.split()] for line in board.splitlines()]
    assert from_tiles(found) == boards_of(player("random"), 3, number)[-1]


@pytest.mark.parametrize("more", ["best --json", "game --json", "best --ms-per-move 1", "game"])
def test_what_cannot_be_shown_is_refused(one_line_error, more):
    one_line_error("play", "heuristic", "--games", "2", "--show", *more.split())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_player_is_watched_in_a_real_terminal():
    pytest.importorskip("anywidget")
    from pseudo_terminal import pressed

    seen = pressed("play greedy --show game --seed 5", b"greedy plays", "+-q")
    assert b"points in" in seen


# ---------------------------------------------------------------- the Tab key

OFFERED = [
    ("pl", {"play"}), ("labs ch", {"check"}), ("labs check hw09", {"hw09"}),
    ("play gr", {"greedy"}),
    ("play --dep", {"--depth"}), ("train --rule t", {"tc", "td"}), ("completion z", {"zsh"}),
    ("play --show b", {"best"}), ("play w", {"w.npz"}), ("sweep l", {"list.toml"}),
    ("train --network 8", {"8x6"}), ("solve 3", {"3x3"}), ("train --out ", set()),
    ("train --games ", set()),
]  # fmt: skip
DRIVES = {
    "bash": "source ./script\nCOMP_LINE='lib2048 {}'\nCOMP_POINT=${{#COMP_LINE}}\n_lib2048\n"
    "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
    "fish": "source ./script\ncomplete -C 'lib2048 {}'",
}


@pytest.fixture(scope="module")
def scripts():
    return {
        shell: completion.script(cli._parser(), shell, cli._offers()) for shell in completion.SHELLS
    }


@pytest.mark.parametrize("line, words", OFFERED)
@pytest.mark.parametrize("shell", DRIVES)
def test_a_shell_offers_what_there_is(tmp_path, scripts, shell, line, words):
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    for name in ("w.npz", "list.toml", "player.py"):
        (tmp_path / name).touch()
    (tmp_path / "script").write_text(scripts[shell], encoding="utf-8")
    plain = ["--no-config"] if shell == "fish" else ["--norc", "--noprofile"]
    command = [program, *plain, "-c", DRIVES[shell].format(line)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not done.stderr
    found = {row.partition("\t")[0] for row in done.stdout.splitlines()} - {""}
    assert found == words


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_reads_its_script(tmp_path, scripts, shell):
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(scripts[shell], encoding="utf-8")
    subprocess.run([program, "-n", tmp_path / "script"], check=True)


def test_the_command_prints_the_script(capsys, scripts):
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == scripts["bash"]
