"""Learning curves on disk: those that data/curves holds, and those of run folders that still grow.

A run is known by where it is recorded (a list of data/runs, or a folder), by its name, and by its
seed.  Its curves are those of its training games and of test games at some depths; a point of each
is (actions, games, seconds, mean, ci95), all of training but the last two, and None where nobody
wrote it down.  Where a run went on by weights alone, the actions count what these had learned from.
"""

import csv
import functools
import io
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from lib2048.learn.settings import Settings
from lib2048.machine.data import data
from lib2048.machine.files import open_file, read_bytes
from lib2048.sweep import TrainingJob, read_collect, read_list
from lib2048.train.folder import CONFIG, TESTS, read_config
from lib2048.train.history import EVALUATIONS, HISTORY

POINT = ("actions", "games", "seconds", "mean", "ci95")
TRAINING = "training"  # the curve of the training games; those of test games are named by plies
MOST_FOLDERS, MOST_BYTES = 500, 256 << 20
TEST = ("list", "run", "network", "seed", "actions", "plies", "games", "mean", "ci95", "end")
MORE = ("stages", "starts", "max")  # columns at the end of a table of tests
NUMBERS = ("actions", "games", "mean", "ci95", "stages", "max")
REACHED = tuple(f"reached_{1 << exponent}" for exponent in range(9, 16))
OF_GAMES = ("games", "mean", "ci95", "max", *REACHED)  # what is told of test games
KINDS = ("history", "evaluations", "tests", "runs")  # files with points, see sweep.lists.FILLED
OF_RUN = re.compile(r"(.+)-seed-?\d+")  # how a sweep names the folder of a run
OF_TEST = re.compile(r"mean_(\d+)ply")
OF_NUMBERS = ("seed", "plies", "before", *POINT, "max", *REACHED)
NUMBERED = re.compile(rf"(?:{'|'.join(OF_NUMBERS)})(?:_\d+ply)?")  # columns


@dataclass
class RecordedRun:
    """A run with one seed: where it is recorded, its name, its `Settings` (None: nobody knows).

    curves: {TRAINING or plies: points}, in the order in which they were read.
    """

    place: str
    name: str
    seed: int
    settings: Settings | None = None
    curves: dict = field(default_factory=dict)

    def add(self, kind, point):
        """Add a point; one that does not say when it was is of the end of the run."""
        if point[0] is None:
            last = max((p[0] for p in self.curves.get(TRAINING, ())), default=0.0)
            point = (last, *point[1:])
        self.curves.setdefault(kind, []).append(point)

    def points(self, kind, begin=0):
        """Return the points of a curve by rising actions, of those read from the begin-th on.

        Where two have the same actions, the later one holds.  How many training games and seconds
        a test came after is what the training games tell.
        """
        named = {point[0]: point for point in self.curves.get(kind, ())[begin:]}
        return [self._timed(named[actions]) for actions in sorted(named)]

    def _timed(self, point):
        actions, *times, mean, ci95 = point
        times = [self._when(n, actions) if x is None else x for n, x in enumerate(times, 1)]
        return (actions, *times, mean, ci95)

    def _when(self, column, actions):
        """Return how many games or seconds some actions took; None where that cannot be told."""
        told = [(0, 0.0)] + [
            (p[0], p[column]) for p in self.curves.get(TRAINING, ()) if p[column] is not None
        ]
        if len(told) < 2:
            return None
        (before, at_before), (last, at_last) = told[-2:]
        if actions > last:  # the games in progress have no row yet
            slope = (at_last - at_before) / max(last - before, 1)
            return at_last + slope * (actions - last) if actions <= 3 * last - 2 * before else None
        return float(np.interp(actions, *zip(*told)))


# ---------------------------------------------------------------- those of data/curves


@functools.cache
def recorded_lists():
    """Return the names of the lists of data/runs that have curves in data/curves.

    A list that only adds seeds to the files of another is part of that one.
    """
    names, taken = [], set()
    for told in _lists().values():
        whose = {(file, told.name if "list" in columns else "") for file, columns in told.columns()}
        if not whose <= taken and any(True for _ in told.rows()):
            names.append(told.name)
        taken |= whose
    return names


