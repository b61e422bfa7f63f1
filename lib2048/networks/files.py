"""Networks on disk, and what a rule keeps beside their weights.

A network is stored as an .npz: a packed bitmask of its non-zero weights and their values, in
plain order (see `Network.table`), with the network's name, its form and a hash.  The files of
other programs (see `foreign`) become the same arrays when they are read.
"""

import hashlib
import itertools
import json
from pathlib import Path

import numpy as np

from lib2048.machine.files import read_arrays, write_arrays
from lib2048.networks import foreign, neural
from lib2048.networks.network import Geometry, Network
from lib2048.networks.stages import TOP

FORMAT = 1
NETWORK_ARRAYS = (
    "format", "network", "form", "optimistic", "stages", "top", "promotion", "blocks", "unit",
    "mask", "weights", "sha256", "own",
)  # fmt: skip


def network_arrays(network):
    """Return a network as a dict of arrays, sparse and in plain order."""
    blocks = _blocks_in_use(network)
    arrays = _described(network, blocks, *_sparse(network, network.weights, blocks))
    return arrays | ({"own": np.array(network.own.digest)} if network.own_order else {})


def _described(network, blocks, mask, values):
    """Return what a file holds of a network; network: `Geometry`."""
    return {
        "format": np.array(FORMAT),
        "network": np.array(network.name),
        "form": np.array(network.form),
        "optimistic": np.array(network.optimistic),
        **dict(zip(("stages", "top", "promotion"), map(np.array, _stages(network)), strict=True)),
        "blocks": np.array(blocks, np.uint8),
        "mask": mask,
        "weights": values,
        "sha256": np.array(_digest(mask, values)),
    }


def tables_arrays(tables):
    """Return what a file holds of the weights V of `foreign.Tables`, as `network_arrays` does."""
    network = Geometry(foreign.name_of(tables.tuples))
    about = {"info": np.array(json.dumps({"from": foreign.PROGRAMS[tables.kind]}))}
    return _described(network, [0], *sparse_table(tables, 0)) | about


