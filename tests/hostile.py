"""Damaged and hostile files, drawn by number: python tests/hostile.py --files 1000

File n is a function of (seed, n).  A file of weights is loaded, described and converted, a run is
resumed and goes on, and what a sweep, a curve, a rule and a reader's record hold is read; all of
that happens in a process of its own, which may not die.  What may come of it: a refusal in one
line, or exactly what the undamaged file gives.  Files that were sealed anew after an edit (somebody
took that trouble), and those without a hash (of other programs, and all text), may also give
something else, but no crash.
"""

import argparse
import collections
import contextlib
import faulthandler
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from lib2048 import Network, Run, Settings, convert, evaluate, load
from lib2048.course import predictions
from lib2048.course.reader import folder as reader
from lib2048.course.recorded import RunsFolder
from lib2048.learn.rules import find
from lib2048.machine import arrays as machine
from lib2048.networks import storage
from lib2048.sweep import read_collect, read_list
from lib2048.sweep.carrying_out import check_jobs

NAME = "cells:0123,456"
REFUSALS = (ValueError, OSError, MemoryError, FloatingPointError)
WORDS = [0, -1, 1, 3, 5, 7, 2**31, 2**40, 10**6, 10**12, 2**62, -(2**40)]
FLOATS = [float("nan"), float("inf"), -float("inf"), -1.0, 1e30, 1e300, 0.0]

# ---------------------------------------------------------------- undamaged files

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


FOLDERS = {  # of text, and the files in them that are damaged
    "sweep": ["list.toml", "list.toml", "player/played.json", "player/played.json",
              "random/done.json", "small/done.json",
              "run-seed1/done.json", "run-seed1/tests.csv", "run-seed1/config.json"],
    "curves": ["history.csv", "evaluations.csv", "stages.csv", "config.json"],
    "reader": ["progress.json"],
    "rule": ["rule.py"],
}  # fmt: skip
LIST = """
[defaults]
[collect]
tests = "tests"
[[run]]
name = "run"
network = "cells:0123"
actions = 3000
tests = {1 = 3}
from = "none{seed}.npz"
[[play]]
name = "player"
player = "heuristic"
depth = 2
games = 4
table-mib = 0
[[play]]
name = "random"
player = "random"
games = 3
[[ship]]
name = "small"
network = "sweep/run-seed1"
tests = {1 = 2}
"""
RULE = """from lib2048 import Rule
def update(weights, memory, positions, error, rate):
    for p in positions:
        weights[p] += rate * error
mine = Rule("mine", update, rate="eta", default=0.5)
"""


