"""hw04, the TDL2048 lab: the five functions of an n-tuple network that learns by TD(0)."""

from functools import partial

from lib2048.course.labs.exercise import Exercise, changed
from lib2048.course.labs.hw04 import program
from lib2048.course.labs.hw04.cases import (
    choice_cases,
    expected_cases,
    index_cases,
    last_cases,
    path_cases,
    update_cases,
    value_cases,
)
from lib2048.course.labs.hw04.cases import random_game as random_game  # other labs play such, too
from lib2048.course.labs.hw04.effects import (
    afterstates_of,
    an_action,
    close,
    effect,
    given_choice,
    given_path,
    given_update,
    of_choice,
    path_learned,
    states_of,
    tell_learned,
    update_learned,
)
from lib2048.course.labs.hw04.program import PLAYED, UNIT
from lib2048.course.labs.seeds import ODDS, RULES, variant
from lib2048.game import board as boards
from lib2048.networks.names import with_game

NETWORKS = {  # by the rows of the board
    4: ("4x6", "cells:012345,456789,012456,345678", "cells:012345,012456,456789,01259d"),
    3: ("cells:012345,012456,014589,12569a", "cells:012345,456789,014589,12569a",
        "cells:012456,456789,014589,12569a"),
}  # fmt: skip


def networks_of(game):
    """Return the names of the networks that a class of this game trains."""
    return tuple(with_game(name, game) for name in NETWORKS[game.rows])


def network_of(student):
    """Return the name of the network that a student trains: each of three has its share.

    Args:
        student: number or name, see `seeds.variant`.
    """
    return variant(student).choose("tuples", networks_of(PLAYED), 1)[0]


# ---------------------------------------------------------------- typical mistakes
# What they change are parts of the functions in `program`.  Of several with one message, each has a
# word of its own behind it.

HIDDEN = {"network": "hidden", "path": "hidden"}

HAND_IN = ("report", "curve", "config")
# Several cells compile.  The first of the named ones trains 20 000 games, which the other two use
# again, and the last may train a second seed.
CELL_SECONDS = {"any": 60, "performance-half": 150, "performance-full": 150}

CELL = "at(board, pattern[i])"
SHARE = "amount / (8 * len(network.weights))"
VALUE = "estimate(network, board)"
OLD_VALUE = "    share =", f"    value = {VALUE}\n    share ="
LEGAL = "[a for a in range(4) if slide(board, a)[0] != board]"
PAID, PATH_PAID = "reward / UNIT", "path[t].reward / UNIT"
LEARNS = f"target = {PATH_PAID} + update("
BACKWARDS = "len(path) - 1, -1, -1"
NOT_LAST = "len(path) - 2, -1, -1"
NOT_FIRST = "len(path) - 1, 0, -1"
EMPTY = "[c for c in range(CELLS) if at({0}, c) == 0]"
DEAD = "    update(network, dead, alpha * (0.0 - estimate(network, dead)))\n"
STEP = "alpha * error"
# By the rules of another class, or of plain 2048.
OTHER_BOARD = "CELLS", "12" if program.CELLS == 16 else "16"
OTHER_ODDS = [odds for odds in (*ODDS, "0.1") if float(odds) != program.FOUR]
OTHER_RULES = {"board": OTHER_BOARD}
OTHER_RULES |= {f"odds {four}": ("FOUR", four) for four in OTHER_ODDS}
OTHER_RULES |= {f"rules {four}": ("FOUR", four, *OTHER_BOARD) for four in OTHER_ODDS}
UNITS = [unit for unit in (1, *RULES["hw04"]["unit"][1]) if unit != UNIT]
# Helpers that a student may have written again, within another function.
INDICES = {
    name: changed(program.indexof, *edits)
    for name, edits in {
        "three bits": (CELL, f"({CELL} & 7)"),
        "up to 11": (CELL, f"min({CELL}, 11)"),
        "up to 14": (CELL, f"min({CELL}, 14)"),
        "base 15": (f"|= {CELL} << (4 * i)", f"+= {CELL} * 15**i"),
        "sorted": ("pattern[i]", "sorted(pattern)[i]"),
    }.items()
}


def other_units(truth):
    """Return the mistakes of counting rewards in the unit of another class."""
    return {f"unit {unit}": changed(truth, "UNIT", str(unit)) for unit in UNITS}


