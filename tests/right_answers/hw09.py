"""hw09: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import contextlib
import functools

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lib2048 import afterstates, slide, to_exponents

PLANES = torch.arange(16)
SHIFTS = np.arange(16, dtype=np.uint64) * np.uint64(4)

# ---- encode


def encode__loops(boards):
    planes = torch.zeros(len(boards), 16, 4, 4)
    for n, board in enumerate(boards):
        for cell, exponent in enumerate(to_exponents(board)):
            planes[n, int(exponent), cell // 4, cell % 4] = 1.0
    return planes


def encode__one_hot(boards):
    exponents = torch.tensor(np.stack([to_exponents(b) for b in boards]).astype(np.int64))
    return F.one_hot(exponents, num_classes=16).transpose(1, 2).reshape(-1, 16, 4, 4).to(torch.float32)


def encode__bits(boards):
    exponents = (np.asarray(boards)[:, None] >> SHIFTS) & np.uint64(15)
    planes = exponents[:, None, :] == np.arange(16, dtype=np.uint64)[None, :, None]
    return torch.from_numpy(planes.reshape(-1, 16, 4, 4).astype(np.float32))


def encode__compare(boards):
    e = torch.stack([torch.as_tensor(to_exponents(b).astype("int64")).view(4, 4) for b in boards])
    return (e.unsqueeze(1) == PLANES.view(1, 16, 1, 1)).float()


def encode__scatter(boards):
    boards = [int(board) for board in boards]
    cells = torch.tensor([[board >> 4 * cell & 15 for cell in range(16)] for board in boards])
    planes = torch.zeros(len(boards), 16, 16).scatter_(1, cells[:, None], 1)
    return planes.view(len(boards), 16, 4, 4)


class Encoder(nn.Module):
    """A module with nothing to learn."""

    def __init__(self):
        super().__init__()
        self.register_buffer("eye", torch.eye(16))

    def forward(self, boards):
        numbers = np.array([to_exponents(board) for board in boards], dtype=np.int64)
        return self.eye[torch.from_numpy(numbers)].permute(0, 2, 1).reshape(-1, 16, 4, 4)


ENCODER = Encoder()


def encode__module(boards):
    return ENCODER(boards)


def encode(boards):
    return encode__compare(boards)


# ---- targets


def targets__no_grad(network, batch):
    with torch.no_grad():
        values = network(encode(batch.next_afterstates))
    rewards = torch.from_numpy(batch.next_rewards)
    result = rewards + values
    result[torch.from_numpy(batch.over)] = 0
    return result


@torch.no_grad()
def targets__decorated(network, batch):
    alive = torch.tensor(~batch.over).float()
    return alive * (torch.tensor(batch.next_rewards) + network(encode(batch.next_afterstates)))


def targets__detach(network, batch):
    value = network(encode(batch.next_afterstates)).detach()
    return (torch.as_tensor(batch.next_rewards) + value).masked_fill(torch.as_tensor(batch.over), 0.0)


def targets__numpy(network, batch):
    after = network(encode(batch.next_afterstates)).detach().numpy()
    return torch.tensor(np.where(batch.over, 0, batch.next_rewards + after), dtype=torch.float32)


def targets__loop(network, batch):
    torch.set_grad_enabled(False)
    found = []
    for n in range(len(batch)):
        if batch.over[n]:
            found.append(torch.tensor(0.0))
            continue
        value = network(encode(batch.next_afterstates[n : n + 1]))
        found.append(float(batch.next_rewards[n]) + value[0])
    torch.set_grad_enabled(True)
    return torch.stack(found)


def targets__only_where_it_goes_on(network, batch):
    found = torch.zeros(len(batch))
    on = np.flatnonzero(~batch.over)
    with torch.inference_mode():
        values = network(encode(batch.next_afterstates[on])).tolist()
    for i, value in zip(on, values):
        found[i] = float(batch.next_rewards[i]) + value
    return found


# ---- step


def step__plain(network, optimiser, planes, target):
    optimiser.zero_grad()
    prediction = network(planes)
    loss = ((prediction - target) ** 2).mean()
    loss.backward()
    optimiser.step()
    return loss.item()


LOSS = nn.MSELoss()


def step__loss_module(network, optimiser, planes, target):
    network.train()
    loss = LOSS(network(planes).squeeze(), target)
    for parameter in network.parameters():
        parameter.grad = None
    loss.backward()
    optimiser.step()
    return float(loss.detach())


@contextlib.contextmanager
def learning(optimiser):
    optimiser.zero_grad(set_to_none=False)
    yield
    optimiser.step()


def step__context(network, optimiser, planes, target):
    with learning(optimiser):
        error = network(planes) - target
        loss = torch.mean(error * error)
        loss.backward()
    return loss.data.tolist()


def step__closure(network, optimiser, planes, target):
    def closure():
        optimiser.zero_grad()
        loss = F.mse_loss(network(planes).flatten(), target.flatten())
        loss.backward()
        return loss

    return optimiser.step(closure).item()


def step__numpy_number(network, optimiser, planes, target):
    def loss():
        network.zero_grad(set_to_none=False)
        error = nn.MSELoss()(network.forward(planes), target)
        error.backward()
        return error

    return optimiser.step(loss).detach().numpy()[()]


def step__own_gradients(network, optimiser, planes, target):
    error = torch.mean(torch.square(torch.sub(target, network(planes))))
    weights = [*network.parameters()]
    for weight, gradient in zip(weights, torch.autograd.grad(error, weights)):
        weight.grad = gradient
    optimiser.step()
    return error.item()


# ---- choose


@torch.no_grad()
def choose__decorated(network, board):
    options = afterstates(board)
    if not options:
        return None
    values = network(encode(np.array([after for _, after, _ in options], np.uint64)))
    rewards = torch.tensor([float(reward) for _, _, reward in options])
    return options[int((rewards + values).argmax())][0]


def choose__loop(network, board):
    boards, actions, rewards = [], [], []
    for action in range(4):
        after, reward = slide(board, action)
        if after != board:
            boards.append(after)
            actions.append(action)
            rewards.append(reward)
    if len(actions) == 0:
        return None
    with torch.no_grad():
        values = network(encode(np.array(boards))).numpy()
    best = 0
    for i in range(1, len(actions)):
        if rewards[i] + values[i] > rewards[best] + values[best]:
            best = i
    return actions[best]


def without_gradients(function):
    """What torch.no_grad does, by hand."""

    @functools.wraps(function)
    def around(*args):
        with torch.inference_mode():
            return function(*args)

    return around


@without_gradients
def choose__own_decorator(network, board):
    legal = afterstates(board)
    if legal:
        worth = network(encode([after for _, after, _ in legal])).tolist()
        ranked = sorted(zip(worth, legal), key=lambda pair: pair[0] + pair[1][2])
        return ranked[-1][1][0]


def choose__max(network, board):
    options = afterstates(board)
    with torch.no_grad():
        values = network(encode(np.array([o[1] for o in options]))) if options else ()
    worth = {a: float(r + v) for (a, _, r), v in zip(options, values)}
    return max(worth, key=worth.__getitem__) if worth else None


def choose__gradients_left_off(network, board):
    torch.set_grad_enabled(False)
    moved = {a: (after, paid) for a, after, paid in reversed(afterstates(board))}
    if not moved:
        return None
    values = network(encode([after for after, _ in moved.values()]))
    return sorted(moved, key=lambda a: moved[a][1] + float(values[list(moved).index(a)]))[-1]
