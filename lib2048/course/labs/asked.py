"""What a lab's hidden tests ask for, and what a student's functions get for it.

A hidden test is read, never run: `labs.require("hw01.slide", slide, part="rows")` says which
function is judged, and how.  The function comes as text, and runs in a child of whoever judges.
"""

import ast
import re
from dataclasses import dataclass, field
from importlib import import_module

from nbformat.v4 import new_output

from lib2048.course.labs.checks import check_text
from lib2048.course.labs.exercise import find
from lib2048.course.labs.hw04 import network_of
from lib2048.course.labs.hw04.diagnosis import diagnosed, require_diagnosis
from lib2048.course.labs.hw04.performance import NAMES, level_reached
from lib2048.course.labs.messages import say
from lib2048.course.labs.result import FAILED, NOT_ATTEMPTED, PASSED, Checked, Failed

STUDENT = "STUDENT"  # what the line of a notebook calls whose it is


@dataclass(frozen=True)
class Asked:
    """What one test cell asks.

    cell: its name; kind: "require", "require_performance" or "require_diagnosis"; functions:
    {key of the text: name in the notebook}; words: the other arguments, texts.
    """

    cell: str
    kind: str
    functions: dict
    words: dict = field(default_factory=dict)

    @property
    def exercise(self):
        """The exercise that is asked for, None for none."""
        return find(self.words["name"]) if self.kind == "require" else None


def asked_in(full):
    """Return {name of a test cell: `Asked`} of a lab's notebook as a grader has it."""
    found = {}
    for cell in full.cells:
        note = cell.metadata.get("nbgrader", {})
        if note.get("grade") and note.get("locked"):
            found[note.grade_id] = _asked(note.grade_id, cell.source)
    return found


def _asked(cell, source):
    for call in filter(lambda node: isinstance(node, ast.Call), ast.walk(ast.parse(source))):
        kind = getattr(call.func, "attr", "")
        given = call.args + [word.value for word in call.keywords]
        texts = [node.value for node in given if isinstance(node, ast.Constant)]
        names = [node.id for node in given if isinstance(node, ast.Name)]
        if kind == "require":
            words = {"name": texts[0], "part": (*texts[1:], None)[0]}
            return Asked(cell, kind, {"function": names[0]}, words)
        if kind == "require_performance":
            return Asked(cell, kind, dict(zip(NAMES, names, strict=True)), {"level": texts[0]})
        if kind == "require_diagnosis":
            called = next(node.func.id for node in given if isinstance(node, ast.Call))
            return Asked(cell, kind, {"function": called}, {"letter": texts[0]})
    raise ValueError(f"the test cell {cell} hides no `labs.require…`")


def without_tests(source):
    """Return the text of a test cell as students see it: without its hidden tests."""
    return re.sub(r"\n*### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", source, flags=re.DOTALL)


# ---------------------------------------------------------------- judging


def as_handed(found):
    """Return what `inside.hand_over` has shown, in the form that it should have."""
    if not isinstance(found, dict):
        return None
    plain = {key: str(found[key]) for key in ("text", "error", "no_function") if found.get(key)}
    missing, said = found.get("missing"), found.get("said")
    plain["missing"] = [str(name)[:60] for name in missing] if isinstance(missing, list) else []
    plain["said"] = {str(k): str(v) for k, v in said.items()} if isinstance(said, dict) else {}
    return plain


def judged(asked, handed, seed, behind=""):
    """Return the `Checked` of what a notebook handed over for a test cell.

    handed: of `as_handed`, None for nothing, and "why" a function is missing; seed: the grader's,
    that hidden cases are drawn from; behind: lines that run behind the functions' text.
    """
    name = asked.words.get("name") or f"hw04.{asked.cell}"
    function = ", ".join(asked.functions.values())
    if handed is None:
        return Checked(name, FAILED, reason=say("grading.not_handed", function=function))
    if handed.get("missing"):
        return Checked(name, NOT_ATTEMPTED, reason=handed.get("why", ""))
    if "no_function" in handed:
        reason = say("labs.no_function", what=handed["no_function"])
        return Checked(name, FAILED, reason=reason)
    if "text" not in handed:
        error = handed.get("error", "it has no text")
        return Checked(name, FAILED, reason=say("labs.no_source", error=error))
    text = handed["text"] + behind
    if asked.kind == "require":
        if is_ours(handed["text"], asked.exercise):
            return Checked(name, NOT_ATTEMPTED)
        return check_text(asked.exercise, text, asked.words["part"], seed + 1, hidden=True)
    student = handed["said"].get(STUDENT, "")
    try:
        return Checked(name, PASSED, cases=1, reason=_of_hw04(asked, text, student, seed))
    except (Failed, ValueError) as failed:
        return Checked(name, FAILED, reason=str(failed))


def _of_hw04(asked, text, student, seed):
    """Return what is said of a passed test of hw04's training, or its diagnosis; else `Failed`."""
    if asked.kind == "require_performance":
        level, network = asked.words["level"], network_of(student)
        return level_reached(text, level, network, seed)
    require_diagnosis(student, diagnosed(text), asked.words["letter"])
    return ""


def is_ours(text, exercise):
    """Say whether a function that was handed over is the right answer itself, as `use` gives it."""
    tree = ast.parse(text)
    imported = {
        one.asname: (node.module, one.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    tops = [node for node in ast.walk(tree.body[-1]) if isinstance(node, ast.Dict)]  # FUNCTIONS
    found = [getattr(value, "id", None) for top in tops for value in top.values]
    homes = [imported[name] for name in found if name in imported]
    return any(getattr(import_module(home), name, None) is exercise.truth for home, name in homes)


def shown(checked):
    """Return the outputs of a test cell, from which its marks are made."""
    seen = new_output(
        "display_data", {"text/html": checked._repr_html_(), "text/plain": str(checked)}
    )
    if checked.passed:
        return [seen]
    return [
        seen,
        new_output("error", ename="Failed", evalue=checked.title, traceback=[checked.title]),
    ]