@functools.cache
def recorded(name):
    """Return what a list of data/runs has recorded: a list of `RecordedRun`, in its order.

    Raises ValueError for a name that is none.
    """
    if name not in recorded_lists():
        raise ValueError(f"there is no list {name!r}: use {', '.join(recorded_lists())}")
    told, found = _lists()[name], {}
    others = [other for other in _lists().values() if other.files & told.files]
    known = {key: run for other in [*others, told] for key, run in other.runs.items()}
    for kind, key, row in told.rows():
        if key not in found:
            found[key] = RecordedRun(name, *key, known.get(key))
        if point := _point(row, kind):
            found[key].add(*point)
    order = {run: n for n, (run, _) in enumerate(reversed(told.runs))}
    return sorted(found.values(), key=lambda run: (-order.get(run.name, -1), run.seed))


def recorded_tests(*names, pooled=False):
    """Return the test games that lists of data/runs have recorded, as one DataFrame.

    A row a test, run by run: list, run, network, seed, actions (of training before it), plies,
    games, mean, ci95, end (True for the test after the run, which has more games; False for those
    on the way), reached_512 … reached_32768, shares of its games, stages (how many the network
    has), starts (where it learned, see `Settings`), and max, the best of its games; nan where
    nobody wrote it down.

    Args:
        *names: of lists, such as "late".
        pooled: all games of a network at a depth are one row, those of a test on the way and of
            the test after the run together.

    Raises:
        ValueError: for a name that is none.
    """
    if unknown := [name for name in names if name not in _lists()]:
        raise ValueError(f"there is no list {unknown[0]!r}: use {', '.join(_lists())}")
    rows = [row for name in names for row in _lists()[name].tests()]
    table = pd.DataFrame(rows, columns=[*TEST, *REACHED, *MORE])
    table = table.astype(dict.fromkeys((*NUMBERS, *REACHED), float))
    return _pooled(table) if pooled else table


def _pooled(tests):
    """Return tests with one row for all games of a network at a depth."""
    keys = ["list", "run", "seed", "actions", "plies"]
    every = tests.groupby(keys, dropna=False)["games"].transform("sum")
    means, part = ["mean", *REACHED], tests["games"] / every
    parts = tests.assign(**tests[means].mul(part, axis=0), ci95=(part * tests["ci95"]) ** 2)
    how = dict.fromkeys(("network", "stages", "starts"), "first") | {"end": "max", "max": "max"}
    how |= dict.fromkeys(("games", "ci95", *means), lambda column: column.sum(min_count=1))
    found = parts.groupby(keys, sort=False, dropna=False, as_index=False).agg(how)
    return found.assign(ci95=found["ci95"] ** 0.5)[tests.columns]


@functools.cache
def _lists():
    return {path.stem: _List(path) for path in sorted(data("runs").glob("*.toml"))}


