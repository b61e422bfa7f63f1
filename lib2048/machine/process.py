"""The process of the command `lib2048`: what it begins with, and how Ctrl-C ends it.

Importing this module is the first thing that the package does, and so it imports little itself.  In
any other program it changes nothing; in the command it sees to it that

* Ctrl-C ends the import, with one line, and later `watched` ends whatever does not end by itself;
* stderr never fails, and every letter can be written somehow.
"""

import contextlib
import os
import re
import signal
import sys
import warnings

STOPPED = 130  # exit status, as a shell gives it to what Ctrl-C ended
REFUSED = 2
UNREADABLE = re.compile(  # what numba says of a variable
    r"Environment variable '(NUMBA_\w+)' is defined but its associated value '(.*?)' could",
    re.DOTALL,
)
PATIENCE = 0.7  # seconds in which the main thread may end by itself
_undo = []
_watching = False  # whether this process is the command, past its beginning
_heard = False  # whether it ends because of Ctrl-C


def is_command():
    """Say whether this process is `lib2048 …` or `python -m lib2048.cli …`."""
    if sys.argv[:1] == ["-m"]:  # as long as the package is imported
        return ("-m", "lib2048.cli") in zip(sys.orig_argv, sys.orig_argv[1:])
    return os.path.splitext(os.path.basename("".join(sys.argv[:1])))[0] == "lib2048"


def on_sudden_end(undo):
    """Let a function be called before the process is ended at once: it leaves nothing half done."""
    _undo.append(undo)
    return undo


# ---------------------------------------------------------------- the beginning


def begin():
    """Make ready before anything large is imported, other modules of ours included."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored
        signal.signal(signal.SIGINT, lambda *_: _end())
    for number in range(3):  # no file that is opened later takes the place of a closed stream
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    from lib2048.machine.terminal import steady_streams

    steady_streams()
    _refuse_variables()


def _refuse_variables():
    """Refuse in one line what numba warns of at length, or fails by: its environment variables."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "1").strip()
    if threads.lstrip("-").isdecimal() and int(threads) < 1:
        _refuse_variable("NUMBA_NUM_THREADS", threads)
    usual = warnings.showwarning

    def show(message, *more):
        if found := UNREADABLE.match(str(message)):
            _refuse_variable(*found.groups())
        usual(message, *more)

    warnings.showwarning = show


def _refuse_variable(name, value):
    from lib2048.machine.terminal import one_line

    why = "numba wants a number above 0, or none" if "NUM" in name[5:] else "numba cannot read it"
    print(f"lib2048: {name}={one_line(value)}: {why}", file=sys.stderr)
    os._exit(REFUSED)


# ---------------------------------------------------------------- the end


@contextlib.contextmanager
def watched():
    """End the process for sure within a second after Ctrl-C or a polite kill, while this lasts.

    Either raises KeyboardInterrupt in the main thread, as usual.  Where that is deep in another
    language (LLVM, torch, a kernel) and has not come to `stopped` after PATIENCE, another thread
    ends the process.  Where Ctrl-C is ignored, or has a handler of its own, nothing changes.
    """
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        yield
        return
    import socket
    import threading

    global _watching
    _watching = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    near, far = socket.socketpair()
    far.setblocking(False)
    before = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(near,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        far.close()


def _watch(near):
    """Wait for Ctrl-C or its like, and then for the main thread to end; see `watched`."""
    import time

    with near:
        while numbers := near.recv(64):
            if any(signal.getsignal(n) is signal.default_int_handler for n in numbers):
                time.sleep(PATIENCE)
                if not _heard:
                    _end()


def _end():
    """End the process at once, with one line."""
    for undo in _undo:
        with contextlib.suppress(Exception):
            undo()
    tqdm = sys.modules.get("tqdm")
    over = b"\r" + b" " * 79 + b"\r" if tqdm and getattr(tqdm.tqdm, "_instances", ()) else b""
    with contextlib.suppress(OSError):  # past sys.stderr, whose lock the main thread may hold
        os.write(2, over + b"lib2048: stopped\n")
    os._exit(STOPPED)


def stopped(said="stopped"):
    """Say that the command ends by itself, because of Ctrl-C, which is not heard any more.

    Returns its exit status.
    """
    global _heard
    if _watching:
        _heard = True
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    print(f"lib2048: {said}", file=sys.stderr)
    return STOPPED


def leave(status):
    """Return an exit status; after Ctrl-C, end the process with it.

    Python would wait for threads that do what nobody wants any more, and take torch apart.
    """
    if _heard:
        import atexit

        from lib2048.machine.threads import end_busy

        atexit.unregister(end_busy)  # this very end needs none of it
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):
                stream.flush()
        os._exit(status)
    return status


if is_command():
    begin()
