"""Which tests `make test` runs, and which others the project's check runs as well (marked `ci`)."""

import pytest


def one_in(count, cases):
    """Return cases, of which one in so many is for `make test` and the others are marked `ci`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark)
        for number, case in enumerate(cases)
        for mark in [[pytest.mark.ci] if number % count else []]
    ]
