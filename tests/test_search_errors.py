"""Leaves of a search that play at 1-ply does not come to, and how wrong their values are."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib2048 import NetworkPlayer, SearchPlayer, afterstates
from lib2048.cli import main
from lib2048.course import papers, search_errors
from lib2048.course.search_errors import KINDS, errors, leaves, summed_errors
from lib2048.play.statistics import mean_ci95

STATES = 60


@pytest.fixture(scope="module")
def network(trained):
    return trained


@pytest.fixture(scope="module")
def found(network):
    return leaves(network, STATES, every=500)


def spawns(after):
    """Yield (chance, state) of all that luck makes of an afterstate."""
    empty = [cell for cell in range(16) if not int(after) >> 4 * cell & 15]
    for cell in empty:
        for exponent, chance in ((1, 0.9), (2, 0.1)):
            yield chance / len(empty), np.uint64(int(after) | exponent << 4 * cell)


def reached(who, state, turns=3):
    """Return the afterstates that a player's actions can lead to, so many turns after a state."""
    if (action := who.choose(state)) is None:
        return set()
    after = next(s for a, s, _ in afterstates(state) if a == action)
    if turns == 1:
        return {int(after)}
    return set().union(*(reached(who, state, turns - 1) for _, state in spawns(after)))


def test_leaves_are_of_the_kinds_that_they_say(network, found):
    who = NetworkPlayer(network)
    assert set(found["kind"]) == set(KINDS) and set(found["number"]) <= set(range(STATES))
    counts = found["kind"].value_counts()
    assert counts["played"] > 0.9 * STATES and counts["searched"] > 0.9 * STATES
    assert not found.duplicated(["number", "kind"]).any()
    own = {state: reached(who, state) for state in found["state"].unique()[:15]}
    some = found[found["state"].isin(own)]
    within = pd.Series([int(b) in own[s] for s, b in zip(some["state"], some["board"])], some.index)
    assert within[some["kind"] == "played"].all()
    assert within[some["kind"] != "played"].mean() < 0.1  # another order of the same actions


def test_the_same_seed_draws_the_same_leaves(network, found):
    first = leaves(network, 5, every=500)
    pd.testing.assert_frame_equal(first, found[found["number"] < 5])
    assert not leaves(network, 5, seed=1, every=500).equals(first)


def test_a_state_comes_every_so_many_actions_through_all_games(network, found):
    """The games of that seed, one behind the other; most of them give one state or none."""
    who, boards = NetworkPlayer(network), []
    for game in range(60):
        boards += who.recorded(2048, game)[0][:-1].tolist()
    taken = found.drop_duplicates("number").set_index("number")["state"]
    assert all(boards[250 + 500 * number] == state for number, state in taken[:20].items())


def test_a_preferred_leaf_follows_the_search(network, found):
    """Its first two actions are those of 3-ply and 2-ply; the third that of 1-ply."""
    deep = [SearchPlayer(network, plies, halve=False) for plies in (3, 2)]
    ways = [*deep, NetworkPlayer(network)]
    for row in found[found["kind"] == "preferred"].head(3).itertuples():
        boards = {row.state}
        for turn, who in enumerate(ways):
            afters = {
                next(s for a, s, _ in afterstates(board) if a == action)
                for board in boards
                if (action := who.choose(board)) is not None
            }
            if turn < 2:  # of the second turn's boards a part is enough: those that fit the leaf
                boards = {state for after in afters for _, state in spawns(after)}
                boards = {b for b in boards if could_become(b, row.board)}
        assert int(row.board) in map(int, afters)


def could_become(board, leaf):
    """Say whether so few tiles are missing that spawns can bring them: two at the most."""
    return 0 <= tile_sum(leaf) - tile_sum(board) <= 4


def tile_sum(board):
    exponents = (int(board) >> 4 * cell & 15 for cell in range(16))
    return sum(1 << exponent for exponent in exponents if exponent)


def test_errors_are_against_play_from_there_on(network, found):
    few = found.head(9)
    told = errors(network, few, times=3)
    assert (told["value"] == network.values(few["board"].to_numpy())).all()
    np.testing.assert_allclose(told["error"], told["value"] - told["truth"])
    halves = [
        search_errors._played_on(network, few["board"].to_numpy(copy=True), 3, (2048, half))
        for half in (0, 1)
    ]
    assert (halves[0] != halves[1]).any()
    np.testing.assert_allclose(told["truth"], sum(halves) / 2)
    first, second = (told["value"] - half for half in halves)
    np.testing.assert_allclose(told["squared"], first * second)
    for board, surprise in zip(few["board"], told["surprise"]):
        expected = sum(
            chance * max((r + network.value(s) for _, s, r in afterstates(state)), default=0)
            for chance, state in spawns(board)
        )
        assert surprise == pytest.approx(network.value(board) - expected, abs=0.05)


def test_the_mean_square_holds_nothing_of_the_luck_of_games():
    """A value that is right to 10 points, and games that scatter by 1000."""
    random = np.random.default_rng(1)
    error, noise = random.choice([-10, 10], 200_000), random.normal(0, 1000, (2, 200_000))
    squared = (error - noise[0]) * (error - noise[1])
    rows = pd.DataFrame({"squared": squared, "surprise": -2.0}).assign(
        kind="played", value=5.0, truth=2.0, error=3.0
    )
    (row,) = summed_errors(rows).itertuples()
    assert abs(row.rms**2 - 100) < 2 * row.half_rms * 2 * row.rms
    assert row.rms < 100 and (row.error, row.half_error) == (3, 0)
    assert (row.surprise, row.surprise_rms, row.half_surprise_rms) == (-2, 2, 0)


def test_where_nothing_but_luck_is_left_the_interval_goes_up_from_zero():
    rows = pd.DataFrame({"squared": [-60.0, 20.0] * 50, "surprise": 0.0}).assign(
        kind="played", value=5.0, truth=5.0, error=0.0
    )
    (row,) = summed_errors(rows).itertuples()
    assert row.rms == 0 == row.half_rms, "even its upper end is below 0"
    (row,) = summed_errors(rows.assign(squared=rows["squared"] + 15)).itertuples()
    half = mean_ci95([-45.0, 35.0] * 50)[1]
    assert row.rms == 0 and row.half_rms == pytest.approx((half - 5) ** 0.5)


def test_what_is_recorded_is_drawn_and_printed(capsys):
    rows = search_errors.recorded_errors()
    assert not rows.duplicated(["network", "actions", "kind"]).any()
    assert set(rows["kind"]) == set(KINDS) and (rows["half_rms"] > 0).all()
    ax = papers.draw("jaskowski-overfitting")
    assert [len(one[0].get_xdata()) for one in ax.containers] == [*rows["kind"].value_counts()]
    plt.close(ax.figure)
    assert main(["figure", "jaskowski-overfitting"]) == 0
    assert "preferred" in capsys.readouterr().out
