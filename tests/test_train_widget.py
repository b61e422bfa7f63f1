"""Training in a widget, from the kernel's side: its thread, what is told, and every way it ends.

What it is in a browser is in test_browser_train.py.
"""

import gc
import json
import subprocess
import sys
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("anywidget")

from IPython.core.events import EventManager, available_events  # noqa: E402
from learners import SMALL, same_run, trained  # noqa: E402

from lib2048 import Network, Run, Settings, record_game  # noqa: E402
from lib2048.course.explorers.tuples import NetworkExplorer  # noqa: E402
from lib2048.show.widgets import base, train  # noqa: E402
from lib2048.show.widgets.game import Game  # noqa: E402
from lib2048.show.widgets.review import ReviewWidget  # noqa: E402
from lib2048.show.widgets.train import MOST, POINT, Curve, TrainWidget  # noqa: E402
from lib2048.train import run as training  # noqa: E402

LIMIT = 180  # seconds, for a test that fails: another may compile
SEED = 4


def new(network=SMALL, folder=None, **how):
    return Run(Settings(network=network, seed=SEED, **how), folder)


def rested(widget):
    """Wait for a widget's training to end; return how."""
    assert widget.wait(LIMIT)
    return widget.phases


class Browser:
    """Stands for the browser: sends orders, keeps what it is told, as JSON."""

    def __init__(self, widget, monkeypatch):
        self.widget, self.told, self.points, self.phase = widget, [], {}, None
        self.trains = threading.Event()
        monkeypatch.setattr(widget, "send", self.hear)

    def hear(self, message):
        message = json.loads(json.dumps(message, allow_nan=False))
        self.told.append(message)
        if message["kind"] == "news":
            points = self.points.setdefault(message["run"], [])
            assert message["from"] <= len(points), "nothing is missing"
            points[message["from"] :] = message["points"]
            before, self.phase = self.phase, message["status"]["phase"]
            if before != self.phase == "training":  # it begins, or goes on
                self.trains.set()

    def say(self, **message):
        self.widget._handle_custom_msg({"id": "7", **message}, [])

    def news(self):
        return [message for message in self.told if message["kind"] == "news"]

    def until_it_trains(self):
        assert self.trains.wait(LIMIT)
        self.trains.clear()


@pytest.fixture
def browser(monkeypatch):
    made = []

    def make(*runs, **how):
        made.append(TrainWidget(*runs, **how))
        return Browser(made[-1], monkeypatch)

    yield make
    for widget in made:
        widget.close()
        assert widget.wait(LIMIT), "no test leaves a thread behind"


# ---- what is learned -----------------------------------------------------------------------------


def pause_after_every_chunk(widget, monkeypatch):
    keep = training.Run._keep

    def keep_and_pause(run, results, rate):
        keep(run, results, rate)
        widget.pause()

    monkeypatch.setattr(training.Run, "_keep", keep_and_pause)


@pytest.mark.parametrize("how", [{"rule": "td"}, {"rule": "tc", "lam": 0.5}], ids=str)
def test_it_learns_what_train_learns(how, browser):
    widget = browser(new(actions=100_000, **how)).widget
    widget.start()
    assert rested(widget) == ["done"]
    same_run((widget.run.network, widget.run.history), trained(actions=100_000, seed=SEED, **how))


@pytest.mark.parametrize("own", [True, False])
def test_a_pause_changes_nothing_of_what_is_learned(own, browser, monkeypatch, tmp_path):
    budget, folder = {"actions": 90_000}, tmp_path / "run"
    run = new(folder=folder, **budget) if own else new()
    widget = browser(run, **({} if own else budget)).widget
    pause_after_every_chunk(widget, monkeypatch)
    phases = []
    while phases[-1:] != ["done"]:
        widget.start()
        phases += rested(widget)
    assert phases.count("paused") >= 4
    monkeypatch.undo()
    same_run((run.network, run.history), trained(seed=SEED, **budget))
    assert (folder / "weights.npz").exists() == own, "a budget of its own leaves its weights"


