"""The kernel's side of the widgets: it follows the browser, answers in words, hides no error.

What they do in a browser is in test_browser.py, and their rules in test_game_js.py.
"""

import hashlib
import inspect
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from learners import legal

pytest.importorskip("ipywidgets")
anywidget = pytest.importorskip("anywidget")

import lib2048  # noqa: E402
from lib2048 import endgame  # noqa: E402
from lib2048.course.explorers import guess  # noqa: E402
from lib2048.exact import SmallGame  # noqa: E402
from lib2048.game import board as rules  # noqa: E402
from lib2048.game.game import parse_game  # noqa: E402
from lib2048.game.rng import stream  # noqa: E402
from lib2048.machine.printed import thousands  # noqa: E402
from lib2048.networks.network import Network  # noqa: E402
from lib2048.networks.storage import save  # noqa: E402
from lib2048.play.evaluation import Step, evaluate, record_game  # noqa: E402
from lib2048.play.players import player  # noqa: E402
from lib2048.play.review import review  # noqa: E402
from lib2048.show.widgets import base, kept  # noqa: E402
from lib2048.show.widgets.game import PLAYED, to_hex  # noqa: E402
from lib2048.show.widgets.play import PlayWidget  # noqa: E402
from lib2048.show.widgets.replay import ReplayWidget  # noqa: E402
from lib2048.show.widgets.review import ReviewWidget  # noqa: E402

ACTIONS = ["Up", "Right", "Down", "Left"]


class Stubborn:
    """A player that always names the same action."""

    name = "stubborn"

    def __init__(self, action):
        self.action = action

    def choose(self, board):
        return self.action


class Hopeful(Stubborn):
    """A player whose values are no numbers."""

    def values(self, board):
        return {0: float("inf"), 1: float("nan"), 2: 3}


class Broken:
    """A player that cannot choose, sometimes."""

    def __init__(self, times=0):
        self.times = times

    def choose(self, board):
        self.times -= 1
        if self.times < 0:
            raise KeyError("no such pattern")
        return legal(board)[0]


class Stopped(Broken):
    """A player that the Stop button meets."""

    def choose(self, board):
        raise KeyboardInterrupt


def pressed(widget, presses):
    """Take the first legal action a few times; return the boards seen on the way."""
    boards = [int(widget.board)]
    for _ in range(presses):
        widget.act(legal(widget.board)[0])
        boards.append(int(widget.board))
    return boards


def play_out(widget):
    while actions := legal(widget.board):
        widget.act(actions[0])


class Browser:
    """Stands for the browser: sends messages and keeps what comes; all of it has to be JSON."""

    def __init__(self, widget, monkeypatch):
        self.widget, self.answers, self.states = widget, [], []
        monkeypatch.setattr(widget, "send", lambda m: self.answers.append(json.loads(dumped(m))))
        monkeypatch.setattr(widget, "_send", lambda m, **_: self.states.append(m))

    def say(self, **message):
        """Send a message; return the last answer, if there is one."""
        self.widget._handle_custom_msg(message, [])
        return self.answers[-1] if self.answers else None


def dumped(message):
    return json.dumps(message, allow_nan=False)


@pytest.fixture
def browser(monkeypatch):
    return lambda widget: Browser(widget, monkeypatch)


# ------------------------------------------------------------------------------------------- play


def test_an_action_slides_and_spawns_and_counts():
    widget = PlayWidget(seed=3)
    start, state = rules.initial(stream(3, 0))
    action = legal(start)[-1]
    afterstate, reward = rules.slide(start, action)
    assert widget.game == {"seed": "3", "number": 0, "start": None, "actions": "", "by": ""}
    widget.act(ACTIONS[action])
    assert int(widget.board) == int(rules.spawn(afterstate, state)[0])
    assert (widget.score, widget.actions) == (reward, 1)
    assert widget.game["actions"] == str(action)
    assert widget.message == f"{ACTIONS[action]}: {reward} points."


def test_an_illegal_action_spawns_nothing_and_says_so():
    widget = PlayWidget(seed=1)
    while len(legal(widget.board)) == 4:
        widget.act(legal(widget.board)[0])
    before = (int(widget.board), widget.score, widget.actions)
    wrong = next(action for action in range(4) if action not in legal(widget.board))
    widget.act(wrong)
    assert (int(widget.board), widget.score, widget.actions) == before
    assert "not legal" in widget.message


