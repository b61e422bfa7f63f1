"""Handing in: what a pack holds and refuses; what a download holds, in odd names and damaged."""

import hashlib
import io
import json
import os
import zipfile
from types import SimpleNamespace

import handins
import hostile_handins
import pytest

from lib2048.cli import main
from lib2048.course import labs
from lib2048.course.labs import exercise, seeds
from lib2048.course.labs import pack as packing
from lib2048.course.labs.collect import collect, read_record
from lib2048.course.labs.grading import read_graded
from lib2048.course.labs.notebook import lab_of, not_attempted, student_of
from lib2048.course.labs.pack import pack

# ---------------------------------------------------------------- what a notebook says


def test_a_notebook_says_its_lab_and_whose_it_is():
    notebook = handins.solution("S 12")
    assert lab_of(notebook) == "hw01" == lab_of(handins.untouched())
    for cell in notebook["cells"]:
        cell["id"] = "x"  # an editor that makes its own
    assert lab_of(notebook) == "hw01"  # by its title
    assert lab_of({"cells": [], "metadata": {}}) is None


@pytest.mark.parametrize(
    "line, number",
    {
        'STUDENT = "s77"  # yours': "s77",
        "STUDENT = '4711'": "4711",
        "STUDENT = 4711": "4711",
        "STUDENT = '4711';": "4711",
        'STUDENT = " 12-34 Ada "': "12-34 Ada",
        'STUDENT = "0000"': "",
        'STUDENT = ""': "",
        "student = 7": "",
    }.items(),
)
def test_the_student_is_what_the_line_of_code_says(line, number):
    notebook = handins.untouched("s1")
    [cell] = [cell for cell in notebook["cells"] if "STUDENT = " in "".join(cell["source"])]
    cell["source"] = f"import os\n{line}\nx = 1"
    assert student_of(notebook) == number


def test_what_is_not_attempted():
    functions, answers = not_attempted(handins.untouched())
    assert functions == ["slide_row", "slide", "legal_actions", "spawn", "play"]
    assert answers == ["prediction", "who-scores-more"]
    assert not_attempted(handins.solution()) == ([], [])
    doubled, mine = handins.untouched(), handins.filled(prediction="Snake, since it waits.")
    right = [handins.cell(mine, name) for name in ("slide_row", "prediction")]
    own = handins.cell(mine, "play") | {"metadata": {}}
    doubled["cells"] = [*right, *doubled["cells"], own]
    functions, answers = not_attempted(doubled)
    assert functions == ["slide", "legal_actions", "spawn"] and answers == ["who-scores-more"]


# ---------------------------------------------------------------- pack


