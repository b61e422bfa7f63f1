"""Grade what a class handed in: every hand-in by itself, into nbgrader's gradebook.

A hand-in's test cells are put back as they were, with their hidden tests; its cells run in a
kernel of its own under limits; the marks go into the gradebook.  Whatever a hand-in does, the
others are graded.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from lib2048.course.labs.collect import RECORD, read_record
from lib2048.course.labs.course_folder import open_course
from lib2048.course.labs.exercise import cell_seconds, of_lab
from lib2048.course.labs.hw04.performance import GAMES, reference_of
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import AS_HANDED_IN, grading, parse, source
from lib2048.course.labs.release import nbgrader, quietly, resources
from lib2048.course.labs.result import RESULT
from lib2048.machine.files import write_text

GRADED = "graded.json"
SHOWN = ("text/plain", "image/png")  # of what a hand-in's long cells had shown


@dataclass
class Graded:
    """What is kept of one grading: notes in words; seconds; hash of the hand-in; the seeds."""

    student: str
    notes: list = field(default_factory=list)
    seconds: float = 0.0
    hash: str = ""
    lab_seed: int = 0


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

    folder: of the course; processes: kernels at a time; again: all of them, new or not; patience:
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
    task = _Grading(course, lab, processes, limits or _limits(lab, patience, games), tell, games)
    chosen = {
        student: path
        for student, path in course.students(lab).items()
        if again or not task.is_done(student, path)
    }
    try:
        return asyncio.run(task.all(chosen))
    except asyncio.CancelledError:  # by Ctrl-C: who was being graded is not graded yet
        raise KeyboardInterrupt from None


def _limits(lab, patience, games):
    """Return the limits of a lab, whose training cells get more where they train more games."""
    from lib2048.course.labs.running import ALL_SECONDS, CELL_SECONDS, TimeLimits

    more, granted = max(1, games / GAMES), dict(cell_seconds(lab))
    cell = granted.pop("any", CELL_SECONDS)
    granted = {name: seconds * more for name, seconds in granted.items()}
    return TimeLimits(cell, ALL_SECONDS * cell / CELL_SECONDS, granted, patience)


class _Grading:
    """The grading of one lab."""

    def __init__(self, course, lab, processes, limits, tell, games=GAMES):
        self.course, self.lab, self.tell = course, lab, tell
        self.limits, self.games = limits, games
        self.full = course.full(lab)
        self.free = asyncio.Semaphore(processes)

    def folder(self, student):
        return self.course.folder / "autograded" / student / self.lab

    def is_done(self, student, path):
        """Say whether this very hand-in was graded under this very seed."""
        old = read_graded(self.folder(student))
        return old and (old.hash, old.lab_seed) == (_hash(path), self.course.lab_seed)

    async def all(self, chosen):
        self.stop = asyncio.current_task().cancel
        return await asyncio.gather(*(self.one(*pair) for pair in chosen.items()))

    async def one(self, student, path):
        """Grade one hand-in, come what may."""
        async with self.free:
            begun = time.monotonic()
            done = Graded(student, hash=_hash(path), lab_seed=self.course.lab_seed)
            try:
                notebook = await self.run(path, done)
                self.save(notebook, path, student)
            except Exception as error:  # ours or the hand-in's: somebody has to look
                print(traceback.format_exc(), file=sys.stderr)
                done.notes.append(say("grading.failed", error=f"{type(error).__name__}: {error}"))
                self.save(self.nothing(), path, student)
            done.seconds = round(time.monotonic() - begun, 1)
            text = json.dumps(vars(done), indent=1, ensure_ascii=False)
            write_text(self.folder(student) / GRADED, text + "\n")
            self.tell(f"{student}: {done.seconds:.0f} s" + "".join(f"; {n}" for n in done.notes))
            return done

    def nothing(self):
        """Return the notebook of a hand-in that cannot be read: nothing of it ran."""
        from lib2048.course.labs.running import not_run

        notebook, _ = restored({"cells": []}, self.full, self.lab)
        not_run(notebook.cells)
        return notebook

    async def run(self, path, done):
        """Return the hand-in's notebook after its run; notes go to `done`."""
        from lib2048.course.labs.running import run

        record = read_record(path)
        if record and record.problem:
            done.notes.append(record.problem)
            return self.nothing()
        done.notes += record.notes if record else []
        try:
            handed_in = parse((path / f"{self.lab}.ipynb").read_bytes(), f"{self.lab}.ipynb")
        except (OSError, ValueError) as error:
            done.notes.append(str(error))
            return self.nothing()
        notebook, notes = restored(handed_in, self.full, self.lab)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            shutil.copytree(path, scratch, dirs_exist_ok=True)
            limits = self.limits.when_busy()
            notes += await run(notebook, scratch, self.environment(), limits, self.stop)
        done.notes += notes + _stood_in(notebook)
        return notebook

    def environment(self):
        """Return what the kernel's environment says: small budgets, and whose seeds."""
        return os.environ | {
            "LIB2048_LAB_SEED": str(self.course.lab_seed),
            "LIB2048_CLASS_SEED": str(self.course.seed),
            "LIB2048_GRADE_GAMES": str(self.games),
            "LIB2048_QUICK": "1",
            "NBGRADER_EXECUTION": "autograde",
        }

    def save(self, notebook, path, student):
        """Write the marks into the gradebook, and the notebook where nbgrader looks for it."""
        import nbformat
        from nbgrader.preprocessors import SaveAutoGrades

        record = read_record(path)
        who = {"last_name": record.name, "lms_user_id": record.student} if record else {}
        with quietly(), self.course.gradebook() as book:
            book.update_or_create_student(student, **who)
            book.update_or_create_submission(self.lab, student)
        _for_marks(notebook)
        about = resources(self.lab, student, self.course.database)
        with quietly():
            SaveAutoGrades().preprocess(notebook, about)
        folder = self.folder(student)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(path, folder, ignore=shutil.ignore_patterns("*.ipynb", RECORD))
        write_text(folder / f"{self.lab}.ipynb", nbformat.writes(notebook) + "\n")


