"""How far a network's games come, and what it expects on the way.

A turn adds a 2 or a 4 to the sum of the tiles and no merge changes it, so the sum says how far a
game has come, whatever its score.  A full chain (see `wall`) is built from its largest tile down:
`CHAIN` has the sums of its first tiles.
"""

import numpy as np
import pandas as pd

from lib2048.course.recorded import read_table
from lib2048.course.wall import share_interval
from lib2048.game.frontier import tile_sums
from lib2048.play.evaluation import TEST_SEED
from lib2048.play.experience import collect
from lib2048.play.players import SearchPlayer
from lib2048.play.statistics import mean_ci95

EVERY = 1024  # of the sum, from one row to the next
KIND = ["network", "actions", "plies"]
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
    sums, returns = tile_sums(played.afterstates), played.returns
    firsts = [
        start + np.searchsorted(sums[start:end], np.arange(0, sums[end - 1] + 1, EVERY))
        for start, end in zip(played.starts, played.ends, strict=True)
    ]
    turns = np.concatenate(firsts)
    mark = EVERY * np.concatenate([np.arange(len(one)) for one in firsts])
    values = network.values(played.afterstates[turns]).astype(np.float64)
    found = pd.DataFrame({"sum": mark, "value": values, "truth": returns[turns]})
    rows = found.groupby("sum").agg(games=("value", "size"), value=("value", "mean"),
                                    truth=("truth", "mean"))  # fmt: skip
    errors = (found["value"] - found["truth"]).groupby(found["sum"]).apply(mean_ci95)
    rows["error"], rows["half_error"] = zip(*errors)
    rows.insert(1, "share", rows["games"] / games)
    return rows.reset_index()


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
            share = passed / stood if stood else np.nan
            told.append((*kind, name, stood, passed, share, *share_interval(passed, stood)))
    return pd.DataFrame(told, columns=[*KIND, "to", "stood", "passed", "share", "low", "high"])


def recorded_survival():
    """Return what is recorded of networks, as `survival` has it: data/curves/survival.

    Before its columns stand network, actions (that it learned from), plies and of (games).
    """
    return read_table("curves/survival")
