"""How entries of a network go through training: their weights, and what TC keeps of them."""

import numpy as np

from lib2048.course.explorers.tuples import EIGHT, NetworkExplorer
from lib2048.machine.extras import package
from lib2048.show import draw
from lib2048.show.words import thousands
from lib2048.train.watching import progress_bar

MOMENTS = 60  # of a training, at which its entries are written down
FEW = 1 << 22  # weights: of a network with at most so many, every entry is followed
NOISE = "noise alone: 1/√visits"
VISITS = f"Visits: how often training has moved an entry so far. Each afterstate adds {EIGHT}."


class RateExplorer(NetworkExplorer):
    """Choose an entry of a network, and see how it went through training: E, A, `|E| / A`, weight.

    Of what its rule keeps beside each weight 'E' and 'A' give the rate, and 'visits' says how often
    an entry was met.  (TC keeps no visits; an update of your own can, see
    `Network.with_functions`.)

    ``.train(actions)`` trains on.  Every entry is followed in networks of up to 4 million weights,
    in larger ones those that the boards look up.  Training is that of `Run.go`, bit for bit.

    Args:
        run: a `Run`, which is trained here.
        boards, cells: as in `NetworkExplorer`.
        actions: how far it is trained at once.

    Raises:
        ValueError: for a run whose network has no tables.
    """

    _told = (*NetworkExplorer._told, "rates", "curve", "noise")

    def __init__(self, run, boards=None, actions=None, cells=None):
        if not hasattr(run.network, "lookups"):
            raise ValueError(f"{run.network.name} has no tables whose entries could be followed")
        self.run = run
        self._keeps = tuple(run.memory)
        super().__init__(run.network, boards, cells=cells)
        turns = zip(self.boards, map(np.uint64, self._words))
        places = [self.network.places(board, 0, word) for board, word in turns]
        self.traces = Traces(run, None if run.network.size <= FEW else np.unique(places))
        self._noise = self._below_noise()
        if actions is not None:
            self.train(actions)

    def train(self, actions, moments=MOMENTS, progress=True):
        """Train on by so many actions, and write the entries down so often, more often at first."""
        begin = self.run.actions
        shares = (np.arange(1, moments + 1) / moments) ** 2
        ends = np.unique(begin + np.maximum(1, np.round(actions * shares)).astype(int))
        with progress_bar(progress, self.run, "actions", int(actions)) as show:
            for end in ends:
                self.run.go(actions=int(end) - self.run.actions, progress=False)
                self.traces.take()
                show()
        self._noise = self._below_noise()
        self.send({"kind": "changed"})
        self._draw_again()

    def _look(self, cells, board, action, word):
        """Return what a tuple reads, and how that entry went.

        'rates': of the eight entries now, None without 'E' and 'A' among what the rule keeps;
        'curve': {'actions', 'weight', what the rule keeps, and 'rate' where these are 'E' and 'A':
        lists of numbers, None while the entry was untouched}, or None for one not followed;
        'noise': what `noise` returns.
        """
        found = super()._look(cells, board, action, word)
        found |= {"curve": None, "rates": None, "noise": self.noise()}
        if found["table"] is not None:
            places = self.network.places(board, action, word)[8 * found["table"] :][:8]
            curve = self.traces.curve(places[found["place"]])
            found["curve"] = curve and self._named(curve)
            kept = {name: numbers.at(places).tolist() for name, numbers in self.run.memory.items()}
            visits = list(map(int, kept["visits"])) if "visits" in kept else None
            found |= {"visits": visits, "rates": _rates(kept)}
        return found

    def noise(self):
        """Return how many rates lie below 1/√visits, as they were written down last: a dict.

        'met': how many of the entries that are followed training has met; 'below': their share
        whose rate `|E| / A` is less than 1/√visits; 'tosses': the share that would be there if each
        error were the toss of a coin, +1 or −1.  None without 'E', 'A' and 'visits'.
        """
        return self._noise

    def _below_noise(self):
        if not {"E", "A", "visits"} <= set(self._keeps):
            return None
        kept = dict(zip(self._keeps, self.traces.now[:, 1:].T))
        met = kept["A"] > 0
        counts = kept["visits"][met].astype(np.int64)
        if not len(counts):
            return {"met": 0, "below": 0.0, "tosses": 0.0}
        below = np.abs(kept["E"][met]) / kept["A"][met] < counts**-0.5
        each, times = np.unique(counts, return_counts=True)
        tosses = np.average(tosses_below(each), weights=times)
        return {"met": len(counts), "below": float(below.mean()), "tosses": float(tosses)}

    def _named(self, curve):
        actions, weight, *kept = curve
        named = {"actions": actions, "weight": weight, **dict(zip(self._keeps, kept))}
        if rates := _rates(named):
            named["rate"] = rates
        if "visits" in named:
            named[NOISE] = [n**-0.5 if n else None for n in named["visits"]]
        return named

    # ------------------------------------------------------------ the browser

    def _charts(self):
        """Return the charts: {'title', 'lines': of a curve, 'most': the largest y or None, 'steep':
        whether y can be logarithmic, as it is at first}."""
        kept, charts = set(self._keeps), []
        if {"E", "A"} <= kept:
            lines = ["rate", NOISE] if "visits" in kept else ["rate"]
            charts += [("its rate |E| / A", lines, 1, True)]
            charts += [("E and A, in points", ["E", "A"], None, False)]
        charts += [("its weight, in points", ["weight"], None, False)]
        charts += [(name, [name], None, False) for name in self._keeps if name not in ("E", "A")]
        return [dict(zip(("title", "lines", "most", "steep"), chart)) for chart in charts]

    def _counted(self):
        if "visits" in self._keeps:
            return {"are": True, "words": VISITS, "word": "visits"}
        return {"are": False, "words": "This run keeps no count of how often an entry was visited."}

    # ------------------------------------------------------------ the picture

    def static(self):
        """Return a `Picture` of the tuple on the first board, and of how its entry's rate went."""
        found = self.look()
        told = found["curve"] or {}
        pairs = zip(told.get("actions", []), told.get("rate", []))
        curve = [(actions, 100 * rate) for actions, rate in pairs if rate is not None]
        if not curve:
            return super().static()
        curves = draw.curves({"rate": curve}, "actions", "its rate |E| / A in %", width=440)
        said = f"index {thousands(found['index'][found['place']])}\nrate now {curve[-1][1]:.1f} %"
        cells = found["cells"][found["place"]]
        return draw.row([draw.tuple(cells, self.boards[0], caption=said, game=self._grid), curves])


