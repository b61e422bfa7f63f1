"""Run folders: one run each, known by its settings, and never overwritten."""

import json
import os
import shutil
import signal
import threading
from dataclasses import replace

import kills
import numpy as np
import pytest
from learners import SMALL, STEP, contents, played, same_run, stop_after, trained

from lib2048 import Run, Settings, evaluate, load
from lib2048.cli import main
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info
from lib2048.train.folder import RunFolder

SETTINGS = Settings(network="cells:0124,0125,456", seed=1, actions=100)


def opened(path, resume=False, functions=(), **changes):
    return RunFolder(path, replace(SETTINGS, **changes), dict(functions)).open(resume)


def config_in(folder):
    config = json.loads((folder / "config.json").read_text())
    assert config.pop("sources") == SOURCE_HASH
    return config


def test_a_new_folder_is_claimed_by_its_config_and_needs_resume(tmp_path):
    assert opened(tmp_path / "a" / "run") is None
    assert Settings.from_config(config_in(tmp_path / "a" / "run")) == SETTINGS
    with pytest.raises(ValueError, match="--resume"):
        opened(tmp_path / "a" / "run")
    assert opened(tmp_path / "a" / "run", resume=True, actions=200) is None  # the budget may change


OTHERS = [
    {"alpha": 0.2}, {"seed": 2}, {"rule": "tc", "alpha": None}, {"order": "backward"},
    {"form": "state"}, {"form": "q"}, {"threads": 2}, {"optimistic": 1000.0}, {"stages": 2},
    {"starts": "restart"}, {"network": "cells:0123"},
]  # fmt: skip


@pytest.mark.parametrize("changes", OTHERS, ids=str)
def test_another_config_is_refused_by_name(tmp_path, changes, refused):
    opened(tmp_path)
    refused(lambda: opened(tmp_path, resume=True, **changes), next(iter(changes)))


