"""A player that knows narrow endgames: tables where they fit, learned values elsewhere."""

import numpy as np
from numba import types

from lib2048.endgame.table import Look, Table, load, look_up
from lib2048.game import rules_2048 as rules
from lib2048.game.bits import WHOLE
from lib2048.game.game import Game
from lib2048.game.rng import seed_bits
from lib2048.learn.records import RESULT_COLUMNS
from lib2048.machine.kernels import at_once, kernel, numba_type
from lib2048.play.players import OVER, policy_kernel, policy_signature
from lib2048.search.expectimax import CONTEXT, MEMORY, Search, searched

MOST_TABLES = 16


@kernel
def best_known(looks, board, out):
    """Return (the best action by the first table that knows the board, its chance, which table).

    Action 4: no table knows it.  out: float64[4], work space.
    """
    for which in range(len(looks)):
        if look_up(looks[which], board, out):
            best, chance = OVER, -1.0
            for action in range(4):
                if out[action] > chance:
                    best, chance = np.uint64(action), out[action]
            if best != OVER:
                return best, chance, which
    return OVER, 0.0, -1


def _policy(context, game, board, word, luck):
    """Take the best action by a table that is sure enough of it, or else by a search."""
    search, looks, told, out, spoken = context
    action, chance, which = best_known(looks, board, out)
    if action != OVER and chance >= told[0]:
        spoken[which] += 1
        after, reward = rules.slide_one(board, action, game)
        return action, after, reward, luck
    spoken[-1] += 1
    return searched(search, game, board, word, luck)


class EndgamePlayer:
    """A player that looks an endgame up where it knows one, and searches elsewhere.

    Args:
        network: `Network`.
        tables: `Table`s; of those that fit a board the first speaks.
        depth: in plies, of the search.
        least: the chance of success from which on a table is followed.
    """

    def __init__(self, network, tables, depth=1, least=0.9, **limits):
        self.search, self.game = Search(network, depth, **limits), network.game
        self.tables, self.least, self.stop = list(tables), least, self.search.stop
        self.name = f"{network.name}, {depth}-ply, with endgames"
        self.spoken = np.zeros(len(self.tables) + 1, np.int64)

    def _context(self):
        looks = tuple(table.look for table in self.tables)
        told, out = np.array([self.least]), np.empty(4)
        return self.search.context(), looks, told, out, np.zeros(len(looks) + 1, np.int64)

    def play_games(self, first_game, count, seed):
        results, context = np.zeros((count, len(RESULT_COLUMNS)), np.int64), self._context()
        looks = types.UniTuple(numba_type(Look), len(self.tables))
        kind = types.Tuple([CONTEXT, looks, types.float64[::1], types.float64[::1], types.int64[::1]])
        policy = at_once(policy_signature(kind), _policy)
        policy_kernel(kind)(policy, context, self.game, seed_bits(seed), first_game, results)
        self.spoken += context[-1]
        return results

    def choose(self, board, word=0):
        action, chance, _ = best_known(tuple(t.look for t in self.tables), np.uint64(board), np.empty(4))
        if action != OVER and chance >= self.least:
            return int(action)
        return self.search.decide(board, word)[0]
