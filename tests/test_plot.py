"""What a plot says can be read back from its artists: data, labels, units."""

import io
from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

from lib2048 import record_game, spec_threes, to_tiles  # noqa: E402
from lib2048.exact import SmallGame
from lib2048.show import plot
from lib2048.show.plot import COLOURS, short


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def frame(means, step=1000, **more):
    at = np.arange(1, len(means) + 1)
    return pd.DataFrame({"games": at * 10, "actions": at * step, "mean": means, **more})


def result(mean, ci95, reached):
    return SimpleNamespace(mean=mean, ci95=ci95, reached=lambda: reached, scores=[mean] * 3)


def tick_texts(axis):
    axis.axes.figure.canvas.draw()
    return [tick.get_text() for tick in axis.get_ticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def said(ax):
    return [text.get_text() for text in ax.texts]


# --------------------------------------------------------------------------------- numbers, style


@pytest.mark.parametrize("number, text", [
    (0, "0"), (0.25, "0.25"), (950, "950"), (999.4, "999.4"), (20_000, "20\u00a0k"),
    (31_234_567, "31.2\u00a0M"), (999_999, "1\u00a0M"), (1e10, "10¹⁰"), (-3.8e9, "−3.8·10⁹"),
    (-2500, "−2.5\u00a0k"),
])  # fmt: skip
def test_numbers_are_shortened_with_a_unit(number, text):
    assert short(number) == text


def test_the_style_stays_inside():
    before = dict(mpl.rcParams)
    plot.scores([1, 2, 3])
    plot.subplots()
    assert dict(mpl.rcParams) == before
    with plot.style():
        assert mpl.rcParams["axes.spines.top"] is False and mpl.rcParams["figure.dpi"] == 100


def test_every_figure_has_the_size_and_the_look_of_the_course():
    ax = plot.curves(frame([1, 2, 3]))
    assert tuple(ax.figure.get_size_inches()) == (6.4, 3.6) and ax.figure.dpi == 100
    assert not ax.spines["top"].get_visible() and not ax.spines["right"].get_visible()
    assert ax.xaxis.label.get_fontsize() >= 12 and ax.get_xgridlines()[0].get_visible()
    assert ax.lines[0].get_color() == COLOURS[0] == "#0072b2"


def test_a_plot_draws_into_the_axes_it_is_given():
    figure, axes = plot.subplots(1, 2)
    assert plot.scores([1, 2], ax=axes[1]) is axes[1] and not axes[0].patches
    assert plt.get_fignums() == [figure.number]


def test_a_picture_of_a_curve_is_small():
    file = io.BytesIO()
    plot.curves(frame(np.linspace(0, 6e4, 100))).figure.savefig(file)
    assert len(file.getvalue()) < 40_000


# ----------------------------------------------------------------------------------------- curves


def test_a_curve_is_drawn_over_actions_and_says_its_units():
    ax = plot.curves({"TD(0)": frame([1e3, 20e3], step=10**6)})
    assert ax.lines[0].get_xydata().tolist() == [[1e6, 1e3], [2e6, 20e3]]
    assert (
        ax.get_xlabel() == "actions taken in training" and ax.get_ylabel() == "mean score (points)"
    )
    assert legend(ax) == ["TD(0)"]
    assert "1\u00a0M" in tick_texts(ax.xaxis) and "20\u00a0k" in tick_texts(ax.yaxis)
    assert ax.get_ylim()[0] == 0 and ax.get_xlim()[0] == 0


LEGENDS = {  # every plot whose groups a reader names
    "curves": lambda name: plot.curves({name: frame([1, 2])}),
    "each": lambda name: plot.curves({name: frame([1, 2])}, each=True),
    "reference": lambda name: plot.curves(frame([1, 2]), reference={name: 2}),
    "scores": lambda name: plot.scores({name: [1, 2]}),
    "tiles": lambda name: plot.tiles({name: {64: 0.5}}),
    "differences": lambda name: plot.differences({name: differences(a=(1, 2))}),
    "regret": lambda name: plot.regret({name: regrets(a=(0.1, 0.05))}),
    "tradeoff": lambda name: plot.tradeoff(
        {name: pd.DataFrame([("x", 1, 2, 1)], columns=["name", "moves_per_s", "mean", "ci95"])}
    ),
}


@pytest.mark.parametrize("kind", LEGENDS)
@pytest.mark.parametrize("name", ["_mine", "mine", "50 %"])
def test_a_legend_has_every_name(kind, name):
    assert [text.strip() for text in legend(LEGENDS[kind](name))] == [name]


def test_one_curve_needs_no_legend_and_a_history_is_a_curve():
    ax = plot.curves(SimpleNamespace(frame=frame([5, 6])), x="games")
    assert ax.get_legend() is None
    assert ax.lines[0].get_xydata().tolist() == [[10, 5], [20, 6]]


def test_seeds_become_their_mean_and_a_band_from_lowest_to_highest():
    ax = plot.curves({"a": [frame([0, 10]), frame([10, 40])]})
    assert len(ax.lines) == 1 and ax.lines[0].get_ydata().tolist() == [5, 25]
    band = ax.collections[0].get_paths()[0].vertices
    assert {(2000, 10), (2000, 40), (1000, 0), (1000, 10)} <= set(map(tuple, band))


def test_seeds_are_averaged_only_where_all_have_been():
    early, late = frame([0, 10, 20], step=1000), frame([0, 10, 20], step=1500)
    line = plot.curves({"a": [early, late]}).lines[0]
    assert line.get_xdata()[0] == 1500 and line.get_xdata()[-1] == 3000
    assert line.get_ydata()[-1] == pytest.approx((20 + 10) / 2)


def test_each_seed_may_be_a_line_of_its_own_in_one_colour_under_one_label():
    both = {"a": [frame([0, 10]), frame([10, 40, 50])], "b": frame([1])}
    ax = plot.curves(both, each=True)
    assert [list(line.get_ydata()) for line in ax.lines] == [[0, 10], [10, 40, 50], [1]]
    assert [line.get_color() for line in ax.lines] == [COLOURS[0], COLOURS[0], COLOURS[1]]
    assert [line.get_markevery() for line in ax.lines] == [[-1]] * 3
    assert legend(ax) == ["a", "b"] and not ax.collections


def test_one_frame_with_intervals_gets_them_as_its_band():
    ax = plot.curves({"a": frame([10, 20], ci95=[1.0, 2.0])})
    band = set(map(tuple, ax.collections[0].get_paths()[0].vertices))
    assert {(1000, 9), (1000, 11), (2000, 18), (2000, 22)} <= band


def test_a_recorded_curve_is_grey_dashed_and_names_its_command():
    command = "lib2048 train --network 4x6 --rule td --alpha 0.1 --games 100000 --seed 1 --out run"
    ax = plot.curves({"live": frame([1, 2])}, recorded={command: [frame([1, 3]), frame([1, 4])]})
    live, recorded = ax.lines
    assert recorded.get_linestyle() == "--" and recorded.get_color() not in COLOURS
    assert live.get_linestyle() == "-"
    assert ax.figure.get_supxlabel().replace("\n", " ") == f"recorded: {command}"
    assert legend(ax) == ["live", "recorded, 2 seeds"]


def test_a_reference_is_a_horizontal_line_with_a_name():
    ax = plot.curves(frame([1, 2]), reference={"the lab program": 68664})
    assert set(ax.lines[1].get_ydata()) == {68664} and legend(ax) == ["the lab program"]


def test_a_long_run_can_be_seen_on_a_logarithmic_axis():
    assert plot.curves(frame([1, 2]), logx=True).get_xscale() == "log"


def test_shares_are_shown_in_per_cent():
    ax = plot.curves(frame([1, 2], reached_2048=[0.0, 0.5]), y="reached_2048")
    assert ax.get_ylabel() == "games that reach 2048 (%)" and "50" in tick_texts(ax.yaxis)


# ------------------------------------------------------------------------------- tiles and scores

REACHED = {
    "random": {64: 0.93, 128: 0.48, 256: 0.07},
    "TD": {"128": 1.0, "256": 0.997, "512": 0.914},
}


def test_tiles_are_grouped_bars_of_the_shares():
    ax = plot.tiles(REACHED)
    assert tick_texts(ax.xaxis) == ["64", "128", "256", "512"]
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    assert heights == [[0.93, 0.48, 0.07, 0.0], [1.0, 1.0, 0.997, 0.914]]
    assert legend(ax) == ["random", "TD"] and "(%)" in ax.get_ylabel() and ax.get_xlabel() == "tile"


def test_wide_bars_carry_their_numbers_below_the_upper_edge():
    ax = plot.tiles({"a": {64: 1.0, 128: 0.934, 256: 0.001, 512: 0}}, tiles=[64, 128, 256, 512])
    assert said(ax) == ["100", "93", "0.1", "0"]
    ax.figure.canvas.draw()
    top = max(text.get_window_extent().y1 for text in ax.texts)
    assert top < ax.get_legend().get_window_extent().y0 + 3


def test_bars_of_one_tile_stand_side_by_side():
    first, second = plot.tiles(REACHED).containers
    for left, right in zip(first, second):
        assert left.get_x() + left.get_width() <= right.get_x() + 1e-9


def test_tiles_that_all_reach_are_left_out_below_the_largest_such():
    table = plot.tile_table({"a": {32: 1, 64: 1, 128: 0.5, 256: 0}, "b": {32: 1, 64: 1, 128: 0.25}})
    assert list(table) == [64, 128]
    assert list(plot.tile_table(REACHED, tiles=[512])) == [512]
    assert plot.tile_table({"a": {}}).shape == (1, 0)


def test_a_tile_table_reads_as_in_the_papers():
    table = plot.tile_table({"greedy": result(3000.2, 40.6, {256: 0.78, 512: 0.3}), **REACHED})
    assert table.loc["greedy", "mean score"] == "3\u202f000\u00a0±\u00a041"
    assert table.loc["TD", "mean score"] == "?"
    assert table.loc["TD", 512] == "91.4\u00a0%" and table.loc["random", 512] == "–"
    assert "mean score" not in plot.tile_table(REACHED)


def test_what_a_result_does_not_say_is_not_invented():
    table = plot.tile_table(
        {"a": {512: 0.4}, "b": {256: 0.5, 1024: 0.0005}}, tiles=[256, 512, 1024]
    )
    assert table.loc["a", 256] == "?" and table.loc["a", 1024] == "–"
    assert table.loc["b", 512] == "?" and table.loc["b", 1024] == "0.05\u00a0%"


def test_a_histogram_shows_shares_and_the_mean():
    ax = plot.scores({"a": [0, 0, 0, 4000], "b": result(2000, 1, {})})
    assert max(ax.patches[0].get_xy()[:, 1]) == pytest.approx(0.75), "three games of four"
    assert not any(part.get_fill() for part in ax.patches), "fills over each other turn brown"
    assert set(ax.lines[0].get_xdata()) == {1000}
    assert ax.get_xlabel() == "score of a game (points)" and ax.get_ylabel() == "games (%)"
    assert legend(ax) == ["a", "b"] and "4\u00a0k" in tick_texts(ax.xaxis)


# ------------------------------------------------------------------------------------ comparisons


def test_a_ladder_prints_its_rates_and_ratios_on_a_logarithmic_axis():
    ax = plot.ladder(["lists", "numba"], [10_000, 31.2e6])
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "moves/s"
    assert [text.split() for text in said(ax)] == [["10", "k"], ["31.2", "M", "×", "3120"]]
    assert tick_texts(ax.yaxis) == ["lists", "numba"]
    assert ax.lines[0].get_xydata().tolist() == [[10_000, 0], [31.2e6, 1]] and not ax.patches
    top_is_first = ax.transData.transform((1, 0))[1] > ax.transData.transform((1, 1))[1]
    assert top_is_first


def test_a_rung_can_be_slower_than_the_one_before():
    assert said(plot.ladder(["a", "b"], [100, 75], unit="games/s"))[1].endswith("× 0.75")


def test_intervals_reach_as_far_as_they_say():
    ax = plot.intervals(["random", "greedy"], [1000, 3000], [10, 200])
    (segments,) = [c.get_segments() for c in ax.collections]
    assert segments[1][:, 0].tolist() == [2800, 3200]
    assert said(ax) == ["1\u202f000 ± 10", "3\u202f000 ± 200"]
    assert ax.get_xlabel() == "mean score (points)" and tick_texts(ax.yaxis) == ["random", "greedy"]


def differences(**rows):
    return pd.DataFrame(list(rows.values()), list(rows), ["percent", "half"])


def test_differences_stand_in_the_rows_of_the_first_group():
    groups = {"paper": differences(a=(-20, 5), b=(10, 2)), "ours": differences(b=(30, 6), c=(9, 9))}
    ax = plot.differences(groups)
    assert legend(ax) == ["paper", "ours"] and tick_texts(ax.yaxis) == ["a", "b"]
    paper, ours = [c.get_segments() for c in ax.collections]
    assert [part[:, 0].tolist() for part in paper] == [[-25, -15], [8, 12]]
    assert [part[:, 0].tolist() for part in ours] == [[24, 36]]
    assert paper[1][0, 1] < 1 < ours[0][0, 1]  # side by side in row b


def test_every_row_that_is_not_decided_is_hollow():
    frame = pd.DataFrame({"percent": [1.0, 1.0, 5.0], "half": [2.0, 2.0, 1.0]}, index=[*"abc"])
    marks = [line for line in plot.differences({"ours": frame}).lines if line.get_zorder() == 3]
    assert [len(line.get_xdata()) for line in marks if line.get_markerfacecolor() == "white"] == [2]


def test_a_group_without_differences_is_not_in_the_legend():
    groups = {"paper": differences(a=(-20, 5)), "ours": differences()}
    ax = plot.differences(groups)
    assert legend(ax) == ["paper"] and ax.collections[0].get_segments()[0][0, 1] == 0


def regrets(**rows):
    return pd.DataFrame(list(rows.values()), list(rows), ["regret", "half"])


def test_regret_stands_in_per_cent_above_its_group():
    groups = {"one": regrets(a=(0.2, 0.05), b=(0, 0.01)), "two": regrets(b=(0.1, 0.02))}
    ax = plot.regret(groups)
    assert legend(ax) == ["one", "two"] and tick_texts(ax.xaxis) == ["a", "b"]
    one, two = [c.get_segments() for c in ax.collections]
    assert [part[:, 1].tolist() for part in one] == [[15, 25], [-1, 1]]
    assert np.allclose(two[0][:, 1], [8, 12]) and one[1][0, 0] < 1 < two[0][0, 0]
    with pytest.raises(ValueError, match="no regret to draw"):
        plot.regret({"one": regrets()})


def test_a_tradeoff_names_its_players_on_a_logarithmic_axis():
    rows = {"name": ["1-ply", "2-ply"], "moves_per_s": [1e6, 1e4], "mean": [5, 9], "ci95": [1, 2]}
    ax = plot.tradeoff({"ours": pd.DataFrame(rows)})
    assert ax.get_xscale() == "log" and legend(ax) == ["ours"]
    assert ax.lines[0].get_xydata().tolist() == [[1e4, 9], [1e6, 5]]
    assert said(ax) == ["2-ply", "1-ply"]
    twice = plot.tradeoff({who: pd.DataFrame(rows) for who in ("ours", "theirs")})
    boxes = [text.get_window_extent() for text in twice.texts]
    assert len(boxes) == 4 and not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("speed (moves/s)", "mean score (points)")


# ------------------------------------------------------------------------------- values and games


def test_a_heat_map_names_tiles_and_units():
    ax = plot.heat(np.arange(12).reshape(3, 4), "cell 1", "cell 0", "value (points)")
    assert tick_texts(ax.xaxis) == ["0", "2", "4", "8"]
    assert tick_texts(ax.yaxis) == ["0", "2", "4"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("cell 1", "cell 0")
    assert ax.figure.axes[1].get_ylabel() == "value (points)"
    first = ax.transData.transform((0, 0))[1]
    assert first < ax.transData.transform((0, 2))[1], "row 0 is at the bottom"


def test_a_heat_map_of_both_signs_is_white_at_zero():
    image = plot.heat([[-10, 0], [5, np.nan]], "x", "y", "weight (points)").images[0]
    assert image.norm.vmin == -10 and image.norm.vmax == 10
    assert min(image.cmap(image.norm(0.0))[:3]) > 0.95
    red, _, blue, _ = image.cmap(image.norm(-10.0))
    assert red > blue


def test_numbers_stand_in_a_small_heat_map_but_not_where_there_is_none():
    ax = plot.heat([[1, 2500], [np.nan, 3]], "x", "y", "v")
    assert {t.get_text(): t.get_position() for t in ax.texts} == {
        "1": (0, 0),
        "2.5\u00a0k": (1, 0),
        "3": (1, 1),
    }
    assert not plot.heat(np.ones((9, 9)), "x", "y", "v").texts
    assert not plot.heat(np.ones((2, 2)), "x", "y", "v", numbers=False).texts


def steps(values=(30, 12, 0)):
    boards = [0x8, 0x9, 0x9]
    taken = [
        SimpleNamespace(board=b, action=0, reward=r, afterstate=b, value=v)
        for r, v, b in zip((10, 20, 4), values, boards)
    ]
    return [*taken, SimpleNamespace(reward=0, value=0, afterstate=0x9, action=None)]


def test_a_game_shows_its_score_and_what_was_expected():
    ax = plot.game(steps())
    lines = {line.get_label(): line for line in ax.lines}
    assert lines["score"].get_xydata().tolist() == [[1, 10], [2, 30], [3, 34]]
    assert lines["score + value"].get_ydata().tolist() == [40, 42, 34]
    assert set(lines["final score"].get_ydata()) == {34}
    assert ax.get_xlabel() == "action of the game" and ax.get_ylabel() == "points"


def test_a_game_marks_when_a_new_largest_tile_was_made():
    ax = plot.game(steps())
    assert said(ax) == ["512"] and ax.texts[0].xy[0] == 2


def test_a_game_of_threes_has_its_own_scores_and_tiles():
    taken = record_game("greedy", game="threes")
    ax = plot.game(taken, "threes")
    score = {line.get_label(): line for line in ax.lines}["score"].get_ydata()
    board = to_tiles(taken[-1].afterstate, "threes")
    assert score[-1] == spec_threes.score(board) and said(ax) == ["192"]
    with pytest.raises(ValueError, match="unknown game"):
        plot.game(taken, "fours")


def test_layers_tell_the_visited_boards_from_the_others():
    values = SmallGame(2, 2, progress=False).optimal()
    ax = plot.layers(values)
    others, visited = ax.collections
    seen = values.visits() >= 1e-4
    assert (len(others.get_offsets()), len(visited.get_offsets())) == ((~seen).sum(), seen.sum())
    assert visited.get_offsets().max(axis=0)[1] == values.afterstate_values[seen].max()
    assert visited.get_offsets()[:, 0].min() == 4
    assert visited.get_sizes().argmax() == values.visits()[seen].argmax()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sum of the tiles", "points still to come")
    assert legend(ax) == ["other afterstates", "optimal play"]


def test_layers_write_boards_beside_their_dots():
    values, board = SmallGame(2, 2, progress=False).optimal(), ((16, 2), (0, 4))
    [note] = plot.layers(values, [board]).texts
    assert note.get_text() == "16  2\n ·  4"
    assert note.xy == (22, values.afterstate(board))
    with pytest.raises(ValueError, match="no afterstate"):
        plot.layers(values, [((2, 2), (2, 2))])


def test_a_game_without_values_shows_the_score_alone():
    assert "score + value" not in legend(plot.game(steps((None, None, None))))


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: plot.curves({"a": []}), "'a': there is no frame"),
        (lambda: plot.curves({"a": frame([])}), "'a': the frame has no rows"),
        (lambda: plot.curves({"a": frame([1])}, y="score"), "no column 'score'; it has games"),
        (lambda: plot.curves({"a": [1, 2]}), "a pandas frame is needed, not int"),
        (lambda: plot.curves([frame([1]), frame([1], step=9)]), "no stretch of actions in common"),
        (lambda: plot.tiles({}), "no results"),
        (lambda: plot.tile_table({"a": {64: 93}}), "a: the share of 64 is between 0 and 1, not 93"),
        (lambda: plot.scores([]), "no scores"),
        (lambda: plot.ladder(["a"], [0]), "above 0"),
        (lambda: plot.ladder(["a"], [1, 2]), "1 names need as many numbers, not 2"),
        (lambda: plot.intervals([], [], []), "0 names"),
        (lambda: plot.intervals(["a"], [1], []), "1 names need as many numbers, not 0"),
        (lambda: plot.differences({"a": differences()}), "no differences"),
        (lambda: plot.differences({"a": frame([1])}), "'a': no column 'percent'"),
        (lambda: plot.tradeoff({}), "no players"),
        (lambda: plot.tradeoff({"a": frame([1])}), "'a': no column 'name'"),
        (lambda: plot.heat([1, 2], "x", "y", "v"), "needs a matrix"),
        (lambda: plot.heat([[np.nan]], "x", "y", "v"), "at least one number"),
        (lambda: plot.heat([[1]], "x", "y", "v", xticks="ab"), "need as many ticks, not 2"),
        (lambda: plot.layers(SimpleNamespace(boards=range(100_001))), "too many to draw"),
        (lambda: plot.game([]), "no actions"),
        (lambda: plot.game(steps()[-1:]), "no actions"),
    ],
)
def test_bad_input_is_answered_by_one_clear_line(refused, call, says):
    refused(call, says)
