"""A guest: a player that somebody else wrote as a Python file, in a process of its own.

The file defines `choose(board)`, which takes a board (np.uint64) and returns an action, 0..3, and
perhaps `NAME`, a string.  All its games are played inside its own process; what comes out is the
list of its actions, written down as they are taken.  The tournament plays that list again by its
own rules and random numbers, so nothing that a guest changes on its side changes a score.

This protects against accidents, not against malice; see `machine.child`.
"""

import contextlib
import faulthandler
import importlib.machinery
import importlib.util
import itertools
import json
import os
import re
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.game.board import afterstates, initial, max_exponent, slide, spawn, whole, word_after
from lib2048.game.game import parse_game
from lib2048.game.rng import stream
from lib2048.game.spec import ACTIONS
from lib2048.machine.child import Ended, ask
from lib2048.machine.files import read_bytes

MOST_TEXT = 200  # characters of a reason, MOST_NAME of a name
MOST_NAME = 40
MOST_LOG = 256 << 20  # bytes that the actions of all games may take
TAMPERED = "has changed the record of its games"
FILES = LOG, WATCH = "games.txt", "watch.txt"


@dataclass(frozen=True)
class GuestLimits:
    """How long a guest may think, and how much memory it may take.

    ms_per_move: a move that takes longer is late; late_moves: a game ends at that one; extra_s:
    how much longer a single move may take before its process is ended; moves: a game may take that
    many moves' time in all; import_s: how long loading its file may take; memory_mib: how much
    memory its process may take beyond the library's own; failures: so many games in a row that end
    by the guest's own fault end its tournament.
    """

    ms_per_move: float = 100
    late_moves: int = 10
    extra_s: float = 10
    moves: int = 20_000
    import_s: float = 30
    memory_mib: int = 2048
    failures: int = 3

    @property
    def move_s(self):
        """Seconds after which a move's process is ended."""
        return self.extra_s + self.ms_per_move / 1000

    @property
    def game_s(self):
        """Seconds that a game may take in all."""
        return self.move_s + self.moves * self.ms_per_move / 1000

    def seconds(self, games):
        """Return how long a process may live that is to play that many games."""
        rules = 60  # which may have to be compiled first
        return rules + min(self.import_s + games * self.game_s, 1e8)


@dataclass(frozen=True)
class Game:
    """One game of a guest: score, moves and exponent of its largest tile by the tournament's rules.

    seconds: time that it thought; late: moves that took too long; why: how the guest ended its
    game, in words, "" where it played to the end.
    """

    score: int
    moves: int
    largest: int
    seconds: float
    late: int
    why: str


# ---------------------------------------------------------------- the tournament's side


def play_file(path, games, seed, limits, progress=lambda done: None, rules=WHOLE):
    """Let a Python file's player play games 0, 1, … of a seed; return (its name, [`Game`]).

    rules: what is played, a `game.Game` of 2048.

    There are fewer games where it was stopped (`GuestLimits.failures`).  progress is called, in
    another thread, with the number of games that are over.  Raises `Ended`, with the reason, when
    the file cannot be loaded.  A process that ends is started again for the next game.
    """
    name, played = "", []
    while len(played) < games and not is_out(played, limits):
        try:
            name, some = _some_games(path, played, games, seed, limits, progress, rules)
        except Ended as ended:
            if not played:
                raise
            some = [_replayed("", {"why": ended.reason}, seed, len(played), rules)]
        played += some
    return name, played


def is_out(played, limits):
    """Say whether the last games all ended by the guest's own fault, too many to go on."""
    last = played[-limits.failures :]
    return len(last) == limits.failures and all(game.why for game in last)


def _some_games(path, played, games, seed, limits, progress, rules):
    """Return (name, games) of one process, from the game after those played; at least one."""
    first, count = len(played), games - len(played)
    running = len(list(itertools.takewhile(lambda game: game.why, reversed(played))))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        message = {"file": os.path.abspath(path), "folder": folder, "seed": seed, "first": first}
        message |= {"count": count, "failures": running, "limits": asdict(limits)}
        message |= {"game": rules.name}
        with _followed(Path(folder, LOG), lambda done: progress(first + done)):
            try:
                seconds = limits.seconds(count)
                why = ask(f"{__name__}:serve", message, seconds, limits.memory_mib)["answer"]["why"]
            except Ended as ended:  # before its games did
                why = ended.reason
        return _read(Path(folder), path, why, seed, first, limits, count, rules)


