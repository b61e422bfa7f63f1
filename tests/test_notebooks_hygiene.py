"""What every stored lesson keeps to, and that each check can fail."""

import re

import lessons
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import lib2048
from lib2048.machine.terminal import as_news

STORED = lessons.lessons()


# ---- the stored lessons --------------------------------------------------------------------------


@pytest.mark.parametrize("check", lessons.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_lesson(path, check):
    assert list(check(path, nbformat.read(path, as_version=4))) == []


def test_readme_table_lists_the_stored_lessons():
    readme = (lessons.ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.lstrip().startswith("|")]
    listed = re.findall(r"\(notebooks/([^)#]+\.ipynb)\)", "\n".join(rows))
    assert listed == [path.name for path in STORED]


def test_make_lab_opens_a_lesson_that_exists():
    makefile = (lessons.ROOT / "Makefile").read_text(encoding="utf-8")
    opened = re.search(r"lab \$\(LAB\) my/(\w+\.ipynb)", makefile)[1]
    assert (lessons.LESSONS / opened).exists() and "lib2048 lessons update" in makefile


def test_minutes_are_those_of_the_readme():
    readme = (lessons.ROOT / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"\(notebooks/([^)]+)\) \|[^|]+\| (\d+) \|", readme))
    found = {path.name: lessons.minutes(nbformat.read(path, as_version=4)) for path in STORED}
    assert {name: int(minutes) for name, minutes in told.items()} == found


def test_every_lesson_leads_to_the_next(tmp_path, monkeypatch):
    path = store(good_lesson(), tmp_path)
    (tmp_path / "43_next.ipynb").write_text("")
    monkeypatch.setattr(lessons, "LESSONS", tmp_path)
    [complaint] = lessons.leads_on(path, good_lesson())
    assert complaint == "its last cell has no link to 43_next.ipynb"
    linked = good_lesson()
    linked.cells[-1].source = "Go on to [43](43_next.ipynb)."
    assert list(lessons.leads_on(path, linked)) == []


# ---- a good lesson passes ------------------------------------------------------------------------

PROSE = "A player looks at the board and asks what it is worth. " * 60


QUESTIONS = "## Five questions\n\n" + "\n\n".join(
    f"**{n}.** Why?\n<details><summary>Answer</summary>Because.</details>" for n in range(1, 6)
)
TASKS = """

## Do next

1. Play once more.
2. Look.

<details><summary><b>What we found</b></summary>

1. More points.
2. A board.
</details>
"""


def code(source, n, *outputs, tags=()):
    """Return a code cell that ran as the n-th."""
    metadata = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, execution_count=n, outputs=list(outputs), metadata=metadata)


def printed(text, name="stdout"):
    """Return what a cell prints."""
    return new_output("stream", name=name, text=text)


def shown(data):
    """Return what a cell displays."""
    return new_output("display_data", data=data)


STILL = {"text/html": '<div class="lib2048-still">', "text/plain": f"<Picture: {lessons.IDLE}>"}
THIRTEEN = sorted(lib2048.__all__)[:13]


def good_lesson():
    """Return a small lesson that nothing is wrong with."""
    return new_notebook(
        cells=[
            new_markdown_cell(PROSE),
            code("import random\nimport numpy as np", 1),
            code("SECONDS = 30", 2, tags=["parameters"]),
            code("print(1 + 1)", 3, printed("2\n"), tags=["nbval-check-output"]),
            new_markdown_cell(QUESTIONS + TASKS),
        ]
    )


def store(notebook, folder, normal=True):
    """Write a notebook to a lesson's file and return its path."""
    path = folder / "42_planted.ipynb"
    if normal:
        notebook = lessons.normalise(notebook, path.stem)
    path.write_text(lessons.to_text(notebook), encoding="utf-8")
    return path


def test_good_lesson_has_no_complaints(tmp_path):
    assert lessons.complaints(store(good_lesson(), tmp_path)) == []


# ---- each planted fault gets its complaint, and no other -----------------------------------------


def says(n, source):
    """Return what gives a notebook's n-th cell another text."""
    return lambda notebook: notebook.cells[n].update(source=source)


def shows(n, output):
    """Return what gives a notebook's n-th cell one output more."""
    return lambda notebook: notebook.cells[n].outputs.append(output)


