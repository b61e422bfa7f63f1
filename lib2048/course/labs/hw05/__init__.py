"""hw05, TD(λ): errors, how far they reach, shares of an error, online and delayed learning."""

import contextlib
from functools import partial
from operator import is_

import numpy as np

from lib2048.course.labs.exercise import Exercise, wrong_if
from lib2048.course.labs.outcomes import described, equal

# ---------------------------------------------------------------- what learns


class Table:
    """Values of afterstates, {afterstate: value}, of which each is a sum of n look-ups.

    `add` adds an amount to each of the look-ups, as `Network.add` does; no two afterstates share
    one.  Like a network it has no values[afterstate].  known: the values, as a dict.
    """

    def __init__(self, values=(), lookups=1):
        self.known = dict(values)
        self.lookups_per_board = lookups

    def value(self, afterstate):
        """Return the value of an afterstate; 0 for one that was never met."""
        return self.known.get(afterstate, 0)

    def add(self, afterstate, amount):
        """Add an amount to each look-up of an afterstate."""
        self.known[afterstate] = self.value(afterstate) + self.lookups_per_board * float(amount)

    def __repr__(self):
        values = ", ".join(f"{afterstate!r}: {value:g}" for afterstate, value in self.known.items())
        return f"Table({{{values}}}, lookups={self.lookups_per_board})"


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
ALWAYS = 5  # the seed of cases that are the same for every class


def some_games(random):
    """Return finished games as (values, rewards), the shortest of one afterstate."""
    known = [([40], [4]), ([100, 90, 80, 40], [4, 8, 4, 16]), ([0, 0], [0, 8])]
    known += [([12.5, -3.75, 7.25], [8, 16, 4]), ([250, 70_000.5], [4, 65_536])]
    return known + [
        (random.integers(0, 200, n).tolist(), (4 * random.integers(0, 9, n)).tolist())
        for n in random.integers(1, 7, 12)
    ]


def some_lambdas(random):
    """Return values of λ; just a tenth is only the share 0.1 itself, which needs no rounding."""
    lambdas = [0, 0.05, 0.3, 0.5, 0.8, 0.9, 0.99]
    lambdas += [round(float(lam), 3) for lam in random.uniform(0.05, 0.98, 12)]
    clear = [lam for lam in lambdas if all(abs(lam**k - 0.1) > 1e-6 for k in range(1, 200))]
    return [(lam,) for lam in (*clear, 0.1)]


def some_errors(random):
    """Return (errors, λ)."""
    known = [([8], 0.5), ([8, -4], 0.5), ([8, -4, 16, 0], 0.5), ([3, 5, 7], 0), ([2, 6, -3], 0.99)]
    known += [([2.5, -0.75, 4], 0.8), ([4, -8, 12, 6, -20, 10, 32], 0.5)]
    known += [([4, 4, -2, 4], 0.5), ([6, 0, 0, -3], 0.5)]  # equal ones, and 0 between others
    drawn = [_errors(random, n) for n in random.integers(1, 6, 12)]
    return known + [(some, float(random.choice(LAMBDAS))) for some in drawn]


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
        (*_kept(luck, n, lookups), float(luck.choice(lambdas)), alphas[i % len(alphas)], h, *more)
        for luck, alphas in ((np.random.default_rng(ALWAYS), [1]), (random, [0.5, 0.25]))
        for i, (n, h) in enumerate(sizes)
        for lookups in (1, 8)
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


# ---------------------------------------------------------------- how it is judged


def taught(learn, values, kept, *arguments):
    """Return the values after an update, and what is seen of its answer."""
    before, known = list(kept), values.known
    answer = learn(values, kept, *arguments)
    alone = len(kept) == len(before) and all(map(is_, kept, before))
    with contextlib.suppress(Exception):  # what is no list is looked at as it is
        answer = list(answer)
    return {"values": known, "answer": answer, "left alone": alone}


def as_list(case, answer):
    """Return the errors as a list: an array will do."""
    several = isinstance(answer, tuple) or (isinstance(answer, np.ndarray) and answer.ndim)
    return [*answer] if several else answer


