"""A small explicit random state: one 64-bit integer, the same stream on every platform.

The generator is SplitMix64 (Steele, Lea & Flood 2014): the state walks by a constant and the
output is that state, well mixed.  Nothing is global: whoever draws passes the state in and gets
the next one back.
"""

from numbers import Integral

import numpy as np

from lib2048.machine.kernels import kernel
from lib2048.machine.terminal import in_short

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_LOW32 = np.uint64(0xFFFFFFFF)


@kernel
def mix(z):
    """Scramble 64 bits so that close inputs give unrelated outputs.

    z: uint64.  Returns uint64.  The map is one to one (SplitMix64's finaliser).
    """
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@kernel
def stream_kernel(seed, number):
    """Return the random state with which game `number` of `seed` begins; see `stream`."""
    return mix(mix(np.uint64(seed) + GOLDEN) ^ mix(np.uint64(number) * GOLDEN))


def stream(seed, number):
    """Return the random state with which game `number` of `seed` begins.

    Args:
        seed, number: any integers, taken modulo 2^64.

    Returns:
        np.uint64.  A game's luck depends on these two alone, so the number of threads, or the order
        of the games, changes nothing.
    """
    return np.uint64(stream_kernel(seed_bits(seed), seed_bits(number)))


def seed_bits(seed):
    """Return a seed as 64 bits: any integer, taken modulo 2^64, as np.uint64.

    Raises ValueError for what is no integer.
    """
    if not isinstance(seed, Integral):
        raise ValueError(f"seed {in_short(seed)}: use a whole number")
    return np.uint64(int(seed) % (1 << 64))


@kernel
def draw(state):
    """Draw 64 random bits.

    state: uint64.  Returns (next state, 64 random bits), both uint64.
    """
    state = state + GOLDEN
    return state, mix(state)


@kernel
def turn_kernel(seed, purpose, number, turn):
    """Return a random state apart from those of the spawns, for one turn of one game.

    seed: uint64; purpose: a number that keeps this luck apart from other luck; number, turn: of
    the game, and of its turn.  Returns uint64.
    """
    state = stream_kernel(mix(seed ^ np.uint64(purpose)), number)
    return mix(state + GOLDEN * np.uint64(turn))


@kernel
def unit(bits):
    """Turn 64 random bits, or an array of such, into numbers in [0, 1), by their upper 53."""
    return (bits >> np.uint64(11)) * 2.0**-53


@kernel
def below(bits, n):
    """Turn 64 random bits into an integer from 0 to n − 1, by their upper half.

    bits, n: uint64, n < 2^32.  Returns uint64.  Off from uniform by less than n / 2^32.
    """
    return ((bits >> np.uint64(32)) * n) >> np.uint64(32)


@kernel
def also_below(bits, n):
    """Turn the half of 64 random bits that `below` leaves into an integer from 0 to n − 1."""
    return ((bits & _LOW32) * n) >> np.uint64(32)


@kernel
def chance(bits, threshold):
    """Say whether the lower half of 64 random bits falls below a threshold out of 2^32.

    bits, threshold: uint64.  Returns bool; true with probability threshold / 2^32.  It uses the
    bits that `below` leaves, so that one draw serves both.
    """
    return (bits & _LOW32) < threshold
