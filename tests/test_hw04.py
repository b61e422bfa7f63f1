"""hw04: the plain loop learns what the fast one learns, and typical wrong answers are told."""

import itertools
import re
import time
from types import FunctionType

import handins
import numba
import numpy as np
import pytest
from numba import njit
from right_answers import hw04
from right_answers.hw04 import select_best_move__cpp as select_best_move
from right_answers.hw04 import update_episode__negative as update_episode

from lib2048 import Network, Run, Settings, compare
from lib2048.course import labs
from lib2048.course.labs import Training
from lib2048.course.labs.exercise import changed, find
from lib2048.course.labs.hw04 import museum, networks_of, training
from lib2048.course.labs.hw04 import performance as performance_module
from lib2048.course.labs.hw04 import program as tdl
from lib2048.course.labs.hw04.diagnosis import CHOICE, autopsy, diagnosed, planted
from lib2048.course.labs.messages import say
from lib2048.game.bits import WHOLE
from lib2048.game.board import initial, spawn
from lib2048.game.rng import stream
from lib2048.machine.source_text import source_of
from lib2048.networks.names import parse_network

SMALL = "cells:0123,4567"


@njit
def estimate32(network, board):
    """Sum the weights in the library's order: look-up l in part l mod 4, all in float32."""
    parts, place = np.zeros(4, np.float32), 0
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            parts[place % 4] += network.weights[k, tdl.indexof(pattern, board)]
            place += 1
    return (parts[0] + parts[1]) + (parts[2] + parts[3])


@njit
def update32(network, board, amount):
    for k, images in enumerate(network.isomorphic):
        for pattern in images:
            index = tdl.indexof(pattern, board)
            network.weights[k, index] += np.float32(amount / np.float32(16))
    return estimate32(network, board)


@njit
def select32(network, board):
    best, best_value = -1, np.float32(-np.inf)
    for action in range(4):
        after, reward = tdl.slide(board, action)
        if after != board:
            value = estimate32(network, after) + np.float32(reward)
            if value > best_value:
                best, best_value = action, value
    return best


@njit
def learn32(network, path, alpha):
    target = np.float32(0)
    for t in range(len(path) - 1, -1, -1):
        error = np.float32(target - estimate32(network, path[t].afterstate))
        new = update32(network, path[t].afterstate, np.float32(alpha) * error)
        target = new + np.float32(path[t].reward)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="100 games in plain Python take minutes")
def test_the_plain_loop_learns_what_the_fast_one_learns_bit_for_bit():
    network, tables = Network(SMALL), tdl.new_tables(SMALL)
    settings = Settings(network=SMALL, alpha=0.125, seed=3, order="backward", lanes=1)
    run = Run(settings, network=network)
    run.go(games=300, progress=False)
    loop = tdl.loop_of(select32, learn32, network.tuples)
    results = tdl.play_games(loop, tables, 0.125, 3, 0, 300)
    assert results[:, 1].tolist() == run.history.scores.tolist()
    assert results[:, 2].tolist() == run.history.lengths.tolist()
    assert results[:, 3].tolist() == run.history.largest.tolist()
    for k in range(2):
        assert tables.weights[k].tobytes() == network.table(k).tobytes()
    assert tables.weights.any()


@pytest.mark.ci
def test_functions_that_make_arrays_train_like_others():
    # Memory of the loop's own, once given back too early, was taken by their arrays.
    scores = []
    for choose in (select_best_move, hw04.select_best_move__arrays):
        training = Training(choose, update_episode, network=SMALL, seed=3)
        training.go(60, progress=False)
        scores.append(training.history.scores.tolist())
        training.close()
    assert scores[0] == scores[1] and len(scores[0]) == 60


def played(choose, learn, games=4):
    """Let two functions of the lab play and learn by plain Python; return (weights, scores)."""
    tables, scores = tdl.new_tables(SMALL), []
    for number in range(games):
        (board, luck), path = initial(stream(1, number), tdl.PLAYED), []
        while (action := choose(tables, board)) >= 0:
            after, reward = tdl.slide(board, action)
            following, luck = spawn(after, luck, tdl.PLAYED)
            path.append(tdl.Step(board, action, float(reward), after, following))
            board = following
        learn(tables, path, 0.125)
        scores.append(sum(step.reward for step in path))
    return tables.weights, scores


def test_values_in_another_unit_play_the_same_games():
    pairs = [
        [changed(one, "UNIT", unit) for one in (tdl.select_best_move, tdl.update_episode)]
        for unit in ("1", "8")
    ]
    (weights, scores), (parts, same) = (played(*functions) for functions in pairs)
    assert scores == same and len({*scores}) > 1
    assert weights.any() and (8 * parts == weights).all()


