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

import time
from typing import NamedTuple

import numpy as np
import psutil
from numba import types

from lib2048.game import frontier
from lib2048.game.board import WHOLE, afterstates, canonical, empty_mask, slide_all, slide_one
from lib2048.game.rng import GOLDEN
from lib2048.game.spec import FOUR_CHANCE
from lib2048.learn.loop import functions_of
from lib2048.machine.kernels import clock, compiled, kernel, part, peek, prefetch, ticks
from lib2048.networks.network import (
    IMAGES,
    LOOK_SIGNATURE,
    VALUES_SIGNATURE,
    image_boards,
    read_through,
    stage_positions,
)
from lib2048.networks.stages import STAGES, Stages

MOST_PLIES = 16
TABLE_MIB = {1: 0, 2: 0, 3: 1}  # memory of the transposition table by plies: what a search
LARGE_TABLE_MIB = 16  # fills, and not more, so that it stays close; for all deeper ones
LEAF_BITS = 14  # 2^14 leaves of 20 bytes stay within a core's own cache
MOST_STATES = 32  # 2 tiles in at most 16 empty cells
BETWEEN_LOOKS = 8  # afterstates of the last ply between two looks at the clock
TIME_BINS = 400  # of a hundredth of the time limit each
ILLEGAL = np.float32(-np.inf)
TWO_CHANCE, FOUR = 1 - FOUR_CHANCE, FOUR_CHANCE
ZERO, ONE, TWO, THREE, QUAD = map(np.uint64, range(5))

# ---------------------------------------------------------------- what a search works on

# Plain arrays of numbers only: a record of an array would count its references at each touch.


class Limits(NamedTuple):
    """How far to look.  Plain numbers."""

    plies: int  # at most
    ticks: int  # of the clock for a move, 0 for no limit
    clock: int  # the clock's address, see machine.kernels.clock
    reduce: bool  # search behind a spawned 4 one ply less deep
    pays: np.float32  # 1 where rewards count, 0 where the value function speaks of all
    optimistic: np.float32  # what the network adds to the sum of a board's weights
    stages: Stages  # of the network


class Memory(NamedTuple):
    """What a search keeps and what it works with; one thread's own."""

    table: np.ndarray  # uint64[2k]: the transposition table, a board at 2i; k = 1 switches it off
    known: np.ndarray  # float32[4k], the same memory: its value at 4i + 2, its plies at 4i + 3
    leaves: np.ndarray  # uint64[2·2^14]: leaves, each followed by its stamp
    pool: np.ndarray  # float32[2^14]: values of the last leaves, in turn
    boards: np.ndarray  # uint64[…]: see the offsets below
    positions: np.ndarray  # uint32[4n·32]: look-ups of the leaves
    values: np.ndarray  # float32[…]: see the offsets below
    stamps: np.ndarray  # int64[…]: the leaf of each state's actions, −1 where illegal
    counters: np.ndarray  # int64[len(COUNTERS)]
    stop: np.ndarray  # int64[1]: set by another thread, ends the search
    depths: np.ndarray  # int64[17, 17]: moves by empty cells and plies reached
    times: np.ndarray  # int64[400]: moves by time, in hundredths of the limit


COUNTERS = ("aborted", "deadline", "leaves", "looked_up", "probes", "hits", "nodes")
ABORTED, DEADLINE, LEAVES, LOOKED_UP, PROBES, HITS, NODES = range(len(COUNTERS))
STATES = np.uint64(IMAGES)  # in `boards`: images, states, their four leaves, those to look up
LEAVES_AT = STATES + np.uint64(MOST_STATES)
PENDING = LEAVES_AT + np.uint64(4 * MOST_STATES)
ROOT = np.uint64(4 + MOST_STATES)  # in `values`: 4 leaves, the states, the root's 4 actions
REWARDS = ROOT + np.uint64(4)  # then 2 rewards of each state: of Up and Down, of Right and Left

# ---------------------------------------------------------------- the last ply


