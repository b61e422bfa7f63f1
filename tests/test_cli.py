"""The command line: what it answers, and how it refuses."""

import itertools
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from functools import partial

import numpy as np
import pytest
from learners import SMALL, contents, read_arrays

from lib2048 import Network, SearchPlayer, benchmark, cli, save
from lib2048.cli import main
from lib2048.learn import tables
from lib2048.networks import storage
from lib2048.play.evaluation import evaluate
from lib2048.play.players import NAMED
from lib2048.train.watching import Stopped

PLAY_KEYS = {"player", "games", "mean", "ci95", "max", "moves", "moves_per_s", "reached"}
TRAIN_KEYS = {
    "run", "network", "games", "actions", "seconds", "actions_per_s", "mean_last", "weights",
}  # fmt: skip


def strict_json(text):
    """Parse one JSON object; Infinity and NaN, which JSON does not know, are refused."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def answer(capsys):
    """Return a function that runs the command with --json and returns the object it prints."""

    def run(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        out = capsys.readouterr().out
        assert out.endswith("\n") and out.count("\n") == 1
        return strict_json(out)

    return run


@pytest.fixture
def weights(tmp_path):
    """Return the path of a small network's weights."""
    network = Network(SMALL)
    network.weights[:] = np.random.default_rng(1).normal(0, 50, network.size)
    save(network, tmp_path / "small.npz")
    return tmp_path / "small.npz"


# ---------------------------------------------------------------- play


@pytest.mark.parametrize("player", ["random", "greedy", "first-legal", "heuristic"])
def test_play_answers_what_evaluate_finds(answer, player):
    found = answer("play", player, "--games", 30, "--seed", 4)
    assert set(found) == PLAY_KEYS
    result = evaluate(player, 30, seed=4)
    for key, value in result.as_dict().items():
        assert key in ("player", "moves_per_s") or found[key] == value
    assert found["player"] == player and found["moves_per_s"] > 0


def test_play_takes_a_file_of_weights(answer, weights):
    found = answer("play", weights, "--games", 20)
    assert set(found) == PLAY_KEYS
    assert found["player"] == str(weights)
    assert found["mean"] == evaluate(storage.load(weights), 20).mean


def test_play_without_json_prints_facts_and_a_table(capsys):
    assert main(["play", "random", "--games", "20"]) == 0
    facts, table = capsys.readouterr().out.split("\n\n")
    assert "points in 20 games" in facts and "a second" in facts
    head, *rows = table.splitlines()
    assert head.split() == ["tile", "reached", "and", "no", "further"]
    assert rows[0].split()[1].startswith("100.0")


# ---------------------------------------------------------------- train


def test_train_answers_by_the_contract(answer, tmp_path):
    out = tmp_path / "run"
    found = answer("train", "--network", SMALL, "--games", 50, "--out", out)
    assert set(found) == TRAIN_KEYS
    assert (found["run"], found["network"], found["games"]) == (str(out), SMALL, 50)
    assert found["weights"] == str(out / "weights.npz")
    history = read_arrays(out / "weights.npz")["history"]
    assert found["actions"] >= history[:, 1].sum()
    assert found["mean_last"] == pytest.approx(history[:, 0].mean())
    assert storage.load(found["weights"]).weights.any()


def test_a_command_knows_the_game_of_what_it_is_given(answer, one_line_error, tmp_path):
    out, other = tmp_path / "run", tmp_path / "other"
    learn = "train", "--network", "22-3", "--actions", 3000, "--out"
    found = answer(*learn, out, "--game", "2048:four=0.20@2x3")
    assert found["network"] == "22-3@2048:four=0.2@2x3"
    assert json.loads((out / "config.json").read_text())["network"] == found["network"]
    weights = found["weights"]
    assert answer("info", weights)["network"] == found["network"]
    told = answer("play", weights, "--games", 20, "--game", "2048:four=.2@2x3")
    assert told["mean"] == evaluate(storage.load(weights), 20).mean
    random = answer("play", "random", "--games", 20, "--game", "2048:four=0.2@2x3")
    assert random["mean"] == evaluate("random", 20, game="2048:four=0.2@2x3").mean
    assert "not 2048@2x3" in one_line_error("play", weights, "--game", "2048@2x3")
    again = "train", "--resume", "--out", out
    assert "not 2048" in one_line_error(*again, "--actions", 4000, "--game", "2048")
    assert answer(*again, "--actions", 4000, "--game", "2048:four=0.2@2x3")["actions"] == 4000
    assert found["network"] in one_line_error(
        *learn, other, "--game", "2048@2x3", "--from", weights
    )
    assert not other.exists()


