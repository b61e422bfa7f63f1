"""Ctrl-C: heard at once, whatever is going on, and nothing is left half made.

No test asks how long it takes: each waits for something that would go on for longer than the test
may, and 60 seconds are there to end a test that fails.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time

import interrupts
import numpy as np
import pytest
from learners import SMALL, STEP, same_run, scattered, stop_after, trained

from lib2048 import Network, NetworkPlayer, Run, Settings, evaluate, save
from lib2048.benchmark import Bench
from lib2048.learn.games import Games
from lib2048.learn.tables import TableLearner
from lib2048.machine import process
from lib2048.machine.kernels import kernel
from lib2048.machine.threads import Crowd, aside, new_pool
from lib2048.train.watching import Stopped

LIMIT = 60  # seconds
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ")


class Hold:
    """A task that goes on until it is let go."""

    def __init__(self):
        self.begun, self.free, self.over = (threading.Event() for _ in range(3))

    def __call__(self, *_):
        self.begun.set()
        assert self.free.wait(LIMIT)
        self.over.set()
        return 7

    def let_go(self):
        self.free.set()
        assert self.over.wait(LIMIT)


@pytest.fixture
def hold():
    made = Hold()
    yield made
    made.free.set()


@pytest.fixture
def press(hold):
    """Press Ctrl-C as soon as the task of `hold` has begun."""
    me = threading.get_ident()

    def wait_and_press():
        assert hold.begun.wait(LIMIT)
        time.sleep(0.05)
        if not hold.free.is_set():
            signal.pthread_kill(me, signal.SIGINT)

    thread = threading.Thread(target=wait_and_press)
    thread.start()
    yield
    if not hold.begun.is_set():  # the test has failed: press nothing, which would end all tests
        hold.free.set()
    hold.begun.set()
    thread.join()


# ---------------------------------------------------------------- waiting


def test_a_task_aside_returns_and_raises_as_it_would_here():
    assert aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)
    assert aside(threading.current_thread) is not threading.current_thread()
    assert aside(lambda: aside(threading.current_thread)) is not threading.main_thread()


@pytest.fixture
def no_threads(monkeypatch):
    """Let the system give no threads."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def test_where_the_system_gives_no_thread_a_task_is_done_here(no_threads):
    assert aside(threading.current_thread) is threading.main_thread()


def test_ctrl_c_ends_the_waiting_and_the_task_goes_on(hold, press):
    with pytest.raises(KeyboardInterrupt):
        aside(hold)
    assert not hold.over.is_set()
    hold.let_go()


GIVEN_UP = """
import _thread, threading, time
from lib2048.machine import threads

def endless():
    _thread.interrupt_main()
    try:
        while True:
            time.sleep(0.01)
    finally:
        print("ended at its next step")

{}
"""
WAYS = ("threads.aside(endless)", "with threads.Crowd(1) as crowd: crowd.do(endless)")


