"""Every table and figure of the papers is in the index; each number beside theirs is the data's."""

import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lib2048 import data
from lib2048.cli import main
from lib2048.course import papers, recorded_tests

ROOT = Path(__file__).resolve().parents[1]
FIGURES = tomllib.loads(data("figures.toml").read_text(encoding="utf-8"))
# How many tables and figures the sources number.
NUMBERED = {"jaskowski-table": 7, "jaskowski-figure": 5, "matsuzaki-table": 11,
            "matsuzaki-figure": 17, "amar-figure": 7, "lab-block": 2}  # fmt: skip
ROWS = {name: papers.rows(name) for name in FIGURES}
DRAWN = [name for name in FIGURES if len(ROWS[name])]
RUN = [name for name in DRAWN if (ROWS[name]["run"] != "").any() and "like" not in FIGURES[name]]
RUN.remove("jaskowski-table5")


@pytest.mark.parametrize(("kind", "count"), NUMBERED.items())
def test_the_index_names_every_table_and_figure(kind, count):
    named = {name for name in papers.index().index if name.startswith(kind)}
    assert named == {f"{kind}{n}" for n in range(1, count + 1)}


def test_tables_of_the_published_data_are_all_named():
    tables = {path.stem for path in data("published").glob("*_table*.csv")}
    told = {about.get("table") for about in FIGURES.values()}
    sizes = {"matsuzaki2021_table1_tile_milestones", "matsuzaki2021_table2_networks"}
    assert tables - told == sizes


def test_what_has_nothing_of_ours_says_why():
    table = papers.index()
    lacking = table[(table["ours"] < table["results"]) | (table["lists"] == "")]
    assert (lacking["why"] != "").all(), lacking.index[lacking["why"] == ""]


@pytest.mark.parametrize("name", [n for n in FIGURES if "table" in FIGURES[n]])
def test_each_published_result_has_its_row(name):
    published = pd.read_csv(data(f"published/{FIGURES[name]['table']}.csv"))
    rows = ROWS[name]
    assert np.array_equal(rows["paper"], published["score_mean"], equal_nan=True)
    assert not any("{" in row for row in rows["row"])


def test_ours_is_the_mean_of_the_seeds():
    row = papers.rows("jaskowski-table3").query("row == '1 stage' and plies == 3").iloc[0]
    tests = recorded_tests("late").query("run == 'one_stage' and plies == 3 and end")
    assert row["ours"] == pytest.approx(tests["mean"].mean()) and row["seeds"] == 3
    assert row["our budget"] == 300_000_000 and 0 < row["±"] < 50_000


def test_a_run_beside_a_row_is_one_of_its_list():
    for name, about in FIGURES.items():
        for pair in about.get("ours", ()):
            told = tomllib.loads(data(f"runs/{pair['list']}.toml").read_text(encoding="utf-8"))
            runs = {job["name"] for job in told.get("run", ())}
            assert pair["run"] in runs or "line" in pair, (name, pair)


def test_orders_counts_pairs_of_what_has_seeds():
    asked = papers.orders()
    assert asked.loc["matsuzaki-table5", "pairs"] == 28
    least = asked[["paper", "ours"]].min(axis="columns")
    assert (asked["pairs"] >= least).all() and (least >= asked["both"]).all()
    assert (asked["both"] >= asked["same"]).all() and asked["same"].sum() > 0
    assert "jaskowski-figure4" not in asked.index  # it is Table I once more


def test_a_pair_that_the_paper_leaves_open_has_no_order_to_share():
    pairs = papers.pairs("matsuzaki-table6").set_index(["better", "worse"])
    assert pairs.loc[("MLP", "CNN12"), ["verdict", "paper"]].tolist() == ["less", "not decided"]
    counted = papers.orders("matsuzaki-table6").iloc[0]
    decided = pairs[(pairs["paper"] == "more") & (pairs["verdict"] != "not decided")]
    assert counted["both"] == len(decided) < counted["ours"]


def test_one_run_stands_beside_one_row():
    rows = pd.concat(ROWS[name] for name in FIGURES if "like" not in FIGURES[name])
    rows = rows[(rows["run"] != "") & (rows["list"] != "shipped")]
    assert not rows.duplicated(["figure", "list", "run", "plies"]).any()
    (long,) = ROWS["matsuzaki-table10"].query("ours == ours")["row"]
    assert long == "after 120 h"


