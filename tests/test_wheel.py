"""The wheel: it holds the library and the tables, no weights, and a lesson runs with it alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
LESSON = ROOT / "notebooks" / "01_rules_and_mdp.ipynb"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
MOST_BYTES = 2_000_000


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
    litter = shutil.ignore_patterns("__pycache__", "*.npz")
    for name in ("lib2048", "data"):
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
    assert {name.split("/")[0].split("-")[0] for name in held} == {"lib2048", "lib2048_data"}


def test_wheel_is_small_and_holds_no_weights(wheel):
    assert not [name for name in ZipFile(wheel).namelist() if "weights/" in name or ".npz" in name]
    assert wheel.stat().st_size < MOST_BYTES


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


def test_a_lesson_runs_in_an_empty_folder(alone, tmp_path):
    where = nbformat.v4.new_code_cell("import lib2048\nprint(lib2048.__file__)")
    notebook = nbformat.read(LESSON, as_version=4)
    notebook.cells.append(where)
    place = {"metadata": {"path": tmp_path}}
    client = NotebookClient(notebook, timeout=240, kernel_name="python3", resources=place)
    client.execute(env=dict(os.environ))
    assert Path(where.outputs[0].text.strip()).is_relative_to(alone)
    assert list(tmp_path.iterdir()) == []
