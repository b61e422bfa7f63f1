"""Copies of one's own: the lessons and labs without outputs, in my/; none is ever overwritten."""

import hashlib
import json
import os
import re
from pathlib import Path

from lib2048.course.labs import notebook as notebooks
from lib2048.course.labs.exercise import LABS
from lib2048.course.labs.notebook import source, to_bytes, without_outputs
from lib2048.course.reader import folder as mine
from lib2048.machine.files import write_atomic

FIRST = mine.FIRST.name
RELEASES = "homework/release"
NOT_HERE = (
    "the lessons are not here: go into the folder of the course, the one that holds "
    "notebooks/, and ask again"
)
ASKS = re.compile(r"\*\*(?:[^*]*\?|(?:Predict|Guess|Write|Rank|Put|Work out)\b)")  # in bold
TELLS = re.compile(r"^ *assert |\bplot\.show\(", re.MULTILINE)  # what comes out, before it has


def originals():
    """Return {place below notebooks/: path} of all lessons, then of all labs as given out.

    Raises ValueError where there are none.
    """
    if (root := mine.lessons()) is None:
        raise ValueError(NOT_HERE)
    labs = [root / RELEASES / lab / f"{lab}.ipynb" for lab in LABS]
    found = [*sorted(root.glob("[0-9A][0-9]_*.ipynb")), *(lab for lab in labs if lab.is_file())]
    return {path.relative_to(root).as_posix(): path for path in found}


def read(path):
    """Return a notebook, a dict; raises ValueError, in one line, for another file."""
    return notebooks.read(path, shown(path))


def fresh(path):
    """Return an original as a reader begins with it: no outputs, marked with its version.

    In a lesson, the cells that tell the answer to the question above them are folded.
    """
    notebook = without_outputs(read(path))
    if path.parent.name != path.stem:  # no lab
        _fold_answers(notebook["cells"])
    about = notebook.get("metadata", {})
    marked = about.get("lib2048", {}) | {"copy_of": version(notebook)}
    return notebook | {"metadata": about | {"lib2048": marked}}


def _fold_answers(cells):
    """Fold code that says what will come out, where the words before it ask for a guess."""
    asked = False
    for cell in cells:
        if cell["cell_type"] == "markdown":
            asked = bool(ASKS.search(source(cell)))
        elif asked and cell["cell_type"] == "code" and TELLS.search(source(cell)):
            about = cell.setdefault("metadata", {})
            about["jupyter"] = about.get("jupyter", {}) | {"source_hidden": True}


def version(notebook):
    """Return a short hash of what is written in a notebook, whatever its cells have shown."""
    cells = [[cell["cell_type"], source(cell)] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:12]


def copy_of(notebook):
    """Return the version that a copy was made of, None where it does not say."""
    about = notebook
    for key in ("metadata", "lib2048", "copy_of"):
        about = about.get(key) if isinstance(about, dict) else None
    return about


def update(beside=False):
    """Copy what is not in the reader's folder yet; overwrite nothing.

    beside: also put the new original beside a copy of an older one, as NAME.new.ipynb.  Returns
    {"folder", "added", "newer" (copies of an older original), "beside" (files written there),
    "kept" (NAME.new.ipynb of before, left alone), "unread" (no notebooks any more)}; all but the
    first are lists of places below the folder.  Raises ValueError where there are no originals, or
    where nothing can be written.
    """
    found, folder = originals(), mine.folder()
    if os.path.lexists(folder) and not folder.is_dir():
        raise ValueError(f"{shown(folder)} is no folder: move it away, your copies belong there")
    done = {key: [] for key in ("added", "newer", "beside", "kept", "unread")}
    for name, path in found.items():
        notebook = fresh(path)
        if _put(folder / name, notebook):
            done["added"].append(name)
            continue
        try:
            of = copy_of(read(folder / name))
        except (ValueError, OSError):
            done["unread"].append(name)
            continue
        if of not in (None, copy_of(notebook)):
            done["newer"].append(name)
            if beside:
                new = name.replace(".ipynb", ".new.ipynb")
                done["beside" if _put(folder / new, notebook) else "kept"].append(new)
    return {"folder": str(folder)} | done


def _put(path, notebook):
    """Write a notebook where there is nothing yet, and say whether that was so."""
    if os.path.lexists(path):
        return False
    data = to_bytes(notebook)
    try:
        write_atomic(path, lambda file: file.write(data), len(data))
    except OSError as error:
        why = f"nothing can be written there ({error.strerror or error})"
        how = "let the variable LIB2048_MY name a folder of yours"
        raise ValueError(f"{shown(path)}: {why}: {how}") from None
    return True


def shown(path):
    """Write a path as short as the present folder allows."""
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return str(path)
