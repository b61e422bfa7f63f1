"""The loop's second phase: which afterstates learn from which error.

An error reaches back over the last h + 1 afterstates (Jaśkowski 2018, sections IV-D and V-C).
Online, each of them learns its share at once; delayed, an afterstate learns a single time, when
all its h + 1 errors are known.  TD(0) is the case h = 0 of both.  True online TD(λ) corrects each
share for what the board holds of the others (dutch traces).  Or an episode is learned from its end,
once it is over.  What a rule makes of an error is its update, in `rules`.
"""

import numpy as np

from lib2048.learn.choose import look_up_one
from lib2048.learn.records import AFTERSTATE
from lib2048.machine.kernels import kernel, part
from lib2048.networks.lookups import promote, read_through
from lib2048.networks.stages import stage_kernel

ZERO, ONE = np.uint64(0), np.uint64(1)


@part
def learn(functions, weights, memory, method, lane, g, over, worth, work):
    """Let the last afterstates learn from what the state after the newest turned out to be worth.

    over: whether no action is legal there; worth: its reward and value otherwise.
    """
    slot, known = lane.slot, np.uint64(lane.length)
    target = -method.optimistic if over else worth
    target += np.float32(0) if method.form == AFTERSTATE else work.past[g, slot].reward
    at = _place(functions, method, g, slot)
    error = target - _value(functions, weights, method, work.past[g, slot], at, work)
    work.past[g, slot].error = error
    if method.dutch:
        _learn_true_online(functions, weights, memory, method, g, slot, known, error, work)
    elif method.delay:
        _learn_late(functions, weights, memory, method, g, slot, known, over, work)
    else:
        _learn_at_once(functions, weights, memory, method, g, slot, known, error, work)


@part
def _value(functions, weights, method, entry, at, work):
    """Return V in an entry's error: looked up now, or as it was when its action was chosen."""
    if method.remembered:
        return entry.value
    return functions.value(weights, work.entries, at, functions.lookups)


@part
def _place(functions, method, g, slot):
    """Return where the look-ups of a lane's entry begin."""
    return (g * method.slots + slot) * functions.lookups


@part
def _earlier(slot, back, slots):
    """Return the slot of the entry that is `back` actions older, 0 ≤ back < slots."""
    return slot - back if slot >= back else slot + slots - back


@part
def _errors_since(past, g, slot, age, method):
    """Return Σ λ^k δ of the entry that is `age` actions old and of all later ones."""
    total = np.float32(0)
    for back in range(age + ONE):
        total = past[g, _earlier(slot, back, method.slots)].error + method.decay * total
    return total


@part
def _learn_late(functions, weights, memory, method, g, slot, known, over, work):
    """Learn the entry that is now h actions old; at the end of the game, all that are left.

    Delayed TD(λ) and TC(λ) (Jaśkowski 2018, Algorithms 3 and 4): each entry learns once, from the
    sum of its errors.  slot: where the newest entry is kept; known: how many have an error by now.
    """
    last = ZERO if over else method.slots - ONE
    age = min(known, method.slots)
    while age > last:
        age -= ONE
        error = _errors_since(work.past, g, slot, age, method)
        at = _place(functions, method, g, _earlier(slot, age, method.slots))
        functions.update(weights, memory, work.entries, at, functions.lookups, error, method.rate)


@part
def _learn_at_once(functions, weights, memory, method, g, slot, known, error, work):
    """Learn the newest error in the last h + 1 entries, the newest first (online TD(λ), TC(λ))."""
    share = method.rate
    for back in range(min(known, method.slots)):
        at = _place(functions, method, g, _earlier(slot, back, method.slots))
        functions.update(weights, memory, work.entries, at, functions.lookups, error, share)
        share *= method.decay


@part
def _learn_true_online(functions, weights, memory, method, g, slot, known, error, work):
    """Learn the newest error in the last h + 1 entries by true online TD(λ).

    (van Seijen & Sutton 2014; Sutton & Barto 2018, section 12.5.)  The trace of all weights, with
    the rate in it, is z = Σ share · x over these entries, where x counts how often a board meets
    each weight.  The newest one's share is rate · (1 − z · x), and z takes the error with V as it
    was before the last update.  Where boards share no weight this is online TD(λ).
    """
    past, newest, n = work.past, _place(functions, method, g, slot), functions.lookups
    moved = functions.value(weights, work.entries, newest, n) - past[g, slot].value
    held = np.float32(0)
    for back in range(ONE, min(known, method.slots)):
        earlier = _earlier(slot, back, method.slots)
        past[g, earlier].share *= method.decay
        met = _meetings(work.entries, newest, _place(functions, method, g, earlier), n)
        held += past[g, earlier].share * np.float32(met)
    share = method.rate * (np.float32(1) - held)
    past[g, slot].share = share
    functions.update(weights, memory, work.entries, newest, n, error, share)
    if held != 0:
        functions.update(weights, memory, work.entries, newest, n, -moved, method.rate - share)
    for back in range(ONE, min(known, method.slots)):
        earlier = _earlier(slot, back, method.slots)
        at, share = _place(functions, method, g, earlier), past[g, earlier].share
        functions.update(weights, memory, work.entries, at, n, error + moved, share)


@kernel
def _meetings(entries, one, other, n):
    """Return x · x′ of two boards: how many pairs of their look-ups meet in one weight."""
    count = 0
    for i in range(one, one + n):
        for j in range(other, other + n):
            count += entries[i] == entries[j]
    return count


@kernel
def learn_backward(functions, weights, memory, method, g, length, work):
    """Learn a finished episode from its last entry to its first, each towards its λ-return.

    That is the reward, plus λ times the λ-return of the next entry, plus 1 − λ times its value,
    which has just learned: the newest value with λ = 0, Monte Carlo with λ = 1.
    """
    at, n = _place(functions, method, g, ZERO), functions.lookups
    next_value, next_reward = -method.optimistic, np.float32(0)
    returned = next_value
    for t in range(length - 1, -1, -1):
        entry = work.past[g, t]
        look_up_one(functions, method, entry.board, entry.word, entry.action, at, work)
        if method.stages.below:
            marks, lowest = method.stages.marks, method.stages.lowest
            stage = stage_kernel(entry.board, ZERO, marks, lowest)
            read_through(weights, work.entries, at, n, method.stages.below)
            promote(weights, work.entries, at, n, stage, method.stages.below)
        returned = next_value + method.decay * (returned - next_value)
        returned += next_reward if method.form == AFTERSTATE else entry.reward
        error = returned - _value(functions, weights, method, entry, at, work)
        functions.update(weights, memory, work.entries, at, n, error, method.rate)
        next_value = functions.value(weights, work.entries, at, n)
        next_reward = entry.reward
