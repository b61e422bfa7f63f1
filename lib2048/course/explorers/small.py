"""Exact small boards: a state, what it is worth, and what luck may make of it."""

from functools import cached_property

from traitlets import Dict

from lib2048.exact import MOST_ASKED, SmallGame, Values, small_game
from lib2048.game import board as rules
from lib2048.game.spec import ACTIONS
from lib2048.machine.printed import set_apart
from lib2048.show import draw
from lib2048.show.widgets.base import PositionWidget, trouble
from lib2048.show.widgets.game import from_hex, to_hex, told

BEST, OWN_BEST = "★", "◆"  # marks of the best action: by V*, and by the policy's own values
NEAR = 1e-12  # of a number: two that differ by less are equal but for rounding; as in small.js
MOST_DIGITS = 8
SHORT = 18  # letters of a policy's name on a card


class SmallBoardWidget(PositionWidget):
    """Explore a small board: V*, what your own policy is worth, the odds, and every spawn.

    An action is marked where it is optimal, and where it is the best by the policy's own values:
    the largest reward + what the policy makes from there, which it need not take itself. The odds
    are those that a tile is ever on the board, from the state on; they are worked out for boards of
    at most six cells. ``.board`` is the state; set it to look at another. ``.best`` and ``.own``
    are the `Values` of optimal play and of the policy.

    Args:
        policy: your policy, which is evaluated exactly: a function of a state as in `mdp` (a tuple
            of rows) that returns an action, 0..3, or {action: probability}; a player with `choose`;
            or what `SmallGame.follow` takes ('random', 'greedy', a network, a dictionary) or
            returns.
        board: the state to begin with, as rows of tiles or packed.
        game: a `SmallGame`, the size of its board, or a game's name such as "2048:four=0.2@2x3";
            that of the policy, if it is evaluated already.

    Raises:
        ValueError: for another size, policy or board, in one line.
    """

    entry = "small.js"
    small = Dict().tag(sync=True)

    def __init__(self, policy="greedy", board=None, game=(2, 3)):
        self.own = _evaluated(game, policy)
        self.game = self.own.game
        self.best = self.game.optimal()
        self._short = _short(self.own.name)
        rows, columns = self.game.rows, self.game.columns
        few = rows * columns <= MOST_ASKED
        self._tiles = [2**e for e in range(3, rows * columns + 2)] if few else []
        if board is None:
            likeliest = max(self.game.game.chances, key=self.game.game.chances.get)
            board = sum(likeliest << 4 * place for place in self.game.game.places[:2])
        about = {
            "game": told(self.game.game), "name": self.own.name, "short": self._short,
            "tiles": self._tiles, "best": self.best.start, "own": self.own.start,
        }  # fmt: skip
        super().__init__(small=about, position=to_hex(self._packed(board)))

    def _packed(self, board):
        """Return a state packed; raise ValueError for a board to which no game can come."""
        packed = self.game.pack(board)
        self.best.of(packed)
        return packed

    # ---------------------------------------------------------------- the browser

    def _open(self, message):
        self._reply(message, lambda: self._seen(from_hex(message["board"])), None, _in_words)

    def _seen(self, board):
        """Return all that is known of a state: its actions, their spawns, its odds."""
        self._packed(board)
        odds = self._odds(lambda odds: odds.of(board))
        actions = self._actions(board)
        best, own = self.best.of(board), self.own.of(board)
        return {"best": best, "own": own, "actions": actions, "odds": odds}

    def _actions(self, board):
        legal = rules.afterstates(board, self.game.game)
        optimal, taken = self.best.chances(board), self.own.chances(board)
        own_best = _largest(self.own.actions(board))
        return [
            {
                "action": action, "reward": int(reward), "board": to_hex(after),
                "best": self.best.afterstate(after), "own": self.own.afterstate(after),
                "optimal": optimal[action] > 0, "own_best": action in own_best,
                "chance": taken[action], "spawns": self._spawns(after),
                "odds": self._odds(lambda odds, after=after: odds.afterstate(after)),
            }
            for action, after, reward in legal
        ]  # fmt: skip

    def _spawns(self, after):
        states = self.game.game.outcomes(after)
        return [self._spawn(int(after), chance, state) for chance, state in states if chance]

    def _spawn(self, after, chance, state):
        place = ((int(state) ^ after).bit_length() - 1) // 4
        return {
            "cell": place // 4 * self.game.columns + place % 4, "chance": chance,
            "exponent": (int(state) ^ after) >> 4 * place, "board": to_hex(state),
            "best": self.best.of(state), "own": self.own.of(state),
        }  # fmt: skip

    def _odds(self, asked):
        """Return {'best', 'own': [what is asked of the `Values` of each tile's odds]}."""
        return {name: [asked(values) for values in every] for name, every in self._by_tile.items()}

    @cached_property
    def _by_tile(self):
        """The odds of every tile, worked out when they are first asked for."""
        plays = {"best": self.best, "own": self.own}
        return {name: [play.odds(t) for t in self._tiles] for name, play in plays.items()}

    # ---------------------------------------------------------------- the picture

    def static(self):
        """Return a `Picture` of the state and its afterstates, each with reward + value."""
        short, options = self._short, self._actions(self.board)
        worth = [_text(play.of(self.board)) for play in (self.best, self.own)]
        boards = [self.board, *(from_hex(option["board"]) for option in options)]
        captions = [f"to come\nV* {worth[0]}\n{short} {worth[1]}", *_captions(options, short)]
        return draw.row(map(self.game.tiles, boards), captions, size=100).captioned(
            f"rewards included; {BEST} best by V*, {OWN_BEST} best by {short}"
        )


