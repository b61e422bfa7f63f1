"""The trained networks in data/weights: small, whole, described, and as strong as they say."""

from pathlib import Path

import pytest

from lib2048 import evaluate, load
from lib2048.networks import storage

pytestmark = pytest.mark.ci

FOLDER = Path(__file__).resolve().parents[1] / "data" / "weights"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".npz", ".safetensors"))
STANDS_FOR_ZERO = 1e-6  # points: at most this is `pruning.LEAST` in 11 bits


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_small_and_says_where_it_comes_from(path):
    assert path.stat().st_size <= 50 * 2**20
    about = storage.info(path)["info"]
    assert {"network", "actions", "seed", "sources"} <= set(about["config"])
    for scored in (about[name] for name in ("this_file", "whole_network") if name in about):
        assert "1-ply" in scored
        assert all({"games", "mean", "ci95"} <= set(row) for row in scored.values())
    assert path.name in (FOLDER / "README.md").read_text()


def test_weights_in_whole_steps_are_multiples_of_them():
    abouts = {path: storage.info(path)["info"] for path in FILES}
    stepped = {path: about["step"] for path, about in abouts.items() if "step" in about}
    assert stepped
    for path, step in stepped.items():
        weights, odd = load(path).weights, False
        for at in range(0, len(weights), 1 << 24):  # in pieces: all stages take gigabytes
            piece = weights[at : at + (1 << 24)]
            whole = piece[abs(piece) > STANDS_FOR_ZERO]
            assert (whole % step == 0).all()
            odd = odd or bool((whole % (2 * step)).any())
        assert odd


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_plays_as_it_says(path):
    """Some games have an interval of a tenth to a third: twice that is far from other players."""
    if path.suffix == ".safetensors":
        pytest.importorskip("torch")
    said = storage.info(path)["info"]["this_file"]["1-ply"]["mean"]
    games = 12 if path.suffix == ".safetensors" else 100  # a neural network takes its time
    result = evaluate(load(path, to_play=True), games, seed=7)
    assert abs(result.mean - said) < 2.5 * result.ci95
