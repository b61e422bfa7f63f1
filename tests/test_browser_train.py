"""Live training in a real JupyterLab, in a real browser: watched, changed, held, and ended."""

import json
import re

import lab
import pytest

pytestmark = pytest.mark.usefixtures("in_order")

CELLS = [
    "from lib2048 import Run, Settings, TrainWidget\n"
    "import time\n"
    "def new(rule):\n"
    "    return Run(Settings(network='cells:0123,4567', rule=rule))",
    "before = globals().get('widget')\nwidget = TrainWidget(new('td'))\nwidget",
    "both = TrainWidget(new('td'), new('tc'), actions=10**12)\nboth",
]
FOREVER = "while True: time.sleep(0.02)"
UNTIL_IT_STOPS = """
end = time.monotonic() + 60
while widget.phases != ['stopped'] and time.monotonic() < end: time.sleep(0.05)
seen = widget.phases"""
ONE, BOTH = range(2)
LAST = BOTH


class Training(lab.Widget):
    """A widget that trains."""

    def card(self, number=0):
        return self.root.locator(".lib-card").nth(number)

    def until_phase(self, phase, number=0):
        self.page.wait_for_function(
            "([card, phase]) => card.dataset.phase === phase",
            arg=[self.card(number).element_handle(), phase],
        )

    def until_it_grows(self, number=0):
        """Wait until the page shows three other numbers of actions, one after the other."""
        far = self.card(number).locator(".lib-far .lib-small").element_handle()
        for _ in range(3):
            text = far.inner_text()
            self.page.wait_for_function("([e, text]) => e.innerText !== text", arg=[far, text])

    def until_both(self, phase, grow=False):
        for number in range(2):
            self.until_phase(phase, number)
            if grow:
                self.until_it_grows(number)


@pytest.fixture
def one(notebook):
    return Training(notebook, ONE)


@pytest.fixture
def both(notebook):
    return Training(notebook, BOTH)


@pytest.mark.ci
def test_numbers_and_curves_grow_while_it_trains(notebook, one):
    one.until("Ready to train")
    assert "– " not in one.chart(0).split(":")[0]
    assert one.root.locator(".lib-plot canvas").count() == 0, "no axes before there are numbers"
    one.button("Start").click()
    one.until_phase("training")
    one.until_it_grows()
    assert one.root.locator(".lib-plot canvas").count() == 3
    score = one.chart(0)
    one.page.wait_for_function(
        "([e, before]) => e.ariaLabel !== before",
        arg=[one.root.locator(".lib-plot").first.element_handle(), score],
    )
    tally = one.card().locator(".lib-scores b").all_inner_texts()
    assert len(tally) == 3 and all(any(c.isdigit() for c in text) for text in tally)
    one.root.get_by_label("Tile", exact=True).select_option("512")
    assert "games that reached 512" in one.chart(1)
    one.root.get_by_label("Tile", exact=True).select_option("2048")


def test_the_rate_is_changed_while_it_trains(notebook, one):
    if one.button("Start").is_visible():  # where the test before was left out
        one.button("Start").click()
        one.until_it_grows()
    rate = one.root.get_by_label("α of cells:0123,4567 td", exact=True)
    rate.fill("0,02")
    rate.press("Enter")
    notebook.until("widget.run.rate", 0.02)
    one.until_it_grows()
    how = "is no number: write α as 0.05 or 0,05. It stays 0.02"
    for text, says in (("7", "use a rate above 0"), ("fast", f"“fast” {how}"), ("1.000,5", how)):
        rate.fill(text)
        rate.press("Enter")
        one.until(says)
        one.page.wait_for_function("e => e.value === '0.02'", arg=rate.element_handle())
    notebook.ask("setattr(widget.run, 'rate', 0.05)")
    one.page.wait_for_function("e => e.value === '0.05'", arg=rate.element_handle())
    one.until_it_grows()
    changes = notebook.ask("widget.changes[['before', 'rate']].values.tolist()")
    assert changes == [[0.1, 0.02], [0.02, 0.05]]
    assert re.search(r"α 0.02 from [\d.]+ [kM] on. α 0.05 from [\d.]+ [kM] on.", one.chart(0))


def test_it_is_paused_by_a_key_and_goes_on_beside_a_busy_cell(notebook, one):
    one.press("p")
    one.until_phase("paused")
    one.until("Paused after")
    stands = notebook.ask("widget.run.actions")
    notebook.start(FOREVER)
    one.button("Go on").click()
    one.until_phase("training")
    one.until_it_grows()
    one.page.evaluate(f"{lab.KERNEL}.interrupt()")
    one.until_phase("stopped")
    assert notebook.ask("widget.run.actions") > stands
    notebook.until("widget.phases", ["stopped"])


def test_its_own_stop_works_while_a_cell_runs(notebook, one):
    one.button("Train on").click()
    one.until_phase("training")
    notebook.start(UNTIL_IT_STOPS)
    one.until_it_grows()  # by messages that come from within the cell, as far as ipykernel knows
    one.button("Stop").click()
    one.until_phase("stopped")
    notebook.until("seen", ["stopped"])


