"""Pictures are text: what they show can be read back from their elements."""

import base64
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from lib2048.game.board import from_tiles
from lib2048.game.game import FAMILIES, new_game
from lib2048.show import draw
from lib2048.show.draw import ACCENT, EMPTY, TILE_COLOURS, Picture, tile_colour
from lib2048.show.raster import pixels
from lib2048.show.widgets.base import style_sheet

GAMES = [new_game(family=number) for number, _ in enumerate(FAMILIES)]
TILES = [[2, 4, 8, 16], [256, 128, 64, 32], [512, 1024, 2048, 4096], [0, 0, 0, 32768]]
BOARD = sum(
    (tile.bit_length() - 1) << 4 * (4 * r + c)
    for r, row in enumerate(TILES)
    for c, tile in enumerate(row)
    if tile
)


def elements(picture, kind):
    """Return (absolute x, absolute y, element) of every element of one kind, in reading order."""
    found = []

    def walk(node, x, y):
        shift = re.match(r"translate\((\S+) (\S+)\)", node.get("transform", ""))
        x, y = (x + float(shift[1]), y + float(shift[2])) if shift else (x, y)
        if node.tag.endswith("}" + kind):
            found.append((x + float(node.get("x", 0)), y + float(node.get("y", 0)), node))
        for child in node:
            walk(child, x, y)

    walk(ET.fromstring(picture.svg), 0, 0)
    return found


def texts(picture):
    return [node.text for _, _, node in elements(picture, "text")]


def squares(picture, side=None):
    """Return (x, y, fill) of the cells: the filled rectangles that are square and small."""
    found = [(x, y, node) for x, y, node in elements(picture, "rect")]
    found = [f for f in found if f[2].get("width") == f[2].get("height")]
    found = [f for f in found if float(f[2].get("width")) < 60 and f[2].get("fill") != "none"]
    return [(x, y, node.get("fill")) for x, y, node in found]


def outlines(picture):
    return [(x, y) for x, y, node in elements(picture, "rect") if node.get("stroke") == ACCENT]


# ---------------------------------------------------------------------------------------- boards


def test_every_tile_has_the_colour_of_the_game():
    fills = [fill for _, _, fill in squares(draw.board(BOARD))]
    flat = [tile for row in TILES for tile in row]
    assert fills == [tile_colour(tile)[0] for tile in flat]
    assert len({tile_colour(2**exponent) for exponent in range(1, 17)}) == 16
    assert fills[:4] == ["#eee4da", "#ede0c8", "#f2b179", "#f59563"]
    assert fills[4:8] == ["#edcc61", "#edcf72", "#f65e3b", "#f67c5f"]
    assert fills[8:11] == ["#edc850", "#edc53f", "#edc22e"]
    assert (fills[11], fills[15]) == ("#3c3a32", "#5b3a86")
    assert fills[12:15] == [EMPTY] * 3 == ["#cdc1b4"] * 3


