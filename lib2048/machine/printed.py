"""What the command line prints: tables, facts and numbers, as wide as there is room for.

A terminal has a width and colours; a file has neither, and gets every cell in one line.  COLUMNS
says another width; NO_COLOR, or TERM=dumb, leaves the colours out.
"""

import math
import os
import re
import sys
import textwrap
from itertools import zip_longest

THIN = "\u202f"  # the thousands are set apart by a narrow space that does not break
GAP = "  "  # between two columns
LEAST = 9  # letters that a column of text keeps


def thousands(number):
    """Write a number without decimals, its thousands set apart: 68 664."""
    return set_apart(f"{number:,.0f}")


def set_apart(text):
    """Return a number that Python wrote, such as -1,234.5, as people read it: −1 234.5."""
    return text.replace(",", THIN).replace("-", "−")


def percent(share):
    """Write a share of 1: 91.4 %."""
    return f"{100 * share:.1f}{THIN}%"


def mean(value, half=None):
    """Write a mean and, where it is known, half the width of its interval: 961 ± 87."""
    known = half is not None and math.isfinite(half)
    return thousands(value) + (f" ± {thousands(half)}" if known else "")


def counted(count, what):
    """Write how many there are, one or more: 1 game, 1 000 games."""
    return f"{thousands(count)} {what}{'s' * (count != 1)}"


def size(bytes_):
    """Write how large a file is: 41.9 MB."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if bytes_ >= 10**power:
            return f"{bytes_ / 10**power:.1f} {unit}"
    return f"{bytes_} bytes"


# ---------------------------------------------------------------- the terminal


def on_terminal():
    """Say whether stdout is a terminal."""
    return bool(sys.stdout and sys.stdout.isatty())


def in_terminal():
    """Say whether somebody can type there, too."""
    return on_terminal() and bool(sys.stdin and sys.stdin.isatty())


def coloured():
    """Say whether colours are seen, and wanted: they never go into a file."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "dumb")
    return on_terminal() and not plain


def bold(text):
    """Return a text in bold letters where that is seen."""
    return f"\x1b[1m{text}\x1b[0m" if coloured() and text else text


def width():
    """Return how many letters a line has room for; in a file a line is as long as it is."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return (os.get_terminal_size(sys.stdout.fileno()).columns or 80) if on_terminal() else 10**6
    except (OSError, ValueError):
        return 80


# ---------------------------------------------------------------- tables and facts


def table(heads, rows):
    """Return rows as a table of text below its heads, no wider than there is room for.

    heads: of the columns; that of a column of numbers begins with > and stands at its right, as the
    numbers do.  rows: cells a row: text, numbers, or None for nothing.  What is too wide is broken
    at its spaces, the widest text first; a column without anything in it is left out.
    """
    heads, rows = list(heads), [[_cell(cell) for cell in row] for row in rows]
    kept = [k for k in range(len(heads)) if not rows or any(row[k] for row in rows)]
    heads, rows = [heads[k] for k in kept], [[row[k] for k in kept] for row in rows]
    right = [head.startswith(">") for head in heads]
    heads = [head.removeprefix(">") for head in heads]
    columns = list(zip(heads, *rows, strict=True))
    wide = [max(map(len, column)) for column in columns]
    least = [
        max(map(len, (*head.split(), *cells))) if number else min(most, _least((head, *cells)))
        for (head, *cells), number, most in zip(columns, right, wide, strict=True)
    ]
    room = width() - len(GAP) * (len(columns) - 1)
    while sum(wide) > room and (more := [k for k in range(len(wide)) if wide[k] > least[k]]):
        wide[max(more, key=lambda k: wide[k])] -= 1
    head, *body = (_lines(row, wide, right) for row in (heads, *rows))
    return "\n".join([*map(bold, head), *(line for row in body for line in row)])


def facts(pairs):
    """Return what is said of a thing, a line a pair of name and value; long values are broken.

    A pair without a value is left out; without a name it goes on with the one above.
    """
    pairs = [(name, _cell(value)) for name, value in pairs if value not in (None, "")]
    wide = max(len(name) for name, _ in pairs)
    room = max(width() - wide - len(GAP), 2 * LEAST)
    lines = []
    for name, value in pairs:
        first, *more = _broken(value, room)
        lines += [f"{bold(name)}{'':{wide - len(name)}}{GAP}{first}"]
        lines += [f"{'':{wide}}{GAP}{line}" for line in more]
    return "\n".join(line.rstrip() for line in lines)


def broken(text):
    """Return a text in lines that there is room for."""
    return "\n".join(_broken(text, max(width(), 2 * LEAST)))


def _least(cells):
    """Return how narrow a column of text may be: it keeps words whole that are not very long."""
    words = re.split(r"[\s-]+", " ".join(cells))
    return min(2 * LEAST, max(LEAST, 1 + max(map(len, words))))


def _cell(value):
    if value is None:
        return ""
    return value if isinstance(value, str) else thousands(value)


def _lines(row, wide, right):
    """Return the lines that a row takes."""
    cells = [_broken(cell, most, True) for cell, most in zip(row, wide, strict=True)]
    lines = []
    for pieces in zip_longest(*cells, fillvalue=""):
        placed = zip(pieces, wide, right, strict=True)
        line = GAP.join(f"{piece:{'>' if number else '<'}{most}}" for piece, most, number in placed)
        lines.append(line.rstrip())
    return lines


def _broken(text, most, at_hyphens=False):
    """Return the lines of a text; a path or an option is broken at no hyphen of its own."""
    lines = textwrap.wrap(text, most, break_on_hyphens=at_hyphens) if len(text) > most else []
    return lines or [text]