def _captions(options, short):
    """Return what stands under the actions' afterstates."""
    totals = {kind: [o["reward"] + o[kind] for o in options] for kind in ("best", "own")}
    digits = {kind: _digits(values) for kind, values in totals.items()}
    return [
        f"{ACTIONS[o['action']]}{f' {BEST}' * o['optimal']}{f' {OWN_BEST}' * o['own_best']}"
        f"\nV* {_text(best, digits['best'])}\n{short} {_text(own, digits['own'])}"
        for o, best, own in zip(options, totals["best"], totals["own"])
    ]


def _text(value, digits=1):
    return set_apart(f"{value:,.{digits}f}")


def _digits(values):
    """Return how many digits tell numbers apart that are not the same, one at least."""
    for digits in range(1, MOST_DIGITS):
        shown = {}
        for value in values:
            shown.setdefault(_text(value, digits), []).append(value)
        if all(max(alike) - min(alike) <= NEAR * abs(max(alike)) for alike in shown.values()):
            return digits
    return MOST_DIGITS


def _largest(worth):
    """Return the actions whose numbers are the largest, but for rounding."""
    most = max(worth.values(), default=0.0)
    return {action for action, value in worth.items() if value >= most - NEAR * abs(most)}


def _short(name):
    """Return what a way to play is called in few letters: 'play by mine' is 'mine'."""
    plain = name.removeprefix("play by ").removesuffix(" play")
    return plain if len(plain) <= SHORT else f"{plain[: SHORT - 1]}…"


def _in_words(error):
    return {"error": f"{error}."} if isinstance(error, ValueError) else trouble(error)


def _evaluated(game, policy):
    """Return the `Values` of a policy."""
    if isinstance(policy, Values):
        return policy
    asked = callable(policy) or hasattr(policy, "choose")
    if hasattr(policy, "values") or getattr(policy, "network", None) is not None or not asked:
        small = game if isinstance(game, SmallGame) else _small(game)
        return small.follow(getattr(policy, "network", policy))
    whole = _small(game, symmetric=False)
    return whole.follow_function(policy if callable(policy) else _choosing(whole, policy))


def _small(game, **how):
    """Return the `SmallGame` of another one, of a size, or of a game's name."""
    if isinstance(game, str):
        game = small_game(None, game)
    elif not isinstance(game, SmallGame):
        return SmallGame(*game, **how)
    return SmallGame.of(getattr(game, "game", game), **how)


def _choosing(game, player):
    """Return a player's choice as a function of a state."""

    def function(state):
        return player.choose(game.pack(state))

    function.__name__ = getattr(player, "name", type(player).__name__)
    return function
