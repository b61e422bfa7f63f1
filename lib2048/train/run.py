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

from lib2048.learn.loop import LANES, Crew, Games, functions_of, rule_of
from lib2048.learn.rules import RULES, new_memory
from lib2048.learn.starts import check_starts
from lib2048.machine.kernels import SOURCE_HASH, announce
from lib2048.networks import files as storage
from lib2048.networks.network import check_memory
from lib2048.play.evaluation import evaluate, reached, statistics_block
from lib2048.play.players import NetworkPlayer, SearchPlayer
from lib2048.play.statistics import mean_ci95
from lib2048.search.expectimax import check_limits

BLOCK = 1000  # games in a row of a history
SPARE_MIB = 512  # of memory, left free when a stage is begun
CHUNK_SECONDS = 0.1  # between two looks at the Stop button
FIRST_CHUNK = 20_000  # actions
CHECKPOINT_PAUSE = 20  # at the least, in times of what writing the last one took
MOST_THREADS = 1024
ROWS = 100_000  # games that a chunk may finish
FOREVER = np.iinfo(np.int64).max
TILES = (512, 1024, 2048, 4096, 8192, 16384, 32768)
EVALUATION_SEED = 1 << 40  # added to a run's seed: test games have luck that no training game has


# ---------------------------------------------------------------- history


class History:
    """What happened in training: every game's score, length and largest tile.

    scores, lengths, largest, starts: int64[games], in the order in which the games ended; where a
    game began is 0 for the initial state (see `starts`), and only such games make `frame`,
    `mean_last` and `statistics`, since the points of the others count from where they began.
    seconds: float64 of the same length, when each ended; block: games in a row of `frame`.  count:
    how many games; actions: all that were played, those of unfinished games included; visits:
    int64[stages], how many of them led into each stage; took: seconds of training; stopped:
    whether someone stopped it.  evaluations: what test games on the way gave, a list of dicts, a
    row for each number of actions and each depth.
    """

    def __init__(self, block=BLOCK, rows=None):
        self.block, self._rows = block, [] if rows is None else [_all_columns(rows)]
        self.count = sum(map(len, self._rows))
        self.stopped, self.actions, self.took = False, 0, 0.0
        self.evaluations, self.visits = [], np.zeros(1, np.int64)

    def add(self, results, seconds):
        """Append finished games (see learning.RESULT_COLUMNS), all ended by `seconds`."""
        rows = results[:, [1, 2, 3, 3, 4]].astype(np.float64)
        rows[:, 3] = seconds
        self.count += len(results)
        self._rows.append(rows)

    @property
    def rows(self):
        """All games as float64[games, 5]: score, actions, exponent of the largest tile, seconds,
        where it began."""
        self._rows = [np.concatenate([np.zeros((0, 5)), *self._rows])]
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

    @property
    def starts(self):
        """Where the finished games began, 0 for the initial state."""
        return self.rows[:, 4].astype(np.int64)

    def mean_last(self, games=BLOCK):
        """Return the mean score of the last whole games (of all, if fewer), nan without any."""
        return mean_ci95(self.last(games)[:, 0])[0]

    def last(self, games):
        """Return the rows of the last games from the initial state, without copying the others."""
        found, missing = [np.zeros((0, 5))], games
        for part in reversed(self._rows):
            for end in range(len(part), 0, -BLOCK):
                piece = part[max(0, end - BLOCK) : end]
                found.insert(1, piece[piece[:, 4] == 0][-missing:])
                missing -= len(found[1])
                if missing <= 0:
                    return np.concatenate(found)
        return np.concatenate(found)

    def table(self):
        """Return the curve as a list of dicts, one for each block of whole games."""
        whole, totals = np.flatnonzero(self.starts == 0), np.cumsum(self.lengths)
        ends = range(self.block, len(whole) + 1, self.block)
        return [self._block(whole[end - self.block : end], totals) for end in ends]

    def _block(self, games, totals):
        last = games[-1]
        scores, shares = self.scores[games], reached(self.largest[games])
        mean, ci95 = mean_ci95(scores)
        row = {"games": int(last) + 1, "actions": int(totals[last])}
        row |= {"seconds": round(self.seconds[last], 2)}
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
        if len(self.visits) > 1:
            rows = [{"stage": n, "actions": int(count)} for n, count in enumerate(self.visits)]
            texts[storage.STAGES] = _csv(("stage", "actions"), rows)
        return texts

    def statistics(self, games=BLOCK):
        """Return the field's statistics block of the last games."""
        last = self.last(games)
        scores, largest = last[:, 0].astype(np.int64), last[:, 2].astype(np.int64)
        return statistics_block(scores, largest, len(self.scores))

    def __repr__(self):
        if not len(self.scores):
            return "<history: no game is over yet>"
        games, actions = len(self.scores), self.actions
        return f"<history: {games:,} games, {actions:,} actions, last mean {self.mean_last():,.0f}>"


