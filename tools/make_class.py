"""Build one zip file for the students of a class.

    python tools/make_class.py --seed 7 [--game 2048] [--out class-7.zip]

It holds the wheel of the library, the tables, the lessons without outputs, the released labs and a
README.  It holds no source labs, no hidden tests and no trained networks.  Seed and game are
written into the wheel; they change the boards of the checks, what labs draw by student number, and
by which rules labs are written and checked.  A seed whose cases would let a known wrong answer pass
is refused.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import labs
import lessons

from lib2048 import __version__
from lib2048.course.labs.cases import refuse_unlucky
from lib2048.course.labs.notebook import parse, to_bytes, without_outputs
from lib2048.course.labs.seeds import OWN, PLAIN, game_for
from lib2048.machine.files import write_atomic

ROOT = lessons.ROOT
FOLDER = "2048-course"  # everything in the zip lies in this one
TABLES = (".csv", ".json", ".md")
DATE = (2026, 1, 1, 0, 0, 0)  # of every file, so that the same seed gives the same zip
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--quiet"]


def make(seed: int, out: Path, game: str = PLAIN) -> Path:
    """Write the zip of a class and return its path."""
    files = tables() | lessons_without_outputs() | released_labs(game, seed)
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build_wheel(Path(scratch), seed, game)
        files |= {wheel.name: wheel.read_bytes(), "README.md": readme(wheel.name, seed, game)}
    files |= {name: (ROOT / name).read_bytes() for name in ("LICENSE", "LICENSE-text")}

    def write(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in sorted(files.items()):
                archive.writestr(entry(f"{FOLDER}/{name}"), data)

    write_atomic(out, write)
    return out


def entry(name: str) -> zipfile.ZipInfo:
    """Return the head of a file in a zip, with a date and rights that never change."""
    info = zipfile.ZipInfo(name, DATE)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def build_wheel(folder: Path, seed: int, game: str = PLAIN) -> Path:
    """Build the library's wheel for a class; return its path."""
    copy_tree(folder)
    shutil.rmtree(folder / "notebooks")  # a class's are beside the wheel, by its own rules
    (folder / "notebooks").mkdir()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    numbered = f'version = "{__version__}+class.{seed}"'  # so that pip tells classes apart
    project = project.replace(f'version = "{__version__}"', numbered)
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    told = f'seed = {seed}\ngame = "{game}"\n'
    (folder / "lib2048/course/labs/class.toml").write_text(told, encoding="utf-8")
    return wheel_of(folder)


def copy_tree(folder: Path) -> None:
    """Copy what the wheel is built from, so that the tree stays as it is."""
    litter = shutil.ignore_patterns("__pycache__", "42-*.npz", "*.safetensors", "source")
    for name in ("lib2048", "data", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, ignore=litter)
    for name in ("LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)


def wheel_of(folder: Path) -> Path:
    """Build the wheel of a copied tree, without the network; return its path."""
    here = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder / "dist"]
    dated = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    subprocess.run([*PIP, "wheel", *here, folder], check=True, env=dated)
    [path] = (folder / "dist").glob("*.whl")
    return path


def readme(wheel: str, seed: int, game: str) -> bytes:
    """Return the README for students."""
    text = Path(__file__).with_name("class_readme.md").read_text(encoding="utf-8")
    for word, told in {"wheel": wheel, "seed": str(seed), "game": game}.items():
        text = text.replace(f"{{{word}}}", told)
    return text.encode()


def tables() -> dict[str, bytes]:
    """Return the published tables and the recorded curves."""
    paths = [path for path in (ROOT / "data").rglob("*") if path.suffix in TABLES]
    return {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in paths
        if "weights" not in path.parts
    }


def lessons_without_outputs() -> dict[str, bytes]:
    """Return the lessons as somebody finds them who has run nothing yet."""
    return {
        f"notebooks/{path.name}": to_bytes(without_outputs(parse(path.read_bytes(), path.name)))
        for path in lessons.lessons()
    }


def released_labs(game: str = PLAIN, seed: int | None = None) -> dict[str, bytes]:
    """Return what students get of the labs; refuse one that is not its source's."""
    found = {}
    for lab in labs.labs():
        path = labs.path_of(lab, labs.RELEASE)
        if not labs.is_current(lab):
            raise ValueError(f"the release of {lab} is not that of its source: make release")
        found[path.relative_to(ROOT).as_posix()] = labs.release_of(lab, game, seed).encode()
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Build one zip file for the students of a class.")
    parser.add_argument("--seed", type=int, required=True, help="the class's number, from 0")
    parser.add_argument(
        "--game", default=OWN, help="own: drawn by the seed; or 2048, 2048:four=0.2@3x4 …"
    )
    parser.add_argument("--out", type=Path, help="the file to write: class-SEED.zip")
    options = parser.parse_args(arguments)
    out = options.out or Path(f"class-{options.seed}.zip")
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: a seed is a whole number from 0")
    if out.is_dir() or not out.resolve().parent.is_dir():
        parser.error(f"--out {out}: name a file in a folder that exists")
    try:
        game = game_for(options.game, options.seed)
        refuse_unlucky(options.seed, options.seed, game)
        path = make(options.seed, out, game)
    except ValueError as error:
        parser.error(str(error))
    size = path.stat().st_size / 1e6
    print(f"{path}: {size:.1f} MB, the class's seed is {options.seed}, its game {game}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
