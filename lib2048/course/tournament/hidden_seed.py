"""Seeds of test games that nobody knows before the player is fixed."""

import hashlib
import secrets
from datetime import date
from pathlib import Path

from lib2048.machine.files import open_file, plain_place, read_csv, write_text
from lib2048.machine.lock import locked
from lib2048.train.history import csv_text

BITS = 32  # of a seed
PATIENCE = 10  # seconds, for another process that is at the register


def _seed(text):
    """Return a seed that a register holds, None where it is still to be drawn."""
    return int(text) if text else None


COLUMNS = {"day": date.fromisoformat, "player": str, "sha256": str, "seed": _seed}


def hidden_seed(player, register="hidden_seeds.csv"):
    """Return the seed of a player's test games, drawn once the hash of its file is recorded.

    The register gets a row for each player: the day, the file's name, its SHA-256 (as `sha256sum`
    says it) and the seed.  The hash is on the disk before the operating system draws the seed, so
    no player can have been chosen by its luck.  The same file keeps its seed.  A file that was
    changed is another player, and its row shows that there was one more.

    Args:
        player: the path of its file, weights or Python.
        register: the path of a CSV file, which is made where there is none.

    Returns:
        int: from 0 to 2³² − 1.

    Raises:
        ValueError: in one line, for a file that cannot be read and a register that is none.
    """
    with open_file(player) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    register = plain_place(register)
    with locked(register.with_name(f".{register.name}.lock"), PATIENCE):
        return _seed_in(register, player, digest)


def _seed_in(register, player, digest):
    """Return the seed of a player that a register has, or gets; nobody else writes meanwhile."""
    rows = read_csv(register, COLUMNS) if register.exists() else []
    row = next((row for row in rows if row["sha256"] == digest), None)
    if row is None:
        row = {"day": f"{date.today()}", "player": Path(player).name, "sha256": digest, "seed": ""}
        rows.append(row)
        write_text(register, csv_text(COLUMNS, rows))
    if _seed(row["seed"]) is None:
        row["seed"] = str(secrets.randbits(BITS))
        write_text(register, csv_text(COLUMNS, rows))
    return int(row["seed"])
