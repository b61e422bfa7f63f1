"""A game as a value: its board, its tiles and spawns, and the rules that it is played by.

Kernels get a `Game` as numbers, so one compiled loop serves all sizes and odds.  What no number can
say (how tiles slide, what is put in) is a *rules* module: compiled functions of fixed names, which
kernels call as `rules.slide`, `rules.spawn` ….  `Game.bind` returns a kernel that calls those of
its own game, compiled once and inlined; for 2048 that is the kernel as it was written.

A state is a board and one more word, for what a game remembers beside its tiles: in 2048 where its
65536 stands, 0 until there is one.  Players of other games see its lowest bits only: in Threes!
which card comes next, and not what is left in the deck.  Another game is another module that holds
what `Rules` says.
"""

import inspect
import re
from collections.abc import Hashable
from typing import Any, NamedTuple, Protocol

import numpy as np

from lib2048.game.spec import FOUR_CHANCE
from lib2048.machine.kernels import bound, is_kernel
from lib2048.machine.terminal import meant

SEAM = "rules"  # the name by which kernels know the module with the rules


class Rules(Hashable, Protocol):
    """What a module of rules holds: kernels, and for people how a tile is written.

    Boards, words, actions, rewards and luck are uint64; game is a `Game`.
    """

    NAME: str  # as `parse_game` reads it
    OPTIONS: tuple[str, ...]  # what else it reads: ("four",) where 2s and 4s spawn, or ()
    SHOWN: tuple[str, ...]  # what the bits of a word that players see say, by number; () for none
    SEEN_BITS: np.uint64  # how many bits these are
    SEEN: np.uint64  # and a 1 in each of them
    MOST_OUTCOMES: np.uint64  # of one spawn: 32 in 2048, 2 tiles in 16 cells; at most 1024
    MOST_WORD: int  # the largest word, below 2^16; 0 where nothing is shown

    def slide(self, board, game):
        """Return (up, right, down, left, and the reward of each).

        An action that is not legal returns the board itself and 0.
        """

    def slide_one(self, board, action, game):
        """Return (afterstate, reward) of one action."""

    def begin(self, luck, game):
        """Begin a game: return (board, word, luck)."""

    def starts(self, game):
        """Return {(board, word): chance} of all that a game can begin with, as ints and floats."""

    def spawn(self, afterstate, word, action, moved, luck, game):
        """Let luck put something in: return (board, word, reward, luck).

        moved: a bit for each line, a row or a column, that the action has moved.
        """

    def outcomes(self, afterstate, word, action, moved, game, boards, words, weights, at):
        """List what `spawn` can lead to in boards, words and weights [at …]; return (count, total).

        Weights are float64 from 0 to 1; an outcome's chance is its weight / total.
        """

    def image(self, afterstate, word, action, moved, game):
        """Return the same four of an image that plays alike, and a key, equal for all that do."""

    def points(self, board):
        """Return what a board's tiles are worth where that is what a game's score counts, or 0."""

    def tile(self, exponent):
        """Return what is written on a tile, as an int; 0 for an empty cell."""


FAMILIES: list[Rules] = []  # the modules that have rules, 2048's first; see `register`
FOR_PEOPLE = ("starts", "tile")  # functions of one that nothing compiled calls
MOST_WORDS = 1 << 16  # of a game's states, as `by_rules` tells them apart


def register(rules: Rules) -> None:
    """Make a game known by its rules: `parse_game` reads its NAME from then on.

    rules: a module, or anything else that holds what `Rules` says.  Raises ValueError, in one line,
    for what is missing or of another kind, and for a name that is taken.
    """
    if why := _missing(rules) or _odd(rules):
        raise ValueError(f"rules {getattr(rules, 'NAME', rules)!r}: {why}")
    FAMILIES.append(rules)


def _missing(rules):
    """Say what a module of rules lacks, or has of another kind; "" where it is complete."""
    for name, said in Rules.__annotations__.items():
        kind: Any = getattr(said, "__origin__", said)  # tuple, of tuple[str, …]
        if not isinstance(found := getattr(rules, name, None), kind):
            return f"{name} has to be {kind.__name__}, not {found!r}"
    for name, form in vars(Rules).items():
        if name.startswith("_") or not inspect.isfunction(form):
            continue
        found, wanted = getattr(rules, name, None), list(inspect.signature(form).parameters)[1:]
        if not callable(found):
            return f"there is no function {name}({', '.join(wanted)})"
        if len(inspect.signature(found).parameters) != len(wanted):
            return f"write {name}({', '.join(wanted)})"
        if name not in FOR_PEOPLE and not is_kernel(found):
            return f"{name} is not compiled: write @kernel or @part above it"
    return ""


