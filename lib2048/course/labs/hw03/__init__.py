"""hw03, learning with a table: value iteration, Monte Carlo, TD(0), Q-learning.

The boards are those of `game.mdp`, tuples of rows, and the values stand in an `mdp.Table`.
"""

import copy
import numbers
import random as luck
from collections import Counter
from functools import cache, partial

from lib2048.course.labs import hw01
from lib2048.course.labs.exercise import Exercise, Wrong, watched, wrong_if
from lib2048.course.labs.hw03 import answers
from lib2048.course.labs.hw03.answers import filled
from lib2048.course.labs.outcomes import described, equal, text_of
from lib2048.game import mdp
from lib2048.game.spec import ACTIONS, FOUR_CHANCE

DRAWS, FEW = 2000, 20  # of one choice, to see how often it takes what; where there is no chance
MOST_TURNS = 40  # that a game on 2×2 may learn from; it has 24 at most
GAMES, AGAIN = 12, 3  # in which a Q-learner is watched, and from the same seed again
LEARNING = {"epsilon": 0.3, "alpha": 0.2}


# ---------------------------------------------------------------- boards and games to try


@cache
def afterstates_of(rows, columns):
    """Return all afterstates that a game can come to, by the sum of their tiles."""
    todo, states, found = [state for _, state in mdp.starts(rows, columns)], set(), set()
    while todo:
        if (state := todo.pop()) not in states:
            states.add(state)
            found |= (new := {after for after, _ in mdp.choices(state).values()} - found)
            todo += [following for after in new for _, following in mdp.next_states(after)]
    return sorted(found, key=lambda board: (sum(map(sum, board)), board))


def _random_game(rng):
    """Yield the turns of a game on 2×2: (state, action, reward, afterstate, following state)."""
    state = mdp.start(2, 2, rng)
    while options := mdp.choices(state):
        action = rng.choice(list(options))
        after, reward = options[action]
        following = mdp.spawn(after, rng)
        yield state, action, reward, after, following
        state = following


def _games(random, count):
    """Return the turns, [(reward, afterstate)], of random games with rewards, short ones first."""
    rng, found = luck.Random(int(random.integers(1 << 31))), []
    while len(found) < count:
        turns = [(reward, after) for _, _, reward, after, _ in _random_game(rng)]
        if len(turns) > 2 and sum(reward for reward, _ in turns[1:]):
            found.append(turns)
    return sorted(found, key=len)


def _drawn(random, boards, lowest=1):
    """Return a table with a whole number for each of the boards, of 60 from the lowest on."""
    return filled({board: int(random.integers(lowest, lowest + 60)) for board in boards})


def _some_afterstates(random, deadly):
    """Return afterstates after some, or none, of whose spawns the game is over."""
    boards = [
        board
        for board in afterstates_of(2, 2)
        if deadly == any(not mdp.choices(state) for _, state in mdp.next_states(board))
    ]
    chosen = [boards[i] for i in random.permutation(len(boards))[:12]]
    # Beside what is drawn: which action pays most, and that the tile falls before you choose.
    return chosen if deadly else [*chosen, ((0, 32, 0), (8, 8, 8)), ((0, 2), (4, 8))]


def rewards_only(random):
    """Return afterstates with an empty table: only the next reward counts."""
    return [(filled({}), board) for board in _some_afterstates(random, deadly=False)]


def with_values(random, deadly=False):
    """Return [(V, afterstate)] with values of what may follow, also of the states between.

    In one of three tables they are so far below 0 that no reward makes up for it.  In the last the
    first action is worth exactly 0 wherever it can be, and all others less.
    """
    cases, known = [], [((0, 16), (2, 32))] * deadly
    for n, board in enumerate([*known, *_some_afterstates(random, deadly)]):
        states = {state for _, state in mdp.next_states(board)}
        after = {after for state in states for after, _ in mdp.choices(state).values()}
        lowest = 1 if n % 3 else -20_000
        cases.append((_drawn(random, sorted({board} | after | states), lowest), board))
    return [*cases, (_first_is_0(board), board)]


def _first_is_0(board):
    """Return a table by which, after each spawn, the first action is worth 0, and others less."""
    V = {}
    for number in range(4):  # what is first in one state counts before what is second in another
        for _, state in mdp.next_states(board):
            for after, reward in [*mdp.choices(state).values()][number : number + 1]:
                V.setdefault(after, -reward - 50.0 * (number > 0))
    return filled(V)


def rows_of_tiles(random):
    """Return lists of all afterstates of boards with one row, in three orders."""
    lists = [afterstates_of(1, 2), afterstates_of(1, 3)]
    return [(board,) for boards in lists for board in _orders(random, boards)]


def square_boards(random):
    """Return lists of all afterstates of 2×2, in three orders."""
    return [(boards,) for boards in _orders(random, afterstates_of(2, 2))]


def _orders(random, boards):
    return [boards, boards[::-1], [boards[i] for i in random.permutation(len(boards))]]


def _unlearned(games):
    """Return games of empty tables: (V, visits, turns)."""
    return [(filled({}), Counter(), turns) for turns in games]


def later_games(random):
    """Return single games of a table that has learned from others."""
    cases = []
    for turns in _games(random, 6):
        boards = [after for _, after in turns]
        visits = Counter({board: int(random.integers(1, 5)) for board in boards})
        cases.append((_drawn(random, boards), visits, turns))
    return cases


THREE = ((2, 4), (0, 8)), ((2, 0), (4, 8)), ((0, 2), (8, 4))  # boards of made-up turns


