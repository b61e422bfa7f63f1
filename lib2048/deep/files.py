"""Neural networks on disk: safetensors, which hold numbers and text and nothing that could run."""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as pack

from lib2048.deep.network import ValueNetwork
from lib2048.deep.policy import new_policy_network
from lib2048.machine.arrays import SEAL, Form, check_arrays, member, text
from lib2048.machine.files import open_file, write_atomic
from lib2048.machine.memory import check_memory
from lib2048.networks.neural import OWN, SUFFIX, is_neural, kind_of

FORMAT = "lib2048 2"
WEIGHTS = "weights" + SUFFIX


def save(network, path, half=False, **info):
    """Save a neural network as .safetensors.

    `load` refuses weights that are nan or infinite.

    Args:
        path: str or Path.
        half: as float16, half the size.
        **info: anything JSON can hold, kept beside the weights.

    Raises:
        ValueError: for another suffix.
        OSError: when the disk is full.
        FloatingPointError: for weights that half a float cannot hold.
    """
    save_with(network, path, info, half)


def save_with(network, path, info, half=False):
    """Save a network as `save` does, with its info as a dict."""
    if Path(path).suffix != SUFFIX:
        raise ValueError(f"{path}: the weights of a neural network are saved as {SUFFIX}")
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in network.module.state_dict().items()
    }
    if half:
        tensors = {name: tensor.half() for name, tensor in tensors.items()}
        _check_finite(network, tensors, f"network {network.name}", FloatingPointError)
    about = {
        "format": FORMAT,
        "info": json.dumps(info),
        "network": network.name,
        "options": json.dumps(_options(network)),
    }
    packed = pack(tensors, about | {SEAL: _seal(about, tensors)})
    write_atomic(path, lambda file: file.write(packed), len(packed))


def _check_finite(network, tensors, what, error=ValueError):
    """Raise an error where a weight is nan or infinite; a module's buffers may hold such."""
    weights = dict(network.module.named_parameters())
    if not all(bool(tensors[name].isfinite().all()) for name in weights):
        raise error(f"{what}: among its weights is nan or infinity")


def load(path, name=None, module=None, device="cpu", precision="float32"):
    """Load a neural network that `save` wrote.

    Args:
        name: the network it must be, or None for any.
        module: the torch module that takes the weights of a network of your own.

    Returns:
        `ValueNetwork` or `PolicyNetwork`.

    Raises:
        ValueError: for a missing, damaged or foreign file, or another architecture.
    """
    about, tensors = _read(path)
    found = about["network"]
    _check_name(name, found, path)
    if module is None and (found.startswith(OWN) or not is_neural(found)):
        raise ValueError(
            f"{path}: holds weights of {found}: give the module that takes them, "
            "deep.load(…, module=…)"
        )
    network = _new(about, module, device, precision, path)
    _take_up(network, about, tensors, path)
    return network


def begin_with(network, path):
    """Set a network's weights to those of a file; raises what `load` raises."""
    about, tensors = _read(path)
    _check_name(network.name, about["network"], path)
    _take_up(network, about, tensors, path)


def _check_name(name, found, path):
    if name is not None and found != name.lower():
        raise ValueError(f"{path}: holds weights of network {found}, not of {name}")


def _take_up(network, about, tensors, path):
    _check_shapes(network, {name: tuple(x.shape) for name, x in tensors.items()}, path)
    _check_seal(about, tensors, path)
    _fill(network, tensors, path)


