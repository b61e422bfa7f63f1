"""The judge of a student's function: it works in a child process, see `machine.child`.

A function is called as plain Python on cases that are drawn from a seed, the smallest failing one
is kept, and its cause is sought among the typical mistakes: the one whose answers are those of the
student.  Where the exercise asks for it, numba compiles the function and the cases are tried
again.  Nothing is said in words here: `checks` does that, from the lab's table of messages.
"""

import copy
import inspect
import numbers
import traceback
from functools import partial

import numpy as np

from lib2048.course.labs.exercise import Wrong, find, of_lab
from lib2048.game.board import to_tiles
from lib2048.learn.own import checked
from lib2048.learn.trial import essence
from lib2048.machine import child
from lib2048.machine.source_text import used_names

EXACT = 1 << 53  # larger whole numbers do not fit into a float: a board would lose tiles there
MOST_TEXT = 300  # characters of a value that is shown


class _Failed(Exception):
    """What is wrong: a key of the messages, its words, and what goes into the picture."""

    def __init__(self, key, case=None, **words):
        super().__init__(key)
        self.key, self.case, self.words, self.shown = key, case, words, []


def judge(message):
    """Judge one function.

    message: exercise, its name; source, a text of `child.source_of`; seed; part, or None.  Returns
    {status, cases, wrong, key, words, shown, stood_in}: status "passed", "failed" or "not
    attempted"; key and words: the message; shown: [label, kind, value] of what is drawn; stood_in:
    functions of the library that the student's function called.
    """
    found = {"cases": 0, "wrong": 0, "key": None, "words": {}, "shown": [], "stood_in": []}
    try:
        _Judged(find(message["exercise"]), message, found).run()
        found["status"] = "passed"
    except NotImplementedError:
        found["status"] = "not attempted"
    except _Failed as failed:
        found |= {"status": "failed", "key": failed.key, "words": failed.words}
        found["shown"] = failed.shown
    return found


def loads(message):
    """Run a text of `child.source_of` to its end, and call nothing of it.  message: source."""
    child.load(message["source"])
    return {}


_ready = set()


def prepare(message):
    """Compile what the library's own version of an exercise needs, once in this process."""
    if message["exercise"] not in _ready:
        exercise = find(message["exercise"])
        case = exercise.all_cases(0)[0]
        _answer(exercise, exercise.truth, case)
        if exercise.compiles:
            _answer(exercise, checked(exercise.truth), case)
        _ready.add(exercise.name)
    return {}


class _Judged:
    """One judgement: the function, its cases, what was found."""

    def __init__(self, exercise, message, found):
        self.exercise, self.message, self.found = exercise, message, found
        self.cases = exercise.all_cases(message["seed"], message["part"])
        self.passed = {}  # of the helpers: each is tried once

    def run(self):
        function, exercise = self._loaded(), self.exercise
        signature = inspect.signature(function)
        try:
            signature.bind(*exercise.parameters)
        except TypeError:
            words = {"call": exercise.call, "takes": ", ".join(signature.parameters)}
            raise _Failed("labs.call", function=exercise.function, **words) from None
        wrong = [failed for case in self.cases if (failed := self._try(function, case))]
        self.found |= {"cases": len(self.cases), "wrong": len(wrong)}
        if wrong:
            raise self._explained(min(wrong, key=lambda failed: _size(failed.case)))
        if exercise.compiles:
            self._try_compiled(self._loaded())

    def _loaded(self):
        """Load the function, with the library's versions of what is missing among its helpers."""
        function = _uncompiled(child.load(self.message["source"])["function"])
        stood_in = _stand_in(self.exercise, function, self.message["seed"], self.passed)
        self.found["stood_in"] = stood_in
        return function

    def _try(self, function, case, how="labs.raised"):
        """Return the `_Failed` of one case, None for none."""
        try:
            answer = _outcome(self.exercise, function, case)
            expected = _outcome(self.exercise, self.exercise.truth, case)
            whole = isinstance(expected, numbers.Integral) and self.exercise.compiles
            if whole and isinstance(answer, (float, np.floating)) and how == "labs.raised":
                words = {"function": self.exercise.function, "got": _text(answer)}
                raise _Failed("labs.not_whole", **words)  # a float is no index, and no board
            if (failed := _difference(self.exercise, expected, answer, case)) is None:
                return None
        except (KeyboardInterrupt, SystemExit, RecursionError, MemoryError):
            raise
        except NotImplementedError:
            if not self.found["cases"] and case is self.cases[0]:
                raise
            failed = _Failed("labs.still_raises", case, function=self.exercise.function)
        except _Failed as wrong:
            failed = wrong
        except Wrong as wrong:
            key, words = wrong.args
            failed = _Failed(f"{self.exercise.name}.{key}", **words)
        except Exception as error:
            failed = _raised(self.exercise, error, how)
        failed.case = case
        failed.shown = [*_given(self.exercise, case), *failed.shown]
        return failed

    def _explained(self, failed):
        """Name the typical mistake that gives the student's answers, if there is one.

        It has to agree where the student is wrong; of several, the one that agrees most often.
        """
        function, best = self._loaded(), 0
        if failed.key not in ("labs.different", "labs.raised", "labs.raised_line"):
            return failed
        answers = [_answer(self.exercise, function, case) for case in self.cases]

        def agreeing(version):
            given = (_answer(self.exercise, version, case) for case in self.cases)
            return np.array([not _difference(self.exercise, *pair) for pair in zip(given, answers)])

        right = agreeing(self.exercise.truth)
        for key, wrong in self.exercise.wrong.items():
            agree = agreeing(wrong)
            if agree.sum() > best and (agree | right).all():
                best, failed.key, failed.words = agree.sum(), self.exercise.message(key), {}
        return failed

    def _try_compiled(self, function):
        fast = self._compiled(function)
        for case in self.cases:
            if failed := self._try(fast, case, "labs.compiled_raised"):
                if failed.key == "labs.different":
                    failed.key = f"labs.compiled_{_how_it_differs(*failed.pair)}"
                    failed.words = {"function": self.exercise.function}
                raise failed

    def _compiled(self, function):
        """Compile a function, and try it on one case; once for a text with the same helpers."""
        key = self.exercise.name, self.message["source"], tuple(self.found["stood_in"])
        if key not in _fast:
            try:
                fast = checked(function)
                _outcome(self.exercise, fast, self.cases[0])
            except Wrong:
                pass  # it compiles; what is wrong is said when all cases are tried
            except Exception as error:
                words = {"function": self.exercise.function, "error": essence(error)}
                raise _Failed("labs.does_not_compile", **words) from None
            _fast[key] = fast
        return _fast[key]


