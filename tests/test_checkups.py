"""Test games on the way: they change nothing, survive a stop, and are refused if impossible."""

import csv
import signal

import pytest
from learners import same_run, stop_after, trained

from lib2048 import SearchPlayer, evaluate
from lib2048.train import checkups
from lib2048.train.checkups import EVALUATION_SEED
from lib2048.train.history import EVALUATION_COLUMNS

TESTS = {"eval_every": 30_000, "eval_games": 5, "eval_depth": 2}


def scores_of(rows):
    """Return the rows without their speed."""
    return [{key: x for key, x in row.items() if key != "moves_per_s"} for row in rows]


def test_test_games_change_nothing_in_the_learning():
    same_run(trained(actions=70_000, **TESTS), trained(actions=70_000))


def test_test_games_are_played_at_both_depths_and_at_the_end():
    network, history = trained(actions=70_000, **TESTS)
    when = [(row["actions"], row["plies"]) for row in history.evaluations]
    assert when == [(n, k) for n in (30_000, 60_000, 70_000) for k in (1, 2)]
    last = history.evaluations[-1]
    seed = 1 + EVALUATION_SEED
    result = evaluate(SearchPlayer(network, 2), 5, seed)
    assert (last["mean"], last["max"]) == (round(result.mean, 1), result.max)
    assert history.evaluation_frame.shape == (6, len(EVALUATION_COLUMNS))


def test_fewer_test_games_do_where_they_look_deeper():
    _, plain = trained(actions=30_000, **TESTS)
    _, history = trained(actions=30_000, **TESTS, eval_deep_games=3)
    assert [(row["plies"], row["games"]) for row in history.evaluations] == [(1, 5), (2, 3)]
    assert scores_of(history.evaluations)[0] == scores_of(plain.evaluations)[0]


def test_a_run_folder_holds_the_test_games(tmp_path):
    _, history = trained(out=tmp_path, actions=70_000, **TESTS)
    rows = list(csv.DictReader((tmp_path / "evaluations.csv").read_text().splitlines()))
    assert [int(row["actions"]) for row in rows] == [r["actions"] for r in history.evaluations]
    assert [float(row["mean"]) for row in rows] == [r["mean"] for r in history.evaluations]


def press_stop(*_, stop):
    signal.raise_signal(signal.SIGINT)
    assert stop.is_set()
    raise KeyboardInterrupt


@pytest.mark.parametrize("tested", [0, 2])
def test_test_games_survive_a_stop_between_and_during_them(monkeypatch, tmp_path, tested):
    whole = trained(actions=70_000, **TESTS)
    with monkeypatch.context() as patch:
        if tested:
            stop_after(patch, 40_000)
        else:
            patch.setattr(checkups, "evaluate", press_stop)
        _, stopped = trained(out=tmp_path, actions=70_000, **TESTS)
    assert stopped.stopped and len(stopped.evaluations) == tested
    assert stopped.actions == 30_000 or tested
    resumed = trained(out=tmp_path, actions=70_000, resume=True, **TESTS)
    same_run(resumed, whole)
    assert scores_of(resumed[1].evaluations) == scores_of(whole[1].evaluations)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"eval_every": 0}, "eval_every 0"),
        ({"eval_every": 10, "eval_games": 0}, "eval_games 0"),
        ({"eval_every": 10, "eval_deep_games": 0}, "eval_deep_games 0"),
        ({"eval_every": 10, "eval_depth": 0}, "depth 0"),
        ({"eval_every": 10, "eval_depth": 2, "form": "state"}, "values of afterstates"),
    ],
)
def test_test_games_that_make_no_sense(tmp_path, settings, words):
    with pytest.raises(ValueError, match=words):
        trained(out=tmp_path / "run", actions=100, **settings)
    assert not (tmp_path / "run").exists()
