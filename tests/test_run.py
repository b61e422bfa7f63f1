"""A run that can be held: gone on with exactly, stopped from anywhere, changed on its way."""

import inspect
import itertools
import json
import pickle
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from learners import ORDERS, SMALL, STEP, contents, same_run, stop_after, trained

from lib2048 import Network, Run, Settings, evaluate, last_run, stream, train
from lib2048.learn.rules import RULES
from lib2048.learn.starts import STARTS
from lib2048.networks.network import FORMS
from lib2048.train.watching import Stopped, amount

WAYS = [  # every rule, order, start and form, λ both ways
    *({"rule": rule, "order": order} for rule, order in itertools.product(RULES, ORDERS)),
    *({"starts": start, "stages": 3, "top": 64, "rule": "tc", "lam": 0.5} for start in STARTS),
    *({"form": form, "epsilon": 0.1} for form in FORMS),
    {"rule": "tc", "lam": 0.9, "delay": False}, {"rule": "td", "lam": 0.9, "lanes": 3},
    {"lanes": 1, "optimistic": 500.0},
    {"lam": 0.9, "delay": False, "traces": "dutch"}, {"lam": 1, "order": "backward"},
]  # fmt: skip


def new(seed=4, folder=None, resume=False, **how):
    return Run(Settings(network=SMALL, seed=seed, **how), folder, resume=resume)


def going(run, *budgets):
    """Let a run go by some budgets; return (network, history)."""
    for budget in budgets:
        run.go(**budget, progress=False)
    return run.network, run.history


# ---------------------------------------------------------------- going on


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_going_twice_is_going_once(how):
    parts = [{"actions": 1}, {"actions": 700}, {"actions": 56}, {"actions": 1243}]
    same_run(going(new(**how), *parts), going(new(**how), {"actions": 2000}))


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_going_by_games_twice_is_going_once(how):
    parts = [{"games": 1}, {"games": 2}, {"games": 1}, {"games": 7}]
    (one, history), other = going(new(**how), *parts), going(new(**how), {"games": 11})
    same_run((one, history), other)
    assert history.count == 11


def test_games_and_actions_can_be_mixed():
    run = new(lanes=2)
    network, history = going(run, {"games": 3}, {"actions": 100}, {"games": 2}, {"actions": 1})
    assert history.count >= 5
    same_run((network, history), going(new(lanes=2), {"actions": history.actions}))


def test_games_end_when_so_many_are_over_and_the_others_stay_in_progress():
    run = new(lanes=3)
    _, history = going(run, {"games": 4})
    unfinished = run.actions - history.lengths.sum()
    lanes = run.learner.members[0].lanes
    assert history.count == 4 and unfinished == lanes["length"].sum() > 0


def test_a_second_train_begins_anew_and_a_run_goes_on():
    network, run = Network(SMALL), new(rule="tc", seed=1)
    for _ in range(2):
        train(network, rule="tc", actions=500, progress=False)
        run.go(actions=500, progress=False)
    straight = train(Network(SMALL), rule="tc", actions=1000, progress=False)
    assert run.history.scores.tolist() == straight.scores.tolist()
    assert (run.network.weights != network.weights).any()


def test_the_budget_of_the_settings_is_reached_and_no_more():
    run = new(actions=900)
    run.go(actions=300, progress=False)
    assert run.go(progress=False).actions == 900
    assert run.go(progress=False).actions == 900


def test_a_run_trains_a_network_that_exists():
    network = Network(SMALL)
    run = Run(Settings.of(network, rule="tc"), network=network)
    run.go(actions=500, progress=False)
    assert run.network is network and network.weights.any()


@pytest.mark.parametrize(
    "other", [{"network": "cells:0123"}, {"form": "q"}, {"optimistic": 5.0}, {"stages": 1}], ids=str
)
def test_settings_of_another_network_are_refused(other, refused):
    settings = Settings(**{"network": SMALL} | other)
    refused(lambda: Run(settings, network=Network(SMALL)), "this network has")


