"""Curves, bars and heat maps in the one style of the course.

Every function draws into `ax` (a new figure of its own when there is none) and returns it, so that
a lesson can add a line or save the figure. Nothing here changes matplotlib's global settings: for
axes of your own in the same style, use `subplots` or `with style():`.

A *curve* is a pandas frame with a row for each block of training: the columns games, actions,
seconds, mean (points), max (points), ci95 …; a `History` will do too. A list of frames is one
curve measured with several seeds.
"""

import contextlib
import itertools
import textwrap

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import Bbox

from lib2048.game.board import WHOLE, max_exponent
from lib2048.game.frontier import tile_sums
from lib2048.game.game import parse_game
from lib2048.machine.printed import thousands
from lib2048.play.evaluation import scores_after, shown
from lib2048.show.words import says_what, tell_notebook

__all__ = [
    "COLOURS",
    "STYLE",
    "curves",
    "differences",
    "game",
    "heat",
    "intervals",
    "ladder",
    "layers",
    "regret",
    "scores",
    "stages",
    "tiles",
    "tradeoff",
    "short",
    "show",
    "style",
    "subplots",
    "survival",
    "tile_table",
    "wall",
]

# Okabe and Ito's colours: told apart by colour-blind readers, and in this order also by darkness.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKS = "Dos^vP*"
GREY, PALE = "#6b6b6b", "#d9d9d9"
WIDTH, HEIGHT = 6.4, 3.6  # inches
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

STYLE = {
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.dpi": 100,  # 640 pixels: about 20 kB a picture
    "savefig.dpi": 100,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 13,
    "axes.labelsize": 13,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "#333333",
    "ytick.labelcolor": "#333333",
    "font.size": 12,
    "legend.fontsize": 12,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
}

LABELS = {
    "games": "games played in training",
    "actions": "actions taken in training",
    "seconds": "training time (s)",
    "mean": "mean score (points)",
    "max": "best score (points)",
    "actions_per_s": "speed (actions/s)",
    "moves_per_s": "speed (moves/s)",
    "share": "share of the optimum",
    "own_error": "own error (points)",
    "best_error": "best error (points)",
    "sum": "sum of the tiles",
    "came": "games that get this far (%)",
}


@contextlib.contextmanager
def style():
    """Use the style of the course for what is drawn inside `with style():`."""
    with mpl.rc_context(STYLE):
        yield
        interactive = mpl.is_interactive()  # a backend that starts inside may switch it on
    mpl.interactive(interactive)
    tell_notebook(short)


@style()
@says_what
def subplots(rows=1, columns=1, width=WIDTH, height=None):
    """Return (figure, axes) in the style of the course: one ax, or matplotlib's array of them.

    Args:
        width, height: inches of the whole figure; by default 3.6 inches for a single row, then 3
            each.
    """
    height = height or (HEIGHT if rows == 1 else 3 * rows)
    return plt.subplots(rows, columns, figsize=(width, height))


def _axes(ax, height=HEIGHT):
    return ax if ax is not None else plt.subplots(figsize=(WIDTH, height))[1]


def _named(things):
    """Return {label: …} with labels that a legend shows: one that begins with _ it leaves out."""
    return {f" {n}" if str(n).startswith("_") else n: thing for n, thing in things.items()}


@says_what
def show(ax, finding):
    """Show the figure of an ax under the cell, once, with its finding as the alt text."""
    from IPython.display import display

    display(ax.figure, metadata={"image/png": {"alt": finding}})
    plt.close(ax.figure)


# -------------------------------------------------------------------------------------- numbers


@says_what
def short(number):
    """Write a number as the axes do: 950, 20 k, 1.5 M, 4·10⁹, with at most three digits.

    The space does not break. Below 1000 nothing is shortened: 0.25 stays 0.25.
    """
    rounded = abs(float(f"{number:.3g}"))
    if rounded >= 1e9:
        mantissa, _, power = f"{number:.2e}".partition("e+")
        times = "" if float(mantissa) == 1 else f"{float(mantissa):g}·"
        return f"{times}10{str(int(power)).translate(_RAISED)}".replace("-", "−")
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if rounded >= size:
            return f"{number / size:.3g}\u00a0{unit}".replace("-", "−")
    return f"{number:.4g}".replace("-", "−")


def _percent(share):
    if not share == share:
        return "?"
    if share == 0:
        return "–"
    digits = 2 if 0 < share < 0.001 else 1
    return f"{100 * share:.{digits}f}\u00a0%"


_SHORT = FuncFormatter(lambda number, _: short(number))
_SHARE = FuncFormatter(lambda share, _: f"{100 * share:.4g}")  # the label of the axis says %


