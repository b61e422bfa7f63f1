"""hw09 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import inspect
import sys

import handins
import numpy as np
import pytest

from lib2048 import afterstates
from lib2048.course import labs
from lib2048.course.labs import checks, hw09
from lib2048.course.labs.exercise import Exercise, find, of_lab
from lib2048.course.labs.hw09.selfplay import SelfPlay
from lib2048.course.labs.messages import say
from lib2048.machine.extras import advice

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


RIGHT = """
def encode(boards):
    planes = torch.zeros(len(boards), 16, 4, 4)
    for i, board in enumerate(boards):
        for cell, exponent in enumerate(to_exponents(board)):
            planes[i, int(exponent), cell // 4, cell % 4] = 1
    return planes

def encode(boards):
    cells = np.stack([to_exponents(board).reshape(4, 4) for board in boards])
    return torch.from_numpy((cells[:, None] == np.arange(16)[:, None, None]).astype(np.float32))

def encode(boards):
    boards = [int(board) for board in boards]
    cells = torch.tensor([[board >> 4 * cell & 15 for cell in range(16)] for board in boards])
    planes = torch.zeros(len(boards), 16, 16).scatter_(1, cells[:, None], 1)
    return planes.view(len(boards), 16, 4, 4)

def encode(boards):
    shifts = np.arange(0, 64, 4, dtype=np.uint64)
    cells = (np.array(boards, np.uint64)[:, None] >> shifts) & np.uint64(15)
    return torch.eye(16)[cells.astype(np.int64)].permute(0, 2, 1).unflatten(2, (4, 4))

def targets(network, batch):
    values = network(encode(batch.next_afterstates)).detach()
    values += torch.from_numpy(batch.next_rewards)
    values[torch.from_numpy(batch.over)] = 0
    return values

@torch.no_grad()
def targets(network, batch):
    values = network(encode(batch.next_afterstates)).numpy()
    return torch.tensor((batch.next_rewards + values) * ~batch.over)

def targets(network, batch):
    found = torch.zeros(len(batch))
    on = np.flatnonzero(~batch.over)
    with torch.inference_mode():
        values = network(encode(batch.next_afterstates[on])).tolist()
    for i, value in zip(on, values):
        found[i] = float(batch.next_rewards[i]) + value
    return found

def step(network, optimiser, planes, target):
    optimiser.zero_grad()
    error = ((network(planes) - target) ** 2).mean()
    error.backward()
    optimiser.step()
    return float(error)

def step(network, optimiser, planes, target):
    def loss():
        network.zero_grad(set_to_none=False)
        error = torch.nn.MSELoss()(network.forward(planes), target)
        error.backward()
        return error
    return optimiser.step(loss).detach().numpy()[()]

def step(network, optimiser, planes, target):
    error = torch.mean(torch.square(torch.sub(target, network(planes))))
    for weight, gradient in zip(network.parameters(),
                                torch.autograd.grad(error, [*network.parameters()])):
        weight.grad = gradient
    optimiser.step()
    return error.item()

def choose(network, board):
    legal = afterstates(board)
    if len(legal) == 0:
        return
    actions, boards, rewards = zip(*legal)
    with torch.inference_mode():
        worth = torch.tensor(rewards) + network(encode(list(boards)))
    return actions[int(worth.argmax())]

@torch.no_grad()
def choose(network, board):
    if legal := afterstates(board):
        values = network.forward(encode(np.array([after for _, after, _ in legal], np.uint64)))
        worths = np.array([reward for *_, reward in legal]) + values.numpy()
        return max(zip(worths, [action for action, *_ in legal]))[1]
    return None

def choose(network, board):
    torch.set_grad_enabled(False)
    moved = {a: (after, paid) for a, after, paid in reversed(afterstates(board))}
    if not moved:
        return None
    values = network(encode([after for after, _ in moved.values()]))
    return sorted(moved, key=lambda a: moved[a][1] + float(values[list(moved).index(a)]))[-1]
"""
HEAD = """
import numpy as np, torch
from lib2048 import afterstates, to_exponents
from lib2048.course.labs.hw09 import encode
"""


def check(text):
    """Check an answer; what it calls and does not hold is the library's."""
    name = text.partition("def ")[2].partition("(")[0]
    return checks.check_text(
        find(f"hw09.{name}"), f'{HEAD}{text}\nFUNCTIONS = {{"function": {name}}}', None, 2048
    )


@pytest.mark.parametrize("text", RIGHT.split("\n\n"), ids=lambda text: text.partition("(")[0])
def test_right_answers_pass_whatever_their_style(text):
    result = check(text)
    assert result.passed, result


def test_a_strange_answer_is_wrong_and_no_fault_of_the_check():
    strange = "None nan 'AB' [[1],[2]] torch.ones(2,3) torch.ones(2).to_sparse() np.ones(3)"
    strange += " torch.full((3,),nan) Same(2)"
    same = "from math import nan\nclass Same(float):\n    __eq__ = lambda *_: True\n"
    same += "    __hash__ = float.__hash__\n    __repr__ = lambda self: 1 / 0\n"
    for exercise in of_lab("hw09").values():
        for answer in strange.split():
            result = check(f"{same}def {exercise.call}:\n    return {answer}\n")
            assert result.status == "failed", (exercise.name, answer)
            assert "fault of the check" not in result.reason, (exercise.name, answer)


WRONG = [  # whose message has words, or which raise in the student's line
    ("targets", hw09.careless_targets, "gradient"),
    ("step", ("loss.item()", "[loss.item()]"), "no_number"),
    ("targets", ("0.0, after)", "0.0, after).double()"), "dtype"),
]


@pytest.mark.parametrize("name, wrong, key", WRONG)
def test_a_wrong_answer_gets_its_hint(name, wrong, key):
    handins.said("hw09", name, wrong, key)


def test_an_error_in_a_dead_end_is_told_its_cause():
    text = inspect.getsource(hw09.choose).replace("        return None", "        return max([])")
    assert check(text).reason == say("hw09.choose.dead_end")


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
