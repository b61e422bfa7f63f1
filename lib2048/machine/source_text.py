"""Functions as source text: a reader's own functions, with all that they use, as one module.

Nothing is pickled and nothing inherited: a notebook, a script and every operating system give the
same.  The text holds what the functions use *now*; what is changed later stays behind.
"""

import __future__

import ast
import base64
import contextlib
import dis
import itertools
import linecache
import math
import sys
import threading
import types
from pathlib import Path

import numpy as np

LARGEST = 100_000  # elements of one array or list that travels: the text stays within megabytes

# Two functions may use one name for two things, in two modules or around two inner functions.  So
# each module's global names get a dict of their own in the text, and each variable of an outer
# function a cell, and the functions are put together from their code and these, as they were.
HEADER = """\
from __future__ import annotations
import base64 as __base64, types as __types
import numba as __numba, numpy as __np

ROOMS, CELLS = [], []

def __room():
    ROOMS.append({"__name__": None, "__builtins__": __builtins__})
    return ROOMS[-1]

def __cell():
    CELLS.append(__types.CellType())
    return CELLS[-1]

def __function(plain, room, cells):
    closure = tuple(cells[name] for name in plain.__code__.co_freevars)
    made = __types.FunctionType(plain.__code__, room, None, plain.__defaults__, closure)
    made.__kwdefaults__, made.__doc__ = plain.__kwdefaults__, plain.__doc__
    return made

def __array(shape, kind, order, writeable, text):
    array = __np.ndarray(shape, kind, __base64.b64decode(text), order=order).copy(order)
    array.flags.writeable = writeable
    return array
"""
# Without a name numba knows the functions for what they are, made on the way: it would otherwise
# import a module of that name, and not find a function that calls itself.
PARSING = threading.Lock()  # `ast.parse` of Python 3.11 fails in one of two threads that are in it


def source_of(functions):
    """Return functions, with all that they use, as the text of one Python module.

    functions: dict[str, function], plain ones or compiled by numba; the compiled are turned back
    into plain ones, what they call stays compiled.  The text ends by FUNCTIONS, a dict of the same
    keys: see `child.load`; `child.load_all` also returns where it keeps what they call.  Other
    functions, modules, numbers, texts, tuples, lists, dicts and arrays go with them.  Raises
    ValueError, in one line, for all else, and where no source is.
    """
    luggage = _Luggage()
    with PARSING:
        names = {key: luggage.entry(key, function) for key, function in functions.items()}
        while luggage.waiting:  # what they use is bound only now, since they may use each other
            target, *what = luggage.waiting.pop(0)
            luggage.lines.append(f"{target} = {luggage.pack(*what)}")
    pairs = ", ".join(f"{key!r}: {name}" for key, name in names.items())
    return "\n".join([HEADER, *luggage.lines, f"FUNCTIONS = {{{pairs}}}\n"])


