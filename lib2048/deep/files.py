"""Neural networks on disk: safetensors, which hold numbers and text and nothing that could run."""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as pack

from lib2048.deep.network import ValueNetwork
from lib2048.deep.policy import new_policy_network
from lib2048.machine.files import write_atomic
from lib2048.networks.neural import OWN, SUFFIX, is_neural, kind_of

FORMAT = "lib2048 1"
WEIGHTS = "weights" + SUFFIX


def save(network, path, half=False, **info):
    """Save a neural network as .safetensors.

    path: str or Path; half: as float16, half the size; info: anything JSON can hold, kept beside
    the weights.  Raises ValueError for another suffix, OSError when the disk is full.
    """
    if Path(path).suffix != SUFFIX:
        raise ValueError(f"{path}: the weights of a neural network are saved as {SUFFIX}")
    tensors = {name: tensor.detach().cpu().contiguous()
               for name, tensor in network.module.state_dict().items()}  # fmt: skip
    if half:
        tensors = {name: tensor.half() for name, tensor in tensors.items()}
    about = {"format": FORMAT, "sha256": _digest(tensors), "info": json.dumps(info),
             "network": network.name, "options": json.dumps(_options(network))}  # fmt: skip
    packed = pack(tensors, about)
    write_atomic(path, lambda file: file.write(packed), len(packed))


def load(path, name=None, module=None, device="cpu", precision="float32"):
    """Load a neural network that `save` wrote.

    name: the network it must be, or None for any; module: the torch module that takes the weights
    of a network of your own.  Returns `ValueNetwork` or `PolicyNetwork`.  Raises ValueError, in
    one line, for a missing, damaged or foreign file, or another architecture.
    """
    about, tensors = _read(path)
    found = about["network"]
    if name is not None and found != name.lower():
        raise ValueError(f"{path}: holds weights of network {found}, not of {name}")
    if module is None and (found.startswith(OWN) or not is_neural(found)):
        raise ValueError(f"{path}: holds weights of {found}: give the module that takes them, "
                         "deep.load(…, module=…)")  # fmt: skip
    if kind_of(found) == "policy":
        network = new_policy_network()
    else:
        own = None if module is None else found.removeprefix(OWN)
        network = ValueNetwork(found if module is None else module, own, device=device,
                               precision=precision, **json.loads(about["options"]))  # fmt: skip
    _fill(network, tensors, path)
    return network


def _options(network):
    """Return what decides a network beside its name and its weights."""
    return {name: value for name, value in network.arguments().items() if name != "name"}


def info(path):
    """Describe a file: dict of network, symmetry, number of weights, type, hash and its info."""
    about, tensors = _read(path)
    return {
        "network": about["network"],
        **json.loads(about["options"]),
        "weights": sum(tensor.numel() for tensor in tensors.values()),
        "dtype": str(next(iter(tensors.values())).dtype).removeprefix("torch."),
        "sha256": about["sha256"],
        "info": json.loads(about["info"]),
    }


def _read(path):
    """Return (what the file says of itself, {name: tensor})."""
    if not Path(path).is_file():
        raise ValueError(f"{path}: no such file")
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError):
        reason = f"it is truncated, or no {SUFFIX}"
        raise ValueError(f"{path}: not a file of weights: {reason}") from None
    if about.get("format") != FORMAT or "options" not in about or not tensors:
        raise ValueError(f"{path}: not a file of weights written by lib2048")
    if about["sha256"] != _digest(tensors):
        raise ValueError(f"{path}: damaged: its weights do not match its hash")
    return about, tensors


def _fill(network, tensors, path):
    """Set a network's weights; each must be there, in its shape."""
    own = network.module.state_dict()
    if {name: x.shape for name, x in own.items()} != {name: x.shape for name, x in tensors.items()}:
        raise ValueError(f"{path}: its weights do not fit network {network.name}: "
                         "they are of another architecture")  # fmt: skip
    network.module.load_state_dict({n: x.to(own[n].dtype) for n, x in tensors.items()})


def _digest(tensors):
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()


# ---------------------------------------------------------------- in a run's checkpoint


def network_arrays(network):
    """Return a network's weights as a dict of arrays."""
    state = network.module.state_dict()
    weights = {f"weights.{name}": tensor.cpu().numpy().copy() for name, tensor in state.items()}
    return {"network": np.array(network.name), **weights}


def restore(network, arrays, path):
    """Set a network's weights to what `network_arrays` returned."""
    found = str(arrays.get("network", "no network"))
    if found != network.name:
        raise ValueError(f"{path}: holds weights of {found}, not of {network.name}")
    start = "weights."
    tensors = {name.removeprefix(start): torch.from_numpy(np.ascontiguousarray(array))
               for name, array in arrays.items() if name.startswith(start)}  # fmt: skip
    _fill(network, tensors, path)


def average_arrays(average):
    """Return a moving average of weights, `AveragedModel` or None, as a dict of arrays."""
    if average is None:
        return {}
    return {f"average.{n}": x.cpu().numpy().copy() for n, x in average.state_dict().items()}


def restore_average(average, arrays):
    """Set a moving average to what `average_arrays` returned."""
    if average is not None:
        own = average.state_dict()
        kept = {name: torch.from_numpy(np.array(arrays[f"average.{name}"])) for name in own}
        average.load_state_dict(kept)


def optimiser_arrays(optimiser):
    """Return what an optimiser keeps of each weight as a dict of arrays."""
    state = optimiser.state_dict()["state"]
    return {
        f"optimiser.{number}.{name}": tensor.cpu().numpy().copy()
        for number, kept in state.items()
        for name, tensor in kept.items()
    }


def restore_optimiser(optimiser, arrays):
    """Set what an optimiser keeps to what `optimiser_arrays` returned."""
    state = {}
    for key, array in arrays.items():
        if key.startswith("optimiser."):
            _, number, name = key.split(".", 2)
            tensor = torch.from_numpy(np.array(array))
            state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