class _List:
    """A list of data/runs: `.runs` is {(run, seed): `Settings`}, `.files` those of data/curves."""

    def __init__(self, path):
        jobs = [job for job in read_list(path) if isinstance(job, TrainingJob)]
        self.name, self.runs = path.stem, {(x.name, x.settings.seed): x.settings for x in jobs}
        files = read_collect(path).files
        parts = []
        if each := files.get("each"):
            parts = [("history", each.format(run=key[0], seed=key[1]), key) for key in self.runs]
        parts += [(kind, files[kind], None) for kind in KINDS if kind in files]
        self._parts = [part for part in parts if _path(part[1]).exists()]
        self.files = {file for _, file, _ in self._parts}

    def columns(self):
        """Yield (file, its columns)."""
        for file in self.files:
            with open_file(_path(file)) as lines:
                yield file, lines.readline().decode("utf-8", "replace").strip().split(",")

    def rows(self):
        """Yield (kind of file, (run, seed), row) of its rows."""
        if not self._parts:
            return
        (run, seed), *_ = self.runs  # where a file does not say it, there is only this one
        for kind, file, key in self._parts:
            rows, _ = GrowingTable(_path(file)).news()
            if kind == "runs":
                rows = [test for row in rows for test in _depths(row)]
            for row in rows:
                if row.get("list", self.name) == self.name:
                    own = (row.get("run") or run, int(row.get("seed") or seed))
                    yield kind, key or own, row

    def tests(self):
        """Return its tests, dicts of TEST and REACHED, run by run."""
        found, order = [], {run: n for n, (run, _) in enumerate(self.runs)}
        for kind, (run, seed), row in self.rows():
            told, point = self.runs.get((run, seed)), _point(row, kind)
            if point is None or point[0] == TRAINING:
                continue
            plies, (actions, _, _, *of_games) = point
            network, last = (told.network, told.actions) if told else (None, None)
            late = (
                {"stages": 1 << getattr(told, "stages", 0), "starts": told.starts} if told else {}
            )
            numbers = {name: _number(row, name) for name in ("games", *REACHED, "max")}
            head = self.name, run, network, seed, actions or last, plies, numbers["games"]
            test = dict(zip(TEST, (*head, *of_games, kind != "evaluations"), strict=True))
            found.append(test | numbers | late)
        keys = "seed", "plies", "actions", "end"
        place = lambda test: order.get(test["run"], len(order))  # noqa: E731
        return sorted(found, key=lambda test: (place(test), *(test[key] for key in keys)))


def _path(file):
    return data("curves") / f"{file}.csv"


def _depths(row):
    """Yield a row for each depth of a run's row, which has columns such as mean_3ply for it."""
    for found in filter(None, map(OF_TEST.fullmatch, row)):
        told = {name: row.get(f"{name}_{found[1]}ply") for name in OF_GAMES}
        yield row | told | {"plies": found[1]}


def _point(row, kind):
    """Return (TRAINING or plies, point) of a row of a file of some kind, None without a mean."""
    actions, *training, mean, ci95 = (_number(row, name) for name in POINT)
    if mean is None:
        return None
    if actions is not None:
        actions += _number(row, "before") or 0
    if kind == "history":
        return TRAINING, (actions, *training, mean, ci95)
    return int(_number(row, "plies") or 1), (actions, None, None, mean, ci95)


def _number(row, name):
    """Return a number of a row, None where there is none."""
    text = row.get(name)
    number = float(text) if text else math.nan
    return number if math.isfinite(number) else None


# ---------------------------------------------------------------- those of a reader's own


class RunsFolder:
    """The runs below a folder: that of one run, of a sweep, or one with some of these in it.

    `look` finds new ones and reads what is new of those that are there; `.runs` is {path:
    `RecordedRun`}, and `.troubles` {path: what cannot be read, in words}.
    Raises ValueError for a path that is no folder.
    """

    def __init__(self, path):
        self.path, self.runs, self.troubles, self._tables = Path(path), {}, {}, {}
        self.look()

    def look(self):
        """Read what is new.  Raises ValueError where the folder itself is gone."""
        if not self.path.is_dir():
            what = "is no folder" if self.path.exists() else "no such folder"
            raise ValueError(f"{self.path}: {what}")
        for path in self._folders():
            try:
                self._read(path)
                self.troubles.pop(path, None)
            except ValueError as error:
                self.troubles[path] = str(error)
                self._forget(path)  # the next look reads all of it

    def _forget(self, path):
        self.runs.pop(path, None)
        self._tables.pop(path, None)

    def _folders(self):
        if (self.path / CONFIG).is_file():
            return [self.path]
        found = [*self.path.glob(f"*/{CONFIG}"), *self.path.glob(f"*/*/{CONFIG}")]
        return [path.parent for path in sorted(found)[:MOST_FOLDERS]]

    def _read(self, path):
        if path not in self._tables:
            names = {HISTORY: "history", EVALUATIONS: "evaluations", TESTS: "tests"}
            self._tables[path] = {kind: GrowingTable(path / name) for name, kind in names.items()}
        news = {kind: table.news() for kind, table in self._tables[path].items()}
        if any(anew for _, anew in news.values()):  # another run stands there now
            self._forget(path)
            return self._read(path)
        if path not in self.runs:
            self.runs[path] = self._new(path)
        for kind, (rows, _) in news.items():
            for point in filter(None, (_point(row, kind) for row in rows)):
                self.runs[path].add(*point)

    def _new(self, path):
        settings, _ = read_config(path)
        named = OF_RUN.fullmatch(path.resolve().name)
        name = named[1] if named else path.resolve().name
        place = path if path == self.path else path.parent
        return RecordedRun(place.resolve().name, name, settings.seed, settings)


