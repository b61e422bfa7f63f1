"""What papermill puts in place of a lesson's parameters: the kinds that it may be of."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from lib2048.course.parameters import MARK, NoParameter, check

OURS = {"SECONDS": 25, "GAMES": 1000, "MINUTES": 0.5, "SEED": 1, "SEEDS": range(1, 4), "ALL": True,
        "NETWORK": "4x6", "RATES": [0.1, 0.2], "BY_DEPTH": {1: 10}, "RULE": {"rule": "td"},
        "SIZES": [(2, 2)], "QUICK": None}  # fmt: skip
GOOD = [
    {"SECONDS": 2.5}, {"GAMES": 1}, {"MINUTES": 3}, {"SEED": -3}, {"SEEDS": [0, 7]}, {"ALL": False},
    {"NETWORK": "x"}, {"RATES": [1]}, {"RULE": {"rule": "tc", "beta": 1}}, {"SIZES": [[2, 3]]},
    {"QUICK": "yes"}, {},
]  # fmt: skip
BAD = [
    ({"SECONDS": "ten"}, "SECONDS = 'ten': use a number above 0, such as ours, 25"),
    ({"SECONDS": -5}, "SECONDS = -5: use a number above 0"),
    ({"SECONDS": float("nan")}, "use a number above 0"),
    ({"GAMES": 2.5}, "GAMES = 2.5: use a whole number above 0"),
    ({"GAMES": True}, "use a whole number above 0"),
    ({"SEED": 1.5}, "use a whole number, such"),
    ({"GAMES": -(10**400)}, "use a whole number above 0"),
    ({"SEEDS": 3}, "use a list"),
    ({"SEEDS": []}, "use a list"),
    ({"SEEDS": [1, "x"]}, "use in its list a whole number"),
    ({"SIZES": [[2, "x"]]}, "use in its list in its list a whole number above 0"),
    ({"ALL": 1}, "use True or False"),
    ({"NETWORK": 5}, "use a text"),
    ({"BY_DEPTH": {"1": 5}}, "use what is written in the notebook"),
    ({"SECOND": 5}, "there is no parameter SECOND here: use SECONDS"),
]  # fmt: skip


@pytest.mark.parametrize("given", GOOD, ids=str)
def test_what_may_stand_in_place_of_ours(given):
    check(OURS, given)


@pytest.mark.parametrize("given, words", BAD, ids=str)
def test_what_may_not_is_refused_in_one_line(refused, given, words):
    refused(lambda: check(OURS, given), words)


@pytest.fixture
def shell():
    """A shell of IPython's, in this process."""
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_the_cell_that_papermill_writes_is_checked(shell, capsys):
    def run(text):
        return shell.run_cell(text, store_history=True).error_before_exec

    ours = (
        "from lib2048 import course\nSECONDS, GAMES = course.budget(9.0, 1.0), course.budget(5, 2)"
    )
    for _ in range(2):  # a notebook that is run again
        assert run(ours) is None
        assert isinstance(error := run(f"{MARK}\nGAMES = 'many'\n"), NoParameter)
        assert str(error).startswith("GAMES = 'many': use a whole number above 0")
        assert "NoParameter: GAMES" in capsys.readouterr().out
        assert run("GAMES = 'many'") is None and run(f"{MARK}\nOTHER = 3") is None
        assert run(ours) is None and run(f"{MARK}\nGAMES = 3\nSECONDS = 0.5\n") is None
        assert shell.user_ns["GAMES"] == 3
        assert run(ours) is None and run(f"{MARK}\nimport math\nmine = math.pi") is None
