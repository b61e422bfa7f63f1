"""The marks out of nbgrader's gradebook: a CSV for the LMS, and one HTML page a student."""

import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from lib2048.course.labs.collect import HandIn, read_record
from lib2048.course.labs.course_folder import open_course
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.grading import Graded, read_graded
from lib2048.course.labs.messages import say
from lib2048.course.labs.release import nbgrader, quietly, resources
from lib2048.machine.files import write_atomic, write_text
from lib2048.train.history import csv_text

# By what column an LMS knows a student, and how the column says it.
COLUMNS = {"moodle": ("Identifier", "Participant {}"), "canvas": ("ID", "{}")}
PLAIN = ("Student", "{}")


@dataclass(frozen=True)
class Mark:
    """One graded cell of one student.  points: None where a person has to give them."""

    name: str
    most: float
    by_person: bool
    points: float


@dataclass(frozen=True)
class Row:
    """One student: the hand-in, its grading, its marks."""

    hand_in: HandIn
    graded: Graded
    marks: list

    def total(self, by_person):
        """Return the points by checks or by a person, None where some are still to be given."""
        points = [mark.points for mark in self.marks if mark.by_person == by_person]
        return None if None in points else sum(points)


def rows(course, lab):
    """Return a `Row` for each graded hand-in of a lab, in the order of the students."""
    nbgrader()
    found = []
    for student, folder in course.students(lab, "autograded").items():
        who = read_record(course.folder / "submitted" / student / lab)
        graded = read_graded(folder) or Graded(student)
        found.append(
            Row(who or HandIn(student, student, "plain", ""), graded, _marks(course, lab, student))
        )
    if not found:
        raise ValueError(say("grading.not_graded", course=course.folder, lab=lab))
    return found


def _marks(course, lab, student):
    """Return the marks of one student in the order of the cells, those without points left out."""
    with quietly(), course.gradebook() as book:
        notebook = book.find_notebook(lab, lab)
        order = [cell.name for cell in notebook.source_cells]
        solutions = {cell.name for cell in notebook.solution_cells}
        marks = []
        for grade in book.find_submission_notebook(lab, lab, student).grades:
            points = None if grade.needs_manual_grade else grade.score
            if grade.max_score:
                by_person = grade.name in solutions
                marks.append(Mark(grade.name, grade.max_score, by_person, points))
    return sorted(marks, key=lambda mark: order.index(mark.name))


# ---------------------------------------------------------------- CSV


def export(lab, folder, out=None):
    """Write the grades of a lab as CSV, and return its path.

    folder: of the course; out: by default COURSE/grades-LAB.csv.  One row a student: the id by
    which the LMS knows the student, the points of each cell, those by checks, "needs a person"
    where a person has to look, the grade where nothing is missing any more, late, and notes.
    """
    of_lab(lab)
    course = open_course(folder)
    found = rows(course, lab)
    lms = {row.hand_in.lms for row in found}
    column, form = COLUMNS.get(lms.pop(), PLAIN) if len(lms) == 1 else PLAIN
    table = [_line(column, form, row) for row in found]
    path = Path(out) if out else course.folder / f"grades-{lab}.csv"
    write_text(path, csv_text(table[0], table))
    return path


def _line(column, form, row):
    """Return a student's line of the CSV, {name of the column: text}."""

    def said(points):
        return say("grading.person") if points is None else f"{points:g}"

    by_checks, by_person = (
        {f"{m.name} ({m.most:g})": said(m.points) for m in row.marks if m.by_person == by}
        for by in (False, True)
    )
    totals, who = (row.total(False), row.total(True)), row.hand_in
    line = {column: form.format(who.student), "Name": who.name, "Number": who.number}
    line |= {"Late": "yes" if who.late else "no"} | by_checks | {"By checks": said(totals[0])}
    line |= by_person | {"Grade": "" if None in totals else f"{sum(totals):g}"}
    line |= {"Of": f"{sum(mark.most for mark in row.marks):g}", "Note": "; ".join(row.graded.notes)}
    return {_harmless(key): _harmless(text) for key, text in line.items()}


def _harmless(text):
    """Keep a spreadsheet from taking a student's text for a formula."""
    text = str(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def summary(found):
    """Return {"students", "by_checks": {points: how many}, "need_a_person"} of rows."""
    points = Counter(row.total(False) for row in found)
    return {
        "students": len(found),
        "need_a_person": sum(row.total(True) is None for row in found),
        "by_checks": {f"{key:g}": points[key] for key in sorted(points)},
    }


# ---------------------------------------------------------------- feedback


def feedback(lab, folder):
    """Write one HTML page a student, COURSE/feedback/STUDENT/LAB/LAB.html, and return the paths.

    The page shows the hand-in as it ran, the marks of each cell, a grader's comments and notes,
    and no hidden tests.  COURSE/feedback/LAB.zip holds all, named as Moodle takes them back.
    """
    of_lab(lab)
    course = open_course(folder)
    exporter, paths = _exporter(), {}
    for row in rows(course, lab):
        student = row.graded.student
        path = course.folder / "feedback" / student / lab / f"{lab}.html"
        write_text(path, _page(exporter, course, lab, row))
        who = row.hand_in
        folder = f"{who.name}_{who.student}_assignsubmission_file_".replace("/", "-")
        paths[f"{folder}/{lab}.html"] = path

    def write(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in paths.items():
                archive.write(path, name)

    write_atomic(course.folder / "feedback" / f"{lab}.zip", write)
    return list(paths.values())


def _exporter():
    """Return what turns a notebook into a page, as nbgrader sets it up."""
    nbgrader()
    with quietly():
        from nbgrader.converters import GenerateFeedback
        from nbgrader.coursedir import CourseDirectory

        config = GenerateFeedback(coursedir=CourseDirectory()).config
        from nbconvert.exporters import HTMLExporter
        from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
        from nbgrader.preprocessors import GetGrades

        exporter = HTMLExporter(config=config)
        exporter.register_preprocessor(GetGrades, enabled=True)
        exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return exporter


def _page(exporter, course, lab, row):
    import nbformat
    from nbgrader.preprocessors import ClearHiddenTests

    student = row.graded.student
    path = course.folder / "autograded" / student / lab / f"{lab}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    about = resources(lab, student, course.database)
    with quietly():
        notebook, _ = ClearHiddenTests(enforce_metadata=False).preprocess(notebook, about)
        _hide_tracebacks(notebook)
        notes = list(row.graded.notes)
        if names := [mark.name for mark in row.marks if mark.points is None]:
            notes.append(say("grading.yet_to_come", names=", ".join(names)))  # the page shows 0
        if notes:
            lines = [f"### {say('grading.feedback_title')}", *(f"- {note}" for note in notes)]
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell("\n".join(lines)))
        page, _ = exporter.from_notebook_node(notebook, about)
    return page


def _hide_tracebacks(notebook):
    """Leave of a test's error what it says: its traceback shows the lines of hidden tests."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("locked"):
            for out in cell.get("outputs", []):
                if out.output_type == "error":
                    out.traceback = [out.evalue]
