"""Games in progress: one thread's, and those of several threads that learn on the same tables."""

import itertools
import threading
import time
from concurrent.futures import wait

import numpy as np

from lib2048.game.batch import as_states, check_cells
from lib2048.game.rng import seed_bits
from lib2048.learn import rules
from lib2048.learn.loop import BEFORE_FIRST, ONE, choose_kernel, play_kernel
from lib2048.learn.own import OwnFunctions, learned_by, update_of
from lib2048.learn.records import (
    ACTIONS,
    COUNTERS,
    KEPT,
    LANE,
    LONGEST_GAME,
    NEXT_GAME,
    PAST,
    ROWS,
    STRIDE,
    Functions,
    Limits,
    Method,
    joined,
    new_results,
    new_work,
)
from lib2048.learn.rules import find, horizon, new_memory
from lib2048.learn.settings import Settings
from lib2048.learn.starts import (
    STARTS,
    check_trail,
    new_starts,
    restarts,
    restore_starts,
    starts_forms,
    starts_state,
)
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.memory import apart, records
from lib2048.machine.threads import LOOK, PATIENCE, new_pool, result_or_halt
from lib2048.networks.lookups import BOARDS_AT_ONCE, unplanes, value_kernel
from lib2048.networks.network import FORMS, Network

FOREVER = np.iinfo(np.int64).max
MOST = 1 << 62  # of a count in a file
CHUNK_SECONDS = 0.1  # between two looks at the Stop button
PIECES, LARGEST_PIECE = 8, 1 << 20  # of a crew's budget: so many a thread and round, and actions


def functions_of(network: Network, rule: str | rules.Rule | None = None) -> Functions:
    """Return the compiled `Functions` that a network plays and learns by: its own, or ours.

    rule: by which it learns, None where it only plays.  Raises ValueError where the network's own
    update stands for another rule, or a packed network shall learn.
    """
    if rule:
        network.needs_tables("learning")
    n, own = np.uint64(network.lookups_per_board), network.own
    update = update_of(network, learned_by(network, rule)) if rule else rules.td_update()
    value = own.value if own and own.value else value_kernel()
    return Functions(n, network.look, network.values_of, value, update)


def method_of(network, settings=None):
    """Return the `Method` by which a network learns, or, without settings, only plays."""
    learn, settings = settings is not None, settings or Settings.of(network)
    kept = learned_by(network, settings.rule) if learn else find("td")
    backward = settings.order == "backward"
    return Method(
        form=FORMS.index(network.form),
        backward=backward,
        learn=learn,
        rate=shared_rate(network, settings.the_rule, settings.rate),
        decay=np.float32(settings.lam),
        slots=np.uint64(1 if backward else min(horizon(settings.lam) + 1, LONGEST_GAME)),
        remembered=settings.error == "remembered",
        delay=bool(settings.delay),
        dutch=settings.traces == "dutch",
        memory=np.uint64(kept.memory),
        optimistic=np.float32(network.optimistic),
        epsilon=np.float32(settings.epsilon),
        size=network.head_size,
        game=network.game,
        stages=network.stages,
        start=STARTS.index(settings.starts) if learn else 0,
    )


def shared_rate(network, rule, rate):
    """Return the rate of one weight: that of a board, shared by its look-ups; μ as it is."""
    return np.float32(rate / network.lookups_per_board if rule.shared else rate)


