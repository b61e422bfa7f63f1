"""hw04's bug autopsy: three learning curves with a planted bug each, drawn by student number."""

import hashlib

from lib2048.course.labs.checks import ask_judge, attempt
from lib2048.course.labs.messages import say
from lib2048.course.labs.result import Failed
from lib2048.course.labs.seeds import variant
from lib2048.machine.child import load
from lib2048.machine.extras import told

LETTERS = "ABC"
SHOWN = 20_000  # games: some curves are longer, and their length would tell them
# Exhibits of the museum that can be told apart: by the scores of the last 5000 games shown, each
# differs from the right learner and from all others (a test compares them, seed by seed).
CHOICE = (
    "by_eight", "divided_twice", "first_tuple", "last_not_taught", "own_reward", "value_added",
    "no_reward_in_target", "discounted", "clipped", "learns_states",
)  # fmt: skip


def autopsy(student):
    """Plot the curves of three planted bugs beside the right one; list the bugs there are.

    Args:
        student: your number; everybody gets bugs of their own.

    Returns:
        The axes.
    """
    with told():
        from lib2048.course.labs.hw04.museum import curves
        from lib2048.show import plot

    table = curves().query(f"games <= {SHOWN}")
    bugs = {"no bug": "none"} | planted(student)
    figure, ax = plot.subplots()
    plot.curves(
        {
            name: [rows for _, rows in table[table.bug == bug].groupby("seed")]
            for name, bug in bugs.items()
        },
        x="games",
        ax=ax,
    )
    print("\n".join(f"{bug:20} {say(f'hw04.autopsy.{bug}')}" for bug in CHOICE))
    return ax


def code(bug):
    """Return what a bug is called in the table of curves: nobody shall read it there by chance."""
    return hashlib.sha256(f"hw04 {bug}".encode()).hexdigest()[:8]


def planted(student):
    """Return {letter: bug} of a student."""
    return dict(zip(LETTERS, variant(student).choose("bugs", CHOICE, len(LETTERS))))


def check_diagnosis(diagnosis, letter):
    """Say which bug a diagnosis names, and whether there is such a name; not whether it is right.

    Args:
        diagnosis: a function without arguments that returns {letter: bug}.
    """
    answers = attempt(diagnosis)
    if answers is not None:
        bug = _named(answers, letter)
        key = "named" if bug in CHOICE else "no_name"
        print(say(f"hw04.autopsy.{key}", letter=letter, bug=bug, names=", ".join(CHOICE)))


def require_diagnosis(student, answers, letter):
    """Raise `Failed` where a student named another bug; for a grader's cells."""
    bug = _named(answers, letter)
    if bug not in CHOICE:
        raise Failed(say("hw04.autopsy.no_name", letter=letter, names=", ".join(CHOICE)))
    if bug != planted(student)[letter]:
        raise Failed(say("hw04.autopsy.wrong", letter=letter))


def diagnosed(text):
    """Return what a diagnosis says, {letter: bug}; it is called in the process of the checks.

    text: of `source_of`, with the key "function".  Raises ValueError where it does not say it.
    """
    return ask_judge("lib2048.course.labs.hw04.diagnosis:called", {"source": text})["said"]


def called(message):
    """Call a diagnosis; a task of `child.ask`."""
    said = load(message["source"])["function"]()
    return {"said": {str(key): str(bug) for key, bug in said.items()}}


def _named(answers, letter):
    return answers.get(letter) if isinstance(answers, dict) else None
