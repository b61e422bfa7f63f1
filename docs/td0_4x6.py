"""Draw the README's picture from data/curves."""

from pathlib import Path

import pandas as pd

from lib2048 import plot

HERE = Path(__file__).resolve().parent
CURVES = HERE.parent / "data" / "curves"


def frames(order):
    """Return the three seeds' curves of one order of updates."""
    return [pd.read_csv(path) for path in sorted(CURVES.glob(f"td0_4x6_{order}_seed?.csv"))]


ax = plot.curves({"forward": frames("forward"), "backward": frames("backward")})
ax.figure.savefig(HERE / "td0_4x6.png", metadata={"Software": None})
