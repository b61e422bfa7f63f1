"""The learning rules: what a board's weights make of an error.

The episode loop says which afterstate has which error to learn.  A rule is one compiled function
that lets the n weights of that afterstate learn it:

* TD: every weight moves by the same share of the error, α / n.
* TC, temporal coherence (Beal & Smith 1999; Jaśkowski 2018, section V-B1): every weight has its
  own rate, |E| / A, where E is the sum of the errors it has met and A the sum of their sizes.
  Errors that cancel each other freeze it, errors of one sign keep it moving.
* Autostep (Mahmood et al. 2012; Jaśkowski 2018, section V-B2): every weight has its own step,
  and learns that step too, by what its earlier steps did to the error.

What a rule keeps beside the weights is its *memory*, an array of its own: playing reads the
weights alone, and then as few bytes as before.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from lib2048.machine.kernels import compiled, part
from lib2048.machine.memory import reserve

UPDATE_SIGNATURE = types.void(
    types.float32[::1],
    types.float32[::1],
    types.uint32[::1],
    types.uint64,
    types.uint64,
    types.float32,
    types.float32,
)
IMAGES = np.uint64(8)  # look-ups of one tuple: only they can meet in one weight
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


@part
def _multiplicity(positions, i, first):
    """Return how often look-up i's weight is met by its tuple; 0 where it was met before."""
    x = F0
    for j in range(first, first + IMAGES):
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
    for first in range(at, at + n, IMAGES):
        for i in range(first, first + IMAGES):
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
    for first in range(at, at + n, IMAGES):
        for i in range(first, first + IMAGES):
            x = _multiplicity(positions, i, first)
            if x > F0:
                p = np.uint64(positions[i])
                step = max(memory[THREE * p] / reach, TINY)
                weights[p] += step * error * x
                trace = memory[THREE * p + TWO]
                memory[THREE * p] = step
                memory[THREE * p + TWO] = trace * (F1 - step * x * x) + step * error * x


class Kind(NamedTuple):
    """A learning rule."""

    update: object  # returns its compiled update
    keeps: tuple  # names of the numbers that it keeps beside each weight
    rate: str  # what its rate is called
    default: float  # and which one it has when none is named
    shared: bool  # whether the rate is divided by the number of look-ups
    decays: bool  # whether λ above 0 is defined for it

    @property
    def memory(self):
        """How many numbers it keeps beside each weight."""
        return len(self.keeps)


RULES = {
    "td": Kind(td_update, (), "alpha", 0.1, True, True),
    "tc": Kind(tc_update, ("E", "A"), "beta", 1.0, True, True),
    "autostep": Kind(autostep_update, ("step", "largest", "trace"), "mu", 0.1, False, False),
}


def horizon(decay):
    """Return h, how many earlier afterstates an error reaches: ⌈log_λ 0.1⌉ − 1.

    decay: λ with 0 ≤ λ < 1.  Their share λ^h is the last one above a tenth (Jaśkowski 2018,
    section IV-D).
    """
    return max(0, math.ceil(math.log(0.1, decay) - 1e-9) - 1) if decay > 0 else 0


def new_memory(size, rule="td"):
    """Return a rule's memory for so many weights, all 0: float32, one number when it has none."""
    return reserve(f"the memory of {rule}", max(1, size * RULES[rule].memory))