def repeated_boards(random):
    """Return made-up turns in which a board comes twice, which no game of 2048 has."""
    a, b, c = THREE
    orders = [[a, b, a], [a, a, b], [a, b, a, c], [b, a, c, a, b]]
    made = [[(int(random.integers(1, 9)), board) for board in order] for order in orders]
    return _unlearned([*made, [(4, a), (8, b), (4, a)]])


def last_turns(random):
    """Return the last turn of games, alone: (V, turns, alpha)."""
    games = [turns[-1:] for turns in _games(random, 5)]
    return [(_drawn(random, [turns[0][1]]), turns, 0.5) for turns in games]


def td_games(random):
    """Return games of an empty table, and of one that has learned."""
    games = _games(random, 5)
    learned = [_drawn(random, [after for _, after in turns]) for turns in games]
    tables = [*[filled({}) for _ in games], *learned]
    alphas = [0.5] * 6 + [0.1, 0.1, 0.8, 0.25]
    cases = [(V, turns, alpha) for V, turns, alpha in zip(tables, games * 2, alphas)]
    cases += [(filled({}), turns[-2:], 0.25) for turns in games if turns[-1][0] != turns[-2][0]]
    a, b, c = THREE
    cases.append((filled({a: 8, c: 5}), [(4, a), (0, b), (8, c)], 0.5))  # the target of a is 0
    cases.append((filled({a: 1, b: 3}), [(4, b), (4, a)], 0.123))
    return cases + [(V, turns, 0.5) for V, _, turns in repeated_boards(random)]


def _live_states(random, count=6):
    """Return states of 2×2 with two or three legal actions."""
    after = afterstates_of(2, 2)
    states = {state for board in after for _, state in mdp.next_states(board)}
    states = sorted(state for state in states if len(mdp.choices(state)) in (2, 3))
    states = [states[i] for i in random.permutation(len(states))[: 4 * count]]
    states.sort(key=lambda state: len({pay for _, pay in mdp.choices(state).values()}) == 1)
    return states[:count]  # the reward tempts in most of them


def _q_of(random, state, known=4):
    """Return a table of different values below 0 for a state's actions: 0 would be the best.

    The larger the reward, the smaller the value: r + Q finds another action.  known: how many of
    the actions are in the table.
    """
    options = mdp.choices(state)
    values = sorted(random.permutation(9)[: len(options)] / 10 - 1.0, reverse=True)
    by_reward = sorted(options, key=lambda action: options[action][1])
    entries = [((state, a), float(v)) for a, v in zip(by_reward, values)]
    return filled(dict(entries[:known]))


ALL_FOUR, PAYING = ((2, 0), (0, 4)), ((2, 2), (0, 4))  # the second pays 4 to the right and left
TABLES = [  # in none of them the best action is the first or the last; the last misses two
    (ALL_FOUR, {0: -3.0, 1: -1.0, 2: -2.0, 3: -4.0}),
    (PAYING, {1: -3.0, 2: -1.0, 3: -2.0}),
    (ALL_FOUR, {0: 1.0, 1: 2.0, 2: 6.0, 3: 3.0}),
    (ALL_FOUR, {0: -1.0, 1: 0.0, 2: -2.0, 3: -4.0}),
    (ALL_FOUR, {0: -20_003.0, 1: -20_002.0, 2: -20_001.0, 3: -20_004.0}),
    (ALL_FOUR, {1: 5.0, 2: 3.0}),
]


def _fixed(*epsilons):
    """Return choices by `TABLES`."""
    return [
        (filled({(state, action): value for action, value in values.items()}), state, 2, epsilon)
        for state, values in TABLES
        for epsilon in epsilons
    ]


def greedy_choices(random):
    """Return choices without chance: (Q, state, seed, epsilon); in some Q misses an action."""
    states = _live_states(random)
    known = [4] * (len(states) - 2) + [1, 1]
    drawn = [(_q_of(random, state, n), state, 1, 0.0) for state, n in zip(states, known)]
    one = filled({(ALL_FOUR, 1): -1.0})
    return [*_fixed(0.0), (one, ALL_FOUR, 1, 0.0), *drawn]


def random_choices(random):
    """Return choices with a little chance, and with much."""
    cases = [(state, epsilon) for state in _live_states(random, 2) for epsilon in (0.3, 0.8)]
    drawn = [(_q_of(random, state), state, 2, epsilon) for state, epsilon in cases]
    return [*_fixed(0.3, 0.8), *drawn]


def on_the_way(random):
    """Return turns after which the game goes on; in two of them only below 0, as far as is known.

    In two more an action is not known at all, so that 0 is the largest; in one the first is 0.
    """
    known = [
        (filled({(ALL_FOUR, a): q for a, q in zip(range(4), (0.0, -3.0, -5.0, -4.0))}),
         ((0, 2), (0, 0)), 3, 0, ALL_FOUR, 0.5),
    ]  # fmt: skip
    for state, action, (following, values) in (
        (((0, 2), (0, 0)), 3, TABLES[0]),
        (((2, 0), (4, 0)), 1, TABLES[1]),
    ):
        for left_out in (0, 1):
            Q = {(following, other): value for other, value in [*values.items()][left_out:]}
            known.append((filled(Q), state, action, 0, following, 0.5))
    return known + [case for case in _turns(random, 40) if mdp.choices(case[4])][:10]


