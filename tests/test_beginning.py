"""Runs that begin with the weights of a file: `--from WEIGHTS`."""

import json

import numpy as np
import pytest
from learners import SMALL, STEP, same_run, stop_after, train_or_stop

from lib2048 import Network, Run, Settings, evaluate, load, save, train
from lib2048.cli import main
from lib2048.game.board import from_tiles
from lib2048.learn import tables


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return the weights of a run by TC."""
    out = tmp_path_factory.mktemp("first")
    train(Network(SMALL), rule="tc", actions=STEP, out=out, progress=False)
    return out / "weights.npz"


def begun(file, out=None, resume=False, **more):
    settings = Settings(**{"network": SMALL, "rule": "tc", "weights": file} | more)
    return Run(settings, out, resume=resume)


def test_a_run_begins_with_the_weights_and_nothing_else(file):
    run, first = begun(file), load(file)
    np.testing.assert_array_equal(run.network.weights, first.weights)
    assert first.weights.any() and not run.memory["E"][0].any() and not run.memory["A"][0].any()
    assert run.actions == run.history.count == 0


@pytest.mark.parametrize("rule", ["td", "tc"])
def test_it_learns_as_the_network_of_the_file_would(file, rule):
    run = begun(file, rule=rule, actions=STEP, seed=7)
    history, other = run.go(progress=False), load(file)
    same_run(
        (run.network, history),
        (other, train(other, rule=rule, actions=STEP, seed=7, progress=False)),
    )


def test_it_goes_on_from_its_own_checkpoint_when_the_file_is_gone(monkeypatch, file, tmp_path):
    copy = tmp_path / "copy.npz"
    copy.write_bytes(file.read_bytes())
    settings = {"rule": "tc", "weights": copy, "actions": 3 * STEP}
    with monkeypatch.context() as patch:
        stop_after(patch, STEP)
        train_or_stop(Network(SMALL), out=tmp_path / "run", **settings)
    whole = train_or_stop(Network(SMALL), **settings)
    copy.unlink()
    same_run(train_or_stop(Network(SMALL), out=tmp_path / "run", resume=True, **settings), whole)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["from"] == str(copy)


def test_a_run_from_another_file_is_another_run(file, tmp_path):
    begun(file, tmp_path, actions=STEP).go(progress=False)
    for other in ({"weights": None}, {"weights": "b.npz"}):
        with pytest.raises(ValueError, match="holds a run with from "):
            Run(Settings(network=SMALL, rule="tc", **other), tmp_path, resume=True)


OTHERS = [
    ("of network", {"network": "cells:0123"}),
    ("form afterstate", {"form": "q"}),
    ("optimistic 50 does not fit", {"optimistic": 50.0}),
    ("no such file", {"weights": "none.npz"}),
    ("is a directory", {"weights": "."}),
]


@pytest.mark.parametrize("said, other", OTHERS)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    file, tmp_path, refused, said, other
):
    refused(lambda: begun(file, tmp_path / "run", **other), said)
    assert not (tmp_path / "run").exists()


def test_a_damaged_file_is_refused_before_anything_is_written(file, tmp_path):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bad.npz").write_bytes(data)
    with pytest.raises(ValueError, match="bad.npz: "):
        begun(tmp_path / "bad.npz", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_stages_that_do_not_fit_are_refused_before_they_are_filled(file, monkeypatch):
    monkeypatch.setattr("lib2048.machine.memory.available", lambda: 3 << 20)
    with pytest.raises(MemoryError, match="take fewer stages"):
        begun(file, rule="td", stages=4, top=64)


def test_an_optimistic_network_goes_on_as_such(tmp_path):
    network = Network(SMALL, optimistic=1000)
    train(network, rule="tc", actions=STEP, out=tmp_path, progress=False)
    run = begun(tmp_path / "weights.npz", rule="td", optimistic=1000.0)
    np.testing.assert_array_equal(run.network.weights, network.weights)
    history, other = run.go(actions=STEP, progress=False), load(tmp_path / "weights.npz")
    assert other.optimistic == 1000
    same_run((run.network, history), (other, train(other, actions=STEP, progress=False)))


def test_every_stage_begins_with_the_weights_of_one(file):
    """Boards of all stages are worth at first what they were; learning tells the stages apart."""
    one, run = load(file), begun(file, stages=2, top=16)
    tiles = [[[x, 2, 4, 2], [y, 0, 0, 0], [0] * 4, [0] * 4] for x in (2, 16) for y in (2, 8)]
    boards = [from_tiles(rows) for rows in tiles]
    assert [run.network.stage(board) for board in boards] == [0, 1, 2, 3]
    np.testing.assert_array_equal(run.network.values(boards), one.values(boards))
    run.go(actions=STEP, progress=False)
    assert len(np.unique(run.network.weights.reshape(4, -1), axis=0)) > 1


@pytest.mark.parametrize("other", [{}, {"stages": 1}, {"stages": 2, "promotion": False}])
def test_stages_do_not_begin_with_other_stages(tmp_path, other):
    train(Network(SMALL, stages=2), actions=STEP, out=tmp_path, progress=False)
    with pytest.raises(ValueError, match="of other stages"):
        begun(tmp_path / "weights.npz", **other)


def test_a_neural_network_begins_with_a_file(tmp_path):
    deep = pytest.importorskip("lib2048.deep")
    network = deep.ValueNetwork("cnn22sss", seed=5)
    save(network, tmp_path / "a.safetensors")
    settings = Settings(network="cnn22sss", weights=tmp_path / "a.safetensors")
    begun, given = (x.module.state_dict() for x in (Run(settings).network, network))
    assert all((begun[name] == given[name]).all() for name in given)
    for other in ("cnn22ss", "policy"):
        with pytest.raises(ValueError, match="holds weights of network cnn22sss"):
            Run(Settings(network=other, weights=tmp_path / "a.safetensors"))


def test_the_command_takes_a_file_to_begin_with(file, tmp_path, capsys):
    words = f"train --network {SMALL} --actions 100 --json"
    main([*words.split(), "--from", str(file), "--out", str(tmp_path / "run")])
    assert json.loads(capsys.readouterr().out)["actions"] == 100
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["from"] == str(file)


# ---------------------------------------------------------------- weights that have learned already

HELD = STEP // 2  # actions for which weights are held that have learned from so many:
BEFORE = tables.HELD * HELD


def held(file, **more):
    return begun(file, **{"before": BEFORE, "lam": 0.5, "seed": 7, "threads": 1} | more)


def sums(run):
    return (run.memory[name].flat for name in "EA")


def test_weights_that_have_learned_are_held_while_sums_take_the_errors_in(file):
    run = held(file)
    run.go(actions=HELD - 1, progress=False)
    np.testing.assert_array_equal(run.network.weights, load(file).weights)
    assert next(sums(run)).any()
    run.go(actions=HELD, progress=False)
    assert (run.network.weights != load(file).weights).any()


WAYS = [({"lam": 0.5}, 1), ({"lam": 0.5, "delay": False}, 4), ({"order": "backward"}, 1)]


@pytest.mark.parametrize(("how", "times"), WAYS, ids=str)
def test_an_error_is_met_by_all_that_learn_from_it(file, monkeypatch, how, times):
    """Online with λ = 0.5 these are h + 1 = 4 afterstates, else the one that it belongs to."""
    met = []
    monkeypatch.setattr(tables, "multiply_meetings", lambda *told: met.append(told[2]))
    run = held(file, **how)
    run.go(actions=HELD, progress=False)
    assert met == [times * HELD * run.network.lookups_per_board]


def test_each_error_that_held_weights_have_met_counts_as_a_hundred(file, monkeypatch):
    run = held(file)
    run.go(actions=HELD, progress=False)
    monkeypatch.setattr(tables, "multiply_meetings", lambda *_: None)
    once = held(file)
    once.go(actions=HELD, progress=False)
    (e, a), (e1, a1) = sums(run), sums(once)
    met, known = a1 > 0, load(file).weights != 0
    mean = a1.sum(dtype=float) / (HELD * run.network.lookups_per_board)
    assert met.any() and (known & ~met).any() and (~known & ~met).any()
    np.testing.assert_allclose(e[met], e1[met] * np.sqrt(tables.HELD), rtol=1e-6)
    np.testing.assert_allclose(a[met], a1[met] * tables.HELD, rtol=1e-6)
    np.testing.assert_allclose(a[known & ~met], mean * tables.HELD, rtol=1e-5)
    np.testing.assert_allclose(e[known & ~met], mean * np.sqrt(tables.HELD), rtol=1e-5)
    assert not a[~known & ~met].any() and not e[~known & ~met].any()


@pytest.mark.parametrize("parts", [[HELD // 2, 3], [HELD], [HELD - 1, 1, 1]], ids=str)
def test_a_run_that_holds_its_weights_goes_on_as_if_it_had_not_stopped(file, tmp_path, parts):
    for part in parts:
        held(file, out=tmp_path, resume=True).go(actions=part, progress=False)
    run, whole = held(file, out=tmp_path, resume=True), held(file)
    run.go(actions=2 * STEP - run.actions, progress=False)
    whole.go(actions=2 * STEP, progress=False)
    np.testing.assert_array_equal(run.network.weights, whole.network.weights)
    for one, other in zip(sums(run), sums(whole)):
        np.testing.assert_array_equal(one, other)


def test_tc_forgets_less_where_it_knows_how_much_weights_have_learned(tmp_path):
    """Mean scores of 1 000 games; the file's network was trained for 40 times as long."""
    out, more = tmp_path / "first", {"network": "4-22", "lam": 0.5}
    Run(Settings(**more, rule="tc", actions=2_000_000), out).go(progress=False)
    file, means = out / "weights.npz", []
    for before in (None, 2_000_000):
        run = begun(file, **more, before=before, seed=2)
        run.go(actions=50_000, progress=False)
        means.append(evaluate(run.network, games=1000).mean)
    anew, known = means
    assert known > 1.1 * anew and known > 0.95 * evaluate(load(file), games=1000).mean


