"""Collect what tools/record_policy.py recorded: python tools/collect_policy.py FOLDER

Writes data/curves/policy_batches.csv, policy_tests.csv and policy_searches.csv from whatever FOLDER
holds so far.  Rows of runs that it does not hold stay as they are.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from lib2048 import mean_ci95

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
BLOCK = 10  # batches of a row
COUNTS = ["batch", "games", "actions", "seconds"]  # so far; all else is a mean over the block
MEANS = ["score", "length", "tile_sum", "distance", "entropy", "reached_256", "reached_512",
         "reached_1024", "reached_2048"]  # fmt: skip
TESTS = ["games", "mean", "ci95", "max", "moves_per_s", *MEANS[-4:]]
TEACHING = ["teacher_mean", "moves", "agreement"]  # of a warm start


def run_of(path):
    """Return what a file is of: of slower-seed2.csv {'run': 'slower', 'seed': 2}."""
    name, _, seed = path.stem.partition("-seed")
    return {"run": name, "seed": int(seed or 1)}


def learning(path):
    """Say whether a file has a row for each batch: others are of a warm start, or of ADP."""
    return {"games", "score"} <= set(pd.read_csv(path, nrows=0))


def batches(path):
    """Return a run's rows, each of ten batches."""
    run = pd.read_csv(path)
    run["batch"] = run.index + 1
    how = {name: "last" if name in COUNTS else "mean" for name in COUNTS + MEANS if name in run}
    return run.groupby(run.index // BLOCK).agg(how).assign(**run_of(path))


def tests(path):
    """Yield a row for each player that a record speaks of."""
    said = json.loads(path.read_text())
    whole = "search" if "simulations" in said else "random"
    kinds = {whole: said} if "mean" in said else said
    for player, numbers in kinds.items():
        if isinstance(numbers, dict) and "mean" in numbers:
            row = run_of(path) | {"player": player} | measured(numbers)
            yield row | taught(path, said) | {"command": said["command"]}


def measured(numbers):
    """Return the columns TESTS, those of a search from its games."""
    if "scores" in numbers:
        scores, shares = numbers["scores"], numbers["reached"]
        numbers |= {f"reached_{tile}": share for tile, share in shares.items()}
        numbers |= {"ci95": mean_ci95(scores)[1], "max": max(scores)}
    return {name: numbers.get(name, 0.0) for name in TESTS}


def taught(path, said):
    """Return the columns TEACHING, empty for what had no teacher."""
    if "teacher" not in said:
        return dict.fromkeys(TEACHING)
    last = pd.read_csv(path.with_suffix(".csv")).iloc[-1]
    return {name: said.get(name, last.get(name)) for name in TEACHING}


def searches(path):
    """Yield a row for each game of a search."""
    for game, score in enumerate(json.loads(path.read_text())["scores"]):
        yield run_of(path) | {"game": game, "score": score}


def store(name, rows):
    path, rows = CURVES / f"policy_{name}.csv", pd.DataFrame(rows).round(4)
    if rows.empty:
        return
    old = pd.read_csv(path, dtype=str, keep_default_na=False)  # its texts, as they stand there
    new = set(zip(rows["run"], rows["seed"].astype(str)))
    kept = [run not in new for run in zip(old["run"], old["seed"])]
    rows = pd.concat([old[kept], rows])
    rows.to_csv(path, index=False, lineterminator="\n")


def main(folder):
    folder = Path(folder)
    learned = [batches(path) for path in sorted(folder.glob("*.csv")) if learning(path)]
    if learned:
        store("batches", pd.concat(learned)[["run", "seed", *COUNTS, *MEANS]])
    store("tests", [row for path in sorted(folder.glob("*.json")) for row in tests(path)])
    searched = sorted(folder.glob("mcts-*.json"))
    store("searches", [row for path in searched for row in searches(path)])


if __name__ == "__main__":
    main(*sys.argv[1:])
