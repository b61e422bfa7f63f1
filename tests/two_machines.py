"""A sweep over two machines, of which one fails: python tests/two_machines.py (as root, on Linux)

The machines are namespaces of this one, with a network between them; each has processes, a name and
a folder of its own, and what they share is one folder, as `docs/sweeps.md` asks.  One has a
scheduler, each has a worker.  While a list is swept, a worker is killed by signal 9, and later the
network is cut and brought back.  All runs must finish, in the shared folder and nowhere else, and
be, bit for bit, those that nobody has disturbed.  A folder that is not shared must be refused.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from learners import SMALL
from test_sweep import by_hand, same_folders, wait_for

from lib2048.sweep import read_list

NAMES = "one", "two"
TOOLS = "ip", "unshare", "nsenter", "mount"
LIST = f"""
[defaults]
network = "{SMALL}"
actions = {{actions}}
seeds = [1, 2, 3, 4]
checkpoint-every = 0.2
[[run]]
name = "td"
[[run]]
name = "tc"
rule = "tc"
lambda = 0.5
"""
ADDRESS = "tcp://one:8786"
DASK = Path(sys.executable).with_name("dask")
SCHEDULER = [DASK, "scheduler", "--no-dashboard"]
WORKER = [DASK, "worker", ADDRESS, *"--nworkers 1 --nthreads 1 --memory-limit 0".split(),
          "--no-dashboard"]  # fmt: skip
SWEEP = [sys.executable, "-m", "lib2048.cli", "sweep"]


def lacking():
    """Say in one line why this machine cannot play two, None where it can."""
    if sys.platform != "linux" or os.geteuid():
        return "two machines are made of this one by root, on Linux: nothing was tried"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"two machines are made by {', '.join(TOOLS)}, and {missing[0]} is not here"
    tried = subprocess.run([*UNSHARE, "true"], capture_output=True)
    return "this system gives no namespaces: nothing was tried" if tried.returncode else None


UNSHARE = "unshare", "-n", "-m", "-p", "-u", "-f", "--mount-proc"


class Machine:
    """A machine in the machine; name: of NAMES; place: a folder that both see, but for its `own`.

    cable: its end of the network.
    """

    def __init__(self, name, place):
        self.name, self.place, self._begun = name, place, []
        hold = [*UNSHARE, "--kill-child", "sleep", "infinity"]
        self._holder = subprocess.Popen(hold, stderr=subprocess.DEVNULL)
        here = psutil.Process(self._holder.pid)
        (first,) = wait_for(here.children)
        wait_for(lambda: first.name() == "sleep")  # by then all is its own
        self.pid, self.cable = first.pid, f"cable{first.pid}"
        self._enter = ["nsenter", "-t", str(self.pid), "-n", "-m", "-p", "-u"]
        self.do(f"hostname {name}; mount -t tmpfs none {place}/own; mkdir {place}/own/tmp")
        self.do(f"mount --bind {place}/hosts /etc/hosts; ip link set lo up")

    def do(self, line):
        """Do a line of a shell there, which must succeed."""
        subprocess.run([*self._enter, "sh", "-ec", line], check=True)

    def start(self, command):
        """Start a command there; what it says is added to a file of the place."""
        around = os.environ | {"TMPDIR": f"{self.place}/own/tmp", "PYTHONUNBUFFERED": "1"}
        with open(self.place / f"{self.name}.log", "ab") as said:
            words = [*self._enter, *map(str, command)]
            process = subprocess.Popen(words, stdout=said, stderr=said, env=around, cwd=self.place)
        self._begun.append(process)
        return process

    def runs(self):
        """Return the run folders that only this machine has."""
        own = Path(f"/proc/{self.pid}/root{self.place}/own")
        return [path.parent for path in own.rglob("config.json")]

    def at_work(self, word):
        """Return the processes here whose command has a word in it."""
        found, place = [], os.readlink(f"/proc/{self.pid}/ns/pid")
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                inside = os.readlink(f"/proc/{process.pid}/ns/pid") == place
                if inside and word in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def end(self):
        """End the machine, and all that goes on there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)  # the first process: with it the others end
        for process in [*self._begun, self._holder]:
            process.wait()


