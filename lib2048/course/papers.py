"""Every table and figure of the papers, and what this course has of it.

data/figures.toml names them and says which recorded run stands beside which row.  The papers'
numbers are those of data/published, ours those of data/curves.  `index` lists them, `rows` puts
paper and course side by side, `orders` asks whether the order of a table's rows is the same here,
`draw` draws, and `run` makes a row again, at a small budget, now.  Of some, `OWN`, the course has
numbers that no paper prints.
"""

import dataclasses
import difflib
import functools
import itertools
import math

import pandas as pd

from lib2048.course import search_errors, survival, wall
from lib2048.course.recorded import read_table, recorded_tests
from lib2048.machine.data import data
from lib2048.machine.files import read_toml
from lib2048.play.evaluation import evaluate
from lib2048.play.statistics import compare, compare_printed, interval, printed_deviation
from lib2048.show import plot
from lib2048.sweep.lists import read_collect, read_list
from lib2048.train.run import Run

LEAST_MINUTES = 0.02  # a second or so: less shows nothing
GAMES, NEURAL_GAMES = 200, 40  # after a small run
COLUMNS = ("figure", "row", "plies", "paper", "paper ±", "paper's sd", "paper's budget", "unit",
           "list", "run", "ours", "±", "seeds", "our budget", "why")  # fmt: skip
# {name: (a function that returns our own numbers, one that draws them)}.
OWN = {
    "jaskowski-overfitting": (search_errors.recorded_errors, plot.search_errors),
    "course-wall": (
        wall.best_scores,
        lambda _: plot.wall(wall.best_scores(games=None), wall.chains()),
    ),
    "course-survival": (
        lambda: survival.stretches(survival.recorded_survival()),
        lambda _: plot.survival(survival.recorded_survival(), survival.CHAIN),
    ),
}


def index():
    """Return a DataFrame of all tables and figures, named such as 'matsuzaki-table3'.

    Columns: title, lesson, lists (of data/runs), core-hours (of these lists), results (how
    many the paper gives that we can read), ours (how many of them stand beside a run), why (why
    there is nothing of ours, or not all).
    """
    counts = {name: (len(some), some["ours"].count()) for name, some in rows().groupby("figure")}
    told = []
    for name, about in _figures().items():
        lists, counted = about.get("lists", ()), counts.get(_like(name), (0, 0))
        hours = sum(_collect(one).hours or 0 for one in lists)
        head = about["title"], about.get("lesson", ""), " ".join(lists), hours
        told.append((*head, *counted, about.get("why", "")))
    columns = ["title", "lesson", "lists", "core-hours", "results", "ours", "why"]
    return pd.DataFrame(told, pd.Index(_figures(), name="figure"), columns)


def about(name):
    """Return what a table or figure is, in a few lines: lesson, lists, what differs here."""
    told = _figures()[_known(name)]
    lines = [f"{name}: {told['title']} (lesson {told.get('lesson', '-')})"]
    lines += [f"ours: {' '.join(told['lists'])} of data/runs"] if told.get("lists") else []
    return "\n".join(lines + [told[key] for key in ("found", "why") if key in told])


def rows(name=None):
    """Return what the papers have beside what we have, a row a result: a DataFrame of `COLUMNS`.

    The columns paper and ours are mean scores in points; ± is half of a 95 % interval (ours: by
    Student's t over seeds, infinite with a single seed; nan where a paper gives none); paper's sd
    is the deviation of its trainings, as printed or from its interval; budgets are in actions, or
    in `unit`.

    Args:
        name: one table or figure; None for all of them.

    Raises:
        ValueError: for a name that is none.
    """
    names = [_like(_known(name))] if name else _own()
    return pd.DataFrame([row for one in names for row in _rows(one)], columns=COLUMNS)


def pairs(name=None, instead=None):
    """Return every two rows of a table, and whether the paper's better one is better here, too.

    Only rows that stand beside runs of at least two seeds are asked.

    Args:
        name: one table or figure; None for all of them.
        instead: {run: another run of its list, which is asked in its place}.

    Returns:
        DataFrame: a row a pair and depth: figure, plies, better, worse (rows, by the paper),
        difference (ours, points), half (of its 95 % interval), verdict (of `compare`; 'more' is the
        paper's order), paper (the verdict of `compare_printed` on what the paper prints of its own
        trainings: 'more', 'not decided', or 'no spread' where it prints none).
    """
    asked = [
        (one, plies) for one in ([_like(_known(name))] if name else _own()) for plies in (1, 3)
    ]
    columns = ["figure", "plies", "better", "worse", "difference", "half", "verdict", "paper"]
    found = [pair for one in asked for pair in _compared(*one, instead or {})]
    return pd.DataFrame(found, columns=columns)


