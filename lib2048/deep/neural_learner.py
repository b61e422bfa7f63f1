"""What neural learners answer alike when a `Run` asks."""

import threading

import numpy as np

from lib2048.deep import files
from lib2048.deep.moves import draw_actions, luck_of
from lib2048.game.batch import images, one_hot
from lib2048.game.frontier import tile_sums
from lib2048.learn.lockstep import Lockstep


class NeuralLearner:
    """The part of a learner that does not depend on how it learns; see `learn.learner`.

    It expects `actions`, `settings` and `tested`, the network that test games are played by.

    stop: an event that the run sets; `play` then returns after the call of torch that it is in,
    and goes on from there the next time, as if nothing had been.
    """

    memory = {}  # of rules that tables learn by
    stop = threading.Event()  # of a learner without a run: never set

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
        files.save(
            self.tested, folder / files.WEIGHTS, actions=self.actions, seed=int(self.settings.seed)
        )