def at_the_end(random):
    """Return turns after which no action is legal."""
    cases = [case for _ in range(40) for case in _turns(random, 20) if not mdp.choices(case[4])]
    return sorted(cases, key=lambda case: not case[3])[:4] + cases[:4]


def _turns(random, count):
    """Return random turns with some Q: (Q, state, action, reward, following, alpha)."""
    rng, cases = luck.Random(int(random.integers(1 << 31))), []
    while len(cases) < count:
        for state, action, reward, _, following in _random_game(rng):
            keys = [(state, other) for other in mdp.choices(state)]
            keys += [(following, other) for other in mdp.choices(following)]
            # Where values are below 0, what was never learned would be the largest.
            lowest = rng.choice([1, -60, -20_000])
            Q = filled({key: float(lowest + random.integers(60)) for key in keys})
            cases.append((Q, state, action, reward, following, rng.choice([0.5, 0.25])))
    return cases[:count]


# ---------------------------------------------------------------- what is compared


def _changed(before, after):
    """Return what is new or has changed in a table, rounded for people."""
    pairs = {key: (_short(before.get(key, 0)), _short(new)) for key, new in after.items()}
    return {key: new for key, (old, new) in pairs.items() if new != old}


def _short(value):
    wrong_if(not isinstance(value, numbers.Real), "no_number", got=text_of(value)[:60])
    value = round(float(value), 9)
    return int(value) if value.is_integer() else value


def iterated(function, afterstates):
    """Return what value iteration made of a list of afterstates: ({board: value}, sweeps)."""
    answer = function(afterstates)
    is_pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], dict)
    wrong_if(not is_pair, "no_pair", got=repr(answer)[:80])
    return _changed({}, answer[0]), answer[1]


def learned(function, *case):
    """Return what a game or turn made of its tables, [{key: value}], and the turns after it.

    Between the two stands what was returned, as a text, or None.
    """
    tables = [each for each in case if isinstance(each, dict)]
    old = [dict(table) for table in tables]
    answer = function(*case)
    changed = [_changed(*pair) for pair in zip(old, tables)]
    return changed, None if answer is None else text_of(answer)[:60], _turns_of(case)


def _turns_of(case):
    return [each for each in case if isinstance(each, list)]


def _teaches(case):
    """Say whether a right answer changes a table in this case."""
    if len(case) == 6:
        truth = answers.q_update
    else:
        truth = answers.td0 if isinstance(case[1], list) else answers.monte_carlo
    given = copy.deepcopy(case)
    return any(learned(truth, *given)[0])


def changes(case, outcome):
    """Return what a game or turn changed: {key: value}, or two of these."""
    changed, answer, turns = outcome
    wrong_if(answer is not None and not any(changed) and _teaches(case), "returned", got=answer)
    wrong_if(turns != _turns_of(case), "turns")
    return tuple(changed) if len(changed) > 1 else changed[0]


def given_game(case):
    """Return what a picture says of a game: rewards, what the table knew, the visits."""
    V, *visits, turns = case if isinstance(case[2], list) else case[:2]
    boards = list(dict.fromkeys(after for _, after in turns))
    numbers = " ".join(f"{boards.index(after) + 1}" for _, after in turns)
    words = {
        "rewards": _row(reward for reward, _ in turns),
        "boards": numbers if len(boards) < len(turns) else "all different",
        "V before": _row(V.get(after, 0) for _, after in turns),
    }
    if visits:
        words["visits before"] = _row(visits[0][after] for _, after in turns)
    return words


def _row(numbers):
    return ", ".join(f"{_short(number):.7g}" for number in numbers)


def tell_mc(case, outcome):
    """Say what V of a game's boards is now, and how often each was visited."""
    V, visits, turns = case
    values, counts = _new_values(V, turns, outcome[0]), _new_values(visits, turns, outcome[1])
    return f"{values}; visits {counts}"


def _new_values(old, turns, changed):
    others = changed.keys() - {after for _, after in turns}
    text = _row(changed.get(after, old.get(after, 0)) for _, after in turns)
    return f"{text} …" if others else text


def given_turn(case):
    """Return what a picture says of a turn: Q of its action, and of those that follow."""
    Q, state, action, reward, following, alpha = case
    after = {a: _short(Q.get((following, a), 0)) for a in mdp.choices(following)}
    return {
        "action": f"{action}",
        "reward": f"{reward}",
        "alpha": f"{alpha:g}",
        "Q before": f"{_short(Q.get((state, action), 0)):g}",
        "Q of the next actions": ", ".join(f"{a}: {q:g}" for a, q in after.items()) or "–",
    }


def tell_turn(case, changed):
    """Say what Q of the turn's action is now, and what else was changed."""
    Q, state, action, *_ = case
    text = f"{changed.get((state, action), Q.get((state, action), 0)):.7g}"
    others = {key: value for key, value in changed.items() if key != (state, action)}
    return f"{text}; {others}" if others else text


def given_choice(case):
    """Return what a picture says of a choice: Q and the reward of the legal actions."""
    Q, state, _, epsilon = case
    known = (f"{a}: {Q[state, a]:g}" if (state, a) in Q else f"{a}: –" for a in mdp.choices(state))
    rewards = (f"{a}: {reward}" for a, (_, reward) in mdp.choices(state).items())
    return {"Q": ", ".join(known), "rewards": ", ".join(rewards), "epsilon": f"{epsilon:g}"}


def tell_iterated(case, outcome):
    """Say what value iteration came to: how many values, some of them, and the sweeps."""
    V, sweeps = outcome
    return f"{_short_text(V)} ({len(V)}); sweeps: {sweeps}"


