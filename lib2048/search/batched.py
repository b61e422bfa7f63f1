"""Expectimax over any value function, asked for many boards at once.

The levels of the tree are sets of distinct boards (see `frontier`), so that a value function that
is slow at a single board, such as a network of torch, is asked once a depth.
"""

import copy
import functools
import time

import numpy as np

from lib2048.game import frontier
from lib2048.game.batch import as_states
from lib2048.game.board import WHOLE, afterstates
from lib2048.game.game import parse_game
from lib2048.machine.terminal import in_short
from lib2048.search.expectimax import MOST_PLIES, check_limits

AT_ONCE = 8192  # leaves that are asked for before the next look at `stop`


class BatchSearch:
    """An expectimax search over any value function, asked for many boards at once.

    The function is asked about all distinct leaves of a depth together, up to AT_ONCE of them; so
    it may be slow at a single board, such as a network of torch.

    Args:
        values: a function from afterstates, uint64[n], to their values, n numbers.
        symmetric: whether it values the images of a board alike; then only one of them is asked
            for.
        plies, seconds, pays: as for `Search`; with a time limit, one more ply is begun if it is
            expected to end in time.
        game: what is played, a `Game` or its name.

    Attributes:
        stop: int64[1]; while another thread has set it to 1, a search raises KeyboardInterrupt.

    Raises:
        ValueError: for numbers that make no sense.
    """

    def __init__(self, values, plies=None, seconds=None, symmetric=True, pays=True, game=WHOLE):
        check_limits(plies, seconds, table_mib=0)
        check_function("values", values)
        self.values_of, self.pays, self.stop = values, float(pays), np.zeros(1, np.int64)
        self.plies, self.seconds, self.game = plies or MOST_PLIES, seconds, parse_game(game)
        self._like = (self.game, symmetric)
        if self.game.rules is not WHOLE.rules and (self.plies, seconds) != (1, None):
            raise ValueError(f"{self.game.name}: only 2048 is searched over any value function")

    def decide(self, board, word=0):
        """Search one board; return (action or None, {action: reward + value}, plies reached)."""
        return self.decide_all([board], [word])[0]

    def decide_all(self, boards, words=None):
        """Search many boards together; return a list of what `decide` returns.

        words: of their states; None: 0 each.
        """
        boards, words = as_states(boards, words, self.game)
        apart = words > 0
        others = iter(self._found(boards[~apart]))
        found = iter(self._apart._found(boards[apart]))
        return [next(found if beyond else others) for beyond in apart]

    @functools.cached_property
    def _apart(self):
        """The same search where a 65536 stands, see `tile_65536`."""
        other = copy.copy(self)
        other.game = self.game._replace(apart=True)
        other._like = (other.game, *self._like[1:])
        return other

    def _found(self, boards):
        if not len(boards):
            return []
        return self._deepen(boards) if self.seconds else self._search(boards, self.plies)[0]

    def _deepen(self, boards):
        begin, growth, before, plies = time.perf_counter(), 30.0, 0, 0
        end, spent = begin + self.seconds * len(boards), 0.0
        while plies < self.plies and time.perf_counter() + growth * spent < end or not plies:
            start, plies = time.perf_counter(), plies + 1
            found, leaves = self._search(boards, plies)
            spent = time.perf_counter() - start
            growth, before = max(2.0, leaves / max(before, 1)) if before else growth, leaves
            if not leaves:
                break
        return found

    def _search(self, boards, plies):
        """Return (the decisions of a search to a fixed depth, how many leaves it asked for)."""
        levels = [self._level(frontier.canonicals(boards, *self._like))]
        for _ in range(plies - 1):
            made = [frontier.spawned(levels[-1][1], e, *self._like) for e in self.game.chances]
            levels.append(self._level(np.concatenate(made)))
        values = self._ask(levels[-1][1])
        for (_, after), below in zip(levels[-2::-1], levels[:0:-1], strict=True):
            pair = (below[0], self._best_of(*below, values))
            values = frontier.expected(after, pair, pair, *self._like)
        found = dict(zip(levels[0][1].tolist(), values[:, 0].tolist(), strict=True))
        return [self._decision(board, found, plies) for board in boards], len(levels[-1][1])

    def _level(self, states):
        states = frontier.distinct(states)
        return states, frontier.afterstates_of(states, *self._like)

    def _ask(self, leaves):
        parts = [leaves[at : at + AT_ONCE] for at in range(0, len(leaves), AT_ONCE)]
        return np.concatenate([np.zeros(0), *map(self._ask_about, parts)])[:, None]

    def _ask_about(self, leaves):
        if self.stop[0]:
            raise KeyboardInterrupt
        return asked(self.values_of, leaves)

    def _best_of(self, states, after, values):
        choice, gains = frontier.Choice(pays=self.pays), np.array([[self.pays, 0.0]])
        preference = np.ascontiguousarray(values[:, 0])
        return frontier.chosen(states, after, values, preference, choice, gains, *self._like)

    def _decision(self, board, found, plies):
        legal = afterstates(board, self.game)
        names = frontier.canonicals(np.array([a for _, a, _ in legal], np.uint64), *self._like)
        pairs = zip(legal, names.tolist(), strict=True)
        worth = {action: self.pays * reward + found[name] for (action, _, reward), name in pairs}
        return max(worth, key=worth.get, default=None), worth, plies


def asked(values_of, boards):
    """Return what a function says of boards, float64[n]; raise ValueError for another shape."""
    values = np.asarray(values_of(boards), np.float64)
    if values.shape != boards.shape:
        raise ValueError(f"a value function returns one number a board: {len(boards)} here")
    return values


def check_function(name, given):
    """Raise ValueError, in one line, where no function of boards is given."""
    if not callable(given) or hasattr(given, "parameters"):  # a bare module of torch
        said = in_short(given)
        raise ValueError(
            f"{name}: a function of boards is needed, such as network.values, not {said}"
        )
