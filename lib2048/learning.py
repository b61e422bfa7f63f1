"""The one episode loop, and the one update, that every learner and every network player runs.

Two games take turns in a thread.  While one waits for its weights to come from memory, the other
chooses its action: the processor is asked for the weights of the next four candidates
(`prefetch`) a whole turn before they are summed.

The loop takes its parts as compiled functions of fixed signature (`Functions`), so a student's
own index or update takes the library's place without compiling the loop again.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from lib2048._compile import compiled, kernel, part, prefetch
from lib2048.board import (
    WHOLE,
    Grid,
    initial_kernel,
    slide_all,
    slide_all_in,
    slide_one,
    spawn_kernel,
)
from lib2048.ntuple import (
    FORMS,
    GRID,
    LOOK_SIGNATURE,
    TURNED,
    UPDATE_SIGNATURE,
    VALUE_SIGNATURE,
    VALUES_SIGNATURE,
    image_boards,
    look_kernel,
    unplanes,
    update_kernel,
    value_kernel,
    values_kernel,
)
from lib2048.rng import below, draw, seed_bits, stream_kernel
from lib2048.spec import FOUR_CHANCE

AFTERSTATE, STATE, Q = range(3)  # what a value belongs to; the order of ntuple.FORMS
LANES = 2  # games that take turns in one thread
LONGEST_GAME = 1 << 18  # actions: 16 tiles of 32768 sum to 2^19, and an action adds 2 or more
ILLEGAL = np.float32(-np.inf)
TWO_CHANCE = np.float32(1 - FOUR_CHANCE)
FOUR = np.float32(FOUR_CHANCE)
ZERO, ONE, TWO, THREE, QUAD = map(np.uint64, range(5))
_LOW24 = np.uint64((1 << 24) - 1)

# ---------------------------------------------------------------- what the loop works on


class Functions(NamedTuple):
    """The parts of the loop that belong to a network: compiled functions of fixed signature."""

    look: object  # positions of the look-ups of four boards
    values: object  # values of four boards
    value: object  # value of one board
    update: object  # add to the weights of one board


class Rule(NamedTuple):
    """How to learn.  Plain numbers, so that one compiled loop serves all."""

    form: int  # AFTERSTATE, STATE or Q
    backward: bool  # learn an episode from its end, once it is over
    learn: bool  # False: only play
    rate: np.float32  # α divided by the number of look-ups
    epsilon: np.float32  # how often any legal action is taken instead of the best
    size: np.uint64  # weights of one action's tables (Q), 0 in the other forms
    grid: Grid  # the board's size


def rule_of(network, alpha=0.0, backward=False, epsilon=0.0, learn=True):
    """Return the `Rule` that learns (or only plays) with a network.  alpha, epsilon: 0 … 1."""
    rate = np.float32(alpha / network.lookups_per_board)
    form, explore = FORMS.index(network.form), np.float32(epsilon)
    return Rule(form, backward, learn, rate, explore, network.head_size, network.grid)


LANE = np.dtype(
    [
        ("board", np.uint64),  # the state whose action comes next
        ("random", np.uint64),  # the game's random state
        ("number", np.int64),  # the game's number, −1 for an idle lane
        ("score", np.int64),  # points so far
        ("length", np.int64),  # actions so far
        ("entry", np.uint64),  # the board whose value is learned next
        ("action", np.int64),  # the action that belongs to it, −1 when there is no entry
        ("reward", np.float32),  # the reward of that action
    ],
    align=True,
)
COUNTERS = ("turn", "next_game", "actions", "rows")  # int64 each; see play_kernel
TURN, NEXT_GAME, ACTIONS, ROWS = range(4)
RESULT_COLUMNS = ("game", "score", "actions", "largest")  # largest: exponent of the largest tile
PAST = np.dtype([("board", np.uint64), ("action", np.int64), ("reward", np.float32)], align=True)


class Work(NamedTuple):
    """Work space of one thread; holds nothing that must be kept."""

    candidates: np.ndarray  # uint64[4·lanes]: the boards that the four actions lead to
    rewards: np.ndarray  # float32[4·lanes]: their rewards, −inf where the action is illegal
    images: np.ndarray  # uint64[32]: symmetric images of four boards
    positions: np.ndarray  # uint32[4n·lanes]: look-ups of the candidates
    entries: np.ndarray  # uint32[n·lanes]: look-ups of the entries
    values: np.ndarray  # float32[8]: of the four candidates, and as much for expectations
    trial: np.ndarray  # uint64[4]: other boards to look up
    trial_positions: np.ndarray  # uint32[4n]: their look-ups
    past: np.ndarray  # PAST[lanes, longest game]: the episodes, for learning backwards


# ---------------------------------------------------------------- looking up


@part
def _expand(look, weights, lane, rule, n, at, candidates, rewards, images, positions):
    """Slide a lane's board by the four actions, look up where they lead, ask for the weights."""
    board = lane.board
    up, right, down, left, along, across = slide_all_in(board, rule.grid)
    rewards[at] = np.float32(along) if up != board else ILLEGAL
    rewards[at + ONE] = np.float32(across) if right != board else ILLEGAL
    rewards[at + TWO] = np.float32(along) if down != board else ILLEGAL
    rewards[at + THREE] = np.float32(across) if left != board else ILLEGAL
    if rule.form == AFTERSTATE:  # an illegal action looks up the empty board: no memory is wasted
        candidates[at] = up if up != board else ZERO
        candidates[at + ONE] = right if right != board else ZERO
        candidates[at + TWO] = down if down != board else ZERO
        candidates[at + THREE] = left if left != board else ZERO
    else:
        for a in range(at, at + QUAD):
            candidates[a] = board
    image_boards(candidates, at, images, rule.grid)
    first = at * n
    look(images, positions, first)
    if rule.form == Q:
        for i in range(ZERO, QUAD * n):
            turned = TURNED[(i >> TWO) & np.uint64(7), i & THREE]
            positions[first + i] += np.uint32(turned * rule.size)
    for i in range(first, first + QUAD * n):
        prefetch(weights, positions[i])


