"""Where episodes begin: each way by its rule, against plain Python, stopped, and in threads."""

import csv
import json

import numpy as np
import pytest
from learners import STEP, stop_after, train_or_stop
from reference import JUMPS, Learner, number, stage, tiles
from test_stages import FOREVER, compare_with_plain, learning, staged

from lib2048 import Network, slide, stream, train
from lib2048.game.board import initial
from lib2048.game.game import new_game
from lib2048.learn import tables
from lib2048.learn.starts import CAROUSEL, KEPT, STARTS, new_starts, remember, start_kernel
from lib2048.train import run as training
from lib2048.train.history import History

NAME = "cells:012,345"
REACHED = {"s-jump": (0, 2048, 4096, 4096, 8192), "l-jump": (0, 4096, 8192, 8192, 16384)}


# ---------------------------------------------------------------- against plain Python


@pytest.mark.parametrize("starts", STARTS)
@pytest.mark.parametrize("order", ["forward", "backward"])
@pytest.mark.parametrize("lanes", [1, 2])
def test_every_start_is_the_plain_learners_game_by_game(starts, order, lanes):
    """Board, score, start, visits and all weights, for each game (see `compare_with_plain`)."""
    network, games, plain = compared(starts, order=order, lanes=lanes)
    begun = {row[4] for row in plain.results}
    assert begun == {0} if starts == "initial" else len(begun) > 2
    assert sum(games.starts.visits) == games.actions


def compared(starts, actions=1200, marks=2, top=16, **more):
    return compare_with_plain(marks, top, name=NAME, actions=actions, starts=starts, **more)


def test_the_carousel_is_the_plain_learners_with_eight_stages_and_coherence():
    _, _, plain = compared("carousel", marks=3, top=32, rule="tc", decay=0.5)
    assert max(row[4] for row in plain.results) > 2
    assert plain.results[0][4] == plain.results[1][4] == 0


# ---------------------------------------------------------------- the carousel


def test_the_pool_holds_states_that_entered_their_stage_from_a_lower_one():
    """Each is found in a replay of the plain learner's games, right behind the boundary."""
    _, games, plain = compared("carousel", marks=3, top=32)
    entered, pool = games.starts.entered, games.starts.pool
    assert entered[0] == 0 and (entered > 0).sum() > 3
    for number_, states in plain.entered.items():
        assert entered[number_] == len(states) < KEPT
        kept = pool[number_, : len(states)].tolist()
        assert kept == [number(board) for board in states]
        assert {stage(board, 3, 32) for board in states} == {number_}


def test_the_carousel_goes_round_stage_by_stage():
    network = staged(NAME, 3, 32)
    games = learning(network, starts="carousel", lanes=1)
    results = games.play(FOREVER, 10**4, 10**4)[0]
    starts = results[:, 4].tolist()
    assert starts[0] == 0
    for before, now in zip(starts, starts[1:], strict=False):
        assert now in (0, before + 1)
    assert starts.count(7) > 3 and starts.count(0) > 3


def test_an_empty_stage_sends_the_carousel_to_the_first():
    """Of the stages 16384, 32768 and both no beginner's game has ever seen one."""
    games = learning(staged(NAME, 2, 32768), starts="carousel")
    results = games.play(FOREVER, 3000, 10**3)[0]
    assert len(results) > 5 and not results[:, 4].any()
    assert not games.starts.entered.any()


def test_a_game_of_the_carousel_begins_in_its_stage():
    games = learning(staged(NAME, 2, 16), starts="carousel", lanes=1)
    seen = set()
    for count in range(1, 60):
        games.play(count, FOREVER, 1)
        games.play(count + 1, games.actions + 1, 1)  # one action of the next game
        lane = games.lanes[0]
        kept = games.starts.pool[lane["start"], : games.starts.entered[lane["start"]]]
        if lane["start"]:
            seen.add(int(lane["start"]))
            first = games.work.past["board"][0, 0]  # the afterstate of its first action
            assert lane["length"] == 1
            assert any(first in afterstates_of(board) for board in kept)
    assert seen == {1, 2, 3}


def test_the_pool_keeps_the_last_thousand():
    starts = new_starts(CAROUSEL, 4, 2, 10)
    for board in range(2500):
        remember(starts.pool, starts.entered, np.uint64(2), np.uint64(board))
    assert starts.entered.tolist() == [0, 0, 2500, 0]
    assert sorted(starts.pool[2].tolist()) == list(range(1500, 2500))
    assert not starts.pool[[0, 1, 3]].any()


@pytest.mark.parametrize("entered, kept", [(1, 1), (5, 5), (KEPT, KEPT), (1500, KEPT)])
def test_every_state_that_is_kept_may_be_drawn(entered, kept):
    starts, found = new_starts(CAROUSEL, 2, 1, 10), set()
    starts.pool[1], starts.entered[1] = np.arange(1, KEPT + 1), entered
    for game in range(9 * kept):
        board, _, _, begun = start_kernel(
            CAROUSEL, stream(1, game), game, new_game(), 0, 50, 0, starts
        )
        assert begun == 1
        found.add(int(board))
    assert found <= set(range(1, kept + 1)) and len(found) > 0.99 * kept