def test_undo_goes_back_one_by_one_and_luck_repeats():
    widget = PlayWidget(seed=5)
    boards = pressed(widget, 3)
    widget.undo()
    assert int(widget.board) == boards[2] and widget.actions == 2
    pressed(widget, 1)
    assert int(widget.board) == boards[3]
    for _ in range(5):
        widget.undo()
    assert int(widget.board) == boards[0] and widget.score == widget.actions == 0
    widget.new_game()
    assert int(widget.board) == int(rules.initial(stream(5, 1))[0]) and widget.seed == 5


def test_a_game_may_begin_on_a_board_of_ones_own(refused):
    tiles = [[2, 4, 0, 0], [0] * 4, [0] * 4, [0] * 4]
    for board in (tiles, rules.from_tiles(tiles), int(rules.from_tiles(tiles))):
        widget = PlayWidget(seed=3, board=board)
        assert widget.board == rules.from_tiles(tiles) and widget.score == 0
        widget.act("Down")
        after, _ = rules.slide(rules.from_tiles(tiles), 2)
        assert widget.board == rules.spawn(after, stream(3, 0))[0]
    refused(lambda: PlayWidget(board=[[0] * 4] * 4), "at least two tiles")
    refused(lambda: PlayWidget(board=[[8] * 4] + [[0] * 4] * 3), "no 2 and no 4")
    refused(lambda: PlayWidget(board=[[32768] * 4] + [[2] * 4] * 3), "beside 3 as large")
    refused(lambda: PlayWidget(board=[[3] * 4] * 4), "3 is not a tile")


def test_the_end_is_said_and_nothing_moves_any_more():
    widget = PlayWidget(seed=4, player=Stubborn(0))
    play_out(widget)
    assert widget.message.startswith("The game is over")
    last = int(widget.board)
    widget.act("Left")
    assert widget.hint() is None
    assert int(widget.board) == last and widget.message.startswith("The game is over")


# ------------------------------------------------------------------- what the browser tells of it


def test_the_kernel_follows_the_game_of_the_browser(browser):
    widget, other = PlayWidget(seed=5), PlayWidget(seed=5)
    page = browser(widget)
    for presses in (3, 1, 1):  # it goes on, and an undo between
        pressed(other, presses)
        page.say(kind="game", game=other.game)
        assert widget.board == other.board and widget.score == other.score
        other.undo()
        page.say(kind="game", game=other.game)
        assert widget.game == other.game and widget.actions == other.actions
    assert page.states == [], "it would fight with the browser"


def test_another_game_a_seed_of_any_size_and_a_position_are_followed(browser):
    widget = PlayWidget()
    page, board = browser(widget), rules.from_tiles([[2, 2, 4, 0], *[[0] * 4] * 3])
    page.say(kind="game", game={**widget.game, "seed": str(2**70), "number": 4, "actions": ""})
    assert widget.board == rules.initial(stream(2**70, 4))[0] and widget.seed == 2**70
    start = {"start": to_hex(board), "actions": "3", "by": "2"}
    page.say(kind="game", game={**widget.game, **start})
    assert widget.actions == 1 and widget.score == 4 and widget.helped
    widget.new_game()
    assert widget.game["number"] == 5 and widget.game["start"] is None and not widget.helped


@pytest.mark.parametrize(
    "game",
    [
        {},
        {"seed": "x"},
        {"actions": "9"},
        {"actions": "3" * 99},
        {"actions": "30123012x"},
        {"start": "zz"},
        None,
    ],
)
def test_what_is_no_game_is_answered_in_words(game, browser):
    widget = PlayWidget(seed=5)
    message = game if not game else {**widget.game, **game}
    answer = browser(widget).say(kind="game", game=message)
    assert answer["kind"] == "trouble" and "this is no game" in answer["error"]
    assert "Traceback" in answer["details"]
    assert widget.actions == 0 and widget.game == PlayWidget(seed=5).game
    widget.act(legal(widget.board)[0])  # and it goes on


# ------------------------------------------------------------------------ a game that is left


def test_a_widget_that_was_closed_draws_nothing(cell, monkeypatch):
    widget = cell(PlayWidget(seed=3))
    monkeypatch.setattr(base, "get_ipython", lambda: True)
    widget.close()
    widget._draw_again()  # as its timer does, a moment later


@pytest.fixture
def cell(monkeypatch):
    """Return what shows a widget as the output of a cell, by the cell's id."""
    monkeypatch.setattr(base, "display", lambda *_, **__: None)
    monkeypatch.setattr(kept, "_games", {})
    monkeypatch.setattr(kept, "_shelves", [])

    def shown(widget, name="cell"):
        parent = {"metadata": {"cellId": name}}
        shell = SimpleNamespace(get_parent=lambda: parent)
        monkeypatch.setattr("lib2048.show.widgets.play.get_ipython", lambda: shell)
        widget._ipython_display_()
        return widget

    return shown


