"""hw03: what students typically write, and what the check says of it."""

from functools import partial

import handins
import pytest

from lib2048.course import labs
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.hw03 import afterstates_of, answers
from lib2048.game import mdp

said = partial(handins.said, "hw03")


def test_a_backup_without_dead_ends_gets_its_part():
    edits = (", default=0", "")
    assert "ValueError" in handins.check_changed("hw03.backup", edits, "dead ends").reason
    assert handins.check_changed("hw03.backup", edits, "values").passed  # partial credit


WRONG = [
    ("value_iteration", "no_pair", "return V, sweeps", "return V"),
    ("monte_carlo", "returned", "    to_come = 0", "    return V"),
    ("monte_carlo", "turns", "= turns[number]", "= turns.pop()"),
    ("td0", "returned", "    for (_, after)", "    return V\n    for (_, after)"),
    ("backup", "starts_at_0", "max(totals, default=0)", "max(0, max(totals, default=0))"),
]


@pytest.mark.parametrize("name, key, old, new", WRONG)
def test_a_wrong_answer_gets_its_hint(name, key, old, new):
    said(name, (old, new), key)


def monte_carlo(V, visits, turns):
    boards = [after for _, after in turns]
    for number, after in enumerate(boards):
        if boards.index(after) == number:
            visits[after] += 1
            to_come = sum(reward for reward, _ in turns[number + 1 :])
            V[after] = V[after] + (to_come - V[after]) / visits[after]


def td0(V, turns, alpha):
    for number in range(len(turns)):
        target = 0
        if number < len(turns) - 1:
            target = turns[number + 1][0] + V[turns[number + 1][1]]
        V[turns[number][1]] = (1 - alpha) * V[turns[number][1]] + alpha * target


def choose(Q, state, rng, epsilon):
    legal = sorted(mdp.choices(state))
    explore = rng.uniform(0, 1) < epsilon
    return legal[rng.randrange(len(legal))] if explore else max(legal, key=lambda a: Q[state, a])


CHOICES = [
    ("illegal", None, "rng.choice(legal)", "rng.randrange(4)"),
    ("illegal", None, "max(legal", "max(range(4)"),
    ("not_best", "greedy", "< epsilon", "> epsilon"),
    ("reversed", "explore", "< epsilon", "> epsilon"),
    ("never", None, "rng.random() < epsilon", "False"),
    ("without_best", None, "rng.choice(legal)",
     "rng.choice([a for a in legal if a != max(legal, key=lambda a: Q[state, a])])"),
    ("own_luck", None, "rng.choice", "__import__('random').choice"),
    ("with_reward", "greedy", "action: Q", "action: mdp.choices(state)[action][1] + Q"),
    ("known_only", "greedy", "max(legal", "max([a for a in legal if (state, a) in Q] or legal"),
    ("starts_at_0", "greedy", "key=lambda action: Q[state, action]",
     "key=lambda a: Q[state, a] if Q[state, a] > 0 else 0"),
    ("none", "greedy", "    return max", "    max"),
    ("no_action", None, "    return max(legal, key=lambda action: Q[state, action])",
     "    return max(Q[state, action] for action in legal)"),
    ("by_place", "explore", "max(legal, key=lambda action: Q[state, action])", "legal[-1]"),
]  # fmt: skip


@pytest.mark.parametrize("key, part, old, new", CHOICES)
def test_choose(key, part, old, new):
    said("choose", (old, new), key, part)


def test_a_greedy_choice_gets_its_part():
    greedy = ("rng.random() < epsilon", "False")
    assert handins.check_changed("hw03.choose", greedy, part="greedy").passed  # partial credit


def q_update(Q, state, action, reward, following, alpha):
    legal = mdp.choices(following)
    target = reward
    if legal:
        target += max(Q[following, a] for a in legal)
    Q[state, action] = Q[state, action] * (1 - alpha) + alpha * target


def q_game(Q, rng, epsilon, alpha):
    state = mdp.start(2, 2, rng)
    while mdp.choices(state):
        action = choose(Q, state, rng, epsilon)
        after, reward = mdp.choices(state)[action]
        old, state = state, mdp.spawn(after, rng)
        q_update(Q, old, action, reward, state, alpha)


START, LEARNS = "    state = mdp.start", "q_update(Q, state, action, reward, following, alpha)"
GAMES = [
    ("afterstate", "mdp.spawn(after, rng)", "after"),
    ("other_table", START, f"    Q = mdp.Table()\n{START}"),
    ("settings", "rng, epsilon)", "rng, 0)"),
    ("settings", "rng, epsilon)", "rng, 1)"),
    ("part", "while", "if"),
    ("not_called", LEARNS, "Q[after] += alpha * (reward - Q[after])"),
    ("not_called", f"{LEARNS}\n        state = following", "pass"),  # for ever
    ("goes_on_elsewhere", "state = following", "pass"),
    ("goes_on_elsewhere", "state = following", "state = mdp.spawn(after, rng)"),
    ("own_luck", START, f"    rng = __import__('random').Random()\n{START}"),
    ("same_game", START, f"    rng = __import__('random').Random(1)\n{START}"),
    ("spawns", "mdp.spawn(after, rng)", "mdp.next_states(after)[0][1]"),
    ("start", "mdp.start(2, 2, rng)", "mdp.spawn(((0, 0), (0, 0)), rng)"),
    ("one_each", START, f"    turns = []\n{START}", LEARNS, "turns.append((state, action, reward, "
     "following))", "state = following", "state = following\n    for turn in turns[::-1]:\n        "
     "q_update(Q, *turn, alpha)"),
]  # fmt: skip


@pytest.mark.parametrize("key, edits", [(key, edits) for key, *edits in GAMES])
def test_q_game(key, edits):
    said("q_game", edits, key)


def test_value_iteration_finds_the_value_of_a_game():
    V, sweeps = answers.value_iteration(afterstates_of(2, 2)[::-1])
    worth = sum(
        p * max(r + V[s] for s, r in mdp.choices(state).values()) for p, state in mdp.starts(2, 2)
    )
    assert sweeps == 2 and worth == pytest.approx(66.9641, abs=1e-4)


@pytest.mark.parametrize("name", of_lab("hw03"))
def test_every_seed_draws_cases_for_every_part(name):
    exercise = of_lab("hw03")[name]
    assert all(
        exercise.drawn(seed, part, number)
        for seed in range(10)
        for number in range(2)
        for part in exercise.draws
    )


def backup(V, afterstate):
    return sum(
        chance * (max(r + V[s] for s, r in options.values()) if options else 0)
        for chance, options in ((p, mdp.choices(s)) for p, s in mdp.next_states(afterstate))
    )


def value_iteration(afterstates):
    V, sweeps = mdp.Table(), 0
    while True:
        sweeps, old = sweeps + 1, dict(V)
        for after in afterstates:
            V[after] = backup(V, after)
        if all(abs(V[after] - old.get(after, 0)) <= 1e-9 for after in V):
            return V, sweeps


RIGHT = [backup, value_iteration, monte_carlo, td0, choose, q_update, q_game]


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_an_answer_of_ones_own_passes(function):
    assert labs.check(f"hw03.{function.__name__}", function).passed