def whole(case, h):
    """Return h, which has to be whole: lists are cut by it."""
    wrong_if(isinstance(h, (float, np.floating)), "float", got=h)
    return h


def values_online(case, seen):
    """Return (the value of the newest afterstate, those of the others)."""
    wrong_if(not seen["left alone"], "mutated")
    values, newest = seen["values"], case[1][-1][0]
    return values.get(newest), {name: value for name, value in values.items() if name != newest}


def values_and_list(case, seen):
    """Return (the values after an update, who still waits, as pairs)."""
    waiting = seen["answer"]
    wrong_if(waiting is None, "nothing")
    wrong_if(not seen["left alone"], "mutated")
    pairs = isinstance(waiting, list) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in waiting
    )
    wrong_if(not pairs, "no_pairs", got=described(waiting))
    return seen["values"], [tuple(pair) for pair in waiting]


def looked_up(case):
    """Return what else wrong cases may have in common."""
    n, newest = case[0].lookups_per_board, case[1][-1][1]
    return {"`values.lookups_per_board`": n, "the newest error": newest}


# ---------------------------------------------------------------- the exercises

SHARE = "alpha / values.lookups_per_board"
DUE = "len(waiting) > h or (over and waiting)"
SUM = "weighted_error([error for _, error in waiting], lam)"
REACHED = "past[::-1][: h + 1]"

