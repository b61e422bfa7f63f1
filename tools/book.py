"""Put the pages of the book in place and build it: `python tools/book.py [--out build/book]`.

The pages are files of the repository: `docs/`, the stored lessons, the labs' releases and the
READMEs of the data.  They are copied to `build/book-source`, where each gets its place in the book,
and their links are led to where they lie there.  A file that the book does not have is named
instead of linked.  The reference is made from the names that the library exports.
"""

import argparse
import importlib
import inspect
import json
import math
import os
import posixpath
import re
import shutil
import sys
import time
from pathlib import Path

import live
import pandas as pd
import play_page

from lib2048.machine.printed import thousands

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "build/book"
# The rest of docs/ is at the book's root, under its own names.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "data/contributing.md",
    "data/published/README.md": "data/published.md",
    "data/curves/README.md": "data/curves.md",
    "data/weights/README.md": "data/weights.md",
    "data/runs/README.md": "data/runs.md",
    "benchmarks/README.md": "data/benchmarks.md",
}
# What else of docs/ the book needs, and where.
COPIED = {
    "conf.py": ".",
    "*.bib": ".",
    "*.png": ".",
    "_static/*": "_static",
    "_templates/*": "_templates",
}
NO_PAGE = ["README.md"]  # links to it lead to the front page, which is docs/index.md

# Code first, so that nothing in it is taken for a link.
LINK = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|\$\$.*?\$\$"
    r"|(?P<image>!?)\[(?P<text>(?:`[^`]*`|[^\]`])*)\]\((?P<to>[^)\s]+)\)",
    re.S,
)
# Of the names of `lib2048`, in this order; and the modules that a room's page describes, too.
ROOMS = {
    "game": ("The rules", ["board", "mdp", "spec", "spec_threes"]),
    "networks": ("Networks", []),
    "learn": ("What a run is", []),
    "search": ("Looking ahead", []),
    "play": ("Players and their games", []),
    "train": ("Training", []),
    "exact": ("Small boards, solved", []),
    "show": ("Boards, plots, widgets", ["draw", "plot"]),
    "machine": ("Files", []),
}
MODULES = {
    "course": "What lessons use",
    "deep": "Neural networks",
    "envs": "Gymnasium environments",
    "course.labs": "Homework",
    "course.papers": "The papers beside our runs",
    "endgame": "Endgames, solved",
    "sweep": "Many runs",
}
# What functions of these rooms return, and nobody makes himself.
RETURNED = {
    "play": [
        "play.players.Player",
        "play.evaluation.Result",
        "play.review.Review",
        "play.experience.Experience",
        "play.statistics.Comparison",
    ],
    "train": ["train.history.History", "train.race.Race"],
}


# ---- which file is which page ----------------------------------------------------------------


def pages():
    """Return {file of the repository: page of the book}, both as text with slashes."""
    found = dict(PAGES)
    for path in sorted((ROOT / "docs").glob("*.md")):
        found[f"docs/{path.name}"] = path.name
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        found[f"notebooks/{path.name}"] = f"lessons/{path.name}"
    for path in sorted((ROOT / "notebooks/homework/release").glob("*/*.ipynb")):
        found[path.relative_to(ROOT).as_posix()] = f"labs/{path.name}"
    return found


def led(text, file, found):
    """Return a page's Markdown with its links led to pages of the book.

    Raises ValueError for a link to a file that the repository does not have.
    """

    def replaced(match):
        to = match["to"]
        if not to or re.match(r"[a-z]+:|#|_static/|\w+\.html", to):
            return match[0]
        path, _, part = to.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        page = found.get(path) or found.get(f"{path}/README.md")
        if page:
            to = posixpath.relpath(page, posixpath.dirname(found[file]) or ".")
            return f"{match['image']}[{match['text']}]({to}{'#' * bool(part)}{part})"
        if not (ROOT / path).exists():
            raise ValueError(f"{file} links to {to}, which is not there")
        if match["image"]:  # copied along
            return match[0]
        return match["text"] if f"`{path}`" in match["text"] else f"{match['text']} (`{path}`)"

    return LINK.sub(replaced, text)


def opened(text):
    """Return Markdown in which what is folded away is Markdown, too, instead of bare HTML."""
    text = re.sub(r"</summary>\s*", "</summary>\n\n", text)
    return re.sub(r"\s*</details>", "\n\n</details>\n", text)


def lesson(stored, file, found):
    """Return a notebook's text as the book shows it, and the scripts of its widgets."""
    notebook = json.loads(stored)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = opened(led("".join(cell["source"]), file, found))
    scripts = live.alive(notebook, Path(file).stem)
    return json.dumps(notebook, ensure_ascii=False), scripts


