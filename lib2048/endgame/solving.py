"""An endgame solved: which positions can be reached, layer by layer, and then back their values.

A layer is a tile sum of the free cells: a slide keeps it, a spawn adds 2 or 4.  Going on, the
layers' states and afterstates are marked; going back, V(s′) = E V(s) over the spawns and
V(s) = max V(s′) over the actions that move no wall, 1 where the target stands.  The value of a
position is its chance of success under best play (Bellman's equation of lesson 02, with a reward
of 1 for the target).  In a free formation walls move like all tiles.
"""

import time
from functools import cached_property, partial
from itertools import combinations, product
from math import comb
from typing import NamedTuple

import numpy as np

from lib2048.endgame.formation import WALL, Formation
from lib2048.endgame.positions import (
    BLOCK,
    CODE_BITS,
    Marked,
    after,
    after_spawn,
    beginning,
    count_marks,
    halves_in,
    has_won,
    is_legal,
    members,
    none_marked,
    number_after,
    positions_of,
    rank,
    span,
    standing,
)
from lib2048.endgame.table import STEPS, Table, kept
from lib2048.game.bits import WHOLE, transpose
from lib2048.game.frontier import canonicals
from lib2048.game.game import new_game
from lib2048.game.spec import FOUR_CHANCE
from lib2048.machine.arrays import Archive, Form, check_arrays, check_seal, text, write_arrays
from lib2048.machine.files import plain_place, remove
from lib2048.machine.kernels import SOURCE_HASH, kernel, part
from lib2048.machine.memory import check_memory
from lib2048.machine.native import set_bit
from lib2048.machine.terminal import bar
from lib2048.machine.threads import Crowd, processors

CHUNKS = 16  # of a layer, for the threads
NEEDED = 0.75  # bytes for each position, reached or not, as measured
NEEDED_FREE = 0.7  # the same where walls may move
SAVE_SECONDS = 20, 20  # between two checkpoints, at least; and how often as long as one takes


def solve(formation, target, path=None, threads=None, progress=True, four=FOUR_CHANCE, exact=False):
    """Return the `Table` of an endgame: the chance of success of every position under best play.

    Args:
        formation: the free cells of each row, such as "4411"; or "free8", where the other 8 cells
            hold large tiles that may move.
        target: the tile that wins, such as 64.
        path: of a file that the table is written to; a build that was stopped goes on from its
            checkpoint, which lies beside that file.
        threads: how many work; None: one for each processor.
        progress: whether to show a bar on stderr.
        four: the chance that a spawned tile is a 4.
        exact: whether to keep values as they were computed, in 8 bytes, and not within 1/65535, in
            two. Such a table stays in memory.

    Raises:
        ValueError: for a formation or target that makes no endgame, and for an exact table with a
            path.
        MemoryError: when the memory is too small, before anything is built.
        OSError: when the disk has no room.
    """
    if exact and path is not None:
        raise ValueError("an exact table stays in memory: give no path")
    build = Build(Formation(formation, target), path, threads, four, exact)
    return build.run(progress)


# ---------------------------------------------------------------- kernels, each for part of a layer
# chunk: of `Build._chunks`: the first halves from … to, and the number at which they end.


@part
def boards_of(positions, walls, ones, twos, i):
    """Return the board of the i-th of some `members`, and that transposed."""
    board = walls | positions.one.rows[ones[i]] | positions.two.rows[twos[i]]
    return board, transpose(board)


@part
def is_empty(board, shift):
    """Say whether the cell at a bit of a board is empty."""
    return (board >> shift) & np.uint64(15) == 0


@part
def _code(positions, ones, twos, i):
    """Return the codes of a position's halves."""
    one, two = positions.one.codes[ones[i]], positions.two.codes[twos[i]]
    return np.uint64(one) | np.uint64(two) << np.uint64(CODE_BITS)


@kernel
def _reach_afterstates(positions, walls, total, chunk, states, afterstates):
    """Mark what a chunk's marked states slide to, but for what has won."""
    _, ones, twos = members(positions, states, total, *chunk)
    for i in range(len(ones)):
        board, turned = boards_of(positions, walls, ones, twos, i)
        for action in range(4):
            found = after(positions, board, turned, action)
            if is_legal(found) and not has_won(found):
                set_bit(afterstates.marks, number_after(positions, found))


