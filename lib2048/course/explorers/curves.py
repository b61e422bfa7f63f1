"""Learning curves to explore: recorded ones, those of folders that grow, and one that runs now."""

import base64
import dataclasses
import io
from pathlib import Path

import matplotlib.figure
import pandas as pd
from traitlets import Dict

from lib2048.course.recorded import (
    POINT,
    TRAINING,
    RunsFolder,
    paper_points,
    recorded,
    recorded_lists,
)
from lib2048.learn.settings import BUDGETS, Settings
from lib2048.show import plot
from lib2048.show.plot import COLOURS, GREY, short
from lib2048.show.widgets.base import Figure
from lib2048.show.widgets.train import LOOK, Curve, Training, TrainingWidget
from lib2048.show.words import describe
from lib2048.train.run import Run

MOST_ROWS = 6  # that are drawn at a time: there are so many colours, and one for the run of now
SECONDS = (1, 600)  # that a run may take now
MENUS = ("place", "rule", "rate")
AXES = ("actions", "games", "seconds")
SEEDS = ("mean", "each")  # or one of them
FORMATS = ("csv", "png", "svg")
NOW = "now"
SWITCHED = "Training games are shown now, since such a short run plays no test games."
# What a run of now leaves out of the settings of a row: it is short, and plays no test games.
SHORT = dict.fromkeys((*BUDGETS, "eval_every"))


