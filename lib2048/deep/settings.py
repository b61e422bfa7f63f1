"""The settings of value networks and of policy networks; knows them without torch."""

import math
import numbers
from dataclasses import dataclass, fields

from lib2048.deep import batches
from lib2048.learn.settings import Settings, check_decay, check_range, option
from lib2048.learn.starts import check_starts
from lib2048.networks import neural

PROCESS_BYTES = 2048 << 20  # beside its batches; measured: 500 MiB soon, 1700 after 10^8 actions


def _meant(settings, rate):
    """Return what None means, by name: here all that is left out may be said as None, too."""
    games = batches.parse(settings.batch or type(settings).batch, settings.kind).games
    own = {field.name: field.default for field in fields(settings)}
    return own | {"rate": rate, "lanes": games}


@dataclass(frozen=True, init=False)
class ValueSettings(Settings, kind="value"):
    """The settings of value networks (see `learner`); see `Settings` for those of all kinds.

    Args:
        batch: which positions are trained together, 'batch1K', 'game', 'shuffle64', …
        symmetry: how a board's images are used, 'simple', 'ave', 'max' or 'min'.
        augment: learn all eight images of each position.
        learning_rate: Adam's.
        average: above 0, test games are played by (and the run's file holds) a moving average of
            the weights, of which each step keeps this share.
        precision: 'float32' or 'bfloat16'.
        device: 'cpu', 'cuda', …
    """

    rates = ("learning_rate",)

    batch: str = option("batch1K", "what is learned at once: batch1K, game, …; games10 for policy")
    symmetry: str = option("simple", "value: how images are used, " + ", ".join(neural.SYMMETRIES))
    augment: bool = option(False, "value: learn all eight images of a board", flag="--augment")
    average: float = option(
        0.0,
        "value: test and keep a moving average of the weights; each step keeps this share",
        float,
        "X",
    )
    precision: str = option("float32", "value: " + ", ".join(neural.PRECISIONS))
    device: str = option("cpu", "value: cpu, cuda, …", budget=True)

    def _meant(self):
        return _meant(self, 0.001)

    def _check(self):
        check_starts(self.starts, 1)
        neural.check_choices(symmetry=self.symmetry, precision=self.precision)
        check_range(self, "average", 0, 0.99999, numbers.Real, "a share from 0 to 0.99999")

    def geometry(self):
        """Return all of the network but its weights: `neural.Outline`."""
        return neural.Outline(neural.one_name(self.network), self.symmetry)

    def new_network(self):
        """Return the network, its weights drawn by the seed."""
        names = ("seed", "symmetry", "device", "precision")
        options = {name: getattr(self, name) for name in names}
        return neural.room("network").ValueNetwork(self._named(), **options)

    def _named(self):
        """Return the name of the network, unless it is a reader's own."""
        if self.network.startswith(neural.OWN):
            raise ValueError(f"network {self.network}: give the module itself, Run(…, network=…)")
        return self.network

    def new_learner(self, network):
        """Return what trains a network."""
        return neural.room("learner").ValueLearner(network, self)

    def needed_bytes(self):
        """Return the most memory that a process needs which trains by these settings, in bytes."""
        return PROCESS_BYTES + neural.room("learner").training_bytes(self._named(), self)


@dataclass(frozen=True, init=False)
class PolicySettings(Settings, kind="policy"):
    """The settings of policy networks (see `reinforce`); see `Settings` for those of all kinds.

    Args:
        batch: games of a step, as in 'games10'.
        epsilon: 0 draws actions by their probabilities, above 0 is ε-greedy.
        optimiser: 'rmsprop' or 'adam', its learning_rate, and half_life, the batches in which that
            halves.
        returns: 'sum' of the last board's tiles, points 'to-go' or, by a 'critic' with λ = lam,
            advantages; discount of later points.
        entropy: weight of a bonus for being unsure.
        steps: of the optimiser for each batch.
    """

    rates = ("learning_rate",)

    batch: str = option("games10", "what is learned at once: batch1K, game, …; games10 for policy")
    returns: str = option("sum", "policy: " + ", ".join(neural.RETURNS))
    discount: float = option(1.0, "policy: of later points", float, "X")
    entropy: float = option(0.0, "policy: weight of a bonus for being unsure", float, "X")
    optimiser: str = option("rmsprop", "policy: " + ", ".join(neural.OPTIMISERS))
    half_life: float | None = option(None, "policy: batches that halve the rate", float, "X")
    steps: int = option(1, "policy: of the optimiser for each batch", int, "N")
    epsilon: float = option(0.0, "share of random actions", float, "E")
    lam: float = option(
        0.0, "how far back an error reaches, from 0 up to 1", float, "L", "--lambda"
    )

    def _meant(self):
        return _meant(self, 0.01)

    def _check(self):
        check_decay(self.lam, 1)
        if self.starts != "initial":
            raise ValueError(f"starts {self.starts}: a policy network learns from whole games")
        neural.check_choices(returns=self.returns, optimiser=self.optimiser)
        check_range(self, "epsilon", 0, 1, numbers.Real, "a share from 0 to 1")
        check_range(self, "discount", 0, 1, numbers.Real, "a number from 0 to 1")
        check_range(self, "entropy", 0, math.inf, numbers.Real, "0 or more")
        check_range(self, "half_life", 1e-9, math.inf, numbers.Real, "batches, above 0")
        check_range(self, "steps", 1, 1 << 20, numbers.Integral, "1 or more")

    def _unused(self):
        yield from super()._unused()
        if self.returns == "sum":
            yield "discount", "on the sum of tiles"
        if self.returns != "critic":
            yield "lam", "without returns=critic"

    def geometry(self):
        """Return all of the network but its weights: `neural.Outline`."""
        return neural.Outline(neural.one_name(self.network))

    def new_network(self):
        """Return the network, its weights drawn by the seed."""
        return neural.room("policy").new_policy_network(self.seed)

    def new_learner(self, network):
        """Return what trains a network."""
        return neural.room("reinforce").PolicyLearner(network, self)

    def needed_bytes(self):
        """Return the most memory that a process needs which trains by these settings, in bytes."""
        return PROCESS_BYTES
