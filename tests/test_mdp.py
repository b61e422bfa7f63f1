"""The game as a decision process: the rules of `spec`, as tuples."""

import random
from collections import Counter

import pytest

from lib2048 import SmallGame, mdp, spec

BOARD = ((2, 2, 4), (0, 8, 8))


def test_choices_are_the_legal_slides():
    expected = {a: spec.slide(BOARD, a) for a in spec.legal_actions(BOARD)}
    assert mdp.choices(BOARD) == {a: (mdp.frozen(s), r) for a, (s, r) in expected.items()}
    assert mdp.choices(((2, 4), (4, 2))) == {}


def test_next_states_are_what_spawns():
    after = ((4, 0), (0, 8))
    outcomes = mdp.next_states(after)
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    chances = {state: chance for chance, state in outcomes}
    assert chances[(4, 2), (0, 8)] == pytest.approx(0.45)
    assert chances[(4, 0), (4, 8)] == pytest.approx(0.05)
    rng = random.Random(1)
    seen = Counter(mdp.frozen(spec.spawn(after, rng)) for _ in range(2000))
    assert set(seen) == set(chances)


def test_drawn_as_often_as_likely():
    after, rng = ((4, 0), (0, 8)), random.Random(2)
    seen = Counter(mdp.spawn(after, rng) for _ in range(20_000))
    for chance, state in mdp.next_states(after):
        assert abs(seen[state] / 20_000 - chance) < 5 * (chance / 20_000) ** 0.5


def test_starts():
    outcomes = mdp.starts(2, 3)
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    assert len(outcomes) == len({state for _, state in outcomes}) == 15 * 4
    rng = random.Random(3)
    assert {mdp.start(2, 3, rng) for _ in range(3000)} <= {state for _, state in outcomes}


def test_the_values_of_a_dictionary_count_like_those_of_a_function():
    game = SmallGame(2, 2, progress=False, symmetric=False)
    best = game.optimal()
    table = {mdp.frozen(game.tiles(b)): v for b, v in zip(game.boards, best.afterstate_values)}
    assert best.distance(table) == 0
    assert game.follow(table).start == pytest.approx(best.start)
    assert best.distance(mdp.Table(5.0)) == best.distance(lambda boards: 5 + 0.0 * boards)
    assert best.distance({}) == best.distance(lambda boards: 0 * boards.astype(float))


def test_worth_is_what_the_solver_says():
    game = SmallGame(2, 2, progress=False, symmetric=False)
    best = game.optimal()

    def at_random(state):
        return dict.fromkeys(mdp.choices(state), 1 / len(mdp.choices(state)))

    def stumbling(state):  # ties are shared, as `follow` shares them
        worth = best.actions(state)
        top = [action for action, w in worth.items() if w > max(worth.values()) - 1e-9]
        return {a: 0.3 * p + 0.7 * (a in top) / len(top) for a, p in at_random(state).items()}

    assert mdp.worth(at_random, 2, 2) == pytest.approx(game.follow("random").start)
    assert mdp.worth(lambda state: {best.choose(state): 1}, 2, 2) == pytest.approx(best.start)
    assert mdp.worth(stumbling, 2, 2) == pytest.approx(game.follow(best, epsilon=0.3).start)


def test_reading_a_table_sets_nothing():
    table = mdp.Table(3.0)
    assert table["a"] == 3 and len(table) == 0
    table["a"] += 1
    assert table == {"a": 4}