def test_numbers_of_numpy_are_plain_ones_in_settings(tmp_path):
    given = {"alpha": np.float64(0.5), "seed": np.int64(3), "lanes": np.int32(2)}
    settings = Settings(network=SMALL, actions=np.int64(100), **given)
    assert settings == Settings(network=SMALL, actions=100, alpha=0.5, seed=3, lanes=2)
    Run(settings, tmp_path / "run").go(progress=False)
    assert json.loads((tmp_path / "run/config.json").read_text())["seed"] == 3


def test_what_are_no_settings_are_refused(refused):
    refused(lambda: Run("4x6"), "a run needs Settings")


def test_what_is_no_network_is_refused(refused):
    refused(lambda: Network(4), "network 4: give its name, such as '4x6'")
    refused(lambda: train("4x6", actions=10), "a network is needed")


@pytest.mark.parametrize("budget", [
    {}, {"actions": 0}, {"games": -1}, {"actions": 1.5}, {"seconds": float("nan")},
    {"actions": 5, "games": 5}, {"actions": True}, {"games": "all"},
], ids=str)  # fmt: skip
def test_a_budget_that_makes_no_sense_is_refused(budget, refused):
    run = new()
    refused(lambda: run.go(**budget, progress=False), "")
    assert run.actions == 0


# ---------------------------------------------------------------- a rate that changes


def test_a_rate_set_on_the_way_is_go_load_set_go(tmp_path):
    one = new(rule="tc", lam=0.5, folder=tmp_path / "one")
    one.go(actions=STEP, progress=False)
    other = new(rule="tc", lam=0.5, folder=tmp_path / "two")
    other.go(actions=STEP, progress=False)
    other = new(rule="tc", lam=0.5, folder=tmp_path / "two", resume=True)
    for run in (one, other):
        run.rate = 0.25
        run.go(actions=STEP, progress=False)
    same_run((one.network, one.history), (other.network, other.history))
    assert one.history.rates.tolist() == other.history.rates.tolist()
    assert set(one.history.rates.tolist()) == {1.0, 0.25}
    assert (one.settings.rate, one.rate) == (1.0, 0.25)
    for folder in ("one", "two"):
        assert '"beta": 1.0' in (tmp_path / folder / "config.json").read_text()
    again = new(rule="tc", lam=0.5, folder=tmp_path / "two", resume=True)
    assert again.rate == 0.25


def test_another_rule_takes_its_own_rate_where_none_was_given():
    td, tc = Settings(network=SMALL), Settings(network=SMALL, rule="tc")
    for kept in (td, replace(td, seed=2), pickle.loads(pickle.dumps(td))):
        assert replace(kept, rule="tc", seed=1) == tc and kept.rate == 0.1
    assert replace(tc, rule="td") == td
    for given in ({"alpha": 0.1}, {"rate": 0.1}):
        assert replace(Settings(network=SMALL, **given), rule="tc").beta == 0.1
        assert replace(replace(td, **given), rule="tc").beta == 0.1
    assert json.dumps(td.config()) == json.dumps(Settings(network=SMALL, alpha=0.1).config())
    assert Settings.from_config(td.config()) == td == Settings(**td.plain())


def test_a_rate_can_be_set_while_the_run_goes_in_another_thread():
    run = new()
    thread = threading.Thread(target=lambda: run.go(seconds=20, progress=False))
    thread.start()
    wait_until(lambda: run.history.count > 10)
    run.rate = 0.02
    wait_until(lambda: run.history.rates[-1] == 0.02)
    run.stop()
    thread.join(5)
    assert not thread.is_alive() and {0.1, 0.02} == set(run.history.rates.tolist())


@pytest.mark.parametrize("rate", [0, -1, 1.5, float("nan"), "fast", None], ids=str)
def test_a_rate_that_makes_no_sense_is_refused(rate):
    run = new()
    with pytest.raises(ValueError, match="alpha"):
        run.rate = rate
    assert run.rate == 0.1


