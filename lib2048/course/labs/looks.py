"""What a grader names for a person to look at: no marks depend on it.

A function that was handed over as text says by its imports what it uses of the library, and is
compared with what the lab's notebook hands out.  Cells are read, not run.  Nothing here proves that
somebody has cheated, and not all that is done is found: docs/grading.md says what is not.
"""

import ast
import contextlib
import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lib2048.course.labs.exercise import of_lab
from lib2048.course.labs.inside import ACTS
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import plain_python
from lib2048.game import board

MOST_NAMES = 6  # in one note
ODD_MODULES = {
    "builtins", "ctypes", "gc", "importlib", "inspect", "multiprocessing", "os", "pathlib",
    "psutil", "runpy", "shutil", "signal", "socket", "subprocess", "sys", "tempfile",
}  # fmt: skip
ODD_CALLS = {"__import__", "compile", "eval", "exec", "globals", "open", "vars"}
# In cells, where a student may open a file or ask for a path.
ODD_ATTRIBUTES = {
    "sys": {"_getframe", "_current_frames", "modules", "settrace", "setprofile"},
    "os": {"_exit", "abort", "execv", "execve", "fork", "getppid", "kill", "killpg", "popen",
           "readlink", "spawnv", "system"},
    "inspect": {"stack", "currentframe", "getouterframes"},
    "signal": {"signal", "pthread_kill", "alarm"},
}  # fmt: skip
ODD_IN_CELLS = {"ctypes", "gc", "importlib", "psutil", "runpy", "subprocess", "multiprocessing"}
SILENCING = {
    "set_custom_exc", "showtraceback", "_showtraceback", "showsyntaxerror", "excepthook",
    "CustomTB", "InteractiveTB", "run_cell", "run_cell_async", "run_code", "ast_transformers",
    "input_transformers_cleanup", "input_transformers_post", "display_pub", "displayhook",
}  # fmt: skip
COMPARING = {"__eq__", "__ne__", "__array_ufunc__", "__array_function__", "__subclasshook__"}
SHELLS = {"bash", "sh", "script", "system", "perl", "ruby", "cmd", "run", "!"}
THE_GAME_ITSELF = ("hw01", "hw02")  # in the others, boards slide by the library
BOUND = re.compile(r"__\d")  # how names begin that `source_of` makes
FRAMES = {"f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "__globals__", "__code__",
          "__builtins__", "__subclasses__", "__closure__", "cell_contents"}  # fmt: skip


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


def of_text(text, handed_out, exercise, name):
    """Return notes on a function that was handed over as text, a list; name: of the function."""
    luggage, bound, held, odd, own = {}, {}, [], set(), []
    for node in _tree(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if BOUND.match(node.names[0].asname or ""):
                luggage |= _imported(ast.Module([node], []))
                named = {one.name for one in node.names}
                odd |= named & ODD_CALLS if _modules(node) == {"builtins"} else set()
                odd |= _modules(node) & ODD_MODULES - {"builtins"}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key, value = node.targets[0].slice, getattr(node.value, "id", None)
            if isinstance(key, ast.Constant) and value in luggage:
                bound[key.value] = luggage[value]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            held.append(luggage.get(getattr(node.value, "id", None)))  # by an outer function
        elif not _is_header(node):
            own.append(node)
    own = ast.Module(own, [])
    inner = _imported(own)
    uses = {_said(thing): thing for thing in (*luggage.values(), *inner.values())}
    uses = {said: thing for said, thing in uses.items() if not isinstance(thing, ModuleType)}
    uses |= {_said(thing): thing for thing in held if isinstance(thing, ModuleType)}
    uses |= dict(_chains(own, bound | inner))
    for node in ast.walk(own):
        odd |= _modules(node) & ODD_MODULES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            odd |= {node.func.id} & ODD_CALLS
    odd |= _words(own) & FRAMES
    wrapped = [
        said
        for said, thing in uses.items()
        if isinstance(thing, ModuleType) or handed_out.lacks(thing, exercise)
    ]
    where = f"`{name}`"
    notes = [note("look_wraps", where, wrapped), note("look_odd", where, odd)]
    return [*filter(None, [*notes, note("look_equal", where, _words(own) & COMPARING)])]


def _is_header(node):
    """Say whether a line is one that `source_of` writes to have a module of modules whole."""
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


def _words(tree):
    """Return the names and texts that a text holds."""
    kinds = {ast.Attribute: "attr", ast.Constant: "value", ast.FunctionDef: "name", ast.Name: "id"}
    found = (getattr(node, kinds.get(type(node), ""), None) for node in ast.walk(tree))
    return {word for word in found if isinstance(word, str)}


# ---------------------------------------------------------------- cells


def of_cells(cells):
    """Return notes on a student's code cells, a list; cells: [(what it is called, text), …]."""
    trees = [(where, _tree(plain_python(text))) for where, text in cells]
    bound, notes = {}, []
    for _, tree in trees:
        bound |= _imported(tree)
    for where, tree in trees:
        words = _words(tree)
        found = {
            "look_odd": _odd_in_cell(tree, words),
            "look_silences": words & SILENCING,
            "look_changes": {said for said in _assigned(tree) if said.partition(".")[0] in bound},
            "look_equal": words & COMPARING,
            "look_forges": {word[:60] for word in words if "vnd.lib2048" in word},
        }
        notes += [note(key, where, used) for key, used in found.items()]
    return [*filter(None, notes)]


def _odd_in_cell(tree, words):
    odd = set()
    for node in ast.walk(tree):
        odd |= _modules(node) & ODD_IN_CELLS
        if isinstance(node, ast.ImportFrom):
            odd |= {one.name for one in node.names} & ODD_ATTRIBUTES.get(node.module, set())
        if isinstance(node, ast.Attribute):
            if node.attr in ODD_ATTRIBUTES.get(getattr(node.value, "id", ""), ()):
                odd.add(f"{node.value.id}.{node.attr}")
        if isinstance(node, ast.Call):
            odd |= {getattr(node.func, "id", "")} & {"exec", "eval", "__import__"}
            odd |= _shell(node)
    return odd | words & FRAMES


def _shell(call):
    """Return the shell that a call of IPython's starts, but for pip's."""
    name = getattr(call.func, "attr", "")
    if name not in ("system", "getoutput", "run_cell_magic", "run_line_magic"):
        return set()
    first = str(getattr(call.args[0], "value", "")) if call.args else ""
    shell = "!" if name in ("system", "getoutput") else first
    return {shell} & SHELLS if not first.strip().startswith("pip") else set()


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
                if event in ACTS:
                    acts |= {event} if by == "student" else set()
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
