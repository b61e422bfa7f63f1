"""Training: budgets that are kept, settings that are refused, memory that is counted."""

import tracemalloc

import numpy as np
import pytest
from learners import ORDERS, SMALL, STEP, played, same_run, trained

from lib2048 import Network, train
from lib2048.learn import games, tables

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
    assert history.count == len(history.scores) == count
    assert history.lengths.sum() <= history.actions < history.lengths.sum() + 5000


def test_a_budget_of_seconds_is_spent():
    _, history = trained(seconds=0.3)
    assert history.took >= 0.3 and history.actions > 0 and not history.stopped


def test_chunks_depend_on_the_clock_and_results_do_not(monkeypatch):
    usual = trained(actions=5 * STEP)
    monkeypatch.setattr(tables, "FIRST_CHUNK", 777)
    monkeypatch.setattr(games, "CHUNK_SECONDS", 0.01)
    same_run(usual, trained(actions=5 * STEP))


def test_test_games_at_every_action_let_no_chunk_grow_for_ever():
    """2^1000 actions were more than a float can be."""
    chunk = STEP
    for _ in range(2000):
        chunk = games.next_chunk(chunk, played=1, seconds=1e-9)
    assert 1 <= chunk <= STEP
    _, history = trained(games=1, eval_every=1, eval_games=1)
    assert [row["actions"] for row in history.evaluations] == [*range(1, history.actions + 1)]


def test_a_chunk_takes_a_tenth_of_a_second():
    assert games.next_chunk(1000, 1000, 0.05) == 2000
    assert games.next_chunk(1000, 1000, 0.01) == 2000
    assert games.next_chunk(1000, 1000, 1.0) == 100
    assert games.next_chunk(1000, 10, 1.0) == 1
    assert games.next_chunk(1000, 10, 1e-4) == 1000


def test_the_seed_decides_the_run():
    same_run(trained(actions=4000, seed=5), trained(actions=4000, seed=5))
    assert played(trained(actions=4000, seed=6)[1]) != played(trained(actions=4000, seed=5)[1])


def test_seconds_never_run_backwards():
    _, history = trained(actions=10 * STEP)
    assert (np.diff(history.seconds) >= 0).all() and 0 < history.seconds[-1] <= history.took


def test_threads_keep_a_budget_of_games():
    _, history = trained(games=301, threads=2)
    assert history.count == 301
    assert history.actions >= history.lengths.sum()


# ---------------------------------------------------------------- what is refused


BAD = [
    {"alpha": 0}, {"alpha": -0.1}, {"alpha": 1.01}, {"alpha": float("nan")}, {"alpha": "fast"},
    {"games": 0}, {"games": -3}, {"actions": 0}, {"seconds": 0}, {"seconds": float("nan")},
    {"games": 1, "actions": 1}, {"rule": "magic"}, {"order": "sideways"}, {},
    {"lam": 1}, {"lam": -0.5}, {"lam": float("nan")}, {"lam": "half"}, {"lam": True},
    {"lam": 1.5, "order": "backward"}, {"lam": 0.5, "rule": "autostep"},
    {"beta": 1}, {"mu": 0.1}, {"rule": "tc", "alpha": 0.1}, {"rule": "tc", "mu": 0.1},
    {"rule": "tc", "beta": 0}, {"rule": "tc", "beta": -1}, {"rule": "tc", "beta": float("nan")},
    {"rule": "autostep", "beta": 1}, {"rule": "autostep", "mu": 2}, {"threads": 0},
    {"threads": -2}, {"threads": 1.5}, {"threads": 10**6}, {"threads": None},
    {"checkpoint_every": None}, {"eval_games": None}, {"epsilon": None}, {"lanes": "two"},
    {"delay": "no"}, {"delay": 0}, {"rate": 0.1, "alpha": 0.2}, {"eval_games": 3},
    {"eval_depth": 2}, {"eval_every": 9, "eval_deep_games": 3},
]  # fmt: skip


@pytest.mark.parametrize("settings", BAD, ids=str)
def test_bad_settings_are_refused_before_anything_is_written(tmp_path, settings, refused):
    if not {"games", "actions", "seconds"} & set(settings) and settings:
        settings = {"actions": 100, **settings}
    network = Network(SMALL)
    refused(lambda: train(network, out=tmp_path / "run", progress=False, **settings), "")
    assert not list(tmp_path.iterdir()) and not network.weights.any()


@pytest.mark.parametrize("start", [float("nan"), float("inf"), "high"], ids=str)
def test_an_optimistic_start_is_a_number(start, refused):
    refused(lambda: Network(SMALL, optimistic=start), "optimistic")


# ---------------------------------------------------------------- weights and memory


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
