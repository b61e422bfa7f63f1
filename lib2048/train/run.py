"""A training run that can be held: begun, gone on with, stopped, changed and gone on with again."""

import contextlib
import dataclasses
import inspect
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lib2048.learn.games import next_chunk
from lib2048.learn.rules import check_rate
from lib2048.learn.settings import ONE_BUDGET, Settings, check_network, said_budget
from lib2048.learn.tables import NETWORK_OPTIONS, TableSettings
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.extras import package
from lib2048.machine.files import InUse
from lib2048.machine.printed import thousands
from lib2048.machine.terminal import in_short, say
from lib2048.machine.threads import aside
from lib2048.networks.storage import begin_with
from lib2048.train import checkups
from lib2048.train.folder import RunFolder
from lib2048.train.history import History, as_array, as_rows, check_history
from lib2048.train.watching import Stopped, amount, progress_bar, stop_asked

CHECKPOINT_PAUSE = 20  # at the least, in times of what writing the last one took
ROWS = 100_000  # games that a chunk may finish
OWN = {"seconds": Form("f i u", (), 0), "rate": Form("f i u", (), 0, 1)}  # in a file


class Run:
    """One training run: a network, its games in progress, what its rule remembers, its history.

    Args:
        settings: `Settings`.
        folder: where to keep config, history, weights and checkpoints, None for nowhere.
        network: one that exists and fits the settings, which learns in place, by functions of its
            own if it has such; by default a new one.
        resume: go on from the folder's checkpoint.
        wait: so many seconds where another process is at work in that folder.

    Attributes:
        network, history: as they are now.
        memory: what the rule keeps beside the weights.

    Raises:
        ValueError: before anything is written, for settings that do not fit the network, a folder
            that holds another run or is in use, and a damaged checkpoint.
        MemoryError: before anything is written, when the tables do not fit.
    """

    def __init__(
        self,
        settings: Settings,
        folder: str | Path | None = None,
        network: Any = None,
        resume: bool = False,
        wait: float = 0.0,
    ):
        if not isinstance(settings, Settings):
            raise ValueError(f"a run needs Settings(network=…, …), not {in_short(settings)}")
        self.settings = settings
        self.network = settings.new_network() if network is None else network
        _check_fits(settings, self.network)
        own = getattr(self.network, "own", None)
        own = own.said if own else {}
        self.folder = None if folder is None else RunFolder(folder, settings, own)
        if self.folder:  # first of all: a refusal waits for nothing to be compiled
            self.folder.check(resume)
        if settings.weights and not (self.folder and self.folder.is_begun):
            begin_with(self.network, settings.weights, settings.before)
        self.learner = settings.new_learner(self.network)
        if not resume:
            self.learner.check_room()
        checkups.players(settings, self.tested)  # which refuses a depth that cannot be
        self._rate, self.history = settings.rate, History(game=settings.game)
        self.history.visits = self.learner.visits
        self._before = 0.0  # the clock: seconds so far, and since when
        self._started: float | None = None
        self._stop, self._going = threading.Event(), threading.Lock()
        self._ended: str | None = None
        self.learner.stop = self._stop
        self._kept = None  # how far it was when its folder was finished
        if self.folder and (arrays := self.folder.open(resume, wait)):
            with arrays:
                self._restore(arrays)

    # ------------------------------------------------------------ what it is now

    @property
    def actions(self) -> int:
        """The number of actions so far."""
        return self.learner.actions

    @property
    def seconds(self) -> float:
        """Seconds of training so far, earlier sessions included, test games left out."""
        return self._before + (time.perf_counter() - self._started if self._started else 0.0)

    def done(self, unit: str) -> float:
        """Return how many games or actions are done, or how many seconds were spent."""
        return self.history.count if unit == "games" else getattr(self, unit)

    @property
    def rate(self) -> float:
        """The rule's rate; setting it, from any thread, takes effect within a tenth of a second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float):
        check_rate(self.settings.rate_name, rate)
        self._rate = float(rate)

    @property
    def memory(self) -> Mapping[str, Any]:
        """What the rule keeps beside the weights, tables by their names.

        'E' and 'A' for TC; 'step', 'largest' and 'trace' for Autostep; nothing for TD; what a
        rule or an update of your own says that it keeps.
        memory["E"][k] is a copy of the numbers of tuple k, in the order of `Network.table`, and
        memory["E"][k, stage] that of a stage.
        """
        return self.learner.memory

    @property
    def tested(self) -> Any:
        """The network that test games are played by, `network` or its moving average."""
        return self.learner.tested

    @property
    def batches(self):
        """What each batch of a neural network told, a pandas frame, empty for look-up tables.

        Value networks: actions (so far) and mse (mean squared error, points²); policy networks:
        games and actions so far, means of score, length and tile_sum, and means over the games of
        their distance to certainty and entropy.
        """
        columns = self.learner.batch_columns
        return package("pandas").DataFrame(self.learner.batches, columns=columns)

    def __repr__(self):
        how = "" if self.settings.neural else f" by {self.settings.learner_name}"
        return f"<run: {self.network.name}{how}, {self.history!r}>"

    # ------------------------------------------------------------ going

    def go(
        self,
        actions: int | None = None,
        games: int | None = None,
        seconds: float | None = None,
        progress: bool | Callable = True,
    ) -> History:
        """Train on, exactly from where the run is; return the `History`.

        Without a budget it goes up to that of the settings, and then the run is finished: last test
        games are played, and its folder holds the weights instead of a checkpoint.  With
        one thread, go(a) and go(b) do what go(a + b) does, bit for bit.

        `stop()` ends it within a second.  So does the Stop button (or Ctrl-C), which then raises
        `Stopped`: the network keeps what it has learned, the history what happened, and a folder a
        checkpoint.

        Args:
            actions, games, seconds: how far, one of them: so many games more are finished, and
                those in progress stay so; seconds are of this machine.
            progress: whether to show a bar; or a function, called with the run about ten times a
                second, between two chunks of training.

        Raises:
            ValueError: for a bad budget, or when your own function breaks its word.
            MemoryError: after a checkpoint, when there is no room for a later stage.
            Stopped: by the Stop button.
            FloatingPointError: when the weights grow without bound.
        """
        given = {"actions": actions, "games": games, "seconds": seconds}
        unit, total, whole = self._budget(given)
        end = self.done(unit) + total
        if not self._going.acquire(blocking=False):
            raise ValueError("this run is going already: run.stop() ends that")
        self._stop.clear()  # of a stop that came when the last one had ended already
        try:
            held = self.folder.held() if self.folder else contextlib.nullcontext()
            with held, stop_asked(self._stop) as pressed:
                with progress_bar(progress, self, unit, total) as show:
                    gone = self._go(unit, end, show)
                if gone:
                    self._close(whole)
        finally:
            self._stop.clear()
            self._going.release()
        if pressed.is_set() and self.history.stopped:
            raise Stopped(self, f"stopped at {amount(self.done(unit), end)} {unit}")
        return self.history

    def stop(self) -> None:
        """End `go` within a second, from any thread; without one going it does nothing."""
        if self._going.locked():
            self._stop.set()

    def _budget(self, given):
        """Return (unit, how many more, whether that is what the settings ask for)."""
        if self._ended:
            raise ValueError(f"this run has ended: {self._ended}")
        for unit, number in said_budget(given).items():
            return unit, number, False
        if self.settings.budget is None:
            raise ValueError(ONE_BUDGET)
        unit, number = self.settings.budget
        done = 0 if unit == "seconds" else self.done(unit)
        if self.folder and done > number:
            raise ValueError(
                f"{self.folder.path}: has played {done:,} {unit} already, more than "
                f"the {number:,} that were asked for"
            )
        return unit, max(0, number - done), True

    def _go(self, unit, end, show):
        """Play, chunk by chunk, until so many of a unit are done; then the test games due there.

        Returns False where it is stopped before it begins: then there is nothing new to keep, and
        what keeping it compiles would wait for what is being compiled.
        """
        self.history.stopped = True
        try:
            aside(self.learner.prepare, self._stop)  # before the clock starts
        except KeyboardInterrupt:
            return False
        self.history.stopped = False
        chunk, pause = self.learner.first_chunk, self.settings.checkpoint_every
        self._started = saved = time.perf_counter()
        try:
            while self.done(unit) < end:
                self._test()
                if self._stop.is_set():
                    break
                begin, before = time.perf_counter(), self.actions
                self._play(unit, end, chunk)
                show()
                now = time.perf_counter()
                chunk = next_chunk(chunk, self.actions - before, now - begin)
                if self.folder and now - saved > pause:
                    self._save_on_the_way()
                    saved = time.perf_counter()
                    pause = max(self.settings.checkpoint_every, CHECKPOINT_PAUSE * (saved - now))
            self._test()
        finally:
            self._before, self._started = self.seconds, None
        self.history.stopped = self.done(unit) < end or self._stop.is_set()
        return True

    def _play(self, unit, end, chunk):
        """Play one chunk, and keep what came of it."""
        self._check_room()
        next_test = checkups.next_after(self.settings, self.actions)
        limit, rows = min(self.actions + chunk, next_test), ROWS
        if unit == "actions":
            limit = min(limit, end)
        if unit == "games":
            rows = min(rows, end - self.history.count)
        rate = self._rate
        self.learner.set_rate(rate)
        results = self._played(int(limit), int(rows))
        self._keep(results, rate)

    def _played(self, last_action, rows):
        try:
            return self.learner.play(last_action, rows)
        except Exception as error:
            blamed = self.learner.blame(error)
            if blamed is None:
                raise
            self._ended, sound = blamed
            self.history.stopped = True
            if sound:  # otherwise the last checkpoint stays
                self._close(whole=False)
            raise ValueError(self._ended) from None

    def _keep(self, results, rate):
        self.history.add(results, self.seconds, rate)
        self._mark()
        if not self.learner.finite:
            rate = self.settings.rate_name
            raise FloatingPointError(f"the weights grew without bound: train with a smaller {rate}")

    def _mark(self):
        self.history.actions, self.history.took = self.actions, self.seconds
        self.history.visits = self.learner.visits

    def _check_room(self):
        """Before another stage may be reached, see that there is memory for it; else stop here."""
        try:
            self.learner.check_room()
        except MemoryError as error:
            self.history.stopped = True
            self._close(whole=False)
            raise MemoryError(f"training stopped where it can go on: {error}") from None

    def _test(self, last=False):
        """Play the test games that are due, unless they were played at this number of actions."""
        actions, rows, every = self.actions, self.history.evaluations, self.settings.eval_every
        due = every and (last or actions > 0 and actions % every == 0)
        if not due or self._stop.is_set() or (rows and rows[-1]["actions"] == actions):
            return
        begin = time.perf_counter()
        with contextlib.suppress(KeyboardInterrupt):
            rows += checkups.play(self.settings, self.tested, actions, self._stop)
        self._before -= time.perf_counter() - begin if self._started else 0.0

    # ------------------------------------------------------------ ending

    def _close(self, whole):
        """Leave the folder as it should be: with the weights when the run is over."""
        whole = whole and not self.history.stopped
        if whole:
            self._test(last=True)
            self.history.stopped = self._stop.is_set()
        if self.folder is None:
            return
        if not whole or self.history.stopped:
            self.save()
        elif self._kept != self._extent():
            self.learner.export(self.folder.path)
            self.folder.finish(self.arrays(), self.history.texts())
            self._kept = self._extent()
        else:
            self.folder.complete(self.history.texts())

    def _extent(self):
        return self.actions, self.history.count, len(self.history.evaluations)

    def _save_on_the_way(self):
        try:
            self.save()
        except InUse as error:
            say(f"{error}; the run goes on, and its next checkpoint may be written")

    def save(self) -> None:
        """Write a checkpoint into the folder; `resume` goes on from there."""
        if self.folder is None:
            raise ValueError("this run has no folder to be saved in: say Run(…, folder=…)")
        self.folder.save_checkpoint(self.arrays(), self.history.texts())

    def arrays(self) -> dict[str, Any]:
        """Return the whole run as a dict of arrays: network, games in progress, history."""
        return {
            **self.learner.arrays(),
            "history": self.history.rows,
            "evaluations": as_array(self.history.evaluations, self.settings.game),
            "seconds": np.array(self.seconds),
            "rate": np.array(self._rate),
        }

    def _restore(self, arrays):
        """Take up the run that `arrays` returned, once all of it is checked; arrays: `Archive`."""
        if not {"history", "seconds"} <= set(arrays):
            raise ValueError(f"{arrays.path}: is no run that can go on")
        check_arrays(arrays, OWN, arrays.path)
        check_history(arrays, arrays.path)
        self.learner.restore(arrays, arrays.path)
        self._rate = float(arrays["rate"])
        self.history = History(rows=arrays["history"], game=self.settings.game)
        self.history.evaluations = as_rows(arrays["evaluations"], self.settings.game)
        self._before = float(arrays["seconds"])
        self._mark()
        self._kept = self._extent() if self.folder and self.folder.is_finished else None


# ---------------------------------------------------------------- before it begins


def _check_fits(settings, network):
    """Raise ValueError where a network is not the one that the settings name."""
    check_network(network)
    asked, made = settings.geometry().arguments(), network.arguments()
    for name, value in made.items():
        if asked[name] != value:
            raise ValueError(f"this network has {name} {value!r}, the settings say {asked[name]!r}")


# ---------------------------------------------------------------- in one call

_stopped: Run | None = None
_learned: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # actions, by `train`


def train(
    network: Any,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool | Callable = True,
    **options: Any,
) -> History:
    """Train a network by playing against itself: one `Run`, from its beginning to its end.

    Args:
        network: `Network`, changed in place; its form says what is learned, and functions of its
            own are what it learns by.
        **options: those of `Settings` that are not the network's, one budget (games, actions or
            seconds) among them.
        out: a folder for config, history, weights and checkpoints.
        resume: go on from it.
        progress: whether to show a bar.

    Returns:
        `History`.

    Raises:
        Stopped: by the Stop button (or Ctrl-C), which ends the cell: the network keeps what it has
            learned, `last_run()` has the history and can go on.
        ValueError: as `Run` and `Run.go` do; so with their MemoryError and FloatingPointError.
    """
    global _stopped
    _stopped = None
    settings = Settings.of(network, **options)
    if settings.budget is None:
        raise ValueError(ONE_BUDGET)
    run = Run(settings, out, network, resume)
    if progress is True and (past := _learned.get(network)) and not run.actions:
        say(
            f"this network has learned from {thousands(past)} actions before, and goes on from "
            "there: to begin anew, make a new one"
        )
    try:
        history = run.go(progress=progress)
        _learned[network] = _learned.get(network, 0) + history.actions
        return history
    except Stopped:
        _stopped = run
        raise


def last_run() -> Run:
    """Return the `Run` that `train` was stopped in; raise ValueError when none was."""
    if _stopped is None:
        raise ValueError("no training was stopped: what train() returned is its history")
    return _stopped


def _signature():
    """What `train` takes, said by `Settings`."""
    first, *own, _ = inspect.signature(train).parameters.values()
    options = {field.name: field.default for field in dataclasses.fields(TableSettings)}
    options |= dict.fromkeys(TableSettings.rates)
    kept = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in options.items()
        if name not in NETWORK_OPTIONS
    ]
    return inspect.Signature([first, *kept, *own])


train.__signature__ = _signature()  # type: ignore[attr-defined]
