"""Expectimax: looking ahead through one's own choices and the average of chance.

    1-ply:  max over actions of  r + V(s')
    k-ply:  max over actions of  r + the mean over spawns of the (k−1)-ply value of the next state

A state without a legal action is worth 0: the points so far are kept, and none follow.  Chance
nodes are exact: every empty cell, a 2 with 0.9 and a 4 with 0.1.

What makes it fast
------------------
* The last ply is done for all spawns of an afterstate together: up to 120 boards, of which many
  are equal (sliding forgets where in its row a tile spawned); each different one is looked up
  once, four at a time.  A small *leaf table* that stays in the processor's cache finds the equal.
* A *transposition table* keeps the value of afterstates with plies below them.  An entry counts
  only for the same board, up to symmetry, and the same number of plies.  Every afterstate is
  searched as its smallest symmetric image, so that a value is a function of the board and the
  plies alone: with the table, without it, or with another thread's luck, it is the same number.
"""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.endgame.known import known_to, least_of, rows_at, success_after
from lib2048.game import rules_2048 as rules
from lib2048.game.batch import ILLEGAL, as_states
from lib2048.game.bits import empty_mask, moved_lines
from lib2048.game.game import Game
from lib2048.game.rng import GOLDEN
from lib2048.game.tile_65536 import in_state
from lib2048.machine.kernels import compiled, kernel, numba_type, part
from lib2048.machine.memory import available
from lib2048.machine.native import borrowed, clock, peek, population, prefetch, ticks
from lib2048.machine.schema import is_number
from lib2048.networks.lookups import (
    IMAGES,
    LOOK_SIGNATURE,
    VALUES_SIGNATURE,
    find_weights,
    image_boards,
    stage_positions,
)
from lib2048.networks.stages import Stages

MOST_PLIES = 16
MOST_SECONDS = 3600  # of a move
TABLE_MIB = {1: 0, 2: 0, 3: 1}  # memory of the transposition table by plies: what a search
LARGE_TABLE_MIB = 16  # fills, and not more, so that it stays close; for all deeper ones
LEAF_BITS = 14  # 2^14 leaves of 20 bytes stay within a core's own cache
RARE = 0.5  # an outcome less likely than that, among those of its cell, may be searched less deep
MOST_WON = np.uint64(16)  # boards after a success, one for each free cell
REMEMBERED = np.uint64(1 << 10)  # large tiles whose success was valued
BETWEEN_LOOKS = 8  # afterstates of the last ply between two looks at the clock
TIME_BINS = 400  # of a hundredth of the time limit each
ZERO, ONE, TWO, THREE, QUAD = map(np.uint64, range(5))

# ---------------------------------------------------------------- what a search works on


class Limits(NamedTuple):
    """How far to look.  Plain numbers; see `_in_state`."""

    plies: int  # at most
    ticks: int  # of the clock for a move, 0 for no limit
    clock: int  # the clock's address, see machine.native.clock
    reduce: bool  # search behind a spawned 4 one ply less deep
    pays: np.float32  # 1 where rewards count, 0 where the value function speaks of all
    optimistic: np.float32  # what the network adds to the sum of a board's weights
    stages: Stages  # of the network
    game: Game  # that it plays
    tables: int  # how many tables of endgames are known
    rows: int  # and the address of what is told of them, see endgame.known
    halve: bool  # whether a board with a 32768 is searched as a smaller one, see halved


class Memory(NamedTuple):
    """What a search keeps and what it works with; one thread's own."""

    table: types.uint64[::1]  # uint64[2k]: transposition table, a board at 2i; k = 1: off
    known: types.float32[::1]  # float32[4k], the same bytes: its value at 4i + 2, plies at + 3
    leaves: types.uint64[::1]  # uint64[2·2^14]: leaves, each followed by its stamp
    pool: types.float32[::1]  # float32[2^14]: values of the last leaves, in turn
    boards: types.uint64[::1]  # uint64[…]: see the offsets below
    words: types.uint64[::1]  # uint64[…]: of the states at the same places
    chances: types.float64[::1]  # float64[…]: of the states at the same places in `boards`
    positions: types.uint32[::1]  # uint32[4n·32]: look-ups of the leaves
    values: types.float32[::1]  # float32[…]: see the offsets below
    stamps: types.int64[::1]  # int64[…]: the leaf of each state's actions, −1 where illegal
    counters: types.int64[::1]  # int64[len(COUNTERS)]
    stop: types.int64[::1]  # int64[1]: set by another thread, ends the search
    depths: types.int64[:, ::1]  # int64[17, 17]: moves by empty cells and plies reached
    times: types.int64[::1]  # int64[400]: moves by time, in hundredths of the limit


