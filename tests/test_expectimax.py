"""Expectimax against a plain-Python recursion over lists, with and without what makes it fast."""

import functools
import os
import random
import threading
import time

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from lib2048 import (
    Network,
    SearchPlayer,
    ValuePlayer,
    evaluate,
    from_tiles,
    heuristic_player,
    record_game,
    slide,
)
from lib2048.game import spec
from lib2048.game.board import count_empty, to_exponents
from lib2048.machine.threads import Crowd
from lib2048.play.players import network_player
from lib2048.ruler.rollouts import chooser
from lib2048.search.batched import BatchSearch
from lib2048.search.expectimax import COUNTERS, MOST_PLIES, Search, halved

CELLS = ((0, 1, 4, 5), (0, 1, 2))
NAME = "cells:0145,012"
NEARLY_FULL = [[2, 4, 8, 2], [4, 0, 16, 4], [8, 16, 32, 0], [2, 4, 8, 2]]
TWO_LEFT = [[2, 4, 8, 2], [4, 8, 16, 4], [8, 16, 32, 8], [0, 4, 8, 2]]
LOST = [[2, 4, 2, 4], [4, 2, 4, 2]] * 2
EASY = [[0, 2, 0, 0], [0] * 4, [0, 0, 4, 0], [0] * 4]


def networks():
    """Return one network twice: ours, and the plain one of tests/reference.py."""
    ours, plain = Network(NAME), reference.PlainNetwork(CELLS)
    for number in range(2):
        size = 16 ** len(CELLS[number])
        weights = np.random.default_rng(number).normal(0, 100, size).astype(np.float32)
        ours.set_table(number, weights)
        plain.weights.update({(0, number, i): weight for i, weight in enumerate(weights)})
    return ours, plain


OURS, PLAIN = networks()


def network_value(afterstate):
    return float(PLAIN.value(afterstate))


@functools.cache
def worth(afterstate, plies, pays=1, reduce=False, value=network_value):
    """An afterstate's value with so many plies below it."""
    if plies == 0:
        return value(afterstate)
    total, cells = 0.0, spec.empty_cells(afterstate)
    for cell in cells:
        for tile, chance in ((2, 0.9), (4, 0.1)):
            state = reference.with_tile(afterstate, cell, tile)
            below = plies - 1 if reduce and tile == 4 and plies > 1 else plies
            total += chance * max(worths(state, below, pays, reduce, value).values(), default=0.0)
    return total / len(cells)


def worths(state, plies, pays=1, *how):
    """{action: reward + value of its afterstate} of a state, so many plies deep."""
    outcomes = reference.outcomes(state).items()
    return {a: pays * r + worth(after, plies - 1, pays, *how) for a, (after, r) in outcomes}


def random_boards(count, empty, seed=1):
    """Boards with so many empty cells and small tiles elsewhere."""
    rng, boards = random.Random(seed), []
    for _ in range(count):
        tiles = [rng.choice([2, 4, 8, 16, 32, 64]) for _ in range(16 - empty)] + [0] * empty
        rng.shuffle(tiles)
        boards.append(reference.frozen([tiles[i : i + 4] for i in range(0, 16, 4)]))
    return boards


CASES = [
    (plies, board)
    for plies, empties in ((1, (0, 1, 5, 12)), (2, (0, 1, 3, 7)), (3, (0, 1, 2)))
    for empty in empties
    for board in random_boards(3, empty, seed=10 * plies + empty)
]


@pytest.mark.parametrize("table_mib", [0, 1, None])
@pytest.mark.parametrize("plies, board", CASES)
def test_search_is_what_the_plain_recursion_says(plies, board, table_mib):
    action, values, reached = Search(OURS, plies, table_mib=table_mib).decide(from_tiles(board))
    expected = worths(board, plies)
    assert reached == (plies if expected else reached)
    assert values.keys() == expected.keys()
    for a in expected:
        assert values[a] == pytest.approx(expected[a], rel=1e-5, abs=1e-3)
    assert action == max(values, key=values.get, default=None)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("plies, board", CASES)
