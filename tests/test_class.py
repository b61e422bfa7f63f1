"""The zip for a class: its seed and game are in the wheel, nothing of the sources is in it.

A class has the game that its seed draws: labs are written, and solutions checked, by its rules.
"""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import handins
import labs
import lessons
import make_class
import nbformat
import pytest

from lib2048.course.labs.cases import refuse_unlucky
from lib2048.course.labs.checks import check_text, start
from lib2048.course.labs.collect import collect
from lib2048.course.labs.course_folder import generate
from lib2048.course.labs.exercise import find, of_lab
from lib2048.course.labs.hw04 import networks_of, performance
from lib2048.course.labs.messages import fill
from lib2048.course.labs.notebook import rules_in
from lib2048.course.labs.pack import pack
from lib2048.course.labs.player_file import BEHIND
from lib2048.course.labs.release import in_class
from lib2048.course.labs.seeds import DRAWN, GAMES, PLAIN, RULES, class_game, game_for, rules_of
from lib2048.game.game import parse_game

pytestmark = pytest.mark.ci

SEED = 9
GAME = game_for("own", SEED)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Build the zip of a class with a game of its own and return {name: bytes}."""
    path = tmp_path_factory.mktemp("class") / "class.zip"
    assert make_class.main(["--seed", str(SEED), "--out", str(path)]) == 0
    with zipfile.ZipFile(path) as archive:
        return {
            name.removeprefix("2048-course/"): archive.read(name) for name in archive.namelist()
        }


def wheel(held):
    [name] = [name for name in held if name.endswith(".whl")]
    return name, zipfile.ZipFile(io.BytesIO(held[name]))


def test_it_holds_what_students_need(held):
    names = {path.name for path in lessons.lessons()}
    assert {f"notebooks/{name}" for name in names} <= set(held)
    for lab in labs.labs():
        found = held[f"notebooks/homework/release/{lab}/{lab}.ipynb"]
        rules = rules_in(json.loads(found), lab)
        assert rules == rules_of(lab, GAME, SEED).name
        assert (found == labs.path_of(lab, labs.RELEASE).read_bytes()) == (rules == PLAIN)
    assert "data/published/sources.csv" in held and "LICENSE-text" in held


def test_it_holds_no_sources_hidden_tests_outputs_or_large_weights(held):
    name, inner = wheel(held)
    everything = held | {f"wheel/{one}": inner.read(one) for one in inner.namelist()}
    del everything["wheel/lib2048_data/weights/page.npz"]  # a small network, for hints
    for path, data in everything.items():
        assert "source/" not in path and "/weights/" not in path and not path.endswith(".npz"), path
        if path.endswith(".ipynb"):
            assert b"BEGIN SOLUTION" not in data and b"HIDDEN TESTS" not in data, path
            cells = json.loads(data)["cells"]
            assert not any(cell.get("outputs") for cell in cells), path


def test_the_readme_names_the_wheel_and_the_seed(held):
    name, _ = wheel(held)
    text = held["README.md"].decode()
    assert f'"./{name}[course]"' in text and f"drawn from your class's number, {SEED}." in text
    assert f"this class is `{GAME}`" in text and "{" not in text


def test_the_wheel_draws_from_the_classs_seed(held, tmp_path):
    name, inner = wheel(held)
    assert f"+class.{SEED}-" in name
    inner.extractall(tmp_path)
    program = (
        "import lib2048; from lib2048.course import labs; from lib2048.course.labs import seeds\n"
        f"same = labs.variant('s1') == labs.variant('S1', {SEED})\n"
        "print(lib2048.__file__, seeds.lab_seed(), same)\n"
        "print(seeds.class_game().name, labs.network_of('s1'))"
    )
    run = [sys.executable, "-c", program]
    done = subprocess.run(
        run,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    where, seed, same, game, network = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path) and (seed, same) == (str(SEED), "True")
    assert game == GAME and network in networks_of(parse_game(GAME))


def test_a_stale_release_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(labs, "RELEASE", tmp_path)
    with pytest.raises(ValueError, match="not that of its source: make release"):
        make_class.released_labs()


def test_a_wrong_seed_or_place_is_refused(capsys, tmp_path):
    out = ["--out", str(tmp_path / "x.zip")]
    games = "chess", "2048@9x9", "2048:four=2", "2048@2x2", "threes"
    wrong = [["--seed", "-1", *out], ["--seed", "x", *out], ["--seed", "1", "--out", str(tmp_path)]]
    for arguments in wrong + [["--seed", "1", "--game", game, *out] for game in games]:
        with pytest.raises(SystemExit, match="2"):
            make_class.main(arguments)
        assert capsys.readouterr().err.count(": error: ") == 1
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- a game of one's own


def test_a_class_without_a_wish_has_2048():
    assert make_class.released_labs() == {
        f"notebooks/homework/release/{lab}/{lab}.ipynb": labs.path_of(
            lab, labs.RELEASE
        ).read_bytes()
        for lab in labs.labs()
    }


def test_what_can_be_drawn_was_measured():
    assert {game_for("own", seed) for seed in range(60)} == {*DRAWN} < {*GAMES}
    for game in GAMES:
        for network in networks_of(parse_game(game)):
            for games in (400, 2_000, 20_000):
                assert performance.reference_of(network, games)[1] > 0


def test_a_hand_in_of_another_game_is_told_so_in_one_line(tmp_path, refused):
    game = "2048:four=0.2@3x4"
    source = nbformat.read(labs.path_of("hw01"), as_version=4)
    own = nbformat.writes(in_class(source, "hw01", game)).replace("0000", "7")
    plain = nbformat.writes(source).replace("0000", "8")
    path = handins.download(tmp_path / "all.zip", [("7.ipynb", own), ("8.ipynb", plain)])
    told = "{}: This notebook of hw01 is for the rules {}, and the class has {}: take the notebook"
    rules = rules_of("hw01", game).name
    for mine, who, other in ((game, 8, PLAIN), (PLAIN, 7, rules)):
        course = tmp_path / str(who)
        course.mkdir()
        (course / "course.toml").write_text(f'seed = 2048\nlab_seed = 2\ngame = "{mine}"\n')
        [problem] = collect(path, course)["problems"]
        assert problem.startswith(told.format(who, other, rules_of("hw01", mine).name))
    (tmp_path / "hw01.ipynb").write_text(own)
    packed = pack("hw01", tmp_path, tmp_path / "7.zip")
    assert packed.missing[0].startswith(told.format(7, rules, PLAIN)[3:])
    refused(lambda: start("hw01", rules), told.format(7, rules, PLAIN)[3:])
    refused(lambda: generate("hw01", tmp_path / "x", game="2048@9x9"), "9x9")
    assert not (tmp_path / "x").exists()


def test_a_process_of_no_such_game_says_one_line(monkeypatch, capsys):
    monkeypatch.setenv("LIB2048_CLASS_GAME", "2048@2x2")
    with pytest.raises(SystemExit, match="2"):
        class_game.__wrapped__()
    assert capsys.readouterr().err.startswith("lib2048: LIB2048_CLASS_GAME: 2048@2x2: no class")


TOLD = {  # what a solution of another class is told; {…} are those of the class
    "hw01.slide_row": "the game of this lab ends at {largest}",
    "hw01.spawn": " spawns; in the game of this lab they come in {four_percent}",
    "hw01.play": "on a board of {rows} rows and {columns} columns, as this class",
    "hw02.slide_row": "the game of this lab ends at {largest}",
    "hw02.spawn": " spawns; in the game of this lab they come in {four_percent}",
    "hw04.expected_value": "In the game of this lab, 4s come in {four_percent}",
    "hw04.select_best_move": "a reward of r points counts r{unit!p}.",
    "hw04.update_episode": "in this class a reward of r points counts r{unit!p}.",
    "hw08.best": "by the rules of this lab that is worth {dead}.",
    "hw08.expected": "In the game of this lab, 4s come in {four_percent}",
    "hw06.tc_rate": "This is the rate of another class",
    "hw06.update": "The memory is that of another class",
    "hw06.until_awake": "The history is read as in another class",
    "hw07.read": "This is the answer of another class, in which a stage trusts",
    "hw07.learn": "E and A begin as in another class",
    "hw07.next_start": "This is the answer of another class",
}
CHECK = """
import json, sys
from lib2048.course.labs.checks import check_text
from lib2048.course.labs.exercise import find
for name, text in json.load(sys.stdin):
    found = check_text(find(name), text, None, 5)
    print(json.dumps([found.passed, found.reason]))
