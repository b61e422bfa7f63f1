"""Where an answer differs, if its cause is not known: in what, and on which cases.

Both are observations, not guesses: "only the reward differs", "it is twice the right one", "wrong
exactly where the board is its own mirror image".
"""

import itertools
import math
import numbers
from typing import NamedTuple

import numpy as np

from lib2048.course.labs.messages import say
from lib2048.course.labs.outcomes import RETURNED, equal
from lib2048.game.board import to_exponents, to_tiles

MOST = 1e30  # 32 bits hold it
FEW = 3  # cases: from less nobody shall conclude on which ones it fails
CHANCE = 0.0025  # that wrong cases, drawn blindly, have as much in common: more of it says nothing
CHANCE_LIMIT = CHANCE / 4  # the same of a limit, which is chosen to suit them, of many features
FIT = 0.85  # of the cases with a feature fail, of those without it none
MOST_RIGHT = 0.3  # of the right cases lie outside a feature, which is then worth to be said
LEAST_RIGHT = 0.15  # of all cases: from less it is not told on which ones it is right
NO_AMOUNT = "board", "packed row", "action"  # kinds of results that are numbers and measure nothing
ROWS = list, tuple


class Tried(NamedTuple):
    """A case, what was expected, the `Outcome`, and whether that is wrong."""

    case: tuple
    expected: object
    got: object
    wrong: bool


def places(exercise, tried):
    """Return [[key, words], …] of messages: in what the wrong ones differ, and which those are.

    tried: [`Tried`, …] of all cases.
    """
    wrong = [one for one in tried if one.wrong]
    pairs = [(one.expected, one.got.value) for one in wrong if one.got.kind == RETURNED]
    found = []
    if len(pairs) == len(wrong):
        found += _in_what(exercise, [one.case for one in wrong], pairs)
    if 0 < len(wrong) < len(tried):
        found += _which(exercise, tried)
    elif len(tried) >= FEW:
        found.append(["place.every", {}])
    return found[:2]


# ---------------------------------------------------------------- in what


def _in_what(exercise, cases, pairs):
    """Return the first thing that all wrong answers have in common, in a list; [] for nothing."""
    names = list(exercise.result) if isinstance(exercise.result, dict) else None
    parted = [_parts(expected, got, names) for expected, got in pairs]
    if None not in parted and len({tuple(n for n, *_ in parts) for parts in parted}) == 1:
        differ = [{n for n, one, other in parts if not equal(one, other)} for parts in parted]
        common = set().union(*differ)
        names = [name for name, _, _ in parted[0] if name in common]
        if len(names) == 1 < len(parted[0]):
            inner = [(one, other) for parts in parted for n, one, other in parts if n in common]
            kind = exercise.result.get(*names) if isinstance(exercise.result, dict) else "text"
            return [["place.only", {"part": _name(*names)}], *_how(exercise, cases, inner, kind)]
        if names and len(names) < len(parted[0]):
            *first, last = map(_name, names)
            return [["place.several", {"first": ", ".join(first), "last": last}]]
        return []
    return _how(exercise, cases, pairs, exercise.result)


def _parts(expected, got, names):
    """Return [(name, expected, got)] of the parts of a tuple or a dict, None for anything else."""
    if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
        return [(key, expected[key], got[key]) for key in expected]
    if isinstance(expected, tuple) and isinstance(got, tuple) and len(expected) == len(got) > 1:
        names = names if names and len(names) == len(expected) else range(1, len(expected) + 1)
        return list(zip(names, expected, got))
    return None


def _name(name):
    return f"`{name}`" if isinstance(name, str) else f"part {name} of the answer"


def _how(exercise, cases, pairs, kind):
    """Return what relates wrong answers to the right ones, as a list of at most one message.

    kind: of what is compared, as `Exercise.result` has it.
    """
    amounts, boards = [_numbers] * (kind not in NO_AMOUNT), [_images] * (kind in ("board", "rows"))
    for relation in (_given_back, _whole, _constant, *amounts, _order, _entries, *boards):
        if (found := relation(exercise, cases, pairs)) is not None:
            return [found]
    return []