def _all_columns(rows):
    """Return a history's rows, with a start of 0 where an older checkpoint has none."""
    rows = np.asarray(rows, np.float64)
    return np.hstack([rows, np.zeros((len(rows), 5 - rows.shape[1]))])


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


def check_settings(
    rule="td", rate=None, games=None, actions=None, seconds=None, order="forward",
    checkpoint_every=60.0, epsilon=0.0, lam=0.0, threads=1,
):  # fmt: skip
    """Raise ValueError, in one line, for settings that make no sense."""
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}: use {', '.join(RULES)}")
    kind = RULES[rule]
    if rate is not None and not (_is_number(rate) and 0 < rate <= 1):
        raise ValueError(f"{kind.rate} {rate}: use a rate above 0 and up to 1")
    if order not in ("forward", "backward"):
        raise ValueError(f"unknown order {order!r}: use forward or backward")
    if not (_is_number(lam) and 0 <= lam < 1):
        raise ValueError(f"lambda {lam}: use a number from 0 up to, but not including, 1")
    if lam > 0 and not kind.decays:
        raise ValueError(f"lambda {lam}: the rule {rule} is defined for 0 only")
    if lam > 0 and order == "backward":
        raise ValueError(f"lambda {lam}: learning backward is defined for 0 only")
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon {epsilon}: use a share from 0 to 1")
    if not (isinstance(threads, (int, np.integer)) and 1 <= threads <= MOST_THREADS):
        raise ValueError(f"threads {threads}: use a whole number from 1 to {MOST_THREADS}")
    budgets = {"games": games, "actions": actions, "seconds": seconds}
    given = {name: budget for name, budget in budgets.items() if budget is not None}
    if len(given) != 1:
        raise ValueError("say how long to train: one of games, actions or seconds")
    for name, budget in given.items():
        if not budget > 0:
            raise ValueError(f"{name} {budget}: use a number above 0")
    if not checkpoint_every >= 0:
        raise ValueError(f"checkpoint_every {checkpoint_every}: use seconds, 0 or more")


