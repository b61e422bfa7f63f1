"""The book: it builds without a warning, holds every lesson, leads nowhere wrong, stays here."""

import inspect
import re
import runpy
from urllib.parse import unquote, urlsplit

import book
import pytest
from book_pages import Page, built, names
from docutils import nodes
from docutils.core import publish_doctree

import lib2048
from lib2048 import board, course, deep, draw, envs, mdp, plot, spec


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out, said = built(tmp_path_factory.mktemp("book"))
    assert "WARNING" not in said and "ERROR" not in said, said
    return out


@pytest.fixture(scope="module")
def pages(made):
    return {name: Page(made / name) for name in names(made)}


# ---- what was built ------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_page_of_the_repository_is_there_and_in_the_contents_of_the_first(pages):
    wanted = {re.sub(r"\.(md|ipynb)$", ".html", page) for page in book.pages().values()}
    assert wanted <= set(pages)
    wanted = {page for page in wanted if not page.startswith("data/")} | {"data/index.html"}
    assert wanted - set(pages["index.html"].addresses("a")) <= {"index.html"}
    lessons = [page for page in pages if page.startswith("lessons/")]
    assert len(lessons) == len(list((book.ROOT / "notebooks").glob("*.ipynb")))


@pytest.mark.slow
def test_no_page_loads_anything_from_another_machine(pages, made):
    loading = ("script", "link", "img", "iframe", "source", "video", "audio", "object")
    for name, page in pages.items():
        found = [a for a in page.addresses(*loading) if re.match(r"(?:\w+:)?//", a)]
        assert found == [], name
    for style in made.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()), style


@pytest.mark.slow
def test_every_link_leads_to_a_place_that_exists(pages, made):
    lost = []
    for name, page in pages.items():
        for address in page.addresses("a", "link", "script", "img"):
            to = urlsplit(address)
            if to.scheme or to.netloc:
                continue
            path = (page.path.parent / unquote(to.path)).resolve() if to.path else page.path
            there = path.exists()
            if there and to.fragment and path.suffix == ".html":
                there = unquote(to.fragment) in pages[path.relative_to(made).as_posix()].ids
            lost += [] if there else [(name, address)]
    assert lost == []


@pytest.mark.slow
def test_the_reference_describes_every_exported_name(pages):
    ids = set().union(*(page.ids for name, page in pages.items() if name.startswith("reference/")))
    modules = {"board", "course", "deep", "draw", "endgame", "mdp", "plot", "spec", "spec_threes"}
    wanted = {f"lib2048.{name}" for name in set(lib2048.__all__) - modules}
    wanted |= {f"lib2048.deep.{name}" for name in lib2048.deep.__all__}
    wanted |= {"lib2048.spec.slide", "lib2048.board.slide", "lib2048.envs.TwentyFortyEight"}
    wanted |= {"lib2048.endgame.solve", "lib2048.endgame.Table"}
    wanted |= {"lib2048.draw.board", "lib2048.plot.curves", "lib2048.course.budget"}
    assert wanted - ids == set()


# ---- how pages are put in place ------------------------------------------------------------------

FILES = book.pages()


def led(text, file="notebooks/06_td0.ipynb"):
    return book.led(text, file, FILES)


def test_links_lead_to_pages_of_the_book_and_what_is_folded_away_is_markdown():
    lab = "notebooks/homework/release/hw05/hw05.ipynb"
    assert led("[a](../../../06_td0.ipynb#x)", lab) == "[a](../lessons/06_td0.ipynb#x)"
    assert led("[a](../data/runs)", "docs/sweeps.md") == "[a](data/runs.md)"
    opened = "<summary>Why?</summary>\n\n$x$\n\n</details>\n"
    assert book.opened("<summary>Why?</summary>\n$x$\n</details>") == opened


def test_a_file_that_the_book_does_not_have_is_named():
    assert led("[the list](../data/runs/late.toml)") == "the list (`data/runs/late.toml`)"
    assert led("[`LICENSE`](../LICENSE)") == "`LICENSE`"


