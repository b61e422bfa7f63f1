"""How good is a player?  Many games, their mean and how far it can be trusted."""

import functools
import time
from dataclasses import dataclass
from itertools import accumulate
from numbers import Integral
from typing import NamedTuple

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.game.board import begin, next_state, slide, whole, word_after
from lib2048.game.game import Game
from lib2048.game.rng import stream
from lib2048.learn.settings import MOST_GAMES, MOST_THREADS
from lib2048.machine.memory import check_memory
from lib2048.machine.schema import is_number
from lib2048.machine.terminal import bar, in_short
from lib2048.machine.threads import Crowd
from lib2048.play.players import OVER, PolicyPlayer, game_of, player, seen
from lib2048.play.statistics import mean_ci95

GAMES_AT_ONCE = 200  # of a thread, before it takes the next
GAME_BYTES = 24  # score, largest tile, and what it takes to sum them up
TEST_SEED = 2048  # no default seed of training: a test has luck that no training game had


def reached(largest, game=WHOLE):
    """Return {tile: share of games that reached it}, for the tiles that some game reached.

    largest: exponents of each game's largest tile, int array; game: `Game`, how tiles are written.
    Raises ValueError for other numbers.
    """
    largest = np.asarray(largest)
    if largest.size and (largest.dtype.kind not in "iu" or largest.max() > 63):
        raise ValueError("exponents of largest tiles are whole numbers up to 63")
    tiles = range(1, int(largest.max(initial=0)) + 1)
    return {game.tile(e): float((largest >= e).mean()) for e in tiles}


def tiles_reached(largest, game=WHOLE):
    """Yield (tile, share of games that reached it, share that ended with it), from the smallest
    of the games' largest tiles on; see `reached`."""
    largest = np.asarray(largest)
    for exponent, (tile, share) in enumerate(reached(largest, game).items(), 1):
        if exponent >= largest.min():
            yield tile, share, float((largest == exponent).mean())


def statistics_block(scores, largest, label=None, game=WHOLE):
    """Return the text that this field reads: mean, max, and how many games reached which tile.

    A line per tile: share of the games that reached it and, in brackets, share of the games whose
    largest tile it was.  label: the number at the left, by default the number of games.
    """
    scores = np.asarray(scores)
    if not len(scores):
        return "no game is over yet"
    head = f"{label or len(scores)}\tmean = {scores.mean():.1f}\tmax = {scores.max():.0f}"
    lines = (f"\t{tile}\t{a:.1%}\t({b:.1%})" for tile, a, b in tiles_reached(largest, game))
    return "\n".join([head, *lines])


@dataclass(frozen=True)
class Result:
    """What a player did in many games.

    Attributes:
        scores: int64[games].
        largest: int64[games], exponents.
        moves: actions in all.
        seconds: time.
        game: what was played.
    """

    name: str
    scores: np.ndarray
    largest: np.ndarray
    moves: int
    seconds: float
    game: Game = WHOLE

    @property
    def mean(self):
        """The mean score, in points."""
        return mean_ci95(self.scores)[0]

    @property
    def ci95(self):
        """Half the width of the mean's 95 % confidence interval, in points."""
        return mean_ci95(self.scores)[1]

    @property
    def max(self):
        """The highest score."""
        return int(self.scores.max())

    @property
    def moves_per_s(self):
        """Actions a second, in all threads together."""
        return self.moves / self.seconds

    def reached(self):
        """Return {tile: share of the games that reached it}."""
        return reached(self.largest, self.game)

    def as_dict(self):
        """Return the result as the command line's JSON holds it."""
        return {
            "player": self.name,
            "games": len(self.scores),
            "mean": self.mean,
            "ci95": self.ci95 if len(self.scores) > 1 else None,
            "max": self.max,
            "moves": self.moves,
            "moves_per_s": self.moves_per_s,
            "reached": {str(tile): share for tile, share in self.reached().items()},
        }

    def __str__(self):
        return statistics_block(self.scores, self.largest, game=self.game)

    def __repr__(self):
        games = f"{len(self.scores):,} games"
        return f"<{self.name}: {self.mean:,.0f} ± {self.ci95:,.0f} points in {games}>"


def check_games(games, threads):
    """Raise ValueError or MemoryError, in one line, for numbers that make no sense."""
    if not all(is_number(number, Integral) and number >= 1 for number in (games, threads)):
        said = f"games {in_short(games)}, threads {in_short(threads)}"
        raise ValueError(f"{said}: both must be whole numbers of at least 1")
    if games > MOST_GAMES:
        raise ValueError(f"games {games}: {MOST_GAMES} is the most at a time")
    if threads > MOST_THREADS:
        raise ValueError(f"threads {threads}: {MOST_THREADS} is the most")
    check_memory(f"what {games:,} games end with", GAME_BYTES * games, "play fewer at a time")


