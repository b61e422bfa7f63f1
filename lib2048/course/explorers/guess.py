"""Guesses that are drawn on empty axes before a result is shown, and the truth over them after."""

import math
from typing import NamedTuple

from traitlets import Dict

from lib2048.course.predictions import YOURS, as_said
from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.words import escaped

TRUTH = "#0072b2"
GREY = "#666666"
WIDE, TALL, FLAT = 460, 170, 36  # of a picture: the axes, of a curve and of a number


class Axis(NamedTuple):
    """What an axis shows: numbers from `low` to `high`, in a unit, of what `title` says."""

    low: float
    high: float
    unit: str
    title: str = ""

    def share(self, number):
        """Return how far along the axis a number lies, from 0 to 1."""
        return min(1.0, max(0.0, (number - self.low) / (self.high - self.low)))


class Guess(BrowserWidget):
    """Empty axes on which a reader drags a dot, or a line; later the truth is drawn over it.

    Args:
        name: of the prediction, such as "06.1".
        axis: `Axis` of the number that is guessed.
        over: the `Axis` below a curve, None where one number is guessed.
        kept: (value, curve) that were said before, each None where there is none.
        said: a line to begin with.
        keep: a function of (value, curve) that keeps a guess and returns a line to say.
    """

    entry = "guess.js"
    about = Dict().tag(sync=True)
    state = Dict().tag(sync=True)

    def __init__(self, name, axis, over, kept, said, keep):
        self._axis, self._over, self._keep = axis, over, keep
        value, curve = kept
        about = {"name": name, "axis": axis._asdict(), "over": over and over._asdict()}
        state = {"value": value, "curve": curve, "truth": None, "said": said}
        super().__init__(about=about, state=state)

    def _answer(self, message):
        if message["kind"] == "guess":
            value, curve = float(message["value"]), message["curve"]
            if not math.isfinite(value):
                raise ValueError("a guess is a number")
            value = int(value) if value.is_integer() else value
            said = self._keep(value, curve)
            self.state = self.state | {"value": value, "curve": curve, "said": said}
            self._draw_again()

    def reveal(self, truth):
        """Draw the truth over the guess; truth: a number, or [(x, y)] for a curve.

        The picture that a saved page keeps stays empty where nothing was guessed.
        """
        self.state = self.state | {"truth": truth}
        if self.state["value"] is not None:
            self._draw_again()

    def static(self):
        """Return a `Picture` of the axes, with the guess and the truth where there is one."""
        value, curve, truth = (self.state[key] for key in ("value", "curve", "truth"))
        known = isinstance(value, int | float)
        dots, lines = [], []
        if self._over is None:
            dots = [(value, YOURS), (truth, TRUTH)] if known else []
        elif known:
            lines = [(curve or [], YOURS), (truth or [], TRUTH)]
        picture = _axes(self._axis, self._over, dots, lines)
        asked = "Your guess goes here, before you see the result."
        said = f"Your guess: {as_said(value)} {self._axis.unit}" if known else asked
        return picture.captioned(said)


def _axes(axis, over, dots, lines):
    """Return a `Picture` of axes; dots: (number, colour); lines: ([(x, y)], colour)."""
    across, tall = over or axis, TALL if over else FLAT
    body = [f'<path d="M0 {tall}h{WIDE}" stroke="{GREY}" fill="none"/>']
    for end, anchor in ((across.low, "start"), (across.high, "end")):
        at = WIDE * across.share(end)
        body.append(_text(at, tall + 16, f"{as_said(end)} {across.unit}", GREY, anchor))
    if over:
        body += [f'<path d="M0 0v{TALL}" stroke="{GREY}" fill="none"/>']
        body.append(_text(6, 10, f"{axis.title or axis.unit}, up to {as_said(axis.high)}", GREY))
    else:
        body.append(_text(0, 4, axis.title, GREY))
    for number, colour in dots:
        if number is not None:
            at = WIDE * axis.share(number)
            body.append(f'<circle cx="{at:.1f}" cy="{tall - 8}" r="6" fill="{colour}"/>')
    for line, colour in lines:
        places = ((WIDE * over.share(x), TALL * (1 - axis.share(y))) for x, y in line)
        if way := "L".join(f"{x:.1f} {y:.1f}" for x, y in places):
            look = f'stroke="{colour}" stroke-width="2" fill="none"'
            body.append(f'<path d="M{way}" {look}/>')
    words = f"axes of {axis.title or 'a guess'}, in {axis.unit}"
    return draw.Picture("\n".join(body), WIDE, tall + 22, words)


def _text(x, y, words, colour, anchor="start"):
    look = f'font-size="12" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escaped(words)}</text>'
