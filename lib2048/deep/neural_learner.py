"""What neural learners answer alike when a `Run` asks."""

import numpy as np

from lib2048.deep import files


class NeuralLearner:
    """The part of a learner that does not depend on how it learns; see `train.learners`.

    It expects `actions`, `settings` and `tested`, the network that test games are played by.
    """

    memory = {}  # of rules that tables learn by

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
        files.save(self.tested, folder / files.WEIGHTS, actions=self.actions,
                   seed=int(self.settings.seed))  # fmt: skip
