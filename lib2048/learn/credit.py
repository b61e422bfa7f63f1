"""The loop's second phase: which afterstates learn from which error.

An error reaches back over the last h + 1 afterstates (Jaśkowski 2018, sections IV-D and V-C).
Online, each of them learns its share at once; delayed, an afterstate learns a single time, when
all its h + 1 errors are known.  TD(0) is the case h = 0 of both.  Or an episode is learned from
its end, once it is over.  What a rule makes of an error is its update, in `rules`.
"""

import numpy as np

from lib2048.learn.choose import look_up_one
from lib2048.learn.records import AFTERSTATE
from lib2048.machine.kernels import kernel, part
from lib2048.networks.lookups import promote, read_through
from lib2048.networks.stages import stage_kernel

ZERO, ONE = np.uint64(0), np.uint64(1)


@part
def learn(functions, weights, memory, rule, lane, g, over, worth, work):
    """Let the last afterstates learn from what the state after the newest turned out to be worth.

    over: whether no action is legal there; worth: its reward and value otherwise.
    """
    slot, known = lane.slot, np.uint64(lane.length)
    target = -rule.optimistic if over else worth
    target += np.float32(0) if rule.form == AFTERSTATE else work.past[g, slot].reward
    at = _place(functions, rule, g, slot)
    error = target - _value(functions, weights, rule, work.past[g, slot], at, work)
    work.past[g, slot].error = error
    if rule.delay:
        _learn_late(functions, weights, memory, rule, g, slot, known, over, work)
    else:
        _learn_at_once(functions, weights, memory, rule, g, slot, known, error, work)


@part
def _value(functions, weights, rule, entry, at, work):
    """Return V in an entry's error: looked up now, or as it was when its action was chosen."""
    if rule.remembered:
        return entry.value
    return functions.value(weights, work.entries, at, functions.lookups)


@part
def _place(functions, rule, g, slot):
    """Return where the look-ups of a lane's entry begin."""
    return (g * rule.slots + slot) * functions.lookups


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
def _learn_late(functions, weights, memory, rule, g, slot, known, over, work):
    """Learn the entry that is now h actions old; at the end of the game, all that are left.

    Delayed TD(λ) and TC(λ) (Jaśkowski 2018, Algorithms 3 and 4): each entry learns once, from the
    sum of its errors.  slot: where the newest entry is kept; known: how many have an error by now.
    """
    last = ZERO if over else rule.slots - ONE
    age = min(known, rule.slots)
    while age > last:
        age -= ONE
        error = _errors_since(work.past, g, slot, age, rule)
        at = _place(functions, rule, g, _earlier(slot, age, rule.slots))
        functions.update(weights, memory, work.entries, at, functions.lookups, error, rule.rate)


@part
def _learn_at_once(functions, weights, memory, rule, g, slot, known, error, work):
    """Learn the newest error in the last h + 1 entries, the newest first (online TD(λ), TC(λ))."""
    share = rule.rate
    for back in range(min(known, rule.slots)):
        at = _place(functions, rule, g, _earlier(slot, back, rule.slots))
        functions.update(weights, memory, work.entries, at, functions.lookups, error, share)
        share *= rule.decay


@kernel
def learn_backward(functions, weights, memory, rule, g, length, work):
    """Learn a finished episode from its last entry to its first, each from the newest value."""
    at, n = _place(functions, rule, g, ZERO), functions.lookups
    next_value, next_reward = -rule.optimistic, np.float32(0)
    for t in range(length - 1, -1, -1):
        entry = work.past[g, t]
        look_up_one(functions, rule, entry.board, entry.word, entry.action, at, work)
        if rule.stages.below:
            marks, lowest = rule.stages.marks, rule.stages.lowest
            stage = stage_kernel(entry.board, ZERO, marks, lowest)
            read_through(weights, work.entries, at, n, rule.stages.below)
            promote(weights, work.entries, at, n, stage, rule.stages.below)
        target = next_value + (next_reward if rule.form == AFTERSTATE else entry.reward)
        error = target - _value(functions, weights, rule, entry, at, work)
        functions.update(weights, memory, work.entries, at, n, error, rule.rate)
        next_value = functions.value(weights, work.entries, at, n)
        next_reward = entry.reward
