"""A lab's functions in a plain file, checked without Jupyter."""

import sys
from pathlib import Path

from lib2048.course.labs.checks import ask_judge, check_text, make_ready
from lib2048.course.labs.exercise import find, of_lab
from lib2048.course.labs.seeds import lab_seed
from lib2048.machine.files import read_text

MOST_BYTES = 10**6  # of a file of a student's functions

# What stands behind the file's own text: one of its names, or a function that says it is missing.
BEHIND = """

def _missing(*arguments):
    raise NotImplementedError

FUNCTIONS = {{"function": globals().get({name!r}, _missing)}}
"""


def check_file(lab, path, seed=None, only=None):
    """Check a lab's functions in a Python file; return a list of `Checked`, one an exercise.

    only: the name of one function; None: all of the lab.

    The file runs in the process of the checks, within their limits.  A function that it lacks is
    "not attempted".  Raises ValueError for a file that cannot be read, is no Python, or does not
    run to its end.
    """
    exercises = of_lab(lab).values() if only is None else [find(f"{lab}.{only}")]
    path, seed = Path(path), lab_seed() if seed is None else seed
    text = _text(path)
    sys.path.append(str(path.resolve().parent))  # it may import what lies beside it
    try:
        make_ready(lab)
        message = {"source": text + BEHIND.format(name="")}
        try:
            ask_judge("lib2048.course.labs.answering:loads", message)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        texts = ((one, text + BEHIND.format(name=one.function)) for one in exercises)
        return [check_text(exercise, text, None, seed) for exercise, text in texts]
    finally:
        sys.path.pop()


def _text(path):
    try:
        text = read_text(path, MOST_BYTES)
        compile(text, str(path), "exec", dont_inherit=True)
        return text
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise ValueError(f"{path}{where}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        why = str(error).removeprefix(f"{path}: ") or "it is nested too deeply"
        raise ValueError(f"{path}: no Python file can be read there ({why})") from None
