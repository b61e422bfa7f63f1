"""Whatever Python a reader writes: it travels from a cell of a notebook as from a file."""

import importlib
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lib2048.machine.child import Child, source_of

# Each defines answer(), which is to answer there what it answers here.
STYLES = {
    "cached": """
import functools
from functools import cache, lru_cache

@cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@lru_cache(maxsize=3)
def twice(n):
    return 2 * n

@functools.lru_cache
def answer():
    return fibonacci(80), twice(3), twice.cache_parameters()
""",
    "partial": """
from functools import partial, reduce

def add(a, b, *, c=0):
    return a + b + c

plus = partial(add, 1, c=5)
answer = partial(lambda f, x: (f(x), reduce(add, [1, 2])), plus, 2)
""",
    "a decorator of one's own": """
import functools, time

def timed(function):
    '''Print how long it took.'''
    @functools.wraps(function)
    def around(*args, **kwargs):
        start = time.perf_counter()
        around.calls += 1
        result = function(*args, **kwargs)
        around.seconds = time.perf_counter() - start
        return result
    around.calls = 0
    return around

def repeated(times):
    def decorate(function):
        @functools.wraps(function)
        def around(*args):
            return [function(*args) for _ in range(times)]
        return around
    return decorate

class Counted:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.calls = function, 0
    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)

@Counted
def helper(x):
    return x + 1

@timed
@repeated(2)
def work(x):
    return helper(x)

def answer():
    return work(1), work(2), work.calls, helper.calls, work.__name__, work.__doc__
""",
    "named tuples": """
import collections
from collections import namedtuple
from typing import NamedTuple

Point = namedtuple("Point", "x y", defaults=[7])

class Move(NamedTuple):
    '''A move.'''
    board: list
    reward: int = 0

    @property
    def twice(self):
        return 2 * self.reward

    def more(self, n):
        return self._replace(reward=self.reward + n)

class Far(collections.namedtuple("Base", ["a", "b"])):
    __slots__ = ()
    def __add__(self, other):
        return Far(self.a + other.a, self.b + other.b)

START, ORIGIN = Move([1]), Point(0)

def answer():
    return START.more(3), START.twice, ORIGIN, Point(1, 2).y, Far(1, 2) + Far(3, 4), Move._fields
""",
    "data classes": """
from __future__ import annotations
import dataclasses
from dataclasses import dataclass, field, InitVar
from typing import ClassVar

@dataclass
class Board:
    rows: list[list[int]] = field(default_factory=lambda: [[0, 0], [0, 2]])
    score: int = 0
    name: str = field(default="b", repr=False, compare=False)
    seed: InitVar[int] = 3
    SIZE: ClassVar[int] = 2

    def __post_init__(self, seed):
        self.rows = [[*row] for row in self.rows]
        self.seeded = seed * self.SIZE

    def slide(self) -> Board:
        return dataclasses.replace(self, score=self.score + 4, seed=1)

@dataclass(frozen=True, order=True)
class Move:
    worth: float
    action: int = 0

@dataclass(frozen=True, slots=True)
class Small:
    a: int

@dataclass
class Big(Board):
    extra: int = field(default=9, kw_only=True)

MOVES = {Move(2.0, 1): "b", Move(1.0): "a"}
HERE = Big(score=3)
SMALL = Small(4)

def answer():
    best = max(MOVES)
    alike = hash(Small(1)) == hash(Small(1))
    return HERE.slide(), HERE.seeded, best, MOVES[Move(1.0)], SMALL, alike, Big().extra
""",
    "enums": """
import enum
from enum import Enum, IntEnum, Flag, auto

class Action(IntEnum):
    UP = 0
    RIGHT = auto()
    DOWN = auto()
    LEFT = auto()
    TOP = 0

    @property
    def is_upright(self):
        return self in (Action.UP, Action.DOWN)

    @classmethod
    def back(cls, n):
        return cls(3 - n)

class Kind(Enum):
    A = ("a", 1)
    B = ("b", 2)

    def __init__(self, letter, number):
        self.letter = letter
        self.number = number

    def __str__(self):
        return self.letter * self.number

class Where(Flag):
    HERE = auto()
    THERE = auto()

WORDS = {Action.UP: "up", Action.LEFT: "left"}

def answer():
    return ([a.name for a in Action], Action.back(1), WORDS[Action.LEFT], Action.UP.is_upright,
            str(Kind.B), Kind(("a", 1)), Where.HERE | Where.THERE, Action.TOP is Action.UP,
            Action["DOWN"])
""",
    "classes": """
import abc

class Base(abc.ABC):
    made = 0
    kinds = {}

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        Base.kinds[cls.__name__] = helper(1)

    def __init__(self, n):
        self.__n = n
        type(self).made += 1

    @abc.abstractmethod
    def value(self):
        ...

    def __secret(self):
        return self.__n

    @property
    def secret(self):
        return self.__secret()

    @secret.setter
    def secret(self, n):
        self.__n = n

def helper(n):
    return n + 1

class Mine(Base):
    def __init__(self, n, *, more=1):
        super().__init__(n + more)
        self.parent = None

    def value(self):
        def inner():
            return super(Mine, self).secret + __class__.lots
        return inner()

    @staticmethod
    def make(n):
        return Mine(n)

    @classmethod
    def other(cls, n):
        return cls.make(n)

    def __eq__(self, other):
        return self.secret == other.secret

    def __hash__(self):
        return helper(self.secret)

    def __repr__(self):
        return f"Mine({self.secret})"

    lots = 100

Mine.FIRST = Mine(10)
ROOT = Mine(1)
CHILD = Mine.other(2)
CHILD.parent, ROOT.children = ROOT, [CHILD]
ALL = {ROOT, CHILD}

def answer():
    ROOT.secret += 1
    family = CHILD.parent is ROOT.children[0].parent, Mine(3) in {Mine(3)}
    return ROOT.value(), family, sorted(map(repr, ALL)), Base.kinds, Mine.made, Mine.FIRST
""",
    "slots and private defaults": """
class Slotted:
    __slots__ = ("a", "__b")
    def __init__(self, a, b=[1, 2.5, float("inf")]):
        self.a, self.__b = a, b
    def __both(self, k=frozenset([3])):
        return self.a, self.__b, k
    def both(self):
        return self.__both()

THING = Slotted(4)

def answer():
    return THING.both()
""",
    "a class inside a function": """
def made(k):
    class Inner:
        '''Inside.'''
        factor = k
        def times(self, x):
            words = '''one
  two'''
            return self.factor * x * k, words
    class Deeper(Inner):
        def times(self, x):
            return super().times(x) + (k,)
    return Deeper

Thing = made(3)

def answer():
    return Thing().times(5), Thing.__doc__, Thing.__mro__[1].__doc__
""",
    "called as functions": """
class Slider:
    def __init__(self, by):
        self.by = by
    def __call__(self):
        return self.slide(1)
    def slide(self, x):
        return x + self.by

SLIDE = Slider(2).slide
answer = Slider(5)
""",
    "a method": """
class Solver:
    memo = {}
    def answer(self):
        return self.memo.setdefault("a", 3)
answer = Solver().answer
""",
    "collections": """
from collections import Counter, OrderedDict, defaultdict, deque
import collections

SEEN, FIXED = {1, (2, 3), "a"}, frozenset({4, 5})
LAST = deque([1, 2, 3], maxlen=3)
COUNTS = Counter("hello")
GROUPS = defaultdict(list, {"a": [1]})
DEEP = defaultdict(lambda: defaultdict(int))
ORDER = OrderedDict(b=1, a=2)
LIST = [1, 2]
LIST.append(LIST)
push = LAST.append

class Table(dict):
    def __init__(self, *a, name="t"):
        super().__init__(*a)
        self.name = name
    def __missing__(self, key):
        return self.name

TABLE = Table({1: 2}, name="mine")

def answer():
    push(4)
    GROUPS["b"].append(2)
    DEEP["x"]["y"] += 1
    return (sorted(map(str, SEEN)), FIXED, LAST, COUNTS.most_common(1), dict(GROUPS),
            DEEP["x"]["y"], ORDER, LIST[2] is LIST, TABLE[1], TABLE[7])
""",
    "numbers and patterns": """
import re, operator, random, decimal, fractions, datetime
from operator import itemgetter, attrgetter
from random import choice
import numpy as np

PAIR, SPAN, PART, RAW = 1 + 2j, range(1, 9, 3), slice(1, None), bytearray(b"ab")
WORD = re.compile(r"(\\d+)", re.I)
second, key = itemgetter(1), operator.attrgetter("real")
ETC, NO = ..., NotImplemented
HALF, TENTH, DAY = fractions.Fraction(1, 2), decimal.Decimal("0.1"), datetime.date(2026, 1, 2)
KINDS, NONE, COMPLEX = {np.uint64: "u", int: "i"}, type(None), np.complex64(2j)
CELL = np.dtype([("a", "u1"), ("b", "f4")])
TABLE = np.array([(1, 2.0)], CELL)
NAMES = np.array(["up", "down"])
OBJECTS = np.array([{1: 2}, None], object)

def answer():
    return (PAIR, SPAN[1], [1, 2, 3][PART], RAW, WORD.findall("a12b3"), second("abc"), key(3), ETC,
            NO is NotImplemented, HALF + 1, TENTH, DAY, KINDS[np.uint64], NONE, COMPLEX,
            TABLE["b"].tolist(), NAMES.tolist(), OBJECTS[0], choice([3]))
""",
    "generators of chance": """
import random
import numpy as np

LUCK, DRAWS, OLD = random.Random(3), np.random.default_rng(4), np.random.RandomState(5)
LUCK.random(), DRAWS.random()
draw = LUCK.random

def answer():
    import copy
    luck, draws, old = copy.deepcopy((LUCK, DRAWS, OLD))  # asked twice
    again = copy.deepcopy(draw.__self__).random()
    return luck.random(), draws.integers(100, size=3).tolist(), old.randint(9), again
""",
    "typing": """
from typing import Callable, Dict, Generic, List, NewType, Optional, Protocol, Tuple, TypedDict
from typing import TypeVar, Union, cast
import typing as t

Board = NewType("Board", int)
Row = List[int]
Pair = Tuple[int, "Row"]
Maybe = Optional[Union[int, str]]
T = TypeVar("T")
Fast = list[int] | None

class Turn(TypedDict):
    board: Board
    reward: int

class Player(Protocol):
    def choose(self, board: Board) -> int: ...

class Box(Generic[T]):
    def __init__(self, it: T) -> None:
        self.it: T = it

def helper(row: Row, f: Callable[[int], int] = int) -> t.Optional[Pair]:
    a: Undefined = 1
    return cast(Pair, (f(a), row))

KINDS = [Row, Pair, Maybe, Fast]

def answer() -> Dict[str, "Board"]:
    return Turn(board=Board(3), reward=4), helper([1]), Box[int](5).it, len(KINDS), str(KINDS[3])
""",
    "generators, star arguments and patterns": """
def cells(rows):
    for r, row in enumerate(rows):
        yield from ((r, c) for c, tile in enumerate(row) if not tile)

def spread(first, *rest, key=None, **named):
    return first, rest, key, named

def which(thing):
    match thing:
        case [x, *_] if x > 1:
            return f"list {x}"
        case {"a": a}:
            return a
        case _:
            return None

def answer():
    found = list(cells([[0, 2], [0, 0]]))
    if (n := len(found)) > 2:
        found.append(n)
    a, *b = found
    return a, b, spread(1, 2, 3, key=4, z=5), which([2]), which({"a": 1}), which(3)
""",
    "where functions may stand": '''
import sys

if sys.maxsize > 3:
    def one():
        return """a
b"""
else:
    def one():
        return 0

try:
    import no_such_module_2048
except ImportError:
    def two():
        return 2

for k in range(3):
    def three(k=k):
        return k

TABLE = {"plus": lambda x: x + 1, "minus": lambda x: x - 1}
LIST = [one, two]
def helper(): return "first"
def helper(): return "second"
sign = lambda x: (x > 0) - (x < 0)
compose = lambda f, g: (lambda x: f(g(x)))
both = compose(TABLE["plus"], sign)

class Odd:
    key = lambda self, x: -x
    TWO = [lambda: 1, lambda: 2]

counter = 0
def count():
    global counter
    counter += 1
    return counter

def answer():
    count()
    lambdas = TABLE["minus"](3), both(-7), Odd().key(3), Odd.TWO[1]()
    return one(), two(), three(), [f() for f in LIST], helper(), lambdas
''',
    "context managers and dispatch": """
import contextlib, functools, itertools, math, numpy as np
from math import *

@contextlib.contextmanager
def noted(what):
    NOTES.append(what)
    yield len(NOTES)

NOTES = []
fast = np.vectorize(lambda x: x * 2, otypes=[int])
TOTAL = itertools.accumulate

class Lazy:
    @functools.cached_property
    def table(self):
        return [floor(2.5)]

@functools.total_ordering
class Size:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n

LAZY = Lazy()

def answer():
    NOTES.clear()
    with noted("x") as n:
        pass
    more = LAZY.table, Size(2) >= Size(1)
    return n, fast([1, 2]).tolist(), list(TOTAL([1, 2])), more
""",
    "torch": """
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, hidden=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.register_buffer("scale", torch.tensor(2.0))

    @torch.no_grad()
    def value(self, x):
        return self(x)

    def forward(self, x):
        return self.layers(x).squeeze(-1) * self.scale

torch.manual_seed(1)
NET, X = Net(), torch.arange(4.0).reshape(2, 2)
KIND, PLACE = torch.float32, torch.device("cpu")
WEIGHT = nn.Parameter(torch.ones(2, dtype=torch.float64))

@torch.no_grad()
def answer():
    kind = torch.zeros(1, dtype=KIND, device=PLACE).dtype
    return (NET.value(X).tolist(), F.relu(X - 1).sum().item(), kind, WEIGHT.requires_grad,
            WEIGHT.tolist(), torch.is_grad_enabled(), isinstance(NET, nn.Module))
""",
    "numba": """
import numba
from numba import njit, int64
import numpy as np

SHIFT = np.uint64(4)

@njit(cache=False, fastmath=True)
def low(x):
    return x & np.uint64(15)

@njit
def answer():
    total = 0
    for i in range(3):
        total += low(np.uint64(37) >> SHIFT * np.uint64(i))
    return total
""",
}
UNDER_MAGICS = {
    "%%time": "%%time\n\ndef helper(x):\n    return x + 1\n\ndef answer():\n    return helper(1)\n",
    "%%capture": "%%capture out\ndef answer():\n    return 'caught'\nprint(1)\n",
    "two": "%%capture\n%%time\ndef helper(x=[1]):\n    return x\nanswer = lambda: [helper()] * 2\n",
    "lines": "!true\nlen?\n%precision 3\ndef answer():\n    return 7\nx = !echo 1\n",
    "time with lines": "%%time\n!true\nanswer = lambda: 8\n",
}
TASKS = """
from lib2048.machine.child import load

def tell(message):
    return [repr(load(text)["f"]()) for text in message["texts"]]
"""


