"""A batch of games, played in step and remembered move by move, and what their moves returned."""

import numpy as np

from lib2048.game.batch import ILLEGAL
from lib2048.game.frontier import tile_sums
from lib2048.learn.lockstep import Lockstep
from lib2048.learn.records import check_boards
from lib2048.machine.arrays import Form, check_arrays

TINY = 1e-8  # added to a deviation: games that are all equal teach nothing


class GameBatch:
    """Games first, first + 1, …, which are played in step until all are over.

    games: `Lockstep`, game first + g in place g; turns: a list of what each turn began with:
    (boards uint64[count], actions int64[count], rewards float32[count], −∞ where a game was
    over before); tile_sums: int64[count], of the last boards of games that are over.
    """

    def __init__(self, count, seed, first, game):
        self.first, self.turns = first, []
        self.games = Lockstep(count, seed, first, first + count, game=game)
        self.tile_sums = np.zeros(count, np.int64)
        self.results = np.zeros((count, 5), np.int64)  # by place; see records.RESULT_COLUMNS

    @property
    def over(self):
        """Whether all games are over."""
        return not self.games.live.any()

    def turn(self, decide, last_action, rows):
        """Play one turn, or the rest of one; see `Lockstep.act`.  Returns what ended."""
        actions, games = None, self.games
        if games.between_turns:
            actions = decide(games)
            rewards = games.rewards[np.arange(len(actions)), actions]
            rewards[~games.live] = ILLEGAL
            self.turns.append((games.boards.copy(), actions, rewards))
        results = games.act(actions, last_action, min(rows, len(games.places)))
        if self.over:
            games.act()  # past the empty places, where rows ended the last turn
        self.results[results[:, 0] - self.first] = results
        if games.between_turns:
            self._count_tiles(np.flatnonzero(games.places["final"]))
        return results

    def _count_tiles(self, over):
        """Note the tiles of the games that ended in this turn."""
        self.tile_sums[over] = tile_sums(self.games.places["lost"][over])

    def moves(self):
        """Return (boards, actions, rewards), each [turns, count]; see `turns`."""
        return tuple(map(np.stack, zip(*self.turns)))

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        count = len(self.tile_sums)
        kinds = (np.uint64, np.int64, np.float32)
        moves = self.moves() if self.turns else [np.zeros((0, count), kind) for kind in kinds]
        kept = dict(zip(("turn_boards", "turn_actions", "turn_rewards"), moves))
        own = {"batch_tile_sums": self.tile_sums.copy(), "batch_results": self.results.copy()}
        return {**self.games.state(), **kept, **own}

    def check(self, state, path):
        """Raise ValueError, in one line, where a state is not one that `state` returns."""
        check_arrays(state, {"turn_boards": Form("uint64", (None, len(self.tile_sums)))}, path)
        moves, count = state["turn_boards"].shape, len(self.tile_sums)
        forms = {
            "turn_actions": Form("int64", moves, 0, 3),
            "turn_rewards": Form("float32", moves, finite=False),
            "batch_tile_sums": Form("int64", (count,), 0),
            "batch_results": Form("int64", self.results.shape, 0),
        }
        check_arrays(state, forms, path)
        if (state["turn_rewards"][:1] == ILLEGAL).any():
            raise ValueError(f"{path}: holds a game that was over before its first action")
        check_boards(state["turn_boards"], self.games.game, path)
        self.games.check(state, path)
        if not (moves[0] or (state["place_number"] >= 0).any()):
            raise ValueError(f"{path}: its games are over before their first action")

    def restore(self, state):
        """Take up a state that `state` returned for as many games, and `check` has seen."""
        self.games.restore(state)
        kept = (state[name] for name in ("turn_boards", "turn_actions", "turn_rewards"))
        self.turns = list(zip(*kept))
        self.tile_sums[:] = state["batch_tile_sums"]
        self.results[:] = state["batch_results"]


# ---------------------------------------------------------------- returns


def standardised(returns, live=True):
    """Return returns as distances from their mean over the games, in standard deviations.

    returns: float[games], or float[turns, games] with bool[turns, games] saying which games were
    still going: then each turn has a mean of its own, over those, and all share a deviation.
    """
    live = np.broadcast_to(live, np.shape(returns))
    total = np.sum(returns, axis=-1, where=live, keepdims=True)
    off = np.where(live, returns - total / live.sum(axis=-1, keepdims=True), 0.0)
    return off / (np.sqrt(np.sum(off**2) / live.sum()) + TINY)


def to_go(rewards, discount=1.0):
    """Return the points from each move on, discounted: float[turns, games] → float64.

    A reward of −∞ says that the game was over.
    """
    paid = np.where(np.isfinite(rewards), rewards, 0).astype(np.float64)
    for turn in range(len(paid) - 2, -1, -1):
        paid[turn] += discount * paid[turn + 1]
    return paid
