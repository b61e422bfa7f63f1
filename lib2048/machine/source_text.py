"""Functions as source text: a reader's own functions, with all that they use, as one module.

Nothing is pickled and nothing inherited: a notebook, a script and every operating system give the
same.  The text holds what the functions use *now*; what is changed later stays behind.

What a reader defines is taken apart, and the text puts it together again: a function from the text
of its `def`, a class from its parts, an object from its class and its state, as `copy` would do it.
What a decorator made of a function is just another function or object.
"""

import ast
import base64
import builtins
import contextlib
import copyreg
import sys
import threading
import types
import warnings

import numpy as np

from lib2048.machine.definitions import ATTRIBUTES, GLOBALS, cut, find, home, is_readers, used_names
from lib2048.machine.take_apart import (
    REMADE,
    constant,
    is_named_tuple,
    is_remade,
    is_typed_dict,
    options_of,
    parts_of,
)

__all__ = ["source_of", "used_names"]

LARGEST = 1 << 18  # elements of one array or list that travels: the text stays within megabytes

# Two functions may use one name for two things, in two modules or around two inner functions.  So
# each module's global names get a dict of their own in the text, and each variable of an outer
# function a cell, and the functions are put together from their code and these, as they were.
# The text's own names end as they begin: a name that only begins so, a class keeps to itself.
HEADER = """\
from __future__ import annotations
from lib2048.machine import put_together as __lib__
__places__ = __lib__.Places()
"""
PARSING = threading.Lock()  # `ast.parse` of Python 3.11 fails in one of two threads that are in it
CODE = types.FunctionType, types.ModuleType, type  # bound before any of it may run
PICKLERS = "pickle", "_pickle", "numba", "cloudpickle", "torch.storage", "torch._utils"


def source_of(functions):
    """Return functions, with all that they use, as the text of one Python module.

    functions: dict[str, function], or whatever else can be called; those that numba compiled are
    turned back into plain ones, what they call stays compiled.  The text ends by FUNCTIONS, a dict
    of the same keys, whose values are functions: see `child.load`; `child.load_all` also returns
    where it keeps what they call.  Functions, classes, objects, modules, numbers, texts, lists,
    dicts, sets, arrays and tensors go with them.  Raises ValueError, in one line, for what cannot
    travel, as an open file, and where no source is.
    """
    luggage = _Luggage()
    with PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of iterators that are taken apart
        names = {key: luggage.entry(key, function) for key, function in functions.items()}
        luggage.bind(object)
    pairs = ", ".join(f"{key!r}: {name}" for key, name in names.items())
    end = f"FUNCTIONS, PLACES = {{{pairs}}}, __places__\n"
    return "\n".join([HEADER, *luggage.lines, end])


class _Circle(ValueError):
    """Raised for a thing that holds itself; `thing` is this."""

    thing = None


