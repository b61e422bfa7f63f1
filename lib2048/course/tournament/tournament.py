"""A tournament: every submission of a folder plays the same games, and a leaderboard says how.

A submission is a file: weights, or a Python file's player (see `guest`).
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib2048.course.tournament.guest import GuestLimits, is_out, plain, play_file
from lib2048.course.tournament.leaderboard import Leaderboard, Standing
from lib2048.game.bits import WHOLE
from lib2048.game.game import Game, agreed, parse_game
from lib2048.machine.files import named, write_text
from lib2048.machine.printed import counted
from lib2048.machine.terminal import bar
from lib2048.networks import storage
from lib2048.play.evaluation import TEST_SEED, Result, check_games, evaluate
from lib2048.play.players import game_of, network_player
from lib2048.search.expectimax import check_limits

CSV, PAGE = "leaderboard.csv", "leaderboard.html"
MOST_NOTE = 300  # characters


def tournament(
    folder, out=None, games=100, ms_per_move=None, seed=TEST_SEED, progress=False, limits=None,
    game=WHOLE,
):  # fmt: skip
    """Let every submission of a folder play the same games; return a `Leaderboard`.

    folder: its files are weights, or Python files that define choose(board) (see `guest`); hidden
    files are passed over.  out: the folder for leaderboard.csv and leaderboard.html, or None.
    games ≥ 1: game n of every player has the luck of (seed, n).  ms_per_move: weights look ahead
    for that long, and Python files may think for that long; None: weights play at 1-ply, and
    Python files may think for 100 ms.  limits: `GuestLimits`, for other limits of Python files.
    game: what is played, a `Game` or its name; weights have to be of that game.

    A Python file's game ends, with its points so far, where it raises, takes an illegal action,
    is late for the tenth time or has its process ended; three such games in a row and it is out.
    Nothing that a submission does stops the others.  Stop, or Ctrl-C, writes what those that have
    finished did, and raises KeyboardInterrupt.  Raises ValueError, in one line and with nothing
    written, for bad arguments, and where no submission can play.
    """
    check_games(games, threads=1)
    game = parse_game(game)
    if ms_per_move is not None:
        check_limits(None, ms_per_move / 1000)
    limits = limits or GuestLimits(ms_per_move=ms_per_move or GuestLimits.ms_per_move)
    paths = _submissions(folder)
    _check_out(folder, out)
    play = _Tournament(game, games, ms_per_move, seed, limits, progress)
    standings = []
    try:
        for path in paths:
            standings.append(play(path, f"{len(standings) + 1} of {len(paths)}"))
    except KeyboardInterrupt:
        _write(play.leaderboard(standings, paths), out)
        raise
    board = play.leaderboard(standings, paths)
    if not any(row["games"] for row in board.rows):
        first, count = standings[0], len(standings)
        more = f" (and so on, {count} in all)" if count > 1 else ""
        raise ValueError(f"{folder}: nothing in it can play: {first.file}: {first.note}{more}")
    _write(board, out)
    return board


def _submissions(folder):
    """Return the paths of a folder that are not hidden, by name, or raise ValueError."""
    try:
        paths = sorted(Path(folder).iterdir())
    except FileNotFoundError:
        raise ValueError(f"{folder}: no such folder") from None
    except NotADirectoryError:
        raise ValueError(f"{folder}: is a file; give the folder of the submissions") from None
    except OSError as error:
        raise ValueError(f"{folder}: cannot be read: {error.strerror}") from None
    paths = [p for p in paths if not p.name.startswith(".") and p.name != "__pycache__"]
    if not paths:
        raise ValueError(f"{folder}: is empty: put each submission there, .npz or .py")
    return paths


def _check_out(folder, out):
    """Raise ValueError for a place where no leaderboard can be written, before hours of play."""
    if out is None:
        return
    out, folder = named(out).resolve(), Path(folder).resolve()
    if out.is_relative_to(folder):
        raise ValueError(f"{out}: lies among the submissions; write the leaderboard elsewhere")
    there = next(path for path in (out, *out.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise ValueError(f"{out}: nothing can be written there; choose another folder")


def _write(board, out):
    """Write both files of a leaderboard, if anybody has played."""
    if out is not None and any(row["games"] for row in board.rows):
        write_text(Path(out, CSV), board.csv())
        write_text(Path(out, PAGE), board.html())


class _Tournament(NamedTuple):
    """What every submission has in common."""

    game: Game
    games: int
    ms_per_move: float | None
    seed: int
    limits: GuestLimits
    progress: bool

    def __call__(self, path, which):
        """Let a submission play; return its `Standing`, whatever it does."""
        name = plain(path.name, most=80)
        if self.progress and sys.stderr is not None:
            print(f"{which}: {name}", file=sys.stderr, flush=True)
        try:
            if not path.is_file():
                return Standing(name, note="is not a file: submissions are files")
            play = self._guest if path.suffix.lower() == ".py" else self._weights
            return play(path, name)
        except Exception as error:  # nothing that is wrong with a file may stop the others
            note = (str(error) or type(error).__name__).removeprefix(f"{path}: ")
            return Standing(name, note=plain(note, MOST_NOTE))

    def leaderboard(self, standings, paths):
        """Return the leaderboard of what has been played so far."""
        missing = paths[len(standings) :]
        missing = [Standing(plain(path.name, 80), note="did not play") for path in missing]
        settings = {"games": self.games, "seed": self.seed, "ms_per_move": self.ms_per_move}
        settings |= {"game": self.game.name} if self.game != WHOLE else {}
        return Leaderboard([*standings, *missing], settings | {"finished": not missing})

    def _weights(self, path, name):
        network = storage.load(path, to_play=True)
        agreed(f"network {network.name}", game_of(network), self.game)
        seconds = self.ms_per_move and self.ms_per_move / 1000
        who = network_player(network, seconds=seconds)
        result = evaluate(who, self.games, self.seed, progress=self.progress)
        return Standing(name, result)

    def _guest(self, path, name):
        if self.game.rules is not WHOLE.rules:
            raise ValueError(f"Python files play 2048, not {self.game.name}")
        with bar(self.progress, total=self.games, unit=" games") as shown:
            tell = lambda done: shown.update(done - shown.n)  # noqa: E731
            called, games = play_file(path, self.games, self.seed, self.limits, tell, self.game)
        scores = np.array([game.score for game in games], np.int64)
        largest = np.array([game.largest for game in games], np.int64)
        moves, seconds = sum(game.moves for game in games), sum(game.seconds for game in games)
        result = Result(name, scores, largest, moves, seconds)
        out = is_out(games, self.limits)
        return Standing(name, result, _note(games, out), out, called)


def _note(games, out):
    """Say which games a guest ended by its own fault, and how often it was late."""
    ends = [(number, game.why) for number, game in enumerate(games) if game.why]
    late = sum(game.late for game in games)
    said = [f"disqualified in game {len(games) - 1}: {ends[-1][1]}"] if out else []
    if ends and not out:
        number, why = ends[0]
        count = f"{len(ends)} of {len(games)} games ended by its own fault"
        said.append(f"{count}, the first of them game {number}: {why}")
    if late:
        said.append(counted(late, "late move"))
    return plain("; ".join(said), MOST_NOTE)