def test_a_cell_that_runs_again_goes_on_with_its_game(cell):
    widget = cell(PlayWidget(seed=3))
    pressed(widget, 5)
    again = cell(PlayWidget(seed=3))
    assert again.board == widget.board and again.actions == 5
    assert again.message.startswith(f"Your game goes on where you left it, at {again.score} points")
    assert f"score {again.score} · 5 actions" in again.static().text
    pressed(again, 2)
    again.new_game()
    pressed(again, 1)
    third = cell(PlayWidget(seed=3))
    assert (third.game["number"], third.actions, third.board) == (1, 1, again.board)
    assert cell(PlayWidget(seed=4)).actions == 0, "another game"
    assert cell(PlayWidget(seed=3), "another cell").actions == 0
    assert PlayWidget(seed=3).actions == 0, "in a program a game begins at its beginning"


def test_a_game_goes_on_in_the_next_kernel(cell, monkeypatch):
    record, busy = {}, [True]

    def change(section, name, new):
        if busy:
            return busy.clear()  # another notebook is at the record
        return record.setdefault(section, {}).setdefault(name, new({}))

    shelf = SimpleNamespace(entries=lambda section: record.get(section, {}), change=change)
    kept.lend(lambda: shelf)
    widget = cell(PlayWidget(seed=3))
    pressed(widget, 4)
    kept.write()
    assert not record
    kept.write()  # what could not be written is not forgotten
    assert json.loads(json.dumps(record)) == record
    monkeypatch.setattr(kept, "_games", {})  # another process
    assert cell(PlayWidget(seed=3)).board == widget.board
    record["games"] = {name: {"actions": "9"} for name in record["games"]}
    monkeypatch.setattr(kept, "_games", {})
    assert cell(PlayWidget(seed=3)).actions == 0, "what is no game is left"


def test_the_course_lends_its_shelf(monkeypatch, tmp_path):
    monkeypatch.setenv("LIB2048_MY", str(tmp_path))
    monkeypatch.delenv("LIB2048_QUICK", raising=False)
    assert lib2048.course and kept._shelves
    kept.remember("cell 2048 1 None", PlayWidget().game)
    kept.write()
    assert "cell 2048 1 None" in (tmp_path / "progress.json").read_text()


def test_own_points_are_those_before_any_help(browser):
    widget = PlayWidget(seed=3, player="heuristic")
    assert widget.account() == "0 points in 0 actions, all of them your own"
    pressed(widget, 6)
    own = widget.score
    assert widget.own_score == own and not widget.helped
    widget.hint()
    pressed(widget, 2)  # the first of them beside the hint
    assert widget.game["by"] == "00000010" and widget.own_score == own
    assert widget.account().endswith(
        f": 7 were your own, 1 had a hint. By your own hand alone: {own}"
    )
    browser(widget).say(kind="game", game=widget.game | {"by": "00000022"})
    assert "2 were a player's" in widget.account()
    answer = browser(widget).say(kind="game", game=widget.game | {"by": "9"})
    assert "this is no game" in answer["error"]


def test_only_own_points_are_compared_with_others(browser):
    results = {"greedy": evaluate("greedy", 20)}
    widget = PlayWidget(seed=3, player="heuristic")
    assert "no points of your own yet" in widget.against(results)
    pressed(widget, 6)
    said = widget.against(results)
    assert said.startswith(f"Your points, {widget.score}, against\ngreedy: more than in 0.0%")
    browser(widget).say(kind="game", game=widget.game | {"by": "000002"})
    assert widget.against(results).startswith(f"Your points by your own hand, {widget.own_score},")
    assert len(widget.ranks["greedy"]) == 101 and widget.ranks == json.loads(dumped(widget.ranks))
    assert PlayWidget(board=[[2, 4, 0, 0], *[[0] * 4] * 3]).own_score == 0


def test_every_page_but_its_own_hears_of_a_game(browser):
    widget = PlayWidget(seed=5)
    page = browser(widget)
    action = str(legal(widget.board)[0])
    page.say(kind="game", game=widget.game | {"actions": action}, page="one")
    assert page.answers == [{"kind": "follow", "game": widget.game, "page": "one"}]


# ---------------------------------------------------------------------------------------- review


