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
from lib2048.evaluation import evaluate, mean_ci95, reached, statistics_block
from lib2048.expectimax import check_limits
from lib2048.learning import LANES, Games, functions_of, rule_of
from lib2048.players import NetworkPlayer, SearchPlayer

BLOCK = 1000  # games in a row of a history
CHUNK_SECONDS = 0.1  # between two looks at the Stop button
FIRST_CHUNK = 20_000  # actions
ROWS = 100_000  # games that a chunk may finish
FOREVER = np.iinfo(np.int64).max
TILES = (512, 1024, 2048, 4096, 8192, 16384, 32768)
EVALUATION_SEED = 1 << 40  # added to a run's seed: test games have luck that no training game has


# ---------------------------------------------------------------- history


class History:
    """What happened in training: every game's score, length and largest tile.

    scores, lengths, largest: int64[games], in the order in which the games ended; seconds: float64
    of the same length, when each ended; block: games in a row of `frame`.  count: how many games;
    actions: all that were played, those of unfinished games included; took: seconds of training;
    stopped: whether someone stopped it.  evaluations: what test games on the way gave, a list of
    dicts, a row for each number of actions and each depth.
    """

    def __init__(self, block=BLOCK, rows=None):
        self.block, self._rows = block, [] if rows is None else [np.asarray(rows, np.float64)]
        self.count = sum(map(len, self._rows))
        self.stopped, self.actions, self.took = False, 0, 0.0
        self.evaluations = []

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

    @property
    def evaluation_frame(self):
        """The test games on the way as a pandas frame; see EVALUATION_COLUMNS."""
        import pandas

        return pandas.DataFrame(self.evaluations, columns=EVALUATION_COLUMNS)

    def csv(self):
        """Return the curve as CSV text."""
        return _csv(CURVE_COLUMNS, self.table())

    def texts(self):
        """Return what a run folder holds of it, {file name: CSV text}."""
        texts = {storage.HISTORY: self.csv()}
        if self.evaluations:
            texts[storage.EVALUATIONS] = _csv(EVALUATION_COLUMNS, self.evaluations)
        return texts

    def statistics(self, games=BLOCK):
        """Return the field's statistics block of the last games."""
        last = slice(-games, None)
        return statistics_block(self.scores[last], self.largest[last], len(self.scores))

    def __repr__(self):
        if not len(self.scores):
            return "<history: no game is over yet>"
        games, actions = len(self.scores), self.actions
        return f"<history: {games:,} games, {actions:,} actions, last mean {self.mean_last():,.0f}>"


_SHARES = tuple(f"reached_{tile}" for tile in TILES)
CURVE_COLUMNS = ("games", "actions", "seconds", "mean", "ci95", "max", *_SHARES)
EVALUATION_COLUMNS = ("actions", "plies", "games", "mean", "ci95", "max", "moves_per_s", *_SHARES)


