"""The course above the engine: what lessons, labs and their reader need, and nothing else does.

A lesson says `from lib2048 import course` and then `course.budget(1000, 100)`.  Each name is loaded
when it is first used; `collect`, `rollouts`, `fit` and `places` are the engine's, and have their
place here since only lessons call them.
"""

import sys

from lib2048.machine.extras import loaded
from lib2048.show.widgets import kept

kept.lend(lambda: loaded("course.reader.folder"))  # a game goes on in the next session, too

_LAZY = {
    name: module
    for module, names in {
        "course.budgets": "actions_in as_written budget",
        "course.comparisons": "paper_variants recorded_variants table_one",
        "course.explorers.credit": "CreditWidget",
        "course.explorers.curves": "CurvesExplorer",
        "course.ladder": "BoardKind Ladder",
        "course.pictures": "draw_promotion draw_time",
        "course.predictions": "mark_prediction predict predicted you_said",
        "course.reader.own_game": "own_game",
        "course.recorded": "recorded_lists recorded_tests",
        "course.tournament.hidden_seed": "hidden_seed",
        "course.weight_errors": "by_visits coherence one_weight",
        "learn.examples": "fit places",
        "play.experience": "collect rollouts",
    }.items()
    for name in names.split()
}

__all__ = ["labs", "papers", "survival", "wall", *_LAZY]


if "IPython" in sys.modules and (_shell := sys.modules["IPython"].get_ipython()):
    loaded("show.words").tell_tables(_shell)  # so that tables have numbers as people read them


def __getattr__(name):
    if name in ("labs", "papers", "survival", "wall"):
        return loaded(f"course.{name}")
    if name in _LAZY:
        return loaded(_LAZY[name], name)
    raise AttributeError(f"module 'lib2048.course' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
