"""Runs to start, hold and watch: they train in threads of the kernel, the browser draws them."""

import atexit
import functools
import math
import os
import threading
import time
import weakref

import numpy as np
from IPython import get_ipython
from traitlets import List

from lib2048.game.batch import options
from lib2048.game.board import whole
from lib2048.learn.settings import said_budget
from lib2048.machine.extras import package
from lib2048.machine.printed import thousands
from lib2048.networks.network import Network
from lib2048.play.players import NetworkPlayer, game_of
from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget, trouble
from lib2048.show.widgets.game import PLAYED, Game, finite, told
from lib2048.train.history import BLOCK, EXPONENTS
from lib2048.train.run import Run
from lib2048.train.watching import amount

LOOK = 0.2  # seconds between two messages with numbers, those of all runs together
MOST = 512  # points of a curve
MARKS = 20  # changes of the rate that are marked: the last ones
MOST_RUNS = 4  # colours and dashes that are told apart
ENDLESS = {"seconds": 1e9}  # thirty years
PATIENCE = 5.0  # seconds that a run has to end in; it takes one, and the time of a checkpoint
AFTER = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)  # seconds: when a game is shown
SHOWN = 1_000_000  # the number of the game that is shown: no run has its luck so soon
POINT = ("actions", "games", "seconds", "mean", "ci95")  # the numbers of a point, then shares

# ---------------------------------------------------------------- what is kept to be drawn


class Curve:
    """A learning curve of at most `MOST` points, however long a run is.

    Each point tells of the last 1000 games before it, and of all actions so far.  So a curve of
    too many drops every second one, and those that are left say what they said before.
    """

    def __init__(self, given=()):
        self.points, self._gap, self._told = list(given), 0, 0

    def add(self, point):
        """Add a point; the last one gives way when it is too near to the one before it."""
        before = self.points[-2][0] if len(self.points) > 1 else -math.inf
        if self.points and (self.points[-1][0] >= point[0] or point[0] - before < self._gap):
            self.points.pop()
        self._told = min(self._told, len(self.points))
        self.points.append(point)
        if len(self.points) > MOST:
            self.points, self._told = [*self.points[:-1:2], point], 0
            self._gap = point[0] / len(self.points)

    def news(self, everything=False):
        """Return {'from': n, 'points': those from the n-th on} of what was not told before."""
        begin = 0 if everything else self._told
        self._told = len(self.points)
        return {"from": begin, "points": self.points[begin:]}


def _point(row):
    """Return the numbers of a row of a history's table, as JSON has them."""
    shares = (name for name in row if name.startswith("reached_"))
    return [finite(row[name]) for name in (*POINT, *shares)]


# ---------------------------------------------------------------- one run in its thread


