"""n-tuple networks: the value of a board as a sum of look-ups in tables of weights.

A tuple is a list of cells.  The exponents that stand there, four bits each, make an index into
the tuple's table.  Every tuple is looked up on the 8 symmetric images of the board, with the same
weights, so a network of m tuples sums 8·m look-ups (Jaśkowski 2018, section IV-B2).

Where a weight lies in memory
-----------------------------
A table of 16^6 weights is far larger than the processor's cache, and training waits for memory
most of its time.  So the *order* of the weights matters.  Two things keep those that are used
together close together:

* tuples that differ in one cell only are stored as a pair: the two weights for the same five
  cells lie in the same 64 bytes, most of the time;
* the low two bits of every cell come before the high two bits of any, so that small tiles, which
  change all the time, stay within a few memory pages.

The order is an affair of this module alone: `Network.table` and files use the plain one.
"""

import functools
import hashlib
import itertools
import math

import numba
import numpy as np
import psutil
from numba import types

from lib2048.game.board import Grid, flip, grid, is_square, symmetries, to_exponents, transpose
from lib2048.machine import kernels
from lib2048.machine.kernels import compiled, kernel, part, prefetch
from lib2048.networks.stages import STAGES, TOP, stage_kernel, stages

BOARDS_AT_ONCE = 4  # a kernel looks up four boards together: one for each action
IMAGES = 8 * BOARDS_AT_ONCE
LONGEST_TUPLE = 7
FORMS = ("afterstate", "state", "q")
NAMED = {
    "4x6": "012345,456789,012456,45689a",
    "8x6": "012456,456789,012345,234569,01259a,345678,134567,01489a",
}
SHAPES = {
    "42": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)),
    "33": ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)),
    "43": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)),
    "421": ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (2, 0)),
    "4": ((0, 0), (0, 1), (0, 2), (0, 3)),
    "22": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "3": ((0, 0), (0, 1), (0, 2)),
}


# ---------------------------------------------------------------- names of networks


def parse_network(name):
    """Turn a network's name into its tuples of cells.

    name: '4x6', '8x6', shapes placed systematically such as '42-33-4-22-3', or 'cells:' and
    tuples of hexadecimal cells, 'cells:012345,456789'.  A smaller board is written behind an @:
    'cells:012456@2x3'; its cells keep their numbers on the 4×4 board.  Returns a tuple of tuples
    of ints 0..15.  Raises ValueError, in one line, for anything else.
    """
    name, _, size = name.partition("@")
    if size:
        return _parse_small(name, size)
    if name in NAMED:
        return _parse_cells(NAMED[name])
    if name.startswith("cells:"):
        return _parse_cells(name.removeprefix("cells:"))
    shapes = name.split("-")
    if all(shape in SHAPES for shape in shapes) and len(set(shapes)) == len(shapes):
        return tuple(itertools.chain.from_iterable(map(placements, shapes)))
    raise ValueError(
        f"unknown network {name!r}: use {', '.join(NAMED)}, shapes out of {' '.join(SHAPES)} "
        "such as 42-33, or cells:012345,456789"
    )


def parse_grid(name):
    """Return the `board.Grid` that a network's name asks for: what follows its @, or 4×4."""
    _, at, size = name.partition("@")
    rows, _, columns = size.partition("x")
    if not at:
        return grid()
    if not (rows.isdigit() and columns.isdigit()):
        raise ValueError(f"board size {size!r}: write it as rows and columns, such as 2x3")
    return grid(int(rows), int(columns))


def _parse_small(name, size):
    if not name.startswith("cells:"):
        raise ValueError(f"network {name!r} on a board of {size}: name its cells, cells:0145@2x2")
    tuples, cells = _parse_cells(name.removeprefix("cells:")), int(parse_grid("@" + size).cells)
    outside = {cell for cells_of in tuples for cell in cells_of if not cells >> 4 * cell & 1}
    if outside:
        raise ValueError(f"network {name!r}: a board of {size} has no cell {min(outside):x}")
    return tuples


def _parse_cells(text):
    return tuple(_parse_tuple(word) for word in text.split(","))


