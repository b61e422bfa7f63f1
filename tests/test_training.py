"""Training: histories, budgets, and runs that stop, are killed, and go on."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

from lib2048 import History, Network, SearchPlayer, evaluate, train
from lib2048.networks import files as storage
from lib2048.networks.network import FORMS
from lib2048.train import run as training

SMALL = "cells:0123,4567"
ORDERS = ("forward", "backward")
STEP = training.FIRST_CHUNK  # actions of the first chunk, after which a test can stop


def trained(form="afterstate", optimistic=0.0, **settings):
    """Train a small network; return (network, history)."""
    network = Network(SMALL, form, optimistic)
    return network, train(network, progress=False, **settings)


def played(history):
    """Return what a history says of its games, the clock aside."""
    return history.rows[:, :3].astype(int).tolist()


def csv_rows(text):
    """Return a history's CSV as dicts without the seconds."""
    return [row for row in csv.DictReader(io.StringIO(text)) if row.pop("seconds")]


def same_run(one, other):
    np.testing.assert_array_equal(one[0].weights.view(np.uint32), other[0].weights.view(np.uint32))
    assert played(one[1]) == played(other[1])
    assert one[1].actions == other[1].actions
    assert csv_rows(one[1].csv()) == csv_rows(other[1].csv())


def stop_after(monkeypatch, actions, kind=signal.SIGINT):
    """Press Stop as soon as a run has come so far."""
    keep = training.Run._keep

    def keep_and_stop(run, results):
        keep(run, results)
        if run.games.actions >= actions:
            signal.raise_signal(kind)

    monkeypatch.setattr(training.Run, "_keep", keep_and_stop)


# ---------------------------------------------------------------- history


def a_history():
    """Three blocks of two games, and one game more."""
    history = History(block=2)
    history.add(games((100, 20, 6), (300, 40, 9)), 0.5)
    history.add(games((1000, 90, 10), (2000, 110, 11), (0, 7, 5)), 1.5)
    history.add(games((50, 3, 4), (70, 5, 5)), 2.5)
    return history


def games(*rows):
    """Rows of results: each game's score, actions, largest exponent and, if any, its start."""
    return np.array([(number, *row, 0)[:5] for number, row in enumerate(rows)], np.int64)


def test_history_keeps_every_game():
    history = a_history()
    assert history.scores.tolist() == [100, 300, 1000, 2000, 0, 50, 70]
    assert history.lengths.tolist() == [20, 40, 90, 110, 7, 3, 5]
    assert history.largest.tolist() == [6, 9, 10, 11, 5, 4, 5]
    assert history.seconds.tolist() == [0.5, 0.5, 1.5, 1.5, 1.5, 2.5, 2.5]


def test_history_has_a_row_for_each_full_block():
    table = a_history().table()
    assert [row["games"] for row in table] == [2, 4, 6]
    assert [row["actions"] for row in table] == [60, 260, 270]
    assert [row["seconds"] for row in table] == [0.5, 1.5, 2.5]
    assert [row["mean"] for row in table] == [200.0, 1500.0, 25.0]
    assert [row["max"] for row in table] == [300, 2000, 50]
    assert table[0]["ci95"] == 196.0  # 1.96 · 141.42 / √2
    assert [row["reached_512"] for row in table] == [0.5, 1.0, 0.0]
    assert [row["reached_1024"] for row in table] == [0.0, 1.0, 0.0]
    assert [row["reached_2048"] for row in table] == [0.0, 0.5, 0.0]


def test_history_as_csv_and_as_frame_are_the_table():
    history = a_history()
    rows = list(csv.DictReader(io.StringIO(history.csv())))
    assert [{k: float(v) for k, v in row.items()} for row in rows] == history.table()
    assert history.frame.to_dict("records") == history.table()


def test_an_empty_history_is_a_header_alone():
    history = History()
    assert history.csv().count("\n") == 1
    assert history.table() == [] and history.scores.tolist() == []
    assert np.isnan(history.mean_last())
    assert repr(history) == "<history: no game is over yet>"


@pytest.mark.parametrize("last, mean", [(1, 70), (2, 60), (3, 40), (1000, 3520 / 7)])
def test_mean_of_the_last_games(last, mean):
    assert a_history().mean_last(last) == pytest.approx(mean)


