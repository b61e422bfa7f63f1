"""A class's hand-ins out of what Moodle or Canvas gives to download, into nbgrader's folders."""

import json
import re
import tempfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath

from lib2048.course.labs.course_folder import hide, open_course
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import (
    MOST_MB,
    MOST_NAME,
    Refused,
    is_untouched,
    lab_of,
    of_other_rules,
    parse,
    rules_in,
    student_of,
)
from lib2048.course.labs.pack import KINDS, LIST, hash_of, is_of
from lib2048.course.labs.seeds import PLAIN
from lib2048.machine.files import move, open_file, read_json, write_text
from lib2048.machine.terminal import one_line

MOST_FILES = 1000  # of one pack
MOST_NOTES = 8  # on the files of one student
MOST_SHOWN = 120  # letters of a file's name in a line
RECORD = "collected.json"
LITTER = {"__MACOSX", ".DS_Store", "Thumbs.db", ".ipynb_checkpoints"}

# Moodle: "Ada Lovelace_12345_assignsubmission_file_/hw01.zip", one folder a student, or all of it
# as one file name.  The number is that of "Participant 12345" in the grading worksheet.
ID = "(?P<id>[0-9]{1,20})"
MOODLE = re.compile(rf"(?P<name>.+?)_{ID}_assignsubmission_(file|onlinetext)_?(?P<file>.*)")
# Canvas: "lovelaceada_LATE_12345_67890_hw01-1.zip": the user's ID, the submission's, and behind
# the name which attempt it was.
CANVAS = re.compile(
    rf"(?P<name>[^_]+)_(?P<late>LATE_)?{ID}_(?P<submission>[0-9]{{1,20}})_"
    r"(?!assignsubmission_)(?P<file>.+)"
)
# What a file may be called wherever the course lies, a device of Windows least of all.
DEVICE = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])(\.|$)", re.IGNORECASE)
NO_NAME = re.compile(r'[\\/:*?"<>|]|[ .]$')
NOTED = {"notes?": [str], "of_others?": [str], str: object}  # what is read of a record


@dataclass
class HandIn:
    """What one student handed in.

    student: nbgrader's name for the student, which is the LMS's id; name; lms: "moodle", "canvas"
    or "plain"; file: in the download; late; when: ISO text; number: the student's own; order: the
    larger is the newer; problem: why there is no notebook, ""; notes: in words; of_others: those
    that name other students, for no page of feedback; hash.
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
    rules: str = PLAIN
    notes: list = field(default_factory=list)
    of_others: list = field(default_factory=list)
    hash: str = ""


@dataclass
class _Found:
    """One file of the download: whose, of which lab, and the files in it, the notebook first."""

    who: HandIn
    lab: str = None
    files: dict = field(default_factory=dict)


def collect(path, course, lab=None, due=None):
    """Put a class's hand-ins where nbgrader looks for them: COURSE/submitted/STUDENT/LAB/.

    path: the zip file that the LMS gave, or one student's pack; lab: "hw01", by default the one
    lab that is in there; due: "2026-03-01 23:59"; files with a later time are
    late, as are those that Canvas calls late.
    Returns {"lab", "students", "taken": [line, …], "problems": [line, …], "failed": how many
    hand-ins were not taken}.  Whatever is wrong with one hand-in, the others are taken.  Raises
    ValueError, before anything is written, for a file that is no zip file, and where no lab, or no
    lab more often than all others, is found.
    """
    due = None if due is None else f"{datetime.fromisoformat(due):%Y-%m-%d %H:%M}"
    found, problems = _read(Path(path))
    lab = _one_lab(path, found) if lab is None else lab
    of_lab(lab)
    rules = open_course(course).rules(lab) if Path(course, "course.toml").exists() else None
    for one in found:
        one.who.late |= due is not None and one.who.when > due
        if rules is not None and one.lab == lab:
            one.who.notes += of_other_rules(lab, one.who.rules, rules)
    chosen, more = _by_student(found, lab)
    hide(course)
    # Without an LMS nobody knows whether two files of one number are one student's.
    plain = [sum(one.lab == lab and one.who.lms == "plain" for one in x) for x in (found, chosen)]
    taken, failed = [], len(problems) + plain[0] - plain[1]
    for one in chosen:
        failed += bool(one.who.problem)
        try:
            line = _put(one, Path(course) / "submitted" / one.who.student / lab)
            taken += [line] if line else []
        except Exception as error:  # whatever it is, it is one student's
            words = {"who": _label(one.who), "name": one.who.file, "error": one_line(error)}
            problems.append(say("hand_in.not_stored", **words))
            failed += not one.who.problem
    done = {"lab": lab, "students": len(chosen), "taken": taken}
    return done | {"problems": problems + more, "failed": failed}


# ---------------------------------------------------------------- what is in the download


def _read(path):
    """Return the files of a download that are somebody's, and what is said of the others."""
    try:
        with open_file(path) as file, zipfile.ZipFile(_download(file, path.name)) as archive:
            found, problems = [], []
            for position, info in enumerate(archive.infolist()):
                _take(archive, info, position, found, problems)
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError, OSError) as error:
        raise ValueError(f"{path}: not a zip file as Moodle or Canvas makes it ({error})") from None
    _name_by_number(found)
    return found, problems


