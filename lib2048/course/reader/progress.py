"""How far the reader has come: lessons run, predictions made, exercises passed, what is next."""

import re
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path

from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.notebook import source
from lib2048.course.labs.passed import SECTION as PASSED
from lib2048.course.labs.passed import is_passed
from lib2048.course.predictions import PREDICT
from lib2048.course.predictions import SECTION as PREDICTIONS
from lib2048.course.reader import folder as mine
from lib2048.course.reader.copies import originals, read, shown

LINK = re.compile(r"\]\((?:\.\./)*(\d\d|A\d)_\w+\.ipynb\)")
ENOUGH = 0.8  # of a lesson's cells: one that was left out is no lesson left out
WIDE = 44  # letters of a title


@dataclass(frozen=True)
class Step:
    """A step of the course; a kind of it has `shares`, `finished` and `left`."""

    name: str
    title: str
    file: str

    @property
    def begun(self):
        """Whether the reader has left a trace in it."""
        return any(done for done, _ in self.shares)

    def __str__(self):
        mark = "✓" if self.finished else "●" if self.begun else "○"
        shares = (f"{done} of {of}" if of else "–" for done, of in self.shares)
        return _columns(mark, f"{self.name} {self.title}", *shares)


@dataclass(frozen=True)
class Lesson(Step):
    """A lesson, and what the reader has done of it.

    cells: code cells of the original, run: those that ran in the saved copy; asks: the names of
    the predictions that it asks for, said: those that were made.
    """

    cells: int
    run: int
    asks: list
    said: list

    @property
    def shares(self):
        """What is done, of how many."""
        return (self.run, self.cells), (len(self.said), len(self.asks))

    @property
    def finished(self):
        """Whether its cells have run, all but a few, and half of its predictions were made."""
        return self.run >= ENOUGH * self.cells and 2 * len(self.said) >= len(self.asks)

    @property
    def left(self):
        """What is left to do, in words."""
        open_ones = [name for name in self.asks if name not in self.said]
        guesses = f", predictions to make: {', '.join(open_ones)}" if open_ones else ""
        return f"{self.run} of {self.cells} cells have run{guesses}"


@dataclass(frozen=True)
class Lab(Step):
    """A lab; after: the lessons that it needs; exercises, passed: names."""

    after: list
    exercises: list
    passed: list

    @property
    def shares(self):
        """What is done, of how many."""
        return ((len(self.passed), len(self.exercises)),)

    @property
    def finished(self):
        """Whether all exercises were passed."""
        return len(self.passed) == len(self.exercises)

    @property
    def left(self):
        """What is left to do, in words."""
        return f"{len(self.passed)} of {len(self.exercises)} exercises passed"


@dataclass(frozen=True)
class Progress:
    """Where the reader stands.  lessons, labs: in their order; folder: of the reader's copies."""

    lessons: list
    labs: list
    folder: Path

    @property
    def next(self):
        """The `Lesson` or `Lab` to go on with, None where all is done."""
        main, more = self._path()
        seen = [n for n, step in enumerate(main) if step.begun or step.finished]
        at = seen[-1] if seen else 0
        ahead = [step for step in [*main[at:], *main[:at], *more] if not step.finished]
        return ahead[0] if ahead else None

    def _path(self):
        """Return the steps of the course in order: the numbered lessons, each before the labs
        that it completes; and what may be read at any time, the appendices with theirs.
        """
        main, more = [], []
        for lesson in self.lessons:
            behind = [lab for lab in self.labs if lab.after and max(lab.after) == lesson.name]
            (main if lesson.name.isdigit() else more).extend([lesson, *behind])
        return main, more

    def as_dict(self):
        """Return what --json prints."""
        step = self.next
        todo = {"name": step.name, "file": step.file, "left": step.left} if step else None
        steps = {name: list(map(asdict, getattr(self, name))) for name in ("lessons", "labs")}
        return {"folder": str(self.folder), **steps, "next": todo}

    def __str__(self):
        lessons = [_columns("", "lesson", "cells run", "predictions"), *self.lessons]
        labs = [_columns("", "lab", "exercises"), *self.labs]
        lines = [*lessons, "", *labs, "", MARKS, "", f"Next: {self._advice()}"]
        return "\n".join(map(str, lines))

    def _advice(self):
        """Return in words what to do next."""
        step = self.next
        if step is None:
            return "nothing is left. You have been through the whole course!"
        path = self.folder / step.file
        if not path.exists():
            return (
                "`lib2048 lessons start` puts copies of your own into "
                f"{shown(self.folder)}/; then begin with {step.name} {step.title}."
            )
        verb = "go on with" if step.begun else "begin"
        return f"{verb} {step.name} {step.title} ({step.left}).\n      {shown(path)}"


# ---------------------------------------------------------------- a page for a terminal

MARKS = "  ✓ done   ● begun   ○ still to come"


def _columns(mark, title, *columns):
    """Return one line of a table: a mark, a title, numbers to the right."""
    cells = "".join(f"{column:>14}" for column in columns)
    return f"  {mark:1} {title:{WIDE + 4}}{cells}".rstrip()


# ---------------------------------------------------------------- what there is


def progress():
    """Return the reader's `Progress`.

    Raises ValueError, in one line, where the lessons are not here or the record is damaged.
    """
    record, folder = mine.read(), mine.folder()
    said, passed = record.get(PREDICTIONS, {}), record.get(PASSED, {})
    found = originals().items()
    lessons = [_lesson(file, path, folder, said) for file, path in found if "/" not in file]
    labs = [_lab(file, path, passed) for file, path in found if "/" in file]
    return Progress(lessons, labs, folder)


def _lesson(file, path, folder, said):
    notebook = read(path)
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    asks = list(dict.fromkeys(PREDICT.findall("\n".join(source(cell) for cell in codes))))
    ids = {cell.get("id") for cell in codes}
    run, made = len(ids & _ran(folder / file)), [name for name in asks if name in said]
    return Lesson(path.stem[:2], _title(notebook), file, len(ids), run, asks, made)


def _ran(copy):
    """Return the ids of the cells that have run in the reader's copy, as it was saved."""
    try:
        cells = read(copy)["cells"]
    except (OSError, ValueError):
        return set()
    return {str(cell.get("id")) for cell in cells if cell.get("execution_count")}


def _lab(file, path, passed):
    notebook = read(path)
    exercises = of_lab(path.stem).values()
    done = [one.name for one in exercises if is_passed(one, passed.get(one.name, {}))]
    after = LINK.findall(source(notebook["cells"][0]))
    return Lab(path.stem, _title(notebook), file, after, [one.name for one in exercises], done)


def _title(notebook):
    """Return what a notebook is called: "# 06 · TD(0): how far …" is "TD(0)"."""
    line = source(notebook["cells"][0]).partition("\n")[0]
    return textwrap.shorten(line.partition(" · ")[2].partition(":")[0], WIDE, placeholder=" …")
