"""The tournament: what submissions do to it, and what the leaderboard says of them."""

import csv
import html
import json
import os
import re

import numpy as np
import psutil
import pytest
from learners import SMALL, contents, scattered

from lib2048 import Network, evaluate, mean_ci95, save
from lib2048.cli import main
from lib2048.course.tournament import guest
from lib2048.course.tournament import tournament as module
from lib2048.course.tournament.guest import GuestLimits, play_file
from lib2048.course.tournament.leaderboard import COLUMNS, Leaderboard, Standing
from lib2048.course.tournament.tournament import tournament
from lib2048.machine.child import Ended
from lib2048.play.evaluation import Result

pytestmark = pytest.mark.ci

GREEDY = """
from lib2048 import afterstates, board

def greedy(board):
    return max(afterstates(board), key=lambda option: option[2])[0]

"""
SEED = 7
RIGHT = f"{GREEDY}choose = greedy\n"
PATIENT = GuestLimits(ms_per_move=2000, memory_mib=500)  # no right player is late on a busy machine
SETTINGS = {"games": 4, "seed": 1, "ms_per_move": None, "finished": True}


def written(folder, **texts):
    """Write Python files; return the path of the last."""
    for name, text in texts.items():
        path = folder / f"{name}.py"
        path.write_text(text)
    return path


def tiny(path, spread=50):
    network = scattered(Network(SMALL), spread=spread)
    save(network, path)
    return network


@pytest.fixture(autouse=True)
def no_process_is_left():
    before = set(psutil.Process().children(recursive=True))  # that of the labs, if they ran here
    yield
    left = set(psutil.Process().children(recursive=True)) - before
    assert all("multiprocessing.resource_tracker" in one.cmdline()[-1] for one in left)  # Python's


# ---------------------------------------------------------------- one guest


def test_a_guest_plays_the_games_that_everybody_plays(tmp_path):
    path = written(tmp_path, grete=f"NAME = '  Grete\\n the <b>great</b>'\n{RIGHT}")
    name, games = play_file(path, 4, seed=SEED, limits=PATIENT)
    expected = evaluate("greedy", 4, seed=SEED)
    assert name == "Grete the <b>great</b>"
    assert [game.score for game in games] == expected.scores.tolist()
    assert [game.largest for game in games] == expected.largest.tolist()
    assert sum(game.moves for game in games) == expected.moves
    assert {(game.late, game.why) for game in games} == {(0, "")}
    assert all(game.seconds > 0 for game in games)
    assert contents(tmp_path).keys() == {path.name}  # nothing compiled beside it


ENDS = {  # how, why, and how many games: a process that dies is started again for each
    "crash": (
        "int('ten')",
        "ValueError: invalid literal for int() with base 10: 'ten' (line 9)",
        8,
    ),
    "death": ("__import__('os')._exit(3)", "ended the process (exit status 3)", 4),
}


@pytest.mark.parametrize("kind", ENDS)
def test_a_game_that_breaks_off_counts_with_its_points_so_far(tmp_path, kind):
    act, why, count = ENDS[kind]
    text = f"{GREEDY}def choose(b):\n    if board.max_exponent(b) >= 8:\n        {act}\n"
    path = written(tmp_path, breaks=f"{text}    return greedy(b)\n")
    limits = GuestLimits(ms_per_move=2000, failures=99)
    _, games = play_file(path, count, seed=SEED, limits=limits)
    free = evaluate("greedy", count, seed=SEED)
    ended = free.largest >= 8
    assert 0 < ended.sum() < count == len(games)
    for game, over, score in zip(games, ended, free.scores, strict=True):
        assert game.why == (why if over else "")
        assert game.largest == 8 and 0 < game.score < score if over else game.score == score


