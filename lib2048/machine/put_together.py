"""How a text of `source_text.source_of` puts things together: it calls these functions."""

import base64
import builtins
import collections
import dataclasses
import functools
import types
import typing

import numba
import numpy as np

__all__ = ["collections", "functools", "np", "types", "typing"]  # the texts use these, too

classmethod, property, staticmethod = classmethod, property, staticmethod  # noqa: A001, PLW0127


class Places:
    """The places where a text keeps what its functions use: see `child.Loaded`."""

    def __init__(self):
        self.rooms, self.cells, self._modules = [], [], []
        self.kept = self.rooms, self.cells

    def room(self):
        """Return a new dict for the global names of a module.

        Without a name numba knows the functions for what they are, made on the way: it would
        otherwise import a module of that name, and not find a function that calls itself.
        """
        self._modules.append(types.ModuleType("yours"))
        self.rooms.append(vars(self._modules[-1]))
        self.rooms[-1].update({"__name__": None, "__builtins__": builtins})
        return self.rooms[-1]

    def module(self, room):
        """Return the module whose global names a room holds."""
        return next(module for module in self._modules if vars(module) is room)

    def cell(self):
        """Return a new cell for a variable of an outer function."""
        self.cells.append(types.CellType())
        return self.cells[-1]


def function(plain, room, cells):
    """Return a function of the same code, with other global names and outer variables."""
    closure = tuple(cells[name] for name in plain.__code__.co_freevars)
    made = types.FunctionType(plain.__code__, room, None, plain.__defaults__, closure)
    made.__kwdefaults__, made.__doc__ = plain.__kwdefaults__, plain.__doc__
    return made


def method(around):
    """Return the one function that a class has, whatever Python made of it by its name."""
    made = (getattr(each, "__func__", each) for each in vars(around).values())
    return next(each for each in made if isinstance(each, types.FunctionType))


def compiled(plain, options):
    """Return a function compiled by numba."""
    return numba.jit(**options)(plain)


def cached(plain, options):
    """Return a function with an empty cache, as `functools.lru_cache` makes it."""
    return functools.lru_cache(**options)(plain)


def callable_as_function(made):
    """Return whatever can be called as a plain function."""

    def call(*arguments, **named):
        return made(*arguments, **named)

    call.__wrapped__ = made
    return call


def new_class(kind, name, bases, body):
    """Return a class of this kind, as a `class` statement with this body makes it."""
    space = {"__module__": "__main__", **body}
    return types.new_class(name, bases, {"metaclass": kind}, lambda made: made.update(space))


def data_class(plain, options):
    """Return a class as `dataclasses.dataclass` makes it."""
    return dataclasses.dataclass(**options)(plain)


def field(options):
    """Return a field of a data class."""
    return dataclasses.field(**options)


def fill(made, items, pairs, state):
    """Give an object what it holds, and its state, as `copy` does."""
    for item in items:
        made.append(item)
    for key, value in pairs:
        made[key] = value
    if state is not None and hasattr(made, "__setstate__"):
        made.__setstate__(state)
    elif state is not None:
        names, slots = state if type(state) is tuple else (state, None)
        for name, value in {**(names or {}), **(slots or {})}.items():
            object.__setattr__(made, name, value)  # a frozen one refuses its own


def array(shape, kind, order, writeable, text):
    """Return an array of the bytes that a text of base64 holds."""
    made = np.ndarray(shape, kind, base64.b64decode(text), order=order).copy(order)
    made.flags.writeable = writeable
    return made


def tensor(values, is_parameter, needs_grad):
    """Return a tensor of torch, or a parameter of a network."""
    import torch

    made = torch.tensor(values)
    return torch.nn.Parameter(made, needs_grad) if is_parameter else made.requires_grad_(needs_grad)


def replace(old, new, rooms, cells, things):
    """Put a new thing in the place of an old one, see `child.Loaded`."""
    for cell in cells:
        if cell != types.CellType() and cell.cell_contents is old:
            cell.cell_contents = new
    for thing in (*rooms, *things):
        if type(thing) is tuple and any(each is old for each in thing):
            again = tuple(new if each is old else each for each in thing)
            replace(thing, again, rooms, cells, things)
        elif isinstance(thing, list):
            thing[:] = [new if each is old else each for each in thing]
        elif isinstance(thing, dict):
            thing.update({key: new for key, each in thing.items() if each is old})
        elif isinstance(thing, functools.partial) and thing.func is old:
            thing.__setstate__((new, thing.args, thing.keywords, vars(thing)))
        else:
            _replace_attributes(thing, old, new)


def _replace_attributes(thing, old, new):
    if isinstance(thing, types.FunctionType):
        values = thing.__defaults__ or ()
        thing.__defaults__ = tuple(new if each is old else each for each in values)
        replace(old, new, [], [], [thing.__kwdefaults__ or {}])
    for name, value in list(getattr(thing, "__dict__", {}).items()):
        if value is old:
            setattr(thing, name, new)
        elif isinstance(value, (staticmethod, classmethod)) and value.__func__ is old:
            setattr(thing, name, type(value)(new))
