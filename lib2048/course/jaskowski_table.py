"""Table I of Jaśkowski (2018), learning rules and their rates, with our own runs beside it."""

import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.play.statistics import compare_groups

PAPER = "jaskowski2018_table1_learning_rules"
EARLY, LATE = 90_000_000, 300_000_000  # actions that three seeds have, and that one has
BEST = "tc_1.0"  # of which `late` has three seeds as long: its run of one stage


def table_one():
    """Return the table: a pandas frame, a row a rule and rate, named as our runs, such as td_0.1.

    Test games of 42-33, points.  early: ours after 9·10⁷ actions, the mean of all seeds (three; two
    of autostep_1.0), 1-ply; verdict: of `compare`, against tc_1.0, by these; late_1ply, late_3ply:
    after 3·10⁸ actions, seed 1 (of tc_1.0, three seeds); paper_1ply, paper_3ply: after 10¹⁰.
    TD's rates are ours: lesson 09 says why the paper's mean a fortieth.  ``.columns.name`` says how
    many comparisons there are.
    """
    paper = read_table(f"published/{PAPER}")
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
