"""Run the lessons, and keep them in one normal form.

    python tools/lessons.py              run every lesson in place, then check it
    python tools/lessons.py 01 05        only these
    python tools/lessons.py --check      check the stored lessons without running them

A lesson is run from top to bottom in a fresh kernel, in its own folder and at its full budgets. It
is stored only if every cell ran and the file stays small. Its normal form holds what a reader sees
and nothing that changes by itself: fixed cell ids, no execution times, no widget state, no news.
A widget that trains is run to its end, for a still of what comes of it (LIB2048_STILLS).
"""

import argparse
import ast
import base64
import importlib
import io
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from PIL import Image, UnidentifiedImageError

from lib2048.course.labs.release import KERNEL
from lib2048.machine.terminal import NEWS

ROOT = Path(__file__).resolve().parents[1]
LESSONS = ROOT / "notebooks"

LARGEST_FILE = 300_000  # bytes: a page on the web still shows the notebook
LONGEST_CELL = 25  # lines that are not blank
FEWEST_WORDS, MOST_WORDS = 600, 2000
MOST_CELLS, MEDIAN_LINES = 45, 6
MOST_NAMES = 12  # of lib2048 that a lesson imports: the others are written lib2048.name
COMPILING = {"njit", "jit", "numba"}  # words that appendix A1 explains
CELL_SECONDS = 600  # a cell that takes longer hangs
KEPT = "LIB2048_COMPILED"  # of what the shell says: where compiled code lies

COMPARED = "nbval-check-output"
KNOWN_TAGS = {COMPARED, "parameters", "hide-input", "hide-output", "hide-cell"}
KEPT_METADATA = {"tags", "jupyter"}
ALLOWED_IMPORTS = {"lib2048", "numpy", "pandas", "matplotlib", "numba", "torch", "IPython", "cma"}
ALLOWED_IMPORTS |= sys.stdlib_module_names

QUESTION = re.compile(r"(?m)^(?:<details><summary><b>|\*\*)(\d+)\.(?:</b>|\*\*)")
FOLDED = re.compile(r"(?s)</summary>(.*?)</details>")  # what a reader has to unfold

IDLE = "no game is over yet"  # what a picture of a training says before it begins
WIDGET = "application/vnd.jupyter.widget-view+json"


# ---- the normal form -----------------------------------------------------------------------------


def normalise(notebook: NotebookNode, stem: str) -> NotebookNode:
    """Return the notebook of this file stem in normal form; normalising twice changes nothing."""
    return of_cells(normal_cell(cell, cell_id(stem, n)) for n, cell in enumerate(notebook.cells))


def of_cells(cells: Iterable[NotebookNode]) -> NotebookNode:
    """Return a notebook of these cells, for our kernel."""
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return nbformat.v4.new_notebook(cells=[*cells], metadata=metadata, nbformat=4, nbformat_minor=5)


def cell_id(stem: str, n: int) -> str:
    """Return the id of a lesson's n-th cell."""
    return f"{re.sub('[^A-Za-z0-9_-]', '-', stem)[:56]}-{n:03d}"


def normal_cell(cell: NotebookNode, name: str) -> NotebookNode:
    """Return a copy of the cell with this id, the metadata we keep and the outputs that last."""
    cell = NotebookNode(cell, id=name)
    cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k in KEPT_METADATA})
    if cell.cell_type == "code":
        cell.outputs = [normal_output(output) for output in cell.outputs if lasts(output)]
    return cell


def lasts(output: NotebookNode) -> bool:
    """Say whether an output is worth storing: no news (progress), no widget without a picture."""
    data = output.get("data", {})
    dead = WIDGET in data and data.keys() <= {WIDGET, "text/plain"}
    empty = bool(data) and not any(map(str.strip, map(str, data.values())))
    news = empty or f'class="{NEWS}"' in str(data.get("text/html", ""))
    return output.get("name") != "stderr" and not dead and not news


