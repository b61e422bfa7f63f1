"""Without what extras bring: who looks around may go on, and one line says what to install."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from learners import SMALL

import lib2048
from lib2048 import Network, save
from lib2048.machine import extras

REST = {"scipy", *" ".join(extras.EXTRAS.values()).split()} - {"torch"}

# What is printed: what is said where something is used, and what commands say.
PROGRAM = r"""
import contextlib, importlib, inspect, io, json, os, pydoc, sys, warnings
warnings.simplefilter("ignore")

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == refused:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
import lib2048.sweep.carrying_out
from lib2048.machine.extras import Missing, StandIn
from lib2048.cli import main

def said_by(what):
    try:
        what()
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return ""

def stand_ins(module):
    names = {name: getattr(module, name) for name in module.__all__}
    return {name: said_by(found) for name, found in names.items() if isinstance(found, StandIn)}

def command(*words):
    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    lines = [x for x in err.getvalue().replace("\r", "\n").split("\n") if x.startswith("lib2048: ")]
    return [status, [x for x in lines if "compiling" not in x]]

def look_around():
    history = lib2048.Run(lib2048.Settings(network=SMALL, games=1)).history
    found = {}
    for module in (lib2048, lib2048.deep, lib2048.course):
        exec(f"from {module.__name__} import *", {})
        inspect.getmembers(module), pydoc.render_doc(module), dir(module), repr(module.__all__)
        for name in module.__all__:
            hasattr(module, name), repr(getattr(module, name))
        found |= stand_ins(module)
    table = {"run": [0, 1], "score": [1, 2]}
    uses = {
        "frame": lambda: history.frame, "tests": lambda: history.evaluation_frame,
        "compare": lambda: lib2048.compare([1, 2, 3], [4, 5, 7]),
        "envs": lambda: importlib.import_module("lib2048.envs"),
        "network": lambda: lib2048.Settings(network="cnn22sss").new_network(),
        "load": lambda: lib2048.load("a.safetensors"),
        "sweep": lib2048.sweep.carrying_out.check_dask,
        "lab": lambda: lib2048.course.labs.start("hw09"),
    }
    found |= {name: said_by(what) for name, what in uses.items()}
    return {"found": found, "commands": {" ".join(words): command(*words) for words in COMMANDS}}

print(json.dumps(look_around()))
"""
COMMANDS = [
    ["play", "random", "--games", "2"],
    ["play", "small.npz", "--games", "2"],
    ["play", "value.safetensors", "--games", "1"],
    ["train", "--network", "cnn22sss", "--actions", "3", "--out", "run"],
    ["info", "small.npz"],
    ["info", "value.safetensors"],
    ["fold", "value.safetensors", "folded.npz"],
    ["bench", "--network", "mlp", "--stages", "2"],
    ["figure"],
    ["sweep", "list.toml", "--out", "sweep", "--dry-run"],
    ["labs", "generate", "hw01", "class"],
    ["progress"],
]


# What no name and no command here asks for.
UNUSED = ["IPython", "PIL", "cma", "ipywidgets", "nbclient", "nbconvert", "nbformat", "papermill"]


@pytest.mark.ci
@pytest.mark.parametrize(
    "package", ["torch", *(pytest.param(p, marks=pytest.mark.slow) for p in sorted(REST))]
)
def test_without_a_package_one_line_says_how_to_install_it(tmp_path, package):
    save(Network(SMALL), tmp_path / "small.npz")
    (tmp_path / "value.safetensors").write_bytes(b"")
    (tmp_path / "list.toml").write_text(f'[[run]]\nname = "a"\nnetwork = "{SMALL}"\ngames = 1\n')
    names = f"SMALL, refused, COMMANDS = {SMALL!r}, {package!r}, {COMMANDS}\n"
    program = [sys.executable, "-c", names + PROGRAM]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for words, (status, said) in found["commands"].items():
        assert (status, len(said)) in ((0, 0), (2, 1)), (words, status, said)
    lines = [*found["found"].values()]
    lines += [line for _, said in found["commands"].values() for line in said]
    lines = [line for line in lines if package in line]
    assert lines or package in UNUSED
    for line in lines:
        assert re.search(f"needs {package}[a-z.]*, which is not installed: python -m pip", line)
        assert extras.advice(package) in line and "\n" not in line


def test_the_extras_are_those_of_the_project():
    """A package has the name that it is imported by; a few come with others of their extra."""
    project = Path(lib2048.__file__).parents[1] / "pyproject.toml"
    listed = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    brought = {"IPython": "ipywidgets", "traitlets": "ipywidgets", "PIL": "pillow"}
    brought |= dict.fromkeys(["nbclient", "nbconvert", "nbformat"], "nbgrader")
    for extra, names in extras.EXTRAS.items():
        here = {re.match("[a-z0-9-]+", line)[0] for line in listed[extra]}
        assert {brought.get(name, name) for name in names.split()} == here - {"jupyterlab"}


@pytest.mark.parametrize("installed, command", [(True, '"lib2048[deep]"'), (False, '-e ".[deep]"')])
def test_the_advice_fits_how_the_library_was_installed(monkeypatch, installed, command):
    monkeypatch.setattr(extras, "is_installed", lambda: installed)
    assert command in extras.advice("torch")
    assert metadata.version("lib2048")
