"""Training: chunks of the episode loop, with progress, a Stop button, checkpoints and a history."""

import csv
import io
import math
import signal
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np

from lib2048 import storage
from lib2048._compile import SOURCE_HASH, announce
from lib2048.evaluation import mean_ci95, reached, statistics_block
from lib2048.learning import LANES, Games, functions_of, rule_of

BLOCK = 1000  # games in a row of a history
CHUNK_SECONDS = 0.1  # between two looks at the Stop button
FIRST_CHUNK = 20_000  # actions
ROWS = 100_000  # games that a chunk may finish
FOREVER = np.iinfo(np.int64).max
TILES = (512, 1024, 2048, 4096, 8192, 16384, 32768)


# ---------------------------------------------------------------- history


class History:
    """What happened in training: every game's score, length and largest tile.

    scores, lengths, largest: int64[games], in the order in which the games ended; seconds: float64
    of the same length, when each ended; block: games in a row of `frame`.  count: how many games;
    actions: all that were played, those of unfinished games included; took: seconds of training;
    stopped: whether someone stopped it.
    """

    def __init__(self, block=BLOCK, rows=None):
        self.block, self._rows = block, [] if rows is None else [np.asarray(rows, np.float64)]
        self.count = sum(map(len, self._rows))
        self.stopped, self.actions, self.took = False, 0, 0.0

    def add(self, results, seconds):
        """Append finished games (see learning.RESULT_COLUMNS), all ended by `seconds`."""
        ended = np.full((len(results), 1), seconds)
        self.count += len(results)
        self._rows.append(np.hstack([results[:, 1:].astype(np.float64), ended]))

    @property
    def rows(self):
        """All games as float64[games, 4]: score, actions, exponent of the largest tile, seconds."""
        self._rows = [np.concatenate([np.zeros((0, 4)), *self._rows])]
        return self._rows[0]

    @property
    def scores(self):
        """Scores of the finished games, in points."""
        return self.rows[:, 0].astype(np.int64)

    @property
    def lengths(self):
        """Actions of the finished games."""
        return self.rows[:, 1].astype(np.int64)

    @property
    def largest(self):
        """Exponents of the largest tiles of the finished games."""
        return self.rows[:, 2].astype(np.int64)

    @property
    def seconds(self):
        """Seconds of training when each game had ended."""
        return self.rows[:, 3]

    def mean_last(self, games=BLOCK):
        """Return the mean score of the last games (of all, if fewer), nan when there is none."""
        return mean_ci95(self.last(games)[:, 0])[0]

    def last(self, games):
        """Return the rows of the last games (of all, if fewer) without copying the others."""
        parts, count = [], 0
        for part in reversed(self._rows):
            parts.insert(0, part[-(games - count) :] if games > count else part[:0])
            count += len(parts[0])
            if count >= games:
                break
        return np.concatenate([np.zeros((0, 4)), *parts])

    def table(self):
        """Return the curve as a list of dicts, one for each block of games."""
        totals = np.cumsum(self.lengths)
        ends = range(self.block, len(totals) + 1, self.block)
        return [self._block(end, int(totals[end - 1])) for end in ends]

    def _block(self, end, actions):
        part = slice(end - self.block, end)
        scores, shares = self.scores[part], reached(self.largest[part])
        mean, ci95 = mean_ci95(scores)
        row = {"games": end, "actions": actions, "seconds": round(self.seconds[end - 1], 2)}
        row |= {"mean": round(mean, 1), "ci95": round(ci95, 1), "max": int(scores.max())}
        return row | {f"reached_{tile}": shares.get(tile, 0.0) for tile in TILES}

    @property
    def frame(self):
        """The curve as a pandas frame: a row for each block of games."""
        import pandas

        return pandas.DataFrame(self.table())

    def csv(self):
        """Return the curve as CSV text."""
        columns = ["games", "actions", "seconds", "mean", "ci95", "max"]
        columns += [f"reached_{tile}" for tile in TILES]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.table())
        return text.getvalue()

    def statistics(self, games=BLOCK):
        """Return the field's statistics block of the last games."""
        last = slice(-games, None)
        return statistics_block(self.scores[last], self.largest[last], len(self.scores))

    def __repr__(self):
        if not len(self.scores):
            return "<history: no game is over yet>"
        games, actions = len(self.scores), self.actions
        return f"<history: {games:,} games, {actions:,} actions, last mean {self.mean_last():,.0f}>"


