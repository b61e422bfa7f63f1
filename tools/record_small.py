"""Record data/curves/small_boards.csv: nice python tools/record_small.py

How far TD(0) gets on boards whose exact values are known.  A row is one run of `train` from the
start, its network then measured without learning or exploring:

share       exact value of its greedy policy, as a share of the optimum
own_error   of its values to the exact values of that policy, on the afterstates it visits
best_error  of its values to the optimal ones, on the afterstates that optimal play visits

Both errors are root mean squares in points, each afterstate weighted by how often a game is
expected to come there.  Rows that are there already are skipped.  About 25 minutes on one core,
and 4 GB for 3x3.
"""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from lib2048 import Network, SmallGame, train

CSV = Path(__file__).resolve().parents[1] / "data" / "curves" / "small_boards.csv"
ALPHA, SEEDS = 0.1, (1, 2, 3)
STARTS = {"zero": (0, 0.0), "optimistic": (1, 0.0), "explore": (0, 0.1)}  # share of optimum, ε
BOARDS = [  # board, kind of network, tuples, actions
    ("2x2", "table", "0145", (1000, 10_000, 100_000, 1_000_000)),
    ("2x3", "table", "012456", (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)),
    ("2x3", "shared", "0145,012,0156", (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)),
    ("3x3", "shared", "012456,012458,01569a", (1_000_000, 10_000_000, 100_000_000)),
]


def one_weight(weights, positions):
    """Read a board at the smallest of its 8 positions: one weight for each board."""
    return weights[positions.min()]


def add_to_one(weights, positions, amount):
    """Add to that weight what all 8 would get."""
    weights[positions.min()] += 8 * amount


def trained(board, kind, tuples, start, epsilon, actions, seed):
    """Train from values that are `start` everywhere; return a function from boards to values."""
    network = Network(f"cells:{tuples}@{board}")
    network.weights[:] = start if kind == "table" else start / network.lookups_per_board
    if kind == "table":
        network = network.with_functions(value=one_weight, update=add_to_one)
    settings = {"alpha": ALPHA, "actions": actions, "epsilon": epsilon, "seed": seed}
    train(network, **settings, progress=False)
    return network.values


def distance(values, exact, visits):
    """Return the root mean square difference, weighted by visits."""
    return np.sqrt(np.average((values - exact.afterstate_values) ** 2, weights=visits))


def measure(values_of, game, best, best_visits):
    """Return the three errors as a dict."""
    values, own = values_of(game.boards), game.follow(values_of)
    errors = {"share": own.start / best.start, "own_error": distance(values, own, own.visits())}
    errors |= {"best_error": distance(values, best, best_visits)}
    return {name: round(float(error), 4) for name, error in errors.items()}


def main():
    """Record the rows that are not there yet."""
    rows = pd.read_csv(CSV).to_dict("records") if CSV.exists() else []
    done, name = len(rows), None
    plan = itertools.product(BOARDS, STARTS, SEEDS)
    plan = [(*run, actions) for run in plan for actions in run[0][3]]
    for (board, kind, tuples, _), start, seed, actions in plan[done:]:
        if name != board:
            name, game = board, SmallGame(*map(int, board.split("x")), progress=False)
            best = game.optimal()
            best_visits = best.visits()
        level, epsilon = STARTS[start]
        run = trained(board, kind, tuples, level * best.start, epsilon, actions, seed)
        row = {"board": board, "network": kind, "start": start, "seed": seed, "actions": actions}
        rows.append(row | measure(run, game, best, best_visits))
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(CSV, index=False)


if __name__ == "__main__":
    main()
