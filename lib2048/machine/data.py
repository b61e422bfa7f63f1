"""The tables that the lessons read, found from any folder: in a clone and in an installed wheel."""

import difflib
from pathlib import PureWindowsPath

from lib2048.machine.kernels import LIBRARY

NAME = "lib2048_data"  # what pyproject.toml calls the folder data/ when it is installed


def data(path=""):
    """Return where a file or folder of the shared data is, such as "published/sources.csv".

    Args:
        path: relative to `data/` of the repository, with / between its parts; "" is that folder.

    Returns:
        a `pathlib.Path`.

    Raises:
        ValueError: for a path that leads out of it.
        FileNotFoundError: for a name that is not there; of the weights, a wheel brings those of one
            small network, "weights/page.npz".
    """
    parts = PureWindowsPath(path)  # knows both / and \, and what C: means
    if parts.anchor or ".." in parts.parts:
        raise ValueError(f"data {str(path)!r}: a path below data/ is needed, such as 'curves'")
    folder = LIBRARY.parent / (NAME if is_installed() else "data")
    found = folder.joinpath(*parts.parts)
    if not found.exists():
        raise FileNotFoundError(f"data {str(path)!r}: {_advice(parts.as_posix(), folder)}")
    return found


def is_installed():
    """Say whether the library stands where pip has put it, instead of in a clone."""
    return (LIBRARY.parent / NAME).is_dir()


def _advice(name, folder):
    """Return what to say of a name that is not there."""
    if name.split("/")[0] == "weights" and folder.name == NAME:
        return (
            "large networks come with the repository, not with the installed package; clone it "
            "(data('weights/page.npz') is a small one, and is here)"
        )
    if not folder.is_dir():
        return "this copy of the library came without its folder data/"
    names = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*"))]
    begun = sorted((n for n in names if n.startswith(name.rsplit(".", 1)[0])), key=len)
    near = begun or difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"it is not there; the nearest names are {', '.join(near[:3])}"
    return f"it is not there; there are {', '.join(n for n in names if '/' not in n)}"
