"""What a rule makes of the errors of a weight: of one alone, and of all weights of a network.

The second needs the errors themselves, which no rule keeps.  So TC learns twice from the same
games, bit for bit, by updates that keep one number more: first how often each weight was met, then
what its errors would sum to if a coin had chosen their signs.
"""

import numpy as np
import pandas as pd

from lib2048.learn.own import update_of
from lib2048.learn.rules import Rule, find
from lib2048.learn.settings import Settings
from lib2048.machine.kernels import part
from lib2048.networks.network import Geometry, Network
from lib2048.train.run import Run

LOOKUPS = 8  # of the board, those of one tuple
STILL = 1e-30  # what is kept of the other seven: a step that moves nothing
NAMES = {"largest": "v", "trace": "h"}  # of the paper


def one_weight(errors, rule: str | Rule = "tc", rate=None, targets=False):
    """Let one fresh weight meet errors, one after the other; return a DataFrame, a row for each.

    The weight begins at 0, one of eight on its board, and the others stand still.

    Columns: error; moved, the weight's change; weight, after it; what the rule keeps then (E and A;
    or step, v and h); where that is E and A rate, `|E| / A`, at which the *next* error will be
    taken (1 where A is 0).

    Args:
        errors: numbers, in points; with targets=True they are what the weight should be each time,
            and its error is how far it still has to go.
        rule: 'td', 'tc', 'autostep' or a `Rule`.
        rate: its α, β, μ, …, by default the usual one, all of it for this weight.

    Raises:
        ValueError: for a rule that there is not.
    """
    rule = find(rule)
    update, kept = update_of(Geometry("cells:0123"), rule), rule.memory
    weights, memory = np.zeros(LOOKUPS, np.float32), np.zeros(LOOKUPS * max(1, kept), np.float32)
    board = np.arange(LOOKUPS, dtype=np.uint32), np.uint64(0), np.uint64(LOOKUPS)
    rate, rows = np.float32(rule.default if rate is None else rate), []
    for number in map(float, errors):
        before = float(weights[0])
        error = number - before if targets else number
        memory[kept:] = STILL
        update(weights, memory, *board, np.float32(error), rate)
        after = float(weights[0])
        rows.append([error, after - before, after, *map(float, memory[:kept])])
    columns = ["error", "moved", "weight", *(NAMES.get(name, name) for name in rule.keeps)]
    told = pd.DataFrame(rows, range(1, len(rows) + 1), columns)
    if {"E", "A"} <= set(columns):
        told["rate"] = (told.E.abs() / told.A).fillna(1.0)
    return told


# ---------------------------------------------------------------- all weights of a network


def coherence(network, actions, seed=1, progress=True):
    """Train a network by TC, and set what its errors sum to beside a coin's; return a DataFrame.

    A row is a weight that was met: visits, how often; rate, `|E| / A`; coin, what that would be if
    each of *its own* errors had had its sign from a coin.  The coin is a function of the weight and
    its A, so that a second call returns the same.

    Args:
        network: the name of a small one.
        actions: of training, twice.
    """
    (sums, sizes, visits), (_, _, tossed) = (
        _kept(network, update, actions, seed, progress) for update in (_counting, _tossing)
    )
    met = sizes > 0
    sums, sizes, visits, tossed = (numbers[met] for numbers in (sums, sizes, visits, tossed))
    return pd.DataFrame({"visits": visits, "rate": abs(sums) / sizes, "coin": abs(tossed) / sizes})


def by_visits(weights, least=10):
    """Return the medians of `coherence` among weights met 1, 2 to 3, 4 to 7, … times.

    Args:
        least: weights that a row needs.
    """
    groups = weights.groupby(np.floor(np.log2(weights["visits"])).rename("doublings"))
    return groups.median()[groups.size() >= least]


def _kept(name, update, actions, seed, progress):
    """Train by an update that keeps a number more than TC does; return all three."""
    network = Network(name).with_functions(update=update, rule="tc", keeps=("E", "A", "more"))
    run = Run(Settings.of(network, rule="tc", seed=seed), network=network)
    run.go(actions=actions, progress=progress)
    return [table.flat for table in run.memory.values()]


def _counting(weights, memory, positions, error, share):
    """Learn by TC, and count how often each weight is met."""
    for p in positions:
        _learn(weights, memory, p, error, share)
        memory[3 * p + 2] += 1


def _tossing(weights, memory, positions, error, share):
    """Learn by TC, and sum the errors with signs that a coin chooses."""
    for p in positions:
        A = _learn(weights, memory, p, error, share)
        mixed = (np.int64(A * 4096) * 73856093 + np.int64(p) * 19349663) & 0xFFFFFFFF
        mixed = (mixed ^ (mixed >> 16)) * 0x45D9F3B & 0xFFFFFFFF
        mixed = (mixed ^ (mixed >> 16)) * 0x45D9F3B & 0xFFFFFFFF
        memory[3 * p + 2] += error if (mixed >> 15) & 1 else -error


@part
def _learn(weights, memory, p, error, share):
    """Let one weight learn by TC; return its A from before."""
    E, A = memory[3 * p], memory[3 * p + 1]
    weights[p] += error * share * (min(abs(E) / A, np.float32(1)) if A != 0 else np.float32(1))
    memory[3 * p], memory[3 * p + 1] = E + error, A + abs(error)
    return A
