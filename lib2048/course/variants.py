"""What Matsuzaki (2021, Section 3) varied in training, his results, and those of our own runs.

He changed one thing at a time and trained each variant of CNN22 five times, for 24 hours.  Our
lists of runs (`data/runs`) ask the same at equal numbers of positions.  A variant is compared with
the reference of its experiment; data/curves/value_variants.csv says which row and run is what.
"""

from math import nan

import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.play.statistics import compare, compare_printed

ACTIONS, TRAININGS = 500_000, 5  # actions: of our runs; trainings: of each of the paper's


def paper_variants():
    """Return the paper's variants and their results: a pandas frame, indexed by variant.

    experiment: 'batches', 'symmetry', 'networks' or 'starts'; against: its reference; changes: what
    differs from that, in words; score, reference: points of the two; percent: how far the score is
    above the reference (below: a minus); half: half the width of the 95 % interval of that, in per
    cent; verdict: by the rule of `compare`, from the printed means and deviations of five
    trainings; per_hour: positions that it learned from in an hour, nan where nothing is printed.
    """
    variants = read_table("curves/value_variants")
    rows = [_row(*place) for place in zip(variants["table"], variants["row"], strict=True)]
    printed = [(float(row.score_mean), float(row.score_sd), TRAININGS) for row in rows]
    told = _judged(variants, printed, compare_printed, score=lambda found: found[0])
    speeds = dict(zip(variants["variant"], (getattr(r, "positions_per_h", nan) for r in rows)))
    return told.assign(per_hour=told.index.map(speeds))


def recorded_variants(tests=None, seeds=3):
    """Return the same of our own runs, after half a million positions each.

    A variant stands there once it and its reference have so many seeds.

    Args:
        tests: a frame such as data/curves/value_tests.csv, which is the default.
    """
    tests = read_table("curves/value_tests") if tests is None else tests
    tests = tests[(tests["plies"] == 1) & (tests["actions"] == ACTIONS)]
    means = dict(iter(tests.groupby(tests["list"] + "/" + tests["run"])["mean"]))
    variants = read_table("curves/value_variants")
    found = [means.get(run, ()) for run in variants["run"]]
    found = [one if len(one) >= seeds else None for one in found]
    return _judged(variants, found, compare, score=lambda found: found.mean())


def _judged(variants, found, judge, score):
    """Return the frame of both: found is what judge takes of each row of variants, or None."""
    columns = ["variant", "experiment", "against", "changes", "score", "reference", "percent",
               "half", "verdict"]  # fmt: skip
    rows, reference = [], None
    for row, one in zip(variants.itertuples(), found, strict=True):
        if isinstance(row.changes, float):  # empty: the first row of an experiment
            against, reference = row.variant, one
        elif one is not None and reference is not None:
            told = judge(one, reference)
            differs = (told.base, told.percent, told.percent_half, told.verdict)
            rows.append((row.variant, row.experiment, against, row.changes, score(one), *differs))
    return pd.DataFrame(rows, columns=columns).set_index("variant")


def _row(table, row):
    """Return a row of one of the paper's tables."""
    [found] = read_table(f"published/matsuzaki2021_{table}").query(row).itertuples()
    return found
