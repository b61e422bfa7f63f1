"""Recorded games to leaf through, in the browser alone."""

from traitlets import Dict, Int, validate

from lib2048.game import board as rules
from lib2048.game.game import parse_game
from lib2048.machine.printed import thousands
from lib2048.play.evaluation import scores_after
from lib2048.play.evaluation import shown as shown_of
from lib2048.show import draw
from lib2048.show.widgets.base import BrowserWidget
from lib2048.show.widgets.game import finite, to_hex, told


class ReplayWidget(BrowserWidget):
    """Leaf through a recorded game, watch it, or click on its curve to jump.

    It shows the board, the action taken, the afterstate and its value (unless that is None), the
    score so far, and the curve of score + value. A last step with action None is the end.

    ``.position`` is the step that is shown, from 0 on; set it to jump.

    Args:
        steps: a list of `Step` (board, action, reward, afterstate, value), as `record_game` returns
            it.
        game: which they are of, a `Game` or its name.

    Raises:
        ValueError: for an empty list, for an action that is none, for boards of another game.
    """

    entry = "replay.js"
    record = Dict().tag(sync=True)
    position = Int(0).tag(sync=True, echo_update=False)
    tells = ("position",)

    def __init__(self, steps, game=rules.WHOLE):
        self.steps, self._game = list(steps), parse_game(game)
        if not self.steps:
            raise ValueError("there are no steps to replay: the list is empty")
        for number, step in enumerate(self.steps):
            if step.action not in (0, 1, 2, 3, None):
                raise ValueError(f"step {number}: {step.action!r} is no action: 0..3, or None")
            rules.to_tiles(step.board, self._game)
        self.scores = scores_after(self.steps, self._game)
        record = _in_json(self.steps, self._game)
        super().__init__(record=record | {"scores": self.scores, "game": told(self._game)})

    def static(self):
        """Return a `Picture` of key moments: the start, the last new largest tiles, the end."""
        after = [shown_of(step, self._game)[1] for step in self.steps]
        largest = [rules.max_exponent(board) for board in after]
        last = len(self.steps) - 1
        new = [i for i in range(1, last) if largest[i] > largest[i - 1]]
        shown = sorted({0, *new[-4:], last})
        over = self.steps[last].action is None
        names = ["the end" if over and i == last else f"action {i + 1}" for i in shown]
        captions = [f"{name}\nscore {thousands(self.scores[i])}" for name, i in zip(names, shown)]
        boards = [after[i] for i in shown]
        return draw.row(boards, captions, size=140, width=520, game=self._game)

    @validate("position")
    def _in_the_game(self, proposal):
        return max(0, min(proposal["value"], len(self.steps) - 1))


def _in_json(steps, game):
    """Return what replay.js shows of a game: boards as one text, 16 hexadecimal digits each.

    words, afterwords: of the states and of the afterstates, whose 65536 these digits do not hold.
    """
    values = (step.value for step in steps)
    return {
        "boards": "".join(to_hex(step.board) for step in steps),
        "afterstates": "".join(to_hex(step.afterstate) for step in steps),
        "words": [int(getattr(step, "word", 0)) for step in steps],
        "afterwords": [int(rules.parts(shown_of(step, game)[1])[1]) for step in steps],
        "actions": [None if step.action is None else int(step.action) for step in steps],
        "rewards": [int(step.reward) for step in steps],
        "values": [value and round(value, 3) for value in map(finite, values)],
    }
