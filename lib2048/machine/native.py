"""What numba lacks: a hint to the memory, arrays without owners, a clock, a look at a flag.

None is bound to one processor.
"""

import ctypes
import sys
import time
import warnings

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lib2048.machine.kernels import part

if numba.config.DISABLE_JIT:
    # Uncompiled, 64-bit integers wrap as they should, but numpy would say so every time.
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)


def _native(plain):
    """Decorate what builds an instruction; where nothing is compiled, `plain` stands for it."""
    return (lambda build: plain) if numba.config.DISABLE_JIT else intrinsic


@_native(lambda array, index: None)
def prefetch(typing_context, array, index):
    """Ask the memory for array[index] without waiting for it (a hint of LLVM's, portable)."""

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = context.cast(builder, arguments[1], index, types.uint64)
        address = builder.bitcast(builder.gep(data, [at]), cgutils.voidptr_t)
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [address, i32(0), i32(3), i32(1)])  # to read, keep near, data
        return context.get_dummy_value()

    return types.void(array, index), build


@_native(lambda record: record)
def borrowed(typing_context, record):
    """Return a record of arrays that belong to nobody; who called the kernel keeps them.

    numba counts the owners of an array whenever it is taken out of a record.  Inside a loop that
    costs a factor of four; these arrays have no owners to be counted.
    """

    def build(context, builder, signature, arguments):
        members = cgutils.unpack_tuple(builder, arguments[0])
        for at, kind in enumerate(signature.args[0]):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, members[at])
                array.meminfo = cgutils.get_null_value(array.meminfo.type)
                array.parent = cgutils.get_null_value(array.parent.type)
                members[at] = array._getvalue()
        return context.make_tuple(builder, signature.return_type, members)

    return record(record), build


@_native(ctypes.c_void_p)
def _pointer(typing_context, address):
    def build(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), build


@_native(lambda number: np.uint64(int(number).bit_count()))
def population(typing_context, number):
    """Return how many bits of a uint64 are set, as a uint64."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@_native(lambda array, index, bits: np.bitwise_or.at(array, index, bits))
def _or_atomic(typing_context, array, index, bits):
    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.atomic_rmw("or", builder.gep(data, [arguments[1]]), arguments[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, index, bits), build


@part
def array_at(address, shape, kind):
    """Return the array of a numpy type that lies at an address; it belongs to nobody."""
    return numba.carray(_pointer(address), shape, kind)


@part
def set_bit(array, place):
    """Set bit `place` of a uint64 array; other threads may set others at the same time."""
    word, bit = place >> 6, np.uint64(1) << np.uint64(place & 63)
    if not array[word] & bit:
        _or_atomic(array, word, bit)


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


@_native(lambda address: time.perf_counter_ns())
def ticks(typing_context, address):
    """Read the clock of `clock`, in its ticks.  address: int64.  Returns int64."""

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


@_native(lambda array, index: array[index])
def peek(typing_context, array, index):
    """Read array[index], an int64, anew each time: another thread may have changed it."""

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(data, [arguments[1]]), "monotonic", 8)

    return types.int64(array, index), build