def test_a_page_gets_the_review_of_its_game(browser, steps):
    widget = PlayWidget(seed=3, player="heuristic")
    pressed(widget, 8)
    answer = browser(widget).say(kind="review", id="1", player=0)["record"]
    found = review(widget.steps, "heuristic")
    assert answer["by"] == "heuristic" and answer["actions"] == widget.game["actions"]
    assert answer["scores"][-1] == widget.score and len(answer["boards"]) == 9 * 16
    np.testing.assert_allclose(np.array(answer["worths"], float), found.worths, atol=0.001)
    silent = browser(widget).say(kind="review", id="2", player=widget.players.index("random"))
    assert silent["error"] == "random values no actions: ask a network, or the heuristic."
    nothing = browser(PlayWidget(player="heuristic")).say(kind="review", id="1", player=0)
    assert nothing["error"].startswith("there is nothing to review")


def test_a_review_stands_for_any_game(steps, refused):
    network = Network("cells:0123,4567", optimistic=1000)
    widget = ReviewWidget(steps, network)
    worst = widget.review.worst(3)
    assert widget.position == worst[0] and widget.board == steps[worst[0]].board
    text = widget.static().text
    for turn in worst:
        assert f"action {turn + 1} " in text
    widget.position = 10**6
    assert widget.position == len(steps) - 1, "the end"
    small = SmallGame(2, 2, progress=False).optimal()
    own = record_game("greedy", seed=5, game="2048@2x2")
    truth = ReviewWidget(own, small.actions)
    assert truth.record["by"] == "optimal play" and truth.record["game"]["rows"] == 2
    best = ACTIONS[truth.review.best[truth.position]]
    assert ACTIONS[truth.hint()] == best, "the board to play on asks the table"
    game = PlayWidget(seed=3, player="heuristic")
    refused(lambda: ReviewWidget(game, "heuristic"), "there is nothing to review")
    pressed(game, 3)
    assert len(ReviewWidget(game, "heuristic").review.steps) == 3
    refused(lambda: ReviewWidget(steps, "greedy"), "greedy values no actions")


def test_a_game_with_a_32768_is_reviewed():
    board = rules.from_tiles([[32768, 16384, 8, 4], [2, 4, 2, 0], [0] * 4, [0] * 4])
    widget = PlayWidget(seed=1, board=board, player="heuristic")
    play_out(widget)
    found = ReviewWidget(widget, "heuristic")
    assert "32768" in found.static().text and len(found.review.steps) == widget.actions


def test_a_review_without_a_mistake_says_so():
    network = Network("cells:0123,4567", optimistic=1000)
    found = ReviewWidget(record_game(network, seed=3), network)
    count = thousands(len(found.review.steps))
    said = f"A reviewed game: {count} of {count} actions"
    assert found.review.worst() == [] and found.static().text.startswith(said)


# ------------------------------------------------------------------------------- an endgame


@pytest.fixture(scope="module")
def table():
    return endgame.solve("411", 16, progress=False)


def test_an_endgame_is_played_by_its_own_rules(table, refused):
    widget = PlayWidget(seed=2, player=table)
    walls, refused_of_large = widget._game.narrow.walls, 0
    assert widget.players == ["the table 411-16"] and widget.about["walls"] == to_hex(walls)
    while not widget._over:
        known, before = table.chances(widget.board), widget.board
        for action, name in enumerate(ACTIONS):
            if name not in known:
                widget.act(action)
                assert widget.board == before
                moves = rules.slide(before, action)[0] != before
                assert ("would move a large tile" in widget.message) == moves
                refused_of_large += moves
        action = widget.hint()
        assert known[ACTIONS[action]] == max(known.values())
        widget.act(action)
        assert int(widget.board) & int(walls) == int(walls)
    assert widget.message == "The endgame is over." and table.is_over(widget.board)
    assert refused_of_large
    widget.new_game()
    assert widget.actions == 0 and int(widget.board) & int(walls) == int(walls)
    refused(lambda: PlayWidget(player=table, board=[[2, 4, 0, 0]] * 4), "must stand")
    refused(lambda: PlayWidget(player=table, game="2048"), "leave game out")


@pytest.fixture
def unhurried(monkeypatch):
    """Let one answer take longer: playing ahead goes on, however busy the machine is."""
    monkeypatch.setattr("lib2048.show.widgets.mind.AT_ONCE", 60)


@pytest.mark.usefixtures("unhurried")
def test_autoplay_of_an_endgame_ends_where_it_ends(browser, table):
    page = browser(PlayWidget(seed=2, player=table))
    state, board = to_hex(page.widget._game.here.state), to_hex(page.widget.board)
    ask = {"board": board, "state": state, "count": 500, "player": 0}
    answer = page.say(kind="ahead", id="1", **ask)
    assert answer["over"] and "error" not in answer and answer["actions"]


