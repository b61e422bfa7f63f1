"""Collect what runs have found into data/curves: python tools/collect.py RUNS [LIST …]

RUNS holds what `lib2048 sweep data/runs/LIST.toml --out RUNS/LIST` has left there, one folder a
list.  The table [collect] of a list says which files it fills:

runs         a row a run: its command, what its training came to, and its tests, a column a depth
tests        the tests at its end, a row a depth;  evaluations: those on its way
history      its training games, a row for each 1000;  stages: its actions in each stage
each         a file of that name for each run: its whole history, and beside it how it was made
rows         what each [[play]], [[solve]] or [[ship]] has found

What belongs to a run that is there takes the place of its old rows; rows of runs whose folders are
gone stay as they are.  New columns are appended; `before` counts the actions that the weights had
learned from with which a run began, beside its own.  What a [[ship]] has made goes to data/weights,
unless its list has `rows`.
"""

import argparse
import csv
import json
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lib2048.learn.settings import Settings, flags
from lib2048.machine.files import read_json, write_atomic, write_text
from lib2048.sweep import TrainingJob, read_collect, read_list, training
from lib2048.sweep.shipping import Shipping
from lib2048.train.folder import CONFIG, TESTS
from lib2048.train.history import EVALUATIONS, HISTORY, STAGES, csv_text

DATA = Path(__file__).resolve().parents[1] / "data"
RUN_FILES = {"tests": TESTS, "evaluations": EVALUATIONS, "history": HISTORY, "stages": STAGES}
OF_HISTORY = ["games", "actions", "mean", "run", "seed"]  # a new file has these columns, no more
KEY = ("list", "run", "seed", "optimistic", "order")  # by which rows of runs are sorted
NAMES = ("list", "run", "seed")  # a row that does not say one of these may be of any
SHORT = ("games", "mean", "ci95")  # of a test; all others stand behind them in a row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, metavar="RUNS")
    parser.add_argument("lists", nargs="*", metavar="LIST", help="only these of data/runs, or TOML")
    parser.add_argument("--into", type=Path, default=DATA, help="instead of data/")
    options = parser.parse_args()
    try:
        collect(options.runs, paths_of(options.lists), options.into)
    except (ValueError, OSError) as error:
        sys.exit(f"collect: {error}")


def paths_of(lists):
    """Return the files of some lists, by name or path; of all there are for none."""
    return [
        Path(name) if name.endswith(".toml") else DATA / "runs" / f"{name}.toml" for name in lists
    ] or sorted((DATA / "runs").glob("*.toml"))


def collect(runs, lists, into=DATA):
    """Collect from the folders of some lists below `runs`, and say how much there was."""
    files = {}  # {a file of data/curves: (its table, [(what tells a job's rows, the rows)])}
    for path in lists:
        if (folder := runs / path.stem).is_dir():
            jobs, wanted = read_list(path), read_collect(path)
            done = [Found(path.stem, job, folder) for job in jobs if is_done(job, folder, wanted)]
            for table, file in wanted.files.items():
                if table != "each":
                    files.setdefault(file, (table, []))[1].extend(new_rows(table, done, wanted))
            for one in done:
                keep_files(one, wanted, into)
            print(f"{path.stem}: {len(done)} of {len(jobs)}")
    for file, (table, new) in files.items():
        if new:
            write_merged(into / "curves" / f"{file}.csv", table, new)


def is_done(job, folder, wanted):
    """Say whether a job's folder holds something to be collected; say it where it is another's."""
    try:
        state = job.state(folder)
    except ValueError as error:
        print(f"left out: {error}", file=sys.stderr)
        return False
    shows = not isinstance(job, TrainingJob) or (folder / job.label / HISTORY).exists()
    return state == "finished" or (wanted.on_the_way and state == "begun" and shows)


# ---------------------------------------------------------------- what a job has found


class Found(NamedTuple):
    """A job that is done: the name of its list, the job, the folder of the list."""

    list: str
    job: object
    folder: Path

    @property
    def path(self):
        return self.folder / self.job.label

    @property
    def about(self):
        """What tells its rows from those of others."""
        return {"list": self.list} | self.job.about

    def rows(self, table):
        """Return its rows of a table of `FILLED`, dicts; none of what it has not come to yet."""
        if table == "rows":
            done = self.job.found(self.folder) or self.job.so_far(self.folder)
            ships = isinstance(self.job, Shipping)
            rows = [self.job.summary(self.folder)] if ships else done["rows"]
            return [row | {"sources": done["sources"]} for row in rows]
        if table == "runs":
            return [self._summary(done) for done in [training.facts(self.path)] if done]
        named = {"run": self.job.name, "seed": self.job.settings.seed, "sources": self.sources}
        named |= self.before
        return [row | named for row in read_rows(self.path / RUN_FILES[table])[1]]

    @property
    def before(self):
        """What its rows say of the weights that it began with; rows of other runs have no word."""
        return {"before": self.job.settings.before} if self.job.settings.before else {}

    @property
    def sources(self):
        return read_json(self.path / CONFIG)["sources"]

    def _summary(self, done):
        """Return the one row of a run; done: what its training came to."""
        row = {"run": self.job.name, "seed": self.job.settings.seed}
        row |= {"command": command_of(self.job.settings)}
        row |= {n: round(x, 1) if isinstance(x, float) else x for n, x in done.items()}
        visits = [stage["actions"] for stage in read_rows(self.path / STAGES)[1]]
        row |= {"visits": " ".join(visits)} if visits else {}
        row |= {"sources": self.sources} | self.before
        tests = training.test_rows(self.path)
        more = [name for name in (tests or [{}])[0] if name not in ("actions", "plies", *SHORT)]
        return row | in_columns(tests, SHORT) | in_columns(tests, more)