def evaluate(
    who, games=1000, seed=TEST_SEED, threads=1, progress=False, stop=None, first=0, game=None
):
    """Let a player play many games.

    Game n has the luck of (seed, n), whatever the threads.  The Stop button, or an event `stop`
    that is set, ends it at once; a player that has a `stop` (see
    `players`) then stops playing, another ends the games that it has begun.

    Args:
        who: a player, a `Network`, or a name such as 'random'.
        games, threads: at least 1.
        stop: an event, such as `threading.Event`, or None.
        first: the number of the first game.
        game: what it shall play, a `Game` or its name, see `players.player`.

    Returns:
        `Result`.

    Raises:
        ValueError: for bad numbers, and a player of another game.
        MemoryError: for more games than fit.
        KeyboardInterrupt: where it is stopped.
    """
    check_games(games, threads)
    if not (is_number(first, Integral) and first >= 0):
        raise ValueError(f"first {in_short(first)}: games are numbered from 0 on")
    who = player(who, game)
    scores, largest, moves = np.zeros(games, np.int64), np.zeros(games, np.int64), 0
    with Crowd(threads, stop, getattr(who, "stop", None)) as crowd:
        crowd.do(getattr(who, "compile", lambda: who.play_games(0, 1, seed)))  # outside the clock
        begin, at = time.perf_counter(), 0
        with bar(progress, total=games, unit=" games", unit_scale=True) as shown:
            for rows in crowd.results(_parts(who, first, games, seed)):
                here = slice(at, at := at + len(rows))
                scores[here], largest[here] = rows[:, 1], rows[:, 3]
                moves += int(rows[:, 2].sum())
                shown.update(len(rows))
        seconds = time.perf_counter() - begin
    return Result(who.name, scores[:at], largest[:at], moves, seconds, game_of(who))


def _parts(who, first, games, seed):
    """Yield the games as tasks, so many together as the player likes."""
    at_once, last = getattr(who, "games_at_once", GAMES_AT_ONCE), first + games
    for start in range(first, last, at_once):
        yield functools.partial(who.play_games, start, min(at_once, last - start), seed)


class Step(NamedTuple):
    """One turn of a recorded game."""

    board: np.uint64  # the state
    action: int | None  # 0..3, None when the game is over
    reward: int
    afterstate: np.uint64  # the board itself when the game is over
    value: float | None  # what the player expects after that reward; None if it has no values
    word: np.uint64 = np.uint64(0)  # what the game remembers beside the board, see `Game.shown`


def record_game(who, seed=1, number=0, game=None):
    """Play one game and keep every turn: a list of `Step`, the last with action None.

    Args:
        game: what it shall play, see `players.player`.
    """
    who = player(who, game)
    game = game_of(who)
    if hasattr(who, "recorded"):
        return _steps(who, *who.recorded(seed, number))
    return [_step(*turn, game) for turn in _turns(who, seed, number, game)]


def _step(board, word, action, values, game):
    if action is None:
        return Step(board, None, 0, board, None if values is None else 0.0, word)
    after, reward = slide(board, action, game, word)
    value = None if values is None else values[action] - reward
    return Step(board, action, reward, after, value, word)


def _turns(who, seed, number, game):
    """Yield (board, word, action or None, values or None) of each turn of a game of a match."""
    board, word, luck = begin(stream(seed, number), game)
    while True:
        values = None
        if isinstance(who, PolicyPlayer):  # its luck comes from the game's own
            action, _, _, luck = who.policy(0, game, *map(np.uint64, (board, word, luck)))
        else:
            action, values = ask(who, *seen(who, game, board, word))
        action = None if action is None or action == OVER else int(action)
        yield board, word, action, values
        if action is None:
            return
        board, word, _, luck = next_state(board, word, action, luck, game)


def boards_of(who, seed=1, number=0):
    """Play a game of a match again and return its boards, uint64[moves + 1], the last where it
    ended; a list of integers, as `board.whole` has them, where a 65536 stood.

    A player whose moves take as long as a clock says plays another game.

    Args:
        who: a player.
        seed, number: of the match, and of the game in it.
    """
    game = game_of(who)
    if hasattr(who, "recorded"):
        return _shown(*who.recorded(seed, number)[:2], game)
    boards, words, *_ = zip(*_turns(who, seed, number, game))
    return _shown(np.array(boards, np.uint64), words, game)


def _shown(boards, words, game):
    """Return boards as they are, or in a list with their 65536."""
    if game.rules is not WHOLE.rules or not np.any(words):
        return boards
    return [whole(board, word, game) for board, word in zip(boards, words, strict=True)]


def shown(step, game=WHOLE):
    """Return the (board, afterstate) of a step as `board.whole` has them: with a 65536, too."""
    word = getattr(step, "word", 0)
    after = word if step.action is None else word_after(step.board, word, step.action, game)
    return whole(step.board, word, game), whole(step.afterstate, after, game)


def scores_after(steps, game=WHOLE):
    """Return the score after each of a game's steps, a list of int.

    It is what they have paid, or in Threes! what the tiles are worth then.
    """
    worth = [int(game.rules.points(np.uint64(step.afterstate))) for step in steps]
    return worth if any(worth) else list(accumulate(int(step.reward) for step in steps))


def _steps(who, boards, words, actions):
    """Return the steps of a game that a network played, see `NetworkPlayer.recorded`."""
    steps, worths = [], who.decide_all(boards, words)[1]
    for board, word, action, worth in zip(boards, words, actions.tolist(), worths):  # not the last
        after, reward = slide(board, action, who.game, word)
        steps.append(Step(board, action, reward, after, float(worth[action]) - reward, word))
    return [*steps, Step(boards[-1], None, 0, boards[-1], 0.0, words[-1])]


def ask(who, *state):
    """Return a player's (action, values or None); state: a board, and its word where it has one."""
    if hasattr(who, "decide"):
        return who.decide(*state)
    return who.choose(*state), who.values(*state) if hasattr(who, "values") else None
