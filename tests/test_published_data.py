"""The published numbers are complete, well formed and agree with one another."""

import csv
import re
from itertools import pairwise
from math import log2
from pathlib import Path

import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "data" / "published"
SOURCES = pd.read_csv(FOLDER / "sources.csv")
FILES = sorted(SOURCES["file"])

# Every column that is not listed here must hold numbers only.
TEXT_COLUMNS = {
    "action_selection", "activity", "algorithm", "approach", "augmentation", "authors",
    "batch_mode", "carousel", "conv_filter", "conv_filters", "delayed", "fc_units", "figure",
    "has_16384", "has_4096", "has_8192", "jump_start", "limit", "method", "move_selection",
    "network", "place", "player", "quantity", "queue_unit", "rate_name", "restart", "rule",
    "score_from_ratios", "score_qualifier", "search_limit", "section", "shuffled", "training",
    "unit", "weight_promotion", "x_quantity", "y_quantity",
}  # fmt: skip

YES_NO = {
    "augmentation", "carousel", "delayed", "has_16384", "has_4096", "has_8192", "restart",
    "score_from_ratios", "shuffled", "weight_promotion",
}  # fmt: skip

# What a column may leave empty, beyond `reference`: the source gives nothing there.
MAY_BE_EMPTY = {
    "jaskowski2018_table5_search.csv": {"depth_ply", "time_limit_ms"},
    "jaskowski2018_table6_other_players.csv": {"depth_ply", "time_limit_ms"},
    "jaskowski2018_table7_summary.csv": {"days_ci95"},
    "jaskowski2018_text_related_players.csv": {"depth_ply", "training_games", "weights_millions"},
    "matsuzaki2021_table2_networks.csv": {"conv_filter", "conv_filters"},
    "matsuzaki2021_table11_dnn_players.csv": {
        "network", "weights_millions", "score_mean", "score_qualifier", "depth_ply",
    },
    "matsuzaki2021_text_batch_modes.csv": {"positions_taken", "batch_size", "generator_threads"},
    "matsuzaki2021_text_jump_starts.csv": {"tile_1", "tile_2"},
    "matsuzaki2021_text_cost.csv": {"depth_ply"},
}  # fmt: skip


def load(start):
    """Return the one table whose file name begins with `start`."""
    (name,) = [f for f in FILES if f.startswith(start)]
    return pd.read_csv(FOLDER / name)


def pick(table, **where):
    """Return the one row of `table` in which each named column has the given value."""
    for column, value in where.items():
        table = table[table[column] == value]
    assert len(table) == 1, where
    return table.iloc[0]


def reached_columns(table):
    """Return the `reached_<tile>_percent` columns of `table`, smallest tile first."""
    found = [c for c in table if re.fullmatch(r"reached_\d+_percent", c)]
    return sorted(found, key=lambda c: int(c.split("_")[1]))


# --- form -------------------------------------------------------------------------------------


def test_sources_lists_exactly_the_files_there_are():
    there = {p.name for p in FOLDER.glob("*.csv")} - {"sources.csv"}
    assert set(FILES) == there
    assert SOURCES["file"].is_unique
    assert list(SOURCES.columns) == ["file", "source", "item", "description", "rows"]
    assert SOURCES.notna().all().all()
    assert all(
        f.startswith(s + "_") for f, s in zip(SOURCES["file"], SOURCES["source"], strict=True)
    )


@pytest.mark.parametrize("name", FILES)
def test_file_is_rectangular_and_has_the_stated_rows(name):
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", c) for c in header)
    assert len(set(header)) == len(header)
    assert {len(row) for row in rows} == {len(header)}
    assert len(rows) == pick(SOURCES, file=name)["rows"]
    assert len({tuple(row) for row in rows}) == len(rows), "a row stands twice"


