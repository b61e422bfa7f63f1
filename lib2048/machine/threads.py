"""Work in other threads, while this one waits for it and hears Ctrl-C.

Python looks at a signal between two of its own steps.  A thread that compiles, searches or waits
for an answer of torch is inside of one for seconds, and numba, interrupted there, keeps half of
what it was making.  So the thread that a person can interrupt only waits here.  What it waited for
goes on in its own thread, until it looks at a flag or to its end, and its answer is dropped.
"""

import atexit
import ctypes
import itertools
import os
import queue
import threading
import time
import weakref
from collections import deque
from concurrent.futures import Future
from concurrent.futures import wait as first_of

LOOK = 0.05  # seconds between two looks at an event
PATIENCE = 0.7  # seconds in which what was told to end may do so
_busy: set[int] = set()  # threads of a `Pool` that do a task
AHEAD = 2  # tasks of a thread that are handed out before the first of them is over


def aside(task, stop=None):
    """Return what a task returns, or raise what it raises; meanwhile Ctrl-C is heard.

    task: a function without arguments; stop: a `threading.Event` that ends the waiting, too.
    Either raises KeyboardInterrupt at once.  Only the main thread hears Ctrl-C: in another one,
    without an event, the task is simply done.
    """
    if stop is None and threading.current_thread() is not threading.main_thread():
        return task()
    try:
        done = Pool(1).submit(task)
    except RuntimeError:  # the system gives no thread
        return task()
    return result(done, stop)


def result(future, stop=None):
    """Wait for a future's result; raise KeyboardInterrupt as soon as the event `stop` is set."""
    while not future.done():
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt
        first_of([future], LOOK)
    return future.result()


def processors():
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # on macOS and Windows
        return os.cpu_count() or 1


class StillBusy(Exception):
    """What was told to end did not come back: it goes on in its thread, and nobody waits."""


def result_or_halt(future, stop, halt):
    """Wait for a future's result; as soon as the event `stop` is set, `halt()` is to bring it.

    Raises StillBusy where it does not within PATIENCE.
    """
    told = None
    while not future.done():
        if stop.is_set():
            halt()
            told = told or time.perf_counter()
            if time.perf_counter() - told > PATIENCE:
                raise StillBusy("was stopped in the middle of a call that takes too long")
        first_of([future], LOOK)
    return future.result()


class Pool:
    """Threads for which nobody waits when Python ends: what they do may never come to an end.

    count: how many there are at most.  Each begins with a task, or before, see `new_pool`.
    """

    def __init__(self, count):
        self._tasks, self._left = queue.SimpleQueue(), count
        self.end = weakref.finalize(self, _end, self._tasks, count)  # after what it was given

    def begin_one(self):
        """Begin a thread, if there may be one more; raises RuntimeError where there is none."""
        if self._left:
            threading.Thread(target=_serve, args=(self._tasks,), daemon=True).start()
            self._left -= 1

    def submit(self, task, *arguments):
        """Return the `Future` of what a task returns; raises RuntimeError as `begin_one` does."""
        self.begin_one()
        future = Future()
        self._tasks.put((future, task, arguments))
        return future


def _end(tasks, count):
    for _ in range(count):
        tasks.put(None)


def _serve(tasks):
    while work := tasks.get():
        future, task, arguments = work
        if future.set_running_or_notify_cancel():
            _busy.add(threading.get_ident())
            try:
                future.set_result(task(*arguments))
            except BaseException as error:
                future.set_exception(error)
            finally:
                _busy.discard(threading.get_ident())
        del work, future, task, arguments  # what they hold may be large, or this pool itself


@atexit.register
def end_busy():
    """Let what nobody waits for end at its next step, when Python ends.

    A thread that came out of torch after that would abort the process.
    """
    end = time.perf_counter() + PATIENCE
    for ident in list(_busy):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(ident), ctypes.py_object(SystemExit)
        )
    while _busy and time.perf_counter() < end:
        time.sleep(0.01)


def new_pool(count):
    """Return a pool of so many threads that all have begun.

    Raises MemoryError, in one line, where the system does not give so many.
    """
    pool = Pool(count)
    try:
        for _ in range(count):
            pool.begin_one()
    except RuntimeError:
        raise MemoryError(_too_many(count)) from None
    return pool


def _too_many(threads):
    return f"{threads} threads: the system does not give so many: take fewer"


class Crowd:
    """So many threads that do tasks until the end of a `with`, or until something goes wrong.

    threads: how many; stop: an event that is as good as Ctrl-C, or None; flag: int64[1] that the
    tasks look at and end by when it is not 0, or None.  Where the `with` ends by an exception,
    Ctrl-C included, nobody waits for what is under way: the flag says 1 until it is over.
    """

    def __init__(self, threads, stop=None, flag=None):
        self._pool, self._threads = Pool(threads), threads
        self._stop, self._flag, self._under_way = stop, flag, deque()

    def __enter__(self):
        if self._flag is not None:
            self._flag[0] = 0
        return self

    def __exit__(self, error, *_):
        if error is not None:
            self._give_up()
        self._pool.end()

    def do(self, task):
        """Return what one task returns."""
        return next(self.results([task]))

    def results(self, tasks):
        """Yield what tasks return, in their order.

        tasks: an iterable of functions without arguments, taken only as they are needed: 10⁸ of
        them cost nothing before their time.  Raises MemoryError where the system gives no thread.
        """
        tasks = iter(tasks)
        while True:
            self._hand_out(itertools.islice(tasks, AHEAD * self._threads - len(self._under_way)))
            if not self._under_way:
                return
            found = result(self._under_way[0], self._stop)
            self._under_way.popleft()
            yield found

    def _hand_out(self, tasks):
        try:
            self._under_way.extend(map(self._pool.submit, tasks))
        except RuntimeError:
            raise MemoryError(_too_many(self._threads)) from None

    def _give_up(self):
        running = [future for future in self._under_way if not future.cancel()]
        if self._flag is None or not running:
            return
        self._flag[0] = 1

        def over(_):
            if all(future.done() for future in running):
                self._flag[0] = 0

        for future in running:
            future.add_done_callback(over)