def _given_back(exercise, cases, pairs):
    """Each answer is one of the arguments, as it was given; once alone it may be chance."""
    if len(pairs) < FEW:
        return None
    for name, *given in zip(exercise.parameters, *cases):
        if exercise.show.get(name) == "hidden":  # a seed in place of a generator, for instance
            continue
        if all(_same_thing(one, got) for one, (_, got) in zip(given, pairs)):
            return ["place.given_back", {"argument": name}]
    return None


def _same_thing(one, other):
    plain = isinstance(one, (numbers.Number, list, np.ndarray)) and not isinstance(one, bool)
    return plain and type(one) is type(other) and equal(one, other)


def _whole(exercise, cases, pairs):
    """A whole number where there should be a fraction."""
    if len(pairs) < FEW or not all(_is_number(n) for pair in pairs for n in pair):
        return None
    whole = {tuple(float(n).is_integer() for n in pair) for pair in pairs}
    return ["place.whole", {}] if whole == {(False, True)} else None


def _constant(exercise, cases, pairs):
    """The same answer on all of several cases, where there should be several."""
    (first, got), others = pairs[0], pairs[1:]
    if len(others) < FEW or not all(equal(got, other) for _, other in others):
        return None
    if all(equal(first, expected) for expected, _ in others):
        return None
    return ["place.constant", {}]


def _numbers(exercise, cases, pairs):
    """So many times the right number, or so much more, or more by an argument."""
    if len(pairs) < FEW or not all(_is_number(n) for pair in pairs for n in pair):
        return None
    right, got = (np.array([float(pair[k]) for pair in pairs]) for k in (0, 1))
    if not (np.isfinite(right).all() and np.isfinite(got).all()):
        return None
    several = len({*right}) > 1 and np.all(right != 0) and got.any()
    if several and (found := _times(got / right)):
        return found
    more = got - right
    if _is_one(more):
        way = "more" if more[0] > 0 else "less"
        return [f"place.{way}", {"by": f"{abs(more[0]):.4g}"}]
    for name, *values in zip(exercise.parameters, *cases):
        if all(map(_is_number, values)) and max(values) < 1 << 20:
            for way, sign in (("more", 1), ("less", -1)):
                if np.allclose(more, sign * np.array(values, float), 1e-4, 1e-6):
                    return [f"place.{way}", {"by": f"`{name}`"}]
    ways = {"large": np.all(more > 0), "small": np.all(more < 0)}
    return next(([f"place.too_{way}", {}] for way, so in ways.items() if so), None)


def _is_number(value):
    """Say whether a value can be reckoned with: a whole number may be too large for that."""
    plain = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    return plain and not abs(value) > MOST


def _is_one(values):
    return np.allclose(values, values[0], 1e-4, 1e-6)


def _order(exercise, cases, pairs):
    """The same entries in another order, or reversed, or another number of them."""
    if not all(len(_shape(each)) == 1 for pair in pairs for each in pair):
        return None
    plain = [(list(one), list(other)) for one, other in pairs]
    if all(len(one) != len(other) for one, other in plain):
        more = {np.sign(len(other) - len(one)) for one, other in plain}
        way = {frozenset({1}): "longer", frozenset({-1}): "shorter"}.get(frozenset(more), "length")
        return [f"place.{way}", {}]
    if all(equal(one[::-1], other) for one, other in plain):
        return ["place.reversed", {}]
    if all(sorted(map(repr, one)) == sorted(map(repr, other)) for one, other in plain):
        return ["place.order", {}]
    return None


def _entries(exercise, cases, pairs):
    """Only the first, or only the last entry of a list; or so many times each number of a table."""
    if not all(_shape(one) and _shape(one) == _shape(other) for one, other in pairs):
        return None
    differ = [
        [k for k, two in enumerate(zip(one, other)) if not equal(*two)] for one, other in pairs
    ]
    for which, place in (("first", lambda n: [0]), ("last", lambda n: [n - 1])):
        if all(found == place(len(one)) and len(one) > 1 for found, (one, _) in zip(differ, pairs)):
            return [f"place.{which}", {}]
    ratios = _ratios(pairs)
    several = ratios is not None and len(ratios) >= FEW and ratios.any()
    return _times(ratios) if several else None


def _times(ratios):
    """Tell a ratio that all have, where it is another than 1 as it is written."""
    times = f"{ratios[0]:.4g}"
    return ["place.times", {"times": times}] if _is_one(ratios) and times != "1" else None


