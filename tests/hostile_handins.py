"""A class of honest and hostile hand-ins, drawn by number: python tests/hostile_handins.py

Hand-in n is a function of (seed, n); every second one is honest.  All of them are in one download,
which `lib2048 labs collect` takes; some are graded, exported and shown.  Every honest one must be
taken byte for byte and get the marks that it gets alone, every hostile one must have its row and,
where it cannot be graded, a reason; nothing may hang, nothing half written may be left, and no page
may run anything.
"""

import argparse
import collections
import csv
import io
import json
import random
import shutil
import stat
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import handins
from bs4 import BeautifulSoup

from lib2048.cli import main as command
from lib2048.course.labs import course_folder, grading, marks
from lib2048.course.labs.collect import read_record
from lib2048.course.labs.running import TimeLimits
from lib2048.machine.extras import is_there

LAB = "hw01"
GOOD, BAD, ANY = "taken", "refused", "either"  # what must come of a kind
SECONDS = 300  # that a class of 500 may take to be collected
SCRIPT = "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"

# ---------------------------------------------------------------- notebooks


def honest(student):
    """Return the bytes of a right hand-in."""
    return handins.data(handins.without_games(handins.solution(student)))


def text_of(student="s"):
    return honest(student).decode()


def with_cell(**parts):
    """Return a notebook with one cell more; None takes a part away."""
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": []}
    cell = {key: value for key, value in (cell | parts).items() if value is not Ellipsis}
    notebook = handins.solution("s")
    return handins.data(notebook | {"cells": [*notebook["cells"], cell]})


def with_part(**parts):
    return handins.data(handins.solution("s") | parts)


def by(name):
    """Return a notebook whose line STUDENT says something; name: as it stands in the JSON."""
    return text_of("NAME").replace("NAME", name).encode()


def nested(depth, left="[", right="]"):
    return left * depth + right * depth


