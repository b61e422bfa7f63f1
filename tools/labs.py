"""Keep the labs in one normal form, and generate what students get.

    python tools/labs.py                 every lab: source into its normal form, release from it
    python tools/labs.py hw01 hw03       only these
    python tools/labs.py --check         check what is stored, and change nothing

A lab is written in notebooks/homework/source/NAME/NAME.ipynb, with solutions and hidden tests.
What students get, notebooks/homework/release/NAME/NAME.ipynb, is made from it by nbgrader's own
steps; nothing is executed, so the same source gives the same release.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import lessons
import nbformat
from nbformat import NotebookNode

from lib2048.course.labs.exercise import LABS
from lib2048.course.labs.notebook import NO_ANSWER, NOT_ATTEMPTED, grading
from lib2048.course.labs.release import in_class, released
from lib2048.course.labs.seeds import PLAIN

HOMEWORK = lessons.LESSONS / "homework"
SOURCE, RELEASE = HOMEWORK / "source", HOMEWORK / "release"

KNOWN_TAGS = {"parameters", "hide-input", "as-handed-in"}
BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN", "END HIDDEN", "labs.require")


# ---- the normal form -----------------------------------------------------------------------------


def normalise(notebook: NotebookNode, lab: str) -> NotebookNode:
    """Return a source lab in normal form: ids, no outputs, every graded cell a name of its own."""
    cells = []
    for n, cell in enumerate(notebook.cells):
        cell = NotebookNode(cell, id=f"{lab}-{n:03d}")
        kept = {key: cell.metadata[key] for key in ("nbgrader", "tags") if key in cell.metadata}
        cell.metadata = NotebookNode(kept)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cells.append(cell)
    name_apart(cells)
    return lessons.of_cells(cells)


def name_apart(cells: list[NotebookNode]) -> None:
    """Call the test of a solution cell that has its name NAME-test: nbgrader wants one each."""
    solutions = {grading(cell).get("grade_id") for cell in cells if grading(cell).get("solution")}
    for cell in cells:
        if is_test(cell) and grading(cell).grade_id in solutions:
            cell.metadata.nbgrader = NotebookNode(
                grading(cell) | {"grade_id": f"{name(cell)}-test"}
            )


def name(cell: NotebookNode) -> str:
    """Return nbgrader's name of a cell."""
    return grading(cell).get("grade_id", "")


def is_test(cell: NotebookNode) -> bool:
    """Say whether a cell is a test that gives marks."""
    return bool(grading(cell).get("grade") and not grading(cell).get("solution"))


def is_manual(cell: NotebookNode) -> bool:
    """Say whether a cell is an answer that a person marks."""
    return bool(grading(cell).get("grade") and grading(cell).get("solution"))


def release_of(lab: str, game: str = PLAIN, seed: int | None = None) -> str:
    """Return the text of the release that a stored source gives in a class of this game, seed."""
    source = nbformat.read(path_of(lab), as_version=4)
    return lessons.to_text(released(in_class(source, lab, game, seed), lab))


def is_current(lab: str) -> bool:
    """Say whether what is stored for students is what the source gives."""
    path = path_of(lab, RELEASE)
    return path.exists() and path.read_text(encoding="utf-8") == release_of(lab)


def path_of(lab: str, folder: Path = None) -> Path:
    """Return where a lab's notebook is; folder: SOURCE or RELEASE."""
    return (folder or SOURCE) / lab / f"{lab}.ipynb"


# ---- what every stored lab keeps to --------------------------------------------------------------
# A check takes a source's path and its notebook, as in `lessons`, and yields one line a complaint.


