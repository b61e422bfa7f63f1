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
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from typing import NamedTuple

import psutil

from lib2048.machine import process as this_process
from lib2048.machine import put_together
from lib2048.machine.source_text import source_of

try:
    import resource
except ImportError:  # on Windows
    resource = None

__all__ = ["Child", "Ended", "Loaded", "ask", "end_descendants", "load", "load_all", "source_of"]

# For a process whose own ones can be ended together, and that no Ctrl-C of ours reaches.
ALONE = {"start_new_session": True, "creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
LOOK_SECONDS = 0.1  # between two looks at what a call has taken
PRINTED = 2000  # characters of what the child printed
PATIENCE = 5  # a function may take so many times its seconds while others use the processor
START_SECONDS = 60  # a slow machine needs long to import numba for the first time
YOUR_CODE = "<your code"  # how the file names of loaded texts begin
_numbers = itertools.count(1)


class Ended(Exception):
    """Say why a child process gave no answer; `reason` is a short plain sentence."""

    reason = property(str)


class NotStarted(Ended):
    """It did not come so far as to be asked."""


# ---------------------------------------------------------------- the process that asks

_children = weakref.WeakSet()


@this_process.on_sudden_end
def _close_all():
    """End the processes of all children."""
    for one in list(_children):
        one.close()


# The child keeps the pipes of its orders and answers to itself, so that nothing a function reads
# or prints can get in there: input() finds its end at once, and does not wait.
START = f"""
import json, os, sys
orders, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
sys.path[:] = json.loads(orders.readline())
from {__name__} import _serve
_serve(orders, answers)
"""
READY, UNLIMITED = b"ready\n", b"ready, with no limit of memory\n"
PRINTED_ALL = b"\0that was all\0"


def ask(task, message, seconds, memory_mib=None):
    """Call a function in a fresh Python process and return what it answers; see `Child.ask`."""
    with Child() as child:
        return child.ask(task, message, seconds, memory_mib)


class Child(contextlib.AbstractContextManager):
    """A Python process that calls functions for us, one after the other.

    It starts when it is first asked, or by `warm`, and is ended by `close`, at the end of a
    `with`, and when this process ends.  After an order that gave no answer it is ended, and the
    next order starts a fresh one.
    """

    def __init__(self, environment=None):
        """environment: {name: text} that it has beside ours."""
        self._environment = environment or {}
        self._process = self._lines = self._printed = None
        _children.add(self)

    def __exit__(self, *_):
        self.close()

    def warm(self, module):
        """Start the process and let it import a module, without waiting for it."""
        self._send({"task": f"{module}:__name__"})

    def ask(self, task, message, seconds, memory_mib=None):
        """Call a function there and return what it answers.

        task: "package.module:function", called with `message`, a dict that JSON can hold; it
        returns another.  seconds: of the processor that the call may take, imports not counted;
        memory_mib: how much memory it may take beyond what those imports did; where the system
        sets no such limit (Windows, macOS), we look ten times a second.  Returns {"answer": what
        it returned, "printed": the first 2000 characters of what it printed}.  Raises `Ended` when
        there is no answer.
        """
        limits = {"seconds": seconds, "memory_mib": memory_mib}
        try:
            self._send({"task": task, "message": message, **limits})
            reply = self._reply(seconds, memory_mib)
        except BaseException:
            self.close()
            raise
        if "ended" in reply:
            self.close()
            raise Ended(reply["ended"])
        return reply | {"printed": self._printed.all()}

    @property
    def pid(self):
        """The number of its process, None where none is there."""
        return self._process and self._process.pid

    def close(self):
        """End the process, and those that it started."""
        if self._process:
            self._process = None
            self._ending()  # before its orders end: it would go, and its processes stay unknown
            self._orders.put(None)

    def _send(self, order):
        text = json.dumps(order | {"path": _path()}).encode()
        if self._process is None:
            self._start()
        self._orders.put(text + b"\n")

    def _start(self):
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | self._environment,
            **ALONE,
        )
        self._lines, self._printed = _lines(process.stdout), _Printed(process.stderr)
        self._orders = _writer(process.stdin)
        self._orders.put(json.dumps(_path()).encode() + b"\n")
        self._ending = weakref.finalize(self, _end, process)

    def _reply(self, seconds, memory_mib):
        """Wait for the reply to the newest order, a dict.  Raises Ended when none comes."""
        limit, meter = START_SECONDS, None
        late = f"did not start within {START_SECONDS} s: is the computer busy?"
        while True:
            try:
                line = self._lines.get(timeout=min(limit, LOOK_SECONDS) if meter else limit)
            except queue.Empty:
                if meter and meter.took_more():
                    raise Ended(_too_large(memory_mib)) from None
                limit = meter.left() if meter else 0
                if limit <= 0:
                    raise (Ended if meter else NotStarted)(late) from None
                continue
            if line.startswith(b"{"):
                return json.loads(line)
            if line in (READY, UNLIMITED):
                watched_mib = memory_mib if line == UNLIMITED else None
                limit, meter = seconds, _Meter(self._process.pid, seconds, watched_mib)
                late = f"took longer than {seconds:g} s: is there a loop that does not end?"
            if not line:
                raise Ended(_death(self._process, late, limit))


