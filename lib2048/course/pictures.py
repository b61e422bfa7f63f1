"""The two pictures that lessons alone draw: turns in the order of time, and whom promotion asks.

In turn t the player sees the state sₜ and takes the action aₜ; it pays the reward rₜ and leaves the
afterstate s′ₜ.  Then a tile spawns, and the board is sₜ₊₁.  Every lesson uses these names.
"""

from lib2048.game import spec
from lib2048.show.draw import (
    ACCENT,
    DARK,
    FONT,
    LINE,
    PAGE,
    Picture,
    _action,
    _at,
    _beside,
    _draw,
    _length,
    _lines,
    _n,
    _rect,
    _stack,
    _text,
    _tiles,
    tile_colour,
)

__all__ = ["draw_promotion", "draw_time"]

LUCK = "#b35c00"  # what luck does is brown, what the player does blue
NOBODY = "#b3261e"  # the colour of a question that nobody can answer
GAP = 8  # between a board and an arrow, in pixels
SMALL = 12  # the size of the words under an arrow, in pixels
ROW, BOX, ARROW = 34, 62, 26  # pixels: between two stages, of a tile, from a stage to its words
DIGITS = "₀₁₂₃₄₅₆₇₈₉"


def draw_time(states, actions, spans=(), captions=None, width=640):
    """Draw turns in the order of time, with the names that every lesson uses, a line to each turn.

    The afterstates and rewards follow from the rules.  One turn is drawn as s, s′, s″, more as sₜ,
    s′ₜ, sₜ₊₁ …

    Args:
        states: n + 1 boards (64-bit integers, or lists of rows of tiles) on which it is the
            player's turn; the last one may be over.
        actions: n of them, 0..3 or their names.
        spans: (from, to, text) for lines under the picture that say what lies between two boards,
            which are counted from 0: the even ones are states, the odd ones afterstates.
        captions: {number of a board: a line under its name}.

    Raises:
        ValueError: for an action that is not legal, or a next state that no spawn leads to.
    """
    boards, arrows = _turns([_tiles(state) for state in states], [_action(a) for a in actions])
    names, notes = _names(len(actions)), [(captions or {}).get(i) for i in range(len(boards))]
    spare = width - sum(arrow.width for arrow in arrows[-2:]) - 5 * GAP
    size = min(spare / 3, 130)
    named = [_named(*each, size) for each in zip(boards, names, notes)]
    between = [_span(names, start, end, label) for start, end, label in spans]
    return _with_spans(_placed(named, arrows), between)


# ------------------------------------------------------------------------------ what happened


def _turns(states, actions):
    """Return (all boards in the order of time, the arrows between them)."""
    if len(states) != len(actions) + 1 or not actions:
        raise ValueError(f"{len(states)} states need {len(states) - 1} actions, and at least one")
    boards, arrows = states[:1], []
    for turn, action in enumerate(actions):
        slid, reward = spec.slide(states[turn].rows, action)
        after = states[turn]._replace(rows=slid)
        if after == states[turn]:
            raise ValueError(f"{spec.ACTIONS[action]} is not legal on {after.text}")
        index = _index(turn) if len(actions) > 1 else ""
        arrows.append(_arrow([spec.ACTIONS[action], f"r{index} = {reward}"], "you", ACCENT))
        tile = _spawned(after, states[turn + 1])
        arrows.append(_arrow(["spawn", f"a {tile}"], "luck", LUCK))
        boards += [after, states[turn + 1]]
    return boards, arrows


def _spawned(after, state):
    """Return the tile that spawned; raise ValueError where no single one can have."""
    pairs = [(a, b) for a, b in zip(after.flat, state.flat) if a != b]
    if len(pairs) != 1 or pairs[0][0] or pairs[0][1] not in (2, 4):
        raise ValueError(f"no spawn leads from {after.text} to {state.text}")
    return pairs[0][1]


def _names(turns):
    """Return the names of all boards in the order of time."""
    if turns == 1:
        return ["state s", "afterstate s′", "next state s″"]
    indices = [_index(turn) for turn in range(turns + 1)]
    return [f"{name}{index}" for index in indices for name in ("s", "s′")][:-1]


def _index(turn):
    """Return ₜ, ₜ₊₁, ₜ₊₂ …"""
    return "ₜ" + (f"₊{''.join(DIGITS[int(d)] for d in str(turn))}" if turn else "")


# ------------------------------------------------------------------------------ its parts