def _parse_tuple(word):
    if not word or any(digit not in "0123456789abcdefABCDEF" for digit in word):
        raise ValueError(f"tuple {word!r}: write each cell as one hexadecimal digit, 0 to f")
    cells = tuple(int(digit, 16) for digit in word)
    if len(set(cells)) < len(cells):
        raise ValueError(f"tuple {word!r} names a cell twice")
    if len(cells) > LONGEST_TUPLE:
        raise ValueError(f"tuple {word!r} has {len(cells)} cells; {LONGEST_TUPLE} is the most here")
    return cells


def placements(shape):
    """Place a named shape everywhere on the board, symmetric places counted once.

    shape: a key of SHAPES.  Returns a list of tuples of cells; of each class of symmetric places
    the one met first, row by row, is kept (42 has 3 places, 33 has 2, 22 has 3).
    """
    places = {}
    for variant in _orientations(SHAPES[shape]):
        for cells in _translations(variant):
            places.setdefault(_canonical(cells), cells)
    return list(places.values())


def _orientations(cells):
    """The shape as it is and, mirrored top to bottom, with its rows in the other order."""
    return [cells, tuple((-row, column) for row, column in cells)]


def _translations(cells):
    for down, right in itertools.product(range(-3, 4), range(4)):
        moved = [(row + down, column + right) for row, column in cells]
        if all(0 <= row < 4 and 0 <= column < 4 for row, column in moved):
            yield tuple(4 * row + column for row, column in moved)


def _canonical(cells):
    """The smallest of the 8 symmetric images of a set of cells: equal for symmetric places."""
    board = np.uint64(sum(1 << 4 * cell for cell in cells))
    return min(int(image) for image in symmetries(board))


# ---------------------------------------------------------------- images of a board
# Turning a board turns its actions with it: what is Left on a board is Right on its mirror image.
# So Q(s, a) looks image s of the board up in the tables of the turned action.

TURNED = np.array(  # TURNED[image, action]: the action on that image, in the order of `symmetries`
    [
        [0, 1, 2, 3], [0, 3, 2, 1], [2, 1, 0, 3], [2, 3, 0, 1],
        [3, 2, 1, 0], [1, 2, 3, 0], [3, 0, 1, 2], [1, 0, 3, 2],
    ],
    np.uint64,
)  # fmt: skip


# Within each row of 16 bits, the low two bits of its four cells are brought together in one byte,
# their high two bits in the other ("planes").  Then a tuple's low bits can be cut out together.


@kernel
def planes(board):
    """Sort each row's bits into a byte of low pairs and a byte of high pairs.  uint64 → uint64."""
    swap = (board ^ (board >> np.uint64(2))) & np.uint64(0x0C0C0C0C0C0C0C0C)
    board ^= swap ^ (swap << np.uint64(2))
    swap = (board ^ (board >> np.uint64(4))) & np.uint64(0x00F000F000F000F0)
    return board ^ swap ^ (swap << np.uint64(4))


