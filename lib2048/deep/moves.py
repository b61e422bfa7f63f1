"""Moves of many games: the luck by which actions are drawn, games in step, and what they record."""

from functools import partial
from typing import NamedTuple

import numpy as np

from lib2048.game.batch import ILLEGAL, check_cells, options
from lib2048.game.board import WHOLE
from lib2048.game.frontier import tile_sums
from lib2048.game.game import agreed, parse_game
from lib2048.game.rng import seed_bits, turn_kernel, unit
from lib2048.learn.lockstep import Lockstep, play_in_step
from lib2048.learn.records import new_results
from lib2048.machine.arrays import Form, check_arrays
from lib2048.machine.kernels import kernel
from lib2048.networks.network import FORMS
from lib2048.play.evaluation import TEST_SEED, check_games
from lib2048.play.players import Player, game_of, new_stop, player, seen

TURN = {"turn_boards": np.uint64, "turn_actions": np.int64, "turn_rewards": np.float32}
DRAWS = 0xAC7105  # mixed into a seed: draws of actions are apart from spawns of tiles

# ---------------------------------------------------------------- luck


def luck_of(seed, numbers, turns):
    """Return the number in [0, 1) by which each game's action is drawn: float64[n].

    numbers, turns: int[n], of the games and of their turns; with the seed they decide it.
    """
    return unit(turn_states(seed, DRAWS, numbers, turns))


def turn_states(seed, purpose, numbers, turns):
    """Return 64 random bits for each game's turn, uint64[n]; purpose: mixed into the seed."""
    bits = np.empty(len(numbers), np.uint64)
    numbers, turns = np.asarray(numbers, np.int64), np.asarray(turns, np.int64)
    _turn_states(seed_bits(seed), purpose, numbers, turns, bits)
    return bits


@kernel
def _turn_states(seed, purpose, numbers, turns, bits):
    for i in range(len(bits)):
        bits[i] = turn_kernel(seed, purpose, numbers[i], turns[i])


def draw_actions(weights, luck):
    """Draw actions: float[n, 4] weights, such as probabilities, and luck [n] → int64[n].

    An action of weight 0 is never drawn.  In a row of zeros it is action 0.
    """
    actions = np.zeros(len(weights), np.int64)
    _draw(np.ascontiguousarray(weights, np.float64), luck, actions)
    return actions


@kernel
def draw_one(weights, luck):
    """Draw an action by four weights, not all 0, and a number in [0, 1)."""
    left, drawn = luck * weights.sum(), 0
    for action in range(4):
        if weights[action] > 0:
            drawn = action  # the last one, should rounding leave something over
            left -= weights[action]
            if left < 0:
                break
    return drawn


@kernel
def _draw(weights, luck, actions):
    for i in range(len(weights)):
        actions[i] = draw_one(weights[i], luck[i])


def legal_actions(boards, game=WHOLE, words=None):
    """Say which actions are legal: uint64[n], and words of their states → bool[n, 4]."""
    return np.isfinite(options(boards, game, words)[1])


# ---------------------------------------------------------------- games


class Moves(NamedTuple):
    """The moves of many games, in the order of play, one game after the other.

    Attributes:
        boards: uint64[n], states.
        actions: int64[n], taken there.
        ends: int64[games], where each game ends in both, so that game g is [ends[g − 1], ends[g]).
        results: int64[games, 5], see records.RESULT_COLUMNS.
    """

    boards: np.ndarray
    actions: np.ndarray
    ends: np.ndarray
    results: np.ndarray

    def first(self, turns):
        """Return the first moves of each game, so many at most; the results stay as they are."""
        lengths = np.diff(self.ends, prepend=0)
        number = np.arange(len(self.boards)) - np.repeat(self.ends - lengths, lengths)
        early, ends = number < turns, np.cumsum(np.minimum(lengths, turns))
        return Moves(self.boards[early], self.actions[early], ends, self.results)

    def __repr__(self):
        mean = self.results[:, 1].mean()
        return f"<{len(self.boards):,} moves of {len(self.ends):,} games, mean {mean:,.0f} points>"


