"""Make the widgets of the lessons live in the book: python tools/live.py

live.js      docs/board/live.js: a button over each picture of a widget, which loads what follows
NAME.js      the widget itself, as JupyterLab has it, and docs/board/live_NAME.js, which answers it
             where a kernel would; NAME.css, its looks
game.js      a recorded game of the shipped network: its luck, its actions, what it expected
curves_*.js  the curves of an explorer: its catalogue, and the points of its rows
known_threes.js  what the widget has to know of Threes!

`alive` puts the place of such a widget around the picture that a notebook has stored.
"""

import ast
import functools
import html
import json
import re

import numpy as np
import play_page
from play_page import BOARD, MADE, ROOT, block, script

import lib2048
from lib2048 import PlayWidget, ReplayWidget, SmallGame, course, load, record_game
from lib2048.game.board import to_tiles
from lib2048.machine.printed import thousands
from lib2048.show.widgets.base import EXPORT, front_end, style_sheet

WIDGETS, EXPLORERS = ROOT / "lib2048/show/widgets", ROOT / "lib2048/course/explorers"
KINDS = {
    "small": EXPLORERS / "small.js",
    "curves": EXPLORERS / "curves.js",
    "replay": WIDGETS / "replay.js",
    "threes": WIDGETS / "play.js",
}
RENDER = re.compile(r"^export default \{ render: (.*) \};$", re.MULTILINE)
PLAYER, SEED, GAME = ROOT / "data/weights/42-33-tuned.npz", 2048, 8  # a game to 16384
MOST = 120  # points of a curve
DIGITS = (0, 0, 1, 0, 0)  # of what a point has: actions, games, seconds, mean, half its interval
STILL = re.compile(r'<div class="lib2048-still">')
NOTE = re.compile(r"<p><small>This is a picture of it\..*?</small></p>", re.DOTALL)
CALL = re.compile(r"\b(\w+(?:Widget|Explorer))\(")
# What a lesson's learner is, as far as the page can train it.
TRAINS = {"06": {"rate": "1"}, "08": {"network": "four 5-tuples", "rate": "0.5"}}
SMALLER = " In this page a smaller network learns, by the rule of lesson 10."
THEN = {"06": ": first α = 1, then α = 0.01.", "08": f": first λ = 0, then λ = 0.5.{SMALLER}"}
NOTES = {
    "play": "In this page, with nothing to install.",
    "train": "One learner at a time{} Earlier curves stay.",
    "replay": "Another game than the picture's, by a far stronger player.",
    "small": "It is solved in this page, in a second.",
    "curves": "In this page, from the recorded rows.",
    "threes": "In this page, by yourself.",
}


def main():
    """Say how large the files are."""
    for name, text in (scripts() | data()).items():
        print(f"{name}: {len(text.encode()):,} bytes")


# ---------------------------------------------------------------- scripts


@functools.cache
def scripts():
    """Return the scripts and their looks: {name: text}."""
    found = {"live.js": block(play_page.text(BOARD / "live.js"))}
    for kind, entry in KINDS.items():
        found[f"{kind}.js"] = widget(entry, kind) + page(kind)
        found[f"{kind}.css"] = MADE + style_sheet(entry) + play_page.text(BOARD / "beside.css")
    return found


def widget(entry, kind):
    """Return a widget's front end, which hands over its `render`."""
    text, count = RENDER.subn(rf"globalThis.lib2048Live.renders.{kind} = \1;", front_end(entry))
    if count != 1:
        raise ValueError(f"{entry} does not end in export default {{ render: … }};")
    return block(EXPORT.sub("", text))


def page(kind):
    """Return what answers a widget in the kernel's place."""
    first = ""
    if kind == "small":
        first = f"const WORKER = {json.dumps(front_end(BOARD / 'solver_worker.js'))};\n"
    return script(BOARD / f"live_{kind}.js", first)


# ---------------------------------------------------------------- what they show


def told(name, what):
    """Return the script that brings some data."""
    words = json.dumps(what, ensure_ascii=False, separators=(",", ":"))
    return f"{MADE}globalThis.lib2048Live.data[{json.dumps(name)}] = {words};\n"