class CurvesExplorer(TrainingWidget):
    """Explore learning curves: choose rows, axes and seeds, read off numbers, run a row now.

    What grows in a folder is drawn as it grows.  All but the sources can be chosen on the page,
    too, where place, rule, rate, the kind of games and a seed only say which rows are listed: those
    that are drawn stay, and stand first.

    The paper's points are marked; a band is from the lowest to the highest seed, of a single seed
    the 95 % interval of its mean.  ``.frame`` is what is drawn, as a tidy table.  ``.run_now(row,
    seconds)`` and ``.stop()`` do what the buttons do; then ``.run`` is the `Run`.

    Args:
        *sources: names of lists of data/runs (`course.recorded_lists()`; without any, all of them)
            and folders of one's own: of one run, of a sweep, or with some of these inside.
        place: the name of a list or folder.
        rule: 'td', 'tc', 'autostep', 'value' or 'policy'.
        rate: of the rule.
        rows: names of those that are drawn, at most 6; of all sources where no place is said.
        plies: the depth of the test games, None for the training games.
        seeds: 'mean', 'each' or the number of one.
        x: 'actions', 'games' or 'seconds'.
        logx: whether that axis is logarithmic.
        paper: whether a paper's points stand beside them.

    Raises:
        ValueError: for a source that is neither, and a choice that nothing answers to.
    """

    entry = "curves.js"
    catalogue = Dict().tag(sync=True)

    def __init__(
        self,
        *sources,
        place=None,
        rule=None,
        rate=None,
        rows=None,
        plies=None,
        seeds="mean",
        x="actions",
        logx=True,
        paper=True,
    ):
        super().__init__()
        self._folders, self._rows, self._told, self._now = [], {}, {}, None
        for source in sources or recorded_lists():
            self._open_source(source)
        self._find_new()
        view = {"place": place, "rule": rule, "rate": rate, "plies": plies, "seeds": seeds, "x": x,
                "log": bool(logx), "paper": bool(paper), "rows": rows}  # fmt: skip
        self.view = self._first = self._begin(view)
        self._publish()

    run = property(lambda self: self._now and self._now.run, doc="The run of now, or None.")

    # ------------------------------------------------------------ what there is

    def _open_source(self, source):
        if isinstance(source, str) and source in recorded_lists():
            for run in recorded(source):
                self._add((source, run.name), run)
        elif isinstance(source, str) and "/" not in source and not Path(source).is_dir():
            lists = ", ".join(recorded_lists())
            raise ValueError(f"{source!r} is neither a folder nor one of the lists {lists}")
        else:
            self._folders.append(RunsFolder(source))

    def _find_new(self):
        """Take what folders hold now; say whether there is a row, or a seed, that is new."""
        before = {key: len(row.runs) for key, row in self._rows.items()}
        for folder in self._folders:
            for path, run in folder.runs.items():
                self._add((str(path.parent), run.name), run)
        return before != {key: len(row.runs) for key, row in self._rows.items()}

    def _add(self, key, run):
        row = self._rows.setdefault(key, Row(len(self._rows), run))
        row.runs[run.seed] = run

    def _publish(self):
        self.catalogue = {"rows": [row.about() for row in self._rows.values()],
                          "grows": bool(self._folders), "view": self.view,
                          "first": self._first, "most": MOST_ROWS, "seconds": SECONDS}  # fmt: skip

    def _row(self, number):
        try:
            return list(self._rows.values())[number]
        except (IndexError, TypeError):
            raise ValueError(f"there is no row {number!r}") from None

    # ------------------------------------------------------------ what is chosen

    def _begin(self, view):
        """Return what is shown first; raises ValueError for what nothing answers to."""
        rows, wanted, anywhere = [*self._rows.values()], view["rows"], view["place"] is None
        if anywhere and not self._folders:
            view = view | {"place": rows[0].place}
        for name in MENUS:
            known = sorted({getattr(row, name) for row in rows} - {None})
            if view[name] is not None and view[name] not in known:
                raise ValueError(f"{name} {view[name]!r}: there is {', '.join(map(str, known))}")
        sought = view | {"place": None} if wanted and anywhere else view
        fits = [row for row in rows if row.fits(sought)]
        plies = _depth(view["plies"], fits)
        if wanted:
            fits = _named(fits, wanted)
        elif plies is not None:
            fits = [row for row in fits if plies in row.kinds]
        rows = [row.number for row in fits[:MOST_ROWS]]
        return self._checked(view | {"plies": plies, "rows": rows})

    def _checked(self, view):
        """Return a choice, whose rows are numbers; raises ValueError for what is none."""
        rows = self._rows.values()
        kinds = sorted({kind for row in rows for kind in row.kinds} - {TRAINING})
        seeds = sorted({seed for row in rows for seed in row.runs})
        given = {"x": AXES, "plies": (None, *kinds), "seeds": (*SEEDS, *seeds)}
        for name, known in given.items():
            if view[name] not in known:
                raise ValueError(f"{name} {view[name]!r}: use {', '.join(map(str, known))}")
        if len(view["rows"]) > MOST_ROWS:
            raise ValueError(f"{len(view['rows'])} rows: there are colours for {MOST_ROWS}")
        return {**view, "rows": [self._row(number).number for number in view["rows"]]}

    # ------------------------------------------------------------ what is drawn

    def drawn(self):
        """Return what is drawn: [(label, [a frame for each seed], the paper's points)].

        The run of now is the last; it has no test games.
        """
        kind, now, found = self._kind, self._now, []
        for row in map(self._row, self.view["rows"]):
            frames = [self._frame(run, kind) for run in row.chosen(self.view["seeds"])]
            if frames := [frame for frame in frames if len(frame)]:
                shown = self.view["paper"] and self.view["x"] == AXES[0]
                paper = [p for p in row.paper if shown and p[0] == kind]
                found.append((self.label(row), frames, paper))
        if kind == TRAINING and now is not None and now.curve.points:
            rows = [p[: len(POINT)] for p in now.curve.points if p[3] is not None]
            frame = pd.DataFrame(rows, columns=POINT).assign(seed=now.run.settings.seed)
            found.append((f"{now.name} {NOW}", [frame], []))
        return found

    _kind = property(lambda self: TRAINING if self.view["plies"] is None else self.view["plies"])

    def label(self, row):
        """Return what a row is called where it is drawn."""
        rows = [self._row(number) for number in self.view["rows"]]
        twice = sum(other.name == row.name for other in rows) > 1
        return f"{row.name}, {row.place}" if twice else row.name

    def _frame(self, run, kind):
        x = self.view["x"]
        frame = pd.DataFrame(run.points(kind), columns=POINT).assign(seed=run.seed)
        frame = frame.astype(dict.fromkeys(POINT, float))
        return frame[frame[x] > 0] if self.view["log"] else frame[frame[x].notna()]

    @property
    def frame(self):
        """What is drawn, as a tidy pandas frame, a row for each point of each seed."""
        said = {TRAINING: "training games"}.get(self._kind, f"{self._kind}-ply test games")
        columns, ours = ["run", "seed", "of", *POINT], ["of", "actions", "mean", "ci95"]
        parts = [pd.DataFrame(columns=columns)]
        for label, frames, paper in self.drawn():
            parts += [frame.assign(run=label, of=said) for frame in frames]
            if paper:
                points = pd.DataFrame(paper, columns=ours)
                parts.append(points.assign(run=label, of=f"the paper's {said}"))
        return pd.concat(parts)[columns].reset_index(drop=True)

    def figure(self):
        """Return matplotlib's ax of what is drawn, in the style of the course.

        Its figure is none of pyplot's, since a cell may be drawing in another thread.
        """
        with plot.style():
            ax = matplotlib.figure.Figure().subplots()
        drawn, x, seeds = self.drawn(), self.view["x"], self.view["seeds"]
        curves = {label: frames for label, frames, _ in drawn}
        if not curves:
            ax.set(xticks=[], yticks=[], title="nothing is recorded yet")
            return ax
        if seeds == "mean" and any(_are_apart(frames, x) for frames in curves.values()):
            seeds = "each"
            ax.set_title("seeds without a stretch in common: each is drawn", fontsize=10)
        plot.curves(curves, x=x, logx=self.view["log"], each=seeds == "each", ax=ax)
        for (*_, paper), colour in zip(drawn, COLOURS, strict=False):
            for _, actions, mean, _ in paper:
                ax.plot(actions, mean, "D", color=colour, markerfacecolor="white")
        if any(paper for *_, paper in drawn):
            ax.plot([], [], "D", color=GREY, markerfacecolor="white", label="the paper")
        ax.autoscale(axis="y")
        ax.set_ylim(0, None)
        ax.legend(fontsize=10)
        return ax

    def static(self):
        """Return a picture of what is drawn."""
        ax = self.figure()
        return Figure(ax, f"Learning curves: {describe(ax.figure, short)}")

    # ------------------------------------------------------------ a run now

    def run_now(self, row, seconds=10):
        """Train by the settings of a row, named or numbered, for so many seconds; draw it, too.

        It begins anew, in a thread of the kernel, and takes the place of the run before it.  It
        plays no test games, so the training games are shown from then on.

        Raises:
            ValueError: for a row or a time that makes no sense, or a row whose settings nobody
                knows.
            MemoryError: where there is no room.
        """
        rows = {row.name: row.number for row in self._rows.values()}
        row = self._row(rows.get(row, row) if isinstance(row, str) else row)
        if not (isinstance(seconds, (int, float)) and SECONDS[0] <= seconds <= SECONDS[1]):
            raise ValueError(f"seconds {seconds!r}: use {SECONDS[0]} to {SECONDS[1]}")
        if self._now is not None and self._now.going:
            raise ValueError(f"{self._now.name} still runs: stop it first")
        if (settings := row.settings) is None:
            raise ValueError(f"nobody knows the settings of {row.name}")
        self._now, self._trainings = None, []  # before the next one takes its memory
        run = Run(dataclasses.replace(settings, **SHORT))
        budget, tell = {"seconds": seconds}, self._tell_now
        self._now = Training(run, row.name, budget, LOOK, tell, self._draw_again)
        self._trainings = [self._now]
        if self._kind != TRAINING:
            self.view = self.view | {"plies": None}
            self.send({"kind": "choice", "view": self.view, "why": SWITCHED})
        self._now.start()

    def _tell_now(self, news):
        self.send({"kind": NOW, "name": f"{self._now.name} {NOW}", **news})

    # ------------------------------------------------------------ the browser

    def _on_load(self, message):
        """Send all curves of some rows, and from now on what is new of them."""
        for row in map(self._row, message["rows"]):
            self.send({"kind": "curves", "row": row.number, "curves": self._news(row, True)})
        if message.get("first"):
            self.send({"kind": "choice", "view": self.view})
            if self._now is not None:
                self._now.tell(everything=True)

    def _on_look(self, message):
        """Look for what has grown; nothing is read of what has not."""
        said = [words for folder in self._folders for words in self._look_into(folder)]
        if self._find_new():
            self._publish()
        for number in sorted({number for number, *_ in self._told}):
            if news := self._news(self._row(number)):
                self.send({"kind": "curves", "row": number, "curves": news})
        self.send({"kind": "looked", "troubles": said[:3]})

    def _look_into(self, folder):
        """Read what is new in a folder; return what cannot be read, in words."""
        try:
            folder.look()
        except ValueError as error:
            return [f"{error}."]
        return [f"{words}." for words in folder.troubles.values()]

    def _news(self, row, everything=False):
        """Return what is new of a row's curves: [{'seed', 'of', 'from', 'points'}], as JSON."""
        curves = [(run, kind) for run in row.runs.values() for kind in run.curves]
        told = (self._news_of(row, run, kind, everything) for run, kind in curves)
        return [news for news in told if news["points"]]

    def _news_of(self, row, run, kind, everything):
        key = (row.number, run.seed, kind)
        of, curve, read = self._told.get(key, (None, None, 0))
        if of is not run:  # for the first time, or because another run stands there now
            curve, read, everything = Curve(), 0, True
        for point in run.points(kind, begin=read):
            curve.add([None if x is None else float(x) for x in point])
        self._told[key] = (run, curve, len(run.curves[kind]))
        return {"seed": run.seed, "of": str(kind), **curve.news(everything)}

    def _on_view(self, message):
        self.view = self._checked(message["view"])

    def _on_file(self, message):
        """Send what is chosen as a file: the table of `frame`, or a picture."""
        self._on_view(message)
        if (kind := message["format"]) not in FORMATS:
            raise ValueError(f"format {kind!r}: use {', '.join(FORMATS)}")
        file = io.BytesIO()
        if kind == "csv":
            self.frame.to_csv(file, index=False)
        else:
            self.figure().figure.savefig(file, format=kind, dpi=200)
        text = base64.b64encode(file.getvalue()).decode()
        self.send({"kind": "file", "format": kind, "text": text})

    def _on_run(self, message):
        self.run_now(message["row"], message["seconds"])


