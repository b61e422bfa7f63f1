"""Boards, tuples and decisions as SVG text, in the colours of the original game.

Every function returns a `Picture`: rectangles, texts and paths whose looks are written as
attributes. There is no style sheet, script, link or nested svg, so it looks the same wherever SVG
is drawn. The same input gives the same text, on every machine.

A *board* is one 64-bit integer (cell p, row-major, holds its exponent at bits 4p), or, as in
`spec`, a list of rows of tiles of any shape. A *cell* is its number p = row × columns + column, or
the pair (row, column); the cells of a tuple are numbered as on 4×4, whatever the board. A *game*
is a `Game` or its name: its size is that of a packed board, its tiles are those that are drawn.
"""

import operator
import textwrap
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from lib2048.game.bits import LARGEST_EXPONENT, WHOLE
from lib2048.game.board import to_tiles
from lib2048.game.game import Game, parse_game
from lib2048.game.spec import ACTIONS
from lib2048.machine.files import write_text
from lib2048.machine.printed import set_apart, thousands
from lib2048.show.words import escaped, image, says_what

__all__ = [
    "TILE_COLOURS",
    "Picture",
    "board",
    "choice",
    "curves",
    "pattern",
    "row",
    "tree",
    "tuple",
    "tuples",
    "tile_colour",
]

PAGE, FRAME, EMPTY = "#faf8ef", "#bbada0", "#cdc1b4"
DARK = "#776e65"  # captions
INK, LIGHT = "#2f2923", "#f9f6f2"  # numbers on light and on dark tiles: contrast at least 4.5
ACCENT = "#0072b2"  # whatever is said *about* a board is blue: no tile is
TILE_COLOURS = {
    2: "#eee4da",
    4: "#ede0c8",
    8: "#f2b179",
    16: "#f59563",
    32: "#f67c5f",
    64: "#f65e3b",
    128: "#edcf72",
    256: "#edcc61",
    512: "#edc850",
    1024: "#edc53f",
    2048: "#edc22e",
    4096: "#3c3a32",
    8192: "#2e6b3a",
    16384: "#0f6470",
    32768: "#5b3a86",
    65536: "#8a1c4a",
}
LARGEST_COLOUR = "#3c3a32"  # above them
DARK_TILES = {*list(TILE_COLOURS.values())[11:], LARGEST_COLOUR}  # their numbers are light
THREES_COLOURS = {  # two that make a 3 are apart from each other and from the others, all sand
    "bonus": "#f5f0e6",  # some larger one
    1: "#a3c6dc",
    2: "#e8a195",
    3: "#f5f0e6",
    6: "#f2ead9",
    12: "#f0e3cb",
    24: "#eedcbc",
    48: "#ecd5ac",
    96: "#eace9c",
    192: "#e8c78c",
    384: "#e6c07c",
    768: "#e4b96c",
    1536: "#e2b25c",
    3072: "#dfaa4d",
    6144: "#dba23f",
    12288: "#d69a32",
}
PALETTES = {"2048": TILE_COLOURS, "threes": THREES_COLOURS}  # by the name of the rules

PAD = 10  # between a picture and the edge of its card, in pixels
FONT = 15  # captions: still readable when a phone shows 640 pixels in 390
LINE = 20
DIGITS = {1: 0.52, 2: 0.5, 3: 0.41, 4: 0.32, 5: 0.27, 6: 0.225}  # size of a tile's number, in cells


# ------------------------------------------------------------------------------------- pictures