EXERCISES = [
    Exercise(
        "hw05", errors, some_games, verdict=as_list,
        mistakes={
            "own_reward": ("[*rewards[1:], 0]", "rewards"),
            "own_reward but_at_the_end": ("[*rewards[1:], 0]", "[*rewards[:-1], 0]"),
            "around": ("[*values[1:], 0], [*rewards[1:], 0]",
                       "[*values[1:], values[0]], [*rewards[1:], rewards[0]]"),
            "no_end": ("values)]", "values)][:-1]"),
            "no_start": ("values)]", "values)][1:]"),
            "end_zero": ("values)]", "values)][:-1] + [0]"),
            "sign": ("[r + new - old", "[old - new - r"),
            "plus": ("new - old", "new + old"),
            "no_reward": ("r + new - old", "new - old"),
            "twice": ("r + new", "2 * r + new"),
            "both_rewards": ("r + new - old", "r + new - old - own", "for r, new, old in zip(",
                             "for own, r, new, old in zip(rewards, "),
            "both_rewards plus": ("r + new", "own + r + new", "for r, new, old in zip(",
                                  "for own, r, new, old in zip(rewards, "),
            "gamma 0.9": ("r + new", "r + 0.9 * new"),
            "gamma": ("r + new", "r + 0.99 * new"),
            "target": ("r + new - old", "r + new"),
            "no_value": ("r + new - old", "r - old"),
            "returns": ("[*values[1:], 0]", "[sum(rewards[t + 2 :]) for t in range(len(values))]"),
            "end_reward": ("[*rewards[1:], 0]", "[*rewards[1:], rewards[-1]]"),
            "end_kept": ("[*values[1:], 0]", "[*values[1:], 2 * values[-1]]"),
            "from_the_end": ("values)]", "values)][::-1]"),
        },
        slips={
            "absolute": ("[r + new - old", "[abs(r + new - old)"),
            "squared": ("[r + new - old", "[(r + new - old) ** 2"),
            "whole": ("[r + new - old", "[int(r + new - old)"),
            "end_minus_one": ("[*rewards[1:], 0]", "[*rewards[1:], -1]"),
            "never_below_zero": ("[r + new - old", "[max(0, r + new - old)"),
            "value_before": ("[*values[1:], 0]", "[0, *values[:-1]]"),
            "mutated": ("    newer", "    rewards.append(0)\n    newer"),
            "returned_none": ("return ", ""),
            "wrong_type sum": ("return [", "return sum([", "values)]", "values)])"),
        },
    ),
    Exercise(
        "hw05", horizon, some_lambdas, verdict=whole,
        mistakes={
            "one_more": ("h = 0", "h = 1", "(h + 1)", "h"),
            "one_less": ("return h", "return max(h - 1, 0)"),
            "just_a_tenth": ("> 0.1", ">= 0.1"),
            "hundredth": ("0.1", "0.01"),
            "half": ("0.1", "0.5"),
            "one_step": ("while", "if"),
            "always_zero": ("while", "while False and"),
            "mean floored": ("return h", "return int(1 / (1 - lam))"),
            "mean": ("return h", "return round(1 / (1 - lam))"),
            "logarithm_of_zero": ("h = 0", "h = int(__import__('math').log(lam) * 0)"),
        },
        slips={
            "below_zero": ("return h", "return h - 1"),
            "two_more": ("return h", "return h + 2"),
            "capped": ("    while", "    while h < 100 and"),
            "capped_at_ten": ("    while", "    while h < 10 and"),
            "squares": ("(h + 1)", "(2 * h + 2)"),
            "the_share": ("return h", "return lam**h"),
            "float": ("return h", "return h * 1.0"),
            "logarithm_of_zero at_once": ("h = 0", "from math import ceil, log\n"
                                          "    return max(0, ceil(log(0.1) / log(lam)) - 1)"),
            "returned_none": ("return h", "return None"),
            "wrong_type shares": ("return h", "return [lam**k for k in range(h + 1)]"),
        },
    ),
    Exercise(
        "hw05", weighted_error, some_errors,
        mistakes={
            "backwards": ("enumerate(errors)", "enumerate(errors[::-1])"),
            "plain_sum": ("lam**k * ", ""),
            "first_only": ("enumerate(errors)", "enumerate(errors[:1])"),
            "first_forgotten": ("enumerate(errors)", "list(enumerate(errors))[1:]"),
            "last_forgotten": ("enumerate(errors)", "enumerate(errors[:-1])"),
            "last_only": ("enumerate(errors)", "list(enumerate(errors))[-1:]"),
            "one_late": ("lam**k", "lam ** (k + 1)"),
            "one_early": ("lam**k", "lam ** max(k - 1, 0)"),
            "shares": ("return ", "return (1 - lam) * "),
            "averaged": ("enumerate(errors))", "enumerate(errors)) / len(errors)"),
            "times_k": ("lam**k", "lam * k"),
            "no_power": ("lam**k", "lam ** min(k, 1)"),
            "one_power": ("lam**k", "lam"),
            "cut": ("enumerate(errors)", "enumerate(errors[: horizon(lam) + 1])"),
        },
        slips={
            "two_terms": ("enumerate(errors)", "enumerate(errors[:2])"),
            "absolute": ("* error", "* abs(error)"),
            "divided": ("lam**k", "lam / (k + 1)"),
            "squared_share": ("lam**k", "lam ** (2 * k)"),
            "sign": ("return ", "return -"),
            "mutated": ("return ", "errors.reverse()\n    return ", "in enumerate(errors)",
                        "in enumerate(errors[::-1])"),
            "wrong_type list": ("sum(", "list("),
            "returned_none": ("return ", ""),
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
            "no_rate": (SHARE, "1 / values.lookups_per_board"),
            "no_fading": (" * lam**k", ""),
            "one_late": ("lam**k", "lam ** (k + 1)"),
            "no_power": ("lam**k", "lam ** min(k, 1)"),
            "oldest_most": ("lam**k", "lam ** (min(h + 1, len(past)) - 1 - k)"),
            "one_short": ("h + 1", "h"),
            "one_short slice": (REACHED, "past[-h:][::-1]"),
            "one_more": ("h + 1", "h + 2"),
            "no_reach": ("[: h + 1]", ""),
            "newest_only": ("h + 1", "1"),
            "no_add": ("values.add(", "("),
            "oldest_only": (REACHED, "past[::-1][h : h + 1]", "lam**k", "lam**h"),
            "from_the_start": (REACHED, "past[: h + 1]"),
            "oldest_error": ("past[-1][1]", "past[0][1]"),
            "own_error": ("(afterstate, _)", "(afterstate, error)"),
            "own_error_whole": ("(afterstate, _)", "(afterstate, error)", " * lam**k", ""),
            "sign": (SHARE, f"-{SHARE}"),
            "mutated": (REACHED, "[past.pop() for _ in range(min(h + 1, len(past)))]"),
        },
        slips={
            "split_twice": (SHARE, f"{SHARE} / values.lookups_per_board"),
            "multiplied": (SHARE, "alpha * values.lookups_per_board"),
            "times_k": ("lam**k", "lam * k"),
            "own_horizon": (REACHED, "past[::-1][: horizon(lam) + 1]"),
            "sum_of_errors": ("past[-1][1]", "sum(error for _, error in past)"),
            "the_pair": ("values.add(afterstate", "values.add((afterstate, _)"),
            "absolute": ("past[-1][1]", "abs(past[-1][1])"),
        },
        outcome=taught, verdict=values_online,
        result={"value of the newest": "text", "values of the others": "text"}, features=looked_up,
    ),
    Exercise(
        "hw05", learn_delayed,
        parts={"in the game": delayed_cases((0, 1, 2, 3), False),
               "at the end": delayed_cases((0, 2, 3), True)},
        mistakes={
            "not_split": (SHARE, "alpha"),
            "no_rate": (SHARE, "1 / values.lookups_per_board"),
            "too_early": ("> h", ">= max(h, 1)"),
            "too_late": ("> h", "> h + 1"),
            "h_zero": (DUE, "h and len(waiting) > h or (over and waiting)"),
            "one_is_enough": (DUE, "len(waiting) > h and over"),
            "no_flush": (DUE, "len(waiting) > h"),
            "one_round": ("while", "if"),
            "one_at_the_end": ("waiting = waiting[1:]", "waiting = [] if over else waiting[1:]"),
            "thrown_away": ("waiting = waiting[1:]", "waiting = []"),
            "last_forgotten": (DUE, "len(waiting) > (1 if over else h)",
                               "return waiting", "return [] if over else waiting"),
            "own_error": (SUM, "waiting[0][1]"),
            "own_error_at_the_end": (SUM, f"waiting[0][1] if over else {SUM}"),
            "newest_error": (SUM, "waiting[-1][1]"),
            "plain_sum": (SUM, "sum(error for _, error in waiting)"),
            "one_short": (SUM, "weighted_error([error for _, error in waiting[: max(h, 1)]], lam)"),
            "one_late": ("* error)", "* lam * error)"),
            "backwards": ("in waiting]", "in waiting[::-1]]"),
            "sign": (SHARE, f"-{SHARE}"),
            "all_when_full": ("    while", "    over = over or len(waiting) > h\n    while"),
            "no_add": ("values.add(", "("),
            "newest_learns": ("waiting[0][0]", "waiting[-1][0]", "waiting[1:]", "waiting[:-1]"),
            "not_taken_out": ("waiting = waiting[1:]", "break"),
            "still_there": ("    while", "    whole = waiting\n    while",
                            "return waiting", "return whole if over else waiting"),
            "mutated": ("waiting = waiting[1:]", "del waiting[0]"),
            "nothing": ("return waiting", "return None"),
        },
        slips={
            "split_twice": (SHARE, f"{SHARE} / values.lookups_per_board"),
            "own_horizon": ("    while", "    h = horizon(lam)\n    while"),
            "no_pairs names": ("return waiting", "return [name for name, _ in waiting]"),
            "learned": ("    while", "    whole = waiting\n    while",
                        "return waiting", "return whole[: len(whole) - len(waiting)]"),
            "summed_errors": ("return waiting", "return [(name, 0) for name, _ in waiting]"),
            "the_rest_at_once": ("waiting = waiting[1:]", "waiting = waiting[1:] if over else []"),
        },
        outcome=taught, verdict=values_and_list, same=partial(equal, relative=1e-6),  # f32 will do
        result={"values": "text", "still waiting": "text"}, features=looked_up,
    ),
]  # fmt: skip
