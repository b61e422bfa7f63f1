"""Keep the first filters of a trained CNN: python tools/record_filters.py WEIGHTS

WEIGHTS: the weights.safetensors of the run value_lesson/lesson-seed1 (see data/runs).  Writes
data/curves/value_filters.csv: a row for each `filter` and `cell` of its 2×2 window (row-major), and
a column for each exponent that may stand there.
"""

import sys
from pathlib import Path

import pandas as pd

from lib2048 import load

CURVES = Path(__file__).resolve().parents[1] / "data" / "curves"


def main():
    """Write the file."""
    weights = load(sys.argv[1]).module.first.linear.weight.detach().numpy().reshape(-1, 16)
    numbers = [range(len(weights) // 4), range(4)]
    rows = pd.MultiIndex.from_product(numbers, names=("filter", "cell"))
    pd.DataFrame(weights, rows).round(4).to_csv(CURVES / "value_filters.csv")


if __name__ == "__main__":
    main()
