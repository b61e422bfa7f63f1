"""Record what lab hw04 compares with: nice python tools/record_hw04.py

data/curves/hw04_bugs.csv: the curve of each learner of `planted_bugs`, 20 000 games on 4x6, a row
for each 1 000 games; the bug's name is coded, see `diagnosis.code`.
data/curves/hw04_reference.csv: for each network that the lab gives out, in each
game that a class may have, the mean score of the second half of 400, 2 000 and 20 000 training
games, five seeds, by the library's own loop.
Rows that are there already are skipped.  About an hour on one core.
"""

from pathlib import Path

import pandas as pd

from lib2048 import Network, Run, Settings
from lib2048.course.labs.hw04 import networks_of
from lib2048.course.labs.hw04.diagnosis import code
from lib2048.course.labs.hw04.planted_bugs import BUGS
from lib2048.course.labs.hw04.training import Training
from lib2048.course.labs.seeds import GAMES as CLASSES
from lib2048.game.game import parse_game

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
GAMES, ALPHA = 20_000, 0.1
BUDGETS = (400, 2_000, GAMES)
PLAN = {
    "hw04_reference.csv": [
        (network, seed)
        for game in CLASSES
        for network in networks_of(parse_game(game))
        for seed in range(1, 6)
    ],
    "hw04_bugs.csv": [(bug, seed) for seed in (1, 2) for bug in BUGS],
}


def curve_of(bug, seed):
    """Train by a bug; return the rows of its curve."""
    training = Training(*BUGS[bug], alpha=ALPHA, seed=seed)
    table = training.go(GAMES, progress=False).table()
    training.close()
    named = {"bug": code(bug), "seed": seed}
    return [named | {name: row[name] for name in ("games", "actions", "mean")} for row in table]


def reference_of(network, seed):
    """Train by the library; return the rows of a seed."""
    settings = Settings(network=network, alpha=ALPHA, seed=seed, order="backward", lanes=1)
    history = Run(settings, network=Network(network)).go(games=GAMES, progress=False)
    named = {"network": network, "seed": seed}
    means = {games: float(history.scores[games // 2 : games].mean()) for games in BUDGETS}
    return [named | {"games": games, "mean": round(mean, 1)} for games, mean in means.items()]


def main():
    """Record the rows that are not there yet."""
    for (name, plan), record in zip(PLAN.items(), (reference_of, curve_of)):
        rows = pd.read_csv(CURVES / name).to_dict("records") if (CURVES / name).exists() else []
        known = {tuple(row.values())[:2] for row in rows}
        for which in plan:
            if which not in known and (code(which[0]), which[1]) not in known:
                rows += record(*which)
                pd.DataFrame(rows).to_csv(CURVES / name, index=False)


if __name__ == "__main__":
    main()
