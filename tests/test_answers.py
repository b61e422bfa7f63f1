"""What the lessons say they found in their tasks is recorded, and can be found again."""

import answers
import pandas as pd
import pytest

RECORDED = pd.read_csv(answers.FILE, dtype={"lesson": str})
TASK_OF_ROWS = RECORDED["lesson"] + "." + RECORDED["task"].astype(str)


def test_every_task_is_recorded():
    assert set(TASK_OF_ROWS) == set(answers.TASKS)


@pytest.mark.ci
@pytest.mark.parametrize("name", [pytest.param("02.1", marks=pytest.mark.slow), "02.2"])
def test_a_task_finds_the_same_again(name):
    found = answers.rows_of(name)
    recorded = RECORDED[TASK_OF_ROWS == name]
    assert found["what"].tolist() == recorded["what"].tolist()
    assert found["value"].tolist() == pytest.approx(recorded["value"].tolist())


def test_only_the_cells_that_are_needed_run():
    cells = ["import math", "N = 3", "def f(x):\n    return N * math.pi * x", "y = f(2)"]
    answers.need("f", len(cells), cells, found := set())
    assert found == {0, 1, 2}
