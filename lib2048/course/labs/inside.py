"""What a grader lets run beside a student's code: it hands functions over, and notes what is odd.

It decides nothing, and whatever runs in the same process may change it.  Functions are judged
elsewhere, from their text; what is noted is for a person to look at.
"""

import json
import os
import sys
import sysconfig
import threading
import types
from pathlib import Path

HANDED = "application/vnd.lib2048.handed+json"
MOST_TEXT = 4_000_000  # characters of a function with all that it uses
MOST_LINES = 2000  # of the notes
OVERFLOW = "overflow"  # the event of the last line, where there would be more
PATHS = {
    "open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.rmdir", "os.chmod",
    "os.link", "os.symlink", "os.truncate", "shutil.rmtree", "shutil.move", "shutil.copyfile",
    "sqlite3.connect",
}  # fmt: skip
ACTS = {
    "subprocess.Popen", "os.system", "os.kill", "os.killpg", "os.fork", "os.forkpty", "os.exec",
    "os.posix_spawn", "os.spawn", "pty.spawn", "ctypes.dlopen", "socket.connect",
}  # fmt: skip
OF_ITSELF = ("maps", "smaps", "stat", "status", "statm", "cgroup")  # `import torch` asks for them
OURS = str(Path(__file__).parents[2]) + os.sep
STANDARD = sysconfig.get_paths()["stdlib"] + os.sep
OTHERS = (STANDARD, sys.prefix + os.sep, sys.base_prefix + "/lib", "<frozen")
# Beside the library, what shows a text that is handed over may not be changed either.
WATCHED = ("lib2048.", "IPython.core.", "IPython.display.", "ipykernel.")
_begun, _before, _shows = set(), {}, []


def begin(log):
    """Note from now on, in a file, which files a student's code opens, and what it starts.

    log: one JSON line each, {"event", "what", "by"}; by: see `_whose`.
    """
    if log in _begun:
        return
    _begun.add(log)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    own = os.path.join(os.path.dirname(os.path.realpath(log)), "files") + os.sep
    # Threads themselves, not their numbers: a later thread gets the number of one that ended.
    told, busy, ours = set(), threading.local(), {*threading.enumerate()}
    about_itself = {f"/proc/{os.getpid()}/{name}" for name in OF_ITSELF}

    def hook(event, arguments):
        if event not in PATHS and event not in ACTS or len(told) > MOST_LINES:
            return
        if getattr(busy, "now", False):
            return
        students = threading.current_thread() not in ours
        busy.now = True  # what follows may open files of its own
        try:
            by = _whose(sys._getframe(1), students)
            what = str(arguments[0]) if arguments else ""
            if event in PATHS:
                is_path = isinstance(arguments[0], (str, bytes, os.PathLike))
                what = os.path.realpath(os.fsdecode(what)) if is_path else ""
            line = {"event": event, "what": what[:300], "by": by}
            text = json.dumps(line) + "\n"
            is_own = what.startswith((*OTHERS, OURS, own)) or what in about_itself
            if by and text not in told and not is_own:
                told.add(text)
                if len(told) > MOST_LINES:
                    text = json.dumps({"event": OVERFLOW, "what": "", "by": "student"}) + "\n"
                os.write(file, text.encode())
        except Exception:  # never an error of the student's
            pass
        finally:
            busy.now = False

    from IPython.display import display

    _shows.append(display)
    watch()
    sys.addaudithook(hook)


def _whose(frame, students=False):
    """Say who is behind a call: "student", "package" or "library", whoever is nearest; or "".

    students: is this a thread that a student began, whose cell is nowhere in its frames?
    """
    nearest = "student"
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(OURS):
            return "library"
        if "site-packages" in file:
            nearest = "package"
        elif not file.startswith(OTHERS):
            return nearest
        frame = frame.f_back
    return nearest if students else ""


def hand_over(functions, said=()):
    """Show functions of the notebook as text, for the grader alone.

    functions: {key: name in the notebook}; said: names of texts that are handed over, too.
    """
    from IPython import get_ipython

    from lib2048.machine.source_text import source_of

    room, found = get_ipython().user_ns, {"missing": [], "said": {}}
    found["missing"] = [name for name in functions.values() if name not in room]
    found["said"] = {name: str(room.get(name, ""))[:200] for name in said}
    given = {key: room[name] for key, name in functions.items() if name in room}
    odd = [thing for thing in given.values() if not callable(thing)]
    try:
        if odd:
            found["no_function"] = repr(odd[0])[:100]
        elif not found["missing"]:
            found["text"] = source_of(given)
    except Exception as error:
        found["error"] = str(error)[:1000]
    if len(found.get("text", "")) > MOST_TEXT:
        found |= {"text": None, "error": f"it is larger than {MOST_TEXT:,} characters"}
    _shows[0]({HANDED: found}, raw=True)


def show_changes():
    """Show the names of what was changed in the library since `begin`, for the grader alone."""
    _shows[0]({HANDED: {"changed": changed()}}, raw=True)


def watch():
    """Remember what the library is now; once in a process."""
    if not _before:
        _before.update(_parts())


def changed():
    """Return the names of what is another than when `watch` was called, at most 20."""
    now = _parts() if _before else {}
    return sorted(name for name, part in _before.items() if now.get(name) != part)[:20]


def _parts():
    """Return the functions, the classes and their methods, and their code, {name: object}."""
    found = {}
    for module in [*sys.modules.values()]:
        name = getattr(module, "__name__", None)
        if isinstance(module, types.ModuleType) and f"{name}.".startswith(WATCHED):
            for key, thing in [*vars(module).items()]:
                found |= _parts_of(f"{name}.{key}", thing)
    return found


def _parts_of(name, thing):
    found = {}
    if isinstance(thing, types.FunctionType):
        found = {name: (thing, thing.__code__)}
    elif isinstance(thing, type):
        found = {name: (thing, None)}
        if f"{thing.__module__}.".startswith(WATCHED):
            for key, method in [*vars(thing).items()]:
                if isinstance(method, types.FunctionType):
                    found[f"{name}.{key}"] = method, method.__code__
    return found
