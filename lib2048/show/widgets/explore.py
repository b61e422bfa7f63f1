"""Figures with a choice, built from ipywidgets alone."""

import base64
import functools
import traceback
from html import escape
from io import BytesIO

import ipywidgets as ipw
import matplotlib.pyplot as plt


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


class ExploreWidget(ipw.VBox):
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
        layout = ipw.Layout(max_width="100%", align_self="flex-start")  # not stretched
        self.image = ipw.Image(format="png", layout=layout)
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
        bundle = super()._repr_mimebundle_(**kwargs)
        shown = ", ".join(f"{name} {options.options[0]}" for name, options in self._menus.items())
        picture = base64.b64encode(self._first).decode()
        return {**bundle, "text/plain": f"<figure: {shown}>", "image/png": picture}