def by_indices(truth):
    """Return what a function is with another index of its own."""
    return {name: changed(truth, indexof=index) for name, index in INDICES.items()}


def plain_slide(truth):
    """Return the mistakes of `lib2048.slide`: two 32768s merge, on 4x4, whatever rows there are."""
    if program.CELLS == 16:
        return {"no_65536": changed(truth, slide=boards.slide)}
    plain = {"board": changed(truth, slide=boards.slide)}
    if UNIT != 1:
        plain["rules"] = changed(truth, "UNIT", "1", slide=boards.slide)
    return plain


def guards(name, before):
    """Return the mistakes of a guard that lets nothing learn what is no number, or is large."""
    tests = {
        "no_number": "{0} != {0} or abs({0}) == np.inf", "no_number nan": "{0} != {0}",
        "left_out": "abs({0}) > 1000", "left_out 10": "abs({0}) > 10",
    }  # fmt: skip
    indent = before[: len(before) - len(before.lstrip())]
    return {
        key: (before, f"{indent}if {test.format(name)}:\n{indent}    {name} = 0.0\n{before}")
        for key, test in tests.items()
    }


WORTH = "estimate(network, after)"
BETTER = "            if value > best_value:\n                best, best_value = action, value"
ALWAYS = BETTER.replace("\n    ", "\n")[4:]
VALUED = "        if after", "        value = -1.0\n        if after", BETTER, ALWAYS
SPAWNED = f"estimate(network, put(after, {EMPTY.format('after')}[{{0}}], 1))"
# Of both choices.
CHOOSING = {
    "no_reward": (f"{PAID} + ", ""),
    "reward_only": (f" + {WORTH}", ""),
    "reward_only board": ("network, after", "network, board"),
    "reward_twice": (PAID, f"2 * {PAID}"),
    "weighed": (WORTH, f"0.99 * {WORTH}"),
    **{f"weighed {share}": (WORTH, f"{share} * {WORTH}") for share in (0.9, 1.1)},
    "worst": ("-np.inf", "np.inf", "value >", "value <"),
    "starts_at_0": ("-1, -np.inf", "0, 0.0"),
    "none_below_0": ("-np.inf", "0.0"),
    "illegal": ("after != board", "True"),
    "illegal_valued": VALUED,
    "illegal_valued back": (*VALUED, "return best", f"return best if {LEGAL} else -1"),
    "illegal_valued 0": (*VALUED, "value = -1.0", "value = 0.0"),
    "merges_only": ("after != board", "after != board and reward > 0"),
    "place": ("return best", f"return {LEGAL}.index(best) if best >= 0 else -1"),
    "first_legal": ("value > best_value", "best < 0"),
    "last_legal": ("value > best_value", "True"),
    "three_actions": ("range(4)", "range(3)"),
    "three_actions 1": ("range(4)", "range(1, 4)"),
    "previous": (
        "best, best_value = action, value",
        "best = action\n            best_value = value",
    ),
    "gives_up stops": (BETTER, f"{BETTER}\n        else:\n            break"),
    "swapped": ("after, reward = slide", "reward, after = slide"),
    "gives_up": ("return best", f"return best if len({LEGAL}) == 4 else -1"),
    "none_is_0": ("-1, -np.inf", "0, -np.inf"),
    "sampled": (WORTH, SPAWNED.format(0)),
    "sampled last": (WORTH, SPAWNED.format(-1)),
}
CHOOSING_SLIPS = {
    "half": (PAID, f"0.5 * {PAID}"),
    "minus value": (f"+ {WORTH}", f"- {WORTH}"),
    "minus reward": (f"{PAID} +", f"-{PAID} +"),
    "product": (f"{PAID} +", f"{PAID} *"),
    "size": (WORTH, f"abs({WORTH})"),
    "whole": (f"{PAID} + {WORTH}", f"int({PAID} + {WORTH})"),
    "by far": ("value > best_value", "value > best_value + 1"),
    "until worse": (BETTER, f"{BETTER}\n            else:\n                break"),
    "positive": ("value > best_value", "value > best_value and value > 0"),
    "next action": ("return best", "return (best + 1) % 4 if best >= 0 else -1"),
    "opposite": ("return best", "return 3 - best if best >= 0 else -1"),
    "value": ("return best", "return best_value if best >= 0 else -1"),
    "none": ("return best", "return best if best >= 0 else None"),
    "none is 4": ("return best", "return best if best >= 0 else 4"),
    "any merge": ("value > best_value", "value > best_value or reward > 0"),
    "whole rounded": (f"{PAID} + {WORTH}", f"round({PAID} + {WORTH})"),
    "lost equals": (
        BETTER,
        f"            if value == best_value:\n                best = -1\n{BETTER}",
    ),
    "lost full": ("return best", f"return best if {EMPTY.format('board')} else -1"),
    "falsy": ("-np.inf", "0.0", "value >", "best_value == 0 or value >"),
    **{f"starts_high {n}": ("-np.inf", n) for n in ("-1.0", "-100.0", "-1000.0", "-10_000.0")},
}