@pytest.mark.parametrize("way", WAYS)
def test_python_ends_without_waiting_for_what_was_given_up(way):
    command = [sys.executable, "-c", GIVEN_UP.format(way)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == -signal.SIGINT and "KeyboardInterrupt" in done.stderr
    assert done.stdout == "ended at its next step\n"


def test_an_event_ends_the_waiting_in_any_thread(hold):
    stop, ended = threading.Event(), []

    def wait():
        try:
            aside(hold, stop)
        except KeyboardInterrupt as interrupt:
            ended.append(interrupt)

    thread = threading.Thread(target=wait)
    thread.start()
    assert hold.begun.wait(LIMIT)
    stop.set()
    thread.join(LIMIT)
    assert len(ended) == 1 and not hold.over.is_set()


def test_a_crowd_answers_in_order_and_takes_tasks_as_it_needs_them():
    taken = itertools.count()
    tasks = (lambda n=n: n for n in range(10**8) if next(taken) >= 0)
    with Crowd(3) as crowd:
        assert list(itertools.islice(crowd.results(tasks), 20)) == list(range(20))
    assert next(taken) < 40


def test_a_crowd_that_is_interrupted_sets_its_flag_until_its_tasks_are_over(hold, press):
    flag = np.ones(1, np.int64)
    with pytest.raises(KeyboardInterrupt), Crowd(1, flag=flag) as crowd:
        assert not flag[0]
        crowd.do(hold)
    assert flag[0]
    hold.let_go()
    for _ in range(LIMIT * 100):
        if not flag[0]:
            break
        time.sleep(0.01)
    assert not flag[0]


def test_more_threads_than_the_system_gives_are_refused_in_one_line(no_threads):
    for ask in (lambda: Crowd(7).do(lambda: 7), lambda: new_pool(7)):
        with pytest.raises(MemoryError, match="7 threads: .*take fewer") as error:
            ask()
        assert "\n" not in str(error.value)


def test_a_pool_has_all_its_threads_from_the_beginning():
    before = {*threading.enumerate()}  # some of them may end meanwhile
    pool = new_pool(5)
    assert len({*threading.enumerate()} - before) == 5
    assert pool.submit(lambda: 7).result() == 7


# ---------------------------------------------------------------- compiling


def test_ctrl_c_leaves_no_kernel_half_made(monkeypatch, tmp_path, hold, press):
    monkeypatch.setattr("lib2048.machine.kernels.CACHE", tmp_path)  # or only the first time counts
    double = kernel(lambda x: 2 * x)
    compile = double._compiler.compile

    def slowly(*arguments):
        hold()
        return compile(*arguments)

    monkeypatch.setattr(double._compiler, "compile", slowly)
    with pytest.raises(KeyboardInterrupt):
        double(3)
    assert not hold.over.is_set()
    hold.let_go()
    assert double(3) == 6


def test_a_kernel_within_anothers_kernel_is_compiled_by_the_same_thread():
    import numba

    triple = kernel(lambda x: 3 * x)
    assert numba.njit(lambda x: triple(x) + 1)(2) == 7  # would wait for itself for ever


def test_a_run_that_is_stopped_while_it_compiles_goes_on_from_its_beginning(
    monkeypatch, tmp_path, hold, press
):
    with monkeypatch.context() as patch:
        patch.setattr(TableLearner, "prepare", hold)
        with pytest.raises(Stopped, match="stopped at 0 of"):
            Run(Settings(network=SMALL, actions=STEP), tmp_path).go(progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]  # there is nothing more
    same_run(trained(out=tmp_path, actions=STEP, resume=True), trained(actions=STEP))


def test_a_benchmark_is_measured_where_ctrl_c_does_not_come(monkeypatch, hold, press):
    bench = Bench(SMALL, warm_up=1, moves=1000, rounds=1)
    monkeypatch.setattr(bench, "_measured", hold)
    with pytest.raises(KeyboardInterrupt):
        bench.run()
    assert bench._over.is_set() and not hold.over.is_set()


# ---------------------------------------------------------------- games


def a_network():
    return scattered(Network(SMALL), spread=50)


def test_games_stop_between_two_pieces(monkeypatch):
    who, play = NetworkPlayer(a_network()), Games.play

    def play_and_stop(games, *limits):
        who.stop[0] = 1
        return play(games, *limits)

    monkeypatch.setattr("lib2048.learn.games.CHUNK_SECONDS", 1e-4)
    whole = who.play_games(0, 50, 3)
    monkeypatch.setattr(Games, "play", play_and_stop)
    begun = who.play_games(0, 50, 3)
    assert 0 < len(begun) < len(whole) == 50
    monkeypatch.undo()
    who.stop[0] = 0
    np.testing.assert_array_equal(who.play_games(0, 50, 3), whole)


def test_an_interrupted_player_plays_whole_games_the_next_time():
    who, stop = NetworkPlayer(a_network()), threading.Event()
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        evaluate(who, 10**7, stop=stop)
    assert len(evaluate(who, 30, seed=3).scores) == 30
    np.testing.assert_array_equal(who.play_games(0, 30, 3)[:, 0], np.arange(30))


# ---------------------------------------------------------------- neural networks


def test_a_value_network_stops_between_two_steps_and_goes_on_as_if_it_had_not(tmp_path):
    deep = pytest.importorskip("lib2048.deep.learner")
    settings = Settings(network="cnn22sss", batch="shuffle64", lanes=8, seed=3)
    whole, first = Run(settings), Run(settings, tmp_path)
    whole.go(actions=1000, progress=False)
    step, steps = first.learner.step, []

    def step_and_stop(*batch):
        steps.append(step(*batch))
        first.stop()
        return steps[-1]

    first.learner.step = step_and_stop
    while first.actions < 700:
        first.go(actions=1000 - first.actions, progress=False)
    assert len(first.learner._waiting) > 0 and len(steps) > 5
    first.save()
    again = Run(settings, tmp_path, resume=True)
    again.go(actions=1000 - again.actions, progress=False)
    assert again.learner.batches == whole.learner.batches
    for name, array in whole.arrays().items():
        if name != "seconds" and not name.startswith("history"):
            np.testing.assert_array_equal(again.arrays()[name], array)
    assert isinstance(again.learner, deep.ValueLearner)


LEARN = [
    ({"steps": 3}, 5),  # and the look at which it is stopped: in a batch, between two of its steps
    ({"returns": "critic", "lam": 0.9, "optimiser": "adam"}, 4),
]


@pytest.mark.parametrize("more, number", LEARN, ids=str)
def test_a_policy_that_is_stopped_while_it_learns_has_learned_nothing_yet(more, number, tmp_path):
    pytest.importorskip("torch")
    settings = Settings(network="policy", batch="games3", seed=3, games=9, **more)
    whole, first = Run(settings), Run(settings, tmp_path)
    whole.go(progress=False)
    looks, look = itertools.count(1), first.learner._look

    def stop_and_look():
        if next(looks) == number:
            first.stop()
        look()

    first.learner._look = stop_and_look
    first.go(progress=False)
    assert first.history.stopped and len(first.learner.batches) < 3
    again = Run(settings, tmp_path, resume=True)
    again.go(progress=False)
    np.testing.assert_array_equal(again.learner.batches, whole.learner.batches)
    for name, array in whole.learner.arrays().items():
        np.testing.assert_array_equal(again.learner.arrays()[name], array)


# ---------------------------------------------------------------- the command


COMMAND = [sys.executable, "-m", "lib2048.cli"]


def started(*words, cwd, command=COMMAND, **environment):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"} | environment
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, *map(str, words)], cwd=cwd, env=environment, **pipes)


