"""Players: from a board to an action.

Every player is a `Player`.  One without a network is a *policy*, one compiled function; a network
plays through the same loop that it learns by.  A player whose games take long has a `stop`,
int64[1]: as soon as another thread sets it to 1, `play_games` returns whatever it has.
"""

import copy
import functools
import inspect
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numba import types

from lib2048.game import rules_2048 as rules
from lib2048.game.batch import check_cells, options
from lib2048.game.bits import WHOLE
from lib2048.game.board import afterstates, begin, parts
from lib2048.game.game import SEAM, Game, agreed, parse_game
from lib2048.game.rng import below, draw, seed_bits, stream, stream_kernel
from lib2048.game.tile_65536 import in_state, largest
from lib2048.game.turn import next_state
from lib2048.learn.games import (
    Games,
    choose_action,
    choose_actions,
    functions_of,
    method_of,
    next_chunk,
)
from lib2048.learn.lockstep import Lockstep, in_order, play_in_step
from lib2048.learn.records import LONGEST_GAME, new_results
from lib2048.machine.kernels import bound, compiled, kernel, numba_type
from lib2048.machine.terminal import in_short
from lib2048.machine.threads import Crowd
from lib2048.networks.heuristic import Weights, heuristic_network
from lib2048.networks.network import Network, check_tables
from lib2048.search.batched import BatchSearch
from lib2048.search.expectimax import (
    CONTEXT,
    COUNTERS,
    ILLEGAL,
    MEMORY,
    Search,
    plies_of,
    search_policy,
)

# ---------------------------------------------------------------- policies
# A policy takes (context, game, board, word, luck) and returns (action, afterstate, reward, luck),
# all uint64; action 4 says that the game is over.  The context is what the policy has to know:
# nothing (the number 0), or a search's network and memory.


def policy_signature(context):
    """Return the signature of a policy with a context of a numba type."""
    state = types.uint64, types.uint64, types.uint64
    return types.UniTuple(types.uint64, 4)(context, numba_type(Game), *state)


POLICY_SIGNATURE = policy_signature(types.int64)
ZERO, ONE, OVER = np.uint64(0), np.uint64(1), np.uint64(4)


@compiled(POLICY_SIGNATURE)
def first_legal_policy(context, game, board, word, luck):
    """Take the first legal action in the order Up, Right, Down, Left."""
    game = in_state(game, word)
    for action in range(ZERO, OVER):
        after, reward = rules.slide_one(board, action, game)
        if after != board:
            return action, after, reward, luck
    return OVER, board, ZERO, luck


@compiled(POLICY_SIGNATURE)
def greedy_policy(context, game, board, word, luck):
    """Take the action with the largest reward, the first of equals."""
    slid, best, where, reward = rules.slide(board, in_state(game, word)), OVER, board, ZERO
    for action in range(4):
        after, pays = slid[action], slid[4 + action]
        if after != board and (best == OVER or pays > reward):
            best, where, reward = np.uint64(action), after, pays
    return best, where, reward, luck


@compiled(POLICY_SIGNATURE)
def random_policy(context, game, board, word, luck):
    """Take one of the legal actions, each as likely as the others.

    Actions are drawn until one is legal; after four misses the legal ones are counted.
    """
    luck, bits = draw(luck)
    game = in_state(game, word)
    for _ in range(4):
        action = bits & np.uint64(3)
        after, reward = rules.slide_one(board, action, game)
        if after != board:
            return action, after, reward, luck
        bits >>= np.uint64(2)
    return _random_of_counted(game, board, luck)


@kernel
def _random_of_counted(game, board, luck):
    slid, legal = rules.slide(board, game), ZERO
    for action in range(4):
        legal += np.uint64(slid[action] != board)
    luck, bits = draw(luck)
    skip = below(bits, legal)
    for action in range(4):
        if slid[action] != board:
            if skip == 0:
                return np.uint64(action), slid[action], slid[4 + action], luck
            skip -= ONE
    return OVER, board, ZERO, luck