def _format_axis(axis, column):
    label, reached = LABELS.get(column, column.replace("_", " ")), column.startswith("reached_")
    if reached:
        label = f"games that reach {column.removeprefix('reached_')} (%)"
    axis.set_major_formatter(_SHARE if reached else _SHORT)
    axis.set_label_text(label)


# --------------------------------------------------------------------------------------- curves


@style()
@says_what
def curves(
    curves, x="actions", y="mean", *, each=False, logx=False, recorded=None, reference=None, ax=None
):
    """Draw learning curves; return ax.

    Of several seeds the mean is drawn over the stretch that all of them cover, and between their
    lowest and highest a band; of one frame with a column ci95, or y_ci95 for another y than the
    mean, the band is y ± that.

    Args:
        curves: {label: frame, `History`, or a list of them, one a seed}; or one of these alone.
        x, y: names of columns.
        each: no means and no bands, but every seed as a line of its own with a dot at its end: for
            seeds that do not resemble their mean.
        recorded: {command: frame or list of frames}: curves of an earlier run, grey and dashed,
            with the command that made them under the figure.
        reference: {label: number}: horizontal lines.
        logx: a logarithmic x-axis.

    Raises:
        ValueError: for an empty frame or one without the columns.
    """
    ax = _axes(ax)
    curves = curves if isinstance(curves, dict) else {None: curves}
    for label, frames in _named(curves).items():
        frames = _frames(frames, label, x, y)
        if each:
            _draw_each(ax, frames, x, y, label)
        else:
            _draw_curve(ax, frames, x, y, label)
    old = {"color": GREY, "linestyle": "--", "linewidth": 1.8}
    for command, frames in (recorded or {}).items():
        frames = _frames(frames, command, x, y)
        label = "recorded" if len(frames) == 1 else f"recorded, {len(frames)} seeds"
        _draw_curve(ax, frames, x, y, label, band=len(frames) > 1, **old)
    for (label, level), dots in zip(_named(reference or {}).items(), itertools.cycle(":-.")):
        ax.axhline(level, color=GREY, linestyle=dots, linewidth=1.5, label=label)
    _finish_curves(ax, x, y, logx)
    if recorded:  # which commands made them
        lines = [line for command in recorded for line in textwrap.wrap(f"recorded: {command}", 74)]
        look = {"ha": "left", "fontsize": 9, "family": "monospace", "color": GREY}
        ax.figure.supxlabel("\n".join(lines), x=0.01, **look)
    return ax


def _finish_curves(ax, x, y, logx):
    if logx:
        ax.set_xscale("log")
    else:
        ax.set_xlim(left=0)
        if ax.get_xlim()[1] >= 1e9:
            ax.xaxis.set_major_locator(MaxNLocator(5))  # 2.5·10⁹ is a long name
    _format_axis(ax.xaxis, x)
    _format_axis(ax.yaxis, y)
    if ax.dataLim.y0 >= 0:
        ax.set_ylim(bottom=0)
    if ax.get_legend_handles_labels()[1]:
        ax.legend()


def _frames(curve, label, x, y):
    """Return a curve as a list of frames; raise ValueError where a frame cannot be drawn."""
    curve = curve if isinstance(curve, (list, tuple)) else [curve]
    frames = [getattr(frame, "frame", frame) for frame in curve]
    if not frames:
        raise ValueError(f"curve {label!r}: there is no frame to draw")
    for frame in frames:
        _check_frame(frame, label, x, y)
    return frames


def _check_frame(frame, label, *columns):
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"curve {label!r}: a pandas frame is needed, not {type(frame).__name__}")
    for column in columns:
        if column not in frame:
            raise ValueError(f"curve {label!r}: no column {column!r}; it has {', '.join(frame)}")
    if not len(frame):
        raise ValueError(f"curve {label!r}: the frame has no rows")


def _draw_curve(ax, frames, x, y, label, band=True, **look):
    at, values = _on_one_grid(frames, x, y)
    mark = "o" if len(at) == 1 else None
    (line,) = ax.plot(at, values.mean(axis=0), label=label, marker=mark, **look)
    low, high = values.min(axis=0), values.max(axis=0)
    half = "ci95" if y == "mean" else f"{y}_ci95"
    if len(frames) == 1 and half in frames[0]:
        low, high = values[0] - frames[0][half], values[0] + frames[0][half]
    if band and np.any(high > low):
        ax.fill_between(at, low, high, color=line.get_color(), alpha=0.18, linewidth=0)


def _draw_each(ax, frames, x, y, label):
    look = {"linewidth": 1.5, "marker": "o", "markevery": [-1]}
    for frame in frames:
        (line,) = ax.plot(frame[x], frame[y], label=label, **look)
        look["color"], label = line.get_color(), "_"


