"""lib2048: learning to play 2048 at the speed of C++, in one library.

A board is one 64-bit integer (`board`), a network is a set of look-up tables (`Network`), and one
compiled loop plays and learns (`Run`).  What draws is reached as `draw.board`, what plots as
`plot.curves`, and what only lessons need as `course.budget`.  Where the names come from, from the
ground up:

* machine: how kernels are compiled and cached, memory, files; nothing of the game
* game: the rules, once to be read (`spec`) and once to be fast (`board`)
* networks: from a board to a value, and the tables on disk
* learn: what a run is (`Settings`), the rules, the one episode loop
* endgame: narrow endgames solved exactly
* search: looking ahead over any value function
* play: from a board to an action, from games to a result with its interval
* train: a run that begins, goes, stops, changes and goes on
* ruler: what judges a player by endgames
* deep: value networks and policy networks; needs torch
* show: boards, plots, widgets
* sweep: many runs from one list; needs Dask
* course: labs, the reader's copies and progress, the papers' rows; the engine never imports it

and exact (small boards solved), benchmark (speed), cli (the command).
"""

import lib2048.machine.process  # noqa: F401  first of all: Ctrl-C may come while the rest is read
from lib2048.deep import settings as _neural_settings  # noqa: F401  kinds of `Settings`: no torch
from lib2048.exact import SmallGame, board_table, solve
from lib2048.game import board, mdp, spec, spec_threes
from lib2048.game.board import (
    afterstates,
    from_tiles,
    initial,
    is_over,
    slide,
    spawn,
    symmetries,
    to_exponents,
    to_tiles,
)
from lib2048.game.rng import stream
from lib2048.game.spec import ACTIONS
from lib2048.learn.rules import Rule
from lib2048.learn.settings import Settings
from lib2048.learn.tables import TableSettings  # noqa: F401  the kind of tables
from lib2048.machine.data import data
from lib2048.machine.extras import loaded
from lib2048.networks.convert import convert
from lib2048.networks.heuristic import Weights, heuristic_network, line_values
from lib2048.networks.names import parse_network
from lib2048.networks.network import Network
from lib2048.networks.storage import load, save
from lib2048.play.evaluation import evaluate, record_game
from lib2048.play.players import NetworkPlayer, SearchPlayer, ValuePlayer, heuristic_player, player
from lib2048.play.review import review
from lib2048.play.statistics import compare, compare_groups, interval, mean_ci95
from lib2048.train.race import race
from lib2048.train.run import Run, last_run, train

# Loaded when they are first used: they need packages that the core does without, or lie above it.
_LAZY = {"draw": "show.draw", "plot": "show.plot", "course": "course", "endgame": "endgame"}
_WIDGETS = {
    "NetworkExplorer": "course.explorers.tuples",
    "PlayWidget": "show.widgets.play",
    "ReplayWidget": "show.widgets.replay",
    "ReviewWidget": "show.widgets.review",
    "SmallBoardWidget": "course.explorers.small",
    "TrainWidget": "show.widgets.train",
    "TreeWidget": "show.widgets.tree",
}

__all__ = [
    "ACTIONS", "Network", "NetworkPlayer", "Rule", "Run", "SearchPlayer", "Settings", "SmallGame",
    "ValuePlayer", "Weights", "afterstates", "board", "board_table", "compare",
    "compare_groups", "convert", "data", "evaluate", "from_tiles", "heuristic_network",
    "heuristic_player", "initial", "interval", "is_over", "last_run", "line_values", "load", "mdp",
    "mean_ci95", "parse_network", "player", "race", "record_game", "review", "save", "slide",
    "solve", "spawn", "spec", "spec_threes", "stream", "symmetries", "to_exponents", "to_tiles",
    "train", "deep", *_LAZY, *_WIDGETS,
]  # fmt: skip


def __getattr__(name):
    if name == "__version__":
        return loaded("machine.version").version()
    if name in _LAZY:
        return loaded(_LAZY[name])
    if name in _WIDGETS:
        return loaded(_WIDGETS[name], name)
    raise AttributeError(f"module 'lib2048' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "__version__", *__all__})
