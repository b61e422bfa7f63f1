"""Collect what value networks have reached: python tools/collect_values.py RUNS

RUNS: where `lib2048 sweep data/runs/LIST.toml --out RUNS/LIST` has left the runs of each list.
Writes into data/curves:

value_tests.csv    the test games on the way of all runs of the lists: `list`, `run`, `seed`, then
                   the columns of a run's evaluations.csv
value_history.csv  the training games of the long runs, a row for each 1000 games
"""

import argparse
import json
from pathlib import Path

import pandas as pd

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
LONG = "value_long"


def table(folder, file):
    """Return one file of a run with the run's list, name and seed in front."""
    found = pd.read_csv(folder / file)
    name, seed = folder.name.rsplit("-seed", 1)
    for place, (column, value) in enumerate([("list", folder.parent.name), ("run", name),
                                             ("seed", int(seed))]):  # fmt: skip
        found.insert(place, column, value)
    return found


def finished(folder):
    """Say whether a run has come to its end (a long one counts as far as it has come)."""
    if not (folder / "evaluations.csv").exists():
        return False
    if folder.parent.name == LONG:
        return True
    wanted = json.loads((folder / "config.json").read_text())["actions"]
    return pd.read_csv(folder / "evaluations.csv")["actions"].max() == wanted


def main():
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path)
    runs = parser.parse_args().runs
    done = [folder for folder in sorted(runs.glob("*/*-seed*")) if finished(folder)]
    tests = pd.concat([table(folder, "evaluations.csv") for folder in done])
    tests.to_csv(CURVES / "value_tests.csv", index=False)
    long = [table(folder, "history.csv") for folder in done if folder.parent.name == LONG]
    if long:
        pd.concat(long).to_csv(CURVES / "value_history.csv", index=False)
    print(f"{len(done)} runs, {len(tests)} rows of test games")


if __name__ == "__main__":
    main()
