"""Memory: what is free, before it is taken, and arrays that threads can write side by side."""

import sys
from pathlib import Path

import numba
import numpy as np
import psutil

LINES = 256  # bytes on both sides of a thread's own arrays


# ---------------------------------------------------------------- what is free


def available(groups="/sys/fs/cgroup", own="/proc/self/cgroup"):
    """Return how many bytes of memory are free: of the machine, and of each enclosing container.

    A container is a control group of Linux, of either version: what it may still take is its
    limit less its working set, which is what it uses but for pages of files that it can give
    back.  groups: where the system shows them; own: the file that names those of this process.
    """
    return max(0, min([psutil.virtual_memory().available, *_rooms(Path(groups), Path(own))]))


# What the two versions of control groups call the limit, what is used, and (a line of memory.stat)
# what can be given back.
_NEW = "memory.max", "memory.current", "inactive_file"
_OLD = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"


def _rooms(groups, own):
    """Yield what each group that encloses this process may still take."""
    for line in _text(own).splitlines():
        _, kinds, path = (line.split(":", 2) + ["", ""])[:3]
        if not kinds or "memory" in kinds.split(","):
            top, names = (groups / "memory", _OLD) if kinds else (groups, _NEW)
            folder = top / path.strip("/")
            # In a container the path may be that of the host, and only its top be there.
            for group in (folder, *folder.parents):
                yield from _room(group, *names)
                if group == top:
                    break


def _room(group, limit, used, given_back):
    """Yield what a group may still take, or nothing where it has no limit."""
    try:
        stat = dict(line.split() for line in _text(group / "memory.stat").splitlines())
        taken = int(_text(group / used)) - int(stat.get(given_back, 0))
        yield int(_text(group / limit)) - max(0, taken)
    except ValueError:  # "max", or nothing there
        return


def peak_mib(status="/proc/self/status"):
    """Return the most memory that this process had, in MiB; None where no system says it.

    status: where Linux says it; on Windows psutil knows, elsewhere what is counted for limits.
    """
    for line in _text(Path(status)).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) >> 10
    if most := getattr(psutil.Process().memory_info(), "peak_wset", None):
        return most >> 20
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in bytes on macOS, else in KiB
    return most >> (20 if sys.platform == "darwin" else 10)


def _text(path):
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def lacked(error):
    """Say in one line that an error is a lack of memory, of torch or C++ too; None if it is not."""
    said = str(error).strip().partition("\n")[0]
    words = ("bad_alloc", "allocate memory", "out of memory")
    if isinstance(error, MemoryError) and said and words[0] not in said:
        return said  # with advice of ours
    if not (isinstance(error, MemoryError) or any(word in said for word in words)):
        return None
    return f"there is not enough memory ({said or 'none is left'}): ask for less at a time"


def check_memory(what, nbytes, advice="take a smaller network"):
    """Raise MemoryError, before anything is taken, when so many bytes are not free."""
    free = available()
    if nbytes > free:
        need, here = f"{nbytes / 2**20:,.0f} MiB", f"{free / 2**20:,.0f} MiB"
        raise MemoryError(f"{what} needs {need}, and {here} are free: {advice}")


# ---------------------------------------------------------------- arrays


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
