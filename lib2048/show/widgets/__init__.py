"""What people touch: a game to play, recorded games, training to watch, figures with a choice.

Boards live in the browser (`game.js` and its neighbours, no build step) and need no kernel to play;
`board.py` and `replay.py` follow them.  Training (`train.py`) happens in the kernel, and the
browser draws its curves.  Where there are no widgets (GitHub, the book) a picture stands for each:
that is its `static()`, and every output carries it along.
"""

from lib2048.show.widgets.board import PlayWidget
from lib2048.show.widgets.explore import ExploreWidget
from lib2048.show.widgets.replay import ReplayWidget
from lib2048.show.widgets.small import SmallBoardWidget
from lib2048.show.widgets.train import TrainWidget
from lib2048.show.widgets.tree import TreeWidget

__all__ = [
    "ExploreWidget", "PlayWidget", "ReplayWidget", "SmallBoardWidget", "TrainWidget", "TreeWidget",
]  # fmt: skip
