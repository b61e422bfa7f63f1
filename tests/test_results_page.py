"""The tables of the pages of results are those of the recorded files; all files named are there.

Its prose, and the tables that no file holds, have their sources in docs/quotes.toml.
"""

import re

import numpy as np
import pages
import pandas as pd
import pytest

from lib2048 import Network, afterstates, compare, data, load, mean_ci95, to_tiles
from lib2048.course import papers, recorded_tests, survival, wall
from lib2048.game.batch import images
from lib2048.game.board import max_exponent
from lib2048.learn.rules import RULES
from lib2048.networks.storage import info
from lib2048.ruler import positions

PAGES = "results", "ruler", "speed"
PAGE = "\n".join(pages.text_of(f"docs/{name}.md") for name in PAGES)
PAPER = "published/jaskowski2018_table"


def table(first):
    """Return the rows of the table whose head begins by a text: {first cells: other cells}."""
    lines = PAGE[PAGE.index(f"\n| {first}") + 1 :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def said(number, decimals=0):
    """Return a number as the page writes it: thousands apart, halves to the even digit."""
    return f"{number:,.{decimals}f}".replace(",", " ")


def read(name, query):
    """Return the one row of a file that a query finds."""
    (row,) = pd.read_csv(data(name)).query(query).to_dict("records")
    return row


@pytest.mark.parametrize("row", table("order"), ids=lambda row: f"{row[0]}-{row[1]}")
def test_td0(row):
    order, seed, *told = row
    r = read("curves/td0_4x6_tests.csv", f"order == '{order}' and seed == {seed}")
    shares = [f"{100 * r[f'reached_{tile}']:.1f} %" for tile in (2048, 8192)]
    assert r["games"] == 10_000
    assert told == [f"{said(r['mean'])} ± {said(r['ci95'])}", *shares]


def depth_query(player):
    """Return the query for a player of the table of depths."""
    who, limit = ("heuristic", player[11:]) if player[:4] == "heur" else ("td0", player)
    kind, number = ("ms", limit.split()[0]) if "ms a" in limit else ("plies", limit[0])
    query = f"player == '{who}' and {kind} == {number} and table == {'no table' not in limit}"
    return query + f" and reduce == {'less' in limit}"


@pytest.mark.parametrize("row", table("player"), ids=lambda row: row[0])
def test_depth(row):
    player, games, mean, *shares, speed = row
    r = read("curves/depth_4x6.csv", depth_query(player))
    assert [games, speed] == [said(r["games"]), said(r["moves_per_s"])]
    assert mean == f"{said(r['mean'])} ± {said(r['ci95'])}"
    told = [100 * r[f"reached_{tile}"] for tile in (4096, 8192, 16384)]
    assert all(abs(float(s.split()[0]) - t) <= 0.5 + 1e-9 for s, t in zip(shares, told))


@pytest.mark.parametrize("row", table("sixteen stages | games"), ids=lambda row: row[0])
def test_more_time(row):
    name, games, mean, *shares, speed = row
    which = "ms == 1" if "ms" in name else f"plies == {name[0]}"
    r = read("curves/shipped_in_depth.csv", f"player == 'shipped in stages' and {which}")
    assert r["reduce"] == ("less behind a 4" in name)
    assert [games, speed] == [said(r["games"]), said(r["moves_per_s"])]
    assert mean == f"{said(r['mean'])} ± {said(r['ci95'])}"
    assert shares == [f"{100 * r[f'reached_{tile}']:.0f} %" for tile in (16384, 32768)]


def knowing(plies):
    """Return the row of a player that knows endgames, and that of the one that does not."""
    rows = pd.read_csv(data("curves/endgame_players.csv"))
    rows = rows.query(f"plies == {plies} and player == 'shipped in stages'")
    knows = rows["endgames"].notna()
    return rows[knows].squeeze(), rows[~knows].squeeze()


@pytest.mark.parametrize("row", table("who knows endgames"), ids=lambda row: row[0])
def test_endgame_player(row):
    name, games, mean, *shares = row
    r = knowing(int(name[0]))["endgames" not in name]
    assert r["reduce"] == ("less behind a 4" in name)
    assert [games, mean] == [said(r["games"]), f"{said(r['mean'])} ± {said(r['ci95'])}"]
    assert shares == [f"{100 * r[f'reached_{tile}']:.0f} %" for tile in (16384, 32768)]


@pytest.mark.parametrize("plies, decided", [(2, True), (3, False)])
def test_what_endgames_bring(plies, decided):
    one, other = knowing(plies)
    gain, half = one["mean"] - other["mean"], np.hypot(one["ci95"], other["ci95"])
    assert f"{said(gain)} ± {said(half)} points" in PAGE and (gain > half) == decided
    both = np.array([r["reached_32768"] for r in (one, other)])
    half = 1.96 * np.sqrt((both * (1 - both) / [one["games"], other["games"]]).sum())
    told = f"{100 * (both[0] - both[1]):.1f} ± {100 * half:.1f} percentage points"
    assert (told in PAGE) == decided == (both[0] - both[1] > half)


def against(run, other):
    """Return how far one kind of run is above another, a seed being the mean of its two runs."""
    rows = pd.read_csv(data("curves/error_tests.csv"))
    rows["kind"] = rows.run.str.replace("-(one|two)$", "", regex=True)
    scores = rows.groupby(["kind", "seed"])["mean"].agg(["mean", "size"])
    assert set(scores["size"][[run, other]]) == {2}
    return compare(scores["mean"][run], scores["mean"][other])


def signed(number):
    """Return a number as the page writes it, with a true minus."""
    return said(number).replace("-", "−")


@pytest.mark.parametrize("row", table("| fresh"), ids=lambda row: row[0])
def test_error(row):
    name, fresh, remembered, told = row
    run = name.replace("`", "").replace(", ", "-")
    found = against(f"{run}-remembered", f"{run}-fresh")
    assert [fresh, remembered] == [said(found.base), said(found.base + found.difference)]
    low, high = signed(found.low), signed(found.high)
    assert told == f"{signed(found.difference)} ({low} to {high}): {found.verdict}"


@pytest.mark.parametrize("row", table("backward − forward"), ids=lambda row: row[0])
def test_backwards_with_fresh_values(row):
    rows = pd.read_csv(data("curves/error_tests.csv"))
    orders, network = ("backward", "forward"), row[0].strip("`")
    for at_once, told in zip(("one", "two"), row[1:], strict=True):
        kinds = [f"{network}-{order}-fresh-{at_once}" for order in orders]
        found = compare(*(rows.loc[rows.run == kind, "mean"] for kind in kinds))
        plus = "+" * (found.difference > 0)
        said_so = f"{plus}{signed(found.difference)} ({signed(found.low)} to {signed(found.high)})"
        assert told == f"{said_so}: {found.verdict}"


LATE = {
    "one stage": ("one_stage", "3_stages", "algorithm == '1 stage'"),
    "16 stages": ("stages", "3_stages", "algorithm == '2^4 stages'"),
    "16 stages, promotion": ("promotion", "3_stages", "algorithm == '2^4 stages, WP'"),
    "16 stages, promotion, carousel": (
        "carousel",
        "4_carousel_redundant",
        "algorithm == '42-33, CS'",
    ),
    "42-33-4-22-3, one stage": ("redundant", None, None),
}


@pytest.mark.parametrize("row", table("42-33, 3·10^8 actions"), ids=lambda row: row[0])
def test_late_game(row):
    name, one, three, paper = row
    run, file, query = LATE[name]
    runs = pd.read_csv(data("curves/late_42-33_tests.csv")).query(f"run == '{run}'")
    assert (len(runs), set(runs.actions)) == (3, {300_000_000})
    for told, column in ((one, runs.mean_1ply), (three, runs.mean_3ply)):
        assert told == f"{said(column.mean())} ({said(column.min())}–{said(column.max())})"
    scores = [
        read(f"{PAPER}{file}.csv", f"{query} and depth_ply == {plies}")["score_mean"]
        for plies in (1, 3)
        if file
    ]
    assert paper == (" · ".join(map(said, scores)) or "–")


ROAD = {
    "one stage": ("7_summary.csv", "step == 3"),
    "16 stages, promotion": ("7_summary.csv", "step == 4"),
    "and the carousel": ("4_carousel_redundant.csv", "algorithm == '42-33, CS'"),
    "and the tuples 4 and 22": ("4_carousel_redundant.csv", "algorithm == '42-33-4-22, CS'"),
    "and the tuples 3": ("7_summary.csv", "step == 6"),
}


def both(one, three):
    return f"{said(one)} · {said(three)}"


@pytest.mark.parametrize("row", table("step"), ids=lambda row: row[0])
def test_road_of_the_paper(row):
    file, query = ROAD[row[0]]
    paper = [read(f"{PAPER}{file}", f"{query} and depth_ply == {plies}") for plies in (1, 3)]
    assert row[1] == both(*[told["score_mean"] for told in paper])


def test_what_we_had_set_out_for():
    one = read("curves/endgame_players.csv", "player == '42-33-4-22 in stages'")
    low, high = one["mean"] - one["ci95"], one["mean"] + one["ci95"]
    *_, few, many = wall.passing(one["games"], round(one["games"] * one["reached_32768"]))
    assert f"{said(low)} to {said(high)} points and {100 * few:.1f} to {100 * many:.1f} %" in PAGE
    assert one["games"] == 300 and low > 480_000 and few > 0.4
    assert one["moves_per_s"] * 10 > one["mean"] / 26.4  # a game takes less than ten seconds


def test_road_of_ours():
    one, promotion, carousel, redundant, three = [row[2:] for row in table("step")]
    shipped = [
        read("curves/depth_4x6.csv", f"player == 'shipped' and plies == {plies}")["mean"]
        for plies in (1, 3)
    ]
    way = pd.read_csv(data("curves/tc_42-33_1e10_history.csv")).iloc[-1]
    hours = way["seconds"] / way["actions"] * 1e10 / 3600
    assert one == [both(*shipped), f"{hours:.2f}"]
    two = ", two threads beside other work"
    pooled = recorded_tests("late_1e10", pooled=True).query("plies == 3 and actions == 1e10")
    pooled = pooled.set_index("run")
    assert (pooled.loc[["promotion", "carousel"], "games"] == 200).all()
    for row, run, threads in ((promotion, "promotion", 1), (carousel, "carousel", 2)):
        end = read("curves/late_1e10_tests.csv", f"run == '{run}'")
        hours = threads * end["seconds"] / 3600
        score = both(end["mean_1ply"], pooled.loc[run, "mean"])
        assert row == [score, f"{hours:.2f}{two * (threads - 1)}"]
    kept = info(data("weights/42-33-4-22-stages.npz"))["info"]
    played = [kept["this_file"][f"{plies}-ply"] for plies in (1, 3)]
    assert f"{kept['actions']:.2e}" == "1.11e+10" and 3.5 < 4e10 / kept["actions"] < 4
    assert redundant == [f"{both(*(one['mean'] for one in played))}, after 1.11·10^10", "–"]
    assert [one["games"] for one in played] == [1000, 300]
    alone = (end["mean_1ply"], end["ci95_1ply"]), pooled.loc["carousel", ["mean", "ci95"]]
    for told, (mean, half) in zip(played, alone, strict=True):
        assert told["mean"] - mean > np.hypot(told["ci95"], half)  # at either depth
    query = "run == 'redundant_carousel' and plies == {}"
    begun = [read("curves/late_1e10_evaluations.csv", query.format(plies)) for plies in (1, 3)]
    assert three == [f"{both(*(row['mean'] for row in begun))}, after 10^9", "–"]


def test_the_lead_of_the_carousel():
    """31 % after 10^9 actions, far beyond the intervals; at the end within them."""
    rows = pd.read_csv(data("curves/late_1e10_evaluations.csv")).query("plies == 3")
    means, halves = (
        rows.pivot(index="actions", columns="run", values=name) for name in ("mean", "ci95")
    )
    lead, half = means.carousel - means.promotion, np.hypot(halves.carousel, halves.promotion)
    assert (lead > half).iloc[0] and (lead < half).iloc[-1]
    assert f"{lead.iloc[0] / means.promotion.iloc[0]:.0%}" == "31%"


@pytest.mark.parametrize("row", table("at the wall"), ids=lambda row: f"{row[0]}-{row[3]}-{row[4]}")
def test_the_wall(row):
    who, stages, actions, depth, chain, *told = row
    place, run = who.replace("`", "").split(", ")
    query = f"run == '{run}' and plies == {depth[0]} and chain == {chain}"
    (r,) = wall.passes(place).query(query).to_dict("records")
    assert r["stages"] == int(stages)
    asked = float(actions.replace("·", "*").replace("*10^", "e").replace("10^", "1e"))
    assert f"{r['actions']:.2e}" == f"{asked:.2e}"
    low, share, high = (f"{100 * r[name]:.1f}" for name in ("low", "share", "high"))
    assert told == [said(r["stood"]), said(r["passed"]), f"{share} % ({low} to {high} %)"]


def test_one_stage_does_not_pass():
    rows = wall.passes("long").query("run == 'one_stage' and chain == 16384")
    assert (rows["stood"].sum(), rows["passed"].sum()) == (1751, 0) and set(rows.actions) == {4e10}


def test_a_second_training_with_promotion_passes_late():
    tests = recorded_tests("late_1e10", "long").query("run == 'promotion' and plies == 3")
    for name, told in (("late_1e10", (82, 12)), ("long", (46, 0))):
        (row,) = tests[(tests["list"] == name) & (tests["actions"] == 8e9)].itertuples()
        games = row.games * row.reached_16384, row.games * row.reached_32768
        assert tuple(map(round, games)) == told and "12 in 82" in PAGE and "none in 46" in PAGE
        stages = pd.read_csv(data(f"curves/{name}_stages.csv")).query("run == 'promotion'")
        assert f"{stages[stages.stage > 3].actions.sum() / stages.actions.sum():.0%}" == "18%"
    kept = info(data("weights/promotion-quarter.npz"))["info"]["this_file"]["3-ply"]
    assert kept["max"] < wall.chain_score(16384) and kept["games"] == 100  # no 32768
    found = pd.read_csv(data("curves/long_evaluations.csv"))
    later = found[found["run"].str.startswith("promotion_on")]
    together = later["actions"] + later["before"]
    made = (later["games"] * later["reached_32768"]).round().groupby([together, later["plies"]])
    made = made.sum().unstack()
    assert (made[made.index < 2.7e10].sum() == 0).all() and (made.index < 2.7e10).sum() == 4
    assert made.loc[made.index > 2.9e10, 3].tolist()[:2] == [2, 3]
    end = read("curves/long_tests.csv", "run == 'promotion_on_2'")
    passed = round(end["games_3ply"] * end["reached_32768_3ply"])
    assert f"after 4.03·10^10 {passed} of {end['games_3ply']:.0f}." in PAGE


def test_promotion_comes_near_to_the_papers_own():
    end = read("curves/long_tests.csv", "run == 'promotion_on_2'")
    for plies in (1, 3):
        query = f"algorithm == '2^4 stages, WP' and network == '42-33' and depth_ply == {plies}"
        paper = read("published/jaskowski2018_table3_stages.csv", query)["score_mean"]
        assert abs(end[f"mean_{plies}ply"] / paper - 1) < 0.02 and said(paper) in PAGE
    assert "both means are within 2 % of it" in PAGE


@pytest.mark.parametrize("row", table("after actions"), ids=lambda row: row[0])
def test_the_runs_at_the_papers_budget(row):
    after, *told = row
    found = pd.read_csv(data("curves/long_evaluations.csv"))
    together = found["actions"] + found["before"].fillna(0)
    found = found[together.map(lambda actions: f"{actions / 1e9:.4g}·10^9") == after]
    found["run"] = found["run"].str.replace(r"_on(_\d)?$", "", regex=True)  # where it went on
    for run, cell in zip(("one_stage", "promotion"), told, strict=True):
        depths = found[found["run"] == run].sort_values("plies")[["mean", "ci95"]]
        marks = (f"{said(mean)} ± {said(half)}" for mean, half in depths.to_numpy())
        assert cell == (" · ".join(marks) or "–")


def test_one_stage_falls_where_it_is_searched():
    found = pd.read_csv(data("curves/long_evaluations.csv")).query("run == 'one_stage'")
    half = found["actions"] < 2e10
    first, since = (found[rows & (found["plies"] == 3)]["mean"] for rows in (half, ~half))
    told = compare(since.to_numpy(), first.to_numpy())
    assert (
        told.verdict == "less" and f"on average, the six since then {said(since.mean())}." in PAGE
    )
    assert f"four tests before 2·10^10 actions have {said(first.mean())} points" in PAGE
    assert f"that is {signed(told.difference)} ± {said(told.half)} (*less*), in one run" in PAGE
    simple = found[found["plies"] == 1]
    assert simple["mean"].idxmax() == simple["actions"].idxmax()
    run = read("curves/long_tests.csv", "run == 'one_stage'")
    assert run["mean_1ply"] > simple["mean"].max()
    assert f"The run took {run['seconds'] / 3600:.1f} hours of two threads" in PAGE


@pytest.mark.parametrize("row", table("positions"), ids=lambda row: row[0])
def test_the_run_on_a_gpu(row):
    positions, hours, paper, *told = row
    actions, hours = 1e6 * int(positions.split()[0]), int(hours.split()[0])
    assert actions == hours * 7e8 / 240
    query = f"hours == {hours} and depth_ply == 1"
    assert paper == said(
        read("published/matsuzaki2021_table10_long_training.csv", query)["score_mean"]
    )
    r = read("curves/value_tests.csv", f"list == 'value_gpu' and actions == {actions}")
    assert told == [f"{said(r['mean'])} ± {said(r['ci95'])}", f"{100 * r['reached_16384']:.0f} %"]


def test_the_value_network_knows_one_side_only():
    pytest.importorskip("torch")
    ruler, network = positions.load(data("ruler.npz")), load(data("weights/cnn22.safetensors"))
    boards = ruler.boards[ruler.sample(500)][::10]
    values = network.values(images(boards).reshape(-1)).reshape(-1, 8)
    for mean in (values[:, 0].mean(), values.max(axis=1).mean()):
        assert said(round(float(mean), -2)) in PAGE


def test_full_chains_and_the_tests_that_end_there():
    for tile in wall.CHAINS:
        assert f"{said(wall.chain_score(tile))}" in PAGE
    rows = wall.best_scores("overfitting").query("plies == 3").sort_values("actions")
    means = pd.read_csv(data("curves/overfitting_evaluations.csv")).query("plies == 3")["mean"]
    for n in (0, -1):
        assert said(rows["best"].iloc[n]) in PAGE and said(means.iloc[n]) in PAGE
    assert (len(rows), rows["wall"].sum()) == (10, 8)
    made = pd.read_csv(data("curves/overfitting_evaluations.csv")).query("plies == 3")
    assert made["reached_32768"].tolist().count(0.01) == 2 and made["reached_32768"].sum() == 0.02


@pytest.mark.parametrize("row", table("three actions on"), ids=lambda row: row[0])
def test_errors_where_only_a_search_looks(row):
    kind, *told = row
    r = read("curves/search_errors.csv", f"network == '42-33' and kind == '{kind.strip(chr(96))}'")
    assert r["actions"] == 10**10
    names = "error", "rms", "surprise_rms"
    assert told == [f"{signed(r[n])} ± {said(r[f'half_{n}'])}" for n in names]


ASKED = {  # a row of the page: the network's name in the file
    "one stage": "42-33",
    "one stage, the long run": "one_stage",
    "16 stages, promotion": "promotion",
    "16 stages, carousel": "42-33-stages",
}


def learned(text):
    """Return (a network's name on the page, the actions that it learned from)."""
    name, _, after = text.rpartition(", ")
    return name, float(re.sub(r"^10\^", "1e", after.replace("·10^", "e")))


@pytest.mark.parametrize("row", table("network, after actions"), ids=lambda row: row[0])
def test_errors_of_other_networks_where_a_search_looks(row):
    name, actions = learned(row[0])
    query = f"network == '{ASKED[name]}' and actions == {actions}"
    found = pd.read_csv(data("curves/search_errors.csv")).query(query).set_index("kind")
    own, liked = (found.loc[kind, ["error", "half_error"]] for kind in ("played", "preferred"))
    apart, half = liked["error"] - own["error"], np.hypot(own["half_error"], liked["half_error"])
    told = [(*own, said), (*liked, said), (apart, half, signed)]
    assert row[1:] == [f"{write(number)} ± {said(half)}" for number, half, write in told]
    assert abs(apart) < half, "the page says that none is praised more"


def of_network(rows, text):
    """Return those rows of a network that the page calls by how it learned and its actions."""
    name, actions = learned(text)
    return rows[(rows["network"] == name) & (rows["actions"] == actions)]


@pytest.mark.parametrize("row", table("games that go on"), ids=lambda row: row[0])
def test_how_far_games_come(row):
    name, _, plies = row[0].rpartition(", ")
    found = of_network(survival.stretches(survival.recorded_survival()), name)
    found = found[found["plies"] == int(plies.removesuffix("-ply"))]
    assert row[1:] == [f"{r.passed} of {r.stood}" for r in found.itertuples()]


@pytest.mark.parametrize("row", table("from the same boards"), ids=lambda row: f"{row[0]}-{row[1]}")
def test_what_a_search_makes_of_the_same_boards(row):
    name, mark, *told = row
    found = of_network(survival.recorded_continued(), name)
    (r,) = found[found["sum"] == int(mark.replace(" ", ""))].to_dict("records")
    write = {"simple": said, "searched": said, "difference": signed}
    assert told == [f"{f(r[key])} ± {said(r[f'half_{key}'])}" for key, f in write.items()]
    assert (r["boards"], r["times"], r["plies"]) == (100, 2, 3)
    verdict = np.sign(r["difference"]) * (abs(r["difference"]) > r["half_difference"])
    assert verdict == ({16384: 0, 24576: -1}[r["sum"]] if name == "one stage, 4·10^10" else 1)


def test_what_one_stage_expects_late_in_a_game():
    rows = survival.recorded_survival().query("plies == 1 and sum == 24576")
    rows = rows.set_index(["network", "actions"])
    told = [
        rows.loc[key] for key in (("one stage", 1e10), ("one stage", 4e10), ("promotion", 1e10))
    ]
    values = [said(number) for one in told for number in one[["value", "truth"]]]
    assert (
        "expects {} points at a sum of 24 576, and makes {}; after 4·10^10 it expects {} "
        "and makes {}. With promotion it expects {} and makes {}.".format(*values)
        in PAGE
    )


def test_how_errors_scatter_where_a_search_looks():
    rows = pd.read_csv(data("curves/search_errors.csv")).query("network == '42-33'")
    rows = rows.set_index("kind")
    scatter = (rows["rms"] ** 2 - rows["error"] ** 2) ** 0.5
    played, searched, preferred = (
        said(scatter[kind]) for kind in ("played", "searched", "preferred")
    )
    assert f"by {searched} points, those of the network's own boards by {played}." in PAGE
    assert f"is {preferred} points against {played}" in PAGE
    own = rows.loc["played"]
    assert f"or {own['error'] / own['truth']:.0%}" == "or 31%" and "or 31 %" in PAGE
    assert f"of the {said(own['truth'])} that it makes" in PAGE
    assert "the leaves: 800, 791 and 424." in PAGE and rows["leaves"].tolist() == [800, 791, 424]
    assert f"{own['surprise']:.0f} ± {own['half_surprise']:.0f} points" in PAGE
    two = rows.loc[["preferred", "played"]]
    gap, half = two["error"].iloc[0] - two["error"].iloc[1], np.hypot(*two["half_error"])
    assert abs(gap) < half and f"by {said(gap)} ± {said(half)} points" in PAGE


@pytest.mark.parametrize("row", table("rate of the last phase"), ids=lambda row: row[0])
def test_a_last_phase(row):
    name, one, three = row
    runs = pd.read_csv(data("curves/fine_tests.csv"), dtype={"run": str})
    runs = runs[runs["run"] == name.removeprefix("α = ")]
    assert [one, three] == [
        ", ".join(map(said, runs[column].dropna())) or "–" for column in ("mean_1ply", "mean_3ply")
    ]


def ten_thousand(words):
    """Return the mean and half its interval that the page has of ten thousand games."""
    told = re.search(rf"{words} ([\d ]+) ± ([\d ]+)", PAGE).groups()
    return [int(re.sub(r"\D", "", number)) for number in told]


def test_a_last_phase_brings_hardly_anything():
    runs = pd.read_csv(data("curves/fine_tests.csv"), dtype={"run": str})
    (file, _), (before, half) = map(ten_thousand, ("games of it have", "it was pruned"))
    gains = runs["mean_1ply"] - before
    assert f"gain {said(gains.min())} to {said(gains.max())} points" in PAGE
    assert (gains > np.hypot(runs["ci95_1ply"], half)).sum() == 1
    told = compare(runs.loc[runs["run"] == "0.0003", "mean_1ply"] - file, [0, 0, 0], paired=True)
    assert f"(+{said(told.difference)} ± {said(told.half)})" in PAGE
    assert told.verdict == "not decided"
    begun = read("curves/depth_4x6.csv", "player == 'shipped' and plies == 3")["mean"]
    assert (runs["mean_3ply"].dropna() < begun).all() and runs["mean_3ply"].count() == 4


def test_the_page_begins_with_what_its_sources_have():
    text = pages.text_of("docs/results.md").split("<!--")[0]
    orders = papers.orders().sum()
    assert f"decided in {orders['both']} pairs of rows" in text
    rest = papers.orders().drop(["jaskowski-table1", "matsuzaki-table5"]).sum()
    assert f"the same in {orders['same']}. Outside two tables" in text
    apart = f"{orders['both'] - orders['same']} pairs of all tables that disagree, our budget"
    assert f"that is {rest['same']} of {rest['both']}. In most of the {apart}" in text
    table = papers.rows().query("seeds > 0")
    jaskowski = table[table["figure"].str.startswith("jaskowski")]
    added = jaskowski.query("`paper's budget` > 1e10 and run != 'promotion_on_2'")
    assert (added["our budget"] <= added["paper's budget"] / 4).all()
    whole = jaskowski.query("run == 'promotion_on_2'")
    assert (whole["our budget"] / whole["paper's budget"]).between(1, 1.01).all() and len(whole)
    values = table[table["figure"].str.match("matsuzaki-table[3-8]")]
    assert (values["our budget"] < values["paper's budget"] / 100).all()
    lab = table["figure"] == "lab-block1"
    assert set(table["seeds"][lab]) == {5} and set(table["seeds"][~lab]) == {1, 2, 3}
    printed = {f"td_{a}_shared_twice": f"td_{a}" for a in ("0.01", "0.1", "0.5", "1.0")}
    told = papers.orders("jaskowski-table1", instead=printed).iloc[0]
    assert f"as printed, it is {told['same']} of {told['both']}." in PAGE


def test_a_last_phase_of_sixteen_stages():
    runs = pd.read_csv(data("curves/fine_stages_tests.csv"), dtype={"run": str})
    names = "0.001", "split-0.01", "split-tc"
    for row, run in zip(table("network and rule"), names, strict=True):
        told = runs[runs["run"] == run]
        means = [", ".join(map(said, told[f"mean_{plies}ply"])) for plies in (1, 3)]
        shares = ", ".join(f"{100 * share:.0f}" for share in told["reached_32768_3ply"])
        assert row[1:] == [*means, f"{shares} %"]
    three = runs[runs["run"] == "0.001"]
    for plies in (1, 3):
        began = read(
            "curves/shipped_in_depth.csv", f"player == 'shipped in stages' and plies == {plies}"
        )["mean"]
        gain = compare(three[f"mean_{plies}ply"], 3 * [began], paired=True)
        assert gain.verdict == "not decided" and said(began) in PAGE
        assert f"{plies}-ply (+{said(gain.difference)} ± {said(gain.half)})" in PAGE
    begun = runs[runs["run"].str.startswith("split")]
    assert all(set(visits.split()[8:]) == {"0"} for visits in begun["visits"])


def test_what_it_costs_tc_to_go_on():
    runs = pd.read_csv(data("curves/fine_stages_tests.csv"), dtype={"run": str}).set_index("run")
    played = info(data("weights/promotion-quarter.npz"))["info"]["this_file"]
    file, *went_on = [row[1:] for row in table("16 stages that went on")]
    for column, plies in enumerate((1, 3)):
        began = played[f"{plies}-ply"]
        assert file[column] == f"{said(began['mean'])} ± {said(began['ci95'])}"
        for row, run in zip(went_on, ("tc-anew", "tc-on"), strict=True):
            pair = runs.loc[run, [f"mean_{plies}ply", f"ci95_{plies}ply"]]
            assert row[column] == " ± ".join(map(said, pair))
    assert runs.loc["tc-on", "before"] == 1e10


@pytest.mark.parametrize("row", table("board"), ids=lambda row: row[0])
def test_small_boards(row):
    board, states, points = row
    r = read("curves/exact.csv", f"play == 'optimal' and board == '{board.replace('×', 'x')}'")
    assert [states, points] == [said(r["states"]), said(r["value"], 2)]


@pytest.mark.parametrize("row", table("MiB"), ids=lambda row: row[0])
def test_memory(row):
    network, *told = row
    weights = Network(network).nbytes / 2**20
    rules = (RULES[rule] for rule in ("td", "tc", "autostep"))
    assert told == [said(weights * (1 + rule.memory)) for rule in rules]


def test_every_file_and_list_that_is_named_is_there():
    curves = re.findall(r"`(\w[\w.-]*\.csv)`", PAGE)
    lists = re.findall(r"(data/\w+/[\w.-]+\.\w+)", PAGE)
    assert len(curves) > 6 and len(lists) > 6
    assert all(data(f"curves/{name}").exists() for name in set(curves))
    assert all((pages.ROOT / path).exists() for path in set(lists))


VARIANTS_PAGE = pages.text_of("data/runs/variants/README.md")
VARIANTS = VARIANTS_PAGE.split("| variant | seeds")[1].split("\n\n")[0]


@pytest.mark.parametrize("line", VARIANTS.splitlines()[2:], ids=lambda line: line.split("`")[1])
def test_variants(line):
    name, seeds, *verdicts = [cell.strip() for cell in line.strip("|").split("|")]
    means = pd.read_csv(data("curves/variants_means.csv")).set_index("variant")["mean"]
    late = pd.read_csv(data("curves/late_42-33_tests.csv")).set_index("run")["mean_3ply"]
    mine = means[name.strip("`")]
    assert seeds == ", ".join(said(mean) for mean in mine)
    for other, told in zip(("promotion", "one_stage"), verdicts, strict=True):
        assert told == verdict(mine, late[other])


def verdict(mine, other):
    """Return what a comparison comes to, as that page writes it."""
    found = compare(mine, other)
    sign = "−" if found.difference < 0 else "+"
    return f"{sign}{said(abs(found.difference))} ± {said(found.half)}: {found.verdict}"


@pytest.mark.parametrize("plies", [1, 3])
def test_online_tc(plies):
    lines = VARIANTS_PAGE.split("| online TC |")[1].split("\n\n")[0].splitlines()[2:]
    variant, ours, against = [line.strip("|").split("|")[1 + plies // 2].strip() for line in lines]
    column, files = f"mean_{plies}ply", ("variants_tests", "rules_42-33_tests", "late_42-33_tests")
    tests, rules, late = (
        pd.read_csv(data(f"curves/{name}.csv"))
        .query("actions == 300000000")
        .set_index("run")[column]
        for name in files
    )
    assert variant == ", ".join(said(mean) for mean in tests["online-tc"])
    assert ours == said(rules["tc_online_1.0"])
    assert against == verdict(tests["online-tc"], late["one_stage"])


def test_what_was_run_again_came_out_the_same():
    again = pd.read_csv(data("curves/variants_tests.csv")).query("run != 'online-tc'")
    again = again.set_index(["run", "seed"])["mean_3ply"]
    means = pd.read_csv(data("curves/variants_means.csv")).set_index(["variant", "seed"])["mean"]
    assert len(again) and (again.round() == means[again.index]).all()


# ---------------------------------------------------------------- the ruler


def share(number, decimals=1):
    return f"{100 * number:.{decimals}f}".replace("-", "−")


@pytest.mark.parametrize("row", table("measured"), ids=lambda row: row[0])
def test_ruler(row):
    name, plies = re.fullmatch(r"`(.*)`, (\d)-ply", row[0]).groups()
    r = read("curves/ruler_regret.csv", f"player == '{name}' and plies == {plies} and by == 'all'")
    told = [f"{share(r['optimum'])} %", f"{share(r['success'])} %"]
    assert row[1:] == [f"{r['positions']}", *told, f"{share(r['regret'])} ± {share(r['half'])} %"]


@pytest.mark.parametrize("row", table("the end of lost games"), ids=lambda row: row[0])
def test_losses(row):
    plies, before = re.fullmatch(r"(\d)-ply, (\d+) actions before", row[0]).groups()
    rows = pd.read_csv(data("curves/ruler_losses.csv"), dtype={"formation": str})
    rows = rows.query(f"plies == {plies} and before == {before}")
    counts, lost = rows.set_index(["large", "formation"])["games"], rows["lost"].max()
    asked = [(4, "any"), (5, "any"), (6, "any"), (6, "442"), (6, "4411")]
    told = [f"{share(counts.get(key, 0) / lost, 0)} %" for key in asked]
    assert row[1:] == [f"{lost}", *told]


@pytest.mark.parametrize("row", table("keeps to the formation"), ids=lambda row: row[0])
def test_own_play(row):
    player, formation, target = re.fullmatch(r"`(.*)`, (\d+), target (\d+)", row[0]).groups()
    rows = pd.read_csv(data("curves/ruler_own.csv"), dtype={"formation": str})
    asked = f"player == '{player}' and formation == '{formation}' and target == {target}"
    (r,) = rows.query(asked).to_dict("records")
    assert row[1:] == [f"{share(r[name], 2)} %" for name in ("optimum", "own", "leaves")]


def measured(name, plies):
    """Return the positions of a player that were drawn, with the columns success and regret."""
    rows = pd.read_csv(
        data("curves/ruler_rollouts.csv"), dtype={"formation": str}, index_col="position"
    )
    rows = rows[(rows["player"] == name) & (rows["plies"] == plies)]
    rows = rows.loc[rows.index.intersection(positions.load(data("ruler.npz")).sample(500))]
    success = rows["made"] / rows["times"]
    return rows.assign(success=success, regret=rows["optimum"] - success)


def with_half(numbers):
    mean, half = mean_ci95(numbers)
    return f"{share(mean)} ± {share(half)} %"


@pytest.mark.parametrize("row", table("deeper"), ids=lambda row: row[0])
def test_deeper(row):
    name, plies = re.fullmatch(r"`(.*)`, (\d)-ply", row[0]).groups()
    deep = measured(name, int(plies))
    one = measured(name, 1).loc[deep.index]
    gain = deep["success"] - one["success"]
    told = [f"{len(deep)}", f"{share(deep['optimum'].mean())} %"]
    assert row[1:] == [*told, *map(with_half, (one["regret"], deep["regret"], gain))]
    assert "All four gains are decided" in PAGE
    assert compare(deep["success"], one["success"], paired=True).verdict == "more"


def test_most_is_lost_below_a_sum_of_200():
    rows = measured("42-33", 1)
    free, regret = rows["free"], rows["regret"]
    below, above = regret[free < 200], regret[(free >= 200) & (free < 250)]
    assert f"at least {with_half(below)} ({len(below)} positions," in PAGE
    few = regret[free < 50]
    assert f"emptiest {len(few)} of them {with_half(few)}, which decides nothing" in PAGE
    assert f"from 200 to 249 at least {with_half(above)}" in PAGE


def test_on_full_cells_a_large_tile_sometimes_has_to_move():
    rows = measured("42-33", 1)
    rows = rows[rows["free"] >= 250]
    mean, half = mean_ci95(rows["regret"])
    assert f"{with_half(rows['regret'])}, which is not decided" in PAGE and -half < mean < half
    success = rows["success"].clip(upper=1 - 1 / rows["times"])  # no error of 0
    more = rows["regret"] < -4 * np.sqrt(success * (1 - success) / rows["times"])
    assert f"on {more.sum()} of those {len(rows)} `42-33` makes" in PAGE
    promised = rows.loc[more & (rows["made"] == rows["times"]), "optimum"].min()
    assert f"in all 200 games where the table promises {share(promised)} %" in PAGE


def test_where_the_regret_is_lowest_every_action_moves_a_large_tile():
    """Lesson 18 says so."""
    board = positions.load(data("ruler.npz")).boards[measured("42-33", 1)["regret"].idxmin()]
    large = [(cell, tile) for cell, tile in enumerate(np.ravel(to_tiles(board))) if tile >= 256]
    for _, afterstate, _ in afterstates(board):
        tiles = np.ravel(to_tiles(afterstate))
        assert any(tiles[cell] != tile for cell, tile in large)


def test_stages_and_their_games():
    gain = measured("carousel", 1)["regret"] - measured("one_stage", 1)["regret"]
    assert f"the regret is {with_half(gain)} above that of `one_stage`" in PAGE
    (visits,) = pd.read_csv(data("curves/ruler_tests.csv")).query("run == 'promotion'")["visits"]
    with_16384 = [int(n) for n in visits.split()][4:]  # of 32768, 16384, 8192 and 4096
    assert sum(with_16384) == 0
    boards = positions.load(data("ruler.npz")).boards
    assert np.mean([max_exponent(board) >= 14 for board in boards]) == pytest.approx(0.5, abs=0.02)
    mine, other = (measured(name, 1)["success"] for name in ("42-33-stages", "42-33"))
    assert compare(mine, other, paired=True).verdict == "not decided"


def test_most_games_are_not_lost_in_these_endgames():
    rows = pd.read_csv(data("curves/ruler_losses.csv"), dtype={"formation": str})
    rows = rows[rows["large"] == 6]
    games = rows.set_index(["before", "formation"])["games"] / rows["lost"].max()
    assert f"{share(1 - games[0, 'any'], 0)} % of the lost games end with fewer" in PAGE
    at_the_end, before = (games[turns, "442"] + games[turns, "4411"] for turns in (0, 50))
    assert f"In {share(at_the_end, 0)} % the six stand in 442 or 4411 at the end" in PAGE
    assert f"fifty actions before it in {share(before, 0)} %" in PAGE
    stages = measured("42-33-stages", 1)
    failed, best = (share(1 - stages[name].mean()) for name in ("success", "optimum"))
    assert f"fails in {failed} % of the games and best play in at most {best} %" in PAGE
