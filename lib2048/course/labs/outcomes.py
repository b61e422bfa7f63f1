"""What a function makes of a case, as data; how it travels as JSON; whether two such are equal.

The student's code runs in a process of its own and gives outcomes; what is right is decided by
others, who get them as data.
"""

import base64
import copy
import numbers
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from lib2048.course.labs.exercise import Wrong
from lib2048.machine import child

EXACT = 1 << 53  # larger whole numbers do not fit into a float: a board would lose tiles there
MOST_TEXT = 300  # characters of a value that is shown
BRIEFLY = {"precision": 8, "threshold": 100, "edgeitems": 3, "suppress_small": False}  # as ever
MOST_NUMBERS = 200_000  # of one array that travels
RETURNED, WRONG, MUTATED, RAISED = "returned", "wrong", "mutated", "raised"
ENDS = KeyboardInterrupt, SystemExit, MemoryError  # it ends the process, too


class Outcome(NamedTuple):
    """How a call ended.

    kind: "returned", with the value; "wrong", with a message's key and words; "mutated", with the
    argument's name; "raised", with the error's type, and words: its text, the student's line.
    """

    kind: str
    value: object
    words: dict = {}


@dataclass(frozen=True, eq=False)
class Foreign:
    """What is no data: an object of the student's own.  It equals nothing."""

    type: str
    text: str


def holds_foreign(value):
    """Say whether a value is no data, or something in it."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    several = isinstance(value, (list, tuple))
    return isinstance(value, Foreign) or several and any(map(holds_foreign, value))


def first_of_equals(action, worth):
    """Return the first action that is worth as much as one of the best; another one as it is.

    worth: {action: number}.
    """
    first = max(worth, key=worth.get, default=None)
    is_known = isinstance(action, numbers.Integral) and action in worth
    return first if is_known and np.isclose(worth[action], worth[first], 1e-6, 1e-6) else action


def outcome_of(exercise, function, case):
    """Call a function on a case, which stays as it is, and return the `Outcome`."""
    given = copy.deepcopy(case)
    try:
        if exercise.outcome:
            return Outcome(RETURNED, exercise.outcome(function, *given))
        answer = function(*given)
    except ENDS:
        raise
    except Wrong as wrong:
        return Outcome(WRONG, *wrong.args)
    except Exception as error:
        return Outcome(RAISED, type(error).__name__, _words(error))
    for name, before, after in zip(exercise.parameters, case, given):
        if not equal(before, after):
            return Outcome(MUTATED, name)
    return Outcome(RETURNED, answer)


def _words(error):
    place = child.own_frame(error)
    why = "it calls itself without end" if isinstance(error, RecursionError) else error
    text = f"{type(error).__name__}: {why}"[:MOST_TEXT]
    return {"error": text, "line": place.line if place else ""}


# ---------------------------------------------------------------- as JSON


def to_json(outcome):
    """Return an outcome as what JSON can hold."""
    value = _packed(outcome.value) if outcome.kind == RETURNED else str(outcome.value)
    words = {key: word if _is_plain(word) else text_of(word) for key, word in outcome.words.items()}
    return [outcome.kind, value, words]


def from_json(found):
    """Return the outcome that `to_json` wrote."""
    kind, value, words = found
    return Outcome(kind, _unpacked(value) if kind == RETURNED else value, words)


def _is_plain(value):
    return value is None or type(value) in (bool, int, float, str)


def _packed(value):
    if _is_plain(value):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {"number": [value.dtype.str, value.item()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= MOST_NUMBERS:
        text = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), text]}
    if isinstance(value, list):
        return [_packed(each) for each in value]
    if isinstance(value, tuple):
        return {"tuple": [_packed(each) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[_packed(key), _packed(each)] for key, each in value.items()]}
    if isinstance(value, (int, float, str)):  # of a class of the student's own
        return next(kind(value) for kind in (int, float, str) if isinstance(value, kind))
    return {"foreign": [type(value).__name__, text_of(value)]}


def _unpacked(found):
    if isinstance(found, list):
        return [_unpacked(each) for each in found]
    if not isinstance(found, dict):
        return found
    [(kind, value)] = found.items()
    if kind == "number":
        return np.dtype(value[0]).type(value[1])
    if kind == "array":
        data = np.frombuffer(base64.b64decode(value[2]), value[0])
        return data.reshape(value[1]).copy()
    if kind == "tuple":
        return tuple(map(_unpacked, value))
    if kind == "dict":
        return {_unpacked(key): _unpacked(each) for key, each in value}
    return Foreign(*value)


# ---------------------------------------------------------------- equal


def equal(one, other, relative=1e-5):
    """Compare deeply; floats within a share of their size and 10⁻⁶, whole numbers exactly.

    What cannot be compared, such as an object of the student's own, is not equal.
    """
    try:
        return _equal(one, other, relative)
    except Exception:
        return False


def _equal(one, other, relative):
    same = partial(_equal, relative=relative)
    if isinstance(one, Foreign) or isinstance(other, Foreign):
        return False
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        close = "f" in one.dtype.kind + other.dtype.kind and one.shape == other.shape
        return (
            bool(np.allclose(one, other, relative, 1e-6, True))
            if close
            else np.array_equal(one, other)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, numbers.Number) and isinstance(other, numbers.Number):
        return _same_number(one, other, relative)
    return isinstance(one, np.random.Generator) or bool(one == other)


def _same_number(one, other, relative):
    whole = [isinstance(number, numbers.Integral) for number in (one, other)]
    if all(whole):
        return int(one) == int(other)
    if whole[0] and abs(int(one)) > EXACT:
        return int(one) == float(other)
    return bool(np.isclose(float(one), float(other), relative, 1e-6, equal_nan=True))


# ---------------------------------------------------------------- in words


def kind_of(value):
    """Return what has to agree before two values are compared: bool, any number, or the type."""
    if isinstance(value, (bool, np.bool_)):
        return bool
    return numbers.Number if isinstance(value, numbers.Number) else type(value)


def described(value):
    """Describe a value by its type and itself: a list [1, 2]."""
    kind = value.type if isinstance(value, Foreign) else type(value).__name__
    article = "an" if kind[0] in "aeio" else "a"
    if isinstance(value, Foreign):
        return f"{article} {kind}: {value.text}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and {value.dtype}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}: {text_of(value)}"
    return f"{article} {kind}: {text_of(value)}"


def text_of(value):
    """Write a value as a beginner would: numbers without their numpy types, arrays as lists."""
    if isinstance(value, Foreign):
        return value.text
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.size > MOST_TEXT:  # a table: each number as text would take a second
            return f"array({np.array2string(value, **BRIEFLY)})"[:MOST_TEXT]
        value = value.tolist()
    if type(value) is dict:
        inside = ", ".join(f"{text_of(key)}: {text_of(one)}" for key, one in value.items())
        return f"{{{inside}}}"[:MOST_TEXT]
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(text_of, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    try:
        return repr(value)[:MOST_TEXT]
    except Exception as error:  # of an object of the student's own
        return f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
