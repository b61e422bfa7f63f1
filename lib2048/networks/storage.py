"""Networks on disk, and what a rule keeps beside their weights.

A network is stored as an .npz: a packed bitmask of its non-zero weights and their values, in
plain order (see `Network.table`), with the network's name, its form and a hash over all of it
(see `machine.arrays`).  Tables are written and read piece by piece.  The files of other programs
(see `foreign`) become the same arrays when they are read.
"""

import contextlib
import hashlib
import json
from pathlib import Path

import numpy as np

from lib2048.machine.arrays import (
    SEAL,
    Archive,
    Form,
    Member,
    check_arrays,
    check_seal,
    member,
    text,
    write_arrays,
)
from lib2048.machine.memory import check_memory, reserve
from lib2048.networks import foreign, neural
from lib2048.networks.names import with_game
from lib2048.networks.network import Geometry, Network, check_tables
from lib2048.networks.packing import Packed
from lib2048.networks.sparse import Column, sparse
from lib2048.networks.stages import MOST_MARKS, TOP

WEIGHT_FILES = (".npz", ".safetensors", ".bin", ".w")  # how names of files that `load` reads end
TABLES = ("mask", "weights")
LARGEST = float(np.finfo(np.float32).max)
TINY = float(np.finfo(np.float32).tiny)
ABOUT = {  # what a file says of its network
    "network": Form("U"),
    "form": Form("U"),
    "optimistic": Form("f", (), -LARGEST, LARGEST),
    "stages": Form("i u", (), 0, MOST_MARKS),
    "top": Form("i u", (), 0, TOP),
    "promotion": Form("i u", (), 0, 1),
    "next": Form("U", optional=True),
    "blocks": Form("uint8", (None,)),
    "unit": Form("f", (), TINY, 2.0**112, optional=True),  # so that float16 in it stays finite
    "own": Form("U", optional=True),
    "info": Form("U", optional=True),
}


# ---------------------------------------------------------------- a network as arrays


def network_arrays(network, memory=(), finite=False):
    """Return a network as a dict of arrays, sparse and in plain order.

    Its tables are `Member`s, which read the network's weights when they are written.  memory: what
    a rule keeps beside them; finite: whether what is read raises FloatingPointError where a number
    is nan or infinite.
    """
    blocks, wide = _blocks_in_use(network), len(memory) // network.size
    arrays = _described(network, blocks, *Column(network, network.weights).members(blocks, finite))
    for column in range(wide):
        kept = Column(network, memory, wide, column).members(blocks, finite)
        arrays |= dict(zip(memory_names(column), kept))
    return arrays | ({"own": np.array(network.own.digest)} if network.own_order else {})


def _described(network, blocks, mask, values):
    """Return what a file holds of a network; network: `Geometry`."""
    said = network.arguments()
    said = {"network": said.pop("name")} | said | {"promotion": int(network.promotes)}
    arrays = {name: np.array(value) for name, value in said.items()}
    return arrays | {"blocks": np.array(blocks, np.uint8), "mask": mask, "weights": values}


def tables_arrays(tables):
    """Return what a file holds of the weights V of `foreign.Tables`, as `network_arrays` does."""
    network = Geometry(foreign.name_of(tables.tuples))
    about = {"info": np.array(json.dumps({"from": foreign.PROGRAMS[tables.kind]}))}
    return _described(network, [0], *sparse_table(tables, 0)) | about


def sparse_table(tables, column):
    """Return (packed mask of the numbers whose bits are not all 0, those numbers), as `Member`s.

    tables: `foreign.Tables`; column: 0 for V, 1 for E, 2 for A.  -0.0 has a bit: it is kept.
    """

    def pieces():
        return (p for n in range(len(tables.tuples)) for p in tables.pieces(n, column))

    def differs(piece):
        return piece.view(np.uint32) != 0

    size = sum(16 ** len(cells) for cells in tables.tuples)
    return sparse(pieces, size, sum(np.count_nonzero(differs(p)) for p in pieces()), differs)


def _blocks_in_use(network):
    """List the stages that some game has reached; without stages, all there is."""
    every = range(network.blocks)
    if not network.stages.by_tiles:
        return list(every)
    return [n for n in every if network.part(network.weights, n).any()]


