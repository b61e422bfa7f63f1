"""The judge of a student's function: it decides, and runs none of the student's code.

A child process calls the function on cases (`answering`) and sends what it gave.  The smallest
failing case is kept, and its cause is sought among the typical mistakes: the one that gives, on
nearly all cases that it or the student spoils, what the student's function gives; then among pairs
of them.  Where there is none, `places` says in what the answers differ, and on which cases.
Nothing is said in words here: `checks` does that, from the lab's table of messages.
"""

import numbers

import numpy as np

from lib2048.course.labs import places
from lib2048.course.labs.cases import Unreadable, other_kind, same, settled, trial
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.outcomes import (
    MUTATED,
    RAISED,
    WRONG,
    described,
    equal,
    from_json,
    holds_foreign,
    text_of,
    to_json,
)
from lib2048.game.board import to_tiles

SIDE = "lib2048.course.labs.answering"
NEARLY_ALL = 0.9  # of what is wrong, here or by a mistake: so much a cause has to explain
# An answer that never changes, or always does, is none of two mistakes, though two may give it.
UNCAUSED = {"place.constant", "place.from_call_to_call"}
RAISES = {"labs.raised", "labs.raised_line", "labs.unreadable"}
BEYOND_64_BITS = ("out of bounds for uint64", "unsigned", "too big", "too large")  # Python says
UNNAMED = RAISES | {"labs.different"}  # what says by itself little of an answer
NOT_WRITTEN = "NotImplementedError"


class _Failed(Exception):
    """What is wrong: a key of the messages, its words, and what goes into the picture."""

    def __init__(self, key, case=None, **words):
        super().__init__(key)
        self.key, self.case, self.words, self.shown = key, case, words, []
        self.places = []


def judge(exercise, source, seed, part, ask):
    """Judge one function.

    source: a text of `child.source_of`; part: of the exercise, None for all; ask(task, message) →
    what a child answers that may run the student's code.  Returns {status, cases, wrong, key,
    words, places, shown, stood_in}: status "passed", "failed" or "not attempted"; key and words:
    the message; places: more such, [key, words]; shown: [label, kind, value] of what is drawn;
    stood_in: functions of the library that stood in for the student's.
    """
    found = {"cases": 0, "wrong": 0, "key": None, "words": {}, "places": [], "shown": []}
    found["stood_in"] = []
    try:
        _Judged(exercise, source, seed, part, ask, found).run()
        found["status"] = "passed"
    except _Failed as failed:
        status = "failed" if failed.key else "not attempted"
        found |= {"status": status, "key": failed.key, "words": failed.words}
        found |= {"places": failed.places, "shown": failed.shown}
    except Unreadable as error:
        words = {"function": exercise.function, "error": str(error)}
        found |= {"status": "failed", "key": "labs.unreadable", "words": words}
    return found


