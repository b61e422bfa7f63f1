"""hw05, TD(λ): errors, how far they reach, shares of an error, online and delayed learning."""

from functools import partial

from lib2048.course.labs.exercise import Exercise, wrong_if
from lib2048.course.labs.outcomes import equal

# ---------------------------------------------------------------- what learns


class Table(dict):
    """Values of afterstates, {afterstate: value}, of which each is a sum of n look-ups.

    `add` adds an amount to each of the look-ups, as `Network.add` does; no two afterstates share
    one.
    """

    def __init__(self, values=(), lookups=1):
        super().__init__(values)
        self.lookups_per_board = lookups

    def value(self, afterstate):
        """Return the value of an afterstate; 0 for one that was never met."""
        return self.get(afterstate, 0)

    def add(self, afterstate, amount):
        """Add an amount to each look-up of an afterstate."""
        self[afterstate] = self.value(afterstate) + self.lookups_per_board * amount

    def __repr__(self):
        return f"Table({dict(self)}, lookups={self.lookups_per_board})"


# ---------------------------------------------------------------- the exercises' own versions


def errors(values, rewards):
    """Return the TD error of each afterstate of a finished game."""
    newer, paid = [*values[1:], 0], [*rewards[1:], 0]
    return [r + new - old for r, new, old in zip(paid, newer, values)]


def horizon(lam):
    """Return h, the largest k for which the share λ^k is above a tenth (the paper, IV-D)."""
    h = 0
    while lam ** (h + 1) > 0.1:
        h += 1
    return h


def weighted_error(errors, lam):
    """Return Σ λ^k δ_k of an afterstate's error and those after it, the oldest first."""
    return sum(lam**k * error for k, error in enumerate(errors))


def learn_online(values, past, lam, alpha, h):
    """Let the last h + 1 afterstates learn the newest error."""
    error = past[-1][1]
    for k, (afterstate, _) in enumerate(past[::-1][: h + 1]):
        values.add(afterstate, alpha / values.lookups_per_board * lam**k * error)


def learn_delayed(values, waiting, lam, alpha, h, over):
    """Let those learn that have waited for h more errors, all when it is over; return the rest."""
    while len(waiting) > h or (over and waiting):
        error = weighted_error([error for _, error in waiting], lam)
        values.add(waiting[0][0], alpha / values.lookups_per_board * error)
        waiting = waiting[1:]
    return waiting


# ---------------------------------------------------------------- cases

LETTERS = "ABCDEFGH"
LAMBDAS = (0.5, 0.25, 0.8)


def some_games(random):
    """Return finished games as (values, rewards), the shortest of one afterstate."""
    known = [([40], [4]), ([100, 90, 80, 40], [4, 8, 4, 16]), ([0, 0], [0, 8])]
    return known + [
        (random.integers(0, 200, n).tolist(), (4 * random.integers(0, 9, n)).tolist())
        for n in random.integers(1, 7, 12)
    ]


def some_lambdas(random):
    """Return values of λ, none of which has a share of just a tenth."""
    lambdas = [0, 0.05, 0.3, 0.5, 0.8, 0.9, 0.99]
    lambdas += [round(float(lam), 3) for lam in random.uniform(0.05, 0.98, 12)]
    return [(lam,) for lam in lambdas if all(abs(lam**k - 0.1) > 1e-6 for k in range(1, 200))]


def some_errors(random):
    """Return (errors, λ)."""
    drawn = [_errors(random, n) for n in random.integers(1, 6, 12)]
    return [([8], 0.5), ([8, -4], 0.5), ([8, -4, 16, 0], 0.5), ([3, 5, 7], 0)] + [
        (some, float(random.choice(LAMBDAS))) for some in drawn
    ]


def _errors(random, n):
    """Return so many errors that are not 0."""
    return (random.choice([-1, 1], n) * random.integers(1, 20, n)).tolist()


def _kept(random, n, lookups):
    """Return (a table, [(afterstate, error), …], the oldest first)."""
    values = {name: int(value) for name, value in zip(LETTERS, random.integers(0, 100, n))}
    return Table(values, lookups), list(zip(LETTERS, _errors(random, n)))


def _learning(random, sizes, lambdas, *more):
    """Return what was kept, λ, α, h (and more) for several (how many are kept, h)."""
    return [
        (*_kept(random, n, lookups), float(random.choice(lambdas)), alpha, h, *more)
        for n, h in sizes
        for lookups, alpha in ((1, 1), (8, 0.5))
    ]


def online_cases(lambdas, horizons):
    """Return a function that draws cases of `learn_online`."""
    sizes = [(n, h) for n in range(1, 6) for h in horizons]
    return lambda random: _learning(random, sizes, lambdas)


