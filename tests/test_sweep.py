"""Sweeps: many runs from one list, whatever dies on the way."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster
from learners import SMALL, contents, csv_rows, same_run

from lib2048 import Run, Settings
from lib2048.cli import main
from lib2048.machine import memory
from lib2048.sweep import carrying_out, memory_shares, read_list, run_sweep
from lib2048.train.folder import DONE, RunFolder

pytestmark = pytest.mark.ci

SHORT = Settings(network=SMALL, actions=20_000, checkpoint_every=0.0)
TC = Settings(network=SMALL, rule="tc", lam=0.5, actions=20_000, checkpoint_every=0.0)
ENDLESS = replace(SHORT, actions=1 << 50, checkpoint_every=0.1)
ANY_PORT = "127.0.0.1:0"
COMMAND = [sys.executable, "-m", "lib2048.cli", "sweep"]


def seeds(settings, count, name="run"):
    return [(name, replace(settings, seed=seed)) for seed in range(1, count + 1)]


@contextlib.contextmanager
def beside(work):
    """Let some work be done beside what stands in the block, which waits for its end."""
    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


def wait_for(condition):
    """Wait until something is so, and return it; the tests' own end is a matter of minutes."""
    end = time.monotonic() + 240
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def processes_of(pid):
    """Return the processes in which runs go that a process started."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            if "lib2048.sweep.job_process" in " ".join(child.cmdline()):
                found.append(child)
    return found


@pytest.fixture(scope="module")
def client(own_shares):
    """Return a client of a cluster whose two workers are processes."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),  # a slow start is no end
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=ANY_PORT,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture
def listed(tmp_path):
    """Return the path of a list of two runs with two seeds each."""
    text = f'[defaults]\nnetwork = "{SMALL}"\nactions = 20_000\nseeds = [2, 1]\n'
    path = tmp_path / "list.toml"
    path.write_text(text + '[[run]]\nname = "td"\n[[run]]\nname = "tc"\nrule = "tc"\n')
    return path


def by_hand(settings, folder):
    """Train as `lib2048 train` does."""
    Run(settings, folder).go(progress=False)


def same_folders(settings, one, other):
    """Compare two finished runs bit for bit: weights, what the rule keeps, every game, config."""
    first, second = (Run(settings, folder, resume=True) for folder in (one, other))
    same_run((first.network, first.history), (second.network, second.history))
    for name in first.memory:
        np.testing.assert_array_equal(first.memory[name].flat, second.memory[name].flat)
    files = [contents(folder) for folder in (one, other)]
    assert files[0].keys() - {DONE} == files[1].keys() - {DONE}  # which only a sweep writes
    assert files[0]["config.json"] == files[1]["config.json"]
    rows = [csv_rows(found["history.csv"].decode()) for found in files]
    assert rows[0] == rows[1]


# ---------------------------------------------------------------- from a list to folders