def some_weights(network, seed=1):
    """Give a network a few weights."""
    random = np.random.default_rng(seed)
    places = random.choice(network.size, network.size // 50, replace=False)
    network.weights[places] = random.normal(0, 100, len(places))
    return network


class Bases:
    """The files that are damaged; folder: where they lie; neural: whether runs by torch are."""

    def __init__(self, folder, neural=False):
        self.folder = Path(folder)
        networks = {
            "weights": Network(NAME),
            "state": Network(NAME, "state", 5.0),
            "staged": Network(NAME, "afterstate", 0.0, 2, 32),
        }
        for name, network in networks.items():
            storage.save(some_weights(network), self.folder / f"{name}.npz", games=3)
        storage.save(networks["weights"], self.folder / "compact.npz", compact=True)
        for name in ("weights.bin", "weights.w"):
            convert(self.folder / "weights.npz", self.folder / name)
        self.runs = {
            name: Settings(**{"network": NAME, "seed": 2, "actions": 10**6} | options)
            for name, options in (RUNS | (NEURAL if neural else {})).items()
        }
        for name, settings in self.runs.items():
            Run(settings, self.folder / name).go(actions=333, progress=False)
        if neural:
            network = self.runs["run-policy"].new_network()
            storage.save(network, self.folder / "policy.safetensors", actions=50)
        self.files = sorted(path.name for path in self.folder.iterdir() if path.is_file())
        self._write_texts()

    def _write_texts(self):
        """Write what is text: what a sweep leaves, a run's curves, a reader's record, a rule."""
        for name in FOLDERS:
            (self.folder / name).mkdir()
        path = self.folder / "sweep" / "list.toml"
        path.write_text(LIST.replace('from = "none{seed}.npz"\n', ""))
        for job in read_list(path):
            (path.parent / job.label).mkdir()
            job.go(path.parent)
        more = {"stages": 2, "top": 32, "eval_every": 5000, "eval_games": 3}
        settings = Settings(network=NAME, actions=20_000, **more)
        Run(settings, self.folder / "curves").go(progress=False)
        said = {"value": 12, "when": "2026-03-01T12:00:00+01:00"}
        record = {"predictions": {"06.1": {"first": said, "last": said}}, "passed": {}}
        (self.folder / "reader/progress.json").write_text(json.dumps(record))
        (self.folder / "rule/rule.py").write_text(RULE)

    def draw(self, random, where):
        """Put one of the files, or a run, into a folder.  Returns (path, name)."""
        name = str(random.choice([*self.files, *self.runs, *self.runs, *[*FOLDERS] * 4]))
        if name in FOLDERS:
            shutil.copytree(self.folder / name, where / name)
            return where / name / str(random.choice(FOLDERS[name])), name
        if name in self.runs:
            shutil.copytree(self.folder / name, where)
            return where / str(random.choice(["checkpoint.npz"] * 9 + ["config.json"])), name
        where.mkdir()
        return Path(shutil.copy(self.folder / name, where)), name


# ---------------------------------------------------------------- damage

NOISE = [b"", b"[]", b"null", b"games,mean\n1,2\n", b"PK\x03\x04", b"\x93NUMPY", b"\0" * 40,
         b"[" * 10**5, b"{}", b'"x"', b"3"]  # fmt: skip


def bytes_of(raw, random):
    """Damage bytes: flip bits (often at the end, where a zip lists what it holds), cut, add."""
    start, end = sorted(map(int, random.integers(0, len(raw), 2)))
    near, more = end - min(end, 600), random.bytes(int(random.integers(1, 200)))
    late = len(raw) - 1 - int(random.integers(0, min(len(raw), 3000)))
    made = {
        "a bit": lambda: flipped(raw, start),
        "two bits": lambda: flipped(flipped(raw, start), end),
        "a bit at the end": lambda: flipped(raw, late),
        "cut": lambda: raw[:start],
        "cut out": lambda: raw[:start] + raw[end:],
        "zeros": lambda: raw[:near] + bytes(end - near) + raw[end:],
        "more": lambda: raw + more,
        "noise": lambda: [*NOISE, more][int(random.integers(len(NOISE) + 1))],
    }
    how = str(random.choice([*made, "a bit", "a bit at the end"]))
    return made[how](), how


def flipped(raw, place):
    return raw[:place] + bytes([raw[place] ^ 1 << place % 8]) + raw[place + 1 :]


KINDS = ["f8", "f4", "f2", "i8", "i4", "u8", "u1", "U5", "S3", "c8", "?", ">i8", ">f4"]
TEXTS = ["9x9", "", "q\nx", "cnn22", "policy", "[]", "x" * 5000, "cells:0123", "own:x", "\x00",
         "{" * 3000, '{"path": 1, "network": 2, "compact": 3}', "42-33-43-421"]  # fmt: skip
EXTRA = ["unknown", "unit", "own", "blocks", "memory_shared", "memory2", "widths", "info"]


def arrays_of(arrays, random):
    """Damage arrays: one gets other numbers, another type or shape, is gone or exchanged."""
    name, other = map(str, random.choice(list(arrays), 2))
    array, flat = arrays[name], arrays[name].reshape(-1)
    rest = {n: x for n, x in arrays.items() if n != name}
    shapes = [array[None], flat, flat[:0], flat[:-1], np.concatenate([flat] * 2), flat[:, None]]
    made = {
        "numbers": lambda: arrays | {name: numbered(array, random)},
        "dtype": lambda: arrays | {name: array.astype(str(random.choice(KINDS)))},
        "shape": lambda: arrays | {name: shapes[int(random.integers(len(shapes)))]},
        "missing": lambda: rest,
        "renamed": lambda: rest | {name + "s": array},
        "swapped": lambda: arrays | {name: arrays[other], other: array},
        "extra": lambda: arrays | {str(random.choice(EXTRA)): random.integers(0, 9, 3)},
        "text": lambda: arrays | {name: np.array(TEXTS[int(random.integers(len(TEXTS)))])},
    }
    how = str(random.choice([*made, "numbers", "numbers"]))
    with np.errstate(all="ignore"):
        try:
            return made[how](), how
        except ValueError:  # no number in that text
            return rest, "missing"


def numbered(array, random):
    """Return an array with a number, or many, that cannot be there."""
    array, words = array.copy(), FLOATS if array.dtype.kind == "f" else WORDS
    word = words[int(random.integers(len(words)))]
    if array.size and array.dtype.kind in "iufb":
        some = ... if random.random() < 0.3 else int(random.integers(array.size))
        array.reshape(-1)[some] = np.array([word]).astype(array.dtype)[0]
    return array


CONFIGS = ["[]", "null", "3", '"x"', "{}", "[[1, 2]]", "[" * 10**5, '{"network": ' * 5000, "", "{",
           '{"a": NaN}', '["ab"]', "\ufffe", "true"]  # fmt: skip
TEXT_FILES = (".json", ".csv", ".toml", ".py")
VALUES = [None, 3, -1, 2.5, "x", "", [], {}, [1], True, 1e308, 10**40, float("nan"), "\n"]


def config_of(text, random):
    """Return another config.json: no object, or with one strange value."""
    if random.random() < 0.3:
        return CONFIGS[int(random.integers(len(CONFIGS)))]
    found = json.loads(text)
    name = str(random.choice([*found, "unknown", "functions"]))
    return json.dumps(found | {name: VALUES[int(random.integers(len(VALUES)))]})


def json_of(found, random):
    """Return what JSON holds with one strange value, somewhere in it."""
    if not (isinstance(found, dict | list) and found) or random.random() < 0.1:
        return VALUES[int(random.integers(len(VALUES)))]
    keys = list(found) if isinstance(found, dict) else range(len(found))
    key = keys[int(random.integers(len(keys)))]
    made = dict(found) if isinstance(found, dict) else list(found)
    made[key] = json_of(made[key], random)
    how = random.random()
    if how < 0.15:
        del made[key]
    elif how < 0.25:
        made = made | {"more": 1} if isinstance(made, dict) else [*made, *made]
    return made


WORDS_OF_TEXT = ["-5", "1e308", "nan", "", '"', "[" * 20_000, "1979-05-27", "true", "{}", "x", "\0",
                 "9" * 5000, "0", "a\nb", "\ufeff", "[[run]]"]  # fmt: skip


def text_of(text, random):
    """Return a text in which one word is another."""
    words = list(re.finditer(r"[^\s,=]+", text))
    word, new = words[int(random.integers(len(words)))], random.integers(len(WORDS_OF_TEXT))
    return text[: word.start()] + WORDS_OF_TEXT[int(new)] + text[word.end() :]


def odd_kind(path, random):
    """Put something in a file's place that is no file, or has no end; return what."""
    path.unlink()
    how = str(random.choice(["folder", "fifo", "device", "no end", "link", "gone"]))
    made = {
        "folder": path.mkdir,
        "fifo": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/tty0"),
        "no end": lambda: path.symlink_to("/dev/zero"),
        "link": lambda: path.symlink_to(path.name),
        "gone": lambda: None,
    }
    made[how]()
    return how


def damaged(path, random):
    """Damage a file in place; return (what was done, whether no hash can tell)."""
    if random.random() < 0.1:
        return odd_kind(path, random), True
    raw = path.read_bytes()
    if path.suffix in (".json", ".csv", ".toml", ".py") and random.random() < 0.6:
        if path.suffix == ".json" and random.random() < 0.8:
            path.write_text(json.dumps(json_of(json.loads(raw), random)))
        else:
            path.write_text(text_of(raw.decode(), random))
        return f"edited {path.suffix}", True
    if path.name == "config.json":
        path.write_text(config_of(raw.decode(), random))
        return "config", True
    kind = "bytes" if path.suffix != ".npz" else random.choice(["bytes", "arrays", "sealed"])
    if kind == "bytes":
        content, how = bytes_of(raw, random)
        path.write_bytes(content)
        return how, path.suffix in (".bin", ".w") or path.suffix in TEXT_FILES  # without a hash
    with np.load(io.BytesIO(raw)) as file:
        arrays, how = arrays_of(dict(file), random)
    (write_sealed if kind == "sealed" else np.savez)(path, **arrays)
    return f"{how} ({kind})", kind == "sealed"


def write_sealed(path, **arrays):
    """Write arrays with the seal that belongs to them."""
    arrays = {name: np.asarray(x) for name, x in arrays.items() if name != machine.SEAL}
    lines = [
        machine._line(n, x.dtype, x.shape, hashlib.sha256(x.tobytes())) for n, x in arrays.items()
    ]
    np.savez(path, **arrays | {machine.SEAL: np.array(machine._seal(lines))})


# ---------------------------------------------------------------- what comes of it


def used(bases, path, name):
    """Use a file, or resume a run; return what came of it: a refusal or a digest."""
    try:
        ways = dict.fromkeys(bases.runs, resumed) | dict.fromkeys(FOLDERS, told)
        return "digest", ways.get(name, played)(bases, path, name)
    except REFUSALS as error:
        return ("several lines" if "\n" in str(error) else "refused"), str(error)
    except BaseException:
        return "traceback", traceback.format_exc()


def resumed(bases, path, name):
    """Resume a run and go on; return a digest of all that came of it."""
    run = Run(bases.runs[name], path.parent, resume=True)
    run.go(actions=200, progress=False)
    skipped = {"seconds", "history", "rate"}  # the history holds seconds
    kept = {n: np.asarray(a) for n, a in sorted(run.arrays().items()) if n not in skipped}
    kept["games"] = run.history.rows[:, [0, 1, 2, 4]]
    # where threads race, their sums differ
    return "threads" if bases.runs[name].threads > 1 else digest(*kept.values())


def told(bases, path, name):
    """Read what is text, by all who read it; return a digest of what it says."""
    folder = next(above for above in path.parents if above.name == name)
    if name == "curves":
        found = RunsFolder(folder)
        if found.troubles:
            raise ValueError(next(iter(found.troubles.values())))
        return repr([run.curves for run in found.runs.values()])[:200]
    if name == "reader":
        os.environ["LIB2048_MY"] = str(folder)
        reader.read()
        return repr(predictions.you_said("06.1"))
    if name == "rule":
        return repr(find(f"{folder}/rule.py:mine"))[:200]
    jobs, wanted = read_list(folder / "list.toml"), read_collect(folder / "list.toml")
    states = check_jobs(jobs, folder)
    for job, state in zip(jobs, states):
        if state == "begun" and hasattr(job, "so_far"):
            job.so_far(folder)
        if state == "finished" and hasattr(job, "summary"):
            job.summary(folder)
    return repr((states, wanted))


def played(bases, path, name):
    """Load and describe a file of weights, convert it, and play a game by it."""
    network = load(path, to_play=name == "staged.npz")
    storage.info(path)
    if path.suffix == ".npz" and name not in ("state.npz", "staged.npz"):
        convert(path, path.with_suffix(".w"))
    result = evaluate(network, 1, seed=5)
    if hasattr(network, "module"):
        return digest(*(x.detach().numpy() for x in network.module.parameters()), result.scores)
    return digest(network.weights, result.scores)


def digest(*arrays):
    """Return a short hash of some arrays."""
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:12]


