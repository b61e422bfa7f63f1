"""The rules: TC and Autostep by hand and in plain Python; what λ, delay and threads keep."""

import math
import time

import numpy as np
import pytest
from learners import FOREVER, SMALL, bits, games_on

from lib2048 import Network, evaluate, train
from lib2048.game.rng import mix
from lib2048.learn.games import LARGEST_PIECE, Crew
from lib2048.learn.records import NEXT_GAME
from lib2048.learn.rules import RULES, autostep_update, horizon, new_memory, tc_update
from lib2048.learn.settings import Settings
from lib2048.play.players import greedy_player


def learned(**settings):
    """Learn; return the bits of the weights."""
    network = Network(SMALL)
    games_on(network, **settings).play(3000, 10**4)
    assert network.weights.any()
    return bits(network.weights)


def apply(update, weights, memory, positions, error, rate):
    """Let the weights at some positions learn one error."""
    where = np.array(positions, np.uint32)
    n = np.uint64(len(where))
    update()(weights, memory, where, np.uint64(0), n, np.float32(error), np.float32(rate))


# ---------------------------------------------------------------- the horizon


@pytest.mark.parametrize(
    "decay, h", [(0.0, 0), (0.05, 0), (0.1, 0), (0.11, 1), (0.5, 3), (0.9, 21), (0.99, 229)]
)
def test_the_horizon_keeps_what_weighs_more_than_a_tenth(decay, h):
    assert horizon(decay) == h
    assert decay == 0 or decay**h > 0.1 or h == 0
    assert decay ** (h + 1) <= 0.1 + 1e-9


@pytest.mark.parametrize("h", range(1, 8))
def test_a_horizon_on_the_edge_is_not_moved_by_rounding(h):
    assert horizon(0.1 ** (1 / h)) == h - 1


# ---------------------------------------------------------------- TC on three numbers


def test_coherence_from_fresh_by_hand():
    weights, memory = np.zeros(2, np.float32), new_memory(2, "tc")
    for error, weight in ((1, 1), (1, 2), (-1, 1)):
        apply(tc_update, weights, memory, [1], error, 1)
        assert weights.tolist() == [0, weight]
    assert memory.tolist() == [0, 0, 1, 3]
    apply(tc_update, weights, memory, [1], 3, 1)
    assert weights[1] == 1 + np.float32(3) * (np.float32(1) / np.float32(3))


def test_a_rate_never_exceeds_one():
    """A thread's addition to A may be lost while that to E survives."""
    weights, memory = np.zeros(1, np.float32), np.array([5, 1], np.float32)
    apply(tc_update, weights, memory, [0], 2, 0.5)
    assert (weights[0], memory.tolist()) == (1, [7, 3])


def test_an_error_of_zero_changes_nothing():
    for rule, kind in RULES.items():
        weights, memory = np.ones(9, np.float32), np.full(9 * kind.memory, 0.1, np.float32)
        apply(kind.update, weights, memory, [0, 1, 1, 2, 3, 4, 5, 6], 0, 0.5)
        assert weights.tolist() == [1] * 9
        if rule == "tc":
            assert (memory == np.float32(0.1)).all()


# ---------------------------------------------------------------- identities, bit for bit


@pytest.mark.parametrize("rule", ["td", "tc"])
@pytest.mark.parametrize("decay, delay", [(0.0, False), (0.1, True), (0.1, False)])
def test_without_a_horizon_there_is_nothing_to_delay(rule, decay, delay):
    plain = learned(rule=rule)
    np.testing.assert_array_equal(learned(rule=rule, decay=decay, delay=delay), plain)


# ---------------------------------------------------------------- delayed is online, in sum


def one_weight_a_board(network):
    """Return the network that gives every board a weight of its own, as far as it reaches."""
    size = np.uint64(network.size)

    def index(board, positions):
        positions[:] = mix(board) % size

    return network.with_functions(index=index)


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("seed", [2, 9])
def test_delayed_td_sums_to_online_td_where_no_weight_repeats(decay, seed):
    """A game never comes to the same board twice, so with a weight a board nothing repeats."""
    runs = {}
    for delay in (True, False):
        network = one_weight_a_board(Network("cells:012345"))
        games = games_on(network, seed=seed, lanes=1, decay=decay, delay=delay)
        (game, *others), more = games.play(FOREVER, 10, 1)
        assert not more and not others
        runs[delay] = network.weights, game
    (late, game), (online, other) = runs[True], runs[False]
    np.testing.assert_array_equal(game, other)
    if (seed, decay) == (2, 0.99):
        assert game[2] <= horizon(decay)  # shorter than the horizon: flushed whole
    assert np.count_nonzero(late) > 0.9 * game[2]
    np.testing.assert_allclose(late, online, rtol=1e-5, atol=1e-5 * abs(late).max())


# ---------------------------------------------------------------- Autostep


