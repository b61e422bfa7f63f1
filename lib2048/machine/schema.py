"""What a file of JSON must hold, said once: a form; `check` is the one place that compares the two.

A form is one of

* a class, such as str or bool, or `object` for whatever it is; None, a text or a number for itself;
* a `Number` with its range;
* a tuple of forms: one of them;
* [form]: a list of such, [form, n]: of n such;
* {name: form}: a dict with these names; one that ends in "?" may be missing, and str in place of a
  name stands for all others, which are else refused.
"""

import math
import numbers
import reprlib
from typing import NamedTuple

MOST = 2**53  # that every program reads as the same number


def is_number(value, kind=numbers.Real):
    """Say whether a value is a finite number of a kind, and no bool."""
    return isinstance(value, kind) and not isinstance(value, bool) and abs(value) < math.inf


class Number(NamedTuple):
    """A finite number of a range, a whole one unless that is False."""

    low: float = 0
    high: float = MOST
    whole: bool = True

    def __str__(self):
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:,} to {self.high:,}"

    def fits(self, found):
        """Say whether a value is such a number."""
        kinds = int if self.whole else (int, float)
        if not isinstance(found, kinds) or isinstance(found, bool):
            return False
        return self.low <= found <= self.high and math.isfinite(found)


def check(found, form, what):
    """Raise ValueError, in one line, where a value is not what a form says; what: its name."""
    if isinstance(form, dict):
        _check_names(found, form, what)
    elif isinstance(form, list):
        inner, *count = form
        if not isinstance(found, list) or count not in ([], [len(found)]):
            _refuse(found, form, what)
        for number, each in enumerate(found):
            check(each, inner, f"{what}[{number}]")
    elif isinstance(form, tuple) and not isinstance(form, Number):
        if not any(fits(found, each) for each in form):
            _refuse(found, form, what)
    elif not _is(found, form):
        _refuse(found, form, what)


def fits(found, form):
    """Say whether a value is what a form says."""
    try:
        check(found, form, "")
    except ValueError:
        return False
    return True


def _check_names(found, form, what):
    if not isinstance(found, dict):
        _refuse(found, form, what)
    named = {name.removesuffix("?"): each for name, each in form.items() if name is not str}
    if missing := [n for n in named if n not in found and f"{n}?" not in form]:
        raise ValueError(f"{what} lacks {missing[0]}")
    for name, each in found.items():
        if name not in named and str not in form:
            raise ValueError(f"{what} holds {name!r}, which nobody knows")
        check(each, named.get(name, form.get(str)), f"{what} {name!r}")


def _is(found, form):
    if isinstance(form, Number):
        return form.fits(found)
    return isinstance(found, form) if isinstance(form, type) else found == form


def _refuse(found, form, what):
    raise ValueError(f"{what} is {reprlib.repr(found)}, not {said(form)}")


def said(form):
    """Say what a form asks for."""
    if isinstance(form, Number):
        return str(form)
    if isinstance(form, tuple):
        return " or ".join(map(said, form))
    if isinstance(form, list):
        return f"a list of {said(form[0])}" + "".join(f", {n} of them" for n in form[1:])
    if isinstance(form, dict):
        return "an object"
    names = {str: "a text", bool: "true or false", dict: "an object", object: "anything"}
    return names.get(form, repr(form))
