"""Take the README's pictures: two lessons at work in a real JupyterLab.

python docs/screens.py    needs a browser (apt install chromium)
"""

import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.append(str(DOCS.parent / "tests"))
import lab  # noqa: E402  what the tests of the widgets open a browser by

NOTEBOOK = "window.jupyterapp.shell.currentWidget.content"
WIDTH, HEIGHT = 1080, 800


def run_cell(page, number):
    """Run a cell of the open notebook, bring it to the top, and wait for the kernel."""
    page.page.evaluate(f"n => {{ {NOTEBOOK}.activeCellIndex = n }}", number)
    page.command("notebook:run-cell")
    page.page.wait_for_function(
        f"n => {NOTEBOOK}.widgets[n].model.executionState === 'idle'", arg=number
    )


def show(page, number):
    """Scroll so far that a cell begins at the top of the window."""
    page.page.evaluate(
        f"""n => {{
          const node = {NOTEBOOK}.widgets[n].node, outer = node.closest(".jp-WindowedPanel-outer");
          const top = node.getBoundingClientRect().top - outer.getBoundingClientRect().top;
          outer.scrollTop += top; }}""",
        number,
    )
    page.page.wait_for_timeout(1500)


def play(page):
    """Lesson 00: a network has played for a while, and gives a hint.  Returns the cell to show."""
    for number in (2, 3, 8):
        run_cell(page, number)
    game = lab.Widget(page, 0)
    game.press("p")
    page.page.wait_for_timeout(45_000)
    game.press("p", "h")
    page.page.wait_for_timeout(2_000)
    return 7


def train(page):
    """Lesson 06: two runs learn side by side, and their curves grow.  Returns the cell to show."""
    for number in (1, 2, 43):
        run_cell(page, number)
    widget = lab.Widget(page, 0)
    widget.button("Start all").click()
    page.page.wait_for_function(
        "() => [...document.querySelectorAll('.lib-card')].every(e => e.dataset.phase === 'done')"
    )
    return 43


def take(name, lesson, act):
    """Open a lesson, act in it and keep what the window shows."""
    with tempfile.TemporaryDirectory() as folder, lab.browser() as browser:
        folder = Path(folder)
        (folder / ".home").mkdir()
        shutil.copy(DOCS.parent / "notebooks" / lesson, folder)
        with lab.server(folder) as address:
            page = lab.Page(browser, address(lesson), WIDTH, HEIGHT)
            show(page, act(page))
            page.page.screenshot(path=DOCS / f"{name}.png")
            page.close()


if __name__ == "__main__":
    take("lesson_00", "00_start_here.ipynb", play)
    take("lesson_06", "06_td0.ipynb", train)
