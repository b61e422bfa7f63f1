"""From a list to its files: jobs that are no training, tests at the end of a run, the collector."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import collect
import numpy as np
import pandas as pd
import pytest
import reproduce
from learners import SMALL, contents

from lib2048 import Run, Settings, load
from lib2048.cli import _parser
from lib2048.course import recorded
from lib2048.learn.settings import flags
from lib2048.machine.arrays import write_arrays
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.networks.storage import info, sizes_of_errors
from lib2048.sweep import TrainingJob, playing, read_collect, read_list, run_sweep, training
from lib2048.sweep.playing import Playing
from lib2048.sweep.shipping import Shipping, keep_quarter
from lib2048.sweep.solving import Solving
from lib2048.train.folder import QUARTER

pytestmark = pytest.mark.ci

DATA = Path(__file__).parents[1] / "data"
CURVES = DATA / "curves"
PARSER = _parser()
SHORT = Settings(network=SMALL, actions=20_000)
RUNS = f"""
[collect]
runs = "short_tests"
evaluations = "short_evaluations"
history = "short_history"
stages = "short_stages"
tests = "long_tests"

[defaults]
network = "{SMALL}"
actions = 1_200_000
eval-every = 600_000
eval-games = 5
tests = {{1 = 20, 2 = 3}}

[[run]]
name = "tc"
rule = "tc"
stages = 2
seeds = [1, 2]

[[run]]
name = "td"
keep = false
"""
OTHERS = """
[collect]
rows = "players"
[[play]]
name = "one"
player = "tc"
network = "runs/tc-seed1"
games = 20
[[play]]
name = "two"
player = "heuristic"
depth = 2
games = 3
"""
WEIGHTS = """
[[ship]]
name = "small"
network = "runs/tc-seed1"
keep = 500
tests = {1 = 20}
"""
SIZES = """
[collect]
rows = "sizes"
[defaults]
network = "runs/tc-seed1"
whole = false
tests = {1 = 20, 2 = 3}
[[ship]]
name = "few"
keep = 500
[[ship]]
name = "all"
"""
NAMED = {"runs": RUNS, "others": OTHERS, "weights": WEIGHTS, "sizes": SIZES}


def sweep(runs, folder):
    """Carry out a list, or jobs; return the report."""
    runs = read_list(runs) if isinstance(runs, Path) else runs
    return run_sweep(runs, folder, workers=1, progress=False)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Return (the folder of all runs, their lists), carried out once."""
    top = tmp_path_factory.mktemp("swept")
    lists = []
    for name, text in NAMED.items():
        lists.append(top / f"{name}.toml")
        lists[-1].write_text(text)
        report = sweep(lists[-1], top / "out" / name)
        assert report.count("finished") == len(report.outcomes), report.outcomes
    return top / "out", lists


@pytest.fixture(scope="module")
def collected(swept, tmp_path_factory):
    """Return (the folder of all runs, their lists, the folder of what was collected of them)."""
    folder = tmp_path_factory.mktemp("collected")
    collect.collect(*swept, folder)
    return *swept, folder


def by_key(path, *key):
    return pd.read_csv(path).set_index(list(key)).sort_index()


# ---------------------------------------------------------------- tests at the end of a run


def test_tests_are_played_once_at_the_end(swept):
    path = swept[0] / "runs" / "tc-seed1"
    rows = pd.read_csv(path / "tests.csv")
    assert list(rows.columns) == list(pd.read_csv(path / "evaluations.csv").columns)
    assert rows["actions"].tolist() == [1_200_000] * 2
    assert rows[["plies", "games"]].values.tolist() == [[1, 20], [2, 3]]
    network = load(path / "weights.npz")
    by_hand = training.evaluate(network, 20, training.TEST_SEED)
    assert rows["mean"][0] == round(by_hand.mean, 1) and rows["max"][0] == by_hand.max
    assert rows["reached_512"][0] == by_hand.reached().get(512, 0.0)
    facts = training.facts(path)
    assert facts["actions"] == 1_200_000 and 50 < facts["peak_mib"] < 1000
    assert facts["mean_last"] > 0 and facts["seconds"] > 0


