"""Many boards one step on: what follows from a set of boards, and values carried back to it.

A set of boards is a sorted uint64 array without repetitions.  With symmetric=True it holds
canonical boards only (see `bits.canonical`), one for all that play alike.  States are boards to
move on; an action leads from a state to an afterstate, a spawn from there to the next state.

Values are float64[boards, k]: k quantities that are carried back together, under the same choice
of actions.  Nothing here knows of layers: a set may mix boards of any tile sums.
"""

from typing import NamedTuple

import numpy as np

from lib2048.game import rules_2048 as rules
from lib2048.game.bits import canonical, empty_mask, orbit_size
from lib2048.game.rng import GOLDEN
from lib2048.game.turn import is_stuck
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import population

TIE = 1e-14  # of a preference's size: two that differ by less are equal but for rounding
SCORE_AND_MOVES = np.array([[1.0, 0.0], [0.0, 1.0]])  # gains, see `chosen`
_ONE = np.uint64(1)


class Choice(NamedTuple):
    """How a state's action is chosen.

    The actions with the largest pays · reward + preference share the probability 1 − epsilon
    equally; all legal actions share epsilon equally.  So epsilon=1 is random play.
    """

    pays: float = 1.0
    epsilon: float = 0.0


# ---------------------------------------------------------------- sets of boards


def distinct(boards):
    """Return the boards sorted, each once: uint64[n] → uint64[m].  The argument gets sorted too."""
    boards.sort()
    new = np.ones(len(boards), np.bool_)
    np.not_equal(boards[1:], boards[:-1], out=new[1:])
    return boards[new]


def afterstates_of(states, game, symmetric=True):
    """Return all distinct afterstates of many states.

    states: uint64[n]; game: `Game`; symmetric: whether to keep one of each board's images.
    Returns uint64[m], sorted.
    """
    out = np.empty(4 * len(states), np.uint64)
    return distinct(out[: game.bind(_slides)(states, game, symmetric, out)])


def spawned(afterstates, exponent, game, symmetric=True):
    """Return all distinct states that a spawn of one exponent makes of many afterstates.

    afterstates: uint64[n]; exponent: 1 for a 2, 2 for a 4; the rest as for `afterstates_of`.
    """
    out = np.empty(int(game.cells).bit_count() * len(afterstates), np.uint64)
    return distinct(out[: _spawns(afterstates, np.uint64(exponent), game, symmetric, out)])


def canonicals(boards, game, symmetric=True):
    """Return the name of each board in a set: its canonical image, or the board itself."""
    out = np.empty(len(boards), np.uint64)
    _names(boards, game, symmetric, out)
    return out


def orbit_sum(boards, game):
    """Return how many boards canonical ones stand for, all images counted.  → int."""
    return int(_orbits(boards, game))


def terminal(states, game):
    """Say which states have no legal action: bool[n]."""
    out = np.empty(len(states), np.bool_)
    game.bind(_terminal)(states, game, out)
    return out


def tile_sums(boards):
    """Return the sum of each board's tiles: int64[n]."""
    out = np.empty(len(boards), np.int64)
    _sums(boards, out)
    return out


@part
def _name(board, game, symmetric):
    return canonical(board, game) if symmetric else board


@kernel
def _slides(states, game, symmetric, out):
    count = 0
    for state in states:
        for after in rules.slide(state, game)[:4]:
            if after != state:
                out[count] = _name(after, game, symmetric)
                count += 1
    return count


@kernel
def _spawns(afterstates, exponent, game, symmetric, out):
    count = 0
    for after in afterstates:
        empty = empty_mask(after) & game.cells
        while empty:
            cell = empty & (~empty + _ONE)  # the lowest bit of the first empty cell
            out[count] = _name(after | cell * exponent, game, symmetric)
            count += 1
            empty ^= cell
    return count


@kernel
def _names(boards, game, symmetric, out):
    for i in range(len(boards)):
        out[i] = _name(boards[i], game, symmetric)


@kernel
def _orbits(boards, game):
    count = 0
    for board in boards:
        count += orbit_size(board, game)
    return count