# ---------------------------------------------------------------- the run


def check_settings(
    rule, alpha, games, actions, seconds, order, checkpoint_every=60.0, epsilon=0.0
):
    """Raise ValueError, in one line, for settings that make no sense."""
    if rule != "td":
        raise ValueError(f"unknown rule {rule!r}: use td")
    if not (isinstance(alpha, (int, float)) and 0 < alpha <= 1):
        raise ValueError(f"alpha {alpha}: use a rate above 0 and up to 1")
    if order not in ("forward", "backward"):
        raise ValueError(f"unknown order {order!r}: use forward or backward")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon {epsilon}: use a share from 0 to 1")
    budgets = {"games": games, "actions": actions, "seconds": seconds}
    given = {name: budget for name, budget in budgets.items() if budget is not None}
    if len(given) != 1:
        raise ValueError("say how long to train: one of games, actions or seconds")
    for name, budget in given.items():
        if not budget > 0:
            raise ValueError(f"{name} {budget}: use a number above 0")
    if not checkpoint_every >= 0:
        raise ValueError(f"checkpoint_every {checkpoint_every}: use seconds, 0 or more")


def train(
    network, *, rule="td", alpha=0.1, games=None, actions=None, seconds=None, order="forward",
    epsilon=0.0, seed=1, lanes=LANES, functions=None, progress=True,
    out=None, resume=False, checkpoint_every=60.0,
):  # fmt: skip
    """Train a network by playing against itself: TD(0), greedy.

    network: `Network`, changed in place; its form says what is learned.  alpha: rate in (0, 1],
    shared by a board's look-ups.  One budget: games, actions, or seconds of this machine.
    order: 'forward' learns during the episode, 'backward' from its end (as the lab program does).
    epsilon: how often any legal action is taken instead of the best; it is learned from, too.
    seed: int.  lanes: games that take turns; 2 hides the time that memory takes, 1 learns from one
    game after the other.  functions: `learning.own_functions` of your own.  out: a folder for
    config, history, weights and, every checkpoint_every seconds, a checkpoint; resume: go on
    from it.

    Returns `History`.  The Stop button (or Ctrl-C) ends training within a second: the history up
    to there is returned with `stopped` set, the network is usable, a checkpoint is written.
    Raises ValueError for bad settings or a folder that holds another run, FloatingPointError when
    the weights grow without bound.
    """
    check_settings(rule, alpha, games, actions, seconds, order, checkpoint_every, epsilon)
    run = Run(network, alpha, order, seed, lanes, epsilon)
    if out is not None:
        run.use_folder(out, resume, {"rule": rule, "games": games, "actions": actions})
    announce()
    run.begin(functions)
    with _progress_bar(progress, run, games, actions, seconds) as show:
        run.go(games, actions, seconds, checkpoint_every, show)
    return run.history