def test_two_runs_side_by_side_learn_what_each_learns_alone(browser):
    widget = browser(new(rule="td"), new(rule="tc"), games=1100).widget
    widget.start()
    assert rested(widget) == ["done", "done"]
    for run in widget.runs:
        other = trained(games=1100, seed=SEED, rule=run.settings.rule)
        same_run((run.network, run.history), other)
    frame = widget.frame
    assert list(frame.columns[:3]) == ["run", "games", "actions"]


def test_a_new_rate_holds_at_once_and_is_part_of_the_history(browser):
    page = browser(new())
    widget = page.widget
    page.say(kind="start")
    page.until_it_trains()
    page.say(kind="rate", run=0, rate=0.02)
    assert widget.run.rate == 0.02
    games = widget.run.history.count
    while widget.run.history.count < games + 100_000 and 0.02 not in widget.run.history.rates[-1:]:
        assert widget.phases == ["training"]
    page.say(kind="stop")
    assert rested(widget) == ["stopped"]
    assert set(widget.run.history.rates) == {0.1, 0.02}
    page.say(kind="rate", run=0, rate=7)
    assert page.told[-1] == {"kind": "trouble", "error": "alpha 7: use a rate above 0 and up to 1."}
    assert page.news()[-1]["status"]["rate"] == 0.02


def test_where_a_rate_was_changed_is_told_drawn_and_kept(browser):
    page = browser(new(), new(rule="tc"), actions=50_000)
    page.say(kind="start")
    rested(page.widget)
    assert page.widget.changes.empty
    assert list(page.widget.changes) == ["run", "actions", "before", "rate"]
    page.say(kind="rate", rate=0.5)
    assert [run.rate for run in page.widget.runs] == [0.5, 0.5]
    assert page.widget.changes.empty, "it holds from the next action on"
    page.say(kind="start", run=1)
    rested(page.widget)
    changes = page.widget.changes.to_dict("records")
    assert changes == [{"run": "tc β 1.0", "actions": 50_000, "before": 1.0, "rate": 0.5}]
    last = {n: [m["status"] for m in page.news() if m["run"] == n][-1] for n in range(2)}
    assert [status["changes"] for status in last.values()] == [[], [[50_000, 0.5]]]
    assert "β 0.5 from 50\u202f000 actions on" in page.widget.static().text


def test_a_rate_that_no_run_can_have_is_refused_once(browser):
    page = browser(new(), new("4x6"))
    page.say(kind="rate", rate=7)
    told = [message["error"] for message in page.told if message["kind"] == "trouble"]
    assert told == ["alpha 7: use a rate above 0 and up to 1."]
    assert [run.rate for run in page.widget.runs] == [0.1, 0.1]


# ---- what is told --------------------------------------------------------------------------------


def test_orders_are_heard_and_every_phase_is_told(browser):
    page = browser(new())
    page.say(kind="start", run=0)
    page.until_it_trains()
    page.say(kind="pause")
    assert rested(page.widget) == ["paused"]
    actions = page.widget.run.actions
    page.say(kind="start")
    page.until_it_trains()
    page.say(kind="stop", run=0)
    assert rested(page.widget) == ["stopped"]
    assert page.widget.run.actions > actions
    phases = [message["status"]["phase"] for message in page.news()]
    order = ["starting", "training", "pausing", "paused", "starting", "training", "stopping",
             "stopped"]  # fmt: skip
    assert [p for n, p in enumerate(phases) if n == 0 or phases[n - 1] != p] == order
    assert [m["id"] for m in page.told if m["kind"] == "heard"] == ["7"] * 4
    paused = next(m["status"] for m in page.news() if m["status"]["phase"] == "paused")
    assert paused["words"].startswith("Paused after ") and paused["share"] is None


def test_a_pause_ends_as_a_stop_when_it_is_stopped(browser):
    page = browser(new(), actions=10**9)
    page.say(kind="start")
    page.until_it_trains()
    page.say(kind="pause")
    rested(page.widget)
    page.say(kind="stop")
    assert page.widget.phases == ["stopped"]
    assert " of 1 G actions" in page.news()[-1]["status"]["words"]


