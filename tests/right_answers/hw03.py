"""hw03: right answers in the styles of many people; each function is EXERCISE__STYLE."""

import functools
import itertools
import math
import operator
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np

from lib2048 import mdp

# ---- backup


def backup__loops(V, afterstate):
    value = 0
    for probability, state in mdp.next_states(afterstate):
        best = None
        for action, (after, reward) in mdp.choices(state).items():
            q = reward + V[after]
            if best is None or q > best:
                best = q
        if best is None:
            best = 0  # the game is over
        value = value + probability * best
    return value


def backup__sum(V, afterstate):
    return sum(
        p * max([r + V[a] for a, r in mdp.choices(s).values()] or [0])
        for p, s in mdp.next_states(afterstate)
    )


def backup__numpy(V, afterstate):
    chances, states = zip(*mdp.next_states(afterstate))

    def worth(state):
        found = np.array([r + V[a] for a, r in mdp.choices(state).values()], float)
        return found.max() if found.size else 0.0

    return float(np.dot(chances, [worth(s) for s in states]))


def backup__fsum(V, afterstate):
    def terms():
        for chance, state in mdp.next_states(afterstate):
            if not (options := mdp.choices(state)):
                continue
            yield chance * max(itertools.starmap(lambda after, r: r + V[after], options.values()))

    return math.fsum(terms())


class Backup:
    """State values in one method, afterstates in the other."""

    def __init__(self, V):
        self.V = V

    def of_state(self, state):
        options = mdp.choices(state)
        if not options:
            return 0
        return max(pay + self.V.get(after, 0.0) for after, pay in options.values())

    def of_afterstate(self, afterstate):
        return sum(chance * self.of_state(state) for chance, state in mdp.next_states(afterstate))


def backup__class(V, afterstate):
    return Backup(V).of_afterstate(afterstate)


# ---- value_iteration


def value_iteration__loop(afterstates):
    V = mdp.Table()
    sweeps = 0
    while True:
        biggest_change = 0
        sweeps += 1
        for s in afterstates:
            old = V[s]
            V[s] = backup__loops(V, s)
            biggest_change = max(biggest_change, abs(V[s] - old))
        if biggest_change < 1e-9:
            return V, sweeps


def value_iteration__count(afterstates):
    V = mdp.Table()

    def sweep():
        deltas = []
        for after in afterstates:
            new = backup__sum(V, after)
            deltas.append(abs(new - V[after]))
            V[after] = new
        return max(deltas, default=0.0)

    for sweeps in itertools.count(1):
        if sweep() <= 1e-10:
            break
    return V, sweeps


def value_iteration__defaultdict(afterstates):
    V, n, moved = defaultdict(float), 0, True
    while moved:
        n, moved = n + 1, False
        for a in afterstates:
            v = backup__class(V, a)
            moved |= not math.isclose(v, V[a], rel_tol=0, abs_tol=1e-9)
            V[a] = v
    return V, n


def value_iteration__recursion(afterstates, V=None, sweeps=1):
    V = {} if V is None else V
    before = dict(V)
    for a in afterstates:
        V[a] = backup__fsum(mdp_table(V), a)
    if all(abs(V[a] - before.get(a, 0)) < 1e-9 for a in V):
        return V, sweeps
    return value_iteration__recursion(afterstates, V, sweeps + 1)


class mdp_table:
    """Reads a dict as a table whose unknown entries are 0."""

    def __init__(self, of):
        self.of = of

    def __getitem__(self, key):
        return self.of.get(key, 0)


# ---- monte_carlo


def monte_carlo__returns_first(V, visits, turns):
    rewards = [r for r, _ in turns]
    returns = [sum(rewards[t + 1 :]) for t in range(len(turns))]
    seen = set()
    for t, (_, board) in enumerate(turns):
        if board in seen:
            continue
        seen.add(board)
        visits[board] += 1
        V[board] = V[board] + 1 / visits[board] * (returns[t] - V[board])


def monte_carlo__accumulate(V, visits, turns):
    sums = list(itertools.accumulate((r for r, _ in reversed(turns)), initial=0))[-2::-1]
    first = {}
    for (_, board), to_come in zip(turns, sums):
        first.setdefault(board, to_come)
    for board, G in first.items():
        n = visits[board] = visits[board] + 1
        V[board] = ((n - 1) * V[board] + G) / n


def monte_carlo__first_index(V, visits, turns):
    boards = [after for _, after in turns]
    for number, after in enumerate(boards):
        if boards.index(after) == number:
            visits[after] += 1
            to_come = sum(reward for reward, _ in turns[number + 1 :])
            V[after] = V[after] + (to_come - V[after]) / visits[after]


def monte_carlo__backwards(V, visits, turns):
    G, last = 0, {}
    for reward, board in turns[::-1]:
        last[board] = G  # overwritten by earlier visits: the first one stays
        G += reward
    for board in last:
        visits[board] += 1
        V[board] -= (V[board] - last[board]) / visits[board]


# ---- td0


def td0__index(V, turns, alpha):
    for t in range(len(turns)):
        s = turns[t][1]
        if t + 1 < len(turns):
            r, s2 = turns[t + 1]
            target = r + V[s2]
        else:
            target = 0
        V[s] = V[s] + alpha * (target - V[s])


