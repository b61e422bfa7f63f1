"""hw03: a game without an end, and what value iteration finds."""

import handins
import pytest

from lib2048.course.labs import checks
from lib2048.course.labs.exercise import find
from lib2048.course.labs.hw03 import afterstates_of, answers
from lib2048.game import mdp
from lib2048.machine.child import source_of


def test_a_game_that_never_ends_is_told():
    turn = "q_update(Q, state, action, reward, following, alpha)\n        state = following"
    handins.said("hw03", "q_game", (turn, "pass"), "not_called")


def test_value_iteration_finds_the_value_of_a_game():
    V, sweeps = answers.value_iteration(afterstates_of(2, 2)[::-1])
    worth = sum(
        p * max(r + V[s] for s, r in mdp.choices(state).values()) for p, state in mdp.starts(2, 2)
    )
    assert sweeps == 2 and worth == pytest.approx(66.9641, abs=1e-4)


def weary(V, turns, alpha):
    for (_, after), (reward, following) in zip(turns, turns[1:]):
        V[after] += alpha * (reward + V[following] - V[after])
        alpha *= 0.9
    V[turns[-1][1]] -= alpha * V[turns[-1][1]]


@pytest.mark.parametrize("seed", range(2048, 2056))
def test_what_is_wrong_in_some_cases_in_other_places_is_told_in_words(seed):
    result = checks.check_text(find("hw03.td0"), source_of({"function": weary}), None, seed)
    assert result.status == "failed" and "broadcast" not in str(result)


def test_an_action_that_was_never_learned_is_worth_0():
    new = "for other in mdp.choices(following) if (following, other) in Q)"
    result = handins.check_changed("hw03.q_update", ("for other in mdp.choices(following))", new))
    assert result.status == "failed", result
