"""Damaged and hostile files, drawn by number: python tests/hostile.py --files 1000

File n is a function of (seed, n).  A file of weights is loaded, described and converted, a run is
resumed and goes on; all of that happens in a process of its own, which may not die.  What may
come of it: a refusal in one line, or exactly what the undamaged file gives.  Files that were
sealed anew after an edit (somebody took that trouble), and those of other programs, which have no
hash, may also give something else, but no crash.
"""

import argparse
import collections
import faulthandler
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np

NAME = "cells:0123,456"
REFUSALS = (ValueError, OSError, MemoryError, FloatingPointError)
SECONDS = 120  # for one file, compiling included
WORDS = [0, -1, 1, 3, 5, 7, 2**31, 2**40, 10**6, 10**12, 2**62, -(2**40)]
FLOATS = [float("nan"), float("inf"), -float("inf"), -1.0, 1e30, 1e300, 0.0]

# ---------------------------------------------------------------- undamaged files


def some_weights(network, seed=1):
    """Give a network a few weights."""
    random = np.random.default_rng(seed)
    places = random.choice(network.size, network.size // 50, replace=False)
    network.weights[places] = random.normal(0, 100, len(places))
    return network


def first_format(network):
    """Return a file of weights of format 1: its hash is over mask and weights only."""
    from lib2048.networks.files import network_arrays

    arrays = {name: np.asarray(array) for name, array in network_arrays(network).items()}
    digest = hashlib.sha256(arrays["mask"].tobytes() + arrays["weights"].tobytes())
    file = io.BytesIO()
    np.savez(file, format=np.array(1), **arrays, sha256=np.array(digest.hexdigest()))
    return file.getvalue()


RUNS = {  # settings of runs whose checkpoints are damaged
    "run-td": {"rule": "td", "lam": 0.5},
    "run-carousel": {"rule": "tc", "lam": 0.5, "stages": 2, "top": 32, "starts": "carousel"},
    "run-restart": {"rule": "tc", "starts": "restart", "lanes": 3},
    "run-backward": {"order": "backward", "form": "state"},
    "run-q": {"form": "q", "lam": 0.9, "epsilon": 0.1},
    "run-autostep": {"rule": "autostep"},
    "run-threads": {"rule": "tc", "threads": 2},
    "run-jumps": {"starts": "l-jump"},
    "run-small": {"network": "cells:0145@2x2"},
}
NEURAL = {
    "run-policy": {"network": "policy", "batch": "games2", "returns": "to-go"},
    "run-value": {"network": "cnn22sss", "batch": "shuffle8", "average": 0.9, "starts": "restart"},
}


class Bases:
    """The files that are damaged; folder: where they lie; neural: whether runs by torch are."""

    def __init__(self, folder, neural=False):
        from lib2048 import Network, Settings
        from lib2048.networks import files

        self.folder = Path(folder)
        networks = {
            "weights": Network(NAME),
            "state": Network(NAME, "state", 5.0),
            "staged": Network(NAME, "afterstate", 0.0, 2, 32),
        }
        for name, network in networks.items():
            files.save(some_weights(network), self.folder / f"{name}.npz", games=3)
        files.save(networks["weights"], self.folder / "compact.npz", compact=True)
        (self.folder / "first.npz").write_bytes(first_format(networks["weights"]))
        self._foreign()
        self.runs = {
            name: Settings(**{"network": NAME, "seed": 2, "actions": 10**6} | options)
            for name, options in (RUNS | (NEURAL if neural else {})).items()
        }
        for name, settings in self.runs.items():
            self._run(name, settings)
        if neural:
            shutil.copy(
                self.folder / "run-policy-end" / "weights.safetensors",
                self.folder / "policy.safetensors",
            )
        self.files = sorted(path.name for path in self.folder.iterdir() if path.is_file())

    def _foreign(self):
        from lib2048.networks.convert import convert

        for name in ("weights.bin", "weights.w"):
            convert(self.folder / "weights.npz", self.folder / name)

    def _run(self, name, settings):
        from dataclasses import replace

        from lib2048 import Run

        Run(settings, self.folder / name).go(actions=333, progress=False)
        if name == "run-policy":
            Run(replace(settings, actions=50), self.folder / f"{name}-end").go(progress=False)

    def draw(self, random, where):
        """Put one of the files, or a run, to a place of its own.  Returns (path, name)."""
        name = str(random.choice([*self.files, *(run for run in self.runs for _ in (1, 2))]))
        if name in self.runs:
            shutil.copytree(self.folder / name, where)
            return where / str(random.choice(["checkpoint.npz"] * 9 + ["config.json"])), name
        shutil.copy(self.folder / name, where)
        return where, name


# ---------------------------------------------------------------- damage to bytes


def flip(raw, random):
    """Flip one bit, or a few."""
    raw = bytearray(raw)
    for place in random.integers(0, len(raw), random.integers(1, 4)):
        raw[place] ^= 1 << int(random.integers(8))
    return raw


def flip_at_the_end(raw, random):
    """Flip a bit among the last bytes, where a zip lists what it holds."""
    place = len(raw) - 1 - int(random.integers(0, min(len(raw), 3000)))
    return raw[:place] + bytes([raw[place] ^ 1 << int(random.integers(8))]) + raw[place + 1 :]


def cut(raw, random):
    """Leave out the end."""
    return raw[: int(random.integers(0, len(raw)))]


def cut_out(raw, random):
    """Leave out some bytes in the middle."""
    start, end = sorted(random.integers(0, len(raw), 2))
    return raw[:start] + raw[end:]


def zeros(raw, random):
    """Write zeros over some bytes."""
    start = int(random.integers(0, len(raw)))
    end = min(len(raw), start + int(random.integers(1, 600)))
    return raw[:start] + bytes(end - start) + raw[end:]


def append(raw, random):
    """Add some bytes at the end."""
    return raw + random.bytes(int(random.integers(1, 200)))


def noise(raw, random):
    """Be no file of weights at all."""
    texts = [b"", b"[]", b"null", b"games,mean\n1,2\n", b"PK\x03\x04", b"\x93NUMPY", b"\0" * 40,
             b"[" * 10**5, b"{}", b'"x"', b"3", random.bytes(300)]  # fmt: skip
    return texts[int(random.integers(len(texts)))]


BYTES = (flip, flip, flip, flip_at_the_end, flip_at_the_end, cut, cut_out, zeros, append, noise)

# ---------------------------------------------------------------- damage to arrays


def other_numbers(arrays, name, random):
    """Write a number, or many, that cannot be there."""
    array = arrays[name].copy()
    words = FLOATS if array.dtype.kind == "f" else WORDS
    word = words[int(random.integers(len(words)))]
    whole = not array.shape or random.random() < 0.3
    some = ... if whole else int(random.integers(len(array) or 1))
    if array.size and array.dtype.kind in "iufb":
        with np.errstate(all="ignore"):
            array[some] = np.array([word]).astype(array.dtype)[0]
    return arrays | {name: array}


def other_dtype(arrays, name, random):
    """Store the numbers as another type."""
    kinds = ["f8", "f4", "f2", "i8", "i4", "u8", "u1", "U5", "S3", "c8", "?", ">i8", ">f4"]
    with np.errstate(all="ignore"):
        try:
            return arrays | {name: arrays[name].astype(str(random.choice(kinds)))}
        except ValueError:  # no number in that text
            return missing(arrays, name, random)


def other_shape(arrays, name, random):
    """Add or remove an axis, or a row."""
    array = arrays[name]
    shapes = [array[None], array.reshape(-1), array.reshape(-1)[:0], array.reshape(-1)[:-1],
              array.reshape(-1)[:1].reshape(()) if array.size else array[None],
              np.concatenate([array.reshape(-1)] * 2), array.reshape(1, 1, -1)]  # fmt: skip
    return arrays | {name: shapes[int(random.integers(len(shapes)))]}


def missing(arrays, name, random):
    """Leave an array out."""
    return {n: array for n, array in arrays.items() if n != name}


def renamed(arrays, name, random):
    """Call an array something else."""
    return {n + ("x" if n == name else ""): array for n, array in arrays.items()}


def swapped(arrays, name, random):
    """Exchange two arrays."""
    other = str(random.choice(list(arrays)))
    return arrays | {name: arrays[other], other: arrays[name]}


def extra(arrays, name, random):
    """Add an array that nobody knows, or one that other files have."""
    names = ["unknown", "unit", "own", "blocks", "memory_shared", "memory2", "widths", "info"]
    return arrays | {str(random.choice(names)): random.integers(0, 9, int(random.integers(1, 9)))}


def texts(arrays, name, random):
    """Write another text, or a text instead of numbers."""
    words = ["9x9", "", "q\nx", "cnn22", "policy", "[]", "x" * 5000, "cells:0123", "own:x", "\x00",
             "{" * 3000, '{"path": 1, "network": 2, "compact": 3}', "42-33-43-421"]  # fmt: skip
    return arrays | {name: np.array(words[int(random.integers(len(words)))])}


EDITS = (other_numbers, other_numbers, other_numbers, other_dtype, other_shape, missing, renamed,
         swapped, extra, texts)  # fmt: skip

# ---------------------------------------------------------------- damage to the zip


def another_compression(arrays, random):
    """Compress as nobody here does."""
    file = io.BytesIO()
    how = [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA][int(random.integers(2))]
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(array))
    return file.getvalue()


