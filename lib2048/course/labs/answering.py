"""The student's side of a check: a process where the student's code runs, see `machine.child`.

It loads the text of a function, calls it on cases that are drawn from a seed, and sends back what
it gave.  Nothing is judged here, so nothing that the code may change here makes it right.
"""

import contextlib
import copy
import inspect
import itertools
import types

from lib2048.course.labs import inside
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
    function, loaded = _loaded(message["source"])
    signature = inspect.signature(function)
    try:
        signature.bind(*exercise.parameters)
        takes = None
    except TypeError:
        takes = ", ".join(signature.parameters)
    used = _names_used(function, loaded)
    found = {"takes": takes, "helpers": [], "missing": []}
    for name, other in of_lab(exercise.lab).items():
        if other is exercise:  # it calls only what comes before
            break
        things = [room[name] for room in loaded.rooms if name in room]
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
    compile}; with {changed: names} of what the function changed in the library.
    """
    exercise = find(message["exercise"])
    inside.watch()
    function = _standing(message, exercise)
    if message["compiled"]:
        try:
            function = _compiled(exercise, function, message)
        except Exception as error:
            return {"error": essence(error)}
    cases = [_case(exercise, message, at) for at in range(len(message["picks"]))]
    answers = [  # packed at once: an answer may keep and change what it has returned
        to_json(outcome_of(exercise, function, case))
        for case in cases
        for _ in range(message["times"])
    ]
    changes = inside.changed()
    return {"answers": answers} | ({"changed": changes} if changes else {})


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
    function, loaded = _loaded(message["source"])
    for name in message["stands"]:
        truth = of_lab(exercise.lab)[name].truth
        for room in loaded.rooms:
            loaded.replace(room.setdefault(name, truth), truth)
    if helper := message["helper"]:
        return next(room[helper] for room in loaded.rooms if helper in room)
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
    """Load a text; return its function and the `child.Loaded`, all of it plain Python."""
    loaded = child.load_all(source)
    for room in loaded.rooms:
        for thing in list(room.values()):
            if is_loaded(plain := getattr(thing, "py_func", None)):
                loaded.replace(thing, plain)
    function = loaded.functions["function"]
    return getattr(function, "py_func", function), loaded


def _names_used(function, loaded):
    """Return the global names that a loaded function, or one that it may call, asks for."""
    things = [function, *(thing for room in loaded.rooms for thing in room.values())]
    things += [cell.cell_contents for cell in loaded.cells if cell != types.CellType()]
    return set().union(*(used_names(thing.__code__) for thing in things if is_loaded(thing)))


def is_loaded(function):
    """Say whether a function was defined in a loaded text, and not imported there."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(child.YOUR_CODE)


# ---------------------------------------------------------------- several mistakes at once

MOST_CALLS = 4000  # of pairs of mistakes, and of threes


def together(message):
    """Return the names of two or three typical mistakes that together give all of some answers.

    None where there are none.  message: exercise, seed, part, picks; answers, settled outcomes as
    JSON; partly: the mistakes that give some of them alone, of which three are tried.  Several
    together may never end, so they are tried in this process, which its caller can end.
    """
    exercise = find(message["exercise"])
    tried = Trial(exercise, message["seed"])
    picks, left = [Pick(*pick) for pick in message["picks"]], [0]
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

    for count, names in ((2, exercise.edits), (3, message["partly"])):
        left[0] = MOST_CALLS
        for several in itertools.permutations(names, count):
            edits = itertools.chain(*(exercise.mistakes[name] for name in several))
            with contextlib.suppress(ValueError, SyntaxError):  # two change the same text
                if gives(changed(exercise.truth, *edits)):
                    return several
    return None


# ---------------------------------------------------------------- training


def stand_in_for(lab, loaded):
    """Put the library's version in the place of each stub of a lab; return the stubs' names.

    loaded: of `child.load_all`, whose functions are looked at as well as what they call.
    """
    names = []
    for name, exercise in of_lab(lab).items():
        for room in (room for room in (loaded.functions, *loaded.rooms) if name in room):
            if is_stub(exercise, stub := room[name]):
                loaded.replace(stub, exercise.truth)
                room[name] = exercise.truth
                names += [name] * (name not in names)
    return names


def is_stub(exercise, function):
    """Say whether a function is the library's own, or does nothing but raise NotImplementedError.

    The function is looked at, not called: it may never end.
    """
    code = getattr(function, "__code__", None)
    return function is exercise.truth or (code and code.co_names == ("NotImplementedError",))
