"""Speed of neural networks: training beside its floor, and the time of a move.

The floor is what training cannot do without: the network's forward passes over the afterstates
that the games ask about, and its forward and backward passes over the batches it learns from, with
all boards encoded already and nothing else done.
"""

import time

import numpy as np
import torch

from lib2048.deep.architectures import make
from lib2048.learn.settings import Settings
from lib2048.machine.terminal import bar
from lib2048.play.evaluation import record_game
from lib2048.play.players import network_player

WARM_UP, ACTIONS, ROUNDS = 20_000, 8192, 5
DEPTHS = {1: 200, 2: 20, 3: 3}  # plies: boards that are searched one after the other


class Bench:
    """The measurements of `lib2048 bench --network cnn22` (or another neural network).

    network: name; threads: of torch.
    """

    def __init__(self, network, threads=2, warm_up=WARM_UP, actions=ACTIONS, rounds=ROUNDS):
        make(network)  # a wrong name is refused first
        self.actions, self.rounds, self.learners = actions, rounds, {}
        for precision in ("float32", "bfloat16"):
            settings = Settings(network=network, precision=precision, threads=threads)
            self.learners[precision] = settings.new_learner(settings.new_network())
        self.warm_up = warm_up

    def run(self, progress=False):
        """Measure in turns; return {name: {positions_per_h, floor_per_h, ratio}}, and the moves.

        progress: whether to show a bar.
        """
        turns = (2 + self.rounds) * len(self.learners)
        with bar(progress, total=turns, unit="stretch") as self._shown:
            for learner in self.learners.values():
                learner.play(0, learner.actions + self.warm_up, 10**6)
                self._shown.update(1)
            return self._measured()

    def _measured(self):
        rounds = []
        for _ in range(1 + self.rounds):
            rounds.append([self._train(learner) for learner in self.learners.values()])
        medians = np.median(rounds[1:], axis=0)
        keys = ("positions_per_h", "floor_per_h", "ratio")
        found = {
            f"training, {name}": dict(zip(keys, row.tolist(), strict=True))
            for name, row in zip(self.learners, medians, strict=True)
        }
        return found | self._moves(self.learners["float32"].network)

    def _train(self, learner):
        """Return (positions an hour, those of the floor, the ratio) of one stretch of training."""
        asked, taught = [], []
        with _watched(learner.network, "values", asked), _watched(learner, "step", taught):
            begin = time.perf_counter()
            learner.play(0, learner.actions + self.actions, 10**6)
            took = time.perf_counter() - begin
        least = _floor(learner.network, [a for (a,) in asked], [b for b, _ in taught])
        self._shown.update(1)
        rate, floor = 3600 * self.actions / took, 3600 * self.actions / least
        return rate, floor, rate / floor

    @staticmethod
    def _moves(network):
        """Measure decisions on single boards, as one game after the other asks for them."""
        boards = [step.board for step in record_game("greedy", 3)[:-1]]
        found = {}
        for plies, count in DEPTHS.items():
            who, times = network_player(network, plies), []
            for board in np.resize(boards, count):
                begin = time.perf_counter()
                who.choose(board)
                times.append(time.perf_counter() - begin)
            found[f"{plies}-ply move, float32"] = {"ms_per_move": 1000 * float(np.median(times))}
        return found


class _watched:  # noqa: N801
    """Keep the arguments of every call of a method for a while."""

    def __init__(self, owner, name, kept):
        self._owner, self._name, self._kept = owner, name, kept

    def __enter__(self):
        plain = getattr(self._owner, self._name)

        def noted(*arguments):
            self._kept.append([np.array(argument) for argument in arguments])
            return plain(*arguments)

        setattr(self._owner, self._name, noted)

    def __exit__(self, *_):
        delattr(self._owner, self._name)


def _floor(network, asked, taught):
    """Return the seconds of the passes alone over boards that are encoded before the clock runs."""
    asked, taught = (list(map(network.encode, boards)) for boards in (asked, taught))
    begin = time.perf_counter()
    with torch.inference_mode():
        for planes in asked:
            network.pass_through(planes)
    for planes in taught:
        network.pass_through(planes).sum().backward()
    took = time.perf_counter() - begin
    network.module.zero_grad()
    return took


def report(figures):
    """Return the figures of `Bench.run` as a table of text."""
    lines = [f"{'':22}{'positions/h':>14}{'floor':>12}{'ratio':>8}"]
    for name, row in figures.items():
        if "ratio" in row:
            rate, floor = (f"{row[key] / 1e6:.1f} M" for key in ("positions_per_h", "floor_per_h"))
            lines.append(f"{name:22}{rate:>14}{floor:>12}{row['ratio']:8.2f}")
        else:
            lines.append(f"{name:22}{row['ms_per_move']:11.2f} ms")
    note = "floor: the network's passes over the same boards alone, encoded before the clock runs"
    return "\n".join([*lines, note])
