"""Which learner trains which neural network."""

from lib2048.deep.learner import ValueLearner
from lib2048.deep.network import ValueNetwork
from lib2048.deep.policy import new_policy_network
from lib2048.deep.reinforce import PolicyLearner
from lib2048.networks.neural import OWN


def new_network(settings):
    """Return the network that settings name, with weights drawn by their seed."""
    if settings.kind == "policy":
        return new_policy_network(settings.seed)
    if settings.network.startswith(OWN):
        raise ValueError(f"network {settings.network}: give the module itself, Run(…, network=…)")
    return ValueNetwork(settings.network, seed=settings.seed, symmetry=settings.symmetry,
                        device=settings.device, precision=settings.precision)  # fmt: skip


def new_learner(network, settings):
    """Return the learner of a network; see `train.learners`."""
    kind = PolicyLearner if settings.kind == "policy" else ValueLearner
    return kind(network, settings)
