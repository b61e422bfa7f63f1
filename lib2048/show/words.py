"""Numbers as people read them, and what a figure shows, in words: its alt text in a notebook."""

import base64
import functools
import inspect
import re
import sys
from html import escape

import numpy as np

from lib2048.machine.printed import set_apart
from lib2048.machine.terminal import in_short

MOST = 8  # curves that are told of
MOST_DIGITS = 6  # decimals of a number in a table, as in pandas
SMALL, LARGE = 1e-4, 1e15  # beyond them pandas writes a number in powers of ten
BEYOND = 0.05  # of a curve's whole range: a turn that is told of
# What XML cannot hold; a picture with one of them is not shown at all.
NO_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WORD = re.compile(r"[^\W\d_]{2}")  # not the k of 20 k
COMMAS = re.compile(r"(?<![\w.,:])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")  # 12,345


def written(frame):
    """Return a pandas frame whose numbers are texts as people read them, for what shows it.

    A column has as many decimals as its numbers need, at most six; one of tiles, which are names,
    stays as it is, as do very small numbers.  Texts that hold 1,234 say it in the same way.
    """
    columns = [_column(frame.iloc[:, n], name) for n, name in enumerate(frame.columns)]
    shown = type(frame)(dict(enumerate(columns)), frame.index).set_axis(frame.columns, axis=1)
    return shown.rename(index=_said, columns=_said)


def _column(column, name):
    if column.dtype.kind == "O":
        return column.map(_said)
    if column.dtype.kind not in "iuf" or "tile" in str(name):
        return column
    numbers = column[np.isfinite(column)]
    size = numbers.abs()
    if len(numbers) and (size.max() >= LARGE or size[size > 0].min() < SMALL):
        return column
    texts = [f"{number:.{MOST_DIGITS}f}".rstrip("0") for number in numbers]
    digits = max((len(text.partition(".")[2]) for text in texts), default=0)
    return column.map(lambda number: set_apart(f"{number:,.{digits}f}"), "ignore").astype(object)


def _said(thing):
    return COMMAS.sub(lambda found: set_apart(found[0]), thing) if isinstance(thing, str) else thing


def tell_tables(shell):
    """Let a notebook show pandas frames as `written` has them."""
    shows = {
        "text/html": lambda frame: written(frame)._repr_html_(),
        "text/plain": lambda frame, out, _: out.text(repr(written(frame))),
    }
    for kind, show in shows.items():
        for module in ("pandas", "pandas.core.frame"):  # where pandas says that it is from
            shell.display_formatter.formatters[kind].for_type_by_name(module, "DataFrame", show)


def escaped(text):
    """Return a text as HTML and SVG hold it, � in the place of what neither can."""
    return escape(NO_XML.sub("\ufffd", str(text)))


def image(kind, data, text):
    """Return a picture as HTML, data: bytes of this media type, and the words that tell of it."""
    source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return f'<img src="{source}" alt="{escaped(text)}" style="max-width:100%">'


# ---------------------------------------------------------------- what a function takes


def says_what(function, doc=None):
    """Return a function that says in one line what it takes where it is given something else.

    doc: what tells of its arguments, other than its docstring.  ValueError takes the place of what
    Python says of a thing of another kind, which it keeps as its cause.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def told(*args, **kwargs):
        given = signature.bind(*args, **kwargs).arguments
        try:
            return function(*args, **kwargs)
        except (AttributeError, LookupError, TypeError) as error:
            given.pop("self", None)
            said = ", ".join(f"{name}={in_short(thing)}" for name, thing in given.items())
            name, what = function.__qualname__.partition(".")[0], doc or function.__doc__
            raise ValueError(
                f"{name}({said}): is given another kind of thing than it takes: "
                f"{_takes(what, given)}"
            ) from error

    return told


def _takes(doc, names):
    """Return what a docstring says of arguments, or else what it begins with, in one line."""
    doc = inspect.cleandoc(doc or "see its help")
    said = re.findall(r"^ *\*?((?:\w+, )*\w+): (.*(?:\n {8}.*)*)", doc, re.M)
    told = [
        f"{args}: {' '.join(text.split()).rstrip('.;')}"
        for args, text in said
        if not names.keys().isdisjoint(args.split(", "))
    ]
    return "; ".join(told) or doc.splitlines()[0]


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
    told = ", ".join((curves or _texts(ax.get_legend()) or _rows(ax))[:MOST])
    head = ": ".join(filter(None, (title, about)))
    return "; ".join(filter(None, (head, told))).replace("\n", " ")


def _rows(ax):
    """Return the names beside or below bars and intervals, with the numbers written at them."""
    from matplotlib.ticker import FixedLocator

    axes = (a for a in (ax.yaxis, ax.xaxis) if isinstance(a.get_major_locator(), FixedLocator))
    names = [text.get_text() for axis in axes for text in axis.get_ticklabels()]
    written = [text.get_text() for text in ax.texts]
    if names and len(names) == len(written):
        return [f"{name}: {said}" for name, said in zip(names, written)]
    return names if any(WORD.search(name) for name in names) else []


def _curve(line, number):
    """Return 'label from its first value to its last' of a curve, its label alone of a level.

    Where it goes well beyond both of its ends is said, too.
    """
    at, heights = np.asarray(line.get_xydata(), float).T
    at, heights = at[np.isfinite(heights)], heights[np.isfinite(heights)]
    if len(heights) < 3:
        return line.get_label()
    first, last = heights[[0, -1]]
    said = f"{line.get_label()} from {number(first)} to {number(last)}"
    turns = (
        ("highest", heights.argmax(), heights.max() - max(first, last)),
        ("lowest", heights.argmin(), min(first, last) - heights.min()),
    )
    for word, k, beyond in turns:
        if beyond > BEYOND * np.ptp(heights):
            said += f" ({word} {number(heights[k])} at {number(at[k])})"
    return said


def _texts(legend):
    return [text.get_text() for text in legend.get_texts()] if legend else []


def tell_notebook(number=str):
    """Let the notebook, where there is one, give each figure its words; once is enough."""
    ipython = sys.modules.get("IPython")
    if ipython is None or (shell := ipython.get_ipython()) is None:
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
