"""A reader's functions as text, and the process in which they run."""

import math
import os
import rlcompleter  # one of those that have `__main__` among their names
import signal
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree
from fractions import Fraction
from pathlib import Path

import nbclient
import nbformat
import numba
import numpy as np
import psutil
import pytest

from lib2048.game import board as boards
from lib2048.game.board import slide
from lib2048.machine import child, kernels
from lib2048.machine.child import Ended, ask, load, source_of

# ---------------------------------------------------------------- what a reader may write

LIMIT, NOTHING, WORDS = 10**40, None, ("día", b"\0", True, -0.0)
FAR, NOWHERE = -math.inf, math.nan
MASK, SHORT, YES = np.uint64(2**64 - 1), np.float32(0.1), np.bool_(True)
GRID = np.arange(6.0).reshape(2, 3)
COLUMNS = np.asfortranarray(GRID)
FIXED = np.array([1 + 2j, np.nan])
FIXED.flags.writeable = False
EMPTY, POINT = np.zeros((0, 3), np.int8), np.array(5, ">u2")
NESTED = {"a": [1, (2.5,)], 3: {"grid": GRID}}
TOGETHER = [NESTED, NESTED]
counter = 0


def constants():
    return LIMIT, NOTHING, WORDS, FAR, NOWHERE, MASK, SHORT, YES, NESTED, TOGETHER


def arrays():
    return GRID, COLUMNS, FIXED, EMPTY, POINT


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def count():
    global counter
    counter += 1
    return counter


def counted():
    return count() + counter


@numba.njit(error_model="numpy")
def half(x):
    return (x & MASK) / np.uint64(0)


@numba.njit
def halves(x):
    total = 0.0
    for _ in range(3):
        total += half(x)
    return total


@numba.njit
def factorial(n):
    return n * factorial(n - 1) if n > 1 else 1


@numba.njit("int64(int64)")
def fixed_types(x):
    return x


def libraries(text):
    tree = xml.etree.ElementTree.fromstring(text)
    return tree.tag, Fraction(1, 3), np.add(1, 2), boards.initial, slide, kernels.SOURCE_HASH


def with_defaults(a, b=LIMIT, /, c=3, d=GRID, *, e, f=is_even, g="g"):
    return a, b, c, d, e, f(4), g


def annotated():
    class Gone:
        pass

    def f(x: Gone, y: Gone = 1) -> Gone:
        return x + y

    return f


def same_name(k):
    def f(x):
        return x * k

    return f


def counting():
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    def see():
        return n

    return up, see


def walking():
    text = """one
  two
three"""

    def walk(n):
        words = """four
  five
six"""
        return [text, words] if n == 0 else walk(n - 1)

    return walk


def numpy():
    return "a name that the text needs too"


def float(x):  # the text says float("inf") somewhere
    return f"mine {x}"


def shadowing():
    return numpy(), float(FAR)


def back(**functions):
    """The functions after their journey, in this process."""
    return load(source_of(functions))