def test_the_search_table_stands_beside_the_stages():
    rows = ROWS["jaskowski-table5"].query("ours == ours")
    assert set(rows["run"]) == {"shipped in stages"} and set(rows["our budget"]) == {1e10}


def test_another_reading_of_a_rate_changes_only_its_own_pairs():
    ours = papers.pairs("jaskowski-table1")
    runs = {f"td_{a}_shared_twice": f"td_{a}" for a in ("0.01", "0.1", "0.5", "1.0")}
    printed = papers.pairs("jaskowski-table1", instead=runs)
    of_td = (ours["better"] + ours["worse"]).str.contains("TD")
    assert printed[~of_td].equals(ours[~of_td]) and len(ours[~of_td]) == 36
    assert (printed["difference"] != ours["difference"])[of_td].all()


PAIRS = papers.pairs().to_dict("records")


@pytest.mark.parametrize("name", sorted({pair["figure"] for pair in PAIRS}))
def test_the_papers_order_is_decided_as_scipy_decides_it(name):
    published = pd.read_csv(data(f"published/{FIGURES[name]['table']}.csv")).to_dict("records")
    label = FIGURES[name]["label"].format
    printed = {(label(**row), row.get("depth_ply", 1)): row for row in published}
    for pair in (pair for pair in PAIRS if pair["figure"] == name):
        two = [printed[pair[which], pair["plies"]] for which in ("better", "worse")]
        told = [(row["score_mean"], _deviation(row), 5) for row in two]
        p_value = stats.ttest_ind_from_stats(*told[0], *told[1], equal_var=False).pvalue
        assert pair["paper"] == ("more" if p_value < 0.05 else "not decided")


def _deviation(row):
    """Return what is printed of five trainings: a deviation, or half of a Student's interval."""
    if "score_sd" in row:
        return row["score_sd"]
    return row["score_ci95"] * 5**0.5 / stats.t.ppf(0.975, 4)


def test_where_no_spread_is_printed_nothing_is_decided(monkeypatch):
    lacking = {name: {k: v for k, v in told.items() if k != "trainings"}
               for name, told in FIGURES.items()}  # fmt: skip
    monkeypatch.setattr(papers, "_figures", lambda: lacking)
    asked = papers.pairs("matsuzaki-table5")
    assert set(asked["paper"]) == {"no spread"}
    assert papers.orders("matsuzaki-table5")["both"].tolist() == [0]


@pytest.mark.parametrize("name", DRAWN)
def test_what_can_be_read_is_drawn(name):
    ax = papers.draw(name)
    plt.close(ax.figure)
    assert len(ax.get_yticklabels()) == ROWS[name]["row"].nunique()
    assert "paper" in " ".join(text.get_text() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize(
    "name", [RUN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in RUN[1:])]
)
def test_each_is_made_again_at_its_smallest_budget(name):
    if FIGURES[name].get("unit") == "positions":
        pytest.importorskip("torch")
    row = papers.run(name, minutes=papers.LEAST_MINUTES)
    assert row["now"] > 500 and row["actions now"] > 0 and row["figure"] == name


def test_what_went_on_from_a_file_is_made_again_from_the_beginning():
    made = papers.run("jaskowski-table4", "42-33 (baseline)", minutes=papers.LEAST_MINUTES)
    assert made["run"] == "promotion_on_2" and made["now"] < 100_000 < made["ours"]


def test_the_command_prints_and_draws(tmp_path, capsys):
    assert main(["figure", "jaskowski-table3", "--draw", str(tmp_path / "t.png")]) == 0
    text = capsys.readouterr().out
    assert "2^4 stages, WP" in text and "lesson 11" in text
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["figure"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in FIGURES)


WRONG = {
    ("matsuzaki-tabel3",): "matsuzaki-table3",
    ("amar-figure3", "--draw", "x.png"): "nothing to draw",
    ("jaskowski-table6", "--run"): "no run that could be made again",
    ("jaskowski-table1", "--run", "--row", "TD"): "has no row 'TD'",
    ("jaskowski-table1", "--run", "--minutes", "0"): "0.02 are the least",
    ("--run",): "which figure?",
}


@pytest.mark.parametrize(("words", "said"), WRONG.items())
def test_what_is_wrong_is_said_in_one_line(one_line_error, words, said):
    assert said in one_line_error("figure", *words)
    assert not Path("x.png").exists()


def test_the_pages_are_current():
    done = subprocess.run([sys.executable, "tools/figures.py", "--check"], cwd=ROOT)
    assert done.returncode == 0
