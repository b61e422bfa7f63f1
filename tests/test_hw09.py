"""hw09: torch, whether it is there or not, and games in step."""

import inspect
import sys

import handins
import numpy as np
import pytest

from lib2048 import afterstates
from lib2048.course import labs
from lib2048.course.labs import hw09
from lib2048.course.labs.exercise import Exercise, of_lab
from lib2048.course.labs.hw09.selfplay import SelfPlay
from lib2048.course.labs.messages import say
from lib2048.machine.extras import advice

torch = pytest.importorskip("torch")
HEAD = """
import torch
from lib2048 import afterstates
from lib2048.course.labs.hw09 import encode
"""


def test_a_gradient_through_the_target_is_told():
    handins.said("hw09", "targets", hw09.careless_targets, "gradient")


def test_an_error_in_a_dead_end_is_told_its_cause():
    text = inspect.getsource(hw09.choose).replace("        return None", "        return max([])")
    assert handins.check_answer("hw09", HEAD + text).reason == say("hw09.choose.dead_end")


def test_what_torch_cannot_use_is_named():
    for new, told in (("", "float32"), (".float().numpy()", "returned a ndarray")):
        assert told in handins.check_changed("hw09.encode", (".float()", new)).reason


def slow(boards):
    return [[[board]] for board in boards]


def test_without_torch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(Exercise, "missing", ["torch"])
    line = "hw09 needs torch, which is not installed: " + advice("torch")
    assert labs.check("hw09.encode", slow).reason == line
    with pytest.raises(ModuleNotFoundError, match="hw09 needs torch"):
        labs.start("hw09")


def test_the_exercises_need_no_torch_to_be_listed():
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "torch"}
    try:
        for exercise in of_lab("hw09").values():
            assert all(exercise.drawn(3, part, 0) for part in exercise.draws)
        assert "torch" not in sys.modules
    finally:
        sys.modules.update(loaded)


def test_games_in_step_follow_the_rules():
    play, last = SelfPlay(lambda boards: boards % np.uint64(97), games=3, seed=5), {}
    for batch in play.batches(600):
        for after, state, reward, following, over in zip(
            batch.afterstates, batch.states, batch.next_rewards, batch.next_afterstates, batch.over
        ):
            legal = [(a, r) for _, a, r in afterstates(state)]
            assert bin(int(after) ^ int(state)).count("1") == 1  # one tile has come
            assert (following, reward) in legal if not over else not legal
            last[int(following)] = float(reward)
        known = [
            last.get(int(after), paid) for after, paid in zip(batch.afterstates, batch.rewards)
        ]
        assert known == batch.rewards.tolist()
    assert play.actions >= 600 and play.scores


def test_games_in_step_take_the_largest_reward_and_value():
    play = SelfPlay(lambda boards: np.zeros(len(boards)), games=2, seed=1)
    for batch in play.batches(100):
        for state, reward, over in zip(batch.states, batch.next_rewards, batch.over):
            assert over or reward == max(r for _, _, r in afterstates(state))


def test_the_choice_of_the_lab_is_the_choice_in_step():
    network, board = hw09.DRAWN.make(), np.uint64(0x0001001200230034)
    legal = afterstates(board)
    with torch.no_grad():
        values = network(hw09.encode([after for _, after, _ in legal])).numpy()
    worth = values + [reward for *_, reward in legal]
    assert hw09.choose(network, board) == legal[int(np.argmax(worth))][0]


def test_an_error_of_four_boards_is_not_the_mean_of_others():
    old = "torch.nn.functional.mse_loss(network(planes), target)"
    new = "((network(planes) - target) ** 2).sum() / 4"
    assert handins.check_changed("hw09.step", (old, new)).status == "failed"


def test_only_the_first_end_of_a_batch_is_told():
    old = "torch.where(torch.tensor(batch.over), 0.0, after)"
    new = "torch.where(torch.tensor(batch.over & (batch.over.cumsum() == 1)), 0.0, after)"
    assert handins.check_changed("hw09.targets", (old, new)).status == "failed"
