"""Which tests `make test` runs, and which others the project's check runs as well (marked `ci`)."""

import pytest


def one_in(count, cases):
    """Return cases, of which one in so many is for `make test` and the others are marked `ci`."""
    rows = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [
        pytest.param(*row, marks=pytest.mark.ci if number % count else ())
        for number, row in enumerate(rows)
    ]