def test_what_a_guest_changes_on_its_side_changes_no_score(tmp_path):
    cheat = """
from lib2048.course.tournament import guest

def lucky(board, random, game, spawn=guest.spawn):
    return spawn(board, random + 1, game)

guest.spawn = lucky
"""
    path = written(tmp_path, cheat=f"{RIGHT}{cheat}")
    _, games = play_file(path, 4, seed=SEED, limits=PATIENT)
    assert len(games) == 4 and all("against the rules" in game.why for game in games)
    assert max(game.score for game in games) < 100


RECORDS = {  # what a guest may write where its games are noted
    "json": 'me\n0123 {"seconds"\n', "empty": "", "text": "me\n0 {}\n",
    "endless": 'me\n0 {"seconds": 1e999, "late": 0, "why": ""}\n',
    "nan": 'me\n0 {"seconds": NaN, "late": 0, "why": ""}\n',
    "late": 'me\n0 {"seconds": 0, "late": [], "why": ""}\n',
    "deep": "me\n0 " + "[" * 100_000,
    "actions": 'me\n0x9 {"seconds": 0, "late": 0, "why": ["no text"]}\n',
    "name": '\x1b[31m=1+1\n0 {"seconds": 0, "late": 0, "why": "\x1b[31m"}\n',
    "fifo": None,
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos, where there are such")
@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_that_was_changed_is_told_or_replayed(tmp_path, kind):
    if RECORDS[kind] is None:
        os.mkfifo(tmp_path / guest.LOG)
    else:
        (tmp_path / guest.LOG).write_text(RECORDS[kind])
    try:
        name, games = guest._read(tmp_path, "me.py", "", SEED, 0, PATIENT, 10)
        assert all(game.seconds == game.late == 0 for game in games) and name.isprintable()
        assert all(game.why.isprintable() for game in games)
    except Ended as ended:
        assert ended.reason == guest.TAMPERED


def test_more_games_than_were_asked_for_are_not_taken(tmp_path):
    line = ' {"seconds": 0, "late": 0, "why": ""}'
    (tmp_path / guest.LOG).write_text("\n".join(["me", *[line] * 5]) + "\n")
    name, games = guest._read(tmp_path, "me.py", "", SEED, 0, PATIENT, 3)
    assert name == "me" and [game.why for game in games] == ["", "", guest.TAMPERED]


WRONG = {
    "-1": "returned -1: an action is 0, 1, 2 or 3",
    "10**9999": "returned a large number: an action is 0, 1, 2 or 3",
    "'Up'": "returned a str: an action is a whole number, 0 to 3",
    "True": "returned a bool: an action is a whole number, 0 to 3",
    "None": "returned None: an action is a whole number, 0 to 3",
    "bytearray(1 << 40)": "used more than 400 MiB of memory",
    "deep()": "recursed without end (line 2)",
    "input()": "EOFError: EOF when reading a line (line 12)",
    "0": "took Up where it moves no tile",  # again and again
}


def test_a_wrong_answer_ends_the_game_and_is_named(tmp_path):
    answers = "".join(f"    lambda: {answer},\n" for answer in WRONG)
    text = f"def deep():\n    return deep()\n\nanswers = [\n{answers}]\n"
    text += (
        "def choose(board):\n    return answers[0]() if len(answers) == 1 else answers.pop(0)()\n"
    )
    limits = GuestLimits(ms_per_move=2000, memory_mib=400, failures=99)
    _, games = play_file(written(tmp_path, wrong=text), len(WRONG), seed=SEED, limits=limits)
    assert [game.why for game in games] == list(WRONG.values())
    assert [game.moves for game in games[:-1]] == [0] * (len(WRONG) - 1)


def test_three_failures_in_a_row_end_it_but_not_three_in_all(tmp_path):
    text = f"""{GREEDY}
game, last = -1, 999

def choose(b):
    global game, last
    game, last = game + (board.tile_sum(b) < last), board.tile_sum(b)
    if (game in (1, 3) or game > 4) and last > 20:
        raise ValueError
    return greedy(b)
"""
    _, games = play_file(written(tmp_path, odd=text), 20, seed=SEED, limits=PATIENT)
    assert [bool(game.why) for game in games] == [False, True, False, True, False, *[True] * 3]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("import nosuch_2048", "ModuleNotFoundError: No module named 'nosuch_2048' (line 1)"),
        ("choose = 3", "has no function choose(board)"),
        ("def choose(board)\n", "SyntaxError: expected ':' (wrong.py, line 1)"),
        ("x = 1\nwhile x: pass", "took longer than 1 s (line 2): is there a loop without end?"),
        ("import os\nos._exit(0)", "ended the process (exit status 0)"),
    ],
)
def test_a_file_that_does_not_load_says_why(tmp_path, text, reason):
    with pytest.raises(Ended) as ended:
        play_file(written(tmp_path, wrong=text), 2, seed=SEED, limits=GuestLimits(import_s=1))
    assert ended.value.reason == reason


