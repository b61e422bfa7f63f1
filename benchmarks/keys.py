"""How long a key takes until its board is drawn: python benchmarks/keys.py

Plays by keys, in Chromium, on a page of its own, and prints the median and the 95th percentile of
milliseconds from the key to the frame that shows what it did.  Then it says how long the review of
a long game takes.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from lib2048 import load, record_game
from lib2048.game.bits import WHOLE
from lib2048.machine.data import data
from lib2048.show.widgets.game import Game
from lib2048.show.widgets.mind import SHIPPED_FILE
from lib2048.show.widgets.play import PlayWidget
from lib2048.show.widgets.reviewed import reviewed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import bare  # noqa: E402
import lab  # noqa: E402

WATCH = """() => { window.took = [];
  const after = new MessageChannel(), waits = [];
  after.port1.onmessage = () => waits.splice(0).forEach(
    (since) => took.push(performance.now() - since));
  addEventListener("keydown", ({ timeStamp }) => { waits.push(timeStamp);
    requestAnimationFrame(() => after.port2.postMessage(0)) }, true) }"""
KEYS = ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"]


def keys(chromium, steps, count):
    """Return milliseconds of each of `count` keys, in a game that begins with these steps."""
    game, widget = Game(1, 0), PlayWidget(seed=1, player="heuristic")
    for step in steps:
        game.act(step.action)
    widget._game, widget.game = game, game.as_dict()
    page = bare.Bare(chromium, widget)
    page.page.evaluate(WATCH)
    page.root.focus()
    for n in range(count):
        page.page.keyboard.press(KEYS[n % 4])
        page.page.wait_for_timeout(30)
    took = page.page.evaluate("took")
    page.close()
    return took


def review(network, steps):
    """Return the seconds that the review of a game takes, and its bytes."""
    reviewed(steps[:10], network, WHOLE)
    begin = time.perf_counter()
    text = json.dumps(reviewed(steps, network, WHOLE)[1])
    return time.perf_counter() - begin, len(text)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--review", type=int, default=10_000, help="actions of the reviewed game")
    options = parser.parse_args()
    network = load(data(SHIPPED_FILE), to_play=True)
    games = (record_game(network, 1, number) for number in range(100))
    longest = max(games, key=len)[: options.review]
    first = record_game(network, 1, 0)
    with lab.browser() as chromium:
        for begun in (0, 2000):
            took = keys(chromium, first[:begun], options.keys)
            print(
                f"a key, after {begun} actions: median {statistics.median(took):.1f} ms, "
                f"95 % {np.quantile(took, 0.95):.1f} ms"
            )
    seconds, size = review(network, longest)
    print(f"review of {len(longest)} actions: {seconds:.2f} s, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
