"""Memory: what is free, before it is taken, and arrays that threads can write side by side."""

import numba
import numpy as np
import psutil

LINES = 256  # bytes on both sides of a thread's own arrays


def available():
    """Return how many bytes of memory are free."""
    return psutil.virtual_memory().available


def check_memory(what, nbytes, advice="take a smaller network"):
    """Raise MemoryError, before anything is taken, when so many bytes are not free."""
    free = available()
    if nbytes > free:
        need, here = f"{nbytes / 2**20:,.0f} MiB", f"{free / 2**20:,.0f} MiB"
        raise MemoryError(f"{what} needs {need}, and {here} are free: {advice}")


def reserve(what, count):
    """Return float32[count] of zeros; the system gives the memory when it is first written.

    Raises MemoryError, in one line, when it refuses.
    """
    try:
        return np.zeros(count, np.float32)
    except MemoryError:
        raise MemoryError(
            f"{what}: the system refuses {4 * count / 2**20:,.0f} MiB: "
            "take fewer stages or a smaller network"
        ) from None


def apart(shape, dtype):
    """Return zeros that share no cache line with anything else, or two threads would wait.

    The processor hands memory around in lines of 64 bytes, often two at a time.
    """
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    whole = np.zeros(nbytes + 2 * LINES, np.uint8)
    return whole[LINES : LINES + nbytes].view(dtype).reshape(shape)


def records(shape, dtype):
    """Return zeros, apart from others, whose fields are attributes, compiled or not."""
    made = apart(shape, dtype)
    return made.view(np.recarray) if numba.config.DISABLE_JIT else made
