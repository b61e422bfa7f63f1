"""Every result that a lesson or a page quotes has a source, and the source says the same."""

import re

import lessons
import nbformat
import pytest
import quotes

from lib2048 import cli

PAGES = {quotes.name_of(path): path for path in quotes.pages()}


ANYWHERE = quotes.sourced()["all"].keys()


@pytest.mark.parametrize("path", [*lessons.lessons(), *quotes.pages()], ids=quotes.name_of)
def test_every_result_has_its_source(path):
    assert quotes.complaints(path) == []


@pytest.mark.parametrize("page", sorted(quotes.sourced().keys() & PAGES.keys()))
def test_each_number_of_a_page_is_missed_when_it_changes(page):
    text, here = PAGES[page].read_text(encoding="utf-8"), quotes.sourced()[page]
    assert told(text, here) == here.keys()
    for words in here:
        for part in words.removeprefix("table: ").rpartition(": ")[2].split(" | "):
            copies = changed(text, part, line_of(words))
            assert words.startswith("table: ") or any(told(c, here) != here.keys() for c in copies)


def told(text, here):
    """Return the results of a page, but those that any page may say."""
    return {words for _, words in quotes.quoted_on(text, here)} - ANYWHERE


def line_of(words):
    """Return a pattern for the line that has a row of a table; of a paragraph, any line."""
    label, row, numbers = words.rpartition(": ")
    cells = [f"{re.escape(cell)}[^|]*" for cell in numbers.split(" | ")]
    return r"^\|" + r"\|(?:.*\|)? ".join([".*", *cells]) if row else ""


def changed(text, number, line):
    """Yield copies of a page, each with another last digit in one place where a number stands.

    Every digit is tried: where a number stands twice, its neighbour may be a result of the page.
    """
    pattern = re.compile(re.escape(number).replace(r"\ ", r"\s"))
    for found in pattern.finditer(text):
        begin = text.rfind("\n", 0, found.start()) + 1
        if re.match(line, text[begin : text.find("\n", found.end())]):
            at = max(n for n in range(*found.span()) if text[n].isdigit())
            yield from (f"{text[:at]}{digit}{text[at + 1 :]}" for digit in range(10))


def test_a_command_that_measures_is_one():
    sources = [one for table in quotes.sourced().values() for one in table.values()]
    commands = {source["measured"] for source in sources if "measured" in source}
    assert len(commands) > 10
    for command in commands:
        assert starts(*command.split()[:2]) or "no command is kept" in command, command


def starts(program, what):
    """Say whether a command begins so: a program that we know, and what it has or works on."""
    if program == "make":
        return f"\n{what}:" in (quotes.ROOT / "Makefile").read_text(encoding="utf-8")
    if program == "lib2048":
        return what in cli.COMMANDS
    return program in {"docker", "wc"} or any((quotes.ROOT / w).is_file() for w in (program, what))


# ---- each way to be wrong is found ---------------------------------------------------------------


def lesson(prose, code="x = 1", shown="mean 10,287 points, 12.5 %"):
    """Return a notebook of a title, a cell that shows a line, and this prose."""
    output = nbformat.v4.new_output("stream", text=shown)
    cell = nbformat.v4.new_code_cell(code, outputs=[output])
    texts = map(nbformat.v4.new_markdown_cell, ("# 3 points in a title do not count", prose))
    title, text = texts
    return nbformat.v4.new_notebook(cells=[title, cell, text])


@pytest.mark.parametrize(("prose", "found"), [
    ("It makes 10 300 points, 12 % more.", ["10 300 points", "12 %"]),
    ("From 68 834 ± 660 to 113 933 ± 2 560 points.", ["68 834 ± 660", "113 933 ± 2 560 points"]),
    ("Means of 9 292, 9 183 and 3746 points.", ["9 292", "9 183", "3746 points"]),
    ("It plays 3.5 million actions a second for 1.5 hours.", ["3.5 million actions a second",
        "1.5 hours"]),
    ("In 10 000 games, 1000 test games and 67 108 864 weights", []),
    ("Best (10 300 points), but not f(20 000).", ["10 300 points"]),
    ("Two 4s for a win, in 4 s for all.", ["4 s"]),
    ("The 32768, the 16384, lesson 07, α = 0.1, 42-33 and the year 2018.", []),
    ("`f(20 000)` and $10\\,000$ and [a link](20 000)", []),
])  # fmt: skip
def test_results_are_told_from_other_numbers(prose, found):
    assert [words for _, words in quotes.quoted(lesson(prose))] == found