class Games:
    """Games in progress on one network, in one thread: play some, stop, go on.

    network: `Network`; method: `Method`; seed: int; functions: `Functions`, those of the network by
    default; memory: float32, what the rule keeps beside the weights; lanes: games that take turns;
    first_game: number of the first game; stride: from one game's number to the next one's.
    """

    def __init__(
        self, network, method, seed, functions=None, memory=None, lanes=2, first_game=0, stride=1
    ):
        self.functions = functions or functions_of(network)
        self.network, self.method, self.seed = network, method, seed_bits(seed)
        self.memory = new_memory(0) if memory is None else memory
        self.lanes = records(lanes, LANE)
        self.lanes["number"] = self.lanes["start"] = -1
        self.counters = apart(len(COUNTERS), np.int64)
        self.counters[NEXT_GAME], self.counters[STRIDE] = first_game, stride
        self._last_action = apart(1, np.int64)
        self.starts = new_starts(
            method.start, method.stages.phases, lanes, LONGEST_GAME, method.game
        )
        self.work = new_work(lanes, network.lookups_per_board, method)

    @property
    def actions(self):
        """The number of actions so far."""
        return int(self.counters[ACTIONS])

    @property
    def boards(self):
        """The boards that were looked up last, and those of the lanes: a set of ints."""
        last = {int(unplanes(image)) for image in self.work.images[:BOARDS_AT_ONCE]}
        return last.union(*(self.lanes[name].ravel().tolist() for name in ("board", "candidates")))

    @property
    def learned(self):
        """Yield the entries that wait in the lanes: (board, arguments of an update of its own).

        Their errors are those that they had last, and some others.
        """
        method, n = self.method, int(self.functions.lookups)
        for (g, lane), slot in itertools.product(enumerate(self.lanes), range(int(method.slots))):
            at, entry = (g * int(method.slots) + slot) * n, self.work.past[g, slot]
            board = self.work.trial[0] if method.backward else entry["board"]
            for error in (entry["error"], 1, -1, 100, -100):
                places = self.work.entries[at : at + n].copy()
                told = self.network.weights, self.memory, places, np.float32(error), method.rate
                if slot < lane["length"]:
                    yield int(board), told

    def halt(self):
        """Let `play`, in another thread, end after the action that is under way."""
        self._last_action[0] = 0

    def play(self, last_action, rows, last_game=FOREVER):
        """Play on until a limit; return (results int64[k, 5], whether games are left).

        last_action: stop when `actions` is this; rows: stop when so many games are over; last_game:
        games below this number are played.  See RESULT_COLUMNS.
        """
        results = new_results(rows)
        self.counters[ROWS], self._last_action[0] = 0, last_action
        more = self.method.game.bind(play_kernel)()(
            tuple(self.functions),
            self.network.weights,
            self.memory,
            self.method,
            self.lanes,
            self.counters,
            self.starts,
            self.work,
            results,
            Limits(self.seed, last_game, self._last_action),
        )
        return results[: self.counters[ROWS]], more

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        lanes = {f"lane_{name}": self.lanes[name].copy() for name in KEPT}
        episodes = np.concatenate(self._episodes())
        past = {f"past_{name}": episodes[name].copy() for name in self._past}
        starts = starts_state(self.starts, self.lanes["start"] + self.lanes["length"])
        return {**lanes, **past, **starts, "counters": self.counters.copy()}

    def check(self, state, path):
        """Raise ValueError, in one line, where a state is not one that `state` returns.

        state: a dict of arrays, or an `Archive`; path: named in errors.
        """
        check_arrays(state, self._forms(), path)
        lanes = {name: np.asarray(state[f"lane_{name}"]) for name in KEPT}
        self._check_lanes(lanes, path)
        last = lanes["start"] + lanes["length"]
        check_trail(self.method.start, self.starts, state, last, path)
        check_cells(state["trail"], self.method.game, path)
        check_arrays(state, self._past_forms(lanes["length"]), path)

    def _forms(self):
        """Return what the arrays of a state must be, {name: `Form`}, but those of its past."""
        count, last = len(self.lanes), self.method.stages.phases - 1
        stride = int(self.counters[STRIDE])
        limits = {"number": (-1, MOST), "score": (0, MOST), "length": (0, LONGEST_GAME - 1),
                  "stage": (0, last), "late": (0, last), "watched": (0, 1),
                  "start": (-1, LONGEST_GAME - 1),
                  "word": (0, self.method.game.most_word)}  # fmt: skip
        lanes = {
            f"lane_{name}": Form(LANE[name].name, (count,), *limits.get(name, ())) for name in KEPT
        }
        counters = Form(
            "int64", (len(COUNTERS),), [0, 0, 0, 0, stride], [count - 1, MOST, MOST, MOST, stride]
        )
        return lanes | starts_forms(self.starts, self.method.game) | {"counters": counters}

    def _past_forms(self, lengths):
        """Return what the arrays of the past must be, of games of such lengths."""
        kept = (int(np.minimum(lengths, self.work.past.shape[1]).sum()),)
        limits = {"action": (0, 3), "reward": (0,), "word": (0, self.method.game.most_word)}
        return {
            f"past_{name}": Form(PAST[name].name, kept, *limits.get(name, ()))
            for name in self._past
        }

    def _check_lanes(self, lanes, path):
        """Raise ValueError where what follows from the others is something else."""
        method, lengths = self.method, lanes["length"].astype(np.uint64)
        check_cells(lanes["board"], method.game, path)
        begun = (lengths > 0) & method.learn
        follows = {
            "slot": np.where(begun, (lengths - ONE) % method.slots, BEFORE_FIRST),
            "stage": [method.stages.phase(board) for board in lanes["board"]],
            "watched": int(method.stages.phases > 1 or restarts(method.start)),
        }
        for name, expected in follows.items():
            if ((lanes[name] != expected) & (lanes["number"] >= 0)).any():
                raise ValueError(f"{path}: lane_{name} is not what follows from the games")

    def restore(self, state):
        """Take up a state that `state` returned, and `check` has seen."""
        for name in KEPT:
            self.lanes[name] = state[f"lane_{name}"]
        start = 0
        for episode in self._episodes():
            for name in self._past:
                episode[name] = state[f"past_{name}"][start : start + len(episode)]
            start += len(episode)
        self.counters[:] = state["counters"]
        restore_starts(self.starts, state)

    @property
    def _past(self):
        """The names of what a file holds of an entry: no word or share where there is none."""
        less = {"word": not self.method.game.rules.SHOWN, "share": not self.method.dutch}
        return [name for name in PAST.names if not less.get(name)]

    def _episodes(self):
        """What is kept of the unfinished episodes, a view a lane."""
        return [past[:length] for past, length in zip(self.work.past, self.lanes["length"])]


