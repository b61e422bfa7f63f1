"""What a player makes of positions, by its own play: it plays on until a new large tile stands.

Success is that of a table of endgames: the target is made anew, by a merge of two tiles of half its
size.  On a board whose tiles from the target on are all different no two of them can merge before
that, so a success is when there is one more of them.
"""

from functools import cache, partial

import numpy as np
from numba import types

from lib2048.endgame.table import count_large
from lib2048.game import rules_2048 as rules
from lib2048.game.batch import as_boards, options, worths
from lib2048.game.game import SEAM, Game
from lib2048.game.rng import seed_bits, stream_kernel
from lib2048.game.turn import next_state
from lib2048.machine.kernels import bound, compiled, kernel, numba_type
from lib2048.machine.threads import Crowd
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import (
    OVER,
    PolicyPlayer,
    SearchPlayer,
    ValuePlayer,
    game_of,
    policy_signature,
)
from lib2048.search.expectimax import CONTEXT

AT_ONCE = 10_000  # games of a task


def rollouts(who, boards, target, times, seed=TEST_SEED, threads=1):
    """Return how many of a player's games from each board on make the target: int64[n].

    Args:
        who: a player.
        boards: uint64[n] of states of 2048, with different tiles from the target on.
        target: the tile to be made.
        times: how often it plays from each.
        seed: the k-th game from the i-th board has the luck of (seed, i · times + k), so that all
            players have the same.
        threads: how many play.

    Raises:
        ValueError: for numbers that make no sense.
    """
    check_games(times, threads)
    boards, at_once = as_boards(boards), max(1, AT_ONCE // times)
    parts = [slice(at, at + at_once) for at in range(0, len(boards), at_once)]
    least = np.uint64(int(target).bit_length() - 1)
    play = partial(_play_on, who, boards, least, times, seed_bits(seed))
    with Crowd(threads, flag=getattr(who, "stop", None)) as crowd:
        found = [*crowd.results(partial(play, part) for part in parts)]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _play_on(who, boards, least, times, seed, part):
    """Play on from a part of the boards; return int64[…], see `rollouts`."""
    first, found = part.start * times, np.zeros(len(boards[part]), np.int64)
    choose, game = chooser(who, seed, first), game_of(who)
    live = np.repeat(boards[part], times)
    of = np.repeat(np.arange(len(found)), times)
    luck, large = np.zeros(len(live), np.uint64), np.zeros(len(live), np.int64)
    _begin(live, seed, first, least, luck, large)
    while len(live):
        over = game.bind(_step)(live, choose(live), luck, large, least, game)
        found += np.bincount(of[over == MADE], minlength=len(found))
        left = over == GOES_ON
        live, of, luck, large = live[left], of[left], luck[left], large[left]
    return found


def chooser(who, seed=0, first=0):
    """Return a function from boards, uint64[n], to what a player takes, int64[n], 4 for none.

    seed, first: of the games; a player that draws has luck of its own for them.
    """
    if isinstance(who, PolicyPlayer):
        who = who.with_luck(seed, first)
    if isinstance(who, SearchPlayer):
        policy, context = who.compile()[1], who.search.context()
        return lambda boards: searching(who.game.rules)(policy, context, who.game, boards)
    if isinstance(who, ValuePlayer) and who.search.plies == 1:
        return partial(_valued, who)
    if hasattr(who, "decide_all"):
        return lambda boards: who.decide_all(boards, np.zeros_like(boards))[0]
    return lambda boards: np.array([_or_none(who.choose(board)) for board in boards], np.int64)


def _or_none(action):
    return int(OVER) if action is None else action


def _valued(who, boards):
    """Choose by the values of afterstates, which are asked for all at once."""
    found = worths(*options(boards, who.game), who.search.values_of, who.search.pays)
    return np.where(np.isfinite(found).any(axis=1), found.argmax(axis=1), int(OVER))


# ---------------------------------------------------------------- kernels

GOES_ON, MADE, LOST = range(3)


@kernel
def _begin(boards, seed, first, least, luck, large):
    for i in range(len(boards)):
        luck[i] = stream_kernel(seed, first + i)
        large[i] = count_large(boards[i], least)


@kernel
def _step(boards, actions, luck, large, least, game):
    """Play each board one action on; return int8[n], whether it GOES_ON, MADE it or LOST."""
    over, word = np.empty(len(boards), np.int8), np.uint64(0)
    for i in range(len(boards)):
        action = np.uint64(actions[i])
        if action == OVER:
            over[i] = LOST
            continue
        after, _ = rules.slide_one(boards[i], action, game)
        over[i] = MADE if count_large(after, least) > large[i] else GOES_ON
        boards[i], _, _, luck[i] = next_state(boards[i], word, action, after, luck[i], game)
    return over


def _search_all(policy, context, game, boards):
    actions, zero = np.zeros(len(boards), np.int64), np.uint64(0)
    for i in range(len(boards)):
        actions[i] = np.int64(policy(context, game, boards[i], zero, zero)[0])
    return actions


@cache
def searching(rules_of):
    """Return the loop that searches one board after the other, compiled; as `policy_kernel`."""
    policy = types.FunctionType(policy_signature(CONTEXT))
    signature = types.int64[::1](policy, CONTEXT, numba_type(Game), types.uint64[::1])
    return bound(compiled(signature)(_search_all), SEAM, rules_of)()
