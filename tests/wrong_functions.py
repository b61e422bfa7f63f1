"""Wrong functions of a student's own, drawn by number: python tests/wrong_functions.py --rounds 100

Each goes wrong for some boards, amounts or weights only: it never ends, leaves the arrays, writes
elsewhere or nan, raises, calls itself, takes all memory.  Whatever it does, the process lives, the
answer is one message in words within its time, and a checkpoint that is there is whole.
"""

import argparse
import collections
import importlib.util
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from lib2048 import Network, Run, Settings
from lib2048.machine.arrays import Archive, check_seal

NAME, ACTIONS, SECONDS, PATIENCE = "cells:0123,4567", 60_000, 10, 240
HEAD = """
import numba
import numpy as np

SEEN = np.zeros(4)
COUNT = {}


@numba.njit(boundscheck=False)
def write(array, place):
    array[place] = 1


HELPERS = (write,)


def endless(array):
    while True:
        array[0] += 0


def again(n):
    return again(n - 1) + again(n - 2) if n > 1 else 1


def late(n, helper=write):
    for i in range(10**9):
        for j in range(10**9):
            n += i * j
    return n
"""
GOOD = {
    "index": "def index(board, positions):\n    for i in range(16):\n{}        positions[i] = i\n",
    "value": "def value(weights, positions):\n    total = 0.0\n    for p in positions:\n{}"
    "        total += weights[p]\n    return total\n",
    "update": "def update(weights, positions, amount):\n    for p in positions:\n{}"
    "        weights[p] += amount\n",
}
WHEN = {  # how often is left to luck: always, for one sign, late in a training, never
    "index": ["True", "board & np.uint64(15) == 3", "board > np.uint64(1 << 62)", "board == 7"],
    "value": ["True", "weights[p] > {}", "weights[p] < -{}", "p % 7 == 3", "total > {}"],
    "update": ["True", "amount < 0", "amount > 0", "amount == 0", "abs(amount) > {}",
               "weights[p] > {}", "weights[p] < -{}", "p % 7 == 3"],
}  # fmt: skip
WRONG = {
    "endless": "while True: {array}[0] += 0",
    "endless by a helper": "endless({array})",
    "endless in two loops": "{array}[0] += late(1)",
    "endless list": "{array}[0] = len([j * j for j in range(10**12)])",
    "endless count": "k = 1\n            while k != 0: k = k + 2",
    "past the end": "{array}[len({array}) + {far}] = 1",
    "before the beginning": "{array}[-1 - {near}] = 1",
    "far away": "{array}[10**9 + {far}] += 1",
    "by a helper without checks": "write({array}, len({array}) + {far})",
    "by a tuple of helpers": "HELPERS[0]({array}, len({array}) + {far})",
    "by many places": "{array}[np.arange(3) + len({array})] = 1",
    "a slice": "{array}[{near}:{near} + 3] = 1",
    "flat": "{array}.flat[10**9] = 1",
    "take": "{array}[0] = np.take({array}, 10**9)",
    "elsewhere": "{array}[(int({array}[0]) + {near}) % len({array})] += 1",
    "nan": "{array}[0] = np.nan",
    "infinite": "{array}[:] = np.inf",
    "text": '{array}[0] = "a"',
    "None": "return None",
    "something": "return 7",
    "raises": 'raise ValueError("no")',
    "asserts": "assert 1 < 0",
    "divides": "{array}[0] = 1 // ({near} * 0)",
    "recursion": "{array}[0] = again(40)",
    "much memory": "{array}[0] = np.ones(10**12)[3]",
    "more memory": "x = np.zeros((10**9, 10**9))",
    "generator": "{array}[0] = sum(q for q in range(3))",
    "global array": "SEEN[0] += 1",
    "global dict": "COUNT[1] = 1",
    "all weights": "{array}[0] += 0 * np.sum({array})",
    "sorts": "{array}.sort()",
    "prints": "print(1)",
    "a name": "{array}[0] = missing",
    "a file": 'open("x")',
    "Python": "{array}[0] = eval('1')",
}