def _on_one_grid(frames, x, y):
    """Return (the x of the longest frame that all frames cover, their y there, a row a frame)."""
    if len(frames) == 1:
        return frames[0][x].to_numpy(float), frames[0][y].to_numpy(float)[None]
    start, end = max(f[x].min() for f in frames), min(f[x].max() for f in frames)
    if start > end:
        raise ValueError(f"the frames of one curve have no stretch of {x} in common")
    at = np.union1d(max(frames, key=len)[x].to_numpy(float), [start, end])
    at = at[(at >= start) & (at <= end)]
    return at, np.array([np.interp(at, f[x].to_numpy(float), f[y].to_numpy(float)) for f in frames])


# --------------------------------------------------------------------------- tiles and scores


@style()
@says_what
def tiles(results, tiles=None, ax=None):
    """Draw how many games reach each tile, as grouped bars; return ax.

    Args:
        results: {name: {tile: share 0..1}}, or {name: `Result`}.
        tiles: which tiles to show; by default from the largest that all games reach up to the
            largest that any game reaches.
    """
    ax, table = _axes(ax), _reached(_named(results), tiles)
    _bars(ax, table, "bar", numbered=0.8 * WIDTH / table.size > 0.3)
    _name_ticks(ax.xaxis, list(map(str, table)))
    ax.set(ylim=(0, 1.1), xlabel="tile", ylabel="games that reach it (%)")  # room for numbers
    ax.yaxis.set_major_formatter(_SHARE)
    ax.grid(False, axis="x")
    return _legend_above(ax)


def _bars(ax, table, kind, numbered=True):
    """Draw a table of shares as bars, a colour a row, a group a column."""
    table.T.plot(kind=kind, ax=ax, width=0.8, legend=False)
    for bars, shares in zip(ax.containers[-len(table) :], table.to_numpy()):
        if numbered:
            ax.bar_label(bars, map(_bare_percent, shares), fontsize=11, padding=2)


def _bare_percent(share):
    return f"{100 * share:.1f}" if 0 < share < 0.0095 else f"{100 * share:.0f}"


def _name_ticks(axis, names):
    """Put names at 0, 1, 2 …; below the figure they stand upright when there are too many."""
    tight = axis.axis_name == "x" and len(names) * max(map(len, names)) > 45
    axis.set_ticks(range(len(names)), names, rotation=90 if tight else 0)


