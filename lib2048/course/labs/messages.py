"""Everything that the labs say, in one table: messages/*.toml, and messages.toml of each lab.

A class translates it by a file of the same form, of as many of the messages as it likes:
`labs.translate("mine.toml")`, or the variable LIB2048_MESSAGES with the file's path.
"""

import functools
import os
import tomllib
from pathlib import Path

from lib2048.machine.files import read_text

_FOLDER = Path(__file__).parent
_CHANGED = {}


def say(key, **words):
    """Return a message with its words filled in.  key: "labs.passed", "hw01.slide_row.twice"."""
    return _table()[key].format(**words)


def known(key):
    """Say whether there is such a message."""
    return key in _table()


def translate(path):
    """Take messages from a file of your own: TOML in the form of the labs' own.

    Raises:
        ValueError: for a file that cannot be read and for names that no message has, in one line.
    """
    try:
        new = _flat(tomllib.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no messages can be read there ({error})") from None
    if unknown := sorted(set(new) - set(_own())):
        raise ValueError(f"{path}: there is no message {unknown[0]!r} to translate")
    _CHANGED.update(new)


@functools.cache
def _own():
    texts = {}
    for file in [*_FOLDER.glob("messages/*.toml"), *_FOLDER.glob("hw*/*.toml")]:
        name = file.parent.name if file.stem == "messages" else file.stem
        texts[name] = tomllib.loads(file.read_text(encoding="utf-8"))
    return _flat(texts)


def _table():
    if "LIB2048_MESSAGES" in os.environ and not _CHANGED:
        translate(os.environ["LIB2048_MESSAGES"])
    return _own() | _CHANGED


def _flat(tree, start=""):
    """Return {"hw01.slide_row.twice": text} of nested tables."""
    found = {}
    for key, value in tree.items():
        found |= _flat(value, f"{start}{key}.") if isinstance(value, dict) else {start + key: value}
    return found
