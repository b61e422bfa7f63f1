"""What JupyterLab does where the course is: a kernel ends with its tab, and its memory is free.

The folder jupyter/ beside this file is one of Jupyter's folders of settings:

* labconfig: closing a tab ends its kernel
* jupyter_server_config.d: so does an hour in which nobody has used it, with no browser before it;
  a kernel that computes, or that sends what a widget shows, is in use
* learner: another such folder, which leaves out nbgrader's menus; `make lab` names it

Jupyter reads the folders that JUPYTER_CONFIG_PATH names, and etc/jupyter of its environment.
"""

import os
import shutil
import sys
from pathlib import Path

from lib2048.machine.extras import is_there

SETTINGS = Path(__file__).with_name("jupyter")
FILES = ("labconfig/default_setting_overrides.json", "jupyter_server_config.d/lib2048.json")
VARIABLE = "JUPYTER_CONFIG_PATH"


def arrange():
    """Put the settings into the environment of this Python; say whether something is new there.

    Nothing that is there is overwritten.  Nothing happens where Jupyter reads the settings already,
    and where this Python is none of a course's: the system's own, one without JupyterLab, one where
    nothing can be written.
    """
    if not (_is_an_environment() and is_there("jupyterlab")) or _is_read():
        return False
    new = [_put(SETTINGS / name, Path(sys.prefix, "etc/jupyter", name)) for name in FILES]
    return any(new)


def _is_read():
    """Say whether Jupyter is told where our folder is."""
    named = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    return SETTINGS in map(Path, named)


def _is_an_environment():
    """Say whether this Python is that of a virtual environment, or of conda's, but for its base."""
    if sys.prefix != sys.base_prefix:
        return True
    return Path(sys.prefix, "conda-meta").is_dir() and not Path(sys.prefix, "condabin").is_dir()


def _put(path, place):
    """Copy a file to where there is none, and say whether that was so."""
    if os.path.lexists(place):
        return False
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    except OSError:  # an environment that belongs to somebody else
        return False
    return True
