"""Learning curves to explore, from the kernel's side; a browser uses them in test_browser_curves.

What is averaged in the browser (curves.js) is compared with what matplotlib is given.
"""

import base64
import json
import shutil

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("anywidget")

from on_node import evaluated, needs_node  # noqa: E402
from test_recorded import write  # noqa: E402

from lib2048 import data  # noqa: E402
from lib2048.course.explorers import curves  # noqa: E402
from lib2048.course.explorers.curves import CurvesExplorer  # noqa: E402
from lib2048.course.recorded import TRAINING, recorded  # noqa: E402
from lib2048.show.plot import _on_one_grid  # noqa: E402
from lib2048.show.widgets import base  # noqa: E402

LIMIT = 60  # seconds, for a test that fails


class Browser:
    """Stands for the browser: sends orders, keeps the curves that it is told, as JSON."""

    def __init__(self, widget, monkeypatch):
        self.widget, self.told, self.curves, self.now = widget, [], {}, []
        monkeypatch.setattr(widget, "send", self.hear)

    def hear(self, message):
        message = json.loads(json.dumps(message, allow_nan=False))
        self.told.append(message)
        if message["kind"] == "curves":
            for one in message["curves"]:
                points = self.curves.setdefault((message["row"], one["seed"], one["of"]), [])
                assert one["from"] <= len(points), "nothing is missing"
                points[one["from"] :] = one["points"]
        if message["kind"] == "now":
            self.now[message["from"] :] = message["points"]

    def say(self, **message):
        self.told.clear()
        self.widget._handle_custom_msg({"id": "7", **message}, [])
        assert self.told[0] == {"kind": "heard", "id": "7"}
        return self.told[1:]


@pytest.fixture
def browser(monkeypatch):
    made = []

    def make(*sources, **choice):
        made.append(CurvesExplorer(*sources, **choice))
        return Browser(made[-1], monkeypatch)

    yield make
    for widget in made:
        widget.close()
        assert widget.wait(LIMIT), "no test leaves a thread behind"


def test_without_a_source_all_lists_are_there():
    widget = CurvesExplorer()
    rows = widget.catalogue["rows"]
    assert {"rules", "late", "tc_1e10", "value_long"} <= {row["place"] for row in rows}
    [row] = [row for row in rows if row["name"] == "tc_1.0"]
    assert row["about"] == "42-33, TC(0.5), β 1" and row["seeds"] == [1, 2, 3]
    assert row["kinds"] == ["training", "1", "3"] and row["paper"][0] == ["1", 1e10, 250_393]
    [value] = [row for row in rows if row["place"] == "value_long"]
    assert value["rule"] == "value" and value["about"].startswith("cnn22, learning rate 0.001, ")
    assert all(row["about"] for row in rows)


def test_choices_filter_rows():
    names = lambda widget: [widget._row(n).name for n in widget.view["rows"]]  # noqa: E731
    assert names(CurvesExplorer("rules", rule="autostep", rate=0.1)) == ["autostep_0.1"]
    assert len(names(CurvesExplorer("rules"))) == curves.MOST_ROWS
    assert names(CurvesExplorer("rules", rows=["td_0.1", "tc_1.0"])) == ["td_0.1", "tc_1.0"]
    assert names(CurvesExplorer("late", "tc_1e10", rows=["stages", "tc"])) == ["stages", "tc"]
    assert CurvesExplorer("value_batches").view["plies"] == 1, "nothing else is there"


@pytest.mark.parametrize(
    ("sources", "choice", "said"),
    [
        (["rulez"], {}, "'rulez' is neither a folder nor one of the lists changed, "),
        (["runs/none"], {}, "runs/none: no such folder"),
        (["rules"], {"rule": "adam"}, "rule 'adam': there is autostep, tc, td"),
        (["rules"], {"rows": ["tc_2"]}, "row 'tc_2': there is tc_1.0, "),
        (["rules"], {"plies": 2}, "plies 2: use None, 1, 3"),
        (["rules"], {"seeds": 9}, "seeds 9: use mean, each, 1, 2, 3"),
        (["rules"], {"x": "hours"}, "x 'hours': use actions, games, seconds"),
    ],
)
def test_a_choice_that_nothing_answers_to_is_refused(sources, choice, said, refused):
    refused(lambda: CurvesExplorer(*sources, **choice), said)