def _legend_above(ax):
    names = ax.get_legend_handles_labels()[1]
    one_row = sum(map(len, names)) + 6 * len(names) <= 60  # letters
    columns = len(names) if one_row else max(1, 60 // (max(map(len, names)) + 8))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)
    return ax


def _reached(results, tiles):
    """Return a frame of shares: a row for each name, a column for each tile, in rising order.

    tiles: those to show; None: from the largest that all reach to the largest that any reaches.
    Whoever reaches 64 has reached 32; where a result does not say, the share is nan.
    """
    if not results:
        raise ValueError("there are no results to show")
    rows = {name: _shares(name, result) for name, result in results.items()}
    every = sorted(set(tiles or ()).union(*rows.values()))
    table = pd.DataFrame(list(rows.values()), list(rows), dtype=float).reindex(columns=every)
    if not every:
        return table
    above = table.bfill(axis=1)  # the share of the next larger tile that it names
    unsaid = np.select([above.isna(), above >= 0.9995], [0.0, 1.0], np.nan)
    table = table.where(table.notna(), unsaid)
    if tiles is not None:
        return table[list(tiles)]
    sure, seen = table.columns[(table >= 0.9995).all()], table.columns[(table > 0).any()]
    return table[seen[seen >= max(sure, default=0)]] if len(seen) else table


def _shares(name, result):
    reached = result.reached() if hasattr(result, "reached") else result
    shares = {int(tile): float(share) for tile, share in reached.items()}
    for tile, share in shares.items():
        if not 0 <= share <= 1:
            raise ValueError(f"{name}: the share of {tile} is between 0 and 1, not {share}")
    return shares


@says_what
def tile_table(results, tiles=None):
    """Return a frame to show: for each name its mean score, if known, and the share for each tile.

    The cells are texts: "68 664 ± 512", "91.4 %", "–" where no game reached the tile, "?" where the
    result does not say.

    Args:
        results: {name: {tile: share 0..1}}, or {name: `Result`}.
        tiles: which tiles; by default those of `tiles`.
    """
    table = _reached(results, tiles).map(_percent)
    known = [hasattr(result, "mean") for result in results.values()]
    if any(known):
        means = [
            f"{thousands(result.mean)}\u00a0±\u00a0{thousands(result.ci95)}" if mean else "?"
            for result, mean in zip(results.values(), known)
        ]
        table.insert(0, "mean score", means)
    return table


@style()
@says_what
def scores(scores, ax=None):
    """Draw histograms of the scores of single games, their means dashed; return ax.

    Args:
        scores: {name: array of scores}, {name: `Result`}, or one array.
    """
    scores = _named(scores) if isinstance(scores, dict) else {None: scores}
    samples = {n: np.asarray(getattr(s, "scores", s), float).ravel() for n, s in scores.items()}
    if not samples or not all(sample.size for sample in samples.values()):
        raise ValueError("there are no scores to draw")
    ax = _axes(ax)
    edges = np.histogram_bin_edges(np.concatenate(list(samples.values())), 40)
    for name, sample in samples.items():
        weights = np.full(len(sample), 1 / len(sample))
        # outlines: fills that lie over each other would make a colour that is in no legend
        look = {"histtype": "step", "linewidth": 1.8} if len(samples) > 1 else {"alpha": 0.45}
        *_, bars = ax.hist(sample, edges, weights=weights, label=name, **look)
        colour = bars[0].get_edgecolor() if len(samples) > 1 else bars[0].get_facecolor()[:3]
        ax.axvline(sample.mean(), color=colour, linestyle="--", linewidth=1.8)
    ax.set_xlim(left=0)
    _format_axis(ax.xaxis, "score of a game (points)")
    ax.yaxis.set_major_formatter(_SHARE)
    ax.set_ylabel("games (%)")
    if list(samples) != [None]:
        ax.legend(loc="upper right")
    return ax


# -------------------------------------------------------------------------------- comparisons


@style()
@says_what
def stages(visits, stages, ax=None):
    """Draw how the actions of training were spread over the stages; return ax.

    Stages that none of them reached are left out.

    Args:
        visits: {name: int array, actions that led into each stage} (`History.visits`).
        stages: the `Stages` of the network, or the stages' names.
    """
    shares = {name: np.asarray(counts) / np.sum(counts) for name, counts in visits.items()}
    names = [stages.name(n) for n in range(stages.count)] if hasattr(stages, "name") else stages
    met = [n for n in range(len(names)) if any(share[n] > 0 for share in shares.values())]
    ax = _axes(ax, 0.9 + 0.22 * len(met) * (1 + len(shares)))
    table = pd.DataFrame.from_dict(shares, "index")[met]
    _bars(ax, table, "barh")
    _name_rows(ax, [names[n] for n in met])
    ax.set(xlim=(0, 1.12 * table.to_numpy().max()), xlabel="actions of training in the stage (%)")
    ax.xaxis.set_major_formatter(_SHARE)
    return _legend_above(ax)


@style()
@says_what
def ladder(names, rates, unit="moves/s", ax=None):
    """Draw speeds as the rungs of a ladder, from the top down; return ax.

    The axis is logarithmic; behind each rate stands how many times the rung before it is.

    Args:
        names, rates: of equal length, the first rung first; a rate is a number of `unit` above 0.
    """
    names, rates = _paired(names, rates)
    if not all(rate > 0 for rate in rates):
        raise ValueError("a rate is a number above 0")
    ax, places = _axes(ax, 0.9 + 0.5 * len(names)), range(len(names))
    ax.plot(rates, places, "o", markersize=9, color=COLOURS[0])  # no bars: a log axis has no zero
    for place, rate, before in zip(places, rates, [None, *rates]):
        times = f"   × {_ratio(rate / before)}" if before else ""
        ax.text(rate, place, f"  {short(rate)}{times}", va="center")
    ax.set(xscale="log", xlabel=unit)
    reach = max(rates) / min(rates)
    ax.set_xlim(min(rates) / 2, max(rates) * max(2, reach**0.6))  # room for the numbers
    ax.xaxis.set_major_locator(LogLocator(10, numticks=5))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(_SHORT)
    _name_rows(ax, names)
    return ax


def _ratio(ratio):
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.2g}"


def _name_rows(ax, names):
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")


@style()
@says_what
def intervals(names, means, ci95s, xlabel="mean score (points)", ax=None):
    """Draw means with their 95 % intervals, one row each; return ax.

    Args:
        names, means, ci95s: of equal length; ci95s are the half widths, in the unit of the means.
    """
    names, means = _paired(names, means)
    _, ci95s = _paired(names, ci95s)
    ax, places = _axes(ax, 1.1 + 0.5 * len(names)), range(len(names))
    ax.errorbar(means, places, xerr=ci95s, fmt="o", capsize=5, markersize=7, elinewidth=2.2)
    note = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": 11}
    for place, mean, ci95 in zip(places, means, ci95s):
        text = f"{thousands(mean)} ± {thousands(ci95)}"
        ax.annotate(text, (mean, place), (0, 6), **note)
    ax.xaxis.set_major_formatter(_SHORT)
    ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(xlabel)
    ax.margins(x=0.25)  # room for what stands above the outer points
    _name_rows(ax, names)
    return ax


def _paired(names, values):
    names, values = list(names), [float(value) for value in values]
    if not names or len(names) != len(values):
        raise ValueError(f"{len(names)} names need as many numbers, not {len(values)}")
    return names, values


