"""hw03, learning with a table: value iteration, Monte Carlo, TD(0), Q-learning.

The boards are those of `game.mdp`, tuples of rows, and the values stand in an `mdp.Table`.
"""

import copy
import numbers
import random as luck
from collections import Counter
from functools import cache, partial
from itertools import islice

from lib2048.course.labs.exercise import Exercise, Wrong, watched, wrong_if
from lib2048.course.labs.hw03 import answers
from lib2048.course.labs.hw03.answers import filled
from lib2048.course.labs.outcomes import equal
from lib2048.game import mdp

DRAWS = 2000  # of one choice, to see how often it takes what
MOST_TURNS = 100  # that a game on 2×2 may learn from; it has 24 at most
GAMES = 12  # in which a Q-learner is watched
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


def _drawn(random, boards, large=60):
    """Return a table with a whole number for each of the boards."""
    return filled({board: int(random.integers(1, large)) for board in boards})


def _some_afterstates(random, deadly):
    """Return afterstates after some, or none, of whose spawns the game is over."""
    boards = [
        board
        for board in afterstates_of(2, 2)
        if deadly == any(not mdp.choices(state) for _, state in mdp.next_states(board))
    ]
    chosen = [boards[i] for i in random.permutation(len(boards))[:12]]
    return chosen if deadly else [*chosen, ((0, 32, 0), (8, 8, 8))]


def rewards_only(random):
    """Return afterstates with an empty table: only the next reward counts."""
    return [(filled({}), board) for board in _some_afterstates(random, deadly=False)]


def with_values(random, deadly=False):
    """Return [(V, afterstate)] with values of what may follow, also of the states between."""
    cases = []
    for board in _some_afterstates(random, deadly):
        states = {state for _, state in mdp.next_states(board)}
        after = {after for state in states for after, _ in mdp.choices(state).values()}
        cases.append((_drawn(random, sorted(after | states)), board))
    return cases


def rows_of_tiles(random):
    """Return lists of all afterstates of boards with one row, in three orders."""
    lists = [afterstates_of(1, 2), afterstates_of(1, 3)]
    return [(board,) for boards in lists for board in _orders(random, boards)]


def square_boards(random):
    """Return lists of the last afterstates of 2×2, whose games go on among themselves."""
    boards = [board for board in afterstates_of(2, 2) if sum(map(sum, board)) >= 28]
    return [(board,) for board in _orders(random, boards)]


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


def repeated_boards(random):
    """Return made-up turns in which a board comes twice, which no game of 2048 has."""
    a, b, c = ((2, 4), (0, 8)), ((2, 0), (4, 8)), ((0, 2), (8, 4))
    orders = [[a, b, a], [a, a, b], [a, b, a, c], [b, a, c, a, b]]
    made = [[(int(random.integers(1, 9)), board) for board in order] for order in orders]
    return _unlearned(made)


def last_turns(random):
    """Return the last turn of games, alone: (V, turns, alpha)."""
    games = [turns[-1:] for turns in _games(random, 5)]
    return [(_drawn(random, [turns[0][1]]), turns, 0.5) for turns in games]


def td_games(random):
    """Return games of an empty table, and of one that has learned."""
    games = _games(random, 5)
    learned = [_drawn(random, [after for _, after in turns]) for turns in games]
    tables = [*[filled({}) for _ in games], *learned]
    cases = [(V, turns, alpha) for V, turns, alpha in zip(tables, games * 2, [0.5] * 6 + [0.1] * 4)]
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


def greedy_choices(random):
    """Return choices without chance: (Q, state, seed, epsilon); in two Q misses an action."""
    states = _live_states(random)
    known = [4] * (len(states) - 2) + [1, 1]
    return [(_q_of(random, state, n), state, 1, 0.0) for state, n in zip(states, known)]


def random_choices(random):
    """Return choices with a little chance, and with much."""
    cases = [(state, epsilon) for state in _live_states(random, 3) for epsilon in (0.3, 0.8)]
    return [(_q_of(random, state), state, 2, epsilon) for state, epsilon in cases]


def on_the_way(random):
    """Return turns after which the game goes on."""
    return [case for case in _turns(random, 40) if mdp.choices(case[4])][:10]


def at_the_end(random):
    """Return turns after which no action is legal."""
    cases = (case for _ in range(40) for case in _turns(random, 20))
    return list(islice((case for case in cases if not mdp.choices(case[4])), 6))