def _download(file, name):
    """Return a download as it is, and one student's own pack as the only file of one."""
    with zipfile.ZipFile(file) as archive:
        if LIST not in archive.namelist():
            return file
    around = BytesIO()
    file.seek(0)
    with zipfile.ZipFile(around, "w") as archive:
        archive.writestr(name, file.read(MOST_MB * 10**6 + 1))  # what is larger is refused by size
    return around


def _take(archive, info, position, found, problems):
    """Read one entry, and add what it is to `found`, or a line to `problems`."""
    if not _safe(info.filename):
        problems.append(say("hand_in.unsafe", name=_shown(info.filename)))
        return
    who = _whose(info, position)
    if info.is_dir() or _is_litter(info):
        found += [_Found(who)] if who.lms == "moodle" else []  # who has handed in that alone
        return
    try:
        some = _interpret(who, _bytes(archive, info, who.file), PurePosixPath(info.filename).name)
    except Refused as refused:
        some = [_Found(replace(who, problem=str(refused)))]
    except Exception as error:  # of zipfile, of what decompresses, or of what nobody has thought of
        said = one_line(error) or type(error).__name__
        some = [_Found(replace(who, problem=say("hand_in.damaged", name=who.file, error=said)))]
    for one in some:
        if who.lms != "plain" or (one.lab and one.who.number):
            one.files = {name: zlib.compress(data, 1) for name, data in one.files.items()}
            found.append(one)
        elif one.lab:
            problems.append(say("hand_in.whose", name=who.file))
        else:
            problems.append(one.who.problem or say("hand_in.foreign", name=who.file))


def _is_litter(info):
    return bool(LITTER & set(PurePosixPath(info.filename).parts))


def _safe(name):
    """Say whether an entry stays in its folder: no .., no absolute path, no drive."""
    parts = re.split(r"[/\\]", name)
    return ".." not in parts and not name.startswith(("/", "\\")) and not parts[0].endswith(":")


def _shown(name):
    """Return a file's name as a line can hold it."""
    name = one_line(name)
    return name if len(name) <= MOST_SHOWN else f"{name[:80]}…{name[-39:]}"


def _whose(info, position):
    """Return a `HandIn` of whom the path names, of nobody where it does not follow a pattern."""
    path, when = PurePosixPath(info.filename), "{}-{:02}-{:02} {:02}:{:02}".format(*info.date_time)
    order = [0, 0, when, position]
    for at, part in enumerate(path.parts):
        if part == path.name and (match := CANVAS.fullmatch(part)):
            attempt = re.search(r"-([0-9]{1,9})(\.\w+)?$", match["file"])
            order = [int(match["submission"]), int(attempt[1]) if attempt else 0, when, position]
            who = {"late": bool(match["late"]), "when": when, "order": order}
            return _who(match["id"], match["name"], "canvas", match["file"], **who)
        if match := MOODLE.fullmatch(part):
            file = "/".join(filter(None, [match["file"], *path.parts[at + 1 :]])) or path.name
            name = match["name"].split("__")[0]
            return _who(match["id"], name, "moodle", file, when=when, order=order)
    return _who("", "", "plain", path.name, when=when, order=order)


def _who(student, name, lms, file, **more):
    return HandIn(student, one_line(name)[:MOST_SHOWN], lms, _shown(file), **more)


def _name_by_number(found):
    """Name those whom no LMS names by their own number, no two numbers alike."""
    for one in found:
        one.who.number = unicodedata.normalize("NFKC", one.who.number)
    plain = {one.who.number: one for one in found if one.who.lms == "plain"}
    taken = {one.who.student for one in found if one.who.lms != "plain"}
    names = {number: _file_name(number) for number in plain}
    for number in sorted(plain, key=lambda number: names[number] != number):  # the plain ones first
        if names[number].casefold() in taken:
            names[number] += f"-{sha256(number.encode()).hexdigest()[:8]}"
        taken.add(names[number].casefold())
    for one in found:
        if one.who.lms == "plain":
            one.who.student, one.who.name = names[one.who.number], one.who.number


def _file_name(number):
    """Return a student's number as the name of a folder, on any system."""
    name = re.sub(r"[^\w.@-]+", "-", unicodedata.normalize("NFC", number)).strip("-.")
    return f"student-{name}".strip("-") if not name or DEVICE.match(name) else name


