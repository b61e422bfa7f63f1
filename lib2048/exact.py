"""Small boards solved exactly: every state, its value, and how often a policy comes there.

The game's tile sum grows by 2 or 4 with every spawn and stays with every slide, so it never
returns: the states fall into layers of one tile sum.  Values are found from the last layer back
to the first, visits from the first to the last, each layer at once (see `frontier`).
"""

import math
from collections.abc import Mapping
from functools import cache, cached_property, partial

import numpy as np

from lib2048.game import board as boards_module
from lib2048.game import frontier
from lib2048.game.frontier import SCORE_AND_MOVES, Choice
from lib2048.game.game import new_game
from lib2048.game.mdp import frozen
from lib2048.game.rng import stream
from lib2048.machine.memory import check_memory
from lib2048.machine.terminal import bar
from lib2048.machine.threads import aside
from lib2048.networks.network import Network
from lib2048.play.players import NetworkPlayer

FIRST_SUM = 4  # of two 2s
NEEDED = {8: 0.4e9, 9: 2.2e9}  # bytes that boards of so many cells take, as measured
NAMED = ("random", "greedy")
MOST_ASKED = 6  # cells of a board whose every state a Python function is asked about
POSSIBLE = "use up to 3x3, 2x4 or 4x2, or a single row or column of 2 to 4 cells"


def solve(rows, columns, progress=True):
    """Return the `Values` of optimal play on a small board; see `SmallGame`."""
    return SmallGame(rows, columns, progress).optimal()


