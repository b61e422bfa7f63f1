"""Which weights a small file keeps, against every choice there is."""

import itertools

import numpy as np
import pytest

from lib2048 import load, save
from lib2048.networks import pruning
from lib2048.networks.network import Network


def cost(weights, learned, kept, promotes, price):
    """Return what a choice costs: the price of each that is kept, and what the others change."""
    read = [w if k else 0.0 for w, k in zip(weights, kept)]
    below = [0.0, *read] if promotes else [0.0] * len(read)
    lost = (
        a * min(1, abs(w - b) / abs(w))
        for w, a, k, b in zip(weights, learned, kept, below)
        if w and not k
    )
    return price * sum(kept) + sum(lost)


@pytest.mark.parametrize("promotes", [False, True])
def test_of_all_choices_the_cheapest_is_taken(promotes):
    random = np.random.default_rng(1)
    for _ in range(100):
        weights = np.round(random.normal(0, 50, 5)).astype(np.float32) * (random.random(5) < 0.8)
        weights, price = weights.astype(np.float32), float(random.uniform(0.1, 9))
        learned = random.integers(1, 9, 5).astype(np.float32)
        bits = pruning._worth(weights, learned, 0, 1, 5, promotes, price)
        kept = [bool(bits >> stage & 1) for stage in range(5)]
        assert not any(k and w == 0 for k, w in zip(kept, weights))
        every = itertools.product(*([False, True] if w else [False] for w in weights))
        least = min(cost(weights, learned, choice, promotes, price) for choice in every)
        assert cost(weights, learned, kept, promotes, price) == pytest.approx(least)


def test_of_one_stage_those_that_have_learned_most_are_kept():
    network, learned = Network("cells:01"), np.zeros(256, np.float32)
    network.weights[:10], learned[:10] = range(1, 11), [9, 9, 9, 9, 1, 1, 1, 1, 1, 5]
    assert pruning.prune(network, learned, 4) == 4
    assert np.flatnonzero(network.weights).tolist() == [0, 1, 2, 3]
    assert pruning.prune(network, learned, 10) == 4  # who asks for more than there are keeps all


def test_a_copy_of_the_stage_below_is_left_out_and_read_from_there():
    network = Network("cells:01", stages=2, top=16, promotion=True)
    learned = np.zeros(network.size, np.float32)
    network.weights.reshape(4, -1)[:, 0] = 10, 10, 10, -5
    learned.reshape(4, -1)[:, 0] = 1
    assert pruning.prune(network, learned, 3) == 3
    # Promotion reads one stage further down and no more: so one of the two copies must stay.
    assert network.weights.reshape(4, -1)[:, 0].tolist() in ([10, 0, 10, -5], [10, 10, 0, -5])


@pytest.mark.parametrize("promotion", [False, True])
def test_weights_are_rounded_to_whole_steps_and_stay_learned(promotion, tmp_path):
    """With promotion, one that is rounded to nothing must not be read from below again."""
    network = Network("cells:01", stages=1, top=8, promotion=promotion)
    network.weights[:6] = 40, -24, 23, 3, -7.9, 1000.4
    network.weights[network.block :][:4] = 0, 3, 8, 5
    pruning.round_off(network, 16)
    least = pruning.LEAST if promotion else 0
    assert network.weights[:6].tolist() == [32, -32, 16, least, least, 1008]  # halves to the even
    assert network.weights[network.block :][:4].tolist() == [0, least, least, least]
    save(network, tmp_path / "a.npz", compact=True)
    found = load(tmp_path / "a.npz")
    assert ((found.weights != 0) == (network.weights != 0)).all()
    np.testing.assert_allclose(found.weights, network.weights, atol=1e-6)
    assert round(load(tmp_path / "a.npz", to_play=True).value(8), 3) == round(found.value(8), 3)


def test_a_sample_is_enough_to_find_the_price(monkeypatch):
    monkeypatch.setattr(pruning, "SAMPLE", 1 << 12)
    network, random = Network("cells:0145"), np.random.default_rng(1)
    network.weights[:] = random.normal(0, 100, network.size)
    learned = random.exponential(10, network.size).astype(np.float32)
    assert pruning.prune(network, learned, 6000) == pytest.approx(6000, rel=0.1)
    assert np.count_nonzero(network.weights) == pytest.approx(6000, rel=0.1)
