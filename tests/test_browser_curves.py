"""Learning curves to explore in a real JupyterLab, in a real browser: by mouse and by keyboard."""

import csv
import io
import itertools
import re
import statistics

import lab
import pytest
from test_recorded import write

pytestmark = pytest.mark.usefixtures("in_order")

CELLS = [
    "from lib2048.course import CurvesExplorer\n"
    "rules = CurvesExplorer('rules', 'late', 'value_batches', place='rules', plies=1, seeds=1,\n"
    "                       rows=['tc_1.0', 'td_0.1'])\nrules",
    "own = CurvesExplorer('runs')\nown",
]
RULES, OWN = range(2)
LAST = OWN


def fill(folder):
    write(folder / "runs/td-seed1", rows=3)


class Curves(lab.Widget):
    """A widget with curves."""

    @property
    def chart(self):
        return self.root.locator(".lib-plot")

    @property
    def said(self):
        """What the chart says to those who cannot see it."""
        return self.chart.get_attribute("aria-label").split(". Left and Right")[0]

    def until_it_says(self, words):
        self.root.locator(f'.lib-plot[aria-label*="{words}"]').wait_for(state="attached")

    def unfold(self):
        """Open what is folded away below the chart."""
        self.root.locator("details.lib-fold").evaluate_all("all => all.forEach(e => e.open = true)")
        return self

    def menu(self, label):
        return self.root.get_by_label(label, exact=True)

    def names(self):
        """Return the names of the rows that are listed."""
        return self.root.locator(".lib-rows b").all_inner_texts()

    def row(self, name):
        return self.root.get_by_role("checkbox", name=re.compile(rf"^\s*{re.escape(name)} "))

    def downloaded(self, kind):
        with self.page.expect_download() as download:
            self.button(kind).click()
        assert download.value.suggested_filename == f"curves.{kind.lower()}"
        return download.value.path().read_bytes()


@pytest.fixture
def rules(notebook):
    return Curves(notebook, RULES).unfold()


@pytest.fixture
def own(notebook):
    return Curves(notebook, OWN).unfold()


@pytest.mark.ci
def test_it_shows_what_is_recorded_and_filters_it_by_mouse(notebook, rules):
    rules.until_it_says("td_0.1")
    ends = notebook.ask("[round(f['mean'].iloc[-1]) for _, [f], _ in rules.drawn()]")
    last = f"{ends[0]:,}".replace(",", "\u202f")
    assert f"tc_1.0 {last} at 300 M" in rules.said  # the paper's numbers are of 10¹⁰ actions
    assert "tc_1.0, paper 250\u202f393," in rules.said
    assert rules.root.locator(".lib-plot canvas").count() == 1
    assert rules.names()[:2] == ["tc_1.0", "td_0.1"], "those that are drawn come first"
    rules.menu("rule").select_option(label="Autostep")
    known = notebook.ask(
        "[r['name'] for r in rules.catalogue['rows'] if r['rule'] == 'autostep'"
        " and r['place'] == 'rules' and '1' in r['kinds']]"
    )
    assert rules.names() == ["tc_1.0", "td_0.1", *known]
    assert "tc_1.0" in rules.said and "autostep" not in rules.said, "a menu only filters the list"
    rules.menu("rate").select_option(label="μ 0.1")
    assert rules.names() == ["tc_1.0", "td_0.1", "autostep_0.1"]
    rules.row("autostep_0.1").check()
    rules.until_it_says("autostep_0.1, paper 171\u202f396")
    assert "tc_1.0" in rules.said and "td_0.1" in rules.said
    rules.button("Draw these").click()
    rules.until_it_says("mean score of 1-ply test games, in points: autostep_0.1 ")
    rules.menu("games").select_option("3")
    rules.until_it_says("mean score of 3-ply test games, in points: autostep_0.1 ")
    rules.menu("list or folder").select_option(label="late")
    rules.row("carousel").check()
    rules.until_it_says("carousel, paper 432\u202f701")
    notebook.until("rules.view['place']", "late")
    rules.row("autostep_0.1").uncheck()
    rules.row("autostep_0.1").check()  # though no menu leaves it
    rules.row("autostep_0.1").uncheck()
    rules.menu("list or folder").select_option(label="value_batches")
    assert rules.names() == ["carousel"], "which is drawn; the menus leave no other"
    rules.button("Reset").click()
    rules.until("Everything is as at first.")
    assert rules.names()[:2] == ["tc_1.0", "td_0.1"] and len(rules.names()) > 3
    assert "mean score of 1-ply test games, in points: tc_1.0 " in rules.said
    notebook.until("rules.view == rules._first", True)


def test_a_list_without_a_row_says_why(rules):
    rules.menu("list or folder").select_option(label="value_batches")
    rules.menu("games").select_option("3")
    none = rules.root.locator(".lib-rows p")
    why = "No row that the menus leave has 3-ply tests: show 1-ply tests, or Reset."
    assert none.inner_text() == why
    rules.button("Draw these").click()
    rules.until(why)
    assert rules.names() == ["tc_1.0", "td_0.1"], "nothing is forgotten"
    rules.button("Reset").click()


NAMED = """root => [...root.querySelectorAll(".lib-ends span")].map(e => [e.textContent,
  e.getBoundingClientRect().toJSON()])"""
# The dashes of a line, as the swatch draws them and as the chart does.
SWATCH = """root => [...root.querySelectorAll("label .lib-line[data-line]")].map(e =>
  [e.closest("label").querySelector("b").textContent, e.dataset.line])"""