NOTEBOOKS = {  # kind: (bytes, what must come of it)
    "metadata-null": (with_part(metadata=None), BAD),
    "metadata-list": (with_part(metadata=[1]), BAD),
    "metadata-text": (with_part(metadata="x"), BAD),
    "metadata-html": (with_part(metadata={"lib2048": {"lab": LAB}, "title": SCRIPT}), GOOD),
    "metadata-lab-a-list": (with_part(metadata={"lib2048": {"lab": ["hw01"]}}), GOOD),
    "metadata-lab-null": (with_part(metadata={"lib2048": None}), GOOD),
    "metadata-deep": (
        text_of().replace('"metadata"', f'"x": {nested(5000)}, "metadata"', 1).encode(),
        ANY,
    ),
    "cells-null": (with_part(cells=None), BAD),
    "cells-object": (with_part(cells={}), BAD),
    "cells-text": (with_part(cells="abc"), BAD),
    "cells-empty": (with_part(cells=[], metadata={"lib2048": {"lab": LAB}}), GOOD),
    "cells-many": (with_part(cells=[{"cell_type": "raw", "source": ""}] * 100_000), BAD),
    "cell-null": (handins.data(handins.solution("s") | {"cells": [None]}), BAD),
    "cell-text": (handins.data(handins.solution("s") | {"cells": ["x"]}), BAD),
    "cell-without-type": (with_cell(cell_type=...), BAD),
    "cell-type-list": (with_cell(cell_type=["code"]), BAD),
    "cell-type-odd": (with_cell(cell_type="<b>"), GOOD),
    "cell-without-source": (with_cell(source=...), BAD),
    "cell-source-number": (with_cell(source=7), BAD),
    "cell-source-numbers": (with_cell(source=[7, None]), BAD),
    "cell-source-object": (with_cell(source={"a": 1}), BAD),
    "cell-without-outputs": (with_cell(outputs=...), GOOD),
    "cell-without-metadata": (with_cell(metadata=...), GOOD),
    "cell-metadata-null": (with_cell(metadata=None), BAD),
    "cell-outputs-null": (with_cell(outputs=None), BAD),
    "cell-outputs-numbers": (with_cell(outputs=[1, None, "x"]), GOOD),
    "cell-id-list": (with_cell(id=[1]), BAD),
    "cell-id-object": (with_cell(id={}), BAD),
    "cell-attachments": (with_cell(attachments=[1]), BAD),
    "cell-grade-id": (with_cell(metadata={"nbgrader": {"grade_id": ["a"]}}), GOOD),
    "cell-nbgrader-text": (with_cell(metadata={"nbgrader": "x"}), GOOD),
    "cell-source-long": (with_cell(source="#" * 2_000_000), GOOD),
    "half-a-letter": (text_of().replace('"# ', '"\\ud800 # ', 1).encode(), GOOD),
    "half-a-letter-more": (with_cell(source="'\ud83d'"), GOOD),
    "nan": (
        text_of().replace('"metadata": {}', '"metadata": {"a": NaN, "b": -Infinity}').encode(),
        GOOD,
    ),
    "number-too-long": (
        text_of().replace('"nbformat": 4', f'"nbformat": {"9" * 5000}').encode(),
        BAD,
    ),
    "doubled-keys": (text_of().replace('"cells"', '"cells": [], "cells"', 1).encode(), GOOD),
    "byte-order-mark": (b"\xef\xbb\xbf" + honest("s"), GOOD),
    "utf-16": (text_of().encode("utf-16"), BAD),
    "latin-1": (honest("s")[:-2] + b', "x": "\xe9"}', BAD),
    "nul": (honest("s")[:-2] + b"\0}", BAD),
    "nothing": (b"", BAD),
    "null": (b"null", BAD),
    "cut": (honest("s")[:-100], BAD),
    "deep": (nested(100_000).encode(), BAD),
    "deep-objects": (nested(100_000, '{"cells":', "}").encode(), BAD),
    "old-format": (b'{"nbformat": 3, "worksheets": [{"cells": []}], "metadata": {}}', BAD),
    "output-large": (with_cell(outputs=[{"output_type": "stream", "text": "x" * 21_000_000}]), BAD),
    "other-lab": (with_part(metadata={"lib2048": {"lab": "hw03"}}), BAD),
    "holiday": (b"\xff\xd8\xff\xe0 a photograph", BAD),
    "html": (SCRIPT.encode(), BAD),
}
NAMES = {  # as they stand in a line of code, in JSON
    "nobody": "0000", "question": "?", "dash": "-", "dots": "...", "stars": "***",
    "out": "../../x", "device": "CON", "device-txt": "nul.txt", "half": "\\ud800",
    "bell": "\\u0007", "nul": "\\u0000",
    "right-to-left": "\\u202eevil", "long": "x" * 100_000, "spaces": " " * 300_000,
    "formula": "=HYPERLINK(1)", "plus": "+1", "at": "@SUM(1)", "tab": "\\t=1",
    "script": "<script>1</script>", "quote": "\\\" + __import__('os').getcwd() + \\\"",
    "code": "\\\" if 1 else 1/0 #", "emoji": "\\ud83d\\ude00" * 60, "same": "one and the same",
}  # fmt: skip
NOTEBOOKS |= {f"student-{name}": (by(said), GOOD) for name, said in NAMES.items()}

# ---------------------------------------------------------------- packs


