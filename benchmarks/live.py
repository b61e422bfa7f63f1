"""What watching costs: python benchmarks/live.py --network 4x6 --actions 20000000 --rounds 9

Trains the same run with `Run.go` and in a `TrainWidget`, in turns, in one process, and prints
actions/s of each and the median of their ratios, of the processor's own time, too, which others on
the machine disturb less.  --board compares the widget with one that plays no games for its board,
and says what share of the learner's own time they take: that hardly depends on what else the
machine does.  The widget sends its messages into nothing here: a kernel hands them to a thread of
its own.
"""

import argparse
import json
import statistics
import time
from unittest import mock

import psutil

from lib2048 import Run, Settings, TrainWidget
from lib2048.show.widgets import train


def alone(run, actions):
    """Train without a widget."""
    run.go(actions=actions, progress=False)


def boardless(run, actions):
    """Train in a widget that plays no games for its board."""
    with mock.patch.object(train, "is_shown", lambda network: False):
        watched(run, actions)


def watched(run, actions):
    """Train in a widget; every message becomes JSON."""
    widget = TrainWidget(run, actions=actions)
    with mock.patch.object(widget, "send", json.dumps):
        widget.start()
        widget.wait()
    widget.close()


def share_of_board(settings, actions):
    """Return the share of a learner's own processor time that goes into games for its board.

    Those before it begins and after it has ended cost no training, and are left out.
    """
    spent, whole = [], []

    def timed(function, times):
        def call(*args):
            begin = time.thread_time()
            function(*args)
            times.append(time.thread_time() - begin)

        return call

    kind = train.Training
    with (
        mock.patch.object(kind, "_play", timed(kind._play, spent)),
        mock.patch.object(kind, "_train", timed(kind._train, whole)),
    ):
        watched(Run(settings), actions)
    return sum(spent[1:-1]) / whole[0]


def speed(settings, actions, how):
    """Return actions/s of one turn, by the clock and by the processor's own time.

    Before it a tenth as many actions only warm up.
    """
    run = Run(settings)
    alone(run, actions // 10)
    run.history.took = 0.0  # as if it were new: then it plays all the games of a first run
    before, begin = run.seconds, time.process_time()
    how(run, actions)
    return actions / (run.seconds - before), actions / (time.process_time() - begin)


def main():
    """Take turns; the one that begins changes from round to round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="4x6")
    parser.add_argument("--rule", default="tc")
    parser.add_argument("--actions", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--board", action="store_true", help="what the board costs of it")
    asked = parser.parse_args()
    settings = Settings(network=asked.network, rule=asked.rule)
    base = boardless if asked.board else alone
    found = {base: [], watched: []}
    for number in range(asked.rounds):
        for how in sorted(found, key=lambda how: (how is watched) ^ (number % 2)):
            found[how].append(speed(settings, asked.actions, how))
    ratios = [[w / b for b, w in zip(*turn)] for turn in zip(found[base], found[watched])]
    by_clock, by_processor = zip(*ratios)
    told = {
        how.__name__: round(statistics.median(t[0] for t in turns)) for how, turns in found.items()
    }
    told["ratio"] = round(statistics.median(by_clock), 4)
    told["ratio_cpu"] = round(statistics.median(by_processor), 4)
    told["ratios_cpu"] = [round(ratio, 3) for ratio in by_processor]
    if asked.board:
        shares = [share_of_board(settings, asked.actions) for _ in range(asked.rounds)]
        told["share_of_board"] = round(statistics.median(shares), 4)
    print(json.dumps(told | {"load": psutil.getloadavg()[0]}))


if __name__ == "__main__":
    main()