class SmallGame:
    """All states of a small board that the random start of two tiles can lead to.

    Args:
        rows, columns: the board's size, see POSSIBLE.
        progress: whether to show a bar on stderr.
        symmetric: whether to keep one board of all that are turned or mirrored images of each
            other. With symmetric=False it takes up to 8 times the memory and gives the same
            results; only `follow` needs it, for a policy that does not treat images alike.

    Attributes:
        states, terminal, afterstates: how many there are, all images counted; states include the
            terminal ones.
        boards: uint64, the afterstates that are kept, layer by layer.

    Raises:
        ValueError: for another size.
        MemoryError: when the memory is too small.
    """

    def __init__(self, rows, columns, progress=True, symmetric=True):
        check_size(rows, columns)
        _check_memory(rows, columns, symmetric)
        self.rows, self.columns, self.progress = int(rows), int(columns), progress
        self.grid, self.symmetric = new_game(self.rows, self.columns), symmetric
        self._like = (self.grid, symmetric)  # ends the arguments of every frontier function
        self._enumerate()

    @property
    def name(self):
        """The board's size, as in 3x3."""
        return f"{self.rows}x{self.columns}"

    def __repr__(self):
        return f"<{self.name}: {self.states:,} states, {self.afterstates:,} afterstates>"

    # ------------------------------------------------------------ all states

    def _enumerate(self):
        """Fill the layers: one for each tile sum, from two 2s to the fullest board."""
        start, layers, after = self._two_tiles(), [], []
        self.states = self.afterstates = self.terminal = 0
        sums = range(FIRST_SUM, 4 * 2 ** (self.rows * self.columns) - 3, 2)

        def add(total):
            layers.append(self._states_of(start.get(total), after[-2:]))
            after.append(frontier.afterstates_of(layers[-1], *self._like))
            self._count(layers[-1], after[-1])

        with _bar(self.progress, len(sums), "layers") as shown:
            for total in sums:
                aside(partial(add, total))
                shown.update(1)
        ends = np.cumsum([0, *map(len, after)])
        self.boards, self._states, self._first = np.concatenate(after), layers, start
        self._slices = [slice(*pair) for pair in zip(ends[:-1], ends[1:])]

    def _states_of(self, start, after):
        """Return the states of a layer: a start, or a spawn on the two layers before it."""
        parts = [np.zeros(0, np.uint64) if start is None else start[0]]
        for exponent, boards in zip(self.grid.chances, after[::-1]):
            parts.append(frontier.spawned(boards, exponent, *self._like))
        return frontier.distinct(np.concatenate(parts))

    def _two_tiles(self):
        """Return {tile sum: (boards, chances)} of the start: two random tiles in two cells."""
        shift = [4 * (4 * r + c) for r in range(self.rows) for c in range(self.columns)]
        pairs = [(a, b) for i, a in enumerate(shift) for b in shift[:i]]
        chance, found = self.grid.chances, {}
        for first, second in ((e, f) for e in chance for f in chance):
            boards = np.array([first << a | second << b for a, b in pairs], np.uint64)
            boards, times = np.unique(frontier.canonicals(boards, *self._like), return_counts=True)
            for board, count in zip(boards, times):
                layer = found.setdefault(2**first + 2**second, {})
                share = count / len(pairs) * chance[first] * chance[second]
                layer[board] = layer.get(board, 0.0) + share
        return {
            total: (np.array(sorted(layer)), np.array([layer[board] for board in sorted(layer)]))
            for total, layer in found.items()
        }

    def _count(self, states, after):
        ended = states[frontier.terminal(states, self.grid)]
        count = (lambda x: frontier.orbit_sum(x, self.grid)) if self.symmetric else len
        self.states += count(states)
        self.afterstates += count(after)
        self.terminal += count(ended)

    # ------------------------------------------------------------ policies

    def optimal(self):
        """Solve the game: the `Values` of the play with the largest expected score.

        Bellman's equations: V*(s) = max_a [r + V*(s')], V*(s') = E V*(s).  Actions of equal value
        are taken equally often, which decides the number of moves.
        """
        return Values(self, "optimal play", _Best(self, Choice()))

    def follow(self, policy, epsilon=0.0):
        """Evaluate a policy: the `Values` of playing by it.

        Ties are shared equally.  The function is asked for one layer after the other, and about one
        of each board's images, whose answer counts for all of them (for a policy that is not
        symmetric: SmallGame(…, symmetric=False)).

        Args:
            policy: 'random'; 'greedy' (the largest reward); a function from afterstates uint64[n]
                to their values, an object whose `values` is one, like `Network`, or a dictionary
                from boards as tuples (see `mdp`) to values (what it lacks has a `mdp.Table`'s
                start, or 0): the player takes the largest reward + value.
            epsilon: the share of random actions.

        Raises:
            ValueError: for another policy, or values that are not n finite numbers.
        """
        if not (isinstance(epsilon, (int, float)) and 0 <= epsilon <= 1):
            raise ValueError(f"epsilon {epsilon!r}: use a number from 0 to 1")
        at_random = isinstance(policy, str) and policy == "random"
        choice = Choice(epsilon=1.0 if at_random else float(epsilon))
        how = _Best(self, choice, self._preference(policy))
        return Values(self, _label(policy, epsilon), how)

    def follow_function(self, function):
        """Evaluate a policy that is a function of a state: the `Values` of playing by it.

        It is asked once about every state, so this is for boards of at most six cells, and for a
        game with symmetric=False, since it may treat images differently.

        Args:
            function: gets a state as a tuple of rows (see `mdp`) and returns an action, 0..3, or
                {action: probability}.

        Raises:
            ValueError: for other games, and for an answer that is no legal action.
        """
        if self.symmetric or self.rows * self.columns > MOST_ASKED:
            raise ValueError(
                f"a function is asked about every state: use a game of at most "
                f"{MOST_ASKED} cells, with symmetric=False"
            )
        return Values(self, _label(function, 0.0), _Told(self, function))

    def marks(self, values_of):
        """Judge a learner's values of afterstates by the three marks that only exact boards allow.

        Args:
            values_of: a function from afterstates uint64[n] to their values, or a `Network`.

        Returns:
            Own error, the distance of its values to what its own greedy play is truly worth, on the
            afterstates that this play visits; best error, to the optimal values, on those that
            optimal play visits; share, what its greedy play is worth, as a share of the optimum.
        """
        best, own = self.optimal(), self.follow(values_of)
        errors = {"own error": own.distance(values_of), "best error": best.distance(values_of)}
        return errors | {"share": own.start / best.start}

    def reach(self, tile):
        """Play for one tile: the `Values` of the probability that it is ever on the board.

        The reward is 0, the value 1 as soon as the tile is there, and there the game ends: `moves`,
        `visits` and `largest` are those up to then.  Where many actions are all but sure to
        succeed, rounding decides which are taken, and `moves` is good to about four digits.

        Args:
            tile: 2, 4, 8 …

        Raises:
            ValueError: for a number that is no tile.
        """
        return Values(self, f"play for {tile}", _Best(self, Choice(pays=0.0)), _exponent(tile))

    def _preference(self, policy):
        """Return what a policy thinks of each afterstate: float64, as many as boards."""
        if isinstance(policy, str) and policy in NAMED:
            return np.zeros(len(self.boards))
        ask, out = self._asking(policy), np.empty(len(self.boards))
        for rows in self._slices:
            if rows.stop > rows.start:
                out[rows] = _answer(ask, self.boards[rows])
        return out

    @cached_property
    def _tuples(self):
        """{a kept afterstate: the same board as a tuple of tuples}."""
        return {board: frozen(self.tiles(board)) for board in self.boards.tolist()}

    def _asking(self, policy):
        """Return the function that a policy's afterstate values come from."""
        if isinstance(policy, Mapping):
            other = getattr(policy, "start", 0.0)
            return lambda boards: [policy.get(self._tuples[b], other) for b in boards.tolist()]
        if getattr(policy, "form", "afterstate") != "afterstate":
            raise ValueError(f"a policy needs values of afterstates, and these are '{policy.form}'")
        ask = policy if callable(policy) else getattr(policy, "values", None)
        if not callable(ask):
            raise ValueError(f"{policy!r} is no policy: use 'random', 'greedy' or a function")
        return ask

    # ------------------------------------------------------------ games that are played

    def watch(self, network, games, seed=1):
        """Let a network play greedily: a list of games, each a list of turns (reward, afterstate).

        Game n has the luck of (seed, n).  Afterstates are ints; the reward is what the action paid
        that led to the afterstate beside it.

        Raises:
            ValueError: for a network of another size.
        """
        play, luck = self._player(network), self._luck(games, seed)
        return [play(*boards_module.initial(random, self.grid)) for random in luck]

    def futures(self, network, afterstate, games, seed=1):
        """Let a network play on from an afterstate, again and again; see `watch`."""
        play, luck, board = self._player(network), self._luck(games, seed), self.pack(afterstate)
        return [play(*boards_module.spawn(board, random, self.grid)) for random in luck]

    @staticmethod
    def _luck(games, seed):
        return (stream(seed, number) for number in range(games))

    def _player(self, network):
        """Return a function that plays to the end, from a state and its luck: the turns."""
        if network.game != self.grid:
            raise ValueError(f"{network.name} is no network for {self.name}")
        choose = cache(NetworkPlayer(network).choose)  # the same boards come again and again

        def play(state, luck):
            turns = []
            while (action := choose(state)) is not None:
                after, reward = boards_module.slide(state, action, self.grid)
                turns.append((int(reward), int(after)))
                state, luck = boards_module.spawn(after, luck, self.grid)
            return turns

        return play

    # ------------------------------------------------------------ boards of people

    def pack(self, board):
        """Pack a board of this size: nested lists of tiles, or a packed one.  → np.uint64.

        Raises:
            ValueError: for anything else.
        """
        if isinstance(board, (int, np.integer)):
            return self._packed(int(board))
        try:
            rows = [list(row) for row in board]
        except TypeError:
            rows = []
        if [len(row) for row in rows] != [self.columns] * self.rows:
            raise ValueError(f"this game's board has {self.rows} rows of {self.columns} tiles")
        rows = [row + [0] * (4 - self.columns) for row in rows]
        return boards_module.from_tiles(rows + [[0] * 4] * (4 - self.rows))

    def _packed(self, board):
        if not 0 <= board < 1 << 64 or board & ~(15 * int(self.grid.cells)):
            raise ValueError(f"{board} is not a packed board of {self.name}")
        return np.uint64(board)

    def _layer(self, board):
        """Return the number of a board's layer, or one that is empty."""
        return (boards_module.tile_sum(board) - FIRST_SUM) // 2

    def _state(self, board):
        """Return a state as it is kept, and its layer; raise ValueError for one that is not."""
        name, layer = frontier.canonicals(np.array([board]), *self._like), self._layer(board)
        if 0 <= layer < len(self._states) and _rows(name, self._states[layer])[0] >= 0:
            return name, layer
        raise ValueError(f"{self.tiles(board)} is no state of {self.name} that a start leads to")

    def tiles(self, board):
        """Return a packed board of this size as a list of rows of tiles."""
        return [row[: self.columns] for row in boards_module.to_tiles(board)[: self.rows]]