IN_COPIES = ("network.weights[k, indexof(pattern, board)] += share", "weight = network.weights[k, "
             "indexof(pattern, board)]\n            weight += share")  # fmt: skip
TAUGHT = "alpha * error"
TOLD = [  # what is changed, the part that is judged, what is said, and a piece of what is shown
    (IN_COPIES, "weights", "update.no_move", "no weight moved; returned: -"),
    (IN_COPIES, "returned", "update.no_move", "no weight moved; returned: -"),
    (("at(board, pattern[i])", "at(pattern[i], board)"), None, "indexof.zero", "0"),
    ((TAUGHT, "alpha * target"), "last afterstate", "update_episode.target_added", "to V: 0;"),
    ((TAUGHT, "-estimate(network, path[t].afterstate)"), "last afterstate",
     "update_episode.last_whole", "to V: +"),
    (("return best", "return best_value"), None, "select_best_move.value", ""),
    (("return best", "return max(best, 0)"), None, "both.none_is_0", "no action is legal"),
]  # fmt: skip


@pytest.mark.parametrize("edits, part, key, shown", TOLD)
def test_what_is_said_holds_for_the_part_and_what_is_shown(edits, part, key, shown):
    name = f"hw04.{key.partition('.')[0].replace('both', 'select_best_move')}"
    result = handins.check_changed(name, edits, part)
    assert result.reason == say(f"hw04.{key}")
    texts = [value.get("text", "") for _, _, value in result.shown]
    assert any(shown in text for text in texts), texts
    assert not re.search(r"e-\d|-0\b(?!\.\d)", str(texts))


def too_deep(network, board):
    return f"{board}" and tdl.estimate(network, board) if len(f"{board}") else 0.0


def test_what_numba_cannot_compile_is_said():
    result = labs.check("hw04.estimate", too_deep)
    assert "numba cannot compile it" in result.reason and "Traceback" not in result.reason


@pytest.fixture
def own():
    """Return a function that begins trainings, and end them all."""
    begun = []

    def begin(*functions, **options):
        begun.append(Training(*functions, network=SMALL, **options))
        return begun[-1]

    yield begin
    for each in begun:
        each.close()


@pytest.mark.ci
def test_training_goes_on_exactly_from_where_it_was(own, tmp_path, capsys):
    straight, out = own(select_best_move, update_episode), tmp_path / "run"
    straight.go(60, progress=False)
    assert straight.title == say("hw04.training.yours") and straight.stood_in == []
    first = own(select_best_move, update_episode, folder=out)
    first.go(25, progress=False)
    first.close()
    second = own(select_best_move, update_episode, folder=out)
    assert second.history.count == 25
    second.go(35, progress=False)
    assert second.history.scores.tolist() == straight.history.scores.tolist()
    assert second.play(20).scores.tolist() == straight.play(20).scores.tolist()
    assert {"config.json", "weights.npz"} <= {path.name for path in out.iterdir()}
    in_the_background(second)
    other = own(select_best_move, tdl.update_episode, folder=out)
    assert other.history.count == 0 and f"{out}-2" in capsys.readouterr().out


def in_the_background(run):
    """Go on with a run in the background, stop it, and go on again."""
    before = run.history.count
    run.start(1_000_000)
    while run.history.count == before and run._thread.is_alive():
        time.sleep(0.05)
    run.stop()
    count = run.history.count
    assert before < count < 1_000_000
    run.start(10)
    assert run.wait().count == count + 10


def loops(network, board):
    while board != 1:
        board = board | np.uint64(2)
    return 0


def always_right(network, board):
    return 1


def gives_up(network, board):
    return -1


def leaves_the_tables(network, path, alpha):
    network.weights[0, 1 << 20] = 1.0


BAD = {
    loops: "took longer than 3 s",
    always_right: "in game 1: .* not legal",
    gives_up: "in game 1: .* some are legal",
}


