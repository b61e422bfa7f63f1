"""What a tuple reads on a board, which entries of a network that is, and how these went."""

from functools import cache, partial
from pathlib import Path

import numpy as np
from traitlets import Dict

from lib2048.course.explorers.rates import EIGHT, Followed
from lib2048.game import board as rules
from lib2048.game.bits import NUMBERED
from lib2048.machine.printed import thousands
from lib2048.networks.storage import load
from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.widgets.game import from_hex, to_hex, told
from lib2048.train.run import Run

CELLS = (0, 1, 2, 3, 4, 5)  # the tuple to begin with where there is no network
BOARD = [[2, 16, 8, 4], [4, 8, 0, 0], [32, 2, 0, 0], [64, 4, 2, 0]]
AT_ONCE = 1 << 16  # boards that are compared together: they stay in the processor's cache
NO_COUNT = "Nobody has counted over games here, so how often an entry is looked up is not known."


class NetworkExplorer(BrowserWidget):
    """Choose cells of a board: the tuple's size, its index, its entries in a network's tables.

    A chart shows what the network says of each of the boards, ``x="boards"``, or how the chosen
    entry went through training, ``x="actions"``.  That is of a `Run`, which ``.train(actions)``
    trains on, bit for bit as `Run.go` does.  Of what its rule keeps beside each weight 'E' and 'A'
    give the rate, and 'visits' says how often an entry was met.  (TC keeps no visits; an update of
    your own can, see `Network.with_functions`.)  Every entry is followed in networks of up to 4
    million weights, in larger ones those that the boards look up.

    A network that cannot be loaded is told in the widget, which then does without.  Weights are
    read when they are looked at: those of a network that has learned on are the new ones.

    Args:
        network: any n-tuple `Network`, the path of a file of weights, a `Run`, which is trained
            here, or None for sizes and indices alone.
        boards: what is looked at, a game that `record_game` kept (its afterstates), or boards
            (uint64, or rows of tiles).
        seen: boards over which look-ups are counted, uint64[n] or an `Experience`: how often all of
            them, one by one, would read an entry; each reads a tuple eight times.
        cells: the tuple to begin with, by default the network's first.
        x: 'boards' or 'actions'; by default the actions of a run, or else the boards where there
            are several.
        y: the lines to choose from, by default all: 'value' and 'weight' over boards; over actions
            'rate', 'weight' and what the rule keeps, such as 'E'.
        actions: how far a run is trained at once.

    Raises:
        ValueError: for what is no board, for a tuple without cells or with one twice, for a run
            whose network has no tables, for an x or y that there is not, and for visits of a Q
            network, whose entries belong to an action, too.
    """

    entry = "tuples.js"
    tuples = Dict().tag(sync=True)
    _told = ("weights", "visits", "value", "rates", "curve")  # of what `look` returns

    def __init__(
        self, network=None, boards=None, seen=None, cells=None, *, x=None, y=None, actions=None
    ):
        self.run = network if isinstance(network, Run) else None
        self.network, self.trouble = _loaded(self.run.network if self.run else network)
        if self.run and not self.network:
            name = self.run.network.name
            raise ValueError(f"{name} has no tables whose entries could be followed")
        self._grid = getattr(self.network, "game", rules.WHOLE)
        images = rules.symmetries(NUMBERED & self._grid.cells * np.uint64(15), self._grid)
        self._images = [rules.to_exponents(image).tolist() for image in images]
        tuples = self.network.tuples if self.network else ()
        self._places = [self._eight(cells) for cells in tuples]
        turns = _some(boards)
        self.boards = [self._checked(_board(turn, self._form, self._grid)) for turn in turns]
        self._words = [int(getattr(turn, "word", 0) & self._grid.rules.SEEN) for turn in turns]
        self.cells = _tuple(cells if cells is not None else next(iter(tuples), CELLS), self._grid)
        self._visits = None if seen is None else Visits(seen, self.network)
        self._followed = self.run and Followed(self.run, self.boards, self._words)
        self._along = self._chosen(x)
        self._charts = _asked(self._along.charts if self._along else [], y)
        super().__init__(tuples=self._about())
        if actions is not None:
            self.train(actions)

    def _chosen(self, x):
        """Return what lies along x, None for nothing."""
        several = self.network is not None and len(self.boards) > 1
        known = {"actions": self._followed,
                 "boards": several and Boards(self.network, self.boards, self._words)}  # fmt: skip
        if x is None:
            return next(filter(None, known.values()), None)
        if not known.get(x):
            needed = {"actions": "a run, to be trained", "boards": "a network and several boards"}
            words = f"give {needed[x]}" if x in needed else "use 'boards' or 'actions'"
            raise ValueError(f"x {x!r}: {words}")
        return known[x]

    def train(self, actions, **how):
        """Train the run on; write its entries down on the way, more often at first.

        Args:
            actions: by so many.
            how: `moments`, how often they are written down; `progress`, whether a bar shows it.

        Raises:
            ValueError: where there is no run.
        """
        if not self.run:
            raise ValueError("only a run can train: NetworkExplorer(run, …)")
        self._followed.train(actions, **how)
        self.send({"kind": "changed"})
        self._draw_again()

    @property
    def _form(self):
        return self.network.form if self.network else "afterstate"

    def _eight(self, cells):
        """Return where a tuple stands in the eight images of a board."""
        return [tuple(image[cell] for cell in cells) for image in self._images]

    def _checked(self, board):
        if int(board) & ~(int(self._grid.cells) * 15):
            raise ValueError(
                f"this board is larger than those of network {self.network.name}: "
                f"{rules.to_tiles(board)}"
            )
        return board

    def look(self, cells=None, board=None, action=0, word=None):
        """Return what a tuple reads.

        Args:
            cells: by default those to begin with.
            board: by default the first.
            action: of a Q network.
            word: of its state, for what a game shows beside it; by default the first board's.

        Returns:
            dict: 'table' and 'place', which of the network's tuples it is, and which of its eight
            placements (None, 0 for a tuple of one's own); 'cells', the eight; 'index', eight
            numbers; 'weights', and 'value' of the board, None without a table; 'visits', None where
            nobody has counted; 'rates' of the eight, None without 'E' and 'A'; 'curve', the numbers
            along x and of each line, None where the entry was untouched, or None for one that is
            not followed.
        """
        cells = _tuple(self.cells if cells is None else cells, self._grid)
        board = (
            self.boards[0]
            if board is None
            else self._checked(_board(board, self._form, self._grid))
        )
        word = np.uint64(self._words[0] if word is None else word)
        table, place = self._found(cells)
        eight = self._eight(cells) if table is None else self._places[table]
        exponents = rules.to_exponents(board)
        patterns = [[int(exponents[cell]) for cell in where] for where in eight]
        told = dict.fromkeys(("weights", "value", "rates", "curve"))
        told |= {"table": table, "place": place, "cells": eight}
        told["index"] = [sum(e << 4 * j for j, e in enumerate(found)) for found in patterns]
        told |= {"visits": self._visits and self._visits.of(board, eight, patterns)}
        if table is not None:
            told |= self._weights(table, place, board, action, word)
        return told

    def _found(self, cells):
        """Return (number of the tuple, of its placement) that reads these cells, in any order."""
        stands = [(t, k) for t, eight in enumerate(self._places) for k in range(len(eight))]
        same = [(t, k) for t, k in stands if set(self._places[t][k]) == set(cells)]
        return min(same, key=lambda at: self._places[at[0]][at[1]] != cells, default=(None, 0))

    def _weights(self, table, place, board, action, word):
        network, mine = self.network, slice(8 * table, 8 * table + 8)
        network.needs_order("an explorer")
        weights = _read(network, board, action, word)[mine].tolist()
        value = float(network.values([board], action, [word])[0])
        places = network.places(board, action, word)[mine]
        found = self._followed.told(places) if self._followed else {}
        curve = self._along and self._along.curve(places[place], 8 * table + place, action)
        return {"weights": weights, "value": value, "curve": curve, **found}

    # ------------------------------------------------------------ the browser

    def _answer(self, message):
        """Answer a question about a tuple on a board."""
        reply = {"kind": "answer", "id": message["id"]}
        try:
            cells, board = message["cells"], from_hex(message["board"])
            found = self.look(cells, board, message["action"], message.get("word", 0))
        except ValueError as error:  # such as tables whose order an index of one's own decides
            return self.send({**reply, "error": f"{error}."})
        stages = self.network and self.network.stages
        stage = stages.name(stages.of(board)) if stages and stages.by_tiles else ""
        self.send({**reply, **{name: found[name] for name in self._told}, "stage": stage})

    def _about(self):
        """Return what the browser has to know, once."""
        return {
            "boards": "".join(to_hex(board) for board in self.boards), "cells": list(self.cells),
            "images": self._images, "game": told(self._grid), "words": self._words,
            "network": self._about_network(), "counted": self._counted(),
            "trouble": self.trouble, "charts": self._charts,
            "x": self._along and self._along.x,
        }  # fmt: skip

    def _about_network(self):
        network = self.network
        return network and {
            "name": network.name, "words": repr(network).strip("<>").removeprefix("network "),
            "form": network.form, "places": self._places, "optimistic": network.optimistic,
        }  # fmt: skip

    def _counted(self):
        """Say what look-ups were counted over, and whether they were; word: what a card says."""
        if self._followed and not self._visits:
            return self._followed.counted
        told = str(self._visits or NO_COUNT)
        return {"are": self._visits is not None, "words": told, "word": "look-ups"}

    # ------------------------------------------------------------ the picture

    def static(self):
        """Return a `Picture` of the tuple on the first board, and of its entries or their rate."""
        found = self.look()
        if rates := [rate for rate in (found["curve"] or {}).get("rate", []) if rate is not None]:
            return self._rate_picture(found, rates)
        index = f"index {thousands(found['index'][found['place']])}"
        size, cells = f"one of {thousands(16 ** len(self.cells))}", found["cells"][found["place"]]
        first = draw.tuple(
            cells, self.boards[0], caption=f"{index}\n{size}", size=150, game=self._grid
        )
        return draw.row([first, *self._eight_pictures(found)])

    def _rate_picture(self, found, rates):
        index = thousands(found["index"][found["place"]])
        actions = found["curve"]["actions"][-len(rates) :]
        lines = {"rate": [(at, 100 * rate) for at, rate in zip(actions, rates)]}
        curves = draw.curves(lines, "actions", "its rate |E| / A in %", width=440)
        said = f"index {index}\nrate now {100 * rates[-1]:.1f} %"
        cells = found["cells"][found["place"]]
        return draw.row([draw.tuple(cells, self.boards[0], caption=said, game=self._grid), curves])

    def _eight_pictures(self, found):
        weights, visits = (found[name] or [None] * 8 for name in ("weights", "visits"))
        for cells, index, weight, count in zip(found["cells"], found["index"], weights, visits):
            said = [f"index {thousands(index)}"]
            said += [] if weight is None else [f"weight {weight:,.1f}".replace("-", "−")]
            said += [] if count is None else [f"look-ups {thousands(count)}"]
            picture = draw.tuple(cells, self.boards[0], None, size=110, game=self._grid)
            yield picture.captioned("\n".join(said), wrap=False)


