"""Which player is better?  Means with their intervals, and one way to compare them.

The games of one network tell how well *it* plays (`mean_ci95`).  Whether a *method* is better is
another question, and there the networks are the sample: one number a seed (`interval`, `compare`).
"""

import math
from dataclasses import dataclass

import numpy as np

from lib2048.machine.extras import package


def mean_ci95(scores):
    """Return (mean, half width of its 95 % confidence interval) of game scores.

    One game alone has an infinite interval, none has nan.

    Args:
        scores: array; the interval is 1.96 standard deviations of the mean, from the sample's own
            spread.
    """
    scores = np.asarray(scores, np.float64)
    if len(scores) < 2:
        return (float(scores.mean()) if len(scores) else float("nan")), float("inf")
    return float(scores.mean()), float(1.96 * scores.std(ddof=1) / np.sqrt(len(scores)))


def interval(values, level=0.95):
    """Return (mean, half width of its interval) of one number a seed, by Student's t.

    Args:
        values: float[seeds], at least 2.
        level: the share of such intervals that hold the true mean.

    Raises:
        ValueError: for fewer seeds, for nan and inf, and for a level outside 0 to 1.
    """
    mean, variance, n = _moments(_one_a_seed("values", values))
    return mean, _half_width(math.sqrt(variance / n), n - 1, _share(level))


@dataclass(frozen=True, repr=False)
class Comparison:
    """How far a is above b, and whether that is more than luck.

    Attributes:
        difference: mean of a − mean of b.
        low, high: its interval at that level.
        base: mean of b.
        p_value: how often seeds differ at least so much where a and b are the same method (nan
            where a side has one seed only).
    """

    difference: float
    low: float
    high: float
    level: float
    base: float
    p_value: float

    @property
    def half(self):
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def verdict(self):
        """The answer, 'more', 'less', or 'not decided' where the interval reaches 0."""
        if self.low > 0:
            return "more"
        return "less" if self.high < 0 else "not decided"

    @property
    def percent(self):
        """The difference in per cent of b's mean; nan where that is 0."""
        return self._in_percent(self.difference)

    @property
    def percent_half(self):
        """Half the width of the interval in per cent of b's mean, as if that mean were exact."""
        return self._in_percent(self.half)

    def _in_percent(self, number):
        return 100 * number / abs(self.base) if self.base else math.nan

    def __str__(self):
        digits = _decimals(self.half or abs(self.difference))
        numbers = f"{self.difference:+,.{digits}f} ± {self.half:,.{digits}f}"
        return f"{numbers} ({100 * self.level:g} %): {self.verdict}"

    def __repr__(self):
        return f"<{self}>"


def compare(a, b, paired=False, level=0.95):
    """Compare two methods by one number a seed, such as the mean score of each trained network.

    Which of two given *players* is better is a question to their games: one number a game then.

    Args:
        a, b: float[seeds], at least 2 each.
        paired: the n-th seeds of a and b had the same luck, so that their differences are the
            sample.

    Returns:
        `Comparison`: Welch's t, which does not ask for equal spreads, or Student's t of the
        differences.  Where no side has any spread, the interval has width 0.

    Raises:
        ValueError: for fewer seeds, pairs that do not match, nan and inf.
    """
    a, b = _one_a_seed("a", a), _one_a_seed("b", b)
    level, base = _share(level), _moments(b)[0]
    if not paired:
        return _welch(_moments(a), _moments(b), level)
    if len(a) != len(b):
        raise ValueError(f"paired: a has {len(a)} seeds and b {len(b)}; each needs its partner")
    difference, variance, n = _moments(a - b)
    return _judged(difference, math.sqrt(variance / n), n - 1, level, base)


def compare_printed(a, b, level=0.95):
    """Compare two methods by what a paper prints of each: (mean, standard deviation, seeds).

    Returns the `Comparison` that `compare` makes of the seeds themselves.  Raises ValueError for
    fewer than 2 seeds.
    """
    for name, (_, _, seeds) in (("a", a), ("b", b)):
        if seeds < 2:
            raise ValueError(f"{name} has {seeds} seeds: two are the least")
    return _welch(
        *((mean, deviation**2, seeds) for mean, deviation, seeds in (a, b)), _share(level)
    )


def printed_deviation(half, seeds, level=0.95):
    """Return the standard deviation of seeds of whose mean a paper prints an interval.

    Args:
        half: half the width of the interval, which is read as Student's t.
    """
    return half / _half_width(1 / math.sqrt(seeds), seeds - 1, _share(level))


