"""Checkups: test games that a run plays on its way, all with the same luck; they learn nothing."""

from lib2048.learn.games import FOREVER
from lib2048.play.evaluation import evaluate
from lib2048.play.players import network_player
from lib2048.train.history import summary

EVALUATION_SEED = 1 << 40  # added to a run's seed: test games have luck that no training game has


def players(settings, network):
    """Return {plies: player} of the test games: at 1-ply, and at one more depth.

    Raises ValueError for a network that cannot look ahead as far as it should.
    """
    depths = {1, settings.eval_depth} if settings.eval_every else {1}
    return {depth: network_player(network, depth) for depth in sorted(depths)}


def next_after(settings, actions):
    """Return the number of actions at which the next test games are due."""
    every = settings.eval_every
    return (actions // every + 1) * every if every else FOREVER


def play(settings, network, actions, stop):
    """Play; return a row of EVALUATION_COLUMNS for each depth.

    stop: a `threading.Event`.  Raises KeyboardInterrupt when it is set.
    """
    rows, seed = [], settings.seed + EVALUATION_SEED
    for plies, player in players(settings, network).items():
        deep = settings.eval_deep_games if plies > 1 else None
        result = evaluate(player, deep or settings.eval_games, seed, stop=stop)
        rows.append(test_row(actions, plies, result))
    return rows


def test_row(actions, plies, result):
    """Return what test games gave as a row of EVALUATION_COLUMNS; result: `Result`."""
    row = {"actions": actions, "plies": plies, "games": len(result.scores)}
    row |= summary(result.scores, result.largest, result.game)
    return row | {"moves_per_s": round(result.moves_per_s)}