def test_statistics_block_is_the_fields():
    lines = a_history().statistics(4).split("\n")
    assert lines[0] == "7\tmean = 530.0\tmax = 2000"
    assert lines[1] == "\t16\t100.0%\t(25.0%)"
    assert lines[2] == "\t32\t75.0%\t(50.0%)"
    assert lines[-1] == "\t2048\t25.0%\t(25.0%)"


def test_looking_at_the_last_games_copies_no_long_history():
    history = History(rows=np.zeros((200_000, 4)))
    history.mean_last()
    history.add(games((100, 20, 6)), 0.5)
    tracemalloc.start()
    history.mean_last()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # the rows are 6.4 MB; this is done ten times a second


def test_a_history_goes_on_from_its_rows():
    history = a_history()
    again = History(block=2, rows=history.rows)
    for each in (history, again):
        each.add(games((10, 1, 3)), 3.5)
    assert again.table() == history.table() and len(again.table()) == 4


# ---------------------------------------------------------------- budgets


@pytest.mark.parametrize("actions", [1, 500, STEP, STEP + 1, 3 * STEP - 7])
def test_a_budget_of_actions_is_kept_exactly(actions):
    _, history = trained(actions=actions)
    assert history.actions == actions
    assert actions - 10_000 < history.lengths.sum() <= actions


@pytest.mark.parametrize("count", [1, 2, 333])
@pytest.mark.parametrize("order", ORDERS)
def test_a_budget_of_games_is_kept_exactly(count, order):
    _, history = trained(games=count, order=order)
    assert len(history.scores) == count
    assert history.lengths.sum() == history.actions


def test_a_budget_of_seconds_is_spent():
    _, history = trained(seconds=0.3)
    assert history.took >= 0.3 and history.actions > 0 and not history.stopped


def test_chunks_depend_on_the_clock_and_results_do_not(monkeypatch):
    usual = trained(actions=5 * STEP)
    monkeypatch.setattr(training, "FIRST_CHUNK", 777)
    monkeypatch.setattr(training, "CHUNK_SECONDS", 0.01)
    same_run(usual, trained(actions=5 * STEP))


def test_the_seed_decides_the_run():
    same_run(trained(actions=4000, seed=5), trained(actions=4000, seed=5))
    assert played(trained(actions=4000, seed=6)[1]) != played(trained(actions=4000, seed=5)[1])


def test_seconds_never_run_backwards():
    _, history = trained(actions=10 * STEP)
    assert (np.diff(history.seconds) >= 0).all() and 0 < history.seconds[-1] <= history.took


BAD = [
    {"alpha": 0}, {"alpha": -0.1}, {"alpha": 1.01}, {"alpha": float("nan")}, {"alpha": "fast"},
    {"games": 0}, {"games": -3}, {"actions": 0}, {"seconds": 0}, {"seconds": float("nan")},
    {"games": 1, "actions": 1}, {"rule": "magic"}, {"order": "sideways"}, {},
    {"lam": 1}, {"lam": -0.5}, {"lam": float("nan")}, {"lam": "half"}, {"lam": True},
    {"lam": 0.5, "order": "backward"}, {"lam": 0.5, "rule": "autostep"},
    {"beta": 1}, {"mu": 0.1}, {"rule": "tc", "alpha": 0.1}, {"rule": "tc", "mu": 0.1},
    {"rule": "tc", "beta": 0}, {"rule": "tc", "beta": -1}, {"rule": "tc", "beta": float("nan")},
    {"rule": "autostep", "beta": 1}, {"rule": "autostep", "mu": 2}, {"threads": 0},
    {"threads": -2}, {"threads": 1.5}, {"threads": 10**6},
]  # fmt: skip


@pytest.mark.parametrize("settings", BAD, ids=str)
def test_bad_settings_are_refused_before_anything_is_written(tmp_path, settings):
    if not {"games", "actions", "seconds"} & set(settings) and settings:
        settings = {"actions": 100, **settings}
    network = Network(SMALL)
    with pytest.raises(ValueError) as error:
        train(network, out=tmp_path / "run", progress=False, **settings)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir()) and not network.weights.any()


@pytest.mark.parametrize("start", [float("nan"), float("inf"), "high"], ids=str)
def test_an_optimistic_start_is_a_number(start):
    with pytest.raises(ValueError, match="optimistic"):
        Network(SMALL, optimistic=start)