def read_graded(folder):
    """Return the `Graded` of a folder, None where there is none."""
    try:
        return Graded(**json.loads((Path(folder) / GRADED).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _hash(folder):
    """Return one hash of the files of a hand-in."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()


# ---------------------------------------------------------------- the notebook that runs


def restored(handed_in, full, lab):
    """Return a hand-in's cells with the grader's test cells in their places, and notes.

    handed_in: a dict of `notebook.parse`; full: `release.full`.  What is graded, how it is called
    and how many marks it has stands in `full`, whatever the hand-in says; a cell is known by its
    grade_id, or by its id where an editor dropped the metadata.  Of cells with one name the last
    counts; graded cells that are missing are put back.
    """
    known = {
        cell.metadata.nbgrader.grade_id: cell for cell in full.cells if "nbgrader" in cell.metadata
    }
    ids = {cell.id: name for name, cell in known.items()}
    long = {cell.id for cell in full.cells if AS_HANDED_IN in cell.metadata.get("tags", [])}
    cells = [
        _as_handed_in(cell) if cell.get("id") in long else _restored(cell, known, ids)
        for cell in handed_in["cells"]
    ]
    notes = _forget_doubles(cells)
    if cells:
        notes += _put_back(cells, known)
    else:
        notes, cells = [say("grading.empty")], [_clean(cell) for cell in known.values()]
    for n, cell in enumerate(cells):
        cell.id = f"{lab}-{n:03d}"
    return type(full)(full | {"cells": cells}), notes


def _clean(cell, text=None):
    """Return a cell with its own or another text, what nbgrader notes of it, and nothing else.

    cell: of the grader's notebook, or a dict of a hand-in, whose notes are left out.
    """
    from nbformat import v4

    makes = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}
    noted = cell.metadata.get("nbgrader") if hasattr(cell, "metadata") else None
    text = source(cell) if text is None else text
    new = makes.get(str(cell.get("cell_type")), v4.new_raw_cell)(text)
    if noted:
        new.metadata["nbgrader"] = dict(noted)
    return new


def _restored(cell, known, ids):
    from nbformat import NotebookNode

    name = grading(cell).get("grade_id") or ids.get(cell.get("id"))
    if name in known:
        locked = known[name].metadata.nbgrader.locked
        new = _clean(known[name], None if locked else source(cell))
    else:
        new = _clean(cell)
    if new.cell_type != "code" and isinstance(cell.get("attachments"), dict):
        new.attachments = NotebookNode(cell["attachments"])
    return new


def _as_handed_in(cell):
    """Return a cell that does not run again, with the texts and pictures that it showed."""
    from nbformat import from_dict

    new = _clean(cell | {"cell_type": "code"})
    new.metadata["tags"] = [AS_HANDED_IN]
    for output in cell.get("outputs", []):
        if output.get("output_type") == "stream":
            new.outputs.append(from_dict(output))
        elif output.get("output_type") in ("display_data", "execute_result"):
            shown = {kind: output["data"][kind] for kind in SHOWN if kind in output["data"]}
            new.outputs.append(from_dict(output | {"data": shown, "metadata": {}}))
    return new


def _name(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _forget_doubles(cells):
    """Let the last cell of a name be the one, as nbgrader does; return a note on the names."""
    from nbformat import NotebookNode

    count = Counter(filter(None, map(_name, cells)))
    doubles = [name for name, times in count.items() if times > 1]
    nbgrader().preprocessors.DeduplicateIds().preprocess(NotebookNode(cells=cells), {})
    return [say("grading.doubles", names=", ".join(doubles))] if doubles else []


def _put_back(cells, known):
    """Put graded cells that are missing behind the one before them; return a note on them."""
    there, missing, last = {_name(cell) for cell in cells}, [], None
    for name, cell in known.items():
        if name not in there and cell.metadata.nbgrader.grade:
            at = next((n for n, other in enumerate(cells) if _name(other) == last), -1)
            cells.insert(at + 1, _clean(cell))
            missing.append(name)
        if name in there or name in missing:
            last = name
    return [say("grading.put_back", names=", ".join(missing))] if missing else []


def _for_marks(notebook):
    """Let an error be the one thing that costs a test cell its marks.

    nbgrader takes a number that a cell shows for partial marks, and progress on stderr for an
    error.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade"):
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            for out in cell.outputs:
                if out.output_type == "execute_result":
                    out.output_type = "display_data"
                    del out["execution_count"]


def _stood_in(notebook):
    """Return a note on functions of the library that answers with marks made use of."""
    names = {}
    for cell in notebook.cells:
        graded = cell.metadata.get("nbgrader", {}).get("grade")
        for out in cell.get("outputs", []) if graded else []:
            found = out.get("data", {}).get(RESULT, {})
            if found.get("status") == "passed" and found.get("stood_in"):
                names.setdefault(found["name"], ", ".join(found["stood_in"]))
    return [say("grading.stood_in", name=name, used=used) for name, used in names.items()]
