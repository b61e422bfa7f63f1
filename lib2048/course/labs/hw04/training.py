"""hw04's training: a student's five functions, compiled, play and learn in a process of their own.

The process gives back the results of about half a second at a time, so progress is seen, the Stop
button works, and a function that never ends is ended and named.
"""

import os
import threading
import time
import weakref

import numpy as np

from lib2048.course.labs.messages import say
from lib2048.machine.child import Child, Ended, source_of
from lib2048.play.evaluation import TEST_SEED, Result
from lib2048.train.history import History
from lib2048.train.watching import Stopped, amount, progress_bar, stop_asked

NAMES = {  # of the two functions, by whether values are those of states
    False: ("select_best_move", "update_episode"),
    True: ("select_best_move_by_states", "update_episode_of_states"),
}
COMPILE_SECONDS, PIECE_SECONDS, LATE_SECONDS = 150, 0.5, 20
CHECKPOINT_SECONDS = 60
_of_folder = weakref.WeakValueDictionary()  # one training has a folder at a time


class Training:
    """A training run of hw04: two functions, all that they call, and a network.

    Args:
        select_best_move, update_episode: plain Python; the functions that they call come with them,
            and the library's stand in for those that are not attempted.
        network: as in `Network`, tuples of one length.
        alpha: the rate, of the whole value.
        seed: of the games.
        by_states: whether the values belong to states (and the functions are the two of that part).
        folder: where to keep the run, which goes on from there the next time (a run of other
            functions there stays, and this one gets a folder of its own beside it); None for
            nowhere.
        source: the functions as a text of `source_of`, for a grader, who has nothing else of them.

    Attributes:
        history: `History`.
        stood_in: names of the library's functions that stand in.

    Raises:
        ValueError: for functions that do not compile or end.
    """

    def __init__(
        self,
        select_best_move=None,
        update_episode=None,
        network="4x6",
        alpha=0.1,
        seed=1,
        by_states=False,
        folder=None,
        source=None,
    ):
        if folder is not None:
            if (older := _of_folder.get(os.path.abspath(folder))) is not None:
                older.close()  # its cell ran again: the run goes on here
            _of_folder[os.path.abspath(folder)] = self
        self._child, self._lock, self._stop = Child(), threading.Lock(), threading.Event()
        self._thread, self._failed = None, None
        functions = dict(zip(NAMES[by_states], (select_best_move, update_episode)))
        message = {
            "source": source or source_of(functions),
            "network": network,
            "alpha": float(alpha),
            "seed": int(seed),
            "by_states": by_states,
            "folder": None if folder is None else str(folder),
        }
        reply = self._ask("begin", message, COMPILE_SECONDS)
        if reply["problem"]:
            self._child.close()
            raise ValueError(reply["problem"])
        if (kept := reply["folder"]) and kept != os.path.normpath(folder):
            print(say("hw04.training.other_folder", folder=folder, kept=kept))
        self.stood_in, rows = reply["stood_in"], np.array(reply["rows"]).reshape(-1, 6)
        self.history = History(rows=rows)
        self.history.took = float(rows[-1, 3]) if len(rows) else 0.0
        self.history.actions = int(rows[:, 1].sum())

    def _ask(self, task, message, seconds):
        try:
            with self._lock:
                task = f"lib2048.course.labs.hw04.training_process:{task}"
                return self._child.ask(task, message, seconds)["answer"]
        except Ended as ended:
            raise ValueError(say("labs.stopped", reason=ended.reason)) from None

    # ------------------------------------------------------------ going

    @property
    def actions(self):
        """The number of actions so far."""
        return self.history.actions

    @property
    def seconds(self):
        """Seconds of training so far."""
        return self.history.took

    def done(self, unit):
        """Return how many games are played."""
        return self.history.count

    @property
    def title(self):
        """Whose functions these are, for a plot."""
        names = ", ".join(self.stood_in)
        return say("hw04.training.with_ours", names=names) if names else say("hw04.training.yours")

    def go(self, games, progress=True):
        """Train for so many games more; return the `History`.

        The Stop button ends it within a second and raises `Stopped`; nothing is lost, and `go` goes
        on from there.

        Raises:
            ValueError: when a function raises, or does not end.
        """
        if games <= 0:
            return self.history
        end = self.history.count + games
        with stop_asked(self._stop) as pressed:
            with progress_bar(progress, self, "games", games) as show:
                self._train(end, show)
        self._stop.clear()
        if pressed.is_set() and self.history.count < end:
            raise Stopped(self, f"stopped at {amount(self.history.count, end)} games")
        return self.history

    def _train(self, end, show):
        saved = time.perf_counter()
        while self.history.count < end and not self._stop.is_set():
            begin = time.perf_counter()
            message = {"games": end, "seconds": PIECE_SECONDS, "before": self.seconds}
            rows = np.array(self._ask("train", message, LATE_SECONDS)["rows"])
            self.history.took += time.perf_counter() - begin
            self.history.add(rows, self.seconds)
            self.history.actions += int(rows[:, 2].sum())
            show()
            if time.perf_counter() - saved > CHECKPOINT_SECONDS:
                self._ask("save", {"whole": False}, COMPILE_SECONDS)
                saved = time.perf_counter()
        self._ask("save", {"whole": self.history.count >= end}, COMPILE_SECONDS)

    def start(self, games):
        """Train for so many games more in the background; `wait` waits, `stop` ends it."""
        self._thread = threading.Thread(target=self._in_background, args=(games,), daemon=True)
        self._thread.start()

    def _in_background(self, games):
        try:
            self._train(self.history.count + games, lambda: None)
        except ValueError as error:  # told by `wait`
            self._failed = error
        self._stop.clear()

    def stop(self):
        """End the training in the background within a second; nothing is lost."""
        if self._thread and self._thread.is_alive():
            self._stop.set()
            self._thread.join()

    def wait(self):
        """Wait for the training in the background; return the `History`.

        Raises:
            ValueError: when a function raised there, or did not end.
        """
        if self._thread:
            self._thread.join()
        if self._failed:
            raise self._failed
        return self.history

    def play(self, games=1000, seed=TEST_SEED):
        """Play test games without learning; return `Result`.  Game n has the luck of (seed, n)."""
        rows, begin = [np.zeros((0, 5), np.int64)], time.perf_counter()
        while (count := sum(map(len, rows))) < games:
            message = {"first": count, "games": games, "seed": seed, "seconds": PIECE_SECONDS}
            rows.append(np.array(self._ask("test", message, LATE_SECONDS)["rows"]))
        rows, took = np.concatenate(rows), time.perf_counter() - begin
        return Result(self.title, rows[:, 1], rows[:, 3], int(rows[:, 2].sum()), took)

    def close(self):
        """End the process; what was not saved in a folder is gone."""
        self.stop()
        self._child.close()

    def __repr__(self):
        count, rate = self.history.count, self.actions / max(self.seconds, 1e-9) / 1e6
        return f"<training: {self.title}, {count:,} games, {rate:.2f} M actions/s>"