class Values(NamedTuple):
    """What values boards, taken apart: a network's compiled functions and its weights."""

    look: types.FunctionType(LOOK_SIGNATURE)
    values: types.FunctionType(VALUES_SIGNATURE)
    weights: types.float32[::1]


COUNTERS = ("aborted", "deadline", "leaves", "looked_up", "probes", "hits", "nodes", "known")
ABORTED, DEADLINE, LEAVES, LOOKED_UP, PROBES, HITS, NODES, KNOWN = range(len(COUNTERS))
STATES = np.uint64(IMAGES)  # in `boards`: images, states, their four leaves, those to look up


class Places(NamedTuple):
    """Where things begin in `boards` and `values`, for so many states of one afterstate."""

    leaves: np.uint64
    pending: np.uint64  # those to look up
    won: np.uint64  # boards after a success, the best of which counts
    large: np.uint64  # large tiles whose success was valued
    chance: np.uint64  # then the outcomes of a node of each depth
    root: np.uint64  # in `values`: 4 leaves, the states, the root's 4 actions
    rewards: np.uint64  # then the rewards of each state's four actions
    worths: np.uint64  # then of a success: each board's value; the best, and by which table


@part
def places():
    """Return the `Places` of the game that is played: numbers that the compiler knows."""
    most = rules.MOST_OUTCOMES
    leaves, root = STATES + most, QUAD + most
    pending = leaves + QUAD * most
    won = pending + QUAD * most + QUAD
    large, rewards = won + MOST_WON, root + QUAD
    chance, worths = large + REMEMBERED, rewards + QUAD * most
    return Places(leaves, pending, won, large, chance, root, rewards, worths)


# ---------------------------------------------------------------- the last ply


