"""The kind of job that a [[play]] of a list asks for: a player in test games.

What it has played is kept every minute, and at least after each game of a slow player: when it is
stopped, it goes on with the next game.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.game.game import agreed, parse_game
from lib2048.game.tile_65536 import EXPONENT
from lib2048.machine.files import read_json, write_text
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.schema import MOST, Number
from lib2048.networks import neural
from lib2048.networks.storage import load
from lib2048.play.evaluation import GAMES_AT_ONCE, TEST_SEED, Result, check_games, evaluate
from lib2048.play.players import (
    NAMED,
    SearchPlayer,
    check_named,
    game_of,
    heuristic_player,
    network_player,
    player,
)
from lib2048.search.expectimax import MOST_PLIES, TIME_BINS, check_limits, plies_of
from lib2048.sweep import tables
from lib2048.sweep.job import PROCESS_BYTES, Task, network_bytes, weights_of

KEYS = {
    "name": str, "player": str, "network": str, "game": str, "games": int, "depth": int,
    "ms-per-move": float, "table-mib": int, "reduce": None, "threads": int, "endgames": str,
    "precision": str,
}  # fmt: skip
TILES = (2048, 4096, 8192, 16384, 32768)
SOON = 1.2  # times the limit, within which a move is in time
IN_TIME = int(100 * SOON)  # of the hundredths in `SearchPlayer.times`
PLAYED = "played.json"
COUNT, COUNTS = Number(), [Number()]
FORM = {  # of that file
    "job": dict,
    "sources": str,
    "scores": COUNTS,
    "largest": [Number(0, EXPONENT)],
    "moves": COUNT,
    "seconds": Number(0, MOST, whole=False),
    "depths": ([object, 0], [[COUNT, MOST_PLIES + 1], 17]),
    "times": ([object, 0], [COUNT, TIME_BINS]),
}
KEEP_SECONDS = 60  # between two times that it is written


@dataclass
class Played:
    """The games that a job has played: lists of numbers by game, and what they came to in all.

    sources: by which they were begun; moves, seconds: of all games; depths, times: of
    `SearchPlayer`, empty for other players.
    """

    sources: str = SOURCE_HASH
    scores: list = field(default_factory=list)
    largest: list = field(default_factory=list)
    moves: int = 0
    seconds: float = 0.0
    depths: list = ()
    times: list = ()

    def add(self, found, who):
        """Add the games of a `Result`, and what a search has counted meanwhile."""
        self.scores += found.scores.tolist()
        self.largest += found.largest.tolist()
        self.moves, self.seconds = self.moves + found.moves, self.seconds + found.seconds
        if isinstance(who, SearchPlayer):
            self.depths, self.times = (
                (more + np.array(before, np.int64) if len(before) else more).tolist()
                for before, more in ((self.depths, who.depths), (self.times, who.times))
            )
            who.forget()

    @property
    def result(self):
        """The `Result` of them all."""
        return Result("", np.array(self.scores), np.array(self.largest), self.moves, self.seconds)


@dataclass(frozen=True)
class Playing(Task):
    """A player in so many test games; its limits are those of `lib2048 play`.

    player: what the table of results calls it; network: a file of weights, or a run
    LIST/NAME-seedN beside this list; without one the player is random, greedy or heuristic.  game:
    its one name; None is what the network plays, or 2048.  endgames: a folder with the tables that
    a network knows.  precision: in which a neural network plays, see `deep.ValueNetwork`.
    """

    player: str
    games: int = 1000
    network: str | None = None
    depth: int | None = None
    ms_per_move: float | None = None
    table_mib: int | None = None
    reduce: bool = False
    threads: int = 1
    game: str | None = None
    endgames: str | None = None
    precision: str | None = None

    @classmethod
    def read(cls, table):
        """Return the one job of a table; raises ValueError, in one line, for what makes none."""
        told = {"player": ""} | tables.options(table, KEYS)
        if "game" in told:
            told["game"] = parse_game(told["game"]).name
        job = cls(**told)
        if not job.network and job.player not in NAMED:
            known = ", ".join(NAMED)
            raise ValueError(f"player {job.player!r}: say which network, or one of {known}")
        check_games(job.games, job.threads)
        check_limits(job.plies, job.seconds, job.table_mib)
        if not job.network:
            check_named(job.player, job.plies, job.endgames)
        neural.check_choices(precision=job.precision)
        if job.precision and not str(job.network).endswith(neural.SUFFIX):
            raise ValueError("precision: is for a file of a neural network, " + neural.SUFFIX)
        return [job]

    @property
    def plies(self):
        """How far it looks, None where only the time says so."""
        return plies_of(self.depth, self.ms_per_move)

    @property
    def seconds(self):
        """The time limit of a move, or None."""
        return None if self.ms_per_move is None else self.ms_per_move / 1000

    @property
    def about(self):
        """What tells its row from those of others."""
        row = {"player": self.player, "plies": self.plies and float(self.plies)}
        row |= {"ms": self.ms_per_move and float(self.ms_per_move)}
        row |= {"game": self.game} if self.game else {}
        row |= {"endgames": Path(self.endgames).name} if self.endgames else {}
        row |= {"precision": self.precision} if self.precision else {}
        return row | {"table": self.table_mib != 0, "reduce": self.reduce}

    @property
    def networks(self):
        """The network that must be there."""
        return (self.network,)

    def needs(self, folder):
        """Return the most memory that its process takes, in bytes."""
        search = tables.search_bytes(self.plies, self.threads, self.table_mib)
        return PROCESS_BYTES + search + (network_bytes(self.network, folder) if self.network else 0)

    def state(self, folder):
        """Return 'missing', 'begun' or 'finished'; raises ValueError without its network."""
        state = super().state(folder)
        return "begun" if state == "missing" and self.played(folder).scores else state

    def so_far(self, folder):
        """Return what done.json would hold if the games that are played were all."""
        played = self.played(folder)
        return {"sources": played.sources, "rows": [self.row(played)]}

    def played(self, folder):
        """Return the games that it has played, `Played`.

        Raises ValueError where they are those of another job of this name.
        """
        path = Path(folder, self.label, PLAYED)
        if not path.exists():
            return Played()
        told = read_json(path, FORM)
        if len(told["scores"]) != len(told["largest"]) or not (
            len(told["scores"]) <= told["moves"] and (told["seconds"] or not told["scores"])
        ):
            raise ValueError(f"{path}: damaged: its numbers do not belong to the same games")
        if told.pop("job") | {"games": 0} != self.told() | {"games": 0}:
            raise ValueError(f"{path.parent}: holds games played with other settings")
        return Played() if len(told["scores"]) > self.games else Played(**told)

    def rows(self, folder):
        """Play what has not been played yet; return the one row that all games give."""
        who, played = self.new_player(folder), self.played(folder)
        at_once = getattr(who, "games_at_once", GAMES_AT_ONCE) * self.threads
        while (first := len(played.scores)) < self.games:
            minute = KEEP_SECONDS * first / played.seconds if first else 0
            games = min(self.games - first, max(at_once, int(minute)))
            played.add(evaluate(who, games, TEST_SEED, self.threads, first=first), who)
            told = {"job": self.told()} | asdict(played)
            write_text(Path(folder, self.label, PLAYED), json.dumps(told) + "\n")
        return [self.row(played)]

    def row(self, played):
        """Return the row of a table that games give."""
        found, games = played.result, len(played.scores)
        ci95, shares = round(found.ci95) if games > 1 else None, found.reached()
        row = self.about | {"games": games, "mean": round(found.mean), "ci95": ci95}
        row |= {"moves_per_s": round(found.moves_per_s, 1)}
        row |= {f"reached_{tile}": round(shares.get(tile, 0.0), 4) for tile in TILES}
        return row | _searched(played, self.seconds) | {"max": found.max}

    def new_player(self, folder):
        """Return the player."""
        limits = {"table_mib": self.table_mib, "reduce": self.reduce}
        if self.network:
            network = self._network(weights_of(self.network, folder))
            agreed(f"network {network.name}", game_of(network), self.game)
            return network_player(
                network, self.plies, self.seconds, **limits, endgames=self.endgames
            )
        if self.player == "heuristic":
            game = parse_game(self.game or WHOLE)
            return heuristic_player(self.plies, self.seconds, game=game, **limits)
        return player(self.player, self.game)

    def _network(self, path):
        if self.precision:
            return neural.room("files").load(path, precision=self.precision)
        return load(path, to_play=True)


def _searched(played, seconds):
    """Return what a search tells of itself: plies reached, by moves, and whether in time."""
    if not played.depths:
        return {"mean_plies": None, "within_1.2": None}
    depths, times = np.sum(played.depths, 0), np.array(played.times)
    moves = depths.sum()  # 0 where all games are over as they begin
    row = {"mean_plies": float(depths @ np.arange(len(depths)) / moves) if moves else None}
    timed = seconds and moves
    return row | {"within_1.2": float(times[:IN_TIME].sum() / times.sum()) if timed else None}