class GrowingTable:
    """A CSV file that may grow, of which only what is new is read."""

    def __init__(self, path):
        self.path, self._seen, self._end, self._last, self._columns = Path(path), None, 0, b"", None

    def news(self):
        """Return (its new rows, dicts of text; whether it was written anew, with other rows).

        Nothing is read of a file that has not changed; of one that is not there, there are no rows.
        Raises ValueError, in one line, for one that is no table.
        """
        seen, self._seen = self._seen, self._stamp()
        if self._seen in (seen, None):
            return [], False
        with open_file(self.path) as file:
            file.seek(self._end - len(self._last))
            if anew := file.read(len(self._last)) != self._last:
                self._end, self._last, self._columns = 0, b"", None
                file.seek(0)
            return self._rows(file.read(MOST_BYTES + 1)), anew

    def _stamp(self):
        try:
            now = self.path.stat()
        except OSError:
            return None
        return now.st_size, now.st_mtime_ns, now.st_ino

    def _rows(self, text):
        if len(text) > MOST_BYTES:
            raise ValueError(f"{self.path}: is too long, more than {MOST_BYTES >> 20} MiB")
        text = text[: text.rfind(b"\n") + 1]  # a line that is still written is for the next time
        try:
            lines = list(csv.reader(text.decode().splitlines()))
        except (UnicodeDecodeError, csv.Error):
            raise ValueError(f"{self.path}: is no table") from None
        if self._columns is None and lines:
            self._columns = lines.pop(0)
        if any(len(line) != len(self._columns) for line in lines):
            raise ValueError(f"{self.path}: a row has not as many numbers as there are columns")
        for name, number in (pair for line in lines for pair in zip(self._columns, line)):
            if NUMBERED.fullmatch(name) and not _is_number(number, whole=name == "seed"):
                raise ValueError(f"{self.path}: damaged: {name} is {number!r}, no number")
        self._end += len(text)
        self._last = (self._last + text)[-200:]
        return [dict(zip(self._columns, line)) for line in lines]


def _is_number(text, whole):
    """Say whether a cell of a table is empty or a number."""
    try:
        return not text or (int if whole else float)(text) is not None
    except ValueError:
        return False


# ---------------------------------------------------------------- the papers' beside them


def paper_points(place, name):
    """Return what a paper has of a recorded run: [(plies, actions, mean, ci95 or None)].

    data/curves/paper_points.csv says which rows of data/published belong to a run, and after how
    many actions they were measured.
    """
    return _paper_points().get((place, name), [])


@functools.cache
def _paper_points():
    """Return {(list, run): what `paper_points` returns}."""
    found = {}
    for told in read_table("curves/paper_points").itertuples():
        points = found.setdefault((told.list, told.run), [])
        for row in read_table(f"published/{told.table}").query(told.row).itertuples():
            half = getattr(row, "score_ci95", None)
            points.append((int(row.depth_ply), float(told.actions), float(row.score_mean), half))
    return found


@functools.cache
def read_table(name):
    """Return a table of data/ as a DataFrame, which nobody changes; name: 'curves/exact', say.

    Raises ValueError, in one line that names the file, for one that is damaged.
    """
    path = data(f"{name}.csv")
    try:
        text = {"sources": str}  # a hash such as 706991e94883 is no number
        return pd.read_csv(io.BytesIO(read_bytes(path)), dtype=text)
    except ValueError as error:  # all that pandas says of a table, and of text
        reason = str(error).strip().splitlines()[0]
        raise ValueError(reason if str(path) in reason else f"{path}: damaged: {reason}") from None
