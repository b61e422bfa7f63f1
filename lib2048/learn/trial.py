"""The trial of a student's functions, in a process of their own (see `own` and `machine.child`).

Each is called on some hundred boards as plain Python, where every mistake can be named, and then
compiled, as it will run: an update with errors of both signs and many sizes, and all together in a
short training.  What goes wrong is said in words, with the board that shows it.
"""

import builtins
import itertools
import linecache
import operator
import re
import sys

import numpy as np

from lib2048.game.board import afterstates, begin, count_empty, next_state, to_text
from lib2048.game.rng import stream
from lib2048.learn.own import (
    OF_A_RULE,
    UNWRITTEN,
    compiled_functions,
    guarded,
    recursive,
    uncompiled,
)
from lib2048.machine import child
from lib2048.networks.lookups import IMAGES, look_kernel, planes
from lib2048.networks.network import Geometry

BOARDS = 300  # of random games, and of random tiles
PLAIN = 60  # of them, tried in plain Python
ERRORS = (150.0, -150.0, 0.0, 1e-3, -1e-3, 3.0, -3.0, 2e4, -2e4, 1e6, -1e6)  # TD errors, in points
RATE = 0.01
ACTIONS = 100, 500  # of the short training: plain, compiled
LARGEST = 1e6  # error of that training
LINES = 100_000  # that a call may take as plain Python
MOST_WEIGHTS = 1 << 16  # of the tables that value and update are tried on


class Problem(Exception):
    """What is wrong with a student's function, in words."""


def try_functions(message):
    """Try functions; return {"problem": what is wrong, None for nothing}.

    message: source, a text of `child.source_of`; network: the arguments of its `Geometry`; takes:
    the parameters of the update; memory: how many numbers it keeps beside a weight.
    """
    network, takes = Geometry(**message["network"]), tuple(message["takes"] or ())
    try:
        functions = child.load(message["source"])
        if name := recursive([*functions.values()]):
            raise Problem(f"`{name}` calls itself: the library takes no recursion, write a loop")
        with np.errstate(all="ignore"):
            functions = {part: uncompiled(functions[part]) for part in functions}
            plain = _Plain(network, functions, takes, message["memory"])
            positions = plain.run()
            _try_compiled(child.load(message["source"]), plain, positions)
    except Problem as problem:
        return {"problem": str(problem)}
    return {"problem": None}