def orders(name=None, instead=None):
    """Count the pairs of a table, those that are decided, and those of the same order.

    Args:
        name, instead: see `pairs`.

    Returns:
        DataFrame, a row a table: pairs, paper (those that the paper decides), ours (that our seeds
        decide), both, and same (of both, those in the paper's order).
    """
    told = pairs(name, instead)
    paper, ours = told["paper"] == "more", told["verdict"] != "not decided"
    both = paper & ours
    kinds = {"pairs": 1, "paper": paper, "ours": ours, "both": both}
    told = told[["figure"]].assign(**kinds, same=both & (told["verdict"] == "more"))
    return told.groupby("figure", sort=False).sum()


def draw(name, ax=None):
    """Draw the paper's results and ours, row by row; return ax.

    Raises:
        ValueError: for a name that is none, and for a figure of which no result can be read.
    """
    if name in OWN:
        numbers, drawn = OWN[name]
        return drawn(numbers())
    table = rows(name)
    if table.empty:
        raise ValueError(f"{name}: there is nothing to draw ({_figures()[name]['why']})")
    return plot.beside(table, ax=ax)


def run(name, row=None, minutes=1.0):
    """Make a row of a table again, now, with as much training as fits into some minutes.

    Args:
        row: as `rows` calls it; by default the first that we have a run for.

    Returns:
        Series: that row's (see `rows`) with `now` and `now ±` (points of 200 games at 1-ply, 40 of
        a neural network) and `actions now`.

    Raises:
        ValueError: for a name or a row that is none, one that no run stands beside, and for a
            budget that is too small to show anything.
    """
    if not math.isfinite(minutes) or minutes < LEAST_MINUTES:
        raise ValueError(f"{minutes:g} minutes show nothing: {LEAST_MINUTES} are the least")
    asked = _asked(name, row)
    made = Run(_settings(asked["list"], asked["run"]))
    made.go(seconds=60 * minutes, progress=False)
    result = evaluate(made.network, NEURAL_GAMES if made.settings.neural else GAMES)
    return (
        asked.copy()
        .reindex([*COLUMNS, "now", "now ±", "actions now"])
        .fillna({"now": result.mean, "now ±": result.ci95, "actions now": made.actions})
    )


# ---------------------------------------------------------------- the list of figures


@functools.cache
def _figures():
    return read_toml(data("figures.toml"))


def _known(name):
    if name in _figures():
        return name
    near = difflib.get_close_matches(name, _figures(), 3, 0.3) or list(_figures())[:3]
    raise ValueError(f"there is no figure {name!r}: {', '.join(near)} …; `lib2048 figure` has all")


def _like(name):
    """Return the table whose results are those of a figure: itself, if there is no other."""
    return _figures()[name].get("like", name)


def _own():
    """Return those that have results of their own."""
    return [name for name in _figures() if _like(name) == name]


@functools.cache
def _collect(name):
    return read_collect(data(f"runs/{name}.toml"))


# ---------------------------------------------------------------- rows


def _rows(name):
    about = _figures()[name]
    if "table" not in about:
        return []
    table = read_table(f"published/{about['table']}")
    pairs = _pair_by_row(about, table)
    return [_row(name, about, table.iloc[n], pairs.get(n, NOBODY)) for n in range(len(table))]


def _pair_by_row(about, table):
    """Return {number of a row of the paper's table: the pair that stands beside it}.

    A pair is a dict that says which run (list, run) stands beside which row; one with `line`, too,
    means that line of the file that the list fills, a single player.  A run is one result: it
    stands beside the first row that names it.
    """
    points, found, named = read_table("curves/paper_points"), {}, {}
    points = points[points["table"] == about["table"]]
    for pair in [*about.get("ours", ()), *points.to_dict("records")]:
        who = pair["list"], pair["run"], pair.get("line")
        if named.setdefault(who, pair["row"]) == pair["row"]:
            for n in table.query(pair["row"]).index:
                found.setdefault(n, pair)
    return found


NOBODY = {"list": "", "run": ""}