def pack(*entries, **how):
    """Return the bytes of a zip file; entries: (name or ZipInfo, bytes)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how.get("method", zipfile.ZIP_DEFLATED)) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def with_flag(data, flag):
    """Return a zip file whose entries all say that they are encrypted, or the like."""
    return data.replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0" + bytes([flag])).replace(
        b"PK\x01\x02\x14\x03\x14\0\0", b"PK\x01\x02\x14\x03\x14\0" + bytes([flag])
    )


def link(name, to):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info, to


def device(name, kind):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o666) << 16
    return info, b""


def manifest(text):
    return pack((f"{LAB}.ipynb", honest("s")), ("manifest.json", text))


BOOK = (f"{LAB}.ipynb", honest("s"))
OTHER = (f"{LAB}.ipynb", handins.data(handins.untouched("old")))
FOREIGN = (f"{LAB}.ipynb", b'{"cells": [], "metadata": {}}')
SOUND = pack(BOOK)
PACKS = {
    "copies": (pack(("old/" + BOOK[0], OTHER[1]), ("hw01/" + BOOK[0], BOOK[1])), GOOD),
    "copies-old-last": (
        pack(("hw01/" + BOOK[0], BOOK[1]), ("hw01/old/" + BOOK[0], OTHER[1])),
        GOOD,
    ),
    "foreign-wins": (pack(("mine.ipynb", BOOK[1]), FOREIGN), GOOD),
    "untouched-wins": (pack(OTHER, ("deep/mine.ipynb", BOOK[1])), GOOD),
    "same-name-twice": (pack(BOOK, ("a/curve.csv", b"1"), ("b/curve.csv", b"2")), GOOD),
    "two-labs": (
        pack(("hw03.ipynb", with_part(metadata={"lib2048": {"lab": "hw03"}})), BOOK),
        GOOD,
    ),
    "one-damaged": (pack(("a.ipynb", b"{"), BOOK), GOOD),
    "nested": (pack(("inner.zip", SOUND)), GOOD),
    "nested twice": (pack(("inner.zip", pack(("in.zip", SOUND)))), BAD),
    "two nested": (pack(("a.zip", SOUND), ("b.zip", SOUND)), BAD),
    "empty": (pack(), BAD),
    "litter": (pack(("__MACOSX/._hw01.ipynb", b"x"), (".DS_Store", b"x")), BAD),
    "folders": (pack((f"{LAB}.ipynb/", b""), ("a/b/c/", b"")), BAD),
    "bomb": (pack(BOOK, ("curve.csv", bytes(300_000_000))), BAD),
    "bomb-in-many": (pack(*((f"{n}/curve.csv", bytes(10_000_000)) for n in range(40))), BAD),
    "bomb-list": (pack(BOOK, ("manifest.json", bytes(100_000_000))), BAD),
    "many-files": (pack(BOOK, *((f"{n}.txt", b"") for n in range(20_000))), BAD),
    "encrypted": (with_flag(SOUND, 1), BAD),
    "patched": (with_flag(SOUND, 32), BAD),
    "crc": (SOUND[:300] + bytes([SOUND[300] ^ 1]) + SOUND[301:], BAD),
    "cut": (SOUND[:-200], BAD),
    "head-alone": (b"PK\x03\x04", BAD),
    "before": (b"PK" + bytes(1000) + SOUND, ANY),
    "behind": (SOUND + bytes(1000), ANY),
    "method": (SOUND.replace(b"\x08\0", b"\x63\0"), BAD),
    "bzip2": (pack(BOOK, method=zipfile.ZIP_BZIP2), GOOD),
    "lzma-damaged": (
        pack(BOOK, method=zipfile.ZIP_LZMA).replace(b"\x5d\0\0", b"\xff\xff\xff"),
        BAD,
    ),
    "absolute": (pack(BOOK, ("/etc/curve.csv", b"x")), GOOD),
    "out": (pack(BOOK, ("../../curve.csv", b"x"), ("..\\..\\curve.csv", b"x")), GOOD),
    "drive": (pack(BOOK, ("C:\\curve.csv", b"x"), ("C:curve.csv", b"x")), GOOD),
    "link": (pack(link(BOOK[0], "/etc/passwd")), BAD),
    "link-beside": (pack(BOOK, link("curve.csv", "/dev/zero")), GOOD),
    "fifo": (pack(BOOK, device("curve.csv", stat.S_IFIFO)), GOOD),
    "device": (pack(BOOK, device("report.md", stat.S_IFCHR)), GOOD),
    "long-name": (pack(BOOK, ("x" * 300 + ".csv", b"x")), GOOD),
    "long-letters": (pack(BOOK, ("é" * 120 + ".csv", b"x")), GOOD),
    "long-path": (pack(BOOK, ("a/" * 20_000 + "curve.csv", b"x")), GOOD),
    "line-break": (pack(BOOK, ("a\nb.csv", b"x"), ("a\rb.csv", b"x"), ("a\tb.csv", b"x")), GOOD),
    "colours": (pack(BOOK, ("\x1b[31mred.csv", b"x")), GOOD),
    "devices": (pack(BOOK, ("CON.csv", b"x"), ("nul.csv", b"x"), ("lpt1.a.csv", b"x")), GOOD),
    "odd-names": (pack(BOOK, ("a:b.csv", b"x"), ("a?.csv", b"x"), ("a|b.csv", b"x")), GOOD),
    "case": (pack(BOOK, ("Curve.csv", b"1"), ("curve.csv", b"2")), GOOD),
    "formula-name": (pack(BOOK, ("=1+1.csv", b"x")), GOOD),
    "html-name": (pack(BOOK, ("<img src=x onerror=1>.csv", b"x")), GOOD),
    "record": (pack(BOOK, ("collected.json", b'{"student": "1"}'), ("graded.json", b"{}")), GOOD),
    "list-list": (manifest(b"[1]"), GOOD),
    "list-text": (manifest(b'"x"'), GOOD),
    "list-damaged": (manifest(b"{"), GOOD),
    "list-deep": (manifest(nested(100_000).encode()), GOOD),
    "list-half-letter": (manifest(b'{"student": "\\ud800", "hash": 1}'), GOOD),
    "list-object": (manifest(b'{"student": {"a": 1}, "hash": []}'), GOOD),
    "list-html": (manifest(json.dumps({"student": SCRIPT}).encode()), GOOD),
    "list-formula": (manifest(b'{"student": "=1+1"}'), GOOD),
    "list-empty": (manifest(b'{"student": ""}'), GOOD),
    "list-latin": (manifest(b'{"student": "\xe9"}'), GOOD),
}

# ---------------------------------------------------------------- what runs when it is graded

MESSAGE = f"""from IPython.display import display
script = {SCRIPT!r}
display({{"text/html": script, "text/plain": "x"}}, raw=True)
display({{"application/javascript": "document.title = 'ran'", "text/plain": "x"}}, raw=True)
display({{"image/svg+xml": "<svg onload='1'><script>1</script></svg>"}}, raw=True)
display({{"text/markdown": script + "[x](javascript:1)", "text/latex": script}}, raw=True)
print(script)
"""
MARKDOWN = (
    f"{SCRIPT}\n\n<iframe srcdoc='<script>1</script>'></iframe>\n\n[a](javascript:alert`1`) "
    "<a href='java\tscript:alert(1)'>b</a> <a href='java&Tab;script:1'>b</a>"
    " <svg/onload=1> <math><mi xlink:href='javascript:1'>x</math>"
    "\n\n<form action=javascript:1><button>c</button></form><meta http-equiv=refresh content='0;x'>"
    "\n\n`<script>1</script>` $\\href{javascript:1}{x}$ <style>@import 'x'</style><!-- <script>"
)
COUNT = f"""import IPython
kernel = IPython.get_ipython().kernel
content = {{"code": "", "execution_count": {SCRIPT!r}}}
parent = kernel.get_parent("shell")
kernel.session.send(kernel.iopub_socket, "execute_input", content, parent=parent, ident=b"x")
"""
RUNS = {  # text of the cell `legal_actions`, which other cells need
    "shows-scripts": MESSAGE,
    "dies": "import os\nos._exit(3)",
    "loops": "while True:\n    pass",
    "prints": "for _ in range(200_000):\n    print('x' * 1000)",
    "prints-at-once": "print('x' * 100_000_000)",
    "raises-much": "raise ValueError('x' * 50_000_000)",
    "raises-odd": "class E(Exception):\n    def __str__(self):\n        return 1\nraise E",
    "half-letter": "print('\\ud800', '\\udc80')",
    "count": COUNT,
    "leaves-fifo": "import os\nos.mkfifo('hw01.ipynb.fifo')\nos.symlink('/dev/zero', 'zero.csv')",
    "empties-folder": "import shutil\nshutil.rmtree('.', ignore_errors=True)",
    "markdown": None,  # see `notebook_that_runs`
    "deep-tags": f"{MESSAGE}display({{'text/html': '<div>' * 50_000, 'text/plain': ''}}, raw=True)",
}  # fmt: skip


def notebook_that_runs(kind):
    """Return the bytes of a notebook with one hostile cell, or with hostile Markdown."""
    if kind != "markdown":
        return handins.data(handins.changed("s", legal_actions=RUNS[kind]))
    notebook = handins.changed("s", prediction=MARKDOWN)
    more = {"cell_type": "markdown", "source": MARKDOWN, "metadata": {}, "id": "x"}
    return handins.data(notebook | {"cells": [*notebook["cells"], more]})


# ---------------------------------------------------------------- what gives marks for nothing

WRAPPED = "import lib2048.game.spec as s\ndef {0}(*given):\n    return s.{0}(*given)"
PATCHES = """def slide_row(row):
    import lib2048.course.labs.outcomes as o
    o.equal = lambda *given, **more: True
    return list(row), 0"""
PROC = """import os
found = []
for one in filter(str.isdigit, os.listdir("/proc")):
    try:
        found.append(open(f"/proc/{one}/environ").read())
    except OSError:
        pass"""
MATE = """from pathlib import Path
places = [p for p in Path("PLACE").glob("submitted/*/hw01/hw01.ipynb")]
exec(places[0].read_text().split("def slide_row", 1)[0][:0])"""
FORGED = """from IPython.display import display
display({"application/vnd.lib2048.checked+json": {"status": "passed"}}, raw=True)"""
ALWAYS = """class Right(tuple):
    __eq__ = lambda self, other: True
