"""What the episode loop works on: its parts, its numbers, and what it keeps of a game.

Each record is described once.  The numba types that kernels are compiled for are derived from the
annotations here (`machine.kernels.numba_type`).
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from lib2048.game.game import Game
from lib2048.learn.rules import UPDATE_SIGNATURE
from lib2048.machine.kernels import numba_type
from lib2048.machine.memory import apart, records
from lib2048.networks.lookups import IMAGES, LOOK_SIGNATURE, VALUE_SIGNATURE, VALUES_SIGNATURE
from lib2048.networks.stages import Stages

AFTERSTATE, STATE, Q = range(3)  # what a value belongs to; the order of network.FORMS
LONGEST_GAME = 1 << 18  # actions: no game's tiles sum to 2^19, and an action adds 2 or more


class Functions(NamedTuple):
    """The parts of the loop that belong to a network: compiled functions of fixed signature.

    Kernels get them as a plain tuple, and make this record of it at their top: numba takes no
    record of functions as an argument.
    """

    lookups: np.uint64  # n, the look-ups of one board
    look: types.FunctionType(LOOK_SIGNATURE)  # positions of the look-ups of four boards
    values: types.FunctionType(VALUES_SIGNATURE)  # values of four boards
    value: types.FunctionType(VALUE_SIGNATURE)  # value of one board
    update: types.FunctionType(UPDATE_SIGNATURE)  # let a board's weights learn from an error


class Method(NamedTuple):
    """How to learn, and on what.  Plain numbers, so that one compiled loop serves all."""

    form: int  # AFTERSTATE, STATE or Q
    backward: bool  # learn an episode from its end, once it is over
    learn: bool  # False: only play
    rate: np.float32  # α or β divided by the number of look-ups; μ for Autostep
    decay: np.float32  # λ
    slots: np.uint64  # h + 1: the afterstates that an error reaches
    remembered: bool  # V in the error is that of when the action was chosen
    delay: bool  # learn each afterstate once, when all its errors are known
    dutch: bool  # true online: shares are corrected for weights that boards share
    memory: np.uint64  # numbers that the rule keeps beside each weight: see rules.RULES
    optimistic: np.float32  # V_init, what every board is worth beside the sum of its weights
    epsilon: np.float32  # how often any legal action is taken instead of the best
    size: np.uint64  # weights of one action's tables (Q), 0 in the other forms
    game: Game  # what is played
    stages: Stages  # of the network
    start: int  # where episodes begin: the number of one of starts.STARTS


class Limits(NamedTuple):
    """How far one call of the loop goes, and with whose luck."""

    seed: np.uint64
    last_game: int  # games below this number are begun
    last_action: types.int64[::1]  # [1]: it stops when so many are counted; 0 ends it at once


LANE = np.dtype(
    [
        ("board", np.uint64),  # the state whose action comes next
        ("random", np.uint64),  # the game's random state
        ("number", np.int64),  # the game's number, −1 for an idle lane
        ("word", np.uint64),  # what the game remembers beside the board, see `game`
        ("score", np.int64),  # points so far
        ("length", np.int64),  # actions so far
        ("slot", np.uint64),  # where the newest entry is kept
        ("stage", np.uint64),  # of the board
        ("late", np.uint64),  # 0 when all four actions lead to stage 0
        ("watched", np.int64),  # whether `loop._keep_track` has something to keep
        ("start", np.int64),  # where the game began, −1 before the first; see starts.start_kernel
        ("candidates", np.uint64, 4),  # the boards that the four actions lead to
        ("rewards", np.float32, 4),  # their rewards, −inf where the action is illegal
        ("stages", np.uint64, 4),  # their stages
    ],
    align=True,
)
KEPT = LANE.names[: LANE.names.index("candidates")]  # the rest follows from the board
PAST = np.dtype(
    [
        ("board", np.uint64),  # a board whose value is learned: an entry
        ("word", np.uint64),  # of the state before it: what was shown
        ("action", np.int64),  # the action taken there
        ("reward", np.float32),  # its reward
        ("value", np.float32),  # what it was worth when the action was chosen
        ("error", np.float32),  # its TD error, once it is known
        ("share", np.float32),  # its part of the trace, times α; only with dutch traces
    ],
    align=True,
)
COUNTERS = ("turn", "next_game", "actions", "rows", "stride")  # int64 each; see play_kernel
TURN, NEXT_GAME, ACTIONS, ROWS, STRIDE = range(5)
RESULT_COLUMNS = ("game", "score", "actions", "largest", "start")
# largest: exponent of the largest tile; score and actions: since the start; start: where the game
# began, 0 for the initial state, see starts.start_kernel


def new_results(count):
    """Return the results of so many games, all 0: int64[count, 5], see RESULT_COLUMNS."""
    return np.zeros((count, len(RESULT_COLUMNS)), np.int64)


def joined(parts):
    """Return results, a list of int64[k, 5], as one array."""
    return np.concatenate([new_results(0), *parts])


class Work(NamedTuple):
    """Work space of one thread; holds nothing that must be kept but the past."""

    images: types.uint64[::1]  # uint64[32]: symmetric images of four boards
    positions: types.uint32[::1]  # uint32[4n·lanes]: look-ups of the candidates
    entries: types.uint32[::1]  # uint32[n·slots·lanes]: look-ups of the last entries of each lane
    values: types.float32[::1]  # float32[8]: of the four candidates, and as much for expectations
    trial: types.uint64[::1]  # uint64[4]: other boards to look up
    trial_positions: types.uint32[::1]  # uint32[4n]: their look-ups
    outcomes: types.uint64[::1]  # uint64[32]: what luck can make of an afterstate
    words: types.uint64[::1]  # uint64[32]: their words
    chances: types.float64[::1]  # float64[32]: and how likely
    past: numba.from_dtype(PAST)[:, ::1]  # PAST[lanes, slots]: the last entries; backward: all


def new_work(lanes, n, method):
    """Return the `Work` of so many lanes, n look-ups a board and a `Method`."""
    most = int(method.game.rules.MOST_OUTCOMES)
    slots = LONGEST_GAME if method.backward and method.learn else int(method.slots)
    return Work(
        images=apart(IMAGES, np.uint64),
        positions=apart(4 * n * lanes, np.uint32),
        entries=apart(n * int(method.slots) * lanes, np.uint32),
        values=apart(8, np.float32),
        trial=apart(4, np.uint64),
        trial_positions=apart(4 * n, np.uint32),
        outcomes=apart(most, np.uint64),
        words=apart(most, np.uint64),
        chances=apart(most, np.float64),
        past=records((lanes, slots), PAST),
    )


FUNCTIONS = types.Tuple([numba_type(kind) for kind in Functions.__annotations__.values()])
LANES = numba.from_dtype(LANE)[::1]
