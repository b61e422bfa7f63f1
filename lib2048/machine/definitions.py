"""Where a reader's definitions come from: the text of a function, the package that has a thing."""

import __future__

import ast
import contextlib
import dis
import functools
import itertools
import linecache
import sys
import types
from pathlib import Path

GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"}
PACKAGES = {"site-packages", "dist-packages"}
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
OURS = {*sys.stdlib_module_names, __name__.partition(".")[0]}


def used_names(code, how=GLOBALS):
    """Return the names that a code object, or one inside it, asks for by these instructions."""
    steps = (step for each in _codes(code) for step in dis.get_instructions(each))
    return {step.argval for step in steps if step.opname in how}


def is_readers(module):
    """Tell whether a module is a file of the reader's own: it may have changed since its import."""
    file = getattr(module, "__file__", None) or ""
    ours = module.__name__.partition(".")[0] in OURS or {*Path(file).parts} & PACKAGES
    return not ours and (file.endswith(".py") or sys.modules.get(module.__name__) is not module)


def home(value, name):
    """Return (module, name) where Python, a package or we have a thing, and no reader's file."""
    names = {getattr(value, "__name__", None), name}
    for module in [getattr(value, "__module__", None), *sorted(sys.modules, key=len)]:
        here = sys.modules.get(module) if isinstance(module, str) else None
        own = getattr(here, "__dict__", {})
        found = [n for n in names if isinstance(n, str) and own.get(n, home) is value]
        if found and module != "__main__":
            folders = Path(getattr(here, "__file__", None) or "").parts
            if module.partition(".")[0] in OURS or {*folders} & PACKAGES:
                return module, found[0]


# ---------------------------------------------------------------- the text of a function


def find(code, who):
    """Return (the source, bytes, of the file or cell; the node in it; the class around it, or "").

    The node is the one that a code object was made from.  Raises ValueError, in one line, where
    there is none; `who` is how it is called.
    """
    linecache.checkcache(code.co_filename)
    sources = ["".join(linecache.getlines(code.co_filename))]
    for source in itertools.chain(sources, _under_magics(code)):
        with contextlib.suppress(SyntaxError, ValueError, StopIteration):
            return source.encode(), *next(pair for pair in _nodes(source) if _is(pair[0], code))
    where = "in a cell of a notebook, or in a file that was not changed since its import"
    raise ValueError(f"the source of `{who}` cannot be found: define it {where}")


@functools.lru_cache(maxsize=8)
def _nodes(source):
    """Return [(node, the name of the class around it)] of all functions in a source."""

    def inside(node, around):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (*DEFS, ast.Lambda)):
                yield child, around
            yield from inside(child, child.name if isinstance(child, ast.ClassDef) else around)

    return [*inside(ast.parse(source), "")]


def _is(node, code):
    """Tell whether a code object was made from a node; several lambdas may share a line."""
    if isinstance(node, DEFS) and node.name == code.co_name:
        return min([node.lineno, *(d.lineno for d in node.decorator_list)]) == code.co_firstlineno
    if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
        return False
    tree = ast.parse(f"lambda {', '.join(code.co_freevars)}: 0", mode="eval")
    tree.body.body = node  # inside a function with the same variables, it gives the same code
    again = compile(tree, "", "eval", _flags(code), dont_inherit=True).co_consts[0]
    last = [each for each in again.co_consts if isinstance(each, types.CodeType)][-1]
    return code.replace(co_flags=0) == last.replace(co_flags=0)


def _flags(code):
    return code.co_flags & __future__.annotations.compiler_flag


def _under_magics(code):
    """Yield the texts under magics, as %%time, that gave such a code, those of late cells first."""
    for _, _, lines, _ in [entry for entry in linecache.cache.values() if len(entry) == 4][::-1]:
        if not any("run_cell_magic(" in line for line in lines):
            continue
        with contextlib.suppress(SyntaxError, ValueError):
            for node in ast.walk(ast.parse("".join(lines))):
                called = getattr(node, "func", None)
                if getattr(called, "attr", "") == "run_cell_magic":
                    text = _without_lines_of_shells(ast.literal_eval(node.args[2]))
                    made = compile(text, "", "exec", _flags(code), dont_inherit=True)
                    if any(_alike(each, code) for each in _codes(made)):
                        yield text


def _without_lines_of_shells(text):
    """Return a text as IPython makes Python of it: with its `!` lines as calls."""
    found = sys.modules.get("IPython.core.inputtransformer2")
    return found.TransformerManager().transform_cell(text) if found else text


def _codes(code):
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


def _alike(one, other):
    parts = "co_name", "co_firstlineno", "co_code", "co_names", "co_varnames"
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def cut(source, node, edits):
    """Return the text of a node without its decorators; edits: {node in it: its new text}."""
    lines = source.split(b"\n")

    def place(line, column):
        return sum(len(each) + 1 for each in lines[: line - 1]) + column

    pieces, start = [], place(node.lineno, node.col_offset * isinstance(node, ast.Lambda))
    for part in sorted(edits, key=lambda part: (part.lineno, part.col_offset)):
        pieces += [source[start : place(part.lineno, part.col_offset)], edits[part].encode()]
        start = place(part.end_lineno, part.end_col_offset)
    pieces.append(source[start : place(node.end_lineno, node.end_col_offset)])
    return b"".join(pieces).decode()
