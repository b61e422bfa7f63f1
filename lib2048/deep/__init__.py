"""Neural networks that value boards or choose actions, in torch.

Its settings work without torch; all else is loaded when it is first asked for.
"""

import os

from lib2048.machine.extras import loaded

# Two threads that wait for each other awake lose a factor of three as soon as anything else runs.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_HOMES = {
    "ADP": "adp", "MCTS": "mcts", "MCTSPlayer": "mcts", "PolicyNetwork": "policy",
    "ValueNetwork": "network", "advantages": "critic", "distance_to_certainty": "policy",
    "load": "files", "make": "architectures", "new_policy_network": "policy",
    "record_games": "moves", "save": "files", "uniform": "mcts", "warm_start": "warm",
}  # fmt: skip
__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'lib2048.deep' has no attribute {name!r}")
    return loaded(f"deep.{_HOMES[name]}", name)


def __dir__():
    return sorted({*globals(), *_HOMES})
