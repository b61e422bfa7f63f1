"""Record data/curves/exact.csv: python tools/record_exact.py

What small boards are worth under five ways to play, each from the random start of two tiles:
optimal, random, greedy by reward, and the values of random play improved once and twice (each
time the action with the largest reward + value is taken).  About two minutes, 2 GB.
"""

from pathlib import Path

import pandas as pd

from lib2048 import SmallGame

TABLE = Path(__file__).resolve().parents[1] / "data" / "curves" / "exact.csv"
SIZES = ((2, 2), (2, 3), (2, 4), (3, 3))


def rows_of(game):
    """Return the rows of one board size."""
    size = {"board": game.name, "states": game.states, "afterstates": game.afterstates}
    size["terminal"] = game.terminal
    top = 2 ** (game.rows * game.columns + 1)
    for name, values in ways(game):
        print(values, flush=True)
        row = size | {"play": name, "value": values.start, "moves": values.moves}
        shares = values.largest()
        for part in (1, 2, 4):
            tile = top // part
            row[f"reach_{part}"] = sum(share for t, share in shares.items() if t >= tile)
        yield row


def ways(game):
    """Yield each way to play, and its values."""
    yield "optimal", game.optimal()
    random = game.follow("random")
    yield "random", random
    yield "greedy", game.follow("greedy")
    once = game.follow(random)
    yield "random, improved once", once
    yield "random, improved twice", game.follow(once)


def main():
    """Record every size."""
    rows = [row for size in SIZES for row in rows_of(SmallGame(*size))]
    pd.DataFrame(rows).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
