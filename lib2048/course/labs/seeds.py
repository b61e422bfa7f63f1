"""What a class's seed changes: the boards of the checks, its game, and what is each student's."""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lib2048.game.game import Game, parse_game
from lib2048.machine.files import read_toml
from lib2048.machine.terminal import say

CLASS_FILE = Path(__file__).with_name("class.toml")  # `make class` puts it into a class's wheel
DEFAULT = 2048
PLAIN, OWN = "2048", "own"  # the game of a class unless it asks for another; drawn by its seed
# What classes may play: hw04's scores were measured for these.
ODDS, BOARDS = ("0.05", "0.15", "0.2", "0.25", "0.3"), ("", "@3x4")
LABS_OF_GAMES = ("hw01", "hw02", "hw04", "hw08")  # the others are of 2048 in every class
# They keep 4x4: what hw02 teaches of bits needs a square, and hw08's cases have 16 cells.
ODDS_ALONE = ("hw02", "hw08")
DRAWN = tuple(f"2048:four={four}{board}" for board in BOARDS for four in ODDS)
GAMES = (PLAIN, "2048@3x4", *DRAWN)
# What else a lab draws by the class's seed where its game is another than plain 2048, such as
# {"hw01": {"largest": (32768, (1024, 2048, 4096))}}: what it is in plain 2048, and what is drawn
# from.  A lab's texts, cases and right answers are made from these.
_LARGEST = (32768, (1024, 2048, 4096, 8192, 16384, 32768))
_UNITS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24, 25, 30, 32, 36, 40)
RULES = {
    "hw01": {"largest": _LARGEST},
    "hw02": {"largest": _LARGEST},
    "hw04": {"unit": (1, _UNITS)},  # values are in units of so many points
    "hw06": {  # what E and A of a weight have to begin with, and at most take in of an error
        "credit": (0, tuple(range(1, 25))),
        "limit": (10**9, tuple(range(100, 330, 10))),
    },
    "hw07": {  # of the weight below; where E and A begin; states of a stage that are begun from
        "share": (1, tuple(percent / 100 for percent in range(55, 96, 2))),
        "awake": (0, tuple(range(2, 25))),
        "newest": (0, tuple(range(3, 25))),  # 0: all
    },
    "hw08": {"dead": (0, tuple(range(-5, -125, -5)))},  # what a state without an action is worth
}


def class_seed():
    """Return the class's seed: LIB2048_CLASS_SEED, or that of the class's wheel, or 2048."""
    given = _number("LIB2048_CLASS_SEED")
    return int(_class().get("seed", DEFAULT)) if given is None else given


def _class():
    """Return what `make class` has written down, {} where this is no class's wheel."""
    if not CLASS_FILE.exists():
        return {}
    return read_toml(CLASS_FILE)


@cache
def class_game() -> Game:
    """Return the class's `Game`: LIB2048_CLASS_GAME, or that of the class's wheel, or 2048.

    It is the same as long as this process lives: labs are made for it when they are imported.
    """
    name = os.environ.get("LIB2048_CLASS_GAME") or _class().get("game", PLAIN)
    try:
        return parse_game(game_for(name))
    except ValueError as error:  # every command imports the labs: no traceback of that
        say(f"LIB2048_CLASS_GAME: {error}")
        raise SystemExit(2) from None


@dataclass(frozen=True)
class LabRules:
    """The rules of a lab in one class.

    game: a `Game`; more: {name: value} of what `RULES` has for the lab; own: whether they differ
    from those of plain 2048.
    """

    game: Game
    more: dict
    own: bool

    @property
    def name(self):
        """How they are written: "2048:four=0.2@3x4, largest=4096"; in a plain class "2048"."""
        more = [f"{name}={value}" for name, value in self.more.items() if self.own]
        return ", ".join([self.game.name, *more])

    @property
    def words(self):
        """The words that they give to messages and notebooks."""
        game, four = self.game, round(float(self.game.four), 6)
        cells = game.rows * game.columns
        return {
            "game": game.name, "rows": game.rows, "columns": game.columns, "cells": cells,
            "last": cells - 1, "two": round(1 - four, 6), "four": four,
            "four_percent": f"{100 * four:g} %", "rules": self.name,
        } | self.more  # fmt: skip


def rules_of(lab, game=None, seed=None):
    """Return the `LabRules` of a lab in a class.

    game: of the class, its name; seed: the class's; by default those of this process.
    """
    game = class_game().name if game is None else game
    own, drawn = game != PLAIN, variant("", seed)
    more = {
        name: drawn.choose(f"{lab} {name}", options, 1)[0] if own else plain
        for name, (plain, options) in RULES.get(lab, {}).items()
    }
    if lab not in LABS_OF_GAMES:
        game = PLAIN
    if lab in ODDS_ALONE:
        game = game.partition("@")[0]
    return LabRules(parse_game(game), more, own and bool(more or game != PLAIN))


def game_for(name, seed=None):
    """Return how a class's game is written.

    name: of a game, or "own", which draws one by the class's seed.  Raises ValueError, in one line,
    for a game that is none or that no class can have.
    """
    name = variant("", seed).choose("game", DRAWN, 1)[0] if name == OWN else parse_game(name).name
    if name not in GAMES:
        raise ValueError(
            f"{name}: no class plays this game. Use {OWN}, or 2048, 2048@3x4, 2048:four=0.2, "
            f"2048:four=0.2@3x4: boards of 4x4 or 3x4, and 4s at {', '.join(ODDS)} or as in 2048"
        )
    return name


def lab_seed():
    """Return the seed that cases are drawn from: LIB2048_LAB_SEED, or the class's."""
    given = _number("LIB2048_LAB_SEED")
    return class_seed() if given is None else given


def _number(name):
    text = os.environ.get(name)
    if text is not None and not text.strip().isdigit():
        raise ValueError(f"{name}={text!r}: a seed is a whole number, such as 7")
    return None if text is None else int(text)


def variant(student, seed=None):
    """Return what a lab draws for one student: the same today, tomorrow and at the grader's.

    Args:
        student: number or name, where capitals and spaces do not count.
        seed: the class's, by default `class_seed()`.

    Returns:
        `Variant`.
    """
    plain = "".join(str(student).casefold().split())
    return Variant(plain, class_seed() if seed is None else int(seed))


@dataclass(frozen=True)
class Variant:
    """The numbers of one student in one class; each name draws a number of its own."""

    student: str
    seed: int

    def number(self, name, count):
        """Return a whole number from 0 to count - 1.  name: what it is for, "tuples"."""
        text = f"{self.seed}\n{self.student}\n{name}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()) % count

    def choose(self, name, options, count):
        """Return a list of so many different ones of the options, in an order of its own."""
        left, chosen = list(options), []
        for k in range(count):
            chosen.append(left.pop(self.number(f"{name} {k}", len(left))))
        return chosen
