"""Policy networks: from a board to the probabilities of its four actions (Amar & Dedieu 2017).

Illegal actions are left out before the softmax, so that what remains sums to 1 by itself.
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from lib2048.deep.moves import draw_actions, luck_of
from lib2048.game.batch import CELLS, KINDS, one_hot, options
from lib2048.game.board import WHOLE
from lib2048.learn.lockstep import play_in_step
from lib2048.play.players import new_stop

ACTIONS = 4
HIDDEN = (200, 100)  # units of the two hidden layers
NAME = "policy"
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


class PolicyNetwork:
    """A network that says how likely each action of a board should be.

    Args:
        module: a torch module from float (n, 256) to (n, 4) logits.
        name: what it is called.
        game: the board's size.
    """

    def __init__(self, module, name=NAME, game=WHOLE):
        self.module, self.name, self.game = module, name, game

    def arguments(self):
        """Return what decides it beside its weights, by name; see `neural.Outline`."""
        return {"name": self.name}

    @property
    def size(self):
        """The number of weights."""
        return sum(weights.numel() for weights in self.module.parameters())

    def encode(self, boards):
        """Encode boards, uint64[n], as a tensor (n, 256) of the module's type."""
        weights = next(self.module.parameters())
        return torch.from_numpy(one_hot(boards).reshape(-1, CELLS * KINDS)).to(weights)

    def logits(self, boards, legal):
        """Return the logits of boards as a tensor (n, 4) through which gradients flow.

        That of an illegal action is −∞, so that its probability is 0 and its gradient too.

        Args:
            boards: uint64[n].
            legal: bool[n, 4].
        """
        illegal = torch.from_numpy(~np.asarray(legal))
        return self.module(self.encode(boards)).masked_fill(illegal, -torch.inf)

    def distribution(self, boards):
        """Return the `Categorical` of boards on each of which an action is legal: uint64[n]."""
        legal = np.isfinite(options(boards, self.game)[1])
        return Categorical(logits=self.logits(boards, legal), validate_args=False)

    def probabilities(self, boards):
        """Return the probabilities of the actions: uint64[n] → float[n, 4].

        Those of illegal actions are exactly 0, and the others of a board sum to 1.  A board on
        which the game is over has four zeros.
        """
        boards = np.asarray(boards, np.uint64).reshape(-1)
        return self.masked(boards, np.isfinite(options(boards, self.game)[1]))

    @torch.inference_mode()
    def masked(self, boards, legal):
        """Return `probabilities` where it is known which actions are legal: bool[n, 4]."""
        found = [np.zeros((0, ACTIONS), np.float32)]
        for at in range(0, len(boards), AT_ONCE):
            part = slice(at, at + AT_ONCE)
            found.append(self.logits(boards[part], legal[part]).softmax(1).numpy())
        return np.where(legal.any(axis=1, keepdims=True), np.concatenate(found), 0)

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
        return ProbabilityPlayer(self.masked, explore, self.name, self.game, seed)

    def __repr__(self):
        return f"<network {self.name}: {self.size:,} weights>"


class ProbabilityPlayer:
    """A player by probabilities: the most likely action, or one drawn by them.

    masked: a function from (boards uint64[n], legal bool[n, 4]) to float[n, 4], like
    `PolicyNetwork.masked`; explore: whether to draw.  The luck of game n, that of its draws
    included, is a function of (seed, n); how many games are played at once changes a network's
    probabilities by rounding only.  seed: of what `choose` draws.
    """

    def __init__(self, masked, explore=False, name=NAME, game=WHOLE, seed=0):
        self.masked, self.explore, self.game = masked, explore, game
        self.name = name + (", drawn" if explore else "")
        self._seed, self._asked, self.stop = seed, 0, new_stop()

    def choose(self, board):
        """Return the action (0..3) on a board, or None when none is legal."""
        boards = np.array([board], np.uint64)
        legal = np.isfinite(options(boards, self.game)[1])
        if not legal.any():
            return None
        self._asked += 1
        return int(self._pick(boards, legal, self._seed, np.array([-1]), [self._asked])[0])

    def decide_all(self, games, seed):
        """Return the action of each place of a `Lockstep`: int64[count]."""
        live = games.live
        places, actions = games.places[live], np.zeros(len(live), np.int64)
        actions[live] = self._pick(
            places["board"],
            np.isfinite(games.rewards[live]),
            seed,
            places["number"],
            places["length"],
        )
        return actions

    def _pick(self, boards, legal, seed, numbers, turns):
        probabilities = self.masked(boards, legal)
        if self.explore:
            return draw_actions(probabilities, luck_of(seed, numbers, turns))
        return probabilities.argmax(axis=1)

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        return play_in_step(
            lambda games: self.decide_all(games, seed),
            first_game,
            count,
            seed,
            self.game,
            stop=self.stop,
        )

    def __repr__(self):
        return f"<player {self.name}>"


# ---------------------------------------------------------------- how sure it is


def distance_to_certainty(probabilities):
    """Return d(p) = 1 − p_u + Σ_{i≠u} p_i, u the most likely action: float[n, 4] → float[n].

    The source's measure (section 3.3.2) of how far a network is from knowing what to do: 0 when
    it is sure, 1.5 when four actions are equally likely, and 1 for two.
    """
    most = probabilities.max(axis=1)
    return 1 - most + (probabilities.sum(axis=1) - most)