def draw(number):
    """Return (part, kind, when, text of a module) of a number."""
    random = np.random.default_rng(number)
    kind = list(WRONG)[number % len(WRONG)]
    part = list(GOOD)[random.integers(3)]
    array = "positions" if part == "index" else "weights"
    places = {"array": array, "far": 10 ** random.integers(0, 8), "near": random.integers(0, 9)}
    when = str(random.choice(WHEN[part])).format(random.choice([0.5, 20, 400]))
    wrong = f"        if {when}:\n            {WRONG[kind].format(**places)}\n"
    return part, kind, when, HEAD + GOOD[part].format(wrong)


def use(number, folder):
    """Train with a function, as a notebook does; return what came of it, in words."""
    part, _, _, text = draw(number)
    path = Path(folder) / f"own_{number}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    room = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(room)
    try:
        network = Network(NAME).with_functions(**{part: getattr(room, part)})
    except ValueError as error:
        return "refused", str(error)
    try:
        settings = Settings.of(network, alpha=0.5, checkpoint_every=0.5)
        run = Run(settings, Path(folder) / str(number), network)
        threading.Timer(SECONDS, run.stop).start()  # of one that is merely slow
        run.go(actions=ACTIONS, progress=False)
    except (ValueError, FloatingPointError) as error:
        return "ended", str(error)
    return ("stopped" if run.history.stopped else "trained"), ""


def serve():
    """Use one function after the other, in this process: numbers come in, answers go out."""
    folder, answers = sys.argv[2], sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        try:
            how, said = use(int(line), folder)
        except BaseException as error:
            how, said = "raised", f"{type(error).__name__}: {error}"
        print(json.dumps([how, said]), file=answers, flush=True)


class Process:
    """A process that uses functions, and what it answers."""

    def __init__(self, folder):
        command, pipes = [sys.executable, __file__, "serve", str(folder)], subprocess.PIPE
        self.it = subprocess.Popen(command, stdin=pipes, stdout=pipes, text=True)
        self._lines = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with self.it.stdout:
            for line in self.it.stdout:
                self._lines.put(line)
        self._lines.put('["died", ""]')

    def ask(self, number):
        """Return (what came of a function, what was said)."""
        self.it.stdin.write(f"{number}\n")
        self.it.stdin.flush()
        try:
            return json.loads(self._lines.get(timeout=PATIENCE))
        except queue.Empty:
            self.it.kill()
            return "hangs", ""

    def close(self):
        """End it as a script ends; return whether it does."""
        self.it.stdin.close()
        try:
            return self.it.wait(20) == 0
        except subprocess.TimeoutExpired:
            self.it.kill()
            return False


def fault(how, said, folder):
    """Say what is wrong with an answer, or with the checkpoint that was left; "" for nothing."""
    if how in ("died", "hangs", "raised"):
        return f"{how} {said}"
    if "Traceback" in said or "numba.core" in said or len(said.split("\n\n")[0].split("\n")) > 7:
        return f"no message for a person: {said}"
    for path in folder.glob("checkpoint.npz"):
        with Archive(path) as arrays:
            check_seal(arrays)
    return ""


def rounds(numbers, folder, tell=lambda *_: None):
    """Use functions by their numbers; return (counts of {(kind, what came of it)}, faults)."""
    counts, faults, process = collections.Counter(), [], None
    for number in numbers:
        process = process or Process(folder)
        begin, (part, kind, when, _) = time.monotonic(), draw(number)
        how, said = process.ask(number)
        counts[kind, how] += 1
        tell(number, kind, part, when, how, f"{time.monotonic() - begin:.1f} s", said)
        if wrong := fault(how, said, folder / str(number)):
            faults.append(f"{number} ({kind} in {part}, when {when}): {wrong}")
        if how in ("died", "hangs"):
            process = None
    if process and not process.close():
        faults.append("the process did not end by itself")
    return counts, faults


def main():
    """Read the command line, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        numbers = range(given.first, given.first + given.rounds)
        tell = lambda *words: print(*words, sep=" | ", flush=True)  # noqa: E731
        counts, faults = rounds(numbers, Path(folder), tell)
    ways = sorted({how for _, how in counts})
    print(f"{'':28}" + "".join(f"{how:>10}" for how in ways))
    for kind in dict.fromkeys(kind for kind, _ in counts):
        print(f"{kind:28}" + "".join(f"{counts[kind, how]:10}" for how in ways))
    print(f"{given.rounds} rounds, {len(faults)} faults", *faults, sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    serve() if sys.argv[1:2] == ["serve"] else main()