def td0__sentinel(V, turns, alpha):
    END = object()
    for (_, s), (r, after) in zip(turns, [*turns[1:], (0, END)]):
        V[s] += alpha * (r + (0 if after is END else V[after]) - V[s])


def td0__returns(V, turns, alpha):
    for (_, s), (r, after) in zip(turns, turns[1:]):
        V[s] += alpha * (r + V[after] - V[s])
    V[turns[-1][1]] *= 1 - alpha
    return V


def td0__mixed(V, turns, alpha):
    previous = None
    for reward, board in turns:
        if previous is not None:
            V[previous] = (1 - alpha) * V[previous] + alpha * (reward + V[board])
        previous = board
    V[previous] *= 1 - alpha


Turn = namedtuple("Turn", ["reward", "board"])


def td0__namedtuple(V, turns, alpha):
    game = list(itertools.starmap(Turn, turns))
    for now, then in itertools.zip_longest(game, game[1:]):
        delta = (then.reward + V[then.board] if then else 0) - V[now.board]
        V[now.board] = V[now.board] + alpha * delta


# ---- choose


def choose__coin(Q, state, rng, epsilon):
    actions = list(mdp.choices(state).keys())
    if rng.random() < epsilon:
        return actions[rng.randrange(len(actions))]
    best_action = actions[0]
    for a in actions[1:]:
        if Q[state, a] > Q[state, best_action]:
            best_action = a
    return best_action


def choose__weights(Q, state, rng, epsilon):
    legal = sorted(mdp.choices(state))
    best = max(legal, key=lambda a: Q.get((state, a), 0))
    weights = [epsilon / len(legal) + (1 - epsilon) * (a == best) for a in legal]
    return rng.choices(legal, weights)[0]


def choose__ties_at_random(Q, state, rng, epsilon):
    legal = tuple(mdp.choices(state))
    if rng.uniform(0, 1) >= epsilon:
        top = max(Q[state, a] for a in legal)
        legal = [a for a in legal if Q[state, a] == top]
    return rng.choice(legal)


def choose__numpy(Q, state, rng, epsilon):
    legal = [*mdp.choices(state)]
    values = np.array([Q[(state, a)] for a in legal])
    k = rng.randint(0, len(legal) - 1) if rng.random() < epsilon else int(np.argmax(values))
    return legal[k]


# ---- q_update


def q_update__if(Q, state, action, reward, following, alpha):
    next_actions = mdp.choices(following)
    if next_actions:
        target = reward + max(Q[following, a] for a in next_actions)
    else:
        target = reward
    Q[state, action] = Q[state, action] + alpha * (target - Q[state, action])


def q_update__returns(Q, state, action, reward, following, alpha):
    best = max((Q[following, a] for a in mdp.choices(following)), default=0)
    Q[state, action] += alpha * (reward + best - Q[state, action])
    return Q


def q_update__mixed(Q, state, action, reward, following, alpha):
    *values, = (Q[following, a] for a in mdp.choices(following))
    goal = reward + (sorted(values)[-1] if values else 0)
    Q[state, action] = (1 - alpha) * Q[state, action] + alpha * goal


def q_update__reduce(Q, state, action, reward, following, alpha):
    best = functools.reduce(max, map(lambda a: Q[following, a], mdp.choices(following)), -math.inf)
    best = 0 if best == -math.inf else best
    old = operator.getitem(Q, (state, action))
    operator.setitem(Q, (state, action), old + alpha * (reward + best - old))


# ---- q_game, by the functions of these names


def choose(Q, state, rng, epsilon):
    return choose__coin(Q, state, rng, epsilon)


def q_update(Q, state, action, reward, following, alpha):
    return q_update__if(Q, state, action, reward, following, alpha)


def q_game__while_true(Q, rng, epsilon, alpha):
    s = mdp.start(2, 2, rng)
    while True:
        if not mdp.choices(s):
            break
        a = choose(Q, s, rng, epsilon)
        after, r = mdp.choices(s)[a]
        s2 = mdp.spawn(after, rng)
        q_update(Q, s, a, r, s2, alpha)
        s = s2


def q_game__recursion(Q, rng, epsilon, alpha):
    def turn(state):
        if options := mdp.choices(state):
            action = choose(Q=Q, state=state, rng=rng, epsilon=epsilon)
            (after, reward), following = options[action], None
            following = mdp.spawn(after, rng)
            q_update(Q, state, action, reward, following, alpha=alpha)
            turn(following)

    turn(mdp.start(2, 2, rng))


@dataclass
class Agent:
    Q: dict
    rng: object
    epsilon: float
    alpha: float
    seen: Counter = field(default_factory=Counter)

    def play(self):
        state = mdp.start(2, 2, self.rng)
        while mdp.choices(state):
            state = self.turn(state)
            self.seen[state] += 1

    def turn(self, state):
        action = choose(self.Q, state, self.rng, self.epsilon)
        after, reward = mdp.choices(state)[action]
        following = mdp.spawn(after, self.rng)
        q_update(self.Q, state, action, reward, following, self.alpha)
        return following


def q_game__data_class(Q, rng, epsilon, alpha):
    Agent(Q, rng, epsilon, alpha).play()
