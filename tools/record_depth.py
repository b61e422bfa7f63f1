"""Record data/curves/depth_4x6.csv: python tools/record_depth.py WEIGHTS

How depth, and time, turn into score: every row of the table is one player on the same games.
WEIGHTS is the weights.npz of a run; ours was made by

    lib2048 train --network 4x6 --rule td --alpha 0.1 --games 100000 --order backward --seed 1 \
        --out runs/td0

Rows that are there already are skipped.  About 50 minutes on one core.  Times are of the
machine it runs on; let nothing else run beside it.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from lib2048 import NetworkPlayer, SearchPlayer, heuristic_player, load, mean_ci95

TABLE = Path(__file__).resolve().parents[1] / "data" / "curves" / "depth_4x6.csv"
SEED = 2048  # luck that no training run has had
TILES = (2048, 4096, 8192, 16384, 32768)
ROWS = [  # player, plies, seconds a move, games, other limits
    ("td0", 1, None, 10_000, {}),
    ("td0", 2, None, 1000, {}),
    ("td0", 3, None, 300, {}),
    ("td0", None, 0.001, 40, {}),
    ("heuristic", 1, None, 2000, {}),
    ("heuristic", 2, None, 300, {}),
    ("heuristic", 3, None, 50, {}),
    ("td0", 3, None, 300, {"reduce": True}),
    ("td0", 3, None, 20, {"table_mib": 0}),
    ("td0", 4, None, 30, {}),
    ("td0", 4, None, 30, {"reduce": True}),
    ("td0", None, 0.01, 10, {}),
    ("td0", None, 0.1, 2, {}),
]


def player(kind, network, plies, seconds, limits):
    """Make the player of one row."""
    if kind == "heuristic":
        return heuristic_player(plies, seconds, **limits)
    if plies == 1:
        return NetworkPlayer(network)
    return SearchPlayer(network, plies, seconds, **limits)


def name_of(kind, plies, seconds, limits):
    """Return the columns that say which player a row is about."""
    row = {"player": kind, "plies": plies, "ms": seconds and 1000 * seconds}
    return row | {"table": limits.get("table_mib") != 0, "reduce": limits.get("reduce", False)}


def row_of(name, who, games, took):
    """Return what a player did as a row of the table.  games: see records.RESULT_COLUMNS."""
    mean, ci95 = mean_ci95(games[:, 1])
    row = name | {"games": len(games), "mean": round(mean), "ci95": round(ci95)}
    row |= {"moves_per_s": round(games[:, 2].sum() / took, 1)}
    row |= {f"reached_{t}": (games[:, 3] >= t.bit_length() - 1).mean().round(4) for t in TILES}
    if isinstance(who, SearchPlayer):
        depths = who.depths.sum(0)
        row["mean_plies"] = (depths * np.arange(len(depths))).sum() / depths.sum()
    if name["ms"]:
        row["within_1.2"] = who.times[:120].sum() / who.times.sum()
    return row


def record(name, who, count):
    """Play one row's games, one after the other, and show each."""
    games, took = [], 0.0
    at_once = max(1, min(getattr(who, "games_at_once", 200), count))
    for first in range(0, count, at_once):
        begin = time.perf_counter()
        games.append(who.play_games(first, min(at_once, count - first), SEED))
        took += time.perf_counter() - begin
        if at_once == 1:
            print(who, first, games[-1][0, 1:3], f"{took:.0f} s", flush=True)
    return row_of(name, who, np.concatenate(games), took)


def main(weights):
    """Record the rows that are not there yet."""
    network, rows = load(weights), []
    old = pd.read_csv(TABLE).astype(object) if TABLE.exists() else pd.DataFrame()
    there = {} if old.empty else {key(row): row for row in old.to_dict("records")}
    for kind, plies, seconds, games, limits in ROWS:
        name = name_of(kind, plies, seconds, limits)
        if key(name) in there:
            rows.append(there[key(name)])
            continue
        who = player(kind, network, plies, seconds, limits)
        rows.append(record(name, who, games))
        print(rows[-1], flush=True)
        there[key(name)] = rows[-1]
        pd.DataFrame(there.values()).to_csv(TABLE, index=False)
    pd.DataFrame(rows).to_csv(TABLE, index=False)  # in the order of ROWS


def key(row):
    """Return what tells a row from the others, with one word for nothing."""
    columns = ("player", "plies", "ms", "table", "reduce")
    return tuple(None if pd.isna(row[column]) else row[column] for column in columns)


if __name__ == "__main__":
    main(sys.argv[1])
