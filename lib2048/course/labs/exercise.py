"""What an exercise of a lab is, and where to find one."""

import contextlib
import functools
import importlib
import inspect
import itertools
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lib2048.course.labs.messages import known
from lib2048.course.labs.seeds import RULES, rules_of
from lib2048.machine.extras import is_there

LABS = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("hw*/__init__.py")))


@dataclass(frozen=True)
class Exercise:
    """One function that a student writes, and how an answer is judged.

    lab: "hw01"; truth: the library's version, which says how the function is called, and with what;
    it may call those that come before it in its lab.  cases(random) returns a list of argument
    tuples to try it on, small ones first, random: np.random.Generator.  parts: {name of a part:
    cases(random)} instead, where an exercise is graded in parts.  looks: {name of a part: what of
    an outcome is compared in it}, where parts have the same cases.  mistakes: {message: a typical
    wrong version}, a function, or what is changed in the text of the truth, (old, new, …) as
    `changed` takes it; the message stands in the lab's messages.toml.  Of several versions with one
    message, each has a word of its own behind it: "odds 0.2".

    slips: {name: wrong version} as well, of such as need no message of their own, or get one by a
    verdict: the first word of the name.  No cases may let a mistake or a slip pass.

    outcome(function, *arguments) → what is compared, by default what the function returns.  It runs
    beside the student's code and decides nothing: it returns numbers, texts, lists, tuples, dicts
    and arrays, and raises `Wrong` only where there is nothing to return.  verdict(case, outcome) →
    what is compared, in the judge's process; it raises `Wrong` for what is wrong by itself.
    same(expected, got) → bool.  compiles: whether numba has to compile it, too.
    needs: packages beyond the core, known to `machine.extras.EXTRAS`.  show: how arguments are
    drawn, by name: "board" (uint64, which is drawn so by itself), "boards" (uint64[n]), "rows"
    (lists of tiles), "row" (one row of tiles), "text", "hidden".  result: likewise, of what it
    returns.
    given(case) → {label: text}: what else is said of a case; tell(case, outcome) → text: how an
    outcome is said, instead of being shown; features(case) → {"the number of turns": 3, "yes the
    game is over": True}: by what wrong cases may be told from right ones, beside what `places` sees
    by itself.
    """

    lab: str
    truth: Callable
    cases: Callable = None
    parts: dict = field(default_factory=dict)
    looks: dict = field(default_factory=dict)
    mistakes: dict = field(default_factory=dict)
    slips: dict = field(default_factory=dict)
    outcome: Callable = None
    verdict: Callable = None
    same: Callable = None
    compiles: bool = False
    needs: tuple = ()
    show: dict = field(default_factory=dict)
    result: str = "text"
    given: Callable = None
    tell: Callable = None
    features: Callable = None

    @property
    def function(self):
        """The function's name: slide_row."""
        return self.truth.__name__

    @property
    def name(self):
        """The exercise's name: hw01.slide_row."""
        return f"{self.lab}.{self.function}"

    @property
    def parameters(self):
        """The names of the parameters, as a list."""
        return list(inspect.signature(self.truth).parameters)

    @property
    def call(self):
        """How it is called: slide_row(row)."""
        return f"{self.function}({', '.join(self.parameters)})"

    @functools.cached_property
    def wrong(self):
        """The known wrong versions, mistakes and slips, {name: function}."""
        return {
            key: made if callable(made) else changed(self.truth, *made)
            for key, made in (self.mistakes | self.slips).items()
        }

    @property
    def edits(self):
        """The mistakes that are edits, one of each message: two of them can be put together."""
        some = self.mistakes.items()
        return {key: made for key, made in some if not callable(made) and " " not in key}

    def message(self, mistake):
        """Return the key of a mistake's message: of the exercise, or of `both` in its lab."""
        key = f"{self.name}.{mistake.partition(' ')[0]}"
        return key if known(key) else key.replace(self.name, f"{self.lab}.both")

    @property
    def missing(self):
        """The packages that it needs and that are not installed, as a list."""
        return [name for name in self.needs if not is_there(name)]

    @property
    def draws(self):
        """What draws the cases, {part: cases(random)}; {None: cases} where there are no parts."""
        return self.parts or {None: self.cases}

    def drawn(self, seed, part, number):
        """Return the cases of a part in one round of drawing; see `cases.Trial` for which count."""
        key = self.name, seed, part, number
        if key not in _drawn:
            at = list(self.draws).index(part)
            _drawn[key] = self.draws[part](np.random.default_rng([seed, at, number]))
        return _drawn[key]


_drawn = {}  # cases that were drawn already; whoever tries a function on them gives it copies


def changed(function, *edits, **others):
    """Return what a function is when some of its text is changed: old, new, old, new, …

    So a typical mistake is written as what differs from the right answer.  Every old text may
    occur several times; ValueError where it does not occur.  others: what else stands behind names
    that the text uses.  Decorators are left out; the new text can be read, and changed, in turn.
    """
    text = inspect.getsource(function)
    text = text[text.index("def ") :]
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if old not in text:
            raise ValueError(f"{function.__name__} holds no {old!r}")
        text = text.replace(old, new)
    room, file = function.__globals__ | others, f"<changed {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), room)
    return room[text[len("def ") : text.index("(")]]


_numbers = itertools.count(1)


def of_other_classes(lab, rule, truth, old, new, word=None):
    """Return {message: version} of other classes' answers; new: with {} for what they draw.

    rule: of `seeds.RULES`; word: of the message, by default the rule.
    """
    plain, drawn = RULES[lab][rule]
    others = (n for n in (plain, *drawn) if n != rules_of(lab).more[rule])
    return {f"{word or rule} {n}": changed(truth, old, new.format(n)) for n in others}


@contextlib.contextmanager
def watched(function, *names, most=None, keep=None):
    """Yield a list of the calls that a function makes of these names: (name, arguments, answer).

    With so many calls, `most`, the block is over; of more than `keep` the later ones are dropped.
    """
    room, calls = function.__globals__, []
    own = {name: room[name] for name in names if name in room}

    def watching(name):
        signature = inspect.signature(own[name])

        def call(*arguments, **named):
            if len(calls) == most:
                raise _Enough
            bound = signature.bind(*arguments, **named)
            bound.apply_defaults()  # of a parameter that the student gave one
            answer = own[name](*bound.args)
            if len(calls) != keep:
                calls.append((name, bound.args, answer))
            return answer

        return call

    room.update({name: watching(name) for name in own})
    try:
        yield calls
    except _Enough:
        pass
    finally:
        room.update(own)


class _Enough(Exception):
    """Ends a function that would never end."""


class Wrong(Exception):
    """Raised by an `outcome` that need not be compared to be wrong: a message, and its words."""


def wrong_if(fault, message, **words):
    """Raise `Wrong` where there is a fault."""
    if fault:
        raise Wrong(message, words)


def of_lab(lab):
    """Return the exercises of a lab, {name of the function: Exercise}, in their order.

    Raises ValueError for another lab.
    """
    if lab not in LABS:
        raise ValueError(f"no lab {lab!r}: use {', '.join(LABS)}")
    return _exercises(lab)


@functools.cache
def _exercises(lab):
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