def _read(folder, file, why, seed, first, limits, count, rules=WHOLE):
    """Return (name, games) as a process wrote them down; one that broke off ends by `why`.

    count: how many it was asked for; of more than these only so many are taken.
    """
    name, *lines = _text(folder / LOG).split("\n")
    if frames := _text(folder / WATCH):  # by faulthandler
        limit = limits.move_s if lines else limits.import_s
        script = Path(file).name.encode("ascii", "backslashreplace").decode()
        line = re.search(rf'{re.escape(script)}", line ([0-9]+) in', frames)
        where = f" (line {line[1]})" if line else ""
        why = f"took longer than {limit:g} s{where}: is there a loop without end?"
    if not lines:  # not even loaded
        raise Ended(why or TAMPERED)
    *over, open_game = (line.partition(" ") for line in lines)
    games = [(actions, _about(text)) for actions, _, text in over]
    games += [(open_game[0], {"why": why})] if why else []
    if len(games) > count:
        games = [*games[: count - 1], (games[count - 1][0], {"why": TAMPERED})]
    return plain(name), [_replayed(*game, seed, first + n, rules) for n, game in enumerate(games)]


def _about(text):
    """Return {"seconds", "late", "why"} of a game, as its process noted them."""
    try:
        told = json.loads(text)
        seconds, late, why = float(told["seconds"]), int(told["late"]), told["why"]
        if 0 <= seconds < 1e9 and 0 <= late < 1e9:
            return {"seconds": seconds, "late": late, "why": plain(why, MOST_TEXT)}
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        pass
    raise Ended(TAMPERED)


def _replayed(actions, about, seed, number, rules):
    """Return the `Game` that actions make by our own rules and random numbers.

    actions: their digits; about: seconds, late and why, as the guest's process noted them.
    """
    (board, random), word = initial(stream(seed, number), rules), 0
    score = moves = 0
    for action in actions:
        known = action in "0123"
        after, reward = slide(board, int(action), rules, word) if known else (board, 0)
        if after == board:
            about = about | {"why": "took actions against the rules: has it changed the library?"}
            break
        score, moves = score + reward, moves + 1
        word = word_after(board, word, int(action), rules)
        board, random = spawn(after, random, rules)
    largest = max_exponent(whole(board, word, rules))
    return Game(score, moves, largest, about.get("seconds", 0), about.get("late", 0), about["why"])


def _text(path):
    """Return what a guest's process has written, "" for nothing and for no plain file."""
    with contextlib.suppress(ValueError):
        return read_bytes(path, MOST_LOG).decode("utf-8", "replace")
    return ""


@contextlib.contextmanager
def _followed(log, progress):
    """Tell progress, twice a second, how many games a log holds."""
    over = threading.Event()

    def follow():
        while not over.wait(0.5):
            progress(max(0, _text(log).count("\n") - 1))

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        over.set()
        follower.join()


# ---------------------------------------------------------------- inside the guest's process


class _Failure(Exception):
    """Say how a guest ended its game by its own fault."""


def serve(message):
    """Play a guest's games and write them down; return {"why": the reason if it did not load}.

    A task of `child.ask`.  The log's first line is the name; then comes a line a game: its actions,
    each written as soon as it is taken, a space, and what else there is to say, as JSON.
    """
    rules = parse_game(message["game"])
    board, random = initial(stream(0, 0), rules)  # compiles them, or loads, before a clock runs
    afterstates(board, rules), spawn(np.uint64(0), random, rules), word_after(board, 0, 0, rules)
    folder, limits = message["folder"], GuestLimits(**message["limits"])
    with contextlib.ExitStack() as files:
        log, watch = (files.enter_context(open(f"{folder}/{name}", "wb", 0)) for name in FILES)
        guest = _Guest(message["file"], limits, log, watch, rules)
        try:
            guest.load()
        except _Failure as failure:
            return {"why": str(failure)}
        guest.play(message["seed"], message["first"], message["count"], message["failures"])
        faulthandler.cancel_dump_traceback_later()
    return {"why": ""}


