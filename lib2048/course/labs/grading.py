"""Grade what a class handed in: every hand-in by itself, into nbgrader's gradebook.

A hand-in's test cells are put back as they were, with their hidden tests; its cells run in a
kernel of its own under limits; the marks go into the gradebook.  Whatever a hand-in does, the
others are graded.
"""

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from lib2048.course.labs.collect import RECORD, read_record
from lib2048.course.labs.course_folder import open_course
from lib2048.course.labs.exercise import cell_seconds, of_lab
from lib2048.course.labs.hw04.performance import GAMES, reference_of
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import AS_HANDED_IN, MOST_MB, grading, parse, source
from lib2048.course.labs.release import nbgrader, quietly, resources
from lib2048.course.labs.result import RESULT
from lib2048.course.labs.seeds import PLAIN
from lib2048.machine.files import read_bytes, read_json, write_text
from lib2048.machine.terminal import one_line

GRADED = "graded.json"
MOST_NOTE = 500  # characters
SHOWN = ("text/plain", "image/png")  # of what a hand-in's long cells had shown


@dataclass
class Graded:
    """What is kept of one grading: notes in words; seconds; hash of the hand-in; the seeds.

    failed: nothing of it could be run, or kept; the last note says why.
    """

    student: str
    notes: list = field(default_factory=list)
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
    limits = limits or _limits(lab, patience, games)
    task = _Grading(course, lab, processes, limits, tell, games, again)
    try:
        return asyncio.run(task.all())
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

    def __init__(self, course, lab, processes, limits, tell, games=GAMES, again=False):
        self.course, self.lab, self.tell, self.again = course, lab, tell, again
        self.limits, self.games = limits, games
        self.full = course.full(lab)
        self.free = asyncio.Semaphore(processes)

    def folder(self, student):
        return self.course.folder / "autograded" / student / self.lab

    def is_done(self, done):
        """Say whether this very hand-in was graded under this very seed and game."""
        old, new = read_graded(self.folder(done.student)), (done.hash, done.lab_seed, done.game)
        return old and (old.hash, old.lab_seed, old.game) == new and not self.again

    async def all(self):
        self.stop = asyncio.current_task().cancel
        tasks = (self.one(*pair) for pair in self.course.students(self.lab).items())
        return [done for done in await asyncio.gather(*tasks) if done]

    async def one(self, student, path):
        """Grade one hand-in, come what may; return None where it is graded already."""
        async with self.free:
            begun, files = time.monotonic(), {}
            done = Graded(student, lab_seed=self.course.lab_seed, game=self.course.game)
            try:
                files = _files(path)
                done.hash = _hash(files)
                if self.is_done(done):
                    return None
                notebook = await self.run(path, files, done)
                self.save(notebook, path, files, done, begun)
            except Exception as error:  # ours or the hand-in's: somebody has to look
                done.failed = True
                done.notes.append(_what(error))
                try:
                    self.save(self.nothing(), path, files, done, begun)
                except Exception as error:
                    done.notes.append(_what(error))
            self.tell(f"{student}: {done.seconds:.0f} s" + "".join(f"; {n}" for n in done.notes))
            return done

    def nothing(self):
        """Return the notebook of a hand-in that cannot be read: nothing of it ran."""
        from lib2048.course.labs.running import not_run

        notebook, _ = restored({"cells": []}, self.full, self.lab)
        not_run(notebook.cells)
        return notebook

    async def run(self, path, files, done):
        """Return the hand-in's notebook after its run; notes go to `done`."""
        from lib2048.course.labs.running import run

        record, name = read_record(path), f"{self.lab}.ipynb"
        done.notes += record.notes if record else []
        if record and record.problem:
            raise ValueError(record.problem)
        if Path(name) not in files:
            raise ValueError(say("grading.no_notebook", name=name))
        notebook, notes = restored(parse(files[Path(name)], name), self.full, self.lab)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            _lay_out(files, scratch)
            limits = self.limits.when_busy()
            notes += await run(notebook, scratch, self.environment(), limits, self.stop)
        done.notes += notes + _stood_in(notebook)
        return notebook

    def environment(self):
        """Return what the kernel's environment says: small budgets, and whose seeds."""
        return os.environ | {
            "LIB2048_LAB_SEED": str(self.course.lab_seed),
            "LIB2048_CLASS_SEED": str(self.course.seed),
            "LIB2048_CLASS_GAME": self.course.game,
            "LIB2048_GRADE_GAMES": str(self.games),
            "LIB2048_QUICK": "1",
            "NBGRADER_EXECUTION": "autograde",
        }

    def save(self, notebook, path, files, done, begun):
        """Write the marks into the gradebook, and the notebook where nbgrader looks for it."""
        import nbformat
        from nbgrader.preprocessors import SaveAutoGrades

        nbformat.validate(notebook)  # a kernel may have sent anything
        record, student = read_record(path), done.student
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
        left_out = {name for name in files if name.suffix == ".ipynb" or name.name == RECORD}
        _lay_out({name: data for name, data in files.items() if name not in left_out}, folder)
        write_text(folder / f"{self.lab}.ipynb", nbformat.writes(notebook) + "\n")
        done.notes = [one_line(note)[:MOST_NOTE] for note in done.notes]
        done.seconds = round(time.monotonic() - begun, 1)
        write_text(folder / GRADED, json.dumps(vars(done), indent=1, ensure_ascii=False) + "\n")


def read_graded(folder):
    """Return the `Graded` of a folder, None where there is none."""
    try:
        return Graded(**read_json(Path(folder) / GRADED))
    except (ValueError, TypeError):
        return None


def _what(error):
    """Say in a line why a hand-in could not be graded."""
    if isinstance(error, (ValueError, OSError)):
        return one_line(error)
    return say("grading.failed", error=one_line(f"{type(error).__name__}: {error}"))


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


def _lay_out(files, folder):
    """Write the files of a hand-in into a folder."""
    for name, data in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _hash(files):
    """Return one hash of the files of a hand-in."""
    return sha256(b"".join(os.fsencode(name.name) + files[name] for name in files)).hexdigest()


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
    if new.cell_type != "code" and _is_valid(cell.get("attachments", ""), "misc/attachments"):
        new.attachments = NotebookNode(cell["attachments"])
    return new


def _is_valid(part, kind):
    """Say whether a part of a notebook is what nbformat says that it is."""
    import nbformat

    try:
        nbformat.validate(part, kind, version=4, relax_add_props=True)
    except (nbformat.ValidationError, RecursionError):
        return False
    return True


def _as_handed_in(cell):
    """Return a cell that does not run again, with the texts and pictures that it showed."""
    from nbformat import from_dict, v4

    new = _clean(cell | {"cell_type": "code"})
    new.metadata["tags"] = [AS_HANDED_IN]
    for output in cell.get("outputs", []):
        if not _is_valid(output, "output"):
            continue
        if output["output_type"] == "stream":
            new.outputs.append(v4.new_output("stream", name=output["name"], text=output["text"]))
        elif "data" in output:
            shown = {kind: output["data"][kind] for kind in SHOWN if kind in output["data"]}
            new.outputs.append(v4.new_output("display_data", from_dict(shown)))
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
