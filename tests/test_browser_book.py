"""The book in a real browser, served from this machine: every page, the search, the front page."""

import functools
import http.server
import threading

import lab
import pytest
from book_pages import built, names
from test_tournament import SETTINGS, standing

from lib2048.course.tournament.leaderboard import Leaderboard

WIDTHS = {"laptop": 1200, "phone": 400}
A_GAME = 180_000  # milliseconds


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return built(tmp_path_factory.mktemp("book"))[0]


@pytest.fixture(scope="module")
def address(made):
    handler = functools.partial(Quiet, directory=made)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def reader(request, chromium):
    width, theme = getattr(request, "param", ("laptop", "light"))
    one = lab.Watched(chromium, WIDTHS[width])
    mode = f"localStorage.mode = localStorage.theme = '{theme}'"  # as the theme's own switch does
    one.context.add_init_script(mode)
    yield one
    one.close()
    assert one.errors == [] == one.abroad()


@pytest.mark.parametrize("reader", [("laptop", "light"), ("phone", "dark")], indirect=True)
def test_every_page_opens_and_is_no_wider_than_the_window(reader, made, address):
    wide = []
    for name in names(made):
        reader.page.goto(address + name, wait_until="load")
        if reader.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
        assert reader.errors == [] == reader.abroad(), name
    assert wide == [] and len(names(made)) > 40


# How many numbers of a page's tables take more than one line.
BROKEN = """() => [...document.querySelectorAll("td.number")].filter(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell.querySelector("p") ?? cell);
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
}).length"""
LAST = "document.querySelector('article tr:nth-child(2) td:last-child').clientWidth"


@pytest.mark.parametrize("reader", [("laptop", "light"), ("phone", "light")], indirect=True)
def test_no_number_of_a_table_breaks_and_words_have_room(reader, address):
    for name in ("figures.html", "results.html"):
        reader.page.goto(address + name)
        assert reader.page.locator("td.number").count() > 100
        assert reader.page.evaluate(BROKEN) == 0
    reader.page.goto(f"{address}figures.html")
    assert reader.page.evaluate(LAST) > 150


def test_formulas_are_drawn(reader, address):
    reader.page.goto(f"{address}lessons/07_looking_ahead.html")
    reader.page.locator("mjx-container svg").first.wait_for()


def test_the_search_finds(reader, address):
    reader.page.goto(f"{address}search.html?q=carousel")
    first = reader.page.locator("#search-results li a")
    first.first.wait_for()
    found = [first.nth(n).get_attribute("href") for n in range(first.count())]
    assert any("lessons/12_carousel_shaping.html" in link for link in found)
    said = reader.page.locator("#search-results li", has_text="12 · Carousel").locator(".context")
    said.first.wait_for()
    sentence = said.first.inner_text()
    assert "carousel" in sentence.lower() and "Light Dark" not in sentence
    assert said.first.locator("mark").first.inner_text().lower() == "carousel"


def test_the_front_page_is_light_until_the_network_is_asked_for(reader, address):
    reader.page.goto(f"{address}index.html")
    reader.page.locator("#play-2048.lib2048").wait_for()
    loaded = reader.page.evaluate(
        "['resource', 'navigation'].flatMap((of) => performance.getEntriesByType(of))"
        ".reduce((sum, one) => sum + one.transferSize, 0)"
    )
    assert 100_000 < loaded < 1_000_000


def test_a_lesson_s_picture_comes_alive(reader, address):
    reader.page.goto(f"{address}lessons/02_exact_small_boards.html")
    reader.page.get_by_role("button", name="Explore it here").click()
    reader.page.get_by_text("480.26 points by optimal play").wait_for()


def test_answers_unfold(reader, address):
    reader.page.goto(f"{address}lessons/07_looking_ahead.html")
    answer = reader.page.locator("article details", has_text="All values are 0.")
    text = answer.get_by_text("The reward of this action plus")
    assert not text.is_visible()
    answer.locator("summary").click()
    assert text.is_visible()


def test_the_front_page_opens_as_a_file_too(reader, made):
    reader.page.goto((made / "index.html").as_uri())
    assert reader.page.locator("ol.staircase li").count() >= 8
    reader.page.locator("#play-2048.lib2048").wait_for()
    reader.page.get_by_role("button", name="Watch it play").click()
    reader.page.locator("#play-2048 input[type=range]").press("End")  # as fast as it can
    reader.page.locator("#play-2048[data-finished]").wait_for(timeout=A_GAME)


CUT = "[...document.querySelectorAll('*')].some(e => e.getBoundingClientRect().right > innerWidth)"


def test_the_page_of_a_tournament_is_cut_at_no_width(reader):
    scores, note = [251_000, 301_310, 421_100, 311_190], "an action that was not legal in game 3"
    first = standing("expectimax_with_a_long_name.py", scores, note=note)
    reader.page.set_content(Leaderboard([first, standing("b", [1, 2, 3, 4])], SETTINGS).html())
    for width in (390, 861, 1000, 1100, 1121, 1280):
        reader.page.set_viewport_size({"width": width, "height": 900})
        assert not reader.page.evaluate(CUT), width