def store(folder, notebook, name="hw01.ipynb"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(handins.data(notebook))
    return folder


def test_a_pack_holds_the_notebook_what_lies_beside_it_and_hashes(tmp_path):
    folder = store(tmp_path / "mine", handins.solution("s1"))
    (folder / "curve.csv").write_text("games,score\n1,2\n")
    (folder / "report.md").write_text("# Report\n")
    (folder / "secret.txt").write_text("not this")
    done = pack("hw01", folder, tmp_path / "out.zip")
    with zipfile.ZipFile(done.path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(held.pop("manifest.json"))
    assert sorted(held) == done.files == ["curve.csv", "hw01.ipynb", "report.md"]
    assert about["files"] == {n: hashlib.sha256(d).hexdigest() for n, d in held.items()}
    assert (about["lab"], about["student"]) == ("hw01", "s1") == ("hw01", done.student)
    assert done.missing == [] and "Nothing is missing" in str(done)


def test_a_pack_says_what_is_missing(tmp_path, monkeypatch, capsys):
    folder = store(tmp_path / "mine", handins.untouched("s1"))
    lab = SimpleNamespace(HAND_IN=("report", "curve", "config"), EXERCISES=[])
    monkeypatch.setattr(exercise, "_module", lambda name: lab)
    monkeypatch.chdir(tmp_path)
    assert main(["labs", "pack", "hw01", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == "hw01-s1.zip"
    told = " ".join(found["missing"])
    assert "Not attempted: slide_row, slide" in told and "No answer yet: prediction" in told
    for words in ("No report", "No curve", "No config"):
        assert words in told


def lost(kind):
    """Return a notebook of which something is lost."""
    notebook = handins.filled("s1")
    if kind == "notes":
        cells = [cell | {"metadata": {}} for cell in notebook["cells"]]
        return notebook | {"cells": cells}
    if kind == "check":
        cells = [cell for cell in notebook["cells"] if handins.grade_id(cell) != "slide-rows"]
        return notebook | {"cells": cells}
    text = {"syntax": "def slide_row(row):\n    return row +\n", "function": "%pip list"}[kind]
    return handins.filled("s1", slide_row=text)


LOST = {
    "notes": "Your editor has dropped",
    "check": "not in the notebook any more: hw01.slide (rows).",
    "syntax": "the cell that defines `slide_row` (SyntaxError: invalid syntax, line 2)",
    "function": "No cell defines: slide_row.",
}


@pytest.mark.parametrize("kind, words", LOST.items())
def test_a_pack_says_what_an_editor_or_a_slip_has_lost(tmp_path, kind, words):
    done = pack("hw01", store(tmp_path / "mine", lost(kind)), tmp_path / "out.zip")
    assert words in " ".join(done.missing) and len(done.missing) == 1 and done.path.exists()


def test_a_notebook_too_large_with_its_pictures_is_packed_without(tmp_path, monkeypatch):
    notebook = handins.solution()
    noise = hashlib.shake_256(b"noise").hexdigest(150_000)
    shown = {"output_type": "display_data", "data": {"image/png": noise}, "metadata": {}}
    handins.cell(notebook, "slide_row")["outputs"] = [shown]
    folder = store(tmp_path / "mine", notebook)
    monkeypatch.setattr(packing, "MOST_MB", 0.1)
    done = pack("hw01", folder, tmp_path / "out.zip")
    assert done.path.stat().st_size < 100_000 and "without what its cells showed" in str(done)


def refusals(tmp_path):
    """Yield (words of the refusal, arguments) of hand-ins that are refused."""
    empty, other, nobody = tmp_path / "empty", tmp_path / "other", tmp_path / "nobody"
    empty.mkdir()
    yield "no notebook of hw01", ["hw01", empty]
    yield "no such folder", ["hw01", tmp_path / "nowhere"]
    store(nobody, handins.untouched("0000"))
    yield "does not say whose it is", ["hw01", nobody]
    foreign = handins.solution() | {"metadata": {"lib2048": {"lab": "hw03"}}}
    store(other, foreign)
    yield "a notebook of hw03, not of hw01", ["hw01", other]
    (empty / "hw01.ipynb").write_text('{"cells": [1]')
    yield "damaged", ["hw01", empty]
    two = store(tmp_path / "two", handins.solution(), "a.ipynb")
    store(two, handins.solution(), "b.ipynb")
    yield "several notebooks of hw01 (a.ipynb, b.ipynb)", ["hw01", two]
    large = store(tmp_path / "large", handins.solution())
    (large / "report.pdf").write_bytes(hashlib.shake_256(b"pages").digest(5_100_000))
    yield "report.pdf alone takes 5.1 MB", ["hw01", large]
    bulky = store(tmp_path / "bulky", handins.solution())
    for name in ("a.csv", "b.csv"):
        (bulky / name).write_bytes(bytes(11_000_000))  # a small zip file, which no collect takes
    yield "22.0 MB, and 20 MB is the most: a.csv alone takes 11.0 MB", ["hw01", bulky]
    yield "is a folder: name a file", ["hw01", large, "--out", large, "--student", "1"]
    yield "invalid choice: 'hw99'", ["hw99", large]


def test_the_newest_run_of_afterstates_is_packed(tmp_path):
    folder = store(tmp_path / "desk", handins.solution("s1"))
    forms = {"a": "afterstate", "b": "afterstate", "c": "state"}
    for age, (name, form) in enumerate(forms.items()):
        run = folder / "runs" / name
        run.mkdir(parents=True)
        (run / "config.json").write_text(json.dumps({"form": form}))
        (run / "history.csv").write_text(name)
        os.utime(run / "history.csv", (age, age))
    done = pack("hw01", folder, tmp_path / "out.zip")
    assert done.files == ["config.json", "history.csv", "hw01.ipynb"]
    with zipfile.ZipFile(done.path) as archive:
        assert archive.read("history.csv") == b"b"


def test_what_pack_refuses(tmp_path, one_line_error):
    for words, arguments in refusals(tmp_path):
        if "is a folder" in words:
            (tmp_path / "large" / "report.pdf").unlink()
        out = [] if "--out" in arguments else ["--out", tmp_path / "out.zip"]
        assert words in one_line_error("labs", "pack", *arguments, *out)
        assert not (tmp_path / "out.zip").exists()


# ---------------------------------------------------------------- collect

NOTEBOOK = handins.data(handins.solution("n1"))


def packed(tmp_path, notebook, student="n1", **beside):
    folder = store(tmp_path / f"desk-{student}", notebook)
    for name, content in beside.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    return pack("hw01", folder, folder / "out.zip", student).path.read_bytes()


def taken(course):
    """Return {student: names of the notebook's files} of what was collected."""
    found = {}
    for record in sorted((course / "submitted").glob("*/hw01/collected.json")):
        files = sorted(p.name for p in record.parent.iterdir() if p != record)
        found[record.parent.parent.name] = files
    return found


def record(course, student):
    return read_record(course / "submitted" / student / "hw01")


@pytest.mark.parametrize("notes", [5, "late", ["late", 5]])
def test_a_record_whose_notes_are_no_texts_is_none(tmp_path, notes):
    about = {"student": "1", "name": "A", "lms": "moodle", "file": "f", "order": [1, "x"]}
    for right in (["late"], notes):
        (tmp_path / "collected.json").write_text(json.dumps(about | {"notes": right}))
        (tmp_path / "graded.json").write_text(json.dumps({"student": "1", "notes": right}))
        for found in (read_record(tmp_path), read_graded(tmp_path)):
            assert found is None if right == notes else found.notes == ["late"]


def test_one_pack_alone_is_a_hand_in(tmp_path):
    path = tmp_path / "hw01-n1.zip"
    path.write_bytes(packed(tmp_path, handins.solution("n1"), report_md=b"# mine"))
    done = collect(path, tmp_path)
    assert (done["students"], done["problems"], done["failed"]) == (1, [], 0)
    assert taken(tmp_path) == {"n1": ["hw01.ipynb", "report.md"]}


def test_a_moodle_download(tmp_path):
    pack_ = packed(tmp_path, handins.solution("n1"), report_md=b"# mine")
    path = handins.download(
        tmp_path / "moodle.zip",
        [
            ("Ada Lovelace_101_assignsubmission_file_/hw01.zip", pack_),
            ("Bo O'Neill-Ünal_102_assignsubmission_file_/Untitled3 (1).ipynb", NOTEBOOK),
            ("Bo O'Neill-Ünal_102_assignsubmission_file_/Report.PDF", b"%PDF"),
            ("Cy_Underscore_103_assignsubmission_file_final version.zip", pack_),
            ("Di Four_104_assignsubmission_file/deep/hw01.zip", pack_),
            ("__MACOSX/Ada Lovelace_101_assignsubmission_file_/._hw01.zip", b"x"),
        ],
    )
    done = collect(path, tmp_path)
    assert taken(tmp_path) == {
        "101": ["hw01.ipynb", "report.md"],
        "102": ["Report.PDF", "hw01.ipynb"],
        "103": ["hw01.ipynb", "report.md"],
        "104": ["hw01.ipynb", "report.md"],
    }
    assert record(tmp_path, "102").name == "Bo O'Neill-Ünal"
    assert record(tmp_path, "103").name == "Cy_Underscore"
    assert done["students"] == 4 and record(tmp_path, "101").lms == "moodle"
    assert (tmp_path / "submitted/102/hw01/hw01.ipynb").read_bytes() == NOTEBOOK


def test_a_canvas_download_with_late_and_second_attempts(tmp_path):
    old, new = handins.solution("n1"), handins.changed("n1", slide="def slide(b, a): pass")
    path = handins.download(
        tmp_path / "canvas.zip",
        [
            ("lovelaceada_LATE_11_901_hw01-2.zip", packed(tmp_path, new)),
            ("lovelaceada_11_901_hw01.zip", packed(tmp_path, old)),
            ("lovelaceada_11_901_hw01-1.zip", packed(tmp_path, old)),
            ("neillbo_12_900_my_home_work.ipynb", handins.data(handins.solution("n2"))),
        ],
    )
    done = collect(path, tmp_path)
    assert sorted(taken(tmp_path)) == ["11", "12"]
    assert record(tmp_path, "11").late and not record(tmp_path, "12").late
    notebook = json.loads((tmp_path / "submitted/11/hw01/hw01.ipynb").read_text())
    assert handins.cell(notebook, "slide")["source"] == "def slide(b, a): pass"
    [line] = done["problems"]
    assert "3 hand-ins, the newest taken (hw01-2.zip), not hw01.zip, hw01-1.zip" in line


def test_of_two_moodle_files_the_later_is_taken_whatever_its_place(tmp_path):
    new, old = (handins.data(handins.solution(student)) for student in ("new", "old"))
    entries = ("Ada_101", "b.ipynb", new, "12:05"), ("Ada_101", "a.ipynb", old, "12:01")
    collect(handins.moodle(tmp_path / "x.zip", *entries), tmp_path, due="2026-03-01 12:02")
    assert record(tmp_path, "101").number == "new" and record(tmp_path, "101").late


def test_a_date_that_is_moved_counts_for_what_was_collected(tmp_path):
    new = handins.data(handins.solution("new"))
    path = handins.moodle(tmp_path / "x.zip", ("Ada_101", "b.ipynb", new, "12:05"))
    for due, late in ((None, False), ("2026-03-01 12:02", True), ("2026-03-01 12:09", False)):
        collect(path, tmp_path, due=due)
        assert record(tmp_path, "101").late == late


def test_damaged_foreign_and_wrong_files_are_told_and_stop_nobody(tmp_path):
    good = packed(tmp_path, handins.solution("n1"))
    wrong = handins.solution("n6") | {"metadata": {"lib2048": {"lab": "hw03"}}}
    path = handins.moodle(
        tmp_path / "class.zip",
        ("Ada_101", "hw01.zip", good),
        ("Bo_102", "hw01.zip", good[: len(good) // 2]),
        ("Cy_103", "holiday.jpg", b"\xff\xd8\xff"),
        ("Di_104", "hw01.ipynb", b""),
        ("Ed_105", "hw01.ipynb", b'{"cells": "none"}'),
        ("Flo_106", "hw03.ipynb", handins.data(wrong)),
        ("Gus_107", "hw01.zip", good[:-40] + b"\0" * 40),
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", b"by hand")
    done = collect(path, tmp_path, "hw01")
    assert sorted(taken(tmp_path)) == ["101", "102", "103", "104", "105", "106", "107"]
    problems = {student: record(tmp_path, student).problem for student in taken(tmp_path)}
    assert problems["101"] == "" and taken(tmp_path)["102"] == []
    assert all("damaged" in problems[student] for student in ("102", "104", "105", "107"))
    assert "no hand-in" in problems["103"] and "belongs to hw03" in problems["106"]
    assert any("readme.txt is no hand-in" in line for line in done["problems"])
    assert len(done["problems"]) == 7


def test_a_path_that_leads_out_is_refused_and_writes_nothing(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("hw01.ipynb", NOTEBOOK)
        for out in ("../../../evil.csv", "/evil.csv", "C:\\evil.csv"):
            archive.writestr(out, "x")
    path = handins.moodle(
        tmp_path / "class.zip",
        ("Ada_101", "hw01.zip", inner.getvalue()),
        ("../Bo_102", "hw01.ipynb", NOTEBOOK),
        ("/Cy_103", "hw01.ipynb", NOTEBOOK),
    )
    before = sorted(tmp_path.parent.rglob("*.csv"))
    done = collect(path, tmp_path / "course")
    assert taken(tmp_path / "course") == {"101": ["hw01.ipynb"]}
    assert sum("leads out of the folder" in line for line in done["problems"]) == 3
    assert sorted(tmp_path.parent.rglob("*.csv")) == before


def test_packs_from_elsewhere_go_by_the_students_own_number(tmp_path):
    nobody, mine = handins.untouched("0000"), packed(tmp_path, handins.solution("x"), "S 77")
    entries = [("a/one.zip", mine), ("nobody.ipynb", handins.data(nobody))]
    path = handins.download(tmp_path / "mails.zip", entries)
    done = collect(path, tmp_path)
    assert list(taken(tmp_path)) == ["S-77"] and record(tmp_path, "S-77").lms == "plain"
    assert "does not say whose it is" in done["problems"][0]


def test_one_number_in_two_hand_ins_is_told(tmp_path):
    both = [(who, "hw01.ipynb", NOTEBOOK) for who in ("Ada_101", "Bo_102")]
    path = handins.moodle(tmp_path / "x.zip", *both)
    collect(path, tmp_path)
    assert record(tmp_path, "101").of_others == ["the student number n1 is also that of Bo"]


def test_a_second_download_replaces_the_older_and_keeps_the_newer_and_the_good(tmp_path):
    def once(content, when):
        other = ("Bo_102", "hw01.ipynb", NOTEBOOK)
        path = handins.moodle(tmp_path / "x.zip", ("Ada_101", "hw01.ipynb", content, when), other)
        return collect(path, tmp_path)["taken"][0], record(tmp_path, "101").number

    assert once(handins.data(handins.solution("v1")), "12:00")[1] == "v1"
    assert "already here" in once(handins.data(handins.solution("v1")), "12:00")[0]
    line, number = once(handins.data(handins.solution("v2")), "12:10")
    assert "takes the place" in line and number == "v2"
    line, number = once(handins.data(handins.solution("v1")), "12:00")
    assert "newer and stays" in line and number == "v2"
    line, number = once(b"{", "12:20")
    assert "which can be read, stays" in line and number == "v2"


def test_a_pack_changed_by_hand_is_told(tmp_path):
    good = io.BytesIO(packed(tmp_path, handins.solution("n1")))
    with zipfile.ZipFile(good, "a") as archive:
        archive.writestr("curve.csv", "made,up\n")
    path = handins.moodle(tmp_path / "x.zip", ("Ada_101", "hw01.zip", good.getvalue()))
    done = collect(path, tmp_path)
    assert "changed after packing" in done["problems"][0]


def test_what_collect_refuses(tmp_path, one_line_error):
    (tmp_path / "x.zip").write_bytes(b"no zip")
    into = ("--into", tmp_path / "course")
    assert "not a zip file" in one_line_error("labs", "collect", tmp_path / "x.zip", *into)
    assert "no such file" in one_line_error("labs", "collect", tmp_path / "y.zip", *into)
    other = handins.solution() | {"metadata": {"lib2048": {"lab": "hw03"}}}
    both = [("Ada_101", "a.ipynb", NOTEBOOK), ("Bo_102", "a.ipynb", handins.data(other))]
    both = handins.moodle(tmp_path / "both.zip", *both)
    said = one_line_error("labs", "collect", both, *into)
    assert "notebooks of hw01 (1), hw03 (1): say which with --lab" in said
    none = handins.download(tmp_path / "none.zip", [("a.txt", b"x")])
    assert "no notebook of a lab" in one_line_error("labs", "collect", none, *into)
    assert "Invalid isoformat" in one_line_error("labs", "collect", both, *into, "--due", "soon")
    assert not (tmp_path / "course").exists()


def test_hostile_hand_ins_of_every_kind_stop_hide_and_delay_no_other(tmp_path):
    kinds = [*hostile_handins.FILES]
    some = hostile_handins.a_class(1, 2 * len(kinds), kinds)
    assert hostile_handins.collected(some, tmp_path)[1] == []


def by_number(tmp_path, *numbers):
    """Collect hand-ins that no LMS names; return {student: number} and what was said."""
    books = [(f"{n}.ipynb", hostile_handins.by(said)) for n, said in enumerate(numbers)]
    done = collect(handins.download(tmp_path / "mails.zip", books), tmp_path / "course")
    return {
        who: record(tmp_path / "course", who).number for who in taken(tmp_path / "course")
    }, done


def test_numbers_that_are_no_names_vanish_not_and_different_ones_stay_apart(tmp_path):
    found, done = by_number(tmp_path, "S 7", "S-7", "s-7", "?", "...", "CON", "../../x", "0000")
    assert sorted(found.values()) == sorted(["S 7", "S-7", "s-7", "?", "...", "CON", "../../x"])
    assert len({name.casefold() for name in found}) == 7 and found["S-7"] == "S-7"
    assert {"CON", "con"}.isdisjoint(found)
    assert done["problems"] == ["7.ipynb does not say whose it is: refused"] and done["failed"] == 1


def test_two_files_of_one_number_that_no_lms_names_are_for_a_person(tmp_path):
    found, done = by_number(tmp_path, "5001", "５００１", "5002")
    assert found == {"5001": "5001", "5002": "5002"} and done["failed"] == 1
    assert "For a person to look at: 2 different files say that they are by 5001" in str(done)
    assert "For a person" in " ".join(record(tmp_path / "course", "5001").notes)


def test_a_files_name_makes_nobody_another(tmp_path):
    entries = [
        ("ada_11_901_Bo_12_assignsubmission_file_hw01.ipynb", NOTEBOOK),
        ("Cy_103_assignsubmission_file_Di_104_assignsubmission_file_hw01.ipynb", NOTEBOOK),
        ("Ed_105_assignsubmission_file_/flo_106_907_hw01.ipynb", NOTEBOOK),
        ("gus_" + "9" * 5000 + "_1_hw01.ipynb", NOTEBOOK),
    ]
    collect(handins.download(tmp_path / "x.zip", entries), tmp_path)
    assert list(taken(tmp_path)) == ["103", "105", "11", "n1"]


def test_one_notebook_of_another_lab_stops_no_class(tmp_path):
    other = handins.data(handins.solution() | {"metadata": {"lib2048": {"lab": "hw03"}}})
    entries = [(f"A_{n}", "a.ipynb", NOTEBOOK if n > 1 else other) for n in range(1, 4)]
    done = collect(handins.moodle(tmp_path / "x.zip", *entries), tmp_path)
    assert (done["lab"], done["failed"], len(done["taken"])) == ("hw01", 1, 2)
    assert "A (1): a.ipynb belongs to hw03, not to hw01" in done["problems"]


def test_the_status_says_that_something_was_not_taken(tmp_path, capsys):
    for content, status in ((b"{", 1), (handins.data(handins.solution("n2")), 0)):
        both = ("Ada_101", "a.ipynb", NOTEBOOK), ("Bo_102", "b.ipynb", content)
        path = handins.moodle(tmp_path / "x.zip", *both)
        command = ["labs", "collect", str(path), "--into", str(tmp_path / "course")]
        assert main(command) == status
        said = capsys.readouterr().out.splitlines()
        assert ("Not taken: 1, see above." in said) == bool(status) and "2 students" in said[-1]
        assert sum("Bo (102)" in line for line in said) == 1


def test_a_place_that_takes_nothing_is_the_loss_of_one(tmp_path):
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "101").write_text("a file")
    both = [(who, "hw01.ipynb", NOTEBOOK) for who in ("Ada_101", "Bo_102")]
    done = collect(handins.moodle(tmp_path / "x.zip", *both), tmp_path)
    assert list(taken(tmp_path)) == ["102"] and done["failed"] == 1
    assert any("Ada (101): hw01.ipynb: not taken" in line for line in done["problems"])


FIFOS = {  # what is a fifo, and the command that meets it
    "player.py": ["check", "hw01", "player.py"],
    "class.zip": ["collect", "class.zip", "--into", "course"],
    "hw01.ipynb": ["pack", "hw01", "hw01.ipynb", "--student", "1"],
    "other.ipynb": ["pack", "hw01", ".", "--student", "1"],
    "runs/a/history.csv": ["pack", "hw02", ".", "--student", "1"],
    "course/course.toml": ["generate", "hw01", "course"],
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos, where there are such")
@pytest.mark.parametrize("name, words", FIFOS.items())
def test_a_fifo_holds_up_no_command_of_labs(tmp_path, monkeypatch, one_line_error, name, words):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    one_line_error("labs", *words)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos, where there are such")
def test_messages_of_ones_own_are_a_plain_file(tmp_path, refused):
    os.mkfifo(tmp_path / "mine.toml")
    refused(lambda: labs.translate(tmp_path / "mine.toml"), "is no plain file")


# ---------------------------------------------------------------- functions in a plain file

PLAYER = """
from helpers import packed

print("this file says hello")

def slide_row(row):
    tiles, reward = packed(row), 0
    for at in range(len(tiles) - 1, 0, -1):
        pass
    return tiles + [0] * (len(row) - len(tiles)), reward

legal_actions = lambda board: [0, 1, 2, 3]

if __name__ == "__main__":
    raise SystemExit("not when it is checked")
"""


def test_a_players_file_is_checked_without_jupyter(tmp_path, capsys):
    (tmp_path / "helpers.py").write_text("def packed(row):\n    return [x for x in row if x]\n")
    (tmp_path / "player.py").write_text(PLAYER)
    assert main(["labs", "check", "hw01", str(tmp_path / "player.py"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    status = {check["name"]: check["status"] for check in found["checks"]}
    assert status == {
        "hw01.slide_row": "failed",
        "hw01.slide": "not attempted",
        "hw01.legal_actions": "failed",
        "hw01.spawn": "not attempted",
        "hw01.play": "not attempted",
    }
    assert "All four actions are called legal" in str(found)
    assert main(["labs", "check", "hw01", str(tmp_path / "player.py"), "--only", "slide"]) == 0
    assert capsys.readouterr().out.count("hw01.") == 1  # not attempted: nothing failed


def test_a_players_file_that_does_not_run_is_refused_once(tmp_path, one_line_error, monkeypatch):
    monkeypatch.setattr("lib2048.course.labs.checks.SECONDS", 0.5)
    for text, words in {
        "while True:\n    pass\n": "took longer than 0.5 s",
        "import not_there\n": "No module named 'not_there' (in <module>: import not_there)",
        "1 / 0\n": "ZeroDivisionError: division by zero",
    }.items():
        (tmp_path / "player.py").write_text(text)
        assert words in one_line_error("labs", "check", "hw01", tmp_path / "player.py")


def test_a_file_that_is_no_python_is_refused(tmp_path, one_line_error):
    (tmp_path / "player.py").write_text("def slide_row(row)\n    return row\n")
    said = one_line_error("labs", "check", "hw01", tmp_path / "player.py")
    assert "player.py, line 1: expected ':'" in said
    assert "no Python file" in one_line_error("labs", "check", "hw01", tmp_path / "none.py")
    for text in ("x = " + "-" * 100_000 + "1", "x" + ".a" * 100_000, "#" * 2_000_000):
        (tmp_path / "player.py").write_text(text)
        assert "no Python file" in one_line_error("labs", "check", "hw01", tmp_path / "player.py")
    (tmp_path / "player.py").write_bytes(b"\xff\xfe\x00")
    assert "no Python file" in one_line_error("labs", "check", "hw01", tmp_path / "player.py")


# ---------------------------------------------------------------- seeds


def test_a_variant_is_the_students_own_and_stays():
    mine = labs.variant("S 123", 7)
    assert mine == labs.variant("s123", 7) != labs.variant("s124", 7)
    assert mine.number("bugs", 10**9) == 257337028  # on every machine
    assert len({labs.variant(f"s{n}", 7).number("tuples", 10**6) for n in range(100)}) == 100
    assert len({labs.variant("s123", n).number("tuples", 10**6) for n in range(100)}) == 100
    shares = [labs.variant(n, 1).number("coin", 2) for n in range(1000)]
    assert 400 < sum(shares) < 600


def test_a_variant_chooses_different_ones():
    for student in range(50):
        chosen = labs.variant(student, 3).choose("bugs", "abcde", 3)
        assert len(set(chosen)) == 3 and set(chosen) <= set("abcde")
    firsts = {labs.variant(student, 3).choose("bugs", "abcde", 3)[0] for student in range(50)}
    assert firsts == set("abcde")


def test_where_seeds_come_from(monkeypatch, tmp_path):
    for name in ("LIB2048_CLASS_SEED", "LIB2048_LAB_SEED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(seeds, "CLASS_FILE", tmp_path / "class.toml")
    assert (seeds.class_seed(), seeds.lab_seed()) == (2048, 2048)
    (tmp_path / "class.toml").write_text("seed = 11\n")
    assert (seeds.class_seed(), seeds.lab_seed()) == (11, 11)
    assert labs.variant("a") == labs.variant("a", 11)
    monkeypatch.setenv("LIB2048_CLASS_SEED", "12")
    assert (seeds.class_seed(), seeds.lab_seed()) == (12, 12)
    monkeypatch.setenv("LIB2048_LAB_SEED", "13")
    assert (seeds.class_seed(), seeds.lab_seed()) == (12, 13)
    monkeypatch.setenv("LIB2048_LAB_SEED", "x")
    with pytest.raises(ValueError, match="LIB2048_LAB_SEED='x': a seed is a whole number"):
        seeds.lab_seed()
