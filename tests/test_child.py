"""A reader's functions in a process of their own: what comes back, whatever happens there."""

import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbclient
import nbformat
import numba
import psutil
import pytest
from test_source_text import (
    COLUMNS,
    GRID,
    MASK,
    NESTED,
    WORDS,
    counted,
    factorial,
    halves,
    is_even,
    libraries,
    with_defaults,
)

from lib2048.machine import child
from lib2048.machine.child import Ended, ask, source_of

pytestmark = pytest.mark.ci

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

    before = set(psutil.Process().children(recursive=True))  # that of the labs, if they ran here
    yield run
    assert set(psutil.Process().children(recursive=True)) <= before


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
        assert is_even(10) and counted() == 2  # it counts from the 0 that it was sent with
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


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def test_only_its_own_time_counts_but_not_for_ever(run):
    assert run(sleep, 1, seconds=0.5)["answer"] == [1]
    with pytest.raises(Ended, match="took longer than 0.5 s"):
        run(sleep, 60, seconds=0.5)


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
    assert 25 < run(seconds_left, seconds=5)["answer"][0] <= 35


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no such limit")
def test_memory_is_limited(run):
    assert run(take, 100, memory_mib=200)["answer"] == [100 * 1024]
    with pytest.raises(Ended, match="^used more than 200 MiB of memory .in take: "):
        run(take, 10_000, memory_mib=200)


@pytest.mark.skipif(sys.platform != "linux", reason="the system limits no memory")
def test_memory_has_one_judge(run, monkeypatch):
    """The system's limit names the line that took too much; a look from outside cannot."""
    sizes = itertools.count(0, 1 << 40)  # it seems to grow and grow
    monkeypatch.setattr(child._Meter, "_size", lambda meter: next(sizes))
    run(sleep, 3 * child.LOOK_SECONDS, memory_mib=200)


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