@part
def table_slot(board, size):
    """Return the place of a board in a table of `size` entries."""
    mixed = (board ^ (board >> np.uint64(29))) * GOLDEN
    return ((mixed >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)


@part
def _list_leaves(memory, count):
    """Give each of `count` leaves (see `Places`) its stamp, −1 where it is its own state.

    A stamp counts the leaves looked up so far; its value stands in the pool until as many others
    have followed.  Returns how many have to be looked up; they are listed behind.
    Where a game shows more than its board, the lowest bits beside a stamp say what was shown.
    """
    boards, leaves, stamps, counters = memory.boards, memory.leaves, memory.stamps, memory.counters
    words, at = memory.words, places()
    pending, legal, looked_up = ZERO, 0, counters[LOOKED_UP]
    oldest = looked_up - (len(leaves) >> 1) + 4 * np.int64(rules.MOST_OUTCOMES)
    for i in range(ZERO, count):
        board = boards[at.leaves + i]
        if board == boards[STATES + (i >> TWO)]:
            stamps[i] = -1
            continue
        legal += 1
        shown = words[STATES + (i >> TWO)] & rules.SEEN
        mixed = (board ^ (board >> np.uint64(29)) ^ shown << np.uint64(32)) * GOLDEN
        slot = (mixed >> np.uint64(64 - LEAF_BITS)) << ONE
        known = leaves[slot] == board and leaves[slot + ONE] & rules.SEEN == shown
        if not known or np.int64(leaves[slot + ONE] >> rules.SEEN_BITS) < oldest:
            looked_up += 1
            leaves[slot] = board
            leaves[slot + ONE] = np.uint64(looked_up) << rules.SEEN_BITS | shown
            boards[at.pending + pending] = board
            if rules.SEEN:
                words[at.pending + pending] = shown
            pending += ONE
        stamps[i] = np.int64(leaves[slot + ONE] >> rules.SEEN_BITS)
    counters[LOOKED_UP] = looked_up
    counters[LEAVES] += legal
    return pending


@part
def _look_up_leaves(network, limits, memory, first_at, count, out, first, mask):
    """Look so many boards from `first_at` on up, four at a time; write out[first … & mask]."""
    if count == ZERO:
        return
    weights, boards, positions = network.weights, memory.boards, memory.positions
    words, stages, values = memory.words, limits.stages, memory.values
    size = np.uint64(len(positions)) // rules.MOST_OUTCOMES  # 4n
    for at in range(count, count + THREE):
        boards[first_at + at] = ZERO
    for g in range(ZERO, (count + THREE) >> TWO):
        image_boards(boards, first_at + QUAD * g, boards, limits.game)
        network.look(boards, positions, g * size)
        if limits.stages.marks:
            stage_positions(boards, words, first_at + QUAD * g, positions, g * size, size, stages)
        for i in range(g * size, (g + ONE) * size):
            prefetch(weights, positions[i] >> limits.stages.line)
    for g in range(ZERO, (count + THREE) >> TWO):
        find_weights(weights, positions, g * size, size, limits.stages)
        network.values(weights, positions, g * size, size >> TWO, values, g * size)
        for i in range(QUAD * g, min(QUAD * g + QUAD, count)):
            out[(first + i) & mask] = values[i & THREE] + limits.optimistic


# ---------------------------------------------------------------- leaves that a table knows
# A network values a leaf in points, a table in chances.  Success is worth what the network says of
# the board after it: the same large tiles, the target beside them, and nothing else, where that is
# best.  The table does not know where its tiles stand, the network does; so half of each counts.

SHARE = np.float32(0.5)  # of the table in a leaf's value


@kernel
def _value_known(network, limits, memory, count, first, mask):
    """Value those of the leaves that were looked up, and that a table knows, by both."""
    rows, pool, first_at = rows_at(limits.rows, limits.tables), memory.pool, places().pending
    for i in range(ZERO, count):
        board = memory.boards[first_at + i]
        success, table = success_after(rows, board)
        if success >= 0:
            memory.counters[KNOWN] += 1
            least = least_of(rows, table)
            large, points = _parted(board, least)
            won = _worth_of_success(network, limits, memory, large, least, table)
            worth = success * won + limits.pays * points * (1 + success) / 2  # half, if lost
            at = (first + i) & mask
            pool[at] += SHARE * (np.float32(worth) - pool[at])


@part
def _parted(board, least):
    """Return a board's large tiles, and the points until one more tile is as large as the exponent
    `least` says."""
    large, points = ZERO, np.int64(least - ONE) << np.int64(least)
    for shift in range(ZERO, np.uint64(64), QUAD):
        exponent = (board >> shift) & np.uint64(15)
        if exponent >= least:
            large |= exponent << shift
        elif exponent:
            points -= np.int64(exponent - ONE) << np.int64(exponent)
    return large, max(points, 0)


@part
def _worth_of_success(network, limits, memory, large, least, table):
    """Return what the network says of large tiles with the target beside them, remembered."""
    boards, values, at = memory.boards, memory.values, places()
    slot = table_slot(large + np.uint64(table), REMEMBERED)
    known = at.worths + MOST_WON + TWO * slot
    if boards[at.large + slot] != large or values[known + ONE] != table:
        count, best = ZERO, ILLEGAL
        for shift in range(ZERO, np.uint64(64), QUAD):
            if (large >> shift) & np.uint64(15) == 0:
                boards[at.won + count] = large | least << shift
                count += ONE
        _look_up_leaves(network, limits, memory, at.won, count, values, at.worths, ~ZERO)
        for i in range(at.worths, at.worths + count):
            best = max(best, values[i])
        boards[at.large + slot], values[known], values[known + ONE] = large, best, table
    return values[known]


# ---------------------------------------------------------------- one ply


@part
def _points(reward, limits):
    """Return what a reward counts, as float32; from an int64, which processors convert at once."""
    return np.float32(np.int64(reward)) * limits.pays


@part
def _one_ply(network, limits, memory, count):
    """Write the 1-ply values of `count` states (boards[STATES …]) into values[4 …]."""
    boards, values, begin = memory.boards, memory.values, places()
    for s in range(ZERO, count):
        at, pays = begin.leaves + QUAD * s, begin.rewards + QUAD * s
        up, right, down, left, p, q, r, t = rules.slide(boards[STATES + s], limits.game)
        boards[at], boards[at + ONE], boards[at + TWO], boards[at + THREE] = up, right, down, left
        values[pays], values[pays + ONE] = _points(p, limits), _points(q, limits)
        values[pays + TWO], values[pays + THREE] = _points(r, limits), _points(t, limits)
    pending = _list_leaves(memory, QUAD * count)
    pool, stamps, mask = memory.pool, memory.stamps, len(memory.pool) - 1
    first = np.uint64(memory.counters[LOOKED_UP]) - pending + ONE
    _look_up_leaves(network, limits, memory, begin.pending, pending, pool, first, np.uint64(mask))
    if limits.tables:
        _value_known(network, limits, memory, pending, first, np.uint64(mask))
    for s in range(ZERO, count):
        best = ILLEGAL
        for i in range(QUAD * s, QUAD * s + QUAD):
            if stamps[i] >= 0:
                best = max(best, values[begin.rewards + i] + pool[stamps[i] & mask])
        values[QUAD + s] = best if best != ILLEGAL else np.float32(0)


# ---------------------------------------------------------------- the tree


@part
def _out_of_time(counters, stop, limits):
    """Say whether the search has to end: someone stopped it, or its time is over."""
    if peek(stop, 0) != 0:
        return True
    return limits.ticks > 0 and ticks(limits.clock) >= counters[DEADLINE]


@part
def _outcomes(limits, memory, after, word, action, moved, at):
    """List what luck can make of an afterstate in boards, words and chances [at …]; see `game`."""
    boards, words, chances = memory.boards, memory.words, memory.chances
    return rules.outcomes(after, word, action, moved, limits.game, boards, words, chances, at)


@kernel
def _keep_rare(boards, words, chances, count):
    """Leave only the rare ones of `count` outcomes at STATES; return how many they are."""
    kept = ZERO
    for s in range(STATES, STATES + count):
        if chances[s] < RARE:
            boards[STATES + kept], chances[STATES + kept] = boards[s], chances[s]
            words[STATES + kept] = words[s]
            kept += ONE
    return kept


@part
def _mean_one_ply(network, limits, memory, after, word, action, moved, rare):
    """Return an afterstate's value with one ply below it.

    rare: whether only that part of it is asked for which rare outcomes make.
    """
    count, total = _outcomes(limits, memory, after, word, action, moved, STATES)
    chances = memory.chances
    if rare:
        count = _keep_rare(memory.boards, memory.words, chances, count)
    _one_ply(network, limits, memory, count)
    points = 0.0
    for s in range(ZERO, count):
        points += chances[STATES + s] * memory.values[QUAD + s]
    return points / total


@kernel
def chance_value(network, limits, memory, after, word, action, moved, plies):
    """Return the value of an afterstate with `plies` ≥ 1 plies below it, as float32.

    word, action, moved: as a game's spawn is told.  Meaningless once counters[ABORTED] is set.
    """
    table, known, counters = memory.table, memory.known, memory.counters
    word &= rules.SEEN  # what a player does not know is anything that may be
    after, word, action, moved, key = rules.image(after, word, action, moved, limits.game)
    slot, remember = table_slot(key ^ np.uint64(plies), len(table) >> 1), len(table) > 2
    counters[PROBES] += 1
    if remember and table[TWO * slot] == key and known[QUAD * slot + THREE] == plies:
        counters[HITS] += 1
        return known[QUAD * slot + TWO]
    counters[NODES] += 1
    if plies == 1 and counters[NODES] % BETWEEN_LOOKS == 0:
        counters[ABORTED] = _out_of_time(counters, memory.stop, limits)
        if counters[ABORTED]:
            return np.float32(0)
    mean, of_rare = 0.0, plies - 1 if limits.reduce else plies
    if of_rare <= 1:
        mean += _mean_one_ply(network, limits, memory, after, word, action, moved, plies > 1)
    if plies > 1:
        at = places().chance + rules.MOST_OUTCOMES * np.uint64(plies)
        count, total = _outcomes(limits, memory, after, word, action, moved, at)
        points = 0.0
        for s in range(at, at + count):
            below = of_rare if memory.chances[s] < RARE else plies
            if below == 1:
                continue
            state, best = memory.boards[s], ILLEGAL
            slid = rules.slide(state, limits.game)
            for a in range(QUAD):
                if slid[a] != state:
                    lines = moved_lines(state, slid[a], a)
                    value = chance_value(
                        network, limits, memory, slid[a], memory.words[s], a, lines, below - 1
                    )
                    if counters[ABORTED]:
                        return np.float32(0)
                    best = max(best, _points(slid[QUAD + a], limits) + value)
            points += memory.chances[s] * (best if best != ILLEGAL else np.float32(0))
        mean += points / total
    value = np.float32(mean)
    if remember:
        table[TWO * slot] = key
        known[QUAD * slot + TWO], known[QUAD * slot + THREE] = value, plies
    return value


# ---------------------------------------------------------------- one decision


@part
def _root_one_ply(network, limits, memory, board, word):
    """Write the root's four 1-ply values into values[root …], −inf where illegal; return how many
    are legal."""
    values, stamps, legal, root = memory.values, memory.stamps, 0, places().root
    memory.boards[STATES], memory.words[STATES] = board, word
    _one_ply(network, limits, memory, ONE)
    for a in range(ZERO, QUAD):
        values[root + a] = ILLEGAL
        if stamps[a] >= 0:
            value = memory.pool[stamps[a] & (len(memory.pool) - 1)]
            values[root + a] = max(values[places().rewards + a] + value, LEAST)
            legal += 1
    return legal


@part
def _best_of(values, done):
    """Return the action of the largest root value among those in the bit set `done`, or 4.

    The first of equals, and of actions that are all worth nan, as in a network that diverged.
    """
    best, best_value, root = QUAD, ILLEGAL, places().root
    for a in range(ZERO, QUAD):
        value = values[root + a]
        first = best == QUAD and value != ILLEGAL
        if done >> a & ONE and (value > best_value or first):
            best, best_value = a, value
    return best


ALL_ACTIONS = np.uint64(15)
LEAST = np.finfo(np.float32).min  # that a legal action is worth, above `ILLEGAL`


@part
def _in_state(limits, word):
    """Return limits whose game slides, in the whole search, as in the state with this word."""
    return Limits(
        limits.plies,
        limits.ticks,
        limits.clock,
        limits.reduce,
        limits.pays,
        limits.optimistic,
        limits.stages,
        in_state(limits.game, word),
        limits.tables,
        limits.rows,
        limits.halve,
    )


@part
def _root(network, limits, memory, board, word, plies, legal):
    """Search the root's actions to a depth, the best so far first; return those finished, a bit
    set.

    Their values are written into values[root …].
    """
    values, slid, root = memory.values, rules.slide(board, limits.game), places().root
    left_over, done = ALL_ACTIONS, ZERO
    for _ in range(legal):
        a = _best_of(values, left_over)
        left_over &= ~(ONE << a)
        lines = moved_lines(board, slid[a], a)
        value = chance_value(network, limits, memory, slid[a], word, a, lines, plies - 1)
        if memory.counters[ABORTED]:
            break
        values[root + a] = max(_points(slid[QUAD + a], limits) + value, LEAST)
        done |= ONE << a
    return done


TOP = np.uint64(15)  # the exponent of a 32768


@kernel
def halved(board):
    """Return the board as which one with a 32768 is searched: what is above its gap is halved.

    The gap is the largest tile below 32768 that is missing.  No two tiles become equal, so that
    the same actions are legal and merge the same tiles; but a network has met such boards often.
    (Guei et al. 2021 call it tile-downgrading.)  A board with two 32768s stays as it is.
    """
    there, tops, gap = ZERO, 0, TOP
    for shift in range(ZERO, np.uint64(64), QUAD):
        exponent = (board >> shift) & np.uint64(15)
        there |= ONE << exponent
        tops += exponent == TOP
    while gap > 0 and (there >> gap) & ONE:
        gap -= ONE
    if tops != 1 or gap == 0:
        return board
    out = ZERO
    for shift in range(ZERO, np.uint64(64), QUAD):
        exponent = (board >> shift) & np.uint64(15)
        out |= (exponent - np.uint64(exponent > gap)) << shift
    return out


@kernel
def decide_kernel(network, limits, memory, board, word):
    """Choose an action; return (action or 4, plies searched).

    Its values, rewards included, stand in memory.values[root …].  With a time limit the search
    deepens ply by ply, the best action so far first; when time is up within a ply, the best of
    the actions that it has finished is taken.  Where a 65536 stands, two 32768s stay apart in the
    whole search; a table that remembers values from before may still merge them.
    """
    limits = _in_state(limits, word)
    counters, values = memory.counters, memory.values
    counters[ABORTED] = 0
    if limits.ticks:
        counters[DEADLINE] = ticks(limits.clock) + limits.ticks
    if limits.halve:
        board = halved(board)
    legal = _root_one_ply(network, limits, memory, board, word)
    best, reached = _best_of(values, ALL_ACTIONS), 1
    if limits.ticks and legal < 2:
        return best, reached
    for plies in range(2 if limits.ticks else max(limits.plies, 2), limits.plies + 1):
        done = _root(network, limits, memory, board, word, plies, legal)
        best = _best_of(values, done) if done else best
        if counters[ABORTED]:
            break
        reached = plies
    return best, reached


# ---------------------------------------------------------------- a policy that searches

CONTEXT = types.Tuple(  # (weights, limits, memory, look, values): one thread's own
    (
        types.float32[::1],
        numba_type(Limits),
        numba_type(Memory),
        types.FunctionType(LOOK_SIGNATURE),
        types.FunctionType(VALUES_SIGNATURE),
    )
)
MEMORY = 2  # its place in a context
SEARCH_SIGNATURE = types.UniTuple(types.uint64, 4)(
    CONTEXT, numba_type(Game), types.uint64, types.uint64, types.uint64
)


@part
def _parts(context):
    """Return a context's network, limits and memory, as the kernels of a search take them."""
    weights, limits, memory, look, values_of = context
    network = Values(look, values_of, borrowed((weights,))[0])
    return network, limits, borrowed(memory)


@compiled(SEARCH_SIGNATURE)
def search_policy(context, game, board, word, luck):
    """Take the action that the search chooses; a stopped search gives the game up."""
    network, limits, memory = _parts(context)
    begin = ticks(limits.clock) if limits.ticks else 0
    action, plies = decide_kernel(network, limits, memory, board, word)
    if action == QUAD or (memory.counters[ABORTED] and peek(memory.stop, 0) != 0):
        return QUAD, board, ZERO, luck
    free = population(empty_mask(board))  # those outside the board count as empty, too
    memory.depths[free, plies] += 1
    if limits.ticks:
        took = (ticks(limits.clock) - begin) * (TIME_BINS // 4) // limits.ticks
        memory.times[min(took, TIME_BINS - 1)] += 1
    after, reward = rules.slide_one(board, action, in_state(game, word))
    return action, after, reward, luck


@kernel
def _pay_in_full(limits, board, word, values):
    """Count the rewards of a board that was searched as a smaller one as they are."""
    small = halved(board)
    if small != board:
        game = in_state(limits.game, word)
        pays, counted = rules.slide(board, game), rules.slide(small, game)
        for a in range(ZERO, QUAD):
            values[a] += _points(pays[QUAD + a] - counted[QUAD + a], limits)


@compiled(types.void(CONTEXT, *2 * [types.uint64[::1]], types.int64[:, ::1], types.float32[:, ::1]))
def decide(context, boards, words, found, values):
    """Choose on each of many boards, as long as nobody stops it.

    found: int64[n, 2], filled with (action or 4, plies); values: float32[n, 4], with what the
    actions are worth: the rewards of the board itself, also where a smaller one is searched.
    """
    network, limits, memory = _parts(context)
    for i in range(len(boards)):
        action, plies = decide_kernel(network, limits, memory, boards[i], words[i])
        found[i, 0], found[i, 1] = action, plies
        for a in range(QUAD):
            values[i, a] = memory.values[places().root + a]
        if limits.halve:
            _pay_in_full(limits, boards[i], words[i], values[i])
        if memory.counters[ABORTED] and peek(memory.stop, 0) != 0:
            break


@compiled(types.float32(CONTEXT, types.uint64))
def leaf_value(context, afterstate):
    """Return the value of an afterstate at which a search ends."""
    network, limits, memory = _parts(context)
    at, pool, mask = places().pending, memory.pool, np.uint64(len(memory.pool) - 1)
    memory.counters[LOOKED_UP] += 1
    first = np.uint64(memory.counters[LOOKED_UP])
    memory.boards[at] = afterstate
    _look_up_leaves(network, limits, memory, at, ONE, pool, first, mask)
    _value_known(network, limits, memory, ONE, first, mask)
    return pool[first & mask]


@compiled(types.float32(CONTEXT, types.uint64, types.int64))
def value_of(context, afterstate, plies):
    """Return the value of an afterstate with `plies` ≥ 1 plies below it."""
    network, limits, memory = _parts(context)
    memory.counters[ABORTED] = 0
    return chance_value(network, limits, memory, afterstate, ZERO, ZERO, ZERO, plies)


class Search:
    """An expectimax search over a network's values.

    Args:
        network: `Network` of afterstates.
        plies: how far to look, at least 1.
        seconds: above 0, a time limit for a move, with plies as the limit of deepening.
        table_mib: memory of the transposition table, 0 for none; by default as TABLE_MIB says, and
            none up to 2-ply, where no entry could be met again.
        reduce: search behind a spawned 4 one ply less deep.
        pays: whether rewards count.
        endgames: the tables that are known, `Endgames`, or what makes them; None for none.
        halve: search a board of 2048 with a 32768 as a smaller one; see `halved`.

    Raises:
        ValueError: for numbers that make no sense.
        MemoryError: for a table that does not fit.
    """

    def __init__(
        self,
        network,
        plies=None,
        seconds=None,
        table_mib=None,
        reduce=False,
        pays=True,
        endgames=None,
        halve=False,
    ):
        table_mib = check_limits(plies, seconds, table_mib)
        if not isinstance(reduce, (bool, np.bool_)):
            raise ValueError(f"reduce {reduce!r}: say True or False")
        if network.form != "afterstate":
            raise ValueError(f"network {network.name}: search needs values of afterstates")
        if reduce and "four" not in network.game.rules.OPTIONS:
            raise ValueError(f"network {network.name}: reduce is for 2048, where a 4 is rare")
        self.network, self.table_mib = network, table_mib
        self.endgames = known_to(network, endgames)
        self.stop, self._own = np.zeros(1, np.int64), None
        address, tick = clock() if seconds else (0, 1.0)
        ticks_a_move = max(1, int(seconds / tick)) if seconds else 0
        plies = plies or MOST_PLIES
        start = np.float32(network.optimistic)
        self.limits = Limits(
            plies,
            ticks_a_move,
            address,
            reduce,
            np.float32(pays),
            start,
            network.stages,
            network.game,
            len(self.endgames),
            self.endgames.rows.ctypes.data,
            halve and network.game.rules is rules,
        )

    def context(self, table_mib=None):
        """Return what the kernels work with, its memory empty; one for each thread."""
        table_mib = self.table_mib if table_mib is None else table_mib
        memory = _new_memory(self.network, table_mib, self.stop)
        return self.network.weights, self.limits, memory, self.network.look, self.network.values_of

    def _cleared(self):
        """Return the context of single decisions, empty: the weights may have changed."""
        same = self._own is not None and self._own[0] is self.network.weights
        if not same or self.table_mib > 1:  # new zeros cost less than clearing
            self._own = self.context()
        else:
            known = self._own[MEMORY]
            known.leaves[:], known.table[:], known.boards[:] = 0, 0, 0
        return self._own

    def decide(self, board, word=0):
        """Search one board; return (action or None, {action: reward + value}, plies reached)."""
        (action,), (plies,), (values,) = self.decide_all([board], [word], self._cleared())
        found = {a: float(value) for a, value in enumerate(values) if value != ILLEGAL}
        return (None if action == 4 else int(action)), found, int(plies)

    def decide_all(self, boards, words=None, context=None):
        """Search many boards, each with what is remembered of those before it.

        Args:
            boards, words: uint64[n]; no words: 0 each.
            context: what to work with and to count in, of `context()`; by default a new one, so
                that several threads may ask.

        Returns:
            int64[n], 4 where no action is legal; int64[n], plies reached; and float32[n, 4], what
            the actions are worth, -inf where one is not legal.
        """
        states = as_states(boards, words, self.network.game)
        found, values = np.zeros((len(boards), 2), np.int64), np.zeros((len(boards), 4), np.float32)
        context = self.context() if context is None else context
        self.network.game.bind(decide)()(context, *states, found, values)
        return found[:, 0], found[:, 1], values


def plies_of(depth, seconds):
    """Return how many plies are meant: one where neither a depth nor a time limit is said."""
    return 1 if depth is None and seconds is None else depth


def check_limits(plies, seconds, table_mib=None):
    """Raise ValueError or MemoryError, in one line, for limits that make no sense.

    Returns the memory of the transposition table in MiB, which has a default; see `Search`.
    """
    if plies is None and seconds is None:
        raise ValueError("say how far to look: plies, or seconds a move")
    if plies is not None and not (is_number(plies, Integral) and 1 <= plies <= MOST_PLIES):
        raise ValueError(f"depth {plies}: use 1 to {MOST_PLIES} plies")
    if seconds is not None and not (is_number(seconds) and 0 < seconds <= MOST_SECONDS):
        raise ValueError(f"{seconds} seconds a move: use a time above 0, and up to an hour")
    if table_mib is None:
        table_mib = TABLE_MIB.get(plies, LARGE_TABLE_MIB)
    if not (is_number(table_mib) and 0 <= table_mib <= 1 << 16):
        raise ValueError(f"a transposition table of {table_mib} MiB: use 0 to 65536")
    if table_mib > (free := available() >> 20):
        raise MemoryError(
            f"a transposition table of {table_mib} MiB does not fit: {free} MiB are free"
        )
    return table_mib


def _new_memory(network, table_mib, stop):
    n, most = network.lookups_per_board, int(network.game.rules.MOST_OUTCOMES)
    at = network.game.bind(places)()
    most_boards = int(at.chance) + most * (MOST_PLIES + 1)
    table = np.zeros(2 * max(1, int(table_mib * 2**20) // 16), np.uint64)
    return Memory(
        table=table,
        known=table.view(np.float32),
        leaves=np.zeros(2 << LEAF_BITS, np.uint64),
        pool=np.zeros(1 << LEAF_BITS, np.float32),
        boards=np.zeros(most_boards, np.uint64),
        words=np.zeros(most_boards, np.uint64),
        chances=np.zeros(most_boards),
        positions=np.zeros(4 * n * most, np.uint32),
        values=np.zeros(at.worths + MOST_WON + TWO * REMEMBERED, np.float32),
        stamps=np.zeros(4 * most, np.int64),
        counters=np.zeros(len(COUNTERS), np.int64),
        stop=stop,
        depths=np.zeros((17, MOST_PLIES + 1), np.int64),
        times=np.zeros(TIME_BINS, np.int64),
    )
