"""Say what of all lists is recorded, and prove it: python tools/reproduce.py

Of each list, the first stretches of its recorded runs are repeated, as many as take a minute, and
compared with the rows that are recorded: those of one thread must agree bit for bit, those of
several within their interval.  data/runs/proved.csv keeps the verdicts.

A run counts as recorded where data/curves (or data/weights) has something of it: `current` by the
library's sources of today, or proved by them; `older` by other sources, `unknown` where nobody has
written down by which.
"""

import argparse
import math
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from collect import DATA, each_name, is_about, is_shipped, paths_of, read_rows

from lib2048.machine.files import read_json, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.terminal import one_line
from lib2048.networks.storage import info
from lib2048.play.evaluation import TEST_SEED, evaluate
from lib2048.play.players import network_player
from lib2048.sweep import TrainingJob, read_collect, read_list
from lib2048.train.checkups import test_row
from lib2048.train.history import csv_text
from lib2048.train.run import Run

FILE = "runs/proved.csv"  # written here alone
COLUMNS = ("list", "run", "seed", "threads", "table", "actions", "mean", "again", "verdict",
           "sources")  # fmt: skip
EXACT, WITHIN, DIFFERS = VERDICTS = "bit for bit", "in interval", "differs"
STATES = ("current", "older", "unknown", "missing")
HEADS = ("list", "core-hours", "runs", *STATES, *VERDICTS)
COMPARED = ("games", "actions", "mean", "ci95", "max", "mean_last")
TABLES = ("history", "evaluations", "runs", "tests")
SPEED = {"n-tuple": 1e6, "value": 5e3}  # actions a second, to leave out what is far too long
LEGEND = f"""

current: recorded by today's sources ({SOURCE_HASH}), or proved by them; older: by others; unknown:
nobody wrote by which; missing: not recorded.  Core-hours are those of training on the machine that
recorded it.  Behind them: how many kinds of run (names of a list) were begun again by today's
sources, and came out as recorded, see data/{FILE}.

  lib2048 sweep data/runs/LIST.toml --out RUNS/LIST     makes what a list asks for
  python tools/collect.py RUNS                          brings it into data/curves
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lists", nargs="*", metavar="LIST", help="only these of data/runs, or TOML")
    parser.add_argument("--data", type=Path, default=DATA, help="instead of data/")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60,
        help="to repeat runs of each list, by default %(default)g; with 0 nothing is run",
    )
    options = parser.parse_args()
    try:
        paths = paths_of(options.lists)
        lists = [(path.stem, read_list(path), read_collect(path)) for path in paths]
        if options.seconds > 0:
            prove_all(lists, options.seconds, options.data)
        print(text_of([row_of(*each, options.data) for each in lists]) + LEGEND)
    except (ValueError, OSError) as error:
        sys.exit(f"reproduce: {error}")


def row_of(name, jobs, wanted, data):
    """Return what is to be said of a list, a dict by HEADS."""
    done = proved(data)
    known = {
        job.name: found["verdict"]
        for job in jobs
        if (found := done.get((name, job.name))) and found["sources"] == SOURCE_HASH
    }
    states = [state_of({"list": name} | job.about, job, wanted, data, known) for job in jobs]
    row = {"list": name, "core-hours": wanted.hours, "runs": len(jobs)}
    row |= {state: states.count(state) for state in STATES}
    return row | {verdict: [*known.values()].count(verdict) for verdict in VERDICTS}


def state_of(about, job, wanted, data, known):
    """Return one of STATES; known: {name: verdict} of what is proved by today's sources."""
    sources = sources_of(about, job, wanted, data)
    if sources is None:
        return "missing"
    if sources == SOURCE_HASH or known.get(job.name, DIFFERS) != DIFFERS:
        return "current"
    return "older" if sources else "unknown"


def sources_of(about, job, wanted, data):
    """Return the hash of the sources that recorded a job, '' for an unknown one, None for none."""
    if is_shipped(job, wanted):
        file = next((data / "weights").glob(f"{job.name}.*"), None)
        return info(file)["info"].get("config", {}).get("sources", "") if file else None
    if "each" in wanted.files:
        note = data / "curves" / f"{each_name(wanted, job)}.json"
        return read_json(note)["config"].get("sources", "") if note.exists() else None
    rows = recorded_rows(about, job, wanted, data)
    return next((row["sources"] for _, row in rows if row.get("sources")), "") if rows else None


def text_of(rows):
    """Return the table, with a sum behind it."""
    numbers = [{name: row[name] or 0 for name in HEADS[1:]} for row in rows]
    total = {name: sum(row[name] for row in numbers) for name in HEADS[1:]}
    lines = [dict(zip(HEADS, HEADS)), *rows, {"list": "all"} | total]
    lines = [[as_shown(line[name]) for name in HEADS] for line in lines]
    wide = [max(map(len, column)) for column in zip(*lines)]
    text = [
        "  ".join([line[0].ljust(wide[0]), *map(str.rjust, line[1:], wide[1:])]).rstrip()
        for line in lines
    ]
    rule = "-" * (sum(wide) + 2 * len(wide) - 2)
    return "\n".join([text[0], rule, *text[1:-1], rule, text[-1]])


def as_shown(cell):
    """Return a cell of the table; nothing stands as a dot, so that the eye finds what is there."""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if cell >= 10 else f"{cell:.2g}"
    return "·" if cell in (0, None) else f"{cell:,}" if isinstance(cell, int) else cell


