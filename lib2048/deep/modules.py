"""A torch module of one's own, tried when it is taken: what it answers, and whether it learns."""

import numpy as np
import torch
from torch import nn

from lib2048.machine.terminal import in_short, one_line

BATCHES = (1, 2, 7)  # boards


def check_name(name):
    """Raise ValueError, in one line, for a name that cannot be shown in one."""
    if not (isinstance(name, str) and name and name.isprintable()):
        raise ValueError(f"a network's name {name!r}: use letters that can be seen, in one line")


def check_kind(module, name):
    """Raise ValueError, in one line, for what is no torch module, or has no weights to learn."""
    if not isinstance(module, nn.Module):
        raise ValueError(f"network {name}: a torch module is needed, not {in_short(module)}")
    weights = dict(module.named_parameters())
    if not any(weight.requires_grad for weight in weights.values()):
        raise ValueError(f"network {name} has no weights that could learn")
    devices = sorted({str(weight.device) for weight in weights.values()})
    if len(devices) > 1 or devices == ["meta"]:
        raise ValueError(
            f"network {name}: its weights lie on {' and '.join(devices)}: use one, cpu"
        )
    for key, weight in weights.items():
        if weight.dtype != torch.float32:
            raise ValueError(f"network {name}: weights {key} are {weight.dtype}: use float32")


def check_module(module, ask, name, outputs=None):
    """Try a module on a few boards; it stays as it is.

    Args:
        module: a torch module.
        ask: a function from boards, uint64[n], to what the module answers.
        name: of its network.
        outputs: numbers of each board in its answer, None for one number a board in any shape.

    Raises:
        ValueError: in one line, for one that is no network of this kind, or cannot learn.
    """
    kept, luck = [(buffer, buffer.clone()) for buffer in module.buffers()], np.random.default_rng(1)
    try:
        with torch.random.fork_rng(devices=()), torch.enable_grad():
            for count in BATCHES:
                boards = luck.integers(1 << 63, size=count, dtype=np.uint64)
                found = _answer(ask, boards, f"network {name}", outputs)
            _check_learns(module, found, f"network {name}")
    finally:
        with torch.no_grad():
            for buffer, before in kept:
                buffer.copy_(before)


def _answer(ask, boards, name, outputs):
    """Return what a module answers; raise ValueError where it does not fit."""
    count = len(boards)
    try:
        found = ask(boards)
    except Exception as error:
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ValueError(f"{name} fails on {count} boards: {one_line(why)}") from None
    if not isinstance(found, torch.Tensor):
        raise ValueError(f"{name} returns {type(found).__name__}, not a tensor")
    fits = found.numel() == count if outputs is None else found.shape == (count, outputs)
    if not fits:
        what = "one number" if outputs is None else f"{outputs} numbers"
        shape = tuple(found.shape)
        raise ValueError(f"{name}: {what} a board is needed; {count} boards gave shape {shape}")
    if not found.is_floating_point() or not bool(found.isfinite().all()):
        raise ValueError(f"{name}: its answers must be finite numbers of a float type")
    return found.reshape(count, -1).float()


def _check_learns(module, found, name):
    """Raise ValueError where gradients do not reach all weights, or do not depend on the board."""
    learn = {key: weight for key, weight in module.named_parameters() if weight.requires_grad}
    one, other = ([None] * len(learn),) * 2
    if found.requires_grad:
        ask = {"inputs": list(learn.values()), "retain_graph": True, "allow_unused": True}
        one, other = (torch.autograd.grad(row.sum(), **ask) for row in found[:2])
    for key, gradient in zip(learn, one, strict=True):
        if gradient is None:
            raise ValueError(f"{name}: no gradient reaches its weights {key}")
    if torch.equal(found[0], found[1]) and all(map(torch.equal, one, other)):
        raise ValueError(f"{name}: its answer does not depend on the board")
