"""The leaderboard of a tournament: who is where, and as CSV and as a page of HTML."""

import csv
import html
import io
from dataclasses import dataclass

from lib2048.play.evaluation import Result
from lib2048.play.statistics import compare
from lib2048.show.words import thousands

COLUMNS = (
    "place", "player", "file", "games", "mean", "ci95", "reach_2048", "max", "moves",
    "ms_per_move", "verdict", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Standing:
    """What a submission did: its file's name, its games, and what there is to say.

    result: `Result`, or None where it played no game; out: its games do not count; name: what it
    calls itself, "" for its file's name.
    """

    file: str
    result: Result | None = None
    note: str = ""
    out: bool = False
    name: str = ""


class Leaderboard:
    """The submissions of a tournament, the highest mean score first.

    standings: list of `Standing`; settings: dict of games, seed and ms_per_move.  `rows` holds a
    dict of COLUMNS a submission, with None where there is no number.  Players with equal means
    share a place.  Those that are out follow without one, then those that did not play.
    """

    def __init__(self, standings, settings):
        self.settings = settings
        ranked = sorted((s for s in standings if s.result and not s.out), key=_by_mean)
        rest = sorted((s for s in standings if not s.result or s.out), key=lambda s: not s.result)
        names = _told_apart([*ranked, *rest])
        verdicts = [_verdict(*pair) for pair in zip(ranked, ranked[1:], strict=False)]
        self.comparisons = len(verdicts)
        verdicts += [None] * (len(names) - len(verdicts))
        places = [1 + sum(b.result.mean > a.result.mean for b in ranked) for a in ranked]
        places += [None] * len(rest)
        rows = zip(places, names, [*ranked, *rest], verdicts, strict=True)
        self.rows = [_row(*row) for row in rows]

    def as_dict(self):
        """Return the leaderboard as the command line's JSON holds it."""
        return self.settings | {"comparisons": self.comparisons, "players": self.rows}

    def csv(self):
        """Return the rows as CSV, a cell empty where there is no number."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return text.getvalue()

    def html(self):
        """Return a page that loads nothing from outside."""
        return _page(self)

    def __str__(self):
        return "\n".join(map(_line, self.rows))


def _by_mean(standing):
    return -standing.result.mean, standing.file


def _told_apart(standings):
    """Return the players' names; those that several share get their file's name as well."""
    names = [standing.name or standing.file for standing in standings]
    return [
        f"{name} ({standing.file})" if names.count(name) > 1 else name
        for name, standing in zip(names, standings, strict=True)
    ]


def _verdict(a, b):
    """Compare two players by their games: game n of both had the same luck.

    One game decides nothing.
    """
    if len(a.result.scores) < 2:
        return "not decided"
    return compare(a.result.scores, b.result.scores, paired=True).verdict


def _row(place, name, standing, verdict):
    result = standing.result
    row = dict.fromkeys(COLUMNS) | {"place": place, "player": name, "file": standing.file}
    row |= {"games": len(result.scores) if result else 0, "verdict": verdict}
    row["note"] = standing.note
    if place is not None:
        row |= {"mean": result.mean, "max": result.max}
        row["ci95"] = result.ci95 if len(result.scores) > 1 else None
        row["reach_2048"] = float((result.largest >= 11).mean())
    if result and result.moves:
        row |= {"moves": result.moves, "ms_per_move": 1000 * result.seconds / result.moves}
    return row


def _line(row):
    """Return a row as a line of text."""
    place = f"{row['place']:>3}" if row["place"] else "  –"
    note = f"   ({row['note']})" if row["note"] else ""
    if row["mean"] is None:
        return f"{place}  {row['player']}{note}"
    verdict = f"   {row['verdict']}" if row["verdict"] else ""
    return f"{place}  {row['player']}: {_mean(row)} points{verdict}{note}"


# ---------------------------------------------------------------- numbers, as people read them


def _mean(row):
    return thousands(row["mean"]) + (
        f" ± {thousands(row['ci95'])}" if row["ci95"] is not None else ""
    )


def _milliseconds(value):
    return f"{value:.2g}" if value < 10 else thousands(value)


def _share(value):
    return f"{100 * value:.0f} %" if value in (0, 1) or 0.1 <= value <= 0.9 else f"{value:.1%}"


# ---------------------------------------------------------------- the page

STYLE = """
:root { --ink: #3c3a32; --soft: #6b645a; --line: #e4dccf; --blue: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: #faf8ef; color: var(--ink);
  font: 18px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 78rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
h1 { margin: 0; font-size: 2.4rem; letter-spacing: -0.02em; }
.lead { margin: .3rem 0 1.8rem; color: var(--soft); }
table { width: 100%; border-collapse: collapse; background: #fff; border-radius: 10px;
  box-shadow: 0 1px 4px #0000001f; }
caption { caption-side: bottom; padding: 1.1rem .2rem 0; text-align: left; color: var(--soft);
  font-size: .95rem; max-width: 52rem; }
th { padding: .8rem .7rem; text-align: right; font-size: .82rem; color: var(--soft);
  border-bottom: 2px solid var(--line); font-weight: 600; vertical-align: bottom; }
td { padding: .65rem .7rem; text-align: right; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
th.text, td.text { text-align: left; }
td.player { white-space: normal; overflow-wrap: anywhere; min-width: 11rem; }
.name { font-weight: 650; }
.note { display: block; max-width: 46rem; color: var(--soft); font-size: .85rem; }
.tile { display: inline-block; min-width: 2.3rem; padding: .3rem .4rem; border-radius: 6px;
  background: #eee4da; text-align: center; font-weight: 700; }
.first { background: #edc22e; }
.second { background: #edcc61; }
.third { background: #ede0c8; }
svg { display: block; width: 11rem; height: 1.6rem; }
.chip { display: inline-block; padding: .12rem .65rem; border-radius: 1rem; font-size: .9rem;
  border: 2px dashed #a39a8c; color: var(--soft); }
.decided { border: 2px solid var(--blue); background: var(--blue); color: #fff; }
.out { background: #f6f3ec; color: var(--soft); }
@media (max-width: 860px) {
  body { font-size: 17px; }
  main { padding: 1.4rem .9rem; }
  h1 { font-size: 1.8rem; }
  table, tbody { display: flex; flex-direction: column; gap: .8rem; }
  table { background: none; box-shadow: none; }
  caption { order: 2; padding-top: .4rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: 1fr 1fr; gap: .25rem 1.6rem; max-width: 38rem;
    background: #fff; border-radius: 10px; padding: .8rem 1rem; box-shadow: 0 1px 4px #0000001f; }
  td { display: flex; justify-content: space-between; align-items: center; gap: .6rem; padding: 0;
    border: 0; white-space: normal; }
  td::before { content: attr(data-label); color: var(--soft); font-size: .85rem; }
  td.wide { grid-column: 1 / -1; }
  td.place { position: absolute; }
  td.player { justify-content: flex-start; align-items: start; padding: .25rem 0 .25rem 3.1rem;
    min-height: 2.3rem; }
  td.place::before, td.player::before, td.empty { display: none; }
}
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>2048 tournament</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>2048 tournament</h1>
<p class="lead">{lead}</p>
<table>
<caption>{caption}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</main>
</body>
</html>
"""

HEAD = {
    "place": "place", "player": "player", "mean": "mean score", "picture": "with its interval",
    "verdict": "against the next", "reach": "reach 2048", "max": "best game", "games": "games",
    "moves": "moves", "ms": "ms a move",
}  # fmt: skip
TEXT = {"place", "player", "picture", "verdict"}  # columns that begin at their left
WIDE = {"place", "player", "mean", "picture", "verdict"}  # a line of their own on a phone
SCORED = ("mean", "picture", "verdict", "reach", "max")  # what a row without a place has none of
MEDALS = {1: " first", 2: " second", 3: " third"}


def _page(board):
    head = "".join(
        f'<th scope="col"{_class("text" if key in TEXT else "")}>{said}</th>'
        for key, said in HEAD.items()
    )
    ends = [row["mean"] + (row["ci95"] or 0) for row in board.rows if row["mean"] is not None]
    body = "\n".join(_html_row(row, max(ends, default=1) or 1) for row in board.rows)
    said = {"lead": _lead(board), "caption": _caption(board), "head": head, "body": body}
    return PAGE.format(style=STYLE, **said)


def _lead(board):
    """Return what was played, in a sentence."""
    settings, players = board.settings, len(board.rows)
    time = settings["ms_per_move"]
    limit = f"{time:g} ms a move" if time else "weights at 1-ply"
    stopped = "" if settings["finished"] else " Stopped before everybody had played."
    return (
        f"{players} submission{'s' * (players != 1)}, {_games(settings['games'])} each, {limit}, "
        f"seed {settings['seed']}.{stopped}"
    )


def _games(count):
    return f"{thousands(count)} game{'s' * (count != 1)}"


def _caption(board):
    """Return how the table is to be read."""
    return (
        "Game number <i>n</i> gave every player the same random numbers. The dot is the mean "
        "score, and the bar is its 95 % interval. The verdict compares a player with the next one, "
        "game by game: <b>more</b> means that its mean is higher by more than luck explains; "
        "<b>not decided</b> means that these games cannot tell the two apart, not that they are "
        f"equal. There are {board.comparisons} such comparisons, and of 20 between equals about "
        "one is decided by luck. Where a player ended a game by its own fault (an error, an "
        "illegal action, too slow, too much memory), the points so far count; several such games "
        "in a row disqualify it."
    )


def _html_row(row, longest):
    place = f'<span class="tile{MEDALS.get(row["place"], "")}">{row["place"] or "–"}</span>'
    cells = {"place": place, "player": _player(row)}
    if row["place"]:
        cells |= {"mean": _mean(row), "picture": _picture(row, longest)}
        cells |= {"reach": _share(row["reach_2048"]), "max": thousands(row["max"])}
    cells |= {"verdict": _chip(row["verdict"]), "games": thousands(row["games"])}
    if row["moves"]:
        cells |= {"moves": thousands(row["moves"]), "ms": _milliseconds(row["ms_per_move"])}
    shown = [key for key in HEAD if row["place"] or key not in SCORED]
    said = "".join(_cell(key, cells.get(key, ""), len(HEAD) - len(shown)) for key in shown)
    return f"<tr{_class('' if row['place'] else 'out')}>{said}</tr>"


def _cell(key, said, missing):
    """Return a cell; a player's note takes the room of the cells that are missing."""
    kinds = [key] + ["text"] * (key in TEXT) + ["wide"] * (key in WIDE) + ["empty"] * (not said)
    span = f' colspan="{missing + 1}"' if key == "player" and missing else ""
    return f'<td data-label="{HEAD[key]}"{span}{_class(" ".join(kinds))}>{said}</td>'


def _class(names):
    return f' class="{names}"' if names else ""


def _player(row):
    """Return a player's name, with its file and what there is to say in small letters below."""
    file = row["file"] if row["file"] not in row["player"] else ""
    small = " · ".join(html.escape(text) for text in (file, row["note"]) if text)
    note = f'<span class="note">{small}</span>' if small else ""
    return f'<div><span class="name">{html.escape(row["player"])}</span>{note}</div>'


def _chip(verdict):
    if verdict is None:
        return ""
    kind = "chip" if verdict == "not decided" else "chip decided"
    return f'<span class="{kind}">{verdict}</span>'


def _picture(row, longest):
    """Return a small drawing of a mean and its interval; all rows have one scale, from 0."""
    half = row["ci95"] or 0
    low, middle, high = (
        4 + 172 * max(0, points) / longest
        for points in (row["mean"] - half, row["mean"], row["mean"] + half)
    )
    return (
        f'<svg viewBox="0 0 180 26" role="img" aria-label="{_mean(row)} points, on a scale from 0 '
        f'to {thousands(longest)}"><path d="M4 13H176" stroke="#e4dccf" stroke-width="2"/>'
        f'<path d="M{low:.1f} 13H{high:.1f}M{low:.1f} 7V19M{high:.1f} 7V19" stroke="#0072b2" '
        f'stroke-width="3"/><circle cx="{middle:.1f}" cy="13" r="4.5" fill="#0072b2"/></svg>'
    )
