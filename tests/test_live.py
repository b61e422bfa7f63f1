"""The widgets that live in the book's pages: what they load, what they show, where they stand."""

import json
import re
from pathlib import Path

import lab
import live
import play_page
import pytest
from on_node import needs_node, output

from lib2048 import ReplayWidget, course

HERE = Path(__file__).parent
NOTEBOOKS = sorted((live.ROOT / "notebooks").glob("*.ipynb"))
ALIVE = {"PlayWidget", "TrainWidget", "ReplayWidget", "SmallBoardWidget", "CurvesExplorer"}
PAGE = """<!doctype html>
<html lang="en" data-theme="light"><meta charset="utf-8"><title>alive</title>
<div class="live-2048" data-live="{kind}" data-about='{about}'><p>A picture.</p></div>
<script src="_static/play/live.js"></script></html>
"""


def stored(path):
    return json.loads(path.read_text(encoding="utf-8"))


def text_of(notebook):
    return "".join(live.html_of(o) for cell in notebook["cells"] for o in cell.get("outputs", ()))


# ---------------------------------------------------------------- lessons


def test_every_picture_of_a_widget_that_a_page_can_show_comes_alive():
    kinds = []
    for path in NOTEBOOKS:
        notebook = stored(path)
        wanted = [
            name
            for cell in notebook["cells"]
            if any(live.STILL.search(live.html_of(o)) for o in cell.get("outputs", ()))
            for name in live.CALL.findall("".join(cell["source"]))[-1:]
        ]
        scripts = live.alive(notebook, path.stem)
        text = text_of(notebook)
        found = re.findall(r'data-live="(\w+)"', text)
        assert len(found) == len([name for name in wanted if name in ALIVE]), path.name
        assert "None" not in "".join(re.findall(r'data-note="([^"]*)"', text)), path.name
        assert text.count("/live.js") == min(1, len(found)), path.name
        for name in scripts:
            assert f"&quot;{name}&quot;" in text
        kinds += found
    assert set(kinds) == {"play", "train", "replay", "small", "curves", "threes"}


def test_an_explorer_has_the_points_of_the_rows_that_it_draws():
    explorer = course.CurvesExplorer("rules", rows=["td_0.5", "tc_1.0"], seeds=1)
    found = live.curves(explorer)
    for row in explorer.view["rows"]:
        named = {(news["seed"], news["of"]): news["points"] for news in found["curves"][row]}
        ours, whole = named[1, "training"], explorer._row(row).runs[1].points("training")
        assert 10 < len(ours) <= live.MOST
        for mine, theirs in zip((ours[0], ours[-1]), (whole[0], whole[-1])):
            assert mine == live.rounded(theirs)


@needs_node
def test_the_recorded_game_is_the_library_s(tmp_path):
    files = {"page.js": live.page("replay"), "game.js": live.data()["game.js"]}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = output(HERE / "recorded.mjs", *(tmp_path / name for name in files))
    record = ReplayWidget(live.record_of_game()).record
    wanted = json.loads(json.dumps(record | {"values": [round(v) for v in record["values"]]}))
    assert found == wanted


# ---------------------------------------------------------------- what a page loads


def test_scripts_are_small_and_name_no_other_machine():
    made = live.scripts() | live.data()
    for name, text in made.items():
        assert len(text.encode()) < 250_000, name
        text = text.replace("https://github.com/leeoniya/uPlot", "")
        text = text.replace("http://www.w3.org/2000/svg", "")  # the name of a language
        assert "http" not in text and "url(" not in text, name
        assert not re.search(r"(?<![.\w])fetch\(", text.replace("  fetch() {", "")), name
    assert len(made["live.js"].encode()) < 6_000  # every lesson with a widget has it


# ---------------------------------------------------------------- in a browser


def opened(chromium, folder, kind, about, scripts=()):
    """Open a page as a file, press its button; return (what watches it, the widget)."""
    place = folder / "_static/play"
    place.mkdir(parents=True)
    made = play_page.made() if kind in ("play", "train") else live.data() | dict(scripts)
    for name, text in (live.scripts() | made).items():
        (place / name).write_text(text, encoding="utf-8")
    path = folder / "page.html"
    path.write_text(PAGE.format(kind=kind, about=json.dumps(about)), encoding="utf-8")
    watched = lab.Watched(chromium, 1200, 800)
    watched.page.goto(path.as_uri())
    assert watched.page.get_by_text("A picture.").is_visible()
    watched.page.get_by_role("button", name="▶").click()
    widget = watched.page.locator(".lib2048").first
    widget.wait_for()
    assert not watched.page.get_by_text("A picture.").is_visible()
    return watched, widget


def closed(watched):
    watched.close()
    assert watched.errors == [] and not [u for u in watched.requests if u.startswith("http")]


@pytest.mark.ci
def test_a_small_board_is_solved_and_explored_without_a_kernel(chromium, tmp_path):
    watched, widget = opened(chromium, tmp_path, "small", {"size": "2×2", "way": "greedy"})
    small = live.SmallGame(2, 2, progress=False)
    best, own = small.optimal().start, small.follow("greedy").start
    said = f"{best:.2f} points by optimal play, {own:.2f} by greedy play"
    assert said in widget.inner_text()
    widget.locator("button.lib-choice").first.click()
    widget.locator("button[data-spawn]").first.click()
    watched.page.wait_for_function("document.querySelector('.lib2048').dataset.turn === 'you'")
    watched.page.get_by_label("board", exact=True).select_option("2×3")
    watched.page.get_by_text("480.26 points by optimal play").wait_for()
    closed(watched)


@pytest.mark.slow
def test_curves_are_explored_without_a_kernel(chromium, tmp_path):
    curves = live.curves(course.CurvesExplorer("rules", rows=["td_0.5", "tc_1.0"], seeds=1))
    scripts = {"curves_x.js": live.told("curves_x", curves)}
    about = {"name": "curves_x", "files": ["curves_x.js"]}
    watched, widget = opened(chromium, tmp_path, "curves", about, scripts)
    said = "document.querySelector('.lib-plot').ariaLabel"
    watched.page.wait_for_function(rf"/tc_1.0[^,]* \d+.\d\d\d/.test({said})")
    assert "td_0.5" in widget.locator(".lib-plot").get_attribute("aria-label")
    closed(watched)


@pytest.mark.slow
def test_a_recorded_game_plays_without_a_kernel(chromium, tmp_path):
    watched, widget = opened(chromium, tmp_path, "replay", {})
    widget.press("End")
    assert int(widget.get_attribute("data-position")) == len(live.record_of_game()) - 1
    assert "16384" in widget.locator(".lib-board").first.get_attribute("aria-label")
    closed(watched)


@pytest.mark.slow
@pytest.mark.parametrize("kind, about", [("threes", {"files": ["known_threes.js"]}), ("play", {})])
def test_games_are_played_without_a_kernel(chromium, tmp_path, kind, about):
    watched, widget = opened(chromium, tmp_path, kind, about)
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        widget.press(key)
    assert int(widget.get_attribute("data-actions")) > 0
    closed(watched)


@pytest.mark.slow
def test_a_learner_begins_with_what_its_lesson_asks(chromium, tmp_path):
    about = {"rate": "0.5", "network": "four 5-tuples"}
    watched, widget = opened(chromium, tmp_path, "train", about)
    assert widget.get_by_label("α", exact=True).input_value() == "0.5"
    assert widget.get_by_label("Network", exact=True).input_value() == "four 5-tuples"
    closed(watched)
