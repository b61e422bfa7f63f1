"""A class of hw01 from the download to the CSV: everyone gets the own mark, whatever others do."""

import contextlib
import copy
import csv
import functools
import json
import linecache
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import handins
import hostile_handins
import nbformat
import psutil
import pytest
from test_right_answers import ANSWERS, in_a_file

from lib2048.cli import main
from lib2048.course.labs import course_folder as courses
from lib2048.course.labs import grading, looks, marks, safekeeping, worker
from lib2048.course.labs.asked import is_ours
from lib2048.course.labs.checks import check_text
from lib2048.course.labs.collect import collect
from lib2048.course.labs.course_folder import generate
from lib2048.course.labs.exercise import LABS, of_lab
from lib2048.course.labs.notebook import AS_HANDED_IN
from lib2048.course.labs.pack import pack
from lib2048.course.labs.release import full as full_of
from lib2048.course.labs.restoring import restored
from lib2048.course.labs.running import TimeLimits
from lib2048.course.labs.safekeeping import Book
from lib2048.machine.child import Ended
from lib2048.machine.source_text import source_of

pytestmark = pytest.mark.ci

pytest.importorskip("nbgrader")

AUTOMATIC = {
    "slide_row-no-merge": 1, "slide_row-merges": 4, "slide-rows": 2, "slide-columns": 3,
    "legal_actions-test": 2, "spawn-test": 2, "play-test": 2,
}  # fmt: skip
FULL = sum(AUTOMATIC.values())
ROOT = Path(__file__).resolve().parents[1]

CRASH = "import os\nos._exit(3)"
LOOP = "while True:\n    pass"


def tampered(student):
    """Return an untouched notebook whose test cells say that they are passed, with 100 marks."""
    notebook = handins.without_games(handins.untouched(student))
    for name in AUTOMATIC:
        handins.cell(notebook, name)["source"] = "None"
        handins.cell(notebook, name)["metadata"]["nbgrader"]["points"] = 100
    handins.cell(notebook, "play-test")["metadata"]["nbgrader"]["grade"] = False
    return notebook


def scripted(student):
    """Return a right notebook that shows scripts in every way that we know."""
    notebook = handins.changed(student, prediction=hostile_handins.MARKDOWN)
    shows = nbformat.v4.new_code_cell(hostile_handins.MESSAGE, id="x")
    return notebook | {"cells": [*notebook["cells"], shows]}


