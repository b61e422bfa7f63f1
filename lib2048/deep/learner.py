"""TD learning of afterstate values by a neural network (Matsuzaki 2021, section 3).

Thousands of games are played in step.  A turn asks the network once, about all afterstates of all
games; each game takes the action with the largest r + V(s′), and that sum is the target of the
afterstate before it, V(s′ₜ) ← rₜ₊₁ + V(s′ₜ₊₁) (Eq. 1), or 0 where the game is over.
"""

import contextlib

import numpy as np
import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from lib2048.deep.architectures import ARCHITECTURES, weight_count
from lib2048.deep.batches import Queue, parse
from lib2048.deep.neural_learner import Interrupted, NeuralLearner
from lib2048.deep.replay import Replayed
from lib2048.game.batch import images
from lib2048.learn.lockstep import Lockstep
from lib2048.learn.records import joined
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.memory import check_memory

ADAM = {"betas": (0.9, 0.999), "eps": 1e-7}  # TensorFlow's defaults, as in the paper
BYTES = {"weight": 24, "board": 60_000}  # that training takes, about: with gradients and moments


def training_bytes(name, settings):
    """Return about how much memory training a network of ARCHITECTURES takes, in bytes."""
    with torch.device("meta"):  # weights without any memory
        return _needed(ARCHITECTURES[name.lower()](), settings)[1]


def _needed(module, settings):
    """Return (boards of one step of training, 0 for those of a whole game; bytes of memory)."""
    boards = parse(settings.batch).size * (8 if settings.augment else 1)
    return boards, BYTES["weight"] * weight_count(module) + BYTES["board"] * boards


