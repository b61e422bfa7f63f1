"""The marks out of nbgrader's gradebook: a CSV for the LMS, and one HTML page a student."""

import zipfile
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

from lib2048.course.labs.collect import HandIn, read_record
from lib2048.course.labs.course_folder import open_course
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.grading import Graded, read_graded, sentences
from lib2048.course.labs.messages import say
from lib2048.course.labs.release import nbgrader, quietly
from lib2048.course.labs.safekeeping import read_manifest
from lib2048.course.safely import csv_of
from lib2048.machine.child import Child, Ended
from lib2048.machine.files import write_atomic, write_text
from lib2048.machine.terminal import one_line

PAGE_SECONDS, PAGE_MIB = 30, 2048  # that a page may take; most take half a second
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
    """Return a `Row` for each hand-in of a lab, in the order of the students.

    Whoever handed in when the lab was graded has one, whatever is there of it now.
    """
    nbgrader()
    graded_folders, found = course.students(lab, "autograded"), []
    if not graded_folders:
        raise ValueError(say("grading.not_graded", course=course.folder, lab=lab))
    for student in sorted(graded_folders.keys() | read_manifest(course.folder, lab).keys()):
        who = read_record(course.folder / "submitted" / student / lab)
        folder = course.folder / "autograded" / student / lab
        graded, marks = read_graded(folder) or Graded(student, failed=True), []
        try:
            marks = _marks(course, lab, student) if student in graded_folders else []
        except Exception as error:  # whatever is wrong with one, the others have theirs
            graded.failed = True
            graded.notes.append(say("grading.failed", error=one_line(error)))
        if student not in graded_folders:
            graded.notes.append(say("grading.vanished"))
        found.append(Row(who or HandIn(student, student, "plain", ""), graded, marks))
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
    write_text(path, csv_of(max(table, key=len), table))
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
    open = row.graded.failed or None in totals  # a person decides, not a silent 0
    line |= by_person | {"Grade": "" if open else f"{sum(totals):g}"}
    note = sentences(row.graded.notes + row.graded.of_others)
    return line | {"Of": f"{sum(mark.most for mark in row.marks):g}", "Note": note}


def summary(found):
    """Return {"students", "by_checks": {points: how many}, "need_a_person", "failed"} of rows.

    failed: how many have no marks, which the gradebook has lost.
    """
    points = Counter(row.total(False) for row in found if row.total(False) is not None)
    return {
        "students": len(found),
        "failed": sum(not row.marks for row in found),
        "need_a_person": sum(row.total(True) is None for row in found),
        "by_checks": {f"{key:g}": points[key] for key in sorted(points)},
    }


# ---------------------------------------------------------------- feedback


def feedback(lab, folder, tell=lambda line: None):
    """Write one HTML page a student, COURSE/feedback/STUDENT/LAB/LAB.html, and return the paths.

    The page shows the hand-in as it ran, the marks of each cell, a grader's comments and notes,
    and no hidden tests; of what a student wrote, nothing runs in it.  Where a page cannot be made,
    it says so and holds the notes; tell is called with a line about it.  COURSE/feedback/LAB.zip
    holds all, named as Moodle takes them back.
    """
    of_lab(lab)
    course = open_course(folder)
    paths = {}
    with Child() as child:
        for row in rows(course, lab):
            student, who = row.graded.student, row.hand_in
            path = course.folder / "feedback" / student / lab / f"{lab}.html"
            try:
                write_text(path, _page(child, course, lab, row, tell))
            except (OSError, ValueError) as error:
                tell(f"{student}: {one_line(error)}")
                continue
            place = one_line(f"{who.name}_{who.student}_assignsubmission_file_")
            paths[f"{place.replace('/', '-')}/{lab}.html"] = path

    def write(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, path in paths.items():
                archive.write(path, name)

    write_atomic(course.folder / "feedback" / f"{lab}.zip", write)
    return list(paths.values())


def _page(child, course, lab, row, tell):
    """Return one student's page, which another process makes: see `page`."""
    student, notes = row.graded.student, list(row.graded.notes)
    path = course.folder / "autograded" / student / lab / f"{lab}.ipynb"
    if names := [mark.name for mark in row.marks if mark.points is None]:
        notes.append(say("grading.yet_to_come", names=", ".join(names)))  # the page shows 0
    about = {"file": str(path.resolve()), "lab": lab, "student": student, "notes": notes}
    try:
        message = about | {"database": course.database}
        made = child.ask("lib2048.course.labs.page:page", message, PAGE_SECONDS, PAGE_MIB)
        return made["answer"]["page"]
    except Ended as ended:
        notes.append(say("grading.no_page", reason=one_line(ended.reason)))
        tell(f"{student}: {notes[-1]}")
        lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
        return f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{lab}</title>\n<ul>{lines}</ul>\n'
