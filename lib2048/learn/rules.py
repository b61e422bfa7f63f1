"""The learning rules: what a board's weights make of an error.

The episode loop says which afterstate has which error to learn.  A `Rule` lets the n weights of
that afterstate learn it, and says what it keeps beside each weight, and what its rate is called:

* TD: every weight moves by the same share of the error, α / n.
* TC, temporal coherence (Beal & Smith 1999; Jaśkowski 2018, section V-B1): every weight has its
  own rate, |E| / A, where E is the sum of the errors it has met and A the sum of their sizes.
  Errors that cancel each other freeze it, errors of one sign keep it moving.
* Autostep (Mahmood et al. 2012; Jaśkowski 2018, section V-B2): every weight has its own step,
  and learns that step too, by what its earlier steps did to the error.

What a rule keeps beside the weights is its *memory*, an array of its own: playing reads the
weights alone, and then as few bytes as before.

All updates have one signature, update(weights, memory, positions, at, n, error, rate) → None:

* weights: float32[size]; memory: float32[size · k], the k numbers that the rule keeps of weight p
  lie at k · p, k · p + 1, …, and are 0 before p is met;
* positions: uint32, of which those from `at` on, n of them, are the look-ups of the board;
* error: float32, the TD error, or the sum of several; rate: float32, shared by the n look-ups
  already where the rule says so.

One of your own is plain Python that numba can compile.  It is tried on some boards first, and
checked at every access to an array (see `own`).
"""

import functools
import hashlib
import linecache
import math
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numba import types

from lib2048.machine.files import read_text
from lib2048.machine.kernels import compiled, kernel, part
from lib2048.machine.memory import reserve
from lib2048.machine.schema import is_number
from lib2048.machine.source_text import source_of
from lib2048.machine.terminal import meant

UPDATE_SIGNATURE = types.void(
    types.float32[::1],
    types.float32[::1],
    types.uint32[::1],
    types.uint64,
    types.uint64,
    types.float32,
    types.float32,
)
TURNS = np.uint64(8)  # look-ups of one tuple: only they can meet in one weight
TAU = np.float32(1e-4)  # Autostep: how fast the largest recent step is forgotten
TINY = np.float32(1e-30)  # Autostep: the smallest step, since 0 is a weight never met
ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
F0, F1 = np.float32(0), np.float32(1)


@compiled(UPDATE_SIGNATURE)
def td_update(weights, memory, positions, at, n, error, rate):
    """Move each of a board's n weights by its share of the error.

    weights: float32[size]; memory: unused; positions: uint32, the look-ups from `at` on; error:
    the TD error, or the sum of several; rate: α / n.  With α = 1 and n different look-ups the
    whole error is gone (Jaśkowski 2018, the step α / m of Algorithm 1, spread over the 8 images
    of each of the m tuples).  A weight that two images share is met twice and moves twice.
    """
    amount = error * rate
    for i in range(at, at + n):
        weights[positions[i]] += amount


@compiled(UPDATE_SIGNATURE)
def tc_update(weights, memory, positions, at, n, error, rate):
    """Move each of a board's n weights at the rate of its own coherence, |E| / A.

    memory: float32[2·size], E and A of weight p at 2p and 2p + 1; rate: β / n; the rest as in
    `td_update`.  A weight without a history (A = 0) has rate 1.  The weight moves first, then E
    and A take the error in (Jaśkowski 2018, Algorithm 2).  A weight that two images share
    is met twice, in turn.  |E| ≤ A holds by itself; the min is for threads, where an addition to
    A may be lost while that to E survives: a rate above 1 would feed on itself.
    """
    amount, size = error * rate, abs(error)
    for i in range(at, at + n):
        p = np.uint64(positions[i])
        sums, sizes = memory[TWO * p], memory[TWO * p + ONE]
        weights[p] += amount * (min(abs(sums) / sizes, F1) if sizes != F0 else F1)
        memory[TWO * p] = sums + error
        memory[TWO * p + ONE] = sizes + size


@kernel
def multiply_meetings(weights, memory, meetings, times):
    """Make TC's sums what they would be after so many times as many errors of the same kind.

    A sum of sizes grows with the number of errors, one of errors that have either sign with its
    root: A is multiplied by `times`, E by √times.  A weight that has met no error, and is not 0,
    counts as one that has met a single error of mean size, so that its rate becomes 1/√times.

    weights: float32[size]; memory: float32[2·size], E and A as `tc_update` has them, changed in
    place; meetings: how many errors all weights have met together; times: float.
    """
    total, root = 0.0, np.float32(np.sqrt(times))
    for p in range(len(weights)):
        total += memory[2 * p + 1]
    mean = np.float32(total / meetings)
    for p in range(len(weights)):
        if memory[2 * p + 1] == F0 and weights[p] != F0:
            memory[2 * p] = memory[2 * p + 1] = mean
        if memory[2 * p + 1] != F0:  # a page that holds nothing is not touched
            memory[2 * p] *= root
            memory[2 * p + 1] *= np.float32(times)