# ---------------------------------------------------------------- what was given


def _loaded(what):
    """Return (a network or None, what went wrong with it in words)."""
    name = what
    try:
        if isinstance(what, (str, Path)):
            name, what = Path(what).name, load(what)
    except (OSError, ValueError, MemoryError) as error:
        return None, f"Without weights, since they cannot be read: {error}."
    if what is None or hasattr(what, "lookups"):
        return what, ""
    return None, f"Without weights: {name} is no n-tuple network, it has no tables to look into."


def _some(boards):
    """Return boards, or turns of a game, as a list of at least one."""
    if boards is None:
        return [BOARD]
    if isinstance(boards, (int, np.integer)):
        boards = [boards]
    turns = [turn for turn in boards if getattr(turn, "action", 0) is not None]  # not the end
    if not turns:
        raise ValueError("there are no boards to look at: the list is empty")
    return turns


def _board(what, form, grid):
    """Return a board as uint64; the one to begin with is cut to the size of the grid."""
    if what is BOARD:
        return rules.from_tiles(BOARD) & grid.cells * np.uint64(15)
    if hasattr(what, "afterstate"):
        return what.afterstate if form == "afterstate" else what.board
    board = what if isinstance(what, (int, np.integer)) else rules.from_tiles(what, grid)
    return rules.parts(board)[0]


