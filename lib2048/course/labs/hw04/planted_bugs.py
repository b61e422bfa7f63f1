"""hw04's bug autopsy: learners with one mistake each, to be told by their curves.

Each is a pair of functions for `Training`.  Their curves are recorded by tools/record_hw04.py in
data/curves/hw04_bugs.csv.
"""

from numba.extending import register_jitable

from lib2048.course.labs.exercise import changed
from lib2048.course.labs.hw04 import program

CHOOSE, LEARN = program.select_best_move, program.update_episode
UPDATE = "target = path[t].reward + update("


def _but(function, *edits, **others):
    """Return a function of the program with some of its text changed, and other helpers."""
    return register_jitable(changed(function, *edits, **others))


_one_image = _but(program.estimate, "in images:", "in images[:1]:")
_update_one_image = _but(
    program.update, "in images:", "in images[:1]:", "8 * ", "", estimate=_one_image
)
_update_by_eight = _but(program.update, "/ (8 * len(network.weights))", "/ 8")
_update_first_tuple = _but(program.update, "(network.isomorphic)", "(network.isomorphic[:1])")

BUGS = {
    "none": (CHOOSE, LEARN),
    "one_image": (_but(CHOOSE, estimate=_one_image),
                  _but(LEARN, estimate=_one_image, update=_update_one_image)),
    "by_eight": (CHOOSE, _but(LEARN, update=_update_by_eight)),
    "first_tuple": (CHOOSE, _but(LEARN, update=_update_first_tuple)),
    "last_not_taught": (CHOOSE, _but(
        LEARN, "len(path) - 1, -1", "len(path) - 2, -1",
        "target = 0.0", "target = path[-1].reward + estimate(network, path[-1].afterstate)")),
    "own_reward": (CHOOSE, _but(LEARN, "error = target", "error = path[t].reward + target",
                                UPDATE, "target = update(")),
    "no_reward_in_target": (CHOOSE, _but(LEARN, UPDATE, "target = update(")),
    "no_reward_in_choice": (_but(CHOOSE, "reward + estimate", "estimate"), LEARN),
    "clipped": (CHOOSE, _but(LEARN, "alpha * error", "alpha * min(max(error, -1.0), 1.0)")),
    "learns_states": (CHOOSE, _but(LEARN, "error = target", "error = path[t].reward + target",
                                   UPDATE, "target = update(", ".afterstate", ".state")),
}  # fmt: skip


def text_of(bug):
    """Return the functions of a bug as a text for `Training.of_text`."""
    lines = [f"from {__name__} import BUGS", f"choose, learn = BUGS[{bug!r}]"]
    return "\n".join([*lines, 'FUNCTIONS = {"select_best_move": choose, "update_episode": learn}'])
