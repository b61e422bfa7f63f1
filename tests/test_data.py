"""The shared tables are found, and what is not there is answered by one clear line."""

from pathlib import Path

import pandas as pd
import pytest

import lib2048
from lib2048.machine import data as module

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Let the library stand as it does in site-packages: the data beside it, without weights."""
    (tmp_path / "lib2048").mkdir()
    (tmp_path / "lib2048_data" / "curves").mkdir(parents=True)
    (tmp_path / "lib2048_data" / "curves" / "exact.csv").write_text("a\n1\n", encoding="utf-8")
    (tmp_path / "data").mkdir()  # somebody else's
    monkeypatch.setattr(module, "LIBRARY", tmp_path / "lib2048")
    return tmp_path / "lib2048_data"


def test_clone():
    assert lib2048.data() == lib2048.data(".") == ROOT / "data"
    assert lib2048.data("curves") == lib2048.data("curves/") == ROOT / "data" / "curves"
    assert lib2048.data(Path("weights") / "42-33.npz").stat().st_size > 10**7
    assert len(pd.read_csv(lib2048.data("published/sources.csv"))) > 10


def test_installed_package(installed):
    assert lib2048.data() == installed
    assert lib2048.data("curves/exact.csv") == installed / "curves" / "exact.csv"


@pytest.mark.parametrize("name", ["weights", "weights/42-33.npz"])
def test_weights_are_not_installed(installed, name):
    with pytest.raises(FileNotFoundError, match="come with the repository, not with the inst"):
        lib2048.data(name)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("curves/exakt.csv", "curves/exact.csv"),
        ("exact.csv", "curves/exact.csv"),
        ("data/published/sources.csv", "published/sources.csv"),
        ("published/jaskowski2018_table1.csv", "published/jaskowski2018_table1_learning_rules.csv"),
        ("weights/42-3.npz", "weights/42-33.npz"),
    ],
)
def test_nearest_names(wrong, near):
    with pytest.raises(FileNotFoundError) as error:
        lib2048.data(wrong)
    said = str(error.value)
    assert repr(wrong) in said and near in said and "\n" not in said


def test_without_a_near_name_the_folders_are_named():
    with pytest.raises(
        FileNotFoundError,
        match="there are README.md, .* curves, .* published, ruler.npz, runs, weights$",
    ):
        lib2048.data("qqqq")


def test_library_alone(installed, monkeypatch):
    monkeypatch.setattr(module, "LIBRARY", installed.parent / "elsewhere" / "lib2048")
    for name in ("", "curves/exact.csv"):
        with pytest.raises(FileNotFoundError, match="came without its folder data/"):
            lib2048.data(name)


@pytest.mark.parametrize("path", [
    "..", "../README.md", "curves/../../README.md", r"curves\..\x", "/etc/passwd", r"C:\x", "C:x",
    r"\\host\share\x", ROOT / "data" / "curves",
])  # fmt: skip
def test_paths_that_lead_out_are_refused(path):
    with pytest.raises(ValueError, match="a path below data/ is needed"):
        lib2048.data(path)
