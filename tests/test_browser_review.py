"""The review of a game, and what stands beside the board one plays on, in a real browser."""

import lab
import numpy as np
import pytest
from learners import SMALL, scattered

from lib2048 import Network, SmallGame, endgame, record_game
from lib2048.game.game import parse_game
from lib2048.game.spec import ACTIONS
from lib2048.show.widgets.game import Game, to_hex
from lib2048.show.widgets.play import PlayWidget
from lib2048.show.widgets.review import ReviewWidget


@pytest.fixture(scope="module")
def steps():
    return record_game("greedy", seed=7)


def position(page):
    return int(page.page.locator(".lib-review").get_attribute("data-position"))


@pytest.mark.ci
def test_a_review_shows_the_worst_and_leads_along_the_game(opened, steps):
    widget = ReviewWidget(steps, scattered(Network(SMALL)))
    page, worst = opened(widget), widget.review.worst(3)
    assert position(page) == worst[0]
    cards = page.root.locator(".lib-review-card")
    assert cards.count() == 3
    for n, turn in enumerate(worst):
        taken = ACTIONS[widget.review.taken[turn]]
        lost = f"{widget.review.lost[turn]:,.0f}".replace(",", "\u202f")
        assert cards.nth(n).locator("b").inner_text() == f"{n + 1}. {taken} −{lost}"
        cards.nth(n).click()
        assert position(page) == turn
    page.page.locator(".lib-review").focus()
    for key, turn in [("Home", 0), ("ArrowRight", 1), ("PageDown", 11), ("End", len(steps) - 1)]:
        page.page.keyboard.press(key)
        assert position(page) == turn
    page.page.keyboard.press("1")
    page.page.keyboard.press("p")
    begun = widget.review.steps[worst[0]].board
    board = page.page.locator(".lib2048[data-board]")
    assert board.get_attribute("data-board") == to_hex(begun)
    page.page.keyboard.press("h")
    page.page.locator(".lib-message", has_text="would choose").wait_for()
    assert ACTIONS[widget.review.best[worst[0]]] in board.locator(".lib-worths-best").inner_text()


def test_a_click_on_a_mark_shows_what_it_cost(opened, steps):
    widget = ReviewWidget(steps, scattered(Network(SMALL)))
    page = opened(widget)
    page.page.locator(".lib-review").press("Home")
    over = page.root.locator(".u-over").nth(1)
    turn = widget.review.worst(1)[0]
    wide = over.bounding_box()["width"]
    x = wide * turn / (len(widget.review.steps) - 1)
    over.click(position={"x": min(x, wide - 2), "y": 20})
    assert position(page) == turn
    bars = page.root.locator(".lib-worths-row").all()
    worths = widget.review.worths[turn]
    for action, bar in enumerate(bars):
        said = bar.get_attribute("aria-label")
        assert said.startswith(f"{ACTIONS[action]}: ")
        assert ("not legal" in said) == np.isnan(worths[action])
        assert ("best" in said) == (action == widget.review.best[turn])
        assert ("taken" in said) == (action == widget.review.taken[turn])


def test_a_small_board_is_reviewed_by_the_truth(opened):
    truth = SmallGame(2, 2, progress=False).optimal()
    steps = record_game("greedy", seed=5, game="2048@2x2")
    page = opened(ReviewWidget(steps, truth.actions), width=390, height=844)
    assert "optimal" in page.root.locator(".lib-caption").first.inner_text()
    assert page.root.locator(".lib-review-board .lib-cell").count() == 4


# ---- what stands beside the board ----------------------------------------------------------------


def pressed(page, number):
    """Press the key of the first legal action, so many times."""
    page.root.focus()
    for _ in range(number):
        legal = page.root.locator(".lib-cross button:not([aria-disabled=true])").first
        page.page.keyboard.press(f"Arrow{legal.inner_text()}")


@pytest.mark.ci
def test_ones_own_game_is_reviewed_when_it_is_over(opened):
    widget = PlayWidget(seed=3, player=scattered(Network(SMALL)))
    page = opened(widget)
    game = Game(3, 0, game=parse_game("2048"))
    while any(game.act(action) is not None for action in range(4)):
        pass
    page.root.focus()
    for action in game.actions:
        page.page.keyboard.press(f"Arrow{ACTIONS[int(action)]}")
    assert widget.actions == len(game.actions) and not widget.helped
    page.page.locator(".lib-over button", has_text="Review this game").click()
    page.page.locator(".lib-review").wait_for()
    assert len(widget.steps) - 1 == len(game.actions)
    at = position(page)
    page.page.keyboard.press("p")
    assert page.root.get_attribute("data-board") == to_hex(widget.steps[0].board)
    assert to_hex(game.turns[at].board) == to_hex(widget.board)
    page.root.get_by_role("button", name="Close").click()
    assert page.page.locator(".lib-review").count() == 0


