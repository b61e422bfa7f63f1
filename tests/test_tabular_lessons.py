"""The lessons on tables: what their own functions learn, against plain solvers on 2×2.

The functions are those that a reader sees, taken out of the stored lessons.  Every tolerance is in
points; the game is worth 19.7 to the random player and 67.0 to the best.
"""

import ast
import random
from collections import Counter, defaultdict

import lessons
import nbformat
import pytest

from lib2048 import SmallGame, mdp

ALPHA = 0.1


def functions_of(lesson):
    """Return the functions that a lesson defines, with the names of its set-up."""
    [path] = lessons.lessons([lesson])
    names = {"ALPHA": ALPHA, "MARKS": (), "GAMES": 1}  # what defaults and functions ask for
    for _, cell in lessons.code_cells(nbformat.read(path, as_version=4)):
        tree = lessons.parsed(cell)
        kept = ast.FunctionDef, ast.Import, ast.ImportFrom
        tree.body = [node for node in tree.body if isinstance(node, kept)]
        exec(compile(tree, path.name, "exec"), names)
    return names


@pytest.fixture(scope="module")
def game():
    return SmallGame(2, 2, progress=False, symmetric=False)


# ---- prediction ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prediction():
    return functions_of("03")


def predicted(prediction, method, step, games):
    """Return the table that a method learns from random games."""
    V, visits, rng = mdp.Table(), Counter(), random.Random(5)
    for _ in range(games):
        prediction[method](V, visits, prediction["play"](2, 2, rng), step)
    return V


@pytest.mark.parametrize(("method", "step", "within"), [
    ("monte_carlo", lambda n: 1 / n, 1.0),
    ("monte_carlo", lambda n: n**-0.7, 1.3),
    ("td0", lambda n: n**-0.7, 1.0),
    ("td0", lambda n: 0.1, 2.5),
], ids=["average", "Monte Carlo", "TD(0)", "TD(0), fixed"])  # fmt: skip
def test_prediction_comes_near_the_solver(prediction, game, method, step, within):
    truth = game.follow("random")
    table = predicted(prediction, method, step, 20_000)
    assert truth.distance(table) < within < truth.distance({}) / 5


def test_monte_carlo_averages_returns(prediction):
    V, visits = defaultdict(float), Counter()
    for turns in ([(2, "a"), (4, "b")], [(0, "a"), (8, "c"), (16, "b")]):
        prediction["monte_carlo"](V, visits, turns, lambda n: 1 / n)
    assert V == {"a": (4 + 24) / 2, "b": 0, "c": 16}


def test_td0_learns_from_the_next_value_and_0_at_the_end(prediction):
    V, visits = defaultdict(float, {"a": 10.0, "b": 20.0}), Counter()
    prediction["td0"](V, visits, [(2, "a"), (4, "b")], lambda n: 0.5)
    assert V == {"a": 10 + 0.5 * (4 + 20 - 10), "b": 10}


@pytest.mark.parametrize(("student", "sign"), [("student_a", 1), ("student_b", -1)])
def test_the_broken_ends_are_broken_as_the_lesson_says(prediction, game, student, sign):
    truth = game.follow("random")
    table = predicted(prediction, student, lambda n: 0.1, 5_000)
    boards = [mdp.frozen(game.tiles(board)) for board in game.boards]
    off = [table[board] - value for board, value in zip(boards, truth.afterstate_values)]
    assert sign * (off @ truth.visits()) > 2 * truth.visits().sum()


# ---- control -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def control():
    return functions_of("04")


def test_the_greedy_learner_knows_how_badly_it_plays(control, game):
    V, rng = mdp.Table(), random.Random(5)
    for _ in range(10_000):
        control["learn_game"](V, rng)
    marks = game.marks(V)
    assert marks["share"] < 0.9 and marks["own error"] < 4


def test_exploring_afterstates_plays_well_and_is_on_policy(control, game):
    V, rng = mdp.Table(), random.Random(5)
    for _ in range(20_000):
        control["learn_game"](V, rng, 0.3)
    stumbling = game.follow(V, epsilon=0.3)
    assert game.marks(V)["share"] > 0.97
    assert stumbling.distance(V) < 4 < game.follow(V).distance(V)


