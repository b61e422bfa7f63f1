"""Grade what a class handed in: every hand-in by itself, into nbgrader's gradebook.

This process reads all hand-ins first, lets a worker run and judge each, and alone writes marks.
Whatever a hand-in does, the others are graded, and nothing of theirs is lost.
"""

import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from lib2048.course.labs.asked import asked_in
from lib2048.course.labs.collect import RECORD, HandIn, read_noted, read_record
from lib2048.course.labs.course_folder import open_course
from lib2048.course.labs.exercise import cell_seconds, of_lab
from lib2048.course.labs.hw04.performance import GAMES, reference_of
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import MOST_MB
from lib2048.course.labs.release import nbgrader, quietly, resources
from lib2048.course.labs.restoring import graded, restored
from lib2048.course.labs.running import ALL_SECONDS, CELL_SECONDS, TimeLimits, not_run
from lib2048.course.labs.safekeeping import (
    MARK,
    Book,
    Journal,
    Kept,
    adopt,
    below,
    end_below,
    end_marked,
    read_manifest,
    write_manifest,
)
from lib2048.course.labs.seeds import PLAIN
from lib2048.machine.child import PATIENCE, Child, Ended
from lib2048.machine.files import read_bytes, write_text
from lib2048.machine.process import on_sudden_end
from lib2048.machine.terminal import one_line

GRADED = "graded.json"
MOST_NOTE = 500  # characters
MOST_NOTES = 20
JUDGE_SECONDS = 30  # that a test may take, beyond what the notebook may


@dataclass
class Graded:
    """What is kept of one grading: notes in words; seconds; hash of the hand-in; the seeds.

    of_others: notes that name other students, for no page of feedback; failed: nothing of it could
    be run, or kept; the last note says why.
    """

    student: str
    notes: list = field(default_factory=list)
    of_others: list = field(default_factory=list)
    seconds: float = 0.0
    hash: str = ""
    lab_seed: int = 0
    game: str = PLAIN
    failed: bool = False


def grade(
    lab,
    folder,
    processes=2,
    again=False,
    patience=1,
    games=GAMES,
    limits=None,
    tell=lambda line: None,
):
    """Grade all hand-ins of a lab that are new or have changed.

    folder: of the course; processes: workers at a time; again: all of them, new or not; patience:
    by which the limits of time are multiplied, 1 or more; games: that hidden cells train; limits:
    of time, `running.TimeLimits`; tell: called with a line about each.  Returns a list of `Graded`.
    Raises ValueError where the course, its hand-ins or the lab's source are missing.
    """
    if processes < 1 or not 1 <= patience <= 100:
        raise ValueError(say("grading.bad_numbers", processes=processes, patience=patience))
    reference_of("4x6", games)  # refuses a number that nothing can be compared with
    of_lab(lab)
    nbgrader()
    course = open_course(folder)
    if not course.students(lab):
        raise ValueError(say("grading.no_hand_ins", course=folder, lab=lab))
    limits = limits or _limits(lab, patience, games)
    return _Grading(course, lab, processes, limits, tell, games, again).all()


def _limits(lab, patience, games):
    """Return the limits of a lab, whose training cells get more where they train more games."""
    more, granted = max(1, games / GAMES), dict(cell_seconds(lab))
    cell = granted.pop("any", CELL_SECONDS)
    granted = {name: seconds * more for name, seconds in granted.items()}
    return TimeLimits(cell, ALL_SECONDS * cell / CELL_SECONDS, granted, patience)


@dataclass
class _HandIn:
    """One hand-in, as it was when grading began: its place, its files, what is wrong with it.

    files: {path in its folder: bytes}; None where they are too many to be kept, `hash` says which.
    """

    student: str
    path: Path
    files: dict = field(default_factory=dict)
    hash: str = ""
    record: HandIn = None
    problem: str = ""
    begun: float = 0.0
    over: float = 0.0