class Row:
    """What a run of some name is, with all of its seeds."""

    def __init__(self, number, run):
        self.number, self.place, self.name, self.runs = number, run.place, run.name, {run.seed: run}
        self.paper = paper_points(run.place, run.name) if run.place in recorded_lists() else []

    settings = property(lambda self: next(iter(self.runs.values())).settings)
    rule = property(lambda self: self.settings and self.settings.learner_name)
    rate = property(lambda self: self.settings and self.settings.rate)

    def fits(self, view):
        """Say whether its place, rule and rate are those of a view."""
        return all(view[name] in (None, getattr(self, name)) for name in MENUS)

    @property
    def kinds(self):
        """Of what there are curves: the training, and tests so many plies deep."""
        found = {kind for run in self.runs.values() for kind in run.curves}
        return sorted(found, key=lambda kind: 0 if kind == TRAINING else kind)

    def chosen(self, seeds):
        """Return its runs: all, or the one with a seed."""
        return [run for seed, run in sorted(self.runs.items()) if seeds in SEEDS or seeds == seed]

    def about(self):
        """Return what the browser has to know."""
        symbol = self.settings and self.settings.rate_symbol
        return {
            "row": self.number, "place": self.place, "name": self.name, "rule": self.rule,
            "said": self.settings and _title(self.settings), "rate": self.rate, "symbol": symbol,
            "about": self.settings and learner_in_short(self.settings), "seeds": sorted(self.runs),
            "kinds": list(map(str, self.kinds)),
            "paper": [[str(p[0]), *map(float, p[1:3])] for p in self.paper],
        }  # fmt: skip


