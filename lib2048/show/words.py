"""What a figure shows, in words: the alt text of every figure that a notebook shows."""

import re
import sys

import numpy as np

MOST = 8  # curves that are told of
WORD = re.compile(r"[^\W\d_]{2}")  # not the k of 20 k


def describe(figure, number=str):
    """Return what a figure shows, by its own titles, labels and curves: one line.

    number: a function that writes a number as the axes do.
    """
    told = [figure.get_suptitle(), *(_axes(ax, number) for ax in figure.axes)]
    told += [", ".join(_texts(legend)) for legend in figure.legends]
    return ". ".join(text for text in told if text) or "a figure"


def _axes(ax, number):
    """Return 'title: y against x; curve from 3 to 5, …' of one ax, without what it lacks."""
    title = " ".join(filter(None, (ax.get_title(where) for where in ("left", "center", "right"))))
    about = " against ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
    curves = [_curve(line, number) for line in ax.lines if not line.get_label().startswith("_")]
    told = ", ".join((curves or _texts(ax.get_legend()) or _names(ax))[:MOST])
    head = ": ".join(filter(None, (title, about)))
    return "; ".join(filter(None, (head, told))).replace("\n", " ")


def _names(ax):
    """Return the names beside or below bars and intervals."""
    from matplotlib.ticker import FixedLocator

    fixed = [axis for axis in (ax.yaxis, ax.xaxis)
             if isinstance(axis.get_major_locator(), FixedLocator)]  # fmt: skip
    told = [text.get_text() for axis in fixed for text in axis.get_ticklabels()]
    return told if any(WORD.search(text) for text in told) else []


def _curve(line, number):
    """Return 'label from its first value to its last' of a curve, its label alone of a level."""
    heights = np.asarray(line.get_ydata(), float)
    heights = heights[np.isfinite(heights)]
    if len(heights) < 3:
        return line.get_label()
    return f"{line.get_label()} from {number(heights[0])} to {number(heights[-1])}"


def _texts(legend):
    return [text.get_text() for text in legend.get_texts()] if legend else []


def tell_notebook(number=str):
    """Let the notebook, where there is one, give each figure its words; once is enough."""
    if (shell := _shell()) is None:
        return
    from matplotlib.figure import Figure

    formatter = shell.display_formatter.formatters["image/png"]
    drawn = formatter.type_printers.get(Figure)
    if drawn is None or hasattr(drawn, "with_words"):  # no inline figures, or told before
        return

    def with_words(figure):
        found = drawn(figure)
        picture, about = found if isinstance(found, tuple) else (found, {})
        return picture, {"alt": describe(figure, number)} | about

    with_words.with_words = True
    formatter.for_type(Figure, with_words)


def _shell():
    """Return the running IPython, None in plain Python."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