def same(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same([*a.items()], [*b.items()])
    if isinstance(a, np.ndarray):
        flags = a.flags.writeable == b.flags.writeable and a.flags.fnc == b.flags.fnc
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() and flags
    return type(a) is type(b) and (repr(a) == repr(b))


# ---------------------------------------------------------------- the text


def test_numbers_texts_and_lists_arrive_as_they_are():
    there = back(f=constants)["f"]()
    assert same(there, constants())
    assert there[-1][0] is there[-1][1] is there[-2]  # one dict stays one
    assert there[-2] is not NESTED


def test_arrays_arrive_bit_for_bit():
    there = back(f=arrays)["f"]()
    assert same(there, arrays())
    there[0][0, 0] = 7
    assert GRID[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        there[2][0] = 0


def test_functions_that_need_each_other():
    there = back(f=is_even, g=counted)
    assert there["f"](10) and not there["f"](11)
    assert there["f"].__globals__ is not is_even.__globals__
    before = counter
    assert [there["g"](), there["g"]()] == [2 * before + 2, 2 * before + 4]
    assert counter == before


def test_compiled_entries_become_plain_and_their_helpers_stay_compiled():
    there = back(f=halves, g=factorial)
    assert isinstance(there["f"], types.FunctionType)
    helper = there["f"].__globals__["half"]
    assert helper.targetoptions["error_model"] == "numpy"
    assert numba.njit(there["f"])(np.uint64(3)) == math.inf  # by zero, as the helper's options say
    assert there["g"](5) == numba.njit(there["g"])(5) == 120


def test_libraries_are_imported():
    tag, third, three, *ours = back(f=libraries)["f"]("<a/>")
    assert (tag, third, three) == ("a", Fraction(1, 3), 3)
    assert ours == [boards.initial, slide, kernels.SOURCE_HASH]
    text = source_of({"f": libraries})
    assert "import lib2048.game.board as" in text
    assert "from lib2048.game.board import slide as" in text
    assert "__import__('xml.etree.ElementTree')" in text  # `import xml` alone would not do


def test_what_a_package_has_need_not_be_written_by_hand():
    assert back(f=np.add)["f"] is np.add


def test_defaults_are_those_of_now():
    there, expected = back(f=with_defaults)["f"], with_defaults(1, e=2)
    assert same(there(1, e=2), expected)
    assert same(there(1, 2, 3, 4, e=5, f=bool, g=6), (1, 2, 3, 4, 5, True, 6))
    late = [lambda x, k=k: x * k for k in range(4)]
    assert [f(10) for f in back(a=late[1], b=late[3]).values()] == [10, 30]


def test_annotations_are_left_alone():
    assert back(f=annotated())["f"](1) == 2


def test_one_name_for_two_functions():
    there = back(index=same_name(2), value=same_name(np.float32(0.5)))
    assert there["index"](10) == 20
    assert there["value"](10) == 5


def test_one_name_in_two_modules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "theirs_2048.py").write_text(
        "LIMIT = 1\n\ndef is_even(n):\n    return 'theirs', LIMIT\n\ndef go():\n"
        "    return is_even(3)\n"
    )
    import theirs_2048

    there = back(ours=is_even, theirs=theirs_2048.go, constants=constants)
    assert (there["ours"](3), there["theirs"]()) == (False, ("theirs", 1))
    assert there["constants"]()[0] == 10**40
    assert "import theirs_2048" not in source_of({"f": theirs_2048.go})  # it need not be there


def test_names_that_the_text_uses_itself():
    assert back(first=float, f=shadowing)["f"]() == shadowing()


def test_outer_variables_are_shared_as_before():
    up, see = counting()
    up()
    there = back(up=up, see=see)
    assert (there["up"](), there["up"](), there["see"]()) == (2, 3, 3)
    assert see() == 1


def test_a_variable_that_has_no_value_yet():
    def too_early():
        return later + nowhere  # noqa: F821

    with pytest.raises(NameError, match="'later'"):
        back(f=too_early)["f"]()
    later = 1
    with pytest.raises(NameError, match="'nowhere'"):
        back(f=too_early)["f"]()


def test_inner_functions_keep_their_texts_and_themselves():
    assert back(f=walking())["f"](3) == walking()(3) == ["one\n  two\nthree", "four\n  five\nsix"]


def test_lambdas_that_share_a_line():
    a, b, c = lambda x: x + 1, lambda x: (x, lambda y: -y), lambda ä="ä", *, k=LIMIT: (ä, k)
    there = back(a=a, b=b, inner=b(0)[1], c=c)
    assert (there["a"](1), there["b"](1)[1](5), there["inner"](7)) == (2, -5, -7)
    assert there["c"]() == ("ä", LIMIT)
    over_lines = [
        lambda x: (
            x  # a word
            * 3
        )
    ]
    assert back(f=over_lines[0])["f"](4) == 12
    alike = [lambda k=1: k, lambda k=2: k]
    assert [f() for f in back(a=alike[0], b=alike[1]).values()] == [1, 2]


def test_errors_of_numba_show_the_line():
    def wrong(x):
        return x.nothing_of_the_kind

    with pytest.raises(numba.TypingError, match="return x.nothing_of_the_kind"):
        numba.njit(back(f=wrong)["f"])(1)


def decorated(function):
    def around(*arguments):
        return "around", function(*arguments)

    around.__wrapped__ = function  # as functools.wraps has it: misleads whoever follows it
    return around


def test_a_decorator_of_ones_own():
    @decorated
    def f(x):
        return x + len(WORDS)

    assert back(f=f)["f"](1) == ("around", 5)


def test_the_text_is_the_same_each_time():
    functions = {"a": with_defaults, "b": libraries, "c": halves}
    text = source_of(functions)
    assert text == source_of(functions)
    assert source_of(load(text)) != ""  # and a loaded function can travel on
    assert same(back(**load(text))["a"](1, e=2), with_defaults(1, e=2))


# ---------------------------------------------------------------- what stays at home


def needs(thing):
    def update(x):
        return x, thing

    return update


class Mine:
    pass


mine = types.ModuleType("mine")
itself = [1]
itself.append(itself)
REFUSED = [
    (Mine(), "`update` uses `thing`, a Mine, which cannot travel to the child process: pass "
             "numbers or small arrays"),
    (Mine, "`update` uses `thing`, a type, which cannot"),
    (np.random.default_rng(1), "`thing`, a Generator, which"),
    (np.zeros(100_001), "`thing`, an array of 100001 float64, which"),
    (np.array([Mine()]), "`thing`, an array of 1 object, which"),
    ([0] * 100_001, "`thing`, a list of 100001, which"),
    ([{1: Mine()}], "`thing`, a Mine, which"),
    (mine, "`thing`, a module, which"),
    (rlcompleter.__main__, "`thing`, a module, which"),
    (fixed_types, "`thing`, compiled for fixed types: leave them out"),
    (itself, "`update` uses `thing`, a list of 2 that holds itself"),
]  # fmt: skip


@pytest.mark.parametrize("thing, said", REFUSED, ids=lambda each: str(each)[:20])
def test_what_cannot_travel_is_refused_in_one_line(thing, said):
    with pytest.raises(ValueError) as error:
        source_of({"update": needs(thing)})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_one_who_uses_it_is_named():
    def helper():
        return mine

    with pytest.raises(ValueError, match="^`helper` uses `mine`, a module"):
        source_of({"index": lambda: helper()})
    thing = Mine()
    with pytest.raises(ValueError, match="^`index` uses `thing`, a Mine"):
        source_of({"index": lambda: thing})


@pytest.mark.parametrize("entry, said", [(3, "an int"), (Mine(), "a Mine"), ("f", "a str")])
def test_what_is_no_function_is_refused(entry, said):
    with pytest.raises(ValueError, match=f"^`index` is {said}: give a function"):
        source_of({"index": entry})


def test_functions_without_a_source_are_refused():
    room = {}
    exec("def f(x):\n    return x\ng = lambda x: x", room)
    for who, function in (("f", room["f"]), ("index", room["g"])):
        with pytest.raises(ValueError, match=f"^the source of `{who}` cannot be found: define it"):
            source_of({"index": function})


def test_a_file_that_was_edited_meanwhile(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_2048.py"
    file.write_text("def f(x):\n    return x\n")
    import edited_2048

    assert load(source_of({"f": edited_2048.f}))["f"](3) == 3
    for text in ("x = 1\n\ndef f(x):\n    return -x\n", "def f(x:\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match="the source of `f` cannot be found"):
            source_of({"f": edited_2048.f})


# ---------------------------------------------------------------- a process of its own

TASKS = """
from lib2048.machine.child import load

def run(message):
    functions = load(message["text"])
    return [functions[key](*arguments) for key, arguments in message["calls"]]

def echo(message):
    return message
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that calls a reader's function in a child process."""
    (tmp_path / "tasks_2048.py").write_text(TASKS)
    (tmp_path / "slow_2048.py").write_text(f"import time\ntime.sleep(1.2)\n{TASKS}")
    monkeypatch.syspath_prepend(tmp_path)  # the child finds it as we do

    def run(function, *arguments, seconds=20, **limits):
        message = {"text": source_of({"f": function}), "calls": [["f", arguments]]}
        return ask("tasks_2048:run", message, seconds, **limits)

    yield run
    assert psutil.Process().children(recursive=True) == []


def talkative(x):
    import os
    import subprocess
    import sys
    import threading

    print("día →")
    print("a warning", file=sys.stderr)
    os.write(1, b"{}\n")
    subprocess.run([sys.executable, "-c", "print('grandchild')"])
    try:
        input()
    except EOFError:
        print("no input")
    threading.Thread(target=threading.Event().wait).start()  # one that nobody ends
    print("x" * 100_000)
    return x + 1


def test_an_answer_and_what_was_printed(run, capfd):
    reply = run(talkative, 1)
    assert set(reply) == {"answer", "printed"}
    assert reply["answer"] == [2]
    lines = reply["printed"].split("\n")
    assert sorted(lines[:-1]) == ["día →", "grandchild", "no input", "{}"]
    assert set(lines[-1]) == {"x"} and len(reply["printed"]) == 2000
    assert capfd.readouterr() == ("", "")


def test_everything_that_travels_arrives_in_a_new_process(run):
    def everything(n):
        threading.Thread(target=threading.Event().wait).start()  # one that nobody ends
        print("short")
        assert is_even(10) and counted() == 2 * counter
        return [
            [len(WORDS), int(MASK), GRID.sum(), COLUMNS.flags.fnc, NESTED["a"][1][0]],
            [halves(MASK), factorial(n), libraries("<b/>")[0], with_defaults(1, e=2)[5]],
        ]

    reply = run(everything, 5)
    first, second = reply["answer"][0]
    assert reply["printed"] == "short\n"
    assert first == [4, 2**64 - 1, 15.0, True, 2.5]
    assert second == [math.inf, 120, "b", True]


def test_a_long_message_and_a_long_answer(run):
    message = {"numbers": [*range(700_000)], "text": "día \udc80\n"}
    assert ask("tasks_2048:echo", message, 20) == {"answer": message, "printed": ""}


def divide(x):
    y = 1 / x
    return y


def leave():
    sys.exit(3)


def a_set():
    return {1}


def recurse(n):
    return recurse(n + 1) + 1


def silent():
    assert GRID is None


RAISED = [
    (divide, [0], "ZeroDivisionError: division by zero (in divide: y = 1 / x)"),
    (leave, [], "SystemExit: 3 (in leave: sys.exit(3))"),
    (a_set, [], "TypeError: Object of type set is not JSON serializable"),
    (recurse, [0], "recursed without end (in recurse: return recurse(n + 1) + 1)"),
    (silent, [], "AssertionError (in silent: assert GRID is None)"),
]


@pytest.mark.parametrize("function, arguments, reason", RAISED)
def test_an_exception_is_told_with_its_line(run, function, arguments, reason):
    with pytest.raises(Ended) as ended:
        run(function, *arguments)
    assert ended.value.reason == str(ended.value) == reason


def crash():
    import ctypes

    ctypes.string_at(0)


def abort():
    os.abort()


def kill_itself():
    os.kill(os.getpid(), 9)


def vanish():
    os._exit(0)


ENDED = [
    (crash, "(segmentation fault): did it write outside an array?"),
    (abort, "(aborted)"),
    (kill_itself, "(killed)"),
    (vanish, "(exit status 0)"),
]


@pytest.mark.parametrize("function, reason", ENDED)
def test_a_process_that_ends_itself(run, function, reason, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(Ended) as ended:
        run(function)
    assert ended.value.reason == f"ended the process {reason}"
    assert [*Path().iterdir()] == []  # no file of a crash


def loop(file):
    import subprocess
    import sys

    with open(file, "w") as out:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(process.pid, file=out)
    while True:
        print("again")


@numba.njit
def spin(x):
    while x != 1:
        x = -x
    return x


def loop_compiled():
    return spin(3)


def has_ended(pid):
    """Tell whether a process ends within seconds: whoever is killed needs a moment."""
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_an_endless_loop_is_ended_with_its_processes(run, tmp_path):
    start = time.perf_counter()
    with pytest.raises(Ended, match="^took longer than 1 s: is there a loop that does not end"):
        run(loop, str(tmp_path / "pid"), seconds=1)
    assert time.perf_counter() - start < 15
    assert has_ended(int((tmp_path / "pid").read_text()))


def test_an_endless_compiled_loop_is_ended(run):
    with pytest.raises(Ended, match="took longer than 1.5 s"):
        run(loop_compiled, seconds=1.5)


def test_the_time_of_imports_does_not_count(run):
    assert ask("slow_2048:echo", {}, 0.8)["answer"] == {}


def take(mib):
    taken = []
    for _ in range(mib * 1024):
        taken.append(bytearray(1000))
    return len(taken)


def seconds_left():
    return signal.alarm(0)


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="Windows has no alarm")
def test_a_child_ends_itself_when_nobody_is_left_to_end_it(run):
    assert 5 < run(seconds_left, seconds=5)["answer"][0] <= 15


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no such limit")
def test_memory_is_limited(run):
    assert run(take, 100, memory_mib=200)["answer"] == [100 * 1024]
    with pytest.raises(Ended, match="^used more than 200 MiB of memory .in take: "):
        run(take, 10_000, memory_mib=200)


def test_a_child_that_does_not_start(run, monkeypatch):
    monkeypatch.setattr(child, "START_SECONDS", 0.01)
    with pytest.raises(Ended, match="^did not start within 0.01 s"):
        ask("tasks_2048:echo", {}, 5)


def test_a_task_that_is_not_there(run):
    with pytest.raises(Ended, match="^ModuleNotFoundError: No module named 'no_such_2048'"):
        ask("no_such_2048:run", {}, 5)
    with pytest.raises(TypeError, match="not JSON serializable"):
        ask("tasks_2048:echo", {"what": {1}}, 5)


def test_stop_ends_the_child(run, tmp_path):
    file, me = tmp_path / "pid", threading.get_ident()

    def stop():
        while not (file.exists() and file.read_text().endswith("\n")):
            time.sleep(0.05)
        signal.pthread_kill(me, signal.SIGINT)

    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt):
        run(loop, str(file), seconds=60)
    assert has_ended(int(file.read_text()))


# ---------------------------------------------------------------- who may ask

USE = """
from lib2048.machine.child import ask, load, source_of
text = source_of({"f": f, "g": g})
near = [function(10) for function in load(text).values()]
reply = ask("tasks_2048:run", {"text": text, "calls": [["f", [10]], ["f", [1]]]}, 20)
print(near == [33, 38], reply)
"""


def test_a_script_on_the_command_line_may_ask(run, tmp_path):
    (tmp_path / "own_2048.py").write_text("f = lambda x: 3 * x + 3\ng = lambda x: f(x) + 5\n")
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from own_2048 import f, g"
    said = subprocess.run([sys.executable, "-c", start + USE], capture_output=True, text=True)
    assert said.stdout == "True {'answer': [33, 6], 'printed': ''}\n", said.stderr


CELLS = [
    "K = 2\ndef f(x):\n    return helper(x) * K\ng = lambda x: f(x) + OTHER\n",
    "import numba, numpy as np\nOTHER = np.uint64(5)\n%precision 3\n!true\n",
    "@numba.njit\ndef helper(x):\n    return x + 1\n",
    "K = 3\n",
    USE,
]


def test_functions_in_the_cells_of_a_notebook(run, tmp_path):
    first = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    cells = [nbformat.v4.new_code_cell(text) for text in (first, *CELLS)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert cells[-1].outputs[0].text == "True {'answer': [33, 6], 'printed': ''}\n"