def test_each_line_is_named_at_its_end_and_keeps_its_colour(rules):
    for name in ("td_0.01", "tc_0.5", "tc_0.1"):
        rules.row(name).check()
        rules.until_it_says(name)
    names = rules.root.evaluate(NAMED)
    drawn = ["tc_1.0", "td_0.1", "td_0.01", "tc_0.5", "tc_0.1"]
    assert sorted(name for name, _ in names if name != "paper") == sorted(drawn)
    for (_, one), (_, other) in itertools.combinations(names, 2):
        beside = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert beside or one["bottom"] <= other["top"] + 1 or other["bottom"] <= one["top"] + 1
    before = dict(rules.root.evaluate(SWATCH))
    rules.row("td_0.1").uncheck()
    after = dict(rules.root.evaluate(SWATCH))
    assert after == {name: line for name, line in before.items() if name != "td_0.1"}
    rules.button("Reset").click()


def test_hover_shows_the_librarys_numbers(notebook, rules):
    rules.row("td_0.1").uncheck()
    rules.menu("games").select_option("training")
    rules.menu("seeds").select_option("mean")
    rules.menu("x axis").select_option("games")
    rules.until_it_says("tc_1.0, 3 seeds")
    rules.root.locator(".u-over").hover(position={"x": 1, "y": 50})
    shown = "[round(rules.drawn()[0][1][n]['mean'].iloc[0]) for n in range(3)]"
    mean = round(statistics.mean(notebook.ask(shown)))
    tip = rules.root.locator(".lib-tip")
    near = [tip.inner_text().replace("\u202f", "").find(str(mean + by)) for by in (-1, 0, 1)]
    assert max(near) > 0 and "games" in tip.inner_text()
    rules.page.mouse.move(0, 0)
    assert tip.is_hidden()
    rules.chart.press("ArrowLeft")
    said = rules.message.split("tc_1.0, 3 seeds ")[1].rstrip(".")
    assert said in tip.inner_text(), "keys move the same crosshair"


def test_the_keyboard_alone_is_enough_and_no_key_reaches_the_notebook(notebook, rules):
    before = notebook.cells()
    row = rules.row("tc_online_1.0")
    row.focus()
    rules.page.keyboard.press("Space")
    assert row.is_checked()
    rules.until_it_says("tc_online_1.0")
    rules.menu("seeds").focus()
    rules.page.keyboard.press("ArrowDown")
    rules.until_it_says("tc_1.0 seed 2")
    rules.chart.press("ArrowRight")
    assert "mean score of training games" in rules.message and "games:" in rules.message
    first = rules.message
    rules.page.keyboard.press("ArrowRight")
    assert rules.message != first
    rules.page.keyboard.press("+")
    assert rules.button("Whole curve").is_visible()
    rules.page.keyboard.press("0")
    assert rules.button("Whole curve").is_hidden()
    for key in "ddxbam":
        rules.page.keyboard.press(key)
    row.press("d")
    row.press("d")
    assert notebook.cells() == before


def test_what_is_drawn_is_downloaded(notebook, rules):
    text = rules.downloaded("CSV").decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    notebook.until("len(rules.frame)", len(rows))
    theirs = notebook.ask("rules.frame[['run', 'seed', 'mean']].to_numpy().tolist()")
    assert [[r["run"], int(r["seed"]), float(r["mean"])] for r in rows] == theirs
    assert rules.downloaded("PNG").startswith(b"\x89PNG")
    assert b"<svg" in rules.downloaded("SVG")[:1000]


def test_what_was_not_written_down_is_told(rules):
    rules.menu("x axis").select_option("seconds")
    rules.until("Nobody wrote down the seconds of training: tc_1.0")
    rules.menu("x axis").select_option("actions")


def test_a_folder_is_drawn_as_it_grows(notebook, folder, own):
    own.until_it_says("td 3")
    write(folder / "runs/td-seed1", rows=5)
    own.until_it_says("td 5")
    write(folder / "runs/tc-seed1", rows=2, mean=4.0)
    own.until_it_says("tc 8")
    (folder / "runs/tc-seed1/history.csv").write_text("a,b\n1\n")
    own.until("a row has not as many numbers as there are columns")
    assert "tc 8" in own.said
    write(folder / "runs/tc-seed1", rows=2, mean=4.0)


def test_a_row_runs_now_in_the_same_plot_and_stops(notebook, own):
    own.menu("Row to run").select_option(label="td")
    own.menu("Seconds to run").fill("0")
    own.button("Run").click()
    own.until("seconds 0: use 1 to 600.")
    own.menu("Seconds to run").fill("300")
    own.button("Run").click()
    own.until_it_says("td now")
    notebook.until("own.phases", ["training"])
    own.button("Stop").click()
    own.until("td now: Stopped at")
    notebook.until("own.phases", ["stopped"])
    assert notebook.ask("'td now' in set(own.frame['run'])")


def test_it_fits_a_phone_and_everything_has_a_name(notebook):
    lab.check_looks(notebook, charts=True)
    lab.check_names(notebook)


def test_a_page_that_is_loaded_again_shows_the_same_and_a_lost_kernel_is_told(notebook, rules, at):
    rules.menu("rule").select_option(label="TC")
    rules.row("tc_0.5").check()
    rules.menu("x axis").select_option("games")
    notebook.until("rules.view['x']", "games")
    notebook.save()
    notebook.page.goto("about:blank")
    notebook.page.goto(at("page.ipynb"))
    notebook.until_ready()
    rules.until_it_says("tc_0.5")
    assert rules.menu("x axis").input_value() == "games"
    notebook.restart()
    rules.unfold().until("The kernel has ended or was restarted")
    rules.row("tc_0.5").uncheck()
    assert "tc_0.5" not in rules.said, "what is here can still be explored"
