"""hw04's bug autopsy: learners with one mistake each, to be told by their curves.

Each is a pair of functions for `Training`.  Their curves are recorded by tools/record_hw04.py in
data/curves/hw04_bugs.csv.
"""

from lib2048.course.labs.exercise import changed, of_lab
from lib2048.course.labs.hw04 import program

CHOOSE, LEARN = program.select_best_move, program.update_episode


def _wrong(name, mistake=None, **others):
    """Return a function of the lab with a typical mistake, or by other helpers."""
    exercise = of_lab("hw04")[name]
    return changed(exercise.truth, *exercise.mistakes.get(mistake, ()), **others)


def _learns(mistake=None, **others):
    return CHOOSE, _wrong("update_episode", mistake, **others)


_one_image = _wrong("estimate", "no_symmetry")

BUGS = {
    "none": (CHOOSE, LEARN),
    "one_image": (
        _wrong("select_best_move", estimate=_one_image),
        _wrong(
            "update_episode",
            estimate=_one_image,
            update=_wrong("update", "no_symmetry", estimate=_one_image),
        ),
    ),
    "by_eight": _learns(update=_wrong("update", "by_eight")),
    "first_tuple": _learns(update=_wrong("update", "first_tuple")),
    "last_not_taught": _learns("last_not_taught"),
    "own_reward": _learns("own_reward"),
    "no_reward_in_target": _learns("no_reward"),
    "no_reward_in_choice": (_wrong("select_best_move", "no_reward"), LEARN),
    "clipped": _learns("clipped"),
    "learns_states": _learns("of_states"),
}
