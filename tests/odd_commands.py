"""Odd command lines, drawn by number: python tests/odd_commands.py --rounds 400

Line n is a function of (seed, n): a command out of the parser's own tree, with values that nobody
means, for files that are none.  It runs in a process of its own, forked from one that has imported
everything, in a folder of its own.  What may come of it: something done, with status 0; or one line
and a status, and nothing written.  What goes on for long is stopped by Ctrl-C, and has to stop.
"""

import argparse
import collections
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LIMIT, GRACE = 6, 6  # seconds: until Ctrl-C, and until it must have ended
IDLE = 0.3  # seconds of work: who has done less in that time was waiting for something
NETWORKS = ["cells:0123", "cells:0123,4567", "cells:0145@2x2", "cnn22ss", "policy", "9x9", "4-22",
            "22-3@2x3", "42@1x4"]  # fmt: skip
NUMBERS = ["0", "-1", "1", "2", "3", "30", "9" * 25, "1e3", "nan", "inf", "-inf", "1e400", "0.5",
           "1e-300", "x", "", " ", "٣", "1_0", "0x1", " 1", "True"]  # fmt: skip
TEXTS = ["", " ", "a\nb", "ünï", "\udc80x", "x" * 300, "no/such/folder/x.npz", "-", "--", "a b c",
         "new", "new.npz", "new.w", "new.bin", "new.png", "new.zip", "new.safetensors", "random",
         "heuristic", "greedy", "3x3x3", "2x2", "td", "tc", "hw01", "[]", "%s%n", "{x}", "new/deep",
         "rule.py:none", "fifo:x", "fifo.py:x", "zero.py:x", "2048@2x3", "2048:four=2", "2048@1x1",
         "2048:four=nan", "threes@3x4"]  # fmt: skip
LIST = '[[run]]\nname = "a"\nnetwork = "cells:0123"\nactions = 200\n'


def world(folder):
    """Fill a folder with what command lines may name; return the names."""
    from lib2048 import Network, Run, Settings, convert, save

    folder.mkdir()
    network = Network("cells:0123,123")
    network.weights[:] = 1
    save(network, folder / "small.npz")
    convert(folder / "small.npz", folder / "small.w")
    convert(folder / "small.npz", folder / "small.bin")
    Run(Settings(network="cells:0123", actions=200), folder / "run").go(progress=False)
    texts = {"list.toml": LIST, "deep.toml": "a = " + "[" * 20_000, "odd.toml": "[[run]]\nname = 5",
             "empty": "", "text.npz": "no weights", "player.py": "def choose(board): return 0\n",
             "bad.py": "1 /", "readable.zip": "PK", "notes.ipynb": "[]", "x.json": "{"}  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "course").mkdir()
    (folder / "players").mkdir()
    shutil.copy(folder / "small.npz", folder / "players")
    return sorted(path.name for path in folder.iterdir())


def add_odd(folder):
    """Add what cannot be copied; the devices are links, which nobody has to fear for."""
    links = {"zero": "/dev/zero", "zero.py": "/dev/zero", "zero.toml": "/dev/zero", "loop": "loop",
             "full.npz": "/dev/full", "null.npz": "/dev/null", "link.npz": "small.npz",
             "gone.npz": "nowhere"}  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    fifos = ["fifo", "fifo.npz", "fifo.toml", "fifo.py", "fifo.zip"]
    for name in fifos:
        os.mkfifo(folder / name)
    return [*links, *fifos]


# ---------------------------------------------------------------- a command line


def leaves(parser, words=()):
    """Yield (words, parser) of every command of a parser."""
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for group in groups:
        for name, inner in group.choices.items():
            yield from leaves(inner, (*words, name))
    if not groups:
        yield words, parser


class Lines:
    """Draws command lines; names: of the files that are there."""

    def __init__(self, names):
        from lib2048.cli import _parser

        self.leaves, self.names = sorted(leaves(_parser()), key=lambda leaf: leaf[0]), names
        self.every = [a for _, leaf in self.leaves for a in leaf._actions if a.option_strings]

    def draw(self, random):
        """Return the words of a line."""
        words, parser = self.leaves[int(random.integers(len(self.leaves)))]
        own = [a for a in parser._actions if a.option_strings and a.dest != "help"]
        line, some = (
            list(words),
            [a for a in own if random.random() < (0.9 if a.required else 0.15)],
        )
        if random.random() < 0.1:
            some.append(self.every[int(random.integers(len(self.every)))])
        if some and random.random() < 0.1:
            some.append(some[0])
        for action in parser._actions:
            if not action.option_strings and (action.nargs != "?" or random.random() < 0.7):
                line += [self.value(action, random)] * (random.random() < 0.95)
        for action in some:
            line += self.option(action, random)
        if words == ("train",) and random.random() < 0.7:
            line += ["--network", NETWORKS[int(random.integers(3))], "--actions", "300"]
        return line

    def option(self, action, random):
        """Return an option: with a value, with = and a value, or shorter than it is."""
        name = action.option_strings[-1]
        name = name[:-2] if random.random() < 0.05 and len(name) > 6 else name
        if action.nargs == 0:
            return [name + "=" * (random.random() < 0.05)]
        value = self.value(action, random)
        return [f"{name}={value}"] if random.random() < 0.3 else [name, value]

    def value(self, action, random):
        """Return a value that an argument may be given."""
        if action.choices and random.random() < 0.8:
            return str(random.choice(sorted(action.choices)))
        if action.type in (int, float):
            return str(random.choice(NUMBERS))
        kinds = [
            TEXTS,
            self.names,
            self.names,
            NETWORKS if action.dest == "network" else self.names,
        ]
        kind = kinds[int(random.integers(len(kinds)))]
        return kind[int(random.integers(len(kind)))]