def test_weights_that_are_not_kept_are_removed_and_the_run_is_finished(swept, refused):
    out, lists = swept
    path = out / "runs" / "td-seed1"
    assert {"weights.npz", "checkpoint.npz"}.isdisjoint(contents(path))
    stamps = {file: file.stat().st_mtime_ns for file in out.rglob("*")}
    for file in lists:
        report = sweep(file, out / file.stem)
        assert report.count("skipped") == len(report.outcomes)
    assert {file: file.stat().st_mtime_ns for file in out.rglob("*")} == stamps
    job = next(job for job in read_list(lists[0]) if job.name == "td")
    longer = replace(job, settings=replace(job.settings, actions=2_400_000))
    refused(lambda: longer.state(out / "runs"), "holds a history, but neither")
    other = replace(job, settings=replace(job.settings, alpha=0.2))
    refused(lambda: other.state(out / "runs"), "alpha 0.1 instead of 0.2")


def test_a_run_that_is_trained_plays_only_the_tests_that_are_missing(tmp_path):
    job = TrainingJob("a", SHORT, ((1, 10),))
    path = tmp_path / job.label
    assert job.state(tmp_path) == "missing"
    TrainingJob("a", SHORT).go(tmp_path)
    before = contents(path)
    assert (TrainingJob("a", SHORT).state(tmp_path), job.state(tmp_path)) == ("finished", "begun")
    job.go(tmp_path)
    assert job.state(tmp_path) == "finished"
    speed = training.test_rows(path)[0]["moves_per_s"]
    marked = (path / "tests.csv").read_text().replace(f",{speed},", ",12345,")
    (path / "tests.csv").write_text(marked)  # so that one sees whether it was played again
    more = replace(job, tests=((1, 10), (2, 2)))
    assert more.state(tmp_path) == "begun"
    more.go(tmp_path)
    assert [row["plies"] for row in training.test_rows(path)] == ["1", "2"]
    assert training.test_rows(path)[0]["moves_per_s"] == "12345"
    after = contents(path)
    assert {name: after[name] for name in before} == before


def test_tests_of_a_run_that_went_on_are_played_again(tmp_path):
    short = TrainingJob("a", SHORT, ((1, 10),))
    longer = replace(short, settings=replace(SHORT, actions=30_000))
    short.go(tmp_path)
    assert longer.state(tmp_path) == "begun"
    assert longer.go(tmp_path)["actions"] == 30_000
    assert [row["actions"] for row in training.test_rows(tmp_path / short.label)] == ["30000"]


# ---------------------------------------------------------------- what is no training


def test_what_shall_play_must_be_there(tmp_path, refused):
    job = Playing("a", "td", network="runs/td-seed1")
    refused(lambda: sweep([job], tmp_path / "play"), "network runs/td-seed1: ")
    refused(lambda: sweep([job], tmp_path / "play"), "is not there: sweep the list that makes it")
    assert not (tmp_path / "play").exists()


def test_another_job_of_that_name_is_refused(swept, refused):
    folder = swept[0] / "others"
    other = Playing("two", "heuristic", games=4, depth=2)
    refused(lambda: other.state(folder), "holds something of that name with other")
    refused(lambda: Solving("tc-seed1", "2x2").state(swept[0] / "runs"), "holds a run")


ROWS = """
[collect]
rows = "players"
on-the-way = true
[[play]]
name = "deep"
player = "heuristic"
depth = 3
games = 4
"""


def test_a_player_goes_on_with_its_next_game(tmp_path, monkeypatch):
    whole = Playing("whole", "heuristic", games=5, depth=3)
    [row] = whole.rows(make_folder(tmp_path, whole))
    job = Playing("deep", "heuristic", games=5, depth=3)
    make_folder(tmp_path, job)
    firsts = stopped_at(monkeypatch, job, tmp_path, game=2)
    assert firsts == [0, 1] and job.state(tmp_path) == "begun"
    monkeypatch.undo()
    [same] = job.rows(tmp_path)
    assert {**same, "moves_per_s": 0} == {**row, "moves_per_s": 0}
    assert len(job.played(tmp_path).scores) == 5


def make_folder(folder, job):
    (folder / job.label).mkdir(parents=True)
    return folder


def stopped_at(monkeypatch, job, folder, game):
    """Let a job play until it is killed in a game; return the first games of what it began."""
    begun, evaluate = [], playing.evaluate

    def until(*args, first, **kwargs):
        if first == game:
            raise KeyboardInterrupt
        begun.append(first)
        return evaluate(*args, first=first, **kwargs)

    monkeypatch.setattr(playing, "KEEP_SECONDS", 0)
    monkeypatch.setattr(playing, "evaluate", until)
    with pytest.raises(KeyboardInterrupt):
        job.go(folder)
    return begun


