"""What a class needs: python benchmarks/classroom.py 01 06 15 --students 30

Runs lessons from top to bottom, at their full budgets, each in so many kernels at once, as students
do who press "Run all" at the same moment.  Prints, for each lesson, the memory of one kernel at its
highest, that of all together, and processor seconds.  Memory is PSS: what several processes share,
such as libraries, counts once.  Linux only.
"""

import argparse
import asyncio
import time
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
EVERY = 0.5  # seconds between two looks


class Watcher:
    """Looks at kernels while they run.

    peak: of one kernel, together: of all, both in bytes; cores: {process id: processor seconds}.
    """

    def __init__(self):
        self.peak = self.together = 0
        self.cores = {}

    async def watch(self, clients):
        """Look again and again, until this is cancelled."""
        while True:
            sizes = await asyncio.to_thread(lambda: [self._size(client) for client in clients])
            self.peak = max(self.peak, *sizes)
            self.together = max(self.together, sum(sizes))
            await asyncio.sleep(EVERY)

    def _size(self, client):
        """Return the bytes of a kernel and of the processes that it started."""
        provisioner = client.km and client.km.provisioner
        if not provisioner or not provisioner.pid:
            return 0
        return sum(map(self._look, _family(provisioner.pid)))

    def _look(self, process):
        try:
            times = process.cpu_times()
            self.cores[process.pid] = times.user + times.system
            return process.memory_full_info().pss
        except psutil.Error:  # it has just ended
            return 0


def _family(pid):
    try:
        kernel = psutil.Process(pid)
        return [kernel, *kernel.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def student(path):
    """Return a client that runs a lesson in a kernel of its own, whatever its cells raise."""
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(LESSONS)}}
    return NotebookClient(notebook, timeout=None, allow_errors=True, resources=place)


def failed(client):
    """Return whether a cell raised an error."""
    outputs = [out for cell in client.nb.cells for out in cell.get("outputs", [])]
    return any(out.output_type == "error" for out in outputs)


async def lesson(path, students):
    """Run a lesson for so many students at once; return one line of the table."""
    clients, watcher = [student(path) for _ in range(students)], Watcher()
    looking = asyncio.create_task(watcher.watch(clients))
    before = time.perf_counter()
    await asyncio.gather(*(client.async_execute() for client in clients))
    seconds = time.perf_counter() - before
    looking.cancel()
    return (
        f"| {path.stem} | {students} | {watcher.peak / 2**30:.2f} | {watcher.together / 2**30:.2f} "
        f"| {sum(watcher.cores.values()) / students:.0f} | {seconds:.0f} "
        f"| {sum(map(failed, clients))} |"
    )


def main():
    """Run the lessons that are named, or all, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="01, 06, A2 …")
    parser.add_argument("--students", type=int, default=1)
    options = parser.parse_args()
    print("| lesson | kernels | GiB of one | GiB of all | CPU s each | seconds | with an error |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(LESSONS.glob("*.ipynb")):
        if not options.lessons or path.stem.split("_")[0] in options.lessons:
            print(asyncio.run(lesson(path, options.students)), flush=True)


if __name__ == "__main__":
    main()
