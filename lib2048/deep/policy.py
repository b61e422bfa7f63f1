"""Policy networks: from a board to the probabilities of its four actions (Amar & Dedieu 2017).

Illegal actions are left out before the softmax, so that what remains sums to 1 by itself.
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from lib2048.deep.architectures import weight_count
from lib2048.deep.modules import check_kind, check_module, check_name
from lib2048.deep.moves import StepPlayer, draw_actions, legal_actions, luck_of
from lib2048.game.batch import CELLS, KINDS, as_boards, one_hot
from lib2048.game.board import WHOLE
from lib2048.networks.neural import POLICY

ACTIONS = 4
HIDDEN = (200, 100)  # units of the two hidden layers
AT_ONCE = 8192  # boards of one call


def make_policy(seed=0, hidden=HIDDEN, outputs=ACTIONS):
    """Return a new policy network as a torch module: float (n, 256) → (n, 4) logits.

    A board is encoded as 16 cells of 16 kinds, see `one_hot`; two hidden layers with ReLU, three
    matrices of weights and no biases, as in the source (section 3.1), which does not say how they
    begin: here as torch begins a linear layer.  seed: any int; hidden: units of hidden layers.
    """
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(int(seed) % (1 << 63))
        sizes = [CELLS * KINDS, *hidden, outputs]
        layers = [[nn.Linear(a, b, bias=False), nn.ReLU()] for a, b in zip(sizes, sizes[1:])]
    return nn.Sequential(*[layer for pair in layers for layer in pair][:-1])


def new_policy_network(seed=0, hidden=HIDDEN, game=WHOLE):
    """Return a new `PolicyNetwork`, its weights drawn by a seed; see `make_policy`."""
    return PolicyNetwork(make_policy(seed, hidden), game=game)


def encode(boards):
    """Encode boards, uint64[n], as a float32 tensor (n, 256)."""
    return torch.from_numpy(one_hot(boards).reshape(-1, CELLS * KINDS)).float()


class PolicyNetwork:
    """A network that says how likely each action of a board should be.

    Args:
        module: a torch module from float (n, 256) to (n, 4) logits.
        name: what it is called.
        game: the board's size.

    Raises:
        ValueError: for a module that is no such network.
    """

    def __init__(self, module, name=POLICY, game=WHOLE):
        check_name(name)
        check_kind(module, name)
        module = module.to("cpu")
        check_module(module, lambda boards: module(encode(boards)), name, ACTIONS)
        self.module, self.name, self.game = module, name, game

    def arguments(self):
        """Return what decides it beside its weights, by name; see `neural.Outline`."""
        return {"name": self.name}

    @property
    def size(self):
        """The number of weights."""
        return weight_count(self.module)

    def encode(self, boards):
        """Encode boards, uint64[n], as a float32 tensor (n, 256)."""
        return encode(boards)

    def logits(self, boards, legal=None):
        """Return the logits of boards as a tensor (n, 4) through which gradients flow.

        That of an illegal action is −∞, so that its probability is 0 and its gradient too.

        Args:
            boards: uint64[n].
            legal: bool[n, 4], which is found out where it is None.
        """
        legal = legal_actions(boards, self.game) if legal is None else np.asarray(legal)
        return self.module(self.encode(boards)).masked_fill(torch.from_numpy(~legal), -torch.inf)

    def distribution(self, boards):
        """Return the `Categorical` of boards on each of which an action is legal: uint64[n]."""
        return Categorical(logits=self.logits(boards), validate_args=False)

    @torch.inference_mode()
    def probabilities(self, boards, legal=None):
        """Return the probabilities of the actions: uint64[n] → float[n, 4].

        Those of illegal actions are exactly 0, and the others of a board sum to 1.  A board on
        which the game is over has four zeros.
        """
        boards = as_boards(boards)
        legal = legal_actions(boards, self.game) if legal is None else legal
        found = in_parts(lambda *part: self.logits(*part).softmax(1).numpy(), boards, legal)
        return np.where(legal.any(axis=1, keepdims=True), found, 0)

    def player(self, depth=1, seconds=None, explore=False, seed=0):
        """Return the player that takes the most likely action, or, to explore, a drawn one.

        Raises:
            ValueError: for a depth or a time: what looks ahead by a policy is `MCTS`.
        """
        if depth != 1 or seconds is not None:
            raise ValueError(
                f"{self.name}: a policy network says no values to search over; "
                "leave the depth or time out, or see deep.mcts"
            )
        return ProbabilityPlayer(self.probabilities, explore, self.name, self.game, seed)

    def __repr__(self):
        return f"<network {self.name}: {self.size:,} weights>"


class ProbabilityPlayer(StepPlayer):
    """A player by probabilities: the most likely action, or one drawn by them.

    probabilities: a function from (boards uint64[n], legal bool[n, 4]) to float[n, 4], such as
    `PolicyNetwork.probabilities`; explore: whether to draw; seed: of what `choose` draws.  The luck
    of game n, that of its draws included, is a function of (seed, n); how many games are played at
    once changes a network's probabilities by rounding only.
    """

    def __init__(self, probabilities, explore=False, name=POLICY, game=WHOLE, seed=0):
        super().__init__(name + (", drawn" if explore else ""), game, seed)
        self.probabilities, self.explore = probabilities, explore

    def pick(self, boards, legal, *luck):
        """Return the action on each board: int64[n]; see `StepPlayer.pick`."""
        found = self.probabilities(boards, legal)
        return draw_actions(found, luck_of(*luck)) if self.explore else found.argmax(axis=1)


def distance_to_certainty(probabilities):
    """Return d(p) = 1 − p_u + Σ_{i≠u} p_i, u the most likely action: float[n, 4] → float[n].

    The source's measure (section 3.3.2) of how far a network is from knowing what to do: 0 when
    it is sure, 1.5 when four actions are equally likely, and 1 for two.
    """
    most = probabilities.max(axis=1)
    return 1 - most + (probabilities.sum(axis=1) - most)


def in_parts(ask, *arrays):
    """Return what is asked of arrays of equal length, AT_ONCE rows at a time, as one array."""
    starts = range(0, len(arrays[0]) or 1, AT_ONCE)
    return np.concatenate([ask(*(array[at : at + AT_ONCE] for array in arrays)) for at in starts])
