"""Runs that are killed by signal 9 at random times: python tests/kills.py --kills 100

A chain is one run, begun and resumed by `lib2048 train` and killed again and again: while it
starts, compiles, takes up its checkpoint, plays or writes.  After every kill the last checkpoint
must be whole and no older than the one before; in the end the run must be, bit for bit, one that
was never killed.
"""

import argparse
import itertools
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lib2048 import Run, Settings
from lib2048.learn.records import ACTIONS, ROWS
from lib2048.machine.arrays import Archive, check_seal
from lib2048.machine.lock import locked
from lib2048.train.folder import LOCK
from lib2048.train.history import EVALUATION_COLUMNS

OTHERS = {"stages.csv", "evaluations.csv", "weights.safetensors"}  # which some runs write
SPEED = EVALUATION_COLUMNS.index("moves_per_s")  # of test games, another one each time

CHAINS = [
    {"network": "cells:0123,4567"},
    {"network": "cells:0123,4567", "rule": "tc", "lambda": 0.5, "stages": 2, "top": 64,
     "starts": "carousel"},
    {"network": "cells:01234,4567", "rule": "autostep", "starts": "restart"},
    {"network": "cells:0123,4567", "form": "q", "order": "backward"},
    {"network": "cells:0145@2x2", "rule": "tc"},
    {"network": "cnn22sss"},
    {"network": "policy"},
]  # fmt: skip
SWEPT = CHAINS[0], {"network": "cells:0123,4567", "rule": "tc", "lambda": 0.5}  # by one sweep


def endless(options, folder):
    """Return the words of a command that trains forever; options: {name: value, True for none}."""
    said = [(f"--{n.replace('_', '-')}", *([] if x is True else [x])) for n, x in options.items()]
    words = ["train", *itertools.chain(*said), "--actions", 10**13, "--out", folder]
    return list(map(str, words))


def endless_sweep(folder):
    """Return the words of a sweep of two runs, SWEPT, that would train forever in a folder."""
    lines = ["[defaults]", f"actions = {10**13}", "checkpoint-every = 0.05"]
    for number, options in enumerate(SWEPT):
        lines += ["[[run]]", f'name = "r{number}"', *(f"{n} = {x!r}" for n, x in options.items())]
    (folder / "list.toml").write_text("\n".join(lines))
    return ["sweep", str(folder / "list.toml"), "--out", str(folder / "runs"), "--workers", "2"]


def start(words):
    """Begin or resume, in a process of its own, what would go on forever."""
    command = [sys.executable, "-m", "lib2048.cli", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes)


def written(folder):
    """Return when the checkpoint was written last."""
    path = folder / "checkpoint.npz"
    return path.stat().st_mtime_ns if path.exists() else 0


def saved(process, folder, times=1):
    """Wait until a process has written its checkpoint so many times; return the process."""
    for _ in range(times):
        before = written(folder)
        while written(folder) == before:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
    return process


def kill(process, folder, random):
    """Kill a process at a random time: any, or soon after a checkpoint; return what it said."""
    before, end = written(folder), time.monotonic() + float(random.uniform(0, 8))
    if random.random() < 0.6:
        while written(folder) == before and process.poll() is None:
            time.sleep(0.005)
        end = time.monotonic() + float(random.uniform(0, 0.4))
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    return process.communicate()[1]


def kept(folder):
    """Return how many actions and games the folder's checkpoint has, once it is checked."""
    if not (folder / "checkpoint.npz").exists():
        return 0, 0
    with Archive(folder / "checkpoint.npz") as archive:
        check_seal(archive)
        before = archive["batch_before"] if "batch_before" in archive else 0  # of a policy
        return int(before + archive["counters"][ACTIONS]), len(archive["history"])


def chain(options, kills, random, folder):
    """Kill a run so many times; raise AssertionError where something is lost or another."""
    before = 0, 0
    for _ in range(kills):
        process = start([*endless(options, folder), "--checkpoint-every", "0.05", "--resume"])
        said = kill(process, folder, random)
        assert process.returncode == -signal.SIGKILL, said
        now = kept(folder)
        assert now >= before, (now, before)
        before = now
    same_as_straight(options, before[0] + 5000, folder)


def sweep_chain(kills, random, folder):
    """Kill a sweep so many times, as `chain` kills a run: its runs end with it."""
    folder.mkdir()
    words, before = endless_sweep(folder), [(0, 0)] * len(SWEPT)
    runs = [folder / "runs" / f"r{number}-seed1" for number in range(len(SWEPT))]
    for _ in range(kills):
        process = start(words)
        said = kill(process, runs[0], random)
        assert process.returncode == -signal.SIGKILL, said
        now = list(map(kept, runs))
        assert all(new >= old for new, old in zip(now, before)), (now, before)
        before = now
    for options, run in zip(SWEPT, runs):
        with locked(run / LOCK, 60):  # until its process has ended
            pass
        same_as_straight(options, kept(run)[0] + 5000, run)


def same_as_straight(options, actions, folder):
    """Go on with a killed run; it must end as one that nobody has killed."""
    settings = Settings.from_config(options | {"actions": actions})
    runs = [Run(settings, folder, resume=True), Run(settings)]
    for run in runs:
        run.go(progress=False)
    one, other = ({n: np.asarray(array) for n, array in run.arrays().items()} for run in runs)
    for arrays in (one, other):
        arrays["counters"][ROWS] = 0  # games that ended in the last chunk
        arrays["evaluations"] = np.delete(arrays["evaluations"], SPEED, axis=1)
    for name in one.keys() - {"seconds", "history"}:
        np.testing.assert_array_equal(one[name], other[name], name)
    columns = [0, 1, 2, 4, 5]  # without the clock
    np.testing.assert_array_equal(one["history"][:, columns], other["history"][:, columns])
    names = {path.name for path in folder.iterdir()}
    assert names - OTHERS == {"config.json", "history.csv", "weights.npz"}, names


def main():
    """Kill runs of every kind in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random, each = np.random.default_rng(options.seed), -(-options.kills // (len(CHAINS) + 1))
    with tempfile.TemporaryDirectory() as place:
        for number, settings in enumerate(CHAINS):
            print(settings, flush=True)
            chain(settings, each, random, Path(place) / str(number))
        print("a sweep", flush=True)
        sweep_chain(each, random, Path(place) / "sweep")
    print(f"{each * (len(CHAINS) + 1)} kills: nothing lost")


if __name__ == "__main__":
    main()
