"""hw07: the lab's rules beside the library's."""

import random

import numpy as np
import pytest

from lib2048 import Network, from_tiles
from lib2048.course.labs import hw07


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
