"""hw06: the lab's rule beside the library's."""

import numpy as np
import pytest

from lib2048 import Network, train
from lib2048.course import labs
from lib2048.course.labs import hw06


def test_the_labs_update_is_the_librarys():
    mine = Network("cells:0123,4567").with_functions(update=hw06.update, rule="tc")
    theirs = Network("cells:0123,4567")
    for network in (mine, theirs):
        train(network, rule="tc", games=1, lanes=1, seed=3, progress=False)
    assert np.allclose(mine.weights, theirs.weights, atol=1e-4) and theirs.weights.max() > 1


def test_the_labs_start_is_the_librarys_optimism():
    network, points = Network("cells:012,456"), 1000
    for number, table in enumerate(hw06.optimistic_start([[0.0] * 16**3] * 2, points)):
        network.set_table(number, np.array(table, np.float32))
    assert np.isclose(network.value(0), Network("cells:012,456", optimistic=points).value(0))


@pytest.mark.parametrize(
    ("friend", "end"), [("fresh rests", -8 / 3), ("only signs", 2), ("forgets", 10 / 7)]
)
def test_a_friend_has_changed_one_line(friend, end):
    weights, memory = np.zeros(1, np.float32), np.zeros(2, np.float32)
    for error in (4, -2, -2):  # TC ends at 4 − 2 − 2/3
        hw06.FRIENDS[friend](weights, memory, np.zeros(1, np.uint32), np.float32(error), 1)
    assert np.isclose(weights[0], end)
    assert labs.check("hw06.update", hw06.FRIENDS[friend]).status == "failed"
