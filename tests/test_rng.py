"""The random state: SplitMix64, the same everywhere; checked against plain integers."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from lib2048.game import rng

WORDS = st.integers(0, 2**64 - 1)
# The generator's published outputs (Vigna's splitmix64.c, the state first set to the key).
PUBLISHED = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F],
    1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423],
}


@pytest.mark.parametrize("state, expected", PUBLISHED.items())
def test_draws_are_the_published_ones(state, expected):
    for bits in expected:
        state, found = rng.draw(np.uint64(state))
        assert int(found) == bits


@given(WORDS)
def test_draw_is_plain_splitmix(state):
    assert tuple(map(int, rng.draw(np.uint64(state)))) == reference.draw(state)


@given(WORDS, WORDS)
def test_stream_is_plain(seed, number):
    assert int(rng.stream(np.uint64(seed), np.uint64(number))) == reference.stream(seed, number)


@pytest.mark.parametrize("number", [-1, -5, 2**63, 2**64, 2**64 + 7])
def test_any_integer_is_taken_modulo(number):
    inside = np.uint64(number % 2**64)
    assert rng.stream(number, 3) == rng.stream(inside, 3)
    assert rng.stream(3, number) == rng.stream(3, inside)


@given(WORDS, st.integers(1, 2**32 - 1))
def test_below_is_the_upper_half_scaled(bits, n):
    assert int(rng.below(np.uint64(bits), np.uint64(n))) == (bits >> 32) * n >> 32 < n


@given(WORDS, st.integers(0, 2**32))
def test_chance_compares_the_lower_half(bits, threshold):
    assert rng.chance(np.uint64(bits), np.uint64(threshold)) == ((bits & 0xFFFFFFFF) < threshold)
