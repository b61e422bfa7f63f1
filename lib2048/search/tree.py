"""The tree of a search, one node at a time: what it sees, where it stops, what its table knew.

A *path* leads from the searched board to a node: actions (0..3) and spawns (cell:exponent) in turn,
with a slash between them.  "3/5:1/0" is Left, then a 2 in cell 5, then Up; "" is the board itself.

The search looks at afterstates in their smallest symmetric image (see `expectimax`).  Sums of
float32 depend on their order, and so the last digit of a value on the image.  Every node therefore
knows the image that the search sees: the reader sees boards as they lie on theirs, with the
search's own numbers, to the last bit.
"""

from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from lib2048.game import board as rules
from lib2048.game.batch import check_cells
from lib2048.game.bits import WHOLE, canonical, one_board
from lib2048.game.spec import ACTIONS
from lib2048.networks.lookups import TURNED
from lib2048.search.expectimax import (
    COUNTERS,
    MEMORY,
    RARE,
    TABLE_MIB,
    Search,
    leaf_value,
    table_slot,
)
from lib2048.search.expectimax import value_of as value_kernel

MOST_PLIES = 3  # a tree of four has tens of thousands of afterstates: too many to walk through here
EXPONENTS = (1, 2)  # of what can spawn in 2048


class Place(NamedTuple):
    """Where a path leads.

    board: uint64, as it lies on the reader's board; image: as the search has it, which is
    symmetries(board)[turn]; plies: those that are still to be looked at from there.
    """

    board: np.uint64
    image: np.uint64
    turn: int
    plies: int


class Option(NamedTuple):
    """An action of a decision node: worth = reward + value, as float32; value of the afterstate.

    known: the path to the same afterstate, or its image, that the table remembered, or None.
    """

    action: int
    afterstate: np.uint64
    reward: int
    value: np.float32
    worth: np.float32
    best: bool
    known: str | None


class Outcome(NamedTuple):
    """A spawn after an afterstate: worth is that of the best action then, 0 in a dead end (None).

    plies: how far the search looks from there on; one less than elsewhere where it is `reduced`.
    """

    cell: int
    exponent: int
    chance: float
    state: np.uint64
    worth: np.float32
    action: int | None
    plies: int
    reduced: bool