# ---------------------------------------------------------------- in a process of its own


class Worker:
    """What a process does with file after file, in a folder."""

    def __init__(self, folder, seed, neural):
        self.folder, self.seed, self.right = Path(folder), seed, {}
        (self.folder / "bases").mkdir()
        self.bases = Bases(self.folder / "bases", neural)

    def undamaged(self, name):
        """Return what an undamaged file gives."""
        if name not in self.right:
            with self.copied(name) as path:
                self.right[name] = used(self.bases, path, name)
            assert self.right[name][0] == "digest", self.right[name]
        return self.right[name]

    @contextlib.contextmanager
    def copied(self, name):
        """Lend a copy of a file, or of a run's folder, and remove it afterwards."""
        source, where = self.bases.folder / name, self.folder / "copy"
        shutil.copytree(source, where) if source.is_dir() else where.mkdir()
        yield where / "checkpoint.npz" if source.is_dir() else Path(shutil.copy(source, where))
        shutil.rmtree(where)

    def case(self, number):
        """Damage file `number` and use it; return a dict of what happened."""
        random, where = np.random.default_rng([self.seed, number]), self.folder / "case"
        path, name = self.bases.draw(random, where)
        how, unseen = damaged(path, random)
        what, text = used(self.bases, path, name)
        shutil.rmtree(where)
        if what == "digest" and not unseen and text != self.undamaged(name)[1]:
            what = "other results"
        told = {"number": number, "file": name, "damage": how, "what": what, "text": text}
        return told | {"fine": what in ("refused", "digest")}

    def sweep(self, name):
        """Edit every array of a run's checkpoint in turn, sealed anew; yield what happened."""
        with np.load(self.bases.folder / name / "checkpoint.npz") as file:
            arrays = dict(file)
        small = [array for array in arrays if not array.startswith(("mask", "weights", "memory"))]
        step = 4 if name in NEURAL else 1  # torch takes its time
        for array in small:
            for word in (FLOATS if arrays[array].dtype.kind == "f" else WORDS)[::step]:
                edited = arrays[array].copy()
                if edited.dtype.kind in "iuf":
                    with np.errstate(all="ignore"):
                        edited[...] = np.array([word]).astype(edited.dtype)[0]
                with self.copied(name) as path:
                    write_sealed(path, **arrays | {array: edited})
                    what, text = used(self.bases, path, name)
                yield {"array": array, "word": word, "what": what, "text": text}