def sparse_table(tables, column):
    """Return (packed mask of the numbers whose bits are not all 0, those numbers).

    tables: `foreign.Tables`; column: 0 for V, 1 for E, 2 for A.  -0.0 has a bit: it is kept.
    """
    size = sum(16 ** len(cells) for cells in tables.tuples)
    mask, values = np.empty(size // 8, np.uint8), np.empty(size, np.float32)
    start = used = 0
    for piece in (p for n in range(len(tables.tuples)) for p in tables.pieces(n, column)):
        here = piece.view(np.uint32) != 0
        some = piece[here]
        mask[start : start + len(here) // 8] = np.packbits(here)
        values[used : used + len(some)] = some
        start, used = start + len(here) // 8, used + len(some)
    return mask, values[:used]


def _blocks_in_use(network):
    """List the stages that some game has reached; without stages, all there is."""
    if not network.stages.marks:
        return list(range(network.blocks))
    stages = network.weights.reshape(network.blocks, -1)
    return [number for number, weights in enumerate(stages) if weights.any()]


def _sparse(network, numbers, blocks):
    """Return (packed mask of the numbers that are not 0, those numbers), in plain order.

    numbers: float32[network.size], in the order of the weights; blocks: which to look at.
    """
    masks, values = [np.zeros(0, np.uint8)], [np.zeros(0, np.float32)]
    for block in blocks:
        for places in network.pieces(block):  # one table at a time: never a second copy
            table = numbers[places]
            del places  # as large as the table, and the next ones are about to be made
            masks.append(np.packbits(table != 0))
            values.append(table[table != 0])
    return np.concatenate(masks), np.concatenate(values)


def _fill(network, numbers, mask, values, blocks, path):
    """Set the numbers that are not 0 to what `_sparse` returned."""
    here = np.bitwise_count(mask).sum() if len(mask) else 0
    if len(mask) != len(blocks) * network.block // 8 or here != len(values):
        raise ValueError(f"{path}: its weights do not fit network {network.name}")
    start = used = 0
    for places in itertools.chain.from_iterable(map(network.pieces, blocks)):
        size = len(places)
        here = np.flatnonzero(np.unpackbits(mask[start : start + size // 8]))
        numbers[places[here]] = values[used : used + len(here)]
        start, used = start + size // 8, used + len(here)


def _stored_blocks(network, arrays, path):
    """Return the stages, or actions, that a file holds."""
    every = list(range(network.blocks))
    blocks = [int(block) for block in arrays.get("blocks", every)]
    if not (set(blocks) <= set(every) if network.stages.marks else blocks == every):
        raise ValueError(f"{path}: its weights do not fit network {network.name}")
    return blocks


def memory_arrays(network, memory):
    """Return what a rule keeps beside a network's weights as a dict of arrays, sparse."""
    arrays, wide, blocks = {}, len(memory) // network.size, _blocks_in_use(network)
    for column in range(wide):
        mask, values = _sparse(network, memory[column::wide], blocks)
        arrays |= {f"memory{column}_mask": mask, f"memory{column}": values}
    return arrays


def restore_memory(network, memory, arrays, path):
    """Set a rule's memory, all 0 so far, to what `memory_arrays` returned."""
    wide, blocks = len(memory) // network.size, _stored_blocks(network, arrays, path)
    for column in range(wide):
        if not {f"memory{column}_mask", f"memory{column}"} <= set(arrays):
            raise ValueError(f"{path}: lacks what the rule kept beside the weights")
        mask, values = arrays[f"memory{column}_mask"], arrays[f"memory{column}"]
        _fill(network, memory[column::wide], mask, values, blocks, path)


def _digest(mask, values):
    digest = hashlib.sha256()
    for array in (mask, values):
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # no second copy
    return digest.hexdigest()


def network_from(arrays, path):
    """Make a network out of what `network_arrays` returned; path: named in errors."""
    check(arrays, path)
    if "own" in arrays:
        raise ValueError(
            f"{path}: its weights lie where an index of somebody's own has them: go on with that "
            "run in Python, by Run(…, network=….with_functions(…))"
        )
    network = Network(*_geometry(arrays))
    _fill_weights(network, arrays, path)
    return network


def _fill_weights(network, arrays, path):
    """Set a network's weights, all 0 so far; those of a compact file count in its unit."""
    blocks, values = _stored_blocks(network, arrays, path), arrays["weights"]
    if "unit" in arrays:
        values = values.astype(np.float32) * np.float32(arrays["unit"])
    _fill(network, network.weights, arrays["mask"], values, blocks, path)


def geometry_of(arrays):
    """Return the `Geometry` of the network that a file holds."""
    return Geometry(*_geometry(arrays))


def _geometry(arrays):
    """Return the arguments of the `Network` that a file holds."""
    stages = [arrays.get("stages", 0), arrays.get("top", TOP), arrays.get("promotion", False)]
    start = float(arrays.get("optimistic", 0.0))
    return str(arrays["network"]), str(arrays["form"]), start, *(int(x) for x in stages)


def _stages(network):
    """Return a network's stages as the last arguments of `Network`: marks, top, promotion."""
    return [int(network.stages.marks), network.stages.top, int(network.promotes)]


def restore(network, arrays, path):
    """Set a network's weights to what `network_arrays` returned, without a second copy."""
    check(arrays, path)
    name, form, _, *stages = _geometry(arrays)
    if (name, form) != (network.name, network.form):
        raise ValueError(f"{path}: holds weights of network {name}")
    if stages != _stages(network):
        raise ValueError(f"{path}: holds weights of other stages")
    if str(arrays.get("own", "")) != (network.own.digest if network.own_order else ""):
        raise ValueError(f"{path}: holds weights that lie where another index has them")
    _clear(network.weights)
    network.optimistic = float(arrays.get("optimistic", 0.0))
    _fill_weights(network, arrays, path)


def _clear(numbers, piece=1 << 22):
    """Set numbers to 0, without writing where they are: what is not written takes no memory."""
    for start in range(0, len(numbers), piece):
        part = numbers[start : start + piece]
        if part.any():
            part[:] = 0


def check(arrays, path):
    """Raise ValueError, in one line, for arrays that are no network's, or damaged."""
    missing = {"format", "network", "form", "mask", "weights", "sha256"} - set(arrays)
    if missing:
        raise ValueError(f"{path}: not a file of weights: it lacks {', '.join(sorted(missing))}")
    if int(arrays["format"]) != FORMAT:
        raise ValueError(f"{path}: format {arrays['format']}; this version reads format {FORMAT}")
    if _digest(arrays["mask"], arrays["weights"]) != str(arrays["sha256"]):
        raise ValueError(f"{path}: damaged: its weights do not match its hash")


def save(network, path, compact=False, **info):
    """Save a network as .npz.

    path: str or Path ending in .npz, or in .safetensors for a neural network; compact: round the
    weights to 11 bits and compress the file, to half its size or less; info: anything JSON can
    hold, kept beside the weights.  Raises ValueError for another suffix, OSError when the disk is
    full.
    """
    if hasattr(network, "module"):
        return neural.room("files").save(network, path, half=compact, **info)
    if Path(path).suffix != ".npz":
        raise ValueError(f"{path}: weights are saved as .npz")
    network.needs_order("a file of weights")
    arrays = network_arrays(network) | {"info": np.array(json.dumps(info))}
    if compact:
        write_arrays(path, _rounded(arrays), np.savez_compressed)
    else:
        write_arrays(path, arrays)


def _rounded(arrays):
    """Round the weights to float16, in a unit in which the largest of them fits."""
    values, mask = arrays["weights"], arrays["mask"]
    largest = np.abs(values).max(initial=1.0)
    unit = np.float32(2.0 ** max(0, int(np.frexp(largest / 2.0**15)[1])))
    values = (values / unit).astype(np.float16)
    values[values == 0] = np.finfo(np.float16).smallest_subnormal  # the mask says: not 0
    digest = np.array(_digest(mask, values))
    return arrays | {"weights": values, "unit": np.array(unit), "sha256": digest}


def pruned(arrays, keep):
    """Return the arrays of a run by TC with only the weights that have learned most.

    keep: how many, by A, the sum of the sizes of the errors that a weight has met.
    """
    sizes, learned = arrays["memory1"], np.unpackbits(arrays["memory1_mask"]).astype(bool)
    keep = min(keep, len(sizes))
    learned[learned] = sizes >= np.partition(sizes, -keep)[-keep]
    here = np.unpackbits(arrays["mask"]).astype(bool)
    values, mask = arrays["weights"][learned[here]], np.packbits(here & learned)
    return arrays | {"weights": values, "mask": mask, "sha256": np.array(_digest(mask, values))}


def load(path, name=None, fold=False):
    """Load a network that `save` wrote, or the weights of TDL2048-Demo (.bin) or TDL2048+ (.w).

    A file .safetensors holds a neural network, see `deep.load`.  name: the network it must be, or
    None for any; fold: fold the tuples that are contained in longer ones, if there are any, for
    playing (see `Network.folded`).  Returns `Network`.  Raises ValueError, in one line, for a
    missing, truncated, foreign or pickled file, or another network.
    """
    if Path(path).suffix == neural.SUFFIX:
        return neural.room("files").load(path, name)
    arrays = _read(path, NETWORK_ARRAYS)
    found = str(arrays.get("network", name))
    if neural.is_neural(found):
        raise ValueError(f"{path}: holds a run of the neural network {found}: take the file "
                         f"weights{neural.SUFFIX} beside it")  # fmt: skip
    if name is not None and found != name:
        raise ValueError(f"{path}: holds weights of network {found}, not of {name}")
    network = network_from(arrays, path)
    several = len(set(map(len, network.tuples))) > 1
    return network.folded() if fold and several else network


def _read(path, names):
    """Read a file's arrays, or make them of what another program wrote."""
    if foreign.kind(path) not in foreign.PROGRAMS:
        return read_arrays(path, names)
    return tables_arrays(foreign.read(path))


def info(path):
    """Describe a file of weights: dict of network, form, non-zero weights, hash and its info."""
    if Path(path).suffix == neural.SUFFIX:
        return neural.room("files").info(path)
    arrays = _read(path, {*NETWORK_ARRAYS, "info"})
    network_keys = {"network", "form", "weights", "sha256"}
    if not network_keys <= set(arrays):
        raise ValueError(f"{path}: not a file of weights written by lib2048")
    return {
        "network": str(arrays["network"]),
        "form": str(arrays["form"]),
        "stages": 1 << int(arrays.get("stages", 0)),
        "nonzero_weights": len(arrays["weights"]),
        "sha256": str(arrays["sha256"]),
        "info": json.loads(str(arrays.get("info", "{}"))),
    }
