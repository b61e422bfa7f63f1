"""A network in stages, packed to play and in full: seconds to load, memory, moves a second.

python benchmarks/packed.py FILE [--rounds 3]: weights of a network in stages with promotion.  Both
forms play the same games in turns, so the ratio holds on any machine; in full the network takes
some gigabytes (42-33 in 16 stages: 5).
"""

import argparse
import subprocess
import sys
import time

import numpy as np

from lib2048 import SearchPlayer, evaluate, load
from lib2048.machine.memory import peak_mib
from lib2048.play.players import NetworkPlayer

FORMS = ("packed", "full")
GAMES = {1: 50, 2: 4, 3: 1}  # by plies, each round


def loading(path, form):
    """Print what loading takes in this process, a fresh one: time, and memory at its peak."""
    begin, before = time.perf_counter(), peak_mib()
    network = load(path, to_play=form == "packed")
    seconds, gib = time.perf_counter() - begin, (peak_mib() - before) / 1024
    print(f"{form}: {seconds:.1f} s, {gib:.2f} GiB at most; {network.nbytes / 2**30:.2f} laid out")


def one_round(networks, plies, seed):
    """Return the moves a second of both forms in the same games."""
    players = [SearchPlayer(n, plies) if plies > 1 else NetworkPlayer(n) for n in networks]
    results = [evaluate(player, GAMES[plies], seed) for player in players]
    assert len({tuple(result.scores.tolist()) for result in results}) == 1
    return [result.moves_per_s for result in results]


def main():
    """Print how each form loads and plays."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loading", choices=FORMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.loading:
        return loading(options.file, options.loading)
    for form in 2 * FORMS:  # what comes first may compile
        subprocess.run([sys.executable, *sys.argv, "--loading", form], check=True)
    networks = [load(options.file, to_play=form == "packed") for form in FORMS]
    for plies in GAMES:
        rates = [one_round(networks, plies, seed) for seed in range(options.rounds)]
        packed, full = np.median(rates, axis=0)
        ratio = packed / full
        print(f"{plies}-ply: {packed:,.0f} moves/s packed, {full:,.0f} in full, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