def test_what_is_drawn_is_a_tidy_table_of_what_is_recorded():
    widget = CurvesExplorer("rules", rows=["tc_1.0", "td_0.1"], plies=1, seeds=1)
    frame = widget.frame
    ours = frame[(frame["run"] == "tc_1.0") & (frame["of"] == "1-ply test games")]
    tests = pd.read_csv(data("curves/rules_42-33_evaluations.csv"))
    tests = tests[(tests["run"] == "tc_1.0") & (tests["seed"] == 1)]
    assert list(ours["mean"])[:-1] == list(tests["mean"])[:-1]  # the last has a larger test
    paper = frame[frame["of"] == "the paper's 1-ply test games"]
    assert paper[["run", "actions", "mean", "ci95"]].to_numpy().tolist() == [
        ["tc_1.0", 1e10, 250_393, 3424]
    ]
    assert len(CurvesExplorer("rules", rows=["tc_1.0"], plies=1, paper=False).frame) == 10 + 3 + 3


def test_the_browser_gets_every_point_of_the_rows_that_it_asks_for(browser):
    page = browser("rules", "late")
    row = next(r for r in page.widget.catalogue["rows"] if r["name"] == "carousel")["row"]
    page.say(kind="load", rows=[row])
    runs = {run.seed: run for run in recorded("late") if run.name == "carousel"}
    assert set(page.curves) == {(row, seed, of) for seed in runs for of in (TRAINING, "1", "3")}
    for (_, seed, of), points in page.curves.items():
        assert points == list(map(list, runs[seed].points(of if of == TRAINING else int(of))))


def test_bad_orders_are_answered_in_words(browser):
    page = browser("rules", plies=1)
    assert page.say(kind="load", rows=[999]) == [
        {"kind": "trouble", "error": "there is no row 999."}
    ]
    view = page.widget.view
    [told] = page.say(kind="file", format="gif", view=view)
    assert told["error"] == "format 'gif': use csv, png, svg."
    [told] = page.say(kind="view", view=view | {"rows": list(range(7))})
    assert told["error"] == "7 rows: there are colours for 6."
    [told] = page.say(kind="run", row=0, seconds=0)
    assert told["error"] == "seconds 0: use 1 to 600."
    page.widget._row(1).runs[1].settings = None
    [told] = page.say(kind="run", row=1, seconds=1)
    assert told["error"] == "nobody knows the settings of tc_0.5."
    assert page.widget.view == view
    recorded.cache_clear()


@pytest.mark.parametrize("choice", [{}, {"seeds": "each"}, {"seeds": 2, "x": "games"}], ids=str)
def test_pictures_are_files_in_the_style_of_the_course(browser, choice):
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    page = browser("rules", rule="tc", plies=1, **choice)
    for form, begin in (("csv", b"run,seed,"), ("png", b"\x89PNG"), ("svg", b"<?xml")):
        [told] = page.say(kind="file", format=form, view=page.widget.view)
        assert told["kind"] == "file" and base64.b64decode(told["text"]).startswith(begin)
    assert plt.get_fignums() == before, "a cell's figures are left alone"
    labels = page.widget.figure().get_legend_handles_labels()[1]
    assert labels[:3] == ["tc_1.0", "tc_0.5", "tc_0.1"]
    assert ("the paper" in labels) == ("x" not in choice), "it says nothing of games"


def test_seeds_without_a_stretch_in_common_are_told(browser):
    page = browser("curves", rows=["td0_4x6_forward"], plies=1, seeds="each")
    [told] = page.say(kind="file", format="png", view=page.widget.view | {"seeds": "mean"})
    assert told["kind"] == "file"


def test_seeds_without_a_mean_are_drawn_one_by_one():
    widget = CurvesExplorer("curves", plies=1)  # which is shown by the choices of every lesson
    ax = widget.figure()
    assert ax.get_title() == "seeds without a stretch in common: each is drawn"
    assert "img" in widget._still()["text/html"]


def test_a_picture_stands_for_it_with_words():
    widget = CurvesExplorer("rules", rows=["tc_1.0", "td_0.1"], plies=1, seeds=1)
    html = widget._still()["text/html"]
    assert "data:image/png;base64," in html and "td_0.1 from 43.5\u00a0k to 98.5\u00a0k" in html
    assert base.NOTE in html