class _Judged:
    """One judgement: the function, its cases, what was found."""

    def __init__(self, exercise, source, seed, part, ask, found):
        self.exercise, self.part, self.ask, self.found = exercise, part, ask, found
        self.about = {"exercise": exercise.name, "source": source, "seed": seed}
        self.trial = trial(exercise.name, seed)
        self.picks = self.trial.picks(part)
        self.stands = []

    def run(self):
        exercise = self.exercise
        looked = self.ask(f"{SIDE}:look", self.about)
        if looked["takes"] is not None:
            words = {"call": exercise.call, "takes": looked["takes"]}
            raise _Failed("labs.call", function=exercise.function, **words)
        self._stand_in(looked)
        answers = self._answers()
        wrong = self._wrong(answers)
        self.found |= {"cases": len(self.picks), "wrong": len(wrong)}
        if wrong:
            raise self._explained(answers, wrong)
        if exercise.compiles:
            self._try_compiled()

    def _stand_in(self, looked):
        """Find out for which helpers the library's versions stand in: those that fail."""
        for name, other in of_lab(self.exercise.lab).items():
            if name in looked["missing"]:
                self.stands.append(name)
            elif name in looked["helpers"]:
                trial_of = trial(other.name, self.about["seed"])
                picks = trial_of.picks()
                how = {"exercise": other.name, "helper": name, "optional": True}
                if (answers := self._asked(picks, **how)) is None:  # it never ends
                    self.stands.append(name)
                    continue
                right = (
                    same(other, trial_of.expected(pick), settled(other, trial_of.case(pick), one))
                    for pick, one in zip(picks, answers)
                )
                if not all(right):
                    self.stands.append(name)
        self.found["stood_in"] = self.stands

    def _answers(self, **how):
        """Return the student's outcomes on all cases, settled."""
        return self._settled(self.picks, self._asked(self.picks, **how))

    def _settled(self, picks, answers):
        cases = map(self.trial.case, picks)
        return [settled(self.exercise, *two) for two in zip(cases, answers)]

    def _asked(self, picks, helper=None, compiled=False, times=1, optional=False, **about):
        how = {"picks": picks, "stands": self.stands, "helper": helper}
        how |= {"compiled": compiled, "times": times}
        reply = self.ask(f"{SIDE}:answer", self.about | how | about, optional)
        if reply is None:
            return None
        if "error" in reply:
            words = {"function": self.exercise.function, "error": reply["error"]}
            raise _Failed("labs.does_not_compile", **words)
        return list(map(from_json, reply["answers"]))

    def _wrong(self, answers, how="labs.raised"):
        """Return the `_Failed` of each answer that is wrong, {place among the cases: failed}."""
        found = {}
        for at, (pick, answer) in enumerate(zip(self.picks, answers)):
            failed = self._fault(self.trial.expected(pick), answer, how, first=at == 0)
            if failed is not None:
                failed.case = self.trial.case(pick)
                failed.shown = [*_given(self.exercise, failed.case), *failed.shown]
                if failed.key == "labs.different":
                    failed.shown += self._compared(failed.case, *failed.pair)
                found[at] = failed
        return found

    def _fault(self, expected, got, how, first):
        exercise, function = self.exercise, self.exercise.function
        if got.kind == RAISED:
            if got.value == NOT_WRITTEN and how == "labs.raised":
                if first:
                    raise _Failed(None)
                return _Failed("labs.still_raises", function=function)
            return _raised(exercise, got, how)
        if got.kind == MUTATED:
            return _Failed("labs.mutated", function=function, argument=got.value)
        if got.kind == WRONG:
            return _Failed(f"{exercise.name}.{got.value}", **got.words)
        whole = isinstance(expected.value, numbers.Integral) and exercise.compiles
        if whole and isinstance(got.value, (float, np.floating)) and how == "labs.raised":
            return _Failed("labs.not_whole", function=function, got=text_of(got.value))
        if same(exercise, expected, got, self.part):
            return None
        if not exercise.outcome and (pair := other_kind(expected.value, got.value)):
            return _of_other_kind(function, *pair, expected.value)
        failed = _Failed("labs.different")
        failed.pair = expected.value, got.value
        return failed

    def _compared(self, case, expected, got):
        """Return what is shown of an expected and a given outcome."""
        shown = []
        for label, value in (("labs.expected", expected), ("labs.got", got)):
            if self.exercise.tell is None:
                shown += _shown(label, self.exercise.result, value)
            else:
                shown.append([label, "text", {"text": self.exercise.tell(case, value)}])
        return shown

    def _try_compiled(self):
        wrong = self._wrong(self._answers(compiled=True), "labs.compiled_raised")
        if wrong:
            failed = next(iter(wrong.values()))
            if failed.key == "labs.different":
                failed.key = f"labs.compiled_{_how_it_differs(*failed.pair)}"
                failed.words = {"function": self.exercise.function}
            raise failed

    # ------------------------------------------------------------ why

    def _explained(self, answers, wrong):
        """Return the failing case to be shown, with its cause, or its places."""
        failed = min(wrong.values(), key=lambda failed: _size(failed.case))
        raised = failed.key in RAISES
        if failed.key != "labs.different" and not raised:
            return failed
        if (cause := self._cause(answers, wrong)) is not None:
            failed.key, failed.words = self.exercise.message(cause), {}
        elif not raised and (named := [one for one in wrong.values() if one.key not in UNNAMED]):
            return min(named, key=lambda failed: _size(failed.case))
        elif not raised:
            failed.places = self._places(answers, wrong)
            odd = UNCAUSED & {key for key, _ in failed.places}
            if not odd and (several := self._several(answers, wrong)):
                failed.key = "labs.two" if len(several) == 2 else "labs.of_three"
                failed.places = [[self.exercise.message(name), {}] for name in several]
        return failed

    def _cause(self, answers, wrong):
        """Return the typical mistake that explains nearly all answers, None for none.

        Of several that explain a part alike, it is the one that gives most of what the other parts'
        cases give.
        """
        best, found = 1, []
        for name in self.exercise.mistakes:
            agree = self._agree(name, self.picks, answers, self.part)
            explained = sum(agree[at] for at in wrong)
            spoiled = len(agree) - sum(agree) + explained  # wrong by the mistake or in the answers
            if sum(agree) >= best and explained >= NEARLY_ALL * spoiled:
                found = [*found, name] if sum(agree) == best else [name]
                best = sum(agree)
        if self.part is None or len({*map(self.exercise.message, found)}) < 2:
            return found[0] if found else None
        picks = self.trial.picks()
        if (answers := self._asked(picks, optional=True)) is None:  # it never ends
            return found[0]
        answers = self._settled(picks, answers)
        return max(found, key=lambda name: sum(self._agree(name, picks, answers)))

    def _agree(self, name, picks, answers, part=None):
        """Return, for each of some cases, whether a typical mistake gives what was answered."""
        made = (self.trial.made(pick, name) for pick in picks)
        return [same(self.exercise, *two, part) for two in zip(made, answers, strict=True)]

    def _several(self, answers, wrong):
        """Return two or three typical mistakes that together explain all answers, [] for none."""
        if len(self.exercise.edits) < 2:
            return []
        message = self.about | {"picks": self.picks, "part": self.part, "partly": []}
        for name, made in self.exercise.mistakes.items():
            agree = self._agree(name, self.picks, answers, self.part)
            message["partly"] += [name] * any(not callable(made) and agree[at] for at in wrong)
        message["answers"] = [to_json(answer) for answer in answers]
        return self.ask(f"{SIDE}:together", message, optional=True) or []

    def _places(self, answers, wrong):
        """Return in what the wrong answers differ, and on which cases, as messages and words."""
        few = sorted(wrong, key=lambda at: _size(wrong[at].case))[:3]
        twice = self._asked([self.picks[at] for at in few], times=2)
        pairs = zip(twice[::2], twice[1::2])
        if any(not equal(*pair) and not holds_foreign(pair[0].value) for pair in pairs):
            return [["place.from_call_to_call", {}]]
        tried = [
            places.Tried(
                self.trial.case(pick), self.trial.expected(pick).value, answer, at in wrong
            )
            for at, (pick, answer) in enumerate(zip(self.picks, answers))
        ]
        return places.places(self.exercise, tried)