def _new(about, module, device, precision, path):
    """Return the network that a file describes, before its weights are set."""
    found = about["network"]
    if kind_of(found) == "policy":
        return new_policy_network()
    own = None if module is None else found.removeprefix(OWN)
    try:
        return ValueNetwork(
            found if module is None else module,
            own,
            device=device,
            precision=precision,
            **_object(about["options"], path),
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: its options make no network: {error}") from None


def _options(network):
    """Return what decides a network beside its name and its weights."""
    return {name: value for name, value in network.arguments().items() if name != "name"}


def info(path):
    """Describe a file: dict of network, symmetry, number of weights, type, hash and its info."""
    about, tensors = _read(path)
    _check_seal(about, tensors, path)
    return {
        "network": about["network"],
        **_object(about["options"], path),
        "weights": sum(tensor.numel() for tensor in tensors.values()),
        "dtype": str(next(iter(tensors.values())).dtype).removeprefix("torch."),
        "sha256": about[SEAL],
        "checked": "all",
        "info": _object(about["info"], path),
    }


def _read(path):
    """Return (what the file says of itself, {name: tensor}), not yet compared with its hash."""
    open_file(path).close()  # says in one line what is no file
    try:
        with safe_open(path, "pt") as file:
            about, found = file.metadata() or {}, file.keys()
            _check_about(about, path)
            nbytes = sum(_nbytes(file.get_slice(name)) for name in found)
            check_memory(f"{path}", nbytes, "close other programs")
            tensors = {name: file.get_tensor(name) for name in found}
    except (SafetensorError, OSError, KeyError):
        reason = f"it is truncated, or no {SUFFIX}"
        raise ValueError(f"{path}: not a file of weights: {reason}") from None
    if not tensors:
        raise ValueError(f"{path}: not a file of weights written by lib2048")
    return about, tensors


def _check_seal(about, tensors, path):
    """Raise ValueError, in one line, where a file does not match its hash."""
    if about[SEAL] != _seal(about, tensors):
        raise ValueError(f"{path}: damaged: it does not match its hash")


def _nbytes(tensor):
    return 4 * math.prod(tensor.get_shape())


def _check_about(about, path):
    """Raise ValueError, in one line, where a file says of itself what none of ours says."""
    names = {"format", "network", "options", "info", SEAL}
    if not names <= set(about) or about["format"] != FORMAT:
        raise ValueError(f"{path}: not a file of weights written by lib2048")
    if not about["network"].isprintable():
        raise ValueError(f"{path}: its network has no name")


def _object(text, path):
    """Return the dict that a text of JSON holds; raises ValueError for anything else."""
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: damaged: what it says of itself is no JSON object")
    return found


def _fill(network, tensors, path):
    """Set a network's weights; each must be there, in its shape."""
    own = network.module.state_dict()
    _check_shapes(network, {name: tuple(x.shape) for name, x in tensors.items()}, path)
    _check_finite(network, tensors, path)
    network.module.load_state_dict({n: x.to(own[n].dtype) for n, x in tensors.items()})


def _check_shapes(network, shapes, path):
    """Raise ValueError, in one line, where weights are not those of a network's module."""
    if {n: tuple(x.shape) for n, x in network.module.state_dict().items()} != shapes:
        raise ValueError(
            f"{path}: its weights do not fit network {network.name}: "
            "they are of another architecture"
        )


def _seal(about, tensors):
    """Return the hash over all of a file: what it says of itself, and its tensors."""
    weights, digest = hashlib.sha256(), hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        weights.update(name.encode())
        weights.update(tensor.contiguous().view(torch.uint8).numpy())
    digest.update(weights.hexdigest().encode())
    for name in sorted(about.keys() - {SEAL}):
        digest.update(f"{name} {about[name]}\n".encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
    return digest.hexdigest()


# ---------------------------------------------------------------- in a run's checkpoint

START, AVERAGE, OPTIMISER = "weights.", "average.", "optimiser."
KEPT = {"Adam": ("step", "exp_avg", "exp_avg_sq"), "RMSprop": ("step", "square_avg")}
SIGNED = ("exp_avg",)  # what an optimiser keeps is else never below 0


def network_arrays(network):
    """Return a network's weights as a dict of arrays.

    Raises FloatingPointError for weights that are nan or infinite.
    """
    state = network.module.state_dict()
    _check_finite(network, state, f"network {network.name}", FloatingPointError)
    return {"network": np.array(network.name), **_arrays(START, state)}


def _arrays(start, state):
    return {f"{start}{name}": tensor.cpu().numpy().copy() for name, tensor in state.items()}


def _forms(start, module):
    """Return what the arrays of a module's state must be, {name: `Form`}."""
    weights = dict(module.named_parameters())
    return {
        start + name: Form(
            str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), finite=name in weights
        )
        for name, tensor in module.state_dict().items()
    }


def check(network, arrays, path):
    """Raise ValueError, in one line, where arrays are not those of this network's weights."""
    check_arrays(arrays, {"network": Form("U")}, path)
    if (found := text(arrays, "network")) != network.name:
        raise ValueError(f"{path}: holds weights of {found}, not of {network.name}")
    heads = {
        name.removeprefix(START): member(arrays, name).shape
        for name in arrays
        if name.startswith(START)
    }
    _check_shapes(network, heads, path)
    check_arrays(arrays, _forms(START, network.module), path)


def restore(network, arrays, path):
    """Set a network's weights to what `network_arrays` returned, and `check` has seen."""
    state = network.module.state_dict()
    _fill(network, {name: _tensor(arrays[START + name]) for name in state}, path)


def _tensor(array):
    return torch.from_numpy(np.array(array))


def average_arrays(average):
    """Return a moving average of weights, `AveragedModel` or None, as a dict of arrays."""
    return {} if average is None else _arrays(AVERAGE, average.state_dict())


def check_average(average, arrays, path):
    """Raise ValueError, in one line, where arrays are not what `average_arrays` returned."""
    if average is not None:
        check_arrays(arrays, _forms(AVERAGE, average), path)


def restore_average(average, arrays):
    """Set a moving average to what `average_arrays` returned, and `check_average` has seen."""
    if average is not None:
        kept = {name: _tensor(arrays[AVERAGE + name]) for name in average.state_dict()}
        average.load_state_dict(kept)


def optimiser_arrays(optimiser):
    """Return what an optimiser keeps of each weight as a dict of arrays."""
    state = optimiser.state_dict()["state"]
    return {
        name: array
        for number, kept in state.items()
        for name, array in _arrays(f"{OPTIMISER}{number}.", kept).items()
    }


def check_optimiser(optimiser, arrays, path):
    """Raise ValueError, in one line, where arrays are not what `optimiser_arrays` returned.

    An optimiser before its first step keeps nothing.
    """
    here = {name for name in arrays if name.startswith(OPTIMISER)}
    weights = [x for group in optimiser.param_groups for x in group["params"]]
    forms = {
        f"{OPTIMISER}{number}.{name}": Form(
            "float32", () if name == "step" else tuple(x.shape), None if name in SIGNED else 0
        )
        for number, x in enumerate(weights)
        for name in KEPT[type(optimiser).__name__]
    }
    if here and here != set(forms):
        raise ValueError(f"{path}: holds what another optimiser keeps")
    check_arrays(arrays, forms if here else {}, path)


def restore_optimiser(optimiser, arrays):
    """Set what an optimiser keeps to what `optimiser_arrays` returned, and was checked."""
    state = {}
    for key in (key for key in arrays if key.startswith(OPTIMISER)):
        _, number, name = key.split(".", 2)
        state.setdefault(int(number), {})[name] = _tensor(arrays[key])
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
