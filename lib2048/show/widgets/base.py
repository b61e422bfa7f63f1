"""What all widgets on a page share: one front end, a still picture, errors in words."""

import base64
import functools
import io
import re
import traceback
from html import escape
from pathlib import Path

import anywidget
from IPython import get_ipython
from IPython.display import display, update_display

HERE = Path(__file__).parent
# uPlot draws curves: https://github.com/leeoniya/uPlot, version 1.6.32, as its authors built it.
VENDOR = ("vendor/uPlot.iife.min.js", "vendor/uPlot.min.css")
# Each imports only from those before it.
MODULES = ("game.js", "board.js", "editor.js", "mind.js", "play.js", "replay.js", "chart.js",
           "orders.js", "train.js", "curves.js", "tuples.js", "tree.js", "small.js",
           "widget.js")  # fmt: skip
VIEW = "application/vnd.jupyter.widget-view+json"
NOTE = "This is a picture of it. Run this cell in JupyterLab, and it comes alive."
# In a reader's own saved notebook the widget of an earlier session is gone, and JupyterLab writes
# "model not found" under this picture; the picture and its note say more.
STYLE = (
    "<style>.jp-OutputArea-child:has(.lib2048-still) + .jp-OutputArea-child "
    ".jupyter-widgets:not(:has(*)) {display: none}</style>"
)


@functools.cache
def front_end():
    """Return the modules as one text, since anywidget takes one.

    uPlot comes first, as it is: all that it brings is the name `uPlot`.
    """
    return joined(HERE / name for name in (VENDOR[0], *MODULES))


def joined(paths):
    """Return plain ES modules as one text.

    They are written one after the other, without their imports and the word `export`; nothing else
    is done to them, and no name of one is used by another.
    """
    texts = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    texts = re.sub(r"^import [^;]*;\n", "", texts, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", texts, flags=re.MULTILINE)


@functools.cache
def style_sheet():
    """Return the looks of all widgets."""
    sheets = ("board.css", "train.css", "curves.css", "tuples.css", "explore.css")
    names = (VENDOR[1], *sheets)
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)


class Figure:
    """A figure of matplotlib as a still picture: a PNG with words for those who cannot see it."""

    def __init__(self, ax, text):
        import matplotlib.pyplot as plt

        file, self.text = io.BytesIO(), text
        ax.figure.savefig(file, format="png", dpi=ax.figure.dpi)
        plt.close(ax.figure)  # or the notebook would show it once more
        self.png = file.getvalue()

    def _repr_html_(self):
        source = f"data:image/png;base64,{base64.b64encode(self.png).decode()}"
        return f'<img src="{source}" alt="{escape(self.text)}" style="max-width:100%">'

    def __repr__(self):
        return f"<figure: {self.text}>"


def _take_as_addressed(comm):
    """Let the browser's messages go to the thread that JupyterLab names, also while a cell runs.

    ipykernel 7.4 sends them where the widget's last message came from, which for a thread of ours
    is the cell that runs: an order to stop would wait for the end of that cell.
    """
    comm._reply_subshell_for = None


class BrowserWidget(anywidget.AnyWidget):
    """A widget that lives in the browser, and is a picture where it cannot."""

    _esm = front_end()
    _css = style_sheet()

    def __init__(self, **traits):
        super().__init__(**traits)
        _take_as_addressed(self.comm)
        self.on_msg(self._heard)

    def static(self):
        """Return a `Picture` that stands for the widget."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs):
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {VIEW: view, **self._still()}

    def _still(self):
        """Return the picture and its note, as an output has them."""
        picture = self.static()
        note = f"<p><small>{NOTE}</small></p>"
        still = f'<div class="lib2048-still">{picture._repr_html_()}{note}</div>'
        return {"text/plain": repr(picture), "text/html": still}

    def _ipython_display_(self):
        """Show the picture and the widget, as two outputs: the widget hides the picture.

        One output with both would be an error message in a saved notebook, since JupyterLab takes
        the widget, finds that it is gone, and does not look at the picture.
        """
        if self.comm is None:  # it was closed
            return display(self.static())
        bundle = self._repr_mimebundle_()
        view = {VIEW: bundle.pop(VIEW)}  # without a text, which would be all that is left of it
        display(_styled(bundle), raw=True, display_id=self.model_id)
        display(view, raw=True)

    def _draw_again(self):
        """Let the picture in the notebook be what `static` returns now."""
        if get_ipython() is not None:
            update_display(_styled(self._still()), raw=True, display_id=self.model_id)

    def _heard(self, _, message, buffers):
        """Answer a message of the browser; whatever goes wrong is said in the widget."""
        try:
            self._answer(message)
        except Exception as error:
            self.send({"kind": "trouble", **trouble(error)})

    def _answer(self, message):
        raise NotImplementedError

    def _reply(self, question, find, doing=None, says=None):
        """Answer a question with the dict that `find` returns; an error is put into words.

        doing: what is said while it is being found; says: turns an exception into {'error', …}.
        """
        self.send({"id": question["id"], "kind": "working", "doing": doing})
        try:
            found = find()
        except (Exception, KeyboardInterrupt) as error:
            found = (says or trouble)(error)
        self.send({"id": question["id"], "kind": "answer", **found})

    def _take_over(self, **state):
        """Set traits to what the browser says they are, without telling it."""
        self.set_state(state)


def _styled(bundle):
    return bundle | {"text/html": bundle["text/html"] + STYLE}


def trouble(error, who="This widget"):
    """Say an error in words: {'error': one line, 'details': the traceback}."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    lines = traceback.format_exception(type(error), error, _after_ours(error.__traceback__))
    return {"error": f"{who} failed with {words}", "details": "".join(lines)}


def _after_ours(trace):
    """Return a traceback from where it leaves this folder, or all of it where it never does."""
    rest = trace
    while rest and Path(rest.tb_frame.f_code.co_filename).parent == HERE:
        rest = rest.tb_next
    return rest or trace
