"""Every file of data/ is on its card, opens, and is as it was."""

import json
import shutil
import tomllib

import card
import pandas as pd
import pytest

import lib2048


def test_the_card_is_complete_and_current():
    assert card.complaints() == []


@pytest.mark.parametrize("name", card.files())
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
            assert lib2048.load(path)
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


def test_a_changed_file_is_found(copy):
    path = copy / "curves" / "exact.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    assert card.complaints(copy) == ["curves/exact.csv: not as SHA256SUMS has it"]


def test_an_unknown_file_is_found(copy):
    (copy / "curves" / "news.csv").write_text("a\n1\n", encoding="utf-8")
    assert "curves/news.csv: say in card.toml what it is" in card.complaints(copy)


def test_a_missing_file_is_found(copy):
    (copy / "curves" / "exact.csv").unlink()
    assert "card.toml: curves/exact.csv is no file" in card.complaints(copy)


def test_a_stale_page_is_found(copy):
    (copy / card.PAGE).write_text("old", encoding="utf-8")
    assert card.complaints(copy) == ["README.md: stale; run make card"]