TABLE = {"data": "published/jaskowski2018_table5_search.csv", "where": "depth_ply == 1"}
GUEST = {"file": "lib2048/course/tournament/guest.py", "line": "memory_mib: int = "}
RIGHT = [
    ("10 300 points", {"line": "mean"}),
    ("12 %", {"line": "mean"}),  # 12.5 to the even digit below
    ("40 points", {"code": "games = "}),
    ("5 %", {"sum": "1 / 20"}),
    ("20.32 points", {"lesson": "02", "code": "best(HAND)"}),
    ("324 710 ± 11 043", TABLE | {"value": ["score_mean", "score_ci95"]}),
    ("300 points", {"given": "a supposition"}),
    ("2 GiB", GUEST),
    ("300 KB", {"file": "tools/lessons.py", "line": "LARGEST_FILE = "}),
    ("1.7 hours", {"data": "runs/rules.toml", "value": "`collect.hours`"}),
    ("575 939", {"data": "weights/page.npz", "value": "nonzero_weights"}),
    ("14.1 million", {"sum": "14123456"}),
    ("a: 3.7 M | 2 games", {"sum": ["3720000", "2"]}),
    ("1 100 and 3 100 points", {"lesson": "05", "line": ["random: ", "greedy: "]}),
    ("table: order", {"test": "tests/test_results_page.py::test_td0"}),
    ("66 seconds", {"measured": "make lab", "on": "a laptop"}),
]
WRONG = [
    ("10 200 points", {"line": "mean"}),
    ("10 287 ± 44 points", {"line": "mean"}),
    ("10 300 points", {"line": "median"}),
    ("41 points", {"code": "games = "}),
    ("6 %", {"sum": "1 / 20"}),
    ("10 300 points", {"lesson": "02", "line": "mean"}),
    ("324 710 ± 9", TABLE | {"value": ["score_mean", "score_ci95"]}),
    ("324 710 ± 11 043", TABLE | {"value": "score_mean"}),
    ("325 000", TABLE | {"where": "depth_ply == 2", "value": "score_mean"}),
    ("300 points", {"given": "so"}),
    ("3 GiB", GUEST),
    ("1.8 hours", {"data": "runs/rules.toml", "value": "`collect.hours`"}),
    ("a: 3.7 M | 3 games", {"sum": ["3720000", "2"]}),
    ("table: order", {"test": "tests/test_results_page.py::test_none"}),
    ("66 seconds", {"measured": "make lab", "on": ""}),
    ("66 seconds", {"line": "66"}),
]
SOURCES = [(*pair, True) for pair in RIGHT] + [(*pair, False) for pair in WRONG]


@pytest.mark.parametrize(("words", "source", "right"), SOURCES)
def test_a_source_carries_its_words_or_is_found_to_be_wrong(words, source, right):
    assert quotes.holds(words, source, lesson("", "games = 40")) == right


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"memory": "mine"}, "is no source"),
        ({"sum": "open('a')"}, "is no arithmetic"),
        ({"data": "curves/depth_4x6.csv", "where": "plies == 99", "value": "mean"}, "no row of"),
    ],
)
def test_what_is_no_source_is_refused(source, said):
    with pytest.raises(ValueError, match=said):
        quotes.holds("5 points", source, lesson(""))


def test_complaints_name_what_is_missing_wrong_and_idle(tmp_path, monkeypatch):
    path = tmp_path / "06_lesson.ipynb"
    nbformat.write(lesson("It makes 10 300 points, 12 % more, then 40 %."), path)
    monkeypatch.setattr(quotes, "LISTS", [tmp_path / "quotes.toml"])
    quotes.LISTS[0].write_text(
        '[all]\n"40 %" = {given = "said everywhere"}\n'
        '["06"]\n"12 %" = {line = "median"}\n"7 points" = {sum = "3 + 4"}\n',
        encoding="utf-8",
    )
    assert quotes.complaints(path) == [
        "cell 2: '10 300 points' has no source",
        "'12 %' is not in {'line': 'median'}",
        "'7 points' is not quoted",
    ]


