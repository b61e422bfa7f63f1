"""Where people are: what Windows lacks is never reached there, and what stands in for it works."""

import ast
import ctypes
import functools
import os
import re
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import mypy
import numba
import psutil
import pytest
from llvmlite import binding
from packaging.requirements import Requirement
from test_child import has_ended

from lib2048 import Run, Settings
from lib2048.machine import child, files, memory, native

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


# ---------------------------------------------------------------- names that Windows lacks

ROOMS = [ROOT / room for room in ("lib2048", "tools", "benchmarks")]
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"  # what a type checker knows of systems


@functools.cache
def names(module, platform):
    """Return what a standard module defines on a platform; {} for one that is not there."""
    path = next((p for p in STUBS.glob(f"{module}.pyi")), STUBS / module / "__init__.pyi")
    body = ast.parse(path.read_text(encoding="utf-8")).body if path.exists() else []
    system = SimpleNamespace(platform=platform, version_info=(3, 13), byteorder="little")
    return set(defined(body, {"sys": system, "TYPE_CHECKING": False}))


def defined(body, room):
    """Yield the names that statements of a stub define."""
    for node in body:
        if isinstance(node, ast.If):
            here = eval(ast.unparse(node.test), room)
            yield from defined(node.body if here else node.orelse, room)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign):
            yield from map(ast.unparse, node.targets)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname for alias in node.names if alias.asname)


@functools.cache
def is_lacking(module, name=None):
    """Say whether Windows lacks a module, or a name of one that it has."""
    there, others = names(module, "win32"), names(module, "linux") | names(module, "darwin")
    return bool(there) and name in others - there if name else bool(others) and not there


def used(node):
    """Yield (module, name or None) of what a node takes from a standard module."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, None) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module, None
        yield from ((node.module, alias.name) for alias in node.names)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value.id, node.attr


def is_guard(node):
    """Say whether a statement asks first, or does without."""
    if isinstance(node, ast.Try):
        caught = [ast.unparse(handler.type) for handler in node.handlers if handler.type]
        return any("ImportError" in one or "AttributeError" in one for one in caught)
    if isinstance(node, ast.If | ast.IfExp):
        asked = "hasattr", "sys.platform", "os.name"
        return any(words in ast.unparse(node.test) for words in asked)
    return False


def unguarded(text):
    """Return [line: what Windows lacks] of a module that reaches it without asking."""
    found = []

    def walk(node, guards):
        guards = [*guards, node]
        for module, name in used(node):
            if module in sys.stdlib_module_names and is_lacking(module, name):
                if not any(is_guard(guard) for guard in guards):
                    found.append(f"{node.lineno}: {module}.{name}" if name else module)
        for inner in ast.iter_child_nodes(node):
            walk(inner, guards)

    walk(ast.parse(text), [])
    return found


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_what_windows_lacks_is_not_reached_without_asking(room):
    paths = sorted(room.rglob("*.py"))
    found = {path.name: unguarded(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: lines for name, lines in found.items() if lines} == {}


TAKEN = ["import resource", "import fcntl", "from pwd import getpwnam", "import os\nos.fork()",
         "from os import killpg", "import signal\nsignal.SIGKILL", "import os\nos.getuid()",
         "import signal\nif hasattr(signal, 'alarm'):\n pass\nsignal.alarm(1)",
         "import time\ntime.tzset()", "import os\nos.O_NONBLOCK"]  # fmt: skip


@pytest.mark.parametrize("text", TAKEN)
def test_a_name_that_windows_lacks_is_found(text):
    assert len(unguarded(text)) >= 1
    assert unguarded("import os, signal\nos.kill(1, signal.SIGTERM)\nos.replace('a', 'b')") == []


# ---------------------------------------------------------------- what is installed where

PLACES = {  # sys_platform, platform_machine: whether torch has wheels for it
    "Linux": ("linux", "x86_64", True),
    "Linux on ARM": ("linux", "aarch64", True),
    "a Mac": ("darwin", "arm64", True),
    "an Intel Mac": ("darwin", "x86_64", False),
    "Windows": ("win32", "AMD64", True),
    "Windows on ARM": ("win32", "ARM64", False),
}


@pytest.mark.parametrize("place", PLACES)
def test_torch_is_asked_for_where_there_is_one(place):
    system, machine, has_torch = PLACES[place]
    here = {"sys_platform": system, "platform_machine": machine}
    extras = PROJECT["optional-dependencies"]
    asked = [Requirement(line) for extra in extras.values() for line in extra]
    left_out = {one.name for one in asked if one.marker and not one.marker.evaluate(here)}
    assert left_out == (set() if has_torch else {"torch", "sb3-contrib"})
    assert all(Requirement(line).marker is None for line in PROJECT["dependencies"])


# ---------------------------------------------------------------- files that somebody holds open


@pytest.fixture
def held(monkeypatch):
    """Return a function that lets nobody replace a file for so many tries, as Windows does."""
    replace, left = os.replace, {}

    def refusing(old, new):
        name = Path(new).name
        if left.get(name, 0) > 0:
            left[name] -= 1
            raise PermissionError(13, "Access is denied", str(old), 5, str(new))
        replace(old, new)

    monkeypatch.setattr(os, "replace", refusing)
    monkeypatch.setattr(files, "HELD_SECONDS", 0.1)
    return lambda name, tries: left.update({name: tries})


def test_a_file_that_is_held_for_a_moment_is_replaced(held, tmp_path):
    held("a.txt", 3)
    files.write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_a_file_that_stays_held_is_named_and_stays_as_it_was(held, tmp_path):
    files.write_text(tmp_path / "a.txt", "old")
    held("a.txt", 10**9)
    with pytest.raises(files.InUse, match="a.txt: is read-only, or another program holds it"):
        files.write_text(tmp_path / "a.txt", "new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("name", ["history.csv", "checkpoint.npz"])
def test_a_run_whose_files_are_held_goes_on_and_writes_them_later(held, tmp_path, capsys, name):
    settings = Settings(network="cells:01,12", games=3000, checkpoint_every=0.05)
    twin = Run(settings, tmp_path / "twin").go(progress=False)
    held(name, 10**9)
    run = Run(settings, tmp_path / "run")
    history = run.go(progress=False)
    assert (history.scores == twin.scores).all() and (tmp_path / "run/weights.npz").exists()
    said = capsys.readouterr().err
    assert said.count("\n") == said.count(f"{name}: is read-only, or another") <= 1
    held(name, 0)
    if name == "history.csv":
        assert said and not (tmp_path / "run" / name).exists()
        Run(settings, tmp_path / "run", resume=True).go(progress=False)  # which was over
        assert (tmp_path / "run" / name).read_text() == run.history.texts()[name]
    assert not (tmp_path / "run/checkpoint.npz").exists()


# ---------------------------------------------------------------- processes

GREEDY = """
from lib2048.machine import child
child.resource = None  # as on Windows

