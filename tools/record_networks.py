"""Record what networks do and believe: nice python tools/record_networks.py WHAT FILE …

WHAT is `search_errors` (how wrong a network is on boards that only a 3-ply search visits, beside
those of its own play; `lib2048.course.search_errors`), `survival` (how far its games come, and how
wrong it is on the way; `lib2048.course.survival`) or `continued` (what a search makes of boards on
the way, beside play at 1-ply; there, too), a table of data/curves.  A FILE is a shipped network, or
weights.npz or quarter.npz in a run's folder; its rows take the place of those of the same name and
number of actions.

    --states N    search_errors: of the network's own games, behind which leaves are drawn
    --times N     search_errors: games played on from a leaf, for each half; continued: from a board
    --plies N     survival: how the games are played, 1; continued: of the search, 3
    --games N     survival: how many
    --sum N       continued: of the tiles on the boards
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from lib2048 import load
from lib2048.course.search_errors import errors, leaves, summed_errors
from lib2048.course.survival import continued, survival
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"
OF_RUN = ("weights", "quarter")  # files in the folder of a run, whose name says more


def search_errors(network, options):
    """Return the rows of a network, and what they are known by beside it."""
    found = errors(network, leaves(network, options.states), options.times)
    return summed_errors(found).reset_index().assign(times=options.times), ["kind"]


def survived(network, options):
    """Return the rows of a network, and what they are known by beside it."""
    plies = options.plies or 1
    rows = survival(network, plies, options.games)
    return rows.assign(plies=plies, of=options.games), ["plies", "of"]


def played_on(network, options):
    """Return the rows of a network, and what they are known by beside it."""
    plies = options.plies or 3
    row = continued(network, options.sum, times=options.times, plies=plies)
    return row.assign(plies=plies, times=options.times), ["plies", "sum"]


WHAT = {"search_errors": search_errors, "survival": survived, "continued": played_on}


def main():
    """Record the rows of each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--states", type=int, default=800)
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--plies", type=int)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--sum", type=int, default=24576)
    parser.add_argument("--actions", type=int, help="that it learned from, if the file has no word")
    options = parser.parse_args()
    for file in options.files:
        rows, keys = WHAT[options.what](load(file, to_play=True), options)
        keys = ["network", "actions", *keys]
        rows = rows.assign(**named(file, options))
        rows = rows[keys + [name for name in rows if name not in keys]]
        print(rows.to_string(), flush=True)
        replace(f"{options.what}.csv", rows, keys)


def named(file, options):
    """Return what a file's network is called, and how many actions it has learned from."""
    name = file.parent.name if file.stem in OF_RUN else file.stem
    about = info(file)["info"]
    learned = options.actions or about.get("actions") or about["config"]["actions"]
    return {"network": re.sub(r"-(quarter|seed\d+)$", "", name), "actions": learned}


def replace(name, rows, keys):
    """Put rows into a file of data/curves, in place of those that are alike by some columns."""
    path, rows = CURVES / name, rows.assign(sources=SOURCE_HASH)
    if path.exists():
        old, new = pd.read_csv(path, dtype={"formation": str}), rows.set_index(keys).index
        rows = pd.concat([old[~old.set_index(keys).index.isin(new)], rows])
    rows.to_csv(path, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
