"""Try the library's wheel in an empty environment of every Python that is found.

    python tools/try_wheel.py [PYTHON …]      such as python3.12, or the path of an interpreter

The wheel is built once.  For each Python it is installed, with what it needs from the network, into
an environment of its own, and the command plays, solves and refuses there.  What it answers must be
the same under every Python.  Nothing of it stays.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import make_class

ROOT = make_class.ROOT
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STEM = "Programming Language :: Python :: 3."
VERSIONS = ["3." + line.removeprefix(STEM) for line in PROJECT["classifiers"] if STEM in line]
# Its answers are numbers, the same everywhere; how fast it was is not.
ANSWERS = {"play": ["play", "heuristic", "--games", "2"], "solve": ["solve", "2x2"]}
SPEED = "moves_per_s"
# What is not in the wheel is asked for, and the words that the one line of the refusal must hold.
REFUSED = {
    "weights by path": (["play", "data/weights/42-33.npz"], "come with the repository"),
    "weights by name": (["play", "42-33"], "come with the repository"),
    "a neural network": (["info", "data/weights/cnn22.safetensors"], "come with the repository"),
    "training without torch": ("train --network cnn22 --games 1 --out run".split(), "torch"),
    "a figure without matplotlib": (["figure"], "lib2048[course]"),
}


# ---- interpreters ------------------------------------------------------------------------------


def interpreters():
    """Return {version: path} of the Pythons of this machine that can make an environment."""
    found = {}
    for version in VERSIONS:
        fitting = (path for path in candidates(version) if version_of(path) == version)
        found[version] = next(fitting, None)
    return {version: path for version, path in found.items() if path}


def candidates(version):
    """Return where a version of Python may be: this one, on the path, among pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    places = [sys.executable, shutil.which(f"python{version}")]
    return [*filter(None, places), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]


def version_of(path):
    """Return the version of a Python, such as "3.12"; None where it cannot make environments."""
    ask = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


# ---- one environment ---------------------------------------------------------------------------


class Environment:
    """An empty environment with the wheel in it, and an empty folder where the command runs."""

    def __init__(self, python, wheel, folder):
        """Make the environment and install the wheel; that takes a minute or so."""
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.at = folder / "empty"
        self.at.mkdir(parents=True)
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LIB2048_QUICK")
        around = {name: text for name, text in os.environ.items() if name not in hidden}
        around |= {"NUMBA_CACHE_DIR": str(folder / "compiled"), "PYTHONUTF8": "1"}
        self.how = {"cwd": self.at, "env": around}
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True, env=around)
        self.pip = [self.bin / "python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*self.pip, "install", "--quiet", wheel], check=True, **self.how)

    def run(self, *words):
        """Run the command; return what `subprocess.run` does."""
        command = [self.bin / "lib2048", *words]
        return subprocess.run(command, capture_output=True, encoding="utf-8", **self.how)

    def packages(self):
        """Return {name: version} of what is installed."""
        told = subprocess.check_output([*self.pip, "list", "--format", "json"], **self.how)
        return {package["name"]: package["version"] for package in json.loads(told)}


def complaints(run):
    """Yield what is wrong with the command, one line each; run: `Environment.run`, or its like."""
    if run("--version").stdout.strip() != f"lib2048 {PROJECT['version']}":
        yield f"--version says {run('--version').stdout.strip()!r}"
    if run("--help").returncode:
        yield "--help fails"
    if "my/00_start_here.ipynb" not in run("lessons", "start").stdout:
        yield "lessons start brings no lessons"
    for name, (words, told) in REFUSED.items():
        done = run(*words)
        if not refused(done, told):
            yield f"{name}: status {done.returncode}, {(done.stdout + done.stderr).strip()!r}"


def refused(done, told):
    """Say whether a command has refused by status 2 and one line that holds what is told."""
    one = done.stderr.startswith("lib2048: ") and done.stderr.count("\n") == 1
    return done.returncode == 2 and not done.stdout and one and told in done.stderr


def answers(run):
    """Return {name: what the command answers}, without its speed; an error as text."""
    found = {}
    for name, words in ANSWERS.items():
        done = run(*words, "--json")
        found[name] = done.stderr
        if not done.returncode:
            told = json.loads(done.stdout)
            found[name] = {key: what for key, what in told.items() if key != SPEED}
    return found


def differing(found):
    """Yield what a Python answers otherwise than the first; found: {version: `answers`}."""
    first, *others = found
    for version in others:
        for name in ANSWERS:
            if found[version][name] != found[first][name]:
                yield f"{name}: {version} has {found[version][name]}, {first} {found[first][name]}"


# ---- the command -------------------------------------------------------------------------------


def tried(version, python, wheel, folder):
    """Try the wheel under one Python and say what was seen; return (complaints, answers)."""
    begun = time.perf_counter()
    environment = Environment(python, wheel, folder)
    took, held = time.perf_counter() - begun, environment.packages()
    wrong, found = list(complaints(environment.run)), answers(environment.run)
    wrong += [f"{name}: {what}" for name, what in found.items() if isinstance(what, str)]
    names = ", ".join(f"{name} {held[name]}" for name in ("numpy", "numba", "scipy"))
    begun = f"Python {version}: installed in {took:.0f} s ({names})"
    print(f"{begun}; {'; '.join(wrong) or 'fine'}", flush=True)
    return wrong, found


def main(arguments=None):
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Try the wheel in empty environments.")
    parser.add_argument("python", nargs="*", help=f"by default, what is found of {VERSIONS}")
    named = parser.parse_args(arguments).python
    pythons = {version_of(path): path for path in named} if named else interpreters()
    if None in pythons:
        parser.error(f"{pythons[None]} is no Python that makes environments")
    wrong, found = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        make_class.copy_tree(Path(scratch, "tree"))
        wheel = make_class.wheel_of(Path(scratch, "tree"))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
        for version, python in pythons.items():
            more, found[version] = tried(version, python, wheel, Path(scratch, version))
            wrong += more
    wrong += list(differing(found))
    for name, what in found[next(iter(found))].items():
        print(f"{name}: {what}")
    print("\n".join(differing(found)) or f"the same answers under {', '.join(found)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