def test_a_review_by_a_table_tells_chances(browser, table, refused):
    widget = PlayWidget(seed=2, player=table)
    while not widget._over:
        widget.act([*table.chances(widget.board)][-1])
    found = review(widget.steps, table)
    assert found.unit == "chance" and (found.promised <= 1).all() and "%" in repr(found)
    for turn, lost in zip(found.steps, found.lost):
        known = table.values(turn.board)
        assert lost == pytest.approx(max(known.values()) - known[turn.action])
    record = browser(widget).say(kind="review", id="1", player=0)["record"]
    np.testing.assert_allclose(np.array(record["worths"], float), found.worths, atol=1e-6)
    assert record["game"] == widget.about
    again = ReviewWidget(widget, table)
    assert again.record["game"]["walls"] == widget.about["walls"]
    assert "chance, as the table 411-16 sees it" in again.static().text
    refused(lambda: review(record_game("greedy", seed=1), table), "not in the formation")


# ------------------------------------------------------------------------------- asking a player


def test_a_hint_names_the_action_of_the_player(refused):
    widget = PlayWidget(player=Stubborn(legal(PlayWidget().board)[0]))
    action = widget.hint()
    assert action == widget.player.action
    assert widget.message == f"stubborn would choose {ACTIONS[action]}."
    assert widget.actions == 0
    nobody = PlayWidget(player=None)
    assert nobody.players == [] and nobody.player is None
    refused(nobody.hint, "there is nobody to ask")
    refused(lambda: PlayWidget(player="deep blue"), "unknown player 'deep blue'")


def advice(page, player=0):
    """Ask a player about the board; return the last answer."""
    return page.say(kind="advise", id="1", player=player, board=to_hex(page.widget.board))


def test_values_are_those_of_the_player(browser):
    network = Network("4-22", optimistic=1000)
    page = browser(PlayWidget(seed=9, player=network))
    answer, values = advice(page), player(network).values(page.widget.board)
    working = {"kind": "working", "doing": "4-22 is thinking", "busy": False}
    assert page.answers[0] == working | {"id": "1"}
    assert answer["values"] == [values.get(action) for action in range(4)]
    assert answer["action"] == player(network).choose(page.widget.board)
    assert (answer["board"], answer["id"]) == (to_hex(page.widget.board), "1")


def test_the_menu_offers_the_player_asked_for_and_the_named_ones(browser):
    widget = PlayWidget(player="greedy")
    assert widget.players == ["greedy", "heuristic", "random"]
    page = browser(widget)
    answers = [advice(page, n) for n in range(3)]
    assert [answer["name"] for answer in answers] == widget.players
    assert all(answer["action"] in legal(widget.board) for answer in answers)


def test_by_default_the_shipped_network_is_asked_and_loaded_late(monkeypatch):
    widget = PlayWidget()
    assert widget.players == ["our network 42-33-tuned", "heuristic", "greedy", "random"]
    assert widget._minds[0]._player is None and "Loading" in widget._minds[0].doing

    def without(path):
        raise FileNotFoundError("weights come with the repository")

    monkeypatch.setattr("lib2048.show.widgets.mind.data", without)
    assert PlayWidget().players == ["heuristic", "greedy", "random"]


def test_an_installed_package_asks_its_small_network(monkeypatch):
    here = lib2048.data("weights/page.npz")

    def found(path):
        if "page" not in path:
            raise FileNotFoundError("large networks come with the repository")
        return here

    monkeypatch.setattr("lib2048.show.widgets.mind.data", found)
    widget = PlayWidget()
    assert widget.players == ["our small network", "heuristic", "greedy", "random"]
    assert widget._minds[0].advise(widget.board)["action"] in legal(widget.board)


@pytest.mark.usefixtures("unhurried")
def test_playing_ahead_is_the_game_that_the_player_would_play(browser):
    widget = PlayWidget(seed=6, player="heuristic")
    state = f"{int(widget._game.here.state):x}"
    ask = {"kind": "ahead", "id": "1", "player": 0, "state": state}
    answer = browser(widget).say(**ask, board=to_hex(widget.board), count=5)
    steps = record_game("heuristic", 6, 0)
    assert answer["actions"] and not answer["over"]
    taken = [int(action) for action in answer["actions"]]
    assert taken == [step.action for step in steps[: len(taken)]]
    best = [max(v for v in values if v is not None) for values in answer["values"]]
    assert best == [s.reward + s.value for s in steps[: len(best)]]
    assert widget.actions == 0, "it is the browser that plays"