def keeps_tc(arrays):
    """Say whether a file holds E and A of TC, two numbers a weight: Autostep keeps three."""
    kept = [set(memory_names(column)) <= set(arrays) for column in range(3)]
    return kept == [True, True, False]


def memory_names(column):
    """Return the names of the mask and the numbers of one column of a rule's memory."""
    return f"memory{column}_mask", f"memory{column}"


# ---------------------------------------------------------------- checked


def check(arrays, path):
    """Raise ValueError, in one line, for arrays that are no network's; return its `Geometry`.

    arrays: what `network_arrays` returned, or an `Archive`; path: named in errors.
    """
    geometry = checked_geometry(arrays, path)
    check_sparse(geometry, arrays, TABLES, path)
    return geometry


def checked_geometry(arrays, path):
    """Do as `check`, but leave the tables to whoever reads them."""
    check_arrays(arrays, {"network": ABOUT["network"]}, path)
    if neural.is_neural(name := text(arrays, "network")):
        raise ValueError(
            f"{path}: holds a run of the neural network {name}: take the file "
            f"weights{neural.SUFFIX} beside it"
        )
    check_arrays(arrays, ABOUT, path)
    try:
        return geometry_of(arrays)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def geometry_of(arrays):
    """Return the `Geometry` of the network that a file holds."""
    names = ("network", "form", "optimistic", "stages", "top", "promotion")
    given = (np.asarray(arrays[name]).item() for name in names)
    return Geometry(*given, text(arrays, "next") or None)


def check_sparse(network, arrays, names, path):
    """Raise ValueError, in one line, where a mask and its numbers do not fit a network."""
    _check_forms(network, arrays, names, path)
    mask, values = (member(arrays, name) for name in names)
    if sum(int(np.bitwise_count(piece).sum()) for piece in mask.pieces()) != len(values):
        raise ValueError(f"{path}: its {names[1]} do not fit network {network.name}")


def _check_forms(network, arrays, names, path):
    """Raise ValueError where stages, or types and shapes of tables, are not a network's."""
    every, blocks = list(range(network.blocks)), np.asarray(arrays["blocks"]).tolist()
    some = blocks == sorted(set(blocks)) and set(blocks) <= set(every)
    if not (some if network.stages.by_tiles else blocks == every):
        raise ValueError(f"{path}: its weights do not fit network {network.name}")
    mask, numbers = names
    size = len(blocks) * network.block // 8
    forms = {mask: Form("uint8", (size,)), numbers: Form("float32 float16", (None,))}
    check_arrays(arrays, forms, path)


def check_memory_arrays(network, wide, arrays, path):
    """Raise ValueError, in one line, where arrays are no memory of a rule with so many columns."""
    for names in map(memory_names, range(wide)):
        if not set(names) <= set(arrays):
            raise ValueError(f"{path}: lacks what the rule kept beside the weights")
        check_sparse(network, arrays, names, path)


def check_fits(network, arrays, path, beginning=False):
    """Raise ValueError, in one line, where arrays are not those of this very network.

    beginning: whether one stage will do, with which every stage of a network begins.  Returns the
    `Geometry` of what they hold.
    """
    held = checked_geometry(arrays, path)
    if (held.name, held.form) != (network.name, network.form):
        of = held.name if held.name != network.name else f"{held.name}, form {held.form}"
        raise ValueError(f"{path}: holds weights of network {of}")
    stages = [(geometry.stages[:2], geometry.promotes) for geometry in (held, network)]
    if stages[0] != stages[1] and not (beginning and held.stages.count == 1):
        raise ValueError(f"{path}: holds weights of other stages")
    if text(arrays, "own") != (network.own.digest if network.own_order else ""):
        raise ValueError(f"{path}: holds weights that lie where another index has them")
    check_sparse(held, arrays, TABLES, path)
    return held


# ---------------------------------------------------------------- taken up


def folded(network):
    """Return a network without its contained tuples; the network itself where it has none."""
    try:
        return network.folded() if isinstance(network, Network) else network
    except ValueError:  # there is nothing to fold
        return network


