"""A lab's notebook as it is handed in: which lab, whose, what is not attempted; plain JSON."""

import ast
import json
import re
from collections import Counter

from lib2048.course.labs.exercise import LABS
from lib2048.course.labs.messages import say
from lib2048.course.labs.seeds import PLAIN
from lib2048.machine.files import read_bytes
from lib2048.machine.terminal import one_line

NOT_ATTEMPTED = "raise NotImplementedError"
NO_ANSWER = "YOUR ANSWER HERE"
AS_HANDED_IN = "as-handed-in"  # the tag of long cells without marks: a grader runs them not again
NOBODY = "0000"
MOST_MB = 20  # of one file that was handed in
MOST_CELLS = 2000  # of a notebook; a lab has some fifty
MOST_NAME = 60  # letters of a student's number or name
# What a cell must hold, and what it may.
CELL = {"cell_type": str, "source": (str, list)}
MORE = {"id": str, "metadata": dict, "outputs": list, "attachments": dict}
# In JSON: what stands for a backslash, a letter in two halves, and half a letter.
HALVES = re.compile(r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)")


class Refused(ValueError):
    """Says in words why a file is no hand-in."""


def read(path, name=None):
    """Return the notebook of a file.  Raises ValueError, in one line, where there is none."""
    return parse(read_bytes(path, MOST_MB * 10**6), name or path)


def parse(data, name):
    """Return a notebook, a dict, from the bytes of its file.  Raises `Refused` for another file.

    name: of the file, for the error.  What has passed here has the types that nbformat gives to the
    parts that we look at, and can be written again: half a letter, which no file can hold, is
    exchanged for another.
    """
    try:
        text = data.decode("utf-8-sig")
        text = HALVES.sub(lambda found: r"\ufffd" if found[1] else found[0], text)
        notebook = json.loads(text)
        known = _is_notebook(notebook)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        known = False
    if not known:
        raise Refused(say("hand_in.no_notebook_file", name=name))
    if len(notebook["cells"]) > MOST_CELLS:
        raise Refused(say("hand_in.cells", name=name, most=MOST_CELLS))
    return notebook


def _is_notebook(notebook):
    about, cells = notebook.get("metadata", {}), notebook["cells"]
    return isinstance(about, dict) and isinstance(cells, list) and all(map(_is_cell, cells))


def _is_cell(cell):
    parts = [(CELL[key], cell[key]) for key in CELL]
    parts += [(kind, cell[key]) for key, kind in MORE.items() if key in cell]
    return all(isinstance(part, kind) for kind, part in parts) and isinstance(source(cell), str)


def source(cell):
    """Return a cell's text, which files may hold as a list of lines."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def grading(cell):
    """Return what nbgrader notes of a cell, {} for nothing."""
    found = cell.get("metadata", {}).get("nbgrader")
    known = isinstance(found, dict) and isinstance(found.get("grade_id"), (str, type(None)))
    return found if known else {}


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
    codes = (source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    line = re.search(r"^STUDENT *=.*", "\n".join(codes), re.MULTILINE)
    line = line[0][:200].strip() if line else ""
    said = re.fullmatch(r"""STUDENT *= *(["']?)(.*?)\1 *;? *(#.*)?""", line)
    name = one_line(said[2].strip())[:MOST_NAME] if said else ""
    return "" if name == NOBODY else name


def start_line(lab, rules=PLAIN):
    """Return the line by which a lab's notebook begins, and says by which rules it is."""
    return f'labs.start("{lab}")' if rules == PLAIN else f'labs.start("{lab}", "{rules}")'


def rules_in(notebook, lab):
    """Return the rules that a lab's notebook says that it is written by, their name."""
    text = "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    said = re.search(rf'^labs\.start\("{lab}", "([^"\n]{{1,{MOST_NAME}}})"\)', text, re.MULTILINE)
    return one_line(said[1]) if said else PLAIN


def of_other_rules(lab, found, right):
    """Return a list with a line where a lab's notebook is written by other rules than the class's.

    found: of `rules_in`; right: the `LabRules` of the lab.
    """
    words = {"lab": lab, "found": found, "game": right.name}
    return [] if found == right.name else [say("labs.other_game", **words)]


def plain_python(text):
    """Return a cell's text without what only notebooks know: lines of % and !."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager

        return TransformerManager().transform_cell(text)
    except Exception:  # no IPython, or a text that it stumbles over
        lines = text.split("\n")
        return "\n".join("" if line.lstrip()[:1] in ("%", "!") else line for line in lines)


def broken_cells(notebook):
    """Yield (text of a code cell, the error in words) of cells that are no Python."""
    for cell in notebook["cells"]:
        try:
            if cell["cell_type"] == "code":
                ast.parse(plain_python(source(cell)))
        except SyntaxError as error:
            where = f"{error.msg}, line {error.lineno}"
            yield source(cell), one_line(f"{type(error).__name__}: {where}")
        except (ValueError, RecursionError, MemoryError) as error:
            yield source(cell), one_line(f"{type(error).__name__}: {error}")


def called(text):
    """Say which cell it is that holds a text: by the function that it defines, or its first line.

    Numbers of cells are shown nowhere in a notebook that has not run.
    """
    if names := defined_in(text):
        return say("hand_in.cell_of", name=names[0][:MOST_NAME])
    line = next(filter(None, map(str.strip, text.split("\n"))), "")
    return say("hand_in.cell_line", line=one_line(line)[:MOST_NAME])


def is_prose(text):
    """Say whether a code cell's text is none of code: words that are no Python, or comments."""
    try:
        body = ast.parse(plain_python(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return not defined_in(text)
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


def defined_in(text):
    """Return the names of the functions that a cell's text defines by `def`, in their order."""
    return re.findall(r"^(?:async )?def\s+(\w+)", text, re.MULTILINE)


def not_attempted(notebook):
    """Return the names of the cells that are as they were given out: (functions, answers).

    Of cells with one name it is enough that something was done in one; and a function may be
    defined in a cell of the student's own.
    """
    left, done, defined = ({}, {}), set(), set()
    for cell in notebook["cells"]:
        mine, text, is_code = grading(cell), source(cell), cell["cell_type"] == "code"
        if is_left(cell):
            left[not is_code].update({mine.get("grade_id"): text} if mine.get("solution") else {})
        else:
            done.add(mine.get("grade_id"))
            defined.update(defined_in(text) if is_code else ())
    functions, answers = ([name for name in names if name not in done] for names in left)
    return [n for n in functions if defined.isdisjoint(defined_in(left[0][n])[:1])], answers


def is_left(cell):
    """Say whether a cell is as it was given out: a stub, or no answer."""
    is_code = cell["cell_type"] == "code"
    return NOT_ATTEMPTED in source(cell) if is_code else source(cell).strip() == NO_ANSWER


def is_untouched(notebook):
    """Say whether all that is to be written in a notebook is as it was given out."""
    mine = map(grading, notebook["cells"])
    wanted = {one.get("grade_id") for one in mine if one.get("solution")}
    return 0 < len(wanted) == sum(map(len, not_attempted(notebook)))


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