def in_normal_form(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The file is what `normalise` makes of it."""
    if path.read_text(encoding="utf-8") != lessons.to_text(normalise(notebook, path.stem)):
        yield "not in normal form: make release"


def release_is_the_sources(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """What is stored for students is what the source gives."""
    if not is_current(path.stem):
        yield "its release is not that of the source: make release"


def nothing_left_in_release(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """No marker, hidden test or model answer is left in what students get, and stubs of functions:
    they keep their head and docstring, and raise NotImplementedError."""
    release = nbformat.reads(release_of(path.stem), as_version=4)
    for n, cell in enumerate(release.cells):
        for marker in MARKERS:
            if marker in cell.source:
                yield f"cell {n}: {marker!r} is left in the release"
        if cell.cell_type == "markdown" and is_manual(cell) and cell.source != NO_ANSWER:
            yield f"cell {n}: more than {NO_ANSWER} is left of the answer"
        if cell.cell_type == "code" and grading(cell).get("solution") and not is_manual(cell):
            if NOT_ATTEMPTED not in cell.source or "def " not in cell.source:
                yield f"cell {n}: its stub is no function that ends in {NOT_ATTEMPTED}"


def title_says_minutes_and_marks(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The title cell says minutes of work and of machine, and marks as the cells have them."""
    title = notebook.cells[0].source
    if not title.startswith(f"# {path.stem} · "):
        yield f"its title does not begin with '# {path.stem} · '"
    if not re.search(r"\*\*Time\*\* \d+ minutes of work, [\dto ]+ of machine", title):
        yield "its title has no '**Time** 75 minutes of work, 1 of machine'"
    tests, manual = marks(notebook)
    found = re.search(r"\*\*Marks\*\* (\d+)\D+(\d+) by checks\D+(\d+) by a person", title)
    words = f"**Marks** {tests + manual}, of which {tests} by checks and {manual} by a person"
    if not found or [*map(int, found.groups())] != [tests + manual, tests, manual]:
        yield f"its title has no {words!r}, which is what its cells have"


def marks(notebook: NotebookNode) -> tuple[int, int]:
    """Return a lab's marks by checks, and by a person."""
    tests = sum(grading(cell).points for cell in notebook.cells if is_test(cell))
    return tests, sum(grading(cell).points for cell in notebook.cells if is_manual(cell))


def names_apart(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Every cell that nbgrader knows has a name of its own, and every test has marks."""
    count = Counter(name(cell) for cell in notebook.cells if grading(cell))
    yield from (f"{times} cells are called {one!r}" for one, times in count.items() if times > 1)
    for n, cell in enumerate(notebook.cells):
        if is_test(cell) and not (grading(cell).points > 0 and grading(cell).locked):
            yield f"cell {n}: a test has marks, and is locked"
    if 'STUDENT = "0000"' not in str(notebook.cells):
        yield 'no line STUDENT = "0000" asks whose it is'


def tests_check_and_require(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Each test shows a check, or what else a student should see, and hides a `require…`."""
    for n, cell in enumerate(notebook.cells):
        if not is_test(cell):
            continue
        shown, _, rest = cell.source.partition(BEGIN)
        hidden, closed, after = rest.partition(END)
        if not re.search(r"\w\(", shown):
            yield f"cell {n}: a test shows a check"
        if any(
            other != path.stem for other in re.findall(r'(?:check|require)\("(\w+)\.', cell.source)
        ):
            yield f"cell {n}: a test checks another lab"
        if "require" not in hidden or not closed or after.strip():
            yield f"cell {n}: a test hides a require between '{BEGIN}' and '{END}'"


def tags_known(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Every tag has a meaning here, and at most one cell holds budgets."""
    tags = [tag for cell in notebook.cells for tag in lessons.tags(cell)]
    yield from (f"tag {tag!r} is not known" for tag in sorted({*tags} - KNOWN_TAGS))
    if tags.count("parameters") > 1:
        yield "more than one cell is tagged parameters"


def ends_with_handing_in(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The last cell says how to hand in."""
    if f"lib2048 labs pack {path.stem}" not in notebook.cells[-1].source:
        yield f"its last cell does not say 'lib2048 labs pack {path.stem}'"


def has_a_prediction(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A person marks something, and the model answer holds a rubric in italics."""
    manual = [cell for cell in notebook.cells if is_manual(cell) and grading(cell).points]
    if not manual:
        yield "no answer is marked by a person"
    for cell in [cell for cell in manual if cell.cell_type == "markdown"]:
        if not re.search(r"(^|[^*])\*[^*\s][^*]*\*($|[^*])", cell.source):
            yield f"the answer {name(cell)!r} has no rubric in italics"


CHECKS = (
    in_normal_form,
    release_is_the_sources,
    nothing_left_in_release,
    title_says_minutes_and_marks,
    names_apart,
    tests_check_and_require,
    lessons.short_cells,
    tags_known,
    lessons.small,
    ends_with_handing_in,
    has_a_prediction,
)


def complaints(lab: str) -> list[str]:
    """Return all that is wrong with a stored lab, one line each."""
    notebook = nbformat.read(path_of(lab), as_version=4)
    return [line for check in CHECKS for line in check(path_of(lab), notebook)]


# ---- the command ---------------------------------------------------------------------------------


def labs(names: list[str] = ()) -> list[str]:
    """Return the labs of these names, or all that are there; ValueError where one is not."""
    there = [lab for lab in LABS if path_of(lab).exists()]
    for unknown in sorted({*names} - {*there}):
        raise ValueError(f"no lab {unknown!r} in {SOURCE.relative_to(lessons.ROOT).as_posix()}/")
    return [lab for lab in there if not names or lab in names]


def generate(lab: str) -> None:
    """Store a lab's source in normal form, and its release."""
    notebook = normalise(nbformat.read(path_of(lab), as_version=4), lab)
    path_of(lab).write_text(lessons.to_text(notebook), encoding="utf-8", newline="\n")
    path = path_of(lab, RELEASE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(release_of(lab), encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0 all well, 1 not, 2 no such lab."""
    parser = argparse.ArgumentParser(description="Generate the labs' releases, and check them.")
    parser.add_argument("name", nargs="*", help="a lab: hw01")
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args(arguments)
    try:
        chosen = labs(options.name)
    except ValueError as error:
        parser.error(str(error))
    if not options.check:
        for lab in chosen:
            generate(lab)
    wrong = [f"{lab}: {line}" for lab in chosen for line in complaints(lab)]
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    print(f"{len(chosen)} labs, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
