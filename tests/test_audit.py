"""What docs/audit.md says in words is what its programs print today."""

import re

import pages
import pytest

from lib2048.course import papers

PAGE = "docs/audit.md"
TEXT = pages.text_of(PAGE)
REVERSED = papers.pairs().query("verdict == 'less'")


@pytest.mark.parametrize("number", range(5))
def test_its_programs_print_what_it_shows(number):
    code, printed = pages.code_of(PAGE)[number], pages.printed_of(PAGE)[number]
    assert printed == pages.run(code)


def test_there_are_five_programs():
    assert len(pages.code_of(PAGE)) == 5


def test_without_td_autostep_is_ahead_of_small_rates_of_tc():
    rules = REVERSED[REVERSED["figure"] == "jaskowski-table1"]
    rules = rules[~(rules["better"] + rules["worse"]).str.contains("TD")]
    assert len(rules) and rules["worse"].str.startswith("Autostep").all()
    assert set(rules["better"]) <= {"TC(0.5), beta = 0.1", "TC(0.5), beta = 0.5"}
    asked = papers.rows("jaskowski-table1").query("plies == 1").set_index("row")
    asked = asked.loc[list({*rules["better"], *rules["worse"]})]
    assert set(asked["seeds"]) == {3} and set(asked["our budget"]) == {9e7}
    whole = asked["paper"]
    assert all(
        whole[better] > whole[worse] for better, worse in zip(rules["better"], rules["worse"])
    )


def test_the_single_stage_wins_all_reversed_pairs_of_stages():
    stages = REVERSED[REVERSED["figure"] == "jaskowski-table3"]
    assert len(stages) == 3 and set(stages["worse"]) == {"1 stage"}
    assert "all three pairs of Table III" in TEXT


def test_small_batches_win_nine_of_the_reversed_pairs_of_value_networks():
    values = REVERSED[REVERSED["figure"].str.startswith("matsuzaki")]
    small = values["worse"].isin(["position", "batch64", "shuffle64", "64 positions"])
    assert (len(values), small.sum()) == (10, 9) and set(values["worse"][~small]) == {"CNN12"}
    (symmetry,) = papers.orders("matsuzaki-table5").to_dict("records")
    assert symmetry["same"] == symmetry["decided"]
    assert f"All {symmetry['decided']} decided pairs of Table 5" in TEXT


def test_the_line_lies_above_the_paper_and_promotion_is_not_decided():
    *_, promotion, _, line = pages.printed_of(PAGE)
    ours, theirs = (int(n.replace(",", "")) for n in re.findall(r"\d+,\d+", line))
    assert ours > theirs + 30_000
    leads = re.findall(r"\+([\d,]+) ± ([\d,]+)", promotion)
    (one, half), (again, other) = [[int(n.replace(",", "")) for n in lead] for lead in leads]
    assert one > half and again < other  # "though not in all games"
