"""Which positions are trained together: the batch modes of Matsuzaki (2021, Experiment 1).

Self-play puts positions with their targets into a queue; a mode says when the trainer takes some:

* game: all positions of a game, when it is over.
* batch1K, batch64, batch256, …: so many, as soon as they are there.
* shuffle1K, shuffle64, …: five times so many, shuffled, as five batches.
* position: one at a time.

A policy network learns from whole games: games10 is ten of them at once (Amar & Dedieu 2017).
"""

import re
from typing import NamedTuple

import numpy as np

from lib2048.game.rng import stream
from lib2048.machine.arrays import Form, check_arrays

SHUFFLED = 5  # batches that are shuffled together
GAMES_OF_THE_PAPER = 5  # its generators
MOST_IN_STEP = 256


class Mode(NamedTuple):
    """A batch mode: how many positions a batch has (0: a game's), and how many are shuffled."""

    size: int
    together: int = 1

    @property
    def games(self):
        """How many games are played in step, where nothing else is said."""
        return min(MOST_IN_STEP, self.size) if self.size else GAMES_OF_THE_PAPER


def parse(name, kind="value"):
    """Return the `Mode` of a name, for a kind of network.

    Raises ValueError, in one line, for another.
    """
    if kind == "policy":
        found = re.fullmatch("games([1-9][0-9]{0,5})", str(name))
        if not found or found[1] == "1":
            raise ValueError(
                f"unknown batch {name!r}: a policy network learns from games, two or "
                "more at once, such as games10"
            )
        return Mode(int(found[1]))
    if name in ("game", "position"):
        return Mode(int(name == "position"))
    found = re.fullmatch(r"(batch|shuffle)([1-9][0-9]{0,8})(K?)", str(name))
    if not found:
        raise ValueError(
            f"unknown batch {name!r}: use game, position, batch1K, batch64, "
            "shuffle1K, shuffle64, or another number of positions"
        )
    kind, number, thousands = found.groups()
    size = int(number) * (1024 if thousands else 1)
    return Mode(size, SHUFFLED if kind == "shuffle" else 1)


class Queue:
    """Positions with their targets that wait to be trained.

    boards: uint64[n]; targets: float32[n]; places: int64[n], the place of each one's game.
    """

    def __init__(self, mode, seed):
        self.mode, self.seed, self.taken = mode, seed, 0
        self.boards, self.targets = np.zeros(0, np.uint64), np.zeros(0, np.float32)
        self.places = np.zeros(0, np.int64)

    def add(self, boards, targets, places):
        """Append positions, in the order of their games' places."""
        self.boards = np.concatenate([self.boards, boards])
        self.targets = np.concatenate([self.targets, np.asarray(targets, np.float32)])
        self.places = np.concatenate([self.places, places])

    def ready(self, over):
        """Yield (boards, targets) of all batches that are complete, and take them out.

        over: int64[k], the places where a game has ended.
        """
        if not self.mode.size:
            yield from (self._take(self.places == place) for place in over)
            return
        together, whole = self.mode.together, self.mode.size * self.mode.together
        while len(self.boards) >= whole:
            taken = self._take(np.arange(len(self.boards)) < whole)
            if together > 1:
                luck = np.random.default_rng(int(stream(self.seed, -2 - self.taken)))
                order = luck.permutation(whole)
                taken = [array[order] for array in taken]
            yield from zip(*(np.split(array, together) for array in taken))

    def _take(self, which):
        self.taken += 1
        waiting, rest = (self.boards, self.targets, self.places), ~which
        self.boards, self.targets, self.places = (array[rest] for array in waiting)
        return [array[which] for array in waiting[:2]]

    def state(self):
        """Return all that a resume needs, as a dict of arrays."""
        return {
            "queue_boards": self.boards,
            "queue_targets": self.targets,
            "queue_places": self.places,
            "queue_taken": np.array(self.taken),
        }

    def check(self, state, path):
        """Raise ValueError, in one line, where arrays are not what `state` returns."""
        check_arrays(state, {"queue_boards": Form("uint64", (None,))}, path)
        count = state["queue_boards"].shape
        forms = {"queue_targets": Form("float32", count), "queue_places": Form("int64", count, 0)}
        check_arrays(state, forms | {"queue_taken": Form("i u", (), 0)}, path)

    def restore(self, state):
        """Take up what `state` returned, and `check` has seen."""
        self.boards, self.targets = state["queue_boards"], state["queue_targets"]
        self.places, self.taken = state["queue_places"], int(state["queue_taken"])
