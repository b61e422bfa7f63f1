"""What people touch: the game to play, recorded games to leaf through, figures with a choice.

Built from ipywidgets alone, so it works wherever they do. Where no kernel runs (GitHub, the book) a
widget is shown as a picture instead: that is its `static()`, and every output carries it along.
"""

import base64
import functools
import traceback
from html import escape
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple

import ipywidgets as ipw
import matplotlib.pyplot as plt

from lib2048.game import board as rules
from lib2048.game.rng import stream
from lib2048.game.spec import ACTIONS
from lib2048.play.players import player as made
from lib2048.show.drawing import draw_board, draw_row

__all__ = ["ExploreWidget", "PlayWidget", "ReplayWidget"]

SIZE = 300  # pixels of the board that is played


def _loud(method):
    """Show the error of a callback in the widget and raise it again: Jupyter hides it in a log."""

    @functools.wraps(method)
    def wrapper(self, *args):
        try:
            return method(self, *args)
        except Exception:
            text = escape(traceback.format_exc())
            self.message.value = f'<pre style="color:#e5484d;line-height:1.2">{text}</pre>'
            raise

    return wrapper


class _Pictured(ipw.VBox):
    """A box of widgets that is a picture where no kernel runs."""

    def static(self):
        """Return a `Picture` that stands for the widget."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        picture = self.static()
        return {**bundle, "text/plain": repr(picture), "text/html": picture._repr_html_()}

    def _show(self, picture):
        self.image.value = picture.svg.encode()


def _image():
    layout = ipw.Layout(max_width="100%", align_self="flex-start")  # its own size, not stretched
    return ipw.Image(format="svg+xml", layout=layout)


def _points(number):
    return f"{number:,.0f}".replace(",", "\u202f").replace("-", "−")


# ------------------------------------------------------------------------------------------ play


class _Position(NamedTuple):
    board: int
    score: int
    actions: int
    state: int  # of the random numbers: after an undo the same tile spawns again


class PlayWidget(_Pictured):
    """Play 2048 with four buttons.

    seed: an integer; the n-th new game is game n of that seed, the same on every machine.
    player: anything with `.choose(board)`, or what `players.player` takes (a name, a network);
    with one, a button shows what it would do. Raises ValueError for an unknown name.

    `.board`, `.score` and `.actions` tell where the game stands; `.act(action)`, `.undo()`,
    `.new_game()` and `.hint()` do what the buttons do.
    """

    def __init__(self, seed=1, player=None):
        self.seed, self._game = seed, -1
        self.player = player if player is None or hasattr(player, "choose") else made(player)
        self.image, self.tally, self.message = _image(), ipw.HTML(), ipw.HTML()
        self._arrows = [self._arrow(action) for action in range(4)]
        self._undo = self._button("Undo", "undo", self.undo)
        side = ipw.VBox([self.tally, self._cross(), ipw.HBox(self._extras())])
        side.layout.margin = "0 0 0 12px"
        row = ipw.Layout(flex_flow="row wrap", align_items="center")
        super().__init__([ipw.Box([self.image, side], layout=row), self.message])
        self.new_game()

    board = property(lambda self: self._positions[-1].board, doc="The board: uint64.")
    score = property(lambda self: self._positions[-1].score, doc="The points so far.")
    actions = property(lambda self: self._positions[-1].actions, doc="The actions so far.")

    @_loud
    def act(self, action):
        """Take an action, 0..3 or its name; an action that changes nothing spawns nothing."""
        action = ACTIONS.index(action) if action in ACTIONS else action
        here = self._positions[-1]
        afterstate, reward = rules.slide(here.board, action)
        if int(afterstate) == int(here.board):
            text = f"{ACTIONS[action]} changes nothing: it is not legal, and no tile spawns."
            return self._refresh(text)
        board, state = rules.spawn(afterstate, here.state)
        self._positions.append(_Position(board, here.score + int(reward), here.actions + 1, state))
        self._refresh(f"{ACTIONS[action]}: {_points(int(reward))} points.")

    @_loud
    def undo(self):
        """Take the last action back; the same action will meet the same spawn again."""
        if len(self._positions) > 1:
            self._positions.pop()
        self._refresh("Taken back.")

    @_loud
    def new_game(self):
        """Begin the next game of the seed."""
        self._game += 1
        board, state = rules.initial(stream(self.seed, self._game))
        self._positions = [_Position(board, 0, 0, state)]
        self._refresh("Slide the tiles: two equal ones merge.")

    @_loud
    def hint(self):
        """Mark the button of the action that the player would take."""
        action = None if rules.is_over(self.board) else self.player.choose(self.board)
        name = getattr(self.player, "name", type(self.player).__name__)
        text = "" if action is None else f"{name} would choose {ACTIONS[action]}."
        self._refresh(text, action)

    def static(self):
        """Return a `Picture` of the board and its tally."""
        return draw_board(self.board, self._tally_text())

    def _refresh(self, text, hinted=None):
        over = "The game is over: no action is legal." if rules.is_over(self.board) else ""
        self._show(draw_board(self.board, size=SIZE))
        self.tally.value = f"<b>{self._tally_text()}</b>"
        self.message.value = escape(over or text)
        self._undo.disabled = len(self._positions) == 1
        for action, button in enumerate(self._arrows):
            button.button_style = "success" if action == hinted else ""

    def _tally_text(self):
        actions = "1 action" if self.actions == 1 else f"{_points(self.actions)} actions"
        return f"score {_points(self.score)} · {actions}"

    def _button(self, name, icon, call, width="84px", **layout):
        layout = ipw.Layout(width=width, **layout)
        button = ipw.Button(description=name, icon=icon, tooltip=name, layout=layout)
        button.on_click(lambda _: call())
        return button

    def _arrow(self, action):
        name, act = ACTIONS[action], functools.partial(self.act, action)
        place = {"width": "84px", "height": "44px", "grid_area": name.lower()}
        return self._button(name, f"arrow-{name.lower()}", act, **place)

    def _cross(self):
        areas = '". up ." "left . right" ". down ."'
        layout = ipw.Layout(grid_template_areas=areas, grid_gap="2px", justify_content="flex-start")
        return ipw.GridBox(self._arrows, layout=layout)

    def _extras(self):
        new = self._button("New", "refresh", self.new_game)
        hint = [self._button("Hint", "lightbulb-o", self.hint)] if self.player else []
        return [new, self._undo, *hint]


# ----------------------------------------------------------------------------------------- replay


class ReplayWidget(_Pictured):
    """Leaf through a recorded game with a slider, or watch it.

    steps: a list of `Step`(board, action, reward, afterstate, value), as `record_game` returns it.
    It shows the board, the action taken, the afterstate and its value (unless that is None), and
    the score so far. A last step with action None is the end of the game.
    """

    def __init__(self, steps):
        self.steps = list(steps)
        if not self.steps:
            raise ValueError("there are no steps to replay: the list is empty")
        self._taken = sum(step.action is not None for step in self.steps)
        self.scores = list(accumulate(int(step.reward) for step in self.steps))
        self.image, self.message = _image(), ipw.HTML()
        super().__init__([self.image, ipw.HBox(self._controls()), self.message])
        self._slider.observe(self._moved, "value")
        self._moved()

    @property
    def position(self):
        """The step that is shown, from 0 on; set it to jump."""
        return self._slider.value

    @position.setter
    def position(self, step):
        self._slider.value = step

    def static(self, moments=6):
        """Return a `Picture` of key moments: the start, each new largest tile, the end.

        moments: how many at most; of too many, the largest tiles are kept.
        """
        shown = self._key_moments(max(int(moments), 2))
        captions = [f"{self._name(i)}\nscore {_points(self.scores[i])}" for i in shown]
        boards = [self.steps[i].afterstate for i in shown]
        return draw_row(boards, captions, size=140, width=520)

    def _key_moments(self, moments):
        largest = [rules.max_exponent(step.afterstate) for step in self.steps]
        new = [i for i in range(1, len(largest)) if largest[i] > largest[i - 1]]
        last = len(self.steps) - 1
        inner = [i for i in new if i < last][-(moments - 2) :] if moments > 2 else []
        return sorted({0, *inner, last})

    @_loud
    def _moved(self, change=None):
        self._show(self._picture(self.steps[self.position]))
        self.message.value = escape(self._line(self.position))

    def _picture(self, step):
        if step.action is None:
            return draw_row([step.board], ["no action is legal"], size=200)
        action = f"{ACTIONS[step.action]}\n+{_points(int(step.reward))}"
        boards = [step.board, step.afterstate]
        return draw_row(boards, ["board", "afterstate"], [action], size=200)

    def _line(self, position):
        score, value = self.scores[position], self.steps[position].value
        text = f"{self._name(position)} of {self._taken} · score {_points(score)}"
        if value is None:
            return text
        return f"{text} · value {_points(value)} · together {_points(score + value)}"

    def _name(self, position):
        return "the end" if self.steps[position].action is None else f"action {position + 1}"

    def _controls(self):
        last = len(self.steps) - 1
        play = ipw.Play(max=last, interval=250, layout=ipw.Layout(width="150px"))
        self._slider = ipw.IntSlider(max=last, readout=False, layout=ipw.Layout(width="300px"))
        self._link = ipw.jslink((play, "value"), (self._slider, "value"))
        return [play, self._slider]


# ---------------------------------------------------------------------------------------- explore


class ExploreWidget(_Pictured):
    """Choose what a figure shows, from a menu for each choice.

    draw: called with the options chosen, by name; returns the matplotlib ax (or axes) it drew.
    choices: name=[options]; the first of each is chosen at the start, and what it shows is the
    picture where no kernel runs. `.choose(name=option)` does what the menus do.
    Raises ValueError for a choice without options.
    """

    def __init__(self, draw, **choices):
        for name, options in choices.items():
            if not len(options):
                raise ValueError(f"choice {name!r}: there is nothing to choose from")
        self.draw, self.message = draw, ipw.HTML()
        self.image = ipw.Image(format="png", layout=_image().layout)
        self._menus = {name: self._menu(name, options) for name, options in choices.items()}
        row = ipw.Box(list(self._menus.values()), layout=ipw.Layout(flex_flow="row wrap"))
        super().__init__([row, self.image, self.message])
        for menu in self._menus.values():
            menu.observe(self._changed, "value")
        self._changed()
        self._first = self.image.value

    chosen = property(
        lambda self: {name: menu.value for name, menu in self._menus.items()},
        doc="What is chosen: {name: option}.",
    )

    def choose(self, **options):
        """Choose options by name, as the menus do."""
        for name, option in options.items():
            self._menus[name].value = option

    @_loud
    def _changed(self, change=None):
        axes, file = self.draw(**self.chosen), BytesIO()
        figure = getattr(axes, "figure", None) or axes.flat[0].figure
        figure.savefig(file, format="png", dpi=figure.dpi)
        plt.close(figure)  # or the notebook would show it once more
        self.image.value, self.message.value = file.getvalue(), ""

    def _menu(self, name, options):
        layout = ipw.Layout(width="300px")
        return ipw.Dropdown(options=list(options), description=name, layout=layout)

    def _repr_mimebundle_(self, **kwargs):
        bundle = ipw.VBox._repr_mimebundle_(self, **kwargs)
        shown = ", ".join(f"{name} {options.options[0]}" for name, options in self._menus.items())
        picture = base64.b64encode(self._first).decode()
        return {**bundle, "text/plain": f"<figure: {shown}>", "image/png": picture}