def _bytes(archive, info, name, most=MOST_MB * 10**6):
    with archive.open(info) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused(say("hand_in.large", name=name, most=MOST_MB))
    return data


def _interpret(who, data, name):
    """Find out what a file is: a pack, a zip made by hand, a bare notebook, something beside it.

    Returns a list of `_Found`, one for each lab in it.
    """
    who.hash = sha256(data).hexdigest()
    if data[:2] == b"PK" and not name.endswith((".docx", ".odt", ".xlsx")):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _open_pack(who, archive)
    if name.endswith(".ipynb") or data.lstrip()[:1] == b"{" and not name.endswith(".json"):
        notebook = parse(data, who.file)
        if lab := lab_of(notebook):
            who = replace(who, number=student_of(notebook), rules=rules_in(notebook, lab))
            return [_Found(who, lab, {f"{lab}.ipynb": data})]
    elif _is_kind(name) and _is_name(name):
        return [_Found(who, None, {name: data})]
    raise Refused(say("hand_in.foreign", name=who.file))


def _is_kind(name):
    return any(is_of(kind, name) for kind in KINDS)


def _is_name(name):
    """Say whether a file may be called so, on any system."""
    odd = not name.isprintable() or NO_NAME.search(name) or DEVICE.match(name)
    return not odd and len(name.encode()) <= MOST_SHOWN


def _open_pack(who, archive, inner=False):
    """Read a pack: only files beside its list, by their own names, whatever else is in there.

    One zip file in it, beside no notebook, is opened as well; inner: it is that one.
    """
    files, books, about, left = {}, [], None, MOST_MB * 10**6
    entries = [info for info in archive.infolist() if not info.is_dir() and not _is_litter(info)]
    if len(entries) > MOST_FILES:
        raise Refused(say("hand_in.many", name=who.file, most=MOST_FILES))
    kinds = [PurePosixPath(info.filename).suffix for info in entries]
    if ".zip" in kinds and ".ipynb" not in kinds:
        return _open_inner(
            who, archive, entries[kinds.index(".zip")], inner or kinds.count(".zip") > 1
        )
    for info in sorted(entries, key=_depth):
        place = PurePosixPath(info.filename)
        if not _safe(info.filename):
            who.notes.append(say("hand_in.unsafe", name=f"{who.file}: {_shown(info.filename)}"))
        elif place.suffix == ".ipynb" or place.name == LIST or _is_kind(place.name):
            data = _bytes(archive, info, f"{who.file}: {_shown(info.filename)}", left)
            left -= len(data)
            if place.suffix == ".ipynb":
                books.append((info, data))
            elif place.name == LIST:
                about = about or data
            elif place.name in files or not _is_name(place.name):
                key = "same_file" if place.name in files else "odd_name"
                who.notes.append(say(f"hand_in.{key}", name=_shown(info.filename)))
            else:
                files[place.name] = data
    some = _notebooks(who, books)
    _compare(some, about, files | {PurePosixPath(i.filename).name: d for i, d in books[::-1]})
    for one in some:
        one.files |= files
    return some


def _open_inner(who, archive, info, refused):
    """Read the zip file in a zip file; refused: it is one of several, or in such a one itself."""
    if refused:
        raise Refused(say("hand_in.zip_in_zip", name=who.file))
    data = _bytes(archive, info, f"{who.file}: {_shown(info.filename)}")
    with zipfile.ZipFile(BytesIO(data)) as inner:
        return _open_pack(who, inner, inner=True)


def _depth(info):
    return len(PurePosixPath(info.filename).parts)


def _notebooks(who, books):
    """Return a `_Found` for each lab that there is a notebook of; books: [(entry, bytes), …].

    Of several the one in which something was done comes first, then the outermost, then what is
    called as the lab, then the newest.
    """
    best, refusals = {}, []
    for info, data in books:
        try:
            notebook = parse(data, f"{who.file}: {_shown(info.filename)}")
        except Refused as refused:
            refusals.append(refused)
            continue
        if lab := lab_of(notebook):
            named = PurePosixPath(info.filename).name != f"{lab}.ipynb"
            age = [-number for number in info.date_time]
            rank = is_untouched(notebook), _depth(info), named, age
            told = rank, info.filename, student_of(notebook), rules_in(notebook, lab), data
            best[lab] = min(best.get(lab, told), told)
    if not best:
        raise refusals[0] if refusals else Refused(say("hand_in.foreign", name=who.file))
    some = []
    for lab, (_, name, number, rules, data) in best.items():
        notes, others = list(who.notes), [i.filename for i, _ in books if i.filename != name]
        if others and len(best) == 1:
            words = {"name": _shown(name), "others": _shown(", ".join(others))}
            notes.append(say("hand_in.other_notebooks", **words))
        mine = replace(who, number=number, rules=rules, notes=notes)
        some.append(_Found(mine, lab, {f"{lab}.ipynb": data}))
    return some