def test_a_run_that_goes_on_keeps_what_is_not_said_again(answer, tmp_path):
    learn = "train", "--network", SMALL, "--out", tmp_path / "run"
    answer(*learn, "--rule", "tc", "--lambda", "0.5", "--actions", 100)
    assert answer(*learn, "--resume", "--actions", 200)["actions"] == 200
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["rule"], config["lambda"]) == ("tc", 0.5)


def test_train_without_a_finished_game_has_no_mean(answer, tmp_path):
    found = answer("train", "--network", SMALL, "--actions", 10, "--out", tmp_path / "run")
    assert found["games"] == 0 and found["mean_last"] is None and found["actions"] == 10


WAYS = [
    "--form state --order backward --alpha 0.2", "--form q", "--rule td --lambda 0.5 --no-delay",
    "--rule tc --lambda 0.5 --beta 0.5", "--rule autostep --mu 0.01",
    "--optimistic 5000 --threads 2", "--stages 2 --top 32 --starts carousel",
    "--stages 1 --top 8 --no-promotion", "--starts restart", "--stages 3 --starts s-jump",
    "--starts l-jump --rule tc", "--lambda 0.5 --no-delay --traces dutch",
    "--lambda 1 --order backward",
]  # fmt: skip


@pytest.mark.parametrize("words", WAYS)
def test_every_way_to_train_is_kept_plays_and_goes_on(answer, tmp_path, words):
    arguments = ["train", "--network", SMALL, "--actions", 5000, "--out", tmp_path, *words.split()]
    report = answer(*arguments)
    assert report["actions"] == 5000
    config = json.loads((tmp_path / "config.json").read_text())
    options = "form|order|alpha|rule|beta|mu|stages|top|starts"
    for name, told in re.findall(rf"--({options}) (\S+)", words):
        assert str(config[name]) == told
    network, staged = storage.load(report["weights"]), "--stages" in words
    assert network.form == config["form"]
    assert network.promotes == (staged and "--no-promotion" not in words)
    assert network.stages.count == 2 ** config.get("stages", 0)
    assert network.stages.count == answer("info", report["weights"])["stages"]
    assert network.stages.top == config.get("top", 32768)
    assert (tmp_path / "stages.csv").exists() == staged
    assert answer("play", report["weights"], "--games", 3)["mean"] > 0
    longer = answer(*[6000 if word == 5000 else word for word in arguments], "--resume")
    assert longer["actions"] == 6000
    again = answer("train", "--resume", "--out", tmp_path, "--actions", 7000)
    assert again["actions"] == 7000 and again["network"] == SMALL
    by_its_own_settings = json.loads((tmp_path / "config.json").read_text())
    assert by_its_own_settings == config | {"actions": 7000}


def test_the_default_rates_are_the_contracts(answer, tmp_path):
    for rule, rate, default in (("td", "alpha", 0.1), ("tc", "beta", 1), ("autostep", "mu", 0.1)):
        out = tmp_path / rule
        words = ["--rule", rule, "--actions", "10", "--out", str(out)]
        answer("train", "--network", SMALL, *words)
        config = json.loads((out / "config.json").read_text())
        assert (config["rule"], config[rate]) == (rule, default)


def test_training_without_room_for_a_stage_ends_with_2(answer, capsys, tmp_path, monkeypatch):
    arguments = ["train", "--network", SMALL, "--stages", 2, "--actions", 100, "--out", tmp_path]
    with monkeypatch.context() as patch:  # there was room when it began
        fill_up = lambda learner: patch.setattr(tables, "SPARE_MIB", 1 << 30)  # noqa: E731
        patch.setattr(tables.TableLearner, "prepare", fill_up)
        assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    last = said.err.split("\r")[-1]  # behind the progress
    assert said.out == "" and last.startswith("lib2048: ") and last.count("\n") == 1
    assert "stopped where it can go on" in last and "the next stage" in last
    assert (tmp_path / "checkpoint.npz").exists()
    assert answer(*arguments, "--resume")["actions"] == 100


