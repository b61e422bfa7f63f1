"""The cases of an exercise: drawn from a seed until they tell every known wrong answer."""

import functools
import os
import subprocess
import sys
from typing import NamedTuple

from lib2048.course.labs.exercise import LABS, Wrong, find, of_lab
from lib2048.course.labs.messages import say
from lib2048.course.labs.outcomes import (
    RETURNED,
    WRONG,
    Foreign,
    Outcome,
    equal,
    kind_of,
    outcome_of,
)
from lib2048.course.labs.seeds import class_game
from lib2048.course.labs.seeds import class_seed as own_seed

ROUNDS = 20  # of drawing, before a seed is called unlucky


class Unreadable(Exception):
    """Raised where a verdict of ours fails on what it was given: that is our fault."""


class Pick(NamedTuple):
    """A case by where it comes from: the part, the round of drawing, its index there."""

    part: str
    number: int
    index: int


@functools.lru_cache(64)
def trial(name, seed):
    """Return the `Trial` of an exercise, by its name, and a seed."""
    return Trial(find(name), seed)


class Trial:
    """The cases of an exercise for a seed, and what right and wrong versions make of them."""

    def __init__(self, exercise, seed):
        self.exercise, self.seed = exercise, seed
        self._known = {}

    def case(self, pick):
        """Return a case; whoever tries a function on it gives it a copy."""
        return self.exercise.drawn(self.seed, pick.part, pick.number)[pick.index]

    def picks(self, part=None):
        """Return the `Pick`s of a part, or of all.  Raises ValueError where there is no such part.

        They are those of the first round, and of later rounds what tells a wrong version that no
        case before it has told.
        """
        exercise = self.exercise
        if part is not None and part not in exercise.parts and part not in exercise.looks:
            parts = ", ".join([*exercise.parts, *exercise.looks])
            raise ValueError(f"{exercise.name} has no part {part!r}: use {parts}")
        drawn = part if part in exercise.parts else None
        return [pick for pick in self._picked if drawn in (None, pick.part)]

    @functools.cached_property
    def _picked(self):
        found = self._round(0)
        untold = [
            name
            for name in self.exercise.wrong
            if not any(self.tells(pick, name) for pick in found)
        ]
        for number in range(1, ROUNDS):
            for pick in self._round(number) if untold else []:
                if told := [name for name in untold if self.tells(pick, name)]:
                    untold = [name for name in untold if name not in told]
                    found.append(pick)
        if untold:
            name, these = self.exercise.name, ", ".join(untold)
            raise ValueError(say("labs.unlucky", seed=self.seed, name=name, these=these))
        return found

    def _round(self, number):
        return [
            Pick(part, number, index)
            for part in self.exercise.draws
            for index in range(len(self.exercise.drawn(self.seed, part, number)))
        ]

    def expected(self, pick):
        """Return the outcome of the right answer."""
        return self.made(pick, None)

    def made(self, pick, name):
        """Return the outcome of a wrong version, of the right one for None."""
        if (pick, name) not in self._known:
            version = self.exercise.truth if name is None else self.exercise.wrong[name]
            case = self.case(pick)
            outcome = outcome_of(self.exercise, version, case)
            self._known[pick, name] = settled(self.exercise, case, outcome)
        return self._known[pick, name]

    def tells(self, pick, name, part=None):
        """Say whether a case tells a wrong version from the right one."""
        return not same(self.exercise, self.expected(pick), self.made(pick, name), part)

    def seen(self, name):
        """Return the parts that tell a wrong version, as a set."""
        parts = [*self.exercise.parts, *self.exercise.looks] or [None]
        return {
            part for part in parts if any(self.tells(pick, name, part) for pick in self.picks(part))
        }


def settled(exercise, case, outcome):
    """Return an outcome after the exercise's verdict.  Raises `Unreadable` where that fails."""
    if outcome.kind != RETURNED or not exercise.verdict:
        return outcome
    try:
        return Outcome(RETURNED, exercise.verdict(case, outcome.value))
    except Wrong as wrong:
        return Outcome(WRONG, *wrong.args)
    except Exception as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def same(exercise, one, other, part=None):
    """Say whether two settled outcomes are the same, in what the part looks at."""
    if one.kind != other.kind or one.kind != RETURNED:
        return one.kind == other.kind and one.value == other.value
    if not exercise.outcome and other_kind(one.value, other.value):
        return False
    try:
        look = exercise.looks.get(part, lambda value: value)
        return bool((exercise.same or equal)(look(one.value), look(other.value)))
    except Exception:  # of another form altogether
        return False


def other_kind(expected, got):
    """Return the first two parts of two values whose types are not comparable, None for none."""
    if kind_of(expected) != kind_of(got) or isinstance(got, Foreign):
        return expected, got
    parts = isinstance(expected, tuple) and len(expected) == len(got) and zip(expected, got)
    return next(filter(None, (other_kind(*pair) for pair in parts or ())), None)


def refuse_unlucky(seed, class_seed, game, labs=LABS):
    """Look whether the cases of labs tell every known wrong answer, in a class with its own rules.

    seed: that cases are drawn from; class_seed, game: the class's.  Raises ValueError, in one line,
    for a seed whose cases do not.
    """
    if (class_seed, game) == (own_seed(), class_game().name):
        return tell_all(seed, labs)
    # The rules of a process stay what they are.
    code = f"from {__name__} import tell_all; tell_all({seed}, {[*labs]})"
    rules = {"LIB2048_CLASS_SEED": str(class_seed), "LIB2048_CLASS_GAME": game}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | rules, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr.strip().rpartition("\n")[2].removeprefix("ValueError: "))


def tell_all(seed, labs):
    """Draw the cases of all exercises of labs.  Raises ValueError as `refuse_unlucky` does."""
    for exercise in (exercise for lab in labs for exercise in of_lab(lab).values()):
        if not exercise.missing:
            trial(exercise.name, seed).picks()