def _is_number(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def rate_of(rule, rates):
    """Return the rate of a rule out of {name: rate or None}, or None when none is named.

    Raises ValueError for the rate of another rule.
    """
    if rule not in RULES:
        raise ValueError(f"unknown rule {rule!r}: use {', '.join(RULES)}")
    mine = RULES[rule].rate
    for name, rate in rates.items():
        if rate is not None and name != mine:
            raise ValueError(f"{name} is no rate of the rule {rule}: it takes {mine}")
    return rates.get(mine)


def train(
    network, *, rule="td", alpha=None, beta=None, mu=None, lam=0.0, delay=True, threads=1,
    games=None, actions=None, seconds=None, order="forward", epsilon=0.0, seed=1, lanes=LANES,
    functions=None, progress=True, out=None, resume=False, checkpoint_every=60.0,
    eval_every=None, eval_games=100, eval_depth=1, starts="initial",
):  # fmt: skip
    """Train a network by playing against itself.

    network: `Network`, changed in place; its form says what is learned.  rule: 'td', 'tc' or
    'autostep' (see `rules`), with its rate in (0, 1]: alpha (0.1 when left out) and beta (1) are
    shared by a board's look-ups, mu (0.1) is a meta-rate.  lam: λ in [0, 1), td and tc only;
    delay: each afterstate learns once, h actions later, or online at every error.  threads: so
    many learn at once on the same tables, without locks; one alone is deterministic.
    One budget: games, actions, or seconds of this machine.  order: 'forward' learns during the
    episode, 'backward' from its end (as the lab program does).  epsilon: how often any legal
    action is taken instead of the best; it is learned from, too.  seed: int.  lanes: games that
    take turns in a thread; 2 hides the time that memory takes, 1 learns from one game after the
    other.  functions: `learning.own_functions` of your own.  out: a folder for config, history,
    weights and, every checkpoint_every seconds, a checkpoint; resume: go on from it.
    starts: where games begin: 'initial', 'carousel', 'restart', 's-jump', 'l-jump' (see `starts`).
    eval_every: play eval_games test games every so many actions, and at the end, at 1-ply and at
    eval_depth, into `History.evaluations`; they take no part in the clock.

    Returns `History`.  The Stop button (or Ctrl-C) ends training within a second: the history up
    to there is returned with `stopped` set, the network is usable, a checkpoint is written.
    Raises ValueError for bad settings or a folder that holds another run, MemoryError when the
    rule's tables do not fit (for a later stage: after a checkpoint, as for the Stop button),
    FloatingPointError when the weights grow without bound.
    """
    rate = rate_of(rule, {"alpha": alpha, "beta": beta, "mu": mu})
    check_settings(
        rule, rate, games, actions, seconds, order, checkpoint_every, epsilon, lam, threads
    )
    check_starts(starts, network.stages.count)
    check_rule_memory(network, rule)
    tests = Tests(eval_every, eval_games, eval_depth)
    tests.players(network, functions)
    run = Run(network, rule, rate, lam, delay, threads, order, seed, lanes, epsilon, tests, starts)
    if out is not None:
        run.use_folder(out, resume, {"games": games, "actions": actions})
    announce()
    run.begin(functions)
    with _progress_bar(progress, run, games, actions, seconds) as show:
        run.go(games, actions, seconds, checkpoint_every, show)
    return run.history


def check_rule_memory(network, rule):
    """Raise MemoryError when a network and what the rule keeps beside its weights do not fit."""
    if RULES[rule].memory:
        check_memory(f"training {network.name} by {rule}", stage_bytes(network, rule))


def stage_bytes(network, rule):
    """Return what one stage takes with what the rule keeps beside its weights, in bytes."""
    return network.nbytes * (1 + RULES[rule].memory) // network.stages.count


class Run:
    """One training run: a network, its games in progress and its history."""

    def __init__(
        self, network, rule="td", rate=None, lam=0.0, delay=True, threads=1,
        order="forward", seed=1, lanes=LANES, epsilon=0.0, tests=None, starts="initial",
    ):  # fmt: skip
        self.network, self.history, self.folder, self.found = network, History(), None, None
        self.rule, self.threads, self.epsilon = rule, int(threads), epsilon
        self.order, self.seed, self.lanes = order, seed, lanes
        self.rate = RULES[rule].default if rate is None else rate
        self.lam, self.delay, self.starts = lam, delay, starts
        self.tests, self.functions = tests or Tests(), None
        self.before = 0.0  # seconds that earlier sessions of this run took; minus those of tests
        self.started = time.perf_counter()

    @property
    def settings(self):
        """What decides the run's results, as config.json holds it; what is usual is left out."""
        settings = {"rule": self.rule, RULES[self.rule].rate: self.rate}
        settings |= {"lambda": self.lam, "delay": self.delay} if self.lam else {}
        settings |= {"order": self.order, "seed": self.seed, "lanes": self.lanes}
        settings |= {"threads": self.threads} if self.threads > 1 else {}
        settings |= {"epsilon": self.epsilon} if self.epsilon else {}
        settings |= {"starts": self.starts} if self.starts != "initial" else {}
        start, stages = self.network.optimistic, self.network.stages
        settings |= {"optimistic": start} if start else {}
        staged = {
            "stages": int(stages.marks),
            "top": stages.top,
            "promotion": self.network.promotes,
        }
        return settings | (staged if stages.marks else {})

    def begin(self, functions=None):
        """Set the games up, compile, and take up the checkpoint if there is one."""
        network = self.network
        rule = rule_of(
            network, self.rate, self.order == "backward", self.epsilon,
            rule=self.rule, decay=self.lam, delay=self.delay, starts=self.starts,
        )  # fmt: skip
        self.functions = functions = functions or functions_of(network.tuples, self.rule)
        self.memory = new_memory(network.size, self.rule)
        self.history.visits = np.zeros(network.stages.count, np.int64)
        n, count = network.lookups_per_board, self.threads
        own = (functions, network.weights, n, rule, self.seed, self.lanes)
        self.games = Crew([Games(*own, k, count, self.memory) for k in range(count)])
        self.games.members[0].play(0, 0, 1)  # compiles, before the clock starts
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
        if self.found is not None and not {"history", "seconds"} <= set(self.found):
            raise ValueError(f"{path}: its {storage.WEIGHTS} is no run that can go on")

    def go(self, games, actions, seconds, checkpoint_every, show):
        """Train until the budget is spent or someone stops it."""
        last_game, last_action = games or FOREVER, actions or FOREVER
        last_second = seconds or math.inf
        self.started = time.perf_counter()
        saved, chunk, more = time.perf_counter(), FIRST_CHUNK * self.threads, True
        pause = checkpoint_every
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
                self._check_room()
                results, more = self.games.play(last_game, limit, ROWS)
                self._keep(results)
                show(self)
                took = max(time.perf_counter() - begin, 1e-6)
                chunk = max(1, min(2 * chunk, int(chunk * CHUNK_SECONDS / took)))
                if self.folder and time.perf_counter() - saved > pause:
                    begin = time.perf_counter()
                    self.folder.save_checkpoint(self.arrays(), self.history.texts())
                    saved = time.perf_counter()
                    pause = max(checkpoint_every, CHECKPOINT_PAUSE * (saved - begin))
            if self.tests.every and not self.history.stopped:
                self._test(stop)
            self._close()

    def _check_room(self):
        """Before another stage may be reached, see that there is memory for it; else stop here."""
        missing = self.network.stages.count - np.count_nonzero(self.history.visits)
        if not self.network.stages.marks or not missing:
            return
        try:
            need = stage_bytes(self.network, self.rule) + (SPARE_MIB << 20)
            check_memory("the next stage", need)
        except MemoryError as error:
            self.history.stopped = True
            self._close()
            raise MemoryError(
                f"training stopped where it can go on: {error}, or fewer stages"
            ) from None

    def _test(self, stop):
        """Play the test games, unless they have been played at this number of actions."""
        actions, rows = self.games.actions, self.history.evaluations
        if rows and rows[-1]["actions"] == actions:
            return
        begin, seed = time.perf_counter(), self.seed
        try:
            with stop.raises():
                rows += self.tests.play(self.network, self.functions, seed, actions)
        except KeyboardInterrupt:
            self.history.stopped = True
        self.before -= time.perf_counter() - begin

    def _keep(self, results):
        self.history.add(results, self.seconds)
        self.history.actions, self.history.took = self.games.actions, self.seconds
        self.history.visits = self.games.visits
        if not self.games.finite:
            rate = RULES[self.rule].rate
            raise FloatingPointError(f"the weights grew without bound: train with a smaller {rate}")

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
            **storage.memory_arrays(self.network, self.memory),
            **self.games.state(),
            "history": self.history.rows,
            "evaluations": _as_array(self.history.evaluations),
            "seconds": np.array(self.seconds),
        }

    def _restore(self, arrays):
        storage.restore(self.network, arrays, self.folder.path)
        storage.restore_memory(self.network, self.memory, arrays, self.folder.path)
        self.games.restore(arrays)
        self.history = History(rows=arrays["history"])
        self.history.evaluations = _as_rows(arrays.get("evaluations", np.zeros((0, 0))))
        self.before = self.history.took = float(arrays["seconds"])
        self.history.actions, self.history.visits = self.games.actions, self.games.visits


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
