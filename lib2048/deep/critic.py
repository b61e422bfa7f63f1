"""What the moves of a policy count: by what their games returned, or by a critic.

A critic is a second network that learns what a state is worth to the policy, so that an action is
judged by what it changed and not by all the luck that came after it.  Beyond the source.
"""

import numpy as np
import torch
from torch import nn

from lib2048.deep.policy import HIDDEN, encode, in_parts, make_policy
from lib2048.game.rng import stream

POINTS = 100.0  # of one unit of the network's answer
BATCH = 1024  # states of one step
RATE = 1e-3
TINY = 1e-8  # added to a deviation: games that are all equal teach nothing


class Critic:
    """The values of states, learned beside a policy.

    seed: of its weights and of the order in which it learns; discount, lam: γ and λ of
    `advantages`.
    """

    def __init__(self, seed, discount, lam):
        self.module = make_policy(seed, HIDDEN, outputs=1)
        self.optimiser = torch.optim.Adam(self.module.parameters(), RATE)
        self.seed, self.discount, self.lam = seed, discount, lam

    def _ask(self, boards):
        return self.module(encode(boards))[:, 0]

    def learn(self, boards, rewards, live, number=0, look=lambda: None):
        """Judge the moves of a batch of games, and learn from them.

        boards: uint64[turns, games]; rewards: float32; live: bool, of the same shape; number: of
        the batch; look: is called between two steps, and may raise.  Returns the advantage of each
        move: float64[turns, games].
        """
        values = np.zeros(live.shape)
        with torch.inference_mode():
            values[live] = in_parts(lambda part: look() or self._ask(part).numpy(), boards[live])
        paid = np.where(live, rewards, 0) / POINTS
        found = advantages(paid, values, live, self.discount, self.lam)
        self._fit(boards[live], (values + found)[live].astype(np.float32), number, look)
        return found

    def _fit(self, boards, targets, number, look):
        """Go once over all states, in a shuffled order."""
        shuffle = np.random.default_rng(int(stream(self.seed, -1 - number)))
        for part in np.array_split(shuffle.permutation(len(boards)), -(-len(boards) // BATCH)):
            look()
            self.optimiser.zero_grad()
            found = self._ask(boards[part])
            nn.functional.mse_loss(found, torch.from_numpy(targets[part])).backward()
            self.optimiser.step()


def advantages(rewards, values, live, discount, lam):
    """Return generalised advantages, Σ_k (γλ)^k δ_{t+k} with δ_t = r_t + γ V(s_{t+1}) − V(s_t).

    After Schulman et al. (2016); λ = 1 is the discounted return − V.

    Args:
        rewards, values: float64[turns, games], 0 where the game was over.
        live: bool of the same shape, whether it was not.
        discount: γ.
        lam: λ.
    """
    found, after, value = np.zeros(rewards.shape), 0.0, 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        after = rewards[turn] + discount * value - values[turn] + discount * lam * after
        after, value = np.where(live[turn], after, 0.0), values[turn]
        found[turn] = after
    return found


def standardised(returns, live=True):
    """Return returns as distances from their mean over the games, in standard deviations.

    returns: float[games], or float[turns, games] with bool[turns, games] saying which games were
    still going: then each turn has a mean of its own, over those, and all share a deviation.
    """
    live = np.broadcast_to(live, np.shape(returns))
    total = np.sum(returns, axis=-1, where=live, keepdims=True)
    off = np.where(live, returns - total / live.sum(axis=-1, keepdims=True), 0.0)
    return off / (np.sqrt(np.sum(off**2) / live.sum()) + TINY)


def to_go(rewards, discount=1.0):
    """Return the points from each move on, discounted: float[turns, games] → float64.

    A reward of −∞ says that the game was over.
    """
    paid = np.where(np.isfinite(rewards), rewards, 0).astype(np.float64)
    for turn in range(len(paid) - 2, -1, -1):
        paid[turn] += discount * paid[turn + 1]
    return paid
