"""What a rule makes of the errors of a weight: of one alone, and of all weights of a network.

The second needs the errors themselves, which no rule keeps.  So TC learns twice from the same
games, bit for bit, by updates that keep one number more: first how often each weight was met, then
what its errors would sum to if a coin had chosen their signs.
"""

import numpy as np

from lib2048.learn.rules import RULES
from lib2048.learn.settings import Settings
from lib2048.machine.kernels import part
from lib2048.networks.network import Network
from lib2048.train.run import Run

LOOKUPS = {"td": 1, "tc": 1, "autostep": 8}  # of the board: Autostep's come eight at a time
STILL = 1e-30  # a step of Autostep's that moves nothing
NAMES = {"E": "E", "A": "A", "step": "step", "largest": "v", "trace": "h"}


def one_weight(errors, rule="tc", rate=None, targets=False):
    """Let one fresh weight meet errors, one after the other; return a DataFrame, a row for each.

    errors: numbers, in points; with targets=True they are what the weight should be each time, and
    its error is how far it still has to go.  rule: 'td', 'tc' or 'autostep'; rate: its α, β or μ,
    by default the usual one.  The weight begins at 0 and is alone on its board; Autostep's is one
    of eight, and the others stand still.

    Columns: error; moved, the weight's change; weight, after it; what the rule keeps then (E and
    A; or step, v and h); for TC rate, |E| / A, at which the *next* error will be taken (1 where A
    is 0).  Raises ValueError for a rule that there is not.
    """
    import pandas as pd

    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}: use {', '.join(RULES)}")
    kind, n = RULES[rule], LOOKUPS[rule]
    weights, memory = np.zeros(n, np.float32), np.zeros(n * max(1, kind.memory), np.float32)
    if rule == "autostep":  # its own step begins at 1/8, its seven neighbours stand still
        memory[::3] = [1 / n] + (n - 1) * [STILL]
    rate = np.float32(kind.default if rate is None else rate)
    rows = [_met(kind, weights, memory, float(number), rate, targets) for number in errors]
    columns = ["error", "moved", "weight", *map(NAMES.get, kind.keeps)]
    told = pd.DataFrame(rows, range(1, len(rows) + 1), columns)
    if rule == "tc":
        told["rate"] = (told.E.abs() / told.A).fillna(1.0)
    return told


def _met(kind, weights, memory, number, rate, targets):
    """Let the first weight meet one error; return its row."""
    before = float(weights[0])
    error = number - before if targets else number
    n = np.uint64(len(weights))
    kind.update()(
        weights, memory, np.arange(n, dtype=np.uint32), np.uint64(0), n, np.float32(error), rate
    )
    kept = [float(x) for x in memory[: kind.memory]]
    return [error, float(weights[0]) - before, float(weights[0]), *kept]


# ---------------------------------------------------------------- all weights of a network


def coherence(network, actions, seed=1, progress=True):
    """Train a network by TC, and set what its errors sum to beside a coin's; return a DataFrame.

    network: the name of a small one; actions: of training, twice.  A row is a weight that was met:
    visits, how often; rate, |E| / A; coin, what that would be if each of *its own* errors had had
    its sign from a coin.  The coin is a function of the weight and its A, so that a second call
    returns the same.
    """
    import pandas as pd

    (sums, sizes, visits), (_, _, tossed) = (
        _kept(network, update, actions, seed, progress) for update in (_counting, _tossing)
    )
    met = sizes > 0
    sums, sizes, visits, tossed = (numbers[met] for numbers in (sums, sizes, visits, tossed))
    return pd.DataFrame({"visits": visits, "rate": abs(sums) / sizes, "coin": abs(tossed) / sizes})


def by_visits(weights, least=10):
    """Return the medians of `coherence` among weights met 1, 2 to 3, 4 to 7, … times.

    least: weights that a row needs.
    """
    groups = weights.groupby(np.floor(np.log2(weights["visits"])).rename("doublings"))
    return groups.median()[groups.size() >= least]


def _kept(name, update, actions, seed, progress):
    """Train by an update that keeps three numbers a weight, as Autostep does; return the three."""
    network = Network(name).with_functions(update=update, rule="autostep")
    run = Run(Settings.of(network, rule="autostep", mu=1.0, seed=seed), network=network)
    run.go(actions=actions, progress=progress)
    return [table.flat for table in run.memory.values()]


def _counting(weights, memory, positions, error, beta):
    """Learn by TC, and count how often each weight is met."""
    share = beta / np.float32(len(positions))
    for p in positions:
        _learn(weights, memory, p, error, share)
        memory[3 * p + 2] += 1


def _tossing(weights, memory, positions, error, beta):
    """Learn by TC, and sum the errors with signs that a coin chooses."""
    share = beta / np.float32(len(positions))
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