@pytest.mark.parametrize("name", ["photo.jpg", ".film.mkv.part"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path, name, resume, refused):
    (tmp_path / name).write_text("half a film")
    refused(lambda: opened(tmp_path, resume), str(tmp_path))
    assert contents(tmp_path) == {name: b"half a film"}


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


def test_a_new_budget_is_kept_as_soon_as_some_of_it_is_done(tmp_path):
    trained(out=tmp_path, actions=STEP)
    longer = Run(Settings(network=SMALL, actions=3 * STEP), tmp_path, resume=True)
    longer.go(actions=STEP, progress=False)
    main(["train", "--resume", "--out", str(tmp_path)])
    assert Run(Settings(network=SMALL), tmp_path, resume=True).actions == 3 * STEP


def test_a_run_killed_before_it_could_write_its_new_budget_is_not_finished(tmp_path, monkeypatch):
    trained(out=tmp_path, actions=STEP)
    settings = Settings(network=SMALL, actions=2 * STEP)
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr(RunFolder, "_write_texts", lambda *_: exec("raise RuntimeError"))
        Run(settings, tmp_path, resume=True).go(progress=False)
    assert config_in(tmp_path)["actions"] == STEP
    assert RunFolder(tmp_path, settings, {}).state() == "begun"
    same_run(trained(out=tmp_path, actions=2 * STEP, resume=True), trained(actions=2 * STEP))
    assert config_in(tmp_path)["actions"] == 2 * STEP
    assert RunFolder(tmp_path, settings, {}).state() == "finished"


def test_functions_of_ones_own_are_named_and_not_exchanged(tmp_path, refused):
    opened(tmp_path, functions={"update": "0a1b2c"})
    assert config_in(tmp_path)["functions"] == {"update": "0a1b2c"}
    assert opened(tmp_path, resume=True, functions={"update": "0a1b2c"}) is None
    for others in ({}, {"update": "ffffff"}, {"value": "0a1b2c"}):
        refused(lambda o=others: opened(tmp_path, resume=True, functions=o), "update 0a1b2c")


STRANGE = ["", "not json", "[]", "null", '"x"', '{"network": "4x6", "magic": 1}', "[" * 10**5,
           '{"network": ' * 3000, '{"network": [[[[1]]]]}', '{"network": 5}', "{}", "\ufffe",
           '{"network": "4x6", "threads": "x"}', '{"network": "4x6", "seed": {}}',
           '{"network": "4x6", "threads": "two\\nlines"}', '{"network": "4x6", "functions": 3}',
           '{"network": "4x6", "optimistic": 1e308}', '{"network": "4x6", "eval_games": 1e99}',
           ]  # fmt: skip


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_a_strange_config_is_refused_in_one_line_and_left_alone(tmp_path, text, refused):
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    refused(lambda: opened(tmp_path, resume=True), str(tmp_path))
    assert contents(tmp_path) == {"config.json": text.encode()}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a fifo, where there are such")
@pytest.mark.parametrize("name", ["config.json", "weights.npz", "checkpoint.npz"])
def test_a_fifo_in_its_place_does_not_block(tmp_path, name, refused):
    opened(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    refused(lambda: opened(tmp_path, resume=True), str(tmp_path))


def test_a_file_is_no_folder(tmp_path, refused):
    (tmp_path / "run").write_text("x")
    refused(lambda: opened(tmp_path / "run"), "is no folder")


def started(out):
    """Start `lib2048 train` in a process of its own, and wait for its first checkpoint."""
    process = kills.start([*kills.endless({"network": SMALL}, out), "--checkpoint-every", "0.2"])
    return kills.saved(process, out)


def test_a_second_process_may_read_but_not_write(tmp_path, one_line_error):
    out = tmp_path / "run"
    process = started(out)
    living = out / f".weights.npz.{process.pid}.part"  # as if it were being written
    living.write_bytes(b"half")
    config = (out / "config.json").read_bytes()
    for more in (["--resume"], []):
        line = one_line_error("train", "--network", SMALL, "--actions", 3000, "--out", out, *more)
        assert f"process {process.pid} on" in line if more else "holds a run already" in line
    assert (out / "config.json").read_bytes() == config and living.exists()
    for _ in range(5):
        assert info(out / "checkpoint.npz")["checked"] == "all"
        assert evaluate(load(out / "checkpoint.npz"), 1).max > 0
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert {*contents(out)} == {"config.json", "history.csv", "checkpoint.npz", living.name}


def test_one_may_wait_for_a_folder_which_a_killed_process_leaves_without_harm(tmp_path):
    out = tmp_path / "run"
    process = started(out)
    threading.Timer(1.0, process.kill).start()
    settings = Settings(network=SMALL, actions=10**13)
    assert Run(settings, out, resume=True, wait=60).actions > 0
    process.communicate()
    (out / f".checkpoint.npz.{process.pid}.part").write_bytes(b"half")
    Run(settings, out, resume=True).go(actions=10, progress=False)
    assert sorted(contents(out)) == ["checkpoint.npz", "config.json", "history.csv"]


def test_a_run_that_another_has_gone_on_with_is_refused(tmp_path):
    settings = Settings(network=SMALL, actions=900)
    one = Run(settings, tmp_path)
    one.go(actions=300, progress=False)
    other = Run(settings, tmp_path, resume=True)
    other.go(actions=300, progress=False)
    kept = contents(tmp_path)
    for call in (lambda: one.go(actions=300, progress=False), one.save):
        with pytest.raises(ValueError, match="no longer as this run has left it"):
            call()
    assert contents(tmp_path) == kept
    other.go(progress=False)
    same_run((other.network, other.history), trained(actions=900))


@pytest.mark.parametrize(("unit", "number"), [("actions", 1000), ("games", 3)])
@pytest.mark.parametrize("whole", [True, False])
def test_a_smaller_budget_than_what_is_done_is_refused(
    tmp_path, one_line_error, unit, number, whole
):
    run = Run(Settings(network=SMALL, actions=2 * STEP), tmp_path)
    run.go(actions=None if whole else STEP, progress=False)
    kept = contents(tmp_path)
    more = ("--network", SMALL, "--out", tmp_path, "--resume")
    line = one_line_error("train", *more, f"--{unit}", number)
    assert f"has played {run.done(unit):,} {unit} already, more than the {number:,}" in line
    assert contents(tmp_path) == kept


@pytest.mark.parametrize("left", ["config.json", "history.csv"])
def test_weights_that_are_gone_are_missed(tmp_path, one_line_error, left):
    trained(out=tmp_path, actions=STEP)
    (tmp_path / "weights.npz").unlink()
    if left == "config.json":  # a run before its first checkpoint has no history
        (tmp_path / "history.csv").unlink()
        same_run(trained(out=tmp_path, actions=STEP, resume=True), trained(actions=STEP))
        return
    kept = contents(tmp_path)
    more = ("--network", SMALL, "--out", tmp_path, "--resume", "--actions", STEP)
    assert "neither checkpoint.npz nor weights.npz" in one_line_error("train", *more)
    assert contents(tmp_path) == kept


def test_memory_is_refused_before_anything_is_written(tmp_path, monkeypatch, one_line_error):
    monkeypatch.setattr("lib2048.machine.memory.available", lambda: 570 << 20)
    staged = ("--stages", "1", "--top", "64")
    for more in (("4x6", "--rule", "tc"), ("cells:012345", *staged)):
        line = one_line_error("train", "--network", *more, "--games", 5, "--out", tmp_path / "run")
        assert "MiB are free" in line
    assert not list(tmp_path.iterdir())


def test_a_damaged_checkpoint_is_refused_before_anything_is_changed(tmp_path):
    run = Run(Settings(network=SMALL, actions=900), tmp_path)
    run.go(actions=300, progress=False)
    raw = bytearray((tmp_path / "checkpoint.npz").read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "checkpoint.npz").write_bytes(raw)
    kept, weights = contents(tmp_path), run.network.weights.copy()
    with pytest.raises(ValueError, match=r"checkpoint\.npz"):
        Run(run.settings, tmp_path, run.network, resume=True)
    assert contents(tmp_path) == kept
    np.testing.assert_array_equal(run.network.weights, weights)


def test_a_folder_that_is_removed_while_a_run_goes_is_made_anew(monkeypatch, tmp_path):
    settings, out = {"actions": 3 * STEP, "checkpoint_every": 0.0}, tmp_path / "run"
    save, times = RunFolder.save_checkpoint, []

    def remove_and_save(folder, *arguments):
        if len(times) == 1:
            shutil.rmtree(out)
        times.append(1)
        save(folder, *arguments)

    monkeypatch.setattr(RunFolder, "save_checkpoint", remove_and_save)
    with monkeypatch.context() as patch:
        stop_after(patch, 2 * STEP)
        _, history = trained(out=out, **settings)
    assert history.stopped and len(times) > 1
    assert sorted(contents(out)) == ["checkpoint.npz", "config.json", "history.csv"]
    resumed = trained(out=out, resume=True, **settings)
    same_run(resumed, trained(actions=3 * STEP))
    assert played(resumed[1])[: history.count] == played(history)
