"""The museum of mistakes, for appendix A6: exhibits, recorded curves, and the lines that differ."""

import difflib
import inspect
import string

from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.diagnosis import code
from lib2048.course.labs.hw04.planted_bugs import BUGS, FUNCTIONS, GAMES, made
from lib2048.course.labs.messages import say
from lib2048.machine.data import data
from lib2048.machine.extras import package
from lib2048.play.statistics import compare_groups

__all__ = ["EXHIBITS", "code", "compared", "curves", "gallery", "made", "what", "wrong_lines"]

RIGHT = "none"  # what the learner without a mistake is called
EXHIBITS = tuple(bug for bug in BUGS if bug != RIGHT)


def what(bug):
    """Return in one line what is wrong with an exhibit."""
    return say(f"hw04.autopsy.{bug}")


def wrong_lines(bug):
    """Return the lines in which an exhibit differs from the right program: "- right", "+ wrong"."""
    right, wrong, found = made(RIGHT), made(bug), []
    for name in FUNCTIONS:
        before, after = (inspect.getsource(getattr(of, name)).splitlines() for of in (right, wrong))
        lines = [*difflib.unified_diff(before, after, n=0, lineterm="")][2:]
        lines = [f"{line[0]} {line[1:].strip()}" for line in lines if line[0] != "@"]
        found += [f"{name}:", *lines] * bool(lines)
    if bug in GAMES:
        found.append(f"game:\n- {program.PLAYED.name}\n+ {GAMES[bug]}")
    return "\n".join(found)


def curves():
    """Return the recorded curves of all exhibits and of the right learner.

    Returns:
        DataFrame: bug, seed, games, actions, mean (of the last 1000 games) and promised (the mean
        of the best r + V over 30 first boards; not known of all).
    """
    table = package("pandas").read_csv(data("curves/hw04_bugs.csv"))
    return table.assign(bug=table["bug"].map({code(bug): bug for bug in BUGS}))


def compared(table, first, last):
    """Compare the mean score of all games from `first` to `last` with the right learner's.

    Args:
        table: rows of `curves`.
        first, last: numbers of games.

    Returns:
        DataFrame, see `compare_groups`, and half, of the interval, in per cent.
    """
    table = table[table["games"].between(first + 1, last)]
    table = table.groupby(["bug", "seed"], as_index=False)["mean"].mean()
    found = compare_groups(table, "bug", "mean", RIGHT)
    base = table.loc[table["bug"] == RIGHT, "mean"].mean()
    return found.assign(half=50 * (found["high"] - found["low"]) / base)


def gallery(table, bugs):
    """Draw the curves of some exhibits, each beside the right one, under letters; return the axes.

    Args:
        table: rows of `curves`.
        bugs: names of exhibits, in the order of their letters.
    """
    from lib2048.show import plot

    figure, axes = plot.subplots(-(-len(bugs) // 2), 2, height=1.8 * -(-len(bugs) // 2))
    right, top = table[table["bug"] == RIGHT], 1.1 * table["mean"].max()
    for ax, letter, bug in zip(axes.flat, string.ascii_uppercase, bugs):
        _band(ax, right, plot.GREY)
        _band(ax, table[table["bug"] == bug], plot.COLOURS[1])
        ax.set_title(letter, loc="left", fontweight="bold")
        ax.set(xlim=(0, right["games"].max()), ylim=(0, top))
        ax.locator_params(nbins=4)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda number, _: plot.short(number))
    look = {"xycoords": "axes fraction", "color": plot.GREY}
    axes.flat[0].annotate("grey: no mistake", (0.03, 0.85), **look)
    figure.supxlabel("games played in training")
    figure.supylabel("mean score (points)")
    return axes


def _band(ax, rows, colour):
    """Draw the mean over the seeds, and the range between them."""
    seeds = rows.pivot(index="games", columns="seed", values="mean").dropna()
    ax.plot(seeds.index, seeds.mean(axis=1), color=colour)
    look = {"color": colour, "alpha": 0.18, "linewidth": 0}
    ax.fill_between(seeds.index, seeds.min(axis=1), seeds.max(axis=1), **look)
