"""n-tuple networks: the value of a board as a sum of look-ups in tables of weights.

The exponents that stand in a tuple's cells, four bits each, make an index into the tuple's table
(Jaśkowski 2018, section IV-B2).  See `names` for the tuples, `layout` for where a weight lies,
`lookups` for the sum.
"""

import copy
import itertools
from collections.abc import Callable

import numpy as np
from numba import types

from lib2048.game.batch import as_states
from lib2048.game.bits import NUMBERED, one_board
from lib2048.game.board import WHOLE, symmetries, to_exponents
from lib2048.game.game import Game
from lib2048.machine.kernels import compiled, numba_type
from lib2048.machine.memory import check_memory, reserve
from lib2048.machine.terminal import in_short
from lib2048.networks.folding import fold
from lib2048.networks.layout import layout, offsets, ones, side_by_side
from lib2048.networks.lookups import (
    BOARDS_AT_ONCE,
    IMAGES,
    LOOK_SIGNATURE,
    TURNED,
    VALUES_SIGNATURE,
    find_weights,
    image_boards,
    look_kernel,
    stage_positions,
    values_kernel,
)
from lib2048.networks.names import game_of, parse_network, with_game
from lib2048.networks.stages import TOP, Stages, shown_stages, stages

FORMS = ("afterstate", "state", "q")
NEXT = ("shown", "hidden")
MOST_WEIGHTS = (1 << 32) - 1  # so that a position fits 32 bits


# What says where a weight lies: kernels believe it, so it stays what it was when it was made.
FIXED = set("form next tuples game block heads head_size stages blocks size".split())


class Geometry:
    """All of a network but its weights: what it looks up, and where that would lie.

    Args:
        name: as `parse_network` takes it.
        form: what a value belongs to: 'afterstate' (V of the board after sliding), 'state' (V of
            the board before the action) or 'q' (one set of tables per action).
        optimistic: V_init, points that every board is worth beside the sum of its weights; a large
            one makes what is unknown look good (optimistic initial values, Guei et al. 2021).
        stages: g, for 2^g sets of tables, each for a part of the game.
        top: the largest tile that marks a stage.
        promotion: whether a weight never accessed is read from the stage below, by default where
            there are stages (see `stages`).
        next: of a game that shows more than its board, such as the next card of Threes!: 'shown',
            one set of tables for each thing that may be shown (the default), or 'hidden', one for
            all.

    Attributes:
        tuples: of cells.
        game: what is played.
        stages: `Stages`, made of that number.
        block: weights of one stage, or of one action's tables.
        blocks: how many of them.
        size: weights in all.

    Raises:
        ValueError: for what makes no network.
        MemoryError: for too many weights.
    """

    def __init__(
        self, name, form="afterstate", optimistic=0.0, stages=0, top=TOP, promotion=None, next=None
    ):
        if form not in FORMS:
            raise ValueError(f"unknown form {form!r}: use {', '.join(FORMS)}")
        self.name = name = with_game(name)
        self.form, self.tuples, self.game = form, parse_network(name), game_of(name)
        _check_form(self)
        self.next = _checked_next(self.game, next)
        self.layout = side_by_side if self.next == "shown" else layout
        self.block, self._bits = self.layout(self.tuples)
        self.heads = 4 if form == "q" else 1
        self.head_size = np.uint64(self.block if form == "q" else 0)
        self.stages = _stages_of(self, stages, top, promotion)
        self.blocks = self.heads * self.stages.count
        self.size = self.block * self.blocks
        self.optimistic = _checked_start(optimistic)
        if self.size > MOST_WEIGHTS:
            most = f"{MOST_WEIGHTS:,} is the most here"
            raise MemoryError(f"network {name} has {self.size:,} weights; {most}")

    def __setattr__(self, name, value):
        if name in FIXED and name in vars(self):
            raise ValueError(f"a network's {name} cannot be changed: make another Network")
        super().__setattr__(name, value)

    @property
    def nbytes(self):
        """The memory that the weights take, in bytes, once all stages are reached."""
        return 4 * self.size

    @property
    def stage_nbytes(self):
        """The memory that the weights of one stage take, in bytes."""
        return self.nbytes // self.stages.phases

    @property
    def promotes(self):
        """Whether a weight never accessed is read from the stage below."""
        return bool(self.stages.below)

    @property
    def lookups_per_board(self):
        """The number of look-ups that make one value: 8 for each tuple."""
        return 8 * len(self.tuples)

    def stage(self, board, word=0):
        """Return the stage of a board, 0 … 2^g − 1, or what the word of its state shows."""
        return self.stages.of(board, word)

    def positions(self, tuple_number, block=0):
        """Return where a tuple's weights lie: uint32[16^n], by plain index (see `Network.table`).

        Args:
            block: the action of a Q network, or the stage.
        """
        bits, start = self.region(tuple_number, block)
        return np.uint32(start + ones(bits)) + offsets(bits, self.tuples[tuple_number])

    def region(self, tuple_number, block=0):
        """Return (how a position's bits are made, the place of the first) of a tuple's weights.

        The weights of two tuples that are stored as a pair share one region; see `layout`.
        """
        bits, offset = self._bits[tuple_number]
        return bits, offset + block * (int(self.stages.size) or self.block)

    def part(self, numbers, block):
        """Return those of one block, a stage or an action, of what is kept for each weight."""
        if self.next == "shown":
            return numbers[block :: self.blocks]
        return numbers[block * self.block :][: self.block]

    def arguments(self):
        """Return the geometry as the arguments that make it, {name: value}."""
        made = {"name": self.name, "form": self.form, "optimistic": self.optimistic}
        marks = int(self.stages.marks) if self.stages.by_tiles else 0
        made |= {"stages": marks, "top": self.stages.top, "promotion": self.promotes}
        return made | ({"next": self.next} if self.next else {})