_fast = {}  # functions that were compiled in this process


def _how_it_differs(expected, got):
    """Name the numba type that spoils a 64-bit number: "signed", "float", otherwise "differs"."""
    several = isinstance(expected, tuple) and isinstance(got, tuple)
    for right, wrong in zip(expected, got) if several else [(expected, got)]:
        if isinstance(right, numbers.Integral) and not equal(right, wrong):
            if isinstance(wrong, numbers.Integral):
                return "signed" if (int(right) - int(wrong)) % (1 << 64) == 0 else "differs"
            return "float" if isinstance(wrong, float) else "differs"
    return "differs"


# ---------------------------------------------------------------- what it calls


def _uncompiled(function):
    """Return a loaded function as plain Python, and what it calls as well."""
    function = getattr(function, "py_func", function)
    if room := function.__globals__ if _is_loaded(function) else {}:
        plain = {name: getattr(thing, "py_func", thing) for name, thing in room.items()}
        room.update({name: thing for name, thing in plain.items() if _is_loaded(thing)})
    return function


def _stand_in(exercise, function, seed, passed):
    """Put the library's version in the place of each helper that fails; return their names.

    passed: {name of a helper: whether it passes}, of those that have been tried.
    """
    names, room = [], function.__globals__
    for name, other in of_lab(exercise.lab).items():
        if other is exercise:  # it calls only what comes before
            break
        if name not in used_names(function.__code__):
            continue
        plain = getattr(room.get(name), "py_func", room.get(name))
        if plain is not other.truth and (plain is None or name not in passed):
            passed[name] = plain is not None and _passes(other, plain, seed, passed)
        if plain is other.truth or not passed[name]:
            room[name] = other.truth
            names.append(name)
        else:
            _stand_in(other, plain, seed, passed)  # among its own helpers
    return names


def stand_in_for(lab, functions):
    """Put the library's version in the place of each stub of a lab; return the stubs' names.

    functions: {name: function} of a loaded text; what they call is looked at, too.
    """
    rooms, names = [functions, *(f.__globals__ for f in functions.values() if _is_loaded(f))], []
    for name, exercise in of_lab(lab).items():
        for room in (room for room in rooms if name in room):
            if is_stub(exercise, room[name]):
                room[name] = exercise.truth
                names += [name] * (name not in names)
    return names


