"""What a reader's things are made of: classes, decorated functions, and all that is no plain data.

`put_together` has what makes them anew.
"""

import collections
import dataclasses
import enum
import functools
import math
import types
import typing

import numpy as np

from lib2048.machine.definitions import home

# ---------------------------------------------------------------- things made by one call

REMADE = {  # kind: (what `put_together` has to make one, from which parts)
    functools._lru_cache_wrapper: ("cached", lambda it: [it.__wrapped__, it.cache_parameters()]),
    staticmethod: ("staticmethod", lambda it: [it.__func__]),
    classmethod: ("classmethod", lambda it: [it.__func__]),
    property: ("property", lambda it: [it.fget, it.fset, it.fdel, it.__doc__]),
    types.MethodType: ("types.MethodType", lambda it: [it.__func__, it.__self__]),
    types.MappingProxyType: ("types.MappingProxyType", lambda it: [dict(it)]),
    typing.NewType: ("typing.NewType", lambda it: [it.__name__, it.__supertype__]),
    typing.TypeVar: ("typing.TypeVar", lambda it: [it.__name__]),
    np.vectorize: ("np.vectorize", lambda it: [it.pyfunc, it.otypes, None, it.excluded, it.cache]),
    typing.ForwardRef: ("typing.ForwardRef", lambda it: [it.__forward_arg__]),
    functools.cached_property: ("functools.cached_property", lambda it: [it.func]),
    dataclasses.Field: ("field", lambda it: [_of_a_field(it)]),
}
OF_A_FIELD = (
    "default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only"
)  # fmt: skip


def _of_a_field(field):
    options = {name: getattr(field, name) for name in OF_A_FIELD}
    return {name: value for name, value in options.items() if value is not dataclasses.MISSING}


def constant(value):
    """Return the text of a number, a text, None, or a tuple of such; otherwise None."""
    kind = type(value)
    if kind is int and value.bit_length() > 64:
        return hex(value)  # has no limit on its digits
    if value is None or value is ... or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, np.generic) and type(value.item()) in (bool, int, float):
        return f"__lib__.np.{kind.__name__}({constant(value.item())})"
    if kind is tuple and len(value) < 100:
        texts = [constant(each) for each in value]
        return None if None in texts else f"({''.join(f'{text}, ' for text in texts)})"


# ---------------------------------------------------------------- classes

MADE_BY_PYTHON = {  # in the dict of every class, or of many
    "__dict__", "__weakref__", "__module__", "__annotations__", "__annotate_func__",
    "__annotations_cache__", "__orig_bases__", "__parameters__", "__static_attributes__",
    "__firstlineno__", "__dataclass_fields__", "__dataclass_params__", "__match_args__",
    "_abc_impl", "__abstractmethods__", "_fields", "_field_defaults", "__slotnames__",
}  # fmt: skip
WRITERS = {"<string>", *(m.__file__ for m in (dataclasses, collections, enum, typing))}
PLACES_OF_SLOTS = types.MemberDescriptorType, types.GetSetDescriptorType
OF_A_DATA_CLASS = "init", "repr", "eq", "order", "unsafe_hash", "frozen"


def is_remade(kind):
    """Tell whether classes of a kind can be made anew: of Python's own, or of the reader's."""
    return kind is type or kind.__module__ in ("abc", "enum", "typing") or not home(kind, None)


def is_named_tuple(value):
    """Tell whether a class was made by `namedtuple`; one derived from such a class was not."""
    return value.__bases__ == (tuple,) and "_fields" in vars(value)


def is_typed_dict(value):
    """Tell whether a class is a TypedDict."""
    return type(value) is type(typing.TypedDict("_", {}))


def parts_of(value):
    """Return ({name: thing} of what a class was given, {name: thing} of what came later)."""
    own, parts = vars(value), {}
    special = "__dataclass_params__" in own or "_fields" in own or _is_enum(value)
    for key, thing in own.items():
        if key in MADE_BY_PYTHON or isinstance(thing, PLACES_OF_SLOTS):
            continue
        if not ((special or type(value) is not type) and _is_written(thing)):
            parts[key] = thing
    if _is_enum(value):
        return _of_an_enum(value, parts)
    if options_of(value):
        return _of_a_data_class(value, parts), {}
    return parts, {}


def _is_enum(value):
    return isinstance(value, enum.EnumMeta)


def _is_written(thing):
    """Tell whether Python wrote a thing into a class, as a data class's __init__."""
    code = getattr(getattr(thing, "__func__", thing), "__code__", None)
    fields = type(thing).__name__ == "_tuplegetter"
    return fields or (code is not None and code.co_filename in WRITERS)


def _of_an_enum(value, parts):
    members = {key: member.value for key, member in value.__members__.items()}
    others = {key: thing for key, thing in parts.items() if key not in members}
    is_code = types.FunctionType, staticmethod, classmethod, property
    code = {key: thing for key, thing in others.items() if isinstance(thing, is_code)}
    data = {key: others[key] for key in others.keys() - code.keys() if not key.startswith("_")}
    return {**code, **members}, data


def options_of(value):
    """Return the options of a data class; nothing for another class."""
    given = vars(value).get("__dataclass_params__")
    options = given and {name: getattr(given, name) for name in OF_A_DATA_CLASS}
    return given and options | {"slots": "__slots__" in vars(value)}


def _of_a_data_class(value, parts):
    fields = {}
    for name, field in value.__dataclass_fields__.items():
        inherited = (vars(base).get("__dataclass_fields__", {}) for base in value.__mro__[1:])
        if not any(each.get(name) is field for each in inherited):
            fields[name] = field
    kinds = {n: str(field._field_type) for n, field in fields.items()}
    fields = {n: field for n, field in fields.items() if kinds[n] != "_FIELD_CLASSVAR"}
    types = {n: dataclasses.InitVar if "INITVAR" in kinds[n] else object for n in fields}
    left_out = {"__slots__"} | ({"__hash__"} if parts.get("__hash__", 0) is None else set())
    parts = {key: thing for key, thing in parts.items() if key not in left_out}
    return {**parts, **fields, "__annotations__": types}
