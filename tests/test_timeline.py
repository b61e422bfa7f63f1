"""The picture of time: names, order, what it refuses."""

import re

import pytest

from lib2048.course import draw_time
from lib2048.game import spec

S0, S1, S2 = [[8, 8], [2, 32]], [[2, 16], [2, 32]], [[4, 16], [4, 32]]


def said(picture):
    """Return the texts of a picture in the order in which they were drawn."""
    return re.findall(r">([^<>]+)</text>", picture.svg)


def test_one_turn_has_plain_names():
    texts = said(draw_time([S0, S1], ["Right"]))
    names = [text for text in texts if text.endswith(("s", "s′", "s″"))]
    assert names == ["state s", "afterstate s′", "next state s″"]
    assert "r = 16" in texts and "a 2" in texts


def test_more_turns_are_counted():
    texts = said(draw_time([S0, S1, S2], ["Right", 2]))
    assert {"sₜ", "s′ₜ", "sₜ₊₁", "s′ₜ₊₁", "sₜ₊₂"} <= set(texts)
    assert "rₜ = 16" in texts and "rₜ₊₁ = 4" in texts


def test_who_decides_alternates():
    texts = said(draw_time([S0, S1, S2], ["Right", "Down"]))
    assert [t for t in texts if t in ("you", "luck")] == ["you", "luck", "you", "luck"]


def test_afterstates_follow_from_the_rules():
    after, _ = spec.slide(S0, 1)
    boards = draw_time([S0, S1], ["Right"]).text.split(" · ")
    assert " / ".join(" ".join(str(t or ".") for t in row) for row in after) in boards[1]


def test_spans_are_written_and_fit():
    picture = draw_time([S0, S1, S2], [1, 2], [(1, 3, "a target")], {1: "V = 4.32"})
    assert {"s′ₜ to s′ₜ₊₁", "a target", "V = 4.32"} <= set(said(picture))
    assert picture.width <= 640


def test_each_turn_has_a_line():
    one, two = draw_time([S0, S1], [1]), draw_time([S0, S1, S2], [1, 2])
    assert two.height > 2 * one.height > 2 * two.height / 3 and two.width < 1.1 * one.width


@pytest.mark.parametrize(
    ("states", "actions", "spans", "reason"),
    [
        ([S0, S1], [], (), "2 states need 1 actions"),
        ([S0], [], (), "at least one"),
        ([S0, S1], ["Up"], (), "Up is not legal"),
        ([S0, S2], ["Right"], (), "no spawn leads from"),
        ([S0, [[8, 16], [2, 32]]], ["Right"], (), "no spawn leads from"),
        ([S0, S1], ["Right"], [(1, 3, "far")], "the boards are 0 to 2"),
        ([S0, S1], ["Sideways"], (), "an action is 0..3"),
    ],
)
def test_refusals(states, actions, spans, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        draw_time(states, actions, spans)
