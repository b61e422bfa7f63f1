"""Games that were left: they go on where they stood, in this kernel, and in the next where it may.

Where the reader's own files lie is known above (`course`), which lends its shelf.
"""

import atexit
from threading import Lock

SECTION = "games"

_games, _unwritten, _shelves, _lock = {}, set(), [], Lock()


def lend(shelf):
    """Let games outlive the kernel.

    shelf: a function that returns what has `entries(section)` and `change(section, name, changed)`,
    such as `course.reader.folder`.
    """
    _shelves[:] = [shelf]


def recall(name):
    """Return the decisions of a game that was left, or None."""
    if name not in _games and _shelves:
        _games[name] = _shelves[0]().entries(SECTION).get(name)
    return _games.get(name)


def remember(name, decisions):
    """Keep where a game stands; `write` takes it to the shelf."""
    with _lock:
        _games[name] = decisions
        _unwritten.add(name)


@atexit.register
def write():
    """Write down what has changed, where there is a shelf."""
    with _lock:
        names, _ = [*_unwritten], _unwritten.clear()
    for name in names if _shelves else ():
        if _shelves[0]().change(SECTION, name, lambda _, name=name: _games[name]) is None:
            with _lock:
                _unwritten.add(name)  # for another time: the disk may be full, or the record busy