def _turns(random, count):
    """Return random turns with some Q: (Q, state, action, reward, following, alpha)."""
    rng, cases = luck.Random(int(random.integers(1 << 31))), []
    while len(cases) < count:
        for state, action, reward, _, following in _random_game(rng):
            keys = [(state, other) for other in mdp.choices(state)]
            keys += [(following, other) for other in mdp.choices(following)]
            lowest = rng.choice([1, -60])  # below 0, what was never learned would be the largest
            Q = filled({key: float(lowest + random.integers(60)) for key in keys})
            cases.append((Q, state, action, reward, following, rng.choice([0.5, 0.25])))
    return cases[:count]


# ---------------------------------------------------------------- what is compared


def _changed(before, after):
    """Return what is new or has changed in a table, rounded for people."""
    pairs = {key: (_short(before.get(key, 0)), _short(new)) for key, new in after.items()}
    return {key: new for key, (old, new) in pairs.items() if new != old}


def _short(value):
    wrong_if(not isinstance(value, numbers.Real), "no_number", got=repr(value)[:60])
    value = round(float(value), 9)
    return int(value) if value.is_integer() else value


def iterated(function, afterstates):
    """Return what value iteration made of a list of afterstates: ({board: value}, sweeps)."""
    answer = function(afterstates)
    is_pair = isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], dict)
    wrong_if(not is_pair, "no_pair", got=repr(answer)[:80])
    return _changed({}, answer[0]), answer[1]


def learned(function, table, turns, *more):
    """Return what one game or turn changed in a table: {key: value}."""
    old, given = filled(table), copy.copy(turns)
    answer = function(table, turns, *more)
    wrong_if(table == old and answer is not None, "returned", got=repr(answer)[:60])
    wrong_if(turns != given, "turns")
    return _changed(old, table)


def learned_mc(function, V, visits, turns):
    """Return what one game changed: ({board: value}, {board: visits})."""
    counted = Counter(visits)
    values = learned(lambda V, turns: function(V, visits, turns), V, turns)
    return values, _changed(counted, visits)


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
    """Draw one choice many times; raise Wrong where the shares are off.  Returns True."""
    draws, old = DRAWS if epsilon else 20, filled(Q)
    first, again = (
        [function(Q, state, rng, epsilon) for _ in range(draws)]
        for rng in (luck.Random(seed), luck.Random(seed))
    )
    legal = list(mdp.choices(state))
    for action in first:
        wrong_if(action not in legal, "illegal", got=repr(action)[:60], legal=legal)
    wrong_if(old != Q, "changed")
    wrong_if(first != again, "own_luck")
    if epsilon == 0:
        _check_greedy(Q, state, first)
    else:
        best = max(legal, key=lambda a: Q[state, a])
        _check_shares(Counter(first), best, len(legal), epsilon)
    return True


def _check_greedy(Q, state, taken):
    """Raise Wrong where another action than one with the largest Q was taken."""
    options = mdp.choices(state)
    worth = {action: Q.get((state, action), 0) for action in options}
    if all(worth[action] == max(worth.values()) for action in taken):
        return
    known = [action for action in options if (state, action) in Q]
    paying = max(options, key=lambda action: options[action][1] + worth[action])
    wrong_if(set(taken) == {paying}, "with_reward")
    wrong_if(len(known) < len(options) and set(taken) <= set(known), "known_only")
    raise Wrong("not_best", {})


def _check_shares(counts, best, n, epsilon):
    """Compare how often the best action was taken with what it should be, and then the others."""
    share, fair = counts[best] / counts.total(), 1 - epsilon + epsilon / n
    causes = {"never": 1.0, "without_best": 1 - epsilon, "reversed": epsilon + (1 - epsilon) / n}
    if abs(share - fair) > 0.06:
        near = min(causes, key=lambda key: abs(causes[key] - share))
        near = near if abs(causes[near] - share) < 0.06 else "share"
        raise Wrong(near, {"share": f"{share:.0%}", "fair": f"{fair:.0%}", "epsilon": epsilon})
    others = [counts[action] / counts.total() for action in range(4) if action in counts]
    wrong_if(len(others) < n or min(others) < 0.6 * epsilon / n, "uneven")


def q_learned(function, seed, epsilon, alpha):
    """Watch q_game play some games on 2×2; raise Wrong for what cannot be.  Returns True."""
    first, again = (
        [_calls(function, mdp.Table(), rng, epsilon, alpha) for _ in range(GAMES)]
        for rng in (luck.Random(seed), luck.Random(seed))
    )
    for calls in first:
        _check_turns(calls, epsilon, alpha)
    wrong_if(first != again, "own_luck")
    return True


def _calls(function, Q, rng, epsilon, alpha):
    """Let a function play a game, which is ended when it has more turns than there can be.

    Returns its calls, each with whether its table is Q: ("choose", True, state, action, epsilon),
    ("q_update", True, state, …).
    """
    with watched(function, "choose", "q_update", most=2 * MOST_TURNS) as calls:
        function(Q, rng, epsilon, alpha)
    return [
        (name, table is Q, *((given[0], answer, given[2]) if name == "choose" else given))
        for name, (table, *given), answer in calls
    ]


