"""What a page gets of a reviewed game, and the picture that stands for it."""

import numpy as np

from lib2048.game import board as rules
from lib2048.game.spec import ACTIONS
from lib2048.machine.printed import set_apart, thousands
from lib2048.play.evaluation import shown
from lib2048.play.review import review
from lib2048.show import draw
from lib2048.show.widgets.game import finite, to_hex
from lib2048.show.widgets.game import told as game_told

OTHERWISE = ("heuristic",)  # who counts in something else than points
WORST = 3  # are drawn
POINTS = 400  # of a curve in the picture


def reviewed(steps, who, game):
    """Return (the `Review` of a game, what reviewed.js shows of it)."""
    steps = list(steps)
    found = review(steps, who)
    here, scores = list(found.steps), found.scores.tolist()
    if steps[-1].action is None:  # the end has a board, too
        here.append(steps[-1])
        last = found.steps[-1]
        pays = int(game.rules.points(np.uint64(steps[-1].board)))
        scores.append(pays or scores[-1] + int(last.reward))
    boards = [shown(step, game)[0] for step in here]
    digits = 6 if found.unit == "chance" else 3
    worths = [[finite(worth) for worth in row] for row in found.worths.round(digits).tolist()]
    return found, {
        "by": found.by, "game": game_told(game), "scores": scores, "worths": worths,
        "boards": "".join(to_hex(rules.parts(board)[0]) for board in boards),
        "words": [int(rules.parts(board)[1]) for board in boards],
        "actions": "".join(str(int(step.action)) for step in found.steps),
        "points": found.by not in OTHERWISE,
    }  # fmt: skip


def less(lost):
    """Write what an action is worth less than the best: "best", "−108", "−0.50"."""
    return set_apart(f"{-lost:,.{2 if lost < 10 else 0}f}") if lost else "best"


def picture(found, game, width=520):
    """Return a `Picture` of a review: the course of the game, and the worst of its actions."""
    every = max(1, len(found.steps) // POINTS)
    lines = {"expected at the end": found.promised, "so far": found.scores}
    if found.by in OTHERWISE:
        del lines["expected at the end"]
    if found.unit == "chance":
        lines = {"chance of success": found.promised}
    drawn = {name: [*enumerate(line.tolist(), 1)][::every] for name, line in lines.items()}
    course = draw.curves(drawn, "actions", f"{found.unit}, as {found.by} sees it", width=width)
    worst = found.worst(WORST)
    turns = worst or [len(found.steps) - 1]
    boards = [shown(found.steps[turn], game)[0] for turn in turns]
    captions = [_caption(found, turn) for turn in turns]
    boards = draw.row(boards, captions, size=150, width=width, game=game)
    picture = draw.row([course, boards], width=1)  # one below the other
    best, count = thousands((found.lost == 0).sum()), thousands(len(found.lost))
    said = f"A reviewed game: {best} of {count} actions were the best"
    picture.text = f"{said}; {course.text}; the worst actions: {boards.text}"
    return picture


def _caption(found, turn):
    taken, best = ACTIONS[found.taken[turn]], ACTIONS[found.best[turn]]
    lost = found.lost[turn]
    verdict = f"{taken}: " + (f"−{lost:.1%}" if found.unit == "chance" and lost else less(lost))
    return f"action {thousands(turn + 1)}\n{verdict}" + (f"\nbest: {best}" if best != taken else "")
