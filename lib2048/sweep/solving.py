"""The kind of job that a [[solve]] of a list asks for: small boards, whose exact values are known.

Without a `start`: what a board is worth under five ways to play.  With one: how far TD(0) gets from
there, by three marks, each time it has made so many `actions` (a run of its own for each number).
"""

from dataclasses import dataclass

from lib2048.exact import NEEDED, SmallGame, board_table, small_game
from lib2048.game.bits import WHOLE
from lib2048.networks.names import with_game, word
from lib2048.networks.network import Geometry, Network
from lib2048.sweep import tables
from lib2048.sweep.job import PROCESS_BYTES, Task
from lib2048.train.run import train

KEYS = {"name": str, "board": str, "game": str, "start": str, "tuples": str, "alpha": float,
        "actions": list, "seeds": list}  # fmt: skip
STARTS = {"zero": (0, 0.0), "optimistic": (1, 0.0), "explore": (0, 0.1)}  # share of optimum, ε
MARKS = ("share", "own error", "best error")  # of `SmallGame.marks`


@dataclass(frozen=True)
class Solving(Task):
    """A small board solved; or, with a start, learned by TD(0) and compared with that.

    board: such as 3x3; game: its name, None for the usual odds; start: of STARTS, from which values
    and with which ε; tuples: of the network, None for a table with one weight for each board;
    alpha: its rate.
    """

    board: str
    start: str | None = None
    tuples: str | None = None
    alpha: float = 0.1
    actions: tuple = ()
    seed: int | None = None
    game: str | None = None

    @classmethod
    def read(cls, table):
        """Return the jobs of a table, one a seed; raises ValueError for what makes none."""
        told = tables.options(table, KEYS)
        if "actions" in told:
            such = "[1000, 10_000]"
            told["actions"] = tuple(tables.whole_numbers("actions", told["actions"], such))
        seeds = tables.whole_numbers("seeds", told.pop("seeds")) if "seeds" in told else [None]
        game = small_game(told.get("board"), told.get("game"))
        told["board"] = f"{game.rows}x{game.columns}"
        told["game"] = None if game.four == WHOLE.four else game.name
        jobs = [cls(**told, seed=seed) for seed in seeds]
        jobs[0]._check()
        return jobs

    def _check(self):
        if self.start is None:
            if self.tuples or self.actions or self.seed is not None:
                what = "tuples, actions and seeds are of what is learned"
                raise ValueError(f"{what}: say from which start, one of {', '.join(STARTS)}")
            return
        if self.start not in STARTS:
            raise ValueError(f"unknown start {self.start!r}: use {', '.join(STARTS)}")
        if not self.actions or self.seed is None:
            raise ValueError("say how long, actions = [1000, 10_000], and with which seeds")
        if min(self.actions) < 1:
            raise ValueError(f"actions {list(self.actions)}: use numbers above 0")
        if not 0 < self.alpha <= 1:
            raise ValueError(f"alpha {self.alpha}: use a rate above 0 and up to 1")
        Geometry(self._network_name)

    @property
    def rules(self):
        """What is solved, a `Game`."""
        return small_game(self.board, self.game)

    @property
    def about(self):
        """What tells its rows from those of others."""
        which = {"board": self.board} | ({"game": self.game} if self.game else {})
        if self.start is None:
            return which
        kind = "shared" if self.tuples else "table"
        return which | {"network": kind, "start": self.start, "seed": self.seed}

    @property
    def _network_name(self):
        return with_game(f"cells:{self.tuples or word(self.rules.places)}", self.rules)

    def needs(self, folder):
        """Return the most memory that its process takes; folder: that of the sweep."""
        solved = NEEDED.get(len(self.rules.places), 0)
        learned = 0 if self.start is None else solved + Geometry(self._network_name).nbytes
        return PROCESS_BYTES + solved + learned

    def rows(self, folder):
        """Solve the board, and learn it where that is asked for; return the rows of the table."""
        game = SmallGame.of(self.rules, progress=False)
        if self.start is None:
            return [self.about | row for row in _exact_rows(game)]
        rows = []
        for actions in self.actions:
            marks = game.marks(self._trained(game, actions))
            told = {mark.replace(" ", "_"): float(round(marks[mark], 4)) for mark in MARKS}
            rows.append(self.about | {"actions": actions} | told)
        return rows

    def _trained(self, game, actions):
        """Return a network that has learned from values which are the same everywhere."""
        share, epsilon = STARTS[self.start]
        value = share * game.optimal().start
        if self.tuples is None:
            network = board_table(self.rules.name, value)
        else:
            network = Network(self._network_name)
            network.weights[:] = value / network.lookups_per_board
        asked = {"alpha": self.alpha, "epsilon": epsilon, "seed": self.seed}
        train(network, actions=actions, progress=False, **asked)
        return network


def _exact_rows(game):
    """Yield what a board is worth under each way to play; reach_k: a k-th of the largest tile."""
    size = {"states": game.states, "afterstates": game.afterstates, "terminal": game.terminal}
    top = 2 ** (game.rows * game.columns + 1)
    random = game.follow("random")
    once = game.follow(random)
    ways = {
        "optimal": game.optimal(),
        "random": random,
        "greedy": game.follow("greedy"),
        "random, improved once": once,
        "random, improved twice": game.follow(once),
    }
    for name, values in ways.items():
        shares = values.largest()
        row = size | {"play": name, "value": float(values.start), "moves": float(values.moves)}
        yield row | {
            f"reach_{part}": float(sum(s for t, s in shares.items() if t >= top // part))
            for part in (1, 2, 4)
        }