def title(file):
    """Return what the table of contents calls a lesson or a lab: its title up to the colon."""
    notebook = json.loads((ROOT / file).read_text(encoding="utf-8"))
    first = re.search(r"^# (.*)", "".join(notebook["cells"][0]["source"]), re.M)[1]
    return first.partition(":")[0].strip()


# ---- the front page --------------------------------------------------------------------------

# Plain scripts, which a page opened as a file runs, too.
ALIVE = {
    "@play@": """<link rel="stylesheet" href="_static/play/play.css">
<script src="_static/play/play.js"></script>""",
    "@train@": """<link rel="stylesheet" href="_static/play/train.css">
<script src="_static/play/train.js"></script>""",
    "@live@": """<script src="_static/play/live.js"></script>""",
}


def front(text, found):
    """Return the front page with its tables of contents and the staircase."""
    lists = {
        "lessons": [f for f in found if f.startswith(("notebooks/0", "notebooks/1"))],
        "appendices": [f for f in found if f.startswith("notebooks/A")],
        "labs": [f for f in found if f.startswith("notebooks/homework/")],
    }
    for name, files in lists.items():
        lines = [f"{title(file)} <{found[file].rpartition('.')[0]}>" for file in files]
        text = text.replace(f"@{name}@", "\n".join(lines))
    return text.replace("@staircase@", staircase(found))


# The staircase: mean scores, from a random player to the best, as recorded.
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
    ("sixteen stages that know endgames", "17", "curves/endgame_players.csv",
     "player == '42-33-4-22 in stages'"),
    ("the paper’s best, a second a move", "13",
     "published/jaskowski2018_table5_search.csv", "time_limit_ms == 1000"),
]  # fmt: skip


def steps():
    """Return the steps as recorded: a list of (player, lesson, mean score, half its interval)."""
    return [(player, lesson, *step(table, query)) for player, lesson, table, query in STEPS]


def step(table, query):
    (row,) = pd.read_csv(ROOT / "data" / table).query(query).itertuples()
    if table.startswith("published"):
        return row.score_mean, row.score_ci95
    return row.mean, row.ci95


def staircase(pages):
    """Return the staircase as a list in HTML; pages: {file of a lesson: its page in the book}."""
    found = steps()
    most = math.log(max(mean for _, _, mean, _ in found) / LEAST)
    lines = []
    for player, lesson, mean, half in found:
        share = math.log(mean / LEAST) / most
        page = next(p for f, p in pages.items() if f.startswith(f"notebooks/{lesson}_"))
        link = f'<a href="{page.replace(".ipynb", ".html")}" title="lesson {lesson}">{player}</a>'
        score = f'<span class="score"><b>{thousands(mean)}</b> ± {thousands(half)}</span>'
        bar = f'<li style="--share: {share:.3f}">{link}<span class="bar"></span>'
        lines.append(f"{bar}{score}</li>")
    return '<ol class="staircase">\n' + "\n".join(lines) + "\n</ol>"


# ---- the reference ---------------------------------------------------------------------------


def reference():
    """Return {page: text} of the reference, made from what the library exports."""
    library = importlib.import_module("lib2048")
    flat = {name: getattr(library, name) for name in sorted(set(library.__all__), key=str.lower)}
    made = {}
    for room, (heading, modules) in ROOMS.items():
        names = [name for name, thing in flat.items() if of(name, thing) == room]
        text = [head(heading, f"lib2048.{room}")]
        text += [directive("lib2048", name, flat[name]) for name in names]
        text += [f".. autoclass:: lib2048.{name}\n" for name in RETURNED.get(room, ())]
        text += [section(f"lib2048.{module}") for module in modules]
        made[f"reference/{room}.rst"] = "\n".join(text)
    for module, heading in MODULES.items():
        text = [head(heading, f"lib2048.{module}")]
        text += [directive("lib2048", n, t) for n, t in flat.items() if of(n, t) == module]
        made[f"reference/{module}.rst"] = "\n".join([*text, *members(f"lib2048.{module}")])
    made["reference/command.md"] = command()
    made["reference/index.md"] = REFERENCE.replace("@pages@", listed(made))
    return made


REFERENCE = """# The library

Everything that a lesson imports comes from `lib2048` itself: `from lib2048 import Network, train`.
What draws is reached as `draw.board`, what plots as `plot.curves`, and what only lessons need as
`course.budget`: `from lib2048 import course, draw, plot`. The pages below list these names by the
room of the library in which they live, made from its
docstrings; the last one is the command. Arrays are said with their types and shapes: `uint64[n]`
is n boards.

```{toctree}
@pages@
```
"""


def listed(names):
    """Return the lines of a table of contents in the folder of these pages."""
    return "\n".join(page.partition("/")[2].rpartition(".")[0] for page in names)


RECORDED = """# What is recorded

Where the numbers of this course come from, and how it is built. These pages lie beside the files
that they describe.

```{toctree}
@pages@
```
"""


