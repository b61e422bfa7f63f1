"""A board as pixels, for videos and for programs that want an array."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lib2048.game.board import WHOLE, to_tiles
from lib2048.show.draw import FRAME, Grid, tile_colour

GRAIN = 2  # drawn so many times as large, then made smaller: round corners without steps


def pixels(board, size=400, game=WHOLE):
    """Draw a board (uint64) in the course's colours; return uint8[height, width, 3].

    size: of its longer side.
    """
    grid = Grid(game.rows, game.columns, GRAIN * size)
    whole = [round(side / GRAIN) for side in (grid.width, grid.height)]
    image = Image.new("RGB", (GRAIN * whole[0], GRAIN * whole[1]), FRAME)
    draw = ImageDraw.Draw(image)
    for cell, tile in enumerate(sum(to_tiles(board, game), [])):
        colour, ink = tile_colour(tile, game)
        x, y = grid.corner(cell)
        draw.rounded_rectangle((x, y, x + grid.side, y + grid.side), grid.side / 12, colour)
        if tile:
            font = ImageFont.load_default(grid.side * min(0.45, 1.45 / len(str(tile))))
            draw.text(grid.middle(cell), str(tile), ink, font, anchor="mm", stroke_width=1)
    return np.asarray(image.resize(whole, Image.Resampling.LANCZOS)).copy()
