"""What a grader names for a person to look at: no marks depend on it.

A function that was handed over as text says by its imports what it uses of the library, and is
compared with what the lab's notebook hands out.  Cells are read, not run.  Nothing here proves that
somebody has cheated, and not all that is done is found: docs/grading.md says what is not.
"""

import ast
import contextlib
import functools
import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lib2048.course.labs import checks
from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.inside import ACTS, OVERFLOW
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import plain_python
from lib2048.game import board, spec
from lib2048.machine.source_text import HEADER

MOST_NAMES = 6  # in one note
ODD_MODULES = {
    "builtins", "code", "ctypes", "gc", "importlib", "inspect", "linecache", "marshal",
    "multiprocessing", "os", "pathlib", "pickle", "pkgutil", "psutil", "runpy", "shutil", "signal",
    "socket", "subprocess", "sys", "tempfile",
}  # fmt: skip
HARMLESS = {  # what may be used of an odd module
    "sys": {"setrecursionlimit", "getrecursionlimit", "maxsize", "version", "version_info",
            "float_info", "getsizeof", "stdout", "stderr"},
    "importlib": {"reload"},
}  # fmt: skip
BY_NAME = {"getattr", "setattr", "delattr", "attrgetter", "methodcaller"}  # what is put together
SLOTS = {"cell_contents"}
MAKERS = {"FunctionType", "CodeType", "CellType"}  # of `types`
TOOLS = checks.check, checks.use, checks.require, checks.hint  # of a notebook, not of a function
ODD_CALLS = {"__import__", "compile", "eval", "exec", "globals", "open", "vars"}
# In cells, where a student may open a file or ask for a path.
ODD_ATTRIBUTES = {
    "sys": {"_getframe", "_current_frames", "modules", "settrace", "setprofile"},
    "os": {"_exit", "abort", "execv", "execve", "fork", "getppid", "kill", "killpg", "popen",
           "readlink", "spawnv", "system"},
    "inspect": {"stack", "currentframe", "getouterframes"},
    "signal": {"signal", "pthread_kill", "alarm"},
}  # fmt: skip
ODD_IN_CELLS = {"ctypes", "gc", "importlib", "marshal", "multiprocessing", "pkgutil", "psutil",
                "runpy", "subprocess"}  # fmt: skip
SILENCING = {
    "set_custom_exc", "showtraceback", "_showtraceback", "showsyntaxerror", "excepthook",
    "CustomTB", "InteractiveTB", "run_cell", "run_cell_async", "run_code", "ast_transformers",
    "input_transformers_cleanup", "input_transformers_post", "display_pub", "displayhook",
}  # fmt: skip
COMPARING = {"__eq__", "__ne__", "__array_ufunc__", "__array_function__", "__subclasshook__"}
SHELLS = {"bash", "sh", "script", "system", "perl", "ruby", "cmd", "run", "!"}
SHELLY = re.compile(r"/proc|lib2048|submitted|autograded|gradebook|\.\.|[{$`]| -c ")  # no mere `ls`
THE_GAME_ITSELF = ("hw01", "hw02")  # in the others, boards slide by the library
BOUND = re.compile(r"__\d")  # how names begin that `source_of` makes
FRAMES = {"f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "__globals__", "__code__",
          "__builtins__", "__subclasses__", "__closure__", "cell_contents", "__traceback__",
          "__import__", "__reduce_ex__"}  # fmt: skip


def note(key, where, used):
    """Return one note, which names at most some of what was used; None for nothing."""
    names = sorted(set(used))
    if not names:
        return None
    more = ", …" * (len(names) > MOST_NAMES)
    return say(f"grading.{key}", where=where, used=", ".join(names[:MOST_NAMES]) + more)


# ---------------------------------------------------------------- what a lab hands out


