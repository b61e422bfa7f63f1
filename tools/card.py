"""Write data/README.md, the data card, and data/SHA256SUMS.

    python tools/card.py            write both
    python tools/card.py --check    say what is stale, missing or unknown

data/card.toml says what each file is.  The rest is found: which lists of data/runs fill a file and
the hours of one core that they take, the seeds, the sizes, the hashes.
"""

import fnmatch
import hashlib
import re
import sys
import tomllib
from pathlib import Path

import pandas as pd

from lib2048.sweep import read_collect, read_list

DATA = Path(__file__).resolve().parents[1] / "data"
CARD, PAGE, SUMS = "card.toml", "README.md", "SHA256SUMS"
HEAD = """# Data card

What lies here, and where it comes from. [curves](curves/README.md), [weights](weights/README.md),
[runs](runs/README.md) and [published](published/README.md) say what the columns are and how each
was made. A list is made again by `lib2048 sweep data/runs/LIST.toml`; a run of the same command
line repeats every number but the seconds.

The hours are those of one core, for all that the lists ask; `make reproduce` says what of them is
recorded. The files were recorded on {machine} if nothing else is said, and are free to use under
{licence} ([LICENSE-text](../LICENSE-text)). `sha256sum -c SHA256SUMS` proves that they are as they
were. `make card` writes this page from `card.toml`.

| files | what | made by | seeds | core-hours | KiB |
|---|---|---|---|---|---|
"""


def main(arguments):
    """Write the card, or check it; return the exit status."""
    if arguments != ["--check"]:
        for name, text in ((PAGE, page()), (SUMS, sums())):
            (DATA / name).write_text(text, encoding="utf-8", newline="\n")
        return 0
    wrong = complaints()
    print("\n".join(wrong) or "data/ is as its card says")
    return 1 if wrong else 0


def complaints(folder=DATA):
    """Return what is wrong with a data folder, a line each."""
    groups = _told(folder)["group"]
    owners = {name: [g["files"] for g in groups if _in(name, g)] for name in files(folder)}
    wrong = [f"{name}: say in card.toml what it is" for name, own in owners.items() if not own]
    wrong += [f"{name}: in {' and '.join(own)}" for name, own in owners.items() if len(own) > 1]
    used = {pattern for own in owners.values() for pattern in own}
    wrong += [f"card.toml: {g['files']} is no file" for g in groups if g["files"] not in used]
    wrong += [f"{name}: not as SHA256SUMS has it" for name in _changed(folder)]
    if not wrong and (folder / PAGE).read_text(encoding="utf-8") != page(folder):
        wrong = [f"{PAGE}: stale; run make card"]
    return wrong


def files(folder=DATA):
    """Return the names of the files that the card is about, below data/ and with slashes."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.endswith(PAGE) and name != SUMS)


def page(folder=DATA):
    """Return the text of the card."""
    told = _told(folder)
    return HEAD.format(**told) + "".join(_line(folder, group) for group in told["group"])


def sums(folder=DATA):
    """Return the hashes of all files, in the format of sha256sum."""
    hashes = ((hashlib.sha256((folder / name).read_bytes()), name) for name in files(folder))
    return "".join(f"{found.hexdigest()}  {name}\n" for found, name in hashes)


def _told(folder):
    return tomllib.loads((folder / CARD).read_text(encoding="utf-8"))


def _in(name, group):
    pattern = group["files"]
    return fnmatch.fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")


def _line(folder, group):
    paths = [folder / name for name in files(folder) if _in(name, group)]
    tables = [pd.read_csv(path) for path in paths if path.suffix == ".csv"]
    lists = [] if "by" in group else _filling(folder, paths, tables)
    by = group.get("by") or ", ".join(f"`{path.stem}`" for path in lists)
    hours = sum(read_collect(path).hours or 0 for path in lists)
    own = [f"{key}: {group[key]}" for key in ("machine", "licence") if key in group]
    what = "; ".join([group["what"], *own])
    size = sum(path.stat().st_size for path in paths) / 1024
    seeds = "" if "machine" in group else _seeds(paths, tables)
    cells = (f"`{group['files']}`", what, by, seeds, f"{hours:g}" if hours else "",
             f"{size:,.0f}".replace(",", " "))  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def _filling(folder, paths, tables):
    """Return the lists that fill some files, as far as anything of them is recorded there."""
    named = set().union(*(table["list"] for table in tables if "list" in table))
    lists = sorted((folder / "runs").glob("*.toml"))
    return [one for one in lists if _fills(one, paths) and (not named or one.stem in named)]


def _fills(path, paths):
    """Return whether a list fills one of some files."""
    filled = read_collect(path).files
    patterns = [f"{stem}.csv" for key, stem in filled.items() if key != "each"]
    if "each" in filled or not filled:
        ending = "*_seed*" if filled else ".*"
        patterns += [f"{job.name}{ending}" for job in read_list(path)]
    return any(fnmatch.fnmatchcase(path.name, pattern) for path in paths for pattern in patterns)


def _seeds(paths, tables):
    """Return the seeds of some files' rows, as text."""
    named = {int(found[1]) for path in paths if (found := re.search(r"_seed(\d+)", path.stem))}
    found = named.union(*(table["seed"].astype(int) for table in tables if "seed" in table))
    return ", ".join(map(str, sorted(found)))


def _changed(folder):
    """Return the files whose hashes differ from those that are written down, or have none."""
    told, found = (folder / SUMS).read_text(encoding="utf-8"), sums(folder)
    lines = {*told.splitlines()} ^ {*found.splitlines()}
    return sorted({line.split("  ", 1)[1] for line in lines})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