class _Luggage:
    """What travels: the lines that make it, and the name that each thing has in them.

    A user, below, is the function that uses a value, and `name` what it calls it.
    """

    def __init__(self):
        self.lines, self.names, self.kept, self.waiting = [], {}, [], []
        self.bound, self.begun, self.classes = set(), set(), 0

    def entry(self, key, function):
        """Pack one of the functions that were asked for, uncompiled; return its name."""
        plain = getattr(function, "py_func", function)
        if not callable(plain):
            raise ValueError(f"`{key}` is {_a(plain)}: give a function, made by `def` or `lambda`")
        made = self.pack(plain, key, key)
        is_function = isinstance(plain, types.FunctionType) or home(plain, key)
        return made if is_function else f"__lib__.callable_as_function({made})"

    def bind(self, *kinds):
        """Write what waits, of these kinds: names are bound late, since things use each other."""
        kept = []
        while self.waiting:
            target, value, *user = entry = self.waiting.pop(0)
            is_made = isinstance(value, kinds) or id(value) in self.names
            if is_made and id(value) not in self.begun:
                self.lines.append(f"{target} = {self.pack(value, *user)}")
            else:
                kept.append(entry)
        self.waiting = kept

    def pack(self, value, user, name):
        """Return an expression for a value.  Raises ValueError for what cannot travel."""
        if id(value) in self.names:
            return self.names[id(value)]
        if (text := constant(value)) is not None:
            return text
        if id(value) in self.begun:
            circle = _Circle(f"`{user}` uses `{name}`, {_a(value)} that holds itself")
            circle.thing = value
            raise circle
        self.begun.add(id(value))
        ways = (self._container, self._array, self._module, self._import, self._function,
                self._class, self._compiled, self._tensor, self._remade, self._object)  # fmt: skip
        try:
            for way in ways:
                if (text := way(value, user, name)) is not None:
                    return text
        finally:
            self.begun.discard(id(value))
        why = "which cannot travel to the process that tries it: make it inside the function"
        raise ValueError(f"`{user}` uses `{name}`, {_a(value)}, {why}")

    def _new(self, value, line="{} = {}", expression=None):
        """Write the line that makes a thing; its name stays its own, so one thing stays one."""
        name = f"__{len(self.kept)}__"
        self.kept.append(value)  # kept alive, or its id might become that of another
        self.names[id(value)] = name
        self.lines.append(line.format(name, expression))
        return name

    def _all(self, things, user, name):
        """Return the texts of several things, with commas behind them."""
        return "".join(f"{self.pack(each, user, name)}, " for each in things)

    # ------------------------------------------------------------ data and objects

    def _container(self, value, user, name):
        if type(value) not in (tuple, list, dict, set, frozenset):
            return None
        _small(value, len(value), user, name)
        if type(value) in (set, frozenset):  # their order differs from process to process
            texts = sorted(self.pack(each, user, name) for each in value)
            self._bind_code()
            return self._new(value, expression=f"{type(value).__name__}([{', '.join(texts)}])")
        left, right = {tuple: "()", list: "[]", dict: "{}"}[type(value)]
        try:
            return self._new(value, expression=left + self._inside(value, user, name) + right)
        except _Circle as circle:
            if circle.thing is not value or type(value) is tuple:
                raise
        made, add = self._new(value, expression=left + right), {list: "extend", dict: "update"}
        text = left + self._inside(value, user, name) + right
        self.lines.append(f"{made}.{add[type(value)]}({text})")
        return made

    def _inside(self, value, user, name):
        """Return the texts of what is in a tuple, list or dict."""
        if type(value) is not dict:
            return self._all(value, user, name)
        pairs = [[self.pack(each, user, name) for each in pair] for pair in value.items()]
        self._bind_code()
        return "".join(f"{key}: {text}, " for key, text in pairs)

    def _array(self, value, user, name):
        if not isinstance(value, np.ndarray):
            return None
        _small(value, value.size, user, name)
        if type(value) is not np.ndarray or value.dtype.kind not in "biufc":
            return None
        order = "F" if value.flags.fnc else "C"
        form = value.shape, value.dtype.str, order, value.flags.writeable
        text = base64.b64encode(value.tobytes(order))
        return self._new(value, expression=f"__lib__.array{(*form, text)}")

    def _tensor(self, value, user, name):
        torch = sys.modules.get("torch")
        if not isinstance(value, getattr(torch, "Tensor", ())):
            return None
        with contextlib.suppress(TypeError):  # numpy has not all kinds of numbers
            array = self.pack(value.detach().cpu().numpy().copy(), user, name)
            form = array, isinstance(value, torch.nn.Parameter), value.requires_grad
            return self._new(value, expression="__lib__.tensor({}, {}, {})".format(*form))

    def _remade(self, value, user, name):
        if type(value) in REMADE:
            make, parts = REMADE[type(value)]
            parts = self._all(parts(value), user, name)
            return self._new(value, expression=f"__lib__.{make}({parts})")

    def _object(self, value, user, name):
        """Pack an object as `copy` takes it apart: what makes it, what it holds, its state."""
        reduce = copyreg.dispatch_table.get(type(value), lambda value: value.__reduce_ex__(4))
        try:
            parts = reduce(value)
        except Exception:  # whatever its class raises
            return None
        if isinstance(parts, str):
            return self._import(value, user, parts)
        make, arguments, state, items, pairs, more = (*parts, *[None] * 4)[:6]
        if more or str(getattr(make, "__module__", "")).startswith(PICKLERS):
            return None
        text = f"{self.pack(make, user, name)}({self._all(arguments, user, name)})"
        self._bind_code()
        made = self._new(value, expression=text)
        items, pairs = list(items or ()), list(pairs or ())
        if items or pairs or state is not None:
            state = self._all((items, pairs, state), user, name)
            self.lines.append(f"__lib__.fill({made}, {state})")
        return made

    def _bind_code(self):
        """Bind what code uses before some of it is run: a set asks its elements for a hash."""
        self.bind(*CODE[: 2 if self.classes else 3])

    # ------------------------------------------------------------ what is imported

    def _module(self, value, user, name):
        if not isinstance(value, types.ModuleType) or value.__name__ == "__main__":
            return None
        if is_readers(value):
            return self._new(value, expression=f"__places__.module({self._dict_of(vars(value))})")
        if sys.modules.get(value.__name__) is value:
            return self._new(value, f"import {value.__name__} as {{}}")

    def _import(self, value, user, name):
        found = None if isinstance(value, types.ModuleType) else home(value, name)
        return found and self._new(value, f"from {found[0]} import {found[1]} as {{}}")

    # ------------------------------------------------------------ classes

    def _class(self, value, user, name):
        if not isinstance(value, type) or not is_remade(type(value)):
            return None
        self.classes += 1
        body, later = self._body(value)
        make = self._plain_class if not is_named_tuple(value) else self._named_tuple
        text, after = make(value, body)
        made = self._new(value, expression=text)
        self.lines += [f"{made}.{key} = {text}" for key, text in after.items()]
        self.classes -= 1
        who = value.__name__
        self.waiting += [(f"{made}.{key}", thing, who, key) for key, thing in later.items()]
        return made

    def _body(self, value):
        """Return ({name: text} of what a class has, {name: thing} of what needs the class)."""
        parts, later = parts_of(value)
        body = {}
        for key, thing in parts.items():
            try:
                body[key] = self.pack(thing, value.__name__, key)
            except _Circle:
                later[key] = thing
        return body, later

    def _plain_class(self, value, body):
        """Return (the text of a class, {name: text} of what it is given afterwards)."""
        who = value.__name__
        if is_typed_dict(value):
            return f"__lib__.typing.TypedDict({who!r}, {dict.fromkeys(value.__annotations__)})", {}
        bases = self._all(vars(value).get("__orig_bases__", value.__bases__), who, "its base")
        kind = self.pack(type(value), who, "its metaclass")
        self.bind(types.FunctionType)  # a base may run code when a class is derived from it
        body = "".join(f"{key!r}: {text}, " for key, text in body.items())
        text = f"__lib__.new_class({kind}, {who!r}, ({bases}), {{{body}}})"
        options = options_of(value)
        return (f"__lib__.data_class({text}, {options})" if options else text), {}

    def _named_tuple(self, value, body):
        who, defaults = value.__name__, tuple(value._field_defaults.values())
        form = f"{who!r}, {value._fields!r}, defaults={self.pack(defaults, who, 'its defaults')}"
        return f"__lib__.collections.namedtuple({form})", body

    # ------------------------------------------------------------ functions

    def _compiled(self, value, user, name):
        if not hasattr(value, "py_func") or not hasattr(value, "targetoptions"):
            return None
        if not value._can_compile:
            raise ValueError(f"`{user}` uses `{name}`, compiled for fixed types: leave them out")
        parts = self._all((value.py_func, value.targetoptions), user, name)
        return self._new(value, expression=f"__lib__.compiled({parts})")

    def _function(self, value, user, name):
        if not isinstance(value, types.FunctionType):
            return None
        who = name if value.__name__ == "<lambda>" else value.__name__
        room, cells = self._room(value, who), self._cells(value, who)
        before, plain, after = self._source(value, who)
        self.lines += before
        made = self._new(value, expression=f"__lib__.function({plain}, {room}, {cells})")
        self.lines += after
        more = {**vars(value), "__name__": value.__name__}
        if value.__name__ == value.__code__.co_name:
            del more["__name__"]
        for key, thing in more.items():  # as a cache that hangs on its function
            self.waiting.append((f"{made}.{key}", thing, who, f"{who}.{key}"))
        return made

    def _dict_of(self, around):
        """Return the name of the dict that stands for one of global names."""
        return self.names.get(id(around)) or self._new(around, expression="__places__.room()")

    def _room(self, function, who):
        """Return the name of the dict of a function's global names; have bound what it uses."""
        names, attributes = (used_names(function.__code__, how) for how in (GLOBALS, ATTRIBUTES))
        return self._bound(function.__globals__, names, attributes, who)

    def _bound(self, around, names, attributes, who):
        """Have names of a dict bound, and in modules among them what is asked for behind a dot."""
        room = self._dict_of(around)
        around = {name: vars(builtins)[name] for name in HELPERS & {*vars(builtins)}} | around
        for name in sorted(names & set(around)):
            value = around[name]
            if (room, name) not in self.bound:
                self.waiting.append((f"{room}[{name!r}]", value, who, name))
            self.bound.add((room, name))
            if isinstance(value, types.ModuleType):
                self._bind_module(value, attributes, who)
        return room

    def _bind_module(self, module, attributes, who):
        if not is_readers(module):
            self.lines += _submodules(module.__name__, attributes)
        elif (key := (id(module), *sorted(attributes))) not in self.bound:
            self.bound.add(key)
            self._bound(vars(module), attributes, attributes, who)

    def _cells(self, function, who):
        """Return the cells of a function's outer variables as the text of a dict."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for name, cell in cells.items():
            made = self.names.get(id(cell)) or self._new(cell, expression="__places__.cell()")
            if made not in self.bound and cell != types.CellType():  # all empty ones are equal
                self.waiting.append((f"{made}.cell_contents", cell.cell_contents, who, name))
            self.bound.add(made)
        return "{" + ", ".join(f"{name!r}: {self.names[id(c)]}" for name, c in cells.items()) + "}"

    def _source(self, function, who):
        """Return (lines before, an expression for the function without its variables, after)."""
        code = function.__code__
        source, node, owner = find(code, who)
        free = [name for name in code.co_freevars if name != "__class__" or not owner]
        nothing, outer = ", ".join(["None"] * len(free)), ", ".join(free)
        text = cut(source, node, self._defaults(function, node, who))
        if isinstance(node, ast.Lambda):
            return [], f"(lambda {outer}: ({text}))({nothing})", []
        indent, made = text[: len(text) - len(text.lstrip())], node.name
        # Moving the lines to the left would change texts that go over several of them.
        lines = ["if True:"] * bool(indent and not outer) + [text]
        if owner:  # its class gives `super`, and names as self.__own, their meaning
            indent, made = indent[: bool(outer)], f"__lib__.method({owner})"
            lines = [f"{indent}class {owner}:", text]
        if outer:
            lines = [f"def __around__({outer}):", *lines, f"{indent}return {made}"]
            return lines, f"__around__({nothing})", []
        return lines, made, [f"del {owner or made}"]

    def _defaults(self, function, node, who):
        """Pack the default values as they are now; return {node: its new text}."""
        form, code, named = node.args, function.__code__, function.__kwdefaults__ or {}
        names, values = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
        found = [*zip(form.defaults[::-1], names[::-1], values[::-1])]  # those of the last ones
        for at, key in zip(form.kw_defaults, form.kwonlyargs):
            found += [(at, key.arg, named[key.arg])] if at else []
        return {at: self.pack(value, who, name) for at, name, value in found}


HELPERS = {"display"}  # that a notebook adds to Python's own names


def _submodules(module, attributes):
    """Return lines that import the modules in a module: `import a` alone does not make `a.b`."""
    inner = [f"{module}.{name}" for name in sorted(attributes) if f"{module}.{name}" in sys.modules]
    lines = [f"__import__({name!r})" for name in inner]
    return lines + [line for name in inner for line in _submodules(name, attributes)]


def _small(value, size, user, name):
    if size > LARGEST:
        why = f"and at most {LARGEST:,} of them travel to the process that tries it"
        raise ValueError(f"`{user}` uses `{name}`, {_a(value)}, {why}: make it when it is needed")


def _a(value):
    """Describe a value in two or three words."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        kind = f"array of {value.size} {value.dtype}"
    elif isinstance(value, (tuple, list, dict, set, frozenset)):
        kind = f"{kind} of {len(value)}"
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