@kernel
def _look_up_one(look, board, action, rule, n, at, images, trial, trial_positions, entries):
    """Write the n look-ups of one board (and, for Q, its action) to entries[at …]."""
    trial[0], trial[1], trial[2], trial[3] = board, ZERO, ZERO, ZERO
    image_boards(trial, ZERO, images, rule.grid)
    look(images, trial_positions, ZERO)
    for i in range(ZERO, n):
        turned = TURNED[i & np.uint64(7), action]
        entries[at + i] = trial_positions[QUAD * i] + np.uint32(turned * rule.size)


# ---------------------------------------------------------------- choosing


@part
def _best(values, rewards, at, pays):
    """Return (the action of the largest value, that value), or (4, −inf) when none is legal.

    pays: whether the reward belongs to the sum (Q has it inside its value already).  Of equals
    the first wins.
    """
    best, best_value = QUAD, ILLEGAL
    for a in range(ZERO, QUAD):
        reward = rewards[at + a]
        total = values[a] + (reward if pays else min(reward, np.float32(0)))
        if total > best_value:
            best, best_value = a, total
    if best == QUAD:  # no action is legal, or the values are nan: then take a legal one
        for a in range(ZERO, QUAD):
            if rewards[at + a] >= 0:
                return a, values[a]
    return best, best_value


@part
def _explore(lane, rewards, at, epsilon, action):
    """Return the action, or with probability ε any legal one, each as likely as the others."""
    lane.random, bits = draw(lane.random)
    if np.float32(bits & _LOW24) >= epsilon * np.float32(1 << 24):
        return action
    legal = ZERO
    for a in range(ZERO, QUAD):
        legal += np.uint64(rewards[at + a] >= 0)
    skip = below(bits, legal)
    for a in range(ZERO, QUAD):
        if rewards[at + a] >= 0:
            if skip == ZERO:
                return a
            skip -= ONE
    return action