@kernel
def _reach_states(positions, walls, total, chunk, afterstates, states, chances):
    """Mark the states that spawns make of a chunk's marked afterstates; chances: see `_expect`."""
    _, ones, twos = members(positions, afterstates, total, *chunk)
    for i in range(len(ones)):
        board, _ = boards_of(positions, walls, ones, twos, i)
        code = _code(positions, ones, twos, i)
        for cell in range(len(positions.cells)):
            if is_empty(board, positions.cells[cell]):
                for tile in (1, 2):
                    if chances[tile - 1] > 0:
                        found = after_spawn(positions, board, code, cell, tile)
                        set_bit(states.marks, number_after(positions, found))


@kernel
def _expect(
    positions, walls, total, chunk, afterstates, states, chances, following, first, begins, out
):
    """Carry values back over the spawns: V(s′) = E V(s).

    chances: of a 2 and of a 4; following: float64 each, the values of the states of the next two
    layers; first, begins: the ranks at which the layer's afterstates and, int64[3], the states of
    this layer and the next two begin.
    """
    before, ones, twos = members(positions, afterstates, total, *chunk)
    for i in range(len(ones)):
        board, _ = boards_of(positions, walls, ones, twos, i)
        code = _code(positions, ones, twos, i)
        value, empty = 0.0, 0
        for tile in (1, 2):
            values, begin = following[tile - 1], begins[tile]
            found, empty = 0.0, 0
            for cell in range(len(positions.cells)):
                if is_empty(board, positions.cells[cell]):
                    empty += 1
                    if chances[tile - 1] > 0:
                        there = after_spawn(positions, board, code, cell, tile)
                        found += values[rank(states, number_after(positions, there)) - begin]
            value += chances[tile - 1] * found
        out[before - first + i] = value / empty


@kernel
def _choose(positions, walls, total, chunk, states, afterstates, values, first, begin, out):
    """Carry values back over the best actions: V(s) = max V(s′), 1 where one wins.

    values: float64, of the layer's afterstates; first, begin: the ranks at which its afterstates
    and its states begin.
    """
    before, ones, twos = members(positions, states, total, *chunk)
    for i in range(len(ones)):
        board, turned = boards_of(positions, walls, ones, twos, i)
        best = 0.0
        for action in range(4):
            found = after(positions, board, turned, action)
            if is_legal(found):
                if has_won(found):
                    best = 1.0
                else:
                    place = number_after(positions, found)
                    best = max(best, values[rank(afterstates, place) - first])
        out[before - begin + i] = best


@kernel
def _mark(positions, states, boards):
    for board in boards:
        set_bit(states.marks, number_after(positions, standing(positions, board)))


@kernel
def _mean(positions, states, values, begin, boards, chances):
    """Return what some of a layer's states add to the mean of a start."""
    mean = 0.0
    for i in range(len(boards)):
        place = number_after(positions, standing(positions, boards[i]))
        mean += chances[i] * values[rank(states, place) - begin]
    return mean


# ---------------------------------------------------------------- the build


class _Place(NamedTuple):
    """Where a build is.  It is replaced as a whole, so that it may be stopped anywhere.

    total: the layer that comes next; back: whether the build is on its way back; following: the
    values of the states of the two layers after it; start: the chance of success from two random
    tiles, as far as it is known.
    """

    total: int = 0
    back: bool = False
    following: tuple = (np.zeros(0), np.zeros(0))
    start: float = 0.0


