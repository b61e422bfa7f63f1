"""The explorers of tuples and rates in a real JupyterLab, by mouse and by keyboard."""

import re

import lab
import pytest

from lib2048 import Network, NetworkExplorer, record_game
from lib2048.course import collect, fit
from lib2048.game import board as rules
from lib2048.show.widgets.game import from_hex, to_hex

pytestmark = pytest.mark.usefixtures("in_order")

CELLS = [
    "from lib2048 import *\nfrom lib2048.course import collect, fit\n"
    "games, game = collect('random', 200, seed=1), record_game('greedy', seed=1)\n"
    "network = Network('4x6')\n"
    "fit(network, games.afterstates, games.returns)\n"
    "explorer = NetworkExplorer(network, game, seen=games)\nexplorer",
    "def counting(weights, memory, positions, error, beta):\n"
    "    for p in positions:\n"
    "        E, A = memory[3 * p], memory[3 * p + 1]\n"
    "        own = abs(E) / A if A != 0 else 1.0\n"
    "        weights[p] += error * beta / len(positions) * own\n"
    "        memory[3 * p], memory[3 * p + 1] = E + error, A + abs(error)\n"
    "        memory[3 * p + 2] += 1\n"
    "keeps = 'E', 'A', 'visits'\n"
    "counts = Network('4-22').with_functions(update=counting, rule='tc', keeps=keeps)\n"
    "run = Run(Settings.of(counts, rule='tc', seed=1), network=counts)\n"
    "rates = NetworkExplorer(run, game[100:110], actions=50_000)\nrates",
    "NetworkExplorer()",
    "NetworkExplorer('gone.npz')",
]
NETWORK, RATES, ALONE, GONE = range(4)
LAST = GONE
HEIGHT = 1600
THIN = "\u202f"


@pytest.fixture(scope="module")
def twin():
    """The explorer of the notebook, here."""
    games, network = collect("random", 200, seed=1), Network("4x6")
    fit(network, games.afterstates, games.returns)
    return NetworkExplorer(network, record_game("greedy", seed=1), seen=games)


class Explorer(lab.Widget):
    """A widget of tuples."""

    def pick(self, cell):
        return self.root.locator(".lib-pick").nth(cell)

    def choose(self, line):
        """Show another line; what it is begins with these words, or has them in it."""
        menu = self.root.get_by_label("What the curve shows")
        titles = menu.locator("option").all_inner_texts()
        menu.select_option(next(title for title in titles if line in title))

    @property
    def cells(self):
        return [int(cell) for cell in self.data("tuple").split()]

    def cards(self):
        """Return (index, weight, look-ups) of each placement, as texts, when all are there."""
        there = "e => !e.textContent.includes('…')"
        places = self.root.locator(".lib-places")
        self.page.wait_for_function(there, arg=places.element_handle())
        texts = places.locator("button").all_inner_texts()
        return [re.findall(r"(?:index|weight|look-ups) (.*)", text) for text in texts]


@pytest.fixture
def explorer(notebook):
    return Explorer(notebook, NETWORK)


@pytest.fixture
def alone(notebook):
    return Explorer(notebook, ALONE)


def written(found):
    """Return what the eight cards say of what the library found."""
    digits = [3 if abs(weight) < 10 else 1 for weight in found["weights"]]
    weights = [f"{w:,.{d}f}".replace("-", "−") for w, d in zip(found["weights"], digits)]
    rows = zip([f"{i:,}" for i in found["index"]], weights, [f"{n:,}" for n in found["visits"]])
    return [[text.replace(",", THIN) for text in row] for row in rows]


def agree(explorer, twin):
    """Compare all that the page shows with the library's numbers."""
    found = twin.look(explorer.cells, from_hex(explorer.data("board")))
    assert int(explorer.data("index")) == found["index"][found["place"]]
    assert explorer.cards() == written(found)
    value = found["value"]
    said = f"{value:,.{3 if abs(value) < 10 else 1}f}".replace(",", THIN).replace("-", "−")
    assert said in explorer.root.locator(".lib-places + .lib-small").inner_text()
    assert explorer.chart(0).startswith(
        f"value of each board, in points: value {number(found['curve']['value'][-1])}"
    )


