"""The search tree of a position, to open node by node."""

from functools import cached_property

from traitlets import Dict

from lib2048.game import board as rules
from lib2048.game.batch import as_boards
from lib2048.game.rng import stream
from lib2048.networks.network import Network
from lib2048.play.players import game_of
from lib2048.search.expectimax import Search
from lib2048.search.tree import MOST_PLIES, SearchTree
from lib2048.show import draw
from lib2048.show.widgets.base import PositionWidget
from lib2048.show.widgets.game import finite, from_hex, position, to_hex, told
from lib2048.show.widgets.mind import SHIPPED, PlayerError, mind_of


class TreeWidget(PositionWidget):
    """Open the search tree of a position: values, best actions, where the search stops and why.

    All numbers are the search's own (see `search.tree`). ``.board`` is the position; set it to look
    at another.

    Args:
        player: whoever searches a network of look-up tables: a `SearchPlayer`, or a network or the
            path of its file, or 'heuristic'.  By default the network of data/weights.
        board: the position (uint64, or rows of tiles); it can be edited and pasted.
        plies: how far to look, 1 to 3; by default as far as the player does, but at most 3.
        game: a recorded game, as `record_game` returns it, to choose positions from.

    Raises:
        ValueError: for a player that does not search, and for a position that cannot be.
    """

    entry = "tree.js"
    tree = Dict().tag(sync=True)

    def __init__(self, player=SHIPPED, board=None, plies=None, game=None):
        self._game = game_of(player)
        self._mind, self._grown = mind_of(player, self._game), (None, None)
        boards = [step.board for step in game or []]
        if board is None:
            board = boards[0] if boards else rules.initial(stream(1, 0), self._game)[0]
        about = self._about(player, plies)
        name = getattr(getattr(player, "network", None), "name", self._mind.name)
        text = "".join(map(to_hex, boards))
        super().__init__(
            tree={
                **about, "name": name, "most": MOST_PLIES, "boards": text,
                "game": told(self._game),
            },
            position=to_hex(self._packed(board)),
        )  # fmt: skip

    def _packed(self, board):
        return as_boards([position(board, self._game)])[0]

    def _about(self, player, plies):
        """Return how far the player looks; one that is at hand already is checked."""
        search = getattr(player, "search", None)
        limits = getattr(search, "limits", None)
        far = min(limits.plies, MOST_PLIES) if limits else MOST_PLIES
        plies = far if plies is None else plies
        if plies not in range(1, MOST_PLIES + 1):
            raise ValueError(f"a tree of {plies!r} plies: use 1 to {MOST_PLIES}")
        if not self._mind.begins:
            _ = self._searched
        return {"plies": plies, "reduce": bool(limits and limits.reduce)}

    @cached_property
    def _searched(self):
        """Return (the network that is searched, whether rewards count, what is known exactly)."""
        who = self._mind.player
        search = getattr(who, "search", None)
        network = getattr(who, "network", None)
        if not isinstance(network, Network):
            raise ValueError(f"{self._mind.name} does not search a network of look-up tables")
        Search(network, 1)  # which says what is wrong with it
        if not isinstance(search, Search):
            return network, True, None
        return network, bool(search.limits.pays), search.endgames

    def _tree(self, board, plies, reduce):
        """Return the `SearchTree` of a position; the last one is kept."""
        if self._game.rules is not rules.WHOLE.rules:
            raise PlayerError(
                f"A tree shows what luck does in 2048, and {self._mind.name} plays "
                f"{self._game.name}: PlayWidget and ReplayWidget show that game"
            )
        key = int(board), int(plies), bool(reduce)
        if self._grown[0] != key:
            network, pays, endgames = self._searched
            packed = self._packed(board)
            self._grown = key, SearchTree(network, packed, *key[1:], pays, endgames)
        return self._grown[1]

    # ---------------------------------------------------------------- the browser

    def _open(self, message):
        mind = self._mind
        self._reply(message, lambda: self._opened(message), mind.doing, mind.trouble)

    def _opened(self, message):
        """Return what lies below the node that a question names."""
        tree = self._tree(from_hex(message["board"]), message["plies"], message["reduce"])
        path = message["path"]
        if path and ":" not in path.split("/")[-1]:
            return {"outcomes": [_outcome(o) for o in tree.outcomes(path) if o.chance]}
        found = {"options": [_option(tree, option) for option in tree.options(path)]}
        found["known"] = tree.search.endgames.told(tree.at(path, decides=True).board)
        if not path:
            found |= {"work": {"bare": tree.work(False), "table": tree.work(True)}}
            found["pays"] = tree.pays
        return found

    # ---------------------------------------------------------------- the picture

    def static(self):
        """Return a `Picture` of the two plies at the root, the worst spawns first."""
        branches, plies, said = [], self.tree["plies"], "the position"
        try:
            tree = self._tree(self.board, plies, self.tree["reduce"])
            for option in tree.options() if plies > 1 else []:
                outcomes = sorted(tree.outcomes(str(option.action)), key=lambda o: o.worth)
                spawns = [(o.chance, o.state, o.action, float(o.worth)) for o in outcomes]
                paid = option.reward * tree.pays
                branches.append((option.action, option.afterstate, paid, spawns))
        except Exception as error:  # the widget says what is wrong
            branches, said = [], str(error) if isinstance(error, PlayerError) else said
        if not branches:
            return draw.board(self.board, said, game=self._game)
        return draw.tree(self.board, branches, game=self._game)


def _option(tree, option):
    """Return an `Option` as JSON; turned: whether the table knew an image of it, not itself."""
    known = option.known
    turned = known is not None and tree.at(known).board != option.afterstate
    told = option._asdict() | {"value": finite(option.value), "worth": finite(option.worth)}
    return told | {"board": to_hex(told.pop("afterstate")), "turned": bool(turned)}


def _outcome(outcome):
    """Return an `Outcome` as JSON."""
    told = outcome._asdict() | {"worth": finite(outcome.worth)}
    return told | {"board": to_hex(told.pop("state"))}