class Values:
    """What a way to play is worth on every board of a `SmallGame`.

    The methods take a board as nested lists of tiles, [[2, 0], [0, 4]], or packed, in any of its
    images, and raise ValueError, in one line, for one that the game cannot lead to.

    Attributes:
        start: expected score (for `reach`: probability) from the random start of two tiles.
        moves: expected number of actions.
        boards: uint64[n], the afterstates that are kept (one of each board's images).
        afterstate_values, afterstate_moves: float64[n], what is still to come there.
    """

    def __init__(self, game, name, how, goal=None):
        self.game, self.name, self._how, self._goal, self._forward = game, name, how, goal, None
        self._values = np.zeros((len(game.boards), 2))
        self._gains = SCORE_AND_MOVES if goal is None else np.array([[0.0, 0.0], [0.0, 1.0]])
        self.start, self.moves = map(float, self._back_up())

    def __repr__(self):
        worth = f"{self.start:,.2f} points" if self._goal is None else f"{self.start:.2%}"
        return f"<{self.name} on {self.game.name}: {worth}, {self.moves:,.1f} moves>"

    # ------------------------------------------------------------ all boards

    @property
    def boards(self):
        """The afterstates that are kept, uint64[n]."""
        return self.game.boards

    @property
    def afterstate_values(self):
        """The value of each afterstate, float64[n]."""
        return self._values[:, 0]

    @property
    def afterstate_moves(self):
        """The expected number of actions from each afterstate on, float64[n]."""
        return self._values[:, 1]

    def _back_up(self):
        """Fill the values, from the last layer to the first; return those of the start."""
        game, later = self.game, [(np.zeros(0, np.uint64), np.zeros((0, 2)))] * 2
        start = np.zeros(2)
        with _bar(game.progress, len(game.boards), "afterstates") as shown:
            for layer in reversed(range(len(game._states))):
                states, rows = game._states[layer], game._slices[layer]
                chosen = aside(partial(self._back_up_layer, layer, later))
                later = [(states, chosen), later[0]]
                boards, chances = self._starts(layer)
                start += chances @ chosen[np.searchsorted(states, boards)]
                shown.update(rows.stop - rows.start)
        return start

    def _back_up_layer(self, layer, later):
        """Fill the values of a layer's afterstates; return those of its states."""
        game, rows = self.game, self.game._slices[layer]
        self._values[rows] = frontier.expected(game.boards[rows], *later, *game._like)
        self._mark(game.boards[rows], self._values[rows])
        return self._chosen(game._states[layer], layer)

    def _chosen(self, states, layer):
        values = self._values[self.game._slices[layer]]
        options = self._how.options(states, layer, values)
        return self._mark(states, frontier.carried_back(options, values, self._gains))

    def _mark(self, boards, values):
        """Set the values of boards that have reached the goal to 1, with no actions to come."""
        if self._goal is not None:
            values[self._held(boards)] = 1, 0
        return values

    def _held(self, boards):
        """Say which boards hold the goal; a larger tile was made of it, except that 4s spawn."""
        if self._goal is None:
            return np.zeros(len(boards), np.bool_)
        if self._goal > 1:
            return frontier.largest(boards) >= self._goal
        nibbles = boards[:, None] >> np.arange(0, 64, 4, dtype=np.uint64) & np.uint64(15)
        return (nibbles == 1).any(axis=1)

    def _starts(self, layer):
        nothing = np.zeros(0, np.uint64), np.zeros(0)
        return self.game._first.get(FIRST_SUM + 2 * layer, nothing)

    # ------------------------------------------------------------ forward

    def visits(self):
        """Return how often a game is expected to come to each of `boards`: float64[n].

        A board stands for all its images.  The sum is `moves`.
        """
        return self._walk()[0]

    def distance(self, values_of):
        """Return how far other values lie from these: a root mean square, in points.

        An afterstate counts as often as a game comes there.

        Args:
            values_of: as for `SmallGame.follow`.
        """
        off = _answer(self.game._asking(values_of), self.boards) - self.afterstate_values
        return float(np.sqrt(np.average(off**2, weights=self.visits())))

    def largest(self):
        """Return {tile: probability that it is the largest when the game is over}."""
        shares = self._walk()[1]
        return {2**e: float(share) for e, share in enumerate(shares) if e and share}

    def reached(self):
        """Return {tile: probability that a game ends with it, or a larger one}."""
        shares, total, found = self.largest(), 0.0, {}
        for tile in sorted(shares, reverse=True):
            total += shares[tile]
            found[tile] = min(total, 1.0)
        return dict(sorted(found.items()))

    def _walk(self):
        """Carry the start's probabilities to the last layer: (visits, share of each exponent)."""
        if self._forward is None:
            visits, shares = np.zeros(len(self.boards)), np.zeros(16)
            self._carry_on(visits, shares)
            self._forward = visits, shares
        return self._forward

    def _carry_on(self, visits, shares):
        game = self.game
        with _bar(game.progress, len(game.boards), "afterstates") as shown:
            for layer, rows in enumerate(game._slices):
                aside(partial(self._carry_layer, layer, visits, shares))
                shown.update(rows.stop - rows.start)

    def _carry_layer(self, layer, visits, shares):
        game, states, rows = self.game, self.game._states[layer], self.game._slices[layer]
        chances = self._arriving(layer, visits)
        ended = self._held(states) | frontier.terminal(states, game.grid)
        np.add.at(shares, frontier.largest(states[ended]), chances[ended])
        chances[ended] = 0
        options = self._how.options(states, layer, self._values[rows])
        visits[rows] = frontier.carried_on(options, chances, rows.stop - rows.start)

    def _arriving(self, layer, visits):
        """Return how likely a game comes to each state of a layer: from its start, by spawns."""
        game, states = self.game, self.game._states[layer]
        chances, (boards, shares) = np.zeros(len(states)), self._starts(layer)
        chances[np.searchsorted(states, boards)] = shares
        for exponent in (1, 2):
            if layer >= exponent:
                rows = game._slices[layer - exponent]
                made = (game.boards[rows], visits[rows], exponent, states, chances)
                frontier.add_spawned(*made, *game._like)
        return chances

    # ------------------------------------------------------------ single boards

    def of(self, board):
        """Return the value of a state, 0 if it is terminal: what its player can still expect."""
        return self._of(board)[0]

    def moves_of(self, board):
        """Return the expected number of actions from a state on."""
        return self._of(board)[1]

    def _of(self, board):
        name, layer = self.game._state(self.game.pack(board))
        return self._chosen(name, layer)[0].tolist()

    def afterstate(self, board):
        """Return the value of an afterstate: what is still to come after the spawn."""
        return float(self.values(np.array([self.game.pack(board)]))[0])

    def actions(self, board):
        """Return {action: reward + value of its afterstate} of the legal actions of a state.

        For `reach` the reward is 0.
        """
        board = self.game.pack(board)
        self.game._state(board)
        pays = self._gains[0, 0]
        slid = _slides(board, self.game.grid)
        return {a: float(pays * reward + self.afterstate(s)) for a, s, reward in slid}

    def chances(self, board):
        """Return {action: probability} of the legal actions of a state: what this play takes."""
        board = self.game.pack(board)
        name, layer = self.game._state(board)
        values = self._values[self.game._slices[layer]]
        *_, weights, _ = self._how.options(np.array([board]), layer, values)
        slid = _slides(board, self.game.grid)
        return {action: float(share) for (action, *_), share in zip(slid, weights[0])}

    def odds(self, tile):
        """Return the `Values` of the same play that say how likely a tile is ever on the board.

        As for `reach`, `moves` are those up to then; but nobody plays for the tile here.

        Args:
            tile: 2, 4, 8 …

        Raises:
            ValueError: for a number that is no tile.
        """
        name, how = f"{self.name}: the odds of {tile}", self._how.fixed(self.afterstate_values)
        return Values(self.game, name, how, _exponent(tile))

    def choose(self, board):
        """Return the action of the largest value in `actions`, the first of equals, or None.

        For the values of `follow` this is one step better than the policy they belong to.
        """
        worth = self.actions(board)
        if not worth:
            return None
        best = max(worth.values())
        return next(a for a, w in worth.items() if w >= best - frontier.TIE * abs(best))

    def values(self, boards):
        """Return the values of many afterstates: uint64[n] → float64[n].

        So `Values` are a policy too: game.follow(game.optimal()) plays optimally.
        """
        boards = np.ascontiguousarray(boards, np.uint64)
        names, out = frontier.canonicals(boards, *self.game._like), np.full(len(boards), np.nan)
        layers = (frontier.tile_sums(boards) - FIRST_SUM) // 2
        for layer in set(layers.tolist()) & set(range(len(self.game._slices))):
            here, rows = np.flatnonzero(layers == layer), self.game._slices[layer]
            found = _rows(names[here], self.boards[rows])
            out[here] = np.where(found < 0, np.nan, self.afterstate_values[rows][found])
        if np.isnan(out).any():
            tiles = self.game.tiles(boards[np.isnan(out)][0])
            raise ValueError(f"{tiles} is no afterstate of {self.game.name} that a start leads to")
        return out