def delayed_cases(horizons, over):
    """Return a function that draws cases of `learn_delayed`.

    In the middle of a game there are too few, or one is due; some games are shorter than h.
    """
    sizes = [(n, h) for h in horizons for n in range(1, h + 2)]
    return lambda random: _learning(random, sizes, LAMBDAS, over)


# ---------------------------------------------------------------- outcomes


def listed(errors, values, rewards):
    """Return the errors as a list: an array will do."""
    answer = errors(values, rewards)
    return answer.tolist() if hasattr(answer, "tolist") else answer


def taught(learn_online, values, *arguments):
    """Return the values after an update."""
    _call(learn_online, values, *arguments)
    return dict(values)


def taught_late(learn_delayed, values, *arguments):
    """Return (the values after an update, who still waits, as pairs)."""
    waiting = _call(learn_delayed, values, *arguments)
    wrong_if(waiting is None, "nothing")
    return dict(values), [tuple(pair) for pair in waiting]


def _call(learn, values, kept, *arguments):
    before = list(kept)
    answer = learn(values, kept, *arguments)
    wrong_if(kept != before, "mutated")
    return answer


# ---------------------------------------------------------------- the exercises

SHARE = "alpha / values.lookups_per_board"
DUE = "len(waiting) > h or (over and waiting)"
SUM = "weighted_error([error for _, error in waiting], lam)"

EXERCISES = [
    Exercise(
        "hw05", errors, some_games, outcome=listed,
        mistakes={
            "own_reward": ("[*rewards[1:], 0]", "rewards"),
            "no_end": ("values)]", "values)][:-1]"),
            "end_zero": ("values)]", "values)][:-1] + [0]"),
            "sign": ("[r + new - old", "[old - new - r"),
            "no_reward": ("r + new - old", "new - old"),
            "end_reward": ("[*rewards[1:], 0]", "[*rewards[1:], rewards[-1]]"),
        },
    ),
    Exercise(
        "hw05", horizon, some_lambdas,
        mistakes={
            "one_more": ("h = 0", "h = 1", "(h + 1)", "h"),
            "hundredth": ("0.1", "0.01"),
            "one_step": ("while", "if"),
        },
    ),
    Exercise(
        "hw05", weighted_error, some_errors,
        mistakes={
            "backwards": ("enumerate(errors)", "enumerate(errors[::-1])"),
            "plain_sum": ("lam**k * ", ""),
            "first_only": ("enumerate(errors)", "enumerate(errors[:1])"),
            "one_late": ("lam**k", "lam ** (k + 1)"),
            "shares": ("return ", "return (1 - lam) * "),
            "times_k": ("lam**k", "lam * k"),
        },
    ),
    Exercise(
        "hw05", learn_online,
        parts={
            "the newest": online_cases([0, 0.5], [0]),
            "passing back": online_cases(LAMBDAS, [1, 2, 3]),
        },
        mistakes={
            "not_split": (SHARE, "alpha"),
            "no_fading": (" * lam**k", ""),
            "oldest_most": ("lam**k", "lam ** (min(h + 1, len(past)) - 1 - k)"),
            "one_short": ("h + 1", "h"),
            "no_reach": ("[: h + 1]", ""),
            "newest_only": ("h + 1", "1"),
            "own_error": ("(afterstate, _)", "(afterstate, error)"),
            "own_error_whole": ("(afterstate, _)", "(afterstate, error)", " * lam**k", ""),
            "sign": (SHARE, f"-{SHARE}"),
        },
        outcome=taught,
    ),
    Exercise(
        "hw05", learn_delayed,
        parts={"in the game": delayed_cases((0, 1, 2, 3), False),
               "at the end": delayed_cases((0, 2, 3), True)},
        mistakes={
            "not_split": (SHARE, "alpha"),
            "too_early": ("> h", ">= max(h, 1)"),
            "too_late": ("> h", "> h + 1"),
            "no_flush": (DUE, "len(waiting) > h"),
            "one_at_the_end": ("waiting = waiting[1:]", "waiting = [] if over else waiting[1:]"),
            "last_forgotten": (DUE, "len(waiting) > (1 if over else h)",
                               "return waiting", "return [] if over else waiting"),
            "own_error": (SUM, "waiting[0][1]"),
            "newest_error": (SUM, "waiting[-1][1]"),
            "backwards": ("in waiting]", "in waiting[::-1]]"),
            "all_when_full": ("    while", "    over = over or len(waiting) > h\n    while"),
            "not_taken_out": ("waiting = waiting[1:]", "break"),
        },
        outcome=taught_late, same=partial(equal, relative=0),
        result={"values": "text", "still waiting": "text"},
    ),
]  # fmt: skip
