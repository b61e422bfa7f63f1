"""The kind of job that a [[play]] of a list asks for: a player in test games."""

from dataclasses import dataclass

import numpy as np

from lib2048.networks.files import load
from lib2048.play.evaluation import TEST_SEED, check_games, evaluate
from lib2048.play.players import NAMED, SearchPlayer, heuristic_player, network_player, player
from lib2048.search.expectimax import check_limits
from lib2048.sweep import tables
from lib2048.sweep.task import PROCESS_BYTES, Task, check_there, network_bytes, weights_of

KEYS = {
    "name": str, "player": str, "network": str, "games": int, "depth": int, "ms-per-move": float,
    "table-mib": int, "reduce": None, "threads": int,
}  # fmt: skip
TILES = (2048, 4096, 8192, 16384, 32768)
SOON = 1.2  # times the limit, within which a move is in time
IN_TIME = int(100 * SOON)  # of the hundredths in `SearchPlayer.times`


@dataclass(frozen=True)
class Playing(Task):
    """A player in so many test games; its limits are those of `lib2048 play`.

    player: what the table of results calls it; network: a file of weights, or a run
    LIST/NAME-seedN beside this list; without one the player is random, greedy or heuristic.
    """

    player: str
    games: int = 1000
    network: str | None = None
    depth: int | None = None
    ms_per_move: float | None = None
    table_mib: int | None = None
    reduce: bool = False
    threads: int = 1

    @classmethod
    def read(cls, table, defaults):
        """Return the one job of a table; raises ValueError, in one line, for what makes none."""
        job = cls(**{"player": ""} | tables.options(defaults | table, KEYS))
        if not job.network and job.player not in NAMED:
            raise ValueError(f"player {job.player!r}: say which network, or one of "
                             f"{', '.join(NAMED)}")  # fmt: skip
        job._check_numbers()
        return [job]

    def _check_numbers(self):
        check_games(self.games, self.threads)
        check_limits(self.plies, self.seconds, self.table_mib)
        if not self.network and self.player != "heuristic" and self.plies != 1:
            raise ValueError(f"{self.player} does not look ahead: leave the depth or time out")

    @property
    def plies(self):
        """How far it looks, None where only the time says so."""
        return 1 if self.depth is None and self.ms_per_move is None else self.depth

    @property
    def seconds(self):
        """The time limit of a move, or None."""
        return None if self.ms_per_move is None else self.ms_per_move / 1000

    @property
    def about(self):
        """What tells its row from those of others."""
        row = {"player": self.player, "plies": self.plies and float(self.plies)}
        row |= {"ms": self.ms_per_move and float(self.ms_per_move)}
        return row | {"table": self.table_mib != 0, "reduce": self.reduce}

    def needs(self, folder):
        """Return the most memory that its process takes; folder: that of the sweep."""
        search = tables.search_bytes(self.plies, self.threads, self.table_mib)
        return PROCESS_BYTES + search + (network_bytes(self.network, folder) if self.network else 0)

    def state(self, folder):
        """Return 'missing' or 'finished'; raises ValueError where its network is not there."""
        state = super().state(folder)
        if state == "missing" and self.network:
            check_there(self.network, folder)
        return state

    def rows(self, folder):
        """Play; return the one row that the games give."""
        who = self.new_player(folder)
        found = evaluate(who, self.games, TEST_SEED, self.threads)
        row = self.about | {"games": self.games, "mean": round(found.mean)}
        row |= {"ci95": round(found.ci95) if self.games > 1 else None}
        row |= {"moves_per_s": round(found.moves_per_s, 1)}
        shares = found.reached()
        row |= {f"reached_{tile}": round(shares.get(tile, 0.0), 4) for tile in TILES}
        return [row | _searched(who, self.seconds) | {"max": found.max}]

    def new_player(self, folder):
        """Return the player."""
        limits = {"table_mib": self.table_mib, "reduce": self.reduce}
        if self.network:
            network = load(weights_of(self.network, folder))
            return network_player(network, self.plies, self.seconds, **limits)
        if self.player == "heuristic":
            return heuristic_player(self.plies, self.seconds, **limits)
        return player(self.player)


def _searched(who, seconds):
    """Return what a search tells of itself: plies reached, by moves, and whether in time."""
    if not isinstance(who, SearchPlayer):
        return {"mean_plies": None, "within_1.2": None}
    depths = who.depths.sum(0)
    row = {"mean_plies": float((depths * np.arange(len(depths))).sum() / depths.sum())}
    return row | {"within_1.2": seconds and float(who.times[:IN_TIME].sum() / who.times.sum())}