def _short_text(many, most=160):
    text = str(many)
    return text if len(text) <= most else f"{text[:most].rsplit(',', 1)[0]}, …"


def chosen(function, Q, state, seed, epsilon):
    """Draw one choice many times, twice from the same seed; return all, and the table after it."""
    first, again = (
        [function(Q, state, rng, epsilon) for _ in range(draws if epsilon else FEW)]
        for rng, draws in ((luck.Random(seed), DRAWS), (luck.Random(seed), 10 * FEW))
    )
    return first, again, dict(Q)


def taken(case, outcome):
    """Return the action that was taken as the best one; with chance, judge how often each was."""
    Q, state, _, epsilon = case
    first, again, table = outcome
    legal = list(mdp.choices(state))
    wrong_if(None in first, "none")
    for action in first:
        wrong_if(not isinstance(action, numbers.Integral), "no_action", got=described(action))
        wrong_if(action not in legal, "illegal", got=text_of(action)[:60], legal=legal)
    wrong_if(any(Q.get(key, 0) != table.get(key, 0) for key in Q.keys() | table.keys()), "changed")
    wrong_if(first[: len(again)] != again, "own_luck")
    best = max(legal, key=lambda a: Q[state, a])
    if epsilon:
        return _favourite(Counter(map(int, first)), best, len(legal), epsilon)
    found = {best if Q[state, a] == Q[state, best] else int(a) for a in first}
    wrong_if(len(found) > 1, "not_best")
    return found.pop()


def tell_taken(case, action):
    """Say which action was taken."""
    return f"{action}, {ACTIONS[action]}, {'most often' if case[3] else 'always'}"


def _favourite(counts, best, n, epsilon):
    """Return the action that was taken as the best one should be, and the others as they should."""
    shares = {action: count / counts.total() for action, count in counts.items()}
    share, fair = shares.get(best, 0.0), 1 - epsilon + epsilon / n
    causes = {"never": 1.0, "without_best": 1 - epsilon, "reversed": epsilon + (1 - epsilon) / n}
    favourite = max(shares, key=shares.get)
    if abs(shares.pop(favourite) - fair) > 0.05:
        near = min(causes, key=lambda key: abs(causes[key] - share))
        near = near if abs(causes[near] - share) < 0.05 else "share"
        raise Wrong(near, {"share": f"{share:.0%}", "fair": f"{fair:.0%}", "epsilon": epsilon})
    wrong_if(len(shares) < n - 1 or min(shares.values()) < 0.6 * epsilon / n, "uneven")
    return favourite


@cache
def _learned_q():
    """Return a table that has learned from some games, so that it plays longer ones."""
    Q, rng = filled({}), luck.Random(1)
    for _ in range(1000):
        answers.q_game(Q, rng, **LEARNING)
    return Q


def watched_games(function, Q, seed, epsilon, alpha):
    """Watch q_game play some games on 2×2, twice from the same seed; return the calls of each."""
    return tuple(
        [_calls(function, copy.copy(Q), rng, epsilon, alpha) for _ in range(games)]
        for rng, games in ((luck.Random(seed), GAMES), (luck.Random(seed), AGAIN))
    )


def _calls(function, Q, rng, epsilon, alpha):
    """Let a function play a game, which is ended when it has more turns than there can be.

    Returns its calls, each with whether its table is Q: ("choose", True, state, action, epsilon,
    whether its generator is rng), ("q_update", True, state, …).
    """
    with watched(function, "choose", "q_update", most=2 * MOST_TURNS) as calls:
        function(Q, rng, epsilon, alpha)
    return [
        (name, table is Q, *(_chosen(*given, answer, rng) if name == "choose" else given))
        for name, (table, *given), answer in calls
    ]


def _chosen(state, own, epsilon, action, rng):
    return state, action, epsilon, own is rng


def check_games(case, outcome):
    """Judge the games that were watched; there is nothing to compare."""
    _, _, epsilon, alpha = case
    first, again = outcome
    for calls in first:
        _check_turns(calls, epsilon, alpha)
    wrong_if(first[:AGAIN] != again, "own_luck")
    wrong_if(all(calls == first[0] for calls in first), "same_game")
    wrong_if(not all(call[5] for calls in first for call in calls[::2]), "own_luck")
    turns = [(*call[2:4], call[5]) for calls in first for call in calls[1::2]]
    options = [(mdp.next_states(mdp.choices(s)[a][0]), new) for s, a, new in turns]
    which = [[state for _, state in states].index(new) for states, new in options]
    # They come in pairs, a 2 and a 4 for each cell; of 100 and more spawns some are of each kind.
    fours = sum(at % 2 for at in which)
    missing = not fours or not any(at > 1 for at in which)
    wrong_if(missing or hw01.is_off(fours, len(which), FOUR_CHANCE), "spawns")
    wrong_if(len({calls[0][2] for calls in first}) == 1, "one_start")


