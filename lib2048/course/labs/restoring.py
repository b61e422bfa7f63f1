"""A hand-in's cells as they are graded: each known again, whatever an editor has lost of it.

A graded cell is known by the name that nbgrader gave it, by its id, or by what it says: a test by
its `check("hw01.slide", …)`, a function by its `def`, a written answer by the question before it.
"""

import ast
from collections import Counter

import nbformat
from nbformat import NotebookNode, from_dict, v4

from lib2048.course.labs.asked import without_tests
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import (
    AS_HANDED_IN,
    called,
    defined_in,
    grading,
    is_left,
    is_prose,
    is_untouched,
    not_attempted,
    source,
)

MOST_NAMED = 5  # cells, in one note
SHOWN = ("text/plain", "image/png")  # of what a hand-in's long cells had shown


def restored(handed_in, full, lab):
    """Return a hand-in's cells with the grader's test cells in their places, and notes.

    handed_in: a dict of `notebook.parse`; full: `release.full`.  What is graded and how many marks
    it has stands in `full`, whatever the hand-in says; test cells hold what a student sees of them.
    Of cells with one name the last counts.  Tests that are not there stand at the end, where all
    functions are defined; a written answer that nobody finds is left to a person, and so is one
    that may stand in another cell.
    """
    known, cells = graded(full), handed_in["cells"]
    names = _named(cells, full, known)
    long = {cell.id for cell in full.cells if AS_HANDED_IN in cell.metadata.get("tags", [])}
    made = [
        _as_handed_in(cell) if cell.get("id") in long else _restored(cell, known.get(name))
        for cell, name in zip(cells, names)
    ]
    notes = _forget_doubles(made)
    if cells:
        notes += _put_back(made, known) + _undone(made, full) + _edited(cells, names, known)
    else:
        notes, none = [say("grading.empty")], say("grading.answer_not_taken")
        texts = {"markdown": none}
        made = [_clean(cell, texts.get(cell.cell_type)) for cell in known.values()]
    for n, cell in enumerate(made):
        cell.id = f"{lab}-{n:03d}"
        if is_locked(cell):
            cell.source = without_tests(cell.source)
    return type(full)(full | {"cells": made}), notes


def graded(full):
    """Return the cells of a lab that nbgrader knows, {name: cell}."""
    cells = (cell for cell in full.cells if "nbgrader" in cell.metadata)
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


def is_locked(cell):
    """Say whether a cell is a test."""
    return bool(cell.metadata.get("nbgrader", {}).get("locked"))


# ---------------------------------------------------------------- which cell is which


def _named(cells, full, known):
    """Return for each cell of a hand-in the name of the graded cell that it is, or None."""
    ids = {cell.id: name for name, cell in known.items()}
    names = [grading(cell).get("grade_id") or ids.get(cell.get("id")) for cell in cells]
    names = [name if name in known else None for name in names]
    ways = (_tests(known), _functions(known), _answers(cells, full))
    for way in ways:
        lost = known.keys() - set(names)
        for at, cell in enumerate(cells):
            if names[at] is None and (name := way(at, cell)) in lost:
                names[at] = name
    return names


def _tests(known):
    """Return what knows a test cell by its first line: `check(…)` with the same arguments."""
    lines = {_plain(without_tests(cell.source)): n for n, cell in known.items() if is_locked(cell)}
    return lambda at, cell: lines.get(_plain(without_tests(source(cell))))


def _plain(text):
    """Return a text of Python, or of prose, without what an editor may change in it."""
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " ".join(text.split())


def _functions(known):
    """Return what knows a cell by the function that it defines."""
    defined = {}
    for name, cell in known.items():
        if cell.cell_type == "code" and not is_locked(cell):
            defined |= dict.fromkeys(defined_in(cell.source)[:1], name)

    def way(at, cell):
        mine = defined_in(source(cell)) if cell["cell_type"] == "code" else ()
        return next((defined[name] for name in mine if name in defined), None)

    return way


def _answers(cells, full):
    """Return what knows a written answer by the question before it."""
    asked, question = {}, ""
    for cell in full.cells:
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata:
            asked[question] = cell.metadata.nbgrader.grade_id
        elif cell.cell_type == "markdown":
            question = _prose(cell.source)
    ours = {_prose(cell.source) for cell in full.cells if "nbgrader" not in cell.metadata}

    def way(at, cell):
        if cell["cell_type"] == "code" or _prose(source(cell)) in ours:
            return None
        before = (_prose(source(one)) for one in reversed(cells[:at]) if one["cell_type"] != "code")
        return asked.get(next((text for text in before if text in ours), None))

    return way


