"""The workflow for a public forge: it does what the README says, in the same words."""

import re
from pathlib import Path

import pytest
import try_wheel
import yaml

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8")
JOBS = yaml.safe_load(TEXT)["jobs"]
MATRIX = JOBS["readme"]["strategy"]["matrix"]
WHEEL = "python tools/try_wheel.py python"
# The rows of the README's table that a step carries out; "begin" would wait for a browser.
INSTALL = [
    "an environment, once",
    "in every new terminal",
    "what lessons and labs need",
    "your copies of them",
    "all the rest, for tests and tools",
]
TEST = ["in every new terminal", "the tests (`make test`)"]


def told(readme):
    """Return {what: (commands for Linux and macOS, for Windows)} of the README's table."""
    found = {}
    for what, unix, windows in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", readme, re.M):
        same = windows == "the same"
        found[what] = [re.findall(r"`([^`]+)`", cell) for cell in (unix, unix if same else windows)]
    return found


README = told((ROOT / "README.md").read_text(encoding="utf-8"))


def commands(rows, system):
    """Return the README's commands of some rows; system: 0 for Linux and macOS, 1 for Windows."""
    return [command for row in rows for command in README[row][system]]


def done(system):
    """Return the commands of each step that a system carries out."""
    where = ("runner.os != 'Windows'", "runner.os == 'Windows'")[system]
    steps = [step for step in JOBS["readme"]["steps"] if "run" in step]
    assert {step["if"] for step in steps} == {"runner.os != 'Windows'", "runner.os == 'Windows'"}
    return [step["run"].splitlines() for step in steps if step["if"] == where]


@pytest.mark.parametrize("system", [0, 1], ids=["Linux, macOS", "Windows"])
def test_its_commands_are_those_of_the_readme(system):
    begin = commands(["in every new terminal"], system)
    wanted = [commands(INSTALL, system), commands(TEST, system), [*begin, WHEEL]]
    assert done(system) == wanted


def test_the_table_is_read_for_both_systems():
    assert commands(INSTALL[:1], 0) == ["python3 -m venv .venv"]
    assert commands(INSTALL[:1], 1) == ["py -m venv .venv"]
    assert len(commands(TEST, 1)) == 3 and README[INSTALL[2]][0] == README[INSTALL[2]][1]


def test_it_runs_under_every_python_that_the_project_names_and_on_every_system():
    assert MATRIX["python"] == try_wheel.VERSIONS
    systems = {name.partition("-")[0] for name in MATRIX["system"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert [name for name in MATRIX["system"] if name.endswith("-arm")]


def test_a_fresh_clone_is_checked_as_everywhere():
    *_, last = JOBS["fresh-clone"]["steps"]
    assert last == {"run": ".ci/run"} and JOBS["fresh-clone"]["runs-on"].startswith("ubuntu")
