"""What a check says: a status, a reason in words, and the smallest failing case as a picture."""

import re
from dataclasses import dataclass, field
from html import escape

from lib2048.course.labs.messages import known, say
from lib2048.show import draw

NOT_ATTEMPTED, PASSED, FAILED = "not attempted", "passed", "failed"
MARKS = {NOT_ATTEMPTED: "○", PASSED: "✓", FAILED: "✗"}
COLOURS = {NOT_ATTEMPTED: "#776e65", PASSED: "#00614b", FAILED: "#a33b00"}


class Failed(AssertionError):
    """Raised by `require` for an answer that did not pass, with the result's text."""


# Code, which stays as it is, or words between asterisks: no product, no *arguments.
EMPHASIS = re.compile(r"(`[^`]+`)|(?<![\w*])\*(\w(?:[^*`]*\w)?)\*(?![\w*])")


@dataclass(frozen=True)
class Checked:
    """The result of one check.

    Attributes:
        name: of the exercise.
        status: "not attempted", "passed" or "failed".
        cases: how many were tried.
        reason: what went wrong, in words, "" for nothing.
        shown: [label, kind, value] of the smallest failing case.
        stood_in: functions of the library that the answer called instead of missing or wrong ones.
        printed: what the function printed.
        ended: whether the function had to be stopped, or ended its process.
        judged: False where no check could be run, which is no fault of the function's.
    """

    name: str
    status: str
    cases: int = 0
    wrong: int = 0
    reason: str = ""
    shown: list = field(default_factory=list)
    stood_in: list = field(default_factory=list)
    printed: str = ""
    ended: bool = False
    judged: bool = True

    @property
    def passed(self):
        """Whether the answer passed."""
        return self.status == PASSED

    @property
    def title(self):
        """The result in one line."""
        words = {"cases": self.cases, "wrong": self.wrong}
        key = {NOT_ATTEMPTED: "not_attempted", PASSED: "passed"}.get(self.status)
        key = key or ("failed" if self.wrong else "failed_at_once")
        key += "_one" if self.cases == 1 and key in ("passed", "failed") else ""
        names = ", ".join(self.stood_in)
        more = f" · {say('labs.stood_in', names=names)}" if names and self.cases else ""
        return f"{MARKS[self.status]} {self.name}: {say(f'labs.{key}', **words)}{more}"

    @property
    def notes(self):
        """The sentences behind the title, as a list."""
        lines = " / ".join(self.printed[:60].splitlines())
        told = say("labs.printed", text=f"`{lines}`") if self.printed else ""
        return [text for text in (self.reason, told) if text]

    def __str__(self):
        shown = [f"{_label(label)}:\n{_as_text(value)}" for label, _, value in self.shown]
        return "\n".join([self.title, *self.notes, *shown])

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        head = f'<b style="color:{COLOURS[self.status]}">{_html(self.title)}</b>'
        notes = "".join(f"<br>{_html(note)}" for note in self.notes)
        texts = "".join(
            f"<br>{escape(_label(label))}: <code>{escape(value['text'])}</code>"
            for label, _, value in self.shown
            if "text" in value
        )
        return f'<div style="max-width:640px">{head}{notes}{texts}{self._pictures()}</div>'

    def _pictures(self):
        drawn = [(label, value) for label, _, value in self.shown if "text" not in value]
        if not drawn:
            return ""
        labels = [label for label, _ in drawn]
        boards = [value["rows"] for _, value in drawn]
        if len({tuple(map(len, board)) for board in boards}) == 1:
            picture = draw.row(boards, [*map(_label, labels)], size=130)
            return f"<br>{picture._repr_html_()}"
        pictures = (draw.board(board, _label(label), 130) for label, board in zip(labels, boards))
        return "<br>" + " ".join(picture._repr_html_() for picture in pictures)


def _html(text):
    """Return a text as HTML: `code` as code, and a *word* with weight."""
    text = EMPHASIS.sub(lambda found: found[1] or f"<em>{found[2]}</em>", escape(text))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def _label(label):
    """Return a label in words; "labs.got reward" is a message and the name of a part."""
    key, _, part = label.partition(" ")
    return f"{say(key)} {part}".strip() if known(key) else label


def _as_text(value):
    if "rows" in value:
        rows = ("".join(f"{tile or '.':>6}" for tile in row) for row in value["rows"])
        return "\n".join(rows)
    return value["text"]