def _check_turns(calls, epsilon, alpha):
    """Raise Wrong for the first thing that is odd in a game's calls."""
    names = [call[0] for call in calls]
    for name in ("choose", "q_update"):
        wrong_if(name not in names, "not_called", name=name)
    wrong_if(not all(call[1] for call in calls), "other_table")
    wrong_if(names != ["choose", "q_update"] * (len(names) // 2), "one_each")
    expected = None
    for (_, _, state, action, given), (_, _, *learned) in zip(calls[::2], calls[1::2]):
        wrong_if(given != epsilon or learned[4] != alpha, "settings", epsilon=epsilon, alpha=alpha)
        wrong_if(expected is not None and state != expected, "goes_on_elsewhere")
        expected = _check_turn(state, action, learned)
    wrong_if(len(calls) == 2 * MOST_TURNS, "no_spawn")
    wrong_if(mdp.choices(expected) or sum(map(sum, calls[0][2])) > 8, "part")


def _check_turn(state, action, learned):
    """Check what `q_update` was told of a turn; return the state that follows."""
    after, reward = mdp.choices(state)[action]
    given = f"{learned[0]}, {learned[1]}"
    wrong_if((learned[0], learned[1]) != (state, action), "keys", got=given[:80])
    wrong_if(learned[2] != reward, "reward", got=repr(learned[2])[:40], reward=reward)
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
LAST = """    _, last = turns[-1]
    V[last] += alpha * (0 - V[last])
"""
NEXT = "Q[following, other] for other in mdp.choices(following)"

EXERCISES = [
    Exercise(
        "hw03", answers.backup,
        parts={"rewards": rewards_only, "values": with_values,
               "dead ends": lambda random: with_values(random, deadly=True)},
        mistakes={
            "best_of_means": best_of_means,
            "survivors": (BEST, f"{BEST} / (sum(p for p, s in mdp.next_states(afterstate) "
                          "if mdp.choices(s)) or 1)"),
            "equal_chances": ("chance * ", "1 / len(mdp.next_states(afterstate)) * "),
            "no_reward": ("reward + V[after]", "V[after]"),
            "reward_only": ("reward + V[after]", "reward"),
            "mean_of_actions": (BEST, "sum(totals) / (len(totals) or 1)"),
            "greedy_reward": (BEST, "next((r + V[after] for after, r in sorted("
                              "mdp.choices(state).values(), key=lambda pair: -pair[1])), 0)"),
            "state": (BEST, "V[state]"),
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
        },
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
            "first_ever": ("if after", "if not visits[after] and after"),
            "counts_all": ("            visits[after] += 1\n", "",
                           "        if", "        visits[after] += 1\n        if"),
            "not_counted": ("+= 1", "+= 0", "/ visits[after]", "/ (visits[after] + 1)"),
        },
        outcome=learned_mc, same=same_tables, given=given_game, tell=tell_mc,
        show={"V": "hidden", "visits": "hidden", "turns": "hidden"},
    ),
    Exercise(
        "hw03", answers.td0, parts={"last turn": last_turns, "games": td_games},
        mistakes={
            "no_last": (LAST, ""),
            "end_is_zero": ("+= alpha * (0 - V[last])", "= 0"),
            "own_reward": ("(_, after), (reward, following)", "(reward, after), (_, following)",
                           "_, last", "reward, last", "(0 -", "(reward -"),
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
        },
        outcome=learned, same=same_tables, given=given_game,
        tell=lambda case, changed: _new_values(*case[:2], changed),
        show={"V": "hidden", "turns": "hidden"},
    ),
    Exercise(
        "hw03", answers.choose,
        parts={"greedy": greedy_choices, "explore": random_choices}, outcome=chosen,
        given=given_choice,
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
            "skips_end": ("    Q[state", "    if mdp.choices(following):\n        Q[state"),
            "end_is_zero": ("action])\n", "action])\n    if not mdp.choices(following):\n"
                            "        Q[state, action] = 0\n"),
        },
        outcome=learned, same=same_tables, given=given_turn, tell=tell_turn,
        show=dict.fromkeys(("Q", "action", "reward", "alpha"), "hidden")
        | {"state": "rows", "following": "rows"},
    ),
    Exercise(
        "hw03", answers.q_game, lambda random: [(int(random.integers(1000)), *LEARNING.values())],
        outcome=q_learned,
        show={"Q": "hidden", "rng": "hidden", "epsilon": "hidden", "alpha": "hidden"},
    ),
]  # fmt: skip
