"""A class's hand-ins out of what Moodle or Canvas gives to download, into nbgrader's folders."""

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath

from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import Refused, lab_of, parse, student_of
from lib2048.course.labs.pack import KINDS, LIST, hash_of, is_of
from lib2048.machine.files import move, write_text

MOST_MB = 20  # of one file in a download, unpacked
RECORD = "collected.json"
LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", ".ipynb_checkpoints"}
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError,
          ValueError)  # fmt: skip

# Moodle: "Ada Lovelace_12345_assignsubmission_file_/hw01.zip", one folder a student, or all of it
# as one file name.  The number is that of "Participant 12345" in the grading worksheet.
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(file|onlinetext)_?(?P<file>.*)")
# Canvas: "lovelaceada_LATE_12345_67890_hw01-1.zip": the user's ID, the submission's, and behind
# the name which attempt it was.
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_(?P<submission>\d+)_(?P<file>.+)")


@dataclass
class HandIn:
    """What one student handed in.

    student: nbgrader's name for the student, which is the LMS's id; name; lms: "moodle", "canvas"
    or "plain"; file: in the download; late; when: ISO text; number: the student's own; order: the
    larger is the newer; problem: why there is no notebook, ""; notes: in words; hash.
    """

    student: str
    name: str
    lms: str
    file: str
    late: bool = False
    when: str = ""
    number: str = ""
    order: list = field(default_factory=list)
    problem: str = ""
    notes: list = field(default_factory=list)
    hash: str = ""


@dataclass
class _Found:
    """One file of the download: whose, of which lab, and the files in it, the notebook first."""

    who: HandIn
    lab: str = None
    files: dict = field(default_factory=dict)


def collect(path, course, lab=None, due=None):
    """Put a class's hand-ins where nbgrader looks for them: COURSE/submitted/STUDENT/LAB/.

    path: the zip file that the LMS gave; lab: "hw01", by default the one lab that is in there;
    due: "2026-03-01 23:59"; files with a later time are late, as are those that Canvas calls late.
    Returns {"lab", "students", "taken": [line, …], "problems": [line, …]}.  Raises ValueError,
    before anything is written, for a file that is no zip file, and where no lab or several are
    found.
    """
    due = None if due is None else f"{datetime.fromisoformat(due):%Y-%m-%d %H:%M}"
    found, problems = _read(Path(path))
    lab = _one_lab(path, found) if lab is None else lab
    of_lab(lab)
    for one in found:
        one.who.late |= due is not None and one.who.when > due
    chosen, more = _by_student(found, lab)
    taken = [_put(one, Path(course) / "submitted" / one.who.student / lab, lab) for one in chosen]
    return {"lab": lab, "students": len(chosen), "taken": taken, "problems": problems + more}


# ---------------------------------------------------------------- what is in the download


def _read(path):
    """Return the files of a download that are somebody's, and what is said of the others."""
    try:
        with zipfile.ZipFile(path) as archive:
            found, problems = [], []
            for position, info in enumerate(archive.infolist()):
                if not info.is_dir() and not LITTER & set(PurePosixPath(info.filename).parts):
                    _take(archive, info, position, found, problems)
            return found, problems
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, IsADirectoryError) as error:
        raise ValueError(f"{path}: not a zip file as Moodle or Canvas makes it ({error})") from None


def _take(archive, info, position, found, problems):
    """Read one entry, and add what it is to `found`, or a line to `problems`."""
    if not _safe(info.filename):
        problems.append(say("hand_in.unsafe", name=info.filename))
        return
    one = _Found(_whose(info, position))
    try:
        _interpret(one, _bytes(archive, info), PurePosixPath(one.who.file).name)
    except Refused as refused:
        one.who.problem = str(refused)
    except BROKEN as error:
        one.who.problem = say("hand_in.damaged", name=one.who.file, error=error)
    if one.who.lms == "plain" and not _named_by_itself(one, problems):
        return
    found.append(one)


