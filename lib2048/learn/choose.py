"""The loop's first phase: where the four actions lead, what that is worth, which one is taken."""

import numpy as np

from lib2048.game import rules_2048 as rules
from lib2048.game.batch import ILLEGAL, slide_into
from lib2048.game.rng import below, draw
from lib2048.game.tile_65536 import carried, in_state
from lib2048.game.turn import is_stuck, next_states
from lib2048.learn.records import AFTERSTATE, STATE, Q
from lib2048.machine.kernels import kernel, part
from lib2048.machine.native import prefetch
from lib2048.networks.lookups import (
    TURNED,
    find_weights,
    image_boards,
    shift_to_stages,
    stage_positions,
)
from lib2048.networks.stages import next_stage

ZERO, ONE, TWO, THREE, QUAD = map(np.uint64, range(5))
_LOW24, _IMAGE = np.uint64((1 << 24) - 1), np.uint64(7)

# ---------------------------------------------------------------- looking up


@part
def expand(functions, weights, method, lane, g, work):
    """Slide a lane's board by the four actions, and look up where they lead."""
    board, n, first = lane.board, functions.lookups, QUAD * g * functions.lookups
    slide_into(board, in_state(method.game, lane.word), lane.candidates, lane.rewards)
    for a in range(QUAD):
        if method.form != AFTERSTATE:
            lane.candidates[a] = board
        elif lane.candidates[a] == board:  # an illegal action: the empty board wastes no memory
            lane.candidates[a] = ZERO
    image_boards(lane.candidates, ZERO, work.images, method.game)
    functions.look(work.images, work.positions, first)
    if method.form == Q:
        for i in range(ZERO, QUAD * n):
            turned = TURNED[(i >> TWO) & _IMAGE, i & THREE]
            work.positions[first + i] += np.uint32(turned * method.size)
    if method.stages.lowest:
        marks, lowest = method.stages.marks, method.stages.lowest
        p = next_stage(lane.stage, lane.candidates[0], lane.rewards[0], marks, lowest)
        q = next_stage(lane.stage, lane.candidates[1], lane.rewards[1], marks, lowest)
        r = next_stage(lane.stage, lane.candidates[2], lane.rewards[2], marks, lowest)
        s = next_stage(lane.stage, lane.candidates[3], lane.rewards[3], marks, lowest)
        lane.stages[0], lane.stages[1], lane.stages[2], lane.stages[3] = p, q, r, s
        lane.late = p | q | r | s
        if lane.late:
            shift_to_stages(work.positions, first, QUAD * n, method.stages.size, p, q, r, s)
    shown = np.uint32((lane.word & rules.SEEN) * method.stages.size)  # 0 in one set of tables
    for i in range(first, first + QUAD * n):
        if rules.SEEN:
            work.positions[i] += shown
        if method.stages.line:  # a packed network's own are known only when their lines are
            prefetch(weights, work.positions[i] >> method.stages.line)


@kernel
def look_up_one(functions, method, board, word, action, at, work):
    """Write the n look-ups of one board (and, for Q, its action) to work.entries[at …]."""
    work.trial[0], work.trial[1], work.trial[2], work.trial[3] = board, ZERO, ZERO, ZERO
    image_boards(work.trial, ZERO, work.images, method.game)
    functions.look(work.images, work.trial_positions, ZERO)
    if method.stages.marks:
        count, words, work.words[0] = QUAD * functions.lookups, work.words, word
        stage_positions(work.trial, words, ZERO, work.trial_positions, ZERO, count, method.stages)
    for i in range(ZERO, functions.lookups):
        turned = TURNED[i & _IMAGE, action]
        work.entries[at + i] = work.trial_positions[QUAD * i] + np.uint32(turned * method.size)


# ---------------------------------------------------------------- choosing


