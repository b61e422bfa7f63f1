"""From a source lab to what students get, by nbgrader's steps; nothing is executed."""

import contextlib
import copy
import warnings

from lib2048.course.labs.messages import fill, say, table_of
from lib2048.course.labs.notebook import NO_ANSWER, NOT_ATTEMPTED, start_line
from lib2048.course.labs.seeds import LABS_OF_GAMES, PLAIN, rules_of
from lib2048.machine.extras import package

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def nbgrader():
    """Return the package nbgrader; raises `extras.Missing` where the extra `grading` is."""
    with quietly():
        package("nbgrader.preprocessors")
        return package("nbgrader")


@contextlib.contextmanager
def quietly():
    """Leave out the warnings of nbgrader and what it builds on, which no grader can act upon."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def in_class(source, lab, game=PLAIN, seed=None):
    """Return a source lab as it is in a class, whose rules its texts then tell.

    source: a notebook of nbformat 4; game, seed: of the class, as `seeds.rules_of` takes them.
    What the texts say instead stands in the lab's messages, under `own`, and under `low` for boards
    of three rows.  Raises ValueError for a text that is not there.
    """
    rules = rules_of(lab, game, seed)
    if not rules.own:
        return source
    notebook, words = copy.deepcopy(source), rules.words
    edits = [(start_line(lab), start_line(lab, rules.name))]
    for kind in ("own", "low")[: 1 + (words["rows"] == 3)]:
        texts = table_of(f"{lab}.{kind}")
        names = {key.partition(".")[0]: None for key in texts}
        edits += [(texts[f"{n}.plain"], fill(texts[f"{n}.own"], words)) for n in names]
    for old, new in edits:
        if not any(old in cell.source for cell in notebook.cells):
            raise ValueError(f"the source of {lab} does not hold {old!r}: mend its messages")
        for cell in notebook.cells:
            cell.source = cell.source.replace(old, new)
    told = [say("labs.own_rules", **words)]
    if rules.game.name != game and lab in LABS_OF_GAMES:
        told.append(say("labs.own_board", game=game))
    notebook.cells[0].source += "\n\n" + " ".join(told)
    return notebook


def full(source, lab):
    """Return a source lab as the grader runs it: no solutions, hidden tests in their place.

    source: of `in_class`.  The metadata of its cells hold nbgrader's checksums.
    """
    use = nbgrader().preprocessors
    clear = use.ClearSolutions(code_stub={"python": NOT_ATTEMPTED}, text_stub=NO_ANSWER)
    steps = use.LockCells(), clear, use.ClearOutput(), use.CheckCellMetadata()
    return _through([*steps, use.ComputeChecksums()], source, lab)


def released(source, lab):
    """Return a source lab as students get it: stubs for solutions, no hidden tests, no outputs."""
    use = nbgrader().preprocessors
    steps = use.ClearHiddenTests(), use.ClearMarkScheme(), use.ComputeChecksums()
    notebook = _through([*steps, use.CheckCellMetadata()], full(source, lab), lab)
    notebook.metadata = type(notebook.metadata)(
        kernelspec=KERNEL, language_info={"name": "python"}, lib2048={"lab": lab}
    )
    for cell in notebook.cells:
        cell.source = cell.source.rstrip("\n")
    return notebook


def _through(steps, notebook, lab):
    """Return a copy of a notebook that went through nbgrader's preprocessors."""
    notebook = copy.deepcopy(notebook)
    with quietly():
        for step in steps:
            notebook, _ = step.preprocess(notebook, resources(lab))
    return notebook


def resources(lab, student=None, database=None):
    """Return what nbgrader's preprocessors want to know."""
    about = {"notebook": lab, "assignment": lab, "student": student, "db_url": database}
    return {"nbgrader": about, "metadata": {"name": lab}, "unique_key": lab}