def test_its_games_are_played_and_can_be_chosen(one):
    steps = one.card().locator(".lib-strip button")
    steps.nth(2).wait_for()
    first = steps.first.inner_text()
    assert first.startswith("0 s")
    steps.first.click()
    assert steps.first.get_attribute("aria-pressed") == "true"
    one.page.keyboard.press("ArrowRight")
    assert steps.nth(1).get_attribute("aria-pressed") == "true"
    assert steps.first.get_attribute("aria-pressed") == "false"
    caption = one.card().locator(".lib-show .lib-small").element_handle()
    moves = "([e, text]) => e.innerText !== text"
    one.page.wait_for_function(moves, arg=[caption, caption.inner_text()])
    assert caption.inner_text().startswith("one game after 0.1 s of training: ")


def test_keys_read_zoom_and_move_the_curve(one):
    chart = one.root.locator(".lib-plot").first
    chart.press("ArrowLeft")
    assert "mean score of the last 1000 games at" in one.message
    last = one.message
    one.page.keyboard.press("ArrowLeft")
    assert one.message != last
    whole = one.root.locator(".lib-whole").first
    assert whole.is_hidden()
    one.page.keyboard.press("+")
    assert one.root.locator(".lib-whole:visible").count() == 3, "all show the same part"
    one.page.keyboard.press("Shift+ArrowLeft")
    one.page.keyboard.press("0")
    assert whole.is_hidden()
    box = chart.locator(".u-over").bounding_box()
    mouse, y = one.page.mouse, box["y"] + 50
    mouse.move(box["x"] + 50, y)
    mouse.down()
    mouse.move(box["x"] + 150, y, steps=4)
    mouse.up()
    assert whole.is_visible()
    whole.click()
    assert whole.is_hidden()
    inside = "document.activeElement.closest('.lib2048') !== null"
    assert one.page.evaluate(inside)


def test_no_key_reaches_the_notebook(notebook):
    parts = (".lib-plot >> nth=1", "input[type=range]", "input[inputmode]", "select",
             ".lib-message", "button >> nth=1", ".u-over >> nth=0")  # fmt: skip
    lab.check_keys(notebook, *((ONE, part) for part in parts))


def test_two_runs_train_side_by_side_and_a_page_that_is_closed_stops_nothing(
    notebook, both, at, chromium
):
    both.button("Start all").click()
    both.until_both("training", grow=True)
    assert "td α 0.1" in both.chart(0) and "tc β 1.0" in both.chart(0)
    rate = both.root.get_by_label("rate of all runs", exact=True)
    assert rate.input_value() == "" and rate.get_attribute("placeholder") == "differ"
    rate.fill("0,2")
    rate.press("Enter")
    notebook.until("[run.rate for run in both.runs]", [0.2, 0.2])
    both.page.wait_for_function("e => e.value === '0.2'", arg=rate.element_handle())
    for number in range(2):
        both.until_it_grows(number)
    assert "α 0.2 from" in both.chart(0) and "β 0.2 from" in both.chart(0)
    notebook.save()
    actions = notebook.ask("both.run.actions")
    notebook.page.goto("about:blank")
    notebook.page.goto(at("page.ipynb"))
    notebook.until_ready()
    both.until_both("training", grow=True)
    assert notebook.ask("both.run.actions") > actions
    assert "–" not in both.chart(0).split("Left and")[0]
    both.button("Stop all").click()
    both.until_both("stopped")


def test_a_reset_begins_anew_beside_the_curve_before(notebook, both):
    assert both.button("Go on with all").is_visible()
    actions = notebook.ask("both.run.actions")
    both.button("Reset all").click()
    both.until_both("ready")
    assert both.button("Start all").is_visible()
    assert notebook.ask("(both.run.actions, both.run.rate)") == (0, 0.2) and actions > 0
    assert both.card().locator(".lib-strip button").count() == 0
    assert both.card().locator(".lib-scores b").first.inner_text() == "–"
    assert both.root.locator(".lib-plot canvas").count() == 3, "the curves before stay, pale"
    assert both.card().locator("button", has_text="Reset").get_attribute("aria-disabled") == "true"


def test_running_its_cell_again_ends_the_old_one(notebook, one):
    one.button("Train on").click()
    one.until_phase("training")
    notebook.command("notebook:run-all-cells")
    notebook.until("(before.phases, widget.phases)", (["stopped"], ["ready"]))
    one.until_phase("ready")


def test_it_fits_a_phone_and_everything_has_a_name(notebook, both):
    both.press("p")
    both.until_both("training", grow=True)
    both.press("p")
    both.until_both("paused")
    lab.check_looks(notebook, charts=True)
    lab.check_names(notebook)


def test_a_saved_notebook_is_small_and_a_lost_kernel_is_told(notebook, folder, one):
    notebook.until("both.phases", ["paused"] * 2)
    notebook.save()
    path = folder / "page.ipynb"
    assert path.stat().st_size < 60_000
    text = path.read_text(encoding="utf-8")
    assert "lib2048-still" in text and "last mean" in text
    assert "widgets" not in json.loads(text)["metadata"]
    notebook.restart()
    one.until("The kernel has ended or was restarted")
    one.press("p")
    one.until("then run this cell")