def _check_turns(calls, epsilon, alpha):
    """Raise Wrong for the first thing that is odd in a game's calls."""
    names = [call[0] for call in calls]
    for name in ("choose", "q_update"):
        wrong_if(name not in names, "not_called", name=name)
    wrong_if(not all(call[1] for call in calls), "other_table")
    wrong_if(names != ["choose", "q_update"] * (len(names) // 2), "one_each")
    expected = None
    for (_, _, state, action, given, _), (_, _, *learned) in zip(calls[::2], calls[1::2]):
        wrong_if(given != epsilon or learned[4] != alpha, "settings", epsilon=epsilon, alpha=alpha)
        wrong_if(expected is not None and state != expected, "goes_on_elsewhere")
        expected = _check_turn(state, action, learned)
    wrong_if(len(calls) == 2 * MOST_TURNS, "no_spawn")
    begin = calls[0][2]
    wrong_if(mdp.choices(expected) or sum(map(sum, begin)) > 8, "part")
    wrong_if(begin not in [state for _, state in mdp.starts(2, 2)], "start")


def _check_turn(state, action, learned):
    """Check what `q_update` was told of a turn; return the state that follows."""
    after, reward = mdp.choices(state)[action]
    given = f"{learned[0]}, {learned[1]}"
    wrong_if((learned[0], learned[1]) != (state, action), "keys", got=given[:80])
    wrong_if(learned[2] != reward, "reward", got=text_of(learned[2])[:40], reward=reward)
    wrong_if(learned[3] == after, "afterstate")
    wrong_if(learned[3] not in [following for _, following in mdp.next_states(after)], "no_spawn")
    return learned[3]


same_tables = partial(equal, relative=0)


# ---------------------------------------------------------------- the exercises


def best_of_means(V, afterstate):
    """Back up the best of the averages, a mistake that turns the whole rule round."""
    totals = Counter()
    for chance, state in mdp.next_states(afterstate):
        for action, (after, reward) in mdp.choices(state).items():
            totals[action] += chance * (reward + V[after])
    return max(totals.values(), default=0)


BEST = "max(totals, default=0)"
# The best of a list by a loop that takes a best of 0 for none.
FALSY = ("(lambda some: __import__('functools').reduce("
         "lambda top, new: new if not top or new > top else top, some, 0))")  # fmt: skip
LAST = """    _, last = turns[-1]
    V[last] += alpha * (0 - V[last])
"""
NEXT = "Q[following, other] for other in mdp.choices(following)"
BY_Q, RANDOM = "Q[state, action]", "__import__('random')"
LEARNS = "q_update(Q, state, action, reward, following, alpha)"

EXERCISES = [
    Exercise(
        "hw03", answers.backup,
        parts={"rewards": rewards_only, "values": with_values,
               "dead ends": lambda random: with_values(random, deadly=True)},
        mistakes={
            "best_of_means": best_of_means,
            "apart": (BEST, "sum(map(max, zip(*((r, V[s]) for s, r in "
                      "mdp.choices(state).values()))), 0)"),
            "survivors": (BEST, f"{BEST} / (sum(p for p, s in mdp.next_states(afterstate) "
                          "if mdp.choices(s)) or 1)"),
            "equal_chances": ("chance * ", "1 / len(mdp.next_states(afterstate)) * "),
            "no_reward": ("reward + V[after]", "V[after]"),
            "reward_only": ("reward + V[after]", "reward"),
            "mean_of_actions": (BEST, "sum(totals) / (len(totals) or 1)"),
            "greedy_reward": (BEST, "next((r + V[after] for after, r in sorted("
                              "mdp.choices(state).values(), key=lambda pair: -pair[1])), 0)"),
            "state": (BEST, "V[state]"),
            "starts_at_0": (BEST, "max([0, *totals])"),
            "discounted": ("V[after]", "0.99 * V[after]"),
            "discounted 0.9": ("V[after]", "0.9 * V[after]"),
            "reward_twice": ("reward + V", "2 * reward + V"),
            "luckiest": ("total += chance * ", "total = max(total, ", BEST, f"{BEST})"),
            "only_twos": ("    return total", "    cells = len(mdp.next_states(afterstate)) // 2\n"
                          "    return sum(max((r + V[s] for s, r in mdp.choices(state).values()), "
                          "default=0) for _, state in mdp.next_states(afterstate)[::2]) / cells"),
            "not_weighted": ("chance * ", ""),
            "dead_value": (BEST, "max(totals, default=V[state])"),
            "dead_value -1": ("default=0", "default=-1"),
            "dead_value own": ("default=0", "default=V[afterstate]"),
            "divided": ("chance * ", "chance / len(mdp.next_states(afterstate)) * 2 * "),
            "worst": ("max(totals", "min(totals"),
            "first": (BEST, "next(iter(totals), 0)"),
            "one_state": ("total += ", "total = "),
            "one_state first": ("    return total", "        return total"),
        },
        slips={
            "raised no_default": (", default=0", ""),
            "falsy": (BEST, f"{FALSY}(totals)"),
            **{f"starts_high {n}": (BEST, f"max([{n}, *totals]) if totals else 0")
               for n in (-10, -100, -1000, -10_000)},
        },
        show={"afterstate": "rows"},
    ),
    Exercise(
        "hw03", answers.value_iteration, parts={"one row": rows_of_tiles, "2x2": square_boards},
        mistakes={
            "one_sweep": ("changed or abs(new - V[after]) > ENOUGH", "False"),
            "all_at_once": ("False, sweeps + 1", "False, sweeps + 1\n        old = filled(V)",
                            "backup(V", "backup(old"),
            "last_not_counted": ("V, sweeps\n", "V, sweeps - 1\n"),
            "last_board": ("changed or ", ""),
            "coarse": ("> ENOUGH", "> 3"),
            "coarse 0.001": ("> ENOUGH", "> 0.001"),
            "one_more": ("V, sweeps\n", "V, sweeps + 1\n"),
            "own_order": ("in afterstates", "in sorted(afterstates, key=lambda b: -max(max(b)))"),
            "own_order backwards": ("in afterstates", "in afterstates[::-1]"),
        },
        slips={
            **{f"{n} sweeps": ("while changed:", f"for _ in range({n}):") for n in (3, 15, 20)},
            "one_sweep until_all": ("changed or abs(new - V[after]) > ENOUGH",
                                    "abs(new - V[after]) > ENOUGH and changed",
                                    "changed, sweeps = False", "changed, sweeps = True"),
            "all_but_last": ("in afterstates", "in afterstates[:-1]"),
            "no_pair exchanged": ("V, sweeps\n", "sweeps, V\n"),
            "no_pair": ("return V, sweeps", "return V"),
            "per_board": ("            new", "            sweeps += 1\n            new"),
        },
        result={"V": "text", "sweeps": "text"},
        outcome=iterated, same=same_tables,
        given=lambda case: {"afterstates": f"{len(case[0])}: {_short_text(case[0])}"},
        tell=tell_iterated, show={"afterstates": "hidden"},
    ),
    Exercise(
        "hw03", answers.monte_carlo,
        parts={"first game": lambda random: _unlearned(_games(random, 6)),
               "later games": later_games, "first visit": repeated_boards},
        mistakes={
            "own_reward": ("(to_come", "(to_come + reward"),
            "so_far": ("(to_come", "(sum(r for r, _ in turns[: number + 1])"),
            "next_reward": ("to_come += reward", "to_come = reward"),
            "no_last": ("to_come = 0", "to_come = turns[-1][0]", "len(turns)", "len(turns) - 1"),
            "end_is_zero": ("to_come += reward", "to_come += reward\n    V[turns[-1][1]] = 0"),
            "every_visit": ("after not in [earlier for _, earlier in turns[:number]]", "True"),
            "last_visit": ("turns[:number]", "turns[number + 1 :]"),
            "no_average": (" / visits[after]", ""),
            "fixed_step": ("/ visits[after]", "* 0.1"),
            "half_step": ("/ visits[after]", "/ 2"),
            "counted_later": ("            visits[after] += 1\n", "", "/ visits[after]\n",
                              "/ max(visits[after], 1)\n            visits[after] += 1\n"),
            "first_ever": ("if after", "if not visits[after] and after"),
            "counts_all": ("            visits[after] += 1\n", "",
                           "        if", "        visits[after] += 1\n        if"),
            "not_counted": ("+= 1", "+= 0", "/ visits[after]", "/ (visits[after] + 1)"),
            "discounted": ("to_come += reward", "to_come = reward + 0.99 * to_come"),
            "discounted 0.9": ("to_come += reward", "to_come = reward + 0.9 * to_come"),
            "no_first": ("range(len(turns))", "range(1, len(turns))"),
            "only_added": ("(to_come - V[after])", "to_come"),
            "sign": ("to_come - V", "to_come + V"),
            "end": ("to_come = 0", "to_come = -1"),
            "reward_twice": ("to_come += reward", "to_come += 2 * reward"),
            "paying_turns": ("        if", "        if reward and"),
        },
        slips={
            "no_average newest": ("+= (to_come - V[after]) / visits[after]", "= to_come"),
            "over": ("+= (to_come - V[after]) / visits[after]", "= to_come / visits[after]"),
            "counted_by_two": ("+= 1", "+= 2"),
            "forwards": ("reversed(range(len(turns)))", "range(len(turns))"),
            "returned": ("    to_come = 0", "    return V"),
            "turns": ("= turns[number]", "= turns.pop()"),
            "equal_turns": ("        if after", "        number = turns.index((reward, after))\n"
                            "        if after"),
        },
        outcome=learned, verdict=changes, same=same_tables, given=given_game, tell=tell_mc,
        result={"V": "text", "visits": "text"},
        show={"V": "hidden", "visits": "hidden", "turns": "hidden"},
    ),
    Exercise(
        "hw03", answers.td0, parts={"last turn": last_turns, "games": td_games},
        mistakes={
            "no_last": (LAST, ""),
            "end_is_zero": ("+= alpha * (0 - V[last])", "= 0"),
            "end_is_zero first": (LAST, "", "    for", "    V[turns[-1][1]] = 0\n    for"),
            "own_reward": ("(_, after), (reward, following)", "(reward, after), (_, following)",
                           "_, last", "reward, last", "(0 -", "(reward -"),
            "own_reward on_the_way": ("(_, after), (reward, following)",
                                      "(reward, after), (_, following)"),
            "exchanged": ("+= alpha *", "+= (1 - alpha) *"),
            "brackets": ("alpha * (reward + V[following] - V[after])",
                         "reward + V[following] - alpha * V[after]"),
            "no_reward": ("reward + V[following]", "V[following]"),
            "no_value": (" + V[following]", ""),
            "returns": ("pairwise(turns)", "zip(turns, [(sum(r for r, _ in turns[n:]), None) "
                        "for n in range(1, len(turns))])", " + V[following]", ""),
            "backwards": (LAST, "", "    for", f"{LAST}    for",
                          "pairwise(turns)", "[*pairwise(turns)][::-1]"),
            "whole_step": ("alpha * ", ""),
            "only_added": (" - V[after]", "", "0 - V[last]", "0"),
            "fixed_alpha": ("alpha * ", "0.1 * "),
            "frozen": ("    for", "    old = filled(V)\n    for", "V[following] - V[after]",
                       "old[following] - old[after]", "0 - V[last]", "0 - old[last]"),
            "sign": ("- V[after]", "+ V[after]"),
            "away": ("+= alpha", "-= alpha"),
            "discounted": ("+ V[following]", "+ 0.99 * V[following]"),
            "discounted 0.9": ("+ V[following]", "+ 0.9 * V[following]"),
            "last_target": ("(0 - V[last])", "(-1 - V[last])"),
            "last_target reward": ("_, last", "reward, last", "(0 -", "(reward -"),
            "reward_twice": ("(reward +", "(2 * reward +"),
            "no_first": ("pairwise(turns)", "pairwise(turns[1:])"),
            "last_again": (LAST, "", "- V[after])\n", "- V[after])\n        V[turns[-1][1]] -= "
                             "alpha * V[turns[-1][1]]\n"),
        },
        slips={
            "following": ("    V[after] += alpha * (reward + V[following] - V[after])",
                          "    V[following] += alpha * (reward + V[after] - V[following])"),
            "first_is_last": ("turns[-1]", "turns[0]"),
            "minus_reward": ("(reward +", "(V[after] - reward +"),
            "last_only": ("pairwise(turns)", "[]"),
            "largest": ("reward + V[following] - V[after]", "max(reward, V[following]) - V[after]"),
            "half": ("+= alpha * (reward", "+= alpha / 2 * (reward"),
            "no_target": ("+= alpha * (r", "+= (reward + V[following] != 0) * alpha * (r"),
            "returned": ("    for (_, after)", "    return V\n    for (_, after)"),
            "equal_turns": ("for (_, after), (reward, following) in pairwise(turns):",
                            "for turn in turns[:-1]:\n        (_, after), (reward, following) = "
                            "turn, turns[turns.index(turn) + 1]"),
            "rounded": ("alpha * (reward + V[following] - V[after])",
                        "round(alpha * (reward + V[following] - V[after]), 2)"),
        },
        outcome=learned, verdict=changes, same=same_tables, given=given_game,
        tell=lambda case, changed: _new_values(*case[:2], changed),
        show={"V": "hidden", "turns": "hidden"},
    ),
    Exercise(
        "hw03", answers.choose,
        parts={"greedy": greedy_choices, "explore": random_choices},
        mistakes={
            "with_reward": (BY_Q, "mdp.choices(state)[action][1] + Q[state, action]"),
            "known_only": ("max(legal", "max([a for a in legal if (state, a) in Q] or legal"),
            "starts_at_0": (f"max(legal, key=lambda action: {BY_Q})",
                            "max(legal, key=lambda action: max(Q[state, action], 0))"),
            "smallest": ("max(legal", "min(legal"),
            "smallest abs": (BY_Q, "abs(Q[state, action])"),
            "by_place": (f"max(legal, key=lambda action: {BY_Q})", "legal[0]"),
            "by_place last": (f"max(legal, key=lambda action: {BY_Q})", "legal[-1]"),
            "by_reward": (BY_Q, "mdp.choices(state)[action][1]"),
        },
        slips={
            "illegal any": ("rng.choice(legal)", "rng.randrange(4)"),
            "illegal": ("max(legal", "max(range(4)"),
            "no_action": ("max(legal, key=lambda action: Q[state, action])",
                          "max(Q[state, action] for action in legal)"),
            "reversed": ("< epsilon", "> epsilon"),
            "never": ("rng.random() < epsilon", "False"),
            "not_best always": ("rng.random() < epsilon", "True"),
            "without_best": ("rng.choice(legal)", "rng.choice([a for a in legal if a != max(legal, "
                             "key=lambda a: Q[state, a])])"),
            "own_luck": ("rng.choice", f"{RANDOM}.choice"),
            "changed": ("    if", "    Q[state, legal[0]] = 0.0\n    if"),
            "unknown": (BY_Q, "Q.get((state, action), float('inf'))"),
            "uneven": ("rng.choice(legal)", "legal[int(rng.random() ** 2 * len(legal))]"),
            "share half": ("< epsilon", "< epsilon / 2"),
            "never tenth": ("< epsilon", "< min(epsilon, 0.1)"),
            "never squared": ("< epsilon", "< epsilon ** 2"),
            "falsy": (f"max(legal, key=lambda action: {BY_Q})",
                      "__import__('functools').reduce(lambda best, a: a if not Q[state, best] or "
                      "Q[state, a] > Q[state, best] else best, legal)"),
            **{f"starts_high {n}": (f"key=lambda action: {BY_Q}",
                                    f"key=lambda action: max({BY_Q}, {n})")
               for n in (-10, -1000, -10_000)},
            "none": (f"    return max(legal, key=lambda action: {BY_Q})",
                     "    for action in legal:\n        if Q[state, action] > 0:\n"
                     "            return action"),
        },
        outcome=chosen, verdict=taken, tell=tell_taken, given=given_choice, result="action",
        show=dict.fromkeys(("Q", "rng", "epsilon"), "hidden") | {"state": "rows"},
    ),
    Exercise(
        "hw03", answers.q_update, parts={"on the way": on_the_way, "at the end": at_the_end},
        mistakes={
            "illegal": ("mdp.choices(following)", "range(4)"),
            "mean": ("    Q[state", "    legal = mdp.choices(following)\n"
                     f"    best = sum({NEXT}) / (len(legal) or 1)\n    Q[state"),
            "same_state": (NEXT, "Q[state, other] for other in mdp.choices(state)"),
            "no_reward": ("reward + best", "best"),
            "no_next": ("reward + best", "reward"),
            "only_added": (" - Q[state, action]", ""),
            "whole_step": ("alpha * ", ""),
            "same_action": ("reward + best", "reward + Q[following, action]"),
            "reward_twice": (NEXT, "r + Q[following, other] "
                             "for other, (_, r) in mdp.choices(following).items()"),
            "exchanged": ("alpha * ", "(1 - alpha) * "),
            "replaced": ("+=", "=", " - Q[state, action]", ""),
            "replaced by_the_step": ("+=", "="),
            "brackets": ("(reward + best - Q[state, action])", "reward + best - Q[state, action]"),
            "end_unpaid": ("reward +", "(reward if mdp.choices(following) else 0) +"),
            "paid_at_the_end": ("reward +", "(0 if mdp.choices(following) else reward) +"),
            "skips_end": ("    Q[state", "    if mdp.choices(following):\n        Q[state"),
            "end_is_zero": ("action])\n", "action])\n    if not mdp.choices(following):\n"
                            "        Q[state, action] = 0\n"),
            "starts_at_0": ("best = max((", "best = max(0, max((", "default=0)", "default=0))"),
            "sign": (" - Q[state, action]", " + Q[state, action]"),
            "away": ("+= alpha", "-= alpha"),
            "worst": ("max((", "min(("),
            "first": ("best = max((", "best = next((", "default=0", "0"),
            "dead_value": ("default=0", "default=-1"),
            "paid_twice": ("reward + best", "2 * reward + best"),
            "entry": ("    Q[state, action] +=", "    Q[following, action] +="),
            "entry all": ("    Q[state, action] +=", "    for action in mdp.choices(state):\n"
                            "        Q[state, action] +="),
            "discounted": ("reward + best", "reward + 0.99 * best"),
            "discounted 0.9": ("reward + best", "reward + 0.9 * best"),
        },
        slips={
            "raises": (", default=0", ""),
            "no_target": ("+= alpha", "+= (reward + best != 0) * alpha"),
            "falsy": (f"max(({NEXT}), default=0)",
                      f"{FALSY}([{NEXT}])"),
            **{f"starts_high {n}": (NEXT, f"max({n}, Q[following, other]) for other in "
                                    "mdp.choices(following)") for n in (-10, -1000, -10_000)},
        },
        outcome=learned, verdict=changes, same=same_tables, given=given_turn, tell=tell_turn,
        show=dict.fromkeys(("Q", "action", "reward", "alpha"), "hidden")
        | {"state": "rows", "following": "rows"},
    ),
    Exercise(
        "hw03", answers.q_game,
        lambda random: [(copy.copy(Q), int(random.integers(1000)), *LEARNING.values())
                        for Q in (filled({}), *[_learned_q()] * 4)],
        slips={
            **{f"part {n}": ("while options := mdp.choices(state):", f"for _ in range({n}):\n"
                             "        if not (options := mdp.choices(state)):\n            break")
               for n in (10, 15)},
            "own_luck choice": ("choose(Q, state, rng,", f"choose(Q, state, {RANDOM}.Random(0),"),
            "afterstate": ("mdp.spawn(after, rng)", "after"),
            "other_table": ("    state = mdp.start", "    Q = mdp.Table()\n    state = mdp.start"),
            "settings epsilon": ("rng, epsilon)", "rng, 0)"),
            "settings alpha": ("following, alpha", "following, 0.1"),
            "part": ("while", "if"),
            "not_called": (LEARNS, "pass"),
            "goes_on_elsewhere stands": ("state = following", "pass"),
            "goes_on_elsewhere spawn": ("state = following", "state = mdp.spawn(after, rng)"),
            "own_luck": ("state = mdp.start", f"rng = {RANDOM}.Random()\n    state = mdp.start"),
            "same_game": ("state = mdp.start", f"rng = {RANDOM}.Random(3)\n    state = mdp.start"),
            "own_luck spawns": ("mdp.spawn(after, rng)", f"mdp.spawn(after, {RANDOM})"),
            "spawns first_cell": ("mdp.spawn(after, rng)", "mdp.next_states(after)[0][1]"),
            "spawns alike": ("mdp.spawn(after, rng)", "rng.choice(mdp.next_states(after))[1]"),
            "spawns twos": ("mdp.spawn(after, rng)", "rng.choice(mdp.next_states(after)[::2])[1]"),
            "start one_tile": ("mdp.start(2, 2, rng)", "mdp.spawn(((0, 0), (0, 0)), rng)"),
            "one_start drawn": ("mdp.start(2, 2, rng)", f"mdp.start(2, 2, {RANDOM}.Random(0))"),
            "one_start": ("mdp.start(2, 2, rng)", "((2, 0), (0, 2))"),
            "start wide": ("mdp.start(2, 2, rng)", "mdp.start(2, 3, rng)"),
            "keys next_state": ("Q, state, action, reward", "Q, following, action, reward"),
            "reward next": ("action, reward, following", "action, reward + 1, following"),
            "one_each paying": (LEARNS, f"reward and {LEARNS}"),
            "one_each but_last": (LEARNS, f"mdp.choices(following) and {LEARNS}"),
            "one_each at_the_end": ("    while", "    turns = []\n    while",
                           LEARNS, "turns.append((state, action, reward, following))",
                           "= following\n", "= following\n    for turn in turns[::-1]:\n        "
                           "q_update(Q, *turn, alpha)\n"),
        },
        outcome=watched_games, verdict=check_games,
        show={"Q": "hidden", "rng": "hidden", "epsilon": "hidden", "alpha": "hidden"},
    ),
]  # fmt: skip
