"""Neural networks on disk: safetensors, which hold numbers and text and nothing that could run."""

import hashlib
import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as pack
from torch import nn

from lib2048.deep.network import ValueNetwork
from lib2048.deep.policy import HIDDEN, PolicyNetwork, make_policy
from lib2048.game.batch import CELLS, KINDS
from lib2048.game.bits import WHOLE
from lib2048.game.game import parse_game
from lib2048.machine.arrays import SEAL, Form, check_arrays, member
from lib2048.machine.files import open_file, write_atomic
from lib2048.machine.memory import check_memory
from lib2048.machine.terminal import in_short
from lib2048.networks.neural import OWN, POLICY, SUFFIX, is_neural, kind_of, one_name

FORMAT = "lib2048 2"
ABOUT = {"format", "network", "options", "info", SEAL}  # what a file says of itself


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
    if not isinstance(network, (ValueNetwork, PolicyNetwork)):
        said = in_short(network)
        raise ValueError(f"{path}: a neural network is saved so, not {said}")
    if Path(path).suffix != SUFFIX:
        raise ValueError(f"{path}: the weights of a neural network are saved as {SUFFIX}")
    tensors = {
        name: tensor.detach().cpu().contiguous()
        for name, tensor in network.module.state_dict().items()
    }
    if half:
        tensors = {name: tensor.half() for name, tensor in tensors.items()}
        _check_finite(network.module, tensors, f"network {network.name}", FloatingPointError)
    options = network.arguments()
    about = {"format": FORMAT, "info": json.dumps(info), "network": options.pop("name")}
    about |= {"options": json.dumps(options)}
    if isinstance(network, PolicyNetwork):
        about |= {"kind": POLICY, "game": network.game.name}
    packed = pack(tensors, about | {SEAL: _seal(about, tensors)})
    write_atomic(path, lambda file: file.write(packed), len(packed))


def _check_finite(module, tensors, what, error=ValueError):
    """Raise an error where a weight is nan or infinite; a module's buffers may hold such."""
    if not all(bool(tensors[name].isfinite().all()) for name, _ in module.named_parameters()):
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
    about, tensors = _read(path, name)
    found = about["network"]
    if module is None and (found.startswith(OWN) or not is_neural(found)):
        raise ValueError(
            f"{path}: holds weights of {found}: give the module that takes them, "
            "deep.load(…, module=…)"
        )
    network = _new(about, tensors, module, device, precision, path)
    _take_up(network, about, tensors, path)
    return network


def begin_with(network, path):
    """Set a network's weights to those of a file; raises what `load` raises."""
    _take_up(network, *_read(path, network.name), path)


def _take_up(network, about, tensors, path):
    """Set a network's weights to those of a file, once all of it is checked."""
    module = network.module
    _check_shapes(network.name, _shapes(module.state_dict()), _shapes(tensors), path)
    _check_seal(about, tensors, path)
    _check_finite(module, tensors, path)
    module.load_state_dict(tensors)