LAST = "target = 0.0"
AFTER_VALUE = "estimate(network, path[t].afterstate)"
SAVED = (f"    {LAST}\n",
         f"    {LAST}\n    values = [estimate(network, step.afterstate) for step in path]\n",
         f"target - {AFTER_VALUE}", "target - values[t]")  # fmt: skip
STATE_SAVED = (f"    {LAST}\n",
               f"    {LAST}\n    values = [estimate(network, step.state) for step in path]\n",
               "target - estimate(network, path[t].state)", "target - values[t]")  # fmt: skip
# Of both ways to learn from a path.
LEARNING = {
    "no_alpha": (STEP, "error"),
    "sign": (STEP, "-alpha * error"),
    "clipped": (STEP, "alpha * min(max(error, -1.0), 1.0)"),
    "clipped 1000": (STEP, "alpha * min(max(error, -1000.0), 1000.0)"),
    "fixed_alpha": (STEP, "0.1 * error"),
    "divided_again": (STEP, f"{STEP} / (8 * len(network.weights))"),
    "by_32": (STEP, f"{STEP} / 32"),
    "discounted": ("+ update(", "+ 0.99 * update("),
    "discounted 0.9": ("+ update(", "+ 0.9 * update("),
    "adds_value": ("target - estimate", "target + estimate"),
    "last_minus_1": (LAST, "target = -1.0"),
    **guards("error", "        target ="),
}
LEARNING_SLIPS = {
    "half": (STEP, f"0.5 * {STEP}"),
    "rises": (LAST, f"{LAST}\n    alpha = 2 * alpha"),
    "every other": ("-1, -1)", "-1, -2)"),
    "twice": (STEP, f"{STEP})\n        update(network, path[t].afterstate, {STEP}"),
    "from 0": (STEP, "alpha * max(0.0, error)"),
    "fades": ("        target =", "        alpha *= 0.9\n        target ="),
    "skips": (
        "        error =",
        "        if path[t].reward == 0:\n            continue\n        error =",
    ),
    "points off": (LAST, "target = 1.0"),
    "rounded": (STEP, f"round({STEP})"),
}


def of_states(edits):
    """Return the edits of a function of part 1 as those of its twin, whose values are of states."""
    said = {WORTH: "expected_value(network, after)", ".afterstate": ".state",
            "+ update(": "update(", "+ 0.9": "0.9"}  # fmt: skip
    for old, new in said.items():
        edits = [text.replace(old, new) for text in edits]
    return edits