def normal_output(output: NotebookNode) -> NotebookNode:
    """Return an output without its widget (dead on a page), its pictures small."""
    if "data" not in output:
        return output
    data = {kind: value for kind, value in output.data.items() if kind != WIDGET}
    if "image/png" in data:
        data["image/png"] = small_png(data["image/png"])
    return NotebookNode(output, data=NotebookNode(data))


def small_png(text: str) -> str:
    """Return a picture (base64) in at most 256 colours, a third of its size; once is enough."""
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(text)))
    except UnidentifiedImageError:
        return text  # the checks of the stored lesson will speak of it
    if picture.mode == "P":
        return text
    file = io.BytesIO()
    few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode() + "\n"


def to_text(notebook: NotebookNode) -> str:
    """Return the text of a notebook's file."""
    return nbformat.writes(notebook) + "\n"


# ---- running -------------------------------------------------------------------------------------


def run(path: Path) -> NotebookNode:
    """Run a lesson and return it in normal form; raise CellExecutionError at the first bad cell."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name=KERNEL["name"],
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": path.parent}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    with tempfile.TemporaryDirectory() as nobody:  # who has predicted nothing
        env = {k: v for k, v in os.environ.items() if k == KEPT or not k.startswith("LIB2048_")}
        client.execute(env=env | {"LIB2048_MY": nobody, "LIB2048_STILLS": "1"})
    refuse_warnings(notebook)
    return normalise(notebook, path.stem)


def refuse_warnings(notebook: NotebookNode) -> None:
    """Raise ValueError if a cell warned: the normal form would drop it, and nobody would know."""
    for n, cell in code_cells(notebook):
        for output in cell.outputs:
            if output.get("name") == "stderr" and re.search(r"Warning\b", output.text):
                raise ValueError(f"cell {n} warns: {output.text.strip()}")


def rerun(path: Path) -> None:
    """Run a lesson and store it; raise ValueError, leaving the file alone, if it grew too large."""
    start = time.monotonic()
    text = to_text(run(path))
    size = len(text.encode())
    if size > LARGEST_FILE:
        raise ValueError(f"{size} bytes are more than {LARGEST_FILE}; not stored")
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path.name}  {time.monotonic() - start:.0f} s  {size / 1000:.0f} KB")


# ---- what every stored lesson keeps to -----------------------------------------------------------
# A check takes a lesson's path and its notebook and yields one line a complaint.


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    """Return the code cells, each with its position among all cells."""
    return [(n, cell) for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    """Return the tags of a cell."""
    return cell.metadata.get("tags", [])


def texts(output: NotebookNode) -> list[str]:
    """Return what an output shows as text, pictures in base64 left out."""
    data = {k: v for k, v in output.get("data", {}).items() if k not in ("image/png", "image/jpeg")}
    shown = (output.get("text", ""), *data.values())
    return [re.sub(r"base64,[A-Za-z0-9+/=]+", "", str(text)) for text in shown]


# A number in a table that is not set apart; tiles are names.
TABLED = re.compile(
    r"<td>(?!16384|32768|65536)(-?\d{5,}|-?\d{4,}\.\d+|[^<]*\d,\d{3}(?!\d)[^<]*)</td>"
)


def in_normal_form(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The file is what `normalise` makes of it."""
    if path.read_text(encoding="utf-8") != to_text(normalise(notebook, path.stem)):
        yield "not in normal form: make notebooks"


