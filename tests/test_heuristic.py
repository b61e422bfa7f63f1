"""The hand-made value function: its formula line by line, and the network that holds it."""

import math

import numpy as np
import pytest

from lib2048 import Weights, evaluate, from_tiles, heuristic_network, heuristic_player, line_values
from lib2048.game.spec import slide

BOARD = [[2, 2, 0, 4], [8, 4, 16, 2], [0, 0, 64, 64], [32, 2, 2, 128]]


def plain_line(exponents, w):
    """The formula, written once more: a list of four exponents → its value."""
    runs, run, before = 0, 0, None
    for e in [e for e in exponents if e] + [None]:
        if e == before:
            run += 1
        else:
            runs += run + 1 if run else 0
            run, before = 0, e
    fall = sum(
        max(0, a**w.order_power - b**w.order_power) for a, b in zip(exponents, exponents[1:])
    )
    rise = sum(
        max(0, b**w.order_power - a**w.order_power) for a, b in zip(exponents, exponents[1:])
    )
    total = sum(e**w.total_power for e in exponents)
    return (
        w.alive
        + w.empty * exponents.count(0)
        + w.merges * runs
        - w.order * min(fall, rise)
        - w.total * total
    )


def test_every_line_is_worth_what_the_formula_says():
    for w in (Weights(), Weights(1, 20, 3, 1.5, 0.5, 2, 40)):
        values = line_values(w)
        for number in range(0, 1 << 16, 7):
            line = [number >> 4 * i & 15 for i in range(4)]
            assert values[number] == pytest.approx(plain_line(line, w), rel=1e-12)


def test_a_line_is_worth_the_same_in_both_directions():
    values, numbers = line_values(), np.arange(1 << 16)
    back = sum((numbers >> 4 * i & 15) << 4 * (3 - i) for i in range(4))
    np.testing.assert_allclose(values, values[back], rtol=1e-12, atol=1e-6)


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