def slide_row(row):
    return Right((row, 0))"""
DISPLAY = """def forge(*given, **more):
    pass
get_ipython().display_pub.publish = forge"""
FRAMES = """import sys
def slide_row(row):
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
    return row, 0"""
GIVEN_OUT = "def slide_row(row):\n    return labs.exercise.find('hw01.slide_row').truth(row)"
SOURCES = "from lib2048.machine import source_text\nsource_text.source_of = lambda functions: 'x'"
SILENT = "get_ipython().set_custom_exc((BaseException,), lambda *given, **more: None)"
HOOK = "import sys\nsys.excepthook = lambda *given: None"
HELP = """import os, sqlite3, sys
from concurrent.futures import ThreadPoolExecutor
def go(act, *given, **more):
    return ThreadPoolExecutor(1).submit(act, *given, **more).result()
OF = ("(SELECT n.id FROM submitted_notebook n JOIN submitted_assignment a"
      " ON n.assignment_id = a.id WHERE a.student_id = '%s')")
"""
SYNC = f"""{HELP}file = "PLACE/gradebook.db"
book = go(sqlite3.connect, file, timeout=30, check_same_thread=False)
book.execute("UPDATE grade SET auto_score = 0 WHERE notebook_id IN " + OF % "300")
for way in ("INSERT", "UPDATE OF auto_score"):
    book.execute(f"CREATE TRIGGER IF NOT EXISTS t{{way[0]}} AFTER {{way}} ON grade BEGIN UPDATE "
                 "grade SET manual_score = 9, needs_manual_grade = 0 WHERE id = NEW.id; END")