# ---------------------------------------------------------------- all at once

WRONG_PLAYERS = {
    "illegal": ("def choose(board): return 0", "took Up where it moves no tile"),
    "late": (
        f"{GREEDY}import time\ndef choose(b):\n    time.sleep(0.06)\n    return greedy(b)",
        "took longer than 50 ms for 2 moves; 2 late moves",
    ),
    "hangs": ("def choose(board):\n    while True: pass", "took longer than 0.55 s (line 2)"),
    "stuck": (
        "import numba\n@numba.njit('i8(u8)')\ndef choose(b):\n    n = 0\n"
        "    while b: n += 1\n    return n",
        "took longer than 0.55 s: is there a loop",
    ),
}
QUICK = GuestLimits(ms_per_move=50, late_moves=2, extra_s=0.5, memory_mib=400, failures=1)


@pytest.mark.slow
def test_wrong_players_are_named_and_stop_nobody(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    written(folder, **{name: text for name, (text, _) in WRONG_PLAYERS.items()})
    network = tiny(folder / "zz.npz")
    board = tournament(folder, games=3, seed=5, limits=QUICK)
    assert [row["player"] for row in board.rows] == [
        "zz.npz",
        *sorted(f"{w}.py" for w in WRONG_PLAYERS),
    ]
    for row in board.rows[1:]:
        name = row["file"].removesuffix(".py")
        assert row["note"].startswith(f"disqualified in game 0: {WRONG_PLAYERS[name][1]}"), row[
            "note"
        ]
        assert (row["games"], row["place"], row["mean"], row["verdict"]) == (1, None, None, None)
    assert board.rows[0]["mean"] == evaluate(network, 3, seed=5).mean


def test_files_of_every_kind_get_a_line(tmp_path, capsys):
    folder = tmp_path / "in"
    (folder / "a folder").mkdir(parents=True)
    network = tiny(folder / "tiny.npz")
    (folder / "cut.npz").write_bytes((folder / "tiny.npz").read_bytes()[:300])
    (folder / ".hidden").write_text("")
    save(Network("cells:012456@2x3"), folder / "small.npz")
    (folder / "läuft <i>.py").write_text(f"NAME = 'tiny.npz'\n{RIGHT}print('hello', 3)")
    before = contents(folder)
    out = tmp_path / "new" / "out"
    arguments = ["--games", 2, "--ms-per-move", 2, "--seed", 5, "--out", out, "--json"]
    assert main(["tournament", str(folder), *map(str, arguments)]) == 0
    said = capsys.readouterr()
    assert said.out.count("\n") == 1 and "hello" not in said.out + said.err
    answer = json.loads(said.out, parse_constant=lambda word: pytest.fail(word))
    assert answer.items() >= {"games": 2, "seed": 5, "ms_per_move": 2}.items()
    rows = {row["file"]: row for row in answer["players"]}
    assert rows["cut.npz"]["note"].startswith("not a file of weights: ")
    assert rows["a folder"]["note"] == "is not a file: submissions are files"
    assert rows["small.npz"]["note"] == "network cells:012456@2x3 plays 2048@2x3, not 2048"
    assert {rows[f]["player"] for f in ("tiny.npz", "läuft <i>.py")} == {
        "tiny.npz (tiny.npz)",
        "tiny.npz (läuft <i>.py)",
    }
    assert len(rows) == 5 and contents(folder) == before
    assert rows["tiny.npz"]["mean"] != evaluate(network, 2, seed=5).mean  # it looked ahead
    with open(out / "leaderboard.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["file"] for row in table] == [row["file"] for row in answer["players"]]
    assert tuple(table[0]) == COLUMNS
    page = (out / "leaderboard.html").read_text("utf-8")
    assert "tiny.npz (läuft &lt;i&gt;.py)" in page and "<i>.py" not in page
    assert contents(out).keys() == {"leaderboard.csv", "leaderboard.html"}


def test_a_tournament_is_of_one_game(tmp_path, capsys):
    folder, game = tmp_path / "in", "2048:four=0.2@2x3"
    folder.mkdir()
    save(Network("22-3@2048:four=0.2@2x3"), folder / "mine.npz")
    save(Network("22-3@2x3"), folder / "other.npz")
    written(folder, first=f"from lib2048 import board\n"
            f"def choose(it): return board.afterstates(it, '{game}')[0][0]")  # fmt: skip
    arguments = "--games", "3", "--game", game, "--out", str(tmp_path / "out"), "--json"
    assert main(["tournament", str(folder), *arguments]) == 0
    answer = json.loads(capsys.readouterr().out)
    rows = {row["file"]: row for row in answer["players"]}
    assert answer["game"] == game and game in (tmp_path / "out/leaderboard.html").read_text("utf-8")
    assert rows["other.npz"]["note"] == f"network 22-3@2x3 plays 2048@2x3, not {game}"
    assert rows["mine.npz"]["mean"] == evaluate(Network(f"22-3@{game}"), 3).mean
    assert rows["first.py"]["mean"] == evaluate("first-legal", 3, game=game).mean


# ---------------------------------------------------------------- the leaderboard


def standing(file, scores, **about):
    scores = np.array(scores)
    return Standing(file, Result(file, scores, scores // 100, 10 * len(scores), 0.5), **about)


def test_a_name_is_no_formula():
    rows = [standing("=1.npz", [1], name="=HYPERLINK(1)"), standing("+2.npz", [2], note="@SUM(1)")]
    found = list(csv.DictReader(Leaderboard(rows, SETTINGS).csv().splitlines()))
    texts = {row["player"] for row in found} | {row["file"] for row in found} | {found[0]["note"]}
    assert texts == {"'=HYPERLINK(1)", "'+2.npz", "'=1.npz", "'@SUM(1)"}


def test_the_order_and_the_verdicts():
    low, high = [1000, 1100, 900, 1000], [1200, 1310, 1100, 1190]  # game by game 200 more
    board = Leaderboard(
        [
            Standing("none.npz", note="not a file of weights"),
            standing("a.npz", low),
            standing("out.py", [9999], note="disqualified", out=True),
            standing("b.npz", high),
            standing("c.npz", low),
            standing("d.npz", [800, 990, 1000, 900]),
        ],
        SETTINGS,
    )
    told = [(row["place"], row["file"], row["verdict"]) for row in board.rows]
    assert told == [
        (1, "b.npz", "more"),
        (2, "a.npz", "not decided"),
        (2, "c.npz", "not decided"),
        (4, "d.npz", None),
        (None, "out.py", None),
        (None, "none.npz", None),
    ]
    assert board.comparisons == 3
    first, out, none = board.rows[0], board.rows[4], board.rows[5]
    assert (first["mean"], first["ci95"]) == mean_ci95(high)
    assert (first["max"], first["moves"], first["reach_2048"]) == (1310, 40, 1.0)
    assert first["ms_per_move"] == 12.5
    assert (out["games"], out["mean"], none["games"], none["moves"]) == (1, None, 0, None)


def test_one_game_decides_nothing():
    board = Leaderboard([standing("a", [5]), standing("b", [500])], SETTINGS)
    assert [(row["file"], row["verdict"], row["ci95"]) for row in board.rows] == [
        ("b", "not decided", None),
        ("a", None, None),
    ]
    assert "±" not in re.search(r"<tbody>.*</tbody>", board.html(), re.S)[0]
    json.dumps(board.as_dict(), allow_nan=False)


def test_the_page_stands_alone_and_escapes_what_it_was_given():
    odd = '<script>alert("ü & ö")</script>'
    rows = [
        standing("a.py", [10, 20], name=odd, note="<b>x</b>"),
        standing("b.py", [1, 2], name=odd),
        standing("out.py", [1, 2], name="{odd}", note="late", out=True),
    ]
    page = Leaderboard(rows, SETTINGS).html()
    assert "<script" not in page and html.escape(f"{odd} (a.py)") in page
    assert html.escape("<b>x</b>") in page and "{odd}" in page
    assert not re.search(r"https?:|url\(|@import|src=|<link", page)
    assert page.count('role="img" aria-label="') == page.count("<svg") == 2
    assert 'aria-label="15 ± 10 points' in page and "<caption>" in page
    columns = page.count('<th scope="col"')
    for row in re.findall(r"<tr.*?</tr>", page)[1:]:
        spans = [int(span) - 1 for span in re.findall(r'colspan="(\d+)"', row)]
        assert row.count("<td") + sum(spans) == columns
    assert not re.search("[\ud800-\udfff]", page)


# ---------------------------------------------------------------- bad input, Ctrl-C


def test_bad_arguments_are_one_line_and_write_nothing(tmp_path, one_line_error, monkeypatch):
    folder, empty, out = tmp_path / "in", tmp_path / "empty", tmp_path / "out"
    folder.mkdir(), empty.mkdir()
    tiny(folder / "tiny.npz")
    (empty / ".hidden").write_text("")
    before = contents(tmp_path)

    def refused(*arguments, into=out):
        said = one_line_error("tournament", *arguments, "--out", into)
        assert contents(tmp_path) == before
        return said

    assert "no such folder" in refused(tmp_path / "nowhere")
    assert "is a file" in refused(folder / "tiny.npz")
    assert "is empty" in refused(empty)
    assert "at least 1" in refused(folder, "--games", 0)
    assert "seconds a move" in refused(folder, "--ms-per-move", 0)
    assert "among the submissions" in refused(folder, into=folder)
    assert "among the submissions" in refused(folder, into=folder / "out")
    assert "nothing can be written" in refused(folder, into=folder.parent / "in/../empty/.hidden")


def test_a_folder_where_nothing_can_play(tmp_path, capsys):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.npz").write_text("no")
    written(folder, wrong="choose = 3")
    assert main(["tournament", str(folder), "--out", str(tmp_path / "out")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "nothing in it can play: a.npz: not a file of weights" in last and "2 in all" in last
    assert not (tmp_path / "out").exists()


def test_stopping_writes_what_has_finished(tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in "abc":
        tiny(folder / f"{name}.npz", ord(name))
    real = module.evaluate

    def stopped(who, *arguments, **options):
        result = real(who, *arguments, **options)
        if len(stopped.seen) == 1:
            raise KeyboardInterrupt
        stopped.seen.append(who)
        return result

    stopped.seen = []
    monkeypatch.setattr(module, "evaluate", stopped)
    assert main(["tournament", str(folder), "--games", "3", "--out", str(out)]) == 130
    assert capsys.readouterr().err.endswith("lib2048: stopped\n")
    table = list(csv.DictReader((out / "leaderboard.csv").read_text("utf-8").splitlines()))
    assert [(row["file"], row["games"], row["note"]) for row in table] == [
        ("a.npz", "3", ""),
        ("b.npz", "0", "did not play"),
        ("c.npz", "0", "did not play"),
    ]
    assert "Stopped before" in (out / "leaderboard.html").read_text("utf-8")