@pytest.mark.parametrize("rule, rate", [("td", "alpha"), ("tc", "beta")])
@pytest.mark.parametrize("threads", [1, 2])
def test_weights_without_bound_end_the_training(rule, rate, threads):
    network = Network(SMALL)
    network.weights[:] = 3e38
    with pytest.raises(FloatingPointError, match=f"smaller {rate}"):
        train(network, rule=rule, threads=threads, actions=STEP, progress=False)


@pytest.mark.parametrize("rule, mib", [("tc", 3), ("autostep", 4)])
def test_a_rule_that_does_not_fit_is_refused(monkeypatch, tmp_path, rule, mib):
    network = Network("cells:0123,4567,89ab,cdef")  # 1 MiB
    free = type("Memory", (), {"available": (mib << 20) - 1})
    monkeypatch.setattr("psutil.virtual_memory", lambda: free)
    with pytest.raises(MemoryError, match=f"needs {mib} MiB, and {mib} MiB are free") as error:
        train(network, rule=rule, actions=1, out=tmp_path / "run", progress=False)
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_coherence_takes_768_mib_on_4x6():
    network = Network("4x6")
    tracemalloc.start()
    train(network, rule="tc", lam=0.5, actions=1, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 768 <= (peak + network.nbytes) / 2**20 < 776


def test_a_network_takes_256_mib_and_training_adds_no_copy():
    train(Network("4x6"), actions=1, progress=False)  # loads the kernels
    tracemalloc.start()
    network = Network("4x6")
    alone = tracemalloc.get_traced_memory()[0]
    train(network, actions=2 * STEP, progress=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert network.nbytes == 268_435_456
    assert network.nbytes <= alone < 1.01 * network.nbytes
    assert peak - alone < 0.1 * network.nbytes


# ---------------------------------------------------------------- Stop


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_stop_returns_the_history_up_to_there(monkeypatch, kind):
    stop_after(monkeypatch, STEP, kind)
    handler = signal.getsignal(kind)
    network, history = trained(actions=100 * STEP)
    assert history.stopped and STEP <= history.actions < 100 * STEP
    assert signal.getsignal(kind) is handler
    monkeypatch.undo()
    same_run((network, history), trained(actions=history.actions))


def test_training_works_outside_of_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(trained(actions=STEP)))
    thread.start()
    thread.join()
    same_run(found[0], trained(actions=STEP))


# ---------------------------------------------------------------- going on


def going_on(monkeypatch, out, budget, form="afterstate", **settings):
    """Train into a folder, stopped after the first chunk, and go on with it."""
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        _, first = trained(form, out=out, **budget, **settings)
    assert first.stopped and 0 < first.actions
    assert (out / "checkpoint.npz").exists() and not (out / "weights.npz").exists()
    return trained(form, out=out, resume=True, **budget, **settings)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(monkeypatch, tmp_path, form, order):
    budget = {"actions": 2 * STEP + 11}
    resumed = going_on(monkeypatch, tmp_path, budget, form, order=order)
    same_run(resumed, trained(form, order=order, **budget))


RULES = [
    {"rule": "td", "alpha": 0.3, "lam": 0.5}, {"rule": "td", "lam": 0.9, "delay": False},
    {"rule": "tc"}, {"rule": "tc", "lam": 0.5}, {"rule": "tc", "lam": 0.5, "delay": False},
    {"rule": "tc", "lam": 0.99, "form": "q"}, {"rule": "tc", "order": "backward"},
    {"rule": "autostep", "mu": 0.01},
]  # fmt: skip


@pytest.mark.parametrize("settings", RULES, ids=str)
@pytest.mark.parametrize("more", [11, 12, 13])
def test_every_rule_goes_on_as_if_it_had_not_stopped(monkeypatch, tmp_path, settings, more):
    budget = {"actions": 2 * STEP + more}
    resumed = going_on(monkeypatch, tmp_path, budget, **settings)
    same_run(resumed, trained(**settings, **budget))


@pytest.mark.parametrize("settings", RULES, ids=str)
@pytest.mark.parametrize("at", [1, 2, 57, 58])
def test_a_run_that_ended_at_any_action_goes_on(tmp_path, settings, at):
    trained(**settings, actions=at, out=tmp_path)
    resumed = trained(**settings, actions=STEP, out=tmp_path, resume=True)
    same_run(resumed, trained(**settings, actions=STEP))


def test_threads_stop_and_go_on(monkeypatch, tmp_path):
    settings = {"rule": "tc", "lam": 0.5, "threads": 2}
    _, history = going_on(monkeypatch, tmp_path, {"actions": 6 * STEP + 1}, **settings)
    assert history.actions == 6 * STEP + 1
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["threads"], config["lambda"], config["beta"]) == (2, 0.5, 1.0)
    with pytest.raises(ValueError, match="threads"):
        trained(rule="tc", lam=0.5, out=tmp_path, actions=9 * STEP, resume=True)


