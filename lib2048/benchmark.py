"""Speed as ratios: how far is each loop from the time that its look-ups alone take?

Moves a second depend on the machine and on who else uses it.  So every figure is measured in
turns with a *floor*: reading the same table entries for the same boards and doing nothing else.
The ratio of the two says how much the rest costs, on any machine.
"""

import time

import numpy as np

from lib2048._compile import announce, kernel
from lib2048.board import SLIDES
from lib2048.evaluation import record_game
from lib2048.expectimax import LOOKED_UP
from lib2048.learning import Games, functions_of, rule_of
from lib2048.ntuple import Network
from lib2048.players import SearchPlayer, random_player
from lib2048.training import FOREVER, ROWS

WARM_UP = 20_000_000  # actions of training before the clock starts: weights as in real use
MOVES = 400_000  # a measurement
ROUNDS = 7
FLOOR_MOVES = 50_000


@kernel
def _sum(table, positions):
    """Read the entries and add them up, in four independent sums."""
    p, q, r, s = table[0], table[0], table[0], table[0]
    for i in range(np.uint64(0), np.uint64(len(positions)), np.uint64(4)):
        p += table[positions[i]]
        q += table[positions[i + np.uint64(1)]]
        r += table[positions[i + np.uint64(2)]]
        s += table[positions[i + np.uint64(3)]]
    return (p + q) + (r + s)


def _positions_of_play(network, moves):
    """Return the look-ups that 1-ply play makes in so many moves, in their order: uint32[…]."""
    rule, n = rule_of(network, learn=False), network.lookups_per_board
    games = Games(functions_of(network.tuples), network.weights, n, rule, 99, lanes=1)
    kept = np.zeros((moves, 4 * n), np.uint32)
    for move in range(moves):
        games.play(FOREVER, move + 1, 100)
        kept[move] = games.work.positions
    return kept.ravel()


def _rows_of_random_play(moves):
    """Return the rows that random play slides: uint32[4·moves]."""
    boards, number = [], 0
    while len(boards) < moves:
        boards += [step.board for step in record_game("random", 1, number)]
        number += 1
    boards = np.array(boards[:moves], np.uint64)
    shifts = np.arange(0, 64, 16, dtype=np.uint64)
    return (boards[:, None] >> shifts & np.uint64(0xFFFF)).astype(np.uint32).ravel()


class Bench:
    """The measurements of `lib2048 bench`.

    network: name; warm_up: actions of training first; moves: actions of one measurement.
    """

    def __init__(self, network="4x6", warm_up=WARM_UP, moves=MOVES, rounds=ROUNDS):
        self.moves, self.rounds, self.network = moves, rounds, Network(network)
        announce()
        self.trainer = self._games(learn=True)
        self.trainer.play(FOREVER, warm_up, ROWS)
        self.player = self._games(learn=False)

    def _games(self, learn):
        n = self.network.lookups_per_board
        rule = rule_of(self.network, 0.1, learn=learn)
        functions = functions_of(self.network.tuples)
        return Games(functions, self.network.weights, n, rule, seed=1 + learn)

    def run(self):
        """Measure; return {name: {moves_per_s, floor_per_s, ratio}}, medians of the rounds."""
        look_ups = _positions_of_play(self.network, FLOOR_MOVES)
        rows = _rows_of_random_play(FLOOR_MOVES)
        weights, per_move = self.network.weights, FLOOR_MOVES
        floors = {
            "network": lambda: _rate(lambda: _sum(weights, look_ups), per_move),
            "slides": lambda: _rate(lambda: _sum(SLIDES, rows), per_move),
        }
        tasks = {
            "random play": (self._random, "slides"),
            "1-ply play": (lambda: self._turns(self.player), "network"),
            "TD(0) training": (lambda: self._turns(self.trainer), "network"),
        }
        found = {name: self._compare(task, floors[floor]) for name, (task, floor) in tasks.items()}
        return found | self._searches(floors["network"])

    def _searches(self, floor):
        """Measure looking ahead, each depth with and without its table, in turns.

        The floor is the time that the look-ups of the different leaves would take in 1-ply play,
        four a move.  It can be beaten, since the leaves of one search share much of their memory.
        """
        players = {"2-ply play": (2, None), "3-ply play": (3, None), "3-ply, no table": (3, 0)}
        players = {n: SearchPlayer(self.network, k, table_mib=t) for n, (k, t) in players.items()}
        games = {2: max(1, self.moves // 40_000), 3: 1}
        found = {name: [] for name in players}
        for _ in range(1 + self.rounds):
            for name, who in players.items():
                found[name].append(self._search(who, games[who.search.limits.plies], floor()))
        medians = {name: np.median(rows[1:], axis=0) for name, rows in found.items()}
        keys = ("moves_per_s", "floor_per_s", "ratio")
        return {name: dict(zip(keys, row.tolist(), strict=True)) for name, row in medians.items()}

    def _search(self, who, games, floor):
        who.forget()
        begin = time.perf_counter()
        moves = who.play_games(0, games, 1)[:, 2].sum()
        rate = moves / (time.perf_counter() - begin)
        limit = floor * 4 * moves / who.counters[LOOKED_UP]
        return rate, limit, rate / limit

    def _compare(self, task, floor):
        task(), floor()
        pairs = np.array([(task(), floor()) for _ in range(self.rounds)])
        rate, limit = np.median(pairs, axis=0)
        ratio = float(np.median(pairs[:, 0] / pairs[:, 1]))
        return {"moves_per_s": float(rate), "floor_per_s": float(limit), "ratio": ratio}

    def _turns(self, games):
        return _rate(lambda: games.play(FOREVER, games.actions + self.moves, ROWS), self.moves)

    def _random(self):
        begin = time.perf_counter()
        results = random_player().play_games(0, self.moves // 100, 1)
        return results[:, 2].sum() / (time.perf_counter() - begin)


def _rate(task, moves):
    begin = time.perf_counter()
    task()
    return moves / (time.perf_counter() - begin)


def _rounded(rate):
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate:,.0f}"


def report(figures):
    """Return the figures of `Bench.run` as a table of text."""
    lines = [f"{'':16}{'moves/s':>12}{'floor':>12}{'ratio':>8}"]
    for name, row in figures.items():
        rate, floor = _rounded(row["moves_per_s"]), _rounded(row["floor_per_s"])
        lines.append(f"{name:16}{rate:>12}{floor:>12}{row['ratio']:8.2f}")
    return "\n".join([*lines, "floor: the same look-ups and nothing else; ratio: of the two rates"])
