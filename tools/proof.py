"""Repeat the first stretch of recorded runs, and compare it with the rows that are recorded."""

import csv
import io
import math
import threading
import time
from functools import cache
from typing import NamedTuple

from collect import as_row, each_name, is_about, read_rows

from lib2048.machine.files import write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.terminal import one_line
from lib2048.play.evaluation import TEST_SEED, evaluate
from lib2048.play.players import network_player
from lib2048.sweep import TrainingJob
from lib2048.train.checkups import test_row
from lib2048.train.run import Run

FILE = "runs/proved.csv"  # written by `reproduce` alone
COLUMNS = ("list", "run", "seed", "threads", "table", "actions", "mean", "again", "verdict",
           "sources")  # fmt: skip
EXACT, WITHIN, DIFFERS = VERDICTS = "bit for bit", "in interval", "differs"
COMPARED = ("games", "actions", "mean", "ci95", "max", "mean_last")
TABLES = ("history", "evaluations", "runs", "tests")
SPEED = {"n-tuple": 1e6, "value": 5e3}  # actions a second, to leave out what is far too long


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

    @property
    def seconds(self):
        """About how long it takes."""
        return self.actions / SPEED.get(self.job.settings.kind, 1e3)

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
        return next(row for row in rows if row[name] == int(self.row.get(name) or 1))


def stretches(name, jobs, wanted, data):
    """Return the shortest `Stretch` for each name of a run of a list, the shortest first."""
    found = {}
    for job in jobs:
        if isinstance(job, TrainingJob) and job.name not in found:
            rows = recorded_rows({"list": name} | job.about, job, wanted, data)
            rows = [(t, row) for t, row in rows if t in TABLES and row.get("actions")]
            if rows:
                first = min(
                    rows, key=lambda each: (float(each[1]["actions"]), each[0] != "history")
                )
                found[job.name] = Stretch(name, job, *first)
    return sorted(found.values(), key=lambda each: each.actions)


def recorded_rows(about, job, wanted, data):
    """Return [(table, row)] of what data/curves holds of a job."""
    if "each" in wanted.files:
        return [
            ("history", row)
            for row in read_cached(data / "curves" / f"{each_name(wanted, job)}.csv")[1]
        ]
    files = [(t, read_cached(data / "curves" / f"{f}.csv")) for t, f in wanted.files.items()]
    return [
        (table, row)
        for table, (columns, rows) in files
        for row in rows
        if is_about(row, as_row(about, [name for name in about if name in columns]))
    ]


read_cached = cache(read_rows)


def prove(stretch, seconds):
    """Return what there is to be written of a stretch, a dict by COLUMNS; None if it is too long.

    Raises ValueError or OSError where it cannot be repeated, for lack of the weights that it
    begins with, say.
    """
    if stretch.seconds > 2 * seconds or (again := stretch.again(seconds)) is None:
        return None
    mean = "mean_last" if stretch.table == "runs" else "mean"
    settings, row = stretch.job.settings, stretch.row
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
            write(data / FILE, known | {key: found})


def write(path, rows):
    """Write the verdicts."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows[key] for key in sorted(rows))
    write_text(path, text.getvalue())