@pytest.mark.parametrize("network", [SMALL, "cells:012,456@2048:four=0.2@2x3", "cells:0123@threes"])
def test_points_are_the_statistics_of_the_last_games(network, browser):
    page = browser(new(network), games=2500)
    page.say(kind="start")
    rested(page.widget)
    [tiles] = [run["tiles"] for run in page.widget.about]
    names = *POINT, *(f"reached_{tile}" for tile in tiles)
    history, last = page.widget.run.history, dict(zip(names, page.points[0][-1], strict=True))
    assert last["actions"] == history.actions and last["games"] == 2500
    assert last["mean"] == pytest.approx(history.scores[-1000:].mean(), abs=0.06)
    assert last[f"reached_{tiles[0]}"] == np.mean(history.largest[-1000:] >= 9)
    assert page.points[0] == page.widget._trainings[0].curve.points


def test_numbers_come_only_so_often_and_only_what_is_new(browser, monkeypatch):
    monkeypatch.setattr(train, "LOOK", 1e9)
    page = browser(new(), actions=200_000)
    page.say(kind="start")
    rested(page.widget)
    phases = [message["status"]["phase"] for message in page.news()]
    assert phases == ["starting", "training", "done"]
    assert sum(len(message["points"]) for message in page.news()) == 2
    points = page.points.pop(0)
    page.say(kind="look")  # as a page that comes later does
    assert page.news()[-1]["from"] == 0 and page.points[0] == points


def test_its_games_are_played_on_the_way_and_at_the_end(browser):
    page = browser(new(), actions=60_000)
    page.say(kind="start")
    assert rested(page.widget) == ["done"]
    [training] = page.widget._trainings
    games = training.games
    assert games[0]["after"] == 0, "the first is played before it has learned"
    assert games[-1]["after"] == round(training.run.history.took, 1)
    for game in games:
        decisions = {name: game[name] for name in Game().as_dict()}
        assert Game().following(decisions).here.score == game["score"] > 0
    told = [message["games"] for message in page.news() if message["games"]]
    assert [one for _, some in told for one in some] == games
    last = record_game(training.run.network, SEED, train.SHOWN)
    assert "".join(str(step.action) for step in last[:-1]) == games[-1]["actions"]
    assert Game().following(decisions).here.score == sum(step.reward for step in last)


def test_a_reset_begins_anew_by_the_same_settings(browser):
    page = browser(new(), new(rule="tc"), actions=30_000)
    page.say(kind="start")
    rested(page.widget)
    old, before = page.widget.run, list(page.points[0])
    page.say(kind="rate", run=0, rate=0.05)
    page.say(kind="reset", run=0)
    assert page.widget.phases == ["ready", "done"]
    news = page.news()[-1]
    assert (news["points"], news["before"], news["games"]) == ([], before, [0, []])
    fresh = page.widget.run
    assert fresh is not old and old.actions == 30_000 and fresh.actions == 0
    assert fresh.settings == old.settings and fresh.rate == 0.05
    assert not fresh.network.weights.any() and old.network.weights.any()
    page.say(kind="start", run=0)
    rested(page.widget)
    same = trained(actions=30_000, seed=SEED, alpha=0.05)
    assert np.array_equal(fresh.network.weights, same[0].weights), "as if it were the first run"


def test_a_reset_ends_a_training_and_says_why_it_cannot(browser, tmp_path):
    page = browser(new())
    page.say(kind="start")
    page.until_it_trains()
    page.say(kind="reset")
    assert page.widget.phases == ["ready"] and page.widget.run.actions == 0
    kept = browser(new(folder=tmp_path / "run", actions=20_000))
    kept.say(kind="reset")
    assert "a Run with another folder begins anew" in kept.told[-1]["error"]


def test_a_reset_keeps_functions_of_ones_own(browser):
    def update(weights, positions, amount):
        for p in positions:
            weights[p] += amount

    network = Network(SMALL).with_functions(update=update)
    page = browser(Run(Settings(network=SMALL, seed=SEED), network=network), actions=2000)
    page.say(kind="start")
    rested(page.widget)
    page.say(kind="reset")
    assert page.widget.run.network.own is network.own


def test_a_run_that_has_a_past_begins_with_it(browser):
    run = new()
    run.go(games=3000, progress=False)
    page = browser(run, games=1000)
    page.say(kind="look")
    rows = run.history.table()
    assert [point[1] for point in page.points[0]] == [1000, 2000, 3000]
    assert [point[3] for point in page.points[0]] == [row["mean"] for row in rows]
    page.say(kind="start")
    assert rested(page.widget) == ["done"] and run.history.count == 4000


