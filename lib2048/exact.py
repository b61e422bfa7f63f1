"""Small boards solved exactly: every state, its value, and how often a policy comes there.

The game's tile sum grows by 2 or 4 with every spawn and stays with every slide, so it never
returns: the states fall into layers of one tile sum.  Values are found from the last layer back
to the first, visits from the first to the last, each layer at once (see `frontier`).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from lib2048.game import board as boards_module
from lib2048.game import frontier
from lib2048.game.batch import exponents
from lib2048.game.bits import WHOLE
from lib2048.game.frontier import SCORE_AND_MOVES, Choice
from lib2048.game.game import new_game, parse_game, parse_size
from lib2048.game.mdp import frozen
from lib2048.game.rng import stream
from lib2048.game.spec import FOUR_CHANCE
from lib2048.machine.memory import check_memory
from lib2048.machine.terminal import bar
from lib2048.machine.threads import aside
from lib2048.networks.names import game_of, word
from lib2048.networks.network import Network, check_tables
from lib2048.play.players import NetworkPlayer

FIRST_SUM = 4  # of two 2s
NEEDED = {8: 400_000_000, 9: 2_200_000_000}  # bytes that boards of so many cells take, as measured
MOST_ASKED = 6  # cells of a board whose every state a function is asked about, or has a weight
POSSIBLE = "use up to 3x3, 2x4 or 4x2, or a single row or column of 2 to 4 cells"


def solve(rows, columns, progress=True, four=FOUR_CHANCE):
    """Return the `Values` of optimal play on a small board; see `SmallGame`."""
    return SmallGame(rows, columns, progress, four=four).optimal()


class _Layer(NamedTuple):
    """The boards of one tile sum."""

    states: np.ndarray  # uint64[n]
    rows: slice  # where its afterstates are among the game's boards
    start: np.ndarray  # int64[k], the states that a game may begin with
    chances: np.ndarray  # float64[k], and how likely


class _Play(NamedTuple):
    """Which actions are taken: those with the largest reward + preference, or as one is told."""

    choice: Choice = Choice()
    preference: np.ndarray | None = None  # float64, of each of a game's boards; None: its value
    discount: float = 1.0  # of the points to come, at each turn
    told: Callable | None = None  # from a state, an int, to the shares of its legal actions


class SmallGame:
    """All states of a small board that the random start of two tiles can lead to.

    Args:
        rows, columns: the board's size, see POSSIBLE.
        progress: whether to show a bar on stderr.
        symmetric: whether to keep one board of all that are turned or mirrored images of each
            other. With symmetric=False it takes up to 8 times the memory and gives the same
            results; only `follow` needs it, for a policy that does not treat images alike.
        four: the chance that a spawned tile is a 4.

    Attributes:
        name, game: the size, as in 3x3, with other odds the game's name; and the `Game`.
        states, terminal, afterstates: how many there are, all images counted; states include the
            terminal ones.
        boards: uint64, the afterstates that are kept, layer by layer.

    Raises:
        ValueError: for another size, or odds.
        MemoryError: when the memory is too small.
    """

    def __init__(self, rows, columns, progress=True, symmetric=True, four=FOUR_CHANCE):
        check_size(rows, columns)
        self.rows, self.columns, self.progress = int(rows), int(columns), progress
        self.game, self.symmetric = new_game(self.rows, self.columns, four), symmetric
        self.name = self.game.name.removeprefix(f"{WHOLE.name}@")
        needed = NEEDED.get(rows * columns, 0) * (1 if symmetric else 8 if rows == columns else 4)
        check_memory(f"solving {self.name}", needed, "take a smaller board")
        self._like = (self.game, symmetric)  # ends the arguments of every frontier function
        self._enumerate()

    @classmethod
    def of(cls, game, **how):
        """Return the small board of a `Game` of 2048; how: as above."""
        if game.rules is not WHOLE.rules:
            raise ValueError(f"{game.name}: a small board here is one of 2048; see by_rules.solve")
        return cls(game.rows, game.columns, four=float(game.four), **how)

    def __repr__(self):
        return f"<{self.name}: {self.states:,} states, {self.afterstates:,} afterstates>"

    def _enumerate(self):
        """Fill the layers: one for each tile sum, from two 2s to the fullest board."""
        starts, nothing = self._two_tiles(), (np.zeros(0, np.uint64), np.zeros(0))
        count = partial(frontier.orbit_sum, game=self.game) if self.symmetric else len
        self.states = self.afterstates = self.terminal = 0
        self._layers, after, end = {}, [], 0  # by tile sum

        def add(total):
            nonlocal end
            boards, chances = starts.get(total, nothing)
            spawned = [
                frontier.spawned(after[-exponent], exponent, *self._like)
                for exponent in self.game.chances
                if exponent <= len(after)
            ]
            states = frontier.distinct(np.concatenate([boards, *spawned]))
            after.append(frontier.afterstates_of(states, *self._like))
            rows, first = slice(end, end := end + len(after[-1])), np.searchsorted(states, boards)
            self._layers[total] = _Layer(states, rows, first, chances)
            self.states += count(states)
            self.afterstates += count(after[-1])
            self.terminal += count(states[frontier.terminal(states, self.game)])
            return 1

        sums = range(FIRST_SUM, 4 * 2 ** (self.rows * self.columns) - 3, 2)
        _each(sums, add, self.progress, len(sums), "layers")
        self.boards = np.concatenate(after)

    def _two_tiles(self):
        """Return {tile sum: (boards, chances)} of the start: two random tiles in two cells."""
        shift = [4 * (4 * r + c) for r in range(self.rows) for c in range(self.columns)]
        pairs = [(b, a) for a, b in combinations(shift, 2)]
        chance, found = self.game.chances, defaultdict(lambda: defaultdict(float))
        for first, second in product(chance, repeat=2):
            boards = np.array([first << a | second << b for a, b in pairs], np.uint64)
            names = frontier.canonicals(boards, *self._like)
            for board, count in zip(*np.unique(names, return_counts=True)):
                share = count / len(pairs) * chance[first] * chance[second]
                found[2**first + 2**second][board] += share
        layers = {total: zip(*sorted(layer.items())) for total, layer in found.items()}
        return {total: tuple(map(np.array, layer)) for total, layer in layers.items()}

    # ------------------------------------------------------------ policies

    def optimal(self, discount=1.0):
        """Solve the game: the `Values` of the play with the largest expected score.

        Bellman's equations: V*(s) = max_a [r + V*(s')], V*(s') = discount · E V*(s).  Actions of
        equal value are taken equally often, which decides the number of moves.

        Args:
            discount: γ, from 0 to 1.  Below 1 a point that is k actions away counts γ^k, and the
                values are discounted, too; `follow` says how many points this play makes.

        Raises:
            ValueError: for another discount.
        """
        if not (isinstance(discount, (int, float)) and 0 <= discount <= 1):
            raise ValueError(f"discount {discount!r}: use a number from 0 to 1")
        name = "optimal play" + (f" with discount {discount}" if discount < 1 else "")
        return Values(self, name, _Play(discount=float(discount)))

    def follow(self, policy, epsilon=0.0):
        """Evaluate a policy: the `Values` of playing by it.

        It is asked for one layer after the other, about one of each board's images, whose answer
        counts for all (if it treats them differently, use SmallGame(…, symmetric=False)).

        Args:
            policy: 'random'; 'greedy' (the largest reward); a function from afterstates uint64[n]
                to their values, an object whose `values` is one, like `Network`, or a dictionary
                from boards as tuples (see `mdp`) to values (what it lacks has a `mdp.Table`'s
                start, or 0): the player takes the largest reward + value.  Ties are shared equally.
            epsilon: the share of random actions.

        Raises:
            ValueError: for another policy, or values that are not n finite numbers.
        """
        if not (isinstance(epsilon, (int, float)) and 0 <= epsilon <= 1):
            raise ValueError(f"epsilon {epsilon!r}: use a number from 0 to 1")
        named = isinstance(policy, str) and policy in ("random", "greedy")
        ask = (lambda boards: np.zeros(len(boards))) if named else self._asking(policy)
        layers = (self.boards[layer.rows] for layer in self._layers.values())
        prefer = np.concatenate([_answer(ask, boards) for boards in layers if len(boards)])
        choice = Choice(epsilon=1.0 if named and policy == "random" else float(epsilon))
        return Values(self, _label(policy, epsilon), _Play(choice, prefer))

    def follow_function(self, function):
        """Evaluate a policy that is a function of a state: the `Values` of playing by it.

        Args:
            function: gets a state as a tuple of rows (see `mdp`) and returns an action, 0..3, or
                {action: probability}.  It is asked once about every state, so this is for boards of
                at most six cells, and for a game with symmetric=False, since it may treat images
                differently.

        Raises:
            ValueError: for other games, and for an answer that is no legal action.
        """
        if self.symmetric or self.rows * self.columns > MOST_ASKED:
            raise ValueError(
                f"a function is asked about every state: use a game of at most "
                f"{MOST_ASKED} cells, with symmetric=False"
            )
        told = cache(partial(self._told, function))
        return Values(self, _label(function, 0.0), _Play(told=told))

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
        return Values(self, f"play for {tile}", _Play(Choice(pays=0.0)), _exponent(tile))

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

    def _told(self, function, state):
        """Return how likely a policy says each legal action of a state is: four places."""
        legal = [action for action, *_ in self._slides(np.uint64(state))]
        if not legal:
            return [0.0] * 4
        board = frozen(self.tiles(state))
        answer = function(board)
        taken = answer if isinstance(answer, Mapping) else {answer: 1.0}
        fine = set(taken) <= set(legal) and all(share >= 0 for share in taken.values())
        if not fine or not abs(sum(taken.values()) - 1) < 1e-9:
            raise ValueError(
                f"on {board} the policy says {answer!r}: it is to return a legal action "
                f"({', '.join(map(str, legal))}) or {{action: probability}}"
            )
        return [float(taken.get(action, 0)) for action in legal] + [0.0] * (4 - len(legal))

    def watch(self, network, games, seed=1):
        """Let a network play greedily: a list of games, each a list of turns (reward, afterstate).

        Game n has the luck of (seed, n).  Afterstates are ints; the reward is what the action paid
        that led to the afterstate beside it.

        Raises:
            ValueError: for a network of another size.
        """
        return self._played(network, partial(boards_module.initial, game=self.game), games, seed)

    def futures(self, network, afterstate, games, seed=1):
        """Let a network play on from an afterstate, again and again; see `watch`."""
        begin = partial(boards_module.spawn, self.pack(afterstate), game=self.game)
        return self._played(network, begin, games, seed)

    def _played(self, network, begin, games, seed):
        """Return games; begin: a function from luck to (the first state, luck)."""
        check_tables(network, "a small board")
        if network.game != self.game:
            raise ValueError(f"{network.name} is no network for {self.name}")
        choose, found = cache(NetworkPlayer(network).choose), []  # the same boards come again
        for number in range(games):
            turns, (state, luck) = [], begin(stream(seed, number))
            while (action := choose(state)) is not None:
                after, reward = boards_module.slide(state, action, self.game)
                turns.append((int(reward), int(after)))
                state, luck = boards_module.spawn(after, luck, self.game)
            found.append(turns)
        return found

    # ------------------------------------------------------------ boards of people

    def pack(self, board):
        """Pack a board of this size: nested lists of tiles, or a packed one.  → np.uint64.

        Raises:
            ValueError: for anything else.
        """
        if isinstance(board, (int, np.integer)):
            if not 0 <= board < 1 << 64 or int(board) & ~(15 * int(self.game.cells)):
                raise ValueError(f"{board} is not a packed board of {self.name}")
            return np.uint64(board)
        return boards_module.from_tiles(board, self.game)

    def tiles(self, board):
        """Return a packed board of this size as a list of rows of tiles."""
        return boards_module.to_tiles(board, self.game)

    def _state(self, board):
        """Return a state as it is kept, and its layer; raise ValueError for one that is not."""
        name = frontier.canonicals(np.array([board]), *self._like)
        layer = self._layers.get(boards_module.tile_sum(board))
        if layer is None or _rows(name, layer.states)[0] < 0:
            tiles = self.tiles(board)
            raise ValueError(f"{tiles} is no state of {self.name} that a start leads to")
        return name, layer

    def _slides(self, board):
        """Return [(action, afterstate, reward)] of the legal actions."""
        slid = self.game.rules.slide(board, self.game)
        return [(a, np.uint64(slid[a]), int(slid[4 + a])) for a in range(4) if slid[a] != board]


class Values:
    """What a way to play is worth on every board of a `SmallGame`.

    The methods take a board as nested lists of tiles, [[2, 0], [0, 4]], or packed, in any of its
    images, and raise ValueError, in one line, for one that the game cannot lead to.

    Attributes:
        game: the `SmallGame`.
        start: expected score (for `reach`: probability) from the random start of two tiles.
        moves: expected number of actions.
        boards: uint64[n], the afterstates that are kept (one of each board's images).
        afterstate_values, afterstate_moves: float64[n], what is still to come there.
    """

    def __init__(self, game, name, play, goal=None):
        self.game, self.name, self._play, self._goal = game, name, play, goal
        self._gains = SCORE_AND_MOVES if goal is None else np.array([[0.0, 0.0], [0.0, 1.0]])
        self.boards, self._values = game.boards, np.zeros((len(game.boards), 2))
        self.afterstate_values, self.afterstate_moves = self._values.T
        self.start, self.moves = map(float, self._back_up())

    def __repr__(self):
        worth = f"{self.start:,.2f} points" if self._goal is None else f"{self.start:.2%}"
        return f"<{self.name} on {self.game.name}: {worth}, {self.moves:,.1f} moves>"

    def _back_up(self):
        """Fill the values, from the last layer to the first; return those of the start."""
        start, later = np.zeros(2), [(np.zeros(0, np.uint64), np.zeros((0, 2)))] * 2

        def back_up(layer):
            boards = self.boards[layer.rows]
            expected = frontier.expected(boards, *later, *self.game._like)
            expected[:, 0] *= self._play.discount
            self._values[layer.rows] = self._mark(boards, expected)
            chosen = self._chosen(layer.states, layer)
            later[:] = (layer.states, chosen), later[0]
            start[:] += layer.chances @ chosen[layer.start]
            return len(boards)

        layers = reversed(self.game._layers.values())
        _each(layers, back_up, self.game.progress, len(self.boards))
        return start

    def _options(self, states, layer):
        """Return the options of states of a layer, as `frontier.options_of`."""
        small, play = self.game, self._play
        prefer = self.afterstate_values if play.preference is None else play.preference
        known = frontier.index_of(self.boards[layer.rows]), np.ascontiguousarray(prefer[layer.rows])
        options_of = small.game.bind(frontier.options_of)
        options = options_of(states, *known, play.choice, *small._like)
        if play.told:
            options[2][:] = np.reshape([play.told(state) for state in states.tolist()], (-1, 4))
        return options

    def _chosen(self, states, layer):
        """Return the values of states of a layer: float64[n, 2]."""
        known = self._options(states, layer), self._values[layer.rows]
        return self._mark(states, frontier.carried_back(*known, self._gains))

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
            return exponents(boards).max(axis=(1, 2)) >= self._goal
        return (exponents(boards) == 1).any(axis=(1, 2))

    def visits(self):
        """Return how often a game comes to each board or its images: float64[n], in sum `moves`."""
        return self._walk[0]

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
        shares = self._walk[1]
        return {2**e: float(share) for e, share in enumerate(shares) if e and share}

    def reached(self):
        """Return {tile: probability that a game ends with it, or a larger one}."""
        shares = self.largest()
        totals = np.cumsum([*shares.values()][::-1])[::-1]
        return {tile: min(float(total), 1.0) for tile, total in zip(shares, totals)}

    @cached_property
    def _walk(self):
        """The start's probabilities, carried on: (visits, share of games by largest exponent)."""
        game, visits, shares = self.game, np.zeros(len(self.boards)), np.zeros(16)
        before = []  # the rows of the layers so far

        def carry_on(layer):
            states, chances = layer.states, np.zeros(len(layer.states))
            chances[layer.start] = layer.chances
            for exponent in game.game.chances:
                if exponent <= len(before):
                    rows = before[-exponent]
                    made = (self.boards[rows], visits[rows], exponent, states, chances)
                    frontier.add_spawned(*made, *game._like)
            ended = self._held(states) | frontier.terminal(states, game.game)
            np.add.at(shares, exponents(states[ended]).max(axis=(1, 2)), chances[ended])
            chances[ended] = 0
            count = len(visits[layer.rows])
            visits[layer.rows] = frontier.carried_on(self._options(states, layer), chances, count)
            before.append(layer.rows)
            return count

        _each(game._layers.values(), carry_on, game.progress, len(visits))
        return visits, shares

    # ------------------------------------------------------------ single boards

    def of(self, board):
        """Return the value of a state, 0 if it is terminal: what its player can still expect."""
        return float(self._chosen(*self.game._state(self.game.pack(board)))[0, 0])

    def afterstate(self, board):
        """Return the value of an afterstate: what is still to come after the spawn."""
        return float(self.values(np.array([self.game.pack(board)]))[0])

    def actions(self, board):
        """Return {action: reward (for `reach` 0) + value of its afterstate} of a state."""
        board, pays = self.game.pack(board), self._gains[0, 0]
        self.game._state(board)
        slid = self.game._slides(board)
        return {a: float(pays * reward + self.afterstate(s)) for a, s, reward in slid}

    def chances(self, board):
        """Return {action: probability} of the legal actions of a state: what this play takes."""
        board = self.game.pack(board)
        _, layer = self.game._state(board)
        *_, weights, _ = self._options(np.array([board]), layer)
        slid = self.game._slides(board)
        return {action: float(share) for (action, *_), share in zip(slid, weights[0])}

    def odds(self, tile):
        """Return the `Values` of the same play that say how likely a tile is ever on the board.

        As for `reach`, `moves` are those up to then; but nobody plays for the tile here.

        Args:
            tile: 2, 4, 8 …

        Raises:
            ValueError: for a number that is no tile.
        """
        name, play = f"{self.name}: the odds of {tile}", self._play
        if play.preference is None:
            play = play._replace(preference=self.afterstate_values.copy(), discount=1.0)
        return Values(self.game, name, play, _exponent(tile))

    def choose(self, board):
        """Return the action of the largest value in `actions`, the first of equals, or None."""
        worth = self.actions(board)
        best = max(worth.values(), default=0.0)
        near = frontier.TIE * abs(best)
        return next((action for action, w in worth.items() if w >= best - near), None)

    def values(self, boards):
        """Return the values of many afterstates, as `follow` takes them: uint64[n] → float64[n]."""
        boards = np.ascontiguousarray(boards, np.uint64)
        names, out = frontier.canonicals(boards, *self.game._like), np.full(len(boards), np.nan)
        sums = frontier.tile_sums(boards)
        for total in set(sums.tolist()) & self.game._layers.keys():
            here, rows = np.flatnonzero(sums == total), self.game._layers[total].rows
            found = _rows(names[here], self.boards[rows])
            out[here] = np.where(found < 0, np.nan, self.afterstate_values[rows][found])
        if np.isnan(out).any():
            tiles = self.game.tiles(boards[np.isnan(out)][0])
            raise ValueError(f"{tiles} is no afterstate of {self.game.name} that a start leads to")
        return out


# ---------------------------------------------------------------- a table of all boards


def board_table(board, start=0.0):
    """Return a `Network` that keeps one number for each board and its mirror images: a table.

    It learns and plays as any network does; nothing is shared between different boards.

    Args:
        board: a size of at most six cells, such as "2x3", or a game, "2048:four=0.2@2x3".
        start: the value that every board has at first.

    Raises:
        ValueError: for another size.
    """
    cells = game_of(f"@{board}").places
    if len(cells) > MOST_ASKED:
        raise ValueError(f"a table of all boards of {board} is too large: use at most six cells")
    table = Network(f"cells:{word(cells)}@{board}").with_functions(
        value=_one_weight, update=_add_to_one
    )
    table.weights[:] = start
    return table


def _one_weight(weights, positions):
    """Read a board at the smallest of its 8 positions, the same for all its images."""
    return weights[positions.min()]


def _add_to_one(weights, positions, amount):
    """Add to that weight what all 8 look-ups would get together."""
    weights[positions.min()] += 8 * amount


def _label(policy, epsilon):
    name = getattr(policy, "name", None) or getattr(policy, "__name__", "values")
    name = f"{policy} play" if isinstance(policy, str) else f"play by {name}"
    return name + (f" with epsilon {epsilon}" if epsilon else "")


def _exponent(tile):
    """Return a tile's exponent; raise ValueError for a number that is no tile."""
    exponent = int(boards_module.from_tiles([[tile, 0, 0, 0], *[[0] * 4] * 3]))
    if not exponent:
        raise ValueError(f"tile {tile}: use 2, 4, 8 … 32768")
    return exponent


def _answer(ask, boards):
    values = np.asarray(ask(boards.copy()), np.float64)
    if values.shape != boards.shape or not np.isfinite(values).all():
        raise ValueError("a policy returns one finite number for each of the boards")
    return values


def _rows(names, boards):
    """Return where each name stands in sorted boards, -1 where it does not."""
    rows = np.searchsorted(boards, names)
    found = rows < len(boards)
    found[found] = boards[rows[found]] == names[found]
    return np.where(found, rows, -1)


def small_game(size, game):
    """Return the `Game` to solve, by a size such as '2x3', a game's name, or both; None: not said.

    Raises ValueError, in one line, where they do not agree, and for what cannot be solved.
    """
    if size is None and game is None:
        raise ValueError("which board? say a size, such as 2x3, or a game, 2048:four=0.2@2x3")
    found = parse_game(WHOLE if game is None else game)
    if size is not None:
        check_size(*(said := parse_size(size)))
        sized = new_game(*said, float(found.four), int(found.family))
        if game and "@" in game and found != sized:
            raise ValueError(f"size {size} and game {found.name} are two boards: say one of them")
        found = sized
    check_size(found.rows, found.columns)
    return found


def check_size(rows, columns):
    """Raise ValueError, in one line, for a board that cannot be solved."""
    if not all(isinstance(size, (int, np.integer)) and size >= 1 for size in (rows, columns)):
        raise ValueError(f"a board of {rows!r} by {columns!r}: {POSSIBLE}")
    if rows * columns == 1:
        raise ValueError(f"a 1x1 board has no room for the two tiles of the start: {POSSIBLE}")
    if max(rows, columns) > 4 or max(rows, columns) == 4 and rows * columns > 8:
        most = _bound(int(rows) * int(columns))
        raise ValueError(f"a {rows}x{columns} board has up to {most} states: {POSSIBLE}")


def _bound(cells):
    """Write (cells + 2)^cells, which bounds the number of states, as in 5.7e13."""
    exponent = cells * math.log10(cells + 2)
    power = math.floor(exponent)
    mantissa = round(10 ** (exponent - power), 1)
    return f"{mantissa}e{power}" if mantissa < 10 else f"1.0e{power + 1}"


def _each(layers, task, progress, total, unit="afterstates"):
    """Do a task for each layer, while Ctrl-C is heard; it returns by how much the bar grows."""
    form = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} {unit} [{elapsed}<{remaining}]"
    how = {"unit": unit, "unit_scale": unit != "layers", "bar_format": form, "delay": 0.5}
    with bar(progress, total=total, **how) as shown:
        for layer in layers:
            shown.update(aside(partial(task, layer)))