def restore(network, arrays, path):
    """Set a network's weights to what `network_arrays` returned, once all of it is checked."""
    check_fits(network, arrays, path)
    check_seal(arrays)
    take_up(network, arrays)


def begin_with(network, path, before=None):
    """Set a network's weights to those of a file, whatever else of a run that holds.

    A network in stages takes one stage, too: each of its stages begins with those weights.
    before: from how many actions they have learned, None where that is not said.
    Raises ValueError, in one line, for a file that is damaged, of another network, or one that
    says something else.
    """
    if hasattr(network, "module"):
        return neural.room("files").begin_with(network, path)
    with _opened(path) as arrays:
        start = check_fits(network, arrays, path, beginning=True).optimistic
        if start != network.optimistic:
            raise ValueError(
                f"{path}: its boards are worth {start:g} points beside their weights: "
                f"optimistic {network.optimistic:g} does not fit"
            )
        learned = _about(arrays, path).get("actions", before)
        if before is not None and learned != before:
            raise ValueError(f"{path}: has learned from {learned} actions, not from {before}")
        check_seal(arrays)
        take_up(network, arrays)


def take_up(network, arrays):
    """Set a network's weights to arrays that were checked."""
    _clear(network.weights)
    _fill(network, arrays)


def _fill(network, arrays):
    """Set a network's weights, all 0 so far, to arrays that were checked."""
    held = geometry_of(arrays)
    network.optimistic = held.optimistic
    mask, values, blocks = _stored(arrays)
    every = [blocks] if held.blocks == network.blocks else [[n] for n in range(network.blocks)]
    stages = sum(map(len, every))
    check_memory(f"network {network.name}", 4 * network.block * stages, "take fewer stages")
    for some in every:  # one stage is read anew for each stage that begins with it
        Column(network, network.weights).fill(mask, values, some)


def _stored(arrays):
    """Return what a file holds of a network's weights: (mask, numbers, stages)."""
    found = member(arrays, "weights")
    if "unit" in arrays:  # a compact file
        found = _scaled(found, np.float32(arrays["unit"]))
    return member(arrays, "mask"), found, arrays["blocks"].tolist()


def _scaled(found, unit):
    """Return the numbers of a `Member`, times a unit, as float32."""
    pieces = found.pieces
    return Member(np.float32, found.shape, lambda: (p.astype(np.float32) * unit for p in pieces()))


def take_up_memory(network, memory, arrays):
    """Set a rule's memory, all 0 so far, to arrays that were checked."""
    wide = len(memory) // network.size
    for column in range(wide):
        kept = (member(arrays, name) for name in memory_names(column))
        Column(network, memory, wide, column).fill(*kept, arrays["blocks"].tolist())


def _clear(numbers, piece=1 << 22):
    """Set numbers to 0, without writing where they are: what is not written takes no memory."""
    for start in range(0, len(numbers), piece):
        part = numbers[start : start + piece]
        if part.any():
            part[:] = 0


# ---------------------------------------------------------------- files


def save(network, path, compact=False, **info):
    """Save a network as .npz.  `load` refuses weights that are nan or infinite.

    Args:
        path: str or Path ending in .npz, or in .safetensors for a neural network.
        compact: round the weights to 11 bits and compress the file, to half its size or less.
        **info: anything JSON can hold, kept beside the weights.

    Raises:
        ValueError: for another suffix, or when somebody trains the network meanwhile.
        OSError: when the disk is full.
    """
    save_with(network, path, info, compact)


def save_with(network, path, info, compact=False):
    """Save a network as `save` does, with its info as a dict."""
    if hasattr(network, "module"):
        return neural.room("files").save_with(network, path, info, half=compact)
    if Path(path).suffix != ".npz":
        raise ValueError(f"{path}: weights are saved as .npz")
    check_tables(network, "a file of weights")
    network.needs_order("a file of weights")
    network.needs_tables("a file of weights")
    arrays = network_arrays(network) | {"info": np.array(json.dumps(info))}
    write_arrays(path, _rounded(arrays) if compact else arrays, compress=compact)