def luminance(colour):
    """Return the relative luminance of '#rrggbb', as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


EVERY_TILE = [(game, tile) for game in GAMES for tile in draw.palette(game)]


@pytest.mark.parametrize("game, tile", [*EVERY_TILE, (GAMES[0], 2**17)])
def test_every_number_can_be_read(game, tile):
    light, dark = sorted(map(luminance, tile_colour(tile, game)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_the_browser_has_the_same_colours():
    board = Path(draw.__file__).parent / "widgets/board.js"
    rules = style_sheet(board)
    pattern = r'="(\w+)"\]\[data-tile="(\w+)"\] \{ background: (#\w+); color: (#\w+); \}'
    found = {(name, tile): looks for name, tile, *looks in re.findall(pattern, rules)}
    assert found == {(g.rules.NAME, str(tile)): [*tile_colour(tile, g)] for g, tile in EVERY_TILE}
    assert re.search(r"\.lib-cell \{[^}]*background: (#\w+)", rules)[1] == EMPTY


def test_tiles_are_written_in_reading_order_and_empty_cells_are_blank():
    assert texts(draw.board(BOARD)) == [str(tile) for row in TILES for tile in row if tile]


def test_each_number_stands_in_the_middle_of_its_cell():
    picture = draw.board(BOARD, size=200)
    side = 200 / 4.5
    cells = squares(picture)
    for (x, y, node), (left, top, _) in zip(elements(picture, "text"), cells[:12] + cells[15:]):
        assert x == pytest.approx(left + side / 2, abs=0.2)
        baseline = 0.36 * float(node.get("font-size"))
        assert y - baseline == pytest.approx(top + side / 2, abs=0.2)


def test_long_numbers_fit_their_cell():
    board = [[2**17, 2**16], [1024, 128]]
    picture = draw.board(board, size=100)
    for _, _, node in elements(picture, "text"):
        assert 0.62 * float(node.get("font-size")) * len(node.text) < 100 / 2.3


def test_an_integer_a_numpy_integer_and_a_list_give_the_same_text():
    assert draw.board(BOARD).svg == draw.board(np.uint64(BOARD)).svg == draw.board(TILES).svg
    assert draw.board(np.array(TILES)).svg == draw.board(TILES).svg


@pytest.mark.parametrize("rows, cols", [(1, 4), (2, 2), (2, 3), (3, 2), (4, 4)])
def test_a_board_of_any_shape_has_all_its_cells_inside_its_frame(rows, cols):
    picture = draw.board([[2] * cols for _ in range(rows)], size=120)
    cells = squares(picture)
    assert len(cells) == rows * cols and len({(x, y) for x, y, _ in cells}) == rows * cols
    assert max(picture.width, picture.height) == pytest.approx(120)
    side = 120 / (1.1 * max(rows, cols) + 0.1)
    assert max(x for x, _, _ in cells) + side < 10 + picture.width
    assert max(y for _, y, _ in cells) + side < 10 + picture.height


@pytest.mark.parametrize("rows, cols", [(1, 4), (2, 3), (3, 4), (4, 1)])
def test_a_packed_board_is_drawn_at_its_game_s_size(rows, cols):
    game, tiles = new_game(rows, cols), [[2 << r + c for c in range(cols)] for r in range(rows)]
    packed, cells = from_tiles(tiles, game), [0, 4 * rows - 4 + cols - 1]
    assert draw.board(packed, game=game.name).svg == draw.board(tiles).svg
    turn = [(1, packed, 2, 3.0)]
    assert draw.choice(packed, turn, game=game).svg == draw.choice(tiles, [(1, tiles, 2, 3)]).svg
    told = draw.tuple(cells, game=game)
    assert texts(told) == ["0", "1"] and len(squares(told)) == rows * cols + 2
    assert draw.tuples([cells], game=game).text.endswith("".join(f"{c:x}" for c in cells))
    assert sorted(texts(draw.pattern(cells, [1, 3], game=game))) == ["2", "8"]
    high, wide, _ = pixels(packed, 200, game).shape
    assert max(high, wide) == 200 and (high < wide) == (rows < cols)


@pytest.mark.parametrize("word, card", [(8, "1"), (9, "2"), (10, "3"), (3, "bonus")])
def test_the_card_that_comes_next_stands_beside_the_board(word, card):
    board = from_tiles([[1, 2, 3], [6, 0, 12288]], "threes@2x3")
    alone = draw.board(board, game="threes@2x3")
    assert texts(alone) == ["1", "2", "3", "6", "12288"]
    picture = draw.board(board, game="threes@2x3", word=word)
    assert texts(picture) == [*texts(alone), card, "next"] and picture.width > alone.width + 40
    assert draw.board(BOARD, word=0).svg == draw.board(BOARD).svg, "2048 shows nothing"


@pytest.mark.parametrize("cell, number", [(6, 6), ((1, 2), 6), (np.int64(0), 0), ((3, 3), 15)])
def test_highlight_outlines_that_cell(cell, number):
    picture = draw.board(BOARD, highlight=[cell])
    assert outlines(picture) == [squares(picture)[number][:2]]


def test_a_mark_stands_in_an_empty_cell_or_as_a_badge_on_a_tile():
    picture = draw.board(BOARD, marks={12: "a", (1, 1): "b"})
    where = {node.text: (x, y) for x, y, node in elements(picture, "text")}
    cells = [c for c in squares(picture) if c[2] != ACCENT]
    empty, tile = cells[12], cells[5]
    assert empty[0] < where["a"][0] < empty[0] + 44 and empty[1] < where["a"][1] < empty[1] + 44
    assert where["b"][0] < tile[0] + 15 and where["b"][1] < tile[1] + 15
    assert where["b"][1] < where["128"][1]


def test_a_caption_stands_below_and_is_wrapped_and_escaped():
    picture = draw.board(BOARD, caption="r < 4 & a caption that is longer than the board is wide")
    lines = [(y, node.text) for _, y, node in elements(picture, "text")][13:]
    assert " ".join(text for _, text in lines).startswith("r < 4 & a caption")
    assert len(lines) > 1 and all(y > 10 + 200 for y, _ in lines)
    assert lines == sorted(lines)
    assert picture.height > draw.board(BOARD).height


@pytest.mark.parametrize("odd", ["\x00", "\x1b[31m", "\x0b", "\ud800", "\ufffe", "]]>", "</text>"])
def test_a_caption_with_what_xml_cannot_hold_is_still_a_picture(odd):
    picture = draw.board(BOARD, caption=f"a{odd}b")
    assert re.search("a.{1,7}b$", "".join(ET.fromstring(picture.svg).itertext()).strip())
    ET.fromstring(picture._repr_html_().replace(">", "/>").encode())


# --------------------------------------------------------------------------------------- pictures


def test_pictures_are_small_and_self_contained():
    picture = draw.board(BOARD, caption="a caption", highlight=range(4), marks={15: "!"})
    assert len(picture.svg.encode()) < 4096
    assert re.findall(r"<(?!/)(\w+)", picture.svg)[0] == "svg"
    assert set(re.findall(r"<(\w+)", picture.svg)) <= {"svg", "g", "rect", "text", "path"}
    assert not re.search("style|href|id=|class", picture.svg)


def test_the_card_behind_a_picture_is_opaque_and_covers_all_of_it():
    picture = draw.board(BOARD)
    _, _, card = elements(picture, "rect")[0]
    root = ET.fromstring(picture.svg)
    assert card.get("fill") == "#faf8ef"
    assert (card.get("width"), card.get("height")) == (root.get("width"), root.get("height"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


def test_a_notebook_gets_an_image_that_untrusted_pages_show_too():
    picture = draw.board([[2, 0], [4, 8]], caption='a < "b"')
    image = ET.fromstring(picture._repr_html_().replace('max-width:100%">', 'max-width:100%"/>'))
    kind, data = image.get("src").split(",")
    assert image.tag == "img" and kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == picture.svg
    assert image.get("alt") == '2 . / 4 8 · a < "b"'
    assert not hasattr(picture, "_repr_svg_"), "both would be stored, and one of them shown"


def test_a_terminal_says_what_is_drawn():
    assert repr(draw.board([[2, 0], [4, 8]])) == "<Picture 2 . / 4 8>"
    assert len(repr(draw.row([BOARD] * 9))) < 120


def test_a_picture_can_be_saved(tmp_path):
    draw.board(BOARD).save(tmp_path / "board.svg")
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == draw.board(BOARD).svg + "\n"


# ----------------------------------------------------------------------------------------- curves


def corners(picture):
    """Return the points of each curve."""
    paths = [node.get("d") for _, _, node in elements(picture, "path") if "L" in node.get("d")]
    return [[tuple(map(float, p.split())) for p in path[1:].split("L")] for path in paths]


def test_curves_share_their_scales_and_begin_at_nothing():
    curves = {"td": [(0, 0), (50, 100)], "tc": [(50, 50), (100, 200)], "later": []}
    picture = draw.curves(curves, "actions", "points", width=400, height=100)
    td, tc = corners(picture)
    assert td == [(0, 120), (200, 70)] and tc == [(200, 95), (400, 20)]
    assert picture.text == "points, up to 200; actions, up to 100"
    assert {"td", "tc", "later"} <= {node.text for _, _, node in elements(picture, "text")}


@pytest.mark.parametrize("low, high", [(5, 100), (60, 100), (50, 52), (0, 50)])
def test_no_curve_runs_through_the_legend(low, high):
    curves = {"expected": [(x, high) for x in range(100)], "so far": [(x, low) for x in range(100)]}
    picture = draw.curves(curves, "actions", "points", width=520, height=150)
    names = [y for _, y, node in elements(picture, "text") if node.text in curves]
    for end in (low, high):
        at = 150 + draw.LINE - 150 * end / high
        assert len(names) == 2 and all(abs(y - at) > 8 for y in names)


def test_a_legend_goes_to_the_left_where_the_right_is_full():
    falling = [(x, min(100, 300 - 3 * x)) for x in range(100)]
    curves = {"expected": falling, "so far": [(x, 4) for x in range(100)]}
    picture = draw.curves(curves, "actions", "points", width=520, height=150)
    [(x, _, _)] = [found for found in elements(picture, "text") if found[2].text == "so far"]
    assert x < 260


def test_curves_without_points_say_so_and_too_many_are_refused(refused):
    assert "no game is over yet" in draw.curves({"td": []}, "actions", "points").text
    five = dict.fromkeys("abcde", [])
    refused(lambda: draw.curves(five, "x", "y"), "5 curves: there are colours for 4")


# ------------------------------------------------------------------------------------------- rows


def frames(picture):
    return [(x, y) for x, y, node in elements(picture, "rect") if node.get("fill") == "#bbada0"]


def test_a_row_lines_its_boards_up_with_captions_and_labelled_arrows():
    picture = draw.row([BOARD] * 3, ["s", "s′", "s″"], ["Up, +8", "spawn"])
    assert len({y for _, y in frames(picture)}) == 1 and len(frames(picture)) == 3
    xs = {node.text: x for x, _, node in elements(picture, "text")}
    assert xs["s"] < xs["Up, +8"] < xs["s′"] < xs["spawn"] < xs["s″"]
    assert len(elements(picture, "path")) == 4  # two arrows, each a shaft and a head


def test_boards_of_other_height_are_centred_on_the_same_line():
    picture = draw.row([[[2, 2, 4, 0]], BOARD], ["a row", "a longer caption of two lines at least"])
    (_, top_row), (_, top_board) = frames(picture)
    row_height = 150 / 4.5 * 1.2
    assert top_row + row_height / 2 == pytest.approx(top_board + 75, abs=0.2)


def test_a_long_row_wraps_and_stays_narrow():
    picture = draw.row([BOARD] * 7, arrows=["a"] * 6, width=640)
    rows = sorted({y for _, y in frames(picture)})
    assert len(rows) == 3 and picture.width <= 640
    assert [y for _, y in frames(picture)] == sorted(y for _, y in frames(picture))


def test_an_arrow_without_a_text_is_left_out_only_for_none():
    assert len(elements(draw.row([BOARD] * 3, arrows=[None, ""]), "path")) == 2
    assert len(elements(draw.row([BOARD] * 3), "path")) == 0


def test_rows_nest():
    inner = draw.row([BOARD, BOARD])
    assert isinstance(inner, Picture)
    assert len(frames(draw.row([inner, BOARD]))) == 3
    assert draw.row([inner]).svg == inner.svg


# ----------------------------------------------------------------------------------------- tuples


def test_a_tuple_fills_its_cells_and_numbers_them_in_its_order():
    cells = [4, 0, 9]
    picture = draw.tuple(cells)
    blue = [(x, y) for x, y, fill in squares(picture) if fill == ACCENT]
    grid = [(x, y) for x, y, fill in squares(picture) if fill == EMPTY]
    assert blue == [grid[cell] for cell in cells]
    assert texts(picture) == ["0", "1", "2"]
    assert texts(draw.tuple(cells, numbered=False)) == []


def test_a_tuple_on_a_board_outlines_what_it_reads_and_pales_the_rest():
    picture = draw.tuple([0, 1, 5], board=BOARD, size=150)
    cells = [c for c in squares(picture) if c[2] != ACCENT]
    assert outlines(picture) == [cells[i][:2] for i in (0, 1, 5)]
    pale = {node.text for _, _, node in elements(picture, "text") if node.get("opacity")}
    assert pale == {str(t) for row in TILES for t in row if t} - {"2", "4", "128"}


def test_small_multiples_name_each_tuple_as_networks_do():
    picture = draw.tuples([(0, 1, 2, 4, 5, 6), (4, 5, 6, 8, 9, 10)])
    assert texts(picture)[6::7] == ["012456", "45689a"]
    assert len(frames(picture)) == 2
    assert sorted(texts(draw.tuples([[0], [1]], captions=["a", None]))) == ["0", "0", "a"]


def test_a_pattern_shows_its_tiles_and_its_weight():
    picture = draw.pattern((0, 1, 2, 6), (1, 0, 11, 15), -12345.6)
    assert texts(picture) == ["2", "2048", "32768", "−12\u202f346"]
    cells = squares(picture)
    assert outlines(picture) == [cells[i][:2] for i in (0, 1, 2, 6)]
    assert cells[2][2] == TILE_COLOURS[2048]
    assert picture.body.count('opacity=".6"') == 12  # the cells outside are hatched
    assert texts(draw.pattern([0], [1], 1.25))[-1] == "+1.2"
    assert texts(draw.pattern([0], [1])) == ["2"]


# -------------------------------------------------------------------------------------- decisions


def choice(**more):
    rows = [(1, BOARD, 4, 1041.2), ("Left", TILES, 8, 980.5), (0, BOARD, 16, -812)]
    return draw.choice(BOARD, rows, **more)


def test_a_choice_shows_reward_plus_value_and_marks_the_best():
    said = texts(choice())
    assert "4 + 1\u202f041 = 1\u202f045" in said and "16 − 812 = −796" in said
    assert "Right · chosen" in said and {"Up", "Down", "Left"} <= set(said)
    assert said.index("not legal") == said.index("Down") + 1
    assert len(frames(choice())) == 5


def test_the_frame_of_the_best_is_around_its_afterstate():
    (frame,) = outlines(choice())
    where = {node.text: (x, y) for x, y, node in elements(choice(), "text")}
    assert frame[0] < where["Right · chosen"][0] < frame[0] + 120
    assert where["Right · chosen"][1] > frame[1] + 120
    assert outlines(draw.choice(BOARD, [(0, BOARD, 0, 1), (3, BOARD, 0, 2)])) != [frame]


def test_of_equal_sums_the_first_action_is_best():
    said = texts(draw.choice(BOARD, [(2, BOARD, 4, 0), (1, BOARD, 0, 4)]))
    assert "Right · chosen" in said and "Down" in said


# ------------------------------------------------------------------------------------------ trees


def spawn_in(cell, exponent, chance, action, worth):
    return (chance, BOARD | exponent << 4 * cell, action, worth)


def tree(**more):
    one_left = [spawn_in(12, 1, 0.9, None, 0), spawn_in(12, 2, 0.1, "Up", 108)]
    three_left = [spawn_in(12, 1, 0.3, 0, 50)] + [spawn_in(13, 1, 0.1, 3, 1234.5)] * 7
    return draw.tree(BOARD, [(1, BOARD, 8, one_left), ("Left", BOARD, 4, three_left)], **more)


def test_a_tree_shows_chances_answers_and_how_many_it_leaves_out():
    said = texts(tree())
    assert said.index("90 %") < said.index("10 %") < said.index("30 %")
    assert said.count("dead end") == 1 and said[said.index("dead end") + 1] == "0"
    assert said[said.index("1\u202f234") - 1] == "Left" and "and 6 more" in said
    assert len(frames(tree())) == 1 + 2 + 4
    assert len(frames(tree(shown=9))) == 1 + 2 + 10 and "and 6 more" not in texts(tree(shown=9))


def test_a_tree_adds_the_reward_to_the_mean_over_all_spawns_drawn_or_not():
    assert "8 + 10.8 = 18.8" in texts(tree())
    assert {"4 + 879 = 883", "Left · chosen"} <= set(texts(tree()))  # .3·50 + .7·1234.5
    heavy = [node for _, _, node in elements(tree(), "path") if node.get("stroke-width") == "4"]
    assert [node.get("stroke") for node in heavy] == [ACCENT]


def test_a_tree_grows_to_the_right_and_outlines_each_new_tile():
    picture = tree()
    (root, *rest) = frames(picture)
    assert all(x > root[0] + 120 for x, _ in rest)
    assert len({round(x) for x, _ in rest}) == 2  # afterstates in one column, spawns in the next
    assert len(outlines(picture)) == 1 + 4  # the best afterstate, and the tile that came in each
    assert picture.width < 640


def test_the_lines_of_a_tree_end_at_the_middle_of_their_boards():
    picture = tree(shown=9)
    middles = [y + 48 for x, y in frames(picture) if x > 300]
    paths = [(y, node.get("d")) for _, y, node in elements(picture, "path")]
    ends = [y + float(path.split()[-1].split("H")[0]) for y, path in paths]
    assert all(min(abs(end - middle) for end in ends) < 0.2 for middle in middles)


def test_everything_in_a_tree_lies_inside_its_card():
    for picture in (tree(), tree(shown=1), draw.tree(BOARD, [(0, BOARD, 0, [(1, BOARD, 0, 1)])])):
        for x, y, node in elements(picture, "rect"):
            assert x >= 0 and x + float(node.get("width")) <= picture.width + 20.2
            assert y >= 0 and y + float(node.get("height")) <= picture.height + 20.2


# -------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: draw.board("2048"), "a board is"),
        (lambda: draw.board(-1), "-0x1 is no board: 64 bits"),
        (lambda: draw.board(1 << 64), "64 bits"),
        (lambda: draw.board(2.5), "a board is"),
        (lambda: draw.board([]), "not empty"),
        (lambda: draw.board([[2, 4], [2]]), "one length"),
        (lambda: draw.board([[2, 3]]), "one of 0, 2, 4, 8 …, not 3"),
        (lambda: draw.board([[1]]), "not 1"),
        (lambda: draw.board([["2"]]), "a board is"),
        (lambda: draw.board([2, 4]), "a board is"),
        (lambda: draw.board(BOARD, highlight=[16]), "cell 16 is not on a 4×4 board"),
        (lambda: draw.board(BOARD, highlight=[(0, 4)]), "cell (0, 4)"),
        (lambda: draw.board(BOARD, highlight=["a"]), "a cell is"),
        (lambda: draw.choice(BOARD, [(4, BOARD, 2, 1)]), "an action is 0..3 or one of Up, Right,"),
        (lambda: draw.choice(BOARD, [("up", BOARD, 2, 1)]), "not 'up'"),
        (lambda: draw.choice(BOARD, [(1.0, BOARD, 2, 1)]), "not 1.0"),
        (lambda: draw.choice(BOARD, [(np.array([1, 2]), BOARD, 2, 1)]), "an action is"),
        (lambda: draw.board(BOARD, size=0), "size is"),
        (lambda: draw.row([]), "nothing to draw"),
        (lambda: draw.row([BOARD], captions=["a", "b"]), "captions needs 1 texts, not 2"),
        (lambda: draw.row([BOARD] * 2, arrows=["a", "b"]), "arrows needs 1 texts, not 2"),
        (lambda: draw.tuple([]), "at least one cell"),
        (lambda: draw.tuple([1, 1]), "none twice"),
        (lambda: draw.tuple([16]), "cell 16"),
        (lambda: draw.tuple([3], game="2048@3x3"), "cell (0, 3) is not on a 3×3 board"),
        (lambda: draw.board(1 << 12, game="2048@3x3"), "has tiles outside of those of 2048@3x3"),
        (lambda: draw.board([[1, 4]], game="threes"), "one of 0, 1, 2, 3 …, not 4"),
        (lambda: draw.board(BOARD, game="chess"), "unknown game 'chess'"),
        (lambda: draw.board(BOARD, game=3), "a game is written as its name"),
        (lambda: draw.tuple([1], board=[[2]], game="2048@2x2"), "the board is 1×1, not 2×2"),
        (lambda: draw.tuple([1], board=[[2, 4]]), "the board is 1×2, not 4×4"),
        (lambda: draw.pattern([1, 2], [1]), "2 cells need as many exponents, not 1"),
        (lambda: draw.pattern([1], [18]), "an exponent is"),
        (lambda: draw.choice(BOARD, []), "rows is empty"),
        (lambda: draw.choice(BOARD, [(7, BOARD, 0, 0)]), "an action is"),
        (lambda: draw.tree(BOARD, []), "at least one branch"),
        (lambda: tree(shown=0), "one spawn to show"),
        (lambda: draw.tree(BOARD, [(0, BOARD, 0, [(0.5, BOARD, 0, 1)])]), "after Up add up to 0.5"),
    ],
)
def test_bad_input_is_answered_by_one_clear_line(refused, call, says):
    refused(call, says)