class Build:
    """An endgame on its way to a `Table`; arguments: as of `solve`, with a `Formation`."""

    def __init__(self, formation, path=None, threads=None, four=FOUR_CHANCE, exact=False):
        new_game(four=four)  # which refuses what is no chance
        if threads is not None and threads < 1:
            raise ValueError(f"threads {threads}: use 1 or more")
        self.formation, self.chances = formation, (1 - four, four)
        self.threads, self.steps = threads or processors(), 1 if exact else STEPS
        self.path = None if path is None else plain_place(path)
        count = formation.size
        each = NEEDED_FREE if formation.free else NEEDED
        halves = 100 * (formation.exponent + 1) ** 8 * formation.free
        self.needed = int((each + exact) * count) + halves + (64 << 20)  # bytes of memory
        what = f"{formation} has {count:,} positions; solving it"
        check_memory(what, self.needed, "take a smaller target, or fewer free cells")

    def run(self, progress):
        """Build the table, or go on from the checkpoint; return it."""
        begin = time.perf_counter()
        self.positions = positions_of(self.formation)
        self.last = len(self.positions.begins) - 2  # the number of the last layer
        self.chunks = [self._chunks(total) for total in range(self.last + 1)]
        self._begin()
        self._begun, self._saved, self._took = begin, begin, 0.0
        form = "{desc} {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]"
        how = {"desc": str(self.formation), "total": 3 * self.formation.size, "delay": 0.5}
        try:
            with bar(progress, bar_format=form, **how) as shown, Crowd(self.threads) as crowd:
                self._go(crowd, shown)
        except KeyboardInterrupt:
            self._save()
            raise
        about = {"states": self._count_of(self.states), "start": self.place.start}
        about["seconds"] = self.seconds + time.perf_counter() - begin
        table = Table(self.formation, self.chances, self.afterstates, self.values, about)
        if self.path is not None:
            table.save(self.path)
            remove(self._checkpoint)
        return table

    def _begin(self):
        """Take up the checkpoint, if there is one of this endgame and this version."""
        self.place, self.seconds, self.values = _Place(), 0.0, np.zeros(0, np.uint16)
        self.states, self.afterstates = (none_marked(self.positions) for _ in range(2))
        if self.path is not None and self._checkpoint.exists():
            return self._take_up()
        for boards, _ in self.starts.values():
            _mark(self.positions, self.states, boards)

    def _go(self, crowd, shown):
        sizes = np.diff(self.positions.begins)
        while not self.place.back:
            total = self.place.total
            self._reach(crowd, total)
            if total == self.last:
                kind = kept(np.zeros(0), self.steps).dtype
                self.values = np.zeros(self._count_of(self.afterstates), kind)
            self.place = _Place(total + 1) if total < self.last else _Place(total, True)
            shown.update(int(sizes[total]))
            self._save_now_and_then()
        while self.place.total >= 0:
            shown.update(2 * int(sizes[self.place.total]))
            self.place = self._value(crowd, *self.place)
            self._save_now_and_then()

    # ------------------------------------------------------------ a layer

    def _reach(self, crowd, total):
        """Mark the layer's afterstates, and the states of later layers that spawns make of them."""
        self._count(self.states, total)
        slide = partial(_reach_afterstates, self.positions, self.formation.walls, total)
        self._each(crowd, total, slide, self.states, self.afterstates)
        self._count(self.afterstates, total)
        spawn = partial(_reach_states, self.positions, self.formation.walls, total)
        self._each(crowd, total, spawn, self.afterstates, self.states, np.array(self.chances))

    def _value(self, crowd, total, back, following, start):
        """Keep the values of the layer's afterstates, find those of its states; return the next
        `_Place`."""
        first, last = span(self.positions, self.afterstates, total)
        layers = [min(total + more, self.last) for more in range(3)]
        begin, end = span(self.positions, self.states, total)
        begins = np.array([span(self.positions, self.states, layer)[0] for layer in layers])
        values, found = np.zeros(last - first), np.zeros(end - begin)

        expect = partial(_expect, self.positions, self.formation.walls, total)
        told = np.array(self.chances), following, first, begins, values
        self._each(crowd, total, expect, self.afterstates, self.states, *told)
        self.values[first:last] = kept(values, self.steps)
        told = values, first, begin, found
        self._each(crowd, total, self.choice(total), self.states, self.afterstates, *told)

        if total in self.starts:
            start += _mean(self.positions, self.states, found, begin, *self.starts[total])
        return _Place(total - 1, back, (found, following[0]), start)

    def choice(self, total):
        """Return what carries a layer's values back over the actions; arguments: see `_choose`."""
        return partial(_choose, self.positions, self.formation.walls, total)

    def _count(self, marked, total):
        blocks = self.positions.begins[total : total + 2] // BLOCK
        count_marks(marked, *(int(block) for block in blocks))

    def _count_of(self, marked):
        return span(self.positions, marked, self.last)[1]

    def _chunks(self, total):
        """Cut a layer into pieces; see above."""
        first, last = halves_in(self.positions, total)
        edges = np.unique(np.linspace(first, last, CHUNKS + 1).astype(int)).tolist()
        ends = [int(beginning(self.positions, total, edge)) for edge in edges[1:-1]]
        ends.append(int(self.positions.begins[total + 1]))
        return [*zip(edges, edges[1:], ends)]

    def _each(self, crowd, total, kernel, *arguments):
        tasks = (partial(kernel, chunk, *arguments) for chunk in self.chunks[total])
        for _ in crowd.results(tasks):
            pass

    # ------------------------------------------------------------ where an endgame begins

    @cached_property
    def starts(self):
        """{layer: (boards, chances)} of two random tiles on two random cells, where walls may move
        around all their arrangements."""
        tiles = [tile for tile, chance in zip((1, 2), self.chances) if chance > 0]
        formation, found = self.formation, {sum(two): [] for two in product(tiles, repeat=2)}
        for walls in self._arrangements():
            cells = [cell for cell in formation.cells if not walls >> 4 * cell & 15]
            for a, b in combinations(cells, 2):
                for first, second in product(tiles, repeat=2):
                    found[first + second].append(walls | first << 4 * a | second << 4 * b)
        return {total: self._alike(total, boards) for total, boards in found.items()}

    def _arrangements(self):
        """Return the boards with nothing but large tiles, as ints."""
        if not self.formation.free:
            return [int(self.formation.walls)]
        some = combinations(range(16), self.formation.large)
        return [sum(WALL << 4 * cell for cell in cells) for cells in some]

    def _alike(self, total, boards):
        """Return the boards of a layer of starts, one of each that are alike, and their chances."""
        boards = canonicals(np.array(boards, np.uint64), WHOLE, self.formation.free)
        boards, times = np.unique(boards, return_counts=True)
        pairs = len(self._arrangements()) * comb(self.formation.small, 2)
        two, four = self.chances
        chance = {2: two * two, 3: two * four, 4: four * four}[total]
        return boards, times * (chance / pairs)

    # ------------------------------------------------------------ its checkpoint

    @property
    def _checkpoint(self):
        return self.path.with_name(f"{self.path.name}.build")

    def _save_now_and_then(self):
        least, times = SAVE_SECONDS
        if time.perf_counter() - self._saved > max(least, times * self._took):
            self._save()

    def _save(self):
        """Write the checkpoint, if there is a path."""
        if self.path is None:
            return
        begin, place = time.perf_counter(), self.place
        seconds = self.seconds + begin - self._begun
        arrays = {"build": np.array(self._about), "values": self.values}
        arrays["place"] = np.array([place.total, place.back, place.start, seconds])
        arrays |= {f"following{n}": values for n, values in enumerate(place.following)}
        write_arrays(self._checkpoint, arrays | self._marks())
        self._saved = time.perf_counter()
        self._took = self._saved - begin

    @property
    def _about(self):
        """What a checkpoint is of."""
        return f"{self.formation} {self.chances} {SOURCE_HASH}"

    def _marks(self):
        """Return the arrays of both sets by their names in the checkpoint."""
        both = {"states": self.states, "after": self.afterstates}
        return {
            f"{name}.{part}": array
            for name, marked in both.items()
            for part, array in marked._asdict().items()
        }

    def _take_up(self):
        """Go on from the checkpoint; one of another endgame or another version is refused."""
        with Archive(self._checkpoint) as arrays:
            advice = f"remove {self._checkpoint} to begin anew"
            forms = {"place": Form("f", (4,)), "values": Form("uint16 float64", (None,))}
            forms |= {f"following{n}": Form("float64", (None,)) for n in range(2)}
            forms |= {name: Form(a.dtype.name, a.shape) for name, a in self._marks().items()}
            try:
                check_seal(arrays)
                if text(arrays, "build") != self._about:
                    raise ValueError(f"{self._checkpoint}: a build of another endgame or version")
                check_arrays(arrays, forms, self._checkpoint)
            except ValueError as error:
                raise ValueError(f"{error}: {advice}") from None
            total, back, start, self.seconds = arrays["place"].tolist()
            following = arrays["following0"], arrays["following1"]
            self.place = _Place(int(total), bool(back), following, start)
            self.states = Marked(arrays["states.marks"], arrays["states.counts"])
            self.afterstates = Marked(arrays["after.marks"], arrays["after.counts"])
            self.values = arrays["values"]