@kernel
def play_out(policy, context, game, board, word, luck):
    """Play on from a state to the end; return (points, actions, largest exponent, luck)."""
    score, length = ZERO, 0
    action, after, reward, luck = policy(context, game, board, word, luck)
    while action != OVER:
        board, word, spawned, luck = next_state(board, word, action, after, luck, game)
        score, length = score + reward + spawned, length + 1
        action, after, reward, luck = policy(context, game, board, word, luck)
    return score, length, largest(board, word, game), luck


def _play_by_policy(policy, context, game, seed, first_game, results):
    """Play games first_game, first_game + 1, … by a policy and fill `results`; return actions."""
    actions = 0
    for row in range(len(results)):
        board, word, luck = rules.begin(stream_kernel(seed, first_game + row), game)
        results[row, 1] = np.int64(rules.points(board))
        score, length, top, luck = play_out(policy, context, game, board, word, luck)
        results[row, 0] = first_game + row
        results[row, 1] += np.int64(score)
        results[row, 2], results[row, 3] = length, np.int64(top)
        actions += length
    return actions


@functools.cache
def policy_kernel(context, rules_of=WHOLE.rules):
    """Return the loop that plays by a policy, compiled.

    context: the numba type of the policy's; rules_of: the module with the game's rules.
    """
    policy = types.FunctionType(policy_signature(context))
    signature = types.int64(
        policy, context, numba_type(Game), types.uint64, types.int64, types.int64[:, ::1]
    )
    return bound(compiled(signature)(_play_by_policy), SEAM, rules_of)()


# ---------------------------------------------------------------- players


class Player(Protocol):
    """What every player is; those that value actions have `values` and `decide`, too."""

    name: str

    def choose(self, board, word=0) -> int | None:
        """Return the action (0..3) on a board, or None when none is legal."""

    def play_games(self, first_game: int, count: int, seed: int) -> np.ndarray:
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""

    def __repr__(self):
        return f"<player {self.name}>"


FIRST_CHUNK = 1000  # actions before the first look at `stop`


def new_stop():
    """Return the `stop` of a player, not set."""
    return np.zeros(1, np.int64)


class PolicyPlayer(Player):
    """A player that needs no network.

    name: str; policy: made by `compiled` with POLICY_SIGNATURE; game: what it plays.
    """

    def __init__(self, name, policy, seed=0, game=WHOLE):
        self.name, self.game, self.policy = name, game, game.bind(policy)()
        self._luck = stream(seed, -1)

    def with_luck(self, seed, number):
        """Return the same player with luck of its own, by two numbers, 0 or more each."""
        other = copy.copy(self)
        other._luck = stream(seed, -2 - number)
        return other

    def choose(self, board, word=0):
        """Return the action (0..3) on a board, or None when none is legal."""
        board, word = parts(board, word)
        check_cells(board, self.game)
        action, _, _, self._luck = self.policy(0, self.game, board, word, np.uint64(self._luck))
        return None if action == OVER else int(action)

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        results, play = new_results(count), policy_kernel(types.int64, self.game.rules)
        play(self.policy, 0, self.game, seed_bits(seed), first_game, results)
        return results


def random_player(game=WHOLE):
    """Return the player that takes any legal action."""
    return PolicyPlayer("random", random_policy, game=game)


def greedy_player(game=WHOLE):
    """Return the player that takes the largest reward at once (the first of equals)."""
    return PolicyPlayer("greedy", greedy_policy, game=game)


def first_legal_player(game=WHOLE):
    """Return the player that takes the first legal action: Up, Right, Down, Left."""
    return PolicyPlayer("first legal", first_legal_policy, game=game)


class Valuing(Player):
    """A player that values actions: what it is asked follows from what it decides."""

    def decide(self, board, word=0):
        """Return (action or None, {action: reward + value of its afterstate}) of a board."""
        raise NotImplementedError

    def values(self, board, word=0):
        """Return {action: reward + value} of the legal actions; see `decide`."""
        return self.decide(board, word)[1]

    def choose(self, board, word=0):
        """Return the action (0..3) on a board, or None when none is legal."""
        return self.decide(board, word)[0]


