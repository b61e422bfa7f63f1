"""hw07: typical wrong answers of students, and the lab's rules beside the library's."""

import random

import numpy as np
import pytest

from lib2048 import Network, from_tiles
from lib2048.course import labs
from lib2048.course.labs import hw07
from lib2048.course.labs.messages import say

# ---------------------------------------------------------------- answers of students


def what_is_there(board, top, marks):
    tiles = sum(board, [])
    bits = ["1" if top // 2**k in tiles else "0" for k in range(marks)]
    return int("".join(bits), 2)


def lowest_first(board, top, marks):
    tiles = sum(board, [])
    count = {2**k: tiles.count(2**k) for k in range(1, 16)}
    tile = 32768
    while tile > top:
        count[tile // 2] += 2 * count[tile]
        tile //= 2
    number = 0
    for k in range(marks):
        if count[tile] > 1:
            count[tile // 2] += count[tile] - 1
        number += 2**k * (count[tile] > 0)
        tile //= 2
    return number


def how_far(board, top, marks):
    largest, number = max(max(row) for row in board), 0
    for k in range(marks):
        if largest >= top // 2**k:
            number += 1
    return number


def nothing_above(board, top, marks):
    tiles, number, carried = sum(board, []), 0, 0
    for k in range(marks):
        count = tiles.count(top // 2**k) + carried
        number, carried = number * 2 + min(count, 1), max(0, count - 1)
    return number


def in_halves(board, top, marks):
    """Take each surplus tile for two of half its size."""
    count = {2**k: sum(board, []).count(2**k) for k in range(16)}
    number, tile = 0, 32768
    while tile >= top / 2 ** (marks - 1):
        kept = 1 if tile <= top and count[tile] else 0
        if tile <= top:
            number = 2 * number + kept
        count[tile // 2] += 2 * (count[tile] - kept)
        tile //= 2
    return number


def only_its_own(V, stage, pattern):
    if (stage, pattern) in V:
        return V[stage, pattern]
    return 0


def down_to_the_ground(V, stage, pattern):
    for lower in range(stage, -1, -1):
        if V.get((lower, pattern), 0) != 0:
            return V[lower, pattern]
    return 0


def zero_is_known(V, stage, pattern):
    if (stage, pattern) in V:
        return V[stage, pattern]
    return V.get((stage - 1, pattern), 0)


def copies_while_reading(V, stage, pattern):
    if V.get((stage, pattern), 0) == 0:
        V[stage, pattern] = V.get((stage - 1, pattern), 0)
    return V[stage, pattern]


def read(V, stage, pattern):
    raise NotImplementedError


def tc(V, E, A, key, error, rate):
    own = 1
    if A.get(key, 0) > 0:
        own = abs(E[key]) / A[key]
    V[key] = V.get(key, 0) + own * rate * error
    E[key] = E.get(key, 0) + error
    A[key] = A.get(key, 0) + abs(error)


def begins_at_nothing(V, E, A, stage, pattern, error, rate):
    tc(V, E, A, (stage, pattern), error, rate)


def copies_for_ever(V, E, A, stage, pattern, error, rate):
    if (stage - 1, pattern) in V and V[stage - 1, pattern] != 0:
        V[stage, pattern] = V[stage - 1, pattern]
    tc(V, E, A, (stage, pattern), error, rate)


def all_three(V, E, A, stage, pattern, error, rate):
    if V.get((stage, pattern), 0) == 0:
        for table in (V, E, A):
            table[stage, pattern] = table.get((stage - 1, pattern), 0)
    tc(V, E, A, (stage, pattern), error, rate)


def teaches_the_one_below(V, E, A, stage, pattern, error, rate):
    key = (stage, pattern)
    if V.get(key, 0) == 0 and stage > 0:
        key = (stage - 1, pattern)
    tc(V, E, A, key, error, rate)


def moves_it(V, E, A, stage, pattern, error, rate):
    if V.get((stage, pattern), 0) == 0:
        V[stage, pattern] = V.pop((stage - 1, pattern), 0)
    tc(V, E, A, (stage, pattern), error, rate)


def with_the_librarys_read(V, E, A, stage, pattern, error, rate):
    V[stage, pattern] = read(V, stage, pattern)
    tc(V, E, A, (stage, pattern), error, rate)


def every_change(stages):
    return [n for n in range(1, len(stages)) if stages[n] != stages[n - 1]]


def one_higher(stages):
    turns = []
    for n in range(len(stages) - 1):
        if stages[n + 1] - stages[n] == 1:
            turns.append(n + 1)
    return turns


def the_turn_before(stages):
    return [n for n in range(len(stages) - 1) if stages[n] < stages[n + 1]]


def never_seen_before(stages):
    return [n for n in range(1, len(stages)) if stages[n] > max(stages[:n])]


def skips_what_is_empty(stage, kept, rng):
    for later in range(stage + 1, len(kept)):
        if kept[later]:
            return later, rng.choice(kept[later])
    return 0, None


def always_the_last(stage, kept, rng):
    stage = (stage + 1) % len(kept)
    return (stage, kept[stage][-1]) if kept[stage] else (0, None)


def stays(stage, kept, rng):
    return (stage, rng.choice(kept[stage])) if kept[stage] else (0, None)


def takes_it_away(stage, kept, rng):
    if stage + 1 < len(kept) and kept[stage + 1]:
        return stage + 1, kept[stage + 1].pop()
    return 0, None


def the_state_alone(stage, kept, rng):
    return rng.choice(kept[stage + 1]) if kept[stage + 1 : stage + 2] not in ([], [[]]) else None


def rather_the_first(stage, kept, rng):
    if stage + 1 == len(kept) or not kept[stage + 1]:
        return 0, None
    states = kept[stage + 1]
    return stage + 1, states[min(int(rng.expovariate(2)), len(states) - 1)]


WRONG = {
    what_is_there: "stage.presence",
    lowest_first: "stage.turned",
    how_far: "stage.steps",
    nothing_above: "stage.above_ignored",
    in_halves: "stage.surplus_twice",
    only_its_own: "read.own_only",
    down_to_the_ground: "read.all_the_way",
    zero_is_known: "read.zero_known",
    copies_while_reading: "read.wrote",
    begins_at_nothing: "learn.from_zero",
    copies_for_ever: "learn.keeps_copying",
    all_three: "learn.promotes_E",
    teaches_the_one_below: "learn.taught_below",
    moves_it: "learn.moved",
    every_change: "entered.changes",
    one_higher: "entered.one_up",
    the_turn_before: "entered.before",
    never_seen_before: "entered.records",
    skips_what_is_empty: "next_start.skips",
    always_the_last: "next_start.newest",
    stays: "next_start.same_stage",
    takes_it_away: "next_start.took_away",
    rather_the_first: "next_start.unfair",
}


@pytest.mark.parametrize("answer, key", WRONG.items(), ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_answer_gets_its_hint(answer, key):
    result = labs.check(f"hw07.{key.partition('.')[0]}", answer)
    assert (result.status, result.reason) == ("failed", say(f"hw07.{key}"))


def test_no_pair_is_said():
    assert "a pair (stage, state)" in labs.check("hw07.next_start", the_state_alone).reason


def test_a_missing_read_is_the_librarys():
    result = labs.check("hw07.learn", with_the_librarys_read)
    assert result.passed and result.stood_in == ["read"]


def stub(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("name", ["stage", "read", "learn", "entered", "next_start"])
def test_stubs_are_not_attempted(name):
    assert labs.check(f"hw07.{name}", stub).status == "not attempted"


# ---------------------------------------------------------------- beside the library


@pytest.mark.parametrize("top, marks", [(32768, 4), (32768, 5), (2048, 3), (1024, 2), (512, 1)])
def test_the_labs_stage_is_the_networks(top, marks):
    network, luck = Network("cells:0", stages=marks, top=top), random.Random(top + marks)
    for _ in range(200):
        tiles = [luck.choice([0, 2, 256, *(2**k for k in range(8, 16))]) for _ in range(16)]
        board = np.reshape(tiles, (4, 4)).tolist()
        assert hw07.stage(board, top, marks) == network.stage(from_tiles(board))


def test_the_labs_promotion_is_the_networks():
    """One tuple of one cell, an empty corner: all 8 look-ups of both boards are one weight."""
    network, luck, V = Network("cells:0", stages=1, top=512), random.Random(1), {}
    low, high = (
        from_tiles([[0, 2, 4, 0], [2, tile, 8, 2], [4, 2, 4, 2], [0, 4, 2, 0]])
        for tile in (256, 512)
    )
    for _ in range(50):
        stage, amount = luck.randrange(2), luck.choice([-8, -4, 4, 8])
        network.add((low, high)[stage], amount / 8)
        hw07.learn(V, {}, {}, stage, "p", amount, 1)  # no memory: the rate is 1
        for at, board in enumerate((low, high)):
            assert network.value(board) / 8 == hw07.read(V, at, "p")
