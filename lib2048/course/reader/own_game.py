"""The reader's game of lesson 00, for the players of later lessons to judge."""

from lib2048.course.reader import folder
from lib2048.show.widgets.game import Game
from lib2048.show.widgets.kept import SECTION

BOARD = "00_start_here-"  # how the cells of the lesson are called that has the board


def own_game():
    """Return the longest game that the reader left in lesson 00, or None.

    Returns:
        list of `Step`, as `record_game` has it, for `ReviewWidget` and `review`; its last one has
        action None.
    """
    games = [game for name, game in folder.entries(SECTION).items() if name.startswith(BOARD)]
    longest = max(games, key=lambda game: len(game.get("actions", "")), default=None)
    return Game().following(longest).steps() if longest and longest.get("actions") else None
