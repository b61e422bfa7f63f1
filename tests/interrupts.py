"""Ctrl-C at random times, while the machine is busy: python tests/interrupts.py --rounds 40

Each round begins what a kind says in a process of its own, presses Ctrl-C at a random time, and
looks at what came of it: one line and no traceback, within a time that is told in the end.  A run
goes on where it was stopped, round after round; its checkpoint must be whole each time, and in the
end the run must be, bit for bit, one that nobody has stopped.

A kind is an entry of KINDS: a `Training`, a `Sweeping`, a `Command` of `lib2048` that would take
long or a `Short` one, or a `Program` of Python.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from kills import SWEPT, endless, endless_sweep, kept, same_as_straight
from learners import SMALL, contents, scattered

from lib2048 import Network, save

BEGUN = b"%|", b"here"  # a bar of progress, or what a program says
SHARES = re.compile(r"lib2048-[0-9]+|dask-scratch-space|torchinductor_\w+")  # and what others keep
LONGEST = 120.0  # seconds after which a process that has not ended is killed, and the round lost
COMMAND = [sys.executable, "-m", "lib2048.cli"]


def told(said):
    """Return the lines of a process without its progress."""
    return [line for line in re.split("[\r\n]+", said) if line.strip() and "%|" not in line]


class Command:
    """A command of `lib2048` that would take long.

    words: as a person would write them; seconds: in which it is interrupted, once it has begun;
    make: writes what it reads into a folder.
    """

    program = COMMAND
    statuses = (130,)  # of a process that was interrupted
    begins = True  # with a sign that it has, which is waited for

    def __init__(self, words, seconds=5.0, make=lambda folder: None, **around):
        self.words, self.seconds, self.make, self.around = words, seconds, make, around

    def said_words(self):
        return self.words.split()

    def check(self, folder, status, said):
        """Raise AssertionError where an interrupted process has left or said what it should not."""
        lines = [line for line in told(said) if line.startswith("lib2048: ")]
        lines = [line for line in lines if "compiling" not in line]
        assert status in self.statuses and len(lines) == 1, (status, told(said))
        assert "Traceback" not in said, said
        assert not list(folder.rglob("*.part")), list(folder.rglob("*"))
        left = [path for path in (folder / "tmp").iterdir() if not SHARES.match(path.name)]
        assert not left, left

    def finish(self, folder):
        """Raise AssertionError where, after all rounds, something is not as it should be."""


class Silent(Command):
    """A command that gives no sign: it is interrupted at any time."""

    begins = False


class Training(Command):
    """A run that is resumed by each round.

    options: of `lib2048 train`, see `kills.endless`; more: actions that it goes on for in the end.
    """

    def __init__(self, options, seconds=5.0, more=2000, **how):
        super().__init__("", seconds, **how)
        self.options, self.more, self.before = options, more, (0, 0)

    def said_words(self):
        return [*endless(self.options, "run"), "--checkpoint-every", "0.5", "--resume"]

    def check(self, folder, status, said):
        super().check(folder, status, said)
        now = kept(folder / "run")
        assert now >= self.before, (now, self.before)
        self.before = now

    def finish(self, folder):
        with contextlib.chdir(folder):
            same_as_straight(self.options, self.before[0] + self.more, folder / "run")


class Sweeping(Command):
    """A list of two endless runs, which goes on in each round."""

    def __init__(self):
        super().__init__("", make=self._write)

    def _write(self, folder):
        self.words = " ".join(endless_sweep(folder))
        self.before = dict.fromkeys(range(len(SWEPT)), (0, 0))

    def check(self, folder, status, said):
        super().check(folder, status, said)
        for number, before in self.before.items():
            self.before[number] = now = kept(folder / "runs" / f"r{number}-seed1")
            assert now >= before, (now, before)

    def finish(self, folder):
        for number, options in enumerate(SWEPT):
            actions = self.before[number][0] + 2000
            same_as_straight(options, actions, folder / "runs" / f"r{number}-seed1")


class Short(Silent):
    """A command that ends by itself; out: what it writes, a file or a folder.

    Interrupted, it has written each file as a whole, or not at all; the next time it does its work.
    """

    def __init__(self, words, out, seconds=6.0, make=lambda folder: None, **around):
        super().__init__(words, seconds, make, **around)
        self.out = out

    def check(self, folder, status, said):
        if status not in (0, -signal.SIGINT):  # it was over, or Python was at its very end
            super().check(folder, status, said)
        self.found = self._written(folder)
        path = folder / self.out
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        self.rounds = [*getattr(self, "rounds", []), self.found]

    def finish(self, folder):
        """Compare what was written in each round with what is written when nobody interrupts."""
        with open(folder / "said", "w") as log:
            assert begin(self, folder, log).wait() == 0, (folder / "said").read_text()
        whole = self._written(folder)
        for found in self.rounds:
            assert found.items() <= whole.items(), found.keys() ^ whole.keys()

    def _written(self, folder):
        path = folder / self.out
        if path.is_dir():
            return contents(path)
        return {self.out: path.read_bytes()} if path.exists() else {}


class Program(Command):
    """A program of Python that says "here" when it has begun; Ctrl-C ends it as Python ends."""

    program = [sys.executable, "-c"]
    statuses = (-signal.SIGINT, 1, 130)

    def said_words(self):
        return [f"import sys; sys.stderr.write('starts\\n')\n{self.words}"]

    def check(self, folder, status, said):
        assert not list(folder.rglob("*.part")) and not list((folder / "tmp").iterdir())
        assert status in self.statuses, (status, told(said))
        assert re.search("KeyboardInterrupt|watching.Stopped", said), told(said)


HERE = "sys.stderr.write('here\\n')\n"
ADP = f"from lib2048 import deep\n{HERE}deep.ADP().learn(10**6, games=1000)"
SEARCH = (
    "from lib2048 import deep, evaluate\n"
    "who = deep.MCTSPlayer(deep.MCTS(deep.new_policy_network().probabilities, 400))\n"
)
EVALUATE = "from lib2048 import evaluate, heuristic_player\n"
RACE = "from lib2048 import race\n"
PRUNE = (
    "import numpy as np\nfrom lib2048 import Network\nfrom lib2048.networks.pruning import prune\n"
    "n = Network('4x6')\nn.weights[:] = 1\n"
)
MINE = """
from lib2048 import Rule

