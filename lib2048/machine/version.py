"""The version of the library, which pyproject.toml says and nothing else."""

import tomllib
from importlib import metadata

from lib2048.machine.data import is_installed
from lib2048.machine.kernels import LIBRARY


def version():
    """Return the version as text: three numbers with dots between them.

    In a clone it is read from pyproject.toml: what pip has noted there is as old as the last
    install.
    """
    project = LIBRARY.parent / "pyproject.toml"
    if is_installed() or not project.is_file():
        return metadata.version("lib2048")
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
