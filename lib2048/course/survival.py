"""How far a network's games come, and what it expects on the way.

A turn adds a 2 or a 4 to the sum of the tiles and no merge changes it, so the sum says how far a
game has come, whatever its score.  A full chain (see `wall`) is built from its largest tile down:
`CHAIN` has the sums of its first tiles.
"""

import numpy as np
import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.course.wall import passing
from lib2048.game.frontier import tile_sums
from lib2048.play.evaluation import TEST_SEED
from lib2048.play.experience import collect, rollouts
from lib2048.play.players import SearchPlayer
from lib2048.play.statistics import mean_ci95

EVERY = 1024  # of the sum, from one row to the next
GAMES, MOST_GAMES = 100, 10_000  # that are played at a time, and in all, to find boards
KIND = ["network", "actions", "plies"]
CALLED = {  # a network's name in the tables: how it learned
    "42-33": "one stage",
    "one_stage": "one stage",
    "promotion": "promotion",
    "42-33-stages": "carousel",
}
CHAIN = {"16384": 16384, "and 8192": 24576, "and 4096": 28672, "and 2048": 30720}


def survival(network, plies=1, games=1000, seed=TEST_SEED):
    """Return how many of a network's games come how far, and how wrong its values are there.

    Args:
        network: `Network` of afterstates of 2048.
        plies, games, seed: how they are played; game n has the luck of (seed, n).

    Returns:
        DataFrame: a row a sum of tiles, from 0 on in steps of `EVERY`, as far as a game came: sum;
        games (that came there) and share (of all); value and truth (means over these games: what
        the network says of the first afterstate with that sum or more, and the points that were
        still made after it); error (value − truth) and half_error (half of its 95 % interval, with
        the games as the sample; infinite for one game).
    """
    played = collect(SearchPlayer(network, plies, halve=False), games, seed)
    firsts = _firsts(played, EVERY)
    turns = np.concatenate(firsts)
    mark = EVERY * np.concatenate([np.arange(len(one)) for one in firsts])
    values = network.values(played.afterstates[turns]).astype(np.float64)
    found = pd.DataFrame({"sum": mark, "value": values, "truth": played.returns[turns]})
    rows = found.groupby("sum").agg(games=("value", "size"), value=("value", "mean"),
                                    truth=("truth", "mean"))  # fmt: skip
    errors = (found["value"] - found["truth"]).groupby(found["sum"]).apply(mean_ci95)
    rows["error"], rows["half_error"] = zip(*errors)
    rows.insert(1, "share", rows["games"] / games)
    return rows.reset_index()


def _firsts(played, step):
    """Return the turns at which each game's sum first is 0, step, 2·step, … or more."""
    sums, games = tile_sums(played.afterstates), zip(played.starts, played.ends, strict=True)
    return [
        start + np.searchsorted(sums[start:end], np.arange(0, sums[end - 1] + 1, step))
        for start, end in games
    ]


def continued(network, mark, boards=100, times=2, plies=3, seed=TEST_SEED):
    """Return what play at 1-ply and a search make of the same boards: a DataFrame of one row.

    The boards are the first of a sum of tiles, each of another of the network's games at 1-ply.

    Args:
        network: `Network` of afterstates of 2048.
        mark: the sum of tiles.
        boards: how many, one a game.
        times: games that each player plays on from each board, with luck of its own.
        plies: of the search.
        seed: of the games, a hundred at a time: the n-th after k hundreds has the luck of
            (seed + 100·k, n).

    Returns:
        DataFrame: sum, boards; simple and searched (the mean of the points still made), difference
        (searched − simple), and half_… of each, half of its 95 % interval, with the boards as the
        sample.

    Raises:
        ValueError: where too few of `MOST_GAMES` games come there.
    """
    found, games = [], 0
    while len(found) < boards:
        if games >= MOST_GAMES:
            raise ValueError(f"{len(found)} of {games} games come to {mark}: choose a lower sum")
        part = collect(SearchPlayer(network, 1, halve=False), GAMES, seed + games)
        found += [part.afterstates[one[1]] for one in _firsts(part, mark) if len(one) > 1]
        games += GAMES
    found = np.array(found[:boards], np.uint64)
    points = {
        name: rollouts(SearchPlayer(network, depth, halve=False), found, times, seed + depth)
        for name, depth in (("simple", 1), ("searched", plies))
    }
    points["difference"] = points["searched"] - points["simple"]
    row = {"sum": mark, "boards": boards}
    for name, made in points.items():
        row[name], row[f"half_{name}"] = mean_ci95(made)
    return pd.DataFrame([row])


def stretches(rows, marks=CHAIN):
    """Return how many games come from each mark to the next: a DataFrame, a row a stretch.

    Columns: network, actions and plies; to (the name of the later mark); stood (games that came to
    the one before), passed (those that came to this one), share, and low and high, its 95 %
    interval by Clopper and Pearson, with the games as the sample.

    Args:
        rows: as `recorded_survival` returns them.
        marks: {name: sum of tiles}, multiples of `EVERY`.
    """
    told = []
    for kind, own in rows.groupby(KIND, sort=False):
        games = own.set_index("sum")["games"].reindex(marks.values(), fill_value=0)
        for name, stood, passed in zip([*marks][1:], games[:-1], games[1:], strict=True):
            told.append((*kind, name, *passing(stood, passed)))
    return pd.DataFrame(told, columns=[*KIND, "to", "stood", "passed", "share", "low", "high"])


def recorded_survival():
    """Return what is recorded of networks, as `survival` has it: data/curves/survival.

    Before its columns stand network (as `CALLED` says), actions (that it learned from), plies and
    of (games).
    """
    rows, order = read_table("curves/survival").replace({"network": CALLED}), [*CALLED.values()]
    return rows.sort_values("network", key=lambda names: names.map(order.index), kind="stable")


def recorded_continued():
    """Return what is recorded of networks, as `continued` has it: data/curves/continued.

    Before its columns stand network (as `CALLED` says), actions (that it learned from) and plies
    (of the search), after them times.
    """
    return read_table("curves/continued").replace({"network": CALLED})
