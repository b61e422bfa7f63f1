"""Races: what `train` and `evaluate` do one after the other, in one call, one table, one line."""

import threading
import time

import numpy as np
import pytest

from lib2048 import Network, evaluate, race, train
from lib2048.train import race as racing
from lib2048.train import watching
from lib2048.train.race import Race
from lib2048.train.watching import Stopped

NETWORK, ACTIONS = "cells:0145,012", 20_000
RUNS = {"TD": {"alpha": 0.1}, "TC": {"rule": "tc", "lam": 0.5}}


def raced(runs=RUNS, seeds=(1, 2), **more):
    common = {"network": NETWORK, "actions": ACTIONS, "games": 20, "progress": False}
    return race(runs, seeds, **(common | more))


@pytest.fixture(scope="module")
def found():
    return raced()


def test_a_race_is_train_and_evaluate_for_every_run_and_seed(found):
    rows = []
    for name, options in RUNS.items():
        for seed in (1, 2):
            network = Network(NETWORK)
            train(network, actions=ACTIONS, seed=seed, progress=False, **options)
            rows.append([name, seed, evaluate(network, 20).mean])
    assert found.tests[["run", "seed", "score"]].values.tolist() == rows
    assert found.tests.columns.tolist() == ["run", "alpha", "seed", "score", "rule", "lam"]
    assert [history.actions for history in found.histories["TC"]] == [ACTIONS, ACTIONS]


def test_how_many_run_at_a_time_changes_nothing(found):
    assert raced(at_once=1).tests.equals(found.tests)
    assert raced(at_once=3).tests.equals(found.tests)


def test_it_compares_seeds_with_seeds(found):
    told = found.compare("TD")
    assert told.index.tolist() == ["TC"] and told.seeds["TC"] == 2
    assert "TD" in repr(found) and isinstance(found, Race)


def test_a_note_says_what_else_is_asked_of_a_network():
    def note(network, history):
        return {"used": np.count_nonzero(network.weights), "games": history.count}

    tests = raced(note=note).tests
    assert (tests.used > 0).all() and (tests.games > 0).all()


@pytest.mark.parametrize("name", ["score", "seed", "run", "alpha"])
def test_a_note_writes_over_nothing(name):
    with pytest.raises(ValueError, match=f"note: {name} is in the table already"):
        raced({"TD": {"alpha": 0.1}}, seeds=(1,), note=lambda *_: {name: 0})


def test_functions_of_ones_own_learn_in_a_race(found):
    def add(weights, positions, amount):
        for position in positions:
            weights[position] += amount

    mine = raced({"mine": {"alpha": 0.1, "update": add}}).tests
    assert mine.score.tolist() == found.tests.query("run == 'TD'").score.tolist()


@pytest.mark.parametrize(
    ("runs", "more", "words"),
    [
        ({}, {}, "a race needs"),
        (RUNS, {"seeds": ()}, "a race needs"),
        (RUNS, {"seeds": 2}, r"seeds as \(1, 2, 3\), not .* and 2$"),
        (RUNS, {"seeds": "12"}, "seed '1': use a whole number"),
        (None, {}, "runs as {name: {option: value}}"),
        (RUNS, {"games": "ten"}, "games 'ten', threads 2: both must be whole numbers"),
        (RUNS, {"actions": None}, "run 'TD': say how long to train"),
        ({"x": {"rate": 0.2}}, {"alpha": 0.1}, "run 'x': rate and alpha are the same"),
        ({"a": {}, "b": {"actions": None, "seconds": 1.0}}, {}, "a race needs"),
        (RUNS, {"alpha": -1.0}, "alpha"),
        (RUNS, {"games": 0}, "games 0"),
        (RUNS, {"at_once": 0}, "threads 0"),
        ({"x": {"nothing": 1}}, {}, "run 'x': there is no setting 'nothing'"),
        ({"x": {"alpa": 1}}, {}, "run 'x': there is no setting 'alpa': is it 'alpha'?"),
        ({"x": {"seed": 1}}, {}, "run 'x': its seeds are those of all"),
        ({"x": 5}, {}, "run 'x': write its options as"),
    ],
)
def test_what_makes_no_race_is_refused_before_anything_is_trained(monkeypatch, runs, more, words):
    monkeypatch.setattr(racing, "Run", None)
    with pytest.raises(ValueError, match=words):
        raced(runs, **more)


def test_the_line_says_how_far_all_are(monkeypatch):
    said = []

    class Line:
        n = 0

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def update(self, count):
            self.n += count

        def set_description_str(self, text, refresh):
            self.about = text

        def set_postfix_str(self, text):
            said.append((self.n, self.about, text))

    monkeypatch.setattr(watching, "bar", lambda wanted, **how: Line())
    raced(at_once=1)
    done, about, text = said[-1]
    assert (done, about) == (80_000, "80 of 80 k actions")
    assert text.startswith("3 of 4 runs, last mean ")
    assert [n for n, *_ in said] == sorted(n for n, *_ in said)


def test_stop_ends_all_its_runs_at_once():
    """What Ctrl-C raises in the waiting thread ends the others, too."""
    import signal

    begin, before = time.perf_counter(), threading.active_count()
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(Stopped, match="stopped: 0 of 4 runs had ended"):
        raced(actions=10**9)
    assert time.perf_counter() - begin < 30
    while threading.active_count() > before:
        assert time.perf_counter() - begin < 60
        time.sleep(0.1)