# ---------------------------------------------------------------- which actions are taken


class _Best:
    """Actions by the largest reward + preference, see `frontier.Choice`.

    preference: float64, one for each of the game's boards; None: the values themselves.
    """

    def __init__(self, game, choice, preference=None):
        self.game, self.choice, self.preference = game, choice, preference

    def options(self, states, layer, values):
        """Return the options of states of a layer, whose afterstates are worth `values`."""
        rows, own = self.game._slices[layer], self.preference is None
        prefer = np.ascontiguousarray(values[:, 0]) if own else self.preference[rows]
        index = frontier.index_of(self.game.boards[rows])
        options_of = self.game.grid.bind(frontier.options_of)
        return options_of(states, index, prefer, self.choice, *self.game._like)

    def fixed(self, values):
        """Return the same choice for other quantities than the values of it."""
        own = self.preference is None
        return _Best(self.game, self.choice, values.copy() if own else self.preference)


class _Told:
    """Actions by a function of a state, which is asked once about each."""

    def __init__(self, game, function):
        self.game, self.function, self.told = game, function, {}

    def options(self, states, layer, values):
        """Return the options of states of a layer; see `frontier.options_of`."""
        rows = self.game._slices[layer]
        index, none = frontier.index_of(self.game.boards[rows]), np.zeros(len(values))
        options_of = self.game.grid.bind(frontier.options_of)
        options = options_of(states, index, none, Choice(), *self.game._like)
        for state, weights in zip(states.tolist(), options[2]):
            weights[:] = self._weights(state)
        return options

    def fixed(self, values):
        """Return itself: it does not depend on any values."""
        return self

    def _weights(self, state):
        """Return the probability of each legal action, in their order: four places."""
        if state not in self.told:
            legal = [action for action, *_ in _slides(np.uint64(state), self.game.grid)]
            taken = self._answer(state, legal) if legal else {}
            shares = [float(taken.get(action, 0)) for action in legal]
            self.told[state] = shares + [0.0] * (4 - len(legal))
        return self.told[state]

    def _answer(self, state, legal):
        board = frozen(self.game.tiles(state))
        taken = answer = self.function(board)
        if not isinstance(answer, Mapping):
            taken = {answer: 1.0}
        fine = set(taken) <= set(legal) and all(share >= 0 for share in taken.values())
        if fine and abs(sum(taken.values()) - 1) < 1e-9:
            return taken
        raise ValueError(
            f"on {board} the policy says {answer!r}: it is to return a legal action "
            f"({', '.join(map(str, legal))}) or {{action: probability}}"
        )


