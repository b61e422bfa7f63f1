"""How a policy network learns, said once."""

import numbers
from dataclasses import dataclass

from lib2048.learn.settings import is_number

PLAYS = ("probabilistic", "epsilon-greedy")
RETURNS = ("sum", "to-go", "critic")
OPTIMISERS = ("rmsprop", "adam")


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """How a policy network learns; the defaults are the source's.

    seed: of the games' luck and of all draws.  play: 'probabilistic' draws actions by their
    probabilities, 'epsilon-greedy' takes the most likely one, or, with probability epsilon, any
    legal one.  batch: games that are played before the weights change.  optimiser: 'rmsprop' or
    'adam', with its learning_rate.

    Beyond the source: returns 'to-go' counts the points from a move on instead of the last
    board's tiles, those k moves later times discount^k, compared with other games at the same
    turn; 'critic' compares them with a `Critic`, lam being its λ.  entropy: weight of a bonus for
    being unsure; half_life: batches after which the learning rate has halved, None for never;
    steps: of the optimiser for each batch, each with as many of its moves, shuffled.

    Raises ValueError, in one line, for a setting that makes no sense.
    """

    seed: int = 1
    play: str = "probabilistic"
    batch: int = 10
    learning_rate: float = 0.01
    epsilon: float = 0.1
    optimiser: str = "rmsprop"
    returns: str = "sum"
    discount: float = 1.0
    lam: float = 1.0
    entropy: float = 0.0
    half_life: float | None = None
    steps: int = 1

    def __post_init__(self):
        for name, known in (("play", PLAYS), ("returns", RETURNS), ("optimiser", OPTIMISERS)):
            if getattr(self, name) not in known:
                given = f"unknown {name} {getattr(self, name)!r}"
                raise ValueError(f"{given}: use {' or '.join(known)}")
        for name, lowest in (("batch", 2), ("steps", 1)):
            _check(self, name, numbers.Integral, lambda x: x >= lowest, f"{lowest} or more")  # noqa: B023
        _check(self, "seed", numbers.Integral, lambda x: True, "a whole number")
        _check(self, "learning_rate", numbers.Real, lambda x: 0 < x <= 1, "above 0 and up to 1")
        for name in ("epsilon", "discount", "lam"):
            _check(self, name, numbers.Real, lambda x: 0 <= x <= 1, "a number from 0 to 1")
        _check(self, "entropy", numbers.Real, lambda x: x >= 0, "0 or more")
        if self.half_life is not None:
            _check(self, "half_life", numbers.Real, lambda x: x > 0, "batches, above 0, or None")


def _check(settings, name, kind, fits, what):
    value = getattr(settings, name)
    if not (is_number(value, kind) and fits(value)):
        raise ValueError(f"{name} {value!r}: use {what}")
