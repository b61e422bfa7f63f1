"""The paper's variants beside ours: every row is found, and judged as `compare` judges."""

import pandas as pd
import pytest

from lib2048 import compare, data
from lib2048.course import paper_variants, recorded_variants


def recorded_of(means, actions=500_000, seeds=(1, 2, 3), plies=1):
    """Return test games as they are recorded; means: {list/run: one a seed}."""
    rows = [
        (*run.split("/"), seed, actions, plies, mean)
        for run, found in means.items()
        for seed, mean in zip(seeds, found, strict=False)
    ]
    return pd.DataFrame(rows, columns=["list", "run", "seed", "actions", "plies", "mean"])


RECORDED = {
    "value_batches/batch1K": [100.0, 110.0, 120.0],
    "value_batches/batch64": [210.0, 230.0, 220.0],
    "value_batches/game": [90.0, 100.0],
    "value_networks/cnn22": [200.0, 215.0, 230.0],
    "value_long/cnn22": [900.0, 950.0, 1000.0],
}


def test_the_paper_changes_one_thing_at_a_time():
    paper = paper_variants()
    assert paper.loc["batch4096", "score"] == 63442  # Table 4
    assert paper.loc["ave", "score"] == 40460  # Table 5, without data augmentation
    assert paper.loc["augmented", "score"] == 33928  # Table 5, simple
    assert paper.loc["cnn22ss", "percent"] == pytest.approx(100 * (59412 / 80851 - 1))  # Table 7
    assert paper.loc["restart", "percent"] == pytest.approx(100 * (101782 / 85344 - 1))  # Table 8
    assert set(paper["experiment"]) == {"batches", "symmetry", "networks", "starts"}
    assert paper.loc["ave", "per_hour"] == 1_470_000 and paper.per_hour.isna().sum() == 4
    assert paper.index.is_unique and paper.drop(columns="per_hour").notna().all(axis=None)


def test_the_paper_is_judged_by_its_spread_over_five_trainings():
    paper = paper_variants()
    for name in ("mlp", "s-jump"):
        beyond = abs(paper.loc[name, "percent"]) > paper.loc[name, "half"]
        assert (paper.loc[name, "verdict"] != "not decided") == beyond
    assert paper.loc["ave", "half"] < paper.loc["position", "half"]  # 601 points against 7310


def test_ours_are_judged_by_their_seeds():
    ours = recorded_variants(recorded_of(RECORDED))
    assert list(ours.index) == ["batch64", "cnn22ss"]  # `game` has two seeds only
    told = compare(RECORDED["value_batches/batch64"], RECORDED["value_batches/batch1K"])
    row = ours.loc["batch64"]
    assert (row["score"], row["verdict"]) == (220, "more")
    assert (row["percent"], row["half"]) == pytest.approx((told.percent, told.percent_half))
    assert ours.loc["cnn22ss", ["against", "verdict"]].tolist() == ["cnn22", "less"]


@pytest.mark.parametrize("change", [{"actions": 250_000}, {"plies": 2}])
def test_other_tests_of_the_same_runs_are_left_out(change):
    assert recorded_variants(recorded_of(RECORDED, **change)).empty


def test_without_a_reference_nothing_is_judged():
    lone = {run: means for run, means in RECORDED.items() if not run.endswith("batch1K")}
    found = recorded_variants(recorded_of(lone))
    assert found.empty and [*found.columns, "per_hour"] == [*paper_variants().columns]


def test_what_is_recorded_has_the_columns_of_the_paper():
    assert [*recorded_variants().columns, "per_hour"] == [*paper_variants().columns]


def test_every_variant_is_a_run_of_our_lists():
    runs = pd.read_csv(data("curves/value_variants.csv"))["run"]
    for name, run in runs.str.split("/"):
        text = (data("runs") / f"{name}.toml").read_text(encoding="utf-8")
        assert f'name = "{run}"' in text