@style()
@says_what
def beside(rows, ax=None):
    """Draw a paper's results (hollow) and ours (full), a row each, a colour a depth; return ax.

    rows: DataFrame with row, plies, paper, paper ±, ours, ±, as `course.papers.rows` returns it.
    """
    names = list(rows["row"].unique())
    ax = _axes(ax, 1.6 + 0.42 * len(names))
    groups = rows.groupby("plies")
    for n, (plies, frame) in enumerate(groups):
        at = [names.index(row) + 0.16 * (n - (len(groups) - 1) / 2) for row in frame["row"]]
        look = {"fmt": MARKS[n % 7], "color": COLOURS[n % 7], "capsize": 3}
        paper, half = (frame[name].replace(np.inf, 0).fillna(0) for name in ("paper ±", "±"))
        theirs, ours = (f"{whose}, {plies:g}-ply" for whose in ("paper", "ours"))
        ax.errorbar(frame["paper"], at, xerr=paper, mfc="white", label=theirs, **look)
        ax.errorbar(frame["ours"], at, xerr=half, label=ours, **look)
    _format_axis(ax.xaxis, "mean")
    _name_rows(ax, names)
    return _legend_above(ax)


@style()
@says_what
def wall(best, chains):
    """Draw best scores by the actions of training, a panel for each depth; return the last ax.

    Where they are not the best of 100 games, their marks are hollow.

    Args:
        best: DataFrame with network, stages, starts, actions, plies, games and best, as
            `wall.best_scores` has it.
        chains: {name: points}, of lines that are drawn across.
    """
    depths = sorted(best["plies"].unique())
    axes = np.atleast_1d(subplots(len(depths), height=3.6 * len(depths))[1])
    kinds = list(best.groupby(["network", "stages", "starts"], sort=False))
    for ax, plies in zip(axes, depths):
        for name, points in chains.items():
            ax.axhline(points, color=GREY, linewidth=1, linestyle="--")
            ax.annotate(name.replace(" to", "\nto"), (1, points), (4, 0),
                        xycoords=("axes fraction", "data"), textcoords="offset points",
                        va="center", color=GREY, fontsize=8.5)  # fmt: skip
        for n, (kind, rows) in enumerate(kinds):
            look = {"color": COLOURS[n % 7], "marker": MARKS[n % 7], "linestyle": ""}
            rows = rows[rows["plies"] == plies]
            for some, fill in ((rows["games"] != 100, "none"), (rows["games"] == 100, "full")):
                told = {"label": _kind(*kind)} if fill == "full" else {"markersize": 4}
                ax.plot(rows["actions"][some], rows["best"][some], fillstyle=fill, **look | told)
        ax.set(xscale="log", ylim=(0, None), ylabel=f"best game at {plies:g}-ply (points)")
        ax.yaxis.set_major_formatter(_SHORT)
    above = {"bbox_to_anchor": (0, 1), "ncols": 2, "borderaxespad": 0.2, "fontsize": 8.5}
    axes[0].legend(loc="lower left", **above)
    axes[-1].set_xlabel(LABELS["actions"])
    return axes[-1]


def _kind(network, stages, starts):
    """Name a network by how it learned."""
    told = network, "one stage" if stages == 1 else f"{stages:.0f} stages", starts
    return ", ".join(told[: 2 + (starts != "initial")])


@style()
@says_what
def search_errors(rows):
    """Draw how far values are wrong on boards of some kinds, network by network; return an ax.

    Args:
        rows: DataFrame with network, actions, kind, error, surprise_rms and their half intervals,
            as `search_errors.recorded_errors` has it.
    """
    axes = subplots(2, height=5.4)[1]
    names = [
        f"{network}\n{short(actions)}" for network, actions in zip(rows["network"], rows["actions"])
    ]
    rows, names = rows.assign(name=names), list(dict.fromkeys(names))
    for ax, column in zip(axes, ("error", "surprise_rms"), strict=True):
        for n, (kind, own) in enumerate(rows.groupby("kind", sort=False)):
            place = [names.index(name) + 0.2 * (n - 1) for name in own["name"]]
            look = {"fmt": MARKS[n % len(MARKS)], "color": COLOURS[n % len(COLOURS)], "capsize": 3}
            ax.errorbar(place, own[column], own[f"half_{column}"], label=kind, **look)
        ax.yaxis.set_major_formatter(_SHORT)
    axes[0].axhline(0, color=GREY, linewidth=1.3)
    axes[0].set(ylabel="value − truth (points)")
    axes[1].set(yscale="log", ylabel="TD error, rms (points)")
    axes[0].set_xticks(range(len(names)), [])
    axes[1].set_xticks(range(len(names)), names)
    axes[1].set_xlabel("network, and the actions that it learned from")
    return _legend_above(axes[0])


