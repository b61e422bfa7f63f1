"""Small boards that a page solves have the values of `lib2048.exact`, and those of its widget."""

import json
from pathlib import Path

import numpy as np
import pytest
from on_node import needs_node, output
from test_game_js import RULES

from lib2048 import SmallGame, record_game

pytest.importorskip("anywidget")

from lib2048.course.explorers.small import SmallBoardWidget  # noqa: E402
from lib2048.show.widgets.base import front_end  # noqa: E402
from lib2048.show.widgets.game import to_hex  # noqa: E402

HERE = Path(__file__).parent
SOLVER = HERE.parent / "docs" / "board" / "solver.js"

pytestmark = [pytest.mark.ci, needs_node]


def solved(folder, widget, four, way, boards):
    """Ask a page's solver, in node; return what it says."""
    module = folder / "solver.mjs"
    module.write_text(front_end(SOLVER), encoding="utf-8")
    question = {"rules": widget.small["game"], "four": four, "way": way, "boards": boards}
    return output(HERE / "small_boards.mjs", module, RULES, json.dumps(question))


def same(found, wanted):
    """Compare what JSON holds: numbers to 1e-9, all else exactly."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key in wanted:
            same(found[key], wanted[key])
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    else:
        assert found == wanted


@pytest.mark.parametrize(
    "rows, columns, four, way",
    [(2, 2, 0.1, "random"), (2, 3, 0.1, "greedy"), (3, 2, 0.1, "random"), (2, 3, 0.25, "random")],
)
def test_the_values_are_those_of_the_library(tmp_path, rows, columns, four, way):
    small = SmallGame(rows, columns, progress=False, four=four)
    widget = SmallBoardWidget(small.follow(way))
    games = [record_game("random", seed=3, number=n, game=small.game) for n in range(8)]
    boards = [to_hex(step.board) for game in games for step in game]
    found = solved(tmp_path, widget, four, way, boards)
    same(found["about"], json.loads(json.dumps(dict(widget.small))))
    assert abs(found["about"]["best"] - small.optimal().start) < 1e-9
    for board, seen in zip(boards, found["seen"]):
        same(seen, json.loads(json.dumps(widget._seen(np.uint64(int(board, 16))))))
    assert len(boards) > 40
    print(f"\n{found['seconds']:.2f} s")
