"""Record the learning curves of data/curves: python tools/record_curves.py RUNS_FOLDER

Each run goes through the command line, exactly as a reader would type it; finished ones are
skipped, so the script can be stopped and started again.  About 20 minutes on two
cores, and half an hour more for the values of states.
"""

import json
import sys
from pathlib import Path

import pandas as pd
from command_line import lib2048

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
SEEDS = (1, 2, 3)
TILES = (1024, 2048, 4096, 8192)
TEST_GAMES, TEST_SEED = 10_000, 2048  # luck that no training run has had
TD0 = "train --network 4x6 --rule td --alpha 0.1 --games 100000 --order {kind} --seed {seed}"
STATE = "train --network 4x6 --rule td --form state --order backward --games 100000 --seed {seed}"
FORMS = "train --network 4-22 --rule td --alpha 0.1 --actions 10000000 --form {kind} --seed {seed}"


def record(name, command, runs):
    """Make one run, unless it is there; store its curve and how it was made."""
    out = runs / name
    report = lib2048(f"{command} --out {out} --resume")
    config = json.loads((out / "config.json").read_text())
    keep = {key: report[key] for key in ("games", "actions", "seconds", "mean_last")}
    note = {"command": f"lib2048 {command}", "config": config, "result": keep}
    (CURVES / f"{name}.json").write_text(json.dumps(note, indent=2) + "\n")
    (CURVES / f"{name}.csv").write_text((out / "history.csv").read_text())
    return out / "weights.npz"


def test_row(name, weights, kind, seed):
    """Play the test games of one run; return its row of the table of tests."""
    found = lib2048(f"play {weights} --games {TEST_GAMES} --seed {TEST_SEED}")
    row = {"run": name, "order": kind, "seed": seed, "games": TEST_GAMES}
    row |= {key: round(found[key], 1) for key in ("mean", "ci95", "max")}
    return row | {f"reached_{tile}": found["reached"].get(str(tile), 0.0) for tile in TILES}


def main(runs):
    """Record everything."""
    CURVES.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in SEEDS:
        for kind in ("forward", "backward"):
            name = f"td0_4x6_{kind}_seed{seed}"
            weights = record(name, TD0.format(kind=kind, seed=seed), runs)
            rows.append(test_row(name, weights, kind, seed))
        for kind in ("afterstate", "state", "q"):
            record(f"forms_4-22_{kind}_seed{seed}", FORMS.format(kind=kind, seed=seed), runs)
    pd.DataFrame(rows).to_csv(CURVES / "td0_4x6_tests.csv", index=False)
    record("state_4x6_seed1", STATE.format(seed=1), runs)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
