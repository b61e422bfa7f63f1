"""hw03: a game without an end, and what value iteration finds."""

import handins
import pytest

from lib2048.course.labs.hw03 import afterstates_of, answers
from lib2048.game import mdp


def test_a_game_that_never_ends_is_told():
    turn = "q_update(Q, state, action, reward, following, alpha)\n        state = following"
    handins.said("hw03", "q_game", (turn, "pass"), "not_called")


def test_value_iteration_finds_the_value_of_a_game():
    V, sweeps = answers.value_iteration(afterstates_of(2, 2)[::-1])
    worth = sum(
        p * max(r + V[s] for s, r in mdp.choices(state).values()) for p, state in mdp.starts(2, 2)
    )
    assert sweeps == 2 and worth == pytest.approx(66.9641, abs=1e-4)
