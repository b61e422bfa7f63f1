"""Record data/curves/error_last.csv: nice python tools/record_error.py

How much of a learner's score hangs on its last updates?  TD(0) on 4x6, α = 0.1, by either value in
the error, is tested after 96 000, 97 000, … 100 000 games; then with the mean of its weights over
the last 1 000 games (20 snapshots), and, trained again from 99 000 games on, after 1 000 games at a
tenth of the rate.  Every test is 10 000 games.  Rows that are there already are skipped.  About
four minutes a row of the plan on one core, and 1 GB.
"""

from pathlib import Path

import pandas as pd

from lib2048 import Network, Run, Settings, evaluate

CSV = Path(__file__).resolve().parents[1] / "data" / "curves" / "error_last.csv"
ALPHA, TEST_GAMES, TEST_SEED = 0.1, 10_000, 2048  # luck that no training run has had
FIRST, LAST, THOUSAND, SNAPSHOTS = 96_000, 100_000, 1000, 20
PLAN = [
    (order, error, seed)
    for seed in range(1, 6)
    for order in ("forward", "backward")
    for error in ("fresh", "remembered")
]


def tested(network, **named):
    """Return a row: what a network scores."""
    result = evaluate(network, TEST_GAMES, TEST_SEED).as_dict()
    shown = {name: round(result[name], 1) for name in ("mean", "ci95")}
    return named | shown | {"reached_2048": result["reached"].get("2048", 0.0)}


def last_thousand(run):
    """Train the last 1 000 games; return a network with the mean of the weights on the way."""
    mean = Network(run.network.name)
    for _ in range(SNAPSHOTS):
        run.go(games=THOUSAND // SNAPSHOTS, progress=False)
        mean.weights[:] += run.network.weights / SNAPSHOTS
    return mean


def rows_of(order, error, seed):
    """Yield the rows of one run."""
    named = {"order": order, "error": error, "seed": seed}
    run = Run(Settings(network="4x6", alpha=ALPHA, order=order, error=error, seed=seed))
    run.go(games=FIRST, progress=False)
    for games in range(FIRST, LAST, THOUSAND):
        yield tested(run.network, **named, weights="as they are", games=games)
        if games + THOUSAND < LAST:
            run.go(games=THOUSAND, progress=False)
    kept = run.network.weights.copy()
    mean = last_thousand(run)
    yield tested(run.network, **named, weights="as they are", games=LAST)
    yield tested(mean, **named, weights="mean of the last 1000 games", games=LAST)
    run.network.weights[:] = kept
    run.rate = ALPHA / 10
    run.go(games=THOUSAND, progress=False)
    yield tested(run.network, **named, weights="last 1000 games at a tenth", games=LAST)


def main():
    """Record the runs that are not there yet."""
    rows = pd.read_csv(CSV).to_dict("records") if CSV.exists() else []
    done = {(row["order"], row["error"], row["seed"]) for row in rows}
    for plan in PLAN:
        if plan not in done:
            rows += rows_of(*plan)
            print(rows[-1], flush=True)
            pd.DataFrame(rows).to_csv(CSV, index=False)


if __name__ == "__main__":
    main()