FAULTS = {
    "a table in the style of pandas": (
        lambda nb: nb.cells[1].outputs.append(shown({"text/html": "<td>264030.0</td>"})),
        "a table shows 264030.0",
    ),
    "a table with commas": (
        lambda nb: nb.cells[1].outputs.append(shown({"text/html": "<td>1,101 ± 5</td>"})),
        "a table shows 1,101 ± 5",
    ),
    "no parameters cell": (lambda nb: nb.cells[2].metadata.clear(),
        "0 cells are tagged parameters"),
    "two parameters cells": (lambda nb: nb.cells[1].metadata.update(tags=["parameters"]),
        "2 cells are tagged parameters"),
    "mistyped tag": (lambda nb: nb.cells[3].metadata.update(tags=["nbval-check-outputs"]),
        "tag 'nbval-check-outputs' is not one of"),
    "tag that hides a failure": (lambda nb: nb.cells[1].metadata.update(tags=["raises-exception"]),
        "tag 'raises-exception' is not one of"),
    "compared, but nothing stored": (lambda nb: nb.cells[3].outputs.clear(),
        "cell 3: its output is to be compared, and none is stored"),
    "compared, but only blanks stored": (lambda nb: nb.cells[3].outputs[0].update(text="\n"),
        "cell 3: its output is to be compared, and none is stored"),
    "compared picture": (shows(3, shown({"image/svg+xml": "<svg/>"})),
        "cell 3: its output is to be compared, and holds a picture"),
    "picture without words": (shows(1, shown({"image/png": "iVBORw0KGgo="})),
        "cell 1: its picture says nothing to those who cannot see it"),
    "cell that never ran": (lambda nb: nb.cells[1].update(execution_count=None),
        "execution counts are [None, 2, 3]"),
    "cells run out of order": (lambda nb: nb.cells[1].update(execution_count=4),
        "execution counts are [4, 2, 3]"),
    "stored error": (shows(1, new_output("error", ename="E", evalue="no")),
        "cell 1: its stored output is an error"),
    "long cell": (says(1, "\n\n".join(["x = 1"] * 26)), "cell 1: 26 lines of code, more than 25"),
    "home folder in an output": (shows(1, printed("saved to /home/ada/run/weights.npz")),
        "cell 1: names a place of this machine: /home/"),
    "this very folder in an output": (shows(1, shown({"text/html": f"<b>{lessons.ROOT}/data</b>"})),
        "cell 1: names a place of this machine"),
    "address in memory": (shows(1, shown({"text/plain": "<Line2D at 0x7f3a1c2b4d50>"})),
        "cell 1: names a place of this machine: at 0x7f3a1c2b4d50"),
    "too few words": (says(0, "Just run it."), "words of prose, not 600 to 2000"),
    "too many words": (says(0, PROSE * 5), "words of prose, not 600 to 2000"),
    "too many cells": (lambda nb: nb.cells.extend(new_markdown_cell("More.") for _ in range(41)),
        "46 cells, more than 45"),
    "long cells": (lambda nb: [cell.update(source="1\n" * 7) for cell in nb.cells[1:4]],
        "the median code cell has 7 lines, more than 6"),
    "compiling without a word": (says(1, "import numba\n@numba.njit\ndef f(): pass"),
        "cell 1: uses numba, which only A1 explains"),
    "four questions": (says(4, QUESTIONS.replace("**5.**", "And:")),
        "its 'Five questions' are numbered ['1', '2', '3', '4']"),
    "question without an answer": (says(4, QUESTIONS.replace("Because.", "", 1)),
        "its question 1 has no answer folded away"),
    "task without an answer": (says(4, QUESTIONS + TASKS.replace("2. A board.", "")),
        "2 tasks at its end, and 1 answers folded away"),
    "tasks without any answer": (says(4, QUESTIONS + TASKS.partition("<details>")[0]),
        "2 tasks at its end, and 0 answers folded away"),
    "link to nowhere": (says(0, PROSE + "[gone](07_gone.ipynb)"),
        "cell 0: links to 07_gone.ipynb, which is not there"),
    "foreign import": (says(1, "%matplotlib inline\nimport sklearn.svm as svm"),
        "cell 1: imports sklearn.svm, which the lessons do not use"),
    "name that is not exported": (says(1, "from lib2048 import no_such_name"),
        "cell 1: lib2048.no_such_name is not an exported name of lib2048"),
    "module that is not exported": (says(1, "import lib2048.no_such_module"),
        "cell 1: lib2048.no_such_module is not an exported name of lib2048"),
    "name that a room does not export": (says(1, "from lib2048 import plot\nplot.no_such_name()"),
        "cell 1: lib2048.plot.no_such_name is not an exported name of lib2048"),
    "many names": (says(1, f"from lib2048 import {', '.join(THIRTEEN)}"),
        "imports 13 names of lib2048, more than 12"),
    "training that has not begun": (lambda nb: nb.cells[1].outputs.append(shown(STILL)),
        "cell 1: the picture of its training is of one that has not begun"),
    "relative path": (says(1, "open('../data/curves/exact.csv')"),
        "cell 1: opens '../data/curves/exact.csv' by a relative path, not by lib2048.data"),
    "relative path in an f-string": (says(1, "open(f'../data/curves/{name}.csv')"),
        "cell 1: opens '../data/curves/' by a relative path"),
    "parent folder": (says(1, "Path('..') / 'data'"), "cell 1: opens '..' by a relative path"),
    "relative path in a shell command": (says(1, "!ls ../data"),
        "cell 1: opens 'ls ../data' by a relative path"),
    "private attribute": (says(1, "import lib2048\nlib2048._secret()"),
        "cell 1: lib2048._secret is not an exported name of lib2048"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_found(fault, tmp_path):
    plant, complaint = FAULTS[fault]
    notebook = good_lesson()
    plant(notebook)
    [found] = lessons.complaints(store(notebook, tmp_path))
    assert complaint in found


def test_large_file_is_found(tmp_path):
    notebook = good_lesson()
    notebook.cells[1].outputs.append(shown({"image/svg+xml": "A" * lessons.LARGEST_FILE}))
    [complaint] = lessons.complaints(store(notebook, tmp_path))
    assert f"more than {lessons.LARGEST_FILE}" in complaint


def test_harmless_text_is_not_complained_about(tmp_path):
    notebook = good_lesson()
    notebook.cells[1].outputs.append(printed("board 0x0000000000000012, https://example.org/tmp/x"))
    notebook.cells[1].source = "print('and so on...', 'wait..', 1, ...)  # not ../data"
    assert lessons.complaints(store(notebook, tmp_path)) == []


# ---- the normal form -----------------------------------------------------------------------------

DISORDER = {
    "ids": lambda nb: nb.cells[0].update(id="something"),
    "execution times": lambda nb: nb.cells[1].metadata.update(execution={"shell.execute": "9"}),
    "progress on stderr": lambda nb: nb.cells[1].outputs.append(printed("99%", name="stderr")),
    "news": lambda nb: nb.cells[1].outputs.append(shown(as_news("compiling"))),
    "a bar that has gone": lambda nb: nb.cells[1].outputs.append(shown(as_news())),
    "widget view": lambda nb: nb.cells[1].outputs.append(shown({lessons.WIDGET: {"id": "7"}})),
    "widget state": lambda nb: nb.metadata.update(widgets={"state": {}}),
    "kernel": lambda nb: nb.metadata.kernelspec.update(name="my-env", display_name="my env"),
    "Python's version": lambda nb: nb.metadata.language_info.update(version="3.14.1"),
}


@pytest.mark.parametrize("disorder", DISORDER)
def test_disorder_is_found_and_put_right(disorder, tmp_path):
    tidy = lessons.normalise(good_lesson(), "42_planted")
    untidy = nbformat.from_dict(tidy)
    DISORDER[disorder](untidy)
    assert lessons.complaints(store(untidy, tmp_path, normal=False)) == [
        "not in normal form: make notebooks"
    ]
    again = lessons.normalise(untidy, "42_planted")
    assert lessons.to_text(again) == lessons.to_text(lessons.normalise(good_lesson(), "42_planted"))


def test_ids_are_valid_and_distinct_whatever_the_name():
    ids = [lessons.cell_id("99 très long " * 9, n) for n in range(300)]
    assert len(set(ids)) == 300
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in ids)


# ---- running -------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let the command find its lessons in an empty folder."""
    monkeypatch.setattr(lessons, "LESSONS", tmp_path)
    return tmp_path


def draft(*sources):
    """Return a lesson as its author leaves it: cells that never ran, the last one compared."""
    cells = [new_code_cell(source) for source in ("SECONDS = 1", *sources)]
    cells[0].metadata["tags"] = ["parameters"]
    cells[-1].metadata["tags"] = ["nbval-check-output"]
    return new_notebook(cells=[new_markdown_cell(f"{PROSE}\n\n{QUESTIONS}"), *cells])


def test_run_stores_the_outputs_and_a_second_run_changes_nothing(folder, monkeypatch):
    monkeypatch.setenv("LIB2048_QUICK", "1")
    progress = "import os, sys; print('99%', file=sys.stderr)"
    budget = "os.environ.get('LIB2048_QUICK', 'full')"
    path = store(draft(progress, budget), folder, normal=False)
    assert lessons.main([]) == 0
    first = path.read_text(encoding="utf-8")
    assert "'full'" in first and "99%\\n" not in first
    assert lessons.main(["42"]) == 0
    assert path.read_text(encoding="utf-8") == first


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings; warnings.warn('old')", "UserWarning: old"),
        ("print('many lines\\n' * 40_000)", "not stored"),
    ],
)
def test_bad_run_is_refused_and_leaves_the_file_alone(source, complaint, folder, capsys):
    path = store(draft(source, "1"), folder, normal=False)
    before = path.read_text(encoding="utf-8")
    assert lessons.main([]) == 1
    assert complaint in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == before


def test_unknown_lesson_is_refused(folder, capsys):
    with pytest.raises(SystemExit) as stop:
        lessons.main(["77"])
    assert stop.value.code == 2
    assert "begins with '77'" in capsys.readouterr().err