def test_games_are_collected_on_their_way_and_then_whole(tmp_path, monkeypatch):
    path = tmp_path / "players.toml"
    path.write_text(ROWS)
    [job] = read_list(path)
    folder = tmp_path / "out" / "players"
    make_folder(folder, job)
    collect.collect(tmp_path / "out", [path], tmp_path / "data")
    assert not (tmp_path / "data").exists(), "nothing is played yet"
    stopped_at(monkeypatch, job, folder, game=3)
    for games in (3, 4):
        collect.collect(tmp_path / "out", [path], tmp_path / "data")
        rows = pd.read_csv(tmp_path / "data/curves/players.csv")
        assert rows[["player", "plies", "games"]].values.tolist() == [["heuristic", 3.0, games]]
        assert rows["sources"].tolist() == [SOURCE_HASH]
        monkeypatch.undo()
        sweep([job], folder)


def test_games_of_other_settings_are_refused_and_fewer_are_played_again(tmp_path, refused):
    job = Playing("one", "heuristic", games=3, depth=2)
    job.rows(make_folder(tmp_path, job))
    other = replace(job, depth=1)
    refused(lambda: other.state(tmp_path), "holds games played with other settings")
    more, fewer = replace(job, games=4), replace(job, games=2)
    assert len(more.played(tmp_path).scores) == 3
    assert len(fewer.played(tmp_path).scores) == 0
    assert more.rows(tmp_path)[0]["games"] == 4


def test_a_stop_leaves_nothing_half_done(tmp_path):
    jobs = [Playing("long", "heuristic", games=100_000, depth=3)]
    jobs.append(TrainingJob("run", SHORT, ((3, 100_000),)))
    stop, begun = threading.Event(), ["run-seed1/done.json", "long/played.json"]

    def stop_then():
        wait_for(lambda: all((tmp_path / name).exists() for name in begun))
        stop.set()

    threading.Thread(target=stop_then).start()
    report = run_sweep(jobs, tmp_path, workers=2, stop=stop, progress=False)
    assert report.count("stopped") == 2
    assert [job.state(tmp_path) for job in jobs] == ["begun", "begun"]
    assert list(tmp_path.rglob("*.part")) + list(tmp_path.rglob("tests.csv")) == []
    few = replace(jobs[1], tests=((3, 1),))
    assert sweep([few], tmp_path).count("finished") == 1


def wait_for(condition):
    """Wait until something is so, and return it."""
    end = time.monotonic() + 240
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_memory_counts_the_networks_that_play_and_are_shipped(swept):
    out, lists = swept
    one, two = read_list(lists[1])
    (small,) = read_list(lists[2])
    weights = 4 * 4 * 2 * 16**4  # bytes: 16^4 weights, two tuples, four stages
    assert one.needs(out / "others") - Playing("a", "greedy").needs(out) == weights
    assert small.needs(out / "weights") - Playing("a", "greedy").needs(out) == 3 * weights


def test_what_holds_no_tables_is_refused_by_its_name(tmp_path, refused):
    write_arrays(tmp_path / "quarter.npz", {"values": np.zeros(3)})
    refused(lambda: Shipping("a", "quarter.npz").needs(tmp_path / "weights"), "quarter.npz: ")


def test_what_is_shipped_says_what_it_scores(collected):
    out, lists, folder = collected
    about = info(folder / "weights" / "small.npz")
    assert 490 < about["info"]["kept"] == about["nonzero_weights"] <= 500
    assert about["info"]["config"]["rule"] == "tc"
    assert set(about["info"]["whole_network"]) == set(about["info"]["this_file"]) == {"1-ply"}


def test_a_run_that_went_on_is_pruned_by_the_errors_of_the_one_before(swept, tmp_path):
    out, _ = swept
    config = {"network": "cells:0145,3", "rule": "td", "actions": 2000, "stages": 2, "top": 32}
    before, after = (tmp_path / "l" / f"{name}-seed1" for name in ("tc", "td"))
    Run(Settings(**config | {"rule": "tc"}), before).go(progress=False)
    Run(Settings(**config, weights=before / "weights.npz"), after).go(progress=False)
    job = Shipping("small", "l/td-seed1", keep=300, whole=False, tests=((1, 5),))
    with pytest.raises(ValueError, match="nothing says which weights have learned most"):
        job.rows(tmp_path / "ship")
    replace(job, learned="l/tc-seed1").rows(tmp_path / "ship")
    made, whole = load(tmp_path / "ship" / "small" / "small.npz"), load(after / "weights.npz")
    learned = sizes_of_errors(whole, before / "weights.npz")
    kept = made.weights != 0
    assert 250 < kept.sum() <= 300 and (kept <= (learned > 0)).all()
    np.testing.assert_allclose(made.weights[kept], whole.weights[kept], rtol=1e-3)


