"""Where the command works: without a place for compiled code, a reader, a letter for ±."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from learners import SMALL

import lib2048
from lib2048 import Network, save
from lib2048.machine import kernels, terminal
from lib2048.machine.terminal import Steady, bar, one_line

pytestmark = pytest.mark.ci

COMMAND = [sys.executable, "-m", "lib2048.cli"]
PROGRAM = [sys.executable, "-c"]
PLAY = ["play", "random", "--games", "3"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="no shell of that kind")


def done(words, cwd, command=COMMAND, **environment):
    """Run the command with another environment; None takes a variable away."""
    changed = {name: x for name, x in (os.environ | environment).items() if x is not None}
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    pipes = {"capture_output": True, "encoding": encoding}
    return subprocess.run([*command, *words], cwd=cwd, env=changed, **pipes)


def in_shell(line, cwd):
    """Run a line of bash, in which `lib2048` is the command; return what it has done."""
    line = f'unset PYTHONUNBUFFERED; lib2048() {{ {" ".join(COMMAND)} "$@"; }}; {line}'
    return subprocess.run(["bash", "-c", line], cwd=cwd, capture_output=True, text=True)


def told(text):
    """Return the lines that the command told, without the progress."""
    lines = text.replace("\r", "\n").split("\n")
    return [line for line in lines if line.startswith("lib2048: ")]


# ---------------------------------------------------------------- compiled code


@pytest.mark.slow
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_without_a_place_for_compiled_code_everything_works_and_says_so_once(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    before = set(Path(lib2048.__file__).parent.rglob("*.nb?"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / place), "LIB2048_QUICK": None}
    assert done(["--version"], tmp_path, **cache).stdout == f"lib2048 {lib2048.__version__}\n"
    found = done([*PLAY, "--json"], tmp_path, **cache)
    assert json.loads(found.stdout)["games"] == 3
    compiling, kept = told(found.stderr)
    assert "compiling" in compiling
    assert f"cannot be kept in {tmp_path / place}" in kept and "NUMBA_CACHE_DIR" in kept
    assert set(Path(lib2048.__file__).parent.rglob("*.nb?")) == before  # none beside the sources


@pytest.mark.slow
def test_a_full_disk_for_compiled_code_is_named_and_ends_nothing(tmp_path):
    program = "import errno, sys\nsys.argv = ['lib2048', 'play', 'random', '--games', '3']\n"
    program += "import lib2048.cli\nfrom numba.core.caching import IndexDataCacheFile as Files\n"
    program += "def full(*_):\n    raise OSError(errno.ENOSPC, 'No space left on device')\n"
    program += "Files._save_data = full\nsys.exit(lib2048.cli.main())"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LIB2048_QUICK": "1"}
    found = done([program], tmp_path, PROGRAM, **environment)
    assert found.returncode == 0 and found.stdout.startswith("player"), found.stderr
    (line,) = told(found.stderr)
    assert f"{tmp_path / 'cache'}" in line and "No space left on device" in line
    assert "make room" in line


def test_version_keeps_nobody_from_being_told_of_the_compiling(compiled):
    folder, version, first = compiled
    assert version.stderr == ""
    assert len([line for line in told(first.stderr) if "compiling" in line]) == 1
    again = done(PLAY, folder, NUMBA_CACHE_DIR=str(folder / "cache"), LIB2048_QUICK=None)
    assert not told(again.stderr)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a folder with compiled code in cache/, and what --version and the first use said."""
    folder = tmp_path_factory.mktemp("compiled")
    fresh = {"NUMBA_CACHE_DIR": str(folder / "cache"), "LIB2048_QUICK": None}
    return folder, *(done(words, folder, **fresh) for words in (["--version"], [*PLAY, "--json"]))


@pytest.mark.slow
def test_what_is_compiled_for_everybody_is_used_and_never_written(tmp_path, compiled):
    folder, _, first = compiled
    common = shutil.copytree(folder / "cache", tmp_path / "common")
    files = sorted((path, path.stat().st_mtime_ns) for path in common.rglob("*"))
    around = {"LIB2048_COMPILED": str(common), "NUMBA_CACHE_DIR": str(tmp_path / "own")}
    around |= {"LIB2048_QUICK": None}
    found = done([*PLAY, "--json"], tmp_path, **around)
    assert json.loads(found.stdout)["mean"] == json.loads(first.stdout)["mean"]
    assert not told(found.stderr) and not (tmp_path / "own").exists()
    other = done(["play", "greedy", "--games", "1", "--json"], tmp_path, **around)
    assert json.loads(other.stdout)["games"] == 1
    assert list((tmp_path / "own").rglob("*.nbc"))  # what was not there is one's own
    assert sorted((path, path.stat().st_mtime_ns) for path in common.rglob("*")) == files


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 3, -1])
def test_damaged_code_for_everybody_is_left_alone(tmp_path, compiled, size):
    folder, _, first = compiled
    common = shutil.copytree(folder / "cache", tmp_path / "common")
    for path in common.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:size])
    around = {"LIB2048_COMPILED": str(common), "NUMBA_CACHE_DIR": str(folder / "cache")}
    found = done([*PLAY, "--json"], tmp_path, **around, LIB2048_QUICK="1")
    assert json.loads(found.stdout)["mean"] == json.loads(first.stdout)["mean"]
    assert not told(found.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 3, -1])