# ---------------------------------------------------------------- what comes of it


def seen(folder):
    """Return what is in a folder: {path: kind, size, content of small files}."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = about.st_mode, about.st_ino, hash(text)
    return found


def run(words, folder, limit=LIMIT):
    """Run a line in a fork; return (status, whether it was stopped, seconds of work, out, err)."""
    out, err = folder.parent / "out", folder.parent / "err"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if not child:
        _child(words, folder, out, err)
    begin, told = time.monotonic(), None
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        past = time.monotonic() - begin
        if past > limit and told is None:
            told = signal.SIGINT
            os.kill(child, told)
        elif past > limit + GRACE and told == signal.SIGINT:
            told = signal.SIGKILL
            os.kill(child, told)
        time.sleep(0.02)
    work = used.ru_utime + used.ru_stime
    texts = (path.read_text(errors="replace") for path in (out, err))
    return os.waitstatus_to_exitcode(status), told is not None, work, *texts


def _child(words, folder, out, err):
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    for number, path in ((0, os.devnull), (1, out), (2, err)):
        how = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, how, 0o600), number)
    os.environ |= {"LIB2048_MY": str(folder / "my"), "HOME": str(folder)}
    sys.argv = ["lib2048", *words]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from lib2048 import cli

    status = 70
    try:
        status = cli.main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def judged(words, status, stopped, work, out, err, same):
    """Say what is wrong with what came of a line, "" for nothing."""
    lines = [x for x in err.splitlines() if "compiling for this machine" not in x]
    if "Traceback" in err or status not in (0, 1, 2, 130):
        return "traceback" if "Traceback" in err else f"status {status}"
    if stopped:
        waits = work < IDLE and words[:1] != ["sweep"]
        late = status != 130
        return "waits for something" if waits else f"stopped, with status {status}" if late else ""
    if status == 2:
        last = lines[-1].split("\r")[-1] if lines else ""
        if not last.startswith("lib2048: ") or len(lines) != 1 or len(last) < 15:
            return "not one line"
        return "refused, and something is written" if not same else ""
    return "nothing said" if not out.strip() and status == 0 else ""


def rounds(count, seed=1, first=0):
    """Run lines first … first + count − 1; return what happened, a list of dicts."""
    import lib2048.course.papers  # noqa: F401  what a fork shall not import again
    import lib2048.deep  # noqa: F401

    place, found = Path(tempfile.mkdtemp()), []  # by hand: a fork must not remove it as it ends
    try:
        names = world(place / "world")
        for number in range(first, first + count):
            found.append(_round(place, names, number, seed))
    finally:
        shutil.rmtree(place)
    return found


def _round(place, names, number, seed):
    folder = place / "case"
    shutil.copytree(place / "world", folder)
    words = Lines([*names, *add_odd(folder)]).draw(np.random.default_rng([seed, number]))
    before = seen(folder)
    status, stopped, *rest = run(words, folder)
    wrong = judged(words, status, stopped, *rest, before == seen(folder))
    if beside := {path.name for path in place.iterdir()} - {"world", "case", "out", "err"}:
        wrong = wrong or f"written beside: {beside}"
    shutil.rmtree(folder)
    told = {"number": number, "words": words, "status": status, "stopped": stopped}
    return told | {"wrong": wrong, "work": rest[0], "err": rest[2][-2000:]}


def main():
    """Run it, and print a table of what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin, found = time.time(), rounds(options.rounds, options.seed, options.first)
    for row in found:
        if row["wrong"]:
            print(json.dumps(row, indent=1))
    counts = collections.Counter("stopped" if row["stopped"] else row["status"] for row in found)
    table = collections.Counter(f"{row['words'][0]} {row['status']}" for row in found)
    print(json.dumps(dict(sorted(table.items()))))
    wrong = sum(bool(row["wrong"]) for row in found)
    print(f"{len(found)} lines in {time.time() - begin:.0f} s: {dict(counts)}, {wrong} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
