"""hw07: typical wrong answers of students, and the lab's rules beside the library's."""

import random

import handins
import numpy as np
import pytest

from lib2048 import Network, from_tiles
from lib2048.course import labs
from lib2048.course.labs import hw07


def copies_while_reading(V, stage, pattern):
    if V.get((stage, pattern), 0) == 0:
        V[stage, pattern] = V.get((stage - 1, pattern), 0)
    return V[stage, pattern]


def takes_it_away(stage, kept, rng):
    if stage + 1 < len(kept) and kept[stage + 1]:
        return stage + 1, kept[stage + 1].pop()
    return 0, None


def the_state_alone(stage, kept, rng):
    return rng.choice(kept[stage + 1]) if kept[stage + 1 : stage + 2] not in ([], [[]]) else None


def rather_the_first(stage, kept, rng):
    if stage + 1 == len(kept) or not kept[stage + 1]:
        return 0, None
    states = kept[stage + 1]
    return stage + 1, states[min(int(rng.expovariate(2)), len(states) - 1)]


def test_a_wrong_answer_gets_its_hint():
    handins.said("hw07", "read", copies_while_reading, "wrote")
    handins.said("hw07", "next_start", takes_it_away, "took_away")
    handins.said("hw07", "next_start", rather_the_first, "unfair")
    assert "a pair (stage, state)" in labs.check("hw07.next_start", the_state_alone).reason


@pytest.mark.parametrize("top, marks", [(32768, 4), (32768, 5), (2048, 3), (1024, 2), (512, 1)])
def test_the_labs_stage_is_the_networks(top, marks):
    network, luck = Network("cells:0", stages=marks, top=top), random.Random(top + marks)
    for _ in range(200):
        tiles = [luck.choice([0, 2, 256, *(2**k for k in range(8, 16))]) for _ in range(16)]
        board = np.reshape(tiles, (4, 4)).tolist()
        assert hw07.stage(board, top, marks) == network.stage(from_tiles(board))


def test_the_labs_promotion_is_the_networks():
    """One tuple of one cell, an empty corner: all 8 look-ups of both boards are one weight."""
    network, luck, V = Network("cells:0", stages=1, top=512), random.Random(1), {}
    low, high = (
        from_tiles([[0, 2, 4, 0], [2, tile, 8, 2], [4, 2, 4, 2], [0, 4, 2, 0]])
        for tile in (256, 512)
    )
    for _ in range(50):
        stage, amount = luck.randrange(2), luck.choice([-8, -4, 4, 8])
        network.add((low, high)[stage], amount / 8)
        hw07.learn(V, {}, {}, stage, "p", amount, 1)  # no memory: the rate is 1
        for at, board in enumerate((low, high)):
            assert network.value(board) / 8 == hw07.read(V, at, "p")
