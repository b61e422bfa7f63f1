"""Moves: the luck by which actions are drawn, and the boards and actions of many recorded games."""

from typing import NamedTuple

import numpy as np

from lib2048.game.board import WHOLE
from lib2048.game.rng import seed_bits, turn_kernel, unit
from lib2048.learn.lockstep import play_in_step
from lib2048.machine.kernels import kernel
from lib2048.networks.network import Network
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import player

DRAWS = 0xAC7105  # mixed into a seed: draws of actions are apart from spawns of tiles

# ---------------------------------------------------------------- luck


def luck_of(seed, numbers, turns):
    """Return the number in [0, 1) by which each game's action is drawn: float64[n].

    numbers, turns: int[n], of the games and of their turns; with the seed they decide it.
    """
    luck = np.empty(len(numbers))
    numbers, turns = np.asarray(numbers, np.int64), np.asarray(turns, np.int64)
    _luck(seed_bits(seed), numbers, turns, luck)
    return luck


@kernel
def _luck(seed, numbers, turns, luck):
    for i in range(len(luck)):
        luck[i] = unit(turn_kernel(seed, DRAWS, numbers[i], turns[i]))


def draw_actions(weights, luck):
    """Draw actions: float[n, 4] weights, such as probabilities, and luck [n] → int64[n].

    An action of weight 0 is never drawn.  In a row of zeros it is action 0.
    """
    actions = np.zeros(len(weights), np.int64)
    _draw(np.ascontiguousarray(weights, np.float64), luck, actions)
    return actions


@kernel
def draw_one(weights, luck):
    """Draw an action by four weights, not all 0, and a number in [0, 1)."""
    left, drawn = luck * weights.sum(), 0
    for action in range(4):
        if weights[action] > 0:
            drawn = action  # the last one, should rounding leave something over
            left -= weights[action]
            if left < 0:
                break
    return drawn


@kernel
def _draw(weights, luck, actions):
    for i in range(len(weights)):
        actions[i] = draw_one(weights[i], luck[i])


# ---------------------------------------------------------------- games


class Moves(NamedTuple):
    """The moves of many games, in the order of play, one game after the other.

    Attributes:
        boards: uint64[n], states.
        actions: int64[n], taken there.
        ends: int64[games], where each game ends in both, so that game g is [ends[g − 1], ends[g]).
        results: int64[games, 5], see records.RESULT_COLUMNS.
    """

    boards: np.ndarray
    actions: np.ndarray
    ends: np.ndarray
    results: np.ndarray

    def first(self, turns):
        """Return the first moves of each game, so many at most; the results stay as they are."""
        lengths = np.diff(self.ends, prepend=0)
        number = np.arange(len(self.boards)) - np.repeat(self.ends - lengths, lengths)
        early, ends = number < turns, np.cumsum(np.minimum(lengths, turns))
        return Moves(self.boards[early], self.actions[early], ends, self.results)

    def __repr__(self):
        mean = self.results[:, 1].mean()
        return f"<{len(self.boards):,} moves of {len(self.ends):,} games, mean {mean:,.0f} points>"


def record_games(who, games, seed=TEST_SEED, first_game=0, game=WHOLE):
    """Let a player play games, all in step, and keep their `Moves`.

    Args:
        who: whatever `decision` takes; the luck of game n is that of (seed, n).

    Raises:
        ValueError: for a number of games below 1, something that is no player, or one that takes an
            illegal action.
    """
    check_games(games, 1)
    decide, turns = decision(who, seed), []

    def keep(games, actions):
        live, actions = games.live, np.asarray(actions)
        if not np.isfinite(games.rewards[live, actions[live]]).all():
            raise ValueError(f"{who!r} has taken an action that is not legal")
        turns.append((games.boards[live], actions[live], games.places["number"][live]))

    results = play_in_step(decide, first_game, games, seed, game, keep)
    boards, actions, numbers = map(np.concatenate, zip(*turns))
    order = np.argsort(numbers, kind="stable")
    return Moves(boards[order], actions[order], np.cumsum(results[:, 2]), results)


def decision(who, seed=TEST_SEED):
    """Return a rule for games in step: a function from a `Lockstep` to the action of each place.

    who: such a function; a player with `decide_all`, such as a policy network's; a `Network`, or
    another with `values` of many boards, which takes the largest reward + value; any other player
    or its name, asked board by board.  Raises ValueError for anything else.
    """
    if hasattr(who, "decide_all"):
        return lambda games: who.decide_all(games, seed)
    if isinstance(who, Network) or (hasattr(who, "values") and not hasattr(who, "choose")):
        return lambda games: games.worths(who.values).argmax(axis=1)
    if callable(who):
        return who
    who = player(who)
    return lambda games: [0 if b is None else b for b in map(who.choose, games.boards)]
