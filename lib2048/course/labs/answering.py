"""The student's side of a check: a process where the student's code runs, see `machine.child`.

It loads the text of a function, calls it on cases that are drawn from a seed, and sends back what
it gave.  Nothing is judged here, so nothing that the code may change here makes it right.
"""

import contextlib
import copy
import inspect
import itertools

from lib2048.course.labs.cases import Pick, Trial, same, settled
from lib2048.course.labs.exercise import Wrong, changed, find, of_lab
from lib2048.course.labs.outcomes import from_json, outcome_of, to_json
from lib2048.learn.own import checked
from lib2048.learn.trial import essence
from lib2048.machine import child
from lib2048.machine.source_text import used_names


def look(message):
    """Look at a text, and call nothing of it.

    message: exercise, source.  Returns {takes: None, or the parameters of a function that cannot be
    called as the exercise is; helpers, missing: functions of earlier exercises that it calls, and
    those of them that are not there or are the library's own}.
    """
    exercise = find(message["exercise"])
    function, rooms = _loaded(message["source"])
    signature = inspect.signature(function)
    try:
        signature.bind(*exercise.parameters)
        takes = None
    except TypeError:
        takes = ", ".join(signature.parameters)
    used = set().union(*(used_names(code) for code in _codes(function, rooms)))
    found = {"takes": takes, "helpers": [], "missing": []}
    for name, other in of_lab(exercise.lab).items():
        if other is exercise:  # it calls only what comes before
            break
        things = [room[name] for room in rooms if name in room]
        there = any(thing is not other.truth for thing in things)
        if things or name in used:
            found["helpers" if there else "missing"].append(name)
    return found


def answer(message):
    """Call a function on cases.

    message: exercise, source, seed; picks, of `cases.Trial`; stands, the functions of earlier
    exercises that the library's versions stand in for; helper, the name of the function to call
    where it is another than the text's own; compiled, whether numba compiles it first; times, how
    often each case is asked.  Returns {answers: outcomes as JSON}, or {error: why it does not
    compile}.
    """
    exercise = find(message["exercise"])
    function = _standing(message, exercise)
    if message["compiled"]:
        try:
            function = _compiled(exercise, function, message)
        except Exception as error:
            return {"error": essence(error)}
    cases = [_case(exercise, message, at) for at in range(len(message["picks"]))]
    answers = [
        outcome_of(exercise, function, case) for case in cases for _ in range(message["times"])
    ]
    return {"answers": [to_json(each) for each in answers]}


def loads(message):
    """Run a text of `child.source_of` to its end, and call nothing of it.  message: source."""
    child.load(message["source"])
    return {}


_ready, _fast = set(), {}  # exercises; functions that were compiled in this process


def prepare(message):
    """Compile what the library's own version of an exercise needs, once in this process."""
    if message["exercise"] not in _ready:
        exercise = find(message["exercise"])
        case = exercise.drawn(0, next(iter(exercise.draws)), 0)[0]
        outcome_of(exercise, exercise.truth, case)
        if exercise.compiles:
            outcome_of(exercise, checked(exercise.truth), case)
        _ready.add(exercise.name)
    return {}


def _standing(message, exercise):
    """Return the function to call, with the library's versions in their places."""
    function, rooms = _loaded(message["source"])
    for name in message["stands"]:
        truth = of_lab(exercise.lab)[name].truth
        for room in rooms:
            room[name] = truth
    if helper := message["helper"]:
        return next(room[helper] for room in rooms if helper in room)
    return function


def _compiled(exercise, function, message):
    """Compile a function, and try it on one case; once for a text with the same helpers."""
    key = exercise.name, message["source"], tuple(message["stands"])
    if key not in _fast:
        fast, first = checked(function), copy.deepcopy(_case(exercise, message, 0))
        with contextlib.suppress(Wrong):  # it compiles; what is wrong is said of its answer
            exercise.outcome(fast, *first) if exercise.outcome else fast(*first)
        _fast[key] = fast
    return _fast[key]


def _case(exercise, message, at):
    part, number, index = message["picks"][at]
    return exercise.drawn(message["seed"], part, number)[index]


def _loaded(source):
    """Load a text; return its function as plain Python, and the dicts of global names in it."""
    function = child.load(source)["function"]
    function = getattr(function, "py_func", function)
    rooms = []
    _walk(function, rooms)
    return function, rooms


def _walk(function, rooms):
    """Collect the rooms of a function and of those it calls, all made plain Python."""
    if not _is_loaded(function) or any(function.__globals__ is room for room in rooms):
        return
    room = function.__globals__
    rooms.append(room)
    plain = {name: getattr(thing, "py_func", thing) for name, thing in room.items()}
    room.update({name: thing for name, thing in plain.items() if _is_loaded(thing)})
    for thing in list(room.values()):
        _walk(thing, rooms)


def _codes(function, rooms):
    things = [function, *(thing for room in rooms for thing in room.values())]
    return [thing.__code__ for thing in things if _is_loaded(thing)]


def _is_loaded(function):
    """Say whether a function was defined in a loaded text, and not imported there."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(child.YOUR_CODE)


# ---------------------------------------------------------------- two mistakes at once

MOST_CALLS = 4000  # of pairs of mistakes


def pair(message):
    """Return the names of two typical mistakes that together give all of some answers, or None.

    message: exercise, seed, part, picks; answers, settled outcomes as JSON.  Two mistakes together
    may never end, so they are tried in this process, which its caller can end.
    """
    exercise = find(message["exercise"])
    tried = Trial(exercise, message["seed"])
    picks, left = [Pick(*pick) for pick in message["picks"]], [MOST_CALLS]
    answers = [from_json(each) for each in message["answers"]]

    def gives(version):
        for pick, answer in zip(picks, answers):
            if not left[0]:
                return False
            left[0] -= 1
            case = tried.case(pick)
            made = settled(exercise, case, outcome_of(exercise, version, case))
            if not same(exercise, made, answer, message["part"]):
                return False
        return True

    for one, other in itertools.permutations(exercise.edits, 2):
        with contextlib.suppress(ValueError, SyntaxError):  # both change the same text
            if gives(changed(exercise.truth, *exercise.edits[one], *exercise.edits[other])):
                return [one, other]
    return None


# ---------------------------------------------------------------- training


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


def is_stub(exercise, function):
    """Say whether a function is the library's own, or does nothing but raise NotImplementedError.

    The function is looked at, not called: it may never end.
    """
    code = getattr(function, "__code__", None)
    return function is exercise.truth or (code and code.co_names == ("NotImplementedError",))
