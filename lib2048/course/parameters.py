"""What papermill puts behind a notebook's cell of parameters: checked before it counts.

`budget` calls `watch`, and every notebook of ours has a budget among its parameters.  papermill
writes what it was given into a cell of its own, the next one, which begins with a comment.
"""

import ast
import difflib
import math
import sys

MARK = "# Parameters"
REAL = ("SECONDS", "MINUTES", "MS")  # in a name: any number above 0, also where ours is whole
SEED = "SEED"  # in a name: a number may be 0 or below


class NoParameter(ValueError):
    """Says in one line which parameter cannot be, and what it may be."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


def watch():
    """Check the next cell that is run, if it is one of papermill's; called in a notebook's cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        watching = shell.input_transformers_cleanup
        if not any(isinstance(each, _Watch) and each.is_new for each in watching):
            watching.append(_Watch(shell))


class _Watch:
    """Looks at the cell behind the present one; IPython calls it with the lines of each."""

    def __init__(self, shell):
        self.shell, self.cells = shell, shell.history_manager.input_hist_raw
        self.count = len(self.cells)

    @property
    def is_new(self):
        """Whether no other cell has been run since."""
        return len(self.cells) == self.count

    def __call__(self, lines):
        if not self.is_new:
            self.shell.input_transformers_cleanup.remove(self)
        elif lines and lines[0].strip() == MARK:
            said = self.cells[-1]
            names = [name for name in _assigned(said) if name in self.shell.user_ns]
            check({name: self.shell.user_ns[name] for name in names}, _values("".join(lines)))
        return lines


def _assigned(text):
    """Return the names that a cell assigns to."""
    nodes = ast.walk(ast.parse(text))
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _values(text):
    """Return {name: value} of what papermill writes: nothing but numbers, texts, lists, dicts."""
    found = {}
    try:
        exec(text, {"__builtins__": {"float": float}}, found)
    except Exception:  # somebody else's cell
        return {}
    return found


def check(known, given):
    """Raise `NoParameter` where a value is given that cannot stand in place of ours.

    known: {name: our value}; given: {name: value}.
    """
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, 1) or known
            raise NoParameter(f"there is no parameter {name} here: use {', '.join(close)}")
        if wanted := _lacks(name, known[name], value):
            raise NoParameter(f"{name} = {value!r}: use {wanted}, such as ours, {known[name]!r}")


def _lacks(name, ours, value):
    """Say what a value should be, None where it may stand in place of ours."""
    if isinstance(ours, bool):
        return None if isinstance(value, bool) else "True or False"
    if isinstance(ours, (int, float)):
        return _lacks_number(name, ours, value)
    if isinstance(ours, str):
        return None if isinstance(value, str) and value.strip() else "a text"
    if isinstance(ours, (list, tuple, range)):
        fits = isinstance(value, (list, tuple)) and value
        each = (_lacks(name, ours[0], one) for one in value) if fits and ours else ()
        inner = next(filter(None, each), None)
        return inner and f"in its list {inner}" if fits else "a list"
    if isinstance(ours, dict):
        fits = isinstance(value, dict) and all(isinstance(key, str) for key in ours)
        return None if fits else "what is written in the notebook, or change it there"
    return None


def _lacks_number(name, ours, value):
    kinds, what = (int, "a whole number") if isinstance(ours, int) else ((int, float), "a number")
    if any(word in name for word in REAL):
        kinds, what = (int, float), "a number"
    wanted = what if SEED in name else f"{what} above 0"
    fits = isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < math.inf
    return None if fits and (SEED in name or value > 0) else wanted
