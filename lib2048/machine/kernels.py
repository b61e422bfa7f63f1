"""How the library compiles: one cache folder keyed by its sources, one way to make a kernel.

numba's own cache looks only at the file that holds a function, so an edit in *another* file
leaves stale machine code behind.  The folder's name therefore holds a hash of all our sources,
and it is set before the first function is compiled.
"""

import ctypes
import functools
import hashlib
import os
import sys
import time
import warnings
from pathlib import Path

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

HERE = Path(__file__).parent.parent


def source_hash():
    """Return a short hash (12 hex digits) of all the library's Python sources."""
    digest = hashlib.sha256()
    for path in sorted(HERE.rglob("*.py")):
        digest.update(path.relative_to(HERE).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def _user_cache():
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


# A search gets its functions in a tuple.  numba calls that experimental, each time anew.
warnings.filterwarnings("ignore", category=numba.NumbaExperimentalFeatureWarning)

SOURCE_HASH = source_hash()
CACHE = _user_cache() / "lib2048" / SOURCE_HASH
FIRST_USE = not CACHE.exists()
numba.config.CACHE_DIR = str(CACHE)

kernel = numba.njit(cache=True, nogil=True, error_model="numpy")
part = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)  # of a kernel


def compiled(signature):
    """Compile a function for one fixed signature, when it is first asked for.

    signature: a numba signature.  Returns a decorator; the decorated name becomes a function
    without arguments that returns the compiled one.  Importing the library thus compiles
    nothing, and the result can be passed to a kernel as a first-class function.
    """

    def decorate(function):
        @functools.cache
        def get():
            return numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)

        get.__doc__ = function.__doc__
        get.python = function
        return get

    return decorate


_announced = False


def announce(out=sys.stderr):
    """Say, once, on a machine that has not used this version yet, that it is compiling."""
    global _announced
    if FIRST_USE and not _announced and not numba.config.DISABLE_JIT:
        print("lib2048: compiling for this machine, once; about 20 seconds …", file=out, flush=True)
    _announced = True


@intrinsic
def _prefetch(typing_context, array, index):
    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [address, i32(0), i32(3), i32(1)])  # to read, keep near, data
        return context.get_dummy_value()

    return types.void(array, index), build


if numba.config.DISABLE_JIT:
    # Uncompiled, 64-bit integers wrap as they should, but numpy would say so every time.
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)

    def prefetch(array, index):
        """Do nothing: the plain twin of the hint below."""

else:

    @kernel
    def prefetch(array, index):
        """Ask the memory for array[index] without waiting for it (a hint of LLVM's, portable)."""
        _prefetch(array, index)


# ---------------------------------------------------------------- a clock, and a flag to stop by
# A search with a time limit looks at the clock a hundred times a millisecond, so it calls the
# system's own.  Its address is an argument of the kernels: an address in cached code would be
# that of another process.


_WINDOWS = sys.platform == "win32"
_MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 1)


def clock():
    """Return (address of the system's monotonic clock, seconds of one of its ticks)."""
    if numba.config.DISABLE_JIT:
        return 0, 1e-9
    if _WINDOWS:
        frequency = ctypes.c_int64()
        ctypes.windll.kernel32.QueryPerformanceFrequency(ctypes.byref(frequency))
        function = ctypes.windll.kernel32.QueryPerformanceCounter
        return ctypes.cast(function, ctypes.c_void_p).value, 1 / frequency.value
    function = ctypes.CDLL(None).clock_gettime
    return ctypes.cast(function, ctypes.c_void_p).value, 1e-9


@intrinsic
def _ticks(typing_context, address):
    def build(context, builder, signature, arguments):
        i32, i64 = ir.IntType(32), ir.IntType(64)
        place = cgutils.alloca_once(builder, ir.ArrayType(i64, 2))
        pointer = builder.bitcast(place, cgutils.voidptr_t)
        kinds, values = [i32, cgutils.voidptr_t], [i32(_MONOTONIC), pointer]
        kind = ir.FunctionType(i32, kinds[_WINDOWS:]).as_pointer()
        builder.call(builder.inttoptr(arguments[0], kind), values[_WINDOWS:])
        first, second = (builder.load(cgutils.gep_inbounds(builder, place, 0, i)) for i in (0, 1))
        if _WINDOWS:
            return first
        return builder.add(builder.mul(first, i64(10**9)), second)

    return types.int64(types.int64), build


@intrinsic
def _peek(typing_context, array, index):
    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "monotonic", 8)

    return types.int64(array, index), build


if numba.config.DISABLE_JIT:

    def ticks(address):
        """Read the clock: the plain twin of the call below."""
        return time.perf_counter_ns()

    def peek(array, index):
        """Read array[index]: the plain twin of the load below."""
        return array[index]

else:

    @kernel
    def ticks(address):
        """Read the clock of `clock`, in its ticks.  address: int64.  Returns int64."""
        return _ticks(address)

    @kernel
    def peek(array, index):
        """Read array[index], an int64, anew each time: another thread may have changed it."""
        return _peek(array, index)