@pytest.mark.parametrize(
    "name", ["2048:four=0.2", "2048@3x4", "2048:four=1@2x3", "2048@1x4", "threes", "threes@2x3"]
)
@pytest.mark.usefixtures("unhurried")
def test_a_game_of_another_board_is_played_and_replayed(name, browser):
    widget, game = PlayWidget(seed=6, game=name), parse_game(name)
    assert widget.players == ["greedy", *["heuristic"] * (name == "2048:four=0.2"), "random"]
    steps = record_game(player("greedy", game), 6, 0)
    assert widget.hint() == steps[0].action
    state = f"{int(widget._game.here.state):x}"
    ask = {"kind": "ahead", "id": "1", "player": 0, "state": state, "count": 5000}
    here = {"board": to_hex(widget.board), "word": f"{int(widget._game.here.word):x}"}
    answer = browser(widget).say(**ask, **here)
    assert answer["over"] and [*map(int, answer["actions"])] == [s.action for s in steps[:-1]]
    browser(widget).say(kind="game", game={**widget.game, "actions": answer["actions"]})
    score = int(game.rules.points(steps[-1].board)) or sum(s.reward for s in steps)
    assert widget.board == steps[-1].board and widget.score == score
    last = " / ".join(rules.to_text(widget.board, game).split("\n"))
    assert widget.static().text.startswith(" ".join(last.split()))
    widget.undo()
    widget.act(steps[-2].action)
    assert widget.board == steps[-1].board and "no action is legal" in widget.message
    replay = ReplayWidget(steps, name)
    assert replay.record["game"]["name"] == name and replay.scores[-1] == score
    assert replay.record["words"] == [int(step.word) for step in steps]
    assert " ".join(last.split()) in replay.static().text


def test_a_game_without_rules_on_the_page_is_not_offered(refused, monkeypatch):
    games = Path(base.__file__).with_name("games.js").read_text(encoding="utf-8")
    [listed] = re.findall(r"const KINDS = \{(.*)\};", games)
    assert re.findall(r"(\w+):", listed) == [*PLAYED]
    monkeypatch.setattr("lib2048.show.widgets.play.PLAYED", ("2048",))
    refused(lambda: PlayWidget(game="threes"), "threes: the page has no rules of this game")


# ------------------------------------------------------------------------------------- bad players


@pytest.mark.parametrize(
    ("who", "says"),
    [
        (Stubborn(9), "stubborn chose 9, which is not legal here: "),
        (Stubborn(None), "stubborn chose None, which is not legal here"),
        (Stubborn("up"), "stubborn chose 'up', which is not legal here"),
        (Broken(), "Broken failed with KeyError: 'no such pattern'"),
        (Stopped(), "Stopped was interrupted."),
        (Path("no/such/weights.npz"), "The weights of weights.npz are gone"),
        ("gone.npz", "The weights of gone.npz are gone"),
    ],
)
def test_a_player_that_fails_is_answered_in_words(who, says, browser):
    answer = advice(browser(PlayWidget(player=who)))
    assert answer["error"].startswith(says) and "\n" not in answer["error"]
    assert answer["kind"] == "answer" and answer["id"] == "1", "the browser waits for it"


def test_a_player_of_another_game_is_refused(tmp_path, browser, refused):
    network = Network("cells:0145@2x2")
    refused(
        lambda: PlayWidget(player=network, game="2048"), "cells:0145@2x2 plays 2048@2x2, not 2048"
    )
    save(network, tmp_path / "a.npz")
    answer = advice(browser(PlayWidget(player=tmp_path / "a.npz")))
    assert answer["error"] == "cells:0145@2x2 plays 2048@2x2, not 2048."
    refused(lambda: PlayWidget(game="chess"), "unknown game 'chess'")
    refused(lambda: PlayWidget(game="2048@5x5"), "a board of 5x5")


def test_the_players_error_reaches_a_cell_as_it_is():
    with pytest.raises(KeyError, match="no such pattern"):
        PlayWidget(player=Broken()).hint()
    with pytest.raises(Exception, match="stubborn chose 9"):
        PlayWidget(player=Stubborn(9)).hint()


