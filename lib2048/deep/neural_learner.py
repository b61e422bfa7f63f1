"""What neural learners answer alike when a `Run` asks."""

import threading

import numpy as np

from lib2048.deep import files
from lib2048.deep.moves import draw_actions, luck_of
from lib2048.game.batch import images, one_hot
from lib2048.game.frontier import tile_sums
from lib2048.learn.lockstep import Lockstep
from lib2048.machine.arrays import Form, check_arrays, check_seal, text
from lib2048.machine.threads import aside
from lib2048.networks.neural import EXPORT

LONG = 10**8  # boards × weights: whatever is less is over before anybody notices


class Interrupted(Exception):
    """Someone stopped the run while torch was at work."""


class NeuralLearner:
    """The part of a learner that does not depend on how it learns; see `learn.learner`.

    It expects `actions`, `settings`, `network`, and `tested`, by which test games are played; of
    what a resume needs, `parts` (see `files`), and the rest by `state`, `check_state`, `take_up`.

    stop: an event that the run sets; `play` then returns at once, and goes on from there the next
    time, as if nothing had been.
    """

    memory = {}  # of rules that tables learn by
    stop = threading.Event()  # of a learner without a run: never set
    _given_up = None  # an event that is set when torch is done with what nobody waits for any more

    def ask(self, task, boards):
        """Return what a task of torch returns, one that changes nothing that a checkpoint holds.

        Where it is about many boards and the run is stopped meanwhile, it is given up: its answer
        is dropped, and asked for again when the run goes on.  Raises Interrupted.
        """
        self._settle()
        changes = next(self.network.module.buffers(), None) is not None  # as a BatchNorm does
        quick = boards * self.network.size < LONG or next(self.network.module.parameters()).is_cuda
        if changes or quick:
            return task()
        over = threading.Event()

        def noted():
            try:
                return task()
            finally:
                over.set()

        try:
            return self._aside(noted)
        except Interrupted:
            self._given_up = over
            raise

    def _settle(self):
        """Wait for what was given up."""
        if self._given_up:
            self._aside(self._given_up.wait)
            self._given_up = None

    def _aside(self, task):
        try:
            return aside(task, self.stop)
        except KeyboardInterrupt:
            if self.stop.is_set():
                raise Interrupted from None
            raise

    def prepare(self):
        """Compile, or load, what playing needs, by a turn of a game that counts nowhere.

        A turn that has begun must come to its end, so Ctrl-C would wait for the compiler there.
        """
        games = Lockstep(1, 0)
        games.act(draw_actions(np.isfinite(games.rewards), luck_of(0, [0], [0])))
        one_hot(games.boards), images(games.boards), tile_sums(games.boards)

    @property
    def visits(self):
        """How many actions led into each stage: there is one."""
        return np.array([self.actions])

    def blame(self, error):
        """Return None: an error is nobody's own function."""

    def check_room(self):
        """Do nothing: all memory is taken at the beginning."""

    def export(self, folder):
        """Write the network by itself, as `weights.safetensors`."""
        about = {"actions": self.actions, "seed": int(self.settings.seed)}
        files.save_with(self.tested, folder / EXPORT, about)

    # ------------------------------------------------------------ on disk

    def arrays(self):
        """Return all that a resume needs, as a dict of arrays."""
        name = self.network.name
        return {"network": np.array(name), **files.arrays(name, self.parts), **self.state()}

    def check(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `arrays` returns."""
        check_arrays(arrays, {"network": Form("U")}, path)
        if (found := text(arrays, "network")) != self.network.name:
            raise ValueError(f"{path}: holds weights of {found}, not of {self.network.name}")
        files.check(self.network.name, self.parts, arrays, path)
        self.check_state(arrays, path)

    def restore(self, arrays, path):
        """Take up what `arrays` returned, once all of it is checked; path: named in errors."""
        self.check(arrays, path)
        check_seal(arrays)
        files.restore(self.parts, arrays)
        self.take_up(arrays)