def test_threads_keep_a_budget_of_games(tmp_path):
    _, history = trained(games=301, threads=2)
    assert history.count == 301
    assert history.actions == history.lengths.sum()


@pytest.mark.parametrize("order", ORDERS)
def test_a_stopped_run_of_games_goes_on_as_if_it_had_not_stopped(monkeypatch, tmp_path, order):
    budget = {"games": 400}
    same_run(going_on(monkeypatch, tmp_path, budget, order=order), trained(order=order, **budget))


def test_a_run_stopped_at_every_chunk_ends_the_same(monkeypatch, tmp_path):
    settings = {"out": tmp_path, "actions": 8 * STEP, "seed": 4}
    stops = 0
    with monkeypatch.context() as patch:
        stop_after(patch, 0)
        network, history = trained(**settings)
        while history.stopped:
            stops += 1
            network, history = trained(resume=True, **settings)
    assert stops >= 3
    same_run((network, history), trained(actions=8 * STEP, seed=4))


@pytest.mark.parametrize("order", ORDERS)
def test_a_finished_run_goes_on_to_a_larger_number_of_actions(tmp_path, order):
    trained(out=tmp_path, actions=STEP + 5, order=order)
    longer = trained(out=tmp_path, actions=3 * STEP, order=order, resume=True)
    same_run(longer, trained(actions=3 * STEP, order=order))
    assert json.loads((tmp_path / "config.json").read_text())["actions"] == 3 * STEP


def test_a_finished_run_goes_on_to_a_larger_number_of_games(tmp_path):
    _, before = trained(out=tmp_path, games=100)
    _, after = trained(out=tmp_path, games=150, resume=True)
    assert played(after)[:100] == played(before) and len(after.scores) == 150
    assert after.actions == after.lengths.sum()