class SearchTree:
    """The tree that a search of a board grows.

    network: `Network` of afterstates of 2048; plies: 1 to 3; reduce, pays: as for `Search`.  The
    values are those of the weights at the moment that a node is opened.  A board with a 32768 is
    searched as it stands, where a `SearchPlayer` searches it as a smaller one.  Raises ValueError
    for other plies, and for a network that cannot be searched.
    """

    def __init__(self, network, board, plies=3, reduce=False, pays=True, endgames=None):
        if plies not in range(1, MOST_PLIES + 1):
            raise ValueError(f"a tree of {plies} plies: use 1 to {MOST_PLIES}")
        self.table_mib = max(1, TABLE_MIB[plies])
        limits = {"table_mib": self.table_mib, "reduce": reduce, "endgames": endgames}
        self.search = Search(network, plies, pays=pays, **limits)
        self.network, self.plies, self.reduce, self.pays = network, plies, reduce, bool(pays)
        self.game = network.game
        if self.game.rules is not WHOLE.rules:
            raise ValueError(f"network {network.name}: only a search of 2048 is shown as a tree")
        self._chances = dict(zip(EXPONENTS, (1 - self.game.four, self.game.four)))
        board = one_board(board)
        check_cells(board, self.game)
        self.root = Place(board, board, 0, plies)

    # ---------------------------------------------------------------- nodes

    def options(self, path=""):
        """Return the `Option`s of a decision node: its legal actions."""
        return self._options(path, self.at(path, decides=True), self.search.context())

    def outcomes(self, path):
        """Return the `Outcome`s of an afterstate; none where the search ends, by its horizon."""
        place, context = self.at(path, decides=False), self.search.context()
        cells = self._empty_cells(place.board)
        spawns = [(cell, exponent) for cell in cells for exponent in EXPONENTS if place.plies]
        return [self._outcome(path, place, *spawn, len(cells), context) for spawn in spawns]

    def _options(self, path, place, context):
        found = []
        for action, after, reward in rules.afterstates(place.board, self.game):
            below = self._act(place, action)
            value = self._value(below, context)
            worth = np.float32(reward * self.pays) + value
            known = self.known.get(_joined(path, action))
            found.append(Option(action, after, reward, value, worth, False, known))
        if not found:
            return found
        best = min(found, key=lambda o: (-o.worth, TURNED[place.turn, o.action]))
        return [option._replace(best=option is best) for option in found]

    def _outcome(self, path, place, cell, exponent, empty, context):
        below = self._spawn(place, cell, exponent)
        options = self._options(_joined(path, f"{cell}:{exponent}"), below, context)
        best = next((option for option in options if option.best), None)
        worth, action = (best.worth, best.action) if best else (np.float32(0), None)
        chance, reduced = float(self._chances[exponent]) / empty, below.plies < place.plies
        return Outcome(cell, exponent, chance, below.board, worth, action, below.plies, reduced)

    def _value(self, place, context):
        if place.plies == 0:
            return np.float32(self.game.bind(leaf_value)()(context, place.image))
        return np.float32(self.game.bind(value_kernel)()(context, place.image, place.plies))

    # ---------------------------------------------------------------- ways

    def at(self, path, decides=None):
        """Return the `Place` at the end of a path; ValueError where there is none.

        decides: whether it has to be one to decide at, or an afterstate.
        """
        place, deciding = self.root, True
        for step in filter(None, path.split("/")):
            first, _, exponent = step.partition(":")
            if deciding == bool(exponent):
                raise ValueError(f"path {path!r}: actions and spawns come in turn")
            deciding = bool(exponent)
            place = (
                self._spawn(place, int(first), int(exponent))
                if deciding
                else self._act(place, int(first))
            )
        if decides not in (None, deciding):
            raise ValueError(f"path {path!r} does not end at such a node")
        return place

    def _act(self, place, action):
        board = rules.slide(place.board, action, self.game)[0]
        if place.plies < 1 or board == place.board:
            raise ValueError(f"action {ACTIONS[action]}: not legal, or behind the search's end")
        image = rules.slide(place.image, TURNED[place.turn, action], self.game)[0]
        if place.plies == 1:  # a leaf, which is looked up as it lies
            return Place(board, image, place.turn, 0)
        images = rules.symmetries(board, self.game).tolist()
        image = int(canonical(image, self.game))
        return Place(board, np.uint64(image), images.index(image), place.plies - 1)

    def _spawn(self, place, cell, exponent):
        if exponent not in EXPONENTS or cell not in self._empty_cells(place.board):
            raise ValueError(f"no tile can spawn in cell {cell}")
        tile, there = np.uint64(exponent), np.uint64(4 * _cells(place.turn, self.game)[cell])
        below = self._below(place.plies, exponent)
        board, image = place.board | tile << np.uint64(4 * cell), place.image | tile << there
        return Place(board, image, place.turn, below)

    def _below(self, plies, exponent):
        rare = self._chances[exponent] < RARE
        return plies - 1 if self.reduce and rare and plies > 1 else plies

    def _empty_cells(self, board):
        exponents = rules.to_exponents(board)
        return [cell for cell in self.game.places if not exponents[cell]]

    # ---------------------------------------------------------------- the table

    @cached_property
    def known(self):
        """{path of an afterstate that the table answers: path of where it was remembered}."""
        return self._walked[0]

    @property
    def asked(self):
        """How many questions the search puts to its table."""
        return self._walked[1]

    @cached_property
    def _walked(self):
        """Go through the tree as the search does, and keep what its table is asked and knows.

        Like the table this keeps one afterstate in each place; a later one takes it over.
        """
        size, table, known, asked = (self.table_mib << 20) // 16, {}, {}, 0

        def ask(path, place):
            nonlocal asked
            asked += 1
            key = place.image, place.plies
            slot = int(table_slot(place.image ^ np.uint64(place.plies), size))
            if slot in table and table[slot][0] == key:
                known[path] = table[slot][1]
                return
            if place.plies > 1:
                for step, below in self._spawns_in_order(place):
                    decide_at(_joined(path, step), below, range(4))
            table[slot] = key, path

        def decide_at(path, place, order):
            if place.plies > 1:  # one ply: leaves, which the table is not asked for
                shown = {theirs: ours for ours, theirs in enumerate(TURNED[place.turn].tolist())}
                legal = {action for action, _, _ in rules.afterstates(place.board, self.game)}
                for action in (shown[theirs] for theirs in order):
                    if action in legal:
                        ask(_joined(path, action), self._act(place, action))

        decide_at("", self.root, self._order_at_the_root())
        return known, asked

    def _spawns_in_order(self, place):
        shown = {theirs: ours for ours, theirs in _cells(place.turn, self.game).items()}
        for theirs in self._empty_cells(place.image):
            for exponent in EXPONENTS:
                step = f"{shown[theirs]}:{exponent}"
                yield step, self._spawn(place, shown[theirs], exponent)

    def _order_at_the_root(self):
        """Return the actions, the best by one ply first: so the search takes them."""
        tables = self.search.endgames
        one = Search(self.network, 1, pays=self.pays, endgames=tables).decide(self.root.board)[1]
        return sorted(one, key=lambda action: (-one[action], action))

    # ---------------------------------------------------------------- the search itself

    def work(self, table=True):
        """Search once, with or without a table, and count: {name: count}.

        'probes' are afterstates it has to value, 'hits' those that the table knew, 'nodes' those it
        searched; 'leaves' counts repeated ones, 'looked_up' does not.
        """
        context = self.search.context(self.table_mib if table else 0)
        self.search.decide_all([self.root.board], [0], context)
        counted = dict(zip(COUNTERS, context[MEMORY].counters.tolist(), strict=True))
        return {name: counted[name] for name in ("probes", "hits", "nodes", "leaves", "looked_up")}


def _joined(path, step):
    return f"{path}/{step}" if path else str(step)


@cache
def _cells(turn, game):
    """Return where each cell of a board goes in image number `turn` of `symmetries`: a dict."""
    cells = game.places
    tiles = [int(rules.symmetries(np.uint64(1 << 4 * cell), game)[turn]) for cell in cells]
    return {cell: (tile.bit_length() - 1) // 4 for cell, tile in zip(cells, tiles)}
