"""Two tables of the papers beside our own runs: Jaśkowski's rules, and Matsuzaki's variants.

Table I of Jaśkowski (2018) has learning rules and their rates.  Matsuzaki (2021, Section 3) changed
one thing at a time and trained each variant of CNN22 five times, for 24 hours; our lists of runs
(`data/runs`) ask the same at equal numbers of positions.  A variant is compared with the reference
of its experiment; data/curves/value_variants.csv says which row and run is what.
"""

from math import nan

import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.play.statistics import compare, compare_groups, compare_printed

EARLY, LATE = 90_000_000, 300_000_000  # actions that three seeds have, and that one has
BEST = "tc_1.0"  # of which `late` has three seeds as long: its run of one stage
ACTIONS, TRAININGS = 500_000, 5  # actions: of our runs; trainings: of each of the paper's


def table_one():
    """Return the table: a pandas frame, a row a rule and rate, named as our runs, such as td_0.1.

    Test games of 42-33, points.  early: ours after 9·10⁷ actions, the mean of all seeds (three; two
    of autostep_1.0), 1-ply; verdict: of `compare`, against tc_1.0, by these; late_1ply, late_3ply:
    after 3·10⁸ actions, seed 1 (of tc_1.0, three seeds); paper_1ply, paper_3ply: after 10¹⁰.
    TD's rates are ours: lesson 09 says why the paper's mean a fortieth.  ``.columns.name`` says how
    many comparisons there are.
    """
    paper = read_table("published/jaskowski2018_table1_learning_rules")
    paper = paper.assign(run=paper["rule"].str.lower() + "_" + paper["rate"].astype(str))
    theirs = paper.pivot(index="run", columns="depth_ply", values="score_mean")
    tests = read_table("curves/rules_42-33_evaluations")
    tests = tests[(tests["actions"] == EARLY) & tests["run"].isin(paper["run"])]
    told = compare_groups(tests, "run", "mean", against=BEST)
    late = _late()
    table = pd.DataFrame({
        "early": tests.groupby("run")["mean"].mean(), "verdict": told["verdict"],
        "late_1ply": late["mean_1ply"], "late_3ply": late["mean_3ply"],
        "paper_1ply": theirs[1], "paper_3ply": theirs[3],
    })  # fmt: skip
    return table.loc[paper["run"].unique()].rename_axis(columns=told.columns.name)


def _late():
    """Return the mean scores of the longest runs, a row a run."""
    ours = read_table("curves/rules_42-33_tests")
    more = read_table("curves/late_42-33_tests")
    more = more[(more["run"] == "one_stage") & (more["seed"] > 1)].assign(run=BEST)
    both = pd.concat([ours, more])
    return both[both["actions"] == LATE].groupby("run")[["mean_1ply", "mean_3ply"]].mean()


# ---------------------------------------------------------------- variants


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
