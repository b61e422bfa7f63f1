"""One process at a time: a lock that ends with its holder, however that ends."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from lib2048.machine.lock import Lock

HOLD = """
import sys, time
from lib2048.machine.lock import Lock
lock = Lock(sys.argv[1])
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
lock.release()
"""


def holder(path):
    """Start a process that holds a lock until it is told to end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], **pipes)
    assert process.stdout.readline() == "held\n"
    return process


def end(process, how):
    process.communicate("\n") if how is None else os.kill(process.pid, how)
    process.communicate()


def taken_and_given_back(path):
    """Take a lock that is free, twice, and give it back."""
    lock = Lock(path)
    for _ in range(2):
        assert not lock.held
        lock.acquire()
        assert lock.held and json.loads(path.read_text()[1:])["pid"] == os.getpid()
        lock.release()
        assert not path.exists()
    lock.release()


def test_a_lock_is_taken_and_given_back(tmp_path):
    taken_and_given_back(tmp_path / "lock")


def test_a_second_holder_is_told_who_has_it(tmp_path):
    process = holder(tmp_path / "lock")
    with pytest.raises(ValueError) as error:
        Lock(tmp_path / "lock").acquire()
    line = str(error.value)
    assert f"process {process.pid} on" in line and "since 2" in line and "\n" not in line
    assert line.startswith(f"{tmp_path}: ")
    end(process, None)
    taken_and_given_back(tmp_path / "lock")


@pytest.mark.parametrize("how", [None, getattr(signal, "SIGKILL", signal.SIGTERM)])
def test_one_may_wait_for_it(tmp_path, how):
    process, lock = holder(tmp_path / "lock"), Lock(tmp_path / "lock")
    begin = time.monotonic()
    with pytest.raises(ValueError):
        lock.acquire(wait=0.5)
    assert time.monotonic() - begin >= 0.5
    threading.Timer(0.5, end, (process, how)).start()
    lock.acquire(wait=60)
    assert lock.held
    lock.release()


def test_a_lock_whose_file_was_removed_is_lost(tmp_path):
    one, other = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    one.acquire()
    (tmp_path / "lock").unlink()
    assert not one.held
    other.acquire()
    one.release()
    assert other.held  # what is not its own any more, it leaves alone
    other.release()


def test_a_strange_file_in_its_place_is_taken(tmp_path):
    (tmp_path / "lock").write_bytes(b"[1, 2" + bytes(50))
    taken_and_given_back(tmp_path / "lock")


def test_of_many_that_come_at_once_one_has_it_at_a_time(tmp_path):
    inside, most, lock_of = [0], [0], lambda: Lock(tmp_path / "lock")

    def work():
        for _ in range(20):
            lock = lock_of()
            lock.acquire(wait=60)
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.001)
            inside[0] -= 1
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] and not list(tmp_path.iterdir())


@pytest.mark.parametrize("odd", ["link", "folder", "fifo"])
def test_what_is_no_lock_of_ours_is_left_alone(tmp_path, refused, odd):
    path, target = tmp_path / "lock", tmp_path / "thesis.tex"
    target.write_text("years of work")
    made = {"link": lambda: path.symlink_to(target), "folder": path.mkdir}
    made.get(odd, lambda: os.mkfifo(path))()
    refused(Lock(path).acquire, "is no plain file")
    assert target.read_text() == "years of work" and os.path.lexists(path)