def _row(name, about, row, pair):
    plies = row.get("depth_ply", 1)
    mean, half, seeds, budget = _beside(pair, plies)
    why = "" if seeds else about.get("why", "no games at this depth were recorded")
    told = pair.get("budget", pair.get("actions", about.get("budget", math.nan)))
    return (name, about["label"].format(**row), plies, row["score_mean"],
            row.get("score_ci95", math.nan), _deviation(about, row), told,
            about.get("unit", "actions"), pair["list"], pair["run"], mean, half, seeds, budget,
            why)  # fmt: skip


def _deviation(about, row):
    """Return the standard deviation of a paper's trainings, nan where it prints none."""
    if "trainings" not in about:
        return math.nan
    if "score_sd" in row:
        return row["score_sd"]
    return printed_deviation(row.get("score_ci95", math.nan), about["trainings"])


def _beside(pair, plies):
    """Return (mean, half of its interval, seeds, actions) of what stands beside a row."""
    if "line" in pair:
        return _player(pair)
    means, budget = _ours(pair["list"], pair["run"], plies)
    if not len(means):
        return math.nan, math.nan, 0, math.nan
    return means.mean(), interval(means)[1] if len(means) > 1 else math.inf, len(means), budget


def _player(pair):
    """Return the same of a player that was tested by itself; its interval is that of its games."""
    table = read_table(f"curves/{_collect(pair['list']).files['rows']}")
    line = table[table["player"] == pair["run"]].query(pair["line"])
    if line.empty:
        return math.nan, math.nan, 0, math.nan
    return line["mean"].iloc[0], line["ci95"].iloc[0], 1, pair["trained"]


_tests = functools.cache(recorded_tests)


@functools.cache
def _ours(place, own, plies):
    """Return (the mean of each seed, the actions): where most seeds were tested, and last."""
    if not place:
        return (), math.nan
    tests = _tests(place).query("run == @own and plies == @plies").sort_values("end")
    tests = tests.drop_duplicates(["seed", "actions"], keep="last").sort_values("actions")
    tests = tests.assign(nth=tests.groupby("seed").cumcount())  # games end at other actions
    if tests.empty:
        return (), math.nan
    seeds = tests.groupby("nth")["seed"].count().reset_index()
    nth = seeds.sort_values(["seed", "nth"])["nth"].iloc[-1]  # seeds first, then budget
    found = tests[tests["nth"] == nth].sort_values("seed")
    return found["mean"].to_numpy(), found["actions"].mean()


def _compared(name, plies, instead):
    """Yield the pairs of a table's rows at some plies, as `pairs` has them."""
    table = rows(name).query("plies == @plies and seeds > 1").drop_duplicates(["list", "run"])
    for two in itertools.combinations(table.to_dict("records"), 2):
        worse, better = sorted(two, key=lambda row: row["paper"])
        runs = [(row["list"], instead.get(row["run"], row["run"])) for row in (better, worse)]
        told = compare(*[_ours(*run, plies)[0] for run in runs])
        found = told.difference, told.half, told.verdict, _order_of_paper(name, better, worse)
        yield name, plies, better["row"], worse["row"], *found


def _order_of_paper(name, *two):
    """Return whether a paper's own numbers decide that the first of two of its rows is better."""
    if any(math.isnan(row["paper's sd"]) for row in two):
        return "no spread"
    trainings = _figures()[name]["trainings"]
    return compare_printed(*[(row["paper"], row["paper's sd"], trainings) for row in two]).verdict


# ---------------------------------------------------------------- runs


def _asked(name, row):
    table = rows(name)
    trained = [run != "" and "rows" not in _collect(place).files
               for place, run in zip(table["list"], table["run"])]  # fmt: skip
    beside = table[trained]
    if beside.empty:
        raise ValueError(f"{name} has no run that could be made again: {_figures()[name]['why']}")
    if row is not None and row not in set(table["row"]):
        raise ValueError(f"{name} has no row {row!r}: {', '.join(dict.fromkeys(table['row']))}")
    asked = beside if row is None else beside[beside["row"] == row]
    if asked.empty:
        raise ValueError(f"{name}: no run of ours stands beside {row!r}")
    return asked.iloc[0]


def _settings(place, own):
    """Return the `Settings` of a run of a list for this machine's processor, from the beginning,
    without its budget and its tests on the way."""
    jobs = read_list(data(f"runs/{place}.toml"))
    settings = next(job.settings for job in jobs if job.name == own)
    here = {"device": "cpu"} if hasattr(settings, "device") else {}
    untold = dict.fromkeys(("actions", "games", "eval_every", "weights", "before"))
    return dataclasses.replace(settings, **untold, **here)
