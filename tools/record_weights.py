"""Make a small file of a trained network: python tools/record_weights.py RUN DST --keep 18000000

Of a run folder by TC the weights that have learned most (by A, the sum of their errors' sizes) are
kept, rounded to 11 bits and compressed; a neural network is rounded to float16.  Then the whole
network and what the small file holds play the same games; the file says what both have scored.
"""

import argparse
import json
import time
from pathlib import Path

from lib2048 import evaluate, load, save
from lib2048.machine.arrays import read_arrays
from lib2048.networks.files import network_from, pruned
from lib2048.networks.neural import SUFFIX
from lib2048.play.players import network_player
from lib2048.train.folder import CONFIG, WEIGHTS

SEED = 2048  # luck that no training run has had
GAMES, NEURAL_GAMES = {1: 1000, 3: 100}, {1: 1000, 2: 50}


def both_of(run, keep):
    """Return (the network of a run folder, what of it is to be saved)."""
    path = run / WEIGHTS
    if path.with_suffix(SUFFIX).exists():
        return (load(path.with_suffix(SUFFIX)),) * 2
    whole = load(path, fold=True)  # which checks all of the file
    return whole, network_from(pruned(read_arrays(path), keep), path)


def scores(network):
    """Return what a network scores, {"1-ply": {"games", "mean", "ci95"}, "3-ply": …}."""
    found = {}
    for plies, games in (NEURAL_GAMES if hasattr(network, "module") else GAMES).items():
        result = evaluate(network_player(network, plies), games, SEED).as_dict()
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
    whole, small = both_of(options.run, options.keep)
    save(small, options.destination, compact=True)
    file, seconds = timed_load(options.destination)
    about = {"config": json.loads((options.run / CONFIG).read_text())}
    about |= {"seconds_to_load": seconds, "seed": SEED}
    about |= {} if whole is small else {"kept": options.keep}
    about |= {"this_file": scores(file), "whole_network": scores(whole)}
    save(small, options.destination, compact=True, **about)
    print(json.dumps(about, indent=2), f"{options.destination.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
