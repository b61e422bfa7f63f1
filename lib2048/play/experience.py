"""Games as arrays: what a learner sees of them, and what is truly to come after a board."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.game import SEAM, Game
from lib2048.game.rng import seed_bits, stream_kernel
from lib2048.game.turn import next_state
from lib2048.machine.kernels import bound, compiled, numba_type
from lib2048.networks.network import Network
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import (
    OVER,
    POLICY_SIGNATURE,
    PolicyPlayer,
    SearchPlayer,
    play_out,
    player,
    policy_signature,
)
from lib2048.search.expectimax import CONTEXT


class Experience(NamedTuple):
    """The turns of many games, in the order of play.

    Attributes:
        afterstates: uint64[n].
        rewards: int64[n], what the action before each afterstate paid.
        ends: int64[games], where each game ends in both, so that game g is [ends[g − 1], ends[g]).
    """

    afterstates: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray

    def __repr__(self):
        return f"<{len(self.ends):,} games, {len(self.afterstates):,} afterstates>"

    @property
    def starts(self):
        """Where each game begins, int64[games]."""
        return np.concatenate([[0], self.ends[:-1]])

    @property
    def scores(self):
        """The score of each game, int64[games]."""
        return np.add.reduceat(self.rewards, self.starts)

    @property
    def turns(self):
        """The number of each turn in its game, from 0, as int64[n]."""
        lengths = self.ends - self.starts
        return np.arange(len(self.rewards)) - np.repeat(self.starts, lengths)

    @property
    def returns(self):
        """The points that were still made after each afterstate (its return), int64[n]."""
        so_far = np.cumsum(self.rewards)
        return np.repeat(so_far[self.ends - 1], self.ends - self.starts) - so_far


def collect(who, games, seed=TEST_SEED):
    """Let a player without a network play games, and keep all of them.

    Args:
        who: 'random', 'greedy', 'first-legal', or such a player; game n has the luck of (seed, n),
            as in `evaluate`.

    Returns:
        `Experience`, 16 bytes a turn.

    Raises:
        ValueError: for another player.
    """
    check_games(games, 1)
    who = _policy_player(who)
    lengths = who.play_games(0, games, seed)[:, 2]
    ends = np.cumsum(lengths)
    boards, rewards = np.zeros(ends[-1], np.uint64), np.zeros(ends[-1], np.int64)
    who.game.bind(_record)()(who.policy, who.game, seed_bits(seed), boards, rewards, ends)
    return Experience(boards, rewards, ends)


def rollouts(who, afterstates, games, seed=TEST_SEED):
    """Return the mean of the points that a player still makes from each afterstate on: float64[n].

    The mean comes near V_π of that player, and its error falls with the root of the number of
    games.

    Args:
        who: as in `collect`, or a `Network` of afterstates, which plays at 1-ply.
        games: from each of them.

    Raises:
        ValueError: as `collect` does, and for a game where more than the board says what comes.
    """
    check_games(games, 1)
    boards = np.ascontiguousarray(afterstates, np.uint64)
    means = np.zeros(len(boards))
    if isinstance(who, Network):
        who = SearchPlayer(who, 1, halve=False)
        told, policy, context = CONTEXT, who.compile()[1], who.search.context()
    else:
        who = _policy_player(who)
        told, policy, context = types.int64, who.policy, 0
    if who.game.rules.SHOWN:
        raise ValueError(f"{who.game.name}: what comes depends on more than the board")
    _rolling_out(told, who.game.rules)(
        policy, context, who.game, seed_bits(seed), boards, games, means
    )
    return means


def _policy_player(who):
    found = player(who)
    if not isinstance(found, PolicyPlayer):
        raise ValueError(f"{found.name}: use 'random', 'greedy' or 'first-legal'")
    return found


# ---------------------------------------------------------------- kernels

PLAYED = types.FunctionType(POLICY_SIGNATURE), numba_type(Game), types.uint64  # by what luck


@compiled(types.void(*PLAYED, types.uint64[::1], types.int64[::1], types.int64[::1]))
def _record(policy, game, seed, boards, rewards, ends):
    """Play the games again that end at `ends`, and write down every turn."""
    turn = 0
    for number in range(len(ends)):
        board, word, luck = rules.begin(stream_kernel(seed, number), game)
        while turn < ends[number]:
            action, after, reward, luck = policy(0, game, board, word, luck)
            board, word, spawned, luck = next_state(board, word, action, after, luck, game)
            boards[turn], rewards[turn] = after, np.int64(reward + spawned)
            turn += 1


@cache
def _rolling_out(context, rules_of):
    """Return `_roll_out`, compiled; context: the numba type of the policy's, as `policy_kernel`."""
    policy = types.FunctionType(policy_signature(context))
    boards = types.uint64[::1], types.int64, types.float64[::1]
    signature = types.void(policy, context, numba_type(Game), types.uint64, *boards)
    return bound(compiled(signature)(_roll_out), SEAM, rules_of)()


def _roll_out(policy, context, game, seed, boards, games, means):
    """Play on from each afterstate; a mean of whole numbers, so the order of sums is no matter."""
    zero = np.uint64(0)
    for i in range(len(boards)):
        luck, points = stream_kernel(seed, i), zero
        for _ in range(games):
            board, word, _, luck = rules.spawn(boards[i], zero, OVER, zero, luck, game)
            score, _, _, luck = play_out(policy, context, game, board, word, luck)
            points += score
        means[i] = np.int64(points) / games
