"""The command line of sweeps: lib2048 sweep LIST.toml --out DIR"""

import contextlib
import re
import sys

from lib2048.machine import process
from lib2048.machine.printed import table
from lib2048.sweep.carrying_out import check_jobs, connected, run_sweep
from lib2048.sweep.lists import chosen, read_list
from lib2048.train.watching import Stopped

MOST_WORKERS = 1024
UNITS = {"": 0, "B": 0, "KIB": 10, "MIB": 20, "GIB": 30, "TIB": 40}


def add(commands):
    """Add the command to the command line; commands: of argparse."""
    many = commands.add_parser("sweep", help="carry out a list of runs, several at a time")
    many.add_argument("list", metavar="LIST", help="a TOML file, as in data/runs")
    text = "folder for the runs' folders, NAME-seedN"
    many.add_argument("--out", required=True, metavar="DIR", help=text)
    where = many.add_mutually_exclusive_group()
    text = "runs at a time on this machine; by default as many as it has cores for"
    where.add_argument("--workers", type=int, metavar="N", help=text)
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, tcp://…:8786")
    text = "this one, or NAME-seedN; say it again for more"
    many.add_argument("--only", action="append", metavar="NAME", help=text)
    text = "for all runs of a machine together, such as 12GiB; by default what is free there"
    many.add_argument("--memory", metavar="SIZE", help=text)
    text = "only say what is to be done, and how much memory it takes"
    many.add_argument("--dry-run", action="store_true", help=text)


def run(options):
    """Carry out the command; return (what --json prints, the text, the exit status)."""
    workers, memory = options.workers, _bytes(options.memory)
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise ValueError(f"workers {workers}: use a whole number from 1 to {MOST_WORKERS}")
    jobs = chosen(read_list(options.list), options.only)
    states = check_jobs(jobs, options.out, memory)  # what is wrong is said before any connection
    if options.dry_run:
        return _listed(jobs, options.out, states)
    status = 0
    with connected(options.scheduler) if options.scheduler else contextlib.nullcontext() as client:
        try:
            report = run_sweep(jobs, options.out, client, workers, memory)
        except Stopped as stopped:
            status = process.stopped(f"{stopped}; the same command goes on")
            report = stopped.run
    for outcome in report.outcomes:
        if outcome.state == "failed":
            print(f"lib2048: {outcome}", file=sys.stderr)
    return report.as_dict(), str(report), status


def _listed(jobs, folder, states):
    """Return what there is to do, as data and as text."""
    rows = [
        {"name": job.label, "state": state, "bytes": job.needs(folder), "threads": job.threads}
        for job, state in zip(jobs, states, strict=True)
    ]
    counts = {"runs": len(jobs), "finished": 0, "skipped": states.count("finished"), "failed": 0}
    told = [(row["name"], row["state"], row["bytes"] / 2**20, row["threads"]) for row in rows]
    text = table(("run", "state", ">memory, MiB", ">threads"), told)
    return counts | {"seconds": 0.0, "jobs": rows}, text


def _bytes(text):
    """Return the bytes of a size such as '12GiB', '1.5 GiB' or '800000000'; None for None."""
    if text is None:
        return None
    said = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,3})?) ?([KMGT]IB|B?)", text.strip().upper())
    if said is None:
        raise ValueError(f"memory {text!r}: write a size such as 12GiB or 800MiB")
    return int(float(said[1]) * 2 ** UNITS[said[2]])
