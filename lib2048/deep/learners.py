"""What a value network needs to begin: its weights, and memory to train in."""

import torch

from lib2048.deep.architectures import ARCHITECTURES, weight_count
from lib2048.deep.learner import training_bytes
from lib2048.deep.network import ValueNetwork
from lib2048.networks.neural import OWN

PROCESS_BYTES = 2048 << 20  # beside its batches; measured: 500 MiB soon, 1700 after 10^8 actions


def new_value_network(settings):
    """Return the value network that settings name, with weights drawn by their seed."""
    _check_named(settings.network)
    return ValueNetwork(
        settings.network,
        seed=settings.seed,
        symmetry=settings.symmetry,
        device=settings.device,
        precision=settings.precision,
    )


def needed_bytes(settings):
    """Return the most memory that a process needs which trains by these settings, in bytes."""
    _check_named(settings.network)
    with torch.device("meta"):  # weights without any memory
        size = weight_count(ARCHITECTURES[settings.network.lower()]())
    return PROCESS_BYTES + training_bytes(size, settings)


def _check_named(name):
    if name.startswith(OWN):
        raise ValueError(f"network {name}: give the module itself, Run(…, network=…)")
