"""The board of the book's front page in a real browser, opened as a file, as no server has it."""

import random
import re
from contextlib import contextmanager

import lab
import play_page
import pytest

from lib2048 import load
from lib2048.game import board as rules
from lib2048.game.spec import ACTIONS
from lib2048.play.evaluation import Step, evaluate
from lib2048.play.players import network_player
from lib2048.play.review import review
from lib2048.show.widgets.game import Game, to_hex

KEYS = [f"Arrow{name}" for name in ACTIONS]
PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}"><meta charset="utf-8"><title>2048</title>
<style>html {{ color-scheme: {theme} }}</style>
<div id="play-2048" data-seed="2048"><p>Here is a board, where JavaScript runs.</p></div>
<div style="height: 3000px"></div>
<script src="{script}"></script></html>
"""


@contextmanager
def opened(chromium, folder, width=1200, theme="light", **more):
    """Open a page that holds the board; yield (page, board); nothing may go wrong on it."""
    path = folder / "page.html"
    script = (play_page.written() / "play.js").as_uri()
    path.write_text(PAGE.format(script=script, theme=theme), encoding="utf-8")
    watched = lab.Watched(chromium, width, 800, **more)
    watched.page.goto(path.as_uri())
    watched.page.wait_for_selector("#play-2048[data-ready]")
    yield watched.page, watched.page.locator("#play-2048")
    watched.close()
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith("file:")] == []


@pytest.fixture
def opened_page(chromium, tmp_path):
    with opened(chromium, tmp_path) as found:
        yield found


@pytest.mark.ci
def test_a_learner_trains_in_the_page(chromium, tmp_path):
    path, script = tmp_path / "page.html", (play_page.written() / "train.js").as_uri()
    path.write_text(PAGE.replace("play-2048", "train-2048").format(script=script, theme="light"))
    watched = lab.Watched(chromium, 1200, 800)
    watched.page.goto(path.as_uri())
    learner = watched.page.locator("#train-2048.lib2048")
    learner.get_by_label("α", exact=True).fill("7")
    learner.get_by_role("button", name="Begin anew").click()
    assert "A rate is a number" in learner.locator(".lib-message").inner_text()
    learner.get_by_label("α", exact=True).fill("0,1")
    learner.get_by_role("button", name="Start").click()
    watched.page.wait_for_function(
        "document.getElementById('train-2048').dataset.actions > 20000", timeout=60_000
    )
    assert shown(learner, "games") > 10 and shown(learner, "mean score") > 1000
    assert learner.locator(".lib-tile").count() > 1
    watched.close()
    assert watched.errors == [] and not [u for u in watched.requests if u.startswith("http")]


@pytest.fixture(scope="module")
def player():
    return network_player(load(play_page.WEIGHTS))


def stands(board):
    return board.evaluate("e => [e.dataset.board, Number(e.dataset.actions)]")


def shown(board, name):
    """Return a number of the tally."""
    text = board.locator(".lib-scores p", has_text=name).locator("b").inner_text()
    return int(re.sub(r"\D", "", text))


@pytest.mark.ci
def test_it_plays_a_whole_game_as_fast_as_it_can_and_by_the_rules(opened_page, player):
    page, board = opened_page
    board.get_by_label("Speed").press("End")
    board.get_by_role("button", name="Watch it play").click()
    page.wait_for_selector("#play-2048[data-finished]")
    number, score, length, last = board.get_attribute("data-finished").split(" ")
    result = evaluate(player, int(number) + 1, 2048)
    assert int(score) == result.scores[int(number)]
    assert rules.is_over(int(last, 16)) and int(length) > 100
    assert "You watched" in board.inner_text()
    board.press("p")
    print(f"\n{board.get_attribute('data-rate')} actions/s in {lab.CHROMIUM}")


def test_a_person_plays_the_library_s_game_by_keys_and_the_page_stays_where_it_is(opened_page):
    page, board = opened_page
    twin = Game(2048, 0)
    board.focus()
    for key in random.Random(2).choices(range(4), k=60):
        twin.act(key)
        page.keyboard.press(KEYS[key])
        assert stands(board) == [to_hex(twin.here.board), len(twin.turns) - 1]
    assert shown(board, "score") == twin.here.score
    assert shown(board, "best tile") == max(map(max, rules.to_tiles(twin.here.board)))
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("u")
    twin.undo()
    assert stands(board) == [to_hex(twin.here.board), len(twin.turns) - 1]
    page.mouse.click(5, 700)  # away from the board arrows scroll, as ever
    page.keyboard.press("ArrowDown")
    page.wait_for_function("scrollY > 0")


@pytest.mark.ci
def test_a_game_is_reviewed_and_played_on_from_its_worst_action(opened_page, player):
    page, board = opened_page
    board.focus()
    for key in random.Random(3).choices(range(4), k=80):
        page.keyboard.press(KEYS[key])
    whole = stands(board)
    page.keyboard.press("r")
    view = page.locator(".lib-review")
    view.wait_for()
    game, steps = Game(2048, 0), []
    for key in random.Random(3).choices(range(4), k=80):
        before = game.here.board
        after, reward = rules.slide(before, key)
        if game.act(key) is not None:
            steps.append(Step(before, key, reward, after, None))
    worst = review(steps, player).worst()
    assert int(view.get_attribute("data-position")) == worst[0]
    cards = view.locator(".lib-review-card")
    assert cards.count() == 3 and f"action {worst[1] + 1}" in cards.nth(1).inner_text()
    cards.nth(1).click()
    assert int(view.get_attribute("data-position")) == worst[1]
    assert f"Action {worst[1] + 1} of {len(steps)}" in view.inner_text()
    view.get_by_role("button", name="Play on from here").click()
    assert stands(board) == [to_hex(steps[worst[1]].board), worst[1]] and view.count() == 0
    board.get_by_role("button", name="Back to the whole game").click()
    assert stands(board) == whole


def test_the_network_is_fetched_when_it_is_asked_for(chromium, tmp_path):
    with opened(chromium, tmp_path) as (page, board):
        loaded = "performance.getEntriesByType('resource').map((e) => e.name).join()"
        board.press("ArrowLeft")
        assert "network.js" not in page.evaluate(loaded)
        board.press("h")
        page.wait_for_selector("#play-2048[data-network]")
        assert page.locator(".lib-worths-row b").filter(has_text=re.compile(r"\d")).count() > 0


def test_a_new_game_can_be_taken_back(opened_page):
    page, board = opened_page
    board.press("ArrowLeft")
    board.press("ArrowUp")
    before = stands(board)
    board.get_by_role("button", name="New game").click()
    assert stands(board) == [to_hex(Game(2048, 1).here.board), 0]
    board.get_by_role("button", name="Undo").click()
    assert stands(board) == before


def test_a_key_takes_over_from_the_network(opened_page):
    page, board = opened_page
    board.get_by_role("button", name="Watch it play").click()
    page.wait_for_function("Number(document.querySelector('#play-2048').dataset.actions) > 3")
    board.focus()
    for key in KEYS[:2]:
        page.keyboard.press(key)
    assert board.get_by_role("button", name="Watch it play").is_visible()
    there = stands(board)
    page.wait_for_timeout(400)
    assert stands(board) == there


def test_a_swipe_slides_and_a_touch_does_not(opened_page):
    page, board = opened_page
    box = board.locator(".lib-board").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    twin = Game(2048, 0)
    for action, (right, down) in enumerate([(0, -1), (1, 0), (0, 1), (-1, 0)]):
        for far in (5, 60):
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + far * right, y + far * down)
            page.mouse.up()
            if far == 60:
                twin.act(action)
            assert stands(board) == [to_hex(twin.here.board), len(twin.turns) - 1]
    assert len(twin.turns) > 2


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_tiles_travel_unless_people_asked_for_less_motion(chromium, tmp_path, motion, moves):
    with opened(chromium, tmp_path, reduced_motion=motion) as (page, board):
        legal = rules.afterstates(int(stands(board)[0], 16))[0][0]
        board.focus()
        page.evaluate("""() => {
            const animate = Element.prototype.animate;
            window.animated = 0;
            Element.prototype.animate = function (...how) {
                window.animated += 1;
                return animate.apply(this, how);
            };
        }""")
        page.keyboard.press(KEYS[legal])
        assert stands(board)[1] == 1
        assert (page.evaluate("window.animated") > 0) == moves


@pytest.mark.parametrize(("width", "theme"), [(1200, "light"), (400, "dark")])
def test_it_fits(chromium, tmp_path, width, theme):
    with opened(chromium, tmp_path, width, theme) as (page, board):
        board.press("h")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = board.locator("*").evaluate_all(
            "all => Math.max(...all.map((e) => e.getBoundingClientRect().right))"
        )
        assert wide <= width
