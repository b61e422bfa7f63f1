"""Checks of labs: what they say of right, missing and wrong answers, whatever these do."""

import ast
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import handins
import numpy as np
import pytest
from tiers import one_in

from lib2048.course import labs
from lib2048.course.labs import answering, checks, hw01
from lib2048.course.labs.cases import trial
from lib2048.course.labs.exercise import LABS, changed, find, of_lab, watched
from lib2048.course.labs.judge import judge
from lib2048.course.labs.messages import known, say, table_of
from lib2048.course.labs.outcomes import text_of as text_of_value
from lib2048.course.labs.result import _html
from lib2048.course.labs.seeds import rules_of
from lib2048.game import spec
from lib2048.machine.child import NotStarted


def text_of(exercise, version="truth"):
    """Return the text of a version of the library's: the truth, or one of the typical mistakes."""
    if version == "truth":
        home = exercise.truth.__module__, exercise.truth.__name__
        text = "from {} import {} as function\n".format(*home)
    else:
        text = f"exercise, version = find({exercise.name!r}), {version!r}\n"
        text = "from lib2048.course.labs.exercise import changed, find\n" + text
        text += "made = (exercise.mistakes | exercise.slips)[version]\n"
        text += "function = made if callable(made) else changed(exercise.truth, *made)\n"
    return text + 'FUNCTIONS = {"function": function}'


def judged(exercise, version="truth", part=None, seed=2048):
    """Check a version of the library's."""
    return checks.check_text(exercise, text_of(exercise, version), part, seed)


def told(exercise, version, seed, part=None):
    """Return what a version of the library's is told; it answers in this process."""

    def ask(task, message, optional=False):
        return getattr(answering, task.partition(":")[2])(message)

    found = judge(exercise, text_of(exercise, version), seed, part, ask)
    return say(found["key"], **found["words"])


def missing(row):
    raise NotImplementedError


def half_done(row):
    if sum(row) == 0:
        return row, 0
    raise NotImplementedError


def mutating(row):
    answer = hw01.slide_row(row)
    row[0] = 5
    return answer


def raising(row):
    return row[9], 0


def returns_nothing(row):
    hw01.slide_row(row)


def returns_a_tuple(row):
    new, reward = hw01.slide_row(row)
    return tuple(new), reward


def takes_two(row, column):
    return row, 0


def recursing(row):
    return recursing(row)


def looping(row):
    while True:
        pass


def crashing(row):
    import ctypes

    ctypes.string_at(0)


def talking(row):
    print("here")
    return hw01.slide_row(row)


ODD = {
    half_done: "is the line `raise NotImplementedError` left",
    mutating: "`slide_row` changed its argument `row`",
    raising: "raised IndexError: list index out of range, in the line `return row.9., 0`",
    returns_nothing: "returned None",
    takes_two: r"called as slide_row\(row\); yours takes \(row, column\)",
    recursing: "raised RecursionError: it calls itself without end, in the line `return rec",
    looping: "took longer than 2 s: is there a loop",
    crashing: "ended the process",
}