@pytest.mark.parametrize("off_policy", [False, True], ids=["Sarsa", "Q-learning"])
def test_sarsa_and_q_learning_against_the_solver(control, game, off_policy):
    Q, rng = mdp.Table(), random.Random(5)
    for _ in range(20_000):
        control["learn_q_game"](Q, rng, 0.3, off_policy)
    opinion = control["opinion"](Q)
    with_stumbling = mdp.worth(control["policy"](Q, 0.3), 2, 2)
    without = mdp.worth(control["policy"](Q, 0), 2, 2)
    assert without > 0.95 * game.optimal().start
    near, far = (without, with_stumbling) if off_policy else (with_stumbling, without)
    assert abs(opinion - near) < 4 < 15 < abs(opinion - far)


def test_the_targets_of_sarsa_and_q_learning_differ_in_one_place(control, monkeypatch):
    """One turn by hand: the next state has the values 5 and 9, and 5 is played next."""
    start, after, following = ((2, 2), (4, 8)), ((4, 0), (4, 8)), ((4, 2), (4, 8))
    monkeypatch.setattr(mdp, "start", lambda *size: start)
    for off_policy, expected in ((False, 4 + 5), (True, 4 + 9)):
        Q = defaultdict(float, {(following, 0): 5.0, (following, 2): 9.0})
        learned = {}

        def watched(afterstate, rng, learned=learned, Q=Q):
            learned.setdefault("first", afterstate)
            return following if afterstate == after else ((2, 4), (4, 2))

        monkeypatch.setattr(mdp, "spawn", watched)
        control["learn_q_game"](Q, Playing([3, 0]), 1.0, off_policy)
        assert learned["first"] == after
        assert Q[start, 3] == pytest.approx(ALPHA * expected)


def test_one_table_ends_above_the_optimum_and_two_stay_near_it(control, game):
    best = game.optimal()
    truth = dict(zip((mdp.frozen(game.tiles(b)) for b in game.boards), best.afterstate_values))
    one, two = [dict(truth)] * 2, [dict(truth), dict(truth)]
    off = []
    for tables in (one, two):
        rng, said = random.Random(5), []
        for number in range(4_000):
            control["learn_best_game"](tables, rng, 0.3)
            if number >= 2_000 and number % 50 == 0:
                said += [control["says"](*tables), control["says"](*tables[::-1])]
        off.append(sum(said) / len(said) - best.start)
        assert game.marks(tables[0])["share"] > 0.97, "the play hardly suffers"
    assert off[0] > 1.5 and abs(off[1]) < 1


def test_the_judge_says_what_the_chooser_takes(control, monkeypatch):
    """One turn by hand: the chooser prefers one afterstate, the judge has another opinion of it."""
    start, following = ((2, 2), (4, 8)), ((4, 2), (4, 8))
    monkeypatch.setattr(mdp, "start", lambda *size: start)
    first = iter([following, ((2, 4), (4, 2))])
    monkeypatch.setattr(mdp, "spawn", lambda after, rng: next(first))
    played = mdp.choices(start)[1][0]
    liked = max(mdp.choices(following), key=lambda a: a)
    chosen, reward = mdp.choices(following)[liked]
    chooser, judge = defaultdict(float, {chosen: 50.0}), defaultdict(float, {chosen: 7.0})
    control["learn_best_game"]([chooser, judge], Ordered([1, liked]), 1.0)
    assert chooser[played] == pytest.approx(ALPHA * (reward + 7))


class Ordered:
    """Luck that explores always, takes these actions in turn, and keeps things in their order."""

    def __init__(self, actions):
        self.actions = list(actions)
        self.asked = 0

    def sample(self, tables, count):
        return tables[:count]

    def random(self):
        return 0.0

    def choice(self, options):
        return self.actions.pop(0) if self.actions else options[0]


class Playing:
    """Luck that explores always, and takes these actions in turn."""

    def __init__(self, actions):
        self.actions = list(actions)

    def random(self):
        return 0.0 if self.actions else 1.0

    def choice(self, options):
        action = self.actions.pop(0)
        assert action in options
        return action
