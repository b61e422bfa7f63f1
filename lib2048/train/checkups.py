"""Checkups: test games that a run plays on its way, which learn nothing."""

from lib2048.learn.games import FOREVER
from lib2048.play.evaluation import evaluate
from lib2048.play.players import network_player
from lib2048.train.history import TILES

EVALUATION_SEED = 1 << 40  # added to a run's seed: test games have luck that no training game has


class Checkups:
    """The test games of a run: at 1-ply, and at one more depth.

    settings: `Settings`, whose eval_every is the actions between two of them, None for none;
    network: the one that is trained.  They are all played with the same luck.  Raises ValueError
    for a network that cannot look ahead as far as it should.
    """

    def __init__(self, settings, network):
        self.every, self.games = settings.eval_every, settings.eval_games
        self.depth = settings.eval_depth
        self._seed, self._network = settings.seed + EVALUATION_SEED, network
        self._players()

    def _players(self):
        """Return {plies: player}."""
        depths = {1, self.depth} if self.every else {1}
        return {depth: network_player(self._network, depth) for depth in sorted(depths)}

    def due(self, actions):
        """Say whether test games belong to this number of actions."""
        return self.every is not None and actions > 0 and actions % self.every == 0

    def next_after(self, actions):
        """Return the number of actions at which the next evaluation is due."""
        return FOREVER if self.every is None else (actions // self.every + 1) * self.every

    def play(self, actions, stop):
        """Play; return a row of EVALUATION_COLUMNS for each depth.

        stop: a `threading.Event`.  Raises KeyboardInterrupt when it is set.
        """
        rows = []
        for plies, player in self._players().items():
            result = evaluate(player, self.games, self._seed, stop=stop)
            rows.append(test_row(actions, plies, self.games, result))
        return rows


def test_row(actions, plies, games, result):
    """Return what test games gave as a row of EVALUATION_COLUMNS; result: `Result`."""
    row = {"actions": actions, "plies": plies, "games": games}
    row |= {"mean": round(result.mean, 1), "ci95": round(result.ci95, 1), "max": result.max}
    row["moves_per_s"] = round(result.moves_per_s)
    return row | {f"reached_{tile}": result.reached().get(tile, 0.0) for tile in TILES}