class HandedOut:
    """What a lab's notebook gives to its students: what its cells use of the library.

    full: the notebook, without solutions.
    """

    def __init__(self, full, lab):
        self.lab, self.things = lab, []
        self.texts = {said for cell in full.cells for said in _documents(_tree(cell.source))}
        trees = [_tree(cell.source) for cell in full.cells if cell.cell_type == "code"]
        bound = {}
        for tree in trees:
            bound |= _imported(tree)
        self.things += bound.values()
        if lab not in THE_GAME_ITSELF:
            self.things += [getattr(board, name) for name in vars(board) if name[0] != "_"]
        for tree in trees:
            self.things += [thing for _, thing in _chains(tree, bound)]

    def lacks(self, thing, exercise):
        """Say whether a thing of the library is not for the answer of an exercise.

        The right answers of what comes before it may stand in, as `use` lets them; numbers and
        texts are no work of anybody.
        """
        if isinstance(thing, ModuleType) or any(thing is tool for tool in TOOLS):
            return True
        before = []
        for other in of_lab(self.lab).values():
            if other is exercise:
                break
            before.append(other.truth)
        known = any(thing is one for one in (*self.things, *before))
        return not known and not isinstance(thing, (int, float, str, tuple))


def _tree(text):
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(text)
    return ast.Module([], [])


def _imported(tree):
    """Return {name: thing} of all that is imported of the library."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if _ours(one.name):
                    name = one.asname or one.name.partition(".")[0]
                    found[name] = _thing(one.name if one.asname else name)
        elif isinstance(node, ast.ImportFrom) and not node.level and _ours(node.module):
            for one in node.names:
                found[one.asname or one.name] = _thing(node.module, one.name)
    return {name: thing for name, thing in found.items() if thing is not None}


def _ours(module):
    return f"{module}.".startswith("lib2048.")


def _thing(module, name=None):
    """Return what a module of the library, or a name in it, stands for; None for nothing."""
    with contextlib.suppress(Exception):
        made = import_module(module)
        if name is None or not hasattr(made, name):
            return made if name is None else import_module(f"{module}.{name}")
        return getattr(made, name)
    return None


def _chains(tree, bound):
    """Yield (how it is written, the thing) of what a text uses of the modules that it has."""
    inner = set()
    for node in ast.walk(tree):  # the outermost of a.b.c comes first
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            names, at = [], node
            while isinstance(at, ast.Attribute):
                inner.add(id(at))
                names.append(at.attr)
                at = at.value
            if isinstance(at, ast.Name):
                inner.add(id(at))
                yield from _followed(at.id, names[::-1], bound)
        elif isinstance(node, ast.Name) and id(node) not in inner:
            if isinstance(thing := bound.get(node.id), ModuleType):
                yield node.id, thing


def _followed(name, attributes, bound):
    thing, said = bound.get(name), name
    for attribute in attributes:
        if not isinstance(thing, ModuleType):
            break
        said, thing = f"{said}.{attribute}", getattr(thing, attribute, None)
    if thing is not None:
        yield said, thing


# ---------------------------------------------------------------- functions


def of_text(text, handed_out, exercise, name, told=None):
    """Return notes on a function that was handed over as text, a list.

    name: of the function; told: a set of what was said of other functions, and is not said again.
    """
    luggage, pairs, own = [], [], []
    for node in _tree(text).body:
        if _is_luggage(node):
            luggage.append(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key, value = node.targets[0].slice, getattr(node.value, "id", None)
            if isinstance(key, ast.Constant) and value:
                pairs.append((key.value, value))
            else:
                own.append(node)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "attr", "") in SLOTS:
            own.append(ast.Expr(node.value))  # held by an outer function
        elif not _is_header(node):
            own.append(node)
    luggage, own = ast.Module(luggage, []), ast.Module(own, [])
    kept, inner = _imported(luggage), _imported(own)
    brought = {one.asname for node in luggage.body for one in node.names}
    bound = {key: to for key, to in pairs if to in brought}
    uses = {_said(thing): thing for thing in (*kept.values(), *inner.values())}
    uses = {said: thing for said, thing in uses.items() if not isinstance(thing, ModuleType)}
    uses |= {  # a module in a list, an object or an outer variable
        _said(kept[node.id]): kept[node.id]
        for node in ast.walk(own)
        if isinstance(node, ast.Name) and isinstance(kept.get(node.id), ModuleType)
    }
    uses |= dict(_chains(own, {key: kept[to] for key, to in bound.items() if to in kept} | inner))
    copies = _documents(own) & _documents_of_the_game() - handed_out.texts
    found = {
        "look_wraps": {said for said, thing in uses.items() if handed_out.lacks(thing, exercise)}
        | {said.split("\n")[0].rstrip(".") for said in copies},
        "look_odd": _odd(luggage, own, bound),
        "look_equal": _equal(own, luggage),
        "look_forges": {"another text"} if not text.startswith(HEADER) else set(),
    }
    told = set() if told is None else told
    notes = []
    for key, used in found.items():
        notes.append(note(key, f"`{name}`", {one for one in used if (key, one) not in told}))
        told |= {(key, one) for one in used}
    return [*filter(None, notes)]


def _is_luggage(node):
    """Say whether a line is one by which `source_of` imports what functions use."""
    lines = (ast.Import, ast.ImportFrom)
    return isinstance(node, lines) and BOUND.match(node.names[0].asname or "")


def _documents(tree):
    """Return what the functions of a text say of themselves: a copy says what its model does."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    found = (ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, kinds))
    return {said for said in found if said and len(said) > 40}


