"""From one program's file of weights to another's: ours, TDL2048-Demo's and that of TDL2048+."""

from pathlib import Path

import numpy as np

from lib2048.game.bits import WHOLE
from lib2048.machine.arrays import Archive, Form, check_arrays, check_seal, write_arrays
from lib2048.machine.files import write_atomic
from lib2048.networks import foreign, storage

OURS = ".npz"
NAMES = {OURS: "lib2048 .npz"} | foreign.PROGRAMS
TC = [storage.memory_names(column) for column in (0, 1)]  # E and A
SHARED = "memory_shared"  # there in a file whose E and A count shares of errors, see `convert`
WIDTHS = "widths"


def convert(src, dst):
    """Write the weights of one program's file as another's, bit for bit.

    E and A of TC are kept beside the weights by .npz and .w; a .bin leaves them out.

    TDL2048+ counts in E and A the share of an error that one look-up gets, a run of ours the whole
    error.  From a checkpoint of ours they are divided by the look-ups, so that TC goes on there as
    it would here; from a .w they stay as they are.

    Args:
        src: a .npz of lib2048, a .bin of TDL2048-Demo or a .w of TDL2048+, told by its content.
        dst: the new file, told by its suffix; one that exists is replaced.

    Returns:
        dict: from, to, network, kept, left_out, weights (the new file).

    Raises:
        ValueError: in one line and before anything is written, for a file that is missing, foreign,
            truncated or damaged, holds nan, or is a network that the other program does not know
            (stages, values of states or actions, an optimistic start, a small board, an index of
            one's own).
        MemoryError, OSError: where there is no room for it.
    """
    to, found = _checked_kinds(src, dst)
    if to == found:  # said only of a file that is one
        (storage.info if found == OURS else foreign.read)(src)
        raise ValueError(f"{src}: is a {NAMES[to]} already: nothing to convert")
    tables = _Stored(src, to) if found == OURS else foreign.read(src)
    names = list(map(foreign.word, tables.tuples))
    twice = next((name for name in names if names.count(name) > 1), None)
    if to == foreign.PLUS and twice:  # which keeps its tables by their names
        raise ValueError(f"{src}: tuple {twice} is there twice: TDL2048+ takes one")
    if to == OURS:
        write_arrays(dst, _arrays(tables))
    else:
        size = foreign.nbytes(tables, to)
        write_atomic(dst, lambda file: foreign.write(file, tables, to), size)
    columns = list("VEA"[: tables.columns])
    kept = columns[:1] if to == foreign.DEMO else columns
    return {
        "from": NAMES[found],
        "to": NAMES[to],
        "network": foreign.name_of(tables.tuples),
        "kept": kept,
        "left_out": columns[len(kept) :],
        "weights": str(dst),
    }


def _checked_kinds(src, dst):
    """Return (the kind to write, the kind of the source)."""
    to, said, found = Path(dst).suffix, Path(src).suffix, foreign.kind(src)
    if to not in NAMES:
        endings = f"{OURS}, {foreign.DEMO} (TDL2048-Demo) or {foreign.PLUS} (TDL2048+)"
        raise ValueError(f"{dst}: let its name end in {endings}")
    if found is None:
        kinds = ", ".join(NAMES.values())
        raise ValueError(f"{src}: not a file of weights in tables: none of {kinds}")
    if said in NAMES and said != found:
        raise ValueError(f"{src}: begins like a {NAMES[found]}, not like a {NAMES[said]}")
    return to, found


def _arrays(tables):
    """Return what a .npz holds of a foreign file."""
    arrays = storage.tables_arrays(tables)
    for column in range(1, tables.columns):
        arrays |= dict(zip(TC[column - 1], storage.sparse_table(tables, column)))
        arrays[SHARED] = np.array(True)
    if tables.widths and tables.widths != list(map(len, tables.tuples)):
        arrays[WIDTHS] = np.array(tables.widths, np.uint16)
    return arrays


class _Stored:
    """The tables of a .npz, as `foreign.Tables` has those of the other programs.

    Memory: what the file holds, and one piece of a table.
    """

    kind = OURS

    def __init__(self, path, to):
        with Archive(path) as arrays:
            geometry = storage.check(arrays, path)
            self.path, self.tuples = path, geometry.tuples
            _check_writable(arrays, geometry, path, to)
            widths = Form("uint16", (len(self.tuples),), optional=True)
            check_arrays(arrays, {WIDTHS: widths, SHARED: Form("b", optional=True)}, path)
            remembers = storage.keeps_tc(arrays)
            if remembers:
                storage.check_memory_arrays(geometry, len(TC), arrays, path)
            check_seal(arrays)
            unit = np.float32(arrays["unit"]) if "unit" in arrays else None  # of a compact file
            share = None if SHARED in arrays else np.float32(1 / geometry.lookups_per_board)
            kept = [(storage.TABLES, unit), *((names, share) for names in TC if remembers)]
            self._sparse = [(*map(arrays.get, names), unit) for names, unit in kept]
            self.widths = arrays[WIDTHS].tolist() if WIDTHS in arrays else None

    @property
    def columns(self):
        """How many numbers there are for a weight: 1, or 3 with E and A of TC."""
        return len(self._sparse)

    def pieces(self, number, column):
        """Yield a table, float32, piece by piece; see `foreign.Tables.pieces`."""
        mask, values, unit = self._sparse[column]
        first = sum(16 ** len(cells) for cells in self.tuples[:number]) // 8
        last = first + 16 ** len(self.tuples[number]) // 8
        used = int(np.bitwise_count(mask[:first]).sum())
        step = foreign.PIECE // 8
        for start in range(first, last, step):
            here = np.unpackbits(mask[start : min(last, start + step)]).view(bool)
            count = np.count_nonzero(here)
            piece = np.zeros(len(here), np.float32)
            piece[here] = values[used : used + count]
            yield piece if unit is None else piece * unit
            used += count


def _check_writable(arrays, network, path, to):
    """Refuse what the tables alone do not say: the other programs know nothing else."""
    form, start = network.form, network.optimistic
    values_of = {"state": "states", "q": "actions"}.get(form)
    why = {
        "its weights lie where an index of somebody's own has them": "own" in arrays,
        f"it holds values of {values_of}, not of afterstates": values_of,
        f"it plays {network.game.name}": network.game != WHOLE,
        f"it has {network.stages.count} stages": network.stages.count > 1,
        f"it starts optimistically, with {start:g} beside its weights": start != 0,
    }
    for reason, true in why.items():
        if true:
            raise ValueError(f"{path}: cannot be written as {NAMES[to]}: {reason}")