# ---------------------------------------------------------------- stopping


def wait_until(ready, seconds=20):
    begin = time.perf_counter()
    while not ready():
        assert time.perf_counter() - begin < seconds
        time.sleep(0.01)


def test_stop_from_another_thread_ends_it_and_it_goes_on_exactly():
    run, chunks = new(), []
    keep = run._keep
    run._keep = lambda *found: (chunks.append(1), keep(*found))
    thread = threading.Thread(target=lambda: run.go(seconds=60, progress=False))
    thread.start()
    wait_until(lambda: run.actions > 0)
    with pytest.raises(ValueError, match="going already"):
        run.go(actions=1)
    before = len(chunks)
    run.stop()
    thread.join(20)
    assert not thread.is_alive() and len(chunks) <= before + 2  # one may have ended meanwhile
    assert run.history.stopped
    network, history = going(run, {"actions": 1000})
    assert not history.stopped
    same_run((network, history), going(new(), {"actions": history.actions}))


def test_stop_reaches_the_test_games_too():
    run = new(eval_every=STEP, eval_games=10**7)
    thread = threading.Thread(target=lambda: run.go(actions=9 * STEP, progress=False))
    thread.start()
    wait_until(lambda: run.actions == STEP)
    time.sleep(0.3)  # among the test games
    run.stop()
    thread.join(10)
    assert not thread.is_alive() and run.actions == STEP and not run.history.evaluations


def test_whoever_watches_is_called_between_two_chunks_and_may_stop_it():
    run, seen = new(), []

    def watch(watched):
        assert watched is run
        seen.append(run.history.actions)
        if len(seen) == 3:
            run.stop()

    run.go(actions=100 * STEP, progress=watch)
    assert seen == sorted(set(seen)) and len(seen) == 3
    assert run.actions == seen[-1] and run.history.stopped


def test_stop_without_a_run_going_does_nothing():
    run = new()
    run.stop()
    assert run.go(actions=500, progress=False).actions == 500


def test_the_stop_button_says_how_far_it_came_and_keeps_all(monkeypatch):
    network = Network(SMALL)
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        with pytest.raises(Stopped, match=r"^stopped at .* of 20 M actions$") as stopped:
            train(network, actions=20_000_000, progress=False)
    run = stopped.value.run
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert last_run() is run and run.network is network
    assert run.history.stopped and run.history.actions >= STEP
    same_run((network, run.history), trained(actions=run.actions))
    going(run, {"actions": 10})
    train(Network(SMALL), actions=10, progress=False)
    with pytest.raises(ValueError, match="no training was stopped"):
        last_run()


@pytest.mark.parametrize(
    "done, total, words",
    [
        (9_712_345, 20_000_000, "9.71 of 20 M"),
        (12, 300, "12 of 300"),
        (3.25, 8, "3.25 of 8"),
        (0, 10**10, "0 of 10 G"),
        (45_000, 100_000, "45 of 100 k"),
    ],
)
def test_how_far_is_said_in_few_digits(done, total, words):
    assert amount(done, total) == words


NOTEBOOK = """
import lib2048
network = lib2048.Network("cells:0123,4567")
---
for _ in range(100):
    lib2048.train(network, seconds=30, progress=lambda run: print("it learns"))
---
ran_on = True
"""