# ---------------------------------------------------------------- a table of all boards


def board_table(board, start=0.0):
    """Return a `Network` that keeps one number for each board and its mirror images: a table.

    It learns and plays as any network does; nothing is shared between different boards.

    Args:
        board: a size of at most six cells, such as "2x3".
        start: the value that every board has at first.

    Raises:
        ValueError: for another size.
    """
    rows, columns = (int(number) for number in board.split("x"))
    check_size(rows, columns)
    if rows * columns > 6:
        raise ValueError(f"a table of all boards of {board} is too large: use at most six cells")
    cells = "".join(f"{4 * row + column:x}" for row in range(rows) for column in range(columns))
    table = Network(f"cells:{cells}@{board}").with_functions(value=_one_weight, update=_add_to_one)
    table.weights[:] = start
    return table


def _one_weight(weights, positions):
    """Read a board at the smallest of its 8 positions, the same for all its images."""
    return weights[positions.min()]


def _add_to_one(weights, positions, amount):
    """Add to that weight what all 8 look-ups would get together."""
    weights[positions.min()] += 8 * amount


# ---------------------------------------------------------------- policies and boards


def _label(policy, epsilon):
    if isinstance(policy, str):
        name = f"{policy} play"
    else:
        name = f"play by {getattr(policy, 'name', None) or getattr(policy, '__name__', 'values')}"
    return name + (f" with epsilon {epsilon}" if epsilon else "")


