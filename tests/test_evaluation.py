"""Evaluation: many games and what is said about them."""

import numpy as np
import pytest
from learners import SMALL, scattered

from lib2048 import Network, evaluate, record_game
from lib2048.game import board
from lib2048.play import evaluation
from lib2048.play.evaluation import Result, reached, statistics_block

SCORES = np.array([100, 300, 1000, 2000])
LARGEST = np.array([6, 9, 10, 11])


def test_reached_counts_larger_tiles_too():
    shares = reached(LARGEST)
    assert list(shares) == [2**e for e in range(1, 12)]
    assert [shares[tile] for tile in (2, 64, 128, 512, 1024, 2048)] == [1, 1, 0.75, 0.75, 0.5, 0.25]
    assert reached([]) == {}


def test_the_block_is_the_fields():
    lines = statistics_block(SCORES, LARGEST).split("\n")
    assert lines == [
        "4\tmean = 850.0\tmax = 2000",
        "\t64\t100.0%\t(25.0%)",
        "\t128\t75.0%\t(0.0%)",
        "\t256\t75.0%\t(0.0%)",
        "\t512\t75.0%\t(25.0%)",
        "\t1024\t50.0%\t(25.0%)",
        "\t2048\t25.0%\t(25.0%)",
    ]
    assert statistics_block(SCORES, LARGEST, 5000).startswith("5000\tmean")
    assert statistics_block([], []) == "no game is over yet"


def test_a_result_says_what_it_knows():
    result = Result("me", SCORES, LARGEST, 500, 0.25)
    assert (result.mean, result.max, result.moves_per_s) == (850.0, 2000, 2000.0)
    assert result.reached() == reached(LARGEST)
    assert str(result) == statistics_block(SCORES, LARGEST)
    assert repr(result) == "<me: 850 ± 841 points in 4 games>"
    assert result.as_dict() == {
        "player": "me",
        "games": 4,
        "mean": 850.0,
        "ci95": result.ci95,
        "max": 2000,
        "moves": 500,
        "moves_per_s": 2000.0,
        "reached": {str(tile): share for tile, share in reached(LARGEST).items()},
    }


@pytest.mark.parametrize("what", ["random", "greedy", "first-legal", "network"])
def test_threads_and_number_of_games_change_no_game(monkeypatch, what):
    what = scattered(Network(SMALL)) if what == "network" else what
    many = evaluate(what, 40, seed=3)
    assert len(many.scores) == 40
    monkeypatch.setattr(evaluation, "GAMES_AT_ONCE", 7)
    for threads, games in ((1, 40), (3, 40), (2, 13), (1, 1)):
        again = evaluate(what, games, seed=3, threads=threads)
        assert again.scores.tolist() == many.scores[:games].tolist()
        assert again.largest.tolist() == many.largest[:games].tolist()


@pytest.mark.parametrize(
    "games, threads", [(0, 1), (5, -2), ("ten", 1), (None, 1), (2.5, 1), (5, "2")]
)
def test_bad_numbers_are_refused(games, threads):
    with pytest.raises(ValueError, match="at least 1"):
        evaluate("random", games, threads=threads)


@pytest.mark.parametrize("options", [{"first": -5}, {"first": 0.5}, {"seed": 0.5}], ids=str)
def test_games_that_have_no_number_are_refused(options, refused):
    refused(lambda: evaluate("random", 2, **options))


@pytest.mark.parametrize("what", ["random", "greedy", "first-legal", "network"])
def test_a_recorded_game_is_the_one_that_evaluate_plays(what):
    what = scattered(Network(SMALL)) if what == "network" else what
    scores = evaluate(what, 3, seed=6).scores
    for number in range(3):
        steps = record_game(what, seed=6, number=number)
        assert sum(step.reward for step in steps) == scores[number]


def test_a_recorded_game_hangs_together():
    steps = record_game("random", seed=1)
    for step, following in zip(steps, steps[1:]):
        assert (step.afterstate, step.reward) == board.slide(step.board, step.action)
        assert step.afterstate != step.board and step.value is None
        assert board.count_empty(following.board) == board.count_empty(step.afterstate) - 1
    last = steps[-1]
    assert (last.action, last.reward, last.afterstate) == (None, 0, last.board)
    assert board.is_over(last.board)


def test_a_recorded_value_is_what_the_network_expects_after_the_reward():
    network = scattered(Network(SMALL))
    steps = record_game(network, seed=2)
    for step in steps[:-1]:
        assert step.value == pytest.approx(network.value(step.afterstate), abs=1e-2)
    assert steps[-1].value == 0.0


@pytest.mark.parametrize("largest", [[2**64 - 1], [1e308], ["x"], [64]])
def test_what_is_no_exponent_is_refused(refused, largest):
    refused(lambda: reached(largest), "exponents of largest tiles")
