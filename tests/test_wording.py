"""What is counted in the prose of lessons: that it is counted right, and the two limits of it."""

import nbformat
import pytest
import wording
from lessons import lessons
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

# Lessons that still ask more often: a number here may only fall, and its line goes at three.
MORE_ASKED = {"02": 4, "04": 5, "13": 4}


def counted(*cells, name="42_planted.ipynb", folder):
    """Return what is counted in a lesson of these cells of Markdown."""
    path = folder / name
    nbformat.write(new_notebook(cells=[new_code_cell("1"), *map(new_markdown_cell, cells)]), path)
    return wording.sentences(path)


def texts(found, kind):
    return [one.text for one in found if getattr(one, kind)]


# ---- the stored lessons


def test_decided_is_said_of_few_verdicts():
    said = sum(wording.decided(wording.sentences(path)) for path in lessons())
    assert 0 < said <= wording.MOST_DECIDED


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_lesson_asks_nobody_but_its_reader(path):
    asked = texts(wording.sentences(path), "asked")
    assert len(asked) <= MORE_ASKED.get(path.name[:2], wording.MOST_ASKED), asked


# ---- that it counts


def test_a_sentence_ends_where_a_reader_stops(tmp_path):
    text = (
        "Let W. Jaśkowski et al. speak of 3.5 points. (|ρ| is near 0.) *Why so?* `a.b. C` is $x$.\n"
        "α = 0.1 is slow!\n\n- one item of a list\n- Another one is here. And more."
    )
    assert [one.text for one in counted(text, folder=tmp_path)] == [
        *("Let W. Jaśkowski et al. speak of 3.5 points.", "(|ρ| is near 0.)", "*Why so?*"),
        *("Xx is Xx.", "α = 0.1 is slow!", "Another one is here.", "And more."),
    ]


def test_headings_formulas_tables_code_and_references_are_no_sentences(tmp_path):
    left_out = (
        "# Is it?", "$$a = b.$$", "| a. | b? |\n|---|---|", "```\nIs it?\n```", "Its own rate is",
        "**References.** W. Jaśkowski, 2018.", "<details><summary>Why?</summary></details>",
    )  # fmt: skip
    assert counted(*left_out, folder=tmp_path) == []


def test_a_short_sentence_has_fewer_than_eight_words(tmp_path):
    found = counted(
        "It has only seven words in it. This one has eight of them in it.", folder=tmp_path
    )
    assert texts(found, "short") == ["It has only seven words in it."]


def test_questions_to_the_reader_are_not_counted(tmp_path):
    cells = (
        "Is it so? Nobody knows.", "Think first. **How many are there?** And how large are they?",
        "## Five questions\n\n**1.** Is it?\n<details><summary>Answer</summary>Why not?</details>",
        "Is that right?",
    )  # fmt: skip
    assert texts(counted(*cells, folder=tmp_path), "asked") == ["Is it so?"]


def test_a_whole_sentence_in_parentheses_is_found_and_a_part_is_not(tmp_path):
    text = (
        "It is so. (We did not test it (yet).) (One more. And its end.) It is (as we said) so. "
        "(A part) of it is in them."
    )
    found = texts(counted(text, folder=tmp_path), "aside")
    assert found == ["(We did not test it (yet).)", "(One more."]


def test_the_command_lists_texts_and_their_sentences(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["wording.py", "A2", "README.md"])
    assert wording.main() == 0
    printed = capsys.readouterr().out
    assert "sentences  short  decided  asked  aside" in printed
    assert "A2 14: short, decided:" in printed and "README.md" in printed
    monkeypatch.setattr("sys.argv", ["wording.py", "A77"])
    assert wording.main() == 2 and "no such text: A77" in capsys.readouterr().err
