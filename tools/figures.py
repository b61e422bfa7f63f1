"""Write docs/figures.md, the index of the papers' tables and figures, from data/figures.toml.

python tools/figures.py            write it
python tools/figures.py --check    say whether it is as it would be written
"""

import sys
from pathlib import Path

from lib2048.course import papers

PAGE = Path(__file__).resolve().parents[1] / "docs" / "figures.md"
HEAD = """# The papers' tables and figures

Every table and figure of the sources, the lesson that it belongs to, the lists of `data/runs` that
stand beside it, and how many of its results have one of ours beside them. A command prints a table,
draws it, or makes one of its rows again in as many minutes as you have:

```
lib2048 figure matsuzaki-table3
lib2048 figure matsuzaki-table3 --draw table3.png
lib2048 figure jaskowski-table1 --run --row "TC(0.5), beta = 1" --minutes 2
```

The hours are those of one core, for all that the lists hold. `python tools/figures.py` writes this
page.

| name | what it shows | lesson | lists | hours | ours | why not, or not all |
|---|---|---|---|---|---|---|
"""


def page():
    """Return the page's text."""
    lines = [_line(name, row) for name, row in papers.index().iterrows()]
    return HEAD + "\n".join(lines) + "\n"


def _line(name, row):
    hours = f"{row['core-hours']:g}" if row["core-hours"] else ""
    ours = f"{row['ours']} of {row['results']}" if row["results"] else ""
    cells = (f"`{name}`", row["title"], row["lesson"], row["lists"], hours, ours, row["why"])
    return f"| {' | '.join(map(str, cells))} |"


def main(arguments):
    """Write the page, or check it; return the exit status."""
    if arguments != ["--check"]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    same = PAGE.read_text(encoding="utf-8") == page()
    print("docs/figures.md is current" if same else "docs/figures.md: run python tools/figures.py")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