# ---- pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It makes 10 300 points in 5020\ns.", ["10 300 points", "5020 s"]),
        (
            "Between 3.05 to 3.8 M, 24 or 240 hours, 133 593–143 754.",
            ["3.05 to 3.8 M", "24 or 240 hours", "133 593–143 754"],
        ),
        (
            "At 0.75 of the speed; the ratio was 1.03 (0.5 before), +35.",
            ["0.75", "1.03", "0.5", "+35"],
        ),
        (
            "256 MiB of weights, 95 % of games, 16.6 million, 67 million weights, "
            "29.9 million weights, 406,927.",
            ["256 MiB", "95 %", "16.6 million", "29.9 million", "406,927"],
        ),
        ("Python 3.11, TC(0.5), α = 0.1, Section 4.1, 1.2·10⁸ actions, 10 000 games, 32768.", []),
        ("```\n20 000\n```\n`20 000` and [a link](20 000)", []),
        (
            "| a | MiB |\n|---|---|\n| `b` | 12 |\n| [c](d 7 000) | 3.5, 1 |\n| d | 9 s of e |\n",
            ["b: 12", "c: 3.5, 1", "9 s"],
        ),
        (
            "| a | b |\n|---|---|\n| c | 12 | 3 games |\n| d | 1 200 ± 3: *less* | – | 3 games |\n",
            ["d: 1 200 ± 3 | 3 games"],
        ),
        (
            "| | minutes |\n|---|---|\n| 8 s | 12 |\n| 1 100 points | none |\n",
            ["8 s: 12", "1 100 points"],
        ),
    ],
)
def test_results_of_a_page_are_told_from_other_numbers(text, found):
    assert [words for _, words in quotes.quoted_on(text)] == found


def test_a_table_that_a_test_reads_is_told_by_its_name():
    table = "| player | score |\n|---|---|\n| a, 8 s | 12 000 |\n| 9 s | wins |\n"
    assert list(quotes.quoted_on(f"1 %\n\n{table}", {"table: player"})) == [
        (1, "1 %"),
        (3, "table: player"),
        (3, "9 s"),
    ]


ROW = "a: 10 287 ± 44 | 12 %"
PAGE = "| player | score | share |\n|---|---|---|\n| `a` | 10 287 ± 44 | 12 % |\n"
LIST = f"""
[all]
[sources]
laptop = {{measured = "make lab", on = "a laptop"}}
["docs/page.md"]
laptop = ["66 seconds"]
"{ROW}" = {{data = "curves/a.csv", where = "name == 'a'", value = ["mean", "ci95", "won"]}}
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a repository of one page, its list and its data."""
    rows = "name,mean,ci95,won\na,10287.4,44.1,0.121\nb,9000,50,0.1\n"
    files = {
        "docs/page.md": f"It takes 66\nseconds.\n\n{PAGE}",
        "docs/quotes.toml": LIST,
        "data/curves/a.csv": rows,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    monkeypatch.setattr(quotes, "LISTS", [tmp_path / "docs/quotes.toml"])
    return tmp_path


@pytest.mark.parametrize(("file", "old", "new", "complaints"), [
    ("docs/page.md", "", "", []),
    ("docs/page.md", "66", "67", ["line 1: '67 seconds' has no source",
        "'66 seconds' is not quoted"]),
    ("docs/page.md", "± 44", "± 45", ["line 4: 'a: 10 287 ± 45 | 12 %' has no source",
        f"'{ROW}' is not quoted"]),
    ("docs/page.md", "seconds.", "seconds, for 9 users.", []),
    ("docs/page.md", "seconds.", "seconds, 1.7\nGB.", ["line 1: '1.7 GB' has no source"]),
    ("docs/page.md", "| `a`", "| `b` | 9 000 ± 50 | 10 % |\n| `a`",
        ["line 4: 'b: 9 000 ± 50 | 10 %' has no source"]),
    ("data/curves/a.csv", "10287.4", "10286.4", ["is not in {'data'"]),
    ("data/curves/a.csv", "0.121", "0.131", ["is not in {'data'"]),
    ("docs/quotes.toml", 'on = "a laptop"', 'on = ""', ["is not in {'measured'"]),
    ("docs/quotes.toml", '"66 seconds"', '"66 seconds", "3 GB"', ["'3 GB' is not quoted"]),
])  # fmt: skip
def test_what_changes_on_a_page_or_in_its_data_is_found(root, file, old, new, complaints):
    path = root / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    found = quotes.complaints(root / "docs/page.md")
    assert len(found) == len(complaints)
    assert all(part in line for part, line in zip(complaints, found))


def test_a_result_of_the_readme_is_found_when_it_changes(tmp_path, monkeypatch):
    for path in quotes.ROOT.iterdir():
        (tmp_path / path.name).symlink_to(path)
    text = (quotes.ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").write_text(text.replace("251 479", "251 497"), encoding="utf-8")
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    new, old = quotes.complaints(tmp_path / "README.md")
    assert "'251 497 points' has no source" in new and "'251 479 points' is not quoted" in old