def _arrow(lines, who, colour):
    """Return an arrow with words above it, and below it who decides."""
    width = max([44, *(_length(line, FONT) for line in lines)])
    axis = 6 + LINE * len(lines)
    shaft = f'<path d="M2 {_n(axis)}H{_n(width - 9)}" stroke="{colour}" stroke-width="3"/>'
    tip = f'<path d="M{_n(width)} {_n(axis)}l-11 -6v12z" fill="{colour}"/>'
    words = _lines(lines, width / 2, LINE / 2 - 2, colour, bold=True)
    under = _text(width / 2, axis + 13, who, SMALL, colour)
    return Picture(words + shaft + tip + under, width, axis + 22, f"→ {', '.join(lines)} →", axis)


def _named(tiles, name, note, size):
    """Return a board with its name under it, and a note in blue."""
    board = _draw(tiles, size)
    named = board.captioned(name, bold=True)
    if not note:
        return named
    width = max(named.width, _length(note, FONT))
    body = _at((width - named.width) / 2, 0, named.body)
    body += _text(width / 2, named.height + LINE / 2, note, FONT, ACCENT)
    return Picture(body, width, named.height + LINE, f"{named.text} {note}", named.axis)


def _placed(boards, arrows):
    """Return boards and arrows, a line for each turn, the last one with the board after it."""
    pairs = [*zip(boards, arrows)]
    turns = [[*pairs[i], *pairs[i + 1]] for i in range(0, len(pairs), 2)]
    turns[-1].append(boards[-1])
    return _stack([_beside(turn, GAP) for turn in turns])


def _span(names, start, end, label):
    """Return what a span says: which boards it lies between, and its text."""
    if not 0 <= start < end < len(names):
        raise ValueError(f"span {start} to {end}: the boards are 0 to {len(names) - 1}")
    return f"{names[start]} to {names[end]}", label


def _with_spans(picture, spans):
    """Write the spans under a picture, each on a line of its own."""
    body, said, width, y = [picture.body], [picture.text], picture.width, picture.height
    for between, label in spans:
        y += LINE + 4
        left = _length(between, FONT) + GAP
        body.append(_text(0, y - LINE / 2, between, FONT, DARK, bold=True, text_anchor="start"))
        body.append(_text(left, y - LINE / 2, label, FONT, DARK, text_anchor="start"))
        width = max(width, left + _length(label, FONT))
        said.append(f"{between} {label}")
    return Picture("\n".join(body), width, y, " | ".join(said))


# ------------------------------------------------------------------------------ promotion


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
        body.append(_at(0, ROW * stage, _stage(stage, stages.tiles(stage), tiles, left)))
        if stage and seen in stages.tiles(stage):
            known = seen in stages.tiles(stage - 1)
            have = "boards have" if known else "no board has"
            words = f"asks {stage - 1}, where {have} a {seen}"
            body.append(_at(right, ROW * stage, _question(words, ACCENT if known else NOBODY)))
            width = max(width, right + ARROW + _length(words, FONT))
            said.append(f"stage {stage} {words}")
    text = f"{stages.count} stages, a look-up that sees the {seen}: {'; '.join(said)}"
    return Picture("\n".join(body), width, ROW * stages.count, text)


def _stage(stage, here, tiles, left):
    """Draw the number of a stage, and all marking tiles, those that it lacks as outlines."""
    body = [_text(left / 2 - 6, ROW / 2, f"stage {stage}", FONT, DARK, bold=True)]
    for n, tile in enumerate(tiles):
        fill, ink = tile_colour(tile) if tile in here else (PAGE, "#8f867c")
        edge = {} if tile in here else {"stroke": "#cdc1b4", "stroke_dasharray": "3 3"}
        x = left + BOX * n
        body.append(_rect(x, 3, BOX - 6, ROW - 6, fill, 4, **edge))
        body.append(_text(x + BOX / 2 - 3, ROW / 2, tile, FONT - 1, ink, bold=tile in here))
    return "\n".join(body)


def _question(words, colour):
    """Draw an arrow to the row above, and words beside its beginning."""
    begin, end, turn = ROW / 2 + 4, -ROW / 2 + 5, ARROW - 10
    line = f'd="M0 {_n(begin)}H{_n(turn)}V{_n(end)}H7" fill="none"'
    tip = f'<path d="M0 {_n(end)}l9 -5v10z" fill="{colour}"/>'
    said = _text(ARROW - 4, ROW / 2 + 2, words, FONT, colour, text_anchor="start")
    return f'<path {line} stroke="{colour}" stroke-width="2.5"/>{tip}{said}'