"""


def answer(name, game, seed):
    """Return the text of a solution as a lab's source has it in a class of this game and seed."""
    lab, _, function = name.partition(".")
    cells = in_class(nbformat.read(labs.path_of(lab), as_version=4), lab, game, seed).cells
    codes = [cell for cell in cells if cell.cell_type == "code"]
    texts = [codes[0].source.partition("labs.start")[0]]
    starts = tuple(f"def {name}(" for name in (*of_lab(lab), "with_tile"))
    texts += [
        cell.source.partition("\n\n")[0] if "def with_tile" in cell.source else cell.source
        for cell in codes
        if labs.name(cell) in of_lab(lab) or cell.source.startswith(starts)
    ]
    return "\n".join(texts) + BEHIND.format(name=function)


def found_in(game, seed, tried):
    """Return [passed, reason] of answers, [(name, text), …], in a class of this game and seed."""
    here = os.environ | {"LIB2048_CLASS_GAME": game, "LIB2048_CLASS_SEED": str(seed)}
    done = subprocess.run([sys.executable, "-c", CHECK], input=json.dumps(tried), env=here,
                          capture_output=True, text=True, check=True)  # fmt: skip
    return map(json.loads, done.stdout.splitlines())


SLOW = ("hw02", "hw04", "hw06", "hw07", "hw08")
QUICK = ["hw01", *(pytest.param(lab, marks=pytest.mark.slow) for lab in SLOW)]


