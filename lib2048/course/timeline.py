"""The picture of time: state, action, afterstate, spawn, next state.

In turn t the player sees the state sₜ and takes the action aₜ; it pays the reward rₜ and leaves the
afterstate s′ₜ.  Then a tile spawns, and the board is sₜ₊₁.  Every lesson uses these names.
"""

from lib2048.game import spec
from lib2048.show.draw import (
    ACCENT,
    DARK,
    FONT,
    LINE,
    Picture,
    _action,
    _at,
    _draw,
    _length,
    _lines,
    _n,
    _spoken,
    _text,
    _tiles,
)

__all__ = ["draw_time"]

LUCK = "#b35c00"  # what luck does is brown, what the player does blue
GAP = 8  # between a board and an arrow, in pixels
SMALL = 12  # the size of the words under an arrow, in pixels
DIGITS = "₀₁₂₃₄₅₆₇₈₉"


def draw_time(states, actions, spans=(), captions=None, width=640):
    """Draw turns in the order of time, with the names that every lesson uses.

    The afterstates and rewards follow from the rules.  One turn is drawn as s, s′, s″, more as sₜ,
    s′ₜ, sₜ₊₁ …

    Args:
        states: n + 1 boards (64-bit integers, or lists of rows of tiles) on which it is the
            player's turn; the last one may be over.
        actions: n of them, 0..3 or their names.
        spans: (from, to, text) for brackets under the boards, which are counted from 0: the even
            ones are states, the odd ones afterstates.
        captions: {number of a board: a line under its name}.

    Raises:
        ValueError: for an action that is not legal, or a next state that no spawn leads to.
    """
    boards, arrows = _turns([_tiles(state) for state in states], [_action(a) for a in actions])
    spare = width - sum(arrow.width for arrow in arrows) - GAP * (len(boards) + len(arrows))
    size = min(max(spare / len(boards), 48), 130)
    notes = [(captions or {}).get(i) for i in range(len(boards))]
    named = [_named(*each, size) for each in zip(boards, _names(len(actions)), notes)]
    return _with_spans(*_placed(named, arrows), spans)


# ------------------------------------------------------------------------------ what happened


def _turns(states, actions):
    """Return (all boards in the order of time, the arrows between them)."""
    if len(states) != len(actions) + 1 or not actions:
        raise ValueError(f"{len(states)} states need {len(states) - 1} actions, and at least one")
    boards, arrows = states[:1], []
    for turn, action in enumerate(actions):
        after, reward = spec.slide(states[turn], action)
        if after == states[turn]:
            raise ValueError(f"{spec.ACTIONS[action]} is not legal on {_spoken(after)}")
        index = _index(turn) if len(actions) > 1 else ""
        arrows.append(_arrow([spec.ACTIONS[action], f"r{index} = {reward}"], "you", ACCENT))
        tile = _spawned(after, states[turn + 1])
        arrows.append(_arrow(["spawn", f"a {tile}"], "luck", LUCK))
        boards += [after, states[turn + 1]]
    return boards, arrows


def _spawned(after, state):
    """Return the tile that spawned; raise ValueError where no single one can have."""
    pairs = [(a, b) for row, other in zip(after, state) for a, b in zip(row, other) if a != b]
    if len(pairs) != 1 or pairs[0][0] or pairs[0][1] not in (2, 4):
        raise ValueError(f"no spawn leads from {_spoken(after)} to {_spoken(state)}")
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
    """Put boards and arrows on one line; return the picture and the middle of each board."""
    items = [item for pair in zip(boards, [*arrows, None]) for item in pair if item]
    axis, x, body, middles = max(item.axis for item in items), 0, [], []
    for item in items:
        body.append(_at(x, axis - item.axis, item.body))
        middles.append(x + item.width / 2)
        x += item.width + GAP
    height = axis + max(item.height - item.axis for item in items)
    text = " ".join(item.text for item in items)
    return Picture("\n".join(body), x - GAP, height, text, axis), middles[::2]


def _with_spans(row, middles, spans):
    """Draw each bracket under the row, and its text under the bracket."""
    body, y, text, width = [row.body], row.height + 10, row.text, row.width
    for start, end, label in spans:
        if not 0 <= start < end < len(middles):
            raise ValueError(f"span {start} to {end}: the boards are 0 to {len(middles) - 1}")
        left, right = middles[start], middles[end]
        line = f"M{_n(left)} {_n(y)}v9H{_n(right)}v-9"
        body.append(f'<path d="{line}" fill="none" stroke="{DARK}" stroke-width="2"/>')
        half = _length(label, FONT) / 2
        middle = min(max((left + right) / 2, half), max(width - half, half))
        body.append(_text(middle, y + 9 + LINE / 2 + 2, label, FONT, DARK))
        text, width, y = f"{text} | {label}", max(width, 2 * half), y + 20 + LINE
    height = y if spans else row.height
    return Picture("\n".join(body), width, height, text, row.axis)
