"""A reader's own functions, run in a process of their own with a limit on time and memory.

This protects against accidents: a loop or a recursion without end, an exception, a crash, too much
memory.  Whatever happens, the process that asked goes on, and is told why there is no answer.

It does not protect against malice.  The code runs with all rights of the user who starts it: it
may read and delete files and use the network, and a process that it starts in a session of its own
is not ended with it.  Look at code from strangers before you run it, or use a container.
"""

import contextlib
import importlib
import itertools
import json
import linecache
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

import psutil

from lib2048.machine.travel import source_of

try:
    import resource
except ImportError:  # on Windows
    resource = None

__all__ = ["Ended", "ask", "load", "source_of"]

PRINTED = 2000  # characters of what the child printed
START_SECONDS = 60  # a slow machine needs long to import numba for the first time
YOUR_CODE = "<your code"  # how the file names of loaded texts begin
_numbers = itertools.count(1)


class Ended(Exception):
    """Say why a child process gave no answer; `reason` is a short plain sentence."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


# ---------------------------------------------------------------- the process that asks

# The child keeps the pipe of its answer to itself, so nothing that it prints can get in there.
START = f"""
import json, os, sys
channel = os.dup(1)
os.dup2(2, 1)
order = json.load(sys.stdin.buffer)
sys.path[:] = order["path"]
from {__name__} import _serve
_serve(order, channel)
"""
READY = b"ready\n"


def ask(task, message, seconds, memory_mib=None):
    """Call a function in a fresh Python process and return what it answers.

    task: "package.module:function", called with `message`, a dict that JSON can hold; it returns
    another.  seconds: how long that call may take, imports not counted; memory_mib: how much memory
    it may take beyond what those imports did (not on Windows, and macOS may ignore it).  Returns
    {"answer": what it returned, "printed": the first 2000 characters of what it printed}.  Raises
    `Ended` when there is no answer; neither way is any process of it left running.
    """
    path = [entry for entry in sys.path if isinstance(entry, str)]
    limits = {"seconds": seconds, "memory_mib": memory_mib}
    child = _start(json.dumps({"path": path, "task": task, "message": message, **limits}))
    try:
        lines, printed = _lines(child.stdout), _beginning(child.stderr)
        reply = _reply(child, lines, seconds)
    finally:
        _kill(child)
    if "ended" in reply:
        raise Ended(reply["ended"])
    return reply | {"printed": printed()}


def _start(order):
    with tempfile.TemporaryFile() as file:  # not a pipe: no order is too long for it
        file.write(order.encode())  # and input() finds its end, and does not wait
        file.seek(0)
        return subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # its processes can be ended together; Ctrl-C is ours alone
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )


def _lines(pipe):
    """Return a queue of a pipe's lines; b"" is the last."""
    lines = queue.SimpleQueue()

    def read():
        with pipe:
            for line in pipe:
                lines.put(line)
        lines.put(b"")

    threading.Thread(target=read, daemon=True).start()
    return lines


def _beginning(pipe):
    """Read a pipe to its end; return a function that returns the first characters."""
    kept = bytearray()

    def read():
        with pipe:
            while chunk := pipe.read1(1 << 16):
                kept.extend(chunk[: 4 * PRINTED - len(kept)])

    def get():
        reader.join(1)  # a process that left the child's session may hold the pipe open
        return kept.decode("utf-8", "replace")[:PRINTED]

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return get


def _reply(child, lines, seconds):
    """Wait for the child's one reply, a dict.  Raises Ended when none comes."""
    limit, late = START_SECONDS, f"did not start within {START_SECONDS} s: is the computer busy?"
    try:
        while not ((line := lines.get(timeout=limit)).startswith(b"{") and line.endswith(b"}\n")):
            if line == READY:
                limit = seconds
                late = f"took longer than {seconds:g} s: is there a loop that does not end?"
            if not line:
                raise Ended(_death(child.wait(limit)))
    except (queue.Empty, subprocess.TimeoutExpired):
        raise Ended(late) from None
    return json.loads(line)


def _death(status):
    """Say how a process ended that gave no answer."""
    crashes = [-getattr(signal, name, 0) for name in ("SIGSEGV", "SIGBUS")]
    if status in [*crashes, 0xC0000005, 0xC00000FD]:  # the last two are those of Windows
        return "ended the process (segmentation fault): did it write outside an array?"
    how = str(signal.strsignal(-status)).lower() if status < 0 else f"exit status {status}"
    return f"ended the process ({how})"


def _kill(child):
    with contextlib.suppress(OSError, AttributeError):  # nothing left to end; Windows has no groups
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


# ---------------------------------------------------------------- inside the child


def load(text):
    """Execute a text of `source_of` and return its FUNCTIONS, a dict.

    Its lines appear in tracebacks and in the errors of numba.
    """
    name = f"{YOUR_CODE} {next(_numbers)}>"
    lines = [f"{line}\n" for line in text.split("\n")]
    linecache.cache[name] = (len(text), None, lines, name)
    room = {"__name__": None}
    exec(compile(text, name, "exec", dont_inherit=True), room)
    return room["FUNCTIONS"]


def _serve(order, channel):
    """Carry out one order: the child's whole life.  channel: the pipe of its answer."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # kept is what was printed, without warnings
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    with open(channel, "w", encoding="ascii") as out:
        reply = _carry_out(order, out)
        with contextlib.suppress(Exception):  # whatever was made of sys.stdout
            sys.stdout.flush()
        print(reply, file=out)


def _carry_out(order, out):
    """Call the task and return the reply as JSON."""
    try:
        module, name = order["task"].split(":")
        task = getattr(importlib.import_module(module), name)
        _prepare_for_the_worst(order["seconds"])
        print(READY.decode(), end="", file=out, flush=True)
        with _limited_memory(order["memory_mib"]):
            return json.dumps({"answer": task(order["message"])})
    except BaseException as error:
        return json.dumps({"ended": _reason(error, order["memory_mib"])})


def _prepare_for_the_worst(seconds):
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no file of a crash in anyone's folder
        signal.alarm(int(seconds) + 10)  # ends this process even when the one that asked is gone


@contextlib.contextmanager
def _limited_memory(mib):
    """Limit the memory that is taken inside, where the system can.  mib: how much, or None."""
    if not resource or mib is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = psutil.Process().memory_info().vms + int(mib * 2**20)
    with contextlib.suppress(ValueError, OSError):  # it is lower already, or the system will not
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:  # saying what went wrong takes memory too
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, before)


def _reason(error, memory_mib):
    """Say in a sentence what was raised, and by which line of the reader's code."""
    what = f"{type(error).__name__}: {error}"[:1000].removesuffix(": ")
    if isinstance(error, MemoryError) and memory_mib:
        what = f"used more than {memory_mib:g} MiB of memory"
    if isinstance(error, RecursionError):
        what = "recursed without end"
    frames = traceback.extract_tb(error.__traceback__)
    yours = [frame for frame in frames if frame.filename.startswith(YOUR_CODE)]
    return f"{what} (in {yours[-1].name}: {yours[-1].line})" if yours else what
