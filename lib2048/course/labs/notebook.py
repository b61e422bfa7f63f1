"""A lab's notebook as it is handed in: which lab, whose, what is not attempted; plain JSON."""

import json
import re
from collections import Counter

from lib2048.course.labs.exercise import LABS
from lib2048.course.labs.messages import say

NOT_ATTEMPTED = "raise NotImplementedError"
NO_ANSWER = "YOUR ANSWER HERE"
AS_HANDED_IN = "as-handed-in"  # the tag of long cells without marks: a grader runs them not again
NOBODY = "0000"


class Refused(ValueError):
    """Says in words why a file is no hand-in."""


def parse(data, name):
    """Return a notebook, a dict, from the bytes of its file.  Raises `Refused` for another file.

    name: of the file, for the error.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = notebook["cells"]
        if all(isinstance(source(cell), str) for cell in cells):
            return notebook
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    raise Refused(say("hand_in.no_notebook_file", name=name))


def source(cell):
    """Return a cell's text, which files may hold as a list of lines."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def grading(cell):
    """Return what nbgrader notes of a cell, {} for nothing."""
    found = cell.get("metadata", {}).get("nbgrader")
    return found if isinstance(found, dict) else {}


def lab_of(notebook):
    """Return the lab that a notebook belongs to, None for another notebook.

    A release says it in its metadata.  Where an editor dropped that, cell ids and the title do.
    """
    said = notebook.get("metadata", {}).get("lib2048", {})
    ids = Counter(str(cell.get("id", ""))[:4] for cell in notebook["cells"])
    titles = [source(cell)[:6].removeprefix("# ") for cell in notebook["cells"][:3]]
    found = [said.get("lab") if isinstance(said, dict) else None, *titles]
    found += [lab for lab, _ in ids.most_common()]
    return next((lab for lab in found if lab in LABS), None)


def student_of(notebook):
    """Return the student's number or name, "" for none.

    It stands in a line of code, STUDENT = "123", where "0000" is none.
    """
    code = "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    line = re.search(r"""^STUDENT *= *(["']?)(.*?)\1 *(#.*)?$""", code, re.MULTILINE)
    name = line[2].strip()[:60] if line else ""
    return "" if name == NOBODY else name


def not_attempted(notebook):
    """Return the names of the cells that are as they were given out: (functions, answers)."""
    names = ([], [])
    for cell in notebook["cells"]:
        mine = grading(cell)
        if not mine.get("solution"):
            continue
        if NOT_ATTEMPTED in source(cell) and cell["cell_type"] == "code":
            names[0].append(mine.get("grade_id"))
        elif source(cell).strip() == NO_ANSWER:
            names[1].append(mine.get("grade_id"))
    return names


def without_outputs(notebook):
    """Return a copy of a notebook without what its cells showed."""
    cells = [
        cell | ({"outputs": [], "execution_count": None} if "outputs" in cell else {})
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def to_bytes(notebook):
    """Return the bytes of a notebook's file."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()