def _safe(name):
    """Say whether an entry stays in its folder: no .., no absolute path, no drive."""
    parts = re.split(r"[/\\]", name)
    return ".." not in parts and not name.startswith(("/", "\\")) and not parts[0].endswith(":")


def _whose(info, position):
    """Return a `HandIn` of whom the path names, of nobody where it does not follow a pattern."""
    path, when = PurePosixPath(info.filename), "{}-{:02}-{:02} {:02}:{:02}".format(*info.date_time)
    order = [0, 0, when, position]
    for at, part in enumerate(path.parts):
        if match := MOODLE.fullmatch(part):
            file = "/".join(filter(None, [match["file"], *path.parts[at + 1 :]])) or path.name
            name = match["name"].split("__")[0]
            return HandIn(match["id"], name, "moodle", file, when=when, order=order)
    if match := CANVAS.fullmatch(path.name):
        attempt = re.search(r"-(\d+)(\.\w+)?$", match["file"])
        order = [int(match["submission"]), int(attempt[1]) if attempt else 0, when, position]
        late = bool(match["late"])
        return HandIn(match["id"], match["name"], "canvas", match["file"], late, when, order=order)
    return HandIn("", "", "plain", path.name, when=when, order=order)


def _named_by_itself(one, problems):
    """Take the student's own number where no path says whose it is; say so where there is none."""
    if one.lab is None:
        problems.append(one.who.problem or say("hand_in.foreign", name=one.who.file))
    elif not one.who.number:
        problems.append(say("hand_in.whose", name=one.who.file))
    one.who.student = re.sub(r"[^\w.@-]+", "-", one.who.number).strip("-.")
    one.who.name = one.who.number
    return bool(one.lab and one.who.student)


def _bytes(archive, info):
    with archive.open(info) as file:
        data = file.read(MOST_MB * 10**6 + 1)
    if len(data) > MOST_MB * 10**6:
        raise Refused(say("hand_in.large", name=info.filename, most=MOST_MB))
    return data


def _interpret(one, data, name):
    """Find out what a file is: a pack, a zip made by hand, a bare notebook, something beside it."""
    one.who.hash = sha256(data).hexdigest()
    if data[:2] == b"PK" and not name.endswith((".docx", ".odt", ".xlsx")):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            _open_pack(one, archive, name)
    elif name.endswith(".ipynb") or data.lstrip()[:1] == b"{" and not name.endswith(".json"):
        notebook = parse(data, name)
        one.lab, one.who.number = lab_of(notebook), student_of(notebook)
        one.files = {f"{one.lab}.ipynb": data}
    elif any(is_of(kind, name) for kind in KINDS):
        one.files = {name: data}
        return
    if one.lab is None:
        raise Refused(say("hand_in.foreign", name=one.who.file))


def _open_pack(one, archive, name):
    """Read a pack: only files beside its list, by their own names, whatever else is in there."""
    files, about = {}, None
    for info in archive.infolist():
        inner = PurePosixPath(info.filename)
        if info.is_dir() or LITTER & set(inner.parts):
            continue
        if not _safe(info.filename):
            one.who.notes.append(say("hand_in.unsafe", name=f"{name}: {info.filename}"))
        elif inner.name == LIST:
            about = json.loads(_bytes(archive, info))
        elif inner.suffix == ".ipynb" or any(is_of(kind, inner.name) for kind in KINDS):
            files[inner.name] = _bytes(archive, info)
        if sum(map(len, files.values())) > MOST_MB * 10**6:
            raise Refused(say("hand_in.large", name=name, most=MOST_MB))
    hashes = {name: sha256(data).hexdigest() for name, data in files.items()}
    for inner in [inner for inner in files if inner.endswith(".ipynb") and one.lab is None]:
        notebook = parse(files[inner], f"{name}: {inner}")
        if lab := lab_of(notebook):  # it comes first, by its usual name
            one.lab, one.who.number = lab, student_of(notebook)
            one.files = {f"{lab}.ipynb": files.pop(inner)} | files
            break
    if isinstance(about, dict):
        one.who.number = str(about.get("student") or one.who.number)[:60]
        if about.get("hash") != hash_of(hashes):
            one.who.notes.append(say("hand_in.changed_since"))


