"""Alt texts: a figure in words, and a notebook whose every figure has one."""

import matplotlib as mpl
import nbformat
import pandas as pd
from nbclient import NotebookClient

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from lib2048.show import plot  # noqa: E402
from lib2048.show.plot import short
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