# ---------------------------------------------------------------- restart


def test_a_restart_is_from_the_middle_unless_the_game_was_short():
    games = learning(staged(NAME, 2, 16), starts="restart", lanes=1)
    results = games.play(FOREVER, 20_000, 10**4)[0]
    start, end, lengths = 0, 0, []
    for _, _, length, _, begun in results:
        assert begun == ((start + end) // 2 if end - start > 10 else 0)
        start, end = begun, begun + length
        lengths.append(length)
    assert min(lengths) <= 10 < max(lengths)
    assert 11 in lengths or 12 in lengths


def test_a_restart_begins_at_the_board_of_that_turn():
    """The first board of each game is that of the lane's game before, at the turn in between."""
    games = learning(staged(NAME, 2, 16), starts="restart", lanes=1)
    boards, number_, found = {}, -1, 0
    for turn in range(1, 2000):
        games.play(FOREVER, turn, 10)
        lane = games.lanes[0]
        begun, length = int(lane["start"]), int(lane["length"])
        if lane["number"] != number_ and length == 1:
            first = int(games.starts.trail[0, begun])
            assert first == boards[begun] if begun else sum(map(bool, sum(tiles(first), ()))) == 2
            boards, number_, found = {begun: first}, int(lane["number"]), found + (begun > 0)
            assert int(games.work.past["board"][0, 0]) in afterstates_of(first)
        boards[begun + length] = int(lane["board"])
    assert found > 20


def afterstates_of(board):
    return {int(slide(board, action)[0]) for action in range(4)}


# ---------------------------------------------------------------- jumps


@pytest.mark.parametrize("starts", JUMPS)
def test_jumps_hold_the_right_tiles(starts):
    games, cells = learning(staged(NAME, 2, 16), starts=starts, lanes=1), set()
    for count in range(200):
        games.play(count + 1, games.actions + 1, 1)
        before = games.lanes.copy()
        assert (before["number"][0], before["start"][0]) == (count, count % 5)
        large = [tile for row in tiles(before["board"][0]) for tile in row if tile >= 1024]
        assert sorted(large) == sorted(JUMPS[starts][count % 5])
        cells |= {(count % 5, board_cell(before["board"][0], tile)) for tile in large}
        games.play(count + 1, FOREVER, 1)
    assert sum(which == 1 for which, _ in cells) > 10  # anywhere, after one action


def board_cell(board, tile):
    return next(i for i, other in enumerate(sum(tiles(board), ())) if other == tile)


def test_a_jump_without_large_tiles_is_the_initial_state():
    games = learning(staged(NAME, 2, 16), starts="s-jump", lanes=1, seed=21)
    board, random = initial(stream(21, 0))
    games.play(1, 0, 1)
    assert (games.lanes["board"][0], games.lanes["random"][0]) == (board, random)


def test_the_points_of_a_jump_count_from_where_it_began():
    games = learning(staged(NAME, 2, 16), starts="l-jump", lanes=1)
    results = games.play(100, FOREVER, 100)[0]
    assert results[:, 4].tolist() == [0, 1, 2, 3, 4] * 20
    for which, tile in enumerate(REACHED["l-jump"]):
        rows = results[results[:, 4] == which]
        assert (2 ** rows[:, 3] >= tile).all() and rows[:, 1].max() < 20_000


# ---------------------------------------------------------------- training runs


def trained(starts, threads=1, **settings):
    """Train a small staged network; return (network, history)."""
    network = staged("cells:0123,4567", 3, 64)
    return train_or_stop(network, starts=starts, rule="tc", lam=0.5, threads=threads, **settings)


def same_run(one, other):
    np.testing.assert_array_equal(one[0].weights.view(np.uint32), other[0].weights.view(np.uint32))
    assert one[1].rows[:, [0, 1, 2, 4]].tolist() == other[1].rows[:, [0, 1, 2, 4]].tolist()
    assert one[1].visits.tolist() == other[1].visits.tolist()
    assert one[1].actions == other[1].actions


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
        for which, tile in enumerate(REACHED[starts]):
            assert (largest[history.starts == which] >= tile).all()


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
        plain = Learner(network.tuples, "afterstate", False, 0.1 / 16, 1, starts=starts)
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
def test_starts_that_make_no_sense_are_refused(tmp_path, starts, stages_, words):
    network = Network(NAME, stages=stages_)
    with pytest.raises(ValueError, match=words) as error:
        train(network, starts=starts, actions=10, out=tmp_path / "run", progress=False)
    assert "\n" not in str(error.value)
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