def of(name, thing):
    """Return the room where an exported name lives; modules have sections of their own."""
    if inspect.ismodule(thing):
        return None
    return getattr(thing, "__module__", "lib2048.game").split(".")[1] if callable(thing) else "game"


def head(heading, module):
    """Return the title of a page of the reference, and what its room is for."""
    doc = inspect.getdoc(importlib.import_module(module)) or ""
    return f"{heading}\n{'=' * len(heading)}\n\n``{module}``\n\n{doc}\n"


def section(module):
    """Return a section on a module that is read as one: what it says, and its names."""
    return "\n".join([f"{module}\n{'-' * len(module)}\n", *members(module, doc=True)])


def members(module, doc=False):
    """Return the directives for a module's public names."""
    parent, _, name = module.rpartition(".")
    loaded = getattr(importlib.import_module(parent), name, None) or importlib.import_module(module)
    names = getattr(loaded, "__all__", None)
    if not names or doc:
        names = [n for n, thing in vars(loaded).items() if public(n, thing, loaded)]
    lead = [inspect.getdoc(loaded) + "\n"] if doc else []
    things = {name: getattr(loaded, name) for name in names}
    return lead + [directive(module, n, t) for n, t in things.items() if not inspect.ismodule(t)]


def public(name, thing, module):
    """Say whether a name is one that a module itself defines for others."""
    told = inspect.getdoc(thing) if callable(thing) else None
    return not name.startswith("_") and getattr(thing, "__module__", 0) == module.__name__ and told


def directive(module, name, thing):
    """Return what makes Sphinx describe one name."""
    kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
    return f".. auto{kind}:: {module}.{name}\n"


def command():
    """Return the page of the command, made from its own words."""
    from lib2048.cli import _parser

    os.environ["COLUMNS"] = "96"
    top = _parser()
    inner = next(action for action in top._actions if hasattr(action, "choices") and action.choices)
    parts = [
        f"## lib2048 {name}\n\n```\n{parser.format_help()}```\n"
        for name, parser in inner.choices.items()
    ]
    lead = "Every command says this of itself with `--help`."
    return "\n\n".join(["# The command", lead, *parts])


# ---- all together ----------------------------------------------------------------------------


def put(path, text):
    """Write a text where it is new, so that Sphinx reads again only what has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def assemble(source):
    """Put every page and what it needs into a folder; remove what belongs to no page."""
    found, kept = pages(), set()
    scripts = play_page.made() | live.scripts() | live.data()
    for file, page in found.items():
        if file in NO_PAGE:
            continue
        text = (ROOT / file).read_text(encoding="utf-8")
        if file.endswith(".ipynb"):
            text, more = lesson(text, file, found)
            scripts |= more
        else:
            text = led(text, file, found)
        for word, put_in in (ALIVE | live.words()).items():
            text = text.replace(word, put_in)
        kept.add(put(source / page, front(text, found) if page == "index.md" else text))
    data = [page for page in found.values() if page.startswith("data/")]
    made = {**reference(), "data/index.md": RECORDED.replace("@pages@", listed(data))}
    for page, text in made.items():  # written anew: what they show stands in docstrings
        (source / page).unlink(missing_ok=True)
        kept.add(put(source / page, text))
    for pattern, place in COPIED.items():
        for path in (ROOT / "docs").glob(pattern):
            (source / place).mkdir(parents=True, exist_ok=True)
            kept.add(Path(shutil.copy2(path, source / place / path.name)))
    for name, text in scripts.items():
        kept.add(put(source / "_static" / "play" / name, text))
    for path in source.rglob("*"):
        if path.is_file() and path not in kept:
            path.unlink()


def build(out, fresh=False):
    """Build the book, with warnings as errors; return the exit status of Sphinx."""
    try:
        from sphinx.cmd.build import main
    except ModuleNotFoundError:
        sys.exit("the book is built by Sphinx, of which there is none: pip install -e '.[all]'")

    source, cache = (out.with_name(f"{out.name}-{what}") for what in ("source", "read"))
    assemble(source)
    # -a: every page is written, since each has all titles beside it; only what is new is read.
    options = ["--keep-going", "-W", "-n", "-q", "-a", "-j", "auto", "-d", str(cache)]
    return main([*options, *["-E"] * fresh, str(source), str(out)])


def main():
    """Build the book and say how long it took."""
    parser = argparse.ArgumentParser(description="Build the book.")
    parser.add_argument("--out", type=Path, default=BOOK, help="folder (build/book)")
    parser.add_argument("--fresh", action="store_true", help="read every page again")
    options = parser.parse_args()
    begun = time.perf_counter()
    status = build(options.out, options.fresh)
    print(f"{options.out / 'index.html'}: {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