class GameBatch:
    """Games first, first + 1, …, which are played in step until all are over.

    games: `Lockstep`, game first + g in place g; turns: a list of what each turn began with:
    (boards uint64[count], actions int64[count], rewards float32[count], −∞ where a game was
    over before); tile_sums: int64[count], of the last boards of games that are over.
    """

    def __init__(self, count, seed, first, game):
        self.first, self.turns = first, []
        self.games = Lockstep(count, seed, first, first + count, game=game)
        self.tile_sums = np.zeros(count, np.int64)
        self.results = new_results(count)  # by place

    @property
    def over(self):
        """Whether all games are over."""
        return not self.games.live.any()

    def turn(self, decide, last_action, rows):
        """Play one turn, or the rest of one; see `Lockstep.act`.  Returns what ended."""
        actions, games = None, self.games
        if games.between_turns:
            actions = decide(games)
            rewards = games.rewards[np.arange(len(actions)), actions]
            rewards[~games.live] = ILLEGAL
            self.turns.append((games.boards.copy(), actions, rewards))
        results = games.act(actions, last_action, min(rows, len(games.places)))
        if self.over:
            games.act()  # past the empty places, where rows ended the last turn
        self.results[results[:, 0] - self.first] = results
        if games.between_turns:
            over = np.flatnonzero(games.places["final"])
            self.tile_sums[over] = tile_sums(games.places["lost"][over])
        return results

    def moves(self):
        """Return (boards, actions, rewards), each [turns, count]; see `turns`."""
        return tuple(map(np.stack, zip(*self.turns)))

    def state(self):
        """Return all that a resume needs, as a dict of plain arrays."""
        shape = (-1, len(self.tile_sums))
        columns = zip(*self.turns) if self.turns else [()] * len(TURN)
        turns = zip(TURN.items(), columns)
        kept = {name: np.array(column, kind).reshape(shape) for (name, kind), column in turns}
        own = {"batch_tile_sums": self.tile_sums.copy(), "batch_results": self.results.copy()}
        return {**self.games.state(), **kept, **own}

    def check(self, state, path):
        """Raise ValueError, in one line, where a state is not one that `state` returns."""
        check_arrays(state, {"turn_boards": Form("uint64", (None, len(self.tile_sums)))}, path)
        moves, count = state["turn_boards"].shape, len(self.tile_sums)
        forms = {
            "turn_actions": Form("int64", moves, 0, 3),
            "turn_rewards": Form("float32", moves, finite=False),
            "batch_tile_sums": Form("int64", (count,), 0),
            "batch_results": Form("int64", self.results.shape, 0),
        }
        check_arrays(state, forms, path)
        if (state["turn_rewards"][:1] == ILLEGAL).any():
            raise ValueError(f"{path}: holds a game that was over before its first action")
        check_cells(state["turn_boards"], self.games.game, path)
        self.games.check(state, path)
        if not (moves[0] or (state["place_number"] >= 0).any()):
            raise ValueError(f"{path}: its games are over before their first action")

    def restore(self, state):
        """Take up a state that `state` returned for as many games, and `check` has seen."""
        self.games.restore(state)
        self.turns = list(zip(*(state[name] for name in TURN)))
        self.tile_sums[:] = state["batch_tile_sums"]
        self.results[:] = state["batch_results"]