def _rounded(arrays):
    """Round the weights to float16, in a unit in which the largest of them fits."""
    values = member(arrays, "weights")
    largest = max((float(np.abs(p).max()) for p in values.pieces() if len(p)), default=0.0)
    unit = np.float32(2.0 ** max(0, int(np.frexp(np.float32(max(largest, 1.0) / 2.0**15))[1])))

    def half(piece):
        piece = (piece / unit).astype(np.float16)
        piece[piece == 0] = np.finfo(np.float16).smallest_subnormal  # the mask says: not 0
        return piece

    small = Member(np.float16, values.shape, lambda: map(half, values.pieces()))
    return arrays | {"weights": small, "unit": np.array(unit)}


def sizes_of_errors(network, path):
    """Return A of temporal coherence of the run whose network this is: float32[size].

    path: the run's weights.npz, which `load` has read.  Raises ValueError, in one line, where the
    rule kept no such numbers.
    """
    mask, values = names = memory_names(1)
    with _opened(path) as arrays:
        if not keeps_tc(arrays):
            raise ValueError(f"{path}: no run by TC: nothing says which weights have learned most")
        check_sparse(network, arrays, names, path)
        found = reserve(f"network {network.name}", network.size)
        kept = member(arrays, mask), member(arrays, values)
        Column(network, found).fill(*kept, arrays["blocks"].tolist())
    return found


def load(path, name=None, to_play=False):
    """Load a network that `save` wrote, or the weights of TDL2048-Demo (.bin) or TDL2048+ (.w).

    A file .safetensors holds a neural network, see `deep.load`.

    Args:
        name: the network it must be, or None for any.
        to_play: as it plays best: tuples that are contained in longer ones are folded into these
            (see `Network.folded`); a network in stages with promotion is packed instead (see
            `packing`), which takes less memory, and cannot learn any more.

    Returns:
        `Network`.

    Raises:
        ValueError: for a missing, truncated, foreign or pickled file, or another network.
    """
    if Path(path).suffix == neural.SUFFIX:
        return neural.room("files").load(path, name)
    with _opened(path) as arrays:
        geometry = checked_geometry(arrays, path)
        if name is not None and with_game(name) != geometry.name:
            raise ValueError(f"{path}: holds weights of network {geometry.name}, not of {name}")
        if "own" in arrays:
            raise ValueError(
                f"{path}: its weights lie where an index of somebody's own has them: go on with "
                "that run in Python, by Run(…, network=….with_functions(…))"
            )
        if to_play and geometry.promotes:
            return _packed(geometry, arrays, path)
        check_sparse(geometry, arrays, TABLES, path)
        check_seal(arrays)
        network = Network(**geometry.arguments())
        _fill(network, arrays)
        return folded(network) if to_play else network


def _packed(geometry, arrays, path):
    """Make a network to play by: the weights are counted on the way, to read them once."""
    _check_forms(geometry, arrays, TABLES, path)
    try:
        made = Packed(geometry, *_stored(arrays))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    check_seal(arrays)
    return made


def _opened(path):
    """Return a with-statement's file: its `Archive`, or arrays of what another program wrote."""
    if foreign.kind(path) not in foreign.PROGRAMS:
        return Archive(path)
    return contextlib.nullcontext(tables_arrays(foreign.read(path)))


def info(path):
    """Describe a file of weights, once all of it is checked.

    Returns a dict: network, form, stages, nonzero_weights, sha256 (of all that is checked; that of
    the whole file for other programs' files), checked ('all'), info.  Raises ValueError, in one
    line, for a damaged file.
    """
    if Path(path).suffix == neural.SUFFIX:
        return neural.room("files").info(path)
    with _opened(path) as arrays:
        geometry = check(arrays, path)
        about = _about(arrays, path)
        check_seal(arrays)
        return {
            "network": geometry.name,
            "form": geometry.form,
            "stages": geometry.stages.count if geometry.stages.by_tiles else 1,
            **({"next": geometry.next} if geometry.next else {}),
            "nonzero_weights": len(member(arrays, "weights")),
            "sha256": text(arrays, SEAL) or _digest(path),
            "checked": "all",
            "info": about,
        }


def _about(arrays, path):
    """Return what a file was told to keep beside its weights, a dict."""
    try:
        about = json.loads(text(arrays, "info", "{}"))
    except (json.JSONDecodeError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise ValueError(f"{path}: damaged: its info is no JSON object")
    return about


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