def test_what_a_player_took_is_not_ones_own(opened):
    widget = PlayWidget(seed=3, player="heuristic")
    page = opened(widget)
    pressed(page, 4)
    page.page.wait_for_function("window.model.get('game').actions.length === 4")
    own = widget.score
    page.press("h")
    page.page.locator(".lib-message", has_text="would choose").wait_for()
    pressed(page, 1)
    assert widget.game["by"] == "00001" and widget.own_actions == 4
    assert widget.helped and widget.own_score == own
    pressed(page, 3)
    page.press("u")
    assert widget.own_actions == 6 and widget.own_score == own
    said = page.root.locator(".lib-hands").inner_text()
    assert said.startswith("Helped: 6 of 7 actions were your own.")
    assert "6 were your own, 1 had a hint" in widget.account()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_2048_has_its_moment_which_ends_with_the_next_action(opened, motion):
    board = [[1024, 1024, 4, 2], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
    page = opened(PlayWidget(seed=3, player="heuristic", board=board), reduced_motion=motion)
    badge = page.root.locator(".lib-badge")
    page.press("ArrowLeft")
    assert badge.is_visible() and "★ 2048" in badge.inner_text()
    moves = badge.evaluate("e => getComputedStyle(e).animationName === 'lib-badge'")
    assert moves == (motion == "no-preference")
    page.page.keyboard.press("u")
    assert badge.is_hidden()
    page.page.keyboard.press("ArrowLeft")
    badge.get_by_role("button", name="Keep playing").click()
    assert badge.is_hidden()
    assert page.page.evaluate("document.activeElement.matches('.lib2048')")
    assert "2048 made" in page.root.locator(".lib-hands").inner_text()


def test_a_busy_kernel_is_not_said_to_be_loading(opened):
    page = opened(PlayWidget(seed=3, player="heuristic"))
    page.page.evaluate("""() => { window.heard = (message) => {
        const { id } = JSON.parse(message);
        const working = { kind: "working", id, doing: "Loading x.npz", busy: true };
        return Promise.resolve({ messages: id ? [working] : [], traits: {} }) } }""")
    page.press("h")
    page.page.locator(".lib-message", has_text="The kernel is busy with another cell").wait_for()


def test_another_page_s_game_is_followed(opened):
    widget = PlayWidget(seed=3, player="heuristic")
    page = opened(widget)
    pressed(page, 2)
    there = page.root.get_attribute("data-board")
    old = widget.game | {"actions": "", "by": ""}
    tell = "message => window.hear({ messages: [message], traits: {} })"
    page.page.evaluate(tell, {"kind": "follow", "game": old, "page": "another"})
    assert page.root.get_attribute("data-actions") == "0"
    page.page.keyboard.press("ArrowLeft")
    assert page.root.get_attribute("data-board") != there


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_and_fits_a_phone(opened, steps, theme):
    for widget in (
        ReviewWidget(steps, scattered(Network(SMALL))),
        PlayWidget(seed=3, player="heuristic"),
    ):
        page = opened(widget, width=390, height=844, theme=theme)
        page.press("h")
        page.page.wait_for_timeout(200)
        assert page.root.evaluate(lab.PALE) == []
        assert page.root.evaluate(lab.FITS)
        for part in page.root.locator("button, input, select").all():
            assert part.evaluate("e => e.ariaLabel || (e.labels?.[0] ?? e).textContent.trim()")


@pytest.mark.ci
def test_an_endgame_shows_chances_and_refuses_what_moves_a_large_tile(opened):
    table = endgame.solve("411", 16, progress=False)
    board = [[2, 4, 2, 0], [2, 64, 128, 256], [2, 512, 1024, 2048], [4096, 8192, 16384, 16]]
    widget = PlayWidget(seed=3, player=table, board=board)
    page = opened(widget)
    page.press("h")
    page.page.locator(".lib-message", has_text="would choose").wait_for()
    known = table.values(widget.board)
    for action, bar in enumerate(page.root.locator(".lib-worths-row").all()):
        said = bar.locator("b").inner_text()
        if action not in known:
            assert said == "–"
        else:
            assert float(said.rstrip("%").strip()) == pytest.approx(100 * known[action], abs=0.06)
    page.press("ArrowUp")
    assert widget.actions == 0
    assert page.message.startswith("Up would move a large tile")
    page.press("p")
    page.page.locator(".lib-over span", has_text="16").or_(
        page.page.locator(".lib-over span", has_text="Lost")
    ).first.wait_for()
    page.press("r")
    page.page.locator(".lib-review").wait_for()
    assert "chance of success" in page.page.locator(".lib-review-charts").inner_text()