@style()
@says_what
def survival(rows, marks):
    """Draw how many games come to each sum of tiles, a panel for each depth; return the last ax.

    Args:
        rows: DataFrame with network, actions, plies, sum and share, as
            `survival.recorded_survival` has it.
        marks: {name: sum of tiles}, of lines that are drawn down.
    """
    depths = list(rows.assign(came=100 * rows["share"]).groupby("plies"))
    axes = np.atleast_1d(subplots(len(depths), height=3.4 * len(depths))[1])
    for ax, (plies, some) in zip(axes, depths):
        for name, mark in marks.items():
            ax.axvline(mark, color=GREY, linewidth=1, linestyle="--")
            ax.annotate(name, (mark, 1.01), xycoords=("data", "axes fraction"), rotation=90,
                        ha="center", va="bottom", color=GREY, fontsize=9)  # fmt: skip
        networks = some.groupby(["network", "actions"], sort=False)
        named = {f"{name}, {short(actions)}": _ended(own) for (name, actions), own in networks}
        curves(named, x="sum", y="came", ax=ax)
        ax.set_title(f"{plies}-ply", loc="left")
        ax.set_xlim(0, rows["sum"].max())
        if ax is not axes[0]:
            ax.get_legend().remove()
        if ax is not axes[-1]:
            ax.set_xlabel("")
    return axes[-1]


def _ended(rows):
    """Return a network's rows and one more, of the sum that no game came to."""
    last = rows["sum"].iloc[-1] + rows["sum"].diff().max()
    return pd.concat([rows[["sum", "came"]], pd.DataFrame({"sum": [last], "came": [0.0]})])


@style()
@says_what
def differences(groups, xlabel="difference (%)", ax=None):
    """Draw how far rows are above a reference, with 95 % intervals, a mark a group; return ax.

    A mark is hollow where its interval holds 0.

    A frame without rows is left out, with its label; the first of the others says which rows there
    are.

    Args:
        groups: {label: frame}, indexed by the names of the rows, with the columns percent and half
            (half the width of the interval, in per cent too).

    Raises:
        ValueError: where none has rows or one lacks these columns.
    """
    groups = {label: frame for label, frame in _named(groups).items() if len(frame)}
    if not groups:
        raise ValueError("there are no differences to draw")
    names = list(next(iter(groups.values())).index)
    ax = _axes(ax, 1.5 + 0.36 * len(names))
    ax.axvline(0, color=GREY, linewidth=1.3)
    for n, (label, frame) in enumerate(groups.items()):
        _check_frame(frame, label, "percent", "half")
        shown, beside = frame[frame.index.isin(names)], 0.26 * (n - (len(groups) - 1) / 2)
        places = [names.index(name) + beside for name in shown.index]
        mark, colour = MARKS[n % 4], (COLOURS[-1], *COLOURS)[n % 4]
        look = {"fmt": mark, "color": colour, "capsize": 0, "elinewidth": 1.2}
        ax.errorbar(shown["percent"], places, xerr=shown["half"], label=label, **look)
        hollow = (shown["percent"].abs() <= shown["half"]).to_numpy()
        look = {"color": colour, "mfc": "white", "zorder": 3}
        ax.plot(shown["percent"][hollow], np.array(places)[hollow], mark, **look)
    ax.set_xlabel(xlabel)
    _name_rows(ax, names)
    return _legend_above(ax)


@style()
@says_what
def regret(groups, xlabel="sum of the small tiles", ax=None):
    """Draw the regret of players by groups of positions, with 95 % intervals; return ax.

    Args:
        groups: {player: frame}, indexed by the names of the groups, with the columns regret (a
            probability) and half (half the width of its interval), as `ruler.regret.summed`
            returns it.

    Raises:
        ValueError: where there is no group, or a frame lacks these columns.
    """
    groups = {label: frame for label, frame in _named(groups).items() if len(frame)}
    if not groups:
        raise ValueError("there is no regret to draw")
    names = list(dict.fromkeys(name for frame in groups.values() for name in frame.index))
    ax = _axes(ax)
    ax.axhline(0, color=GREY, linewidth=1.3)
    for n, (label, frame) in enumerate(groups.items()):
        _check_frame(frame, label, "regret", "half")
        beside = 0.5 / len(groups) * (n - (len(groups) - 1) / 2)
        places = [names.index(name) + beside for name in frame.index]
        look = {"fmt": f"{MARKS[n % len(MARKS)]}-", "linewidth": 1.2, "capsize": 3}
        ax.errorbar(places, 100 * frame["regret"], yerr=100 * frame["half"], label=label, **look)
    _name_ticks(ax.xaxis, names)
    ax.set_xlabel(xlabel)
    ax.set_ylabel("regret (%)")
    return _legend_above(ax)