class Run:
    """One training run: a network, its games in progress and its history."""

    def __init__(self, network, alpha, order, seed, lanes=LANES, epsilon=0.0):
        self.network, self.history, self.folder, self.found = network, History(), None, None
        self.settings = {"alpha": alpha, "order": order, "seed": seed, "lanes": lanes}
        self.settings |= {"epsilon": epsilon} if epsilon else {}
        self.before = 0.0  # seconds that earlier sessions of this run took
        self.started = time.perf_counter()

    def begin(self, functions=None):
        """Set the games up, compile, and take up the checkpoint if there is one."""
        network, settings = self.network, self.settings
        backward = settings["order"] == "backward"
        rule = rule_of(network, settings["alpha"], backward, settings.get("epsilon", 0.0))
        functions = functions or functions_of(network.tuples)
        seed, lanes = settings["seed"], settings["lanes"]
        n = network.lookups_per_board
        self.games = Games(functions, network.weights, n, rule, seed, lanes)
        self.games.play(0, 0, 1)  # compiles, before the clock starts
        if self.found is not None:
            self._restore(self.found)
            self.found = None

    @property
    def seconds(self):
        """Seconds of training so far, earlier sessions included."""
        return self.before + time.perf_counter() - self.started

    def config(self, extra):
        """Return all that decides this run's results, as config.json holds it."""
        name = {"network": self.network.name, "form": self.network.form}
        return {**name, **self.settings, **extra, "sources": SOURCE_HASH}

    def use_folder(self, path, resume, extra):
        """Claim a run folder, and read its checkpoint if there is one."""
        self.folder = storage.RunFolder(path, self.config(extra))
        self.found = self.folder.open(resume)
        if self.found is not None and not {"history", "counters", "seconds"} <= set(self.found):
            raise ValueError(f"{path}: its {storage.WEIGHTS} is no run that can go on")

    def go(self, games, actions, seconds, checkpoint_every, show):
        """Train until the budget is spent or someone stops it."""
        last_game, last_action = games or FOREVER, actions or FOREVER
        last_second = seconds or math.inf
        self.started = time.perf_counter()
        saved, chunk, more = time.perf_counter(), FIRST_CHUNK, True
        with _stop_asked() as stop:
            while more and self.games.actions < last_action and self.seconds < last_second:
                if stop.is_set():
                    self.history.stopped = True
                    break
                begin = time.perf_counter()
                limit = min(last_action, self.games.actions + chunk)
                results, more = self.games.play(last_game, limit, ROWS)
                self._keep(results)
                show(self)
                took = max(time.perf_counter() - begin, 1e-6)
                chunk = max(1, min(2 * chunk, int(chunk * CHUNK_SECONDS / took)))
                if self.folder and time.perf_counter() - saved > checkpoint_every:
                    self.folder.save_checkpoint(self.arrays(), self.history.csv())
                    saved = time.perf_counter()
            self._close()

    def _keep(self, results):
        self.history.add(results, self.seconds)
        self.history.actions, self.history.took = self.games.actions, self.seconds
        if not np.isfinite(self.games.work.values).all():
            raise FloatingPointError("the weights grew without bound: train with a smaller alpha")

    def _close(self):
        if self.folder is None:
            return
        if self.history.stopped:
            self.folder.save_checkpoint(self.arrays(), self.history.csv())
        else:
            self.folder.finish(self.arrays(), self.history.csv())

    def arrays(self):
        """Return the whole run as a dict of arrays: network, games in progress, history."""
        return {
            **storage.network_arrays(self.network),
            **self.games.state(),
            "history": self.history.rows,
            "seconds": np.array(self.seconds),
        }

    def _restore(self, arrays):
        storage.restore(self.network, arrays, self.folder.path)
        self.games.restore(arrays)
        self.history = History(rows=arrays["history"])
        self.before = self.history.took = float(arrays["seconds"])
        self.history.actions = self.games.actions


# ---------------------------------------------------------------- Stop and progress


@contextmanager
def _stop_asked():
    """Turn Ctrl-C, the Stop button and a polite kill into a flag, looked at between two chunks."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, lambda *_: stop.set()) for kind in kinds]
    try:
        yield stop
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


@contextmanager
def _progress_bar(progress, run, games, actions, seconds):
    """Yield a function that shows a run's progress; tqdm's bar, on stderr or in the notebook."""
    if not progress:
        yield lambda run: None
        return
    from tqdm.auto import tqdm

    total, unit = (games, "games") if games else (actions, "actions") if actions else (seconds, "s")
    done = {
        "games": lambda: run.history.count,
        "actions": lambda: run.games.actions,
        "s": lambda: min(seconds or 0, run.seconds - run.before),
    }[unit]
    form = "{percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} {unit} [{elapsed}<{remaining}{postfix}]"
    with tqdm(total=total, unit=unit, bar_format=form, file=sys.stderr, leave=False) as bar:

        def show(run):
            bar.update(done() - bar.n)
            mean, rate = run.history.mean_last(), run.games.actions / run.seconds
            bar.set_postfix_str(f"{rate / 1e6:.1f} M actions/s, last mean {mean:,.0f}")

        yield show


# ---------------------------------------------------------------- budgets


def actions_in(seconds, network):
    """Return about how many actions of training on a network fit into seconds on this machine.

    It plays (and does not learn) for a fifth of a second, and rounds to two digits.
    """
    functions, n = functions_of(network.tuples), network.lookups_per_board
    games = Games(functions, network.weights, n, rule_of(network, learn=False), 0)
    games.play(FOREVER, 1000, ROWS)
    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.2:
        games.play(FOREVER, games.actions + FIRST_CHUNK, ROWS)
    rate = (games.actions - 1000) / (time.perf_counter() - begin)
    actions = 0.8 * seconds * rate
    digits = max(0, int(math.log10(max(actions, 1))) - 1)
    return max(1, int(round(actions, -digits)))
