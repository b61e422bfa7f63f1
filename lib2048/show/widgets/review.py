"""A game looked at again, in the browser."""

from traitlets import Dict, Int, validate

from lib2048.endgame.table import Table
from lib2048.game.game import parse_game
from lib2048.play.evaluation import shown
from lib2048.play.players import game_of
from lib2048.play.review import called
from lib2048.show.widgets.mind import SHIPPED, mind_of
from lib2048.show.widgets.play import PlayWidget
from lib2048.show.widgets.reviewed import picture, reviewed


class ReviewWidget(PlayWidget):
    """Look at a game again: what each action cost, the worst ones, and how you would go on.

    The curve of the game, a mark for the points that each action lost, and the three worst boards
    with what the other actions were worth; a click on any of them, or the arrow keys, show the
    board there. *Play on from here* opens a board to play on, with hints by the same player; of
    that game tell ``.board``, ``.score``, ``.actions`` and ``.steps``, as `PlayWidget` has them.
    ``.review`` is the `Review`, ``.position`` the turn that is shown.

    Args:
        steps: a game, as `record_game` or `PlayWidget.steps` has it, or a `PlayWidget`.
        who: whose opinion it is: a player that values actions, a network, a name, the path of a
            file of weights, the `Table` of an endgame, or a function from a board to {action:
            reward + value}, such as `actions` of what `SmallGame.optimal` returns: the truth.  By
            default the network of data/weights.
        game: which they are of, a `Game` or its name; by default that of the player.

    Raises:
        ValueError: for a player without values, and a game that has no turn, or a turn that cannot
            be.
    """

    entry = "review.js"
    record = Dict().tag(sync=True)
    position = Int(0).tag(sync=True, echo_update=False)
    tells = ("position",)

    def __init__(self, steps, who=SHIPPED, game=None):
        steps = getattr(steps, "steps", steps)
        who = _Table(who) if callable(who) else who
        game = parse_game(game_of(who) if game is None else game)
        judge = who.told if isinstance(who, _Table) else mind_of(who, game).player
        self.review, record = reviewed(steps, judge, game)
        self._begun = (self.review.worst(1) or [0])[0]
        board, _ = shown(self.review.steps[self._begun], game)
        game = None if isinstance(who, Table) else game
        super().__init__(player=who, board=board, game=game)
        self.set_trait("record", record | {"game": self.about})
        self.position = self._begun

    def static(self):
        """Return a `Picture` of the game's course and its worst actions."""
        return picture(self.review, self._game.game)

    @validate("position")
    def _in_the_game(self, proposal):
        return max(0, min(proposal["value"], len(self.record["boards"]) // 16 - 1))

    def _take_up(self):
        """Leave what was played on from another review."""


class _Table:
    """A player by what a function says of a board."""

    def __init__(self, told):
        self.told, self.name, source = told, called(told), getattr(told, "__self__", None)
        self.game = game_of(getattr(source, "game", source))
        self.game = getattr(self.game, "game", self.game)

    def values(self, board):
        return self.told(board)

    def choose(self, board):
        worths = self.told(board)
        return max(worths, key=worths.get, default=None)
