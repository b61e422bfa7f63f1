"""Games as arrays: what a learner sees of them, and what is truly to come after a board."""

import functools
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.game.board import initial_kernel, spawn_kernel
from lib2048.game.rng import seed_bits, stream_kernel
from lib2048.machine.kernels import compiled
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import POLICY_SIGNATURE, PolicyPlayer, player


class Experience(NamedTuple):
    """The turns of many games, in the order of play.

    afterstates: uint64[n]; rewards: int64[n], what the action before each afterstate paid;
    ends: int64[games], where each game ends in both, so that game g is [ends[g − 1], ends[g]).
    """

    afterstates: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray

    def __repr__(self):
        return f"<{len(self.ends):,} games, {len(self.afterstates):,} afterstates>"

    @property
    def starts(self):
        """Where each game begins: int64[games]."""
        return np.concatenate([[0], self.ends[:-1]])

    @property
    def scores(self):
        """The score of each game: int64[games]."""
        return np.add.reduceat(self.rewards, self.starts)

    @property
    def turns(self):
        """The number of each turn in its game, from 0: int64[n]."""
        lengths = self.ends - self.starts
        return np.arange(len(self.rewards)) - np.repeat(self.starts, lengths)

    @property
    def returns(self):
        """The points that were still made after each afterstate (its return): int64[n]."""
        so_far = np.cumsum(self.rewards)
        return np.repeat(so_far[self.ends - 1], self.ends - self.starts) - so_far


def collect(who, games, seed=TEST_SEED):
    """Let a player without a network play games, and keep all of them.

    who: 'random', 'greedy', 'first-legal', or such a player; game n has the luck of (seed, n), as
    in `evaluate`.  Returns `Experience`, 16 bytes a turn.  Raises ValueError for another player.
    """
    check_games(games, 1)
    who = _policy_player(who)
    lengths = who.play_games(0, games, seed)[:, 2]
    ends = np.cumsum(lengths)
    boards, rewards = np.zeros(ends[-1], np.uint64), np.zeros(ends[-1], np.int64)
    _recorder()(who.policy, seed_bits(seed), boards, rewards, ends)
    return Experience(boards, rewards, ends)


def rollouts(who, afterstates, games, seed=TEST_SEED):
    """Return the mean of the points that a player still makes from each afterstate on: float64[n].

    who: as in `collect`; games: from each of them.  The mean comes near V_π of that player, and
    its error falls with the root of the number of games.  Raises ValueError as `collect` does.
    """
    check_games(games, 1)
    boards = np.ascontiguousarray(afterstates, np.uint64)
    means = np.zeros(len(boards))
    _roller()(_policy_player(who).policy, seed_bits(seed), boards, games, means)
    return means


def _policy_player(who):
    found = player(who)
    if not isinstance(found, PolicyPlayer):
        raise ValueError(f"{found.name}: use 'random', 'greedy' or 'first-legal'")
    return found


# ---------------------------------------------------------------- kernels


def _record(policy, seed, boards, rewards, ends):
    """Play the games again that end at `ends`, and write down every turn."""
    turn = 0
    for game in range(len(ends)):
        board, random = initial_kernel(stream_kernel(seed, game))
        while turn < ends[game]:
            after, reward, random = policy(0, board, random)
            boards[turn], rewards[turn] = after, np.int64(reward)
            board, random = spawn_kernel(after, random)
            turn += 1


def _roll_out(policy, seed, boards, games, means):
    """Play on from each afterstate; a mean of whole numbers, so the order of sums is no matter."""
    for i in range(len(boards)):
        random, points = stream_kernel(seed, i), np.uint64(0)
        for _ in range(games):
            board, random = spawn_kernel(boards[i], random)
            after, reward, random = policy(0, board, random)
            while after != board:
                points += reward
                board, random = spawn_kernel(after, random)
                after, reward, random = policy(0, board, random)
        means[i] = np.int64(points) / games


POLICY = types.FunctionType(POLICY_SIGNATURE)


@functools.cache
def _recorder():
    arrays = (types.uint64[::1], types.int64[::1], types.int64[::1])
    return compiled(types.void(POLICY, types.uint64, *arrays))(_record)()


@functools.cache
def _roller():
    arrays = (types.uint64[::1], types.int64, types.float64[::1])
    return compiled(types.void(POLICY, types.uint64, *arrays))(_roll_out)()
