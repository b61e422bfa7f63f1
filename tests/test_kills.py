"""Runs that are killed at random times lose nothing behind their last checkpoint."""

import signal

import kills
import numpy as np
import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
@pytest.mark.parametrize("number", [0, 1])
def test_a_run_that_is_killed_again_and_again_ends_as_one_that_is_not(tmp_path, number):
    kills.chain(kills.CHAINS[number], 3, np.random.default_rng(number), tmp_path / "run")
