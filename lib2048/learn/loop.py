"""The one episode loop that every learner and every network player runs.

Two games take turns in a thread.  While one waits for its weights to come from memory, the other
chooses its action: the processor is asked for the weights of the next four candidates
(`prefetch`) a whole turn before they are summed.

The loop takes its parts as compiled functions of fixed signature (`Functions`), so a student's
own index or update takes the library's place without compiling the loop again.

The rules
---------
The loop works out TD errors and says which board's weights learn from which error; what a rule
(TD, TC, Autostep) makes of an error is its update, in `rules`.  An error reaches back over the
last h + 1 afterstates (Jaśkowski 2018, sections IV-D and V-C).  Online, each of them learns its
share at once; delayed, an afterstate learns a single time, when all its h + 1 errors are known.
TD(0) is the case h = 0 of both.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
from numba import types

from lib2048.game.board import WHOLE, Grid, slide_all, slide_all_in, slide_one, spawn_kernel
from lib2048.game.rng import below, draw, seed_bits, stream_kernel
from lib2048.game.spec import FOUR_CHANCE
from lib2048.learn.rules import RULES, UPDATE_SIGNATURE, horizon, new_memory
from lib2048.learn.starts import CAROUSEL, RESTART, check_starts, new_starts, remember, start_kernel
from lib2048.machine.kernels import compiled, kernel, part, prefetch
from lib2048.networks.network import (
    FORMS,
    GRID,
    LOOK_SIGNATURE,
    TURNED,
    VALUE_SIGNATURE,
    VALUES_SIGNATURE,
    image_boards,
    look_kernel,
    promote,
    read_through,
    shift_to_stages,
    stage_positions,
    unplanes,
    value_kernel,
    values_kernel,
)
from lib2048.networks.stages import STAGES, Stages, next_stage, stage_kernel

AFTERSTATE, STATE, Q = range(3)  # what a value belongs to; the order of ntuple.FORMS
LANES = 2  # games that take turns in one thread
PIECES, LARGEST_PIECE = 8, 1 << 20  # of a crew's budget: so many a thread and round, and actions
LINES = 256  # bytes on both sides of a thread's own arrays
LONGEST_GAME = 1 << 18  # actions: 16 tiles of 32768 sum to 2^19, and an action adds 2 or more
ILLEGAL = np.float32(-np.inf)
TWO_CHANCE = np.float32(1 - FOUR_CHANCE)
FOUR = np.float32(FOUR_CHANCE)
ZERO, ONE, TWO, THREE, QUAD = map(np.uint64, range(5))
ALL_ONES = np.uint64((1 << 64) - 1)  # + 1 is 0
_LOW24 = np.uint64((1 << 24) - 1)

# ---------------------------------------------------------------- what the loop works on


class Functions(NamedTuple):
    """The parts of the loop that belong to a network: compiled functions of fixed signature."""

    look: object  # positions of the look-ups of four boards
    values: object  # values of four boards
    value: object  # value of one board
    update: object  # let the weights of one board learn from an error


class Rule(NamedTuple):
    """How to learn.  Plain numbers, so that one compiled loop serves all."""

    form: int  # AFTERSTATE, STATE or Q
    backward: bool  # learn an episode from its end, once it is over
    learn: bool  # False: only play
    rate: np.float32  # α or β divided by the number of look-ups; μ for Autostep
    decay: np.float32  # λ
    slots: np.uint64  # h + 1: the afterstates that an error reaches
    delay: bool  # learn each afterstate once, when all its errors are known
    memory: np.uint64  # numbers that the rule keeps beside each weight: see rules.RULES
    optimistic: np.float32  # V_init, what every board is worth beside the sum of its weights
    epsilon: np.float32  # how often any legal action is taken instead of the best
    size: np.uint64  # weights of one action's tables (Q), 0 in the other forms
    grid: Grid  # the board's size
    stages: Stages  # of the network
    start: int  # where episodes begin: the number of one of starts.STARTS


def rule_of(
    network, rate=0.0, backward=False, epsilon=0.0, learn=True, rule="td", decay=0.0, delay=True,
    starts="initial",
):  # fmt: skip
    """Return the `Rule` that learns (or only plays) with a network.

    rule: 'td', 'tc' or 'autostep'; rate: its α, β or μ; epsilon: 0 … 1; decay: λ, 0 ≤ λ < 1;
    delay: learn each afterstate once, h actions later; starts: where episodes begin.
    """
    kind, form = RULES[rule], FORMS.index(network.form)
    slots = min(horizon(decay) + 1, LONGEST_GAME)
    rate = np.float32(rate / network.lookups_per_board if kind.shared else rate)
    return Rule(
        form, backward, learn, rate, np.float32(decay), np.uint64(slots), delay,
        np.uint64(kind.memory), np.float32(network.optimistic), np.float32(epsilon),
        network.head_size, network.grid, network.stages,
        check_starts(starts, network.stages.count),
    )  # fmt: skip


LANE = np.dtype(
    [
        ("board", np.uint64),  # the state whose action comes next
        ("random", np.uint64),  # the game's random state
        ("number", np.int64),  # the game's number, −1 for an idle lane
        ("score", np.int64),  # points so far
        ("length", np.int64),  # actions so far
        ("slot", np.uint64),  # where the newest entry is kept
        ("stage", np.uint64),  # of the board
        ("late", np.uint64),  # 0 when all four actions lead to stage 0
        ("watched", np.int64),  # whether `_keep_track` has something to keep
        ("start", np.int64),  # where the game began, −1 before the first; see starts.start_kernel
    ],
    align=True,
)
COUNTERS = ("turn", "next_game", "actions", "rows", "stride")  # int64 each; see play_kernel
TURN, NEXT_GAME, ACTIONS, ROWS, STRIDE = range(5)
RESULT_COLUMNS = ("game", "score", "actions", "largest", "start")
# largest: exponent of the largest tile; score and actions: since the start; start: where the game
# began, 0 for the initial state, see starts.start_kernel
PAST = np.dtype(
    [
        ("board", np.uint64),  # a board whose value is learned: an entry
        ("action", np.int64),  # the action taken there
        ("reward", np.float32),  # its reward
        ("error", np.float32),  # its TD error, once it is known
    ],
    align=True,
)


class Work(NamedTuple):
    """Work space of one thread; holds nothing that must be kept."""

    candidates: np.ndarray  # uint64[4·lanes]: the boards that the four actions lead to
    rewards: np.ndarray  # float32[4·lanes]: their rewards, −inf where the action is illegal
    images: np.ndarray  # uint64[32]: symmetric images of four boards
    positions: np.ndarray  # uint32[4n·lanes]: look-ups of the candidates
    entries: np.ndarray  # uint32[n·slots·lanes]: look-ups of the last entries of each lane
    values: np.ndarray  # float32[8]: of the four candidates, and as much for expectations
    trial: np.ndarray  # uint64[4]: other boards to look up
    trial_positions: np.ndarray  # uint32[4n]: their look-ups
    stages: np.ndarray  # uint64[4·lanes]: stages of the candidates
    past: np.ndarray  # PAST[lanes, slots]: the last entries; the whole episodes when backward


# ---------------------------------------------------------------- looking up


@part
def _expand(look, weights, lane, rule, n, at, candidates, rewards, images, positions, stages):
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
    if rule.stages.marks:
        marks, lowest = rule.stages.marks, rule.stages.lowest
        p = next_stage(lane.stage, up, rewards[at], marks, lowest)
        q = next_stage(lane.stage, right, rewards[at + ONE], marks, lowest)
        r = next_stage(lane.stage, down, rewards[at + TWO], marks, lowest)
        s = next_stage(lane.stage, left, rewards[at + THREE], marks, lowest)
        stages[at], stages[at + ONE], stages[at + TWO], stages[at + THREE] = p, q, r, s
        lane.late = p | q | r | s
        if lane.late:
            shift_to_stages(positions, first, QUAD * n, rule.stages.size, p, q, r, s)
    for i in range(first, first + QUAD * n):
        prefetch(weights, positions[i])


@kernel
def _look_up_one(look, board, action, rule, n, at, images, trial, trial_positions, entries):
    """Write the n look-ups of one board (and, for Q, its action) to entries[at …]."""
    trial[0], trial[1], trial[2], trial[3] = board, ZERO, ZERO, ZERO
    image_boards(trial, ZERO, images, rule.grid)
    look(images, trial_positions, ZERO)
    if rule.stages.marks:
        stage_positions(trial, ZERO, trial_positions, ZERO, QUAD * n, rule.stages)
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
def _expected_value(
    look, values_of, weights, after, n, lost, images, trial, trial_positions, values
):  # fmt: skip
    """Average V over the spawns: 2 with 0.9, 4 with 0.1, in every empty cell."""
    total, count = np.float32(0), np.float32(0)
    for cell in range(ZERO, np.uint64(64), QUAD):
        if (after >> cell) & np.uint64(15) == ZERO:
            trial[0], trial[1] = after | (ONE << cell), after | (TWO << cell)
            trial[2], trial[3] = ZERO, ZERO
            image_boards(trial, ZERO, images, WHOLE)
            look(images, trial_positions, ZERO)
            values_of(weights, trial_positions, ZERO, n, values)
            total += TWO_CHANCE * (values[0] if _alive(trial[0]) else lost)
            total += FOUR * (values[1] if _alive(trial[1]) else lost)
            count += np.float32(1)
    return total / count


@kernel
def _alive(board):
    """Say whether some action is legal."""
    up, right, down, left, _, _ = slide_all(board)
    return up != board or right != board or down != board or left != board


@kernel
def _expect(
    look, values_of, weights, board, n, lost, at, rewards, images, trial, positions, values
):  # fmt: skip
    """Write, for each legal action, the expected value of the state that its spawn leads to.

    lost: the sum of weights that stands for a lost board, −V_init.
    """
    for a in range(ZERO, QUAD):  # values[0..3] are work space of each expectation
        values[QUAD + a] = np.float32(0)
        if rewards[at + a] >= 0:
            after, _ = slide_one(board, a)
            values[QUAD + a] = _expected_value(
                look, values_of, weights, after, n, lost, images, trial, positions, values
            )
    for a in range(ZERO, QUAD):
        values[a] = values[QUAD + a]


# ---------------------------------------------------------------- learning


@part
def _earlier(slot, back, slots):
    """Return the slot of the entry that is `back` actions older, 0 ≤ back < slots."""
    return slot - back if slot >= back else slot + slots - back


@part
def _errors_since(past, g, slot, age, rule):
    """Return Σ λ^k δ of the entry that is `age` actions old and of all later ones."""
    total = np.float32(0)
    for back in range(age + ONE):
        total = past[g, _earlier(slot, back, rule.slots)].error + rule.decay * total
    return total


@part
def _learn_late(update, weights, memory, entries, past, g, n, slot, known, over, rule):
    """Learn the entry that is now h actions old; at the end of the game, all that are left.

    Delayed TD(λ) and TC(λ) (Jaśkowski 2018, Algorithms 3 and 4): each entry learns once, from the
    sum of its errors.  slot: where the newest entry is kept; known: how many have an error by now.
    """
    last = ZERO if over else rule.slots - ONE
    age = min(known, rule.slots)
    while age > last:
        age -= ONE
        error = _errors_since(past, g, slot, age, rule)
        at = (g * rule.slots + _earlier(slot, age, rule.slots)) * n
        update(weights, memory, entries, at, n, error, rule.rate)


@part
def _learn_at_once(update, weights, memory, entries, g, n, slot, known, error, rule):
    """Learn the newest error in the last h + 1 entries, the newest first (online TD(λ), TC(λ))."""
    share = rule.rate
    for back in range(min(known, rule.slots)):
        at = (g * rule.slots + _earlier(slot, back, rule.slots)) * n
        update(weights, memory, entries, at, n, error, share)
        share *= rule.decay


@kernel
def _learn_backward(
    functions, weights, memory, g, length, rule, n, images, trial, spare, entries, past
):
    """Learn a finished episode from its last entry to its first, each from the newest value."""
    at, next_value, next_reward = g * rule.slots * n, -rule.optimistic, np.float32(0)
    for t in range(length - 1, -1, -1):
        entry = past[g, t]
        _look_up_one(
            functions.look, entry.board, entry.action, rule, n, at, images, trial, spare, entries
        )
        if rule.stages.below:
            stage = stage_kernel(entry.board, rule.stages.marks, rule.stages.lowest)
            read_through(weights, entries, at, n, rule.stages.below)
            promote(weights, entries, at, n, stage, rule.stages.below)
        target = next_value + (next_reward if rule.form == AFTERSTATE else entry.reward)
        error = target - functions.value(weights, entries, at, n)
        functions.update(weights, memory, entries, at, n, error, rule.rate)
        next_value, next_reward = functions.value(weights, entries, at, n), entry.reward


# ---------------------------------------------------------------- games


@part
def _begin(lane, g, counters, seed, last_game, rule, pool, entered, trail):
    """Give a lane the next game, or make it idle when none is left."""
    number, length = counters[NEXT_GAME], lane.length
    lane.score, lane.length, lane.number, lane.board = 0, 0, -1, ZERO
    lane.slot = ALL_ONES
    if number < last_game:
        counters[NEXT_GAME] = number + counters[STRIDE]
        lane.number = number
        lane.board, lane.random, lane.start = start_kernel(
            rule.start, stream_kernel(seed, number), number, rule.grid,
            lane.start, length, g, pool, entered, trail,
        )  # fmt: skip
        lane.watched = rule.start == RESTART or rule.stages.marks > ZERO
        if rule.stages.marks:
            lane.stage = stage_kernel(lane.board, rule.stages.marks, rule.stages.lowest)
        if rule.start == RESTART:
            trail[g, lane.start] = lane.board


@kernel
def _keep_track(lanes, g, stage, start, pool, entered, trail, visits):
    """Count the stage that an action led into, and keep what later games may begin from."""
    lane = lanes[g]
    if start == CAROUSEL and stage > lane.stage:
        remember(pool, entered, stage, lane.board)
    elif start == RESTART:
        trail[g, lane.start + lane.length] = lane.board
    lane.stage = stage
    visits[stage] += 1


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
    results[row, 4] = lane.start
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
        types.boolean,
        types.uint64,
        types.float32,
        types.float32,
        types.uint64,
        GRID,
        STAGES,
        types.int64,
    ),
    Rule,
)
_FUNCTIONS = tuple(
    types.FunctionType(signature)
    for signature in (LOOK_SIGNATURE, VALUES_SIGNATURE, VALUE_SIGNATURE, UPDATE_SIGNATURE)
)
_PLAY_SIGNATURE = types.boolean(
    *_FUNCTIONS, _F32, _F32, _LANES, _I64, _RULE,
    types.uint64, types.int64, types.int64, types.int64[:, ::1],
    types.uint64[:, ::1], _I64, types.uint64[:, ::1], _I64,
    _U64, _F32, _U64, _U32, _U32, _F32, _U64, _U32, _U64, _PAST,
)  # fmt: skip


@compiled(_PLAY_SIGNATURE)
def play_kernel(
    look, values_of, value, update,
    weights, memory, lanes, counters, rule, seed, last_game, last_action, results,
    pool, entered, trail, visits,
    candidates, rewards, images, positions, entries, values, trial, spare, stages, past,
):  # fmt: skip
    """Play (and learn) on until a limit is reached; return whether games are left to play.

    It stops when counters[ACTIONS] is `last_action`, when `results` is full, or when all games
    below number `last_game` are over.  Called again with the same lanes and counters it goes on
    as if it had never stopped.
    """
    functions = Functions(look, values_of, value, update)
    online, lost = rule.learn and not rule.backward, -rule.optimistic
    n = np.uint64(len(spare)) // QUAD
    for g in range(ZERO, np.uint64(len(lanes))):
        lane, at = lanes[g], g * QUAD
        if lane.number < 0:
            _begin(lane, g, counters, seed, last_game, rule, pool, entered, trail)
        if lane.number >= 0:
            _expand(
                look, weights, lane, rule, n, at, candidates, rewards, images, positions, stages
            )  # fmt: skip
        for slot in range(min(np.uint64(lane.length), rule.slots) if online else ZERO):
            entry, place = past[g, slot], (g * rule.slots + slot) * n
            _look_up_one(
                look, entry.board, entry.action, rule, n, place, images, trial, spare, entries
            )
    g = np.uint64(counters[TURN])
    if lanes[g].number < 0:
        g = _next_lane(lanes, g)
    while g < len(lanes):
        if counters[ACTIONS] >= last_action or counters[ROWS] >= len(results):
            counters[TURN] = np.int64(g)
            return True
        lane, at = lanes[g], g * QUAD

        if rule.stages.below and lane.late:
            read_through(weights, positions, at * n, QUAD * n, rule.stages.below)
        values_of(weights, positions, at * n, n, values)
        next_value = values[0]
        if rule.form == STATE:
            _expect(
                look, values_of, weights, lane.board, n, lost,
                at, rewards, images, trial, spare, values,
            )  # fmt: skip
        action, best_value = _best(values, rewards, at, rule.form != Q)
        over = action == QUAD
        if rule.epsilon > 0 and not over:
            action = _explore(lane, rewards, at, rule.epsilon, action)
            best_value = values[action]
            best_value += rewards[at + action] if rule.form != Q else np.float32(0)

        slot, known = lane.slot, np.uint64(lane.length)
        if online and known > ZERO:
            next_value = best_value if rule.form != STATE else next_value
            target = lost if over else next_value
            target += np.float32(0) if rule.form == AFTERSTATE else past[g, slot].reward
            error = target - value(weights, entries, (g * rule.slots + slot) * n, n)
            past[g, slot].error = error
            if rule.delay:
                _learn_late(update, weights, memory, entries, past, g, n, slot, known, over, rule)
            else:
                _learn_at_once(update, weights, memory, entries, g, n, slot, known, error, rule)

        if over:
            if rule.learn and rule.backward:
                _learn_backward(
                    functions, weights, memory, g, lane.length, rule, n,
                    images, trial, spare, entries, past,
                )  # fmt: skip
            _record(lane, counters, results)
            _begin(lane, g, counters, seed, last_game, rule, pool, entered, trail)
        else:
            after, reward = candidates[at + action], rewards[at + action]
            if rule.learn:
                slot = slot + ONE if slot + ONE < rule.slots else ZERO
                lane.slot = slot
                entry = past[g, slot if online else known]
                entry.board, entry.action, entry.reward = after, np.int64(action), reward
            if online:
                place = (g * rule.slots + slot) * n
                for i in range(ZERO, n):
                    entries[place + i] = positions[QUAD * (g * n + i) + action]
                if rule.stages.below:
                    promote(weights, entries, place, n, stages[at + action], rule.stages.below)
                if rule.memory:
                    for i in range(place, place + n):
                        prefetch(memory, np.uint64(entries[i]) * rule.memory)
            if rule.form != AFTERSTATE:
                after, _ = slide_one(after, action)
            _act(lane, counters, after, reward, rule.grid)
            if lane.watched:
                stage = stages[at + action]
                _keep_track(lanes, g, stage, rule.start, pool, entered, trail, visits)
        if lane.number >= 0:
            _expand(
                look, weights, lane, rule, n, at, candidates, rewards, images, positions, stages
            )  # fmt: skip
        g = _next_lane(lanes, g)
    counters[TURN] = 0
    return False


# ---------------------------------------------------------------- for people


def functions_of(tuples, rule="td"):
    """Return the library's own `Functions` for a network's tuples and a rule, compiled."""
    return Functions(look_kernel(tuples), values_kernel(), value_kernel(), RULES[rule].update())


class Games:
    """Games in progress on one network, in one thread: play some, stop, go on.

    functions: `Functions`; weights: float32[size]; lookups: n; rule: `Rule`; seed: int;
    lanes: games that take turns; first_game: number of the first game, stride: from one game's
    number to the next one's; memory: float32, what the rule keeps beside the weights.
    """

    def __init__(
        self, functions, weights, lookups, rule, seed,
        lanes=LANES, first_game=0, stride=1, memory=None,
    ):  # fmt: skip
        self.functions, self.weights, self.rule = functions, weights, rule
        self.memory = new_memory(0) if memory is None else memory
        self.seed = seed_bits(seed)
        self.lanes = _records(lanes, LANE)
        self.lanes["number"] = self.lanes["start"] = -1
        self.counters = _apart(len(COUNTERS), np.int64)
        self.counters[NEXT_GAME], self.counters[STRIDE] = first_game, stride
        self.starts = new_starts(rule.start, rule.stages.count, lanes, LONGEST_GAME, _apart)
        self.work = _new_work(lanes, lookups, rule)

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
            *self.functions, self.weights, self.memory, self.lanes, self.counters, self.rule,
            self.seed, last_game, last_action, results, *self.starts, *self.work,
        )  # fmt: skip
        return results[: self.counters[ROWS]], more

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        lanes = {f"lane_{name}": self.lanes[name].copy() for name in LANE.names}
        episodes = np.concatenate(self._episodes())
        past = {f"past_{name}": episodes[name].copy() for name in PAST.names}
        starts = {name: array.copy() for name, array in self.starts._asdict().items()}
        starts["trail"] = self.starts.trail[:, : self._turns()].copy()
        return {**lanes, **past, **starts, "counters": self.counters.copy()}

    def restore(self, state):
        """Take up a state that `state` returned."""
        for name in LANE.names:
            self.lanes[name] = state.get(f"lane_{name}", 0)
        start = 0
        for episode in self._episodes():
            for name in PAST.names:
                episode[name] = state[f"past_{name}"][start : start + len(episode)]
            start += len(episode)
        self.counters[:] = state["counters"]
        for name, array in self.starts._asdict().items():
            kept = state.get(name, array)
            (array[:, : kept.shape[1]] if kept.ndim > 1 else array)[:] = kept

    def _turns(self):
        """The turns of the longest game in progress, those before a restart included."""
        return 1 + int((self.lanes["start"] + self.lanes["length"]).max())

    def _episodes(self):
        """What is kept of the unfinished episodes, a view a lane."""
        return [past[:length] for past, length in zip(self.work.past, self.lanes["length"])]


class Crew:
    """Games in several threads that learn on the same tables at once, without locks.

    members: a list of `Games`, one for each thread.  Every thread has games of its own numbers,
    and so its own luck; which update comes first is left to chance (lock-free optimistic
    parallelism, Jaśkowski 2018, section V-A3).  A crew of one does what its member does.
    """

    def __init__(self, members):
        self.members, self._lock, self._left = members, threading.Lock(), 0
        self._pool = ThreadPoolExecutor(len(members)) if len(members) > 1 else None

    @property
    def actions(self):
        """The number of actions so far, of all threads."""
        return sum(games.actions for games in self.members)

    @property
    def visits(self):
        """How many actions led into each stage, of all threads: int64[stages]."""
        if self.members[0].rule.stages.count == 1:
            return np.array([self.actions])
        return np.sum([games.starts.visits for games in self.members], axis=0)

    @property
    def finite(self):
        """Whether the values that were looked up last are numbers."""
        return all(np.isfinite(games.work.values).all() for games in self.members)

    def play(self, last_game, last_action, rows):
        """Play on until a limit that the threads share; see `Games.play`."""
        if self._pool is None:
            return self.members[0].play(last_game, last_action, rows)
        self._left = last_action - self.actions
        piece = max(1, min(self._left // (PIECES * len(self.members)), LARGEST_PIECE))
        tasks = [self._pool.submit(self._work, g, last_game, piece, rows) for g in self.members]
        found = [task.result() for task in tasks]
        parts = [part for results, _ in found for part in results]
        return np.concatenate(parts), any(more for _, more in found)

    def _work(self, games, last_game, piece, rows):
        """Take one piece of the budget after the other; return (results of each, games left)."""
        found, more = [np.zeros((0, len(RESULT_COLUMNS)), np.int64)], True
        while more and (share := self._take(piece)):
            before = games.actions
            results, more = games.play(last_game, before + share, rows)
            found.append(results)
            self._give(share - (games.actions - before))
        return found, more

    def _take(self, piece):
        with self._lock:
            share = min(piece, self._left)
            self._left -= share
            return share

    def _give(self, unused):
        with self._lock:
            self._left += unused

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        if len(self.members) == 1:
            return self.members[0].state()
        states = [games.state() for games in self.members]
        return {f"{k}_{name}": part for k, one in enumerate(states) for name, part in one.items()}

    def restore(self, state):
        """Take up a state that `state` returned for as many threads."""
        for k, games in enumerate(self.members):
            start = f"{k}_" if len(self.members) > 1 else ""
            games.restore({name.removeprefix(start): part for name, part in state.items()
                           if name.startswith(start)})  # fmt: skip


def _apart(shape, dtype):
    """Zeros that share no cache line with anything else, or two threads would wait for each other.

    The processor hands memory around in lines of 64 bytes, often two at a time.
    """
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    whole = np.zeros(nbytes + 2 * LINES, np.uint8)
    return whole[LINES : LINES + nbytes].view(dtype).reshape(shape)


def _records(shape, dtype):
    """Zeros whose fields are attributes, compiled or not."""
    records = _apart(shape, dtype)
    return records.view(np.recarray) if numba.config.DISABLE_JIT else records


def _new_work(lanes, n, rule):
    slots = LONGEST_GAME if rule.backward and rule.learn else int(rule.slots)
    return Work(
        candidates=_apart(4 * lanes, np.uint64),
        rewards=_apart(4 * lanes, np.float32),
        images=_apart(32, np.uint64),
        positions=_apart(4 * n * lanes, np.uint32),
        entries=_apart(n * int(rule.slots) * lanes, np.uint32),
        values=_apart(8, np.float32),
        trial=_apart(4, np.uint64),
        trial_positions=_apart(4 * n, np.uint32),
        stages=_apart(4 * lanes, np.uint64),
        past=_records((lanes, slots), PAST),
    )


def own_functions(network, index=None, value=None, update=None, rule="td"):
    """Put functions of your own in the place of the library's.

    index: (board uint64, positions uint32[n]) → None, writes where the board's n = 8·m weights
    lie; value: (weights, positions) → float32; update: (weights, positions, amount) → None, adds
    to every weight.  For a rule with a memory, update: (weights, memory, positions, error, rate)
    → None, with TC's E and A of weight p at memory[2p] and memory[2p + 1] (see `rules`); rate is
    already shared by the look-ups.  Each is plain Python that numba can compile, or None for the
    library's own.  Returns `Functions`.  They are compiled here, in about half a second each.
    """
    ours, n = functions_of(network.tuples, rule), network.lookups_per_board
    look = ours.look if index is None else _own_look(numba.njit(index), n)
    if value is None:
        values, one = ours.values, ours.value
    else:
        values, one = _own_values(numba.njit(value), n)
    changed = ours.update
    if update is not None:
        changed = _own_update(numba.njit(update), RULES[rule].memory > 0)
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


def _own_update(update, remembers):
    if remembers:

        @numba.njit(UPDATE_SIGNATURE, nogil=True)
        def changed(weights, memory, positions, at, n, error, rate):
            update(weights, memory, positions[at : at + n], error, rate)

    else:

        @numba.njit(UPDATE_SIGNATURE, nogil=True)
        def changed(weights, memory, positions, at, n, error, rate):
            update(weights, positions[at : at + n], error * rate)

    return changed


def choose_action(functions, network, rule, board):
    """Choose on one board as the loop does.

    Returns (action or None, float32[4] of what the actions are worth without their rewards; for
    Q, with).  Illegal actions hold a meaningless number.
    """
    work, lanes = _new_work(1, network.lookups_per_board, rule), _records(1, LANE)
    lanes["board"], lanes["stage"] = np.uint64(board), network.stage(board)
    action = choose_kernel()(
        functions.look, functions.values, network.weights, lanes, rule,
        work.candidates, work.rewards, work.images, work.positions, work.values,
        work.trial, work.trial_positions, work.stages,
    )  # fmt: skip
    return (None if action == 4 else int(action)), work.values[:4] + rule.optimistic


@compiled(
    types.uint64(
        *_FUNCTIONS[:2], _F32, _LANES, _RULE, _U64, _F32, _U64, _U32, _F32, _U64, _U32, _U64
    )  # fmt: skip
)
def choose_kernel(
    look, values_of, weights, lanes, rule,
    candidates, rewards, images, positions, values, trial, spare, stages,
):  # fmt: skip
    """Choose on the board of the first lane; return the action, 4 when none is legal."""
    n = np.uint64(len(spare)) // QUAD
    _expand(look, weights, lanes[0], rule, n, ZERO, candidates, rewards, images, positions, stages)
    if rule.stages.below:
        read_through(weights, positions, ZERO, QUAD * n, rule.stages.below)
    values_of(weights, positions, ZERO, n, values)
    if rule.form == STATE:
        _expect(
            look, values_of, weights, lanes[0].board, n, -rule.optimistic,
            ZERO, rewards, images, trial, spare, values,
        )  # fmt: skip
    return _best(values, rewards, ZERO, rule.form != Q)[0]
