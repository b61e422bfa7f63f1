"""The pages of the book keep their promises: their programs run, their numbers add up."""

import re

import lessons
import nbformat
import pages
import pytest
from tiers import one_in

from lib2048 import cli, from_tiles

IDEAS = "docs/try_an_idea.md"
VERDICTS = {"more", "less", "not decided"}
KINDS = ["index", "value", "update", "rule", "network"]


def rows(printed):
    """Return {name: verdict} of what an example prints, without its numbers."""
    lines = printed.splitlines()[3:]
    found = [re.fullmatch(r"(.*?) +3 +-?[\d.].* (more|less|not decided)", line) for line in lines]
    return {row[1].strip(): row[2] for row in found}


@pytest.mark.parametrize("number", one_in(5, range(5)), ids=KINDS)
def test_an_idea_is_tried_in_a_few_lines(number):
    code, printed = pages.code_of(IDEAS)[number], pages.printed_of(IDEAS)[number]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    assert rows(printed) and "(1, 2, 3)" in code
    again = pages.run(code, {"actions=3_000_000": "actions=3_000, games=10, progress=False"})
    assert rows(again).keys() == rows(printed).keys()
    assert set(rows(again).values()) <= VERDICTS


def test_there_is_an_idea_of_each_kind():
    told = re.findall(r"^## An? (\w+) of your own$", pages.text_of(IDEAS), re.MULTILINE)
    assert told == KINDS and len(pages.code_of(IDEAS)) == len(KINDS)


def test_a_program_that_lacks_its_budget_is_refused():
    with pytest.raises(ValueError, match="the program has no 'actions=5'"):
        pages.run("print(1)", {"actions=5": "actions=1"})


def test_a_page_gets_what_its_programs_print():
    page = "A.\n\n```python\nprint(6 * 7)\n```\n\n```text\nold\n```\n\n```python\n1 / 0\n```\n"
    assert pages.refreshed(page) == page.replace("old", "42")


# ---- the glossary --------------------------------------------------------------------------------

TERMS = re.findall(
    r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| \[(\w\d)\]\(\S+\) \|$",
    pages.text_of("docs/glossary.md"),
    re.MULTILINE,
)


def words_of(lesson):
    """Return all that a lesson says, without its links to other lessons and its references."""
    (path,) = (path for path in lessons.lessons() if path.name.startswith(lesson))
    said = "\n\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells)
    said = re.sub(r"\[[^]]*\]\([^)]*\.ipynb\)", "", said)
    return "\n\n".join(part for part in said.split("\n\n") if "**References" not in part)


def uses(lesson, term):
    """Say whether a lesson has a term, or words that begin so."""
    term = re.escape(term.lower()).replace(r"\ ", r"\s+")
    return bool(re.search(rf"(?<!\w){term}", words_of(lesson).replace("*", "").lower()))


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term[0])
def test_the_lesson_of_a_term_uses_it(term):
    ours, theirs, taiwans, meaning, lesson = term
    assert uses(lesson, ours.split(",")[0])
    assert theirs and re.search(r"[\u4e00-\u9fff]", taiwans)
    assert meaning.endswith(".") and len(meaning.split()) <= 25


def test_the_glossary_holds_each_term_once():
    names = [term[0] for term in TERMS]
    assert len(names) == len(set(names)) >= 50
    rows = [line for line in pages.text_of("docs/glossary.md").splitlines() if "| " in line]
    assert len(rows) == len(TERMS) + sum(line.startswith("| our word") for line in rows)


def test_a_term_that_a_lesson_lacks_is_found():
    assert not uses("01", "carousel shaping") and uses("12", "carousel shaping")


# ---- six hours -----------------------------------------------------------------------------------

SHORT = pages.text_of("docs/short_path.md")
STEP = r"\[[^]]+\]\(\.\./notebooks/([^)]+)\)"
MINUTES = dict(re.findall(rf"^\| \d \| {STEP}[^|]*\| (\d+) \|", SHORT, re.MULTILINE))
LEFT_OUT = dict(re.findall(rf"^- {STEP}: (.*)$", SHORT, re.MULTILINE))


def headings(path):
    """Return the titles of a notebook's sections."""
    cells = nbformat.read(path, as_version=4).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return re.findall(r"^##+ (.*)$", texts, re.MULTILINE)


def test_six_hours_are_six_hours():
    assert sum(map(int, MINUTES.values())) == 6 * 60 and len(MINUTES) == 8
    assert "Together that is 360 minutes" in SHORT and LEFT_OUT.keys() < MINUTES.keys()


@pytest.mark.parametrize("name", MINUTES)
def test_what_may_be_left_out_is_there_and_saves_the_minutes(name):
    path, minutes = lessons.LESSONS / name, int(MINUTES[name])
    whole = 300 if "/" in name else lessons.minutes(nbformat.read(path, as_version=4))
    left_out = re.findall(r"\*([^*]+)\*", LEFT_OUT.get(name, ""))
    assert set(left_out) <= set(headings(path))
    assert minutes < whole if name in LEFT_OUT else minutes == whole


def test_the_lab_of_the_short_path_has_its_part():
    path = lessons.LESSONS / "homework/release/hw04/hw04.ipynb"
    assert "Part 1 · Five functions" in headings(path)
    assert "300 minutes of work" in nbformat.read(path, as_version=4).cells[0].source


# ---- the README, and the page on using the library -----------------------------------------------

USING = "docs/using_the_library.md"
SMALL = {
    "actions=3_000_000": "actions=2_000, progress=False",
    "1_000_000": "2_000",
    "games=1_000": "games=2",
    "seconds=60": "actions=300",
}


def test_the_programs_of_the_library_page_run():
    pytest.importorskip("torch", reason="pip install -e '.[deep]'")
    program, player = pages.code_of(USING)
    pages.run(program, SMALL)
    scope = {}
    exec(player, scope)
    assert scope["choose"](from_tiles([[2, 2, 0, 0]] + [[0] * 4] * 3)) in range(4)


@pytest.mark.parametrize("page", ["README.md", USING, "docs/results.md", "docs/speed.md"])
def test_every_command_of_a_page_is_one(page):
    said = re.findall(r"^lib2048 (.*?)(?: +#.*)?$|`lib2048 (\w+ [^`]+)`", pages.text_of(page), re.M)
    words = [(a or b).split() for a, b in said]
    known = [line for line in words if not line[-1].isupper() and "--help" not in line]
    assert len(known) > 2
    for line in known:
        cli._parser().parse_args(line)


def test_the_experiment_of_the_readme_runs():
    (code,) = pages.code_of("README.md")
    assert "verdict" in pages.run(code, {"1_000_000": "2_000, games=10, progress=False"})


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = pages.text_of("README.md")
    assert len(text.splitlines()) <= 190
    places = re.findall(r"\]\(([^):#]+)\)", text)
    assert len(places) > 30 and all((pages.ROOT / place).exists() for place in places)
    pictures = [pages.ROOT / place for place in places if place.endswith(".png")]
    assert len(pictures) >= 2 and all(picture.stat().st_size <= 200_000 for picture in pictures)