@part
def choose(functions, weights, method, lane, g, work, ahead):
    """Return (the action of a lane's board, 4 when none is legal; what the state is worth by it).

    That is its reward and value, or the value of the state itself where states have the values.
    ahead: the lane whose weights are asked for meanwhile, g for none.
    """
    n = functions.lookups
    if method.stages.line or lane.late:
        find_weights(weights, work.positions, QUAD * g * n, QUAD * n, method.stages)
    asked = g if method.stages.line else ahead
    functions.values(weights, work.positions, QUAD * g * n, n, work.values, QUAD * asked * n)
    of_state = work.values[0]
    if method.form == STATE:
        _expect(functions, weights, lane, method, work)
    action, best = _best(work.values, lane.rewards, method.form != Q)
    if method.epsilon > 0 and action != QUAD:
        action = _explore(lane, method.epsilon, action)
        best = work.values[action]
        best += lane.rewards[action] if method.form != Q else np.float32(0)
    return action, best if method.form != STATE else of_state


@part
def _best(values, rewards, pays):
    """Return (the action of the largest value, that value), or (4, −inf) when none is legal.

    pays: whether the reward belongs to the sum (Q has it inside its value already).  Of equals
    the first wins.
    """
    best, best_value = QUAD, ILLEGAL
    for a in range(ZERO, QUAD):
        total = values[a] + (rewards[a] if pays else min(rewards[a], np.float32(0)))
        if total > best_value:
            best, best_value = a, total
    if best == QUAD:  # no action is legal, or the values are nan: then take a legal one
        for a in range(ZERO, QUAD):
            if rewards[a] >= 0:
                return a, values[a]
    return best, best_value


@part
def _explore(lane, epsilon, action):
    """Return the action, or with probability ε any legal one, each as likely as the others."""
    lane.random, bits = draw(lane.random)
    if np.float32(bits & _LOW24) >= epsilon * np.float32(1 << 24):
        return action
    legal = ZERO
    for a in range(ZERO, QUAD):
        legal += np.uint64(lane.rewards[a] >= 0)
    skip = below(bits, legal)
    for a in range(ZERO, QUAD):
        if lane.rewards[a] >= 0:
            if skip == ZERO:
                return a
            skip -= ONE
    return action


# ---------------------------------------------------------------- values of states


@kernel
def _expect(functions, weights, lane, method, work):
    """Write, for each legal action, the expected value of the state that its spawn leads to."""
    values = work.values
    for a in range(ZERO, QUAD):  # values[0..3] are work space of each expectation
        values[QUAD + a] = np.float32(0)
        if lane.rewards[a] >= 0:
            after, _ = rules.slide_one(lane.board, a, in_state(method.game, lane.word))
            count, total = next_states(
                lane.board,
                lane.word,
                a,
                after,
                method.game,
                work.outcomes,
                work.words,
                work.chances,
            )
            game = in_state(method.game, carried(lane.board, lane.word, a, method.game))
            points = _points(functions, weights, count, game, method, work)
            values[QUAD + a] = points / np.float32(total)
    for a in range(ZERO, QUAD):
        values[a] = values[QUAD + a]


@kernel
def _points(functions, weights, count, game, method, work):
    """Sum V of so many outcomes, two at a time, by their weights; a lost board has −V_init."""
    trial, positions, values = work.trial, work.trial_positions, work.values
    total, lost = np.float32(0), -method.optimistic
    for i in range(ZERO, count, TWO):
        last = min(i + ONE, count - ONE)
        trial[0], trial[1] = work.outcomes[i], work.outcomes[last]
        trial[2], trial[3] = ZERO, ZERO
        image_boards(trial, ZERO, work.images, method.game)
        functions.look(work.images, positions, ZERO)
        functions.values(weights, positions, ZERO, functions.lookups, values, ZERO)
        total += np.float32(work.chances[i]) * (lost if is_stuck(trial[0], game) else values[0])
        if last != i:
            value = lost if is_stuck(trial[1], game) else values[1]
            total += np.float32(work.chances[last]) * value
    return total
