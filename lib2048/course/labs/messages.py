"""Everything that the labs say, in one table: messages/*.toml, and messages.toml of each lab.

Every message may use the words of the class's game: {game}, {rows}, {columns}, {cells}, {last} (its
last cell), {two} and {four}, the chances of both tiles, and {four_percent}; those of a lab also
what its rules draw (`seeds.RULES`).

A class translates it by a file of the same form, of as many of the messages as it likes:
`labs.translate("mine.toml")`, or the variable LIB2048_MESSAGES with the file's path.
"""

import contextlib
import functools
import os
import shlex
import string
from pathlib import Path

from lib2048.course.labs.seeds import rules_of
from lib2048.machine.files import read_toml

_FOLDER = Path(__file__).parent
_CHANGED = {}


class _Messages(string.Formatter):
    """Fill in words; {name!q} is one in quotes where a shell needs them, {name!p} is " / 8"."""

    def convert_field(self, value, conversion):
        if conversion == "p":  # per so many points; per point needs no words
            return "" if value == 1 else f" / {value}"
        return (
            shlex.quote(str(value))
            if conversion == "q"
            else super().convert_field(value, conversion)
        )

    def words(self, text):
        """Return the names of the words that a message takes."""
        return {name for _, name, *_ in self.parse(text) if name is not None}


_MESSAGES = _Messages()


def say(key, **words):
    """Return a message with its words filled in.  key: "labs.passed", "hw01.slide_row.twice".

    Where the class has rules of its own for the lab, the message NAME_own is said, if there is one.
    """
    rules, table = rules_of(key.partition(".")[0]), _table()
    own = table.get(f"{key}_own") if rules.own else None
    return fill(table[key] if own is None else own, rules.words | words)


def fill(text, words):
    """Fill words into a text of one's own."""
    return _MESSAGES.vformat(text, (), words)


def table_of(start):
    """Return {rest of its key: text} of the messages whose keys begin so: "hw01.own"."""
    start += "."
    return {k.removeprefix(start): text for k, text in _table().items() if k.startswith(start)}


def known(key):
    """Say whether there is such a message."""
    return key in _table()


def translate(path):
    """Take messages from a file of your own: TOML in the form of the labs' own.

    Raises:
        ValueError: for a file that cannot be read and for names that no message has, in one line.
    """
    new = _flat(read_toml(path, "table of messages, which is TOML"))
    if unknown := sorted(set(new) - set(_own())):
        raise ValueError(f"{path}: there is no message {unknown[0]!r} to translate")
    for key, text in new.items():
        if not _is_message(text, key):
            raise ValueError(f"{path}: {key}: write a text with words in braces as ours has them")
    _CHANGED.update(new)


def _is_message(text, key):
    """Say whether a text may stand for one of our own."""
    with contextlib.suppress(ValueError):  # braces that do not match
        words = _MESSAGES.words(_own()[key]) | set(rules_of(key.partition(".")[0]).words)
        return isinstance(text, str) and _MESSAGES.words(text) <= words
    return False


@functools.cache
def _own():
    texts = {}
    for file in [*_FOLDER.glob("messages/*.toml"), *_FOLDER.glob("hw*/messages.toml")]:
        name = file.parent.name if file.stem == "messages" else file.stem
        texts[name] = read_toml(file)
    return _flat(texts)


def _table():
    if os.environ.get("LIB2048_MESSAGES") and not _CHANGED:
        translate(os.environ["LIB2048_MESSAGES"])
    return _own() | _CHANGED


def _flat(tree, start=""):
    """Return {"hw01.slide_row.twice": text} of nested tables."""
    found = {}
    for key, value in tree.items():
        found |= _flat(value, f"{start}{key}.") if isinstance(value, dict) else {start + key: value}
    return found
