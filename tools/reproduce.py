"""Say what of all lists is recorded, and what it would take to make it: python tools/reproduce.py

Nothing is run.  A run counts as recorded where data/curves (or data/weights) has something of it:
`current` by the library's sources of today, `older` by other sources, `unknown` where nobody has
written down by which.
"""

import argparse
import sys
from functools import cache
from pathlib import Path

from collect import DATA, as_row, each_name, is_about, is_shipped, paths_of, read_rows

from lib2048.machine.files import read_json
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info
from lib2048.sweep import read_collect, read_list

STATES = ("current", "older", "unknown", "missing")
HEADS = ("list", "core-hours", "runs", *STATES)
LEGEND = f"""

current: recorded by today's sources ({SOURCE_HASH}); older: by others; unknown: nobody wrote by
which; missing: not recorded.  Core-hours are those of training on the machine that recorded it.

  lib2048 sweep data/runs/LIST.toml --out RUNS/LIST     makes what a list asks for
  python tools/collect.py RUNS                          brings it into data/curves
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lists", nargs="*", metavar="LIST", help="only these of data/runs, or TOML")
    parser.add_argument("--data", type=Path, default=DATA, help="instead of data/")
    options = parser.parse_args()
    try:
        print(text_of([row_of(path, options.data) for path in paths_of(options.lists)]) + LEGEND)
    except (ValueError, OSError) as error:
        sys.exit(f"reproduce: {error}")


def row_of(path, data):
    """Return what is to be said of a list, a dict by HEADS."""
    jobs, wanted = read_list(path), read_collect(path)
    states = [state_of({"list": path.stem} | job.about, job, wanted, data) for job in jobs]
    row = {"list": path.stem, "core-hours": wanted.hours, "runs": len(jobs)}
    return row | {state: states.count(state) for state in STATES}


def state_of(about, job, wanted, data):
    """Return one of STATES."""
    sources = sources_of(about, job, wanted, data)
    if sources is None:
        return "missing"
    return ("current" if sources == SOURCE_HASH else "older") if sources else "unknown"


def sources_of(about, job, wanted, data):
    """Return the hash of the sources that recorded a job, '' for an unknown one, None for none."""
    if is_shipped(job, wanted):
        return shipped(data / "weights" / f"{job.name}.npz")
    if "each" in wanted.files:
        note = data / "curves" / f"{each_name(wanted, job)}.json"
        return read_json(note)["config"].get("sources", "") if note.exists() else None
    files = [read_cached(data / "curves" / f"{file}.csv") for file in wanted.files.values()]
    rows = [
        row
        for old, rows in files
        for row in rows
        if is_about(row, as_row(about, [name for name in about if name in old]))
    ]
    return next((row["sources"] for row in rows if row.get("sources")), "") if rows else None


read_cached = cache(read_rows)


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
