"""Where an episode begins.

* initial: two spawned tiles on an empty board, as the game has it.
* carousel: each episode begins one stage later than the one before it, from one of the last 1000
  states that entered that stage (carousel shaping, Jaśkowski 2018, Algorithm 5).
* restart: from the middle of the episode before, until that was 10 actions or less (Matsuzaki
  2017; 2021, section 3.5).
* s-jump, l-jump: from one of five boards in turn that already hold large tiles (Matsuzaki 2021,
  section 3.5).
* restart-s-jump, restart-l-jump: as restart, and where that would begin anew, as the jumps do.

The paper's carousel keeps a state when the game passed from stage x − 1 to x.  Here it may come
from any lower stage: with equal tiles carried down, the stage of a lone 32768 (8 of 16) is never
entered from 7 but from two 16384s, which are 6.

Of a 65536 only the board is kept, on which it is a 32768 (see `tile_65536`): what begins in the
middle of such a game begins with that.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.bits import WHOLE, place
from lib2048.game.rng import below, draw, stream_kernel
from lib2048.game.turn import next_state
from lib2048.machine.arrays import Form
from lib2048.machine.kernels import kernel, part
from lib2048.machine.memory import apart

STARTS = (
    "initial", "carousel", "restart", "s-jump", "l-jump", "restart-s-jump", "restart-l-jump",
)  # fmt: skip
OF_ANY_GAME = ("initial", "restart")  # the others know 2048's tiles
INITIAL, CAROUSEL, RESTART, S_JUMP, L_JUMP, RESTART_S_JUMP, RESTART_L_JUMP = range(7)
KEPT = 1000  # states of each stage that the carousel chooses from
SHORT = 10  # actions: after an episode of that length or less, no restart
JUMPS = np.array(  # exponents of the two tiles on each board, 0 for one that spawns
    [[[0, 0], [11, 0], [12, 0], [12, 11], [13, 0]], [[0, 0], [12, 0], [13, 0], [13, 12], [14, 0]]],
    np.uint64,
)
ZERO = np.uint64(0)


class Starts(NamedTuple):
    """What a thread remembers of its games, to begin others from."""

    pool: types.uint64[:, ::1]  # uint64[stages, 1000]: the last states that entered each stage
    entered: types.int64[::1]  # int64[stages]: how many have, ever
    trail: types.uint64[:, ::1]  # uint64[lanes, …]: the states of each lane's game, by turn
    words: types.uint64[:, ::1]  # uint64[lanes, …]: their words, where the game has some
    visits: types.int64[::1]  # int64[stages]: actions that led into each stage


def new_starts(kind, stages, lanes, longest, game):
    """Return empty `Starts`.

    kind: one of STARTS' numbers; stages: how many; longest: the most turns of a game.
    """
    rows = (stages, KEPT) if kind == CAROUSEL else (1, 1)
    turns = longest if restarts(kind) else 1
    return Starts(
        pool=apart(rows, np.uint64),
        entered=apart(stages, np.int64),
        trail=apart((lanes, turns), np.uint64),
        words=apart((lanes, turns if game.rules.SHOWN else 1), np.uint64),
        visits=apart(stages, np.int64),
    )


def starts_state(starts, last):
    """Return what a resume needs of `Starts`, as a dict of arrays.

    last: int64[lanes], the last turn of each lane's game, those before a restart included; what
    older games left behind it is not kept.
    """
    state = {name: getattr(starts, name).copy() for name in _kept(starts)}
    turns = np.arange(min(1 + last.max(), starts.trail.shape[1]))
    for name in {"trail", "words"} & state.keys():
        kept = state[name][:, : len(turns)]
        state[name] = np.where(turns <= last[:, np.newaxis], kept, ZERO)
    return state


def _kept(starts):
    """Return the names of the arrays that a file holds: no words where there are none."""
    return [name for name in Starts._fields if name != "words" or starts.words.shape[1] > 1]


def starts_forms(starts, game):
    """Return what the arrays of `starts_state` must be, {name: `Form`}."""
    lanes = len(starts.trail)
    forms = {
        "pool": Form("uint64", starts.pool.shape),
        "entered": Form("int64", starts.entered.shape, 0),
        "trail": Form("uint64", (lanes, None)),
        "words": Form("uint64", (lanes, None), 0, game.most_word),
        "visits": Form("int64", starts.visits.shape, 0),
    }
    return {name: forms[name] for name in _kept(starts)}


def check_trail(kind, starts, state, last, what):
    """Raise ValueError where a trail does not hold the turns that games may be restarted from.

    kind: one of STARTS' numbers; last: int64[lanes], the last turn of each lane's game.
    """
    turns, longest = state["trail"].shape[1], starts.trail.shape[1]
    if "words" in state and state["words"].shape != state["trail"].shape:
        raise ValueError(f"{what}: its trail has words for other turns")
    if turns > longest or restarts(kind) and not (last < min(turns, longest)).all():
        raise ValueError(f"{what}: its trail has {turns} turns, which is not what its games need")


def restore_starts(starts, state):
    """Take up what `starts_state` returned."""
    for name in _kept(starts):
        array, kept = getattr(starts, name), state[name]
        (array[:, : kept.shape[1]] if kept.ndim > 1 else array)[:] = kept


def check_starts(name, stages, game=WHOLE):
    """Raise ValueError, in one line, for an unknown way to begin, and one that is none here.

    stages: how many the network has; the carousel goes round them.  game: after a jump there has to
    be room for an action.
    """
    if name not in STARTS:
        raise ValueError(f"unknown starts {name!r}: use {', '.join(STARTS)}")
    if game.rules is not WHOLE.rules and name not in OF_ANY_GAME:
        why = f"{' and '.join(OF_ANY_GAME)} are for any game"
        raise ValueError(f"starts {name}: its boards are those of 2048; {why}")
    if name == "carousel" and stages == 1:
        raise ValueError("starts carousel: it goes round the stages, and this network has one")
    if STARTS.index(name) >= S_JUMP and int(game.cells).bit_count() == 2:
        raise ValueError(f"starts {name}: its two tiles would fill a board of two cells")


@part
def restarts(kind):
    """Say whether episodes may begin in the middle of the one before: they leave a trail."""
    return kind == RESTART or kind >= RESTART_S_JUMP


@kernel
def start_kernel(kind, random, number, game, start, length, g, starts):
    """Begin an episode; return (board, word, next random state, where it begins).

    start, length: where lane g's last episode began, −1 when there was none, and its actions.
    Where it begins is 0 for the initial state, else a stage (carousel), a turn of the game
    (restart) or which of the five boards (jumps; where it may be restarted, its turns count on
    from that number).
    """
    if kind == CAROUSEL:
        stage = start + 1
        if 0 < stage < len(starts.entered) and starts.entered[stage] > 0:
            random, bits = draw(random)
            kept = min(starts.entered[stage], KEPT)
            return starts.pool[stage, below(bits, np.uint64(kept))], ZERO, random, stage
    if restarts(kind) and length > SHORT:
        turn = (start + start + length) // 2
        return starts.trail[g, turn], _word(starts, g, turn), random, turn
    if kind >= S_JUMP and number % 5:
        board, random = _jump((kind - S_JUMP) % 2, number % 5, random, game)
        return board, ZERO, random, number % 5
    board, word, random = rules.begin(random, game)
    return board, word, random, 0


@kernel
def _jump(table, which, random, game):
    """Put the two tiles of a jump's board into random cells; return (board, random state)."""
    board = ZERO
    for tile in range(2):
        exponent = JUMPS[table, which, tile]
        if exponent == ZERO:
            board, _, _, random = rules.spawn(board, ZERO, ZERO, ZERO, random, game)
        else:
            random, bits = draw(random)
            board = place(board, bits, exponent, game)
    return board, random


