"""Lists of what is to be done: TOML files with a [defaults] table and tables such as [[run]].

A table [collect] says which files of data/curves a list fills, and how long it takes.
"""

import contextlib
import re
from pathlib import Path
from typing import NamedTuple

from lib2048.machine.data import data
from lib2048.machine.files import read_toml
from lib2048.sweep import tables
from lib2048.sweep.job import Job
from lib2048.sweep.playing import Playing
from lib2048.sweep.shipping import Shipping
from lib2048.sweep.solving import Solving
from lib2048.sweep.training import TrainingJob

# What each kind of table asks for.
KINDS: dict[str, type[Job]] = {"run": TrainingJob, "play": Playing, "solve": Solving,
                               "ship": Shipping}  # fmt: skip
DEFAULTS, COLLECT = "defaults", "collect"
FILLED = ("runs", "tests", "evaluations", "history", "stages", "each", "rows")
COLLECT_KEYS = dict.fromkeys(FILLED, str) | {"hours": float, "every": int, "on-the-way": None}
MOST_BYTES = 1 << 20  # of a list
WINDOWS = r"(?!(con|prn|aux|nul|com\d|lpt\d)(\.|$))"  # keeps these names to itself
NAME = re.compile(WINDOWS + r"[a-z0-9]([a-z0-9._+-]{0,98}[a-z0-9_+-])?", re.I | re.A)  # of a folder


def read_list(path):
    """Return the jobs of a list, in its order.

    Raises:
        ValueError: for a file that cannot be read or is no list, or that asks for something that
            makes no sense.
    """
    told = _tables(Path(path))
    defaults, collect = told.pop(DEFAULTS, {}), told.pop(COLLECT, {})
    try:
        Collect.read(collect)
        jobs = [job for kind, asked in told.items() for job in _read(kind, asked, defaults)]
        check_names(jobs)
    except (ValueError, MemoryError) as error:
        raise ValueError(f"{path}: {error}") from None
    return jobs


class Collect(NamedTuple):
    """What is to be collected of a list: its table [collect].

    files: {what of FILLED: a file of data/curves, without .csv}; hours: of one core, that all of it
    takes, None where nobody knows; every: of the rows of a history only one in so many; on_the_way:
    whether a run that is not finished counts as far as it has come.
    """

    files: dict
    hours: float | None = None
    every: int = 1
    on_the_way: bool = False

    @classmethod
    def read(cls, table):
        """Return what a table says; raises ValueError, in one line, for what makes no sense."""
        try:
            told = tables.options(table, COLLECT_KEYS)
            if told.get("every", 1) < 1:
                raise ValueError(f"every = {told['every']}: use 1 or more")
        except ValueError as error:
            raise ValueError(f"[{COLLECT}]: {error}") from None
        files = {name: told.pop(name) for name in FILLED if name in told}
        return cls(files, **told)


def read_collect(path):
    """Return the `Collect` of a list; raises what `read_list` raises."""
    return Collect.read(_tables(Path(path)).get(COLLECT, {}))


def _tables(path):
    """Return what the file holds: {kind: tables}."""
    if not path.exists():
        raise ValueError(f"{path}: no such file{_course_lists()}")
    told = read_toml(path, "list of runs, which is TOML", MOST_BYTES)
    unknown = [repr(name) for name in told if name not in (DEFAULTS, COLLECT, *KINDS)]
    if unknown:
        known = f"[{DEFAULTS}], [{COLLECT}] and {_known()}"
        raise ValueError(f"{path}: unknown table {unknown[0]}: use {known}")
    for name in (DEFAULTS, COLLECT):
        if not isinstance(told.get(name, {}), dict):
            raise ValueError(f"{path}: {name} is no table: write [{name}]")
    return told


def _course_lists():
    """Say where the lists of the course are, as far as they came with the library."""
    with contextlib.suppress(FileNotFoundError):
        return f"; the lists of the course are in {data('runs')}"
    return ""


def _known():
    return ", ".join(f"[[{kind}]]" for kind in KINDS)


def _read(kind, asked, defaults):
    """Return the jobs of all tables of a kind.  Raises ValueError that says which one is wrong."""
    if not (isinstance(asked, list) and all(isinstance(table, dict) for table in asked)):
        raise ValueError(f"{kind} is no list of tables: write [[{kind}]]")
    jobs = []
    for number, table in enumerate(asked, 1):
        if not (isinstance(name := table.get("name"), str) and NAME.fullmatch(name)):
            how = "of letters, digits and . _ + -, which any system takes"
            raise ValueError(f"[[{kind}]] {number}: needs a name, {how}")
        try:
            jobs += KINDS[kind].read(defaults | table)
        except (ValueError, MemoryError) as error:
            raise ValueError(f"[[{kind}]] {name}: {error}") from None
    return jobs


def check_names(jobs):
    """Raise ValueError, in one line, for no job at all, or two that would share a folder."""
    if not jobs:
        raise ValueError(f"there is nothing to do in it: write {_known()}")
    seen = set()
    for job in jobs:
        label = job.label.lower()  # some disks do not tell A from a
        if label in seen:
            raise ValueError(f"two of the list are called {job.label}")
        seen.add(label)


def chosen(jobs, names):
    """Return the jobs of some names, or of one seed ('tc-seed2').

    Args:
        jobs: of a list.
        names: None for all of them.

    Raises:
        ValueError: for a name that none of them has.
    """
    if names is None:
        return jobs
    known = {job.name for job in jobs} | {job.label for job in jobs}
    for name in names:
        if name not in known:
            said = ", ".join(dict.fromkeys(job.name for job in jobs))
            raise ValueError(f"there is no {name!r} in this list, only {said}")
    return [job for job in jobs if {job.name, job.label} & set(names)]