class Picture:
    """Hold a drawing that notebooks show, files keep and `row` puts beside others.

    A notebook stores it as an <img> with the SVG in its address: JupyterLab does not draw
    image/svg+xml where it does not trust a notebook, and GitHub cleans svg elements away. The card
    behind it is opaque, so that a dark theme does not swallow the captions.

    Args:
        body: SVG elements in a frame of width × height pixels.
        text: what the drawing says, for readers who cannot see it (and for a text-only terminal).
        axis: the height, from the top, at which neighbours in a row line up; the middle by default.
    """

    def __init__(self, body, width, height, text="", axis=None):
        self.body, self.width, self.height, self.text = body, width, height, text
        self.axis = height / 2 if axis is None else axis

    @property
    def svg(self):
        """Return the whole SVG document as text."""
        width, height = _n(self.width + 2 * PAD), _n(self.height + 2 * PAD)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" '
            'font-family="Helvetica Neue,Arial,sans-serif" text-anchor="middle">\n'
            f"{_rect(0, 0, self.width + 2 * PAD, self.height + 2 * PAD, PAGE, 8)}\n"
            f"{_at(PAD, PAD, self.body)}\n</svg>"
        )

    def save(self, path):
        """Write the SVG document to a file; its name should end in .svg."""
        write_text(path, self.svg + "\n")

    def captioned(self, caption, bold=False, wrap=True):
        """Return this picture with a caption centred under it, wrapped to its width unless told."""
        if not caption:
            return self
        columns = max(int(self.width / _length("m", FONT)), 8) if wrap else 1000
        parts = (textwrap.wrap(part, columns) or [""] for part in str(caption).split("\n"))
        lines = [line for part in parts for line in part]
        width = max(self.width, *(_length(line, FONT) for line in lines))
        under = _lines(lines, width / 2, self.height + 6 + LINE / 2, DARK, bold)
        body = _at((width - self.width) / 2, 0, self.body) + under
        height = self.height + 6 + LINE * len(lines)
        return Picture(body, width, height, f"{self.text} · {' '.join(lines)}", self.axis)

    def _repr_html_(self):
        return image("image/svg+xml", self.svg.encode(), self.text)

    def __repr__(self):
        return f"<Picture {textwrap.shorten(self.text, 100, placeholder=' …')}>"


def _n(number):
    return f"{number:.1f}".removesuffix(".0")


def _element(name, text=None, **attributes):
    """Return an SVG element: stroke_width is the attribute stroke-width, None is left out."""
    said = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    looks = (f'{key}="{v if isinstance(v, str) else _n(v)}"' for key, v in said.items())
    head = f"<{name} {' '.join(looks)}"
    return f"{head}/>" if text is None else f"{head}>{escaped(text)}</{name}>"