def _shape(value):
    """Return the shape of a list or an array, () for anything else, ragged lists among it."""
    try:
        return np.shape(value) if isinstance(value, (list, np.ndarray)) else ()
    except ValueError:
        return ()


def _ratios(pairs):
    """Return got / right of all entries of arrays of numbers that are not 0, None for others."""
    try:
        right = np.concatenate([np.ravel(np.asarray(one, float)) for one, _ in pairs])
        got = np.concatenate([np.ravel(np.asarray(other, float)) for _, other in pairs])
    except (TypeError, ValueError):
        return None
    some = right != 0
    return got[some] / right[some] if not got[~some].any() and np.isfinite(got).all() else None


def _images(exercise, cases, pairs):
    """A board that is turned or mirrored, or that has the right tiles in other cells."""
    rows = [[_exponents(value) for value in pair] for pair in pairs]
    if any(one is None or other is None or one.shape != other.shape for one, other in rows):
        return None
    if all(_is_image(one, other) for one, other in rows):
        return ["place.image", {}]
    if all(sorted(one.flat) == sorted(other.flat) for one, other in rows):
        return ["place.cells", {}]
    for way, sign in (("extra", 1), ("lost", -1)):
        counts = [np.count_nonzero(other) - np.count_nonzero(one) for one, other in rows]
        if len({*counts}) == 1 and counts[0] * sign > 0:
            return [f"place.tiles_{way}", {"count": abs(counts[0])}]
        if min(counts) * sign > 0 < max(counts) * sign:
            return [f"place.some_{way}", {}]
    return None


def _is_image(one, other):
    turned = [np.rot90(board, k) for board in (one, one.T) for k in range(4)]
    return any(np.array_equal(board, other) for board in turned)


def _exponents(value):
    """Return a board as an array of its cells, None for what is no board."""
    if isinstance(value, np.uint64):
        return to_exponents(value).reshape(4, 4)
    if isinstance(value, ROWS) and value and all(isinstance(row, ROWS) for row in value):
        try:
            found = np.asarray(value, np.int64)
        except (TypeError, ValueError, OverflowError):
            return None
        return found if found.ndim == 2 else None
    return None


# ---------------------------------------------------------------- on which cases


def _which(exercise, tried):
    """Return by what wrong cases can be told from right ones, as a list of at most one message."""
    wrong = np.array([one.wrong for one in tried])
    right = (~wrong).sum()
    if wrong.sum() < FEW or right < LEAST_RIGHT * len(tried):
        return []
    tests = list(_tests([_features(exercise, one) for one in tried], wrong))
    both = (
        (f"{first}, and where {other}", inside & narrower)
        for (first, inside), (other, narrower) in itertools.combinations(tests, 2)
        if min((inside & ~narrower).sum(), (narrower & ~inside).sum()) >= FEW
    )
    for fit, some in ((FIT, tests), (1, both if wrong.sum() >= 2 * FEW else ())):
        some = [
            (wrong.sum() / inside.sum(), said)
            for said, inside in some
            if (~inside).sum() >= right / 2
        ]
        best, said = max(some, default=(0, ""), key=lambda pair: pair[0])
        if best >= fit:
            return [["place.where", {"feature": said}]]
    outside, said = max(((~inside).sum(), said) for said, inside in tests) if tests else (0, "")
    if outside >= max(FEW, MOST_RIGHT * right):
        return [["place.right", {"feature": said}]]
    return []


