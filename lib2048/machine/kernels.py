"""How the library compiles: one way to make a kernel, one cache that is keyed by its sources.

numba's own cache looks only at the file that holds a function, so an edit in *another* file
leaves stale machine code behind.  Ours lies in a folder whose name holds a hash of all that
computes; it changes no setting of numba, so other packages keep their caches.
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
import platformdirs
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from lib2048.machine.terminal import say
from lib2048.machine.threads import aside

LIBRARY = Path(__file__).parents[1]
# What computes: whose code decides what is learned and played, and so what compiled code and
# recorded rows depend on.  Whole rooms, but for what only reads and writes files and folders:
# nothing that a kernel holds may come from elsewhere, see tests/test_sources.py.
COMPUTE = ("machine/kernels.py", "machine/native.py", "machine/turns.py", "game", "networks",
           "learn", "endgame", "search", "play", "train", "deep", "ruler", "exact.py")  # fmt: skip
FILES = {"command", "convert", "files", "folder", "foreign", "storage"}


def computing():
    """Return the set of Python files that compute."""
    rooms = (LIBRARY / room for room in COMPUTE)
    found = [path for room in rooms for path in ([room] if room.suffix else room.rglob("*.py"))]
    return {path for path in found if path.stem not in FILES}


def hash_of(paths):
    """Return a short hash (12 hex digits) of some files of the library, and their names."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(LIBRARY).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def folder_of(variable):
    """Return the folder that an environment variable names, None where it says nothing."""
    return Path(os.environ[variable]).absolute() if os.environ.get(variable) else None


def _user_cache():
    """Return the folder for what can be made again; never one beside the sources, see above.

    Nor is it in the folder of all temporary files, or in the present one: what lies there may be
    anybody's, and this is code that will run.
    """
    usual = platformdirs.user_cache_path()
    if not usual.is_absolute():  # there is no home: a container's user without a name
        usual = Path("/.cache")
    return folder_of("NUMBA_CACHE_DIR") or usual


COMPUTING = computing()
SOURCE_HASH = hash_of(COMPUTING)
# Code with and without checks of bounds is not the same code.
_CHECKED = "-checked" if numba.config.BOUNDSCHECK else ""
VERSION = Path("lib2048", SOURCE_HASH + _CHECKED)
CACHE = _user_cache() / VERSION
# What somebody compiled for everybody, such as the root of a hub: read, never written.
COMMON = folder_of("LIB2048_COMPILED")


# ---------------------------------------------------------------- the cache


class _Place(CompileResultCacheImpl):
    """Where a function's machine code is kept, in which files: numba's way, in our folder.

    It is what numba calls a locator, too.
    """

    def __init__(self, function, kind="", folder=None):
        code, self._locator = function.__code__, self
        self._path = (folder or CACHE) / function.__module__
        self._source = Path(code.co_filename)
        # numba writes the list of a function's files before the files: one that was killed in
        # between must not leave the list of one version beside a file of another.
        made_by = "py{}{}-{}".format(*sys.version_info[:2], numba.__version__)
        self._filename_base = f"{function.__name__}-{code.co_firstlineno}{kind}.{made_by}"

    def get_cache_path(self):
        return str(self._path)

    def ensure_cache_path(self):
        self._path.mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self):
        """Return what the folder's name does not say: of a file that it does not count."""
        inside = LIBRARY not in self._source.parents or self._source in COMPUTING
        return "" if inside else hash_of([self._source])


