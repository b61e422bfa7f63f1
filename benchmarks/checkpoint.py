"""What a checkpoint takes: python benchmarks/checkpoint.py --network 42-33 --actions 30000000

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
STATUS = Path("/proc/self/status")


def status(name):
    """Return a number of /proc/self/status in MiB: VmRSS, what is taken now, or VmHWM, its peak."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))


def watched(work):
    """Do some work; return what it took: seconds, cpu_s, and in MiB before and above that."""
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    begin, cpu = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": round(time.perf_counter() - begin, 2),
        "cpu_s": round(time.process_time() - cpu, 2),
        "before_mib": round(before),
        "above_mib": round(status("VmHWM") - before),
    }


def write(settings, folder):
    """Train, and write a checkpoint three times."""
    from lib2048 import Run

    run = Run(settings, folder)
    run.learner.play(0, 1)
    run.go(actions=settings.actions // 2, progress=False)
    path = Path(folder, "checkpoint.npz")
    found = min((watched(run.save) for _ in range(3)), key=lambda found: found["cpu_s"])
    blocks = len(run.arrays()["blocks"])
    return {
        "step": "write",
        "stages": blocks,
        **found,
        "file_mib": round(path.stat().st_size / MIB),
    }


def resume(settings, folder):
    """Take the run up from the checkpoint."""
    from lib2048 import Run

    runs = []
    found = watched(lambda: runs.append(Run(settings, folder, resume=True)))
    taken = round(status("VmRSS") - found["before_mib"])
    return {"step": "resume", **found, "tables_mib": taken, "above_mib": found["above_mib"] - taken}


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
    if not STATUS.exists():
        parser.error(f"this runs on Linux only: there is no {STATUS} here")
    if options.step:
        from lib2048 import Settings

        settings = Settings(
            network=options.network,
            rule="tc",
            lam=0.5,
            stages=options.stages,
            top=options.top,
            actions=2 * options.actions,
            checkpoint_every=1e9,
        )
        print(json.dumps(globals()[options.step](settings, options.folder)), flush=True)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        again = [sys.executable, *sys.argv, "--folder", f"{folder}/run", "--step"]
        for step in ("write", "resume"):
            subprocess.run([*again, step], check=True, env=os.environ)


if __name__ == "__main__":
    main()
