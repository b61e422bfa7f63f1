"""What people touch: a game to play, recorded games, training to watch, figures to explore.

Boards live in the browser (`game.js` and its neighbours, no build step) and need no kernel to play;
`board.py` and `replay.py` follow them.  Training (`train.py`) happens in the kernel, and the
browser draws its curves, and those that are recorded or grow in a folder (`curves.py`).  Explorers
of a network (`tuples.py`, `rates.py`) ask the kernel for numbers only.

Where there are no widgets (GitHub, the book) a picture stands for each: that is its `static()`, and
every output carries it along.
"""

from lib2048.show.widgets.board import PlayWidget
from lib2048.show.widgets.rates import RateExplorer
from lib2048.show.widgets.replay import ReplayWidget
from lib2048.show.widgets.small import SmallBoardWidget
from lib2048.show.widgets.train import TrainWidget
from lib2048.show.widgets.tree import TreeWidget
from lib2048.show.widgets.tuples import NetworkExplorer

__all__ = [
    "NetworkExplorer", "PlayWidget", "RateExplorer", "ReplayWidget",
    "SmallBoardWidget", "TrainWidget", "TreeWidget",
]  # fmt: skip