@pytest.mark.parametrize("budget", [{"actions": 2 * STEP}, {"games": 200}], ids=str)
def test_a_finished_run_reports_and_ends(tmp_path, budget):
    finished = trained(out=tmp_path, **budget)
    files = contents(tmp_path)
    again = trained(out=tmp_path, resume=True, **budget)
    same_run(finished, again)
    for name in ("config.json", "history.csv"):
        assert contents(tmp_path)[name] == files[name]
    assert storage.info(tmp_path / "weights.npz")["sha256"] == str(
        storage.network_arrays(finished[0])["sha256"]
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_folder_holds_what_it_should(tmp_path):
    network, history = trained(out=tmp_path, actions=20 * STEP)
    assert sorted(contents(tmp_path)) == ["config.json", "history.csv", "weights.npz"]
    np.testing.assert_array_equal(storage.load(tmp_path / "weights.npz").weights, network.weights)
    assert (tmp_path / "history.csv").read_text() == history.csv()
    assert len(history.table()) == len(history.scores) // 1000 > 0
    config = json.loads((tmp_path / "config.json").read_text())
    expected = {"network": SMALL, "form": "afterstate", "alpha": 0.1, "seed": 1, "rule": "td"}
    assert expected.items() <= config.items()
    assert config["sources"] == training.SOURCE_HASH


def test_resume_without_a_run_begins_one(tmp_path):
    same_run(trained(out=tmp_path / "new", actions=STEP, resume=True), trained(actions=STEP))


def test_resume_before_the_first_checkpoint_begins_anew(tmp_path):
    trained(out=tmp_path, actions=STEP)
    for name in ("weights.npz", "history.csv"):
        (tmp_path / name).unlink()
    same_run(trained(out=tmp_path, actions=STEP, resume=True), trained(actions=STEP))


OTHERS = [
    {"alpha": 0.2}, {"order": "backward"}, {"seed": 2}, {"form": "state"}, {"form": "q"},
    {"rule": "tc"}, {"rule": "autostep"}, {"lambda": 0.5}, {"delay": False, "lambda": 0.5},
    {"threads": 2}, {"optimistic": 1000.0},
]  # fmt: skip


@pytest.mark.parametrize("changes", OTHERS, ids=str)
def test_resume_with_another_config_is_refused(tmp_path, changes):
    trained(out=tmp_path, actions=STEP)
    files = contents(tmp_path)
    with pytest.raises(ValueError, match=next(iter(changes))) as error:
        changes = {"lam" if name == "lambda" else name: to for name, to in changes.items()}
        trained(**{"out": tmp_path, "actions": 2 * STEP, "resume": True} | changes)
    assert "\n" not in str(error.value)
    assert contents(tmp_path) == files


@pytest.mark.parametrize("name", ["4567,0123", "0123"])
def test_resume_with_another_network_is_refused(tmp_path, name):
    trained(out=tmp_path, actions=STEP)
    files = contents(tmp_path)
    with pytest.raises(ValueError, match="network"):
        train(Network(f"cells:{name}"), out=tmp_path, actions=STEP, resume=True, progress=False)
    assert contents(tmp_path) == files


def test_a_run_is_not_overwritten(tmp_path):
    trained(out=tmp_path, actions=STEP)
    files = contents(tmp_path)
    with pytest.raises(ValueError, match="--resume"):
        trained(out=tmp_path, actions=STEP)
    assert contents(tmp_path) == files


@pytest.mark.parametrize("size", [0, 1000, -1])
def test_a_damaged_checkpoint_is_refused(monkeypatch, tmp_path, size):
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        trained(out=tmp_path, actions=9 * STEP)
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match="checkpoint.npz"):
        trained(out=tmp_path, actions=9 * STEP, resume=True)


def test_weights_that_are_no_run_are_refused_in_one_line(tmp_path):
    network, _ = trained(out=tmp_path, actions=STEP)
    storage.save(network, tmp_path / "weights.npz")
    with pytest.raises(ValueError, match="weights.npz"):
        trained(out=tmp_path, actions=2 * STEP, resume=True)


# ---------------------------------------------------------------- killed

LONG = 10**13  # actions, more than any test waits for


def start(out, *more):
    """Start `lib2048 train` in a process of its own and wait for its second checkpoint."""
    command = [sys.executable, "-m", "lib2048.cli", "train", "--network", SMALL, "--json"]
    command += ["--actions", str(LONG), "--checkpoint-every", "0.2", "--out", str(out), *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=out.parent, **pipes)
    first = wait_for(out / "checkpoint.npz", process, 0)
    wait_for(out / "checkpoint.npz", process, first)
    return process


def wait_for(path, process, old):
    """Wait until a file was written anew; return when that was."""
    while not path.exists() or path.stat().st_mtime_ns == old:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return path.stat().st_mtime_ns


def goes_on_like_a_straight_run(out, order="forward"):
    """Resume a run that ended early; it must end as one that was never interrupted."""
    kept = storage.read_arrays(out / "checkpoint.npz")
    actions = int(kept["counters"][2]) + STEP
    assert len(kept["history"]) > 0
    resumed = trained(out=out, actions=actions, order=order, resume=True)
    assert played(resumed[1])[: len(kept["history"])] == kept["history"][:, :3].astype(int).tolist()
    same_run(resumed, trained(actions=actions, order=order))
    assert csv_rows((out / "history.csv").read_text()) == csv_rows(resumed[1].csv())


@pytest.mark.parametrize("order", ORDERS)
def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path, order):
    out = tmp_path / "run"
    process = start(out, "--order", order)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    goes_on_like_a_straight_run(out, order)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_a_stopped_process_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path, kind):
    out = tmp_path / "run"
    process = start(out)
    process.send_signal(kind)
    stdout, stderr = process.communicate(timeout=60)
    report = json.loads(stdout)
    assert process.returncode == 0
    assert report["weights"] is None
    assert report["actions"] == storage.read_arrays(out / "checkpoint.npz")["counters"][2]
    assert f"--resume --out {out}" in stderr
    goes_on_like_a_straight_run(out)


