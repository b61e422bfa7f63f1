"""Where episodes begin: each way by its rule, against plain Python, stopped, and in threads."""

import csv
import json

import numpy as np
import pytest
from learners import (
    ORDERS,
    STEP,
    compare_with_plain,
    plain_twin,
    same_run,
    stop_after,
    train_or_stop,
)
from reference import JUMPS, Learner
from test_stages import staged

from lib2048 import Network, stream, train
from lib2048.game.game import new_game
from lib2048.learn import tables
from lib2048.learn.starts import CAROUSEL, KEPT, STARTS, new_starts, remember, start_kernel
from lib2048.train import run as training
from lib2048.train.history import History

NAME = "cells:012,345"


# ---------------------------------------------------------------- against plain Python


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lanes", [1, 2])
def test_every_start_is_the_plain_learners_game_by_game(starts, order, lanes):
    """Board, score, start, visits and all weights, for each game (see `compare_with_plain`)."""
    network = staged(NAME, 2, 16)
    _, plain = compare_with_plain(network, 1200, starts=starts, order=order, lanes=lanes)
    begun = {row[4] for row in plain.results}
    assert begun == {0} if starts == "initial" else len(begun) > 2


def test_the_carousel_is_the_plain_learners_with_eight_stages_and_coherence():
    how = {"starts": "carousel", "rule": "tc", "decay": 0.5}
    _, plain = compare_with_plain(staged(NAME, 3, 32), 1200, **how)
    assert max(row[4] for row in plain.results) > 2


def test_an_empty_stage_sends_the_carousel_to_the_first():
    """Of the stages 16384, 32768 and both no beginner's game has ever seen one."""
    _, plain = compare_with_plain(staged(NAME, 2, 32768), starts="carousel")
    assert {row[4] for row in plain.results} == {0} and not plain.entered[1]


# ---------------------------------------------------------------- the carousel's pool


def test_the_pool_keeps_the_last_thousand():
    starts = new_starts(CAROUSEL, 4, 2, 10, new_game())
    for board in range(2500):
        remember(starts.pool, starts.entered, np.uint64(2), np.uint64(board))
    assert starts.entered.tolist() == [0, 0, 2500, 0]
    assert sorted(starts.pool[2].tolist()) == list(range(1500, 2500))
    assert not starts.pool[[0, 1, 3]].any()


@pytest.mark.parametrize("entered, kept", [(1, 1), (5, 5), (KEPT, KEPT), (1500, KEPT)])
def test_every_state_that_is_kept_may_be_drawn(entered, kept):
    starts, found = new_starts(CAROUSEL, 2, 1, 10, new_game()), set()
    starts.pool[1], starts.entered[1] = np.arange(1, KEPT + 1), entered
    for game in range(9 * kept):
        board, _, _, begun = start_kernel(
            CAROUSEL, stream(1, game), game, new_game(), 0, 50, 0, starts
        )
        assert begun == 1
        found.add(int(board))
    assert found <= set(range(1, kept + 1)) and len(found) > 0.99 * kept


# ---------------------------------------------------------------- training runs


def trained(starts, threads=1, **settings):
    """Train a small staged network; return (network, history)."""
    network = staged("cells:0123,4567", 3, 64)
    return train_or_stop(network, starts=starts, rule="tc", lam=0.5, threads=threads, **settings)


@pytest.mark.parametrize("starts", STARTS)
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(monkeypatch, tmp_path, starts):
    budget = {"actions": 2 * STEP + 11}
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        _, first = trained(starts, out=tmp_path, **budget)
    assert first.stopped and (tmp_path / "checkpoint.npz").exists()
    resumed = trained(starts, out=tmp_path, resume=True, **budget)
    straight = trained(starts, **budget)
    same_run(resumed, straight)
    assert straight[1].visits.sum() == straight[1].actions == budget["actions"]
    assert (straight[1].visits > 0).sum() > 4
    config = json.loads((tmp_path / "config.json").read_text())
    assert config.get("starts", "initial") == starts
    rows = list(csv.DictReader((tmp_path / "stages.csv").read_text().splitlines()))
    assert [int(row["actions"]) for row in rows] == straight[1].visits.tolist()
    assert [int(row["stage"]) for row in rows] == list(range(8))


@pytest.mark.parametrize("starts", STARTS)
def test_two_threads_keep_the_rules_of_each_start(monkeypatch, tmp_path, starts):
    budget = {"actions": 4 * STEP + 1, "threads": 2}
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        trained(starts, out=tmp_path, **budget)
    _, history = trained(starts, out=tmp_path, resume=True, **budget)
    assert history.visits.sum() == history.actions == budget["actions"]
    begun = set(history.starts.tolist())
    if starts == "initial":
        assert begun == {0}
    elif starts == "carousel":
        assert begun <= set(range(8)) and len(begun) > 3
    elif starts.startswith("restart"):
        assert len(begun) > 20
    else:
        assert begun == {0, 1, 2, 3, 4}
        largest = 2**history.largest
        for which, large in enumerate(JUMPS[starts]):
            assert (largest[history.starts == which] >= max(large, default=0)).all()