class ValueLearner(NeuralLearner):
    """What a `Run` trains a value network by: self-play, a queue of positions, Adam.

    network: `ValueNetwork`, which learns in place; settings: `Settings`.  Raises MemoryError for a
    batch that does not fit.
    """

    batch_columns = ("actions", "mse")  # so far, and the batch's mean squared error in points²
    first_chunk = 256  # actions, before the run knows how many take a tenth of a second

    def __init__(self, network, settings):
        self.network = self.tested = network
        self.settings, module = settings, network.module
        boards, nbytes = _needed(module, settings)
        what = f"training {network.name} by batches of {boards:,} boards"
        check_memory(what, nbytes, "take a smaller batch")
        self.games = Lockstep(settings.lanes, settings.seed, starts=settings.starts)
        self.queue, self.batches = Queue(parse(settings.batch), settings.seed), []
        self._waiting = []  # batches that have to be trained before the next turn
        self._unread = []  # (actions, error still on the device) of the last batches
        options = ADAM | {"fused": True, "capturable": network.device.type == "cuda"}
        self.optimiser = torch.optim.Adam(module.parameters(), settings.rate, **options)
        replays = network.replays and self.queue.mode.size  # games have as many boards as they like
        self._replayed = Replayed(self._trained) if replays else None
        self.parts = {"weights.": module}
        if settings.average:
            decay = get_ema_multi_avg_fn(settings.average)
            self.parts["average."] = AveragedModel(module, multi_avg_fn=decay)
            self.tested = network.with_module(self.parts["average."].module)
        self.parts["optimiser."] = self.optimiser

    # ------------------------------------------------------------ what a run asks

    @property
    def actions(self):
        """The number of actions so far."""
        return self.games.actions

    @property
    def finite(self):
        """Whether the last error was a number."""
        return not self.batches or np.isfinite(self.batches[-1][1])

    def set_rate(self, rate):
        """Let Adam's learning rate be this from now on."""
        for group in self.optimiser.param_groups:
            if group["lr"] != rate and self._replayed:
                self._replayed.forget()
            group["lr"] = rate

    def play(self, last_action, rows):
        """Play and learn until `actions` is last_action, or so many rows of games are over.

        Returns their results, int64[k, 5]; see records.RESULT_COLUMNS.
        """
        torch.set_num_threads(self.settings.threads)
        found = []
        with contextlib.suppress(Interrupted):
            self._train()
            while self.actions < last_action and rows and not self.stop.is_set():
                actions = self._choose() if self.games.between_turns else None
                most = min(rows, len(self.games.places))
                found.append(self.games.act(actions, last_action, most))
                rows -= len(found[-1])
                if self.games.between_turns:
                    self._learn()
        self._read()
        return joined(found)

    # ------------------------------------------------------------ a turn

    def _choose(self):
        """Return the best action of each game; its r + V is the target of the afterstate before."""
        values = self.network.values
        worths = self.games.worths(lambda boards: self.ask(lambda: values(boards), len(boards)))
        actions = worths.argmax(axis=1)
        best, last = worths[np.arange(len(worths)), actions], self.games.places["last"]
        known = np.flatnonzero(last)
        self.queue.add(last[known], best[known], known)
        return actions

    def _learn(self):
        """Teach the afterstates with which games ended in this turn 0, and train what is ready."""
        final = self.games.places["final"]
        over = np.flatnonzero(final)
        self.queue.add(final[over], np.zeros(len(over)), over)
        self._waiting = list(self.queue.ready(over))
        self._train()

    def _train(self):
        """Train the batches that wait, as far as a run lets us."""
        while self._waiting and not self.stop.is_set():
            self._unread.append((self.actions, self.step(*self._waiting[0])))
            del self._waiting[0]

    def _read(self):
        """Fetch the errors of the last batches, all at once: a GPU would have to stop for each."""
        if self._unread:
            actions, losses = zip(*self._unread)
            self.batches += zip(actions, torch.stack(losses).tolist(), strict=True)
            self._unread = []

    def step(self, boards, targets):
        """Take one step of Adam against the mean squared error; return that error, in points².

        boards: uint64[n]; targets: float32[n], in points.  The error is a tensor on the device.
        """
        if self.settings.augment:
            boards, targets = images(boards).reshape(-1), np.repeat(targets, 8)
        wanted = torch.from_numpy(np.ascontiguousarray(targets, np.float32))
        wanted = wanted.to(self.network.device)
        if self._replayed:
            loss = self._replayed(self.network.sent(boards), wanted).clone()
        else:
            loss = self.ask(lambda: self._gradients(boards, wanted), len(boards))
            self.optimiser.step()
        if "average." in self.parts:
            self.parts["average."].update_parameters(self.network.module)
        return loss

    def _gradients(self, boards, wanted):
        """Work out the gradients of the mean squared error; return that error."""
        self.optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(self.network.forward(boards), wanted)
        loss.backward()
        return loss.detach()

    def _trained(self, boards, wanted):
        """Take a step of Adam; return the mean squared error before it."""
        loss = self._gradients(boards, wanted)
        self.optimiser.step()
        return loss

    # ------------------------------------------------------------ on disk

    def state(self):
        """Return what a resume needs beside `parts`, as a dict of arrays."""
        self._read()
        nothing = np.zeros(0, np.uint64), np.zeros(0, np.float32)
        boards, targets = map(np.concatenate, zip(nothing, *self._waiting))
        return {
            **self.games.state(),
            **self.queue.state(),
            "waiting_boards": boards,
            "waiting_sizes": np.array([len(part) for part, _ in self._waiting], np.int64),
            "waiting_targets": targets,
            "batches": np.array(self.batches, np.float64).reshape(-1, 2),
        }

    def check_state(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `state` returns."""
        self.games.check(arrays, path)
        self.queue.check(arrays, path)
        forms = {
            "batches": Form("float64", (None, 2), 0),
            "waiting_boards": Form("uint64", (None,)),
            "waiting_targets": Form("float32", (None,)),
            "waiting_sizes": Form("int64", (None,), 1),
        }
        check_arrays(arrays, forms, path)
        counts = {len(arrays["waiting_boards"]), len(arrays["waiting_targets"])}
        if counts != {int(np.sum(arrays["waiting_sizes"]))}:
            raise ValueError(f"{path}: its batches in waiting do not fit each other")

    def take_up(self, arrays):
        """Take up what `state` returned, and `check_state` has seen."""
        self.games.restore(arrays)
        self.queue.restore(arrays)
        ends = np.cumsum(arrays["waiting_sizes"])[:-1]
        waiting = (np.split(arrays[f"waiting_{name}"], ends) for name in ("boards", "targets"))
        self._waiting = [(b, t) for b, t in zip(*waiting, strict=True) if len(b)]
        self.batches = [(int(actions), loss) for actions, loss in arrays["batches"]]
