"""Alt texts: a figure in words, and a notebook whose every figure has one."""

import inspect

import matplotlib as mpl
import nbformat
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from traitlets import TraitError

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from lib2048 import Settings  # noqa: E402
from lib2048.show import draw, plot, words
from lib2048.show.plot import short
from lib2048.show.widgets.play import PlayWidget
from lib2048.show.widgets.replay import ReplayWidget
from lib2048.show.widgets.train import TrainWidget
from lib2048.show.widgets.tree import TreeWidget
from lib2048.show.words import describe, tell_notebook

CURVE = pd.DataFrame({"actions": [1000, 2000, 3000], "mean": [200.0, 3000.0, 12_345.0]})


def test_curves_are_told_with_their_ends():
    ax = plot.curves({"TD": CURVE, "TC": CURVE.assign(mean=5)})
    told = describe(ax.figure, short).replace("\u00a0", " ")
    assert told == (
        "mean score (points) against actions taken in training; "
        "TD from 200 to 12.3 k, TC from 5 to 5"
    )


def test_a_peak_is_told_and_a_ripple_is_not():
    peak = CURVE.assign(mean=[200.0, 3000.0, 1000.0])
    ripple = CURVE.assign(mean=[200.0, 195.0, 3000.0])
    told = describe(plot.curves({"TD": peak, "TC": ripple}).figure, short).replace("\u00a0", " ")
    assert told.endswith("TD from 200 to 1 k (highest 3 k at 2 k), TC from 200 to 3 k")


def test_a_title_and_several_axes_are_told():
    figure, (left, right) = plot.subplots(1, 2)
    left.set(title="early", xlabel="score")
    right.bar([1, 2], [3, 4], label="TD")
    right.legend()
    figure.suptitle("both")
    assert describe(figure) == "both. early: score. TD"


def test_names_beside_intervals_are_told():
    ax = plot.intervals(["λ = 0", "λ = 1"], [300, 100], [50, 20])
    assert describe(ax.figure).endswith("; λ = 0: 300 ± 50, λ = 1: 100 ± 20")


def test_an_empty_figure_is_a_figure():
    assert describe(plt.figure()) == "a figure"


def test_plain_python_needs_no_notebook():
    tell_notebook()


def test_figures_of_a_notebook_have_their_words(tmp_path):
    code = (
        "from lib2048 import plot\n"
        "figure, ax = plot.subplots()\nax.set(xlabel='λ', ylabel='error (points)');"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for _ in range(2)])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    for cell in notebook.cells:
        [output] = [o for o in cell.outputs if "image/png" in o.get("data", {})]
        assert output.metadata["image/png"]["alt"] == "error (points) against λ"


# ---------------------------------------------------------------- what a function takes

DRAWN = [getattr(room, name) for room in (draw, plot) for name in room.__all__]
TAKES = [thing for thing in DRAWN if hasattr(thing, "__wrapped__") and thing is not plot.style]
WIDGETS = {PlayWidget: "seed", ReplayWidget: "steps", TreeWidget: "game", TrainWidget: "names"}
STRANGE = None, [1, 2, 3], 2.5, {"a": object()}, Settings(network="4x6")


@pytest.mark.parametrize("thing", STRANGE, ids=lambda thing: type(thing).__name__)
@pytest.mark.parametrize("takes", [*TAKES, *WIDGETS], ids=lambda takes: takes.__name__)
def test_what_is_given_another_kind_of_thing_says_in_one_line_what_it_takes(takes, thing):
    needs = [p for p in inspect.signature(takes).parameters.values() if p.default is p.empty]
    given = {WIDGETS[takes]: thing} if takes in WIDGETS else {p.name: thing for p in needs}
    runs = [thing] if takes is TrainWidget else []
    try:
        takes(*runs, **given)
    except ValueError as error:
        assert "\n" not in str(error) and not isinstance(error, TraitError)
    plt.close("all")


def test_it_says_what_its_docstring_does():
    with pytest.raises(ValueError, match=r"^game\(steps=7\): .*: steps: a list of `Step`"):
        plot.game(7)
    with pytest.raises(ValueError, match=r"^PlayWidget\(seed=None\): .*: seed: an integer; "):
        PlayWidget(None)
    with pytest.raises(ValueError, match=r"^TrainWidget\(runs=\('a',\)\): .*: runs: "):
        TrainWidget("a")
    with pytest.raises(TypeError, match="missing a required argument: 'steps'"):
        plot.game()


# ---- tables of a notebook


def test_a_table_has_numbers_as_people_read_them():
    frame = pd.DataFrame(
        {"score": [264030.0, -1101.0], "share": [0.5, 0.25], "far": [1e5, float("inf")],
         "tile": [16384, 2], "said": ["1,234 ± 56", "4x6"], "p": [1e-9, 0.5]},
        index=["10,000", "b"],
    )  # fmt: skip
    shown = words.written(frame)
    assert shown["score"].tolist() == ["264\u202f030", "−1\u202f101"]
    assert shown["share"].tolist() == ["0.50", "0.25"]
    assert shown["far"].tolist() == ["100\u202f000", "inf"]
    assert shown["tile"].tolist() == [16384, 2], "a tile's number is its name"
    assert shown["said"].tolist() == ["1\u202f234 ± 56", "4x6"]
    assert shown["p"].tolist() == [1e-9, 0.5]
    assert shown.index.tolist() == ["10\u202f000", "b"]
    assert frame["score"].tolist() == [264030.0, -1101.0], "only what is shown has changed"
    assert words.written(frame.iloc[:0]).empty and words.written(pd.DataFrame()).empty


def test_a_notebook_shows_tables_so():
    shell = InteractiveShell()
    words.tell_tables(shell)
    shown, _ = shell.display_formatter.format(pd.DataFrame({"n": [15110]}))
    assert "<td>15\u202f110</td>" in shown["text/html"] and "15\u202f110" in shown["text/plain"]
