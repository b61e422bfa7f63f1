"""Files of neural networks: what we add to a format that is safe by itself is checked, too."""

import json
import os

import hostile
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from lib2048 import load  # noqa: E402
from lib2048.deep import files  # noqa: E402
from lib2048.deep.policy import new_policy_network  # noqa: E402
from lib2048.networks.files import info, save_with  # noqa: E402


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


def test_a_file_says_what_was_checked(path):
    said = info(path)
    assert (said["network"], said["checked"], said["info"]) == (
        "policy",
        "all",
        {"games": 7, "path": 1},
    )


def test_files_of_format_1_are_read_by_their_own_hash(path):
    _, weights = parts(path)
    old = {"format": files.FIRST, "sha256": files._digest(weights)}
    rewritten(path, old, seal=False)
    assert info(path)["checked"] == "weights"
    one, other = load(path), new_policy_network(3)
    for x, y in zip(one.module.parameters(), other.module.parameters(), strict=True):
        assert torch.equal(x, y)
    name = next(iter(weights))
    rewritten(path, tensors={name: weights[name] + 1}, seal=False)
    assert "damaged" in refusal(path)


ABOUT = {
    "another info": {"info": "{}"},
    "another network": {"network": "cnn22"},
    "another option": {"options": '{"symmetry": "ave"}'},
    "something more": {"more": "x"},
    "another format": {"format": "lib2048 3"},
}


@pytest.mark.parametrize("about", ABOUT.values(), ids=ABOUT)
def test_an_edit_breaks_the_seal(path, about):
    refusal(rewritten(path, about, seal=False))


@pytest.mark.parametrize("text", ["[]", "null", "3", "{", "[" * 5000])
@pytest.mark.parametrize("name", ["info", "options"])
def test_what_is_no_object_is_refused(path, name, text):
    rewritten(path, {name: text})
    with pytest.raises(ValueError, match="no JSON object"):
        info(path)


@pytest.mark.parametrize("options", [{"symmetry": []}, {"seed": "x"}, {"name": "y"}, {"what": 1}])
def test_options_that_make_no_network_are_refused(path, options):
    rewritten(path, {"network": "cnn22sss", "options": json.dumps(options)})
    with pytest.raises(ValueError) as error:
        load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(path, bad):
    name, weights = next(iter(parts(path)[1].items()))
    weights[0] = bad
    rewritten(path, tensors={name: weights})
    with pytest.raises(ValueError, match="nan or infinity"):
        load(path)


def test_weights_that_half_a_float_cannot_hold_are_not_rounded(tmp_path):
    network = new_policy_network(3)
    next(network.module.parameters()).data[0] = 1e6
    with pytest.raises(FloatingPointError):
        files.save(network, tmp_path / "a.safetensors", half=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a fifo, where there are such")
def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    assert "no plain file" in refusal(tmp_path / "fifo.safetensors")
    assert "a directory" in refusal(tmp_path / "folder.safetensors")
    assert "no such file" in refusal(tmp_path / "none.safetensors")


@pytest.mark.parametrize("name", ["run-policy", "run-value"])
def test_an_edited_checkpoint_neither_crashes_nor_says_two_lines(name):
    found = hostile.edited(name, neural=True)
    assert {row["what"] for row in found} == {"refused", "digest"}, found
    assert len(found) > 50


def test_no_damaged_file_ends_in_a_traceback_or_plays_with_other_weights():
    found = hostile.fuzz(30, first=2000, neural=True)
    assert [row for row in found if not row["fine"]] == []
    assert any("policy" in row["file"] or "value" in row["file"] for row in found)


def test_a_checkpoint_of_weights_that_are_no_numbers_is_not_written(tmp_path):
    from lib2048 import Run, Settings

    run = Run(Settings(network="policy", batch="games2", actions=10**6), tmp_path)
    run.go(actions=20, progress=False)
    kept = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    next(run.network.module.parameters()).data[0] = np.nan
    with pytest.raises(FloatingPointError):
        run.save()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == kept