def test_td_has_nothing_to_hold_weights_for(file):
    run = held(file, rule="td")
    run.go(actions=1000, progress=False)
    assert (run.network.weights != load(file).weights).any()


@pytest.mark.parametrize("before", [0, -1, 1.5])
def test_weights_have_learned_from_some_actions(file, refused, before):
    refused(lambda: begun(file, before=before), f"before {before}: use a whole number above 0")


def test_weights_are_not_held_for_all_of_a_run(file, refused):
    held(file, actions=HELD + 1)
    held(file, rule="td", actions=HELD)
    refused(lambda: held(file, actions=HELD), f"held for {HELD:,} actions, and then none of the")


def test_only_weights_of_a_file_have_learned_before(refused):
    refused(lambda: Settings(network=SMALL, before=9), "before: is of the weights to begin with")


def test_the_command_says_what_weights_have_learned_from(file, tmp_path, one_line_error, capsys):
    out = tmp_path / "run"
    words = f"train --network {SMALL} --rule tc --actions 300 --from {file} --out {out}".split()
    main([*words, "--before", "20_000"])
    assert json.loads((out / "config.json").read_text())["before"] == 20_000
    other, _ = [*words, "--before", "100", "--resume"], capsys.readouterr()
    assert "before 20000 instead of 100" in one_line_error(*other)
