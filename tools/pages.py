"""Run the code of a page of docs/ and keep what it prints.

    python tools/pages.py docs/try_an_idea.md

Each block of python on the page is a program of its own.  What it prints is written into the block
of text that follows it on the page, so no result is copied by hand; where none follows, nothing is
kept.  The tests run the same blocks at small budgets (`code_of`, `run`).
"""

import contextlib
import io
import re
import runpy
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.DOTALL)


def code_of(page):
    """Return the programs on a page, as texts.  page: its path from the root."""
    return [block["code"] for block in BLOCK.finditer(text_of(page))]


def printed_of(page):
    """Return what the page says that each of its programs prints; None where it says nothing."""
    return [block["printed"] for block in BLOCK.finditer(text_of(page))]


def text_of(page):
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


def run(code, budgets=()):
    """Run a program and return what it prints.

    budgets: {a text of the program: what stands there instead}.  Raises ValueError where it lacks
    such a text.  The program lies in a file meanwhile, since functions that go into the learning
    loop travel as their source.
    """
    for full, small in dict(budgets).items():
        if full not in code:
            raise ValueError(f"the program has no {full!r}")
        code = code.replace(full, small)
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
        path = Path(folder) / "program.py"
        path.write_text(code, encoding="utf-8")
        runpy.run_path(str(path), run_name="__main__")
    return out.getvalue()


def refreshed(text):
    """Return the text of a page with what its programs print today."""

    def again(block):
        if block["printed"] is None:
            return block[0]
        begin = time.perf_counter()
        printed = run(block["code"])
        print(f"{time.perf_counter() - begin:.0f} s", printed, sep="\n", file=sys.stderr)
        return f"```python\n{block['code']}```\n\n```text\n{printed}```\n"

    return BLOCK.sub(again, text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(refreshed(text_of(Path(name).resolve())), encoding="utf-8")