@functools.cache
def data():
    """Return the data that all lessons share: {name: text}."""
    traits = ("game", "about", "message")
    threes = PlayWidget(game="threes")
    about = {name: getattr(threes, name) for name in traits} | {"players": []}
    return {
        "game.js": told("game", recorded_game()),
        "known_threes.js": told("threes", about),
        "curves_all.js": told("curves_all", curves(course.CurvesExplorer("rules", "late"))),
    }


@functools.cache
def recorded_game():
    """Return a game of the shipped network: what recorded.js makes a replay of."""
    steps = record_of_game()
    record = ReplayWidget(steps).record
    actions = "".join(str(step.action) for step in steps[:-1])
    values = [round(value) for value in record["values"]]
    about = {"game": record["game"], "seed": str(SEED), "number": GAME}
    return about | {"actions": actions, "values": values}


def words():
    """Return what the pages say of that game: {a word in the page: a text}."""
    steps = record_of_game()
    score = sum(int(step.reward) for step in steps)
    tile = max(map(max, to_tiles(steps[-1].board)))
    return {
        "@actions@": thousands(len(steps) - 1),
        "@points@": thousands(score),
        "@tile@": str(tile),
    }


@functools.cache
def record_of_game():
    return record_game(load(PLAYER), SEED, GAME)


def curves(explorer):
    """Return an explorer's catalogue and the points of its rows, thinned and rounded."""
    rows = range(len(explorer.catalogue["rows"]))
    found = {row: explorer._news(explorer._row(row), True) for row in rows}
    for news in (curve for row in found.values() for curve in row):
        points = news["points"]
        last = len(points) - 1
        some = np.unique(np.linspace(0, last, min(MOST, last + 1)).round().astype(int))
        news["points"] = [rounded(points[n]) for n in some]
    return {"catalogue": explorer.catalogue, "curves": found}


def rounded(point):
    return [x if x is None else round(x, n) or 0 for x, n in zip(point, DIGITS, strict=True)]


# ---------------------------------------------------------------- in a lesson


def alive(notebook, lesson):
    """Let the pictures of widgets in a notebook come alive where the page can do that.

    It changes the notebook, a dict; lesson: its name.
    Returns {name of a script: its text}, the data that only this lesson has.
    """
    found, last = {}, None
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        pictures = [o for o in cell["outputs"] if STILL.search(html_of(o))]
        called = CALL.findall(source)
        if not pictures or not called:
            continue
        kind, about = place(called[-1], source, lesson, number, found)
        if kind is None:
            continue
        [output] = pictures
        picture = NOTE.sub("", html_of(output))
        words = html.escape(json.dumps(about, ensure_ascii=False))
        note = NOTES[kind].format(THEN.get(lesson[:2], "."))
        output["data"]["text/html"] = (
            f'<div class="live-2048" data-live="{kind}" data-note="{note}" '
            f'data-about="{words}">{picture}</div>'
        )
        last = output["data"]
    if last:
        last["text/html"] += '\n<script src="../_static/play/live.js"></script>'
    return found


def html_of(output):
    return "".join(output.get("data", {}).get("text/html", ""))


def place(name, source, lesson, number, found):
    """Return (kind, what it is told) of a widget in a cell; (None, None): it stays a picture."""
    if name == "PlayWidget":
        if "threes" in source:
            return "threes", {"files": ["known_threes.js"]}
        return "play", {}
    if name == "TrainWidget":
        return "train", TRAINS.get(lesson[:2], {})
    if name == "ReplayWidget":
        return "replay", {}
    if name == "SmallBoardWidget":
        return "small", small(source)
    if name == "CurvesExplorer":
        key = f"curves_{lesson[:2]}_{number}"
        found[f"{key}.js"] = told(key, curves(last_of(source)))
        return "curves", {"name": key, "files": [f"{key}.js"]}
    return None, None


def small(source):
    """Return which small board a cell shows: its size, the other way to play, its state."""
    shown = last_of(source, small=SmallGame(2, 3, progress=False))
    size = f"{shown.game.rows}×{shown.game.columns}"
    way = shown.small["name"].partition(" ")[0]
    return {"size": size, "way": way, "position": shown.position}


def last_of(source, **names):
    """Return what the last line of a cell is, of the names of the library."""
    *before, last = ast.parse(source).body
    space = {"lib2048": lib2048, "course": course, "SmallBoardWidget": lib2048.SmallBoardWidget}
    space |= names
    exec(compile(ast.Module(before, []), "<cell>", "exec"), space)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)


if __name__ == "__main__":
    main()
