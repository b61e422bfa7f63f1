"""The one episode loop that every learner and every network player runs.

Some games take turns in a thread, its lanes.  While one waits for its weights to come from memory,
another chooses its action: between the sums of the one the processor is asked for the weights that
the other will need (`prefetch`).

A turn has four phases: choose an action (`choose`), learn from what the state turned out to be
worth (`credit`), take the action or finish the game, look up where the next actions lead.  The
parts that belong to a network (`Functions`) are compiled functions of fixed signature, so a
student's own index or update takes the library's place without compiling the loop again.
"""

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.tile_65536 import in_state, largest
from lib2048.game.turn import next_state
from lib2048.learn.choose import choose, expand, look_up_one
from lib2048.learn.credit import learn, learn_backward
from lib2048.learn.records import (
    ACTIONS,
    AFTERSTATE,
    FUNCTIONS,
    LANES,
    NEXT_GAME,
    ROWS,
    STATE,
    STRIDE,
    TURN,
    Functions,
    Limits,
    Method,
    Work,
)
from lib2048.learn.starts import (
    CAROUSEL,
    Starts,
    begin_game,
    keep_turn,
    remember,
    restarts,
    take_turn,
)
from lib2048.machine.kernels import compiled, kernel, numba_type, part
from lib2048.machine.native import borrowed, peek, prefetch
from lib2048.networks.lookups import promote
from lib2048.networks.stages import stage_kernel

ZERO, ONE, QUAD = np.uint64(0), np.uint64(1), np.uint64(4)
OVER = QUAD  # instead of an action: none is legal
BEFORE_FIRST = np.uint64((1 << 64) - 1)  # a slot; + 1 is 0

# ---------------------------------------------------------------- a game's beginning and end


@part
def _begin(lane, g, counters, method, starts, limits):
    """Give a lane the next game, or make it idle when none is left."""
    number, lane.slot = counters[NEXT_GAME], BEFORE_FIRST
    if number < limits.last_game:
        counters[NEXT_GAME] = number + counters[STRIDE]
        begin_game(lane, method.start, limits.seed, number, method.game, g, starts)
        lane.watched = restarts(method.start) or method.stages.lowest > ZERO
        if method.stages.lowest:
            marks, lowest = method.stages.marks, method.stages.lowest
            lane.stage = stage_kernel(lane.board, ZERO, marks, lowest)
    else:
        lane.number, lane.board, lane.score, lane.length = -1, ZERO, 0, 0


@part
def record(lane, counters, results, game):
    """Write a finished game's row of the results."""
    row = counters[ROWS]
    results[row, 0], results[row, 1] = lane.number, lane.score
    top = largest(lane.board, lane.word, game)
    results[row, 2], results[row, 3] = lane.length, np.int64(top)
    results[row, 4] = lane.start
    counters[ROWS] = row + 1


# ---------------------------------------------------------------- taking an action


@part
def _take(functions, weights, memory, method, lane, g, action, worth, counters, work):
    """Take an action: note it for learning, count it, and let a tile spawn."""
    after, reward = lane.candidates[action], lane.rewards[action]
    if method.learn:
        _note(functions, weights, memory, method, lane, g, action, worth, work)
    if method.form != AFTERSTATE:
        after, _ = rules.slide_one(after, action, in_state(method.game, lane.word))
    counters[ACTIONS] += 1
    take_turn(lane, after, reward, action, method.game)


@part
def _note(functions, weights, memory, method, lane, g, action, worth, work):
    """Keep the entry whose value will be learned, with its look-ups unless it is a whole game.

    worth: of the state, which is the entry's value where states have the values.
    """
    slot, n = lane.slot + ONE, functions.lookups
    lane.slot = slot if slot < method.slots else ZERO
    entry = work.past[g, np.uint64(lane.length) if method.backward else lane.slot]
    entry.board, entry.action = lane.candidates[action], np.int64(action)
    if rules.SEEN:
        entry.word = lane.word
    entry.reward = lane.rewards[action]
    entry.value = worth if method.form == STATE else work.values[action]
    if method.backward:
        return
    place = (g * method.slots + lane.slot) * n
    for i in range(ZERO, n):
        work.entries[place + i] = work.positions[QUAD * (g * n + i) + action]
    if method.stages.below:
        promote(weights, work.entries, place, n, lane.stages[action], method.stages.below)
    if method.memory:
        for i in range(place, place + n):
            prefetch(memory, np.uint64(work.entries[i]) * method.memory)


