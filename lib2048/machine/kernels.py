"""How the library compiles: one way to make a kernel, one cache that is keyed by its sources.

numba's own cache looks only at the file that holds a function, so an edit in *another* file
leaves stale machine code behind.  Ours lies in a folder whose name holds a hash of all the rooms
that hold kernels; it changes no setting of numba, so other packages keep their caches.
"""

import contextlib
import functools
import hashlib
import os
import sys
from pathlib import Path
from types import FunctionType

import numba
import numpy as np
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from lib2048.machine.telling import say
from lib2048.machine.waiting import aside

LIBRARY = Path(__file__).parents[1]
# What machine code depends on: the rooms that hold kernels, and how these are compiled.
ROOMS = ("machine/kernels.py", "machine/native.py", "game", "networks", "learn", "search", "play",
         "deep")  # fmt: skip


def source_hash(*rooms):
    """Return a short hash (12 hex digits) of the Python sources of some rooms, or of all.

    rooms: folders of the library, or files.
    """
    digest = hashlib.sha256()
    for path in sorted(path for room in rooms or ("",) for path in _sources(LIBRARY / room)):
        digest.update(path.relative_to(LIBRARY).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def _sources(room):
    return [room] if room.suffix else room.rglob("*.py")


def _user_cache():
    """Return the folder for what can be made again; never one beside the sources, see above.

    Nor is it in the folder of all temporary files: what lies there may be anybody's, and this is
    code that will run.
    """
    try:
        return _asked_for("NUMBA_CACHE_DIR") or _usual_cache()
    except RuntimeError:  # there is no home: a container's user without a name
        return Path("/.cache")


def _asked_for(variable):
    """Return the folder that an environment variable names, None where it says nothing."""
    return Path(os.environ[variable]).absolute() if os.environ.get(variable) else None


def _usual_cache():
    if sys.platform == "win32":
        return _asked_for("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return _asked_for("XDG_CACHE_HOME") or Path.home() / ".cache"


SOURCE_HASH = source_hash()
# Code with and without checks of bounds is not the same code.
_CHECKED = "-checked" if numba.config.BOUNDSCHECK else ""
VERSION = Path("lib2048", source_hash(*ROOMS) + _CHECKED)
CACHE = _user_cache() / VERSION
# What somebody compiled for everybody, such as the root of a hub: read, never written.
COMMON = _asked_for("LIB2048_COMPILED")


def _say_compiling():
    if not os.environ.get("LIB2048_QUICK"):  # in the tests of lessons there is nobody to be told
        say("compiling for this machine, once for each part of the library; up to half a minute …")


# ---------------------------------------------------------------- the cache


class _Place:
    """Where a function's machine code is kept; what numba calls a locator."""

    def __init__(self, path):
        self._path = path

    def get_cache_path(self):
        return str(self._path)

    def ensure_cache_path(self):
        self._path.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self):
        return ""  # the folder's name says it


class _Entry(CompileResultCacheImpl):
    """How one function is written and read: numba's way, in our place."""

    def __init__(self, function, folder=None):
        self._locator = _Place((folder or CACHE) / function.__module__)
        line = function.__code__.co_firstlineno
        # numba writes the list of a function's files before the files: one that was killed in
        # between must not leave the list of one version beside a file of another.
        made_by = "py{}{}-{}".format(*sys.version_info[:2], numba.__version__)
        self._filename_base = f"{function.__name__}-{line}.{made_by}"


class _Common(FunctionCache):
    """What was compiled for everybody."""

    _impl_class = staticmethod(lambda function: _Entry(function, COMMON / VERSION))

    def load_overload(self, sig, target_context):
        with contextlib.suppress(Exception):  # a damaged file can raise anything
            return super().load_overload(sig, target_context)


class _Cache(FunctionCache):
    """numba's cache in our folder; a disk that cannot be read or written is no reason to fail."""

    _impl_class = _Entry

    def load_overload(self, sig, target_context):
        found = _Common(self._py_func).load_overload(sig, target_context) if COMMON else None
        if found is not None:
            return found
        try:
            found = super().load_overload(sig, target_context)
        except OSError:
            pass  # what cannot be read is compiled, and if it cannot be kept, that is said
        except Exception:  # a damaged file can raise anything
            say(f"compiled code in {CACHE} is damaged: it is made anew")
            self._forget()
        if found is None:
            _say_compiling()
        return found

    def _forget(self):
        """Let the list of files be empty, so that new ones can be added."""
        try:
            self.flush()
        except OSError:
            self.disable()

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say(
                f"compiled code cannot be kept in {CACHE} ({error.strerror}), so each session "
                "compiles anew: make room there, or set NUMBA_CACHE_DIR to a folder that can be "
                "written"
            )


def _cached(dispatcher):
    """Let a function of numba keep its machine code in our cache."""
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = _Cache(dispatcher.py_func)
    return dispatcher


# ---------------------------------------------------------------- ways to make a kernel


def jit(function, **options):
    """Return a function that numba compiles when it is needed, and not in the main thread.

    There Ctrl-C would end a compilation half made, or not be heard; so it ends the waiting.
    options: of numba.njit.
    """
    made = numba.njit(**options)(function)
    if not numba.config.DISABLE_JIT:
        made.compile = functools.partial(_compiled_aside, made.compile)
    return made


def _compiled_aside(compile, signature):
    if global_compiler_lock.is_locked():  # by this thread, which compiles what calls the function
        return compile(signature)
    return aside(lambda: compile(signature))


def kernel(function):
    """Compile a function for the types that it is called with, on its first call."""
    return _cached(jit(function, nogil=True, error_model="numpy"))


def part(function):
    """Compile a function into every kernel that calls it."""
    return _cached(jit(function, nogil=True, error_model="numpy", forceinline=True))


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

        get.__doc__, get.signature = function.__doc__, signature
        get.python = function
        return get

    return decorate


def at_once(signature, function, cached=True, **options):
    """Compile a function for one fixed signature now; the result takes no other.

    cached: whether its machine code is kept for the next session; options: of numba.njit.
    """
    made = jit(function, nogil=True, error_model="numpy", **options)
    if numba.config.DISABLE_JIT:
        return made
    if cached:
        _cached(made)
    made.compile(signature)
    made.disable_compile()
    return made


# ---------------------------------------------------------------- the same for another module
# A kernel calls the functions of a module that it knows by one name (`rules.slide`).  The same
# kernel with another module under that name is another kernel: compiled once, with those functions
# inlined, and kept in the cache like all others.


@functools.cache
def bound(kernel, name, module):
    """Return a kernel that calls the functions of a module under a name that it knows.

    kernel: made by `kernel`, `part` or `compiled`; name: of a global of its module, or of the
    modules of kernels that it calls, however deep; module: what it shall mean there.  Returns the
    kernel itself where it means that already.
    """
    return _bound(kernel, name, module, {})


def _bound(kernel, name, module, done):
    if kernel in done:
        return done[kernel]
    plain = _plain(kernel)
    others, done[kernel] = {}, kernel  # itself, for one that calls itself
    for used in plain.__code__.co_names:
        thing = plain.__globals__.get(used)
        if used == name and thing is not module:
            others[used] = module
        elif _plain(thing) is not None and thing is not kernel:
            if (other := _bound(thing, name, module, done)) is not thing:
                others[used] = other
    if others:
        done[kernel] = _copy(kernel, plain, others, module)
    return done[kernel]


def _plain(thing):
    """Return the Python function of one of our kernels, None for anything else."""
    plain = getattr(thing, "py_func", None) or getattr(thing, "python", None)
    if plain is None and numba.config.DISABLE_JIT and isinstance(thing, FunctionType):
        plain = thing
    ours = isinstance(plain, FunctionType) and plain.__module__.partition(".")[0] == "lib2048"
    return plain if ours else None


def _copy(kernel, plain, others, module):
    """Return a kernel with other globals, under a name of its own: names are addresses, too."""
    room, suffix = {**plain.__globals__, **others}, module.__name__.rpartition(".")[2]
    copy = FunctionType(plain.__code__, room, f"{plain.__name__}_{suffix}", plain.__defaults__)
    copy.__qualname__, copy.__doc__ = copy.__name__, plain.__doc__
    keep = module.__name__.startswith("lib2048.")  # the cache knows of no other module's changes
    if hasattr(kernel, "signature"):
        return functools.cache(lambda: at_once(kernel.signature, copy, cached=keep))
    options = dict(getattr(kernel, "targetoptions", {}))
    options.pop("nopython", None)
    made = jit(copy, **options)
    if keep:
        _cached(made)
    if plain.__name__ in plain.__code__.co_names:  # it calls itself
        room[plain.__name__] = made
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