@pytest.mark.parametrize("function, words", ODD.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_an_odd_function_is_named_with_its_reason(monkeypatch, function, words):
    monkeypatch.setattr(checks, "SECONDS", 2)
    result = labs.check("hw01.slide_row", function)
    assert result.status == "failed"
    with pytest.raises(labs.Failed, match=words):
        labs.require("hw01.slide_row", function, seed=2048)


def test_what_is_code_is_shown_as_code():
    result = labs.check("hw01.slide_row", raising)
    assert "`return row[9], 0`" in str(result)  # plain text keeps its marks
    html = result._repr_html_()
    assert "<code>slide_row</code> raised IndexError" in html and "`" not in html


def in_another_order(row):
    return hw01.slide_row(row)[::-1]


def test_a_wrong_type_is_shown():
    result = labs.check("hw01.slide_row", returns_a_tuple)
    assert result.status == "failed" and "a tuple of" in result.reason
    assert "should be a list" in result.reason
    result = labs.check("hw01.slide_row", in_another_order)
    assert "Of the 2 things that `slide_row` returned, number 1 is an int" in result.reason


def test_not_attempted_is_no_failure_and_no_pass():
    result = labs.check("hw01.slide_row", missing)
    assert (result.status, result.cases) == ("not attempted", 0)
    assert labs.check("hw01.1", hw01.slide_row).status == "not attempted"  # the library's own
    with pytest.raises(labs.Failed, match="not attempted"):
        labs.require("hw01.slide_row", missing)


def test_what_is_printed_is_told_and_does_no_harm():
    result = labs.check("hw01.slide_row", talking)
    assert result.passed and "here" in str(result)


def test_no_function_and_no_source():
    assert "is no function" in labs.check("hw01.slide_row", 3).reason
    assert "cannot be read" in labs.check("hw01.slide_row", eval("lambda row: 0")).reason


def test_use_falls_back_and_says_so(capsys):
    assert labs.use("hw01.slide_row", missing) is hw01.slide_row
    assert "not attempted" in capsys.readouterr().out
    assert labs.use("hw01.slide_row", mutating) is mutating
    assert labs.use("hw01.slide_row", crashing) is hw01.slide_row  # it would end the notebook, too
    assert "until it is mended" in capsys.readouterr().out


def slide_row(row):
    raise NotImplementedError


def slide(board, action):
    turns = [1, 2, 3, 0][action]
    board = [list(row) for row in board]
    for _ in range(turns):
        board = [list(column) for column in zip(*board)][::-1]
    rows = [slide_row(row) for row in board]
    board = [row for row, _ in rows]
    for _ in range((4 - turns) % 4):
        board = [list(column) for column in zip(*board)][::-1]
    return board, sum(reward for _, reward in rows)


def test_a_missing_helper_is_replaced_and_said():
    result = labs.check("hw01.slide", slide)
    assert result.passed and result.stood_in == ["slide_row"]
    assert "with the library's slide_row" in result.title


def test_hints_and_names(capsys):
    labs.hint("hw01.1", 1)
    assert capsys.readouterr().out.strip() == say("hw01.slide_row.hint1")
    for name in ("hw01.9", "hw01.nothing", "hw77.1", "slide_row", 3):
        with pytest.raises(ValueError, match="no (exercise|lab)"):
            labs.hint(name)
    with pytest.raises(ValueError, match="ask for number 1 to 3"):
        labs.hint("hw01.1", 4)
    with pytest.raises(ValueError, match="no part"):
        labs.check("hw01.1", slide_row, part="all")


def spawns_in_place(board, rng):
    row, column = rng.choice(spec.empty_cells(board))
    board[row][column] = 4 if rng.random() < 0.1 else 2
    return board


def test_the_commonest_slip_of_a_spawn_is_told():
    handins.said("hw01", "spawn", spawns_in_place, "mutated")
    handins.said("hw01", "play", ("choose(board, legal)", "choose(board, [0, 1, 2, 3])"), "legal")


def test_every_verdict_of_hw01_gives_its_message_the_words_it_takes():
    text = (Path(labs.__file__).with_name("hw01") / "__init__.py").read_text("utf-8")
    calls = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)]
    calls = [one for one in calls if getattr(one.func, "id", "") == "wrong_if"]
    for call in calls:
        given = {word.arg for word in call.keywords}
        for key in (one.value for one in ast.walk(call.args[1]) if isinstance(one, ast.Constant)):
            texts = [text for name, text in table_of("hw01").items() if name.endswith(f".{key}")]
            taken = [{*re.findall(r"{(\w+)", text)} - {*rules_of("hw01").words} for text in texts]
            assert None in given or any(words <= given for words in taken), key


def test_what_a_game_returned_is_shown_in_short():
    answer = ("return board, score", "return score, board")
    reason = handins.check_changed("hw01.play", answer).reason
    assert re.search(r"it returned \(\d+, a board, \d+\)\.$", reason), reason


def test_a_game_by_the_rules_passes_however_its_spawns_draw():
    edits = ("spawn(afterstate, rng)", "(rng.random(), spawn(afterstate, rng))[1]")
    assert handins.check_changed("hw01.play", edits).passed


EVERY = [exercise for lab in LABS for exercise in of_lab(lab).values()]
every = pytest.mark.parametrize("exercise", one_in(6, EVERY), ids=lambda exercise: exercise.name)


@every
def test_every_exercise_has_three_hints_and_words_for_its_mistakes(exercise):
    for key in ("hint1", "hint2", "hint3", *exercise.mistakes):
        assert say(exercise.message(key))


@every
@pytest.mark.parametrize("seed", [2048, pytest.param(5, marks=pytest.mark.slow)])
def test_the_librarys_version_passes(exercise, seed):
    assert judged(exercise, seed=seed).passed