@style()
@says_what
def tradeoff(groups, ax=None):
    """Draw what thinking longer buys: mean score against speed, a line a group; return ax.

    Each name stands beside its point where there is room. The x-axis is logarithmic.

    Args:
        groups: {label: frame}; a row is one player, with the columns name (written beside its
            point), moves_per_s, mean and ci95 (half width of the mean's interval).

    Raises:
        ValueError: for a frame without these columns, or without rows.
    """
    if not groups:
        raise ValueError("there are no players to show")
    ax = _axes(ax, 5)
    for label, frame in _named(groups).items():
        _check_frame(frame, label, "name", "moves_per_s", "mean", "ci95")
        frame = frame.sort_values("moves_per_s")
        speed, mean, half = (frame[name] for name in ("moves_per_s", "mean", "ci95"))
        ax.errorbar(speed, mean, half, fmt="o-", capsize=3, label=label)
    ax.set_xscale("log")
    ax.margins(x=0.1, y=0.15)
    ax.xaxis.set_minor_locator(NullLocator())
    _format_axis(ax.xaxis, "moves_per_s")
    _format_axis(ax.yaxis, "mean")
    _legend_above(ax)
    _name_points(ax, groups.values())
    return ax


_ROUND_A_POINT = (
    *((0, 9, "center", "bottom"), (0, -9, "center", "top")),
    *((8, 3, "left", "bottom"), (-8, -3, "right", "top")),
    *((8, -3, "left", "top"), (-8, 3, "right", "bottom")),
    *((0, 21, "center", "bottom"), (0, -21, "center", "top")),
)  # offset in points, and how a name lies there


def _name_points(ax, frames):
    """Write each player's name beside its point, where it covers no other name and few marks."""
    ax.figure.draw_without_rendering()  # so that the layout stands
    marks = [mark for lines in ax.containers for mark in _boxes(ax, lines)]
    names, frame_of = [], ax.get_window_extent()

    def covers(box):
        outside = not (frame_of.x0 < box.x0 and box.x1 < frame_of.x1)
        return box.count_overlaps(names) + outside, box.count_overlaps(marks)

    for colour, frame in zip((lines[0].get_color() for lines in ax.containers), frames):
        frame = frame.sort_values("moves_per_s")
        for name, *point in zip(frame["name"], frame["moves_per_s"], frame["mean"]):
            note = {"textcoords": "offset points", "color": colour, "fontsize": 10}
            tried = [
                ax.annotate(name, point, place, ha=ha, va=va, **note)
                for *place, ha, va in _ROUND_A_POINT
            ]
            boxes = [text.get_window_extent() for text in tried]
            best = min(range(len(tried)), key=lambda n: covers(boxes[n]))
            names.append(boxes[best])
            for n, text in enumerate(tried):
                if n != best:
                    text.remove()


def _boxes(ax, lines):
    """Return boxes, in pixels, that a line of points with its bars covers."""
    line, caps, _ = lines
    at, *ends = (
        ax.transData.transform(np.column_stack(each.get_data()).astype(float))
        for each in (line, *caps)
    )
    between = [np.linspace(a, b, 8) for a, b in [*itertools.pairwise(at), *zip(*ends)]]
    return [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in np.concatenate([at, *between])]


# ------------------------------------------------------------------------- values and games


@style()
@says_what
def heat(matrix, xlabel, ylabel, label, xticks=None, yticks=None, numbers=None, ax=None):
    """Draw a matrix of values over two tiles as a heat map; return ax.

    When some are negative, white is 0, blue is above and red below it.

    Args:
        matrix: rows × columns of numbers, NaN (pale) where there is none; row 0 is drawn at the
            bottom.
        label: what the colours mean, with its unit.
        xticks, yticks: names of columns and rows; by default the tiles of exponents 0, 1, 2 …
        numbers: write each number into its cell; by default up to 8 × 8 cells.
    """
    values = np.ma.masked_invalid(np.asarray(matrix, float))
    if values.ndim != 2 or values.count() == 0:
        raise ValueError("a heat map needs a matrix with at least one number")
    ax = _axes(ax, 4.6)
    signed, most = values.min() < 0, np.abs(values).max()
    cmap = mpl.colormaps["RdBu" if signed else "cividis"].with_extremes(bad=PALE)
    limits = {"vmin": -most, "vmax": most} if signed else {}
    image = ax.imshow(values, origin="lower", aspect="auto", cmap=cmap, **limits)
    ax.figure.colorbar(image, ax=ax, label=label, format=_SHORT)
    _name_ticks(ax.xaxis, _tile_names(xticks, values.shape[1]))
    _name_ticks(ax.yaxis, _tile_names(yticks, values.shape[0]))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(False)
    if max(values.shape) <= 8 if numbers is None else numbers:
        _write_numbers(ax, image, values)
    return ax