def test_a_sweep_does_what_a_list_says_once(listed, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["sweep", str(listed), "--out", str(out), "--workers", "2", "--json"]
    assert main([*command, "--only", "tc"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("seconds") > 0
    assert found == {"runs": 2, "finished": 2, "skipped": 0, "failed": 0}
    assert sorted(path.name for path in out.iterdir()) == ["tc-seed1", "tc-seed2"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["runs"], found["finished"], found["skipped"]) == (4, 2, 2)
    for job in read_list(listed):
        by_hand(job.settings, tmp_path / "by hand" / job.label)
        same_folders(job.settings, out / job.label, tmp_path / "by hand" / job.label)
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 4
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == stamps


def test_a_dry_run_says_what_there_is_to_do(listed, tmp_path, capsys):
    by_hand(read_list(listed)[0].settings, tmp_path / "out" / "td-seed2")
    before = contents(tmp_path / "out" / "td-seed2")
    command = ["sweep", str(listed), "--out", str(tmp_path / "out"), "--dry-run"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = [job["name"] for job in found["jobs"]]
    assert names == ["td-seed2", "td-seed1", "tc-seed2", "tc-seed1"]
    assert [job["state"] for job in found["jobs"]] == ["finished", *["missing"] * 3]
    assert [job["bytes"] for job in found["jobs"]] == [job.needs(None) for job in read_list(listed)]
    assert main(command) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["run", "state"] and first.split()[:2] == ["td-seed2", "finished"]
    assert contents(tmp_path / "out" / "td-seed2") == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["td-seed2"]


def test_results_come_in_the_order_of_the_list_and_small_seeds_go_first(tmp_path):
    runs = [("b", replace(SHORT, seed=3)), ("a", SHORT)]
    report = run_sweep(runs, tmp_path, workers=1, progress=False)
    assert [outcome.label for outcome in report.outcomes] == ["b-seed3", "a-seed1"]
    assert [outcome.done["actions"] for outcome in report.outcomes] == [SHORT.actions] * 2
    first, second = (tmp_path / label / "weights.npz" for label in ("a-seed1", "b-seed3"))
    assert first.stat().st_mtime_ns < second.stat().st_mtime_ns


def test_a_run_that_fails_stops_no_other(tmp_path, capsys):
    text = f'[defaults]\nnetwork = "{SMALL}"\nactions = 300_000\n[[run]]\nname = "fine"\n'
    text += '[[run]]\nname = "wild"\nrule = "td"\nalpha = 1.0\nlambda = 0.99\nno-delay = true\n'
    (tmp_path / "list.toml").write_text(text)
    status = main(["sweep", str(tmp_path / "list.toml"), "--out", str(tmp_path / "o"), "--json"])
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert status == 1 and (found["finished"], found["failed"]) == (1, 1)
    last = said.err.splitlines()[-1]
    assert last.startswith("lib2048: wild-seed1: failed, the weights grew without bound")
    assert (tmp_path / "o" / "fine-seed1" / "weights.npz").exists()


def test_what_has_no_mean_is_kept_without_one(tmp_path, capsys):
    """No game of a run may begin with two tiles, and none of a player's may have an action."""
    text = f'[[run]]\nname = "jumps"\nnetwork = "{SMALL}"\nrule = "tc"\nstarts = "s-jump"\n'
    text += 'games = 1\nseeds = [1, 2, 3]\n[[run]]\nname = "tiny"\nactions = 100\n'
    (tmp_path / "runs.toml").write_text(text + 'network = "cells:01@2048:four=0.5@1x2"\n')
    text = '[[play]]\nname = "dead"\nnetwork = "runs/tiny-seed1"\ndepth = 2\ngames = 1\n'
    (tmp_path / "plays.toml").write_text(text)
    for name in ("runs", "plays") * 2:  # the second time it reads what it has kept
        said = [str(tmp_path / f"{name}.toml"), "--out", str(tmp_path / name), "--json"]
        assert main(["sweep", *said]) == 0 and json.loads(capsys.readouterr().out)["failed"] == 0
    done = {path.parent.name: json.loads(path.read_text()) for path in tmp_path.rglob("done.json")}
    assert [row["mean_plies"] for row in done.pop("dead")["rows"]] == [None]
    assert None in [one["mean_last"] for one in done.values()]


# ---------------------------------------------------------------- what is refused


def test_another_run_of_that_name_is_refused_before_anything_runs(tmp_path, refused):
    by_hand(SHORT, tmp_path / "run-seed1")
    before = contents(tmp_path / "run-seed1")
    for changes, said in [
        ({"alpha": 0.2}, "alpha 0.1 instead of 0.2"),
        ({"actions": 10_000}, "finished with actions 20000 instead of 10000"),
        ({"actions": None, "games": 3}, "finished with actions 20000 instead of None"),
        ({"eval_every": 5_000}, "finished with eval_every None instead of 5000"),
    ]:
        runs = seeds(replace(SHORT, **changes), 2)
        refused(lambda runs=runs: run_sweep(runs[::-1], tmp_path), said)
    assert [path.name for path in tmp_path.iterdir()] == ["run-seed1"]
    assert contents(tmp_path / "run-seed1") == before


def test_a_finished_run_goes_on_to_a_larger_budget(tmp_path):
    more = replace(SHORT, actions=30_000)
    for settings in (SHORT, more):
        report = run_sweep([("run", settings)], tmp_path / "a", progress=False)
        assert report.count("finished") == 1
    by_hand(more, tmp_path / "b")
    same_folders(more, tmp_path / "a" / "run-seed1", tmp_path / "b")


REFUSED = {
    "scheduler": (["--scheduler", "tcp://127.0.0.1:1"], "scheduler tcp://127.0.0.1:1: no"),
    "no address": (["--scheduler", "nowhere:x"], "scheduler nowhere:x: no"),
    "no workers": (["--workers", "0"], "workers 0"),
    "workers and scheduler": (["--workers", "1", "--scheduler", "tcp://a:1"], "not allowed"),
    "name": (["--only", "sarsa"], "there is no 'sarsa' in this list, only td, tc"),
    "memory": (["--memory", "much"], "memory 'much': write a size"),
    "too little memory": (["--memory", "100 MiB"], "td-seed2 needs up to 512 MiB"),
}  # fmt: skip


@pytest.mark.parametrize("words, said", REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_sweep_is_refused_in_one_line(one_line_error, listed, tmp_path, words, said):
    assert said in one_line_error("sweep", listed, "--out", tmp_path / "out", *words)
    assert not (tmp_path / "out").exists()


def test_a_machine_with_too_little_memory_is_named(client, monkeypatch, tmp_path):
    needs = lambda settings: 1 << 60  # noqa: E731
    monkeypatch.setattr("lib2048.learn.tables.TableSettings.needed_bytes", needs)
    with pytest.raises(MemoryError, match="run-seed1 needs up to .* MiB") as error:
        run_sweep(seeds(SHORT, 2), tmp_path / "out", client)
    assert os.uname().nodename in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_workers_with_other_sources_are_refused(client, monkeypatch, tmp_path, refused):
    monkeypatch.setattr(carrying_out, "SOURCE_HASH", "0123456789ab")
    refused(lambda: run_sweep(seeds(SHORT, 2), tmp_path / "out", client), "another version")
    assert not (tmp_path / "out").exists()


def test_without_dask_one_line_says_what_to_install(monkeypatch, one_line_error, listed, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for words in ([], ["--scheduler", "tcp://127.0.0.1:1"]):
        assert ".[cluster]" in one_line_error("sweep", listed, "--out", tmp_path / "out", *words)


def test_a_file_in_place_of_the_folder_is_left_alone(one_line_error, listed):
    assert "is no folder" in one_line_error("sweep", listed, "--out", listed)


# ---------------------------------------------------------------- what dies on the way


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(client, tmp_path):
    """Eight runs on two workers, one of them killed by signal 9: the same results, bit for bit."""
    runs = seeds(replace(SHORT, actions=400_000), 4, "td")
    runs += seeds(replace(TC, actions=300_000), 4, "tc")
    killed = []

    def kill():
        wait_for(lambda: list((tmp_path / "a").glob("*/checkpoint.npz")))
        victim = next(pid for pid in client.run(os.getpid).values() if processes_of(pid))
        killed.extend(processes_of(victim))
        os.kill(victim, signal.SIGKILL)

    with beside(kill):
        report = run_sweep(runs, tmp_path / "a", client, progress=False)
    assert report.count("finished") == 8, report.outcomes
    assert killed and not any(child.is_running() for child in killed)
    for outcome, (_, settings) in zip(report.outcomes, runs, strict=True):
        folders = [tmp_path / part / outcome.label for part in "ab"]
        by_hand(settings, folders[1])
        same_folders(settings, *folders)


@pytest.mark.slow
def test_a_killed_run_goes_on(tmp_path):
    settings = replace(SHORT, actions=2_000_000)

    killed = []

    def kill():
        wait_for(lambda: list(tmp_path.glob("a/*/checkpoint.npz")))
        for _ in range(2):
            killed.append(wait_for(lambda: set(processes_of(os.getpid())) - set(killed)).pop())
            killed[-1].kill()

    with beside(kill):
        report = run_sweep([("run", settings)], tmp_path / "a", progress=False)
    assert report.count("finished") == 1 and len(killed) == 2, report.outcomes
    by_hand(settings, tmp_path / "b")
    same_folders(settings, tmp_path / "a" / "run-seed1", tmp_path / "b")


def started(runs, out, *words):
    """Start the command in a process of its own; return it when its runs have checkpoints."""
    text = f'[defaults]\nnetwork = "{SMALL}"\nactions = {1 << 50}\ncheckpoint-every = 0.1\n'
    text += "".join(f'[[run]]\nname = "{name}"\n' for name in runs)
    out.with_suffix(".toml").write_text(text)
    command = [*COMMAND, str(out.with_suffix(".toml")), "--out", str(out), *words, "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    count = min(2, len(runs))
    wait_for(lambda: len(list(out.glob("*/checkpoint.npz"))) == count or process.poll() is not None)
    return process


@pytest.mark.parametrize("name", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.slow)])
def test_a_stop_leaves_checkpoints(tmp_path, name):
    with started("abc", tmp_path / "out", "--workers", "2") as process:
        children = processes_of(process.pid)
        process.send_signal(signal.Signals[name])
        said, errors = process.communicate()
    assert process.returncode == 130, errors
    assert json.loads(said)["runs"] == 3 and json.loads(said)["failed"] == 0
    assert errors.splitlines()[-1].startswith("lib2048: stopped: 3 runs: 3 stopped")
    assert len(children) == 2 and not any(child.is_running() for child in children)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a-seed1", "b-seed1"}


@pytest.mark.slow
def test_a_laptop_that_slept_goes_on(tmp_path, monkeypatch):
    """Dask sends away a worker that it has not heard of for 5 minutes; here for ten heartbeats."""
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "1s")
    with started("a", tmp_path / "out") as process:
        [child] = processes_of(process.pid)
        process.send_signal(signal.SIGSTOP)
        time.sleep(8)
        process.send_signal(signal.SIGCONT)
        time.sleep(3)
        at_work = processes_of(process.pid)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[0]
    assert at_work == [child] and json.loads(said)["failed"] == 0


@pytest.mark.slow
def test_stop_ends_a_sweep_from_another_thread(client, tmp_path):
    stop = threading.Event()

    def press():
        wait_for(lambda: len(list(tmp_path.glob("*/checkpoint.npz"))) == 2)
        stop.set()

    with beside(press):
        report = run_sweep(seeds(ENDLESS, 3), tmp_path, client, stop=stop, progress=False)
    assert report.count("stopped") == 3 and "3 stopped" in str(report)
    assert len(list(tmp_path.glob("*/checkpoint.npz"))) == 2


@pytest.mark.slow
def test_a_sweep_without_workers_waits_and_can_be_stopped(tmp_path, capsys):
    stop = threading.Event()
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=ANY_PORT) as cluster,
        Client(cluster) as nobody,
    ):
        timer = threading.Timer(0.5, stop.set)
        timer.start()
        report = run_sweep(seeds(ENDLESS, 3), tmp_path, nobody, stop=stop, progress=False)
    assert str(report).startswith("3 runs: 3 stopped")
    assert "no worker is there yet" in capsys.readouterr().err


def test_a_folder_that_is_not_shared_is_refused(client, monkeypatch, tmp_path):
    elsewhere = tmp_path / ".sweep-elsewhere"
    mark = lambda folder: contextlib.nullcontext(elsewhere)  # noqa: E731
    monkeypatch.setattr(carrying_out, "_marked", mark)
    with pytest.raises(OSError, match="is not the sweep's on .*: use a shared disk"):
        run_sweep(seeds(SHORT, 2), tmp_path, client, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_sweep_has_left_goes_with_the_next(tmp_path):
    (tmp_path / ".sweep-dead").touch()
    with carrying_out._marked(tmp_path) as one, carrying_out._marked(tmp_path) as other:
        assert {*tmp_path.iterdir()} == {one, other}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_sweep_over_two_machines_of_which_one_fails():
    import two_machines

    if why := two_machines.lacking():
        pytest.skip(why)
    two_machines.main(["--actions", "10000000", "--cut", "3"])


@pytest.mark.slow
def test_runs_end_when_nobody_wants_them_any_longer(client, tmp_path):
    address = client.scheduler.address
    with started("a", tmp_path / "out", "--scheduler", address) as process:
        workers = client.run(os.getpid).values()
        (child,) = [child for worker in workers for child in processes_of(worker)]
        process.kill()
        process.communicate()
    wait_for(lambda: not child.is_running())
    assert (tmp_path / "out" / "a-seed1" / "checkpoint.npz").exists()


@pytest.mark.slow
def test_runs_die_with_the_process_that_started_them(tmp_path):
    with started("a", tmp_path / "out") as process:
        children = processes_of(process.pid)
        process.kill()
        process.communicate()
    assert len(children) == 1
    wait_for(lambda: not any(child.is_running() for child in children))


@pytest.mark.slow
def test_a_run_waits_for_another_process_in_its_folder(tmp_path):
    folder, seen = RunFolder(tmp_path / "run-seed1", SHORT, {}), []

    def let_go():
        with folder.held():
            held.set()
            wait_for(lambda: memory_shares.living())
            time.sleep(0.5)
            seen.extend(path.name for path in folder.path.glob("*.npz"))

    held = threading.Event()
    with beside(let_go):
        held.wait()
        report = run_sweep([("run", SHORT)], tmp_path, progress=False)
    assert report.count("finished") == 1 and seen == [], report.outcomes


# ---------------------------------------------------------------- memory


def test_two_runs_of_60_percent_go_one_after_the_other(tmp_path):
    seen, over = [], threading.Event()

    def look():
        while not over.wait(0.01):
            seen.append(len(memory_shares.living()))

    most = int((512 << 20) / 0.6)
    with beside(look):
        report = run_sweep(seeds(SHORT, 2), tmp_path, workers=2, memory=most, progress=False)
        over.set()
    assert report.count("finished") == 2
    assert max(seen) == 1 and seen.count(1) > 1


def test_a_run_of_110_percent_is_refused(tmp_path):
    with pytest.raises(MemoryError, match="run-seed1 needs up to 512 MiB of memory, and 465 MiB"):
        run_sweep(seeds(SHORT, 2), tmp_path / "out", memory=int((512 << 20) / 1.1))
    assert not (tmp_path / "out").exists()


def test_a_sweep_says_that_it_waits_for_the_memory_of_others(tmp_path, monkeypatch):
    told, reports, most, others = [], [], 600 << 20, contextlib.ExitStack()
    monkeypatch.setattr(carrying_out, "say", told.append)

    def sweep():
        reports.append(run_sweep(seeds(SHORT, 1), tmp_path, memory=most, progress=False))

    others.enter_context(memory_shares.share(512 << 20, most))
    with beside(sweep):
        line = wait_for(lambda: told)[0]
        others.close()
    assert "run-seed1 needs up to 512 MiB of memory, and 88 MiB are there for it on" in line
    assert line.endswith("it waits for other runs to end")
    assert reports[0].count("finished") == 1 and len(told) == 1


def test_shares_never_exceed_what_is_granted():
    inside, most = [], []

    def take(nbytes):
        with memory_shares.share(nbytes, granted=100):
            inside.append(nbytes)
            most.append(sum(inside))
            time.sleep(0.05)
            inside.remove(nbytes)

    threads = [threading.Thread(target=take, args=(n,)) for n in (60, 60, 30, 40, 100, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 6 and 60 <= max(most) <= 100
    with pytest.raises(MemoryError), memory_shares.share(101, granted=100):
        pass


def test_without_a_limit_others_count_with_what_they_may_still_take(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000 << 30)
    monkeypatch.setattr(memory_shares, "PATIENCE", 0)
    taken = psutil.Process().memory_info().rss
    with memory_shares.share(600 << 30):
        assert 1000 << 30 < memory_shares.most() < (1000 << 30) + 2 * taken
        with memory_shares.share(400 << 30):
            assert len(memory_shares.living()) == 2
    with (
        pytest.raises(MemoryError, match="needs up to 1,126,400 MiB"),
        memory_shares.share(1100 << 30),
    ):
        pass


def test_the_share_of_a_killed_process_comes_back():
    program = "from lib2048.sweep.memory_shares import share\n"
    program += "with share(80, 100):\n print('taken', flush=True)\n input()"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"taken\n"
        assert [share.nbytes for share in memory_shares.living()] == [80]
        process.kill()
        with memory_shares.share(80, 100):
            assert [share.pid for share in memory_shares.living()] == [os.getpid()]
    assert memory_shares.living() == []


def test_a_folder_of_somebody_else_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    memory_shares.folder()
    with monkeypatch.context() as patch, contextlib.suppress(AttributeError):
        user = os.getuid()
        patch.setattr(os, "getuid", lambda: user + 1)
        Path(tmp_path, f"lib2048-{user}").rename(tmp_path / f"lib2048-{user + 1}")
        with pytest.raises(OSError, match="belongs to somebody else"):
            memory_shares.folder()