class PlainAutostep:
    """Autostep by the letter of Mahmood et al. 2012, on features x, in double precision.

    One thing is the library's: all steps start at 1 / n, n the sum of the features.
    """

    def __init__(self, size, n, mu, tau=1e4):
        self.w, self.v, self.h = np.zeros(size), np.zeros(size), np.zeros(size)
        self.alpha, self.mu, self.tau = np.full(size, 1 / n), mu, tau

    def learn(self, x, delta):
        for i in np.flatnonzero(x):
            change = abs(delta * x[i] * self.h[i])
            fade = self.alpha[i] * x[i] ** 2 * (change - self.v[i]) / self.tau
            self.v[i] = max(change, self.v[i] + fade)
            if self.v[i] != 0:
                self.alpha[i] *= math.exp(self.mu * delta * x[i] * self.h[i] / self.v[i])
        reach = max(np.sum(self.alpha * x**2), 1)
        for i in np.flatnonzero(x):
            self.alpha[i] /= reach
            step = self.alpha[i] * x[i] * delta
            self.w[i] += step
            self.h[i] = self.h[i] * (1 - self.alpha[i] * x[i] ** 2) + step


@pytest.mark.parametrize("mu", [0.001, 0.1, 0.7])
def test_autostep_is_the_papers_on_a_linear_problem(mu):
    random = np.random.default_rng(1)
    truth, size, n = random.normal(size=24), 24, 16
    plain = PlainAutostep(size, n, mu)
    weights, memory = np.zeros(size, np.float32), new_memory(size, "autostep")
    twice, errors = 0, []
    for _ in range(400):
        positions = np.concatenate([random.integers(0, 12, 8), random.integers(12, 24, 8)])
        x = np.bincount(positions, minlength=size).astype(float)
        twice += (x > 1).sum()
        delta = x @ truth + random.normal(0, 0.1) - x @ plain.w
        plain.learn(x, delta)
        apply(autostep_update, weights, memory, positions, delta, mu)
        errors.append(abs(delta))
    assert twice > 100
    assert np.mean(errors[-50:]) < 0.5 * np.mean(errors[:50])
    np.testing.assert_allclose(weights, plain.w, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(memory[0::3], plain.alpha, rtol=2e-3)
    np.testing.assert_allclose(memory[2::3], plain.h, rtol=5e-3, atol=1e-3)


# ---------------------------------------------------------------- an optimistic start

BOARDS = np.random.default_rng(2).integers(0, 1 << 63, 200).astype(np.uint64)


def test_an_optimistic_start_is_the_value_of_every_untouched_board():
    network = Network(SMALL, optimistic=320_000)
    assert (network.values(BOARDS) == 320_000).all()
    assert {network.value(board) for board in BOARDS} == {320_000.0}
    assert not network.weights.any()
    games_on(network).play(300, 100)
    untouched = [all(w == 0 for *_, w in network.lookups(board)) for board in BOARDS]
    assert 0 < sum(untouched)
    assert (network.values(BOARDS[untouched]) == 320_000).all()


# ---------------------------------------------------------------- threads


def crew(network, threads, rule="tc", seed=3):
    """Return a crew of so many threads on one network."""
    settings = Settings.of(network, rule=rule, lam=0.5, threads=threads, seed=seed)
    return Crew(network, settings, new_memory(network.size, rule))


def test_a_crew_of_one_is_its_member():
    alone, one = Network(SMALL), Network(SMALL)
    games_on(alone, "tc", 1.0, decay=0.5).play(5000, 1000)
    crew(one, 1).play(5000, 1000)
    np.testing.assert_array_equal(bits(alone.weights), bits(one.weights))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("actions", [1, 1000, 20_001])
def test_threads_share_a_budget_exactly(threads, actions):
    workers = crew(Network(SMALL), threads)
    workers.play(actions, 1000)
    assert workers.actions == actions
    workers.play(actions + 7, 1000)
    assert workers.actions == actions + 7


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_play_every_game_once(threads):
    workers, numbers = crew(Network(SMALL), threads), []
    while len(numbers) < 50:
        numbers += workers.play(workers.actions + 1000, 7)[:, 0].tolist()
    begun = []
    for first, games in enumerate(workers.members):
        begun += range(first, games.counters[NEXT_GAME], threads)
        numbers += games.lanes["number"].tolist()
    assert sorted(numbers) == sorted(begun)


def test_where_one_thread_fails_the_others_stop_before_it_is_said():
    """Or they would write while a checkpoint is made of what they have learned so far."""
    workers = crew(Network(SMALL), 2)
    first, second = workers.members
    first.play, play = lambda *_: exec("raise ZeroDivisionError"), second.play

    def begin_late(*given):
        time.sleep(0.1)  # the other one has failed, and all were told to halt
        return play(*given)

    second.play = begin_late
    with pytest.raises(ZeroDivisionError):
        workers.play(10**12, 10**9)
    before = second.actions
    time.sleep(0.1)
    assert second.actions == before < LARGEST_PIECE


def test_threads_learn():
    network = Network("4-22")
    history = train(network, rule="tc", actions=600_000, threads=2, progress=False)
    assert history.actions == 600_000
    assert history.mean_last(100) > 2 * evaluate(greedy_player(), 100).mean


def test_threads_work_in_memory_of_their_own():
    workers = crew(Network(SMALL), 2)
    spans = [
        (array.__array_interface__["data"][0], array.nbytes)
        for games in workers.members
        for array in (games.lanes, games.counters, *games.work)
    ]
    starts = sorted(spans)
    assert all(a + size + 128 <= b for (a, size), (b, _) in zip(starts, starts[1:], strict=False))