@pytest.fixture(scope="module")
def shell():
    """Return an IPython that runs cells, as a notebook's kernel does."""
    main = sys.modules["__main__"]
    shell = InteractiveShell()
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """Return a function that tells what functions of these texts return in another process."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "tell_2048.py").write_text(TASKS)
    sys.path.insert(0, str(folder))
    with Child() as child:
        yield lambda *texts: child.ask("tell_2048:tell", {"texts": texts}, 60)["answer"]
    sys.path.remove(str(folder))


def in_a_cell(shell, text):
    """Run a cell, and return its answer()."""
    assert shell.run_cell(text, silent=True).success
    return shell.user_ns["answer"]


def in_a_file(folder, text):
    """Import a file, and return its answer()."""
    name = f"reader_{folder.name.strip('0123456789')}_2048"
    (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name).answer
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("style", STYLES)
def test_it_answers_there_what_it_answers_here(shell, there, tmp_path, style):
    for function in (in_a_file(tmp_path, STYLES[style]), in_a_cell(shell, STYLES[style])):
        text = source_of({"f": function})
        assert there(text) == [repr(function())], text


@pytest.mark.parametrize("cell", UNDER_MAGICS.values(), ids=UNDER_MAGICS)
def test_magics_in_a_cell_do_no_harm(shell, there, cell):
    function = in_a_cell(shell, cell)
    assert there(source_of({"f": function})) == [repr(function())]
