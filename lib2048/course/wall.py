"""The wall: the best score of a player's test games, beside what a full chain has paid.

A full chain is one tile each from 32 up to a largest one (lesson 11).  One more 32 merges all of it
up to the next tile; so it is about the most that a game scores without that tile, and the best
games of some learners end there however long they train.
"""

import math

import numpy as np

from lib2048.course.recorded import recorded_tests
from lib2048.machine.extras import package

CHAINS = (8192, 16384, 32768)  # largest tiles
SMALLEST = 32  # of a chain
WITHIN = 0.02  # of what a chain has paid, a best score stands at the wall
LISTS = ("overfitting", "late_1e10", "late", "late_questions", "promotion", "wide", "long")
KEYS = ["list", "run", "network", "stages", "starts", "seed", "actions", "plies", "games"]


def chain_score(tile, four=0.1):
    """Return the points that a full chain up to a tile has paid, expected.

    A tile 2^k of 2s has paid (k − 1)·2^k; a 4 that luck adds spares its builder a merge of 4
    points.

    Args:
        tile: the largest of the chain, a power of two from 32 on.
        four: the chance of a 4; with 0, all tiles are of 2s.
    """
    chain = [1 << k for k in range(SMALLEST.bit_length() - 1, int(tile).bit_length())]
    paid = sum(one * (one.bit_length() - 2) for one in chain)
    return paid - 4 * four / (2 + 2 * four) * sum(chain)


def chains():
    """Return {name: points} of the full chains that best scores are measured by."""
    return {f"full chain to {tile}": chain_score(tile) for tile in CHAINS}


def best_scores(*lists, games=100):
    """Return the best scores of recorded test games beside the nearest full chain: a DataFrame.

    A row a test: list, run, network, stages, starts, seed, actions, plies and games of it, best (of
    its games, in points), chain (the largest tile of that chain), of_chain (best as a share of what
    it has paid), and wall (whether they are within 2 % of each other).

    Args:
        *lists: of data/runs, by default those of the late game.
        games: only tests of so many, since of more games the best is higher; None for all.
    """
    tests = recorded_tests(*(lists or LISTS)).dropna(subset=["max"])
    if games is not None:
        tests = tests[tests["games"] == games]
    paid = np.array([chain_score(tile) for tile in CHAINS])
    best = tests["max"].to_numpy()
    nearest = np.abs(np.log(best[:, None] / paid)).argmin(axis=1)
    of_chain = best / paid[nearest]
    told = {"best": best, "chain": np.array(CHAINS)[nearest], "of_chain": of_chain.round(4)}
    told["wall"] = np.abs(of_chain - 1) < WITHIN
    return tests[KEYS].assign(**told).reset_index(drop=True)


def passes(*lists):
    """Return how many games of the last tests pass a wall once they stand at it: a DataFrame.

    A row a run, depth and chain, of all seeds together, where they were tested last: stood (games
    with its largest tile), passed (games with the tile of twice its size), share, and low and high,
    its 95 % interval by Clopper and Pearson, with the games as the sample.

    Args:
        *lists: as in `best_scores`.
    """
    pd = package("pandas")
    tests = recorded_tests(*(lists or LISTS)).dropna(subset=["reached_16384"])
    keys = ["list", "run", "network", "stages", "actions", "plies"]
    tests = tests[
        tests.groupby(["list", "run", "plies"])["actions"].transform("max") == tests.actions
    ]
    rows = []
    for named, group in tests.groupby(keys, sort=False):
        for tile in CHAINS[:-1]:
            stood, passed = (
                round((group["games"] * group[f"reached_{size}"]).sum())
                for size in (tile, 2 * tile)
            )
            if stood:
                rows.append((*named, tile, *passing(stood, passed)))
    return pd.DataFrame(rows, columns=[*keys, "chain", "stood", "passed", "share", "low", "high"])


def passing(stood, passed):
    """Return (games that stood at a mark, that passed it, their share, its 95 % interval's ends).

    The interval of a share is Clopper and Pearson's; a share of none is nan.
    """
    inverse = package("scipy.special").betaincinv
    low = inverse(passed, stood - passed + 1, 0.025) if passed else 0.0
    high = inverse(passed + 1, stood - passed, 0.975) if passed < stood else 1.0
    return stood, passed, passed / stood if stood else math.nan, float(low), float(high)