HAND_INS = {
    "101": handins.without_games(handins.solution("S101")),
    "102": tampered("S102"),
    "103": handins.edited("S103", slide_row=("if tiles and", "while tiles and")),
    "104": handins.edited("S104", slide=("[1, 2, 3, 0]", "[3, 2, 1, 0]"), spawn=("< 0.1", "< 0.5")),
    "105": handins.changed("S105", legal_actions=CRASH),
    "106": handins.changed("S106", slide=LOOP),
    "107": {"cells": [], "metadata": {"lib2048": {"lab": "hw01"}}, "nbformat": 4},
    "109": scripted("S109"),
}
LOST = {  # what each loses of the full marks
    "101": [], "102": list(AUTOMATIC), "103": ["slide_row-merges"],
    "104": ["slide-columns", "spawn-test"],
    "105": ["legal_actions-test", "spawn-test", "play-test"],
    "106": ["slide-rows", "slide-columns"],
    "107": list(AUTOMATIC), "108": list(AUTOMATIC), "109": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Grade a class of nine, and return the folder of the course."""
    folder = tmp_path_factory.mktemp("course")
    entries, good = [], None
    for student, notebook in HAND_INS.items():
        path = folder / "desk" / student / "hw01.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(handins.data(notebook))
        file, content = "hw01.ipynb", path.read_bytes()
        if student != "107":
            packed = pack("hw01", path.parent, path.parent / "hw01.zip")
            file, content = "hw01.zip", packed.path.read_bytes()
            good = content
        entries.append((f"A Student_{student}_assignsubmission_file_/{file}", content))
    entries.append(("A Student_108_assignsubmission_file_/hw01.zip", good[:500]))
    handins.download(folder / "class.zip", entries)
    generate("hw01", folder, sources=handins.SOURCE.parents[1], lab_seed=7)
    collect(folder / "class.zip", folder)
    limits = TimeLimits(cell=8, all=300, granted=dict.fromkeys(AUTOMATIC, 60))  # it may be busy
    grading.grade("hw01", folder, limits=limits)
    return folder


def exported(course, *to):
    """Export the grades, and return each student's: {column: text}."""
    with open(marks.export("hw01", course, *to), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def grades(course):
    return {line["Identifier"]: line for line in exported(course)}


@pytest.mark.slow
@pytest.mark.parametrize("student, lost", LOST.items())
def test_everyone_gets_the_own_mark(grades, student, lost):
    line = grades[f"Participant {student}"]
    for name, points in AUTOMATIC.items():
        assert line[f"{name} ({points})"] == ("0" if name in lost else str(points)), name
    assert line["By checks"] == str(FULL - sum(AUTOMATIC[name] for name in lost))


def test_one_hand_in_gets_its_mark_and_a_note(tmp_path):
    """It is one of 2048, in a class whose seed has drawn another game."""
    entries = [("s103.ipynb", handins.data(HAND_INS["103"]))]
    path = handins.download(tmp_path / "one.zip", entries)
    course = generate("hw01", tmp_path / "course", seed=7, lab_seed=7, game="own")
    assert course == courses.open_course(course.folder) and course.game == "2048:four=0.3"
    collect(path, tmp_path / "course", "hw01")
    grading.grade("hw01", tmp_path / "course", limits=TimeLimits(cell=60, all=300))
    [line] = exported(tmp_path / "course")
    lost = AUTOMATIC["slide_row-merges"] + AUTOMATIC["spawn-test"]
    assert line["By checks"] == str(FULL - lost)
    assert NOTES["103"] in line["Note"] and "is for the rules 2048, and the class" in line["Note"]
    notebook = (course.folder / "autograded/S103/hw01/hw01.ipynb").read_text()
    assert "spawns; in the game of this lab they come in 30 %" in notebook


@pytest.mark.slow
def test_predictions_need_a_person_and_what_is_untouched_none(grades):
    for name in ("prediction (2)", "who-scores-more (2)"):
        assert grades["Participant 101"][name] == "needs a person"
        assert grades["Participant 102"][name] == "0"
        assert all(grades[f"Participant {n}"][name] == "needs a person" for n in (107, 108))
    assert grades["Participant 101"]["Grade"] == ""
    assert grades["Participant 102"]["Grade"] == "0" and grades["Participant 102"]["Of"] == "20"


NOTES = {
    "101": "",
    "102": "Nothing of it was attempted. Test cells were changed",
    "103": "hw01.slide was checked with the library's version of slide_row",
    "104": "hw01.legal_actions was checked with the library's version of slide.",
    "105": "ended the kernel",
    "106": "took longer than",
    "107": "The notebook is empty",
    "108": "damaged",
    "109": "",
}


@pytest.mark.slow
@pytest.mark.parametrize("student, words", NOTES.items())
def test_the_note_says_what_happened(grades, student, words):
    note = grades[f"Participant {student}"]["Note"]
    assert words in note if words else note == ""


@pytest.mark.slow
def test_grading_again_takes_only_what_is_new(course):
    assert grading.grade("hw01", course) == []
    record = json.loads((course / "autograded" / "106" / "hw01" / "graded.json").read_text())
    assert record["lab_seed"] == 7 and "took longer" in record["notes"][0]


@pytest.mark.slow
def test_a_person_gives_the_rest_of_the_marks(course, grades):
    with courses.open_course(course).gradebook() as book:
        for name in ("prediction", "who-scores-more"):
            grade = book.find_grade(name, "hw01", "hw01", "101")
            grade.manual_score, grade.needs_manual_grade = min(1.5, grade.max_score), False
        book.db.commit()
    line = exported(course, course / "second.csv")[0]
    assert line["Identifier"] == "Participant 101"
    assert line["prediction (2)"] == "1.5" and line["Grade"] == str(FULL + 3)


@pytest.mark.slow
def test_each_gets_one_page_of_feedback(course):
    found = marks.feedback("hw01", course)
    pages = {path.parts[-3]: path.read_text(encoding="utf-8") for path in found}
    assert sorted(pages) == sorted(LOST)
    assert "has yet to mark: prediction, who-scores-more" in pages["103"]
    assert "ended the kernel" in pages["105"] and "damaged" in pages["108"]
    assert not any("HIDDEN" in page or "labs.require" in page for page in pages.values())


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Return the folder of a course without hand-ins."""
    folder = tmp_path_factory.mktemp("full")
    generate("hw01", folder, sources=handins.SOURCE.parents[1], seed=7, lab_seed=7)
    return folder


@pytest.fixture(scope="module")
def full(ready):
    """Return the lab as a course has it, with its hidden tests."""
    return courses.open_course(ready).full("hw01")


def odd_folders(submitted):
    """Make hand-ins that no collect has written; return {student: words on why, or ""}."""
    for name in ("good", "none", "fifo", "link", "large", "json"):
        (submitted / name / "hw01").mkdir(parents=True)
        if name != "none":
            (submitted / name / "hw01" / "hw01.ipynb").write_bytes(handins.data(HAND_INS["101"]))
    os.mkfifo(submitted / "fifo" / "hw01" / "curve.csv")
    (submitted / "link" / "hw01" / "report.md").symlink_to("/dev/zero")
    (submitted / "large" / "hw01" / "report.md").write_bytes(bytes(21_000_000))
    (submitted / "json" / "hw01" / "hw01.ipynb").write_text('{"cells": [null]}')
    (submitted / "file").mkdir()
    (submitted / "file" / "hw01").write_text("no folder")
    (submitted / "loop").symlink_to("loop")
    return {
        "good": "", "fifo": "", "link": "", "none": "hw01.ipynb is not there", "large": "larger",
        "json": "hw01.ipynb is no notebook", "file": "Not a directory", "loop": "symbolic links",
    }  # fmt: skip


@pytest.fixture
def unrun(ready, tmp_path, monkeypatch):
    """Return the folder of a course where no cell runs: a worker works in this process."""

    async def run(*_):
        return [], {}, None

    def ask(self, child, desk):
        return worker.work(self.message(desk, self.limits))

    monkeypatch.setattr(worker, "run", run)
    monkeypatch.setattr(worker.checks, "make_ready", lambda lab: None)
    monkeypatch.setattr(grading._Grading, "ask", ask)
    shutil.copytree(ready, tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def odd(unrun):
    """Return the folder of a course with odd hand-ins, and what is to be said of each."""
    return unrun, odd_folders(unrun / "submitted")


@pytest.fixture
def three(unrun):
    """Return the folder of a course with three hand-ins: a, b and c."""
    for student in "abc":
        path = unrun / "submitted" / student / "hw01" / "hw01.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(handins.data(handins.filled(student)))
    return unrun


def let(monkeypatch, act):
    """Let something happen whenever a hand-in is worked on: act(grading, its folder)."""
    usual = grading._Grading.ask

    def ask(self, child, desk):
        act(self, desk)
        return usual(self, child, desk)

    monkeypatch.setattr(grading._Grading, "ask", ask)


def noted(course):
    return {row["Student"]: row["Note"] for row in exported(course)}


def test_what_one_deletes_of_others_is_restored_and_named(three, monkeypatch):
    target = three / "elsewhere.txt"

    def harm(self, desk):
        shutil.rmtree(three / "submitted" / "a", ignore_errors=True)
        path = three / "submitted" / "b" / "hw01" / "hw01.ipynb"
        path.unlink(missing_ok=True)
        target.write_text("mine")
        path.symlink_to(target)

        for lost in (three / "manifest-hw01.json", three / "autograded/c/hw01/graded.json"):
            lost.write_text("{}")

    grading.grade("hw01", three)
    for student in "ab":  # not c
        (three / "autograded" / student / "hw01" / "graded.json").unlink()
    before = (three / "submitted" / "a" / "hw01" / "hw01.ipynb").read_bytes()
    let(monkeypatch, harm)
    grading.grade("hw01", three)
    assert (three / "submitted" / "a" / "hw01" / "hw01.ipynb").read_bytes() == before
    assert not (three / "submitted" / "b" / "hw01" / "hw01.ipynb").is_symlink()
    assert target.read_text() == "mine"
    notes = noted(three)
    assert all("are restored: submitted/" in notes[student] for student in "ab")
    assert "are restored: autograded/c/hw01/graded.json" in notes["c"]
    assert sorted(safekeeping.read_manifest(three, "hw01")) == ["a", "b", "c"]


def marked(file, *statements):
    """Let somebody else write into a gradebook, and take what is left behind for it."""
    with contextlib.closing(sqlite3.connect(file)) as other:
        for statement in statements:
            other.execute(statement)
        other.commit()


TRIGGER = "CREATE TRIGGER t AFTER {} ON grade BEGIN UPDATE grade SET manual_score = 9; END"


def test_what_others_write_into_the_gradebook_counts_for_nothing_and_is_named(three, monkeypatch):
    file, told = three / "gradebook.db", []
    marked(
        file, TRIGGER.format("INSERT"), TRIGGER.format("UPDATE").replace("TRIGGER t", "TRIGGER u")
    )
    harm = (
        "UPDATE grade SET auto_score = 5, manual_score = 5",
        TRIGGER.format("INSERT").replace(" t ", " v "),
    )
    let(monkeypatch, lambda self, desk: marked(file, "DROP TRIGGER IF EXISTS v", *harm))
    grading.grade("hw01", three, processes=1, tell=told.append)
    assert {row["By checks"] for row in exported(three)} == {"0"}  # no cell has run
    assert "changes marks by itself, and holds it no longer: t, u" in told[0]
    assert any("written into gradebook.db" in line for line in told)
    assert (three / "gradebook-changed.db").exists()
    with contextlib.closing(sqlite3.connect(file)) as book:
        assert book.execute("SELECT * FROM sqlite_master WHERE type = 'trigger'").fetchall() == []
    shutil.rmtree(three / "autograded" / "c")
    assert "It was handed in, and is not graded" in noted(three)["c"]


def test_every_copy_of_what_others_wrote_stays(three):
    for number in (1, 2):
        book = Book(three / "gradebook.db")
        marked(three / "gradebook.db", f"CREATE TABLE notes_{number} (text)")
        book.write()
    copies = [three / f"gradebook-changed{more}.db" for more in ("", "-2")]
    assert all(copy.exists() for copy in copies)


def test_who_was_hurt_beside_others_is_graded_again_alone(three, monkeypatch):
    calls = []

    def harm(self, desk):
        calls.append(len(self.children))
        time.sleep(0.2)
        if len(calls) < 3:
            raise Ended("ended the process (killed)")

    let(monkeypatch, harm)
    told = []
    done = grading.grade("hw01", three, processes=2, tell=told.append)
    assert [one.notes for one in done] == [[], [], []] and len(calls) == 5 and calls[-2:] == [1, 1]
    assert not list(three.glob(".grading*"))


@pytest.mark.parametrize("alone", [False, True])
def test_a_grading_that_was_killed_names_whom_it_was_at(three, alone):
    left = json.dumps({"running": ["a"], "alone": alone, "before": ["c"]})
    (three / ".grading-hw01.json").write_text(left)
    told = []
    done = grading.grade("hw01", three, tell=told.append)
    assert "while it graded a:" in told[0]
    assert [line.partition(":")[0] for line in told[1:]][-1] == "a"
    [row] = (row for row in exported(three) if row["Student"] == "a")
    assert (
        done[0].failed == alone and ("Run before it, in that grading: c." in row["Note"]) == alone
    )
    assert row["By checks"] == ("needs a person" if alone else "0")
    if alone:  # who they were is for the grader alone
        pages = {path.parts[-3]: path.read_text("utf-8") for path in marks.feedback("hw01", three)}
        assert "left to a person" in pages["a"] and "Run before it" not in pages["a"]
    assert marks.summary(marks.rows(courses.open_course(three), "hw01"))["students"] == 3


def test_files_that_are_too_many_to_be_kept_are_named_when_they_change(tmp_path, monkeypatch):
    monkeypatch.setattr(safekeeping, "MOST_BYTES", 10)
    kept = safekeeping.Kept(tmp_path)
    files = {Path("a"): b"12345", Path("b"): b"1234567"}
    assert not kept.keep("s", tmp_path, files)
    for name, data in files.items():
        (tmp_path / name).write_bytes(data + b"!")
    first, second = kept.restore()["s"]
    assert "are restored: a" in first and "too large to be restored: b" in second


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos and links, where there are such")
def test_each_hand_in_has_its_row_whatever_is_wrong_with_others(odd, capsys):
    course, words = odd
    assert main(["labs", "grade", "hw01", str(course)]) == 1
    assert "Not graded: 5. Their notes say why." in capsys.readouterr().out
    rows = {row["Student"]: row["Note"] for row in exported(course)}
    assert sorted(rows) == sorted(words)
    for student, said in words.items():
        assert said in rows[student] if said else rows[student] == "", student
    assert not (course / "autograded" / "link" / "hw01" / "report.md").exists()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos and links, where there are such")
def test_marks_and_pages_that_cannot_be_made_are_the_loss_of_one(odd, capsys):
    course, words = odd
    grading.grade("hw01", course)
    (course / "autograded" / "stranger" / "hw01").mkdir(parents=True)
    (course / "autograded" / "json" / "hw01" / "hw01.ipynb").write_text("{")
    assert main(["labs", "export", "hw01", str(course)]) == 1
    assert "Not graded: 1." in capsys.readouterr().out
    assert main(["labs", "feedback", "hw01", str(course)]) == 1
    said = capsys.readouterr().out
    assert "json: The page could not be made" in said and "stranger: The page could" in said
    assert len([*course.glob("feedback/*/hw01/hw01.html")]) == len(words) + 1
    assert "good:" not in said


def test_the_form_grader_of_a_course_runs_nothing_either(ready):
    from nbconvert.exporters import HTMLExporter
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", str(ready)).load_config()
    exporter = HTMLExporter(config=config, template_name="classic")
    notebook = nbformat.reads(handins.data(HAND_INS["109"]).decode(), as_version=4)
    shown = {"text/html": hostile_handins.SCRIPT, "application/javascript": "1"}
    for data in (shown, {"application/javascript": "1", "text/plain": "the text"}):
        output = nbformat.v4.new_output("display_data", data)
        notebook.cells.append(nbformat.v4.new_code_cell("", outputs=[output]))
    page, _ = exporter.from_notebook_node(notebook)
    assert hostile_handins.runs(page) == [] and "the text" in page and "document.title" in page


PLACES = ["course", "ws26", "a/b/course-2", "."]


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_a_class_is_added_by_git_or_copied_by_docker(ready, tmp_path, place):
    for name in (".gitignore", ".dockerignore"):
        shutil.copy(ROOT / name, tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    course = tmp_path / place
    shutil.copytree(ready, course, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".gitignore"))
    for name in ("autograded/1/hw01/graded.json", "feedback/1/hw01/hw01.html", "grades-hw01.csv"):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text("x")
    path = handins.moodle(
        tmp_path / "download.zip", ("A_1", "a.ipynb", handins.data(HAND_INS["101"]))
    )
    collect(path, course)
    (tmp_path / "class-7.zip").write_text("x")
    (tmp_path / "A_1_assignsubmission_file_").mkdir()
    (tmp_path / "A_1_assignsubmission_file_" / "hw01.ipynb").write_text("x")
    added = subprocess.run(
        ["git", "-C", tmp_path, "add", "-n", "-A"], check=True, capture_output=True, text=True
    )
    assert sorted(added.stdout.split()) == ["'.dockerignore'", "'.gitignore'", "add", "add"]
    public = {"source", "release", ".gitignore", ".dockerignore"}  # of an odd name's course
    for file in (
        path for path in tmp_path.rglob("*") if path.is_file() and ".git/" not in str(path)
    ):
        name = file.relative_to(tmp_path)
        assert left_out_by_docker(name) or public & set(name.parts), name


def left_out_by_docker(name):
    """Say whether a path, or a folder that holds it, matches a line of .dockerignore."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for line in filter(None, (line for line in lines if not line.startswith("#"))):
        inner = re.escape(line.removeprefix("**/")).replace(r"\*", "[^/]*")
        pattern = re.compile(f"(.*/)?{inner}" if line.startswith("**/") else inner)
        if any(pattern.fullmatch(str(part)) for part in (name, *name.parents)):
            return True
    return False


def test_git_and_docker_leave_out_nothing_that_belongs_to_the_repository():
    listed = ["git", "-C", ROOT, "ls-files", "-i", "-c", "--exclude-standard"]
    files = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    assert files == []
    tracked = subprocess.run(listed[:4], capture_output=True, text=True, check=True).stdout
    assert not [name for name in tracked.split("\n") if name and left_out_by_docker(Path(name))]


def names(notebook):
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]


def test_tests_that_are_lost_stand_at_the_end_and_lost_answers_are_for_a_person(full):
    notebook = handins.filled()
    gone = {"slide-rows", "play-test", "prediction"}
    notebook["cells"] = [c for c in notebook["cells"] if handins.grade_id(c) not in gone]
    found, notes = restored(notebook, full, "hw01")
    assert names(found)[-3:] == ["prediction", "slide-rows", "play-test"]
    assert "slide-rows, play-test" in notes[0] and "prediction" in notes[1]
    back = found.cells[-2]
    assert back.source.startswith("check(") and back.metadata.nbgrader.points == 2
    assert "lost" in found.cells[-3].source


def answer_elsewhere(kind):
    """Return a right hand-in without answers in their cells, and one that stands elsewhere."""
    notebook = handins.filled()
    for name in ("prediction", "who-scores-more"):
        handins.cell(notebook, name)["source"] = "YOUR ANSWER HERE"
    at = [handins.grade_id(cell) for cell in notebook["cells"]].index("prediction")
    mine = {"cell_type": "markdown", "metadata": {}, "id": "x", "source": "I say: snake."}
    if kind == "question":
        notebook["cells"][at - 1]["source"] = "I say: snake."
    elif kind != "none":
        code = {"cell_type": "code", "outputs": [], "execution_count": None}
        texts = {"comment": "# I say: snake.", "code": "I say: snake."}
        text = texts.get(kind, mine["source"])
        one = mine | {"source": text} | (code if kind in texts else {})
        notebook["cells"].insert(at + 1, one)
    return notebook


@pytest.mark.parametrize("kind", ["new cell", "question", "code", "comment", "none"])
def test_an_answer_that_may_stand_elsewhere_is_for_a_person(full, kind):
    found, [note] = restored(answer_elsewhere(kind), full, "hw01")
    answers = [
        cell.source
        for cell in found.cells
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "markdown"
    ]
    if kind == "none":
        assert note == "Not attempted: prediction, who-scores-more."
        assert answers == ["YOUR ANSWER HERE"] * 2
    else:
        assert "look for it: prediction, who-scores-more. Look at the cell that begins" in note
        assert "I say: snake." in note and all("Look for the answer" in text for text in answers)


def test_what_was_not_attempted_or_changed_is_noted(full):
    assert restored(handins.untouched(), full, "hw01")[1] == ["Nothing of it was attempted."]
    notebook = handins.untouched()
    handins.cell(notebook, "slide_row")["source"] = "def slide_row(row):\n    return row, 0"
    handins.cell(notebook, "slide-rows")["source"] = "pass"
    first, second = restored(notebook, full, "hw01")[1]
    assert first.startswith("Not attempted: slide, legal_actions") and "prediction" in first
    assert second.endswith("given out: slide-rows.")


def bare(notebook):
    """Return a notebook without metadata and ids, as some editors leave it."""
    cells = [cell | {"metadata": {}, "id": f"x{n}"} for n, cell in enumerate(notebook["cells"])]
    return notebook | {"cells": cells, "metadata": {}}


@pytest.mark.parametrize("lost", ["metadata", "all"])
def test_cells_are_known_by_their_ids_or_by_what_they_say(full, lost):
    notebook = handins.filled()
    if lost == "all":
        found, notes = restored(bare(notebook), full, "hw01")
    else:
        cells = [cell | {"metadata": {}} for cell in notebook["cells"]]
        found, notes = restored(notebook | {"cells": cells}, full, "hw01")
    assert names(found) == names(full) and notes == []
    assert "a reason" in found.cells[names(found).index("who-scores-more")].source
    assert not any("labs.require" in cell.source for cell in found.cells)


NO_CELLS = ("kills the grader", "classmate", "proc", "wraps", "by dict", "wraps by find", "a box",
            "a partial", "use inside", "a copy", "patches the child", "shows another", "a pool",
            "a flood", "gradebook", "stays")  # fmt: skip


@pytest.mark.parametrize("kind", [one for one in hostile_handins.CHEATS if one not in NO_CELLS])
def test_a_cell_that_a_person_should_look_at_is_named(kind):
    *_, words = hostile_handins.CHEATS[kind]
    cells = enumerate(hostile_handins.cheat(kind, "S1")["cells"])
    codes = [(n, "".join(cell["source"])) for n, cell in cells if cell["cell_type"] == "code"]
    said = [words, "o.equal"] if kind == "patches the judge" else [words]
    assert any(word in note for note in looks.of_cells(codes) for word in said)


FINE = {  # in cells
    "!ls\n!python --version\n%time 1 + 1": "shell lines",
    "import importlib\nimport os\nos.system('echo hi')": "unused, or harmless",
    "class Board:\n    def __eq__(self, other):\n        return self.rows == other.rows": "equal",
    "def run_code(tiles):\n    return tiles\nrun_code([2])": "a helper's name",
    "from lib2048 import course as c\nc.my_note = 'hello'": "a note of one's own",
    "import sys\nsys.setrecursionlimit(5000)\nfor cell_contents in (1, sys.maxsize):\n    pass": "",
}


@pytest.mark.parametrize("text", FINE)
def test_a_cell_that_does_no_harm_is_not_named(text):
    assert looks.of_cells([(1, text)]) == []


def test_a_function_that_does_no_harm_is_not_named_and_a_cause_is_said_once():
    room, full = lab_room("hw01")
    room = dict(room)
    define(room, FINE_FUNCTION, "fine")
    handed_out, exercise = looks.HandedOut(full, "hw01"), of_lab("hw01")["slide_row"]
    text = source_of({"function": room["slide_row"]})
    assert looks.of_text(text, handed_out, exercise, "slide_row") == []
    text, told = text.replace("Board(row)", "open(row)"), set()
    assert looks.of_text(text, handed_out, exercise, "slide_row", told)
    assert looks.of_text(text, handed_out, exercise, "slide", told) == []


FINE_FUNCTION = """import sys
class Board:
    def __init__(self, rows):
        self.rows = rows
    def __eq__(self, other):
        return self.rows == other.rows
def slide_row(row):
    sys.setrecursionlimit(5000)
    def run_code(row):
        return [cell_contents for cell_contents in row if cell_contents < sys.maxsize]
    return run_code(row), Board(row) == 0
"""

SOURCE = handins.SOURCE.parents[1]


@functools.cache
def lab_room(lab):
    """Return (the names that a lab's imports and right answers define, its full notebook)."""
    notebook, room = nbformat.read(SOURCE / lab / f"{lab}.ipynb", 4), {"__name__": "__main__"}
    for n, cell in enumerate(notebook.cells):
        mine = (
            cell.metadata.get("nbgrader", {}).get("solution") or "import " in cell.source or n < 6
        )
        if cell.cell_type == "code" and mine:
            lines = [line for line in cell.source.split("\n") if not line.startswith("labs.start(")]
            define(room, "\n".join(lines), f"<{lab} {n}>")
    return room, full_of(notebook, lab)


def define(room, text, file):
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), room)


