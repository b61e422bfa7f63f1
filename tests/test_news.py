"""News and progress in a notebook: plain lines, nothing red, and nothing left of them."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lib2048.machine import terminal
from lib2048.machine.terminal import NEWS

nbclient = pytest.importorskip("nbclient")

CELLS = [
    "from lib2048 import Network, train\nfrom lib2048.machine.terminal import bar, say\n"
    "from lib2048.train.watching import Stopped",
    "network = Network('cells:0123')\ntrain(network, games=20);",
    "with bar(True, total=4, desc='work') as shown:\n    shown.update(3)\n    1 / 0",
    "train(network, games=20);",
    "raise Stopped(None, 'stopped at 3 of 5 M actions')",
    "1 / 0",
]


@pytest.fixture(scope="module")
def cells():
    """The cells of a notebook that was run, whatever failed."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    nbclient.NotebookClient(notebook, timeout=240, allow_errors=True).execute()
    return notebook.cells


def texts(cell):
    return [str(output.get("data", {}).get("text/html", "")) for output in cell.outputs]


def test_nothing_is_red_but_errors(cells):
    for cell in cells:
        assert not [out for out in cell.outputs if out.get("name") == "stderr"]
        kinds = {kind for out in cell.outputs for kind in out.get("data", {})}
        assert not any("widget" in kind for kind in kinds), "which a saved notebook would lack"


def test_a_bar_leaves_nothing_even_where_its_work_fails(cells):
    assert texts(cells[1]) in ([], [""])
    bar, error = cells[2].outputs
    assert error.output_type == "error" and bar.data == {"text/plain": "", "text/html": ""}


def test_a_network_that_has_learned_before_is_told_to_go_on(cells):
    [told] = [text for text in texts(cells[3]) if text]
    assert f'class="{NEWS}"' in told and "has learned from" in told and "make a new one" in told


def test_a_stop_is_news_that_hides_its_error(cells):
    news, error = cells[4].outputs
    assert "stopped at 3 of 5 M actions" in news.data["text/html"]
    assert ".jp-OutputArea-child:has(.lib2048-stopped)" in news.data["text/html"]
    assert error.ename == "Stopped", "which ends the cells that wait behind it"


def test_a_terminal_has_news_on_stderr(capsys):
    terminal.say.cache_clear()
    terminal.say("a line")
    assert capsys.readouterr() == ("", "lib2048: a line\n")
