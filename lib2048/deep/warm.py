"""A warm start: a policy network that first learns to do what another player did."""

import numpy as np
import torch
from torch.nn import functional

from lib2048.deep.moves import legal_actions
from lib2048.deep.policy import AT_ONCE, PolicyNetwork
from lib2048.game.rng import seed_bits
from lib2048.machine.terminal import in_short

HELD_BACK = 0.1  # of the moves, from the end: the network is measured on them, and learns the rest


def warm_start(network, moves, epochs=3, batch=256, learning_rate=1e-3, seed=1):
    """Teach a policy network the moves of recorded games by cross-entropy, with Adam.

    Illegal actions are left out, as in play.

    Args:
        network: `PolicyNetwork`, changed in place.
        moves: `Moves`, or (boards, actions), uint64[n] and int[n]; the last tenth is held back.
        epochs: passes over the others, shuffled.
        batch: moves of a step.

    Returns:
        list of dicts: a row before the first epoch and one after each: epoch, loss (in nats) and
        agreement, the share of moves that are its most likely action, on what is held back.

    Raises:
        ValueError: for moves that are not legal, or too few, or bad numbers.
    """
    if not isinstance(network, PolicyNetwork):
        raise ValueError(f"a warm start takes a policy network, not {in_short(network)}")
    boards, actions = _checked(network, *moves[:2])
    if epochs < 0 or batch < 1 or not 0 < learning_rate <= 1:
        raise ValueError(
            f"epochs {epochs}, batch {batch}, learning_rate {learning_rate}: "
            "use 0, 1 and a rate up to 1, or more"
        )
    known = len(boards) - max(1, int(HELD_BACK * len(boards)))
    held = boards[known:], actions[known:]
    optimiser = torch.optim.Adam(network.module.parameters(), learning_rate)
    rows = [{"epoch": 0} | _measured(network, *held)]
    for epoch in range(1, epochs + 1):
        order = np.random.default_rng([int(seed_bits(seed)), epoch]).permutation(known)
        for at in range(0, known, batch):
            part = order[at : at + batch]
            optimiser.zero_grad()
            _loss(network, boards[part], actions[part]).backward()
            optimiser.step()
        rows.append({"epoch": epoch} | _measured(network, *held))
    return rows


def _loss(network, boards, actions, reduction="mean"):
    taken = torch.from_numpy(actions)
    return functional.cross_entropy(network.logits(boards), taken, reduction=reduction)


@torch.inference_mode()
def _measured(network, boards, actions):
    loss, agreed = 0.0, 0
    for at in range(0, len(boards), AT_ONCE):
        part = slice(at, at + AT_ONCE)
        loss += float(_loss(network, boards[part], actions[part], "sum"))
        agreed += int((network.probabilities(boards[part]).argmax(1) == actions[part]).sum())
    return {"loss": loss / len(boards), "agreement": agreed / len(boards)}


def _checked(network, boards, actions):
    """Return moves as arrays; raise ValueError for what nobody can have played."""
    boards, actions = np.asarray(boards, np.uint64), np.asarray(actions, np.int64)
    if boards.ndim != 1 or boards.shape != actions.shape or len(boards) < 2:
        raise ValueError(
            f"{boards.shape} boards and {actions.shape} actions: use two or more, as many of each"
        )
    if not ((0 <= actions) & (actions < 4)).all():
        raise ValueError("an action is 0 Up, 1 Right, 2 Down or 3 Left")
    if not legal_actions(boards, network.game)[np.arange(len(boards)), actions].all():
        raise ValueError("these moves hold an action that is not legal on its board")
    return boards, actions