def _how_it_differs(expected, got):
    """Name the numba type that spoils a 64-bit number: "signed", "float", otherwise "differs"."""
    several = isinstance(expected, tuple) and isinstance(got, tuple)
    for right, wrong in zip(expected, got) if several else [(expected, got)]:
        if isinstance(right, numbers.Integral) and not equal(right, wrong):
            if isinstance(wrong, numbers.Integral):
                return "signed" if (int(right) - int(wrong)) % (1 << 64) == 0 else "differs"
            return "float" if isinstance(wrong, float) else "differs"
    return "differs"


def _raised(exercise, got, key):
    words = {"function": exercise.function} | got.words
    if key == "labs.raised" and got.words["line"]:
        beyond = any(said in got.words["error"] for said in BEYOND_64_BITS)
        is_overflow = got.value == "OverflowError" and beyond  # not that of a float
        key = "labs.overflow" if is_overflow else "labs.raised_line"
    elif key == "labs.raised" and exercise.outcome:  # the error is none of the student's lines
        key = "labs.unreadable"
    return _Failed(key, **words)


def _of_other_kind(function, expected, got, whole):
    if got is None and expected is whole:
        return _Failed("labs.returned_none", function=function)
    words = {"function": function, "expected": described(expected), "got": described(got)}
    parts = enumerate(whole, 1) if isinstance(whole, tuple) else ()
    if number := next((n for n, part in parts if part is expected), None):
        return _Failed("labs.wrong_part", number=number, count=len(whole), **words)
    return _Failed("labs.wrong_type", **words)


# ---------------------------------------------------------------- what is shown


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
            return {"rows": to_tiles(np.uint64(int(value)))}
        if kind == "packed row" and 0 <= int(value) < 1 << 16:
            return {"rows": [to_tiles(np.uint64(value))[0]]}
        if kind in ("row", "rows"):
            rows = [[int(tile) for tile in row] for row in ([value] if kind == "row" else value)]
            if len({*map(len, rows)}) == 1 and all(rows):  # it can be drawn
                return {"rows": rows}
    except (TypeError, ValueError):
        pass
    return {"text": text_of(value)}


def _size(case):
    """Return how large a case is: the one with the fewest and smallest tiles is shown."""
    return len(text_of(case)), text_of(case)
