"""Carry out jobs on the workers of a Dask cluster: this machine's cores, or any others."""

import contextlib
import logging
import os
import socket
import threading
import time
import uuid
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lib2048.machine.extras import package
from lib2048.machine.files import named
from lib2048.machine.kernels import SOURCE_HASH
from lib2048.machine.lock import locked
from lib2048.machine.terminal import bar, say
from lib2048.sweep import memory_shares
from lib2048.sweep.job_process import Died, in_process, reason_of
from lib2048.sweep.lists import KINDS, check_names
from lib2048.sweep.training import TrainingJob
from lib2048.train.watching import Stopped, stop_asked

RETRIES = 10  # of a job whose process was killed: each goes on from its checkpoint
CONNECT_SECONDS = 5
LOOK_SECONDS = 0.2
KIND_OF = {job: kind for kind, job in KINDS.items()}

# ---------------------------------------------------------------- what came of it


class Outcome(NamedTuple):
    """What came of a job: 'skipped' (it was finished before), 'finished', 'stopped' or 'failed'."""

    label: str
    state: str
    why: str = ""
    done: dict | None = None

    def __str__(self):
        return f"{self.label}: {self.state}" + (f", {self.why}" if self.why else "")


@dataclass(frozen=True)
class Report:
    """What came of a sweep: an `Outcome` for each job, in the order of the list, and seconds."""

    outcomes: list
    seconds: float

    def count(self, state):
        """Return how many jobs ended in a state."""
        return sum(outcome.state == state for outcome in self.outcomes)

    def as_dict(self):
        """Return the numbers, by the contract of the command line."""
        counts = {state: self.count(state) for state in ("finished", "skipped", "failed")}
        return {"runs": len(self.outcomes), **counts, "seconds": self.seconds}

    def __str__(self):
        states = ("finished", "skipped", "stopped", "failed")
        words = ", ".join(f"{n} {state}" for state in states if (n := self.count(state)))
        return f"{len(self.outcomes)} runs: {words}; {self.seconds:,.1f} s"


# ---------------------------------------------------------------- a sweep


def run_sweep(runs, folder, client=None, workers=None, memory=None, stop=None, progress=True):
    """Carry out jobs, each in a folder of its own below `folder`; return the `Report`.

    What is finished is skipped, what was begun goes on.  All with the smallest seed go first.  A
    run that fails later stops no other: its outcome says why.

    Args:
        runs: what `read_list` returns, or [(name, `Settings` with a budget), …]; runs of one name
            and several seeds become NAME-seed1, NAME-seed2, ….
        client: a `distributed.Client` of the cluster that shall do it, which stays open; by default
            `workers` at a time on this machine, as many as it has cores for.
        memory: bytes that all runs of one machine may take together, by default what is free there;
            those that do not fit wait.
        stop: a `threading.Event` that ends all runs with checkpoints; so do Ctrl-C, the Stop button
            and a polite kill.

    Raises:
        ValueError: before anything is written or begun, for runs that make no sense, or for a
            folder that holds another run under such a name.
        MemoryError: before that, too, when one would never fit.
        Stopped: where it is stopped; its `run` is the report.
    """
    begin = time.perf_counter()
    jobs = [run if type(run) in KIND_OF else TrainingJob(*run) for run in runs]
    states = check_jobs(jobs, folder, memory)
    outcomes = [Outcome(job.label, "skipped") for job in jobs]
    todo = [n for n, state in enumerate(states) if state != "finished"]
    todo.sort(key=lambda n: jobs[n].seed or 0)
    stop = stop or threading.Event()
    with stop_asked(stop) as pressed:
        if todo:
            orders = [_order(jobs[n], folder, memory) for n in todo]
            with _connected(client, workers, jobs) as client:
                _check_workers(client, orders)
                with _marked(Path(orders[0]["folder"])) as mark:
                    _check_folder(client, mark)
                    found = _carry_out(orders, client, mark, stop, progress)
            for n, outcome in zip(todo, found, strict=True):
                outcomes[n] = outcome
    report = Report(outcomes, time.perf_counter() - begin)
    if pressed.is_set() and report.count("stopped"):
        raise Stopped(report, f"stopped: {report}")
    return report


