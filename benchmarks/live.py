"""What watching costs: python benchmarks/live.py --network 4x6 --actions 20000000 --rounds 9

Trains the same run with `Run.go` and in a `TrainWidget`, in turns, in one process, and prints
moves/s of each and their ratio.  The widget sends its messages into nothing here: a kernel hands
them to a thread of its own.
"""

import argparse
import json
import statistics
from unittest import mock

import psutil

from lib2048 import Run, Settings, TrainWidget


def alone(run, actions):
    """Train without a widget."""
    run.go(actions=actions, progress=False)


def watched(run, actions):
    """Train in a widget; every message becomes JSON."""
    widget = TrainWidget(run, actions=actions)
    with mock.patch.object(widget, "send", json.dumps):
        widget.start()
        widget.wait()
    widget.close()


def speed(settings, actions, how):
    """Return moves/s of one turn, after as many actions that only warm up."""
    run = Run(settings)
    alone(run, actions)
    before = run.seconds
    how(run, actions)
    return actions / (run.seconds - before)


def main():
    """Take turns; the one that begins changes from round to round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="4x6")
    parser.add_argument("--rule", default="tc")
    parser.add_argument("--actions", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    settings, found = Settings(network=asked.network, rule=asked.rule), {alone: [], watched: []}
    for number in range(asked.rounds):
        for how in sorted(found, key=lambda how: (how is watched) ^ (number % 2)):
            found[how].append(speed(settings, asked.actions, how))
    ratios = [w / a for a, w in zip(found[alone], found[watched])]
    print(
        json.dumps(
            {
                "alone": round(statistics.median(found[alone])),
                "watched": round(statistics.median(found[watched])),
                "ratio": round(statistics.median(ratios), 4),
                "ratios": [round(r, 3) for r in ratios],
                "load": psutil.getloadavg()[0],
            }
        )
    )


if __name__ == "__main__":
    main()
