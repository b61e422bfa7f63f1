"""The hand-made value function: its formula line by line, and the network that holds it."""

import itertools
import math

import pytest

from lib2048 import Weights, evaluate, from_tiles, heuristic_network, heuristic_player, line_values
from lib2048.game.spec import slide

BOARD = [[2, 2, 0, 4], [8, 4, 16, 2], [0, 0, 64, 64], [32, 2, 2, 128]]


def plain_line(exponents, w):
    """The formula, written once more: a list of four exponents → its value."""
    runs = [len([*run]) for e, run in itertools.groupby(filter(None, exponents))]
    powers = [e**w.order_power for e in exponents]
    steps = [b - a for a, b in itertools.pairwise(powers)]
    fall, rise = (sum(max(0, sign * step) for step in steps) for sign in (-1, 1))
    return (
        w.alive
        + w.empty * exponents.count(0)
        + w.merges * sum(run for run in runs if run > 1)
        - w.order * min(fall, rise)
        - w.total * sum(e**w.total_power for e in exponents)
    )


def test_every_line_is_worth_what_the_formula_says():
    for w in (Weights(), Weights(1, 20, 3, 1.5, 0.5, 2, 40)):
        values = line_values(w)
        for number in range(0, 1 << 16, 7):
            line = [number >> 4 * i & 15 for i in range(4)]
            assert values[number] == pytest.approx(plain_line(line, w), rel=1e-12)


def test_a_board_is_worth_the_sum_of_its_eight_lines():
    w = Weights(alive=0)
    lines = [[int(math.log2(t)) if t else 0 for t in line] for line in [*BOARD, *zip(*BOARD)]]
    expected = sum(plain_line(line, w) for line in lines)
    assert heuristic_network(w).value(from_tiles(BOARD)) == pytest.approx(expected, rel=1e-5)


def test_the_player_takes_the_afterstate_it_likes_best_whatever_the_reward():
    network, values = heuristic_network(), {}
    for action in range(4):
        after, _ = slide(BOARD, action)
        if after != BOARD:
            values[action] = network.value(from_tiles(after))
    who = heuristic_player()
    assert who.values(from_tiles(BOARD)) == pytest.approx(values)
    assert who.choose(from_tiles(BOARD)) == max(values, key=values.get)


def test_looking_ahead_helps_it():
    one, two = (evaluate(heuristic_player(depth), 40, seed=2).mean for depth in (1, 2))
    assert two > 3 * one