def record_games(who, games, seed=TEST_SEED, first_game=0, game=None):
    """Let a player play games, all in step, and keep their `Moves`.

    Args:
        who: whatever `decision` takes.
        games: how many; the luck of game n is that of (seed, n).
        first_game: the number of the first of them.
        game: what is played, a `Game` or its name; by default what the player plays.

    Raises:
        ValueError: for a number of games below 1, something that is no player, one that plays
            another game, or one that takes an illegal action.
    """
    check_games(games, 1)
    own = getattr(who, "game", None)
    game = parse_game(game or WHOLE) if own is None else agreed(repr(who), own, game)
    decide, turns = decision(who, seed, game), []

    def keep(games, actions):
        actions = np.asarray(actions)
        live = games.live & np.isfinite(games.rewards).any(axis=1)  # some are over as they begin
        if not np.isfinite(games.rewards[live, actions[live]]).all():
            raise ValueError(f"{who!r} has taken an action that is not legal")
        turns.append((games.boards[live], actions[live], games.places["number"][live]))

    results = play_in_step(decide, first_game, games, seed, game, keep)
    boards, actions, numbers = map(np.concatenate, zip(*turns))
    order = np.argsort(numbers, kind="stable")
    return Moves(boards[order], actions[order], np.cumsum(results[:, 2]), results)


def decision(who, seed=TEST_SEED, game=None):
    """Return a rule for games in step: a function from a `Lockstep` to the action of each place.

    who: such a function; a player with `decide_in_step`, such as a policy network's; a network with
    `values` of afterstates, which takes the largest reward + value; any other network, a player or
    its name, which then plays `game`, asked board by board.  Raises ValueError for anything else.
    """
    if hasattr(who, "decide_in_step"):
        return lambda games: who.decide_in_step(games, seed)
    values_boards = hasattr(who, "values") and not hasattr(who, "choose")
    of_boards = getattr(who, "form", FORMS[0]) == FORMS[0] and not game_of(who).rules.SHOWN
    if values_boards and of_boards:
        return lambda games: games.worths(who.values).argmax(axis=1)
    if callable(who) and not hasattr(who, "parameters"):  # a bare module of torch
        return who
    return partial(_asked, player(who, game))


def _asked(who, games):
    """Ask a player about each board; 0 where none is legal."""
    states = zip(games.boards, games.places["word"])
    actions = (who.choose(*seen(who, game_of(who), *state)) for state in states)
    return [0 if action is None else action for action in actions]


def without_a_next_card(what, game):
    """Return the `Game` of a name; raise ValueError, in one line, where the next card is shown.

    what: what looks ahead from boards alone.
    """
    game = parse_game(game)
    if game.rules.SHOWN:
        raise ValueError(f"{what} looks ahead from boards alone, and {game.name} shows a card, too")
    return game


class StepPlayer(Player):
    """A player of many games in step, which says by `pick` what it does on many boards.

    name: what it is called; game: what is played; seed: of what `choose` does; stop: see `players`.
    """

    def __init__(self, name, game, seed=0):
        self.name, self.game, self.stop = name, game, new_stop()
        self._seed, self._asked = seed, 0

    def pick(self, boards, legal, *luck):
        """Return the action on each board: int64[n].

        boards: uint64[n]; legal: bool[n, 4]; luck: seed, numbers and turns, as `luck_of` has them.
        """
        raise NotImplementedError

    def choose(self, board, word=0):
        """Return the action (0..3) on a board, or None when none is legal."""
        boards = np.array([board], np.uint64)
        legal = legal_actions(boards, self.game, [word])
        if not legal.any():
            return None
        self._asked += 1
        return int(self._picked(boards, legal, self._seed, [-1], [self._asked])[0])

    def _picked(self, boards, legal, *luck):
        """Return what `pick` does; the first legal action in place of one that a 65536 forbids."""
        actions = np.array(self.pick(boards, legal, *luck), np.int64)
        forbidden = ~legal[np.arange(len(actions)), actions]
        actions[forbidden] = legal[forbidden].argmax(axis=1)
        return actions

    def decide_in_step(self, games, seed):
        """Return the action of each place of a `Lockstep`: int64[count]."""
        live, actions = games.live, np.zeros(len(games.places), np.int64)
        places, legal = games.places[live], np.isfinite(games.rewards[live])
        luck = seed, places["number"], places["length"]
        actions[live] = self._picked(places["board"], legal, *luck)
        return actions

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        decide = decision(self, seed)
        return play_in_step(decide, first_game, count, seed, self.game, stop=self.stop)