AHEAD = [
    ("heuristic", ["--depth", "2"]),
    ("weights", ["--depth", "2"]),
    ("weights", ["--depth", "3", "--reduce"]),
    ("weights", ["--ms-per-move", "0.2"]),
]


@pytest.mark.parametrize("who, more", AHEAD)
def test_play_looks_ahead(answer, weights, who, more):
    found = answer("play", weights if who == "weights" else who, "--games", 3, "--seed", 4, *more)
    assert found.keys() == PLAY_KEYS and found["games"] == 3 and found["mean"] > 0
    if who == "weights" and more[0] == "--depth":
        player = SearchPlayer(storage.load(weights), int(more[1]), reduce="--reduce" in more)
        assert found["mean"] == evaluate(player, 3, 4).mean


# ---------------------------------------------------------------- info and bench


def test_info_answers_what_the_file_holds(answer, weights):
    found = answer("info", weights)
    assert found == storage.info(weights)
    assert (found["network"], found["nonzero_weights"]) == (SMALL, 2 * 16**4)


SEARCHES = ("2-ply play", "3-ply play", "3-ply, no table")


@pytest.mark.parametrize("stages", [(), ("--stages", "2")])
def test_bench_compares_each_loop_with_its_floor(answer, monkeypatch, stages):
    for name, value in {"FLOOR_MOVES": 200, "WARM_UP": 1000, "MOVES": 1000, "ROUNDS": 1}.items():
        monkeypatch.setattr(benchmark, name, value)
    defaults = (1000, 1000, 1)
    monkeypatch.setattr(benchmark.Bench.__init__, "__defaults__", ("4x6", 0, *defaults, None))
    found = answer("bench", "--network", SMALL, *stages)
    staged = benchmark.STAGED if stages else ()
    assert set(found) == {"random play", "1-ply play", *benchmark.TRAINING, *SEARCHES, *staged}
    for row in found.values():
        assert row["ratio"] == pytest.approx(row["moves_per_s"] / row["floor_per_s"])
    assert "floor" in benchmark.report(found)


@pytest.mark.parametrize("stages", [0, 2])
def test_bench_measures_the_tables_of_a_file(answer, monkeypatch, tmp_path, stages):
    monkeypatch.setattr(benchmark, "FLOOR_MOVES", 200)
    monkeypatch.setattr(benchmark.FileBench.__init__, "__defaults__", (1000, 1000, 1))
    save(Network(SMALL, stages=stages, top=64 if stages else 1 << 15), tmp_path / "w.npz")
    found = answer("bench", "--network", f"{tmp_path}/w.npz")
    starts = {"carousel", None} if stages else {None}
    ways = [name for name, how in benchmark.IN_A_FILE.items() if how.get("starts") in starts]
    assert list(found) == ways and len(ways) == (4 if stages else 2)
    for row in found.values():
        assert row["ratio"] == pytest.approx(row["moves_per_s"] / row["floor_per_s"])


# ---------------------------------------------------------------- refusals

TRAIN = ["train", "--network", SMALL, "--games", "5", "--out", "run"]


def instead(option, *values):
    """Return TRAIN with an option's value replaced."""
    at = TRAIN.index(option)
    return [*TRAIN[:at], option, *values, *TRAIN[at + 2 :]]


