"""Neural networks that value boards or choose actions, in torch.

Nothing below imports this room but `networks.neural.room`, by name and when it is first needed, so
the rest of the library works without torch.
"""

import os

# Two threads that wait for each other awake lose a factor of three as soon as anything else runs.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from lib2048.deep.adp import ADP  # noqa: E402
from lib2048.deep.architectures import make  # noqa: E402
from lib2048.deep.files import load, save  # noqa: E402
from lib2048.deep.mcts import MCTS, MCTSPlayer, uniform  # noqa: E402
from lib2048.deep.moves import record_games  # noqa: E402
from lib2048.deep.network import ValueNetwork  # noqa: E402
from lib2048.deep.policy import PolicyNetwork, distance_to_certainty, new_policy_network  # noqa: E402
from lib2048.deep.warm import warm_start  # noqa: E402

__all__ = [
    "ADP", "MCTS", "MCTSPlayer", "PolicyNetwork", "ValueNetwork",
    "distance_to_certainty", "load", "make", "new_policy_network", "record_games", "save",
    "uniform", "warm_start",
]  # fmt: skip
