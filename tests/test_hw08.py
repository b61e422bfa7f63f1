"""hw08 as typical students answer it: what is right passes, what is wrong gets the right hint."""

import numpy as np
import pytest

from lib2048 import afterstates, slide, symmetries, to_exponents
from lib2048.course import labs
from lib2048.course.labs import checks
from lib2048.course.labs.messages import say


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(checks, "SECONDS", 30)


def with_tile(board, cell, exponent):
    return board | np.uint64(exponent << 4 * cell)


# ---------------------------------------------------------------- best


def best(state, value):
    most = 0
    for number, (_action, after, reward) in enumerate(afterstates(state)):
        worth = reward + value(after)
        if number == 0 or worth > most:
            most = worth
    return most


def best_slides(state, value):
    found = []
    for action in range(4):
        after, reward = slide(state, action)
        found.append(reward + value(after))
    return max(found)


def best_of_values(state, value):
    values = [value(after) for _, after, _ in afterstates(state)]
    return max(values) if values else 0


def best_from_minus_infinity(state, value):
    most = float("-inf")
    for _, after, reward in afterstates(state):
        most = max(most, reward + value(after))
    return most


def best_on_average(state, value):
    options = afterstates(state)
    total = sum(reward + value(after) for _, after, reward in options)
    return total / len(options) if options else 0


# ---------------------------------------------------------------- expected


def expected(afterstate, worth):
    total, cells = 0.0, 0
    for cell in range(16):
        if (int(afterstate) >> 4 * cell) % 16 == 0:
            cells += 1
            total += 0.9 * worth(with_tile(afterstate, cell, 1))
            total += 0.1 * worth(with_tile(afterstate, cell, 2))
    return total / cells


def expected_sum(afterstate, worth):
    total = 0.0
    for cell in np.flatnonzero(to_exponents(afterstate) == 0):
        two, four = (with_tile(afterstate, int(cell), e) for e in (1, 2))
        total += 0.9 * worth(two) + 0.1 * worth(four)
    return total


def expected_fair(afterstate, worth):
    empty = [cell for cell in range(16) if to_exponents(afterstate)[cell] == 0]
    states = [with_tile(afterstate, cell, e) for cell in empty for e in (1, 2)]
    return sum(worth(state) for state in states) / len(states)


def expected_tiles(afterstate, worth):
    empty = [cell for cell in range(16) if to_exponents(afterstate)[cell] == 0]
    total = 0.0
    for cell in empty:
        total += 0.9 * worth(with_tile(afterstate, cell, 2))
        total += 0.1 * worth(with_tile(afterstate, cell, 4))
    return total / len(empty)


def expected_of_states(afterstate, worth):
    total, count = 0.0, 0
    for cell in np.flatnonzero(to_exponents(afterstate) == 0):
        for exponent, chance in ((1, 0.9), (2, 0.1)):
            total += chance * worth(with_tile(afterstate, int(cell), exponent))
            count += 1
    return total / count


# ---------------------------------------------------------------- ahead


def ahead(afterstate, plies, value):
    if plies > 0:
        return expected(afterstate, lambda s: best(s, lambda a: ahead(a, plies - 1, value)))
    return value(afterstate)


def ahead_without_last_max(afterstate, plies, value):
    if plies == 0:
        return value(afterstate)
    if plies == 1:
        return expected(afterstate, value)
    below = lambda a: ahead_without_last_max(a, plies - 1, value)  # noqa: E731
    return expected(afterstate, lambda state: best(state, below))


def ahead_without_luck(afterstate, plies, value):
    if plies == 0:
        return value(afterstate)
    return best(afterstate, lambda after: ahead(after, plies - 1, value))


def ahead_too_far(afterstate, plies, value):
    if plies < 0:
        return value(afterstate)
    if plies > 1:
        return expected(afterstate, lambda s: best(s, lambda a: ahead_too_far(a, 0, value)))
    return expected(afterstate, lambda s: best(s, lambda a: ahead_too_far(a, plies - 1, value)))


def ahead_one_ply(afterstate, plies, value):
    return expected(afterstate, lambda state: best(state, value)) if plies else value(afterstate)


# ---------------------------------------------------------------- choose


def choose(board, plies, value):
    action, most = None, None
    for a, after, reward in afterstates(board):
        worth = reward + ahead(after, plies - 1, value)
        if most is None or worth >= most:  # the last of equals
            action, most = a, worth
    return action


def choose_by_value(board, plies, value):
    options = {ahead(after, plies - 1, value): a for a, after, _ in afterstates(board)}
    return options[max(options)]


def choose_by_the_board(board, plies, value):
    here = ahead(board, plies - 1, value)
    options = {reward + here: a for a, _, reward in reversed(afterstates(board))}
    return options[max(options)]


def choose_place(board, plies, value):
    worths = [reward + ahead(after, plies - 1, value) for _, after, reward in afterstates(board)]
    return worths.index(max(worths))


def choose_too_deep(board, plies, value):
    worths = {a: reward + ahead(after, plies, value) for a, after, reward in afterstates(board)}
    return max(worths, key=worths.get)


