"""The game to play, in the browser; the kernel follows it and thinks along."""

import functools
from threading import RLock, Timer

import numpy as np
from IPython import get_ipython
from traitlets import Dict, List, Unicode

from lib2048.endgame.table import Table
from lib2048.game import board as rules
from lib2048.game.game import parse_game
from lib2048.game.spec import ACTIONS
from lib2048.machine.printed import counted, thousands
from lib2048.play.players import game_of
from lib2048.show import draw
from lib2048.show.widgets import kept
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.widgets.game import HINTED, OWN, PLAYED, Game, Narrow, from_hex, position, told
from lib2048.show.widgets.mind import SHIPPED, PlayerError, minds
from lib2048.show.widgets.reviewed import reviewed

REST = 1.5  # seconds without an action, after which a game is written down and drawn again
HUNDRED = 101  # scores, from the lowest to the highest, by which one is ranked


class PlayWidget(BrowserWidget):
    """Play by arrow keys, W A S D, swipes or buttons, with a player to ask beside the board.

    It plays without the kernel. ``.board``, ``.score`` and ``.actions`` tell where the game stands;
    ``.act(action)``, ``.undo()``, ``.new_game()`` and ``.hint()`` do what the buttons do. A game in
    which a player took actions, or a hint stood on the board, is ``.helped``; ``.own_score`` counts
    only the points before that. A cell that runs again goes on with its game.

    Args:
        seed: an integer; the n-th new game is game n of that seed, the same on every machine.
        player: whom to ask for hints, values and autoplay: anything with ``.choose(board)``, what
            `players.player` takes (a name, a network), or the path of a file of weights, which is
            loaded when it is first asked.  By default the network of data/weights, greedy in other
            games than 2048; None: nobody.  With the `Table` of an endgame one plays that: its large
            tiles stand, its target wins, hints are the chances of success.
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
    ranks = Dict().tag(sync=True)  # of other players: scores from the lowest to the highest

    _kept = _timer = None  # its name among the games that were left, once it is shown

    def __init__(self, seed=1, player=SHIPPED, board=None, game=None):
        narrow = Narrow(player, board and position(board)) if isinstance(player, Table) else None
        if narrow and game is not None:
            raise ValueError(f"{player.name} knows its game: leave game out")
        game = game_of(player) if game is None else parse_game(game)
        if game.rules.NAME not in PLAYED:
            raise ValueError(
                f"{game.name}: the page has no rules of this game; draw.board shows it"
            )
        self._minds = minds(player, game)
        self._lock = RLock()  # JupyterLab may send the browser's messages to a second thread
        start = None if board is None else position(board, game)
        self._game, self._hinted = Game(seed, 0, start, game, narrow), None
        shown = narrow.told() if narrow else told(game)
        players = [mind.name for mind in self._minds]
        super().__init__(game=self._game.as_dict(), players=players, about=shown)

    board = property(
        lambda self: rules.whole(*self._game.here[:2], self._game.game),
        doc="The board, uint64; with a 65536 on it an integer of more bits.",
    )
    score = property(lambda self: self._game.here.score, doc="The points so far.")
    actions = property(lambda self: len(self._game.turns) - 1, doc="The actions so far.")
    seed = property(lambda self: self._game.seed, doc="The seed of the game.")

    helped = property(lambda self: self._game.helped, doc="Whether not all actions were one's own.")
    own_actions = property(
        lambda self: self._game.by.count(OWN), doc="How many of the actions were one's own."
    )
    own_score = property(
        lambda self: 0 if self._game.start is not None else self._game.alone.score,
        doc="The points before a player took an action or a hint helped; 0 from a set position.",
    )

    def account(self):
        """Return in words what was played, and how much of it by one's own hand."""
        said = f"{thousands(self.score)} points in {counted(self.actions, 'action')}"
        if not self.helped:
            return f"{said}, all of them your own"
        hints = self._game.by.count(HINTED)
        players = self.actions - self.own_actions - hints
        hands = [f"{thousands(self.own_actions)} were your own"]
        hands += [f"{thousands(hints)} had a hint"] if hints else []
        hands += [f"{thousands(players)} were a player's"] if players else []
        return f"{said}: {', '.join(hands)}. By your own hand alone: {thousands(self.own_score)}"

    def against(self, results):
        """Return in words how your own points compare with other players'; the board tells it, too.

        Only what you made by your own hand counts: the points before the first action of a player
        and before the first hint.

        Args:
            results: {name: `Result`}, as `evaluate` returns them.
        """
        scores = {name: np.asarray(result.scores) for name, result in results.items()}
        share = np.linspace(0, 1, HUNDRED)
        self.ranks = {n: np.quantile(all, share).round().tolist() for n, all in scores.items()}
        if not self.own_score:
            return "You have no points of your own yet. Play, and run this cell again."
        said = [f"{name}: more than in {(all < self.own_score).mean():.1%} of its games"
                for name, all in scores.items()]  # fmt: skip
        head = "Your points by your own hand" if self.helped else "Your points"
        return "\n".join([f"{head}, {thousands(self.own_score)}, against", *said])

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
            hint = HINTED if self._hinted == self._game.here.board else OWN
            reward = self._game.act(action, hint)
            if reward is None:
                text = f"{ACTIONS[action]} changes nothing: it is not legal, and no tile spawns."
                here, game = self._game.here, self._game.game
                if rules.slide(here.board, action, game, here.word)[0] != here.board:
                    text = f"{ACTIONS[action]} would move a large tile, and those stand."
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
            self._game = Game(self.seed, self._game.number + 1, None, *self._rules)
            self._show(f"Game {self._game.number} of seed {self.seed} begins.")

    def hint(self):
        """Return the action that the player would take, and mark it; None when the game is over."""
        if not self._minds:
            raise ValueError("there is nobody to ask: say PlayWidget(player=…)")
        if self._over:
            self._show("")
            return None
        advice = self._minds[0].advise(self.board, self._game.here.word)
        self._hinted = self._game.here.board
        self.send({"kind": "advice", **advice})
        known = f" Its {advice['known']}." if advice["known"] else ""
        self._show(f"{advice['name']} would choose {ACTIONS[advice['action']]}.{known}")
        return advice["action"]

    def static(self):
        """Return a `Picture` of the board and its tally."""
        said = f"score {thousands(self.score)} · {counted(self.actions, 'action')}"
        here = self._game.here
        return draw.board(self.board, said, game=self._game.game, word=here.word)

    @property
    def _rules(self):
        return self._game.game, self._game.narrow

    @property
    def _over(self):
        game, narrow = self._rules
        return narrow.table.is_over(self.board) if narrow else rules.is_over(self.board, game)

    def _show(self, text):
        if self._over:
            narrow = self._game.narrow
            text = "The endgame is over." if narrow else "The game is over: no action is legal."
        self.game, self.message = self._game.as_dict(), text
        self._changed()

    # ---------------------------------------------------------------- a game that is left

    def _ipython_display_(self):
        if self._kept is None and self.comm is not None:
            self._take_up()
        super()._ipython_display_()

    def _take_up(self):
        """Go on with the game that the cell had when it ran before, if it begins as this one."""
        parent = getattr(get_ipython(), "get_parent", dict)() or {}
        cell = parent.get("metadata", {}).get("cellId", "")
        begun = self._game.as_dict()
        self._kept = f"{cell} {self.about['name']} {begun['seed']} {begun['start']}".strip()
        left = kept.recall(self._kept)
        if self.actions or not left or not left.get("actions"):
            return
        try:
            self._game = self._game.following(left)
        except ValueError:  # the rules have changed since: it is no game any more
            return
        said = f"Your game goes on where you left it, at {thousands(self.score)} points."
        self.game, self.message = self._game.as_dict(), f"{said} N begins another one."

    def _changed(self):
        """Keep the game: at once for this kernel, in a while for the notebook and the next one."""
        if self._kept is None:
            return
        kept.remember(self._kept, self._game.as_dict())
        if self._timer is not None:
            self._timer.cancel()
        self._timer = Timer(REST, self._rest)
        self._timer.daemon = True
        self._timer.start()

    def _rest(self):
        kept.write()
        with self._lock:
            self._draw_again()

    # ---------------------------------------------------------------- the browser

    def _answer(self, message):
        """Follow the game of the browser, or answer a question about a board."""
        if message["kind"] == "game":
            with self._lock:
                self._game = self._game.following(message["game"])
                decisions = self._game.as_dict()
                self.set_state({"game": decisions})
                self._changed()
            self.send({"kind": "follow", "game": decisions, "page": message.get("page")})
        elif message["kind"] in ("advise", "ahead", "review"):
            mind = self._minds[message["player"]]
            find = functools.partial(self._found, mind, message)
            doing = "Looking at every action again" if message["kind"] == "review" else mind.doing
            self._reply(message, find, doing, mind.trouble)

    def _found(self, mind, question):
        if question["kind"] == "review":
            return self._reviewed(mind)
        here = rules.parts(from_hex(question["board"]), from_hex(question.get("word", "0")))
        if question["kind"] == "advise":
            return mind.advise(*here)
        return mind.ahead(*here, from_hex(question["state"]), question["count"])

    def _reviewed(self, mind):
        with self._lock:
            steps = self.steps
        try:
            record = reviewed(steps, mind.player, self._game.game)[1]
            return {"record": record | {"by": mind.name, "game": self.about}}
        except ValueError as error:
            raise PlayerError(str(error)) from None
