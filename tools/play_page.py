"""Make what plays and trains on the book's pages: python tools/play_page.py

play.js     the module docs/board/page.js, and those that it imports, as one classic script
train.js    docs/board/training.js in the same way; it carries the text of its worker along
*.css       their looks: those of the widgets, and what a page adds
network.js  the network of data/weights/page.npz: whole numbers, packed and written as text

`tools/book.py` puts them into the book; by itself this writes them into build/play.  Nothing of
them is fetched by a page but by elements, so it plays when it is opened as a file, too.
"""

import base64
import functools
import json
import zlib
from pathlib import Path

import numpy as np

from lib2048 import load
from lib2048.machine.files import write_text
from lib2048.networks.storage import info
from lib2048.show.widgets.base import front_end, style_sheet

ROOT = Path(__file__).resolve().parents[1]
BOARD, PLACE = ROOT / "docs" / "board", ROOT / "build" / "play"
PAGE, TRAINING, WORKER = (BOARD / f"{name}.js" for name in ("page", "training", "training_worker"))
WEIGHTS = ROOT / "data" / "weights" / "page.npz"
MADE = "/* Made by tools/play_page.py: change what it is made of. */\n"
NAME = "globalThis.lib2048Network"


def main():
    """Write the files into build/play and say how large they are."""
    for name in made():
        print(f"{name}: {(written() / name).stat().st_size:,} bytes")


@functools.cache
def written():
    """Write the files, once in a process; return their folder."""
    for name, text in made().items():
        write_text(PLACE / name, text)
    return PLACE


@functools.cache
def made():
    """Return the files: {name: text}."""
    worker = f"const WORKER = {json.dumps(front_end(WORKER))};\n"
    return {
        "play.js": script(PAGE), "play.css": looks(PAGE), "network.js": network_script(WEIGHTS),
        "train.js": script(TRAINING, worker), "train.css": looks(TRAINING),
    }  # fmt: skip


# ---------------------------------------------------------------- script and looks


def text(path):
    return path.read_text(encoding="utf-8")


def script(page, first=""):
    """Return a module and all that it needs as a classic script, in a block: no name leaves it.

    first: what stands before them.
    """
    return block(first + front_end(page))


def block(text):
    """Return a classic script whose names stay its own."""
    return f'{MADE}"use strict";\n{{\n{text}}}\n'


def looks(page):
    """Return the style sheet of a module."""
    return MADE + style_sheet(page)


# ---------------------------------------------------------------- the network


def network_script(path):
    """Return the script that holds the network of a file that a [[ship]] with a step has made."""
    network, about = load(path), info(path)["info"]
    step, scored = about["step"], about["this_file"]["1-ply"]
    tables = [network.table(number) / step for number in range(len(network.tuples))]
    told = {
        "tuples": ["".join(f"{cell:x}" for cell in cells) for cells in network.tuples],
        "unit": step,
        "count": int((network.weights != 0).sum()),
        "scored": {name: scored[name] for name in ("games", "mean", "ci95")},
        "weights": box(packed(np.concatenate(tables))),
    }
    return f"{MADE}{NAME} = {json.dumps(told)};\n"


def packed(weights):
    """Return whole numbers as bytes: which are not 0, a bit each; their low bytes; their high ones.

    weights: an array of whole numbers, of which 16 bits hold each.  −1, 1, −2 … are kept as 1, 2,
    3 …, so that small ones have a high byte of 0.
    """
    whole = np.rint(weights).astype(np.int64)
    if (whole != weights).any() or np.abs(whole).max() >= 1 << 15:
        raise ValueError(f"{WEIGHTS}: its weights are no whole numbers of steps, in 16 bits")
    some = whole[whole != 0]
    folded = np.where(some < 0, -2 * some - 1, 2 * some)
    mask = np.packbits(whole != 0, bitorder="little")
    halves = (folded & 255, folded >> 8)
    return mask.tobytes() + b"".join(half.astype(np.uint8).tobytes() for half in halves)


def box(data):
    return base64.b64encode(zlib.compress(data, 9)).decode()


if __name__ == "__main__":
    main()