def test_a_long_run_does_not_grow_the_page():
    curve, page, sent = Curve(), [], 0
    for actions in range(1, 20_001):
        curve.add([actions])
        if actions % 3 == 0:
            news = curve.news()
            assert news["from"] <= len(page)
            page[news["from"] :] = news["points"]
            sent += len(news["points"])
            assert page == curve.points and len(page) <= MOST
    xs = [x for [x] in curve.points]
    assert xs == sorted(set(xs)) and xs[-1] == 20_000 and len(xs) > MOST // 3
    assert max(np.diff(xs)) < 6 * 20_000 / len(xs), "it keeps what was at every time"
    assert sent < 2 * 20_000


def test_a_point_that_brings_no_action_takes_the_place_of_the_last():
    curve = Curve()
    for point in ([5, "a"], [5, "b"], [7, "c"], [7, "d"]):
        curve.add(point)
    assert curve.points == [[5, "b"], [7, "d"]]


# ---- what goes wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(("error", "says", "folded"), [
    (FloatingPointError("the weights grew without bound: train with a smaller alpha"),
        "has ended: the weights grew without bound: train with a smaller alpha.", False),
    (MemoryError("training stopped where it can go on: no room"), "no room.", False),
    (OSError(28, "No space left on device"), "failed with OSError: [Errno 28]", True),
])  # fmt: skip
def test_what_goes_wrong_is_told_in_words(error, says, folded, browser, monkeypatch):
    page = browser(new())

    def fail(*_):
        raise error

    monkeypatch.setattr(page.widget.run, "_keep", fail)
    page.say(kind="start")
    assert rested(page.widget) == ["failed"]
    status = page.news()[-1]["status"]
    assert says in status["words"] and ("Traceback" in status["details"]) == folded


def test_a_run_that_goes_elsewhere_is_told_in_words(browser):
    run = new()
    page = browser(run)
    going = threading.Thread(target=lambda: run.go(seconds=LIMIT, progress=False))
    going.start()
    try:
        while not run.actions:
            pass
        page.say(kind="start")
        assert rested(page.widget) == ["failed"]
        assert "this run is going already" in page.news()[-1]["status"]["words"]
    finally:
        while going.is_alive():
            run.stop()
            going.join(0.05)


def test_bad_orders_are_refused(refused):
    one, other = new(), new()
    shared = Run(one.settings, network=one.network)
    refused(lambda: TrainWidget(), "0 runs: say one, or up to 4")
    refused(lambda: TrainWidget(one, shared), "two of these runs share a network")
    refused(
        lambda: TrainWidget(one, new("cells:0123@threes")), "these runs play by different rules"
    )
    refused(lambda: TrainWidget(one, actions=5, games=5), "by one of games, actions, seconds")
    refused(lambda: TrainWidget(one, actions=-1), "actions -1: use a whole number above 0")
    refused(lambda: TrainWidget(one, other, names=["one"]), "1 names for 2 runs")
    refused(lambda: TrainWidget(one, other, names=["one", "one"]), "the same name")


def test_runs_are_named_by_what_they_differ_in():
    runs = [new(rule="tc", lam=lam) for lam in (0.0, 0.5)]
    assert [run["name"] for run in TrainWidget(*runs).about] == ["λ 0.0", "λ 0.5"]
    runs = [new(rule="tc"), new(alpha=0.5)]
    assert [run["name"] for run in TrainWidget(*runs).about] == ["tc β 1.0", "td α 0.5"]
    assert [run["name"] for run in TrainWidget(new(), new()).about] == ["run 1", "run 2"]
    assert TrainWidget(new("4x6")).about[0]["name"] == "4x6 td"


# ---- the ways it ends ----------------------------------------------------------------------------


class Shell:
    """Stands for IPython: runs cells, and says so to whoever listens."""

    def __init__(self):
        self.events, self.cell = EventManager(self, available_events), None

    def get_parent(self):
        return {"metadata": {"cellId": self.cell}, "content": {"code": "widget"}}

    def run_cell(self, cell, call=lambda: None, error=None):
        self.cell = cell
        self.events.trigger("pre_run_cell", SimpleNamespace(cell_id=cell, raw_cell="widget"))
        found = call()
        result = SimpleNamespace(error_in_exec=error, error_before_exec=None)
        self.events.trigger("post_run_cell", result)
        return found