# ---- what is proved ------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """The beginning of a run: its list, its job, and the first row that is recorded of it."""

    list: str
    job: object
    table: str
    row: dict

    @property
    def actions(self):
        """The actions up to the row."""
        return int(float(self.row["actions"]))

    def again(self, seconds):
        """Train so far again; return the row that comes out, None after so many seconds."""
        run = Run(self.job.settings)
        timer = threading.Timer(seconds, run.stop)
        timer.start()
        try:
            run.go(**self._end(), progress=False)
        finally:
            timer.cancel()
        return None if run.history.stopped else self._row_of(run)

    def _end(self):
        if self.table == "history":
            return {"games": int(self.row["games"])}
        return {"actions": self.actions} if self.table == "evaluations" else {}

    def _row_of(self, run):
        if self.table == "runs":
            mean = run.history.mean_last()
            return {"games": run.history.count, "actions": run.actions, "mean_last": mean}
        if self.table == "tests":
            plies, games = int(self.row["plies"]), int(self.row["games"])
            player = network_player(run.tested, plies)
            threads = self.job.settings.threads
            return test_row(run.actions, plies, evaluate(player, games, TEST_SEED, threads))
        rows = run.history.table() if self.table == "history" else run.history.evaluations
        name = "games" if self.table == "history" else "plies"
        at = int(self.row.get(name) or 1)
        if not (found := [row for row in rows if row[name] == at]):  # threads have other rows
            raise ValueError(f"no row of {at:,} {name} comes out again")
        return found[0]


def stretches(name, jobs, wanted, data):
    """Return the shortest `Stretch` for each name of a run of a list, the shortest first."""
    found = {}
    for job in jobs:
        if isinstance(job, TrainingJob) and job.name not in found:
            rows = recorded_rows({"list": name} | job.about, job, wanted, data)
            rows = [(t, row) for t, row in rows if t in TABLES and row.get("actions")]
            some = [Stretch(name, job, *each) for each in rows]
            if some:
                found[job.name] = min(some, key=lambda one: (one.actions, one.table != "history"))
    return sorted(found.values(), key=lambda one: one.actions)


def recorded_rows(about, job, wanted, data):
    """Return [(table, row)] of what data/curves holds of a job."""
    if "each" in wanted.files:
        name = each_name(wanted, job)
        return [("history", row) for row in read_cached(data / "curves" / f"{name}.csv")[1]]
    return [
        (table, row)
        for table, file in wanted.files.items()
        for row in read_cached(data / "curves" / f"{file}.csv")[1]
        if is_about(row, about)
    ]


read_cached = cache(read_rows)


def prove(stretch, seconds):
    """Return what there is to be written of a stretch, a dict by COLUMNS; None if it is too long.

    Raises ValueError or OSError where it cannot be repeated, for lack of the weights that it
    begins with, say.
    """
    settings, row = stretch.job.settings, stretch.row
    too_long = stretch.actions / SPEED.get(settings.kind, 1e3) > 2 * seconds
    if too_long or (again := stretch.again(seconds)) is None:
        return None
    mean = "mean_last" if stretch.table == "runs" else "mean"
    return {
        "list": stretch.list, "run": stretch.job.name, "seed": settings.seed,
        "threads": settings.threads, "table": stretch.table, "actions": stretch.actions,
        "mean": row[mean], "again": round(again[mean], 1),
        "verdict": verdict(row, again, settings.threads), "sources": SOURCE_HASH,
    }  # fmt: skip


def verdict(row, again, threads):
    """Return one of VERDICTS; row: a recorded one, again: what came out."""
    names = [name for name in COMPARED if row.get(name) and name in again]
    if all(round(float(row[name]), 1) == round(float(again[name]), 1) for name in names):
        return EXACT
    if threads > 1 and "ci95" in again:
        half = math.hypot(again["ci95"], float(row.get("ci95") or again["ci95"]))
        if abs(again["mean"] - float(row["mean"])) <= half:
            return WITHIN
    return DIFFERS


def proved(data):
    """Return {(list, run): row} of what has been proved, by today's sources or by others."""
    return {(row["list"], row["run"]): row for row in read_rows(data / FILE)[1]}


def prove_all(lists, seconds, data):
    """Prove what is not proved by today's sources; lists: [(name, jobs, what it collects)].

    A list may take so many seconds: its shortest stretches are repeated.  Each verdict is written
    down, and said, at once.
    """
    for name, jobs, wanted in lists:
        left = seconds
        for stretch in stretches(name, jobs, wanted, data):
            key, known = (name, stretch.job.name), proved(data)
            if known.get(key, {}).get("sources") == SOURCE_HASH:
                continue
            begin = time.perf_counter()
            try:
                found = prove(stretch, left)
            except (ValueError, OSError, MemoryError) as error:
                print(f"{name} {stretch.job.name}: cannot be repeated: {one_line(error)}")
                continue
            left -= time.perf_counter() - begin
            if found is None:
                print(f"{name} {stretch.job.name}: {stretch.actions:,} actions take too long")
                break
            print(f"{name} {stretch.job.name}: {found['verdict']}, {stretch.actions:,} actions")
            rows = known | {key: found}
            write_text(data / FILE, csv_text(COLUMNS, [rows[key] for key in sorted(rows)]))


if __name__ == "__main__":
    main()
