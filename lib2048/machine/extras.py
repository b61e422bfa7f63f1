"""Packages that the core does without: where one is missing, one line says how to get it."""

import contextlib
import importlib
import importlib.util

from lib2048.machine.data import is_installed
from lib2048.machine.terminal import one_line

EXTRAS = {  # of pyproject.toml: what they bring, by the names that are imported
    "course": "IPython anywidget cma ipywidgets matplotlib pandas papermill traitlets",
    "deep": "safetensors torch",
    "envs": "PIL gymnasium",
    "cluster": "dask distributed",
    "grading": "nbclient nbconvert nbformat nbgrader",
}


class Missing(ModuleNotFoundError, ValueError):
    """A package that is not installed, or cannot be loaded, in one line with advice."""


def advice(package):
    """Return the command that installs a package, as this library was installed."""
    extra = next((f"[{e}]" for e, names in EXTRAS.items() if package in names.split()), "")
    what = f'"lib2048{extra}"' if is_installed() else f'-e ".{extra}"'
    return f"python -m pip install {what}" + ("" if is_installed() else " (in the clone)")


def is_there(package):
    """Say whether a package is installed."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # of what stands in its place
        return False


@contextlib.contextmanager
def told(what="this"):
    """Say of a package that is not there how to get it.

    Args:
        what: it is that needs it.

    Raises:
        Missing: in one line.
    """
    try:
        yield
    except Missing:
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package == "lib2048" or not package:  # a fault of ours stays one
            raise
        lacks = isinstance(error, ModuleNotFoundError)
        why = "is not installed" if lacks else f"cannot be loaded ({one_line(error)})"
        room = "failed to map segment" in why  # of the memory that a shell or a queue gives
        do = "let it have more memory" if room else advice(package)
        line = f"{what} needs {package}, which {why}: {do}"
        raise Missing(line, name=error.name) from None


def package(name):
    """Return a package, or a module of one; raises `Missing`, in one line, without it."""
    with told():
        return importlib.import_module(name)


def loaded(module, name=None):
    """Return a module of ours, or what it calls so, when somebody asks for it.

    Where a package is missing it is a `StandIn`, so that whoever only looks around (`hasattr`,
    `help`, `import *`) may go on.
    """
    try:
        with told(name or module.rpartition(".")[2]):
            found = importlib.import_module(f"lib2048.{module}")
    except Missing as error:
        return StandIn(error)
    return getattr(found, name) if name else found


class StandIn:
    """Stands for what cannot be loaded, and says so as soon as it is used."""

    def __init__(self, error):
        self._error = error

    def _say(self, *_, **__):
        raise Missing(*self._error.args, name=self._error.name)

    __call__ = __mro_entries__ = __instancecheck__ = _say

    def __getattr__(self, name):
        if name.startswith("_"):  # Python's own, and what notebooks try
            raise AttributeError(name)
        self._say()

    def __repr__(self):
        return f"<{self._error}>"