class Network(Geometry):
    """The look-up tables of an n-tuple network, all weights 0 at first.

    The arguments are those of `Geometry`.  The memory of a stage is taken when its weights are
    first written.

    Attributes:
        weights: float32[size], in the order of `layout`; `table` gives one tuple's in plain order.
            Those of a new array take its place: it is checked.
        own: functions of your own that it learns and plays by, see `with_functions`; None for the
            library's.

    Raises:
        MemoryError: before anything is taken, when the tables of one stage do not fit.
    """

    own = None
    seams: Callable | None = None  # tries and compiles functions of your own, see `learn.own`

    def __init__(self, name, *arguments, **named):
        super().__init__(name, *arguments, **named)
        check_memory(f"network {name}", self.stage_nbytes)
        self._weights = reserve(f"network {name}", self.size)

    @property
    def weights(self):
        """The weights, float32[size]; an array that takes their place is all that they are.

        Raises:
            ValueError: for another type or shape, and numbers that are not finite.
        """
        if not (self._weights.flags.writeable and self._weights.ndim == 1):
            raise ValueError(f"network {self.name}: somebody made its weights {_is(self._weights)}")
        return self._weights

    @weights.setter
    def weights(self, new):
        count = len(self._weights)
        form = isinstance(new, np.ndarray) and new.dtype == np.float32 and new.shape == (count,)
        if not (form and new.flags.c_contiguous and new.flags.writeable and new.flags.aligned):
            raise ValueError(
                f"network {self.name}: its weights are float32[{count}], in one piece, to be read "
                f"and written, not {_is(new)}: network.weights[:] = … takes numbers of any type"
            )
        if not np.isfinite(new).all():
            raise ValueError(f"network {self.name}: some of these weights are not finite")
        self._weights = new

    def with_functions(self, index=None, value=None, update=None, rule="td", keeps=None):
        """Return the network that learns and plays by functions of your own.

        It shares this network's weights.  Each function is plain Python that numba can compile, or
        None for the library's own.  They are tried on some hundred boards in a process of their own
        first; later a run ends where an index leaves an array, or a call takes 10 million turns.

        Args:
            index: (board uint64, positions uint32[n]) → None writes where the n = 8·m weights of a
                board lie, each a number from 0 to `block` − 1.
            value: (weights float32[size], positions) → float.
            update: (weights, positions, amount) → None adds to every weight.  One that keeps
                numbers is (weights, memory, positions, error, rate) → None: the k numbers of weight
                p lie at memory[k·p], memory[k·p + 1], …; rate is already shared by the look-ups.
            rule: the rule that the update stands for, a name or a `Rule`.
            keeps: names of what the update keeps, ("E", "A", "visits"), by default what that rule
                keeps (TC's "E" and "A").

        Raises:
            ValueError: for functions that do not compile, do not end, write outside the tables or
                do something else than they should.
        """
        self.needs_tables("functions of your own")
        if index is not None and self.next == "shown":
            raise ValueError("an index of your own knows nothing of the next card: next='hidden'")
        made = copy.copy(self)
        made.own = self.seams(index, value, update, rule, keeps)
        return made

    @property
    def look(self):
        """The compiled function that writes the positions of four boards' look-ups."""
        own = self.own.look if self.own else None
        return own or look_kernel(self.tuples, self.layout)

    @property
    def values_of(self):
        """The compiled function that sums the look-ups of four boards."""
        return self.own.values if self.own and self.own.values else values_kernel()

    @property
    def own_order(self):
        """Whether the weights lie where an index of your own has them."""
        return self.own is not None and self.own.look is not None

    def needs_order(self, what):
        """Raise ValueError where the weights lie as an index of one's own has it."""
        if self.own_order:
            raise ValueError(
                f"network {self.name}: {what} needs to know where each weight lies, and here your "
                "own index decides that: read network.weights instead"
            )

    def needs_tables(self, what):
        """Raise ValueError where the tables are not there in full; see `packing`."""

    def positions(self, tuple_number, block=0):
        """Return where a tuple's weights lie; see `Geometry.positions`."""
        self.needs_order("a table")
        return super().positions(tuple_number, block)

    def table(self, tuple_number, block=0):
        """Return a copy of one tuple's weights in plain order: float32[16^n].

        The weight of exponents e0, e1 … in the tuple's cells has index e0 + 16·e1 + 256·e2 …

        Args:
            block: the action, for a Q network, or the stage.
        """
        return self.weights[self._kept(self.positions(tuple_number, block))]

    def set_table(self, tuple_number, weights, block=0):
        """Set one tuple's weights from plain order: array of 16^n numbers."""
        expected = (16 ** len(self.tuples[tuple_number]),)
        if np.shape(weights) != expected:
            raise ValueError(f"tuple {tuple_number}: {expected} weights, not {np.shape(weights)}")
        self.needs_tables("a new table")
        self.weights[self.positions(tuple_number, block)] = weights

    def lookups(self, board, head=0, word=0):
        """List the look-ups of a board: [(tuple number, cells, plain index, weight)], 8 a tuple.

        The cells are where the tuple stands on the board in that symmetric image.  Plain Python,
        for looking at; the sum of the weights is `value`.
        """
        self.needs_order("a list of look-ups")
        numbers = NUMBERED & self.game.cells * np.uint64(15)
        images, where = (map(to_exponents, symmetries(x, self.game)) for x in (board, numbers))
        looks = itertools.product(enumerate(self.tuples), zip(images, where))
        found = []
        for ((number, cells), (image, stands)), place in zip(looks, self.places(board, head, word)):
            index = sum(exponent << 4 * j for j, exponent in enumerate(image[list(cells)].tolist()))
            stood = tuple(stands[list(cells)].tolist())
            found.append((number, stood, index, float(self._weight(place))))
        return found

    def _weight(self, place):
        """Return a weight; while it is 0, never accessed, that of the stage below (promotion)."""
        unknown = self.weights[place] == 0 and self.promotes and place >= self.block
        return self.weights[place - np.uint32(self.block) if unknown else place]

    def value(self, board, word=0):
        """Return the value of one board: the sum of its look-ups, a float.

        Args:
            word: of the state, where its game shows more than the board.
        """
        return float(self.values([board], words=[word])[0])

    def places(self, board, head=0, word=0):
        """Return where the weights of a board's look-ups lie: uint32[8·m], in `weights`."""
        images = np.zeros(IMAGES, np.uint64)
        found = np.zeros(BOARDS_AT_ONCE * self.lookups_per_board, np.uint32)
        four = np.array([one_board(board), 0, 0, 0], np.uint64)
        image_boards(four, np.uint64(0), images, self.game)
        self.look(images, found, np.uint64(0))
        heads = np.tile(TURNED[:, head] * self.head_size, len(self.tuples))
        moved = heads + np.uint64(self.stage(board, word)) * self.stages.size
        return self._kept(found[::BOARDS_AT_ONCE] + moved.astype(np.uint32))

    def _kept(self, places):
        """Return where weights lie that have these places in the full tables: there."""
        return places

    def values(self, boards, head=0, words=None):
        """Return the values of many boards: float32[len(boards)].

        Args:
            head: the action, for Q.
            words: of their states, as many numbers; None where nothing but the board is shown.

        Raises:
            ValueError: for a head that the network does not have.
        """
        if head not in range(self.heads):
            raise ValueError(f"a head is a number below {self.heads} here, not {head!r}")
        boards, words = as_states(boards, words, self.game)
        fours = -(-len(boards) // BOARDS_AT_ONCE) * BOARDS_AT_ONCE
        padded, out = np.zeros(fours, np.uint64), np.zeros(fours, np.float32)
        padded[: len(boards)] = boards
        told = np.zeros(fours, np.uint64)
        told[: len(boards)] = words
        many_values()(
            self.look,
            self.values_of,
            self.weights,
            padded,
            told,
            self.lookups_per_board,
            head,
            self.head_size,
            self.game,
            self.stages,
            np.zeros(IMAGES, np.uint64),
            np.zeros(BOARDS_AT_ONCE * self.lookups_per_board, np.uint32),
            np.zeros(BOARDS_AT_ONCE, np.float32),
            out,
        )
        out = out[: len(boards)]
        return out + np.float32(self.optimistic) if self.optimistic else out

    def add(self, board, amount, head=0, word=0):
        """Add an amount to each weight of a board's look-ups, in turn (a shared one twice)."""
        self.needs_tables("learning")
        for place in self.places(board, head, word):
            self.weights[place] = self._weight(place) + np.float32(amount)

    def folded(self):
        """Return the network without its contained tuples that gives every board the same value.

        A tuple whose cells all belong to a longer one, on some symmetric image, adds nothing that
        the longer one's table could not hold: its weights are added there (redundant encoding,
        Jaśkowski 2018, section V-E2).  What promotion would read from the stage below is copied
        first, so that the result, equal but for float32's rounding, promotes nothing.  It has few
        zeros: its memory is all taken.

        Raises:
            ValueError: in one line, when there is nothing to fold or a shorter tuple is in no
                longer one.
        """
        self.needs_order("folding")
        if self.next == "shown":
            raise ValueError(f"network {self.name}: folding is for one set of tables")
        self.needs_tables("folding")
        return fold(self)

    def __repr__(self):
        words = f"{len(self.tuples)} tuples, {self.size:,} weights, {self.nbytes / 2**20:,.0f} MiB"
        several = f" in {self.stages.count} stages" if self.stages.by_tiles else ""
        several += ", one set for each next card" if self.next == "shown" else ""
        return f"<network {self.name}: {words}{several}>"


def _is(thing):
    if not isinstance(thing, np.ndarray):
        return f"a {type(thing).__name__}"
    kind = f"{thing.dtype}[{', '.join(map(str, thing.shape))}]"
    whole = "" if thing.flags.contiguous else ", in pieces"
    return kind + whole + ("" if thing.flags.writeable else ", read-only")


def _check_form(network):
    """Refuse values of what a game has not, or what its board's symmetries say nothing of."""
    game, form = network.game, network.form
    if form != "afterstate" and game.rules is not WHOLE.rules:
        raise ValueError(f"network {network.name}: form {form} is for 2048: leave it out")
    if form == "q" and game.rows != game.columns:  # no image turns Up into Left
        raise ValueError(
            f"network {network.name}: form q is for square boards, whose images share one table "
            "for all actions: use afterstate or state"
        )


def _checked_next(game, said):
    if not game.rules.SHOWN and said is not None:
        raise ValueError(f"next {said}: {game.name} shows nothing but its board")
    if said not in (None, *NEXT):
        raise ValueError(f"next {said!r}: use {' or '.join(NEXT)}")
    return (said or NEXT[0]) if game.rules.SHOWN else None


def _stages_of(network, marks, top, promotion):
    if marks and (network.form != "afterstate" or network.game.rules is not WHOLE.rules):
        raise ValueError(f"network {network.name}: stages are for afterstates of 2048")
    if network.next == "shown":
        return shown_stages(network.game.rules.SEEN_BITS)
    return stages(marks, top, network.block, promotion)


def _checked_start(optimistic):
    largest = float(np.finfo(np.float32).max)  # nan is not at most that
    if not (isinstance(optimistic, (int, float)) and abs(optimistic) <= largest):
        raise ValueError(f"optimistic {optimistic}: use a number of points")
    return float(np.float32(optimistic))


@compiled(
    types.void(
        types.FunctionType(LOOK_SIGNATURE),
        types.FunctionType(VALUES_SIGNATURE),
        types.float32[::1],
        types.uint64[::1],
        types.uint64[::1],
        types.int64,
        types.int64,
        types.uint64,
        numba_type(Game),
        numba_type(Stages),
        types.uint64[::1],
        types.uint32[::1],
        types.float32[::1],
        types.float32[::1],
    )
)
def many_values(
    look,
    values_of,
    weights,
    boards,
    words,
    lookups,
    head,
    size,
    game,
    stages,
    images,
    positions,
    values,
    out,
):
    """Write the values of many boards, four at a time: their number is a multiple of it.

    images, positions, values: work space; an array made here would compile two seconds longer.
    """
    n, many = np.uint64(lookups), np.uint64(len(positions))
    for start in range(np.uint64(0), np.uint64(len(boards)), np.uint64(BOARDS_AT_ONCE)):
        image_boards(boards, start, images, game)
        look(images, positions, np.uint64(0))
        for i in range(np.uint64(0), many):
            turn = (i >> np.uint64(2)) & np.uint64(7)
            positions[i] += np.uint32(TURNED[turn, head] * size)
        if stages.marks:
            stage_positions(boards, words, start, positions, np.uint64(0), many, stages)
        find_weights(weights, positions, np.uint64(0), many, stages)
        values_of(weights, positions, np.uint64(0), n, values, np.uint64(0))
        for i in range(np.uint64(BOARDS_AT_ONCE)):
            out[start + i] = values[i]


def check_tables(network, what):
    """Raise ValueError, in one line, for what is no `Network`; what: takes nothing else."""
    if not isinstance(network, Network):
        given = in_short(network)
        raise ValueError(f"{what} takes look-up tables, a Network, not {given}")
