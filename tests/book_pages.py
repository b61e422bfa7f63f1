"""The book, built once for a test file; what its pages hold."""

import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NEEDED = "sphinx myst_nb sphinx_book_theme sphinxcontrib.bibtex sphinx-mathjax-offline"
for needed in NEEDED.split():
    if find_spec(needed) is None:
        pytest.skip("pip install -e '.[all]'", allow_module_level=True)


def built(folder):
    """Build the book into a folder; return the folder and what the build said."""
    out = folder / "book"
    command = [sys.executable, ROOT / "tools/book.py", "--out", out, "--fresh"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return out, done.stderr


def names(out):
    """Return the pages of a book, without the templates that its theme leaves lying about."""
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.html"))
    return [name for name in found if not name.startswith("_static/")]


class Page(HTMLParser):
    """A page: its elements as (tag, attributes), and the names that a link may lead to."""

    def __init__(self, path):
        super().__init__()
        self.path, self.elements = path, []
        self.feed(path.read_text(encoding="utf-8"))
        self.ids = {attributes["id"] for _, attributes in self.elements if "id" in attributes}

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def addresses(self, *tags):
        """Return what these elements lead to or load."""
        found = [a.get("src") or a.get("href") for tag, a in self.elements if tag in tags]
        return [address for address in found if address]
