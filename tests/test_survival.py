"""How far games come, game by game, and what is recorded of networks."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib2048 import SearchPlayer, record_game
from lib2048.cli import main
from lib2048.course import papers, rollouts, survival
from lib2048.game.board import to_tiles
from lib2048.play.evaluation import TEST_SEED
from lib2048.play.statistics import mean_ci95

GAMES = 12


@pytest.mark.parametrize("plies", [1, 2])
def test_a_row_holds_the_first_board_of_every_game_that_comes_there(trained, plies, monkeypatch):
    monkeypatch.setattr(survival, "EVERY", 128)
    rows = survival.survival(trained, plies, GAMES).set_index("sum")
    found = {}
    for number in range(GAMES):
        steps = record_game(SearchPlayer(trained, plies), TEST_SEED, number)[:-1]
        sums = [sum(map(sum, to_tiles(step.afterstate))) for step in steps]
        for mark in range(0, sums[-1] + 1, survival.EVERY):
            n = next(n for n, one in enumerate(sums) if one >= mark)
            to_come = sum(step.reward for step in steps[n + 1 :])
            found.setdefault(mark, []).append((trained.value(steps[n].afterstate), to_come))
    assert [*rows.index] == sorted(found) and len(found) > 8
    for mark, row in rows.iterrows():
        values, truths = map(np.array, zip(*found[mark]))
        assert (row["games"], row["share"]) == (len(truths), len(truths) / GAMES)
        assert row["value"] == pytest.approx(values.mean()) and row["truth"] == truths.mean()
        error, half = mean_ci95(values - truths)
        assert row["error"] == pytest.approx(error)
        assert row["half_error"] == pytest.approx(half, nan_ok=True)


def test_both_go_on_from_the_same_boards_of_play_at_1_ply(trained, monkeypatch):
    monkeypatch.setattr(survival, "GAMES", 4)
    (row,) = survival.continued(trained, 512, boards=6, times=2, plies=2, seed=5).to_dict("records")
    boards = []
    for seed in (5, 9, 13):  # four games of each
        for number in range(4):
            steps = record_game(trained, seed, number)[:-1]
            far = [s.afterstate for s in steps if sum(map(sum, to_tiles(s.afterstate))) >= 512]
            boards += far[:1]
    boards = np.array(boards[:6], np.uint64)
    simple, searched = (
        rollouts(trained, boards, 2, 6),
        rollouts(SearchPlayer(trained, 2), boards, 2, 7),
    )
    assert (row["sum"], row["boards"], row["simple"]) == (512, 6, simple.mean())
    assert (row["difference"], row["half_difference"]) == mean_ci95(searched - simple)
    assert row["searched"] == searched.mean() > row["simple"]


def test_a_sum_that_no_game_comes_to_is_refused(trained, monkeypatch):
    monkeypatch.setattr(survival, "MOST_GAMES", 200)
    with pytest.raises(ValueError, match="0 of 200 games come to 32768: choose a lower sum"):
        survival.continued(trained, 32768, boards=1)


def test_stretches_count_those_that_come_from_mark_to_mark():
    rows = pd.DataFrame({"sum": [0, 1024, 2048], "games": [10, 4, 0]})
    rows = rows.assign(network="x", actions=1, plies=1)
    told = survival.stretches(rows, {"a": 0, "b": 1024, "c": 2048, "d": 4096}).set_index("to")
    assert [*told["stood"]] == [10, 4, 0] and [*told["passed"]] == [4, 0, 0]
    share, low, high = told.loc["b", ["share", "low", "high"]]
    assert share == 0.4 and (low, high) == pytest.approx((0.1216, 0.7376), abs=1e-4)
    assert [*told.loc["c", ["low", "high"]]] == pytest.approx([0, 0.6024], abs=1e-4)
    assert np.isnan(told.loc["d", "share"]) and [*told.loc["d", ["low", "high"]]] == [0, 1]


def test_what_is_recorded_is_drawn_and_printed(capsys):
    rows = survival.recorded_survival()
    keys = ["network", "actions", "plies", "of"]
    assert not rows.duplicated([*keys, "sum"]).any()
    for _, own in rows.groupby(keys):
        assert (own["games"].iloc[0], own["share"].iloc[0]) == (own["of"].iloc[0], 1)
        assert (own["sum"].diff().dropna() == survival.EVERY).all()
        assert (own["games"].diff().dropna() <= 0).all()
    ax = papers.draw("course-survival")
    drawn = [len(one.lines) - len(survival.CHAIN) for one in ax.figure.axes]
    assert drawn == [len(own.groupby(keys)) for _, own in rows.groupby("plies")]
    plt.close(ax.figure)
    assert main(["figure", "course-survival"]) == 0
    assert "and 4096" in capsys.readouterr().out
