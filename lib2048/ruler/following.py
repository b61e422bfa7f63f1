"""A player's own play in an endgame, evaluated exactly: how often it makes the target.

The layers are those of the solver.  Going back, V(s) is the value of the action that the player
takes, the best by its own values among those that keep the formation; going on, each state's share
of the visits from two random tiles says how often it wanted another one.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from lib2048.endgame.formation import Formation
from lib2048.endgame.positions import (
    CODE,
    LOW,
    SECOND,
    after_spawn,
    has_won,
    is_legal,
    is_marked,
    members,
    number_after,
    rank,
    slid,
    standing,
)
from lib2048.endgame.solving import Build, boards_of, is_empty
from lib2048.endgame.table import Table, large_cells
from lib2048.game.bits import transpose
from lib2048.game.spec import FOUR_CHANCE
from lib2048.machine.kernels import kernel
from lib2048.machine.memory import check_memory

NONE, CHOICE, LEAVES = 4, 8, 16  # beside an action: none keeps the formation, see `_follow`
WON, CHOICES, LEAVING = range(3)  # columns of `Followed.flow`


@dataclass(frozen=True)
class Followed:
    """What a player makes of an endgame where it keeps to the formation.

    Attributes:
        name: of the player.
        table: the `Table` of its afterstates, by its own play.
        flow: float64[layers, 3], for each tile sum of the free cells, from 0 by 2s: the share of
            endgames from two random tiles that are won there, and how many choices an endgame has
            there, and how many of them would leave the formation.
    """

    name: str
    table: Table
    flow: np.ndarray
    _build: "_Following"

    def __repr__(self):
        return f"<{self.name} in {self.table.formation}: {self.start:.4f}>"

    @property
    def start(self):
        """The chance of success from two random tiles on two random free cells."""
        return self.table.start

    @property
    def leaves(self):
        """The share of its choices, as it meets them from the start, that would leave."""
        return float(self.flow[:, LEAVING].sum() / self.flow[:, CHOICES].sum())

    def success(self, board):
        """Return the chance of success from a position on.

        Args:
            board: uint64, the large tiles where they were when the player was followed.

        Raises:
            ValueError: for a board that the endgame does not reach.
        """
        return self._build.success(np.uint64(board))


def follow(who, formation, target, large, threads=None, progress=True, four=FOUR_CHANCE):
    """Evaluate a player's own play in an endgame, exactly, where it keeps to the formation.

    Args:
        who: a player with `decide_all`, such as a `NetworkPlayer`: it is asked about every state.
        formation: the free cells of each row, such as "4411".
        target: the tile that wins, such as 64.
        large: uint64, the board of the large tiles on the cells that are not free: all different,
            and at least as large as the target.
        threads: how many work; None: one for each processor.
        progress: whether to show a bar on stderr.
        four: the chance that a spawned tile is a 4.

    Returns:
        `Followed`.

    Raises:
        ValueError: for what makes no endgame.
        MemoryError: when the memory is too small, before anything is built.
    """
    build = _Following(who, Formation(formation, target), np.uint64(large), threads, four)
    table = build.run(progress)
    return Followed(who.name, table, build.carry_on(), build)


class _Following(Build):
    """An endgame of a player on its way to a `Table`; arguments: see `follow`."""

    def __init__(self, who, formation, large, threads, four):
        stand = np.uint64(large_cells(large, np.uint64(formation.exponent)))
        if stand != formation.walls or large & ~stand:
            raise ValueError(
                f"the large tiles: on each cell that {formation.name} has not free, and on no "
                f"other, a different one from {formation.target} on"
            )
        super().__init__(formation, None, threads, four, exact=True)
        what = f"following a player in {formation}"
        check_memory(what, self.needed + 17 * formation.size, "take a smaller target")
        self.who, self.large = who, large

    # ------------------------------------------------------------ back

    @cached_property
    def found(self):
        """(uint8[states] the actions, see `_follow`; float64[states] the values), by rank."""
        count = self._count_of(self.states)
        return np.zeros(count, np.uint8), np.zeros(count)

    def choice(self, total):
        """See `Build.choice`."""
        return partial(self._choose, total, *self.found)

    def _choose(self, total, chosen, kept, chunk, states, afterstates, values, first, begin, out):
        before, boards = _list_states(self.positions, self.large, total, chunk, states)
        if not len(boards):
            return
        wanted, worths = self.who.decide_all(boards, np.zeros_like(boards))
        here, there = slice(before, before + len(boards)), before - begin
        told = afterstates, values, first, chosen[here], kept[here]
        _follow(self.positions, self.formation.walls, boards, wanted, worths, *told)
        out[there : there + len(boards)] = kept[here]

    # ------------------------------------------------------------ and on

    def carry_on(self):
        """Return `Followed.flow`."""
        visits, flow = np.zeros(len(self.found[0])), np.zeros((self.last + 1, 3))
        for boards, chances in self.starts.values():
            visits[_ranks_of(self.positions, self.states, boards)] += chances
        told = self.positions, self.formation.walls
        for total in range(self.last + 1):
            for chunk in self.chunks[total]:  # in turn: they add to the same states
                how = self.states, self.found[0], self.chances, visits, flow[total]
                _carry_on(*told, total, chunk, *how)
        return flow

    # ------------------------------------------------------------ a position

    def success(self, board):
        """See `Followed.success`."""
        free = board & ~self.formation.walls
        exponents = [int(free) >> 4 * cell & 15 for cell in range(16)]
        if board != free | self.large or max(exponents) >= self.formation.exponent:
            raise ValueError("this board has other large tiles than those that were followed")
        at = _ranks_of(self.positions, self.states, np.array([free | self.formation.walls]))[0]
        if at < 0:
            raise ValueError("this board is never reached from two tiles")
        return float(self.found[1][at])


# ---------------------------------------------------------------- kernels


@kernel
def _ranks_of(positions, marked, boards):
    """Return int64[n], the ranks of positions with their walls, −1 for one that is not marked."""
    found = np.full(len(boards), -1)
    for i in range(len(boards)):
        place = number_after(positions, standing(positions, boards[i]))
        if is_marked(marked, place):
            found[i] = rank(marked, place)
    return found


@kernel
def _list_states(positions, large, total, chunk, states):
    """Return (the rank of a chunk's first marked state, uint64[n] the boards of all)."""
    before, ones, twos = members(positions, states, total, *chunk)
    boards = np.empty(len(ones), np.uint64)
    for i in range(len(ones)):
        boards[i], _ = boards_of(positions, large, ones, twos, i)
    return before, boards


@kernel
def _follow(positions, walls, boards, wanted, worths, afterstates, values, first, chosen, out):
    """Take the best action by a player's worths that keeps the formation: V(s) = V(s′) of that.

    wanted: what it takes by itself, 4 for none.  Writes uint8 chosen: the action or NONE, and with
    it CHOICE where some action is legal on the board, LEAVES where the wanted one is not kept.
    """
    for i in range(len(boards)):
        board = boards[i] | walls
        turned = transpose(board)
        best, most, value = NONE, 0.0, 0.0
        for action in range(4):
            found = slid(positions.lines, board, turned, action)
            if not is_legal(found) or best == wanted[i]:
                continue
            if best == NONE or action == wanted[i] or worths[i, action] > most:
                best, most, value = action, worths[i, action], 1.0
                if not has_won(found):
                    value = values[rank(afterstates, number_after(positions, found)) - first]
        told = best
        if wanted[i] != NONE:
            told |= CHOICE if best == wanted[i] else CHOICE | LEAVES
        chosen[i], out[i] = told, value


@kernel
def _carry_on(positions, walls, total, chunk, states, chosen, chances, visits, flow):
    """Carry the visits of a chunk's states on to those that follow; fill flow, float64[3]."""
    before, ones, twos = members(positions, states, total, *chunk)
    one, two = positions.one, positions.two
    for i in range(len(ones)):
        weight, told = visits[before + i], chosen[before + i]
        if weight == 0:
            continue
        flow[CHOICES] += weight * (told & CHOICE != 0)
        flow[LEAVING] += weight * (told & LEAVES != 0)
        action = np.int64(told & 7)
        if action == NONE:
            continue
        board, turned = boards_of(positions, walls, ones, twos, i)
        found = slid(positions.lines, board, turned, action)
        if has_won(found):
            flow[WON] += weight
            continue
        at, there = one.places[found & CODE], two.places[(found >> SECOND) & CODE]
        after = one.rows[one.first[at >> 32] + (at & LOW)]
        after |= two.rows[two.first[there >> 32] + (there & LOW)]
        empty = 0
        for cell in range(len(positions.cells)):
            empty += is_empty(after, positions.cells[cell])
        for cell in range(len(positions.cells)):
            if is_empty(after, positions.cells[cell]):
                for tile in (1, 2):
                    place = number_after(
                        positions, after_spawn(positions, after, found, cell, tile)
                    )
                    visits[rank(states, place)] += weight * chances[tile - 1] / empty
