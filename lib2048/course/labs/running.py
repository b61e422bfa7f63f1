"""A hand-in run from top to bottom, with limits: no cell, and no hand-in, holds up the others.

The cells run in a Jupyter kernel with the rights of whoever grades; docs/grading.md says how to
take those away.
"""

import asyncio
import atexit
import contextlib
import math
import subprocess
import time
from dataclasses import dataclass, field, replace

import psutil
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output

from lib2048.course.labs.inside import HANDED
from lib2048.course.labs.messages import say
from lib2048.course.labs.notebook import AS_HANDED_IN, called
from lib2048.machine.child import end_descendants

CELL_SECONDS = 20  # no cell takes longer, unless its lab says so
ALL_SECONDS = 60  # nor do all cells together, beyond what single cells are granted
MOST_BUSY = 5  # times longer, on a machine that is busy with other things
BACK_SECONDS = 5  # for a kernel whose cell was stopped
START_SECONDS = 120  # for a kernel, on a machine where many start
MOST_OUTPUT = 500_000  # characters that one hand-in may show
MOST_OUTPUTS = 2_000
MOST_ERROR = 1_000  # of an error behind that
NOT_RUN = "NotRun"


class _Client(NotebookClient):
    """A notebook's client that keeps the first so many characters of what is shown.

    asking: whether the running cell is the grader's, of which only what it hands over is kept.
    """

    shown = pieces = 0
    asking, end, listening = False, math.inf, None  # end: when all shall be over

    def process_message(self, msg, cell, cell_index):
        kind, content = msg["msg_type"], msg["content"]
        if self.asking:
            if kind in ("stream", "error", "execute_result", "update_display_data", "clear_output"):
                return None
            if kind == "display_data" and HANDED not in content["data"]:
                return None
        elif kind not in ("status", "execute_input"):
            self.shown += len(str(content))
            self.pieces += 1
            if self.shown > MOST_OUTPUT or self.pieces > MOST_OUTPUTS:
                if kind != "error":
                    return None
                name, text = (str(content.get(key))[:MOST_ERROR] for key in ("ename", "evalue"))
                msg = msg | {"content": dict(_error(name, text))}
        return super().process_message(msg, cell, cell_index)

    async def ask(self, text):
        """Run lines of the grader's, of which no history is kept; return what they hand over."""
        self.asking, cell, first = True, new_code_cell(text), self.nb.cells[0]
        try:
            await self.async_execute_cell(cell, 0, store_history=False)
        finally:
            self.asking, self.nb.cells[0] = False, first  # where nbclient has put ours
        found = [out["data"][HANDED] for out in cell.outputs if HANDED in out.get("data", {})]
        return found[0] if len(found) == 1 and isinstance(found[0], dict) else None

    async def _async_poll_output_msg(self, *given):
        self.listening = asyncio.current_task()
        return await super()._async_poll_output_msg(*given)

    async def comes_back(self):
        """Stop the running cell, and say whether the kernel then does something else."""
        self.end = max(self.end, time.monotonic() + BACK_SECONDS)
        self.listening.cancel()  # nbclient lets it go on, and it takes what later cells show
        try:
            await self.km.interrupt_kernel()
            await asyncio.wait_for(self.ask("pass"), BACK_SECONDS)
        except (CellTimeoutError, DeadKernelError, TimeoutError):
            return False
        return True

    def cut(self):
        """Return a note where more was shown than is kept."""
        most = self.shown > MOST_OUTPUT or self.pieces > MOST_OUTPUTS
        return [say("grading.cut")] if most else []


@dataclass
class TimeLimits:
    """How long cells may take, in seconds; the kernel's start is not counted.

    granted: {name of a graded cell: seconds}; patience: by which all are multiplied, for a machine
    that is slow or busy.
    """

    cell: float = CELL_SECONDS
    all: float = ALL_SECONDS
    granted: dict = field(default_factory=dict)
    patience: float = 1

    def of(self, cell):
        """Return the seconds of one cell."""
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        return max(self.granted.get(name, 0), self.cell) * self.patience

    def when_busy(self):
        """Return these limits for how busy the machine is now: with two tasks a core, twice."""
        load = psutil.getloadavg()[0] / (psutil.cpu_count() or 1)
        return replace(self, patience=self.patience * min(max(1, load), MOST_BUSY))

    @property
    def total(self):
        """The seconds of all cells together."""
        more = sum(max(0, granted - self.cell) for granted in self.granted.values())
        return (self.all + more) * self.patience


