"""lib2048: everything that the lessons of this course import.

A board is one 64-bit integer (`board`), a network is a set of look-up tables (`Network`), and one
compiled loop plays and learns (`Run`).  The names below are all that a lesson needs.  Where they
come from, from the ground up:

* machine: how kernels are compiled and cached, memory, files; nothing of the game
* game: the rules, once to be read (`spec`) and once to be fast (`board`)
* networks: from a board to a value, and the tables on disk
* learn: what a run is (`Settings`), the rules, the one episode loop
* search: looking ahead over any value function
* play: from a board to an action, from games to a result with its interval
* train: a run that begins, goes, stops, changes and goes on
* deep: value networks and policy networks; needs torch
* show: boards, plots, widgets
* sweep: many runs from one list; needs Dask
* course: labs, the reader's copies and progress, the papers' rows; the engine never imports it

and exact (small boards solved), benchmark (speed), cli (the command).
"""

import importlib

import lib2048.machine.process  # noqa: F401  first of all: Ctrl-C may come while the rest is read
from lib2048.course.budget import actions_in, as_written, budget
from lib2048.course.coherence import by_visits, coherence, one_weight
from lib2048.course.ladder import BoardKind, Ladder
from lib2048.course.predictions import mark_prediction, predict, predicted, you_said
from lib2048.course.promotion import draw_promotion
from lib2048.course.recorded import paper_tests, recorded_lists, recorded_tests
from lib2048.course.table_one import table_one
from lib2048.course.timeline import draw_time
from lib2048.course.tournament.tournament import tournament
from lib2048.course.variants import paper_variants, recorded_variants
from lib2048.deep import settings as _neural_settings  # noqa: F401  kinds of `Settings`: no torch
from lib2048.exact import SmallGame, board_table, solve
from lib2048.game import board, mdp, spec
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
from lib2048.learn.examples import fit, places
from lib2048.learn.rules import Rule
from lib2048.learn.settings import Settings
from lib2048.learn.tables import TableSettings  # noqa: F401  the kind of tables
from lib2048.machine.data import data
from lib2048.networks.convert import convert
from lib2048.networks.files import load, save
from lib2048.networks.heuristic import Weights, heuristic_network, line_values
from lib2048.networks.names import parse_network
from lib2048.networks.network import Network
from lib2048.play.evaluation import Result, evaluate, reached, record_game, statistics_block
from lib2048.play.experience import Experience, collect, rollouts
from lib2048.play.players import (
    NetworkPlayer,
    SearchPlayer,
    ValuePlayer,
    first_legal_player,
    greedy_player,
    heuristic_player,
    player,
    random_player,
)
from lib2048.play.statistics import (
    Comparison,
    at_equal,
    compare,
    compare_groups,
    interval,
    mean_ci95,
)
from lib2048.show.drawing import (
    draw_board,
    draw_choice,
    draw_pattern,
    draw_row,
    draw_tree,
    draw_tuple,
    draw_tuples,
)
from lib2048.train.history import History
from lib2048.train.race import Race, race
from lib2048.train.run import Run, last_run, train

# These need packages that the core does without; they are loaded when they are first used.
_LAZY = {
    name: module
    for module, names in {
        "show.plotting": "plot_curves plot_differences plot_game plot_heat plot_intervals "
        "plot_ladder plot_layers plot_scores plot_stages plot_tiles plot_tradeoff show_figure "
        "style subplots tile_table",
        "course.explorers.curves": "CurvesExplorer",
        "show.widgets": "NetworkExplorer PlayWidget RateExplorer ReplayWidget "
        "SmallBoardWidget TrainWidget TreeWidget",
    }.items()
    for name in names.split()
}

__all__ = [
    "ACTIONS", "BoardKind", "Comparison", "Experience", "History", "Ladder", "Network",
    "NetworkPlayer", "Race", "Result", "Rule", "Run", "SearchPlayer", "Settings", "SmallGame",
    "ValuePlayer", "Weights", "actions_in", "afterstates", "as_written", "at_equal", "board",
    "board_table", "budget", "by_visits", "coherence", "collect", "compare", "compare_groups",
    "convert", "data", "draw_board", "draw_choice", "draw_pattern", "draw_promotion",
    "draw_row", "draw_time", "draw_tree", "draw_tuple", "draw_tuples", "evaluate",
    "first_legal_player", "fit", "from_tiles", "greedy_player", "heuristic_network",
    "heuristic_player", "initial", "interval", "is_over", "last_run", "line_values", "load",
    "mark_prediction", "mdp", "mean_ci95", "one_weight", "paper_tests", "paper_variants",
    "parse_network", "places", "player", "predict", "predicted", "race", "random_player",
    "reached", "record_game", "recorded_lists", "recorded_tests", "recorded_variants",
    "rollouts", "save", "slide", "solve", "spawn", "spec", "statistics_block", "stream",
    "symmetries", "table_one", "to_exponents", "to_tiles", "tournament", "train", "you_said",
    "deep", "papers", *_LAZY,
]  # fmt: skip


def __getattr__(name):
    if name == "__version__":
        return importlib.import_module("lib2048.machine.version").version()
    if name in ("labs", "papers"):
        return importlib.import_module(f"lib2048.course.{name}")
    if name in _LAZY:
        return getattr(importlib.import_module(f"lib2048.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'lib2048' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), "__version__", "deep", "papers", *_LAZY})
