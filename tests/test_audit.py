"""What docs/audit.md says in words is what its programs print today."""

import re

import pages
import pytest

from lib2048.course import papers
from lib2048.course.recorded import read_table
from lib2048.play.statistics import compare_printed

PAGE = "docs/audit.md"
TEXT = pages.text_of(PAGE)
PAIRS = papers.pairs()
REVERSED = PAIRS.query("paper == 'more' and verdict == 'less'")
ORDERS = papers.orders()


@pytest.mark.parametrize("number", range(5))
def test_its_programs_print_what_it_shows(number):
    code, printed = pages.code_of(PAGE)[number], pages.printed_of(PAGE)[number]
    assert printed == pages.run(code)


def test_there_are_five_programs_and_a_phone_shows_what_they_print():
    printed = pages.printed_of(PAGE)
    assert len(printed) == 5
    assert max(len(line) for text in printed for line in text.splitlines()) <= 43


def test_the_page_counts_intervals_and_luck():
    count = len(PAIRS)
    assert f"These are {count} intervals of ours" in TEXT
    assert f"would decide {0.05 * count:.0f} of each" in TEXT
    assert f"among the {len(REVERSED)} pairs that disagree" in TEXT
    assert not PAIRS["paper"].eq("no spread").any() and "A spread is printed in all" in TEXT


def test_two_pairs_stand_in_two_tables():
    found = []
    for name in ORDERS.index:
        runs = papers.rows(name).set_index(["row", "plies"])[["list", "run"]]
        for pair in PAIRS.query("figure == @name").to_dict("records"):
            two = (tuple(runs.loc[pair[which], pair["plies"]]) for which in ("better", "worse"))
            found.append((frozenset(two), pair["plies"]))
    assert len(found) == len(set(found)) + 2 and "two pairs stand in two tables" in TEXT


def test_another_reading_of_jaskowskis_intervals_costs_one_pair():
    lost = []
    for name in (name for name in ORDERS.index if name.startswith("jaskowski")):
        rows = papers.rows(name).set_index(["row", "plies"])
        for pair in PAIRS.query("figure == @name and paper == 'more'").to_dict("records"):
            two = [rows.loc[pair[which], pair["plies"]] for which in ("better", "worse")]
            read = [(row["paper"], row["paper ±"] / 1.96 * 5**0.5, 5) for row in two]
            lost += [name] * (compare_printed(*read).verdict != "more")
    assert lost == ["jaskowski-table1"] and "one pair of Table I would drop out" in TEXT


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
    behind = stages.query("plies == 3 and better == '2^4 stages, WP'").iloc[0]
    told = f"{-behind['difference']:,.0f} ± {behind['half']:,.0f} points behind"
    assert told.replace(",", " ") in TEXT


def test_small_batches_win_the_reversed_pairs_of_value_networks():
    values = REVERSED[REVERSED["figure"].str.startswith("matsuzaki")]
    assert set(values["figure"]) == {"matsuzaki-table3"} and len(values) == 6
    modes = read_table("published/matsuzaki2021_text_batch_modes").set_index("batch_mode")
    assert (modes.loc[values["worse"], "batch_size"] <= 64).all()
    orders = ORDERS[ORDERS.index.str.startswith("matsuzaki")]
    assert f"we both decide {orders['both'].sum()} pairs, and six" in TEXT
    symmetry = ORDERS.loc["matsuzaki-table5"]
    assert symmetry["same"] == symmetry["both"]
    assert f"All {symmetry['both']} pairs of Table 5" in TEXT


def test_what_the_paper_leaves_open_is_no_disagreement():
    left_open = PAIRS.query("paper == 'not decided' and verdict == 'less'")
    assert left_open["figure"].str.startswith("matsuzaki").all()
    assert len(left_open) == 4 and "Four more pairs would disagree" in TEXT
    rows = papers.rows("matsuzaki-table6").set_index("row").loc[["MLP", "CNN12"]]
    assert f"{abs(rows['paper'].diff().iloc[-1]):.0f} points apart" in TEXT
    assert (rows["paper's sd"] > 3000).all() and "MLP" in set(left_open["better"])


def test_the_line_lies_above_the_paper_and_promotion_has_overtaken():
    line, *_, promotion, _ = pages.printed_of(PAGE)
    ours, theirs = (int(n.replace(",", "")) for n in re.findall(r"\d+,\d+", line))
    assert ours > theirs + 30_000
    ((lead, half),) = re.findall(r"\+([\d,]+) ± ([\d,]+)", promotion)
    assert int(lead.replace(",", "")) > int(half.replace(",", ""))