def test_a_check_that_could_not_be_run_is_tried_again(monkeypatch):
    exercise, ask, late = of_lab("hw01")["slide_row"], checks._child.ask, [True]

    def busy(*told, **named):
        if late:
            late.clear()
            raise NotStarted("did not start within 60 s: is the computer busy?")
        return ask(*told, **named)

    monkeypatch.setattr(checks._child, "ask", busy)
    text = text_of(exercise)
    found = checks.check_text(exercise, text, None, 2048)
    assert not (found.passed or found.judged or found.ended) and "computer busy" in found.reason
    assert checks.check_text(exercise, text, None, 2048).passed


@every
def test_a_stub_of_every_exercise_is_not_attempted(exercise):
    text = f"def {exercise.call}:\n    raise NotImplementedError\n"
    text += f'FUNCTIONS = {{"function": {exercise.function}}}'
    assert checks.check_text(exercise, text, None, 2048).status == "not attempted"


@every
# Every class has another seed, and its grader the next.
@pytest.mark.parametrize("seed", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (2048, 8))])
def test_each_typical_mistake_is_told_from_the_others(exercise, seed):
    for message, key in {exercise.message(key): key for key in exercise.mistakes}.items():
        assert told(exercise, key, seed) == say(message)


@pytest.mark.ci
@every
def test_each_typical_mistake_is_told_by_the_cases_of_a_part(exercise):
    tried = trial(exercise.name, 7)
    for message, key in {exercise.message(key): key for key in exercise.mistakes}.items():
        for part in tried.seen(key) - {None}:
            answers = [tried.made(pick, key).value for pick in tried.picks(part)]
            if None not in answers:  # which has words of its own
                assert told(exercise, key, 7, part) == say(message), (key, part)


@every
def test_what_is_said_of_a_slip_is_the_message_of_its_first_word(exercise):
    """In its smallest case, or in one at least where others come first."""
    tried = trial(exercise.name, 7)
    for slip in exercise.slips:
        key, message = slip.partition(" ")[0], handins.message_of(exercise, slip)
        if known(message) and not handins.is_said(message, told(exercise, slip, 7)):
            assert any(tried.made(pick, slip)[:2] == ("wrong", key) for pick in tried.picks()), slip


@every
@pytest.mark.parametrize("seeds", [(2048, 7), pytest.param((*range(10),), marks=pytest.mark.slow)])
def test_no_seed_lets_a_known_wrong_answer_pass_and_the_same_parts_see_it(exercise, seeds):
    tried = [trial(exercise.name, seed) for seed in seeds]
    for name in exercise.wrong:
        seen = [one.seen(name) for one in tried]
        assert seen[0] and all(parts == seen[0] for parts in seen), name


WHERE = [  # what is changed in the right answer, and what is said behind "not the expected one"
    ("hw01.slide", ("sum(rewards)", "sum(rewards) + 1"), "Only `reward` differs .* larger .* by 1"),
    ("hw01.legal_actions", ("return [", "return [9] + ["), "It has more entries than it should"),
    ("hw04.indexof", ("return index", "return 3 * index"), "it is 3 times the right answer"),
    ("hw05.horizon", ("return h", "return h if lam < 0.5 else 0"), "where `lam` is more than 0.3"),
    ("hw08.expected", ("/ len(empty)", "/ len(empty) + np.random.random()"), "Called again with"),
    ("hw02.get_cell", ("return", "return board  #"), "It is `board`, just as it was given"),
    ("hw02.get_cell", ("& U(15)", "& U(7)"), "only where the right answer is more than 7"),
    ("hw02.set_cell", ("& ~(U(15) << shift) |", "^"), "where .*cell is empty"),
    ("hw02.slide_row", ("(exponent)), U(0)", "(exponent)), last"), "three equal numbers"),
    ("hw04.estimate", ("return value", "return int(value)"), "it is a whole number, and the right"),
    ("hw04.update", ("amount /", "max(amount, 0.0) /"), "not. the case that `amount` is above 0"),
    ("hw05.learn_online", ("alpha / values.lookups_per_board * lam**k",
                           "(alpha * lam) ** k / values.lookups_per_board"), "`alpha` is not 1"),
    ("hw07.entered", ("range(1, len(stages)) if", "range(len(stages)) if n == 0 < stages[0] "
                      "or n and"), "where the first number in `stages` is more than 0"),
    # Only one carried down is wrong there as well, and in many cases more.
    ("hw07.stage", ("2 * (carried + tiles.count(tile)), tile // 2",
                    "2 * sum(each > top for each in tiles), top"), "(smaller|too small)"),
]  # fmt: skip
NOWHERE = [  # what is wrong on nearly all cases, or on too few of them: where it is, is not told
    ("hw02.transpose", ("board = board &", "return board\n    board = board &")),
    ("hw02.slide", ("U(0xFFFF)", "U(0xFFF)")),
    ("hw04.select_best_move", ("best_value = -1, -np.inf", "best_value = -1, -1000.0")),
]


