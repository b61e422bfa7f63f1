"""The leaderboard of a tournament: who is where, and as CSV and as a page of HTML."""

import html
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path
from string import Template

from lib2048.course.safely import csv_of
from lib2048.machine.printed import counted, mean, table, thousands
from lib2048.play.evaluation import Result
from lib2048.play.statistics import compare

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

    standings: list of `Standing`; settings: dict of games, seed, ms_per_move and, where it is not
    2048, game.  `rows` holds a dict of COLUMNS a submission, with None where there is no number.
    Players with equal means share a place.  Those that are out follow without one, then those that
    did not play.
    """

    def __init__(self, standings, settings):
        self.settings = settings
        ranked = [s for s in standings if s.result and not s.out]
        ranked.sort(key=lambda standing: (-standing.result.mean, standing.file))
        rest = sorted((s for s in standings if not s.result or s.out), key=lambda s: not s.result)
        everybody = [*ranked, *rest]
        names = [standing.name or standing.file for standing in everybody]
        names = [
            f"{name} ({standing.file})" if names.count(name) > 1 else name
            for name, standing in zip(names, everybody, strict=True)
        ]
        verdicts = [_verdict(*pair) for pair in pairwise(ranked)]
        self.comparisons = len(verdicts)
        places = [1 + sum(b.result.mean > a.result.mean for b in ranked) for a in ranked]
        self.rows = [_row(*told) for told in zip_longest(places, names, everybody, verdicts)]

    def as_dict(self):
        """Return the leaderboard as the command line's JSON holds it."""
        return self.settings | {"comparisons": self.comparisons, "players": self.rows}

    def csv(self):
        """Return the rows as CSV, a cell empty where there is no number."""
        return csv_of(COLUMNS, self.rows)

    def html(self):
        """Return a page that loads nothing from outside."""
        kinds = {key: _class("text" if key in TEXT else "") for key in HEAD}
        head = "".join(f'<th scope="col"{kinds[key]}>{said}</th>' for key, said in HEAD.items())
        ends = [row["mean"] + (row["ci95"] or 0) for row in self.rows if row["mean"] is not None]
        body = "\n".join(_html_row(row, max(ends, default=1) or 1) for row in self.rows)
        words = {"comparisons": self.comparisons, "lead": self._lead(), "head": head, "body": body}
        return Template(PAGE.read_text(encoding="utf-8")).substitute(words)

    def _lead(self):
        """Return what was played, in a sentence."""
        settings, players = self.settings, len(self.rows)
        games, time = settings["games"], settings["ms_per_move"]
        limit = f"{time:g} ms a move" if time else "weights at 1-ply"
        game = f" of {settings['game']}" if "game" in settings else ""
        stopped = "" if settings["finished"] else " Stopped before everybody had played."
        who, what = counted(players, "submission"), counted(games, "game")
        return f"{who}, {what}{game} each, {limit}, seed {settings['seed']}.{stopped}"

    def __str__(self):
        heads = ">place", "player", ">mean score, points", HEAD["verdict"], ">best game", "note"
        return table(heads, map(_line, self.rows))


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
    """Return a row as the cells of a table."""
    score = None if row["mean"] is None else _mean(row)
    return row["place"] or "–", row["player"], score, row["verdict"], row["max"], row["note"]


# ---------------------------------------------------------------- numbers, as people read them


def _mean(row):
    return mean(row["mean"], row["ci95"])


def _share(value):
    return f"{100 * value:.0f} %" if value in (0, 1) or 0.1 <= value <= 0.9 else f"{value:.1%}"


# ---------------------------------------------------------------- the page

PAGE = Path(__file__).with_suffix(".html")  # its form, with $lead, $head, $body

HEAD = {
    "place": "place", "player": "player", "mean": "mean score", "picture": "with its interval",
    "verdict": "against the next", "reach": "reach 2048", "max": "best game", "games": "games",
    "moves": "moves", "ms": "ms a move",
}  # fmt: skip
TEXT = {"place", "player", "picture", "verdict"}  # columns that begin at their left
WIDE = {"place", "player", "mean", "picture", "verdict"}  # a line of their own on a phone
SCORED = ("mean", "picture", "verdict", "reach", "max")  # what a row without a place has none of
MEDALS = {1: " first", 2: " second", 3: " third"}


def _html_row(row, longest):
    place = f'<span class="tile{MEDALS.get(row["place"], "")}">{row["place"] or "–"}</span>'
    cells = {"place": place, "player": _player(row)}
    if row["place"]:
        cells |= {"mean": _mean(row), "picture": _picture(row, longest)}
        cells |= {"reach": _share(row["reach_2048"]), "max": thousands(row["max"])}
    cells |= {"verdict": _chip(row["verdict"]), "games": thousands(row["games"])}
    if row["moves"]:
        ms = row["ms_per_move"]
        cells |= {"moves": thousands(row["moves"]), "ms": f"{ms:.2g}" if ms < 10 else thousands(ms)}
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
    kind = "chip" if verdict == "not decided" else "chip decided"
    return f'<span class="{kind}">{verdict}</span>' if verdict else ""


def _picture(row, longest):
    """Return a small drawing of a mean and its interval; all rows have one scale, from 0."""
    half = row["ci95"] or 0
    points = (row["mean"] + side * half for side in (-1, 0, 1))
    low, middle, high = (4 + 172 * max(0, x) / longest for x in points)
    return (
        f'<svg viewBox="0 0 180 26" role="img" aria-label="{_mean(row)} points, on a scale from 0 '
        f'to {thousands(longest)}"><path d="M4 13H176" stroke="#e4dccf" stroke-width="2"/>'
        f'<path d="M{low:.1f} 13H{high:.1f}M{low:.1f} 7V19M{high:.1f} 7V19" stroke="#0072b2" '
        f'stroke-width="3"/><circle cx="{middle:.1f}" cy="13" r="4.5" fill="#0072b2"/></svg>'
    )