def test_batches_are_what_the_plain_recursion_says(plies, board, symmetric):
    search = BatchSearch(OURS.values, plies, symmetric=symmetric)
    action, values, _ = search.decide(from_tiles(board))
    assert values == pytest.approx(worths(board, plies), rel=1e-5, abs=1e-3)
    assert action == max(values, key=values.get, default=None)


def test_batches_hold_for_a_value_function_without_symmetry():
    def corner(boards):
        return (boards & np.uint64(0xFF)).astype(np.float64)

    def plain(after):
        return float(reference.number(after) & 0xFF)

    board = reference.frozen(NEARLY_FULL)
    for plies in (1, 2, 3):
        values = BatchSearch(corner, plies, symmetric=False).decide(from_tiles(board))[1]
        assert values == pytest.approx(worths(board, plies, 1, False, plain), rel=1e-12)


@pytest.mark.parametrize("board", random_boards(4, 2, seed=5) + random_boards(2, 3, seed=6))
def test_less_behind_a_four(board):
    for plies in (2, 3):
        values = Search(OURS, plies, reduce=True).decide(from_tiles(board))[1]
        expected = worths(board, plies, 1, True)
        assert values == pytest.approx(expected, rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_rewards_need_not_count(plies):
    board = reference.frozen(NEARLY_FULL)
    for search in (Search(OURS, plies, pays=False), BatchSearch(OURS.values, plies, pays=False)):
        values = search.decide(from_tiles(board))[1]
        assert values == pytest.approx(worths(board, plies, pays=0), rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("plies", [1, 2, 5])
def test_a_lost_board_has_no_action(plies):
    assert Search(OURS, plies).decide(from_tiles(LOST))[:2] == (None, {})
    assert BatchSearch(OURS.values, plies).decide(from_tiles(LOST))[:2] == (None, {})


@pytest.mark.parametrize("plies", [2, 3, 4])
def test_the_table_changes_no_bit(plies):
    boards = [from_tiles(b) for b in random_boards(6, 2, seed=plies)]
    found = [
        [Search(OURS, plies, table_mib=mib).decide(board)[1] for board in boards]
        for mib in (0, 0.001, 16)
    ]
    assert found[0] == found[1] == found[2]


def test_the_table_is_used():
    counts = {}
    for mib in (0, 16):
        player = SearchPlayer(OURS, 3, table_mib=mib)
        player.play_games(0, 1, 7)
        counts[mib] = dict(zip(COUNTERS, player.counters.tolist(), strict=True))
    assert counts[0]["hits"] == 0 < counts[16]["hits"]
    assert counts[16]["nodes"] < counts[0]["nodes"]
    assert counts[16]["looked_up"] <= counts[0]["looked_up"]


def test_games_are_the_same_with_and_without_the_table_and_with_threads():
    games = [
        evaluate(SearchPlayer(OURS, 2, table_mib=mib), 6, seed=3, threads=threads).scores.tolist()
        for mib, threads in ((0, 1), (16, 1), (1, 2))
    ]
    assert games[0] == games[1] == games[2]


def test_a_search_player_at_one_ply_plays_the_network():
    ours = evaluate(SearchPlayer(OURS, 1), 20, seed=5).scores.tolist()
    assert ours == evaluate(OURS, 20, seed=5).scores.tolist()


def test_values_in_batches_play_the_same_games():
    by_function = evaluate(ValuePlayer(OURS.values, 2, symmetric=True), 3, seed=5)
    assert by_function.scores.tolist() == evaluate(SearchPlayer(OURS, 2), 3, seed=5).scores.tolist()


def test_functions_of_ones_own_are_searched():
    def twice(weights, positions):
        total = np.float32(0)
        for p in positions:
            total += weights[p]
        return 2 * total

    own, board = OURS.with_functions(value=twice), from_tiles(NEARLY_FULL)
    plain = Search(OURS, 2, pays=False).decide(board)[1]
    doubled = Search(own, 2, pays=False).decide(board)[1]
    assert doubled == pytest.approx({a: 2 * v for a, v in plain.items()}, rel=1e-5)


def test_with_all_the_time_deepening_ends_at_the_fixed_depth():
    for board in random_boards(3, 2, seed=9):
        fixed = Search(OURS, 3).decide(from_tiles(board))
        assert Search(OURS, 3, seconds=1000).decide(from_tiles(board)) == fixed
        batched = BatchSearch(OURS.values, 3, seconds=1000).decide(from_tiles(board))
        assert batched[1] == pytest.approx(fixed[1], rel=1e-5, abs=1e-3)


def test_without_time_there_is_still_an_action():
    action, values, plies = Search(OURS, seconds=1e-9).decide(from_tiles(EASY))
    assert plies <= 2  # the clock is looked at every few afterstates
    assert values == Search(OURS, plies).decide(from_tiles(EASY))[1]
    assert action in values


def test_what_a_timed_player_did_is_counted():
    player = SearchPlayer(OURS, seconds=2e-4)
    moves = player.play_games(0, 2, 1)[:, 2].sum()
    assert player.depths.sum() == player.times.sum() == moves
    assert player.depths[:, 0].sum() == 0
    player.forget()
    assert player.depths.sum() == 0


@given(st.lists(st.integers(0, 15), min_size=16, max_size=16))
def test_halving_keeps_what_is_legal_and_what_merges(exponents):
    board = np.uint64(sum(e << 4 * cell for cell, e in enumerate(exponents)))
    smaller = halved(board)
    there = set(exponents)
    gap = next((e for e in range(14, 0, -1) if e not in there), 0)
    if exponents.count(15) != 1 or not gap:
        assert smaller == board
        return
    assert to_exponents(smaller).tolist() == [e - (e > gap) for e in exponents]
    for action in range(4):
        large, small = slide(board, action)[0], slide(smaller, action)[0]
        assert (large == board) == (small == smaller)
        assert count_empty(large) == count_empty(small)


def test_a_player_searches_the_smaller_board():
    board = from_tiles([[32768, 8192, 4096, 64], [16, 8, 4, 8], [4, 2, 8, 2], [0, 2, 4, 0]])
    smaller = from_tiles([[16384, 8192, 4096, 64], [16, 8, 4, 8], [4, 2, 8, 2], [0, 2, 4, 0]])
    assert halved(board) == smaller
    for plies in (1, 2, 3):
        values = SearchPlayer(OURS, plies).values(board)
        assert values == Search(OURS, plies).decide(smaller)[1]
        assert values != Search(OURS, plies).decide(board)[1]


def test_the_rewards_are_those_of_the_board_itself():
    board = from_tiles([[32768, 16384, 16384, 2], [0, 0, 0, 4], [0] * 4, [0] * 4])
    nothing = Network("cells:01")
    assert SearchPlayer(nothing, 1).values(board) == {1: 32768, 2: 0, 3: 32768}
    for plies in (2, 3):  # below the first action the smaller board is searched
        found = SearchPlayer(nothing, plies).values(board)
        small = Search(nothing, plies).decide(halved(board))[1]
        assert found == pytest.approx({1: small[1] + 16384, 2: small[2], 3: small[3] + 16384})


def test_weights_in_place_of_others_are_searched():
    network, board = Network("cells:01"), from_tiles([[2, 2, 0, 0], *[[0] * 4] * 3])
    players = {plies: SearchPlayer(network, plies) for plies in (2, 3)}
    before = {plies: who.values(board) for plies, who in players.items()}
    network.weights = np.ones_like(network.weights)
    for plies, who in players.items():
        assert who.values(board) == SearchPlayer(network, plies).values(board) != before[plies]


def test_many_boards_are_searched_at_once_as_one_by_one():
    steps = record_game(OURS, seed=2)[::40] + record_game(OURS, seed=2)[-1:]
    boards, words = ([getattr(step, name) for step in steps] for name in ("board", "word"))
    for plies in (1, 2, 3):
        player = SearchPlayer(OURS, plies)
        actions, worths = player.decide_all(boards, words)
        for board, action, row in zip(boards, actions, worths, strict=True):
            taken, values = player.decide(board)
            assert action == (4 if taken is None else taken)
            found = {a: worth for a, worth in enumerate(row) if not np.isnan(worth)}
            assert found == pytest.approx(values, rel=1e-5)


def test_a_search_of_many_boards_ends_when_it_is_stopped():
    search = Search(OURS, MOST_PLIES)
    search.stop[0] = 1
    _, plies, _ = search.decide_all([from_tiles(EASY)] * 1000, [0] * 1000)
    assert plies[0] > 0 and not plies[1:].any()


def test_a_search_ends_when_it_is_stopped():
    player, board = SearchPlayer(OURS, MOST_PLIES), from_tiles(EASY)
    thread = threading.Thread(target=player.search.decide, args=[board])
    thread.start()
    time.sleep(0.2)
    assert thread.is_alive()
    player.stop[0] = 1
    thread.join(timeout=30)
    assert not thread.is_alive()


@pytest.mark.parametrize("plies", [2, 3])
def test_a_stopped_player_plays_on_when_asked_again(plies):
    player, fresh = SearchPlayer(OURS, plies), SearchPlayer(OURS, plies)
    player.stop[0] = 1
    assert player.decide(from_tiles(EASY)) == fresh.decide(from_tiles(EASY))
    player.stop[0] = 1
    games = [evaluate(who, 2, seed=3).scores.tolist() for who in (player, fresh)]
    assert games[0] == games[1]


@pytest.mark.parametrize(
    "limits, words",
    [
        ({}, "say how far"),
        ({"plies": 0}, "depth 0"),
        ({"plies": -1}, "depth -1"),
        ({"plies": MOST_PLIES + 1}, f"1 to {MOST_PLIES}"),
        ({"seconds": 0}, "0 seconds"),
        ({"seconds": -1.0}, "-1.0 seconds"),
        ({"seconds": float("nan")}, "nan seconds"),
        ({"plies": 3, "table_mib": -1}, "-1 MiB"),
        ({"plies": 3, "table_mib": 10**6}, "1000000 MiB"),
    ],
)
def test_limits_that_make_no_sense(limits, words, refused):
    refused(lambda: Search(OURS, **limits), words)


def test_a_table_larger_than_memory(monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("M", (), {"available": 1 << 20}))
    with pytest.raises(MemoryError, match="16 MiB does not fit: 1 MiB are free"):
        Search(OURS, 4)


@pytest.mark.parametrize("network", [("4-22", "state"), ("4-22", "q")])
def test_a_network_that_cannot_be_searched(network):
    with pytest.raises(ValueError, match="values of afterstates"):
        Search(Network(*network), 2)


def test_a_value_function_of_the_wrong_length():
    with pytest.raises(ValueError, match="one number a board"):
        BatchSearch(lambda boards: np.zeros(3), 2).decide(from_tiles(EASY))


def test_a_time_limit_is_no_search_of_one_ply():
    who = ValuePlayer(OURS.values, seconds=0.01), heuristic_player(seconds=0.01)
    who += (network_player(OURS, seconds=0.01),)
    limits = [one.search.plies if one is who[0] else one.search.limits.plies for one in who]
    assert limits == [None, MOST_PLIES, MOST_PLIES] or limits == 3 * [MOST_PLIES]
    assert who[1].name != "heuristic"


def test_a_player_whose_rewards_do_not_count_takes_legal_actions():
    who = ValuePlayer(OURS.values, pays=False)
    board = from_tiles([[2, 0, 0, 0], [4, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]])
    assert chooser(who)(np.array([board]))[0] == who.choose(board) == 1  # Right alone is legal
    assert evaluate(who, 3).moves > 0


def test_several_threads_may_ask_one_search():
    search = Search(OURS, 2)
    boards = np.array([step.board for step in record_game(OURS, seed=2)][10:60], np.uint64)
    words = np.zeros_like(boards)
    expected = search.decide_all(boards, words)[2]
    with Crowd(2) as crowd:
        for found in crowd.results([lambda: search.decide_all(boards, words)[2]] * 20):
            np.testing.assert_array_equal(found, expected)


def test_a_player_is_named_by_what_it_does():
    assert heuristic_player().name == "heuristic"
    assert SearchPlayer(OURS, 2).name == f"{NAME}, 2-ply"
    assert SearchPlayer(OURS, seconds=0.01).name == f"{NAME}, 10 ms"
    assert os.linesep not in repr(SearchPlayer(OURS, 2))
