"""What stands in a table of a list: each key and value, checked before they are made use of."""

import numbers

from lib2048.machine.schema import is_number
from lib2048.machine.terminal import meant
from lib2048.play.evaluation import check_games
from lib2048.search.expectimax import LARGE_TABLE_MIB, MOST_PLIES, TABLE_MIB

VALUES = {  # what stands behind a key: a class, and what it is called
    None: (bool, "true or false"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    str: (str, "a text in quotes"),
    list: (list, "a list, such as [1000, 10_000]"),
    dict: (dict, "a table of plies and games, such as {1 = 1000, 3 = 100}"),
}


def check_value(said, value, kind):
    """Raise ValueError, in one line, where a value is not of the kind that its key wants."""
    wanted, what = VALUES[kind]
    wrong = not isinstance(value, wanted) or (kind in (int, float) and isinstance(value, bool))
    if wrong or kind is str and not (value.strip() and value.isprintable()):
        raise ValueError(f"{said} = {value!r}: write {what}")


def check_key(said, known):
    """Raise ValueError, in one line, for a key that is none of those known."""
    if said not in known:
        raise ValueError(f"unknown key {said!r}{meant(said, known)}")


def options(table, known):
    """Return what a table says, by names of Python; known: {key: kind, see VALUES}."""
    for said, value in table.items():
        check_key(said, known)
        check_value(said, value, known[said])
    return {said.replace("-", "_"): value for said, value in table.items()}


def whole_numbers(said, found, such="[1, 2, 3]"):
    """Return a list of whole numbers; raises ValueError, in one line, for anything else."""
    whole = isinstance(found, list) and all(is_number(one, numbers.Integral) for one in found)
    if not (whole and found):
        raise ValueError(f"{said} {found!r}: write a list of whole numbers, such as {such}")
    return found


def test_games(told):
    """Return test games as ((plies, games), …); told: such as {"1": 1000, "3": 100}."""
    check_value("tests", told, dict)
    for plies, games in told.items():
        if plies not in map(str, range(1, MOST_PLIES + 1)):
            raise ValueError(f"tests {plies}: plies are whole numbers from 1 to {MOST_PLIES}")
        check_value(f"tests {plies}", games, int)
        check_games(games, threads=1)
    return tuple(sorted((int(plies), games) for plies, games in told.items()))


def search_bytes(plies, threads, table_mib=None):
    """Return what the tables of a search take; plies: None for one that is limited by time."""
    mib = TABLE_MIB.get(plies, LARGE_TABLE_MIB) if table_mib is None else table_mib
    return threads * mib << 20