def take(message):
    taken = []
    while True:
        taken.append(bytearray(1 << 20))

def start(message):
    import subprocess, sys
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid
"""


@pytest.fixture
def task(tmp_path, monkeypatch):
    """Return the names of tasks in a module of their own."""
    (tmp_path / "greedy_2048.py").write_text(GREEDY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "greedy_2048:{}".format


def test_memory_is_looked_at_where_no_system_limits_it(task):
    with pytest.raises(child.Ended, match="^used more than 200 MiB of memory$"):
        child.ask(task("take"), {}, 60, memory_mib=200)


@pytest.mark.parametrize("late", [0, 1])
def test_processes_of_a_child_are_ended_where_there_are_no_groups(task, monkeypatch, late):
    end = child._end

    def slow_end(process):
        time.sleep(late)  # a child whose orders were closed before would be gone by now
        end(process)

    monkeypatch.delattr(os, "killpg")
    monkeypatch.setattr(child, "_end", slow_end)
    with child.Child() as one:
        process = psutil.Process(one.ask(task("start"), {}, 60)["answer"])
        assert process.is_running()
    assert has_ended(process.pid)


def test_the_most_memory_is_told_by_every_system(monkeypatch, tmp_path):
    usual, elsewhere = memory.peak_mib(), memory.peak_mib(tmp_path / "none")
    assert 50 < usual < 20_000 and abs(elsewhere - usual) < 100
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.peak_mib(tmp_path / "none") is None
    windows = SimpleNamespace(memory_info=lambda: SimpleNamespace(peak_wset=5 << 20))
    monkeypatch.setattr(memory.psutil, "Process", lambda: windows)
    assert memory.peak_mib(tmp_path / "none") == 5


# ---------------------------------------------------------------- other processors

OURS = r"^define [^\n]*hinted.*?^}|^declare [^\n]*prefetch[^\n]*"
TARGETS = {"x86_64-pc-windows-msvc": "prefetcht0", "aarch64-apple-darwin": "prfm",
           "aarch64-unknown-linux-gnu": "prfm", "x86_64-apple-darwin": "prefetcht0",
           "aarch64-pc-windows-msvc": "prfm", "riscv64-unknown-linux-gnu": "ld"}  # fmt: skip


@numba.jit(nopython=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def hinted(array, index):
    native.prefetch(array, index)
    return native.peek(array, index)


@pytest.fixture(scope="module")
def lowered():
    """Return a function that compiles what is ours alone, not numba's, for another processor."""
    hinted.compile((numba.int64[::1], numba.int64))
    [text] = hinted.inspect_llvm().values()
    text = "\n".join(re.findall(OURS, text, re.MULTILINE | re.DOTALL))
    text = re.sub(r", ![a-z]+ ![0-9]+| #[0-9]+", "", text)  # what is said of it elsewhere
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()

    def assembly(triple):
        machine = binding.Target.from_triple(triple).create_target_machine()
        module = binding.parse_assembly(text)
        module.triple, module.data_layout = triple, str(machine.target_data)
        return machine.emit_assembly(module)

    return assembly


@pytest.mark.parametrize("triple", TARGETS)
def test_our_instructions_are_those_of_any_processor(lowered, triple):
    assert TARGETS[triple] in lowered(triple)


def test_no_other_instruction_is_asked_for():
    texts = [path.read_text(encoding="utf-8") for path in ROOMS[0].rglob("*.py")]
    assert {name for text in texts for name in re.findall(r'"(llvm\.[^"]+)"', text)} == {
        "llvm.prefetch.p0"
    }
    assert not re.search("inline_asm|InlineAsm", "".join(texts))


def test_the_clock_of_windows(monkeypatch):
    @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_int64))
    def counter(place):
        place[0] = 123
        return 1

    def frequency(place):
        place._obj.value = 10_000_000

    system = {"QueryPerformanceCounter": counter, "QueryPerformanceFrequency": frequency}
    windll = SimpleNamespace(kernel32=SimpleNamespace(**system))
    monkeypatch.setattr(ctypes, "windll", windll, raising=False)
    monkeypatch.setattr(native, "_WINDOWS", True)
    address, tick = native.clock()
    assert tick == 1e-7

    @numba.njit
    def read(address):
        return native.ticks(address)

    assert read(address) == 123