def _prose(text):
    return " ".join(text.split())


# ---------------------------------------------------------------- what becomes of it


def _clean(cell, text=None):
    """Return a cell with its own or another text, what nbgrader notes of it, and nothing else.

    cell: of the grader's notebook, or a dict of a hand-in, whose notes are left out.
    """
    makes = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    noted = cell.metadata.get("nbgrader") if hasattr(cell, "metadata") else None
    text = source(cell) if text is None else text
    new = makes.get(str(cell.get("cell_type")), v4.new_raw_cell)(text)
    if noted:
        new.metadata["nbgrader"] = dict(noted)
    return new


def _restored(cell, known):
    """Return a cell as it is graded; known: the grader's of the same name, None for none."""
    if known is None:
        new = _clean(cell)
    else:
        new = _clean(known, None if is_locked(known) else source(cell))
    if new.cell_type != "code" and is_valid(cell.get("attachments", ""), "misc/attachments"):
        new.attachments = NotebookNode(cell["attachments"])
    return new


def is_valid(part, kind):
    """Say whether a part of a notebook is what nbformat says that it is."""
    try:
        nbformat.validate(part, kind, version=4, relax_add_props=True)
    except (nbformat.ValidationError, RecursionError):
        return False
    return True


def _as_handed_in(cell):
    """Return a cell that does not run again, with the texts and pictures that it showed."""
    new = _clean(cell | {"cell_type": "code"})
    new.metadata["tags"] = [AS_HANDED_IN]
    for output in cell.get("outputs", []):
        if not is_valid(output, "output"):
            continue
        if output["output_type"] == "stream":
            new.outputs.append(v4.new_output("stream", name=output["name"], text=output["text"]))
        elif "data" in output:
            shown = {kind: output["data"][kind] for kind in SHOWN if kind in output["data"]}
            new.outputs.append(v4.new_output("display_data", from_dict(shown)))
    return new


def _name(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _forget_doubles(cells):
    """Let the last cell of a name be the one in which something was done; return a note on it."""
    last = {_name(cell): cell for cell in sorted(cells, key=lambda cell: not is_left(cell))}
    count = Counter(filter(None, map(_name, cells)))
    for cell in cells:
        if cell is not last[_name(cell)]:
            cell.metadata.pop("nbgrader", None)
    doubles = [name for name, times in count.items() if times > 1]
    return [say("grading.doubles", names=", ".join(doubles))] if doubles else []


def _undone(cells, full):
    """Return notes on what was not attempted; leave to a person what may stand in another cell."""
    book, notes = {"cells": cells}, []
    functions, answers = not_attempted(book)
    where = ", ".join(_other_words(cells, full) if answers else ())
    if not where and is_untouched(book):
        return [say("grading.nothing_attempted")]
    if where:
        for cell in cells:
            if _name(cell) in answers:
                cell.source = say("grading.answer_elsewhere", where=where)
        notes = [say("grading.answers_elsewhere", names=", ".join(answers), where=where)]
    left = functions + ([] if where else answers)
    return notes + ([say("grading.not_attempted", names=", ".join(left))] if left else [])


def _other_words(cells, full):
    """Say which cells hold words that the lab does not: in them an answer may stand."""
    ours = {_prose(cell.source) for cell in full.cells} | {""}
    found = [
        called(cell.source)
        for cell in cells
        if not _name(cell) and _prose(cell.source) not in ours
        if cell.cell_type != "code" or is_prose(cell.source)
    ]
    return [*found[:MOST_NAMED], "…"] if len(found) > MOST_NAMED else found


def _edited(cells, names, known):
    """Return a note on test cells that a hand-in has other than they were given out."""
    edited = [
        name
        for cell, name in zip(cells, names)
        if name and is_locked(known[name])
        if _plain(without_tests(source(cell))) != _plain(without_tests(known[name].source))
    ]
    return [say("grading.tests_edited", names=", ".join(dict.fromkeys(edited)))] if edited else []


def _put_back(cells, known):
    """Put graded cells that are missing where they can be graded; return notes on them."""
    there = {_name(cell) for cell in cells}
    lost = {
        name: cell
        for name, cell in known.items()
        if name not in there and cell.metadata.nbgrader.grade
    }
    tests = [name for name, cell in lost.items() if is_locked(cell)]
    answers = [name for name in lost if name not in tests]
    lost_answer = say("grading.answer_lost")
    cells += [_clean(lost[name], lost_answer) for name in answers]
    cells += [_clean(lost[name]) for name in tests]
    found = {"tests_at_end": tests, "answers_lost": answers}
    return [say(f"grading.{key}", names=", ".join(names)) for key, names in found.items() if names]