class _Grading:
    """The grading of one lab."""

    def __init__(self, course, lab, processes, limits, tell, games=GAMES, again=False):
        self.course, self.lab, self.tell, self.again = course, lab, tell, again
        self.limits, self.games, self.processes = limits, games, processes
        self.full, self.mark = course.full(lab), token_hex(8)
        self.tests = len(asked_in(self.full))
        self.done, self.children = {}, set()
        self.spare, self.starting = below(), threading.Lock()
        self.kept = Kept(course.folder)
        self.journal = Journal(course.folder / f".grading-{lab}.json")

    def folder(self, student):
        return self.course.folder / "autograded" / student / self.lab

    def all(self):
        """Grade who is to be graded; return their `Graded`, in order."""
        hand_ins = []
        for student, path in self.course.students(self.lab).items():
            hand_ins.append(one := _read(student, path))
            if not self.kept.keep(student, path, one.files):
                one.files = None
        hashes = {one.student: one.hash for one in hand_ins}
        self.manifest = read_manifest(self.course.folder, self.lab) | hashes
        write_manifest(self.course.folder, self.lab, self.manifest)
        suspects, culprit, before = self.journal.read()
        left = [one for one in hand_ins if not self.is_done(one)]
        self.keep_graded(hashes.keys() - {one.student for one in left})
        if suspects:
            self.tell(say("grading.was_stopped", names=", ".join(suspects)))
        on_sudden_end(self.stop)
        self.open_book()
        adopt()
        try:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as desk:
                self.desk = Path(desk)
                hurt = self.together([one for one in left if one.student not in suspects])
                for one in hurt + [one for one in left if one.student in suspects]:
                    if one.student == culprit and not self.again:
                        names = ", ".join(before[-MOST_NOTES:]) or "—"
                        why = {"problem": say("grading.ended_grading"), "open": True}
                        self.save(one, why, [say("grading.run_before", names=names)])
                    else:
                        self.alone(one)
            self.look_after()
        finally:
            self.stop()
            adopt(False)
        return [self.done[one.student] for one in left]

    def keep_graded(self, students):
        """Keep what earlier gradings have written of students who are not graded now."""
        for student in students:
            with contextlib.suppress(ValueError, OSError):  # too much, or gone already
                self.kept.keep(student, self.folder(student), _files(self.folder(student)))

    def is_done(self, one):
        """Say whether this very hand-in was graded under this very seed and game."""
        old, course = read_graded(self.folder(one.student)), self.course
        new = (one.hash, course.lab_seed, course.game)
        return old and (old.hash, old.lab_seed, old.game) == new and not self.again

    def together(self, hand_ins):
        """Grade several at a time; return those that were hurt beside others, for another try."""
        hurt, pool = [], ThreadPoolExecutor(self.processes)
        try:
            waiting = {pool.submit(self.work, one): one for one in hand_ins}
            for future in as_completed(waiting):
                one, reply = waiting[future], future.result()
                if reply.get("hurt") and any(_together(one, other) for other in hand_ins):
                    hurt.append(one)
                else:
                    self.save(one, reply)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self.end_children()
        return hurt

    def alone(self, one):
        self.journal.alone = True
        self.save(one, self.work(one))

    def work(self, one):
        """Let a worker run and judge a hand-in; return its reply, or why there is none."""
        try:
            files = one.files if one.files is not None else _same(one)
        except (ValueError, OSError) as error:
            one.problem = one_line(error)
        if one.problem:
            return {"problem": one.problem}
        one.begun, desk = (
            time.monotonic(),
            self.desk / sha256(one.student.encode()).hexdigest()[:16],
        )
        mark = f"{self.mark}-{desk.name}"
        child = Child(self.environment() | {MARK: mark})
        self.children.add(child)
        self.journal.begin(one.student)
        try:
            lay_out(files, desk / "files")
            return self.ask(child, desk)
        except Ended as ended:
            return {"problem": say("grading.ended", reason=ended.reason), "hurt": True}
        except Exception as error:  # a full disk, or what nobody has thought of
            return {"problem": _what(error)}
        finally:
            child.close()
            self.children.discard(child)
            end_marked(mark)
            self.end_strays()
            self.journal.end(one.student)
            shutil.rmtree(desk, ignore_errors=True)
            one.over = time.monotonic()

    def ask(self, child, desk):
        """Let a worker do its work; return what it answers."""
        limits = self.limits.when_busy()
        seconds = 240 + limits.total + JUDGE_SECONDS * limits.patience * self.tests
        message, task = self.message(desk, limits), "lib2048.course.labs.worker:work"
        with self.starting:
            child.warm(task.partition(":")[0])
        return child.ask(task, message, seconds / PATIENCE)["answer"]  # most of it, it waits

    def message(self, desk, limits):
        """Return what `worker.work` is told."""
        import nbformat

        return {
            "lab": self.lab,
            "full": nbformat.writes(self.full),
            "desk": str(desk),
            "course": str(self.course.folder),
            "seed": self.course.lab_seed,
            "limits": asdict(limits),
        }

    def environment(self):
        """Return what a worker's environment says, and a kernel's: small budgets, whose seed."""
        return {
            "LIB2048_CLASS_SEED": str(self.course.seed),
            "LIB2048_CLASS_GAME": self.course.game,
            "LIB2048_GRADE_GAMES": str(self.games),
            "LIB2048_QUICK": "1",
            "NBGRADER_EXECUTION": "autograde",
        }

    def save(self, one, reply, of_others=()):
        """Keep what came of a hand-in, come what may: its marks, its notebook, its notes."""
        course, record = self.course, one.record
        done = Graded(one.student, lab_seed=course.lab_seed, game=course.game)
        done.notes, done.hash = list(record.notes) if record else [], one.hash
        done.of_others = [*(record.of_others if record else ()), *of_others]
        done.seconds = round(max(0, one.over - one.begun), 1)
        try:
            if "problem" in reply:
                raise ValueError(reply["problem"])
            self.write(one, self.trusted(reply["notebook"]), done, list(map(str, reply["notes"])))
        except Exception as error:  # ours or the hand-in's: somebody has to look
            done.failed = True
            try:
                self.write(one, self.nothing(), done, [_what(error)])
                if reply.get("open"):
                    self.leave_open(one.student)
            except Exception as error:
                done.notes.append(_what(error))
        self.done[one.student] = done
        self.write_book()
        said = sentences(done.notes + done.of_others)
        self.tell(f"{one.student}: {done.seconds:.0f} s. {said}".rstrip())

    def trusted(self, notebook):
        """Return a worker's notebook with the grader's own word on what its cells are worth.

        Raises ValueError where one of the graded cells is not there once.
        """
        import nbformat

        notebook, left = nbformat.from_dict(notebook), graded(self.full)
        for cell in notebook.cells:
            name = cell.metadata.pop("nbgrader", {}).get("grade_id")
            if name in left:
                cell.metadata["nbgrader"] = left.pop(name).metadata.nbgrader
        if any(cell.metadata.nbgrader.grade for cell in left.values()):
            raise ValueError(say("grading.failed", error=", ".join(left)))
        nbformat.validate(notebook)  # a kernel may have sent anything
        return notebook

    def nothing(self):
        """Return the notebook of a hand-in that cannot be read, of which a person decides."""
        notebook, _ = restored({"cells": []}, self.full, self.lab)
        not_run(notebook.cells, "not_taken")
        return notebook

    def write(self, one, notebook, done, notes):
        """Write the marks into the gradebook, and the notebook where nbgrader looks for it."""
        import nbformat
        from nbgrader.preprocessors import SaveAutoGrades

        record, student = one.record, one.student
        who = {"last_name": record.name, "lms_user_id": record.student} if record else {}
        with quietly(), self.course.gradebook() as book:
            book.update_or_create_student(student, **who)
            book.update_or_create_submission(self.lab, student)
        about = resources(self.lab, student, self.course.database)
        with quietly():
            SaveAutoGrades().preprocess(notebook, about)
        done.notes = [one_line(note)[:MOST_NOTE] for note in done.notes + notes][:MOST_NOTES]
        handed_in = one.files if one.files is not None else _files(one.path)
        left_out = {name for name in handed_in if name.suffix == ".ipynb" or name.name == RECORD}
        files = {name: data for name, data in handed_in.items() if name not in left_out}
        files[Path(f"{self.lab}.ipynb")] = (nbformat.writes(notebook) + "\n").encode(
            errors="backslashreplace"
        )
        folder = self.folder(student)
        shutil.rmtree(folder, ignore_errors=True)
        lay_out(files, folder)
        self.kept.keep(student, folder, files)
        self.write_graded(done)

    def leave_open(self, student):
        """Leave all marks of a student to a person."""
        with quietly(), self.course.gradebook() as book:
            for mark in book.find_submission_notebook(self.lab, self.lab, student).grades:
                mark.auto_score, mark.needs_manual_grade = None, True
            book.db.commit()

    def open_book(self):
        """Take the gradebook into memory, without what would change marks by itself."""
        self.book = Book(self.course.folder / "gradebook.db")
        self.course = replace(self.course, book=self.book.url)
        if self.book.dropped:
            self.tell(say("grading.triggers", names=", ".join(map(one_line, self.book.dropped))))

    def write_book(self):
        """Write the gradebook's file, and name it where somebody else had written into it."""
        if other := self.book.write():
            self.tell(say("grading.other_marks", copy=other.name))

    def write_graded(self, done):
        text = json.dumps(vars(done), indent=1, ensure_ascii=False) + "\n"
        write_text(self.folder(done.student) / GRADED, text)

    def look_after(self):
        """Restore what others have changed of a hand-in, and name it."""
        self.write_book()
        write_manifest(self.course.folder, self.lab, self.manifest)
        found = self.kept.restore()
        for student, notes in found.items():
            done = self.done.get(student) or read_graded(self.folder(student)) or Graded(student)
            done.notes += [one_line(note)[:MOST_NOTE] for note in notes]
            self.write_graded(done)
            self.tell(f"{student}: {sentences(notes)}")
        for done in self.done.values():  # their notes stand beside their notebooks
            if read_graded(self.folder(done.student)) != done:
                self.write_graded(done)

    def end_strays(self):
        """End what hand-ins have left behind: it is below this process, and no worker."""
        with self.starting:
            end_below(self.spare | {child.pid for child in self.children})

    def end_children(self):
        for child in list(self.children):
            child.close()

    def stop(self):
        """End what is under way; who was being graded is not graded yet."""
        self.end_children()
        end_marked(self.mark)
        end_below(self.spare)
        self.journal.close()