@kernel
def _expected_value(look, values_of, weights, after, n, images, trial, trial_positions, values):
    """Average V over the spawns: 2 with 0.9, 4 with 0.1, in every empty cell; a lost board is 0."""
    total, count = np.float32(0), np.float32(0)
    for cell in range(ZERO, np.uint64(64), QUAD):
        if (after >> cell) & np.uint64(15) == ZERO:
            trial[0], trial[1] = after | (ONE << cell), after | (TWO << cell)
            trial[2], trial[3] = ZERO, ZERO
            image_boards(trial, ZERO, images, WHOLE)
            look(images, trial_positions, ZERO)
            values_of(weights, trial_positions, ZERO, n, values)
            total += TWO_CHANCE * (values[0] if _alive(trial[0]) else np.float32(0))
            total += FOUR * (values[1] if _alive(trial[1]) else np.float32(0))
            count += np.float32(1)
    return total / count


@kernel
def _alive(board):
    """Say whether some action is legal."""
    up, right, down, left, _, _ = slide_all(board)
    return up != board or right != board or down != board or left != board


@kernel
def _expect(look, values_of, weights, board, n, at, rewards, images, trial, positions, values):
    """Write, for each legal action, the expected value of the state that its spawn leads to."""
    for a in range(ZERO, QUAD):  # values[0..3] are work space of each expectation
        values[QUAD + a] = np.float32(0)
        if rewards[at + a] >= 0:
            after, _ = slide_one(board, a)
            values[QUAD + a] = _expected_value(
                look, values_of, weights, after, n, images, trial, positions, values
            )
    for a in range(ZERO, QUAD):
        values[a] = values[QUAD + a]


# ---------------------------------------------------------------- learning


@part
def _learn(value, update, weights, entries, at, n, target, rate):
    """Move a board's value towards a target: the one update of the library.

    With α = 1 and n different look-ups the whole error is gone (Jaśkowski 2018, the step α / m
    of section III, spread over the 8 images of each of the m tuples; rate is α / n).
    """
    error = target - value(weights, entries, at, n)
    update(weights, entries, at, n, error * rate)


@kernel
def _learn_backward(functions, weights, g, length, rule, n, images, trial, spare, entries, past):
    """Learn a finished episode from its last entry to its first, each from the newest value."""
    at, next_value, next_reward = g * n, np.float32(0), np.float32(0)
    for t in range(length - 1, -1, -1):
        entry = past[g, t]
        _look_up_one(
            functions.look, entry.board, entry.action, rule, n, at, images, trial, spare, entries
        )
        target = next_value + (next_reward if rule.form == AFTERSTATE else entry.reward)
        _learn(functions.value, functions.update, weights, entries, at, n, target, rule.rate)
        next_value, next_reward = functions.value(weights, entries, at, n), entry.reward


# ---------------------------------------------------------------- games


@part
def _begin(lane, counters, seed, last_game, grid):
    """Give a lane the next game, or make it idle when none is left."""
    number = counters[NEXT_GAME]
    lane.score, lane.length, lane.action = 0, 0, -1
    lane.number, lane.board = -1, ZERO
    if number < last_game:
        counters[NEXT_GAME] = number + 1
        lane.number = number
        lane.board, lane.random = initial_kernel(stream_kernel(seed, number), grid)


@part
def _act(lane, counters, after, reward, grid):
    """Take an action: count it, and let a tile spawn."""
    lane.score += np.int64(reward)
    lane.length += 1
    counters[ACTIONS] += 1
    lane.board, lane.random = spawn_kernel(after, lane.random, grid)


@kernel
def largest_exponent(board):
    """Return the exponent of the largest tile."""
    largest = ZERO
    while board:
        largest = max(largest, board & np.uint64(15))
        board >>= QUAD
    return largest


