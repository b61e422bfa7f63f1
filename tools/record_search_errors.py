"""Record data/curves/search_errors.csv: nice python tools/record_search_errors.py FILE …

How wrong is a network on boards that only a 3-ply search visits, beside those of its own play?  A
FILE is a shipped network, or weights.npz or quarter.npz in a run's folder; its rows take the place
of those of the same name and number of actions.  See `lib2048.course.search_errors`.

    --states N    of the network's own games, behind which leaves are drawn
    --times N     games played on from a leaf, for each half
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from lib2048 import load
from lib2048.course.search_errors import errors, leaves, summed_errors
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info

CSV = Path(__file__).resolve().parents[1] / "data" / "curves" / "search_errors.csv"
OF_RUN = ("weights", "quarter")  # files in the folder of a run, whose name says more
KEYS = ["network", "actions", "kind"]


def main():
    """Record the rows of each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--states", type=int, default=800)
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--actions", type=int, help="that it learned from, if the file has no word")
    options = parser.parse_args()
    for file in options.files:
        rows = rows_of(file, options)
        print(rows.to_string(), flush=True)
        replace(rows)


def rows_of(file, options):
    """Return the rows of one file."""
    network = load(file, to_play=True)
    found = errors(network, leaves(network, options.states), options.times)
    name = file.parent.name if file.stem in OF_RUN else file.stem
    about = {"network": re.sub(r"-(quarter|seed\d+)$", "", name)}
    about |= {"actions": options.actions or learned(file)}
    rows = summed_errors(found).reset_index().assign(**about, times=options.times)
    rows = rows.assign(sources=SOURCE_HASH)
    return rows[KEYS + [name for name in rows if name not in KEYS]]


def learned(file):
    """Return how many actions a file's weights have learned from."""
    about = info(file)["info"]
    return about.get("actions") or about["config"]["actions"]


def replace(rows):
    """Put rows into the file, in place of those that are of the same."""
    if CSV.exists():
        old, new = pd.read_csv(CSV), rows.set_index(KEYS).index
        rows = pd.concat([old[~old.set_index(KEYS).index.isin(new)], rows])
    rows.to_csv(CSV, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