def _is_loaded(function):
    """Say whether a function was defined in a loaded text, and not imported there."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(child.YOUR_CODE)


def _passes(exercise, function, seed, passed):
    """Say whether a helper is right on every case, as plain Python."""
    try:
        _stand_in(exercise, function, seed, passed)
        for case in exercise.all_cases(seed):
            expected, got = (_outcome(exercise, f, case) for f in (exercise.truth, function))
            if _difference(exercise, expected, got):
                return False
    except Exception:
        return False
    return True


def is_stub(exercise, function):
    """Say whether a function is the library's own, or does nothing but raise NotImplementedError.

    The function is looked at, not called: it may never end.
    """
    code = getattr(function, "__code__", None)
    return function is exercise.truth or (code and code.co_names == ("NotImplementedError",))


# ---------------------------------------------------------------- one case


def _outcome(exercise, function, case):
    if exercise.outcome:
        return exercise.outcome(function, *copy.deepcopy(case))
    given = copy.deepcopy(case)
    answer = function(*given)
    for name, before, after in zip(exercise.parameters, case, given):
        if not equal(before, after):
            raise _Failed("labs.mutated", function=exercise.function, argument=name)
    return answer


def _answer(exercise, function, case):
    """Return the outcome, or what was raised."""
    try:
        return _outcome(exercise, function, case)
    except Exception as error:
        return type(error).__name__, str(error)


def _difference(exercise, expected, got, case=None):
    """Return the `_Failed` that says how two outcomes differ, None where they do not."""
    failed = None if exercise.outcome else _other_type(exercise, expected, got)
    if failed or (exercise.same or equal)(expected, got):
        return failed
    failed = _Failed("labs.different")
    failed.pair = expected, got
    for label, outcome in (("labs.expected", expected), ("labs.got", got)):
        if exercise.tell is None or case is None:
            failed.shown += _shown(label, exercise.result, outcome)
        else:
            failed.shown.append([label, "text", {"text": exercise.tell(case, outcome)}])
    return failed


def _other_type(exercise, expected, got):
    if got is None and expected is not None:
        return _Failed("labs.returned_none", function=exercise.function)
    if _kind(expected) != _kind(got):
        words = {"expected": _described(expected), "got": _described(got)}
        return _Failed("labs.wrong_type", function=exercise.function, **words)
    parts = isinstance(expected, tuple) and len(expected) == len(got) and zip(expected, got)
    return next(filter(None, (_other_type(exercise, *pair) for pair in parts or ())), None)


def _kind(value):
    if isinstance(value, (bool, np.bool_)):
        return bool
    return numbers.Number if isinstance(value, numbers.Number) else type(value)


def _described(value):
    """Describe a value by its type and itself: list [1, 2]."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and {value.dtype}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}: {_text(value)}"
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}: {_text(value)}"


def equal(one, other, relative=1e-5):
    """Compare deeply; floats within a share of their size and 10⁻⁶, whole numbers exactly."""
    same = partial(equal, relative=relative)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        close = "f" in one.dtype.kind + other.dtype.kind and one.shape == other.shape
        return (
            bool(np.allclose(one, other, relative, 1e-6)) if close else np.array_equal(one, other)
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


# ---------------------------------------------------------------- what is shown


def _raised(exercise, error, key):
    frames = traceback.extract_tb(error.__traceback__)
    yours = [frame for frame in frames if frame.filename.startswith(child.YOUR_CODE)]
    words = {"function": exercise.function, "error": f"{type(error).__name__}: {error}"[:MOST_TEXT]}
    if key == "labs.raised" and yours:
        key = "labs.overflow" if isinstance(error, OverflowError) else "labs.raised_line"
        return _Failed(key, **words, line=yours[-1].line)
    return _Failed(key, **words)


def _given(exercise, case):
    shown = []
    for name, value in zip(exercise.parameters, case):
        kind = exercise.show.get(name, "board" if isinstance(value, np.uint64) else "text")
        if kind == "boards":
            shown += [[f"{name}[{i}]", "board", _encoded("board", b)] for i, b in enumerate(value)]
        elif kind != "hidden":
            shown.append([name, kind, _encoded(kind, value)])
    more = exercise.given(case) if exercise.given else {}
    return shown + [[name, "text", {"text": text}] for name, text in more.items()]


def _shown(label, kind, value):
    """Return [label, kind, value] of a result; a dict of kinds is for a tuple, part by part."""
    if isinstance(kind, dict):
        if isinstance(value, tuple) and len(value) == len(kind):
            return [
                [f"{label} {name}", one, _encoded(one, part)]
                for (name, one), part in zip(kind.items(), value)
            ]
        kind = "text"
    return [[label, kind, _encoded(kind, value)]]


def _encoded(kind, value):
    """Return a value so that JSON can hold it; what does not fit its kind becomes a text."""
    try:
        if kind == "board" and 0 <= int(value) < 1 << 64:
            return {"board": int(value)}
        if kind == "packed row" and 0 <= int(value) < 1 << 16:
            return {"rows": [to_tiles(np.uint64(value))[0]]}
        if kind in ("row", "rows"):
            rows = [[int(tile) for tile in row] for row in ([value] if kind == "row" else value)]
            if len({*map(len, rows)}) == 1 and all(rows):  # it can be drawn
                return {"rows": rows}
    except (TypeError, ValueError):
        pass
    return {"text": _text(value)}


def _text(value):
    """Write a value as a beginner would: numbers without their numpy types, arrays as lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.size > MOST_TEXT:  # a table: each number as text would take a second
            return repr(value)[:MOST_TEXT]
        value = value.tolist()
    if type(value) is dict:
        inside = ", ".join(f"{_text(key)}: {_text(one)}" for key, one in value.items())
        return f"{{{inside}}}"[:MOST_TEXT]
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(_text, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    return repr(value)[:MOST_TEXT]


def _size(case):
    """Return how large a case is: the one with the fewest and smallest tiles is shown."""
    return len(_text(case)), _text(case)