@pytest.mark.parametrize("lab", [lab for lab in LABS if lab != "hw09"])
def test_nothing_is_said_of_right_answers_and_the_librarys_own_are_known(lab):
    room, full = lab_room(lab)
    handed_out = looks.HandedOut(full, lab)
    for name, exercise in of_lab(lab).items():
        text, ours = (source_of({"function": one}) for one in (room[name], exercise.truth))
        assert looks.of_text(text, handed_out, exercise, name) == []
        assert is_ours(ours, exercise) and not is_ours(text, exercise)
    for name in [name for one, name in ANSWERS if one == lab][::4]:
        exercise = of_lab(lab)[name.partition("__")[0]]
        text = source_of({"function": vars(in_a_file(lab))[name]})
        notes = looks.of_text(text, handed_out, exercise, name)
        assert bool(notes) == name.endswith("by_the_library"), notes
    cells = [(0, cell.source) for cell in full.cells if cell.cell_type == "code"]
    assert looks.of_cells(cells) == []


WRAPS = {
    "def slide_row(row):\n    return spec.slide_row(row)": "hand out: spec.slide_row",
    "def helper(row):\n    return spec.slide_row(row)\n"
    "def slide_row(row):\n    return helper(row)": "hand out: spec.slide_row",
    "ours = spec.slide_row\ndef slide_row(row):\n    return ours(row)": "hand out: slide_row.",
    "table = [spec.slide_row]\ndef slide_row(row):\n    return table[0](row)": "slide_row",
    "def slide_row(row):\n    from lib2048.game.spec import slide_row\n    return 0": "slide_row.",
    "def outer(s):\n    def slide_row(row):\n        return s.slide(row)\n    return slide_row\n"
    "slide_row = outer(spec)": "hand out: lib2048.game.spec",
    "def slide_row(row):\n    return getattr(labs, 'hw01')": "hand out: labs",
    "def slide_row(row):\n    return open('/proc/1/environ').read()": "needs: open",
    "def slide_row(row):\n    return __import__('os').listdir()": "needs: __import__",
    "import gc\ndef slide_row(row):\n    return gc.get_objects()": "needs: gc",
    "def slide_row(row):\n    return (lambda: 0).__globals__": "needs: __globals__",
    hostile_handins.PATCHES: "hand out: o.equal",
    hostile_handins.GIVEN_OUT: "hand out: labs.exercise.find",
}


