"""Speed as ratios: how far is each loop from the time that its look-ups alone take?

Moves a second depend on the machine and on who else uses it.  So every figure is measured in
turns with a *floor*: reading the same table entries for the same boards and doing nothing else.
The ratio of the two says how much the rest costs, on any machine.

Tables that are new have few weights, which soon lie near the processor.  So a file can be measured,
too: then games learn in the tables of a trained network, late stages included (`FileBench`).
"""

import threading
import time
from functools import partial

import numpy as np

from lib2048.game.rules_2048 import SLIDES
from lib2048.learn.games import Crew, Games, method_of
from lib2048.learn.records import TURN
from lib2048.learn.rules import find, new_memory
from lib2048.learn.settings import Settings
from lib2048.machine.memory import check_memory
from lib2048.machine.printed import broken, table, thousands
from lib2048.machine.terminal import bar
from lib2048.machine.threads import aside
from lib2048.networks.lookups import read_all
from lib2048.networks.network import Network
from lib2048.networks.storage import load
from lib2048.play.evaluation import record_game
from lib2048.play.players import SearchPlayer, random_player
from lib2048.search.expectimax import LOOKED_UP

ROWS = 100_000  # games that a measurement may finish
WARM_UP = 20_000_000  # actions of training before the clock starts: weights as in real use
MOVES = 400_000  # a measurement
ROUNDS = 7
FLOOR_MOVES = 50_000
TRAINING = {  # by name; all of one rule learn in the same tables
    "TD(0) training": {"rule": "td"},
    "TD(.5), delayed": {"rule": "td", "lam": 0.5},
    "TD(.5), online": {"rule": "td", "lam": 0.5, "delay": False},
    "TD(0), 2 threads": {"rule": "td", "threads": 2},
    "TC(0) training": {"rule": "tc"},
    "TC(.5), delayed": {"rule": "tc", "lam": 0.5},
    "TC(.5), online": {"rule": "tc", "lam": 0.5, "delay": False},
    "TC(.5), 2 threads": {"rule": "tc", "lam": 0.5, "threads": 2},
}
STAGED = {  # in tables of their own
    "TC(.5), stages": {"rule": "tc", "lam": 0.5},
    "TC(.5), carousel": {"rule": "tc", "lam": 0.5, "starts": "carousel"},
}
IN_A_FILE = {  # in the tables of the file; on the carousel only where it has stages
    "TC(.5) training": {},
    "TC(.5), 2 threads": {"threads": 2},
    "TC(.5), carousel": {"starts": "carousel"},
    "TC(.5), carousel, 2 threads": {"starts": "carousel", "threads": 2},
}


def _positions(games, moves):
    """Return the look-ups of four boards that games make in so many moves: uint32[…]."""
    kept = np.zeros((moves, 4 * int(games.functions.lookups)), np.uint32)
    for row in kept:
        games.play(games.actions + 1, 100)
        row[:] = games.work.positions.reshape(len(games.lanes), -1)[games.counters[TURN]]
    return kept.ravel()


def _rows_of_random_play(moves, game):
    """Return the rows that random play slides: uint32[4·moves]."""
    boards, number = [], 0
    while len(boards) < moves:
        boards += [step.board for step in record_game("random", 1, number, game)]
        number += 1
    boards = np.array(boards[:moves], np.uint64)
    shifts = np.arange(0, 64, 16, dtype=np.uint64)
    return (boards[:, None] >> shifts & np.uint64(0xFFFF)).astype(np.uint32).ravel()


