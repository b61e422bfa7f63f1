"""What a run drives: the learner of its kind of network.

A learner plays games and learns from them until it is told to stop.  It has `network`, `tested`
(the network that test games are played by), `actions`, `visits`, `finite`, `memory`, `batches`
(rows of `batch_columns`, of those that learn by batches), `first_chunk`, `prepare` (before the
clock starts), `play`, `set_rate`, `blame`, `check_room`, `arrays`, `check`, `restore` and `export`;
how boards are valued and weights are changed is its own affair.  The run gives it the event `stop`;
one whose `play` may take longer than a tenth of a second looks at it.
"""

from collections.abc import Mapping

import numpy as np

from lib2048.learn.games import new_crew
from lib2048.learn.loop import play_kernel
from lib2048.learn.rules import RULES, new_memory
from lib2048.learn.settings import shared_rate
from lib2048.machine.arrays import check_seal
from lib2048.machine.memory import check_memory
from lib2048.networks import neural, storage

SPARE_MIB = 512  # of memory, left free when a stage is begun
PROCESS_MIB = 512  # of a process beside its tables: Python, compiled code, a checkpoint on its way
FIRST_CHUNK = 20_000  # actions of a thread, before their speed is known


def new_learner(network, settings):
    """Return the learner that trains a network by its settings.

    Raises MemoryError when what it needs does not fit.
    """
    if settings.neural:
        return neural.room("learners").new_learner(network, settings)
    return TableLearner(network, settings)


class TableLearner:
    """Trains look-up tables: a crew of games in the one episode loop, and what its rule keeps."""

    batches, batch_columns = (), ()

    def __init__(self, network, settings):
        self.network = self.tested = network
        self.rule = settings.rule
        check_rule_memory(network, settings.rule)
        self._memory = new_memory(network.size, settings.rule)
        self._crew = new_crew(network, settings, self._memory)
        self.first_chunk = FIRST_CHUNK * settings.threads
        self.play = self._crew.play

    @property
    def actions(self):
        """The number of actions so far."""
        return self._crew.actions

    @property
    def visits(self):
        """How many actions led into each stage: int64[stages]."""
        return self._crew.visits

    @property
    def finite(self):
        """Whether the values that were looked up last are numbers."""
        return self._crew.finite

    @property
    def memory(self):
        """What the rule keeps beside the weights; see `Run.memory`."""
        return _Memory(self.network, self.rule, self._memory)

    def prepare(self):
        """Compile, or load, what playing needs."""
        self._crew.members[0].rule.grid.bind(play_kernel)()

    def set_rate(self, rate):
        """Learn at this rate from now on."""
        self._crew.set_rate(shared_rate(self.network, self.rule, rate))

    def blame(self, error):
        """Return what is wrong with the reader's own functions, None where there are none."""
        own = self.network.own
        return None if own is None else own.blame(error, self._crew.boards)

    def check_room(self):
        """Raise MemoryError when there is no room for a stage that may be reached."""
        missing = self.network.stages.count - np.count_nonzero(self.visits)
        if self.network.stages.marks and missing:
            need = stage_bytes(self.network, self.rule) + (SPARE_MIB << 20)
            check_memory("the next stage", need, "take a smaller network, or fewer stages")

    def arrays(self):
        """Return all that a resume needs, as a dict of arrays; its tables are `Member`s."""
        return {
            **storage.network_arrays(self.network, finite=True),
            **storage.memory_arrays(self.network, self._memory),
            **self._crew.state(),
        }

    def check(self, arrays, path):
        """Raise ValueError, in one line, where arrays are not what `arrays` returns."""
        storage.check_fits(self.network, arrays, path)
        storage.check_memory_arrays(self.network, RULES[self.rule].memory, arrays, path)
        self._crew.check(arrays, path)

    def restore(self, arrays, path):
        """Take up what `arrays` returned, once all of it is checked; path: named in errors."""
        self.check(arrays, path)
        check_seal(arrays)
        storage.take_up(self.network, arrays)
        storage.take_up_memory(self.network, self._memory, arrays)
        self._crew.restore(arrays)

    def export(self, folder):
        """Write nothing: the run's own file of weights is what others read."""


def check_rule_memory(network, rule):
    """Raise MemoryError when a network and what the rule keeps beside its weights do not fit."""
    if RULES[rule].memory:
        check_memory(f"training {network.name} by {rule}", stage_bytes(network, rule))


def stage_bytes(network, rule):
    """Return what one stage takes with what the rule keeps beside its weights, in bytes."""
    return network.stage_nbytes * (1 + RULES[rule].memory)


def needed_bytes(settings):
    """Return the most memory that a process needs which trains by these settings, in bytes.

    Tables count with what the rule keeps beside them and with all their stages, as if all were
    reached and no weight were left untouched.
    """
    if settings.neural:
        return neural.room("learners").needed_bytes(settings)
    tables = settings.geometry().nbytes * (1 + RULES[settings.rule].memory)
    return tables + (PROCESS_MIB << 20)


# ---------------------------------------------------------------- what a rule keeps


class _Tables:
    """One of the numbers that a rule keeps beside each weight, in the network's own geometry."""

    def __init__(self, network, numbers):
        self._network, self._numbers = network, numbers

    def __getitem__(self, number):
        """Return a copy of those of one tuple: float32[16^n], as `Network.table` has its weights.

        number: of the tuple, or (number of the tuple, stage or action).
        """
        where = number if isinstance(number, tuple) else (number,)
        return self._numbers[self._network.positions(*where)]

    def at(self, places):
        """Return a copy of those of the weights at these places, as `Network.places` has them."""
        return self._numbers[places].copy()

    def __len__(self):
        return len(self._network.tuples)

    @property
    def flat(self):
        """A copy of all of them, in the order of `Network.weights`: float32[size]."""
        return self._numbers.copy()


class _Memory(Mapping):
    """What a rule keeps beside the weights, by name: see `Run.memory`."""

    def __init__(self, network, rule, memory):
        self._network, self._names, self._memory = network, RULES[rule].keeps, memory

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        column = self._names.index(name)
        return _Tables(self._network, self._memory[column :: len(self._names)])

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)