QUARTERS = f"""
[collect]
evaluations = "way"
history = "games"
runs = "ends"
[[run]]
name = "tc"
network = "{SMALL}"
rule = "tc"
stages = 2
top = 32
actions = 900_001
eval-every = 300_000
eval-games = 5
quarters = 400
tests = {{1 = 5}}
"""
KEPT = '[[ship]]\nname = "kept"\nnetwork = "runs/tc-seed1/quarter.npz"\nwhole = false\n'


def test_a_run_keeps_its_quarters_and_is_the_same(tmp_path, monkeypatch):
    path, kept, killed = tmp_path / "runs.toml", [], ["after", "before", "", "before"]
    path.write_text(QUARTERS)
    (job,) = read_list(path)
    replace(job, quarters=0).go(tmp_path / "plain")

    def watched(folder, keep, actions):
        when = killed.pop(0) if killed else ""
        if when == "before":
            raise ValueError("here its process is killed")
        keep_quarter(folder, keep, actions)
        about = info(folder / QUARTER)
        kept.append((about["info"]["actions"], about["nonzero_weights"]))
        if when == "after":
            raise ValueError("here its process is killed")

    monkeypatch.setattr(training, "keep_quarter", watched)
    for _ in range(3):
        with pytest.raises(ValueError, match="is killed"):
            job.go(tmp_path / "runs")
    job.go(tmp_path / "runs")
    assert [actions for actions, _ in kept] == [225_001, 450_002, 675_003, 900_001]
    assert all(300 < weights <= 400 for _, weights in kept)
    one, other = (tmp_path / name / job.label for name in ("plain", "runs"))
    assert contents(other).keys() - contents(one).keys() == {QUARTER}
    assert contents(one).keys() <= contents(other).keys()
    same = [Run(job.settings, folder, resume=True).network.weights for folder in (one, other)]
    assert (same[0] == same[1]).all() and same[0].any()
    for name in ("evaluations.csv", "tests.csv", "stages.csv"):
        rows = [pd.read_csv(folder / name).drop(columns="moves_per_s", errors="ignore")
                for folder in (one, other)]  # fmt: skip
        pd.testing.assert_frame_equal(*rows)
    assert job.state(tmp_path / "runs") == "finished"
    small, large = load(other / QUARTER).weights, same[0]
    np.testing.assert_allclose(small[small != 0], large[small != 0], rtol=1e-3)


def test_a_quarter_is_shipped_as_it_is_and_again_when_there_is_a_newer_one(tmp_path):
    runs, kept = tmp_path / "runs.toml", tmp_path / "kept.toml"
    runs.write_text(QUARTERS)
    kept.write_text(KEPT + "tests = {1 = 5}")
    (job,), (ship,) = read_list(runs), read_list(kept)
    with pytest.raises(ValueError, match="sweep the list that makes it"):
        ship.state(tmp_path / "kept")
    source = tmp_path / "runs" / job.label
    Run(replace(job.settings, actions=100_000), source).go(progress=False)
    os.rename(source / "weights.npz", source / "checkpoint.npz")  # as if it were under way
    keep_quarter(source, 300, 100_000)
    collect.collect(tmp_path, [runs, kept], tmp_path / "data")
    assert not (tmp_path / "data" / "weights").exists(), "by an explicit [[ship]] alone"
    ship.go(tmp_path / "kept")
    collect.collect(tmp_path, [kept], tmp_path / "data")
    about = info(tmp_path / "data" / "weights" / "kept.npz")["info"]
    assert about["actions"] == 100_000 and about["this_file"]["1-ply"]["games"] == 5
    copies = [load(file).weights for file in (source / QUARTER, ship.file(tmp_path / "kept"))]
    assert (copies[0] == copies[1]).all()
    assert ship.state(tmp_path / "kept") == "finished"
    later = time.time() + 60
    os.utime(source / QUARTER, (later, later))
    assert ship.state(tmp_path / "kept") == "missing"
    shutil.rmtree(source)
    assert ship.state(tmp_path / "kept") == "finished"


