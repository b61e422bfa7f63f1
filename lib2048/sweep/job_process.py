"""A job in a process of its own, which lives no longer than the one that started it.

Not in the worker itself: so its memory is free when it ends, a crash or the system's hunt for
memory takes one run and no worker with it, the number of threads is each run's own, and Stop is
what it is for `lib2048 train`, a polite kill: checkpoint, then the end.  It comes by a pipe, since
Windows knows no polite kill of another process.  The worker holds one end of that pipe; when the
worker dies, even by signal 9, the system closes it, and the process ends at once, so that another
may go on from the checkpoint.
"""

import _thread
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from lib2048.machine.child import ALONE
from lib2048.machine.kernels import LIBRARY
from lib2048.sweep import memory_shares
from lib2048.sweep.lists import KINDS
from lib2048.train.watching import Stopped

LOOK_SECONDS = 0.5  # between two looks whether the job is still wanted
LAST_WORDS = 300  # characters
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
EXPECTED = (ValueError, MemoryError, OSError, FloatingPointError)  # their text says all

# ---------------------------------------------------------------- the worker's side


class Died(Exception):
    """A process ended without an answer: it may be tried again, it goes on from its checkpoint."""


def in_process(order, wanted):
    """Do a job in a process of its own; return its answer, a dict with 'state' and maybe 'why'.

    order: what `_answer` takes; wanted: a function that says whether to go on.  When it says no,
    the process stops politely.  Raises `Died` when the process ends without an answer, unasked.
    """
    with tempfile.TemporaryFile() as said, _started(order, said) as process:
        try:
            stopped = _watch(process, wanted)
            answer = process.stdout.read()
        finally:
            process.kill()
        if answer:
            return json.loads(answer)
        if stopped:
            return {"state": "stopped"}
        raise Died(_death(process.wait(), said))


def _started(order, said):
    threads = str(order["threads"])
    path = os.pathsep.join(filter(None, [str(LIBRARY.parent), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        **ALONE,  # Ctrl-C is the worker's alone
        cwd=order["here"] if os.path.isdir(order["here"]) else None,
        env=os.environ | {"PYTHONPATH": path} | dict.fromkeys(THREADS, threads),
    )
    with contextlib.suppress(OSError):  # it is dead: its last words say why
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
    return process


def _watch(process, wanted):
    """Wait until a process ends; return whether it was asked to."""
    asked = False
    while process.poll() is None:
        try:
            process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if not (asked or wanted()):
                with contextlib.suppress(OSError):  # it has just ended
                    process.stdin.write(b"stop")
                    process.stdin.flush()
                asked = True
    return asked


def _death(status, said):
    """Say how a process ended, and what it said last."""
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines() or [""]
    how = f"exit status {status}"
    if status < 0:
        how = f"signal {-status} ({str(signal.strsignal(-status)).lower()})"
    return f"its process ended by {how}: {lines[-1][:LAST_WORDS]}".removesuffix(": ")


# ---------------------------------------------------------------- the process's side


def serve():
    """Do the one job that is asked for: the whole life of the process."""
    orders, answers = open(os.dup(0), "rb", buffering=0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what is printed is no answer
    line = orders.readline()
    if line:
        threading.Thread(target=_heed, args=(orders,), daemon=True).start()
        os.write(answers, json.dumps(_answer(json.loads(line))).encode())
    sys.stderr.flush()
    os._exit(0)  # threads that are still at work shall not keep it


def _heed(pipe):
    """Stop politely when a pipe says so, and at once when its other end is gone."""
    while pipe.read(4) and signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        _thread.interrupt_main(signal.SIGTERM)  # as if it had come
    os._exit(1)


def _answer(order):
    """Do a job and return what came of it; order: see `carrying_out`."""
    try:
        job, folder = KINDS[order["kind"]].of(order["job"]), Path(order["folder"])
        with memory_shares.share(order["nbytes"], order["granted"]):
            return {"state": "finished", "done": job.go(folder)}
    except Stopped:
        return {"state": "stopped"}
    except Exception as error:
        return {"state": "failed", "why": reason_of(error)}


def reason_of(error):
    """Return what an exception says, in one line."""
    text = " ".join(str(error).split())
    return text if text and isinstance(error, EXPECTED) else f"{type(error).__name__}: {text}"
