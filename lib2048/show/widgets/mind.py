"""Whoever chooses actions for the board in the browser: asked about boards, answered in JSON."""

import contextlib
import time
from pathlib import Path

from lib2048.endgame.table import Table
from lib2048.game import board as rules
from lib2048.game.game import agreed
from lib2048.game.spec import ACTIONS
from lib2048.machine.data import data
from lib2048.networks.storage import WEIGHT_FILES, load
from lib2048.play.evaluation import ask
from lib2048.play.players import NAMED, network_player, seen
from lib2048.play.players import player as made
from lib2048.show.widgets.base import trouble
from lib2048.show.widgets.game import finite, to_hex, turned

SHIPPED = "shipped"  # the network of data/weights
SHIPPED_FILES = {  # the best one that is here; an installed package has the second alone
    "weights/42-33-tuned.npz": "our network 42-33-tuned",
    "weights/page.npz": "our small network",
}
AT_ONCE = 0.1  # seconds of playing ahead in one answer, so that the kernel is soon free again


class PlayerError(ValueError):
    """Something that a player cannot do, in words."""


class Mind:
    """A player that answers in plain numbers and words, made when it is first asked.

    name: what the menu says; make: a function without arguments that returns the player; begins:
    what is said while that takes its time; game: which it is asked about.
    """

    def __init__(self, name, make, begins=None, game=rules.WHOLE):
        self.name, self._make, self.begins, self._player = name, make, begins, None
        self.game = game

    @property
    def doing(self):
        """What is going on when it is asked now, in words."""
        return f"{self.name} is thinking" if self._player or not self.begins else self.begins

    @property
    def player(self):
        """The player itself."""
        self._player = self._player or _playing(self._make(), self.game)
        return self._player

    def advise(self, board, word=0):
        """Return {'name', 'board', 'action', 'values': of the four actions, None for no value,
        'known': what a table of its endgames knows, in words}."""
        action, values = self._decide(board, word)
        board, endgames = rules.parts(board)[0], getattr(self.player, "endgames", None)
        found = {"name": self.name, "board": to_hex(board), "action": action, "values": values}
        return found | {"known": endgames.told(board) if endgames else ""}

    def ahead(self, board, word, state, count):
        """Play on from a state and its luck, at most so many actions, for a short time.

        Returns {'actions': a text of digits, 'values': of each turn, 'over': whether the game is}.
        An error is part of the answer, after what was played before it.
        """
        actions, values, end, error = "", [], time.perf_counter() + AT_ONCE, {}
        while len(actions) < count and not self._is_over(board, word):
            try:
                action, worth = self._decide(board, word)
            except Exception as what:
                error = self.trouble(what)
                break
            board, word, _, _, state = turned(self.game, board, word, state, action)
            actions, values = actions + str(action), [*values, worth]
            if time.perf_counter() > end:
                break
        return {"actions": actions, "values": values, "over": self._is_over(board, word), **error}

    def _is_over(self, board, word):
        if hasattr(self.player, "is_over"):  # an endgame is over earlier
            return self.player.is_over(board)
        return rules.is_over(board, self.game, word)

    def _decide(self, board, word):
        """Return (action, values); raise PlayerError for an action that cannot be."""
        who, (board, word) = self.player, rules.parts(board, word)
        action, values = ask(who, *seen(who, self.game, board, word))
        legal = [action for action, _, _ in rules.afterstates(board, self.game, word)]
        if action not in legal:
            said = ACTIONS[action] if action in range(4) else repr(action)
            names = ", ".join(ACTIONS[a] for a in legal)
            raise PlayerError(
                f"{self.name} chose {said}, which is not legal here: {names} would be"
            )
        return int(action), values and [finite(values.get(a)) for a in range(4)]

    def trouble(self, error):
        """Say an error in words; see `base.trouble`."""
        if isinstance(error, PlayerError):
            return {"error": f"{error}."}
        if isinstance(error, FileNotFoundError):
            return {
                "error": f"The weights of {self.name} are gone ({error}): choose another "
                "player, or put the file back and ask again."
            }
        if isinstance(error, KeyboardInterrupt):
            return {"error": f"{self.name} was interrupted."}
        return trouble(error, self.name)


# ---------------------------------------------------------------- which players there are


def minds(what, game=rules.WHOLE):
    """Return the `Mind`s that a board offers: the one that was asked for, then the named ones.

    what: a player, a network, the path of a file of weights, a name as in `players.player`,
    'shipped', or None for no help at all; game: of the board.  Raises ValueError for an unknown
    name, and for a player of another game.
    """
    if what is None:
        return []
    first = mind_of(what, game)
    if isinstance(what, Table):  # nobody else keeps the large tiles where they are
        return [first]
    lines = game.rules is rules.WHOLE.rules and game.cells == rules.WHOLE.cells
    names = ("heuristic", "greedy", "random")[not lines :]
    others = (mind_of(name, game) for name in names)
    return [mind for mind in (first, *others) if mind is first or mind.name != first.name]


def mind_of(what, game=rules.WHOLE):
    """Return the `Mind` of a player, a network, a file, a name, or SHIPPED; see `minds`."""
    if isinstance(what, str) and what == SHIPPED:
        return _shipped() if game == rules.WHOLE else mind_of("greedy", game)
    if isinstance(what, Path) or isinstance(what, str) and what.endswith(WEIGHT_FILES):
        path = Path(what)
        return Mind(path.name, lambda: _loaded(path), f"Loading {path.name}", game)
    if isinstance(what, str) and what in NAMED:
        return Mind(what, lambda: made(what, game), game=game)
    who = _playing(what if hasattr(what, "choose") else made(what), game)
    return Mind(getattr(who, "name", type(who).__name__), lambda: who, game=game)


def _playing(who, game):
    """Return a player; raise PlayerError where it says that it plays another game."""
    try:
        agreed(getattr(who, "name", ""), getattr(who, "game", game), game)
    except ValueError as error:
        raise PlayerError(str(error)) from None
    return who


def _loaded(path):
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    return network_player(load(path, to_play=True))


def _shipped():
    """Return the first of our networks that is here; the heuristic where none is."""
    for file, name in SHIPPED_FILES.items():
        with contextlib.suppress(FileNotFoundError):
            mind = mind_of(data(file))
            mind.name = name
            return mind
    return mind_of("heuristic")