def test_a_history_tells_whole_games_from_others():
    network = staged(NAME, 2, 16)
    history = train(network, starts="s-jump", games=200, progress=False)
    whole = history.starts == 0
    assert 39 <= whole.sum() <= 41 and history.count == 200  # every fifth that was begun
    assert history.mean_last() == pytest.approx(history.scores[whole].mean())
    assert history.mean_last(7) == pytest.approx(history.scores[whole][-7:].mean())
    shorter = History(block=10, rows=history.rows)
    blocks = history.scores[whole][: 10 * (whole.sum() // 10)].reshape(-1, 10)
    assert [row["mean"] for row in shorter.table()] == [round(x.mean(), 1) for x in blocks]
    ends = np.flatnonzero(whole)[9::10]
    assert [row["games"] for row in shorter.table()] == (ends + 1).tolist()
    assert [row["actions"] for row in shorter.table()] == [
        history.lengths[: end + 1].sum() for end in ends
    ]
    assert len(shorter.frame) == len(blocks)
    assert history.statistics().startswith("200\tmean = ")


def test_without_stages_every_other_start_works():
    for starts in ("restart", "s-jump", "l-jump"):
        network = Network(NAME)
        history = train(network, starts=starts, actions=1000, progress=False)
        plain = Learner(plain_twin(Network(NAME)), rate=0.1 / 16, seed=1, starts=starts)
        plain.play(1000)
        assert [tuple(row) for row in history.rows[:, [0, 1, 4]]] == [
            (row[1], row[2], row[4]) for row in plain.results
        ]
        assert len(set(history.starts)) > 2


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("starts, stages_, words", [
    ("carousel", 0, "stages"), ("merry-go-round", 2, "unknown"), ("", 2, "unknown"),
    (None, 2, "unknown"), ("jump", 0, "unknown"),
])  # fmt: skip
def test_starts_that_make_no_sense_are_refused(tmp_path, refused, starts, stages_, words):
    network = Network(NAME, stages=stages_)
    how = {"starts": starts, "actions": 10, "out": tmp_path / "run", "progress": False}
    refused(lambda: train(network, **how), words)
    assert not list(tmp_path.iterdir()) and not network.weights.any()


# ---------------------------------------------------------------- room for the next stage


def little_memory(monkeypatch, run_actions):
    """Leave no room for another stage as soon as a run has come so far."""
    keep, free = training.Run._keep, {"available": 1 << 40}

    def keep_and_shrink(run, results, rate):
        keep(run, results, rate)
        if run.actions >= run_actions:
            free["available"] = 100 << 20

    monkeypatch.setattr(training.Run, "_keep", keep_and_shrink)
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), free))


@pytest.mark.parametrize("starts", ["initial", "carousel"])
def test_without_room_for_a_stage_training_stops_where_it_can_go_on(monkeypatch, tmp_path, starts):
    settings = {"actions": 2 * STEP, "rule": "tc", "progress": False, "starts": starts}
    networks = [Network("cells:0123", stages=4, top=16384) for _ in range(3)]
    with monkeypatch.context() as patch:
        little_memory(patch, STEP)
        with pytest.raises(MemoryError, match="stopped where it can go on") as error:
            train(networks[0], out=tmp_path, **settings)
    assert "\n" not in str(error.value) and "fewer stages" in str(error.value)
    assert (tmp_path / "checkpoint.npz").exists() and not (tmp_path / "weights.npz").exists()
    assert networks[0].weights.any()
    resumed = networks[1], train(networks[1], out=tmp_path, resume=True, **settings)
    same_run(resumed, (networks[2], train(networks[2], **settings)))


def test_without_room_for_a_stage_no_run_begins(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "SPARE_MIB", 1 << 30)
    with pytest.raises(MemoryError, match="^the next stage needs .*fewer stages$"):
        train(staged(NAME, 2, 64), actions=STEP, out=tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()


def test_room_is_no_matter_once_every_stage_was_reached(monkeypatch):
    network = staged(NAME, 2, 16)
    little_memory(monkeypatch, STEP)
    history = train(network, actions=3 * STEP, progress=False)
    assert (history.visits > 0).all() and history.actions == 3 * STEP


def test_room_is_no_matter_without_stages(monkeypatch):
    network = Network(NAME)
    little_memory(monkeypatch, 0)
    monkeypatch.setattr(tables, "SPARE_MIB", 1 << 30)
    assert train(network, actions=STEP + 1, progress=False).actions == STEP + 1