def plane_bit(cell, bit):
    """Return where bit 0..3 of a cell's exponent stands after `planes`."""
    row, column = divmod(cell, 4)
    return 16 * row + 8 * (bit // 2) + 2 * column + bit % 2


@kernel
def unplanes(board):
    """Undo `planes`.  uint64 → uint64."""
    swap = (board ^ (board >> np.uint64(4))) & np.uint64(0x00F000F000F000F0)
    board ^= swap ^ (swap << np.uint64(4))
    swap = (board ^ (board >> np.uint64(2))) & np.uint64(0x0C0C0C0C0C0C0C0C)
    return board ^ swap ^ (swap << np.uint64(2))


@kernel
def mirror_planes(board):
    """Mirror a board in planes left to right.  uint64 → uint64."""
    pairs, nibbles = np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    board = ((board >> np.uint64(2)) & pairs) | ((board & pairs) << np.uint64(2))
    return ((board >> np.uint64(4)) & nibbles) | ((board & nibbles) << np.uint64(4))


@kernel
def image_boards(boards, at, images, grid):
    """Write the 8 symmetric images, in planes, of four boards.

    boards: uint64[…], read from `at` on; images: uint64[32], image s of board a at 4s + a; grid:
    `Grid`.  A board that is not square has four images, and each is written twice.
    """
    right, down, square = grid.right >> np.uint64(1), grid.down, is_square(grid)
    for a in range(BOARDS_AT_ONCE):
        board = boards[at + np.uint64(a)]
        x = planes(board)
        t = planes(transpose(board) if square else board)
        images[a] = x
        images[4 + a] = mirror_planes(x) >> right
        images[8 + a] = flip(x) >> down
        images[12 + a] = flip(mirror_planes(x) >> right) >> down
        images[16 + a] = t
        images[20 + a] = mirror_planes(t) >> right
        images[24 + a] = flip(t) >> down
        images[28 + a] = flip(mirror_planes(t) >> right) >> down


# ---------------------------------------------------------------- layout of the tables


def layout(tuples):
    """Decide where each weight lies.

    Returns (size, one list per tuple).  The list holds, for each bit of a weight's position from
    the lowest up, the (cell, bit) that it copies, or a constant 0 or 1.
    """
    size, bits = 0, [None] * len(tuples)
    longest_first = sorted(_groups(tuples), key=lambda group: -_region(tuples, group))
    for group in longest_first:  # so that a region's offset has no bit within the region
        for number, which in enumerate(group):
            bits[which] = _position_bits(tuples, group, number)
        for which in group:
            bits[which] = bits[which], size
        size += _region(tuples, group)
    return size, bits


def _region(tuples, group):
    """Return how many weights a group of tuples has."""
    return len(group) * 16 ** len(tuples[group[0]])


def _groups(tuples):
    """Pair the tuples that differ in one cell; the others stand alone."""
    left, groups = list(range(len(tuples))), []
    while left:
        first = left.pop(0)
        mate = next((i for i in left if _differ_in_one(tuples[first], tuples[i])), None)
        groups.append([first] if mate is None else [first, mate])
        if mate is not None:
            left.remove(mate)
    return groups


def _differ_in_one(a, b):
    return len(a) == len(b) > 1 and len(set(a) & set(b)) == len(a) - 1


def _position_bits(tuples, group, number):
    cells = tuples[group[number]]
    shared = [cell for cell in cells if len(group) == 1 or cell in tuples[group[1 - number]]]
    own = next((cell for cell in cells if cell not in shared), cells[-1])
    rest = sorted(set(cells) - {own})
    low, high = [(own, 0), (own, 1)], [(own, 2), (own, 3)]
    which = [number] if len(group) == 2 else []
    lows = [(cell, bit) for cell in rest for bit in (0, 1)]
    highs = [(cell, bit) for cell in rest for bit in (2, 3)]
    return low + which + high + lows + highs


def _terms(bits):
    """Gather a position's bits into (shift right, mask, set of ones): few cuts instead of many."""
    masks, ones = {}, 0
    for place, source in enumerate(bits):
        if isinstance(source, int):
            ones |= source << place
        else:
            shift = plane_bit(*source) - place
            masks[shift] = masks.get(shift, 0) | 1 << place
    return sorted(masks.items()), ones


# ---------------------------------------------------------------- generated look-ups
# The cuts of a network are constants, so that the compiler can turn the loop into vector code:
# the same function with the constants in arrays is half as fast.

LOOK_SIGNATURE = types.void(types.uint64[::1], types.uint32[::1], types.uint64)


def look_source(tuples):
    """Return the text of the function that computes a network's positions.

    The function look(images, positions, at) writes, for look-up l = 8·tuple + image of board a,
    position uint32 at positions[at + 4l + a].
    """
    lines = ["def look(images, positions, at):", "    for j in range(32):", "        b = images[j]"]
    for number, (bits, offset) in enumerate(layout(tuples)[1]):
        terms, ones = _terms(bits)
        cuts = [_cut(shift, mask) for shift, mask in terms]
        cuts += [f"np.uint64({ones + offset:#x})"] if ones + offset else []
        place = f"at + np.uint64({IMAGES * number} + j)"
        lines.append(f"        positions[{place}] = np.uint32({' | '.join(cuts)})")
    return "\n".join(lines) + "\n"


def _cut(shift, mask):
    arrow = ">>" if shift >= 0 else "<<"
    return f"((b {arrow} np.uint64({abs(shift)})) & np.uint64({mask:#x}))"


@functools.cache
def look_kernel(tuples):
    """Compile (or load from the cache) the positions of a network's look-ups.

    tuples: tuple of tuples of cells.  Returns a compiled function of LOOK_SIGNATURE.
    """
    source = look_source(tuples)
    path = kernels.CACHE / f"look_{hashlib.sha256(source.encode()).hexdigest()[:12]}.py"
    cached = _write_once(path, "import numpy as np\n\n\n" + source)
    names = {"np": np, "__name__": __name__}  # numba rebuilds cached functions in this module
    exec(compile(path.read_text() if cached else source, str(path), "exec"), names)
    names["look"].__qualname__ = path.stem  # two cached functions of one name share an address
    return numba.njit(LOOK_SIGNATURE, cache=cached, nogil=True, error_model="numpy")(names["look"])


def _write_once(path, text):
    """Write the file that numba's cache wants to see; False where the disk does not let us."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            part = path.with_suffix(f".{id(text)}")
            part.write_text(text)
            part.replace(path)
        return True
    except OSError:
        return False


# ---------------------------------------------------------------- value
# Look-up l of board a stands at positions[at + 4l + a] for the four boards that were looked up
# together, and at positions[at + l] for a board kept alone.  Sums are kept in four parts, look-up
# l in part l mod 4, joined as (0 + 1) + (2 + 3): the same order on every processor, so the same
# rounding.  The number n of look-ups is a multiple of 8.

GRID = types.NamedUniTuple(types.uint64, 3, Grid)
VALUES_SIGNATURE = types.void(
    types.float32[::1], types.uint32[::1], types.uint64, types.uint64, types.float32[::1]
)
VALUE_SIGNATURE = types.float32(types.float32[::1], types.uint32[::1], types.uint64, types.uint64)


@compiled(VALUES_SIGNATURE)
def values_kernel(weights, positions, at, n, values):
    """Write the values of four boards into values[0..3]."""
    for a in range(np.uint64(0), np.uint64(4)):
        p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for i in range(at + a, at + a + np.uint64(4) * n, np.uint64(16)):
            p += weights[positions[i]]
            q += weights[positions[i + np.uint64(4)]]
            r += weights[positions[i + np.uint64(8)]]
            s += weights[positions[i + np.uint64(12)]]
        values[a] = (p + q) + (r + s)


@compiled(VALUE_SIGNATURE)
def value_kernel(weights, positions, at, n):
    """Return the value of one board: the sum of its n weights."""
    p, q, r, s = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(at, at + n, np.uint64(4)):
        p += weights[positions[i]]
        q += weights[positions[i + np.uint64(1)]]
        r += weights[positions[i + np.uint64(2)]]
        s += weights[positions[i + np.uint64(3)]]
    return (p + q) + (r + s)


# ---------------------------------------------------------------- stages
# A stage is an offset added to the positions.  With promotion a weight of a later stage that was
# never accessed is read from the stage below, without writing; training copies it on the first
# access.  "Never accessed" is judged by the weight being 0, as in the paper: a weight that was
# learned and is exactly 0 is read from below once more.


@part
def shift_to_stages(positions, at, count, size, first, second, third, fourth):
    """Move the positions of four boards that were looked up together into their stages."""
    p, q = np.uint32(first * size), np.uint32(second * size)
    r, s = np.uint32(third * size), np.uint32(fourth * size)
    for i in range(at, at + count, np.uint64(4)):
        positions[i] += p
        positions[i + np.uint64(1)] += q
        positions[i + np.uint64(2)] += r
        positions[i + np.uint64(3)] += s


@part
def stage_positions(boards, at, positions, first, count, stages):
    """Move the positions of four boards, boards[at …], into the stages of those boards."""
    shift_to_stages(
        positions, first, count, stages.size,
        stage_kernel(boards[at], stages.marks, stages.lowest),
        stage_kernel(boards[at + np.uint64(1)], stages.marks, stages.lowest),
        stage_kernel(boards[at + np.uint64(2)], stages.marks, stages.lowest),
        stage_kernel(boards[at + np.uint64(3)], stages.marks, stages.lowest),
    )  # fmt: skip


@part
def read_through(weights, positions, at, count, below):
    """Send each position whose weight was never accessed to the same weight one stage earlier.

    below: how far that is.  What is there is asked for at once, without a branch to mispredict.
    """
    for i in range(at, at + count):
        place = np.uint64(positions[i])
        known = (weights[place] != np.float32(0)) | (place < below)
        place = place if known else place - below
        positions[i] = np.uint32(place)
        prefetch(weights, place)


@part
def promote(weights, positions, at, n, stage, below):
    """Copy the weights of a board of some stage that were read from the stage before it."""
    first = stage * below
    for i in range(at, at + n):
        place = np.uint64(positions[i])
        if place < first:
            if weights[place + below] == np.float32(0):  # not learned since it was looked up
                weights[place + below] = weights[place]
            positions[i] = np.uint32(place + below)


# ---------------------------------------------------------------- the network


class Network:
    """The look-up tables of an n-tuple network, all weights 0 at first.

    name: as `parse_network` takes it.  form: what a value belongs to: 'afterstate' (V of the
    board after sliding), 'state' (V of the board before the action) or 'q' (one set of tables per
    action).  optimistic: V_init, points that every board is worth beside the sum of its weights;
    a large one makes what is unknown look good (optimistic initial values, Guei et al. 2021).
    stages: g, for 2^g sets of tables, each for a part of the game; top: the largest tile that
    marks a stage; promotion: whether a weight never accessed is read from the stage below, by
    default where there are stages (see `stages`).
    Raises ValueError for an unknown name or form, MemoryError, before anything is
    taken, when the tables of one stage do not fit.

    weights: float32[size], in the order of this module's layout; `table` gives one tuple's in
    plain order.  The memory of a stage is taken when its weights are first written.
    """

    def __init__(
        self, name, form="afterstate", optimistic=0.0, stages=0, top=TOP, promotion=None
    ):  # fmt: skip
        if form not in FORMS:
            raise ValueError(f"unknown form {form!r}: use {', '.join(FORMS)}")
        self.name, self.form, self.tuples = name, form, parse_network(name)
        self.grid = parse_grid(name)
        if "@" in name and form != "afterstate":
            raise ValueError(f"network {name}: on a smaller board only afterstates have values")
        self.block, self._bits = layout(self.tuples)  # weights of a stage, of an action's tables
        self.heads = 4 if form == "q" else 1
        self.head_size = np.uint64(self.block if form == "q" else 0)
        self.stages = _stages_of(self, stages, top, promotion)
        self.blocks = self.heads * self.stages.count
        self.size = self.block * self.blocks
        self.optimistic = _checked_start(optimistic)
        if self.size >= 1 << 32:
            most = f"{(1 << 32) - 1:,} is the most here"
            raise MemoryError(f"network {name} has {self.size:,} weights; {most}")
        check_memory(f"network {name}", self.nbytes // self.stages.count)
        self.weights = reserve(f"network {name}", self.size)

    @property
    def nbytes(self):
        """The memory that the weights take, in bytes, once all stages are reached."""
        return 4 * self.size

    @property
    def promotes(self):
        """Whether a weight never accessed is read from the stage below."""
        return bool(self.stages.below)

    @property
    def lookups_per_board(self):
        """The number of look-ups that make one value: 8 for each tuple."""
        return 8 * len(self.tuples)

    def stage(self, board):
        """Return the stage of a board, 0 … 2^g − 1."""
        return self.stages.of(board)

    def positions(self, tuple_number, block=0):
        """Return where a tuple's weights lie: uint32[16^n], by plain index (see `table`).

        block: the action of a Q network, or the stage.
        """
        bits, offset = self._bits[tuple_number]
        cells = self.tuples[tuple_number]
        offset += block * self.block
        positions = np.array([offset + _ones(bits)], np.uint32)
        for cell in reversed(cells):
            positions = (positions[:, None] + _spread(bits, cell)).ravel()
        return positions

    def table(self, tuple_number, block=0):
        """Return a copy of one tuple's weights in plain order: float32[16^n].

        The weight of exponents e0, e1 … in the tuple's cells has index e0 + 16·e1 + 256·e2 …
        block: the action, for a Q network, or the stage.
        """
        return self.weights[self.positions(tuple_number, block)]

    def set_table(self, tuple_number, weights, block=0):
        """Set one tuple's weights from plain order: array of 16^n numbers."""
        expected = (16 ** len(self.tuples[tuple_number]),)
        if np.shape(weights) != expected:
            raise ValueError(f"tuple {tuple_number}: {expected} weights, not {np.shape(weights)}")
        self.weights[self.positions(tuple_number, block)] = weights

    def lookups(self, board, head=0):
        """List the look-ups of a board: [(tuple number, cells, plain index, weight)], 8 a tuple.

        cells: where the tuple stands on the board in that symmetric image.  Plain Python, for
        looking at; the sum of the weights is `value`.
        """
        stage = self.stage(board)
        return [
            self._lookup(number, image, cells, self._turned(turn, head) + stage)
            for number, image, cells, turn in self._images(board)
        ]

    def _turned(self, turn, head):
        return int(TURNED[turn, head]) if self.heads > 1 else head

    def _images(self, board):
        numbers = np.uint64(0xFEDCBA9876543210) & self.grid.cells * np.uint64(15)
        images, where = symmetries(board, self.grid), symmetries(numbers, self.grid)
        for number, cells in enumerate(self.tuples):
            for turn, (image, places) in enumerate(zip(images, where, strict=True)):
                stands = to_exponents(places)
                yield number, image, tuple(int(stands[cell]) for cell in cells), turn

    def _lookup(self, number, image, cells, block):
        exponents = [int(e) for e in to_exponents(image)[list(self.tuples[number])]]
        index = sum(exponent << 4 * j for j, exponent in enumerate(exponents))
        place = self._position(number, exponents, block)
        return number, cells, index, float(self._weight(place))

    def _weight(self, place):
        """Return a weight; while it is 0, never accessed, that of the stage below (promotion)."""
        unknown = self.weights[place] == 0 and self.promotes and place >= self.block
        return self.weights[place - self.block if unknown else place]

    def _position(self, number, exponents, block):
        bits, offset = self._bits[number]
        spread = zip(self.tuples[number], exponents, strict=True)
        place = _ones(bits) + sum(int(_spread(bits, cell)[e]) for cell, e in spread)
        return offset + place + block * self.block

    def value(self, board):
        """Return the value of one board: the sum of its look-ups, a float."""
        return float(self.values([board])[0])

    def places(self, board, head=0):
        """Return where the weights of a board's look-ups lie: uint32[8·m], in `weights`."""
        images = np.zeros(IMAGES, np.uint64)
        found = np.zeros(BOARDS_AT_ONCE * self.lookups_per_board, np.uint32)
        image_boards(np.array([board, 0, 0, 0], np.uint64), np.uint64(0), images, self.grid)
        look_kernel(self.tuples)(images, found, np.uint64(0))
        heads = [self._turned(turn, head) for turn in range(8)] * len(self.tuples)
        found = found[::BOARDS_AT_ONCE] + np.array(heads, np.uint32) * np.uint32(self.head_size)
        return found + np.uint32(self.stage(board) * self.block)

    def values(self, boards, head=0, functions=None):
        """Return the values of many boards: float32[len(boards)].

        functions: `learning.Functions` of your own, or None for the library's.
        """
        if not isinstance(boards, np.ndarray):
            boards = np.array([np.uint64(board) for board in boards], np.uint64)
        look = functions.look if functions else look_kernel(self.tuples)
        values = functions.values if functions else values_kernel()
        out = np.zeros(len(boards), np.float32)
        many_values()(
            look, values, self.weights, np.ascontiguousarray(boards, np.uint64),
            self.lookups_per_board, head, self.head_size, self.grid, self.stages, out,
        )  # fmt: skip
        return out + np.float32(self.optimistic) if self.optimistic else out

    def add(self, board, amount, head=0):
        """Add an amount to each weight of a board's look-ups, in turn (a shared one twice)."""
        for place in self.places(board, head):
            self.weights[place] = self._weight(place) + np.float32(amount)

    def folded(self):
        """Return the network without its contained tuples that gives every board the same value.

        A tuple whose cells all belong to a longer one, on some symmetric image, adds nothing that
        the longer one's table could not hold: its weights are added there (redundant encoding,
        Jaśkowski 2018, section V-E2).  What promotion would read from the stage below is copied
        first, so that the result, equal but for float32's rounding, promotes nothing.  It has
        few zeros: its memory is all taken.  Raises ValueError, in one line, when there is nothing
        to fold or a shorter tuple is in no longer one.
        """
        return _fold(self)

    def __repr__(self):
        words = f"{len(self.tuples)} tuples, {self.size:,} weights, {self.nbytes / 2**20:,.0f} MiB"
        several = f" in {self.stages.count} stages" if self.stages.marks else ""
        return f"<network {self.name}: {words}{several}>"


# ---------------------------------------------------------------- folding

FOLD_BITS = 12  # of a position are looked up together


def _fold(network):
    if network.form == "q":
        raise ValueError(f"network {network.name}: folding is for values of boards, not of actions")
    hosts, stages = _hosts(network), network.stages
    kept = [number for number in range(len(network.tuples)) if number not in hosts]
    arguments = (int(stages.marks), stages.top, False) if stages.marks else ()
    folded = Network(_name_of(network, kept), network.form, network.optimistic, *arguments)
    for block in range(network.blocks):
        if _is_empty(network, block):
            continue
        for new, old in enumerate(kept):
            _copy_table(network, old, folded, new, block)
        for number, (host, cells) in hosts.items():
            region, first = _read(network, number, block), network._bits[number][1]
            small = region[network.positions(number) - first]
            _add_table(folded, kept.index(host), block, cells, small)
    return folded


def _hosts(network):
    """Find, for each tuple shorter than the longest, {number: (longer tuple, its cells there)}."""
    longest = max(map(len, network.tuples))
    short = [number for number, cells in enumerate(network.tuples) if len(cells) < longest]
    if not short:
        raise ValueError(f"network {network.name}: no tuple is contained in a longer one")
    return {number: _host(network, network.tuples[number], longest) for number in short}


def _host(network, cells, longest):
    numbers = np.uint64(0xFEDCBA9876543210)
    for image in symmetries(numbers, network.grid):
        stands = to_exponents(image)
        turned = [int(stands[cell]) for cell in cells]
        for host, others in enumerate(network.tuples):
            if len(others) == longest and set(turned) <= set(others):
                return host, turned
    word = "".join(f"{cell:x}" for cell in cells)
    raise ValueError(
        f"network {network.name}: tuple {word} is in no longer one: it cannot be folded"
    )


def _name_of(network, kept):
    """Return the name of a network of some of the tuples, by shapes where it had shapes."""
    tuples = tuple(network.tuples[number] for number in kept)
    shapes = [shape for shape in network.name.split("-") if shape in SHAPES]
    longest = max((len(SHAPES[shape]) for shape in shapes), default=0)
    name = "-".join(shape for shape in shapes if len(SHAPES[shape]) == longest)
    if name and parse_network(name) == tuples:
        return name
    words = ("".join(f"{cell:x}" for cell in cells) for cells in tuples)
    _, at, size = network.name.partition("@")
    return "cells:" + ",".join(words) + at + size


def _is_empty(network, block):
    """Say whether a stage, and the one that it reads through to, has no weights at all."""
    first = max(block - 1, 0) if network.promotes else block
    return not network.weights[first * network.block : (block + 1) * network.block].any()


def _read(network, number, block):
    """Return a tuple's region of weights in a stage, those never accessed from the one below."""
    bits, start = network._bits[number]
    start += block * network.block
    weights = network.weights[start : start + (1 << len(bits))]
    if not network.promotes or block == 0:
        return weights
    earlier = network.weights[start - network.block :][: len(weights)]
    return np.where(weights == 0, earlier, weights)


def _copy_table(network, old, folded, new, block):
    """Copy a tuple's weights (and those of the tuple that is stored as a pair with it)."""
    weights, (_, start) = _read(network, old, block), folded._bits[new]
    folded.weights[start + block * folded.block :][: len(weights)] = weights


def _add_table(network, number, block, cells, small):
    """Add a contained tuple's weights, in plain order, to those of the tuple that holds it.

    cells: where the contained tuple stands, so that it lies within the other.
    """
    bits, offset = network._bits[number]
    index = {(cell, bit): 1 << 4 * j + bit for j, cell in enumerate(cells) for bit in range(4)}
    low, high = _indices(bits[:FOLD_BITS], index), _indices(bits[FOLD_BITS:], index)
    _add_kernel(network.weights, offset + block * network.block, low, high, small)


def _indices(bits, index):
    """Return, for every value of some bits of a position, its part of the contained tuple's index.

    −1 where a constant bit says that the position belongs to another tuple.
    """
    values = np.arange(1 << len(bits))
    found, ours = np.zeros(len(values), np.int64), np.ones(len(values), bool)
    for place, source in enumerate(bits):
        bit = values >> place & 1
        if isinstance(source, int):
            ours &= bit == source
        else:
            found += bit * index.get(source, 0)
    return np.where(ours, found, -1)


@kernel
def _add_kernel(weights, at, low, high, small):
    """Add small[low | high] to the weights from `at` on, the low bits running fastest."""
    for above in high:
        for below in low:
            if above >= 0 and below >= 0:
                weights[at] += small[above | below]
            at += 1


def _ones(bits):
    return sum(1 << place for place, source in enumerate(bits) if source == 1)


def _spread(bits, cell):
    """Return what each exponent of a cell adds to a position: uint32[16]."""
    places = {source: place for place, source in enumerate(bits) if not isinstance(source, int)}
    exponents = np.arange(16, dtype=np.uint32)
    parts = [(exponents >> bit & 1) << places[cell, bit] for bit in range(4)]
    return np.sum(parts, axis=0, dtype=np.uint32)


def check_memory(what, nbytes):
    """Raise MemoryError, before anything is taken, when so many bytes are not free."""
    available = psutil.virtual_memory().available
    if nbytes > available:
        raise MemoryError(
            f"{what} needs {nbytes / 2**20:,.0f} MiB, and {available / 2**20:,.0f} MiB are free: "
            "take a smaller network"
        )


def reserve(what, count):
    """Return float32[count] of zeros; the system gives the memory when it is first written.

    Raises MemoryError, in one line, when it refuses.
    """
    try:
        return np.zeros(count, np.float32)
    except MemoryError:
        raise MemoryError(
            f"{what}: the system refuses {4 * count / 2**20:,.0f} MiB: "
            "take fewer stages or a smaller network"
        ) from None


def _stages_of(network, marks, top, promotion):
    if marks and (network.form != "afterstate" or "@" in network.name):
        raise ValueError(f"network {network.name}: stages are for afterstates on the 4x4 board")
    return stages(marks, top, network.block, promotion)


def _checked_start(optimistic):
    if not (isinstance(optimistic, (int, float)) and math.isfinite(optimistic)):
        raise ValueError(f"optimistic {optimistic}: use a number of points")
    return float(np.float32(optimistic))


@compiled(
    types.void(
        types.FunctionType(LOOK_SIGNATURE),
        types.FunctionType(VALUES_SIGNATURE),
        types.float32[::1],
        types.uint64[::1],
        types.int64,
        types.int64,
        types.uint64,
        GRID,
        STAGES,
        types.float32[::1],
    )  # fmt: skip
)
def many_values(look, values_of, weights, boards, lookups, head, size, grid, stages, out):
    """Write the values of many boards, four at a time."""
    n = np.uint64(lookups)
    images, four = np.zeros(IMAGES, np.uint64), np.zeros(BOARDS_AT_ONCE, np.uint64)
    positions = np.zeros(np.uint64(4) * n, np.uint32)
    values = np.zeros(BOARDS_AT_ONCE, np.float32)
    for start in range(0, len(boards), BOARDS_AT_ONCE):
        count = min(BOARDS_AT_ONCE, len(boards) - start)
        four[:count] = boards[start : start + count]
        image_boards(four, np.uint64(0), images, grid)
        look(images, positions, np.uint64(0))
        for i in range(np.uint64(0), np.uint64(len(positions))):
            turn = (i >> np.uint64(2)) & np.uint64(7)
            positions[i] += np.uint32(TURNED[turn, head] * size)
        if stages.marks:
            stage_positions(four, np.uint64(0), positions, np.uint64(0), np.uint64(4) * n, stages)
        if stages.below:
            read_through(weights, positions, np.uint64(0), np.uint64(4) * n, stages.below)
        values_of(weights, positions, np.uint64(0), n, values)
        out[start : start + count] = values[:count]
