"""The learner of the book's page has the weights of the library's loop, bit for bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from on_node import needs_node, output

from lib2048 import Run, Settings, parse_network

pytest.importorskip("anywidget")

from lib2048.show.widgets.base import front_end  # noqa: E402

HERE = Path(__file__).parent
MODULE = HERE.parent / "docs" / "board" / "learner.js"
ACTIONS = 30_000

pytestmark = needs_node


@pytest.mark.parametrize(
    "network, rule, rate, lam",
    [
        ("4-22", "td", 0.1, 0.0),
        ("4-22", "tc", 1.0, 0.5),
        ("cells:01234,01245,12456", "td", 0.5, 0.8),
    ],
)
def test_it_trains_as_the_library_does(tmp_path, network, rule, rate, lam):
    tuples, file, module = parse_network(network), tmp_path / "weights", tmp_path / "learner.mjs"
    module.write_text(front_end(MODULE), encoding="utf-8")
    asked = {"tuples": tuples, "rule": rule, "rate": rate, "decay": lam, "seed": "7"}
    told = output(HERE / "learner.mjs", module, json.dumps(asked), ACTIONS, file)
    settings = Settings(network=network, rule=rule, rate=rate, lam=lam, lanes=1, seed=7)
    run = Run(settings)
    history = run.go(actions=ACTIONS, progress=False)
    assert told["scores"] == history.scores[-1000:].tolist() and told["games"] == len(
        history.scores
    )
    tables = [run.network.table(number) for number in range(len(tuples))]
    weights = np.fromfile(file, np.float32)
    np.testing.assert_array_equal(weights, np.concatenate(tables))