@kernel
def _keep_track(lane, g, stage, start, starts):
    """Count the stage that an action led into, and keep what later games may begin from."""
    if start == CAROUSEL and stage > lane.stage:
        remember(starts.pool, starts.entered, stage, lane.board)
    elif restarts(start):
        keep_turn(starts, g, lane.start + lane.length, lane.board, lane.word)
    lane.stage = stage
    starts.visits[stage] += 1


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


@part
def _take_up(functions, weights, method, lanes, counters, starts, work, limits):
    """Begin games in idle lanes and look up again what the others need to go on."""
    for g in range(ZERO, np.uint64(len(lanes))):
        lane = lanes[g]
        if lane.number < 0:
            _begin(lane, g, counters, method, starts, limits)
        if lane.number >= 0:
            expand(functions, weights, method, lane, g, work)
        if method.learn and not method.backward:
            for slot in range(min(np.uint64(lane.length), method.slots)):
                entry, place = work.past[g, slot], (g * method.slots + slot) * functions.lookups
                look_up_one(functions, method, entry.board, entry.word, entry.action, place, work)


@compiled(
    types.boolean(
        FUNCTIONS,
        types.float32[::1],
        types.float32[::1],
        numba_type(Method),
        LANES,
        types.int64[::1],
        numba_type(Starts),
        numba_type(Work),
        types.int64[:, ::1],
        numba_type(Limits),
    )
)
def play_kernel(functions, weights, memory, method, lanes, counters, starts, work, results, limits):
    """Play (and learn) on until a limit is reached; return whether games are left to play.

    It stops when counters[ACTIONS] is `limits.last_action`, which another thread may change, when
    `results` is full, or when all games below number `limits.last_game` are over.  Called again
    with the same lanes and counters it goes on as if it had never stopped.
    """
    lookups, look, values, value, update = functions
    functions = Functions(lookups, look, values, value, update)
    weights, memory, lanes = borrowed((weights, memory, lanes))
    counters, results = borrowed((counters, results))
    starts, work, limits = borrowed(starts), borrowed(work), borrowed(limits)
    _take_up(functions, weights, method, lanes, counters, starts, work, limits)
    g = np.uint64(counters[TURN])
    if lanes[g].number < 0:
        g = _next_lane(lanes, g)
    ahead = g  # the lane that was looked up last, g itself where there is none
    while g < len(lanes):
        if counters[ACTIONS] >= peek(limits.last_action, 0) or counters[ROWS] >= len(results):
            counters[TURN] = np.int64(g)
            return True
        lane = lanes[g]
        action, worth = choose(functions, weights, method, lane, g, work, ahead)
        if method.learn and not method.backward and lane.length > 0:
            learn(functions, weights, memory, method, lane, g, action == OVER, worth, work)
        if action != OVER:
            _take(functions, weights, memory, method, lane, g, action, worth, counters, work)
            if lane.watched:
                _keep_track(lane, g, lane.stages[action], method.start, starts)
        else:
            if method.learn and method.backward:
                learn_backward(functions, weights, memory, method, g, lane.length, work)
            record(lane, counters, results, method.game)
            _begin(lane, g, counters, method, starts, limits)
        if lane.number >= 0:
            expand(functions, weights, method, lane, g, work)
        ahead, g = g, _next_lane(lanes, g)
    counters[TURN] = 0
    return False


@compiled(
    types.int64(
        FUNCTIONS,
        types.float32[::1],
        numba_type(Method),
        LANES,
        numba_type(Work),
        types.uint64[::1],
        types.uint64[::1],
        types.float32[:, ::1],
        types.int64[::1],
        types.uint64,
        types.boolean,
    )
)
def choose_kernel(
    functions, weights, method, lanes, work, boards, words, worths, actions, luck, plays
):
    """Choose on one board after the other, by the first lane; return how many had a legal action.

    worths: what the four actions are worth without their rewards; actions: 4 where none is legal.
    plays: whether each board is what luck makes of the one before: boards and words are written,
    one more than there are actions, and the first without an action is the last.
    """
    lookups, look, values, value, update = functions
    functions, lane, alive = Functions(lookups, look, values, value, update), lanes[0], 0
    for i in range(len(actions)):
        lane.board, lane.word = boards[i], words[i]
        if method.stages.lowest:
            lane.stage = stage_kernel(lane.board, ZERO, method.stages.marks, method.stages.lowest)
        expand(functions, weights, method, lane, ZERO, work)
        action = choose(functions, weights, method, lane, ZERO, work, ZERO)[0]
        actions[i], worths[i] = np.int64(action), work.values[:4]
        alive += action != OVER
        if plays:
            if action == OVER:
                break
            after, _ = rules.slide_one(boards[i], action, in_state(method.game, words[i]))
            boards[i + 1], words[i + 1], _, luck = next_state(
                boards[i], words[i], action, after, luck, method.game
            )
    return alive
