"""Make a small file of a trained network: python tools/record_weights.py RUN DST --keep 18000000

Of a run folder by TC the weights that have learned most (by A, the sum of their errors' sizes) are
kept, rounded to 11 bits and compressed.  Then the whole network and what the small file holds play
the same games; the file says what both have scored.
"""

import argparse
import json
import time
from pathlib import Path

from lib2048 import NetworkPlayer, SearchPlayer, evaluate, load, save
from lib2048.machine.files import read_arrays
from lib2048.networks.files import network_from, pruned
from lib2048.train.folder import CONFIG, WEIGHTS

SEED = 2048  # luck that no training run has had
GAMES = {1: 1000, 3: 100}


def small_of(run, keep):
    """Return the network of a run folder with only the weights that have learned most."""
    path = run / WEIGHTS
    return network_from(pruned(read_arrays(path), keep), path)


def scores(network):
    """Return what a network scores, {"1-ply": {"games", "mean", "ci95"}, "3-ply": …}."""
    found = {}
    for plies, games in GAMES.items():
        player = NetworkPlayer(network) if plies == 1 else SearchPlayer(network, plies)
        result = evaluate(player, games, SEED).as_dict()
        found[f"{plies}-ply"] = {key: round(result[key], 1) for key in ("games", "mean", "ci95")}
    return found


def timed_load(path):
    """Return (a network, folded where it can be, the seconds that this took)."""
    begin = time.perf_counter()
    network = load(path, fold=True)
    return network, round(time.perf_counter() - begin, 1)


def main():
    """Prune, round, save; play; save with what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--keep", type=int, default=18_000_000)
    options = parser.parse_args()
    small = small_of(options.run, options.keep)
    save(small, options.destination, compact=True)
    file, seconds = timed_load(options.destination)
    whole = load(options.run / WEIGHTS, fold=True)
    about = {"config": json.loads((options.run / CONFIG).read_text())}
    about |= {"kept": options.keep, "seconds_to_load": seconds, "seed": SEED}
    about |= {"this_file": scores(file), "whole_network": scores(whole)}
    save(small, options.destination, compact=True, **about)
    print(json.dumps(about, indent=2), f"{options.destination.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
