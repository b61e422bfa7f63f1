"""A strip of afterstates that light up game after game, in a real browser."""

import pytest

from lib2048.course import CreditWidget

BOARDS = [[[2, 4, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2 << n]] for n in range(3)]
HEARD = {"TD(0)": [[0, 0, 1], [0, 1, 1]], "Monte Carlo": [[1, 1, 1], [1, 1, 1]]}


def lights(page):
    rows = page.root.locator("tbody tr")
    return [rows.nth(n).locator("td + td").all_inner_texts() for n in range(rows.count())]


@pytest.mark.ci
def test_the_news_goes_back_a_game_at_a_time(opened):
    page = opened(CreditWidget(BOARDS, HEARD))
    assert lights(page) == [["", "100 %"], ["", "100 %"], ["100 %", "100 %"]]
    assert "After 1 game, heard by half or more: TD(0): 1 · Monte Carlo: 3" in page.message
    page.root.get_by_title("One game more").click()
    assert lights(page) == [["", "100 %"], ["100 %", "100 %"], ["100 %", "100 %"]]
    assert page.widget.game == 2
    page.page.keyboard.press("ArrowLeft")
    assert "After 1 game" in page.message and page.widget.game == 1
    page.page.keyboard.press("End")
    slider = page.root.get_by_label("Games that are over")
    assert slider.get_attribute("aria-valuetext") == "After 2 games"
    shades = page.root.locator("tbody td + td").evaluate_all(
        "cells => new Set(cells.map((cell) => getComputedStyle(cell).backgroundColor)).size"
    )
    assert shades == 2, "who has heard looks otherwise than who has not"


def test_it_fits_a_phone(opened):
    page = opened(CreditWidget(BOARDS, HEARD), width=380)
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 380
