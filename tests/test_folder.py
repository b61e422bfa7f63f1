"""Run folders: one run each, known by its settings, and never overwritten."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from learners import SMALL, STEP, contents, played, same_run, stop_after, trained

from lib2048 import Run, Settings
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
    {
        "network": "4x6",
        "form": "afterstate",
        "rule": "td",
        "alpha": 0.1,
        "order": "backward",
        "seed": 1,
        "lanes": 2,
        "games": 100000,
        "actions": None,
        "sources": "abc",
    },
    {
        "network": "42-33",
        "form": "afterstate",
        "rule": "tc",
        "beta": 1.0,
        "lambda": 0.5,
        "delay": True,
        "order": "forward",
        "seed": 3,
        "lanes": 2,
        "threads": 2,
        "starts": "carousel",
        "optimistic": 10.0,
        "stages": 4,
        "top": 16384,
        "promotion": False,
        "games": None,
        "actions": 5000,
        "eval_every": 1000,
        "eval_games": 10,
        "eval_depth": 3,
        "sources": "abc",
    },
]


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


DEEP = ["[" * 10**5, '{"network": ' * 3000, '{"network": [[[[1]]]]}', '{"network": 5}', "{}",
        '{"network": "4x6", "threads": "x"}', '{"network": "4x6", "seed": {}}', "\ufffe",
        '{"network": "4x6", "threads": "two\\nlines"}', '{"network": "4x6", "optimistic": 1e308}',
        '{"network": "4x6", "eval_games": 1e99}', '{"network": "4x6", "functions": 3}']  # fmt: skip


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_a_strange_config_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=str(tmp_path)) as error:
        opened(tmp_path, resume=True)
    assert "\n" not in str(error.value)
    assert (tmp_path / "config.json").read_text(encoding="utf-8") == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a fifo, where there are such")
@pytest.mark.parametrize("name", ["config.json", "weights.npz", "checkpoint.npz"])
def test_a_fifo_in_its_place_does_not_block(tmp_path, name):
    opened(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match=str(tmp_path)):
        opened(tmp_path, resume=True)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(ValueError, match="is no folder"):
        opened(tmp_path / "run")


# ---------------------------------------------------------------- one process at a time


def started(out, *more):
    """Start `lib2048 train` in a process of its own, and wait for its first checkpoint."""
    command = [sys.executable, "-m", "lib2048.cli", "train", "--network", SMALL, "--out", str(out)]
    command += ["--actions", str(10**13), "--checkpoint-every", "0.2", *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes)
    while not (out / "checkpoint.npz").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


def test_a_second_process_is_refused_and_changes_nothing(tmp_path, one_line_error):
    out = tmp_path / "run"
    process = started(out)
    living = out / f".weights.npz.{process.pid}.part"  # as if it were being written
    living.write_bytes(b"half")
    config = (out / "config.json").read_bytes()
    for more in (["--resume"], []):
        line = one_line_error("train", "--network", SMALL, "--actions", 3000, "--out", out, *more)
        assert f"process {process.pid} on" in line if more else "holds a run already" in line
    assert (out / "config.json").read_bytes() == config and living.exists()
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.communicate()
    assert {path.name for path in out.iterdir()} == {
        "config.json",
        "history.csv",
        "checkpoint.npz",
        living.name,
    }


def test_reading_needs_no_lock(tmp_path):
    from lib2048 import evaluate, load
    from lib2048.networks.files import info

    process = started(tmp_path / "run")
    for _ in range(5):
        path = tmp_path / "run" / "checkpoint.npz"
        assert info(path)["checked"] == "all" and evaluate(load(path), 1).max > 0
    process.kill()
    process.communicate()


def test_a_killed_process_leaves_a_folder_that_can_be_taken(tmp_path):
    out = tmp_path / "run"
    process = started(out)
    process.kill()
    process.communicate()
    dead = out / f".checkpoint.npz.{process.pid}.part"
    dead.write_bytes(b"half")
    run = Run(Settings(network=SMALL, actions=10**13), out, resume=True)
    run.go(actions=10, progress=False)
    assert sorted(contents(out)) == ["checkpoint.npz", "config.json", "history.csv"]


def test_one_may_wait_for_a_folder(tmp_path):
    process = started(tmp_path / "run")
    threading.Timer(1.0, process.kill).start()
    settings = Settings(network=SMALL, actions=10**13)
    assert Run(settings, tmp_path / "run", resume=True, wait=60).actions > 0
    process.communicate()


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


def test_a_folder_that_is_going_is_refused_in_the_same_process(tmp_path):
    settings = Settings(network=SMALL, actions=10**13)
    run = Run(settings, tmp_path)
    thread = threading.Thread(target=run.go, kwargs={"progress": False})
    thread.start()
    while not (tmp_path / ".run.lock").exists() or run.actions == 0:
        time.sleep(0.02)
    with pytest.raises(ValueError, match=f"process {os.getpid()}"):
        Run(settings, tmp_path, resume=True)
    run.stop()
    thread.join()
    assert Run(settings, tmp_path, resume=True).actions == run.actions


# ---------------------------------------------------------------- at the edges


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


# ---------------------------------------------------------------- nothing before all is checked


def test_memory_is_refused_before_anything_is_written(tmp_path, monkeypatch, one_line_error):
    monkeypatch.setattr("lib2048.machine.memory.available", lambda: 570 << 20)
    staged = ("--stages", "1", "--top", "64")
    for more in (("4x6", "--rule", "tc"), ("cells:012345", *staged)):
        line = one_line_error("train", "--network", *more, "--games", 5, "--out", tmp_path / "run")
        assert "MiB are free" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("games", [10**8 + 1, 2**63, 10**30])
def test_too_many_games_are_refused_before_anything_is_written(tmp_path, one_line_error, games):
    for more in (("--games", 5, "--eval-every", 100, "--eval-games", games), ("--games", 2**63)):
        one_line_error("train", "--network", SMALL, "--out", tmp_path / "run", *more)
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


def test_a_folder_that_somebody_else_has_taken_meanwhile_is_left_to_them(tmp_path):
    one = Run(Settings(network=SMALL, actions=900), tmp_path / "run")
    one.go(actions=300, progress=False)
    shutil.rmtree(tmp_path / "run")
    trained(out=tmp_path / "run", actions=600)
    kept = contents(tmp_path / "run")
    with pytest.raises(ValueError, match="no longer as this run has left it"):
        one.go(actions=300, progress=False)
    assert contents(tmp_path / "run") == kept