def _tile_names(ticks, count):
    if ticks is None:
        return [str(2**i) if i else "0" for i in range(count)]
    if len(ticks) != count:
        raise ValueError(f"{count} rows or columns need as many ticks, not {len(ticks)}")
    return [str(tick) for tick in ticks]


def _write_numbers(ax, image, values):
    for row, column in np.argwhere(~np.ma.getmaskarray(values)):
        value = values[row, column]
        light = np.dot(image.cmap(image.norm(value))[:3], (0.3, 0.59, 0.11)) > 0.5
        text = {"ha": "center", "va": "center", "fontsize": 10}
        number = short(float(f"{value:.3g}"))
        ax.text(column, row, number, color="black" if light else "white", **text)


@style()
@says_what
def layers(values, boards=(), ax=None):
    """Draw what every afterstate of a small board is worth, over its tile sum; return ax.

    Blue: the afterstates that 10 000 games come to at least once, on average; a larger dot is met
    oftener. Grey: the others, one of each board's images.

    Args:
        values: the `Values` of a way to play.
        boards: afterstates that are written out beside their dots, each as rows of tiles.

    Raises:
        ValueError: for a board with more than 100 000 afterstates, and for one to write that is no
            afterstate of the game.
    """
    if len(values.boards) > 100_000:
        raise ValueError(f"{len(values.boards)} afterstates are too many to draw: take 2x3")
    ax, sums, often = _axes(ax), tile_sums(values.boards), values.visits()
    seen, worth = often >= 1e-4, values.afterstate_values
    ax.scatter(sums[~seen], worth[~seen], 4, "#9a9a9a", linewidth=0, label="other afterstates")
    size, blue = 5 + 60 * np.sqrt(often[seen]), COLOURS[0]
    ax.scatter(sums[seen], worth[seen], size, blue, linewidth=0, alpha=0.5, label=values.name)
    _format_axis(ax.xaxis, "sum of the tiles")
    _format_axis(ax.yaxis, "points still to come")
    for handle in _legend_above(ax).get_legend().legend_handles:
        handle.set_sizes([30])
    for board in boards:
        _write_board(ax, board, values.afterstate(board))
    return ax


def _write_board(ax, board, height):
    """Write a board's tiles to the left of its dot; above it, too, if many dots are about it."""
    width = max(len(str(tile)) for row in board for tile in row)
    lines = [" ".join(str(tile or "·").rjust(width) for tile in row) for row in board]
    spot, look = (sum(map(sum, board)), height), {"arrowstyle": "-", "color": GREY}
    above = 75 if height < sum(ax.get_ylim()) / 2 else 0  # points of print
    ax.annotate(
        "\n".join(lines), spot, (-14, above), textcoords="offset points", ha="right", va="center",
        family="monospace", fontsize=9, arrowprops=look, bbox={"fc": "white", "ec": GREY},
    )  # fmt: skip


@style()
@says_what
def game(steps, game=WHOLE, ax=None):
    """Draw one game: the score so far, and what the player expected in the end; return ax.

    The expectation after an action is the score so far plus the value of the afterstate; where a
    value is None it is left out. Marks on the upper edge show when a new largest tile was made,
    from 512 on (192 in Threes!).

    Args:
        steps: a list of `Step` (board, action, reward, afterstate, value).
        game: what was played, a `Game` or its name.
    """
    game = parse_game(game)
    steps = [step for step in steps if step.action is not None]  # the last one only says "over"
    if not steps:
        raise ValueError("there are no actions to draw")
    ax, scores = _axes(ax), scores_after(steps, game)
    at = np.arange(1, len(steps) + 1)
    if all(step.value is not None for step in steps):
        expected = np.add(scores, [float(step.value) for step in steps])
        ax.plot(at, expected, color=COLOURS[1], linewidth=1.2, label="score + value")
    ax.plot(at, scores, color=COLOURS[0], label="score")
    ax.axhline(scores[-1], color=GREY, linestyle="--", linewidth=1.3, label="final score")
    _mark_tiles(ax, steps, game)
    ax.set_xlim(0, len(steps))
    ax.set_ylim(0, 1.2 * ax.dataLim.y1)  # room for the names of the tiles
    _format_axis(ax.xaxis, "action of the game")
    _format_axis(ax.yaxis, "points")
    return _legend_above(ax)


def _mark_tiles(ax, steps, game):
    largest = [max_exponent(shown(step, game)[1]) for step in steps]
    for before, now, at in zip(np.maximum([8, *largest], 8), largest, itertools.count(1)):
        if now > before:
            ax.axvline(at, color=PALE, linewidth=1, zorder=0)
            note = {"xycoords": ("data", "axes fraction"), "fontsize": 10, "color": GREY}
            ax.annotate(str(game.tile(now)), (at, 0.99), ha="right", va="top", rotation=90, **note)
