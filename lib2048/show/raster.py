"""A board as pixels, for videos and for programs that want an array."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lib2048.game.board import to_tiles
from lib2048.show.draw import FRAME, tile_colour

GRAIN = 2  # drawn so many times as large, then made smaller: round corners without steps
GAP = 0.1  # between tiles, in tiles


def pixels(board, size=400):
    """Draw a board (uint64) in the course's colours; return uint8[size, size, 3]."""
    side = GRAIN * size / (4 + 5 * GAP)
    image = Image.new("RGB", (GRAIN * size, GRAIN * size), FRAME)
    draw = ImageDraw.Draw(image)
    for row, tiles in enumerate(to_tiles(board)):
        for column, tile in enumerate(tiles):
            _draw_tile(draw, tile, side, column, row)
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS)).copy()


def _draw_tile(draw, tile, side, column, row):
    """Draw a tile, 0 for an empty cell, of this side in pixels."""
    colour, ink = tile_colour(tile)
    x, y = (side * (GAP + place * (1 + GAP)) for place in (column, row))
    draw.rounded_rectangle((x, y, x + side, y + side), side / 12, colour)
    if tile:
        font = ImageFont.load_default(side * min(0.45, 1.45 / len(str(tile))))
        draw.text((x + side / 2, y + side / 2), str(tile), ink, font, anchor="mm", stroke_width=1)
