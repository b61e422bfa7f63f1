"""What a student calls: check, hint, use; and require, which a grader calls."""

import builtins
import hashlib
import os
import re
import threading

from lib2048.course.labs.cases import trial
from lib2048.course.labs.exercise import find, of_lab
from lib2048.course.labs.judge import SIDE, judge
from lib2048.course.labs.messages import known, say
from lib2048.course.labs.notebook import of_other_rules
from lib2048.course.labs.passed import keep_passed
from lib2048.course.labs.result import FAILED, NOT_ATTEMPTED, Checked, Failed
from lib2048.course.labs.seeds import PLAIN, lab_seed, rules_of
from lib2048.learn.own import checked
from lib2048.machine.child import PRINTED, Child, Ended, NotStarted, load, source_of
from lib2048.machine.extras import Missing, advice

SECONDS = 10  # for one check; a looping function is ended then
PATIENCE = "LIB2048_PATIENCE"  # how many times longer, where a grader's machine is busy
FIRST_SECONDS = 150  # for the library's own compiling before it
MEMORY_MIB = 4096
HINTS = 3
# What `machine.child` says itself of why there is no answer, and nothing that the code may say.
CHILDS = re.compile(
    r"(took longer|used more|did not start|ended the process|recursed)\b.*?(?= \(in |$)"
)
READY = {"torch": "lib2048.course.labs.hw09.warm_torch"}  # and what to import before the clock runs

_child, _lock, _known = Child(), threading.Lock(), {}
_changed = set()  # what functions changed of the library, for `changes`


def start(lab, rules=PLAIN):
    """Make ready for a lab: the process that checks starts meanwhile.

    Args:
        lab: "hw01".
        rules: by which its notebook is written.

    Raises:
        ModuleNotFoundError: saying what to install, if the lab needs more than is there.
        ValueError: for a notebook by other rules than the class's.
    """
    for line in of_other_rules(lab, rules, rules_of(lab)):
        raise ValueError(line)
    make_ready(lab)


def make_ready(lab):
    """Start the process that checks; see `start`."""
    exercises = of_lab(lab).values()
    for exercise in exercises:
        if exercise.missing:
            raise Missing(_needs(exercise))
    with _lock:
        _child.warm(SIDE)
        for name in {name for exercise in exercises for name in exercise.needs}:
            _child.warm(READY[name])


def _needs(exercise):
    package = exercise.missing[0]
    return say("labs.needs", lab=exercise.lab, package=package, how=advice(package))


def check(name, function, part=None, seed=None):
    """Check a student's function on some dozen cases.

    What passed is kept for `lib2048 progress`.  The function runs in a process of its own, which is
    ended after 10 s.

    Args:
        name: of the exercise, "hw04.update", or its number, "hw04.3".
        function: plain Python.
        part: of the exercise's cases, by default all.
        seed: that the cases are drawn from, by default LIB2048_LAB_SEED or the class's.

    Returns:
        `Checked`: its `status` is "not attempted", "passed" or "failed"; a notebook shows it with
        the smallest failing case drawn.

    Raises:
        ValueError: for an unknown exercise.
    """
    exercise, seed = find(name), lab_seed() if seed is None else seed
    if function is exercise.truth:
        return Checked(exercise.name, NOT_ATTEMPTED)
    if not callable(function):
        return _failed(exercise, "labs.no_function", what=repr(function)[:100])
    if exercise.missing:
        return Checked(exercise.name, FAILED, reason=_needs(exercise))
    try:
        text = source_of({"function": function})
    except ValueError as error:
        return _failed(exercise, "labs.no_source", error=error)
    return check_text(exercise, text, part, seed)


def check_text(exercise, text, part, seed, hidden=False):
    """Check a function that is the text of a module with FUNCTIONS["function"]; see `check`.

    hidden: nothing is kept of what the code says in its errors, or prints: it may have seen a seed
    that it shall not tell.
    """
    tried = trial(exercise.name, int(seed))
    tried.picks(part)  # refuses a part that there is not
    key = hashlib.sha256(repr((exercise.name, text)).encode()).digest()
    if key in _known:  # it did not end, or ended the process: once is enough
        return _known[key]
    printed, begun = [], False
    try:
        with _lock:
            for name in exercise.needs:  # off the clock, and outside the limit of memory
                _child.warm(READY[name])
            _child.ask(f"{SIDE}:prepare", {"exercise": exercise.name}, FIRST_SECONDS)
            begun = True
            found = judge(exercise, text, int(seed), part, _asking(printed))
    except Ended as ended:
        make_ready(exercise.lab)
        reason = _bare(ended.reason) if hidden else ended.reason
        reason = reason if reason.endswith("?") else f"{reason}."
        reason = say("labs.child", function=exercise.function, reason=reason)
        judged = begun and not isinstance(ended, NotStarted)
        result = Checked(exercise.name, FAILED, reason=reason, ended=judged, judged=judged)
        if judged:
            _known[key] = result
        return result
    if hidden:
        printed.clear()
        found["words"] = _bare_words(found["key"], found["words"], text)
    said = [(found.pop("key"), found.pop("words")), *found.pop("places")]
    reason = " ".join(say(key, **words) for key, words in said if key)
    result = Checked(exercise.name, reason=reason, printed="".join(printed)[:PRINTED], **found)
    if result.passed:
        keep_passed(exercise, part)
    return result