def test_a_run_that_goes_on_by_weights_says_what_they_had_learned(tmp_path):
    path, source = tmp_path / "runs.toml", tmp_path / "runs" / "tc-seed1"
    path.write_text(QUARTERS)
    (job,) = read_list(path)
    job.go(tmp_path / "runs")
    text = QUARTERS.replace('name = "tc"', f'name = "on"\nfrom = "{source / QUARTER}"')
    path.write_text(text + "before = 900_000")
    (on,) = read_list(path)
    with pytest.raises(ValueError, match="has learned from 900001 actions, not from 900000"):
        on.go(tmp_path / "runs")
    assert not (tmp_path / "runs" / on.label).exists()
    path.write_text(text + "before = 900_001")
    (on,) = read_list(path)
    Run(on.settings, tmp_path / "runs" / on.label).go(actions=1000, progress=False)
    keep_quarter(source, 300, 5)  # what is begun needs the file no more
    on.go(tmp_path / "runs")
    assert info(tmp_path / "runs" / on.label / QUARTER)["info"]["actions"] == 1_800_002
    collect.collect(tmp_path, [path], tmp_path / "data")
    for name in ("way", "games", "ends"):
        rows = pd.read_csv(tmp_path / "data" / "curves" / f"{name}.csv")
        assert set(rows["before"]) == {900_001} and rows["actions"].max() <= 900_001
    row = collect.read_rows(tmp_path / "data" / "curves" / "way.csv")[1][0]
    assert recorded._point(row, "evaluations")[1][0] == 1_200_001


def test_sizes_against_scores_are_a_table_of_their_own(collected):
    out, lists, folder = collected
    sizes = pd.read_csv(folder / "curves" / "sizes.csv").set_index("name")
    assert 490 < sizes.loc["few", "kept"] <= 500 and np.isnan(sizes.loc["all", "kept"])
    assert sizes.loc["few", "mib"] < sizes.loc["all", "mib"]
    few = info(out / "sizes" / "few" / "few.npz")["info"]
    assert few["this_file"]["2-ply"]["mean"] == sizes.loc["few", "mean_2ply"]
    assert "whole_network" not in few
    assert [path.name for path in (folder / "weights").iterdir()] == ["small.npz"]


# ---------------------------------------------------------------- the files


def test_a_second_time_changes_nothing(collected):
    out, lists, folder = collected
    first = {name: contents(folder / name) for name in ("curves", "weights")}
    names = ["long_tests", "players", "sizes"]
    names += [f"short_{x}" for x in ("evaluations", "history", "stages")]
    assert set(first["curves"]) == {f"{name}.csv" for name in [*names, "short_tests"]}
    collect.collect(out, lists, folder)
    assert {name: contents(folder / name) for name in ("curves", "weights")} == first


def test_a_row_says_how_its_run_was_made_and_what_it_came_to(collected):
    out, lists, folder = collected
    rows = pd.read_csv(folder / "curves" / "short_tests.csv")
    assert rows[["run", "seed"]].values.tolist() == [["tc", 1], ["tc", 2], ["td", 1]]
    assert rows["command"][1] == (
        f"lib2048 train --network {SMALL} --stages 2 --rule tc --seed 2 --actions 1200000 "
        "--eval-every 600000 --eval-games 5"
    )
    assert (rows["sources"] == SOURCE_HASH).all() and (rows["actions"] == 1_200_000).all()
    assert sum(map(int, rows["visits"][0].split())) == 1_200_000
    last = pd.read_csv(out / "runs" / "tc-seed1" / "tests.csv").set_index("plies")
    for plies in (1, 2):
        for name in ("games", "mean", "ci95", "max", "reached_512", "reached_2048"):
            assert rows[f"{name}_{plies}ply"][0] == last[name][plies]
    way = pd.read_csv(folder / "curves" / "short_evaluations.csv")
    steps = way.groupby(["run", "seed"])["actions"].apply(list).tolist()
    assert steps == [[600_000, 1_200_000]] * 3


def test_tests_of_another_game_are_in_its_own_tiles(tmp_path):
    """Threes! reaches 192 where 2048 reaches 512; only what a finished run leaves is collected."""
    path = tmp_path / "cards.toml"
    lines = ["[[run]]", 'name = "a"', 'network = "cells:0123@threes"', "actions = 2_000"]
    path.write_text("\n".join(['[collect]\nruns = "cards"', *lines, "tests = {1 = 20}"]))
    sweep(path, tmp_path / "cards")
    collect.collect(tmp_path, [path], tmp_path)
    row = pd.read_csv(tmp_path / "curves" / "cards.csv").iloc[0]
    assert row["command"].startswith("lib2048 train --network cells:0123@threes ")
    assert 0 <= row["reached_192_1ply"] <= 1 and "reached_512_1ply" not in row


