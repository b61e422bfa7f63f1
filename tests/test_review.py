"""The review of a game: what each action cost."""

import numpy as np
import pytest
from learners import SMALL, scattered

from lib2048 import Network, SearchPlayer, SmallGame, heuristic_player, record_game
from lib2048.play.evaluation import Step
from lib2048.play.review import review


def test_a_player_has_nothing_to_say_against_its_own_game():
    steps = record_game(scattered(Network(SMALL)), seed=3)
    found = review(steps, scattered(Network(SMALL)))
    assert len(found.worths) == len(steps) - 1 and found.worst() == []
    assert (found.lost == 0).all() and (found.best == found.taken).all()
    assert found.scores[-1] + steps[-2].reward == sum(step.reward for step in steps)
    values = [step.reward + step.value for step in steps[:-1]]
    np.testing.assert_allclose(found.promised - found.scores, values, rtol=1e-6)


def test_the_worst_turns_are_those_that_lose_most_by_the_truth():
    small = SmallGame(2, 2, progress=False)
    steps = record_game("greedy", seed=5, game="2048@2x2")
    truth = small.optimal()
    found = review(steps, truth.actions)
    for turn, step in enumerate(steps[:-1]):
        worths = truth.actions(step.board)
        assert found.lost[turn] == pytest.approx(max(worths.values()) - worths[step.action])
    worst = found.worst(2)
    assert worst == sorted(worst, key=lambda turn: -found.lost[turn])
    assert "optimal" in repr(found)


def step(action):
    return Step(np.uint64(0x11), action, 4, np.uint64(0x2), None)


@pytest.mark.parametrize(
    "steps, who, words",
    [
        ([], "heuristic", "nothing to review"),
        ([step(None)], "heuristic", "nothing to review"),
        ([step(0)], "heuristic", "turn 0: 0 is not legal"),
        ([step(7)], "heuristic", "turn 0: 7 is not legal"),
        ([step(1)], "greedy", "greedy values no actions"),
        ([step(1)], "nobody", "unknown player"),
    ],
)
def test_what_cannot_be_reviewed_is_said(steps, who, words):
    with pytest.raises(ValueError, match=words):
        review(steps, who)


@pytest.mark.parametrize("game", ["threes", "2048@3x3"])
def test_a_game_of_others_is_not_judged(game):
    steps = record_game("greedy", seed=2, game=game)
    with pytest.raises(ValueError, match="turn .: in 2048.* leads elsewhere"):
        review(steps, scattered(Network(SMALL)))


@pytest.mark.parametrize(
    "who",
    [heuristic_player(), *(SearchPlayer(scattered(Network(SMALL)), plies) for plies in (1, 2, 3))],
    ids=repr,
)
def test_a_search_is_asked_about_all_turns_at_once(who, monkeypatch):
    steps = record_game("greedy", seed=4)[-60:]
    one_by_one = [who.values(step.board) for step in steps[:-1]]
    monkeypatch.setattr(SearchPlayer, "decide", None)
    worths = review(steps, who).worths
    for row, values in zip(worths, one_by_one, strict=True):
        assert values == {
            a: pytest.approx(worth, rel=1e-6, abs=0.1)
            for a, worth in enumerate(row)
            if not np.isnan(worth)
        }


def test_a_search_is_told_no_more_than_a_player_sees():
    """In Threes! the word holds which cards are left, and a player sees the next one alone."""
    who = SearchPlayer(scattered(Network(f"{SMALL}@threes")), 2)
    steps = record_game("greedy", seed=2, game="threes")
    worths = review(steps, who).worths
    seen = [who.values(*who.game.seen(step.board, step.word)) for step in steps[:-1]]
    assert [row[~np.isnan(row)].tolist() for row in worths] == [
        pytest.approx([*values.values()], abs=0.01) for values in seen
    ]
