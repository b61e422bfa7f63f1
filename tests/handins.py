"""Answers and hand-ins for tests: right, untouched, changed; and what an LMS makes of them."""

import json
import re
import zipfile
from pathlib import Path

from lib2048.course import labs
from lib2048.course.labs.checks import check_text, lab_seed
from lib2048.course.labs.exercise import find
from lib2048.course.labs.messages import _table, known

HOMEWORK = Path(__file__).resolve().parents[1] / "notebooks" / "homework"
SOURCE = HOMEWORK / "source" / "hw01" / "hw01.ipynb"
RELEASE = HOMEWORK / "release" / "hw01" / "hw01.ipynb"


def solution(student="S1"):
    """Return a notebook with all solutions, as a dict."""
    return _of(SOURCE, student)


def filled(student="S1", **texts):
    """Return a notebook as a right student leaves it: what was given out, and answers in it.

    texts: {name of a cell: other text}.
    """
    given, right = untouched(student), solution()
    for one in given["cells"]:
        if (name := grade_id(one)) and one["metadata"]["nbgrader"]["solution"]:
            answer = "".join(cell(right, name)["source"])
            one["source"] = texts.get(
                name,
                f"An answer with a reason: {answer}" if one["cell_type"] == "markdown" else answer,
            )
    return given


def untouched(student="S1"):
    """Return a notebook as it is given out, as a dict."""
    return _of(RELEASE, student)


def _of(path, student):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    [line] = [one for one in notebook["cells"] if "STUDENT = " in "".join(one["source"])]
    line["source"] = f'STUDENT = "{student}"  # yours'
    return notebook


def cell(notebook, name):
    """Return the cell of this name."""
    [found] = [cell for cell in notebook["cells"] if grade_id(cell) == name]
    return found


def grade_id(cell):
    """Return nbgrader's name of a cell, None for none."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id")


def without_games(notebook):
    """Take the cell out that plays the games: it takes the longest, and gives no marks."""
    kept = [cell for cell in notebook["cells"] if "compare(scores" not in "".join(cell["source"])]
    return notebook | {"cells": kept}


def changed(student, **texts):
    """Return the solution with some cells replaced."""
    notebook = without_games(solution(student))
    for name, text in texts.items():
        cell(notebook, name)["source"] = text
    return notebook


def edited(student, **edits):
    """Return the solution with an old text exchanged for a new one in some cells."""
    texts = {name: "".join(cell(solution(), name)["source"]) for name in edits}
    assert all(old in texts[name] for name, (old, _) in edits.items())
    return changed(student, **{name: texts[name].replace(*edit) for name, edit in edits.items()})


def data(notebook):
    """Return the bytes of a notebook's file."""
    return json.dumps(notebook).encode()


def download(path, entries):
    """Write a zip file as an LMS gives it; entries: [(name, bytes, "2026-03-01 12:00"), …]."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content, *when in entries:
            hour, minute = map(int, (when or ["12:00"])[0].split(":"))
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, hour, minute, 0)), content)
    return path


def moodle(path, *entries):
    """Write a zip file as Moodle gives it; entries: (who, "hw01.ipynb", bytes, "12:00"), …"""
    named = [(f"{who}_assignsubmission_file_/{name}", *more) for who, name, *more in entries]
    return download(path, named)


def check_changed(name, edits, part=None):
    """Check the right answer of an exercise with some of its text changed, see `changed`."""
    text = "from lib2048.course.labs.exercise import changed, find\n"
    text += f"answer = changed(find({name!r}).truth, *{tuple(edits)!r})\n"
    return check_text(find(name), text + 'FUNCTIONS = {"function": answer}', part, lab_seed())


def check_answer(lab, text, part=None):
    """Check a text whose last function is an answer to the exercise of its name."""
    name = text.rpartition("\ndef ")[2].partition("(")[0]
    text += f'\nFUNCTIONS = {{"function": {name}}}'
    return check_text(find(f"{lab}.{name}"), text, part, lab_seed())


def said(lab, name, function, key, part=None):
    """Assert that an answer fails by a message, of the exercise or of all labs.

    function: the answer, or what it changes in the right one; whatever fills the message's words.
    """
    check = labs.check if callable(function) else check_changed
    result = check(f"{lab}.{name}", function, part)
    assert result.status == "failed", result
    assert is_said(message_of(find(f"{lab}.{name}"), key), result.reason), result


def message_of(exercise, name):
    """Return the message that is the first word of a name: of the exercise, or of all labs."""
    own = exercise.message(name)
    return own if known(own) else f"labs.{name.partition(' ')[0]}"


def is_said(message, text):
    """Tell whether a text is a message of the table, whatever fills its words."""
    pattern = re.sub(r"\\\{[^}]*\\\}", ".*", re.escape(_table()[message]))
    return re.fullmatch(pattern, text, re.S)
