"""hw03: what students typically write instead, which a check compares with their answers.

What is wrong with each stands in messages/hw03.toml, under the name that hw03 gives it.
"""

from collections import Counter

from lib2048.course.labs.hw03.answers import (
    ENOUGH,
    backup,
    best_of,
    filled,
    monte_carlo,
    q_update,
    value_iteration,
)
from lib2048.game import mdp


def best_of_means(V, afterstate):
    totals = Counter()
    for chance, state in mdp.next_states(afterstate):
        for action, (after, reward) in mdp.choices(state).items():
            totals[action] += chance * (reward + V[after])
    return max(totals.values(), default=0)


def survivors(V, afterstate):
    alive = [(p, state) for p, state in mdp.next_states(afterstate) if mdp.choices(state)]
    total = sum(p for p, _ in alive)
    return sum(p * best_of(V, state) for p, state in alive) / total if alive else 0


def backup_of(best, weighted=True):
    """Return a backup that makes something else of a state."""

    def version(V, afterstate):
        pairs = mdp.next_states(afterstate)
        pairs = pairs if weighted else [(1 / len(pairs), state) for _, state in pairs]
        return sum(chance * best(V, state) for chance, state in pairs)

    return version


def mean_of_actions(V, state):
    options = [reward + V[after] for after, reward in mdp.choices(state).values()]
    return sum(options) / len(options) if options else 0


def greedy_reward(V, state):
    after, reward = max(mdp.choices(state).values(), key=lambda pair: pair[1], default=(None, 0))
    return reward + V[after] if after else 0


def best_value(V, state):
    return max((V[after] for after, _ in mdp.choices(state).values()), default=0)


def best_reward(V, state):
    return max((reward for _, reward in mdp.choices(state).values()), default=0)


def one_sweep(afterstates):
    V = mdp.Table()
    for after in afterstates:
        V[after] = backup(V, after)
    return V, 1


def all_at_once(afterstates):
    V, sweeps = mdp.Table(), 0
    while True:
        old, sweeps = filled(V), sweeps + 1
        V.update({after: backup(old, after) for after in afterstates})
        if all(abs(V[after] - old[after]) <= ENOUGH for after in afterstates):
            return V, sweeps


def last_not_counted(afterstates):
    V, sweeps = value_iteration(afterstates)
    return V, sweeps - 1


def last_board_decides(afterstates):
    V, sweeps, change = mdp.Table(), 0, 1
    while change > ENOUGH:
        sweeps += 1
        for after in afterstates:
            new = backup(V, after)
            change, V[after] = abs(new - V[after]), new
    return V, sweeps


def mc(returns, last=True, visit="first", step=None, count=1):
    """Return a Monte Carlo method; returns: rewards and a number → the return of that turn."""

    def version(V, visits, turns):
        rewards, boards = [reward for reward, _ in turns], [after for _, after in turns]
        numbers = range(len(turns) if last else len(turns) - 1)
        for number in reversed(numbers):
            after = boards[number]
            other = {"first": boards[:number], "last": boards[number + 1 :], "every": []}[visit]
            if after not in other:
                visits[after] += count
                n = visits[after] + 1 - count
                V[after] += (returns(rewards, number) - V[after]) * (step or 1 / n)

    return version


def to_come(rewards, number):
    return sum(rewards[number + 1 :])


def mc_first_ever(V, visits, turns):
    old = Counter(visits)
    new = [(reward, after if not old[after] else None) for reward, after in turns]
    monte_carlo(V, visits, new)
    V.pop(None, None)
    visits.pop(None, None)


def mc_counts_all(V, visits, turns):
    to_come = 0
    for number in reversed(range(len(turns))):
        reward, after = turns[number]
        visits[after] += 1
        if after not in [earlier for _, earlier in turns[:number]]:
            V[after] += (to_come - V[after]) / visits[after]
        to_come += reward


def mc_end_is_zero(V, visits, turns):
    monte_carlo(V, visits, turns)
    V[turns[-1][1]] = 0


def td(target, last="target", step=True, order=1, old=1):
    """Return a TD method; target: (V, turns, number) → the target; last: what the end does."""

    def version(V, turns, alpha):
        for number in range(len(turns))[::order]:
            after = turns[number][1]
            if number + 1 == len(turns) and last == "nothing":
                continue
            if number + 1 == len(turns) and last == "zero":
                V[after] = 0
                continue
            error = target(V, turns, number) - old * V[after]
            V[after] += error * (alpha if step else 1)

    return version


def td_frozen(V, turns, alpha):
    old = filled(V)
    for number, (_, after) in enumerate(turns):
        V[after] += alpha * (next_target(old, turns, number) - old[after])


def next_target(V, turns, number):
    if number + 1 == len(turns):
        return 0
    reward, following = turns[number + 1]
    return reward + V[following]


def own_target(V, turns, number):
    following = V[turns[number + 1][1]] if number + 1 < len(turns) else 0
    return turns[number][0] + following


def reward_target(V, turns, number):
    return turns[number + 1][0] if number + 1 < len(turns) else 0


def value_target(V, turns, number):
    return V[turns[number + 1][1]] if number + 1 < len(turns) else 0


def return_target(V, turns, number):
    return sum(reward for reward, _ in turns[number + 1 :])


def q(best, pays=1, old=1, step=True):
    """Return an update of Q; best: (Q, state, following) → the value of what follows."""

    def version(Q, state, action, reward, following, alpha):
        target = pays * reward + best(Q, state, following)
        Q[state, action] += (alpha if step else 1) * (target - old * Q[state, action])

    return version


def largest(Q, state, following):
    return max((Q[following, a] for a in mdp.choices(following)), default=0)


def largest_with_reward(Q, state, following):
    options = mdp.choices(following).items()
    return max((reward + Q[following, a] for a, (_, reward) in options), default=0)


def q_same_action(Q, state, action, reward, following, alpha):
    Q[state, action] += alpha * (reward + Q[following, action] - Q[state, action])


def mean(Q, state, following):
    values = [Q[following, a] for a in mdp.choices(following)]
    return sum(values) / len(values) if values else 0


def q_skips_end(Q, state, action, reward, following, alpha):
    if mdp.choices(following):
        q_update(Q, state, action, reward, following, alpha)


def q_end_is_zero(Q, state, action, reward, following, alpha):
    q_update(Q, state, action, reward, following, alpha)
    if not mdp.choices(following):
        Q[state, action] = 0
