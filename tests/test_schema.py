"""What a file of JSON must hold, said once: what fits, and what is said of all else."""

import pytest

from lib2048.machine.schema import Number, check, fits

FORM = {"name": str, "scores": [Number()], "two?": [Number(whole=False), 2], str: (None, bool)}
GOOD = {"name": "a", "scores": [1, 2], "two": [0.5, 1], "more": None}
BAD = {
    "no object": ([], "is [], not an object"),
    "a name that is missing": ({"name": "a"}, "lacks scores"),
    "a number for a text": (GOOD | {"name": 5}, "'name' is 5, not a text"),
    "a text for a list": (GOOD | {"scores": "12"}, "'scores' is '12', not a list of a whole"),
    "below 0": (GOOD | {"scores": [1, -5]}, "'scores'[1] is -5, not a whole number from 0"),
    "true for a number": (GOOD | {"scores": [True]}, "'scores'[0] is True"),
    "a fraction": (GOOD | {"scores": [1.5]}, "'scores'[0] is 1.5"),
    "nan": (GOOD | {"two": [float("nan"), 1]}, "'two'[0] is nan"),
    "too large": (GOOD | {"scores": [10**400]}, "'scores'[0] is 1000"),
    "too many": (GOOD | {"two": [1, 2, 3]}, "'two' is [1, 2, 3], not a list of a number"),
    "another": (GOOD | {"other": 3}, "'other' is 3, not None or true or false"),
}


def test_what_fits():
    check(GOOD, FORM, "it")
    assert (
        fits([1, []], object)
        and fits([], [object, 0])
        and fits(3, (None, 3))
        and not fits(4, (None, 3))
    )
    assert not fits({"a": 1, "b": 2}, {"a": object})


@pytest.mark.parametrize("found, words", BAD.values(), ids=BAD)
def test_what_does_not_fit_is_said_in_one_line(refused, found, words):
    refused(lambda: check(found, FORM, "a.json: it"), words)
