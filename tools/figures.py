"""Write docs/figures.md, the index of the papers' tables and figures, and the first table of
docs/results.md, what of them is reproduced, from data/.

python tools/figures.py            write them
python tools/figures.py --check    say whether they are as they would be written
"""

import re
import sys
from pathlib import Path

from lib2048.course import papers

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLE = re.compile(r"(?<=<!-- by tools/figures\.py -->\n).*?(?=\n\n)", re.DOTALL)
COLUMNS = "a paper's table", "same order", "of its budget"
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


def index_page():
    """Return the text of the index."""
    lines = [_line(name, row) for name, row in papers.index().iterrows()]
    return HEAD + "\n".join(lines) + "\n"


def _line(name, row):
    hours = f"{row['core-hours']:g}" if row["core-hours"] else ""
    ours = f"{row['ours']} of {row['results']}" if row["results"] else ""
    cells = (f"`{name}`", row["title"], row["lesson"], row["lists"], hours, ours, row["why"])
    return _cells(cells)


def results_page():
    """Return the text of the page of results, its first table made anew."""
    return TABLE.sub(lambda _: reproduced(), (DOCS / "results.md").read_text(encoding="utf-8"), 1)


def reproduced():
    """Return a table: of each of the papers' tables, what stands beside it and how it compares."""
    index, orders = papers.index(), papers.orders()
    lines = [
        _compared(name, index.loc[name, "title"], found, orders)
        for name, found in papers.rows().groupby("figure", sort=False)
        if found["ours"].notna().any()
    ]
    return "\n".join([_cells(COLUMNS), "|---" * len(COLUMNS) + "|", *lines])


def _compared(name, title, rows, orders):
    ours = rows[rows["ours"].notna()]
    share = 100 * ours["our budget"] / ours["paper's budget"]
    both, same = orders.loc[name, ["both", "same"]] if name in orders.index else (0, 0)
    order = f"{same} of {both}" if both else "–"
    return _cells((f"{title} (`{name}`)", order, f"{_span(share, _round)} %"))


def _cells(cells):
    return f"| {' | '.join(map(str, cells))} |"


def _span(numbers, said):
    """Return what numbers span, such as 1–25."""
    return "–".join(dict.fromkeys((said(numbers.min()), said(numbers.max()))))


def _round(share):
    """Return a share in per cent, small ones with a decimal: 0.8, 25."""
    return f"{share:.0f}" if share >= 1 else f"{share:.1f}"


PAGES = {"figures.md": index_page, "results.md": results_page}


def main(arguments):
    """Write the pages, or check them; return the exit status."""
    wrong = []
    for name, page in PAGES.items():
        if arguments != ["--check"]:
            (DOCS / name).write_text(page(), encoding="utf-8")
        elif (DOCS / name).read_text(encoding="utf-8") != page():
            wrong.append(f"docs/{name}: run python tools/figures.py")
    if arguments == ["--check"]:
        print("\n".join(wrong) or "docs/figures.md and docs/results.md are current")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
