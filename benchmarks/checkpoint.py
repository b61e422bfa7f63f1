"""What a checkpoint takes: python benchmarks/checkpoint.py --network 42-33 --stages 4 --actions 30000000

A process of its own trains by TC, writes a checkpoint three times and says what that took of time
and memory; another one takes the run up from it.  Peaks are VmHWM of /proc/self/status, reset
before each step, so this runs on Linux only.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MIB = 1 << 20


def status(name):
    """Return a number of /proc/self/status in MiB: VmRSS, what is taken now, or VmHWM, its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))


def watched(work):
    """Do some work; return (seconds, MiB before it, the peak of it above that)."""
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begin = time.perf_counter()
    work()
    return round(time.perf_counter() - begin, 2), round(before), round(status("VmHWM") - before)


def write(settings, folder):
    """Train, and write a checkpoint three times."""
    from lib2048 import Run

    run = Run(settings, folder)
    run.learner.play(0, 0, 1)
    run.go(actions=settings.actions // 2, progress=False)
    path = Path(folder, "checkpoint.npz")
    found = [watched(run.save) for _ in range(3)]
    blocks = len(run.arrays()["blocks"])
    return {"step": "write", "seconds": min(took for took, _, _ in found), "stages": blocks,
            "before_mib": found[-1][1], "above_mib": max(above for _, _, above in found),
            "file_mib": round(path.stat().st_size / MIB)}  # fmt: skip


def resume(settings, folder):
    """Take the run up from the checkpoint."""
    from lib2048 import Run

    runs = []
    took, before, above = watched(lambda: runs.append(Run(settings, folder, resume=True)))
    taken = status("VmRSS") - before
    return {"step": "resume", "seconds": took, "before_mib": before, "tables_mib": round(taken),
            "above_mib": round(above - taken)}  # fmt: skip


def main():
    """Measure each step in a process of its own, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="4x6")
    parser.add_argument("--stages", type=int, default=0, metavar="G")
    parser.add_argument("--top", type=int, default=32768)
    parser.add_argument("--actions", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where, by default in the folder for temporary files")
    parser.add_argument("--step", choices=["write", "resume"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        from lib2048 import Settings

        settings = Settings(network=options.network, rule="tc", lam=0.5, stages=options.stages,
                            top=options.top, actions=2 * options.actions,
                            checkpoint_every=1e9)  # fmt: skip
        print(json.dumps(globals()[options.step](settings, options.folder)), flush=True)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        again = [sys.executable, *sys.argv, "--folder", f"{folder}/run", "--step"]
        for step in ("write", "resume"):
            subprocess.run([*again, step], check=True, env=os.environ)


if __name__ == "__main__":
    main()