@pytest.mark.parametrize("name, edits", NOWHERE)
def test_chance_is_not_told_as_a_place(name, edits):
    reason = handins.check_changed(name, edits).reason
    assert reason.startswith("The answer is not the expected one.") and "where" not in reason


@pytest.mark.parametrize(
    "name, edits, words", WHERE, ids=lambda value: getattr(value, "__name__", str(value)[:30])
)
def test_an_answer_without_a_cause_is_told_where_it_differs(name, edits, words):
    result = handins.check_changed(name, edits)
    assert re.match(f"The answer is not the expected one. (.*){words}", result.reason), result


def test_of_few_wrong_cases_nothing_is_said_that_may_be_chance(monkeypatch):
    exercise = find("hw05.weighted_error")
    assert "cut" in exercise.wrong  # which would be said
    monkeypatch.delitem(exercise.mistakes, "cut")
    result = handins.check_changed("hw05.weighted_error", ("errors))", "errors) if lam**k > 0.1)"))
    assert result.reason == say("labs.different"), result


def test_a_large_array_is_written_alike_whatever_the_reader_has_set():
    table = np.random.default_rng(1).normal(0, 100, (3, 4096)).astype(np.float32)
    before = text_of_value(table)
    with np.printoptions(precision=2, threshold=10_000, suppress=True, edgeitems=1):
        assert text_of_value(table) == before and len(before) <= 300


def test_what_one_case_alone_has_by_chance_is_not_said():
    result = handins.check_changed(
        "hw05.errors", ("values)]", "values)] if any(values) else [0, 0]")
    )
    assert "just as it was given" not in str(result), result


def test_two_mistakes_at_once_are_told_and_not_for_an_answer_that_never_changes():
    two, mistakes = ("discounted", "whole_step"), find("hw03.q_update").mistakes
    result = handins.check_changed("hw03.q_update", [*mistakes[two[0]], *mistakes[two[1]]])
    told = [say(f"hw03.q_update.{name}") for name in two]
    assert result.reason.startswith(say("labs.two")) and all(one in result.reason for one in told)
    nothing = handins.check_changed("hw02.slide", ("reward += table[1, row]", "reward += 0"))
    assert "the same for all cases" in nothing.reason and say("labs.two") not in nothing.reason


def test_three_mistakes_at_once_are_told():
    three, mistakes = ("from_the_right", "largest", "length"), find("hw01.slide_row").mistakes
    edits = [text for name in three for text in mistakes[name]]
    result = handins.check_changed("hw01.slide_row", edits)
    told = [say(f"hw01.slide_row.{name}") for name in three]
    assert result.reason.startswith(say("labs.of_three"))
    assert all(one in result.reason for one in told)


def test_what_a_message_puts_weight_on_is_no_product():
    text = "the *last* one: `2 * a * b`, f(*given, **named), 2*3*4 and *two words*."
    assert _html(text) == (
        "the <em>last</em> one: <code>2 * a * b</code>, f(*given, **named), 2*3*4 and "
        "<em>two words</em>."
    )


def test_a_hand_in_may_ask_what_its_own_process_is(tmp_path):
    """`import torch` reads /proc/self/maps; what another process is asked for is still noted."""
    if sys.platform != "linux":
        pytest.skip("only Linux has such files")
    program = "import sys\nfrom lib2048.course.labs import inside\ninside.begin(sys.argv[1])\n"
    cell = "for name in ('maps', 'environ'): open(f'/proc/self/{name}').close()"
    program += f"exec(compile({cell!r}, '/tmp/a_cell.py', 'exec'))"
    log = tmp_path / "log"
    subprocess.run([sys.executable, "-c", program, log], check=True)
    assert [json.loads(line)["what"][-8:] for line in log.read_text().splitlines()] == ["/environ"]


