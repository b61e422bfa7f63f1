"""Many games in step: one action in each, then the next, for players that are asked about many
boards at once, such as neural networks."""

from typing import NamedTuple

import numpy as np

from lib2048.game.batch import ILLEGAL, check_cells, slide_into, worths
from lib2048.game.bits import WHOLE
from lib2048.game.rng import seed_bits
from lib2048.game.tile_65536 import in_state
from lib2048.learn.games import FOREVER, MOST
from lib2048.learn.loop import record
from lib2048.learn.records import (
    ACTIONS,
    COUNTERS,
    LONGEST_GAME,
    NEXT_GAME,
    ROWS,
    TURN,
    joined,
    new_results,
)
from lib2048.learn.starts import (
    STARTS,
    begin_game,
    check_trail,
    keep_turn,
    new_starts,
    restarts,
    restore_starts,
    starts_forms,
    starts_state,
    take_turn,
)
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.kernels import kernel, part
from lib2048.machine.memory import records

ZERO = np.uint64(0)

PLACE = np.dtype(
    [
        ("board", np.uint64),  # the state whose action comes next
        ("word", np.uint64),  # what the game remembers beside the board
        ("random", np.uint64),  # the game's random state
        ("number", np.int64),  # the game's number, −1 where none is left
        ("score", np.int64),  # points since its start
        ("length", np.int64),  # actions since its start
        ("start", np.int64),  # where it began; see starts.start_kernel
        ("last", np.uint64),  # its last afterstate, 0 before the first
        ("final", np.uint64),  # the afterstate with which a game ended here in this turn, or 0
        ("lost", np.uint64),  # and the state without a legal action that came of it
        ("action", np.int64),  # the action that was chosen in this turn
    ],
    align=True,
)


class TurnLimits(NamedTuple):
    """How far one call goes, with whose luck, and where games begin."""

    seed: np.uint64
    last_game: int  # games below this number are begun
    last_action: int
    start: int  # the number of one of starts.STARTS


class Lockstep:
    """Games that are played in step: every turn each of them takes one action.

    `act` plays one turn.

    Args:
        count: how many at once.
        seed: game n of all has the luck of (seed, n), as everywhere.
        first_game, last_game: the numbers of the first game and of the one behind the last; a game
            that is over is followed by the next, until none is left.
        starts: one of `starts.STARTS`.
        game: what is played.

    Attributes:
        places: PLACE[count], the games in progress.
        afterstates: uint64[count, 4], what the four actions lead to.
        rewards: float32[count, 4], −∞ for an illegal one (in a place without a game all are).
    """

    def __init__(self, count, seed, first_game=0, last_game=FOREVER, starts="initial", game=WHOLE):
        self.places = records(count, PLACE)
        self.places["number"] = self.places["start"] = -1
        self.afterstates = np.zeros((count, 4), np.uint64)
        self.rewards = np.full((count, 4), ILLEGAL)
        self.counters = np.zeros(len(COUNTERS), np.int64)
        self.counters[NEXT_GAME], self.game, self._first = first_game, game, first_game
        kind = STARTS.index(starts)
        self.starts = new_starts(kind, 1, count, LONGEST_GAME, game)
        self._limits = TurnLimits(seed_bits(seed), last_game, FOREVER, kind)
        game.bind(_begin_all)(
            self.places, self.afterstates, self.rewards, self.counters, *self._rest()
        )

    def _rest(self, last_action=FOREVER):
        return self.starts, self._limits._replace(last_action=int(last_action)), self.game

    @property
    def actions(self):
        """The number of actions so far."""
        return int(self.counters[ACTIONS])

    @property
    def begun(self):
        """The number of the first game that has not begun."""
        return int(self.counters[NEXT_GAME])

    @property
    def boards(self):
        """The states whose actions come next: uint64[count]."""
        return self.places["board"]

    @property
    def live(self):
        """Which places hold a game: bool[count]."""
        return self.places["number"] >= 0

    @property
    def between_turns(self):
        """Whether the last turn is complete, and the actions of the next may be chosen."""
        return self.counters[TURN] == 0

    def worths(self, values_of, pays=1.0):
        """Return reward + value of every action: float32[count, 4], −∞ where it is illegal.

        Args:
            values_of: a function from afterstates, uint64[m], to m numbers, asked once.
        """
        return worths(self.afterstates, self.rewards, values_of, pays)

    def act(self, actions=None, last_action=FOREVER, rows=None):
        """Play one turn: one action in each game, in their order.

        Args:
            actions: int[count]; a game whose action is illegal stays as it is, uncounted.  None
                goes on with a turn that a limit has interrupted.
            last_action: stop when `actions` is this number.
            rows: stop when so many games are over; by default the turn is played to its end.

        Returns:
            int64[k, 5], the games that ended; see records.RESULT_COLUMNS.
        """
        if actions is not None:
            self.places["action"] = actions
            self.places["final"] = 0
        results = new_results(len(self.places) if rows is None else rows)
        self.counters[ROWS] = 0
        self.game.bind(_act)(
            self.places,
            self.afterstates,
            self.rewards,
            self.counters,
            results,
            *self._rest(last_action),
        )
        return results[: self.counters[ROWS]]

    def begin_from(self, boards, word=None):
        """Put other boards into games that have just begun.

        Args:
            boards: uint64[count].
            word: of their states, None for what the games have begun with.
        """
        self.places["board"] = boards
        if word is not None:
            self.places["word"] = word
        self.game.bind(_look_all)(self.places, self.game, self.afterstates, self.rewards)

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        places = {f"place_{name}": self.places[name].copy() for name in PLACE.names}
        starts = starts_state(self.starts, self.places["start"] + self.places["length"])
        return {**places, **starts, "counters": self.counters.copy()}

    def check(self, state, path):
        """Raise ValueError, in one line, where a state is not one that `state` returns.

        Args:
            state: a dict of arrays, or an `Archive`.
            path: named in errors.
        """
        check_arrays(state, self._forms(), path)
        places = self._places_in(state)
        check_cells(places["board"], self.game, path)
        check_cells(state["trail"], self.game, path)
        last = places["start"] + places["length"]
        check_trail(self._limits.start, self.starts, state, last, path)
        self._check_turn(places, np.asarray(state["counters"]), path)

    def _forms(self):
        """Return what the arrays of a state must be, {name: `Form`}."""
        count, last_game = len(self.places), min(self._limits.last_game, MOST)
        limits = {"number": (-1, last_game - 1), "score": (0, MOST), "action": (0, 3)}
        limits |= {"word": (0, self.game.most_word)}
        limits |= {"length": (0, LONGEST_GAME - 1), "start": (-1, LONGEST_GAME - 1)}
        places = {
            f"place_{name}": Form(PLACE[name].name, (count,), *limits.get(name, ()))
            for name in PLACE.names
        }
        most = [count - 1, last_game, MOST, MOST, MOST]
        counters = Form("int64", (len(COUNTERS),), [0, self._first, 0, 0, 0], most)
        return places | starts_forms(self.starts, self.game) | {"counters": counters}

    def _places_in(self, state):
        places = records(len(self.places), PLACE)
        for name in PLACE.names:
            places[name] = state[f"place_{name}"]
        return places

    def _check_turn(self, places, counters, path):
        """Raise ValueError where a game is none of these, is over, or does what is illegal.

        A place is empty only when no game is left to begin.
        """
        turn, more = counters[TURN], counters[NEXT_GAME] < self._limits.last_game
        after, rewards = np.zeros_like(self.afterstates), np.zeros_like(self.rewards)
        self.game.bind(_look_all)(places, self.game, after, rewards)
        chosen = rewards[np.arange(len(places)), places["action"]]
        live = places["number"] >= 0
        left = live & (np.arange(len(places)) >= turn) & (turn > 0)
        others = (places["number"][live] < self._first).any() or (more and not live.all())
        ended = (rewards[live] == ILLEGAL).all(axis=1).any()
        if others or ended or (chosen[left] == ILLEGAL).any():
            raise ValueError(f"{path}: its games are over, or others, or do what is illegal")

    def restore(self, state):
        """Take up a state that `state` returned for as many games, and `check` has seen."""
        self.places[:] = self._places_in(state)
        self.counters[:] = state["counters"]
        restore_starts(self.starts, state)
        self.game.bind(_look_all)(self.places, self.game, self.afterstates, self.rewards)