@kernel
def _terminal(states, game, out):
    for i in range(len(states)):
        out[i] = is_stuck(states[i], game)


@kernel
def _sums(boards, out):
    for i in range(len(boards)):
        board, total = boards[i], np.uint64(0)
        while board:
            total += (_ONE << (board & np.uint64(15))) & ~_ONE
            board >>= np.uint64(4)
        out[i] = total


# ---------------------------------------------------------------- finding a board in a set
# A hash table of row numbers, half empty at least, -1 where there is none.  On the layers of 3x3 it
# finds a board in 2 to 5 ns, and a binary search in 40 to 70.


def index_of(boards):
    """Make a set searchable: uint64[n] → (boards, slots int32[2^bits], shift uint64)."""
    bits = max(4, (2 * len(boards)).bit_length())
    index = boards, np.full(1 << bits, -1, np.int32), np.uint64(64 - bits)
    _fill(index)
    return index


@part
def _slot(board, index):
    """Return where a board's row stands in the slots, or the free slot where it would stand."""
    boards, slots, shift = index
    last = np.uint64(len(slots) - 1)
    at = (board * GOLDEN) >> shift
    while slots[at] >= 0 and boards[slots[at]] != board:
        at = (at + _ONE) & last
    return at


@part
def _row(board, index):
    return index[1][_slot(board, index)]


@kernel
def _fill(index):
    boards, slots, _ = index
    for i in range(len(boards)):
        slots[_slot(boards[i], index)] = i


def _complete(missing):
    if missing:
        raise KeyError(f"{missing} boards that follow are not in the set they are looked up in")


# ---------------------------------------------------------------- values, carried back


def expected(afterstates, twos, fours, game, symmetric=True):
    """Carry values back over the spawns: V(s') = E V(s).

    afterstates: uint64[n], each with an empty cell; twos, fours: (states uint64[m], values
    float64[m, k]) to look up what a spawned 2 or 4 makes; the two may be the same pair.  Every
    empty cell is as likely as every other, 2 and 4 as the game says.
    Returns float64[n, k].  Raises KeyError when a state is missing.
    """
    first = index_of(twos[0])
    second = first if fours[0] is twos[0] else index_of(fours[0])
    out = np.zeros((len(afterstates), twos[1].shape[1]))
    _complete(_expect(afterstates, first, twos[1], second, fours[1], game, symmetric, out))
    return out


@kernel
def _expect(afterstates, twos, two_values, fours, four_values, game, symmetric, out):
    missing = 0
    for i in range(len(afterstates)):
        after, cells = afterstates[i], 0
        empty = empty_mask(after) & game.cells
        while empty:
            cell = empty & (~empty + _ONE)
            empty ^= cell
            cells += 1
            if game.four < 1:
                two = _row(_name(after | cell, game, symmetric), twos)
                missing += two < 0
                for k in range(0 if missing else out.shape[1]):
                    out[i, k] += (1 - game.four) * two_values[two, k]
            if game.four > 0:
                four = _row(_name(after | (cell << _ONE), game, symmetric), fours)
                missing += four < 0
                for k in range(0 if missing else out.shape[1]):
                    out[i, k] += game.four * four_values[four, k]
        for k in range(out.shape[1]):
            out[i, k] /= cells
    return missing


def chosen(states, afterstates, values, preference, choice, gains, game, symmetric=True):
    """Carry values back over the actions that a choice takes: V(s) = E [gain + V(s')].

    states: uint64[n]; afterstates: uint64[m], a set that holds all of theirs; values:
    float64[m, k]; preference: float64[m]; choice: `Choice`; gains: float64[k, 2], what one point
    of reward and what the action itself adds to each quantity (`SCORE_AND_MOVES`).  Returns
    float64[n, k], 0 where no action is legal.  Raises KeyError when an afterstate is missing.

    With the values of one quantity as preference, and pays its gain, that is
    V*(s) = max_a [r + V(s')].
    """
    index = index_of(afterstates)
    options = game.bind(options_of)(states, index, preference, choice, game, symmetric)
    return carried_back(options, values, gains)