def update(weights, memory, positions, error, rate):
    for p in positions:
        memory[p] += 1
        weights[p] += rate * error / memory[p] ** 0.5

slower = Rule("slower", update, keeps=("visits",), rate="eta", default=1.0)
"""


def rule(folder):
    """Write a rule of one's own."""
    (folder / "mine.py").write_text(MINE)


def weights(folder):
    """Write a network that can be folded and converted, as large as people have them."""
    save(scattered(Network("42-33-4-22"), share=0.1), folder / "large.npz")


def submissions(folder):
    """Write what a tournament reads, and an answer that does not end."""
    (folder / "players").mkdir()
    save(scattered(Network(SMALL)), folder / "players" / "tiny.npz")
    (folder / "endless.py").write_text("def slide_row(row):\n    while True:\n        pass\n")


TABLES = {
    "td": Training({"network": SMALL}),
    "tc": Training({"network": SMALL, "rule": "tc", "lambda": 0.5}),
    "carousel": Training({"network": SMALL, "rule": "tc", "stages": 2, "top": 64,
                          "starts": "carousel"}),
    "q-learning": Training({"network": SMALL, "form": "q", "order": "backward"}),
    "own rule": Training({"network": SMALL, "rule": "mine.py:slower"}, make=rule),
    "tests": Training({"network": SMALL, "eval_every": 30_000, "eval_games": 200}),
    "compiling": Training({"network": SMALL}, 20.0, NUMBA_CACHE_DIR="cache"),
    "sweep": Sweeping(),
    "play": Command("play random --games 100000000"),
    "bench": Command("bench", 20.0),
    "solve": Command("solve 3x3"),
    "tournament": Command("tournament players --out board --games 100000000", make=submissions),
    "labs check": Silent("labs check hw01 endless.py", make=submissions),
    "convert": Short("convert large.npz large.w", "large.w", 8.0, weights),
    "fold": Short("fold large.npz folded.npz", "folded.npz", 8.0, weights),
    "lessons": Short("lessons start", "my", LIB2048_MY="my"),
    "generate": Short("labs generate hw01 class --seed 7 --lab-seed 7", "class"),
    "evaluate": Program(f"{EVALUATE}{HERE}evaluate(heuristic_player(3), 1000)"),
    "race": Program(f"{RACE}{HERE}race({{'a': {{}}}}, network='4x6', actions=10**10)"),
    "prune": Program(f"{PRUNE}{HERE}while True:\n    prune(n, n.weights * 2, 10**6)"),
}  # fmt: skip
NEURAL = {
    "value": Training({"network": "cnn22sss"}),
    "value, average": Training({"network": "cnn22sss", "average": 0.99, "batch": "game"}),
    "value, large": Training({"network": "cnn22"}),
    "value, augmented": Training({"network": "mlp", "augment": True}),
    "value, tests": Training({"network": "cnn22sss", "eval_every": 3000, "eval_games": 50}),
    "policy": Training({"network": "policy"}),
    "policy, steps": Training({"network": "policy", "batch": "games100", "steps": 4}),
    "policy, critic": Training({"network": "policy", "returns": "critic", "lambda": 0.9}),
    "policy, tests": Training({"network": "policy", "eval_every": 3000}),
    "adp": Program(ADP),
    "mcts": Program(f"{SEARCH}{HERE}deep.record_games(who, 50)"),
    "mcts, evaluate": Program(f"{SEARCH}{HERE}evaluate(who, 1000)"),
}  # fmt: skip
KINDS = TABLES | NEURAL


