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

import pandas as pd

from lib2048 import Network, SmallGame, board_table, train

CSV = Path(__file__).resolve().parents[1] / "data" / "curves" / "small_boards.csv"
ALPHA, SEEDS = 0.1, (1, 2, 3)
STARTS = {"zero": (0, 0.0), "optimistic": (1, 0.0), "explore": (0, 0.1)}  # share of optimum, ε
BOARDS = [  # board, kind of network, tuples, actions
    ("2x2", "table", "0145", (1000, 10_000, 100_000, 1_000_000)),
    ("2x3", "table", "012456", (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)),
    ("2x3", "shared", "0145,012,0156", (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)),
    ("3x3", "shared", "012456,012458,01569a", (1_000_000, 10_000_000, 100_000_000)),
]


def trained(board, kind, tuples, start, epsilon, actions, seed):
    """Train from values that are `start` everywhere; return the network."""
    network = board_table(board, start) if kind == "table" else Network(f"cells:{tuples}@{board}")
    if kind != "table":
        network.weights[:] = start / network.lookups_per_board
    settings = {"alpha": ALPHA, "actions": actions, "epsilon": epsilon, "seed": seed}
    train(network, **settings, progress=False)
    return network


def measure(network, game):
    """Return the three marks as a dict."""
    return {name.replace(" ", "_"): round(mark, 4) for name, mark in game.marks(network).items()}


def main():
    """Record the rows that are not there yet."""
    rows = pd.read_csv(CSV).to_dict("records") if CSV.exists() else []
    done, name = len(rows), None
    plan = itertools.product(BOARDS, STARTS, SEEDS)
    plan = [(*run, actions) for run in plan for actions in run[0][3]]
    for (board, kind, tuples, _), start, seed, actions in plan[done:]:
        if name != board:
            name, game = board, SmallGame(*map(int, board.split("x")), progress=False)
            best = game.optimal().start
        level, epsilon = STARTS[start]
        run = trained(board, kind, tuples, level * best, epsilon, actions, seed)
        row = {"board": board, "network": kind, "start": start, "seed": seed, "actions": actions}
        rows.append(row | measure(run, game))
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(CSV, index=False)


if __name__ == "__main__":
    main()