@pytest.mark.usefixtures("unhurried")
def test_what_was_played_before_an_error_counts(browser):
    widget = PlayWidget(seed=2, player=Broken(times=3))
    ask = {"board": to_hex(widget.board), "state": f"{int(widget._game.here.state):x}"}
    answer = browser(widget).say(kind="ahead", id="1", player=0, count=9, **ask)
    assert len(answer["actions"]) == 3 == len(answer["values"])
    assert "no such pattern" in answer["error"]
    first = answer["details"].splitlines()[1]
    assert re.search(r"test_widgets.py\", line \d+, in choose", first)


def test_values_that_are_no_numbers_are_left_out(browser):
    answer = advice(browser(PlayWidget(player=Hopeful(legal(PlayWidget().board)[0]))))
    assert answer["values"] == [None, None, 3, None]


def test_a_file_of_weights_is_loaded_when_asked_and_damage_is_said(tmp_path, browser):
    save(Network("4-22", optimistic=10), tmp_path / "small.npz")
    page = browser(PlayWidget(player=tmp_path / "small.npz"))
    assert page.widget.players[0] == "small.npz" and "error" not in advice(page)
    os.remove(tmp_path / "small.npz")
    assert "error" not in advice(page), "it is loaded once"
    (tmp_path / "weights.npz").write_bytes(b"no weights")
    page = browser(PlayWidget(player=str(tmp_path / "weights.npz")))
    assert advice(page)["error"].startswith("weights.npz failed with")


# ----------------------------------------------------------------------------------------- replay


@pytest.fixture(scope="module")
def steps():
    return record_game("heuristic", seed=2)


def test_the_browser_gets_the_whole_game(steps):
    record = ReplayWidget(steps).record
    assert json.loads(dumped(record)) == record
    assert record["actions"] == [step.action for step in steps] and record["actions"][-1] is None
    assert record["rewards"] == [step.reward for step in steps]
    assert record["values"] == pytest.approx([step.value for step in steps], abs=0.001)
    for name, boards in (("boards", "board"), ("afterstates", "afterstate")):
        hexes = [record[name][i : i + 16] for i in range(0, len(record[name]), 16)]
        assert [int(text, 16) for text in hexes] == [int(getattr(s, boards)) for s in steps]


def test_a_position_can_be_set_and_stays_in_the_game(steps):
    widget = ReplayWidget(steps)
    widget.position = 40
    assert widget.position == 40
    widget.position = 10**6
    assert widget.position == len(steps) - 1
    widget.position = -5
    assert widget.position == 0


def test_the_kernel_knows_where_the_browser_is(steps, browser):
    widget = ReplayWidget(steps)
    page = browser(widget)
    page.say(kind="position", position=12)
    assert widget.position == 12 and page.states == []
    assert page.say(kind="position", position="here")["kind"] == "trouble"


def test_a_game_without_values_is_replayed_too():
    step = Step(np.uint64(0x11), 3, 4, np.uint64(0x2), None)
    assert ReplayWidget([step]).record["values"] == [None]
    assert ReplayWidget([step._replace(value=float("-inf"))]).record["values"] == [None]
    assert ReplayWidget(record_game("greedy")).record["values"][0] is None


def test_what_cannot_be_replayed_is_refused(steps, refused):
    refused(lambda: ReplayWidget([]), "no steps to replay")
    wrong = [*steps[:2], steps[2]._replace(action=9)]
    refused(lambda: ReplayWidget(wrong), "step 2: 9 is no action")


# ---------------------------------------------------------------------------------- still pictures


def test_key_moments_are_the_start_the_new_largest_tiles_and_the_end(steps):
    picture = ReplayWidget(steps).static()
    largest = [rules.max_exponent(step.afterstate) for step in steps]
    top = largest.index(max(largest))
    assert "action 1 " in picture.text and f"action {top + 1} " in picture.text
    assert "the end" in picture.text
    assert picture.svg.count("the end") == 1
    assert picture.text.count("score") == 6


def test_an_output_carries_a_picture_for_pages_without_a_kernel(steps):
    for widget in (PlayWidget(), ReplayWidget(steps)):
        bundle = widget._still()
        assert widget.static()._repr_html_() in bundle["text/html"]
        assert "then run this cell" in bundle["text/html"]
        assert len(bundle["text/html"]) < 20_000


def test_the_picture_is_an_output_of_its_own_so_that_it_outlives_the_widget(monkeypatch):
    shown, widget = [], PlayWidget()
    monkeypatch.setattr(base, "display", lambda bundle, **_: shown.append(bundle))
    widget._ipython_display_()
    still, view = shown
    assert base.VIEW not in still and "<img" in still["text/html"]
    assert set(view) == {base.VIEW}
    assert view[base.VIEW]["model_id"] == widget.model_id