def some_boards(game, count=BOARDS):
    """Return boards to try a function on: those of random games, and of random tiles.  → list."""
    random, cells = np.random.default_rng(2048), int(game.cells) * 15
    boards, number = [np.uint64(0), np.uint64(cells & (1 << 64) - 1)], 0
    while len(boards) < count // 2:
        board, word, luck = begin(stream(2048, number), game)
        number += 1
        while options := afterstates(board, game, word):
            action, after, _ = options[random.integers(len(options))]
            board, word, _, luck = next_state(board, word, action, luck, game)
            boards += [board, after]
    few, rest = boards[:4], boards[4:]  # an empty board, a full one, the beginning of a game
    rest = [rest[i] for i in random.permutation(len(rest))[: count // 2]]
    tiles = random.integers(0, 1 << 63, count - len(few + rest), dtype=np.uint64) * np.uint64(2)
    return few + rest + [tile & np.uint64(cells) for tile in tiles]


# ---------------------------------------------------------------- as plain Python


class _Watched(np.ndarray):
    """An array that refuses negative indices, which numba lets count from the end."""

    def __getitem__(self, key):
        return super().__getitem__(_counted(key))

    def __setitem__(self, key, value):
        super().__setitem__(_counted(key), value)


def _counted(key):
    numbers = key if isinstance(key, tuple) else (key,)
    for number in numbers:
        if isinstance(number, (int, np.integer, np.ndarray)) and np.any(np.less(number, 0)):
            raise IndexError(f"index {number} is negative: it would count from the array's end")
    return key


class _Plain:
    """The functions of a trial, called as plain Python."""

    how, boards, actions = "", PLAIN, ACTIONS[0]

    def __init__(self, network, functions, takes, memory):
        self.network, self.functions, self.takes = network, functions, takes
        self.n, self.keeps = network.lookups_per_board, memory
        self.size = min(network.size, MOST_WEIGHTS)
        self.positions = {}  # {board: what the index wrote}

    def run(self):
        """Raise Problem for the first thing that is wrong; return {board: positions of the index}.

        All boards are tried with one function before the next one.
        """
        boards = sorted(some_boards(self.network.game)[: self.boards], key=count_empty)[::-1]
        ways = {"index": self._try_index, "value": self._try_value, "update": self._try_update}
        for part, (count, board) in itertools.product(self.functions, enumerate(boards)):
            self.error, self.rate = ERRORS[count % len(ERRORS)], np.float32(RATE)
            ways[part](self._on(part, board))
        self._train()
        return self.positions

    def _on(self, part, board):
        self.part, self.board = part, board
        return board

    def _call(self, *arguments):
        try:
            return self._ended(self.functions[self.part], arguments)
        except (KeyboardInterrupt, SystemExit, RecursionError, MemoryError, Problem):
            raise
        except BaseException as error:
            place = child.own_frame(error)
            where = f", in the line: {place.line}" if place else ""
            self._refuse(f"raised {type(error).__name__}: {error}{where}")

    def _ended(self, function, arguments):
        """Call a function; raise Problem where it takes too many of its lines."""
        lines = itertools.count(1)

        def trace(frame, event, _):
            if not frame.f_code.co_filename.startswith(child.YOUR_CODE):
                return None
            if next(lines) > LINES:
                sys.settrace(None)
                at = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
                much = f"has not come to an end after {LINES:,} lines"
                self._refuse(f"{much}; it was in the line: {at}")
            return trace

        sys.settrace(trace)
        try:
            return function(*arguments)
        finally:
            sys.settrace(None)

    def _refuse(self, why):
        given = f", for the error {self.error:g}, by the rate {self.rate:g}"
        given = given if self.part == "update" else ""
        raise Problem(
            f"your `{self.part}`{self.how} {why}{given}\n"
            f"on this board:\n{to_text(self.board, self.network.game)}"
        )

    def _watched(self, array):
        return array.view(_Watched)

    def _train(self):
        """Learn from a game or two, as a run does, on tables that are all 0 at first."""
        game, number = self.network.game, 0
        tables = np.zeros(self.size, np.float32), np.zeros(max(1, self.size * self.keeps), "f4")
        board, word, luck = begin(stream(2048, number), game)
        before, self.error, self.rate = None, 0.0, np.float32(0.1 / self.n)
        for _ in range(self.actions):
            if abs(self.error) > LARGEST:
                break  # it grows without bound, which a run says in its own words
            options = [
                (reward + self._value(tables[0], after), after, action)
                for action, after, reward in afterstates(board, game, word)
            ]
            best, after, action = max(options, default=(0.0, None, None))
            if before is not None and "update" in self.functions:
                self.error = best - self._value(tables[0], before)
                positions = self._positions(before)
                self._on("update", before)
                self._learn(*tables, positions)
            if after is None:
                number += 1
                board, word, luck = begin(stream(2048, number), game)
            else:
                board, word, _, luck = next_state(board, word, action, luck, game)
            before = after

    def _positions(self, board):
        """Return where a board's weights lie on the tables of the trial."""
        if "index" in self.functions:
            self._try_index(self._on("index", board))
            return self.positions[board] % np.uint32(self.size)
        return _look_ups(self.network, board) % np.uint32(self.size)

    def _value(self, weights, board):
        positions = self._positions(board)
        if "value" in self.functions:
            self._on("value", board)
            return self._valued(weights, positions)
        return float(weights[positions].sum())

    def _try_index(self, board):
        mine = self._watched(np.full(self.n, UNWRITTEN, np.uint32))
        answer = self._call(np.uint64(board), mine)
        if answer is not None:
            self._refuse(f"returned {answer!r}: it should write into positions and return nothing")
        for at, position in enumerate(mine.tolist()):
            if position == UNWRITTEN:
                all_of_them = f"all {self.n} are to be written, 8 for each of the tuples"
                self._refuse(f"left positions[{at}] unwritten (or wrote −1): {all_of_them}")
            if position >= self.network.block:
                low = "; did you write a negative number?" if position >= 1 << 31 else ""
                block = self.network.block
                room = f"the tables hold {block} weights: 0 to {block - 1}"
                self._refuse(f"wrote positions[{at}] = {position}, and {room}{low}")
        self.positions[board] = np.asarray(mine)

    def _tables(self, board):
        """Return (weights, memory, positions) that belong to a board."""
        random = np.random.default_rng(int(board) % 1000)
        weights = random.normal(0, 100, self.size).astype(np.float32)
        memory = np.abs(random.normal(0, 100, max(1, self.size * self.keeps))).astype(np.float32)
        positions = _look_ups(self.network, board) % np.uint32(self.size)
        return weights, memory, positions

    def _try_value(self, board):
        weights, _, positions = self._tables(board)
        self._valued(weights, positions)

    def _valued(self, weights, positions):
        """Return what the reader's value says of a board, checked."""
        given = [self._watched(array.copy()) for array in (weights, positions)]
        answer = self._call(*given)
        self._unchanged(("weights", "positions"), (weights, positions), given)
        if isinstance(answer, (bool, np.bool_)) or not isinstance(answer, (int, float, np.number)):
            kind = type(answer).__name__
            self._refuse(f"returned {answer!r}, {kind}: it should return a number")
        if not np.isfinite(answer):
            self._refuse(f"returned {answer}: it should be a finite number")
        return float(answer)

    def _try_update(self, board):
        self._learn(*self._tables(board))

    def _learn(self, weights, memory, positions):
        """Let the reader's update change tables, and check what it did to them."""
        before = weights.copy(), memory.copy()
        if self.takes == OF_A_RULE:  # between the look-ups of others
            others = _look_ups(self.network, self.network.game.cells) % np.uint32(self.size)
            places = np.concatenate([others, positions, others])
        else:
            places = positions.copy()
        given, error, n = places.copy(), np.float32(self.error), np.uint64(self.n)
        numbers = {"amount": error * self.rate, "error": error, "rate": self.rate, "at": n, "n": n}
        arrays = dict(zip(("weights", "memory", "positions"), (weights, memory, given)))
        numbers |= {name: self._watched(array) for name, array in arrays.items()}
        answer = self._call(*map(numbers.get, self.takes))
        if answer is not None:
            self._refuse(f"returned {answer!r}: it should change the weights and return nothing")
        self._unchanged(["positions"], [places], [given])
        self._only("weights", before[0], weights, positions)
        if self.keeps:
            rows = (positions[:, None] * np.uint32(self.keeps) + np.arange(self.keeps)).ravel()
            self._only("memory", before[1], memory, rows)

    def _unchanged(self, names, before, after):
        for name, old, new in zip(names, before, after, strict=True):
            if not np.array_equal(old, new, equal_nan=True):
                self._refuse(f"changed its argument {name}: work on a copy")

    def _only(self, name, before, after, allowed):
        """Refuse an update that changes what is not the board's, or makes it no number."""
        changed = np.flatnonzero(before != after)
        strange = np.setdiff1d(changed, allowed)
        if len(strange):
            how = "does not belong to the board: use the positions that it is given"
            self._refuse(f"changed {name}[{strange[0]}], which {how}")
        if not np.isfinite(after[changed]).all():
            self._refuse(f"left a number in {name} that is not finite")


def _look_ups(network, board):
    """Return the positions of the library's look-ups of a board: uint32[n]."""
    positions = np.zeros(4 * network.lookups_per_board, np.uint32)
    images = np.full(IMAGES, planes(np.uint64(board)), np.uint64)
    look_kernel(network.tuples, network.layout)(images, positions, np.uint64(0))
    return positions[::4].copy()


# ---------------------------------------------------------------- compiled


class _Compiled(_Plain):
    """The same, compiled."""

    how, boards, actions = ", compiled,", BOARDS, ACTIONS[1]

    def _ended(self, function, arguments):
        return function(*arguments)

    def _watched(self, array):
        return array


def _try_compiled(functions, trial, positions):
    """Compile all parts as they will run, and try them; an index must do what it did before.

    trial: `_Plain`; positions: {board: its positions} of the plain index.
    """
    network, fast = trial.network, {}
    for part in functions:
        try:
            fast[part] = guarded(functions[part])
            compiled_functions(network, {part: fast[part]}, trial.takes)
        except Exception as error:  # numba raises whatever its own Python code meets, too
            raise Problem(f"numba cannot compile your `{part}`: {essence(error)}") from None
    if "index" in functions:
        for board in some_boards(network.game):
            _check_positions(network, board, fast["index"], positions.get(board))
    _Compiled(network, fast, trial.takes, trial.keeps).run()


def _check_positions(network, board, index, plain):
    mine = np.full(network.lookups_per_board, UNWRITTEN, np.uint32)
    try:
        index(np.uint64(board), mine)
    except Exception as error:
        raise Problem(
            f"your `index`, compiled, raised {type(error).__name__}: {error}\n"
            f"on this board:\n{to_text(board, network.game)}"
        ) from None
    wrong = np.flatnonzero(mine >= network.block if plain is None else mine != plain)
    if len(wrong):
        at = wrong[0]
        other = "" if plain is None else f", and as plain Python {plain[at]}"
        raise Problem(
            f"your `index`, compiled, wrote positions[{at}] = {mine[at]}{other}; the tables hold "
            f"{network.block} weights.  A board has 64 bits: mix it with np.uint64(…) only\n"
            f"on this board:\n{to_text(board, network.game)}"
        )


MIXED = (
    ". A np.uint64 and a plain number together make a float64, and so does a name that holds one "
    "of them first and the other later: write np.uint64(…) for the plain one"
)
LOOP = ": a plain loop will do"
# What numba says, and what helps a beginner; groups of the one stand in the other.
IN_WORDS = [
    (
        r"'NoneType' object has no attribute 'args'",
        "a name holds None first and a number later: begin with a number, such as -1",
    ),
    (r"yield in a closure|generator", f"it knows no generator, as in sum(… for …){LOOP}"),
    (
        r"^Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
        rf"it knows no `\2.\1`{LOOP}",
    ),
    (r"^Unknown attribute '(\w+)' of type ([^(]+)", rf"it knows no `.\1` of this {{\2}}{LOOP}"),
    (r"intrinsic exception_match", "it knows `except:` and `except Exception:` alone"),
    (
        r"^Cannot unify (\S+) and (\S+) for '(\w+)\S*'",
        r"`\3` holds {\1} first and {\2} later: a name keeps one type",
    ),
    (r"opcode \(IMPORT_NAME\)", "it imports nothing inside a function: do so before it"),
    (r"opcode \(STORE_GLOBAL\)", "it changes no global name: keep numbers in an array"),
    (r"context manager", "it knows no `with`"),
    (
        r"use of a reflected list.* '(\w+)' in globals",
        r"it cannot use the list `\1` of outside: make it a tuple or an array of numpy",
    ),
    (
        r"Cannot capture the non-constant value associated with variable '(\w+)'",
        rf"it cannot take `\1` into a function of its own, such as a `lambda`{LOOP}",
    ),
    (r"wrong tuple length.*expected (\d+), got (\d+)", r"\1 names are given \2 values"),
]


def essence(error):
    """Return what a beginner can use of numba's message: its reason, and the line it means."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip(" -") for line in text.split("\n")]
    useful = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    place = re.search(rf'File "({child.YOUR_CODE}[^"]*)", line ([0-9]+)', text)
    line = linecache.getline(place[1], int(place[2])).strip() if place else ""
    reason = (useful or [type(error).__name__])[0]
    reason = re.sub(r"\s*Raised from <your code.*", "", reason)
    if missing := re.match(
        r"No implementation of function Function\(<.*?(?:function |ufunc '|class ')(\w+)", reason
    ):
        reason = _not_known(missing[1], text)
    elif missing := re.match(r"Untyped global name '(\w+)'", reason):
        reason = _no_global(missing[1])
    for said, words in IN_WORDS:
        if found := re.search(said, reason):
            reason = re.sub(r"\{(.*?)\}", lambda kind: _kind(kind[1]), found.expand(words))
            break
    return reason + (f" (in the line: {line})" if line else "")


def _kind(type):
    """Say what a type of numba's is, such as Literal[str](a)."""
    return {"str": "text", "none": "None"}.get(
        kind := re.sub(r"Literal\[(\w+)\].*", r"\1", type), kind
    )


def _no_global(name):
    """Say of a name what numba cannot use, and what will do instead."""
    if name == "reversed":
        return "it knows no `reversed`: range(n - 1, -1, -1) goes backwards, and so does list[::-1]"
    if hasattr(builtins, name):
        return f"it knows no `{name}`: a plain loop will do"
    return f"it cannot use `{name}`: only numbers, arrays, tuples and plain functions"


def _not_known(name, text):
    """Say what numba has no version of: an operator with its types, or a function."""
    given = re.search(rf">>> {name}\((.*)\)", text)
    types = given[1] if given else "what it is given here"
    if "Function(<class 'int'>)" in types:
        return f"it cannot do `{name}` with the type `int`: say np.int64"
    if not hasattr(operator, name) and not isinstance(getattr(np, name, None), np.ufunc):
        return f"it knows no `{name}` for what it is given here; a plain loop will do"
    plain = re.search(r"\bint64|Literal\[int\]", types)
    mixed = plain and re.search(r"float64|uint64", types) and "array" not in types
    return f"it cannot do `{name}` with ({types}){MIXED if mixed else ''}"