# ---------------------------------------------------------------- rounds

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextlib.contextmanager
def busy(count):
    """Keep so many processes of our own busy, which end with this one."""
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def begin(kind, folder, log):
    """Begin what a kind says in a process of its own, which tells a file what it has to say."""
    around = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(folder / "tmp")} | kind.around
    words = [*kind.program, *kind.said_words()]
    return subprocess.Popen(words, cwd=folder, env=around, stdout=log, stderr=log)


def interrupt(kind, folder, random):
    """Interrupt a process at a random time: any, or once it has begun.

    Returns (seconds that it took to end, its status, what it said).
    """
    with tempfile.TemporaryFile() as log:
        process, start = begin(kind, folder, log), time.monotonic()
        wait = float(random.uniform(0, 10 if random.random() < 0.2 else kind.seconds))
        early = random.random() < 0.2 or not kind.begins
        while process.poll() is None and time.monotonic() < start + LONGEST:
            log.seek(0)
            said = log.read()
            if early or any(sign in said for sign in BEGUN):
                break
            time.sleep(0.02)
        time.sleep(wait)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        took = time.monotonic() - pressed
        log.seek(0)
        return took, status, log.read().decode()


def rounds(kind, count, random, folder):
    """Interrupt a kind so many times; return the seconds that each took to end."""
    (folder / "tmp").mkdir()
    kind.make(folder)
    found = []
    for _ in range(count):
        took, status, said = interrupt(kind, folder, random)
        if "init_import_site" not in said:  # Python itself had not come to us
            kind.check(folder, status, said)
        found.append(took)
    kind.finish(folder)
    return found


def main(arguments=None):
    """Interrupt every kind in turn; say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="of all kinds together")
    parser.add_argument("--load", type=int, default=4, help="processes that are busy meanwhile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", help="whose names begin so, such as value; all of them without")
    parser.add_argument("--tables", action="store_true", help="all kinds but the neural ones")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & lets it be ignored
    kinds = TABLES if options.tables else KINDS
    kinds = {name: kind for name, kind in kinds.items() if name.startswith(options.kinds or "")}
    each, took = -(-options.rounds // len(kinds)), []
    with tempfile.TemporaryDirectory() as place:
        for number, (name, kind) in enumerate(kinds.items()):
            folder, random = Path(place, str(number)), np.random.default_rng([options.seed, number])
            folder.mkdir()
            with busy(options.load):
                found = rounds(kind, each, random, folder)
            print(f"{name:20}", *(f"{seconds:.2f}" for seconds in found), flush=True)
            took += found
    print(f"{len(took)} interrupts: median {np.median(took):.2f} s, worst {max(took):.2f} s")


if __name__ == "__main__":
    main()