class NetworkPlayer(Valuing):
    """The 1-ply player of a network: the action whose reward + value is largest.

    Args:
        network: `Network`, which may have functions of your own.
    """

    def __init__(self, network, name=None):
        check_tables(network, "NetworkPlayer")
        self.network, self.name, self.stop = network, name or network.name, new_stop()
        self.game = network.game
        self.functions, self.method = functions_of(network), method_of(network)

    def decide(self, board, word=0):
        """Return (action or None, {action: reward + value of its afterstate}) of a board.

        For a state network the value is the expectation over the spawns, for Q it holds the
        reward already.
        """
        action, values = choose_action(self.network, self.functions, self.method, board, word)
        pays = self.network.form != "q"
        legal = afterstates(board, self.game, word)
        return action, {a: float(values[a]) + reward * pays for a, _, reward in legal}

    def decide_all(self, boards, words=None):
        """Return (actions, {action: reward + value} as arrays) of many boards; see `decide`.

        Args:
            boards, words: uint64[n]; no words: 0 each.

        Returns:
            int64[n], 4 where no action is legal, and float64[n, 4], nan where one is not.
        """
        own = self.network, self.functions, self.method
        _, actions, values = choose_actions(*own, boards, words)
        rewards = options(boards, self.game, words)[1]
        worths = values.astype(np.float64) + (0 if self.network.form == "q" else rewards)
        return actions, np.where(rewards < 0, np.nan, worths)

    def recorded(self, seed, number):
        """Play a game at full speed and return its (boards, words, actions), n + 1, n + 1 and n."""
        boards, words = np.zeros((2, LONGEST_GAME + 1), np.uint64)
        boards[0], words[0], luck = begin(stream(seed, number), self.game)
        own = self.network, self.functions, self.method
        turns, actions, _ = choose_actions(*own, boards, words, luck)
        return boards[: turns + 1], words[: turns + 1], actions

    def choose(self, board, word=0):
        """Return the action (0..3) on a board, or None when none is legal."""
        return choose_action(self.network, self.functions, self.method, board, word)[0]

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        games = Games(self.network, self.method, seed, self.functions, first_game=first_game)
        found, more, chunk = [], True, FIRST_CHUNK if self.network.own is None else 1
        while more and not self.stop[0]:
            begin, before = time.perf_counter(), games.actions
            results, more = games.play(before + chunk, count, first_game + count)
            chunk = next_chunk(chunk, games.actions - before, time.perf_counter() - begin)
            found.append(results)
        return in_order(found)


