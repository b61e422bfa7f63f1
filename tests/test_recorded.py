"""Recorded curves: those of data/curves as their files have them, and folders that grow."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from lib2048 import Settings, compare, data
from lib2048.course import recorded_lists, recorded_tests
from lib2048.course.recorded import (
    MOST_BYTES,
    POINT,
    TRAINING,
    GrowingTable,
    RecordedRun,
    RunsFolder,
    paper_points,
    read_table,
    recorded,
)
from lib2048.train.run import Run

HEAD = "games,actions,seconds,mean,ci95\n"


def run_of(place, name, seed=1):
    return next(r for r in recorded(place) if (r.name, r.seed) == (name, seed))


# ---- data/curves ---------------------------------------------------------------------------------


def test_every_list_with_curves_is_there_once():
    names = recorded_lists()
    assert {"curves", "late", "optimistic", "promotion", "rules", "tc_1e10"} <= set(names)
    assert "rules_seeds" not in names, "its seeds are those of rules"
    assert "depth" not in names and "exact" not in names, "they have no curves"
    with pytest.raises(ValueError, match="there is no list 'rulez': use changed, curves, "):
        recorded("rulez")


@pytest.mark.parametrize("place", ["rules", "late"])
def test_curves_are_those_of_the_files(place):
    stem = f"curves/{place}_42-33"
    history = pd.read_csv(data(f"{stem}_history.csv"))
    tests = pd.read_csv(data(f"{stem}_evaluations.csv"))
    ends = pd.read_csv(data(f"{stem}_tests.csv"))
    runs = {(run.name, run.seed): run for run in recorded(place)}
    assert set(runs) == set(zip(history["run"], history["seed"]))
    for (name, seed), run in runs.items():
        own = [
            frame[(frame["run"] == name) & (frame["seed"] == seed)]
            for frame in (history, tests, ends)
        ]
        assert [(p[0], p[1], p[3]) for p in run.points(TRAINING)] == list(
            own[0][["actions", "games", "mean"]].itertuples(index=False, name=None)
        )
        way = dict(zip(own[1]["actions"], own[1]["mean"]))
        way |= dict(zip(own[2]["actions"], own[2]["mean_1ply"]))  # more games: they hold
        assert {p[0]: p[3] for p in run.points(1)} == way
        deep = own[2].dropna(subset="mean_3ply")
        assert {p[0]: p[4] for p in run.points(3)} == dict(zip(deep["actions"], deep["ci95_3ply"]))


def test_a_list_says_what_its_runs_are_also_for_the_seeds_of_another():
    first, third = run_of("rules", "td_1.0_shared_twice"), run_of("rules", "tc_1.0", 3)
    assert (first.settings.rule, first.settings.alpha, first.settings.lam) == ("td", 0.025, 0.5)
    assert (third.settings.rule, third.settings.actions) == ("tc", 90_000_000)
    assert not run_of("rules", "tc_online_1.0").settings.delay
    assert all(run.settings.seed == run.seed for run in recorded("late"))


def test_files_without_names_of_runs_and_a_file_for_each_run():
    assert [(run.name, run.seed) for run in recorded("tc_1e10")] == [("tc", 1)]
    run = run_of("curves", "td0_4x6_forward", 2)
    whole = pd.read_csv(data("curves/td0_4x6_forward_seed2.csv"))
    assert run.points(TRAINING)[-1] == tuple(whole[list(POINT)].iloc[-1].astype(float))
    [point] = run.points(1)  # its test does not say when: at the end
    assert point[:2] == (whole["actions"].iloc[-1], 100_000)


def test_when_a_test_was_is_what_the_training_games_tell():
    run = RecordedRun("here", "a", 1)
    run.curves = {
        TRAINING: [(100.0, 10.0, 1.0, 5.0, None), (200.0, 30.0, 2.0, 5.0, None)],
        1: [(a, None, None, 7.0, 1.0) for a in (50.0, 150.0, 250.0, 500.0)],
    }
    assert [p[1:3] for p in run.points(1)] == [(5, 0.5), (20, 1.5), (40, 2.5), (None, None)]


def test_the_papers_points_are_rows_of_its_tables():
    told = pd.read_csv(data("curves/paper_points.csv"))
    for place, name, table, row, actions in told.itertuples(index=False):
        assert run_of(place, name).settings is not None
        rows = pd.read_csv(data(f"published/{table}.csv")).query(row)
        assert rows["depth_ply"].is_unique and len(rows), row
        found = {p[0]: p[2] for p in paper_points(place, name) if p[1] == actions}
        assert found == dict(zip(rows["depth_ply"], rows["score_mean"])), row
    assert {p[0]: p[2:] for p in paper_points("rules", "tc_1.0")}[1] == (250_393, 3424)
    assert paper_points("rules", "td_0.1") == [], "its α is another"


def test_all_tests_of_lists_are_one_table():
    tests = recorded_tests("late", "promotion", "tc_1e10")
    assert list(dict.fromkeys(zip(tests["list"], tests["run"])))[:2] == [
        ("late", "one_stage"),
        ("late", "redundant"),
    ], "the order of their lists"
    evaluations = pd.read_csv(data("curves/late_42-33_evaluations.csv"))
    late = tests[(tests["list"] == "late") & ~tests["end"]]
    keys = ["run", "seed", "actions", "games", "mean", "reached_8192", "reached_16384"]
    assert sorted(late[keys].itertuples(index=False, name=None)) == sorted(
        evaluations[keys].itertuples(index=False, name=None)
    )
    ends = tests[tests["end"] & (tests["list"] == "late")].set_index(["run", "seed", "plies"])
    wide = pd.read_csv(data("curves/late_42-33_tests.csv")).set_index(["run", "seed"])
    for plies, games in ((1, 1000), (3, 100)):
        own = ends.xs(plies, level="plies")
        assert dict(own["mean"]) == dict(wide[f"mean_{plies}ply"]) and set(own["games"]) == {games}
    at_1ply = tests[tests["end"] & (tests["list"] == "promotion")]
    assert set(at_1ply["actions"]) == {300_000_000} and at_1ply["reached_8192"].between(0, 1).all()
    deep = recorded_tests("late_questions").query("end and plies == 3")  # shares of every depth
    assert deep["reached_8192"].between(0, 1).all() and set(deep["games"]) <= {100}


def test_all_games_of_a_network_are_pooled():
    alone, all_games = (recorded_tests("late_1e10", pooled=pooled) for pooled in (False, True))
    assert list(alone) == list(all_games) and alone["games"].sum() == all_games["games"].sum()
    query = "run == 'promotion' and actions == 1e10 and plies == 3"
    (one, other), (both,) = (tests.query(query).to_dict("records") for tests in (alone, all_games))
    assert one["games"] == other["games"] == 100 and both["games"] == 200
    assert both["end"] and both["max"] == max(one["max"], other["max"])
    for share in ("mean", "reached_32768"):
        assert both[share] == pytest.approx((one[share] + other[share]) / 2)
    assert both["ci95"] == pytest.approx(math.hypot(one["ci95"], other["ci95"]) / 2)
    assert recorded_tests("depth", pooled=True).empty


def test_a_list_without_runs_has_no_tests():
    nothing = recorded_tests("depth")
    assert nothing.empty and {"run", "plies", "end", "reached_16384"} <= set(nothing)
    with pytest.raises(ValueError, match="there is no list 'lates': use .*late_questions"):
        recorded_tests("late", "lates")


# ---- folders -------------------------------------------------------------------------------------


def write(path, mean=1.0, rows=3, seed=1):
    path.mkdir(parents=True, exist_ok=True)
    config = Settings(network="4-22", seed=seed, actions=10**6).config() | {"sources": "x"}
    (path / "config.json").write_text(json.dumps(config))
    lines = [f"{1000 * n},{500_000 * n},{n},{mean * n},2.0\n" for n in range(1, rows + 1)]
    (path / "history.csv").write_text(HEAD + "".join(lines))


@pytest.mark.parametrize("below", ["", "tc-seed7", "rules/tc-seed7"])
def test_a_run_a_sweep_and_a_folder_of_sweeps(tmp_path, below):
    write(tmp_path / "own" / below, seed=7)
    [run] = RunsFolder(tmp_path / "own").runs.values()
    assert (run.seed, run.settings.network, len(run.points(TRAINING))) == (7, "4-22", 3)
    assert run.name == ("tc" if below else "own")
    assert run.place == ("rules" if "/" in below else "own")


def test_what_a_run_leaves_is_read(tmp_path):
    settings = Settings(network="4-22", actions=700_000, eval_every=300_000, eval_games=20)
    run = Run(settings, tmp_path / "run")
    run.go(progress=False)
    [read] = RunsFolder(tmp_path / "run").runs.values()
    assert [p[3] for p in read.points(TRAINING)] == list(run.history.frame["mean"])
    assert [p[3] for p in read.points(1)] == list(run.history.evaluation_frame["mean"])
    assert read.settings == settings


def test_only_what_is_new_is_read(tmp_path):
    write(tmp_path / "a", rows=3)
    folder = RunsFolder(tmp_path)
    [run] = folder.runs.values()
    write(tmp_path / "a", rows=5)
    write(tmp_path / "b", rows=1)
    folder.look()
    assert [len(r.points(TRAINING)) for r in folder.runs.values()] == [5, 1]
    assert folder.runs[tmp_path / "a"] is run
    write(tmp_path / "a", mean=2.0, rows=2)
    folder.look()
    again = folder.runs[tmp_path / "a"]
    assert again is not run and [p[3] for p in again.points(TRAINING)] == [2.0, 4.0]


def test_a_table_reads_on_from_where_it_was_and_only_whole_lines(tmp_path):
    table = GrowingTable(tmp_path / "a.csv")
    assert table.news() == ([], False)
    table.path.write_text("a,b\n1,2\n3,")
    assert table.news() == ([{"a": "1", "b": "2"}], False)
    assert table.news() == ([], False)
    table.path.write_text("a,b\n1,2\n3,4\n")
    assert table.news() == ([{"a": "3", "b": "4"}], False)
    table.path.write_text("a,b\n5,6\n7,8\n9,9\n")
    rows, anew = table.news()
    assert anew and [row["a"] for row in rows] == ["5", "7", "9"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.json", "[1]", "is [1], not an object"),
        ("config.json", "{", "is no JSON"),
        ("config.json", '{"network": "4-22", "tail": 1}', "does not know: 'tail'"),
        ("history.csv", HEAD + "1,2\n", "not as many numbers as there are columns"),
        ("history.csv", HEAD + "1,2,3,x,5\n", "'x'"),
        ("history.csv", b"\xff\xfe\n", "is no table"),
    ],
)
def test_damage_is_told_and_harms_no_other_run(tmp_path, name, text, said):
    write(tmp_path / "good")
    write(tmp_path / "bad")
    (tmp_path / "bad" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    folder = RunsFolder(tmp_path)
    assert list(folder.troubles) == [tmp_path / "bad"] and said in folder.troubles[tmp_path / "bad"]
    assert len(folder.runs[tmp_path / "good"].points(TRAINING)) == 3
    write(tmp_path / "bad")
    folder.look()
    assert folder.troubles == {} and len(folder.runs[tmp_path / "bad"].points(TRAINING)) == 3


def test_no_folder_and_a_folder_that_goes_away(tmp_path, refused):
    refused(lambda: RunsFolder(tmp_path / "none"), "no such folder")
    (tmp_path / "file").write_text("")
    refused(lambda: RunsFolder(tmp_path / "file"), "is no folder")
    write(tmp_path / "runs")
    folder = RunsFolder(tmp_path / "runs")
    (tmp_path / "runs").rename(tmp_path / "gone")
    refused(folder.look, "no such folder")
    assert len(folder.runs) == 1, "what was read stays"


def test_a_file_without_end_is_refused(tmp_path, refused):
    with open(tmp_path / "a.csv", "wb") as file:
        file.truncate(MOST_BYTES + 1)
    refused(GrowingTable(tmp_path / "a.csv").news, "is too long")


def test_a_damaged_table_names_its_file(tmp_path, monkeypatch, refused):
    path = tmp_path / "exact.csv"
    monkeypatch.setattr("lib2048.course.recorded.data", lambda name: tmp_path / Path(name).name)
    for content in (b"", b"\xff\xfe\x00", b"a,b\n1,2,3,4\n5,6\n7,8,9,9,9\n"):
        path.write_bytes(content)
        read_table.cache_clear()
        refused(lambda: read_table("curves/exact"), str(path))
    path.write_text("sources,mean\n706991e94883,1\n")
    assert read_table("curves/exact").sources.tolist() == ["706991e94883"]
    read_table.cache_clear()


def test_an_optimistic_start_pays_where_tc_comes_last():
    """Lesson 09 says so of one start, three seeds; those of TC alone show no gain."""
    runs = pd.read_csv(data("curves/optimistic_4x6.csv"))
    plain, optimistic = (runs[runs["run"] == f"td-{start}-tc"]["mean"] for start in (0, 10000))
    told = compare(optimistic.to_numpy(), plain.to_numpy())
    assert told.verdict == "more"
    assert f"{told.percent:+.0f} ± {told.percent_half:.0f} %" == "+3 ± 3 %"


def test_small_tuples_on_the_carousel_score_more():
    """At either depth, after 7·10^9 actions and 1.1·10^10, than without after 10^10; one run."""
    tests = recorded_tests("late_1e10", "long", pooled=True)
    tests = tests.set_index(["run", "plies", "actions"]).sort_index()
    for plies in (1, 3):
        old = tests.loc["carousel", plies, 1e10]
        for new in tests.loc["redundant_on", plies].itertuples():
            assert new.mean - old["mean"] > math.hypot(new.ci95, old.ci95)
    assert f"{old['mean']:,.0f} ± {old.ci95:,.0f}" == "383,738 ± 21,864"
