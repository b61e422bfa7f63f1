"""Right answers pass, whatever their style, as they stand in a file and in a notebook."""

import importlib
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lib2048.course.labs import checks
from lib2048.course.labs.exercise import LABS, find, of_lab
from lib2048.machine.child import source_of

FOLDER = Path(__file__).with_name("right_answers")
FILES = [FOLDER / f"{lab}.py" for lab in LABS]


NAME = re.compile(r"^(?:def )?([a-z]\w*?__[a-z_]+)(?:\(| = )", re.MULTILINE)  # EXERCISE__STYLE


ANSWERS = [(file.stem, name) for file in FILES for name in NAME.findall(file.read_text("utf-8"))]


def _is_slow(lab, name):
    """Tell whether a check compiles, or starts torch."""
    exercise = find(f"{lab}.{name.partition('__')[0]}")
    return exercise.compiles or exercise.needs


def _cases(count, start, *more):
    """Return all answers, of which one in so many belongs to the quick tests."""
    quick = [answer for answer in ANSWERS if not _is_slow(*answer)][start::count]
    return [
        pytest.param(*answer, *more, marks=[] if answer in quick else pytest.mark.slow)
        for answer in ANSWERS
    ]


IN_A_FILE = [*_cases(3, 0, 2048), *_cases(1000, 0, 11)]  # the second seed for one alone
IN_A_CELL = _cases(12, 1)


def in_a_file(lab):
    """Return the right answers of a lab as a module."""
    return importlib.import_module(f"right_answers.{lab}")


@pytest.fixture(scope="module")
def in_a_cell():
    """Return a function that runs a file as a cell of a notebook, and returns its names."""
    main, done = sys.modules["__main__"], {}
    shell = InteractiveShell()

    def names(lab):
        if lab not in done:
            assert shell.run_cell((FOLDER / f"{lab}.py").read_text(encoding="utf-8")).success
            done[lab] = dict(shell.user_ns)
        return done[lab]

    yield names
    sys.modules["__main__"] = main


def _passes(lab, name, function, seed):
    exercise = find(f"{lab}.{name.partition('__')[0]}")
    result = checks.check_text(exercise, source_of({"function": function}), None, seed)
    assert result.passed, str(result)
    assert not result.stood_in or name.startswith(tuple(result.stood_in)), result.stood_in


@pytest.mark.parametrize("lab, name, seed", IN_A_FILE)
def test_a_right_answer_in_a_file_passes(lab, name, seed):
    _passes(lab, name, vars(in_a_file(lab))[name], seed)


@pytest.mark.parametrize("lab, name", IN_A_CELL)
def test_a_right_answer_in_a_notebook_passes(in_a_cell, lab, name):
    _passes(lab, name, in_a_cell(lab)[name], 2048)


def test_there_are_many_of_every_exercise():
    assert len(ANSWERS) >= 170
    count = Counter((lab, name.partition("__")[0]) for lab, name in ANSWERS)
    assert all(count[lab, exercise] >= 3 for lab in LABS for exercise in of_lab(lab))
