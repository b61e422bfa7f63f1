"""hw03's functions as the library has them: value iteration, Monte Carlo, TD(0), Q-learning."""

from itertools import pairwise

from lib2048.game import mdp

ENOUGH = 1e-9  # a smaller change of a value is none


def backup(V, afterstate):
    """Return the average, over all spawns, of the best r + V(s′)."""
    total = 0
    for chance, state in mdp.next_states(afterstate):
        totals = [reward + V[after] for after, reward in mdp.choices(state).values()]
        total += chance * max(totals, default=0)
    return total


def value_iteration(afterstates):
    """Sweep over the afterstates until nothing changes; return (V, sweeps)."""
    V, sweeps, changed = mdp.Table(), 0, True
    while changed:
        changed, sweeps = False, sweeps + 1
        for after in afterstates:
            new = backup(V, after)
            changed = changed or abs(new - V[after]) > ENOUGH
            V[after] = new
    return V, sweeps


def monte_carlo(V, visits, turns):
    """Move V of each first visit to the average of its returns."""
    to_come = 0
    for number in reversed(range(len(turns))):
        reward, after = turns[number]
        if after not in [earlier for _, earlier in turns[:number]]:
            visits[after] += 1
            V[after] += (to_come - V[after]) / visits[after]
        to_come += reward


def td0(V, turns, alpha):
    """Move V of each turn towards the next reward + the next value, the last one towards 0."""
    for (_, after), (reward, following) in pairwise(turns):
        V[after] += alpha * (reward + V[following] - V[after])
    _, last = turns[-1]
    V[last] += alpha * (0 - V[last])


def choose(Q, state, rng, epsilon):
    """Return the best legal action by Q, or with probability epsilon any legal one."""
    legal = list(mdp.choices(state))
    if rng.random() < epsilon:
        return rng.choice(legal)
    return max(legal, key=lambda action: Q[state, action])


def q_update(Q, state, action, reward, following, alpha):
    """Move Q(s, a) towards r + the largest Q of the state that followed, 0 for a dead one."""
    best = max((Q[following, other] for other in mdp.choices(following)), default=0)
    Q[state, action] += alpha * (reward + best - Q[state, action])


def q_game(Q, rng, epsilon, alpha):
    """Play a game on 2×2 and learn from every turn of it."""
    state = mdp.start(2, 2, rng)
    while options := mdp.choices(state):
        action = choose(Q, state, rng, epsilon)
        after, reward = options[action]
        following = mdp.spawn(after, rng)
        q_update(Q, state, action, reward, following, alpha)
        state = following


def filled(entries):
    """Return a table with these entries, {key: value}."""
    table = mdp.Table()
    table.update(entries)
    return table
