"""Statistics: against formulas by hand, a worked example, scipy's own tests, and by simulation."""

import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lib2048 import compare, compare_groups, interval, mean_ci95
from lib2048.play.statistics import Comparison, compare_printed, printed_deviation

# Student (1908), "The probable error of a mean", Biometrika 6: hours of sleep gained by ten
# patients with each of two drugs.  As R's help page `?sleep` and textbooks have it:
# Welch t = −1.8608, df = 17.776, p = 0.07939, interval −3.365 to 0.205;
# paired t = −4.0621, df = 9, p = 0.002833, interval −2.460 to −0.700.
ONE = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
TWO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

A, B = [1200.0, 1350.0, 1100.0], [900.0, 1000.0, 1120.0, 860.0]

seeds = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=2, max_size=8)


def ends(told):
    return told.low, told.high


# ---------------------------------------------------------------- the numbers


def test_the_worked_example_of_student():
    told = compare(ONE, TWO)
    assert told.difference == pytest.approx(-1.58)
    assert ends(told) == pytest.approx((-3.3654832, 0.2054832), abs=1e-6)
    assert told.p_value == pytest.approx(0.07939, abs=5e-6)
    assert told.verdict == "not decided"
    told = compare(ONE, TWO, paired=True)
    assert told.difference == pytest.approx(-1.58)
    assert ends(told) == pytest.approx((-2.4598858, -0.7001142), abs=1e-6)
    assert told.p_value == pytest.approx(0.002833, abs=5e-7)
    assert told.verdict == "less"


@given(seeds, seeds, st.sampled_from([0.8, 0.95, 0.99]))
def test_scipy_says_the_same(a, b, level):
    if min(np.ptp(a), np.ptp(b)) < 0.1:  # scipy warns of lost digits
        return
    theirs = stats.ttest_ind(a, b, equal_var=False)
    told = compare(a, b, level=level)
    assert ends(told) == pytest.approx(tuple(theirs.confidence_interval(level)), rel=1e-6, abs=1e-6)
    assert told.p_value == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-9)
    alone = stats.ttest_1samp(a, 0).confidence_interval(level)
    assert interval(a, level) == pytest.approx((np.mean(a), (alone.high - alone.low) / 2))


@given(st.lists(st.tuples(st.integers(-999, 999), st.integers(-999, 999)), min_size=2, max_size=8))
def test_scipy_says_the_same_of_pairs(pairs):
    a, b = np.array(pairs).T
    if np.ptp(a - b) == 0:
        return
    theirs, told = stats.ttest_rel(a, b), compare(a, b, paired=True)
    assert ends(told) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
    assert told.p_value == pytest.approx(theirs.pvalue)


def test_games_in_the_place_of_seeds_find_what_is_not_there():
    """Why seeds are the unit: two equal methods, three networks each, 300 games of each network."""
    random, by_games, by_seeds = np.random.default_rng(9), 0, 0
    for _ in range(400):
        networks = random.normal(1000, 100, (2, 3, 1))
        games = networks + random.normal(0, 500, (2, 3, 300))
        by_games += compare(*games.reshape(2, -1)).verdict != "not decided"
        by_seeds += compare(*games.mean(2)).verdict != "not decided"
    assert by_games > 0.4 * 400 and by_seeds < 0.08 * 400


def test_printed_means_and_deviations_tell_what_their_seeds_tell():
    printed = [(np.mean(one), np.std(one, ddof=1), len(one)) for one in (A, B)]
    told, wanted = compare_printed(*printed), compare(A, B)
    assert ends(told) == pytest.approx(ends(wanted))
    assert told.percent == pytest.approx(wanted.percent)
    with pytest.raises(ValueError, match="b has 1 seeds"):
        compare_printed(printed[0], (5.0, 0.0, 1))


def test_a_printed_interval_tells_of_the_deviation():
    assert printed_deviation(interval(B)[1], len(B)) == pytest.approx(np.std(B, ddof=1))


# ---------------------------------------------------------------- seeds without spread


def test_no_spread_at_all():
    same = compare([0.1, 0.1, 0.1], [0.1, 0.1])
    assert (same.difference, *ends(same), same.p_value) == (0, 0, 0, 1)
    assert (same.verdict, same.half) == ("not decided", 0)
    above = compare([3, 3], [1, 1])
    assert (*ends(above), above.p_value, above.verdict) == (2, 2, 0, "more")
    pairs = compare([5, 7, 9], [6, 8, 10], paired=True)
    assert (*ends(pairs), pairs.p_value, pairs.verdict) == (-1, -1, 0, "less")
    assert interval([0.3, 0.3, 0.3]) == (0.3, 0)


def test_one_side_without_spread_leaves_the_other_its_freedom():
    told = compare([4, 4, 4], [1, 2, 3])
    alone = stats.t.ppf(0.975, 2) / math.sqrt(3)
    assert (told.difference, told.half) == pytest.approx((2, alone))


# ---------------------------------------------------------------- verdicts and words


def told(low, high, base=100.0):
    return Comparison((low + high) / 2, low, high, 0.95, base, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1e-12, 1, "more"),
        (0, 1, "not decided"),
        (-1, 1, "not decided"),
        (-1, 0, "not decided"),
        (-1, -1e-12, "less"),
        (0, 0, "not decided"),
        (-math.inf, math.inf, "not decided"),
    ],
)
def test_verdicts(low, high, verdict):
    assert told(low, high).verdict == verdict


