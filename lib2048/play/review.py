"""A game looked at again: what each action cost, in the opinion of a player or by a table."""

from dataclasses import dataclass

import numpy as np

from lib2048.endgame.table import Table
from lib2048.game.board import slide
from lib2048.play.evaluation import scores_after
from lib2048.play.players import game_of, player


@dataclass(frozen=True)
class Review:
    """What somebody thinks of each turn of a game.

    Attributes:
        by: whose opinion it is.
        steps: the n turns, a tuple of `Step`.
        worths: float64[n, 4], reward + value of each action, nan where it is not legal; in points,
            unless the player counts in something else.
        scores: int64[n], the points before each turn.
        unit: "chance" where worths are chances of success, by the table of an endgame.
    """

    by: str
    steps: tuple
    worths: np.ndarray
    scores: np.ndarray
    unit: str = "points"

    @property
    def taken(self):
        """The actions that were taken, int64[n]."""
        return np.array([step.action for step in self.steps], np.int64)

    @property
    def best(self):
        """The actions of the largest worth, the first of equals, int64[n]."""
        return np.nanargmax(self.worths, axis=1)

    @property
    def lost(self):
        """What each action is worth less than the best one, float64[n], 0 for the best itself."""
        taken = np.take_along_axis(self.worths, self.taken[:, None], axis=1)[:, 0]
        return np.nanmax(self.worths, axis=1) - taken

    @property
    def promised(self):
        """The score before each turn + the worth of its best action, float64[n]; a chance alone."""
        best = np.nanmax(self.worths, axis=1)
        return best if self.unit == "chance" else self.scores + best

    def worst(self, count=3):
        """Return the numbers of the turns that lost most, at most so many, the worst one first.

        Turns that lost nothing are left out.
        """
        lost = self.lost
        order = np.argsort(-lost, kind="stable")[:count]
        return [int(turn) for turn in order if lost[turn] > 0]

    def __repr__(self):
        lost = f"{self.lost.sum():{'.2%' if self.unit == 'chance' else ',.0f'}} lost"
        return f"<review by {self.by}: {len(self.worths):,} turns, {lost}>"


def review(steps, who):
    """Look at a game again, with the eyes of a player.

    Args:
        steps: of `record_game` or `PlayWidget.steps`.  What follows the last action has action
            None.
        who: a player that values actions, a network, a name, the `Table` of an endgame, or a
            function from a board to {action: reward + value}, such as `actions` of what
            `SmallGame.optimal` returns: the truth.

    Returns:
        `Review`.

    Raises:
        ValueError: for a player without values, and for a game that has no turn, is none of the
            player's, or has an action that is not legal.
    """
    turns = tuple(step for step in steps if step.action is not None)
    if not turns:
        raise ValueError("there is nothing to review: no action was taken")
    chances = isinstance(who, Table)
    by, worths = _opinion(who.values if chances else who, turns)
    game = game_of(who)
    for number, (row, step) in enumerate(zip(worths, turns, strict=True)):
        if step.action not in range(4) or np.isnan(row[step.action]):
            why = "keeps no formation on" if chances else "is not legal on"
            raise ValueError(f"turn {number}: {step.action!r} {why} its board")
        after = slide(step.board, step.action, game, step.word)
        if not (chances or callable(who)) and after != (step.afterstate, step.reward):
            raise ValueError(
                f"turn {number}: in {game.name} its action leads elsewhere: ask {by}"
                " about games of its own"
            )
    begun = int(game.rules.points(np.uint64(turns[0].board)))
    scores = [begun, *scores_after(turns, game)[:-1]]
    unit = "chance" if chances else "points"
    return Review(by, turns, worths, np.array(scores, np.int64), unit)


def called(told):
    """Return the name of a function from boards: that of its object, or its own."""
    return getattr(getattr(told, "__self__", None), "name", getattr(told, "__name__", "a table"))


def _opinion(who, turns):
    """Return (whose opinion it is, what the four actions of each turn are worth, nan for none)."""
    if callable(who):
        return called(who), _table(who(step.board) for step in turns)
    who = player(who)
    if not hasattr(who, "values"):
        raise ValueError(f"{who.name} values no actions: ask a network, or the heuristic")
    if hasattr(who, "decide_all"):
        boards = np.array([step.board for step in turns], np.uint64)
        words = np.array([step.word for step in turns], np.uint64)
        return who.name, who.decide_all(boards, words)[1]
    seen = game_of(who).seen
    return who.name, _table(who.values(*seen(step.board, step.word)) for step in turns)


def _table(answers):
    """Return answers, {action: worth} each, as float64[n, 4]."""
    return np.array([[answer.get(action, np.nan) for action in range(4)] for answer in answers])