def encrypted(arrays, random):
    """Say that the arrays are encrypted."""
    raw = bytearray(zipped(arrays))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(mark)
        while at >= 0:
            raw[at + place] |= 1
            at = raw.find(mark, at + 4)
    return bytes(raw)


def no_array(arrays, random):
    """Put another file into it, one array twice, or one with a strange head."""
    file, name = io.BytesIO(), str(random.choice(list(arrays)))
    heads = [b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", b"(" * 4000, b"{'descr'",
             b"{'descr': '<f4', 'fortran_order': False, 'shape': (1180591620717411303424,), }",
             b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }",
             b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
             b"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }",
             b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
             b"__import__('os').abort()", b"\xff\xfe'''", b"1e", b"0x" * 99]  # fmt: skip
    head = heads[int(random.integers(len(heads)))] + b"\n"
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for n, array in arrays.items():
            start = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
            archive.writestr(f"{n}.npy", start + npy(array) if n == name else npy(array))
        if random.random() < 0.3:
            archive.writestr(str(random.choice(["readme.txt", f"{name}.npy", "../x.npy"])), b"x")
    return file.getvalue()


def bomb(arrays, random):
    """Let a small file hold a large array of zeros."""
    file, name = io.BytesIO(), str(random.choice(list(arrays)))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for n, array in arrays.items():
            large = np.zeros(1 << 25, array.dtype if array.dtype.kind in "fiu" else np.uint8)
            archive.writestr(f"{n}.npy", npy(large if n == name else array))
    return file.getvalue()


ZIPS = (another_compression, encrypted, no_array, no_array, no_array, bomb)


def npy(array):
    """Return an array as numpy writes it."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def zipped(arrays):
    """Return arrays as numpy writes them, not sealed anew."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


# ---------------------------------------------------------------- damage to config.json

CONFIGS = ["[]", "null", "3", '"x"', "{}", "[[1, 2]]", "[" * 10**5, '{"network": ' * 5000, "", "{",
           '{"a": NaN}', '["ab"]', "\ufffe", "true"]  # fmt: skip
VALUES = [None, 3, -1, 2.5, "x", "", [], {}, [1], True, 1e308, 10**40, float("nan"), "\n"]


def config(text, random):
    """Return another config.json: no object, or with one strange value."""
    if random.random() < 0.3:
        return CONFIGS[int(random.integers(len(CONFIGS)))]
    found = json.loads(text)
    name = str(random.choice([*found, "unknown", "functions"]))
    found[name] = VALUES[int(random.integers(len(VALUES)))]
    return json.dumps(found)


# ---------------------------------------------------------------- one file


def damaged(path, random):
    """Damage a file in place; return (what was done, whether no hash can tell)."""
    raw = path.read_bytes()
    if path.name == "config.json":
        path.write_text(config(raw.decode(), random))
        return "config", True
    kind = "bytes" if path.suffix != ".npz" else random.choice(["bytes", "arrays", "sealed", "zip"])
    if kind == "bytes":
        how = BYTES[int(random.integers(len(BYTES)))]
        path.write_bytes(how(raw, random))
        return how.__name__, path.suffix in (".bin", ".w")  # which have no hash
    with np.load(io.BytesIO(raw)) as file:
        arrays = dict(file)
    if kind == "zip":
        how = ZIPS[int(random.integers(len(ZIPS)))]
        path.write_bytes(how(arrays, random))
        return how.__name__, False
    how = EDITS[int(random.integers(len(EDITS)))]
    arrays = how(arrays, str(random.choice(list(arrays))), random)
    if kind == "arrays":
        path.write_bytes(zipped(arrays))
    else:
        write_sealed(path, arrays)
    return f"{how.__name__} ({kind})", kind == "sealed"


def write_sealed(path, arrays):
    """Write arrays with the seal that belongs to them."""
    from lib2048.machine import arrays as machine

    lines = []
    for name in arrays:
        if name != machine.SEAL:
            array = np.asarray(arrays[name])
            lines.append(machine._line(name, array, hashlib.sha256(array.tobytes())))
    arrays = {name: array for name, array in arrays.items() if name != machine.SEAL}
    path.write_bytes(zipped(arrays | {machine.SEAL: np.array(machine._seal(lines))}))


def used(bases, path, name):
    """Use a file, or resume a run; return what came of it: a refusal or a digest."""
    try:
        return "digest", (resumed if name in bases.runs else played)(bases, path, name)
    except REFUSALS as error:
        lines = str(error).count("\n")
        return ("refused", str(error)) if not lines else ("several lines", str(error))


def resumed(bases, path, name):
    """Resume a run and go on; return a digest of all that came of it."""
    from lib2048 import Run

    run = Run(bases.runs[name], path.parent, resume=True)
    run.go(actions=200, progress=False)
    arrays = run.arrays()
    skipped = {"seconds", "history", "rate"}  # the history holds seconds
    kept = {n: np.asarray(a).tobytes() for n, a in sorted(arrays.items()) if n not in skipped}
    kept["games"] = run.history.rows[:, [0, 1, 2, 4]].tobytes()
    # where threads race, their sums differ
    return "threads" if bases.runs[name].threads > 1 else digest(*kept.values())


def played(bases, path, name):
    """Load and describe a file of weights, convert it, and play a game by it."""
    from lib2048 import evaluate, load
    from lib2048.networks import files
    from lib2048.networks.convert import convert

    network = load(path, to_play=name == "staged.npz")
    files.info(path)
    if path.suffix == ".npz" and name not in ("state.npz", "staged.npz"):
        convert(path, path.with_suffix(".w"))
    result = evaluate(network, 1, seed=5)
    weights = (
        network.weights
        if hasattr(network, "weights")
        else [x.detach().numpy() for x in network.module.parameters()]
    )
    return digest(np.concatenate([np.ravel(x) for x in weights]), result.scores)


def digest(*parts):
    """Return a short hash of some arrays or bytes."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else part.tobytes())
    return whole.hexdigest()[:12]


class Worker:
    """What a process of its own does with file after file."""

    def __init__(self, seed, neural):
        self.place = tempfile.TemporaryDirectory()
        (Path(self.place.name) / "bases").mkdir()
        self.bases, self.seed = Bases(Path(self.place.name) / "bases", neural), seed
        self.right = {}

    def undamaged(self, name):
        """Return what an undamaged file gives."""
        if name not in self.right:
            where = Path(self.place.name) / "right"
            source = self.bases.folder / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            path = where / "checkpoint.npz" if source.is_dir() else where.with_suffix(source.suffix)
            copy(source, where if source.is_dir() else path)
            self.right[name] = used(self.bases, path, name)
            assert self.right[name][0] == "digest", self.right[name]
            shutil.rmtree(where) if source.is_dir() else path.unlink()
        return self.right[name]

    def case(self, number):
        """Damage file `number` and use it; return a dict of what happened."""
        random = np.random.default_rng([self.seed, number])
        where = Path(self.place.name) / f"case{number}"
        path, name = self.bases.draw(random, where)
        if path == where:
            path = path.rename(where.with_suffix(Path(name).suffix))
        how, sealed = damaged(path, random)
        said = {"number": number, "file": name, "damage": how, "sealed": sealed}
        what, text = self.tried(path, name).values()
        fine = (
            what == "refused"
            or what == "digest"
            and (sealed or (what, text) == self.undamaged(name))
        )
        for left in Path(self.place.name).glob(f"case{number}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        return said | {
            "what": what if fine or what != "digest" else "other results",
            "text": text,
            "fine": fine,
        }

    def sweep(self, name):
        """Edit every array of a run's checkpoint in turn, sealed anew; yield what happened."""
        raw = (self.bases.folder / name / "checkpoint.npz").read_bytes()
        with np.load(io.BytesIO(raw)) as file:
            arrays = dict(file)
        small = [array for array in arrays if not array.startswith(("mask", "weights", "memory"))]
        step = 4 if name in NEURAL else 1  # torch takes its time
        for array in small:
            for word in (FLOATS if arrays[array].dtype.kind == "f" else WORDS)[::step]:
                where = Path(self.place.name) / "edited"
                shutil.copytree(self.bases.folder / name, where)
                edited = arrays[array].copy()
                if edited.dtype.kind in "iuf":
                    with np.errstate(all="ignore"):
                        edited[...] = np.array([word]).astype(edited.dtype)[0]
                write_sealed(where / "checkpoint.npz", arrays | {array: edited})
                yield {"array": array, "word": word} | self.tried(where / "checkpoint.npz", name)
                shutil.rmtree(where)

    def tried(self, path, name):
        """Return {what, text} of a file, whatever it raises."""
        try:
            what, text = used(self.bases, path, name)
        except BaseException:
            what, text = "traceback", traceback.format_exc()
        return {"what": what, "text": text}


def work(seed, neural):
    """Answer each line of stdin, a number or the name of a run, by lines of JSON on stdout."""
    faulthandler.enable()
    worker = Worker(seed, neural)
    print(json.dumps("ready"), flush=True)
    for line in map(str.strip, sys.stdin):
        for row in [worker.case(int(line))] if line.isdigit() else worker.sweep(line):
            print(json.dumps(row), flush=True)
        print(json.dumps("done"), flush=True)


# ---------------------------------------------------------------- all files


class Child:
    """A process that works, begun anew after one that died."""

    def __init__(self, seed, neural):
        command = [sys.executable, "-W", "error", __file__, "--work", "--seed", str(seed)]
        self.process = subprocess.Popen(
            [*command, *(["--neural"] if neural else [])],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert json.loads(self.process.stdout.readline() or "null") == "ready", self.end()

    def asked(self, line):
        """Yield what happened with a file, or a run's; a process that dies is that, too."""
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        while said := self.process.stdout.readline():
            if json.loads(said) == "done":
                return
            yield json.loads(said)
        yield {"number": line, "what": "died", "text": self.end(), "fine": False}

    def end(self):
        """End the process; return what it has said."""
        self.process.stdin.close()
        said = self.process.stderr.read()[-3000:]
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait(SECONDS)
        return said


def fuzz(files, seed=1, first=0, neural=False):
    """Use damaged files first … first + files − 1; return what happened, a list of dicts."""
    child, found = Child(seed, neural), []
    for number in range(first, first + files):
        found += child.asked(number)
        if found[-1]["what"] == "died":
            child = Child(seed, neural)
    child.end()
    return found


def edited(name, neural=False):
    """Resume a run from edits of its checkpoint, array by array; return what happened."""
    child = Child(1, neural)
    found = list(child.asked(name))
    child.end()
    return found


def main():
    """Run it, and print a table of what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--neural", action="store_true", help="also runs and files by torch")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.seed, options.neural)
        return
    begin = time.time()
    found = fuzz(options.files, options.seed, options.first, options.neural)
    counts = collections.Counter(row["what"] for row in found)
    for row in found:
        if not row["fine"]:
            print(json.dumps(row, indent=1))
    print(f"{len(found)} files in {time.time() - begin:.0f} s: {dict(counts)}")
    sys.exit(any(not row["fine"] for row in found))


if __name__ == "__main__":
    main()