@pytest.mark.parametrize("text, words", WRAPS.items())
def test_a_function_that_uses_more_than_it_was_given_is_named(text, words):
    room, full = lab_room("hw01")
    room = dict(room)
    define(room, "from lib2048.game import spec\nfrom lib2048.course import labs\n" + text, text)
    source, exercise = source_of({"function": room["slide_row"]}), of_lab("hw01")["slide_row"]
    notes = looks.of_text(source, looks.HandedOut(full, "hw01"), exercise, "slide_row")
    assert any(words in note for note in notes), notes


@pytest.mark.slow
def test_no_cheat_gets_a_mark_for_nothing_and_each_is_named(tmp_path):
    course = tmp_path / "course"
    kinds = {f"{200 + n}": kind for n, kind in enumerate(hostile_handins.CHEATS)}
    some = [
        (f"A_{who}", "hw01.ipynb", handins.data(hostile_handins.cheat(kind, f"S{who}", course)))
        for who, kind in kinds.items()
    ]
    honest = ("B_300", "hw01.ipynb", handins.data(handins.without_games(handins.filled("S300"))))
    generate("hw01", course, sources=SOURCE, seed=7, lab_seed=7)
    collect(handins.moodle(tmp_path / "class.zip", *some, honest), course)
    told = []
    grading.grade("hw01", course, limits=TimeLimits(cell=60, all=300), tell=told.append)
    assert any("written into gradebook.db" in line for line in told)
    stayed = int((course / "stayed").read_text())
    assert sys.platform != "linux" or not psutil.pid_exists(stayed)
    rows = {row["Identifier"].removeprefix("Participant "): row for row in exported(course)}
    assert rows["300"]["By checks"] == str(FULL) and rows["300"]["Note"] == ""
    for who, kind in kinds.items():
        *_, base, words = hostile_handins.CHEATS[kind]
        assert words in rows[who]["Note"], (kind, rows[who]["Note"])
        assert base == hostile_handins.RIGHT or rows[who]["By checks"] == "0", kind