@part
def _multiplicity(positions, i, first):
    """Return how often look-up i's weight is met by its tuple; 0 where it was met before."""
    x = F0
    for j in range(first, first + TURNS):
        if positions[j] == positions[i]:
            if j < i:
                return F0
            x += F1
    return x


@compiled(UPDATE_SIGNATURE)
def autostep_update(weights, memory, positions, at, n, error, rate):
    """Move each of a board's weights by a step that it learns itself; rate: the meta-rate μ.

    memory: float32[3·size], for weight p its step α (0 stands for the start, 1 / n), the largest
    recent change v and the trace h.  x is how often the board meets the weight (Mahmood et al.
    2012, table 1; Jaśkowski 2018, section V-B2, with τ = 10⁻⁴).  The paper starts all steps at 1:
    here, as in TD and TC, that is shared by the n look-ups.
    """
    reach, start = F0, F1 / np.float32(n)
    for first in range(at, at + n, TURNS):
        for i in range(first, first + TURNS):
            x = _multiplicity(positions, i, first)
            if x > F0:
                p = THREE * np.uint64(positions[i])
                step = memory[p] if memory[p] > F0 else start
                push = error * x * memory[p + TWO]
                largest = memory[p + ONE]
                largest = max(abs(push), largest + TAU * step * x * x * (abs(push) - largest))
                if largest != F0:
                    step *= np.exp(rate * push / largest)
                memory[p], memory[p + ONE] = step, largest
                reach += step * x * x
    reach = max(reach, F1)
    for first in range(at, at + n, TURNS):
        for i in range(first, first + TURNS):
            x = _multiplicity(positions, i, first)
            if x > F0:
                p = np.uint64(positions[i])
                step = max(memory[THREE * p] / reach, TINY)
                weights[p] += step * error * x
                trace = memory[THREE * p + TWO]
                memory[THREE * p] = step
                memory[THREE * p + TWO] = trace * (F1 - step * x * x) + step * error * x


# ---------------------------------------------------------------- a rule, and those that are known

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")


def _greek(name):
    try:
        return unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    except KeyError:
        return name.replace("_", " ")


def check_rate(name: str, rate: float) -> None:
    """Raise ValueError, in one line, for a rate that makes no sense."""
    if not (is_number(rate) and 0 < rate <= 1):
        raise ValueError(f"{name} {rate}: use a rate above 0 and up to 1")