@pytest.mark.ci
def test_entries_are_those_of_the_network_on_every_board(explorer, twin):
    agree(explorer, twin)
    explorer.root.get_by_label("Number of the board").fill("120")
    assert explorer.data("board") == to_hex(twin.boards[119])
    agree(explorer, twin)
    explorer.press("PageDown", "PageDown", "PageUp")
    assert explorer.data("board") == to_hex(twin.boards[120])
    for number in (1, 3):
        explorer.root.get_by_label("Tuple of 4x6").select_option(str(number))
        assert tuple(explorer.cells) == twin.network.tuples[number]
        agree(explorer, twin)
    explorer.root.locator(".lib-place").nth(6).click()
    assert explorer.cells == list(twin.look(explorer.cells)["cells"][6])
    agree(explorer, twin)


def test_cells_are_chosen_by_mouse_and_by_keyboard(explorer, twin):
    explorer.root.get_by_label("Tuple of 4x6").select_option("0")
    explorer.button("Clear").click()
    assert explorer.cells == [] and "Click cells" in explorer.message
    for cell in (5, 1, 0):
        explorer.pick(cell).click()
    assert explorer.cells == [5, 1, 0] and "16³ = 4\u202f096 weights" in explorer.root.inner_text()
    assert "no tuple of 4x6" in explorer.root.inner_text()
    explorer.page.keyboard.press("c")
    for keys in (" ", "ArrowRight ", "ArrowRight ", "ArrowRight ", "ArrowDown ", "ArrowLeft "):
        for key in filter(None, re.split("( )", keys)):
            explorer.page.keyboard.press(key)
    assert set(explorer.cells) == {0, 1, 2, 3, 6, 7}, "a mirror image of the first tuple"
    assert "tuple 1 of 4x6" in explorer.message
    agree(explorer, twin)


def test_digits_are_changed_and_the_index_follows(explorer, twin):
    explorer.root.get_by_label("Tuple of 4x6").select_option("0")
    explorer.root.get_by_label("Number of the board").fill("1")
    before = int(explorer.data("index"))
    row = explorer.root.locator(".lib-digits tbody tr").nth(2)
    row.get_by_role("button", name="+").click()
    assert int(explorer.data("index")) == before + 16**2
    explorer.page.keyboard.press("Enter")  # on the same button, which is still there
    assert int(explorer.data("index")) == before + 2 * 16**2
    explorer.pick(4).focus()
    explorer.page.keyboard.press("+")
    assert int(explorer.data("index")) == before + 2 * 16**2 + 16**4
    agree(explorer, twin)
    row.get_by_role("button", name="−").click()
    assert int(explorer.data("index")) == before + 16**2 + 16**4


def test_boards_are_pasted_and_impossible_ones_told_in_words(explorer, alone):
    for widget in (explorer, alone):
        field = widget.root.get_by_label("Board: 16 tiles, to edit or paste")
        for text, says in (("1 2 3", "1 is not a tile"), ("2 4 8", "16 cells, and here are 3")):
            before = widget.data("board")
            field.fill(text)
            field.press("Enter")
            assert says in widget.message and widget.data("board") == before
        field.fill("32768 " * 16)
        field.press("Enter")
        assert "No game can come to this board" in widget.message
        assert int(widget.data("index")) == 16**6 - 1
        tiles = [[2, 16, 8, 4], [4, 8, 0, 0], [32, 2, 0, 0], [64, 4, 2, 0]]
        field.fill(str(tiles))
        field.press("Enter")
        assert widget.data("board") == to_hex(rules.from_tiles(tiles))
        assert "No game" not in widget.message and int(widget.data("index")) == 3285825


def test_sizes_are_told_without_a_network(notebook, alone):
    text = alone.root.inner_text()
    assert "16⁶ = 16\u202f777\u202f216 weights, 64 MiB" in text
    assert "no network here" in text and "Nobody has counted" in text and "weight …" not in text
    alone.button("Clear").click()
    for cell in range(16):
        alone.pick(cell).click()
    field = alone.root.get_by_label("Board: 16 tiles, to edit or paste")
    assert field.input_value().count("\n") == 3
    assert field.evaluate("e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight")
    text = alone.root.inner_text()
    assert "18\u202f446\u202f744\u202f073\u202f709\u202f551\u202f616 weights, 64 EiB" in text
    assert "more than a network here may have" in text
    assert int(alone.data("index")) == int(from_hex(alone.data("board")))
    gone = Explorer(notebook, GONE)
    assert "gone.npz" in gone.message and len(gone.cards()) == 8


