"""How much training fits into the time that a lesson has on this machine."""

import math
import os
import time

from lib2048.course.parameters import watch
from lib2048.learn.games import Games, method_of
from lib2048.machine.terminal import say

FIRST = 1000  # actions, to warm up
LOOKS = 4
PIECE = 20_000  # actions between two looks at the clock
ROWS = 100_000


class Budget(int):
    """A number of actions; `enough` says whether a lesson's text holds for so few."""

    enough = True


def actions_in(seconds, network, floor=0):
    """Return about how many actions of training on a network fit into seconds on this machine.

    It plays (and does not learn) for a fifth of a second, takes the best of four looks, and rounds
    to two digits.

    Args:
        floor: the actions below which a lesson's text is not promised; then it says so, and the
            result's `enough` is False, so that the lesson can draw the recorded curve instead.

    Returns:
        `Budget`, an int.
    """
    games = Games(network, method_of(network), 0)
    games.play(FIRST, ROWS)
    budget = Budget(_two_digits(0.8 * seconds * max(_rate(games) for _ in range(LOOKS))))
    budget.enough = budget >= floor
    if not budget.enough:
        say(_warning(budget, floor))
    return budget


def _rate(games):
    """Return the actions a second of play, looked at for a twentieth of a second."""
    begin, before = time.perf_counter(), games.actions
    while time.perf_counter() - begin < 0.05:
        games.play(games.actions + PIECE, ROWS)
    return (games.actions - before) / (time.perf_counter() - begin)


def budget(full, quick):
    """Return a lesson's budget: `full`, times LIB2048_BUDGET, or `quick` in the tests.

    The variable scales all budgets of a lesson: 2 gives a slow machine twice the time.

    Args:
        full, quick: seconds, actions or games, both int or both float; an int stays one, at least
            1.
    """
    watch()  # what papermill is given for it
    if _quick():
        return quick
    return max(1, round(full * scale())) if isinstance(full, int) else full * scale()


def as_written():
    """Say whether a lesson's budgets are no smaller than those that its text was written for."""
    return not _quick() and scale() >= 1


def _quick():
    return bool(os.environ.get("LIB2048_QUICK"))


def scale():
    """Return the factor on all budgets of lessons: LIB2048_BUDGET, 1 where that is not set.

    Raises ValueError for anything but a number above 0.
    """
    text = os.environ.get("LIB2048_BUDGET", "1")
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 < factor < math.inf:
        raise ValueError(f"LIB2048_BUDGET={text}: use a number above 0, such as 0.5 or 2")
    return factor


def _two_digits(actions):
    digits = max(0, int(math.log10(max(actions, 1))) - 1)
    return max(1, int(round(actions, -digits)))


def _warning(budget, floor):
    return (
        f"{budget:,} actions fit into the time of this lesson here, and its text was written for "
        f"{floor:,} or more.  What you see may differ from what it says: the recorded curves show "
        "what it means.  LIB2048_BUDGET=4 gives every run four times the time."
    )
