"""Every file of data/ is on its card, opens, and is as it was."""

import json
import shutil
import tomllib

import card
import pandas as pd
import pytest

import lib2048
from lib2048.ruler import positions


def test_the_card_is_complete_and_current():
    assert card.complaints() == []


def slow_if_large(name):
    """Return a file as a test's parameter; weights of many MB take their time."""
    return pytest.param(name, marks=[pytest.mark.slow] * ((card.DATA / name).stat().st_size > 5e6))


@pytest.mark.parametrize("name", [slow_if_large(name) for name in card.files()])
def test_every_file_opens(name):
    path = card.DATA / name
    match path.suffix:
        case ".csv":
            assert len(pd.read_csv(path))
        case ".toml":
            assert tomllib.loads(path.read_text(encoding="utf-8"))
        case ".json":
            assert json.loads(path.read_text(encoding="utf-8"))
        case ".npz":
            assert len(positions.load(path)) if name == "ruler.npz" else lib2048.load(path)
        case ".safetensors":
            pytest.importorskip("torch")
            assert lib2048.deep.load(path)
        case _:
            assert path.read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the data without its weights, with a card and hashes of its own."""
    folder = tmp_path / "data"
    shutil.copytree(card.DATA, folder, ignore=shutil.ignore_patterns("weights"))
    told = (folder / card.CARD).read_text(encoding="utf-8")
    told = told[: told.index('[[group]]\nfiles = "weights/*"')]
    (folder / card.CARD).write_text(told, encoding="utf-8", newline="\n")
    (folder / card.SUMS).write_text(card.sums(folder), encoding="utf-8")
    (folder / card.PAGE).write_text(card.page(folder), encoding="utf-8")
    assert card.complaints(folder) == []
    return folder


def test_each_way_to_be_stale_is_found(copy):
    exact, news = copy / "curves" / "exact.csv", copy / "curves" / "news.csv"
    kept, page = exact.read_bytes(), (copy / card.PAGE).read_bytes()
    exact.write_bytes(kept.replace(b"1", b"2", 1))
    assert card.complaints(copy) == ["curves/exact.csv: not as SHA256SUMS has it"]
    exact.unlink()
    assert "card.toml: curves/exact.csv is no file" in card.complaints(copy)
    exact.write_bytes(kept)
    news.write_text("a\n1\n", encoding="utf-8")
    assert "curves/news.csv: say in card.toml what it is" in card.complaints(copy)
    news.unlink()
    (copy / card.PAGE).write_text("old", encoding="utf-8")
    assert card.complaints(copy) == ["README.md: stale; run make card"]
    (copy / card.PAGE).write_bytes(page)
    assert card.complaints(copy) == []