@pytest.fixture
def shell(monkeypatch):
    made = Shell()
    monkeypatch.setattr(base, "_cells", {"run": False})
    for module in (base, train):
        monkeypatch.setattr(module, "get_ipython", lambda: made)
    return made


def test_running_its_cell_again_ends_it(shell, browser):
    page = shell.run_cell("a", lambda: browser(new()))
    page.widget.start()
    page.until_it_trains()
    shell.run_cell("b")
    assert page.widget.phases == ["training"]
    again = shell.run_cell("a", lambda: browser(page.widget.run, actions=1000))
    assert page.widget.phases == ["stopped"], "before the cell does anything"
    again.widget.start()
    assert rested(again.widget) == ["done"]


def test_running_a_cell_again_frees_what_its_widgets_held(shell):
    def widgets():
        network, game = Network(SMALL), record_game("greedy", seed=1)
        ReviewWidget(game, network), NetworkExplorer(network, game)
        return weakref.ref(network)

    held = shell.run_cell("a", widgets)
    gc.collect()
    assert held() is not None
    shell.run_cell("a")
    gc.collect()
    assert held() is None


@pytest.mark.parametrize("how", ["interrupted", "cancelled", "closed"])
def test_interrupting_any_cell_stops_it_and_no_other_error_does(how, shell, browser):
    page = shell.run_cell("a", lambda: browser(new()))
    page.widget.start()
    page.until_it_trains()
    shell.run_cell("b", error=ValueError("no"))
    assert page.widget.phases == ["training"]
    if how == "interrupted":
        shell.run_cell("b", error=KeyboardInterrupt())
    elif how == "cancelled":
        shell.events.trigger("post_run_cell", None)
    else:
        page.widget.close()
    assert rested(page.widget) == ["stopped"]


PROGRAM = """
import sys, time
from lib2048 import Run, Settings, TrainWidget
widget = TrainWidget(Run(Settings(network="cells:0123,4567"), sys.argv[1]))
widget.start()
while widget.phases != ["training"]:
    assert widget.phases == ["starting"], widget.phases
    time.sleep(0.01)
"""


def test_it_ends_with_the_kernel_and_leaves_a_checkpoint(tmp_path):
    command = [sys.executable, "-c", PROGRAM, tmp_path / "run"]
    done = subprocess.run(command, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = Run(Settings(network=SMALL), tmp_path / "run", resume=True)
    assert run.actions > 0


# ---- the picture ---------------------------------------------------------------------------------


def test_its_picture_is_drawn_again_when_the_training_rests(browser, monkeypatch):
    drawn = []
    shell = SimpleNamespace(events=SimpleNamespace(register=lambda *what: None))
    monkeypatch.setattr(base, "_cells", {"run": False})
    monkeypatch.setattr(base, "get_ipython", lambda: shell)
    monkeypatch.setattr(base, "update_display", lambda still, **how: drawn.append((still, how)))
    page = browser(new(), new(rule="tc"), actions=50_000)
    assert "no game is over yet" in page.widget.static().text
    page.say(kind="start")
    rested(page.widget)
    assert len(drawn) == 2
    still, how = drawn[-1]
    assert how == {"raw": True, "display_id": page.widget.model_id}
    assert len(still["text/html"]) < 30_000
    text = page.widget.static().text
    assert text.count("50 of 50 k actions") == 2 and text.count("last mean") == 2
    assert text.count(" points ") == 2, "with the boards of the last games"


def test_the_still_of_a_stored_lesson_is_of_a_run_that_has_ended(browser, monkeypatch):
    shown = []
    monkeypatch.setenv("LIB2048_STILLS", "1")
    monkeypatch.setattr(base, "display", lambda still, **how: shown.append(still))
    page = browser(new(), actions=20_000)
    page.widget._ipython_display_()
    page.widget._ipython_display_()  # which trains no further
    assert "20 of 20 k actions" in shown[0]["text/html"]
    assert "no game is over yet" not in shown[0]["text/plain"]