def in_columns(tests, names):
    """Return tests as columns of one row, such as mean_3ply."""
    return {f"{name}_{test['plies']}ply": test[name] for test in tests for name in names}


def command_of(settings):
    """Return the command line that trains by these settings; what is meant anyway is left out."""
    given = settings.by_name()
    chosen = {name: given[name] for name in ("rule", "stages") if name in given}
    plain = Settings(network=settings.network, **chosen)
    meant = plain.by_name() | {"rule": "td", "stages": 0, "network": None, "seed": None}
    words = ["lib2048 train"]
    for said, flag in flags().items():
        if flag.name in given and (value := given[flag.name]) != meant[flag.name]:
            words.append(f"--{said}" if flag.kind is None else f"--{said} {value}")
    return " ".join(words)


def keep_files(one, wanted, into):
    """Write the files that are a job's own: its curve with how it was made, or its weights."""
    if is_shipped(one.job, wanted):
        file = one.job.file(one.folder)
        with open(file, "rb") as source:
            copied = partial(shutil.copyfileobj, source)
            write_atomic(into / "weights" / file.name, copied, file.stat().st_size)
    elif "each" in wanted.files:
        place = into / "curves" / each_name(wanted, one.job)
        write_text(f"{place}.csv", (one.path / HISTORY).read_text())
        write_text(f"{place}.json", json.dumps(note_of(one), indent=2) + "\n")


def is_shipped(job, wanted):
    """Say whether what a job makes is a file of data/weights."""
    return isinstance(job, Shipping) and "rows" not in wanted.files


def each_name(wanted, job):
    """Return the name of the file of one run."""
    return wanted.files["each"].format(run=job.name, seed=job.settings.seed)


def note_of(one):
    """Return how a run was made: its command, its configuration, and what came of it."""
    done = training.facts(one.path) or {}
    kept = {name: done.get(name) for name in ("games", "actions", "seconds", "mean_last")}
    config = read_json(one.path / CONFIG)
    return {"command": command_of(one.job.settings), "config": config, "result": kept}


# ---------------------------------------------------------------- files


def new_rows(table, done, wanted):
    """Yield (what tells its rows, the rows) of each job that has found some of a table."""
    every = wanted.every if table == "history" else 1
    for one in done:
        if isinstance(one.job, TrainingJob) != (table == "rows"):
            if rows := one.rows(table)[every - 1 :: every]:
                yield one.about, rows


def write_merged(path, table, new):
    """Write a file: its old rows, and the new ones in place of those that belong to the same."""
    columns, old = read_rows(path)
    if table == "history":
        more = {name for _, rows in new for row in rows for name in row} & {"before"}
        columns = list(dict.fromkeys([*(columns or OF_HISTORY), *more]))
    else:
        names = (name for _, rows in new for row in rows for name in row)
        columns = list(dict.fromkeys([*columns, *names]))
    rows = merged(old, [(about, [about | row for row in rows]) for about, rows in new])
    if table != "rows":
        rows.sort(key=lambda row: [order_of(row.get(name)) for name in KEY if name in columns])
    write_text(path, csv_text(columns, [{name: row.get(name) for name in columns} for row in rows]))


def merged(rows, new):
    """Return rows with new ones where those stood that tell the same, or else behind them.

    new: [(what tells the rows, the rows)].
    """
    found, placed = [], set()
    for row in rows:
        owner = next((n for n, (about, _) in enumerate(new) if is_about(row, about)), None)
        if owner is None:
            found.append(row)
        elif owner not in placed:
            placed.add(owner)
            found += new[owner][1]
    return found + [row for n, (_, more) in enumerate(new) if n not in placed for row in more]


def is_about(row, about):
    """Say whether a row of a file is one of those that `about` tells, in the columns it has."""
    return all(
        order_of(row[name]) == order_of(cell) or (name in NAMES and not row[name])
        for name, cell in about.items()
        if name in row
    )


def order_of(cell):
    """Return a cell as it is compared and sorted: numbers by what they are worth, then texts."""
    text = "" if cell is None else str(cell)
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text


def read_rows(path):
    """Return (columns, rows) of a CSV as text; nothing for a file that is not there."""
    if not path.exists():
        return [], []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        return list(reader.fieldnames or []), list(reader)


if __name__ == "__main__":
    main()