class Bench:
    """The measurements of `lib2048 bench`.

    network: name; stages: g, to measure learning in 2^g stages too; warm_up: actions of training
    first; moves: actions of one measurement; rule: another one to measure, as `Settings` takes it.
    """

    comparisons = 3  # random play, 1-ply, looking ahead; and one for each rule

    def __init__(
        self, network="4x6", stages=0, warm_up=WARM_UP, moves=MOVES, rounds=ROUNDS, rule=None
    ):
        self.moves, self.rounds, self.warm_up = moves, rounds, warm_up
        self.ways = dict(TRAINING)
        if rule:
            rule = find(rule)
            self.ways[f"{rule.title}(0) training"] = {"rule": rule}
            if rule.decays:
                self.ways[f"{rule.title}(.5), delayed"] = {"rule": rule, "lam": 0.5}
        self.networks = {how["rule"]: Network(network) for how in self.ways.values()}
        self.network = self.networks["td"]
        self.staged = {name: Network(network, stages=stages) for name in STAGED if stages}
        self._searchers()  # refuses at once what cannot look ahead
        check_memory(f"a benchmark of {network}", (4 + 6 * len(self.staged)) * self.network.nbytes)
        self.memories = {rule: new_memory(self.network.size, rule) for rule in self.networks}

    def run(self, progress=False):
        """Measure; return {name: {moves_per_s, floor_per_s, ratio}}, medians of the rounds.

        progress: whether to show a bar.  It is done aside: numba, which is given functions at each
        call, makes a TypeError of Ctrl-C where that comes at the wrong time.
        """
        count = self.comparisons + len(self.networks)
        over = self._over = threading.Event()
        try:
            with bar(progress, total=count * (1 + self.rounds), unit="round") as self._shown:
                return aside(self._measured)
        finally:
            over.set()

    def _measured(self):
        self._train({"rule": "td"}).play(self.warm_up, ROWS)
        found = self._play() | self._learn("td") | self._searches(self._floor(self.network))
        for rule in [rule for rule in self.networks if rule != "td"]:
            lam = 0.5 if find(rule).decays else 0.0
            self._train({"rule": rule, "lam": lam}).play(self.warm_up, ROWS)
            found |= self._learn(rule, self._train_stages() if rule == "tc" else ())
        return found

    def _train(self, how):
        """Return games that learn by a rule in the tables of that rule."""
        return _crew(self.networks[how["rule"]], how, self.memories[how["rule"]])

    def _train_stages(self):
        """Return {name: games} that learn in stages, warm."""
        found = {}
        for name, network in self.staged.items():
            found[name] = _crew(network, STAGED[name], new_memory(network.size, "tc"))
            found[name].play(self.warm_up, ROWS)
        return found

    @staticmethod
    def _floor(network):
        look_ups = _positions(Games(network, method_of(network), 99, lanes=1), FLOOR_MOVES)
        return lambda: _rate(lambda: read_all(network.weights, look_ups), FLOOR_MOVES)

    def _play(self):
        """Measure playing without looking ahead."""
        rows = _rows_of_random_play(FLOOR_MOVES, self.network.game)
        player = Games(self.network, method_of(self.network), 1)
        slides = lambda: _rate(lambda: read_all(SLIDES, rows), FLOOR_MOVES)  # noqa: E731
        found = self._compare({"random play": self._random}, slides)
        return found | self._compare_turns({"1-ply play": player}, self.network)

    def _learn(self, rule, more=()):
        """Measure the training of one rule, all its ways in turns; more: {name: games} besides."""
        ways = {name: how for name, how in self.ways.items() if how["rule"] == rule}
        games = {name: self._train(how) for name, how in ways.items()} | dict(more)
        return self._compare_turns(games, self.networks[rule])

    def _searches(self, floor):
        """Measure looking ahead, each depth with and without its table, in turns.

        The floor is the time that the look-ups of the different leaves would take in 1-ply play,
        four a move.  It can be beaten, since the leaves of one search share much of their memory.
        """
        searchers = self._searchers().items()
        return self._compare({name: partial(self._search, who) for name, who in searchers}, floor)

    def _searchers(self):
        players = {"2-ply play": (2, None), "3-ply play": (3, None), "3-ply, no table": (3, 0)}
        return {n: SearchPlayer(self.network, k, table_mib=t) for n, (k, t) in players.items()}

    def _search(self, who, floor):
        who.forget()
        games = max(1, self.moves // 40_000) if who.search.limits.plies == 2 else 1
        begin = time.perf_counter()
        moves = who.play_games(0, games, 1)[:, 2].sum()
        rate = moves / (time.perf_counter() - begin)
        return rate, floor * 4 * moves / who.counters[LOOKED_UP]

    def _compare_turns(self, games, network):
        """Measure games in progress, {name: games}, beside the look-ups of a network."""
        tasks = {name: partial(self._turns, who) for name, who in games.items()}
        return self._compare(tasks, self._floor(network))

    def _compare(self, tasks, floor):
        """Measure tasks and their floor in turns, after one round to warm up.

        tasks: {name: a function from the floor's rate to its own rate and the highest possible}.
        """
        rounds = []
        for _ in range(1 + self.rounds):
            if self._over.is_set():
                raise KeyboardInterrupt
            limit = floor()
            found = [task(limit) for task in tasks.values()]
            rounds.append([(rate, most, rate / most) for rate, most in found])
            self._shown.update(1)
        medians, keys = np.median(rounds[1:], axis=0), ("moves_per_s", "floor_per_s", "ratio")
        return {
            name: dict(zip(keys, row.tolist(), strict=True))
            for name, row in zip(tasks, medians, strict=True)
        }

    def _turns(self, games, floor):
        play = partial(games.play, games.actions + self.moves, ROWS)
        return _rate(play, self.moves), floor

    def _random(self, floor):
        begin = time.perf_counter()
        results = random_player(self.network.game).play_games(0, self.moves // 100, 1)
        return results[:, 2].sum() / (time.perf_counter() - begin), floor


class FileBench(Bench):
    """The measurements of `lib2048 bench --network FILE`.

    path: of weights; the others as in `Bench`.  The floor reads the weights of the four boards and
    what TC keeps beside those of one, for boards of the same games.
    """

    comparisons = 1

    def __init__(self, path, warm_up=WARM_UP, moves=MOVES, rounds=ROUNDS):
        self.moves, self.rounds, self.warm_up = moves, rounds, warm_up
        self.network = load(path)
        staged = self.network.stages.phases > 1
        self.ways = {n: how for n, how in IN_A_FILE.items() if staged or "starts" not in how}
        check_memory(f"what TC keeps beside the weights of {path}", 2 * self.network.nbytes)
        self.networks, self.memory = {}, new_memory(self.network.size, "tc")

    def _measured(self):
        tasks = {}
        for name, how in self.ways.items():
            crew = _crew(self.network, {"rule": "tc", "lam": 0.5, **how}, self.memory)
            crew.play(self.warm_up, ROWS)
            tasks[name] = partial(self._turns_of, crew, _positions(crew.members[0], FLOOR_MOVES))
        return self._compare(tasks, lambda: None)

    def _turns_of(self, crew, look_ups, _):
        """Return the rate of a crew and that of its floor, measured one after the other."""
        kept = np.uint64(2) * look_ups.reshape(FLOOR_MOVES, -1, 4)[:, :, 0].ravel()

        def floor():
            read_all(self.network.weights, look_ups)
            read_all(self.memory, kept)

        return self._turns(crew, _rate(floor, FLOOR_MOVES))


def _crew(network, how, memory):
    """Return games that learn by some settings: a name of `Settings` and its value each."""
    return Crew(network, Settings.of(network, seed=2, **how), memory)


def _rate(task, moves):
    begin = time.perf_counter()
    task()
    return moves / (time.perf_counter() - begin)


def _rounded(rate):
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else thousands(rate)


def report(figures):
    """Return the figures of `Bench.run` as a table of text."""
    rows = [
        (name, _rounded(row["moves_per_s"]), _rounded(row["floor_per_s"]), f"{row['ratio']:.2f}")
        for name, row in figures.items()
    ]
    note = "floor: what is looked up and nothing else, one thread; ratio: of the two rates"
    shown = table(("what", ">moves a second", ">floor", ">ratio"), rows)
    return f"{shown}\n\n{broken(note)}"
