"""The picture of weight promotion: stages as rows of bits, and whom a weight of each one asks."""

from lib2048.show.draw import (
    ACCENT,
    DARK,
    FONT,
    PAGE,
    Picture,
    _at,
    _length,
    _n,
    _rect,
    _text,
    tile_colour,
)

__all__ = ["draw_promotion"]

NOBODY = "#b3261e"  # the colour of a question that nobody can answer
ROW, BOX, ARROW = 34, 62, 26  # pixels: between two stages, of a tile, from a stage to its words


def draw_promotion(stages, seen):
    """Draw all stages, and what promotion finds for a look-up that sees one of the marking tiles.

    A row a stage: its tiles, the bits that are 1, are drawn in full.  From each stage whose boards
    have that tile an arrow leads to the stage below, which promotion asks: blue where boards have
    the tile there, too, red where none has, so that nothing was learned.

    Args:
        stages: the `Stages` of a network.
        seen: a tile that marks them.

    Raises:
        ValueError: for a tile that marks no stage.
    """
    tiles = stages.tiles(stages.count - 1)
    if seen not in tiles:
        raise ValueError(f"seen {seen}: use one of {', '.join(map(str, tiles)) or 'no tile'}")
    left = _length("stage 00", FONT) + 12
    right = left + BOX * len(tiles) + 8
    body, said, width = [], [], right
    for stage in range(stages.count):
        body.append(_at(0, ROW * stage, _row(stage, stages.tiles(stage), tiles, left)))
        if stage and seen in stages.tiles(stage):
            known = seen in stages.tiles(stage - 1)
            have = "boards have" if known else "no board has"
            words = f"asks {stage - 1}, where {have} a {seen}"
            body.append(_at(right, ROW * stage, _arrow(words, ACCENT if known else NOBODY)))
            width = max(width, right + ARROW + _length(words, FONT))
            said.append(f"stage {stage} {words}")
    text = f"{stages.count} stages, a look-up that sees the {seen}: {'; '.join(said)}"
    return Picture("\n".join(body), width, ROW * stages.count, text)


def _row(stage, here, tiles, left):
    """Draw the number of a stage, and all marking tiles, those that it lacks as outlines."""
    body = [_text(left / 2 - 6, ROW / 2, f"stage {stage}", FONT, DARK, bold=True)]
    for n, tile in enumerate(tiles):
        fill, ink = tile_colour(tile) if tile in here else (PAGE, "#8f867c")
        edge = {} if tile in here else {"stroke": "#cdc1b4", "stroke_dasharray": "3 3"}
        body.append(_rect(left + BOX * n, 3, BOX - 6, ROW - 6, fill, 4, **edge))
        middle = left + BOX * n + BOX / 2 - 3
        body.append(_text(middle, ROW / 2, tile, FONT - 1, ink, bold=tile in here))
    return "\n".join(body)


def _arrow(words, colour):
    """Draw an arrow to the row above, and words beside its beginning."""
    begin, end, turn = ROW / 2 + 4, -ROW / 2 + 5, ARROW - 10
    line = f'd="M0 {_n(begin)}H{_n(turn)}V{_n(end)}H7" fill="none"'
    tip = f'<path d="M0 {_n(end)}l9 -5v10z" fill="{colour}"/>'
    said = _text(ARROW - 4, ROW / 2 + 2, words, FONT, colour, text_anchor="start")
    return f'<path {line} stroke="{colour}" stroke-width="2.5"/>{tip}{said}'