def _bare(reason):
    """Return of why there is no answer what the code that ran cannot have put into words."""
    found, kind = CHILDS.match(reason), re.split(": | \\(in ", reason)[0]
    if found:
        return found[0]
    return (
        f"raised {kind}" if isinstance(getattr(builtins, kind, None), type) else "raised an error"
    )


def _bare_words(key, words, text):
    """Return the words of a message with an error's type in place of its text.

    text: of the code, which holds the line that is named.
    """
    if "error" not in words or key == "labs.does_not_compile":
        return words
    line = words.get("line", "")
    words = words | {"error": _bare(words["error"]).removeprefix("raised ")}
    return words | {"line": line if line in text else "…"} if "line" in words else words


def _asking(printed):
    """Return what asks the child for the judge; what the function printed goes into the list."""

    def ask(task, message, optional=False):
        try:
            reply = _child.ask(task, message, _seconds(), MEMORY_MIB)
        except Ended:
            if optional:
                return None
            raise
        if reply["printed"] and not printed:  # each later order prints it again
            printed.append(reply["printed"])
        answer = reply["answer"]
        if changed := isinstance(answer, dict) and answer.pop("changed", ()):
            _changed.update(changed)
            _child.close()  # it answers for no other function
        return answer

    return ask


def changes():
    """Return the names of what functions changed where they were checked, and forget them."""
    found = {str(name)[:100] for name in _changed}
    _changed.clear()
    return found


def _seconds():
    return SECONDS * float(os.environ.get(PATIENCE, 1))


def ask_judge(task, message, seconds=None):
    """Let the child that checks do another task; return its answer.

    Raises ValueError, in words, when it gives none.
    """
    try:
        with _lock:
            return _child.ask(task, message, seconds or _seconds(), MEMORY_MIB)["answer"]
    except Ended as ended:
        raise ValueError(say("labs.stopped", reason=ended.reason)) from None


def _failed(exercise, key, **words):
    reason = say(key, **{"function": exercise.function} | words)
    return Checked(exercise.name, FAILED, reason=reason)


def require(name, function, part=None, seed=None):
    """Check as `check` does, and raise `Failed` for what did not pass: for a grader's cells."""
    result = check(name, function, part, lab_seed() + 1 if seed is None else seed)
    if not result.passed:
        raise Failed(str(result))
    return result


def hint(name, number=1):
    """Return a hint for an exercise, the second plainer than the first, the third the plainest.

    Args:
        name: "hw04.update" or "hw04.3".

    Raises:
        ValueError: for a number that there is not.
    """
    exercise = find(name)
    count = sum(known(f"{exercise.name}.hint{k}") for k in range(1, HINTS + 1))
    if number not in range(1, count + 1):
        raise ValueError(say("labs.no_hint", count=count, name=exercise.name))
    print(say(f"{exercise.name}.hint{number}"))


def use(name, function):
    """Return the student's function; the library's version, and say so, if there is none to use.

    That is one which is not attempted, and one which never ends or ends its process.  Another one
    that fails its check stays the student's own, and that is said, too.
    """
    exercise, result = find(name), check(name, function)
    if result.ended or result.status == NOT_ATTEMPTED:
        print(say("labs.used_for_ended" if result.ended else "labs.used", function=exercise.name))
        return exercise.truth
    if not result.passed:
        print(say("labs.fails", function=exercise.name))
    return function


def compiled(function, **options):
    """Return a function compiled by numba, with all plain functions that it calls.

    They stay what they are in the notebook.

    Args:
        function: plain Python.
        **options: of numba.njit.

    Raises:
        ValueError: for a function whose source cannot be found.
    """
    own = load(source_of({"function": getattr(function, "py_func", function)}))["function"]
    return checked(own, **{"boundscheck": False} | options)


def attempt(function):
    """Call a function of the student's without arguments; say so where it is not attempted."""
    try:
        return function()
    except NotImplementedError:
        print(f"○ {function.__name__}: {say('labs.not_attempted')}")