class _Guest:
    """A loaded file that plays; files of open bytes: log for its games, watch for its loops."""

    def __init__(self, file, limits, log, watch, rules):
        self.file, self.limits, self.log, self.watch = file, limits, log, watch
        self.rules = rules
        self.watched, self.now = 0.0, time.perf_counter  # taken now: a guest may change `time`

    def load(self):
        """Run the file and write down its name.  Raises _Failure."""
        faulthandler.dump_traceback_later(self.limits.import_s, exit=True, file=self.watch)
        try:
            module = _module(self.file)
        except BaseException as error:
            raise _Failure(self._what(error)) from None
        self.choose = getattr(module, "choose", None)
        if not callable(self.choose):
            raise _Failure("has no function choose(board)")
        self.log.write(f"{plain(getattr(module, 'NAME', ''))}\n".encode())

    def play(self, seed, first, count, failures):
        """Play games; failures: how many ended by the guest's own fault just before the first."""
        for number in range(first, first + count):
            about = self._game(seed, number)
            self.log.write(f" {json.dumps(about)}\n".encode())
            failures = failures + 1 if about["why"] else 0
            if failures >= self.limits.failures:
                return

    def _game(self, seed, number):
        """Play a game, its actions going to the log; return {"seconds", "late", "why"}."""
        self.seconds, self.late, why = 0.0, 0, ""
        (board, random), word = initial(stream(seed, number), self.rules), 0
        try:
            while found := afterstates(board, self.rules, word):
                legal = {action: after for action, after, _ in found}
                action = self._action(board, legal, word > 0)
                self.log.write(b"%d" % action)
                word = word_after(board, word, action, self.rules)
                board, random = spawn(legal[action], random, self.rules)
        except _Failure as failure:
            why = str(failure)
        return {"seconds": self.seconds, "late": self.late, "why": why}

    def _action(self, board, legal, large):
        """Ask for an action and look at it.  Raises _Failure.

        large: a 65536 stands, which the guest sees as a 32768: it cannot know that the two do not
        merge, and the first legal action is taken in its place.
        """
        begin = self._watch()
        try:
            action = self.choose(board)
        except BaseException as error:
            raise _Failure(self._what(error)) from None
        self._count(self.now() - begin)
        if isinstance(action, bool) or not isinstance(action, (int, np.integer)):
            kind = "None" if action is None else f"a {type(action).__name__}"
            raise _Failure(f"returned {kind}: an action is a whole number, 0 to 3")
        if action in legal:
            return int(action)
        if 0 <= action <= 3 and large:
            return min(legal)
        if 0 <= action <= 3:
            raise _Failure(f"took {ACTIONS[action]} where it moves no tile")
        number = int(action) if abs(int(action)) < 1000 else "a large number"
        raise _Failure(f"returned {number}: an action is 0, 1, 2 or 3")

    def _watch(self):
        """End the process if a move hangs, even in compiled code; return the time."""
        now = self.now()
        if now - self.watched > 1:  # each call starts a thread, 0.1 ms: not for every move
            self.watched, seconds = now, self.limits.move_s + 1
            faulthandler.dump_traceback_later(seconds, exit=True, file=self.watch)
        return now

    def _count(self, seconds):
        """Count the time of a move.  Raises _Failure where a game has had enough of it."""
        limits = self.limits
        self.seconds += seconds
        self.late += 1000 * seconds > limits.ms_per_move
        if self.late >= limits.late_moves:
            raise _Failure(f"took longer than {limits.ms_per_move:g} ms for {self.late} moves")
        if self.seconds > limits.game_s:
            raise _Failure(f"took longer than {limits.game_s:g} s for a game")

    def _what(self, error):
        """Say in a sentence what was raised, and by which line of the file."""
        if isinstance(error, MemoryError):
            return f"used more than {self.limits.memory_mib} MiB of memory"
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        if isinstance(error, RecursionError):
            what = "recursed without end"
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self.file]
        return plain(f"{what} (line {lines[-1]})" if lines else what, MOST_TEXT)


def _module(file):
    """Run a Python file in its own folder and return it as a module."""
    sys.path[:] = map(os.path.abspath, sys.path)  # "" would become that folder, and hide modules
    sys.dont_write_bytecode = True  # nothing is to appear beside the submissions
    os.chdir(os.path.dirname(file))
    loader = importlib.machinery.SourceFileLoader("guest", file)
    spec = importlib.util.spec_from_loader("guest", loader)
    module = sys.modules["guest"] = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def plain(text, most=MOST_NAME):
    """Return a text in one line, of that many characters at most and all of them printable."""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    words = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)
    return words if len(words) <= most else f"{words[: most - 1]}…"
