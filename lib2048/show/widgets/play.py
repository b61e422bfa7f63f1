"""The game to play, in the browser; the kernel follows it and thinks along."""

from threading import RLock

from traitlets import Dict, List, Unicode

from lib2048.game import board as rules
from lib2048.game.game import parse_game
from lib2048.game.spec import ACTIONS
from lib2048.play.players import game_of
from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.widgets.game import PLAYED, Game, from_hex, position, told
from lib2048.show.widgets.mind import SHIPPED, minds
from lib2048.show.words import thousands


class PlayWidget(BrowserWidget):
    """Play by arrow keys, W A S D, swipes or buttons, with a player to ask beside the board.

    It plays without the kernel. ``.board``, ``.score`` and ``.actions`` tell where the game stands;
    ``.act(action)``, ``.undo()``, ``.new_game()`` and ``.hint()`` do what the buttons do.

    Args:
        seed: an integer; the n-th new game is game n of that seed, the same on every machine.
        player: whom to ask for hints, values and autoplay: anything with ``.choose(board)``, what
            `players.player` takes (a name, a network), or the path of a file of weights, which is
            loaded when it is first asked.  By default the network of data/weights, greedy in other
            games than 2048; None: nobody.
        board: a position to begin with (uint64, or rows of tiles).
        game: a `Game` or its name, such as "2048:four=0.2@3x4"; by default that of the player.

    Raises:
        ValueError: for an unknown name or game, and for a position to which no game can come.
    """

    entry = "play.js"
    game = Dict().tag(sync=True, echo_update=False)  # decisions, see `Game.as_dict`
    about = Dict().tag(sync=True)  # of the rules, see `told`
    players = List().tag(sync=True)
    message = Unicode().tag(sync=True)

    def __init__(self, seed=1, player=SHIPPED, board=None, game=None):
        game = game_of(player) if game is None else parse_game(game)
        if game.rules.NAME not in PLAYED:
            raise ValueError(
                f"{game.name}: the page has no rules of this game; draw.board shows it"
            )
        self._minds = minds(player, game)
        self._lock = RLock()  # JupyterLab may send the browser's messages to a second thread
        start = None if board is None else position(board, game)
        self._game, shown = Game(seed, 0, start, game=game), told(game)
        players = [mind.name for mind in self._minds]
        super().__init__(game=self._game.as_dict(), players=players, about=shown)

    board = property(lambda self: self._game.here.board, doc="The board, uint64.")
    score = property(lambda self: self._game.here.score, doc="The points so far.")
    actions = property(lambda self: len(self._game.turns) - 1, doc="The actions so far.")
    seed = property(lambda self: self._game.seed, doc="The seed of the game.")

    @property
    def steps(self):
        """The game so far as a list of `Step`, for `review` and `ReplayWidget`."""
        return self._game.steps()

    @property
    def player(self):
        """The player that was asked for; a file of weights is loaded now, if it is not yet."""
        return self._minds[0].player if self._minds else None

    def act(self, action):
        """Take an action, 0..3 or its name; an action that changes nothing spawns nothing."""
        action = ACTIONS.index(action) if action in ACTIONS else action
        with self._lock:
            reward = self._game.act(action)
            if reward is None:
                text = f"{ACTIONS[action]} changes nothing: it is not legal, and no tile spawns."
            else:
                text = f"{ACTIONS[action]}: {thousands(reward)} points."
            self._show(text)

    def undo(self):
        """Take the last action back; the same action will meet the same spawn again."""
        with self._lock:
            self._game.undo()
            self._show("Taken back.")

    def new_game(self):
        """Begin the next game of the seed."""
        with self._lock:
            self._game = Game(self.seed, self._game.number + 1, game=self._game.game)
            self._show(f"Game {self._game.number} of seed {self.seed} begins.")

    def hint(self):
        """Return the action that the player would take, and mark it; None when the game is over."""
        if not self._minds:
            raise ValueError("there is nobody to ask: say PlayWidget(player=…)")
        if self._over:
            self._show("")
            return None
        advice = self._minds[0].advise(self.board, self._game.here.word)
        self.send({"kind": "advice", **advice})
        self._show(f"{advice['name']} would choose {ACTIONS[advice['action']]}.")
        return advice["action"]

    def static(self):
        """Return a `Picture` of the board and its tally."""
        actions = "1 action" if self.actions == 1 else f"{thousands(self.actions)} actions"
        said, here = f"score {thousands(self.score)} · {actions}", self._game.here
        return draw.board(here.board, said, game=self._game.game, word=here.word)

    @property
    def _over(self):
        return rules.is_over(self.board, self._game.game)

    def _show(self, text):
        over = "The game is over: no action is legal." if self._over else ""
        self.game, self.message = self._game.as_dict(), over or text

    def _answer(self, message):
        """Follow the game of the browser, or answer a question about a board."""
        if message["kind"] == "game":
            with self._lock:
                self._game = self._game.following(message["game"])
                self.set_state({"game": self._game.as_dict()})
        elif message["kind"] in ("advise", "ahead"):
            mind = self._minds[message["player"]]
            self._reply(message, lambda: _found(mind, message), mind.doing, mind.trouble)


def _found(mind, question):
    here = from_hex(question["board"]), from_hex(question.get("word", "0"))
    if question["kind"] == "advise":
        return mind.advise(*here)
    return mind.ahead(*here, from_hex(question["state"]), question["count"])