def _exponent(tile):
    """Return a tile's exponent; raise ValueError for a number that is no tile."""
    exponent = int(boards_module.from_tiles([[tile, 0, 0, 0], *[[0] * 4] * 3]))
    if not exponent:
        raise ValueError("reach(0): use a tile, 2, 4, 8 … 32768")
    return exponent


def _answer(ask, boards):
    values = np.asarray(ask(boards.copy()), np.float64)
    if values.shape != boards.shape or not np.isfinite(values).all():
        raise ValueError("a policy returns one finite number for each of the boards")
    return values


def _slides(board, grid):
    """Return [(action, afterstate, reward)] of the legal actions on a grid."""
    slid = grid.rules.slide(board, grid)
    return [(a, np.uint64(slid[a]), int(slid[4 + a])) for a in range(4) if slid[a] != board]


def _rows(names, boards):
    """Return where each name stands in sorted boards, -1 where it does not."""
    if not len(boards):
        return np.full(len(names), -1)
    rows = np.minimum(np.searchsorted(boards, names), len(boards) - 1)
    return np.where(boards[rows] == names, rows, -1)


# ---------------------------------------------------------------- sizes, memory, progress


def check_size(rows, columns):
    """Raise ValueError, in one line, for a board that cannot be solved."""
    for size in (rows, columns):
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"a board of {rows!r} by {columns!r}: {POSSIBLE}")
    if rows * columns == 1:
        raise ValueError(f"a 1x1 board has no room for the two tiles of the start: {POSSIBLE}")
    small = max(rows, columns) <= 3 or (max(rows, columns) == 4 and rows * columns <= 8)
    if not small:
        most = _bound(int(rows) * int(columns))
        raise ValueError(f"a {rows}x{columns} board has up to {most} states: {POSSIBLE}")


def _bound(cells):
    """Write (cells + 2)^cells, which bounds the number of states, as in 5.7e13."""
    exponent = cells * math.log10(cells + 2)
    power = math.floor(exponent)
    mantissa = round(10 ** (exponent - power), 1)
    return f"{mantissa}e{power}" if mantissa < 10 else f"1.0e{power + 1}"


def _check_memory(rows, columns, symmetric):
    images = 1 if symmetric else 8 if rows == columns else 4
    needed = images * NEEDED.get(rows * columns, 0)
    check_memory(f"solving {rows}x{columns}", needed, "take a smaller board")


def _bar(progress, total, unit):
    """Return a bar of progress, on stderr or in the notebook."""
    form = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} {unit} [{elapsed}<{remaining}]"
    return bar(
        progress, total=total, unit=unit, bar_format=form, unit_scale=unit != "layers", delay=0.5
    )