def test_what_a_kill_leaves_in_mid_write_does_no_harm(monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        trained(out=tmp_path, actions=3 * STEP)
    (tmp_path / ".checkpoint.npz.4711.part").write_bytes(b"half")
    same_run(trained(out=tmp_path, actions=3 * STEP, resume=True), trained(actions=3 * STEP))
    assert sorted(contents(tmp_path)) == ["config.json", "history.csv", "weights.npz"]


def test_a_kill_before_the_config_does_not_block_the_folder(tmp_path):
    (tmp_path / ".config.json.4711.part").write_bytes(b"{")
    same_run(trained(out=tmp_path, actions=STEP, resume=True), trained(actions=STEP))


def test_a_disk_that_fills_up_leaves_the_last_checkpoint(monkeypatch, tmp_path):
    write = storage.write_arrays
    written = []

    def write_once(path, arrays):
        if written:
            raise OSError(f"{path}: 1 MiB to write, 0 MiB free on this disk")
        written.append(path)
        write(path, arrays)

    monkeypatch.setattr(storage, "write_arrays", write_once)
    with pytest.raises(OSError, match="free on this disk"):
        trained(out=tmp_path, actions=LONG, checkpoint_every=0.0)
    monkeypatch.undo()
    goes_on_like_a_straight_run(tmp_path)


# ---------------------------------------------------------------- how much fits into a budget


def test_actions_in_a_budget_grow_with_it_and_learn_nothing():
    network = Network(SMALL)
    few, many = training.actions_in(0.01, network), training.actions_in(100, network)
    assert 0 < few < many and not network.weights.any()
    assert many % 10 ** (len(str(many)) - 2) == 0  # two digits


# ---------------------------------------------------------------- test games on the way

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
    seed = 1 + training.EVALUATION_SEED
    result = evaluate(SearchPlayer(network, 2), 5, seed)
    assert (last["mean"], last["max"]) == (round(result.mean, 1), result.max)
    assert history.evaluation_frame.shape == (6, len(training.EVALUATION_COLUMNS))


def test_a_run_folder_holds_the_test_games(tmp_path):
    _, history = trained(out=tmp_path, actions=70_000, **TESTS)
    rows = list(csv.DictReader((tmp_path / "evaluations.csv").read_text().splitlines()))
    assert [int(row["actions"]) for row in rows] == [r["actions"] for r in history.evaluations]
    assert [float(row["mean"]) for row in rows] == [r["mean"] for r in history.evaluations]


def test_test_games_survive_a_stop(monkeypatch, tmp_path):
    whole = trained(actions=70_000, **TESTS)
    with monkeypatch.context() as patch:
        stop_after(patch, 40_000)
        stopped = trained(out=tmp_path, actions=70_000, **TESTS)
    assert stopped[1].stopped and len(stopped[1].evaluations) == 2
    resumed = trained(out=tmp_path, actions=70_000, resume=True, **TESTS)
    same_run(resumed, whole)
    assert scores_of(resumed[1].evaluations) == scores_of(whole[1].evaluations)


def test_stop_during_the_test_games_loses_nothing(monkeypatch, tmp_path):
    whole = trained(actions=70_000, **TESTS)
    with monkeypatch.context() as patch:
        patch.setattr(training, "evaluate", lambda *_: signal.raise_signal(signal.SIGINT))
        stopped = trained(out=tmp_path, actions=70_000, **TESTS)
    assert stopped[1].stopped and stopped[1].actions == 30_000 and not stopped[1].evaluations
    resumed = trained(out=tmp_path, actions=70_000, resume=True, **TESTS)
    same_run(resumed, whole)
    assert scores_of(resumed[1].evaluations) == scores_of(whole[1].evaluations)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"eval_every": 0}, "eval_every 0"),
        ({"eval_every": 10, "eval_games": 0}, "eval_games 0"),
        ({"eval_every": 10, "eval_depth": 0}, "depth 0"),
        ({"eval_every": 10, "eval_depth": 2, "form": "state"}, "4x4 afterstates"),
    ],
)
def test_test_games_that_make_no_sense(tmp_path, settings, words):
    with pytest.raises(ValueError, match=words):
        trained(out=tmp_path / "run", actions=100, **settings)
    assert not (tmp_path / "run").exists()
