"""Train what lists of runs name, one run after the other: nice python tools/run_lists.py RUNS LIST…

LIST: files of data/runs, TOML: a [defaults] table and [[run]] tables with `name`, `seeds` and the
long options of `lib2048 train`.  Each run and seed becomes the folder RUNS/NAME-seedN, under the
name of its list.  A run that was stopped goes on, a finished one is left alone.
"""

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path


def runs(path):
    """Yield (name, {option: value}) of each run and seed of a list."""
    told = tomllib.loads(path.read_text())
    for run in told["run"]:
        options = told.get("defaults", {}) | run
        name, seeds = options.pop("name"), options.pop("seeds", [1])
        for seed in seeds:
            yield f"{name}-seed{seed}", options | {"seed": seed}


def command(options, folder):
    """Return the command line that trains a run, or goes on with it."""
    words = []
    for name, value in options.items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return [sys.executable, "-m", "lib2048.cli", "train", *words, "--out", str(folder), "--resume"]


def main():
    """Train all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, help="folder for the runs")
    parser.add_argument("lists", type=Path, nargs="+", metavar="LIST")
    options = parser.parse_args()
    todo = [(path.stem, *run) for path in options.lists for run in runs(path)]
    todo.sort(key=lambda run: run[2]["seed"])  # all with one seed first: a list soon says something
    for stem, name, settings in todo:
        folder = options.runs / stem / name
        if (folder / "weights.npz").exists() and not (folder / "checkpoint.npz").exists():
            continue
        print(f"{stem}/{name}", flush=True)
        subprocess.run(command(settings, folder), stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
