"""The game that is played in the browser, as the kernel keeps it: the twin of game.js."""

import math
from os.path import commonprefix
from typing import NamedTuple

import numpy as np

from lib2048.game import board as rules
from lib2048.game.bits import LARGEST_EXPONENT, WHOLE
from lib2048.game.rng import stream
from lib2048.play.evaluation import Step

PLAYED = ("2048", "threes")  # the rules that games.js has
OWN, HINTED, PLAYERS = "012"  # by whom an action was: by hand, with a hint on the board, a player


class Turn(NamedTuple):
    """Where a game stands."""

    board: int
    word: int
    score: int
    state: int  # of the random numbers: after an undo the same tile spawns again


def told(game):
    """Return what game.js has to know of a game: JSON."""
    return {
        "name": game.name, "rules": game.rules.NAME, "rows": game.rows, "columns": game.columns,
        "fours": int(game.fours), "tiles": rules.tiles_of(game),
        "shown": [*game.rules.SHOWN],
    }  # fmt: skip


class Narrow:
    """An endgame to be played: its large tiles stand, and it is won when the target does.

    Args:
        table: an endgame's `Table`.
        board: uint64, a position whose large tiles are meant; None: some in falling order.

    Raises:
        ValueError: for a board that is not in the formation.
    """

    def __init__(self, table, board=None):
        self.table, formation = table, table.formation
        if board is None:
            large = [cell for cell in range(16) if cell not in formation.cells]
            tiles = sorted(large, key=lambda cell: (cell // 4, (-cell, cell)[cell // 4 % 2]))
            first = max(formation.exponent, LARGEST_EXPONENT - 1 - len(tiles))
            board = sum(first + n << 4 * cell for n, cell in enumerate(tiles))
        self.table.values(board)
        exponents = enumerate(rules.to_exponents(board).tolist())
        large = (e << 4 * cell for cell, e in exponents if e >= formation.exponent)
        self.walls = np.uint64(sum(large))
        self.game = table.game

    def told(self):
        """Return what games.js has to know, see `told`: JSON."""
        formation = self.table.formation
        more = {"walls": to_hex(self.walls), "target": formation.exponent, "name": str(formation)}
        return told(self.game) | more

    def begin(self, state):
        """Return (board, word, state) of two random tiles beside the large ones."""
        board, state = rules.spawn(*rules.spawn(self.walls, state, self.game), self.game)
        return board, 0, state

    def allows(self, board, action):
        """Say whether an action keeps the formation, and nothing is decided yet."""
        return not self.table.has_won(board) and action in self.table.values(board)


def turned(game, board, word, state, action):
    """Return what an action makes of a state: (board, word, reward, points of luck, random state).

    None stands for an action that is not legal.
    """
    after, reward = rules.slide(board, action, game, word)
    if after == board:
        return None
    board, word, more, state = rules.next_state(board, word, action, state, game)
    return board, word, reward, more, state


class Game:
    """A game as a list of decisions, from which its boards and its score follow.

    seed, number: game `number` of that seed, any integers; start: a board, as `board.whole` has it,
    for a game that does not begin as the seed says; narrow: the `Narrow` of an endgame.  `by` tells
    of each action whose it was.
    """

    def __init__(self, seed=1, number=0, start=None, game=WHOLE, narrow=None):
        self.seed, self.number, self.start, self._by = int(seed), number, start, []
        self.game, self.narrow, state = game, narrow, stream(self.seed, number)
        board, word, later = narrow.begin(state) if narrow else rules.begin(state, game)
        if start is not None:
            (board, word), later = rules.parts(start, word), state
        score = int(game.rules.points(np.uint64(board)))
        self.turns, self._actions = [Turn(board, word, score, later)], []

    @property
    def here(self):
        """The `Turn` at which the game stands."""
        return self.turns[-1]

    @property
    def actions(self):
        """The actions so far, as a text of digits 0..3."""
        return "".join(self._actions)

    @property
    def by(self):
        """By whom the actions were, as a text: OWN, HINTED or PLAYERS each."""
        return "".join(self._by)

    @property
    def helped(self):
        """Whether a player took some of the actions, or a hint stood on the board."""
        return any(by != OWN for by in self._by)

    @property
    def alone(self):
        """The `Turn` up to which all actions were one's own."""
        return self.turns[next((i for i, by in enumerate(self._by) if by != OWN), len(self._by))]

    def act(self, action, by=OWN):
        """Take an action (0..3); return its reward, or None when it is not legal."""
        board, word, score, state = self.here
        if self.narrow and not self.narrow.allows(board, action):
            return None
        found = turned(self.game, board, word, state, action)
        if found is None:
            return None
        board, word, reward, more, state = found
        self.turns.append(Turn(board, word, score + reward + more, state))
        self._actions.append(str(action))
        self._by.append(by)
        return reward

    def undo(self, to=None):
        """Take actions back: the last one, or all after the first `to`."""
        to = max(len(self._actions) - 1, 0) if to is None else to
        del self._actions[to:], self._by[to:], self.turns[to + 1 :]

    def steps(self):
        """Return the game so far as `record_game` has one: `Step`s, the last with action None."""
        found = []
        for turn, action in zip(self.turns, self._actions):  # not the last turn
            board, word = np.uint64(turn.board), np.uint64(turn.word)
            after, reward = rules.slide(board, int(action), self.game, word)
            found.append(Step(board, int(action), reward, after, None, word))
        here = np.uint64(self.here.board)
        return [*found, Step(here, None, 0, here, None, np.uint64(self.here.word))]

    def as_dict(self):
        """Return the decisions as game.js has them: JSON."""
        return {
            "seed": str(self.seed), "number": self.number, "actions": self.actions,
            "start": None if self.start is None else to_hex(self.start), "by": self.by,
        }  # fmt: skip

    def following(self, decisions):
        """Return the game of these decisions; of this one it takes over what is alike.

        Raises ValueError for decisions that are no game's.
        """
        try:
            start, actions = decisions["start"], decisions["actions"]
            start = None if start is None else from_hex(start)
            seed, number = int(decisions["seed"]), int(decisions["number"])
            game = Game(seed, number, start, self.game, self.narrow)
            if game.turns[0] == self.turns[0]:
                game.turns, game._actions, game._by = self.turns[:], self._actions[:], self._by[:]
            game.undo(to=len(commonprefix([game.actions, actions])))
            if any(game.act(int(action)) is None for action in actions[len(game._actions) :]):
                raise ValueError("one of its actions is not legal")
            by = decisions.get("by", "").ljust(len(actions), OWN)
            if not set(by) <= {OWN, HINTED, PLAYERS} or len(by) > len(actions):
                raise ValueError("its actions are somebody else's")
            game._by = [*by]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is no game: {error!r}") from None
        return game


def finite(value):
    """Return a number as JSON has it: None for None, infinities and what is no number."""
    return float(value) if value is not None and math.isfinite(value) else None


def to_hex(board):
    """Write a board, or a random state, as 16 hexadecimal digits; more before them for a 65536."""
    return f"{int(board):016x}"


def from_hex(text):
    """Read what `to_hex` wrote: np.uint64, or an integer of more bits, see `board.whole`."""
    number = int(text, 16)
    return np.uint64(number) if number >> 64 == 0 else number


def position(board, game=WHOLE):
    """Return a board that people give, uint64 or rows of tiles, as `board.whole` has it.

    Raises ValueError, in words as game.js does, for one to which no game can come.
    """
    integer = isinstance(board, (int, np.integer))
    board = rules.from_tiles(rules.to_tiles(board, game) if integer else board, game)
    tiles = sorted((int(e) for e in rules.to_exponents(board) if e), reverse=True)
    if game.rules is not WHOLE.rules:
        if not tiles:
            raise ValueError("a game has tiles on its board, at any time")
        return board
    if len(tiles) < 2:
        raise ValueError("a game has at least two tiles on its board, at any time")
    if tiles[-1] > 2:
        raise ValueError("no 2 and no 4: the tile that came last is missing")
    top = game.rows * game.columns + (game.fours > 0)  # of 4s alone, each in a cell of its own
    for larger, exponent in enumerate(tiles):
        if exponent > top - larger:
            raise ValueError(
                f"too many large tiles: beside {larger} as large, there was no room "
                f"to make another {game.tile(exponent)}"
            )
    return board