@contextlib.contextmanager
def machines(place):
    """Yield two machines that reach each other; nothing is left of them."""
    (place / "own").mkdir()
    lines = [f"10.204.8.{n} {name}\n" for n, name in enumerate(NAMES, 1)]
    (place / "hosts").write_text("".join(["127.0.0.1 localhost\n", *lines]))
    with contextlib.ExitStack() as stack:
        made = []
        for name in NAMES:
            made.append(Machine(name, place))
            stack.callback(made[-1].end)
        one, two = made
        ends = f"name {one.cable} netns {one.pid} type veth peer name {two.cable} netns {two.pid}"
        subprocess.run(["ip", "link", "add", *ends.split()], check=True)
        for n, machine in enumerate(made, 1):
            machine.do(f"ip addr add 10.204.8.{n}/24 dev {machine.cable}")
            machine.do(f"ip link set {machine.cable} up")
        yield made


def checkpoints(folder):
    """Return when each checkpoint of the runs in a folder was written, by the run's name."""
    found = {}
    for path in folder.glob("*/checkpoint.npz"):
        with contextlib.suppress(OSError):  # it has just gone
            found[path.parent.name] = path.stat().st_mtime_ns
    return found


def disturb(one, two, folder, sweep, seconds):
    """Kill the worker of the second machine, then cut its cable for so many seconds."""
    going = lambda: len(checkpoints(folder)) == 2 or sweep.poll() is not None  # noqa: E731
    wait_for(going)
    (run,) = wait_for(lambda: two.at_work("lib2048.sweep.job_process"))
    (worker,) = [process for process in run.parents() if process in two.at_work("spawn_main")]
    worker.kill()
    print(f"killed a worker, with its run; {len(checkpoints(folder))} runs are under way")
    wait_for(lambda: two.at_work("lib2048.sweep.job_process") not in ([], [run]))
    time.sleep(1)
    before = checkpoints(folder)
    assert sweep.poll() is None, "the list was too short"
    two.do(f"ip link set {two.cable} down")
    time.sleep(seconds)
    two.do(f"ip link set {two.cable} up")
    print(f"cut the network for {seconds} s, in which {len(before)} runs were under way")
    if not two.at_work("dask worker"):
        print("the worker that was cut off has ended: another one takes its place")
        two.start(WORKER)


def swept(place, actions, seconds):
    """Sweep a list over two machines, and disturb it; raise AssertionError where it matters."""
    path, folder = place / "list.toml", place / "runs"
    path.write_text(LIST.format(actions=actions))
    with machines(place) as (one, two):
        one.start(SCHEDULER)
        for machine in (one, two):
            machine.start(WORKER)
        wait_for(lambda: two.at_work("spawn_main") and one.at_work("spawn_main"))
        time.sleep(5)
        refused = one.start([*SWEEP, path, "--out", place / "own" / "runs", "--scheduler", ADDRESS])
        assert refused.wait() == 2 and not one.runs() + two.runs()
        said = (place / "one.log").read_text().splitlines()[-1]
        assert said.startswith("lib2048: ") and "is not the sweep's on two" in said, said
        print("refused what is not shared")
        begun = time.monotonic()
        sweep = one.start([*SWEEP, path, "--out", folder, "--scheduler", ADDRESS, "--json"])
        disturb(one, two, folder, sweep, seconds)
        assert sweep.wait() == 0, (place / "one.log").read_text()
        print(f"swept in {time.monotonic() - begun:.0f} s: {said_last(place)}")
        assert not one.runs() + two.runs()
    compared(read_list(path), folder, place / "alone")


def said_last(place):
    """Return the last line that the first machine said on its own, which is the report."""
    lines = (place / "one.log").read_text().splitlines()
    return next(line for line in reversed(lines) if line.startswith('{"runs"'))


def compared(jobs, folder, alone):
    """Do each run alone, too; raise AssertionError where it is another."""
    names = {path.name for path in folder.iterdir()}
    assert names == {job.label for job in jobs}, names
    for job in jobs:
        by_hand(job.settings, alone / job.label)
        same_folders(job.settings, folder / job.label, alone / job.label)
    print(f"{len(jobs)} runs: each is, bit for bit, the one alone")


def main(arguments=None):
    """Make two machines and sweep a list over them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=30_000_000, help="of each run")
    parser.add_argument("--cut", type=float, default=45, help="seconds without the network")
    options = parser.parse_args(arguments)
    if why := lacking():
        print(why)
        return
    with tempfile.TemporaryDirectory() as place:
        try:
            swept(Path(place), options.actions, options.cut)
        except BaseException:
            for name in NAMES:
                print(Path(place, f"{name}.log").read_text()[-5000:], file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