def play_in_step(decide, first_game, count, seed, game=WHOLE, watch=None, stop=(0,)):
    """Play games by number, all at once; return int64[count, 5], see records.RESULT_COLUMNS.

    decide: a function from a `Lockstep` to the action of each place; watch: is shown both, before
    the actions are taken.  Another thread ends it after a turn by stop[0] = 1.
    """
    games = Lockstep(count, seed, first_game, first_game + count, game=game)
    parts = []
    while games.live.any() and not stop[0]:
        actions = decide(games)
        if watch is not None:
            watch(games, actions)
        parts.append(games.act(actions))
    return in_order(parts)


def in_order(parts):
    """Return results of games, a list of int64[k, 5], as one array, by the games' numbers."""
    results = joined(parts)
    return results[np.argsort(results[:, 0])]


# ---------------------------------------------------------------- kernels


@part
def _begin(g, places, after, rewards, counters, starts, limits, game):
    """Give a place the next game, or leave it empty when none is left."""
    place, number = places[g], counters[NEXT_GAME]
    place.last, rewards[g] = ZERO, ILLEGAL
    if number < limits.last_game:
        counters[NEXT_GAME] = number + 1
        begin_game(place, limits.start, limits.seed, number, game, g, starts)
        slide_into(place.board, in_state(game, place.word), after[g], rewards[g])
    else:
        place.number, place.board, place.score, place.length = -1, ZERO, 0, 0


@kernel
def _begin_all(places, after, rewards, counters, starts, limits, game):
    for g in range(len(places)):
        _begin(g, places, after, rewards, counters, starts, limits, game)


@kernel
def _look_all(places, game, after, rewards):
    for g in range(len(places)):
        rewards[g] = ILLEGAL
        if places[g].number >= 0:
            here = in_state(game, places[g].word)
            slide_into(places[g].board, here, after[g], rewards[g])


@part
def _is_over(rewards):
    over = True
    for action in range(4):
        over = over and rewards[action] == ILLEGAL
    return over


@kernel
def _act(places, after, rewards, counters, results, starts, limits, game):
    g = counters[TURN]
    while g < len(places) and counters[ROWS] < len(results):
        place = places[g]
        action = place.action
        if place.number >= 0 and rewards[g, action] != ILLEGAL:
            if counters[ACTIONS] >= limits.last_action:
                break
            place.last = after[g, action]
            take_turn(place, place.last, rewards[g, action], np.uint64(action), game)
            counters[ACTIONS] += 1
            slide_into(place.board, in_state(game, place.word), after[g], rewards[g])
            if restarts(limits.start):
                keep_turn(starts, g, place.start + place.length, place.board, place.word)
        if place.number >= 0 and _is_over(rewards[g]):  # two cells may be full as a game begins
            place.final = place.last if place.length else place.board
            place.lost = place.board
            record(place, counters, results, game)
            _begin(g, places, after, rewards, counters, starts, limits, game)
        g += 1
    counters[TURN] = 0 if g == len(places) else g
