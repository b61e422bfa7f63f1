"""What a sweep keeps of a finished run beside its own files: done.json, and its last test games.

done.json holds the run's `config`, so that what belongs to an earlier end of the run is not taken
for this one's, and what its history alone does not say; tests.csv has a row for each depth, with
the columns of evaluations.csv.
"""

import csv
import json
from pathlib import Path

import psutil

from lib2048.machine.files import read_json, write_text
from lib2048.play.evaluation import TEST_SEED, evaluate
from lib2048.play.players import network_player
from lib2048.train.checkups import test_row
from lib2048.train.folder import CONFIG, DONE, TESTS
from lib2048.train.history import EVALUATION_COLUMNS, csv_text


def facts(path):
    """Return what done.json tells of a run as it is now, or None; path: of its folder.

    A dict: games, actions, seconds, mean_last, peak_mib.
    """
    if not (Path(path) / DONE).exists():
        return None
    done = read_json(Path(path) / DONE)
    same = isinstance(done, dict) and done.pop("config", None) == read_json(Path(path) / CONFIG)
    return done if same and "actions" in done else None


def keep_facts(path, history):
    """Write down what a run that is over has come to, unless that is done; return it."""
    if (found := facts(path)) is not None:
        return found
    found = {"games": history.count, "actions": history.actions, "seconds": history.took}
    found |= {"mean_last": history.mean_last() if history.count else None, "peak_mib": _peak_mib()}
    told = found | {"config": read_json(Path(path) / CONFIG)}
    write_text(Path(path) / DONE, json.dumps(told, indent=2) + "\n")
    return found


def _peak_mib():
    """Return the most memory that this process had, in MiB; None where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        most = getattr(psutil.Process().memory_info(), "peak_wset", None)
        return most and most >> 20


def rows(path):
    """Return the test games of a run as it is now: dicts of text, by the columns of TESTS."""
    done = facts(path)
    if done is None or not (Path(path) / TESTS).exists():
        return []
    lines = (Path(path) / TESTS).read_text(encoding="utf-8").splitlines()
    return [row for row in csv.DictReader(lines) if row.get("actions") == str(done["actions"])]


def missing(path, tests):
    """Return those of some tests, ((plies, games), …), that a run's folder does not hold."""
    there = {(int(row["plies"]), int(row["games"])) for row in rows(path)}
    return [test for test in tests if test not in there]


def play(path, network, tests, actions, threads):
    """Play the tests that are missing; each is in the file as soon as it is over."""
    for plies, games in missing(path, tests):
        result = evaluate(network_player(network, plies), games, TEST_SEED, threads)
        others = [row for row in rows(path) if int(row["plies"]) != plies]
        found = [*others, test_row(actions, plies, games, result)]
        found.sort(key=lambda row: int(row["plies"]))
        write_text(Path(path) / TESTS, csv_text(EVALUATION_COLUMNS, found))
