"""Ctrl-C at random times, while the machine is busy: python tests/interrupts.py --rounds 40

Each round begins what a kind says in a process of its own, presses Ctrl-C at a random time, and
looks at what came of it: one line and no traceback, within a time that is told in the end.  A run
goes on where it was stopped, round after round; its checkpoint must be whole each time, and in the
end the run must be, bit for bit, one that nobody has stopped.

A kind is an entry of KINDS: a `Training`, a `Command` of `lib2048`, or a `Program` of Python.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from kills import endless, kept, same_as_straight

BEGUN = b"%|", b"here"  # a bar of progress, or what a program says
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

    def __init__(self, words, seconds=5.0, make=lambda folder: None):
        self.words, self.seconds, self.make = words, seconds, make

    def said_words(self):
        return self.words.split()

    def check(self, folder, status, said):
        """Raise AssertionError where an interrupted process has left or said what it should not."""
        lines = [line for line in told(said) if line.startswith("lib2048: ")]
        lines = [line for line in lines if "compiling" not in line]
        assert status in self.statuses and len(lines) == 1, (status, told(said))
        assert "Traceback" not in said, said
        assert not list(folder.rglob("*.part")), list(folder.rglob("*"))

    def finish(self, folder):
        """Raise AssertionError where, after all rounds, something is not as it should be."""


class Training(Command):
    """A run that is resumed by each round.

    options: of `lib2048 train`, see `kills.endless`; more: actions that it goes on for in the end.
    """

    def __init__(self, options, seconds=5.0, more=2000):
        super().__init__("", seconds)
        self.options, self.more, self.before = options, more, (0, 0)

    def said_words(self):
        return [*endless(self.options, "run"), "--checkpoint-every", "0.5", "--resume"]

    def check(self, folder, status, said):
        super().check(folder, status, said)
        now = kept(folder / "run")
        assert now >= self.before, (now, self.before)
        self.before = now

    def finish(self, folder):
        same_as_straight(self.options, self.before[0] + self.more, folder / "run")


class Program(Command):
    """A program of Python that says "here" when it has begun; Ctrl-C ends it as Python ends."""

    program = [sys.executable, "-c"]
    statuses = (-signal.SIGINT, 1, 130)

    def said_words(self):
        return [f"import sys; sys.stderr.write('starts\\n')\n{self.words}"]

    def check(self, folder, status, said):
        assert status in self.statuses and "KeyboardInterrupt" in said, (status, told(said))


HERE = "sys.stderr.write('here\\n')\n"
ADP = f"from lib2048 import deep\n{HERE}deep.ADP().learn(10**6, games=1000)"
SEARCH = (
    "from lib2048 import deep, evaluate\n"
    "who = deep.MCTSPlayer(deep.MCTS(deep.new_policy_network().probabilities, 400))\n"
)
KINDS = {
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
    around = {**os.environ, "PYTHONUNBUFFERED": "1"}
    words = [*kind.program, *kind.said_words()]
    return subprocess.Popen(words, cwd=folder, env=around, stdout=log, stderr=log)


def interrupt(kind, folder, random):
    """Interrupt a process at a random time: any, or once it has begun.

    Returns (seconds that it took to end, its status, what it said).
    """
    with tempfile.TemporaryFile() as log:
        process, start = begin(kind, folder, log), time.monotonic()
        wait = float(random.uniform(0, 10 if random.random() < 0.2 else kind.seconds))
        early = random.random() < 0.2
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
    kind.make(folder)
    found = []
    for _ in range(count):
        took, status, said = interrupt(kind, folder, random)
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
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & lets it be ignored
    kinds = {name: kind for name, kind in KINDS.items() if name.startswith(options.kinds or "")}
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
