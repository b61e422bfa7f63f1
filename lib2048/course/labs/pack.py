"""One file to hand in: the notebook, what lies beside it, and a list of what is inside."""

import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lib2048.course.labs.exercise import hand_in, of_lab
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import MOST_MB as MOST_MB_UNPACKED
from lib2048.course.labs.notebook import (
    broken_cells,
    called,
    grading,
    lab_of,
    not_attempted,
    of_other_rules,
    read,
    rules_in,
    source,
    student_of,
    to_bytes,
    without_outputs,
)
from lib2048.course.labs.seeds import rules_of
from lib2048.machine.files import read_bytes, write_atomic

MOST_MB = 5
LIST = "manifest.json"
MADE = r"^def\s+(\w+)|^(\w+) *=(?!.*\buse\()"  # a line that makes a function, and not by `use`
# What a lab may want beside the notebook, by how the files are called.
KINDS = {
    "report": ("report.pdf", "report.md", "report.docx", "report.odt", "report.html"),
    "curve": ("*.csv",),
    "config": ("config.json", "config.toml"),
    "player": ("player.py",),
}


@dataclass(frozen=True)
class Packed:
    """What was packed: path of the file; student; its files' names; what is missing, in words."""

    path: Path
    student: str
    files: list
    missing: list

    def __str__(self):
        words = {"path": self.path, "student": self.student, "files": ", ".join(self.files)}
        packed = say("hand_in.packed", size=-(-self.path.stat().st_size // 1000), **words)
        return "\n".join([packed, *(self.missing or [say("hand_in.complete")])])


def pack(lab, folder=".", out=None, student=None):
    """Make the one file that is handed in, at most 5 MB.

    lab: "hw01"; folder: where the notebook lies, or the notebook; out: the file to write, by
    default LAB-STUDENT.zip; student: the number, by default that in the notebook.  Returns
    `Packed`.  Raises ValueError, before anything is written, where there is no notebook of the
    lab, no number, or too much.
    """
    of_lab(lab)
    path = _find(lab, Path(folder))
    notebook = read(path, path.name)
    student = student or student_of(notebook)
    if not student:
        raise ValueError(say("hand_in.no_student", name=path.name))
    files = {f"{lab}.ipynb": to_bytes(notebook)} | _of_run(path.parent) | _beside(path.parent)
    data, notes = _small_enough(lab, student, files, notebook)
    plain = re.sub(r"[^\w.-]+", "-", str(student)).strip("-.")[:60] or "student"
    out = Path(out or f"{lab}-{plain}.zip")
    if out.is_dir():
        raise ValueError(say("hand_in.out_is_folder", out=out, name=f"{lab}.zip"))
    write_atomic(out, lambda file: file.write(data), len(data))
    told = of_other_rules(lab, rules_in(notebook, lab), rules_of(lab))
    told += _missing(lab, notebook, files) + _lost(lab, notebook)
    return Packed(out, student, sorted(files), told + notes)


def _find(lab, folder):
    """Return the path of the lab's notebook."""
    if not folder.exists():
        raise ValueError(say("hand_in.no_folder", folder=folder))
    homes = "", f"{lab}/", f"my/homework/release/{lab}/", f"notebooks/homework/release/{lab}/"
    for path in (folder, *(folder / f"{home}{lab}.ipynb" for home in homes)):
        if path.is_file():
            if (found := lab_of(read(path, path.name))) not in (lab, None):
                raise ValueError(say("hand_in.other_lab", name=path.name, found=found, lab=lab))
            return path
    found = [path for path in sorted(folder.glob("*.ipynb")) if _lab(path) == lab]
    if not found:
        raise ValueError(say("hand_in.no_notebook", folder=folder, lab=lab))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ValueError(say("hand_in.several", folder=folder, lab=lab, names=names))
    return found[0]


def _lab(path):
    try:
        return lab_of(read(path))
    except ValueError:
        return None


def _beside(folder):
    """Return the files that lie beside the notebook and belong to it, {name: bytes}."""
    patterns = [pattern for kind in KINDS.values() for pattern in kind]
    paths = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {path.name: _bytes(path) for path in sorted(paths)}


def _of_run(folder):
    """Return the curve and the config of the newest run of V(afterstate) in FOLDER/runs."""
    pairs = [(path, path.with_name("config.json")) for path in folder.glob("runs/*/history.csv")]
    pairs = [pair for pair in pairs if all(path.is_file() for path in pair)]
    pairs = [pair for pair in pairs if b'"afterstate"' in _bytes(pair[1])]
    newest = max(pairs, key=lambda pair: pair[0].stat().st_mtime, default=())
    return {path.name: _bytes(path) for path in newest}


def _bytes(path):
    return read_bytes(path, MOST_MB_UNPACKED * 10**6)


def _missing(lab, notebook, files):
    """Say in words what is missing; the report may be a file, or an answer in the notebook."""
    functions, answers = not_attempted(notebook)
    lines = [
        say(f"hand_in.missing_{kind}", names=", ".join(map(str, untouched)))
        for kind, untouched in (("functions", functions), ("answers", answers))
        if untouched
    ]
    there = {kind for kind in KINDS if any(is_of(kind, name) for name in files)}
    names = [grading(cell).get("grade_id") for cell in notebook["cells"]]
    if "report" in names and "report" not in answers:
        there.add("report")
    return lines + [say(f"hand_in.missing_{kind}") for kind in hand_in(lab) if kind not in there]


def _lost(lab, notebook):
    """Say in words what an editor, or a slip, has lost of the notebook, and what comes of it."""
    codes = [source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    text, exercises = "\n".join(codes), of_lab(lab).values()
    asked = [(one, part) for one in exercises for part in (one.parts or {None: None})]
    tests = [f"{one.name} ({part})" if part else one.name for one, part in asked
             if not any(_checks(code, one, part) for code in codes)]  # fmt: skip
    named = {name for pair in re.findall(MADE, text, re.MULTILINE) for name in pair}
    functions = [one.function for one in exercises if one.function not in named]
    notes = any(grading(cell) for cell in notebook["cells"])
    lines = [say("hand_in.notes_lost")] if text and not notes else []
    found = {"tests_lost": tests, "functions_lost": functions}
    lines += [say(f"hand_in.{key}", names=", ".join(x)) for key, x in found.items() if x]
    return lines + [
        say("hand_in.broken", where=called(text), error=error)
        for text, error in broken_cells(notebook)
    ]


def _checks(code, exercise, part):
    """Say whether a cell is the test of an exercise, or of a part of it."""
    quoted = (rf"[\"']{re.escape(text)}[\"']" for text in (exercise.name, part or exercise.name))
    return "check(" in code and all(re.search(one, code) for one in quoted)


def is_of(kind, name):
    """Say whether a file's name is of a kind: "report", "curve", "config" or "player"."""
    return any(Path(name.lower()).match(pattern) for pattern in KINDS[kind])


def _small_enough(lab, student, files, notebook):
    """Return the bytes of the file, and what was left out to make it small."""
    data = _zipped(lab, student, files)
    if all(size <= most * 10**6 for size, most in _sizes(data, files)):
        return data, []
    files[f"{lab}.ipynb"] = to_bytes(without_outputs(notebook))
    data = _zipped(lab, student, files)
    for size, most in _sizes(data, files):
        if size > most * 10**6:
            name, part = max(((name, len(one)) for name, one in files.items()), key=lambda x: x[1])
            words = {"size": f"{size / 10**6:.1f}", "part": f"{part / 10**6:.1f}"}
            raise ValueError(say("hand_in.too_large", name=name, most=most, **words))
    return data, [say("hand_in.outputs_left_out")]


def _sizes(data, files):
    """Return (bytes, most MB) of a file that is handed in, and of what is in it."""
    return (len(data), MOST_MB), (sum(map(len, files.values())), MOST_MB_UNPACKED)


def _zipped(lab, student, files):
    """Return a zip file of the files and the list of them."""
    from lib2048 import __version__

    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    about = {"lab": lab, "student": student, "library": __version__,
             "packed": datetime.now(UTC).isoformat(timespec="seconds"),
             "files": hashes, "hash": hash_of(hashes)}  # fmt: skip
    held = files | {LIST: (json.dumps(about, indent=1) + "\n").encode()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(held.items()):
            archive.writestr(name, data)
    return file.getvalue()


def hash_of(hashes):
    """Return one hash of the files' hashes, {name: sha256}."""
    text = "\n".join(f"{digest}  {name}" for name, digest in sorted(hashes.items()))
    return hashlib.sha256(text.encode()).hexdigest()
