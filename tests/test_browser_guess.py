"""Guesses that are drawn on empty axes in a real browser, and the truth that comes over them."""

import lab
import pytest

pytestmark = pytest.mark.usefixtures("in_order")

CELLS = [
    "from lib2048 import course\n"
    "course.predict('06.1', None, axis=(0, 100, 'points'), over=(0, 20, 'seconds'));",
    "course.predict('06.2', None, axis=(0, 50, '%'));",
]
LINE, DOT = range(2)
LAST = DOT


@pytest.fixture
def line(notebook):
    return lab.Widget(notebook, LINE)


@pytest.fixture
def dot(notebook):
    return lab.Widget(notebook, DOT)


@pytest.mark.ci
def test_a_dot_is_moved_by_keys_and_kept(notebook, dot):
    assert "06.2 waits for your guess: draw it" in dot.message
    assert dot.button("That is my guess").get_attribute("aria-disabled") == "true"
    axis = dot.root.get_by_role("slider")
    axis.press("ArrowRight")
    for _ in range(2):
        dot.page.keyboard.press("Shift+ArrowRight")
    assert axis.get_attribute("aria-valuetext") == "35.5 %"
    dot.page.keyboard.press("Enter")
    dot.until("06.2: you say 35.5.")
    notebook.until("course.predicted('06.2')", 35.5)
    notebook.ask("course.you_said('06.2', '%', truth=20)")
    dot.until("You said 35.5 %; it was 20")
    axis.press("ArrowRight")
    assert axis.get_attribute("aria-valuetext") == "35.5 %", "what is known is no guess any more"
    assert dot.button("That is my guess").is_hidden()


def test_a_result_that_comes_first_waits_for_the_guess(notebook, dot):
    notebook.ask("course.predictions._drawn['06.2'].state.update(value=None)")
    notebook.ask("course.predictions._drawn['06.2'].send_state('state')")
    notebook.ask("course.you_said('06.2', '%', truth=20)")
    dot.until("Guess before you look")
    assert dot.root.locator("circle.lib-true").count() == 0
    dot.root.get_by_role("slider").press("ArrowRight")
    dot.page.keyboard.press("Enter")
    dot.until("%; it was 20")
    assert dot.root.locator("circle.lib-true").count() == 1


def test_a_line_is_drawn_by_the_mouse_and_the_truth_comes_over_it(notebook, line):
    box = line.root.locator(".lib-guess").bounding_box()
    left, right = box["x"] + 62, box["x"] + box["width"] - 18
    mouse = line.page.mouse
    mouse.move(left, box["y"] + 226)
    mouse.down()
    mouse.move(right, box["y"] + 126, steps=5)
    mouse.up()
    line.button("That is my guess").click()
    line.until("06.1: you say 50.")
    drawn = notebook.ask("course.predictions._drawn_line('06.1')")
    assert [x for x, _ in drawn] == [2 * n for n in range(11)]
    heights = [y for _, y in drawn]
    assert heights == sorted(heights) and (heights[0], heights[-1]) == (0, 50)
    notebook.ask("course.you_said('06.1', '', [(5, 20), (20, 40)])")
    line.until("You said 50 points; it was 40 points.")
    assert line.root.locator("path.lib-true").count() == 1


def test_they_fit_a_phone_and_everything_has_a_name(notebook):
    lab.check_looks(notebook)
    lab.check_names(notebook, "button")


def test_a_guess_stays_when_its_cell_runs_again_and_a_lost_kernel_is_told(notebook, line):
    notebook.run_all()
    line.until("06.1: you said 50.")
    notebook.restart()
    line.until("then run this cell")
