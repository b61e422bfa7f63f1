"""How much does a sweep cost?  python benchmarks/sweep.py [--actions N] [--rounds R]

Eight runs by `lib2048 sweep --workers 2`, and the same eight by `lib2048 train`, started by hand,
as two shells would do it side by side, four each; in turns, in one run.  The ratio says what share
of the speed is left; starting processes, importing and (for the sweep) Dask are in it.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lib2048.machine.child import ALONE

RUNS, SIDE_BY_SIDE = 8, 2
LIB2048 = [sys.executable, "-m", "lib2048.cli"]


def quiet(*words):
    """Run a command of the library.

    In a session of its own, as the runs of a sweep are: Linux shares a busy machine out by them.
    """
    subprocess.run(
        [*LIB2048, *map(str, words)],
        check=True,
        **ALONE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def by_hand(folder, actions):
    """Train all runs, two at a time."""

    def shell(first):
        for seed in range(first, RUNS + 1, SIDE_BY_SIDE):
            quiet(
                "train",
                "--network",
                "4x6",
                "--actions",
                actions,
                "--seed",
                seed,
                "--out",
                folder / f"run-seed{seed}",
            )

    shells = [threading.Thread(target=shell, args=(n + 1,)) for n in range(SIDE_BY_SIDE)]
    for thread in shells:
        thread.start()
    for thread in shells:
        thread.join()


def by_sweep(folder, actions):
    """Train all runs by one command."""
    seeds = list(range(1, RUNS + 1))
    text = f'[[run]]\nname = "run"\nnetwork = "4x6"\nactions = {actions}\nseeds = {seeds}\n'
    (folder / "list.toml").write_text(text)
    quiet("sweep", folder / "list.toml", "--out", folder / "runs", "--workers", SIDE_BY_SIDE)


def seconds(way, actions):
    """Return how long one of the two takes."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        way(Path(folder), actions)
        return time.perf_counter() - begin


def main():
    """Measure both in turns, and print each round and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=20_000_000, help="of each run")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    seconds(by_sweep, 1000)  # compiles
    ratios = []
    for _ in range(options.rounds):
        hand, sweep = (seconds(way, options.actions) for way in (by_hand, by_sweep))
        ratios.append(hand / sweep)
        print(f"by hand {hand:.1f} s, sweep {sweep:.1f} s, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