class Crew:
    """Games in several threads that learn on the same tables at once, without locks.

    It trains a network by its settings.  Every thread has games of its own numbers, and so its own
    luck; which update comes first is left to chance (lock-free optimistic parallelism, Jaśkowski
    2018, section V-A3).  A crew of one does what its member does.

    members: a list of `Games`, one for each thread; own: the reader's `OwnFunctions` that it uses,
    or None; stop: an event that ends `play` within a second.
    """

    stop = threading.Event()  # of a learner without a run

    def __init__(self, network, settings, memory):
        self.network, self.rule = network, learned_by(network, settings.rule)
        self._lock = threading.Lock()
        method, functions = method_of(network, settings), functions_of(network, settings.rule)
        own = network, method, settings.seed, functions, memory, settings.lanes
        count = settings.threads
        self.members = [Games(*own, first_game=k, stride=count) for k in range(count)]
        self.own = network.own
        if self.own is None and not self.rule.is_ours:
            self.own = OwnFunctions(update=functions.update)
        self._pool = new_pool(count) if count > 1 or self.own else None

    @property
    def actions(self):
        """The number of actions so far, of all threads."""
        return sum(games.actions for games in self.members)

    @property
    def visits(self):
        """How many actions led into each stage, of all threads: int64[stages]."""
        if self.members[0].method.stages.phases == 1:
            return np.array([self.actions])
        return np.sum([games.starts.visits for games in self.members], axis=0)

    @property
    def boards(self):
        """The boards that all threads looked at last: a set of ints."""
        return set().union(*(games.boards for games in self.members))

    @property
    def learned(self):
        """What all threads may have learned last; see `Games.learned`."""
        return itertools.chain.from_iterable(games.learned for games in self.members)

    @property
    def finite(self):
        """Whether the values that were looked up last are numbers."""
        return all(np.isfinite(games.work.values).all() for games in self.members)

    def play(self, last_action, rows):
        """Play on until a limit that the threads share, or the event `stop`; see `Learner.play`.

        A reader's functions may take long: they play in other threads, and this one hears Ctrl-C.
        Raises StillBusy where one of their calls does not come back after `stop`.
        """
        first = self.members[0]
        if self._pool is None:
            return first.play(last_action, rows)[0]
        if len(self.members) == 1:
            task = self._pool.submit(first.play, last_action, rows)
            return result_or_halt(task, self.stop, self._halt)[0]
        self._left = np.array([last_action - self.actions, rows])
        pieces = self._left // (PIECES * len(self.members))  # once: those of the rest would shrink
        self._share = np.clip(pieces, 1, LARGEST_PIECE)
        tasks = [self._pool.submit(self._work, games) for games in self.members]
        try:
            return np.concatenate([result_or_halt(task, self.stop, self._halt) for task in tasks])
        except BaseException:  # of one thread: the others are to leave the tables as they are
            self._share[:] = 0  # nobody takes another piece
            end = time.perf_counter() + PATIENCE
            while time.perf_counter() < end and not all(task.done() for task in tasks):
                self._halt()  # again and again: one may be about to begin its piece
                wait(tasks, LOOK)
            raise

    def _halt(self):
        for games in self.members:
            games.halt()

    def _work(self, games):
        """Take one piece of the budget after the other; return the results of all."""
        found = []
        while min(share := self._take()) > 0:
            actions, rows = share
            before = games.actions
            results, _ = games.play(before + actions, rows)
            found.append(results)
            self._give(actions - (games.actions - before), rows - len(results))
            if self.stop.is_set():
                break
        return joined(found)

    def _take(self):
        """Take a piece of the actions and of the rows of results that are left."""
        with self._lock:
            share = np.minimum(self._share, self._left)
            self._left -= share
        return share.tolist()

    def _give(self, *unused):
        with self._lock:
            self._left += unused

    def set_rate(self, rate):
        """Let all threads learn at this rate from now on."""
        for games in self.members:
            games.method = games.method._replace(rate=shared_rate(self.network, self.rule, rate))


