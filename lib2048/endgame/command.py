"""The command line of endgames: lib2048 endgame 4411 --target 256 --out FILE"""

import os
from pathlib import Path

from lib2048.endgame.formation import Formation, names_one
from lib2048.endgame.solving import Build
from lib2048.endgame.table import load
from lib2048.game.board import from_tiles, to_text
from lib2048.machine import process
from lib2048.machine.printed import facts, percent, table

DIGITS = 6  # of a chance


def add(commands):
    """Add the command to the command line; commands: of argparse."""
    narrow = commands.add_parser(
        "endgame",
        help="solve a narrow endgame exactly, or look a board up",
        usage="lib2048 endgame FORMATION --target TILE [--out FILE]\n"
        "       lib2048 endgame FILE --board BOARD",
        epilog="e.g. lib2048 endgame 4411 --target 64 --out 4411-64.npz",
    )
    text = (
        "free cells of each row, such as 4411 or 442; free8: 8 of them, where the large tiles may "
        "move; or a file that --out has written"
    )
    narrow.add_argument("formation", metavar="FORMATION", help=text)
    text = "the tile that wins: 8, 16, 32 …; the large tiles are at least as large"
    narrow.add_argument("--target", type=int, metavar="TILE", help=text)
    narrow.add_argument("--out", metavar="FILE", help="file for the table, .npz")
    text = "16 tiles, row by row, with commas; 0 for an empty cell"
    narrow.add_argument("--board", metavar="BOARD", help=text)


def run(options):
    """Carry out the command; return (what --json prints, the text, and perhaps the exit status)."""
    if not names_one(options.formation):
        if not os.path.lexists(options.formation):
            how = "no such file, and no formation, such as 4411, 442 or free8"
            raise ValueError(f"{options.formation}: {how}")
        return _looked_up(options.formation, options.board)
    if options.target is None:
        raise ValueError("--target is missing: say which tile wins, such as --target 64")
    out = options.out
    if out is not None and Path(out).suffix != ".npz":
        raise ValueError(f"{out}: tables are saved as .npz")
    build = Build(Formation(options.formation, options.target), out)
    return lambda: _built(build, out)


def _built(build, out):
    try:
        solved = build.run(progress=True)
    except KeyboardInterrupt:
        how = "; the same command goes on" if out else ""
        return {}, "", process.stopped(f"stopped{how}")
    name, target = solved.formation.name, solved.formation.target
    stand = "may move" if solved.formation.free else "stand"
    found = {"formation": name, "target": target, "states": solved.states}
    found |= {"afterstates": solved.afterstates, "start": solved.start, "seconds": solved.seconds}
    text = facts([
        ("formation", f"{name}: {solved.formation.large} large tiles {stand}"),
        ("target", str(target)),
        ("states", solved.states),
        ("afterstates", solved.afterstates),
        ("start", f"{percent(solved.start)} from two random tiles, with best play"),
        ("took", f"{solved.seconds:.1f} s"),
        ("written to", out),
    ])  # fmt: skip
    return found, text


def _looked_up(file, said):
    if said is None:
        raise ValueError("--board is missing: 16 tiles, row by row, with commas")
    solved, board = load(file), read_board(said)
    chances = {name: round(chance, DIGITS) for name, chance in solved.chances(board).items()}
    success = max(chances.values(), default=0.0)
    found = {"formation": solved.formation.name, "target": solved.formation.target}
    found |= {"success": success, "actions": chances}
    rows = [(name, f"{100 * chance:.3f}\u202f%") for name, chance in chances.items()]
    told = table(("action", ">success"), rows) if rows else "no action keeps the formation: lost"
    return found, f"{to_text(board)}\n\n{told}"


def read_board(text):
    """Return the board of 16 tiles with commas between them.

    Raises ValueError, in one line, for anything else.
    """
    words = text.replace(" ", "").split(",")
    if len(words) != 16 or not all(word.isdecimal() for word in words):
        raise ValueError(f"board {text!r}: give 16 tiles, row by row, with commas; 0 for empty")
    tiles = [int(word) for word in words]
    return from_tiles([tiles[row : row + 4] for row in range(0, 16, 4)])
