"""hw09 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import sys

import handins
import numpy as np
import pytest

from lib2048 import afterstates, to_exponents
from lib2048.course import labs
from lib2048.course.labs import checks, hw09
from lib2048.course.labs.exercise import Exercise, of_lab
from lib2048.course.labs.hw09.selfplay import SelfPlay
from lib2048.machine.extras import advice

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def encode(boards):
    planes = torch.zeros(len(boards), 16, 4, 4)
    for i, board in enumerate(boards):
        for cell, exponent in enumerate(to_exponents(board)):
            planes[i, int(exponent), cell // 4, cell % 4] = 1
    return planes


def targets(network, batch):
    values = network(encode(batch.next_afterstates)).detach()
    values += torch.from_numpy(batch.next_rewards)
    values[torch.from_numpy(batch.over)] = 0
    return values


def step(network, optimiser, planes, target):
    optimiser.zero_grad()
    error = ((network(planes) - target) ** 2).mean()
    error.backward()
    optimiser.step()
    return float(error)


def choose(network, board):
    best, most = None, None
    for action, after, reward in afterstates(board):
        with torch.no_grad():
            worth = reward + float(network(encode([after]))[0])
        if most is None or worth > most:
            best, most = action, worth
    return best


RIGHT = [encode, targets, step, choose]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_a_right_answer_passes(function):
    result = labs.check(f"hw09.{function.__name__}", function)
    assert result.passed and not result.stood_in


WRONG = [
    ("encode", ("planes.permute(0, 3, 1, 2)", "planes"), "channels_last"),
    ("targets", ("with torch.no_grad():", "if True:"), "gradient"),
    ("targets", hw09.careless_targets, "gradient"),
    ("step", ("loss.item()", "loss"), "tensor"),
]


@pytest.mark.parametrize("name, wrong, key", WRONG)
def test_a_wrong_answer_gets_its_hint(name, wrong, key):
    handins.said("hw09", name, wrong, key)


def test_what_torch_cannot_use_is_named():
    for new, told in (("", "float32"), (".float().numpy()", "returned a ndarray")):
        assert told in handins.check_changed("hw09.encode", (".float()", new)).reason


def test_without_torch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr(Exercise, "missing", ["torch"])
    line = "hw09 needs torch, which is not installed: " + advice("torch")
    assert labs.check("hw09.encode", encode).reason == line
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
    values = lambda boards: np.array(hw09._values(network, boards))  # noqa: E731
    legal = afterstates(board)
    worth = values([after for _, after, _ in legal]) + [reward for *_, reward in legal]
    assert hw09.choose(network, board) == legal[int(np.argmax(worth))][0]