def test_what_grows_is_told_and_nothing_twice(browser, tmp_path):
    page = browser(tmp_path)
    assert page.widget.catalogue["rows"] == []
    assert "nothing is recorded yet" in repr(page.widget.static())
    write(tmp_path / "td-seed1", rows=2)
    page.say(kind="look")
    assert [row["name"] for row in page.widget.catalogue["rows"]] == ["td"]
    page.say(kind="load", rows=[0])
    assert [p[3] for p in page.curves[0, 1, TRAINING]] == [1, 2]
    write(tmp_path / "td-seed1", rows=4)
    write(tmp_path / "td-seed2", rows=1, seed=2)
    told = page.say(kind="look")
    assert [p[3] for p in page.curves[0, 1, TRAINING]] == [1, 2, 3, 4]
    assert [p[3] for p in page.curves[0, 2, TRAINING]] == [1]
    [first, second] = told[-2]["curves"]
    assert first["from"] == 2 and page.widget.catalogue["rows"][0]["seeds"] == [1, 2]
    assert page.say(kind="look") == [{"kind": "looked", "troubles": []}]
    write(tmp_path / "td-seed1", rows=1, mean=9.0)
    page.say(kind="look")
    assert page.curves[0, 1, TRAINING][0][3] == 9


def test_damage_and_a_folder_that_is_gone_are_told_in_words(browser, tmp_path):
    write(tmp_path / "runs/td-seed1")
    page = browser(tmp_path / "runs")
    (tmp_path / "runs/td-seed1/history.csv").write_text("a,b\n1\n")
    [told] = page.say(kind="look")
    assert "not as many numbers as there are columns" in told["troubles"][0]
    shutil.rmtree(tmp_path / "runs")
    told = page.say(kind="look")
    assert told[-1]["kind"] == "looked" and "no such folder" in told[-1]["troubles"][0]


def test_a_row_runs_now_and_is_stopped(browser, tmp_path):
    write(tmp_path / "td-seed5", seed=5)
    page = browser(tmp_path)
    page.say(kind="run", row=0, seconds=600)
    widget, run = page.widget, page.widget.run
    assert run.settings.network == "4-22" and run.settings.seed == 5
    assert run.settings.budget is None and run.folder is None
    [told] = page.say(kind="run", row=0, seconds=1)
    assert told["error"] == "td still runs: stop it first."
    while run.history.count < 1000:
        assert not widget.wait(0.05), widget.phases
    page.say(kind="stop")
    assert widget.wait(LIMIT) and widget.phases == ["stopped"]
    assert page.now[-1][0] == run.history.actions
    assert "td now" in set(widget.frame["run"]) and "td now" in [
        line.get_label() for line in widget.figure().get_lines()
    ]
    again = browser(tmp_path)
    again.widget.run_now("td", seconds=1)
    assert again.widget.wait(LIMIT) and again.widget.phases == ["done"]


def test_a_run_shows_training_games_and_says_why(browser, tmp_path):
    write(tmp_path / "td-seed1")
    page = browser(tmp_path, "value_batches", plies=1)
    row = next(r["row"] for r in page.widget.catalogue["rows"] if r["name"] == "td")
    told = page.say(kind="run", row=row, seconds=600)
    assert told[0] == {"kind": "choice", "view": page.widget.view, "why": curves.SWITCHED}
    assert page.widget.view["plies"] is None and page.widget.catalogue["first"]["plies"] == 1
    while page.widget.run.history.count < 1000:
        assert not page.widget.wait(0.05), page.widget.phases
    page.say(kind="stop")
    assert page.widget.wait(LIMIT) and "td now" in set(page.widget.frame["run"])
    page.say(kind="view", view=page.widget.view | {"plies": 1})
    assert "td now" not in set(page.widget.frame["run"]), "its training games are no tests"


@needs_node
def test_the_browser_averages_seeds_as_the_plots_do(tmp_path):
    random = np.random.default_rng(1)
    cases = []
    for lengths in ([5, 7], [1, 4], [3, 3, 40], [6]):
        lines = [(np.sort(random.uniform(1, 9, n)), random.normal(size=n)) for n in lengths]
        cases.append([[x.tolist(), y.tolist()] for x, y in lines])
    cases.append([[[1, 2], [3, 4]], [[5, 6], [3, 4]]])  # nothing in common
    (tmp_path / "all.mjs").write_text(CurvesExplorer._esm, encoding="utf-8")
    program = (
        "const { average } = await import(process.argv[1]);"
        "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(average)))"
    )
    found = evaluated(program, (tmp_path / "all.mjs").as_uri(), json.dumps(cases))
    assert found.pop() is None
    for lines, (at, mean, low, high) in zip(cases, found):
        frames = [pd.DataFrame({"x": x, "y": y}) for x, y in lines]
        x, y = _on_one_grid(frames, "x", "y")
        np.testing.assert_allclose(at, x)
        np.testing.assert_allclose([mean, low, high], [y.mean(0), y.min(0), y.max(0)])
