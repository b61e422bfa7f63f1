"""Record what lab hw04 and appendix A6 compare with: nice python tools/record_hw04.py

data/curves/hw04_bugs.csv: the curve of each learner of `planted_bugs` on 4x6, a row for each 1 000
games; the bug's name is coded, see `diagnosis.code`.  Each run is made in a process of its own, all
of the first seed before those of the second, and kept in runs/hw04; --games and --bugs make longer
ones of some.
data/curves/hw04_reference.csv: for each network that the lab gives out, in each
game that a class may have, the mean score of the second half of 400, 2 000 and 20 000 training
games, five seeds, by the library's own loop.
What is there already is skipped.  About two hours on one core.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from lib2048 import Network, Run, Settings
from lib2048.course.labs.hw04 import networks_of, program
from lib2048.course.labs.hw04.diagnosis import code
from lib2048.course.labs.hw04.planted_bugs import BUGS, GAMES, NETWORK, made
from lib2048.course.labs.hw04.training_process import ChildTraining
from lib2048.course.labs.seeds import GAMES as CLASSES
from lib2048.game.board import afterstates, initial
from lib2048.game.game import parse_game
from lib2048.game.rng import stream
from lib2048.machine.source_text import source_of
from lib2048.networks.names import with_game

ROOT = Path(__file__).resolve().parents[1]
CURVES, RUNS = ROOT / "data" / "curves", ROOT / "runs" / "hw04"
BLOCK, LAST, ALPHA, SEEDS = 1_000, 20_000, 0.1, (1, 2, 3)
BUDGETS = (400, 2_000, LAST)
FIRST_BOARDS = 30  # of which a learner says what it expects


def promised_by(functions, tables):
    """Return the mean of the best r + V over some first boards."""
    boards = [initial(stream(5, n), program.PLAYED)[0] for n in range(FIRST_BOARDS)]
    options = [afterstates(board, program.PLAYED) for board in boards]
    worths = [max(r + functions.estimate(tables, after) for _, after, r in o) for o in options]
    return float(f"{np.mean(worths):.5g}")


def curve_of(bug, seed, games):
    """Train by a bug, as far as it goes; return the rows of its curve."""
    functions, rows, actions = made(bug), [], 0
    names = "select_best_move", "update_episode"
    source = source_of({name: getattr(functions, name) for name in names})
    network = with_game(NETWORK, program.PLAYED)
    numbers = {"alpha": ALPHA, "seed": seed, "by_states": False, "folder": None}
    training = ChildTraining({"source": source, "network": network} | numbers)
    for first in range(0, games, BLOCK):
        try:
            found = training.play(first, first + BLOCK, seed, np.inf, True)
        except ValueError as error:  # it plays no further
            print(f"{bug}, seed {seed}, after {first:,} games: {error}")
            break
        actions += int(found[:, 2].sum())
        mean, promised = round(found[:, 1].mean(), 1), promised_by(functions, training.tables)
        rows.append((bug, seed, first + BLOCK, actions, mean, promised))
    return rows


def reference_of(network, seed):
    """Train by the library; return the rows of a seed."""
    settings = Settings(network=network, alpha=ALPHA, seed=seed, order="backward", lanes=1)
    history = Run(settings, network=Network(network)).go(games=LAST, progress=False)
    named = {"network": network, "seed": seed}
    means = {games: float(history.scores[games // 2 : games].mean()) for games in BUDGETS}
    return [named | {"games": games, "mean": round(mean, 1)} for games, mean in means.items()]


def record_references():
    """Record the rows of hw04_reference.csv that are not there yet."""
    path = CURVES / "hw04_reference.csv"
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    known = {(row["network"], row["seed"]) for row in rows}
    networks = [name for game in CLASSES for name in networks_of(parse_game(game))]
    for which in ((network, seed) for network in networks for seed in range(1, 6)):
        if which not in known:
            rows += reference_of(*which)
            pd.DataFrame(rows).to_csv(path, index=False)


def record_bugs(bugs, games, seeds):
    """Make the runs that are not there yet."""
    RUNS.mkdir(parents=True, exist_ok=True)
    reached = pd.read_csv(CURVES / "hw04_bugs.csv").groupby(["bug", "seed"])["games"].max()
    for seed in seeds:
        for bug in bugs:
            path = RUNS / f"{bug}-{seed}-{games}.csv"
            if reached.get((code(bug), seed), 0) < games and not path.exists():
                game = {"LIB2048_CLASS_GAME": GAMES[bug]} if bug in GAMES else {}
                one = [sys.executable, __file__, "--one", bug, str(seed), str(games), str(path)]
                subprocess.run(one, env=os.environ | game, check=True)


def collect():
    """Put the longest run of each bug and seed into hw04_bugs.csv, in the place of shorter ones."""
    path = CURVES / "hw04_bugs.csv"
    table = pd.read_csv(path)
    for file in RUNS.glob("*.csv"):
        bug, seed, _ = file.stem.split("-")
        run, old = pd.read_csv(file), table["bug"].eq(code(bug)) & table["seed"].eq(int(seed))
        if len(run) >= old.sum():
            table = pd.concat([table[~old], run.assign(bug=code(bug))])
    table.sort_values(["bug", "seed", "games"]).to_csv(path, index=False)


def main():
    """Record what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=LAST, help="of each run with a bug")
    parser.add_argument("--bugs", nargs="+", choices=BUGS, default=BUGS, metavar="BUG")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.one:
        bug, seed, games, path = said.one
        rows = curve_of(bug, int(seed), int(games))
        columns = ["bug", "seed", "games", "actions", "mean", "promised"]
        pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
        return
    record_references()
    record_bugs(said.bugs, said.games, SEEDS)
    collect()


if __name__ == "__main__":
    main()