def _new(about, tensors, module, device, precision, path):
    """Return the network that a file describes, before its weights are set."""
    found, options = about["network"], _object(about["options"], path)
    what = found if module is None else module
    try:
        if kind_of(found) != "value" and POLICY in (about.get("kind"), found):
            module = make_policy(hidden=_hidden(tensors)) if module is None else module
            return PolicyNetwork(module, found, parse_game(about.get("game", WHOLE)))
        return ValueNetwork(what, found, device=device, precision=precision, **options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: its options make no network: {error}") from None


def _hidden(tensors):
    """Return how many units the hidden layers of a policy network have, by its weights."""
    in_order = sorted(tensors, key=lambda name: (len(name), name))  # 0.weight, 2.weight, …
    shapes = [tuple(tensors[name].shape) for name in in_order]
    sizes = [CELLS * KINDS, *(shape[0] for shape in shapes if shape)]
    chained = shapes == [(after, before) for before, after in pairwise(sizes)]
    return tuple(sizes[1:-1]) if chained else HIDDEN


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


def _read(path, name=None):
    """Return (what the file says of itself, {name: tensor}), not yet compared with its hash.

    name: the network that it must be of, or None for any.
    """
    open_file(path).close()  # says in one line what is no file
    try:
        with safe_open(path, "pt") as file:
            about, found = file.metadata() or {}, list(file.keys())
            if not (found and ABOUT <= set(about) and about["format"] == FORMAT):
                raise ValueError(f"{path}: not a file of weights written by lib2048")
            network = about["network"]
            if not network.isprintable():
                raise ValueError(f"{path}: its network has no name")
            if name is not None and network not in (one_name(name), OWN + name):
                raise ValueError(f"{path}: holds weights of network {network}, not of {name}")
            count = sum(math.prod(file.get_slice(key).get_shape()) for key in found)
            check_memory(f"{path}", 4 * count, "close other programs")
            return about, {key: file.get_tensor(key) for key in found}
    except (SafetensorError, OSError, KeyError):
        reason = f"it is truncated, or no {SUFFIX}"
        raise ValueError(f"{path}: not a file of weights: {reason}") from None


def _check_seal(about, tensors, path):
    """Raise ValueError, in one line, where a file does not match its hash."""
    if about[SEAL] != _seal(about, tensors):
        raise ValueError(f"{path}: damaged: it does not match its hash")


def _object(text, path):
    """Return the dict that a text of JSON holds; raises ValueError for anything else."""
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: damaged: what it says of itself is no JSON object")
    return found


def _shapes(tensors):
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _check_shapes(name, own, found, path):
    """Raise ValueError, in one line, where weights have other names or shapes than a network's."""
    if own != found:
        raise ValueError(
            f"{path}: its weights do not fit network {name}: they are of another architecture"
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
# A learner's parts are modules and optimisers, {beginning of their arrays' names: part}.

KEPT = {"Adam": ("step", "exp_avg", "exp_avg_sq"), "RMSprop": ("step", "square_avg")}
SIGNED = ("exp_avg",)  # what an optimiser keeps is else never below 0


def arrays(name, parts):
    """Return all that a learner's parts hold as a dict of arrays; name: of its network.

    Raises FloatingPointError for weights that are nan or infinite.
    """
    found = {}
    for start, part in parts.items():
        state = part.state_dict()
        if isinstance(part, nn.Module):
            _check_finite(part, state, f"network {name}", FloatingPointError)
        else:
            kept = state["state"].items()
            state = {f"{n}.{key}": tensor for n, by_key in kept for key, tensor in by_key.items()}
        found |= {start + key: tensor.cpu().numpy().copy() for key, tensor in state.items()}
    return found


def check(name, parts, arrays, path):
    """Raise ValueError, in one line, where arrays are not those of such parts."""
    for start, part in parts.items():
        forms = {start + key: form for key, form in _forms(part).items()}
        here = {key: member(arrays, key) for key in arrays if key.startswith(start)}
        if isinstance(part, nn.Module):
            _check_shapes(
                name, {key: form.shape for key, form in forms.items()}, _shapes(here), path
            )
        elif not here:
            continue  # an optimiser before its first step keeps nothing
        elif here.keys() != forms.keys():
            raise ValueError(f"{path}: holds what another optimiser keeps")
        check_arrays(arrays, forms, path)


def _forms(part):
    """Return what the arrays of a part must be, {name: `Form`}."""
    if isinstance(part, nn.Module):
        weights = dict(part.named_parameters())
        return {
            key: Form(str(x.dtype).removeprefix("torch."), tuple(x.shape), finite=key in weights)
            for key, x in part.state_dict().items()
        }
    return {
        f"{n}.{key}": Form(
            "float32", () if key == "step" else tuple(x.shape), None if key in SIGNED else 0
        )
        for n, x in enumerate(x for group in part.param_groups for x in group["params"])
        for key in KEPT[type(part).__name__]
    }


def restore(parts, arrays):
    """Set parts to what `arrays` returned, and `check` has seen."""
    for start, part in parts.items():
        keys = [key.removeprefix(start) for key in arrays if key.startswith(start)]
        state = {key: torch.from_numpy(np.array(arrays[start + key])) for key in keys}
        if not isinstance(part, nn.Module):
            kept = {}
            for key, tensor in state.items():
                number, _, what = key.partition(".")
                kept.setdefault(int(number), {})[what] = tensor
            state = part.state_dict() | {"state": kept}
        part.load_state_dict(state)