def test_in_colab_the_widget_manager_is_asked_for_and_named(monkeypatch):
    asked, shown = [], []
    colab = types.ModuleType("google.colab.output")
    colab.enable_custom_widget_manager = lambda: asked.append(1)
    colab._widgets = types.SimpleNamespace(_installed_url="https://manager")
    monkeypatch.setitem(sys.modules, "google.colab.output", colab)
    monkeypatch.setattr(base, "display", lambda bundle, **more: shown.append(more))
    anywidget._util.enable_custom_widget_manager_once.cache_clear()
    PlayWidget()._ipython_display_()
    PlayWidget()
    anywidget._util.enable_custom_widget_manager_once.cache_clear()
    assert len(asked) == 1
    told = shown[-1]["metadata"][base.VIEW]["colab"]["custom_widget_manager"]
    assert told == {"url": "https://manager"}


def test_a_stored_lesson_keeps_the_picture_alone():
    import lessons
    from nbformat.v4 import new_output

    bundle = PlayWidget()._still()
    still = new_output("display_data", data={"text/html": bundle["text/html"], "text/plain": "p"})
    view = new_output("display_data", data={base.VIEW: {"model_id": "1"}})
    assert [lessons.lasts(output) for output in (still, view)] == [True, False]


# --------------------------------------------------------------------------------- the front end


EVERY = [
    lib2048.PlayWidget, lib2048.ReplayWidget, lib2048.ReviewWidget, lib2048.TrainWidget,
    lib2048.TreeWidget, lib2048.NetworkExplorer, lib2048.SmallBoardWidget,
    lib2048.course.CurvesExplorer, lib2048.course.CreditWidget,
    guess.Guess,
]  # fmt: skip
FOLDERS = {Path(inspect.getfile(widget)).parent for widget in EVERY}


@pytest.mark.parametrize("widget", EVERY)
def test_a_front_end_is_one_text_that_needs_nothing_else(widget):
    text = widget._esm
    assert not re.search("^ *import ", text, re.MULTILINE) and text.count("export default") == 1
    for named in ("http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"):
        text = text.replace(named, "")
    assert "http" not in text + widget._css and "url(" not in text + widget._css
    assert ("uPlot" in text) == ("new Chart" in text), "it ships what it needs"
    assert "--accent" in widget._css


def test_a_widget_is_a_class_and_a_module(tmp_path, monkeypatch):
    board = Path(base.__file__).with_name("board.js")
    (tmp_path / "mine.js").write_text(
        f'import {{ points as told }} from "{board}";\nconst make = told(1024);\n'
        "export default { render: () => make };\n"
    )
    (tmp_path / "mine.css").write_text(".mine { color: red }")
    (tmp_path / "mine_alone.py").write_text(
        "from lib2048.show.widgets.base import BrowserWidget\n"
        "class Mine(BrowserWidget):\n    entry = 'mine.js'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import mine_alone

    assert mine_alone.Mine._css.endswith("red }") and "--accent" in mine_alone.Mine._css
    if node := shutil.which("node"):
        (tmp_path / "all.mjs").write_text(mine_alone.Mine._esm, encoding="utf-8")
        told = "import('./all.mjs').then((all) => console.log(all.default.render()))"
        done = subprocess.run([node, "-e", told], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout == "1\u202f024\n", done.stderr


def test_sheets_have_classes_of_their_own():
    """A page shows all of its widgets' sheets: a class of two would look like both."""
    paths = [path for folder in FOLDERS for path in folder.glob("*.css")]
    texts = {
        path.name: re.sub(r"/\*.*?\*/|\{[^}]*\}", " ", path.read_text(), flags=re.DOTALL)
        for path in paths
    }
    owned = {name: set(re.findall(r"\.(lib-[\w-]+)", text)) for name, text in texts.items()}
    shared = set.union(*(owned.pop(name) for name in ("board.css", "chart.css", "editor.css")))
    for one, other in itertools.combinations(owned, 2):
        assert owned[one] & owned[other] <= shared, (one, other)


def test_the_charts_are_drawn_by_uplot_as_its_authors_built_it():
    vendor = Path(base.__file__).parent / "vendor"
    files = ["uPlot.iife.min.js", "uPlot.iife.min.css", "uPlot.LICENSE"]  # the sheet renamed
    hashes = [hashlib.sha256((vendor / name).read_bytes()).hexdigest() for name in files]
    assert hashes == [
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    ]


def test_no_trait_has_a_name_that_anywidget_takes():
    for widget in (PlayWidget(), ReplayWidget(record_game("greedy"))):
        assert not {"log"} & set(widget.keys)
