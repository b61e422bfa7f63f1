"""How entries of a network go through training: their weights, and what TC keeps of them."""

import numpy as np

from lib2048.train.watching import progress_bar

MOMENTS = 60  # of a training, at which its entries are written down
FEW = 1 << 22  # weights: of a network with at most so many, every entry is followed
NOISE = "noise alone: 1/√visits"
EIGHT = "8 to the entries of a tuple, one for each turned or mirrored place"
VISITS = f"Visits: how often training has moved an entry so far. Each afterstate adds {EIGHT}."
NO_VISITS = "This run keeps no count of how often an entry was visited."


class Followed:
    """Along the actions of a run: how entries of its network went through its training.

    run: `Run`; boards, words: whose entries are followed where the network is large.  Charts are
    {'title', 'lines': of a curve, 'most': the largest y, 'steep': whether y is logarithmic first}.
    """

    x = "actions"

    def __init__(self, run, boards, words):
        self.run, self._keeps = run, tuple(run.memory)
        turns = zip(boards, map(np.uint64, words))
        places = [run.network.places(board, 0, word) for board, word in turns]
        self.traces = Traces(run, None if run.network.size <= FEW else np.unique(places))

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

    def told(self, places):
        """Return 'visits' and 'rates' of entries now, None where their rule does not keep them."""
        kept = {name: numbers.at(places).tolist() for name, numbers in self.run.memory.items()}
        visits = {"visits": list(map(int, kept["visits"]))} if "visits" in kept else {}
        return visits | {"rates": _rates(kept)}

    def curve(self, place, *_):
        """Return {'actions', 'weight', what the rule keeps, 'rate' …} of an entry, as lists."""
        if (curve := self.traces.curve(place)) is None:
            return None
        named = dict(zip(("actions", "weight", *self._keeps), curve))
        if rates := _rates(named):
            named["rate"] = rates
        if "visits" in named:
            named[NOISE] = [n**-0.5 if n else None for n in named["visits"]]
        return named

    @property
    def charts(self):
        """What can be drawn, see above."""
        kept, charts = set(self._keeps), []
        if {"E", "A"} <= kept:
            lines = ["rate", NOISE] if "visits" in kept else ["rate"]
            charts += [{"title": "its rate |E| / A", "lines": lines, "most": 1, "steep": True}]
            charts += [{"title": "its E and A, in points", "lines": ["E", "A"]}]
        charts += [{"title": "its weight, in points", "lines": ["weight"]}]
        others = [name for name in self._keeps if name not in ("E", "A")]
        return charts + [{"title": name, "lines": [name]} for name in others]

    @property
    def counted(self):
        """Whether its rule counts visits, and what is said of them."""
        are = "visits" in self._keeps
        return {"are": are, "words": VISITS if are else NO_VISITS, "word": "visits"}


def _rates(kept):
    """Return |E| / A of entries, None where A is 0; None at all for a rule that keeps neither."""
    if {"E", "A"} <= set(kept):
        return [abs(e) / a if a else None for e, a in zip(kept["E"], kept["A"])]
    return None


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
        at = np.uint32(place)  # of any other type, each search would copy what it searches
        if self._places is not None:
            at = np.uint32(np.searchsorted(self._places, place))
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