TELLS = {  # what a function may do to tell what it has seen, and what is said of it
    "print(4711)\n    return row, 0": "",
    "raise ValueError(4711)": "raised ValueError, in the line `raise ValueError(4711)`",
    "raise type('S4711', (Exception,), {})": "raised an error",
    "raise SystemExit('4711')": "raised SystemExit.",
}


@pytest.mark.parametrize("text, words", TELLS.items())
def test_what_a_function_says_of_hidden_cases_is_not_shown(text, words):
    source = f"def f(row):\n    {text}\nFUNCTIONS = {{'function': f}}"
    found = check_text(of_lab("hw01")["slide_row"], source, None, 8, hidden=True)
    said = str(found).replace("raise ValueError(4711)", "").replace("type('S4711'", "")
    assert words in str(found) and "4711" not in said


def test_of_two_cells_with_one_name_the_last_counts(full):
    notebook = handins.solution()
    first = handins.cell(notebook, "slide_row")
    notebook["cells"].insert(0, first | {"source": "def slide_row(row):\n    return 1"})
    found, notes = restored(notebook, full, "hw01")
    assert names(found).count("slide_row") == 1 and "slide_row" in notes[0]
    assert "tiles" in found.cells[names(found).index("slide_row")].source


def test_what_the_graders_commands_refuse(tmp_path, one_line_error, monkeypatch):
    def refused(*arguments):
        return one_line_error("labs", *arguments)

    for command in ("grade", "export", "feedback"):
        assert "no course in there" in refused(command, "hw01", tmp_path)
    assert "no such source lab" in refused("generate", "hw01", tmp_path, "--from", tmp_path)
    (tmp_path / "course.toml").write_text("seed = 1\n")
    assert "course.toml cannot be read" in refused("grade", "hw01", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["course.toml"]
    for game in ("5", '"chess"', '"2048@2x2"'):
        (tmp_path / "course.toml").write_text(f"seed = 1\nlab_seed = 2\ngame = {game}\n")
        assert "course.toml cannot be read" in refused("grade", "hw01", tmp_path)
    (tmp_path / "course.toml").write_text("seed = 1\nlab_seed = 2\n")
    assert "nobody's hw01 in there" in refused("grade", "hw01", tmp_path)
    assert "no hw01 graded in there" in refused("export", "hw01", tmp_path)
    (tmp_path / "submitted" / "1" / "hw01").mkdir(parents=True)
    assert "holds no source of hw01" in refused("grade", "hw01", tmp_path)
    for numbers in (["--processes", "0"], ["--patience", "0.1"], ["--patience", "nan"]):
        assert "at least 1 process" in refused("grade", "hw01", tmp_path, *numbers)
    monkeypatch.setitem(sys.modules, "nbgrader", None)
    assert "nbgrader, which is not installed" in refused("grade", "hw01", tmp_path)


@pytest.mark.slow
def test_cells_that_came_or_went_are_refused_once_hand_ins_are_graded(course, tmp_path):
    source = handins.solution()
    gone = [cell for cell in source["cells"] if handins.grade_id(cell) != "spawn-test"]
    path = tmp_path / "hw01" / "hw01.ipynb"
    path.parent.mkdir()
    path.write_bytes(handins.data(source | {"cells": gone}))
    before = (course / "source" / "hw01" / "hw01.ipynb").read_bytes()
    with pytest.raises(ValueError, match="other graded cells"):
        generate("hw01", course, sources=tmp_path, lab_seed=99)
    assert (course / "source" / "hw01" / "hw01.ipynb").read_bytes() == before
    assert courses.open_course(course).lab_seed == 7


@pytest.mark.slow
def test_a_courses_seeds_reach_the_notebook(course):
    task = grading._Grading(courses.open_course(course), "hw01", 1, TimeLimits(), print)
    found = task.environment()
    assert found["LIB2048_CLASS_SEED"] == "2048" and "LIB2048_LAB_SEED" not in found
    assert found["LIB2048_QUICK"] == "1"


def test_a_cell_may_be_granted_more_and_patience_counts_for_all():
    limits = TimeLimits(cell=20, all=60, granted={"trained": 90, "short": 5})
    cell = type("Cell", (), {"metadata": {"nbgrader": {"grade_id": "trained"}}})
    other = type("Cell", (), {"metadata": {}})
    assert (limits.of(cell), limits.of(other), limits.total) == (90, 20, 130)
    twice = TimeLimits(20, 60, limits.granted, patience=2)
    assert (twice.of(cell), twice.of(other), twice.total) == (180, 40, 260)


def test_a_busy_machine_gets_more_time(monkeypatch):
    monkeypatch.setattr("psutil.cpu_count", lambda: 2)
    for load, times in ((0.5, 1), (2.0, 1), (6.0, 3), (50.0, 5)):
        monkeypatch.setattr("psutil.getloadavg", lambda load=load: (load, 0, 0))
        assert TimeLimits(20, 60, patience=2).when_busy().total == 120 * times


def test_a_labs_limits_grow_with_the_games_that_it_trains(monkeypatch):
    wants = {"any": 40, "trained": 100}
    monkeypatch.setattr(grading, "cell_seconds", lambda lab: wants)
    assert grading._limits("hw04", 1, grading.GAMES) == TimeLimits(40, 120, {"trained": 100}, 1)
    full = grading._limits("hw04", 2, 5 * grading.GAMES)
    assert full == TimeLimits(40, 120, {"trained": 500}, 2) and "any" in wants


def test_long_cells_without_marks_stay_as_they_were_handed_in(full):
    full = copy.deepcopy(full)
    full.cells[1].metadata["tags"] = [AS_HANDED_IN]
    handed_in = handins.solution("s1")
    picture = {"image/png": "aGk=", "text/html": "<script>"}
    handed_in["cells"][1]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "so it was"},
        {"output_type": "display_data", "data": picture, "metadata": {"x": 1}},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": []},
    ]
    handed_in["cells"][-2]["metadata"]["tags"] = [AS_HANDED_IN]  # a student's own idea
    notebook, _ = restored(handed_in, full, "hw01")
    kept = [cell for cell in notebook.cells if AS_HANDED_IN in cell.metadata.get("tags", [])]
    assert [cell.source for cell in kept] == ["".join(handed_in["cells"][1]["source"])]
    assert [dict(out.get("data", {})) for out in kept[0].outputs] == [{}, {"image/png": "aGk="}]