def sentences(notes):
    """Return notes as one text, each a sentence."""
    return " ".join(note if note[-1:] in tuple(".!?)") else f"{note}." for note in notes if note)


def _together(one, other):
    """Say whether two hand-ins were graded at the same time."""
    over = other.over or time.monotonic()
    return other is not one and other.begun and other.begun < one.over and one.begun < over


def read_graded(folder):
    """Return the `Graded` of a folder, None where there is none."""
    return read_noted(Graded, Path(folder) / GRADED)


def _what(error):
    """Say in a line why a hand-in could not be graded."""
    if isinstance(error, (ValueError, OSError)):
        return one_line(error)
    return say("grading.failed", error=one_line(f"{type(error).__name__}: {error}"))


def _read(student, path):
    """Return a `_HandIn` with all its files, or with what is wrong with it."""
    one = _HandIn(student, path)
    try:
        one.files = _files(path)
        one.hash = _hash(one.files)
        one.record = read_record(path)
        one.problem = one.record.problem if one.record else ""
    except (ValueError, OSError) as error:
        one.problem = one_line(error)
    return one


def _same(one):
    """Read the files of a hand-in again.  Raises ValueError where they are others than before."""
    files = _files(one.path)
    if _hash(files) != one.hash:
        raise ValueError(say("grading.lost_files", names=one.path.name))
    return files


def _files(folder):
    """Return the files of a hand-in, {path in its folder: bytes}; links and devices are none.

    Raises ValueError or OSError where it cannot be read, or holds too much.
    """
    os.listdir(folder)  # says what is no folder, and what is closed
    found, left = {}, MOST_MB * 10**6
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            found[path.relative_to(folder)] = data = read_bytes(path, left)
            left -= len(data)
    return found


def lay_out(files, folder):
    """Write the files of a hand-in into a folder."""
    for name, data in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    Path(folder).mkdir(parents=True, exist_ok=True)


def _hash(files):
    """Return one hash of the files of a hand-in."""
    return sha256(b"".join(os.fsencode(name.name) + files[name] for name in files)).hexdigest()