def _tuple(cells, grid):
    cells = tuple(int(cell) for cell in cells)
    if not cells or len(set(cells)) < len(cells) or not set(cells) <= set(grid.places):
        raise ValueError(f"a tuple has one or more cells of the board, none twice, not {cells}")
    return cells


# ---------------------------------------------------------------- what lies along x


class Boards:
    """Along the boards: what the network says of each, and the weight that a look-up reads there.

    network: `Network`; boards: uint64 each; words: what their game shows beside each.
    """

    x = "boards"
    charts = (
        {"title": "value of each board, in points", "lines": ["value"], "whole": True},
        {"title": "weight read on each board, in points", "lines": ["weight"]},
    )

    def __init__(self, network, boards, words):
        self._network, self._boards, self._words = network, np.array(boards, np.uint64), words
        self._places = cache(lambda action: np.array(self._each(network.places, action)))

    def curve(self, _, lookup, action):
        """Return {'boards', 'value', 'weight'} as lists; lookup: whose weight, of a board's."""
        network = self._network
        if network.promotes:
            weights = np.array(self._each(partial(_read, network), action))[:, lookup]
        else:
            weights = network.weights[self._places(action)[:, lookup]]
        values = network.values(self._boards, action, self._words)
        numbers = range(1, len(values) + 1)
        return {"boards": [*numbers], "value": values.tolist(), "weight": weights.tolist()}

    def _each(self, function, action):
        return [function(board, action, word) for board, word in zip(self._boards, self._words)]


