"""Say what of all lists is recorded, and prove it: python tools/reproduce.py

Of each list, the first stretches of its recorded runs are repeated, as many as take a minute, and
compared with the rows that are recorded: those of one thread must agree bit for bit, those of
several within their interval.  data/runs/proved.csv keeps the verdicts.

A run counts as recorded where data/curves (or data/weights) has something of it: `current` by the
library's sources of today, or proved by them; `older` by other sources, `unknown` where nobody has
written down by which.
"""

import argparse
import sys
from pathlib import Path

import proof
from collect import DATA, each_name, is_shipped, paths_of

from lib2048.machine.files import read_json
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info
from lib2048.sweep import read_collect, read_list

STATES = ("current", "older", "unknown", "missing")
HEADS = ("list", "core-hours", "runs", *STATES, *proof.VERDICTS)
LEGEND = f"""

current: recorded by today's sources ({SOURCE_HASH}), or proved by them; older: by others; unknown:
nobody wrote by which; missing: not recorded.  Core-hours are those of training on the machine that
recorded it.  Behind them: how many kinds of run (names of a list) were begun again by today's
sources, and came out as recorded, see data/{proof.FILE}.

  lib2048 sweep data/runs/LIST.toml --out RUNS/LIST     makes what a list asks for
  python tools/collect.py RUNS                          brings it into data/curves
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lists", nargs="*", metavar="LIST", help="only these of data/runs, or TOML")
    parser.add_argument("--only", action="append", default=[], metavar="LIST", help="the same")
    parser.add_argument("--data", type=Path, default=DATA, help="instead of data/")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60,
        help="to repeat runs of each list, by default %(default)g; with 0 nothing is run",
    )
    options = parser.parse_args()
    try:
        paths = paths_of(options.lists + options.only)
        lists = [(path.stem, read_list(path), read_collect(path)) for path in paths]
        if options.seconds > 0:
            proof.prove_all(lists, options.seconds, options.data)
        print(text_of([row_of(*each, options.data) for each in lists]) + LEGEND)
    except (ValueError, OSError) as error:
        sys.exit(f"reproduce: {error}")


def row_of(name, jobs, wanted, data):
    """Return what is to be said of a list, a dict by HEADS."""
    done = proof.proved(data)
    known = {
        job.name: found["verdict"]
        for job in jobs
        if (found := done.get((name, job.name))) and found["sources"] == SOURCE_HASH
    }
    states = [state_of({"list": name} | job.about, job, wanted, data, known) for job in jobs]
    row = {"list": name, "core-hours": wanted.hours, "runs": len(jobs)}
    row |= {state: states.count(state) for state in STATES}
    return row | {verdict: [*known.values()].count(verdict) for verdict in proof.VERDICTS}


def state_of(about, job, wanted, data, known):
    """Return one of STATES; known: {name: verdict} of what is proved by today's sources."""
    sources = sources_of(about, job, wanted, data)
    if sources is None:
        return "missing"
    if sources == SOURCE_HASH or known.get(job.name, proof.DIFFERS) != proof.DIFFERS:
        return "current"
    return "older" if sources else "unknown"


def sources_of(about, job, wanted, data):
    """Return the hash of the sources that recorded a job, '' for an unknown one, None for none."""
    if is_shipped(job, wanted):
        return shipped(data / "weights" / f"{job.name}.npz")
    if "each" in wanted.files:
        note = data / "curves" / f"{each_name(wanted, job)}.json"
        return read_json(note)["config"].get("sources", "") if note.exists() else None
    rows = proof.recorded_rows(about, job, wanted, data)
    return next((row["sources"] for _, row in rows if row.get("sources")), "") if rows else None


def shipped(file):
    """Return the sources of the run whose weights a file holds."""
    return info(file)["info"].get("config", {}).get("sources", "") if file.exists() else None


def text_of(rows):
    """Return the table, with a sum behind it."""
    numbers = [{name: row[name] or 0 for name in HEADS[1:]} for row in rows]
    total = {name: sum(row[name] for row in numbers) for name in HEADS[1:]}
    lines = [dict(zip(HEADS, HEADS)), *rows, {"list": "all"} | total]
    lines = [[as_shown(line[name]) for name in HEADS] for line in lines]
    wide = [max(map(len, column)) for column in zip(*lines)]
    text = [
        "  ".join(
            cell.rjust(w) if n else cell.ljust(w) for n, (cell, w) in enumerate(zip(line, wide))
        ).rstrip()
        for line in lines
    ]
    rule = "-" * (sum(wide) + 2 * len(wide) - 2)
    return "\n".join([text[0], rule, *text[1:-1], rule, text[-1]])


def as_shown(cell):
    """Return a cell of the table; nothing stands as a dot, so that the eye finds what is there."""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if cell >= 10 else f"{cell:.2g}"
    return "·" if cell in (0, None) else f"{cell:,}" if isinstance(cell, int) else cell


if __name__ == "__main__":
    main()
