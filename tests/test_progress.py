"""What is the reader's own: predictions, copies of the notebooks, and how far they have come."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from lib2048 import Network, plot, record_game, train
from lib2048.cli import main
from lib2048.course import labs, mark_prediction, own_game, predict, predicted, predictions
from lib2048.course.labs import hw01
from lib2048.course.labs.exercise import find, of_lab
from lib2048.course.labs.passed import is_passed
from lib2048.course.reader import copies, jupyter_settings
from lib2048.course.reader import folder as mine
from lib2048.course.reader import progress as room
from lib2048.machine import terminal
from lib2048.machine.printed import thousands
from lib2048.train.history import History

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def reader(tmp_path, monkeypatch):
    """Be a reader with nothing of their own yet; return the folder that will be theirs."""
    monkeypatch.setenv("LIB2048_MY", str(tmp_path / "mine"))
    monkeypatch.delenv("LIB2048_QUICK", raising=False)
    monkeypatch.setattr(predictions, "_unkept", {})
    terminal.say.cache_clear()  # each test hears its own line
    yield tmp_path / "mine"
    plt.close("all")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Stand in the folder of a small course: two lessons and a lab; return the folder."""
    monkeypatch.delenv("LIB2048_MY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # nobody has guessed elsewhere
    folder = tmp_path / "course"
    lesson(folder / "notebooks/00_start_here.ipynb", "# 00 · Start here: who?", ["1 + 1", "2"])
    asks = ['predict("06.1", None)', 'x = predict(\n    "06.2", None)\npredicted("06.1")']
    lesson(folder / "notebooks/06_td0.ipynb", "# 06 · TD(0): how far?", asks)
    title = "# hw01 · The rules\n\nYou need [01](../../../00_start_here.ipynb)"
    lesson(folder / "notebooks/homework/release/hw01/hw01.ipynb", title, ["pass"])
    lesson(folder / "notebooks/homework/source/hw01/hw01.ipynb", "# hw01 · solved", ["pass"])
    monkeypatch.chdir(folder)
    return folder


def lesson(path, title, codes):
    """Write a notebook that has run: its outputs hold the answers."""
    ran = {"outputs": [{"output_type": "stream", "name": "stdout", "text": "the answer"}]}
    cells = [{"cell_type": "markdown", "id": "t", "metadata": {}, "source": title}]
    for n, code in enumerate(codes):
        cell = {"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": code}
        cells.append(cell | ran | {"execution_count": n + 1})
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def record(reader):
    return json.loads((reader / "progress.json").read_text(encoding="utf-8"))


def command(capsys, *words):
    """Run the command with --json and return its answer."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# ---------------------------------------------------------------- the game of lesson 00


def test_without_a_game_of_ones_own_there_is_that_of_a_beginner(reader):
    beginner = Network("4x6")
    train(beginner, alpha=0.1, games=1000, seed=1, progress=False)
    theirs, found = record_game(beginner, seed=1), own_game()
    assert [step.board for step in found] == [step.board for step in theirs]
    assert found[-1].action is None and len(found) > 100


def test_the_game_of_lesson_00_is_found_again(reader):
    steps = record_game("greedy", seed=3)[:20]
    game = {"seed": "3", "number": 0, "start": None, "by": ""}
    for name, actions in (("00_start_here-003", steps), ("00_start_here-009", steps[:5])):
        taken = "".join(str(step.action) for step in actions)
        mine.change(
            "games", f"{name} 2048 3 None", lambda _, taken=taken: game | {"actions": taken}
        )
    for other in ("threes", "2048@3x4"):  # longer, and of another game
        mine.change(
            "games", f"00_start_here-003 {other} 3 None", lambda _: game | {"actions": "01" * 40}
        )
    found = own_game()
    assert [step.board for step in found[:-1]] == [step.board for step in steps]
    assert found[-1].action is None


# ---------------------------------------------------------------- predictions


def test_a_prediction_is_kept_with_its_time(reader, capsys):
    assert predict("06.1", 12000) == predicted("06.1") == 12000
    assert capsys.readouterr().out == "06.1: you say 12\u202f000. Now see what happens.\n"
    entry = record(reader)["predictions"]["06.1"]
    assert entry["first"] == entry["last"] and entry["last"]["value"] == 12000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", entry["last"]["when"])


def test_the_newest_counts_and_the_first_is_named(reader, capsys):
    predict("06.1", 12000)
    predict("06.1", 500)
    assert predict("06.1", 30_000) == predicted("06.1") == 30_000
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "06.1: you say 30\u202f000 (at first 12\u202f000). Now see what happens."
    assert record(reader)["predictions"]["06.1"]["first"]["value"] == 12000


def test_a_cell_that_runs_again_changes_nothing(reader, capsys):
    predict("06.1", 12000)
    before = (reader / "progress.json").read_bytes()
    predict("06.1", 12000)
    assert predict("06.1", None) == 12000
    assert (reader / "progress.json").read_bytes() == before
    assert capsys.readouterr().out.splitlines()[1:] == ["06.1: you said 12\u202f000."] * 2


def test_a_comma_in_a_number_is_told(reader, refused):
    refused(lambda: predict("06.1", 12, 000), "prediction 06.1: one number is needed")
    assert not reader.exists()


def test_nothing_predicted_invites_and_writes_nothing(reader, capsys):
    assert predict("06.1", None) is None and predicted("06.1") is None
    said = capsys.readouterr().out
    assert said.startswith("06.1 waits for your guess") and said.count("\n") == 1
    assert not reader.exists()


VALUES = [
    ("more  slowly\n", "more slowly"), (0, 0), (-4, -4), (0.25, 0.25), (np.float32(2), 2.0),
    (np.int64(7), 7), ("12 000", 12000), ("12,000", 12000), ("0.5", 0.5), ("30 %", 30),
    ("12 k", 12000), ("1.5 M points", 1_500_000), ("50 per cent", 50), ("~30%", 30), ("× 3", 3),
    ("0,5", 0.5), ("12,5", 12.5), ("−4", -4), ("1e6", 10**6), ("12k points", 12000),
    ("2 times slower", "2 times slower"), ("3 m", "3 m"), ("1.2.3", "1.2.3"),
]  # fmt: skip


@pytest.mark.parametrize("value, kept", VALUES)
def test_numbers_as_people_write_them_and_short_words(reader, value, kept):
    assert predict("A2.3", value) == kept and type(predicted("A2.3")) is type(kept)
    assert record(reader)["predictions"]["A2.3"]["last"]["value"] == kept


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**400, True, "", " ", "w" * 81, [1], {}, 1j, b"1"]
)
def test_other_values_are_refused_in_one_line(reader, refused, value):
    refused(lambda: predict("06.1", value), "prediction 06.1: a number is needed, or a few words")
    assert not reader.exists()


@pytest.mark.parametrize("name", [6.1, "6.1", " 06.1 "])
def test_a_name_may_lack_its_zero(name):
    assert predict(name, 5) == predicted("06.1") == predicted(name) == 5


def test_a_name_that_no_lesson_asks_for_is_kept_and_said(course, capsys):
    (course / "my").mkdir()
    assert predict("06.3", 5) == predicted("06.3") == 5
    said = capsys.readouterr().out
    assert said.startswith("06.3: you say 5. It is kept, though no lesson asks for it: lesson 06 ")
    assert said.endswith("asks for 06.1, 06.2.\n")
    predict("27.1", 5)
    assert "there is no lesson 27" in capsys.readouterr().out
    (course / "notebooks/06_td0.ipynb").write_text("half a noteb")
    predict("06.1", 5)
    assert "lesson 06 asks for none" in capsys.readouterr().out


def test_beside_a_result_stands_what_was_said_or_that_nothing_was():
    assert predictions.you_said("06.1", "points") == "your guess (06.1) would stand here"
    predict("06.1", 12000)
    assert predictions.you_said("06.1", "points") == "you said 12\u202f000 points"
    predict("06.1", "more slowly")
    assert predictions.you_said("06.1", "points") == "you said “more slowly”"


@pytest.mark.parametrize("name", ["06", "../06.1", None, 6, "106.1", "td0"])
def test_other_names_are_refused_in_one_line(refused, name):
    refused(lambda: predict(name, 1), 'such as "06.1"')
    refused(lambda: predicted(name), 'such as "06.1"')


DAMAGED = [b"", b"{", b"[]", b"\xff", b'{"predictions": 3}', b'{"predictions": {"06.1": 3}}']


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_record_is_left_alone_and_said_once(reader, capsys, damage):
    reader.mkdir()
    (reader / "progress.json").write_bytes(damage)
    assert predict("06.1", 5) == predicted("06.1") == predict("06.1", 5) == 5  # in this session
    told = capsys.readouterr().err
    assert told.startswith("lib2048: your record cannot be kept or read") and told.count("\n") == 1
    assert "progress.json" in told and (reader / "progress.json").read_bytes() == damage


def test_an_entry_that_lacks_its_parts_is_no_prediction(reader):
    reader.mkdir()
    (reader / "progress.json").write_text('{"predictions": {"06.1": {"last": {"value": []}}}}')
    assert predicted("06.1") is None
    assert predict("06.1", 5) == 5 and record(reader)["predictions"]["06.1"]["first"]["value"] == 5


def test_where_nothing_can_be_written_one_line_says_so(reader, capsys):
    reader.write_text("a file where the folder belongs")
    assert predict("06.1", 5) == 5 and predict("06.1", 6) == predicted("06.1") == 6
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and "(at first 5)" in said.out
    assert reader.read_text() == "a file where the folder belongs"


def test_two_writers_lose_nothing(reader):
    predict("06.1", 1)
    program = "from lib2048.course.reader import folder\n"
    program += "folder.WAIT = 60  # it is about losing, and not about patience\n"
    program += 'for n in range(20):\n    folder.change("a", f"{n}", '
    program += 'lambda old: {"value": old.get("value", 0) + 1})'
    run = [subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) for _ in range(2)]
    assert [one.wait(120) for one in run] == [0, 0]
    assert record(reader)["a"] == {f"{n}": {"value": 2} for n in range(20)}
    assert predicted("06.1") == 1 and sorted(p.name for p in reader.iterdir()) == ["progress.json"]


def test_tests_and_graders_keep_nothing(reader, monkeypatch):
    monkeypatch.setenv("LIB2048_QUICK", "1")
    assert predict("06.1", 5) == predicted("06.1") == 5
    assert not reader.exists()


def test_without_a_folder_of_copies_it_lies_in_the_users_data(course, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    predict("06.1", 5)
    assert mine.place() == tmp_path / "share" / "lib2048" / "progress.json"
    assert not (course / "my").exists()
    (course / "my" / "homework").mkdir(parents=True)
    monkeypatch.chdir(course / "my" / "homework")  # where a lab's notebook would run
    predict("06.1", 6)
    assert mine.place() == course / "my" / "progress.json" and mine.place().exists()


# ---------------------------------------------------------------- in a figure


@pytest.fixture
def ax():
    return plot.curves({"run": pd.DataFrame({"actions": [1, 2, 3], "mean": [0, 500, 1000]})})


def drawn(ax):
    return [text.get_text() for text in ax.texts], len(ax.get_lines())


def test_no_prediction_no_mark(ax):
    before = drawn(ax)
    assert mark_prediction(ax, "06.1") is ax and drawn(ax) == before


def test_a_line_that_was_drawn_stands_in_the_figure_of_the_run(ax):
    entry = {"value": 900, "when": mine.now(), "line": [[0, 0], [10, 900]]}
    predictions._unkept["06.1"] = {"first": entry, "last": entry}
    history = History()
    history.add(np.tile([0, 700, 2, 9, 0], (1000, 1)), seconds=10.0)
    history.actions = 3000
    mark_prediction(ax, "06.1", history)
    line = ax.get_lines()[-1]
    assert list(line.get_ydata()) == [0, 900]
    assert list(line.get_xdata()) == [0, history.table()[0]["actions"]]
    assert drawn(ax) == (["you said 900"], 2)


@pytest.mark.parametrize("value", [700, 1400, -300])
def test_a_number_near_the_curve_is_drawn_as_a_line(ax, value):
    predict("06.1", value)
    mark_prediction(ax, "06.1")
    assert ax.get_lines()[-1].get_ydata()[0] == value
    low, high = ax.get_ylim()
    assert low < value < high and low <= 0 and high >= 1000
    assert drawn(ax) == ([f"you said {thousands(value)}"], 2)


@pytest.mark.parametrize("value, arrow", [(10**6, "↑"), (-(10**6), "↓"), (10**17, "↑")])
def test_a_number_far_away_gets_an_arrow_and_the_curve_its_room(ax, value, arrow):
    limits = ax.get_ylim()
    predict("06.1", value)
    mark_prediction(ax, "06.1")
    assert drawn(ax) == ([f"{arrow} you said {thousands(value)}"], 1) and ax.get_ylim() == limits
    ax.figure.canvas.draw()


def test_a_number_on_a_logarithmic_axis():
    predict("06.2", -1)  # there is no such place
    frame = pd.DataFrame({"actions": [1, 2, 3], "mean": [1, 10, 100]})
    ax = plot.curves({"run": frame})
    ax.set(yscale="log", ylim=(1, 100))
    assert drawn(mark_prediction(ax, "06.2"))[0] == ["↓ you said −1"]
    predict("06.2", 300)
    low, high = mark_prediction(ax, "06.2").get_ylim()
    assert low == pytest.approx(1) and 300 < high < 1000


def test_words_stand_above_the_figure(ax):
    predict("06.1", "more slowly")
    assert mark_prediction(ax, "06.1").get_title(loc="right") == "you said “more slowly”"
    assert drawn(ax) == ([], 1)


# ---------------------------------------------------------------- exercises that were passed


def slide_row(row):
    return hw01.slide_row(row)


def half_right(row):
    return (list(row), 0) if sum(row) == 0 else ([0] * len(row), 0)


def test_a_check_keeps_what_passed_and_nothing_else(reader):
    exercise = find("hw01.slide_row")
    assert labs.check(exercise.name, half_right).status == "failed" and not reader.exists()
    assert labs.check(exercise.name, exercise.truth).status == "not attempted"
    part = next(iter(exercise.parts))
    assert labs.check(exercise.name, slide_row, part=part).passed
    assert not is_passed(exercise, record(reader)["passed"][exercise.name])
    assert labs.check(exercise.name, slide_row).passed
    assert is_passed(exercise, record(reader)["passed"][exercise.name])
    labs.check(exercise.name, half_right)  # what was passed stays so
    assert list(record(reader)["passed"]) == [exercise.name]
    assert is_passed(exercise, record(reader)["passed"][exercise.name])


def test_all_parts_are_as_good_as_the_whole():
    exercise = find("hw01.slide_row")
    assert is_passed(exercise, {"parts": list(exercise.parts)})
    assert not is_passed(exercise, {"parts": list(exercise.parts)[1:]})
    assert not is_passed(exercise, {}) and not is_passed(of_lab("hw04")["update"], {"parts": []})
    assert not is_passed(exercise, {"parts": 5}) and not is_passed(exercise, {"parts": [[], 3]})


# ---------------------------------------------------------------- copies


def test_start_copies_lessons_and_labs_without_answers(course, capsys):
    done = command(capsys, "lessons", "start")
    names = ["00_start_here.ipynb", "06_td0.ipynb", "homework/release/hw01/hw01.ipynb"]
    assert done["added"] == names and done["folder"] == str(course / "my")
    assert done["open"] == str(course / "my" / "00_start_here.ipynb")
    for name in names:
        text = (course / "my" / name).read_text(encoding="utf-8")
        assert "the answer" not in text and '"execution_count": null' in text
    assert "the answer" in (course / "notebooks/06_td0.ipynb").read_text(encoding="utf-8")
    assert main(["lessons", "start"]) == 0
    said = capsys.readouterr().out
    assert "my/ has all lessons and labs" in said and "lab my/00_start_here.ipynb" in said


def test_cells_that_tell_an_answer_are_folded_in_a_copy(tmp_path):
    question = {"cell_type": "markdown", "source": "**How many of the 32?**", "metadata": {}}
    words = question | {"source": "Half of them. What next?"}
    sources = ("draw.row([early, late])", "print(same)\nassert same == 16",
               'plot.show(ax, "One stage is ahead.")')  # fmt: skip
    code = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
            for text in sources]  # fmt: skip
    lesson = tmp_path / "11_stages.ipynb"
    cells = [question, *code, words, *code]
    lesson.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    folded = [cell["metadata"].get("jupyter") for cell in copies.fresh(lesson)["cells"]]
    hidden = {"source_hidden": True}
    assert folded == [None, None, hidden, hidden, None, None, None, None]


def test_a_copy_is_never_overwritten_and_a_newer_original_is_named(course, capsys):
    command(capsys, "lessons", "start")
    mine_of = course / "my" / "06_td0.ipynb"
    own = mine_of.read_text(encoding="utf-8").replace("x = ", "y = ")
    mine_of.write_text(own, encoding="utf-8")
    lesson(course / "notebooks/07_new.ipynb", "# 07 · New", ["3"])
    done = command(capsys, "lessons", "update")
    assert (done["added"], done["newer"]) == (["07_new.ipynb"], [])  # the original is as it was
    lesson(course / "notebooks/06_td0.ipynb", "# 06 · TD(0), better", ["4"])
    done = command(capsys, "lessons", "update")
    assert (done["added"], done["newer"], done["beside"]) == ([], ["06_td0.ipynb"], [])
    assert not (course / "my" / "06_td0.new.ipynb").exists()
    assert command(capsys, "lessons", "update", "--beside")["beside"] == ["06_td0.new.ipynb"]
    assert command(capsys, "lessons", "update", "--beside")["kept"] == ["06_td0.new.ipynb"]
    assert "better" in (course / "my" / "06_td0.new.ipynb").read_text(encoding="utf-8")
    assert mine_of.read_text(encoding="utf-8") == own


def test_an_original_that_only_ran_again_is_not_newer(course, capsys):
    command(capsys, "lessons", "start")
    path = course / "notebooks/06_td0.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("the answer", "41"), encoding="utf-8")
    assert command(capsys, "lessons", "update")["newer"] == []


def test_what_lies_there_is_left_alone(course, capsys):
    (course / "my").mkdir()
    (course / "my" / "06_td0.ipynb").write_bytes(b"half a noteb")
    (course / "my" / "00_start_here.ipynb").symlink_to(course / "gone.ipynb")
    done = command(capsys, "lessons", "start")
    assert done["unread"] == ["00_start_here.ipynb", "06_td0.ipynb"]
    assert (course / "my" / "06_td0.ipynb").read_bytes() == b"half a noteb"
    assert not (course / "gone.ipynb").exists()
    assert main(["progress"]) == 0


def test_a_file_in_the_folders_place_is_said(course, one_line_error):
    (course / "my").write_text("")
    assert "my is no folder: move it away" in one_line_error("lessons", "start")


def test_lessons_alone_says_what_there_is_to_do(course, capsys):
    assert main(["lessons"]) == 0
    said = capsys.readouterr()
    for words in ("lessons start", "lessons update", "progress"):
        assert f"lib2048 {words} " in said.out
    assert "no copies yet: begin with `lib2048 lessons start`" in said.out and not said.err
    assert not (course / "my").exists()
    command(capsys, "lessons", "start")
    assert main(["lessons"]) == 0
    assert "Your copies are in my/." in capsys.readouterr().out
    assert command(capsys, "lessons")["started"] is True


@pytest.mark.parametrize(
    "words", [["lessons"], ["lessons", "start"], ["lessons", "update"], ["progress"]]
)
def test_without_lessons_one_line_says_where_they_are(words, tmp_path, monkeypatch, one_line_error):
    monkeypatch.setattr(mine, "LIBRARY", tmp_path / "site-packages" / "lib2048")
    monkeypatch.chdir(tmp_path)
    assert "the lessons are not here" in one_line_error(*words)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- a wheel


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """Be where a wheel has put the library and the lessons, in an empty folder; return it."""
    monkeypatch.delenv("LIB2048_MY")
    brought = tmp_path / "site-packages/lib2048_lessons"
    lesson(brought / "00_start_here.ipynb", "# 00 · Start here: who?", ["1 + 1"])
    lesson(brought / "homework/release/hw01/hw01.ipynb", "# hw01 · The rules", ["pass"])
    monkeypatch.setattr(mine, "LIBRARY", tmp_path / "site-packages/lib2048")
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_a_wheel_brings_the_lessons(wheel, capsys, monkeypatch):
    done = command(capsys, "lessons", "start")
    assert done["added"] == ["00_start_here.ipynb", "homework/release/hw01/hw01.ipynb"]
    assert Path(done["folder"]) == wheel / "my"
    for where in ("below", "my", "my/homework"):  # the same folder, from wherever it is asked for
        monkeypatch.chdir(wheel / where)
        assert command(capsys, "lessons", "update")["folder"] == str(wheel / "my")
        assert command(capsys, "progress")["next"]["file"] == "00_start_here.ipynb"


# ---------------------------------------------------------------- JupyterLab's settings


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Be in an environment of one's own, of which Jupyter is told nothing; return its folder."""
    monkeypatch.delenv(jupyter_settings.VARIABLE)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return tmp_path / "venv/etc/jupyter"


def test_start_lets_a_kernel_end_with_its_tab_and_says_so_once(course, environment, capsys):
    assert main(["lessons", "start"]) == 0
    assert "its memory is free" in capsys.readouterr().out
    for name in jupyter_settings.FILES:
        ours = (jupyter_settings.SETTINGS / name).read_text(encoding="utf-8")
        assert (environment / name).read_text(encoding="utf-8") == ours
        (environment / name).write_text("{}", encoding="utf-8")
    assert main(["lessons", "update"]) == 0
    assert "its memory is free" not in capsys.readouterr().out
    for name in jupyter_settings.FILES:  # what somebody has changed stays
        assert (environment / name).read_text(encoding="utf-8") == "{}"


def test_jupyter_is_left_alone_where_it_is_told_or_is_not_ours(environment, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv(jupyter_settings.VARIABLE, f"a{os.pathsep}{jupyter_settings.SETTINGS}")
        assert not jupyter_settings.arrange()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "base_prefix", sys.prefix)
        assert not jupyter_settings.arrange()
    with monkeypatch.context() as patch:
        patch.setattr(jupyter_settings, "is_there", lambda package: False)
        assert not jupyter_settings.arrange()
    assert not environment.exists()
    environment.parent.mkdir(parents=True)
    environment.write_text("in the way")
    assert not jupyter_settings.arrange()


def test_the_courses_own_notebooks_and_links_work_from_the_copies(reader):
    done = copies.update()
    names = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert names <= set(done["added"]) and "homework/release/hw01/hw01.ipynb" in done["added"]
    for path in reader.rglob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert '"image/png"' not in text and "homework/source" not in path.as_posix()
        for target in re.findall(r"\]\(((?:[\w./-]+)\.ipynb)\)", text):
            assert (path.parent / target).resolve().is_file(), (path, target)
        assert not re.search(r"!\[[^]]*\]\((?!http|attachment)", text), path


def test_git_does_not_see_the_readers_folder():
    asked = ["git", "check-ignore", "my/06_td0.ipynb", "my/progress.json"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 128:
        pytest.skip("this is no clone of git's")
    assert done.stdout.split() == asked[2:]


# ---------------------------------------------------------------- progress


def run_cells(path, *names):
    """Let cells of a copy have run, as JupyterLab saves it."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for n, cell in enumerate(notebook["cells"]):
        if cell["id"] in names:
            cell["execution_count"] = n
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_progress_of_nobody_says_how_to_begin(course, capsys):
    found = command(capsys, "progress")
    assert [(one["name"], one["title"], one["run"], one["cells"]) for one in found["lessons"]] == [
        ("00", "Start here", 0, 2),
        ("06", "TD(0)", 0, 2),
    ]
    assert found["lessons"][1]["asks"] == ["06.1", "06.2"] and found["next"]["name"] == "00"
    assert main(["progress"]) == 0
    assert "`lib2048 lessons start`" in capsys.readouterr().out


def test_progress_counts_cells_predictions_and_exercises(course, capsys):
    command(capsys, "lessons", "start")
    run_cells(course / "my/00_start_here.ipynb", "c0", "c1", "t")
    predict("06.2", 3)
    predict("06.9", 3)  # which no lesson asks for
    mine.change("passed", "hw01.slide_row", lambda old: {"parts": ["whole"]})
    capsys.readouterr()
    found = command(capsys, "progress")
    assert found["lessons"][0]["run"] == 2 and found["lessons"][1]["said"] == ["06.2"]
    [lab] = found["labs"]
    assert lab["passed"] == ["hw01.slide_row"] and lab["exercises"] == [
        one.name for one in of_lab("hw01").values()
    ]
    assert found["next"]["name"] == "06"
    assert main(["progress"]) == 0
    page = capsys.readouterr().out
    assert re.search(r"✓ 00 Start here +2 of 2 +–\n", page)
    assert re.search(r"● 06 TD\(0\) +0 of 2 +1 of 2\n", page)
    assert re.search(rf"● hw01 The rules +1 of {len(lab['exercises'])}\n", page)
    assert "go on with 06 TD(0) (0 of 2 cells have run, predictions to make: 06.1)" in page
    assert "my/06_td0.ipynb" in page and max(map(len, page.splitlines())) < 90


def steps(*marks):
    """Return a `Progress` of lessons 00, 01 … with a lab behind 01 and an appendix: 0, ½ or 1."""
    done = dict(zip(["00", "01", "hw01", "02", "A1"], marks))
    lessons = [
        room.Lesson(name, "", f"{name}.ipynb", 10, int(10 * done[name]), [], [])
        for name in ("00", "01", "02", "A1")
    ]
    passed = ["a", "b"][: int(2 * done["hw01"])]
    lab = room.Lab("hw01", "", "hw01.ipynb", ["00", "01"], ["a", "b"], passed)
    found = room.Progress(lessons, [lab], Path("my")).next
    return found and found.name


@pytest.mark.parametrize(("said", "done"), [(0, False), (1, False), (2, True), (4, True)])
def test_a_lesson_without_its_predictions_is_not_done(said, done):
    asks = ["00.1", "00.2", "00.3", "00.4"]
    lesson = room.Lesson("00", "", "00.ipynb", 10, 10, asks, asks[:said])
    assert lesson.finished == done
    assert ("predictions to make" in lesson.left) == (said < 4)


def test_the_next_step_goes_on_from_the_furthest_one():
    assert steps(0, 0, 0, 0, 0) == "00"
    assert steps(0.5, 0, 0, 0, 0) == "00"
    assert steps(0.8, 0, 0, 0, 0) == "01"  # a cell left out is no lesson left out
    assert steps(1, 1, 0, 0, 0) == "hw01"
    assert steps(1, 1, 0.5, 0, 0) == "hw01"
    assert steps(1, 1, 0, 0.5, 0) == "02"  # who has gone on is not called back at once
    assert steps(0, 1, 0, 1, 0) == "00"
    assert steps(0, 0, 0, 0, 1) == "00"  # an appendix may be read at any time
    assert steps(1, 1, 1, 1, 0) == "A1"
    assert steps(1, 1, 1, 1, 1) is None


def test_progress_refuses_a_damaged_record_in_one_line(course, one_line_error):
    (course / "my").mkdir()
    (course / "my" / "progress.json").write_text("[1]")
    assert "move it away to begin a new one" in one_line_error("progress")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="fifos, where there are such")
@pytest.mark.parametrize("name", ["my/06_td0.ipynb", "my/progress.json", "my/06_td0.new.ipynb"])
@pytest.mark.parametrize(
    "make", [lambda path: os.mkfifo(path), lambda path: path.symlink_to("/dev/zero")]
)
def test_what_never_ends_holds_up_no_reader(course, capsys, name, make):
    (course / "my").mkdir()
    make(course / name)
    words = (["lessons", "start"], ["lessons", "update", "--beside"], ["progress"])
    status = [main(one) for one in words]
    said = capsys.readouterr()
    assert status == [0, 0, 2 if "json" in name else 0] and said.err.count("\n") == status[-1] // 2
    assert ("No notebooks any more" in said.out) == (name == "my/06_td0.ipynb")


def test_a_hand_in_is_the_readers_copy(course, capsys):
    command(capsys, "lessons", "start")
    path = course / "my/homework/release/hw01/hw01.ipynb"
    text = path.read_text(encoding="utf-8").replace('"pass"', '"STUDENT = \\"77\\""')
    path.write_text(text, encoding="utf-8")
    assert command(capsys, "labs", "pack", "hw01")["student"] == "77"


def test_where_nothing_can_be_written_a_hint_says_what_to_do(course, monkeypatch, one_line_error):
    (course / "here").write_text("a file")
    monkeypatch.setenv("LIB2048_MY", str(course / "here" / "my"))
    assert "let the variable LIB2048_MY name a folder" in one_line_error("lessons", "start")


def test_where_the_copies_are_is_quoted(course, capsys, monkeypatch):
    monkeypatch.setenv("LIB2048_MY", str(course / "my own"))
    assert main(["lessons", "start"]) == 0
    assert "lab 'my own/00_start_here.ipynb'" in capsys.readouterr().out