@part
def begin_game(place, kind, seed, number, game, g, starts):
    """Begin game `number` of a seed in a place, which may go on from the game that was there."""
    place.number = number
    place.board, place.word, place.random, place.start = start_kernel(
        kind, stream_kernel(seed, number), number, game, place.start, place.length, g, starts
    )
    place.score, place.length = np.int64(rules.points(place.board)), 0
    if restarts(kind):
        keep_turn(starts, g, place.start, place.board, place.word)


@part
def take_turn(place, after, reward, action, game):
    """Play a place's game one action on, by its own luck."""
    place.length += 1
    place.board, place.word, spawned, place.random = next_state(
        place.board, place.word, action, after, place.random, game
    )
    place.score += np.int64(reward) + np.int64(spawned)


@part
def keep_turn(starts, g, turn, board, word):
    """Keep a state of a lane's game, so that the next one may begin there."""
    starts.trail[g, turn] = board
    if rules.SEEN:
        starts.words[g, turn] = word


@part
def _word(starts, g, turn):
    return starts.words[g, turn] if rules.SEEN else ZERO


@kernel
def remember(pool, entered, stage, board):
    """Keep a state that entered a stage, in the place of the oldest when 1000 are kept."""
    pool[stage, entered[stage] % KEPT] = board
    entered[stage] += 1