class _Luggage:
    """What travels: the lines that make it, and the name that each thing has in them.

    A user, below, is the function that uses a value, and `name` what it calls it.
    """

    def __init__(self):
        self.lines, self.names, self.kept, self.waiting = [], {}, [], []
        self.bound, self.begun = set(), set()

    def entry(self, key, function):
        """Pack one of the functions that were asked for, uncompiled; return its name."""
        plain = getattr(function, "py_func", function)
        if isinstance(plain, types.FunctionType) or (callable(plain) and _home(plain, key)):
            return self.pack(plain, key, key)
        raise ValueError(f"`{key}` is {_a(plain)}: give a function, made by `def` or `lambda`")

    def pack(self, value, user, name):
        """Return an expression for a value.  Raises ValueError for what cannot travel."""
        if id(value) in self.names:
            return self.names[id(value)]
        ways = (_constant, self._container, self._array, self._module, self._import,
                self._function, self._compiled)  # fmt: skip
        for way in ways:
            if (text := way(value, user, name)) is not None:
                return text
        why = "which cannot travel to the child process: pass numbers or small arrays"
        raise ValueError(f"`{user}` uses `{name}`, {_a(value)}, {why}")

    def _new(self, value, line="{} = {}", expression=None):
        """Write the line that makes a thing; its name stays its own, so one thing stays one."""
        name = f"__{len(self.kept)}"
        self.kept.append(value)  # kept alive, or its id might become that of another
        self.names[id(value)] = name
        self.lines.append(line.format(name, expression))
        return name

    def _container(self, value, user, name):
        if type(value) not in (tuple, list, dict) or len(value) > LARGEST:
            return None
        if id(value) in self.begun:
            raise ValueError(f"`{user}` uses `{name}`, {_a(value)} that holds itself")
        self.begun.add(id(value))
        things = value.items() if type(value) is dict else [(thing,) for thing in value]
        texts = (": ".join(self.pack(each, user, name) for each in thing) for thing in things)
        left, right = {tuple: "()", list: "[]", dict: "{}"}[type(value)]
        return self._new(value, expression=left + "".join(f"{text}, " for text in texts) + right)

    def _array(self, value, user, name):
        if type(value) is not np.ndarray or value.dtype.kind not in "biufc" or value.size > LARGEST:
            return None
        order = "F" if value.flags.fnc else "C"
        form = value.shape, value.dtype.str, order, value.flags.writeable
        text = base64.b64encode(value.tobytes(order))
        return self._new(value, expression=f"__array{(*form, text)}")

    def _module(self, value, user, name):
        if isinstance(value, types.ModuleType) and value.__name__ != "__main__":
            if sys.modules.get(value.__name__) is value:
                return self._new(value, f"import {value.__name__} as {{}}")

    def _import(self, value, user, name):
        home = None if isinstance(value, types.ModuleType) else _home(value, name)
        return home and self._new(value, f"from {home[0]} import {home[1]} as {{}}")

    def _compiled(self, value, user, name):
        if not hasattr(value, "py_func") or not hasattr(value, "targetoptions"):
            return None
        if not value._can_compile:
            raise ValueError(f"`{user}` uses `{name}`, compiled for fixed types: leave them out")
        how, plain = (self.pack(x, user, name) for x in (value.targetoptions, value.py_func))
        return self._new(value, expression=f"__numba.jit(**{how})({plain})")

    def _function(self, value, user, name):
        if not isinstance(value, types.FunctionType):
            return None
        who = name if value.__name__ == "<lambda>" else value.__name__
        room, cells = self._room(value, who), self._cells(value, who)
        before, plain, after = self._source(value, who)
        self.lines += before
        made = self._new(value, expression=f"__function({plain}, {room}, {cells})")
        self.lines += after
        return made

    def _room(self, function, who):
        """Return the name of the dict of a function's global names; have bound what it uses."""
        around, code = function.__globals__, function.__code__
        room = self.names.get(id(around)) or self._new(around, expression="__room()")
        for name in sorted(used_names(code) & set(around)):
            if isinstance(around[name], types.ModuleType):
                self.lines += _submodules(around[name].__name__, used_names(code, ATTRIBUTES))
            if (room, name) not in self.bound:
                self.waiting.append((f"{room}[{name!r}]", around[name], who, name))
            self.bound.add((room, name))
        return room

    def _cells(self, function, who):
        """Return the cells of a function's outer variables as the text of a dict."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for name, cell in cells.items():
            made = self.names.get(id(cell)) or self._new(cell, expression="__cell()")
            if made not in self.bound and cell != types.CellType():  # all empty ones are equal
                self.waiting.append((f"{made}.cell_contents", cell.cell_contents, who, name))
            self.bound.add(made)
        return "{" + ", ".join(f"{name!r}: {self.names[id(c)]}" for name, c in cells.items()) + "}"

    def _source(self, function, who):
        """Return (lines before, an expression for the function without its variables, after)."""
        code = function.__code__
        source, node = _find(code, who)
        nothing, outer = ", ".join(["None"] * len(code.co_freevars)), ", ".join(code.co_freevars)
        text = _cut(source, node, self._defaults(function, node, who))
        if isinstance(node, ast.Lambda):
            return [], f"(lambda {outer}: ({text}))({nothing})", []
        indent = text[: len(text) - len(text.lstrip())]
        if outer:
            lines = [f"def __around({outer}):", text, f"{indent}return {node.name}"]
            return lines, f"__around({nothing})", []
        # Moving the lines to the left would change texts that go over several of them.
        return ["if True:"] * bool(indent) + [text], node.name, [f"del {node.name}"]

    def _defaults(self, function, node, who):
        """Pack the default values as they are now; return {node: its new text}."""
        form, code, named = node.args, function.__code__, function.__kwdefaults__ or {}
        names, values = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
        found = [*zip(form.defaults[::-1], names[::-1], values[::-1])]  # those of the last ones
        for at, key in zip(form.kw_defaults, form.kwonlyargs):
            found += [(at, key.arg, named[key.arg])] if at else []
        return {at: self.pack(value, who, name) for at, name, value in found}


# ---------------------------------------------------------------- looking at code

GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
PACKAGES = {"site-packages", "dist-packages"}
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


def used_names(code, how=GLOBALS):
    """Return the names that a code object, or one inside it, asks for by these instructions."""
    used = {step.argval for step in dis.get_instructions(code) if step.opname in how}
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return used.union(*(used_names(each, how) for each in inner))


def _submodules(module, attributes):
    """Return lines that import the modules in a module: `import a` alone does not make `a.b`."""
    inner = [f"{module}.{name}" for name in sorted(attributes) if f"{module}.{name}" in sys.modules]
    deeper = (_submodules(name, attributes) for name in inner)
    return [f"__import__({name!r})" for name in inner] + [*itertools.chain(*deeper)]


def _find(code, who):
    """Return (the source, bytes, of the file or cell; the node in it) of a code object."""
    linecache.checkcache(code.co_filename)
    source = "".join(linecache.getlines(code.co_filename))
    with contextlib.suppress(SyntaxError, ValueError, StopIteration):
        return source.encode(), next(n for n in ast.walk(ast.parse(source)) if _is(n, code))
    where = "in a cell of a notebook, or in a file that was not changed since its import"
    raise ValueError(f"the source of `{who}` cannot be found: define it {where}")


def _is(node, code):
    """Tell whether a code object was made from a node; several lambdas may share a line."""
    if isinstance(node, DEFS) and node.name == code.co_name:
        return min([node.lineno, *(d.lineno for d in node.decorator_list)]) == code.co_firstlineno
    if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
        return False
    tree = ast.parse(f"lambda {', '.join(code.co_freevars)}: 0", mode="eval")
    tree.body.body = node  # inside a function with the same variables, it gives the same code
    flags = code.co_flags & __future__.annotations.compiler_flag
    again = compile(tree, "", "eval", flags, dont_inherit=True).co_consts[0]
    last = [each for each in again.co_consts if isinstance(each, types.CodeType)][-1]
    return code.replace(co_flags=0) == last.replace(co_flags=0)


def _cut(source, node, edits):
    """Return the text of a node without its decorators, and with some parts of it replaced."""
    lines = source.split(b"\n")

    def place(line, column):
        return sum(len(each) + 1 for each in lines[: line - 1]) + column

    pieces, start = [], place(node.lineno, node.col_offset * isinstance(node, ast.Lambda))
    for part in sorted(edits, key=lambda part: (part.lineno, part.col_offset)):
        pieces += [source[start : place(part.lineno, part.col_offset)], edits[part].encode()]
        start = place(part.end_lineno, part.end_col_offset)
    pieces.append(source[start : place(node.end_lineno, node.end_col_offset)])
    return b"".join(pieces).decode()


def _constant(value, user, name):
    """Return the text of a number, a text or None, otherwise None."""
    kind = type(value)
    if kind is int and value.bit_length() > 64:
        return hex(value)  # has no limit on its digits
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, np.generic) and type(value.item()) in (bool, int, float):
        return f"__np.{kind.__name__}({_constant(value.item(), user, name)})"


def _home(value, name):
    """Return (module, name) where Python, a package or we have a thing, and no reader's file."""
    names = {getattr(value, "__name__", None), name}
    ours = {*sys.stdlib_module_names, __name__.partition(".")[0]}
    for module in [getattr(value, "__module__", None), *sorted(sys.modules, key=len)]:
        here = sys.modules.get(module)
        found = [n for n in names if getattr(here, "__dict__", {}).get(n, _home) is value]
        if found and module != "__main__":
            folders = Path(getattr(here, "__file__", None) or "").parts
            if module.partition(".")[0] in ours or {*folders} & PACKAGES:
                return module, found[0]


def _a(value):
    """Describe a value in two or three words."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"array of {value.size} {value.dtype}"
    elif isinstance(value, (tuple, list, dict)):
        kind = f"{kind} of {len(value)}"
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