def test_rows_of_runs_that_are_lost_stay_as_they_are(swept, tmp_path):
    out, lists = swept
    file = tmp_path / "curves" / "short_tests.csv"
    file.parent.mkdir()
    file.write_text("seed,run,games_1ply,note\n7,lost,1e3,by hand\n2,tc,0.0,old\n")
    collect.collect(out, lists[:1], tmp_path)
    lines = file.read_text().splitlines()
    assert lines[0].startswith("seed,run,games_1ply,note,command,")
    lost = next(line for line in lines if ",lost," in line)
    assert lost.rstrip(",") == "7,lost,1e3,by hand"
    assert [line.split(",")[:3] for line in lines[2:]] == [
        ["1", "tc", "20"],
        ["2", "tc", "20"],
        ["1", "td", "20"],
    ]


def test_a_run_on_its_way_counts_where_the_list_says_so(swept, tmp_path):
    text = RUNS.replace("actions = 1_200_000", "actions = 2_400_000").replace("keep = false", "")
    path = tmp_path / "runs.toml"
    path.write_text(text)
    collect.collect(swept[0], [path], tmp_path)
    assert not (tmp_path / "curves").exists()
    history = pd.read_csv(swept[0] / "runs" / "tc-seed1" / "history.csv")
    for every, rows in ((1, len(history)), (2, len(history) // 2)):
        more = f"[collect]\non-the-way = true\nevery = {every}"
        path.write_text(text.replace("[collect]", more))
        collect.collect(swept[0], [path], tmp_path / more[-1])
        found = pd.read_csv(tmp_path / more[-1] / "curves" / "short_history.csv")
        assert list(found.columns) == ["games", "actions", "mean", "run", "seed"]
        mine = found.query("run == 'tc' and seed == 1")
        assert mine["games"].tolist() == history["games"][every - 1 :: every].tolist()
        assert len(mine) == rows > 0


def test_what_is_missing_or_of_others_is_left_out(swept, tmp_path, capsys):
    out, lists = swept
    path = tmp_path / "runs.toml"
    path.write_text(RUNS.replace('name = "td"', 'name = "td"\nalpha = 0.5'))
    collect.collect(out, [path], tmp_path)
    said = capsys.readouterr()
    assert "left out: " in said.err and "alpha 0.1 instead of 0.5" in said.err
    assert "runs: 2 of 3" in said.out
    assert set(pd.read_csv(tmp_path / "curves" / "short_tests.csv")["run"]) == {"tc"}


def test_a_list_that_is_none_is_refused_in_one_line(tmp_path):
    (tmp_path / "bad.toml").write_text("[collect]\nrows = 3\n")
    (tmp_path / "bad").mkdir()
    command = [sys.executable, collect.__file__, str(tmp_path), str(tmp_path / "bad.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "[collect]: rows = 3" in done.stderr
    assert done.stderr.count("\n") == 1


# ---------------------------------------------------------------- those of data/curves


def asked_by(command):
    """Return the settings that a command line asks for."""
    options = PARSER.parse_args([*command.split()[1:], "--out", "none"])
    known = {flag.name for flag in flags().values()}
    return Settings.asked(**{name: x for name, x in vars(options).items() if name in known})


def test_a_command_asks_for_what_its_list_does():
    jobs = [job for path in (DATA / "runs").glob("*.toml") for job in read_list(path)]
    for job in jobs:
        if isinstance(job, TrainingJob):
            assert asked_by(collect.command_of(job.settings)) == job.settings


def test_the_lists_ask_for_what_the_recorded_commands_did():
    jobs = {
        job.about["run"] + str(job.settings.seed): job.settings
        for name in ("rules", "rules_seeds", "late", "curves")
        for job in read_list(DATA / "runs" / f"{name}.toml")
    }
    rows = pd.concat(pd.read_csv(CURVES / f"{name}_42-33_tests.csv") for name in ("rules", "late"))
    for row in rows.itertuples():
        assert asked_by(row.command) == jobs[f"{row.run}{row.seed}"]
    for note in CURVES.glob("*.json"):
        command = json.loads(note.read_text())["command"]
        assert asked_by(command) == jobs[note.stem.replace("_seed", "")], note.name


def repeated(name, labels, folder):
    """Carry out some jobs of a list of the course and collect them; return the folder of files."""
    path = DATA / "runs" / f"{name}.toml"
    jobs = [job for job in read_list(path) if job.label in labels]
    assert len(jobs) == len(labels)
    assert sweep(jobs, folder / "out" / name).count("finished") == len(jobs)
    collect.collect(folder / "out", [path], folder)
    return folder / "curves"


@pytest.mark.slow
def test_the_forms_are_recorded_as_they_come_out(tmp_path):
    curves = repeated("curves", {"forms_4-22_afterstate-seed1"}, tmp_path)
    name = "forms_4-22_afterstate_seed1"
    new, old = (pd.read_csv(folder / f"{name}.csv") for folder in (curves, CURVES))
    columns = old.columns.drop("seconds")
    pd.testing.assert_frame_equal(new[columns], old[columns])
    new, old = (json.loads((folder / f"{name}.json").read_text()) for folder in (curves, CURVES))
    for result in ("games", "actions", "mean_last"):
        assert new["result"][result] == old["result"][result]


@pytest.mark.slow
def test_small_boards_are_recorded_as_they_come_out(tmp_path):
    curves = repeated("small", {"2x2-table-explore-seed2"}, tmp_path)
    key = ["board", "network", "start", "seed", "actions"]
    new, old = (by_key(folder / "small_boards.csv", *key) for folder in (curves, CURVES))
    pd.testing.assert_frame_equal(new[old.columns], old.loc[new.index])
    curves = repeated("exact", {"2x2", "2x3"}, tmp_path)
    new, old = (by_key(folder / "exact.csv", "board", "play") for folder in (curves, CURVES))
    pd.testing.assert_frame_equal(new[old.columns], old.loc[new.index], rtol=1e-12)
    assert len(new) == 10


def test_what_is_recorded_stays_but_for_what_is_made_again(tmp_path):
    (tmp_path / "curves").mkdir()
    old = (CURVES / "exact.csv").read_text()
    (tmp_path / "curves" / "exact.csv").write_text(old)
    new = (repeated("exact", {"2x2"}, tmp_path) / "exact.csv").read_text().splitlines()
    assert [line.rsplit(",", 1)[0] for line in new][6:] == old.splitlines()[6:]
    assert [line.rsplit(",", 1)[1] for line in new] == ["sources", *[SOURCE_HASH] * 5, *[""] * 15]


def test_a_depth_is_recorded_as_it_comes_out(tmp_path):
    curves = repeated("depth", {"heuristic-1ply"}, tmp_path)
    new, old = (by_key(folder / "depth_4x6.csv", "player", "plies") for folder in (curves, CURVES))
    columns = ["table", "reduce", "games", "mean", "ci95", "reached_2048", "mean_plies"]
    pd.testing.assert_frame_equal(new[columns], old.loc[new.index, columns], check_dtype=False)


# ---------------------------------------------------------------- make reproduce


def test_reproduce_lists_all_there_is(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["reproduce", "--seconds", "0"])
    reproduce.main()
    lines = capsys.readouterr().out.splitlines()
    lists = sorted(path.stem for path in (DATA / "runs").glob("*.toml"))
    rows = [line.split() for line in lines[2 : 2 + len(lists)]]
    assert [row[0] for row in rows] == lists
    for row in rows:
        runs, *counts = (int(cell.replace("·", "0").replace(",", "")) for cell in row[2:])
        assert runs == sum(counts[: len(reproduce.STATES)]) > 0
    assert rows[lists.index("exact")][2:] == ["4", "·", "·", "4", "·", "·", "·", "·"]


def test_each_network_that_we_ship_is_found_whatever_its_kind():
    kinds = {path.stem: path.suffix for path in (DATA / "weights").iterdir()}
    assert kinds["cnn22"] == ".safetensors" and kinds["42-33"] == ".npz"
    found = set()
    for path in (DATA / "runs").glob("*.toml"):
        wanted, jobs = read_collect(path), read_list(path)
        for job in jobs:
            if reproduce.is_shipped(job, wanted) and job.name in kinds:
                found.add(job.name)
                assert reproduce.sources_of(jobs, job, wanted, DATA) is not None, job.name
    assert {"cnn22", "42-33"} <= found


def told(path, folder):
    """Return what reproduce says of a list."""
    return reproduce.row_of(path.stem, read_list(path), read_collect(path), folder)


def test_reproduce_tells_todays_sources_from_older_ones(swept, tmp_path):
    out, lists = swept
    wanted = dict.fromkeys((*reproduce.STATES, *reproduce.VERDICTS), 0)
    wanted |= {"list": "runs", "core-hours": None, "runs": 3}
    assert told(lists[0], tmp_path / "none") == wanted | {"missing": 3}
    collect.collect(out, lists, tmp_path)
    file = tmp_path / "curves" / "short_tests.csv"
    text = file.read_text().splitlines()
    changed = [text[0], text[1].replace(SOURCE_HASH, "0" * 12), text[2], text[3]]
    file.write_text("\n".join(changed) + "\n")
    assert told(lists[0], tmp_path) == wanted | {"current": 2, "older": 1}
    assert told(lists[1], tmp_path)["current"] == 2
    assert told(lists[2], tmp_path)["current"] == 1


def test_what_comes_out_as_recorded_counts_as_current(swept, tmp_path, capsys, monkeypatch):
    out, [path, *_] = swept
    collect.collect(out, [path], tmp_path)
    for file in (tmp_path / "curves").iterdir():
        file.write_text(file.read_text().replace(SOURCE_HASH, "0" * 12))
    assert told(path, tmp_path)["older"] == 3
    monkeypatch.setattr(sys, "argv", ["reproduce", str(path), "--data", str(tmp_path)])
    reproduce.main()
    said = {line.split(",")[0] for line in capsys.readouterr().out.splitlines()}
    assert said >= {"runs tc: bit for bit", "runs td: bit for bit"}
    found = told(path, tmp_path)
    assert (found["current"], found["older"], found["bit for bit"]) == (3, 0, 2)
    rows = pd.read_csv(tmp_path / reproduce.FILE).set_index("run")
    assert (rows["mean"] == rows["again"]).all() and set(rows["sources"]) == {SOURCE_HASH}
    reproduce.main()
    assert "bit for bit," not in capsys.readouterr().out  # what is proved is not run again
    file = tmp_path / reproduce.FILE
    file.write_text(file.read_text().replace("bit for bit", "differs"))
    found = told(path, tmp_path)
    assert (found["current"], found["older"], found["differs"]) == (0, 3, 2)


def test_several_threads_agree_within_their_interval():
    row = {"games": "1000", "mean": "100.0", "ci95": "3.0", "max": ""}
    again = {"games": 1000, "mean": 104.9, "ci95": 4.0, "max": 500}
    assert (
        reproduce.verdict(row, row | {"games": 1000, "mean": 100.04, "ci95": 3}, 1)
        == reproduce.EXACT
    )
    assert [reproduce.verdict(row, again, threads) for threads in (1, 2)] == [
        "differs",
        "in interval",
    ]
    assert reproduce.verdict(row, again | {"mean": 105.1}, 2) == "differs"


def test_a_stretch_that_takes_too_long_is_left_out(swept, tmp_path, capsys):
    out, [path, *_] = swept
    collect.collect(out, [path], tmp_path)
    reproduce.prove_all([(path.stem, read_list(path), read_collect(path))], 0.1, tmp_path)
    assert "take too long" in capsys.readouterr().out
    assert reproduce.proved(tmp_path) == {}


PLAYED = [
    ("", "is no JSON"), ("[]", "is [], not an object"), ("{}", "lacks"),
    ({"moves": -5}, "'moves' is -5"), ({"largest": [1e308, 1, 1]}, "'largest'[0] is 1e+308"),
    ({"seconds": 0}, "do not belong to the same games"), ({"scores": [1]}, "belong to the same"),
    ({"depths": [[1]]}, "'depths' is [[1]]"), ({"more": 1}, "holds 'more'"),
    ({"job": 3}, "'job' is 3"),
]  # fmt: skip


def test_damaged_games_are_refused_with_the_name_of_their_file(tmp_path, refused):
    job = Playing("one", "heuristic", games=3, depth=2)
    path = make_folder(tmp_path, job) / "one" / "played.json"
    job.rows(tmp_path)
    told = json.loads(path.read_text())
    for player in ("random", "greedy"):  # no search, and nothing that it counts
        other = Playing(player, player, games=2)
        other.rows(make_folder(tmp_path, other))
        assert other.state(tmp_path) == "begun"
    for edit, words in PLAYED:
        path.write_text(edit if isinstance(edit, str) else json.dumps(told | edit))
        refused(lambda: job.state(tmp_path), str(path))
        refused(lambda: job.state(tmp_path), words)