def small(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The file is small enough for a page on the web."""
    if path.stat().st_size > LARGEST_FILE:
        yield f"{path.stat().st_size} bytes, more than {LARGEST_FILE}"


def one_parameters_cell(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """One cell holds every budget, so that papermill can change them."""
    count = sum("parameters" in tags(cell) for _, cell in code_cells(notebook))
    if count != 1:
        yield f"{count} cells are tagged parameters, not one"


def tags_known(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Every tag has a meaning here: a mistyped one would switch its check off unseen."""
    for n, cell in enumerate(notebook.cells):
        for tag in set(tags(cell)) - KNOWN_TAGS:
            yield f"cell {n}: tag {tag!r} is not one of {', '.join(sorted(KNOWN_TAGS))}"


def compared_cells_show_text(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A compared cell has stored output, and no picture: nbval passes in silence without one."""
    for n, cell in code_cells(notebook):
        if COMPARED not in tags(cell):
            continue
        if not any(text.strip() for output in cell.outputs for text in texts(output)):
            yield f"cell {n}: its output is to be compared, and none is stored"
        if any(is_picture(output) for output in cell.outputs):
            yield f"cell {n}: its output is to be compared, and holds a picture"


def is_picture(output: NotebookNode) -> bool:
    """Say whether an output holds an image or SVG."""
    kinds = output.get("data", {})
    return any(k.startswith("image/") for k in kinds) or any("<svg" in t for t in texts(output))


def pictures_in_words(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Every picture has its words, for those who cannot see it."""
    for n, cell in code_cells(notebook):
        for output in filter(is_picture, cell.outputs):
            told = output.get("metadata", {}).get("image/png", {}).get("alt")
            if "image/png" in output.get("data", {}) and not told:
                yield f"cell {n}: its picture says nothing to those who cannot see it (no alt text)"


def stills_have_run(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The picture of a training shows what came of it."""
    for n, cell in code_cells(notebook):
        for output in cell.outputs:
            if IDLE in "".join(texts(output)):
                yield f"cell {n}: the picture of its training is of one that has not begun"


def numbers_apart(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Tables have numbers as people read them, 264 030 and not 264,030 or 264030.0."""
    for n, cell in code_cells(notebook):
        for output in cell.outputs:
            for number in TABLED.findall(output.get("data", {}).get("text/html", "")):
                yield f"cell {n}: a table shows {number}: words.written has another style"


def run_in_order(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """Every code cell ran once, from top to bottom, and none is empty."""
    counts = [cell.execution_count for _, cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}: run it in one go from top to bottom"


def no_errors(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """No stored output is an error."""
    for n, cell in code_cells(notebook):
        if any(output.output_type == "error" for output in cell.outputs):
            yield f"cell {n}: its stored output is an error"


def short_cells(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A code cell fits on half a screen, and most are a few lines."""
    lines = {n: code_lines(cell) for n, cell in code_cells(notebook)}
    for n, count in lines.items():
        if count > LONGEST_CELL:
            yield f"cell {n}: {count} lines of code, more than {LONGEST_CELL}"
    median = statistics.median(lines.values())
    if median > MEDIAN_LINES:
        yield f"the median code cell has {median} lines, more than {MEDIAN_LINES}"


def nothing_of_this_machine(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """No text names a folder of the machine it was run on, nor an address in its memory."""
    folders = "|".join(re.escape(f"{folder}/") for folder in (ROOT, Path.home()))
    absolute = r"(?<![\w.:/])/(home|root|tmp|Users|private|opt|mnt)/|\b[A-Z]:\\Users\\"
    for n, cell in enumerate(notebook.cells):
        for text in [cell.source, *(t for o in cell.get("outputs", []) for t in texts(o))]:
            if found := re.search(f"{folders}|{absolute}|\\bat 0x[0-9a-f]{{6,}}", text):
                yield f"cell {n}: names a place of this machine: {found[0]}"


def right_length(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson says enough, and not too much."""
    words = sum(count_words(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        yield f"{words} words of prose, not {FEWEST_WORDS} to {MOST_WORDS}"


def few_cells(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson is a short walk."""
    if len(notebook.cells) > MOST_CELLS:
        yield f"{len(notebook.cells)} cells, more than {MOST_CELLS}"


def code_lines(cell: NotebookNode) -> int:
    """Count the lines of a cell that are not blank."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def count_words(markdown: str) -> int:
    """Count the words of the prose: no code blocks, equations, tags or addresses of links."""
    for left_out in (r"```.*?```", r"\$\$.*?\$\$", r"</?\w[^>]*>", r"\]\([^)]*\)"):
        markdown = re.sub(left_out, " ", markdown, flags=re.DOTALL)
    return len(re.findall(r"[^\W\d_][\w'’-]*", markdown))


def exported_names_only(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson uses lib2048 by its exported names, and few other libraries."""
    for n, cell in code_cells(notebook):
        tree = parsed(cell)
        for module, name in [*imports(tree), *attributes(tree)]:
            if module.split(".")[0] not in ALLOWED_IMPORTS:
                yield f"cell {n}: imports {module}, which the lessons do not use"
            elif module.split(".")[0] == "lib2048" and not exported(module, name):
                yield f"cell {n}: {module}{name and '.' + name} is not an exported name of lib2048"


def parsed(cell: NotebookNode) -> ast.AST:
    """Return the tree of a code cell, magics and all."""
    return ast.parse(TransformerManager().transform_cell(cell.source))


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of every import, name "" for a plain one."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((module or ".", alias.name) for alias in names)


def attributes(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of every name that is reached as lib2048.a or course.b."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="lib2048"), attr=name):
                yield "lib2048", name
            case ast.Attribute(value=ast.Name(id="course" | "draw" | "plot" as room), attr=name):
                yield f"lib2048.{room}", name


def few_names(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson imports few names of lib2048."""
    found = {pair for _, cell in code_cells(notebook) for pair in imports(parsed(cell))}
    names = {name or module for module, name in found if module.split(".")[0] == "lib2048"}
    if len(names) > MOST_NAMES:
        yield f"imports {len(names)} names of lib2048, more than {MOST_NAMES}"


def exported(module: str, name: str) -> bool:
    """Say whether lib2048 exports this module, and this module this name."""
    package, *inner = module.split(".")
    owner = importlib.import_module(package)
    for part in inner:
        if part not in getattr(owner, "__all__", dir(owner)):
            return False
        owner = getattr(owner, part)
    public = getattr(owner, "__all__", [n for n in vars(owner) if not n.startswith("_")])
    return name in ("", *public)


def opens_from_anywhere(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """No code names a place by the way from the lesson's folder: `lib2048.data` knows the way."""
    for n, cell in code_cells(notebook):
        tree = parsed(cell)
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        for text in strings:
            if isinstance(text, str) and re.search(r"(?<![.\w])\.\.([/\\]|$)", text):
                yield f"cell {n}: opens {text!r} by a relative path, not by lib2048.data"


def nothing_from_the_appendix(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A numbered lesson needs nothing of A1: it does without numba, or says what it does."""
    if not path.name[0].isdigit():
        return
    for n, cell in code_cells(notebook):
        names = {node.id for node in ast.walk(parsed(cell)) if isinstance(node, ast.Name)}
        used = names & COMPILING
        said = " ".join(c.source for c in notebook.cells[:n] if c.cell_type == "markdown")
        if used and not re.search(r"njit` compiles", said):
            yield f"cell {n}: uses {used.pop()}, which only A1 explains"


def predictions_wait(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson numbers what it asks for, NN.1, NN.2 …, and has predicted nothing itself."""
    asked = [said for _, cell in code_cells(notebook) for said in predictions(parsed(cell))]
    wanted = [[f"{path.name[:2]}.{k + 1}", None] for k in range(len(asked))]
    if asked != wanted:
        yield f"its calls course.predict(…) hold {asked}, not {wanted}, in this order"


def predictions(tree: ast.AST) -> list[list]:
    """Return the arguments of every call of `predict`, "?" for what is no plain value."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func) == "course.predict"]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return [[getattr(argument, "value", "?") for argument in call.args] for call in calls]


def leads_on(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """The last cell has a link to the next lesson, and every link to a lesson finds one."""
    for n, cell in enumerate(notebook.cells):
        for target in re.findall(r"\]\(([^)#:]+\.ipynb)\)", cell.source):
            if not (LESSONS / target).exists():
                yield f"cell {n}: links to {target}, which is not there"
    following = [p.name for p in lessons() if path.name < p.name and p.name[0].isdigit()]
    for name in following[:1] if path.name[0].isdigit() else ():
        if f"]({name})" not in notebook.cells[-1].source:
            yield f"its last cell has no link to {name}"


def five_questions(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """A lesson asks five questions, and the answer to each is folded away."""
    _, *parts = QUESTION.split(section(notebook, "Five questions"))
    numbers, said = parts[::2], parts[1::2]
    if numbers != ["1", "2", "3", "4", "5"]:
        yield f"its 'Five questions' are numbered {numbers}"
    for number, text in zip(numbers, said):
        if not any(map(str.strip, FOLDED.findall(text))):
            yield f"its question {number} has no answer folded away"


def tasks_have_answers(path: Path, notebook: NotebookNode) -> Iterator[str]:
    """What a lesson gives to do at its end has an answer, folded away."""
    text = section(notebook, "Do next") + section(notebook, "Go on")
    text = text.partition("**References")[0]
    folded = FOLDED.findall(text)
    tasks = re.findall(r"(?m)^(?:\d+\. |- \*\*Do)", FOLDED.sub("", text))
    answers = max(len(folded), len(re.findall(r"(?m)^\d+\. ", "\n".join(folded))))
    if max(len(tasks), bool(text)) > answers:
        yield f"{max(len(tasks), 1)} tasks at its end, and {answers} answers folded away"


def section(notebook: NotebookNode, title: str) -> str:
    """Return the prose under a heading of the second level, "" without such a one."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    found = re.search(rf"(?ms)^## {title}$(.*?)(?=^## |\Z)", prose)
    return found[1] if found else ""


def minutes(notebook: NotebookNode) -> int | None:
    """Return the minutes that a lesson's title cell promises, None where it does not."""
    found = re.search(r"\*\*Time:?\*\*:? (\d+) minutes", notebook.cells[0].source)
    return int(found[1]) if found else None


CHECKS = (
    in_normal_form,
    small,
    one_parameters_cell,
    tags_known,
    compared_cells_show_text,
    pictures_in_words,
    stills_have_run,
    numbers_apart,
    run_in_order,
    no_errors,
    short_cells,
    nothing_of_this_machine,
    right_length,
    exported_names_only,
    few_names,
    opens_from_anywhere,
    few_cells,
    nothing_from_the_appendix,
    predictions_wait,
    leads_on,
    five_questions,
    tasks_have_answers,
)


def complaints(path: Path) -> list[str]:
    """Return all that is wrong with a stored lesson, one line each."""
    notebook = nbformat.read(path, as_version=4)
    return [line for check in CHECKS for line in check(path, notebook)]


# ---- the command ---------------------------------------------------------------------------------

FAILURES = (CellExecutionError, CellTimeoutError, DeadKernelError, ValueError)


def lessons(names: list[str] = ()) -> list[Path]:
    """Return the lessons whose file name begins so, or all; raise ValueError if there is none."""
    found = sorted(LESSONS.glob("*.ipynb"))
    starts = [Path(name).name for name in names]
    for start in starts:
        if not any(path.name.startswith(start) for path in found):
            raise ValueError(f"no lesson in notebooks/ begins with {start!r}")
    return [path for path in found if not starts or path.name.startswith(tuple(starts))]


def do(path: Path, only_check: bool) -> bool:
    """Run and check one lesson, say what is wrong with it, and return whether all is well."""
    try:
        if not only_check:
            rerun(path)
        wrong = complaints(path)
    except FAILURES as error:
        wrong = [str(error)]
    for line in wrong:
        print(f"{path.name}: {line}", file=sys.stderr)
    return not wrong


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0 all well, 1 not, 2 no such lesson."""
    parser = argparse.ArgumentParser(description="Run the lessons in place, and check them.")
    parser.add_argument("name", nargs="*", help="how a lesson's file name begins: 05")
    parser.add_argument("--check", action="store_true", help="check without running")
    options = parser.parse_args(arguments)
    try:
        chosen = lessons(options.name)
    except ValueError as error:
        parser.error(str(error))
    bad = [path for path in chosen if not do(path, options.check)]
    print(f"{len(chosen)} lessons, {len(bad)} with complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