def _csv(columns, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


# ---------------------------------------------------------------- test games on the way


class Tests:
    """The test games that a run plays every so many actions: at 1-ply, and at one more depth.

    every: actions between two evaluations, None for none; games ≥ 1 at each depth; depth ≥ 1, in
    plies.  They are all played with the same luck, and learn nothing.
    """

    def __init__(self, every=None, games=100, depth=1):
        for name, number in (("eval_every", every), ("eval_games", games)):
            if number is not None and not number >= 1:
                raise ValueError(f"{name} {number}: use a number above 0")
        check_limits(depth, None)
        self.every, self.games, self.depth = every, games, depth

    def due(self, actions):
        """Say whether test games belong to this number of actions."""
        return self.every is not None and actions > 0 and actions % self.every == 0

    def next_after(self, actions):
        """Return the number of actions at which the next evaluation is due."""
        return FOREVER if self.every is None else (actions // self.every + 1) * self.every

    def players(self, network, functions):
        """Return {plies: player}.  Raises ValueError for a network that cannot look ahead."""
        players = {1: NetworkPlayer(network, functions=functions)}
        if self.every and self.depth > 1:
            players[self.depth] = SearchPlayer(network, self.depth, functions=functions)
        return players

    def play(self, network, functions, seed, actions):
        """Play; return a row of EVALUATION_COLUMNS for each depth."""
        players = self.players(network, functions).items()
        results = [(n, evaluate(who, self.games, seed + EVALUATION_SEED)) for n, who in players]
        return [self._row(actions, plies, result) for plies, result in results]

    def _row(self, actions, plies, result):
        row = {"actions": actions, "plies": plies, "games": self.games}
        row |= {"mean": round(result.mean, 1), "ci95": round(result.ci95, 1), "max": result.max}
        row["moves_per_s"] = round(result.moves_per_s)
        return row | {f"reached_{tile}": result.reached().get(tile, 0.0) for tile in TILES}


# ---------------------------------------------------------------- the run


def check_settings(rule, alpha, games, actions, seconds, order, checkpoint_every=60.0, epsilon=0.0):
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
    out=None, resume=False, checkpoint_every=60.0, eval_every=None, eval_games=100, eval_depth=1,
):  # fmt: skip
    """Train a network by playing against itself: TD(0), greedy.

    network: `Network`, changed in place; its form says what is learned.  alpha: rate in (0, 1],
    shared by a board's look-ups.  One budget: games, actions, or seconds of this machine.
    order: 'forward' learns during the episode, 'backward' from its end (as the lab program does).
    epsilon: how often any legal action is taken instead of the best; it is learned from, too.
    seed: int.  lanes: games that take turns; 2 hides the time that memory takes, 1 learns from one
    game after the other.  functions: `learning.own_functions` of your own.  out: a folder for
    config, history, weights and, every checkpoint_every seconds, a checkpoint; resume: go on
    from it.  eval_every: play eval_games test games every so many actions, and at the end, at
    1-ply and at eval_depth, into `History.evaluations`; they take no part in the clock.

    Returns `History`.  The Stop button (or Ctrl-C) ends training within a second: the history up
    to there is returned with `stopped` set, the network is usable, a checkpoint is written.
    Raises ValueError for bad settings or a folder that holds another run, FloatingPointError when
    the weights grow without bound.
    """
    check_settings(rule, alpha, games, actions, seconds, order, checkpoint_every, epsilon)
    tests = Tests(eval_every, eval_games, eval_depth)
    tests.players(network, functions)
    run = Run(network, alpha, order, seed, lanes, epsilon, tests)
    if out is not None:
        run.use_folder(out, resume, {"rule": rule, "games": games, "actions": actions})
    announce()
    run.begin(functions)
    with _progress_bar(progress, run, games, actions, seconds) as show:
        run.go(games, actions, seconds, checkpoint_every, show)
    return run.history


class Run:
    """One training run: a network, its games in progress and its history."""

    def __init__(self, network, alpha, order, seed, lanes=LANES, epsilon=0.0, tests=None):
        self.network, self.history, self.folder, self.found = network, History(), None, None
        self.settings = {"alpha": alpha, "order": order, "seed": seed, "lanes": lanes}
        self.settings |= {"epsilon": epsilon} if epsilon else {}
        self.tests, self.functions = tests or Tests(), None
        self.before = 0.0  # seconds that earlier sessions of this run took; minus those of tests
        self.started = time.perf_counter()

    def begin(self, functions=None):
        """Set the games up, compile, and take up the checkpoint if there is one."""
        network, settings = self.network, self.settings
        backward = settings["order"] == "backward"
        rule = rule_of(network, settings["alpha"], backward, settings.get("epsilon", 0.0))
        self.functions = functions = functions or functions_of(network.tuples)
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
        tests = {f"eval_{key}": number for key, number in vars(self.tests).items()}
        tests = tests if self.tests.every else {}
        return {**name, **self.settings, **extra, **tests, "sources": SOURCE_HASH}

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
                if self.tests.due(self.games.actions) and not stop.is_set():
                    self._test(stop)
                if stop.is_set():
                    self.history.stopped = True
                    break
                begin = time.perf_counter()
                test_at = self.tests.next_after(self.games.actions)
                limit = min(last_action, self.games.actions + chunk, test_at)
                results, more = self.games.play(last_game, limit, ROWS)
                self._keep(results)
                show(self)
                took = max(time.perf_counter() - begin, 1e-6)
                chunk = max(1, min(2 * chunk, int(chunk * CHUNK_SECONDS / took)))
                if self.folder and time.perf_counter() - saved > checkpoint_every:
                    self.folder.save_checkpoint(self.arrays(), self.history.texts())
                    saved = time.perf_counter()
            if self.tests.every and not self.history.stopped:
                self._test(stop)
            self._close()

    def _test(self, stop):
        """Play the test games, unless they have been played at this number of actions."""
        actions, rows = self.games.actions, self.history.evaluations
        if rows and rows[-1]["actions"] == actions:
            return
        begin, seed = time.perf_counter(), self.settings["seed"]
        try:
            with stop.raises():
                rows += self.tests.play(self.network, self.functions, seed, actions)
        except KeyboardInterrupt:
            self.history.stopped = True
        self.before -= time.perf_counter() - begin

    def _keep(self, results):
        self.history.add(results, self.seconds)
        self.history.actions, self.history.took = self.games.actions, self.seconds
        if not np.isfinite(self.games.work.values).all():
            raise FloatingPointError("the weights grew without bound: train with a smaller alpha")

    def _close(self):
        if self.folder is None:
            return
        if self.history.stopped:
            self.folder.save_checkpoint(self.arrays(), self.history.texts())
        else:
            self.folder.finish(self.arrays(), self.history.texts())

    def arrays(self):
        """Return the whole run as a dict of arrays: network, games in progress, history."""
        return {
            **storage.network_arrays(self.network),
            **self.games.state(),
            "history": self.history.rows,
            "evaluations": _as_array(self.history.evaluations),
            "seconds": np.array(self.seconds),
        }

    def _restore(self, arrays):
        storage.restore(self.network, arrays, self.folder.path)
        self.games.restore(arrays)
        self.history = History(rows=arrays["history"])
        self.history.evaluations = _as_rows(arrays.get("evaluations", np.zeros((0, 0))))
        self.before = self.history.took = float(arrays["seconds"])
        self.history.actions = self.games.actions


def _as_array(evaluations):
    rows = [[row[name] for name in EVALUATION_COLUMNS] for row in evaluations]
    return np.array(rows, np.float64).reshape(len(rows), len(EVALUATION_COLUMNS))


def _as_rows(array):
    whole = ("actions", "plies", "games", "max", "moves_per_s")
    rows = (dict(zip(EVALUATION_COLUMNS, row, strict=True)) for row in array.tolist())
    return [{k: int(x) if k in whole else x for k, x in row.items()} for row in rows]


# ---------------------------------------------------------------- Stop and progress


class _Stop(threading.Event):
    """A flag for the Stop button; within `raises` the button also interrupts what runs."""

    interrupts = False

    def press(self, *_):
        """Set the flag, as a signal's handler."""
        self.set()
        if self.interrupts:
            raise KeyboardInterrupt

    @contextmanager
    def raises(self):
        """Let the button raise KeyboardInterrupt meanwhile."""
        self.interrupts = True
        try:
            yield
        finally:
            self.interrupts = False


@contextmanager
def _stop_asked():
    """Turn Ctrl-C, the Stop button and a polite kill into a flag, looked at between two chunks."""
    stop = _Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, stop.press) for kind in kinds]
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