def _rates(kept):
    """Return |E| / A of entries, None where A is 0; None at all for a rule that keeps neither."""
    if {"E", "A"} <= set(kept):
        return [abs(e) / a if a else None for e, a in zip(kept["E"], kept["A"])]
    return None


def tosses_below(counts):
    """Return how likely |E| / A < 1/√n is where n errors are tosses of a coin, +1 or −1.

    counts: int64[k], each n at least 1.  Of n tosses A = n and E is the difference of heads and
    tails: |E| < √n, which comes near 68 % for a large n.
    """
    binom = package("scipy.stats").binom
    middle, half = counts / 2, np.sqrt(counts) / 2  # of the number of heads
    first, last = np.floor(middle - half), np.ceil(middle + half) - 1
    return binom.cdf(last, counts, 0.5) - binom.cdf(first, counts, 0.5)


# ---------------------------------------------------------------- what is written down


class Traces:
    """Writes down, at moments of a training, the weights of entries and what is kept beside them.

    run: `Run`; places: uint32, sorted, where the entries lie in the weights; None: all of them.
    Only what has changed since the last moment takes memory.
    """

    def __init__(self, run, places=None):
        self._run, self._places, self.actions, self._moments = run, places, [], []
        self._last = np.float32(0)
        self.take()

    now = property(lambda self: self._last, doc="The numbers written down last: a row an entry.")

    def take(self):
        """Write down how the entries stand now."""
        places = slice(None) if self._places is None else self._places
        kept = [numbers.at(places) for numbers in self._run.memory.values()]
        numbers = np.stack([self._run.network.weights[places], *kept], axis=1)
        changed = np.flatnonzero((numbers != self._last).any(axis=1))
        self._moments.append((changed.astype(np.uint32), numbers[changed]))
        self.actions.append(int(self._run.actions))
        self._last = numbers

    def curve(self, place):
        """Return how an entry went: [actions, weights, what is kept …], None if not followed.

        place: where its weight lies.  Each is a list of numbers, None where it was untouched.
        """
        at = int(place)
        if self._places is not None:
            at = int(np.searchsorted(self._places, place))
            if at == len(self._places) or self._places[at] != place:
                return None
        return [self.actions, *map(list, zip(*self._rows(at)))]

    def _rows(self, at):
        row = [None] * self._last.shape[1]
        for changed, numbers in self._moments:
            found = np.searchsorted(changed, at)
            if found < len(changed) and changed[found] == at:
                row = numbers[found].tolist()
            yield row
