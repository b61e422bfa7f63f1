"""The labs: sources keep to their rules, releases are theirs, and run with nothing attempted."""

import json
import subprocess
import sys

import handins
import labs
import lessons
import nbformat
import pytest
from nbclient import NotebookClient

pytest.importorskip("nbgrader")
STORED = labs.labs()


@pytest.mark.parametrize("check", labs.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("lab", STORED)
def test_stored_lab(lab, check):
    path = labs.path_of(lab)
    assert list(check(path, nbformat.read(path, as_version=4))) == []


def test_every_release_has_its_source():
    assert sorted(path.name for path in labs.RELEASE.iterdir()) == STORED


@pytest.mark.parametrize(
    "lab", [STORED[0], *(pytest.param(lab, marks=pytest.mark.slow) for lab in STORED[1:])]
)
def test_a_release_runs_to_its_end_and_every_check_says_not_attempted(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("LIB2048_QUICK", "1")
    notebook = nbformat.read(labs.path_of(lab, labs.RELEASE), as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    tests = [cell for cell in notebook.cells if labs.is_test(cell) and "check(" in cell.source]
    assert tests
    for cell in tests:
        [shown] = [
            t for out in cell.outputs if "○" in (t := out.get("data", {}).get("text/plain", ""))
        ]
        assert "not attempted" in shown, labs.name(cell)


@pytest.mark.slow
def test_the_notebook_tests_run_sources_and_no_releases():
    command = [sys.executable, "-m", "pytest", "notebooks/homework", "--collect-only", "-q"]
    done = subprocess.run(command, cwd=lessons.ROOT, capture_output=True, text=True)
    assert "source/hw01/hw01.ipynb" in done.stdout and "release" not in done.stdout


# ---------------------------------------------------------------- planted faults are found


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Return hw01's source, with the folders set so that it can be stored beside the real one."""
    monkeypatch.setattr(labs, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(labs, "RELEASE", tmp_path / "release")
    return nbformat.read(handins.SOURCE, as_version=4)


def stored(notebook, generate=True):
    """Store a source, and its release, and return what is complained about."""
    path = labs.path_of("hw01")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lessons.to_text(notebook), encoding="utf-8")
    if generate:
        labs.generate("hw01")
    return labs.complaints("hw01")


def by_name(notebook, name):
    return next(cell for cell in notebook.cells if labs.name(cell) == name)


def edited(name, change):
    """Return what changes the source of a notebook's cell."""
    return lambda notebook: by_name(notebook, name).update(
        source=change(by_name(notebook, name).source)
    )


def retitle(notebook):
    notebook.cells[0].source = notebook.cells[0].source.replace("75 minutes of work", "an evening")


def long_cells(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code" and not labs.is_test(cell):
            cell.source = "\n".join(["x = 1"] * 26) + "\n" + cell.source


FAULTS = {
    "minutes of work": retitle,
    "**Marks** 27, of which 23 by checks and 4 by a person": lambda notebook: by_name(
        notebook, "slide-rows"
    ).metadata.nbgrader.update(points=9),
    "a test hides a require": edited("slide-rows", lambda text: text.split("### BEGIN")[0]),
    "a test shows a check": edited("slide-rows", lambda text: text[text.index("### BEGIN") :]),
    "a test checks another lab": edited("slide-rows", lambda text: text.replace("hw01.", "hw02.")),
    "more than YOUR ANSWER HERE is left": edited("prediction", lambda text: f"{text}\nIt is 4 4."),
    "lib2048 labs pack hw01": lambda notebook: notebook.cells[-1].update(source="Well done."),
    "lines of code, more than 25": long_cells,
    "no rubric in italics": edited("prediction", lambda text: text.replace("*", "")),
}


@pytest.mark.parametrize("words, fault", FAULTS.items(), ids=FAULTS)
def test_a_planted_fault_is_told(words, fault, notebook):
    fault(notebook)
    assert any(words in line for line in stored(notebook))


def test_two_cells_of_one_name_are_told(notebook):
    by_name(notebook, "slide-rows").metadata.nbgrader.grade_id = "slide-columns"
    assert list(labs.names_apart(labs.path_of("hw01"), notebook)) == [
        "2 cells are called 'slide-columns'"
    ]


def test_a_release_that_is_not_the_sources_is_told(notebook):
    assert stored(notebook) == []
    release = labs.path_of("hw01", labs.RELEASE)
    before = release.read_bytes()
    assert stored(notebook) == [] and release.read_bytes() == before  # again: the same bytes
    notebook.cells[0].source += " Take your time."
    [line] = stored(notebook, generate=False)
    assert line == "its release is not that of the source: make release"


def test_a_test_called_as_its_solution_is_renamed_and_outputs_go(notebook):
    by_name(notebook, "spawn-test").metadata.nbgrader.grade_id = "spawn"
    shown = nbformat.v4.new_output("stream", text="seen")
    by_name(notebook, "slide_row").update(outputs=[shown], execution_count=7)
    assert stored(notebook) == []
    assert labs.path_of("hw01").read_bytes() == handins.SOURCE.read_bytes()


def test_a_release_holds_stubs_docstrings_and_no_solution():
    release = json.loads(handins.RELEASE.read_text(encoding="utf-8"))
    text = "".join(handins.cell(release, "slide_row")["source"])
    head, docstring, stub = text.splitlines()
    assert head == "def slide_row(row):" and "Slide a row" in docstring
    assert stub == "    raise NotImplementedError"
    assert "".join(handins.cell(release, "spawn-test")["source"]) == 'check("hw01.spawn", spawn)'
    assert release["metadata"]["lib2048"] == {"lab": "hw01"}