class SearchPlayer(Valuing):
    """A player that looks ahead: an expectimax search over a network's values.

    It searches a board with a 32768 as a smaller one, see `expectimax.halved`.

    After `play_games`, `depths` (int64[17, 17]: moves by empty cells and plies reached) and `times`
    (int64[400]: moves by time, in hundredths of the limit) hold what was done.

    Args:
        network: `Network`.
        depth: in plies.
        seconds: a move, in place of a depth.
        name: what it is called.
        **limits: the others of `expectimax.Search`.
    """

    def __init__(self, network, depth=None, seconds=None, name=None, **limits):
        check_tables(network, "SearchPlayer")  # for others there is network.player(depth)
        self.search = Search(network, depth, seconds, **{"halve": True} | limits)
        far = f"{depth}-ply" if seconds is None else f"{1000 * seconds:g} ms"
        self.endgames = self.search.endgames
        tables = f", {len(self.endgames)} endgames" if self.endgames else ""
        self.network, self.name = network, name or f"{network.name}, {far}{tables}"
        self.game = network.game
        self.stop = self.search.stop
        self.games_at_once = {1: 50, 2: 5}.get(depth, 1)
        self.forget()

    def forget(self):
        """Set the counts of `depths`, `times` and `counters` back to zero."""
        memory = self.search.context(table_mib=0)[MEMORY]
        self.depths, self.times, self.counters = memory.depths, memory.times, memory.counters

    @property
    def work(self):
        """What `play_games` did, a dict of counts; see expectimax.COUNTERS, from 'leaves' on."""
        first = COUNTERS.index("leaves")
        return dict(zip(COUNTERS[first:], self.counters[first:].tolist(), strict=True))

    def decide(self, board, word=0):
        """Return (action or None, {action: reward + value}) of a board, searched."""
        self.stop[0] = 0
        if self.search.limits.plies < 3:
            return self.search.decide(board, word)[:2]
        with Crowd(1, flag=self.stop) as crowd:  # so that Ctrl-C is heard
            return crowd.do(lambda: self.search.decide(board, word)[:2])

    def decide_all(self, boards, words=None):
        """Return (actions, {action: reward + value} as arrays) of many boards, searched at once.

        It is what `decide` returns, but for the last digits: a search remembers the boards before.

        Args:
            boards, words: uint64[n]; no words: 0 each.

        Returns:
            int64[n], 4 where no action is legal, and float64[n, 4], nan where one is not.
        """
        with Crowd(1, flag=self.stop) as crowd:
            actions, _, values = crowd.do(lambda: self.search.decide_all(boards, words))
        return actions, np.where(values == ILLEGAL, np.nan, values.astype(np.float64))

    def known(self, board):
        """Return (table, {action: chance of success}) of the table that a state is valued by, or
        None; see `endgame.Endgames`."""
        return self.endgames.known(board)

    def compile(self):
        """Compile, or load, what playing needs, without playing a game."""
        return policy_kernel(CONTEXT, self.game.rules), self.game.bind(search_policy)()

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        results, context = new_results(count), self.search.context()
        play, policy = self.compile()
        play(policy, context, self.game, seed_bits(seed), first_game, results)
        found, outside = context[MEMORY], 16 - len(self.game.places)
        self.depths += np.roll(found.depths, -outside, axis=0)  # where each is empty, too
        self.times += found.times
        self.counters += found.counters
        return results


class ValuePlayer(Valuing):
    """A player that looks ahead over any value function, such as a network of torch.

    Many games are played in step, so that the function is asked about all of them at once.

    Args:
        values: a function from afterstates, uint64[n], to their values.
        depth: in plies, 1 where no time is said, either.
        seconds: a move, in place of a depth.
        name: what it is called.
        symmetric: whether the function values the images of a board alike, which saves asking about
            all of them.
        game: what is played, a `Game` or its name.
        **limits: the others of `expectimax.BatchSearch`.
    """

    def __init__(
        self, values, depth=None, seconds=None, name=None, symmetric=False, game=WHOLE, **limits
    ):
        depth = plies_of(depth, seconds)
        self.search = BatchSearch(values, depth, seconds, symmetric, game=game, **limits)
        self.game = self.search.game
        self.name, self.stop = name or getattr(values, "__name__", "values"), self.search.stop
        self.games_at_once = {1: 200, 2: 50}.get(depth, 10)

    def decide(self, board, word=0):
        """Return (action or None, {action: reward + value}) of a board, searched."""
        return self.search.decide(board, word)[:2]

    def play_games(self, first_game, count, seed):
        """Play games by number; return int64[count, 5], see records.RESULT_COLUMNS."""
        return play_in_step(self._decide_all, first_game, count, seed, self.game, stop=self.stop)

    def compile(self):
        """Compile, or load, what playing needs, by one turn of a game that counts nowhere."""
        games = Lockstep(1, 0, game=self.game)
        games.act(self._decide_all(games))

    @property
    def _decide_all(self):
        one_ply = self.search.plies == 1 and self.search.seconds is None
        return self._best if one_ply else self._searched

    def _best(self, games):
        """Return the action with the largest reward + value of each game."""
        return games.worths(self.search.values_of, self.search.pays).argmax(axis=1)

    def _searched(self, games):
        actions = np.zeros(len(games.boards), np.int64)
        here = games.places[games.live]
        found = self.search.decide_all(here["board"], here["word"])
        actions[games.live] = [action or 0 for action, _, _ in found]  # None: over as it begins
        return actions


