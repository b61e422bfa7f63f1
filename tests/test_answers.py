"""What the lessons say they found in their tasks is recorded, and can be found again."""

import answers
import pandas as pd
import pytest

RECORDED = pd.read_csv(answers.FILE, dtype={"lesson": str})
TASK_OF_ROWS = RECORDED["lesson"] + "." + RECORDED["task"].astype(str)


def test_every_task_is_recorded():
    assert set(TASK_OF_ROWS) == set(answers.TASKS)


@pytest.mark.parametrize("name", [pytest.param("02.1", marks=pytest.mark.slow), "02.2"])
def test_a_task_finds_the_same_again(name):
    found = answers.rows_of(name)
    recorded = RECORDED[TASK_OF_ROWS == name]
    assert found["what"].tolist() == recorded["what"].tolist()
    assert found["value"].tolist() == pytest.approx(recorded["value"].tolist())


CELLS = ["import math", "N = 3", "def f(x):\n    return N * math.pi * x", "y = f(2)"]


@pytest.mark.parametrize(("name", "needed"), [("f", {0, 1, 2}), ("y", {0, 1, 2, 3})])
def test_only_the_cells_that_are_needed_run(name, needed):
    found = set()
    answers.need(name, len(CELLS), CELLS, found)
    assert found == needed


def test_names_inside_a_function_are_its_own():
    table = answers.table_of("def f(x):\n    y = x + z\n    return y")
    assert answers.made(table) == {"f"} and answers.used(table) == {"z"}
