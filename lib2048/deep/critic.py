"""A critic: a second network that learns what a state is worth to the policy, so that an action
is judged by what it changed and not by all the luck that came after it.  Beyond the source.
"""

import numpy as np
import torch
from torch import nn

from lib2048.deep import files
from lib2048.deep.policy import AT_ONCE, make_policy
from lib2048.game.batch import CELLS, KINDS, one_hot
from lib2048.game.rng import stream
from lib2048.machine.arrays import Part

POINTS = 100.0  # of one unit of the network's answer
BATCH = 1024  # states of one step
RATE = 1e-3
NAME = "critic"


class Critic:
    """The values of states, learned beside a policy.

    hidden: units of its hidden layers; seed: of its weights and of the order in which it learns;
    discount, lam: γ and λ of `advantages`.
    """

    name = NAME

    def __init__(self, hidden, seed, discount, lam):
        self.module = make_policy(seed, hidden, outputs=1)
        self.optimiser = torch.optim.Adam(self.module.parameters(), RATE)
        self.seed, self.discount, self.lam, self.fitted = seed, discount, lam, 0

    @torch.inference_mode()
    def values(self, boards):
        """Return the values of states: uint64[n] → float32[n], in units of POINTS."""
        parts = [boards[at : at + AT_ONCE] for at in range(0, len(boards), AT_ONCE)]
        return np.concatenate([np.zeros(0, np.float32), *[self._ask(x).numpy() for x in parts]])

    def _ask(self, boards):
        planes = torch.from_numpy(one_hot(boards).reshape(-1, CELLS * KINDS))
        return self.module(planes.float())[:, 0]

    def learn(self, boards, rewards, live, look=lambda: None):
        """Judge the moves of a batch of games, and learn from them.

        boards: uint64[turns, games]; rewards: float32; live: bool, of the same shape; look: is
        called between two steps, and may raise.  Returns the advantage of each move:
        float64[turns, games].
        """
        values = np.zeros(live.shape)
        values[live] = self.values(boards[live])
        found = advantages(
            np.where(live, rewards, 0) / POINTS, values, live, self.discount, self.lam
        )
        self._fit(boards[live], (values + found)[live], look)
        return found

    def _fit(self, boards, targets, look):
        """Go once over all states, in a shuffled order."""
        shuffle = np.random.default_rng(int(stream(self.seed, -1 - self.fitted)))
        self.fitted += 1
        for part in np.array_split(shuffle.permutation(len(boards)), -(-len(boards) // BATCH)):
            look()
            wanted = torch.from_numpy(targets[part].astype(np.float32))
            self.optimiser.zero_grad()
            nn.functional.mse_loss(self._ask(boards[part]), wanted).backward()
            self.optimiser.step()

    def arrays(self):
        """Return all that a resume needs, as a dict of arrays."""
        own = files.network_arrays(self) | files.optimiser_arrays(self.optimiser)
        return {f"{NAME}.{name}": array for name, array in own.items()}

    def check(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `arrays` returns."""
        own = Part(arrays, NAME + ".")
        files.check(self, own, path)
        files.check_optimiser(self.optimiser, own, path)

    def restore(self, arrays, path, fitted):
        """Take up what `arrays` returned after so many batches, and `check` has seen."""
        own = Part(arrays, NAME + ".")
        files.restore(self, own, path)
        files.restore_optimiser(self.optimiser, own)
        self.fitted = fitted


def advantages(rewards, values, live, discount, lam):
    """Return generalised advantages, Σ_k (γλ)^k δ_{t+k} with δ_t = r_t + γ V(s_{t+1}) − V(s_t).

    rewards, values: float64[turns, games], 0 where live, bool of the same shape, says that the
    game was over.  After Schulman et al. (2016); λ = 1 is the discounted return − V.
    """
    found, after, value = np.zeros(rewards.shape), 0.0, 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        after = rewards[turn] + discount * value - values[turn] + discount * lam * after
        after, value = np.where(live[turn], after, 0.0), values[turn]
        found[turn] = after
    return found