WRONG = {
    "unknown command": ["solve", "3x3x3"],
    "unknown option": [*TRAIN, "--colour", "red"],
    "unknown network": instead("--network", "9x9"),
    "network too large": instead("--network", "421-43-42-33-8x6"),
    "no games": instead("--games", "0"),
    "half a game": instead("--games", "2.5"),
    "games in words": instead("--games", "many"),
    "games and actions": [*TRAIN, "--actions", "5"],
    "no budget": ["train", "--network", SMALL, "--out", "run"],
    "no actions": ["train", "--network", SMALL, "--actions", "0", "--out", "run"],
    "no folder": TRAIN[:-2],
    "no network": ["train", "--games", "5", "--out", "run"],
    "alpha above 1": [*TRAIN, "--alpha", "1.5"],
    "alpha in words": [*TRAIN, "--alpha", "fast"],
    "unknown rule": [*TRAIN, "--rule", "magic"],
    "a rate of td for tc": [*TRAIN, "--rule", "tc", "--alpha", "0.1"],
    "lambda 1": [*TRAIN, "--lambda", "1"],
    "lambda above 1": [*TRAIN, "--order", "backward", "--lambda", "1.5"],
    "traces of nobody": [*TRAIN, "--no-delay", "--traces", "french"],
    "dutch traces with a delay": [*TRAIN, "--traces", "dutch"],
    "dutch traces of tc": [*TRAIN, "--no-delay", "--traces", "dutch", "--rule", "tc"],
    "dutch traces backward": [*TRAIN, "--no-delay", "--traces", "dutch", "--order", "backward"],
    "half a thread": [*TRAIN, "--threads", "0.5"],
    "stages below 0": [*TRAIN, "--stages", "-1"],
    "too many stages": [*TRAIN, "--stages", "6"],
    "half a stage": [*TRAIN, "--stages", "1.5"],
    "top without stages": [*TRAIN, "--top", "2048"],
    "top no power of two": [*TRAIN, "--stages", "2", "--top", "24"],
    "top too large": [*TRAIN, "--stages", "2", "--top", "65536"],
    "top too small": [*TRAIN, "--stages", "3", "--top", "16"],
    "stages of actions": [*TRAIN, "--stages", "2", "--form", "q"],
    "stages of states": [*TRAIN, "--stages", "2", "--form", "state"],
    "a shape without room": instead("--network", "42@1x4"),
    "a game that nobody knows": [*TRAIN, "--game", "chess"],
    "a board that is too large": [*TRAIN, "--game", "2048@5x4"],
    "odds above 1": [*TRAIN, "--game", "2048:four=1.5"],
    "two games": [*instead("--network", "4@1x4"), "--game", "2048@4x4"],
    "actions of a board that is not square": [*instead("--network", "4@1x4"), "--form", "q"],
    "jumps that leave no action": [*instead("--network", "cells:01@1x2"), "--starts", "s-jump"],
    "a neural network on a small board": [*instead("--network", "policy"), "--game", "2048@2x3"],
    "a player of no game": ["play", "random", "--game", "2048@0x4"],
    "a heuristic of other lines": ["play", "heuristic", "--game", "2048@3x4"],
    "a tournament of no game": ["tournament", ".", "--game", "2048@x", "--out", "board"],
    "solve two sizes": ["solve", "2x3", "--game", "2048@3x2"],
    "solve a size and the whole board": ["solve", "2x3", "--game", "2048@4x4"],
    "solve without a size": ["solve", "--game", "2048:four=0.2"],
    "nothing to promote": [*TRAIN, "--no-promotion"],
    "unknown starts": [*TRAIN, "--starts", "middle"],
    "carousel without stages": [*TRAIN, "--starts", "carousel"],
    "carousel in too many stages": [*TRAIN, "--starts", "carousel", "--stages", "9"],
    "fold nothing": ["fold"],
    "fold into nothing": ["fold", "nothing.npz"],
    "fold what is not there": ["fold", "nothing.npz", "new.npz"],
    "convert nothing": ["convert"],
    "convert into nothing": ["convert", "nothing.bin"],
    "convert what is not there": ["convert", "nothing.bin", "new.npz"],
    "unknown form": [*TRAIN, "--form", "v"],
    "unknown order": [*TRAIN, "--order", "sideways"],
    "seed in words": [*TRAIN, "--seed", "luck"],
    "unknown player": ["play", "nobody"],
    "no player": ["play"],
    "play no games": ["play", "random", "--games", "0"],
    "play on no threads": ["play", "random", "--threads", "0"],
    "play to depth 0": ["play", "heuristic", "--depth", "0"],
    "play to depth 99": ["play", "heuristic", "--depth", "99"],
    "random in depth": ["play", "random", "--depth", "2"],
    "random in time": ["play", "random", "--ms-per-move", "1"],
    "no time": ["play", "heuristic", "--ms-per-move", "0"],
    "depth and time": ["play", "heuristic", "--depth", "2", "--ms-per-move", "1"],
    "no table": ["play", "heuristic", "--depth", "3", "--table-mib", "-1"],
    "a table beyond memory": ["play", "heuristic", "--depth", "3", "--table-mib", "65000"],
    "epsilon": [*TRAIN, "--epsilon", "2"],
    "test games never": [*TRAIN, "--eval-every", "0"],
    "no test games": [*TRAIN, "--eval-every", "10", "--eval-games", "0"],
    "deep test games never": [*TRAIN, "--eval-depth", "2"],
    "one rate, two names": [*TRAIN, "--rate", "0.1", "--alpha", "0.1"],
    "test games to depth 0": [*TRAIN, "--eval-every", "10", "--eval-depth", "0"],
    "solve nothing": ["solve"],
    "solve too much": ["solve", "4x4"],
    "info on nothing": ["info", "nothing.npz"],
    "bench on nothing": ["bench", "--network", "9x9"],
    "bench on what has no room": ["bench", "--network", "42@2x2"],
    "more games than there are": instead("--games", str(2**63)),
    "25 digits of actions": ["train", "--network", SMALL, "--actions", "9" * 25, "--out", "run"],
    "too many test games": [*TRAIN, "--eval-every", "10", "--eval-games", "100000001"],
    "checkpoints never": [*TRAIN, "--checkpoint-every", "1e400"],
    "too many threads": [*TRAIN, "--threads", "100000"],
    "optimistic beyond float32": [*TRAIN, "--optimistic", "1e39"],
    "optimistic infinite": [*TRAIN, "--optimistic", "inf"],
    "no room for two tiles": instead("--network", "cells:0@1x1"),
    "play on too many threads": ["play", "random", "--threads", "100000"],
    "play too many games": ["play", "random", "--games", "100000001"],
    "play 25 digits": ["play", "random", "--games", "9" * 25],
    "a day a move": ["play", "heuristic", "--ms-per-move", "1e8"],
    "for ever a move": ["play", "heuristic", "--ms-per-move", "inf"],
    "a tournament of 25 digits": ["tournament", ".", "--games", "9" * 25, "--out", "board"],
    "a tournament for ever": ["tournament", ".", "--ms-per-move", "1e30", "--out", "board"],
    "a line break in a player": ["play", "a\nb"],
    "a line break in an option": [*TRAIN, "a\nb"],
    "a table for who does not search": ["play", "random", "--table-mib", "4", "--reduce"],
    "a table for one ply": ["play", "heuristic", "--table-mib", "4"],
    "stages of a neural network": ["bench", "--network", "cnn22", "--stages", "2"],
    "a row that is not made": ["figure", "matsuzaki-table3", "--row", "shuffle64"],
    "minutes for no run": ["figure", "--minutes", "3"],
    "a picture of no kind": ["figure", "matsuzaki-table3", "--draw", "new"],
    "begin with nothing": [*TRAIN, "--from", ""],
    "nowhere": [*TRAIN[:-1], " "],
    "no name of a list": ["sweep", "", "--out", "x"],
    "an empty name": ["sweep", "list.toml", "--out", "x", "--only", ""],
    "a list without end": ["sweep", "/dev/zero", "--out", "x"],
    "a rule without end": [*TRAIN, "--rule", "/dev/zero.py:a"],
    "more games than fit": ["play", "random", "--games", "100000000"],
}
LITTLE = ("more games than fit",)  # they need a machine with little memory


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["", "json"])
def test_a_wrong_argument_is_refused(one_line_error, tmp_path, monkeypatch, name, more):
    monkeypatch.chdir(tmp_path)
    if name in LITTLE:
        monkeypatch.setattr("lib2048.machine.memory.available", lambda: 1 << 30)
    arguments = WRONG[name]
    one_line_error(*arguments, *(more if arguments else []))
    assert not contents(tmp_path)


