"""A player's regret: what a table promises of positions, less what the player makes of them.

A table of fixed large tiles is a lower bound on what perfect play makes of a position, so a regret
may be below 0 where a player moves a large tile to its advantage.
"""

import numpy as np

from lib2048.endgame.table import look_up
from lib2048.game.batch import as_boards
from lib2048.machine.extras import package
from lib2048.machine.kernels import kernel
from lib2048.play.evaluation import TEST_SEED
from lib2048.play.statistics import mean_ci95
from lib2048.ruler.rollouts import rollouts


def optimum(tables, boards):
    """Return what the first of some tables that knows a board promises of it: float64[n].

    It is nan where none does.  tables: each a `Table`; boards: uint64[n].
    """
    boards = as_boards(boards)
    found = np.full(len(boards), np.nan)
    for table in tables:
        _optimum(table.look, boards, found)
    return found


@kernel
def _optimum(look, boards, found):
    chances = np.empty(4)
    for i in range(len(boards)):
        if np.isnan(found[i]) and look_up(look, boards[i], chances):
            found[i] = 0.0
            for chance in chances:
                if chance > found[i]:  # never for nan
                    found[i] = chance


def measure(who, ruler, numbers, optimum, times=200, seed=TEST_SEED, threads=1):
    """Let a player play on from some positions of a `Ruler`; return a frame, a row for each.

    Its columns: position (the number), formation, free (the sum of the tiles below the target),
    optimum, times, made (how often the player made the target).

    Args:
        who: a player.
        numbers: int64[n], of the positions, see `Ruler.sample`.
        optimum: float64[n], of each, see `optimum`.
        times, seed, threads: as in `rollouts`.
    """
    made = rollouts(who, ruler.boards[numbers], ruler.target, times, seed, threads)
    formations = np.array(ruler.formations)[ruler.formation[numbers]]
    columns = {"position": numbers, "formation": formations, "free": ruler.free[numbers]}
    columns |= {"optimum": optimum, "times": times, "made": made}
    return package("pandas").DataFrame(columns)


def summed(rows, by=()):
    """Return the mean regret of groups of `measure`'s rows, with its 95 % interval.

    The positions are the sample: their spread holds the luck of the games, too.

    Args:
        rows: a frame as `measure` returns it.
        by: names of columns, or arrays and so on that pandas groups by; without, all are one group.

    Returns:
        a frame with the columns positions, optimum, success, regret and half (half the width of the
        interval).
    """
    rows = rows.assign(success=rows["made"] / rows["times"])
    rows = rows.assign(regret=rows["optimum"] - rows["success"])
    groups = rows.groupby(by, observed=True) if len(by) else [("all", rows)]
    found = {name: _summed(group) for name, group in groups}
    return package("pandas").DataFrame.from_dict(found, orient="index")


def _summed(group):
    found = {"positions": len(group)}
    found |= {name: group[name].mean() for name in ("optimum", "success", "regret")}
    return found | {"half": mean_ci95(group["regret"])[1]}