@dataclass(frozen=True, eq=False)
class Rule:
    """A learning rule: all that the library has to know of it.

    Two rules are equal where both that and what is said here agree.

    Args:
        name: what it is called.
        update: a function of the signature above, or of (weights, memory, positions, error, rate),
            which gets the board's own positions only.
        keeps: names of the numbers that it keeps beside each weight.
        rate: what its rate is called.
        default: the rate where none is said, above 0 and up to 1.
        shared: whether the rate is divided by the board's look-ups.
        decays: whether λ above 0 is defined for it.
        symbol: how the rate is written, by default the Greek letter of its name.
        file: 'FILE.py:NAME' where it comes from a file.

    Attributes:
        source: a hash (12 hex digits) of its update and of all that this uses.

    Raises:
        ValueError: for what makes no rule.
    """

    name: str
    update: Any  # a function; None where its code is not here
    keeps: tuple[str, ...] = ()
    rate: str = "rate"
    default: float = 0.1
    shared: bool = True
    decays: bool = True
    symbol: str = ""
    file: str = ""
    recorded: str = ""  # the hash of a rule whose update is not here, as a run wrote it down

    def __post_init__(self):
        object.__setattr__(self, "keeps", tuple(self.keeps))
        names = (self.name, self.rate, *self.keeps)
        if wrong := [name for name in names if not NAME.fullmatch(str(name))]:
            raise ValueError(f"a rule cannot have the name {wrong[0]!r}: use letters and digits")
        if len(set(self.keeps)) < len(self.keeps):
            raise ValueError(f"the rule {self.name} keeps two numbers of one name")
        if not (callable(self.update) or self.recorded):
            raise ValueError(f"the rule {self.name} needs an update, a function")
        check_rate(self.rate, self.default)
        if not self.symbol:
            object.__setattr__(self, "symbol", _greek(self.rate))

    @property
    def memory(self) -> int:
        """How many numbers it keeps beside each weight."""
        return len(self.keeps)

    @property
    def title(self) -> str:
        """What a plot calls it, such as TD, TC or Autostep."""
        return self.name.upper() if len(self.name) < 4 else self.name.capitalize()

    @property
    def is_ours(self) -> bool:
        """Whether its update is compiled by the library, and needs no trial."""
        return hasattr(self.update, "python")

    @functools.cached_property
    def source(self) -> str:
        """The hash of its update.  Raises ValueError where the source cannot be found."""
        if self.update is None:
            return self.recorded
        return digest(source_of({"update": getattr(self.update, "python", self.update)}))

    def described(self) -> dict:
        """Return what config.json holds of it: all but its code, and the hash of that."""
        told = {name: x for name, x in vars(self).items() if name in _DESCRIBED}
        return told | {"keeps": list(self.keeps), "source": self.source}

    @classmethod
    def recalled(cls, told: dict) -> "Rule":
        """Return what `described` told, without its code."""
        told = dict(told)
        return cls(update=None, recorded=str(told.pop("source", "")), **told)

    def with_code(self) -> "Rule":
        """Return the rule with its update, which one that was recalled finds in its file.

        Raises:
            ValueError: in one line, where it is not there, or no longer as it was.
        """
        if self.update is not None:
            return self
        if not self.file:
            raise ValueError(f"the code of the rule {self.name} is not here: say rule=… again")
        if (found := in_file(self.file)) != self:
            raise ValueError(f"{self.file} has changed: its rule is no longer that of this run")
        return found

    def __eq__(self, other):
        if not isinstance(other, Rule):
            return NotImplemented
        return self is other or self.described() | {"file": ""} == other.described() | {"file": ""}

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        kept = f", keeps {', '.join(self.keeps)}" if self.keeps else ""
        return f"<rule {self.name}: {self.symbol} {self.default:g}{kept}>"


_DESCRIBED = ("name", "rate", "default", "shared", "decays", "symbol", "file")
TD = Rule("td", td_update, (), "alpha", 0.1)
TC = Rule("tc", tc_update, ("E", "A"), "beta", 1.0)
AUTOSTEP = Rule(
    "autostep", autostep_update, ("step", "largest", "trace"), "mu", 0.1, shared=False, decays=False
)
RULES = {rule.name: rule for rule in (TD, TC, AUTOSTEP)}


def digest(text: str) -> str:
    """Return a short hash (12 hex digits) of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def find(rule: str | Rule) -> Rule:
    """Return a rule: itself, one of RULES by its name, or one in a file, 'FILE.py:NAME'.

    Raises ValueError, in one line, where there is none.
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and ".py:" in rule:
        return in_file(rule)
    if rule not in RULES:
        how = meant(rule, RULES) or f": use {', '.join(RULES)}, or FILE.py:NAME"
        raise ValueError(f"unknown rule {rule!r}{how}")
    return RULES[rule]


def in_file(said: str) -> Rule:
    """Return the rule in a Python file, which is executed; said: 'FILE.py:NAME'.

    Raises ValueError, in one line, where there is none.
    """
    path, _, name = said.rpartition(":")
    try:
        text = read_text(path, 1 << 20)
    except ValueError as error:
        raise ValueError(f"rule {said}: {error}") from None
    try:
        room = {"__name__": Path(path).stem, "__file__": path}
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        exec(compile(text, path, "exec", dont_inherit=True), room)
    except (Exception, SystemExit) as error:
        raise ValueError(f"rule {said}: {type(error).__name__}: {error}") from None
    found = room.get(name)
    if not isinstance(found, Rule):
        raise ValueError(f"rule {said}: {path} has no Rule of the name {name}")
    return replace(found, file=said)


def horizon(decay: float) -> int:
    """Return h, how many earlier afterstates an error reaches: ⌈log_λ 0.1⌉ − 1.

    decay: λ with 0 ≤ λ < 1.  Their share λ^h is the last one above a tenth (Jaśkowski 2018,
    section IV-D).
    """
    return max(0, math.ceil(math.log(0.1, decay) - 1e-9) - 1) if decay > 0 else 0


def new_memory(size: int, rule: str | Rule = "td") -> np.ndarray:
    """Return a rule's memory for so many weights, all 0: float32, one number when it has none."""
    return reserve(f"the memory of {rule}", max(1, size * find(rule).memory))
