"""hw04's marks for training: what a student's functions reach under the grader's own luck.

The functions are trained anew, from nothing, whatever weights were handed in.  What they reach is
compared with five seeds of the library at the same number of games.
"""

import csv
import functools
import os
import statistics

from lib2048.course.labs.checks import lab_seed
from lib2048.course.labs.hw04.training import Training
from lib2048.course.labs.messages import say
from lib2048.course.labs.result import Failed
from lib2048.machine.child import source_of
from lib2048.machine.data import data
from lib2048.networks.names import game_of

NAMES = "select_best_move", "update_episode"
SPREAD = {4: 0.03, 3: 0.075}  # by rows; measured: 0.011 and 0.033 of the mean, at 20 000 games
GAMES, QUICK_GAMES = 20_000, 400  # LIB2048_GRADE_GAMES says another number of the recorded ones


def performance(text, network, seed):
    """Train the two functions of a text under the grader's seed; return the score.

    text: of `source_of`, with the keys `NAMES`.  The score is the mean of the second half of the
    training games: 20 000, or LIB2048_GRADE_GAMES, one of those in data/curves/hw04_reference.csv.
    Raises `Failed`, in words, where there is no score.
    """
    found = _reached(text, network, grade_games(), seed)
    if isinstance(found, Failed):
        raise found
    return found


@functools.cache  # once for all cells of a grader's
def _reached(text, network, games, seed):
    """Train; return the mean score of the second half, or the `Failed` that says why not."""
    try:
        training = Training(network=network, seed=seed, source=text)
    except ValueError as error:
        return Failed(str(error))
    try:
        if training.stood_in:
            return Failed(say("hw04.performance.not_yours", names=", ".join(training.stood_in)))
        training.go(games, progress=False)
        return float(training.history.scores[games // 2 :].mean())
    except ValueError as error:
        return Failed(str(error))
    finally:
        training.close()


def require_performance(select_best_move, update_episode, level, network="4x6"):
    """Raise `Failed` where functions reach too little; `level_reached` for functions."""
    text = source_of(dict(zip(NAMES, (select_best_move, update_episode))))
    print(level_reached(text, level, network))


def level_reached(text, level, network="4x6", seed=None):
    """Return what two functions reach when they are trained, in words; else raise `Failed`.

    One seed in twenty falls lower than that with functions that are right, so a second seed is
    tried from "most" on.

    Args:
        text: of the functions, see `performance`.
        level: "half" of the reference (the mean of five seeds of the library), "most" (80 %), or
            "full", from two standard deviations of the seeds below it.
        network: that is trained.
        seed: the grader's, by default LIB2048_LAB_SEED or the class's.
    """
    seed = lab_seed() if seed is None else seed
    reference, spread = reference_of(network, grade_games())
    levels = {"half": reference / 2, "most": 0.8 * reference, "full": reference - 2 * spread}
    least = levels[level]
    score = performance(text, network, seed + 1)
    if level == "full" and levels["most"] <= score < least:
        score = performance(text, network, seed + 2)
    words = {"score": f"{score:,.0f}", "least": f"{least:,.0f}", "reference": f"{reference:,.0f}"}
    if not score >= least:
        raise Failed(say("hw04.performance.too_low", **words))
    return say("hw04.performance.reached", **words)


def grade_games():
    """Return how many games the grader trains."""
    if "LIB2048_GRADE_GAMES" in os.environ:
        return int(os.environ["LIB2048_GRADE_GAMES"])
    return QUICK_GAMES if os.environ.get("LIB2048_QUICK") else GAMES


def reference_of(network, games):
    """Return (mean, standard deviation over the seeds) of the library at so many games.

    In a class's own game the deviation is at least that of all its networks: five seeds of one may
    lie close by chance.  Raises ValueError where nothing was recorded.
    """
    with open(data("curves/hw04_reference.csv"), encoding="utf-8", newline="") as file:
        rows = [(row["network"], int(row["games"]), row["mean"]) for row in csv.DictReader(file)]
    means = [float(mean) for *which, mean in rows if which == [network, games]]
    if len(means) < 2:
        raise ValueError(f"no reference was recorded for {network} at {games} games")
    mean, own = statistics.mean(means), "@" in network
    return mean, max(statistics.stdev(means), own * SPREAD[game_of(network).rows] * mean)
