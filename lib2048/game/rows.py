"""All rows of four cells, slid both ways: what the tables of a game's slides are made from."""

import numpy as np

SHIFTS = np.arange(0, 16, 4, dtype=np.uint64)


def slid_rows(slide_left):
    """Return what becomes of each of the 65536 rows.

    Args:
        slide_left: a function from uint8[n, 4], exponents, to (uint8[n, 4], what it pays[n]).

    Returns:
        (slid to the left, slid to the right, what each pays), uint64[65536] each.
    """
    rows = np.arange(1 << 16, dtype=np.uint64)
    cells = (rows[:, None] >> SHIFTS & np.uint64(15)).astype(np.uint8)
    left, left_pays = slide_left(cells)
    right, right_pays = slide_left(cells[:, ::-1])
    pays = left_pays.astype(np.uint64), right_pays.astype(np.uint64)
    return _numbers(left), _numbers(right[:, ::-1]), *pays


def _numbers(cells):
    return (cells.astype(np.uint64) << SHIFTS).sum(axis=1, dtype=np.uint64)
