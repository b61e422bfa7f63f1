"""One hand-in, run and judged in a process of its own, which the grading process supervises.

A kernel runs the cells; functions come out of it as text, and are judged from that in yet another
process.  Neither knows the hidden tests or the seed of their cases.
"""

import asyncio
import os
import traceback
from pathlib import Path

import nbformat
from nbclient.exceptions import DeadKernelError

from lib2048.course.labs import checks, looks
from lib2048.course.labs.asked import STUDENT, as_handed, asked_in, is_ours, judged, shown
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import (
    AS_HANDED_IN,
    NOT_ATTEMPTED,
    called,
    defined_in,
    parse,
    student_of,
)
from lib2048.course.labs.restoring import is_locked, restored
from lib2048.course.labs.running import TimeLimits, not_run, run
from lib2048.course.labs.safekeeping import adopt, below, end_below
from lib2048.course.labs.seeds import variant
from lib2048.machine.terminal import one_line

# No name of these stays in the notebook, nor a line in its history.
LINE = "__import__('lib2048.course.labs.inside', fromlist=['x'])."
KILLED = ("(killed)", "(terminated)", "exit status 137", "exit status 143")


def work(message):
    """Run and judge one hand-in; a task of `child.ask`.

    message: lab; full, the grader's notebook as text; desk, a folder, with the hand-in's files in
    its folder `files`; course, a folder; seed, the grader's; limits, of `TimeLimits`.  Returns
    {"notebook", "notes", "hurt": whether something ended a process that ran for it}, or {"problem":
    why nothing of it could be run, in words}.
    """
    try:
        return asyncio.run(_Work(message).all())
    except (ValueError, OSError) as error:
        return {"problem": one_line(error)}
    except Exception as error:  # ours or the hand-in's: somebody has to look
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        return {"problem": say("grading.failed", error=one_line(what))}


class _Work:
    """The work on one hand-in."""

    def __init__(self, message):
        self.lab, self.seed = message["lab"], message["seed"]
        self.desk, self.course = Path(message["desk"]).resolve(), Path(message["course"]).resolve()
        self.limits = TimeLimits(**message["limits"])
        self.full = nbformat.reads(message["full"], as_version=4)
        self.asked, self.hurt = asked_in(self.full), False
        self.log = self.desk / "log"

    async def all(self):
        name = f"{self.lab}.ipynb"
        path = self.desk / "files" / name
        if not path.is_file():
            raise ValueError(say("grading.no_notebook", name=name))
        handed_in = parse(path.read_bytes(), name)
        self.number = student_of(handed_in)
        notebook, notes = restored(handed_in, self.full, self.lab)
        codes = (cell for cell in notebook.cells if cell.cell_type == "code")
        runs = (cell for cell in codes if AS_HANDED_IN not in cell.metadata.get("tags", []))
        self.own = [cell for cell in runs if not is_locked(cell)]
        checks.make_ready(self.lab)  # the process that judges starts meanwhile
        ended, handed, changes = await self.run(notebook)
        notes += [] if self.number else [say("grading.no_student")]
        notes += self.begun() + ended + self.judge(notebook, handed) + self.look(handed, changes)
        return {"notebook": notebook, "notes": list(dict.fromkeys(notes)), "hurt": self.hurt}

    async def run(self, notebook):
        begin = f"{LINE}begin({str(self.log)!r})"
        said = {True: (), False: (STUDENT,)}
        asks = {
            name: f"{LINE}hand_over({one.functions}, {said[one.kind == 'require']})"
            for name, one in self.asked.items()
        }
        os.environ[checks.PATIENCE] = str(self.limits.patience)
        environment = {k: v for k, v in os.environ.items() if k != "LIB2048_LAB_SEED"}
        folder, last = self.desk / "files", f"{LINE}show_changes()"
        ways = begin, asks, self._is_missing, last
        adopt()
        before = below()  # the process that judges
        ended, handed, changes = await run(notebook, folder, environment, self.limits, *ways)
        end_below(before)  # what the kernel has left behind
        outputs = (out for cell in notebook.cells for out in cell.get("outputs", ()))
        self.hurt |= any(out.get("ename") == DeadKernelError.__name__ for out in outputs)
        return ended, {name: as_handed(found) for name, found in handed.items()}, changes

    def begun(self):
        """Return a note where the first code cell, on which the others rely, ended in an error."""
        outputs = self.own[0].get("outputs", ()) if self.own else ()
        errors = [out for out in outputs if out.output_type == "error"]
        return [say("grading.first_failed", error=_error(out)) for out in errors[:1]]

    def _is_missing(self, name, handed):
        """Say whether a function was not there at its test, but may be at the end."""
        text = (as_handed(handed) or {}).get("text")
        exercise = self.asked[name].exercise
        return (
            not text or exercise is not None and (NOT_ATTEMPTED in text or is_ours(text, exercise))
        )

    def judge(self, notebook, handed):
        """Write into the test cells what their functions get; return notes."""
        behind = f"\n{LINE}begin({str(self.log)!r})\n"
        notes = []
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name not in self.asked:
                continue
            if name not in handed:  # nothing is what nbgrader takes for all marks
                if not any(out.output_type == "error" for out in cell.outputs):
                    not_run([cell])
                continue
            notes += self.missing(handed[name], name)
            result = judged(self.asked[name], handed[name], self.seed, behind)
            cell.outputs = shown(result)
            killed = result.ended and any(word in result.reason for word in KILLED)
            self.hurt |= killed or not result.judged
            if result.passed and result.stood_in:
                used = ", ".join(result.stood_in)
                notes.append(say("grading.stood_in", name=result.name, used=used))
        return notes

    def missing(self, found, name):
        """Return notes on functions that were not handed over for a test; say there why."""
        if found is None:
            functions = ", ".join(self.asked[name].functions.values())
            return [say("grading.not_handed", function=functions)]
        notes = [self.why_missing(function) for function in found["missing"]]
        found["why"] = " ".join(notes)
        return notes

    def why_missing(self, function):
        """Say which cell should have defined a function, and what became of it."""
        for cell in reversed(self.own):
            for out in cell.outputs if function in defined_in(cell.source) else ():
                if out.output_type == "error":
                    return say("grading.broken", function=function, error=_error(out))
        return say("grading.missing", function=function)

    def look(self, handed, changes):
        """Return notes on what a person should look at."""
        handed_out, notes, told = looks.HandedOut(self.full, self.lab), [], set()
        for name, one in self.asked.items():
            found = handed.get(name) or {}
            if "text" in found:
                functions = ", ".join(one.functions.values())
                notes += looks.of_text(found["text"], handed_out, one.exercise, functions, told)
            said = found.get("said", {}).get(STUDENT)
            if said and self.number and variant(said).student != variant(self.number).student:
                notes.append(say("grading.look_student", said=one_line(said), number=self.number))
        mine = [(called(cell.source), cell.source) for cell in self.own]
        changed = (changes or {}).get("changed", [])
        changed = [str(one)[:100] for one in changed] if isinstance(changed, list) else []
        changed += checks.changes()
        files = self.desk / "files"
        notes += looks.of_cells(mine)
        notes += looks.of_log(self.log, self.course, files, self.desk.parent)
        whole = looks.note("look_changes", say("grading.look_notebook"), changed)
        return [*filter(None, [*notes, whole])]


def _error(output):
    return one_line(f"{output.ename}: {output.evalue}")[:200]
