"""Many games in step, for a value function that wants to be asked about many boards at once."""

from dataclasses import dataclass

import numpy as np

from lib2048.learn.lockstep import Lockstep


@dataclass(frozen=True, eq=False)
class Batch:
    """One turn of many games: what came after an afterstate s′ₜ.

    afterstates: uint64[n], s′ₜ; rewards: float32[n], rₜ, what the action before s′ₜ paid; states:
    uint64[n], sₜ₊₁, after the spawn; next_rewards: float32[n], rₜ₊₁; next_afterstates: uint64[n],
    s′ₜ₊₁; over: bool[n], whether no action was legal on sₜ₊₁; then the last two are 0.
    """

    afterstates: np.ndarray
    rewards: np.ndarray
    states: np.ndarray
    next_rewards: np.ndarray
    next_afterstates: np.ndarray
    over: np.ndarray

    @classmethod
    def of(cls, turns):
        """Make a batch of tuples (s′ₜ, rₜ, sₜ₊₁, rₜ₊₁, s′ₜ₊₁, over)."""
        kinds = (np.uint64, np.float32, np.uint64, np.float32, np.uint64, np.bool_)
        return cls(*map(np.array, zip(*turns), kinds))

    def __len__(self):
        return len(self.over)

    def __repr__(self):
        paid = f"rewards {self.rewards.tolist()}, next_rewards {self.next_rewards.tolist()}"
        return f"<{len(self)} turns: {paid}, over {self.over.tolist()}>"


class SelfPlay:
    """Games that are played in step by the largest reward + value; an ended one is followed by
    the next.

    values: a function from afterstates, uint64[n], to n numbers, asked once a turn; games: how
    many at once; game n of all has the luck of (seed, n).  `scores`: of the games that are over;
    `actions`: so far.
    """

    def __init__(self, values, games=64, seed=0):
        self.values, self.scores = values, []
        self._games, self._paid = Lockstep(games, seed), np.zeros(games, np.float32)

    @property
    def actions(self):
        """The number of actions so far."""
        return self._games.actions

    def batches(self, actions):
        """Play so many more actions, to the end of a turn, and yield a `Batch` a turn."""
        end = self.actions + actions
        while self.actions < end:
            batch = self._turn()
            if len(batch):
                yield batch

    def _turn(self):
        """Play one action in each game; return the turns that are known now."""
        games = self._games
        actions = games.worths(self.values).argmax(axis=1)
        chosen = np.arange(len(actions)), actions
        batch = self._known(games.rewards[chosen], games.afterstates[chosen])
        self._paid = games.rewards[chosen].copy()
        self.scores += games.act(actions)[:, 1].tolist()
        return batch

    def _known(self, rewards, afterstates):
        """Return the turns of the games that go on, then of those that ended in the last turn."""
        places = self._games.places
        on, over = np.flatnonzero(places["last"]), np.flatnonzero(places["final"])
        nothing, both = np.zeros(len(over)), np.concatenate([on, over])
        return Batch(
            np.concatenate([places["last"][on], places["final"][over]]),
            self._paid[both],
            np.concatenate([places["board"][on], places["lost"][over]]),
            np.concatenate([rewards[on], nothing.astype(np.float32)]),
            np.concatenate([afterstates[on], nothing.astype(np.uint64)]),
            np.repeat([False, True], [len(on), len(over)]),
        )