@pytest.mark.parametrize("lab", QUICK)
@pytest.mark.parametrize("seed", [0, 6, SEED])
def test_a_solution_of_another_class_fails_by_the_numbers(seed, lab):
    game = game_for("own", seed)
    names = [name for name in TOLD if name.startswith(lab)]
    tried = [(name, answer(name, of, seed)) for name in names for of in (game, PLAIN)]
    found = found_in(game, seed, tried)

    def is_told(name, passed, reason, other, game):
        rules, others = (rules_of(lab, of, seed).words for of in (game, other))
        alike = [word for word in ("rows", "largest") if word in TOLD[name]]
        same = alike and all(rules[word] == others[word] for word in alike)
        return passed if same else fill(TOLD[name], rules) in reason

    for name, right, wrong in zip(names, found, found, strict=False):
        assert right == [True, ""] and is_told(name, *wrong, PLAIN, game), (name, right, wrong)
        back = check_text(find(name), answer(name, game, seed), None, 5)
        assert is_told(name, back.passed, back.reason, game, PLAIN), (name, back)


@pytest.mark.ci
@pytest.mark.parametrize("seed", [1, 4, 6])  # small tiles, short games, many 4s
def test_a_class_has_cases_that_tell_every_known_wrong_answer(seed):
    refuse_unlucky(seed, seed, game_for("own", seed), ("hw02", "hw08", "hw09"))


@pytest.mark.slow
@pytest.mark.parametrize("lab", ["hw01", "hw02"])
def test_each_largest_tile_is_told_from_each_other(lab):
    name, [_, ends] = f"{lab}.slide_row", RULES[lab]["largest"]
    seeds = {rules_of(lab, GAME, seed).more["largest"]: seed for seed in range(60)}
    assert {*seeds} == {*ends}
    for end, seed in seeds.items():
        tried = [(name, answer(name, GAME, other)) for other in seeds.values()]
        told = f"the game of this lab ends at {end}"
        for other, (passed, reason) in zip(seeds, found_in(GAME, seed, tried), strict=True):
            assert passed if other == end else told in reason, (end, other, reason)
