"""What an exercise of a lab is, and where to find one."""

import contextlib
import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LABS = ("hw01", "hw02", "hw03", "hw04", "hw05", "hw06", "hw07", "hw08", "hw09")


@dataclass(frozen=True)
class Exercise:
    """One function that a student writes, and how an answer is judged.

    name: "hw01.slide_row"; call: how it is called, "slide_row(row)"; truth: the library's version,
    with the same parameters.  cases(random) returns a list of argument tuples to try it on, small
    ones first, random: np.random.Generator.  parts: {name of a part: cases(random)} instead, where
    an exercise is graded in parts.  mistakes: {message: a typical wrong version}; the message
    stands in the lab's table of messages.

    outcome(function, *arguments) → what is compared, by default what the function returns; it may
    raise `Wrong`.  same(expected, got) → bool.  uses: exercises of the same lab that it may call.
    compiles: whether numba has to compile it, too.  needs: packages beyond the core, known to
    `checks.EXTRAS`.  show: how each argument is drawn, by name: "board" (uint64), "boards"
    (uint64[n]), "rows" (lists of tiles), "row" (one row of tiles), "text", "hidden".  result:
    likewise, of what it returns.  given(case) → {label: text}: what else is said of a case;
    tell(case, outcome) → text: how an outcome is said, instead of being shown.
    """

    name: str
    call: str
    truth: Callable
    cases: Callable = None
    parts: dict = field(default_factory=dict)
    mistakes: dict = field(default_factory=dict)
    outcome: Callable = None
    same: Callable = None
    uses: tuple = ()
    compiles: bool = False
    needs: tuple = ()
    show: dict = field(default_factory=dict)
    result: str = "text"
    given: Callable = None
    tell: Callable = None

    @property
    def lab(self):
        """The lab's name: hw01."""
        return self.name.partition(".")[0]

    @property
    def missing(self):
        """The packages that it needs and that are not installed, as a list."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]

    @property
    def function(self):
        """The function's name: slide_row."""
        return self.call.partition("(")[0]

    @property
    def parameters(self):
        """The names of the parameters, as a list."""
        inside = self.call.partition("(")[2].removesuffix(")")
        return [name.strip() for name in inside.split(",") if name.strip()]

    def all_cases(self, seed, part=None):
        """Return the cases of a part, or of all.  Raises ValueError where there is no such part."""
        parts = self.parts or {None: self.cases}
        if part is not None and part not in parts:
            raise ValueError(f"{self.name} has no part {part!r}: use {', '.join(self.parts)}")
        if (cases := _drawn.get((self.name, seed, part))) is None:
            cases = _drawn[self.name, seed, part] = self._draw(parts, seed, part)
        return cases

    def _draw(self, parts, seed, part):
        chosen = [part] if part is not None else list(parts)
        random = {name: np.random.default_rng([seed, at]) for at, name in enumerate(parts)}
        return [case for name in chosen for case in parts[name](random[name])]


_drawn = {}  # cases that were drawn already; whoever tries a function on them gives it copies


@contextlib.contextmanager
def standing_in(function, **others):
    """Let other functions stand in for those of these names that a function calls, for a while."""
    room = function.__globals__
    own = {name: room[name] for name in others if name in room}
    room.update({name: others[name] for name in own})
    try:
        yield
    finally:
        room.update(own)


class Wrong(Exception):
    """Raised by an `outcome` that need not be compared to be wrong; the argument is a message."""


def of_lab(lab):
    """Return the exercises of a lab, {name of the function: Exercise}, in their order.

    Raises ValueError for another lab.
    """
    if lab not in LABS:
        raise ValueError(f"no lab {lab!r}: use {', '.join(LABS)}")
    return _read(lab)


@functools.cache
def _read(lab):
    return {exercise.function: exercise for exercise in _module(lab).EXERCISES}


def _module(lab):
    return importlib.import_module(f"lib2048.course.labs.{lab}")


def hand_in(lab):
    """Return what is handed in with a lab's notebook: its HAND_IN, of report, curve, config."""
    return getattr(_module(lab), "HAND_IN", ())


def cell_seconds(lab):
    """Return which cells may take longer than those of other labs: CELL_SECONDS, {name: seconds}.

    name: of a graded cell, or "any" for each cell of the lab.
    """
    return getattr(_module(lab), "CELL_SECONDS", {})


def find(name):
    """Return an exercise by its name, "hw04.update", or its number, "hw04.3"."""
    lab, _, which = str(name).partition(".")
    exercises = of_lab(lab)
    if which.isdigit() and 0 < int(which) <= len(exercises):
        return list(exercises.values())[int(which) - 1]
    if which not in exercises:
        raise ValueError(f"no exercise {name!r}: use {', '.join(f'{lab}.{e}' for e in exercises)}")
    return exercises[which]