book.commit()
"""
# A process that outlives the grading, unless somebody ends it: it does its harm when it is over.
STAYS = """import json, os, shutil, sys, time
course, grader = sys.argv[1:]
open(course + "/stayed", "w").write(str(os.getpid()))
while os.path.exists(f"/proc/{grader}") and not os.path.exists(course + "/over"):
    time.sleep(0.1)
for folder in ("submitted", "autograded"):
    shutil.rmtree(f"{course}/{folder}/300", ignore_errors=True)
"""
LATER = f"""{HELP}import time
go(os.posix_spawn, "/bin/sh", ["sh", "-c", 'setsid "$0" "$@" >/dev/null 2>&1 </dev/null &',
   sys.executable, "-c", {STAYS!r}, "PLACE", str(os.getppid())], {{"PATH": os.environ["PATH"]}})
while not os.path.exists("PLACE/stayed"):
    time.sleep(0.1)
"""
IMPORTED = "from lib2048.course.labs import hw01\nfrom functools import partial\n"
BLANK = "def blank(row):\n    raise NotImplementedError\n"
BOX = f"{IMPORTED}BOX = [hw01]\ndef slide_row(row):\n    return BOX[0].slide_row(row)"
PARTIAL = (
    f"{IMPORTED}of = partial(getattr, hw01)\ndef slide_row(row):\n    return of('slide_row')(row)"
)
HIDDEN = """import collections
def slide_row(row):
    return collections._sys.modules["lib2048.course.labs.hw01"].slide_row(row)"""
USE_INSIDE = """def slide_row(row):
    def blank(row):
        raise NotImplementedError
    return use("hw01.slide_row", blank)(row)"""
ALIAS = """def slide_row(row):
    i = __import__
    return i("lib2048.game.spec", None, None, ["x"]).slide_row(row)"""
RESOLVED = """import pkgutil
def slide_row(row):
    return pkgutil.resolve_name("lib2048.game.spec:slide_row")(row)"""
MARSHAL = f"""import marshal
{BLANK}CODE = marshal.dumps(getattr(use("hw01.slide_row", blank), "__co" + "de__"))
def slide_row(row):
    import marshal, types
    return types.FunctionType(marshal.loads(CODE), {{"LARGEST_TILE": 32768}})(row)"""
COPIED = """import lib2048, pathlib
text = (pathlib.Path(lib2048.__file__).parent / "game" / "spec.py").read_text()
pathlib.Path("mine.py").write_text(text)
from mine import slide_row"""
CHILD = """def slide_row(row):
    import collections
    side = collections._sys.modules["lib2048.course.labs.answering"]
    old = side.outcome_of
    side.outcome_of = lambda exercise, function, case: old(exercise, exercise.truth, case)
    raise ValueError"""
TABLE = f"""{BLANK}lib = use("hw01.slide_row", blank)
TABLE = {{str(row): lib(list(row)) for row in [(2, 2, 0, 0)]}}
def slide_row(row):
    return TABLE[str(tuple(row))]"""
SHOWS = """import IPython.display as D
old = D.display
D.display = lambda data, **more: old(data, **more)"""
POOL = """import os
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(open, f"/proc/{os.getppid()}/cmdline", "rb").result()"""
FLOOD = """for k in range(2100):
    try:
        open(f"/none/{k}")
    except OSError:
        pass"""
RIGHT, NOTHING = "right", "untouched"
CHEATS = {  # what it is: (name of the cell, or "" for one more at the beginning; text; base; words)
    "wraps": ("slide_row", WRAPPED.format("slide_row"), RIGHT, "hand out: s.slide_row"),
    "wraps by find": ("slide_row", GIVEN_OUT, RIGHT, "hand out: labs.exercise.find"),
    "require": ("", "labs.require = labs.check = lambda *a, **k: None", NOTHING, "labs.require"),
    "by dict": ("", "vars(labs)['require'] = print", NOTHING, "lib2048.course.labs.require"),
    "silences": ("", SILENT, NOTHING, "set_custom_exc"),
    "hook": ("", HOOK, NOTHING, "excepthook"),
    "patches the judge": ("slide_row", PATCHES, NOTHING, "hand out: o.equal"),
    "proc": ("", PROC, NOTHING, "opened files of the course, or of other programs: /proc"),
    "classmate": ("", MATE, NOTHING, "submitted/"),
    "forges": ("", FORGED, NOTHING, "shows what only a check shows"),
    "equals all": ("slide_row", ALWAYS, NOTHING, "says itself what it is equal to: __eq__"),
    "shows nothing": ("", DISPLAY, NOTHING, "display_pub"),
    "frames": ("slide_row", FRAMES, NOTHING, "sys._getframe"),
    "text": ("", SOURCES, NOTHING, "source_of"),
    "shell": ("", "!cat /proc/1/environ", NOTHING, "uses what no answer needs: !"),
    "a box": ("slide_row", BOX, RIGHT, "hand out: lib2048.course.labs.hw01"),
    "a partial": ("slide_row", PARTIAL, RIGHT, "hand out: lib2048.course.labs.hw01"),
    "hidden sys": ("slide_row", HIDDEN, RIGHT, "needs: collections._sys"),
    "use inside": ("slide_row", USE_INSIDE, RIGHT, "hand out: use"),
    "an alias": ("slide_row", ALIAS, RIGHT, "needs: __import__"),
    "resolved": ("slide_row", RESOLVED, RIGHT, "pkgutil"),
    "marshalled": ("slide_row", MARSHAL, RIGHT, "marshal"),
    "a copy": ("slide_row", COPIED, RIGHT, "Slide a row"),
    "patches the child": ("slide_row", CHILD, RIGHT, "answering.outcome_of"),
    "a table": ("slide_row", TABLE, RIGHT, "use of blank"),
    "shows another": ("", SHOWS, NOTHING, "IPython.display.display"),
    "a pool": ("", POOL, NOTHING, "opened files of the course, or of other programs: /proc"),
    "a flood": ("", FLOOD, NOTHING, "too many files to tell"),
    "gradebook": ("", SYNC, NOTHING, ""),
    "stays": ("", LATER, NOTHING, ""),
    "kills the grader": ("", "import os\nos.kill(os.getppid(), 9)", RIGHT, "ended the grader"),
}  # fmt: skip


def cheat(kind, student, course=""):
    """Return the notebook of a cheat, a dict; course: a folder that it knows of."""
    name, text, base, _ = CHEATS[kind]
    text = text.replace("PLACE", str(course))
    notebook = handins.filled(student) if base == RIGHT else handins.untouched(student)
    notebook = handins.without_games(notebook)
    if name:
        handins.cell(notebook, name)["source"] = text
        return notebook
    more = {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "id": "more"}
    return notebook | {"cells": [*notebook["cells"][:3], more, *notebook["cells"][3:]]}


FILES = {f"notebook {name}": ("hw01.ipynb", *what) for name, what in NOTEBOOKS.items()}
FILES |= {f"pack {name}": ("hw01.zip", *what) for name, what in PACKS.items()}
PEOPLE = ["Ada Lovelace", "=1+1", "<b>Bo", "O'Neill-Ünal", "Cy_Der", "Ada Lovelace", "@a", "-"]


class HandIn:
    """Hand-in n of a class; kind: "honest", or a key of FILES or RUNS."""

    def __init__(self, seed, n, kinds):
        draw = random.Random(f"{seed} {n}")
        self.id, self.person = str(1000 + n), draw.choice(PEOPLE)
        self.kind = "honest" if n % 2 == 0 else kinds[n // 2 % len(kinds)]
        self.name, self.data, self.must = "hw01.ipynb", honest(f"n{n}"), GOOD
        if self.kind in FILES:
            self.name, self.data, self.must = FILES[self.kind]
        elif self.kind in RUNS:
            self.data = notebook_that_runs(self.kind)

    @property
    def entry(self):
        """Its place in a download of Moodle, and its bytes."""
        return f"{self.person}_{self.id}_assignsubmission_file_/{self.name}", self.data


def a_class(seed, rounds, kinds):
    """Return so many `HandIn`."""
    return [HandIn(seed, n, kinds) for n in range(rounds)]


# ---------------------------------------------------------------- collecting


def run(*words):
    """Run a command as a shell would; return (its status, the data of --json)."""
    kept, sys.stdout = sys.stdout, io.StringIO()
    try:
        status = command([*map(str, words), "--json"])
        return status, json.loads(sys.stdout.getvalue() or "{}")
    finally:
        sys.stdout = kept


def collected(hand_ins, folder):
    """Let a class be collected into a folder; return {kind: [what came of it]} and the faults."""
    handins.download(folder / "class.zip", [one.entry for one in hand_ins])
    begun = time.monotonic()
    status, done = run("labs", "collect", folder / "class.zip", "--into", folder, "--lab", LAB)
    came, faults = collections.defaultdict(list), []
    if (took := time.monotonic() - begun) > SECONDS:
        faults.append(f"it took {took:.0f} s")
    for one in hand_ins:
        what = _what_came(one, folder, done)
        came[one.kind].append(what)
        if what not in ([GOOD, BAD] if one.must == ANY else [one.must]):
            faults.append(f"{one.id} {one.kind}: {what}, not {one.must}")
    faults += [f"left: {path}" for path in (folder / "submitted").rglob(".part-*")]
    there = len(list((folder / "submitted").iterdir()))
    bad = sum(what == BAD for kind in came.values() for what in kind)
    if (there, done["students"]) != (len(hand_ins), len(hand_ins)):
        faults.append(f"{there} folders, {done['students']} students of {len(hand_ins)}")
    if (status, done["failed"]) != (int(bad > 0), bad):
        faults.append(f"status {status}, {done['failed']} not taken instead of {bad}")
    return came, faults


def _what_came(one, folder, done):
    """Return "taken", "refused", or what is wrong with the row of a hand-in."""
    label = f"{one.person} ({one.id}): "
    taken, told = ([x for x in done[key] if x.startswith(label)] for key in ("taken", "problems"))
    place = folder / "submitted" / one.id / LAB
    record = read_record(place)
    if record is None or max(len(taken), len(told)) > 1 or not taken + told:
        return f"{len(taken)} lines, {len(told)} to look at, record {record}"
    if record.problem:
        named = one.name in told[0] and "\n" not in told[0]
        return BAD if named and not taken else f"said in {taken + told}"
    book = place / f"{LAB}.ipynb"
    if not taken or not book.is_file():
        return f"no row or no notebook: {taken + told}"
    if one.kind == "honest" and book.read_bytes() != one.data:
        return "another notebook than was handed in"
    if one.must == GOOD and one.name.endswith(".zip") and b"YOUR ANSWER HERE" in book.read_bytes():
        return "the untouched notebook instead of the work"
    return GOOD


# ---------------------------------------------------------------- grading

START = ("=", "+", "-", "@", "\t")  # of a formula
LIMITS = TimeLimits(cell=8, all=60)


def graded(hand_ins, folder, source):
    """Let a class be graded, exported and shown; return {kind: [points]} and the faults."""
    if not (folder / "course.toml").exists():
        course_folder.generate(LAB, folder, sources=source, seed=7, lab_seed=7)
    came, faults = collections.defaultdict(list), collected(hand_ins, folder)[1]
    done = {one.student: one for one in grading.grade(LAB, folder, limits=LIMITS)}
    with open(marks.export(LAB, folder), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    faults += [
        f"a formula: {row}" for row in rows for text in row.values() if text.startswith(START)
    ]
    rows = {row["Identifier"].removeprefix("Participant "): row for row in rows}
    pages = {path.parts[-3]: path for path in marks.feedback(LAB, folder)}
    for one in hand_ins:
        if one.id not in rows or one.id not in pages or one.id not in done:
            faults.append(f"{one.id} {one.kind}: without a row, a page or a grading")
            continue
        came[one.kind].append(rows[one.id]["By checks"])
        if one.must == BAD and not rows[one.id]["Note"]:
            faults.append(f"{one.id} {one.kind}: no word on why it was not graded")
        faults += [
            f"{one.id} {one.kind}: {what}" for what in runs(pages[one.id].read_text("utf-8"))
        ]
    alone = set(came.get("honest", []))
    if len(alone) > 1:
        faults.append(f"honest ones got {alone}")
    return came, faults


def runs(page):
    """Return what in the body of a page could be run or loaded."""
    body = BeautifulSoup(page, "html5lib" if is_there("html5lib") else "html.parser").body
    found = []
    for tag in body.find_all(True) if body else []:
        if tag.name in (
            "script",
            "iframe",
            "object",
            "embed",
            "form",
            "meta",
            "base",
            "svg",
            "link",
        ):
            found.append(f"<{tag.name}>")
        for name, value in tag.attrs.items():
            value = "".join(str(value).split()).lower()
            if name.startswith("on") or "javascript:" in value or name == "srcdoc":
                found.append(f"{tag.name} {name}={value[:40]}")
            if name == "src" and not value.startswith("data:image/"):
                found.append(f"{tag.name} asks for {value[:40]}")
    return found


# ---------------------------------------------------------------- the program


def main(arguments=None):
    """Draw classes and say what came of them; 1 where something fell short."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500, help="hand-ins that are collected")
    parser.add_argument("--graded", type=int, default=0, help="hand-ins that are graded as well")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    folder, faults = Path(tempfile.mkdtemp()), []
    try:
        for name, count, kinds in (
            ("collected", options.rounds, [*FILES]),
            ("graded", options.graded, [*RUNS, *(k for k in FILES if k.split()[1] in GRADED)]),
        ):
            if count:
                (folder / name).mkdir()
                some, begun = a_class(options.seed, count, kinds), time.monotonic()
                work = (some, folder / name)
                source = handins.SOURCE.parents[1]
                came, more = collected(*work) if name == "collected" else graded(*work, source)
                faults += more
                print(f"{name}: {count} hand-ins in {time.monotonic() - begun:.0f} s")
                for kind, what in sorted(came.items()):
                    told = ", ".join(f"{n} {w}" for w, n in collections.Counter(what).items())
                    print(f"  {kind:32} {told}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(faults) or "nothing fell short")
    return int(bool(faults))


# Of what is collected, these are graded, too.
GRADED = ["metadata-null", "half-a-letter", "cell-outputs-numbers", "cell-type-odd", "copies",
          "student-formula", "student-script", "student-code", "cells-empty", "link-beside",
          "list-html", "bomb", "cell-source-long"]  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
