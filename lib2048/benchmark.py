"""Speed as ratios: how far is each loop from the time that its look-ups alone take?

Moves a second depend on the machine and on who else uses it.  So every figure is measured in
turns with a *floor*: reading the same table entries for the same boards and doing nothing else.
The ratio of the two says how much the rest costs, on any machine.
"""

import time

import numpy as np

from lib2048.game.board import SLIDES
from lib2048.learn.loop import LANES, Crew, Games, functions_of, rule_of
from lib2048.learn.rules import new_memory
from lib2048.machine.kernels import announce, kernel
from lib2048.networks.network import Network, check_memory
from lib2048.play.evaluation import record_game
from lib2048.play.players import SearchPlayer, random_player
from lib2048.search.expectimax import LOOKED_UP
from lib2048.train.run import FOREVER, ROWS

WARM_UP = 20_000_000  # actions of training before the clock starts: weights as in real use
MOVES = 400_000  # a measurement
ROUNDS = 7
FLOOR_MOVES = 50_000
TRAINING = {  # name: rule, rate, λ, delay, threads; all of one rule learn in the same tables
    "TD(0) training": ("td", 0.1, 0.0, True, 1),
    "TD(.5), delayed": ("td", 0.1, 0.5, True, 1),
    "TD(.5), online": ("td", 0.1, 0.5, False, 1),
    "TD(0), 2 threads": ("td", 0.1, 0.0, True, 2),
    "TC(0) training": ("tc", 1.0, 0.0, True, 1),
    "TC(.5), delayed": ("tc", 1.0, 0.5, True, 1),
    "TC(.5), online": ("tc", 1.0, 0.5, False, 1),
    "TC(.5), 2 threads": ("tc", 1.0, 0.5, True, 2),
}
STAGED = {"TC(.5), stages": "initial", "TC(.5), carousel": "carousel"}  # in tables of their own


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

    network: name; stages: g, to measure learning in 2^g stages too; warm_up: actions of training
    first; moves: actions of one measurement.
    """

    def __init__(self, network="4x6", stages=0, warm_up=WARM_UP, moves=MOVES, rounds=ROUNDS):
        self.moves, self.rounds, self.warm_up = moves, rounds, warm_up
        self.networks = {"td": Network(network), "tc": Network(network)}
        self.network = self.networks["td"]
        self.staged = {name: Network(network, stages=stages) for name in STAGED if stages}
        check_memory(f"a benchmark of {network}", (4 + 6 * len(self.staged)) * self.network.nbytes)
        self.memories = {rule: new_memory(self.network.size, rule) for rule in self.networks}
        announce()

    def run(self):
        """Measure; return {name: {moves_per_s, floor_per_s, ratio}}, medians of the rounds."""
        self._train("td", 0.1, 0.0, True, 1).play(FOREVER, self.warm_up, ROWS)
        found = self._play()
        found |= self._learn({name: how for name, how in TRAINING.items() if how[0] == "td"})
        found |= self._searches(self._floor(self.network))
        self._train("tc", 1.0, 0.5, True, 1).play(FOREVER, self.warm_up, ROWS)
        coherent = {name: how for name, how in TRAINING.items() if how[0] == "tc"}
        return found | self._learn(coherent, self._train_stages())

    def _train(self, rule, rate, decay, delay, threads):
        """Return games that learn by a rule in the tables of that rule."""
        network, functions = self.networks[rule], functions_of(self.network.tuples, rule)
        settings = rule_of(network, rate, rule=rule, decay=decay, delay=delay)
        own = (functions, network.weights, network.lookups_per_board, settings, 2, LANES)
        return Crew([Games(*own, k, threads, self.memories[rule]) for k in range(threads)])

    def _train_stages(self):
        """Return {name: games} that learn in stages, warm."""
        found = {}
        for name, network in self.staged.items():
            rule = rule_of(network, 1.0, rule="tc", decay=0.5, starts=STAGED[name])
            functions, n = functions_of(network.tuples, "tc"), network.lookups_per_board
            memory = new_memory(network.size, "tc")
            found[name] = Games(functions, network.weights, n, rule, 2, memory=memory)
            found[name].play(FOREVER, self.warm_up, ROWS)
        return found

    @staticmethod
    def _floor(network):
        look_ups = _positions_of_play(network, FLOOR_MOVES)
        return lambda: _rate(lambda: _sum(network.weights, look_ups), FLOOR_MOVES)

    def _play(self):
        """Measure playing without looking ahead."""
        rows, n = _rows_of_random_play(FLOOR_MOVES), self.network.lookups_per_board
        rule = rule_of(self.network, learn=False)
        player = Games(functions_of(self.network.tuples), self.network.weights, n, rule, 1)
        slides = lambda: _rate(lambda: _sum(SLIDES, rows), FLOOR_MOVES)  # noqa: E731
        found = self._compare({"random play": self._random}, slides)
        network = self._floor(self.network)
        return found | self._compare({"1-ply play": lambda: self._turns(player)}, network)

    def _learn(self, trainers, more=()):
        """Measure the training of one rule, all its ways in turns; more: {name: games} besides."""
        games = {name: self._train(*how) for name, how in trainers.items()} | dict(more)
        tasks = {name: lambda who=who: self._turns(who) for name, who in games.items()}
        network = self.networks[next(iter(trainers.values()))[0]]
        return self._compare(tasks, self._floor(network))

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

    def _compare(self, tasks, floor):
        """Measure tasks, {name: function}, and their floor in turns, after one round to warm up."""
        rounds = []
        for _ in range(1 + self.rounds):
            limit = floor()
            rounds.append([(rate := task(), limit, rate / limit) for task in tasks.values()])
        medians, keys = np.median(rounds[1:], axis=0), ("moves_per_s", "floor_per_s", "ratio")
        return {
            name: dict(zip(keys, row.tolist(), strict=True))
            for name, row in zip(tasks, medians, strict=True)
        }

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
    lines = [f"{'':18}{'moves/s':>12}{'floor':>12}{'ratio':>8}"]
    for name, row in figures.items():
        rate, floor = _rounded(row["moves_per_s"]), _rounded(row["floor_per_s"])
        lines.append(f"{name:18}{rate:>12}{floor:>12}{row['ratio']:8.2f}")
    note = "floor: the look-ups of 1-ply play and nothing else, one thread; ratio: of the two rates"
    return "\n".join([*lines, note])
