"""The lists of runs in data/runs: every run that they name can be trained."""

from pathlib import Path

import pytest
from run_lists import command, runs

from lib2048.cli import _parser, _settings

LISTS = sorted((Path(__file__).parents[1] / "data" / "runs").glob("*.toml"))


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_run_of_a_list_is_a_command_that_makes_sense(path):
    named = list(runs(path))
    assert len({name for name, _ in named}) == len(named) > 0
    for _, options in named:
        words = command(options, Path("nowhere"))
        settings = _settings(_parser().parse_args(words[words.index("train") :]))
        assert settings.seed == options["seed"] and settings.actions == options["actions"]


def test_each_list_is_named_in_the_readme():
    text = (LISTS[0].parent / "README.md").read_text()
    assert [path.stem for path in LISTS if f"`{path.stem}`" not in text] == []