@part
def _record(lane, counters, results):
    """Write a finished game's row of the results."""
    row = counters[ROWS]
    results[row, 0], results[row, 1] = lane.number, lane.score
    results[row, 2], results[row, 3] = lane.length, np.int64(largest_exponent(lane.board))
    counters[ROWS] = row + 1


@part
def _next_lane(lanes, g):
    """Return the next lane with a game, or the number of lanes when all are idle."""
    count = np.uint64(len(lanes))
    for _ in range(count):
        g = g + ONE if g + ONE < count else ZERO
        if lanes[g].number >= 0:
            return g
    return count


# ---------------------------------------------------------------- the loop

_U64, _U32, _I64, _F32 = types.uint64[::1], types.uint32[::1], types.int64[::1], types.float32[::1]
_LANES = numba.from_dtype(LANE)[::1]
_PAST = numba.from_dtype(PAST)[:, ::1]
_RULE = types.NamedTuple(
    (
        types.int64,
        types.boolean,
        types.boolean,
        types.float32,
        types.float32,
        types.uint64,
        GRID,
    ),
    Rule,
)
_FUNCTIONS = tuple(
    types.FunctionType(signature)
    for signature in (LOOK_SIGNATURE, VALUES_SIGNATURE, VALUE_SIGNATURE, UPDATE_SIGNATURE)
)
_PLAY_SIGNATURE = types.boolean(
    *_FUNCTIONS, _F32, _LANES, _I64, _RULE,
    types.uint64, types.int64, types.int64, types.int64[:, ::1],
    _U64, _F32, _U64, _U32, _U32, _F32, _U64, _U32, _PAST,
)  # fmt: skip


@compiled(_PLAY_SIGNATURE)
def play_kernel(
    look, values_of, value, update,
    weights, lanes, counters, rule, seed, last_game, last_action, results,
    candidates, rewards, images, positions, entries, values, trial, spare, past,
):  # fmt: skip
    """Play (and learn) on until a limit is reached; return whether games are left to play.

    It stops when counters[ACTIONS] is `last_action`, when `results` is full, or when all games
    below number `last_game` are over.  Called again with the same lanes and counters it goes on
    as if it had never stopped.
    """
    functions = Functions(look, values_of, value, update)
    n = np.uint64(len(spare)) // QUAD
    for g in range(ZERO, np.uint64(len(lanes))):
        lane, at = lanes[g], g * QUAD
        if lane.number < 0:
            _begin(lane, counters, seed, last_game, rule.grid)
        if lane.number >= 0:
            _expand(look, weights, lane, rule, n, at, candidates, rewards, images, positions)
        if lane.action >= 0:
            _look_up_one(
                look, lane.entry, lane.action, rule, n, g * n, images, trial, spare, entries
            )
    g = np.uint64(counters[TURN])
    if lanes[g].number < 0:
        g = _next_lane(lanes, g)
    while g < len(lanes):
        if counters[ACTIONS] >= last_action or counters[ROWS] >= len(results):
            counters[TURN] = np.int64(g)
            return True
        lane, at = lanes[g], g * QUAD

        values_of(weights, positions, at * n, n, values)
        next_value = values[0]
        if rule.form == STATE:
            _expect(
                look, values_of, weights, lane.board, n, at, rewards, images, trial, spare, values
            )
        action, best_value = _best(values, rewards, at, rule.form != Q)
        over = action == QUAD
        if rule.epsilon > 0 and not over:
            action = _explore(lane, rewards, at, rule.epsilon, action)
            best_value = values[action]
            best_value += rewards[at + action] if rule.form != Q else np.float32(0)

        if rule.learn and not rule.backward and lane.action >= 0:
            next_value = best_value if rule.form != STATE else next_value
            target = np.float32(0) if over else next_value
            target += np.float32(0) if rule.form == AFTERSTATE else lane.reward
            _learn(value, update, weights, entries, g * n, n, target, rule.rate)

        if over:
            if rule.learn and rule.backward:
                _learn_backward(
                    functions, weights, g, lane.length, rule, n, images, trial, spare, entries, past
                )
            _record(lane, counters, results)
            _begin(lane, counters, seed, last_game, rule.grid)
        else:
            after, reward = candidates[at + action], rewards[at + action]
            if rule.learn:
                lane.entry, lane.action, lane.reward = after, np.int64(action), reward
                if rule.backward:
                    past[g, lane.length].board = after
                    past[g, lane.length].action = np.int64(action)
                    past[g, lane.length].reward = reward
                else:
                    for i in range(ZERO, n):
                        entries[g * n + i] = positions[QUAD * (g * n + i) + action]
            if rule.form != AFTERSTATE:
                after, _ = slide_one(after, action)
            _act(lane, counters, after, reward, rule.grid)
        if lane.number >= 0:
            _expand(look, weights, lane, rule, n, at, candidates, rewards, images, positions)
        g = _next_lane(lanes, g)
    counters[TURN] = 0
    return False