def heuristic_player(
    depth=None,
    seconds=None,
    weights=Weights(),  # noqa: B008
    game=WHOLE,
    **limits,
):
    """Return the player of the hand-made value function; see `heuristic` and `SearchPlayer`."""
    depth = plies_of(depth, seconds)
    network, name = heuristic_network(weights, game), "heuristic" if depth == 1 else None
    return SearchPlayer(network, depth, seconds, name, pays=False, **limits)


NAMED: dict[str, Callable[..., Player]] = {
    "random": random_player,
    "greedy": greedy_player,
    "first-legal": first_legal_player,
    "heuristic": heuristic_player,
}


def check_named(name, plies, endgames):
    """Raise ValueError, in one line, for what a player of `NAMED` cannot do."""
    if endgames is not None:
        raise ValueError(f"{name} has no network, which endgames are for")
    if name != "heuristic" and plies != 1:
        raise ValueError(f"{name} does not look ahead: leave the depth or time out")


def network_player(network, depth=None, seconds=None, table_mib=None, reduce=False, endgames=None):
    """Return the player of a network, look-up tables or neural, that looks ahead so far.

    depth: in plies, 1 where no time is said, either; seconds: a move, in place of a depth;
    endgames: the tables that it knows, an `endgame.Endgames`, a list of its tables, or a folder.
    Raises ValueError for limits that this kind of network does not have.
    """
    depth = plies_of(depth, seconds)
    if not isinstance(network, Network):
        if table_mib is not None or reduce or endgames is not None:
            raise ValueError(
                f"{network.name}: the search over a neural network has no table, no endgames and "
                "no reduced depth: leave these options out"
            )
        return network.player(depth, seconds)
    if depth == 1 and seconds is None and endgames is None:
        return NetworkPlayer(network)
    limits = {"table_mib": table_mib, "reduce": reduce, "endgames": endgames}
    return SearchPlayer(network, depth, seconds, **limits)


def seen(who, game, board, word):
    """Return what a player is told of a state, see `Game.seen`.

    One that takes nothing but boards sees a 32768 where a 65536 stands.
    """
    state = game.seen(board, word)
    boards_only = len(state) == 2 and not game.rules.SHOWN
    if boards_only and len(inspect.signature(who.choose).parameters) == 1:
        return state[:1]
    return state


def game_of(who):
    """Return the `Game` of a player or network; 2048 where it does not say."""
    return getattr(who, "game", WHOLE)


def player(what, game=None, endgames=None) -> Player:
    """Make a player out of a name, a network, or a player.

    Args:
        what: 'random', 'greedy', 'first-legal', 'heuristic', a network, or anything with `choose`
            and `play_games`.
        game: what it shall play, a `Game` or its name; None: what it plays, by a name 2048.
        endgames: the tables of endgames that a network knows when it plays; a folder of them, or
            see `endgame.Endgames`.

    Raises:
        ValueError: for an unknown name, a network or player of another game, and endgames for
            somebody who has no network.
    """
    if endgames is not None and not isinstance(what, Network):
        raise ValueError(f"endgames are for a network of look-up tables, not for {in_short(what)}")
    if isinstance(what, str) and what in NAMED:
        return NAMED[what](game=WHOLE if game is None else parse_game(game))
    if isinstance(what, Network) or hasattr(what, "module"):
        agreed(f"network {what.name}", game_of(what), game)
        return network_player(what, endgames=endgames)
    if hasattr(what, "choose") and hasattr(what, "play_games"):
        agreed(f"player {getattr(what, 'name', '')}", game_of(what), game)
        return what
    said = in_short(what)
    raise ValueError(f"unknown player {said}: use {', '.join(NAMED)}, or a network")