@functools.cache
def _documents_of_the_game():
    return _documents(_tree(Path(spec.__file__).read_text(encoding="utf-8")))


def _odd(luggage, own, bound):
    """Return what no answer needs: names, modules, and what is reached by names put together."""
    odd, made = set(), {node.id for node in ast.walk(own) if _is_stored(node)}
    made |= {node.arg for node in ast.walk(own) if isinstance(node, ast.arg)}
    modules = _aliases(luggage) | _aliases(own)
    modules |= {key: modules[to] for key, to in bound.items() if to in modules}
    for node in ast.walk(luggage):
        if isinstance(node, ast.ImportFrom):
            named = {one.name for one in node.names}
            odd |= named & (ODD_CALLS | BY_NAME if node.module == "builtins" else MAKERS)
            odd |= _modules(node) & ODD_MODULES - {"builtins"}
    for node in ast.walk(own):
        if isinstance(node, ast.ImportFrom):
            odd |= _modules(node) & ODD_MODULES - {*HARMLESS}
            odd |= {one.name for one in node.names if one.name in MAKERS or _hides(one.name)}
            known = HARMLESS.get(node.module, ())
            odd |= {one.name for one in node.names if known and one.name not in known}
        if isinstance(node, ast.Import):
            odd |= _modules(node) & ODD_MODULES - {*HARMLESS}
        if isinstance(node, ast.Name) and node.id in ODD_CALLS - made:
            odd.add(node.id)
        if isinstance(node, ast.Call):
            odd |= {getattr(node.func, "id", "")} & ODD_CALLS | _by_name(node)
        if isinstance(node, ast.Attribute):
            odd |= {node.attr} & MAKERS
            if getattr(node.value, "id", None) in modules and _hides(node.attr):
                odd.add(ast.unparse(node))
    odd |= _odd_modules(own, {key: name for key, name in modules.items() if name in ODD_MODULES})
    return odd | _frames(own)


def _is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _hides(name):
    """Say whether a name that a module has is a private one, or an odd module."""
    return (name[0] == "_" and name[:2] != "__") or name in {"sys", "os"}


def _by_name(call):
    """Return what asks for an attribute whose name stands nowhere in the text."""
    who = {getattr(call.func, "id", ""), getattr(call.func, "attr", "")} & BY_NAME
    at = call.args[: 1 if who & {"attrgetter", "methodcaller"} else 2][-1:]
    return who if at and not isinstance(at[0], ast.Constant) else set()


