"""How the library compiles: one way to make a kernel, one cache that is keyed by its sources.

numba's own cache looks only at the file that holds a function, so an edit in *another* file
leaves stale machine code behind.  Ours lies in a folder whose name holds a hash of all the rooms
that hold kernels; it changes no setting of numba, so other packages keep their caches.
"""

import functools
import hashlib
import os
import sys
from pathlib import Path

import numba
import numpy as np
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache

LIBRARY = Path(__file__).parents[1]
ROOMS = ("machine", "game", "networks", "learn", "search", "play", "deep")  # that hold kernels


def source_hash(*rooms):
    """Return a short hash (12 hex digits) of the Python sources of some rooms, or of all."""
    digest = hashlib.sha256()
    folders = [LIBRARY / room for room in rooms] or [LIBRARY]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(path.relative_to(LIBRARY).as_posix().encode())
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


SOURCE_HASH = source_hash()
# Code with and without checks of bounds is not the same code.
_CHECKED = "-checked" if numba.config.BOUNDSCHECK else ""
CACHE = _user_cache() / "lib2048" / (source_hash(*ROOMS) + _CHECKED)


# ---------------------------------------------------------------- what is said of it


@functools.cache
def say(text):
    """Print a line on stderr, once a process; nothing where there is no stderr."""
    if sys.stderr is not None:
        print(f"lib2048: {text}", file=sys.stderr, flush=True)


def _say_compiling():
    if not os.environ.get("LIB2048_QUICK"):  # in the tests of lessons there is nobody to be told
        say("compiling for this machine; it takes up to half a minute, and happens once …")


# ---------------------------------------------------------------- the cache


class _Place:
    """Where a function's machine code is kept; what numba calls a locator."""

    def __init__(self, module):
        self._path = CACHE / module

    def get_cache_path(self):
        return str(self._path)

    def ensure_cache_path(self):
        self._path.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self):
        return ""  # the folder's name says it


class _Entry(CompileResultCacheImpl):
    """How one function is written and read: numba's way, in our place."""

    def __init__(self, function):
        self._locator = _Place(function.__module__)
        line = function.__code__.co_firstlineno
        python = "{}{}".format(*sys.version_info)
        self._filename_base = f"{function.__name__}-{line}.py{python}"


class _Cache(FunctionCache):
    """numba's cache in our folder; a disk that cannot be read or written is no reason to fail."""

    _impl_class = _Entry

    def load_overload(self, sig, target_context):
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # a damaged file can raise anything: compile anew
            say(f"compiled code in {CACHE} cannot be read ({error})")
        if found is None:
            _say_compiling()
        return found

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say(f"compiled code cannot be kept ({error}), so each session compiles anew: "
                "set NUMBA_CACHE_DIR to a folder that can be written")  # fmt: skip


def _cached(dispatcher):
    """Let a function of numba keep its machine code in our cache."""
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _Cache(dispatcher.py_func)
    return dispatcher


# ---------------------------------------------------------------- ways to make a kernel


def kernel(function):
    """Compile a function for the types that it is called with, on its first call."""
    return _cached(numba.njit(nogil=True, error_model="numpy")(function))


def part(function):
    """Compile a function into every kernel that calls it."""
    return _cached(numba.njit(nogil=True, error_model="numpy", forceinline=True)(function))


def compiled(signature):
    """Compile a function for one fixed signature, when it is first asked for.

    signature: a numba signature.  Returns a decorator; the decorated name becomes a function
    without arguments that returns the compiled one.  Importing the library thus compiles
    nothing, and the result can be passed to a kernel as a first-class function.
    """

    def decorate(function):
        @functools.cache
        def get():
            return at_once(signature, function)

        get.__doc__ = function.__doc__
        get.python = function
        return get

    return decorate


def at_once(signature, function, cached=True, **options):
    """Compile a function for one fixed signature now; the result takes no other.

    cached: whether its machine code is kept for the next session; options: of numba.njit.
    """
    made = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if numba.config.DISABLE_JIT:
        return made
    if cached:
        _cached(made)
    made.compile(signature)
    made.disable_compile()
    return made


_SIMPLE = {int: types.int64, bool: types.boolean, float: types.float64}


def numba_type(annotation):
    """Return the numba type of an annotation, so that a record is described once.

    annotation: a numba type, int, bool, float, a scalar type or a dtype of numpy, or a NamedTuple
    whose fields have such annotations.
    """
    if isinstance(annotation, types.Type):
        return annotation
    if hasattr(annotation, "_fields"):
        fields = [numba_type(annotation.__annotations__[name]) for name in annotation._fields]
        return types.BaseTuple.from_types(fields, annotation)
    return _SIMPLE.get(annotation) or numba.from_dtype(np.dtype(annotation))
