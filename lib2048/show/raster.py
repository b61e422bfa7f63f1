"""A board as pixels, for videos and for programs that want an array."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lib2048.game.board import to_tiles
from lib2048.show.draw import FRAME, Grid, tile_colour

GRAIN = 2  # drawn so many times as large, then made smaller: round corners without steps


def pixels(board, size=400):
    """Draw a board (uint64) in the course's colours; return uint8[size, size, 3]."""
    grid = Grid(4, 4, GRAIN * size)
    image = Image.new("RGB", (GRAIN * size, GRAIN * size), FRAME)
    draw = ImageDraw.Draw(image)
    for cell, tile in enumerate(sum(to_tiles(board), [])):
        colour, ink = tile_colour(tile)
        x, y = grid.corner(cell)
        draw.rounded_rectangle((x, y, x + grid.side, y + grid.side), grid.side / 12, colour)
        if tile:
            font = ImageFont.load_default(grid.side * min(0.45, 1.45 / len(str(tile))))
            draw.text(grid.middle(cell), str(tile), ink, font, anchor="mm", stroke_width=1)
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS)).copy()