@pytest.mark.ci
def test_curves_are_those_of_the_chosen_entry(notebook):
    rates = Explorer(notebook, RATES)
    for tuple_number in (0, 4):
        rates.root.get_by_label("Tuple of 4-22").select_option(str(tuple_number))
        for place in (0, 5):
            rates.root.locator(".lib-place").nth(place).click()
            rates.cards()
            found = notebook.ask(f"rates.look({rates.cells})")
            last = {name: numbers[-1] for name, numbers in found["curve"].items()}
            assert (
                f"rate {number(last['rate'])}"
                in rates.root.locator(".lib-place").nth(found["place"]).inner_text()
            )
            for line, names in (("rate", ["rate"]), ("E and A", "EA"), ("weight", ["weight"])):
                rates.choose(line)
                said = ", ".join(f"{name} {number(last[name])}" for name in names)
                assert said in rates.chart(0)
    rates.choose("rate")
    chart = rates.root.locator(".lib-plot").first
    box = rates.root.get_by_label("logarithmic")
    drawn = "e => e.querySelector('canvas').toDataURL()"
    steep = chart.evaluate(drawn)
    assert box.is_checked()
    box.uncheck()
    assert chart.evaluate(drawn) != steep
    chart.press("ArrowLeft")
    assert rates.message.startswith("its rate |E| / A · entry ")
    assert " at 50 k actions: rate " in rates.message
    assert "50 k actions" in rates.root.locator(".lib-tip").inner_text()
    rates.button("Clear").click()
    assert "choose a tuple" in rates.chart(0) and "rate –" in rates.chart(0)
    rates.root.get_by_label("Tuple of 4-22").select_option("0")
    before = rates.chart(0)
    notebook.start("rates.train(50_000, progress=False)")
    changed = "([e, before]) => e.ariaLabel !== before"
    rates.page.wait_for_function(changed, arg=[chart.element_handle(), before])
    assert notebook.ask("rates.run.actions") == 100_000


def test_a_board_is_chosen_on_the_curve(explorer, twin):
    explorer.choose("weight read")
    found = twin.look(explorer.cells)["curve"]["weight"]
    assert explorer.chart(0).startswith("weight read on each board, in points · cells ")
    over = explorer.root.locator(".u-over")
    over.click(position={"x": over.bounding_box()["width"] / 2, "y": 40})
    tip = explorer.root.locator(".lib-tip").inner_text()
    at = int(re.search(r"board (\d+)", tip)[1]) - 1
    assert 0 < at < len(twin.boards) - 1 and number(found[at]) in tip
    assert explorer.data("board") == to_hex(twin.boards[at])
    explorer.root.locator(".lib-plot").press("ArrowLeft")
    explorer.page.keyboard.press("ArrowLeft")
    explorer.page.keyboard.press("Enter")
    assert explorer.data("board") == to_hex(twin.boards[-2])
    explorer.choose("value of")


def number(value):
    """Write a number as the charts do: three digits that say something, thousands apart."""
    if value is None:
        return "–"
    text = f"{float(f'{value:.3g}'):g}"
    if abs(value) >= 10_000:
        text = f"{float(f'{value / 1000:.4g}'):g} k"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}".replace(",", THIN)
    return text.replace("-", "−")


# ---- the keyboard, looks, time -------------------------------------------------------------------


def test_no_key_reaches_the_notebook(notebook, explorer):
    parts = (".lib-pick >> nth=3", ".lib-board >> nth=0", ".lib-message", "select >> nth=0",
             ".lib-place >> nth=2", "input[type=range]", ".lib-digits button >> nth=0",
             "button:has-text('Clear')")  # fmt: skip
    lab.check_keys(notebook, *((NETWORK, part) for part in parts), (RATES, ".u-over"))
    explorer.root.get_by_label("Tuple of 4x6").select_option("0")


def test_it_fits_a_phone_and_everything_has_a_name(notebook):
    lab.check_looks(notebook, charts=True, height=HEIGHT)
    lab.check_names(notebook)


def test_a_lost_kernel_is_told_and_indices_go_on(notebook, explorer):
    notebook.restart()
    explorer.until("The kernel has ended or was restarted")
    explorer.root.get_by_label("Number of the board").fill("50")
    board = record_game("greedy", seed=1)[49].afterstate
    assert explorer.data("board") == to_hex(board)
    explorer.until("then run this cell")
    expected = NetworkExplorer(boards=[board]).look(explorer.cells)["index"]
    assert int(explorer.data("index")) in expected
