"""Many games in step, for a value function that wants to be asked about many boards at once."""

from dataclasses import dataclass

import numpy as np

from lib2048.game.board import afterstates, initial, spawn
from lib2048.game.rng import stream


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
        self.values, self.seed, self.begun = values, seed, 0
        self.scores, self.actions = [], 0
        self._games = [self._new() for _ in range(games)]

    def batches(self, actions):
        """Play so many more actions, to the end of a turn, and yield a `Batch` a turn."""
        end = self.actions + actions
        while self.actions < end:
            turns = self._turn()
            if turns:
                yield Batch.of(turns)

    def _new(self):
        board, luck = initial(stream(self.seed, self.begun))
        self.begun += 1
        return {"board": board, "luck": luck, "last": None, "score": 0}

    def _turn(self):
        """Play one action in each game; return the turns that are known now."""
        options = [afterstates(game["board"]) for game in self._games]
        worths, turns = self._worths(options), []
        for place, (game, legal, worth) in enumerate(zip(self._games, options, worths)):
            _, after, reward = legal[int(np.argmax(worth))] if legal else (None, 0, 0)
            if game["last"]:
                turns.append((*game["last"], game["board"], reward, after, not legal))
            if legal:
                self._act(game, after, reward)
            else:
                self.scores.append(game["score"])
                self._games[place] = self._new()
        return turns

    def _worths(self, options):
        """Return reward + value of each game's actions, as a list of arrays."""
        legal = [option for one in options for option in one]
        worth = np.asarray(self.values(np.array([after for _, after, _ in legal], np.uint64)))
        worth = worth + np.array([reward for _, _, reward in legal], np.float32)
        return np.split(worth, np.cumsum([len(one) for one in options])[:-1])

    def _act(self, game, after, reward):
        game["last"], game["score"] = (after, reward), game["score"] + reward
        game["board"], game["luck"] = spawn(after, game["luck"])
        self.actions += 1