def read_until(command, sign):
    """Read what a command says on stderr, up to a sign of life."""
    said = b""
    while sign not in said:
        said += os.read(command.stderr.fileno(), 1 << 16) or pytest.fail(said.decode())
    return said


def end_of(command, before=b"", kind=signal.SIGINT):
    """Press Ctrl-C, or send its like; return (exit status, stdout, stderr's last line of text)."""
    command.send_signal(kind)
    out, err = command.communicate(timeout=LIMIT)
    lines = (before + err).decode().replace("\r", "\n").split("\n")
    lines = [line for line in lines if line.startswith("lib2048: ") and "compiling" not in line]
    assert len(lines) == 1 and b"Traceback" not in err, err.decode()
    return command.returncode, out.decode(), lines[0]


GUEST = "def choose(board):\n    while True:\n        pass\n"
WORDS = {  # what a command is asked, and what it says when it has begun
    "play": ("play random --games 100000000", b"%|"),
    "tables": ("play tiny.npz --games 100000000 --threads 2", b"%|"),
    "2-ply": ("play tiny.npz --depth 2 --games 1000000", b"%|"),
    "9-ply": ("play tiny.npz --depth 9 --games 1", b"%|"),
    "an hour a move": ("play tiny.npz --ms-per-move 3600000 --games 1", b"%|"),
    "solve": ("solve 3x3", b"layers"),
    "bench": ("bench", b""),
    "tournament": ("tournament players --out board --games 100000000", b"%|"),
    "guest": ("tournament guests --out board", b"%|"),
    "labs": ("labs check hw01 endless.py", b""),
}
NEURAL = {
    "policy": ("play policy.safetensors --games 1000000", b"%|"),
    "value": ("play value.safetensors --games 1000000", b"%|"),
    "value, 3-ply": ("play value.safetensors --depth 3 --games 10000", b"%|"),
}


