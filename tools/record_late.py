"""Record the late game of Jaśkowski's tables III and IV: python tools/record_late.py RUNS

Stages, weight promotion, carousel shaping, restart, jump-starts and redundant encoding, each
trained and tested through the command line, exactly as a reader would type it.  What is finished
is skipped and what has begun goes on, so the script can be stopped and started again; several may
share a folder, each with a `--part`.

--actions N: stop there; a later call with more goes on from there.  --seeds 2,3 and --runs a,b:
only these; --part K/N: only every N-th run, from the K-th on (from 0); --collect: only write the
files of data/curves from what is done.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from command_line import lib2048

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
NAME, SEEDS = "late_42-33", (1, 2, 3)
ACTIONS, EVERY = 300_000_000, 50_000_000
TEST_SEED, TEST_GAMES = 2048, {1: 1000, 3: 100}  # luck that no training run has had
TRAIN = (
    "train {run} --rule tc --lambda 0.5 --beta 1 --seed {seed} --actions {actions} "
    "--eval-every {every} --eval-games 300 --checkpoint-every 900"
)
RUNS = {
    "one_stage": "--network 42-33",
    "redundant": "--network 42-33-4-22-3",
    "stages": "--network 42-33 --stages 4 --no-promotion",
    "promotion": "--network 42-33 --stages 4",
    "carousel": "--network 42-33 --stages 4 --starts carousel",
    "restart": "--network 42-33 --stages 4 --starts restart",
    "s-jump": "--network 42-33 --stages 4 --starts s-jump",
    "l-jump": "--network 42-33 --stages 4 --starts l-jump",
    "redundant_promotion": "--network 42-33-4-22-3 --stages 4",
    "redundant_carousel": "--network 42-33-4-22-3 --stages 4 --starts carousel",
}


def record(run, seed, runs, actions):
    """Train and test one run up to so many actions, unless that is done."""
    out = runs / f"{run}_seed{seed}"
    done = out / f"done_{actions}.json"
    if done.exists():
        return
    command = TRAIN.format(run=RUNS[run], seed=seed, actions=actions, every=EVERY)
    report = lib2048(f"{command} --out {out} --resume")
    note = {"run": run, "seed": seed, "command": f"lib2048 {command}"}
    kept = ("games", "actions", "seconds", "mean_last", "peak_mib")
    note |= {key: report[key] for key in kept}
    if (out / "stages.csv").exists():
        visits = pd.read_csv(out / "stages.csv").actions
        note["visits"] = " ".join(map(str, visits))
    note["sources"] = json.loads((out / "config.json").read_text())["sources"]
    for plies, games in TEST_GAMES.items():
        test = f"play {out}/weights.npz --games {games} --seed {TEST_SEED} --depth {plies}"
        found = lib2048(test)
        note |= {f"{key}_{plies}ply": found[key] for key in ("games", "mean", "ci95")}
    done.write_text(json.dumps(note, indent=2) + "\n")


def collect(runs):
    """Write the files of data/curves from all runs that are done."""
    notes = [json.loads(path.read_text()) for path in sorted(runs.glob("*/done_*.json"))]
    tests = pd.DataFrame(notes).round(1).sort_values(["actions", "run", "seed"])
    tests.to_csv(CURVES / f"{NAME}_tests.csv", index=False)
    for kind, columns in (("history", ["games", "actions", "mean"]), ("evaluations", None)):
        frames = []
        for run, seed in sorted({(note["run"], note["seed"]) for note in notes}):
            frame = pd.read_csv(runs / f"{run}_seed{seed}" / f"{kind}.csv", usecols=columns)
            frames.append(frame.assign(run=run, seed=seed))
        pd.concat(frames).to_csv(CURVES / f"{NAME}_{kind}.csv", index=False)


def main():
    """Record all runs, or a part of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="RUNS")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--actions", type=int, default=ACTIONS)
    parser.add_argument("--collect", action="store_true")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    plan = [
        (run, int(seed)) for seed in options.seeds.split(",") for run in options.runs.split(",")
    ]
    for run, seed in [] if options.collect else plan[first::step]:
        record(run, seed, options.folder, options.actions)
    collect(options.folder)


if __name__ == "__main__":
    main()
