"""A ladder of speeds: kinds of boards, each checked against the rules before it is timed.

A fast wrong answer is worth nothing.  So every kind has to slide as `spec` does, on boards from
nearly empty to full, and to spawn as often as `spec` does; only then is random play with it timed
and set beside what the reader foretold.
"""

import math
import random
import time
from collections import Counter
from typing import Any, NamedTuple

from lib2048.game import spec
from lib2048.game.bits import LARGEST_EXPONENT

ACTIONS = range(4)
THREE_EMPTY = [[2, 4, 2, 4], [4, 0, 4, 2], [2, 4, 0, 4], [4, 2, 4, 0]]
LARGEST = 1 << LARGEST_EXPONENT  # a tile of four bits
FAR = 6  # standard deviations; by luck that happens once in 500 million counts


class BoardKind(NamedTuple):
    """A kind of board: what random play does with it, and how it is read.

    Attributes:
        slide: (board, action 0..3) → (afterstate, reward).
        spawn: afterstate → next state.
        same: (board, board) → bool.
        empty: the board without a tile.
        pack: a list of rows of tiles → board.
        unpack: a board → a list of rows of tiles.
    """

    slide: Any
    spawn: Any
    same: Any
    empty: Any
    pack: Any
    unpack: Any


def wrong_slides(kind, boards=500, seed=2048, largest=LARGEST):
    """Return every (tiles, action) for which `spec` has another answer than a kind of board.

    boards: how many random boards are tried with all four actions, from nearly empty to full.
    largest: the tile that the kind's game ends at; no two of it meet.
    """

    def answer(tiles, action):
        after, reward = kind.slide(kind.pack(tiles), action)
        return kind.unpack(after), reward

    rng = random.Random(seed)
    cases = [_random_tiles(rng, largest // 2) for _ in range(boards)]
    return [(t, a) for t in cases for a in ACTIONS if answer(t, a) != spec.slide(t, a)]


def _random_tiles(rng, high):
    filled, tiles = rng.random(), rng.choice([(2, 4), (2, 4, 8, 16), (2, 64, high // 2, high)])
    return [[rng.choice(tiles) * (rng.random() < filled) for _ in range(4)] for _ in range(4)]


def wrong_spawns(kind, spawns=20_000, four=spec.FOUR_CHANCE):
    """Return {board: (how often it spawned, how often by `spec`)} where these are far apart.

    four: the chance of a 4.  Three cells are empty, so there are six next states; far is
    six standard deviations.
    """
    rules = LISTS._replace(spawn=lambda board: spec.spawn(board, random, four))
    here, there = _outcomes(kind, spawns), _outcomes(rules, spawns)
    pairs = {board: (here[board], there[board]) for board in here | there}
    return {board: (a, b) for board, (a, b) in pairs.items() if (a - b) ** 2 > FAR**2 * (a + b)}


def _outcomes(kind, spawns):
    board = kind.pack(THREE_EMPTY)
    return Counter(str(kind.unpack(kind.spawn(board))) for _ in range(spawns))


LISTS = BoardKind(
    spec.slide, lambda board: spec.spawn(board, random), list.__eq__, [[0] * 4] * 4, list, list
)


class Ladder:
    """Rungs of speed, each checked, timed and set beside a prediction; prints one line a rung.

    Args:
        seconds: the shortest stretch that is timed.
        trials: how many, of which the best counts, since other programs can only slow us down.
        boards, spawns: how much each kind is checked.
        four, largest: the chance of a 4 in the game that is played, and the tile it ends at.

    Attributes:
        predicted: {name of a rung: times the first rung, None without a guess}.
        rates: {name: moves/s}, in their order.
    """

    def __init__(
        self, seconds=0.2, trials=5, boards=500, spawns=20_000, four=spec.FOUR_CHANCE,
        largest=LARGEST,
    ):  # fmt: skip
        self.seconds, self.trials, self.boards, self.spawns = seconds, trials, boards, spawns
        self.four, self.largest = four, largest
        self.predicted, self.rates = {}, {}

    def climb(self, name, kind, play):
        """Check a `BoardKind` and time play(slide, spawn, same, empty, games) → moves with it.

        Raises:
            ValueError: where it slides or spawns otherwise than the rules.
        """
        if wrong := wrong_slides(kind, self.boards, largest=self.largest):
            tiles, action = min(wrong, key=lambda case: -str(case).count(" 0"))
            raise ValueError(
                f"{name}: {len(wrong)} slides are wrong, as {spec.ACTIONS[action]} of {tiles}"
            )
        if wrong := wrong_spawns(kind, self.spawns, self.four):
            raise ValueError(f"{name}: spawns too often or too rarely: {wrong}")
        return self.time(name, lambda games: play(*kind[:4], games))

    def time(self, name, play):
        """Time play(games) → moves, and return and keep its moves a second."""
        self.rates[name] = rate = self.rate(play)
        [first, base] = next(iter(self.rates.items()))
        said = f" (you said × {self.predicted[name]})" if self.predicted.get(name) else ""
        times = f" = {first} × {rate / base:,.1f}" if name != first else ""
        print(f"{name}: {rate:,.0f} moves/s{times}{said}")
        return rate

    def rate(self, play):
        """Return the moves a second of play(games) → moves, the best of the trials."""
        play(1)  # may compile
        games, seconds = 1, 0
        while seconds < self.seconds:
            games *= 2
            _, seconds = _timed(play, games)
        return max(moves / s for moves, s in (_timed(play, games) for _ in range(self.trials)))

    def misjudged(self):
        """Return the name of the rung that is furthest from its prediction, None without any."""
        _, base = next(iter(self.rates.items()), (None, 1))
        off = {
            n: abs(math.log(p * base / self.rates[n]))
            for n, p in self.predicted.items()
            if p and n in self.rates
        }
        return max(off, key=off.get, default=None)

    def draw(self, ax=None):
        """Draw the rungs, each with its factor to the one before it; return ax."""
        from lib2048.show import plot

        return plot.ladder(list(self.rates), list(self.rates.values()), ax=ax)


def _timed(play, games):
    begin = time.perf_counter()
    moves = play(games)
    return moves, time.perf_counter() - begin