# ---------------------------------------------------------------- deeper


def deeper(afterstate, value):
    def answer(state):
        options = afterstates(state)
        return max(r + expected(a, value) for _, a, r in options) if options else 0.0

    return expected(afterstate, answer)


def deeper_slipped(afterstate, value):
    def answer(state):
        most = -3.4028234663852886e38
        for _, after, reward in afterstates(state):
            most = max(most, reward + value(after))
        return most

    return expected(afterstate, answer)


def deeper_of_afterstates(afterstate, value):
    return expected(afterstate, lambda state: best(state, value))


def deeper_to_death(afterstate, value):
    def answer(state):
        worths = [reward + expected(after, value) for _, after, reward in afterstates(state)]
        return max(worths, default=-3.4028234663852886e38)

    return expected(afterstate, answer)


def deeper_not_at_all(afterstate, value):
    return expected(afterstate, value)


# ---------------------------------------------------------------- tabled


def tabled(afterstate, plies, value, table):
    if (plies, afterstate) in table:
        return table[plies, afterstate]
    if plies == 0:
        answer = value(afterstate)
    else:
        below = lambda after: tabled(after, plies - 1, value, table)  # noqa: E731
        answer = expected(afterstate, lambda state: best(state, below))
    table[plies, afterstate] = answer
    return answer


def tabled_by_board(afterstate, plies, value, table):
    if afterstate not in table:
        below = lambda after: tabled_by_board(after, plies - 1, value, table)  # noqa: E731
        table[afterstate] = value(afterstate)
        if plies:
            table[afterstate] = expected(afterstate, lambda state: best(state, below))
    return table[afterstate]


def tabled_nowhere(afterstate, plies, value, table):
    return ahead(afterstate, plies, value)


def tabled_without_leaves(afterstate, plies, value, table):
    if plies == 0:
        return value(afterstate)
    if (afterstate, plies) not in table:
        below = lambda after: tabled_without_leaves(after, plies - 1, value, table)  # noqa: E731
        table[afterstate, plies] = expected(afterstate, lambda state: best(state, below))
    return table[afterstate, plies]


def tabled_by_image(afterstate, plies, value, table):
    key = int(min(symmetries(afterstate))), plies
    if key not in table:
        below = lambda after: tabled_by_image(after, plies - 1, value, table)  # noqa: E731
        worth = lambda state: best(state, below)  # noqa: E731
        table[key] = expected(afterstate, worth) if plies else value(afterstate)
    return table[key]


RIGHT = {
    "best": best, "expected": expected, "ahead": ahead, "choose": choose, "deeper": deeper,
    "tabled": tabled,
}  # fmt: skip
WRONG = {
    "best": {
        best_slides: "stuck",
        best_of_values: "no_reward",
        best_from_minus_infinity: "dead_end",
        best_on_average: "mean",
    },
    "expected": {
        expected_sum: "not_divided",
        expected_fair: "half",
        expected_tiles: "tiles",
        expected_of_states: "states",
    },
    "ahead": {
        ahead_without_last_max: "no_last_max",
        ahead_without_luck: "no_chance",
        ahead_too_far: "too_deep",
        ahead_one_ply: "one_ply",
    },
    "choose": {
        choose_by_value: "no_reward",
        choose_by_the_board: "before",
        choose_place: "place",
        choose_too_deep: "too_deep",
    },
    "deeper": {
        deeper_slipped: "both",
        deeper_of_afterstates: "afterstates",
        deeper_to_death: "dead_end",
        deeper_not_at_all: "one_ply",
    },
    "tabled": {
        tabled_by_board: "no_depth",
        tabled_nowhere: "no_table",
        tabled_without_leaves: "no_leaves",
        tabled_by_image: "mirror",
    },
}
PAIRS = [(name, wrong, key) for name, found in WRONG.items() for wrong, key in found.items()]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_passes(name):
    result = labs.check(f"hw08.{name}", RIGHT[name])
    assert result.passed and not result.stood_in


@pytest.mark.parametrize("name, wrong, key", PAIRS, ids=lambda x: getattr(x, "__name__", x))
def test_a_wrong_answer_gets_its_hint(name, wrong, key):
    result = labs.check(f"hw08.{name}", wrong, seed=11)
    assert result.status == "failed"
    assert result.reason == say(f"hw08.{name}.{key}")


def test_a_missing_function_is_not_attempted():
    def missing(state, value):
        raise NotImplementedError

    assert labs.check("hw08.best", missing).status == "not attempted"


def test_each_part_of_the_repair_sees_its_own_slip():
    for part, wrong in ("dead ends", deeper_to_death), ("states", deeper_of_afterstates):
        other = "states" if part == "dead ends" else "dead ends"
        assert labs.check("hw08.deeper", wrong, part=part).status == "failed"
        assert labs.check("hw08.deeper", wrong, part=other).passed


def test_any_of_several_equally_good_actions_will_do():
    def last(board, plies, value):
        worths = {a: r + ahead(after, plies - 1, value) for a, after, r in afterstates(board)}
        return max(reversed(worths), key=worths.get)

    assert labs.check("hw08.choose", last).passed