def compare_groups(frame, by, value, against, level=0.95):
    """Compare the groups of a table with one of them, each by `compare`.

    Args:
        frame: pandas DataFrame, a row a seed.
        by: the column that names the groups.
        value: the column of numbers.
        against: the group that all others are compared with.

    Returns:
        DataFrame: a row a group: seeds, mean, difference, low, high, percent, verdict.  Its corner
        says how many comparisons it makes: of 20 between equals, one is "more" or "less" by luck at
        95 %.  One seed decides nothing: its interval is infinite.

    Raises:
        ValueError: for names that the table lacks, and for a group that holds a seed (column
            "seed", if there is one) twice: two tests of one network are not two seeds.
    """
    pd = package("pandas")

    groups = _groups(frame, by, value, against)
    base = groups.pop(against)
    rows = {name: _row(group, base, level) for name, group in groups.items()}
    columns = ["seeds", "mean", "difference", "low", "high", "percent", "verdict"]
    said = f"{len(rows)} comparison{'s' * (len(rows) != 1)} with {against}"
    table = pd.DataFrame(list(rows.values()), pd.Index(list(rows), name=by), columns)
    return table.rename_axis(columns=said)


# ---------------------------------------------------------------- Student's t


def _moments(values):
    """Return (mean, variance, how many).  Values that are all equal have a variance of exactly 0.

    A mean is rounded, so the deviations from it are rarely all 0; those from one of them are.
    """
    deviations = values - values[0]
    return float(values[0] + deviations.mean()), float(deviations.var(ddof=1)), len(values)


def _welch(a, b, level):
    """Compare by (mean, variance, seeds); the degrees of freedom are Welch's and Satterthwaite's.

    scipy's ttest_ind gives the same numbers (a test says so) but warns where one side has no
    spread, which is sound: the freedom is then that of the other side.
    """
    (mean_a, variance_a, n_a), (mean_b, variance_b, n_b) = a, b
    of_a, of_both = variance_a / n_a, variance_a / n_a + variance_b / n_b
    share = of_a / of_both if of_both else 0.5  # of the squared error; any will do where it is 0
    free = 1 / (share**2 / (n_a - 1) + (1 - share) ** 2 / (n_b - 1))
    return _judged(mean_a - mean_b, math.sqrt(of_both), free, level, mean_b)


def _judged(difference, error, free, level, base):
    """Return the comparison of a difference with that standard error and degrees of freedom."""
    half = _half_width(error, free, level)
    if error:
        p_value = float(2 * package("scipy.special").stdtr(free, -abs(difference) / error))
    else:  # no spread: any difference is beyond luck, and none is none
        p_value = float(difference == 0)
    return Comparison(difference, difference - half, difference + half, level, base, p_value)


def _half_width(error, free, level):
    """Return half the interval of a mean with that standard error, 0 where there is no spread."""
    if not error:
        return 0.0
    return error * float(package("scipy.special").stdtrit(free, (1 + level) / 2))


# ---------------------------------------------------------------- what comes in, what is said


def _one_a_seed(name, values):
    """Return the numbers as float64[seeds], or raise ValueError."""
    values = np.asarray(values, np.float64)
    if values.ndim > 1:
        raise ValueError(f"{name} has shape {values.shape}: one number a seed is needed")
    if values.size < 2:
        raise ValueError(
            f"{name} holds {values.size} seed{'s' * (values.size != 1)}, and two are the least: "
            "seeds are the unit, and the games of one network are no substitute for a second"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds nan or inf: each seed needs a number")
    return values


def _share(level):
    if not 0 < level < 1:
        raise ValueError(f"level {level}: it is a share between 0 and 1, such as 0.95")
    return level


def _decimals(number):
    """Return how many decimals show two digits of a number; whole ones need none."""
    if number == 0 or not math.isfinite(number):
        return 0
    return max(0, 1 - math.floor(math.log10(number)))


def _groups(frame, by, value, against):
    """Return {name: the group's numbers} in their order in the table, or raise ValueError."""
    _check_columns(frame, (by, value))
    groups = dict(iter(frame.groupby(by, sort=False)))
    if against not in groups:
        raise ValueError(f"no group {against!r}; there are {', '.join(map(str, groups))}")
    for name, rows in groups.items():
        if "seed" in rows and rows["seed"].duplicated().any():
            raise ValueError(f"{name} holds a seed twice: pick one row a seed first")
    return {name: rows[value].to_numpy(np.float64) for name, rows in groups.items()}


def _check_columns(frame, columns):
    for column in columns:
        if column not in frame:
            raise ValueError(f"no column {column!r}; there are {', '.join(map(str, frame))}")


def _row(group, base, level):
    """Return a group's row of `compare_groups`."""
    if min(len(group), len(base)) > 1:
        told = compare(group, base, level=level)
    else:
        gap = float(group.mean() - base.mean())
        told = Comparison(gap, -math.inf, math.inf, _share(level), float(base.mean()), math.nan)
    numbers = told.difference, told.low, told.high, told.percent
    return len(group), float(group.mean()), *numbers, told.verdict
