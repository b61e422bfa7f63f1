"""What a class's seed changes: the boards of the checks, and what is each student's own."""

import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

CLASS_FILE = Path(__file__).with_name("class.toml")  # `make class` puts it into a class's wheel
DEFAULT = 2048


def class_seed():
    """Return the class's seed: LIB2048_CLASS_SEED, or that of the class's wheel, or 2048."""
    given = _number("LIB2048_CLASS_SEED")
    if given is not None:
        return given
    if not CLASS_FILE.exists():
        return DEFAULT
    return int(tomllib.loads(CLASS_FILE.read_text(encoding="utf-8"))["seed"])


def lab_seed():
    """Return the seed that cases are drawn from: LIB2048_LAB_SEED, or the class's."""
    given = _number("LIB2048_LAB_SEED")
    return class_seed() if given is None else given


def _number(name):
    text = os.environ.get(name)
    if text is not None and not text.strip().isdigit():
        raise ValueError(f"{name}={text!r}: a seed is a whole number, such as 7")
    return None if text is None else int(text)


def variant(student, seed=None):
    """Return what a lab draws for one student: the same today, tomorrow and at the grader's.

    Args:
        student: number or name, where capitals and spaces do not count.
        seed: the class's, by default `class_seed()`.

    Returns:
        `Variant`.
    """
    plain = "".join(str(student).casefold().split())
    return Variant(plain, class_seed() if seed is None else int(seed))


@dataclass(frozen=True)
class Variant:
    """The numbers of one student in one class; each name draws a number of its own."""

    student: str
    seed: int

    def number(self, name, count):
        """Return a whole number from 0 to count - 1.  name: what it is for, "tuples"."""
        text = f"{self.seed}\n{self.student}\n{name}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()) % count

    def choose(self, name, options, count):
        """Return a list of so many different ones of the options, in an order of its own."""
        left, chosen = list(options), []
        for k in range(count):
            chosen.append(left.pop(self.number(f"{name} {k}", len(left))))
        return chosen