# ---------------------------------------------------------------- for people


def functions_of(tuples):
    """Return the library's own `Functions` for a network's tuples, compiled."""
    return Functions(look_kernel(tuples), values_kernel(), value_kernel(), update_kernel())


class Games:
    """Games in progress on one network, in one thread: play some, stop, go on.

    functions: `Functions`; weights: float32[size]; lookups: n; rule: `Rule`; seed: int;
    lanes: games that take turns; first_game: number of the first game.
    """

    def __init__(self, functions, weights, lookups, rule, seed, lanes=LANES, first_game=0):
        self.functions, self.weights, self.rule = functions, weights, rule
        self.seed = seed_bits(seed)
        self.lanes = _records(lanes, LANE)
        self.lanes["number"] = self.lanes["action"] = -1
        self.counters = np.zeros(len(COUNTERS), np.int64)
        self.counters[NEXT_GAME] = first_game
        self.work = _new_work(lanes, lookups, rule.backward and rule.learn)

    @property
    def actions(self):
        """The number of actions so far."""
        return int(self.counters[ACTIONS])

    def play(self, last_game, last_action, rows):
        """Play on until a limit; return (results int64[k, 4], whether games are left).

        last_game: games below this number are played; last_action: stop when `actions` is this;
        rows: stop when so many games are over.  See RESULT_COLUMNS.
        """
        results = np.zeros((rows, len(RESULT_COLUMNS)), np.int64)
        self.counters[ROWS] = 0
        more = play_kernel()(
            *self.functions, self.weights, self.lanes, self.counters, self.rule,
            self.seed, last_game, last_action, results, *self.work,
        )  # fmt: skip
        return results[: self.counters[ROWS]], more

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        lanes = {f"lane_{name}": self.lanes[name].copy() for name in LANE.names}
        episodes = np.concatenate(self._episodes())
        past = {f"past_{name}": episodes[name].copy() for name in PAST.names}
        return {**lanes, **past, "counters": self.counters.copy()}

    def restore(self, state):
        """Take up a state that `state` returned."""
        for name in LANE.names:
            self.lanes[name] = state[f"lane_{name}"]
        start = 0
        for episode in self._episodes():
            for name in PAST.names:
                episode[name] = state[f"past_{name}"][start : start + len(episode)]
            start += len(episode)
        self.counters[:] = state["counters"]

    def _episodes(self):
        """The unfinished episodes, a view a lane; empty unless they are learned backwards."""
        return [past[:length] for past, length in zip(self.work.past, self.lanes["length"])]


def _records(shape, dtype):
    """Zeros whose fields are attributes, compiled or not."""
    records = np.zeros(shape, dtype)
    return records.view(np.recarray) if numba.config.DISABLE_JIT else records


