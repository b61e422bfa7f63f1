"""What all widgets on a page share: a front end without a build step, a picture, errors in words.

A widget is a class in a file, and beside it a module of JavaScript, which the class names as its
`entry` and which ends in what anywidget wants, `export default { render }`.  All else follows from
there: what it imports is taken along, and the style sheets beside it, `x.css` beside `x.js`.
"""

import functools
import inspect
import io
import itertools
import json
import re
import traceback
import weakref
from pathlib import Path

import anywidget
from IPython import get_ipython
from IPython.display import display, update_display
from traitlets import Unicode

from lib2048.game.bits import WHOLE
from lib2048.game.game import FAMILIES, new_game
from lib2048.machine.kernels import LIBRARY
from lib2048.show.draw import palette, tile_colour
from lib2048.show.widgets.game import from_hex, to_hex, told
from lib2048.show.words import image, says_what

# What the modules know of the game by Python alone, as the name SPEC.
SPEC = told(WHOLE)
IMPORT = re.compile(r'^import (?:(\{[^}]*\}) from )?"([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
RENDER = re.compile(r"^export default .*\n", re.MULTILINE)  # of a widget that another one shows
TILE = (
    '.lib2048 .lib-tile [data-rules="{rules}"][data-tile="{tile}"] '
    "{{ background: {back}; color: {ink}; }}"
)
VIEW = "application/vnd.jupyter.widget-view+json"
NOTE = (
    "This is a picture of it. In JupyterLab it comes alive: choose Run All Above Selected Cell in "
    "the menu Run, then run this cell."
)
# In a reader's own saved notebook the widget of an earlier session is gone, and JupyterLab writes
# "model not found" under this picture; the picture and its note say more.
STYLE = (
    "<style>.jp-OutputArea-child:has(.lib2048-still) + .jp-OutputArea-child "
    ".jupyter-widgets:not(:has(*)) {display: none}</style>"
)


def front_end(entry):
    """Return a module of JavaScript and all that it imports as one text: anywidget takes one.

    entry: its path.  Each module that it imports becomes a function of its own that returns what it
    exports, so its other names are nobody else's.  A bare `import "./x.js"` is of a classic script,
    such as uPlot's, which stays as it is.
    """
    *others, last = _modules(Path(entry).resolve())
    spec = f"const SPEC = {json.dumps(SPEC)};"
    return "\n".join([spec, *map(_closed, others), _linked(_text(last))])


def style_sheet(entry):
    """Return the looks of a module and of all that it imports, and the colours of the tiles."""
    sheets = (path.with_suffix(".css") for path in _modules(Path(entry).resolve()))
    games = [new_game(family=number) for number in range(len(FAMILIES))]
    tiles = (_face(game, tile) for game in games for tile in palette(game))
    return "\n".join([*tiles, *(_text(path) for path in sheets if path.exists())])


def _face(game, tile):
    back, ink = tile_colour(tile, game)
    return TILE.format(rules=game.rules.NAME, tile=tile, back=back, ink=ink)


@functools.cache
def _text(path):
    return path.read_text(encoding="utf-8")


def _modules(path):
    """Return the paths of all modules that one needs, each after those that it imports itself."""
    needs = (_modules((path.parent / name).resolve()) for _, name in IMPORT.findall(_text(path)))
    return [*dict.fromkeys([*itertools.chain.from_iterable(needs), path])]


def _closed(path):
    """Return a module as `const $name = (() => …)()`; one without exports, a script, as it is."""
    text = _text(path)
    if not (names := EXPORT.findall(text)):
        return text
    body = EXPORT.sub("", RENDER.sub("", _linked(text)))
    return f"const ${path.stem} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _linked(text):
    """Let a module take its imports from the constants that `_closed` has made."""

    def taken(found):
        names, path = found.groups()
        return f"const {names.replace(' as ', ': ')} = ${Path(path).stem};\n" if names else ""

    return IMPORT.sub(taken, text)


class Figure:
    """A figure of matplotlib as a still picture: a PNG with words for those who cannot see it."""

    def __init__(self, ax, text):
        file, self.text = io.BytesIO(), text
        ax.figure.savefig(file, format="png")
        self.png = file.getvalue()

    def _repr_html_(self):
        return image("image/png", self.png, self.text)

    def __repr__(self):
        return f"<figure: {self.text}>"


class BrowserWidget(anywidget.AnyWidget):
    """A widget that lives in the browser, and is a picture where it cannot.

    entry: the name of its module, which lies beside the file of its class.  `static` returns the
    `Picture` that stands for it, and `_answer` takes a message of the browser.  tells: names of
    traits that the browser sets, by a message of that kind.

    It ends when its cell is run again: until it is closed, ipywidgets keeps it with all that it
    holds, such as a network of some hundred megabytes.
    """

    entry = None
    tells = ()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = says_what(cls.__init__, cls.__doc__)
        if "entry" in vars(cls):
            entry = Path(inspect.getfile(cls)).with_name(cls.entry)
            cls._esm, cls._css = front_end(entry), style_sheet(entry)

    def __init__(self, **traits):
        super().__init__(**traits)
        # ipykernel 7.4 sends messages where the last one came from, which for a thread of ours is
        # the cell that runs: an order to stop would wait for its end.  So they go where JupyterLab
        # says, also while a cell runs.
        self.comm._reply_subshell_for = None
        self.on_msg(self._heard)
        _watch_cells()
        self._cell = _this_cell()
        _open.add(self)

    def close(self):
        """End the widget: its picture is what stays."""
        _open.discard(self)
        super().close()

    def _still(self):
        """Return the picture and its note, as an output has them."""
        picture = self.static()
        html = f"{picture._repr_html_()}<p><small>{NOTE}</small></p>"
        still = f'<div class="lib2048-still">{html}</div>{STYLE}'
        return {"text/plain": repr(picture), "text/html": still}

    def _ipython_display_(self):
        """Show the picture and the widget, as two outputs: the widget hides the picture.

        One output with both would be an error message in a saved notebook, since JupyterLab takes
        the widget, finds that it is gone, and does not look at the picture.
        """
        if self.comm is None:  # it was closed
            return display(self.static())
        display(self._still(), raw=True, display_id=self.model_id)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        _, about = self._repr_mimebundle_()  # anywidget's; Colab is told there what draws it
        # without a text, which would be all that is left of it
        display({VIEW: view}, raw=True, metadata=about)

    def _draw_again(self):
        """Let the picture in the notebook be what `static` returns now."""
        if self.comm is not None and get_ipython() is not None:
            update_display(self._still(), raw=True, display_id=self.model_id)

    def _heard(self, _, message, buffers):
        """Take a message of the browser; whatever goes wrong is said in the widget."""
        try:
            if (kind := message["kind"]) in self.tells:
                self.set_state({kind: message[kind]})  # it knows
            else:
                self._answer(message)
        except Exception as error:
            self.send({"kind": "trouble", **trouble(error)})

    def _reply(self, question, find, doing=None, says=None):
        """Answer a question with the dict that `find` returns; an error is put into words.

        doing: what is said while it is being found, unless a cell runs, too; says: turns an
        exception into {'error', …}.
        """
        working = {"doing": doing, "busy": _cells["run"]}
        self.send({"id": question["id"], "kind": "working", **working})
        try:
            found = find()
        except (Exception, KeyboardInterrupt) as error:
            found = (says or trouble)(error)
        self.send({"id": question["id"], "kind": "answer", **found})


class PositionWidget(BrowserWidget):
    """A widget that looks at a position, which the browser may change, and says what lies there.

    `_packed` packs a board that people give, or raises ValueError; `_open` answers a question.
    """

    position = Unicode().tag(sync=True, echo_update=False)
    tells = ("position",)

    @property
    def board(self):
        """The position: packed, uint64."""
        return from_hex(self.position)

    @board.setter
    def board(self, board):
        self.position = to_hex(self._packed(board))

    def _answer(self, message):
        if message["kind"] == "open":
            self._open(message)


_cells = {"run": False}  # JupyterLab may bring a message to a second thread while one runs
_open = weakref.WeakSet()  # widgets that are not closed


def _watch_cells():
    """Know from now on whether a cell runs, where there are any: whoever calls this is in one."""
    if "shell" in _cells or not (shell := get_ipython()):
        return
    _cells.update(shell=shell, run=True)
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", lambda _: _cells.update(run=False))


def _this_cell():
    """Return what tells the cell that is running from others: its id, or else its text."""
    parent = getattr(get_ipython(), "get_parent", dict)() or {}
    asked = parent.get("metadata", {}).get("cellId"), parent.get("content", {}).get("code")
    return next(filter(None, asked), None)


def _before_cell(info):
    """End the widgets of a cell that is run again."""
    _cells.update(run=True)
    for widget in list(_open):
        if widget._cell is not None and widget._cell in (info.cell_id, info.raw_cell):
            widget.close()


def trouble(error, who="This widget"):
    """Say an error in words: {'error': one line, 'details': the traceback}."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    lines = traceback.format_exception(type(error), error, _after_ours(error.__traceback__))
    return {"error": f"{who} failed with {words}", "details": "".join(lines)}


def _after_ours(trace):
    """Return a traceback from where it leaves the library, or all of it where it never does."""
    rest = trace
    while rest and Path(rest.tb_frame.f_code.co_filename).is_relative_to(LIBRARY):
        rest = rest.tb_next
    return rest or trace