def check_jobs(jobs, folder, memory=None):
    """Return the state of each job: 'missing', 'begun' or 'finished'; raise as `run_sweep` does."""
    check_names(jobs)
    if named(folder).exists() and not Path(folder).is_dir():
        raise ValueError(f"{folder}: is no folder")
    for job in jobs:
        if memory is not None and (need := job.needs(folder)) > memory:
            raise MemoryError(f"{job.label} {memory_shares.too_much(need, memory)}")
    return [job.state(folder) for job in jobs]


def _order(job, folder, memory):
    """Return a job as it travels: a dict that JSON can hold."""
    return {
        "kind": KIND_OF[type(job)], "job": job.told(), "label": job.label,
        "folder": str(Path(folder).absolute()), "here": os.getcwd(),
        "nbytes": job.needs(folder), "granted": memory, "threads": job.threads,
        "sources": SOURCE_HASH,
    }  # fmt: skip


@contextlib.contextmanager
def _marked(folder):
    """Yield the path of a file in a folder, by which a worker sees that it is this very folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(".sweep-*"):
        with contextlib.suppress(ValueError), locked(path, 0):  # of a sweep that was killed
            pass
    with locked(folder / f".sweep-{uuid.uuid4().hex}") as path:
        yield path


def _carry_out(orders, client, mark, stop, progress):
    """Return an `Outcome` of each order, in their order."""
    word = f"lib2048-stop-{uuid.uuid4().hex}"
    orders = [order | {"stop": word, "mark": str(mark)} for order in orders]
    futures = client.map(work, orders, key="lib2048", pure=False, retries=RETRIES)
    outcomes, retries = {}, dict.fromkeys(futures, RETRIES)
    labels = {future: order["label"] for future, order in zip(futures, orders, strict=True)}
    with bar(progress, total=len(futures), unit="run") as shown:
        while left := [future for future in futures if future not in outcomes]:
            over = [future for future in left if future.done()]
            for future in over:
                # Dask gives a job up when its workers die; a job never kills a worker.
                error = future.status == "error" and type(future.exception()).__name__
                if error == "KilledWorker" and retries[future]:
                    retries[future] -= 1
                    future.retry()
                else:
                    outcomes[future] = _outcome(labels[future], future, stop)
                    shown.update(1)
            if over:
                continue
            if stop.is_set():
                with contextlib.suppress(Exception):  # no scheduler, no workers: nothing to stop
                    _stop_all(client, word, left)
            time.sleep(LOOK_SECONDS)
    return [outcomes[future] for future in futures]


def _outcome(label, future, stop):  # fetched at once: an answer dies with its worker, too
    try:
        return Outcome(label, **future.result())
    except CancelledError:
        gone = "its scheduler is gone: the same sweep again goes on"
        return Outcome(label, "stopped") if stop.is_set() else Outcome(label, "failed", gone)
    except Exception as error:
        why = str(error) if isinstance(error, Died) else reason_of(error)
        return Outcome(label, "failed", why)


def _stop_all(client, word, futures):
    """Tell all who are at work to stop, and take back what is not begun."""
    from distributed import Event

    Event(word, client).set()  # all workers look at it, see `work`
    at_work = {key for keys in client.processing().values() for key in keys}
    waiting = [future for future in futures if future.status in ("pending", "lost")]
    client.cancel([future for future in waiting if future.key not in at_work])


# ---------------------------------------------------------------- the cluster


def check_dask():
    """Raise `extras.Missing`, in one line, where Dask is not installed."""
    package("dask"), package("distributed")


@contextlib.contextmanager
def connected(address):
    """Yield a client of the scheduler at an address.  Raises OSError, in one line, for none."""
    check_dask()
    from distributed import Client

    for name in ("distributed", "distributed.client"):  # what matters is said in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except Exception as error:
        reason = reason_of(error)
        raise OSError(f"scheduler {address}: no scheduler answers there ({reason})") from None
    with client:
        yield client


@contextlib.contextmanager
def _connected(client, workers, jobs):
    """Yield the client that is given, or one of a cluster on this machine that ends with it.

    Its workers are threads: they only wait for their runs, which are processes.  So it opens no
    port through which somebody else on this machine could give it work.
    """
    if client is not None:
        yield client
        return
    check_dask()
    import dask
    from dask.system import CPU_COUNT
    from distributed import Client, LocalCluster

    workers = workers or max(1, CPU_COUNT // max(job.threads for job in jobs))
    here = "127.0.0.1:0"  # what listens all the same, to questions how it goes
    how = {"n_workers": min(workers, len(jobs)), "threads_per_worker": 1, "processes": False}
    how |= {"dashboard_address": here, "worker_dashboard_address": here}
    how |= {"memory_limit": 0, "silence_logs": logging.CRITICAL}
    with dask.config.set(LOCAL), LocalCluster(**how) as cluster, Client(cluster) as own:
        yield own


LOCAL = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.worker-saturation": 1.0,  # no run waits behind another's worker
    "distributed.scheduler.worker-ttl": None,  # silent for long is a laptop that slept
    "distributed.worker.profile.enabled": False,  # these three took a twelfth of a core
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}


def _check_workers(client, orders):
    """Raise, in one line, when a worker could not do what it may be given."""
    largest = max(orders, key=lambda order: order["nbytes"])
    facts = client.run(_facts, largest["granted"], on_error="return")
    if not facts:
        say("no worker is there yet; waiting for one")
    for address, fact in sorted(facts.items()):
        if not isinstance(fact, dict):
            raise ValueError(f"worker {address}: {reason_of(fact)}: is lib2048 installed there?")
        if fact["sources"] != SOURCE_HASH:
            raise ValueError(f"worker {address} has another version of lib2048's sources")
        if largest["granted"] is None and largest["nbytes"] > fact["memory"]:
            lack = memory_shares.too_much(largest["nbytes"], fact["memory"])
            raise MemoryError(f"{largest['label']} {lack} on {fact['host']}")
        if largest["nbytes"] > fact["left"]:
            lack = memory_shares.too_much(largest["nbytes"], fact["left"])
            say(f"{largest['label']} {lack} on {fact['host']}: it waits for other runs to end")


def _check_folder(client, mark):
    """Raise, in one line, where a worker that is there has another folder of that name."""
    for why in filter(None, client.run(_not_shared, str(mark)).values()):
        raise OSError(why)


def _not_shared(mark):
    """Say that a folder is not there, or not the one that the sweep has; None where it is."""
    if Path(mark).exists():
        return None
    return f"{Path(mark).parent} is not the sweep's on {socket.gethostname()}: use a shared disk"


def _facts(granted=None):
    """Say what a worker has; granted: the memory of all runs together, None for what is free."""
    memory = {"memory": memory_shares.most(), "left": memory_shares.left(granted)}
    return {"host": socket.gethostname(), "sources": SOURCE_HASH} | memory


def work(order):
    """Do a job; run by a worker.  Returns its answer, see `in_process`; raises `Died`."""
    from distributed import get_worker
    from distributed.core import Status
    from distributed.utils import sync

    worker = get_worker()
    task = worker.state.tasks[worker.get_current_task()]

    def stopped():
        ask = worker.scheduler.event_is_set
        with contextlib.suppress(Exception):  # then there is nobody left who could say so
            return sync(worker.loop, ask, name=order["stop"], callback_timeout=CONNECT_SECONDS)
        return False

    def wanted():
        here = worker.status in (Status.running, Status.paused)
        return here and task.state != "cancelled" and not stopped()

    if order["sources"] != SOURCE_HASH:
        return {"state": "failed", "why": "its worker has another version of lib2048's sources"}
    if why := _not_shared(order["mark"]):  # a worker that came later
        return {"state": "failed", "why": why}
    answer = in_process(order, wanted) if wanted() else {"state": "stopped"}
    if answer["state"] == "stopped" and not stopped():
        raise Died("its worker was told to end")  # so that another one goes on with it
    return answer
