"""The front page's staircase: mean scores, from a random player to the best, as recorded."""

import math
from pathlib import Path

import pandas as pd

DATA = Path(__file__).resolve().parents[1] / "data"
LEAST = 500  # points: where the bars begin, on a scale of ratios
# The player, the lesson that builds it, and the row that recorded its games.
STEPS = [
    ("chance alone", "01", "curves/policy_tests.csv", "run == 'random'"),
    ("rules of thumb", "A3", "curves/depth_4x6.csv", "player == 'heuristic' and plies == 1"),
    ("rules of thumb, looking ahead", "14", "curves/depth_4x6.csv",
     "player == 'heuristic' and plies == 3"),
    ("TD(0), 100 000 games", "06", "curves/depth_4x6.csv", "player == 'td0' and plies == 1"),
    ("the same, one ply further", "07", "curves/depth_4x6.csv", "player == 'td0' and plies == 2"),
    ("temporal coherence, 10¹⁰ actions", "09", "curves/depth_4x6.csv",
     "player == 'shipped' and plies == 1"),
    ("the same, three plies deep", "14", "curves/depth_4x6.csv",
     "player == 'shipped' and plies == 3"),
    ("the paper’s best, a second a move", "13",
     "published/jaskowski2018_table5_search.csv", "time_limit_ms == 1000"),
]  # fmt: skip


def steps():
    """Return the steps as recorded: a list of (player, lesson, mean score, half its interval)."""
    return [(player, lesson, *_row(table, query)) for player, lesson, table, query in STEPS]


def _row(table, query):
    (row,) = pd.read_csv(DATA / table).query(query).itertuples()
    if table.startswith("published"):
        return row.score_mean, row.score_ci95
    return row.mean, row.ci95


def html(pages):
    """Return the staircase as a list in HTML; pages: {file of a lesson: its page in the book}."""
    found = steps()
    most = math.log(max(mean for _, _, mean, _ in found) / LEAST)
    lines = []
    for player, lesson, mean, half in found:
        share = math.log(mean / LEAST) / most
        page = next(p for f, p in pages.items() if f.startswith(f"notebooks/{lesson}_"))
        page = page.replace(".ipynb", ".html")
        lines.append(
            f'<li style="--share: {share:.3f}">'
            f'<a href="{page}" title="lesson {lesson}">{player}</a>'
            f'<span class="bar"></span><span class="score"><b>{_said(mean)}</b> ± {_said(half)}'
            "</span></li>"
        )
    return '<ol class="staircase">\n' + "\n".join(lines) + "\n</ol>"


def _said(number):
    return f"{number:,.0f}".replace(",", "\u202f")