class _Meter:
    """Counts what a child takes: seconds of the processor, which on a busy machine are fewer than
    ours, and memory, for systems that set no limit to it."""

    def __init__(self, pid, seconds, memory_mib):
        self._child, self._seconds = psutil.Process(pid), seconds
        self._before, self._begin = self._used(), time.perf_counter()
        self._most = math.inf if memory_mib is None else self._size() + memory_mib * 2**20

    def _used(self):
        with contextlib.suppress(psutil.Error):
            return sum(self._child.cpu_times()[:2])
        return math.inf

    def _size(self):
        with contextlib.suppress(psutil.Error):
            return self._child.memory_info().rss
        return 0

    def took_more(self):
        """Say whether it has taken more memory than it may."""
        return self._size() > self._most

    def left(self):
        """Return how long to wait still: 0 when its seconds are used, or many more went by."""
        if time.perf_counter() - self._begin > PATIENCE * self._seconds:
            return 0  # it sleeps, or waits for something
        return max(0, self._seconds - (self._used() - self._before))


def _path():
    """Return where Python looks for modules now: the child is to look there, too."""
    return [entry for entry in sys.path if isinstance(entry, str)]


def _end(process):
    """End a process, and those that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):  # nothing is left
            os.killpg(process.pid, signal.SIGKILL)
    else:  # Windows has no groups, only parents
        end_descendants(process.pid)
    process.kill()
    process.wait()


def end_descendants(pid):
    """End the processes that a process has started, and theirs, but not itself."""
    started = []
    with contextlib.suppress(psutil.Error):
        started = psutil.Process(pid).children(recursive=True)
    for one in started:
        with contextlib.suppress(psutil.Error):
            one.kill()


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


def _writer(pipe):
    """Return a queue whose entries are written into a pipe: no order is too long to wait for."""
    orders = queue.SimpleQueue()

    def write():
        with contextlib.suppress(OSError), pipe:  # it has ended: who waits for the answer is told
            while order := orders.get():
                pipe.write(order)
                pipe.flush()

    threading.Thread(target=write, daemon=True).start()
    return orders


class _Printed:
    """The first characters of what each order printed, from a pipe that is read to its end."""

    def __init__(self, pipe):
        self._kept, self._over = bytearray(), threading.Event()
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe):
        tail = b""
        with pipe:
            while chunk := pipe.read1(1 << 16):
                tail = (tail + chunk)[-len(PRINTED_ALL) :]
                self._kept.extend(chunk[: max(0, 4 * PRINTED - len(self._kept))])
                if tail == PRINTED_ALL:
                    self._over.set()
        self._over.set()

    def all(self):
        """Return what the order printed, now that it is over, and begin anew."""
        self._over.wait(1)  # a process that left the child's session may go on printing
        text = bytes(self._kept).removesuffix(PRINTED_ALL).decode("utf-8", "replace")[:PRINTED]
        self._kept.clear()
        self._over.clear()
        return text


def _death(process, late, limit):
    """Say how a process ended that gave no answer."""
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        return late
    crashes = [-getattr(signal, name, 0) for name in ("SIGSEGV", "SIGBUS")]
    if status in [*crashes, 0xC0000005, 0xC00000FD]:  # the last two are those of Windows
        return "ended the process (segmentation fault): did it write outside an array?"
    how = str(signal.strsignal(-status)).lower() if status < 0 else f"exit status {status}"
    return f"ended the process ({how})"


def _too_large(memory_mib):
    return f"used more than {memory_mib:g} MiB of memory"


# ---------------------------------------------------------------- inside the child


def load(text):
    """Execute a text of `source_of` and return its FUNCTIONS, a dict.

    Its lines appear in tracebacks and in the errors of numba.
    """
    return load_all(text).functions


class Loaded(NamedTuple):
    """What a text of `source_of` makes, and the places where it keeps what the functions use.

    functions: its FUNCTIONS.  rooms: dicts of global names, one for each module that the functions
    come from: whatever calls a helper by its name finds it there, also under a decorator, in a
    method or in an inner function.  cells: the variables of outer functions that inner ones use.
    things: all else that was made, as lists, classes and objects.
    """

    functions: dict
    rooms: list
    cells: list
    things: list

    def replace(self, old, new):
        """Put another thing in the place of one: in all rooms and cells, and in all that holds it.

        That is a tuple, list or dict, a partial, a default value, an attribute of a class, of an
        object or of a function.
        """
        put_together.replace(old, new, self.rooms, self.cells, self.things)


def load_all(text):
    """Execute a text of `source_of`, as `load` does, and return all that it makes, as `Loaded`.

    A text that somebody wrote by hand has one room: that of its own names.
    """
    name = f"{YOUR_CODE} {next(_numbers)}>"
    lines = [f"{line}\n" for line in text.split("\n")]
    linecache.cache[name] = (len(text), None, lines, name)
    room = {"__name__": None}
    exec(compile(text, name, "exec", dont_inherit=True), room)
    things = [thing for name, thing in room.items() if name.strip("_").isdecimal()]
    rooms, cells = getattr(room.get("PLACES"), "kept", ([room], []))
    return Loaded(room["FUNCTIONS"], rooms, cells, things)


def _serve(orders, answers):
    """Carry out one order after the other: the child's whole life.  answers: a file number."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # kept is what was printed, without warnings
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no file of a crash in anyone's folder
    with open(answers, "w", encoding="ascii") as out:
        while line := orders.readline():
            _answer(json.loads(line), out)
    os._exit(0)  # threads that nobody ended shall not keep it