def _read(network, board, action, word):
    """Return the weights of all look-ups of a board."""
    if network.promotes:  # which reads some weights from the stage below
        return np.array([weight for *_, weight in network.lookups(board, action, word)])
    return network.weights[network.places(board, action, word)]


def _asked(charts, y):
    """Return the charts with lines of these names, or all."""
    if y is None:
        return list(charts)
    known = {line: chart for chart in charts for line in chart["lines"]}
    wanted = [y] if isinstance(y, str) else y
    if wrong := [name for name in wanted if name not in known]:
        raise ValueError(f"y {wrong[0]!r}: there is {', '.join(known) or 'nothing along x'}")
    return [chart for chart in charts if set(chart["lines"]) & set(wanted)]


# ---------------------------------------------------------------- how often


class Visits:
    """Counts how often boards look an entry up: exactly, and without a table of counts.

    boards: uint64[n], or an `Experience`; network: whose entries they are, if anybody's.  With
    stages, only boards of the same stage count.
    """

    def __init__(self, boards, network=None):
        if getattr(network, "form", "") == "q":
            raise ValueError("an entry of a Q network belongs to an action: boards do not say it")
        if network is not None and network.stages.marks and not network.stages.by_tiles:
            raise ValueError(
                f"an entry of {network.name} belongs to the card that is shown: "
                "boards do not say it"
            )
        self.boards = np.ascontiguousarray(getattr(boards, "afterstates", boards), np.uint64)
        self._stages = network.stages if network is not None and network.stages.marks else None
        if self._stages:
            self._stage_of = np.array([self._stages.of(board) for board in self.boards])

    def of(self, board, eight, patterns):
        """Return how often each of a tuple's eight entries was visited: eight numbers.

        board: whose stage it is; eight: the tuple's cells in the images of a board; patterns: for
        each entry, the exponents in these cells.
        """
        boards = self.boards
        if self._stages:
            boards = boards[self._stage_of == self._stages.of(board)]
        counts = dict.fromkeys(map(tuple, patterns), 0)
        for start in range(0, len(boards), AT_ONCE):
            part = boards[start : start + AT_ONCE]
            read, same = np.empty_like(part), np.empty(len(part), bool)
            for cells in eight:
                np.bitwise_and(part, _spread([15] * len(cells), cells), out=read)
                for found in counts:
                    np.equal(read, _spread(found, cells), out=same)
                    counts[found] += int(np.count_nonzero(same))
        return [counts[tuple(found)] for found in patterns]

    def __str__(self):
        boards = f"{thousands(len(self.boards))} boards"
        return f"Look-ups: how often {boards} read an entry. Each board adds {EIGHT}."


def _spread(exponents, cells):
    """Return a board with these exponents in these cells, and nothing elsewhere: uint64."""
    return np.uint64(sum(exponent << 4 * cell for exponent, cell in zip(exponents, cells)))
