"""Files of neural networks: what we add to a format that is safe by itself is checked, too."""

import json

import hostile
import numpy as np
import pytest
from learners import contents

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from lib2048 import from_tiles, load  # noqa: E402
from lib2048.deep import files  # noqa: E402
from lib2048.deep.policy import PolicyNetwork, make_policy, new_policy_network  # noqa: E402
from lib2048.game.game import parse_game  # noqa: E402
from lib2048.networks.storage import info, save_with  # noqa: E402


@pytest.fixture
def path(tmp_path):
    save_with(new_policy_network(3), tmp_path / "a.safetensors", {"games": 7, "path": 1})
    return tmp_path / "a.safetensors"


def parts(path):
    """Return (what a file says of itself, its tensors)."""
    with safe_open(path, "pt") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def rewritten(path, about=(), tensors=(), seal=True):
    """Write a file again with changes, sealed anew or not."""
    said, weights = parts(path)
    said, weights = said | dict(about), weights | dict(tensors)
    if seal:
        said["sha256"] = files._seal(said, weights)
    save_file(weights, path, said)
    return path


def refusal(path):
    lines = []
    for read in (load, info):
        with pytest.raises(ValueError) as error:
            read(path)
        lines.append(str(error.value))
    assert all(line.startswith(f"{path}: ") and "\n" not in line for line in lines)
    return lines[0]


def test_a_file_says_what_it_holds(path):
    said = info(path)
    assert (said["network"], said["info"]) == ("policy", {"games": 7, "path": 1})


ABOUT = {
    "another info": {"info": "{}"},
    "another network": {"network": "cnn22"},
    "another option": {"options": '{"symmetry": "ave"}'},
    "something more": {"more": "x"},
    "an older format": {"format": "lib2048 1"},
}


@pytest.mark.parametrize("about", ABOUT.values(), ids=ABOUT)
def test_an_edit_breaks_the_seal(path, about):
    refusal(rewritten(path, about, seal=False))


@pytest.mark.parametrize("text", ["[]", "3", "{", "[" * 5000])
@pytest.mark.parametrize("name", ["info", "options"])
def test_what_is_no_object_is_refused(path, name, text, refused):
    rewritten(path, {name: text})
    refused(lambda: info(path), "no JSON object")


@pytest.mark.parametrize("options", [{"symmetry": []}, {"seed": "x"}, {"name": "y"}, {"what": 1}])
def test_options_that_make_no_network_are_refused(path, options, refused):
    rewritten(path, {"network": "cnn22sss", "options": json.dumps(options)})
    refused(lambda: load(path), "a.safetensors")


def test_weights_that_are_no_numbers_are_refused(path, refused):
    name, weights = next(iter(parts(path)[1].items()))
    weights[0] = float("nan")
    rewritten(path, tensors={name: weights})
    refused(lambda: load(path), "nan or infinity")


def test_weights_that_half_a_float_cannot_hold_are_not_rounded(tmp_path):
    network = new_policy_network(3)
    next(network.module.parameters()).data[0] = 1e6
    with pytest.raises(FloatingPointError):
        files.save(network, tmp_path / "a.safetensors", half=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("hidden", [(32,), (8, 16, 8), ()], ids=str)
@pytest.mark.parametrize("name", ["policy", "mine"])
def test_a_policy_network_of_any_size_name_and_game_comes_back(tmp_path, hidden, name):
    module = make_policy(5, hidden)
    network = PolicyNetwork(module, name, parse_game("2048@3x3"))
    files.save(network, tmp_path / "a.safetensors")
    given = {} if name == "policy" else {"module": make_policy(6, hidden)}
    again = files.load(tmp_path / "a.safetensors", **given)
    board = [from_tiles([[2, 0, 2, 0], [4, 8, 0, 0], [0] * 4, [0] * 4])]
    assert (again.probabilities(board) == network.probabilities(board)).all()
    assert (again.name, again.game) == (name, network.game)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    (tmp_path / "folder.safetensors").mkdir()
    assert "a directory" in refusal(tmp_path / "folder.safetensors")
    assert "no such file" in refusal(tmp_path / "none.safetensors")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run-policy", "run-value"])
def test_an_edited_checkpoint_neither_crashes_nor_says_two_lines(name):
    found = hostile.edited(name, neural=True)
    assert {row["what"] for row in found} == {"refused", "digest"}, found
    assert len(found) > 50


@pytest.mark.slow
def test_no_damaged_file_ends_in_a_traceback_or_plays_with_other_weights():
    found = hostile.fuzz(30, first=2000, neural=True)
    assert [row for row in found if not row["fine"]] == []
    assert any("policy" in row["file"] or "value" in row["file"] for row in found)


def test_a_checkpoint_of_weights_that_are_no_numbers_is_not_written(tmp_path):
    from lib2048 import Run, Settings

    run = Run(Settings(network="policy", batch="games2", actions=10**6), tmp_path)
    run.go(actions=20, progress=False)
    kept = contents(tmp_path)
    next(run.network.module.parameters()).data[0] = np.nan
    with pytest.raises(FloatingPointError):
        run.save()
    assert contents(tmp_path) == kept
