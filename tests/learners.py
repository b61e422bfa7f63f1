"""What several test files train by, and how they look at what came of it."""

import csv
import io
import signal

import numpy as np

from lib2048 import Network, train
from lib2048.learn import tables as learning
from lib2048.learn.games import Games, functions_of, rule_of
from lib2048.learn.rules import RULES, new_memory
from lib2048.learn.settings import Settings
from lib2048.machine.arrays import Archive
from lib2048.train import run as training
from lib2048.train.watching import Stopped

SMALL = "cells:0123,4567"
ORDERS = ("forward", "backward")
STEP = learning.FIRST_CHUNK  # actions of the first chunk, after which a test can stop


def games_on(network, rule="td", rate=0.5, seed=3, lanes=2, learn=True, decay=0.0, **options):
    """Return games that learn (or only play) on a network; rate: α, β or μ; decay: λ."""
    options |= {"lam": decay, RULES[rule].rate: rate}
    settings = Settings.of(network, rule=rule, seed=seed, lanes=lanes, **options)
    how = rule_of(network, settings) if learn else rule_of(network)
    memory = new_memory(network.size, rule)
    return Games(network, how, seed, functions_of(network, rule), memory, lanes)


def train_or_stop(network, **settings):
    """Train a network; return (network, history), of a run that was stopped, too."""
    try:
        return network, train(network, progress=False, **settings)
    except Stopped as stopped:
        return network, stopped.run.history


def trained(form="afterstate", optimistic=0.0, **settings):
    """Train a small network; return (network, history)."""
    return train_or_stop(Network(SMALL, form, optimistic), **settings)


def played(history):
    """Return what a history says of its games, the clock aside."""
    return history.rows[:, :3].astype(int).tolist()


def csv_rows(text):
    """Return a history's CSV as dicts without the seconds."""
    return [row for row in csv.DictReader(io.StringIO(text)) if row.pop("seconds")]


def same_run(one, other):
    """Compare two pairs (network, history): every weight and every game."""
    np.testing.assert_array_equal(one[0].weights.view(np.uint32), other[0].weights.view(np.uint32))
    assert played(one[1]) == played(other[1])
    assert one[1].actions == other[1].actions
    assert csv_rows(one[1].csv()) == csv_rows(other[1].csv())


def stop_after(monkeypatch, actions, kind=signal.SIGINT):
    """Press Stop as soon as a run has come so far."""
    keep = training.Run._keep

    def keep_and_stop(run, results, rate):
        keep(run, results, rate)
        if run.actions >= actions:
            signal.raise_signal(kind)

    monkeypatch.setattr(training.Run, "_keep", keep_and_stop)


def read_arrays(path):
    """Return all arrays of an .npz as a dict; raises what `Archive` does."""
    with Archive(path) as archive:
        return dict(archive)


def contents(folder):
    """Return {path within it: bytes, or None of a folder} of all that a folder holds."""
    paths = sorted(folder.rglob("*"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in paths
    }