def _odd(rules):
    """Say which names and numbers do not fit together, or others; "" where all do."""
    if not re.fullmatch("[a-z0-9_-]+", rules.NAME) or re.match("[0-9]+x", rules.NAME):
        return "a game is written in small letters and digits, and not as a size is"
    if rules.NAME in [known.NAME for known in FAMILIES]:
        return "this game is known already; after an edit begin Python anew"
    if set(rules.OPTIONS) - {"four"}:
        return f"OPTIONS {rules.OPTIONS!r}: a game has ('four',), or ()"
    bits, many = int(rules.SEEN_BITS), len(rules.SHOWN)
    if (many, bits, rules.SEEN) not in ((0, 0, 0), (4, 2, 3)):  # tables lie four by four
        said = f"SHOWN says {many} things, SEEN_BITS is {bits}, SEEN {rules.SEEN}"
        return f"{said}: nothing is shown, (), 0, 0, or one of four things, 2, 3"
    if not 1 <= rules.MOST_OUTCOMES <= 1024:
        return f"MOST_OUTCOMES {rules.MOST_OUTCOMES}: from 1 to 1024"
    if not rules.SEEN <= rules.MOST_WORD < (MOST_WORDS if bits else 1):
        return f"MOST_WORD {rules.MOST_WORD}: from SEEN to 65535, and 0 where nothing is shown"
    return ""


class Game(NamedTuple):
    """A game as the numbers that kernels need; see `new_game` and `parse_game`."""

    right: np.uint64  # bits to shift back after a slide to the right
    down: np.uint64  # bits to shift back after a slide down
    cells: np.uint64  # a 1 in the lowest bit of each of its cells' four bits
    fours: np.uint64  # a spawned tile is a 4 where 32 random bits fall below this number
    four: np.float64  # the same as a chance
    family: np.uint64  # which rules: their number in FAMILIES
    apart: bool = False  # whether two 15s do not merge, see `tile_65536`

    @property
    def rules(self) -> Rules:
        """The module with the rules."""
        return FAMILIES[int(self.family)]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return 4 - int(self.down) // 16

    @property
    def columns(self) -> int:
        """The number of columns."""
        return 4 - int(self.right) // 4

    @property
    def most_word(self) -> int:
        """The largest word of a state: in 2048 the last of its cells, see `tile_65536`."""
        return 16 if self.family == 0 else self.rules.MOST_WORD

    @property
    def places(self) -> list[int]:
        """The numbers 0..15 of its cells, row by row."""
        return [4 * row + column for row in range(self.rows) for column in range(self.columns)]

    @property
    def chances(self) -> dict[int, float]:
        """What can spawn: {exponent: chance}."""
        return {e: p for e, p in ((1, 1 - float(self.four)), (2, float(self.four))) if p}

    @property
    def name(self) -> str:
        """How the game is written, as `parse_game` reads it: 2048, 2048@3x4, 2048:four=0.2."""
        four = repr(float(self.four)).removesuffix(".0")  # whole, or two games had one name
        odds = "" if self.four == FOUR_CHANCE else f":four={four}"
        size = "" if self.rows == self.columns == 4 else f"@{self.rows}x{self.columns}"
        return self.rules.NAME + odds + size

    def seen(self, board, word):
        """Return what a player is told of a state: (board,), or (board, word) with what is shown.

        Players of 2048 need to know nothing of words until there is a 65536.
        """
        if self.rules.SHOWN:
            return board, word & self.rules.SEEN
        return (board, word) if word else (board,)

    def shown(self, word) -> str:
        """Return what is shown beside a board, such as the next card, "" where nothing is."""
        return self.rules.SHOWN[int(word & self.rules.SEEN)] if self.rules.SHOWN else ""

    def bind(self, kernel):
        """Return a kernel as it plays this game: compiled with the game's own rules in it."""
        return bound(kernel, SEAM, self.rules)

    def tile(self, exponent: int) -> int:
        """Return what is written on a tile, as an int: 0 for an empty cell, else 2, 4, 8 …"""
        return self.rules.tile(exponent)

    def outcomes(self, afterstate, word=0, action=0, moved=15) -> list[tuple[float, np.uint64]]:
        """Return [(chance, state)] of what luck can put into an afterstate; states are uint64.

        moved: a bit for each line that the action has moved.  Empty where there is no room.
        """
        boards, words = np.zeros((2, int(self.rules.MOST_OUTCOMES)), np.uint64)
        weights, zero = np.zeros(len(boards)), np.uint64(0)
        a, w, by, lines = map(np.uint64, (afterstate, word, action, moved))
        count, total = self.rules.outcomes(a, w, by, lines, self, boards, words, weights, zero)
        return list(zip((weights[:count] / (total or 1)).tolist(), boards[:count]))