def test_the_stop_button_ends_the_cell_and_run_all():
    """In a kernel of Jupyter: one press, one line, and the cells behind it do not run."""
    client = pytest.importorskip("jupyter_client")
    manager, kernel = client.manager.start_new_kernel()
    try:
        first, second, third = NOTEBOOK.split("---\n")
        kernel.execute_interactive(first, timeout=60, output_hook=lambda _: None)
        sent = [kernel.execute(second), kernel.execute(third)]  # as Run All sends them
        while "it learns" not in str(kernel.get_iopub_msg(timeout=60)["content"].get("text")):
            pass
        manager.interrupt_kernel()
        replies = [kernel.get_shell_msg(timeout=20) for _ in sent]
        assert [reply["content"]["status"] for reply in replies][0] == "error"
        assert replies[0]["content"]["ename"] == "Stopped"
        assert replies[1]["content"]["status"] in ("aborted", "error")
        texts = []
        kernel.execute_interactive(
            "print('ran_on' in globals(), lib2048.last_run().history.stopped)",
            timeout=20,
            output_hook=lambda message: texts.append(message["content"].get("text", "")),
        )
        assert "False True" in "".join(texts)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


# ---------------------------------------------------------------- what the rule remembers


def test_memory_is_what_the_rule_keeps_in_the_networks_geometry():
    run = new(rule="tc", lam=0.5)
    assert set(run.memory) == {"E", "A"} and len(run.memory["E"]) == 2
    run.go(actions=3000, progress=False)
    sums, sizes = run.memory["E"], run.memory["A"]
    for which in range(2):
        learned = run.network.table(which) != 0
        assert sums[which].shape == learned.shape
        assert (sizes[which][learned] > 0).all() and (abs(sums[which]) <= sizes[which]).all()
        assert (sizes[which][~learned] == 0).mean() > 0.99
    where = run.network.positions(1)
    np.testing.assert_array_equal(sizes[1], sizes.flat[where])
    np.testing.assert_array_equal(sizes[1], run.learner._memory[1::2][where])


def test_memory_is_a_copy_made_when_asked():
    run = new(rule="tc")
    run.go(actions=500, progress=False)
    before = run.memory["A"][0]
    before[:] = -1
    assert (run.memory["A"][0] >= 0).all()
    kept = run.memory["A"][0]
    run.go(actions=500, progress=False)
    assert (run.memory["A"][0] >= kept).all() and (run.memory["A"][0] > kept).any()


def test_memory_of_each_rule_has_its_names():
    names = {rule: list(new(rule=rule).memory) for rule in RULES}
    assert names == {"td": [], "tc": ["E", "A"], "autostep": ["step", "largest", "trace"]}
    assert dict(new().memory) == {}
    with pytest.raises(KeyError):
        new().memory["E"]


def test_memory_of_a_stage():
    run = new(rule="tc", stages=2, top=32)
    run.go(actions=2000, progress=False)
    tables = [run.memory["A"][0, stage] for stage in range(4)]
    assert all(table.any() for table in tables)
    assert [table.sum() for table in tables] == [
        run.learner._memory[1::2][run.network.positions(0, stage)].sum() for stage in range(4)
    ]


# ---------------------------------------------------------------- luck


def test_training_and_testing_share_no_luck_by_default():
    seeds = Settings(network=SMALL).seed, inspect.signature(evaluate).parameters["seed"].default
    first = [{int(stream(seed, number)) for number in range(1000)} for seed in seeds]
    assert not first[0] & first[1]
    played = evaluate("random", 30), evaluate("random", 30, seeds[0])
    assert played[0].scores.tolist() != played[1].scores.tolist()


def test_a_folder_holds_a_checkpoint_while_a_run_is_held(tmp_path):
    run = new(folder=tmp_path, actions=900)
    run.go(actions=300, progress=False)
    assert sorted(contents(tmp_path)) == ["checkpoint.npz", "config.json", "history.csv"]
    run.go(progress=False)
    assert sorted(contents(tmp_path)) == ["config.json", "history.csv", "weights.npz"]
    same_run((run.network, run.history), going(new(), {"actions": 900}))


def test_weights_in_place_of_others_are_learned():
    run = Run(Settings(network="cells:0145", actions=5000))
    old, run.network.weights = run.network.weights, np.zeros(run.network.size, np.float32)
    run.go(progress=False)
    assert not old.any() and run.network.weights.any()