def _compare(some, about, files):
    """Take the number of a pack's list, and say where its files are no longer those of the list."""
    if about is None:
        return
    try:
        told = json.loads(about)
        number, digest = told.get("student"), told["hash"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        number = digest = None
    same = digest == hash_of({name: sha256(data).hexdigest() for name, data in files.items()})
    for one in some:
        if isinstance(number, (str, int)):
            one.who.number = one_line(number).strip()[:MOST_NAME] or one.who.number
        if not same:
            one.who.notes.append(say("hand_in.changed_since"))


# ---------------------------------------------------------------- one hand-in a student


def _one_lab(path, found):
    count = Counter(one.lab for one in found if one.lab)
    if not count:
        raise ValueError(f"{path}: no notebook of a lab in it")
    lab, most = count.most_common(1)[0]
    if 2 * most <= count.total():
        labs = ", ".join(f"{lab} ({n})" for lab, n in sorted(count.items()))
        raise ValueError(f"{path}: notebooks of {labs}: say which with --lab")
    return lab


def _by_student(found, lab):
    """Return one `_Found` a student, and lines on what is to be looked at."""
    students, problems = {}, []
    for one in found:
        students.setdefault(one.who.student, []).append(one)
    chosen = [_newest(mine, lab) for mine in students.values()]
    numbers = {}
    for who in (one.who for one in chosen):
        numbers.setdefault(who.number, []).append(who)
    for who in (one.who for one in chosen):
        others = [other.name for other in numbers[who.number] if other is not who]
        if who.number and others:
            others = ", ".join([*others[:5], "…"] if len(others) > 5 else others)
            who.of_others.append(say("hand_in.same_number", number=who.number, others=others))
        if notes := [note for note in (who.problem, *who.notes, *who.of_others) if note]:
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
    del notes[MOST_NOTES:]
    chosen, files = (right or wrong or beside)[-1], {}
    who = chosen.who
    if not right:
        who.problem, who.notes = "; ".join(notes) or say("hand_in.foreign", name=who.file), []
    else:
        for one in [*beside, chosen]:
            files |= one.files
        if len(right) > 1:
            others = _shown(", ".join(one.who.file for one in right[:-1]))
            words = {"count": len(right), "name": who.file, "others": others}
            notes.append(say("hand_in.several_files", **words))
            if who.lms == "plain" and len({one.who.hash for one in right}) > 1:
                notes.append(say("hand_in.look_number", number=who.number, **words))
        who.notes = [*who.notes[:MOST_NOTES], *notes]
    chosen.files, who.late = files, any(one.who.late for one in right or mine)
    hashes = sorted(sha256(zlib.decompress(data)).hexdigest() for data in files.values())
    who.hash = sha256("".join(hashes).encode()).hexdigest()
    return chosen


def _put(one, folder):
    """Write one hand-in, unless what is there is newer.

    Returns a line about it, "" where nothing is there that can be graded.
    """
    who, old = one.who, read_record(folder)
    line = [say("hand_in.taken", who=_label(who), name=who.file)]
    if old and who.problem and not old.problem:
        return "; ".join([*line, who.problem, say("hand_in.kept_good")])
    if old and old.hash == who.hash and old.problem == who.problem:
        line.append(say("hand_in.unchanged"))
        if who.order[:3] == old.order[:3] and who != old:  # what is said of it: is it late?
            _write_record(who, folder)
    elif old and old.order[:3] > who.order[:3] and not old.problem:
        line.append(say("hand_in.kept"))
    else:
        line += [say("hand_in.replaced")] if old else []
        line += [say("hand_in.late")] if who.late else []
        _write(one, folder)
    return "" if who.problem else "; ".join(line)


def _write_record(who, folder):
    """Write what is said of a hand-in."""
    text = json.dumps(asdict(who), indent=1, ensure_ascii=False)
    write_text(folder / RECORD, text + "\n")


def _write(one, folder):
    """Write a hand-in in place of an older one: all of it or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent) as part:
        new = Path(part, "new")
        new.mkdir()
        for name, data in one.files.items():
            (new / name).write_bytes(zlib.decompress(data))
        _write_record(one.who, new)
        if folder.exists():
            move(folder, Path(part, "old"))
        move(new, folder)


def read_record(folder):
    """Return the `HandIn` of a student's folder, None where it was not collected by us."""
    return read_noted(HandIn, Path(folder) / RECORD)


def read_noted(kind, path):
    """Return the record of a kind that a file holds, None for another file or none."""
    try:
        return kind(**read_json(path, NOTED))
    except (ValueError, TypeError):
        return None