@pytest.mark.parametrize("name", FILES)
def test_columns_parse(name):
    table = pd.read_csv(FOLDER / name)
    for column in table:
        assert not column.startswith("Unnamed")
        if column in TEXT_COLUMNS:
            assert not pd.api.types.is_numeric_dtype(table[column]), column
        else:
            assert pd.api.types.is_numeric_dtype(table[column]), column
        if column in YES_NO:
            assert set(table[column]) <= {"yes", "no"}, column
        if column.endswith("_percent"):
            assert table[column].between(0, 100).all(), column
        empty_allowed = MAY_BE_EMPTY.get(name, set()) | {"reference"}
        if column not in empty_allowed:
            assert table[column].notna().all(), column


def test_readme_names_every_file_and_every_column():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`([^`\n]+)`", readme))
    columns = {c for f in FILES for c in pd.read_csv(FOLDER / f, nrows=0)}
    assert set(FILES) <= words
    assert columns <= words


# --- values, each checked against the source by eye --------------------------------------------


VALUES = [  # the beginning of a table's name, the row that is meant, what stands in it
    *(
        ("jaskowski2018_table1_", {"rule": rule, "rate": rate, "depth_ply": depth},
         {"score_mean": mean, "score_ci95": ci95})
        for rule, rate, depth, mean, ci95 in [
            ("TD", 0.01, 1, 41085, 265), ("TD", 1.0, 3, 237026, 8081),
            ("TC", 1.0, 1, 250393, 3424), ("TC", 0.5, 3, 335076, 1639),
            ("Autostep", 0.4, 3, 200391, 18425), ("Autostep", 1.0, 1, 2546, 62),
        ]
    ),
    ("jaskowski2018_table2_", {"algorithm": "TC(0.5)", "depth_ply": 1},
     {"score_mean": 248770, "score_ci95": 2296, "days": 1.16, "days_ci95": 0.03}),
    ("jaskowski2018_table3_", {"algorithm": "2^3 stages, WP", "depth_ply": 3},
     {"score_mean": 363379, "score_ci95": 25276, "days": 2.18}),
    ("jaskowski2018_table4_", {"algorithm": "42-33-4-22, CS", "depth_ply": 1},
     {"score_mean": 256569, "score_ci95": 19975, "tuples": 10}),
    ("jaskowski2018_table5_", {"search_limit": "5-ply"},
     {"score_mean": 545833, "score_ci95": 21500, "games": 300}),
    ("jaskowski2018_table6_", {"authors": "Yeh et al."},
     {"score_mean": 443526, "reached_32768_percent": 32, "moves_per_s": 500}),
    ("matsuzaki2021_table5_", {"augmentation": "yes", "move_selection": "min"},
     {"score_mean": 22400, "score_sd": 5574, "positions_per_h": 1630000}),
    ("matsuzaki2021_table8_", {"restart": "yes", "jump_start": "nojump"},
     {"score_mean": 101782, "score_sd": 7811, "reached_16384_percent": 4.8}),
    ("matsuzaki2021_table9_", {"restart": "yes", "jump_start": "S-jump"},
     {"score_mean": 210642, "score_sd": 25023, "reached_16384_percent": 43.2}),
    ("matsuzaki2021_table10_", {"depth_ply": 2, "hours": 216},
     {"score_mean": 367024, "reached_8192_percent": 97.2}),  # the abstract's
    ("matsuzaki2021_table11_", {"authors": "Ji et al."},
     {"score_mean": 20000, "score_qualifier": "below", "weights_millions": 4.49}),
    ("tdl2048lab_summary", {"depth_ply": 1},
     {"score_mean": 43669.4, "score_max": 110532, "seed": 4084115498}),
    ("tdl2048lab_summary", {"depth_ply": 2},
     {"score_mean": 71173.5, "score_max": 153868, "seed": 3166521824}),
]  # fmt: skip


@pytest.mark.parametrize("start, where, values", VALUES)
def test_values_of_the_source(start, where, values):
    assert pick(load(start), **where)[list(values)].to_dict() == values


# --- do the tables agree with themselves? ------------------------------------------------------


WITH_REACHED = [f for f in FILES if reached_columns(pd.read_csv(FOLDER / f, nrows=0))]


@pytest.mark.parametrize("name", WITH_REACHED)
def test_larger_tiles_are_reached_less_often(name):
    table = pd.read_csv(FOLDER / name)
    for small, large in pairwise(reached_columns(table)):
        assert (table[small] >= table[large]).all()


@pytest.mark.parametrize("start", ["tdl2048lab_1ply", "tdl2048lab_2ply"])
def test_statistics_block_adds_up(start):
    """The largest tile was T in the games that reached T and not 2T."""
    block = load(start)
    assert (block["tile"].diff().dropna() == block["tile"][:-1].values).all()
    beyond = block["reached_percent"].shift(-1, fill_value=0)
    difference = block["reached_percent"] - beyond - block["largest_percent"]
    assert (difference.abs() <= 0.15).all()
    assert block["largest_percent"].sum() == pytest.approx(100, abs=0.5)
    assert block["reached_percent"].iloc[0] == 100


def score_bounds(tiles, shares):
    """Return bounds on the mean score of games of which `shares` (0..1) reached `tiles`.

    A tile 2^n is worth (n - 2) 2^n points when all its spawns were 4-tiles, the fewest there
    are. Upwards, a game that never made 2^(n+1) is taken to score at most n 2^(n+1), which is
    what that tile would have cost from 2-tiles; with mixed spawns no player comes near it.
    """
    n = [int(log2(t)) for t in tiles]
    largest = [a - b for a, b in pairwise([*shares, 0.0])]
    low = sum(p * (k - 2) * 2**k for p, k in zip(largest, n, strict=True))
    high = sum(p * k * 2 ** (k + 1) for p, k in zip(largest, n, strict=True))
    return low, high + (1 - shares[0]) * (n[0] - 1) * 2 ** n[0]


@pytest.mark.parametrize("name", [f for f in WITH_REACHED if f != "tdl2048lab_summary.csv"])
def test_mean_score_fits_the_reached_tiles(name):
    table = pd.read_csv(FOLDER / name)
    columns = reached_columns(table)
    tiles = [int(c.split("_")[1]) for c in columns]
    for _, row in table.iterrows():
        low, high = score_bounds(tiles, [row[c] / 100 for c in columns])
        assert low <= row["score_mean"] <= high


@pytest.mark.parametrize("depth", [1, 2])
def test_lab_mean_and_maximum_fit_the_block(depth):
    row, block = pick(load("tdl2048lab_summary"), depth_ply=depth), load(f"tdl2048lab_{depth}ply")
    low, high = score_bounds(list(block["tile"]), list(block["reached_percent"] / 100))
    assert low <= row["score_mean"] <= high
    top = int(block["tile"].iloc[-1])
    assert (log2(top) - 2) * top <= row["score_max"] <= log2(top) * 2 * top
    reached = pick(block, tile=2048)["reached_percent"]
    assert row["reached_2048_percent"] == reached


def test_tile_milestones_are_possible():
    """A tile 2^n costs (n-2) 2^n to (n-1) 2^n points, and each spawn adds 2.2 on average."""
    table = load("matsuzaki2021_table1_")
    n = table["tile"].map(log2)
    assert ((n - 2) * table["tile"] <= table["score"]).all()
    assert (table["score"] <= (n - 1) * table["tile"]).all()
    assert (table["moves"] / (table["tile"] / 2.2)).between(0.98, 1.06).all()


def test_jaskowski_network_weights():
    table = load("jaskowski2018_text_network_sizes")
    assert (table["stages"] * table["tuples"] * 16 ** table["tuple_size"] == table["weights"]).all()


def test_jaskowski_table5_intervals_fit_the_games():
    """If ± is 1.96 sd / sqrt(games), the sd of a game is 0.3 to 0.6 of the mean."""
    table = load("jaskowski2018_table5_")
    sd = table["score_ci95"] * table["games"] ** 0.5 / 1.96
    assert (sd / table["score_mean"]).between(0.3, 0.6).all()
    timed = table.dropna(subset="time_limit_ms")
    assert (timed["moves_per_s"] * timed["time_limit_ms"] / 1000).between(0.9, 1.0).all()


# --- and with one another? ---------------------------------------------------------------------


def test_matsuzaki_repeats_its_baseline():
    same = ["score_mean", "score_sd", *(f"reached_{t}_percent" for t in (2048, 4096, 8192))]
    batches = load("matsuzaki2021_table3_")
    sizes = load("matsuzaki2021_table4_")
    baseline = pick(batches, batch_mode="batch1K")[same].tolist()
    assert pick(sizes, batch_size=1024)[same].tolist() == baseline
    plain = pick(load("matsuzaki2021_table5_"), augmentation="no", move_selection="simple")
    assert plain[same].tolist() == baseline
    assert pick(load("matsuzaki2021_table6_"), network="CNN22")[same].tolist() == baseline
    assert pick(load("matsuzaki2021_table7_"), network="CNN22")[same].tolist() == baseline
    small = pick(batches, batch_mode="batch64")[same].tolist()
    assert pick(sizes, batch_size=64)[same].tolist() == small


def test_matsuzaki_deeper_search_scores_more():
    table = load("matsuzaki2021_table10_").pivot(
        index="hours", columns="depth_ply", values="score_mean"
    )
    assert table.index.tolist() == list(range(24, 241, 24))
    assert ((table[1] < table[2]) & (table[2] < table[3])).all()


def test_jaskowski_summary_repeats_the_other_tables():
    summary = load("jaskowski2018_table7_")
    origin = {
        2: ("jaskowski2018_table2_", "TC(0.5)"),
        3: ("jaskowski2018_table2_", "delayed-TC(0.5)"),
        4: ("jaskowski2018_table3_", "2^4 stages, WP"),
        5: ("jaskowski2018_table4_", "42-33-4-22-3"),
        6: ("jaskowski2018_table4_", "42-33-4-22-3, CS"),
    }
    for step, (start, algorithm) in origin.items():
        for depth in (1, 3):
            ours = pick(summary, step=step, depth_ply=depth)
            theirs = pick(load(start), algorithm=algorithm, depth_ply=depth)
            for column in ("score_mean", "score_ci95", "days"):
                assert ours[column] == theirs[column], (step, depth, column)


def test_jaskowski_own_players_are_the_same_in_tables_5_and_6():
    ours = load("jaskowski2018_table6_").query("authors == 'This work'")
    table5 = load("jaskowski2018_table5_")
    for _, row in ours.iterrows():
        column = "depth_ply" if pd.notna(row["depth_ply"]) else "time_limit_ms"
        match = pick(table5, **{column: row[column]})
        assert match["score_mean"] == row["score_mean"]
        assert match["reached_32768_percent"] == row["reached_32768_percent"]
        if row["depth_ply"] == 3:  # the paper prints both, see the README
            assert (match["moves_per_s"], row["moves_per_s"]) == (1484, 1464)
        else:
            assert match["moves_per_s"] == row["moves_per_s"]


def test_jaskowski_tables_1_and_2_share_their_best_rates():
    """TC's 3-ply number is the standard algorithm's, all others the delayed one's (README)."""
    table1, table2 = load("jaskowski2018_table1_"), load("jaskowski2018_table2_")
    for rule, depth, delayed in [
        ("TD", 1, "yes"),
        ("TD", 3, "yes"),
        ("TC", 1, "yes"),
        ("TC", 3, "no"),
    ]:
        a = pick(table1, rule=rule, rate=1.0, depth_ply=depth)
        b = pick(table2, rule=rule, delayed=delayed, depth_ply=depth)
        assert (a["score_mean"], a["score_ci95"]) == (b["score_mean"], b["score_ci95"])