class _Cache(FunctionCache):
    """numba's cache in our folder; a disk that cannot be read or written is no reason to fail.

    kind: tells the code of a function from other code of the same; folder: where it is, other than
    in `CACHE`.
    """

    def __init__(self, function, kind="", folder=None):
        self._impl_class = lambda function: _Place(function, kind, folder)
        super().__init__(function)
        self._common = _Cache(function, kind, COMMON / VERSION) if COMMON and not folder else None

    def load_overload(self, sig, target_context):
        if self._common:  # what was compiled for everybody
            with contextlib.suppress(Exception):  # a damaged file can raise anything
                found = FunctionCache.load_overload(self._common, sig, target_context)
                if found is not None:
                    return found
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except OSError:
            pass  # what cannot be read is compiled, and if it cannot be kept, that is said
        except Exception:  # a damaged file can raise anything
            say(f"compiled code in {CACHE} is damaged: it is made anew")
            try:
                self.flush()  # the list of files is empty now, so that new ones can be added
            except OSError:
                self.disable()
        if found is None and not os.environ.get("LIB2048_QUICK"):  # tests of lessons tell nobody
            say(
                "compiling for this machine, once for each part of the library; "
                "up to half a minute …"
            )
        return found

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say(
                f"compiled code cannot be kept in {CACHE} ({error.strerror}), so each session "
                "compiles anew: make room there, or set NUMBA_CACHE_DIR to a folder that can be "
                "written"
            )


# ---------------------------------------------------------------- ways to make a kernel

FAST = {"nogil": True, "error_model": "numpy"}


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


def kernel(function, cached=True, **options):
    """Compile a function for the types that it is called with, on its first call.

    cached: whether its machine code is kept for the next session, if the library has it: what
    somebody else's depends on, nobody knows.
    """
    made = jit(function, **FAST, **options)
    if not numba.config.DISABLE_JIT:
        made.__class__ = _Kernel
        if cached and _is_ours(function):
            made._cache = _Cache(function)
    return made


def _is_ours(function):
    """Say whether a function is the library's, whose sources name the cache."""
    return function.__module__.partition(".")[0] == "lib2048"


def is_kernel(thing):
    """Say whether compiled functions can call something; without numba every function can."""
    return bool(numba.config.DISABLE_JIT) or isinstance(thing, numba.core.registry.CPUDispatcher)


def part(function):
    """Compile a function into every kernel that calls it."""
    return kernel(function, forceinline=True)


class _Kernel(numba.core.registry.CPUDispatcher):
    """A compiled function with a twin for those that call it compiled.

    What lets Python and C call a function is as long as the function itself, for our records of
    arrays; without it a third of the time to compile is saved.
    """

    @functools.cached_property
    def inner(self):
        """The twin: the same function, which only compiled ones can call."""
        unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        made = numba.jit(**self.targetoptions | unwrapped)(self.py_func)
        if isinstance(self._cache, _Cache):
            made._cache = _Cache(self.py_func, "-inner")
        return made

    @property
    def _numba_type_(self):
        return types.Dispatcher(self.inner)


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


def at_once(signature, function, cached=True):
    """Compile a function for one fixed signature now; the result takes no other.

    cached: whether its machine code is kept for the next session.
    """
    made = jit(function, **FAST)
    if numba.config.DISABLE_JIT:
        return made
    if cached and _is_ours(function):
        made._cache = _Cache(function)
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
    return plain if isinstance(plain, FunctionType) and _is_ours(plain) else None


def _copy(original, plain, others, module):
    """Return a kernel with other globals, under a name of its own: names are addresses, too."""
    room, suffix = {**plain.__globals__, **others}, module.__name__.rpartition(".")[2]
    copy = FunctionType(plain.__code__, room, f"{plain.__name__}_{suffix}", plain.__defaults__)
    copy.__qualname__, copy.__doc__ = copy.__name__, plain.__doc__
    keep = module.__name__.startswith("lib2048.")  # the cache knows of no other module's changes
    if hasattr(original, "signature"):
        return functools.cache(lambda: at_once(original.signature, copy, cached=keep))
    options = getattr(original, "targetoptions", {})
    made = kernel(copy, keep, **{n: options[n] for n in ("forceinline",) if n in options})
    if plain.__name__ in plain.__code__.co_names:  # it calls itself
        room[plain.__name__] = made
    return made


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
    return numba.from_dtype(np.dtype(annotation))
