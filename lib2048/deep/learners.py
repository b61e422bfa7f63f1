"""Which learner trains which neural network."""

import torch

from lib2048.deep.architectures import ARCHITECTURES, weight_count
from lib2048.deep.learner import ValueLearner, training_bytes
from lib2048.deep.network import ValueNetwork
from lib2048.deep.policy import new_policy_network
from lib2048.deep.reinforce import PolicyLearner
from lib2048.networks.neural import OWN

PROCESS_MIB = 2048  # of a process beside its batches; measured: 500 soon, 1700 after 10^8 actions


def new_network(settings):
    """Return the network that settings name, with weights drawn by their seed."""
    if settings.kind == "policy":
        return new_policy_network(settings.seed)
    _check_named(settings.network)
    return ValueNetwork(
        settings.network,
        seed=settings.seed,
        symmetry=settings.symmetry,
        device=settings.device,
        precision=settings.precision,
    )


def new_learner(network, settings):
    """Return the learner of a network; see `train.learners`."""
    kind = PolicyLearner if settings.kind == "policy" else ValueLearner
    return kind(network, settings)


def needed_bytes(settings):
    """Return the most memory that a process needs which trains by these settings, in bytes."""
    process = PROCESS_MIB << 20
    if settings.kind == "policy":
        return process
    _check_named(settings.network)
    with torch.device("meta"):  # weights without any memory
        size = weight_count(ARCHITECTURES[settings.network.lower()]())
    return process + training_bytes(size, settings)


def _check_named(name):
    if name.startswith(OWN):
        raise ValueError(f"network {name}: give the module itself, Run(…, network=…)")