@pytest.mark.ci
@pytest.mark.parametrize("choose, words", BAD.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_a_bad_choice_ends_the_training_and_is_named(own, monkeypatch, choose, words):
    monkeypatch.setattr(training, "LATE_SECONDS", 3)
    run = own(choose, update_episode)
    with pytest.raises(ValueError, match=words):
        run.go(10, progress=False)


@pytest.mark.ci
def test_a_wrong_index_ends_the_training_and_is_named(own):
    with pytest.raises(ValueError, match="IndexError"):
        own(select_best_move, leaves_the_tables).go(10, progress=False)


def missing(pattern, board):
    raise NotImplementedError


@pytest.mark.ci
def test_whose_functions_trained_is_said_in_the_title(own):
    room = vars(hw04) | {"indexof": missing}
    room["estimate"] = FunctionType(hw04.estimate__enumerate.__code__, room, "estimate")
    run = own(missing, FunctionType(update_episode.__code__, room, "update_episode"))
    assert run.go(5, progress=False).count == 5
    assert "indexof" in run.title and "select_best_move" in run.title and "library" in run.title
    with pytest.raises(ValueError, match="tuples of one length"):
        Training(select_best_move, update_episode, network="42-33-4-22-3")


def test_the_trace_shows_yours_beside_the_librarys():
    mine = labs.trace(select_best_move, update_episode, turns=4)
    assert mine["V(s′)"].tolist() == pytest.approx(mine["V(s′) library"].tolist())
    assert mine["δ"].tolist() == pytest.approx(mine["δ library"].tolist())
    choice, lesson = find("hw04.select_best_move"), find("hw04.update_episode")
    wrong = labs.trace(choice.wrong["no_reward"], lesson.wrong["last_not_taught"], turns=4)
    assert np.isnan(wrong["δ"].iloc[-1]) and wrong["δ library"].iloc[-1] < 0


def teaches_nothing(network, path, alpha):
    pass


@pytest.mark.ci
def test_marks_for_training_are_for_functions_that_train(monkeypatch):
    monkeypatch.setenv("LIB2048_GRADE_GAMES", "400")
    for level in ("half", "most", "full"):
        labs.require_performance(select_best_move, update_episode, level)
    with pytest.raises(labs.Failed, match="were needed"):
        labs.require_performance(select_best_move, teaches_nothing, "half")
    with pytest.raises(labs.Failed, match="not attempted"):
        labs.require_performance(select_best_move, tdl.update_episode, "half")
    monkeypatch.setenv("LIB2048_GRADE_GAMES", "7")
    with pytest.raises(ValueError, match="no reference"):
        labs.require_performance(select_best_move, update_episode, "half")


def seventh():
    return planted("7")


def test_every_student_gets_three_bugs_with_names_and_curves():
    drawn = [tuple(planted(f"student {n}").values()) for n in range(50)]
    assert all(len({*bugs}) == 3 for bugs in drawn) and len({*drawn}) > 25
    assert {bug for bugs in drawn for bug in bugs} == {*CHOICE}
    axes = autopsy("student 1")
    assert len(axes.get_lines()) >= 4
    answers = planted("7")
    text = source_of({"function": seventh})
    assert diagnosed(text) == answers  # as a grader asks for it
    labs.require_diagnosis("7", answers, "A")
    with pytest.raises(labs.Failed):
        labs.require_diagnosis("7", answers | {"A": answers["B"]}, "A")


def test_what_the_autopsy_draws_can_be_told_apart_by_its_curves():
    last = museum.curves().query("15_000 < games <= 20_000").groupby(["bug", "seed"])["mean"].mean()
    for one, other in itertools.combinations(("none", *CHOICE), 2):
        told = compare(last[one].to_numpy(), last[other].to_numpy())
        assert told.verdict != "not decided", f"{one}, {other}: {told}"


def test_every_exhibit_of_the_museum_has_its_words_and_a_wrong_line():
    for bug in museum.EXHIBITS:
        assert museum.what(bug) and re.search(r"(?m)^\+ ", museum.wrong_lines(bug)), bug
    assert museum.wrong_lines("none") == ""


def test_the_last_marks_for_training_have_a_second_seed(monkeypatch, capsys):
    tried, reached = [], [27_000.0, 28_000.0, 20_000.0]  # nine tenths, enough, too little

    def performance(text, network, seed):
        tried.append(seed)
        return reached[len(tried) - 1]

    monkeypatch.setattr(performance_module, "performance", performance)
    monkeypatch.setenv("LIB2048_GRADE_GAMES", "20000")
    labs.require_performance(select_best_move, update_episode, "full")
    assert tried[1] == tried[0] + 1 and "28,000" in capsys.readouterr().out
    with pytest.raises(labs.Failed, match="20,000"):
        labs.require_performance(select_best_move, update_episode, "full")
    assert len(tried) == 3


def test_every_student_gets_a_network_of_four_different_tuples():
    assert {labs.network_of(f"student {n}") for n in range(50)} == {*networks_of(WHOLE)}
    assert labs.network_of(" Student 7") == labs.network_of("student7")
    for name in networks_of(WHOLE):
        images = tdl.isomorphic(parse_network(name))
        assert len({frozenset(map(frozenset, some)) for some in images}) == 4