async def run(notebook, folder, environment, limits, first, asks, again, last):
    """Run a notebook's cells in place, each after an error of another, and stop what is too long.

    Behind a cell that was stopped the next ones run; behind the last second of the notebook, only
    the grader's lines do, so that a function which was defined by then has its marks.

    folder: where its kernel works; environment: of the kernel; limits: `TimeLimits`.  Of its own
    the grader runs lines that the notebook never sees: first; for each test cell, in its stead,
    asks[name]; that once more at the end, where again(what was handed over); last.  Returns
    (notes, one for what ended it early; {name: what was handed over, None for nothing}; what the
    last lines handed over).  Cells that did not run hold an error that says so.
    """
    client = _Client(
        notebook,
        kernel_name="python3",
        allow_errors=True,
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        shutdown_kernel="immediate",
        startup_timeout=START_SECONDS,
        raise_on_iopub_timeout=False,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=CRITICAL", "--HistoryManager.hist_file=:memory:"],
        timeout_func=lambda cell: max(
            1, math.ceil(min(limits.of(cell), client.end - time.monotonic()))
        ),
    )
    handed = {}
    cells = [
        n
        for n, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and AS_HANDED_IN not in cell.metadata.get("tags", [])
    ]
    async with _kernel(client, environment):
        await client.ask(first)
        client.end = end = time.monotonic() + limits.total
        at, over, notes = 0, False, []
        try:
            for at, n in enumerate(cells):
                name = notebook.cells[n].metadata.get("nbgrader", {}).get("grade_id")
                if over and name not in asks:
                    not_run([notebook.cells[n]])
                    continue
                try:
                    if name in asks:
                        handed[name] = await client.ask(asks[name])
                    else:
                        await client.async_execute_cell(notebook.cells[n], n)
                except CellTimeoutError as error:
                    over |= time.monotonic() > end - 0.5
                    notes.append(_ended(notebook.cells[n], error, limits, over))
                    if not await client.comes_back():
                        not_run([notebook.cells[m] for m in cells[at + 1 :]])
                        return [*notes, say("grading.stuck")], handed, None
            for name in [name for name in handed if again(name, handed[name])]:
                later = await client.ask(asks[name])
                handed[name] = handed[name] if again(name, later) else later
            return notes + client.cut(), handed, await client.ask(last)
        except (CellTimeoutError, DeadKernelError) as error:
            note = _ended(notebook.cells[cells[at]], error, limits, over)
            not_run([notebook.cells[m] for m in cells[at + 1 :]])
            return [*notes, note], handed, None


@contextlib.asynccontextmanager
async def _kernel(client, environment):
    """Start a kernel, and end it with all the processes that it started."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # of the process itself
    async with client.async_setup_kernel(env=environment, **silent):
        try:
            yield
        finally:
            atexit.unregister(client._cleanup_kernel)  # which has nothing left to do then
            if kernel := getattr(client.km.provisioner, "pid", None):
                end_descendants(kernel)


def _ended(cell, error, limits, over):
    """Write into a cell why it was ended, and return a note; over: the time of all cells is."""
    if isinstance(error, DeadKernelError):
        key, words = "grading.died", {}
    elif over:
        key, words = "grading.too_long", {"seconds": round(limits.total)}
    else:
        key, words = "grading.cell_too_long", {"seconds": round(limits.of(cell))}
    note = say(key, where=called(cell.source), **words)
    cell.outputs.append(_error(type(error).__name__, note))
    return note


def not_run(cells, why="not_run"):
    """Write into code cells that they did not run, which leaves graded ones without marks."""
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs = [_error(NOT_RUN, say(f"grading.{why}"))]


def _error(name, text):
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