EXERCISES = [
    Exercise(
        "hw04", program.indexof, index_cases, compiles=True,
        mistakes={
            "reversed": ("pattern[i]", "pattern[-1 - i]"),
            "one_bit": ("|=", "+=", "(4 * i)", "i"),
            **{f"shift {bits}": ("|=", "+=", "4 * i", f"{bits} * i") for bits in (2, 3, 5, 8)},
            "plain_sum": ("|=", "+=", " << (4 * i)", ""),
            "tiles": (f"|= {CELL}", f"+= (1 << {CELL} & ~1)"),
            "cells": ("pattern[i]", "i"),
            "first_cell": ("len(pattern)", "1"),
            "empty_is_1": (f"|= {CELL}", f"+= (1 << {CELL})"),
            "shift_by_cell": ("|=", "+=", "4 * i", "4 * pattern[i]"),
            **{f"base {n}": (f"|= {CELL} << (4 * i)", f"+= {CELL} * {n}**i")
               for n in (10, 11, 12, 14, 15, 17, 18)},
            "large": (CELL, f"({CELL} & 7)"),
            **{f"large {n}": (CELL, f"min({CELL}, {n})") for n in (7, 10, 11, 12, 13, 14)},
            **{f"large from {n}": (CELL, f"({CELL} % {n})") for n in (11, 12, 15)},
            "sorted": ("pattern[i]", "sorted(pattern)[i]"),
            "zero": ("|=", "&="),
            "last_only": ("|=", "="),
            "times": ("|=", "+=", "<< (4 * i)", "* 16 * i"),
            "last_missing": ("range(len(pattern))", "range(len(pattern) - 1)"),
            "first_missing": ("range(len(pattern))", "range(1, len(pattern))"),
        },
        slips={
            "four cells": ("len(pattern)", "4"),
            "up to four cells": ("len(pattern)", "min(len(pattern), 4)"),
            "16 bits": ("return index", "return index & 0xFFFF"),
            "columns": ("pattern[i]", "pattern[i] % 4 * 4 + pattern[i] // 4"),
            "from the end": ("pattern[i]", "15 - pattern[i]"),
            "next cell": ("pattern[i]", "(pattern[i] + 1) % 16"),
            "one less": (CELL, f"max({CELL} - 1, 0)"),
            "one more": ("|=", "+=", CELL, f"({CELL} + 1)"),
            "shifted once more": ("return index", "return index << 4"),
            "in a row": (CELL, "at(board, pattern[0] + i)"),
            "reversed by shifts": ("(4 * i)", "(4 * (len(pattern) - 1 - i))"),
            "a set": ("range(len(pattern))", "range(len({at(board, c) for c in pattern}))"),
        },
    ),
    Exercise(
        "hw04", program.estimate, value_cases, compiles=True, same=close,
        mistakes={
            "no_symmetry": ("in images:", "in images[:1]:"),
            "four_images": ("in images:", "in images[:4]:"),
            "seven_images": ("in images:", "in images[:7]:"),
            "seven_images first": ("in images:", "in images[1:]:"),
            "mean": ("return value", "return value / (8 * len(network.weights))"),
            "mean 8": ("return value", "return value / 8"),
            "sum_of_indices": ("network.weights[k, indexof(pattern, board)]",
                               "indexof(pattern, board)"),
            "first_tuple": ("(network.isomorphic)", "(network.isomorphic[:1])"),
            "one_table": ("weights[k,", "weights[0,"),
            "last_tuple": ("        for pattern", "        value = 0.0\n        for pattern"),
            "tuple_missing": ("(network.isomorphic)", "(network.isomorphic[:-1])"),
            "last_only": ("+=", "="),
            "once_each": ("in images:", "in {indexof(p, board): p for p in images}.values():"),
            "sorted": ("indexof(pattern", "indexof(sorted(pattern)"),
        },
        slips={
            **by_indices(program.estimate),
            "by tuples": ("return value", "return value / len(network.weights)"),
            "rounded": ("return value", "return round(value)"),
            "whole": ("return value", "return int(value)"),
            "positive": ("network.weights[k, indexof(pattern, board)]",
                         "max(0.0, network.weights[k, indexof(pattern, board)])"),
            "not below 0": ("return value", "return max(0.0, value)"),
            "size": ("return value", "return abs(value)"),
            "one image": ("indexof(pattern", "indexof(images[0]"),
            "first two": ("(network.isomorphic)", "(network.isomorphic[:2])"),
            "not the first": ("in enumerate(network.isomorphic)",
                              "in [*enumerate(network.isomorphic)][1:]"),
            "cells once": ("in images:", "in {frozenset(p): p for p in images}.values():"),
            "largest": ("value += network.weights[k, indexof(pattern, board)]",
                        "value = max(value, network.weights[k, indexof(pattern, board)])"),
            "one more": ("value = 0.0", "value = 1.0"),
            "remembers": (
                "    value = 0.0\n",
                "    seen = estimate.__dict__.setdefault('seen', {})\n"
                "    if int(board) in seen:\n        return seen[int(board)]\n    value = 0.0\n",
                "return value", "return seen.setdefault(int(board), value)"),
        },
        show=HIDDEN,
    ),
    Exercise(
        "hw04", program.update, update_cases, compiles=True, same=close,
        outcome=effect, verdict=update_learned,
        looks={"weights": lambda done: (done["added"], done["other weights"]),
               "returned": lambda done: done["returned"]},
        mistakes={
            "not_split": (SHARE, "amount"),
            "by_eight": (SHARE, "amount / 8"),
            "by_tuples": ("8 * ", ""),
            "no_symmetry": ("8 * ", "", "in images:", "in images[:1]:"),
            "one_image": ("in images:", "in images[:1]:"),
            "seven_images": ("in images:", "in images[:7]:"),
            "seven_images first": ("in images:", "in images[1:]:"),
            "seven_images of 7": ("in images:", "in images[:7]:", "8 * ", "7 * "),
            "set": ("+= share", "= share"),
            "precedence": ("(8 * len(network.weights))", "8 * len(network.weights)"),
            "by_32": (SHARE, "amount / 32"),
            "by_32 24": (SHARE, "amount / 24"),
            "once_each": ("pattern in images:", "index in {indexof(p, board) for p in images}:",
                          "indexof(pattern, board)] +=", "index] +="),
            "divided_again": (SHARE, f"{SHARE} / len(network.weights)"),
            "divided_twice": ("(8 * len(network.weights))", "(8 * len(network.weights)) ** 2"),
            "floor": ("amount /", "amount //"),
            "sign": ("amount /", "-amount /"),
            "first_weight": ("(network.isomorphic)", "(network.isomorphic[:1])",
                             "in images:", "in images[:1]:"),
            "first_tuple": ("(network.isomorphic)", "(network.isomorphic[:1])"),
            "one_table": ("weights[k,", "weights[0,"),
            "sorted": ("indexof(pattern", "indexof(sorted(pattern)"),
            "clipped": ("    share =", "    amount = min(max(amount, -1.0), 1.0)\n    share ="),
            **guards("amount", "    share ="),
            "no_move": ("+= share", "+= 0"),
            "target": ("    share =", f"    amount = amount - {VALUE}\n    share ="),
            "tuple_missing": ("(network.isomorphic)", "(network.isomorphic[:-1])"),
            "no_return": (f"    return {VALUE}\n", ""),
            "amount": (f"return {VALUE}", "return amount"),
            "amount_twice": (f"return {VALUE}", "return value + 2 * amount", *OLD_VALUE),
            "old_value": (f"return {VALUE}", "return value", *OLD_VALUE),
            "adds_amount": (f"return {VALUE}", "return value + amount", *OLD_VALUE),
            "sums_too_early": (
                "    share =", "    value = 0.0\n    share =", f"return {VALUE}", "return value",
                "+= share",
                "+= share\n            value += network.weights[k, indexof(pattern, board)]"),
        },
        slips={
            **by_indices(program.update),
            "by cells": ("8 *", "len(network.isomorphic[0][0]) *"),
            "whole shares": ("    for k,", "    share = int(share)\n    for k,"),
            "size": ("amount /", "abs(amount) /"),
            "twice": ("+= share", "+= 2 * share"),
            "tenth": ("amount /", "0.1 * amount /"),
            "below 0": ("+= share", "+= share if estimate(network, board) < 0 else 0.0"),
            "not below 0": ("    return",
                            "    network.weights[network.weights < 0] = 0\n    return"),
            "difference": (f"return {VALUE}", f"return {VALUE} - value", *OLD_VALUE),
            "share": (f"return {VALUE}", "return share"),
            "the board": (f"return {VALUE}", "return board"),
            "still": ("    share =", "    if amount == 0:\n        return None\n    share ="),
            "still 0": ("    share =", "    if amount == 0:\n        return 0.0\n    share ="),
            "small": ("    share =",
                      f"    if abs(amount) < 1:\n        return {VALUE}\n    share ="),
            "no_return at all": (f"return {VALUE}", "return None"),
        },
        show=HIDDEN | {"amount": "hidden"}, given=given_update, tell=tell_learned,
    ),
    Exercise(
        "hw04", program.select_best_move, choice_cases, compiles=True,
        mistakes=other_units(program.select_best_move)
        | CHOOSING
        | plain_slide(program.select_best_move),
        slips=CHOOSING_SLIPS,
        verdict=partial(an_action, program.estimate),
        show=HIDDEN, given=partial(given_choice, program.estimate, "V(s′)"),
        features=partial(of_choice, program.select_best_move), result="action",
    ),
    Exercise(
        "hw04", program.update_episode, compiles=True, same=close,
        outcome=effect, verdict=partial(path_learned, afterstates_of),
        parts={"last afterstate": last_cases, "whole path": path_cases},
        mistakes={
            # What is seen where the path has one step, whatever the cause is; these come first.
            "last_nothing one": (LAST, f"{LAST}\n    path = path[: len(path) * (len(path) > 1)]"),
            "last_whole one": (STEP, f"{STEP} if len(path) > 1 else error"),
            "last_not_taught": (
                BACKWARDS, NOT_LAST, LAST,
                "target = path[-1].reward / UNIT + estimate(network, path[-1].afterstate)"),
            "first_missing": (BACKWARDS, NOT_FIRST),
            "last_alone": (BACKWARDS, "len(path) - 1, len(path) - 2, -1"),
            "own_reward": ("error = target", f"error = {PATH_PAID} + target",
                           LEARNS, "target = update("),
            "reward_twice": ("error = target", f"error = {PATH_PAID} + target"),
            "no_reward": (LEARNS, "target = update("),
            "next_state": (
                LEARNS, "update(", f"{STEP})",
                f"{STEP})\n        target = {PATH_PAID} + estimate(network, path[t].state)"),
            "old_value": (LEARNS, f"target = {PATH_PAID} + target - error\n        update("),
            "forward": (
                BACKWARDS, "len(path)", LEARNS, "update(",
                "        error =", "        later = path[t + 1 : t + 2]\n        target = "
                "sum(s.reward / UNIT + estimate(network, s.afterstate) for s in later)\n"
                "        error ="),
            "of_states": ("error = target", f"error = {PATH_PAID} + target",
                          LEARNS, "target = update(", ".afterstate", ".state"),
            "of_states plain": (".afterstate", ".state"),
            "of_states updated": ("update(network, path[t].afterstate",
                                  "update(network, path[t].state"),
            "next_states": (".afterstate", ".next_state"),
            "state_value": (AFTER_VALUE, AFTER_VALUE.replace("after", "")),
            "precedence": (STEP, f"alpha * target - {AFTER_VALUE}"),
            "returns": (LEARNS, f"target += {PATH_PAID}\n        update("),
            "last_own_reward": (LAST, "target = path[-1].reward / UNIT"),
            "last_minus_1 reward": (LAST, "target = path[-1].reward / UNIT - 1"),
            "forward_carry": (BACKWARDS, "len(path)"),
            "saved": (*SAVED, LEARNS, f"target = {PATH_PAID} + values[t]\n        update("),
            "saved_own": SAVED,
            "target_added": (f"target - {AFTER_VALUE}", "target"),
            **LEARNING,
            **other_units(program.update_episode),
        },
        slips=LEARNING_SLIPS | {
            "still": ("        target =",
                      "        if error == 0:\n            continue\n        target ="),
            "computed": (LEARNS, f"target += {PATH_PAID} - error + {STEP}\n        update("),
            "dead as well": (LAST, f"{LAST}\n    dead = path[-1].next_state\n"
                             "    update(network, dead, -alpha * estimate(network, dead))"),
            "mixed": (LEARNS, f"target = {PATH_PAID} + 0.5 * target + 0.5 * update("),
            "largest": (LEARNS, f"target = max(target, {PATH_PAID}) + update("),
            "not below 0": ("        error", "        target = max(target, 0.0)\n        error"),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=partial(given_path, afterstates_of, "before"),
        tell=tell_learned,
    ),
    Exercise(
        "hw04", program.expected_value, expected_cases, compiles=True, same=close,
        mistakes={
            "even_chances": ("FOUR", "0.5"),
            "only_twos": ("FOUR", "0.0"),
            "only_twos weighed": ("FOUR * estimate", "0 * estimate"),
            "only_fours": ("FOUR", "1.0"),
            "exchanged": ("FOUR", "(1 - FOUR)"),
            **OTHER_RULES,
            "not_divided": (" / empty", ""),
            "first_cell": ("empty += 1", "empty += 1\n            break"),
            "by_16": ("/ empty", "/ 16"),
            "by_16 cells": ("/ empty", "/ CELLS"),
            "by_twice": ("/ empty", "/ (2 * empty)"),
            "tiles_put": ("cell, 2)", "cell, 4)", "cell, 1)", "cell, 2)"),
            "afterstate_itself": ("total / empty", "estimate(network, afterstate)"),
            "sampled": ("total / empty", "estimate(network, put(afterstate, "
                        f"{EMPTY.format('afterstate')}[0], 1))"),
            "sampled last": ("total / empty", "estimate(network, put(afterstate, "
                             f"{EMPTY.format('afterstate')}[-1], 1))"),
            "last_missing": ("CELLS", "CELLS - 1"),
            "ends": ("estimate(network, put", "(not boards.is_over(put(afterstate, cell, 1), "
                     "SLID)) * estimate(network, put"),
            "ends left out": ("cell) == 0", "cell) == 0 and not boards.is_over("
                              "put(afterstate, cell, 1), SLID)", "/ empty", "/ max(empty, 1)"),
        },
        slips={
            **{name: changed(program.expected_value, estimate=wrong)
               for name, wrong in by_indices(program.estimate).items()},
            "not the first cell": ("(CELLS)", "(1, CELLS)"),
            "all cells": ("at(afterstate, cell) == 0", "True"),
            "full cells": ("== 0", "!= 0", "/ empty", "/ max(empty, 1)"),
            "fours as eights": ("cell, 2)", "cell, 3)"),
            "one of them": ("total +=", "total ="),
            "largest": ("total += FOUR", "total = max(total, 0) + FOUR"),
            "one more": ("/ empty", "/ (empty + 1)"),
            "whole": ("total / empty", "total // empty"),
        },
        show=HIDDEN,
    ),
    Exercise(
        "hw04", program.select_best_move_by_states, partial(choice_cases, mean=True),
        compiles=True,
        mistakes=other_units(program.select_best_move_by_states)
        | {key: of_states(edits) for key, edits in CHOOSING.items()}
        | {"of_afterstate": ("expected_value", "estimate")}
        | plain_slide(program.select_best_move_by_states),
        slips={key: of_states(edits) for key, edits in CHOOSING_SLIPS.items()},
        verdict=partial(an_action, program.expected_value),
        show=HIDDEN, given=partial(given_choice, program.expected_value, "E[V(s″)]"),
        features=partial(of_choice, program.select_best_move_by_states), result="action",
    ),
    Exercise(
        "hw04", program.update_episode_of_states,
        lambda random: [*last_cases(random), *path_cases(random)], compiles=True,
        outcome=effect, verdict=partial(path_learned, states_of), same=close,
        mistakes={
            "dead_not_taught": (DEAD, ""),
            "adds_zero": (DEAD, "", BACKWARDS, NOT_LAST,  # an update by 0 teaches nothing
                          LAST, "target = estimate(network, path[-1].state)"),
            "dead_in_target": (f"    {LAST}\n", "", "    update(", "    target = update("),
            "of_afterstates": program.update_episode,
            "of_afterstates dead": ("path[t].state", "path[t].afterstate"),
            "no_reward": (f"{PATH_PAID} + ", ""),
            "next_reward": (f"{PATH_PAID} + ", "", "target = update(", LEARNS),
            "reward_twice": ("target = update(", LEARNS),
            "as_in_part_1": (DEAD, "", f"{PATH_PAID} + ", "", "target = update(", LEARNS),
            "last_missing": (BACKWARDS, NOT_LAST,
                             LAST, "target = estimate(network, path[-1].state)"),
            "dead_whole": ("alpha * (0.0", "(0.0"),
            "dead_last": (DEAD, "", f"{STEP})\n", f"{STEP})\n{DEAD}"),
            "old_value": ("target = update(", f"target = {PATH_PAID} + target - error\n"
                          "        update("),
            "forward": (BACKWARDS, "len(path)", "target = update(", "update(",
                        "        error =", "        later = path[t + 1 : t + 2]\n        target = "
                        "sum(estimate(network, s.state) for s in later)\n        error ="),
            "first_missing": (BACKWARDS, NOT_FIRST),
            "saved_own": STATE_SAVED,
            **{key: of_states(edits) for key, edits in LEARNING.items()},
            **other_units(program.update_episode_of_states),
        },
        slips={key: of_states(edits) for key, edits in LEARNING_SLIPS.items()} | {
            "computed": ("target = update(", f"target = target + {PATH_PAID} - error + {STEP}\n"
                         "        update("),
            "sum": (STEP, f"{STEP} + path[t].reward / UNIT"),
            "dead twice": (DEAD, 2 * DEAD),
            "dead minus": ("(0.0 -", "(0.0 +"),
            "dead -1": ("(0.0 -", "(-1.0 -"),
            "largest": ("target = update(", "target = max(0.0, update(", f"{STEP})", f"{STEP}))"),
        },
        show=HIDDEN | {"alpha": "hidden"}, given=partial(given_path, states_of, "before_dead"),
        tell=tell_learned,
    ),
]  # fmt: skip
