"""The game that the players of later lessons judge: the reader's of lesson 00."""

from lib2048.course.reader import folder
from lib2048.game.bits import WHOLE
from lib2048.networks.network import Network
from lib2048.play.evaluation import record_game
from lib2048.show.widgets.game import Game
from lib2048.show.widgets.kept import SECTION
from lib2048.train.run import train

BOARD = "00_start_here-"  # how the cells of the lesson are called that has the board


def own_game():
    """Return the longest game that the reader left in lesson 00; without one, a beginner's.

    The beginner is `4x6` after its first 1000 games of TD(0), as lesson 06 trains it.

    Returns:
        list of `Step`, as `record_game` has it, for `ReviewWidget` and `review`; its last one has
        action None.
    """
    games = [
        game
        for name, game in folder.entries(SECTION).items()
        if name.startswith(BOARD) and name.split()[1:2] == [WHOLE.name]
    ]
    longest = max(games, key=lambda game: len(game.get("actions", "")), default=None)
    if longest and longest.get("actions"):
        return Game().following(longest).steps()
    beginner = Network("4x6")
    train(beginner, alpha=0.1, games=1000, seed=1, progress=False)
    return record_game(beginner, seed=1)
