"""The wheel: library, tables, lessons and a small network; a lesson runs with it alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
import try_wheel
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
LESSON = ROOT / "notebooks" / "01_rules_and_mdp.ipynb"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
MOST_BYTES = 5_000_000


def done(*command, **settings):
    """Run a command and return what it prints."""
    result = subprocess.run(command, capture_output=True, text=True, **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


def files(folder):
    """Return the paths of a folder's files, without what Python and the system leave behind."""
    paths = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    kept = [p for p in paths if "__pycache__" not in p.parts and p.name != ".DS_Store"]
    return {p.as_posix() for p in kept}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from a copy of the tree, so that the tree stays as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    litter = shutil.ignore_patterns("__pycache__", "42-*.npz")
    for name in ("lib2048", "data", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=litter)
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("weights/42-33.npz", "curves/large.npz"):  # the real one is 41 MB
        (folder / "data" / name).write_bytes(os.urandom(1000))
    here = ["--no-deps", "--no-build-isolation", "--no-index"]
    done(*PIP, "wheel", *here, "--wheel-dir", folder / "dist", folder)
    [path] = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel, and nothing else, into a folder; return the folder."""
    folder = tmp_path_factory.mktemp("installed")
    done(*PIP, "install", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


@pytest.fixture(scope="module")
def pythons():
    """Find the Pythons of this machine: {version: path}."""
    return try_wheel.interpreters()


@pytest.fixture
def alone(installed, tmp_path, monkeypatch):
    """Go to an empty folder where Python finds the installed wheel first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(installed / "compiled"))  # not into the user's own
    monkeypatch.setenv("LIB2048_QUICK", "1")
    return installed


def test_wheel_holds_the_library_and_the_tables(wheel):
    held = set(ZipFile(wheel).namelist())
    assert {f"lib2048/{name}" for name in files(ROOT / "lib2048")} <= held  # no room forgotten
    tables = {name for name in files(ROOT / "data") if name.endswith((".csv", ".json"))}
    assert {f"lib2048_data/{name}" for name in tables} <= held
    parts = {"lib2048", "lib2048_data", "lib2048_lessons"}
    assert {name.split("/")[0].split("-")[0] for name in held} == parts


def test_wheel_holds_the_lessons_and_no_answers(wheel):
    held = {name for name in ZipFile(wheel).namelist() if name.startswith("lib2048_lessons/")}
    given = [*(ROOT / "notebooks").glob("*.ipynb")]
    given += (ROOT / "notebooks/homework/release").glob("*/*.ipynb")
    names = (path.relative_to(ROOT / "notebooks").as_posix() for path in given)
    assert held == {f"lib2048_lessons/{name}" for name in names}


def test_wheel_is_small_and_holds_one_small_network(wheel):
    held = ZipFile(wheel).namelist()
    weights = [name for name in held if "/weights/" in name or ".npz" in name]
    assert weights == ["lib2048_data/weights/page.npz"]
    assert wheel.stat().st_size < MOST_BYTES


@pytest.mark.slow
def test_tables_are_found_from_an_empty_folder(alone):
    program = (
        "import lib2048, pandas as pd\n"
        "print(lib2048.__file__, lib2048.data(), sep='\\n')\n"
        "print(len(pd.read_csv(lib2048.data('published/sources.csv'))))\n"
        "try: lib2048.data('weights/42-33.npz')\n"
        "except FileNotFoundError as error: print(error)"
    )
    library, folder, rows, weights = done(sys.executable, "-c", program).splitlines()
    assert Path(library).is_relative_to(alone) and Path(folder).is_relative_to(alone)
    assert int(rows) > 10
    assert "come with the repository" in weights


def run(*words):
    """Run the installed command."""
    command = [sys.executable, "-m", "lib2048.cli", *words]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_the_command_says_its_version_in_an_empty_folder(alone):
    assert run("--version").stdout == f"lib2048 {try_wheel.PROJECT['version']}\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in try_wheel.REFUSED if "without" not in name])
def test_a_network_that_is_not_in_the_wheel_is_refused_in_one_line(alone, name):
    words, told = try_wheel.REFUSED[name]
    assert try_wheel.refused(run(*words), told)


@pytest.mark.slow
@pytest.mark.parametrize("version", try_wheel.VERSIONS)
def test_every_python_reads_every_file_without_a_warning(installed, pythons, version):
    python = pythons.get(version) or pytest.skip(f"no Python {version} with venv was found here")
    program = "import sys; from pathlib import Path\n"
    program += "for path in Path(sys.argv[1]).rglob('*.py'):\n"
    program += "    compile(path.read_bytes(), path, 'exec')"
    done(python, "-I", "-W", "error", "-c", program, installed)


@pytest.mark.slow
def test_a_lesson_runs_in_an_empty_folder(alone, tmp_path):
    where = nbformat.v4.new_code_cell("import lib2048\nprint(lib2048.__file__)")
    notebook = nbformat.read(LESSON, as_version=4)
    notebook.cells.append(where)
    place = {"metadata": {"path": tmp_path}}
    client = NotebookClient(notebook, timeout=240, kernel_name="python3", resources=place)
    client.execute(env=dict(os.environ))
    assert Path(where.outputs[0].text.strip()).is_relative_to(alone)
    assert list(tmp_path.iterdir()) == []


# ---- what tries the wheel under other Pythons (it takes a minute each, and the network) ----------


def answer(status, out="", err=""):
    return subprocess.CompletedProcess((), status, out, err)


def test_this_python_is_found_and_what_is_none_is_not(pythons, tmp_path):
    here = "{}.{}".format(*sys.version_info)
    assert try_wheel.version_of(sys.executable) == here
    assert here not in try_wheel.VERSIONS or here in pythons
    assert try_wheel.version_of(tmp_path / "python") is None


def test_a_refusal_is_one_line_and_status_2():
    line = "lib2048: a.npz: no such file; they come with the repository\n"
    told = "come with the repository"
    assert try_wheel.refused(answer(2, "", line), told)
    bare, short = f"{told}\n", "lib2048: a.npz: no such file\n"
    for wrong in (
        answer(1, "", line),
        answer(2, "x", line),
        answer(2, "", line * 2),
        answer(2, "", bare),
        answer(2, "", short),
    ):
        assert not try_wheel.refused(wrong, told)


def test_a_command_that_does_not_refuse_is_told():
    told = list(try_wheel.complaints(lambda *words: answer(0, "lib2048 0\n")))
    assert len(told) == 2 + len(try_wheel.REFUSED) and "--version says 'lib2048 0'" in told


def test_answers_that_differ_are_named_and_speed_is_none_of_them():
    slow, fast = (answer(0, json.dumps({"mean": 1, "moves_per_s": n})) for n in (1, 2))
    same = {"3.11": try_wheel.answers(lambda *_: slow), "3.12": try_wheel.answers(lambda *_: fast)}
    assert list(try_wheel.differing(same)) == []
    other = same | {"3.13": try_wheel.answers(lambda *_: answer(1, "", "no numba"))}
    assert len(list(try_wheel.differing(other))) == len(try_wheel.ANSWERS)