_worker = None  # one in each process


def _begin(*arguments):
    global _worker
    faulthandler.enable()
    warnings.simplefilter("error")
    _worker = Worker(*arguments)


def _answer(task):
    return list(_worker.sweep(task)) if isinstance(task, str) else [_worker.case(task)]


def happened(tasks, seed=1, neural=False):
    """Yield what happened with files, by number, and runs, by name; a process that dies is that."""
    tasks = iter(tasks)
    for task in tasks:
        with (
            tempfile.TemporaryDirectory() as folder,
            ProcessPoolExecutor(1, get_context("spawn"), _begin, (folder, seed, neural)) as pool,
        ):
            try:
                yield from pool.submit(_answer, task).result()
                for task in tasks:
                    yield from pool.submit(_answer, task).result()
            except BrokenProcessPool:  # the next one begins in a new process
                yield {"number": task, "what": "died", "fine": False}


def fuzz(count, seed=1, first=0, neural=False):
    """Use damaged files first … first + count − 1; return what happened, a list of dicts."""
    return list(happened(range(first, first + count), seed, neural))


def edited(name, neural=False):
    """Resume a run from edits of its checkpoint, array by array; return what happened."""
    return list(happened([name], neural=neural))


def main():
    """Run it, and print a table of what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--neural", action="store_true", help="also runs and files by torch")
    options = parser.parse_args()
    begin = time.time()
    found = fuzz(options.files, options.seed, options.first, options.neural)
    for row in found:
        if not row["fine"]:
            print(json.dumps(row, indent=1))
    counts = collections.Counter(row["what"] for row in found)
    print(f"{len(found)} files in {time.time() - begin:.0f} s: {dict(counts)}")
    sys.exit(any(not row["fine"] for row in found))


if __name__ == "__main__":
    main()
