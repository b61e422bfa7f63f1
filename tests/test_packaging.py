"""One list of dependencies, one version, and an `import lib2048` that stays light."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import lib2048
from lib2048.machine import version

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def names(requirements):
    """Return the bare names of a list of requirements."""
    return {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}


def fresh_python(program):
    """Run a program in a fresh interpreter and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- the one list --------------------------------------------------------------------------------


def test_conda_environment_takes_all_else_from_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == PROJECT["name"]
    python = "python" + PROJECT["requires-python"] + ",<3.14"  # has numba everywhere
    assert environment["dependencies"] == [python, "pip", {"pip": ["-e .[all]"]}]


def test_all_is_every_extra():
    others = sorted(set(EXTRAS) - {"all"})
    assert EXTRAS["all"] == [f"lib2048[{','.join(others)}]"]


def test_nothing_is_listed_twice():
    lists = [PROJECT["dependencies"], *(EXTRAS[extra] for extra in EXTRAS if extra != "all")]
    listed = [name for requirements in lists for name in sorted(names(requirements))]
    assert len(listed) == len(set(listed))


def imported(path, top_level_only):
    """Return the top packages that a module imports, all of them or those outside of functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    froms = [n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.level == 0]
    return {name.split(".")[0] for name in plain + froms} - sys.stdlib_module_names - {"lib2048"}


OWNERS = metadata.packages_distributions()
MODULES = sorted((ROOT / "lib2048").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_imports_only_what_is_listed(path):
    core = names(PROJECT["dependencies"])
    brought = {"ipython", "traitlets", "nbclient", "nbconvert", "nbformat"}  # by others
    brought |= {"bleach", "jinja2"}  # by nbconvert
    ours = set(EXTRAS) - {"all", "dev"}
    everywhere = core.union(brought, *(names(EXTRAS[extra]) for extra in ours))
    assert distributions(imported(path, top_level_only=False)) <= everywhere
    if path.parent.name == "deep":
        core |= names(EXTRAS["deep"])
    if path.name in ("envs.py", "raster.py"):
        core |= names(EXTRAS["envs"])
    lazy = ["plot", "warm_torch", "running", "page", "asked", "restoring", "worker"]  # for graders
    lazy += ["comparisons", "papers", "recorded", "search_errors", "survival"]  # with tables
    lazy += ["weight_errors"]
    if path.stem not in lazy and path.parent.name not in ("widgets", "explorers"):
        assert distributions(imported(path, top_level_only=True)) <= core


def distributions(packages):
    """Return the names under which packages are installed."""
    return {OWNERS.get(package, [package])[0].lower() for package in packages}


# ---- a light import ------------------------------------------------------------------------------

HEAVY = ["torch", "dask", "distributed", "matplotlib", "ipywidgets", "anywidget", "pandas"]
HEAVY += ["IPython", "tqdm"]
# numba itself looks at the bare scipy, for its version; what costs time is what lies inside.
HEAVY += ["scipy.special", "scipy.stats", "scipy.linalg", "scipy.sparse"]


def test_import_pulls_in_nothing_heavy():
    program = f"import sys, lib2048; print(*(set({HEAVY}) & set(sys.modules)))"
    assert fresh_python(program) == ""


def test_import_needs_no_extra():
    blocked = f"import sys; sys.modules.update(dict.fromkeys({HEAVY}))"
    assert fresh_python(f"{blocked}; import lib2048; print('fine')") == "fine"


# ---- one version ---------------------------------------------------------------------------------


def test_version_is_said_once_and_read_everywhere():
    assert lib2048.__version__ == PROJECT["version"]
    said = re.compile(re.escape(PROJECT["version"]))
    assert [path for path in MODULES if said.search(path.read_text(encoding="utf-8"))] == []


def test_citation_and_changelog_name_the_version_and_its_day():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## \[(.+)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest.groups() == (PROJECT["version"], citation["date-released"].isoformat())
    assert citation["version"] == PROJECT["version"]


def test_version_elsewhere_is_that_of_the_installed_package(tmp_path, monkeypatch):
    monkeypatch.setattr(version, "LIBRARY", tmp_path / "lib2048")
    monkeypatch.setattr(metadata, "version", lambda name: f"{name} as installed")
    assert version.version() == "lib2048 as installed"  # no pyproject.toml beside the library
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "7"\n', encoding="utf-8")
    assert version.version() == "7"  # a clone
    monkeypatch.setattr(version, "is_installed", lambda: True)
    assert version.version() == "lib2048 as installed"  # that file is somebody else's


def test_command_is_installed():
    commands = metadata.entry_points(group="console_scripts", name="lib2048")
    assert {command.value for command in commands} == {"lib2048.cli:main"}