def _title(settings):
    return settings.kind if settings.neural else settings.the_rule.title


def _depth(plies, rows):
    """Return the plies of the test games that are shown first; None: the training games are."""
    kinds = {kind for row in rows for kind in row.kinds}
    return plies if plies is not None or TRAINING in kinds or not kinds else min(kinds)


def _named(rows, names):
    """Return those rows that are named, in the order of the names."""
    known = [row.name for row in rows]
    for name in names:
        if name not in known:
            raise ValueError(f"row {name!r}: there is {', '.join(known) or 'none that fits'}")
    return [row for name in names for row in rows if row.name == name]


def learner_in_short(settings):
    """Say in a line what a run is: '42-33, TC(0.5), β 1, 16 stages'."""
    rate = f"{settings.rate_symbol} {settings.rate:g}"
    said = (_of_nets if settings.neural else _of_tables)(settings, rate)
    usual = Settings(network=settings.network).starts
    return ", ".join([settings.network, *said, *[settings.starts] * (settings.starts != usual)])


def _of_nets(settings, rate):
    yield rate
    yield settings.batch
    if (symmetry := getattr(settings, "symmetry", "simple")) != "simple":
        yield symmetry
    if getattr(settings, "augment", False):
        yield "augment"


def _of_tables(settings, rate):
    rule = f"{_title(settings)}({settings.lam:g})"
    online = "true online" if settings.traces == "dutch" else "online"
    yield rule if settings.delay else f"{online} {rule}"
    yield rate
    if settings.order == "backward":
        yield settings.order
    if settings.form != "afterstate":
        yield f"{settings.form} values"
    if settings.optimistic:
        yield f"V₀ {settings.optimistic:g}"
    if settings.stages:
        yield f"{2**settings.stages} stages" + ("" if settings.promotion else ", no promotion")


def _are_apart(frames, x):
    """Say whether frames, one a seed, have no stretch of x in common: then they have no mean."""
    return max(frame[x].min() for frame in frames) > min(frame[x].max() for frame in frames)
