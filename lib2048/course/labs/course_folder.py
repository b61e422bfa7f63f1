"""The folder of a course, as nbgrader keeps it: source, release, submitted, autograded, feedback.

One file more holds what the marks depend on: course.toml, with the class's seed and the grader's.
"""

import os
import secrets
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from lib2048.course.labs.cases import refuse_unlucky
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.messages import say
from lib2048.course.labs.release import full, in_class, nbgrader, quietly, released, resources
from lib2048.course.labs.seeds import PLAIN, class_game, class_seed, game_for, rules_of
from lib2048.machine.files import read_text, write_text
from lib2048.machine.kernels import LIBRARY

SOURCES = LIBRARY.parent / "notebooks" / "homework" / "source"  # in a clone
# What keeps a page of nbconvert from running what a student wrote, in nbgrader's form grader, too:
# no scripts, no widgets; of what an output holds, the first of these is shown.
HARMLESS = {
    "HTMLExporter": {
        "sanitize_html": True,
        "filters": {
            "markdown2html": "lib2048.course.labs.page.markdown",
            "clean_html": "lib2048.course.safely.harmless",
        },
    },
    "NbConvertBase": {
        "display_data_priority": [
            "text/html", "text/markdown", "image/svg+xml", "text/latex", "image/png",
            "image/jpeg", "text/plain",
        ]
    },
}  # fmt: skip
CONFIG = f"""# For nbgrader's own commands and its form grader: run them in this folder.
c = get_config()
c.CourseDirectory.course_id = "default_course"
c.ClearSolutions.code_stub = {{"python": "raise NotImplementedError"}}
# Nothing that a student wrote runs in a page of the form grader.
c.merge(type(c)({HARMLESS}))
"""


@dataclass(frozen=True)
class Course:
    """A course's folder.

    seed, game: what the class's zip was made with; lab_seed: the grader's own; book: the address of
    the gradebook, where it is another than that of the file in the folder.
    """

    folder: Path
    seed: int
    lab_seed: int
    game: str = PLAIN
    book: str = ""

    @property
    def database(self):
        """The address of nbgrader's gradebook."""
        return self.book or f"sqlite:///{(self.folder / 'gradebook.db').resolve()}"

    def rules(self, lab):
        """Return the `LabRules` of a lab in this class."""
        return rules_of(lab, self.game, self.seed)

    def gradebook(self):
        """Return nbgrader's gradebook, to be used in a `with`."""
        nbgrader()
        from nbgrader.api import Gradebook

        # A new gradebook calls the command `alembic`, which lies beside this Python.
        here = str(Path(sys.executable).parent)
        if here not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = os.pathsep.join(filter(None, [os.environ.get("PATH"), here]))
        return Gradebook(self.database)

    def full(self, lab):
        """Return a lab as the grader runs it, see `release.full`.

        Raises ValueError where it was not generated.
        """
        import nbformat

        path = self.folder / "source" / lab / f"{lab}.ipynb"
        if not path.exists():
            raise ValueError(say("grading.not_generated", lab=lab, course=self.folder))
        return full(nbformat.read(path, as_version=4), lab)

    def students(self, lab, kind="submitted"):
        """Return the folders of a lab's hand-ins, {student: folder}, in order.

        kind: "submitted", "autograded" or "feedback".
        """
        folders = sorted(folder / lab for folder in (self.folder / kind).glob("[!.]*"))
        return {folder.parent.name: folder for folder in folders if _may_be_there(folder)}


def hide(folder):
    """Keep a course's folder, with the hand-ins and seeds in it, out of any git around it."""
    path = Path(folder, ".gitignore")
    if not os.path.lexists(path):
        write_text(path, "*\n")


def _may_be_there(folder):
    """Say whether there is such a folder; one that nobody may look into counts as there."""
    try:
        os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def open_course(folder):
    """Return the `Course` of a folder.  Raises ValueError where there is none."""
    path = Path(folder) / "course.toml"
    if not os.path.lexists(path):
        raise ValueError(say("grading.no_course", course=folder))
    try:
        about = tomllib.loads(read_text(path))
        game = game_for(str(about.get("game", PLAIN)))
        return Course(Path(folder), int(about["seed"]), int(about["lab_seed"]), game)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(say("grading.bad_course", path=path, error=error)) from None


def generate(lab, folder, sources=SOURCES, seed=None, lab_seed=None, game=None):
    """Make a lab ready to be graded: its source, its release, its cells in the gradebook.

    sources: the folder with LAB/LAB.ipynb; seed, game: the class's, of `make class`; lab_seed: the
    grader's, drawn at random where the course is new.  Returns the `Course`.  Raises ValueError
    where there is no source or no such game, and where hand-ins are graded already and cells came
    or went.
    """
    import nbformat

    of_lab(lab)
    nbgrader()
    path = Path(sources) / lab / f"{lab}.ipynb"
    if not path.exists():
        raise ValueError(say("grading.no_source", path=path))
    course = _with_seeds(Path(folder), seed, lab_seed, game)
    refuse_unlucky(course.lab_seed + 1, course.seed, course.game, [lab])  # see `checks.require`
    source = in_class(nbformat.reads(read_text(path), as_version=4), lab, course.game, course.seed)
    release = released(source, lab)
    hide(course.folder)
    _save_cells(course, full(source, lab), lab)
    write_text(
        course.folder / "course.toml",
        f"seed = {course.seed}  # of `make class`: what students' checks and variants draw from\n"
        f"lab_seed = {course.lab_seed}  # the grader's own: what hidden checks draw from\n"
        f'game = "{course.game}"  # that labs are of\n',
    )
    write_text(course.folder / "nbgrader_config.py", CONFIG)
    write_text(course.folder / "source" / lab / f"{lab}.ipynb", nbformat.writes(source) + "\n")
    write_text(course.folder / "release" / lab / f"{lab}.ipynb", nbformat.writes(release) + "\n")
    return course


def _with_seeds(folder, seed, lab_seed, game):
    """Return the course of a folder, old or new; what is given wins."""
    if (folder / "course.toml").exists():
        old = open_course(folder)
    else:
        old = Course(folder, class_seed(), secrets.randbelow(10**9), class_game().name)
    given = {"seed": seed, "lab_seed": lab_seed}
    course = replace(old, **{key: it for key, it in given.items() if it is not None})
    return course if game is None else replace(course, game=game_for(game, course.seed))


def _save_cells(course, notebook, lab):
    """Write a lab's cells into the gradebook, as nbgrader does when it generates an assignment."""
    from nbgrader.preprocessors import SaveCells

    with quietly(), course.gradebook() as book:
        book.update_or_create_assignment(lab)
    try:
        with quietly():
            SaveCells().preprocess(notebook, resources(lab, database=course.database))
    except RuntimeError:
        raise ValueError(say("grading.cells_changed", lab=lab, course=course.folder)) from None
