"""Runs that stop, are killed, and go on as if nothing had happened."""

import json
import os
import signal
import threading

import kills
import numpy as np
import pytest
from learners import (
    ORDERS,
    SMALL,
    STEP,
    contents,
    csv_rows,
    played,
    read_arrays,
    same_run,
    stop_after,
    trained,
)

from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks import storage
from lib2048.networks.network import FORMS
from lib2048.train import folder


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM], ids=lambda kind: kind.name)
def test_stop_keeps_the_history_up_to_there(monkeypatch, kind):
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
    {"rule": "autostep", "mu": 0.01}, {"error": "remembered"},
    {"error": "remembered", "order": "backward", "alpha": 0.001},  # 0.1 grows without bound
]  # fmt: skip


@pytest.mark.parametrize("settings", RULES, ids=str)
@pytest.mark.parametrize("more", [11, 12])
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


@pytest.mark.parametrize("unit, few, many", [("actions", STEP + 5, 3 * STEP), ("games", 100, 150)])
@pytest.mark.parametrize("order", ORDERS)
def test_a_finished_run_goes_on_to_a_larger_budget(tmp_path, order, unit, few, many):
    _, before = trained(out=tmp_path, order=order, **{unit: few})
    longer = trained(out=tmp_path, order=order, resume=True, **{unit: many})
    same_run(longer, trained(order=order, **{unit: many}))
    assert played(longer[1])[: before.count] == played(before)
    assert json.loads((tmp_path / "config.json").read_text())[unit] == many


@pytest.mark.parametrize("budget", [{"actions": 2 * STEP}, {"games": 200}], ids=str)
def test_a_finished_run_reports_and_ends(tmp_path, budget):
    finished = trained(out=tmp_path, **budget)
    files = contents(tmp_path)
    again = trained(out=tmp_path, resume=True, **budget)
    same_run(finished, again)
    assert contents(tmp_path) == files
    weights = storage.load(tmp_path / "weights.npz").weights
    np.testing.assert_array_equal(weights, finished[0].weights)


def test_a_run_folder_holds_what_it_should(tmp_path):
    network, history = trained(out=tmp_path, actions=20 * STEP)
    assert sorted(contents(tmp_path)) == ["config.json", "history.csv", "weights.npz"]
    np.testing.assert_array_equal(storage.load(tmp_path / "weights.npz").weights, network.weights)
    assert (tmp_path / "history.csv").read_text() == history.csv()
    assert len(history.table()) == len(history.scores) // 1000 > 0
    config = json.loads((tmp_path / "config.json").read_text())
    expected = {"network": SMALL, "form": "afterstate", "alpha": 0.1, "seed": 1, "rule": "td"}
    assert expected.items() <= config.items()
    assert config["sources"] == SOURCE_HASH


def test_weights_that_are_no_run_are_refused_in_one_line(tmp_path):
    network, _ = trained(out=tmp_path, actions=STEP)
    storage.save(network, tmp_path / "weights.npz")
    with pytest.raises(ValueError, match="weights.npz"):
        trained(out=tmp_path, actions=2 * STEP, resume=True)


def start(out, **options):
    """Start `lib2048 train` in a process of its own and wait for its second checkpoint."""
    words = kills.endless({"network": SMALL} | options, out)
    process = kills.start([*words, "--json", "--checkpoint-every", "0.2"])
    return kills.saved(process, out, 2)


def goes_on_like_a_straight_run(out, order="forward"):
    """Resume a run that ended early; it must end as one that was never interrupted."""
    kept = read_arrays(out / "checkpoint.npz")
    actions = int(kept["counters"][2]) + STEP
    assert len(kept["history"]) > 0
    resumed = trained(out=out, actions=actions, order=order, resume=True)
    assert played(resumed[1])[: len(kept["history"])] == kept["history"][:, :3].astype(int).tolist()
    same_run(resumed, trained(actions=actions, order=order))
    assert csv_rows((out / "history.csv").read_text()) == csv_rows(resumed[1].csv())


@pytest.mark.parametrize("order", ["forward", pytest.param("backward", marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path, order):
    out = tmp_path / "run"
    process = start(out, order=order)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    goes_on_like_a_straight_run(out, order)


@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_a_stopped_process_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path, name):
    out = tmp_path / "run"
    process = start(out)
    process.send_signal(signal.Signals[name])
    stdout, stderr = process.communicate(timeout=60)
    report = json.loads(stdout)
    assert process.returncode == 130
    assert report["weights"] is None
    assert report["actions"] == read_arrays(out / "checkpoint.npz")["counters"][2]
    assert f"--resume --out {out}" in stderr
    goes_on_like_a_straight_run(out)


def test_a_kill_before_the_config_does_not_block_the_folder(tmp_path):
    (tmp_path / ".config.json.4711.part").write_bytes(b"{")
    same_run(trained(out=tmp_path, actions=STEP, resume=True), trained(actions=STEP))


def test_a_disk_that_fills_up_leaves_the_last_checkpoint(monkeypatch, tmp_path):
    write = folder.write_arrays
    written = []

    def write_once(path, arrays):
        if written:
            raise OSError(f"{path}: 1 MiB to write, 0 MiB free on this disk")
        written.append(path)
        write(path, arrays)

    monkeypatch.setattr(folder, "write_arrays", write_once)
    with pytest.raises(OSError, match="free on this disk"):
        trained(out=tmp_path, actions=10**13, checkpoint_every=0.0)
    monkeypatch.undo()
    goes_on_like_a_straight_run(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
@pytest.mark.parametrize("number", [0, 1])
def test_a_run_that_is_killed_again_and_again_ends_as_one_that_is_not(tmp_path, number):
    kills.chain(kills.CHAINS[number], 3, np.random.default_rng(number), tmp_path / "run")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_a_sweep_that_is_killed_again_and_again_ends_as_one_that_is_not(tmp_path):
    kills.sweep_chain(3, np.random.default_rng(1), tmp_path / "sweep")
