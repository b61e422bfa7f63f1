"""Games as arrays: what a learner sees of them, and what is truly to come after a board."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.batch import as_states
from lib2048.game.game import SEAM, Game
from lib2048.game.rng import seed_bits, stream_kernel
from lib2048.game.turn import next_state
from lib2048.learn.records import LONGEST_GAME
from lib2048.machine.kernels import bound, compiled, numba_type
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import (
    OVER,
    NetworkPlayer,
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
        return self._sums[self.ends] - self._sums[self.starts]  # also of one over as it begins

    @property
    def turns(self):
        """The number of each turn in its game, from 0, as int64[n]."""
        lengths = self.ends - self.starts
        return np.arange(len(self.rewards)) - np.repeat(self.starts, lengths)

    @property
    def returns(self):
        """The points that were still made after each afterstate (its return), int64[n]."""
        return np.repeat(self._sums[self.ends], self.ends - self.starts) - self._sums[1:]

    @property
    def _sums(self):
        return np.concatenate([[0], np.cumsum(self.rewards)])


def collect(who, games, seed=TEST_SEED):
    """Let a player play games, and keep all of them.

    Args:
        who: 'random', 'greedy', 'first-legal', such a player, a `Network` of afterstates, which
            plays at 1-ply, or a `SearchPlayer`; game n has the luck of (seed, n), as in `evaluate`.

    Returns:
        `Experience`, 16 bytes a turn.

    Raises:
        ValueError: for another player.
    """
    check_games(games, 1)
    who, told, policy, context = _deciding(who)
    record, found, lengths = _recording(told, who.game.rules), [], []
    boards, rewards = np.zeros(LONGEST_GAME, np.uint64), np.zeros(LONGEST_GAME, np.int64)
    for number in range(games):
        turns = record(policy, context, who.game, seed_bits(seed), number, boards, rewards)
        found.append((boards[:turns].copy(), rewards[:turns].copy()))
        lengths.append(turns)
    return Experience(*map(np.concatenate, zip(*found)), np.cumsum(lengths))


def rollouts(who, afterstates, games, seed=TEST_SEED):
    """Return the mean of the points that a player still makes from each afterstate on: float64[n].

    The mean comes near V_π of that player, and its error falls with the root of the number of
    games.

    Args:
        who: as in `collect`.
        games: from each of them.

    Raises:
        ValueError: as `collect` does, and for a game where more than the board says what comes.
    """
    check_games(games, 1)
    who, told, policy, context = _deciding(who)
    boards, _ = as_states(afterstates, game=who.game)
    means = np.zeros(len(boards))
    if who.game.rules.SHOWN:
        raise ValueError(f"{who.game.name}: what comes depends on more than the board")
    _rolling_out(told, who.game.rules)(
        policy, context, who.game, seed_bits(seed), boards, games, means
    )
    return means


def _deciding(who):
    """Return (player, the numba type of its context, its compiled policy, its context)."""
    found = player(who)
    if isinstance(found, PolicyPlayer):
        return found, types.int64, found.policy, 0
    if isinstance(found, NetworkPlayer):
        found = SearchPlayer(found.network, 1, halve=False)
    if not isinstance(found, SearchPlayer):
        names = "'random', 'greedy' or 'first-legal'"
        raise ValueError(f"{found.name}: use {names}, a Network or a SearchPlayer")
    return found, CONTEXT, found.compile()[1], found.search.context()


# ---------------------------------------------------------------- kernels


def _played(context):
    """Return the numba types of who plays what, by what luck; context: the type of the policy's."""
    policy = types.FunctionType(policy_signature(context))
    return policy, context, numba_type(Game), types.uint64


@cache
def _recording(context, rules_of):
    """Return `_record`, compiled; context: as `_played` has it."""
    turns = types.int64, types.uint64[::1], types.int64[::1]
    signature = types.int64(*_played(context), *turns)
    return bound(compiled(signature)(_record), SEAM, rules_of)()


def _record(policy, context, game, seed, number, boards, rewards):
    """Play a game and write down every turn; return how many there were."""
    turn = 0
    board, word, luck = rules.begin(stream_kernel(seed, number), game)
    action, after, reward, luck = policy(context, game, board, word, luck)
    while action != OVER:
        board, word, spawned, luck = next_state(board, word, action, after, luck, game)
        boards[turn], rewards[turn] = after, np.int64(reward + spawned)
        turn += 1
        action, after, reward, luck = policy(context, game, board, word, luck)
    return turn


@cache
def _rolling_out(context, rules_of):
    """Return `_roll_out`, compiled; context: as `_played` has it."""
    boards = types.uint64[::1], types.int64, types.float64[::1]
    signature = types.void(*_played(context), *boards)
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