# ---------------------------------------------------------------- one hand-in a student


def _one_lab(path, found):
    count = Counter(one.lab for one in found if one.lab)
    if not count:
        raise ValueError(f"{path}: no notebook of a lab in it")
    if len(count) > 1:
        labs = ", ".join(f"{lab} ({n})" for lab, n in sorted(count.items()))
        raise ValueError(f"{path}: notebooks of {labs}: say which with --lab")
    return next(iter(count))


def _by_student(found, lab):
    """Return one `_Found` a student, and lines on what was not taken."""
    students, problems = {}, []
    for one in found:
        students.setdefault(one.who.student, []).append(one)
    chosen = [_newest(mine, lab) for mine in students.values()]
    for who in (one.who for one in chosen):
        same = [one.who for one in chosen if one.who is not who and one.who.number == who.number]
        if who.number and same:
            others = ", ".join(other.name for other in same)
            who.notes.append(say("hand_in.same_number", number=who.number, others=others))
        if notes := [note for note in (who.problem, *who.notes) if note]:
            problems.append(f"{_label(who)}: " + "; ".join(notes))
    return chosen, problems


def _label(who):
    return who.name if who.name == who.student else f"{who.name} ({who.student})"


def _newest(mine, lab):
    """Return the newest hand-in of one student, with what lay beside it, and notes on the rest."""
    mine.sort(key=lambda one: one.who.order)
    right = [one for one in mine if one.lab == lab]
    wrong = [one for one in mine if one.lab not in (lab, None)]
    beside = [one for one in mine if one.lab is None]
    notes = [one.who.problem for one in beside if one.who.problem]
    notes += [say("hand_in.wrong_lab", name=one.who.file, found=one.lab, lab=lab) for one in wrong]
    chosen, files = (right or wrong or beside)[-1], {}
    who = chosen.who
    if not right:
        who.problem, who.notes = "; ".join(notes) or say("hand_in.foreign", name=who.file), []
    else:
        for one in [*beside, chosen]:
            files |= one.files
        if len(right) > 1:
            others = ", ".join(one.who.file for one in right[:-1])
            words = {"count": len(right), "name": who.file, "others": others}
            notes.append(say("hand_in.several_files", **words))
        who.notes += notes
    chosen.files, who.late = files, any(one.who.late for one in right or mine)
    hashes = sorted(sha256(data).hexdigest() for data in files.values())
    who.hash = sha256("".join(hashes).encode()).hexdigest()
    return chosen


def _put(one, folder, lab):
    """Write one hand-in, unless what is there is newer, and return a line about it."""
    who, old = one.who, read_record(folder)
    line = [say("hand_in.taken", who=_label(who), name=who.file)]
    if old and old.hash == who.hash:
        return "; ".join([*line, say("hand_in.unchanged")])
    if old and who.problem and not old.problem:
        return "; ".join([*line, who.problem, say("hand_in.kept_good")])
    if old and old.order[:3] > who.order[:3] and not old.problem:
        return "; ".join([*line, say("hand_in.kept")])
    line += [say("hand_in.replaced")] if old else []
    line += [say("hand_in.late")] if who.late else []
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
    part.chmod(0o755)
    for name, data in one.files.items():
        (part / name).write_bytes(data)
    write_text(part / RECORD, json.dumps(asdict(one.who), indent=1, ensure_ascii=False) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    move(part, folder)  # all of it or nothing
    return "; ".join(line)


def read_record(folder):
    """Return the `HandIn` of a student's folder, None where it was not collected by us."""
    try:
        return HandIn(**json.loads((Path(folder) / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