def test_what_it_says():
    assert str(told(10_245, 14_445)) == "+12,345 ± 2,100 (95 %): more"
    assert repr(told(-3, 1)) == "<-1.0 ± 2.0 (95 %): not decided>"
    assert str(told(-0.35, -0.15)) == "-0.25 ± 0.10 (95 %): less"
    assert str(compare([1, 1], [1, 1], level=0.999)) == "+0 ± 0 (99.9 %): not decided"
    assert str(compare([3, 3], [1, 1])) == "+2.0 ± 0.0 (95 %): more"
    alone = Comparison(5, -math.inf, math.inf, 0.95, 1, math.nan)
    assert str(alone) == "+5 ± inf (95 %): not decided"


def test_per_cent_keeps_the_sign_and_has_none_of_zero():
    found = compare(A, B)
    percent = 100 * np.array([found.difference, found.half]) / 970
    assert (found.base, found.percent, found.percent_half) == pytest.approx((970, *percent))
    assert (told(10, 30, 200.0).percent, told(10, 30, 200.0).percent_half) == (10, 5)
    assert told(10, 30, -200.0).percent == 10
    assert math.isnan(told(10, 30, 0.0).percent)


# ---------------------------------------------------------------- what is refused


LEAST = "two are the least: seeds are the unit"
SHARE = "between 0 and 1, such as 0.95"
REFUSED = [
    *((lambda few=few: compare(few, A), LEAST) for few in ([], [5], 5.0, np.float64(7))),
    (lambda: compare(A, [5]), LEAST),
    (lambda: interval([5]), LEAST),
    *((lambda bad=bad: compare([1, bad], A), "nan or inf") for bad in (math.nan, -math.inf)),
    (lambda: compare(A, [math.inf, 2, 3], paired=True), "nan or inf"),
    (lambda: interval([1, 2, math.nan]), "nan or inf"),
    (lambda: compare(np.ones((3, 10)), B), "a has shape (3, 10): one number a seed"),
    (lambda: compare(A, B, paired=True), "a has 3 seeds and b 4"),
    *((lambda x=x: compare(A, B, level=x), SHARE) for x in (0, 1, 95, -0.5, math.nan)),
    (lambda: interval(A, 0), SHARE),
    (lambda: of_groups(value="score"), "no column 'score'; there are run, seed, mean"),
    (lambda: of_groups(against="best"), "no group 'best'; there are plain, new, old, one"),
    (lambda: of_groups(pd.concat([a_table(), a_table()])), "plain holds a seed twice"),
    (lambda: of_groups(a_table().replace(22, math.nan)), "nan"),
]  # fmt: skip


@pytest.mark.parametrize("call, said", REFUSED)
def test_what_cannot_be_compared_is_refused_in_one_line(refused, call, said):
    refused(call, said)


def test_what_comes_in_may_be_any_kind_of_array_and_stays_as_it_is():
    want, series = compare(A, B), pd.Series(A, index=[7, 8, 9])
    assert compare(tuple(A), np.array(B, np.float32)) == want == compare(series, pd.Series(B))
    assert series.tolist() == A


# ---------------------------------------------------------------- a table of groups


def a_table():
    scores = {"plain": [10, 12, 14], "new": [20, 22, 21], "old": [11, 12, 14.5], "one": [30]}
    rows = [(run, s, x) for run in scores for s, x in enumerate(scores[run], 1)]
    return pd.DataFrame(rows, columns=["run", "seed", "mean"])


def test_groups_are_compared_one_by_one():
    table = compare_groups(a_table(), "run", "mean", "plain")
    assert list(table.index) == ["new", "old", "one"]
    want = compare([20, 22, 21], [10, 12, 14])
    row = table.loc["new"]
    assert (row.seeds, row["mean"], row.verdict) == (3, 21, "more")
    assert tuple(row[["difference", "low", "high", "percent"]]) == pytest.approx(
        (want.difference, want.low, want.high, want.percent)
    )
    assert table.loc["old", "verdict"] == "not decided"
    assert "3 comparisons with plain" in table.to_string()
    assert table.index.name == "run"


def test_one_seed_decides_nothing():
    row = compare_groups(a_table(), "run", "mean", "plain").loc["one"]
    assert (row.seeds, row.difference, row.low, row.high) == (1, 18, -math.inf, math.inf)
    assert row.verdict == "not decided"
    table = compare_groups(a_table(), "run", "mean", "one")
    assert set(table.verdict) == {"not decided"}


def test_a_table_with_the_group_alone_makes_no_comparison():
    table = compare_groups(a_table().query("run == 'plain'"), "run", "mean", "plain")
    assert len(table) == 0 and table.columns.name == "0 comparisons with plain"


def of_groups(table=None, value="mean", against="plain"):
    return compare_groups(a_table() if table is None else table, "run", value, against)


# ---------------------------------------------------------------- many games of one player


def test_mean_and_interval():
    mean, ci95 = mean_ci95([100, 300, 1000, 2000])
    spread = math.sqrt(sum((s - 850) ** 2 for s in (100, 300, 1000, 2000)) / 3)
    assert (mean, ci95) == (850.0, pytest.approx(1.96 * spread / 2))


def test_few_games_have_no_interval():
    assert mean_ci95([7]) == (7.0, math.inf)
    mean, ci95 = mean_ci95([])
    assert math.isnan(mean) and ci95 == math.inf


def test_scipy_is_loaded_at_the_first_comparison():
    program = (
        "import sys, lib2048; heavy = 'scipy.special'; assert heavy not in sys.modules;"
        "lib2048.mean_ci95([1, 2]); assert heavy not in sys.modules;"
        "lib2048.compare([1, 2], [3, 4]); assert heavy in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