def _new_work(lanes, n, backward):
    return Work(
        candidates=np.zeros(4 * lanes, np.uint64),
        rewards=np.zeros(4 * lanes, np.float32),
        images=np.zeros(32, np.uint64),
        positions=np.zeros(4 * n * lanes, np.uint32),
        entries=np.zeros(n * lanes, np.uint32),
        values=np.zeros(8, np.float32),
        trial=np.zeros(4, np.uint64),
        trial_positions=np.zeros(4 * n, np.uint32),
        past=_records((lanes, LONGEST_GAME if backward else 0), PAST),
    )


def own_functions(network, index=None, value=None, update=None):
    """Put functions of your own in the place of the library's.

    index: (board uint64, positions uint32[n]) → None, writes where the board's n = 8·m weights
    lie; value: (weights, positions) → float32; update: (weights, positions, amount) → None, adds
    to every weight.  Each is plain Python that numba can compile, or None for the library's own.
    Returns `Functions`.  They are compiled here, in about half a second each.
    """
    ours, n = functions_of(network.tuples), network.lookups_per_board
    look = ours.look if index is None else _own_look(numba.njit(index), n)
    if value is None:
        values, one = ours.values, ours.value
    else:
        values, one = _own_values(numba.njit(value), n)
    changed = ours.update if update is None else _own_update(numba.njit(update))
    return Functions(look, values, one, changed)


def _own_look(index, n):
    @numba.njit(LOOK_SIGNATURE, nogil=True)
    def look(images, positions, at):
        mine = np.zeros(n, np.uint32)
        for a in range(QUAD):
            index(unplanes(images[a]), mine)
            for i in range(ZERO, np.uint64(n)):
                positions[at + QUAD * i + a] = mine[i]

    return look


def _own_values(value, n):
    @numba.njit(VALUE_SIGNATURE, nogil=True)
    def one(weights, positions, at, n):
        return np.float32(value(weights, positions[at : at + n]))

    @numba.njit(VALUES_SIGNATURE, nogil=True)
    def values(weights, positions, at, n, out):
        for a in range(QUAD):
            out[a] = value(weights, positions[at + a : at + a + QUAD * n : QUAD].copy())

    return values, one


def _own_update(update):
    @numba.njit(UPDATE_SIGNATURE, nogil=True)
    def changed(weights, positions, at, n, amount):
        update(weights, positions[at : at + n], amount)

    return changed


def choose_action(functions, network, rule, board):
    """Choose on one board as the loop does.

    Returns (action or None, float32[4] of what the actions are worth without their rewards; for
    Q, with).  Illegal actions hold a meaningless number.
    """
    work, lanes = _new_work(1, network.lookups_per_board, False), _records(1, LANE)
    lanes["board"] = np.uint64(board)
    action = choose_kernel()(
        functions.look, functions.values, network.weights, lanes, rule,
        work.candidates, work.rewards, work.images, work.positions, work.values,
        work.trial, work.trial_positions,
    )  # fmt: skip
    return (None if action == 4 else int(action)), work.values[:4].copy()


@compiled(
    types.uint64(
        _FUNCTIONS[0], _FUNCTIONS[1], _F32, _LANES, _RULE, _U64, _F32, _U64, _U32, _F32, _U64, _U32
    )
)
def choose_kernel(
    look, values_of, weights, lanes, rule,
    candidates, rewards, images, positions, values, trial, spare,
):  # fmt: skip
    """Choose on the board of the first lane; return the action, 4 when none is legal."""
    n = np.uint64(len(spare)) // QUAD
    _expand(look, weights, lanes[0], rule, n, ZERO, candidates, rewards, images, positions)
    values_of(weights, positions, ZERO, n, values)
    if rule.form == STATE:
        _expect(
            look, values_of, weights, lanes[0].board, n, ZERO, rewards, images, trial, spare, values
        )
    return _best(values, rewards, ZERO, rule.form != Q)[0]