def _aliases(tree):
    """Return {name: module} of the modules that a text imports, of others than the library."""
    return {
        one.asname or one.name.partition(".")[0]: one.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for one in node.names
        if not _ours(one.name)
    }


def _odd_modules(tree, modules):
    """Return the odd modules that a text uses, but for what is harmless; modules: {name: module}"""
    odd, fine = set(), set()
    for node in ast.walk(tree):  # an attribute comes before what it is of
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module and node.attr in HARMLESS.get(module, ()):
                fine.add(id(node.value))
            elif module:
                fine.add(id(node.value))
                odd.add(f"{module}.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in modules and id(node) not in fine:
            odd |= {modules[node.id]} if isinstance(node.ctx, ast.Load) else set()
    return odd


def _frames(tree):
    """Return the ways to a frame, a function's code or a class's heirs that a text knows."""
    plain = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    named = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    said = _words(tree, ast.Attribute, ast.Constant) | {one for one in plain if one[:2] == "__"}
    return (said | named & {"__reduce_ex__"}) & FRAMES


def _equal(tree, luggage):
    """Return how things that are of a kind of data say themselves what they are equal to."""
    plain = {"object"} | {
        one.asname
        for node in luggage.body
        for one in node.names
        if one.name == "object" and _modules(node) == {"builtins"}
    }
    found = _words(tree, ast.Attribute) & COMPARING
    for node in ast.walk(tree):
        bases = node.bases if isinstance(node, ast.ClassDef) else ()
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "new_class":
            bases = getattr(node.args[2], "elts", ())
        if any(getattr(base, "id", "") not in plain for base in bases):
            found |= _words(node) & COMPARING
    return found


def _is_header(node):
    """Say whether a line is one of HEADER, or of those that have a module of modules whole."""
    if isinstance(node, ast.ImportFrom):
        return ast.unparse(node) in HEADER
    call = getattr(node, "value", None) if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "__import__"


def _said(thing):
    return getattr(thing, "__qualname__", None) or getattr(thing, "__name__", type(thing).__name__)


def _modules(node):
    """Return the first names of the modules that a line imports, of others than the library."""
    if isinstance(node, ast.Import):
        return {one.name.partition(".")[0] for one in node.names}
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return set()


WORDS = {ast.Attribute: "attr", ast.Constant: "value", ast.FunctionDef: "name", ast.Name: "id"}


def _words(tree, *kinds):
    """Return the names and texts that a text holds; kinds: of nodes, by default all."""
    kinds = {kind: WORDS[kind] for kind in kinds or WORDS}
    found = (getattr(node, kinds.get(type(node), ""), None) for node in ast.walk(tree))
    return {word for word in found if isinstance(word, str)}


# ---------------------------------------------------------------- cells


def of_cells(cells):
    """Return notes on a student's code cells, a list; cells: [(what it is called, text), …]."""
    trees = [(where, _tree(plain_python(text))) for where, text in cells]
    bound, odd, notes = {}, {}, []
    for _, tree in trees:
        bound |= _imported(tree)
        odd |= _aliases(tree)
    odd = {name: module for name, module in odd.items() if module in ODD_IN_CELLS}
    for where, tree in trees:
        words = _words(tree)
        found = {
            "look_odd": _odd_in_cell(tree) | _odd_modules(tree, odd),
            "look_silences": _words(tree, ast.Attribute, ast.Constant) & SILENCING - _own(tree),
            "look_changes": {said for said in _assigned(tree) if _is_known(said, bound)},
            "look_equal": _equal(tree, ast.Module([], [])),
            "look_forges": {word[:60] for word in words if "vnd.lib2048" in word},
        }
        notes += [note(key, where, used) for key, used in found.items()]
    return [*filter(None, notes)]


def _own(tree):
    """Return the names behind `self.` in a text."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if getattr(node.value, "id", "") == "self"}


def _is_known(said, bound):
    """Say whether what is written as a.b.c is a part of the library, and no note of one's own."""
    thing, *rest = said.split(".")
    if thing not in bound:
        return False
    thing = bound[thing]
    for name in rest:
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True


def _odd_in_cell(tree):
    odd, fine, modules = set(), set(), _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            odd |= _modules(node) & ODD_IN_CELLS
            odd |= {one.name for one in node.names} & ODD_ATTRIBUTES.get(node.module, set())
            odd |= {one.name for one in node.names if _hides(one.name)}
        if isinstance(node, ast.Attribute):
            of = getattr(node.value, "id", "")
            if node.attr in ODD_ATTRIBUTES.get(of, ()) and id(node) not in fine:
                odd.add(f"{of}.{node.attr}")
            if of in modules and _hides(node.attr):
                odd.add(f"{of}.{node.attr}")
        if isinstance(node, ast.Name) and node.id in {"exec", "eval", "__import__"}:
            odd.add(node.id)
        if isinstance(node, ast.Call):
            odd |= _shell(node) | _by_name(node) | _other(node)
            if getattr(node.func, "attr", "") in {"system", "popen"} and _is_plain(node.args):
                fine.add(id(node.func))
    return odd | _frames(tree)


def _is_plain(arguments):
    """Say whether a command for a shell is written out, and names nothing of a course."""
    texts = [getattr(one, "value", None) for one in arguments]
    return all(isinstance(one, str) and not SHELLY.search(one) for one in texts)


def _other(call):
    """Return `use` where it is called with another function than the exercise's own."""
    if "use" not in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
        return set()
    name, given = [*call.args, None, None][:2]
    name, given = str(getattr(name, "value", "")), getattr(given, "id", "")
    return {f"use of {given}"} if given and given != name.rpartition(".")[2] else set()


def _shell(call):
    """Return the shell that a call of IPython's starts, but for pip's."""
    name = getattr(call.func, "attr", "")
    if name not in ("system", "getoutput", "run_cell_magic", "run_line_magic"):
        return set()
    first = str(getattr(call.args[0], "value", "")) if call.args else ""
    shell = "!" if name in ("system", "getoutput") else first
    of = getattr(getattr(call.func, "value", None), "func", None)
    if getattr(of, "id", "") != "get_ipython" and name == "system":
        return set()  # of `os`
    fine = first.strip().startswith("pip") or _is_plain(call.args)
    return set() if fine else {shell} & SHELLS


def _assigned(tree):
    """Return the attributes that a text gives other values, as they are written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield ast.unparse(node)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr"):
            if node.args:
                yield ast.unparse(node.args[0])


# ---------------------------------------------------------------- what it did


def of_log(log, course, own, desk):
    """Return notes on which files a hand-in opened and what it started, a list.

    log: of `inside.begin`; course: the course's folder; own: the folder of the hand-in's own files;
    desk: that of all that are graded with it.
    """
    opened, acts = set(), set()
    with contextlib.suppress(OSError):
        for line in Path(log).read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                told = json.loads(line)
                event, what, by = (str(told[key]) for key in ("event", "what", "by"))
                if event == OVERFLOW:
                    acts.add("too many files to tell")
                elif event in ACTS:
                    fine = event == "os.system" and not SHELLY.search(what)
                    acts |= {event} if by == "student" and not fine else set()
                elif _is_foreign(what, by, course, own, desk):
                    opened.add(_short(what, course))
    where = say("grading.look_notebook")
    return [*filter(None, [note("look_opened", where, opened), note("look_odd", where, acts)])]


def _is_foreign(what, by, course, own, desk):
    if re.match(r"/proc($|/\d)", what):
        return by != "library"
    path = Path(what)
    return not path.is_relative_to(own) and any(path.is_relative_to(one) for one in (course, desk))


def _short(what, course):
    path = Path(what)
    return str(path.relative_to(course)) if path.is_relative_to(course) else what