def _tests(table, wrong):
    """Yield (what is said, which cases it holds for) of all that holds for each wrong case.

    table: of the features of each case.  What has a limit to be chosen comes last.
    """
    one, names = table[wrong.argmax()], set.intersection(*map(set, table))
    for name in sorted(names, key=lambda name: (name[:4] != "yes ", not one[name], name)):
        values = np.array([row[name] for row in table], float)
        bad = values[wrong]
        if name.startswith("yes "):
            tests = [("yes" if bad[0] else "no", values == bad[0])] if len({*bad}) == 1 else []
        else:
            spared = sorted({*values} - {*bad})
            tests = [("is", values == bad[0])] if len({*bad}) == 1 else []
            if len(spared) == 1 and np.any(values % 1):  # nobody knows what is between two values
                tests += [("is_not", values != spared[0])]
            else:
                tests += [("more", values >= bad.min()), ("less", values <= bad.max())]
        for way, inside in tests:
            drawn = math.comb(int(inside.sum()), len(bad))
            chance = CHANCE_LIMIT if way in ("more", "less") else CHANCE
            if drawn <= chance * math.comb(len(values), len(bad)):
                # the limit is the nearest value of a right one: less is not known
                limits = {"more": values[~inside].max(), "less": values[~inside].min()}
                limit = limits.get(way, spared[0] if way == "is_not" else bad[0])
                words = {"feature": name.removeprefix("yes "), "limit": f"{limit:g}"}
                yield say(f"place.feature_{way}", **words), inside


def _features(exercise, tried):
    """Return what can be said of a case in numbers, {what it is: number}; 0 and 1 for no and yes.

    A name that begins by "yes " is said as a sentence's end: "yes no action is legal".
    """
    found = dict(exercise.features(tried.case)) if exercise.features else {}
    if _is_number(tried.expected) and exercise.result not in NO_AMOUNT:
        found["the right answer"] = float(tried.expected)
    for name, value in zip(exercise.parameters, tried.case):
        if exercise.show.get(name) == "hidden" and isinstance(value, int):
            continue
        if isinstance(value, float):  # it may be nan
            found[f"yes `{name}` is above 0"] = value > 0
        if exercise.show.get(name) == "packed row":
            value = [int(tile) for tile in to_tiles(value)[0]]
        if (board := _exponents(value)) is not None:
            found |= _of_board(name, board, isinstance(value, np.uint64))
        elif isinstance(value, (bool, np.bool_)):
            found[f"yes `{name}` is true"] = value
        elif _is_number(value) and abs(value) < 1 << 40:
            found[f"`{name}`"] = float(value)
        elif isinstance(value, dict):
            found[f"yes something is in `{name}`"] = bool(value)
        elif isinstance(value, (list, tuple, str)):
            found[f"the length of `{name}`"] = len(value)
            if isinstance(value, list) and value and all(map(_is_number, value)):
                found |= _of_numbers(name, value)
    return found


def _of_numbers(name, value):
    return {
        f"the largest number in `{name}`": max(value),
        f"the smallest number in `{name}`": min(value),
        f"the first number in `{name}`": value[0],
        f"the last number in `{name}`": value[-1],
        f"yes two neighbours in `{name}` are equal": any(a == b for a, b in zip(value, value[1:])),
        f"yes `{name}` holds a 0": 0 in value,
        f"yes `{name}` holds two equal numbers with only zeros between": _meets(value) > 0,
        f"yes `{name}` holds several pairs of equal numbers with only zeros between": _meets(value)
        > 1,
        f"yes three equal numbers in `{name}` have only zeros between": _meets(value, 3) > 0,
    }


def _meets(value, count=2):
    """Return how often so many equal numbers follow each other, zeros left out."""
    some = [each for each in value if each]
    return sum(len({*some[at : at + count]}) == 1 for at in range(len(some) - count + 1))


def _of_board(name, board, packed):
    tiles = np.where(board > 0, 2 ** board.astype(np.int64), 0) if packed else board
    lines = [line[line > 0] for line in (*board, *board.T)]
    pairs = [int((line[1:] == line[:-1]).sum()) for line in lines]
    mirrored = any(np.array_equal(image, board) for image in (board[::-1], board[:, ::-1]))
    if board.shape[0] == board.shape[1]:
        mirrored |= np.array_equal(board, board.T) or np.array_equal(board[::-1, ::-1], board.T)
    return {
        f"the largest tile of `{name}`": int(tiles.max(initial=0)),
        f"the number of empty cells of `{name}`": int((board == 0).sum()),
        f"yes `{name}` is its own mirror image": bool(mirrored),
        f"yes some row or column of `{name}` merges": any(pairs),
        f"yes several rows or columns of `{name}` merge": sum(map(bool, pairs)) > 1,
        f"yes no action is legal on `{name}`": not any(pairs) and bool((board > 0).all()),
        f"yes some action is legal on `{name}`": any(pairs) or not (board > 0).all(),
    }