PARTS = [  # a mistake, the part of its exercise that sees it, and those that do not
    ("hw01.slide_row", "merged_twice", "merges", "no merge"),
    ("hw02.slide", "order_back", "columns", "rows"),
    ("hw02.slide_row", "no_reward", "merges", "no merge"),
    ("hw03.choose", "by_place last", "explore"),
    ("hw03.choose", "never", "explore", "greedy"),
    ("hw03.backup", "raised no_default", "dead ends", "values"),
    ("hw04.update", "sums_too_early", "returned", "weights"),
    ("hw04.update", "by_eight", "weights", "returned"),
    ("hw03.monte_carlo", "last_visit", "first visit", "first game", "later games"),
    ("hw03.td0", "backwards", "games", "last turn"),
    ("hw03.q_update", "illegal", "on the way", "at the end"),
    ("hw03.q_update", "skips_end", "at the end", "on the way"),
    ("hw08.deeper", "dead_end", "one", "other"),
    ("hw08.deeper", "afterstates", "other", "one"),
    ("hw09.targets", "terminal", "ends", "going on"),
]


@pytest.mark.parametrize("name, key, seen, others", [(*case[:3], case[3:]) for case in PARTS])
def test_a_mistake_takes_the_marks_of_its_own_part_alone(name, key, seen, others):
    assert handins.is_said(
        handins.message_of(find(name), key), judged(find(name), key, seen).reason
    )
    for part in others:
        assert judged(find(name), key, part).passed


STRANGE = [
    "None", "3", "nan", "'AB'", "[[1], [2]]", "(1, [2, 3])", "[('A', 1, 2)]", "[None]", "{}",
    "np.array(3)", "1j", "np.array('x')", "(x for x in [1])", "True", "object()", "Same()",
    "[Same()] * 4", "10 ** 400",
]  # fmt: skip
NO_TENSORS = ["None", "nan", "'AB'", "[[1], [2]]", "torch.ones(2, 3)", "np.ones(3)", "Same(2)",
              "torch.ones(2).to_sparse()", "torch.full((3,), nan)"]  # fmt: skip
SAME = """
from math import nan
import numpy as np
class Same(float):
    __eq__ = __ge__ = lambda *_: True
    __hash__ = float.__hash__
    __repr__ = lambda self: 1 / 0
"""
OF_TORCH = [f"hw09.{name}" for name in of_lab("hw09")]


@pytest.mark.parametrize(
    "name", ["hw05.errors", "hw05.horizon", "hw05.weighted_error", "hw05.learn_delayed", *OF_TORCH]
)
def test_a_strange_answer_is_wrong_and_no_fault_of_the_check(name):
    if name in OF_TORCH:
        pytest.importorskip("torch")
    for strange in NO_TENSORS if name in OF_TORCH else STRANGE:
        text = SAME + "import torch\n" * (name in OF_TORCH)
        text += f"def {find(name).call}:\n    return {strange}\n"
        result = handins.check_answer(name.partition(".")[0], text)
        assert result.status == "failed" and "fault of the check" not in result.reason, strange


@every
def test_a_third_hint_of_several_lines_is_code_up_to_its_last_words(exercise):
    """What a student copies has to be Python; a sentence may follow it."""
    lines = say(f"{exercise.name}.hint3").replace("…", "...").split("\n")
    code = [line for line in lines if not line[:1].isupper() or line.startswith(("E,", "V", "Q["))]
    if len(lines) > 1:
        compile("def hint():\n" + textwrap.indent("\n".join(code), "    "), "hint", "exec")


def test_what_a_mistake_changes_has_to_be_there():
    assert changed(spec.empty_cells, "== 0", "!= 0")([[0, 2], [2, 0]]) == [(0, 1), (1, 0)]
    with pytest.raises(ValueError, match="holds no 'is luck'"):
        changed(spec.empty_cells, "is luck", "is skill")


def twice(n, times=2):
    return n * times


def last_of(count):
    return [twice(n) for n in range(count)][-1]


def test_calls_are_noted_with_their_defaults_and_not_without_end():
    with watched(last_of, "twice", keep=2) as calls:
        assert last_of(4) == 6
    assert calls == [("twice", (0, 2), 0), ("twice", (1, 2), 2)]
