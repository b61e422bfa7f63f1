"""Every result that a lesson quotes has a source, and the source says the same."""

import lessons
import nbformat
import pytest
import quotes


@pytest.mark.parametrize("path", lessons.lessons(), ids=lambda path: path.name[:2])
def test_every_result_has_its_source(path):
    assert quotes.complaints(path) == []


# ---- each way to be wrong is found ---------------------------------------------------------------


def lesson(prose, code="x = 1", shown="mean 10,287 points, 12.5 %"):
    """Return a notebook of a title, a cell that shows a line, and this prose."""
    output = nbformat.v4.new_output("stream", text=shown)
    cell = nbformat.v4.new_code_cell(code, outputs=[output])
    texts = map(nbformat.v4.new_markdown_cell, ("# 3 points in a title do not count", prose))
    title, text = texts
    return nbformat.v4.new_notebook(cells=[title, cell, text])


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("It makes 10 300 points, 12 % more.", ["10 300 points", "12 %"]),
        ("From 68 834 ± 660 to 113 933 ± 2 560 points.",
         ["68 834 ± 660", "113 933 ± 2 560 points"]),
        ("Means of 9 292, 9 183 and 3746 points.", ["9 292", "9 183", "3746 points"]),
        ("It plays 3.5 million actions a second for 1.5 hours.",
         ["3.5 million actions a second", "1.5 hours"]),
        ("In 10 000 games, 1000 test games and 67 108 864 weights", []),
        ("Best (10 300 points), but not f(20 000).", ["10 300 points"]),
        ("Two 4s for a win, in 4 s for all.", ["4 s"]),
        ("The 32768, the 16384, lesson 07, α = 0.1, 42-33 and the year 2018.", []),
        ("`f(20 000)` and $10\\,000$ and [a link](20 000)", []),
    ],
)  # fmt: skip
def test_results_are_told_from_other_numbers(prose, found):
    assert [words for _, words in quotes.quoted(lesson(prose))] == found


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("10 300 points", {"line": "mean"}),
        ("12 %", {"line": "mean"}),  # 12.5 to the even digit below
        ("40 points", {"code": "games = "}),
        ("5 %", {"sum": "1 / 20"}),
        ("20.32 points", {"lesson": "02", "code": "best(HAND)"}),
        ("324 710 ± 11 043", {"data": "published/jaskowski2018_table5_search.csv",
                              "where": "depth_ply == 1",
                              "value": ["score_mean", "score_ci95"]}),
        ("300 points", {"given": "a supposition"}),
    ],
)  # fmt: skip
def test_a_source_carries_its_words(words, source):
    assert quotes.holds(words, source, lesson("", "games = 40"))


@pytest.mark.parametrize(
    ("words", "source"),
    [
        ("10 200 points", {"line": "mean"}),
        ("10 287 ± 44 points", {"line": "mean"}),
        ("10 300 points", {"line": "median"}),
        ("41 points", {"code": "games = "}),
        ("6 %", {"sum": "1 / 20"}),
        ("10 300 points", {"lesson": "02", "line": "mean"}),
        ("324 710 ± 9", {"data": "published/jaskowski2018_table5_search.csv",
                         "where": "depth_ply == 1", "value": ["score_mean", "score_ci95"]}),
        ("324 710 ± 11 043", {"data": "published/jaskowski2018_table5_search.csv",
                              "where": "depth_ply == 1", "value": "score_mean"}),
        ("325 000", {"data": "published/jaskowski2018_table5_search.csv",
                     "where": "depth_ply == 2", "value": "score_mean"}),
        ("300 points", {"given": "so"}),
    ],
)  # fmt: skip
def test_a_wrong_source_is_found(words, source):
    assert not quotes.holds(words, source, lesson("", "games = 40"))


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
    monkeypatch.setattr(quotes, "LIST", tmp_path / "quotes.toml")
    quotes.LIST.write_text(
        '[all]\n"40 %" = {given = "said everywhere"}\n'
        '["06"]\n"12 %" = {line = "median"}\n"7 points" = {sum = "3 + 4"}\n',
        encoding="utf-8",
    )
    assert quotes.complaints(path) == [
        "cell 2: '10 300 points' has no source",
        "'12 %' is not in {'line': 'median'}",
        "'7 points' is not quoted",
    ]