def test_damaged_compiled_code_is_made_anew(tmp_path, compiled, size):
    """A power cut may leave files that are there and empty."""
    folder, _, first = compiled
    cache = shutil.copytree(folder / "cache", tmp_path / "cache")
    for path in cache.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:size])
    for lines in ({"made anew"}, set()):
        again = done([*PLAY, "--json"], tmp_path, NUMBA_CACHE_DIR=str(cache), LIB2048_QUICK="1")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["mean"] == json.loads(first.stdout)["mean"]
        assert {line[-9:] for line in told(again.stderr)} == lines


@pytest.mark.slow
def test_an_edit_is_compiled_anew(tmp_path):
    """Also in another file than the kernel's, and where compiled code cannot be kept."""
    (tmp_path / "file").write_text("in the way")
    ignored, library = shutil.ignore_patterns("__pycache__"), Path(lib2048.__file__).parent
    spec = shutil.copytree(library, tmp_path / "lib2048", ignore=ignored) / "game/spec.py"
    cache = str(tmp_path / "file")
    around = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": cache, "LIB2048_QUICK": "1"}
    around |= {"PYTHONDONTWRITEBYTECODE": "1"}  # Python itself knows an edit by time and size
    program = "import lib2048; print(lib2048.solve(2, 2, progress=False).start)"
    values, text = [], spec.read_text()
    assert "FOUR_CHANCE = 0.1" in text
    for chance in ("0.1", "0.9"):
        spec.write_text(text.replace("FOUR_CHANCE = 0.1", f"FOUR_CHANCE = {chance}"))
        found = done([program], tmp_path, PROGRAM, **around)
        assert found.returncode == 0, found.stderr
        values.append(float(found.stdout))
    assert values[0] != values[1]


@posix
def test_variables_that_say_nothing_count_as_not_there(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert kernels._user_cache().is_relative_to(tmp_path / "home")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "here")
    assert kernels._user_cache() == tmp_path / "here"  # whatever folder is entered later


def test_a_user_without_a_home_has_no_cache_of_anybodys(monkeypatch):
    monkeypatch.setattr(kernels.platformdirs, "user_cache_path", lambda: Path("~/.cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert kernels._user_cache() == Path("/.cache")


THREADS = [("NUMBA_NUM_THREADS", number) for number in ("0", "-3", " 0 ", "x", "", "1\n2")]


@pytest.mark.parametrize("name, value", [*THREADS, ("NUMBA_OPT", "x"), ("NUMBA_BOUNDSCHECK", "y")])
def test_what_numba_cannot_read_is_refused_in_one_line(tmp_path, name, value):
    found = done(["--version"], tmp_path, **{name: value})
    assert (found.returncode, found.stdout) == (2, "")
    assert told(found.stderr) == [found.stderr[:-1]] and f"{name}=" in found.stderr


# ---------------------------------------------------------------- streams


RUN = f"train --network {SMALL} --games 30 --out run"
NO_STDERR = ["2>&-", "2>/dev/full", "0<&- 2>&-"]


@posix
@pytest.mark.parametrize("closed", NO_STDERR)
@pytest.mark.parametrize(
    "words", ["play random --games 3", pytest.param(RUN, marks=pytest.mark.slow)]
)
def test_without_stderr_everything_works(tmp_path, words, closed):
    found = in_shell(f"lib2048 {words} --json {closed}", tmp_path)
    assert found.returncode == 0 and found.stderr == ""
    assert json.loads(found.stdout)
    if "train" in words:
        names = {path.name for path in (tmp_path / "run").iterdir()}
        assert names == {"config.json", "history.csv", "weights.npz"}


@posix
@pytest.mark.parametrize("closed", NO_STDERR)
def test_without_stderr_an_error_is_a_status(tmp_path, closed):
    found = in_shell(f"lib2048 info nothing.npz {closed}", tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (2, "", "")


@posix
@pytest.mark.parametrize("words", ["info small.npz", "--help"])
def test_who_reads_no_further_ends_it_without_a_word(tmp_path, words):
    save(Network(SMALL), tmp_path / "small.npz")
    found = in_shell(f"lib2048 {words} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (found.stdout, found.stderr) == ("141\n", "")


@posix
def test_an_answer_that_cannot_be_written_is_an_error(tmp_path):
    found = in_shell("lib2048 play random --games 3 >/dev/full", tmp_path)
    assert found.returncode == 2
    assert told(found.stderr)[-1].endswith("the answer cannot be written: No space left on device")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_every_letter_can_be_written(tmp_path, encoding):
    found = done(PLAY, tmp_path, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert found.returncode == 0, found.stderr
    assert ("+-" if encoding == "ascii" else "±") in found.stdout


@posix
def test_a_name_that_is_no_text_is_refused_in_one_line(tmp_path):
    found = in_shell(r"lib2048 info $'a\xff\nb.npz'", tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith("lib2048: a\\udcff\\nb.npz: no such file; trained networks come")
    assert found.stderr.count("\n") == 1


def test_one_line_shows_what_cannot_be_seen():
    assert one_line("a\nb\tc\r\0") == "a\\nb\\tc\\r\\x00"
    assert one_line(ValueError("±5 … ok")) == "±5 … ok"


class Full:
    """A stream on a disk that is full."""

    encoding = "utf-8"

    def write(self, *text):
        raise OSError(28, "No space left on device")

    flush = write


def test_a_steady_stream_takes_what_it_can():
    stream = Steady(Full())
    assert stream.write("abc") == 3 and stream.encoding == "utf-8"
    stream.flush()


def test_without_stderr_there_is_no_bar_and_nothing_is_said(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    terminal.say("a line that nobody reads")
    with bar(True, total=3) as shown:
        shown.update(1)
        shown.set_postfix_str("so far")
