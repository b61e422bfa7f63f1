"""The picture of promotion: who is asked, who could have answered, what it refuses."""

import pytest

from lib2048 import Network
from lib2048.course import draw_promotion


def asked(picture):
    """Return {stage: what its arrow says}, as the picture tells it in words."""
    said = picture.text.split(": ")[1].split("; ")
    return {int(words.split()[1]): words.split(" ", 2)[2] for words in said}


@pytest.mark.parametrize("seen", [2048, 1024, 512])
def test_arrows_tell_where_the_stage_below_has_the_tile(seen):
    stages = Network("cells:01", stages=3, top=2048).stages
    arrows = asked(draw_promotion(stages, seen))
    assert set(arrows) == {n for n in range(8) if seen in stages.tiles(n)}
    for stage, words in arrows.items():
        known = seen in stages.tiles(stage - 1)
        have = "boards have" if known else "no board has"
        assert words == f"asks {stage - 1}, where {have} a {seen}"


def test_the_tile_that_opens_a_stage_is_never_below_it():
    stages = Network("cells:01", stages=4).stages
    for stage in range(1, 16):
        [opened] = set(stages.tiles(stage)) - set(stages.tiles(stage - 1))
        assert "no board has" in asked(draw_promotion(stages, opened))[stage]


def test_every_stage_and_tile_is_drawn():
    picture = draw_promotion(Network("cells:01", stages=2, top=1024).stages, 512)
    assert all(f">stage {n}<" in picture.svg for n in range(4))
    assert picture.svg.count(">1024<") == picture.svg.count(">512<") == 4
    assert picture.width <= 640


@pytest.mark.parametrize(
    ("marks", "seen", "said"),
    [
        ({"stages": 2, "top": 1024}, 2048, "seen 2048: use one of 1024, 512"),
        ({}, 512, "seen 512: use one of no tile"),
    ],
)
def test_refusals(marks, seen, said):
    with pytest.raises(ValueError, match=said):
        draw_promotion(Network("cells:01", **marks).stages, seen)