@part
def _slot(board, size):
    """Return the place of a board in a table of `size` entries."""
    mixed = (board ^ (board >> np.uint64(29))) * GOLDEN
    return ((mixed >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)


@kernel
def _list_leaves(leaves, boards, stamps, counters, count):
    """Give each of `count` leaves (boards[LEAVES_AT …]) its stamp, −1 where it is its own state.

    A stamp counts the leaves looked up so far; its value stands in the pool until as many others
    have followed.  Returns how many have to be looked up; they are listed in boards[PENDING …].
    """
    pending, legal, looked_up = ZERO, 0, counters[LOOKED_UP]
    oldest = looked_up - (len(leaves) >> 1) + 4 * MOST_STATES
    for i in range(ZERO, count):
        board = boards[LEAVES_AT + i]
        if board == boards[STATES + (i >> TWO)]:
            stamps[i] = -1
            continue
        legal += 1
        mixed = (board ^ (board >> np.uint64(29))) * GOLDEN
        slot = (mixed >> np.uint64(64 - LEAF_BITS)) << ONE
        if leaves[slot] != board or np.int64(leaves[slot + ONE]) < oldest:
            looked_up += 1
            leaves[slot], leaves[slot + ONE] = board, np.uint64(looked_up)
            boards[PENDING + pending] = board
            pending += ONE
        stamps[i] = np.int64(leaves[slot + ONE])
    counters[LOOKED_UP] = looked_up
    counters[LEAVES] += legal
    return pending


@kernel
def _look_up_leaves(
    look, values_of, weights, limits, pool, boards, positions, values, last, count
):  # fmt: skip
    """Look the listed leaves up, four at a time, and put their values into the pool.

    last: the stamp of the last of them.
    """
    if count == ZERO:
        return
    size = np.uint64(len(positions)) // np.uint64(MOST_STATES)  # 4n
    for at in range(count, count + THREE):
        boards[PENDING + at] = ZERO
    for g in range(ZERO, (count + THREE) >> TWO):
        image_boards(boards, PENDING + QUAD * g, boards, WHOLE)
        look(boards, positions, g * size)
        if limits.stages.marks:
            stage_positions(
                boards, PENDING + QUAD * g, positions, g * size, size, limits.stages
            )  # fmt: skip
        for i in range(g * size, (g + ONE) * size):
            prefetch(weights, positions[i])
    mask = np.uint64(len(pool) - 1)
    first = np.uint64(last) - count + ONE
    for g in range(ZERO, (count + THREE) >> TWO):
        if limits.stages.below:
            read_through(weights, positions, g * size, size, limits.stages.below)
        values_of(weights, positions, g * size, size >> TWO, values)
        for i in range(QUAD * g, min(QUAD * g + QUAD, count)):
            pool[(first + i) & mask] = values[i & THREE] + limits.optimistic


@kernel
def _one_ply(
    look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps, counters,
    count,
):  # fmt: skip
    """Write the 1-ply values of `count` states (boards[STATES …]) into values[4 …]."""
    for s in range(ZERO, count):
        at = LEAVES_AT + QUAD * s
        up, right, down, left, along, across = slide_all(boards[STATES + s])
        boards[at], boards[at + ONE], boards[at + TWO], boards[at + THREE] = up, right, down, left
        values[REWARDS + TWO * s] = np.float32(along) * limits.pays
        values[REWARDS + TWO * s + ONE] = np.float32(across) * limits.pays
    pending = _list_leaves(leaves, boards, stamps, counters, QUAD * count)
    last = counters[LOOKED_UP]
    _look_up_leaves(
        look, values_of, weights, limits, pool, boards, positions, values, last, pending
    )  # fmt: skip
    mask = len(pool) - 1
    for s in range(ZERO, count):
        best = ILLEGAL
        for a in range(ZERO, QUAD):
            stamp = stamps[QUAD * s + a]
            if stamp >= 0:
                best = max(best, values[REWARDS + TWO * s + (a & ONE)] + pool[stamp & mask])
        values[QUAD + s] = best if best != ILLEGAL else np.float32(0)


# ---------------------------------------------------------------- the tree


@part
def _out_of_time(counters, stop, limits):
    """Say whether the search has to end: someone stopped it, or its time is over."""
    if peek(stop, 0) != 0:
        return True
    return limits.ticks > 0 and ticks(limits.clock) >= counters[DEADLINE]


@kernel
def _mean_one_ply(
    look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps, counters,
    board, first,
):  # fmt: skip
    """Return an afterstate's value with one ply below it.

    first: 1, or 2 for the part of it that spawned 4s make.
    """
    mask, count, cells = empty_mask(board), ZERO, 0
    while mask:
        cell = mask & (~mask + ONE)
        mask ^= cell
        cells += 1
        for exponent in range(first, THREE):
            boards[STATES + count] = board | cell * exponent
            count += ONE
    _one_ply(
        look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps,
        counters, count,
    )  # fmt: skip
    total = 0.0
    for s in range(ZERO, count):
        spawned_two = first == ONE and s & ONE == ZERO
        total += (TWO_CHANCE if spawned_two else FOUR) * values[QUAD + s]
    return total / cells


@kernel
def chance_value(
    look, values_of, weights, limits, table, known, leaves, pool, boards, positions, values, stamps,
    counters, stop, afterstate, plies,
):  # fmt: skip
    """Return the value of an afterstate with `plies` ≥ 1 plies below it, as float32.

    Meaningless once counters[ABORTED] is set.
    """
    board = canonical(afterstate, WHOLE)
    slot, remember = _slot(board ^ np.uint64(plies), len(table) >> 1), len(table) > 2
    counters[PROBES] += 1
    if remember and table[TWO * slot] == board and known[QUAD * slot + THREE] == plies:
        counters[HITS] += 1
        return known[QUAD * slot + TWO]
    counters[NODES] += 1
    if plies == 1:
        if counters[NODES] % BETWEEN_LOOKS == 0 and _out_of_time(counters, stop, limits):
            counters[ABORTED] = 1
            return np.float32(0)
        mean = _mean_one_ply(
            look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps,
            counters, board, ONE,
        )  # fmt: skip
    else:
        mean, total, cells, free = 0.0, 0.0, 0, empty_mask(board)
        fours_below = plies - 1 if limits.reduce else plies
        if fours_below == 1:
            mean = _mean_one_ply(
                look, values_of, weights, limits, leaves, pool, boards, positions, values,
                stamps, counters, board, TWO,
            )  # fmt: skip
        while free:
            cell = free & (~free + ONE)
            free ^= cell
            cells += 1
            for exponent in range(ONE, THREE):
                below = plies if exponent == ONE else fours_below
                if below == 1:
                    continue
                state, best = board | cell * exponent, ILLEGAL
                up, right, down, left, along, across = slide_all(state)
                for a in range(4):
                    after = up if a == 0 else right if a == 1 else down if a == 2 else left
                    if after == state:
                        continue
                    reward = np.float32(across if a & 1 else along) * limits.pays
                    value = chance_value(
                        look, values_of, weights, limits, table, known, leaves, pool, boards,
                        positions, values, stamps, counters, stop, after, below - 1,
                    )  # fmt: skip
                    if counters[ABORTED]:
                        return np.float32(0)
                    best = max(best, reward + value)
                chance = TWO_CHANCE if exponent == ONE else FOUR
                total += chance * (best if best != ILLEGAL else np.float32(0))
        mean += total / cells
    value = np.float32(mean)
    if remember:
        table[TWO * slot] = board
        known[QUAD * slot + TWO], known[QUAD * slot + THREE] = value, plies
    return value


# ---------------------------------------------------------------- one decision


@kernel
def _root_one_ply(
    look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps, counters,
    board,
):  # fmt: skip
    """Write the root's four 1-ply values into values[ROOT …], −inf where illegal; return how many
    are legal."""
    boards[STATES], legal = board, 0
    _one_ply(
        look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps,
        counters, ONE,
    )  # fmt: skip
    for a in range(ZERO, QUAD):
        values[ROOT + a] = ILLEGAL
        if stamps[a] >= 0:
            reward = values[REWARDS + (a & ONE)]
            values[ROOT + a] = reward + pool[stamps[a] & (len(pool) - 1)]
            legal += 1
    return legal


@part
def _best_of(values, done):
    """Return the action of the largest root value among those in the bit set `done`, or 4."""
    best, best_value = QUAD, ILLEGAL
    for a in range(ZERO, QUAD):
        if done >> a & ONE and values[ROOT + a] > best_value:
            best, best_value = a, values[ROOT + a]
    return best


ALL_ACTIONS = np.uint64(15)


@kernel
def decide_kernel(look, values_of, weights, limits, memory, board):
    """Choose an action; return (action or 4, plies searched).

    Its values, rewards included, stand in memory.values[ROOT …].  With a time limit the search
    deepens ply by ply, the best action so far first; when time is up within a ply, the best of
    the actions that it has finished is taken.
    """
    table, known, leaves = memory.table, memory.known, memory.leaves
    pool, boards = memory.pool, memory.boards
    positions, values, stamps = memory.positions, memory.values, memory.stamps
    counters, stop = memory.counters, memory.stop
    counters[ABORTED] = 0
    if limits.ticks:
        counters[DEADLINE] = ticks(limits.clock) + limits.ticks
    legal = _root_one_ply(
        look, values_of, weights, limits, leaves, pool, boards, positions, values, stamps,
        counters, board,
    )  # fmt: skip
    best, reached = _best_of(values, ALL_ACTIONS), 1
    if limits.ticks and legal < 2:
        return best, reached
    up, right, down, left, along, across = slide_all(board)
    for plies in range(2 if limits.ticks else max(limits.plies, 2), limits.plies + 1):
        left_over, done = ALL_ACTIONS, ZERO
        for _ in range(legal):
            a = _best_of(values, left_over)
            left_over &= ~(ONE << a)
            after = up if a == 0 else right if a == 1 else down if a == 2 else left
            reward = np.float32(across if a & ONE else along) * limits.pays
            value = chance_value(
                look, values_of, weights, limits, table, known, leaves, pool, boards,
                positions, values, stamps, counters, stop, after, plies - 1,
            )  # fmt: skip
            if counters[ABORTED]:
                break
            values[ROOT + a] = reward + value
            done |= ONE << a
        best = _best_of(values, done) if done else best
        if counters[ABORTED]:
            break
        reached = plies
    return best, reached


# ---------------------------------------------------------------- a policy that searches

_LIMITS = types.NamedTuple(
    (types.int64, types.int64, types.int64, types.boolean, types.float32, types.float32, STAGES),
    Limits,
)
_U64, _I64, _F32 = types.uint64[::1], types.int64[::1], types.float32[::1]
_MEMORY = types.NamedTuple(
    (
        _U64, _F32, _U64, _F32, _U64, types.uint32[::1], _F32, _I64, _I64, _I64,
        types.int64[:, ::1], _I64,
    ),
    Memory,
)  # fmt: skip
CONTEXT = types.Tuple(  # (look, values, weights, limits, memory): one thread's own
    (types.FunctionType(LOOK_SIGNATURE), types.FunctionType(VALUES_SIGNATURE), _F32, _LIMITS,
     _MEMORY)
)  # fmt: skip
SEARCH_SIGNATURE = types.UniTuple(types.uint64, 3)(CONTEXT, types.uint64, types.uint64)


@compiled(SEARCH_SIGNATURE)
def search_policy(context, board, random):
    """Take the action that the search chooses; a stopped search gives the game up."""
    look, values_of, weights, limits, memory = context
    begin = ticks(limits.clock) if limits.ticks else 0
    action, plies = decide_kernel(look, values_of, weights, limits, memory, board)
    if action == QUAD or (memory.counters[ABORTED] and peek(memory.stop, 0) != 0):
        return board, np.uint64(0), random
    free = 0
    for cell in range(ZERO, np.uint64(64), QUAD):
        free += (empty_mask(board) >> cell) & ONE
    memory.depths[free, plies] += 1
    if limits.ticks:
        took = (ticks(limits.clock) - begin) * (TIME_BINS // 4) // limits.ticks
        memory.times[min(took, TIME_BINS - 1)] += 1
    after, reward = slide_one(board, action)
    return after, reward, random


@compiled(types.Tuple((types.uint64, types.int64))(CONTEXT, types.uint64))
def decide(context, board):
    """Choose on one board; return (action or 4, plies)."""
    look, values_of, weights, limits, memory = context
    return decide_kernel(look, values_of, weights, limits, memory, board)


class Search:
    """An expectimax search over a network's values.

    network: `Network` of afterstates on the 4×4 board.  plies ≥ 1: how far to look; or seconds
    > 0: a time limit for a move, with plies as the limit of deepening.  table_mib: memory of the
    transposition table, 0 for none; by default as TABLE_MIB says, and none up to 2-ply, where no
    entry could be met again.  reduce: search behind a spawned 4 one ply less deep.  pays:
    whether rewards count.  functions: `learning.Functions` of your own.  Raises ValueError for
    numbers that make no sense and MemoryError for a table that does not fit, one line each.
    """

    def __init__(
        self, network, plies=None, seconds=None, table_mib=None, reduce=False, pays=True,
        functions=None,
    ):  # fmt: skip
        table_mib = check_limits(plies, seconds, table_mib)
        if network.form != "afterstate" or network.grid != WHOLE:
            raise ValueError(f"network {network.name}: search needs values of 4x4 afterstates")
        self.network, self.functions = network, functions or functions_of(network.tuples)
        self.table_mib, self.stop, self._own = table_mib, np.zeros(1, np.int64), None
        address, tick = clock() if seconds else (0, 1.0)
        ticks_a_move = max(1, int(seconds / tick)) if seconds else 0
        plies = plies or MOST_PLIES
        start = np.float32(network.optimistic)
        self.limits = Limits(
            plies, ticks_a_move, address, reduce, np.float32(pays), start, network.stages
        )

    def context(self, table_mib=None):
        """Return what the kernels work with, its memory empty; one for each thread."""
        table_mib = self.table_mib if table_mib is None else table_mib
        memory = _new_memory(self.network.lookups_per_board, table_mib, self.stop)
        return (*self.functions[:2], self.network.weights, self.limits, memory)

    def _cleared(self):
        """Return the context of single decisions, empty: the weights may have changed."""
        if self._own is None or self.table_mib > 1:  # new zeros cost less than clearing
            self._own = self.context()
        else:
            self._own[-1].leaves[:], self._own[-1].table[:] = 0, 0
        return self._own

    def decide(self, board):
        """Search one board; return (action or None, {action: reward + value}, plies reached)."""
        context = self._cleared()
        action, plies = decide()(context, np.uint64(board))
        values = context[-1].values[int(ROOT) : int(ROOT) + 4]
        found = {a: float(value) for a, value in enumerate(values) if value != ILLEGAL}
        return (None if action == 4 else int(action)), found, int(plies)


def check_limits(plies, seconds, table_mib=None):
    """Raise ValueError or MemoryError, in one line, for limits that make no sense.

    Returns the memory of the transposition table in MiB, which has a default; see `Search`.
    """
    if table_mib is None:
        table_mib = TABLE_MIB.get(plies, LARGE_TABLE_MIB)
    if plies is None and seconds is None:
        raise ValueError("say how far to look: plies, or seconds a move")
    if plies is not None and not 1 <= plies <= MOST_PLIES:
        raise ValueError(f"depth {plies}: use 1 to {MOST_PLIES} plies")
    if seconds is not None and not 0 < seconds < 1e6:
        raise ValueError(f"{seconds} seconds a move: use a time above 0")
    if not 0 <= table_mib <= 1 << 16:
        raise ValueError(f"a transposition table of {table_mib} MiB: use 0 to 65536")
    available = psutil.virtual_memory().available >> 20
    if table_mib > available:
        raise MemoryError(
            f"a transposition table of {table_mib} MiB does not fit: {available} MiB are free"
        )
    return table_mib


def _new_memory(n, table_mib, stop):
    table = np.zeros(2 * max(1, int(table_mib * 2**20) // 16), np.uint64)
    return Memory(
        table=table,
        known=table.view(np.float32),
        leaves=np.zeros(2 << LEAF_BITS, np.uint64),
        pool=np.zeros(1 << LEAF_BITS, np.float32),
        boards=np.zeros(IMAGES + 9 * MOST_STATES + 4, np.uint64),
        positions=np.zeros(4 * n * MOST_STATES, np.uint32),
        values=np.zeros(8 + 3 * MOST_STATES, np.float32),
        stamps=np.zeros(4 * MOST_STATES, np.int64),
        counters=np.zeros(len(COUNTERS), np.int64),
        stop=stop,
        depths=np.zeros((17, MOST_PLIES + 1), np.int64),
        times=np.zeros(TIME_BINS, np.int64),
    )


# ---------------------------------------------------------------- any value function, in batches


class BatchSearch:
    """An expectimax search over any value function, asked for many boards at once.

    values: a function from afterstates, uint64[n], to their values, n numbers.  It is asked once
    a depth, about all distinct leaves; so it may be slow at a single board, such as a network of
    torch.  symmetric: whether it values the images of a board alike; then only one of them is
    asked for.  plies, seconds, pays: as for `Search`; with a time limit, one more ply is begun if
    it is expected to end in time.  Raises ValueError for numbers that make no sense.
    """

    def __init__(self, values, plies=None, seconds=None, symmetric=True, pays=True):
        check_limits(plies, seconds)
        self.values_of, self.pays = values, float(pays)
        self.plies, self.seconds = plies or MOST_PLIES, seconds
        self._like = (WHOLE, symmetric)

    def decide(self, board):
        """Search one board; return (action or None, {action: reward + value}, plies reached)."""
        return self.decide_all([board])[0]

    def decide_all(self, boards):
        """Search many boards together; return a list of what `decide` returns."""
        boards = np.array([np.uint64(board) for board in boards], np.uint64)
        if self.seconds is None:
            return self._search(boards, self.plies)[0]
        return self._deepen(boards)

    def _deepen(self, boards):
        begin, growth, before, plies = time.perf_counter(), 30.0, 0, 0
        end, spent = begin + self.seconds * len(boards), 0.0
        while plies < self.plies and time.perf_counter() + growth * spent < end or not plies:
            start, plies = time.perf_counter(), plies + 1
            found, leaves = self._search(boards, plies)
            spent = time.perf_counter() - start
            growth, before = max(2.0, leaves / max(before, 1)) if before else growth, leaves
            if not leaves:
                break
        return found

    def _search(self, boards, plies):
        """Return (the decisions of a search to a fixed depth, how many leaves it asked for)."""
        levels = [self._level(frontier.canonicals(boards, *self._like))]
        for _ in range(plies - 1):
            made = [frontier.spawned(levels[-1][1], e, *self._like) for e in (1, 2)]
            levels.append(self._level(np.concatenate(made)))
        values = self._ask(levels[-1][1])
        for (_, after), below in zip(levels[-2::-1], levels[:0:-1], strict=True):
            pair = (below[0], self._best_of(*below, values))
            values = frontier.expected(after, pair, pair, *self._like)
        found = dict(zip(levels[0][1].tolist(), values[:, 0].tolist(), strict=True))
        return [self._decision(board, found, plies) for board in boards], len(levels[-1][1])

    def _level(self, states):
        states = frontier.distinct(states)
        return states, frontier.afterstates_of(states, *self._like)

    def _ask(self, leaves):
        if not len(leaves):
            return np.zeros((0, 1))
        values = np.asarray(self.values_of(leaves), np.float64)
        if values.shape != leaves.shape:
            raise ValueError(f"a value function returns one number a board: {len(leaves)} here")
        return values[:, None]

    def _best_of(self, states, after, values):
        choice, gains = frontier.Choice(pays=self.pays), np.array([[self.pays, 0.0]])
        preference = np.ascontiguousarray(values[:, 0])
        return frontier.chosen(states, after, values, preference, choice, gains, *self._like)

    def _decision(self, board, found, plies):
        legal = afterstates(board)
        names = frontier.canonicals(np.array([a for _, a, _ in legal], np.uint64), *self._like)
        pairs = zip(legal, names.tolist(), strict=True)
        worth = {action: self.pays * reward + found[name] for (action, _, reward), name in pairs}
        return max(worth, key=worth.get, default=None), worth, plies