def is_alive(process):
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.slow
def test_ctrl_c_ends_the_grading_and_who_was_being_graded_is_not(tmp_path):
    notebook = handins.changed("S1", slide_row="while True:\n    pass")
    path = handins.download(tmp_path / "one.zip", [("s1.ipynb", handins.data(notebook))])
    generate("hw01", tmp_path / "course", seed=7, lab_seed=7)
    collect(path, tmp_path / "course", "hw01")
    command = [sys.executable, "-m", "lib2048.cli", "labs", "grade", "hw01", tmp_path / "course"]
    grader = psutil.Popen(command, stderr=subprocess.PIPE)
    while len(started := grader.children(recursive=True)) < 3:  # a worker, its judge, its kernel
        time.sleep(0.1)
    time.sleep(1)
    grader.send_signal(signal.SIGINT)
    assert (b"stopped" in grader.communicate(timeout=60)[1]) and grader.returncode == 130
    assert not list((tmp_path / "course").glob("autograded/**/graded.json"))
    assert [one for one in started if is_alive(one)] == []


def test_a_page_tells_no_folder_of_the_grader_and_a_failed_test_once():
    from lib2048.course.labs import page

    error = {"output_type": "error", "ename": "E", "evalue": "x", "traceback": []}
    said = [
        "File \x1b[32m/opt/me/kernelbase.py:15\x1b[39m",
        "File ~/a/b.py, 'C:\\x\\y.py'",
        "1/2/3",
    ]
    test = nbformat.v4.new_code_cell(metadata={"nbgrader": {"locked": True}})
    own = nbformat.v4.new_code_cell()
    test.outputs = [nbformat.v4.new_output("display_data"), nbformat.from_dict(error)]
    own.outputs = [nbformat.from_dict(error | {"traceback": said})]
    notebook = nbformat.v4.new_notebook(cells=[test, own])
    page._hide_tracebacks(notebook)
    page._hide_places(notebook)
    assert [out.output_type for out in test.outputs] == ["display_data"]
    shown = ["File \x1b[32mkernelbase.py:15\x1b[39m", "File b.py, 'y.py'", "1/2/3"]
    assert own.outputs[0].traceback == shown
    assert grading.sentences(["a note", "One.", ""]) == "a note. One."


# ---------------------------------------------------------------- a browser, which stays: the last


@pytest.mark.slow
def test_a_page_of_feedback_runs_nothing_and_asks_nobody(course, chromium):
    [path] = (path for path in marks.feedback("hw01", course) if path.parts[-3] == "109")
    assert hostile_handins.runs(path.read_text(encoding="utf-8")) == []
    page, asked = chromium.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.route("https://**", lambda route: route.abort())
    page.goto(path.as_uri())
    page.wait_for_timeout(500)
    assert page.title() == "hw01" and page.locator("text=document.title").count() > 3
    abroad = [
        url for url in asked if not url.startswith(("data:", "file:")) and "mathjax" not in url
    ]
    assert abroad == []
    page.close()
