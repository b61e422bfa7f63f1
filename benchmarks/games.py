"""How fast are other games?  Training in each, in turns with 2048, as a ratio.

python benchmarks/games.py [--network 4x6] [--rule tc] [--warm-up 20000000] [--rounds 7]
"""

import argparse
import statistics
import time

from lib2048 import Run, Settings

WAYS = {
    "2048": {"game": "2048"},
    "2048, a 4 in five": {"game": "2048:four=0.2"},
    "Threes!": {"game": "threes"},
    "Threes!, next hidden": {"game": "threes", "next": "hidden"},
}
ACTIONS = 1_000_000  # of a measurement


def rate(run):
    """Return actions a second of one measurement."""
    begin = time.perf_counter()
    run.go(actions=ACTIONS, progress=False)
    return ACTIONS / (time.perf_counter() - begin)


def main():
    """Measure, and print a line for each game."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--network", default="4x6")
    parser.add_argument("--rule", default="tc")
    parser.add_argument("--warm-up", type=int, default=20_000_000, help="actions of each")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    runs = {
        n: Run(Settings(network=options.network, rule=options.rule, **w)) for n, w in WAYS.items()
    }
    for run in runs.values():
        run.go(actions=options.warm_up, progress=False)
    rounds = [{name: rate(run) for name, run in runs.items()} for _ in range(options.rounds)]
    for name in runs:
        ratio = statistics.median(found[name] / found["2048"] for found in rounds)
        actions = statistics.median(found[name] for found in rounds)
        print(f"{name:22}{actions / 1e6:6.2f} M actions/s {ratio:6.2f}")


if __name__ == "__main__":
    main()