def test_a_network_that_does_not_fit_is_refused(one_line_error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = itertools.combinations("456789abcdef", 3)
    too_many = ",".join(f"0123{''.join(three)}" for three in itertools.islice(pairs, 18))
    assert "4,294,967,295" in one_line_error(*instead("--network", f"cells:{too_many}"))
    assert not contents(tmp_path)


FILES = {
    "truncated": lambda whole: whole[: len(whole) // 2],
    "empty": lambda whole: b"",
    "text": lambda whole: b"these are no weights\n",
    "pickled": lambda whole: pickle.dumps({"weights": [1.0]}),
    "damaged": lambda whole: whole[:-900] + bytes([whole[-900] ^ 1]) + whole[-899:],
}


@pytest.mark.parametrize("command", ["play", "info"])
@pytest.mark.parametrize("spoil", FILES.values(), ids=FILES)
def test_a_wrong_file_is_refused(one_line_error, weights, command, spoil):
    weights.write_bytes(spoil(weights.read_bytes()))
    assert str(weights) in one_line_error(command, weights)


@pytest.mark.parametrize("line", ["play 42", "play a/42-33.npz", "info a.npz", "fold a.npz b.npz"])
def test_where_trained_networks_are_is_said_of_one_that_is_not_here(one_line_error, line):
    said = one_line_error(*line.split())
    assert "trained networks come with the repository, in data/weights" in said


def test_what_is_no_file_of_ours_is_no_file_of_weights(one_line_error, tmp_path):
    with zipfile.ZipFile(tmp_path / "any.zip", "w") as file:
        file.writestr("a.txt", "text")
    (tmp_path / "any.bin").write_bytes(bytes([1, *bytes(20)]))
    for name, new in (("any.zip", "x.npz"), ("any.bin", "x.bin")):
        assert "not a file of weights" in one_line_error("convert", tmp_path / name, tmp_path / new)


def test_a_present_folder_that_is_gone_is_said(one_line_error, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    assert "the present folder is gone" in one_line_error(*TRAIN)


def test_advice_after_a_stop_is_quoted(monkeypatch, capsys, tmp_path):
    def stopped(run):
        raise Stopped(run, "stopped")

    monkeypatch.setattr(cli.Run, "go", stopped)
    assert main([*TRAIN[:-1], str(tmp_path / "my run")]) == 130
    assert f"--out '{tmp_path}/my run'" in capsys.readouterr().err


def test_who_plays_is_said_of_a_player_that_nobody_knows(one_line_error):
    assert f"no player ({', '.join(NAMED)})" in one_line_error("play", "nobody")


def test_a_package_that_is_missing_is_named(one_line_error, monkeypatch):
    def lacking(options, name="matplotlib"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setitem(cli.COMMANDS, "figure", lacking)
    assert "needs matplotlib" in one_line_error("figure")
    monkeypatch.setitem(cli.COMMANDS, "figure", partial(lacking, name="lib2048.nowhere"))
    with pytest.raises(ModuleNotFoundError, match="lib2048.nowhere"):
        main(["figure"])


def test_another_run_is_not_overwritten(one_line_error, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(TRAIN) == 0
    files = contents(tmp_path)
    capsys.readouterr()
    assert "--resume" in one_line_error(*TRAIN)
    assert "alpha" in one_line_error(*TRAIN, "--resume", "--alpha", "0.5")
    assert "seed" in one_line_error(*TRAIN, "--resume", "--seed", "9")
    assert "network" in one_line_error(*instead("--network", "cells:0123"), "--resume")
    assert "alpha" in one_line_error("train", "--out", "run", "--resume", "--alpha", "0.5")
    assert "no run" in one_line_error("train", "--out", "nowhere", "--resume")
    assert "--network" in one_line_error("train", "--out", "nowhere", "--games", "5")
    assert contents(tmp_path) == files


def first_use(*arguments, cwd):
    """Run the command in a process that finds nothing compiled yet."""
    hidden = {name: x for name, x in os.environ.items() if name != "LIB2048_QUICK"}
    environment = hidden | {"NUMBA_CACHE_DIR": str(cwd / "cache")}
    command = [sys.executable, "-m", "lib2048.cli", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    "arguments",
    [["play", "random", "--games", "0"], ["bench", "--network", "9x9"], TRAIN],
    ids=["play", "bench", "train"],
)
def test_a_refusal_on_the_first_use_is_one_line_too(tmp_path, arguments):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("years of work")
    done = first_use(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("lib2048: ") and done.stderr.count("\n") == 1, done.stderr


def test_the_first_use_says_that_it_compiles(tmp_path):
    done = first_use("play", "random", "--games", "3", "--json", cwd=tmp_path)
    assert "compiling" in done.stderr
    assert strict_json(done.stdout)["games"] == 3


def test_numbers_that_json_does_not_know_are_null(answer, monkeypatch):
    found = {"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (float("-inf"), 2)}}
    monkeypatch.setattr("lib2048.networks.storage.info", lambda path: found)
    assert answer("info", __file__) == {"a": None, "b": [1.5, None], "c": {"d": [None, 2]}}


def test_play_plays_as_many_games_and_threads_as_it_is_told(answer, monkeypatch):
    seen = []
    kept = lambda *args, **how: seen.append(args[1:]) or evaluate(*args)  # noqa: E731
    monkeypatch.setattr(cli, "evaluate", kept)
    answer("play", "random", "--games", 9, "--seed", 4, "--threads", 3)
    assert seen == [(9, 4, 3)]
