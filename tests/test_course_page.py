"""docs/course.md names the labs, lessons, minutes and marks that there are."""

import json
import re
from functools import partial

import lessons
import nbformat
import pytest

PAGE = (lessons.ROOT / "docs" / "course.md").read_text(encoding="utf-8")
SOURCE = lessons.ROOT / "notebooks" / "homework" / "source"
LABS = sorted(path.stem for path in SOURCE.glob("*/*.ipynb"))
ROW = r"^\| (hw\d\d) [^|]*\|[^|]*\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$"
TOLD = {row[0]: tuple(map(int, row[1:])) for row in re.findall(ROW, PAGE, re.MULTILINE)}


def cells_of(lab):
    return json.loads((SOURCE / lab / f"{lab}.ipynb").read_text(encoding="utf-8"))["cells"]


def points(lab, by_person):
    """Return the marks of a lab's cells that a person, or a check, gives."""
    graded = [cell["metadata"].get("nbgrader", {}) for cell in cells_of(lab)]
    return sum(c["points"] for c in graded if c.get("grade") and c["solution"] == by_person)


def test_every_lab_has_its_row():
    assert list(TOLD) == LABS


@pytest.mark.parametrize("lab", LABS)
def test_minutes_and_marks_are_those_of_the_lab(lab):
    title = "".join(cells_of(lab)[0]["source"])
    minutes, machine, marks, checks, person = TOLD[lab]
    assert f"{minutes} minutes of work" in title
    assert re.search(rf"minutes of work, (1 to )?{machine} of machine", title)
    assert f"**Marks** {marks}" in title
    assert (points(lab, False), points(lab, True)) == (checks, person)
    assert (f"{checks} by checks" in title, marks) == (True, checks + person)


def test_every_lesson_that_is_named_is_there():
    plans = PAGE[PAGE.index("## Fourteen weeks") : PAGE.index("## One day")]
    rows = [line.split("|")[2] for line in plans.splitlines() if re.match(r"\| \d", line)]
    named = set(re.findall(r"\b(\d\d|A\d)\b", " ".join(rows)))
    assert named <= {path.stem.split("_")[0] for path in lessons.lessons()}


def test_minutes_of_lessons_add_up():
    read = partial(nbformat.read, as_version=4)
    minutes = {p.stem.split("_")[0]: lessons.minutes(read(p)) for p in lessons.lessons()}
    plans = PAGE[PAGE.index("## Fourteen weeks") : PAGE.index("## One day")]
    for line in plans.splitlines():
        if row := re.match(r"\| \d+ \|([^|]*)\| (\d+) \|", line):
            if "tournament" not in row[1]:
                named = re.findall(r"\b(\d\d|A\d)\b", row[1])
                assert sum(minutes[name] for name in named) == int(row[2]), line