def new_game(rows: int = 4, columns: int = 4, four: float = FOUR_CHANCE, family: int = 0) -> Game:
    """Return the `Game` of a board size and odds.

    rows, columns: 1 … 4; four: the chance that a spawned tile is a 4, from 0 to 1; family: of
    rules.  Raises ValueError, in one line, for anything else.
    """
    if not (1 <= rows <= 4 and 1 <= columns <= 4):
        raise ValueError(f"a board of {rows}x{columns}: use 1 to 4 rows and columns")
    if not (isinstance(four, (int, float)) and 0 <= four <= 1):
        raise ValueError(f"four {four!r}: use the chance of a 4, from 0 to 1")
    cells = sum(1 << 4 * (4 * row + column) for row in range(rows) for column in range(columns))
    return Game(
        right=np.uint64(4 * (4 - columns)),
        down=np.uint64(16 * (4 - rows)),
        cells=np.uint64(cells),
        fours=np.uint64(round(four * 2**32)),
        four=np.float64(abs(four)),  # -0.0 is written as 0
        family=np.uint64(family),
        apart=family != 0,  # rules made from those of 2048 know no tile above 15
    )


def parse_game(name: str | Game) -> Game:
    """Return the `Game` that a name asks for: 2048, 2048@3x4, 2048:four=0.2, 2048:four=0.2@3x4.

    A `Game` is what it is.

    Raises:
        ValueError: in one line, for anything else.
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str):
        raise ValueError(f"a game is written as its name, such as 2048@3x4, not as {name!r}")
    first, at, size = name.partition("@")
    rules, colon, option = first.partition(":")
    families = [module.NAME for module in FAMILIES]
    if rules not in families:
        how = meant(rules, families) or f": use {', '.join(families)}, 2048@3x4, …"
        raise ValueError(f"unknown game {name!r}{how}")
    key, _, number = option.partition("=")
    family = families.index(rules)
    if colon and not FAMILIES[family].OPTIONS:
        raise ValueError(f"unknown game {name!r}: {rules} has no odds, so write {rules} alone")
    if colon and key not in FAMILIES[family].OPTIONS:
        raise ValueError(f"unknown game {name!r}: odds are written as in 2048:four=0.2")
    try:
        four = float(number) if colon else FOUR_CHANCE
    except ValueError:
        raise ValueError(f"four {number!r}: use the chance of a 4, from 0 to 1") from None
    rows, columns = parse_size(size) if at else (4, 4)
    return new_game(rows, columns, four, family)


def parse_size(size: str) -> tuple[int, int]:
    """Return (rows, columns) of a board size such as '2x3'.  Raises ValueError, in one line."""
    found = re.fullmatch("([0-9]{1,4})x([0-9]{1,4})", size)
    if not found:
        raise ValueError(f"board size {size!r}: write it as rows and columns, such as 2x3")
    rows, columns = map(int, found.groups())
    if rows * columns == 1:
        raise ValueError("board size '1x1': it has no room for the two tiles of the start")
    return rows, columns


def agreed(what: str, game: Game, asked: Game | str | None) -> Game:
    """Return the game of something, which somebody asks for, too, unless that is None.

    Raises ValueError, in one line, where another one is asked for; what: begins it.
    """
    if asked is not None and (other := parse_game(asked)) != game:
        raise ValueError(f"{what} plays {game.name}, not {other.name}")
    return game