def carried_back(options, values, gains):
    """Carry values back over options, as `options_of` returns them; see `chosen`."""
    out = np.zeros((len(options[0]), values.shape[1]))
    _complete(_choose(options, values, gains, out))
    return out


@kernel
def _choose(options, values, gains, out):
    rows, rewards, weights, missing = options
    for i in range(0 if missing else len(rows)):
        for a in range(4):
            if rows[i, a] >= 0:
                for k in range(out.shape[1]):
                    gain = gains[k, 0] * rewards[i, a] + gains[k, 1]
                    out[i, k] += weights[i, a] * (gain + values[rows[i, a], k])
    return missing


@kernel
def options_of(states, index, preference, choice, game, symmetric):
    """Return the options of many states, and how many afterstates are missing.

    Each state has four places for its legal actions: the afterstate's row (int64, -1 where a place
    is empty), the reward and the probability (float64).
    """
    rows, missing = np.full((len(states), 4), -1), 0
    rewards, weights = np.zeros((len(states), 4)), np.zeros((len(states), 4))
    for i in range(len(states)):
        options = rows[i], rewards[i], weights[i]
        missing += _weigh(states[i], index, preference, choice, game, symmetric, options) < 0
    return rows, rewards, weights, missing


@kernel
def _weigh(state, index, preference, choice, game, symmetric, options):
    """Fill a state's options (afterstate's row, reward, probability); return how many there are.

    Returns -1 when an afterstate is not in the set.
    """
    slid = rules.slide(state, game)
    (rows, rewards, weights), legal, best = options, 0, -np.inf
    for a in range(4):
        if slid[a] != state:
            row = _row(_name(slid[a], game, symmetric), index)
            if row < 0:
                return -1
            rows[legal], rewards[legal] = row, slid[4 + a]
            weights[legal] = choice.pays * rewards[legal] + preference[row]
            best = max(best, weights[legal])
            legal += 1
    _share(weights, legal, best - TIE * abs(best), choice.epsilon)
    return legal


@part
def _share(weights, legal, least, epsilon):
    """Turn the weights of the legal actions into probabilities; from `least` on they are best."""
    ties = 0
    for a in range(legal):
        ties += weights[a] >= least
    for a in range(legal):
        weights[a] = epsilon / legal + (1 - epsilon) / ties * (weights[a] >= least)


# ---------------------------------------------------------------- probabilities, carried on


def carried_on(options, chances, count):
    """Carry probabilities on over the actions that a choice takes.

    options: of n states, as `options_of` returns them, with chances float64[n]; count: of the set
    of afterstates that the options lead to.  Returns float64[count]: how often each is expected.
    What stands on terminal states goes nowhere.  Raises KeyError when an afterstate is missing.
    """
    out = np.zeros(count)
    _complete(_act(options, chances, out))
    return out


@kernel
def _act(options, chances, out):
    rows, _, weights, missing = options
    for i in range(0 if missing else len(rows)):
        for a in range(4):
            if rows[i, a] >= 0:
                out[rows[i, a]] += weights[i, a] * chances[i]
    return missing


def add_spawned(afterstates, visits, exponent, states, chances, game, symmetric=True):
    """Carry probabilities on over the spawns of one exponent, adding to the states' `chances`.

    afterstates: uint64[n] with visits float64[n]; exponent: 1, a 2, or 2, a 4;
    states: uint64[m], a set that holds all that is made; chances: float64[m], changed in place.
    """
    share = game.chances[exponent]
    index, exponent = index_of(states), np.uint64(exponent)
    _complete(_spawn(afterstates, share * visits, exponent, index, game, symmetric, chances))


@kernel
def _spawn(afterstates, visits, exponent, index, game, symmetric, chances):
    missing = 0
    for i in range(len(afterstates)):
        empty = empty_mask(afterstates[i]) & game.cells
        cells = population(empty)
        while empty:
            cell = empty & (~empty + _ONE)
            empty ^= cell
            row = _row(_name(afterstates[i] | cell * exponent, game, symmetric), index)
            if row < 0:
                missing += 1
            else:
                chances[row] += visits[i] / cells
    return missing