def _answer(order, out):
    sys.path[:] = order["path"]
    module, name = order["task"].split(":")
    if "message" not in order:  # a call to get ready
        with contextlib.suppress(Exception):  # said when it is asked for something
            importlib.import_module(module)
        return
    reply = _carry_out(module, name, order, out)
    with contextlib.suppress(Exception):  # whatever was made of sys.stdout
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        os.write(1, PRINTED_ALL)
    print(reply, file=out, flush=True)


def _carry_out(module, name, order, out):
    """Call the task and return the reply as JSON."""
    try:
        task = getattr(importlib.import_module(module), name)
        with _limited(order["seconds"], order["memory_mib"]) as is_limited:
            print((READY if is_limited else UNLIMITED).decode(), end="", file=out, flush=True)
            return json.dumps({"answer": task(order["message"])})
    except BaseException as error:
        return json.dumps({"ended": _reason(error, order["memory_mib"])})


@contextlib.contextmanager
def _limited(seconds, mib):
    """Limit what is done inside; yield whether the system limits memory.  mib: of it, or None."""
    alarm = getattr(signal, "alarm", lambda seconds: None)  # Windows has none
    alarm(PATIENCE * int(seconds) + 10)  # ends this process even when the one that asked is gone
    if not resource or mib is None:
        yield False
    else:
        before = resource.getrlimit(resource.RLIMIT_AS)
        limit = psutil.Process().memory_info().vms + int(mib * 2**20)
        is_limited = sys.platform == "linux"  # macOS takes a limit, and forgets it
        try:
            resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
        except (ValueError, OSError):  # lower already, or the system will not
            is_limited = False
        try:
            yield is_limited
        finally:  # saying what went wrong takes memory too
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_AS, before)
    alarm(0)


def _reason(error, memory_mib):
    """Say in a sentence what was raised, and by which line of the reader's code."""
    what = f"{type(error).__name__}: {error}"[:1000].removesuffix(": ")
    if isinstance(error, MemoryError) and memory_mib:
        what = _too_large(memory_mib)
    if isinstance(error, RecursionError):
        what = "recursed without end"
    place = own_frame(error)
    return f"{what} (in {place.name}: {place.line})" if place else what


def own_frame(error):
    """Return the innermost frame of an error's in the reader's code, None where it has none."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    return next((frame for frame in frames if frame.filename.startswith(YOUR_CODE)), None)
