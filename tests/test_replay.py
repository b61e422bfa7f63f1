"""What a GPU replays is what it would do when asked anew each time; skipped where there is none."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lib2048 import Settings  # noqa: E402
from lib2048.deep import ValueNetwork  # noqa: E402
from lib2048.deep.learner import ValueLearner  # noqa: E402
from lib2048.play.experience import collect  # noqa: E402

BOARDS = collect("random", 40, 5).afterstates[:3000]
HERE = ValueNetwork("cnn22sss", seed=7)
on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_a_network_of_your_own_is_never_replayed(monkeypatch):
    assert not HERE.replays
    monkeypatch.setattr(HERE, "device", torch.device("cuda"))
    assert HERE.replays
    own = ValueNetwork(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(256, 1)), "flat")
    monkeypatch.setattr(own, "device", torch.device("cuda"))
    assert not own.replays


def test_the_errors_of_all_batches_are_read_when_play_returns():
    learner = ValueLearner(HERE, Settings(network="cnn22sss", batch="batch64", lanes=8))
    learner.play(10**9, 1000, 100)
    assert len(learner.batches) == 15 and not learner._unread
    assert all(isinstance(loss, float) for _, loss in learner.batches)


@on_gpu
@pytest.mark.parametrize("count", [1, 5, 1024, 1025, 3000])
def test_values_are_those_of_a_pass_without_a_graph(count):
    there = ValueNetwork("cnn22sss", seed=7, device="cuda")
    for _ in range(6):  # the first ones warm up
        found = there.values(BOARDS[:count])
    np.testing.assert_allclose(found, HERE.values(BOARDS[:count]), rtol=1e-3, atol=1e-3)


@on_gpu
def test_steps_are_those_without_a_graph_also_after_a_new_rate():
    options = {"network": "cnn22sss", "batch": "batch64", "device": "cuda", "average": 0.9}
    settings = Settings(**options)
    one, other = (ValueLearner(settings.new_network(), settings) for _ in range(2))
    other._replayed = None
    for n in range(12):
        if n == 8:
            one.set_rate(0.0001), other.set_rate(0.0001)
        batch = BOARDS[64 * n : 64 * (n + 1)], np.full(64, 1000, np.float32)
        assert float(one.step(*batch)) == pytest.approx(float(other.step(*batch)), rel=1e-3)
    for mine, yours in zip(one.tested.module.parameters(), other.tested.module.parameters()):
        torch.testing.assert_close(mine, yours, rtol=1e-2, atol=1e-3)
