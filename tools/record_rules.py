"""Record the learning rules of Jaśkowski's tables I and II: python tools/record_rules.py RUNS

Each run is trained and tested through the command line, exactly as a reader would type it.  What
is finished is skipped, so the script can be stopped and started again; several may share a
folder, each with a `--part`.  About ten hours of one core, all seeds of the first row first.

--seeds 2,3: only these; --actions N: stop there for now, without the 3-ply games (a later call goes
on); --part K/N: only every N-th run, from the K-th on (from 0); --collect: only write the files
of data/curves from what is done.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from command_line import lib2048

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
NAME, SEEDS = "rules_42-33", (1, 2, 3)
ACTIONS, EVERY = 300_000_000, 30_000_000
TEST_SEED, TEST_GAMES = 2048, {1: 1000, 3: 100}  # luck that no training run has had
TRAIN = (
    "train --network 42-33 {rule} --seed {seed} --actions {actions} --eval-every {every} "
    "--eval-games 300 --checkpoint-every 600"
)
TD_RATES = (0.01, 0.1, 0.5, 1.0)
LOOK_UPS = 40  # of 42-33: the other reading of the paper's rates divides by it once more
AUTOSTEP_RATES = (0.001, 0.01, 0.1, 0.4, 0.7, 1.0)
RULES = {
    **{f"tc_{beta}": f"--rule tc --lambda 0.5 --beta {beta}" for beta in (1.0, 0.5, 0.1)},
    **{f"td_{alpha}": f"--rule td --lambda 0.5 --alpha {alpha}" for alpha in TD_RATES},
    "tc_online_1.0": "--rule tc --lambda 0.5 --no-delay --beta 1.0",
    "td_online_0.5": "--rule td --lambda 0.5 --no-delay --alpha 0.5",
    **{f"autostep_{mu}": f"--rule autostep --mu {mu}" for mu in AUTOSTEP_RATES},
    **{f"td_{a}_shared_twice": f"--rule td --lambda 0.5 --alpha {a / LOOK_UPS}" for a in TD_RATES},
}


def record(run, seed, runs, actions):
    """Train and test one run, unless that is done; at the end its weights go, its curves stay."""
    out = runs / f"{run}_seed{seed}"
    done = out / "done.json"
    if done.exists() and json.loads(done.read_text())["actions"] >= actions:
        return
    command = TRAIN.format(rule=RULES[run], seed=seed, actions=actions, every=EVERY)
    report = lib2048(f"{command} --out {out} --resume")
    note = {"run": run, "seed": seed, "command": f"lib2048 {command}"}
    note |= {key: report[key] for key in ("games", "actions", "seconds", "mean_last")}
    note["sources"] = json.loads((out / "config.json").read_text())["sources"]
    for plies, games in TEST_GAMES.items() if actions == ACTIONS else [(1, TEST_GAMES[1])]:
        test = f"play {out}/weights.npz --games {games} --seed {TEST_SEED} --depth {plies}"
        found = lib2048(test)
        note |= {f"{key}_{plies}ply": found[key] for key in ("games", "mean", "ci95")}
    done.write_text(json.dumps(note, indent=2) + "\n")
    if actions == ACTIONS:
        (out / "weights.npz").unlink()


def collect(runs):
    """Write the files of data/curves from all runs that are done."""
    notes = [json.loads(path.read_text()) for path in sorted(runs.glob("*/done.json"))]
    pd.DataFrame(notes).round(1).to_csv(CURVES / f"{NAME}_tests.csv", index=False)
    for kind, columns in (("history", ["games", "actions", "mean"]), ("evaluations", None)):
        frames = []
        for note in notes:
            path = runs / f"{note['run']}_seed{note['seed']}" / f"{kind}.csv"
            frame = pd.read_csv(path, usecols=columns)
            frames.append(frame.assign(run=note["run"], seed=note["seed"]))
        pd.concat(frames).to_csv(CURVES / f"{NAME}_{kind}.csv", index=False)


def main():
    """Record all runs, or a part of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)))
    parser.add_argument("--actions", type=int, default=ACTIONS)
    parser.add_argument("--collect", action="store_true")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    plan = [(run, int(seed)) for seed in options.seeds.split(",") for run in RULES]
    for run, seed in [] if options.collect else plan[first::step]:
        record(run, seed, options.runs, options.actions)
    collect(options.runs)


if __name__ == "__main__":
    main()