def first_is_fast(table):
    """Return the rows of a table as a test's parameters, all but the first marked as slow."""
    marks = [(), *[pytest.mark.slow] * (len(table) - 1)]
    rows = [row if isinstance(row, tuple) else (row,) for row in table.values()]
    return [pytest.param(*row, id=name, marks=m) for row, name, m in zip(rows, table, marks)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with what the commands read."""
    made = tmp_path_factory.mktemp("commands")
    for name in ("players", "guests"):
        (made / name).mkdir()
    save(a_network(), made / "tiny.npz")
    save(a_network(), made / "players" / "tiny.npz")
    (made / "guests" / "endless.py").write_text(GUEST)
    (made / "endless.py").write_text("def slide_row(row):\n    while True:\n        pass\n")
    return made


def ends_with_130(folder, words, sign, kind=signal.SIGINT):
    before = set(folder.rglob("*"))
    command = started(*words.split(), cwd=folder)
    said = read_until(command, sign) if sign else time.sleep(3) or b""
    time.sleep(0.5)
    assert end_of(command, said, kind) == (130, "", "lib2048: stopped")
    assert set(folder.rglob("*")) == before


@pytest.mark.parametrize("words, sign", first_is_fast(WORDS))
def test_ctrl_c_ends_every_command(folder, words, sign):
    ends_with_130(folder, words, sign)


@pytest.mark.parametrize("words, sign", first_is_fast(WORDS))
def test_a_polite_kill_ends_a_command_as_ctrl_c_does(folder, words, sign):
    ends_with_130(folder, words, sign, signal.SIGTERM)


@pytest.mark.slow
@pytest.mark.parametrize("words, sign", NEURAL.values(), ids=NEURAL)
def test_ctrl_c_ends_the_players_of_neural_networks(folder, words, sign):
    deep = pytest.importorskip("lib2048.deep")
    if not (folder / "value.safetensors").exists():
        save(deep.ValueNetwork("cnn22sss"), folder / "value.safetensors")
        save(deep.new_policy_network(), folder / "policy.safetensors")
    ends_with_130(folder, words, sign)


TRAINED = {
    "tables": "--network 4x6",
    "test games": f"--network {SMALL} --eval-every 1000 --eval-games 100000000 --eval-depth 3",
    "value": "--network cnn22sss",
    "policy": "--network policy --batch games1000",
}


@pytest.mark.parametrize("words", first_is_fast(TRAINED))
def test_ctrl_c_in_training_leaves_a_run_that_goes_on(tmp_path, words):
    if "cnn" in words or "policy" in words:
        pytest.importorskip("torch")
    command = started(
        "train", *words.split(), "--actions", 10**12, "--out", "run", "--json", cwd=tmp_path
    )
    said = read_until(command, b"actions/s")  # which is known after the first chunk
    status, out, line = end_of(command, said)
    assert status == 130 and line.endswith("; go on with: lib2048 train --resume --out run")
    files = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"config.json", "checkpoint.npz"} <= files
    assert not [name for name in files if name.endswith(".part")]
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    settings = Settings.from_config({k: x for k, x in config.items() if k != "sources"})
    assert Run(settings, tmp_path / "run", resume=True).actions == json.loads(out)["actions"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["carousel", "sweep", "fold", "race"])
def test_ctrl_c_at_random_times(kind, tmp_path):
    interrupts.rounds(interrupts.KINDS[kind], 2, np.random.default_rng(1), tmp_path)


@pytest.mark.slow
def test_ctrl_c_during_the_import_ends_it_in_one_line(tmp_path):
    (tmp_path / "psutil.py").write_text(
        "import sys, time\nsys.stderr.write('here\\n')\ntime.sleep(600)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = started("--version", cwd=tmp_path, PYTHONPATH=path)
    said = read_until(command, b"here\n")
    assert end_of(command, said) == (130, "", "lib2048: stopped")


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.1, 1])
def test_ctrl_c_during_the_first_compilation_harms_no_later_one(tmp_path, pause):
    words = "play", "random", "--games", "3", "--json"
    fresh = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LIB2048_QUICK": ""}
    command = started(*words, cwd=tmp_path, **fresh)
    said = read_until(command, b"compiling")
    time.sleep(pause)
    if command.poll() is None:
        assert end_of(command, said) == (130, "", "lib2048: stopped")
    again = started(*words, cwd=tmp_path, **fresh)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 0, err.decode()
    assert json.loads(out)["mean"] == evaluate("random", 3).mean


STUCK = """
import ctypes, signal, sys
sys.argv = ["lib2048", "info", "FILE"]
import lib2048.cli
from lib2048.machine import process

def deaf(options):  # in a call of C that returns in its own time
    process.on_sudden_end(lambda: print("undone", flush=True))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    sys.stderr.write("here\\n")
    ctypes.CDLL(None).sleep(600)

lib2048.cli.COMMANDS["info"] = deaf
lib2048.cli.main()
"""


@pytest.mark.slow
def test_what_does_not_hear_ctrl_c_is_ended_and_leaves_nothing_half_done(tmp_path):
    command = started(STUCK, cwd=tmp_path, command=[sys.executable, "-c"])
    said = read_until(command, b"here\n")
    time.sleep(0.5)  # until it is in that call
    assert end_of(command, said) == (130, "undone\n", "lib2048: stopped")


@pytest.mark.slow
def test_where_a_shell_lets_ctrl_c_be_ignored_it_stays_so(tmp_path):
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND]
    words = ["play", "random", "--games", "3000000", "--json"]
    command = started(*words, cwd=tmp_path, command=ignoring)
    read_until(command, b"%|")
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=300)
    assert command.returncode == 0 and json.loads(out)["games"] == 3_000_000, err.decode()


def test_a_run_that_a_shell_let_ignore_ctrl_c_goes_on(monkeypatch):
    stop_after(monkeypatch, 1)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert trained(actions=STEP)[1].actions == STEP
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_library_in_another_program_takes_no_signal(tmp_path):
    program = "import signal, sys\nbefore = signal.getsignal(2), sys.stderr\nimport lib2048.cli\n"
    program += "assert (signal.getsignal(2), sys.stderr) == before\nlib2048.cli.main(['--version'])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert not process.is_command()