def choose_actions(network, functions, method, boards, words, luck=None):
    """Choose on many boards as the loop does.

    luck: of a game that begins with the first of them; those that follow are then written.

    Returns (how many had a legal action, int64[n] actions, 4 where none is legal, float32[n, 4] of
    what the actions are worth without their rewards; for Q, with).  Illegal ones hold a meaningless
    number.
    """
    count = len(boards) - (luck is not None)
    actions, worths = np.zeros(count, np.int64), np.zeros((count, 4), np.float32)
    work, lanes = new_work(1, network.lookups_per_board, method), records(1, LANE)
    told = *as_states(boards, words, method.game), worths, actions
    luck_told = np.uint64(luck or 0), luck is not None
    choose = method.game.bind(choose_kernel)()
    alive = choose(tuple(functions), network.weights, method, lanes, work, *told, *luck_told)
    shown = count if luck is None else alive
    return alive, actions[:shown], worths[:shown] + method.optimistic


def choose_action(network, functions, method, board, word=0):
    """Choose on one board; return (action or None, float32[4] worths); see `choose_actions`."""
    alive, actions, worths = choose_actions(network, functions, method, [board], [word])
    return int(actions[0]) if alive else None, worths[0]


def next_chunk(chunk: int, played: int, seconds: float) -> int:
    """Return how many actions to play before the next look at the Stop button.

    One that test games or the budget cut short says little of the speed: it makes none larger.
    """
    fits = int(played * CHUNK_SECONDS / max(seconds, 1e-6))
    return max(1, min(chunk if played < chunk else 2 * chunk, fits))
