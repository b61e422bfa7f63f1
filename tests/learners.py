"""What several test files train by, and how they look at what came of it."""

import csv
import io
import itertools
import signal

import numpy as np
from reference import Learner, PlainNetwork, number

from lib2048 import Network, afterstates, train
from lib2048.learn import tables as learning
from lib2048.learn.games import Games, functions_of, method_of
from lib2048.learn.rules import RULES, horizon, new_memory
from lib2048.learn.settings import Settings
from lib2048.machine.arrays import Archive
from lib2048.train import run as training
from lib2048.train.watching import Stopped

SMALL = "cells:0123,4567"
ORDERS = ("forward", "backward")
FOREVER = np.iinfo(np.int64).max
STEP = learning.FIRST_CHUNK  # actions of the first chunk, after which a test can stop


def games_on(network, rule="td", rate=0.5, seed=3, lanes=2, learn=True, decay=0.0, **options):
    """Return games that learn (or only play) on a network; rate: α, β or μ; decay: λ."""
    options |= {"lam": decay, RULES[rule].rate: rate}
    settings = Settings.of(network, rule=rule, seed=seed, lanes=lanes, **options)
    how = method_of(network, settings) if learn else method_of(network)
    memory = new_memory(network.size, rule)
    return Games(network, how, seed, functions_of(network, rule), memory, lanes)


def bits(weights):
    return weights.view(np.uint32)


def noise_network():
    """Return a network of noise: nothing is equal by chance, and sums are rounded."""
    made = Network("cells:0123,4567,0145")
    made.weights[:] = 100 * np.random.default_rng(1).standard_normal(made.size, np.float32)
    return made


def legal(board):
    """Return the legal actions of a board."""
    return [action for action, _, _ in afterstates(board)]


def scattered(network, seed=1, share=1.0, spread=100):
    """Fill a share of a network's weights with random numbers and return it."""
    random = np.random.default_rng(seed)
    weights = random.normal(0, spread, network.size).astype(np.float32)
    network.weights[:] = np.where(random.random(network.size) < share, weights, 0)
    return network


# ---------------------------------------------------------------- against plain Python


def tables_of(network):
    """Return [(block, tuple number)] of a network's tables."""
    return list(itertools.product(range(network.blocks), range(len(network.tuples))))


def plain_twin(network):
    """Return the same weights as a PlainNetwork, copied through `table`."""
    marks, top = int(network.stages.marks), network.stages.top
    lost = -np.float32(network.optimistic)
    plain = PlainNetwork(network.tuples, network.form, lost, marks, top, network.promotes)
    for block, which in tables_of(network):
        table = network.table(which, block)
        plain.weights.update({(block, which, i): table[i] for i in np.flatnonzero(table)})
    return plain


def compare_with_plain(network, actions=700, last_game=FOREVER, rate=0.5, decay=0.0, **options):
    """Train twice, by the library and in plain Python; every weight and game must be the same.

    Returns (games, plain learner).
    """
    plain = Learner(
        plain_twin(network),
        rate=rate / network.lookups_per_board,
        seed=5,
        decay=decay,
        horizon=horizon(decay) if decay < 1 else 0,
        **options,
    )
    games = games_on(network, rate=rate, seed=5, decay=decay, **options)
    results, more = games.play(actions, 10**4, last_game)
    plain.play(actions, last_game)
    lanes = [lane for lane in plain.games if lane]
    assert (games.actions, more) == (plain.actions, bool(lanes))
    assert len(results) > 0 and [tuple(row) for row in results] == plain.results
    boards = games.lanes["board"][: len(lanes)]
    assert boards.tolist() == [number(lane.board) for lane in lanes]
    if network.stages.marks:
        visits = [plain.visits[stage] for stage in range(network.stages.count)]
        assert games.starts.visits.tolist() == visits
    same_numbers(network, network.weights, plain.network.weights)
    if plain.rule == "tc":
        same_numbers(network, games.memory[0::2], plain.network.sums)
        same_numbers(network, games.memory[1::2], plain.network.sizes)
    return games, plain


def same_numbers(network, numbers, plain):
    """Compare numbers, one for each weight, bit for bit with a plain dict of them."""
    twin = Network(**network.arguments())
    twin.weights[:] = numbers
    sizes = [16 ** len(cells) for cells in network.tuples]
    tables = {key: np.zeros(sizes[key[1]], np.float32) for key in tables_of(network)}
    for (block, which, index), value in plain.items():
        tables[block, which][index] = value
    for (block, which), table in tables.items():
        np.testing.assert_array_equal(bits(twin.table(which, block)), bits(table))


# ---------------------------------------------------------------- whole runs


def train_or_stop(network, **settings):
    """Train a network; return (network, history), of a run that was stopped, too."""
    try:
        return network, train(network, progress=False, **settings)
    except Stopped as stopped:
        return network, stopped.run.history


def trained(form="afterstate", optimistic=0.0, **settings):
    """Train a small network; return (network, history)."""
    return train_or_stop(Network(SMALL, form, optimistic), **settings)


def played(history):
    """Return what a history says of its games, the clock aside."""
    return history.rows[:, :3].astype(int).tolist()


def csv_rows(text):
    """Return a history's CSV as dicts without the seconds."""
    return [row for row in csv.DictReader(io.StringIO(text)) if row.pop("seconds")]


def same_run(one, other):
    """Compare two pairs (network, history): every weight and every game."""
    np.testing.assert_array_equal(bits(one[0].weights), bits(other[0].weights))
    assert played(one[1]) == played(other[1])
    assert one[1].starts.tolist() == other[1].starts.tolist()
    assert one[1].visits.tolist() == other[1].visits.tolist()
    assert one[1].actions == other[1].actions
    assert csv_rows(one[1].csv()) == csv_rows(other[1].csv())


def stop_after(monkeypatch, actions, kind=signal.SIGINT):
    """Press Stop as soon as a run has come so far."""
    keep = training.Run._keep

    def keep_and_stop(run, results, rate):
        keep(run, results, rate)
        if run.actions >= actions:
            signal.raise_signal(kind)

    monkeypatch.setattr(training.Run, "_keep", keep_and_stop)


def read_arrays(path):
    """Return all arrays of an .npz as a dict; raises what `Archive` does."""
    with Archive(path) as archive:
        return dict(archive)


def contents(folder):
    """Return {path within it: bytes, or None of a folder} of all that a folder holds."""
    paths = sorted(folder.rglob("*"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in paths
    }