def _rect(x, y, width, height, fill, radius, **looks):
    return _element("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, **looks)


def _text(x, y, text, size, fill, bold=False, **looks):
    """Return a text centred at (x, y); its baseline lies 0.36 of its size below its middle."""
    looks["font_weight"] = "bold" if bold else None
    return _element("text", text, x=x, y=y + 0.36 * size, font_size=size, fill=fill, **looks)


def _lines(lines, x, y, fill, bold=False):
    return "\n".join(_text(x, y + i * LINE, line, FONT, fill, bold) for i, line in enumerate(lines))


def _at(x, y, body):
    return f'<g transform="translate({_n(x)} {_n(y)})">\n{body}\n</g>' if x or y else body


def _joined(places, axis=None):
    """Return pictures as one; places: an (x, y, picture) for each."""
    body = "\n".join(_at(x, y, picture.body) for x, y, picture in places)
    width = max(x + picture.width for x, _, picture in places)
    height = max(y + picture.height for _, y, picture in places)
    return Picture(body, width, height, " | ".join(p.text for _, _, p in places), axis)


def _stack(pictures, gap=14):
    """Put pictures under one another, from the same left edge."""
    tops = accumulate((picture.height + gap for picture in pictures), initial=0)
    return _joined([(0, y, picture) for y, picture in zip(tops, pictures)])


def _beside(pictures, gap=14):
    """Put pictures on one line, their axes at the same height."""
    axis = max(picture.axis for picture in pictures)
    lefts = accumulate((picture.width + gap for picture in pictures), initial=0)
    return _joined([(x, axis - p.axis, p) for x, p in zip(lefts, pictures)], axis)


def _length(text, size):
    """Return the width of a text in pixels, a little on the safe side: no font is at hand here."""
    return 0.56 * size * len(str(text))


# --------------------------------------------------------------------------------------- boards


class Grid(NamedTuple):
    """Where the cells of a rows × cols board lie, when its longer side is `size` pixels."""

    rows: int
    cols: int
    size: float

    @property
    def side(self):
        return self.size / (1.1 * max(self.rows, self.cols) + 0.1)

    @property
    def width(self):
        return self.side * (1.1 * self.cols + 0.1)

    @property
    def height(self):
        return self.side * (1.1 * self.rows + 0.1)

    def corner(self, cell):
        row, col = divmod(cell, self.cols)
        return self.side * (1.1 * col + 0.1), self.side * (1.1 * row + 0.1)

    def middle(self, cell):
        x, y = self.corner(cell)
        return x + self.side / 2, y + self.side / 2

    def square(self, cell, fill, **looks):
        return _rect(*self.corner(cell), self.side, self.side, fill, 0.06 * self.side, **looks)


def palette(game=WHOLE):
    """Return {tile: '#rrggbb'}; a game without colours of its own has those of 2048, in order."""
    own = PALETTES.get(game.rules.NAME)
    hues = list(TILE_COLOURS.values())[:LARGEST_EXPONENT]
    return own or {game.tile(e): hue for e, hue in enumerate(hues, 1)}


@says_what
def tile_colour(tile, game=WHOLE):
    """Return the background and the text colour of a tile (0: an empty cell), as '#rrggbb'."""
    if tile == 0:
        return EMPTY, DARK
    background = palette(parse_game(game)).get(tile, LARGEST_COLOUR)
    return background, LIGHT if background in DARK_TILES else INK


@says_what
def board(board, caption=None, size=200, highlight=(), marks=None, game=WHOLE, word=None):
    """Draw a board.

    Args:
        board: a 64-bit integer, or a list of rows of tiles of any shape.
        caption: a text under it.
        size: the longer side, in pixels.
        highlight: cells to outline.
        marks: {cell: short text}, written into an empty cell and as a badge on a tile.
        game: whose board it is, a `Game` or its name.
        word: the second word of its state, where there is one: what it shows stands beside it.

    Raises:
        ValueError: for what is no board, no cell of it or no game.
    """
    tiles = _tiles(board, game)
    picture = _draw(tiles, size, highlight, marks)
    if word is not None:
        picture = _with_next(picture, word, tiles.game, size)
    return picture.captioned(caption)


class Tiles(NamedTuple):
    """A checked board: rows of tiles, and the game whose tiles they are."""

    rows: list
    game: Game

    @property
    def flat(self):
        return sum(self.rows, [])

    @property
    def text(self):
        return " / ".join(" ".join(str(tile or ".") for tile in row) for row in self.rows)


def _draw(tiles, size, highlight=(), marks=None, faint=()):
    """Draw `Tiles`; the cells in `faint` are pale, as if they did not matter."""
    if not size > 0:
        raise ValueError(f"size is a number of pixels above 0, not {size}")
    grid, flat, game = Grid(len(tiles.rows), len(tiles.rows[0]), size), tiles.flat, tiles.game
    highlight = {_cell(cell, grid) for cell in highlight}
    marks = {_cell(cell, grid): text for cell, text in (marks or {}).items()}
    body = [_rect(0, 0, grid.width, grid.height, FRAME, 0.07 * grid.side)]
    body += [_draw_cell(grid, cell, tile, cell in faint, game) for cell, tile in enumerate(flat)]
    look = {"stroke": ACCENT, "stroke_width": 0.06 * grid.side + 0.5}
    body += [grid.square(cell, "none", **look) for cell in sorted(highlight)]
    body += [_mark(grid, cell, marks[cell], flat[cell]) for cell in sorted(marks)]
    return Picture("\n".join(body), grid.width, grid.height, tiles.text)


def _draw_cell(grid, cell, tile, faint, game):
    pale = ".4" if faint else None
    background, ink = tile_colour(tile, game)
    square = grid.square(cell, background, opacity=pale)
    if tile == 0:
        return square
    size = DIGITS.get(len(str(tile)), 1.3 / len(str(tile))) * grid.side
    return square + _text(*grid.middle(cell), tile, size, ink, bold=True, opacity=pale)


def _mark(grid, cell, text, tile):
    if tile == 0:
        size = min(0.4, 1.35 / max(len(str(text)), 1)) * grid.side
        return _text(*grid.middle(cell), text, size, ACCENT, bold=True)
    x, y = (place - 0.04 * grid.side for place in grid.corner(cell))
    size = 0.26 * grid.side
    wide, high = max(_length(text, size) + 0.5 * size, 1.3 * size), 1.3 * size
    badge = _rect(x, y, wide, high, ACCENT, high / 2)
    return badge + _text(x + wide / 2, y + high / 2, text, size, "#fff", bold=True)


def _with_next(picture, word, game, size):
    """Put what a state's word shows beside its board, where the game shows anything."""
    said = game.shown(np.uint64(operator.index(word)))
    if not said:
        return picture
    tile = int(said) if said.isdigit() else said  # "bonus"
    card = _draw(Tiles([[tile]], game), size / 4)
    return _beside([picture, card.captioned("next")])


def _triangle(*corners):
    points = "L".join(f"{_n(x)} {_n(y)}" for x, y in corners)
    edge = {"stroke": ACCENT, "stroke_width": 3, "stroke_linejoin": "round"}
    return _element("path", d=f"M{points}z", fill=ACCENT, **edge)


# --------------------------------------------------------------------------- rows


@says_what
def row(boards, captions=None, arrows=None, size=150, width=640, game=WHOLE):
    """Draw boards or pictures side by side, on as many lines as their width needs.

    Args:
        boards: boards, or each a `Picture`.
        captions: one text (or None) for each.
        arrows: one text for each gap, written over an arrow: row([s, s1], arrows=["Up, +8"]).
        size: the longer side of each board.
        width: pixels after which a new line begins.
        game: whose boards they are.

    Raises:
        ValueError: when there are no boards, or the numbers of texts do not fit.
    """
    pictures = [b if isinstance(b, Picture) else _draw(_tiles(b, game), size) for b in boards]
    if not pictures:
        raise ValueError("there is nothing to draw: the list is empty")
    captions = _one_each("captions", captions, len(pictures))
    links = [None, *_one_each("arrows", arrows, len(pictures) - 1)]
    lines = [[]]
    for picture, caption, link in zip(pictures, captions, links):
        item = picture.captioned(caption)
        block = item if link is None else _beside([_link(link), item], gap=10)
        if lines[-1] and _beside([*lines[-1], block]).width > width:
            lines.append([])
        lines[-1].append(block)
    return _stack([_beside(line) for line in lines])


def _link(label):
    lines = str(label).split("\n") if label else []
    width = max([44, *(_length(line, FONT) for line in lines)])
    axis = 6 + LINE * len(lines)
    way = f"M2 {_n(axis)}H{_n(width - 10)}"
    shaft = _element("path", d=way, stroke=ACCENT, stroke_width=3)
    head = _triangle((width - 2, axis), (width - 10, axis - 5), (width - 10, axis + 5))
    words = _lines(lines, width / 2, LINE / 2 - 2, ACCENT, bold=True)
    return Picture(words + shaft + head, width, axis + 8, f"→ {' '.join(lines)} →", axis)


# --------------------------------------------------------------------------- curves

BESIDE = 180  # as wide as the legend of curves, in pixels
CURVES = ((ACCENT, "none"), ("#d55e00", "8 4"), ("#009e73", "2 3"), ("#cc79a7", "10 3 2 3"))


@says_what
def curves(curves, xlabel, ylabel, width=520, height=150):
    """Draw a few curves over one x, from 0 on: for places that have nothing but SVG.

    What can be measured on a figure is for `plot`; this shows the course of things.

    Args:
        curves: {name: [(x, y)]}, at most four; a curve may have no points yet.

    Raises:
        ValueError: for more curves than there are colours.
    """
    if len(curves) > len(CURVES):
        raise ValueError(f"{len(curves)} curves: there are colours for {len(CURVES)}")
    every = [point for points in curves.values() for point in points]
    most = [max([number for number in column if number], default=1) for column in zip(*every)]
    right, top = most or (1, 1)
    body = [_rect(0, LINE, width, height, "none", 0, stroke=FRAME)]
    drawn = [
        [(x * width / right, height + LINE - y * height / top) for x, y in points]
        for points in curves.values()
    ]
    legend, first = _legend_at(sum(drawn, []), LINE * len(curves), width, height)
    for n, (name, places, (colour, dash)) in enumerate(zip(curves, drawn, CURVES)):
        look = {"stroke": colour, "stroke_width": 2, "stroke_dasharray": dash}
        way = "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
        body += [_element("path", d=f"M{way}", fill="none", **look)] if places else []
        if len(curves) > 1:
            y = first + LINE * n
            body.append(_text(legend - 40, y, name, FONT - 2, DARK, text_anchor="end"))
            body.append(_element("path", d=f"M{_n(legend - 34)} {_n(y)}h28", **look))
    high = f"{ylabel}, up to {thousands(top)}" if most else f"{ylabel}: no game is over yet"
    wide = f"{xlabel}, up to {thousands(right)}" if most else xlabel
    body.append(_text(0, 8, high, FONT - 2, DARK, text_anchor="start"))
    body.append(_text(width, height + LINE + 10, wide, FONT - 2, DARK, text_anchor="end"))
    return Picture("\n".join(body), width, height + 2 * LINE, f"{high}; {wide}")


def _legend_at(points, size, width, height):
    """Return (its right end, its first line) of a legend: where no curve runs, or as far from it.

    points: [(x, y)] of all curves; size: the legend's height; width, height: of the figure.
    """
    lines = LINE + height - size + 10, LINE + (height - size) / 2 + 10, LINE + 10

    def clear(place):  # how far the curves are from its middle
        end, first = place
        heights = [y for x, y in points if end - BESIDE < x <= end]
        return min((abs(y + 10 - first - size / 2) for y in heights), default=height)

    places = [(end, first) for end in (width, BESIDE) for first in lines]  # the usual one first
    return places[0] if clear(places[0]) > size / 2 else max(places, key=clear)


# --------------------------------------------------------------------------- tuples and weights


@says_what
def tuple(cells, board=None, numbered=True, caption=None, size=150, game=WHOLE):
    """Draw which cells of the board an n-tuple reads.

    Args:
        cells: cell numbers in the tuple's order, 4 × row + column on any board.
        board: show the tiles it reads there, or None for its shape alone.
        numbered: whether the cells have the numbers 0, 1 … as the tuple reads them.
    """
    game = parse_game(game)
    numbers, cells = _tuple_cells(cells, game)
    texts = dict(zip(cells, range(len(cells)))) if numbered else {}
    rest = set(range(game.rows * game.columns)) - set(cells)
    if board is not None:
        return _draw(_tiles(board, game, whole=True), size, cells, texts, rest).captioned(caption)
    picture, grid = _draw(_tiles(0, game), size, faint=rest), Grid(game.rows, game.columns, size)
    for cell in cells:  # filled in blue, with white labels
        picture.body += "\n" + grid.square(cell, ACCENT)
        if cell in texts:
            picture.body += _text(*grid.middle(cell), texts[cell], 0.55 * grid.side, "#fff")
    picture.text = f"tuple of cells {' '.join(map(str, numbers))}"
    return picture.captioned(caption)


@says_what
def tuples(tuples, captions=None, size=88, width=640, game=WHOLE):
    """Draw the tuples of a network as small pictures, on as many lines as needed.

    Args:
        tuples: sequences of cells.
        captions: a text for each; by default the cells in hexadecimal, as in the names of networks
            ("012345").
    """
    game = parse_game(game)
    tuples = [_tuple_cells(cells, game)[0] for cells in tuples]
    if captions is None:
        captions = ["".join(f"{cell:x}" for cell in cells) for cells in tuples]
    pictures = [tuple(cells, size=size, game=game) for cells in tuples]
    return row(pictures, captions, width=width)


@says_what
def pattern(cells, exponents, value=None, size=110, game=WHOLE):
    """Draw the tiles that one weight of a tuple stands for, and the weight under them.

    Cells outside the tuple are hatched, so that nobody takes them for empty ones.

    Args:
        cells: the tuple's cells, outlined.
        exponents: one for each (0: an empty cell).
        value: the weight, in points, with its sign.
    """
    game, exponents = parse_game(game), list(exponents)
    numbers, cells = _tuple_cells(cells, game)
    if len(cells) != len(exponents):
        raise ValueError(f"{len(cells)} cells need as many exponents, not {len(exponents)}")
    rows = to_tiles(0, game)
    for cell, exponent in zip(cells, exponents):
        row, column = divmod(cell, game.columns)
        rows[row][column] = _tile_of(exponent, game)
    picture = tuple(numbers, rows, numbered=False, size=size, game=game)
    grid = Grid(game.rows, game.columns, size)
    outside = set(range(game.rows * game.columns)) - set(cells)
    picture.body += "".join("\n" + _hatched(grid, cell) for cell in sorted(outside))
    said = None if value is None else f"{value:+,.{0 if abs(value) >= 100 else 1}f}"
    return picture.captioned(said and set_apart(said), bold=True)


def _hatched(grid, cell):
    """Draw three lines across a cell."""
    (x, y), side = grid.corner(cell), grid.side
    ends = [(0, half, half, 0) for half in (0.5, 1)] + [(0.5, 1, 1, 0.5)]
    lines = "".join(
        f"M{_n(x + a * side)} {_n(y + b * side)}L{_n(x + c * side)} {_n(y + d * side)}"
        for a, b, c, d in ends
    )
    return f'<path d="{lines}" stroke="{DARK}" stroke-width="{_n(0.05 * side)}" opacity=".6"/>'


# ------------------------------------------------------------------------------------ decisions


@says_what
def choice(board, rows, size=150, game=WHOLE):
    """Draw one decision: the board, and what each action would bring.

    The largest reward + value is outlined and marked as chosen (the first of several equal ones).

    Args:
        rows: one (action, afterstate, reward, value) for each legal action; the actions left out
            are drawn grey, as not legal.
        size: the longer side of the board; an afterstate takes 0.8 of it.
        game: whose boards they are.
    """
    tiles, choices = _tiles(board, game), {}
    for action, afterstate, reward, value in rows:
        choices[_action(action)] = (_tiles(afterstate, game), float(reward), float(value))
    if not choices:
        raise ValueError("rows is empty: a board without a legal action leaves nothing to choose")
    best = max(choices, key=lambda action: (sum(choices[action][1:]), -action))
    options = [_option(a, choices.get(a), a == best, tiles, 0.8 * size) for a in range(4)]
    options = [_widened(option, max(o.width for o in options)) for option in options]
    four = _stack([_beside(options[:2]), _beside(options[2:])])
    return _beside([_draw(tiles, size).captioned("the board"), _link(""), four], gap=16)


def _option(action, choice, best, tiles, size):
    if choice is None:
        picture = _draw(tiles, size)
        picture.body, picture.text = f'<g opacity=".3">\n{picture.body}\n</g>', ""
        return picture.captioned(f"{ACTIONS[action]}\nnot legal")
    afterstate, reward, value = choice
    total = f"{_points(reward)} + {_points(value)} = {_points(reward + value)}".replace("+ −", "− ")
    picture = _draw(afterstate, size)
    if best:
        edge = {"stroke": ACCENT, "stroke_width": 4}
        picture.body += _rect(0, 0, picture.width, picture.height, "none", 4, **edge)
    name = f"{ACTIONS[action]} · chosen" if best else ACTIONS[action]
    return picture.captioned(f"{name}\n{total}", best, wrap=False)


def _widened(picture, width):
    """Centre a picture in a wider frame, so that columns stand under one another."""
    body = _at((width - picture.width) / 2, 0, picture.body)
    return Picture(body, width, picture.height, picture.text, picture.axis)


def _points(number):
    text = f"{number:,.1f}".removesuffix(".0") if abs(number) < 100 else f"{number:,.0f}"
    return set_apart(text)


# ----------------------------------------------------------------------------------------- trees


@says_what
def tree(board, branches, shown=2, size=120, game=WHOLE):
    """Draw a decision that looks one ply further: board, afterstates, spawns, best answers.

    Under an afterstate stands its reward + the mean over *all* its spawns; the largest is outlined
    and marked as chosen.

    Args:
        branches: one (action, afterstate, reward, spawns) for each legal action; its spawns are one
            (chance, state, best action there, what it is worth) for each tile that may come, with
            None as the action of a dead end.
        shown: how many spawns of each are drawn; the others are counted.
        size: the longer side of the boards; a spawn's takes 0.8 of it.
        game: whose boards they are.

    Raises:
        ValueError: when there is nothing to draw, or chances do not add up to 1.
    """
    tiles, twigs = _tiles(board, game), []
    for action, after, reward, spawns in branches:
        action, spawns = _action(action), list(spawns)
        twigs.append((action, (_tiles(after, game), float(reward), _mean(action, spawns)), spawns))
    if not twigs or not shown >= 1:
        raise ValueError("a tree needs at least one branch, and one spawn to show of each")
    totals = [reward + mean for _, (_, reward, mean), _ in twigs]
    best = totals.index(max(totals))
    options = [
        _option(action, choice, i == best, tiles, size)
        for i, (action, choice, _) in enumerate(twigs)
    ]
    wide = max(option.width for option in options)
    aside = (wide - size) / 2  # how far the text under an afterstate reaches beyond it
    nodes = [
        _forked(_widened(option, wide), _answers(after, spawns, shown, 0.8 * size), out=aside)
        for option, (_, (after, *_), spawns) in zip(options, twigs)
    ]
    root = _draw(tiles, size).captioned("the board")
    return _forked(root, [("", node) for node in nodes], strong=best, into=aside, gap=22)


def _mean(action, spawns):
    chances = sum(chance for chance, *_ in spawns)
    if abs(chances - 1) > 1e-6:
        raise ValueError(f"the chances after {ACTIONS[action]} add up to {chances:g}, not to 1")
    return float(sum(chance * worth for chance, _, _, worth in spawns))


def _answers(after, spawns, shown, size):
    """Return (chance, picture) of the first spawns and the best answer to each."""
    found = [
        (f"{100 * chance:.{0 if chance >= 0.0095 else 1}f} %", _answer(after, *spawn, size))
        for chance, *spawn in spawns[:shown]
    ]
    more = len(spawns) - shown
    return [*found, ("", _note([f"and {more} more"]))] if more > 0 else found


def _answer(after, state, action, worth, size):
    state = _tiles(state, after.game)
    pairs = zip(after.flat, state.flat)
    new = [cell for cell, (old, tile) in enumerate(pairs) if old != tile]
    says = ["dead end", "0"] if action is None else [ACTIONS[_action(action)], _points(worth)]
    return _beside([_draw(state, size, highlight=new), _note(says)], gap=10)


def _note(lines):
    """Return lines of text as a picture, to stand beside others."""
    width, height = max(_length(line, FONT) for line in lines), LINE * len(lines)
    return Picture(_lines(lines, width / 2, LINE / 2, DARK), width, height, " ".join(lines))


def _forked(parent, children, strong=None, out=0, into=0, gap=12):
    """Put children under one another, each tied to its parent on the left by a labelled line.

    children: (label, picture) pairs; strong: the number of the child whose line is thick and blue;
    out, into: how far inside their frames the boards of the parent and of the children begin:
    lines reach to the boards.
    """
    labels, children = zip(*children)
    room = _length("18.8 %", FONT) if any(labels) else 0
    tops = list(accumulate((child.height + gap for child in children[:-1]), initial=0))
    ends = [top + child.axis for top, child in zip(tops, children)]
    axis = (ends[0] + ends[-1]) / 2
    down = max(0, parent.axis - axis)  # a parent taller than all its children
    x0, x1 = parent.width - out + 4, parent.width + 34 + room
    lines = []
    for i, (end, label) in enumerate(zip(ends, labels)):
        colour, thick = (ACCENT, 4) if i == strong else (FRAME, 2)
        way = _bent(x0, down + axis, x1 - room - 4, down + end) + f"H{_n(x1 + into - 4)}"
        lines.append(_element("path", d=way, fill="none", stroke=colour, stroke_width=thick))
        lines.append(_text(x1 - 4 - room / 2, down + end - 12, label, FONT, ACCENT))
    places = [(x1, down + top, child) for top, child in zip(tops, children)]
    whole = _joined([(0, down + axis - parent.axis, parent), *places], down + axis)
    whole.body = "\n".join([*lines, whole.body])
    whole.text = f"{parent.text} → ({' | '.join(child.text for child in children)})"
    return whole


def _bent(x0, y0, x1, y1):
    """Return the way of a line that leaves one point level and comes to another so."""
    middle = _n((x0 + x1) / 2)
    return f"M{_n(x0)} {_n(y0)}C{middle} {_n(y0)} {middle} {_n(y1)} {_n(x1)} {_n(y1)}"


# --------------------------------------------------------------------------------- bad arguments


def _tiles(board, game=WHOLE, whole=False):
    """Return a board as `Tiles`; raise ValueError in one line if it is none.

    whole: whether it has to be of the game's own size, as a packed one is.
    """
    game = parse_game(game)
    try:
        packed = operator.index(board)
    except TypeError:
        rows = _listed(board, game)
    else:
        if game.rules is not WHOLE.rules and not 0 <= packed < 1 << 64:
            raise ValueError(f"a board is an integer of 64 bits, not {packed}")
        rows = to_tiles(packed, game)
    if whole and (len(rows), len(rows[0])) != (game.rows, game.columns):
        size = f"{len(rows)}×{len(rows[0])}"
        raise ValueError(f"the board is {size}, not {game.rows}×{game.columns}")
    return Tiles(rows, game)


def _listed(board, game):
    try:
        rows = [[operator.index(tile) for tile in row] for row in board]
    except TypeError:
        raise ValueError(
            f"a board is a 64-bit integer or a list of rows of tiles, not {board!r}"
        ) from None
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ValueError("the rows of a board are of one length, and not empty")
    known = [game.tile(exponent) for exponent in range(64)]
    for tile in (tile for row in rows for tile in row):
        if tile not in known:
            first = ", ".join(map(str, known[:4]))
            raise ValueError(f"a tile of {game.name} is one of {first} …, not {tile}")
    return rows


def _tile_of(exponent, game):
    exponent = operator.index(exponent)
    if not 0 <= exponent <= 17:
        raise ValueError(f"an exponent is 0..17, not {exponent}")
    return game.tile(exponent)


def _cell(cell, grid):
    try:
        number = hasattr(cell, "__index__")
        row, col = divmod(cell, grid.cols) if number else map(operator.index, cell)
    except (TypeError, ValueError):
        raise ValueError(f"a cell is a number or a pair (row, column), not {cell!r}") from None
    if not (0 <= row < grid.rows and 0 <= col < grid.cols):
        raise ValueError(f"cell {cell} is not on a {grid.rows}×{grid.cols} board")
    return int(row * grid.cols + col)


def _tuple_cells(cells, game):
    """Return the cells of a tuple by their numbers on 4×4, and by those on the game's own board."""
    wide, grid = Grid(4, 4, 1), Grid(game.rows, game.columns, 1)
    cells = [_cell(cell, wide) for cell in cells]
    if not cells or len(set(cells)) < len(cells):
        raise ValueError(f"a tuple needs at least one cell, and none twice: {cells}")
    return cells, [_cell(divmod(cell, 4), grid) for cell in cells]


def _action(action):
    if isinstance(action, str) and action in ACTIONS:
        return ACTIONS.index(action)
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if number not in range(4):
        raise ValueError(f"an action is 0..3 or one of {', '.join(ACTIONS)}, not {action!r}")
    return number


def _one_each(name, texts, count):
    texts = [None] * count if texts is None else list(texts)
    if len(texts) != max(count, 0):
        raise ValueError(f"{name} needs {count} texts, not {len(texts)}")
    return texts