class Training:
    """A run that trains in a thread of its own.

    run: `Run`; name: what it is called; budget: {unit: how many} more, or {} for what its settings
    say, and where they say nothing until it is stopped; every: seconds between two looks; told:
    called, from any thread, with what is new: {'from', 'points', 'status'}; rested: called when the
    thread is at its end.
    `.phase` is 'ready', 'starting', 'training', 'pausing', 'paused', 'stopping', 'stopped', 'done'
    or 'failed'.
    """

    GOING = ("starting", "training", "pausing", "stopping")

    def __init__(self, run, name, budget, every, told, rested):
        self.name, self.told, self.rested = name, told, rested
        own = run.settings.budget
        said = budget or (dict([own]) if own else ENDLESS)
        [(self.unit, self._total)] = said.items()
        self.endless = said is ENDLESS
        self._own = not budget and self.unit in ("games", "actions")  # counted from its beginning
        self._every, self._due = every, 0.0
        self._thread, self._lock = None, threading.RLock()
        self.before = []  # the points of the curve that a reset has ended
        past = run.history.table()
        self._begin_with(run, map(_point, past[:: 1 + 2 * len(past) // MOST]))  # many more fit

    def _begin_with(self, run, points=()):
        """Be ready to train a run; points: of its curve so far."""
        self.run, self.curve = run, Curve(points)
        self._begin = 0 if self._own else run.done(self.unit)  # where the budget begins
        self.games, self._untold = [], 0  # played on the way, and from which on they are not told
        self.last = None  # the board and the word on which the last of them ended
        self._after = [at for at in AFTER if at > run.history.took]
        promise = "" if self.endless else f" {thousands(self._total)} {self.unit}"
        self.phase, self.words, self.details = "ready", f"Ready to train{promise}.", ""

    going = property(lambda self: self.phase in self.GOING, doc="Whether its thread is at work.")

    # ------------------------------------------------------------ orders

    def start(self):
        """Train on: after a pause to the end that was set, otherwise by the whole budget."""
        with self._lock:
            if self.going:
                return
            if self.phase != "paused" and not self._own:
                self._begin = self.run.done(self.unit)
            before, self._due = self._thread, 0.0
            self._become("starting", "Starting. On a new machine this compiles for half a minute.")
            self._thread = threading.Thread(target=self._train, args=(before,), daemon=True)
            self._thread.start()

    def pause(self):
        """Hold the run where it is, within a second; its network then stands still."""
        self._halt("pausing", "Pausing.")

    def stop(self):
        """End it, within a second; `start` trains on from there, by the whole budget."""
        with self._lock:
            if self.phase == "paused":
                self._become("stopped", self._where("Stopped"))
            self._halt("stopping", "Stopping.")

    def reset(self):
        """Begin anew: an untrained learner by the same settings, at the rate that holds now.

        The curve so far stays as the one before.  Raises ValueError where a folder keeps what was
        learned, and where the training does not end.
        """
        if self.run.folder:
            raise ValueError(
                f"{self.name} keeps what it learns in {self.run.folder.path}: a Run with another "
                "folder begins anew"
            )
        self.stop()
        if not self.join(time.monotonic() + PATIENCE):
            raise ValueError(f"{self.name} is still about to stop: press Reset again in a while")
        with self._lock:
            before, points = self.run, self.curve.points
            self._begin_with(untrained(before))
            self.before = points or self.before
            self.tell(everything=True)
        self.rested()

    def join(self, last=math.inf):
        """Wait until its thread has ended, at most till `time.monotonic` is last; say whether."""
        while (thread := self._thread) and thread.is_alive() and time.monotonic() < last:
            if self.phase in ("pausing", "stopping"):
                self.run.stop()  # again: `go` may not have begun when it was asked
            thread.join(0.05)
        return not (thread and thread.is_alive())

    def _halt(self, phase, words):
        with self._lock:
            if self.going and self.phase != "stopping":
                self._become(phase, words)
                self.run.stop()

    # ------------------------------------------------------------ in the thread

    def _train(self, before):
        if before:
            before.join()
        rest = self._total - self._done
        how = {} if self._own else {self.unit: rest}  # in its folder are the weights at the end
        try:
            if is_shown(self.run.network) and not self.run.actions:
                self._play(self.run, 0)  # which compiles what plays, before the clock starts
            go = self._own or rest > 0
            stopped = go and self.run.go(**how, progress=self._look).stopped
            if is_shown(self.run.network) and self.run.actions:
                self._play(self.run, round(self.run.history.took, 1))
            outcome = self._outcome(stopped)
        except Exception as error:
            outcome = "failed", *_in_words(error, self.name)
        with self._lock:
            self._keep()
            self._become(*outcome)
        self.rested()

    def _look(self, run):
        """Tell what is new, now and then; between two chunks, so it should not take long."""
        if self.phase in ("pausing", "stopping"):
            run.stop()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every
            with self._lock:
                if self.phase == "starting":
                    self.phase, self.words = "training", "Training."
                self._keep()
                self.tell()
        if self._after and run.history.took >= self._after[0] and is_shown(run.network):
            self._play(run, self._after.pop(0))

    def _play(self, run, after):
        """Play a game by the weights of now, at full speed, for the board that shows it."""
        seed = run.settings.seed
        boards, words, actions = NetworkPlayer(run.network).recorded(seed, SHOWN)
        played = {"actions": "".join(map(str, actions.tolist())), "after": after}
        played |= {"score": _score(boards, words, actions, game_of(run.network))}
        with self._lock:
            self.games.append(Game(seed, SHOWN).as_dict() | played)
            self.last = boards[-1], int(words[-1])

    def _outcome(self, stopped):
        if not stopped:
            return "done", f"Done: {thousands(self._total)} {self.unit}."
        if self.phase == "pausing":
            return "paused", self._where("Paused") + " The network stands still: cells may use it."
        return "stopped", self._where("Stopped") + " Train on goes on from here."

    def _keep(self):
        if row := self.run.history.latest():
            self.curve.add(_point(row | {"seconds": self.run.history.took}))

    def last_board(self, named):
        """Draw the board on which its last game ended; named: whether the caption names it."""
        board, word = self.last
        game, told = game_of(self.run.network), self.games[-1]
        shown = {"word": word} if game.rules.SHOWN else {}
        who = f"{self.name}: " if named else ""
        points, actions = thousands(told["score"]), thousands(len(told["actions"]))
        caption = f"{who}after {told['after']:g} s\n{points} points\n{actions} actions"
        board = whole(board, word, game)
        return draw.board(board, caption=caption, size=170, game=game, **shown)

    # ------------------------------------------------------------ what is told

    @property
    def _done(self):
        """How much of the budget is done."""
        return self.run.done(self.unit) - self._begin

    def _where(self, what):
        if self.endless:
            return f"{what} after {thousands(self.run.actions)} actions."
        return f"{what} at {amount(self._done, self._total)} {self.unit}."

    def status(self):
        """Return where it stands, as JSON has it."""
        history, share = self.run.history, None
        far = f"{thousands(history.actions)} actions"
        if not self.endless:
            share = min(1.0, self._done / self._total)
            far = f"{amount(self._done, self._total)} {self.unit}"
            if self._begin:  # it has been trained before
                far += f" more; in all {thousands(history.actions)} actions"
        changes = history.changes[-MARKS:]
        return {"phase": self.phase, "words": self.words, "details": self.details, "share": share,
                "far": f"{far}, {thousands(history.count)} games", "rate": self.run.rate,
                "changes": [(c["actions"], c["rate"]) for c in changes]}  # fmt: skip

    def tell(self, everything=False):
        """Tell what is new."""
        with self._lock:
            begin = 0 if everything else self._untold
            new = everything or begin < len(self.games)
            games = [begin, self.games[begin:]] if new else None
            self._untold = len(self.games)
            news = self.curve.news(everything) | {"status": self.status(), "games": games}
            self.told(news | ({"before": self.before} if everything else {}))

    def _become(self, phase, words, details=""):
        self.phase, self.words, self.details = phase, words, details
        self.tell()


def _in_words(error, name):
    """Return (what went wrong, the traceback where that may help)."""
    if isinstance(error, (ValueError, MemoryError, FloatingPointError)) and str(error):
        return f"{name} has ended: {error}.", ""
    told = trouble(error, name)
    return f"{told['error']}.", told["details"]


# ---------------------------------------------------------------- the widget


class TrainingWidget(BrowserWidget):
    """A widget that trains.

    It ends by `stop`, when a running cell is interrupted, when its cell is run again, by `close()`,
    and with the kernel.
    """

    def __init__(self, **traits):
        self._trainings = []
        super().__init__(**traits)
        _open.add(self)
        if shell := get_ipython():
            shell.events.register("post_run_cell", _after_cell)

    phases = property(lambda self: [t.phase for t in self._trainings], doc="See `Training`.")

    def stop(self, number=None):
        """End the training of a run, or of all of them, within a second."""
        for training in self._chosen(number):
            training.stop()

    def wait(self, seconds=None):
        """Wait until all runs have ended or are held, so many seconds at most; say whether."""
        last = math.inf if seconds is None else time.monotonic() + seconds
        return all(training.join(last) for training in self._trainings)

    def close(self):
        """End the training, and the widget with it: its picture is what stays."""
        _open.discard(self)
        trainings = getattr(self, "_trainings", ())
        for training in trainings:
            training.stop()
        for training in trainings:
            training.join(time.monotonic() + PATIENCE)
        super().close()

    def _answer(self, message):
        """Do what the browser orders, and tell it that it was heard; a refusal is in words."""
        self.send({"kind": "heard", "id": message.get("id")})
        try:
            if message["kind"] in ("start", "pause", "stop", "reset"):
                getattr(self, message["kind"])(message.get("run"))
            else:
                getattr(self, f"_on_{message['kind']}")(message)
        except (ValueError, MemoryError, ImportError, OSError) as error:
            self.send({"kind": "trouble", "error": f"{error}."})

    def _chosen(self, number):
        return self._trainings if number is None else [self._trainings[number]]


class TrainWidget(TrainingWidget):
    """Start, pause and stop runs, change their rate, and watch their curves grow.

    They train in threads of the kernel: cells can run meanwhile, and a page that is closed stops
    nothing.  They end by Stop, when a running cell is interrupted, when this cell is run again, by
    `close()`, and with the kernel.  ``.start()``, ``.pause()``, ``.stop()`` and ``.reset()`` do
    what the buttons do, ``.wait()`` waits for the end; ``.run.rate = 0.01`` changes the rate.
    ``.frame`` is the history so far, a row for each 1000 games; ``.changes`` says where a rate was
    changed.  A board plays games of the learner as it was after 0.1 s, 1 s, 10 s …

    Args:
        *runs: one `Run`, or up to four side by side, each with a network of its own.
        names: what they are called, by default what their settings differ in.
        actions, games, seconds: how far each trains on, one of them; by default by the budget of
            its settings, and where these have none, until it is stopped.

    Raises:
        ValueError: for no run, runs that share a network or play by different rules, and a bad
            budget.
    """

    entry = "train.js"
    about = List().tag(sync=True)

    def __init__(self, *runs, names=None, actions=None, games=None, seconds=None):
        budget = said_budget({"actions": actions, "games": games, "seconds": seconds})
        if not 0 < len(runs) <= MOST_RUNS:
            raise ValueError(f"{len(runs)} runs: say one, or up to {MOST_RUNS} side by side")
        if len({id(run.network) for run in runs}) < len(runs):
            raise ValueError("two of these runs share a network: give each its own")
        if len({game_of(run.network).rules for run in runs}) > 1:
            raise ValueError("these runs play by different rules: give each a widget of its own")
        names = _names(runs, names)
        super().__init__(about=[_about(*pair) for pair in zip(runs, names)])
        for n, (run, name) in enumerate(zip(runs, names)):
            told = functools.partial(self._tell, n)
            every = LOOK * len(runs)
            self._trainings.append(Training(run, name, budget, every, told, self._draw_again))

    runs = property(lambda self: [t.run for t in self._trainings], doc="The runs.")
    run = property(lambda self: self.runs[0], doc="The first of the runs.")

    @property
    def frame(self):
        """The history of all runs as a pandas frame, `History.frame` behind the run's name."""
        pandas = package("pandas")

        frames = [t.run.history.frame.assign(run=t.name) for t in self._trainings]
        whole = pandas.concat(frames, ignore_index=True)
        return whole[["run", *whole.columns.drop("run")]]

    @property
    def changes(self):
        """Where rates were changed, a pandas frame of run, actions, rate before, new rate."""
        pandas = package("pandas")

        rows = [{"run": t.name, **c} for t in self._trainings for c in t.run.history.changes]
        return pandas.DataFrame(rows, columns=["run", "actions", "before", "rate"])

    # ------------------------------------------------------------ orders

    def start(self, number=None):
        """Let a run train, or all of them."""
        for training in self._chosen(number):
            training.start()

    def pause(self, number=None):
        """Hold a run, or all of them, within a second."""
        for training in self._chosen(number):
            training.pause()

    def reset(self, number=None):
        """Let a run, or all of them, begin anew: untrained, by the same settings.

        `.runs` then holds new ones; a run that a variable of yours names keeps what it learned.

        Raises:
            ValueError: where a folder keeps what was learned.
        """
        for training in self._chosen(number):
            training.reset()

    # ------------------------------------------------------------ the browser

    def _tell(self, number, news):
        self.send({"kind": "news", "run": number, **news})

    def _on_look(self, message):
        for training in self._trainings:
            training.tell(everything=True)

    def _on_rate(self, message):
        wrong = {}
        for training in self._chosen(message.get("run")):
            try:
                training.run.rate = message["rate"]
            except ValueError as error:
                wrong[str(error)] = None
            training.tell()
        if wrong:
            raise ValueError("; ".join(wrong))

    # ------------------------------------------------------------ the picture

    def _ipython_display_(self):
        if os.environ.get("LIB2048_STILLS"):  # a lesson is stored: its picture is of the end
            for training in self._trainings:
                if training.phase == "ready":
                    training.start()
            self.wait()
        super()._ipython_display_()

    def static(self):
        """Return a `Picture` of the curves so far, and of where the runs stand."""
        drawn, words = {}, []
        for training in self._trainings:
            columns = [(p[0], p[3]) for p in training.curve.points if p[3] is not None]
            drawn[training.name] = columns
            told = [f"last mean {thousands(columns[-1][1])}"] if columns else []
            symbol = training.run.settings.rate_symbol
            for change in training.run.history.changes[-3:]:
                begin = f"from {thousands(change['actions'])} actions on"
                told.append(f"{symbol} {change['rate']:g} {begin}")
            words.append(f"{training.name}: {', '.join([training.status()['far'], *told])}")
        ended = [t.last_board(named=len(drawn) > 1) for t in self._trainings if t.last]
        wide = 340 if len(ended) == 1 else 520
        picture = draw.curves(drawn, "actions", f"mean score of {BLOCK} games", width=wide)
        if ended:
            picture = draw.row([*ended, picture])
        return picture.captioned("\n".join(words), wrap=False)


def _names(runs, names):
    """Return what runs are called: if nothing else, what their settings differ in, or numbers."""
    if names is not None:
        names = [str(name) for name in names]
    elif len(runs) == 1:
        names = [" ".join(_said(runs[0], ["network", "rule"])) or "run"]
    else:
        said = (name for run in runs for name in vars(run.settings))
        kinds = dict.fromkeys(["network", "rule", *said])
        differ = [n for n in kinds if len({repr(getattr(r.settings, n, None)) for r in runs}) > 1]
        names = [" ".join(_said(run, differ)) for run in runs]
        if len(set(names)) < len(names):
            names = [f"run {n + 1}" for n in range(len(runs))]
    if len(names) != len(runs):
        raise ValueError(f"{len(names)} names for {len(runs)} runs")
    if len(set(names)) < len(names):
        raise ValueError("two of these runs have the same name")
    return names


def _said(run, fields):
    """Say some settings of a run in a few words each."""
    settings = run.settings
    symbols = {"lam": "λ", "rate": settings.rate_symbol}
    for field in fields:
        if (value := getattr(settings, field, None)) is not None:
            plain = field in ("network", "rule")
            yield str(value) if plain else f"{symbols.get(field, field)} {value}"


def untrained(run):
    """Return a run that begins anew by the settings of another one, at its rate of now."""
    network = run.settings.new_network()
    if own := getattr(run.network, "own", None):
        network.own = own
    fresh = Run(run.settings, network=network)
    fresh.rate = run.rate
    return fresh


def _score(boards, words, actions, game):
    """Return the score of a recorded game."""
    turns = np.arange(len(actions))  # the last board has no action
    paid = options(boards[turns], game, words[turns])[1][turns, actions]
    return int(game.rules.points(boards[-1])) or int(paid.sum(dtype=np.float64))


def is_shown(network):
    """Say whether games of a network are shown: it plays fast, and the page has its rules."""
    return isinstance(network, Network) and game_of(network).rules.NAME in PLAYED


def _about(run, name):
    """Return what the browser has to know of a run, once."""
    fixed = getattr(run.settings, "lam", 0.0)
    return {
        "name": name,
        "game": told(game_of(run.network)) if is_shown(run.network) else None,
        "rate": run.settings.rate_symbol,
        "tiles": [game_of(run.network).tile(exponent) for exponent in EXPONENTS],
        "fixed": f"λ {fixed:g} is fixed for the whole run" if fixed else "",
    }


# ---------------------------------------------------------------- cells, and the end of the kernel

_open = weakref.WeakSet()  # widgets that train


def _after_cell(result):
    """Stop all training when a cell was interrupted; result: None of one that was cancelled."""
    error = result and (result.error_in_exec or result.error_before_exec)
    if result is None or isinstance(error, KeyboardInterrupt):
        for widget in list(_open):
            widget.stop()


@atexit.register
def _end_all():
    for widget in list(_open):
        widget.stop()
    for widget in list(_open):
        widget.wait(PATIENCE)
