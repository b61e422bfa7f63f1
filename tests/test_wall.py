"""The score of a full chain, and how the best scores of recorded games stand to it."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib2048 import data
from lib2048.course import papers
from lib2048.course.wall import CHAINS, best_scores, chain_score, chains, passes


def test_a_full_chain_pays_what_its_merges_do():
    assert chain_score(16384, four=0) == 393_152 and chain_score(8192, four=0) == 180_160
    assert chain_score(32, four=0) == 128, "16 and 16, twice 8 and 8, …: 32 + 2·16 + 4·8 + 8·4"
    assert chain_score(16384) == pytest.approx(387_200)
    assert chain_score(64, four=1) == 4 * 64 + 3 * 32, "of 4s alone"


def test_fours_spare_as_many_points_as_luck_says():
    """Each 4 in place of two 2s is a merge less."""
    random = np.random.default_rng(1)
    whole = sum(1 << k for k in range(5, 15))
    spawned = 2 << (random.random((100, whole // 2)) < 0.1).astype(int)
    lasts = (spawned.cumsum(axis=1) <= whole).sum(axis=1)
    fours = [(row[:last] == 4).sum() for row, last in zip(spawned, lasts)]
    assert chain_score(16384) == pytest.approx(chain_score(16384, 0) - 4 * np.mean(fours), abs=30)


def test_best_scores_are_those_of_the_files():
    rows = best_scores("overfitting")
    told = pd.read_csv(data("curves/overfitting_evaluations.csv"))
    assert sorted(rows["best"]) == sorted(told["max"]) and set(rows["stages"]) == {1}
    first = rows.query("plies == 3 and actions == 1e9").iloc[0]
    assert first["chain"] == 16384 and first["of_chain"] == pytest.approx(
        382_836 / 387_200, abs=1e-4
    )
    assert (rows["wall"] == ((rows["of_chain"] - 1).abs() < 0.02)).all()
    assert set(best_scores("late", games=300)["games"]) == {300} and best_scores("late").empty
    assert len(best_scores("late", games=None)) > 50


def test_how_many_pass_is_counted_over_seeds():
    row = passes("late").query("run == 'redundant' and chain == 8192").iloc[0]
    told = pd.read_csv(data("curves/late_42-33_evaluations.csv"))
    told = told[(told["run"] == "redundant") & (told["actions"] == told["actions"].max())]
    stood = (told["games"] * told["reached_8192"]).sum()
    assert row["stood"] == round(stood) > 500 and row["passed"] == 1
    none = passes("overfitting").query("plies == 3 and chain == 16384").iloc[0]
    assert (none["passed"], none["low"]) == (0, 0)
    assert none["high"] == pytest.approx(1 - 0.025 ** (1 / none["stood"]))
    assert passes().query("low > share or share > high").empty


def test_the_figure_has_a_line_for_each_chain():
    ax = papers.draw("course-wall")
    lines = [
        line for line in ax.lines if len(set(line.get_ydata())) == 1 and len(line.get_xdata()) == 2
    ]
    assert len(lines) >= len(CHAINS) == len(chains())
    assert [axis.get_xscale() for axis in ax.figure.axes] == ["log", "log"]
    plt.close(ax.figure)
