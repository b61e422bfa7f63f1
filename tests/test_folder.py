"""Run folders: one run each, known by its settings, and never overwritten."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lib2048 import Settings
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.train.folder import RunFolder

SETTINGS = Settings(network="cells:0124,0125,456", seed=1, actions=100)


def opened(path, resume=False, functions=(), **changes):
    return RunFolder(path, replace(SETTINGS, **changes), dict(functions)).open(resume)


def config_in(folder):
    config = json.loads((folder / "config.json").read_text())
    assert config.pop("sources") == SOURCE_HASH
    return config


def test_a_new_folder_is_claimed_by_its_config(tmp_path):
    assert opened(tmp_path / "a" / "run") is None
    assert Settings.from_config(config_in(tmp_path / "a" / "run")) == SETTINGS


def test_a_folder_with_a_run_needs_resume(tmp_path):
    opened(tmp_path)
    with pytest.raises(ValueError, match="--resume"):
        opened(tmp_path)
    assert opened(tmp_path, resume=True) is None


OTHERS = [{"alpha": 0.2}, {"seed": 2}, {"rule": "tc", "alpha": None}]


@pytest.mark.parametrize("changes", OTHERS, ids=str)
def test_another_config_is_refused_by_name(tmp_path, changes):
    opened(tmp_path)
    with pytest.raises(ValueError, match=next(iter(changes))):
        opened(tmp_path, resume=True, **changes)


def test_the_budget_may_change(tmp_path):
    opened(tmp_path)
    assert opened(tmp_path, resume=True, actions=200) is None


FOREIGN_FILES = [("config.json", ""), ("config.json", "not json"), ("photo.jpg", "x")]


@pytest.mark.parametrize("name, content", [*FOREIGN_FILES, (".film.mkv.part", "half a film")])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path, name, content, resume):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=str(tmp_path)):
        opened(tmp_path, resume)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == content


def x_in(folder):
    with folder.open(True) as arrays:
        return arrays["x"]


def test_the_checkpoint_goes_before_the_weights_and_away_at_the_end(tmp_path):
    folder = RunFolder(tmp_path, SETTINGS, {})
    folder.open(False)
    folder.finish({"x": np.array(1)}, {"history.csv": "games\n"})
    assert x_in(folder) == 1
    folder.save_checkpoint({"x": np.array(2)}, {"history.csv": "games\n"})
    assert x_in(folder) == 2
    folder.finish({"x": np.array(3)}, {"history.csv": "games\n"})
    assert x_in(folder) == 3
    assert not (tmp_path / "checkpoint.npz").exists()


def test_functions_of_ones_own_are_named_and_not_exchanged(tmp_path):
    opened(tmp_path, functions={"update": "0a1b2c"})
    assert config_in(tmp_path)["functions"] == {"update": "0a1b2c"}
    assert opened(tmp_path, resume=True, functions={"update": "0a1b2c"}) is None
    for others in ({}, {"update": "ffffff"}, {"value": "0a1b2c"}):
        with pytest.raises(ValueError, match="update 0a1b2c") as error:
            opened(tmp_path, resume=True, functions=others)
        assert "\n" not in str(error.value)


OLD = [
    {"network": "4x6", "form": "afterstate", "rule": "td", "alpha": 0.1, "order": "backward",
     "seed": 1, "lanes": 2, "games": 100000, "actions": None, "sources": "abc"},
    {"network": "42-33", "form": "afterstate", "rule": "tc", "beta": 1.0, "lambda": 0.5,
     "delay": True, "order": "forward", "seed": 3, "lanes": 2, "threads": 2, "starts": "carousel",
     "optimistic": 10.0, "stages": 4, "top": 16384, "promotion": False, "games": None,
     "actions": 5000, "eval_every": 1000, "eval_games": 10, "eval_depth": 3, "sources": "abc"},
]  # fmt: skip


@pytest.mark.parametrize("old", OLD, ids=["plain", "everything"])
def test_folders_of_older_versions_can_go_on(tmp_path, old):
    (tmp_path / "config.json").write_text(json.dumps(old))
    known = {"lambda": "lam"}
    given = {known.get(k, k): x for k, x in old.items() if k != "sources" and x is not None}
    assert RunFolder(tmp_path, Settings(**given), {}).open(True) is None
    with pytest.raises(ValueError, match="seed"):
        RunFolder(tmp_path, Settings(**given | {"seed": 9}), {}).open(True)


@pytest.mark.parametrize("config", [[], None, 3, "x", {"network": "4x6", "magic": 1}], ids=str)
def test_a_config_that_is_none_is_refused_in_one_line(tmp_path, config):
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=str(tmp_path)) as error:
        opened(tmp_path, resume=True)
    assert "\n" not in str(error.value)