def test_a_link_to_nothing_ends_the_build():
    with pytest.raises(ValueError, match="06_td0.ipynb links to gone.md, which is not there"):
        led("[a](gone.md)")


def test_code_and_formulas_hold_no_links():
    for text in ("`f[a](b)`", "```\n[a](b)\n```", "$$[a](b)$$"):
        assert led(text) == text


# ---- docstrings ----------------------------------------------------------------------------------


def documented():
    """Yield all that the library exports, methods included."""
    for module in (lib2048, board, mdp, spec, draw, plot, course, deep, envs):
        names = [n for n in getattr(module, "__all__", None) or vars(module) if n[0] != "_"]
        for thing in [getattr(module, name) for name in names]:
            if inspect.isclass(thing):
                inner = [m for name, m in vars(thing).items() if name[0] != "_"]
                yield from filter(inspect.isfunction, inner)
            if callable(thing) and getattr(thing, "__module__", "").startswith("lib2048"):
                yield thing


def test_arguments_and_errors_are_said_where_editors_look_for_them():
    for thing in documented():
        doc, known = inspect.getdoc(thing) or "", list(inspect.signature(thing).parameters)
        entries = re.search(r"^Args:\n((?:    .*\n?)+)", doc, re.M)
        said = re.findall(r"^    ([a-z][\w, ]*): ", entries[1], re.M) if entries else []
        assert set(", ".join(said).split(", ")) - {""} <= set(known), doc
        prose = (
            rf"^(?:\S.*[;.] +)?(?:{'|'.join(known) or '-'})\b[\w, ]*: |(?:^|[.;] +)[Rr]aises [A-Z]"
        )
        assert not re.search(prose, doc, re.M), doc


# ---- the staircase -------------------------------------------------------------------------------


def test_the_staircase_rises_and_leads_to_lessons():
    steps = book.steps()
    means = [mean for _, _, mean, _ in steps]
    assert means == sorted(means) and means[0] < 2_000 and means[-1] > 600_000
    for page in re.findall(r'href="([^"]+)"', book.staircase(FILES)):
        assert page.replace(".html", ".ipynb") in FILES.values()


# ---- numbers -------------------------------------------------------------------------------------

NUMBERS = """
After 4·10^10 actions 100 000 games, 5.5 % of them lost; ``10^9 is 100 000 %``.

=======  ======  =====  ==================
after    share   who    what is said of it
=======  ======  =====  ==================
4·10^9   5 %     –      –
10^9     –       we     3 of them
=======  ======  =====  ==================
"""


def test_numbers_are_written_as_print_has_them_and_stand_below_each_other():
    page = publish_doctree(NUMBERS)
    runpy.run_path(str(book.ROOT / "docs/conf.py"))["_numbers"](None, page)
    said = "After 4·10¹⁰ actions 100\u202f000 games, 5.5\u202f% of them lost; 10^9 is 100 000 %."
    assert page.next_node(nodes.paragraph).astext() == said
    aligned = [cell.astext() for cell in page.findall(nodes.entry) if "number" in cell["classes"]]
    assert aligned == ["4·10⁹", "5\u202f%", "10⁹", "–"]


# ---- launch buttons ------------------------------------------------------------------------------


def test_launch_buttons_lead_to_the_notebooks_and_are_off_without_an_address():
    conf = runpy.run_path(str(book.ROOT / "docs/conf.py"))
    assert bool(conf["REPOSITORY"]) == ("launch_buttons" in conf["html_theme_options"])
    for page, place in [
        ("lessons/06_td0", "06_td0.ipynb"),
        ("labs/hw01", "homework/release/hw01/hw01.ipynb"),
    ]:
        names = ("Binder", "Colab")
        buttons = [{"text": name, "url": f"https://a/b/{page}.ipynb"} for name in names]
        group = {"label": "launch-buttons", "buttons": buttons}
        conf["_launch"](None, page, "page.html", {"header_buttons": [group]}, None)
        urls = [button["url"] for button in buttons]
        assert urls == [f"https://a/b/my/{place}", f"https://a/b/notebooks/{place}"]
        assert (book.ROOT / "notebooks" / place).exists()
